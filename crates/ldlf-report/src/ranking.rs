//! Ranks of learners within an evaluation and over several.

use ldlf_core::measures::{Direction, direction, find, shown_in_table, title};

use crate::load::Evaluation;
use crate::statistics::{Friedman, average_ranks, friedman, holm, ranks, wilcoxon};

/// The measures that the table of an evaluation shows: those in tables that at least one run has.
pub fn shown_measures(evaluation: &Evaluation) -> Vec<String> {
    let values_of =
        |name: &str| -> Vec<f64> { evaluation.runs.iter().filter_map(|run| run.mean.get(name)).collect() };
    let shown = |name: &String| find(name).is_some_and(|measure| shown_in_table(measure, values_of));
    evaluation.measures().into_iter().filter(shown).collect()
}

/// The mean over measures of each run's rank within an evaluation.
pub fn ranks_within(evaluation: &Evaluation, measures: &[String]) -> Vec<f64> {
    let by_measure: Vec<Vec<f64>> = measures
        .iter()
        .map(|name| {
            let values: Vec<Option<f64>> = evaluation.runs.iter().map(|run| run.mean.get(name)).collect();
            ranks(&values, direction(name))
        })
        .collect();
    average_ranks(&by_measure)
}

/// The runs of an evaluation, the best by average rank first.
pub fn best_first(evaluation: &Evaluation) -> Vec<usize> {
    let ranks = ranks_within(evaluation, &shown_measures(evaluation));
    let mut order: Vec<usize> = (0..evaluation.runs.len()).collect();
    order.sort_by(|&a, &b| ranks.get(a).unwrap_or(&0.0).total_cmp(ranks.get(b).unwrap_or(&0.0)));
    order
}

/// Learners over several datasets by one measure.
pub struct Comparison {
    /// The measure's name.
    pub measure: String,
    /// The datasets, in the order given.
    pub datasets: Vec<String>,
    /// The learners that all of them have, the best first.
    pub learners: Vec<String>,
    /// The mean values, `[datasets][learners]`.
    pub values: Vec<Vec<f64>>,
    /// The average rank of each learner.
    pub ranks: Vec<f64>,
    /// The Friedman test.
    pub friedman: Option<Friedman>,
    /// Pairs of learners (better, worse by rank) with the Wilcoxon probability and the same after Holm's correction.
    pub pairs: Vec<Pair>,
}

/// Two learners compared over the datasets.
pub struct Pair {
    /// The place of the better-ranked learner.
    pub better: usize,
    /// The place of the other.
    pub worse: usize,
    /// The two-sided probability of the Wilcoxon test.
    pub p: f64,
    /// The same, corrected for all pairs.
    pub corrected: f64,
}

/// Compares the learners that all evaluations have, one evaluation per dataset. `None` for fewer than two datasets or learners.
pub fn compare(evaluations: &[&Evaluation], measure: &str) -> Option<Comparison> {
    let value = |evaluation: &Evaluation, learner: &str| {
        evaluation.runs.iter().find(|run| run.name == learner).and_then(|run| run.mean.get(measure))
    };
    let everywhere = |learner: &String| evaluations.iter().all(|e| value(e, learner).is_some());
    let mut learners: Vec<String> = evaluations.first()?.runs.iter().map(|run| run.name.clone()).collect();
    learners.retain(everywhere);
    if evaluations.len() < 2 || learners.len() < 2 {
        return None;
    }
    let table = |learners: &[String]| -> Vec<Vec<f64>> {
        let row = |e: &&Evaluation| learners.iter().filter_map(|learner| value(e, learner)).collect();
        evaluations.iter().map(row).collect()
    };
    let ranked = |values: &[Vec<f64>]| -> Vec<Vec<f64>> {
        let row =
            |row: &Vec<f64>| ranks(&row.iter().copied().map(Some).collect::<Vec<_>>(), direction(measure));
        values.iter().map(row).collect()
    };
    let first = average_ranks(&ranked(&table(&learners)));
    let mut order: Vec<usize> = (0..learners.len()).collect();
    order.sort_by(|&a, &b| first[a].total_cmp(&first[b]));
    let learners: Vec<String> = order.iter().map(|&place| learners[place].clone()).collect();
    let values = table(&learners);
    let by_dataset = ranked(&values);
    let column = |place: usize| values.iter().map(|row| row[place]).collect::<Vec<f64>>();
    let places: Vec<(usize, usize)> =
        (0..learners.len()).flat_map(|a| (a + 1..learners.len()).map(move |b| (a, b))).collect();
    let raw: Vec<f64> = places.iter().map(|&(a, b)| wilcoxon(&column(a), &column(b)).p).collect();
    let pairs = places.iter().zip(raw.iter().zip(holm(&raw)));
    let pairs =
        pairs.map(|(&(better, worse), (&p, corrected))| Pair { better, worse, p, corrected }).collect();
    Some(Comparison {
        measure: measure.to_string(),
        datasets: evaluations.iter().map(|e| e.dataset.clone()).collect(),
        learners,
        ranks: average_ranks(&by_dataset),
        friedman: friedman(&by_dataset),
        values,
        pairs,
    })
}

/// A measure's title with its direction, such as `K-L ↓`.
pub fn column_title(measure: &str) -> String {
    let arrow = match direction(measure) {
        Direction::LowerIsBetter => '↓',
        Direction::HigherIsBetter => '↑',
    };
    format!("{} {arrow}", title(measure))
}
