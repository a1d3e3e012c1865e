//! What the command line calls the things that errors are about.

use ldlf::internals::core::error::Subject;

/// The option or command of a subject.
pub fn on_the_command_line(subject: &Subject) -> String {
    let word = match subject {
        Subject::Format => "--format",
        Subject::Labels => "--labels",
        Subject::LabelColumn => "--label-column",
        Subject::Sigma => "--sigma",
        Subject::LabelValues => "--label-values",
        Subject::Features => "--features",
        Subject::Categories => "--categories",
        Subject::Numeric => "--numeric",
        Subject::Dates => "--dates",
        Subject::Ignore => "--ignore",
        Subject::SampleWeights => "--sample-weights",
        Subject::SplitColumn => "--split-column",
        Subject::Group => "--group",
        Subject::ImageColumn => "--image-column",
        Subject::Votes => "--votes",
        Subject::Long => "--long",
        Subject::WeightByVotes => "--weight-by-votes",
        Subject::WeighAnnotators => "--weigh-annotators",
        Subject::MissingLabels => "--missing-labels",
        Subject::Strict => "--strict",
        Subject::Table => "--table",
        Subject::SkipBadImages => "--bad-images skip",
        Subject::Keep => "--keep",
        Subject::BadRows => "--bad-rows skip",
        Subject::Seed => "--seed",
        Subject::Overwrite => "--force",
        Subject::By => "--by",
        Subject::OutOfFold => "--out-of-fold",
        Subject::Calibrate => "--calibrate 0.2",
        Subject::Parameter(name) => name,
        Subject::DeviceBuild(name) => {
            return format!("`cargo install --path crates/ldlf-cli --features {name}`");
        }
        Subject::Learners => "`ldlf learners`",
        Subject::ResumeTraining => "`ldlf train --resume`",
        Subject::ExtractFeatures => "`ldlf features`",
        Subject::Evaluations => "`ldlf cv`, `ldlf sweep` or `ldlf reproduce`",
        Subject::ResultsFolder => "`ldlf cv --results`",
        Subject::SweepTable => "`ldlf sweep --out`",
    };
    word.to_string()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    /// The subjects that are options of a command.
    const OPTIONS: [Subject; 29] = [
        Subject::Format,
        Subject::Labels,
        Subject::LabelColumn,
        Subject::Sigma,
        Subject::LabelValues,
        Subject::Features,
        Subject::Categories,
        Subject::Numeric,
        Subject::Dates,
        Subject::Ignore,
        Subject::SampleWeights,
        Subject::SplitColumn,
        Subject::Group,
        Subject::ImageColumn,
        Subject::Votes,
        Subject::Long,
        Subject::WeightByVotes,
        Subject::WeighAnnotators,
        Subject::MissingLabels,
        Subject::Strict,
        Subject::Table,
        Subject::SkipBadImages,
        Subject::Keep,
        Subject::BadRows,
        Subject::Seed,
        Subject::Overwrite,
        Subject::By,
        Subject::OutOfFold,
        Subject::Calibrate,
    ];

    #[test]
    fn every_option_that_errors_name_is_an_option_of_a_command() {
        let cli = Cli::command();
        let known: Vec<String> = cli
            .get_subcommands()
            .flat_map(|command| command.get_arguments())
            .filter_map(|argument| argument.get_long().map(|long| format!("--{long}")))
            .collect();
        for subject in OPTIONS {
            let word = on_the_command_line(&subject);
            let option = word.split(' ').next().unwrap_or_default();
            assert!(known.iter().any(|long| long == option), "{option} is no option of any command");
        }
    }
}
