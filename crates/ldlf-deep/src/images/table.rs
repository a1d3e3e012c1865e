//! Images joined with the table of their labels.

use std::collections::HashSet;
use std::sync::Arc;

use ldlf_core::error::{Message, Place, Subject};
use ldlf_core::images::{BadImages, ImageSource, Images};
use ldlf_core::{Dataset, Error, Inputs, Result, Settings, Threads, message};
use ldlf_io::read::Loaded;

use super::{ImageFiles, unreadable, whole_side};
use crate::backbones::BackboneKind;

/// Gives every row of a table the image that its column of images names; `table` is its name in messages. The notices are one
/// sentence each, those of the reader first.
pub fn join(
    files: &Arc<ImageFiles>,
    loaded: Loaded,
    table: &str,
    bad: BadImages,
) -> Result<(Dataset, Vec<Message>)> {
    let Loaded { mut dataset, mut notices, .. } = loaded;
    let Inputs::Images(wanted) = dataset.inputs() else {
        return Err(Error::usage(message![
            "which column names the images? Name it with ",
            Subject::ImageColumn
        ])
        .in_file(table));
    };
    let (rows, images, notice) = find_all(files, wanted.names(), table, bad)?;
    notices.extend(notice);
    notices.extend(without_row(files, &images, table));
    if rows.len() < dataset.rows() {
        dataset = dataset.select(&rows);
    }
    Ok((dataset.with_inputs(images_of(files, images))?, notices))
}

/// The images of the given names, in their order, as [`join`] finds those of a table; with a notice when names were left out.
pub fn named(
    files: &Arc<ImageFiles>,
    names: &[String],
    table: &str,
    bad: BadImages,
) -> Result<(Images, Option<Message>)> {
    let (_, images, notice) = find_all(files, names.iter().map(String::as_str), table, bad)?;
    Ok((images_of(files, images), notice))
}

fn images_of(files: &Arc<ImageFiles>, images: Vec<u32>) -> Images {
    Images::of(Arc::clone(files) as Arc<dyn ImageSource>, images)
}

/// The rows that have an image, the images, and a notice when some have none.
fn find_all<'a>(
    files: &ImageFiles,
    names: impl Iterator<Item = &'a str>,
    table: &str,
    bad: BadImages,
) -> Result<(Vec<usize>, Vec<u32>, Option<Message>)> {
    let (mut rows, mut images, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for (row, name) in names.enumerate() {
        match files.find(name) {
            Some(image) => {
                rows.push(row);
                images.push(image);
            }
            None => missing.push((row, name)),
        }
    }
    let Some((row, name)) = missing.first() else { return Ok((rows, images, None)) };
    let (file, count) = (files.file(), rows.len() + missing.len());
    if rows.is_empty() {
        return Err(Error::data(format!(
            "no image of {file} has a row in {table}: the table names {name:?}, the images are called {:?} and so on",
            files.name(0)
        ))
        .with_remedy("names must be paths within the folder or zip file"));
    }
    match bad {
        BadImages::Fail => {
            let lack = missing.len();
            Err(Error::data(format!("{file} holds no image {name:?}; {lack} of {count} rows have none"))
                .with_remedy(message!["add them, or leave such rows out with ", Subject::SkipBadImages])
                .at(Place::file(table).row(row + 1)))
        }
        BadImages::Skip => {
            let notice = format!(
                "{table}: {} of {count} rows have no image in {file} and were left out (the first: row {}, {name:?})",
                missing.len(),
                row + 1
            );
            Ok((rows, images, Some(notice.into())))
        }
    }
}

/// A notice of the images that no row names.
fn without_row(files: &ImageFiles, images: &[u32], table: &str) -> Option<Message> {
    let named: HashSet<u32> = images.iter().copied().collect();
    let first = (0..files.len()).find(|&image| !named.contains(&(image as u32)))?;
    let notice = format!(
        "{}: {} of {} images have no row in {table} and are not used (the first: {:?})",
        files.file(),
        files.len() - named.len(),
        files.len(),
        files.name(first)
    );
    Some(notice.into())
}

/// The side in which a learner with these settings will read its images, so that the cache serves its first epoch.
pub fn side_of(settings: &Settings) -> usize {
    let side = settings.get("side").and_then(|side| side.as_u64()).map(|side| side as usize);
    let backbone = settings.get("backbone").and_then(|name| name.as_str());
    let usual = backbone.and_then(|name| BackboneKind::named(name).ok()).map(BackboneKind::usual_side);
    // Any size shows whether an image can be read.
    let margin = settings.get("input_crop").and_then(|margin| margin.as_f64()).unwrap_or(0.0);
    side.or(usual).map_or(1, |side| whole_side(side, margin))
}

/// Decodes the image of every row once, before training, and refuses rows whose image cannot be read or leaves them out with a notice.
/// Images are cached in the size `side` as far as the cache has room.
pub fn check_readable(
    data: Dataset,
    side: usize,
    bad: BadImages,
    threads: &Threads,
) -> Result<(Dataset, Option<Message>)> {
    let Inputs::Images(images) = data.inputs() else { return Ok((data, None)) };
    let mut unreadable = unreadable(images, side, threads);
    let (count, rows) = (unreadable.len(), data.rows());
    let bad_rows: HashSet<usize> = unreadable.iter().map(|(row, _)| *row).collect();
    if unreadable.is_empty() {
        return Ok((data, None));
    }
    let (_, first) = unreadable.swap_remove(0);
    match bad {
        BadImages::Fail if count == 1 => Err(first.or_remedy(message!["use ", Subject::SkipBadImages])),
        BadImages::Fail => Err(first.or_remedy(message![
            "use ",
            Subject::SkipBadImages,
            "; {count} of {rows} images are like it"
        ])),
        BadImages::Skip if count == rows => Err(first),
        BadImages::Skip => {
            let good: Vec<usize> = (0..rows).filter(|row| !bad_rows.contains(row)).collect();
            let notice = message![
                "{count} of {rows} images cannot be read and were left out; the first: ",
                first.sentence()
            ];
            Ok((data.select(&good), Some(notice)))
        }
    }
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};
    use ldlf_core::Matrix;

    use super::super::open;
    use super::*;

    /// Images `a.png`, `b.png` and, unreadable, `c.png`.
    fn three() -> (tempfile::TempDir, Arc<ImageFiles>) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.png", "b.png"] {
            RgbImage::from_pixel(4, 4, Rgb([1, 2, 3])).save(folder.path().join(name)).unwrap();
        }
        std::fs::write(folder.path().join("c.png"), "words").unwrap();
        let files = open(folder.path(), 0).unwrap();
        (folder, files)
    }

    fn table(names: &[&str]) -> Loaded {
        let rows: Vec<[f32; 2]> =
            (0..names.len()).map(|row| if row % 2 == 0 { [1.0, 0.0] } else { [0.0, 1.0] }).collect();
        let images = Images::named(names.iter().map(ToString::to_string).collect());
        let dataset = Dataset::new(images, Matrix::from_rows(&rows)).unwrap();
        Loaded { dataset, notices: Vec::new(), plan: Vec::new() }
    }

    #[test]
    fn rows_get_the_images_that_they_name_in_their_order() {
        let (_folder, files) = three();
        let (data, notices) =
            join(&files, table(&["c.png", "a.png", "b.png", "a.png"]), "t.csv", BadImages::Fail).unwrap();
        let images = data.inputs().images().unwrap();
        assert_eq!(images.names().collect::<Vec<_>>(), ["c.png", "a.png", "b.png", "a.png"]);
        assert!(notices.is_empty());
    }

    #[test]
    fn rows_without_image_are_refused_or_left_out_with_their_labels() {
        let (_folder, files) = three();
        let names = ["a.png", "lost.png", "b.png", "gone.png"];
        let refused = join(&files, table(&names), "t.csv", BadImages::Fail).unwrap_err().to_string();
        assert!(
            refused.starts_with("t.csv row 2: ") && refused.contains("2 of 4 rows have none"),
            "{refused}"
        );
        let (data, notices) = join(&files, table(&names), "t.csv", BadImages::Skip).unwrap();
        assert_eq!((data.rows(), data.targets().row(1)), (2, &[1.0, 0.0][..]));
        assert!(notices[0].to_string().contains("(the first: row 2, \"lost.png\")"), "{notices:?}");
        assert!(notices[1].to_string().contains("1 of 3 images have no row in t.csv"), "{notices:?}");
    }

    #[test]
    fn names_of_another_folder_are_refused_whatever_may_be_skipped() {
        let (_folder, files) = three();
        let refused = join(&files, table(&["x/a.png"]), "t.csv", BadImages::Skip).unwrap_err().to_string();
        assert!(
            refused.contains("the table names \"x/a.png\", the images are called \"a.png\""),
            "{refused}"
        );
    }

    #[test]
    fn unreadable_images_are_refused_or_left_out_before_training() {
        let (_folder, files) = three();
        let data = || join(&files, table(&["a.png", "c.png"]), "t.csv", BadImages::Fail).unwrap().0;
        let refused = check_readable(data(), 4, BadImages::Fail, &Threads::one()).unwrap_err().to_string();
        assert!(
            refused.contains("\"c.png\" cannot be read") && refused.ends_with("or use `BadImages::Skip`"),
            "{refused}"
        );
        let (kept, notice) = check_readable(data(), 4, BadImages::Skip, &Threads::one()).unwrap();
        assert_eq!((kept.rows(), kept.inputs().images().unwrap().name(0)), (1, "a.png"));
        assert!(notice.unwrap().to_string().starts_with("1 of 2 images cannot be read and were left out"));
    }
}
