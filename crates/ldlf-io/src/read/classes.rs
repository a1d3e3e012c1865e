//! One label per row: numbers, which have an order, or texts, which are classes.

use std::collections::HashMap;

use ldlf_core::columns::{Cell, category_of, is_missing, parse_number};
use ldlf_core::error::{Place, Subject, shown};
use ldlf_core::targets::Targets;
use ldlf_core::{Error, Matrix, Result, message};

/// The most classes that a column of texts may have; beyond it, it is hardly a label.
const MOST_CLASSES: usize = 1000;

/// The cells of the column as they come.
#[derive(Default)]
pub(super) struct SingleLabels {
    rows: Vec<Single>,
    classes: HashMap<String, u32>,
    names: Vec<String>,
    texts: usize,
    /// The first text, with its place.
    first_text: Option<(Place, String)>,
}

#[derive(Clone, Copy)]
enum Single {
    Number(f64),
    Class(u32),
}

/// What the column turned out to hold.
pub(super) enum Singles {
    Numbers(Vec<f64>),
    Classes { targets: Targets, names: Vec<String> },
}

impl SingleLabels {
    /// Adds the label of a row.
    pub fn push(&mut self, cell: Cell<'_>, place: &dyn Fn() -> Place) -> Result<()> {
        let number = match cell {
            Cell::Number(number) => Some(number),
            Cell::Text(text) if is_missing(text) => None,
            Cell::Text(text) => match parse_number(text) {
                None => return self.push_text(cell, place),
                number => number,
            },
            Cell::Boolean(_) | Cell::Date(_) => return self.push_text(cell, place),
            Cell::Missing => None,
        };
        match number {
            Some(number) if number.is_finite() => self.rows.push(Single::Number(number)),
            Some(number) if !number.is_nan() => {
                return Err(Error::data(format!("{number} is not a finite number")).at(place()));
            }
            _ => {
                return Err(Error::data("the label is missing")
                    .with_remedy(message!["leave such rows out with ", Subject::MissingLabels, " skip"])
                    .at(place()));
            }
        }
        Ok(())
    }

    fn push_text(&mut self, cell: Cell<'_>, place: &dyn Fn() -> Place) -> Result<()> {
        let text = category_of(cell);
        if self.first_text.is_none() {
            self.first_text = Some((place(), text.clone()));
        }
        self.texts += 1;
        let class = self.class_of(text);
        self.rows.push(Single::Class(class));
        Ok(())
    }

    fn class_of(&mut self, text: String) -> u32 {
        let next = self.names.len() as u32;
        *self.classes.entry(text).or_insert_with_key(|text| {
            self.names.push(text.clone());
            next
        })
    }

    /// Numbers, or classes where most cells are texts; `known` are the classes of a model, in their order.
    pub fn finish(mut self, file: &str, known: Option<&[String]>, is_spread: bool) -> Result<Singles> {
        let Some((place, text)) = self.first_text.take().filter(|_| known.is_none() || self.texts > 0) else {
            if let Some(known) = known {
                return self.into_classes(file, Some(known));
            }
            let numbers = self.rows.iter().map(|single| match single {
                Single::Number(number) => *number,
                Single::Class(_) => f64::NAN,
            });
            return Ok(Singles::Numbers(numbers.collect()));
        };
        if known.is_none() && 2 * self.texts <= self.rows.len() {
            let (texts, rows) = (self.texts, self.rows.len());
            return Err(Error::data(format!("{:?} is not a number, as most labels are", shown(&text)))
                .with_note(format!("{texts} of {rows} labels are texts"))
                .at(place));
        }
        if is_spread {
            let class = shown(&text);
            return Err(Error::usage(format!("classes such as {class:?} have no order to spread over"))
                .with_remedy(message!["leave out ", Subject::Sigma, ", or give numbers"])
                .at(place));
        }
        self.into_classes(file, known)
    }

    /// All weight of every row on its class.
    fn into_classes(mut self, file: &str, known: Option<&[String]>) -> Result<Singles> {
        let rows = std::mem::take(&mut self.rows);
        let classes: Vec<u32> = rows
            .into_iter()
            .map(|single| match single {
                Single::Class(class) => class,
                Single::Number(number) => self.class_of(category_of(Cell::Number(number))),
            })
            .collect();
        let names: Vec<String> = match known {
            Some(known) => known.to_vec(),
            None => {
                let mut names = self.names.clone();
                names.sort();
                names
            }
        };
        if names.len() > MOST_CLASSES {
            let count = names.len();
            return Err(Error::data(format!("{count} different texts are no classes"))
                .with_remedy(message!["name another ", Subject::LabelColumn])
                .in_file(file));
        }
        if let [only] = &names[..] {
            return Err(Error::data(format!(
                "{:?} is the only label, which is no distribution",
                shown(only)
            ))
            .in_file(file));
        }
        let places: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
        let mut distributions = Matrix::zeros(classes.len(), names.len());
        for (row, &class) in classes.iter().enumerate() {
            let name = &self.names[class as usize];
            let Some(&place) = places.get(name.as_str()) else {
                return Err(Error::data(format!("{:?} is no label of the model", shown(name)))
                    .with_remedy(format!("its labels are {}", names.join(", ")))
                    .at(Place::file(file).row(row + 1)));
            };
            distributions.row_mut(row)[place] = 1.0;
        }
        let totals = vec![1.0; classes.len()];
        Ok(Singles::Classes {
            targets: Targets { distributions, notice: None, totals, are_counts: true },
            names,
        })
    }
}
