//! A file of finished folds, so that an interrupted run loses at most the folds it was in.
//!
//! One JSON object per line, only ever appended, each line written at once and synced. A line without its end is what a
//! killed process leaves behind: it is dropped. Any other damage is an error that names the line.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ldlf_core::error::Place;
use ldlf_core::evaluate::{FoldKey, FoldResult, FoldStore};
use ldlf_core::learner::Summary;
use ldlf_core::measures::Scores;
use ldlf_core::{Error, FitEvent, Matrix, Prediction, Result, message};
use serde::{Deserialize, Serialize};

use crate::input;

/// A finished fold as a line of the journal keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoldRecord {
    scores: Scores,
    fit_seconds: f64,
    predict_seconds: f64,
    summary: Summary,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    best_iteration: Option<usize>,
    prediction: StoredPrediction,
    history: Vec<StoredEvent>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    test_curve: Vec<(usize, f64)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredPrediction {
    Distributions { labels: usize, values: Vec<f32> },
    Values(Vec<f64>),
}

/// An event in few letters: a long run has many of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum StoredEvent {
    /// Iteration, total, loss.
    #[serde(rename = "i")]
    Iteration(usize, usize, Option<f64>),
    #[serde(rename = "u")]
    LeafUpdate(usize),
    /// Iteration, K-L; null where it is not a number.
    #[serde(rename = "v")]
    Validation(usize, Option<f64>),
}

impl FoldRecord {
    fn of(result: &FoldResult) -> Self {
        let prediction = match &result.prediction {
            Prediction::Distributions(m) => {
                StoredPrediction::Distributions { labels: m.cols(), values: m.as_slice().to_vec() }
            }
            Prediction::Values(v) => StoredPrediction::Values(v.clone()),
        };
        let stored = |event: &FitEvent| match *event {
            FitEvent::Iteration { iteration, total, loss } => StoredEvent::Iteration(iteration, total, loss),
            FitEvent::LeafUpdate { iteration } => StoredEvent::LeafUpdate(iteration),
            FitEvent::Validation { iteration, kl } => StoredEvent::Validation(iteration, Some(kl)),
        };
        FoldRecord {
            scores: result.scores.clone(),
            fit_seconds: result.fit_seconds,
            predict_seconds: result.predict_seconds,
            summary: result.summary.clone(),
            best_iteration: result.best_iteration,
            prediction,
            history: result.history.iter().map(stored).collect(),
            test_curve: result.test_curve.clone(),
        }
    }

    /// The result again. `rows` are the fold's test rows, which the journal does not repeat; a prediction that is not
    /// one distribution over `labels` labels (or one value) for each of them is refused.
    pub fn into_result(self, rows: Vec<usize>, labels: usize) -> Result<FoldResult> {
        let history = self.history();
        let prediction = match self.prediction {
            StoredPrediction::Distributions { labels, values } => Prediction::Distributions(
                Matrix::new(rows.len(), labels, values).map_err(|e| damaged(e.into()))?,
            ),
            StoredPrediction::Values(values) => Prediction::Values(values),
        };
        let fits = match &prediction {
            Prediction::Distributions(m) => m.cols() == labels,
            Prediction::Values(v) => v.len() == rows.len(),
        };
        if !fits {
            return Err(damaged(Error::data("the prediction does not have the shape of the test rows")));
        }
        Ok(FoldResult {
            scores: self.scores,
            fit_seconds: self.fit_seconds,
            predict_seconds: self.predict_seconds,
            summary: self.summary,
            best_iteration: self.best_iteration,
            prediction,
            rows,
            history,
            test_curve: self.test_curve,
        })
    }

    /// The measures and the times.
    pub fn numbers(&self) -> Scores {
        let times =
            [("fit_seconds", Some(self.fit_seconds)), ("predict_seconds", Some(self.predict_seconds))];
        Scores(self.scores.iter().chain(times).collect())
    }

    /// Everything that the fit reported.
    pub fn history(&self) -> Vec<FitEvent> {
        let event = |stored: &StoredEvent| match *stored {
            StoredEvent::Iteration(iteration, total, loss) => FitEvent::Iteration { iteration, total, loss },
            StoredEvent::LeafUpdate(iteration) => FitEvent::LeafUpdate { iteration },
            StoredEvent::Validation(iteration, kl) => {
                FitEvent::Validation { iteration, kl: kl.unwrap_or(f64::NAN) }
            }
        };
        self.history.iter().map(event).collect()
    }

    /// Iteration and test K-L along the way, in the released protocol.
    pub fn test_curve(&self) -> &[(usize, f64)] {
        &self.test_curve
    }
}

fn damaged(error: Error) -> Error {
    Error::data(message!["a fold in the journal is damaged: ", error.sentence()])
        .with_remedy("name another journal")
}

#[derive(Deserialize)]
struct Line {
    key: FoldKey,
    result: FoldRecord,
}

#[derive(Serialize)]
struct LineRef<'a> {
    key: &'a FoldKey,
    result: &'a FoldRecord,
}

/// The finished folds of a file, and the file to add more to. One process at a time.
pub struct Journal {
    path: PathBuf,
    inner: Mutex<Inner>,
}

struct Inner {
    file: File,
    /// Where the last whole line ends.
    end: u64,
    folds: HashMap<String, FoldRecord>,
    /// The build of every line that was there when the journal was opened.
    builds: Vec<String>,
}

impl Journal {
    /// Opens a journal, or starts one where there is none.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let io = |e| Error::io(&path, e);
        // Refuses a pipe or a device, which would be waited for, before it is opened.
        let bytes = if path.metadata().is_ok() { input::read_file(&path)? } else { Vec::new() };
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(io)?;
        let (lines, whole) = parse(&path, &bytes)?;
        let builds = lines.iter().map(|line| line.key.build.clone()).collect();
        let folds = lines.into_iter().map(|line| (line.key.text(), line.result)).collect();
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(io)?;
        }
        file.seek(SeekFrom::Start(whole as u64)).map_err(io)?;
        Ok(Journal { path, inner: Mutex::new(Inner { file, end: whole as u64, folds, builds }) })
    }

    /// How many finished folds there are.
    pub fn len(&self) -> usize {
        self.lock().folds.len()
    }

    /// How many of the folds that were there when it was opened come from other builds, and are never given back to this one.
    pub fn of_other_builds(&self, build: &str) -> usize {
        self.lock().builds.iter().filter(|other| *other != build).count()
    }

    /// Whether there is no finished fold.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl FoldStore for Journal {
    fn has(&self, key: &FoldKey) -> bool {
        self.lock().folds.contains_key(&key.text())
    }

    fn get(&self, key: &FoldKey, rows: &[usize], labels: usize) -> Result<Option<FoldResult>> {
        let record = self.lock().folds.get(&key.text()).cloned();
        record.map(|record| record.into_result(rows.to_vec(), labels)).transpose()
    }

    /// When this returns, the fold is on the disk.
    fn put(&self, key: &FoldKey, result: &FoldResult) -> Result<()> {
        let record = FoldRecord::of(result);
        let mut line =
            serde_json::to_vec(&LineRef { key, result: &record }).expect("a finished fold is plain data");
        line.push(b'\n');
        let mut inner = self.lock();
        let written = inner.file.write_all(&line).and_then(|()| inner.file.sync_data());
        if let Err(error) = written {
            // Half a line must not stand before the next one.
            let end = inner.end;
            let _ = inner.file.set_len(end).and_then(|()| inner.file.seek(SeekFrom::Start(end)));
            return Err(Error::io(&self.path, error));
        }
        inner.end += line.len() as u64;
        inner.folds.insert(key.text(), record);
        Ok(())
    }
}

/// The finished folds of a journal in the order in which they were finished; the file is only read.
pub fn read(path: impl AsRef<Path>) -> Result<Vec<(FoldKey, FoldRecord)>> {
    let path = path.as_ref();
    let bytes = input::read_file(path)?;
    let (lines, _) = parse(path, &bytes)?;
    Ok(lines.into_iter().map(|line| (line.key, line.result)).collect())
}

/// The whole lines of a journal, and how many bytes they take; what follows is a line that a killed process did not finish.
fn parse(path: &Path, bytes: &[u8]) -> Result<(Vec<Line>, usize)> {
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let mut lines = Vec::new();
    for (number, line) in bytes[..whole].split_inclusive(|&byte| byte == b'\n').enumerate() {
        let damaged = |why: serde_json::Error| {
            Error::data(format!("not a finished fold of a journal: {why}"))
                .with_remedy("remove the line, or name another journal")
                .at(Place::file(path).line(number as u64 + 1))
        };
        lines.push(serde_json::from_slice(line).map_err(damaged)?);
    }
    // A file that is not ours also lacks a last line end sometimes: only what starts like a line of ours may be cut.
    let start = &bytes[whole..bytes.len().min(whole + LINE_START.len())];
    if !LINE_START.starts_with(start) {
        return Err(Error::data("not a journal")
            .with_remedy("name another file")
            .at(Place::file(path).line(lines.len() as u64 + 1)));
    }
    Ok((lines, whole))
}

/// How every line starts.
const LINE_START: &[u8] = b"{\"key\":{";
