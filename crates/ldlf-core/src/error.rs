//! One error type for the whole project: what went wrong, where, and what to do about it.
//!
//! An error carries data, and every front end words it for its users: a [`Place`] (file, line, column), a [`Fault`] (parameter,
//! allowed, got), a sentence and a remedy whose [`Subject`]s the command line calls by its options, Python by its arguments, and
//! `Display` by the fields of this library.
//!
//! ```
//! use ldlf_core::error::{Place, Subject};
//! use ldlf_core::{Error, message};
//! let place = Place::file("movies.csv").line(18).column("rating_3");
//! let error = Error::data("\"n/a\" is not a number").at(place).with_remedy(message!["leave it out with ", Subject::Ignore]);
//! assert_eq!(
//!     error.to_string(),
//!     "movies.csv line 18, column \"rating_3\": \"n/a\" is not a number; leave it out with `ignore`"
//! );
//! assert!(error.worded(&|_| "--ignore".into()).ends_with("leave it out with --ignore"));
//! assert_eq!(error.place().and_then(|place| place.line), Some(18));
//! ```

mod message;
mod nearest;
mod place;

use std::path::{Path, PathBuf};

pub use self::message::{Message, Piece, Subject};
pub use self::nearest::nearest;
pub use self::place::{Column, Place, shown};

/// The result of anything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong. The [kind](Error::kind) decides the exit code of the command line and the exception in Python.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call that cannot work whatever the data: a bad parameter, an unknown learner, an output that exists.
    #[error("{0}")]
    Usage(Box<Detail>),
    /// Data that cannot be used; the error names the place.
    #[error("{0}")]
    Data(Box<Detail>),
    /// A model file or checkpoint that cannot be used.
    #[error("{0}")]
    ModelFile(Box<Detail>),
    /// A fit that failed; the error says what to try.
    #[error("{0}")]
    Training(Box<Detail>),
    /// The operating system refused: no space, no permission.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The file or folder concerned.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The user stopped the run before there was anything to keep.
    #[error("interrupted")]
    Interrupted,
}

/// The kinds of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// [`Error::Usage`].
    Usage,
    /// [`Error::Data`].
    Data,
    /// [`Error::ModelFile`].
    ModelFile,
    /// [`Error::Training`].
    Training,
    /// [`Error::Io`].
    Io,
    /// [`Error::Interrupted`].
    Interrupted,
}

/// What an error is about, where it is, and what to do about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Detail {
    place: Place,
    fault: Option<Fault>,
    message: Message,
    remedy: Option<Message>,
    note: Option<Message>,
}

/// A value that a parameter does not take.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The parameter's name.
    pub parameter: &'static str,
    /// What it takes: `at least 1`.
    pub allowed: String,
    /// What it was given.
    pub got: String,
}

impl Error {
    /// A [`Error::Usage`] from anything that reads as a sentence.
    pub fn usage(message: impl Into<Message>) -> Self {
        Error::Usage(Detail::boxed(message))
    }

    /// A [`Error::Data`] from anything that reads as a sentence.
    pub fn data(message: impl Into<Message>) -> Self {
        Error::Data(Detail::boxed(message))
    }

    /// A [`Error::ModelFile`] from anything that reads as a sentence.
    pub fn model_file(message: impl Into<Message>) -> Self {
        Error::ModelFile(Detail::boxed(message))
    }

    /// A [`Error::Training`] from anything that reads as a sentence.
    pub fn training(message: impl Into<Message>) -> Self {
        Error::Training(Detail::boxed(message))
    }

    /// An [`Error::Io`] about `path`.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Error::Io { path: path.as_ref().to_path_buf(), source }
    }

    /// A [`Error::Usage`] about a value that a parameter does not take.
    ///
    /// ```
    /// let error = ldlf_core::Error::parameter("trees", "at least 1", 0);
    /// assert_eq!(error.to_string(), "trees must be at least 1, got 0");
    /// assert_eq!(error.fault().map(|fault| fault.parameter), Some("trees"));
    /// ```
    pub fn parameter(name: &'static str, allowed: impl Into<String>, got: impl std::fmt::Display) -> Self {
        let fault = Fault { parameter: name, allowed: allowed.into(), got: got.to_string() };
        let message = Message::from(Subject::Parameter(name))
            + format!(" must be {}, got {}", fault.allowed, fault.got);
        Error::Usage(Box::new(Detail { message, fault: Some(fault), ..Detail::default() }))
    }

    /// A [`Error::Usage`] about a name that is not among the `known`: the remedy is the nearest of them, or else the list.
    ///
    /// ```
    /// let error = ldlf_core::Error::unknown("learner", "sldfl", &["mean", "sldlf"]);
    /// assert_eq!(error.to_string(), "no learner is called \"sldfl\"; did you mean sldlf?");
    /// ```
    pub fn unknown(what: &str, name: &str, known: &[&str]) -> Self {
        let remedy = match nearest(name, known) {
            Some(near) => format!("did you mean {near}?"),
            None if known.is_empty() => "there are none".to_string(),
            None => format!("there are {}", known.join(", ")),
        };
        Error::usage(format!("no {what} is called {name:?}")).with_remedy(remedy)
    }

    /// Says where it is. A place that is already set stays: the innermost is the closest.
    #[must_use]
    pub fn at(self, place: Place) -> Self {
        self.with(|detail| detail.place = std::mem::take(&mut detail.place).within(place))
    }

    /// Says in which file it is, unless that is already set.
    #[must_use]
    pub fn in_file(self, path: impl AsRef<Path>) -> Self {
        self.at(Place::file(path))
    }

    /// Says in which dataset or array it is, unless that is already set.
    #[must_use]
    pub fn in_data(self, name: impl Into<String>) -> Self {
        self.at(Place::data(name))
    }

    /// Says which learner it is about; of a learner within another, the outer one.
    #[must_use]
    pub fn of_learner(self, name: impl Into<String>) -> Self {
        self.at(Place { learner: Some(name.into()), ..Place::default() })
    }

    /// Says what to do about it; replaces an earlier remedy.
    #[must_use]
    pub fn with_remedy(self, remedy: impl Into<Message>) -> Self {
        let remedy = remedy.into();
        self.with(|detail| detail.remedy = Some(remedy))
    }

    /// Offers a further remedy beside the one there is.
    #[must_use]
    pub fn or_remedy(self, further: impl Into<Message>) -> Self {
        let further = further.into();
        self.with(|detail| {
            detail.remedy = Some(match detail.remedy.take() {
                Some(remedy) => remedy + ", or " + further,
                None => further,
            });
        })
    }

    /// Adds a note, in brackets at the end.
    #[must_use]
    pub fn with_note(self, note: impl Into<Message>) -> Self {
        let note = note.into();
        self.with(|detail| detail.note = Some(note))
    }

    /// The same error as one of another kind, such as `Error::Data` for a refusal of memory that a file is the reason of. What the
    /// system refused and what the user stopped stay as they are.
    #[must_use]
    pub fn recast(self, kind: fn(Box<Detail>) -> Error) -> Self {
        match self {
            Error::Usage(detail)
            | Error::Data(detail)
            | Error::ModelFile(detail)
            | Error::Training(detail) => kind(detail),
            other => other,
        }
    }

    /// Its kind.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Usage(_) => ErrorKind::Usage,
            Error::Data(_) => ErrorKind::Data,
            Error::ModelFile(_) => ErrorKind::ModelFile,
            Error::Training(_) => ErrorKind::Training,
            Error::Io { .. } => ErrorKind::Io,
            Error::Interrupted => ErrorKind::Interrupted,
        }
    }

    /// Where it is, as far as that is known.
    pub fn place(&self) -> Option<&Place> {
        self.detail().map(|detail| &detail.place)
    }

    /// The value that a parameter does not take, if that is the trouble.
    pub fn fault(&self) -> Option<&Fault> {
        self.detail()?.fault.as_ref()
    }

    /// What to do about it.
    pub fn remedy(&self) -> Option<&Message> {
        self.detail()?.remedy.as_ref()
    }

    /// All that the error says, as one sentence whose subjects are not worded yet.
    pub fn sentence(&self) -> Message {
        match self.detail() {
            Some(detail) => detail.sentence(),
            None => self.to_string().into(),
        }
    }

    /// The sentence in the words of a front end.
    pub fn worded(&self, word: &dyn Fn(&Subject) -> String) -> String {
        self.sentence().worded(word)
    }

    fn detail(&self) -> Option<&Detail> {
        match self {
            Error::Usage(detail)
            | Error::Data(detail)
            | Error::ModelFile(detail)
            | Error::Training(detail) => Some(detail),
            Error::Io { .. } | Error::Interrupted => None,
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Detail)) -> Self {
        if let Error::Usage(detail)
        | Error::Data(detail)
        | Error::ModelFile(detail)
        | Error::Training(detail) = &mut self
        {
            change(detail);
        }
        self
    }
}

impl From<ldlf_math::Error> for Error {
    fn from(error: ldlf_math::Error) -> Self {
        match error {
            ldlf_math::Error::Shape(message) => Error::data(message),
            other => Error::usage(other.to_string()),
        }
    }
}

impl Detail {
    fn boxed(message: impl Into<Message>) -> Box<Self> {
        Box::new(Detail { message: message.into(), ..Detail::default() })
    }

    /// `place: message; remedy (note)`, the one form of all sentences.
    fn sentence(&self) -> Message {
        let mut sentence = Message::from(self.place.before_a_sentence()) + self.message.clone();
        if let Some(remedy) = &self.remedy {
            sentence = sentence + "; " + remedy.clone();
        }
        if let Some(note) = &self.note {
            sentence = sentence + " (" + note.clone() + ")";
        }
        sentence
    }
}

impl std::fmt::Display for Detail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.sentence().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message;

    #[test]
    fn a_sentence_is_place_message_remedy_and_note() {
        let error = Error::data("the label 3 lies outside")
            .at(Place::file("ages.csv").row(2))
            .with_remedy(message!["widen ", Subject::LabelValues])
            .or_remedy("leave the row out")
            .with_note("the labels are 0, 1");
        assert_eq!(
            error.to_string(),
            "ages.csv row 2: the label 3 lies outside; widen `label_values`, or leave the row out (the labels are 0, 1)"
        );
        assert_eq!(
            error.remedy().map(|remedy| remedy.worded(&|_| "--label-values".into())),
            Some("widen --label-values, or leave the row out".to_string())
        );
    }

    #[test]
    fn a_learner_and_its_fold_stand_before_the_place_of_the_data() {
        let place = Place { learner: Some("sldlf".into()), fold: Some(3), ..Place::default() };
        let error = Error::data("every label is 0").in_data("movies").at(place);
        assert_eq!(error.to_string(), "sldlf, fold 3: movies: every label is 0");
        assert_eq!(error.kind(), ErrorKind::Data);
    }

    #[test]
    fn the_innermost_place_stays() {
        let error =
            Error::data("cut short").at(Place::file("votes.npy").row(1)).at(Place::file("t.csv").line(7));
        assert_eq!(error.to_string(), "votes.npy row 1: cut short");
        let error = Error::data("cut short").at(Place::default().column("a")).in_file("t.csv");
        assert_eq!(error.to_string(), "t.csv, column \"a\": cut short");
    }

    #[test]
    fn another_kind_keeps_what_the_error_knows() {
        let error = Error::parameter("depth", "at most 30", 31).recast(Error::ModelFile).in_file("m.ldlf");
        assert_eq!((error.kind(), error.fault().map(|f| f.parameter)), (ErrorKind::ModelFile, Some("depth")));
        assert_eq!(error.to_string(), "m.ldlf: depth must be at most 30, got 31");
        assert_eq!(Error::Interrupted.recast(Error::Data).kind(), ErrorKind::Interrupted);
    }

    #[test]
    fn a_name_that_is_near_none_is_answered_with_all() {
        let sentence = |known: &[&str]| Error::unknown("generator", "spiral", known).to_string();
        assert_eq!(
            sentence(&["mixture", "ages"]),
            "no generator is called \"spiral\"; there are mixture, ages"
        );
        assert_eq!(sentence(&[]), "no generator is called \"spiral\"; there are none");
    }
}
