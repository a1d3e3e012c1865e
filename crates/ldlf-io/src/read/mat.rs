//! MATLAB files of version 5 to 7: `features` and `labels`, in any letter case, and vectors beside them.
//!
//! Either byte order, compressed or not, numbers stored in any type, dense or sparse. Compressed elements are inflated as
//! a stream, straight into compressed columns: a dense matrix that is mostly zero is never held dense. Nothing is
//! reserved by what a header promises. Variables of other names are passed over without inflating them.
//!
//! A vector called `x`, with as many numbers as there are labels, gives the labels' values.

use std::collections::BTreeMap;
use std::io::{BufReader, Read};

use flate2::read::ZlibDecoder;
use ldlf_core::error::{Column, Place, shown};
use ldlf_core::targets::{TargetRows, Targets};
use ldlf_core::{Error, Features, Result};
use ldlf_math::memory::Growth;

use super::assemble::{FileContents, groups_of};
use super::gather::{ColumnGatherer, CompressedColumns, check_columns, single_precision};
use super::numbers::{Numbers, Storage, drain};
use super::roles::listed;
use super::{
    InMemory, Loaded, ReadOptions, RowStream, Source, empty, missing_name, read_error, refuse_ignore,
};
use crate::format::{FileFormat, Reads};

/// MATLAB files: read whole, not written.
pub(crate) const FORMAT: FileFormat = FileFormat {
    reads: Reads::Arrays { read, stream },
    seeks: false,
    open_ended: false,
    tables: &[],
    dataset: None,
};

/// The vector that gives the labels' values.
const LABEL_VALUES: &str = "x";

/// Reads `features`, `labels` and the vectors that the options name.
pub(super) fn read(source: Source, options: &ReadOptions) -> Result<Loaded> {
    refuse_ignore(&source, options)?;
    let stem = source.stem.clone();
    let named = [&options.label_column, &options.sample_weights, &options.split_column, &options.group]
        .into_iter()
        .flatten();
    let vectors = named.cloned().chain([LABEL_VALUES.to_string()]).collect();
    let labels = options.label_column.as_deref() != Some("labels");
    let mut found = Variables::read(source, Wanted { labels, vectors })?;
    let mut contents = FileContents::new(found.file.clone(), stem, found.take_features()?);
    let file = contents.file.clone();
    if let Some(labels) = found.labels.take() {
        contents.targets = Some(labels.into_targets(&file, options.strict)?);
    } else if options.label_column.is_none() {
        return Err(found.missing("labels"));
    }
    contents.label_values = contents.targets.as_ref().and_then(|_| found.vectors.get(LABEL_VALUES).cloned());
    contents.singles = options.label_column.as_ref().map(|name| found.finite(name)).transpose()?;
    contents.weights = options.sample_weights.as_ref().map(|name| found.finite(name)).transpose()?;
    let split = options.split_column.as_ref().map(|name| found.finite(name)).transpose()?;
    contents.split = split.map(|values| values.iter().map(f64::to_string).collect());
    contents.groups =
        options.group.as_ref().map(|name| found.finite(name)).transpose()?.map(|v| groups_of(&v));
    contents.name_columns(options)?;
    contents.assemble(options)
}

/// Reads `features` whole and cuts it into blocks: columns lie one after the other, so no row is known before the last.
pub(super) fn stream(source: Source, features: usize) -> Result<Box<dyn RowStream>> {
    let mut found = Variables::read(source, Wanted { labels: false, vectors: Vec::new() })?;
    let matrix = found.take_features()?;
    InMemory::cut(&found.file, matrix, features)
}

/// The variables to read besides `features`.
struct Wanted {
    labels: bool,
    vectors: Vec<String>,
}

/// A matrix as it lies in the file, column after column.
struct ColumnMajor {
    rows: usize,
    cols: usize,
    values: Vec<f64>,
}

impl ColumnMajor {
    fn into_targets(self, file: &str, strict: bool) -> Result<Targets> {
        let mut targets = TargetRows::new(self.cols, strict);
        for row in 0..self.rows {
            let values: Vec<f64> =
                (0..self.cols).map(|column| self.values[column * self.rows + row]).collect();
            targets
                .push(&values, &|label| Place::file(file).row(row + 1).label(label.map(|label| label + 1)))?;
        }
        targets.finish()
    }
}

/// What was found in a file.
struct Variables {
    file: String,
    features: Option<Features>,
    labels: Option<ColumnMajor>,
    vectors: BTreeMap<String, Vec<f64>>,
    /// All names, for messages.
    names: Vec<String>,
}

impl Variables {
    fn read(source: Source, wanted: Wanted) -> Result<Self> {
        let file = source.file.clone();
        let mut reader = BufReader::new(source.into_reader()?);
        let big_endian = read_file_header(&file, &mut reader)?;
        let mut found =
            Variables { file, features: None, labels: None, vectors: BTreeMap::new(), names: Vec::new() };
        while let Some(tag) = found.top_level_tag(&mut reader, big_endian)? {
            let mut body = reader.by_ref().take(tag.bytes);
            match tag.kind {
                COMPRESSED => {
                    let mut inflated = ZlibDecoder::new(&mut body);
                    let mut bytes = Bytes { file: &found.file, reader: &mut inflated, big_endian };
                    let inner = bytes.tag()?;
                    if inner.kind == MATRIX {
                        found.variable(inflated.take(inner.bytes), big_endian, &wanted)?;
                    }
                }
                MATRIX => found.variable(&mut body, big_endian, &wanted)?,
                _ => {}
            }
            drain(&mut body).map_err(|e| read_error(&found.file, e))?;
            if body.limit() > 0 {
                return Err(cut_short(&found.file));
            }
        }
        Ok(found)
    }

    /// The next element, or `None` at the end of the file.
    fn top_level_tag(&self, reader: &mut impl Read, big_endian: bool) -> Result<Option<Tag>> {
        let mut first = [0u8; 1];
        if reader.read(&mut first).map_err(|e| read_error(&self.file, e))? == 0 {
            return Ok(None);
        }
        let mut whole = first.chain(reader);
        Bytes { file: &self.file, reader: &mut whole, big_endian }.tag().map(Some)
    }

    /// Reads one variable if it is wanted; the caller passes over whatever is left of it.
    fn variable(&mut self, mut reader: impl Read, big_endian: bool, wanted: &Wanted) -> Result<()> {
        let file = self.file.clone();
        let mut bytes = Bytes { file: &file, reader: &mut reader, big_endian };
        let Some(header) = bytes.variable_header()? else { return Ok(()) };
        self.names.push(header.name.clone());
        let is_vector = header.rows == 1 || header.cols == 1;
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        if is("features") {
            if self.features.is_some() {
                return Err(twice(&file, "features"));
            }
            self.features = Some(if header.class == SPARSE {
                Features::Sparse(bytes.sparse_columns(&header)?)
            } else {
                bytes.dense_columns(&header)?
            });
        } else if is("labels") && wanted.labels {
            if self.labels.is_some() {
                return Err(twice(&file, "labels"));
            }
            let values = bytes.all_numbers(&header)?;
            self.labels = Some(ColumnMajor { rows: header.rows, cols: header.cols, values });
        } else if let Some(name) = wanted.vectors.iter().find(|name| is(name) && is_vector) {
            let values = bytes.all_numbers(&header)?;
            self.vectors.insert(name.clone(), values);
        }
        Ok(())
    }

    fn take_features(&mut self) -> Result<Features> {
        self.features.take().ok_or_else(|| self.missing("features"))
    }

    fn missing(&self, name: &str) -> Error {
        missing_name(&self.file, "numeric variable", name, &self.names)
    }

    /// A vector whose numbers must all be finite.
    fn finite(&self, name: &str) -> Result<Vec<f64>> {
        let values = self.vectors.get(name).ok_or_else(|| {
            let held = listed(&self.names);
            Error::data(format!("no vector {name:?}; it holds {held}")).in_file(&self.file)
        })?;
        if let Some(row) = values.iter().position(|v| !v.is_finite()) {
            let place = Place::file(&self.file).row(row + 1).cell(Column::Array(name.into()));
            return Err(Error::data(format!("{} is not a finite number", values[row])).at(place));
        }
        Ok(values.clone())
    }
}

const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
const SPARSE: u8 = 5;
const COMPLEX: u32 = 0x0800;

/// The type and length of an element; short ones carry their data in the tag.
struct Tag {
    kind: u32,
    bytes: u64,
    within: Option<[u8; 4]>,
}

/// What stands before the numbers of a variable.
struct VariableHeader {
    name: String,
    class: u8,
    complex: bool,
    rows: usize,
    cols: usize,
    dimensions: usize,
}

/// Elements read one after the other.
struct Bytes<'a, R> {
    file: &'a str,
    reader: &'a mut R,
    big_endian: bool,
}

impl<R: Read> Bytes<'_, R> {
    fn word(&mut self) -> Result<u32> {
        let mut raw = [0u8; 4];
        self.exact(&mut raw)?;
        Ok(if self.big_endian { u32::from_be_bytes(raw) } else { u32::from_le_bytes(raw) })
    }

    fn exact(&mut self, out: &mut [u8]) -> Result<()> {
        self.reader.read_exact(out).map_err(|e| read_error(self.file, e))
    }

    fn tag(&mut self) -> Result<Tag> {
        let first = self.word()?;
        if first >> 16 == 0 {
            return Ok(Tag { kind: first, bytes: u64::from(self.word()?), within: None });
        }
        let mut within = [0u8; 4];
        self.exact(&mut within)?;
        let bytes = u64::from(first >> 16);
        if bytes > 4 {
            return Err(self.odd("a short element is longer than four bytes"));
        }
        Ok(Tag { kind: first & 0xffff, bytes, within: Some(within) })
    }

    fn odd(&self, reason: &str) -> Error {
        Error::data(format!("the file is damaged ({reason})")).in_file(self.file)
    }

    /// The header of a numeric variable; `None` for text, cells, structures and objects.
    fn variable_header(&mut self) -> Result<Option<VariableHeader>> {
        let flags = self.tag()?;
        if flags.bytes != 8 || flags.within.is_some() {
            return Err(self.odd("a variable without flags"));
        }
        let flags = self.word()?;
        self.word()?;
        let class = (flags & 0xff) as u8;
        if !(SPARSE..=15).contains(&class) {
            return Ok(None);
        }
        let dimensions = self.small_numbers(32)?;
        let name: String =
            self.small_numbers(4096)?.iter().map(|&c| char::from((c as i64).clamp(0, 127) as u8)).collect();
        let whole = |v: f64| (v >= 0.0).then_some(v as usize);
        let sizes: Option<Vec<usize>> = dimensions.iter().map(|&v| whole(v)).collect();
        match sizes.as_deref() {
            Some([rows, cols, ..]) => Ok(Some(VariableHeader {
                name,
                class,
                complex: flags & COMPLEX != 0,
                rows: *rows,
                cols: *cols,
                dimensions: dimensions.len(),
            })),
            _ => Err(self.odd(&format!("the size of {name:?}"))),
        }
    }

    fn small_numbers(&mut self, most: u64) -> Result<Vec<f64>> {
        let tag = self.tag()?;
        if tag.bytes > most * 4 {
            return Err(self.odd("a header that is too long"));
        }
        self.numbers_of(&tag)
    }

    /// How the numbers of an element are stored, and how many there are.
    fn storage(&self, tag: &Tag) -> Result<(Storage, u64)> {
        let storage = match tag.kind {
            1 => Storage::I8,
            2 | 16 => Storage::U8,
            3 => Storage::I16,
            4 => Storage::U16,
            5 => Storage::I32,
            6 => Storage::U32,
            7 => Storage::F32,
            9 => Storage::F64,
            12 => Storage::I64,
            13 => Storage::U64,
            other => return Err(self.odd(&format!("numbers of unknown type {other}"))),
        };
        Ok((storage, tag.bytes / storage.size() as u64))
    }

    fn numbers_of(&mut self, tag: &Tag) -> Result<Vec<f64>> {
        let mut all = Vec::new();
        let mut growth = Growth::default();
        let file = self.file;
        self.each_number(tag, |_, value| {
            all.push(value);
            growth.reached(size_of_val(&all[..])).map_err(|reason| Error::data(reason).in_file(file))
        })?;
        Ok(all)
    }

    /// Visits the numbers of an element with their index, then passes over its padding.
    fn each_number(&mut self, tag: &Tag, mut visit: impl FnMut(u64, f64) -> Result<()>) -> Result<()> {
        let (storage, count) = self.storage(tag)?;
        let file = self.file;
        let mut index = 0;
        let mut visit_all = |mut numbers: Numbers<&mut dyn Read>| -> Result<()> {
            while let Some(piece) = numbers.piece().map_err(|e| read_error(file, e))? {
                for &value in piece {
                    visit(index, value)?;
                    index += 1;
                }
            }
            Ok(())
        };
        if let Some(within) = tag.within {
            return visit_all(Numbers::new(&mut &within[..], storage, self.big_endian, count));
        }
        visit_all(Numbers::new(&mut *self.reader, storage, self.big_endian, count))?;
        let left = tag.bytes % storage.size() as u64 + (8 - tag.bytes % 8) % 8;
        // The last element of a variable may come without padding.
        drain(self.reader.by_ref().take(left)).map_err(|e| read_error(self.file, e))
    }

    /// Refuses what is no real matrix, and a size that its numbers do not fill.
    fn check_matrix(&self, header: &VariableHeader) -> Result<()> {
        let VariableHeader { name, rows, cols, .. } = header;
        let refuse = |reason: String| Err(Error::data(reason).in_file(self.file));
        if header.dimensions != 2 {
            let found = header.dimensions;
            return refuse(format!("{name:?} has {found} dimensions where rows and columns are expected"));
        }
        if header.complex {
            return refuse(format!("{name:?} holds complex numbers"));
        }
        if *cols == 0 {
            return refuse(format!("{name:?} has no columns"));
        }
        if rows.checked_mul(*cols).is_none() {
            return refuse(format!("{name:?} of {rows} x {cols} is too large"));
        }
        Ok(())
    }

    fn check_count(&self, header: &VariableHeader, tag: &Tag) -> Result<()> {
        let VariableHeader { name, rows, cols, .. } = header;
        let (_, count) = self.storage(tag)?;
        if count != (rows * cols) as u64 {
            return Err(self.odd(&format!("{name:?} promises {rows} x {cols} numbers and holds {count}")));
        }
        Ok(())
    }

    fn all_numbers(&mut self, header: &VariableHeader) -> Result<Vec<f64>> {
        self.check_matrix(header)?;
        if header.class == SPARSE {
            let name = &header.name;
            return Err(Error::data(format!("{name:?} is stored sparse"))
                .with_remedy(format!("save it as full({})", shown(name)))
                .in_file(self.file));
        }
        let tag = self.tag()?;
        self.check_count(header, &tag)?;
        self.numbers_of(&tag)
    }

    fn dense_columns(&mut self, header: &VariableHeader) -> Result<Features> {
        self.check_matrix(header)?;
        let tag = self.tag()?;
        self.check_count(header, &tag)?;
        let file = self.file;
        let mut gatherer = ColumnGatherer::new(header.rows, header.cols)?;
        self.each_number(&tag, |_, value| gatherer.push(value).map_err(|error| error.in_file(file)))?;
        gatherer.finish()
    }

    /// Row numbers, column starts, values: as MATLAB keeps sparse matrices.
    fn sparse_columns(&mut self, header: &VariableHeader) -> Result<ldlf_core::Csr> {
        self.check_matrix(header)?;
        check_columns(header.cols)?;
        let (rows, cols) = (header.rows, header.cols);
        let file = self.file;
        let mut columns = CompressedColumns::default();
        let tag = self.tag()?;
        let mut growth = Growth::default();
        self.each_number(&tag, |_, row| {
            columns.rows.push(row as u32);
            growth
                .reached(2 * size_of_val(&columns.rows[..]))
                .map_err(|reason| Error::data(reason).in_file(file))
        })?;
        let tag = self.tag()?;
        let mut starts = self.numbers_of(&tag)?.into_iter().map(|start| start as usize);
        let first = starts.next();
        columns.ends = starts.collect();
        let stored = columns.ends.last().copied().unwrap_or(0);
        let ordered = columns.ends.windows(2).all(|pair| pair[0] <= pair[1]);
        if first != Some(0) || columns.ends.len() != cols || !ordered || stored > columns.rows.len() {
            return Err(self.odd("the columns of a sparse matrix"));
        }
        // MATLAB may reserve more places than it uses.
        columns.rows.truncate(stored);
        if rows > 1_000_000 && rows / 1000 > stored {
            return Err(self.odd(&format!("a sparse matrix of {rows} rows with {stored} entries")));
        }
        let tag = self.tag()?;
        let values = &mut columns.values;
        let (places, ends) = (&columns.rows, &columns.ends);
        self.each_number(&tag, |index, value| {
            let index = index as usize;
            if index < stored {
                values.push(single_precision(value).map_err(|error| {
                    let column = ends.partition_point(|&end| end <= index);
                    error.at(Place::file(file).row(places[index] as usize + 1).feature(column + 1))
                })?);
            }
            Ok(())
        })?;
        if columns.values.len() != stored {
            return Err(self.odd("the values of a sparse matrix"));
        }
        columns.into_rows(rows, cols).map_err(|e| e.recast(Error::Data).in_file(file))
    }
}

fn twice(file: &str, name: &str) -> Error {
    Error::data(format!("two variables are called {name:?}")).in_file(file)
}

fn cut_short(file: &str) -> Error {
    Error::data("the file is damaged or cut short (it ends within a variable)").in_file(file)
}

/// Checks the first 128 bytes; `true` for big-endian files.
fn read_file_header(file: &str, reader: &mut impl Read) -> Result<bool> {
    let mut header = Vec::new();
    reader.take(128).read_to_end(&mut header).map_err(|e| read_error(file, e))?;
    if header.is_empty() {
        return Err(empty(file));
    }
    if header.starts_with(b"MATLAB 7.3") || header.starts_with(b"\x89HDF") {
        return Err(Error::data("a MATLAB v7.3 (HDF5) file, which is not read")
            .with_remedy("save it with -v7")
            .in_file(file));
    }
    match header.get(126..128) {
        Some(b"IM") => Ok(false),
        Some(b"MI") => Ok(true),
        _ => Err(Error::data("not a MATLAB v5 or v7 file").with_remedy("save it with -v7").in_file(file)),
    }
}
