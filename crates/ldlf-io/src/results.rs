//! A folder with all results of an evaluation: what `ldlf report` reads.
//!
//! | file | what it holds |
//! |---|---|
//! | `results.json` | the object of `ldlf cv --json`; for ordered labels also `label_values`, the numbers that they stand for |
//! | `predictions/<learner>-<fold>.csv` | `row` from 0, then `truth_<label>` and `predicted_<label>` for every label; or `truth` and `predicted` for plain values |
//! | `curves/<learner>-<fold>.csv` | `iteration,loss,validation_kl,leaf_update,test_kl`; empty where nothing was measured |
//! | `cumulative_scores.csv` | for ordered labels: `k`, then for every learner the fraction of rows whose mode is at most `k` away |
//!
//! Predictions of ordered labels that were made from single values end with the column `value`, the true one. A learner
//! that stands in the table several times is called `<learner>`, `<learner>.2`, `<learner>.3` and so on.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use ldlf_core::estimates::mean;
use ldlf_core::evaluate::{CrossValidation, FoldResult};
use ldlf_core::{Dataset, Error, FitEvent, Prediction, Result};

use crate::output::{Overwrite, write_atomically};

/// Writes the folder, replacing files of an earlier evaluation. `results.json` comes last: where it stands, all is there.
pub fn save(folder: &Path, evaluation: &CrossValidation, data: &Dataset) -> Result<()> {
    for part in ["predictions", "curves"] {
        let part = folder.join(part);
        std::fs::create_dir_all(&part).map_err(|e| Error::io(&part, e))?;
        clear_tables(&part).map_err(|e| Error::io(&part, e))?;
    }
    let learners = evaluation.results.iter().map(|result| result.learner.as_str());
    for (name, result) in file_names(learners).iter().zip(&evaluation.results) {
        for (number, fold) in result.folds.iter().enumerate() {
            let file = format!("{name}-{number}.csv");
            write_csv(&folder.join("predictions").join(&file), &prediction_table(fold, data))?;
            write_csv(&folder.join("curves").join(&file), &curve_table(fold))?;
        }
    }
    let scores = folder.join("cumulative_scores.csv");
    match cumulative_table(evaluation) {
        Some(table) => write_csv(&scores, &table)?,
        None if scores.is_file() => std::fs::remove_file(&scores).map_err(|e| Error::io(&scores, e))?,
        None => {}
    }
    let mut object = serde_json::to_value(evaluation).expect("an evaluation is plain data");
    if let Some(values) = &data.schema().label_values {
        object["label_values"] = serde_json::json!(values);
    }
    let json = serde_json::to_vec_pretty(&object).expect("JSON can be written");
    write_atomically(&folder.join("results.json"), Overwrite::Yes, |out| {
        out.write_all(&json)?;
        out.write_all(b"\n")
    })
}

/// Removes the tables of an earlier evaluation, whose learners may be others.
fn clear_tables(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "csv") {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// What the files of each learner are called, in the order of the table.
///
/// ```
/// assert_eq!(ldlf_io::results::file_names(["sldlf", "mean", "sldlf"]), ["sldlf", "mean", "sldlf.2"]);
/// ```
pub fn file_names<'a>(learners: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut seen = BTreeMap::<&str, usize>::new();
    let name = |learner: &'a str| {
        let times = seen.entry(learner).or_default();
        *times += 1;
        if *times == 1 { learner.to_string() } else { format!("{learner}.{times}") }
    };
    learners.into_iter().map(name).collect()
}

fn write_csv(path: &Path, table: &[Vec<String>]) -> Result<()> {
    write_atomically(path, Overwrite::Yes, |out| {
        let mut writer = csv::Writer::from_writer(out);
        for record in table {
            writer.write_record(record).map_err(std::io::Error::other)?;
        }
        writer.flush()
    })
}

fn prediction_table(fold: &FoldResult, data: &Dataset) -> Vec<Vec<String>> {
    let values = data.schema().label_values.as_deref();
    let mut table = Vec::with_capacity(fold.rows.len() + 1);
    let mut header = vec!["row".to_string()];
    match &fold.prediction {
        Prediction::Distributions(_) => {
            for kind in ["truth", "predicted"] {
                header.extend(data.schema().label_names.iter().map(|label| format!("{kind}_{label}")));
            }
            header.extend(data.truth().map(|_| "value".to_string()));
        }
        Prediction::Values(_) => header.extend(["truth".to_string(), "predicted".to_string()]),
    }
    table.push(header);
    for (place, &row) in fold.rows.iter().enumerate() {
        let mut record = vec![row.to_string()];
        let truth = data.truth().map(|truth| truth[row]);
        match &fold.prediction {
            Prediction::Distributions(p) => {
                let numbers = data.targets().row(row).iter().chain(p.row(place));
                record.extend(numbers.map(f32::to_string));
                record.extend(truth.map(|value| value.to_string()));
            }
            Prediction::Values(v) => {
                let truth = truth.or_else(|| values.map(|values| mean(data.targets().row(row), values)));
                record.push(truth.map_or(String::new(), |value| value.to_string()));
                record.push(v[place].to_string());
            }
        }
        table.push(record);
    }
    table
}

/// The cumulative scores of every learner, a row for every `k`.
fn cumulative_table(evaluation: &CrossValidation) -> Option<Vec<Vec<String>>> {
    let curves: Vec<&Vec<f64>> =
        evaluation.results.iter().map(|result| result.cs_curve.as_ref()).collect::<Option<_>>()?;
    let learners = evaluation.results.iter().map(|result| result.learner.as_str());
    let header = std::iter::once("k".to_string()).chain(file_names(learners)).collect();
    let largest = curves.iter().map(|curve| curve.len()).min()?;
    let row = |k: usize| {
        std::iter::once(k.to_string()).chain(curves.iter().map(|curve| curve[k].to_string())).collect()
    };
    Some(std::iter::once(header).chain((0..largest).map(row)).collect())
}

/// One point of a learning curve; `None` where nothing was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CurvePoint {
    /// Counted from 1.
    pub iteration: usize,
    /// The training loss.
    pub loss: Option<f64>,
    /// The K-L divergence on the held-out rows.
    pub validation_kl: Option<f64>,
    /// Whether the leaves were updated after this iteration.
    pub leaf_update: bool,
    /// The K-L divergence on the test rows, in the released protocol.
    pub test_kl: Option<f64>,
}

/// The learning curve of a fit, a point for every iteration that reported something.
pub fn curve(history: &[FitEvent], test_curve: &[(usize, f64)]) -> Vec<CurvePoint> {
    let mut points = BTreeMap::<usize, CurvePoint>::new();
    let mut point = |iteration: usize, change: &dyn Fn(&mut CurvePoint)| {
        change(points.entry(iteration).or_insert(CurvePoint { iteration, ..CurvePoint::default() }));
    };
    for event in history {
        match *event {
            FitEvent::Iteration { iteration, loss, .. } => point(iteration, &|point| point.loss = loss),
            FitEvent::LeafUpdate { iteration } => point(iteration, &|point| point.leaf_update = true),
            FitEvent::Validation { iteration, kl } => {
                point(iteration, &|point| point.validation_kl = Some(kl));
            }
        }
    }
    for &(iteration, kl) in test_curve {
        point(iteration, &|point| point.test_kl = Some(kl));
    }
    points.into_values().collect()
}

fn curve_table(fold: &FoldResult) -> Vec<Vec<String>> {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let header = ["iteration", "loss", "validation_kl", "leaf_update", "test_kl"].map(String::from).to_vec();
    let record = |point: CurvePoint| {
        vec![
            point.iteration.to_string(),
            number(point.loss),
            number(point.validation_kl),
            u8::from(point.leaf_update).to_string(),
            number(point.test_kl),
        ]
    };
    let points = curve(&fold.history, &fold.test_curve);
    std::iter::once(header).chain(points.into_iter().map(record)).collect()
}
