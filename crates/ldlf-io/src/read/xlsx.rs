//! Excel workbooks (`.xlsx`): the first sheet that is not empty, with the names of the columns in its first row. A workbook is read
//! whole into memory.

use std::collections::BTreeSet;
use std::io::Cursor;

use calamine::{Data, ExcelDateTime, ExcelDateTimeType, Reader, Xlsx, XlsxError};
use ldlf_core::columns::Cell;
use ldlf_core::error::{Message, Place, shown};
use ldlf_core::{Error, Result, message};

use super::table::Table;
use super::{Source, empty};
use crate::format::{FileFormat, Reads};

/// Excel workbooks: read, not written.
pub(crate) const FORMAT: FileFormat =
    FileFormat { reads: Reads::Table(open), seeks: false, open_ended: false, tables: &[], dataset: None };

/// A row that is not empty: its number from 0, and its cells by column. Empty cells take no room, however far others stand.
type SheetRow = (u32, Vec<(u32, Data)>);

struct SheetTable {
    file: String,
    header: Vec<String>,
    /// The column of the sheet of every name.
    places: Vec<u32>,
    rows: Vec<SheetRow>,
    /// The current row, from 1; the header is row 0.
    row: usize,
    notices: Vec<Message>,
}

fn open(source: Source) -> Result<Box<dyn Table>> {
    let file = source.file.clone();
    let bytes = source.into_bytes()?;
    if bytes.is_empty() {
        return Err(empty(&file));
    }
    let unusable = |why: String| Error::data(format!("not a usable Excel workbook ({why})")).in_file(&file);
    // The library takes parts of a workbook for granted.
    let (name, rows, sheets) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| first_sheet(bytes)))
        .map_err(|_| unusable("its decoder gave up".into()))?
        .map_err(|e| unusable(e.to_string()))?;
    let Some((_, first)) = rows.first() else { return Err(empty(&file)) };
    let (places, header): (Vec<u32>, Vec<String>) =
        first.iter().map(|(column, name)| (*column, name.to_string().trim().to_string())).unzip();
    if let ([above], [0], [_, under, below, ..]) = (&header[..], &places[..], &rows[..])
        && under.1.len() > 1
        && below.1.len() > 1
    {
        return Err(Error::data(format!(
            "{:?} stands where the names of the columns are expected",
            shown(above)
        ))
        .with_remedy("remove what is above the header line")
        .at(Place::file(&file).line(u64::from(rows[0].0) + 1)));
    }
    let mut notices = Vec::new();
    if sheets > 1 {
        notices
            .push(message!["{file}: the sheet {name:?} was read, the first of {sheets} that is not empty"]);
    }
    let others = rows.iter().flat_map(|(_, cells)| cells).map(|(column, _)| *column);
    let unnamed: BTreeSet<u32> = others.filter(|column| places.binary_search(column).is_err()).collect();
    if !unnamed.is_empty() {
        let letters = unnamed.iter().take(8).map(|&column| letters_of(column)).collect::<Vec<_>>().join(", ");
        notices.push(message![
            "{file}: left out column {letters} of the sheet, which has no name in the first row"
        ]);
    }
    Ok(Box::new(SheetTable { file, header, places, rows, row: 0, notices }))
}

/// What a spreadsheet calls a column, counted from 0: A, B, ..., Z, AA, ...
fn letters_of(column: u32) -> String {
    let letter = char::from(b'A' + (column % 26) as u8);
    if column < 26 { letter.to_string() } else { letters_of(column / 26 - 1) + &letter.to_string() }
}

/// The first sheet that is not empty: its name, its rows, and the number of all sheets.
fn first_sheet(bytes: Vec<u8>) -> std::result::Result<(String, Vec<SheetRow>, usize), XlsxError> {
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes))?;
    let names = book.sheet_names();
    for name in &names {
        let mut cells = book.worksheet_cells_reader(name)?;
        let mut rows: Vec<SheetRow> = Vec::new();
        while let Some(cell) = cells.next_cell()? {
            let (row, column) = cell.get_position();
            let data = Data::from(cell.get_value().clone());
            if data == Data::Empty {
                continue;
            }
            match rows.last_mut() {
                Some((last, of_row)) if *last == row => of_row.push((column, data)),
                _ => rows.push((row, vec![(column, data)])),
            }
        }
        rows.iter_mut().for_each(|(_, of_row)| of_row.sort_by_key(|(column, _)| *column));
        if !rows.is_empty() {
            return Ok((name.clone(), rows, names.len()));
        }
    }
    Ok((String::new(), Vec::new(), names.len()))
}

/// Seconds since the beginning of 1970.
fn seconds_of(date: &ExcelDateTime) -> i64 {
    // Days since the end of 1899, of which 25,569 end with 1969; in workbooks that count from 1904, 1,462 fewer.
    let in_1904 = *date == ExcelDateTime::new(date.as_f64(), ExcelDateTimeType::DateTime, true);
    let before_1970 = if in_1904 { 25_569.0 - 1462.0 } else { 25_569.0 };
    ((date.as_f64() - before_1970) * 86_400.0).round() as i64
}

impl SheetTable {
    fn data(&self, row: usize, column: usize) -> &Data {
        let Some((_, cells)) = self.rows.get(row) else { return &Data::Empty };
        let place = cells.binary_search_by_key(&self.places[column], |(column, _)| *column);
        place.map_or(&Data::Empty, |place| &cells[place].1)
    }
}

impl Table for SheetTable {
    fn file(&self) -> &str {
        &self.file
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn numeric(&mut self) -> Result<Vec<bool>> {
        let is_number = |column| {
            matches!(self.data(1, column), Data::Int(_) | Data::Float(_) | Data::Bool(_) | Data::Empty)
        };
        Ok((0..self.header.len()).map(is_number).collect())
    }

    fn next_row(&mut self) -> Result<bool> {
        self.row += 1;
        Ok(self.row < self.rows.len())
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        match self.data(self.row, column) {
            Data::Int(number) => Cell::Number(*number as f64),
            Data::Float(number) => Cell::Number(*number),
            Data::Bool(value) => Cell::Boolean(*value),
            Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => Cell::Text(text),
            // A duration such as 30:15 is a number of days.
            Data::DateTime(time) if time.is_duration() => Cell::Number(time.as_f64()),
            Data::DateTime(date) => Cell::Date(seconds_of(date)),
            _ => Cell::Missing,
        }
    }

    fn place(&self) -> Place {
        // As the spreadsheet counts.
        let row = self.rows.get(self.row).map_or(self.row as u64, |(row, _)| u64::from(*row));
        Place::file(&self.file).line(row + 1)
    }

    fn total_rows(&self) -> Option<usize> {
        Some(self.rows.len().saturating_sub(1))
    }

    fn notices(&self) -> Vec<Message> {
        self.notices.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_letters_of_a_spreadsheet() {
        assert_eq!([0, 25, 26, 51, 52, 701, 702].map(letters_of), ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
    }
}
