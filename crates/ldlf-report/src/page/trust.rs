//! Whether a model's predictions mean what they say, and for whom.

use ldlf_core::calibration::{Coverage, Kind, KlParts, Reliability};

use super::{Figures, Section};
use crate::plots;
use crate::table::{Cell, SortableTable};

/// How far the predictions of a model can be relied on.
pub struct Trust {
    /// What was found on rows that the model did not learn from.
    pub reliability: Reliability,
    /// Whether the rows are training rows, predicted out of fold.
    pub out_of_fold: bool,
    /// Measures by subgroup, where a column was named.
    pub subgroups: Option<Subgroups>,
}

/// Measures of the rows of every value of a column.
pub struct Subgroups {
    /// The column.
    pub column: String,
    /// What is measured.
    pub measures: Vec<String>,
    /// What was drawn by the bootstrap: rows or groups.
    pub units: String,
    /// A value with its number of rows, and for every measure its mean with the ends of the 95 % interval.
    pub values: Vec<(String, usize, Vec<[f64; 3]>)>,
}

pub(super) fn add(trust: &Trust, labels: &[String], section: &mut Section, figures: &mut Figures) {
    let found = &trust.reliability;
    section.heading("Trust");
    section.text(in_words(&found.kl));
    if !found.coverage.is_empty() {
        section.add(coverage(trust));
    }
    section.add(figures.html(&plots::reliability(labels, &found.labels)));
    if let Some(bins) = &found.pit {
        section.add(figures.html(&plots::pit(bins)));
    }
    if let Some(subgroups) = &trust.subgroups {
        section.heading(&format!("By {}", subgroups.column));
        section.add(by_subgroup(subgroups));
    }
}

fn in_words(kl: &KlParts) -> String {
    let sure = match kl.exponent {
        exponent if exponent < 0.95 => "too sure",
        exponent if exponent > 1.05 => "not sure enough",
        _ => "as sure as they should be",
    };
    format!(
        "K-L {:.4} = calibration {:.4} + refinement {:.4}. Calibration is what one exponent for all predictions would take off, \
         refinement what the features do not tell. Predictions are {sure} (best exponent {:.2}).",
        kl.kl, kl.calibration, kl.refinement, kl.exponent
    )
}

fn coverage(trust: &Trust) -> crate::markup::Element {
    let how = match trust.out_of_fold {
        true => " Intervals and sets of one half of the rows were made by the other half.",
        false => "",
    };
    let caption = format!("How often intervals and label sets hold the truth, and how wide they are.{how}");
    let mut table =
        SortableTable::new(caption).words("what").numbers("wanted").numbers("found").numbers("width");
    for Coverage { kind, level, covered, width } in &trust.reliability.coverage {
        let cells =
            [Cell::number(Some(*level), 2), Cell::number(Some(*covered), 3), Cell::number(Some(*width), 2)];
        table.row(std::iter::once(Cell::word(called(*kind))).chain(cells));
    }
    table.html()
}

fn called(kind: Kind) -> &'static str {
    match kind {
        Kind::Interval => "interval of the value",
        Kind::VoteInterval => "interval of a vote",
        Kind::Set => "label set of a voter (width: labels)",
        Kind::QuantileInterval => "quantiles, no promise",
    }
}

fn by_subgroup(subgroups: &Subgroups) -> crate::markup::Element {
    let caption = format!(
        "Measures by {}; in brackets 95 % intervals by bootstrap over {}.",
        subgroups.column, subgroups.units
    );
    let mut table = SortableTable::new(caption).words(&subgroups.column).numbers("rows");
    for measure in &subgroups.measures {
        table = table.numbers(measure);
    }
    for (value, rows, means) in &subgroups.values {
        let cells = means.iter().map(|&[mean, low, high]| Cell::between(mean, low, high));
        table.row([Cell::word(value), Cell::number(Some(*rows as f64), 0)].into_iter().chain(cells));
    }
    table.html()
}
