//! The Rust types that a parameter may have, and how settings hold their values.

use super::{Kind, Value};

/// A Rust type that can be a parameter.
pub trait ParameterType: Sized {
    /// What the type takes.
    fn kind() -> Kind;
    /// Whether `none` is allowed.
    const OPTIONAL: bool = false;
    /// Whether `auto` is allowed.
    const AUTO: bool = false;
    /// The value as settings hold it.
    fn to_value(&self) -> Value;
    /// The value from settings, if it is of the right kind.
    fn from_value(value: &Value) -> Option<Self>;
    /// The number that limits apply to, if it is one.
    fn number(&self) -> Option<f64> {
        None
    }
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
    fn number(&self) -> Option<f64> {
        Some(*self as f64)
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
    fn number(&self) -> Option<f64> {
        Some(*self)
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

/// `none` means no limit, or not at all.
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
    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(T::number)
    }
}

/// A value, or `auto`: the learner chooses it from the data or from the other parameters.
///
/// ```
/// use ldlf_core::parameters::Auto;
/// assert_eq!(Auto::from(3).unwrap_or(7), 3);
/// assert_eq!(Auto::Auto.unwrap_or(7), 7);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Auto<T> {
    /// The learner chooses.
    #[default]
    Auto,
    /// The caller chose.
    Given(T),
}

impl<T> Auto<T> {
    /// The given value, or none.
    pub fn given(self) -> Option<T> {
        match self {
            Auto::Auto => None,
            Auto::Given(value) => Some(value),
        }
    }

    /// The given value, or else what the learner takes.
    pub fn unwrap_or(self, chosen: T) -> T {
        self.given().unwrap_or(chosen)
    }

    /// Whether the learner chooses.
    pub fn is_auto(&self) -> bool {
        matches!(self, Auto::Auto)
    }
}

impl<T> From<T> for Auto<T> {
    fn from(value: T) -> Self {
        Auto::Given(value)
    }
}

/// The word that settings hold for [`Auto::Auto`].
const AUTO: &str = "auto";

impl<T: ParameterType> ParameterType for Auto<T> {
    fn kind() -> Kind {
        T::kind()
    }
    const AUTO: bool = true;
    fn to_value(&self) -> Value {
        match self {
            Auto::Auto => Value::from(AUTO),
            Auto::Given(value) => value.to_value(),
        }
    }
    fn from_value(value: &Value) -> Option<Self> {
        if value.as_str() == Some(AUTO) { Some(Auto::Auto) } else { T::from_value(value).map(Auto::Given) }
    }
    fn number(&self) -> Option<f64> {
        match self {
            Auto::Auto => None,
            Auto::Given(value) => value.number(),
        }
    }
}
