//! Watching a fit, and ending it early. `cargo run --example observer`

use std::ops::ControlFlow;

use ldlf::prelude::*;

/// Prints every leaf update and stops after a hundred iterations with the best model so far.
pub fn main() -> ldlf::Result<()> {
    let data = ldlf::generate::artificial(500, 0)?;
    let mut watch = |event: &FitEvent, _: &dyn InProgress| match event {
        FitEvent::LeafUpdate { iteration } => {
            println!("leaves updated after iteration {iteration}");
            ControlFlow::Continue(())
        }
        FitEvent::Iteration { iteration: 100, .. } => ControlFlow::Break(StopReason::Interrupted),
        _ => ControlFlow::Continue(()),
    };
    let model = Forest::params().trees(5).depth(4).fit_observed(&data, &mut watch)?;
    assert_eq!((model.summary.iterations, model.summary.stopped), (100, StopReason::Interrupted));
    Ok(())
}
