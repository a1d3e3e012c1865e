//! A cross-validation as a section of a Markdown page: what `docs/results` is made of.

use ldlf::internals::core::evaluate::CrossValidation;
use ldlf::measures::{direction, title};

/// A table with one row per learner, sorted by average rank: the measures as mean ± deviation with the best in bold, the average rank
/// over them, and the seconds of a fit and a prediction.
pub fn section(evaluation: &CrossValidation, measures: &[&str]) -> String {
    let CrossValidation { dataset, rows, features, labels, protocol, seed, results, .. } = evaluation;
    let folds = results.first().map_or(0, |result| result.folds.len());
    let mut text = format!(
        "### {dataset}\n\n{rows} rows, {features} features, {} labels; protocol {}, {}, seed {seed}\n\n",
        labels.len(),
        protocol.name(),
        crate::printer::counted(folds, "fold"),
    );
    let titles: Vec<&str> = measures.iter().map(|name| title(name)).collect();
    text += &format!("| learner | {} | rank | fit s | predict s |\n", titles.join(" | "));
    text += &format!("|---|{}\n", "---|".repeat(measures.len() + 3));
    let ranks = average_ranks(evaluation, measures);
    let mut order: Vec<usize> = (0..results.len()).collect();
    order.sort_by(|&a, &b| ranks[a].total_cmp(&ranks[b]));
    for place in order {
        let result = &results[place];
        text += &format!("| {} |", result.learner);
        for name in measures {
            let best = rank_of(evaluation, name, place) < 2.0;
            let mark = if best { "**" } else { "" };
            text += &match (result.mean.get(name), result.std.get(name)) {
                (Some(mean), Some(_)) if folds == 1 => format!(" {mark}{mean:.4}{mark} |"),
                (Some(mean), Some(std)) => format!(" {mark}{mean:.4}{mark} ± {std:.4} |"),
                _ => " - |".to_string(),
            };
        }
        let seconds = |name| result.mean.get(name).map_or("-".to_string(), |s| format!("{s:.3}"));
        text += &format!(
            " {:.1} | {} | {} |\n",
            ranks[place],
            seconds("fit_seconds"),
            seconds("predict_seconds")
        );
    }
    text
}

/// The mean over the measures of each learner's rank; 1 is best, and ties share a rank.
fn average_ranks(evaluation: &CrossValidation, measures: &[&str]) -> Vec<f64> {
    let ranks = |place| measures.iter().map(|name| rank_of(evaluation, name, place)).sum::<f64>();
    (0..evaluation.results.len()).map(|place| ranks(place) / measures.len().max(1) as f64).collect()
}

/// One learner's rank by one measure; a learner without that measure comes last.
fn rank_of(evaluation: &CrossValidation, name: &str, place: usize) -> f64 {
    let of = |place: usize| evaluation.results[place].mean.get(name);
    let others = (0..evaluation.results.len()).filter(|&other| other != place);
    let Some(own) = of(place) else { return evaluation.results.len() as f64 };
    others.fold(1.0, |rank, other| match of(other) {
        Some(value) if direction(name).prefers(value, own) => rank + 1.0,
        Some(value) if value == own => rank + 0.5,
        _ => rank,
    })
}
