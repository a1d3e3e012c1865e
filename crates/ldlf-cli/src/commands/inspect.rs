//! `ldlf inspect`: what a model file holds.

use std::path::PathBuf;

use clap::Args;
use ldlf::internals::core::Provenance;
use ldlf::internals::core::stored::Array;
use ldlf::{Error, Result, TrainedModel, registry};
use serde_json::json;

use super::Ending;
use crate::inputs::check_input;
use crate::printer::{Printer, Table, counted, number, word};

/// `ldlf inspect`.
#[derive(Args)]
pub struct Inspect {
    /// The model file
    pub model: PathBuf,
    /// Print everything as JSON
    #[arg(long)]
    pub json: bool,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
Examples:
  ldlf inspect votes.ldlf
  ldlf inspect votes.ldlf --json";

/// Shows the document, the model's own facts, the arrays and the size.
pub fn run(args: &Inspect, printer: &Printer) -> Result<Ending> {
    check_input(&args.model)?;
    let parts = ldlf::internals::io::model_file::read_parts(&args.model)?;
    let document = parts.details.clone();
    let bytes = args.model.metadata().map_err(|e| Error::io(&args.model, e))?.len();
    let arrays: Vec<(String, &'static str, Vec<usize>)> =
        parts.arrays().map(|(name, array)| describe(name, array)).collect();
    // Loading runs every check that prediction relies on: a file that inspects well also predicts.
    let model = TrainedModel::from_parts(parts, &registry::learners())
        .map_err(|e| e.recast(Error::ModelFile).in_file(&args.model))?;
    if args.json {
        let facts: serde_json::Map<_, _> = model.model.inspect().into_iter().collect();
        let arrays: Vec<_> = arrays
            .iter()
            .map(|(name, kind, shape)| json!({"name": name, "type": kind, "shape": shape}))
            .collect();
        printer.json(&json!({"document": document, "facts": facts, "arrays": arrays, "bytes": bytes}))?;
        return Ok(Ending::Done);
    }
    let mut text = facts(&model, &word(&document["format_version"]), bytes).to_string();
    if !model.parameters.0.is_empty() {
        let mut table = Table::of_facts();
        model.parameters.0.iter().for_each(|(name, value)| table.fact(name, word(value)));
        text += &format!("\nparameters\n{table}");
    }
    let mut table = Table::new(["array", "type", "shape"]).left_columns(3);
    for (name, kind, shape) in &arrays {
        let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
        table.row([name.as_str(), kind, &shape.join(" x ")]);
    }
    printer.text(&format!("{text}\n{table}"))?;
    Ok(Ending::Done)
}

fn facts(model: &TrainedModel, version: &str, bytes: u64) -> Table {
    let mut table = Table::of_facts();
    table.fact("learner", &model.learner);
    table.fact("format", version);
    table.fact("size", format!("{bytes} bytes"));
    let names =
        model.schema.feature_names.as_ref().map_or(String::new(), |names| format!(": {}", shortened(names)));
    match &model.schema.image_column {
        Some(column) => table.fact("images", format!("named by the column {column:?}")),
        None => table.fact("features", format!("{}{names}", model.features)),
    }
    table.fact(
        "labels",
        format!("{}: {}", model.schema.label_names.len(), shortened(&model.schema.label_names)),
    );
    if let Some(values) = &model.schema.label_values
        && let [first, .., last] = values.as_slice()
    {
        table.fact("label values", format!("{first} to {last}"));
    }
    let summary = &model.summary;
    let best =
        summary.best_iteration.map_or(String::new(), |best| format!(", kept that of iteration {best}"));
    if summary.iterations > 0 {
        table.fact("training", format!("{}{best}", counted(summary.iterations, "iteration")));
    }
    table.fact("stopped", super::train::why(summary.stopped));
    if summary.loss.is_some() {
        table.fact("loss", number(summary.loss));
    }
    if summary.validation_kl.is_some() {
        table.fact("validation K-L", number(summary.validation_kl));
    }
    if let Some(Provenance { version, seed, rows, calibration_rows, data, .. }) = &model.provenance {
        let calibration =
            calibration_rows.map_or(String::new(), |rows| format!(", {rows} more to calibrate by"));
        table.fact("trained on", format!("{}{calibration}", counted(*rows, "row")));
        data.iter().for_each(|data| table.fact("data fingerprint", data));
        seed.iter().for_each(|seed| table.fact("seed", seed.to_string()));
        table.fact("trained by", format!("ldlf {version}"));
    }
    if let Some(conformal) = &model.conformal {
        table.fact("calibrated by", super::train::calibrated_by(conformal));
    }
    if let Some(spread) = &model.spread {
        let votes = spread.votes().map(|votes| format!("{votes:.0} votes behind a share"));
        let trees = (spread.between_trees > 0.0)
            .then(|| format!("{:.2} of the variance between trees", spread.between_trees));
        table.fact("spread", votes.into_iter().chain(trees).collect::<Vec<_>>().join(", "));
    }
    for (name, value) in model.model.inspect() {
        table.fact(&name, word(&value));
    }
    table
}

/// The first names of a list that may be long.
fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown}, ...") } else { shown }
}

fn describe(name: &str, array: &Array) -> (String, &'static str, Vec<usize>) {
    let (kind, shape) = match array {
        Array::F32(shape, _) => ("f32", shape),
        Array::F64(shape, _) => ("f64", shape),
        Array::U32(shape, _) => ("u32", shape),
    };
    (name.to_string(), kind, shape.clone())
}
