//! Folders that are cut by a column, as Spark, Hive, Dask and pyarrow write them: `country=FR/part-0.parquet`. The names of the folders
//! are columns.

use std::path::{Path, PathBuf};

use ldlf_core::columns::{Cell, is_missing};
use ldlf_core::error::{Message, Place, shown};
use ldlf_core::{Error, Result};

use super::table::Table;

/// How deep folders may lie in each other; a link to a folder above would lead on for ever.
const DEEPEST: usize = 16;

/// What writers call the folder of rows without a value.
const NO_VALUE: &str = "__HIVE_DEFAULT_PARTITION__";

/// The column and the value that the name of a folder says.
fn key_and_value(name: &str) -> Option<(String, String)> {
    let (key, value) = name.split_once('=')?;
    let value = decoded(value);
    (!key.is_empty()).then(|| (decoded(key), if value == NO_VALUE { String::new() } else { value }))
}

/// A name without its escapes: `%2F` is a slash.
fn decoded(name: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(name.len()), name.as_bytes());
    while let [first, after @ ..] = rest {
        let escaped = name_byte(rest);
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &rest[3..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| name.to_string())
}

/// The byte of an escape.
fn name_byte(rest: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = rest else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
}

/// Whether the name of a folder says a column and a value.
pub(super) fn is_partition(folder: &Path) -> bool {
    folder.is_dir() && folder.file_name().is_some_and(|name| key_and_value(&name.to_string_lossy()).is_some())
}

/// The files for which `is_table` in the folders of a partitioned table, at any depth.
pub(super) fn files_below(folder: &Path, is_table: &dyn Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![(folder.to_path_buf(), 0)]);
    while let Some((folder, depth)) = folders.pop() {
        if depth > DEEPEST {
            return Err(Error::data(format!("its folders lie more than {DEEPEST} deep")).in_file(&folder));
        }
        for entry in std::fs::read_dir(&folder).map_err(|e| Error::io(&folder, e))? {
            let found = entry.map_err(|e| Error::io(&folder, e))?.path();
            match found.is_dir() {
                true if is_partition(&found) => folders.push((found, depth + 1)),
                false if depth > 0 && is_table(&found) => files.push(found),
                _ => {}
            }
        }
    }
    Ok(files)
}

/// A file of a partitioned table: its own columns, then those that its folders name.
pub(super) struct Partition {
    file: Box<dyn Table>,
    header: Vec<String>,
    values: Vec<String>,
}

impl Partition {
    /// `file` with the columns that the folders between `root` and `path` name; as it is where these name none.
    pub fn of(file: Box<dyn Table>, root: &Path, path: &Path) -> Result<Box<dyn Table>> {
        let folders = path.parent().and_then(|folder| folder.strip_prefix(root).ok()).into_iter().flatten();
        let named: Vec<(String, String)> =
            folders.filter_map(|name| key_and_value(&name.to_string_lossy())).collect();
        if named.is_empty() {
            return Ok(file);
        }
        let mut header = file.header().to_vec();
        let (keys, values): (Vec<String>, Vec<String>) = named.into_iter().unzip();
        for key in keys {
            if header.contains(&key) {
                return Err(Error::data(format!(
                    "the column {:?} is in the file and in the name of its folder",
                    shown(&key)
                ))
                .with_remedy("rename one of them")
                .in_file(path));
            }
            header.push(key);
        }
        Ok(Box::new(Partition { file, header, values }))
    }

    fn own(&self) -> usize {
        self.header.len() - self.values.len()
    }

    /// The value of a column that a folder names.
    fn named(&self, column: usize) -> Option<&str> {
        column.checked_sub(self.own()).map(|at| self.values[at].as_str())
    }
}

impl Table for Partition {
    fn file(&self) -> &str {
        self.file.file()
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn choose(&mut self, columns: &[usize]) -> Result<()> {
        let own: Vec<usize> = columns.iter().copied().filter(|&column| column < self.own()).collect();
        self.file.choose(&own)
    }

    fn numeric(&mut self) -> Result<Vec<bool>> {
        let mut numeric = self.file.numeric()?;
        numeric.extend(self.values.iter().map(|value| value.parse::<f64>().is_ok()));
        Ok(numeric)
    }

    fn next_row(&mut self) -> Result<bool> {
        self.file.next_row()
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        match self.named(column) {
            Some(value) if is_missing(value) => Cell::Missing,
            Some(value) => Cell::Text(value),
            None => self.file.cell(column),
        }
    }

    fn kept_text(&self, column: usize) -> String {
        self.named(column).map_or_else(|| self.file.kept_text(column), str::to_string)
    }

    fn is_blank(&self) -> bool {
        self.file.is_blank()
    }

    fn place(&self) -> Place {
        self.file.place()
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        self.file.skip(rows)
    }

    fn total_rows(&self) -> Option<usize> {
        self.file.total_rows()
    }

    fn notices(&self) -> Vec<Message> {
        self.file.notices()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_folder_says_a_column_and_a_value() {
        let said = |name| key_and_value(name).map(|(key, value)| format!("{key}:{value}"));
        assert_eq!(said("country=FR").as_deref(), Some("country:FR"));
        assert_eq!(said("day=2021-03-04%2F05=x").as_deref(), Some("day:2021-03-04/05=x"));
        assert_eq!(said("share=5%25").as_deref(), Some("share:5%"));
        assert_eq!(said("share=5%").as_deref(), Some("share:5%"));
        assert_eq!(said("country=__HIVE_DEFAULT_PARTITION__").as_deref(), Some("country:"));
        assert_eq!(said("photos"), None);
        assert_eq!(said("=FR"), None);
    }
}
