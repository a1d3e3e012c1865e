//! `ldlf evaluate --trust`: whether predictions mean what they say.

use ldlf::TrainedModel;
use ldlf::internals::core::calibration::{Coverage, Reliability};

use crate::printer::{Table, number};

/// Coverage, the parts of the K-L divergence, every label by itself and the histogram of the truth's place, as tables.
pub fn tables(found: &Reliability, model: &TrainedModel) -> String {
    let kl = &found.kl;
    let sure = match kl.exponent {
        exponent if exponent < 0.95 => "too sure",
        exponent if exponent > 1.05 => "not sure enough",
        _ => "as sure as they should be",
    };
    let mut text = format!(
        "K-L {:.4} = calibration {:.4} + refinement {:.4}: predictions are {sure} (best exponent {:.2})\n",
        kl.kl, kl.calibration, kl.refinement, kl.exponent
    );
    if !found.coverage.is_empty() {
        let mut table = Table::new(["coverage", "wanted", "found", "width"]);
        for Coverage { kind, level, covered, width } in &found.coverage {
            table.row([
                kind.name().to_string(),
                format!("{level:.2}"),
                format!("{covered:.3}"),
                number(Some(*width)),
            ]);
        }
        text += &format!("\n{table}");
    }
    // Of many labels (ages) single ones say little.
    const MOST_LABELS: usize = 30;
    if found.labels.len() <= MOST_LABELS {
        let mut table = Table::new(["label", "predicted", "observed", "calibration error"]);
        for (name, label) in model.schema.label_names.iter().zip(&found.labels) {
            let cells = [label.predicted, label.observed, label.error].map(|value| number(Some(value)));
            table.row(std::iter::once(name.clone()).chain(cells));
        }
        text += &format!("\n{table}");
    }
    if let Some(pit) = &found.pit {
        let bins: Vec<String> = pit.iter().map(|share| format!("{share:.3}")).collect();
        text += &format!("\nPIT, tenth by tenth (0.1 each where calibrated): {}\n", bins.join(" "));
    }
    text
}
