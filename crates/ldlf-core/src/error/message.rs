//! Sentences that name things which every front end calls otherwise.

use std::fmt;
use std::ops::Add;

/// Something that a user sets or calls, whatever a front end calls it.
///
/// There is no variant for "something else", so that a new subject does not compile until every front end has a word for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The format of a file.
    Format,
    /// The columns of a distribution.
    Labels,
    /// The column of one ordered label per row.
    LabelColumn,
    /// The width of the distribution around one ordered label.
    Sigma,
    /// The numbers that the labels stand for.
    LabelValues,
    /// The columns of features.
    Features,
    /// The columns of categories.
    Categories,
    /// The columns of numbers.
    Numeric,
    /// The columns of dates.
    Dates,
    /// The columns that are left out.
    Ignore,
    /// The column of weights.
    SampleWeights,
    /// The column that says which part a row belongs to.
    SplitColumn,
    /// The column whose equal values belong together.
    Group,
    /// The column that names the image of each row.
    ImageColumn,
    /// The file of votes beside a table.
    Votes,
    /// The columns of a table with one vote per line.
    Long,
    /// Weighting rows by their number of votes.
    WeightByVotes,
    /// Weighting votes by the reliability of their annotators.
    WeighAnnotators,
    /// What to do with rows of which a label is missing.
    MissingLabels,
    /// Whether labels that need normalising are refused.
    Strict,
    /// The table beside a folder of images.
    Table,
    /// Leaving out rows whose image is bad.
    SkipBadImages,
    /// Columns that pass through to the predictions.
    Keep,
    /// Going on past rows that cannot be read.
    BadRows,
    /// The seed of a training.
    Seed,
    /// The permission to replace an output that exists.
    Overwrite,
    /// The column whose values divide rows into subgroups.
    By,
    /// The table of out-of-fold predictions.
    OutOfFold,
    /// What holds out rows that tell how far predictions are off.
    Calibrate,
    /// A parameter of a learner, by its name.
    Parameter(&'static str),
    /// A device that needs a build of its own, by its name.
    DeviceBuild(&'static str),
    /// The list of all learners.
    Learners,
    /// Resuming from a checkpoint.
    ResumeTraining,
    /// Making a table of features from images.
    ExtractFeatures,
    /// What evaluates learners and reports the results.
    Evaluations,
    /// What writes the results of an evaluation into a folder.
    ResultsFolder,
    /// What writes a table of a search over parameters.
    SweepTable,
}

impl fmt::Display for Subject {
    /// As this library calls it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = match self {
            Subject::Format => "format",
            Subject::Labels => "labels",
            Subject::LabelColumn => "label_column",
            Subject::Sigma => "spread",
            Subject::LabelValues => "label_values",
            Subject::Features => "features",
            Subject::Categories => "categories",
            Subject::Numeric => "numeric",
            Subject::Dates => "dates",
            Subject::Ignore => "ignore",
            Subject::SampleWeights => "sample_weights",
            Subject::SplitColumn => "split_column",
            Subject::Group => "group",
            Subject::ImageColumn => "image_column",
            Subject::Votes => "votes",
            Subject::Long => "long",
            Subject::WeightByVotes => "weight_by_votes",
            Subject::WeighAnnotators => "weigh_annotators",
            Subject::MissingLabels => "missing_labels",
            Subject::Strict => "strict",
            Subject::Table => "images::join",
            Subject::SkipBadImages => "BadImages::Skip",
            Subject::Keep => "`keep`",
            Subject::BadRows => "`tolerant`",
            Subject::Seed => "seed",
            Subject::Overwrite => "Overwrite::Yes",
            Subject::By => "by",
            Subject::OutOfFold => "out_of_fold",
            Subject::Calibrate => "TrainedModel::fit_calibrated",
            // Its sentences read as the documentation writes them: trees must be at least 1.
            Subject::Parameter(name) => return f.write_str(name),
            Subject::DeviceBuild(name) => return write!(f, "the feature `{name}`"),
            Subject::Learners => "registry::learners",
            Subject::ResumeTraining => "FitContext::resume",
            Subject::ExtractFeatures => "FeatureNetwork",
            Subject::Evaluations => "evaluate",
            Subject::ResultsFolder => "results::save",
            Subject::SweepTable => "sweep",
        };
        write!(f, "`{field}`")
    }
}

/// A piece of a [`Message`].
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Words.
    Text(String),
    /// Something that the front end has the word for.
    Subject(Subject),
}

/// A sentence, or a part of one; see [`message!`](crate::message!).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message(Vec<Piece>);

impl Message {
    /// The sentence in the words of a front end.
    pub fn worded(&self, word: &dyn Fn(&Subject) -> String) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Subject(subject) => word(subject),
        };
        self.0.iter().map(piece).collect()
    }

    /// The pieces in their order.
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// What it names that a user sets or calls.
    pub fn subjects(&self) -> impl Iterator<Item = Subject> + '_ {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Subject(subject) => Some(*subject),
            Piece::Text(_) => None,
        })
    }
}

impl fmt::Display for Message {
    /// In the words of this library.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(&Subject::to_string))
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Message(vec![Piece::Text(text)])
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        text.to_string().into()
    }
}

impl From<Subject> for Message {
    fn from(subject: Subject) -> Self {
        Message(vec![Piece::Subject(subject)])
    }
}

impl<M: Into<Message>> Add<M> for Message {
    type Output = Message;

    fn add(mut self, further: M) -> Message {
        self.0.extend(further.into().0);
        self
    }
}

/// A [`Message`](crate::error::Message) of texts and subjects. Texts may name variables, as in `format!`.
///
/// ```
/// use ldlf_core::error::Subject;
/// use ldlf_core::message;
/// let label = 3;
/// let text = message!["the label {label} lies outside; widen ", Subject::LabelValues];
/// assert_eq!(text.worded(&|_| "--label-values".into()), "the label 3 lies outside; widen --label-values");
/// ```
#[macro_export]
macro_rules! message {
    (@from $so_far:expr $(,)?) => { $so_far };
    (@from $so_far:expr, $text:literal $($rest:tt)*) => { $crate::message!(@from $so_far + format!($text) $($rest)*) };
    (@from $so_far:expr, $piece:expr $(, $($rest:tt)*)?) => {
        $crate::message!(@from $so_far + $piece $(, $($rest)*)?)
    };
    ($($pieces:tt)*) => { $crate::message!(@from $crate::error::Message::default(), $($pieces)*) };
}
