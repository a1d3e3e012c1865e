//! The section of a model: its predictions, the importance of features, its leaves and trees.

use std::collections::BTreeMap;

use ldlf_core::Schema;
use ldlf_core::explain::{Explanations, Importances};
use ldlf_core::forest_view::ForestView;

use super::{Figures, Playground, Section, Thumbnail, Trust, facts, thumbnails, trust};
use crate::load::PredictedRow;
use crate::plots;
use crate::rows::{example_rows, label_errors, mode_errors};

/// Trees that are drawn; a forest has many, and they look alike.
pub const TREES: usize = 3;

/// What the rows of a report are to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsShown {
    /// It did not learn from them, as far as is known.
    New,
    /// It learnt from them, and they are predicted by trees that left them out.
    OutOfFold,
    /// It learnt from them, and nobody has predicted them without: they are not shown.
    Training,
}

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
    /// What moved the prediction of the first chosen row, with its number.
    pub explained: Option<(usize, Explanations)>,
    /// Its trees, where it has soft ones. The path of the first chosen row is highlighted.
    pub view: Option<ForestView>,
    /// Small images of rows for the figures of its trees, where rows are images.
    pub images_at_leaves: BTreeMap<usize, plots::Thumbnail>,
    /// Why there are no trees to draw, where there are none.
    pub without_trees: &'static str,
    /// The model to play with, where it is small enough.
    pub playground: Option<Playground>,
    /// What the rows are to the model.
    pub shown: RowsShown,
    /// How far its predictions can be relied on; none for plain values and for rows that it learnt from.
    pub trust: Option<Trust>,
    /// Its predictions beside the truth, where the data has both.
    pub rows: Vec<PredictedRow>,
    /// Rows to show beside the best, the median and the worst.
    pub chosen: Vec<usize>,
    /// The images of the rows that are shown, where rows are images.
    pub thumbnails: Vec<Thumbnail>,
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
    match model.shown {
        RowsShown::New => {}
        RowsShown::OutOfFold => section.text(
            "The model was trained on these rows. Each is shown as it was predicted out of fold, without having been learnt from.",
        ),
        RowsShown::Training => section.text(
            "The model was trained on these rows, so that its predictions of them would look better than those of new rows. They are \
             not shown: name out-of-fold predictions of the training, or data that the model has not seen. The importance of features \
             and the use of leaves below are those of the training rows.",
        ),
    }
    if !model.rows.is_empty() {
        let shown = example_rows(&model.rows, &model.chosen);
        section.add(figures.html(&plots::distributions(
            &model.name,
            "its data",
            &shown,
            &model.schema.label_names,
        )));
        if !model.thumbnails.is_empty() {
            section.add(thumbnails::html(&model.thumbnails));
        }
        let (labels, own) = (&model.schema.label_names, |numbers| [(model.name.clone(), numbers)]);
        section.heading("Labels");
        let errors = label_errors(&model.rows, labels.len());
        section.add(figures.html(&plots::label_error("its data", labels, &own(errors))));
        if let Some(values) = &model.schema.label_values {
            let errors = mode_errors(&model.rows, values);
            section.add(figures.html(&plots::cumulative_score("its data", &own(errors))));
        }
    }
    if let Some(found) = &model.trust {
        trust::add(found, &model.schema.label_names, &mut section, figures);
    }
    if let Some(playground) = &model.playground {
        section.heading("Try it");
        section.text(
            "Choose a row and move its features: the bars are the predicted distribution, behind them that of the row as it is. This \
             shows what the model says, also of rows that it learnt from, and not how good it is.",
        );
        section.add(playground.html());
    }
    if let Some(importances) = &model.importances {
        section.heading("Features");
        section.add(figures.html(&plots::importance(importances)));
    }
    if let Some((row, explained)) = &model.explained {
        section.add(figures.html(&plots::explanation(explained, 0, &format!("row {row}"))));
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
                thumbnails: &model.images_at_leaves,
            };
            section.add(figures.html(&plots::tree(&what, name)));
        }
    } else {
        section.text(model.without_trees);
    }
    section
}
