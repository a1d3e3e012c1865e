//! Zip archives of NumPy arrays: `features` and `labels`, and vectors beside them.
//!
//! Arrays are of any integer, boolean or 32/64-bit float type, either byte order, C or Fortran order. Sparse features
//! are the four arrays of a SciPy CSR matrix: `features_data`, `features_indices`, `features_indptr` and `features_shape`
//! (or the plain names that `scipy.sparse.save_npz` writes). The vectors `label_values` and
//! `label_names` give the labels' numbers and names.
//! What a header promises is never reserved: memory grows with the bytes that arrive.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use flate2::read::DeflateDecoder;
use ldlf_core::error::{Column, Place};
use ldlf_core::targets::normalise_rows;
use ldlf_core::{Csr, Error, Features, Matrix, Result};
use ldlf_math::memory::Growth;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::assemble::{FileContents, Groups, one_label};
use super::gather::{ColumnGatherer, RowGatherer, check_columns, single_precision};
use super::npy::{ArrayHeader, Items};
use super::numbers::{Checked, Numbers, Storage, drain};
use super::{
    InMemory, Loaded, ReadOptions, RowStream, Source, check_feature_count, missing_name, read_error,
    refuse_ignore,
};
use crate::format::{FileFormat, Reads};
use crate::write;

/// NumPy archives.
pub(crate) const FORMAT: FileFormat = FileFormat {
    reads: Reads::Arrays { read, stream },
    seeks: true,
    open_ended: false,
    tables: &[write::npz::FORM],
    dataset: None,
};

/// Reads `features`, `labels` and the vectors that the options name.
pub(super) fn read(source: Source, options: &ReadOptions) -> Result<Loaded> {
    refuse_ignore(&source, options)?;
    let stem = source.stem.clone();
    let mut archive = Archive::open(source)?;
    let features = archive.features()?;
    let mut contents = FileContents::new(archive.file.clone(), stem, features);
    let file = contents.file.clone();
    let single = options.label_column.as_deref() == Some("labels");
    let header = if single { None } else { archive.header("labels")? };
    if header.is_some_and(|header| header.shape.len() == 1) {
        return Err(one_label(&file, "labels"));
    }
    let labels = if single { None } else { archive.matrix("labels")? };
    if let Some(labels) = labels {
        contents.targets = Some(normalise_rows(&labels, options.strict, &|row, label| {
            Place::file(&file).row(row + 1).label(label.map(|label| label + 1))
        })?);
    } else if options.label_column.is_none() {
        return Err(archive.missing("labels"));
    }
    contents.label_values = archive.vector("label_values")?;
    contents.singles = options.label_column.as_ref().map(|name| archive.finite(name)).transpose()?;
    contents.weights = options.sample_weights.as_ref().map(|name| archive.finite(name)).transpose()?;
    contents.split = options.split_column.as_ref().map(|name| archive.texts(name)).transpose()?;
    if let Some(name) = &options.group {
        let mut groups = Groups::default();
        archive.texts(name)?.iter().for_each(|text| groups.push(text));
        contents.groups = Some(groups.numbers);
    }
    if archive.has("label_names") {
        let names = archive.texts("label_names")?;
        contents.label_names =
            contents.targets.as_ref().filter(|t| t.distributions.cols() == names.len()).map(|_| names);
    }
    contents.name_columns(options)?;
    contents.assemble(options)
}

/// Streams `features` row by row from a C-ordered array; other layouts are read whole and cut.
pub(super) fn stream(source: Source, features: usize) -> Result<Box<dyn RowStream>> {
    let mut archive = Archive::open(source)?;
    let Some(header) = archive.header("features")?.filter(|header| !header.fortran) else {
        let whole = archive.features()?;
        return InMemory::cut(&archive.file, whole, features);
    };
    let (rows, cols) = header.rows_and_columns(&archive.file, "features")?;
    check_feature_count(&archive.file, cols, features)?;
    let file = archive.file.clone();
    let mut reader = archive.into_member("features")?;
    ArrayHeader::read(&file, "features", &mut reader)?;
    let storage = header.storage(&file, "features")?;
    let numbers = Numbers::new(reader, storage, header.big_endian, header.count);
    Ok(Box::new(ArrayRows { file, numbers, rows, cols, given: 0, sparse: None }))
}

struct ArrayRows {
    file: String,
    numbers: Numbers<Box<dyn Read + Send>>,
    rows: usize,
    cols: usize,
    given: usize,
    sparse: Option<bool>,
}

impl RowStream for ArrayRows {
    fn next_block(&mut self, rows: usize) -> Result<Option<Features>> {
        let mut block = RowGatherer::new(self.cols);
        let end = self.given.saturating_add(rows.max(1)).min(self.rows);
        while self.given < end {
            let row = next_row(&self.file, &mut self.numbers, self.given, self.cols)?;
            block.push(&row).map_err(|error| error.in_file(&self.file))?;
            self.given += 1;
        }
        if self.given == self.rows {
            self.numbers.finish().map_err(|e| read_error(&self.file, e))?;
        }
        Ok((block.rows() > 0).then(|| block.finish_like(&mut self.sparse)))
    }

    fn total_rows(&self) -> Option<usize> {
        Some(self.rows)
    }
}

/// The next `cols` numbers as features.
fn next_row<R: Read>(file: &str, numbers: &mut Numbers<R>, row: usize, cols: usize) -> Result<Vec<f32>> {
    let mut out = Vec::new();
    let mut growth = Growth::default();
    while out.len() < cols {
        growth
            .reached(size_of_val(&out[..]))
            .map_err(|reason| Error::data(reason).at(Place::file(file).row(row + 1)))?;
        let piece = numbers.piece_of(cols - out.len()).map_err(|e| read_error(file, e))?;
        for &value in piece.unwrap_or_default() {
            out.push(single_precision(value).map_err(|error| error.at(feature(file, row, out.len())))?);
        }
    }
    Ok(out)
}

fn feature(file: &str, row: usize, column: usize) -> Place {
    Place::file(file).row(row + 1).feature(column + 1)
}

/// An archive and the names of its arrays.
struct Archive {
    file: String,
    zip: ZipArchive<BufReader<File>>,
    names: Vec<String>,
}

impl Archive {
    fn open(source: Source) -> Result<Self> {
        let file = source.file.clone();
        let zip =
            ZipArchive::new(BufReader::new(source.into_seekable()?)).map_err(|e| zip_error(&file, e))?;
        let names = zip
            .file_names()
            .filter_map(std::result::Result::ok)
            .filter_map(|name| name.strip_suffix(".npy").map(str::to_string))
            .collect();
        Ok(Archive { file, zip, names })
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    fn missing(&self, name: &str) -> Error {
        missing_name(&self.file, "array", name, &self.names)
    }

    /// Reads an array's header and gives its numbers to `visit`.
    fn with_array<T>(
        &mut self,
        name: &str,
        visit: impl FnOnce(&str, &ArrayHeader, &mut Numbers<&mut dyn Read>) -> Result<T>,
    ) -> Result<Option<T>> {
        if !self.has(name) {
            return Ok(None);
        }
        let file = &self.file;
        let mut member = self.zip.by_name(&format!("{name}.npy")).map_err(|e| zip_error(file, e))?;
        let header = ArrayHeader::read(file, name, &mut member)?;
        let (storage, big_endian) = (header.storage(file, name)?, header.big_endian);
        let mut numbers = Numbers::new(&mut member as &mut dyn Read, storage, big_endian, header.count);
        let result = visit(file, &header, &mut numbers)?;
        // The checksum is compared at the very end only.
        numbers.finish().map_err(|e| read_error(file, e))?;
        Ok(Some(result))
    }

    fn header(&mut self, name: &str) -> Result<Option<ArrayHeader>> {
        if !self.has(name) {
            return Ok(None);
        }
        let mut member = self.zip.by_name(&format!("{name}.npy")).map_err(|e| zip_error(&self.file, e))?;
        ArrayHeader::read(&self.file, name, &mut member).map(Some)
    }

    /// A whole array as it lies in the file.
    fn array(&mut self, name: &str) -> Result<Option<(ArrayHeader, Vec<f64>)>> {
        self.with_array(name, |file, header, numbers| {
            let values = numbers.rest().map_err(|e| read_error(file, e))?;
            Ok((header.clone(), values))
        })
    }

    /// A whole matrix by rows.
    fn matrix(&mut self, name: &str) -> Result<Option<Matrix<f64>>> {
        let Some((header, values)) = self.array(name)? else { return Ok(None) };
        header.by_rows(&self.file, name, values).map(Some)
    }

    /// An array with at most one dimension above 1.
    fn vector(&mut self, name: &str) -> Result<Option<Vec<f64>>> {
        let Some((header, values)) = self.array(name)? else { return Ok(None) };
        if header.shape.iter().filter(|&&size| size != 1).count() > 1 {
            return Err(Error::data(format!("{name:?} must be a vector")).in_file(&self.file));
        }
        Ok(Some(values))
    }

    /// A vector that must be there and finite.
    fn finite(&mut self, name: &str) -> Result<Vec<f64>> {
        let values = self.vector(name)?.ok_or_else(|| self.missing(name))?;
        match values.iter().position(|v| !v.is_finite()) {
            None => Ok(values),
            Some(row) => {
                let place = Place::file(&self.file).row(row + 1).cell(Column::Array(name.into()));
                Err(Error::data(format!("{} is not a finite number", values[row])).at(place))
            }
        }
    }

    /// A vector of texts, or of numbers as text.
    fn texts(&mut self, name: &str) -> Result<Vec<String>> {
        if !self.has(name) {
            return Err(self.missing(name));
        }
        let file = &self.file;
        let mut member = self.zip.by_name(&format!("{name}.npy")).map_err(|e| zip_error(file, e))?;
        let header = ArrayHeader::read(file, name, &mut member)?;
        let Items::Texts(width) = header.items else {
            drop(member);
            return Ok(self.finite(name)?.iter().map(f64::to_string).collect());
        };
        let count = header.count.saturating_mul(width as u64);
        let characters = Numbers::new(&mut member, Storage::U32, header.big_endian, count).rest();
        let characters = characters.map_err(|e| read_error(file, e))?;
        drain(&mut member).map_err(|e| read_error(file, e))?;
        let text = |cell: &[f64]| {
            cell.iter().filter_map(|&c| char::from_u32(c as u32)).filter(|&c| c != '\0').collect()
        };
        Ok(characters.chunks(width.max(1)).map(text).collect())
    }

    fn features(&mut self) -> Result<Features> {
        let gathered = self.with_array("features", |file, header, numbers| {
            let (rows, cols) = header.rows_and_columns(file, "features")?;
            if !header.fortran {
                let mut gatherer = RowGatherer::new(cols);
                for row in 0..rows {
                    let row = next_row(file, numbers, row, cols)?;
                    gatherer.push(&row).map_err(|error| error.in_file(file))?;
                }
                return Ok(gatherer.finish());
            }
            let mut gatherer = ColumnGatherer::new(rows, cols)?;
            while let Some(piece) = numbers.piece().map_err(|e| read_error(file, e))? {
                for &value in piece {
                    gatherer.push(value).map_err(|error| error.in_file(file))?;
                }
            }
            gatherer.finish()
        })?;
        if let Some(features) = gathered {
            return Ok(features);
        }
        if self.has("features_indptr") {
            return self.sparse("features_").map(Features::Sparse);
        }
        if self.has("indptr") {
            let mut format = Vec::new();
            let member = self.zip.by_name("format.npy").map_err(|e| zip_error(&self.file, e))?;
            member.take(1024).read_to_end(&mut format).map_err(|e| read_error(&self.file, e))?;
            if !format.ends_with(b"csr") {
                return Err(Error::data("sparse features must be stored as CSR").in_file(&self.file));
            }
            return self.sparse("").map(Features::Sparse);
        }
        Err(self.missing("features"))
    }

    /// Four arrays of a CSR matrix; SciPy does not promise ordered columns, so they are ordered here.
    fn sparse(&mut self, prefix: &str) -> Result<Csr> {
        let mut part = |name: &str| -> Result<Vec<f64>> {
            let name = format!("{prefix}{name}");
            self.vector(&name)?.ok_or_else(|| self.missing(&name))
        };
        let (shape, indptr) = (part("shape")?, part("indptr")?);
        let (columns, values) = (part("indices")?, part("data")?);
        let file = &self.file;
        let odd =
            |reason: &str| Error::data(format!("the sparse features are damaged ({reason})")).in_file(file);
        let &[rows, cols] = &shape[..] else { return Err(odd("the shape is not two numbers")) };
        let indptr: Vec<usize> = indptr.iter().map(|&start| start as usize).collect();
        if rows < 0.0 || rows as usize != indptr.len().saturating_sub(1) || cols < 1.0 {
            return Err(odd("the shape does not fit the offsets"));
        }
        let cols = cols as usize;
        check_columns(cols)?;
        let whole = columns.len() == values.len()
            && indptr.windows(2).all(|w| w[0] <= w[1])
            && indptr.last() == Some(&values.len());
        if !whole || columns.iter().any(|&c| !(0.0..cols as f64).contains(&c)) {
            return Err(odd("offsets or columns out of range"));
        }
        let mut csr = Csr::with_columns(cols);
        for (row, range) in indptr.windows(2).enumerate() {
            let mut entries = Vec::with_capacity(range[1] - range[0]);
            for entry in range[0]..range[1] {
                let column = columns[entry] as u32;
                let value = single_precision(values[entry])
                    .map_err(|error| error.at(feature(file, row, column as usize)))?;
                entries.push((column, value));
            }
            entries.sort_by_key(|(column, _)| *column);
            if entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return Err(odd(&format!("row {} names a column twice; call sum_duplicates()", row + 1)));
            }
            csr.push_row(entries);
        }
        Ok(csr)
    }

    /// The bytes of one array, owned, so that a stream can outlive the archive.
    fn into_member(mut self, name: &str) -> Result<Box<dyn Read + Send>> {
        let file = self.file;
        let member = self.zip.by_name(&format!("{name}.npy")).map_err(|e| zip_error(&file, e))?;
        let (start, size, method) = (member.data_start(), member.compressed_size(), member.compression());
        let checksum = member.crc32();
        drop(member);
        let mut reader = self.zip.into_inner();
        let start = start.ok_or_else(|| Error::data(format!("{name:?} cannot be located")).in_file(&file))?;
        reader.seek(SeekFrom::Start(start)).map_err(|e| read_error(&file, e))?;
        match method {
            CompressionMethod::Stored => Ok(Box::new(Checked::new(reader.take(size), checksum))),
            CompressionMethod::Deflated => {
                Ok(Box::new(Checked::new(DeflateDecoder::new(reader.take(size)), checksum)))
            }
            other => {
                let refusal = format!("{name:?} is compressed by {other}, which is not read");
                Err(Error::data(refusal).in_file(file))
            }
        }
    }
}

fn zip_error(file: &str, error: ZipError) -> Error {
    match error {
        ZipError::Io(error) => read_error(file, error),
        other => Error::data(format!("not a usable .npz archive ({other})")).in_file(file),
    }
}
