//! What an experiment of the paper is made of: plain data that the frame runs.

use std::path::{Path, PathBuf};

use ldlf::internals::core::targets::Spread;
use ldlf::internals::io::read::ReadOptions;
use ldlf::{Error, Learner, Result, Settings, registry};
use serde::Serialize;
use serde_json::{Map, Value};

use super::sets::MOVIE;

/// A table or figure: what is run, and what the paper says.
pub struct Experiment {
    /// What the command line calls it.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What the paper did and what is done here, in a few sentences of Markdown.
    pub about: &'static str,
    /// The measures of its tables, the headline first.
    pub measures: &'static [&'static str],
    /// The sets, in order.
    pub sets: Vec<Set>,
    /// How the rows are divided: every set is run under each, in order.
    pub divisions: Vec<Division>,
    /// The learners.
    pub entrants: Vec<Entrant>,
    /// The paper's rows.
    pub published: Vec<Published>,
}

/// A set of the paper, or one that stands in for it.
pub struct Set {
    /// Its name: that of its file without folder and extension.
    pub name: &'static str,
    /// Its folder within `--data`.
    pub folder: &'static str,
    /// One ordered label per row and the deviation of the Gaussian around it; no deviation means that the file holds distributions.
    pub single: Option<(&'static str, Option<f64>)>,
    /// How to get it.
    pub get: &'static str,
}

/// The formats a set may have, in the order in which they are looked for.
const EXTENSIONS: [&str; 6] = ["mat", "parquet", "npz", "csv", "tsv", "svm"];

impl Set {
    /// The set's file below `data`, if it is there.
    pub fn file(&self, data: &Path) -> Option<PathBuf> {
        let folder = data.join(self.folder);
        EXTENSIONS
            .map(|extension| folder.join(format!("{}.{extension}", self.name)))
            .into_iter()
            .find(|path| path.is_file())
    }

    /// The file with its ten folds, if it is there.
    pub fn fold_file(&self, data: &Path) -> Option<PathBuf> {
        Some(data.join("folds").join(format!("{}.txt", self.name))).filter(|path| path.is_file())
    }

    /// How it is read.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            label_column: self.single.map(|(column, _)| column.to_string()),
            spread: self.single.and_then(|(_, sigma)| sigma).map(|sigma| Spread::Gaussian { sigma }),
            ..ReadOptions::default()
        }
    }
}

/// How the rows of a set are divided into training and test rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Division {
    /// Ten disjoint folds: those of the set's fold file where it has one.
    TenFolds,
    /// Random splits that train on this fraction of the rows.
    Share(f64),
    /// Ten folds drawn with replacement, best test iteration.
    Released,
}

impl Division {
    /// What tables and JSON call it.
    pub fn title(self) -> String {
        match self {
            Division::TenFolds => "ten folds".into(),
            Division::Share(share) => format!("{} %", (share * 100.0).round()),
            Division::Released => "released protocol".into(),
        }
    }
}

/// A learner of an experiment.
#[derive(Clone)]
pub struct Entrant {
    /// What tables call it: its learner, and what is special about it.
    pub label: String,
    /// Its name in the registry.
    pub learner: String,
    /// The preset under the released protocol, if another than none; on Movie the one with `-movie` behind its name, where the
    /// released script iterates less.
    pub released_preset: Option<&'static str>,
    /// What is set beside the preset.
    pub settings: Settings,
}

impl Entrant {
    /// A learner at its defaults.
    pub fn new(learner: &str) -> Self {
        Entrant {
            label: learner.into(),
            learner: learner.into(),
            released_preset: None,
            settings: Settings::new(),
        }
    }

    /// Makes the learner for a set and a division.
    pub fn build(&self, set: &str, division: Division) -> Result<Box<dyn Learner>> {
        let preset = self.released_preset.filter(|_| division == Division::Released);
        let of_movie = set.eq_ignore_ascii_case(MOVIE.name);
        let preset = preset.map(|name| if of_movie { format!("{name}-movie") } else { name.to_string() });
        registry::build(&self.learner, preset.as_deref(), &self.settings)
    }

    /// Sets what `--set` says about this learner: pairs that start with its name and a point.
    pub fn overridden_by(mut self, pairs: &[String]) -> Result<Self> {
        for pair in pairs {
            if let Some((learner, setting)) = pair.split_once('.')
                && learner == self.learner
            {
                self.settings = self.settings.overridden_by(&Settings::parse([setting])?);
            }
        }
        Ok(self)
    }
}

/// Refuses a `--set` for none of the entrants.
pub fn check_settings(pairs: &[String], entrants: &[Entrant]) -> Result<()> {
    let known = |pair: &&String| {
        pair.split_once('.').is_some_and(|(learner, _)| entrants.iter().any(|e| e.learner == learner))
    };
    match pairs.iter().find(|pair| !known(pair)) {
        None => Ok(()),
        Some(pair) => Err(Error::usage(format!(
            "--set {pair}: write LEARNER.NAME=VALUE with one of the learners {}",
            entrants.iter().map(|entrant| entrant.learner.as_str()).collect::<Vec<_>>().join(", ")
        ))),
    }
}

/// A row of the paper.
#[derive(Serialize)]
pub struct Published {
    /// The set it was measured on.
    #[serde(skip)]
    pub set: &'static str,
    /// The division it was measured under.
    #[serde(skip)]
    pub division: Division,
    /// The method, in the paper's words.
    pub method: &'static str,
    /// Its numbers.
    #[serde(serialize_with = "as_object")]
    pub numbers: Vec<Number>,
}

/// A published number.
#[derive(Clone, Copy)]
pub struct Number {
    /// The measure, by our name.
    pub measure: &'static str,
    /// The mean.
    pub mean: f64,
    /// The standard deviation, where the paper has one.
    pub std: Option<f64>,
}

fn as_object<S: serde::Serializer>(
    numbers: &[Number],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let entry = |n: &Number| (n.measure.to_string(), serde_json::json!({"mean": n.mean, "std": n.std}));
    Value::Object(numbers.iter().map(entry).collect::<Map<_, _>>()).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_released_script_iterates_less_on_movie() {
        let entrant = Entrant { released_preset: Some("released"), ..Entrant::new("sldlf") };
        let iterations = |set: &str, division: Division| {
            entrant.build(set, division).unwrap().settings().get("iterations").cloned()
        };
        assert_eq!(iterations("Movie", Division::Released), Some(2000.into()));
        assert_eq!(iterations("Human_Gene", Division::Released), Some(3000.into()));
        assert_eq!(iterations("Movie", Division::TenFolds), iterations("Human_Gene", Division::TenFolds));
    }
}
