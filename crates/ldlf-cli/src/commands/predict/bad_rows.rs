//! Rows that cannot be read: what becomes of them, and the list of them.

use std::path::Path;

use clap::ValueEnum;
use ldlf::Result;
use ldlf::internals::io::output::Overwrite;
use ldlf::internals::io::read::BadRow;
use ldlf::internals::io::write::{Column, Formulas, TableForm, save_table};

use crate::printer::{Printer, counted};
use crate::words::on_the_command_line;

/// What becomes of a row that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BadRows {
    /// It ends the run
    Fail,
    /// It is left out
    Skip,
    /// It is written with an empty prediction
    Empty,
}

impl BadRows {
    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            BadRows::Fail => "fail",
            BadRows::Skip => "skip",
            BadRows::Empty => "empty",
        }
    }
}

/// Bad rows that are listed at most, so that a file full of them does not fill the memory.
const LISTED: usize = 100_000;

/// The bad rows of a run.
pub struct BadRowList {
    what: BadRows,
    heads: Vec<String>,
    /// The number of a row from 1, what passes through, and why it is bad.
    listed: Vec<(usize, Vec<String>, String)>,
    count: usize,
}

impl BadRowList {
    /// None yet; `heads` are the columns that pass through.
    pub fn new(what: BadRows, heads: &[String]) -> Self {
        BadRowList { what, heads: heads.to_vec(), listed: Vec::new(), count: 0 }
    }

    /// Notes the bad rows of a block that begins after so many rows.
    pub fn note(&mut self, before: usize, bad: &[BadRow], kept: &[Vec<String>]) {
        self.count += bad.len();
        for BadRow { row, error } in bad.iter().take(LISTED - self.listed.len()) {
            let texts = kept.iter().map(|texts| texts[*row].clone()).collect();
            self.listed.push((before + row + 1, texts, error.worded(&on_the_command_line)));
        }
    }

    /// How many rows were left out.
    pub fn left_out(&self) -> usize {
        if self.what == BadRows::Skip { self.count } else { 0 }
    }

    /// Says how many there were, and what the first was.
    pub fn say(&self, rows: usize, printer: &Printer) {
        let Some((_, _, first)) = self.listed.first() else { return };
        let (count, rows) = (self.count, counted(rows, "row"));
        let became = if self.what == BadRows::Skip { "were left out" } else { "have no prediction" };
        printer.message(format_args!(
            "note: {count} of {rows} could not be read and {became}; the first: {first}"
        ));
    }

    /// Writes them as a table: the number of the row, what passes through, the reason.
    pub fn save(&self, path: &Path, overwrite: Overwrite) -> Result<()> {
        let numbers = self.listed.iter().map(|(row, ..)| *row as f64).collect();
        let kept: Vec<Vec<String>> = (0..self.heads.len())
            .map(|column| self.listed.iter().map(|(_, texts, _)| texts[column].clone()).collect())
            .collect();
        let reasons: Vec<String> = self.listed.iter().map(|(_, _, reason)| reason.clone()).collect();
        let apart = |head: &str| {
            if self.heads.iter().any(|kept| kept == head) { format!("bad_{head}") } else { head.to_string() }
        };
        let (row_head, reason_head) = (apart("row"), apart("reason"));
        let mut columns = vec![Column::Numbers(&row_head, numbers)];
        columns.extend(self.heads.iter().zip(&kept).map(|(head, texts)| Column::Names(head, texts)));
        columns.push(Column::Names(&reason_head, &reasons));
        save_table(path, overwrite, TableForm::of(path)?, Formulas::Kept, |mut writer| {
            writer.block(&columns).and_then(|()| writer.finish()).map_err(|e| ldlf::Error::io(path, e))
        })
    }
}
