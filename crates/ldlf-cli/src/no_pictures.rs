//! What stands in place of [`crate::pictures`] in a build that reads none.

use std::path::Path;

use ldlf::read::{Format, ReadOptions};
use ldlf::{Dataset, Error, Images, Result, Settings, Threads};

use crate::args::{DataOptions, PictureOptions};
use crate::printer::Printer;

fn refused(path: &Path) -> Error {
    Error::usage(format!("{}: this build reads no pictures (feature `deep`)", path.display()))
}

pub fn read(path: &Path, _: &DataOptions, _: &ReadOptions, _: &Printer) -> Result<Dataset> {
    Err(refused(path))
}

pub fn readable(
    data: Dataset,
    _: &Settings,
    _: &PictureOptions,
    _: &Threads,
    _: &Printer,
) -> Result<Dataset> {
    Ok(data)
}

pub fn to_predict(
    path: &Path,
    _: &PictureOptions,
    _: Option<Format>,
    _: &str,
    _: &Printer,
) -> Result<Images> {
    Err(refused(path))
}

pub fn readable_rows(images: &Images, _: &Threads) -> Vec<usize> {
    (0..images.rows()).collect()
}
