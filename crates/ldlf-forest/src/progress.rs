//! Where a training stands: iterations, losses, and whether it still gets better.

use ldlf_core::early_stopping::Patience;
use ldlf_core::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::shallow::SldlfParameters;

/// The small state that a checkpoint keeps as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Progress {
    pub iteration: usize,
    pub patience: Patience,
    pub loss: Option<f64>,
    /// Sum and number of the losses since the last leaf update, and the mean before it.
    window: (f64, usize),
    previous: Option<f64>,
}

impl Progress {
    /// Nothing done yet; `patience` leaf updates may pass without improvement.
    pub fn new(patience: usize) -> Self {
        Progress {
            iteration: 0,
            patience: Patience::new(patience),
            loss: None,
            window: (0.0, 0),
            previous: None,
        }
    }

    /// Takes note of a step, unless its loss says that the training has run out of bounds.
    pub fn stepped(&mut self, loss: f64, learner: &str, parameters: &SldlfParameters) -> Result<()> {
        if !loss.is_finite() {
            let (iteration, rate) = (self.iteration + 1, parameters.learning_rate);
            return Err(Error::training(format!("the loss is not a finite number at iteration {iteration}"))
                .with_remedy(format!("try a learning_rate below {rate} or scaling=standard"))
                .of_learner(learner));
        }
        self.iteration += 1;
        self.loss = Some(loss);
        self.window.0 += loss;
        self.window.1 += 1;
        Ok(())
    }

    /// Ends the window of a leaf update, and says whether the mean loss changed less than the tolerance since the one before.
    pub fn has_converged(&mut self, tolerance: Option<f64>) -> bool {
        let (sum, count) = std::mem::take(&mut self.window);
        let mean = sum / count.max(1) as f64;
        match (tolerance, self.previous.replace(mean)) {
            (Some(tolerance), Some(previous)) => (previous - mean).abs() < tolerance * previous.abs(),
            _ => false,
        }
    }
}
