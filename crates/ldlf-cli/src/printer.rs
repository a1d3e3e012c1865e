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

/// Columns of a terminal, within which tables stay where they can.
const WIDTH: usize = 80;

/// The least room for a column of sentences beside the others; with less they stand below.
const LEAST_ROOM: usize = 30;

/// What a table does with lines that are too long.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TooLong {
    /// They stay.
    Stay,
    /// Columns that do not fit stand below, in a further block with the first column.
    Blocks,
    /// The last column holds sentences, which are wrapped.
    Wrap,
}

/// Cells in columns: the first column to the left, the others to the right.
pub struct Table {
    rows: Vec<Vec<String>>,
    left: usize,
    /// Whether the last column is set to the left, too.
    last_left: bool,
    too_long: TooLong,
}

impl Table {
    /// A table with the given heads.
    pub fn new<S: Into<String>>(heads: impl IntoIterator<Item = S>) -> Self {
        let heads = heads.into_iter().map(Into::into).collect();
        Table { rows: vec![heads], left: 1, last_left: false, too_long: TooLong::Stay }
    }

    /// Names with values: no heads, both columns to the left.
    pub fn of_facts() -> Self {
        Table { rows: Vec::new(), left: 2, last_left: false, too_long: TooLong::Stay }
    }

    /// How many columns from the first on are set to the left.
    pub fn left_columns(mut self, count: usize) -> Self {
        self.left = count;
        self
    }

    /// Sets the last column to the left, which holds remarks.
    pub fn last_left(mut self) -> Self {
        self.last_left = true;
        self
    }

    /// Continues columns that do not fit the terminal in further blocks, which begin with the first column.
    pub fn in_blocks(mut self) -> Self {
        self.too_long = TooLong::Blocks;
        self
    }

    /// Wraps the sentences of the last column.
    pub fn wrapped(mut self) -> Self {
        self.too_long = TooLong::Wrap;
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

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cells = |column: usize| self.rows.iter().filter_map(move |row| row.get(column));
        (0..columns).map(|column| cells(column).map(|cell| cell.chars().count()).max().unwrap_or(0)).collect()
    }

    /// The columns of every block.
    fn blocks(&self, widths: &[usize]) -> Vec<Vec<usize>> {
        let mut blocks = vec![Vec::new()];
        let mut taken = 0;
        for (column, width) in widths.iter().enumerate() {
            let block = blocks.last_mut().filter(|block| block.len() < 2 || taken + 2 + width <= WIDTH);
            match block {
                Some(block) => {
                    block.push(column);
                    taken += width + if column == 0 { 0 } else { 2 };
                }
                None => {
                    blocks.push(vec![0, column]);
                    taken = widths[0] + 2 + width;
                }
            }
        }
        blocks
    }

    /// Some columns of a row.
    fn line(&self, row: &[String], columns: &[usize], widths: &[usize]) -> String {
        let mut line = String::new();
        for &column in columns.iter().filter(|&&column| column < row.len()) {
            let gap = if column == 0 { "" } else { "  " };
            let (cell, width) = (&row[column], widths[column]);
            line += &if column < self.left || (self.last_left && column + 1 == widths.len()) {
                format!("{gap}{cell:<width$}")
            } else {
                format!("{gap}{cell:>width$}")
            };
        }
        line.trim_end().to_string()
    }

    fn fmt_wrapped(&self, f: &mut std::fmt::Formatter<'_>, widths: &[usize]) -> std::fmt::Result {
        let others: Vec<usize> = (0..widths.len().saturating_sub(1)).collect();
        let before: usize = others.iter().map(|&column| widths[column] + 2).sum();
        let is_beside = before + LEAST_ROOM <= WIDTH;
        let start = if is_beside { before } else { 4 };
        for row in &self.rows {
            let first = self.line(row, &others, widths);
            let sentence = row.get(others.len()).filter(|text| !text.is_empty());
            let sentences = sentence.map_or(Vec::new(), |text| words_in(text, WIDTH - start));
            let mut lines = sentences.iter();
            match lines.next().filter(|_| is_beside) {
                Some(words) => writeln!(f, "{first:<start$}{words}")?,
                None => {
                    writeln!(f, "{first}")?;
                    lines = sentences.iter();
                }
            }
            lines.try_for_each(|words| writeln!(f, "{:start$}{words}", ""))?;
        }
        Ok(())
    }
}

/// A text in lines of at most so many characters, but for longer words.
fn words_in(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut().filter(|line| line.chars().count() + 1 + word.chars().count() <= width) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_string()),
        }
    }
    lines
}

impl Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let widths = self.widths();
        let blocks = match self.too_long {
            TooLong::Stay => vec![(0..widths.len()).collect()],
            TooLong::Blocks => self.blocks(&widths),
            TooLong::Wrap => return self.fmt_wrapped(f, &widths),
        };
        for (number, columns) in blocks.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            self.rows.iter().try_for_each(|row| writeln!(f, "{}", self.line(row, columns, &widths)))?;
        }
        Ok(())
    }
}

/// A number with four digits after the point, or a dash where a measure does not apply.
pub fn number(value: Option<f64>) -> String {
    let shown = value.map_or("-".into(), |value| format!("{value:.4}"));
    // What rounding left of a sum is no number below 0.
    if shown == "-0.0000" { "0.0000".into() } else { shown }
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
    fn columns_that_do_not_fit_a_terminal_stand_below() {
        let wide = |text: &str| format!("{text:>30}");
        let mut table = Table::new(["learner".to_string(), wide("a"), wide("b"), wide("c")]).in_blocks();
        table.row(["mean".to_string(), wide("1"), wide("2"), wide("3")]);
        let text = table.to_string();
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(
            lines,
            [
                vec!["learner", "a", "b"],
                vec!["mean", "1", "2"],
                vec![],
                vec!["learner", "c"],
                vec!["mean", "3"]
            ]
        );
    }

    #[test]
    fn sentences_are_wrapped_beside_the_other_columns_or_below_them() {
        let sentence =
            "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen";
        let mut beside = Table::new(["name", "what it is"]).left_columns(2).wrapped();
        beside.row(["mean", sentence]);
        let lines: Vec<String> = beside.to_string().lines().map(String::from).collect();
        assert_eq!((lines.len(), &*lines[0]), (3, "name  what it is"));
        assert!(lines[2].starts_with("      f") && lines.iter().all(|line| line.len() <= WIDTH), "{lines:?}");
        let mut below = Table::new(["n".repeat(60).as_str(), "what it is"]).left_columns(2).wrapped();
        below.row(["mean", "one"]);
        assert_eq!(below.to_string(), format!("{}\n    what it is\nmean\n    one\n", "n".repeat(60)));
    }

    #[test]
    fn counts_agree_with_their_noun() {
        assert_eq!((counted(1, "row"), counted(2, "row")), ("1 row".into(), "2 rows".into()));
    }
}
