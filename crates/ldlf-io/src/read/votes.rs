//! Votes in a NumPy array beside a table: one line per row, one number per label.

use std::io::{BufReader, Read};
use std::path::Path;

use ldlf_core::error::Place;
use ldlf_core::targets::{Targets, normalise_rows};
use ldlf_core::{Error, Result};

use super::npy::ArrayHeader;
use super::numbers::Numbers;
use super::read_error;
use crate::input;

/// What the array is called in messages about its form.
const NAME: &str = "the array";

/// The distributions of a `.npy` array of counts or shares, `[rows, labels]`; `table` has so many rows and wants as many here.
pub(super) fn read(path: &Path, strict: bool, table: &str, rows: usize) -> Result<Targets> {
    let file = path.display().to_string();
    let mut reader = BufReader::new(input::open_file(path)?);
    let header = ArrayHeader::read(&file, NAME, &mut reader)?;
    let found = header.rows_and_columns(&file, NAME)?.0;
    if found != rows {
        return Err(Error::data(format!("{found} rows of votes, but {table} has {rows} rows"))
            .with_remedy("give one line of votes for each of them, in their order")
            .in_file(path));
    }
    let storage = header.storage(&file, NAME)?;
    let mut numbers = Numbers::new(&mut reader as &mut dyn Read, storage, header.big_endian, header.count);
    let values = numbers.rest().map_err(|e| read_error(&file, e))?;
    normalise_rows(&header.by_rows(&file, NAME, values)?, strict, &|row, label| {
        Place::file(path).row(row + 1).label(label.map(|label| label + 1))
    })
}
