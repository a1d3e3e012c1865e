//! Writes valid files of every kind as a seed corpus of the fuzz targets: `corpus FOLDER` fills `FOLDER/<reader>/<number>`.

use std::path::PathBuf;

use ldlf_reliability::readers::{Reader, names};

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: corpus FOLDER");
        std::process::exit(2);
    };
    for name in names() {
        std::fs::create_dir_all(folder.join(name))?;
        for (number, sample) in Reader::new(name).corpus().iter().enumerate() {
            std::fs::write(folder.join(name).join(number.to_string()), sample.bytes())?;
        }
    }
    Ok(())
}
