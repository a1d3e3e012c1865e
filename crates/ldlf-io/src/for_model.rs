//! Reading a table as a model wants it: its columns, its labels, their spread.

use std::path::Path;

use ldlf_core::error::Subject;
use ldlf_core::{Csr, Dataset, Error, Features, Matrix, Result, Schema, TrainedModel, message};

use crate::format::Format;
use crate::read::{self, Loaded, ReadOptions, RowStream, Wanted};

/// Reads features and labels as the model has them, unless `options` say otherwise.
pub fn read_for_model(path: &Path, model: &TrainedModel, options: &ReadOptions) -> Result<Loaded> {
    check_kind(model, false)?;
    let schema = with_columns_called(&model.schema, &options.features)?;
    let options = options_for_model(path, model, options);
    let mut loaded = read::read_as(path, &options, Some(&schema))?;
    loaded.dataset = fitted_to_model(loaded.dataset, path, &options, model)?;
    Ok(loaded)
}

/// Opens a table for predictions; names of features in `options` take the place of the model's. For `keep` and `tolerant` see
/// [`Wanted`].
pub fn stream_for_model(
    path: &Path,
    model: &TrainedModel,
    options: &ReadOptions,
    keep: &[String],
    tolerant: bool,
) -> Result<Box<dyn RowStream>> {
    check_kind(model, false)?;
    let schema = with_columns_called(&model.schema, &options.features)?;
    let wanted = Wanted { schema: &schema, features: model.features, keep, tolerant };
    read::stream_wanted(path, options.format, &wanted)
}

/// The schema with other names of the columns that it reads, if some are given, in its order.
fn with_columns_called(schema: &Schema, names: &[String]) -> Result<Schema> {
    let mut schema = schema.clone();
    match &mut schema.columns {
        _ if names.is_empty() => {}
        None => schema.feature_names = Some(names.to_vec()),
        Some(columns) if columns.list.len() == names.len() => {
            columns.list.iter_mut().zip(names).for_each(|(column, name)| column.name.clone_from(name));
        }
        Some(columns) => {
            let (given, read) = (names.len(), columns.list.len());
            return Err(Error::usage(message![
                Subject::Features,
                " names {given} columns where the model reads {read}"
            ])
            .with_remedy("leave it out: the model finds its columns by their names"));
        }
    }
    Ok(schema)
}

/// The options for a table of the model's features or images and labels, where the given ones do not say otherwise.
pub fn options_for_model(table: &Path, model: &TrainedModel, options: &ReadOptions) -> ReadOptions {
    let mut options = options.clone();
    options.image_column = options.image_column.or_else(|| model.schema.image_column.clone());
    // Where columns have no names, the names of the model choose nothing; only their number must fit.
    let format = options.format.or_else(|| Format::of_input(table)).or(table.is_dir().then_some(Format::Csv));
    // A model of one ordered label remembers its column and its spread.
    if let (Some(single), true) = (&model.schema.single, options.labels.is_empty() && options.long.is_none())
    {
        options.label_column = options.label_column.or_else(|| single.column.clone());
        options.spread = options.spread.or_else(|| single.spread.clone());
    }
    if format.is_some_and(Format::names_columns)
        && options.labels.is_empty()
        && options.long.is_none()
        && !(options.label_column.is_some()
            && model.schema.single.as_ref().is_some_and(|single| single.classes))
        && options.spread.is_none()
        && options.votes.is_none()
    {
        options.labels = model.schema.label_names.clone();
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
    let format = options.format.or_else(|| Format::of_input(path)).or(path.is_dir().then_some(Format::Csv));
    let columns_named = format.is_some_and(Format::names_columns) && options.votes.is_none();
    let are_named = columns_named || options.long.is_some() || !options.labels.is_empty();
    let data = with_labels_of_model(data, are_named, path, model)?;
    let expected = model.schema.label_names.len();
    if data.labels() != expected {
        return Err(Error::data(format!("{} labels where the model has {expected}", data.labels()))
            .with_remedy("give the labels it was trained on")
            .in_file(path));
    }
    if format.is_some_and(Format::is_open_ended) {
        let wide = widened(data.features()?.clone(), model.features);
        return data.with_inputs(wide);
    }
    Ok(data)
}

/// The rows with their labels in the model's order: by name, where their source has names. Labels of other names are refused.
fn with_labels_of_model(
    data: Dataset,
    are_named: bool,
    path: &Path,
    model: &TrainedModel,
) -> Result<Dataset> {
    let (found, wanted) = (&data.schema().label_names, &model.schema.label_names);
    // A model of a source without names has names that nobody gave, which say nothing beside others. Columns that are read by name, and
    // images, come with a table.
    let of_table = model.schema.columns.is_some() || model.schema.image_column.is_some();
    let unnamed = !of_table && wanted.iter().enumerate().all(|(at, name)| *name == format!("label_{at}"));
    let says_nothing = !are_named || (unnamed && !found.iter().any(|name| wanted.contains(name)));
    if found == wanted || found.len() != wanted.len() || says_nothing {
        return Ok(data);
    }
    let place = |name: &String| found.iter().position(|other| other == name);
    let Some(order) = wanted.iter().map(place).collect::<Option<Vec<usize>>>() else {
        let other = found.iter().find(|name| !wanted.contains(name)).cloned().unwrap_or_default();
        return Err(Error::data(format!("{other:?} is no label of the model"))
            .with_remedy(format!("its labels are {}", wanted.join(", ")))
            .in_file(path));
    };
    let targets: Vec<f32> = (0..data.rows())
        .flat_map(|row| order.iter().map(|&label| data.targets().row(row)[label]).collect::<Vec<_>>())
        .collect();
    let targets = Matrix::new(data.rows(), order.len(), targets)?;
    let schema = Schema {
        label_names: wanted.clone(),
        label_values: model.schema.label_values.clone(),
        ..data.schema().clone()
    };
    data.with_targets(targets)?.with_schema(schema)
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
