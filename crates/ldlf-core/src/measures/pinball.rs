//! Pinball loss.

use super::{Direction, Formula, Measure, MeasuredRow};
use crate::estimates::quantile;

/// The mean pinball loss `(y - q)(t - [y < q])` of the quantiles `q` at `t = 0.1, 0.2, ..., 0.9`, in the units of the label values;
/// lower is better. Where the data has no single true value, `y` is drawn from the true distribution.
pub const PINBALL: Measure = Measure {
    name: "pinball",
    title: "Pinball loss",
    direction: Direction::LowerIsBetter,
    in_tables: false,
    formula: Formula::OrderedLabels(of_row),
};

fn of_row(row: &MeasuredRow<'_>, values: &[f64]) -> f64 {
    let Some(p) = row.distribution() else { return f64::NAN };
    let of_level = |tenths: u32| {
        let level = f64::from(tenths) / 10.0;
        let q = quantile(p, values, level);
        row.expected(values, |y| (y - q) * (level - f64::from(u8::from(y < q))))
    };
    (1..=9).map(of_level).sum::<f64>() / 9.0
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn misses_cost_by_their_side() {
        // Quantiles 10, 10, 20, 20, 20, 40, 40, 40, 40 against 20: 0.1 10 + 0.2 10 + 0 + 20 (0.4 + 0.3 + 0.2 + 0.1) = 23.
        assert!(close(of_row(&MeasuredRow { value: Some(20.0), ..ROW }, &VALUES), 23.0 / 9.0));
    }

    #[test]
    fn without_a_single_value_votes_are_averaged() {
        let of = |value| of_row(&MeasuredRow { value: Some(value), ..ROW }, &VALUES);
        assert!(close(of_row(&ROW, &VALUES), 0.5 * of(10.0) + 0.25 * of(20.0) + 0.25 * of(40.0)));
    }
}
