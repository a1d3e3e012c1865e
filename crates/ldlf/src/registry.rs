//! Every learner by its name.

use ldlf_core::error::{Subject, nearest};
use ldlf_core::{Error, Learner, LearnerEntry, Result, Settings, mean, message};

/// Every learner, the flagship first and the floor last.
pub fn learners() -> Vec<LearnerEntry> {
    let mut all = ldlf_forest::entries();
    all.insert(1, crate::auto::ENTRY);
    #[cfg(feature = "deep")]
    all.extend(ldlf_deep::entries());
    all.extend(ldlf_baselines::entries());
    all.push(mean::ENTRY);
    all
}

/// The entry of a name, or a sentence with the nearest one.
pub fn find(name: &str) -> Result<LearnerEntry> {
    let all = learners();
    if let Some(entry) = all.iter().find(|entry| entry.name == name) {
        return Ok(entry.clone());
    }
    let names: Vec<&str> = all.iter().map(|entry| entry.name).collect();
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
/// let floor = registry::build("mean", None, "any data", &Settings::new())?;
/// assert_eq!(floor.name(), "mean");
/// # Ok::<(), ldlf::Error>(())
/// ```
pub fn build(
    name: &str,
    preset: Option<&str>,
    dataset: &str,
    settings: &Settings,
) -> Result<Box<dyn Learner>> {
    let entry = find(name)?;
    let base = match preset {
        None => Settings::new(),
        Some(wanted) => {
            let presets = (entry.presets)();
            let Some(found) = presets.iter().find(|preset| preset.name == wanted) else {
                let names: Vec<&str> = presets.iter().map(|preset| preset.name).collect();
                let has = if names.is_empty() { "no presets".to_string() } else { names.join(", ") };
                let unknown = Error::usage(format!("{name} has no preset {wanted:?}"));
                return Err(unknown.with_remedy(format!("it has {has}")));
            };
            found.settings_for(dataset)
        }
    };
    (entry.build)(&base.overridden_by(settings)).map_err(|error| match error {
        refused @ Error::Usage(_) => refused.of_learner(name),
        other => other,
    })
}
