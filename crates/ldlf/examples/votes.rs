//! Votes of people: train a forest, predict, save, load. `cargo run --example votes`

use ldlf::prelude::*;

/// Makes a table of votes, learns from it and predicts it.
pub fn main() -> ldlf::Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("votes.csv");
    std::fs::write(&path, table()).expect("a temporary file");

    let data = ldlf::read(&path).labels("votes_*").dataset()?;
    let model = Forest::params().trees(10).depth(4).min_iterations(200).seed(1).fit(&data)?;
    let shares = model.predict(&data)?.into_distributions()?;
    let names = &data.schema().label_names;
    println!("{} of the first row: {:?}", names.join(", "), shares.row(0));

    let file = folder.path().join("votes.ldlf");
    model.save(&file)?;
    let again = ldlf::load(&file)?;
    assert_eq!(again.predict(&data)?.into_distributions()?, shares);
    Ok(())
}

/// Thirty votes per row, which lean to `yes` as `x` grows.
fn table() -> String {
    let row = |i: i32| {
        let x = f64::from(i) / 100.0 - 1.0;
        let yes = (30.0 / (1.0 + (-4.0 * x).exp())).round();
        format!("{x},{},{yes}\n", 30.0 - yes)
    };
    std::iter::once("x,votes_no,votes_yes\n".to_string()).chain((0..200).map(row)).collect()
}
