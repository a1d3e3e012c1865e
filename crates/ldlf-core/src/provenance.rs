//! Where a model comes from: what its file says of the program, the seed and the data of the training.

use serde::{Deserialize, Serialize};

use crate::Dataset;

/// The program, the seed and the data of a training. Neither time nor place is in it, so that equal trainings give equal bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The version of this library.
    pub version: String,
    /// The seed, as the user gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The training rows; those that a learner holds out to stop early are among them.
    pub rows: usize,
    /// Rows that were held out to calibrate intervals and label sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration_rows: Option<usize>,
    /// The [fingerprint](Dataset::fingerprint) of the training rows; none where no place has all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// The [fingerprint](crate::Inputs::fingerprint) of all rows that were seen, without their labels: predictions of those very rows say
    /// nothing of new ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
}

impl Provenance {
    /// Of a training by this version of the library on so many rows.
    pub fn of_rows(rows: usize) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_string();
        Provenance { version, seed: None, rows, calibration_rows: None, data: None, inputs: None }
    }

    /// Of a training by this version of the library on these rows.
    pub fn of(data: &Dataset, seed: Option<u64>) -> Self {
        Provenance {
            seed,
            data: Some(data.fingerprint()),
            inputs: Some(data.inputs().fingerprint()),
            ..Provenance::of_rows(data.rows())
        }
    }
}
