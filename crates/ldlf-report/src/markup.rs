//! Elements of HTML and SVG as values. Text and attributes are escaped by construction; only the constants of this crate are not.

use std::fmt::{Display, Write};

/// Elements of HTML without an end tag.
const VOID: [&str; 6] = ["meta", "link", "br", "input", "hr", "img"];

/// One element with its attributes and children, kept as finished text.
#[derive(Clone, Debug)]
pub struct Element {
    name: &'static str,
    attributes: String,
    content: String,
}

impl Element {
    /// An empty element.
    pub fn new(name: &'static str) -> Self {
        Element { name, attributes: String::new(), content: String::new() }
    }

    /// Adds an attribute.
    pub fn attr(mut self, name: &str, value: impl Display) -> Self {
        let _ = write!(self.attributes, " {name}=\"{}\"", escape(&value.to_string()));
        self
    }

    /// Adds an attribute whose number has at most two digits after the point: enough for a figure.
    pub fn at(self, name: &str, value: f64) -> Self {
        self.attr(name, coordinate(value))
    }

    /// Sets the class.
    pub fn class(self, class: &str) -> Self {
        self.attr("class", class)
    }

    /// Adds text.
    pub fn text(mut self, text: impl Display) -> Self {
        self.content += &escape(&text.to_string());
        self
    }

    /// Adds a child.
    pub fn child(mut self, child: Element) -> Self {
        self.push(child);
        self
    }

    /// Adds children.
    pub fn children(mut self, children: impl IntoIterator<Item = Element>) -> Self {
        children.into_iter().for_each(|child| self.push(child));
        self
    }

    /// Adds a child in place.
    pub fn push(&mut self, child: Element) {
        let _ = write!(self.content, "{child}");
    }

    /// Adds text of this crate as it is: a style sheet, a script.
    pub(crate) fn constant(mut self, text: &str) -> Self {
        self.content += text;
        self
    }
}

impl Display for Element {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Element { name, attributes, content } = self;
        if VOID.contains(name) {
            return write!(f, "<{name}{attributes}>");
        }
        write!(f, "<{name}{attributes}>{content}</{name}>")
    }
}

/// Text as it may stand between tags and in quoted attributes. Characters that XML does not allow become a replacement mark.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\t' | '\n' | '\r' => out.push(character),
            control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => {
                out.push('\u{fffd}')
            }
            other => out.push(other),
        }
    }
    out
}

/// A coordinate with at most two digits after the point; what is not finite is 0.
pub fn coordinate(value: f64) -> String {
    if !value.is_finite() {
        return "0".into();
    }
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped() {
        let cell = Element::new("td").attr("title", "\"a\"").text("1 < 2");
        assert_eq!(cell.to_string(), "<td title=\"&quot;a&quot;\">1 &lt; 2</td>");
    }

    #[test]
    fn whatever_stands_in_data_stays_text() {
        let hostile = "</svg><script>alert('x')</script>&\u{0}";
        let shown = Element::new("text").attr("data-name", hostile).text(hostile).to_string();
        assert!(!shown.contains("<script") && !shown.contains('\u{0}'), "{shown}");
        assert_eq!(shown.matches('<').count(), 2, "one start tag and one end tag: {shown}");
    }

    #[test]
    fn coordinates_are_short_numbers() {
        let shown = [1.0, 0.126, -0.001, f64::NAN, f64::INFINITY].map(coordinate);
        assert_eq!(shown, ["1", "0.13", "0", "0", "0"]);
    }
}
