//! `ldlf cv`: learners side by side, by cross-validation.

mod markdown;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use ldlf::folds::{self, Fold};
use ldlf::internals::core::Fitted;
use ldlf::internals::core::evaluate::{CrossValidation, FoldStore, Plan, Protocol, cross_validate};
use ldlf::internals::io::journal::Journal;
use ldlf::internals::io::{fold_file, results};
use ldlf::measures::{self, Direction, Measure};
use ldlf::{Dataset, Error, Facts, FitContext, Learner, Result, Settings, Threads};

use super::Ending;
use crate::args::{FitOptions, values};
use crate::built_from::BUILD;
use crate::contenders::{listed, share_out};
use crate::images::readable;
use crate::inputs::check_input;
use crate::printer::{Printer, Table, counted};
use crate::progress::{FoldWatcher, listen_for_ctrl_c};

/// The protocol of an evaluation.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProtocolName {
    /// Disjoint folds; model selection uses training rows only
    Clean,
    /// Rows drawn with replacement, best test iteration: reproduces the published row, does not estimate generalisation
    Released,
}

/// `ldlf cv`.
#[derive(Args)]
pub struct Cv {
    #[arg(help = format!("The table ({}), or - for standard input", values::read_extensions()))]
    pub data: PathBuf,
    /// The learners to compare; NAME@PARAMETER=VALUE or NAME@PRESET is one with settings of its own, all is every one for tables
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "sldlf,mean")]
    pub learner: Vec<String>,
    /// A named set of parameters for the learners that have it
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// A parameter; with several learners sldlf.trees=10 names its learner; may be repeated
    #[arg(long, value_name = "[LEARNER.]NAME=VALUE")]
    pub set: Vec<String>,
    /// The number of folds
    #[arg(long, default_value_t = 10, value_name = "N", conflicts_with = "split_column")]
    pub folds: usize,
    /// A file with the fold in which each row is tested: one number per line, from 0, no header
    #[arg(long, value_name = "FILE", conflicts_with = "folds")]
    pub fold_file: Option<PathBuf>,
    /// Instead of folds, random splits that train on this fraction of the rows and test on the rest
    #[arg(long, value_name = "FRACTION", conflicts_with_all = ["folds", "fold_file"])]
    pub train_share: Option<f64>,
    /// Repeats of the cross-validation with new folds, 1 by default; with --train-share, random splits, 10 by default
    #[arg(long, value_name = "N", value_parser = values::at_least_one, conflicts_with = "fold_file")]
    pub repeats: Option<usize>,
    /// The evaluation protocol
    #[arg(long, value_enum, default_value = "clean")]
    pub protocol: ProtocolName,
    /// Stop each fit after this many seconds and keep its best so far
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds, conflicts_with = "journal")]
    pub time_limit: Option<f64>,
    /// Keep results, predictions and learning curves in this folder, and finished folds: an interrupted run resumes from there
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// Keep finished folds in this file: an interrupted run resumes from there
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    /// Replace existing results
    #[arg(long)]
    pub force: bool,
    /// Print the table as a Markdown section, sorted by average rank, with times
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Print all measures of every fold as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub fit: FitOptions,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
With --split-column the given split takes the place of folds. Rows of one --group stay on one side. The preset released has
3,000 iterations whatever the data; released-movie has the 2,000 of the released script for Movie.

Examples:
  ldlf cv votes.csv --labels 'votes_*' --learner sldlf,mean --folds 5
  ldlf cv Movie.mat --learner sldlf,mean --fold-file Movie.txt --json
  ldlf cv votes.csv --labels 'votes_*' --learner sldlf,sldlf@depth=5,sldlf@depth=5@trees=40,sldlf@paper
  ldlf cv votes.csv --labels 'votes_*' --learner all --results results
  ldlf cv Movie.mat --learner sldlf --protocol released --preset released-movie
  ldlf cv faces.csv --label-column age --sigma 2 --group person --train-share 0.1 --repeats 5 --learner sldlf,larr
  ldlf cv votes.csv --labels 'votes_*' --learner sldlf,mean --set sldlf.trees=10 --results results";

/// Random splits when their number is not given.
pub const SPLITS: usize = 10;

/// Fits every learner on every fold and prints a table with means and standard deviations.
pub fn run(args: &Cv, printer: &Printer) -> Result<Ending> {
    check_input(&args.data)?;
    let cut = Cut::new(args)?;
    if let Some(folder) = &args.results {
        check_results_folder(folder, args.force)?;
    }
    let columns = args.fit.options.for_reading();
    let named = listed(&args.learner, columns.label_values.is_some() || columns.label_column.is_some());
    let set = args.fit.network.with(&args.set, &named)?;
    let learners = share_out(&named, args.preset.as_deref(), &set)?
        .iter()
        .map(|contender| Ok(limited(contender.build()?, args.time_limit)))
        .collect::<Result<Vec<Box<dyn Learner>>>>()?;
    let journal = journal_of(args);
    let (data, evaluation) = evaluated(&learners, &args.data, &cut, &args.fit, journal.as_deref(), printer)?;
    if let Some(folder) = &args.results {
        results::save(folder, &evaluation, &data)?;
        // What the results say need not be said again.
        if let (None, Some(own)) = (&args.journal, &journal) {
            std::fs::remove_file(own).map_err(|e| Error::io(own, e))?;
        }
        printer.message(format_args!("results: {}", folder.display()));
    }
    if args.json {
        printer.json(&evaluation)?
    } else if args.markdown {
        let measures: Vec<&str> = shown_measures(&evaluation).iter().map(|measure| measure.name).collect();
        printer.text(&markdown::section(&evaluation, &measures))?
    } else {
        printer.text(&shown(&evaluation, evaluation.results[0].folds.len()))?
    }
    Ok(Ending::Done)
}

/// The journal of a run: the one that the call names, or else one in the folder of results until these are written. A fit
/// that the clock may stop is not kept: another run would end elsewhere.
fn journal_of(args: &Cv) -> Option<PathBuf> {
    match (&args.journal, &args.results) {
        (Some(path), _) => Some(path.clone()),
        (None, Some(folder)) if args.time_limit.is_none() => Some(folder.join(JOURNAL)),
        _ => None,
    }
}

/// Finished folds in a folder of results.
const JOURNAL: &str = "unfinished.jsonl";

/// Reads the data and evaluates the learners on its folds; finished folds are kept in the journal.
pub fn evaluated(
    learners: &[Box<dyn Learner>],
    data: &Path,
    cut: &Cut<'_>,
    fit: &FitOptions,
    journal: Option<&Path>,
    printer: &Printer,
) -> Result<(Dataset, CrossValidation)> {
    let FitOptions { compute, options, .. } = fit;
    let mut data = options.read(data, printer)?;
    if let Some(first) = learners.iter().find(|learner| learner.facts().reads_images()) {
        let threads = Threads::new(compute.threads.count)?;
        data = readable(data, &first.settings(), &options.images, &threads, printer)?;
    }
    let folds = cut.folds(&data, compute.seed)?;
    // Data that cannot be used leave no empty folder behind.
    if let Some(folder) = journal.filter(|path| path.ends_with(JOURNAL)).and_then(Path::parent) {
        std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    }
    let opened = journal.map(|path| open_journal(path, printer)).transpose()?;
    let plan = Plan {
        data: &data,
        learners,
        folds: &folds,
        protocol: cut.protocol(),
        seed: compute.seed,
        threads: compute.threads.count,
        journal: opened.as_ref().map(|journal| journal as &dyn FoldStore),
        build: BUILD,
    };
    let evaluation = watched(&plan, journal, printer)?;
    Ok((data, evaluation))
}

/// Opens a journal, and says how many of its folds another build of the program left, which are not reused.
pub fn open_journal(path: &Path, printer: &Printer) -> Result<Journal> {
    let journal = Journal::open(path)?;
    let others = journal.of_other_builds(BUILD.id);
    if others > 0 {
        printer.message(format_args!(
            "note: {}: {} of other builds of ldlf {} not reused",
            path.display(),
            counted(others, "fold"),
            if others == 1 { "is" } else { "are" }
        ));
    }
    Ok(journal)
}

/// Runs a plan with a progress bar, until it ends or Ctrl-C is pressed.
pub fn watched(plan: &Plan<'_>, journal: Option<&Path>, printer: &Printer) -> Result<CrossValidation> {
    let names = plan.learners.iter().map(|learner| learner.title()).collect();
    let watcher = FoldWatcher::new(printer, names, plan.folds.len());
    listen_for_ctrl_c();
    let outcome = cross_validate(plan, &watcher);
    watcher.finish();
    say_what_is_kept(&outcome, journal, printer);
    outcome
}

/// After Ctrl-C, says where the finished folds are.
pub fn say_what_is_kept<T>(outcome: &Result<T>, journal: Option<&Path>, printer: &Printer) {
    match (outcome, journal) {
        (Err(Error::Interrupted), Some(path)) => printer.message(format_args!(
            "finished folds are kept in {}; the same command resumes from there",
            path.display()
        )),
        (Err(Error::Interrupted), None) => printer.message(
            "no folds were kept; with --results DIR or --journal FILE the same command would resume",
        ),
        _ => {}
    }
}

/// How the rows are cut into folds.
pub enum Cut<'a> {
    /// By seeded permutations: the number of folds of each, and how many of them.
    Seeded(usize, usize),
    /// By random splits that train on a fraction of the rows, so many of them.
    Share(f64, usize),
    /// As a file says.
    File(&'a Path),
    /// As the data's own split says.
    Split,
    /// As the released experiment did.
    Released,
}

impl<'a> Cut<'a> {
    fn new(args: &'a Cv) -> Result<Self> {
        let split = args.fit.options.has_split();
        if args.protocol == ProtocolName::Clean {
            return match (args.train_share, split) {
                (Some(_), true) => {
                    Err(Error::usage("--train-share and --split-column both cut the rows; give one of them"))
                }
                (Some(share), false) => Ok(Cut::Share(share, args.repeats.unwrap_or(SPLITS))),
                (None, true) if args.repeats.is_some() => {
                    Err(Error::usage("--split-column is one split; leave out --repeats"))
                }
                (None, _) => {
                    Cut::clean(args.folds, args.repeats.unwrap_or(1), args.fold_file.as_deref(), split)
                }
            };
        }
        let refuse = |what: &str| {
            Err(Error::usage(format!(
                "{what} does not go with --protocol released, which draws its own ten folds"
            )))
        };
        match (&args.fold_file, split) {
            (Some(_), _) => refuse("--fold-file"),
            (_, true) => refuse("--split-column"),
            _ if args.train_share.is_some() => refuse("--train-share"),
            _ if args.repeats.is_some() => refuse("--repeats"),
            _ if args.folds != 10 => refuse("--folds"),
            _ => Ok(Cut::Released),
        }
    }

    /// The folds of the clean protocol: a file or a split takes the place of the permutation.
    pub fn clean(folds: usize, repeats: usize, file: Option<&'a Path>, split: bool) -> Result<Self> {
        match (file, split) {
            (Some(_), true) => {
                Err(Error::usage("--fold-file and --split-column both cut the rows; give one of them"))
            }
            (Some(file), false) => check_input(file).map(|()| Cut::File(file)),
            (None, true) => Ok(Cut::Split),
            (None, false) => Ok(Cut::Seeded(folds, repeats)),
        }
    }

    /// Cuts the rows.
    pub fn folds(&self, data: &Dataset, seed: u64) -> Result<Vec<Fold>> {
        match self {
            Cut::Seeded(count, repeats) => folds::repeated(data, *count, *repeats, seed),
            Cut::Share(share, repeats) => folds::random_splits(data, *share, *repeats, seed),
            Cut::File(path) => fold_file::read(path, data),
            Cut::Split => folds::by_split(data),
            Cut::Released => folds::released(data.rows(), seed),
        }
    }

    /// The rules that go with it.
    pub fn protocol(&self) -> Protocol {
        if matches!(self, Cut::Released) { Protocol::Released } else { Protocol::Clean }
    }
}

/// The learner, with a time limit per fit if there is one.
fn limited(learner: Box<dyn Learner>, time_limit: Option<f64>) -> Box<dyn Learner> {
    match time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(limit) => Box::new(TimeLimited { learner, limit }),
        None => learner,
    }
}

/// A learner with a time limit per fit.
struct TimeLimited {
    learner: Box<dyn Learner>,
    limit: Duration,
}

impl Learner for TimeLimited {
    fn facts(&self) -> &'static Facts {
        self.learner.facts()
    }

    fn title(&self) -> String {
        self.learner.title()
    }

    fn settings(&self) -> Settings {
        self.learner.settings()
    }

    fn fit(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        context.deadline = Instant::now().checked_add(self.limit);
        self.learner.fit(data, context)
    }
}

/// Refuses a folder with anything in it, unless `force`.
pub fn check_results_folder(folder: &Path, force: bool) -> Result<()> {
    if folder.exists() && !folder.is_dir() {
        return Err(Error::usage(format!("{} is a file where a folder is expected", folder.display())));
    }
    // An interrupted run left nothing but its finished folds.
    let other =
        |entry: std::io::Result<std::fs::DirEntry>| entry.is_ok_and(|entry| entry.file_name() != JOURNAL);
    let occupied = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.any(other));
    if occupied && !force {
        return Err(Error::usage(format!("{} exists; choose another name or add --force", folder.display())));
    }
    Ok(())
}

/// The table: one row per learner, the paper's measures, and for ordered labels the errors of point estimates.
pub fn shown(evaluation: &CrossValidation, folds: usize) -> String {
    let CrossValidation { dataset, rows, features, labels, protocol, seed, .. } = evaluation;
    // Images have no features.
    let read = match features {
        0 => counted(*rows, "image"),
        _ => [counted(*rows, "row"), counted(*features, "feature")].join(", "),
    };
    let sizes = [read, counted(labels.len(), "label")].join(", ");
    let fold_count = counted(folds, "fold");
    let mut text = format!("{dataset}, {sizes}; protocol {}, {fold_count}, seed {seed}\n\n", protocol.name());
    let measures = shown_measures(evaluation);
    let (ordered, of_distributions): (Vec<_>, Vec<_>) =
        measures.iter().copied().partition(|measure| measure.is_ordered());
    text += &table(evaluation, &of_distributions, folds).to_string();
    if !ordered.is_empty() {
        text += &format!("\n{}", table(evaluation, &ordered, folds));
    }
    text.push('\n');
    if folds > 1 {
        text += "Mean ± standard deviation over the folds. ";
    }
    if evaluation.results.len() > 1 {
        text += "* marks the best. ";
    }
    text += &format!("{} should be high, the others low.\n", best_high(&measures));
    if *protocol == Protocol::Released {
        text += "Released protocol: rows are drawn with replacement, so that most test rows are also training rows, and the\n\
                 iteration with the best test K-L is reported. It reproduces a published row; it does not say how well a\n\
                 model does on new rows.\n";
    }
    text
}

/// The measures in the tables: those of ordered labels where some learner has one.
fn shown_measures(evaluation: &CrossValidation) -> Vec<&'static Measure> {
    let has =
        |measure: &Measure| evaluation.results.iter().any(|result| result.mean.get(measure.name).is_some());
    let is_ordered = measures::ordered().any(has);
    let values_of = |name: &str| -> Vec<f64> {
        evaluation.results.iter().filter_map(|result| result.mean.get(name)).collect()
    };
    let shown = |measure: &&Measure| {
        measures::shown_in_table(measure, values_of) && (is_ordered || !measure.is_ordered())
    };
    measures::all().iter().filter(shown).collect()
}

/// The titles of the measures that should be high, as the subject of a sentence: `Fidelity, intersection and CS(5)`.
fn best_high(measures: &[&Measure]) -> String {
    let high = measures.iter().filter(|measure| measure.direction == Direction::HigherIsBetter);
    let mut titles: Vec<String> = high.map(|measure| measure.title.to_string()).collect();
    for title in titles.iter_mut().skip(1) {
        // An abbreviation keeps its capitals.
        if title.chars().nth(1).is_some_and(char::is_lowercase) {
            *title = title.to_lowercase();
        }
    }
    match titles.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => titles.concat(),
    }
}

fn table(evaluation: &CrossValidation, measures: &[&Measure], folds: usize) -> Table {
    let heads = std::iter::once("learner").chain(measures.iter().map(|measure| measure.title));
    let mut table =
        Table::new(heads.map(|head| if head == "learner" { head.into() } else { format!("{head} ") }))
            .in_blocks();
    for result in &evaluation.results {
        let mut cells = vec![result.learner.clone()];
        for Measure { name, direction, .. } in measures {
            let Some(mean) = result.mean.get(name) else {
                cells.push("- ".into());
                continue;
            };
            let alone = evaluation.results.len() == 1;
            let beaten = evaluation
                .results
                .iter()
                .filter_map(|other| other.mean.get(name))
                .any(|other| direction.prefers(other, mean));
            let mark = if alone || beaten { ' ' } else { '*' };
            let deviation = result.std.get(name).filter(|_| folds > 1);
            let spread = deviation.map_or(String::new(), |std| format!("±{std:.4}"));
            cells.push(format!("{mean:.4}{spread}{mark}"));
        }
        table.row(cells);
    }
    table
}
