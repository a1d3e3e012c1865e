//! Quadratic weighted kappa.

use super::{Direction, Formula, Measure, MeasuredRow, RowPrediction};
use crate::estimates::mode;

/// Cohen's kappa with quadratic weights, `1 - sum_i (t_i - p_i)^2 / sum_i,j (t_i - p_j)^2 n`, of the true value and the mode: agreement
/// beyond chance, from 1 down; higher is better. Weights are squared differences of the numbers that labels stand for; the true
/// value is the label nearest to the single one, or the mode of the true distribution.
pub const KAPPA: Measure = Measure {
    name: "kappa",
    title: "Quadratic weighted kappa",
    direction: Direction::HigherIsBetter,
    in_tables: false,
    formula: Formula::AllRows(of_rows),
};

fn of_rows(rows: &mut dyn Iterator<Item = (MeasuredRow<'_>, f64)>) -> f64 {
    let (mut total, mut apart, mut truths, mut answers, mut squares) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (row, weight) in rows {
        let Some(values) = row.label_values else { return f64::NAN };
        let truth = row.value.map_or_else(|| values[mode(row.truth)], |value| nearest(value, values));
        let answer = match row.predicted {
            RowPrediction::Distribution(p) => values[mode(p)],
            RowPrediction::Value(value) => nearest(value, values),
        };
        // From the first label on, so that squares of large values do not swallow differences.
        let (truth, answer) = (truth - values[0], answer - values[0]);
        total += weight;
        apart += weight * (truth - answer).powi(2);
        truths += weight * truth;
        answers += weight * answer;
        squares += weight * (truth.powi(2) + answer.powi(2));
    }
    if apart == 0.0 && total > 0.0 {
        return 1.0;
    }
    1.0 - apart / (squares - 2.0 * truths * answers / total)
}

/// The label value nearest to a number; of two the lower.
fn nearest(value: f64, values: &[f64]) -> f64 {
    values
        .iter()
        .copied()
        .fold(values[0], |best, v| if (v - value).abs() < (best - value).abs() { v } else { best })
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    fn row<'a>(truth: &'a [f32], predicted: &'a [f32]) -> MeasuredRow<'a> {
        MeasuredRow { label_values: Some(&VALUES[..2]), ..MeasuredRow::of_distributions(truth, predicted) }
    }

    #[test]
    fn agreement_beyond_chance() {
        // Truth 1 1 2 2, answers 1 1 1 2: one apart of four; by chance (2 x 1 + 2 x 3) / 4 = 2 of four.
        let rows = [(&FIRST, &FIRST), (&FIRST, &FIRST), (&SECOND, &FIRST), (&SECOND, &SECOND)];
        let measured = rows.iter().map(|(d, p)| row(&d[..], &p[..]));
        assert!(close(KAPPA.of_rows(measured, None), 0.5));
    }

    #[test]
    fn a_weight_counts_as_copies() {
        let rows = [(&FIRST, &FIRST), (&SECOND, &FIRST), (&SECOND, &SECOND)];
        let measured = rows.iter().map(|(d, p)| row(&d[..], &p[..]));
        assert!(close(KAPPA.of_rows(measured, Some(&[2.0, 1.0, 1.0])), 0.5));
    }

    #[test]
    fn plain_values_count_as_the_nearest_label() {
        let near =
            MeasuredRow { predicted: RowPrediction::Value(14.0), value: Some(12.0), ..row(&FIRST, &FIRST) };
        assert_eq!(KAPPA.of_rows([near].into_iter(), None), 1.0);
        assert!(KAPPA.of_rows([].into_iter(), None).is_nan());
    }
}
