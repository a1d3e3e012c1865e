//! An experiment as a page of Markdown.

use super::experiment::{Division, Experiment};
use super::{
    super::evaluate::{direction, measures_title},
    Section,
};

/// The whole page: one table per section; for a set with several divisions first one table of the headline over all of them.
pub fn page(experiment: &Experiment, sections: &[Section<'_>], seed: u64) -> String {
    let mut text = format!(
        "# {}\n\n{}\n\nSeed {seed}. Mean ± standard deviation; the best mean is bold; rows in italics are the paper's.\n",
        experiment.title, experiment.about
    );
    for of_set in sections.chunk_by(|a, b| a.set == b.set) {
        text += &format!("\n## {}\n\n", of_set[0].set);
        text += &match (of_set.iter().find_map(|section| section.evaluation.as_ref()), of_set[0].get) {
            (Some(run), _) => {
                format!("{} rows, {} features, {} labels.\n", run.rows, run.features, run.labels.len())
            }
            (None, Some(get)) => format!("Not run: the dataset is missing. {}.\n", capitalised(get)),
            (None, None) => "No results yet.\n".into(),
        };
        if of_set.len() > 1 {
            text += &overview(experiment, of_set);
        }
        let has_rows = |section: &&Section<'_>| {
            section.evaluation.is_some() || (of_set.len() == 1 && !section.published.is_empty())
        };
        for section in of_set.iter().filter(has_rows) {
            text += &table(experiment, section);
        }
    }
    text
}

/// The headline measure: one row per method, one column per division.
fn overview(experiment: &Experiment, sections: &[Section<'_>]) -> String {
    let measure = experiment.measures[0];
    let heads: Vec<String> = sections.iter().map(|section| section.division.title()).collect();
    let mut text = format!(
        "\n| {} | {} |\n|---|{}\n",
        measures_title(measure),
        heads.join(" | "),
        "---|".repeat(heads.len())
    );
    for entrant in &experiment.entrants {
        let cell = |section: &Section<'_>| {
            let place = section.entrants.iter().position(|label| *label == entrant.label);
            place.map_or("-".into(), |place| own_cell(section, place, measure))
        };
        let cells: Vec<String> = sections.iter().map(cell).collect();
        if cells.iter().any(|cell| cell != "-") {
            text += &format!("| {} | {} |\n", entrant.label, cells.join(" | "));
        }
    }
    let mut methods: Vec<&str> = Vec::new();
    for row in sections.iter().flat_map(|section| &section.published) {
        if !methods.contains(&row.method) {
            methods.push(row.method);
        }
    }
    for method in methods {
        let cell = |section: &Section<'_>| {
            let row = section.published.iter().find(|row| row.method == method);
            row.map_or("-".into(), |row| published_cell(row, measure))
        };
        text += &format!("| *{method}* | {} |\n", sections.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
    text
}

/// All measures of a section: one row per method.
fn table(experiment: &Experiment, section: &Section<'_>) -> String {
    let titles: Vec<&str> = experiment.measures.iter().map(|name| measures_title(name)).collect();
    let mut text = String::new();
    let counted = |run: &ldlf::internals::core::evaluate::CrossValidation| {
        let folds = run.results.first().map_or(0, |result| result.folds.len());
        match section.division {
            Division::Share(share) => {
                format!("{folds} random splits that train on {} % of the rows", (share * 100.0).round())
            }
            Division::TenFolds => format!("{folds} clean folds"),
            Division::Released => format!("{folds} folds by the released protocol"),
        }
    };
    if let Some(run) = &section.evaluation {
        text += &format!("\n{}:\n", capitalised(&counted(run)));
    }
    text +=
        &format!("\n| method | {} | fit s |\n|---|{}\n", titles.join(" | "), "---|".repeat(titles.len() + 1));
    if let Some(run) = &section.evaluation {
        for (place, entrant) in section.entrants.iter().enumerate() {
            let cells: Vec<String> =
                experiment.measures.iter().map(|name| own_cell(section, place, name)).collect();
            let seconds =
                run.results[place].mean.get("fit_seconds").map_or("-".into(), |s| format!("{s:.2}"));
            text += &format!("| {entrant} | {} | {seconds} |\n", cells.join(" | "));
        }
    }
    for row in &section.published {
        let cells: Vec<String> = experiment.measures.iter().map(|name| published_cell(row, name)).collect();
        text += &format!("| *{}* | {} | |\n", row.method, cells.join(" | "));
    }
    if !section.unfinished.is_empty() {
        text += &format!("\nNot run: {}.\n", section.unfinished.join("; "));
    }
    text
}

/// Mean ± deviation of a learner, bold where it is the best.
fn own_cell(section: &Section<'_>, place: usize, name: &str) -> String {
    let Some(run) = &section.evaluation else { return "-".into() };
    let result = &run.results[place];
    let (Some(mean), Some(std)) = (result.mean.get(name), result.std.get(name)) else { return "-".into() };
    let beaten = run
        .results
        .iter()
        .filter_map(|other| other.mean.get(name))
        .any(|other| direction(name).prefers(other, mean));
    let mark = if beaten { "" } else { "**" };
    let digits = if name.starts_with("mae") { 2 } else { 4 };
    format!("{mark}{mean:.digits$}{mark} ± {std:.digits$}")
}

fn published_cell(row: &super::Published, name: &str) -> String {
    // The digits that the paper prints: at least these, more where a number has them.
    let digits = if name.starts_with("mae") { 2 } else { 3 };
    let shown = |value: f64| {
        let (short, whole) = (format!("{value:.digits$}"), format!("{value}"));
        if whole.len() > short.len() { whole } else { short }
    };
    match row.numbers.iter().find(|number| number.measure == name) {
        Some(number) => match number.std {
            Some(std) => format!("*{} ± {}*", shown(number.mean), shown(std)),
            None => format!("*{}*", shown(number.mean)),
        },
        None => "-".into(),
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
