//! What a checkpoint was made with, and whether a training may go on from it.

use serde::{Deserialize, Serialize};

use crate::error::Subject;
use crate::{Error, Result, Settings, message};

/// Learner, parameters, seed and data of a training.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The learner's name.
    pub learner: String,
    /// Its parameters.
    pub parameters: Settings,
    /// The seed's number.
    pub seed: u64,
    /// The fingerprint of the data.
    pub data: String,
}

impl Origin {
    /// Whether a training with the origin `now` may go on from a checkpoint with this one. Parameters in `free` may differ.
    pub fn check(&self, now: &Origin, free: &[&str]) -> Result<()> {
        let refuse = |what: &str, kept: &str, now: &str| {
            Err(Error::usage(format!("the checkpoint was made with {what} {kept}, this training has {now}")))
        };
        if self.learner != now.learner {
            return refuse("the learner", &self.learner, &now.learner);
        }
        for (name, value) in &now.parameters.0 {
            if !free.contains(&name.as_str()) && self.parameters.get(name) != Some(value) {
                let kept = self.parameters.get(name).map_or("none".into(), ToString::to_string);
                return refuse(name, &kept, &value.to_string());
            }
        }
        if self.seed != now.seed {
            return Err(Error::usage("the checkpoint was made with another seed")
                .with_remedy(message!["give the same ", Subject::Seed]));
        }
        if self.data != now.data {
            return Err(Error::data("the checkpoint was made on other data")
                .with_remedy("resume it on the data it was started on"));
        }
        Ok(())
    }
}
