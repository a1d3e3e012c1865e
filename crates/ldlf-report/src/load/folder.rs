//! The folder of `ldlf cv --results`: see `ldlf_io::results` for its files.

use std::path::{Path, PathBuf};

use ldlf_core::error::{Message, Place, Subject};
use ldlf_core::{Error, Result, message};
use ldlf_io::results::CurvePoint;

use super::{Evaluation, LearnerRun, from_json};

/// A folder with predictions and curves.
#[derive(Clone, Debug)]
pub(super) struct ResultsFolder(PathBuf);

/// One test row: its true and its predicted distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedRow {
    /// Its number in the dataset, from 0.
    pub row: usize,
    /// The fold that it was tested in.
    pub fold: usize,
    /// The true distribution.
    pub truth: Vec<f32>,
    /// The predicted one.
    pub predicted: Vec<f32>,
    /// The single true value, where there is one.
    pub value: Option<f64>,
}

/// The predictions of a learner over all folds.
#[derive(Clone, Debug, PartialEq)]
pub enum Predictions {
    /// Distributions.
    Distributions(Vec<PredictedRow>),
    /// Plain values: the true and the predicted one.
    Values(Vec<(f64, f64)>),
}

/// The file that a folder of results has.
pub(super) const RESULTS: &str = "results.json";

/// The folders of results within a folder, by their names.
pub(super) fn within(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|folder| folder.join(RESULTS).is_file()).collect();
    folders.sort();
    folders
}

/// Reads the folder's results; predictions and curves are read when asked for.
pub(super) fn read(path: &Path) -> Result<Evaluation> {
    let file = path.join(RESULTS);
    if !file.exists() {
        return Err(Error::data(format!("{} has no results.json", path.display())).with_remedy(message![
            "give a folder that ",
            Subject::ResultsFolder,
            " wrote"
        ]));
    }
    let mut evaluations = from_json(&file)?;
    if evaluations.len() != 1 {
        return Err(Error::data("one evaluation is expected in a folder").in_file(file));
    }
    let mut evaluation = evaluations.remove(0);
    evaluation.folder = Some(ResultsFolder(path.to_path_buf()));
    Ok(evaluation)
}

impl ResultsFolder {
    /// The table of a fold. A name out of `results.json` must not lead out of the folder.
    fn table(&self, part: &str, run: &LearnerRun, fold: usize) -> Result<PathBuf> {
        let file = format!("{}-{fold}.csv", run.name);
        if Path::new(&file).file_name() != Some(file.as_ref()) {
            let results = self.0.join("results.json");
            return Err(Error::data(format!("{:?} is no name of a learner", run.name)).in_file(results));
        }
        Ok(self.0.join(part).join(file))
    }

    pub(super) fn predictions(&self, run: &LearnerRun, labels: &[String]) -> Result<Option<Predictions>> {
        let mut rows = Vec::new();
        let mut values = Vec::new();
        for fold in 0..run.folds.len() {
            let Some(table) = CsvTable::read(self.table("predictions", run, fold)?)? else {
                return Ok(None);
            };
            if table.columns.len() == 3 && table.columns[1] == "truth" {
                for record in &table.records {
                    values.push((table.number(record, 1)?, table.number(record, 2)?));
                }
                continue;
            }
            let count = labels.len();
            let with_value = table.columns.len() == 2 * count + 2;
            if table.columns.len() != 2 * count + 1 && !with_value {
                return Err(table.wrong(0, "the columns do not fit the labels of results.json"));
            }
            for record in &table.records {
                let part = |from: usize| -> Result<Vec<f32>> {
                    (from..from + count).map(|place| Ok(table.number(record, place)? as f32)).collect()
                };
                rows.push(PredictedRow {
                    row: table.number(record, 0)? as usize,
                    fold,
                    truth: part(1)?,
                    predicted: part(1 + count)?,
                    value: with_value.then(|| table.number(record, 2 * count + 1)).transpose()?,
                });
            }
        }
        Ok(match (rows.is_empty(), values.is_empty()) {
            (true, true) => None,
            (true, false) => Some(Predictions::Values(values)),
            _ => Some(Predictions::Distributions(rows)),
        })
    }

    pub(super) fn curve(&self, run: &LearnerRun, fold: usize) -> Result<Vec<CurvePoint>> {
        let Some(table) = CsvTable::read(self.table("curves", run, fold)?)? else { return Ok(Vec::new()) };
        if table.columns != ["iteration", "loss", "validation_kl", "leaf_update", "test_kl"] {
            return Err(table.wrong(0, "not the columns of a learning curve"));
        }
        let point = |record: &Record| {
            let optional = |place: usize| match record.cells[place].is_empty() {
                true => Ok(None),
                false => table.number(record, place).map(Some),
            };
            Ok(CurvePoint {
                iteration: table.number(record, 0)? as usize,
                loss: optional(1)?,
                validation_kl: optional(2)?,
                leaf_update: record.cells[3] == "1",
                test_kl: optional(4)?,
            })
        };
        table.records.iter().map(point).collect()
    }
}

/// A CSV table with the line number of each record.
pub(super) struct CsvTable {
    path: PathBuf,
    pub columns: Vec<String>,
    pub records: Vec<Record>,
}

pub(super) struct Record {
    line: u64,
    pub cells: Vec<String>,
}

impl CsvTable {
    /// Reads a table, or nothing where there is no file.
    pub fn read(path: PathBuf) -> Result<Option<Self>> {
        if !path.exists() {
            return Ok(None);
        }
        let bad = |e: csv::Error| Error::data(e.to_string()).in_file(&path);
        let mut reader = csv::Reader::from_reader(ldlf_io::input::open_file(&path)?);
        let columns = reader.headers().map_err(bad)?.iter().map(str::to_string).collect();
        let mut records = Vec::new();
        for record in reader.records() {
            let record = record.map_err(bad)?;
            let line = record.position().map_or(0, csv::Position::line);
            records.push(Record { line, cells: record.iter().map(str::to_string).collect() });
        }
        Ok(Some(CsvTable { path, columns, records }))
    }

    /// The number in a cell.
    pub fn number(&self, record: &Record, place: usize) -> Result<f64> {
        let cell = &record.cells[place];
        cell.parse().map_err(|_| {
            let place = self.place(record.line).column(&self.columns[place]);
            Error::data(format!("{cell:?} is not a number")).at(place)
        })
    }

    pub fn wrong(&self, line: u64, what: impl Into<Message>) -> Error {
        Error::data(what).at(self.place(line))
    }

    fn place(&self, line: u64) -> Place {
        let file = Place::file(&self.path);
        if line == 0 { file } else { file.line(line) }
    }
}
