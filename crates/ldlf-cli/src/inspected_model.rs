//! A model inspected on some data: what the report and the figures of a model show.

use std::path::{Path, PathBuf};

use clap::Args;
use ldlf::internals::core::explain::permutation_importance;
use ldlf::{Dataset, Error, Inputs, Prediction, Result, Threads, TrainedModel};
use ldlf_report::load::PredictedRow;
use ldlf_report::page::ReportedModel;
use ldlf_report::rows::example_rows;

use crate::args::DataOptions;
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

/// The predictions of a model beside the truth; none for plain values.
pub fn predicted_rows(model: &TrainedModel, data: &Dataset, threads: &Threads) -> Result<Vec<PredictedRow>> {
    let Prediction::Distributions(predicted) = model.predict_with(data.inputs(), threads)? else {
        return Ok(Vec::new());
    };
    let row = |row: usize| PredictedRow {
        row,
        fold: 0,
        truth: data.targets().row(row).to_vec(),
        predicted: predicted.row(row).to_vec(),
        value: data.truth().map(|truth| truth[row]),
    };
    Ok((0..data.rows()).map(row).collect())
}

/// All that the report shows of a model. Without chosen rows, the path of the median row is highlighted.
pub fn inspected(
    name: &str,
    model: &TrainedModel,
    data: &Dataset,
    chosen: &[usize],
    threads: &Threads,
) -> Result<ReportedModel> {
    check_rows(chosen, data)?;
    let rows = predicted_rows(model, data, threads)?;
    let highlighted: Vec<usize> = match chosen {
        [] => example_rows(&rows, &[]).get(1).map(|median| median.row.row).into_iter().collect(),
        chosen => chosen.to_vec(),
    };
    // Images have no features to shuffle or to follow through the trees.
    let (importances, view) = match data.inputs() {
        Inputs::Images(_) => (None, None),
        Inputs::Table(features) => {
            let importances = permutation_importance(model, data, threads)?;
            (Some(importances), model.model.look_inside(features, &highlighted, threads))
        }
    };
    Ok(ReportedModel {
        name: name.to_string(),
        facts: facts(model, data),
        schema: model.schema.clone(),
        importances,
        view,
        rows,
        chosen: chosen.to_vec(),
    })
}

fn facts(model: &TrainedModel, data: &Dataset) -> Vec<(String, String)> {
    let mut facts = vec![
        ("learner".to_string(), model.learner.clone()),
        ("features".into(), model.features.to_string()),
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
