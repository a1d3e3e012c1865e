//! Permutation importance, for any learner: how much worse a model gets when one column is shuffled.

use ldlf_core::measures::{KL, MAE_MEAN, score};
use ldlf_core::{Csr, Dataset, Error, Features, Inputs, Prediction, Result, Seed, Threads, TrainedModel};
use ldlf_math::random::permutation;

/// Rows times features that are evaluated, at most: keeps wide tables within seconds.
const BUDGET: usize = 1_000_000;

/// One feature's importance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Importance {
    /// The feature's number.
    pub feature: usize,
    /// By how much the measure gets worse when the column is shuffled.
    pub rise: f64,
}

/// The importances, their measure, and how many rows they were measured on.
pub struct Importances {
    /// `kl`, or `mae_mean` for models that predict plain values.
    pub measure: &'static str,
    /// Rows that were evaluated.
    pub rows: usize,
    /// Every feature, the most important first.
    pub features: Vec<Importance>,
}

/// Shuffles one column after the other (L. Breiman: Random Forests, 2001, section 10) and predicts again.
pub fn permutation_importance(
    model: &TrainedModel,
    data: &Dataset,
    threads: &Threads,
) -> Result<Importances> {
    let Inputs::Table(features) = data.inputs() else {
        return Err(Error::usage("the rows are images, which have no features to shuffle")
            .with_remedy("the importance of features is for tables"));
    };
    let seed = Seed::new(0).named("importance");
    let count = data.rows().min((BUDGET / features.cols().max(1)).clamp(100, 1000));
    let mut rows = permutation(data.rows(), &mut seed.named("rows").generator());
    rows.truncate(count);
    let data = data.select(&rows);
    let prediction = model.predict_with(data.inputs(), threads)?;
    let measure = if matches!(prediction, Prediction::Values(_)) { MAE_MEAN.name } else { KL.name };
    let measured = |prediction: &Prediction| score(prediction, &data).get(measure).unwrap_or(0.0);
    let base = measured(&prediction);
    let table = data.features()?;
    let columns = columns(table);
    let mut features = Vec::with_capacity(columns.len());
    for (feature, column) in columns.iter().enumerate() {
        // A column of zeros stays what it is however it is shuffled.
        let rise = if column.is_empty() {
            0.0
        } else {
            let order = permutation(count, &mut seed.numbered(feature as u64).generator());
            let shuffled = shuffled(table, feature, column, &order).into();
            measured(&model.predict_with(&shuffled, threads)?) - base
        };
        features.push(Importance { feature, rise });
    }
    features.sort_by(|a, b| b.rise.total_cmp(&a.rise).then(a.feature.cmp(&b.feature)));
    Ok(Importances { measure, rows: count, features })
}

/// The entries of every column that differ from zero, with their rows.
fn columns(features: &Features) -> Vec<Vec<(usize, f32)>> {
    let mut columns = vec![Vec::new(); features.cols()];
    for row in 0..features.rows() {
        features.for_each_in_row(row, |column, value| {
            if value != 0.0 {
                columns[column].push((row, value));
            }
        });
    }
    columns
}

/// The features with one column's values in another order.
fn shuffled(features: &Features, feature: usize, column: &[(usize, f32)], order: &[usize]) -> Features {
    let mut values = vec![0.0f32; order.len()];
    column.iter().for_each(|&(row, value)| values[order[row]] = value);
    match features {
        Features::Dense(matrix) => {
            let mut matrix = matrix.clone();
            values.iter().enumerate().for_each(|(row, &value)| matrix.row_mut(row)[feature] = value);
            Features::Dense(matrix)
        }
        Features::Sparse(matrix) => {
            let mut out = Csr::with_columns(matrix.cols());
            for (row, (columns, entries)) in matrix.iter_rows().enumerate() {
                let before = columns.partition_point(|&column| (column as usize) < feature);
                let after = before + usize::from(columns.get(before) == Some(&(feature as u32)));
                let own = (values[row] != 0.0).then_some((feature as u32, values[row]));
                let part = |range: std::ops::Range<usize>| {
                    columns[range.clone()].iter().copied().zip(entries[range].iter().copied())
                };
                out.push_row(part(0..before).chain(own).chain(part(after..columns.len())));
            }
            Features::Sparse(out)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldlf_core::Matrix;

    #[test]
    fn shuffling_moves_one_column_alone() {
        let dense = Features::Dense(Matrix::from_rows(&[[1.0, 2.0], [0.0, 4.0]]));
        let sparse =
            Features::Sparse(Csr::new(2, vec![0, 2, 3], vec![0, 1, 1], vec![1.0, 2.0, 4.0]).unwrap());
        for features in [dense, sparse] {
            let moved = shuffled(&features, 0, &columns(&features)[0], &[1, 0]);
            let mut rows = [[0.0; 2]; 2];
            rows.iter_mut().enumerate().for_each(|(row, out)| moved.copy_row_into(row, out));
            assert_eq!(rows, [[0.0, 2.0], [1.0, 4.0]]);
        }
    }
}
