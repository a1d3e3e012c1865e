//! What source files say about constants, fields and variants in their comments: a reference has no other words for them.

use crate::page::repository;

/// A field or a variant with its documentation in one line.
pub struct Item {
    pub name: String,
    pub help: String,
}

fn source(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The documentation of the line that begins with these words.
pub fn documentation(path: &str, line: &str) -> String {
    let text = source(path);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let at =
        lines.iter().position(|found| found.starts_with(line)).unwrap_or_else(|| panic!("{path}: no {line}"));
    above(&lines[..at])
}

/// The fields of a struct, or the variants of an enum, in their order.
pub fn items(path: &str, declaration: &str) -> Vec<Item> {
    let text = source(path);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let start = lines.iter().position(|line| line.starts_with(declaration));
    let start = start.unwrap_or_else(|| panic!("{path}: no {declaration}"));
    let end = start + lines[start..].iter().position(|line| *line == "}").expect("a closing brace");
    let named = |at: usize| -> Option<Item> {
        let line = lines[at].trim_start_matches("pub ");
        let plain = !line.is_empty() && !line.starts_with(['/', '#']);
        let name = line.split([':', ' ', ',', '(']).next()?;
        plain.then(|| Item { name: name.to_string(), help: above(&lines[..at]) })
    };
    (start + 1..end).filter_map(named).collect()
}

/// The comment that ends these lines, attributes aside.
fn above(lines: &[&str]) -> String {
    let mut comment: Vec<&str> = lines
        .iter()
        .rev()
        .skip_while(|line| line.starts_with('#'))
        .map_while(|line| line.strip_prefix("///"))
        .map(str::trim)
        .collect();
    comment.reverse();
    let first: Vec<&str> = comment.split(|line| line.is_empty()).next().unwrap_or_default().to_vec();
    first.join(" ")
}
