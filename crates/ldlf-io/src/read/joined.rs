//! Several files with the same columns as one table.

use std::collections::VecDeque;
use std::path::PathBuf;

use ldlf_core::columns::Cell;
use ldlf_core::error::{Message, Place, shown};
use ldlf_core::{Error, Result};

use super::roles::places;
use super::source::Files;
use super::table::Table;

/// Files one after the other. The columns of each may have another order than those of the first.
pub(super) struct Joined {
    /// The folder or the pattern.
    name: String,
    current: Box<dyn Table>,
    rest: VecDeque<PathBuf>,
    files: Files,
    header: Vec<String>,
    /// Where the columns stand in the current file, if not where they do in the first.
    mapped: Option<Vec<usize>>,
    chosen: Option<Vec<usize>>,
    notices: Vec<Message>,
}

impl Joined {
    /// `first` is the first of these files, open.
    pub fn new(first: Box<dyn Table>, files: Files) -> Self {
        let header = first.header().to_vec();
        Joined {
            name: shown(&files.root.display().to_string()),
            current: first,
            rest: files.paths[1..].iter().cloned().collect(),
            files,
            header,
            mapped: None,
            chosen: None,
            notices: Vec::new(),
        }
    }

    fn place_of(&self, column: usize) -> usize {
        self.mapped.as_ref().map_or(column, |mapped| mapped[column])
    }

    /// Goes on with the next file, if there is one.
    fn next_file(&mut self) -> Result<bool> {
        let Some(path) = self.rest.pop_front() else { return Ok(false) };
        let first = std::mem::replace(&mut self.current, self.files.open(&path)?);
        self.notices.extend(first.notices());
        let known = places(self.current.header());
        let column_of = |name: &String| known.get(name.as_str()).copied();
        let mapped: Option<Vec<usize>> = self.header.iter().map(column_of).collect();
        match mapped {
            Some(mapped) if self.current.header().len() == self.header.len() => self.mapped = Some(mapped),
            _ => {
                return Err(Error::data(format!("other columns than {} has", first.file()))
                    .with_remedy("give files with the same columns")
                    .in_file(self.current.file()));
            }
        }
        if let Some(chosen) = &self.chosen {
            let chosen: Vec<usize> = chosen.iter().map(|&column| self.place_of(column)).collect();
            self.current.choose(&chosen)?;
        }
        Ok(true)
    }
}

impl Table for Joined {
    fn file(&self) -> &str {
        self.current.file()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn choose(&mut self, columns: &[usize]) -> Result<()> {
        self.chosen = Some(columns.to_vec());
        self.current.choose(columns)
    }

    fn numeric(&mut self) -> Result<Vec<bool>> {
        self.current.numeric()
    }

    fn next_row(&mut self) -> Result<bool> {
        while !self.current.next_row()? {
            if !self.next_file()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        self.current.cell(self.place_of(column))
    }

    fn kept_text(&self, column: usize) -> String {
        self.current.kept_text(self.place_of(column))
    }

    fn is_blank(&self) -> bool {
        self.current.is_blank()
    }

    fn place(&self) -> Place {
        self.current.place()
    }

    fn notices(&self) -> Vec<Message> {
        self.notices.iter().cloned().chain(self.current.notices()).collect()
    }
}
