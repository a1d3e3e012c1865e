//! Names with values, as a command line, a model file or Python gives them.

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

impl<'a> FromIterator<(&'a str, Value)> for Settings {
    fn from_iter<I: IntoIterator<Item = (&'a str, Value)>>(pairs: I) -> Self {
        Settings(pairs.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
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
