//! The examples run.

#[path = "../examples/ages.rs"]
mod ages;
#[path = "../examples/cross_validation.rs"]
mod cross_validation;
#[cfg(feature = "deep")]
#[path = "../examples/images.rs"]
mod images;
#[path = "../examples/observer.rs"]
mod observer;
#[path = "../examples/votes.rs"]
mod votes;

#[test]
fn ages_are_learnt_and_estimated() {
    ages::main().unwrap();
}

#[test]
fn learners_are_compared_on_the_same_folds() {
    cross_validation::main().unwrap();
}

#[cfg(feature = "deep")]
#[test]
fn images_are_learnt_with_a_network() {
    images::main().unwrap();
}

#[test]
fn an_observer_ends_a_fit() {
    observer::main().unwrap();
}

#[test]
fn votes_are_learnt_saved_and_loaded() {
    votes::main().unwrap();
}
