//! Reading the data that a model is evaluated on or inspected with: its columns are those the model names.

use std::path::Path;

use ldlf::internals::core::inputs::InputKind;
use ldlf::internals::io::for_model::{self, fitted_to_model, options_for_model};
use ldlf::{Dataset, Result, Threads, TrainedModel, folds};

use crate::args::{BadImages, DataOptions};
use crate::images::readable;
use crate::printer::Printer;

/// Reads features and labels as the model has them, unless the call says otherwise. With a split only the test rows.
pub fn read_for_model(
    model: &TrainedModel,
    path: &Path,
    asked: &DataOptions,
    printer: &Printer,
) -> Result<Dataset> {
    let kind = asked.images.kind_of(path)?;
    model.reads().check(kind)?;
    let mut data = if kind == InputKind::Images {
        let table = asked.images.table.as_deref().unwrap_or(path);
        let options = options_for_model(table, model, &asked.for_reading());
        fitted_to_model(asked.read_as(path, &options, printer)?, path, &options, model)?
    } else {
        let loaded = for_model::read_for_model(path, model, &asked.for_reading())?;
        printer.notes(&loaded.notices);
        loaded.dataset
    };
    if asked.has_split() {
        data = data.select(&folds::by_split(&data)?[0].test);
    }
    // Where a bad image is an error, the prediction will say so.
    if asked.images.bad_images == BadImages::Skip {
        data = readable(data, &model.parameters, &asked.images, &Threads::new(0)?, printer)?;
    }
    Ok(data)
}
