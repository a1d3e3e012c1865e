//! `larr`: locally adjusted robust regression; predicts a number, not a distribution.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

use ldlf_core::early_stopping::hold_out;
use ldlf_core::learner::Summary;
use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{
    Algorithm, Auto, Dataset, Error, Facts, FitContext, Fitted, Inputs, Model, Prediction, Predicts, Preset,
    Result, StopReason, Threads, Value,
};
use ldlf_math::parallel::chunks;

use crate::kernel::Kernel;
use crate::ordered::{label_values, nearest_label, numbers};
use crate::reference_rows::ReferenceRows;
use crate::scaling::{FeatureScaling, Scaling};
use crate::stages::report_step;
use crate::svc::{KernelRows, train};
use crate::svr::regress;

ldlf_core::choices! {
    /// How the classifiers of pairs decide between the labels of a window.
    pub enum Decision {
        /// The label that wins most pairs; of several the one nearest to the regressed value.
        Wins = "wins",
        /// As published: neighbouring labels meet, the winners go on to the next round, until one is left.
        Tournament = "tournament",
    }
}

ldlf_core::parameters! {
    /// Parameters of `larr`.
    pub struct LarrParameters, builder LarrParams for Larr {
        /// How far from the regressed value labels compete, in units of their values; auto chooses 1, 2, 4 or 8 on held-out rows.
        window: Auto<f64> = Auto::Auto, at_least 0;
        /// Cost C of the regression per standard deviation of the label; auto chooses 1, 3, 10 or 30 on held-out rows.
        c: Auto<f64> = Auto::Auto, above 0, known_as "C";
        /// Half-width of the tube without loss, in standard deviations of the label.
        epsilon: f64 = 0.1, at_least 0;
        /// Cost C of the classifiers of pairs of labels.
        pair_c: f64 = 1.0, above 0;
        /// How the classifiers of pairs decide.
        decision: Decision = Decision::Wins;
        /// Width of the kernel, as a multiple of the mean distance between training rows.
        width: f64 = 1.0, above 0;
        /// Largest violation of the optimality conditions at which the solver stops.
        tolerance: f64 = 0.001, above 0, known_as "tol";
        /// Fraction of the training rows held out to choose what is auto.
        validation_fraction: f64 = 0.2, above 0, below 1;
        /// How features are scaled.
        scaling: FeatureScaling = FeatureScaling::Standard;
    }
}

const WINDOWS: [f64; 4] = [1.0, 2.0, 4.0, 8.0];
const COSTS: [f64; 4] = [1.0, 3.0, 10.0, 30.0];

/// Labels whose classifiers are trained between two reports.
const BATCH: usize = 8;

/// A support vector regressor gives a value; the labels within a window around it then compete in pairs, each pair decided by a
/// support vector classifier of the rows of these two labels. The label that wins most pairs is predicted (of several the one
/// nearest to the regressed value), or with `decision=tournament` the last one in a tournament. The window grows until it holds a label.
///
/// The kernel is `exp(-|x - y|^2 / (2 s^2))`. The label of a row is its single label, else the one nearest to the mean of its
/// distribution. Source: Guo, Fu, Dyer and Huang, "Image-based human age estimation by manifold learning and locally adjusted
/// robust regression", TIP 2008, whose labels meet in a tournament of pairs.
pub struct Larr;

impl Algorithm for Larr {
    type Parameters = LarrParameters;

    const FACTS: Facts = Facts {
        ordered: true,
        predicts: Predicts::Values,
        ..Facts::new(
            "larr",
            "support vector regression, adjusted by classifiers of the labels around its prediction; predicts numbers only",
            "Guo, Fu, Dyer and Huang, Image-based human age estimation by manifold learning and locally adjusted robust regression, IEEE TIP 17(7), 2008",
        )
    };

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published: a tournament of pairs decides; the window is chosen on held-out rows, costs and kernel are ours, the publication's are not known here",
            ["decision=tournament"],
        )]
    }

    fn fit(parameters: &Self::Parameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let values = label_values(data, Self::FACTS.name)?;
        let present: Vec<usize> = (0..data.rows()).filter(|&row| data.weight(row) > 0.0).collect();
        let data = &data.select(&present);
        let numbers = numbers(data, values);
        let threads = context.threads.clone();
        let (mut window, mut c) = (parameters.window.given(), parameters.c.given());
        let (training, held) = hold_out(data, parameters.validation_fraction, context.seed.named("window"));
        let mut stopped = None;
        if (window.is_none() || c.is_none()) && !held.is_empty() && !training.is_empty() {
            let some: Vec<f64> = training.iter().map(|&row| numbers[row]).collect();
            let mut fitting = Fitting::new(parameters, &data.select(&training), values, &some, &threads)?;
            let held =
                Held { data: data.select(&held), numbers: held.iter().map(|&row| numbers[row]).collect() };
            // The regression alone chooses its cost, the window follows.
            let choices = c.map_or(COSTS.to_vec(), |given| vec![given]);
            let chosen =
                held.best(&choices, &threads, &mut fitting, |fitting, tried| fitting.regress(tried))?;
            fitting.regress(chosen);
            c = Some(chosen);
            let windows = window.map_or(WINDOWS.to_vec(), |given| vec![given]);
            stopped = fitting.classify(windows.iter().copied().fold(0.0, f64::max), (0, 2), context);
            if stopped.is_none() {
                window =
                    Some(held.best(&windows, &threads, &mut fitting, |fitting, tried| {
                        fitting.model.window = tried
                    })?);
            }
        }
        let mut fitting = Fitting::new(parameters, data, values, &numbers, &threads)?;
        fitting.regress(c.unwrap_or(COSTS[1]));
        let window = window.unwrap_or(WINDOWS[1]);
        fitting.model.window = window;
        if stopped.is_none() {
            stopped = fitting.classify(window, (1, 2), context);
        }
        let mut summary = Summary::at_once();
        summary.stopped = stopped.unwrap_or(summary.stopped);
        Ok(Fitted::new(Box::new(fitting.model), summary))
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        let wrong = |what: &str| Error::model_file(format!("the model file's {what:?} cannot be used"));
        let kept = ReferenceRows::load(parts, shape.features)?;
        let gamma: f32 = parts.detail("gamma")?;
        let (rho, window): (f64, f64) = (parts.detail("rho")?, parts.detail("window")?);
        if !(gamma.is_finite() && gamma >= 0.0 && rho.is_finite() && window.is_finite() && window >= 0.0) {
            return Err(wrong("gamma, rho or window"));
        }
        let competing = parts.f64s("competing", &[parts.shape("competing")?.iter().product()])?;
        let limits = parts.f64s("limits", &[2])?;
        if competing.is_empty()
            || competing.windows(2).any(|pair| pair[0] >= pair[1])
            || limits[0] > limits[1]
        {
            return Err(wrong("competing or limits"));
        }
        let count = parts.shape("pairs")?.first().copied().unwrap_or(0);
        let labels = parts.u32s("pairs", &[count, 3])?;
        let rhos = parts.f64s("pair_rho", &[count])?;
        let stored = parts.shape("pair_rows")?.iter().product();
        let rows = parts.u32s("pair_rows", &[stored])?;
        let coefficients = parts.f32s("pair_coefficients", &[stored])?;
        let mut entries = rows.into_iter().zip(coefficients);
        let mut pairs = BTreeMap::new();
        for (labels, rho) in labels.chunks_exact(3).zip(rhos) {
            let coefficients: Vec<(u32, f32)> = entries.by_ref().take(labels[2] as usize).collect();
            let known = coefficients.iter().all(|&(row, _)| (row as usize) < kept.len());
            if coefficients.len() < labels[2] as usize || !known || labels[0] >= labels[1] {
                return Err(wrong("pairs"));
            }
            pairs.insert((labels[0], labels[1]), Pair { coefficients, rho });
        }
        let decision = match parts.detail::<Option<String>>("decision")? {
            None => Decision::Wins,
            Some(word) => word.parse().map_err(|_| wrong("decision"))?,
        };
        Ok(Box::new(LarrModel {
            decision,
            scaling: Scaling::load(parts, shape.features)?,
            kernel: Kernel::Rbf { gamma },
            regression: parts.f32s("regression", &[kept.len()])?,
            kept,
            rho,
            window,
            competing,
            limits: (limits[0], limits[1]),
            pairs,
        }))
    }
}

/// Held-out rows to choose by.
struct Held {
    data: Dataset,
    numbers: Vec<f64>,
}

impl Held {
    /// The choice with the least mean absolute error, each set in turn; of equal ones the first.
    fn best(
        &self,
        choices: &[f64],
        threads: &Threads,
        fitting: &mut Fitting<'_>,
        set: impl Fn(&mut Fitting<'_>, f64),
    ) -> Result<f64> {
        let (mut least, mut best) = (f64::INFINITY, choices[0]);
        for &choice in choices.iter().filter(|_| choices.len() > 1) {
            set(fitting, choice);
            let answers = match fitting.model.predict(self.data.inputs(), threads)? {
                Prediction::Values(answers) => answers,
                Prediction::Distributions(_) => unreachable!("this model predicts values"),
            };
            let error = |(row, answer): (usize, f64)| {
                f64::from(self.data.weight(row)) * (answer - self.numbers[row]).abs()
            };
            let error: f64 = answers.into_iter().enumerate().map(error).sum();
            if error < least {
                (least, best) = (error, choice);
            }
        }
        Ok(best)
    }
}

/// A model being fitted, with its rows.
struct Fitting<'a> {
    parameters: &'a LarrParameters,
    numbers: &'a [f64],
    weights: Vec<f64>,
    /// The rows of every label.
    rows_of: Vec<Vec<usize>>,
    model: LarrModel,
}

impl<'a> Fitting<'a> {
    fn new(
        parameters: &'a LarrParameters,
        data: &Dataset,
        values: &[f64],
        numbers: &'a [f64],
        threads: &Threads,
    ) -> Result<Self> {
        let scaling = Scaling::choose(parameters.scaling, data)?;
        let kept = ReferenceRows::new(scaling.apply(data.features()?));
        let kernel = Kernel::rbf(parameters.width, &kept, threads);
        let mut rows_of = vec![Vec::new(); values.len()];
        for (row, &number) in numbers.iter().enumerate() {
            rows_of[nearest_label(number, values)].push(row);
        }
        let present: Vec<usize> = (0..values.len()).filter(|&label| !rows_of[label].is_empty()).collect();
        let model = LarrModel {
            decision: parameters.decision,
            scaling,
            kernel,
            regression: vec![0.0; kept.len()],
            kept,
            rho: 0.0,
            window: 0.0,
            competing: present.iter().map(|&label| values[label]).collect(),
            limits: (values[0], values[values.len() - 1]),
            pairs: BTreeMap::new(),
        };
        let rows_of = present.iter().map(|&label| std::mem::take(&mut rows_of[label])).collect();
        let weights = (0..data.rows()).map(|row| f64::from(data.weight(row))).collect();
        Ok(Fitting { parameters, numbers, weights, rows_of, model })
    }

    /// Fits the regressor, on labels scaled to deviation 1.
    fn regress(&mut self, c: f64) {
        let p = self.parameters;
        let total: f64 = self.weights.iter().sum();
        let weighted = |of: &dyn Fn(f64) -> f64| {
            self.numbers.iter().zip(&self.weights).map(|(&y, w)| w * of(y)).sum::<f64>() / total
        };
        let mean = weighted(&|y| y);
        let deviation = weighted(&|y| (y - mean) * (y - mean)).sqrt();
        let deviation = if deviation > 0.0 { deviation } else { 1.0 };
        let values: Vec<f64> = self.numbers.iter().map(|y| (y - mean) / deviation).collect();
        let costs: Vec<f64> = self.weights.iter().map(|w| c * w).collect();
        let members: Vec<usize> = (0..self.model.kept.len()).collect();
        let mut kernel = KernelRows::new(self.model.kernel, &self.model.kept);
        let solved = regress(&mut kernel, &members, &values, &costs, p.epsilon, p.tolerance);
        self.model.regression = solved.coefficients.iter().map(|beta| (beta * deviation) as f32).collect();
        self.model.rho = solved.rho * deviation - mean;
    }

    /// Trains a classifier of every two labels that can meet in a window of this size. Step `stage` of `stages` of the fit.
    fn classify(
        &mut self,
        window: f64,
        (stage, stages): (usize, usize),
        context: &mut FitContext<'_>,
    ) -> Option<StopReason> {
        let labels = self.model.competing.len();
        for batch in chunks(labels, BATCH) {
            let trained = context.threads.map(batch.clone(), |low: usize| {
                let values = &self.model.competing;
                (low + 1..labels)
                    .take_while(|&high| values[high] - values[low] <= 2.0 * window)
                    .map(|high| ((low as u32, high as u32), self.pair(low, high)))
                    .collect::<Vec<_>>()
            });
            self.model.pairs.extend(trained.into_iter().flatten());
            let step = stage * labels + batch.end;
            if let ControlFlow::Break(reason) = report_step(context, step, stages * labels, &self.model) {
                return (step < stages * labels).then_some(reason);
            }
        }
        None
    }

    /// The classifier of two labels: above 0 says the higher one.
    fn pair(&self, low: usize, high: usize) -> Pair {
        let p = self.parameters;
        let rows = [&self.rows_of[low][..], &self.rows_of[high][..]].concat();
        let signs: Vec<f64> =
            (0..rows.len()).map(|at| if at < self.rows_of[low].len() { -1.0 } else { 1.0 }).collect();
        let costs: Vec<f64> = rows.iter().map(|&row| p.pair_c * self.weights[row]).collect();
        let own = ReferenceRows::new(self.model.kept.features().select(&rows));
        let members: Vec<usize> = (0..rows.len()).collect();
        let solved =
            train(&mut KernelRows::new(self.model.kernel, &own), &members, &signs, &costs, p.tolerance);
        let coefficients = rows.iter().zip(solved.coefficients).filter(|(_, c)| *c != 0.0);
        Pair { coefficients: coefficients.map(|(&row, c)| (row as u32, c as f32)).collect(), rho: solved.rho }
    }
}

/// The classifier of two labels.
#[derive(Clone, Debug, PartialEq)]
struct Pair {
    /// Kept rows with their coefficients.
    coefficients: Vec<(u32, f32)>,
    rho: f64,
}

/// The training rows, the regressor and the classifiers.
struct LarrModel {
    decision: Decision,
    scaling: Scaling,
    kernel: Kernel,
    kept: ReferenceRows,
    /// The regressor's coefficients, one per row kept.
    regression: Vec<f32>,
    rho: f64,
    window: f64,
    /// The values of the labels that have rows, rising.
    competing: Vec<f64>,
    limits: (f64, f64),
    /// By the indices of the two labels among those competing. A pair that is not trained (the fit was interrupted) has no vote.
    pairs: BTreeMap<(u32, u32), Pair>,
}

impl LarrModel {
    /// The prediction for a row from its kernel values with the rows kept.
    fn answer(&self, kernel: &[f32]) -> f64 {
        let products = kernel.iter().zip(&self.regression).map(|(&k, &beta)| f64::from(k) * f64::from(beta));
        let regressed = (products.sum::<f64>() - self.rho).clamp(self.limits.0, self.limits.1);
        if self.window == 0.0 {
            return regressed;
        }
        let from = self.competing.partition_point(|&value| value < regressed - self.window);
        let to = self.competing.partition_point(|&value| value <= regressed + self.window);
        if from >= to {
            return self.competing[nearest_label(regressed, &self.competing)];
        }
        // The winner of two labels, the lower one first; none where the pair is not trained.
        let winner = |low: usize, high: usize| {
            let pair = self.pairs.get(&(low as u32, high as u32))?;
            let products =
                pair.coefficients.iter().map(|&(row, c)| f64::from(c) * f64::from(kernel[row as usize]));
            Some(if products.sum::<f64>() - pair.rho > 0.0 { high } else { low })
        };
        let distance = |label: usize| (self.competing[label] - regressed).abs();
        if self.decision == Decision::Tournament {
            let nearer = |low: usize, high: usize| if distance(high) < distance(low) { high } else { low };
            return self.competing
                [tournament(from..to, |low, high| winner(low, high).unwrap_or_else(|| nearer(low, high)))];
        }
        let mut won = vec![0usize; to - from];
        for low in from..to {
            (low + 1..to).filter_map(|high| winner(low, high)).for_each(|label| won[label - from] += 1);
        }
        let better = |&a: &usize, &b: &usize| {
            won[a - from].cmp(&won[b - from]).then(distance(b).total_cmp(&distance(a)))
        };
        (from..to).max_by(|a, b| better(a, b)).map_or(regressed, |label| self.competing[label])
    }
}

/// The label that is left when neighbours meet and winners go on; one without a partner goes on by itself. The range holds a label.
fn tournament(labels: Range<usize>, winner: impl Fn(usize, usize) -> usize) -> usize {
    let mut round: Vec<usize> = labels.collect();
    while round.len() > 1 {
        let meet = |pair: &[usize]| match *pair {
            [low, high] => winner(low, high),
            _ => pair[0],
        };
        round = round.chunks(2).map(meet).collect();
    }
    round[0]
}

impl Model for LarrModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        let features = inputs.table()?;
        let parts = threads.map(chunks(features.rows(), 64), |rows| {
            let scaled = self.scaling.apply_rows(features, rows.clone());
            let mut block = vec![0.0f32; rows.len() * self.kept.len()];
            self.kernel.block(&self.kept, &scaled, 0..rows.len(), self.kept.len(), &mut block);
            block.chunks_exact(self.kept.len()).map(|kernel| self.answer(kernel)).collect::<Vec<f64>>()
        });
        Ok(Prediction::Values(parts.concat()))
    }

    fn store(&self, parts: &mut Parts) {
        self.scaling.store(parts);
        self.kept.store(parts);
        if let Kernel::Rbf { gamma } = self.kernel {
            parts.put_detail("gamma", gamma);
        }
        if self.decision != Decision::Wins {
            parts.put_detail("decision", self.decision.name());
        }
        parts.put_detail("rho", self.rho);
        parts.put_detail("window", self.window);
        parts.put("regression", Array::F32(vec![self.regression.len()], self.regression.clone()));
        parts.put("competing", Array::F64(vec![self.competing.len()], self.competing.clone()));
        parts.put("limits", Array::F64(vec![2], vec![self.limits.0, self.limits.1]));
        let sizes =
            self.pairs.iter().flat_map(|(&(low, high), pair)| [low, high, pair.coefficients.len() as u32]);
        parts.put("pairs", Array::U32(vec![self.pairs.len(), 3], sizes.collect()));
        parts.put(
            "pair_rho",
            Array::F64(vec![self.pairs.len()], self.pairs.values().map(|p| p.rho).collect()),
        );
        let entries = || self.pairs.values().flat_map(|pair| pair.coefficients.iter().copied());
        let rows: Vec<u32> = entries().map(|(row, _)| row).collect();
        let coefficients = entries().map(|(_, coefficient)| coefficient).collect();
        parts.put("pair_coefficients", Array::F32(vec![rows.len()], coefficients));
        parts.put("pair_rows", Array::U32(vec![rows.len()], rows));
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        vec![
            ("kept rows".into(), self.kept.len().into()),
            ("window".into(), self.window.into()),
            ("pairs".into(), self.pairs.len().into()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_tournament_neighbours_meet_and_winners_go_on() {
        let met = std::cell::RefCell::new(Vec::new());
        let winner = |low: usize, high: usize| {
            met.borrow_mut().push((low, high));
            // 3 beats its neighbours, 6 beats everyone.
            if high == 6 || (high == 3 && low != 6) { high } else { low }
        };
        assert_eq!(tournament(2..7, winner), 6);
        assert_eq!(*met.borrow(), [(2, 3), (4, 5), (3, 4), (3, 6)]);
        assert_eq!(tournament(4..5, |_, _| unreachable!("one label meets nobody")), 4);
    }
}
