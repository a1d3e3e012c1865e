//! Algorithm 1, once for all: gradient steps on mini-batches with the leaves held fixed, and after every so many of them a leaf
//! update with everything else held fixed.
//!
//! [`Algorithm1`] is the order of things alone: it says what comes [`next`](Algorithm1::next) and is told what came of it. Who owns
//! rows and parameters does the work: [`Training`] at once, through the trait [`Steps`], for a forest in memory and for a deep network;
//! the coordinator of [`shards`](crate::shards) by asking its workers. Nothing here knows of features, trees or devices, so that
//! several trainings can be advanced side by side.

use std::ops::{ControlFlow, Range};

use ldlf_core::checkpoint::Source;
use ldlf_core::early_stopping::{Patience, Verdict};
use ldlf_core::learner::Summary;
use ldlf_core::stored::Parts;
use ldlf_core::{
    Error, FitContext, FitEvent, InProgress, Inputs, Prediction, Result, Seed, StopReason, Threads,
};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// How the trees of a forest learn from a mini-batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ensemble {
    /// All trees at once, on the average of their losses: the paper's rule.
    Joint,
    /// One tree, drawn at random: the rule of deep neural decision forests.
    OneTree,
}

impl Ensemble {
    /// Which of so many trees learn in an iteration.
    pub fn trees_of(self, iteration: usize, trees: usize, seed: Seed) -> Range<usize> {
        match self {
            Ensemble::Joint => 0..trees,
            Ensemble::OneTree => {
                let mut generator = seed.named("tree").numbered(iteration as u64).generator();
                let tree = generator.random_range(0..trees as u64) as usize;
                tree..tree + 1
            }
        }
    }
}

/// When what is done. Iterations are counted from 1 once they are done.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// What messages call the learner.
    pub learner: &'static str,
    /// What to try when the loss is no longer finite.
    pub remedy: String,
    /// All iterations.
    pub total: usize,
    /// When leaves are updated; never where there are none.
    pub leaves: Option<LeafSchedule>,
    /// Iterations between two validations, where rows are held out.
    pub validate_every: Option<usize>,
    /// Validations without improvement before training stops.
    pub patience: usize,
    /// Relative change of the mean loss between leaf updates below which training has converged.
    pub tolerance: Option<f64>,
}

/// When leaves are updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafSchedule {
    /// Iterations between two updates.
    pub every: usize,
    /// Whether the first updates come sooner, after 4, 8, 16 ... iterations: equal leaves give a network no gradient at all.
    pub early: bool,
}

impl LeafSchedule {
    fn is_due(self, iteration: usize) -> bool {
        let soon = iteration < self.every && iteration >= 4 && iteration.is_power_of_two();
        iteration.is_multiple_of(self.every) || self.early && soon
    }
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// A gradient step on the next mini-batch.
    Step,
    /// A leaf update.
    Leaves,
    /// The K-L divergence of the held-out rows.
    Validate,
    /// The iteration is done: time to tell of it and to write a checkpoint.
    Report,
    /// Nothing any more.
    Done,
}

/// Where a training stands: the small state that a checkpoint keeps as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Progress {
    iteration: usize,
    stage: Stage,
    /// The iteration of the last leaf update.
    leaves_at: usize,
    patience: Patience,
    loss: Option<f64>,
    /// Sum and number of the losses since the last leaf update, and the mean before it.
    window: (f64, usize),
    previous: Option<f64>,
    /// Why there is nothing more to gain, where that is so.
    stopped: Option<StopReason>,
}

/// The order of things in one training.
pub struct Algorithm1 {
    schedule: Schedule,
    progress: Progress,
    /// Somebody wants it to end. A checkpoint does not keep that: who resumes it wants it to go on.
    asked_to_stop: Option<StopReason>,
}

impl Algorithm1 {
    /// Nothing done yet.
    pub fn new(schedule: Schedule) -> Self {
        let progress = Progress {
            iteration: 0,
            stage: Stage::Step,
            leaves_at: 0,
            patience: Patience::new(schedule.patience),
            loss: None,
            window: (0.0, 0),
            previous: None,
            stopped: None,
        };
        Algorithm1 { schedule, progress, asked_to_stop: None }
    }

    /// Iterations done: the number of the next step, counted from 0.
    pub fn iteration(&self) -> usize {
        self.progress.iteration
    }

    /// Whether some iteration was the best so far on held-out rows, and is the one to keep.
    pub fn has_best(&self) -> bool {
        self.progress.patience.best.is_some()
    }

    /// What comes next.
    pub fn next(&self) -> Stage {
        match self.progress.stage {
            // The last steps moved the splits; the leaves follow, unless an earlier iteration is kept.
            Stage::Step if self.is_over() => match self.leaves_are_behind() && !self.has_best() {
                true => Stage::Leaves,
                false => Stage::Done,
            },
            Stage::Validate if self.asked_to_stop.is_some() => Stage::Report,
            stage => stage,
        }
    }

    /// Whether no step comes any more, at most a last leaf update.
    pub fn is_over(&self) -> bool {
        let stopped = self.asked_to_stop.or(self.progress.stopped);
        let between_iterations = matches!(self.progress.stage, Stage::Step | Stage::Done);
        between_iterations && (stopped.is_some() || self.progress.iteration >= self.schedule.total)
    }

    fn leaves_are_behind(&self) -> bool {
        self.schedule.leaves.is_some() && self.progress.leaves_at != self.progress.iteration
    }

    /// A step was taken; fails when its loss says that the training has diverged.
    pub fn stepped(&mut self, loss: f64) -> Result<()> {
        let iteration = self.progress.iteration + 1;
        if !loss.is_finite() {
            let Schedule { learner, remedy, .. } = &self.schedule;
            return Err(Error::training(format!("the loss is not a finite number at iteration {iteration}"))
                .with_remedy(remedy.as_str())
                .of_learner(*learner));
        }
        self.progress.iteration = iteration;
        self.progress.loss = Some(loss);
        self.progress.window.0 += loss;
        self.progress.window.1 += 1;
        let due = self.schedule.leaves.is_some_and(|leaves| leaves.is_due(iteration));
        self.progress.stage = if due { Stage::Leaves } else { self.after_leaves() };
        Ok(())
    }

    /// The leaves were updated. `true` where that is news, and not the last of a training that is over.
    pub fn leaves_updated(&mut self) -> bool {
        self.progress.leaves_at = self.progress.iteration;
        if self.progress.stage != Stage::Leaves {
            self.progress.stage = Stage::Done;
            return false;
        }
        if self.has_converged() {
            self.progress.stopped = Some(StopReason::Converged);
        }
        self.progress.stage = self.after_leaves();
        true
    }

    fn after_leaves(&self) -> Stage {
        let due =
            self.schedule.validate_every.is_some_and(|every| self.progress.iteration.is_multiple_of(every));
        if due { Stage::Validate } else { Stage::Report }
    }

    /// Ends the window of a leaf update, and says whether the mean loss changed less than the tolerance since the one before.
    fn has_converged(&mut self) -> bool {
        let (sum, count) = std::mem::take(&mut self.progress.window);
        let mean = sum / count.max(1) as f64;
        match (self.schedule.tolerance, self.progress.previous.replace(mean)) {
            (Some(tolerance), Some(previous)) => (previous - mean).abs() < tolerance * previous.abs(),
            _ => false,
        }
    }

    /// The held-out rows were measured. `true` where that is the best so far, and to be kept.
    pub fn validated(&mut self, kl: f64) -> bool {
        let verdict = self.progress.patience.measured(self.progress.iteration, kl);
        if verdict == Verdict::Stop {
            self.progress.stopped = Some(StopReason::EarlyStopping);
        }
        self.progress.stage = Stage::Report;
        verdict == Verdict::Best
    }

    /// The iteration was told of.
    pub fn reported(&mut self) {
        self.progress.stage = Stage::Step;
    }

    /// The event of an iteration that is done.
    pub fn event(&self) -> FitEvent {
        let Progress { iteration, loss, .. } = self.progress;
        FitEvent::Iteration { iteration, total: self.schedule.total, loss }
    }

    /// Ends the training where it stands: at most one more leaf update comes.
    pub fn stop(&mut self, reason: StopReason) {
        self.asked_to_stop = Some(reason);
    }

    /// How it went.
    pub fn summary(&self) -> Summary {
        let Progress { iteration, patience, loss, stopped, .. } = &self.progress;
        Summary {
            iterations: *iteration,
            stopped: self.asked_to_stop.or(*stopped).unwrap_or(StopReason::Finished),
            best_iteration: patience.best.map(|_| patience.best_iteration),
            loss: *loss,
            validation_kl: patience.best,
            mean_kl: None,
        }
    }

    /// Takes over where another training stood, which may have been meant to be shorter.
    fn restore(&mut self, progress: Progress) {
        self.progress = progress;
        self.progress.patience.allowed = self.schedule.patience;
    }
}

/// What Algorithm 1 does its work on: rows, parameters, and the best parameters so far.
///
/// As [`InProgress`] it says what it would predict now; checkpoints are made of [`Steps::store`].
pub trait Steps: InProgress {
    /// A gradient step on the mini-batch of an iteration, counted from 0, with the leaves held fixed. Gives the loss before it.
    fn step(&mut self, iteration: usize) -> Result<f64>;

    /// A leaf update after so many iterations, with the splits held fixed.
    fn update_leaves(&mut self, iteration: usize);

    /// The mean K-L divergence of the rows that were held out.
    fn validate(&mut self) -> Result<f64>;

    /// Remembers the parameters as they are: they are the best so far.
    fn keep_best(&mut self);

    /// Goes back to the parameters that were kept.
    fn restore_best(&mut self) -> Result<()>;

    /// Adds all that [`Steps::restore`] needs.
    fn store(&self, parts: &mut Parts);

    /// Takes over what [`Steps::store`] kept, and with it the best parameters where there are some.
    fn restore(&mut self, parts: &Parts, best: bool) -> Result<()>;
}

/// A training whose work is done here and now.
pub struct Training<'a, S> {
    order: Algorithm1,
    steps: S,
    source: Source<'a>,
}

impl<'a, S: Steps> Training<'a, S> {
    /// Nothing done yet. `source` is what checkpoints say of the training.
    pub fn new(schedule: Schedule, steps: S, source: Source<'a>) -> Self {
        Training { order: Algorithm1::new(schedule), steps, source }
    }

    /// Trains to the end, or until the observer says so; from a checkpoint where the context has one. Gives the best that was found.
    pub fn run(mut self, context: &mut FitContext<'_>) -> Result<(S, Summary)> {
        if let Some(checkpoint) = context.resume.take() {
            self.resume(&checkpoint)?;
        }
        while self.order.next() != Stage::Done {
            if let Some(event) = self.advance()?
                && let ControlFlow::Break(reason) = context.report(event, &self)
            {
                self.order.stop(reason);
            }
        }
        if self.order.has_best() {
            self.steps.restore_best()?;
        }
        Ok((self.steps, self.order.summary()))
    }

    /// Does what comes next, and gives what is worth telling of it.
    fn advance(&mut self) -> Result<Option<FitEvent>> {
        let iteration = self.order.iteration();
        Ok(match self.order.next() {
            Stage::Step => {
                let loss = self.steps.step(iteration)?;
                self.order.stepped(loss)?;
                None
            }
            Stage::Leaves => {
                self.steps.update_leaves(iteration);
                self.order.leaves_updated().then_some(FitEvent::LeafUpdate { iteration })
            }
            Stage::Validate => {
                let kl = self.steps.validate()?;
                if self.order.validated(kl) {
                    self.steps.keep_best();
                }
                Some(FitEvent::Validation { iteration, kl })
            }
            Stage::Report => {
                self.order.reported();
                Some(self.order.event())
            }
            Stage::Done => None,
        })
    }

    fn resume(&mut self, checkpoint: &Parts) -> Result<()> {
        self.order.restore(self.source.progress(checkpoint)?);
        self.steps.restore(checkpoint, self.order.has_best())
    }
}

impl<S: Steps> InProgress for Training<'_, S> {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        self.steps.predict(inputs, threads)
    }

    fn rows_per_iteration(&self) -> Option<usize> {
        self.steps.rows_per_iteration()
    }

    fn validation_mae(&self) -> Option<f64> {
        self.steps.validation_mae()
    }

    fn checkpoint(&self) -> Option<Parts> {
        let mut parts = Parts::new();
        self.steps.store(&mut parts);
        self.source.put(&self.order.progress, &mut parts);
        Some(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(total: usize) -> Schedule {
        Schedule {
            learner: "sldlf",
            remedy: "try a learning_rate below 0.1".into(),
            total,
            leaves: Some(LeafSchedule { every: 3, early: false }),
            validate_every: None,
            patience: 2,
            tolerance: None,
        }
    }

    /// All stages to the end: `s`tep, `l`eaves, `v`alidate, `r`eport. Losses and divergences are those given, the last for ever.
    fn stages(order: &mut Algorithm1, losses: &[f64], kls: &[f64]) -> String {
        let at = |numbers: &[f64], place: usize| numbers[place.min(numbers.len() - 1)];
        let (mut letters, mut measured) = (String::new(), 0);
        loop {
            letters.push(match order.next() {
                Stage::Step => {
                    order.stepped(at(losses, order.iteration())).unwrap();
                    's'
                }
                Stage::Leaves => {
                    order.leaves_updated();
                    'l'
                }
                Stage::Validate => {
                    order.validated(at(kls, measured));
                    measured += 1;
                    'v'
                }
                Stage::Report => {
                    order.reported();
                    'r'
                }
                Stage::Done => return letters,
            });
        }
    }

    #[test]
    fn leaves_follow_every_few_steps_and_the_last() {
        let mut order = Algorithm1::new(schedule(7));
        assert_eq!(stages(&mut order, &[1.0], &[]), "srsrslrsrsrslrsrl");
        assert_eq!(order.summary().stopped, StopReason::Finished);
        assert_eq!(stages(&mut Algorithm1::new(schedule(6)), &[1.0], &[]), "srsrslrsrsrslr");
    }

    #[test]
    fn leaves_may_move_sooner_at_first() {
        let leaves = Some(LeafSchedule { every: 9, early: true });
        let mut order = Algorithm1::new(Schedule { leaves, ..schedule(9) });
        assert_eq!(stages(&mut order, &[1.0], &[]), "srsrsrslrsrsrsrslrslr");
    }

    #[test]
    fn without_leaves_there_are_steps_and_validations() {
        let mut order = Algorithm1::new(Schedule { leaves: None, validate_every: Some(2), ..schedule(5) });
        assert_eq!(stages(&mut order, &[1.0], &[1.0]), "srsvrsrsvrsr");
    }

    #[test]
    fn patience_ends_a_training_and_the_leaves_of_its_last_steps_stay_where_the_best_is_kept() {
        let mut order = Algorithm1::new(Schedule { validate_every: Some(2), ..schedule(100) });
        stages(&mut order, &[1.0], &[0.5, 0.4, 0.4]);
        let summary = order.summary();
        assert_eq!((summary.stopped, summary.iterations), (StopReason::EarlyStopping, 8));
        assert_eq!((summary.best_iteration, summary.validation_kl), (Some(4), Some(0.4)));
    }

    #[test]
    fn a_loss_that_hardly_changes_between_leaf_updates_ends_a_training() {
        let mut order = Algorithm1::new(Schedule { tolerance: Some(0.05), ..schedule(100) });
        stages(&mut order, &[3.0, 3.0, 3.0, 2.0, 2.0, 2.0, 1.99], &[]);
        assert_eq!((order.summary().stopped, order.iteration()), (StopReason::Converged, 9));
    }

    #[test]
    fn who_is_asked_to_stop_measures_no_more_but_lets_the_leaves_follow() {
        let mut order = Algorithm1::new(schedule(100));
        order.stepped(1.0).unwrap();
        order.stop(StopReason::TimeLimit);
        assert_eq!(stages(&mut order, &[1.0], &[]), "rl");
        assert_eq!(order.summary().stopped, StopReason::TimeLimit);
        let mut order = Algorithm1::new(Schedule { validate_every: Some(3), ..schedule(100) });
        (0..2).for_each(|_| {
            order.stepped(1.0).unwrap();
            order.reported();
        });
        order.stepped(1.0).unwrap();
        order.stop(StopReason::Interrupted);
        assert_eq!(stages(&mut order, &[1.0], &[]), "lr");
    }

    #[test]
    fn a_training_goes_on_at_the_stage_where_another_stood() {
        let mut order = Algorithm1::new(Schedule { validate_every: Some(3), ..schedule(6) });
        (0..2).for_each(|_| {
            order.stepped(1.0).unwrap();
            order.reported();
        });
        order.stepped(1.0).unwrap();
        order.leaves_updated();
        order.stop(StopReason::Interrupted);
        let kept = serde_json::to_string(&order.progress).unwrap();
        let mut longer = Algorithm1::new(Schedule { validate_every: Some(3), ..schedule(9) });
        longer.restore(serde_json::from_str(&kept).unwrap());
        assert_eq!(stages(&mut longer, &[1.0], &[1.0]), "vrsrsrslvrsrsrslvr");
    }

    #[test]
    fn a_loss_that_is_not_finite_is_refused_with_a_remedy() {
        let error = Algorithm1::new(schedule(5)).stepped(f64::NAN).unwrap_err().to_string();
        assert_eq!(
            error,
            "sldlf: the loss is not a finite number at iteration 1; try a learning_rate below 0.1"
        );
    }
}
