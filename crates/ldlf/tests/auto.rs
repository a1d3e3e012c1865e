//! `sldlf-auto`: what it tries, what it keeps, and what it says about both.

use std::ops::ControlFlow;

use ldlf::generate::{MixtureParameters, mixture};
use ldlf::internals::core::stored::Parts;
use ldlf::{
    Dataset, Error, FitContext, FitEvent, InProgress, Observer, Settings, StopReason, Threads, TrainedModel,
    registry,
};

fn data(rows: usize) -> Dataset {
    mixture(rows, &MixtureParameters::default().features(5).labels(3), 0).unwrap()
}

fn fit_with(settings: &[&str], data: &Dataset, threads: Threads) -> TrainedModel {
    let settings = Settings::parse(settings).unwrap();
    let learner = registry::build("sldlf-auto", None, &settings).unwrap();
    TrainedModel::fit(&*learner, data, &mut FitContext::new(0, threads, &mut ())).unwrap()
}

fn fit(settings: &[&str], data: &Dataset) -> TrainedModel {
    fit_with(settings, data, Threads::one())
}

/// What the model says of itself under names that begin so.
fn said(model: &TrainedModel, beginning: &str) -> Vec<(String, String)> {
    let inspected = model.model.inspect().into_iter();
    inspected
        .filter(|(name, _)| name.starts_with(beginning))
        .map(|(name, value)| (name, value.as_str().unwrap().to_string()))
        .collect()
}

#[test]
fn the_mixture_is_at_least_as_good_on_rows_held_back_as_every_one_of_its_candidates() {
    let model = fit(&["iterations=60"], &data(120));
    let mixed = model.summary.validation_kl.unwrap();
    let tried = said(&model, "tried ");
    assert_eq!(tried.len(), 9, "a forest and eight baselines: {tried:?}");
    for (name, verdict) in &tried {
        let kl: f64 = verdict.strip_prefix("K-L ").unwrap().split(',').next().unwrap().parse().unwrap();
        assert!(mixed <= kl + 1e-3, "{name}: {verdict}, mixed {mixed}");
    }
}

#[test]
fn every_trial_ends_in_a_verdict() {
    let model = fit(&["iterations=60"], &data(120));
    let (tried, members) = (said(&model, "tried "), said(&model, "member "));
    let weighed = tried.iter().filter(|(_, verdict)| verdict.contains("weight ")).count();
    assert_eq!(weighed, members.len(), "{tried:?} {members:?}");
    assert!(tried.iter().all(|(_, verdict)| !verdict.ends_with(", ")), "{tried:?}");
}

#[test]
fn without_baselines_all_members_are_forests() {
    let model = fit(&["iterations=30", "baselines=false"], &data(60));
    assert!(said(&model, "member ").iter().all(|(name, _)| name == "member sldlf"));
}

#[test]
fn a_spent_budget_leaves_the_default_forest() {
    let model = fit(&["iterations=30", "budget=0.000000001"], &data(60));
    assert_eq!(said(&model, "member "), [("member sldlf".to_string(), "weight 1.00".to_string())]);
    let tried = said(&model, "tried ");
    assert!(tried.iter().all(|(_, verdict)| verdict == "not tried: the budget was spent"), "{tried:?}");
}

#[test]
fn rows_too_few_to_hold_any_back_leave_the_default_forest() {
    let model = fit(&["iterations=5"], &data(3));
    assert_eq!(said(&model, "member "), [("member sldlf".to_string(), "weight 1.00".to_string())]);
}

#[test]
fn a_mixture_is_reproducible_to_the_byte() {
    let data = data(120);
    let model = fit(&["iterations=30"], &data);
    let bytes = model.to_parts().to_bytes().unwrap();
    let two = fit_with(&["iterations=30"], &data, Threads::new(2).unwrap());
    assert_eq!(bytes, two.to_parts().to_bytes().unwrap());
    let again = TrainedModel::from_parts(Parts::from_bytes(&bytes).unwrap(), &registry::learners()).unwrap();
    let predict = |model: &TrainedModel| model.predict_with(data.inputs(), &Threads::one()).unwrap();
    assert_eq!(
        predict(&model).into_distributions().unwrap().as_slice(),
        predict(&again).into_distributions().unwrap().as_slice()
    );
}

#[test]
fn a_mixture_within_a_mixture_is_refused() {
    let mut parts = fit(&["iterations=5"], &data(3)).to_parts();
    parts.details["model"]["members"][0]["learner"] = "sldlf-auto".into();
    let error = TrainedModel::from_parts(parts, &registry::learners()).err().unwrap();
    assert_eq!(error.kind(), ldlf::internals::core::ErrorKind::ModelFile);
    assert!(error.to_string().contains("\"sldlf-auto\" cannot be a member"), "{error}");
}

/// Interrupts when the second candidate was tried.
struct Impatient;

impl Observer for Impatient {
    fn observe(&mut self, event: &FitEvent, _: &dyn InProgress) -> ControlFlow<StopReason> {
        match event {
            FitEvent::Iteration { iteration: 2, .. } => ControlFlow::Break(StopReason::Interrupted),
            _ => ControlFlow::Continue(()),
        }
    }
}

fn fit_watched(observer: &mut dyn Observer, data: &Dataset) -> Result<TrainedModel, Error> {
    let learner = registry::build("sldlf-auto", None, &Settings::parse(["iterations=30"]).unwrap()).unwrap();
    TrainedModel::fit(&*learner, data, &mut FitContext::new(0, Threads::one(), observer))
}

#[test]
fn an_interrupted_search_keeps_what_it_has_tried() {
    let data = data(60);
    let model = fit_watched(&mut Impatient, &data).unwrap();
    assert_eq!((model.summary.stopped, model.summary.iterations), (StopReason::Interrupted, 2));
    let (tried, members) = (said(&model, "tried "), said(&model, "member "));
    assert_eq!(tried.len(), 2, "{tried:?}");
    assert!(!members.is_empty() && members.len() <= 2, "{members:?}");
    model.predict_with(data.inputs(), &Threads::one()).unwrap();
}

/// Interrupts before anything was tried.
struct Hasty;

impl Observer for Hasty {
    fn observe(&mut self, _: &FitEvent, _: &dyn InProgress) -> ControlFlow<StopReason> {
        ControlFlow::Break(StopReason::Interrupted)
    }

    fn interrupted(&mut self) -> bool {
        true
    }
}

#[test]
fn a_search_interrupted_in_its_first_fit_keeps_that_or_says_that_there_is_nothing() {
    let data = data(60);
    match fit_watched(&mut Hasty, &data) {
        Ok(model) => {
            assert_eq!(said(&model, "member ").len(), 1);
            model.predict_with(data.inputs(), &Threads::one()).unwrap();
        }
        Err(error) => assert!(matches!(error, Error::Interrupted), "{error}"),
    }
}

#[test]
fn a_search_cut_by_its_budget_says_so() {
    let model = fit(&["iterations=30", "budget=0.000000001"], &data(60));
    assert_eq!(model.summary.stopped, StopReason::TimeLimit);
}
