//! Reading a table as a model wants it: its columns, its labels, their spread.

use std::path::Path;

use ldlf_core::{Csr, Dataset, Error, Features, Result, TrainedModel};

use crate::format::Format;
use crate::read::{self, Loaded, ReadOptions, RowStream};

/// Reads features and labels as the model has them, unless `options` say otherwise.
pub fn read_for_model(path: &Path, model: &TrainedModel, options: &ReadOptions) -> Result<Loaded> {
    check_kind(model, false)?;
    let options = options_for_model(path, model, options);
    let mut loaded = read::read(path, &options)?;
    loaded.dataset = fitted_to_model(loaded.dataset, path, &options, model)?;
    Ok(loaded)
}

/// Opens a table for predictions; names of features in `options` take the place of the model's.
pub fn stream_for_model(
    path: &Path,
    model: &TrainedModel,
    options: &ReadOptions,
) -> Result<Box<dyn RowStream>> {
    check_kind(model, false)?;
    let mut schema = model.schema.clone();
    if !options.features.is_empty() {
        schema.feature_names = Some(options.features.clone());
    }
    read::stream(path, options.format, &schema, model.features)
}

/// The options for a table of the model's features or images and labels, where the given ones do not say otherwise.
pub fn options_for_model(table: &Path, model: &TrainedModel, options: &ReadOptions) -> ReadOptions {
    let mut options = options.clone();
    options.image_column = options.image_column.or_else(|| model.schema.image_column.clone());
    // Where columns have no names, the names of the model choose nothing; only their number must fit.
    let format = options.format.or_else(|| Format::from_path(table));
    // A model of one ordered label remembers its column and its spread.
    if let (Some(single), true) = (&model.schema.single, options.labels.is_empty()) {
        options.label_column = options.label_column.or_else(|| single.column.clone());
        options.spread = options.spread.or_else(|| single.spread.clone());
    }
    if format.is_some_and(Format::names_columns) {
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
    options
}

/// Refuses data with another number of labels than the model has. Where the format does not show columns after the last that a file
/// uses, rows get those that the model has beyond them.
pub fn fitted_to_model(
    data: Dataset,
    path: &Path,
    options: &ReadOptions,
    model: &TrainedModel,
) -> Result<Dataset> {
    let expected = model.schema.label_names.len();
    if data.labels() != expected {
        return Err(Error::data(format!("{} labels where the model has {expected}", data.labels()))
            .with_remedy("give the labels it was trained on")
            .in_file(path));
    }
    let format = options.format.or_else(|| Format::from_path(path));
    if format.is_some_and(Format::is_open_ended) {
        let wide = widened(data.features()?.clone(), model.features);
        return data.with_inputs(wide);
    }
    Ok(data)
}

/// Refuses images for a model of tables and tables for a model of images, before anything is read.
pub fn check_kind(model: &TrainedModel, images: bool) -> Result<()> {
    match (&model.schema.image_column, images) {
        (Some(column), false) => Err(Error::data(format!(
            "the model reads images (its column {column:?}), not a table of features"
        ))
        .with_remedy("give a folder or a zip file of images")),
        (None, true) => Err(Error::data("the model reads a table of features, not images")
            .with_remedy("give the columns it was trained on")),
        _ => Ok(()),
    }
}

/// Sparse rows with at least `columns` columns.
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
