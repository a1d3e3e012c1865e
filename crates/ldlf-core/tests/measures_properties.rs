//! What every measure promises, on random distributions.

use ldlf_core::Matrix;
use ldlf_core::measures::{Direction, Measure, MeasuredRow, all, mean_over_rows, usual};
use ldlf_math::numeric::normalise;
use proptest::prelude::*;

/// Two distributions over 1 to 8 labels, with zeros among them.
fn two_distributions() -> impl Strategy<Value = (Vec<f32>, Vec<f32>)> {
    let share = prop_oneof![1 => Just(0.0f32), 3 => 0.001f32..1.0];
    (1usize..8).prop_flat_map(move |labels| {
        let one = prop::collection::vec(share.clone(), labels).prop_map(|mut votes| {
            normalise(&mut votes);
            votes
        });
        (one.clone(), one)
    })
}

/// The largest value a measure can have over so many labels.
fn largest(measure: &Measure, labels: usize) -> f64 {
    match measure.name {
        "kl" | "log_score" => 12.0 * 10f64.ln(),
        "euclidean" => 2f64.sqrt(),
        "squared_chi2" => 2.0,
        "clark" => (labels as f64).sqrt(),
        "canberra" => labels as f64,
        "jensen_shannon" => 2f64.ln(),
        "mae_mode" | "mae_mean" | "mae_median" | "crps" | "emd_1" | "emd_2" | "pinball" | "width_90" => {
            labels as f64 - 1.0
        }
        "interval_score_90" => 20.0 * (labels as f64 - 1.0),
        _ => 1.0,
    }
}

/// The smallest value a measure can have.
fn smallest(measure: &Measure) -> f64 {
    if ["spearman", "kendall"].contains(&measure.name) { -1.0 } else { 0.0 }
}

/// The measures of single rows that compare two distributions on equal terms. The others ask how well one foretells draws from the other.
fn comparisons() -> impl Iterator<Item = &'static Measure> {
    let foretell = ["log_score", "pinball", "interval_score_90", "coverage_90", "width_90"];
    of_single_rows().filter(move |measure| !foretell.contains(&measure.name))
}

/// All but the agreement of all rows at once.
fn of_single_rows() -> impl Iterator<Item = &'static Measure> {
    all().iter().filter(|measure| measure.name != "kappa")
}

/// The measure of two distributions whose labels stand for 0, 1, 2, ...
fn of_row(measure: &Measure, truth: &[f32], predicted: &[f32]) -> f64 {
    let values: Vec<f64> = (0..truth.len()).map(|label| label as f64).collect();
    measure.of_row(&MeasuredRow {
        label_values: Some(&values),
        ..MeasuredRow::of_distributions(truth, predicted)
    })
}

/// The measures that need no ordered labels.
fn of_distributions() -> impl Iterator<Item = &'static Measure> {
    all().iter().filter(|measure| !measure.is_ordered())
}

/// Single precision leaves a distribution's sum this far from 1.
const ROUNDING: f64 = 1e-5;

proptest! {
    #[test]
    fn equality_is_the_best_value((d, _) in two_distributions()) {
        for measure in comparisons() {
            let best = if measure.direction == Direction::LowerIsBetter { 0.0 } else { 1.0 };
            let found = of_row(measure, &d, &d);
            prop_assert!((found - best).abs() < ROUNDING, "{} is {found} at equality", measure.name);
        }
    }

    #[test]
    fn every_measure_stays_in_its_range((d, p) in two_distributions()) {
        for measure in of_single_rows() {
            let found = of_row(measure, &d, &p);
            let range = smallest(measure) - ROUNDING..=largest(measure, d.len()) + ROUNDING;
            prop_assert!(range.contains(&found), "{} is {found}", measure.name);
        }
    }

    #[test]
    fn all_but_the_divergence_are_symmetric((d, p) in two_distributions()) {
        for measure in comparisons().filter(|measure| measure.name != "kl") {
            prop_assert_eq!(of_row(measure, &d, &p), of_row(measure, &p, &d), "{}", measure.name);
        }
    }

    #[test]
    fn the_order_of_the_labels_does_not_matter((d, p) in two_distributions(), turn in 0usize..8) {
        let moved = |row: &[f32]| {
            let mut row = row.to_vec();
            row.reverse();
            let turn = turn % row.len();
            row.rotate_left(turn);
            row
        };
        // Of equally probable labels the first counts among the top ones.
        for measure in of_distributions().filter(|measure| !measure.name.starts_with("top_")) {
            let (before, after) = (of_row(measure, &d, &p), of_row(measure, &moved(&d), &moved(&p)));
            prop_assert!((before - after).abs() < 1e-9, "{}: {before} and {after}", measure.name);
        }
    }

    #[test]
    fn no_prediction_foretells_votes_better_than_the_truth((d, p) in two_distributions()) {
        for measure in all().iter().filter(|measure| ["log_score", "pinball"].contains(&measure.name)) {
            let (own, other) = (of_row(measure, &d, &d), of_row(measure, &d, &p));
            prop_assert!(own <= other + ROUNDING, "{}: {own} and {other}", measure.name);
        }
    }

    #[test]
    fn a_weight_counts_as_copies((d, p) in two_distributions(), copies in 1usize..4) {
        let labels = d.len();
        let matrix = |rows: &[&[f32]]| Matrix::new(rows.len(), labels, rows.concat()).unwrap();
        let (truth, predicted) = (matrix(&[&d, &p]), matrix(&[&p, &p]));
        let (mut many_truth, mut many_predicted) = (vec![&d[..]; copies], vec![&p[..]; copies]);
        many_truth.push(&p);
        many_predicted.push(&p);
        for measure in of_distributions() {
            let weighted = mean_over_rows(measure, &truth, &predicted, Some(&[copies as f32, 1.0]));
            let copied = mean_over_rows(measure, &matrix(&many_truth), &matrix(&many_predicted), None);
            prop_assert!((weighted - copied).abs() < 1e-9, "{}: {weighted} and {copied}", measure.name);
        }
    }
}

#[test]
fn the_names_are_those_of_the_json_in_order() {
    let names: Vec<&str> = usual().iter().map(|measure| measure.name).collect();
    assert_eq!(
        names,
        [
            "kl",
            "euclidean",
            "sorensen",
            "squared_chi2",
            "fidelity",
            "intersection",
            "chebyshev",
            "clark",
            "canberra",
            "cosine",
            "mae_mode",
            "mae_mean",
            "mae_median",
            "cs_5",
            "cs_1"
        ]
    );
}
