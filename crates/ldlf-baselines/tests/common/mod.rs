//! What the tests of several baselines share: building by name, fitting, small data.
#![allow(dead_code, reason = "every test file uses its part")]

use ldlf_core::learner::Fitted;
use ldlf_core::{
    Csr, Dataset, Features, FitContext, Inputs, Learner, LearnerEntry, Matrix, Model, Settings, Threads,
};

pub fn entry(name: &str) -> LearnerEntry {
    ldlf_baselines::entries().into_iter().find(|entry| entry.name() == name).expect("a baseline of that name")
}

pub fn learner(name: &str, settings: &[&str]) -> Box<dyn Learner> {
    (entry(name).build)(&Settings::parse(settings).unwrap()).unwrap()
}

pub fn fit(name: &str, settings: &[&str], data: &Dataset) -> Fitted {
    learner(name, settings).fit(data, &mut FitContext::new(0, Threads::one(), &mut ())).unwrap()
}

pub fn predict(model: &dyn Model, inputs: &Inputs) -> Matrix<f32> {
    model.predict(inputs, &Threads::one()).unwrap().into_distributions().unwrap()
}

/// The largest difference between two matrices.
pub fn gap(a: &Matrix<f32>, b: &Matrix<f32>) -> f32 {
    assert_eq!((a.rows(), a.cols()), (b.rows(), b.cols()));
    a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
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
