//! What a learner states about itself, once; every list of learners derives from it.

use serde::Serialize;

/// What the rows of a learner may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reads {
    /// Rows of a table.
    Table,
    /// Images.
    Images,
    /// Either of them.
    Either,
}

/// What the models of a learner predict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Predicts {
    /// A distribution over the labels per row.
    Distributions,
    /// One value per row, in units of the labels' values.
    Values,
}

/// All facts about a learner.
///
/// ```
/// use ldlf_core::{Facts, Predicts};
/// const FACTS: Facts = Facts { iterates: true, ..Facts::new("example", "an example", "nobody") };
/// assert!(FACTS.weights && FACTS.predicts == Predicts::Distributions);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The name in the registry, such as `sldlf`.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What its rows may be.
    pub reads: Reads,
    /// Reads sparse tables without making them dense.
    pub sparse: bool,
    /// Takes row weights.
    pub weights: bool,
    /// Needs labels that stand for numbers.
    pub ordered: bool,
    /// Trains a deep network: takes a backbone and its weights.
    pub backbone: bool,
    /// What its models predict.
    pub predicts: Predicts,
    /// Iterates: can be stopped early and, in the `released` protocol, is measured along the way.
    pub iterates: bool,
    /// Resumes from a checkpoint.
    pub resumes: bool,
    /// Its models are graphs of standard operators, for ONNX.
    pub exports: bool,
    /// Its fits tell what the model says about the training rows without having seen them.
    pub out_of_fold: bool,
}

impl Facts {
    /// A learner that fits distributions to tables, sparse ones and weighted rows included, all at once; say what differs.
    pub const fn new(name: &'static str, summary: &'static str, source: &'static str) -> Self {
        Facts {
            name,
            summary,
            source,
            reads: Reads::Table,
            sparse: true,
            weights: true,
            ordered: false,
            backbone: false,
            predicts: Predicts::Distributions,
            iterates: false,
            resumes: false,
            exports: false,
            out_of_fold: false,
        }
    }

    /// The facts as one object, without the name and the words about it.
    pub(crate) fn abilities(&self) -> serde_json::Value {
        serde_json::json!({
            "reads": self.reads,
            "sparse": self.sparse,
            "weights": self.weights,
            "ordered": self.ordered,
            "images": self.reads_images(),
            "backbone": self.backbone,
            "predicts": self.predicts,
            "iterates": self.iterates,
            "resumes": self.resumes,
            "exports": self.exports,
            "out_of_fold": self.out_of_fold,
        })
    }

    /// Whether rows may be images.
    pub fn reads_images(&self) -> bool {
        self.reads != Reads::Table
    }
}
