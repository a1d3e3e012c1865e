//! `ldlf plot`: one figure as SVG or PNG.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use ldlf::internals::core::calibration::Reliability;
use ldlf::internals::core::explain::permutation_importance;
use ldlf::internals::io::output::{Overwrite, write_atomically};
use ldlf::internals::io::results::CurvePoint;
use ldlf::{Dataset, Error, Prediction, Result, Threads, TrainedModel, registry};
use ldlf_report::load::{Evaluation, Predictions};
use ldlf_report::page::{RowsShown, feature_name};
use ldlf_report::ranking::{best_first, compare};
use ldlf_report::rows::{example_rows, label_errors, mode_errors};
use ldlf_report::{Figure, plots};

use super::Ending;
use super::report::read_all;
use crate::args::{ThreadOptions, values};
use crate::inputs::{check_destination, is_standard};
use crate::inspected_model;
use crate::inspected_model::ModelOptions;
use crate::printer::Printer;

/// Which figure.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlotKind {
    /// Every fold of every learner by one measure
    Folds,
    /// True against predicted distributions: best, median, worst and chosen rows
    Distributions,
    /// Loss and K-L over the iterations, leaf updates marked
    LearningCurve,
    /// The mean absolute error of each label
    LabelError,
    /// Cumulative score: the fraction of rows within an error of k, for ordered labels
    CumulativeScore,
    /// A measure over the values of a parameter
    Sweep,
    /// Average ranks over several datasets
    CriticalDifference,
    /// One tree, with one row's path highlighted
    Tree,
    /// How evenly rows are distributed over the leaves of a model
    LeafUsage,
    /// Permutation importance of a model's features
    Importance,
    /// How often intervals and label sets of a model hold the truth, beside how often they should
    Coverage,
    /// Predicted beside observed shares of every label of a model
    Reliability,
    /// Where the truth lies in the predictions of a model (PIT), for ordered labels
    Pit,
}

impl PlotKind {
    /// Whether it shows a model on data rather than results.
    fn is_of_a_model(self) -> bool {
        self.is_of_predictions()
            || matches!(self, PlotKind::Tree | PlotKind::LeafUsage | PlotKind::Importance)
    }

    /// Whether it shows the predictions of a model for rows that it did not learn from.
    fn is_of_predictions(self) -> bool {
        matches!(self, PlotKind::Coverage | PlotKind::Reliability | PlotKind::Pit)
    }
}

/// `ldlf plot`.
#[derive(Args)]
pub struct Plot {
    /// Which figure
    #[arg(value_enum)]
    pub kind: PlotKind,
    /// Results as for `ldlf report`; figures of a model take --model and --data instead
    #[arg(value_name = "RESULTS")]
    pub results: Vec<PathBuf>,
    /// Where to write (.svg or .png)
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// The learner to show; by default the best
    #[arg(long, value_name = "NAME")]
    pub learner: Option<String>,
    /// The measure of folds, sweep and critical-difference
    #[arg(long, default_value = "kl", value_name = "NAME")]
    pub measure: String,
    /// Row to show or highlight, numbered from 0; may be repeated
    #[arg(long, value_name = "N")]
    pub row: Vec<usize>,
    /// The fold of a learning curve, from 0; all of them without it
    #[arg(long, value_name = "N")]
    pub fold: Option<usize>,
    /// The tree to draw, from 1
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = values::at_least_one)]
    pub tree: usize,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub threads: ThreadOptions,
    #[command(flatten)]
    pub model: ModelOptions,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
Examples:
  ldlf plot distributions results --row 17 -o rows.svg
  ldlf plot learning-curve results --learner sldlf -o curve.png
  ldlf plot sweep sweep.csv -o trees.svg
  ldlf plot critical-difference movie scene yeast -o ranks.svg
  ldlf plot tree --model votes.ldlf --data votes.csv --row 3 -o tree.svg
  ldlf plot tree --model age.ldlf --data photos --table people.csv --image-column photo -o tree.svg
  ldlf plot coverage --model votes.ldlf --data test.csv -o coverage.svg";

/// Learners that share a figure.
const TOGETHER: usize = 5;

/// Draws the figure and writes it.
pub fn run(args: &Plot, printer: &Printer) -> Result<Ending> {
    if is_standard(&args.out) {
        return Err(Error::usage("the figure is a file; name one with --out"));
    }
    let format = Format::of(&args.out)?;
    let overwrite = check_destination(&args.out, args.force)?;
    let figure = if args.kind.is_of_a_model() {
        of_a_model(args, printer)?
    } else {
        if args.results.is_empty() {
            return Err(Error::usage(
                "this figure is drawn from results; name a folder of `ldlf cv --results`",
            ));
        }
        inspected_model::check_results(&args.results)?;
        of_results(args, &read_all(&args.results)?)?
    };
    write(&args.out, overwrite, format, &figure)?;
    printer.message(format_args!("{}: {}", args.out.display(), figure.description));
    Ok(Ending::Done)
}

/// How a figure is written.
#[derive(Clone, Copy)]
pub enum Format {
    /// Text.
    Svg,
    /// Pixels.
    #[cfg(feature = "png")]
    Png,
}

impl Format {
    /// The format that a name ends with.
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => Ok(Format::Svg),
            #[cfg(feature = "png")]
            Some("png") => Ok(Format::Png),
            _ => Err(Error::usage(format!("{}: a figure ends with .svg or .png", path.display()))),
        }
    }
}

/// Writes a figure whole or not at all.
pub fn write(path: &Path, overwrite: Overwrite, format: Format, figure: &Figure) -> Result<()> {
    let bytes = match format {
        Format::Svg => figure.alone().into_bytes(),
        #[cfg(feature = "png")]
        Format::Png => ldlf_report::png::encode(figure)?,
    };
    write_atomically(path, overwrite, |out| out.write_all(&bytes))
}

fn of_a_model(args: &Plot, printer: &Printer) -> Result<Figure> {
    let (_, model, data) = inspected_model::read(&args.model, printer)?
        .ok_or_else(|| Error::usage("this figure is drawn from a model; give --model and --data"))?;
    let threads = args.threads.pool()?;
    let name = |feature: usize| feature_name(&model.schema, feature);
    if args.kind == PlotKind::Importance {
        return Ok(plots::importance(&permutation_importance(&model, &data, &threads)?));
    }
    if args.kind.is_of_predictions() {
        return of_predictions(args.kind, &model, &data, &threads);
    }
    inspected_model::check_rows(&args.row, &data)?;
    let view = inspected_model::look_inside(&model, &data, &args.row, &threads)?;
    let view = view.ok_or_else(|| {
        Error::usage(match registry::find(&model.learner).is_ok_and(|entry| entry.facts.backbone) {
            true if data.features().is_ok() => format!(
                "the trees of {} are not drawn: their splits see a network, not columns",
                model.learner
            ),
            _ => format!("{} has no soft trees to draw", model.learner),
        })
    })?;
    if args.kind == PlotKind::LeafUsage {
        return Ok(plots::leaf_usage(&view));
    }
    if args.tree > view.trees.len() {
        return Err(Error::usage(format!("--tree {}: the forest has {} trees", args.tree, view.trees.len())));
    }
    let thumbnails = inspected_model::images_at_leaves(&view, args.tree - 1..args.tree, &data)?;
    let what = plots::TreeFigure {
        view: &view,
        tree: args.tree - 1,
        row: (!view.chosen.is_empty()).then_some(0),
        labels: &model.schema.label_names,
        thumbnails: &thumbnails,
    };
    Ok(plots::tree(&what, name))
}

fn of_results(args: &Plot, evaluations: &[Evaluation]) -> Result<Figure> {
    let evaluation = &evaluations[0];
    let measured = |name: &str| evaluation.measures().iter().any(|known| known == name);
    let by_measure = matches!(args.kind, PlotKind::Folds | PlotKind::Sweep | PlotKind::CriticalDifference);
    if by_measure && !measured(&args.measure) {
        return Err(Error::usage(format!(
            "--measure {}: the results of {} have {}",
            args.measure,
            evaluation.dataset,
            evaluation.measures().join(", ")
        )));
    }
    if let (false, [first, .., last]) = (args.kind == PlotKind::CriticalDifference, evaluations) {
        return Err(Error::usage(format!(
            "this figure shows one evaluation, and the results hold several ({}, ..., {})",
            first.dataset, last.dataset
        ))
        .with_remedy("name the results of one, or make a page of all with `ldlf report`"));
    }
    let order = best_first(evaluation);
    match args.kind {
        PlotKind::Folds => Ok(plots::folds(evaluation, &order, &args.measure)),
        PlotKind::Sweep => {
            let sweep = plots::SweepCurves::of(evaluation, &args.measure).ok_or_else(|| {
                Error::usage(format!(
                    "{}: no number was swept over; give the results of `ldlf sweep`",
                    evaluation.dataset
                ))
            })?;
            Ok(plots::sweep(&sweep, &[]))
        }
        PlotKind::CriticalDifference => {
            let all: Vec<&Evaluation> = evaluations.iter().collect();
            let comparison = compare(&all, &args.measure).ok_or_else(|| {
                Error::usage("ranks are compared over at least two datasets that share at least two learners; give more results")
            })?;
            Ok(plots::critical_difference(&comparison))
        }
        PlotKind::Distributions => {
            let run = chosen_run(args, evaluation, &order)?;
            let rows = distributions(evaluation, run)?.ok_or_else(|| no_predictions(evaluation, run))?;
            let name = &evaluation.runs[run].name;
            Ok(plots::distributions(
                name,
                &evaluation.dataset,
                &example_rows(&rows, &args.row),
                &evaluation.labels,
            ))
        }
        PlotKind::LearningCurve => {
            let run = chosen_run(args, evaluation, &order)?;
            let of = &evaluation.runs[run];
            let (name, wanted) = match args.fold {
                Some(fold) => {
                    (format!("{} on fold {fold} of {}", of.name, evaluation.dataset), fold..fold + 1)
                }
                None => (format!("{} on {}", of.name, evaluation.dataset), 0..of.folds.len()),
            };
            let mut folds = wanted.map(|fold| evaluation.curve(run, fold)).collect::<Result<Vec<_>>>()?;
            let drawn = |point: &CurvePoint| {
                point.loss.is_some() || point.validation_kl.is_some() || point.test_kl.is_some()
            };
            folds.retain(|points| points.iter().filter(|point| drawn(point)).count() > 1);
            if folds.is_empty() {
                return Err(Error::usage(format!(
                    "{name}: no learning curve was kept; does the learner iterate?"
                )));
            }
            Ok(plots::learning_curve(&name, &folds))
        }
        PlotKind::LabelError => {
            let mut errors = Vec::new();
            for run in chosen_runs(args, evaluation, &order)? {
                if let Some(rows) = distributions(evaluation, run)? {
                    let name = evaluation.runs[run].name.clone();
                    errors.push((name, label_errors(&rows, evaluation.labels.len())));
                }
            }
            if errors.is_empty() {
                return Err(no_predictions(evaluation, order[0]));
            }
            Ok(plots::label_error(&evaluation.dataset, &evaluation.labels, &errors))
        }
        PlotKind::CumulativeScore => cumulative_score(args, evaluation, &order),
        PlotKind::Tree
        | PlotKind::LeafUsage
        | PlotKind::Importance
        | PlotKind::Coverage
        | PlotKind::Reliability
        | PlotKind::Pit => Err(Error::usage("this figure is drawn from a model; give --model and --data")),
    }
}

/// What the predictions of a model say about themselves, on rows that it did not learn from.
fn of_predictions(kind: PlotKind, model: &TrainedModel, data: &Dataset, threads: &Threads) -> Result<Figure> {
    let (shown, prediction) = inspected_model::shown_predictions(model, data, None, threads)?;
    if shown == RowsShown::Training {
        return Err(Error::usage(
            "these are the rows that the model was trained on, which say too much good of it",
        )
        .with_remedy("give others with --data"));
    }
    let Some(Prediction::Distributions(predicted)) = prediction else {
        return Err(Error::usage("this figure is for models that predict distributions"));
    };
    let found = Reliability::of(&predicted, data, model.conformal.as_ref())?;
    match kind {
        PlotKind::Coverage if found.coverage.is_empty() => {
            Err(Error::usage("the model promises no intervals and no label sets")
                .with_remedy("train it with --calibrate 0.2"))
        }
        PlotKind::Coverage => Ok(plots::coverage(data.name(), &found.coverage)),
        PlotKind::Pit => match &found.pit {
            Some(bins) => Ok(plots::pit(bins)),
            None => Err(Error::usage("this figure is for labels that stand for numbers")
                .with_remedy("train with --label-values")),
        },
        _ => Ok(plots::reliability(&model.schema.label_names, &found.labels)),
    }
}

fn cumulative_score(args: &Plot, evaluation: &Evaluation, order: &[usize]) -> Result<Figure> {
    let values = evaluation.label_values();
    let mut errors = Vec::new();
    for run in chosen_runs(args, evaluation, order)? {
        let name = evaluation.runs[run].name.clone();
        match (evaluation.predictions(run)?, &values) {
            (Some(Predictions::Distributions(rows)), Some(values)) => {
                errors.push((name, mode_errors(&rows, values)))
            }
            (Some(Predictions::Values(pairs)), _) => {
                errors.push((name, pairs.iter().map(|(truth, own)| (truth - own).abs()).collect()));
            }
            _ => {}
        }
    }
    if errors.is_empty() {
        return Err(Error::usage(format!(
            "{}: the cumulative score needs labels that stand for numbers, and kept predictions",
            evaluation.dataset
        )));
    }
    Ok(plots::cumulative_score(&evaluation.dataset, &errors))
}

fn distributions(
    evaluation: &Evaluation,
    run: usize,
) -> Result<Option<Vec<ldlf_report::load::PredictedRow>>> {
    Ok(match evaluation.predictions(run)? {
        Some(Predictions::Distributions(rows)) => Some(rows),
        _ => None,
    })
}

fn no_predictions(evaluation: &Evaluation, run: usize) -> Error {
    Error::usage(format!(
        "{}: no predicted distributions of {} were kept; run `ldlf cv --results DIR` and name that folder",
        evaluation.dataset, evaluation.runs[run].name
    ))
}

/// The learner that was asked for, or the best.
fn chosen_run(args: &Plot, evaluation: &Evaluation, order: &[usize]) -> Result<usize> {
    let Some(wanted) = &args.learner else { return Ok(order[0]) };
    let found = evaluation.runs.iter().position(|run| run.name == *wanted);
    found.ok_or_else(|| {
        let names: Vec<&str> = evaluation.runs.iter().map(|run| run.name.as_str()).collect();
        Error::usage(format!("--learner {wanted}: the results have {}", names.join(", ")))
    })
}

/// The learner that was asked for, or the best few.
fn chosen_runs(args: &Plot, evaluation: &Evaluation, order: &[usize]) -> Result<Vec<usize>> {
    if args.learner.is_some() {
        return Ok(vec![chosen_run(args, evaluation, order)?]);
    }
    Ok(order.iter().copied().take(TOGETHER).collect())
}
