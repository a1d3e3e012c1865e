//! `ldlf evaluate --by` and `--against`: measures by subgroup, and two models on the same rows, each with how sure they are.

use std::collections::BTreeMap;
use std::path::Path;

use ldlf::internals::core::bootstrap::{Bootstrapped, mean_of};
use ldlf::internals::core::calibration::Kind;
use ldlf::internals::core::error::Subject;
use ldlf::internals::io::read::text_column;
use ldlf::measures::{Formula, Measure, row_values};
use ldlf::{Dataset, Error, Prediction, Result, TrainedModel, folds};
use serde_json::{Value, json};

use crate::args::DataOptions;
use crate::printer::Table;

/// Subgroups at most: of more, a table is no longer read.
const MOST_SUBGROUPS: usize = 50;

/// The probability whose coverage is compared.
const LEVEL: f64 = 0.9;

/// Shares that differ by no more are the same, added up in another order.
const SAME_SHARE: f32 = 1e-6;

/// One number per row, with what tables call it.
pub struct PerRow {
    name: &'static str,
    /// What tables call it.
    pub title: String,
    values: Vec<f64>,
}

/// What is compared row by row: K-L and, for ordered labels, the error of the mean; whatever was asked for; and whether the truth is
/// inside what the model promises.
pub fn per_row(
    asked: &[&'static Measure],
    model: &TrainedModel,
    prediction: &Prediction,
    data: &Dataset,
) -> Vec<PerRow> {
    let of_rows = asked.iter().filter(|measure| !matches!(measure.formula, Formula::AllRows(_)));
    let mut compared: Vec<PerRow> = of_rows
        .map(|measure| PerRow {
            name: measure.name,
            title: measure.title.to_string(),
            values: row_values(measure, prediction, data).collect(),
        })
        .filter(|one| one.values.iter().all(|value| !value.is_nan()))
        .collect();
    let kind = if data.schema().label_values.is_some() { Kind::Interval } else { Kind::Set };
    if let Prediction::Distributions(p) = prediction
        && let Some((values, _)) = kind.of_rows(p, data, model.conformal.as_ref(), LEVEL)
    {
        compared.push(PerRow { name: "coverage", title: format!("inside {}={LEVEL}", kind.name()), values });
    }
    compared
}

/// Refuses another model whose labels of the same rows are not those that the first is measured by: their measures do not compare.
pub fn check_same_targets(option: &str, first: &Dataset, other: &Dataset, path: &Path) -> Result<()> {
    let (names, others) = (&first.schema().label_names, &other.schema().label_names);
    let order: Option<Vec<usize>> =
        names.iter().map(|name| others.iter().position(|other| other == name)).collect();
    let Some(order) = order.filter(|_| names.len() == others.len() && first.rows() == other.rows()) else {
        return Err(Error::usage(format!("{option} needs a model of the same labels")).in_file(path));
    };
    let is_same = |row: usize| {
        let (first, other) = (first.targets().row(row), other.targets().row(row));
        first.iter().zip(&order).all(|(share, &at)| (share - other[at]).abs() <= SAME_SHARE)
    };
    if (0..first.rows()).all(is_same) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{option}: the model makes other label distributions of the same rows, so that its measures do not compare"
    ))
    .with_remedy("say how for both, with --labels or with --label-column and --sigma")
    .in_file(path))
}

/// The rows of every value of a column, in the order of the values.
pub fn subgroups(
    column: &str,
    path: &Path,
    options: &DataOptions,
    data: &Dataset,
) -> Result<BTreeMap<String, Vec<usize>>> {
    let table = options.images.table.as_deref().unwrap_or(path);
    let read = options.for_reading();
    let text = |column: &str, role| text_column(table, read.format, column, role);
    let mut values = text(column, Subject::By)?;
    if let Some(split) = &read.split_column {
        let parts = text(split, Subject::SplitColumn)?;
        let tested = |part: &String| folds::is_tested(part) == Some(true);
        values =
            values.into_iter().zip(&parts).filter(|(_, part)| tested(part)).map(|(value, _)| value).collect();
    }
    if values.len() != data.rows() {
        return Err(Error::usage(format!(
            "--by needs a value for every row that is measured: {} values, {} rows; leave out --bad-images",
            values.len(),
            data.rows()
        )));
    }
    let mut rows = BTreeMap::<String, Vec<usize>>::new();
    values.into_iter().enumerate().for_each(|(row, value)| rows.entry(value).or_default().push(row));
    if rows.len() > MOST_SUBGROUPS {
        return Err(Error::usage(format!(
            "--by {column} has {} different values; name a column with {MOST_SUBGROUPS} at most",
            rows.len()
        )));
    }
    Ok(rows)
}

/// The means of some rows, with their intervals.
pub fn means(compared: &[PerRow], data: &Dataset, rows: &[usize]) -> Vec<Bootstrapped> {
    let pick = |values: &[f64]| rows.iter().map(|&row| values[row]).collect::<Vec<f64>>();
    let weights: Option<Vec<f32>> =
        data.weights().map(|weights| rows.iter().map(|&row| weights[row]).collect());
    let groups: Option<Vec<u32>> = data.groups().map(|groups| rows.iter().map(|&row| groups[row]).collect());
    compared.iter().map(|one| mean_of(&pick(&one.values), weights.as_deref(), groups.as_deref())).collect()
}

/// The table of subgroups.
pub fn by_table(
    column: &str,
    rows: &BTreeMap<String, Vec<usize>>,
    compared: &[PerRow],
    data: &Dataset,
) -> String {
    let heads = [column.to_string(), "rows".to_string()].into_iter();
    let mut table = Table::new(heads.chain(compared.iter().map(|one| one.title.clone())));
    for (value, rows) in rows {
        let cells = means(compared, data, rows).into_iter().map(cell);
        table.row([value.clone(), rows.len().to_string()].into_iter().chain(cells));
    }
    format!("{table}\nIn brackets: 95 % intervals by bootstrap over {}.\n", units(data))
}

/// The same as JSON.
pub fn by_json(rows: &BTreeMap<String, Vec<usize>>, compared: &[PerRow], data: &Dataset) -> Value {
    let of = |rows: &Vec<usize>| {
        let measured = compared.iter().zip(means(compared, data, rows));
        let measures: serde_json::Map<_, _> =
            measured.map(|(one, mean)| (one.name.to_string(), json!(mean))).collect();
        json!({ "rows": rows.len(), "measures": measures })
    };
    Value::Object(rows.iter().map(|(value, rows)| (value.clone(), of(rows))).collect())
}

/// How much lower or higher the first model is than the second, row by row, where both have a number.
pub fn differences(first: Vec<PerRow>, second: &[PerRow]) -> Vec<PerRow> {
    let paired = first.into_iter().filter_map(|one| {
        let other = second.iter().find(|other| other.title == one.title)?;
        let values = one.values.iter().zip(&other.values).map(|(a, b)| a - b).collect();
        Some(PerRow { values, ..one })
    });
    paired.collect()
}

/// The table of differences.
pub fn against_table(compared: &[PerRow], data: &Dataset) -> String {
    let all: Vec<usize> = (0..data.rows()).collect();
    let mut table = Table::new(["measure", "difference", "verdict"]).left_columns(1);
    for (one, mean) in compared.iter().zip(means(compared, data, &all)) {
        let verdict = if mean.low > 0.0 {
            "higher"
        } else if mean.high < 0.0 {
            "lower"
        } else {
            "not told apart"
        };
        table.row([one.title.clone(), cell(mean), verdict.to_string()]);
    }
    format!(
        "{table}\nThis model less the other, row by row; in brackets: 95 % intervals by bootstrap over {}.\n",
        units(data)
    )
}

/// The same as JSON.
pub fn against_json(compared: &[PerRow], data: &Dataset) -> Value {
    let all: Vec<usize> = (0..data.rows()).collect();
    let measured = compared.iter().zip(means(compared, data, &all));
    Value::Object(measured.map(|(one, mean)| (one.name.to_string(), json!(mean))).collect())
}

fn cell(mean: Bootstrapped) -> String {
    format!("{:.4} [{:.4}, {:.4}]", mean.value, mean.low, mean.high)
}

pub fn units(data: &Dataset) -> &'static str {
    if data.groups().is_some() { "groups" } else { "rows" }
}
