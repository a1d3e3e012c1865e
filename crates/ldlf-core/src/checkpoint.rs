//! What a checkpoint says of the training that it was taken from, and whether another training may resume from it.

use std::cell::OnceCell;

use serde::{Deserialize, Serialize};

use crate::error::Subject;
use crate::stored::Parts;
use crate::{Dataset, Error, Result, Seed, Settings, message};

/// The name of the detail that makes one file per checkpoint.
pub const CHECKPOINT: &str = "checkpoint";

/// Learner, parameters, seed and data of a training.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The learner's name.
    pub learner: String,
    /// Its parameters.
    pub parameters: Settings,
    /// Those of them that may change when the training is resumed.
    #[serde(default)]
    pub free: Vec<String>,
    /// The seed's number.
    pub seed: u64,
    /// The fingerprint of the data.
    pub data: String,
}

impl Origin {
    /// The origin of a checkpoint; `None` where the parts are something else.
    pub fn of(parts: &Parts) -> Result<Option<Self>> {
        match parts.details.contains_key(CHECKPOINT) {
            true => parts.detail(CHECKPOINT).map(Some),
            false => Ok(None),
        }
    }

    /// Whether a training may resume from a checkpoint of this origin, checked without its data.
    pub fn check(&self, learner: &str, parameters: &Settings, seed: Seed) -> Result<()> {
        let refuse = |what: &str, kept: &str, now: &str| {
            Err(Error::usage(format!("the checkpoint was made with {what} {kept}, this training has {now}")))
        };
        if self.learner != learner {
            return refuse("the learner", &self.learner, learner);
        }
        for (name, value) in &parameters.0 {
            if !self.free.contains(name) && self.parameters.get(name) != Some(value) {
                let kept = self.parameters.get(name).map_or("none".into(), ToString::to_string);
                return refuse(name, &kept, &value.to_string());
            }
        }
        if self.seed != seed.value() {
            return Err(Error::usage("the checkpoint was made with another seed")
                .with_remedy(message!["give the same ", Subject::Seed]));
        }
        Ok(())
    }

    /// Whether it was made on data of this fingerprint.
    fn check_data(&self, fingerprint: &str) -> Result<()> {
        if self.data != fingerprint {
            return Err(Error::data("the checkpoint was made on other data")
                .with_remedy("resume it on the data it was started on"));
        }
        Ok(())
    }
}

/// A training that writes checkpoints and resumes from them.
pub struct Source<'a> {
    learner: &'static str,
    parameters: Settings,
    free: &'static [&'static str],
    seed: Seed,
    data: &'a Dataset,
    fingerprint: OnceCell<String>,
}

impl<'a> Source<'a> {
    /// A training of a learner with all its parameters; those in `free` may change when it is resumed.
    pub fn new(
        learner: &'static str,
        parameters: Settings,
        free: &'static [&'static str],
        seed: Seed,
        data: &'a Dataset,
    ) -> Self {
        Source { learner, parameters, free, seed, data, fingerprint: OnceCell::new() }
    }

    /// Makes a checkpoint of the parts of a training, which stands at `progress`.
    pub fn put(&self, progress: &impl Serialize, parts: &mut Parts) {
        let origin = Origin {
            learner: self.learner.to_string(),
            parameters: self.parameters.clone(),
            free: self.free.iter().map(ToString::to_string).collect(),
            seed: self.seed.value(),
            data: self.fingerprint().to_string(),
        };
        parts.put_detail(CHECKPOINT, Kept { origin, progress });
    }

    /// Where the training of a checkpoint stood, unless it was another than this.
    pub fn progress<P: for<'de> Deserialize<'de>>(&self, checkpoint: &Parts) -> Result<P> {
        let Kept { origin, progress } = checkpoint.detail(CHECKPOINT)?;
        origin.check(self.learner, &self.parameters, self.seed)?;
        origin.check_data(self.fingerprint())?;
        Ok(progress)
    }

    /// Found once: it reads all of the data.
    fn fingerprint(&self) -> &str {
        self.fingerprint.get_or_init(|| self.data.fingerprint())
    }
}

#[derive(Serialize, Deserialize)]
struct Kept<P> {
    #[serde(flatten)]
    origin: Origin,
    progress: P,
}
