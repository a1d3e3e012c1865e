//! A figure: SVG with a title and a text alternative, alone in a file or inside a page.

use crate::markup::Element;
use crate::palette::LIGHT;

/// One finished figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// In pixels.
    pub width: f64,
    /// In pixels.
    pub height: f64,
    /// What it is called.
    pub title: String,
    /// What it shows, in words: the text alternative.
    pub description: String,
    /// Whether it shows images.
    pub has_images: bool,
    body: Element,
}

impl Figure {
    /// An empty figure.
    pub fn new(width: f64, height: f64, title: impl Into<String>, description: impl Into<String>) -> Self {
        Figure {
            width,
            height,
            title: title.into(),
            description: description.into(),
            has_images: false,
            body: Element::new("g"),
        }
    }

    /// Adds something on top.
    pub fn add(&mut self, element: Element) {
        self.body.push(element);
    }

    /// Adds a square image of so many pixels, given as the bytes of a PNG file.
    pub fn add_image(&mut self, (x, y): (f64, f64), side: f64, png: &[u8], name: &str) {
        self.has_images = true;
        let source = format!("data:image/png;base64,{}", base64(png));
        let image = Element::new("image").at("x", x).at("y", y).at("width", side).at("height", side);
        self.add(image.attr("href", source).child(Element::new("title").text(name)));
    }

    fn svg(&self) -> Element {
        Element::new("svg")
            .attr("xmlns", "http://www.w3.org/2000/svg")
            .attr("viewBox", format!("0 0 {} {}", self.width, self.height))
            .at("width", self.width)
            .at("height", self.height)
            .attr("role", "img")
    }

    /// The figure inside a page, which holds the style rules of its classes. `number` makes its ids unique in the page.
    pub fn inside(&self, number: usize) -> Element {
        let (title, description) = (format!("t{number}"), format!("d{number}"));
        self.svg()
            .attr("aria-labelledby", format!("{title} {description}"))
            .child(Element::new("title").attr("id", title).text(&self.title))
            .child(Element::new("desc").attr("id", description).text(&self.description))
            .child(self.body.clone())
    }

    /// The figure as a file of its own, on a white background.
    pub fn alone(&self) -> String {
        let paper = Element::new("rect").class("paper").at("width", self.width).at("height", self.height);
        self.svg()
            .attr("aria-labelledby", "t d")
            .child(Element::new("title").attr("id", "t").text(&self.title))
            .child(Element::new("desc").attr("id", "d").text(&self.description))
            .child(Element::new("style").constant(&LIGHT.figure_rules()))
            .child(paper)
            .child(self.body.clone())
            .to_string()
            + "\n"
    }
}

/// Bytes as text (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let number = (0..3).fold(0u32, |n, place| n << 8 | u32::from(part.get(place).copied().unwrap_or(0)));
        for digit in 0..4 {
            let sextet = (number >> (18 - 6 * digit) & 63) as usize;
            text.push(if digit <= part.len() { char::from(DIGITS[sextet]) } else { '=' });
        }
    }
    text
}

/// Where a text sits on its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Starts there.
    Start,
    /// Is centred there.
    Middle,
    /// Ends there.
    End,
}

/// A text at a point.
pub fn label(x: f64, y: f64, anchor: Anchor, class: &str, text: &str) -> Element {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let element = Element::new("text").at("x", x).at("y", y).attr("text-anchor", anchor);
    let element = if class.is_empty() { element } else { element.class(class) };
    element.text(text)
}

/// A straight line.
pub fn line(from: (f64, f64), to: (f64, f64), class: &str) -> Element {
    Element::new("line").at("x1", from.0).at("y1", from.1).at("x2", to.0).at("y2", to.1).class(class)
}

/// A rectangle; a negative size is none.
pub fn rect(x: f64, y: f64, width: f64, height: f64, class: &str) -> Element {
    Element::new("rect")
        .at("x", x)
        .at("y", y)
        .at("width", width.max(0.0))
        .at("height", height.max(0.0))
        .class(class)
}

/// A line through points.
pub fn polyline(points: &[(f64, f64)], class: &str) -> Element {
    Element::new("polyline").attr("points", joined(points)).class(class)
}

/// A closed shape through points.
pub fn polygon(points: &[(f64, f64)], class: &str) -> Element {
    Element::new("polygon").attr("points", joined(points)).class(class)
}

fn joined(points: &[(f64, f64)]) -> String {
    let point =
        |&(x, y): &(f64, f64)| format!("{},{}", crate::markup::coordinate(x), crate::markup::coordinate(y));
    points.iter().map(point).collect::<Vec<_>>().join(" ")
}

/// The marker of a series: its shape differs as well as its colour.
pub fn mark(x: f64, y: f64, series: usize, size: f64) -> Element {
    let class = format!("m{}", series % 7);
    let r = size;
    match series % 7 {
        0 => Element::new("circle").at("cx", x).at("cy", y).at("r", r).class(&class),
        1 => rect(x - r, y - r, 2.0 * r, 2.0 * r, &class),
        2 => polygon(&[(x, y - 1.25 * r), (x + 1.15 * r, y + 0.8 * r), (x - 1.15 * r, y + 0.8 * r)], &class),
        3 => polygon(&[(x, y - 1.3 * r), (x + 1.3 * r, y), (x, y + 1.3 * r), (x - 1.3 * r, y)], &class),
        4 => polygon(&[(x, y + 1.25 * r), (x + 1.15 * r, y - 0.8 * r), (x - 1.15 * r, y - 0.8 * r)], &class),
        5 => Element::new("circle").at("cx", x).at("cy", y).at("r", r).class("o5"),
        _ => rect(x - r, y - r, 2.0 * r, 2.0 * r, "o6"),
    }
}

/// The approximate width of a text at the size of labels: no font is available when a figure is laid out.
pub fn text_width(text: &str) -> f64 {
    text.chars().map(|c| if "ilj.,:;'|I1()[] ".contains(c) { 4.8 } else { 7.6 }).sum()
}

/// The text, or its beginning with an ellipsis, so that at most `limit` characters show.
pub fn shortened(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_string();
    }
    text.chars().take(limit.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_text_by_the_standard() {
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        // Section 10 of RFC 4648.
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
        assert_eq!(base64(&[0xff, 0xef, 0xbe]), "/+++");
    }

    #[test]
    fn an_image_stands_inside_the_figure() {
        let mut figure = Figure::new(10.0, 10.0, "t", "d");
        assert!(!figure.has_images);
        figure.add_image((1.0, 2.0), 8.0, b"foo", "a<b.png");
        let svg = figure.alone();
        assert!(figure.has_images && svg.contains("href=\"data:image/png;base64,Zm9v\""), "{svg}");
        assert!(svg.contains("<title>a&lt;b.png</title>"), "{svg}");
    }
}
