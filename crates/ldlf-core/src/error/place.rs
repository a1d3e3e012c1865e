//! Where in the data an error is.

use std::path::{Path, PathBuf};

/// Where an error is, as far as that is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// The learner that was at work.
    pub learner: Option<String>,
    /// The number of the fold it was at work on, from 0.
    pub fold: Option<usize>,
    /// The file; `stdin` is standard input.
    pub file: Option<PathBuf>,
    /// What the data is called where it is no file: the name of a dataset, or an array such as `y`.
    pub data: Option<String>,
    /// The line of a text, from 1.
    pub line: Option<u64>,
    /// The row: from 1 in a file, from 0 in an array.
    pub row: Option<u64>,
    /// The column, or what stands for one.
    pub column: Option<Column>,
}

/// One of several things that a row has.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Column {
    /// A column by its name.
    Named(String),
    /// A column by its number.
    Numbered(u64),
    /// A feature by its number.
    Feature(u64),
    /// A label by its number.
    Label(u64),
    /// An array by its name, in a file that holds several.
    Array(String),
}

impl std::fmt::Display for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Column::Named(name) => write!(f, "column {name:?}"),
            Column::Numbered(number) => write!(f, "column {number}"),
            Column::Feature(number) => write!(f, "feature {number}"),
            Column::Label(number) => write!(f, "label {number}"),
            Column::Array(name) => write!(f, "{name:?}"),
        }
    }
}

impl Place {
    /// A file.
    pub fn file(path: impl AsRef<Path>) -> Self {
        Place { file: Some(path.as_ref().to_path_buf()), ..Place::default() }
    }

    /// A dataset or an array.
    pub fn data(name: impl Into<String>) -> Self {
        Place { data: Some(name.into()), ..Place::default() }
    }

    /// The line of that number.
    #[must_use]
    pub fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// The row of that number.
    #[must_use]
    pub fn row(mut self, row: usize) -> Self {
        self.row = Some(row as u64);
        self
    }

    /// The column of that name.
    #[must_use]
    pub fn column(self, name: impl Into<String>) -> Self {
        self.cell(Column::Named(name.into()))
    }

    /// The feature of that number.
    #[must_use]
    pub fn feature(self, number: usize) -> Self {
        self.cell(Column::Feature(number as u64))
    }

    /// The label of that number, if one is meant.
    #[must_use]
    pub fn label(self, number: Option<usize>) -> Self {
        match number {
            Some(number) => self.cell(Column::Label(number as u64)),
            None => self,
        }
    }

    /// The given column.
    #[must_use]
    pub fn cell(mut self, column: Column) -> Self {
        self.column = Some(column);
        self
    }

    /// This place with what the `outer` one adds: lines and columns of another file do not belong to this one.
    pub(super) fn within(mut self, outer: Place) -> Self {
        // A learner may train others; the outermost is the one that the user chose.
        self.learner = outer.learner.or(self.learner);
        self.fold = self.fold.or(outer.fold);
        if self.file.is_none() && self.data.is_none() {
            (self.file, self.data) = (outer.file, outer.data);
            self.line = self.line.or(outer.line);
            self.row = self.row.or(outer.row);
            self.column = self.column.or(outer.column);
        }
        self
    }

    /// `sldlf, fold 3: movies.csv line 18, column "rating_3": `, as far as there is something to say.
    pub(super) fn before_a_sentence(&self) -> String {
        let mut text = String::new();
        match (&self.learner, self.fold) {
            (Some(learner), Some(fold)) => text += &format!("{learner}, fold {fold}: "),
            (Some(learner), None) => text += &format!("{learner}: "),
            (None, Some(fold)) => text += &format!("fold {fold}: "),
            (None, None) => {}
        }
        let start = text.len();
        match (&self.file, &self.data) {
            (Some(file), _) => text += &shown(&file.display().to_string()),
            (None, Some(data)) => text += data,
            (None, None) => {}
        }
        let blank = |text: &str| if text.len() > start { " " } else { "" };
        if let Some(line) = self.line {
            text += &format!("{}line {line}", blank(&text));
        }
        if let Some(row) = self.row {
            text += &format!("{}row {row}", blank(&text));
        }
        if let Some(column) = &self.column {
            let comma = if text.len() > start { ", " } else { "" };
            text += &format!("{comma}{column}");
        }
        if text.len() > start {
            text += ": ";
        }
        text
    }
}

/// A name as messages may show it: control characters, which a terminal would obey, as escapes.
pub fn shown(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_control() {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_says_what_it_knows() {
        for (place, expected) in [
            (Place::default(), ""),
            (Place::file("a.csv"), "a.csv: "),
            (Place::file("a.csv").line(18).column("r"), "a.csv line 18, column \"r\": "),
            (Place::file("a.mat").row(3).feature(2), "a.mat row 3, feature 2: "),
            (Place::file("a.csv").column("r"), "a.csv, column \"r\": "),
            (Place::data("y").row(0).label(Some(1)), "y row 0, label 1: "),
            (Place::default().row(4), "row 4: "),
            (Place::default().column("r"), "column \"r\": "),
            (Place::file("a.npz").row(1).cell(Column::Array("w".into())), "a.npz row 1, \"w\": "),
        ] {
            assert_eq!(place.before_a_sentence(), expected);
        }
    }

    #[test]
    fn a_file_name_cannot_command_the_terminal() {
        assert_eq!(Place::file("a\u{1b}[2J.csv").before_a_sentence(), "a\\u{1b}[2J.csv: ");
    }
}
