//! Columns applied to the cells of rows.

use std::collections::HashMap;

use super::dates::{DateText, date_text, parse_date, parts_of};
use super::numbers::parse_number;
use super::words::{canonical, is_missing, of_number, parse_boolean};
use super::{Cell, Column, Columns, Encoding};
use crate::error::{Message, shown};
use crate::features::single_precision;
use crate::{Error, Result, message};

/// Turns the cells of columns into features, and counts what a model cannot know.
#[derive(Clone, Debug)]
pub struct Encoder {
    columns: Vec<ColumnEncoder>,
}

#[derive(Clone, Debug)]
struct ColumnEncoder {
    column: Column,
    /// The first of its features.
    start: usize,
    /// The feature of every category within the column.
    places: HashMap<String, usize>,
    /// The features of the categories for yes and no, where the categories are words for these.
    booleans: Option<[Option<usize>; 2]>,
    /// Cells that were not missing.
    present: u64,
    /// Those that training did not have, or rarely, and those that were no numbers, with the first of each.
    unknown: Option<(u64, String)>,
    unreadable: Option<(u64, String)>,
    /// Dates whose order nothing told in training.
    unclear: Option<(u64, String)>,
    /// Cells that were missing where training had none such.
    filled: u64,
}

/// Columns with missing values that are named at most.
const NAMED: usize = 8;

impl Encoder {
    /// For such columns.
    pub fn new(columns: &Columns) -> Self {
        let mut start = 0;
        let encoders = columns.list.iter().map(|column| {
            let encoder = ColumnEncoder::new(column.clone(), start);
            start += column.width();
            encoder
        });
        Encoder { columns: encoders.collect() }
    }

    /// Writes the features of the cell of a column, by its position in the list, into the row of all features. An error has no place.
    #[inline]
    pub fn encode(&mut self, column: usize, cell: Cell<'_>, row: &mut [f32]) -> Result<()> {
        self.columns[column].encode(cell, row)
    }

    /// What users should know: one sentence for every column with values that training did not have, or that were no numbers or no
    /// clear dates, and one for all values that are missing where training had all.
    pub fn notices(&self) -> Vec<Message> {
        let mut notices = Vec::new();
        for ColumnEncoder { column, present, unknown, unreadable, unclear, .. } in &self.columns {
            let name = shown(&column.name);
            if let Some((count, first)) = unknown {
                let rare = if matches!(column.encoding, Encoding::Categories { rare: true, .. }) {
                    "rare or "
                } else {
                    ""
                };
                notices.push(message!["column {name:?}: {count} of {present} values were {rare}not seen in training, such as {first:?}"]);
            }
            if let Some((count, first)) = unreadable {
                notices.push(message!["column {name:?}: {count} of {present} values are no numbers, such as {first:?}, and count as missing"]);
            }
            if let Some((count, first)) = unclear {
                notices.push(message!["column {name:?}: {count} of {present} dates, such as {first:?}, may have the day or the month first, and are read with the month first: training had none of them; write them as 2021-03-04 to be sure"]);
            }
        }
        notices.extend(self.filled());
        notices
    }

    /// Values that are missing where training had all.
    fn filled(&self) -> Option<Message> {
        let columns: Vec<&ColumnEncoder> = self.columns.iter().filter(|column| column.filled > 0).collect();
        let of = |column: &&ColumnEncoder| {
            let (name, filled) = (shown(&column.column.name), column.filled);
            format!("{filled} of {} in {name:?}", column.present + filled)
        };
        let named = columns.iter().take(NAMED).map(of).collect::<Vec<_>>().join(", ");
        let more = match columns.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and some in {more} more columns"),
        };
        let are_categories =
            |column: &&ColumnEncoder| matches!(column.column.encoding, Encoding::Categories { .. });
        let became = match (columns.iter().any(are_categories), columns.iter().all(are_categories)) {
            (_, true) => "they count as none of the categories",
            (true, _) => "the mean of the training rows stands for them, and none of the categories",
            _ => "the mean of the training rows stands for them",
        };
        (!columns.is_empty())
            .then(|| message!["values are missing where training had all: {named}{more}; {became}"])
    }
}

impl ColumnEncoder {
    fn new(column: Column, start: usize) -> Self {
        let mut places = HashMap::new();
        let mut booleans = None;
        if let Encoding::Categories { values, .. } = &column.encoding {
            places = values.iter().cloned().zip(0..).collect();
            if !values.is_empty() && values.iter().all(|value| parse_boolean(value).is_some()) {
                let place = |wanted| values.iter().position(|value| parse_boolean(value) == Some(wanted));
                booleans = Some([place(false), place(true)]);
            }
        }
        ColumnEncoder {
            column,
            start,
            places,
            booleans,
            present: 0,
            unknown: None,
            unreadable: None,
            unclear: None,
            filled: 0,
        }
    }

    #[inline]
    fn encode(&mut self, cell: Cell<'_>, row: &mut [f32]) -> Result<()> {
        // What is most frequent goes first: a number in a text.
        let cell = match cell {
            Cell::Number(number) if number.is_nan() => Cell::Missing,
            Cell::Text(text) => match (&self.column.encoding, text.parse::<f64>()) {
                (Encoding::Number { .. }, Ok(number)) if !number.is_nan() => Cell::Number(number),
                _ if is_missing(text) => Cell::Missing,
                _ => cell,
            },
            other => other,
        };
        if cell == Cell::Missing {
            self.filled += u64::from(!self.column.indicator);
            return self.fill(row, true);
        }
        self.present += 1;
        if self.column.indicator {
            row[self.start + self.column.encoding.width()] = 0.0;
        }
        match (&self.column.encoding, cell) {
            (Encoding::Number { .. }, Cell::Number(number)) => {
                row[self.start] = single_precision(number)?;
                Ok(())
            }
            (Encoding::Number { lenient }, cell) => match number_of(cell) {
                Some(number) => {
                    row[self.start] = single_precision(number)?;
                    Ok(())
                }
                None if *lenient => {
                    count(&mut self.unreadable, cell);
                    self.fill(row, true)
                }
                None => Err(Error::data(format!("{:?} is not a number", category_of(cell)))
                    .with_remedy("the model needs a number here")),
            },
            (Encoding::Boolean {}, cell) => match boolean_of(cell) {
                Some(value) => {
                    row[self.start] = f32::from(value);
                    Ok(())
                }
                None => {
                    count(&mut self.unknown, cell);
                    self.fill(row, false)
                }
            },
            (Encoding::Date { origin, hour, order }, cell) => {
                let date = if let Cell::Text(text) = cell { parse_date(text) } else { None };
                let seconds = match cell {
                    Cell::Date(seconds) => Some(seconds),
                    _ => date.and_then(|date| date.in_order(*order)),
                };
                if order.is_none() && date.is_some_and(DateText::is_unclear) {
                    count(&mut self.unclear, cell);
                }
                let Some(seconds) = seconds else {
                    return Err(Error::data(format!("{:?} is not a date", category_of(cell)))
                        .with_remedy("write it as 2021-03-04"));
                };
                let parts = parts_of(seconds, *origin);
                let width = 4 + usize::from(*hour);
                for (out, part) in row[self.start..self.start + width].iter_mut().zip(parts) {
                    *out = part as f32;
                }
                Ok(())
            }
            (Encoding::Categories { values, rare }, cell) => {
                let known = values.len();
                let width = known + usize::from(*rare);
                let rare = rare.then_some(known);
                let place = self.place_of(cell);
                let out = &mut row[self.start..self.start + width];
                out.fill(0.0);
                if place.is_none() {
                    count(&mut self.unknown, cell);
                }
                if let Some(place) = place.or(rare) {
                    out[place] = 1.0;
                }
                Ok(())
            }
        }
    }

    /// The place of a category among those of the column.
    fn place_of(&self, cell: Cell<'_>) -> Option<usize> {
        if let Cell::Text(text) = cell
            && let Some(&place) = self.places.get(text)
        {
            return Some(place);
        }
        let exact = self.places.get(&category_of(cell)).copied();
        exact.or_else(|| self.booleans?[usize::from(boolean_of(cell)?)])
    }

    fn fill(&self, row: &mut [f32], missing: bool) -> Result<()> {
        let width = self.column.encoding.width();
        let out = &mut row[self.start..self.start + width];
        out.fill(0.0);
        for (out, &fill) in out.iter_mut().zip(&self.column.fill) {
            // Models of old versions know no fill.
            if fill.is_nan() {
                return Err(Error::data("the value is missing"));
            }
            *out = fill as f32;
        }
        if self.column.indicator {
            row[self.start + width] = f32::from(missing);
        }
        Ok(())
    }
}

fn count(counter: &mut Option<(u64, String)>, cell: Cell<'_>) {
    counter.get_or_insert_with(|| (0, category_of(cell))).0 += 1;
}

fn number_of(cell: Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Number(number) => Some(number),
        Cell::Boolean(value) => Some(f64::from(u8::from(value))),
        Cell::Text(text) => {
            parse_number(text).or_else(|| parse_boolean(text).map(|value| f64::from(u8::from(value))))
        }
        Cell::Date(_) | Cell::Missing => None,
    }
}

fn boolean_of(cell: Cell<'_>) -> Option<bool> {
    let number = |number: f64| match number {
        0.0 => Some(false),
        1.0 => Some(true),
        _ => None,
    };
    match cell {
        Cell::Boolean(value) => Some(value),
        Cell::Number(value) => number(value),
        Cell::Text(text) => parse_boolean(text).or_else(|| number(parse_number(text)?)),
        Cell::Date(_) | Cell::Missing => None,
    }
}

/// The category of a cell, in its one spelling; empty where there is nothing.
pub fn category_of(cell: Cell<'_>) -> String {
    match cell {
        Cell::Missing => String::new(),
        Cell::Number(number) => of_number(number),
        Cell::Boolean(value) => value.to_string(),
        Cell::Date(seconds) => date_text(seconds),
        Cell::Text(text) => canonical(text).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::DateOrder;
    use super::*;

    fn encoder(encoding: Encoding, indicator: bool) -> Encoder {
        Encoder::new(&Columns { list: vec![Column::new("c", encoding, indicator)] })
    }

    fn said(encoder: &Encoder) -> Vec<String> {
        encoder.notices().iter().map(Message::to_string).collect()
    }

    fn row(encoder: &mut Encoder, cell: Cell<'_>) -> Vec<f32> {
        let width = encoder.columns[0].column.width();
        let mut row = vec![9.0; width];
        encoder.encode(0, cell, &mut row).unwrap();
        row
    }

    #[test]
    fn one_value_has_one_code_however_it_is_spelt() {
        let values = || vec!["4".to_string(), "x".to_string()];
        let mut categories = encoder(Encoding::Categories { values: values(), rare: false }, false);
        for cell in [Cell::Text("4"), Cell::Text("4.0"), Cell::Text(" 4 "), Cell::Number(4.0)] {
            assert_eq!(row(&mut categories, cell), [1.0, 0.0], "{cell:?}");
        }
        let mut flags = encoder(Encoding::Boolean {}, false);
        for cell in
            [Cell::Text("True"), Cell::Text("YES"), Cell::Text("1"), Cell::Boolean(true), Cell::Number(1.0)]
        {
            assert_eq!(row(&mut flags, cell), [1.0], "{cell:?}");
        }
        let named = vec!["false".to_string(), "true".to_string()];
        let mut named = encoder(Encoding::Categories { values: named, rare: false }, false);
        for cell in [Cell::Text("TRUE"), Cell::Text("yes"), Cell::Boolean(true), Cell::Number(1.0)] {
            assert_eq!(row(&mut named, cell), [0.0, 1.0], "{cell:?}");
        }
        let mut numbers = encoder(Encoding::Number { lenient: false }, false);
        for cell in [Cell::Text("1,000"), Cell::Text("1e3"), Cell::Number(1000.0)] {
            assert_eq!(row(&mut numbers, cell), [1000.0], "{cell:?}");
        }
        assert!([categories, flags, named, numbers].iter().all(|encoder| encoder.notices().is_empty()));
    }

    #[test]
    fn what_training_did_not_have_is_counted_in_one_notice() {
        let mut plain = encoder(Encoding::Categories { values: vec!["a".into()], rare: false }, false);
        for text in ["a", "b", "c"] {
            row(&mut plain, Cell::Text(text));
        }
        assert_eq!(said(&plain), ["column \"c\": 2 of 3 values were not seen in training, such as \"b\""]);
        let mut grouped = encoder(Encoding::Categories { values: vec!["a".into()], rare: true }, true);
        assert_eq!(row(&mut grouped, Cell::Text("b")), [0.0, 1.0, 0.0]);
        assert_eq!(row(&mut grouped, Cell::Missing), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn missing_values_are_counted_where_training_had_none() {
        let number = || Encoding::Number { lenient: false };
        let list = vec![
            Column::new("age", number(), false),
            Column::new("income", number(), true),
            Column::new("city", Encoding::Categories { values: vec!["a".into()], rare: false }, false),
        ];
        let mut encoder = Encoder::new(&Columns { list });
        let mut row = [0.0; 4];
        for cell in [Cell::Number(1.0), Cell::Missing, Cell::Text("n/a")] {
            (0..2).for_each(|column| encoder.encode(column, cell, &mut row).unwrap());
        }
        let mean = "; the mean of the training rows stands for them";
        let age = "values are missing where training had all: 2 of 3 in \"age\"";
        assert_eq!(said(&encoder), [format!("{age}{mean}")]);
        encoder.encode(2, Cell::Text(""), &mut row).unwrap();
        assert_eq!(said(&encoder), [format!("{age}, 1 of 1 in \"city\"{mean}, and none of the categories")]);
    }

    #[test]
    fn dates_whose_order_training_did_not_tell_are_counted() {
        let date = |order| Encoding::Date { origin: 0, hour: false, order };
        let mut unknown = encoder(date(None), false);
        for text in ["2021-03-04", "4/4/2021", "3/4/2021", "5/4/2021"] {
            row(&mut unknown, Cell::Text(text));
        }
        assert_eq!(
            said(&unknown),
            [
                "column \"c\": 2 of 4 dates, such as \"3/4/2021\", may have the day or the month first, and are read with the month first: training had none of them; write them as 2021-03-04 to be sure"
            ]
        );
        let mut known = encoder(date(Some(DateOrder::DayFirst)), false);
        assert_eq!(row(&mut known, Cell::Text("3/4/2021"))[1], 4.0);
        assert!(said(&known).is_empty());
    }

    #[test]
    fn a_text_that_is_no_number_is_an_error_or_missing_as_the_user_wished() {
        let mut strict = encoder(Encoding::Number { lenient: false }, false);
        let error = strict.encode(0, Cell::Text("oops"), &mut [0.0]).unwrap_err();
        assert_eq!(error.to_string(), "\"oops\" is not a number; the model needs a number here");
        let mut lenient = encoder(Encoding::Number { lenient: true }, true);
        assert_eq!(row(&mut lenient, Cell::Text("oops")), [0.0, 1.0]);
        let said = lenient.notices()[0].to_string();
        assert_eq!(
            said,
            "column \"c\": 1 of 1 values are no numbers, such as \"oops\", and count as missing"
        );
    }
}
