//! What a finished fold is looked up by.

use serde::{Deserialize, Serialize};

use super::Protocol;
use crate::folds::Fold;
use crate::{Dataset, Features, Inputs, Settings};

/// All that decides the result of a fold. A fold is looked up by the whole of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoldKey {
    /// The build of the program: another one may fit otherwise. Older journals have a version there.
    #[serde(alias = "version")]
    pub build: String,
    /// The dataset's name.
    pub dataset: String,
    /// The [fingerprint](fingerprints) of the data and the fold's rows.
    pub fingerprint: String,
    /// The learner's name.
    pub learner: String,
    /// Every parameter with its value.
    pub parameters: Settings,
    /// The rules.
    pub protocol: Protocol,
    /// The run's seed.
    pub seed: u64,
    /// The number of the fold.
    pub fold: usize,
}

impl FoldKey {
    /// The key as text: equal keys give equal text, because parameters stand in the order of their declaration.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("a key is plain data")
    }
}

/// A short text for each fold that differs when the data or the rows of the fold differ: two 64-bit hashes over features (of
/// images, their names),
/// targets, weights, groups, true values, label values and row numbers.
pub fn fingerprints(data: &Dataset, folds: &[Fold]) -> Vec<String> {
    let of_data = hash_of_data(data);
    let with_rows = |fold: &Fold| {
        let mut hash = of_data.clone();
        hash.optional(Some(&fold.training), |&row| row as u64);
        hash.optional(Some(&fold.test), |&row| row as u64);
        format!("{:016x}{:016x}", hash.0, hash.1)
    };
    folds.iter().map(with_rows).collect()
}

fn hash_of_data(data: &Dataset) -> Hash {
    let mut hash = Hash::new();
    match data.inputs() {
        Inputs::Table(Features::Dense(m)) => {
            hash.number(m.cols() as u64);
            m.as_slice().iter().for_each(|v| hash.number(u64::from(v.to_bits())));
        }
        Inputs::Table(Features::Sparse(m)) => {
            let (offsets, columns, values) = m.parts();
            hash.number(m.cols() as u64);
            offsets.iter().for_each(|&v| hash.number(v as u64));
            columns.iter().for_each(|&v| hash.number(u64::from(v)));
            values.iter().for_each(|v| hash.number(u64::from(v.to_bits())));
        }
        Inputs::Images(images) => {
            hash.number(0);
            images.names().for_each(|name| hash.optional(Some(name.as_bytes()), |&byte| u64::from(byte)));
        }
    }
    hash.number(data.labels() as u64);
    data.targets().as_slice().iter().for_each(|v| hash.number(u64::from(v.to_bits())));
    hash.optional(data.weights(), |v| u64::from(v.to_bits()));
    hash.optional(data.groups(), |&v| u64::from(v));
    hash.optional(data.truth(), |v| v.to_bits());
    hash.optional(data.schema().label_values.as_deref(), |v| v.to_bits());
    hash
}

/// FNV-1a in two variants, over whole numbers instead of bytes.
#[derive(Clone)]
struct Hash(u64, u64);

impl Hash {
    fn new() -> Self {
        Hash(0xcbf2_9ce4_8422_2325, 0x6c62_272e_07bb_0142)
    }

    fn number(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x100_0000_01b3).rotate_left(23);
        self.1 = (self.1 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    /// Some numbers with their count, so that what follows cannot be taken for them.
    fn optional<T>(&mut self, values: Option<&[T]>, bits: impl Fn(&T) -> u64) {
        self.number(values.map_or(u64::MAX, |values| values.len() as u64));
        values.unwrap_or_default().iter().for_each(|value| self.number(bits(value)));
    }
}
