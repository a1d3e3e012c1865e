//! Built-in data: every row depends on the seed and its number only, so that the first rows of a larger set are those of a
//! smaller one.

mod artificial;
mod mixture;

pub use artificial::{artificial, artificial_grid};
pub use mixture::{MixtureParameters, mixture};

use crate::parameters::{Parameter, ParameterSet};
use crate::{Dataset, Error, Result, Settings};

/// A generator of data.
#[derive(Clone, Copy)]
pub struct Generator {
    /// The name.
    pub name: &'static str,
    /// What it generates, in one line.
    pub help: &'static str,
    /// The default number of rows.
    pub rows: usize,
    /// Its options besides rows and seed.
    pub parameters: fn() -> Vec<Parameter>,
    /// Checks the options and generates the rows.
    pub generate: fn(rows: usize, seed: u64, options: &Settings) -> Result<Dataset>,
}

crate::parameters! {
    /// `artificial` has no parameters beside rows and seed.
    pub struct ArtificialParameters {}
}

/// Every generator.
pub const GENERATORS: [Generator; 2] = [
    Generator {
        name: "artificial",
        help: "three features and three labels, the smooth artificial set of Geng 2016",
        rows: 500,
        parameters: ArtificialParameters::declared,
        generate: |rows, seed, options| {
            ArtificialParameters::from_settings(options)?;
            artificial(rows, seed)
        },
    },
    Generator {
        name: "mixture",
        help: "mixtures of a few prototype distributions, any size, dense or sparse, with noise features",
        rows: 2000,
        parameters: MixtureParameters::declared,
        generate: |rows, seed, options| mixture(rows, &MixtureParameters::from_settings(options)?, seed),
    },
];

/// The data of the generator of that name.
///
/// ```
/// use ldlf_core::{Settings, generate};
/// let data = generate::named("mixture", 100, 0, &Settings::parse(["labels=4"])?)?;
/// assert_eq!((data.rows(), data.labels()), (100, 4));
/// # Ok::<(), ldlf_core::Error>(())
/// ```
pub fn named(name: &str, rows: usize, seed: u64, options: &Settings) -> Result<Dataset> {
    match GENERATORS.iter().find(|generator| generator.name == name) {
        Some(generator) => (generator.generate)(rows, seed, options),
        None => Err(Error::unknown("generator", name, &GENERATORS.map(|generator| generator.name))),
    }
}

/// Refuses a set without rows.
fn at_least_one_row(rows: usize) -> Result<()> {
    if rows == 0 { Err(Error::parameter("rows", "at least 1", 0)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generator_gives_the_same_rows_twice() {
        for generator in GENERATORS {
            let data = named(generator.name, 30, 5, &Settings::new()).unwrap();
            assert_eq!((data.rows(), data.name()), (30, generator.name));
            assert_eq!(data, named(generator.name, 30, 5, &Settings::new()).unwrap());
            assert_ne!(data, named(generator.name, 30, 6, &Settings::new()).unwrap());
            let longer = named(generator.name, 40, 5, &Settings::new()).unwrap();
            assert_eq!(longer.select(&(0..30).collect::<Vec<_>>()), data);
        }
    }

    #[test]
    fn what_cannot_be_made_is_refused_in_a_sentence() {
        let refusal = |name, rows, options: &[&str]| {
            named(name, rows, 0, &Settings::parse(options).unwrap()).unwrap_err().to_string()
        };
        assert_eq!(refusal("mixtures", 5, &[]), "no generator is called \"mixtures\"; did you mean mixture?");
        assert_eq!(
            refusal("spiral", 5, &[]),
            "no generator is called \"spiral\"; there are artificial, mixture"
        );
        assert_eq!(refusal("mixture", 0, &[]), "rows must be at least 1, got 0");
        assert_eq!(refusal("mixture", 5, &["density=0"]), "density must be above 0, got 0");
        assert!(refusal("artificial", 5, &["labels=4"]).contains("there are none to set"));
    }
}
