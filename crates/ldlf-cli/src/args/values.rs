//! Values with a form of their own: seconds, formats, axes of a sweep.

use std::str::FromStr;

use ldlf::Value;
use ldlf::internals::core::parameters::parse_value;
use ldlf::internals::io::read::{Format, LongColumns};
use ldlf::internals::io::write::{TableForm, dataset_formats};
use ldlf::measures::{self, Measure};

/// A number of seconds above 0.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && seconds > 0.0 => Ok(seconds),
        _ => Err("give a number of seconds above 0".into()),
    }
}

/// A fraction above 0 and below 1.
pub fn fraction(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(fraction) if fraction > 0.0 && fraction < 1.0 => Ok(fraction),
        _ => Err("give a fraction above 0 and below 1, such as 0.2".into()),
    }
}

/// A whole number from 1.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&count| count >= 1).ok_or_else(|| "give a whole number of at least 1".into())
}

/// A size of memory such as 500MB; 0 is none.
pub fn size(text: &str) -> Result<usize, String> {
    if text.trim() == "0" {
        return Ok(0);
    }
    ldlf::internals::math::memory::size(text).ok_or_else(|| "give a size such as 500MB or 2GB".into())
}

/// The columns of a table with one vote per line: item, annotator and label, or item and label.
pub fn long(text: &str) -> Result<LongColumns, String> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_string()).collect();
    match &names[..] {
        _ if names.iter().any(String::is_empty) => {}
        [item, label] => {
            return Ok(LongColumns { item: item.clone(), annotator: None, label: label.clone() });
        }
        [item, annotator, label] => {
            let annotator = Some(annotator.clone());
            return Ok(LongColumns { item: item.clone(), annotator, label: label.clone() });
        }
        _ => {}
    }
    Err("give the columns of item, annotator and label, or of item and label".into())
}

/// A file format by its name.
pub fn format(text: &str) -> Result<Format, String> {
    text.parse::<Format>().map_err(|e| e.worded(&crate::words::on_the_command_line))
}

/// The names of the formats that are read, for help texts.
pub fn formats() -> String {
    Format::ALL.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ")
}

/// The extensions of tables that are read, for help texts.
pub fn read_extensions() -> String {
    dotted(Format::ALL.iter().map(|format| format.name()))
}

/// The extensions of tables that are written, for help texts.
pub fn table_extensions() -> String {
    dotted(TableForm::all().map(|form| form.extension))
}

/// The extensions of datasets that are written, for help texts.
pub fn dataset_extensions() -> String {
    dotted(dataset_formats().map(Format::name))
}

fn dotted(extensions: impl Iterator<Item = &'static str>) -> String {
    extensions.map(|extension| format!(".{extension}")).collect::<Vec<_>>().join(", ")
}

/// The numbers that the labels stand for: `0..100`, or a list.
pub fn label_values(text: &str) -> Result<Vec<f64>, String> {
    let wrong = || "give a range such as 0..100 (both ends belong to it) or a list such as 1,2,5".to_string();
    if let Some((first, last)) = text.split_once("..") {
        let (first, last): (i64, i64) =
            (first.trim().parse().map_err(|_| wrong())?, last.trim().parse().map_err(|_| wrong())?);
        // A wild range must not fill the memory before anything is read.
        if first >= last || last.saturating_sub(first) > 1_000_000 {
            return Err(wrong());
        }
        return Ok((first..=last).map(|value| value as f64).collect());
    }
    text.split(',').map(|value| value.trim().parse::<f64>().map_err(|_| wrong())).collect()
}

/// A measure by its name, or all of them.
pub fn measures(text: &str) -> Result<&'static [Measure], String> {
    if text == "all" {
        return Ok(measures::all());
    }
    measures::find(text).map(std::slice::from_ref).ok_or_else(|| {
        let names: Vec<&str> = measures::all().iter().map(|measure| measure.name).collect();
        format!("no measure is called {text:?}; give all, or some of {}", names.join(", "))
    })
}

/// A parameter and the values that a sweep gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The parameter.
    pub name: String,
    /// Its values in order.
    pub values: Vec<Value>,
}

impl FromStr for Axis {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, values))
                if !name.is_empty() && values.split(',').all(|value| !value.trim().is_empty()) =>
            {
                let values = values.split(',').map(|value| parse_value(value.trim())).collect();
                Ok(Axis { name: name.trim().to_string(), values })
            }
            _ => Err("give a parameter and its values, such as trees=1,2,5".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_values_are_a_range_with_both_ends_or_a_list() {
        assert_eq!(label_values("3..5"), Ok(vec![3.0, 4.0, 5.0]));
        assert_eq!(label_values("1, 2.5"), Ok(vec![1.0, 2.5]));
        assert!(["5..3", "a..b", "1,x", "", "0..99999999999"].iter().all(|text| label_values(text).is_err()));
    }

    #[test]
    fn an_axis_has_a_name_and_values() {
        let axis: Axis = "trees=1,2".parse().unwrap();
        assert_eq!((axis.name.as_str(), axis.values.len()), ("trees", 2));
        assert!(["trees", "trees=", "=1", "trees=1,,2"].iter().all(|text| text.parse::<Axis>().is_err()));
    }

    #[test]
    fn a_size_has_a_unit_or_is_0() {
        assert!(size("2GB") == Ok(2_000_000_000) && size("0") == Ok(0) && size("much").is_err());
    }

    #[test]
    fn seconds_and_counts_start_above_nothing() {
        assert!(seconds("0").is_err() && seconds("nan").is_err() && seconds("0.5") == Ok(0.5));
        assert!(at_least_one("0").is_err() && at_least_one("1") == Ok(1));
    }
}
