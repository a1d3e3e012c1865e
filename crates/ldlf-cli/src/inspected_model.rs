//! A model inspected on some data: what the report and the figures of a model show.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use clap::Args;
use ldlf::internals::core::calibration::Reliability;
use ldlf::internals::core::error::Subject;
use ldlf::internals::core::explain::{explain, permutation_importance};
use ldlf::internals::core::forest_view::ForestView;
use ldlf::internals::io::read::text_column;
use ldlf::{Dataset, Error, Inputs, Matrix, Prediction, Result, Threads, TrainedModel, registry};
use ldlf_report::load::PredictedRow;
use ldlf_report::page::{Playground, ReportedModel, RowsShown, Subgroups, TREES, Trust, thumbnails};
use ldlf_report::plots::{Thumbnail, rows_with_images};
use ldlf_report::rows::example_rows;

use crate::args::DataOptions;
use crate::images::thumbnail;
use crate::inputs::{check_input, data_name, load_model};
use crate::model_data::read_for_model;
use crate::printer::{Printer, counted, number, word};

/// A model with the data that it is inspected on.
#[derive(Args)]
pub struct ModelOptions {
    /// Model to inspect (requires --data)
    #[arg(long, value_name = "FILE", requires = "data")]
    pub model: Option<PathBuf>,
    /// Data to inspect the model on
    #[arg(long, value_name = "FILE", requires = "model")]
    pub data: Option<PathBuf>,
    #[command(flatten)]
    pub options: DataOptions,
}

/// Reads the model and the data of a call, if it names them.
pub fn read(asked: &ModelOptions, printer: &Printer) -> Result<Option<(String, TrainedModel, Dataset)>> {
    let (Some(model), Some(data)) = (&asked.model, &asked.data) else { return Ok(None) };
    check_input(data)?;
    let (name, model) = (data_name(model), load_model(model)?);
    let data = read_for_model(&model, data, &asked.options, printer)?;
    Ok(Some((name, model, data)))
}

/// Refuses rows that the data does not have.
pub fn check_rows(rows: &[usize], data: &Dataset) -> Result<()> {
    match rows.iter().find(|&&row| row >= data.rows()) {
        Some(row) => Err(Error::usage(format!(
            "--row {row}: {} has {} counted from 0",
            data.name(),
            counted(data.rows(), "row")
        ))),
        None => Ok(()),
    }
}

/// Reads the table that `ldlf train --out-of-fold` wrote: a column per label, a line per training row.
pub fn read_out_of_fold(path: &Path, model: &TrainedModel, data: &Dataset) -> Result<Matrix<f32>> {
    check_input(path)?;
    let labels = &model.schema.label_names;
    let mut predicted = Matrix::zeros(data.rows(), labels.len());
    for (label, name) in labels.iter().enumerate() {
        let column = text_column(path, None, name, Subject::OutOfFold)?;
        if column.len() != data.rows() {
            return Err(Error::usage(format!(
                "--out-of-fold has {}, the data {}; give the data that the model was trained on",
                counted(column.len(), "row"),
                counted(data.rows(), "row")
            ))
            .in_file(path));
        }
        for (row, text) in column.iter().enumerate() {
            let share = text.trim().parse().ok().filter(|share| (0.0..=1.001).contains(share));
            predicted.row_mut(row)[label] = share.ok_or_else(|| {
                Error::data(format!("row {row}, column {name:?}: {text:?} is not a share between 0 and 1"))
                    .in_file(path)
            })?;
        }
    }
    Ok(predicted)
}

/// The predictions of a model beside the truth; none for plain values.
pub fn predicted_rows(prediction: &Prediction, data: &Dataset) -> Vec<PredictedRow> {
    let Prediction::Distributions(predicted) = prediction else { return Vec::new() };
    let row = |row: usize| PredictedRow {
        row,
        fold: 0,
        truth: data.targets().row(row).to_vec(),
        predicted: predicted.row(row).to_vec(),
        value: data.truth().map(|truth| truth[row]),
    };
    (0..data.rows()).map(row).collect()
}

/// What the rows are to the model, with their predictions where these may be shown.
pub fn shown_predictions(
    model: &TrainedModel,
    data: &Dataset,
    out_of_fold: Option<Matrix<f32>>,
    threads: &Threads,
) -> Result<(RowsShown, Option<Prediction>)> {
    // Models of earlier versions do not know their rows: who names out-of-fold predictions knows.
    let fitted_on =
        model.was_fitted_on(data.inputs()) || (model.known_inputs().is_none() && out_of_fold.is_some());
    Ok(match (fitted_on, out_of_fold) {
        (true, Some(predicted)) => (RowsShown::OutOfFold, Some(Prediction::Distributions(predicted))),
        (true, None) => (RowsShown::Training, None),
        (false, _) => (RowsShown::New, Some(model.predict_with(data.inputs(), threads)?)),
    })
}

/// How the report measures subgroups of rows.
pub type BySubgroup<'a> = &'a dyn Fn(&Prediction) -> Result<Subgroups>;

/// All that the report shows of a model. Without chosen rows, the path of the median row is highlighted.
pub fn inspected(
    name: &str,
    model: &TrainedModel,
    data: &Dataset,
    out_of_fold: Option<Matrix<f32>>,
    by: Option<BySubgroup<'_>>,
    chosen: &[usize],
    threads: &Threads,
) -> Result<ReportedModel> {
    check_rows(chosen, data)?;
    let (shown, prediction) = shown_predictions(model, data, out_of_fold, threads)?;
    let rows = prediction.as_ref().map_or(Vec::new(), |prediction| predicted_rows(prediction, data));
    let trust = match &prediction {
        Some(Prediction::Distributions(p)) => Some(Trust {
            reliability: match shown {
                RowsShown::OutOfFold => Reliability::of_out_of_fold(p, data)?,
                _ => Reliability::of(p, data, model.conformal.as_ref())?,
            },
            out_of_fold: shown == RowsShown::OutOfFold,
            subgroups: match (by, &prediction) {
                (Some(by), Some(prediction)) => Some(by(prediction)?),
                _ => None,
            },
        }),
        _ => None,
    };
    let highlighted: Vec<usize> = match chosen {
        [] if rows.is_empty() => (0..data.rows().min(1)).collect(),
        [] => example_rows(&rows, &[]).get(1).map(|median| median.row.row).into_iter().collect(),
        chosen => chosen.to_vec(),
    };
    // Images have no features to shuffle or to explain.
    let (importances, explained, images) = match data.inputs() {
        Inputs::Images(images) => (None, None, thumbnails(images, &rows, chosen)),
        Inputs::Table(features) => {
            let importances = permutation_importance(model, data, threads)?;
            let explained = match (highlighted.first(), &prediction) {
                (Some(&row), Some(Prediction::Distributions(_))) => {
                    Some((row, explain(model, features, &features.select(&[row]), threads)?))
                }
                _ => None,
            };
            (Some(importances), explained, Vec::new())
        }
    };
    let view = look_inside(model, data, &highlighted, threads)?;
    let images_at_leaves = match &view {
        Some(view) => images_at_leaves(view, 0..view.trees.len().min(TREES), data)?,
        None => BTreeMap::new(),
    };
    Ok(ReportedModel {
        name: name.to_string(),
        facts: facts(model, data),
        schema: model.schema.clone(),
        importances,
        playground: Playground::of(model, data, view.as_ref()),
        explained,
        view,
        images_at_leaves,
        without_trees: without_trees(model, data),
        shown,
        trust,
        rows,
        chosen: chosen.to_vec(),
        thumbnails: images,
    })
}

/// The model's trees over the rows of the data; none where it has no soft trees.
pub fn look_inside(
    model: &TrainedModel,
    data: &Dataset,
    chosen: &[usize],
    threads: &Threads,
) -> Result<Option<ForestView>> {
    match data.inputs() {
        Inputs::Images(images) => model.model.look_inside_images(images, chosen, threads),
        Inputs::Table(features) => Ok(model.model.look_inside(features, chosen, threads)),
    }
}

/// Small images of the rows that the figures of some trees show.
pub fn images_at_leaves(
    view: &ForestView,
    trees: std::ops::Range<usize>,
    data: &Dataset,
) -> Result<BTreeMap<usize, Thumbnail>> {
    let Inputs::Images(images) = data.inputs() else { return Ok(BTreeMap::new()) };
    let mut found = BTreeMap::new();
    for row in view.trees[trees].iter().flat_map(rows_with_images) {
        if let Entry::Vacant(place) = found.entry(row) {
            place.insert((images.name(row).to_string(), thumbnail(images, row)?));
        }
    }
    Ok(found)
}

/// Why no trees of a model are drawn, in a sentence of a page.
fn without_trees(model: &TrainedModel, data: &Dataset) -> &'static str {
    let network = registry::find(&model.learner).is_ok_and(|entry| entry.facts.backbone);
    match matches!(data.inputs(), Inputs::Table(_)) && network {
        true => "Splits of a network see its features, not columns; they are drawn for images only.",
        false => "This learner has no soft trees to draw.",
    }
}

fn facts(model: &TrainedModel, data: &Dataset) -> Vec<(String, String)> {
    // Images have no features.
    let inputs = match data.inputs() {
        Inputs::Images(_) => ("rows".to_string(), "images".to_string()),
        Inputs::Table(_) => ("features".to_string(), model.features.to_string()),
    };
    let mut facts = vec![
        ("learner".to_string(), model.learner.clone()),
        inputs,
        ("labels".into(), model.schema.label_names.len().to_string()),
        ("iterations".into(), model.summary.iterations.to_string()),
    ];
    if model.summary.validation_kl.is_some() {
        facts.push(("validation K-L".into(), number(model.summary.validation_kl)));
    }
    facts.extend(model.model.inspect().into_iter().map(|(name, value)| (name, word(&value))));
    facts.push(("evaluated on".into(), format!("{}, {}", data.name(), counted(data.rows(), "row"))));
    facts
}

/// Whether a path may be read as results: it is there and is no model file.
pub fn check_results(paths: &[impl AsRef<Path>]) -> Result<()> {
    for path in paths {
        let path = path.as_ref();
        check_input(path)?;
        if path.is_file() && ldlf::internals::io::model_file::read_parts(path).is_ok() {
            return Err(Error::usage(format!(
                "{} is a model file; name it with --model and its data with --data",
                path.display()
            )));
        }
    }
    Ok(())
}
