//! Contributions for any model: columns of background rows are replaced by those of the row, one after the other.

use ldlf_math::random::permutation;

use super::{Method, SourceColumn};
use crate::{Features, Matrix, Prediction, Result, Seed, Threads, TrainedModel};

/// Background rows at most: each costs two predictions per column and row.
pub(super) const BACKGROUND: usize = 50;

/// Up to so many columns all subsets are looked at, which gives Shapley values.
const ENUMERATED: usize = 6;

/// Mixed rows that are predicted together.
const TOGETHER: usize = 512;

/// What was found for some rows.
pub(super) struct Found {
    pub method: Method,
    pub base: Vec<f64>,
    /// `[columns, labels]` each.
    pub rows: Vec<Matrix<f64>>,
}

/// A row and a background row, between which mixed rows lie.
struct Pair<'a> {
    row: &'a [f32],
    other: &'a [f32],
    columns: &'a [SourceColumn],
}

impl Pair<'_> {
    /// The background row with some of its columns replaced.
    fn mixed(&self, replaced: impl Fn(usize) -> bool) -> Vec<f32> {
        let mut mixed = self.other.to_vec();
        for (column, source) in self.columns.iter().enumerate().filter(|(column, _)| replaced(*column)) {
            let _ = column;
            source.features.iter().for_each(|&feature| mixed[feature] = self.row[feature]);
        }
        mixed
    }

    /// The columns in which the two rows differ; the others change nothing.
    fn differing(&self) -> Vec<usize> {
        let differs = |source: &SourceColumn| source.features.iter().any(|&f| self.row[f] != self.other[f]);
        (0..self.columns.len()).filter(|&column| differs(&self.columns[column])).collect()
    }
}

/// The contributions of columns to some rows.
pub(super) fn contributions(
    model: &TrainedModel,
    background: &Features,
    rows: &Features,
    columns: &[SourceColumn],
    seed: Seed,
    threads: &Threads,
) -> Result<Found> {
    let predict = |mixed: Vec<Vec<f32>>| predicted(model, &mixed, threads);
    let others = dense(background);
    let base_rows = predict(others.clone())?;
    let labels = base_rows.first().map_or(0, Vec::len);
    let share = 1.0 / others.len().max(1) as f64;
    let mut base = vec![0.0; labels];
    base_rows.iter().for_each(|row| add(&mut base, row, share));
    let exact = columns.len() <= ENUMERATED;
    let mut found = Vec::with_capacity(rows.rows());
    for (number, row) in dense(rows).iter().enumerate() {
        let mut out = Matrix::zeros(columns.len(), labels);
        for (place, other) in others.iter().enumerate() {
            let pair = Pair { row, other, columns };
            if exact {
                by_subsets(&pair, share, &predict, &mut out)?;
            } else {
                let own = seed.numbered(number as u64).numbered(place as u64);
                by_orders(&pair, own, share, &predict, &mut out)?;
            }
        }
        found.push(out);
    }
    let method = if exact { Method::Shapley } else { Method::Permutation };
    Ok(Found { method, base, rows: found })
}

/// Replaces columns in a random order and in its reverse; what each changes, halved, is its contribution.
fn by_orders(
    pair: &Pair<'_>,
    seed: Seed,
    share: f64,
    predict: &impl Fn(Vec<Vec<f32>>) -> Result<Vec<Vec<f64>>>,
    out: &mut Matrix<f64>,
) -> Result<()> {
    let differing = pair.differing();
    let drawn = permutation(differing.len(), &mut seed.generator());
    let order: Vec<usize> = drawn.into_iter().map(|place| differing[place]).collect();
    let reversed: Vec<usize> = order.iter().rev().copied().collect();
    for order in [order, reversed] {
        let mut rank = vec![usize::MAX; pair.columns.len()];
        order.iter().enumerate().for_each(|(at, &column)| rank[column] = at);
        let mixed = (0..=order.len()).map(|count| pair.mixed(|column| rank[column] < count)).collect();
        let steps = predict(mixed)?;
        for (at, &column) in order.iter().enumerate() {
            add(out.row_mut(column), &steps[at + 1], 0.5 * share);
            add(out.row_mut(column), &steps[at], -0.5 * share);
        }
    }
    Ok(())
}

/// Shapley values by their definition: over all subsets `S` without a column, `|S|! (m - |S| - 1)! / m!` times what it changes.
fn by_subsets(
    pair: &Pair<'_>,
    share: f64,
    predict: &impl Fn(Vec<Vec<f32>>) -> Result<Vec<Vec<f64>>>,
    out: &mut Matrix<f64>,
) -> Result<()> {
    let differing = pair.differing();
    let count = differing.len();
    let subsets = 1usize << count;
    let place = |column: usize| differing.iter().position(|&other| other == column);
    let mixed = (0..subsets)
        .map(|subset| pair.mixed(|column| place(column).is_some_and(|at| subset >> at & 1 == 1)))
        .collect();
    let values = predict(mixed)?;
    let factorial = |n: usize| (1..=n).map(|k| k as f64).product::<f64>();
    for (at, &column) in differing.iter().enumerate() {
        for subset in (0..subsets).filter(|subset| subset >> at & 1 == 0) {
            let size = subset.count_ones() as usize;
            let weight = share * factorial(size) * factorial(count - size - 1) / factorial(count);
            add(out.row_mut(column), &values[subset | 1 << at], weight);
            add(out.row_mut(column), &values[subset], -weight);
        }
    }
    Ok(())
}

fn add(sum: &mut [f64], values: &[f64], factor: f64) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}

fn dense(features: &Features) -> Vec<Vec<f32>> {
    let row = |row: usize| {
        let mut out = vec![0.0; features.cols()];
        features.copy_row_into(row, &mut out);
        out
    };
    (0..features.rows()).map(row).collect()
}

/// What the model predicts, label by label.
fn predicted(model: &TrainedModel, rows: &[Vec<f32>], threads: &Threads) -> Result<Vec<Vec<f64>>> {
    let mut out = Vec::with_capacity(rows.len());
    for block in rows.chunks(TOGETHER) {
        let features = Features::Dense(Matrix::new(block.len(), model.features, block.concat())?);
        match model.predict_with(&features.into(), threads)? {
            Prediction::Distributions(all) => {
                out.extend(all.iter_rows().map(|row| row.iter().map(|&p| f64::from(p)).collect::<Vec<_>>()));
            }
            Prediction::Values(all) => out.extend(all.into_iter().map(|value| vec![value])),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::Summary;
    use crate::stored::Parts;
    use crate::{Inputs, Model, Schema, Settings};

    /// `p = (s, 1 - s)` with `s = x0 x1 / 4 + x2 / 2`: of the product, both factors get half.
    struct Product;

    impl Model for Product {
        fn predict(&self, inputs: &Inputs, _: &Threads) -> Result<Prediction> {
            let features = inputs.table()?;
            let mut out = Vec::new();
            for row in dense(features) {
                let s = row[0] * row[1] / 4.0 + row[2] / 2.0;
                out.extend([s, 1.0 - s]);
            }
            Ok(Prediction::Distributions(Matrix::new(features.rows(), 2, out)?))
        }

        fn store(&self, _: &mut Parts) {}
    }

    fn model(features: usize) -> TrainedModel {
        TrainedModel {
            learner: "product".into(),
            parameters: Settings::new(),
            features,
            schema: Schema { label_names: vec!["a".into(), "b".into()], ..Schema::default() },
            summary: Summary::at_once(),
            provenance: None,
            model: Box::new(Product),
            out_of_fold: None,
            conformal: None,
            spread: None,
            familiarity: None,
        }
    }

    fn of_first_label(columns: usize) -> (Method, Vec<f64>, f64) {
        let mut background = vec![0.0; columns];
        background[2] = 0.5;
        let mut row = vec![1.0; columns];
        row[1] = 2.0;
        let wide = |row: &[f32]| Features::Dense(Matrix::new(1, columns, row.to_vec()).unwrap());
        let threads = Threads::new(1).unwrap();
        let found =
            super::super::explain(&model(columns), &wide(&background), &wide(&row), &threads).unwrap();
        let parts = (0..columns).map(|column| found.rows[0].contributions.row(column)[0]).collect();
        (found.method, parts, found.base[0])
    }

    #[test]
    fn few_columns_get_their_shapley_values() {
        let (method, parts, base) = of_first_label(3);
        assert_eq!((method, base), (Method::Shapley, 0.25));
        for (found, expected) in parts.iter().zip([0.25, 0.25, 0.25]) {
            assert!((found - expected).abs() < 1e-7, "{parts:?}");
        }
    }

    #[test]
    fn many_columns_are_sampled_and_an_order_beside_its_reverse_splits_a_product_evenly() {
        let (method, parts, base) = of_first_label(9);
        assert_eq!((method, base), (Method::Permutation, 0.25));
        for (column, found) in parts.iter().enumerate() {
            let expected = if column < 3 { 0.25 } else { 0.0 };
            assert!((found - expected).abs() < 1e-7, "{parts:?}");
        }
    }
}
