//! Texts that stand for no value, for yes and no, and the one spelling of a category.

use std::borrow::Cow;

use super::numbers::parse_number;

/// What stands for no value, besides an empty cell: what spreadsheets, R and pandas write.
pub(super) const MISSING: [&str; 18] = [
    "NA", "N/A", "n/a", "<NA>", "#N/A", "#NA", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "Null", "None",
    "-", "--", "?", ".",
];

/// Whether a text stands for no value.
///
/// ```
/// use ldlf_core::columns::is_missing;
/// assert!(is_missing(" ") && is_missing("n/a") && is_missing("NULL"));
/// assert!(!is_missing("0") && !is_missing("none"));
/// ```
pub fn is_missing(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || (text.len() <= 4 && MISSING.contains(&text))
}

/// What a word says, if it is one for yes or no: `true`, `yes`, `on`, `y`, `t` and their opposites, in capitals or not.
pub fn parse_boolean(text: &str) -> Option<bool> {
    let is = |words: [&str; 5]| words.iter().any(|word| text.trim().eq_ignore_ascii_case(word));
    if is(["true", "yes", "y", "t", "on"]) {
        Some(true)
    } else if is(["false", "no", "n", "f", "off"]) {
        Some(false)
    } else {
        None
    }
}

/// The one spelling of a category: numbers as short as they can be (`4.0` is `4`), `true` and `false` in small letters.
pub(super) fn canonical(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '+' | '.'))
        && let Some(number) = parse_number(text)
    {
        return Cow::Owned(of_number(number));
    }
    for word in ["true", "false"] {
        if text.eq_ignore_ascii_case(word) {
            return Cow::Borrowed(word);
        }
    }
    Cow::Borrowed(text)
}

/// The category of a number.
pub(super) fn of_number(number: f64) -> String {
    // Zero has one spelling.
    (if number == 0.0 { 0.0 } else { number }).to_string()
}

/// Other usual spellings of categories, each with the place of its category: `4.0` for `4`, and words for yes and no.
pub(super) fn spellings(values: &[String]) -> Vec<(String, usize)> {
    let said: Vec<Option<bool>> = values.iter().map(|value| parse_boolean(value)).collect();
    let are_flags = !values.is_empty() && said.iter().all(Option::is_some);
    let mut spellings = Vec::new();
    for (place, value) in values.iter().enumerate() {
        if value.parse::<f64>().is_ok() && !value.contains(['.', 'e', 'E']) {
            spellings.push((format!("{value}.0"), place));
        }
        let words: &[&str] = match (value.as_str(), said[place]) {
            (_, Some(true)) if are_flags => &["true", "yes", "y", "t", "on", "1"],
            (_, Some(false)) if are_flags => &["false", "no", "n", "f", "off", "0"],
            ("true", _) => &["true"],
            ("false", _) => &["false"],
            _ => &[],
        };
        for word in words {
            let capital = word[..1].to_uppercase() + &word[1..];
            spellings.extend([word.to_string(), capital, word.to_uppercase()].map(|word| (word, place)));
        }
    }
    spellings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_a_boolean_have_one_spelling() {
        for (text, spelt) in
            [("4.0", "4"), ("4", "4"), ("-0", "0"), ("1,234", "1234"), (" TRUE", "true"), ("5+", "5+")]
        {
            assert_eq!(canonical(text), spelt, "{text}");
        }
    }

    #[test]
    fn words_for_yes_and_no_are_known_in_any_case() {
        assert_eq!(["True", "YES", "y"].map(parse_boolean), [Some(true); 3]);
        assert_eq!(["false", "No", "OFF"].map(parse_boolean), [Some(false); 3]);
        assert_eq!(["maybe", "1", ""].map(parse_boolean), [None; 3]);
    }
}
