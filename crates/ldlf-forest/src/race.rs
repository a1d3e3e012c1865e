//! A fit that checks itself: which settings suit the data is seen on rows that trees leave out, inside the fit.
//!
//! Settings race with few trees and few iterations ([`next_stage`]); the best are trained to the end; they, a grown forest and the
//! mean are mixed by the weights that bring their out-of-fold predictions nearest to the targets. Every row that is predicted on
//! the way is predicted by trees that did not see it.

use std::ops::ControlFlow;

use ldlf_core::checkpoint::Source;
use ldlf_core::learner::Summary;
use ldlf_core::leave_out::RowGroups;
use ldlf_core::parameters::ParameterSet;
use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{
    Algorithm, Dataset, Error, Features, FitContext, FitEvent, Fitted, InProgress, Inputs, Matrix, Model,
    Observer, Prediction, Result, StopReason, Threads, measures,
};
use ldlf_math::random::permutation;
use serde::{Deserialize, Serialize};

use crate::algorithm1::Ensemble;
use crate::boosted::boost;
use crate::choice::{Choice, SHALLOW, STAGES, Tried, best_of, finalists, next_stage};
use crate::encoder::Scaling;
use crate::grown::{Grown, grow};
use crate::linear_member::{LinearMember, fit_linear};
use crate::plan::{Encoding, Iterations, LeaveOutPlan, Plan};
use crate::shallow::{Forest, ForestParameters, fit_as_told};
use crate::shallow_forest::ShallowForest;
use crate::training::{Checked, Outcome, Prepared, check_sizes, train_prepared};
use crate::weighing::{self, Members};

/// Trees per group of rows in the race: two, the fewest that show what averaging gains.
const TREES_PER_GROUP: usize = 2;

/// Iterations of a setting in the race.
const RACE_ITERATIONS: usize = 200;

/// Rows that the race looks at, drawn at random where there are more.
const RACE_ROWS: usize = 10_000;

/// Trees of the forest that scores speak of.
const FEWEST_IN_ALL: usize = 20;

/// Below this part of the mean's divergence more trees pay.
const STRONG_SIGNAL: f64 = 0.8;

/// Above this part of the mean's divergence half of the iterations give the same forest.
const FAINT_SIGNAL: f64 = 0.9;

/// Settings that are trained to the end.
const FINALISTS: usize = 2;

/// Fits a forest that chooses its settings.
pub(crate) fn fit_choosing(
    parameters: &ForestParameters,
    data: &Dataset,
    context: &mut FitContext<'_>,
) -> Result<Fitted> {
    let groups = group_count(parameters, data);
    if groups < 2 {
        return fit_as_told(parameters, Forest::FACTS.name, Ensemble::Joint, data, context);
    }
    let features = data.features()?;
    // What the parameters give must fit into memory as a whole, not only with the few trees of the race.
    let whole = parameters.plan(Forest::FACTS.name, Ensemble::Joint, features.cols(), data.labels());
    check_sizes(&whole, features.cols(), data.rows())?;
    Race { parameters, data, features, groups }.run(context)
}

/// Groups of rows that are left out in turn: fewer where there are few rows or few people.
fn group_count(parameters: &ForestParameters, data: &Dataset) -> usize {
    /// Rows that a group must have.
    const ROWS_PER_GROUP: usize = 4;
    let apart = match data.groups() {
        None => data.rows() / ROWS_PER_GROUP,
        Some(people) => {
            let mut names = people.to_vec();
            names.sort_unstable();
            names.dedup();
            names.len().min(data.rows() / ROWS_PER_GROUP)
        }
    };
    let wanted = if data.labels() > 1 { parameters.leave_out } else { 0 };
    wanted.min(apart)
}

struct Race<'a> {
    parameters: &'a ForestParameters,
    data: &'a Dataset,
    features: &'a Features,
    groups: usize,
}

/// Where a fit stands, as far as it is not a training that is under way.
#[derive(Default)]
struct Progress {
    tried: Vec<Tried>,
    /// Those that are trained to the end; none before the race is over.
    chosen: Vec<Tried>,
    finished: Vec<Outcome>,
    stopped: Option<StopReason>,
}

/// The small part of [`Progress`], as a checkpoint keeps it.
#[derive(Serialize, Deserialize)]
struct Kept {
    tried: Vec<Tried>,
    chosen: Vec<Tried>,
    finished: Vec<Summary>,
}

/// The detail of a checkpoint that holds [`Kept`].
const RACE: &str = "race";

impl Race<'_> {
    fn run(&self, context: &mut FitContext<'_>) -> Result<Fitted> {
        let source = Source::new(
            Forest::FACTS.name,
            self.parameters.to_settings(),
            &["iterations"],
            context.seed,
            self.data,
        );
        let mut under_way = context.resume.take();
        let mut progress = match &under_way {
            None => Progress::default(),
            Some(checkpoint) => {
                source.progress::<serde::de::IgnoredAny>(checkpoint)?;
                self.restore(checkpoint)?
            }
        };
        // A checkpoint from the race itself has no training under way.
        under_way = under_way.filter(|checkpoint| checkpoint.has("weights"));
        let groups = RowGroups::draw(self.data, self.groups, context.seed);
        let grown = grow(self.parameters.grown_trees, self.data, &groups, context)?;
        if progress.chosen.is_empty() {
            self.race(&mut progress, &source, &grown, context)?;
        }
        while progress.finished.len() < progress.chosen.len() && progress.stopped.is_none() {
            self.train_next(&mut progress, &groups, under_way.take(), context)?;
        }
        let Progress { tried, chosen, finished, stopped } = progress;
        let boosted = match stopped {
            None if !grown.is_empty() => {
                let reached = weighing::lowest(self.data, &finished, &grown);
                boost(self.data, &groups, reached, context)?
            }
            _ => None,
        };
        let linear = match stopped {
            None => self.linear(&chosen, weighing::lowest(self.data, &finished, &grown), &groups, context)?,
            Some(_) => None,
        };
        let interrupted = context.check_interrupted().is_err();
        let stopped = stopped.or(interrupted.then_some(StopReason::Interrupted));
        let mut members = Members { data: self.data, soft: finished, grown, boosted, linear };
        members.finish_grown(self.parameters.grown_trees, &context.threads)?;
        let summary = Summary {
            iterations: members.soft.iter().map(|outcome| outcome.summary.iterations).sum(),
            stopped: stopped.unwrap_or(StopReason::Finished),
            loss: members.soft.last().and_then(|outcome| outcome.summary.loss),
            validation_kl: chosen.first().map(|tried| tried.score),
            mean_kl: Some(self.data.mean_kl()),
            ..Summary::at_once()
        };
        members.assemble(tried, &chosen, summary)
    }

    /// The linear model beside the trees, with features scaled as they are read and by ranks.
    fn linear(
        &self,
        chosen: &[Tried],
        reached: f64,
        groups: &RowGroups,
        context: &mut FitContext<'_>,
    ) -> Result<Option<LinearMember>> {
        let Some(first) = chosen.first() else { return Ok(None) };
        let scalings = match (self.parameters.scaling.given(), self.features) {
            (Some(scaling), _) => vec![scaling],
            (None, Features::Dense(_)) => vec![Scaling::Standard, Scaling::Ranks],
            (None, Features::Sparse(_)) => vec![Scaling::Standard],
        };
        let encoding = self.plan(&first.choice, 1).encoding;
        let encodings: Vec<_> =
            scalings.into_iter().map(|scaling| Encoding { scaling, ..encoding }).collect();
        fit_linear(&encodings, self.data, groups, reached, context)
    }

    /// Lets settings race, stage by stage, and chooses those that are trained to the end.
    fn race(
        &self,
        progress: &mut Progress,
        source: &Source<'_>,
        grown: &[Grown],
        context: &mut FitContext<'_>,
    ) -> Result<()> {
        let sample = self.sample(context);
        let data = sample.as_ref().unwrap_or(self.data);
        let groups = RowGroups::draw(data, self.groups, context.seed);
        let mut prepared: Vec<Prepared<'_>> = Vec::new();
        for stage in 0..STAGES {
            let choices = next_stage(stage, &progress.tried, self.parameters, self.features);
            for choice in &choices {
                let encoding = self.race_plan(choice).encoding;
                if !prepared.iter().any(|known| known.is_for(encoding)) {
                    prepared.push(Prepared::of(encoding, data.tabular()?));
                }
            }
            let seed = context.seed;
            // Side by side: each on one thread, so that the outcome does not depend on their number.
            let scores = context.threads.map(&choices, |choice| {
                let plan = self.race_plan(choice);
                let known = prepared.iter().find(|known| known.is_for(plan.encoding));
                let known = known.expect("prepared just now");
                let trees = plan.shape.trees;
                let mut nobody = ();
                let mut own = FitContext::within(seed, Threads::one(), &mut nobody);
                let outcome = train_prepared(plan, known, Some(groups.clone()), &mut own)?;
                let checked = outcome.checked.expect("trees left out rows");
                Ok((checked.kl - checked.gain(FEWEST_IN_ALL.max(trees)), checked.out_of_fold))
            });
            let known: Vec<_> = scores.iter().map(|score| score.as_ref().ok()).collect();
            let handicaps: Vec<f64> =
                known.iter().map(|own| self.handicap(data, &choices, &known, *own)).collect();
            let scores: Vec<Result<f64>> =
                scores.into_iter().map(|score| score.map(|(score, _)| score)).collect();
            for ((choice, score), handicap) in choices.into_iter().zip(scores).zip(handicaps) {
                match score {
                    Ok(score) => progress.tried.push(Tried { choice, score, handicap }),
                    // A setting whose loss is no longer finite has lost; if all are such, nothing is left.
                    Err(Error::Training(_)) if stage > 0 || !progress.tried.is_empty() => {}
                    Err(error) => return Err(error),
                }
            }
            let score = best_of(&progress.tried).map_or(f64::INFINITY, |best| best.score);
            let state = Standing { race: self, progress, source, grown };
            let event = FitEvent::Validation { iteration: 0, kl: score };
            if let ControlFlow::Break(reason) = context.report(event, &state) {
                progress.stopped = Some(reason);
                return Ok(());
            }
        }
        progress.chosen = finalists(&progress.tried, self.most_finalists());
        Ok(())
    }

    /// How much a scaling must be ahead of ranks, which no map of a column spoils: one standard error of the difference.
    fn handicap(
        &self,
        data: &Dataset,
        choices: &[Choice],
        known: &[Option<&(f64, Matrix<f32>)>],
        own: Option<&(f64, Matrix<f32>)>,
    ) -> f64 {
        let ranks = choices.iter().zip(known).find(|(choice, _)| choice.scaling == Scaling::Ranks);
        let (Some((_, Some((_, ranks)))), Some((_, own))) = (ranks, own) else { return 0.0 };
        let of_row = |row: usize| {
            let target = data.targets().row(row);
            measures::kl(target, own.row(row)) - measures::kl(target, ranks.row(row))
        };
        let rows = data.rows() as f64;
        let mean = (0..data.rows()).map(of_row).sum::<f64>() / rows;
        let square = (0..data.rows()).map(|row| (of_row(row) - mean).powi(2)).sum::<f64>() / rows;
        (square / rows).sqrt()
    }

    /// A random part of very many rows; none where all are looked at.
    fn sample(&self, context: &FitContext<'_>) -> Option<Dataset> {
        (self.data.rows() > RACE_ROWS).then(|| {
            let mut generator = context.seed.named("race").generator();
            let mut rows = permutation(self.data.rows(), &mut generator);
            rows.truncate(RACE_ROWS);
            rows.sort_unstable();
            self.data.select(&rows)
        })
    }

    /// With few trees all of them go to one setting.
    fn most_finalists(&self) -> usize {
        let given = self.parameters.trees.given();
        let enough = given.is_none_or(|trees| trees >= FINALISTS * TREES_PER_GROUP * self.groups);
        if enough { FINALISTS } else { 1 }
    }

    /// How many trees a chosen setting gets, and how many iterations at least: effort goes where there is something to learn.
    fn effort(&self, chosen: &[Tried], number: usize) -> (usize, usize) {
        let kl_of_mean = self.data.mean_kl();
        let reached = chosen[0].score;
        let dense = matches!(self.features, Features::Dense(_));
        let trees = match chosen[number].choice.depth > SHALLOW {
            // Shallow trees are cheap.
            false => 40,
            true if dense && reached < STRONG_SIGNAL * kl_of_mean => 30,
            true => 20,
        };
        let least = self.parameters.min_iterations;
        let least = if reached > FAINT_SIGNAL * kl_of_mean { least / 2 } else { least };
        (self.parameters.trees.unwrap_or(trees) / chosen.len(), least)
    }

    fn plan(&self, choice: &Choice, trees: usize) -> Plan {
        let (features, labels) = (self.features.cols(), self.data.labels());
        let plan =
            self.parameters.plan_of(Forest::FACTS.name, Ensemble::Joint, features, labels, choice, trees);
        let groups = self.groups.min(trees);
        let given_back = self.parameters.given_back;
        Plan {
            leave_out: (groups >= 2).then_some(LeaveOutPlan { groups, given_back }),
            held_out: None,
            ..plan
        }
    }

    fn race_plan(&self, choice: &Choice) -> Plan {
        let plan = self.plan(choice, TREES_PER_GROUP * self.groups);
        let most = RACE_ITERATIONS.min(plan.iterations.most);
        Plan {
            iterations: Iterations { epochs: None, least: 0, most },
            leave_out: Some(LeaveOutPlan { groups: self.groups, given_back: 0.0 }),
            tolerance: None,
            ..plan
        }
    }

    /// Trains the next of the chosen settings to the end.
    fn train_next(
        &self,
        progress: &mut Progress,
        groups: &RowGroups,
        under_way: Option<Parts>,
        context: &mut FitContext<'_>,
    ) -> Result<()> {
        let (number, count) = (progress.finished.len(), progress.chosen.len());
        let (trees, least) = self.effort(&progress.chosen, number);
        let plan = Plan { number, ..self.plan(&progress.chosen[number].choice, trees) };
        let plan = Plan { iterations: Iterations { least, ..plan.iterations }, ..plan };
        let prepared = Prepared::of(plan.encoding, self.data.tabular()?);
        let total = plan.total_iterations(self.data.rows());
        let groups = plan.leave_out.is_some().then(|| groups.clone());
        let (seed, threads, deadline) = (context.seed, context.threads.clone(), context.deadline);
        let mut within =
            Within { progress, done: number * total, total: count * total, stopped: None, context };
        let mut own = FitContext::within(seed, threads, &mut within);
        (own.resume, own.deadline) = (under_way, deadline);
        let outcome = train_prepared(plan, &prepared, groups, &mut own)?;
        let stopped = within.stopped;
        progress.stopped = stopped;
        progress.finished.push(outcome);
        Ok(())
    }

    fn restore(&self, checkpoint: &Parts) -> Result<Progress> {
        let Kept { tried, chosen, finished } = checkpoint.detail(RACE)?;
        let (rows, labels) = (self.data.rows(), self.data.labels());
        let shape = ModelShape { features: self.features.cols(), labels };
        let mut outcomes = Vec::new();
        for (number, summary) in finished.into_iter().enumerate() {
            let own = checkpoint.within(&format!("final.{number}"))?;
            outcomes.push(Outcome {
                forest: ShallowForest::load(&own, &shape)?,
                summary,
                checked: match own.has("out_of_fold") {
                    true => Some(Checked::load(&own, rows, labels)?),
                    false => None,
                },
            });
        }
        Ok(Progress { tried, chosen, finished: outcomes, stopped: None })
    }
}

impl Progress {
    fn store(&self, parts: &mut Parts) {
        let finished = self.finished.iter().map(|outcome| outcome.summary.clone()).collect();
        for (number, outcome) in self.finished.iter().enumerate() {
            let mut own = Parts::new();
            outcome.forest.store(&mut own);
            if let Some(checked) = &outcome.checked {
                checked.store(&mut own);
            }
            parts.put_within(&format!("final.{number}"), own);
        }
        let kept = Kept { tried: self.tried.clone(), chosen: self.chosen.clone(), finished };
        parts.put_detail(RACE, kept);
    }
}

/// Hands what a training reports on to whoever watches the whole fit.
struct Within<'a, 'b, 'c> {
    progress: &'a Progress,
    /// Iterations of the trainings before this one.
    done: usize,
    total: usize,
    stopped: Option<StopReason>,
    context: &'b mut FitContext<'c>,
}

impl Observer for Within<'_, '_, '_> {
    fn observe(&mut self, event: &FitEvent, state: &dyn InProgress) -> ControlFlow<StopReason> {
        let done = self.done;
        let event = match event.clone() {
            FitEvent::Iteration { iteration, loss, .. } => {
                FitEvent::Iteration { iteration: done + iteration, total: self.total, loss }
            }
            FitEvent::LeafUpdate { iteration } => FitEvent::LeafUpdate { iteration: done + iteration },
            FitEvent::Validation { iteration, kl } => {
                FitEvent::Validation { iteration: done + iteration, kl }
            }
        };
        let state = Training { progress: self.progress, inner: state };
        let verdict = self.context.report(event, &state);
        if let ControlFlow::Break(reason) = verdict {
            self.stopped = Some(reason);
        }
        verdict
    }

    fn interrupted(&mut self) -> bool {
        self.context.check_interrupted().is_err()
    }
}

/// The fit while a chosen setting is trained.
struct Training<'a> {
    progress: &'a Progress,
    inner: &'a dyn InProgress,
}

impl InProgress for Training<'_> {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        self.inner.predict(inputs, threads)
    }

    fn rows_per_iteration(&self) -> Option<usize> {
        self.inner.rows_per_iteration()
    }

    fn checkpoint(&self) -> Option<Parts> {
        let mut parts = self.inner.checkpoint()?;
        self.progress.store(&mut parts);
        Some(parts)
    }
}

/// The fit between two stages of the race: all that could predict is the grown forest, or the mean.
struct Standing<'a> {
    race: &'a Race<'a>,
    progress: &'a Progress,
    source: &'a Source<'a>,
    grown: &'a [Grown],
}

impl InProgress for Standing<'_> {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        if let Some(grown) = self.grown.first() {
            return Model::predict(&grown.forest, inputs, threads);
        }
        let mean: Vec<f32> = self.race.data.mean_target().iter().map(|&share| share as f32).collect();
        let rows = inputs.rows();
        Ok(Prediction::Distributions(Matrix::new(rows, mean.len(), mean.repeat(rows))?))
    }

    fn checkpoint(&self) -> Option<Parts> {
        let mut parts = Parts::new();
        self.progress.store(&mut parts);
        self.source.put(&(), &mut parts);
        Some(parts)
    }
}
