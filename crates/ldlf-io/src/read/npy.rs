//! The header of a NumPy array: type, order and shape.

use std::io::Read;

use ldlf_core::{Error, Matrix, Result};

use super::gather::check_columns;
use super::numbers::Storage;
use super::read_error;

/// What an array holds.
#[derive(Clone, Copy)]
pub(super) enum Items {
    Numbers(Storage),
    /// Texts of so many characters, four bytes each.
    Texts(usize),
}

/// What stands before the numbers of a `.npy` array.
#[derive(Clone)]
pub(super) struct ArrayHeader {
    pub items: Items,
    pub big_endian: bool,
    pub fortran: bool,
    pub shape: Vec<usize>,
    /// The number of items.
    pub count: u64,
    /// The type as NumPy writes it.
    descr: String,
}

impl ArrayHeader {
    pub fn read(file: &str, name: &str, reader: &mut impl Read) -> Result<Self> {
        let mut exact = |length: usize| -> Result<Vec<u8>> {
            let mut bytes = vec![0u8; length];
            reader.read_exact(&mut bytes).map_err(|e| read_error(file, e))?;
            Ok(bytes)
        };
        let odd =
            |reason: &str| Error::data(format!("{name:?} is not a NumPy array ({reason})")).in_file(file);
        let start = exact(8)?;
        if !start.starts_with(b"\x93NUMPY") {
            return Err(odd("its first bytes"));
        }
        let length = if start[6] == 1 { exact(2)? } else { exact(4)? };
        let length = length.iter().rev().fold(0usize, |sum, &byte| sum << 8 | usize::from(byte));
        if length > 1 << 16 {
            return Err(odd("a header that is too long"));
        }
        let text = String::from_utf8(exact(length)?).map_err(|_| odd("its header"))?;
        let after = |key: &str| text.split_once(key).map(|(_, rest)| rest.trim_start());
        let descr =
            after("'descr':").and_then(|rest| rest.strip_prefix('\'')).and_then(|r| r.split('\'').next());
        let fortran = after("'fortran_order':").map(|rest| rest.starts_with("True"));
        let shape =
            after("'shape':").and_then(|rest| rest.strip_prefix('(')).and_then(|r| r.split(')').next());
        let (Some(fortran), Some(shape)) = (fortran, shape) else { return Err(odd("its header")) };
        let shape: Option<Vec<usize>> = shape
            .split(',')
            .map(str::trim)
            .filter(|size| !size.is_empty())
            .map(|size| size.parse().ok())
            .collect();
        let shape = shape.ok_or_else(|| odd("its shape"))?;
        let count = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        let count = count.ok_or_else(|| odd("its shape is too large"))?;
        let descr = descr.unwrap_or("a structure");
        let numbers = |storage| Ok(Items::Numbers(storage));
        let items = match descr.trim_start_matches(['<', '>', '|', '=']) {
            "i1" => numbers(Storage::I8),
            "u1" | "b1" => numbers(Storage::U8),
            "i2" => numbers(Storage::I16),
            "u2" => numbers(Storage::U16),
            "i4" => numbers(Storage::I32),
            "u4" => numbers(Storage::U32),
            "i8" => numbers(Storage::I64),
            "u8" => numbers(Storage::U64),
            "f4" => numbers(Storage::F32),
            "f8" => numbers(Storage::F64),
            other => {
                let width = other.strip_prefix('U').and_then(|width| width.parse().ok());
                width.map(Items::Texts).ok_or_else(|| unread(file, name, descr))
            }
        }?;
        let (big_endian, descr) = (descr.starts_with('>'), descr.to_string());
        Ok(ArrayHeader { items, big_endian, fortran, shape, count: count as u64, descr })
    }

    /// How the numbers are stored; text is refused.
    pub fn storage(&self, file: &str, name: &str) -> Result<Storage> {
        match self.items {
            Items::Numbers(storage) => Ok(storage),
            Items::Texts(_) => Err(unread(file, name, &self.descr)),
        }
    }

    /// The numbers as they lie in the file, as a matrix by rows.
    pub fn by_rows(&self, file: &str, name: &str, values: Vec<f64>) -> Result<Matrix<f64>> {
        let (rows, cols) = self.rows_and_columns(file, name)?;
        if !self.fortran {
            return Ok(Matrix::new(rows, cols, values)?);
        }
        let mut matrix = Matrix::zeros(rows, cols);
        for (index, value) in values.into_iter().enumerate() {
            matrix.row_mut(index % rows)[index / rows] = value;
        }
        Ok(matrix)
    }

    pub fn rows_and_columns(&self, file: &str, name: &str) -> Result<(usize, usize)> {
        match self.shape[..] {
            [_, 0] => Err(Error::data(format!("{name:?} has no columns")).in_file(file)),
            [rows, cols] => {
                check_columns(cols)?;
                Ok((rows, cols))
            }
            _ => {
                let found = self.shape.len();
                Err(Error::data(format!(
                    "{name:?} has {found} dimensions where rows and columns are expected"
                ))
                .in_file(file))
            }
        }
    }
}

fn unread(file: &str, name: &str, descr: &str) -> Error {
    Error::data(format!("{name:?} holds {descr:?}, which is not read"))
        .with_remedy("save it as float32")
        .in_file(file)
}
