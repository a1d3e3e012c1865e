//! Rows that are pictures: opened, joined with their table, and looked at before anything is learnt from them.

use std::path::Path;

use ldlf::deep::backbones::Kind;
use ldlf::deep::images::{self, check_readable, join, named, open, unreadable};
use ldlf::error::Subject;
use ldlf::read::{Format, ReadOptions, text_column};
use ldlf::{Dataset, Error, Images, Result, Settings, Threads};

use crate::args::{BadImages, DataOptions, PictureOptions};
use crate::inputs::data_name;
use crate::printer::Printer;

fn policy(asked: &PictureOptions) -> images::BadImages {
    match asked.bad_images {
        BadImages::Fail => images::BadImages::Fail,
        BadImages::Skip => images::BadImages::Skip,
    }
}

/// Lets the C library keep the memory that is freed instead of giving it back to the system. A network takes and frees the same
/// megabytes at every step; with the library's usual thresholds the system hands out new pages each time, and clearing
/// them takes a third of a step (docs/results/deep-speed.md).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "mallopt is a plain call; it changes no memory of ours")]
fn keep_freed_memory() {
    // SAFETY: mallopt takes two numbers, checks them itself and locks what it changes.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 30);
        libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX);
    }
}

/// Other allocators keep what is freed anyway.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn keep_freed_memory() {}

/// Reads the table of some pictures and gives every row its picture.
pub fn read(path: &Path, asked: &DataOptions, options: &ReadOptions, printer: &Printer) -> Result<Dataset> {
    let Some(table) = &asked.pictures.table else {
        let what = if path.is_dir() { "a folder" } else { "a zip file" };
        return Err(Error::data(format!(
            "{}: is {what}; to learn from its pictures, say what they show with --table labels.csv --image-column file",
            path.display()
        )));
    };
    let table_name = table.display().to_string();
    if options.image_column.is_none() {
        return Err(Error::usage(format!(
            "{table_name}: which column names the pictures? Name it with --image-column"
        )));
    }
    keep_freed_memory();
    let files = open(path, asked.image_cache)?;
    let loaded = ldlf::read::read(table, options)?;
    let (mut data, notices) = join(&files, loaded, &table_name, policy(&asked.pictures))?;
    printer.notes(&notices);
    data.name = data_name(path);
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
    printer.notes(notice.as_slice());
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
    keep_freed_memory();
    let files = open(path, 0)?;
    let Some(table) = &asked.table else { return Ok(Images::all(files)) };
    let column = asked.image_column.as_deref().unwrap_or(column);
    let names = text_column(table, format, column, Subject::ImageColumn)?;
    let (images, notice) = named(&files, &names, &table.display().to_string(), policy(asked))?;
    printer.notes(notice.as_slice());
    Ok(images)
}

/// The rows whose picture can be read.
pub fn readable_rows(images: &Images, threads: &Threads) -> Vec<usize> {
    let bad = unreadable(images, 1, threads);
    (0..images.rows()).filter(|row| bad.iter().all(|(known, _)| known != row)).collect()
}
