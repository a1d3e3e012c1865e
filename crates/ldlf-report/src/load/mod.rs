//! Results of evaluations: folders of `ldlf cv --results`, the JSON of `cv`, `sweep` and `reproduce`, tables of `sweep --out`,
//! journals.

mod experiment;
mod folder;
mod journal;
mod sweep_table;

use std::path::Path;

use ldlf_core::error::Subject;
use ldlf_core::{Error, Result, Settings, message};
use ldlf_io::results::CurvePoint;
use serde::Deserialize;

use folder::ResultsFolder;
pub use folder::{PredictedRow, Predictions};

/// Names with numbers; `None` where a measure does not apply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedScores(pub Vec<(String, Option<f64>)>);

impl NamedScores {
    /// The number of a name, if there is one.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| known == name).and_then(|(_, value)| *value)
    }
}

impl<'de> Deserialize<'de> for NamedScores {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let map = serde_json::Map::deserialize(deserializer)?;
        Ok(NamedScores(map.into_iter().map(|(name, value)| (name, value.as_f64())).collect()))
    }
}

/// The results of one learner.
#[derive(Clone, Debug, Deserialize)]
pub struct LearnerRun {
    /// The learner's name.
    pub learner: String,
    /// Its parameters.
    #[serde(default)]
    pub parameters: Settings,
    /// The numbers of every fold; empty where only their mean is known.
    #[serde(default)]
    pub folds: Vec<NamedScores>,
    /// The mean over the folds.
    pub mean: NamedScores,
    /// The standard deviation over the folds.
    pub std: NamedScores,
    /// Its name in tables: the learner's, numbered where it occurs several times.
    #[serde(skip)]
    pub name: String,
    /// The learning curves by fold, where they are in memory.
    #[serde(skip)]
    curves: Vec<Vec<CurvePoint>>,
}

/// One evaluation: learners (or settings of one) on the folds of one dataset.
#[derive(Clone, Debug, Deserialize)]
pub struct Evaluation {
    /// The dataset's name.
    pub dataset: String,
    /// Its rows, where that is known.
    #[serde(default)]
    pub rows: Option<usize>,
    /// Its features, where that is known.
    #[serde(default)]
    pub features: Option<usize>,
    /// The names of its labels, where they are known.
    #[serde(default)]
    pub labels: Vec<String>,
    /// The numbers that the labels stand for, where the results say so.
    #[serde(default)]
    label_values: Option<Vec<f64>>,
    /// `clean` or `released`; empty where it is not known.
    #[serde(default)]
    pub protocol: String,
    /// The seed, where it is known.
    #[serde(default)]
    pub seed: Option<u64>,
    /// One run per learner.
    #[serde(rename = "results")]
    pub runs: Vec<LearnerRun>,
    /// The table or figure of the paper that it is a part of; empty for an evaluation of its own.
    #[serde(skip)]
    pub experiment: String,
    /// How that experiment divides the rows.
    #[serde(skip)]
    pub division: String,
    /// The name of the file or folder that it was read from, without its extension.
    #[serde(skip)]
    pub file: String,
    /// The folder that it was read from, with predictions and curves.
    #[serde(skip)]
    folder: Option<ResultsFolder>,
}

/// Reads a path: a results folder, a folder of such as `reproduce` writes, a JSON file of `cv`, `sweep` or `reproduce`, a CSV table of `sweep`, or a journal.
pub fn read(path: &Path) -> Result<Vec<Evaluation>> {
    let kind = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let mut evaluations = if path.is_dir() {
        let within = folder::within(path);
        match path.join(folder::RESULTS).exists() || within.is_empty() {
            true => vec![folder::read(path)?],
            false => within.iter().map(|folder| folder::read(folder)).collect::<Result<_>>()?,
        }
    } else if !path.exists() {
        return Err(Error::data(format!("{} does not exist", path.display())));
    } else {
        match kind.as_deref() {
            Some("json") => from_json(path)?,
            Some("csv") => vec![sweep_table::read(path)?],
            _ => journal::read(path)?,
        }
    };
    let file = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    evaluations.iter_mut().for_each(|evaluation| evaluation.file.clone_from(&file));
    match evaluations.iter().all(|evaluation| evaluation.runs.is_empty()) {
        true => Err(Error::data("there are no results in it").in_file(path)),
        false => Ok(evaluations),
    }
}

/// Reads the object of `ldlf cv --json` or `ldlf sweep --json`, or the several of `ldlf reproduce --json`.
fn from_json(path: &Path) -> Result<Vec<Evaluation>> {
    let text = ldlf_io::input::read_file(path)?;
    if let Ok(experiment) = serde_json::from_slice::<experiment::Experiment>(&text) {
        return Ok(experiment.evaluations());
    }
    let evaluation: Evaluation = serde_json::from_slice(&text).map_err(|e| {
        Error::data(message!["not the results of ", Subject::Evaluations, " ({e})"])
            .with_remedy(message![
                "give a folder of ",
                Subject::ResultsFolder,
                ", a JSON file of these commands, or a journal"
            ])
            .in_file(path)
    })?;
    Ok(vec![evaluation.named()])
}

impl Evaluation {
    /// Gives every run its name.
    fn named(mut self) -> Self {
        let names = ldlf_io::results::file_names(self.runs.iter().map(|run| run.learner.as_str()));
        self.runs.iter_mut().zip(names).for_each(|(run, name)| run.name = name);
        self
    }

    /// The title of the evaluation: `Movie, clean protocol`, or `FG-Net: table3, 10 %`.
    pub fn title(&self) -> String {
        let dataset = &self.dataset;
        match (self.experiment.as_str(), self.protocol.as_str()) {
            ("", "") => dataset.clone(),
            ("", protocol) => format!("{dataset}, {protocol} protocol"),
            (experiment, _) => format!("{dataset}: {experiment}, {}", self.division),
        }
    }

    /// The number of folds: that of the run with most.
    pub fn folds(&self) -> usize {
        self.runs.iter().map(|run| run.folds.len()).max().unwrap_or(0)
    }

    /// The measures that at least one run has, in the order of the results; times are none.
    pub fn measures(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (name, value) in self.runs.iter().flat_map(|run| &run.mean.0) {
            if value.is_some() && !name.ends_with("_seconds") && !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// The parameters whose values differ between runs of the same learner: the axes of a sweep. One that follows from an earlier
    /// one (units from depth) is left out.
    pub fn swept(&self) -> Vec<String> {
        let mut axes: Vec<String> = Vec::new();
        for first in &self.runs {
            for (name, value) in &first.parameters.0 {
                let differs = self
                    .runs
                    .iter()
                    .any(|run| run.learner == first.learner && run.parameters.get(name) != Some(value));
                if differs && !axes.contains(name) && !axes.iter().any(|axis| self.follows(name, axis)) {
                    axes.push(name.clone());
                }
            }
        }
        axes
    }

    /// Whether equal values of `axis` always go with equal values of `name`, within each learner.
    fn follows(&self, name: &str, axis: &str) -> bool {
        self.runs.iter().all(|a| {
            self.runs.iter().all(|b| {
                a.learner != b.learner
                    || a.parameters.get(axis) != b.parameters.get(axis)
                    || a.parameters.get(name) == b.parameters.get(name)
            })
        })
    }

    /// The predictions of a run over all folds; `None` where they were not kept.
    pub fn predictions(&self, run: usize) -> Result<Option<Predictions>> {
        let folder = self.folder.as_ref();
        folder
            .map(|folder| folder.predictions(&self.runs[run], &self.labels))
            .transpose()
            .map(Option::flatten)
    }

    /// The learning curve of a run on a fold; empty where there is none.
    pub fn curve(&self, run: usize, fold: usize) -> Result<Vec<CurvePoint>> {
        let run = &self.runs[run];
        match (&self.folder, run.curves.get(fold)) {
            (_, Some(curve)) => Ok(curve.clone()),
            (Some(folder), None) => folder.curve(run, fold),
            (None, None) => Ok(Vec::new()),
        }
    }

    /// The numbers that the labels stand for: as the results say, or by their names where every name is a number and they rise.
    pub fn label_values(&self) -> Option<Vec<f64>> {
        let by_name =
            || self.labels.iter().map(|name| name.parse::<f64>().ok()).collect::<Option<Vec<f64>>>();
        let values = self.label_values.clone().or_else(by_name)?;
        let rise = values.len() > 1 && values.windows(2).all(|pair| pair[0] < pair[1]);
        (rise && values.len() == self.labels.len()).then_some(values)
    }
}
