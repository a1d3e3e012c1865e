//! `pt-svm`: support vector classifiers of every pair of labels on single-label rows, their probabilities coupled
//! (Geng 2016, section 3.1, "problem transformation").
//!
//! The dataset is resampled to its own size, as published: the rows of a pair then number about `2 n / labels`, where weighting
//! every single-label row would give `2 n`. A row drawn more than once occurs in its problem once, with that multiple of
//! the cost. Row weights are sampling weights.

use std::ops::ControlFlow;

use ldlf_core::learner::Summary;
use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{
    Algorithm, Dataset, Error, Facts, FitContext, FitEvent, Fitted, InProgress, Inputs, Matrix, Model,
    Prediction, Preset, Result, Seed, StopReason, Threads, Value,
};
use ldlf_math::memory;
use ldlf_math::numeric::normalise;
use ldlf_math::parallel::chunks;
use ldlf_math::random::permutation;

use crate::kernel::Kernel;
use crate::pairwise_probabilities::{Sigmoid, couple, pairs};
use crate::problem_transformation::resampled;
use crate::reference_rows::ReferenceRows;
use crate::scaling::{FeatureScaling, Scaling};
use crate::svc::{KernelRows, decisions, train};

ldlf_core::choices! {
    /// The similarity of two rows.
    pub enum KernelKind {
        /// `exp(-|x - y|^2 / (2 s^2))`.
        Rbf = "rbf",
        /// `x . y`.
        Linear = "linear",
    }
}

ldlf_core::parameters! {
    /// Parameters of `pt-svm`.
    pub struct PtSvmParameters, builder PtSvmParams for PtSvm {
        /// Cost C of a row on the wrong side.
        c: f64 = 1.0, above 0, known_as "C";
        /// Kernel of the classifiers.
        kernel: KernelKind = KernelKind::Rbf;
        /// Width of the rbf kernel, as a multiple of the mean distance between training rows.
        width: f64 = 1.0, above 0;
        /// How features are scaled.
        scaling: FeatureScaling = FeatureScaling::Standard;
        /// Cross-validation folds for the sigmoid of a pair (Platt scaling).
        folds: usize = 5, at_least 2;
        /// Largest violation of the optimality conditions at which the solver stops.
        tolerance: f64 = 0.001, above 0, known_as "tol";
    }
}

/// Pairs trained between two reports.
const BATCH: usize = 8;

/// The least probability of a class within its pair: coupling needs all above 0.
const LEAST_PROBABILITY: f64 = 1e-7;

/// For every pair of labels `(i, j)` a classifier `f_ij(x) = sum_r beta_r k(x_r, x) - rho` and a sigmoid
/// `r_ij = 1 / (1 + exp(a f_ij + b))`; then the distribution `p` that minimises `sum_ij (r_ji p_i - r_ij p_j)^2`.
/// A label of which no row was drawn gets its mean probability.
pub struct PtSvm;

impl PtSvmParameters {
    /// The classifier of one pair: the coefficients of the kept rows, and the sigmoid.
    fn train_pair(&self, model: &PtSvmModel, counts: &Matrix<f32>, pair: (usize, usize), seed: Seed) -> Pair {
        let mut members: Vec<(usize, f64, f64)> = Vec::new();
        for (label, sign) in [(model.classes[pair.0], 1.0), (model.classes[pair.1], -1.0)] {
            for row in 0..counts.rows() {
                let count = counts.row(row)[label];
                if count > 0.0 {
                    members.push((row, sign, f64::from(count)));
                }
            }
        }
        let rows: Vec<usize> = members.iter().map(|&(row, ..)| row).collect();
        let own = ReferenceRows::new(model.kept.features().select(&rows));
        let mut kernel = KernelRows::new(model.kernel, &own);
        let fit = |kernel: &mut KernelRows<'_>, of: &[usize]| {
            let signs: Vec<f64> = of.iter().map(|&at| members[at].1).collect();
            let costs: Vec<f64> = of.iter().map(|&at| self.c * members[at].2).collect();
            train(kernel, of, &signs, &costs, self.tolerance)
        };
        let all: Vec<usize> = (0..members.len()).collect();
        let whole = fit(&mut kernel, &all);
        let order = permutation(members.len(), &mut seed.generator());
        let mut held_values = vec![0.0f64; members.len()];
        // More folds than members would leave empty folds.
        let folds = self.folds.min(members.len().max(2));
        for fold in 0..folds {
            let in_fold = |&(place, _): &(usize, &usize)| place % folds == fold;
            let (held, used): (Vec<_>, Vec<_>) = order.iter().enumerate().partition(in_fold);
            let held: Vec<usize> = held.into_iter().map(|(_, &at)| at).collect();
            let used: Vec<usize> = used.into_iter().map(|(_, &at)| at).collect();
            let some = |sign: f64| used.iter().any(|&at| members[at].1 == sign);
            let values = match (some(1.0), some(-1.0)) {
                (true, true) => {
                    let classifier = fit(&mut kernel, &used);
                    decisions(&classifier, &mut kernel, &used, &held)
                }
                // One class only: every row is assigned to it.
                (first, second) => vec![f64::from(i8::from(first) - i8::from(second)); held.len()],
            };
            held.iter().zip(values).for_each(|(&at, value)| held_values[at] = value);
        }
        let signs: Vec<f64> = members.iter().map(|m| m.1).collect();
        let weights: Vec<f64> = members.iter().map(|m| m.2).collect();
        let coefficients = rows.iter().zip(whole.coefficients).filter(|(_, c)| *c != 0.0);
        Pair {
            coefficients: coefficients.map(|(&row, c)| (row, c as f32)).collect(),
            rho: whole.rho,
            sigmoid: Sigmoid::fit(&held_values, &signs, &weights),
        }
    }
}

/// The classifier of one pair.
struct Pair {
    /// Kept rows with their coefficients; a row drawn for both labels comes twice.
    coefficients: Vec<(usize, f32)>,
    rho: f64,
    sigmoid: Sigmoid,
}

impl Algorithm for PtSvm {
    type Parameters = PtSvmParameters;

    const FACTS: Facts = Facts::new(
        "pt-svm",
        "support vector classifiers of pairs of labels on rows of single labels, probabilities coupled",
        "Geng 2016, Label distribution learning",
    );

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published: raw features, pairwise coupled probabilities; kernel and cost are ours, the publication's are not known here",
            ["scaling=raw"],
        )]
    }

    fn fit(parameters: &Self::Parameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let counts = resampled(data, context.seed);
        let drawn: Vec<usize> =
            (0..data.rows()).filter(|&row| counts.row(row).iter().any(|&count| count > 0.0)).collect();
        let counts = counts.select(&drawn);
        let scaling = Scaling::choose(parameters.scaling, data)?;
        let kept = ReferenceRows::new(scaling.apply(&data.features()?.select(&drawn)));
        let kernel = match parameters.kernel {
            KernelKind::Rbf => Kernel::rbf(parameters.width, &kept, &context.threads),
            KernelKind::Linear => Kernel::Linear,
        };
        let classes = (0..data.labels()).filter(|&label| counts.iter_rows().any(|row| row[label] > 0.0));
        let classes: Vec<usize> = classes.collect();
        let sizes = [("rows", kept.len()), ("labels", classes.len()), ("labels", classes.len().div_ceil(2))];
        memory::check("the coefficients of every pair of labels", &sizes, size_of::<f32>())?;
        let mut model = PtSvmModel::untrained(scaling, kept, kernel, classes, data.mean_target());
        let work = pairs(model.classes.len());
        let mut summary = Summary::at_once();
        for batch in chunks(work.len(), BATCH) {
            let learnt = context.threads.map(batch.clone(), |pair: usize| {
                let seed = context.seed.named("sigmoid folds").numbered(pair as u64);
                parameters.train_pair(&model, &counts, work[pair], seed)
            });
            batch.clone().zip(learnt).for_each(|(number, pair)| model.put(number, pair));
            summary.iterations = batch.end;
            let event = FitEvent::Iteration { iteration: batch.end, total: work.len(), loss: None };
            if let ControlFlow::Break(reason) = context.report(event, &model) {
                summary.stopped = if batch.end == work.len() { StopReason::Finished } else { reason };
                break;
            }
        }
        Ok(Fitted::new(Box::new(model), summary))
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        let scaling = Scaling::load(parts, shape.features)?;
        let kept = ReferenceRows::load(parts, shape.features)?;
        let gamma: Option<f32> = parts.detail("gamma")?;
        if gamma.is_some_and(|gamma| !(gamma.is_finite() && gamma >= 0.0)) {
            return Err(Error::model_file("the model file's \"gamma\" should be a number of at least 0"));
        }
        let count = parts.shape("classes")?.iter().product();
        let classes: Vec<usize> =
            parts.u32s("classes", &[count])?.into_iter().map(|label| label as usize).collect();
        if classes.is_empty()
            || classes.windows(2).any(|w| w[0] >= w[1])
            || classes.iter().any(|&label| label >= shape.labels)
        {
            return Err(Error::model_file("the model file's \"classes\" are not labels in rising order"));
        }
        let mean_distribution = parts.f64s("shares", &[shape.labels])?;
        if mean_distribution.iter().any(|&p| p < 0.0)
            || (mean_distribution.iter().sum::<f64>() - 1.0).abs() > 1e-3
        {
            return Err(Error::model_file("the model file's \"shares\" are not a distribution"));
        }
        let pairs = pairs(classes.len()).len();
        let sigmoids = parts.f64s("sigmoids", &[pairs, 2])?;
        Ok(Box::new(PtSvmModel {
            scaling,
            kernel: gamma.map_or(Kernel::Linear, |gamma| Kernel::Rbf { gamma }),
            coefficients: parts.f32s("coefficients", &[kept.len(), pairs])?,
            kept,
            classes,
            rho: parts.f64s("rho", &[pairs])?,
            sigmoids: sigmoids.chunks_exact(2).map(|ab| Sigmoid { a: ab[0], b: ab[1] }).collect(),
            mean_distribution,
        }))
    }
}

/// The drawn rows and, for every pair of classes, a classifier and a sigmoid. A pair that is not trained (the fit was interrupted)
/// has the probability one half.
struct PtSvmModel {
    scaling: Scaling,
    kept: ReferenceRows,
    kernel: Kernel,
    /// The labels that were drawn, rising.
    classes: Vec<usize>,
    /// `[kept rows, pairs]`.
    coefficients: Vec<f32>,
    rho: Vec<f64>,
    sigmoids: Vec<Sigmoid>,
    /// The mean distribution, for labels that were not drawn.
    mean_distribution: Vec<f64>,
}

impl PtSvmModel {
    fn untrained(
        scaling: Scaling,
        kept: ReferenceRows,
        kernel: Kernel,
        classes: Vec<usize>,
        mean_distribution: Vec<f64>,
    ) -> Self {
        let count = pairs(classes.len()).len();
        PtSvmModel {
            scaling,
            kernel,
            coefficients: vec![0.0; kept.len() * count],
            kept,
            classes,
            rho: vec![0.0; count],
            sigmoids: vec![Sigmoid { a: 0.0, b: 0.0 }; count],
            mean_distribution,
        }
    }

    fn put(&mut self, number: usize, pair: Pair) {
        let pairs = self.rho.len();
        for (row, coefficient) in pair.coefficients {
            self.coefficients[row * pairs + number] += coefficient;
        }
        self.rho[number] = pair.rho;
        self.sigmoids[number] = pair.sigmoid;
    }

    /// The distribution of a row from its decision values.
    fn distribution(&self, values: &[f32], out: &mut [f32]) {
        let classes = self.classes.len();
        let mut within = vec![0.5f64; classes * classes];
        for (number, (i, j)) in pairs(classes).into_iter().enumerate() {
            let p = self.sigmoids[number].probability(f64::from(values[number]) - self.rho[number]);
            let p = p.clamp(LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY);
            within[i * classes + j] = p;
            within[j * classes + i] = 1.0 - p;
        }
        out.iter_mut().zip(&self.mean_distribution).for_each(|(p, &mean)| *p = mean as f32);
        let drawn: f64 = self.classes.iter().map(|&label| self.mean_distribution[label]).sum();
        for (&label, p) in self.classes.iter().zip(couple(&within, classes)) {
            out[label] = (p * drawn).max(0.0) as f32;
        }
        normalise(out);
    }
}

impl InProgress for PtSvmModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        Model::predict(self, inputs, threads)
    }
}

impl Model for PtSvmModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        let features = inputs.table()?;
        let (pairs, labels) = (self.rho.len(), self.mean_distribution.len());
        let scaled = self.scaling.apply(features);
        let values = self.kernel.weighted_sums(&self.kept, &scaled, &self.coefficients, pairs, threads);
        let blocks = threads.map(chunks(features.rows(), 64), |rows| {
            let mut block = vec![0.0f32; rows.len() * labels];
            for (row, out) in rows.zip(block.chunks_exact_mut(labels)) {
                self.distribution(&values[row * pairs..(row + 1) * pairs], out);
            }
            block
        });
        Ok(Prediction::Distributions(Matrix::new(features.rows(), labels, blocks.concat())?))
    }

    fn store(&self, parts: &mut Parts) {
        let pairs = self.rho.len();
        self.scaling.store(parts);
        self.kept.store(parts);
        let classes: Vec<u32> = self.classes.iter().map(|&label| label as u32).collect();
        parts.put("classes", Array::U32(vec![classes.len()], classes));
        parts.put("coefficients", Array::F32(vec![self.kept.len(), pairs], self.coefficients.clone()));
        parts.put("rho", Array::F64(vec![pairs], self.rho.clone()));
        let sigmoids = self.sigmoids.iter().flat_map(|s| [s.a, s.b]).collect();
        parts.put("sigmoids", Array::F64(vec![pairs, 2], sigmoids));
        parts.put("shares", Array::F64(vec![self.mean_distribution.len()], self.mean_distribution.clone()));
        if let Kernel::Rbf { gamma } = self.kernel {
            parts.put_detail("gamma", gamma);
        }
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        vec![
            ("kept rows".into(), self.kept.len().into()),
            ("classes".into(), self.classes.len().into()),
            ("pairs".into(), self.rho.len().into()),
        ]
    }
}
