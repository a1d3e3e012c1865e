//! Every learner by its name.

use ldlf_core::error::{Subject, nearest};
use ldlf_core::mean::Mean;
use ldlf_core::{Error, Facts, Learner, LearnerEntry, Preset, Result, Settings, message};

use crate::auto::AutoForest;

/// Every learner, the flagship first and the simplest last.
pub fn learners() -> Vec<LearnerEntry> {
    let mut all = ldlf_forest::entries();
    all.insert(1, LearnerEntry::of::<AutoForest>());
    #[cfg(feature = "deep")]
    all.extend(ldlf_deep::entries());
    all.extend(ldlf_baselines::entries());
    all.push(LearnerEntry::of::<Mean>());
    all
}

/// The entry of a name, or a sentence with the nearest one.
pub fn find(name: &str) -> Result<LearnerEntry> {
    let all = learners();
    if let Some(entry) = all.iter().find(|entry| entry.name() == name) {
        return Ok(entry.clone());
    }
    let names: Vec<&str> = all.iter().map(|entry| entry.name()).collect();
    let unknown = Error::unknown("learner", name, &names);
    Err(match nearest(name, &names) {
        Some(_) => unknown,
        None => unknown.with_remedy(message![Subject::Learners, " lists them"]),
    })
}

/// Makes the learner of a name: the preset's settings, then `settings` over them.
///
/// ```
/// use ldlf::{Settings, registry};
/// let mean = registry::build("mean", None, &Settings::new())?;
/// assert_eq!(mean.name(), "mean");
/// # Ok::<(), ldlf::Error>(())
/// ```
pub fn build(name: &str, preset: Option<&str>, settings: &Settings) -> Result<Box<dyn Learner>> {
    let entry = find(name)?;
    let base = match preset {
        None => Settings::new(),
        Some(wanted) => Preset::named(&(entry.presets)(), name, wanted)?.settings,
    };
    (entry.build)(&base.overridden_by(settings)).map_err(|error| match error {
        refused @ Error::Usage(_) => refused.of_learner(name),
        other => other,
    })
}

/// The names of the learners of which something holds, in the order of the registry: `names(|facts| facts.exports)`.
pub fn names(holds: impl Fn(&Facts) -> bool) -> Vec<&'static str> {
    learners().iter().filter(|entry| holds(&entry.facts)).map(LearnerEntry::name).collect()
}
