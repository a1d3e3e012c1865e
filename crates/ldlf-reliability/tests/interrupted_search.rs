//! A fit that searches for parameters can be interrupted before its first report.

use std::ops::ControlFlow;

use ldlf::{Error, FitContext, FitEvent, InProgress, Observer, Settings, StopReason, Threads, registry};
use ldlf_reliability::learners::small_data;

/// Interrupts at the second check.
struct Impatient {
    asked: usize,
}

impl Observer for Impatient {
    fn observe(&mut self, _: &FitEvent, _: &dyn InProgress) -> ControlFlow<StopReason> {
        panic!("there is nothing to report within a search");
    }

    fn interrupted(&mut self) -> bool {
        self.asked += 1;
        self.asked == 2
    }
}

#[test]
fn searches_for_parameters_can_be_interrupted() {
    for name in ["ldsvr", "kernel-ridge", "aa-knn"] {
        let learner = registry::build(name, None, &Settings::new()).unwrap();
        let mut observer = Impatient { asked: 0 };
        let mut context = FitContext::new(0, Threads::one(), &mut observer);
        let outcome = learner.fit(&small_data(), &mut context);
        assert!(matches!(outcome, Err(Error::Interrupted)), "{name} continued");
        assert_eq!(observer.asked, 2, "{name}");
    }
}
