//! The fold file: in which fold each row is tested.

use std::io::Read;
use std::path::Path;

use ldlf_core::error::Place;
use ldlf_core::folds::{Fold, from_numbers};
use ldlf_core::{Dataset, Error, Result};

use crate::input;

/// Reads a fold file: one whole number per line, from 0, without a header, one line for every row of `data`.
///
/// Where the data has groups, a group that the file spreads over several folds is refused.
pub fn read(path: &Path, data: &Dataset) -> Result<Vec<Fold>> {
    let mut text = String::new();
    input::open_stream(path)?
        .read_to_string(&mut text)
        .map_err(|e| Error::data(format!("cannot be read: {e}")).in_file(path))?;
    let parse = |(line, text): (usize, &str)| {
        text.trim().parse::<usize>().map_err(|_| {
            Error::data(format!("{:?} is not a fold number", text.trim()))
                .with_remedy("give one whole number from 0 per line, no header")
                .at(Place::file(path).line(line as u64 + 1))
        })
    };
    let numbers: Vec<usize> = text.trim_end().lines().enumerate().map(parse).collect::<Result<_>>()?;
    if numbers.len() != data.rows() {
        let (found, rows) = (numbers.len(), data.rows());
        return Err(Error::data(format!("{found} fold numbers for the {rows} rows of {}", data.name()))
            .with_remedy("give one per row")
            .in_file(path));
    }
    if let Some(groups) = data.groups() {
        let mut first = std::collections::BTreeMap::new();
        for (row, (&group, &number)) in groups.iter().zip(&numbers).enumerate() {
            let (earlier, fold) = *first.entry(group).or_insert((row, number));
            if fold != number {
                return Err(Error::data(format!(
                    "rows {} and {} of {} are of one group but in the folds {fold} and {number}",
                    earlier + 1,
                    row + 1,
                    data.name()
                ))
                .with_remedy("keep a group in one fold")
                .in_file(path));
            }
        }
    }
    from_numbers(&numbers).map_err(|e| e.recast(Error::Data).in_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldlf_core::{Features, Matrix};

    fn rows(n: usize) -> Dataset {
        let targets = Matrix::new(n, 1, vec![1.0; n]).unwrap();
        Dataset::new(Features::Dense(Matrix::zeros(n, 1)), targets).unwrap().named("rows")
    }

    #[test]
    fn a_fold_file_is_checked_line_by_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("folds.txt");
        let read_text = |text: &str, data: &Dataset| {
            std::fs::write(&path, text).unwrap();
            read(&path, data).map_err(|e| e.to_string().replace(&*path.to_string_lossy(), "folds.txt"))
        };
        assert_eq!(read_text("1\r\n0\n1\n", &rows(3)).unwrap(), from_numbers(&[1, 0, 1]).unwrap());
        assert_eq!(
            read_text("0\none\n", &rows(2)).unwrap_err(),
            "folds.txt line 2: \"one\" is not a fold number; give one whole number from 0 per line, no header"
        );
        assert_eq!(
            read_text("0\n1\n", &rows(3)).unwrap_err(),
            "folds.txt: 2 fold numbers for the 3 rows of rows; give one per row"
        );
        let pair = rows(3).with_groups(vec![4, 5, 4]).unwrap();
        assert_eq!(
            read_text("0\n0\n1\n", &pair).unwrap_err(),
            "folds.txt: rows 1 and 3 of rows are of one group but in the folds 0 and 1; keep a group in one fold"
        );
    }
}
