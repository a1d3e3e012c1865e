//! One ordered label per row: an age becomes a distribution over its neighbours. `cargo run --example ages`

use ldlf::estimates;
use ldlf::prelude::*;

/// Learns ages and prints a mean and an interval.
pub fn main() -> ldlf::Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("ages.csv");
    let rows: String = (0..300).map(|i| format!("{},{}\n", f64::from(i % 60) / 60.0, 20 + i % 60)).collect();
    std::fs::write(&path, format!("wrinkles,age\n{rows}")).expect("a temporary file");

    let data = ldlf::read(&path).label_column("age", 2.0).dataset()?;
    let model = Forest::params().trees(10).depth(5).min_iterations(300).fit(&data)?;
    let shares = model.predict(&data)?.into_distributions()?;
    let values =
        data.schema().label_values.as_deref().expect("a column of ages gives the labels their numbers");
    let (low, high) = estimates::interval(shares.row(30), values, 0.8);
    println!(
        "row 30 is {}: mean {:.1}, 80 % between {low} and {high}",
        data.truth().expect("a column of ages is the truth")[30],
        estimates::mean(shares.row(30), values)
    );
    Ok(())
}
