//! Whether a program printed what a page shows.
//!
//! `...` stands for anything: a line of its own for any number of lines, within a line for any text. Numbers with a decimal point may
//! differ a little, because processors with other vector instructions round otherwise; spaces may differ with the widths of numbers.

/// How far a number with a decimal point may be from what a page shows: in all, and in proportion to it.
const SLACK: (f64, f64) = (0.002, 0.02);

/// A part of a line.
#[derive(Debug, PartialEq)]
enum Piece {
    Anything,
    Number { value: f64, whole: bool },
    Character(char),
}

/// Whether all lines are as shown.
pub fn agrees(shown: &str, printed: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        text.trim_end().lines().map(|line| line.trim_end().to_string()).collect()
    };
    aligned(&lines(shown), &lines(printed), &|line| line.trim() == "...", &|shown, printed| {
        let anything = |piece: &Piece| *piece == Piece::Anything;
        aligned(&pieces(shown, true), &pieces(printed, false), &anything, &same)
    })
}

/// Whether a list is like another in which some places stand for any number of items.
fn aligned<T>(
    shown: &[T],
    printed: &[T],
    anything: &dyn Fn(&T) -> bool,
    same: &dyn Fn(&T, &T) -> bool,
) -> bool {
    // Where the last wildcard stood, and up to where it reaches.
    let (mut at, mut of, mut wildcard) = (0, 0, None);
    while of < printed.len() {
        if at < shown.len() && anything(&shown[at]) {
            wildcard = Some((at, of));
            at += 1;
        } else if at < shown.len() && same(&shown[at], &printed[of]) {
            (at, of) = (at + 1, of + 1);
        } else if let Some((place, reach)) = wildcard {
            wildcard = Some((place, reach + 1));
            (at, of) = (place + 1, reach + 1);
        } else {
            return false;
        }
    }
    shown[at..].iter().all(anything)
}

fn same(shown: &Piece, printed: &Piece) -> bool {
    match (shown, printed) {
        (Piece::Number { value: a, whole: true }, Piece::Number { value: b, whole: true }) => a == b,
        (Piece::Number { value: a, .. }, Piece::Number { value: b, .. }) => {
            (a - b).abs() <= SLACK.0 + SLACK.1 * a.abs().max(b.abs())
        }
        (shown, printed) => shown == printed,
    }
}

fn pieces(line: &str, wildcards: bool) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = line.trim();
    while let Some(first) = rest.chars().next() {
        if wildcards && rest.starts_with("...") {
            pieces.push(Piece::Anything);
            rest = &rest[3..];
        } else if first.is_ascii_digit() {
            let number = number_at(rest);
            let value = number.parse().expect("digits");
            pieces.push(Piece::Number { value, whole: !number.contains('.') });
            rest = &rest[number.len()..];
        } else {
            let skipped = if first.is_whitespace() { rest.trim_start() } else { &rest[first.len_utf8()..] };
            // Columns grow with their numbers, and so do rules of dashes.
            let character = if first.is_whitespace() { ' ' } else { first };
            let repeated =
                matches!(character, ' ' | '-') && pieces.last() == Some(&Piece::Character(character));
            if !repeated {
                pieces.push(Piece::Character(character));
            }
            rest = skipped;
        }
    }
    pieces
}

/// The digits at the beginning of a text, with a decimal part and an exponent.
fn number_at(text: &str) -> &str {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(0);
    if text[end..].starts_with('.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
        for mark in ["e-", "e"] {
            if text[end..].starts_with(mark) && digits(end + mark.len()) > 0 {
                return &text[..end + mark.len() + digits(end + mark.len())];
            }
        }
    }
    &text[..end]
}

#[test]
fn digits_and_spaces_may_differ_and_nothing_else() {
    assert!(agrees("K-L  0.1048±0.0024*", "K-L 0.1049±0.0024*"));
    assert!(agrees("a\n...\nd 5", "a\nb\nc\nd 5\n"));
    assert!(agrees("commit ..., built", "commit 06a4e71, built"));
    assert!(!agrees("K-L 0.1048", "K-L 0.1148"));
    assert!(!agrees("3000 rows", "3001 rows"));
    assert!(!agrees("a\nb", "a"));
    assert!(!agrees("a", "a\nb"));
    assert!(!agrees("mode 5", "mean 5"));
}
