//! Images with votes: a small network under a forest. `cargo run --features deep --example images`

use ldlf::prelude::*;

/// Learns how red and how blue images are.
pub fn main() -> ldlf::Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut table = "file,red,blue\n".to_string();
    for number in 0..24u8 {
        let red = number * 10;
        let pixel = image::Rgb([red, 30, 230 - red]);
        let name = format!("{number}.png");
        image::RgbImage::from_pixel(16, 16, pixel)
            .save(folder.path().join(&name))
            .expect("a temporary image");
        table += &format!("{name},{red},{}\n", 230 - red);
    }
    let labels = folder.path().join("labels.csv");
    std::fs::write(&labels, table).expect("a temporary file");

    let data = ldlf::read(&labels).labels("red").labels("blue").images(folder.path(), "file").dataset()?;
    let model = DeepForest::params().epochs(2).side(16).batch_size(8).fit(&data)?;
    let shares = model.predict(&data)?.into_distributions()?;
    println!("red and blue of the first image: {:?}", shares.row(0));
    Ok(())
}
