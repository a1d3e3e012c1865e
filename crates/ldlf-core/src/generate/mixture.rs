//! A nonlinear mixture set of any size: a forest can fit it, a linear model cannot.

use ldlf_math::numeric::{normalise, softmax_in_place};
use ldlf_math::random::Generator;
use rand::RngExt;

use crate::parameters::ParameterSet;
use crate::{Csr, Dataset, Features, Matrix, Result, Seed};

crate::parameters! {
    /// Parameters of `mixture`.
    pub struct MixtureParameters {
        /// Number of features; five signals are informative, the rest is noise.
        features: usize = 20, at_least 1;
        /// Number of labels.
        labels: usize = 5, at_least 1;
        /// Fraction of the features of a row that are not zero, or none for dense features.
        density: Option<f64> = None, above 0, at_most 1;
        /// Votes drawn for each row from its distribution, or none for the distribution itself.
        votes: Option<usize> = None, at_least 1;
    }
}

/// How many signals the gates depend on.
const SIGNALS: usize = 5;
/// How many prototype distributions are mixed.
const PROTOTYPES: usize = 4;

/// Rows whose distributions are mixtures of four prototypes.
///
/// Each prototype is a bump over the labels with a centre and width of its own. The gates are a softmax over
/// functions of five signals `z`: `tanh(4 z_1)`, which a linear model can fit, and `tanh(4 z_2) tanh(4 z_3)` and
/// `tanh(6 (|z_4| - 1/2)) tanh(4 z_5)`, which it cannot. With dense features a signal is one feature, uniform on
/// `[-1, 1]`; with sparse features it is the sum over so many features that one of them is expected to be non-zero. All
/// other features are noise. Labels stand for the numbers 1, 2, and so on.
///
/// # Shapes
/// features `[rows, features]`, targets `[rows, labels]`.
pub fn mixture(rows: usize, parameters: &MixtureParameters, seed: u64) -> Result<Dataset> {
    super::at_least_one_row(rows)?;
    parameters.check()?;
    let MixtureParameters { features, labels, density, votes } = *parameters;
    let seed = Seed::new(seed).named("mixture");
    let prototypes = prototypes(labels);
    let group = density.map_or(1, |density| (1.0 / density).ceil() as usize).min((features / SIGNALS).max(1));

    let mut dense = Vec::new();
    let mut sparse = Csr::with_columns(features);
    let mut targets = Matrix::zeros(rows, labels);
    for row in 0..rows {
        let mut generator = seed.numbered(row as u64).generator();
        let mut signals = [0.0f64; SIGNALS];
        let mut read = |column: usize, value: f32| {
            // With few features, signals share them.
            (0..SIGNALS)
                .filter(|signal| {
                    (signal * group) % features <= column && column < (signal * group) % features + group
                })
                .for_each(|signal| signals[signal] += f64::from(value));
        };
        match density {
            None => {
                let start = dense.len();
                dense.extend((0..features).map(|_| uniform(&mut generator)));
                dense[start..]
                    .iter()
                    .enumerate()
                    .take(SIGNALS)
                    .for_each(|(column, &value)| read(column, value));
            }
            Some(density) => {
                let entries = sparse_row(features, density, &mut generator);
                entries.iter().for_each(|&(column, value)| read(column as usize, value));
                sparse.push_row(entries);
            }
        }
        let target = targets.row_mut(row);
        mix(&gates(&signals), &prototypes, target);
        if let Some(votes) = votes {
            poll(votes, target, &mut generator);
        }
    }
    let features = match density {
        None => Features::Dense(Matrix::new(rows, features, dense)?),
        Some(_) => Features::Sparse(sparse),
    };
    Dataset::new(features, targets)?
        .named("mixture")
        .with_label_names((1..=labels).map(|label| label.to_string()).collect())?
        .with_label_values((1..=labels).map(|label| label as f64).collect())
}

/// Bumps with centres spread over the labels, narrow ones and wide ones, above a small constant.
fn prototypes(labels: usize) -> Vec<Vec<f32>> {
    let shapes: [(f64, f64); PROTOTYPES] = [(0.1, 0.12), (0.9, 0.1), (0.45, 0.3), (0.7, 0.08)];
    let bump = |(centre, width): (f64, f64)| {
        let at = |label: usize| {
            let place = (label as f64 + 0.5) / labels as f64;
            ((-0.5 * ((place - centre) / width).powi(2)).exp() + 0.02) as f32
        };
        let mut bump: Vec<f32> = (0..labels).map(at).collect();
        normalise(&mut bump);
        bump
    };
    shapes.into_iter().map(bump).collect()
}

/// How much of each prototype a row has.
fn gates(z: &[f64; SIGNALS]) -> [f64; PROTOTYPES] {
    let linear = (4.0 * z[0]).tanh();
    let crossed = (4.0 * z[1]).tanh() * (4.0 * z[2]).tanh();
    let ring = (6.0 * (z[3].abs() - 0.5)).tanh() * (4.0 * z[4]).tanh();
    let mut gates =
        [linear + crossed, linear - crossed, -linear + ring, -linear - ring].map(|score| 1.5 * score);
    softmax_in_place(&mut gates);
    gates
}

fn mix(gates: &[f64; PROTOTYPES], prototypes: &[Vec<f32>], target: &mut [f32]) {
    for (label, out) in target.iter_mut().enumerate() {
        let sum: f64 = gates.iter().zip(prototypes).map(|(g, bump)| g * f64::from(bump[label])).sum();
        *out = sum as f32;
    }
    normalise(target);
}

/// Replaces a distribution by the label shares of some votes drawn from it.
fn poll(votes: usize, target: &mut [f32], generator: &mut Generator) {
    let mut counts = vec![0.0f32; target.len()];
    for _ in 0..votes {
        let mut left: f64 = generator.random();
        let chosen = target.iter().position(|&p| {
            left -= f64::from(p);
            left < 0.0
        });
        // Rounding may leave a remainder after the last label.
        counts[chosen.unwrap_or(target.len() - 1)] += 1.0;
    }
    normalise(&mut counts);
    target.copy_from_slice(&counts);
}

/// Entries by geometric jumps, so that the cost of a row follows its entries, not its width.
fn sparse_row(features: usize, density: f64, generator: &mut Generator) -> Vec<(u32, f32)> {
    let mut entries = Vec::new();
    let mut column = 0usize;
    loop {
        let u = 1.0 - generator.random::<f64>();
        let jump = if density >= 1.0 { 0.0 } else { (u.ln() / (-density).ln_1p()).floor() };
        // A jump past any width saturates in the cast.
        column = column.saturating_add(jump as usize);
        if column >= features {
            return entries;
        }
        entries.push((column as u32, uniform(generator)));
        column += 1;
    }
}

fn uniform(generator: &mut Generator) -> f32 {
    (2.0 * generator.random::<f64>() - 1.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(rows: usize, parameters: MixtureParameters) -> Dataset {
        mixture(rows, &parameters, 1).unwrap()
    }

    #[test]
    fn sparse_rows_have_the_density_asked_for() {
        for density in [0.01, 0.2, 1.0] {
            let parameters = MixtureParameters::default().features(1000).density(density);
            let data = made(200, parameters);
            let Features::Sparse(csr) = data.features().unwrap() else {
                panic!("a density makes sparse features");
            };
            let share = csr.stored() as f64 / 200_000.0;
            assert!((share - density).abs() < 0.1 * density, "{share} for {density}");
        }
    }

    #[test]
    fn votes_are_whole_shares_around_the_distribution() {
        let exact = made(400, MixtureParameters::default());
        let polled = made(400, MixtureParameters::default().votes(8));
        assert_eq!(exact.inputs(), polled.inputs());
        assert!(polled.targets().as_slice().iter().all(|share| (share * 8.0).fract() == 0.0));
        let close = |(a, b): (f64, f64)| (a - b).abs() < 0.03;
        assert!(exact.mean_target().into_iter().zip(polled.mean_target()).all(close));
    }

    #[test]
    fn the_crossed_signals_decide_though_neither_does_alone() {
        let gates_of = |z1, z2| gates(&[0.5, z1, z2, 0.0, 0.0])[0];
        assert_eq!(gates_of(0.8, 0.8), gates_of(-0.8, -0.8));
        assert!(gates_of(0.8, 0.8) > gates_of(0.8, -0.8) + 0.3);
    }

    #[test]
    fn small_shapes_work() {
        for (features, labels) in [(1, 1), (2, 3), (4, 2)] {
            for density in [None, Some(0.5)] {
                let data = made(5, MixtureParameters { features, labels, density, votes: Some(3) });
                assert_eq!((data.features().unwrap().cols(), data.labels()), (features, labels));
            }
        }
    }
}
