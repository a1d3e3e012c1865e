//! From `--learner a,b --preset P --set a.trees=10` to learners with their settings.

use ldlf::{Error, Learner, Result, Settings, registry};

/// A learner as the call names it.
#[derive(Debug, PartialEq)]
pub struct Contender {
    /// Its name in the registry.
    pub name: String,
    /// The preset, if it has the one of that name.
    pub preset: Option<String>,
    /// What `--set` says about it.
    pub settings: Settings,
}

impl Contender {
    /// Makes the learner.
    pub fn build(&self) -> Result<Box<dyn Learner>> {
        registry::build(&self.name, self.preset.as_deref(), &self.settings)
    }
}

/// Shares out presets and settings: a preset goes to the learners that have it, `name.parameter=value` to the learner of
/// that name; with one learner the name may be left out.
pub fn share_out(learners: &[String], preset: Option<&str>, pairs: &[String]) -> Result<Vec<Contender>> {
    let mut contenders: Vec<Contender> = Vec::new();
    for name in learners {
        let entry = registry::find(name)?;
        if contenders.iter().any(|earlier| earlier.name == *name) {
            return Err(Error::usage(format!("the learner {name} is named twice")));
        }
        let preset = preset.filter(|wanted| (entry.presets)().iter().any(|preset| preset.name == *wanted));
        contenders.push(Contender {
            name: name.clone(),
            preset: preset.map(str::to_string),
            settings: Settings::new(),
        });
    }
    if let Some(wanted) = preset
        && contenders.iter().all(|contender| contender.preset.is_none())
    {
        return Err(no_such_preset(learners, wanted));
    }
    for pair in pairs {
        let contender = owner(&mut contenders, pair)?;
        let own = pair.strip_prefix(&format!("{}.", contender.name)).unwrap_or(pair);
        let parsed = Settings::parse([own])?;
        contender.settings = std::mem::take(&mut contender.settings).overridden_by(&parsed);
    }
    Ok(contenders)
}

/// The learner that a setting is for.
fn owner<'a>(contenders: &'a mut [Contender], pair: &str) -> Result<&'a mut Contender> {
    let name = pair.split('=').next().unwrap_or_default();
    let known = contenders.iter().map(|contender| contender.name.clone()).collect::<Vec<_>>().join(", ");
    match name.split_once('.') {
        Some((prefix, _)) => contenders
            .iter_mut()
            .find(|contender| contender.name == prefix)
            .ok_or_else(|| Error::usage(format!("--set {pair}: {prefix} is not among the learners {known}"))),
        None if contenders.len() == 1 => Ok(&mut contenders[0]),
        None => Err(Error::usage(format!(
            "--set {pair}: say for which learner, such as {}.{pair}; they are {known}",
            contenders[0].name
        ))),
    }
}

fn no_such_preset(learners: &[String], wanted: &str) -> Error {
    let has = |name: &String| {
        let presets = registry::find(name).map(|entry| (entry.presets)()).unwrap_or_default();
        let names: Vec<&str> = presets.iter().map(|preset| preset.name).collect();
        format!("{name} has {}", if names.is_empty() { "none".into() } else { names.join(", ") })
    };
    let all: Vec<String> = learners.iter().map(has).collect();
    Error::usage(format!("no preset is called {wanted:?}: {}", all.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn a_single_learner_needs_no_prefix_but_takes_one() {
        let contenders = share_out(&names(&["mean"]), None, &names(&["a=1", "mean.b=2"])).unwrap();
        assert_eq!(contenders[0].settings, Settings::parse(["a=1", "b=2"]).unwrap());
    }

    #[test]
    fn a_setting_for_an_absent_learner_is_refused() {
        let error = share_out(&names(&["mean"]), None, &names(&["oak.trees=1"])).unwrap_err();
        assert_eq!(error.to_string(), "--set oak.trees=1: oak is not among the learners mean");
    }

    #[test]
    fn a_learner_named_twice_is_refused() {
        let error = share_out(&names(&["mean", "mean"]), None, &[]).unwrap_err();
        assert_eq!(error.to_string(), "the learner mean is named twice");
    }

    #[test]
    fn a_preset_that_no_learner_has_is_refused() {
        let error = share_out(&names(&["mean"]), Some("paper"), &[]).unwrap_err();
        assert_eq!(error.to_string(), "no preset is called \"paper\": mean has none");
    }
}
