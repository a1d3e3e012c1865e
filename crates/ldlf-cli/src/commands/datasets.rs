//! `ldlf datasets`: public sets with label distributions, and how to get them.

use clap::Args;
use ldlf::Result;
use serde::Serialize;
use serde_json::json;

use super::Ending;
use crate::printer::{Printer, Table};

/// `ldlf datasets`.
#[derive(Args)]
pub struct Datasets {
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

/// What `--help` says after the options.
pub const HELP: &str = "Example:\n  ldlf datasets";

/// A public set.
#[derive(Serialize)]
struct Known {
    name: &'static str,
    rows: usize,
    /// `None` where the set consists of images.
    features: Option<usize>,
    labels: usize,
    what: &'static str,
    source: &'static str,
}

const fn known(
    name: &'static str,
    rows: usize,
    features: Option<usize>,
    labels: usize,
    what: &'static str,
    source: &'static str,
) -> Known {
    Known { name, rows, features, labels, what, source }
}

const KNOWN: [Known; 18] = [
    known("Movie", 7755, Some(1869), 5, "ratings of films", "ldl"),
    known("Natural_Scene", 2000, Some(294), 9, "labels of scenes", "ldl"),
    known("Human_Gene", 17892, Some(36), 68, "genes and diseases", "ldl"),
    known("SBU_3DFE", 2500, Some(243), 6, "facial expressions", "ldl"),
    known("SJAFFE", 213, Some(243), 6, "facial expressions", "ldl"),
    known("Yeast_alpha", 2465, Some(24), 18, "gene expression over time", "ldl"),
    known("Yeast_cdc", 2465, Some(24), 15, "gene expression over time", "ldl"),
    known("Yeast_elu", 2465, Some(24), 14, "gene expression over time", "ldl"),
    known("Yeast_diau", 2465, Some(24), 7, "gene expression over time", "ldl"),
    known("Yeast_heat", 2465, Some(24), 6, "gene expression over time", "ldl"),
    known("Yeast_spo", 2465, Some(24), 6, "gene expression over time", "ldl"),
    known("Yeast_cold", 2465, Some(24), 4, "gene expression over time", "ldl"),
    known("Yeast_dtt", 2465, Some(24), 4, "gene expression over time", "ldl"),
    known("Yeast_spo5", 2465, Some(24), 3, "gene expression over time", "ldl"),
    known("Yeast_spoem", 2465, Some(24), 2, "gene expression over time", "ldl"),
    known("FG-Net", 1002, Some(251), 70, "ages of faces", "fgnet"),
    known("MORPH", 55132, None, 62, "ages of faces, images", "morph"),
    known("APPA-REAL", 7591, None, 101, "guesses of ages of faces, images", "appa-real"),
];

/// Where sets come from.
#[derive(Serialize)]
struct Source {
    key: &'static str,
    get: &'static str,
    cite: &'static str,
    licence: &'static str,
}

const SOURCES: [Source; 4] = [
    Source {
        key: "ldl",
        get: ".mat files (variables features and labels) on the LDL page of Xin Geng's lab: palm.seu.edu.cn/xgeng/LDL",
        cite: "X. Geng: Label Distribution Learning, IEEE Transactions on Knowledge and Data Engineering 28(7), 2016",
        licence: "none is stated; use for research and cite",
    },
    Source {
        key: "fgnet",
        get: "the FG-NET ageing database (images); a .mat file needs features, labels and, for errors in years, age",
        cite: "A. Lanitis, C. Taylor, T. Cootes: Toward automatic simulation of aging effects on face images, PAMI 24(4), 2002",
        licence: "research only",
    },
    Source {
        key: "morph",
        get: "Album 2, on request and against a fee, from the Face Aging Group of the University of North Carolina Wilmington",
        cite: "K. Ricanek, T. Tesafaye: MORPH: a longitudinal image database of normal adult age-progression, FG 2006",
        licence: "by agreement; not free",
    },
    Source {
        key: "appa-real",
        get: "the page of the APPA-REAL database at the ChaLearn LAP challenges: chalearnlap.cvc.uab.es",
        cite: "E. Agustsson et al.: Apparent and real age estimation in still images with deep residual regressors on APPA-REAL, FG 2017",
        licence: "research only",
    },
];

/// The sets and their sources as JSON: `datasets` and `sources`.
pub fn catalogue() -> serde_json::Value {
    json!({"datasets": KNOWN, "sources": SOURCES})
}

/// Lists the sets and their sources.
pub fn run(args: &Datasets, printer: &Printer) -> Result<Ending> {
    if args.json {
        printer.json(&catalogue())?;
        return Ok(Ending::Done);
    }
    let mut table = Table::new(["name", "what", "source", "rows", "features", "labels"]).left_columns(3);
    for set in &KNOWN {
        let features = set.features.map_or("-".to_string(), |count| count.to_string());
        let (rows, labels) = (set.rows.to_string(), set.labels.to_string());
        table.row([set.name, set.what, set.source, &rows, &features, &labels]);
    }
    let mut text = table.to_string();
    for source in &SOURCES {
        text += &format!(
            "\n{}\n  get      {}\n  cite     {}\n  licence  {}\n",
            source.key, source.get, source.cite, source.licence
        );
    }
    printer.text(&text)?;
    Ok(Ending::Done)
}
