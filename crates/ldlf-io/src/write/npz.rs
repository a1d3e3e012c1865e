//! NumPy archives: an array per column, distributions and features as one matrix.
//!
//! An array's shape stands before its numbers, and the number of rows is known only at the end: numbers wait in a
//! temporary file, not in memory.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use zip::write::SimpleFileOptions;

use super::{BoxedWriter, Column, TableForm, TableWriter};

/// NumPy archives.
pub(crate) const FORM: TableForm = TableForm { extension: "npz", is_text: false, open: |out, _| table(out) };

/// A writer of NumPy archives.
fn table<'w>(out: impl Write + Seek + Send + 'w) -> BoxedWriter<'w> {
    Box::new(Npz { out, arrays: Vec::new(), rows: 0 })
}

struct Npz<W: Write + Seek> {
    out: W,
    arrays: Vec<Spool>,
    rows: usize,
}

/// An array on its way.
struct Spool {
    name: String,
    kind: Items,
    /// Numbers per row, for a matrix.
    width: Option<usize>,
    numbers: BufWriter<File>,
}

impl<W: Write + Seek + Send> TableWriter for Npz<W> {
    fn block(&mut self, columns: &[Column<'_>]) -> std::io::Result<()> {
        if self.arrays.is_empty() {
            self.arrays = columns.iter().map(Spool::new).collect::<std::io::Result<_>>()?;
        }
        for (spool, column) in self.arrays.iter_mut().zip(columns) {
            spool.push(column)?;
        }
        self.rows += columns.first().map_or(0, Column::rows);
        Ok(())
    }

    fn finish(self: Box<Self>) -> std::io::Result<()> {
        let mut archive = zip::ZipWriter::new(self.out);
        let options =
            SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored).large_file(true);
        for spool in self.arrays {
            archive.start_file(format!("{}.npy", spool.name), options)?;
            spool.finish(self.rows, &mut archive)?;
        }
        archive.finish()?.flush()
    }
}

/// What an array holds.
enum Items {
    /// Numbers, with NumPy's name of their type.
    Numbers(&'static str),
    /// Texts, the longest of so many characters; NumPy gives all the same room. They wait as UTF-8, each after its length.
    Texts(usize),
}

impl Spool {
    fn new(column: &Column<'_>) -> std::io::Result<Self> {
        let (name, kind, width) = match column {
            Column::Matrix(name, names, _) => (*name, Items::Numbers("<f4"), Some(names.len())),
            Column::Numbers(name, _) => (*name, Items::Numbers("<f8"), None),
            Column::Names(name, _) | Column::Texts(name, _) => (*name, Items::Texts(1), None),
            // NumPy's text has a fixed length: the number of the label is plainer.
            Column::Labels(name, ..) => (*name, Items::Numbers("<i8"), None),
        };
        let numbers = BufWriter::new(tempfile::tempfile()?);
        Ok(Spool { name: name.to_string(), kind, width, numbers })
    }

    fn push(&mut self, column: &Column<'_>) -> std::io::Result<()> {
        let out = &mut self.numbers;
        match column {
            Column::Matrix(_, _, rows) => {
                rows.as_slice().iter().try_for_each(|p| out.write_all(&p.to_le_bytes()))
            }
            Column::Numbers(_, numbers) => numbers.iter().try_for_each(|v| out.write_all(&v.to_le_bytes())),
            Column::Names(_, texts) => push_texts(texts, &mut self.kind, out),
            Column::Texts(_, texts) => push_texts(texts, &mut self.kind, out),
            Column::Labels(_, _, labels) => {
                // No label is -1, as in pandas' codes of categories.
                let number = |label: &Option<usize>| label.map_or(-1i64, |label| label as i64);
                labels.iter().try_for_each(|label| out.write_all(&number(label).to_le_bytes()))
            }
        }
    }

    /// Writes the array, of which the number of rows is known now.
    fn finish(self, rows: usize, out: &mut impl Write) -> std::io::Result<()> {
        let mut waiting = self.numbers.into_inner().map_err(|e| e.into_error())?;
        waiting.seek(SeekFrom::Start(0))?;
        let longest = match self.kind {
            Items::Numbers(kind) => {
                out.write_all(&header(kind, rows, self.width))?;
                return std::io::copy(&mut waiting, out).map(drop);
            }
            Items::Texts(longest) => longest,
        };
        out.write_all(&header(&format!("<U{longest}"), rows, None))?;
        let mut waiting = BufReader::new(waiting);
        for _ in 0..rows {
            let mut length = [0; 8];
            waiting.read_exact(&mut length)?;
            let mut text = String::new();
            waiting.by_ref().take(u64::from_le_bytes(length)).read_to_string(&mut text)?;
            let filled = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(longest);
            filled.into_iter().try_for_each(|character| out.write_all(&character.to_le_bytes()))?;
        }
        Ok(())
    }
}

fn push_texts(texts: &[String], kind: &mut Items, out: &mut impl Write) -> std::io::Result<()> {
    texts.iter().try_for_each(|text| {
        if let Items::Texts(longest) = kind {
            *longest = text.chars().count().max(*longest);
        }
        out.write_all(&(text.len() as u64).to_le_bytes())?;
        out.write_all(text.as_bytes())
    })
}

/// The head of a `.npy` file, version 1.0: filled with spaces up to a multiple of 64 bytes.
fn header(kind: &str, rows: usize, width: Option<usize>) -> Vec<u8> {
    let shape = width.map_or(format!("({rows},)"), |width| format!("({rows}, {width})"));
    let mut dictionary = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    let length = (10 + dictionary.len() + 1).next_multiple_of(64) - 10;
    dictionary += &" ".repeat(length - dictionary.len() - 1);
    dictionary.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(dictionary.as_bytes());
    bytes
}
