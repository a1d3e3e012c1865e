//! What learners say about themselves is true of them: small fits of each.

use ldlf::generate::{MixtureParameters, mixture};
use ldlf::internals::core::{LearnerEntry, Predicts};
use ldlf::{Dataset, Error, FitContext, Images, Prediction, Settings, Threads, TrainedModel, registry};

/// What keeps a fit short, for the learners that have it.
const SHORT: [&str; 7] =
    ["trees=2", "depth=3", "rounds=3", "iterations=20", "epochs=2", "min_iterations=5", "leaf_every=3"];

fn data() -> Dataset {
    mixture(40, &MixtureParameters::default().features(4).labels(3), 0).unwrap()
}

fn short(entry: &LearnerEntry) -> Settings {
    let declared = (entry.parameters)();
    let has = |pair: &&&str| declared.iter().any(|parameter| pair.split('=').next() == Some(parameter.name));
    let mut settings = Settings::parse(SHORT.iter().filter(has)).unwrap();
    if entry.facts.backbone {
        settings.set("backbone", "mlp"); // the data is a table
    }
    settings
}

fn fit(entry: &LearnerEntry, data: &Dataset) -> TrainedModel {
    let learner = (entry.build)(&short(entry)).unwrap();
    let fitted = TrainedModel::fit(&*learner, data, &mut FitContext::new(0, Threads::one(), &mut ()));
    fitted.unwrap_or_else(|error| panic!("{}: {error}", entry.name()))
}

#[test]
fn a_learner_does_what_its_facts_say() {
    let data = data();
    for entry in registry::learners() {
        let (facts, model) = (entry.facts, fit(&entry, &data));
        let predicts = match model.predict_with(data.inputs(), &Threads::one()).unwrap() {
            Prediction::Distributions(_) => Predicts::Distributions,
            Prediction::Values(_) => Predicts::Values,
        };
        assert_eq!(predicts, facts.predicts, "{}", facts.name);
        // A mixture exports when all its members do.
        if facts.name != "sldlf-auto" {
            assert_eq!(model.graph().is_ok(), facts.exports, "{}", facts.name);
        }
    }
}

#[test]
fn a_learner_resumes_or_refuses_to_as_it_says() {
    let data = data();
    for entry in registry::learners() {
        let learner = (entry.build)(&short(&entry)).unwrap();
        let mut nobody = ();
        let mut context = FitContext::new(0, Threads::one(), &mut nobody);
        context.resume = Some(ldlf::internals::core::stored::Parts::new());
        let refused =
            learner.fit(&data, &mut context).err().map(|error| error.to_string()).unwrap_or_default();
        let as_it_says = format!("{} cannot be resumed from a checkpoint; train it anew", entry.name());
        assert_eq!(refused != as_it_says, entry.facts.resumes, "{}: {refused}", entry.name());
    }
}

#[test]
fn only_learners_of_ordered_labels_need_their_numbers() {
    let ordered = data();
    let data = Dataset::new(ordered.inputs().clone(), ordered.targets().clone()).unwrap();
    for entry in registry::learners() {
        let learner = (entry.build)(&short(&entry)).unwrap();
        let fitted = learner.fit(&data, &mut FitContext::new(0, Threads::one(), &mut ()));
        assert_eq!(fitted.is_err(), entry.facts.ordered, "{}", entry.name());
    }
}

#[test]
fn a_learner_of_tables_refuses_images() {
    let images = Images::named((0..40).map(|row| format!("{row}.png")).collect());
    let data = data().with_inputs(images).unwrap();
    for entry in registry::learners().iter().filter(|entry| !entry.facts.reads_images()) {
        let learner = (entry.build)(&short(entry)).unwrap();
        let refused = learner.fit(&data, &mut FitContext::new(0, Threads::one(), &mut ())).err().unwrap();
        assert!(matches!(refused, Error::Usage(_)), "{}: {refused}", entry.name());
        assert!(
            refused.to_string().starts_with("the rows are images where a table of features is needed"),
            "{}: {refused}",
            entry.name()
        );
    }
}

#[test]
fn a_learner_has_a_backbone_parameter_where_it_says_so() {
    for entry in registry::learners() {
        let has = (entry.parameters)().iter().any(|parameter| parameter.name == "backbone");
        assert_eq!(has, entry.facts.backbone, "{}", entry.name());
    }
}

#[test]
fn one_parameter_has_one_kind_of_value_in_all_learners() {
    let mut kinds = std::collections::BTreeMap::new();
    for entry in registry::learners() {
        for parameter in (entry.parameters)() {
            let kind = std::mem::discriminant(&parameter.kind);
            let (first, known) = kinds.entry(parameter.name).or_insert((entry.name(), kind));
            // Epochs of `sldlf` may be a part of one.
            if parameter.name != "epochs" {
                assert_eq!(kind, *known, "{}: {first} and {}", parameter.name, entry.name());
            }
        }
    }
}

#[test]
fn every_preset_makes_a_learner() {
    for entry in registry::learners() {
        for preset in (entry.presets)() {
            registry::build(entry.name(), Some(preset.name), &Settings::new()).unwrap();
        }
    }
}
