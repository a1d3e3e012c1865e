//! `ldlf explain`: the columns that moved a row's prediction away from the mean, and by how much.

use std::path::{Path, PathBuf};

use clap::Args;
use ldlf::internals::core::explain::{Explanation, Explanations, explain};
use ldlf::internals::core::inputs::InputKind;
use ldlf::internals::io::for_model::stream_for_model;
use ldlf::internals::io::output::Overwrite;
use ldlf::internals::io::read::{Format, ReadOptions};
use ldlf::internals::io::write::{Column, Formulas, TableForm, save_table};
use ldlf::{Csr, Error, Features, Matrix, Result, TrainedModel};
use ldlf_report::plots;
use serde_json::{Value, json};

use super::{Ending, plot};
use crate::args::{ThreadOptions, values};
use crate::inputs::{check_destination, check_input, data_name, load_model};
use crate::printer::{Printer, Table, counted};

/// `ldlf explain`.
#[derive(Args)]
pub struct Explain {
    /// The model file
    pub model: PathBuf,
    /// The rows to explain; label columns are not needed
    pub data: PathBuf,
    /// The row to explain, numbered from 0; may be repeated
    #[arg(long, value_name = "N", default_value = "0", conflicts_with = "all")]
    pub row: Vec<usize>,
    /// Explain all rows: prints how far each column moves them on average; --json and --out have every row
    #[arg(long)]
    pub all: bool,
    /// Rows whose mean prediction is the base, such as the training table; by default those of DATA
    #[arg(long, value_name = "FILE")]
    pub background: Option<PathBuf>,
    /// Columns to show, the furthest first
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = values::at_least_one)]
    pub top: usize,
    #[arg(long, short, value_name = "FILE", help = format!(
        "Also write a figure of one row (.svg, .png), or a table with a line for each row and column ({})",
        values::table_extensions()
    ))]
    pub out: Option<PathBuf>,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
    /// The format of DATA, if its extension does not say
    #[arg(long, value_name = "FORMAT", value_parser = values::format)]
    pub format: Option<Format>,
    #[command(flatten)]
    pub threads: ThreadOptions,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
The prediction of a row is the mean prediction plus what each column adds to or takes from each label; the parts sum to the
prediction. Categories and missing values count for their column. `moved` is the share of the probability that a column
moved. For trees, soft ones too, the parts follow the splits on the way of the row; they are not Shapley values. For other
learners columns of background rows are replaced one after the other: Shapley values for up to 6 columns, and estimates of
them from sampled orders for more.

Examples:
  ldlf explain votes.ldlf new.csv --row 3
  ldlf explain votes.ldlf new.csv --row 3 --background votes.csv --out why.svg
  ldlf explain votes.ldlf new.csv --all --out parts.parquet";

/// What is written beside the answer.
enum Written {
    Figure(plot::Format),
    Table(&'static TableForm),
}

/// Explains rows.
pub fn run(args: &Explain, printer: &Printer) -> Result<Ending> {
    check_input(&args.data)?;
    let written = match &args.out {
        None => None,
        Some(path) => {
            let what = match plot::Format::of(path) {
                Ok(_) if args.all || args.row.len() > 1 => {
                    return Err(Error::usage("a figure explains one row").with_remedy(
                        "name one with --row, or write a table of all parts, such as parts.csv",
                    ));
                }
                Ok(format) => Written::Figure(format),
                Err(_) => Written::Table(TableForm::of(path)?),
            };
            Some((path, what, check_destination(path, args.force)?))
        }
    };
    let model = load_model(&args.model)?;
    if model.reads() == InputKind::Images {
        let model = args.model.display();
        return Err(Error::data(format!("{model} reads images, which have no columns to explain"))
            .with_remedy(
                "make a table of the images with `ldlf features`, train on it, and explain that model",
            ));
    }
    let data = all_rows(&model, &args.data, args.format)?;
    let background = match &args.background {
        None => None,
        Some(path) => {
            check_input(path)?;
            Some(all_rows(&model, path, None)?)
        }
    };
    let rows: Vec<usize> = if args.all { (0..data.rows()).collect() } else { args.row.clone() };
    if let Some(row) = rows.iter().find(|row| **row >= data.rows()) {
        let (file, rows) = (args.data.display(), counted(data.rows(), "row"));
        return Err(Error::usage(format!("--row {row}: {file} has {rows}, numbered from 0")));
    }
    let threads = args.threads.pool()?;
    let found = explain(&model, background.as_ref().unwrap_or(&data), &data.select(&rows), &threads)?;
    if let Some((path, what, overwrite)) = written {
        match what {
            Written::Figure(format) => {
                let title = format!("row {} of {}", rows[0], data_name(&args.data));
                plot::write(path, overwrite, format, &plots::explanation(&found, 0, &title))?;
            }
            Written::Table(form) => save_parts(&found, &rows, path, form, overwrite)?,
        }
        printer.message(format_args!("{}: written", path.display()));
    }
    if args.json {
        printer.json(&as_json(&found, &rows, &model))?;
    } else if args.all {
        printer.text(&on_average(&found, args, &model))?;
    } else {
        let texts: Vec<String> = found
            .rows
            .iter()
            .zip(&rows)
            .map(|(explained, row)| text_of(&found, explained, *row, args, &model))
            .collect();
        printer.text(&texts.join("\n"))?;
    }
    Ok(Ending::Done)
}

/// All rows of a table as the model reads them; labels are not needed.
fn all_rows(model: &TrainedModel, path: &Path, format: Option<Format>) -> Result<Features> {
    const BLOCK: usize = 4096;
    let options = ReadOptions { format, ..ReadOptions::default() };
    let mut stream = stream_for_model(path, model, &options, &[], false)?;
    let mut all: Option<Features> = None;
    while let Some(block) = stream.next_block(BLOCK)? {
        all = Some(match (all, block) {
            (None, block) => block,
            (Some(Features::Dense(first)), Features::Dense(next)) => {
                let (rows, cols) = (first.rows() + next.rows(), first.cols());
                let mut numbers = first.into_vec();
                numbers.extend_from_slice(next.as_slice());
                Features::Dense(Matrix::new(rows, cols, numbers)?)
            }
            (Some(first), next) => {
                let mut joined = Csr::with_columns(first.cols());
                for part in [&first, &next] {
                    for row in 0..part.rows() {
                        let mut entries = Vec::new();
                        part.for_each_in_row(row, |column, value| entries.push((column as u32, value)));
                        joined.push_row(entries.into_iter().filter(|(_, value)| *value != 0.0));
                    }
                }
                Features::Sparse(joined)
            }
        });
    }
    all.ok_or_else(|| Error::data("there are no rows to explain").in_file(path))
}

/// `row 3 of votes, sldlf: along the splits of the trees; the mean is that over 1000 rows`.
fn heading(what: &str, found: &Explanations, args: &Explain, model: &TrainedModel) -> String {
    format!(
        "{what} of {}, {}: {}; the mean is that over {}\n\n",
        data_name(&args.data),
        model.learner,
        found.method.described(),
        counted(found.background, "row")
    )
}

/// Characters of a column of numbers, with the gap before it.
const NUMBER: usize = 10;

/// The labels that fit into 80 characters beside names of this length: those that moved most, in their order.
fn shown_labels(found: &Explanations, moved: &dyn Fn(usize) -> f64, names: usize) -> Vec<usize> {
    let width = found.labels.iter().map(|label| label.chars().count() + 2).max().unwrap_or(0).max(NUMBER);
    let room = (80usize.saturating_sub(names + NUMBER) / width).max(1);
    let mut labels: Vec<usize> = (0..found.labels.len()).collect();
    labels.sort_by(|&a, &b| moved(b).total_cmp(&moved(a)).then(a.cmp(&b)));
    labels.truncate(room);
    labels.sort_unstable();
    labels
}

/// The longest name among the columns that are shown.
fn longest(found: &Explanations, order: &[usize]) -> usize {
    let lengths = order.iter().map(|&column| found.columns[column].name.chars().count());
    lengths.max().unwrap_or(0).max("prediction".len())
}

fn text_of(
    found: &Explanations,
    explained: &Explanation,
    row: usize,
    args: &Explain,
    model: &TrainedModel,
) -> String {
    let mut order = explained.order();
    let others = order.split_off(args.top.min(order.len()));
    let moved = |label: usize| (explained.prediction[label] - found.base[label]).abs();
    let labels = shown_labels(found, &moved, longest(found, &order));
    let mut table = Table::new(
        ["column".to_string(), "moved".into()]
            .into_iter()
            .chain(labels.iter().map(|&label| found.labels[label].clone())),
    );
    let mut line = |name: &str, moved: String, number: &dyn Fn(usize) -> String| {
        let numbers = labels.iter().map(|&label| number(label));
        table.row([name.to_string(), moved].into_iter().chain(numbers));
    };
    line("mean", String::new(), &|label| format!("{:.4}", found.base[label]));
    for &column in &order {
        let parts = explained.contributions.row(column);
        let moved = format!("{:.4}", explained.moved(column));
        line(&found.columns[column].name, moved, &|label| format!("{:+.4}", parts[label]));
    }
    if !others.is_empty() {
        let sum = |label: usize| -> f64 {
            others.iter().map(|&column| explained.contributions.row(column)[label]).sum()
        };
        let name = format!("{} others", others.len());
        line(&name, String::new(), &|label| format!("{:+.4}", sum(label)));
    }
    line("prediction", String::new(), &|label| format!("{:.4}", explained.prediction[label]));
    let mut text = heading(&format!("row {row}"), found, args, model) + &table.to_string();
    if labels.len() < found.labels.len() {
        let (shown, all) = (labels.len(), found.labels.len());
        text += &format!("\n{shown} of {all} labels, those that moved most; --json has all.\n");
    }
    text
}

/// How far columns move rows on average.
fn on_average(found: &Explanations, args: &Explain, model: &TrainedModel) -> String {
    let rows = found.rows.len().max(1) as f64;
    let mean = |column: usize| found.rows.iter().map(|row| row.moved(column)).sum::<f64>() / rows;
    let mut order: Vec<(usize, f64)> =
        (0..found.columns.len()).map(|column| (column, mean(column))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut table = Table::new(["column", "moved"]);
    for (column, moved) in order.iter().take(args.top) {
        table.row([found.columns[*column].name.clone(), format!("{moved:.4}")]);
    }
    let what = counted(found.rows.len(), "row");
    let mut text = heading(&what, found, args, model) + &table.to_string();
    text += "\nThe share of the probability that a column moves, on average over the rows.\n";
    text
}

fn as_json(found: &Explanations, rows: &[usize], model: &TrainedModel) -> Value {
    let row = |(explained, row): (&Explanation, &usize)| {
        let columns: Vec<Value> = explained
            .order()
            .into_iter()
            .map(|column| {
                json!({
                    "column": found.columns[column].name,
                    "moved": explained.moved(column),
                    "contributions": explained.contributions.row(column),
                })
            })
            .collect();
        json!({ "row": row, "prediction": explained.prediction, "columns": columns })
    };
    json!({
        "learner": model.learner,
        "method": found.method,
        "background_rows": found.background,
        "labels": found.labels,
        "mean": found.base,
        "rows": found.rows.iter().zip(rows).map(row).collect::<Vec<_>>(),
    })
}

/// A table of all parts: a line for each row and column.
fn save_parts(
    found: &Explanations,
    rows: &[usize],
    path: &Path,
    form: &TableForm,
    overwrite: Overwrite,
) -> Result<()> {
    let names: Vec<String> = found.columns.iter().map(|column| column.name.clone()).collect();
    save_table(path, overwrite, form, Formulas::Kept, |mut writer| {
        for (explained, row) in found.rows.iter().zip(rows) {
            let parts = explained.contributions.as_slice().iter().map(|&part| part as f32).collect();
            let parts = Matrix::new(names.len(), found.labels.len(), parts)?;
            let numbers = vec![*row as f64; names.len()];
            writer
                .block(&[
                    Column::Numbers("row", numbers),
                    Column::Names("column", &names),
                    Column::Matrix("contributions", &found.labels, &parts),
                ])
                .map_err(|e| Error::io(path, e))?;
        }
        writer.finish().map_err(|e| Error::io(path, e))
    })
}
