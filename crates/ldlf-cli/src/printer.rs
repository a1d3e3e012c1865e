//! What a person or a program reads: tables and JSON on stdout, messages on stderr.

use std::fmt::Display;
use std::io::Write;

use ldlf::internals::core::error::Message;
use ldlf::{Error, Result, Value};
use serde::Serialize;

use crate::words::on_the_command_line;

/// What errors call the standard output.
pub const STDOUT: &str = "standard output";

/// Where results and messages go.
pub struct Printer {
    quiet: bool,
}

impl Printer {
    /// A printer; a quiet one keeps messages and progress to itself.
    pub fn new(quiet: bool) -> Self {
        Printer { quiet }
    }

    /// Whether messages and progress are unwanted.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// A message to the user, on stderr.
    pub fn message(&self, text: impl Display) {
        if !self.quiet {
            // A closed stderr is no reason to fail.
            let _ = writeln!(std::io::stderr(), "{text}");
        }
    }

    /// The reader's notices about the data, one line each.
    pub fn notes(&self, notices: &[Message]) {
        for notice in notices {
            self.message(format_args!("note: {}", notice.worded(&on_the_command_line)));
        }
    }

    /// A result, on stdout; ends with a new line whether the text does or not.
    pub fn text(&self, text: &str) -> Result<()> {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes())
            .and_then(|()| if text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") })
            .and_then(|()| out.flush())
            .map_err(|e| Error::io(STDOUT, e))
    }

    /// A result as indented JSON, on stdout.
    pub fn json(&self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string_pretty(value).expect("results are plain data");
        self.text(&text)
    }
}

/// Cells in columns: the first column to the left, the others to the right.
pub struct Table {
    rows: Vec<Vec<String>>,
    left: usize,
}

impl Table {
    /// A table with the given heads.
    pub fn new<S: Into<String>>(heads: impl IntoIterator<Item = S>) -> Self {
        Table { rows: vec![heads.into_iter().map(Into::into).collect()], left: 1 }
    }

    /// Names with values: no heads, both columns to the left.
    pub fn of_facts() -> Self {
        Table { rows: Vec::new(), left: 2 }
    }

    /// How many columns from the first on are set to the left.
    pub fn left_columns(mut self, count: usize) -> Self {
        self.left = count;
        self
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Adds a name with a value.
    pub fn fact(&mut self, name: &str, value: impl Display) {
        self.row([name.to_string(), value.to_string()]);
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let gap = if column == 0 { "" } else { "  " };
                let width = widths[column];
                line += &if column < self.left {
                    format!("{gap}{cell:<width$}")
                } else {
                    format!("{gap}{cell:>width$}")
                };
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A number with four digits after the point, or a dash where a measure does not apply.
pub fn number(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.4}"))
}

/// A word or number of a JSON document, as one writes it on the command line.
pub fn word(value: &Value) -> String {
    ldlf::internals::core::parameters::show_value(value)
}

/// A count with its noun: `1 row`, `2 rows`.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_without_trailing_spaces() {
        let mut table = Table::new(["learner", "K-L"]);
        table.row(["mean", "0.1"]);
        table.row(["sldlf", ""]);
        assert_eq!(table.to_string(), "learner  K-L\nmean     0.1\nsldlf\n");
    }

    #[test]
    fn counts_agree_with_their_noun() {
        assert_eq!((counted(1, "row"), counted(2, "row")), ("1 row".into(), "2 rows".into()));
    }
}
