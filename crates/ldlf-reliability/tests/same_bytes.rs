//! The bytes of a model depend on the data, the parameters and the seed only, not on the threads.

use ldlf::{FitContext, Threads, TrainedModel, registry};
use ldlf_reliability::learners::{quick, small_data};

#[test]
fn every_learner_gives_the_same_bytes_for_any_number_of_threads() {
    let data = small_data();
    for entry in registry::learners() {
        let learner = quick(&entry).unwrap();
        let bytes = |threads: usize| {
            let mut silent = ();
            let mut context = FitContext::new(3, Threads::new(threads).unwrap(), &mut silent);
            TrainedModel::fit(&*learner, &data, &mut context).unwrap().to_parts().to_bytes().unwrap()
        };
        let one = bytes(1);
        for threads in [1, 2, 5] {
            assert!(bytes(threads) == one, "{} with {threads} threads", entry.name());
        }
    }
}
