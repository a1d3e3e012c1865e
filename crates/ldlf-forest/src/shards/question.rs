//! What a coordinator asks: one task for every virtual shard, and the parameters that have changed since the last question.
//!
//! The bytes are a safetensors file: weights, leaves and the encoder are arrays, and the small rest is its JSON document.

use ldlf_core::stored::{Array, Parts};
use ldlf_core::{Error, Result, Settings, message};
use serde::{Deserialize, Serialize};

use super::order::Batches;
use crate::encoder::Encoder;

/// What every virtual shard is to sum up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Training rows by shard, then the weight of all, the weighted targets, and every column.
    Survey,
    /// Squared distances from the mean, and how many entries are stored, of every column.
    Spread,
    /// The values of some columns in so many rows, each at its place, for quantiles.
    Sample {
        /// Which columns.
        columns: Vec<u32>,
        /// Rows of all shards together.
        rows: usize,
    },
    /// The loss and the weight of a mini-batch, and the gradient with respect to the weights.
    Step {
        /// Counted from 0.
        iteration: usize,
        /// Whether every tree learns from all rows by now.
        given_back: bool,
    },
    /// The statistics of the leaves over the mini-batches of some iterations; over all training rows where there are none.
    Leaves {
        /// From the first to before the second.
        iterations: Option<(usize, usize)>,
        /// Whether every tree learns from all rows by now.
        given_back: bool,
    },
    /// The K-L divergence and the weight of the held-out rows, or of all rows by the trees that leave them out.
    Validate,
}

/// How often each part of the parameters has changed; who asks and who answers must agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// Of the [`Setting`] and the encoder.
    pub setting: u64,
    /// Of the linear map.
    pub weights: u64,
    /// Of the leaves.
    pub leaves: u64,
}

/// What does not change from step to step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Of everything random.
    pub seed: u64,
    /// The number of virtual shards.
    pub shards: usize,
    /// The share of held-out rows, where rows are.
    pub held_back: Option<f64>,
    /// Columns of features.
    pub features: usize,
    /// Columns of labels.
    pub labels: usize,
    /// Whether features are sparse.
    pub sparse: bool,
    /// Of the learner.
    pub parameters: Settings,
    /// How mini-batches are cut; known after the survey.
    pub batches: Option<Batches>,
}

/// A question with the parts of the parameters that go with it.
#[derive(Clone, Debug)]
pub struct Question {
    /// What to sum up.
    pub task: Task,
    /// The parameters that the answer is to be about.
    pub versions: Versions,
    /// The means of all columns, for [`Task::Spread`].
    pub mean: Option<Vec<f64>>,
    /// The setting, and the encoder once it is known.
    pub setting: Option<(Setting, Option<Encoder>)>,
    /// `[inputs, units]`.
    pub weights: Option<Vec<f32>>,
    /// `[trees, leaves, labels]`.
    pub leaves: Option<Vec<f32>>,
}

impl Question {
    /// The bytes that travel.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut parts = Parts::new();
        parts.put_detail("task", &self.task);
        parts.put_detail("versions", self.versions);
        if let Some(mean) = &self.mean {
            parts.put("mean", Array::F64(vec![mean.len()], mean.clone()));
        }
        if let Some((setting, encoder)) = &self.setting {
            parts.put_detail("setting", setting);
            if let Some(encoder) = encoder {
                encoder.store(&mut parts);
            }
        }
        for (name, numbers) in [("weights", &self.weights), ("leaves", &self.leaves)] {
            if let Some(numbers) = numbers {
                parts.put(name, Array::F32(vec![numbers.len()], numbers.clone()));
            }
        }
        parts.to_bytes()
    }

    /// Reads what [`Question::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let wrong = |error: Error| {
            Error::training(message!["a question to a worker cannot be read: ", error.sentence()])
        };
        let parts = Parts::from_bytes(bytes).map_err(wrong)?;
        let read = || {
            let setting: Option<Setting> = parts.detail("setting")?;
            let setting = match setting {
                None => None,
                Some(setting) => {
                    let encoder = match parts.has("encoder.scale") {
                        true => Some(Encoder::load(&parts, setting.features)?),
                        false => None,
                    };
                    Some((setting, encoder))
                }
            };
            let numbers = |name: &str| match parts.has(name) {
                true => Ok::<_, Error>(Some(parts.f32s(name, parts.shape(name)?)?)),
                false => Ok(None),
            };
            let mean = match parts.has("mean") {
                true => Some(parts.f64s("mean", parts.shape("mean")?)?),
                false => None,
            };
            Ok(Question {
                task: parts.detail("task")?,
                versions: parts.detail("versions")?,
                mean,
                setting,
                weights: numbers("weights")?,
                leaves: numbers("leaves")?,
            })
        };
        read().map_err(wrong)
    }
}
