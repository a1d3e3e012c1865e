//! The tests of `statistics` against SciPy; `statistics.py` beside this file makes the numbers.

use ldlf_core::measures::Direction;
use ldlf_report::statistics::{critical_difference, friedman, ranks, wilcoxon};
use serde_json::Value;

fn oracle() -> Value {
    serde_json::from_str(include_str!("statistics.json")).expect("the fixture is JSON")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
}

fn close(ours: f64, theirs: &Value, what: &str) {
    let theirs = theirs.as_f64().expect("a number");
    let distance = (ours - theirs).abs() / theirs.abs().max(1e-3);
    assert!(distance < 1e-6, "{what}: {ours} here, {theirs} by SciPy");
}

#[test]
fn ranks_and_the_friedman_test_agree_with_scipy() {
    for case in oracle()["friedman"].as_array().expect("cases") {
        let rows = case["values"].as_array().expect("rows").iter().map(numbers);
        let ours: Vec<Vec<f64>> = rows
            .map(|row| ranks(&row.into_iter().map(Some).collect::<Vec<_>>(), Direction::LowerIsBetter))
            .collect();
        let theirs: Vec<Vec<f64>> = case["ranks"].as_array().expect("rows").iter().map(numbers).collect();
        assert_eq!(ours, theirs);
        let test = friedman(&ours).expect("several blocks and competitors");
        close(test.chi2, &case["chi2"], "chi2");
        close(test.chi2_p, &case["chi2_p"], "p of chi2");
        close(test.f, &case["f"], "F");
        close(test.f_p, &case["f_p"], "p of F");
    }
}

#[test]
fn wilcoxon_agrees_with_scipy() {
    for case in oracle()["wilcoxon"].as_array().expect("cases") {
        let test = wilcoxon(&numbers(&case["a"]), &numbers(&case["b"]));
        close(test.positive, &case["positive"], "sum of positive ranks");
        close(test.p, &case["p"], "p");
    }
}

#[test]
fn the_critical_difference_rests_on_the_studentised_range() {
    for case in oracle()["nemenyi"].as_array().expect("cases") {
        let k = case["k"].as_u64().expect("a count") as usize;
        let alpha = case["alpha"].as_f64().expect("a level");
        // With n = k (k + 1) / 6 blocks the root is 1 and the difference is the quantile; scaled where n is not whole.
        let (blocks, scale) = (6, (k as f64 * (k as f64 + 1.0) / 36.0).sqrt());
        close(critical_difference(k, blocks, alpha) / scale, &case["q"], &format!("q of {k} at {alpha}"));
    }
}

#[test]
fn competitors_who_are_always_equal_do_not_differ() {
    let equal = vec![vec![1.5, 1.5]; 4];
    assert_eq!(friedman(&equal).expect("two of both").chi2_p, 1.0);
    assert_eq!(wilcoxon(&[1.0, 2.0], &[1.0, 2.0]).p, 1.0);
    assert!(friedman(&[vec![1.0, 2.0]]).is_none(), "one block says nothing");
}
