//! The report: one HTML file that needs no network, in light and dark, for screens, paper and screen readers.

mod comparison;
mod evaluation;
mod model;
mod playground;
mod sweep;
mod thumbnails;
mod trust;

use ldlf_core::Result;

use crate::Figure;
use crate::load::Evaluation;
use crate::markup::Element;
use crate::palette::{DARK, LIGHT, page_figure_rules};
pub use model::{ReportedModel, RowsShown, TREES, feature_name};
pub use playground::Playground;
pub use thumbnails::{Thumbnail, thumbnails};
pub use trust::{Subgroups, Trust};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// What goes into a report.
#[derive(Default)]
pub struct Report {
    /// Its heading.
    pub title: String,
    /// Evaluations and sweeps, in the order given.
    pub evaluations: Vec<Evaluation>,
    /// An inspected model.
    pub model: Option<ReportedModel>,
    /// Rows to show beside the best, the median and the worst.
    pub chosen: Vec<usize>,
}

/// Figures of one page, numbered so that their ids are unique.
#[derive(Default)]
struct Figures(usize);

impl Figures {
    /// A figure with its caption: the title and what it shows in words.
    fn html(&mut self, figure: &Figure) -> Element {
        self.0 += 1;
        let frame = Element::new("div").class("wide").attr("role", "group").attr("tabindex", "0");
        let frame = frame.attr("aria-label", format!("{}, figure", figure.title));
        let caption = Element::new("figcaption")
            .child(Element::new("strong").text(&figure.title))
            .text(". ")
            .child(Element::new("span").class("muted").text(&figure.description));
        // Beside a figure of usual width there is room for its caption.
        let class = if figure.width <= 760.0 { "beside" } else { "below" };
        Element::new("figure").class(class).child(frame.child(figure.inside(self.0))).child(caption)
    }
}

/// A part of the page with a heading that the list of contents names.
struct Section {
    id: String,
    heading: String,
    content: Vec<Element>,
}

impl Section {
    fn new(id: impl Into<String>, heading: impl Into<String>) -> Self {
        Section { id: id.into(), heading: heading.into(), content: Vec::new() }
    }

    fn add(&mut self, element: Element) {
        self.content.push(element);
    }

    fn text(&mut self, text: impl std::fmt::Display) {
        self.add(Element::new("p").text(text));
    }

    fn heading(&mut self, text: &str) {
        self.add(Element::new("h3").text(text));
    }

    fn html(self) -> Element {
        let heading = format!("{}-heading", self.id);
        Element::new("section")
            .attr("id", &self.id)
            .attr("aria-labelledby", &heading)
            .child(Element::new("h2").attr("id", &heading).text(&self.heading))
            .children(self.content)
    }
}

/// The whole page.
pub fn render(report: &Report) -> Result<String> {
    let mut figures = Figures::default();
    let mut sections: Vec<Section> = Vec::new();
    let (sweeps, comparisons): (Vec<&Evaluation>, Vec<&Evaluation>) =
        report.evaluations.iter().partition(|evaluation| !evaluation.swept().is_empty());
    sections.extend(comparison::sections(&comparisons, &mut figures));
    let first = sections.len();
    for (number, evaluation) in comparisons.iter().enumerate() {
        sections.push(evaluation::section(number, evaluation, &report.chosen, &mut figures)?);
    }
    for (number, evaluation) in sweeps.iter().enumerate() {
        sections.push(sweep::section(number, evaluation, &mut figures));
    }
    make_unique(
        &mut sections[first..],
        comparisons.iter().chain(&sweeps).map(|evaluation| evaluation.file.as_str()),
    );
    if let Some(model) = &report.model {
        sections.push(model::section(model, &mut figures));
    }
    Ok(format!("<!doctype html>\n{}\n", document(report, sections)))
}

/// Adds the file's name to headings that occur more than once.
fn make_unique<'a>(sections: &mut [Section], files: impl Iterator<Item = &'a str>) {
    let headings: Vec<String> = sections.iter().map(|section| section.heading.clone()).collect();
    for (section, file) in sections.iter_mut().zip(files) {
        if headings.iter().filter(|other| **other == section.heading).count() > 1 && !file.is_empty() {
            section.heading += &format!(" ({file})");
        }
    }
}

fn document(report: &Report, sections: Vec<Section>) -> Element {
    let contents = sections.iter().map(|section| {
        let link = Element::new("a").attr("href", format!("#{}", section.id)).text(&section.heading);
        Element::new("li").child(link)
    });
    let contents = Element::new("nav")
        .attr("aria-label", "Contents")
        .child(Element::new("ul").children(contents.collect::<Vec<_>>()));
    let switch = Element::new("button").attr("type", "button").attr("id", "theme").text("Dark");
    let header = Element::new("header")
        .child(Element::new("div").class("bar").child(Element::new("h1").text(&report.title)).child(switch))
        .child(contents);
    let footer = Element::new("footer").child(Element::new("p").text(format!(
        "Made by ldlf {}. Everything is in this file; it loads nothing from elsewhere.",
        env!("CARGO_PKG_VERSION")
    )));
    let body = Element::new("body")
        .child(Element::new("a").class("skip").attr("href", "#main").text("Skip to the results"))
        .child(header)
        .child(Element::new("main").attr("id", "main").children(sections.into_iter().map(Section::html)))
        .child(footer)
        .child(Element::new("div").attr("id", "status").class("hidden").attr("aria-live", "polite"))
        .child(Element::new("script").constant(SCRIPT));
    Element::new("html").attr("lang", "en").child(head(&report.title)).child(body)
}

fn head(title: &str) -> Element {
    let style = format!(
        ":root{{{}}}\n@media(prefers-color-scheme:dark){{:root:not([data-theme=light]){{{}}}}}\n\
         :root[data-theme=dark]{{{}}}\n{STYLE}\n{}\n@media print{{:root{{{}}}}}",
        LIGHT.properties() + "color-scheme:light;",
        DARK.properties() + "color-scheme:dark;",
        DARK.properties() + "color-scheme:dark;",
        page_figure_rules().replace("text{", "svg text{"),
        LIGHT.properties().replace(';', "!important;"),
    );
    // Nothing may be fetched, whatever the data says.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
    Element::new("head")
        .child(Element::new("meta").attr("charset", "utf-8"))
        .child(Element::new("meta").attr("http-equiv", "Content-Security-Policy").attr("content", policy))
        .child(
            Element::new("meta")
                .attr("name", "viewport")
                .attr("content", "width=device-width,initial-scale=1"),
        )
        .child(Element::new("link").attr("rel", "icon").attr("href", "data:,"))
        .child(Element::new("title").text(title))
        .child(Element::new("style").constant(&style))
}

/// A list of names with values.
fn facts(pairs: &[(String, String)]) -> Element {
    let pair = |(name, value): &(String, String)| {
        Element::new("div").child(Element::new("dt").text(name)).child(Element::new("dd").text(value))
    };
    Element::new("dl").children(pairs.iter().map(pair))
}

/// Content that opens on demand.
fn folded(summary: &str, content: Vec<Element>) -> Element {
    Element::new("details").child(Element::new("summary").text(summary)).children(content)
}
