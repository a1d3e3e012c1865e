//! A table that can be sorted with mouse or keyboard: the column headers are buttons, and the order is announced to screen readers.

use crate::markup::Element;

/// One cell: what it shows and what it is sorted by.
pub struct Cell {
    content: Element,
    key: Option<f64>,
}

impl Cell {
    /// A word.
    pub fn word(text: &str) -> Self {
        Cell { content: Element::new("td").text(text), key: None }
    }

    /// A number with so many digits after the point, or a dash.
    pub fn number(value: Option<f64>, digits: usize) -> Self {
        let text = value.map_or("–".to_string(), |value| format!("{value:.digits$}"));
        Cell { content: Element::new("td").class("number").text(text), key: value }
    }

    /// A mean with the ends of its interval.
    pub fn between(mean: f64, low: f64, high: f64) -> Self {
        let ends = Element::new("span").class("std").text(format!(" [{low:.4}, {high:.4}]"));
        let content = Element::new("td").class("number").text(format!("{mean:.4}")).child(ends);
        Cell { content, key: Some(mean) }
    }

    /// Mean, standard deviation and rank of a measure; the best is marked in words as well as by style.
    pub fn measured(mean: Option<f64>, std: Option<f64>, rank: f64, best: bool) -> Self {
        let Some(mean) = mean else { return Cell::number(None, 0) };
        let shown = Element::new(if best { "strong" } else { "span" }).text(format!("{mean:.4}"));
        let mut content = Element::new("td").class(if best { "number best" } else { "number" }).child(shown);
        if let Some(std) = std {
            content.push(Element::new("span").class("std").text(format!(" ± {std:.4}")));
        }
        let rank = if rank.fract() == 0.0 { format!("{rank:.0}") } else { format!("{rank:.1}") };
        let spoken = Element::new("span").class("hidden").text(" rank ");
        content.push(Element::new("span").class("rank").child(spoken).text(&rank));
        if best {
            content.push(Element::new("span").class("hidden").text(" (best)"));
        }
        Cell { content, key: Some(mean) }
    }
}

/// Columns and rows.
pub struct SortableTable {
    caption: String,
    columns: Vec<(String, bool)>,
    rows: Vec<Vec<Cell>>,
}

impl SortableTable {
    /// A table with the given caption.
    pub fn new(caption: impl Into<String>) -> Self {
        SortableTable { caption: caption.into(), columns: Vec::new(), rows: Vec::new() }
    }

    /// Adds a column of words.
    pub fn words(mut self, title: impl Into<String>) -> Self {
        self.columns.push((title.into(), false));
        self
    }

    /// Adds a column of numbers.
    pub fn numbers(mut self, title: impl Into<String>) -> Self {
        self.columns.push((title.into(), true));
        self
    }

    /// Adds a row; its first cell names it.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table in a frame that scrolls sideways on narrow screens.
    pub fn html(self) -> Element {
        let header = |(title, number): &(String, bool)| {
            let button = Element::new("button").attr("type", "button").text(title);
            let cell = Element::new("th").attr("scope", "col").attr("aria-sort", "none");
            (if *number { cell.class("number") } else { cell }).child(button)
        };
        let headers = Element::new("tr").children(self.columns.iter().map(header));
        let row = |cells: Vec<Cell>| {
            Element::new("tr").children(cells.into_iter().map(|Cell { content, key }| match key {
                Some(key) => content.attr("data-key", key),
                None => content,
            }))
        };
        let table = Element::new("table")
            .class("sortable")
            .child(Element::new("caption").text(&self.caption))
            .child(Element::new("thead").child(headers))
            .child(Element::new("tbody").children(self.rows.into_iter().map(row)));
        let frame = Element::new("div").class("wide").attr("role", "region").attr("tabindex", "0");
        frame.attr("aria-label", self.caption).child(table)
    }
}
