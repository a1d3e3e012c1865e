//! What a column holds, found out from its cells.

use std::collections::HashMap;

use super::dates::{DAY, DateOrder, DateText, parse_date};
use super::encoder::category_of;
use super::numbers::parse_number;
use super::words::{is_missing, of_number, parse_boolean};
use super::{Cell, Column, Encoding};
use crate::error::{Place, Subject};
use crate::{Error, Result, message};

/// What the user wishes of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wish {
    /// Whatever its cells say; identifiers and free texts are left out.
    #[default]
    Auto,
    /// Whatever its cells say, but it is used: the user named it.
    Used,
    /// Categories.
    Categories,
    /// Numbers; texts that are none count as missing.
    Number,
    /// Dates.
    Date,
}

/// Whether a column is used.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// As features.
    Use(Column),
    /// Not at all.
    Leave(LeftOut),
}

/// Why a column is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// It has no values.
    Empty,
    /// It counts the rows.
    RunningNumber,
    /// Its texts are all different.
    Identifier,
    /// It has too many different texts.
    FreeText,
}

impl LeftOut {
    /// As the end of a sentence about the column.
    pub fn reason(self) -> &'static str {
        match self {
            LeftOut::Empty => "it has no values",
            LeftOut::RunningNumber => "a running number",
            LeftOut::Identifier => "every value is different, as in an identifier",
            LeftOut::FreeText => "most values are different, as in free text",
        }
    }
}

/// What was found in a column, for people.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnFacts {
    /// What it holds, in a word; none where it is left out.
    pub kind: Option<&'static str>,
    /// Cells without a value.
    pub missing: u64,
    /// Different categories, where it holds these.
    pub categories: Option<usize>,
    /// Why it is left out.
    pub left_out: Option<LeftOut>,
    /// What else the user should know.
    pub note: Option<String>,
}

/// Categories that become features of a column that nobody named, and of one that was named in the user's wishes.
const MOST_CATEGORIES: usize = 100;
const MOST_WISHED: usize = 1000;

/// Different texts and numbers that are kept while a column is read.
const MOST_TEXTS: usize = 100_000;
const MOST_NUMBERS: usize = 1000;

/// Values from which on a column of different texts or of running numbers is an identifier.
const LEAST_IDENTIFIER: u64 = 20;

/// Different values up to which a column of mostly numbers may be one of categories.
const MIXED_CATEGORIES: usize = 50;

/// Sees the cells of a column in turn and decides what it holds.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    missing: u64,
    numbers: u64,
    booleans: u64,
    dates: u64,
    /// Texts that are nothing else.
    others: u64,
    first_other: Option<(String, Place)>,
    /// The first text that is no number and no other text.
    first_special: Option<(String, Place)>,
    /// How often each number came, until there are too many.
    of_number: Option<HashMap<u64, u64>>,
    too_many_numbers: bool,
    /// How often each text came that is no number.
    of_text: HashMap<String, u64>,
    too_many_texts: bool,
    whole: Whole,
    days: Days,
}

/// Whole numbers, to find out whether they are each of a range once.
#[derive(Clone, Copy, Debug, Default)]
struct Whole {
    is_broken: bool,
    least: f64,
    most: f64,
    /// The first number, from which the others are counted: their sums stay small.
    first: i64,
    sum: i128,
    squares: i128,
}

/// Whole numbers up to which a double holds each of them.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Whole {
    fn see(&mut self, number: f64, first: bool) {
        self.least = if first { number } else { self.least.min(number) };
        self.most = if first { number } else { self.most.max(number) };
        if number.fract() != 0.0 || number.abs() > EXACT {
            self.is_broken = true;
        }
        if self.is_broken {
            return;
        }
        let number = number as i64;
        if first {
            self.first = number;
        }
        let distance = i128::from(number - self.first);
        self.sum += distance;
        match self.squares.checked_add(distance * distance) {
            Some(squares) => self.squares = squares,
            None => self.is_broken = true,
        }
    }

    fn is_each_once(&self, count: u64) -> bool {
        // Twice the sum, and six times the sum of the squares, of the whole numbers from 0 to x.
        let twice_to = |x: i128| x * (x + 1);
        let six_squares_to = |x: i128| twice_to(x).checked_mul(2 * x + 1);
        if self.is_broken || self.most - self.least + 1.0 != count as f64 {
            return false;
        }
        let [a, b] = [self.least, self.most].map(|end| i128::from(end as i64 - self.first));
        let squares = six_squares_to(b).zip(six_squares_to(a - 1)).map(|(to_b, below_a)| to_b - below_a);
        2 * self.sum == twice_to(b) - twice_to(a - 1)
            && squares.is_some()
            && self.squares.checked_mul(6) == squares
    }
}

/// Dates, and what may come first in those with slashes.
#[derive(Clone, Copy, Debug)]
struct Days {
    first: i64,
    has_time: bool,
    ordered: bool,
    day_first: bool,
    month_first: bool,
}

impl Default for Days {
    fn default() -> Self {
        Days { first: i64::MAX, has_time: false, ordered: false, day_first: true, month_first: true }
    }
}

impl Days {
    fn see(&mut self, seconds: i64) {
        self.first = self.first.min(seconds.div_euclid(DAY));
        self.has_time |= seconds.rem_euclid(DAY) != 0;
    }

    fn see_text(&mut self, date: DateText) {
        match date {
            DateText::Clear(seconds) => self.see(seconds),
            DateText::Ordered { day_first, month_first } => {
                self.ordered = true;
                self.day_first &= day_first.is_some();
                self.month_first &= month_first.is_some();
                [day_first, month_first].into_iter().flatten().for_each(|seconds| self.see(seconds));
            }
        }
    }

    /// What to say where nothing tells the order.
    fn note(&self) -> Option<String> {
        let unclear = self.ordered && self.day_first && self.month_first;
        unclear.then(|| "its dates may have the day or the month first, and are read with the month first; write them as 2021-03-04 to be sure".to_string())
    }

    fn order(&self) -> Option<DateOrder> {
        self.ordered.then_some(if self.month_first { DateOrder::MonthFirst } else { DateOrder::DayFirst })
    }
}

impl Profile {
    /// Looks at the next cell, which lies at `place`.
    pub fn see(&mut self, cell: Cell<'_>, place: impl FnOnce() -> Place) {
        match cell {
            Cell::Missing => self.missing += 1,
            Cell::Number(number) if number.is_nan() => self.missing += 1,
            Cell::Number(number) => self.see_number(number),
            Cell::Boolean(_) => {
                self.booleans += 1;
                self.see_special(category_of(cell), place);
            }
            Cell::Date(seconds) => {
                self.dates += 1;
                self.days.see(seconds);
                self.see_special(category_of(cell), place);
            }
            Cell::Text(text) => self.see_text(text, place),
        }
    }

    fn see_text(&mut self, text: &str, place: impl FnOnce() -> Place) {
        match text.parse::<f64>() {
            Ok(number) if !number.is_nan() => return self.see_number(number),
            _ if is_missing(text) => {
                self.missing += 1;
                return;
            }
            _ => {}
        }
        if let Some(number) = parse_number(text) {
            return self.see_number(number);
        }
        let spelt = category_of(Cell::Text(text));
        if parse_boolean(text).is_some() {
            self.booleans += 1;
            self.see_special(spelt, place);
        } else if let Some(date) = parse_date(text) {
            self.dates += 1;
            self.days.see_text(date);
            self.see_special(spelt, place);
        } else {
            self.others += 1;
            if self.first_other.is_none() {
                self.first_other = Some((text.to_string(), place()));
            }
            self.count_text(spelt);
        }
    }

    fn see_number(&mut self, number: f64) {
        self.whole.see(number, self.numbers == 0);
        self.numbers += 1;
        if !self.too_many_numbers {
            let counts = self.of_number.get_or_insert_default();
            *counts.entry((if number == 0.0 { 0.0 } else { number }).to_bits()).or_insert(0) += 1;
            if counts.len() > MOST_NUMBERS {
                (self.of_number, self.too_many_numbers) = (None, true);
            }
        }
    }

    fn see_special(&mut self, spelt: String, place: impl FnOnce() -> Place) {
        if self.first_special.is_none() {
            self.first_special = Some((spelt.clone(), place()));
        }
        self.count_text(spelt);
    }

    fn count_text(&mut self, spelt: String) {
        if let Some(count) = self.of_text.get_mut(&spelt) {
            *count += 1;
        } else if self.of_text.len() < MOST_TEXTS {
            self.of_text.insert(spelt, 1);
        } else {
            self.too_many_texts = true;
        }
    }

    /// How many cells had no value.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    fn present(&self) -> u64 {
        self.numbers + self.booleans + self.dates + self.others
    }

    /// What the column holds and whether it is used. An error where most of its cells say one thing and some another.
    pub fn decide(&self, name: &str, wish: Wish) -> Result<(Decision, ColumnFacts)> {
        let present = self.present();
        let facts = ColumnFacts { missing: self.missing, ..ColumnFacts::default() };
        let leave = |reason| {
            let facts = ColumnFacts { left_out: Some(reason), ..facts.clone() };
            Ok((Decision::Leave(reason), facts))
        };
        let using = |encoding: Encoding, note: Option<String>| {
            let categories = match &encoding {
                Encoding::Categories { values, .. } => Some(values.len()),
                _ => None,
            };
            let facts = ColumnFacts { kind: Some(encoding.kind()), categories, note, ..facts.clone() };
            Ok((Decision::Use(Column::new(name, encoding, self.missing > 0)), facts))
        };
        if present == 0 {
            return leave(LeftOut::Empty);
        }
        match wish {
            Wish::Categories => {
                let (encoding, note) = self.categories(1, MOST_WISHED);
                return using(encoding, note);
            }
            Wish::Number => {
                let lenient = self.others + self.dates > 0;
                let indicator = self.missing > 0 || lenient;
                let encoding = Encoding::Number { lenient };
                let facts = ColumnFacts { kind: Some(encoding.kind()), ..facts };
                return Ok((Decision::Use(Column::new(name, encoding, indicator)), facts));
            }
            Wish::Date => return using(self.date(), self.days.note()),
            Wish::Auto | Wish::Used => {}
        }
        if self.numbers == present {
            let counts = self.missing == 0
                && present >= LEAST_IDENTIFIER
                && self.whole.is_each_once(present)
                && ([0.0, 1.0].contains(&self.whole.least) || is_called_id(name));
            if counts && wish == Wish::Auto {
                return leave(LeftOut::RunningNumber);
            }
            return using(Encoding::Number { lenient: false }, None);
        }
        let zero_or_one =
            self.numbers == 0 || (!self.whole.is_broken && self.whole.least >= 0.0 && self.whole.most <= 1.0);
        if self.booleans > 0 && self.booleans + self.numbers == present && zero_or_one {
            return using(Encoding::Boolean {}, None);
        }
        if self.dates == present && (self.days.day_first || self.days.month_first) {
            return using(self.date(), self.days.note());
        }
        self.refuse_mixed(name)?;
        let distinct = self.distinct();
        if wish == Wish::Auto {
            if present >= LEAST_IDENTIFIER && distinct as u64 == present && !self.too_many_texts {
                return leave(LeftOut::Identifier);
            }
            if self.too_many_texts || (distinct > MIXED_CATEGORIES && 2 * distinct as u64 > present) {
                return leave(LeftOut::FreeText);
            }
            let least = if present < 200 { 1 } else { 2.max(present.div_ceil(1000)) };
            let (encoding, note) = self.categories(least, MOST_CATEGORIES);
            return using(encoding, note);
        }
        let (encoding, note) = self.categories(1, MOST_WISHED);
        using(encoding, note)
    }

    fn date(&self) -> Encoding {
        let origin = if self.days.first == i64::MAX { 0 } else { self.days.first };
        Encoding::Date { origin, hour: self.days.has_time, order: self.days.order() }
    }

    fn distinct(&self) -> usize {
        self.of_text.len()
            + self.of_number.as_ref().map_or(0, HashMap::len)
            + usize::from(self.too_many_numbers) * MOST_NUMBERS
    }

    /// Half of the cells or more say one thing, and some another that does not look like a category beside it.
    fn refuse_mixed(&self, name: &str) -> Result<()> {
        let present = self.present();
        let (kind, rest) = match (2 * self.numbers >= present, 2 * self.dates >= present) {
            (true, _) => ("number", present - self.numbers),
            (_, true) => ("date", present - self.dates),
            _ => return Ok(()),
        };
        let repeats = || self.of_text.values().all(|&count| count > 1);
        if kind == "number" && 100 * rest >= present && self.distinct() <= MIXED_CATEGORIES && repeats() {
            return Ok(());
        }
        let first = self.first_other.as_ref().or(self.first_special.as_ref().filter(|_| kind == "number"));
        let Some((text, place)) = first else { return Ok(()) };
        Err(Error::data(format!("{text:?} is not a {kind}"))
            .with_remedy(message![
                "correct it, name the column in ",
                Subject::Categories,
                ", or leave it out with ",
                Subject::Ignore,
                " {name:?}"
            ])
            .at(place.clone()))
    }

    /// The categories that came at least so often, the most frequent of them, and whether others are left.
    fn categories(&self, least: u64, most: usize) -> (Encoding, Option<String>) {
        let of_number =
            self.of_number.iter().flatten().map(|(&bits, &count)| (of_number(f64::from_bits(bits)), count));
        let mut counted: Vec<(String, u64)> =
            self.of_text.iter().map(|(text, &count)| (text.clone(), count)).chain(of_number).collect();
        counted.sort_unstable_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then_with(|| a.cmp(b)));
        let all = counted.len();
        counted.truncate(most);
        counted.retain(|(_, count)| *count >= least);
        let rare = counted.len() < all || self.too_many_texts || self.too_many_numbers;
        let mut values: Vec<String> = counted.into_iter().map(|(text, _)| text).collect();
        values.sort_unstable();
        let note = rare.then(|| {
            let (kept, grouped) = (values.len(), all - values.len());
            format!("{kept} of its {all} categories have a feature each, the {grouped} rarest share one")
        });
        (Encoding::Categories { values, rare }, note)
    }
}

/// Whether a column is called as identifiers are.
fn is_called_id(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = ["id", "index", "nr", "no", "row", "key", "number", "respondent", "uid", "uuid", "rowid"];
    name.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word)) || name.ends_with("_id")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile<'a>(cells: impl IntoIterator<Item = &'a str>) -> Profile {
        let mut profile = Profile::default();
        for (row, text) in cells.into_iter().enumerate() {
            profile.see(Cell::Text(text), || Place::default().row(row + 1));
        }
        profile
    }

    fn kind(cells: &[&str]) -> String {
        match profile(cells.iter().copied()).decide("c", Wish::Auto) {
            Ok((Decision::Use(column), _)) => column.encoding.kind().to_string(),
            Ok((Decision::Leave(why), _)) => why.reason().to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_column_is_what_its_cells_say() {
        assert_eq!(kind(&["1", "2.5", "n/a", "1,000", "4%"]), "number");
        assert_eq!(kind(&["True", "no", "1", ""]), "boolean");
        assert_eq!(kind(&["2021-03-04", "2021-03-05"]), "date");
        assert_eq!(kind(&["13/04/2021", "01/02/2021"]), "date");
        assert_eq!(kind(&["red", "blue", "red"]), "categories");
        assert_eq!(kind(&["1", "2", "1", "5+", "5+"]), "categories");
        assert_eq!(kind(&["", "NA"]), "it has no values");
        assert_eq!(
            kind(&["1", "2", "oops"]),
            "row 3: \"oops\" is not a number; correct it, name the column in `categories`, or leave it out with `ignore` \"c\""
        );
    }

    #[test]
    fn identifiers_running_numbers_and_free_texts_are_left_out() {
        let texts = |form: fn(usize) -> String| (0..300).map(form).collect::<Vec<String>>();
        let kind = |cells: &[String]| kind(&cells.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(kind(&texts(|n| format!("R{n}"))), LeftOut::Identifier.reason());
        assert_eq!(kind(&texts(|n| (n + 1).to_string())), LeftOut::RunningNumber.reason());
        assert_eq!(kind(&texts(|n| (300 - n).to_string())), LeftOut::RunningNumber.reason());
        assert_eq!(kind(&texts(|n| (n + 1950).to_string())), "number", "a range of years is no identifier");
        assert_eq!(kind(&texts(|n| format!("comment {}", n / 3))), "categories");
        assert_eq!(kind(&texts(|n| format!("comment {}", n.min(250)))), LeftOut::FreeText.reason());
    }

    #[test]
    fn a_running_number_is_known_in_tables_of_any_length() {
        let decide = |name: &str, numbers: &mut dyn Iterator<Item = i64>| {
            let mut profile = Profile::default();
            numbers.for_each(|number| profile.see(Cell::Number(number as f64), Place::default));
            match profile.decide(name, Wish::Auto).unwrap().0 {
                Decision::Use(column) => column.encoding.kind().to_string(),
                Decision::Leave(why) => why.reason().to_string(),
            }
        };
        let running = LeftOut::RunningNumber.reason();
        assert_eq!(decide("n", &mut (1..=150_000)), running);
        assert_eq!(decide("n", &mut (0..200_000).rev()), running);
        assert_eq!(decide("respondent_id", &mut (4_000_000_000..4_000_100_000)), running);
        assert_eq!(decide("n", &mut (1..=150_000).map(|n| if n == 7 { 8 } else { n })), "number");
        assert_eq!(decide("id", &mut [i64::MIN, i64::MAX].into_iter().cycle().take(40)), "number");
    }

    #[test]
    fn dates_that_the_user_names_are_noted_too_where_nothing_tells_their_order() {
        let note = |cells: &[&str]| profile(cells.iter().copied()).decide("c", Wish::Date).unwrap().1.note;
        assert!(note(&["3/4/2021", "5/6/2021"]).unwrap().contains("the day or the month first"));
        assert_eq!(note(&["3/4/2021", "25/6/2021"]), None);
    }

    #[test]
    fn rare_categories_share_a_feature_and_their_number_is_bounded() {
        let cells: Vec<String> = (0..2000).map(|n| format!("c{}", n % 150)).chain(["once".into()]).collect();
        let (decision, facts) = profile(cells.iter().map(String::as_str)).decide("c", Wish::Auto).unwrap();
        let Decision::Use(Column { encoding: Encoding::Categories { values, rare }, .. }) = decision else {
            panic!()
        };
        assert_eq!((values.len(), rare, facts.categories), (MOST_CATEGORIES, true, Some(MOST_CATEGORIES)));
        assert!(!values.contains(&"once".to_string()));
        assert_eq!(
            facts.note.unwrap(),
            "100 of its 151 categories have a feature each, the 51 rarest share one"
        );
    }

    #[test]
    fn wishes_come_first() {
        let decide = |cells: &[&str], wish| match profile(cells.iter().copied()).decide("c", wish).unwrap().0
        {
            Decision::Use(column) => column,
            Decision::Leave(why) => panic!("{why:?}"),
        };
        let zip = decide(&["1", "2", "2"], Wish::Categories);
        assert_eq!(zip.encoding, Encoding::Categories { values: vec!["1".into(), "2".into()], rare: false });
        let size = decide(&["1", "2", "large"], Wish::Number);
        assert_eq!((size.encoding, size.indicator), (Encoding::Number { lenient: true }, true));
    }
}
