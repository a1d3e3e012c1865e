//! Separated values with a header line. Commas, semicolons, tabs or bars separate them, and numbers have a decimal point or comma: the
//! beginning of the file says which.
//!
//! Every error names file, line and column. A byte order mark and blanks around values are tolerated.

use std::io::{Cursor, Read};

use ::csv::{ErrorKind, Reader, ReaderBuilder, StringRecord, Trim};
use ldlf_core::columns::{Cell, DecimalMark, MarkEvidence, is_missing, parse_number, parse_number_with};
use ldlf_core::error::{Message, Place, shown};
use ldlf_core::{Error, Result, message};

use super::lines::LineStarts;
use super::table::Table;
use super::text::{TextEncoding, Utf8};
use super::{Format, Source, empty, read_error};
use crate::format::{FileFormat, Reads};
use crate::write;

/// Comma-separated values.
pub(crate) const CSV: FileFormat = FileFormat {
    reads: Reads::Table(open),
    seeks: false,
    open_ended: false,
    tables: &[write::csv::COMMAS],
    dataset: Some(|data, votes, out| write::csv::dataset(data, votes, b',', out)),
};

/// Tab-separated values.
pub(crate) const TSV: FileFormat = FileFormat {
    tables: &[write::csv::TABS],
    dataset: Some(|data, votes, out| write::csv::dataset(data, votes, b'\t', out)),
    ..CSV
};

/// Bytes of the beginning that tell the separator and the decimal mark.
const BEGINNING: u64 = 1 << 16;

/// What may separate values.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// A table of text.
struct TextTable {
    file: String,
    reader: Reader<LineStarts<Box<dyn Read + Send>>>,
    encoding: TextEncoding,
    header: Vec<String>,
    /// Values of a row: those of the header, and empty ones after its last name.
    width: usize,
    record: StringRecord,
    line: u64,
    mark: DecimalMark,
    /// A cell that reads as another number with the other decimal mark, where no cell tells which is meant.
    doubtful: Option<String>,
    /// Whether the current record is a row that was only looked at.
    waiting: bool,
}

fn open(source: Source) -> Result<Box<dyn Table>> {
    let (file, format) = (source.file.clone(), source.format);
    let (mut text, encoding) = Utf8::new(source.into_reader()?);
    let mut beginning = Vec::new();
    (&mut text).take(BEGINNING).read_to_end(&mut beginning).map_err(|e| read_error(&file, e))?;
    let usual = if format == Format::Tsv { b'\t' } else { b',' };
    let stated = stated_separator(&beginning);
    let (separator, rows) = match stated {
        Some((separator, rest)) => (separator, rest),
        None => (separator_of(&beginning, usual), &beginning[..]),
    };
    if rows.contains(&0) {
        return Err(Error::data("holds zero bytes, as no table of text does")
            .with_remedy("save it as CSV in UTF-8")
            .in_file(&file));
    }
    let (mark, doubtful) = mark_of(rows, separator);
    let above = is_above_header(rows, separator);
    let is_stated = stated.is_some();
    let whole: Box<dyn Read + Send> = Box::new(Cursor::new(beginning).chain(text));
    let reader = built(separator).from_reader(LineStarts::new(whole));
    let (header, record) = (Vec::new(), StringRecord::new());
    let mut table = TextTable {
        file,
        reader,
        encoding,
        header,
        width: 0,
        record,
        line: 0,
        mark,
        doubtful,
        waiting: false,
    };
    if (is_stated && !table.read_record()?) || !table.read_record()? {
        return Err(empty(&table.file));
    }
    table.width = table.record.len();
    table.header = table.record.iter().map(str::to_string).collect();
    // Spreadsheets write separators after the last column, too.
    while table.header.len() > 1 && table.header.last().is_some_and(String::is_empty) {
        table.header.pop();
    }
    if above {
        let first = shown(&table.header[0]);
        return Err(Error::data(format!("{first:?} stands where the names of the columns are expected"))
            .with_remedy("remove what is above the header line")
            .at(table.place()));
    }
    let numbers: Vec<f64> = table.header.iter().filter_map(|name| name.parse().ok()).collect();
    // Whole numbers may well be names (0, 1, 2, ... or years); measurements are not.
    if numbers.len() == table.header.len() && numbers.iter().any(|v| v.fract() != 0.0 || *v < 0.0) {
        return Err(Error::data("numbers where the names of the columns are expected")
            .with_remedy("add a header line")
            .at(table.place()));
    }
    Ok(Box::new(table))
}

fn built(separator: u8) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    // Rows of another length are refused in our words.
    builder.delimiter(separator).has_headers(false).flexible(true).trim(Trim::All);
    builder
}

/// The rows at the beginning of a text, as far as they are whole.
fn first_rows(beginning: &[u8], separator: u8) -> Vec<StringRecord> {
    let mut reader = built(separator).from_reader(beginning);
    let mut rows: Vec<StringRecord> =
        reader.records().map_while(std::result::Result::ok).take(1000).collect();
    // The last may be cut.
    if beginning.len() as u64 == BEGINNING && rows.len() > 1 {
        rows.pop();
    }
    rows
}

/// The separator that a first line `sep=;` states, as Excel understands it, and what follows the line.
fn stated_separator(beginning: &[u8]) -> Option<(u8, &[u8])> {
    let plain = beginning.strip_prefix("\u{feff}".as_bytes()).unwrap_or(beginning);
    let unquoted = plain.strip_prefix(b"\"").unwrap_or(plain);
    let (&separator, rest) = unquoted.strip_prefix(b"sep=")?.split_first()?;
    let rest = rest.strip_prefix(b"\"").unwrap_or(rest);
    (SEPARATORS.contains(&separator) && matches!(rest.first(), Some(b'\n' | b'\r')))
        .then_some((separator, rest))
}

/// Whether a title or a remark stands above the names of the columns: one value, and several in all rows after it.
fn is_above_header(beginning: &[u8], separator: u8) -> bool {
    let names = |row: &StringRecord| row.iter().filter(|name| !name.is_empty()).count();
    if first_rows(beginning, separator).first().is_some_and(|row| names(row) > 1) {
        return false; // several names: commas in the rows below are decimal commas
    }
    SEPARATORS.into_iter().any(|other| {
        let rows = first_rows(beginning, other);
        let [first, second, rest @ ..] = &rows[..] else { return false };
        let least = if other == separator { 2 } else { 3 };
        let is_alone =
            first.iter().skip(1).all(str::is_empty) && !first.get(0).unwrap_or_default().is_empty();
        let is_wide = second.len() >= least && second.iter().all(|name| !name.is_empty());
        is_alone && is_wide && !rest.is_empty() && rest.iter().all(|row| row.len() == second.len())
    })
}

/// The separator that cuts the header into the most names and the rows after it into as many values; the usual one where none does
/// better.
fn separator_of(beginning: &[u8], usual: u8) -> u8 {
    let quality = |separator: u8| {
        let rows = first_rows(beginning, separator);
        let width = rows.first().map_or(0, StringRecord::len);
        let fitting = rows.iter().take(20).filter(|row| row.len() == width).count();
        let fits = 10 * fitting >= 9 * rows.len().min(20);
        (width > 1, fits, width)
    };
    let best = SEPARATORS.into_iter().max_by_key(|&separator| (quality(separator), separator == usual));
    best.filter(|&best| quality(best) > quality(usual)).unwrap_or(usual)
}

/// The decimal mark of the numbers at the beginning; where they read either way, a comma if semicolons separate them. With it a cell that
/// reads either way, where none tells which is meant and no comma, which would have to be quoted, separates values.
fn mark_of(beginning: &[u8], separator: u8) -> (DecimalMark, Option<String>) {
    let mut evidence = MarkEvidence::default();
    let mut doubtful = None;
    for row in first_rows(beginning, separator).iter().skip(1) {
        for cell in row {
            let was_open = evidence.is_open();
            evidence.see(cell);
            if !was_open && evidence.is_open() {
                doubtful = Some(cell.to_string());
            }
        }
    }
    let mark = evidence.mark(if separator == b';' { DecimalMark::Comma } else { DecimalMark::Point });
    (mark, doubtful.filter(|_| evidence.is_open() && separator != b','))
}

impl TextTable {
    fn read_record(&mut self) -> Result<bool> {
        let start = self.reader.position().byte();
        let more = self.reader.read_record(&mut self.record);
        // The parser's own line numbers leave out blank lines and the LF after a CR.
        self.line = self.reader.get_mut().line_from(start);
        more.map_err(|error| match error.into_kind() {
            ErrorKind::Io(error) => read_error(&self.file, error),
            ErrorKind::Utf8 { .. } => Error::data("the text is not UTF-8 here, but is before")
                .with_remedy("save the file as UTF-8")
                .at(self.place()),
            other => Error::data(format!("{other:?}")).at(self.place()),
        })
    }
}

impl Table for TextTable {
    fn file(&self) -> &str {
        &self.file
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn numeric(&mut self) -> Result<Vec<bool>> {
        self.waiting = self.next_row()?;
        let is_number = |text: &str| is_missing(text) || parse_number(text).is_some();
        let mut numeric: Vec<bool> = self.record.iter().map(is_number).collect();
        numeric.resize(self.header.len(), self.waiting);
        Ok(numeric)
    }

    fn next_row(&mut self) -> Result<bool> {
        if std::mem::take(&mut self.waiting) {
            return Ok(true);
        }
        if !self.read_record()? {
            return Ok(false);
        }
        if self.record.len() != self.width {
            let (found, heads) = (self.record.len(), self.header.len());
            let values = if found == 1 { "1 value".to_string() } else { format!("{found} values") };
            let wrong = Error::data(format!("{values} where the header has {heads}"));
            let other =
                |separator: &u8| self.record.iter().any(|value| value.contains(char::from(*separator)));
            let note = if self.record.iter().any(|value| value.contains(['\n', '\r'])) {
                "a quote that begins in this row ends in another, or never"
            } else if found > self.width {
                "a value that holds a separator needs quotes"
            } else if found == 1 && SEPARATORS.iter().any(other) {
                "other separators than in the header?"
            } else {
                "is the row cut off?"
            };
            return Err(wrong.with_note(note).at(self.place()));
        }
        if let Some(more) = (self.header.len()..self.width).find(|&at| !self.record[at].is_empty()) {
            return Err(Error::data(format!("a value in column {}, which has no name", more + 1))
                .with_remedy("name the column in the header line")
                .at(self.place()));
        }
        Ok(true)
    }

    fn is_blank(&self) -> bool {
        self.header.len() > 1 && self.record.iter().all(str::is_empty)
    }

    #[inline]
    fn cell(&self, column: usize) -> Cell<'_> {
        let text = self.record.get(column).unwrap_or_default();
        match self.mark {
            DecimalMark::Point => Cell::Text(text),
            DecimalMark::Comma => {
                parse_number_with(text, DecimalMark::Comma).map_or(Cell::Text(text), Cell::Number)
            }
        }
    }

    fn kept_text(&self, column: usize) -> String {
        self.record.get(column).unwrap_or_default().to_string()
    }

    fn place(&self) -> Place {
        Place::file(&self.file).line(self.line)
    }

    fn notices(&self) -> Vec<Message> {
        let file = &self.file;
        let doubt = self.doubtful.iter().filter_map(|text| {
            let number = parse_number_with(text, self.mark)?;
            Some(message!["{file}: {text:?} is read as {number}: no number of the file tells its decimal mark; write {number} to be sure"])
        });
        self.encoding.notice(file).into_iter().chain(doubt).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_the_one_that_makes_columns() {
        for (text, separator) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n", b';'),
            ("a\tb\n1\t2\n", b'\t'),
            ("a|b|c\n1|2|3\n", b'|'),
            ("alone\n1\n", b','),
            ("\"a;b\",c\n1,2\n", b','),
            ("a;b, or c;d\n1;2;3\n", b';'),
            ("", b','),
        ] {
            assert_eq!(separator_of(text.as_bytes(), b','), separator, "{text:?}");
        }
        assert_eq!(separator_of(b"a\tb\n1\t2\n", b'\t'), b'\t');
        assert_eq!(separator_of(b"a,b\n1,2\n", b'\t'), b',');
    }

    #[test]
    fn a_first_line_may_state_the_separator() {
        for text in ["sep=|\na|b\n", "\u{feff}sep=|\r\na|b\r\n", "\"sep=|\"\na|b\n"] {
            let (separator, rest) = stated_separator(text.as_bytes()).unwrap();
            assert_eq!((separator, rest.contains(&b'a')), (b'|', true), "{text:?}");
        }
        assert_eq!(stated_separator(b"sep=x\na,b\n"), None);
        assert_eq!(stated_separator(b"sep=,total\n1,2\n"), None);
    }

    #[test]
    fn a_title_above_the_header_is_told_from_a_header() {
        for (text, above) in [
            ("# made by X\na,b,c\n1,2,3\n", true),
            ("Survey;;\na;b;c\n1;2;3\n", true),
            ("a,b\n1,2\n3,4\n", false),
            ("a\n1\n2\n", false),
            ("a,,\n1,,\n2,,\n", false),
            ("a\n1,2\n", false),
        ] {
            assert_eq!(is_above_header(text.as_bytes(), b','), above, "{text:?}");
        }
        assert!(!is_above_header(b"a;b;v\n0,25;0,68;3\n0,40;0,12;2\n", b';'));
    }

    #[test]
    fn a_mark_that_no_number_tells_is_in_doubt() {
        let doubt = |text: &str, separator| mark_of(text.as_bytes(), separator);
        let one = |text: &str| Some(text.to_string());
        assert_eq!(doubt("a;b\n12.345;1\n", b';'), (DecimalMark::Comma, one("12.345")));
        assert_eq!(doubt("a\tb\n12,345\t1\n", b'\t'), (DecimalMark::Point, one("12,345")));
        assert_eq!(doubt("a;b\n12.345;0.5\n", b';'), (DecimalMark::Point, None));
        assert_eq!(doubt("a;b\n12.345;0,5\n", b';'), (DecimalMark::Comma, None));
        assert_eq!(doubt("a,b\n\"12,345\",1\n", b','), (DecimalMark::Point, None));
        assert_eq!(doubt("a;b\n12;1\n", b';'), (DecimalMark::Point, None));
    }
}
