//! What the tests of the kernel and neighbour baselines share: small sets, and the fixtures of the oracles.
#![allow(dead_code, reason = "every test program uses its own part")]

use ldlf_baselines::entries;
use ldlf_core::stored::Parts;
use ldlf_core::{
    Csr, Dataset, Error, Features, FitContext, Inputs, LearnerEntry, Matrix, Result, Seed, Settings, Threads,
    TrainedModel,
};
use rand::RngExt;

/// A baseline by name.
pub fn entry(name: &str) -> LearnerEntry {
    entries().into_iter().find(|entry| entry.name() == name).expect("the baseline is registered")
}

/// Fits a baseline with the settings `name=value`.
pub fn fit(name: &str, settings: &[&str], data: &Dataset, threads: &Threads) -> Result<TrainedModel> {
    let learner = (entry(name).build)(&Settings::parse(settings)?)?;
    TrainedModel::fit(&*learner, data, &mut FitContext::new(7, threads.clone(), &mut ()))
}

/// The distributions that a model predicts.
pub fn predict(model: &TrainedModel, inputs: &Inputs) -> Matrix<f32> {
    model.predict_with(inputs, &Threads::one()).unwrap().into_distributions().unwrap()
}

/// The bytes of the model file.
pub fn bytes(model: &TrainedModel) -> Vec<u8> {
    model.to_parts().to_bytes().unwrap()
}

/// The model as it comes back from the bytes of its file.
pub fn reloaded(model: &TrainedModel) -> Result<TrainedModel> {
    TrainedModel::from_parts(Parts::from_bytes(&bytes(model))?, &entries())
}

/// The sentence with which a fit is refused.
pub fn refusal(result: Result<TrainedModel>) -> String {
    match result {
        Err(error @ Error::Usage(_)) => error.to_string(),
        Err(other) => panic!("refused for another reason: {other}"),
        Ok(_) => panic!("not refused"),
    }
}

/// Rows whose distributions follow from their features: `d = softmax(3 sin of a mix of x)`, with many zeros in x.
pub fn smooth_rows(rows: usize, seed: u64) -> Dataset {
    let mut generator = Seed::new(seed).named("rows").generator();
    let features: Vec<f32> = (0..rows * 5)
        .map(|_| if generator.random::<f32>() < 0.4 { 0.0 } else { generator.random::<f32>() * 2.0 - 1.0 })
        .collect();
    let features = Matrix::new(rows, 5, features).unwrap();
    let mut targets = Matrix::zeros(rows, 3);
    for row in 0..rows {
        let x = features.row(row);
        let mut d = [0.0f64; 3];
        for (label, d) in d.iter_mut().enumerate() {
            *d = f64::from((x[label] * 2.0 + x[label + 1]).sin() * 2.0 + x[4] * label as f32);
        }
        ldlf_math::numeric::softmax_in_place(&mut d);
        targets.row_mut(row).iter_mut().zip(d).for_each(|(t, d)| *t = d as f32);
    }
    Dataset::new(Features::Dense(features), targets).unwrap()
}

/// The same rows, stored sparsely.
pub fn sparse(features: &Features) -> Features {
    let mut sparse = Csr::with_columns(features.cols());
    for row in 0..features.rows() {
        let mut entries = Vec::new();
        features.for_each_in_row(row, |column, v| {
            if v != 0.0 {
                entries.push((column as u32, v))
            }
        });
        sparse.push_row(entries);
    }
    Features::Sparse(sparse)
}

/// The same rows with the labels in another order: new label `j` is old label `order[j]`.
pub fn relabelled(data: &Dataset, order: &[usize]) -> Dataset {
    let targets = data.targets().iter_rows().flat_map(|row| order.iter().map(|&label| row[label])).collect();
    let targets = Matrix::new(data.rows(), data.labels(), targets).unwrap();
    data.clone().with_targets(targets).unwrap()
}

/// The largest difference between two matrices.
pub fn largest_difference(a: &Matrix<f32>, b: &Matrix<f32>) -> f32 {
    assert_eq!((a.rows(), a.cols()), (b.rows(), b.cols()));
    a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// The mean K-L divergence of predictions from the targets.
pub fn mean_kl(targets: &Matrix<f32>, predictions: &Matrix<f32>) -> f64 {
    use ldlf_math::numeric::xlogy;
    let pairs = targets.as_slice().iter().zip(predictions.as_slice());
    let sum: f64 = pairs.map(|(&d, &p)| xlogy(d.into(), d.into()) - xlogy(d.into(), p.into())).sum();
    sum / targets.rows() as f64
}

/// A table of numbers from an oracle's fixture.
pub fn matrix(value: &serde_json::Value) -> Matrix<f32> {
    let rows: Vec<Vec<f32>> = serde_json::from_value(value.clone()).unwrap();
    let cols = rows[0].len();
    Matrix::new(rows.len(), cols, rows.concat()).unwrap()
}

/// The set of an oracle's fixture: `features` and `targets`.
pub fn fixture_rows(case: &serde_json::Value) -> Dataset {
    Dataset::new(Features::Dense(matrix(&case["features"])), matrix(&case["targets"])).unwrap()
}
