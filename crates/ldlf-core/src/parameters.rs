//! Parameters, declared once: name, default, range and a line of help stand in one place, and the command line, Python, the
//! typed builders and the documentation derive from it.
//!
//! A learner writes
//!
//! ```
//! # use ldlf_core::{Algorithm, Dataset, Facts, FitContext, Fitted, Model, Result, Settings, mean::Mean};
//! # use ldlf_core::stored::{ModelShape, Parts};
//! use ldlf_core::parameters::{Auto, ParameterSet};
//!
//! ldlf_core::parameters! {
//!     /// Parameters of `example`.
//!     pub struct ExampleParameters, builder ExampleParams for Example {
//!         /// Number of trees.
//!         trees: usize = 5, at_least 1, known_as "n_estimators";
//!         /// Maximum depth, or none for no limit.
//!         max_depth: Option<usize> = None, at_least 1;
//!         /// Fraction of the inputs dropped at each step; auto is 0.1 from a hundred features on.
//!         dropout: Auto<f64> = Auto::Auto, at_least 0, below 1;
//!     }
//! }
//!
//! /// An example.
//! pub struct Example;
//! # impl Algorithm for Example {
//! #     type Parameters = ExampleParameters;
//! #     const FACTS: Facts = Facts::new("example", "an example", "");
//! #     fn fit(_: &ExampleParameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
//! #         Mean::fit(&Default::default(), data, context)
//! #     }
//! #     fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
//! #         Mean::load(parts, shape)
//! #     }
//! # }
//!
//! let learner = Example::params().trees(7).max_depth(3).dropout(0.2).check()?;
//! assert_eq!(learner.parameters().to_settings(), Settings::parse(["trees=7", "max_depth=3", "dropout=0.2"])?);
//! let error = Example::params().trees(0).check().unwrap_err();
//! assert_eq!(error.to_string(), "trees must be at least 1, got 0");
//! # Ok::<(), ldlf_core::Error>(())
//! ```

mod declaration;
mod declare;
mod settings;
mod types;

pub use declaration::{Bound, Kind, Mark, Parameter, named, refuse_unknown};
pub use settings::{Settings, Value, parse_value, show_value};
pub use types::{Auto, ParameterType};

use crate::Result;

/// A struct of parameters, as [`parameters!`](crate::parameters!) declares it. Two of them together are one as well.
pub trait ParameterSet: Clone + Default + std::fmt::Debug + PartialEq + Send + Sync + 'static {
    /// Every parameter with its default, limits and help.
    fn declared() -> Vec<Parameter>;

    /// Takes over those settings whose names are declared here; a value out of range is refused in a sentence.
    fn set(&mut self, settings: &Settings) -> Result<()>;

    /// Every parameter with its value, in the order of declaration.
    fn to_settings(&self) -> Settings;

    /// Checks the limits of every value.
    fn check(&self) -> Result<()>;

    /// Reads settings over these values: unknown names and values out of range are refused in a sentence.
    fn with_settings(mut self, settings: &Settings) -> Result<Self> {
        refuse_unknown(settings, &Self::declared())?;
        self.set(settings)?;
        Ok(self)
    }

    /// Reads settings over the defaults.
    fn from_settings(settings: &Settings) -> Result<Self> {
        Self::default().with_settings(settings)
    }
}

impl<A: ParameterSet, B: ParameterSet> ParameterSet for (A, B) {
    fn declared() -> Vec<Parameter> {
        [A::declared(), B::declared()].concat()
    }

    fn set(&mut self, settings: &Settings) -> Result<()> {
        self.0.set(settings)?;
        self.1.set(settings)
    }

    fn to_settings(&self) -> Settings {
        self.0.to_settings().overridden_by(&self.1.to_settings())
    }

    fn check(&self) -> Result<()> {
        self.0.check()?;
        self.1.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{choices, parameters};

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
            trees: usize = 5, at_least 1, known_as "n_estimators";
            /// Fraction that is
            /// dropped.
            dropout: f64 = 0.5, at_least 0, below 1;
            /// A word.
            word: Word = Word::One;
            /// Seconds.
            seconds: Option<f64> = None, above 0;
            /// Number of units.
            units: Auto<usize> = Auto::Auto, at_least 1;
            /// A flag.
            bias: bool = true;
            /// A file.
            file: Option<String> = None;
        }
    }

    parameters! {
        /// What another part adds.
        pub struct More {
            /// Smoothing.
            smoothing: f64 = 0.0;
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
        assert_eq!(refusal("seconds=auto"), "seconds must be a number above 0, or none, got auto");
        assert_eq!(refusal("units=none"), "units must be a whole number at least 1, or auto, got none");
        assert_eq!(refusal("bias=1"), "bias must be true or false, got 1");
        assert_eq!(refusal("tree=3"), "no parameter is called \"tree\"; did you mean trees?");
    }

    #[test]
    fn typed_values_meet_the_same_limits_as_settings() {
        let refusal = |sample: Sample| sample.check().unwrap_err().to_string();
        assert_eq!(refusal(Sample::default().trees(0)), "trees must be at least 1, got 0");
        assert_eq!(refusal(Sample::default().dropout(1.0)), "dropout must be below 1, got 1");
        assert_eq!(refusal(Sample::default().seconds(-1.0)), "seconds must be above 0, got -1");
        assert_eq!(refusal(Sample::default().units(0)), "units must be at least 1, got 0");
        assert!(Sample::default().seconds(None).units(Auto::Auto).check().is_ok());
    }

    #[test]
    fn a_typed_value_that_is_no_number_is_refused() {
        let refusal = |sample: Sample| sample.check().unwrap_err().to_string();
        let allowed = "dropout must be a number at least 0 and below 1";
        assert_eq!(refusal(Sample::default().dropout(f64::NAN)), format!("{allowed}, got NaN"));
        let allowed = "seconds must be a number above 0, or none";
        assert_eq!(refusal(Sample::default().seconds(f64::INFINITY)), format!("{allowed}, got inf"));
        assert_eq!(
            More::default().smoothing(f64::NAN).check().unwrap_err().to_string(),
            "smoothing must be a number, got NaN"
        );
    }

    #[test]
    fn settings_survive_a_round_trip() {
        let settings = Settings::parse([
            "trees=1_000",
            "word=two",
            "seconds=none",
            "units=auto",
            "bias=false",
            "file=a",
        ])
        .unwrap();
        let sample = Sample::from_settings(&settings).unwrap();
        assert_eq!(sample, Sample::default().trees(1000).word(Word::Two).bias(false).file("a"));
        assert_eq!(Sample::from_settings(&sample.to_settings()).unwrap(), sample);
    }

    #[test]
    fn two_sets_together_share_out_their_settings() {
        let settings = Settings::parse(["smoothing=2", "trees=3"]).unwrap();
        let both = <(Sample, More)>::from_settings(&settings).unwrap();
        assert_eq!(both, (Sample::default().trees(3), More::default().smoothing(2.0)));
        let unknown = <(Sample, More)>::from_settings(&Settings::parse(["smoothin=2"]).unwrap()).unwrap_err();
        assert_eq!(unknown.to_string(), "no parameter is called \"smoothin\"; did you mean smoothing?");
    }

    #[test]
    fn help_runs_over_lines() {
        assert_eq!(Sample::declared()[1].help, "Fraction that is dropped.");
    }

    #[test]
    fn a_declaration_tells_the_name_in_scikit_learn() {
        let declared = Sample::declared();
        assert_eq!((declared[0].known_as, declared[1].known_as), (Some("n_estimators"), None));
    }

    #[test]
    fn a_choice_is_read_from_its_word() {
        assert_eq!("two".parse::<Word>().unwrap(), Word::Two);
        assert_eq!(Word::Two.to_string(), "two");
        assert_eq!("three".parse::<Word>().unwrap_err().to_string(), "\"three\" is not one of one, two");
    }
}

/// Words of [`choices!`](crate::choices) in JSON: `#[serde(with = "ldlf_core::parameters::as_word")]`.
pub mod as_word {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the word.
    pub fn serialize<T: Display, S: Serializer>(choice: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(choice)
    }

    /// Reads the word.
    pub fn deserialize<'de, T: FromStr<Err = crate::Error>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
