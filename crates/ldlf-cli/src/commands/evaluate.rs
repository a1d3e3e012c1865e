//! `ldlf evaluate`: the measures of a model on a table.

pub(super) mod compare;
mod trust;

use std::path::PathBuf;

use clap::Args;
use ldlf::internals::core::calibration::Reliability;
use ldlf::internals::io::write::{Column, Formulas, TableForm, save_table};
use ldlf::measures::{Formula, Measure, Scores, row_values};
pub use ldlf::measures::{direction, title as measures_title};
use ldlf::{Dataset, Error, Matrix, Prediction, Result, measures};
use serde_json::json;

use super::Ending;
use crate::args::{DataOptions, ThreadOptions, values};
use crate::inputs::{check_destination, check_input, data_name, is_standard, load_model};
use crate::model_data::read_for_model;
use crate::printer::{Printer, Table, counted, number};

/// `ldlf evaluate`.
#[derive(Args)]
pub struct Evaluate {
    /// The model file
    pub model: PathBuf,
    /// The rows to measure it on, or - for standard input with --format
    pub data: PathBuf,
    /// Further measures, by name or `all`; they stand after the usual ones
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = values::measures)]
    pub measures: Vec<&'static [Measure]>,
    /// Write every measure row by row as a table
    #[arg(long, value_name = "FILE")]
    pub per_row: Option<PathBuf>,
    /// Replace an existing output
    #[arg(long, requires = "per_row")]
    pub force: bool,
    /// Also show whether predictions mean what they say: coverage, calibration, PIT
    #[arg(long)]
    pub trust: bool,
    /// Also measure the rows of every value of this column by themselves
    #[arg(long, value_name = "COLUMN")]
    pub by: Option<String>,
    /// Also compare with another model, row by row
    #[arg(long, value_name = "MODEL")]
    pub against: Option<PathBuf>,
    /// Further models to measure beside it on the same rows
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    pub beside: Vec<PathBuf>,
    /// Print the measures as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub threads: ThreadOptions,
    #[command(flatten)]
    pub options: DataOptions,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
Feature and label columns are those the model names, unless options say otherwise. With --split-column only the rows marked
test are measured.

Further measures of distributions: jensen_shannon, log_score (of a vote), spearman and kendall (of the labels' ranks), top_1, top_3.
Where labels stand for numbers: crps, emd_1, emd_2, pinball, interval_score_90, coverage_90, width_90, kappa.

--trust shows how often intervals, sets and quantiles hold the truth at 50, 80, 90 and 95 %, the K-L divergence in two parts (what a
better calibration would take off, and the rest), every label's mean prediction beside what was observed, and the histogram of
where the truth lies in the predicted distribution (PIT). --by and --against give 95 % intervals by bootstrap over rows, or over
the groups of --group; they show K-L, for numbers the error of the mean, whatever --measures names, and coverage at 90 %.

Examples:
  ldlf evaluate votes.ldlf test.csv
  ldlf evaluate age.ldlf test.csv --trust --by gender --group person
  ldlf evaluate votes.ldlf test.csv --against older.ldlf
  ldlf evaluate votes.ldlf test.csv --beside forest.ldlf,boosted.ldlf
  ldlf evaluate age.ldlf test.csv --measures crps,kappa
  ldlf evaluate age.ldlf test.csv --measures all --per-row rows.csv
  ldlf evaluate movie.ldlf Movie.mat --json";

/// Predicts the rows and measures how far the predictions are from the labels.
pub fn run(args: &Evaluate, printer: &Printer) -> Result<Ending> {
    check_input(&args.data)?;
    let again = [
        ("--by", args.by.is_some()),
        ("--against", args.against.is_some()),
        ("--beside", !args.beside.is_empty()),
    ];
    if let Some((option, _)) = again.iter().find(|(_, given)| *given && is_standard(&args.data)) {
        return Err(Error::usage(format!(
            "{option} reads the data once more, which standard input does not allow"
        ))
        .with_remedy("save them to a file"));
    }
    let per_row = match &args.per_row {
        None => None,
        Some(path) => Some((path, TableForm::of(path)?, check_destination(path, args.force)?)),
    };
    let model = load_model(&args.model)?;
    let data = read_for_model(&model, &args.data, &args.options, printer)?;
    let prediction = model.predict_with(data.inputs(), &args.threads.pool()?)?;
    let asked = asked(&args.measures, data.schema().label_values.is_some())?;
    let scores = measures::score_by(asked.iter().copied(), &prediction, &data);
    if let Some((path, form, overwrite)) = per_row {
        // What is a number of all rows at once has none for a single one.
        let of_rows = asked.iter().filter(|measure| !matches!(measure.formula, Formula::AllRows(_)));
        let columns: Vec<Column<'_>> = of_rows
            .map(|measure| Column::Numbers(measure.name, row_values(measure, &prediction, &data).collect()))
            .collect();
        save_table(path, overwrite, form, Formulas::Kept, |mut writer| {
            writer.block(&columns).and_then(|()| writer.finish()).map_err(|e| Error::io(path, e))
        })?;
    }
    let reliability = match (args.trust, &prediction) {
        (false, _) => None,
        (true, Prediction::Distributions(p)) => Some(Reliability::of(p, &data, model.conformal.as_ref())?),
        (true, Prediction::Values(_)) => {
            return Err(Error::usage("--trust is for models that predict distributions; leave it out"));
        }
    };
    let mut compared = Vec::new();
    if args.by.is_some() || args.against.is_some() {
        let few = asked_of_rows(&args.measures, data.schema().label_values.is_some());
        compared = compare::per_row(&few, &model, &prediction, &data);
    }
    let subgroups = match &args.by {
        None => None,
        Some(column) => Some((column, compare::subgroups(column, &args.data, &args.options, &data)?)),
    };
    let by = subgroups.as_ref().map(|(column, rows)| {
        (compare::by_table(column, rows, &compared, &data), compare::by_json(rows, &compared, &data))
    });
    let against = match &args.against {
        None => None,
        Some(path) => {
            let other = load_model(path)?;
            let its_data = read_for_model(&other, &args.data, &args.options, printer)?;
            compare::check_same_targets("--against", &data, &its_data, path)?;
            let its_prediction = other.predict_with(its_data.inputs(), &args.threads.pool()?)?;
            let few = asked_of_rows(&args.measures, data.schema().label_values.is_some());
            let its_rows = compare::per_row(&few, &other, &its_prediction, &its_data);
            let differences = compare::differences(compared, &its_rows);
            Some((compare::against_table(&differences, &data), compare::against_json(&differences, &data)))
        }
    };
    let mut beside = Vec::new();
    for path in &args.beside {
        let other = load_model(path)?;
        let its_data = read_for_model(&other, &args.data, &args.options, printer)?;
        compare::check_same_targets("--beside", &data, &its_data, path)?;
        let its_prediction = other.predict_with(its_data.inputs(), &args.threads.pool()?)?;
        let its_scores = measures::score_by(asked.iter().copied(), &its_prediction, &its_data);
        beside.push((path, other.learner.clone(), its_scores));
    }
    let mean = of_the_mean(&asked, &data)?;
    if args.json {
        let mut found = json!({
            "model": args.model.display().to_string(),
            "learner": model.learner,
            "dataset": data.name(),
            "rows": data.rows(),
            "measures": scores,
            "measures_of_the_mean": mean,
        });
        if !beside.is_empty() {
            let each = beside.iter().map(|(path, learner, scores)| {
                json!({ "model": path.display().to_string(), "learner": learner, "measures": scores })
            });
            found["beside"] = each.collect();
        }
        let more = [
            ("trust", reliability.map(|found| json!(found))),
            ("by", by.map(|(_, json)| json)),
            ("against", against.map(|(_, json)| json)),
        ];
        more.into_iter().for_each(|(name, value)| {
            if let Some(value) = value {
                found[name] = value;
            }
        });
        printer.json(&found)?;
    } else {
        let own = if beside.is_empty() { "value".to_string() } else { data_name(&args.model) };
        let others = beside.iter().map(|(path, ..)| data_name(path));
        let heads = ["measure".to_string(), own].into_iter().chain(others);
        let mut table =
            Table::new(heads.chain(["the mean".to_string(), "better".to_string()])).left_columns(1);
        for (name, value) in scores.iter() {
            let others = beside.iter().map(|(_, _, scores)| scores.get(name));
            let values = [value].into_iter().chain(others).chain([mean.get(name)]).map(number);
            let cells = [measures::title(name).to_string()].into_iter().chain(values);
            table.row(cells.chain([better(name).to_string()]));
        }
        let rows = counted(data.rows(), "row");
        let mut text = format!("{rows} of {}, {}\n\n{table}", data.name(), model.learner);
        let more = [
            reliability.map(|found| trust::tables(&found, &model)),
            by.map(|(table, _)| table),
            against.map(|(table, _)| table),
        ];
        more.into_iter().flatten().for_each(|more| text += &format!("\n{more}"));
        printer.text(&text)?;
    }
    Ok(Ending::Done)
}

/// The measures of the simplest baseline, which predicts the mean of the labels of these very rows: no constant is nearer to them.
fn of_the_mean(asked: &[&'static Measure], data: &Dataset) -> Result<Scores> {
    let mean: Vec<f32> = data.mean_target().iter().map(|&share| share as f32).collect();
    let rows = Matrix::new(data.rows(), mean.len(), mean.repeat(data.rows()))?;
    Ok(measures::score_by(asked.iter().copied(), &Prediction::Distributions(rows), data))
}

/// The usual measures that apply, then those that were asked for, each once. What was asked for by name must apply.
fn asked(named: &[&'static [Measure]], is_ordered: bool) -> Result<Vec<&'static Measure>> {
    let applies = |measure: &&Measure| is_ordered || !measure.is_ordered();
    let mut asked: Vec<&Measure> = measures::usual().iter().filter(applies).collect();
    for measure in named.iter().copied().flatten() {
        let by_name = named.iter().any(|list| matches!(list, [one] if one.name == measure.name));
        if !applies(&measure) {
            if by_name {
                return Err(Error::usage(format!(
                    "{} needs labels that stand for numbers; train with --label-values",
                    measure.name
                )));
            }
            continue;
        }
        if asked.iter().all(|known| known.name != measure.name) {
            asked.push(measure);
        }
    }
    Ok(asked)
}

/// What is compared row by row: K-L, for ordered labels the error of the mean, and what was asked for by name.
pub(super) fn asked_of_rows(named: &[&'static [Measure]], is_ordered: bool) -> Vec<&'static Measure> {
    let always = measures::usual().iter().filter(|measure| match measure.name {
        "kl" => true,
        "mae_mean" => is_ordered,
        _ => false,
    });
    let by_name = named.iter().filter_map(|list| if let [one] = list { Some(one) } else { None });
    let mut asked: Vec<&Measure> = always.collect();
    by_name.for_each(|measure| {
        if asked.iter().all(|known| known.name != measure.name) {
            asked.push(measure);
        }
    });
    asked
}

/// Which way a measure points, in a word.
fn better(name: &str) -> &'static str {
    if measures::direction(name) == measures::Direction::LowerIsBetter { "lower" } else { "higher" }
}
