//! The one loop: folds x learners -> results.
//!
//! Folds run in parallel and change nothing by it: what a fit may draw at random follows from the run's seed and the
//! fold's number, and results stand in the order of the plan.

mod job;
mod key;
mod outcome;

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::folds::Fold;
use crate::{Dataset, Error, FitEvent, Learner, Result, Seed, Threads};
pub use key::{FoldKey, fingerprints};
pub use outcome::{CrossValidation, FoldResult, LearnerResult, mean_and_deviation};

/// The rules of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Whatever is chosen is chosen inside the training rows. Goes with folds that are disjoint.
    Clean,
    /// A learner that iterates is measured on the test fold every ten steps and after the last, and the iteration with
    /// the best test K-L gives all its measures. Goes with [`folds::released`](crate::folds::released).
    Released,
}

impl Protocol {
    /// What the command line calls it.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Clean => "clean",
            Protocol::Released => "released",
        }
    }
}

/// What to run.
pub struct Plan<'a> {
    /// The rows.
    pub data: &'a Dataset,
    /// The learners, in the order of the table.
    pub learners: &'a [Box<dyn Learner>],
    /// The folds.
    pub folds: &'a [Fold],
    /// The rules.
    pub protocol: Protocol,
    /// The seed of every fit, through [`fold_seed`].
    pub seed: u64,
    /// How many threads there are in all; 0 means one for every core.
    pub threads: usize,
    /// Where finished folds are kept and looked up.
    pub journal: Option<&'a dyn FoldStore>,
    /// The program that fits, to the source: folds of another one are not taken from the journal.
    pub build: Build,
}

/// What a program was built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Build {
    /// Its version and its sources: programs with the same one fit the same.
    pub id: &'static str,
    /// The commit of the sources, where there is one; with a `+` where they differ from it.
    pub commit: Option<&'static str>,
}

impl Build {
    /// Of a program that does not know its sources: the version of this library.
    pub const VERSION: Build = Build { id: env!("CARGO_PKG_VERSION"), commit: None };
}

/// One learner on one fold, both counted from 0 in the order of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId {
    /// The number of the learner.
    pub learner: usize,
    /// The number of the fold.
    pub fold: usize,
}

/// Keeps finished folds, so that an interrupted run loses at most the folds it was in.
pub trait FoldStore: Sync {
    /// Whether the fold of a key is kept.
    fn has(&self, key: &FoldKey) -> bool;

    /// The fold of a key, if it is kept. A prediction that is not one distribution over `labels` labels (or one value) for each
    /// of the test `rows` is refused.
    fn get(&self, key: &FoldKey, rows: &[usize], labels: usize) -> Result<Option<FoldResult>>;

    /// Keeps a finished fold.
    fn put(&self, key: &FoldKey, result: &FoldResult) -> Result<()>;
}

/// Watches a run from several threads: for progress bars and Ctrl-C.
pub trait Watcher: Sync {
    /// Called on every event of every fit; `Break` interrupts the whole run.
    fn event(&self, job: JobId, event: &FitEvent) -> ControlFlow<()>;

    /// Called after a fold was measured.
    fn finished(&self, job: JobId, result: &FoldResult);

    /// Called before a fold is fitted.
    fn started(&self, _job: JobId) {}

    /// Called when a fold was found in the journal.
    fn resumed(&self, job: JobId, result: &FoldResult) {
        self.finished(job, result);
    }

    /// Called before every fold; `true` interrupts the run. Learners that report no events are stopped here.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Watches nothing.
impl Watcher for () {
    fn event(&self, _: JobId, _: &FitEvent) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn finished(&self, _: JobId, _: &FoldResult) {}
}

/// The seed of the fits on a fold: a draw that follows from the run's seed and the fold's number alone, so that it is the same
/// for every learner, thread and order. Fitting with it by hand repeats a fold.
pub fn fold_seed(seed: u64, fold: usize) -> u64 {
    Seed::new(seed).named("fold").numbered(fold as u64).generator().random()
}

/// Fits every learner on every fold and measures it on the fold's test rows.
///
/// Of `threads` threads, as many as there are jobs work on folds of their own and share out the rest. A learner that
/// fails stops the run with its learner and fold named; a watcher that breaks stops it with [`Error::Interrupted`].
/// Folds that were finished by then are in the journal, if there is one, and are not fitted again.
///
/// ```
/// use ldlf_core::evaluate::{Plan, Protocol, cross_validate};
/// use ldlf_core::{folds, generate, mean::Mean};
/// let data = generate::artificial(100, 0)?;
/// let plan = Plan {
///     data: &data,
///     learners: &[Box::new(Mean::params().check()?)],
///     folds: &folds::seeded(&data, 10, 0)?,
///     protocol: Protocol::Clean,
///     seed: 0,
///     threads: 1,
///     journal: None,
///     build: ldlf_core::evaluate::Build::VERSION,
/// };
/// let table = cross_validate(&plan, &())?;
/// assert!(table.results[0].mean.get("kl").is_some_and(|kl| kl > 0.0));
/// # Ok::<(), ldlf_core::Error>(())
/// ```
pub fn cross_validate(plan: &Plan<'_>, watcher: &dyn Watcher) -> Result<CrossValidation> {
    check(plan)?;
    let jobs: Vec<JobId> = (0..plan.learners.len())
        .flat_map(|learner| (0..plan.folds.len()).map(move |fold| JobId { learner, fold }))
        .collect();
    let keys: Option<Vec<FoldKey>> = plan.journal.map(|_| journal_keys(plan, &jobs));
    let mut results: Vec<Option<FoldResult>> = Vec::with_capacity(jobs.len());
    for (number, &job) in jobs.iter().enumerate() {
        let kept = match (plan.journal, &keys) {
            (Some(journal), Some(keys)) => {
                journal.get(&keys[number], &plan.folds[job.fold].test, plan.data.labels())?
            }
            _ => None,
        };
        if let Some(result) = &kept {
            watcher.resumed(job, result);
        }
        results.push(kept);
    }
    let pending: Vec<usize> = (0..jobs.len()).filter(|&number| results[number].is_none()).collect();

    let threads = if plan.threads == 0 { Threads::available() } else { plan.threads };
    let workers = threads.min(pending.len());
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let done = Mutex::new(Vec::with_capacity(pending.len()));
    let work = || -> Result<()> {
        let inner = Threads::new((threads / workers).max(1))?;
        while let Some(&number) = pending.get(next.fetch_add(1, Ordering::Relaxed)) {
            let id = jobs[number];
            if watcher.interrupted() {
                stop.store(true, Ordering::Relaxed);
            }
            if stop.load(Ordering::Relaxed) {
                break;
            }
            watcher.started(id);
            let outcome = job::run(plan, id, &inner, watcher, &stop).and_then(|result| {
                if let (Some(journal), Some(keys)) = (plan.journal, &keys) {
                    journal.put(&keys[number], &result)?;
                }
                watcher.finished(id, &result);
                Ok(result)
            });
            if outcome.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((number, outcome));
        }
        Ok(())
    };
    if workers == 1 {
        work()?;
    } else {
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            let joined = handles.into_iter().map(|handle| match handle.join() {
                Ok(ended) => ended,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            joined.collect::<Result<Vec<()>>>()
        })?;
    }

    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|(number, _)| *number);
    let mut interrupted = stop.into_inner();
    for (number, outcome) in done {
        match outcome {
            Ok(result) => results[number] = Some(result),
            Err(Error::Interrupted) => interrupted = true,
            Err(error) => return Err(error),
        }
    }
    match results.into_iter().collect::<Option<Vec<FoldResult>>>() {
        Some(results) if !interrupted => Ok(CrossValidation::new(plan, results)),
        _ => Err(Error::Interrupted),
    }
}

/// Which learners have every fold in the plan's journal: for these, [`cross_validate`] fits nothing.
pub fn finished(plan: &Plan<'_>) -> Vec<bool> {
    let Some(journal) = plan.journal else { return vec![false; plan.learners.len()] };
    let of_learner = |learner: usize| -> Vec<JobId> {
        (0..plan.folds.len()).map(|fold| JobId { learner, fold }).collect()
    };
    let jobs: Vec<JobId> = (0..plan.learners.len()).flat_map(of_learner).collect();
    let kept: Vec<bool> = journal_keys(plan, &jobs).iter().map(|key| journal.has(key)).collect();
    kept.chunks(plan.folds.len().max(1)).map(|folds| folds.iter().all(|kept| *kept)).collect()
}

/// Refuses a plan with nothing to do, or whose folds are not of its data.
fn check(plan: &Plan<'_>) -> Result<()> {
    if plan.learners.is_empty() {
        return Err(Error::usage("there is no learner to evaluate").with_remedy("name at least one"));
    }
    if plan.folds.is_empty() {
        return Err(Error::usage("there is no fold to evaluate on"));
    }
    let rows = plan.data.rows();
    for (number, fold) in plan.folds.iter().enumerate() {
        if fold.training.is_empty() || fold.test.is_empty() {
            let part = if fold.test.is_empty() { "test on" } else { "learn from" };
            return Err(Error::usage(format!("fold {number} has no rows to {part}")));
        }
        if let Some(row) = fold.training.iter().chain(&fold.test).find(|&&row| row >= rows) {
            return Err(Error::usage(format!(
                "fold {number} names row {row}, {} has {rows} rows counted from 0",
                plan.data.name()
            )));
        }
    }
    Ok(())
}

fn journal_keys(plan: &Plan<'_>, jobs: &[JobId]) -> Vec<FoldKey> {
    let of_fold = fingerprints(plan.data, plan.folds);
    let key = |job: &JobId| {
        let learner = &plan.learners[job.learner];
        FoldKey {
            build: plan.build.id.to_string(),
            dataset: plan.data.name().to_string(),
            fingerprint: of_fold[job.fold].clone(),
            learner: learner.name().to_string(),
            parameters: learner.settings(),
            protocol: plan.protocol,
            seed: plan.seed,
            fold: job.fold,
        }
    };
    jobs.iter().map(key).collect()
}
