//! `pt-bayes`: Gaussian naive Bayes on single-label rows (Geng 2016, section 3.1, "problem transformation").
//!
//! linfa-bayes has this classifier for dense, unweighted rows; here rows have weights and may be sparse.

use std::ops::ControlFlow;

use ldlf_core::graph::{Flow, Graph, Kind};
use ldlf_core::learner::Summary;
use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{
    Algorithm, Dataset, Error, Facts, Features, FitContext, FitEvent, Fitted, InProgress, Inputs, Matrix,
    Model, Prediction, Preset, Result, Threads, Value,
};
use ldlf_math::numeric::softmax_in_place;
use ldlf_math::parallel::chunks;

use crate::problem_transformation::{resampled, weights};

ldlf_core::parameters! {
    /// Parameters of `pt-bayes`.
    pub struct PtBayesParameters, builder PtBayesParams for PtBayes {
        /// Whether to draw as many single-label rows as there are rows, as published, instead of weighting them.
        resample: bool = false;
        /// Fraction of the largest feature variance that is added to every variance.
        smoothing: f64 = 1e-9, at_least 0, known_as "var_smoothing";
    }
}

/// The least variance in use, for features that are all constant.
const LEAST_VARIANCE: f64 = 1e-30;

/// `p(c | x)` in proportion to `n_c prod_j N(x_j; mu_cj, s2_cj)` where, with the weights `v_ic = w_i d_ic` (or counts of draws),
/// `n_c = sum_i v_ic`, `mu_cj = sum_i v_ic x_ij / n_c` and `s2_cj = sum_i v_ic (x_ij - mu_cj)^2 / n_c` plus the smoothing.
pub struct PtBayes;

impl Algorithm for PtBayes {
    type Parameters = PtBayesParameters;

    const FACTS: Facts = Facts {
        exports: true,
        ..Facts::new(
            "pt-bayes",
            "Gaussian naive Bayes on rows of single labels, weighted by the distributions",
            "Geng 2016, Label distribution learning",
        )
    };

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published: as many single-label rows as there are rows, drawn by the distributions",
            ["resample=true", "smoothing=0"],
        )]
    }

    fn fit(parameters: &Self::Parameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let features = data.features()?;
        let cells = if parameters.resample { resampled(data, context.seed) } else { weights(data) };
        let mut moments = Moments::of(features, &cells);
        let mut whole = Matrix::zeros(data.rows(), 1);
        (0..data.rows()).for_each(|row| whole.row_mut(row)[0] = cells.row(row).iter().sum());
        let largest = Moments::of(features, &whole).variances.into_iter().fold(0.0, f64::max);
        for variance in &mut moments.variances {
            *variance = (*variance + parameters.smoothing * largest).max(LEAST_VARIANCE);
        }
        let model = PtBayesModel::new(moments, features.cols());
        let mut summary = Summary::at_once();
        let done = FitEvent::Iteration { iteration: 1, total: 1, loss: None };
        if let ControlFlow::Break(reason) = context.report(done, &model) {
            summary.stopped = reason;
        }
        Ok(Fitted::new(Box::new(model), summary))
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        let moments = Moments {
            counts: parts.f64s("label_weights", &[shape.labels])?,
            means: parts.f64s("means", &[shape.labels, shape.features])?,
            variances: parts.f64s("variances", &[shape.labels, shape.features])?,
        };
        if moments.counts.iter().any(|&n| n < 0.0) || moments.counts.iter().sum::<f64>() <= 0.0 {
            return Err(Error::model_file("the model file's \"label_weights\" are not weights"));
        }
        if moments.variances.iter().any(|&s| s < LEAST_VARIANCE) {
            return Err(Error::model_file("the model file's \"variances\" are not all above 0"));
        }
        Ok(Box::new(PtBayesModel::new(moments, shape.features)))
    }
}

/// Weights, means and variances of the features for every label; means and variances are `[labels, features]`.
struct Moments {
    counts: Vec<f64>,
    means: Vec<f64>,
    variances: Vec<f64>,
}

impl Moments {
    fn of(features: &Features, cells: &Matrix<f32>) -> Self {
        let (labels, width) = (cells.cols(), features.cols());
        let mut counts = vec![0.0f64; labels];
        let mut means = vec![0.0f64; labels * width];
        // The weight of the entries that are stored: the rest of a column is zeros.
        let mut stored = vec![0.0f64; labels * width];
        for (row, cell) in cells.iter_rows().enumerate() {
            for (label, &v) in cell.iter().enumerate().filter(|(_, v)| **v > 0.0) {
                let v = f64::from(v);
                counts[label] += v;
                features.for_each_in_row(row, |column, x| {
                    means[label * width + column] += v * f64::from(x);
                    stored[label * width + column] += v;
                });
            }
        }
        for (label, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
            means[label * width..(label + 1) * width].iter_mut().for_each(|m| *m /= count);
        }
        let mut variances: Vec<f64> = (0..labels * width)
            .map(|cell| (counts[cell / width] - stored[cell]).max(0.0) * means[cell] * means[cell])
            .collect();
        for (row, cell) in cells.iter_rows().enumerate() {
            for (label, &v) in cell.iter().enumerate().filter(|(_, v)| **v > 0.0) {
                features.for_each_in_row(row, |column, x| {
                    let cell = label * width + column;
                    variances[cell] += f64::from(v) * (f64::from(x) - means[cell]).powi(2);
                });
            }
        }
        for (label, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
            variances[label * width..(label + 1) * width].iter_mut().for_each(|s| *s /= count);
        }
        Moments { counts, means, variances }
    }
}

/// The moments, in the form that makes scores of sparse rows fast: `ln p = base_c + sum_j x_j (linear_cj - x_j square_cj)`, where
/// features that are zero add nothing.
struct PtBayesModel {
    moments: Moments,
    width: usize,
    base: Vec<f64>,
    linear: Vec<f64>,
    square: Vec<f64>,
}

impl PtBayesModel {
    fn new(moments: Moments, width: usize) -> Self {
        let total: f64 = moments.counts.iter().sum();
        let cells = || moments.means.iter().zip(&moments.variances);
        let base = moments.counts.iter().enumerate().map(|(label, &count)| {
            let own = label * width..(label + 1) * width;
            let density = moments.means[own.clone()].iter().zip(&moments.variances[own]);
            let density = density.map(|(m, s)| -0.5 * (std::f64::consts::TAU * s).ln() - m * m / (2.0 * s));
            (count / total).ln() + density.sum::<f64>()
        });
        PtBayesModel {
            width,
            base: base.collect(),
            linear: cells().map(|(m, s)| m / s).collect(),
            square: cells().map(|(_, s)| 0.5 / s).collect(),
            moments,
        }
    }

    fn predict_row(&self, features: &Features, row: usize, scores: &mut [f64]) {
        scores.copy_from_slice(&self.base);
        features.for_each_in_row(row, |column, x| {
            let x = f64::from(x);
            for (label, score) in scores.iter_mut().enumerate() {
                let cell = label * self.width + column;
                *score += x * (self.linear[cell] - x * self.square[cell]);
            }
        });
        softmax_in_place(scores);
    }
}

impl InProgress for PtBayesModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        Model::predict(self, inputs, threads)
    }
}

impl Model for PtBayesModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        let features = inputs.table()?;
        let labels = self.base.len();
        let blocks = threads.map(chunks(features.rows(), 64), |rows| {
            let mut scores = vec![0.0f64; labels];
            let mut block = Vec::with_capacity(rows.len() * labels);
            for row in rows {
                self.predict_row(features, row, &mut scores);
                block.extend(scores.iter().map(|&p| p as f32));
            }
            block
        });
        Ok(Prediction::Distributions(Matrix::new(features.rows(), labels, blocks.concat())?))
    }

    fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> Option<Flow> {
        let (labels, width) = (self.base.len(), self.width);
        let by_feature = |by_label: &[f64], factor: f64| -> Vec<f64> {
            let cells = (0..width).flat_map(|column| (0..labels).map(move |label| label * width + column));
            cells.map(|cell| factor * by_label[cell]).collect()
        };
        let rows = graph.cast("rows", features, Kind::F64);
        let squares = graph.node("Mul", "squares", &[&rows, &rows]);
        let both = graph.beside("rows_and_squares", &[&rows, &squares]);
        let weights = [by_feature(&self.linear, 1.0), by_feature(&self.square, -1.0)].concat();
        let weights = graph.f64s("weights", &[2 * width, labels], weights);
        let base = graph.f64s("base", &[labels], self.base.clone());
        let sums = graph.node("MatMul", "sums", &[&both, &weights]);
        let scores = graph.node("Add", "scores", &[&sums, &base]);
        let softmax = graph.softmax(&scores);
        Some(graph.cast("distribution", &softmax, Kind::F32))
    }

    fn store(&self, parts: &mut Parts) {
        let shape = vec![self.base.len(), self.width];
        parts.put("label_weights", Array::F64(vec![self.base.len()], self.moments.counts.clone()));
        parts.put("means", Array::F64(shape.clone(), self.moments.means.clone()));
        parts.put("variances", Array::F64(shape, self.moments.variances.clone()));
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        vec![("label weights".into(), self.moments.counts.clone().into())]
    }
}
