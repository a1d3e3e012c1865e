//! From `--learner a,b --preset P --set a.trees=10` to learners with their settings.

use ldlf::internals::core::{Fitted, Reads};
use ldlf::{Dataset, Error, Facts, FitContext, Learner, Result, Settings, registry};

/// A learner as the call names it.
#[derive(Debug, PartialEq)]
pub struct Contender {
    /// What the call and tables call it: its name, and settings beside it.
    pub title: String,
    /// Its name in the registry.
    pub name: String,
    /// The preset, if it has the one of that name.
    pub preset: Option<String>,
    /// What `--set` says about it, and then what stands beside its name.
    pub settings: Settings,
    /// What stands beside its name.
    own: Settings,
}

impl Contender {
    /// `sldlf`, `sldlf@depth=5` or `sldlf@paper`.
    fn of(title: &str) -> Result<Self> {
        let mut pieces = title.split('@');
        let name = pieces.next().unwrap_or_default().to_string();
        registry::find(&name)?;
        let (mut preset, mut own) = (None, Settings::new());
        for piece in pieces {
            match piece.contains('=') {
                true => own = own.overridden_by(&Settings::parse([piece])?),
                false => preset = Some(piece.to_string()),
            }
        }
        Ok(Contender { title: title.to_string(), name, preset, settings: Settings::new(), own })
    }

    /// Makes the learner.
    pub fn build(&self) -> Result<Box<dyn Learner>> {
        let learner = registry::build(&self.name, self.preset.as_deref(), &self.settings)?;
        if self.title == self.name {
            return Ok(learner);
        }
        Ok(Box::new(Titled { learner, title: self.title.clone() }))
    }
}

/// A learner with settings that tables name beside it.
struct Titled {
    learner: Box<dyn Learner>,
    title: String,
}

impl Learner for Titled {
    fn facts(&self) -> &'static Facts {
        self.learner.facts()
    }

    fn title(&self) -> String {
        self.title.clone()
    }

    fn settings(&self) -> Settings {
        self.learner.settings()
    }

    fn fit(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        self.learner.fit(data, context)
    }
}

/// Shares out presets and settings: a preset goes to the learners that have it, `name.parameter=value` to the learner of
/// that name; with one learner the name may be left out. `name@parameter=value` and `name@preset` are a learner with settings of
/// its own, so that one learner can stand beside itself; several are joined, `sldlf@depth=5@trees=10`.
pub fn share_out(learners: &[String], preset: Option<&str>, pairs: &[String]) -> Result<Vec<Contender>> {
    let mut contenders: Vec<Contender> = Vec::new();
    let mut named: Vec<&str> = Vec::new();
    for title in learners {
        if contenders.iter().any(|earlier| earlier.title == *title) {
            return Err(Error::usage(format!("the learner {title} is named twice")).with_remedy(format!(
                "settings tell them apart, as in {0},{0}@NAME=VALUE",
                base_name(title)
            )));
        }
        let mut contender = Contender::of(title)?;
        named.push(base_name(title));
        let entry = registry::find(&contender.name)?;
        let preset = preset.filter(|wanted| (entry.presets)().iter().any(|preset| preset.name == *wanted));
        contender.preset = contender.preset.or(preset.map(str::to_string));
        contenders.push(contender);
    }
    if let Some(wanted) = preset
        && contenders.iter().all(|contender| contender.preset.is_none())
    {
        return Err(no_such_preset(learners, wanted));
    }
    for pair in pairs {
        let owner = owner(&contenders, pair)?;
        let own = pair.strip_prefix(&format!("{owner}.")).unwrap_or(pair);
        let parsed = Settings::parse([own])?;
        for contender in contenders.iter_mut().filter(|contender| contender.name == owner) {
            contender.settings = std::mem::take(&mut contender.settings).overridden_by(&parsed);
        }
    }
    // What stands beside the name is said about this one alone.
    for contender in &mut contenders {
        contender.settings = std::mem::take(&mut contender.settings).overridden_by(&contender.own);
    }
    Ok(contenders)
}

/// The name of a learner without the settings beside it.
pub fn base_name(title: &str) -> &str {
    title.split('@').next().unwrap_or(title)
}

/// The learners that a list means; `all` is every learner that can be fitted to tables with such labels as it comes: not those on
/// a network, and not `sldlf-auto`, which is made of others.
pub fn listed(learners: &[String], ordered: bool) -> Vec<String> {
    let fits = |facts: &Facts| {
        !matches!(facts.reads, Reads::Images) && !facts.backbone && (ordered || !facts.ordered)
    };
    let mut list: Vec<String> = Vec::new();
    for name in learners {
        let all = registry::names(fits).into_iter().filter(|name| *name != "sldlf-auto");
        match name.as_str() {
            "all" => list.extend(all.map(str::to_string)),
            _ => list.push(name.clone()),
        }
    }
    if learners.iter().any(|name| name == "all") {
        let mut seen = Vec::new();
        list.retain(|name| {
            !seen.contains(name) && {
                seen.push(name.clone());
                true
            }
        });
    }
    list
}

/// The name of the learner that a setting is for.
fn owner(contenders: &[Contender], pair: &str) -> Result<String> {
    let name = pair.split('=').next().unwrap_or_default();
    let mut known: Vec<&str> = contenders.iter().map(|contender| contender.name.as_str()).collect();
    known.dedup();
    match name.split_once('.') {
        Some((prefix, _)) if known.contains(&prefix) => Ok(prefix.to_string()),
        Some((prefix, _)) => {
            let known = known.join(", ");
            Err(Error::usage(format!("--set {pair}: {prefix} is not among the learners {known}")))
        }
        None if known.len() == 1 => Ok(known[0].to_string()),
        None => Err(Error::usage(format!(
            "--set {pair}: say for which learner, such as {}.{pair}; they are {}",
            known[0],
            known.join(", ")
        ))),
    }
}

fn no_such_preset(learners: &[String], wanted: &str) -> Error {
    let has = |name: &String| {
        let name = base_name(name);
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
        assert_eq!(
            error.to_string(),
            "the learner mean is named twice; settings tell them apart, as in mean,mean@NAME=VALUE"
        );
    }

    #[test]
    fn a_learner_stands_beside_itself_with_settings_or_a_preset_of_its_own() {
        let list = names(&["sldlf", "sldlf@depth=5@trees=2", "sldlf@paper"]);
        let contenders = share_out(&list, None, &names(&["sldlf.trees=7"])).unwrap();
        let of = |place: usize| contenders[place].build().unwrap();
        assert_eq!(of(0).settings().get("trees"), Some(&7.into()));
        assert_eq!(
            (of(1).settings().get("trees"), of(1).settings().get("depth")),
            (Some(&2.into()), Some(&5.into()))
        );
        assert_eq!(contenders[2].preset.as_deref(), Some("paper"));
        assert_eq!(of(1).title(), "sldlf@depth=5@trees=2");
        assert_eq!(of(1).name(), "sldlf");
    }

    #[test]
    fn all_are_the_learners_for_tables_with_such_labels() {
        let all = listed(&names(&["all", "sldlf@depth=5"]), false);
        assert!(all.contains(&"sldlf".to_string()) && all.contains(&"mean".to_string()));
        assert!(!all.contains(&"sldlf-auto".to_string()) && !all.contains(&"larr".to_string()));
        assert_eq!(all.last().map(String::as_str), Some("sldlf@depth=5"));
        assert!(listed(&names(&["all"]), true).contains(&"larr".to_string()));
    }

    #[test]
    fn a_preset_that_no_learner_has_is_refused() {
        let error = share_out(&names(&["mean"]), Some("paper"), &[]).unwrap_err();
        assert_eq!(error.to_string(), "no preset is called \"paper\": mean has none");
    }
}
