//! A journal: finished folds, of which whatever belongs together becomes one evaluation.

use std::path::Path;

use ldlf_core::error::Subject;
use ldlf_core::journal::{FoldRecord, JournalKey};
use ldlf_core::measures::Scores;
use ldlf_core::results::curve;
use ldlf_core::{Error, Result, message};

use super::{Evaluation, Numbers, Run};

/// Reads a journal; folds that are still missing are simply not there.
pub(super) fn read(path: &Path) -> Result<Vec<Evaluation>> {
    let folds = ldlf_core::journal::read(path).map_err(|error| match error {
        Error::Data(_) => error.with_note(message![
            "results are a folder of ",
            Subject::ResultsFolder,
            ", a .json file, a .csv table of ",
            Subject::SweepTable,
            ", or a journal"
        ]),
        other => other,
    })?;
    let mut evaluations: Vec<(JournalKey, Vec<Entry>)> = Vec::new();
    for (key, record) in folds {
        let together = |other: &JournalKey| {
            (&other.version, &other.dataset, other.protocol, other.seed)
                == (&key.version, &key.dataset, key.protocol, key.seed)
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
        // A fold that stands there twice (another cut of the rows) counts once, the last time.
        folds.retain(|(number, _)| *number != key.fold);
        folds.push((key.fold, record));
    }
    Ok(evaluations.into_iter().map(|(key, entries)| evaluation(key, entries)).collect())
}

/// The folds of one learner with one set of parameters.
struct Entry {
    key: JournalKey,
    folds: Vec<(usize, FoldRecord)>,
}

fn evaluation(key: JournalKey, entries: Vec<Entry>) -> Evaluation {
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

fn run(mut entry: Entry) -> Run {
    entry.folds.sort_by_key(|(number, _)| *number);
    let scores: Vec<Scores> = entry.folds.iter().map(|(_, record)| record.numbers()).collect();
    let (mean, std) = ldlf_core::evaluate::mean_and_deviation(&scores);
    let owned =
        |scores: &Scores| Numbers(scores.iter().map(|(name, value)| (name.to_string(), value)).collect());
    Run {
        learner: entry.key.learner,
        parameters: entry.key.parameters,
        folds: scores.iter().map(owned).collect(),
        mean: owned(&mean),
        std: owned(&std),
        name: String::new(),
        curves: entry.folds.iter().map(|(_, record)| curve(&record.history(), record.test_curve())).collect(),
    }
}
