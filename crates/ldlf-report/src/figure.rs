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
            body: Element::new("g"),
        }
    }

    /// Adds something on top.
    pub fn add(&mut self, element: Element) {
        self.body.push(element);
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
