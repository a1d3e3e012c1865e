//! Reading the data that a model is measured on or looked at with: its columns are those the model names.

use std::path::Path;

use ldlf::read::Format;
use ldlf::{Csr, Dataset, Error, Features, Result, Threads, TrainedModel, folds};

use crate::args::{BadImages, DataOptions};
use crate::pictures::readable;
use crate::printer::Printer;

/// Reads features and labels as the model has them, unless told otherwise. With a split only the test rows.
pub fn read_for_model(
    model: &TrainedModel,
    path: &Path,
    asked: &DataOptions,
    printer: &Printer,
) -> Result<Dataset> {
    let pictures = asked.pictures.are_meant(path);
    check_kind(model, pictures)?;
    let mut options = asked.for_reading();
    let table = asked.pictures.table.as_deref().unwrap_or(path);
    options.image_column = options.image_column.or_else(|| model.schema.image_column.clone());
    // Where columns have no names, the names of the model choose nothing; only their number must fit.
    let format = options.format.or_else(|| Format::from_path(table));
    // A model of one ordered label remembers its column and its spread.
    if let (Some(single), true) = (&model.schema.single, options.labels.is_empty()) {
        options.label_column = options.label_column.or_else(|| single.column.clone());
        options.spread = options.spread.or_else(|| single.spread.clone());
    }
    if has_named_columns(format) {
        if options.labels.is_empty() && options.spread.is_none() && options.votes.is_none() {
            options.labels = model.schema.label_names.clone();
        }
        if options.features.is_empty() {
            options.features = model.schema.feature_names.clone().unwrap_or_default();
        }
    }
    if options.label_values.is_none() {
        options.label_values = model.schema.label_values.clone();
    }
    let mut data = asked.read_as(path, &options, printer)?;
    if asked.has_split() {
        data = data.select(&folds::by_split(&data)?[0].test);
    }
    // Where a bad picture is an error, the prediction will say so.
    if asked.pictures.bad_images == BadImages::Skip {
        data = readable(data, &model.parameters, &asked.pictures, &Threads::new(0)?, printer)?;
    }
    let expected = model.schema.label_names.len();
    if data.labels() != expected {
        return Err(Error::data(format!(
            "{}: {} labels where the model has {expected}; give the labels it was trained on",
            path.display(),
            data.labels()
        )));
    }
    if format == Some(Format::Svm) {
        data.features = widened(data.features, model.features);
    }
    Ok(data)
}

/// Refuses pictures for a model of tables and tables for a model of pictures, before anything is read.
pub fn check_kind(model: &TrainedModel, pictures: bool) -> Result<()> {
    match (&model.schema.image_column, pictures) {
        (Some(column), false) => Err(Error::data(format!(
            "the model reads pictures (its column {column:?}), not a table of features; give a folder or a zip file of pictures"
        ))),
        (None, true) => Err(Error::data(
            "the model reads a table of features, not pictures; give the columns it was trained on",
        )),
        _ => Ok(()),
    }
}

/// Sparse rows with at least `columns` columns: a svmlight file does not show columns after the last that it uses.
fn widened(features: Features, columns: usize) -> Features {
    match features {
        Features::Sparse(narrow) if narrow.cols() < columns => {
            let mut wide = Csr::with_columns(columns);
            for row in 0..narrow.rows() {
                let (places, values) = narrow.row(row);
                wide.push_row(places.iter().copied().zip(values.iter().copied()));
            }
            Features::Sparse(wide)
        }
        other => other,
    }
}

fn has_named_columns(format: Option<Format>) -> bool {
    matches!(format, Some(Format::Csv | Format::Tsv | Format::Parquet | Format::Arrow))
}
