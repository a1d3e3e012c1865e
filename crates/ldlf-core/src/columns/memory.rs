//! Columns that are in memory, such as those of a data frame.

use super::profile::{ColumnFacts, Decision, Profile, Wish};
use super::{Cell, Columns, Encoder};
use crate::error::{Message, Place, shown};
use crate::{Error, Features, Matrix, Result, message};

/// A raw column in memory.
pub trait Cells {
    /// The number of rows.
    fn rows(&self) -> usize;

    /// What stands in a row.
    fn cell(&self, row: usize) -> Cell<'_>;
}

/// A value that is a cell by itself: numbers, and texts and flags that may be absent.
pub trait ToCell {
    /// The cell.
    fn to_cell(&self) -> Cell<'_>;
}

impl ToCell for f64 {
    fn to_cell(&self) -> Cell<'_> {
        Cell::Number(*self)
    }
}

impl ToCell for Option<bool> {
    fn to_cell(&self) -> Cell<'_> {
        self.map_or(Cell::Missing, Cell::Boolean)
    }
}

impl ToCell for Option<&str> {
    fn to_cell(&self) -> Cell<'_> {
        self.map_or(Cell::Missing, Cell::Text)
    }
}

impl ToCell for Option<String> {
    fn to_cell(&self) -> Cell<'_> {
        self.as_deref().map_or(Cell::Missing, Cell::Text)
    }
}

macro_rules! cells_of {
    ($([$($generic:tt)*] $type:ty),*) => {$(
        impl<T: ToCell, $($generic)*> Cells for $type {
            fn rows(&self) -> usize {
                self.len()
            }

            fn cell(&self, row: usize) -> Cell<'_> {
                self[row].to_cell()
            }
        }
    )*};
}

cells_of!([] Vec<T>, [] &[T], [const N: usize] [T; N]);

/// What the user wishes of columns, by their names.
#[derive(Clone, Debug, Default)]
pub struct Wishes(pub Vec<(String, Wish)>);

impl Wishes {
    fn of(&self, name: &str) -> Wish {
        self.0.iter().find(|(wished, _)| wished == name).map_or(Wish::Auto, |(_, wish)| *wish)
    }
}

/// What [`Columns::infer`] found out.
#[derive(Clone, Debug)]
pub struct Inferred {
    /// The columns that are used.
    pub columns: Columns,
    /// Every column with what it holds, or why it is left out.
    pub facts: Vec<(String, ColumnFacts)>,
    /// What the user should know.
    pub notices: Vec<Message>,
}

/// What [`Columns::encode`] made.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// One row of features per row.
    pub features: Features,
    /// What the user should know, such as values that training did not have.
    pub notices: Vec<Message>,
}

/// Columns by name.
pub type Frame<'a> = [(&'a str, &'a dyn Cells)];

impl Columns {
    /// Decides how columns in memory become features. Fill values are 0 until [`Dataset::refilled`](crate::Dataset::refilled).
    pub fn infer(frame: &Frame<'_>, wishes: &Wishes) -> Result<Inferred> {
        let mut inferred = Inferred { columns: Columns::default(), facts: Vec::new(), notices: Vec::new() };
        for (name, cells) in frame {
            let mut profile = Profile::default();
            let place = |row: usize| Place::default().row(row + 1).column(*name);
            (0..cells.rows()).for_each(|row| profile.see(cells.cell(row), || place(row)));
            let (decision, facts) = profile.decide(name, wishes.of(name))?;
            let shown = shown(name);
            inferred.notices.extend(facts.note.clone().map(|note| message!["column {shown:?}: {note}"]));
            if let Decision::Use(column) = decision {
                inferred.columns.list.push(column);
            }
            inferred.facts.push((name.to_string(), facts));
        }
        inferred.columns.check()?;
        Ok(inferred)
    }

    /// Makes features of columns in memory, which may come in any order and among others.
    pub fn encode(&self, frame: &Frame<'_>) -> Result<Encoded> {
        let rows = frame.first().map_or(0, |(_, cells)| cells.rows());
        let mut encoder = Encoder::new(self);
        let mut features = Matrix::zeros(rows, self.width());
        for (at, column) in self.list.iter().enumerate() {
            let Some((name, cells)) = frame.iter().find(|(name, _)| *name == column.name) else {
                return Err(Error::data(format!("no column {:?}, which the model needs", column.name)));
            };
            if cells.rows() != rows {
                return Err(Error::data(format!(
                    "column {name:?} has {} rows, others have {rows}",
                    cells.rows()
                )));
            }
            for row in 0..rows {
                encoder
                    .encode(at, cells.cell(row), features.row_mut(row))
                    .map_err(|error| error.at(Place::default().row(row + 1).column(*name)))?;
            }
        }
        Ok(Encoded { features: Features::by_density(features), notices: encoder.notices() })
    }
}
