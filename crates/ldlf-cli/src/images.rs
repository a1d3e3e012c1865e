//! Rows that are images: opened, joined with their table, and decoded once before training. Images are read by the
//! feature `deep`; a build without it says so when it is given some.

use std::path::Path;

use ldlf::internals::core::error::{Message, Subject, shown};
use ldlf::internals::core::message;
#[cfg(feature = "deep")]
use ldlf::internals::deep::images::{check_readable, join, named, open, side_of, unreadable};
use ldlf::internals::io::read::{Format, Loaded, ReadOptions, text_column};
use ldlf::{Dataset, Error, Images, Result, Settings, Threads};

use crate::args::{BadImages, DataOptions, ImageOptions};
use crate::inputs::data_name;
use crate::printer::{Printer, counted};

#[cfg(not(feature = "deep"))]
fn not_built_in(path: &Path) -> Error {
    Error::usage("this build reads no images").with_remedy("build it with the feature `deep`").in_file(path)
}

/// Lets the C library keep the memory that is freed instead of giving it back to the system. A network takes and frees the same
/// megabytes at every step; with the library's usual thresholds the system hands out new pages each time, and clearing
/// them takes a third of a step (docs/results/deep-speed.md).
#[cfg(all(feature = "deep", target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "mallopt is a plain call; it changes no memory of ours")]
fn keep_freed_memory() {
    // SAFETY: mallopt takes two numbers, checks them itself and locks what it changes.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 30);
        libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX);
    }
}

/// Other allocators keep what is freed anyway, and builds without networks free little.
#[cfg(not(all(feature = "deep", target_os = "linux", target_env = "gnu")))]
fn keep_freed_memory() {}

/// A small image of a row for a figure, as the bytes of a PNG file.
#[cfg(feature = "deep")]
pub fn thumbnail(images: &Images, row: usize) -> Result<Vec<u8>> {
    /// Twice the size that figures show, for dense screens.
    const SIDE: usize = 48;
    ldlf::internals::deep::images::thumbnail(images, row, SIDE)
}

#[cfg(not(feature = "deep"))]
pub fn thumbnail(images: &Images, row: usize) -> Result<Vec<u8>> {
    Err(not_built_in(Path::new(images.name(row))))
}

/// Reads the table of some images and gives every row its image.
pub fn read(path: &Path, asked: &DataOptions, options: &ReadOptions, printer: &Printer) -> Result<Dataset> {
    let Some(table) = &asked.images.table else {
        let is_zip = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip"));
        let what = match (path.is_dir(), is_zip) {
            (true, _) => "a folder",
            (false, true) => "a zip file",
            (false, false) => "an image",
        };
        return Err(Error::data(format!("is {what}"))
            .with_remedy(
                "to learn from its images, say what they show with --table labels.csv --image-column file",
            )
            .in_file(path));
    };
    let table_name = table.display().to_string();
    if options.image_column.is_none() {
        return Err(Error::usage("which column names the images? Name it with --image-column").in_file(table));
    }
    keep_freed_memory();
    let (data, notices) =
        joined(path, asked, &table_name, || ldlf::internals::io::read::read(table, options))?;
    printer.notes(&notices);
    Ok(data.named(data_name(path)))
}

/// The rows of a table with their images; the table is read once the images are found to be there.
#[cfg(feature = "deep")]
fn joined(
    path: &Path,
    asked: &DataOptions,
    table_name: &str,
    table: impl FnOnce() -> Result<Loaded>,
) -> Result<(Dataset, Vec<Message>)> {
    let files = open(path, asked.image_cache)?;
    join(&files, table()?, table_name, asked.images.bad_images)
}

#[cfg(not(feature = "deep"))]
fn joined(
    path: &Path,
    _: &DataOptions,
    _: &str,
    _: impl FnOnce() -> Result<Loaded>,
) -> Result<(Dataset, Vec<Message>)> {
    Err(not_built_in(path))
}

/// Decodes the images of all rows once, so that a bad one is named before the training begins, or left out. `settings` are those
/// of the learner that will read them.
#[cfg(feature = "deep")]
pub fn readable(
    data: Dataset,
    settings: &Settings,
    asked: &ImageOptions,
    threads: &Threads,
    printer: &Printer,
) -> Result<Dataset> {
    let (data, notice) = check_readable(data, side_of(settings), asked.bad_images, threads)?;
    printer.notes(notice.as_slice());
    Ok(data)
}

/// Without images there is nothing to decode.
#[cfg(not(feature = "deep"))]
pub fn readable(data: Dataset, _: &Settings, _: &ImageOptions, _: &Threads, _: &Printer) -> Result<Dataset> {
    Ok(data)
}

/// Images to predict: all of a folder or zip file, or those that a table names. Each is read once: none is cached.
pub fn to_predict(
    path: &Path,
    asked: &ImageOptions,
    format: Option<Format>,
    column: &str,
    printer: &Printer,
) -> Result<Images> {
    keep_freed_memory();
    let column = asked.image_column.as_deref().unwrap_or(column);
    let (images, notice) =
        found(path, asked, |table| text_column(table, format, column, Subject::ImageColumn))?;
    printer.notes(notice.as_slice());
    Ok(images)
}

/// The images of a folder or zip file: all of them, or those of the names that are read from a table.
#[cfg(feature = "deep")]
fn found(
    path: &Path,
    asked: &ImageOptions,
    names: impl FnOnce(&Path) -> Result<Vec<String>>,
) -> Result<(Images, Option<Message>)> {
    let files = open(path, 0)?;
    let Some(table) = &asked.table else { return Ok((Images::all(files), None)) };
    named(&files, &names(table)?, &table.display().to_string(), asked.bad_images)
}

#[cfg(not(feature = "deep"))]
fn found(
    path: &Path,
    _: &ImageOptions,
    _: impl FnOnce(&Path) -> Result<Vec<String>>,
) -> Result<(Images, Option<Message>)> {
    Err(not_built_in(path))
}

/// What to do with images that cannot be read.
pub struct Skipping {
    allowed: bool,
    /// How many were left out.
    pub left_out: usize,
    /// The names of the first of them.
    first: Vec<String>,
}

/// Images that were left out and are named at most.
const NAMED: usize = 3;

impl Skipping {
    /// Leaves them out if the call says so.
    pub fn new(asked: &ImageOptions) -> Self {
        Skipping { allowed: asked.bad_images == BadImages::Skip, left_out: 0, first: Vec::new() }
    }

    /// Reports how many were left out, if any, and names the first.
    pub fn say(&self, printer: &Printer) {
        if self.left_out > 0 {
            let images = counted(self.left_out, "image");
            let named = self.first.join(", ");
            let more = if self.left_out > self.first.len() { ", ..." } else { "" };
            printer.message(format_args!("note: left out {images} that could not be read: {named}{more}"));
        }
    }

    /// Does some work with a block of images; where it fails over images that cannot be read and these may be left out, does it
    /// again without them. Gives the images that remained. `nothing` stands for the work with none.
    pub fn run<T>(
        &mut self,
        images: Images,
        threads: &Threads,
        nothing: impl FnOnce() -> T,
        work: impl Fn(&Images) -> Result<T>,
    ) -> Result<(Images, T)> {
        let refused = match work(&images) {
            Ok(done) => return Ok((images, done)),
            Err(error) => error,
        };
        if !matches!(refused, Error::Data(_)) {
            return Err(refused);
        }
        // Only a block with a bad image is decoded twice.
        let good = readable_rows(&images, threads);
        if good.len() == images.rows() {
            return Err(refused);
        }
        if !self.allowed {
            return Err(refused.or_remedy(message!["use ", Subject::SkipBadImages]));
        }
        self.left_out += images.rows() - good.len();
        let bad = images.names().enumerate().filter(|(row, _)| good.binary_search(row).is_err());
        self.first.extend(bad.take(NAMED - self.first.len()).map(|(_, name)| shown(name)));
        let images = images.select(&good);
        let done = if good.is_empty() { nothing() } else { work(&images)? };
        Ok((images, done))
    }
}

/// The rows whose image can be read.
fn readable_rows(images: &Images, threads: &Threads) -> Vec<usize> {
    #[cfg(feature = "deep")]
    let bad: Vec<usize> = unreadable(images, 1, threads).into_iter().map(|(row, _)| row).collect();
    #[cfg(not(feature = "deep"))]
    let (bad, _): (Vec<usize>, _) = (Vec::new(), threads);
    (0..images.rows()).filter(|row| !bad.contains(row)).collect()
}
