//! Helpers of the tests: learners by name, small datasets, and the fixtures of the oracles.

use ldlf_baselines::entries;
use ldlf_core::stored::Parts;
use ldlf_core::{
    Csr, Dataset, Error, Features, FitContext, Fitted, Inputs, Learner, LearnerEntry, Matrix, Model, Result,
    Seed, Settings, Threads, TrainedModel,
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

/// A checked learner with the settings `name=value`.
pub fn learner(name: &str, settings: &[&str]) -> Box<dyn Learner> {
    (entry(name).build)(&Settings::parse(settings).unwrap()).unwrap()
}

/// What a learner comes to with the settings `name=value`, its summary included.
pub fn fitted(name: &str, settings: &[&str], data: &Dataset) -> Fitted {
    learner(name, settings).fit(data, &mut FitContext::new(0, Threads::one(), &mut ())).unwrap()
}

/// The distributions that a bare model predicts.
pub fn predicted(model: &dyn Model, inputs: &Inputs) -> Matrix<f32> {
    model.predict(inputs, &Threads::one()).unwrap().into_distributions().unwrap()
}

/// Rows whose distribution follows from their features, with a little that does not.
pub fn waves(rows: usize, features: usize, labels: usize) -> Dataset {
    let x = |row: usize, column: usize| ((row * 7 + column * 13 + row * column) as f32 * 0.61).sin();
    let mut values = Matrix::zeros(rows, features);
    let mut targets = Matrix::zeros(rows, labels);
    for row in 0..rows {
        for column in 0..features {
            values.row_mut(row)[column] = x(row, column);
        }
        let scores: Vec<f32> = (0..labels)
            .map(|label| {
                let signal: f32 = (0..features).map(|c| x(row, c) * ((label * 3 + c * 5) as f32).cos()).sum();
                (signal + 0.3 * ((row * 31 + label * 17) as f32).sin()).exp()
            })
            .collect();
        let sum: f32 = scores.iter().sum();
        targets.row_mut(row).iter_mut().zip(&scores).for_each(|(d, s)| *d = s / sum);
    }
    Dataset::new(Features::Dense(values), targets).unwrap()
}

/// The same data with about two thirds of the entries 0, dense and sparse.
pub fn thin(data: &Dataset) -> (Dataset, Dataset) {
    let mut values = dense(data);
    for (index, value) in values.as_mut_slice().iter_mut().enumerate() {
        if index % 3 != 0 {
            *value = 0.0;
        }
    }
    let mut rows = Csr::with_columns(values.cols());
    for row in values.iter_rows() {
        rows.push_row(row.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(c, &v)| (c as u32, v)));
    }
    let with = |features: Features| data.clone().with_inputs(features).unwrap();
    (with(Features::Dense(values)), with(Features::Sparse(rows)))
}

/// The features of dense rows.
pub fn dense(data: &Dataset) -> Matrix<f32> {
    let Features::Dense(values) = data.features().unwrap() else { panic!("dense data expected") };
    values.clone()
}

/// The same data with every dense feature changed.
pub fn changed(data: &Dataset, mut change: impl FnMut(&mut Matrix<f32>)) -> Dataset {
    let mut values = dense(data);
    change(&mut values);
    data.clone().with_inputs(Features::Dense(values)).unwrap()
}

/// Every row as often as its weight says.
pub fn copied(data: &Dataset, times: &[usize]) -> Dataset {
    let rows: Vec<usize> = times.iter().enumerate().flat_map(|(row, &n)| vec![row; n]).collect();
    data.select(&rows)
}
