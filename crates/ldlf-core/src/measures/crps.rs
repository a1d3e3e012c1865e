//! CRPS.

use super::{Direction, Formula, Measure, MeasuredRow, cumulative, steps};

/// The continuous ranked probability score `integral (P(x) - D(x))^2 dx` of the cumulative distributions, in the units of the label
/// values; lower is better, from 0 at equality. `D` steps from 0 to 1 at the single true value where the data has one.
pub const CRPS: Measure = Measure {
    name: "crps",
    title: "CRPS",
    direction: Direction::LowerIsBetter,
    in_tables: false,
    formula: Formula::OrderedLabels(of_row),
};

fn of_row(row: &MeasuredRow<'_>, values: &[f64]) -> f64 {
    let Some(p) = row.distribution() else { return f64::NAN };
    match row.value {
        // E|X - y| - E|X - X'| / 2.
        Some(_) => {
            let predicted = MeasuredRow { truth: p, value: None, ..*row };
            let within: f64 =
                cumulative(p).zip(steps(values)).map(|(below, step)| below * (1.0 - below) * step).sum();
            row.expected(values, |y| predicted.expected(values, |x| (x - y).abs())) - within
        }
        None => {
            let below = cumulative(p).zip(cumulative(row.truth)).zip(steps(values));
            below.map(|((p, d), step)| (p - d).powi(2) * step).sum()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn squared_gaps_of_cumulative_distributions_by_their_width() {
        // Below 20: (0.25 - 0.5)^2 10; below 40: (0.5 - 0.75)^2 20; below 80: 0.
        assert!(close(of_row(&ROW, &VALUES), 1.875));
    }

    #[test]
    fn a_single_value_is_a_step() {
        // P is 0.25 from 10, 0.5 from 20, 1 from 40; the step is at 30: 0.0625 10 + 0.25 10 + 0.25 10.
        assert!(close(of_row(&MeasuredRow { value: Some(30.0), ..ROW }, &VALUES), 5.625));
        // Beyond all labels the whole way counts.
        assert!(close(of_row(&MeasuredRow { value: Some(90.0), ..ROW }, &VALUES), 0.625 + 5.0 + 50.0));
    }
}
