//! `ldlf demo`: the main job on built-in data, within a minute.

use std::path::{Path, PathBuf};

use clap::Args;
use ldlf::internals::core::evaluate::{Plan, Protocol};
use ldlf::internals::io::output::Overwrite;
use ldlf::internals::io::read::{Format, ReadOptions};
use ldlf::internals::io::{results, write};
use ldlf::{Dataset, Error, FitContext, Learner, Result, Settings, TrainedModel, folds, generate, registry};

use super::Ending;
use super::cv::{check_results_folder, shown, watched};
use crate::args::{Compute, read_with};
use crate::built_from::BUILD;
use crate::inspected_model::inspected;
use crate::printer::{Printer, number};
use crate::progress::{TrainingWatcher, listen_for_ctrl_c};

/// `ldlf demo`.
#[derive(Args)]
pub struct Demo {
    /// The folder for data, model and results
    #[arg(long, short, default_value = "ldlf-demo", value_name = "DIR")]
    pub out: PathBuf,
    /// Replace what an earlier demo wrote there
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub compute: Compute,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
Generates a table of votes, trains sldlf on it, compares it with two baselines, writes a report, and says where everything is.

Example:
  ldlf demo --out first-look";

/// The size of the set: small enough for a minute, large enough for the learners to differ.
const ROWS: usize = 2000;
const VOTES: usize = 30;
const FOLDS: usize = 3;
/// The baseline beside sldlf and the mean: the first that this build has.
const BASELINES: [&str; 2] = ["bfgs-ldl", "sndf-ldl"];

/// Generates votes, trains, compares, and prints the paths.
pub fn run(args: &Demo, printer: &Printer) -> Result<Ending> {
    check_results_folder(&args.out, args.force)?;
    std::fs::create_dir_all(&args.out).map_err(|e| Error::io(&args.out, e))?;
    let place = |name: &str| args.out.join(name);
    let (votes, model, folder) = (place("votes.csv"), place("model.ldlf"), place("results"));
    let report = place("report.html");

    let data = make_votes(&votes, args.compute.seed, printer)?;
    let learner = registry::build("sldlf", None, &Settings::new())?;
    let trained = train(learner.as_ref(), &data, &model, args, printer)?;
    let kl = trained.summary.validation_kl;

    let baseline = BASELINES.iter().find(|name| registry::find(name).is_ok());
    let mut learners = Vec::new();
    for name in std::iter::once(&"sldlf").chain(baseline).chain([&"mean"]) {
        learners.push(registry::build(name, None, &Settings::new())?);
    }
    printer.message(format_args!("comparing {} learners on {FOLDS} folds", learners.len()));
    let folds = folds::seeded(&data, FOLDS, args.compute.seed)?;
    let plan = Plan {
        data: &data,
        learners: &learners,
        folds: &folds,
        protocol: Protocol::Clean,
        seed: args.compute.seed,
        threads: args.compute.threads.count,
        journal: None,
        build: BUILD,
    };
    let evaluation = watched(&plan, None, printer)?;
    results::save(&folder, &evaluation, &data)?;
    let threads = args.compute.threads.pool()?;
    let model_section =
        inspected("model.ldlf", &trained, &data, trained.out_of_fold.clone(), None, &[], &threads)?;
    let page = super::report::of_folder("A first look: votes", &folder, model_section)?;
    super::report::write(&report, Overwrite::Yes, &page)?;
    let names: Vec<&str> = learners.iter().map(|learner| learner.name()).collect();
    printer.text(&format!(
        "{}\n{}",
        shown(&evaluation, FOLDS),
        ending(&[&votes, &model, &folder, &report], number(kl), &names.join(","))
    ))?;
    Ok(Ending::Done)
}

/// Writes the votes and reads them back as any user's table is read.
fn make_votes(path: &Path, seed: u64, printer: &Printer) -> Result<Dataset> {
    let mut options = Settings::new();
    options.set("votes", VOTES as u64);
    let generated = generate::named("mixture", ROWS, seed, &options)?;
    write::save_dataset(&generated, Some(VOTES), Format::Csv, path, Overwrite::Yes)?;
    let options = ReadOptions { labels: vec!["votes_*".into()], ..ReadOptions::default() };
    read_with(path, &options, printer)
}

/// Trains on all rows and writes the model.
fn train(
    learner: &dyn Learner,
    data: &Dataset,
    path: &Path,
    args: &Demo,
    printer: &Printer,
) -> Result<TrainedModel> {
    printer.message(format_args!("training {} on {} rows", learner.name(), data.rows()));
    let mut watcher = TrainingWatcher::new(printer, None, None, "row");
    listen_for_ctrl_c();
    let threads = args.compute.threads.pool()?;
    let fitted =
        TrainedModel::fit(learner, data, &mut FitContext::new(args.compute.seed, threads, &mut watcher));
    watcher.finish();
    let model = fitted?;
    if crate::progress::interrupted() {
        return Err(Error::Interrupted);
    }
    ldlf::internals::io::model_file::save(&model, path, Overwrite::Yes)?;
    Ok(model)
}

fn ending([votes, model, folder, report]: &[&PathBuf; 4], kl: String, names: &str) -> String {
    let (votes, model, folder, report) =
        (votes.display(), model.display(), folder.display(), report.display());
    format!(
        "data     {votes}\n\
         model    {model} (validation K-L {kl})\n\
         results  {folder}\n\
         report   {report} (open it in a browser)\n\
         \n\
         Next:\n  \
         ldlf predict {model} {votes} --write distribution,mode --out - | head -3\n  \
         ldlf evaluate {model} {votes}\n  \
         ldlf inspect {model}\n  \
         ldlf cv {votes} --labels 'votes_*' --learner {names}\n  \
         ldlf learners\n"
    )
}
