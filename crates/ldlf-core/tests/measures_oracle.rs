//! Measures beside the numbers of scipy, scikit-learn, scoringrules and numpy (`oracles/measures.py`).

use ldlf_core::measures::{KAPPA, MeasuredRow, find};
use serde_json::Value;

struct Oracle(Value);

impl Oracle {
    fn read() -> Self {
        Oracle(serde_json::from_str(include_str!("oracles/measures.json")).unwrap())
    }

    fn numbers(&self, name: &str) -> Vec<f64> {
        serde_json::from_value(self.0[name].clone()).unwrap()
    }

    fn matrix(&self, name: &str) -> Vec<Vec<f32>> {
        serde_json::from_value(self.0[name].clone()).unwrap()
    }

    /// Compares every measure of a table with ours, row by row.
    fn compare(&self, table: &str, singles: Option<Vec<f64>>) {
        let (truth, predicted) = (self.matrix("truth"), self.matrix("predicted"));
        let values = self.numbers("label_values");
        for (name, expected) in self.0[table].as_object().unwrap() {
            let measure = find(name).unwrap();
            let expected: Vec<f64> = serde_json::from_value(expected.clone()).unwrap();
            assert_eq!(expected.len(), truth.len());
            for (row, expected) in expected.into_iter().enumerate() {
                let found = measure.of_row(&MeasuredRow {
                    value: singles.as_ref().map(|singles| singles[row]),
                    label_values: Some(&values),
                    ..MeasuredRow::of_distributions(&truth[row], &predicted[row])
                });
                assert!((found - expected).abs() < 2e-6, "{name} of row {row}: {found}, not {expected}");
            }
        }
    }
}

#[test]
fn measures_of_distributions_are_those_of_other_libraries() {
    Oracle::read().compare("rows", None);
}

#[test]
fn measures_of_single_values_are_those_of_other_libraries() {
    let oracle = Oracle::read();
    oracle.compare("rows_of_singles", Some(oracle.numbers("singles")));
}

#[test]
fn kappa_is_that_of_scikit_learn_where_labels_are_evenly_spaced() {
    let oracle = Oracle::read();
    let (truth, predicted) = (oracle.matrix("truth"), oracle.matrix("predicted"));
    let even: Vec<f64> = (0..6).map(f64::from).collect();
    let weights: Vec<f32> = oracle.numbers("weights").iter().map(|&w| w as f32).collect();
    let measured = truth
        .iter()
        .zip(&predicted)
        .map(|(d, p)| MeasuredRow { label_values: Some(&even), ..MeasuredRow::of_distributions(d, p) });
    let expected = oracle.0["even_kappa"].as_f64().unwrap();
    assert!((KAPPA.of_rows(measured, Some(&weights)) - expected).abs() < 1e-12);
}
