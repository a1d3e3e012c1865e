//! What happens while a fit runs: a bar with the time left, checkpoints, Ctrl-C.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ldlf::internals::core::checkpoint::Origin;
use ldlf::internals::core::evaluate::{FoldResult, JobId, Watcher};
use ldlf::internals::core::stored::Parts;
use ldlf::internals::io::output::Overwrite;
use ldlf::{Error, FitEvent, InProgress, Learner, Observer, Result, Seed, StopReason};

use crate::printer::Printer;

/// How often Ctrl-C was pressed.
static PRESSED: AtomicUsize = AtomicUsize::new(0);

/// How long a log stays silent: stderr that is not a terminal gets a line this often.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// How often the words beside a bar change.
const DRAW_EVERY: Duration = Duration::from_millis(120);

/// A step is drawn in this many parts: long fits move the bar before they are done.
const PARTS: u64 = 1000;

/// From now on the first Ctrl-C only raises a flag; the second ends the process at once.
pub fn listen_for_ctrl_c() {
    let handler = || {
        if PRESSED.fetch_add(1, Ordering::SeqCst) > 0 {
            std::process::exit(crate::exit::Exit::Interrupted as i32);
        }
        let _ = writeln!(std::io::stderr(), "\nstopping; press Ctrl-C again to stop at once");
    };
    // Without a handler Ctrl-C ends the process: a fair fallback.
    let _ = ctrlc::set_handler(handler);
}

/// Whether Ctrl-C was pressed.
pub fn interrupted() -> bool {
    PRESSED.load(Ordering::SeqCst) > 0
}

/// A bar on a terminal, a line now and then in a log, nothing when quiet.
pub struct ProgressLine {
    bar: Option<ProgressBar>,
    log: bool,
    /// When something was last said; a log starts with a pause, a bar at once.
    last_words: Option<Instant>,
    noun: &'static str,
}

impl ProgressLine {
    /// Progress in steps called `noun` ("iteration", "fit"); the bar appears with the first step.
    pub fn new(printer: &Printer, noun: &'static str) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = (!printer.is_quiet() && terminal).then(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(8));
            // The time left stands first: what is at work is cut where the line ends. In 80 columns the K-L of validation has room.
            let style = ProgressStyle::with_template("{bar:12} [{elapsed}, {eta} left] {wide_msg}")
                .expect("the template is well formed");
            bar.with_style(style)
        });
        let last_words = (!terminal).then(Instant::now);
        ProgressLine { bar, log: !printer.is_quiet() && !terminal, last_words, noun }
    }

    /// `done` of `total` steps are done, and `begun` more in parts; `details` says more.
    pub fn step(&mut self, done: usize, begun: f64, total: usize, details: impl FnOnce() -> String) {
        let every = if self.bar.is_some() { DRAW_EVERY } else { LOG_EVERY };
        let due = self.last_words.is_none_or(|last| last.elapsed() >= every);
        if let Some(bar) = &self.bar {
            bar.set_length((total as u64).saturating_mul(PARTS));
            bar.set_position((done as u64).saturating_mul(PARTS) + (begun * PARTS as f64) as u64);
            // Words change far more often than the bar is drawn, and making them is not free.
            if due {
                bar.set_message(format!("{} {done}/{total} {}", self.noun, details()));
                self.last_words = Some(Instant::now());
            }
        } else if self.log && due {
            let _ = writeln!(std::io::stderr(), "{} {done} of {total} {}", self.noun, details());
            self.last_words = Some(Instant::now());
        }
    }

    /// `done` steps are done; their total is unknown.
    pub fn count(&mut self, done: usize, details: impl FnOnce() -> String) {
        let every = if self.bar.is_some() { DRAW_EVERY } else { LOG_EVERY };
        if self.last_words.is_some_and(|last| last.elapsed() < every) {
            return;
        }
        if let Some(bar) = &self.bar {
            let style = ProgressStyle::with_template("{spinner} [{elapsed}] {wide_msg}");
            bar.set_style(style.expect("the template is well formed"));
            bar.tick();
            bar.set_message(format!("{} {done} {}", self.noun, details()));
        } else if self.log {
            let _ = writeln!(std::io::stderr(), "{} {done} {}", self.noun, details());
        }
        self.last_words = Some(Instant::now());
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Reads a checkpoint, and refuses it when it comes from another training than this. The data are checked later.
pub fn read_checkpoint(path: &Path, learner: &dyn Learner, seed: u64) -> Result<Parts> {
    let parts = ldlf::internals::io::model_file::read_parts(path)?;
    let Some(origin) = Origin::of(&parts)? else {
        return Err(Error::model_file("is not a checkpoint").in_file(path));
    };
    origin
        .check(learner.name(), &learner.settings(), Seed::new(seed))
        .map_err(|error| error.recast(Error::Usage).in_file(path))?;
    Ok(parts)
}

/// Where and how often to write checkpoints.
pub struct Checkpoints {
    /// The file; each checkpoint replaces the one before.
    pub path: PathBuf,
    /// Iterations between two.
    pub every: usize,
    /// The learner's name.
    pub learner: &'static str,
}

/// Watches one training.
pub struct TrainingWatcher {
    progress: ProgressLine,
    checkpoints: Option<Checkpoints>,
    stop_after: Option<usize>,
    /// What a row is called.
    noun: &'static str,
    /// The iteration that was seen first, and when: a fit may be resumed, and its first step takes longest.
    first: Option<(usize, Instant)>,
    validation_kl: Option<f64>,
    /// What went wrong with a checkpoint; the fit ends then.
    pub failure: Option<Error>,
    /// Whether `--stop-after` ended the fit.
    pub reached_stop: bool,
    /// Whether a checkpoint was written.
    pub wrote_checkpoint: bool,
}

impl TrainingWatcher {
    /// Shows progress in rows called `noun`, writes checkpoints and stops after an iteration, as asked.
    pub fn new(
        printer: &Printer,
        checkpoints: Option<Checkpoints>,
        stop_after: Option<usize>,
        noun: &'static str,
    ) -> Self {
        TrainingWatcher {
            progress: ProgressLine::new(printer, "iteration"),
            checkpoints,
            stop_after,
            noun,
            first: None,
            validation_kl: None,
            failure: None,
            reached_stop: false,
            wrote_checkpoint: false,
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.progress.finish();
    }

    fn write_checkpoint(&mut self, state: &dyn InProgress) -> Result<()> {
        let Some(checkpoints) = &self.checkpoints else { return Ok(()) };
        let Some(parts) = state.checkpoint() else {
            return Err(Error::usage(format!(
                "{} cannot be resumed, so it writes no checkpoints; leave out --checkpoint",
                checkpoints.learner
            )));
        };
        ldlf::internals::io::model_file::write_parts(&parts, &checkpoints.path, Overwrite::Yes)?;
        self.wrote_checkpoint = true;
        Ok(())
    }
}

impl Observer for TrainingWatcher {
    fn interrupted(&mut self) -> bool {
        interrupted()
    }

    fn observe(&mut self, event: &FitEvent, state: &dyn InProgress) -> ControlFlow<StopReason> {
        let (iteration, total, loss) = match *event {
            FitEvent::Validation { kl, .. } => {
                self.validation_kl = Some(kl);
                return ControlFlow::Continue(());
            }
            FitEvent::LeafUpdate { .. } => return ControlFlow::Continue(()),
            FitEvent::Iteration { iteration, total, loss } => (iteration, total, loss),
        };
        let (first, since) = *self.first.get_or_insert_with(|| (iteration, Instant::now()));
        let (validation, noun) = (self.validation_kl, self.noun);
        self.progress.step(iteration, 0.0, total, || {
            let steps = iteration.saturating_sub(first) as f64;
            let rate = |rows: usize| {
                format!(" {:.0} {noun}s/s", steps * rows as f64 / since.elapsed().as_secs_f64().max(1e-9))
            };
            let words = [
                validation.map(|kl| format!(" validation K-L {kl:.4}")),
                loss.map(|loss| format!(" loss {loss:.4}")),
                state.validation_mae().map(|mae| format!(" MAE {mae:.3}")),
                state.rows_per_iteration().filter(|_| steps > 0.0).map(rate),
            ];
            words.into_iter().flatten().collect::<String>().trim_start().to_string()
        });
        let stop = interrupted();
        let reached = self.stop_after.is_some_and(|last| iteration >= last);
        // The first iteration shows whether checkpoints can be written at all, before anything is lost.
        let due = self
            .checkpoints
            .as_ref()
            .is_some_and(|c| !self.wrote_checkpoint || iteration.is_multiple_of(c.every));
        if (stop || reached || due)
            && let Err(error) = self.write_checkpoint(state)
        {
            self.failure = Some(error);
            return ControlFlow::Break(StopReason::Interrupted);
        }
        self.reached_stop = reached && !stop;
        if stop || reached { ControlFlow::Break(StopReason::Interrupted) } else { ControlFlow::Continue(()) }
    }
}

/// Watches the fits of an evaluation, which run on several threads.
pub struct FoldWatcher {
    names: Vec<String>,
    total: usize,
    state: Mutex<Standing>,
}

/// The state of an evaluation.
struct Standing {
    progress: ProgressLine,
    done: usize,
    /// The fraction done of every running fit.
    begun: BTreeMap<JobId, f64>,
}

impl FoldWatcher {
    /// Counts the fits of `names` on `folds` folds each.
    pub fn new(printer: &Printer, names: Vec<String>, folds: usize) -> Self {
        let total = names.len() * folds;
        let standing =
            Standing { progress: ProgressLine::new(printer, "fit"), done: 0, begun: BTreeMap::new() };
        FoldWatcher { names, total, state: Mutex::new(standing) }
    }

    /// Counts `total` fits of several evaluations; [`FoldWatcher::turn_to`] names the one at work.
    pub fn of_several(printer: &Printer, total: usize) -> Self {
        FoldWatcher { total, ..FoldWatcher::new(printer, Vec::new(), 0) }
    }

    /// From now on shows the fits of these learners.
    pub fn turn_to(&mut self, names: Vec<String>) {
        self.names = names;
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.standing().progress.finish();
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn show(&self, standing: &mut Standing, job: JobId, words: impl FnOnce() -> String) {
        let Standing { progress, done, begun } = standing;
        let name = self.names.get(job.learner).map_or("", String::as_str);
        let details = || format!("{name} fold {}{}", job.fold, words());
        progress.step(*done, begun.values().sum(), self.total, details);
    }
}

impl Watcher for FoldWatcher {
    fn event(&self, job: JobId, event: &FitEvent) -> ControlFlow<()> {
        if interrupted() {
            return ControlFlow::Break(());
        }
        // A fit must not wait for another one that is just being shown.
        if let FitEvent::Iteration { iteration, total, .. } = *event
            && let Ok(mut standing) = self.state.try_lock()
        {
            standing.begun.insert(job, iteration as f64 / total.max(1) as f64);
            self.show(&mut standing, job, || format!(" iteration {iteration}/{total}"));
        }
        ControlFlow::Continue(())
    }

    fn finished(&self, job: JobId, _: &FoldResult) {
        let mut standing = self.standing();
        standing.done += 1;
        standing.begun.remove(&job);
        self.show(&mut standing, job, || " done".into());
    }

    fn interrupted(&self) -> bool {
        interrupted()
    }
}
