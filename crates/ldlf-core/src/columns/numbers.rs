//! Numbers as people write them: with separators of thousands, percent signs, and a decimal comma where a file has one.

/// What separates the whole part of a number from its fraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecimalMark {
    /// `1,234.5`
    #[default]
    Point,
    /// `1.234,5`
    Comma,
}

/// A number with a decimal point: `12.5`, `1e3`, `1,234.5`, `1 234`, `1'234`, `45%` (which is 0.45).
///
/// ```
/// use ldlf_core::columns::parse_number;
/// assert_eq!(parse_number("1,234.5"), Some(1234.5));
/// assert_eq!(parse_number("45 %"), Some(0.45));
/// assert_eq!(parse_number("1,5"), None);
/// ```
#[inline]
pub fn parse_number(text: &str) -> Option<f64> {
    text.parse().ok().or_else(|| parse_number_with(text, DecimalMark::Point))
}

/// A number with the given decimal mark. Groups of thousands must have three digits each, so that a mark in the wrong place is not
/// taken for one.
pub fn parse_number_with(text: &str, mark: DecimalMark) -> Option<f64> {
    let text = text.trim();
    let (text, scale) = match text.strip_suffix('%') {
        Some(share) => (share.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let (sign, digits) = match text.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let decimal = if mark == DecimalMark::Point { '.' } else { ',' };
    let (whole, fraction) = digits.split_once(decimal).unwrap_or((digits, ""));
    let grouped = ungrouped(whole, mark)?;
    // What follows the mark: digits, and an exponent.
    let is_fraction = |c: char| c.is_ascii_digit() || matches!(c, 'e' | 'E' | '-' | '+');
    if !fraction.chars().all(is_fraction) || (grouped.is_empty() && fraction.is_empty()) {
        return None;
    }
    let number: f64 =
        format!("{sign}{grouped}.{fraction}").parse().or_else(|_| format!("{sign}{grouped}").parse()).ok()?;
    // A share is divided once, so that 45% is the number that 0.45 is.
    Some(number / scale)
}

/// The digits of a whole part without separators of thousands; a sign within or an odd group is no number.
fn ungrouped(whole: &str, mark: DecimalMark) -> Option<String> {
    let other = if mark == DecimalMark::Point { ',' } else { '.' };
    let is_separator =
        |c: char| c == other || matches!(c, ' ' | '\'' | '\u{2019}' | '\u{a0}' | '\u{202f}' | '_');
    let Some(separator) = whole.chars().find(|&c| is_separator(c)) else {
        // An exponent without a fraction: 1e3.
        let is_plain = |c: char| c.is_ascii_digit() || matches!(c, 'e' | 'E' | '-' | '+');
        return whole.chars().all(is_plain).then(|| whole.to_string());
    };
    let mut groups = whole.split(separator);
    let first = groups.next()?;
    let digits = |group: &str| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(first) || first.len() > 3 || first.starts_with('0') {
        return None;
    }
    let mut all = first.to_string();
    for group in groups {
        if !digits(group) || group.len() != 3 {
            return None;
        }
        all.push_str(group);
    }
    Some(all)
}

/// Gathers over the cells of a text which decimal mark they have.
#[derive(Clone, Copy, Debug, Default)]
pub struct MarkEvidence {
    points: usize,
    commas: usize,
    /// Cells that read either way, such as `1,234`.
    either: usize,
}

impl MarkEvidence {
    /// Looks at a cell.
    pub fn see(&mut self, text: &str) {
        if !text.contains([',', '.'])
            || !text
                .trim_start()
                .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | ',' | '.'))
        {
            return;
        }
        let reads = |mark| parse_number_with(text, mark).is_some();
        match (reads(DecimalMark::Point), reads(DecimalMark::Comma)) {
            (true, false) => self.points += 1,
            (false, true) => self.commas += 1,
            (true, true) => self.either += 1,
            (false, false) => {}
        }
    }

    /// Whether nothing tells the mark, and some cells read as another number with the other one.
    pub fn is_open(&self) -> bool {
        self.points == 0 && self.commas == 0 && self.either > 0
    }

    /// The mark that the cells have; where nothing tells, `otherwise`.
    pub fn mark(&self, otherwise: DecimalMark) -> DecimalMark {
        match (self.points, self.commas, self.either) {
            (0, 0, 0) => DecimalMark::Point,
            (0, 0, _) => otherwise,
            (points, commas, _) if commas > points => DecimalMark::Comma,
            _ => DecimalMark::Point,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, number) in [
            ("12", 12.0),
            ("-1,234,567.5", -1_234_567.5),
            ("1 234", 1234.0),
            ("1'234.5", 1234.5),
            ("1\u{202f}234", 1234.0),
            ("4%", 0.04),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e3", 1000.0),
            ("\u{2212}3", -3.0),
        ] {
            assert_eq!(parse_number(text), Some(number), "{text}");
        }
        for text in [
            "1,5",
            "12,34",
            "1234,567",
            "0,123",
            "1-2",
            "5+",
            "e",
            "",
            "%",
            "1,234,56",
            "2021-03-04",
            "1.2.3",
        ] {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }

    #[test]
    fn a_decimal_comma_is_read_where_the_file_has_one() {
        let read = |text| parse_number_with(text, DecimalMark::Comma);
        assert_eq!(read("1.234,5"), Some(1234.5));
        assert_eq!(read("0,25"), Some(0.25));
        assert_eq!(read("12,5 %"), Some(0.125));
        assert_eq!(read("1.5"), None);
    }

    #[test]
    fn the_mark_of_a_file_is_that_of_its_cells() {
        let mark = |cells: &[&str]| {
            let mut evidence = MarkEvidence::default();
            cells.iter().for_each(|cell| evidence.see(cell));
            evidence.mark(DecimalMark::Comma)
        };
        assert_eq!(mark(&["1,234", "0,5"]), DecimalMark::Comma);
        assert_eq!(mark(&["1,234", "0.5"]), DecimalMark::Point);
        assert_eq!(mark(&["1.234,5"]), DecimalMark::Comma);
        assert_eq!(mark(&["1,234"]), DecimalMark::Comma);
        assert_eq!(mark(&["12", "a,b"]), DecimalMark::Point);
    }
}
