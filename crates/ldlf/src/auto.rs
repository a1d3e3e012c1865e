//! `sldlf-auto`: a forest that checks itself and, unless told otherwise, baselines, mixed by what they say about rows held out inside the
//! training rows.
//!
//! Members are fitted on folds of the training rows and predict the held-out rows; the weights of the mixture bring these predictions
//! nearest to their targets ([`mixture_weights`]); members of next to no weight are dropped, and the rest is fitted again on all rows.
//! The candidates come in a fixed order, so that the model depends on the clock only where a budget is asked for.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use ldlf_core::folds::{Fold, seeded};
use ldlf_core::learner::Summary;
use ldlf_core::measures::{KL, mean_over_rows};
use ldlf_core::mixture::{self, mix, mixture_weights};
use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{
    Algorithm, Auto, Dataset, Error, Facts, Features, FitContext, FitEvent, Fitted, InProgress, Inputs,
    Learner, Matrix, Model, Observer, Prediction, Result, Settings, StopReason, Threads,
};
use ldlf_math::random::permutation;

use crate::blend::{Blend, Member, Trial, load};
use crate::registry;

ldlf_core::parameters! {
    /// Parameters of `sldlf-auto`.
    pub struct AutoForestParameters, builder AutoForestParams for AutoForest {
        /// Whether baselines may join the forests.
        baselines: bool = true;
        /// Folds of the training rows; one after the other is held out, until 350 rows were.
        folds: usize = 5, at_least 2, at_most 100;
        /// Seconds after which nothing further is tried; none tries everything, so that the model does not depend on the clock.
        budget: Option<f64> = None, above 0;
        /// Maximum number of iterations of a forest; auto leaves it to the forest.
        iterations: Auto<usize> = Auto::Auto, at_least 1, known_as "max_iter";
    }
}

/// Rows that the search uses at most; more would hardly change its result.
const SEARCH_ROWS: usize = 20_000;

/// Held-out rows that are enough to compare by.
const ENOUGH_ROWS: usize = 350;

/// Entries of the features times labels above which boosting, whose trees have one label each, would take the whole budget.
const BOOSTED_ENTRIES: usize = 10_000_000;

/// Rows above which methods that factorise a matrix of all pairs of rows are left out: their time grows with the cube of the rows.
const KERNEL_ROWS: usize = 10_000;

/// Baselines that factorise such a matrix.
const KERNEL_METHODS: [&str; 2] = ["kernel-ridge", "ldsvr"];

/// One thing to try.
struct Candidate {
    learner: &'static str,
}

/// The forest, which chooses its own settings.
const FOREST: Candidate = Candidate { learner: "sldlf" };

/// Baselines that complement forests, the quick ones first.
const BASELINES: [Candidate; 8] = [
    baseline("random-forest"),
    baseline("extra-trees"),
    baseline("aa-knn"),
    baseline("kernel-ridge"),
    baseline("bfgs-ldl"),
    baseline("sce-ldl"),
    baseline("ldsvr"),
    baseline("ldlogitboost"),
];

const fn baseline(learner: &'static str) -> Candidate {
    Candidate { learner }
}

impl Candidate {
    fn build(&self, parameters: &AutoForestParameters) -> Result<Box<dyn Learner>> {
        let mut settings = Settings::default();
        if let (Some(iterations), "sldlf") = (parameters.iterations.given(), self.learner) {
            settings.set("iterations", iterations);
        }
        registry::build(self.learner, None, &settings)
    }
}

/// The state of a search, which has no model yet.
struct Searching;

impl InProgress for Searching {
    fn predict(&self, _: &Inputs, _: &Threads) -> Result<Prediction> {
        Err(Error::usage("sldlf-auto is still searching: there is no model yet"))
    }
}

/// Lets Ctrl-C through to the fits of the search.
struct Within<'a, 'b>(&'a mut FitContext<'b>);

impl Observer for Within<'_, '_> {
    fn observe(&mut self, _: &FitEvent, _: &dyn InProgress) -> ControlFlow<StopReason> {
        if self.interrupted() {
            ControlFlow::Break(StopReason::Interrupted)
        } else {
            ControlFlow::Continue(())
        }
    }

    fn interrupted(&mut self) -> bool {
        self.0.check_interrupted().is_err()
    }
}

fn fit(
    learner: &dyn Learner,
    data: &Dataset,
    deadline: Option<Instant>,
    context: &mut FitContext<'_>,
) -> Result<Fitted> {
    let (seed, threads) = (context.seed.value(), context.threads.clone());
    let mut within = Within(context);
    let mut own = FitContext::new(seed, threads, &mut within);
    own.deadline = deadline;
    learner.fit(data, &mut own)
}

/// The predictions of a candidate for the held-out rows of each fold, after training on the others. `first` gets the model of the first
/// fold, also of one that Ctrl-C ended early.
fn predict_across(
    learner: &dyn Learner,
    data: &Dataset,
    folds: &[Fold],
    deadline: Option<Instant>,
    context: &mut FitContext<'_>,
    first: &mut Option<Box<dyn Model>>,
) -> Result<Matrix<f32>> {
    let mut out = Vec::new();
    for fold in folds {
        let model = fit(learner, &data.select(&fold.training), deadline, context)?.model;
        if context.check_interrupted().is_err() {
            first.get_or_insert(model);
            return Err(Error::Interrupted);
        }
        let held_back = data.inputs().select(&fold.test);
        out.extend_from_slice(model.predict(&held_back, &context.threads)?.into_distributions()?.as_slice());
        first.get_or_insert(model);
    }
    Ok(Matrix::new(out.len() / data.labels(), data.labels(), out)?)
}

/// As many of the folds as hold out enough rows; none where there are too few rows to hold any out.
fn comparing_folds(data: &Dataset, folds: usize, seed: u64) -> Vec<Fold> {
    let counts = |rows: &[usize]| rows.iter().any(|&row| data.weight(row) > 0.0);
    let mut held_back = 0;
    let mut all = seeded(data, folds, seed).unwrap_or_default();
    all.retain(|fold| {
        let wanted = held_back < ENOUGH_ROWS && counts(&fold.training) && counts(&fold.test);
        held_back += if wanted { fold.test.len() } else { 0 };
        wanted
    });
    all
}

/// The search at work.
struct Search<'a> {
    parameters: &'a AutoForestParameters,
    data: &'a Dataset,
    /// Rows that the members of the mixture are fitted on at the end, of which `data` may be a sample.
    all_rows: usize,
    /// The rows of all `folds` that were held out, in their order.
    held_back: Dataset,
    folds: Vec<Fold>,
    end: Option<Instant>,
    /// How many things will be tried.
    planned: usize,
    trials: Vec<Trial>,
    /// The first model of the candidate at work, for when Ctrl-C ends the search before any candidate is done.
    unfinished: Option<(&'static Candidate, Box<dyn Model>)>,
    /// Why the search ended before all was tried, if it did.
    cut: Option<StopReason>,
}

impl<'a> Search<'a> {
    fn new(
        parameters: &'a AutoForestParameters,
        data: &'a Dataset,
        all_rows: usize,
        context: &FitContext<'_>,
    ) -> Self {
        let folds = comparing_folds(data, parameters.folds, context.seed.value());
        let rows: Vec<usize> = folds.iter().flat_map(|fold| fold.test.iter().copied()).collect();
        let budget = parameters.budget.and_then(|budget| Duration::try_from_secs_f64(budget).ok());
        let ends = [budget.and_then(|budget| Instant::now().checked_add(budget)), context.deadline];
        Search {
            parameters,
            data,
            all_rows,
            held_back: data.select(&rows),
            folds,
            end: ends.into_iter().flatten().min(),
            planned: 1 + parameters.baselines().len(),
            trials: Vec::new(),
            unfinished: None,
            cut: None,
        }
    }

    fn is_late(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Tries one candidate on the folds; `None` where it fails or the budget is spent.
    fn try_out(
        &mut self,
        candidate: &'static Candidate,
        context: &mut FitContext<'_>,
    ) -> Result<Option<Tried>> {
        let mut trial = Trial { candidate: candidate.learner.to_string(), kl: None, verdict: String::new() };
        let mut tried = None;
        let entries = match self.data.features()? {
            Features::Dense(m) => m.as_slice().len(),
            Features::Sparse(m) => m.stored(),
        };
        if self.is_late() {
            self.cut = Some(StopReason::TimeLimit);
            trial.verdict = "not tried: the budget was spent".to_string();
        } else if candidate.learner == "ldlogitboost" && entries * self.data.labels() > BOOSTED_ENTRIES {
            trial.verdict = "not tried: too slow with so many rows and labels".to_string();
        } else if KERNEL_METHODS.contains(&candidate.learner) && self.all_rows > KERNEL_ROWS {
            trial.verdict = "not tried: too slow with so many rows".to_string();
        } else {
            let learner = candidate.build(self.parameters)?;
            let mut first = None;
            match predict_across(&*learner, self.data, &self.folds, self.end, context, &mut first) {
                Ok(_) if self.is_late() => {
                    self.cut = Some(StopReason::TimeLimit);
                    trial.verdict = "stopped: the budget was spent".to_string();
                }
                Ok(predicted) => {
                    let kl = self.kl(&predicted);
                    trial.kl = Some(kl);
                    tried = Some(Tried { candidate, trial: self.trials.len(), predicted, kl, first });
                }
                Err(Error::Interrupted) => {
                    self.unfinished = first.map(|model| (candidate, model));
                    return Err(Error::Interrupted);
                }
                Err(error) => trial.verdict = format!("failed: {error}"),
            }
        }
        self.trials.push(trial);
        let event = FitEvent::Iteration {
            iteration: self.trials.len(),
            total: self.planned,
            loss: tried.as_ref().map(|tried| tried.kl),
        };
        if let ControlFlow::Break(StopReason::Interrupted) = context.report(event, &Searching) {
            self.cut = Some(StopReason::Interrupted);
        }
        Ok(tried)
    }

    /// K-L over the held-out rows, or the first of them.
    fn kl(&self, predicted: &Matrix<f32>) -> f64 {
        let rows: Vec<usize> = (0..predicted.rows()).collect();
        let seen = self.held_back.select(&rows);
        mean_over_rows(&KL, seen.targets(), predicted, seen.weights())
    }

    /// The members of the mixture with their weights, and its K-L on the held-out rows.
    fn members(&mut self, context: &mut FitContext<'_>) -> Result<(Vec<Weighed>, Option<f64>)> {
        let only_forest = || Ok((vec![Weighed { candidate: &FOREST, weight: 1.0, first: None }], None));
        if self.folds.is_empty() {
            return only_forest();
        }
        let mut tried = Vec::new();
        for candidate in [&FOREST].into_iter().chain(self.parameters.baselines()) {
            match self.try_out(candidate, context) {
                Ok(found) => tried.extend(found),
                Err(Error::Interrupted) => self.cut = Some(StopReason::Interrupted),
                Err(error) => return Err(error),
            }
            if self.cut == Some(StopReason::Interrupted) {
                break;
            }
        }
        if tried.is_empty() {
            return match (self.cut, self.unfinished.take()) {
                (Some(StopReason::Interrupted), None) => Err(Error::Interrupted),
                (Some(StopReason::Interrupted), Some((candidate, model))) => {
                    Ok((vec![Weighed { candidate, weight: 1.0, first: Some(model) }], None))
                }
                _ => only_forest(),
            };
        }
        let predictions: Vec<&Matrix<f32>> = tried.iter().map(|tried| &tried.predicted).collect();
        let candidates: Vec<mixture::Candidate<'_>> =
            predictions.iter().map(|predicted| mixture::Candidate { predicted, gain: 0.0 }).collect();
        let weights = mixture_weights(&self.held_back, &candidates);
        let kl = self.kl(&mix(&weights, &predictions)?);
        let mut members = Vec::new();
        for (tried, weight) in tried.into_iter().zip(weights) {
            self.trials[tried.trial].verdict = match weight {
                0.0 => "left out: the others say what it says".to_string(),
                weight => format!("weight {weight:.2}"),
            };
            if weight > 0.0 {
                members.push(Weighed { candidate: tried.candidate, weight, first: tried.first });
            }
        }
        Ok((members, Some(kl)))
    }
}

/// A candidate and its part of the mixture.
struct Weighed {
    candidate: &'static Candidate,
    weight: f64,
    /// Its model of the first fold, which stands in when Ctrl-C leaves no time for one of all rows.
    first: Option<Box<dyn Model>>,
}

/// A candidate that was fitted and measured.
struct Tried {
    candidate: &'static Candidate,
    /// Its place among the trials.
    trial: usize,
    /// Its predictions for the held-out rows.
    predicted: Matrix<f32>,
    kl: f64,
    /// Its model of the first fold.
    first: Option<Box<dyn Model>>,
}

impl AutoForestParameters {
    fn baselines(&self) -> &'static [Candidate] {
        if self.baselines { &BASELINES } else { &[] }
    }
}

/// Searches, mixes, and fits the mixture.
pub struct AutoForest;

impl Algorithm for AutoForest {
    type Parameters = AutoForestParameters;

    /// A mixture exports when all its members do, so that this is only known after the fit.
    const FACTS: Facts = Facts::new(
        "sldlf-auto",
        "tries forests and baselines on rows held out inside the training rows, and mixes those that help",
        "stacking: D. Wolpert, Stacked generalization, Neural Networks 1992; weights as the paper moves its leaves",
    );

    fn fit(
        parameters: &AutoForestParameters,
        data: &Dataset,
        context: &mut FitContext<'_>,
    ) -> Result<Fitted> {
        let sample = sample_of(data, context);
        let mut search = Search::new(parameters, sample.as_ref().unwrap_or(data), data.rows(), context);
        let (chosen, validation_kl) = search.members(context)?;
        let Search { trials, mut cut, .. } = search;
        let mut members = Vec::new();
        for Weighed { candidate, weight, first } in chosen {
            let learner = candidate.build(parameters)?;
            let is_late = cut == Some(StopReason::Interrupted);
            let fitted = match &first {
                Some(_) if is_late => Err(Error::Interrupted),
                _ => fit(&*learner, data, context.deadline, context),
            };
            if context.check_interrupted().is_err() {
                cut = Some(StopReason::Interrupted);
            }
            let model = match (fitted, first) {
                // A whole model of one fold is better than a half of all rows.
                (Ok(_) | Err(Error::Interrupted), Some(first)) if cut == Some(StopReason::Interrupted) => {
                    first
                }
                (fitted, _) => fitted?.model,
            };
            members.push(Member {
                learner: candidate.learner.to_string(),
                settings: learner.settings(),
                weight,
                model,
            });
        }
        let stopped = cut.unwrap_or(StopReason::Finished);
        let summary = Summary { iterations: trials.len(), validation_kl, stopped, ..Summary::at_once() };
        Ok(Fitted::new(Box::new(Blend { members, trials }), summary))
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        load(parts, shape)
    }
}

/// A random sample of very many rows; none where all are used.
fn sample_of(data: &Dataset, context: &FitContext<'_>) -> Option<Dataset> {
    (data.rows() > SEARCH_ROWS).then(|| {
        let mut generator = context.seed.named("search").generator();
        let mut rows = permutation(data.rows(), &mut generator);
        rows.truncate(SEARCH_ROWS);
        rows.sort_unstable();
        data.select(&rows)
    })
}
