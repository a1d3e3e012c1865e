//! Columns in a graph of standard operators: what the [encoder](super::Encoder) does, for runtimes without `ldlf`.
//!
//! Standard operators do not read texts as numbers or dates: such columns are inputs of numbers. Categories are found by their spelling.

use super::dates::DAY;
use super::words::{MISSING, spellings};
use super::{Column, Columns, Encoding};
use crate::graph::{Attribute, Flow, Graph, Kind};

/// What stands for a missing date: the least whole number, as in NumPy.
pub const MISSING_DATE: i64 = i64::MIN;

/// The code of a missing category.
const MISSING_CATEGORY: i64 = -1;

/// A period of the calendar, which repeats after so many days: 400 years, and whole weeks.
const PERIOD: i64 = 146_097;

/// Periods added to a date before it is divided: divisions round towards 0, and dates before 1970 are negative.
const PERIODS: i64 = 25;

impl Columns {
    /// Adds an input for every column, in their order, and makes the features of the graph of them.
    pub(crate) fn add_to_graph(&self, graph: &mut Graph) {
        let inputs: Vec<Flow> =
            self.list.iter().map(|column| graph.add_input(&column.name, column.encoding.input())).collect();
        let mut parts = Vec::new();
        for (number, (column, input)) in self.list.iter().zip(&inputs).enumerate() {
            parts.extend(
                graph.within(&format!("columns/{number}"), |graph| column.add_to_graph(graph, input)),
            );
        }
        let parts: Vec<&Flow> = parts.iter().collect();
        let features = graph.beside("encoded", &parts);
        graph.set_features(features);
    }

    /// Whether the features are the columns as they are: plain numbers of which none was missing in training.
    pub fn are_plain_numbers(&self) -> bool {
        let is_plain = |column: &Column| {
            matches!(column.encoding, Encoding::Number { lenient: false }) && !column.indicator
        };
        self.list.iter().all(is_plain)
    }
}

impl Encoding {
    /// What the input of such a column holds in a graph.
    pub fn input(&self) -> Kind {
        match self {
            Encoding::Number { .. } | Encoding::Boolean {} => Kind::F32,
            Encoding::Date { .. } => Kind::I64,
            Encoding::Categories { .. } => Kind::Text,
        }
    }
}

impl Column {
    /// Its features: those of the encoding, and the indicator where it has one.
    fn add_to_graph(&self, graph: &mut Graph, input: &Flow) -> Vec<Flow> {
        let fill = |graph: &mut Graph| {
            let numbers: Vec<f32> = self.fill.iter().map(|&fill| fill as f32).collect();
            graph.f32s("fill", &[1, numbers.len()], numbers)
        };
        let (features, is_missing) = match &self.encoding {
            Encoding::Number { .. } => {
                let (fill, is_missing) = (fill(graph), graph.node("IsNaN", "is_missing", &[input]));
                (graph.choose("filled", &is_missing, &fill, input), is_missing)
            }
            Encoding::Boolean {} => {
                let (fill, is_missing) = (fill(graph), graph.node("IsNaN", "is_missing", &[input]));
                let [no, yes] = [("no", 0.0), ("yes", 1.0)].map(|(name, number)| {
                    let number = graph.number(name, number);
                    graph.node("Equal", name, &[input, &number])
                });
                let is_known = graph.node("Or", "is_known", &[&no, &yes]);
                (graph.choose("filled", &is_known, input, &fill), is_missing)
            }
            Encoding::Date { origin, hour, .. } => {
                let (fill, missing) = (fill(graph), graph.i64s("missing", vec![MISSING_DATE]));
                let is_missing = graph.node("Equal", "is_missing", &[input, &missing]);
                let zero = graph.i64s("zero", vec![0]);
                let seconds = graph.choose("seconds", &is_missing, &zero, input);
                let parts = add_date(graph, &seconds, *origin, *hour);
                (graph.choose("filled", &is_missing, &fill, &parts), is_missing)
            }
            Encoding::Categories { values, rare } => {
                let code = add_code(graph, input, values);
                let width = values.len() + usize::from(*rare);
                let codes = graph.i64s("codes", (0..width as i64).collect());
                let is_it = graph.node("Equal", "is_it", &[&code, &codes]);
                let missing = graph.i64s("missing", vec![MISSING_CATEGORY]);
                let is_missing = graph.node("Equal", "is_missing", &[&code, &missing]);
                (graph.cast("indicators", &is_it, Kind::F32), is_missing)
            }
        };
        let indicator = self.indicator.then(|| graph.cast("indicator", &is_missing, Kind::F32));
        [features].into_iter().chain(indicator).collect()
    }
}

/// The place of a text among the categories; one beyond them where it is none of them, so that rare ones come there.
fn add_code(graph: &mut Graph, input: &Flow, values: &[String]) -> Flow {
    let (mut keys, mut codes) = (Vec::new(), Vec::new());
    let mut say = |text: &str, code: i64| {
        if !keys.iter().any(|key| key == text) {
            keys.push(text.to_string());
            codes.push(code);
        }
    };
    values.iter().zip(0..).for_each(|(value, code)| say(value, code));
    for (spelling, place) in spellings(values) {
        say(&spelling, place as i64);
    }
    [""].iter().chain(&MISSING).for_each(|missing| say(missing, MISSING_CATEGORY));
    let attributes = vec![
        ("keys_strings", Attribute::Texts(keys)),
        ("values_int64s", Attribute::Ints(codes)),
        ("default_int64", Attribute::Int(values.len() as i64)),
    ];
    graph.machine_learning_node("LabelEncoder", "code", &[input], attributes)
}

/// Year, month, weekday and days since the origin, and the hour, of seconds since the beginning of 1970: as
/// [`parts_of`](super::dates::parts_of) computes them.
fn add_date(graph: &mut Graph, seconds: &Flow, origin: i64, hour: bool) -> Flow {
    let mut whole = WholeNumbers(graph);
    let shifted = whole.with("Add", seconds, PERIODS * PERIOD * DAY);
    let days = whole.with("Div", &shifted, DAY);
    let time = whole.rest(&shifted, &days, DAY);
    // The calendar has periods of 400 years; its years begin in March, so that the leap day is their last.
    let of_calendar = whole.with("Add", &days, 719_468);
    let period = whole.with("Div", &of_calendar, PERIOD);
    let of_period = whole.rest(&of_calendar, &period, PERIOD);
    let mut without_leap_days = of_period.clone();
    for (operator, days) in [("Sub", 1460), ("Add", 36_524), ("Sub", 146_096)] {
        let leap_days = whole.with("Div", &of_period, days);
        without_leap_days = whole.of(operator, &without_leap_days, &leap_days);
    }
    let year = whole.with("Div", &without_leap_days, 365);
    let mut first_day = whole.with("Mul", &year, 365);
    for (operator, years) in [("Add", 4), ("Sub", 100)] {
        let leap_days = whole.with("Div", &year, years);
        first_day = whole.of(operator, &first_day, &leap_days);
    }
    let of_year = whole.of("Sub", &of_period, &first_day);
    let of_year = whole.with("Mul", &of_year, 5);
    let of_year = whole.with("Add", &of_year, 2);
    let month = whole.with("Div", &of_year, 153);
    // January and February belong to the year that began in March before them.
    let is_next_year = whole.with("Div", &month, 10);
    let year_length = whole.with("Mul", &is_next_year, 12);
    let month = whole.with("Add", &month, 3);
    let month = whole.of("Sub", &month, &year_length);
    let period_years = whole.with("Mul", &period, 400);
    let period_years = whole.with("Sub", &period_years, PERIODS * 400);
    let year = whole.of("Add", &period_years, &year);
    let year = whole.of("Add", &year, &is_next_year);
    let from_monday = whole.with("Add", &days, 3);
    let weeks = whole.with("Div", &from_monday, 7);
    let weekday = whole.rest(&from_monday, &weeks, 7);
    let weekday = whole.with("Add", &weekday, 1);
    let since_origin = whole.with("Sub", &days, PERIODS * PERIOD + origin);
    let parts = graph.beside("parts", &[&year, &month, &weekday, &since_origin]);
    let parts = graph.cast("parts", &parts, Kind::F32);
    if !hour {
        return parts;
    }
    let time = graph.cast("time", &time, Kind::F64);
    let length = graph.f64s("hour_length", &[1], vec![3600.0]);
    let hours = graph.node("Div", "hours", &[&time, &length]);
    let hours = graph.cast("hours", &hours, Kind::F32);
    graph.beside("parts", &[&parts, &hours])
}

/// Arithmetic on whole numbers in a graph.
struct WholeNumbers<'a>(&'a mut Graph);

impl WholeNumbers<'_> {
    fn of(&mut self, operator: &'static str, left: &Flow, right: &Flow) -> Flow {
        self.0.node(operator, "date", &[left, right])
    }

    fn with(&mut self, operator: &'static str, left: &Flow, right: i64) -> Flow {
        let right = self.0.i64s("number", vec![right]);
        self.of(operator, left, &right)
    }

    /// What a division by a number leaves.
    fn rest(&mut self, of: &Flow, quotient: &Flow, by: i64) -> Flow {
        let whole = self.with("Mul", quotient, by);
        self.of("Sub", of, &whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_one_input_and_a_name_that_is_taken_gets_a_number() {
        let categories = Encoding::Categories { values: vec!["a".into(), "true".into()], rare: false };
        let date = Encoding::Date { origin: 0, hour: true, order: None };
        let columns = Columns {
            list: vec![
                Column::new("mean", Encoding::Number { lenient: false }, true),
                Column::new("city", categories, false),
                Column::new("day", date, false),
            ],
        };
        let mut graph = Graph::without_inputs();
        columns.add_to_graph(&mut graph);
        let inputs: Vec<_> = graph.inputs().iter().map(|input| (&*input.name, input.kind)).collect();
        assert_eq!(inputs, [("mean_2", Kind::F32), ("city", Kind::Text), ("day", Kind::I64)]);
        assert_eq!(graph.features().name(), "encoded");
        assert!(!columns.are_plain_numbers());
    }

    #[test]
    fn a_category_is_found_however_numbers_and_yes_and_no_are_spelt() {
        let mut graph = Graph::without_inputs();
        let input = graph.add_input("c", Kind::Text);
        add_code(&mut graph, &input, &["4".to_string(), "x".to_string()]);
        let attributes = &graph.nodes()[0].attributes;
        let [(_, Attribute::Texts(keys)), (_, Attribute::Ints(codes)), (_, Attribute::Int(other))] =
            &attributes[..]
        else {
            panic!("keys, codes and the code of others")
        };
        let code = |text: &str| keys.iter().position(|key| key == text).map(|place| codes[place]);
        assert_eq!((code("4"), code("4.0"), code("x"), *other), (Some(0), Some(0), Some(1), 2));
        assert_eq!((code(""), code("NA"), code("y")), (Some(-1), Some(-1), None));
    }
}
