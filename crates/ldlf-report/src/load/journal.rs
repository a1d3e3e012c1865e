//! A journal: finished folds, grouped into evaluations.

use std::path::Path;

use ldlf_core::error::Subject;
use ldlf_core::evaluate::FoldKey;
use ldlf_core::measures::Scores;
use ldlf_core::{Error, Result, message};
use ldlf_io::journal::FoldRecord;
use ldlf_io::results::curve;

use super::{Evaluation, LearnerRun, NamedScores};

/// Reads a journal; folds that are not finished are absent.
pub(super) fn read(path: &Path) -> Result<Vec<Evaluation>> {
    let folds = ldlf_io::journal::read(path).map_err(|error| match error {
        Error::Data(_) => error.with_note(message![
            "results are a folder of ",
            Subject::ResultsFolder,
            ", a .json file, a .csv table of ",
            Subject::SweepTable,
            ", or a journal"
        ]),
        other => other,
    })?;
    let mut evaluations: Vec<(FoldKey, Vec<Entry>)> = Vec::new();
    for (key, record) in folds {
        let together = |other: &FoldKey| {
            (&other.build, &other.dataset, other.protocol, other.seed)
                == (&key.build, &key.dataset, key.protocol, key.seed)
        };
        let place = evaluations.iter().position(|(other, _)| together(other)).unwrap_or_else(|| {
            evaluations.push((key.clone(), Vec::new()));
            evaluations.len() - 1
        });
        let entries = &mut evaluations[place].1;
        let same = |entry: &Entry| entry.key.learner == key.learner && entry.key.parameters == key.parameters;
        let place = entries.iter().position(same).unwrap_or_else(|| {
            entries.push(Entry { key: key.clone(), folds: Vec::new() });
            entries.len() - 1
        });
        let folds = &mut entries[place].folds;
        // Of a fold that occurs twice (another division of the rows) the last one counts.
        folds.retain(|(number, _)| *number != key.fold);
        folds.push((key.fold, record));
    }
    Ok(evaluations.into_iter().map(|(key, entries)| evaluation(key, entries)).collect())
}

/// The folds of one learner with one set of parameters.
struct Entry {
    key: FoldKey,
    folds: Vec<(usize, FoldRecord)>,
}

fn evaluation(key: FoldKey, entries: Vec<Entry>) -> Evaluation {
    let evaluation = Evaluation {
        dataset: key.dataset,
        rows: None,
        features: None,
        labels: Vec::new(),
        label_values: None,
        protocol: key.protocol.name().to_string(),
        seed: Some(key.seed),
        runs: entries.into_iter().map(run).collect(),
        experiment: String::new(),
        division: String::new(),
        file: String::new(),
        folder: None,
    };
    evaluation.named()
}

fn run(mut entry: Entry) -> LearnerRun {
    entry.folds.sort_by_key(|(number, _)| *number);
    let scores: Vec<Scores> = entry.folds.iter().map(|(_, record)| record.numbers()).collect();
    let (mean, std) = ldlf_core::evaluate::mean_and_deviation(&scores);
    let owned =
        |scores: &Scores| NamedScores(scores.iter().map(|(name, value)| (name.to_string(), value)).collect());
    LearnerRun {
        learner: entry.key.learner,
        parameters: entry.key.parameters,
        folds: scores.iter().map(owned).collect(),
        mean: owned(&mean),
        std: owned(&std),
        name: String::new(),
        curves: entry.folds.iter().map(|(_, record)| curve(&record.history(), record.test_curve())).collect(),
    }
}
