//! The section of a model: its predictions, the importance of features, its leaves and trees.

use ldlf_core::Schema;
use ldlf_core::explain::Importances;
use ldlf_core::forest_view::ForestView;

use super::{Figures, Section, facts};
use crate::load::PredictedRow;
use crate::plots;
use crate::rows::example_rows;

/// Trees that are drawn; a forest has many, and they look alike.
const TREES: usize = 3;

/// A model evaluated on some data.
pub struct ReportedModel {
    /// Its name.
    pub name: String,
    /// Sizes and facts: names with values.
    pub facts: Vec<(String, String)>,
    /// The names of its columns.
    pub schema: Schema,
    /// The importance of features, where it was measured.
    pub importances: Option<Importances>,
    /// Its trees, where it has soft ones. The path of the first chosen row is highlighted.
    pub view: Option<ForestView>,
    /// Its predictions beside the truth, where the data has both.
    pub rows: Vec<PredictedRow>,
    /// Rows to show beside the best, the median and the worst.
    pub chosen: Vec<usize>,
}

/// The name of a feature, or its number from 1 where it has none.
pub fn feature_name(schema: &Schema, feature: usize) -> String {
    let named = schema.feature_names.as_ref().and_then(|names| names.get(feature));
    named.cloned().unwrap_or_else(|| format!("feature {}", feature + 1))
}

pub(super) fn section(model: &ReportedModel, figures: &mut Figures) -> Section {
    let mut section = Section::new("model", format!("Model {}", model.name));
    section.add(facts(&model.facts));
    let name = |feature: usize| feature_name(&model.schema, feature);
    if !model.rows.is_empty() {
        let shown = example_rows(&model.rows, &model.chosen);
        section.add(figures.html(&plots::distributions(
            &model.name,
            "its data",
            &shown,
            &model.schema.label_names,
        )));
    }
    if let Some(importances) = &model.importances {
        section.heading("Features");
        section.add(figures.html(&plots::importance(importances)));
    }
    if let Some(view) = &model.view {
        section.heading("Leaves");
        section.add(figures.html(&plots::leaf_usage(view)));
        section.heading("Trees");
        for tree in 0..view.trees.len().min(TREES) {
            let what = plots::TreeFigure {
                view,
                tree,
                row: (!view.chosen.is_empty()).then_some(0),
                labels: &model.schema.label_names,
            };
            section.add(figures.html(&plots::tree(&what, name)));
        }
    } else {
        section.text("This learner has no soft trees to draw.");
    }
    section
}
