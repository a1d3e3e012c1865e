//! Colours that colour-blind readers can distinguish (Okabe and Ito 2008), each with a marker shape and a dash pattern.

/// The colours of a page or figure, light or dark.
pub struct Palette {
    /// Behind everything.
    pub paper: &'static str,
    /// Cards and bands.
    pub raised: &'static str,
    /// Text.
    pub ink: &'static str,
    /// Less important text.
    pub muted: &'static str,
    /// Lines behind data.
    pub grid: &'static str,
    /// True values: bars behind predictions.
    pub truth: &'static str,
    /// What is highlighted.
    pub highlight: &'static str,
    /// One colour per series, in order.
    pub series: [&'static str; 7],
}

/// Dark on white.
pub const LIGHT: Palette = Palette {
    paper: "#ffffff",
    raised: "#f4f5f7",
    ink: "#1b1f24",
    muted: "#57606a",
    grid: "#d8dde3",
    truth: "#b4bcc6",
    highlight: "#d55e00",
    series: ["#0072b2", "#d55e00", "#009e73", "#b5588d", "#3a8fc4", "#b97f00", "#57606a"],
};

/// Pale on dark.
pub const DARK: Palette = Palette {
    paper: "#14171c",
    raised: "#1e2228",
    ink: "#e8eaed",
    muted: "#a3abb5",
    grid: "#3a414b",
    truth: "#5d6774",
    highlight: "#ff9a4d",
    series: ["#56b4e9", "#ff8a3c", "#2fc79a", "#e39ac4", "#f0e442", "#e6b54d", "#a3abb5"],
};

/// Dashes of lines, in the order of the series.
pub const DASHES: [&str; 7] = ["", "7 3", "2 3", "9 3 2 3", "5 5", "12 4", "1 4"];

impl Palette {
    /// Every colour with its name.
    fn named(&self) -> Vec<(String, &'static str)> {
        let mut all: Vec<(String, &'static str)> = [
            ("paper", self.paper),
            ("raised", self.raised),
            ("ink", self.ink),
            ("muted", self.muted),
            ("grid", self.grid),
            ("truth", self.truth),
            ("highlight", self.highlight),
        ]
        .map(|(name, colour)| (name.to_string(), colour))
        .into();
        all.extend(self.series.iter().enumerate().map(|(place, colour)| (format!("s{place}"), *colour)));
        all
    }

    /// The colours as custom properties of a page: `--ink:#000;...`.
    pub fn properties(&self) -> String {
        self.named().iter().map(|(name, colour)| format!("--{name}:{colour};")).collect()
    }

    /// The style rules of a figure in a file of its own, with the colours written out.
    pub fn figure_rules(&self) -> String {
        self.named().iter().fold(page_figure_rules(), |rules, (name, colour)| {
            rules.replace(&format!("var(--{name})"), colour)
        })
    }
}

/// The style rules of figures in a page, with the colours as custom properties: `s` lines, `m` markers, `o` open markers, `b` bands
/// of a series.
pub fn page_figure_rules() -> String {
    let rule = |(place, dash): (usize, &&str)| {
        let dashes = if dash.is_empty() { String::new() } else { format!("stroke-dasharray:{dash};") };
        let colour = format!("var(--s{place})");
        format!(
            ".s{place}{{stroke:{colour};fill:none;stroke-width:2;{dashes}}}\n\
             .m{place}{{stroke:{colour};fill:{colour};stroke-width:1.2}}\n\
             .o{place}{{stroke:{colour};fill:var(--paper);stroke-width:1.6}}\n\
             .b{place}{{fill:{colour};opacity:.16;stroke:none}}\n"
        )
    };
    FIGURE_RULES.to_string() + &DASHES.iter().enumerate().map(rule).collect::<String>()
}

/// The style of the classes of figures.
const FIGURE_RULES: &str = "\
text{fill:var(--ink);font-family:'DejaVu Sans',Verdana,system-ui,sans-serif;font-size:12px}
.muted{fill:var(--muted)}
.small{font-size:10.5px}
.strong{font-weight:bold}
.paper{fill:var(--paper)}
.axis{stroke:var(--muted);stroke-width:1;fill:none}
.grid{stroke:var(--grid);stroke-width:1;fill:none}
.truth{fill:var(--truth);stroke:none}
.box{fill:var(--raised);stroke:var(--muted);stroke-width:1}
.edge{stroke:var(--muted);fill:none}
.highlight{stroke:var(--highlight);fill:none}
.highlightbox{fill:var(--raised);stroke:var(--highlight);stroke-width:2.5}
.dead{fill:none;stroke:var(--muted);stroke-width:1;stroke-dasharray:3 2}
.thick{stroke:var(--ink);stroke-width:4;fill:none}
.update{stroke:var(--muted);stroke-width:1;fill:none;opacity:.8}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_that_stands_alone_needs_no_custom_properties() {
        let rules = LIGHT.figure_rules();
        assert!(rules.contains(LIGHT.ink) && !rules.contains("var("), "{rules}");
    }
}
