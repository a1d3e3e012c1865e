//! `ldlf sweep`: a learner over values of its parameters.

use std::path::{Path, PathBuf};

use clap::Args;
use ldlf::internals::core::evaluate::{CrossValidation, LearnerResult};
use ldlf::internals::io::output::{Overwrite, write_atomically};
use ldlf::internals::io::write;
use ldlf::measures::Scores;
use ldlf::{Error, Learner, Result, Settings, Value};
use serde_json::json;

use super::Ending;
use super::cv::{Cut, evaluated};
use crate::args::{Axis, FitOptions, values};
use crate::contenders::share_out;
use crate::inputs::{check_destination, check_input, is_standard};
use crate::printer::{Printer, Table, word};

/// `ldlf sweep`.
#[derive(Args)]
pub struct Sweep {
    #[arg(help = format!("The table ({}), or - for standard input", values::read_extensions()))]
    pub data: PathBuf,
    /// The learner
    #[arg(long, default_value = "sldlf", value_name = "NAME")]
    pub learner: String,
    /// A parameter and its values; repeated: every combination
    #[arg(long, value_name = "NAME=V1,V2,...", required = true)]
    pub over: Vec<Axis>,
    /// A named set of parameters, which --set and --over override
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// A parameter; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// The number of folds
    #[arg(long, default_value_t = 10, value_name = "N", conflicts_with = "split_column")]
    pub folds: usize,
    /// A file with the fold in which each row is tested: one number per line, from 0, no header
    #[arg(long, value_name = "FILE", conflicts_with = "folds")]
    pub fold_file: Option<PathBuf>,
    /// Keep finished folds in this file: an interrupted sweep resumes from there
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    /// Write every measure of every combination as a table (.csv)
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
    /// Print the results as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub fit: FitOptions,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
Examples:
  ldlf sweep Movie.mat --over trees=1,2,5,10,20 --folds 5
  ldlf sweep votes.csv --labels 'votes_*' --over trees=5,10 --over depth=4,6 --journal sweep.journal --out sweep.csv";

/// Cross-validates every combination of values and prints a curve of K-L.
pub fn run(args: &Sweep, printer: &Printer) -> Result<Ending> {
    check_input(&args.data)?;
    let cut = Cut::clean(args.folds, 1, args.fold_file.as_deref(), args.fit.options.has_split())?;
    let overwrite = match &args.out {
        Some(path) if is_standard(path) => {
            return Err(Error::usage("--out names a file; the table on standard output needs no --out"));
        }
        Some(path) if !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv")) => {
            return Err(Error::usage(format!(
                "{}: a sweep is written as .csv; choose that ending",
                path.display()
            )));
        }
        Some(path) => check_destination(path, args.force)?,
        None => Overwrite::No,
    };
    let combinations = grid(&args.over)?;
    let names = std::slice::from_ref(&args.learner);
    let base = &share_out(names, args.preset.as_deref(), &args.fit.network.with(&args.set, names)?)?[0];
    let build = |over: &Settings| {
        let settings = base.settings.clone().overridden_by(over);
        ldlf::registry::build(&base.name, base.preset.as_deref(), &settings)
    };
    // All combinations are checked before the first one is fitted.
    let learners: Vec<Box<dyn Learner>> = combinations.iter().map(build).collect::<Result<_>>()?;
    let (_, evaluation) =
        evaluated(&learners, &args.data, &cut, &args.fit, args.journal.as_deref(), printer)?;
    let names: Vec<&str> = args.over.iter().map(|axis| axis.name.as_str()).collect();
    if let Some(path) = &args.out {
        write_csv(path, overwrite, &names, &evaluation)?;
        printer.message(format_args!("results: {}", path.display()));
    }
    if args.json {
        let mut object = json!(evaluation);
        object["over"] = json!(names);
        printer.json(&object)?;
    } else {
        printer.text(&shown(&names, &evaluation).to_string())?;
    }
    Ok(Ending::Done)
}

/// Every combination of the axes' values, the last axis running fastest.
fn grid(axes: &[Axis]) -> Result<Vec<Settings>> {
    let mut combinations = vec![Settings::new()];
    for (number, axis) in axes.iter().enumerate() {
        if axes[..number].iter().any(|earlier| earlier.name == axis.name) {
            return Err(Error::usage(format!(
                "--over names {} twice; give all its values at once",
                axis.name
            )));
        }
        combinations = combinations
            .iter()
            .flat_map(|settings| {
                axis.values.iter().map(|value| {
                    let mut settings = settings.clone();
                    settings.set(&axis.name, value.clone());
                    settings
                })
            })
            .collect();
    }
    Ok(combinations)
}

/// The values of the swept parameters in a result.
fn values<'a>(names: &'a [&str], result: &'a LearnerResult) -> impl Iterator<Item = String> + 'a {
    names.iter().map(|name| word(result.parameters.get(name).unwrap_or(&Value::Null)))
}

fn shown(names: &[&str], evaluation: &CrossValidation) -> Table {
    let mut table = Table::new(names.iter().copied().chain(["K-L "])).left_columns(0);
    let kl = |result: &LearnerResult| result.mean.get("kl");
    let best = evaluation.results.iter().filter_map(kl).min_by(f64::total_cmp);
    for result in &evaluation.results {
        let cell = match (kl(result), result.std.get("kl")) {
            (Some(mean), Some(std)) => {
                let spread = if result.folds.len() > 1 { format!("±{std:.4}") } else { String::new() };
                format!("{mean:.4}{spread}{}", if Some(mean) == best { '*' } else { ' ' })
            }
            _ => "- ".into(),
        };
        table.row(values(names, result).chain([cell]));
    }
    table
}

fn write_csv(path: &Path, overwrite: Overwrite, names: &[&str], evaluation: &CrossValidation) -> Result<()> {
    fn statistics(result: &LearnerResult) -> [(&'static str, &Scores); 2] {
        [("mean", &result.mean), ("std", &result.std)]
    }
    let heads = evaluation.results.first().map(|result| {
        let measures = statistics(result)
            .into_iter()
            .flat_map(|(kind, of)| of.iter().map(move |(name, _)| format!("{name}_{kind}")));
        names.iter().map(|name| name.to_string()).chain(measures).collect()
    });
    let line = |result: &LearnerResult| {
        let numbers = statistics(result)
            .into_iter()
            .flat_map(|(_, of)| of.iter())
            .map(|(_, value)| value.map_or(String::new(), |value| value.to_string()));
        values(names, result).chain(numbers).collect()
    };
    let lines = heads.into_iter().chain(evaluation.results.iter().map(line));
    write_atomically(path, overwrite, |out| write::csv::lines(out, lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_holds_every_combination() {
        let axes: Vec<Axis> = ["a=1,2", "b=3,4"].iter().map(|text| text.parse().unwrap()).collect();
        let grid = grid(&axes).unwrap();
        let expected = [["a=1", "b=3"], ["a=1", "b=4"], ["a=2", "b=3"], ["a=2", "b=4"]];
        assert_eq!(grid, expected.map(|pairs| Settings::parse(pairs).unwrap()));
    }

    #[test]
    fn an_axis_named_twice_is_refused() {
        let axes: Vec<Axis> = ["a=1", "a=2"].iter().map(|text| text.parse().unwrap()).collect();
        assert!(grid(&axes).is_err());
    }
}
