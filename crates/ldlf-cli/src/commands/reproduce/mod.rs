//! `ldlf reproduce`: a table of the paper beside its published rows.
//!
//! An experiment is data ([`experiment::Experiment`], one module per table); this is the frame that finds the sets, runs every
//! section (a set under a division of its rows) with a journal, and writes the results.

mod args;
mod complexity;
mod experiment;
mod figure3;
mod markdown;
mod sets;
mod table1;
mod table2;
mod table3;

use std::io::Write;
use std::path::{Path, PathBuf};

use ldlf::internals::core::evaluate::{CrossValidation, Plan, cross_validate, finished};
use ldlf::internals::io::journal::Journal;
use ldlf::internals::io::output::{Overwrite, write_atomically};
use ldlf::internals::io::read::ReadOptions;
use ldlf::internals::io::results;
use ldlf::{Dataset, Error, Learner, Result};
use serde::Serialize;
use serde_json::{Value, json};

use super::Ending;
use super::cv::{Cut, SPLITS, open_journal, say_what_is_kept};
use crate::args::read_with;
use crate::built_from::BUILD;
use crate::inputs::{check_input, data_name};
use crate::printer::Printer;
use crate::progress::{FoldWatcher, listen_for_ctrl_c};
pub use args::{HELP, Reproduce};
use experiment::{Division, Entrant, Experiment, Published, check_settings};

/// Everything that can be reproduced.
fn experiments() -> [Experiment; 4] {
    [table1::experiment(), table2::experiment(), table3::experiment(), figure3::experiment()]
}

/// The names of all experiments.
pub fn names() -> Vec<&'static str> {
    experiments().iter().map(|experiment| experiment.name).chain([complexity::NAME]).collect()
}

/// Runs the experiment on every set that is found and prints it.
pub fn run(args: &Reproduce, printer: &Printer) -> Result<Ending> {
    if args.name == complexity::NAME {
        let about_data = args.table.is_some() || !args.sets.is_empty() || !args.options.is_default();
        let about_fits = !args.learner.is_empty() || !args.set.is_empty() || args.repeats.is_some();
        if about_data || about_fits {
            return Err(Error::usage(
                "complexity measures the forest on generated rows; leave out the options about data and learners",
            ));
        }
        let (page, object) = complexity::run(printer)?;
        let folder = folder(args);
        keep(&folder, complexity::NAME, &page, &object, args, printer)?;
        return Ok(Ending::Done);
    }
    let mut experiment = find(&args.name)?;
    experiment.entrants = entrants(args, experiment.entrants)?;
    let sources = sources(args, &experiment)?;
    let folder = folder(args);
    // Every parameter is checked before the first fit.
    for (source, division) in in_order(&sources, &experiment.divisions) {
        build(&experiment.entrants, &source.name, division)?;
    }
    std::fs::create_dir_all(&folder).map_err(|e| Error::io(&folder, e))?;
    let journal_file = folder.join("journal.jsonl");
    let journal = open_journal(&journal_file, printer)?;
    let mut frame = Frame { args, printer, experiment: &experiment, journal: &journal, folder: &folder };
    let outcome = frame.run(&sources);
    say_what_is_kept(&outcome, Some(&journal_file), printer);
    let sections = outcome?;
    let page = markdown::page(&experiment, &sections, args.compute.seed);
    let object = json!({
        "build": BUILD,
        "experiment": experiment.name,
        "title": experiment.title,
        "seed": args.compute.seed,
        "measures": experiment.measures,
        "sections": sections,
    });
    if experiment.name == figure3::NAME {
        figure3::draw(&sections, &folder)?;
    }
    keep(&folder, experiment.name, &page, &object, args, printer)?;
    Ok(Ending::Done)
}

/// Where the results go.
fn folder(args: &Reproduce) -> PathBuf {
    args.out.clone().unwrap_or_else(|| PathBuf::from(format!("reproduce-{}", args.name)))
}

/// Writes the page and the object into the folder and prints one of them.
fn keep(
    folder: &Path,
    name: &str,
    page: &str,
    object: &Value,
    args: &Reproduce,
    printer: &Printer,
) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    let text = serde_json::to_string_pretty(object).expect("results are plain data");
    for (extension, content) in [("md", page), ("json", &text)] {
        let path = folder.join(format!("{name}.{extension}"));
        write_atomically(&path, Overwrite::Yes, |out| out.write_all(content.as_bytes()))?;
    }
    printer.message(format_args!("results: {}", folder.display()));
    printer.text(if args.json { &text } else { page })
}

fn find(name: &str) -> Result<Experiment> {
    let unknown =
        || Error::usage(format!("unknown experiment {name:?}; expected one of {}", names().join(", ")));
    experiments().into_iter().find(|experiment| experiment.name == name).ok_or_else(unknown)
}

/// The learners: the experiment's own, or those of `--learner`.
fn entrants(args: &Reproduce, own: Vec<Entrant>) -> Result<Vec<Entrant>> {
    let mut chosen = Vec::new();
    for name in &args.learner {
        ldlf::registry::find(name)?;
        let known: Vec<Entrant> = own.iter().filter(|entrant| entrant.learner == *name).cloned().collect();
        chosen.extend(if known.is_empty() { vec![Entrant::new(name)] } else { known });
    }
    let entrants = if chosen.is_empty() { own } else { chosen };
    check_settings(&args.set, &entrants)?;
    entrants.into_iter().map(|entrant| entrant.overridden_by(&args.set)).collect()
}

fn build(entrants: &[Entrant], set: &str, division: Division) -> Result<Vec<Box<dyn Learner>>> {
    entrants.iter().map(|entrant| entrant.build(set, division)).collect()
}

/// A dataset on disk, or where to get it.
struct Source {
    name: String,
    /// The file, or where to get it.
    file: std::result::Result<PathBuf, &'static str>,
    fold_file: Option<PathBuf>,
    options: ReadOptions,
}

/// The sets to run: the experiment's own below `--data`, or the user's table. An experiment without any is refused.
fn sources(args: &Reproduce, experiment: &Experiment) -> Result<Vec<Source>> {
    if let Some(table) = &args.table {
        check_input(table)?;
        return Ok(vec![Source {
            name: data_name(table),
            file: Ok(table.clone()),
            fold_file: args.fold_file.clone(),
            options: args.options.for_reading(),
        }]);
    }
    if !args.options.is_default() {
        return Err(Error::usage("options for columns describe a table of your own; name it with --table"));
    }
    let known: Vec<&str> = experiment.sets.iter().map(|set| set.name).collect();
    if let Some(unknown) = args.sets.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Error::usage(format!(
            "{} has no set {unknown:?}; it has {}",
            experiment.name,
            known.join(", ")
        )));
    }
    let wanted = |name: &str| args.sets.is_empty() || args.sets.iter().any(|wanted| wanted == name);
    let sources: Vec<Source> = experiment
        .sets
        .iter()
        .filter(|set| wanted(set.name))
        .map(|set| Source {
            name: set.name.to_string(),
            file: set.file(&args.data).ok_or(set.get),
            fold_file: set.fold_file(&args.data),
            options: set.options(),
        })
        .collect();
    if sources.iter().all(|source| source.file.is_err()) {
        let missing = experiment.sets.iter().filter(|set| wanted(set.name));
        let places = missing.map(|set| format!("  {}/{}.*: {}", set.folder, set.name, set.get));
        return Err(Error::data(format!(
            "{} holds none of the sets; they belong in\n{}",
            args.data.display(),
            places.collect::<Vec<_>>().join("\n")
        )));
    }
    Ok(sources)
}

/// Every set under every division, set by set.
fn in_order<'a>(
    sources: &'a [Source],
    divisions: &'a [Division],
) -> impl Iterator<Item = (&'a Source, Division)> {
    sources.iter().flat_map(|source| divisions.iter().map(move |&division| (source, division)))
}

/// A set under a division: what was measured here, and what the paper says.
#[derive(Serialize)]
struct Section<'a> {
    set: String,
    #[serde(serialize_with = "by_title")]
    division: Division,
    /// What tables call the learners, in the order of the evaluation's results.
    entrants: Vec<String>,
    /// The learners that `--finished` found unfinished.
    unfinished: Vec<String>,
    /// Absent where the set is missing, and where nothing is finished.
    evaluation: Option<CrossValidation>,
    /// How to get a missing set.
    get: Option<&'static str>,
    published: Vec<&'a Published>,
}

fn by_title<S: serde::Serializer>(
    division: &Division,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&division.title())
}

/// What running the sections needs.
struct Frame<'a> {
    args: &'a Reproduce,
    printer: &'a Printer,
    experiment: &'a Experiment,
    journal: &'a Journal,
    folder: &'a Path,
}

impl<'a> Frame<'a> {
    /// Runs every section, the time left shown over all of them.
    fn run(&mut self, sources: &[Source]) -> Result<Vec<Section<'a>>> {
        let fits = |&division: &Division| match division {
            Division::TenFolds => 10 * self.args.repeats.unwrap_or(1),
            Division::Share(_) => self.args.repeats.unwrap_or(SPLITS),
            Division::Released => 10,
        };
        let present = sources.iter().filter(|source| source.file.is_ok()).count();
        let of_set: usize = self.experiment.divisions.iter().map(fits).sum();
        let mut watcher =
            FoldWatcher::of_several(self.printer, present * of_set * self.experiment.entrants.len());
        listen_for_ctrl_c();
        let mut sections = Vec::new();
        for source in sources {
            let data = match &source.file {
                Ok(file) => Some(read_with(file, &source.options, self.printer)?),
                Err(get) => {
                    self.printer.message(format_args!("{} is missing: {get}", source.name));
                    None
                }
            };
            for &division in &self.experiment.divisions {
                let outcome = self.section(source, data.as_ref(), division, &mut watcher);
                if outcome.is_err() {
                    watcher.finish();
                }
                sections.push(outcome?);
            }
        }
        watcher.finish();
        Ok(sections)
    }

    fn section(
        &self,
        source: &Source,
        data: Option<&Dataset>,
        division: Division,
        watcher: &mut FoldWatcher,
    ) -> Result<Section<'a>> {
        let experiment = self.experiment;
        let of_section = |row: &&Published| row.set == source.name && row.division == division;
        let (taking_part, evaluation) = match data {
            Some(data) => self.evaluate(source, data, division, watcher)?,
            None => (vec![true; experiment.entrants.len()], None),
        };
        if let (Some(data), Some(evaluation)) = (data, &evaluation) {
            let name = format!("{}-{}", source.name, division.title().replace([' ', '%'], ""));
            results::save(&self.folder.join(name), evaluation, data)?;
        }
        let labels = |part: bool| -> Vec<String> {
            let entrants = experiment.entrants.iter().zip(&taking_part);
            entrants.filter(|(_, takes)| **takes == part).map(|(entrant, _)| entrant.label.clone()).collect()
        };
        Ok(Section {
            set: source.name.clone(),
            division,
            entrants: labels(true),
            unfinished: labels(false),
            evaluation,
            get: source.file.as_ref().err().copied(),
            published: experiment.published.iter().filter(of_section).collect(),
        })
    }

    /// The learners and their results: all, or with `--finished` those that need no fit.
    fn evaluate(
        &self,
        source: &Source,
        data: &Dataset,
        division: Division,
        watcher: &mut FoldWatcher,
    ) -> Result<(Vec<bool>, Option<CrossValidation>)> {
        let (seed, repeats) = (self.args.compute.seed, self.args.repeats);
        let cut = match (division, &source.fold_file) {
            (Division::TenFolds, Some(file)) if repeats.is_none() => Cut::File(file),
            (Division::TenFolds, _) => Cut::Seeded(10, repeats.unwrap_or(1)),
            (Division::Share(share), _) => Cut::Share(share, repeats.unwrap_or(SPLITS)),
            (Division::Released, _) => Cut::Released,
        };
        let folds = cut.folds(data, seed)?;
        let plan = |learners| Plan {
            data,
            learners,
            folds: &folds,
            protocol: cut.protocol(),
            seed,
            threads: self.args.compute.threads.count,
            journal: Some(self.journal),
            build: BUILD,
        };
        let mut entrants = self.experiment.entrants.clone();
        let everyone = build(&entrants, &source.name, division)?;
        let taking_part =
            if self.args.finished { finished(&plan(&everyone)) } else { vec![true; entrants.len()] };
        let mut takes_part = taking_part.iter();
        entrants.retain(|_| takes_part.next() == Some(&true));
        if entrants.is_empty() {
            return Ok((taking_part, None));
        }
        let learners = build(&entrants, &source.name, division)?;
        let at_work = |entrant: &Entrant| format!("{}, {}, {}", source.name, division.title(), entrant.label);
        watcher.turn_to(entrants.iter().map(at_work).collect());
        Ok((taking_part, Some(cross_validate(&plan(&learners), watcher)?)))
    }
}
