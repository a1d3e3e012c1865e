//! The typed builders of the baselines: setters, checks, and the defaults of learners that share their parameters.

use ldlf_baselines::{
    AaKnn, AosoLdLogitBoost, BfgsLdl, ExtraTrees, FeatureScaling, IisAldl, LdLogitBoost, RandomForest,
};
use ldlf_core::parameters::ParameterSet;
use ldlf_core::{Auto, FitContext, Settings, Threads, TrainedModel, Value, generate};

#[test]
fn a_typed_fit_is_the_fit_of_the_same_settings() {
    let data = generate::artificial(40, 0).unwrap();
    let model = BfgsLdl::params().l2(1.0).scaling(FeatureScaling::Raw).seed(3).threads(1).fit(&data).unwrap();
    let entry = ldlf_baselines::entries().into_iter().find(|entry| entry.name() == "bfgs-ldl").unwrap();
    let learner = (entry.build)(&Settings::parse(["l2=1", "scaling=raw"]).unwrap()).unwrap();
    let named =
        TrainedModel::fit(&*learner, &data, &mut FitContext::new(3, Threads::one(), &mut ())).unwrap();
    assert_eq!(model.to_parts().to_bytes().unwrap(), named.to_parts().to_bytes().unwrap());
}

#[test]
fn learners_that_share_their_parameters_have_defaults_of_their_own() {
    let default = |learner: &str, name: &str| {
        let entry = ldlf_baselines::entries().into_iter().find(|entry| entry.name() == learner).unwrap();
        (entry.parameters)().into_iter().find(|parameter| parameter.name == name).unwrap().default
    };
    assert_eq!(default("ldlogitboost", "rounds"), Value::from(1000));
    assert_eq!(default("aoso-ldlogitboost", "rounds"), Value::from(3000));
    assert_eq!(default("random-forest", "bootstrap"), Value::from(true));
    assert_eq!(default("extra-trees", "bootstrap"), Value::from(false));
    let rounds = |settings: Settings| settings.get("rounds").cloned();
    let typed = AosoLdLogitBoost::params().check().unwrap();
    assert_eq!(rounds(typed.parameters().to_settings()), Some(Value::from(3000)));
    let typed = LdLogitBoost::params().check().unwrap();
    assert_eq!(rounds(typed.parameters().to_settings()), Some(Value::from(1000)));
    assert_ne!(
        RandomForest::params().check().unwrap().parameters(),
        ExtraTrees::params().check().unwrap().parameters()
    );
}

#[test]
fn a_bad_value_is_refused_before_any_row_is_read() {
    let data = generate::artificial(10, 0).unwrap();
    let refused = LdLogitBoost::params().learning_rate(0.0).fit(&data).err().unwrap();
    assert_eq!(refused.to_string(), "learning_rate must be above 0, got 0");
    let refused = BfgsLdl::params().l2(f64::NAN).fit(&data).err().unwrap();
    assert_eq!(refused.to_string(), "l2 must be a number at least 0, or auto, got NaN");
    let refused = AaKnn::params().neighbors(0).check().err().unwrap();
    assert_eq!(refused.to_string(), "neighbors must be at least 1, got 0");
}

#[test]
fn a_learner_on_top_of_another_takes_the_parameters_of_both() {
    let learner = IisAldl::params().rounds(2).iterations(7).init_sigma(1.5).patience(None).check().unwrap();
    let settings = learner.parameters().to_settings();
    let of = |name: &str| settings.get(name).cloned().unwrap();
    assert_eq!(
        [of("rounds"), of("iterations"), of("init_sigma"), of("patience")],
        [2.into(), 7.into(), 1.5.into(), Value::Null]
    );
    let refused = IisAldl::params().iterations(0).check().err().unwrap();
    assert_eq!(refused.to_string(), "iterations must be at least 1, got 0");
}

#[test]
fn later_values_override_a_preset() {
    let learner = BfgsLdl::params().preset("paper").unwrap().l2(Auto::Auto).check().unwrap();
    let settings = learner.parameters().to_settings();
    assert_eq!(
        (settings.get("scaling"), settings.get("l2")),
        (Some(&Value::from("raw")), Some(&Value::from("auto")))
    );
}

#[test]
fn the_presets_of_publications_hold_nothing_out() {
    let expected = [
        ("bfgs-ldl", vec![("l2", Value::from(0.0)), ("patience", Value::Null), ("scaling", "raw".into())]),
        ("iis-ldl", vec![("patience", Value::Null), ("scaling", "raw".into())]),
        ("iis-aldl", vec![("patience", Value::Null), ("scaling", "raw".into())]),
    ];
    for (learner, table) in expected {
        let entry = ldlf_baselines::entries().into_iter().find(|entry| entry.name() == learner).unwrap();
        let preset = (entry.presets)().into_iter().find(|preset| preset.name == "paper").unwrap();
        let settings = (entry.build)(&preset.settings).unwrap().settings();
        for (name, value) in table {
            assert_eq!(settings.get(name), Some(&value), "{learner} {name}");
        }
    }
}

#[test]
fn an_unknown_preset_is_refused() {
    let refused = BfgsLdl::params().preset("released").err().unwrap();
    assert_eq!(refused.to_string(), "bfgs-ldl has no preset \"released\"; it has paper");
}
