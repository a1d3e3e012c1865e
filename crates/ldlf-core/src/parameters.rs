//! Parameters, declared once: name, default, range and a line of help stand in one place, and the command line,
//! Python and the documentation derive from it.
//!
//! A learner writes
//!
//! ```
//! ldlf_core::parameters! {
//!     /// What `example` can be told.
//!     pub struct ExampleParameters {
//!         /// Number of trees.
//!         trees: usize = 5, at_least 1;
//!         /// Share of inputs that are dropped at each step.
//!         dropout: f64 = 0.2, at_least 0, below 1;
//!         /// Largest number of seconds, or none.
//!         time: Option<f64> = None, above 0;
//!     }
//! }
//! use ldlf_core::Settings;
//! let parameters = ExampleParameters::from_settings(&Settings::parse(["trees=7"])?)?;
//! assert_eq!((parameters.trees, parameters.dropout), (7, 0.2));
//! let error = ExampleParameters::from_settings(&Settings::parse(["trees=0"])?).unwrap_err();
//! assert_eq!(error.to_string(), "trees must be at least 1, got 0");
//! # Ok::<(), ldlf_core::Error>(())
//! ```

use serde::{Deserialize, Serialize};
pub use serde_json::Value;

use crate::{Error, Result};

/// Names with values, in order: what `--set` gives and what a model file records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(pub serde_json::Map<String, Value>);

impl Settings {
    /// No settings: every default holds.
    pub fn new() -> Self {
        Settings::default()
    }

    /// Reads `name=value` pairs. Numbers, `true`, `false` and `none` are recognised; the rest is text.
    pub fn parse<S: AsRef<str>>(pairs: impl IntoIterator<Item = S>) -> Result<Self> {
        let mut settings = Settings::new();
        for pair in pairs {
            let pair = pair.as_ref();
            let Some((name, text)) = pair.split_once('=') else {
                return Err(Error::usage(format!("a setting reads name=value, got {pair:?}")));
            };
            settings.set(name.trim(), parse_value(text.trim()));
        }
        Ok(settings)
    }

    /// Sets one value, replacing an earlier one.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_string(), value.into());
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// These settings, with those of `over` in their place where both have one.
    pub fn overridden_by(mut self, over: &Settings) -> Self {
        self.0.extend(over.0.iter().map(|(name, value)| (name.clone(), value.clone())));
        self
    }
}

/// A value as one writes it on a command line: a number, `true`, `false`, `none`, or else text.
pub fn parse_value(text: &str) -> Value {
    match text {
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        "none" => return Value::Null,
        _ => {}
    }
    if let Ok(whole) = text.replace('_', "").parse::<i64>() {
        return Value::from(whole);
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Value::from(number),
        _ => Value::from(text),
    }
}

/// A value as one writes it on a command line; the inverse of [`parse_value`].
pub fn show_value(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

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

#[allow(missing_docs, reason = "the words of the parameters! macro; each is the variant of the same name")]
impl Bound {
    pub fn at_least(limit: f64) -> Self {
        Bound::AtLeast(limit)
    }
    pub fn at_most(limit: f64) -> Self {
        Bound::AtMost(limit)
    }
    pub fn above(limit: f64) -> Self {
        Bound::Above(limit)
    }
    pub fn below(limit: f64) -> Self {
        Bound::Below(limit)
    }
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
    /// What `--set` and Python call it.
    pub name: &'static str,
    /// What it takes.
    #[serde(flatten)]
    pub kind: Kind,
    /// Whether `none` is allowed.
    pub optional: bool,
    /// What holds when it is not set.
    pub default: Value,
    /// Its limits.
    pub bounds: Vec<Bound>,
    /// What it does, in a line.
    pub help: String,
}

impl Parameter {
    /// What is allowed, in words: `a whole number of at least 1`.
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
        if self.optional { format!("{text}, or none") } else { text }
    }
}

/// A Rust type that can be a parameter.
pub trait ParameterType: Sized {
    /// What the type takes.
    fn kind() -> Kind;
    /// Whether `none` is allowed.
    const OPTIONAL: bool = false;
    /// The value as settings hold it.
    fn to_value(&self) -> Value;
    /// The value from settings, if it is of the right kind.
    fn from_value(value: &Value) -> Option<Self>;
}

impl ParameterType for usize {
    fn kind() -> Kind {
        Kind::Integer
    }
    fn to_value(&self) -> Value {
        Value::from(*self as u64)
    }
    fn from_value(value: &Value) -> Option<Self> {
        // A whole number may arrive as 5.0 from a sweep or from Python.
        match value.as_u64() {
            Some(whole) => usize::try_from(whole).ok(),
            None => {
                value.as_f64().filter(|x| x.fract() == 0.0 && (0.0..9e15).contains(x)).map(|x| x as usize)
            }
        }
    }
}

impl ParameterType for f64 {
    fn kind() -> Kind {
        Kind::Number
    }
    fn to_value(&self) -> Value {
        Value::from(*self)
    }
    fn from_value(value: &Value) -> Option<Self> {
        value.as_f64()
    }
}

impl ParameterType for bool {
    fn kind() -> Kind {
        Kind::Flag
    }
    fn to_value(&self) -> Value {
        Value::from(*self)
    }
    fn from_value(value: &Value) -> Option<Self> {
        value.as_bool()
    }
}

impl ParameterType for String {
    fn kind() -> Kind {
        Kind::Text
    }
    fn to_value(&self) -> Value {
        Value::from(self.as_str())
    }
    fn from_value(value: &Value) -> Option<Self> {
        // A file may well be called 2024 or true.
        match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            _ => None,
        }
    }
}

impl<T: ParameterType> ParameterType for Option<T> {
    fn kind() -> Kind {
        T::kind()
    }
    const OPTIONAL: bool = true;
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_value)
    }
    fn from_value(value: &Value) -> Option<Self> {
        if value.is_null() { Some(None) } else { T::from_value(value).map(Some) }
    }
}

/// Checks one value against its declaration; used by [`parameters!`](mod@crate::parameters).
#[doc(hidden)]
pub fn read_parameter<T: ParameterType>(declared: &Parameter, value: &Value) -> Result<T> {
    let refuse = |must: String| Err(Error::parameter(declared.name, must, show_value(value)));
    if let Some(number) = value.as_f64()
        && let Some(broken) = declared.bounds.iter().find(|bound| !bound.holds(number))
    {
        return refuse(broken.to_string());
    }
    match T::from_value(value) {
        Some(read) => Ok(read),
        None => refuse(declared.allowed()),
    }
}

/// Refuses names that nobody declared; used by [`parameters!`](mod@crate::parameters).
#[doc(hidden)]
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

/// Declares a struct of parameters with defaults, limits and help; see the [module](mod@crate::parameters).
#[macro_export]
macro_rules! parameters {
    (
        $(#[$outer:meta])*
        $visibility:vis struct $name:ident {
            $(
                $(#[doc = $help:literal])+
                $field:ident : $type:ty = $default:expr $(, $bound:ident $limit:literal)* ;
            )*
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq)]
        $visibility struct $name {
            $( $(#[doc = $help])+ pub $field: $type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }

        impl $name {
            /// Every parameter with its default, limits and help.
            pub fn declared() -> Vec<$crate::parameters::Parameter> {
                vec![ $( $crate::parameters::Parameter {
                    name: stringify!($field),
                    kind: <$type as $crate::parameters::ParameterType>::kind(),
                    optional: <$type as $crate::parameters::ParameterType>::OPTIONAL,
                    default: { let value: $type = $default; $crate::parameters::ParameterType::to_value(&value) },
                    bounds: vec![ $( $crate::parameters::Bound::$bound($limit as f64) ),* ],
                    help: [ $( $help ),+ ].map(str::trim).join(" "),
                } ),* ]
            }

            /// Reads settings over the defaults: unknown names and values out of range are refused in a sentence.
            #[allow(unused_mut, unused_variables, reason = "a learner may have no parameters")]
            pub fn from_settings(settings: &$crate::Settings) -> $crate::Result<Self> {
                let declared = Self::declared();
                $crate::parameters::refuse_unknown(settings, &declared)?;
                let mut read = Self::default();
                let mut specs = declared.iter();
                $(
                    let spec = specs.next().expect("declared() lists every field in order");
                    if let Some(value) = settings.get(spec.name) {
                        read.$field = $crate::parameters::read_parameter(spec, value)?;
                    }
                )*
                Ok(read)
            }

            /// Every parameter with its value, in the order of declaration.
            #[allow(unused_mut, reason = "a learner may have no parameters")]
            pub fn to_settings(&self) -> $crate::Settings {
                let mut settings = $crate::Settings::new();
                $( settings.set(stringify!($field), $crate::parameters::ParameterType::to_value(&self.$field)); )*
                settings
            }
        }
    };
}

/// Declares an enum whose variants are the words that a parameter takes.
///
/// ```
/// ldlf_core::choices! {
///     /// How the step length changes.
///     pub enum Schedule {
///         /// It does not.
///         Constant = "constant",
///         /// Half a cosine down to zero.
///         Cosine = "cosine",
///     }
/// }
/// use ldlf_core::parameters::ParameterType;
/// assert_eq!(Schedule::from_value(&"cosine".into()), Some(Schedule::Cosine));
/// ```
#[macro_export]
macro_rules! choices {
    (
        $(#[$outer:meta])*
        $visibility:vis enum $name:ident { $( $(#[$inner:meta])* $variant:ident = $word:literal ),+ $(,)? }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name { $( $(#[$inner])* $variant ),+ }

        impl $crate::parameters::ParameterType for $name {
            fn kind() -> $crate::parameters::Kind {
                $crate::parameters::Kind::Choice { choices: vec![ $( $word ),+ ] }
            }
            fn to_value(&self) -> $crate::Value {
                $crate::Value::from(match self { $( $name::$variant => $word ),+ })
            }
            fn from_value(value: &$crate::Value) -> Option<Self> {
                match value.as_str()? { $( $word => Some($name::$variant), )+ _ => None }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    choices! {
        /// Words.
        pub enum Word {
            /// First.
            One = "one",
            /// Second.
            Two = "two",
        }
    }

    parameters! {
        /// A sample.
        pub struct Sample {
            /// Number of trees.
            trees: usize = 5, at_least 1;
            /// Share that is
            /// dropped.
            dropout: f64 = 0.5, at_least 0, below 1;
            /// A word.
            word: Word = Word::One;
            /// Seconds.
            seconds: Option<f64> = None, above 0;
            /// A flag.
            bias: bool = true;
        }
    }

    fn refusal(setting: &str) -> String {
        Sample::from_settings(&Settings::parse([setting]).unwrap()).unwrap_err().to_string()
    }

    #[test]
    fn a_bad_parameter_is_one_sentence() {
        assert_eq!(refusal("trees=0"), "trees must be at least 1, got 0");
        assert_eq!(refusal("trees=-3"), "trees must be at least 1, got -3");
        assert_eq!(refusal("trees=2.5"), "trees must be a whole number at least 1, got 2.5");
        assert_eq!(refusal("trees=many"), "trees must be a whole number at least 1, got many");
        assert_eq!(refusal("dropout=1"), "dropout must be below 1, got 1");
        assert_eq!(refusal("dropout=nan"), "dropout must be a number at least 0 and below 1, got nan");
        assert_eq!(refusal("word=three"), "word must be one of one, two, got three");
        assert_eq!(refusal("seconds=0"), "seconds must be above 0, got 0");
        assert_eq!(refusal("bias=1"), "bias must be true or false, got 1");
        assert_eq!(refusal("tree=3"), "no parameter is called \"tree\"; did you mean trees?");
    }

    #[test]
    fn settings_survive_the_way_there_and_back() {
        let settings = Settings::parse(["trees=1_000", "word=two", "seconds=none", "bias=false"]).unwrap();
        let sample = Sample::from_settings(&settings).unwrap();
        assert_eq!(sample, Sample { trees: 1000, word: Word::Two, bias: false, ..Sample::default() });
        assert_eq!(Sample::from_settings(&sample.to_settings()).unwrap(), sample);
    }

    #[test]
    fn help_runs_over_lines() {
        assert_eq!(Sample::declared()[1].help, "Share that is dropped.");
    }
}
