//! EMD.

use super::{Direction, Formula, Measure, MeasuredRow, cumulative, steps};

/// The earth mover's distance (Wasserstein-1) `integral |P(x) - D(x)| dx` between the distributions: how far probability must
/// move on average, in the units of the label values; lower is better, from 0 at equality.
pub const EMD_1: Measure = Measure {
    name: "emd_1",
    title: "EMD",
    direction: Direction::LowerIsBetter,
    in_tables: false,
    formula: Formula::OrderedLabels(of_row),
};

fn of_row(row: &MeasuredRow<'_>, values: &[f64]) -> f64 {
    let Some(p) = row.distribution() else { return f64::NAN };
    let below = cumulative(p).zip(cumulative(row.truth)).zip(steps(values));
    below.map(|((p, d), step)| (p - d).abs() * step).sum()
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn a_quarter_moves_by_thirty() {
        assert!(close(of_row(&ROW, &VALUES), 7.5));
    }
}
