//! Reading the data that a model is measured on or looked at with: its columns are those the model names.

use std::path::Path;

use ldlf::read::Format;
use ldlf::{Csr, Dataset, Error, Features, Inputs, Result, Threads, TrainedModel, folds};

use crate::args::{BadImages, DataOptions};
use crate::images::readable;
use crate::printer::Printer;

/// Reads features and labels as the model has them, unless told otherwise. With a split only the test rows.
pub fn read_for_model(
    model: &TrainedModel,
    path: &Path,
    asked: &DataOptions,
    printer: &Printer,
) -> Result<Dataset> {
    model.reads().check(asked.images.kind_of(path)?)?;
    let mut options = asked.for_reading();
    let table = asked.images.table.as_deref().unwrap_or(path);
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
    // Where a bad image is an error, the prediction will say so.
    if asked.images.bad_images == BadImages::Skip {
        data = readable(data, &model.parameters, &asked.images, &Threads::new(0)?, printer)?;
    }
    let expected = model.schema.label_names.len();
    if data.labels() != expected {
        return Err(Error::data(format!(
            "{}: {} labels where the model has {expected}; give the labels it was trained on",
            path.display(),
            data.labels()
        )));
    }
    match (format, data.inputs()) {
        (Some(Format::Svm), Inputs::Table(Features::Sparse(narrow))) if narrow.cols() < model.features => {
            let wide = widened(narrow, model.features);
            data.with_inputs(Features::Sparse(wide))
        }
        _ => Ok(data),
    }
}

/// The same sparse rows with `columns` columns: a svmlight file does not show columns after the last that it uses.
fn widened(narrow: &Csr, columns: usize) -> Csr {
    let mut wide = Csr::with_columns(columns);
    for (places, values) in narrow.iter_rows() {
        wide.push_row(places.iter().copied().zip(values.iter().copied()));
    }
    wide
}

fn has_named_columns(format: Option<Format>) -> bool {
    matches!(format, Some(Format::Csv | Format::Tsv | Format::Parquet | Format::Arrow))
}
