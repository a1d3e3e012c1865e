//! Rows that are pictures: opened, joined with their table, and looked at before anything is learnt from them.

use std::path::Path;

use ldlf::read::{Format, ReadOptions};
use ldlf::{Dataset, Error, Images, Result, Settings, Threads};

use crate::args::{BadImages, DataOptions, PictureOptions};
use crate::printer::Printer;

/// Reads the table of some pictures and gives every row its picture.
pub fn read(path: &Path, asked: &DataOptions, options: &ReadOptions, printer: &Printer) -> Result<Dataset> {
    let Some(table) = &asked.pictures.table else {
        return Err(Error::usage(format!(
            "{}: pictures need a table of what they show; give --table labels.csv --image-column file",
            path.display()
        )));
    };
    if options.image_column.is_none() {
        return Err(Error::usage(format!(
            "{}: which column names the pictures? Name it with --image-column",
            table.display()
        )));
    }
    joined(path, table, asked, options, printer)
}

#[cfg(feature = "deep")]
mod reading {
    use ldlf::deep::backbones::Kind;
    use ldlf::deep::images::{self, check_readable, join, named, open};

    use super::*;

    fn policy(asked: &PictureOptions) -> images::BadImages {
        match asked.bad_images {
            BadImages::Fail => images::BadImages::Fail,
            BadImages::Skip => images::BadImages::Skip,
        }
    }

    pub fn joined(
        path: &Path,
        table: &Path,
        asked: &DataOptions,
        options: &ReadOptions,
        printer: &Printer,
    ) -> Result<Dataset> {
        let files = open(path, asked.image_cache)?;
        let loaded = ldlf::read::read(table, options)?;
        let (mut data, notices) =
            join(&files, loaded, &table.display().to_string(), policy(&asked.pictures))?;
        printer.notes(&notices);
        data.name = crate::inputs::data_name(path);
        Ok(data)
    }

    /// Decodes the pictures of all rows once, so that a bad one is named before the training begins, or left out. `settings` are those
    /// of the learner that will ask for them.
    pub fn readable(
        data: Dataset,
        settings: &Settings,
        asked: &PictureOptions,
        threads: &Threads,
        printer: &Printer,
    ) -> Result<Dataset> {
        let (data, notice) = check_readable(data, side_of(settings), policy(asked), threads)?;
        printer.notes(&notice.into_iter().collect::<Vec<_>>());
        Ok(data)
    }

    /// The side in which a learner will ask for its pictures: those that are kept then serve its first epoch.
    fn side_of(settings: &Settings) -> usize {
        let side = settings.get("side").and_then(|side| side.as_u64()).map(|side| side as usize);
        let backbone = settings.get("backbone").and_then(|name| name.as_str());
        let usual = backbone.and_then(|name| Kind::named(name).ok()).map(Kind::usual_side);
        // Any size shows whether a picture can be read.
        side.or(usual).unwrap_or(1)
    }

    /// Pictures to predict: all of a folder or zip file, or those that a table names. Every one is looked at once: none is kept.
    pub fn to_predict(
        path: &Path,
        asked: &PictureOptions,
        format: Option<Format>,
        column: &str,
        printer: &Printer,
    ) -> Result<Images> {
        let files = open(path, 0)?;
        let Some(table) = &asked.table else { return Ok(Images::all(files)) };
        let column = asked.image_column.as_deref().unwrap_or(column);
        let names = ldlf::read::text_column(table, format, column, "--image-column")?;
        let (images, notice) = named(&files, &names, &table.display().to_string(), policy(asked))?;
        printer.notes(&notice.into_iter().collect::<Vec<_>>());
        Ok(images)
    }

    /// The rows whose picture can be read.
    pub fn readable_rows(images: &Images, threads: &Threads) -> Vec<usize> {
        let bad = images::unreadable(images, 1, threads);
        (0..images.rows()).filter(|row| bad.iter().all(|(known, _)| known != row)).collect()
    }
}

#[cfg(not(feature = "deep"))]
mod reading {
    use super::*;

    fn without(path: &Path) -> Error {
        Error::usage(format!("{}: this build reads no pictures (feature `deep`)", path.display()))
    }

    pub fn joined(path: &Path, _: &Path, _: &DataOptions, _: &ReadOptions, _: &Printer) -> Result<Dataset> {
        Err(without(path))
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
        Err(without(path))
    }

    pub fn readable_rows(images: &Images, _: &Threads) -> Vec<usize> {
        (0..images.rows()).collect()
    }
}

use reading::joined;
pub use reading::{readable, readable_rows, to_predict};
