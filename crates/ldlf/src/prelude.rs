//! What most programs need: `use ldlf::prelude::*;`.

pub use ldlf_baselines::learners::*;
pub use ldlf_core::mean::Mean;
pub use ldlf_core::{
    Dataset, Features, FitEvent, InProgress, Learner, Matrix, Observer, Prediction, StopReason,
};
#[cfg(feature = "deep")]
pub use ldlf_deep::learners::{DeepForest, DeepLdl, DeepNeuralDecisionForest};
pub use ldlf_forest::{Forest, NeuralDecisionForest};

pub use crate::SaveModel;
pub use crate::auto::AutoForest;
