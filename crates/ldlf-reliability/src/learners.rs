//! Every learner with settings that keep a fit short, and small data.

use ldlf::generate::{MixtureParameters, mixture};
use ldlf::internals::core::LearnerEntry;
use ldlf::{Dataset, FitContext, Learner, Result, Settings, Threads, TrainedModel, Value, registry};

/// Settings that keep a fit short, for the learners that have them.
const SHORT: [(&str, f64); 7] = [
    ("trees", 2.0),
    ("depth", 3.0),
    ("rounds", 3.0),
    ("iterations", 30.0),
    ("epochs", 3.0),
    ("min_iterations", 10.0),
    ("leaf_every", 3.0),
];

/// The learner of an entry with those short settings that it has.
pub fn quick(entry: &LearnerEntry) -> Result<Box<dyn Learner>> {
    (entry.build)(&short_settings(entry))
}

/// Those short settings that a learner has.
pub fn short_settings(entry: &LearnerEntry) -> Settings {
    let declared = (entry.parameters)();
    let mut settings = Settings::new();
    for (name, value) in SHORT {
        if let Some(parameter) = declared.iter().find(|parameter| parameter.name == name) {
            let whole = parameter.default.is_u64();
            settings.set(name, if whole { Value::from(value as u64) } else { Value::from(value) });
        }
    }
    // The small data are tables.
    if entry.facts.backbone {
        settings.set("backbone", "mlp");
    }
    settings
}

/// Short settings of the forest with held-out rows, so that a checkpoint also has the best model so far.
pub fn checkpoint_settings() -> Settings {
    let entry = registry::find("sldlf").expect("the forest is registered");
    let mut settings = short_settings(&entry);
    settings.set("choose", false);
    settings.set("leave_out", 0);
    settings.set("early_stopping", true);
    settings
}

/// Fits a learner on this thread with the seed 0.
pub fn fit(learner: &dyn Learner, data: &Dataset) -> Result<TrainedModel> {
    TrainedModel::fit(learner, data, &mut FitContext::new(0, Threads::one(), &mut ()))
}

/// Forty rows, four features, three ordered labels.
pub fn small_data() -> Dataset {
    let parameters = MixtureParameters::default().features(4).labels(3);
    mixture(40, &parameters, 0).expect("the sizes are possible")
}

/// One small model of every learner, with its name.
pub fn small_models() -> Vec<(&'static str, TrainedModel)> {
    let data = small_data();
    let model = |entry: LearnerEntry| {
        let fitted = quick(&entry).and_then(|learner| fit(&*learner, &data));
        (entry.name(), fitted.unwrap_or_else(|error| panic!("{}: {error}", entry.name())))
    };
    registry::learners().into_iter().map(model).collect()
}
