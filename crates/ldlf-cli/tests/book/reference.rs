//! The reference under `docs/reference/` is what the program declares; a page that is out of date fails.

use clap::Arg;
use ldlf::internals::core::LearnerEntry;
use ldlf::internals::core::parameters::show_value;
use ldlf::internals::io::write::{TableForm, dataset_formats};
use ldlf::measures::Direction;
use ldlf::{Format, measures, registry};
use snapbox::data::DataFormat;

use crate::declarations::{documentation, items};
use crate::page::repository;

/// What every page of the reference begins with, after its title.
const MADE: &str = "*Made from the declarations in the program by \
    `SNAPSHOTS=overwrite cargo nextest run -p ldlf-cli --test book`; do not edit.*\n\n";

fn check(page: &str, title: &str, text: &str) {
    let path = repository().join("docs/reference").join(page);
    let expected = snapbox::Data::read_from(&path, Some(DataFormat::Text)).raw();
    let actual = format!("# {title}\n\n{MADE}{}\n", text.trim_end());
    snapbox::Assert::new().action_env("SNAPSHOTS").eq(snapbox::Data::text(actual).raw(), expected);
}

/// A row of a table. A cell may not end early.
fn row<const N: usize>(cells: [String; N]) -> String {
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|").replace('\n', " ")).join(" | "))
}

fn table<const N: usize>(heads: [&str; N]) -> String {
    format!("| {} |\n|{}\n", heads.join(" | "), "---|".repeat(N))
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// An option or argument with what it takes, as one writes it.
fn written(argument: &Arg) -> String {
    let value = || {
        let names = argument.get_value_names().unwrap_or_default();
        names.iter().map(|name| format!(" {name}")).collect::<String>()
    };
    let takes = argument.get_action().takes_values();
    match (argument.get_long(), argument.get_short()) {
        (Some(long), short) => {
            let short = short.map_or(String::new(), |short| format!("-{short}, "));
            code(&format!("{short}--{long}{}", if takes { value() } else { String::new() }))
        }
        (None, _) => code(argument.get_id().as_str().to_uppercase().as_str()),
    }
}

/// What an option does, its default and its choices.
fn explained(argument: &Arg) -> String {
    let mut text = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let values: Vec<_> =
        argument.get_possible_values().into_iter().filter(|value| !value.is_hide_set()).collect();
    if argument.get_action().takes_values() && !values.is_empty() {
        let described = values.iter().map(|value| match value.get_help() {
            Some(help) => format!("{} ({help})", code(value.get_name())),
            None => code(value.get_name()),
        });
        text += &format!(". One of {}", described.collect::<Vec<_>>().join(", "));
    }
    let defaults: Vec<String> =
        argument.get_default_values().iter().map(|value| code(&value.to_string_lossy())).collect();
    if argument.get_action().takes_values() && !defaults.is_empty() {
        text += &format!(". Default: {}", defaults.join(" "));
    }
    text.replace("--", "\\-\\-").replace('<', "&lt;")
}

#[test]
fn the_reference_of_commands_is_what_the_parser_declares() {
    let program = ldlf_cli::declaration();
    let mut text = table(["command", "does"]);
    for command in program.get_subcommands() {
        let name = command.get_name();
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        text += &row([format!("[`ldlf {name}`](#ldlf-{name})"), about]);
    }
    text += "\nEvery command also takes `--quiet` (`-q`: results and errors only) and `--help`.\n";
    let mut seen: Vec<(String, String, String)> = Vec::new();
    for command in program.get_subcommands() {
        let name = command.get_name();
        text += &format!(
            "\n## ldlf {name}\n\n{}.\n",
            command.get_about().map(ToString::to_string).unwrap_or_default()
        );
        let shown: Vec<&Arg> = command.get_arguments().filter(|argument| !argument.is_hide_set()).collect();
        let mut headings: Vec<Option<&str>> = Vec::new();
        for argument in &shown {
            if !headings.contains(&argument.get_help_heading()) {
                headings.push(argument.get_help_heading());
            }
        }
        for heading in headings {
            let of_heading = shown.iter().filter(|argument| argument.get_help_heading() == heading);
            let rows: String =
                of_heading.map(|argument| row([written(argument), explained(argument)])).collect();
            let Some(heading) = heading else {
                text += &format!("\n{}{rows}", table(["argument", "what it does"]));
                continue;
            };
            match seen.iter().find(|(known, same, _)| known == heading && *same == rows) {
                Some((_, _, first)) => {
                    text += &format!("\n{heading}: as for [`ldlf {first}`](#ldlf-{first}).\n")
                }
                None => {
                    text += &format!("\n{heading}:\n\n{}{rows}", table(["option", "what it does"]));
                    seen.push((heading.to_string(), rows, name.to_string()));
                }
            }
        }
        if let Some(help) = command.get_after_help() {
            text += &format!("\n```text\n{}\n```\n", help.to_string().trim_end());
        }
    }
    check("commands.md", "Commands", &text);
}

fn takes(entry: &LearnerEntry) -> String {
    let facts = &entry.facts;
    let abilities = [
        (facts.reads_images(), "images"),
        (facts.sparse, "sparse rows"),
        (facts.weights, "row weights"),
        (facts.ordered, "ordered labels only"),
        (facts.iterates, "early stopping"),
        (facts.resumes, "resumes from checkpoints"),
        (facts.exports, "ONNX"),
        (facts.out_of_fold, "out-of-fold predictions"),
    ];
    abilities.iter().filter(|(has, _)| *has).map(|(_, ability)| *ability).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_reference_of_learners_is_what_the_registry_declares() {
    let learners = registry::learners();
    let mut text = table(["learner", "what it is", "takes"]);
    for entry in &learners {
        text += &row([format!("[`{0}`](#{0})", entry.name()), entry.facts.summary.into(), takes(entry)]);
    }
    text += "\n`auto` lets the learner choose; `none` is no limit, or not at all. The names are those of `--set NAME=VALUE`, of the arguments in Python and of \
        the methods in Rust.\n";
    for entry in &learners {
        text += &format!("\n## {}\n\n{}.", entry.name(), entry.facts.summary);
        if !entry.facts.source.is_empty() {
            text += &format!(" Source: {}.", entry.facts.source);
        }
        text += "\n";
        let parameters = (entry.parameters)();
        if parameters.is_empty() {
            text += "\nIt has no parameters.\n";
            continue;
        }
        text += &format!("\n{}", table(["parameter", "default", "allowed", "what it does"]));
        for parameter in &parameters {
            let help = parameter.help.trim_end_matches('.').replace('<', "&lt;");
            text += &row([
                code(parameter.name),
                code(&show_value(&parameter.default)),
                parameter.allowed(),
                help,
            ]);
        }
        for preset in (entry.presets)() {
            let settings: Vec<String> = preset
                .settings
                .0
                .iter()
                .map(|(name, value)| format!("{name}={}", show_value(value)))
                .collect();
            text += &format!("\nPreset `{}`: {}. `{}`\n", preset.name, preset.help, settings.join(" "));
        }
    }
    check("learners.md", "Learners", &text);
}

#[test]
fn the_reference_of_measures_is_what_the_table_of_measures_declares() {
    let mut text = String::from(
        "For a true row `d` and a predicted row `p`, averaged over the rows by their weights. The usual ones are computed by every evaluation, the others with \
         `ldlf evaluate --measures`. *Ordered* ones need labels that stand for numbers.\n\n",
    );
    text += &table(["name", "in tables", "better", "needs", "when", "what it is"]);
    for measure in measures::all() {
        let better = match measure.direction {
            Direction::LowerIsBetter => "lower",
            Direction::HigherIsBetter => "higher",
        };
        let usual = measures::usual().iter().any(|usual| usual.name == measure.name);
        let file = format!("crates/ldlf-core/src/measures/{}.rs", measure.name);
        text += &row([
            code(measure.name),
            measure.title.into(),
            better.into(),
            if measure.is_ordered() { "ordered labels" } else { "distributions" }.into(),
            if usual { "always" } else { "on request" }.into(),
            documentation(&file, "pub const"),
        ]);
    }
    check("measures.md", "Measures", &text);
}

#[test]
fn the_reference_of_formats_is_what_the_table_of_formats_declares() {
    let mut text = String::from(
        "What is read, and what is written. How cells become features: [preparing data](../data.md).\n\n",
    );
    text += &table([
        "format",
        "extensions",
        "columns have names",
        "predictions are written",
        "datasets are written",
    ]);
    let yes = |is: bool| if is { "yes".to_string() } else { "no".to_string() };
    let variants =
        std::fs::read_to_string(repository().join("crates/ldlf-io/src/format.rs")).expect("the table");
    for &format in Format::ALL {
        let line = variants
            .lines()
            .find(|line| line.trim().starts_with(&format!("{format:?} [")))
            .expect("its line");
        let name = line
            .split('"')
            .filter(|part| part.contains(' '))
            .find(|part| part.ends_with('.'))
            .expect("its name");
        let extensions: Vec<String> =
            format.extensions().iter().map(|extension| code(&format!(".{extension}"))).collect();
        text += &row([
            name.trim_end_matches('.').into(),
            extensions.join(" "),
            yes(format.names_columns()),
            yes(TableForm::all().any(|form| format.extensions().contains(&form.extension))),
            yes(dataset_formats().any(|known| known == format)),
        ]);
    }
    check("formats.md", "File formats", &text);
}

#[test]
fn the_reference_of_exit_codes_is_what_the_command_declares() {
    let mut text = format!("How `ldlf` ends, for scripts.\n\n{}", table(["code", "when"]));
    let source =
        std::fs::read_to_string(repository().join("crates/ldlf-cli/src/exit.rs")).expect("the exit codes");
    for item in items("crates/ldlf-cli/src/exit.rs", "pub enum Exit") {
        let line = source.lines().find_map(|line| line.trim().strip_prefix(&format!("{} = ", item.name)));
        text += &row([line.expect("its number").trim_end_matches(',').into(), item.help]);
    }
    check("exit-codes.md", "Exit codes", &text);
}

/// The structs of a model file's document: the field that holds it, the file, the declaration.
const DOCUMENT: [(&str, &str, &str); 7] = [
    ("the document", "crates/ldlf-core/src/stored.rs", "struct Document"),
    ("`schema`", "crates/ldlf-core/src/dataset.rs", "pub struct Schema"),
    ("`schema.single`", "crates/ldlf-core/src/dataset.rs", "pub struct SingleLabel"),
    ("`summary`", "crates/ldlf-core/src/learner.rs", "pub struct Summary"),
    ("`provenance`", "crates/ldlf-core/src/provenance.rs", "pub struct Provenance"),
    ("`conformal`", "crates/ldlf-core/src/conformal.rs", "pub struct StoredConformal"),
    ("`spread`", "crates/ldlf-core/src/spread.rs", "pub struct Spread"),
];

#[test]
fn the_reference_of_model_files_is_what_their_document_declares() {
    let mut text = String::from(
        "A model file is one [safetensors](https://github.com/huggingface/safetensors) file: arrays, and in its metadata under `ldlf` one JSON document, which \
         begins with a `checksum` over all else. Any reader of safetensors opens it; `ldlf inspect M --json` prints what it holds. Fields without a value are left out. \
         What `model` holds, and the arrays, are those of the learner, and may grow; files of every released version stay readable \
         ([why it is so](../decisions/model-files.md)).\n",
    );
    for (name, file, declaration) in DOCUMENT {
        text += &format!("\n## {}\n\n{}", name.trim_matches('`'), table(["field", "what it is"]));
        for item in items(file, declaration) {
            assert!(!item.help.is_empty(), "{file}: {} of {declaration} has no documentation", item.name);
            text += &row([
                code(&item.name),
                item.help
                    .replace("](Dataset::fingerprint)", "]")
                    .replace("](crate::Inputs::fingerprint)", "]")
                    .replace(['[', ']'], ""),
            ]);
        }
    }
    check("model-files.md", "Model files", &text);
}
