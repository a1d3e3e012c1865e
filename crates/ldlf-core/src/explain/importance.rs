//! Permutation importance, for any learner: how much worse a model gets when one column is shuffled.

use ldlf_math::random::permutation;
use serde::Serialize;

use super::{SourceColumn, source_columns};
use crate::measures::{KL, MAE_MEAN, score};
use crate::{Csr, Dataset, Error, Features, Inputs, Prediction, Result, Seed, Threads, TrainedModel};

/// Rows times columns that are evaluated, at most: keeps wide tables within seconds.
const BUDGET: usize = 1_000_000;

/// One column's importance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Importance {
    /// The column.
    pub column: String,
    /// The numbers of its features.
    #[serde(skip)]
    pub features: Vec<usize>,
    /// By how much the measure gets worse when the column is shuffled.
    pub rise: f64,
}

/// The importances, their measure, and how many rows they were measured on.
#[derive(Clone, Debug, Serialize)]
pub struct Importances {
    /// `kl`, or `mae_mean` for models that predict plain values.
    pub measure: &'static str,
    /// The measure with all columns as they are.
    pub unshuffled: f64,
    /// Rows that were evaluated.
    pub rows: usize,
    /// Every column, the most important first.
    pub columns: Vec<Importance>,
}

/// Shuffles one column after the other (L. Breiman: Random Forests, 2001, section 10) and predicts again. Features that come from one
/// column are shuffled together, so that rows keep categories that exist.
pub fn permutation_importance(
    model: &TrainedModel,
    data: &Dataset,
    threads: &Threads,
) -> Result<Importances> {
    importance_of(model, data, source_columns(&model.schema, model.features), threads)
}

/// The same for columns of the caller's choice, such as every feature by itself.
pub fn importance_of(
    model: &TrainedModel,
    data: &Dataset,
    sources: Vec<SourceColumn>,
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
    let unshuffled = measured(&prediction);
    let table = data.features()?;
    let mut columns = Vec::with_capacity(sources.len());
    for source in sources {
        let order = permutation(count, &mut seed.numbered(source.features[0] as u64).generator());
        let rise = match shuffled(table, &source, &order) {
            Some(shuffled) => measured(&model.predict_with(&shuffled.into(), threads)?) - unshuffled,
            None => 0.0,
        };
        columns.push(Importance { column: source.name, features: source.features, rise });
    }
    // Equal ones stay in the order of the columns.
    columns.sort_by(|a, b| b.rise.total_cmp(&a.rise));
    Ok(Importances { measure, unshuffled, rows: count, columns })
}

/// The features with one column's values in another order; none where it holds zeros alone, which stay what they are.
fn shuffled(features: &Features, source: &SourceColumn, order: &[usize]) -> Option<Features> {
    let mut place_of = vec![None; features.cols()];
    source.features.iter().enumerate().for_each(|(place, &feature)| place_of[feature] = Some(place));
    let mut values = vec![vec![0.0f32; order.len()]; source.features.len()];
    let mut any = false;
    for row in 0..features.rows() {
        features.for_each_in_row(row, |feature, value| {
            if let (Some(place), true) = (place_of[feature], value != 0.0) {
                values[place][order[row]] = value;
                any = true;
            }
        });
    }
    any.then(|| match features {
        Features::Dense(matrix) => {
            let mut matrix = matrix.clone();
            for (&feature, values) in source.features.iter().zip(&values) {
                values.iter().enumerate().for_each(|(row, &value)| matrix.row_mut(row)[feature] = value);
            }
            Features::Dense(matrix)
        }
        Features::Sparse(matrix) => {
            let mut out = Csr::with_columns(matrix.cols());
            for (row, (columns, entries)) in matrix.iter_rows().enumerate() {
                let others = columns.iter().copied().zip(entries.iter().copied());
                let mut all: Vec<(u32, f32)> =
                    others.filter(|(column, _)| place_of[*column as usize].is_none()).collect();
                let own = source.features.iter().zip(&values).map(|(&feature, v)| (feature as u32, v[row]));
                all.extend(own.filter(|(_, value)| *value != 0.0));
                all.sort_unstable_by_key(|(column, _)| *column);
                out.push_row(all);
            }
            Features::Sparse(out)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;

    #[test]
    fn shuffling_moves_the_features_of_one_column_together() {
        let rows = [[1.0, 2.0, 0.0], [0.0, 4.0, 1.0]];
        let dense = Features::Dense(Matrix::from_rows(&rows));
        let sparse = Features::Sparse(Csr::from_dense(&Matrix::from_rows(&rows)));
        let source = SourceColumn { name: "colour".into(), features: vec![0, 2] };
        for features in [dense, sparse] {
            let moved = shuffled(&features, &source, &[1, 0]).unwrap();
            let mut rows = [[0.0; 3]; 2];
            rows.iter_mut().enumerate().for_each(|(row, out)| moved.copy_row_into(row, out));
            assert_eq!(rows, [[0.0, 2.0, 1.0], [1.0, 4.0, 0.0]]);
        }
    }
}
