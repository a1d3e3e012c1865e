//! `ldlf train`: from a table to a model file.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use ldlf::internals::core::conformal::{Calibration, Conformal};
use ldlf::internals::core::inputs::InputKind;
use ldlf::internals::core::learner::Summary;
use ldlf::internals::core::split::SplitPart;
use ldlf::internals::io::read::ColumnPlan;
use ldlf::internals::io::write::estimates::{Abilities, Estimate, EstimateColumns, Sureness};
use ldlf::internals::io::write::{Formulas, TableForm, save_table};
use ldlf::{Dataset, Error, FitContext, Inputs, Prediction, Result, StopReason, TrainedModel, folds};
use serde_json::json;

mod plan;

use super::Ending;
use super::predict::refused;
use crate::args::{FitOptions, values};
use crate::contenders::share_out;
use crate::images::readable;
use crate::inputs::{check_checkpoint, check_destination, check_input, is_standard};
use crate::printer::{Printer, Table, counted, number};
use crate::progress::{Checkpoints, TrainingWatcher, interrupted, listen_for_ctrl_c, read_checkpoint};

/// `ldlf train`.
#[derive(Args)]
pub struct Train {
    #[arg(help = format!(
        "The table to learn from ({}), - for standard input, or a folder or zip file of images with --table",
        values::read_extensions()
    ))]
    pub data: PathBuf,
    /// The learner; `ldlf learners` lists them
    #[arg(long, default_value = "sldlf", value_name = "NAME")]
    pub learner: String,
    /// A named set of parameters, which --set overrides
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// A parameter; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Where to write the model
    #[arg(long, short, value_name = "FILE", required_unless_present = "plan")]
    pub out: Option<PathBuf>,
    /// Print what every column is for and how it is read, and train nothing
    #[arg(long)]
    pub plan: bool,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
    /// Write what the model says about its own training rows without having seen them, as a table (see `ldlf predict`)
    #[arg(long, value_name = "FILE")]
    pub out_of_fold: Option<PathBuf>,
    /// Hold this fraction of the rows out of the training, to promise intervals and label sets by (see `ldlf predict`); sldlf and random-forest need none
    #[arg(long, value_name = "FRACTION", value_parser = values::fraction, conflicts_with = "out_of_fold")]
    pub calibrate: Option<f64>,
    /// Stop after this many seconds and keep the best so far
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds)]
    pub time_limit: Option<f64>,
    /// Write checkpoints of the training here, for --resume
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Iterations between two checkpoints
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = values::at_least_one, requires = "checkpoint")]
    pub checkpoint_every: usize,
    /// Resume from a checkpoint; the parameters must be those it was started with, but `iterations` may grow
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Stop after this iteration, and write the checkpoint, if any, and the current model
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub stop_after: Option<usize>,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub fit: FitOptions,
}

/// Below this fraction of the mean's K-L divergence a model has learnt something from the features.
const LEAST_GAIN: f64 = 0.995;

/// A K-L divergence of rows from their mean below which they are the same.
const NO_DIFFERENCE: f64 = 1e-6;

/// What `--help` says after the options.
pub const HELP: &str = "\
Examples:
  ldlf train votes.csv --labels 'votes_*' --out votes.ldlf
  ldlf train faces.csv --label-column age --sigma 3 --label-values 0..100 --out age.ldlf
  ldlf train votes.csv --labels 'votes_*' --learner random-forest --calibrate 0.2 --out votes.ldlf
  ldlf train Movie.mat --preset paper --set trees=10 --out movie.ldlf
  ldlf train survey.xlsx --labels 'vote_*' --plan
  ldlf train big.parquet --labels y1,y2 --out m.ldlf --checkpoint m.ckpt --stop-after 500
  ldlf train big.parquet --labels y1,y2 --out m.ldlf --force --checkpoint m.ckpt --resume m.ckpt
  ldlf train faces.zip --table labels.csv --image-column file --label-column age --sigma 2 --label-values 0..100 \
    --learner dldlf --backbone resnet18 --weights resnet18.safetensors --out faces.ldlf

Ctrl-C stops cleanly: the best model so far is written and the exit code is 130.";

/// Fits a learner and writes its model, also when Ctrl-C, a time limit or `--stop-after` ends it early.
pub fn run(args: &Train, printer: &Printer) -> Result<Ending> {
    check_input(&args.data)?;
    let Some(out) = args.out.as_ref().filter(|_| !args.plan) else {
        let columns = args.fit.options.plan(&args.data, printer)?;
        if args.json {
            printer.json(&json!({ "columns": columns }))?;
        } else {
            printer.text(&plan::table(&columns))?;
        }
        return Ok(Ending::Done);
    };
    if is_standard(out) {
        return Err(Error::usage("a model is not written to standard output; name a file with --out"));
    }
    let overwrite = check_destination(out, args.force)?;
    if let Some(path) = &args.checkpoint {
        check_checkpoint(path, args.force)?;
    }
    let out_of_fold = match &args.out_of_fold {
        None => None,
        Some(path) => Some((path, TableForm::of(path)?, check_destination(path, args.force)?)),
    };
    let preset = args.preset.as_deref();
    let names = std::slice::from_ref(&args.learner);
    let contenders = share_out(names, preset, &args.fit.network.with(&args.set, names)?)?;
    let learner = contenders[0].build()?;
    if out_of_fold.is_some() && !learner.facts().out_of_fold {
        return Err(Error::usage(format!("{} gives no out-of-fold predictions", learner.name()))
            .with_remedy("use sldlf or random-forest, or ldlf cv with --results"));
    }
    let resume = match &args.resume {
        Some(path) => {
            check_input(path)?;
            Some(read_checkpoint(path, learner.as_ref(), args.fit.compute.seed)?)
        }
        None => None,
    };
    let threads = args.fit.compute.threads.pool()?;
    let (mut data, columns) = args.fit.options.read_planned(&args.data, printer)?;
    if args.fit.options.has_split() {
        // What missing values are filled with is learnt from the training rows alone.
        data = data.select(&folds::split_parts(&data)?.training).refilled()?;
    }
    // A learner for tables refuses images before they are decoded.
    if learner.facts().reads_images() {
        data = readable(data, &learner.settings(), &args.fit.options.images, &threads, printer)?;
    }

    let checkpoints = args.checkpoint.as_ref().map(|path| Checkpoints {
        path: path.clone(),
        every: args.checkpoint_every,
        learner: learner.name(),
    });
    let noun = if data.inputs().kind() == InputKind::Images { "image" } else { "row" };
    let mut watcher = TrainingWatcher::new(printer, checkpoints, args.stop_after, noun);
    listen_for_ctrl_c();
    let started = Instant::now();
    let fitted = {
        let mut context = FitContext::new(args.fit.compute.seed, threads, &mut watcher);
        context.resume = resume;
        context.deadline =
            args.time_limit.and_then(|limit| started.checked_add(Duration::try_from_secs_f64(limit).ok()?));
        match args.calibrate {
            Some(fraction) => TrainedModel::fit_calibrated(learner.as_ref(), &data, fraction, &mut context),
            None => TrainedModel::fit(learner.as_ref(), &data, &mut context),
        }
    };
    watcher.finish();
    let failure = watcher.failure.take();
    if let Some(refused @ Error::Usage(_)) = failure {
        return Err(refused);
    }
    let model = fitted?;
    ldlf::internals::io::model_file::save(&model, out, overwrite)?;

    if let (Some((path, ..)), None) = (&out_of_fold, &model.out_of_fold) {
        printer.message(format_args!(
            "note: {} was not written: with these parameters and rows every part of the model learnt from every row",
            path.display()
        ));
    }
    if let (Some((path, form, overwrite)), Some(predicted)) = (out_of_fold, &model.out_of_fold) {
        let columns = EstimateColumns::new(&[Estimate::Distribution], &model.schema, Abilities::default())
            .map_err(refused)?;
        let predicted = Prediction::Distributions(predicted.clone());
        let nothing_more = Sureness::default();
        let block = columns.of(&predicted, &nothing_more).map_err(refused)?;
        save_table(path, overwrite, form, Formulas::Kept, |mut writer| {
            writer.block(&block).and_then(|()| writer.finish()).map_err(|e| Error::io(path, e))
        })?;
    }

    if let Some(failure) = failure {
        printer.message(format_args!("the current model is in {}", out.display()));
        return Err(failure);
    }
    match &args.checkpoint {
        Some(path) if watcher.wrote_checkpoint => {
            printer.message(format_args!("checkpoint: {}", path.display()))
        }
        Some(_) => printer
            .message(format_args!("note: {} does not iterate: no checkpoint was written", model.learner)),
        None => {}
    }
    let stopped_by_hand =
        model.summary.stopped == StopReason::Interrupted && !watcher.reached_stop && interrupted();
    if stopped_by_hand {
        let after = match model.summary.iterations {
            0 => String::new(),
            count => format!(" after {}", counted(count, "iteration")),
        };
        printer.message(format_args!("interrupted{after}; the best model so far is in {}", out.display()));
    }
    report(args, printer, &data, &columns, &model, started.elapsed())?;
    Ok(if stopped_by_hand { Ending::Interrupted } else { Ending::Done })
}

fn report(
    args: &Train,
    printer: &Printer,
    data: &Dataset,
    columns: &[ColumnPlan],
    model: &TrainedModel,
    took: Duration,
) -> Result<()> {
    let out = args.out.iter().map(|out| out.display().to_string()).collect::<String>();
    let Summary { iterations, stopped, best_iteration, loss, validation_kl, mean_kl } = &model.summary;
    if args.json {
        return printer.json(&json!({
            "learner": model.learner,
            "parameters": model.parameters,
            "dataset": data.name(),
            "rows": data.rows(),
            "features": data.inputs().cols(),
            "labels": data.labels(),
            "seed": args.fit.compute.seed,
            "iterations": iterations,
            "stopped": stopped,
            "best_iteration": best_iteration,
            "loss": loss,
            "validation_kl": validation_kl,
            "mean_kl": mean_kl,
            "seconds": took.as_secs_f64(),
            "model": out,
            "columns": columns,
        }));
    }
    let mut table = Table::of_facts();
    table.fact("learner", &model.learner);
    table.fact("data", described(data));
    let is_valid = |part: &&String| SplitPart::named(part) == Some(SplitPart::Valid);
    let valid = data.split().map_or(0, |parts| parts.iter().filter(is_valid).count());
    if valid > 0 {
        let noun = if data.inputs().kind() == InputKind::Images { "image" } else { "row" };
        let training = counted(data.rows() - valid, &format!("training {noun}"));
        table.fact("split", format!("{training}, {}", counted(valid, &format!("validation {noun}"))));
    }
    plan::summary(columns).into_iter().for_each(|(name, text)| table.fact(name, text));
    let best = best_iteration.map_or(String::new(), |best| format!(", kept that of iteration {best}"));
    if *iterations > 0 {
        table.fact("iterations", format!("{iterations}{best}"));
    }
    table.fact("stopped", why(*stopped));
    if loss.is_some() {
        table.fact("loss", number(*loss));
    }
    match (validation_kl, mean_kl) {
        (Some(kl), Some(mean)) => {
            let compared = format!("{} out of fold; the mean has {}", number(Some(*kl)), number(Some(*mean)));
            table.fact("validation K-L", compared);
        }
        (Some(kl), None) => table.fact("validation K-L", number(Some(*kl))),
        (None, _) => {}
    }
    // What a search kept and what a file of weights had; `ldlf inspect` shows all.
    for (name, value) in model.model.inspect() {
        let members = ["weights", "soft trees", "grown trees", "linear", "mean"];
        let shown = name.starts_with("member ") || members.contains(&&*name);
        if let (true, Some(value)) = (shown, value.as_str()) {
            table.fact(&name, value);
        }
    }
    if let Some(conformal) = &model.conformal {
        table.fact("calibrated by", calibrated_by(conformal));
    }
    table.fact("model", out);
    printer.text(&table.to_string())?;
    if mean_kl.is_some_and(|mean| mean < NO_DIFFERENCE) {
        printer.message("warning: all rows have the same labels: there is nothing to learn");
    } else if let (Some(kl), Some(mean)) = (validation_kl, mean_kl)
        && *kl > LEAST_GAIN * mean
    {
        printer.message(format_args!(
            "warning: no setting beats predicting the mean: the features say next to nothing about the labels"
        ));
    }
    Ok(())
}

/// `votes, 200 rows, 3 features, 1 label`, or `faces, 200 images, 101 labels`.
pub fn described(data: &Dataset) -> String {
    let labels = counted(data.labels(), "label");
    match data.inputs() {
        Inputs::Images(_) => format!("{}, {}, {labels}", data.name(), counted(data.rows(), "image")),
        Inputs::Table(features) => {
            let features = counted(features.cols(), "feature");
            format!("{}, {}, {features}, {labels}", data.name(), counted(data.rows(), "row"))
        }
    }
}

/// What intervals and label sets rest on, in words.
pub fn calibrated_by(conformal: &Conformal) -> String {
    match conformal.calibration {
        Calibration::OutOfFold => format!("{} training rows or groups, out of fold", conformal.units),
        Calibration::HeldOut => format!("{} held-out rows or groups", conformal.units),
    }
}

/// Why a fit ended, in words.
pub fn why(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Finished => "completed",
        StopReason::EarlyStopping => "early stopping: no improvement on the validation rows",
        StopReason::Converged => "converged: the loss no longer changed",
        StopReason::TimeLimit => "the time limit was reached",
        StopReason::Interrupted => "interrupted",
    }
}
