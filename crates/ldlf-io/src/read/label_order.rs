//! Label columns in the order of the numbers they stand for: names such as `v_1`, `v_10`, `v_2` are not in it.

use ldlf_core::error::{Message, Subject};
use ldlf_core::{Error, Result, message};

use super::roles::listed;

/// Puts label columns into the order of their values where the numbers in their names say another; refuses names that contradict.
/// An order that the user gave, name by name (`is_given`), stays.
pub(super) fn in_order_of_values(
    file: &str,
    header: &[String],
    labels: &mut [usize],
    values: &[f64],
    is_given: bool,
) -> Result<Option<Message>> {
    let names: Vec<&str> = labels.iter().map(|&column| header[column].as_str()).collect();
    let readings: Vec<Vec<f64>> = READINGS.iter().filter_map(|reading| reading.of_all(&names)).collect();
    if readings.is_empty() || readings.iter().any(|numbers| numbers == values) {
        return Ok(None);
    }
    let sorted = |numbers: &Vec<f64>| {
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
        let sorts = order.iter().map(|&at| numbers[at]).eq(values.iter().copied());
        sorts.then_some(order)
    };
    match readings.iter().find_map(sorted) {
        Some(_) if is_given => Ok(Some(message![
            "{file}: the labels stand for ",
            Subject::LabelValues,
            " in the order in which ",
            Subject::Labels,
            " names them, which is not that of the numbers in their names"
        ])),
        Some(order) => {
            let before = labels.to_vec();
            labels.iter_mut().zip(order).for_each(|(label, at)| *label = before[at]);
            Ok(Some(message!["{file}: the labels were put in the order of the numbers in their names"]))
        }
        None if is_given || readings.iter().any(|numbers| numbers.is_sorted_by(|a, b| a < b)) => Ok(None),
        None => {
            let names = listed(&names.iter().map(|name| (*name).to_string()).collect::<Vec<_>>());
            Err(Error::usage(message![
                "the numbers in the names of the labels ({names}) are neither in order nor those of ",
                Subject::LabelValues
            ])
            .with_remedy(message!["name the columns in the order of their values with ", Subject::Labels])
            .in_file(file))
        }
    }
}

/// How the numbers in a name are read: `v-1.5` holds -1.5, 1.5, or 1 and 5.
#[derive(Clone, Copy)]
struct Reading {
    signs: Signs,
    decimals: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Signs {
    None,
    /// Those that do not stand between a letter or digit and the number, as in `v_-1`.
    Clear,
    All,
}

/// The likeliest first.
const READINGS: [Reading; 5] = [
    Reading { signs: Signs::Clear, decimals: true },
    Reading { signs: Signs::All, decimals: true },
    Reading { signs: Signs::None, decimals: true },
    Reading { signs: Signs::Clear, decimals: false },
    Reading { signs: Signs::None, decimals: false },
];

impl Reading {
    /// The last number in which the names differ, of every name; none where a name has no number, or all have the same.
    fn of_all(self, names: &[&str]) -> Option<Vec<f64>> {
        let numbers: Vec<Vec<f64>> = names.iter().map(|name| self.of(name)).collect();
        let count = numbers.first()?.len();
        if numbers.iter().any(|of_name| of_name.len() != count) {
            let last: Option<Vec<f64>> = numbers.iter().map(|of_name| of_name.last().copied()).collect();
            return last.filter(|last| last.iter().any(|number| *number != last[0]));
        }
        let differs = |place: &usize| numbers.iter().any(|of_name| of_name[*place] != numbers[0][*place]);
        let place = (0..count).rev().find(differs)?;
        Some(numbers.iter().map(|of_name| of_name[place]).collect())
    }

    /// The numbers in a name.
    fn of(self, name: &str) -> Vec<f64> {
        let letters: Vec<char> = name.chars().collect();
        let (mut numbers, mut at) = (Vec::new(), 0);
        let is_digit = |at: usize| letters.get(at).is_some_and(char::is_ascii_digit);
        while at < letters.len() {
            if !is_digit(at) {
                at += 1;
                continue;
            }
            let start = at;
            while is_digit(at) {
                at += 1;
            }
            if self.decimals && letters.get(at) == Some(&'.') && is_digit(at + 1) {
                at += 1;
                while is_digit(at) {
                    at += 1;
                }
            }
            let number: f64 = letters[start..at].iter().collect::<String>().parse().unwrap_or(f64::NAN);
            let before = |back: usize| start.checked_sub(back).map(|at| letters[at]);
            let is_signed = matches!(before(1), Some('-' | '\u{2212}'))
                && match self.signs {
                    Signs::None => false,
                    Signs::Clear => !before(2).is_some_and(char::is_alphanumeric),
                    Signs::All => true,
                };
            numbers.push(if is_signed { -number } else { number });
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in the order that they get, and what is said.
    fn ordered(
        names: &[&str],
        values: &[f64],
        is_given: bool,
    ) -> std::result::Result<(Vec<String>, bool), String> {
        let header: Vec<String> = names.iter().map(|name| (*name).to_string()).collect();
        let mut labels: Vec<usize> = (0..names.len()).collect();
        let said =
            in_order_of_values("f", &header, &mut labels, values, is_given).map_err(|e| e.to_string())?;
        Ok((labels.iter().map(|&label| header[label].clone()).collect(), said.is_some()))
    }

    fn stays(names: &[&str], values: &[f64]) {
        let kept = (names.iter().map(|name| (*name).to_string()).collect(), false);
        assert_eq!(ordered(names, values, false), Ok(kept));
    }

    #[test]
    fn labels_follow_the_numbers_in_their_names() {
        let (names, said) = ordered(&["v_1", "v_10", "v_2"], &[1.0, 2.0, 10.0], false).unwrap();
        assert_eq!((names, said), (["v_1", "v_2", "v_10"].map(String::from).to_vec(), true));
        let error = ordered(&["v_1", "v_10", "v_2"], &[1.0, 2.0, 3.0], false).unwrap_err();
        assert!(error.contains("are neither in order nor those of"), "{error}");
        stays(&["v_1", "v_2", "v_10"], &[1.0, 2.0, 3.0]);
        stays(&["x", "v_10", "v_2"], &[1.0, 2.0, 3.0]);
    }

    #[test]
    fn signs_and_decimals_are_read_and_digits_that_all_share_say_nothing() {
        stays(&["v_-1", "v_0", "v_1"], &[-1.0, 0.0, 1.0]);
        stays(&["v_0.5", "v_1", "v_1.5"], &[0.5, 1.0, 1.5]);
        stays(&["v-1", "v-2", "v-3"], &[1.0, 2.0, 3.0]);
        stays(&["q1_bad", "q1_ok", "q1_good"], &[1.0, 2.0, 3.0]);
        stays(&["2024_1_of_3", "2024_2_of_3", "2024_3_of_3"], &[1.0, 2.0, 3.0]);
        let (names, said) = ordered(&["v_0", "v_-1", "v_1"], &[-1.0, 0.0, 1.0], false).unwrap();
        assert_eq!((names, said), (["v_-1", "v_0", "v_1"].map(String::from).to_vec(), true));
    }

    #[test]
    fn an_order_that_the_user_gave_stays() {
        let turned = ["v_3", "v_2", "v_1"];
        let (names, said) = ordered(&turned, &[1.0, 2.0, 3.0], true).unwrap();
        assert_eq!((names, said), (turned.map(String::from).to_vec(), true));
        let other = ["a7", "b2", "c5"];
        let (names, said) = ordered(&other, &[1.0, 2.0, 3.0], true).unwrap();
        assert_eq!((names, said), (other.map(String::from).to_vec(), false));
        assert!(ordered(&other, &[1.0, 2.0, 3.0], false).is_err());
    }
}
