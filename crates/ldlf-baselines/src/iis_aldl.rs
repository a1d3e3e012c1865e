//! `iis-aldl`: adaptive label distributions, whose width at every label follows from the predictions there.

use ldlf_core::estimates::Rule;
use ldlf_core::graph::{Flow, Graph};
use ldlf_core::learner::Summary;
use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::targets::{Spread, from_single_label};
use ldlf_core::{
    Algorithm, Auto, Checked, Dataset, Error, Facts, FitContext, Fitted, Inputs, Matrix, Model, Prediction,
    Preset, Result, Threads, Value,
};

use crate::iis_ldl::{IisLdl, IisLdlParameters, IisParams};
use crate::maximum_entropy::MaximumEntropy;
use crate::ordered::{label_values, nearest_label, numbers};
use crate::stages::{Stages, was_stopped};

ldlf_core::parameters! {
    /// Parameters of `iis-aldl` beside those of `iis-ldl`.
    pub struct IisAldlParameters, after IisLdlParameters in IisParams for IisAldl {
        /// Initial standard deviation of the Gaussian at every label; auto takes it from the targets.
        init_sigma: Auto<f64> = Auto::Auto, above 0;
        /// Maximum number of rounds: a fit of `iis-ldl`, then new deviations.
        rounds: usize = 5, at_least 1;
    }
}

/// Rounds of two steps. From the third on, a round is kept only if it lowers the mean absolute error of the mode on the training rows,
/// and the first that does not ends the fit:
///
/// 1. fit the maximum entropy model of [`iis_ldl`](crate::iis_ldl) to `d_i ~ exp(-(v - y_i)^2 / (2 sigma(y_i)^2))`;
/// 2. for every label `y`, take the rows of that label whose mode errs by no more than the mean error, average their predicted
///    distributions by their weights to `p`, and choose `sigma(y)` so that the Gaussian around `y` is closest to it in `K-L(p, d)`, which is where
///    both have the same mean squared distance from `y`.
///
/// The label of a row is its single label, else the one nearest to the mean of its distribution. Source: Geng, Wang and Xia,
/// "Facial age estimation by adaptive label distribution learning", ICPR 2014.
pub struct IisAldl;

impl Algorithm for IisAldl {
    type Parameters = (IisLdlParameters, IisAldlParameters);

    const FACTS: Facts = Facts {
        ordered: true,
        iterates: true,
        exports: true,
        ..Facts::new(
            "iis-aldl",
            "iis-ldl on Gaussians whose width at every label adapts to the predictions there",
            "Geng, Wang and Xia, Facial age estimation by adaptive label distribution learning, ICPR 2014",
        )
    };

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published: raw features, nothing held out, every fit to convergence",
            ["patience=none", "scaling=raw"],
        )]
    }

    fn fit((inner, own): &Self::Parameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let values = label_values(data, Self::FACTS.name)?;
        let numbers = numbers(data, values);
        let labels: Vec<usize> = numbers.iter().map(|&number| nearest_label(number, values)).collect();
        let mut widths = match own.init_sigma {
            Auto::Given(sigma) => vec![sigma; values.len()],
            Auto::Auto => {
                let weight = |row| f64::from(data.weight(row));
                re_estimated(&vec![None; values.len()], values, &labels, data.targets(), weight)
            }
        };
        let mut best: Option<(f64, AdaptiveModel, Summary)> = None;
        let mut iterations = 0;
        let inner = Checked::<IisLdl>::new(inner.clone())?;
        let mut stages = Stages::new(own.rounds);
        for round in 0..own.rounds {
            let adapted = data.clone().with_targets(targets(values, &labels, &widths)?)?;
            let Fitted { model, mut summary, .. } = stages.fit(&inner, &adapted, context)?;
            let predicted = model.predict(data.inputs(), &context.threads)?.into_distributions()?;
            let errors = errors(&predicted, values, &numbers);
            let mean_error = weighted_mean(&errors, data);
            iterations += summary.iterations;
            summary.iterations = iterations;
            let stopped = was_stopped(&summary);
            // The first model has no adapted widths: the second takes its place in any case.
            if round > 1 && best.as_ref().is_some_and(|(least, ..)| mean_error >= *least) {
                break;
            }
            best = Some((mean_error, AdaptiveModel { inner: model, widths: widths.clone() }, summary));
            if stopped {
                break;
            }
            let known: Vec<Option<f64>> = widths.iter().copied().map(Some).collect();
            let weight =
                |row: usize| if errors[row] <= mean_error { f64::from(data.weight(row)) } else { 0.0 };
            widths = re_estimated(&known, values, &labels, &predicted, weight);
        }
        let (_, model, mut summary) = best.expect("there is at least one round");
        summary.iterations = iterations;
        Ok(Fitted::new(Box::new(model), summary))
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        let widths = parts.f64s("widths", &[shape.labels])?;
        if widths.iter().any(|&width| width <= 0.0) {
            return Err(Error::model_file("the model file's \"widths\" are not all above 0"));
        }
        Ok(Box::new(AdaptiveModel { inner: MaximumEntropy::load(parts, shape)?, widths }))
    }
}

fn targets(values: &[f64], labels: &[usize], widths: &[f64]) -> Result<Matrix<f32>> {
    let mut targets = Matrix::zeros(labels.len(), values.len());
    for (row, &label) in labels.iter().enumerate() {
        let spread = Spread::Gaussian { sigma: widths[label] };
        targets.row_mut(row).copy_from_slice(&from_single_label(values[label], values, &spread)?);
    }
    Ok(targets)
}

fn errors(predicted: &Matrix<f32>, values: &[f64], numbers: &[f64]) -> Vec<f64> {
    let error = |(row, &number): (&[f32], &f64)| (Rule::Mode.estimate(row, values) - number).abs();
    predicted.iter_rows().zip(numbers).map(error).collect()
}

fn weighted_mean(errors: &[f64], data: &Dataset) -> f64 {
    let weight = |row: usize| f64::from(data.weight(row));
    let total: f64 = (0..errors.len()).map(weight).sum();
    let sum: f64 = errors.iter().enumerate().map(|(row, error)| weight(row) * error).sum();
    if total > 0.0 { sum / total } else { 0.0 }
}

/// The width of every label from the mean distribution of its rows by their `weight`. A label without weight keeps its width;
/// where it has none, it gets the mean of the others.
fn re_estimated(
    known: &[Option<f64>],
    values: &[f64],
    labels: &[usize],
    distributions: &Matrix<f32>,
    weight: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let mut spreads = vec![(0.0f64, 0.0f64); values.len()];
    for (row, &label) in labels.iter().enumerate() {
        let weight = weight(row);
        for (&p, value) in distributions.row(row).iter().zip(values) {
            spreads[label].0 += weight * f64::from(p) * (value - values[label]).powi(2);
            spreads[label].1 += weight * f64::from(p);
        }
    }
    let width = |label: usize| match spreads[label] {
        (sum, total) if total > 0.0 => Some(closest_width(values, label, sum / total)),
        _ => known[label],
    };
    let widths: Vec<Option<f64>> = (0..values.len()).map(width).collect();
    let given: Vec<f64> = widths.iter().flatten().copied().collect();
    let mean = given.iter().sum::<f64>() / given.len().max(1) as f64;
    widths.into_iter().map(|width| width.unwrap_or(mean)).collect()
}

/// The deviation at which the Gaussian over `values` around a label has the mean squared distance `wanted` from it, by bisection;
/// between half the smallest difference of two values and ten times their range.
fn closest_width(values: &[f64], label: usize, wanted: f64) -> f64 {
    // A single label has no distances: every width gives the same distribution.
    if values.len() < 2 {
        return 1.0;
    }
    let step = values.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let (mut low, mut high) = ((0.5 * step).ln(), (10.0 * (values[values.len() - 1] - values[0])).ln());
    let spread = |sigma: f64| {
        let (mut sum, mut total) = (0.0, 0.0);
        for value in values {
            let squared = (value - values[label]).powi(2);
            let mass = (-0.5 * squared / (sigma * sigma)).exp();
            sum += mass * squared;
            total += mass;
        }
        sum / total
    };
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        *(if spread(middle.exp()) < wanted { &mut low } else { &mut high }) = middle;
    }
    (0.5 * (low + high)).exp()
}

/// A maximum entropy model and the widths it was fitted with.
struct AdaptiveModel {
    inner: Box<dyn Model>,
    widths: Vec<f64>,
}

impl Model for AdaptiveModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        self.inner.predict(inputs, threads)
    }

    fn store(&self, parts: &mut Parts) {
        self.inner.store(parts);
        parts.put("widths", Array::F64(vec![self.widths.len()], self.widths.clone()));
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        let mut facts = self.inner.inspect();
        let widths = self.widths.iter().map(|width| Value::from((width * 1000.0).round() / 1000.0));
        facts.push(("widths".into(), Value::Array(widths.collect())));
        facts
    }

    fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> Option<Flow> {
        self.inner.add_to_graph(graph, features)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_gives_back_the_gaussian_it_was_measured_on() {
        let ages: Vec<f64> = (0..=60).map(f64::from).collect();
        for (label, sigma) in [(30, 3.0), (2, 4.5), (60, 1.2)] {
            let d = from_single_label(ages[label], &ages, &Spread::Gaussian { sigma }).unwrap();
            let wanted: f64 =
                d.iter().zip(&ages).map(|(&d, age)| f64::from(d) * (age - ages[label]).powi(2)).sum();
            assert!((closest_width(&ages, label, wanted) - sigma).abs() < 1e-4, "{label}");
        }
    }

    #[test]
    fn no_other_width_is_closer_in_k_l() {
        let ages = [1.0, 2.0, 3.0, 5.0];
        let p = [0.2f64, 0.5, 0.2, 0.1];
        let wanted: f64 = p.iter().zip(&ages).map(|(p, age)| p * (age - 2.0f64).powi(2)).sum();
        let kl = |sigma: f64| {
            let d = from_single_label(2.0, &ages, &Spread::Gaussian { sigma }).unwrap();
            p.iter().zip(d).map(|(p, d)| p * (p / f64::from(d)).ln()).sum::<f64>()
        };
        let width = closest_width(&ages, 1, wanted);
        assert!(kl(width) < kl(width * 1.02) && kl(width) < kl(width / 1.02), "{width}");
    }
}
