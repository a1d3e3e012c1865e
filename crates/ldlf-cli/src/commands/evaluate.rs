//! `ldlf evaluate`: the measures of a model on a table.

use ldlf::read::Format;
use ldlf::{Csr, Error, Features, Result, Threads, folds, measures};
use serde_json::json;

use super::Ending;
use crate::args::{Evaluate, read_with};
use crate::inputs::{check_input, load_model};
use crate::printer::{Printer, Table, number};

/// Predicts the rows and measures how far the predictions are from the labels.
pub fn run(args: &Evaluate, printer: &Printer) -> Result<Ending> {
    check_input(&args.data)?;
    let model = load_model(&args.model)?;
    let mut options = args.options.for_reading();
    // Where columns have no names, the names of the model choose nothing; only their number must fit.
    let format = options.format.or_else(|| Format::from_path(&args.data));
    if has_named_columns(format) {
        if options.labels.is_empty() && options.spread.is_none() {
            options.labels = model.schema.label_names.clone();
        }
        if options.features.is_empty() {
            options.features = model.schema.feature_names.clone().unwrap_or_default();
        }
    }
    if options.label_values.is_none() {
        options.label_values = model.schema.label_values.clone();
    }
    // Labels made from single values have names, but no columns of those names.
    let from_one_column = model.schema.label_values.is_some() && options.label_column.is_none();
    let mut data = read_with(&args.data, &options, printer).map_err(|error| match error {
        Error::Data(text) | Error::Usage(text) if from_one_column => Error::data(format!(
            "{text} (a model of one ordered label is measured with --label-column and --sigma)"
        )),
        error => error,
    })?;
    if args.options.has_split() {
        data = data.select(&folds::by_split(&data)?[0].test);
    }
    let expected = model.schema.label_names.len();
    if data.labels() != expected {
        return Err(Error::data(format!(
            "{}: {} labels where the model has {expected}; give the labels it was trained on",
            args.data.display(),
            data.labels()
        )));
    }
    if format == Some(Format::Svm) {
        data.features = widened(data.features, model.features);
    }
    let prediction = model.predict(&data.features, &Threads::joined_by_caller(args.threads)?)?;
    let scores = measures::score(&prediction, &data);
    if args.json {
        printer.json(&json!({
            "model": args.model.display().to_string(),
            "learner": model.learner,
            "dataset": data.name,
            "rows": data.rows(),
            "measures": scores,
        }))?;
    } else {
        let mut table = Table::new(["measure", "value", "better"]).left_columns(1);
        for (name, value) in scores.iter() {
            table.row([measures_title(name), &number(value), better(name)]);
        }
        printer.text(&table.to_string())?;
    }
    Ok(Ending::Done)
}

/// Sparse rows with at least `columns` columns: a svmlight file does not show columns after the last that it uses.
fn widened(features: Features, columns: usize) -> Features {
    match features {
        Features::Sparse(narrow) if narrow.cols() < columns => {
            let mut wide = Csr::with_columns(columns);
            for row in 0..narrow.rows() {
                let (places, values) = narrow.row(row);
                wide.push_row(places.iter().copied().zip(values.iter().copied()));
            }
            Features::Sparse(wide)
        }
        other => other,
    }
}

fn has_named_columns(format: Option<Format>) -> bool {
    matches!(format, Some(Format::Csv | Format::Tsv | Format::Parquet))
}

/// What tables call a measure.
pub fn measures_title(name: &str) -> &str {
    match name {
        "mae_mode" => "MAE of the mode",
        "mae_mean" => "MAE of the mean",
        "mae_median" => "MAE of the median",
        "cs_5" => "CS(5)",
        _ => {
            measures::all().iter().find(|measure| measure.name == name).map_or(name, |measure| measure.title)
        }
    }
}

/// Which way a measure points, in a word.
fn better(name: &str) -> &'static str {
    if direction(name) == measures::Direction::LowerIsBetter { "lower" } else { "higher" }
}

/// Which way a measure points; of the measures for ordered labels only the cumulative score should rise.
pub fn direction(name: &str) -> measures::Direction {
    match measures::all().iter().find(|measure| measure.name == name) {
        Some(measure) => measure.direction,
        None if name.starts_with("cs_") => measures::Direction::HigherIsBetter,
        None => measures::Direction::LowerIsBetter,
    }
}
