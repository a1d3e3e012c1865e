//! Features that are not the numbers of a column: whether a column holds a category, and whether it holds nothing.
//!
//! Their names say where they come from (`colour=red`, `size is missing`), so that a model reads further tables by its names alone.
//! A missing value counts as 0 in its column; the feature beside it distinguishes it from a real 0. Categories that a model has
//! not seen in training set none of its features.

use std::collections::{BTreeMap, HashMap};

use ldlf_core::error::{Place, Subject};
use ldlf_core::{Csr, Error, Features, Matrix, Result, message};

/// The suffix of a feature that says where its column has no value.
const MISSING: &str = " is missing";

/// Different texts above which a column is not one of categories.
const MOST_CATEGORIES: usize = 1000;

/// Where a feature comes from; columns are positions in the header.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Origin {
    /// The numbers of a column; where missing values are allowed they read as NaN, which [`Derived`] or [`fill_missing`] replaces.
    Number { column: usize, missing: bool },
    /// 1 where a column holds this category.
    Category { column: usize, category: String },
    /// 1 where a column has no value.
    Missing { column: usize },
}

impl Origin {
    pub fn column(&self) -> usize {
        match *self {
            Origin::Number { column, .. } | Origin::Category { column, .. } | Origin::Missing { column } => {
                column
            }
        }
    }
}

/// The origin of a feature that no column is called after, if its name says so.
pub(super) fn origin_of(name: &str, places: &HashMap<&str, usize>) -> Option<Origin> {
    if let Some(&column) = name.strip_suffix(MISSING).and_then(|name| places.get(name)) {
        return Some(Origin::Missing { column });
    }
    name.match_indices('=').find_map(|(at, _)| {
        let column = *places.get(&name[..at])?;
        Some(Origin::Category { column, category: name[at + 1..].to_string() })
    })
}

/// Allows missing values in the columns that have a feature for them.
pub(super) fn allow_missing(origins: &mut [Origin]) {
    let marked: Vec<usize> = origins
        .iter()
        .filter_map(|origin| if let Origin::Missing { column } = origin { Some(*column) } else { None })
        .collect();
    for origin in origins {
        if let Origin::Number { column, missing } = origin {
            *missing |= marked.contains(column);
        }
    }
}

/// What marks a missing value becomes 0.
pub(super) fn fill_missing(row: &mut [f32]) {
    row.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = 0.0);
}

/// Whether a text stands for no value.
pub(super) fn is_missing(text: &str) -> bool {
    matches!(text, "" | "NA" | "NaN" | "nan" | "null" | "NULL")
}

/// The categories and missing values of rows as they are read, from which features are made at the end.
pub(super) struct Derived {
    /// The names of the columns of categories, each with the number of every text and the texts of the rows.
    categories: Vec<Categories>,
    /// The features whose missing values another feature marks already.
    marked: Vec<bool>,
    /// For every other feature with missing values the rows that have one.
    missing: BTreeMap<usize, Vec<u32>>,
    rows: u32,
}

struct Categories {
    column: String,
    known: HashMap<String, u32>,
    /// The number of each row's category, none for a missing value.
    rows: Vec<Option<u32>>,
}

impl Derived {
    /// For features of these origins and columns of categories with these names.
    pub fn new(origins: &[Origin], columns: Vec<String>) -> Self {
        let categories = columns
            .into_iter()
            .map(|column| Categories { column, known: HashMap::new(), rows: Vec::new() })
            .collect();
        let marked = origins
            .iter()
            .map(|origin| origins.contains(&Origin::Missing { column: origin.column() }))
            .collect();
        Derived { categories, marked, missing: BTreeMap::new(), rows: 0 }
    }

    /// Notes a row: the missing values among its numbers, which become 0, and its categories, in the order of the columns.
    pub fn note<'a>(&mut self, row: &mut [f32], categories: impl Iterator<Item = &'a str>) -> Result<()> {
        for place in (0..row.len()).filter(|&place| row[place].is_nan() && !self.marked[place]) {
            self.missing.entry(place).or_default().push(self.rows);
        }
        fill_missing(row);
        for (column, text) in self.categories.iter_mut().zip(categories) {
            let number = if is_missing(text) { None } else { Some(column.number_of(text)?) };
            column.rows.push(number);
        }
        self.rows += 1;
        Ok(())
    }

    /// The features with those of categories and missing values after them, and the names of all.
    pub fn finish(self, features: Features, mut names: Vec<String>) -> Result<(Features, Vec<String>)> {
        let mut added: Vec<Vec<u32>> = Vec::new();
        for column in self.categories {
            let mut order: Vec<(&String, u32)> = column.known.iter().map(|(text, &n)| (text, n)).collect();
            order.sort_unstable();
            let mut rows_of = vec![Vec::new(); order.len()];
            for (row, number) in column.rows.iter().enumerate() {
                if let Some(number) = number {
                    rows_of[*number as usize].push(row as u32);
                }
            }
            for (text, number) in order {
                names.push(format!("{}={text}", column.column));
                added.push(std::mem::take(&mut rows_of[number as usize]));
            }
        }
        for (place, rows) in self.missing {
            names.push(format!("{}{MISSING}", names[place]));
            added.push(rows);
        }
        let distinct: std::collections::HashSet<&String> = names.iter().collect();
        if distinct.len() < names.len() {
            let clash = "a column has the name of a feature made from another, such as \"colour=red\"";
            return Err(Error::data(clash).with_remedy("rename it"));
        }
        Ok((if added.is_empty() { features } else { beside(features, &added)? }, names))
    }
}

impl Categories {
    fn number_of(&mut self, text: &str) -> Result<u32> {
        if let Some(&number) = self.known.get(text) {
            return Ok(number);
        }
        if self.known.len() == MOST_CATEGORIES {
            return Err(Error::data(format!(
                "more than {MOST_CATEGORIES} different texts are no categories"
            ))
            .with_remedy(message!["leave the column out with ", Subject::Ignore])
            .at(Place::default().column(&self.column)));
        }
        let number = self.known.len() as u32;
        self.known.insert(text.to_string(), number);
        Ok(number)
    }
}

/// Features with further columns that are 1 in the given rows and 0 elsewhere.
fn beside(features: Features, added: &[Vec<u32>]) -> Result<Features> {
    let (rows, cols) = (features.rows(), features.cols());
    let mut of_row: Vec<Vec<u32>> = vec![Vec::new(); rows];
    for (column, ones) in added.iter().enumerate() {
        ones.iter().for_each(|&row| of_row[row as usize].push((cols + column) as u32));
    }
    match features {
        Features::Sparse(narrow) => {
            let mut wide = Csr::with_columns(cols + added.len());
            for (row, ones) in of_row.iter().enumerate() {
                let (columns, values) = narrow.row(row);
                let own = columns.iter().copied().zip(values.iter().copied());
                wide.push_row(own.chain(ones.iter().map(|&column| (column, 1.0))));
            }
            Ok(Features::by_density_of_rows(wide))
        }
        Features::Dense(narrow) => {
            let mut wide = Matrix::zeros(rows, cols + added.len());
            for (row, ones) in of_row.iter().enumerate() {
                let out = wide.row_mut(row);
                out[..cols].copy_from_slice(narrow.row(row));
                ones.iter().for_each(|&column| out[column as usize] = 1.0);
            }
            Ok(Features::by_density(wide))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_or_category_may_contain_equal_signs() {
        let places = HashMap::from([("colour", 0), ("a=b", 1), ("size", 2)]);
        let category = |column, category: &str| Some(Origin::Category { column, category: category.into() });
        assert_eq!(origin_of("colour=red", &places), category(0, "red"));
        assert_eq!(origin_of("colour=x=y", &places), category(0, "x=y"));
        assert_eq!(origin_of("a=b=c", &places), category(1, "c"));
        assert_eq!(origin_of("size is missing", &places), Some(Origin::Missing { column: 2 }));
        assert_eq!(origin_of("weight", &places), None);
    }

    #[test]
    fn derived_features_follow_the_numbers() {
        let mut derived = Derived::new(&[Origin::Number { column: 0, missing: true }], vec!["colour".into()]);
        for (size, colour) in [(1.0, "red"), (f32::NAN, "blue"), (3.0, "")] {
            derived.note(&mut [size], [colour].into_iter()).unwrap();
        }
        let features = Features::Dense(Matrix::from_rows(&[[1.0], [0.0], [3.0]]));
        let (features, names) = derived.finish(features, vec!["size".into()]).unwrap();
        assert_eq!(names, ["size", "colour=blue", "colour=red", "size is missing"]);
        let expected = Matrix::from_rows(&[[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [3.0, 0.0, 0.0, 0.0]]);
        assert_eq!(features, Features::Dense(expected));
    }

    #[test]
    fn a_thousand_categories_are_enough() {
        let mut derived = Derived::new(&[], vec!["name".into()]);
        let mut note = |number: usize| derived.note(&mut [], [number.to_string().as_str()].into_iter());
        assert!((0..MOST_CATEGORIES).all(|number| note(number).is_ok()));
        assert!(note(0).is_ok());
        assert!(
            note(MOST_CATEGORIES).unwrap_err().to_string().ends_with("leave the column out with `ignore`")
        );
    }
}
