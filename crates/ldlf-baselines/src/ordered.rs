//! Ordered labels: the value of every label, and the number of every row.

use ldlf_core::error::Subject;
use ldlf_core::estimates::mean;
use ldlf_core::{Dataset, Error, Result, message};

/// The values of the labels, or an error that `learner` needs them.
pub(crate) fn label_values<'d>(data: &'d Dataset, learner: &str) -> Result<&'d [f64]> {
    match &data.schema().label_values {
        Some(values) if values.len() == data.labels() => Ok(values),
        _ => {
            Err(Error::usage(format!("{learner} needs labels that stand for numbers")).with_remedy(message![
                "give them with ",
                Subject::LabelValues,
                ", or one label per row with ",
                Subject::LabelColumn
            ]))
        }
    }
}

/// The number of every row: its single label, or else the mean of its distribution.
pub(crate) fn numbers(data: &Dataset, values: &[f64]) -> Vec<f64> {
    match data.truth() {
        Some(truth) => truth.to_vec(),
        None => data.targets().iter_rows().map(|target| mean(target, values)).collect(),
    }
}

/// The label nearest to a number; of two equally near the lower.
pub(crate) fn nearest_label(number: f64, values: &[f64]) -> usize {
    let above = values.partition_point(|&value| value < number);
    match (above.checked_sub(1), values.get(above)) {
        (Some(below), Some(&value)) if number - values[below] <= value - number => below,
        (_, Some(_)) => above,
        (Some(below), None) => below,
        (None, None) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_label_is_found_between_and_beyond_all() {
        let ages = [10.0, 12.0, 20.0];
        let found = [5.0, 10.0, 11.0, 11.5, 16.0, 17.0, 99.0].map(|age| nearest_label(age, &ages));
        assert_eq!(found, [0, 0, 0, 1, 1, 2, 2]);
    }
}
