//! EMD, squared cost.

use super::{Direction, Formula, Measure, MeasuredRow, cumulative};

/// The Wasserstein-2 distance: the root of the mean squared way when probability moves the cheapest way, in the units of the label
/// values; lower is better, from 0 at equality.
pub const EMD_2: Measure = Measure {
    name: "emd_2",
    title: "EMD, squared cost",
    direction: Direction::LowerIsBetter,
    in_tables: false,
    formula: Formula::OrderedLabels(of_row),
};

fn of_row(row: &MeasuredRow<'_>, values: &[f64]) -> f64 {
    let Some(p) = row.distribution() else { return f64::NAN };
    // On a line the cheapest way keeps the order: both are walked through from their lowest values on.
    let (d, p): (Vec<f64>, Vec<f64>) = (cumulative(row.truth).collect(), cumulative(p).collect());
    let (mut from, mut to, mut moved, mut cost) = (0, 0, 0.0f64, 0.0);
    while from < d.len() && to < p.len() {
        let until = d[from].min(p[to]);
        cost += (until - moved).max(0.0) * (values[from] - values[to]).powi(2);
        moved = moved.max(until);
        if d[from] <= until {
            from += 1;
        } else {
            to += 1;
        }
    }
    f64::sqrt(cost)
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn shares_keep_their_order() {
        // A quarter moves from 10 to 20, another from 20 to 40: (100 + 400) / 4.
        assert!(close(of_row(&ROW, &VALUES), 125f64.sqrt()));
    }
}
