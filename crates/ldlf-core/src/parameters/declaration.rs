//! What is declared about one parameter, and the checks that follow from it.

use serde::Serialize;

use super::{ParameterType, Settings, Value, show_value};
use crate::{Error, Result};

/// A limit on a number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The limit itself is allowed.
    AtLeast(f64),
    /// The limit itself is allowed.
    AtMost(f64),
    /// The limit itself is not allowed.
    Above(f64),
    /// The limit itself is not allowed.
    Below(f64),
}

impl Bound {
    fn holds(self, x: f64) -> bool {
        match self {
            Bound::AtLeast(limit) => x >= limit,
            Bound::AtMost(limit) => x <= limit,
            Bound::Above(limit) => x > limit,
            Bound::Below(limit) => x < limit,
        }
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Bound::AtLeast(limit) => write!(f, "at least {limit}"),
            Bound::AtMost(limit) => write!(f, "at most {limit}"),
            Bound::Above(limit) => write!(f, "above {limit}"),
            Bound::Below(limit) => write!(f, "below {limit}"),
        }
    }
}

/// What may stand behind a default in [`parameters!`](crate::parameters!): limits, the name that scikit-learn has for the same
/// thing, and for which learner the default differs.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Mark {
    Bound(Bound),
    KnownAs(&'static str),
    Except,
}

#[allow(missing_docs, reason = "the words of the parameters! macro")]
impl Mark {
    pub fn at_least(limit: impl Into<f64>) -> Self {
        Mark::Bound(Bound::AtLeast(limit.into()))
    }
    pub fn at_most(limit: impl Into<f64>) -> Self {
        Mark::Bound(Bound::AtMost(limit.into()))
    }
    pub fn above(limit: impl Into<f64>) -> Self {
        Mark::Bound(Bound::Above(limit.into()))
    }
    pub fn below(limit: impl Into<f64>) -> Self {
        Mark::Bound(Bound::Below(limit.into()))
    }
    pub fn known_as(name: &'static str) -> Self {
        Mark::KnownAs(name)
    }
    pub fn except(_: &'static str) -> Self {
        Mark::Except
    }
}

/// What kind of value a parameter takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Flag,
    /// One of a few words.
    Choice {
        /// The words.
        choices: Vec<&'static str>,
    },
    /// Any text, such as the name of a file.
    Text,
}

/// One declared parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// What settings and Python call it.
    pub name: &'static str,
    /// What scikit-learn calls it, where it means the same under another name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_as: Option<&'static str>,
    /// What it takes.
    #[serde(flatten)]
    pub kind: Kind,
    /// Whether `none` is allowed: no limit, or not at all.
    pub optional: bool,
    /// Whether `auto` is allowed: the learner chooses.
    pub auto: bool,
    /// What holds when it is not set.
    pub default: Value,
    /// Its limits.
    pub bounds: Vec<Bound>,
    /// What it does, in a line.
    pub help: String,
}

impl Parameter {
    /// Declares a parameter of type `T`; used by [`parameters!`](crate::parameters!).
    #[doc(hidden)]
    pub fn new<T: ParameterType>(name: &'static str, default: &T, marks: &[Mark], help: &[&str]) -> Self {
        Parameter {
            name,
            known_as: marks
                .iter()
                .find_map(|mark| if let Mark::KnownAs(name) = mark { Some(*name) } else { None }),
            kind: T::kind(),
            optional: T::OPTIONAL,
            auto: T::AUTO,
            default: default.to_value(),
            bounds: marks
                .iter()
                .filter_map(|mark| if let Mark::Bound(bound) = mark { Some(*bound) } else { None })
                .collect(),
            help: help.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" "),
        }
    }

    /// What is allowed, in words: `a whole number at least 1`.
    pub fn allowed(&self) -> String {
        let mut text = match &self.kind {
            Kind::Integer => "a whole number".to_string(),
            Kind::Number => "a number".to_string(),
            Kind::Flag => "true or false".to_string(),
            Kind::Choice { choices } => format!("one of {}", choices.join(", ")),
            Kind::Text => "text".to_string(),
        };
        if !self.bounds.is_empty() {
            let bounds: Vec<String> = self.bounds.iter().map(Bound::to_string).collect();
            text = format!("{text} {}", bounds.join(" and "));
        }
        let words = [(self.optional, "none"), (self.auto, "auto")];
        words
            .iter()
            .filter(|(allowed, _)| *allowed)
            .fold(text, |text, (_, word)| format!("{text}, or {word}"))
    }

    /// The value of this parameter from settings, checked against the declaration.
    #[doc(hidden)]
    pub fn read<T: ParameterType>(&self, value: &Value) -> Result<T> {
        let got = || show_value(value);
        if let Some(broken) = value.as_f64().and_then(|number| self.broken(number)) {
            return Err(self.refuse(&broken.to_string(), &got()));
        }
        T::from_value(value).ok_or_else(|| self.refuse(&self.allowed(), &got()))
    }

    /// Checks a value that already has its type: what settings cannot hold (NaN, infinity) is refused as well.
    #[doc(hidden)]
    pub fn check<T: ParameterType>(&self, value: &T) -> Result<()> {
        let Some(number) = value.number() else { return Ok(()) };
        if !number.is_finite() {
            return Err(self.refuse(&self.allowed(), &number.to_string()));
        }
        match self.broken(number) {
            Some(broken) => Err(self.refuse(&broken.to_string(), &number.to_string())),
            None => Ok(()),
        }
    }

    fn broken(&self, number: f64) -> Option<Bound> {
        self.bounds.iter().copied().find(|bound| !bound.holds(number))
    }

    /// The one sentence about a bad value.
    fn refuse(&self, must: &str, got: &str) -> Error {
        Error::parameter(self.name, must, got)
    }
}

/// The declaration of a name, which must be declared; used by [`parameters!`](crate::parameters!).
#[doc(hidden)]
pub fn named<'a>(declared: &'a [Parameter], name: &str) -> &'a Parameter {
    declared.iter().find(|parameter| parameter.name == name).expect("declared() lists every field")
}

/// Refuses undeclared names.
pub fn refuse_unknown(settings: &Settings, declared: &[Parameter]) -> Result<()> {
    for name in settings.0.keys() {
        if !declared.iter().any(|parameter| parameter.name == name) {
            let names: Vec<&str> = declared.iter().map(|parameter| parameter.name).collect();
            let unknown = Error::unknown("parameter", name, &names);
            return Err(if names.is_empty() {
                unknown.with_remedy("there are none to set")
            } else {
                unknown
            });
        }
    }
    Ok(())
}
