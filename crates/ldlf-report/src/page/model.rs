//! The section of a model: what it leans on, its trees, its leaves, and its answers.

use ldlf_core::Schema;
use ldlf_core::forest_view::ForestView;

use super::{Pictures, Section, facts};
use crate::importance::Importances;
use crate::load::PredictedRow;
use crate::plots;
use crate::rows::telling;

/// Trees that are drawn; a forest has many, and they look alike.
const TREES: usize = 3;

/// A model with what it did on some data.
pub struct ModelPart {
    /// What it is called.
    pub name: String,
    /// Sizes and facts: names with values.
    pub facts: Vec<(String, String)>,
    /// What its columns are called.
    pub schema: Schema,
    /// What it leans on, where that was measured.
    pub importances: Option<Importances>,
    /// Its trees, where it has soft ones. The way of the first chosen row is lit.
    pub view: Option<ForestView>,
    /// Its predictions beside the truth, where the data has both.
    pub rows: Vec<PredictedRow>,
    /// Rows to show beside the best, the median and the worst.
    pub chosen: Vec<usize>,
}

/// What a feature is called: its name, or its number from 1 where it has none.
pub fn feature_name(schema: &Schema, feature: usize) -> String {
    let named = schema.feature_names.as_ref().and_then(|names| names.get(feature));
    named.cloned().unwrap_or_else(|| format!("feature {}", feature + 1))
}

pub(super) fn section(model: &ModelPart, pictures: &mut Pictures) -> Section {
    let mut section = Section::new("model", format!("Model {}", model.name));
    section.add(facts(&model.facts));
    let name = |feature: usize| feature_name(&model.schema, feature);
    if !model.rows.is_empty() {
        let shown = telling(&model.rows, &model.chosen);
        section.add(pictures.figure(&plots::distributions(
            &model.name,
            "its data",
            &shown,
            &model.schema.label_names,
        )));
    }
    if let Some(importances) = &model.importances {
        section.heading("Features");
        section.add(pictures.figure(&plots::importance(importances, name)));
    }
    if let Some(view) = &model.view {
        section.heading("Leaves");
        section.add(pictures.figure(&plots::leaf_usage(view)));
        section.heading("Trees");
        for tree in 0..view.trees.len().min(TREES) {
            let what = plots::TreePicture {
                view,
                tree,
                row: (!view.chosen.is_empty()).then_some(0),
                labels: &model.schema.label_names,
            };
            section.add(pictures.figure(&plots::tree(&what, name)));
        }
    } else {
        section.text("This learner has no soft trees to draw.");
    }
    section
}
