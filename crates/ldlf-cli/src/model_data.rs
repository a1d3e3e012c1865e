//! Reading the data that a model is evaluated on or inspected with: its columns are those the model names.

use std::path::Path;

use ldlf::for_model::{self, check_kind, fitted_to_model, options_for_model};
use ldlf::{Dataset, Result, Threads, TrainedModel, folds};

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
    let mut data = if pictures {
        let table = asked.pictures.table.as_deref().unwrap_or(path);
        let options = options_for_model(table, model, &asked.for_reading());
        fitted_to_model(asked.read_as(path, &options, printer)?, path, &options, model)?
    } else {
        asked.pictures.refuse_without_pictures(path)?;
        let loaded = for_model::read_for_model(path, model, &asked.for_reading())?;
        printer.notes(&loaded.notices);
        loaded.dataset
    };
    if asked.has_split() {
        data = data.select(&folds::by_split(&data)?[0].test);
    }
    // Where a bad picture is an error, the prediction will say so.
    if asked.pictures.bad_images == BadImages::Skip {
        data = readable(data, &model.parameters, &asked.pictures, &Threads::new(0)?, printer)?;
    }
    Ok(data)
}
