//! The Python package's door into Rust: arrays come in, arrays go out, and no mathematics happens here.
//!
//! `inputs` turns arrays into a dataset, `door` runs work while other Python threads go on and Ctrl-C is heard,
//! `training` fits, `model` holds what was learnt, `learners` tells what there is, `measures` and `estimates` read
//! distributions, `head` is the forest head for PyTorch, `onnx` writes models for other runtimes, `shards` the training on several
//! machines, `errors` turns our sentences into exceptions.

use pyo3::prelude::*;

mod door;
mod errors;
mod estimates;
mod generate;
mod head;
mod inputs;
mod learners;
mod measures;
mod model;
mod onnx;
mod shards;
mod training;

/// The compiled part of the package `ldlf`; everything in it has a typed face in Python.
#[pymodule]
mod _engine {
    #[pymodule_export]
    use crate::estimates::{entropies, intervals, means, quantiles};
    #[pymodule_export]
    use crate::generate::generate;
    #[pymodule_export]
    use crate::head::{head_leaf_update, head_loss, head_predict, head_predict_grad, head_route, head_units};
    #[pymodule_export]
    use crate::inputs::{implied_labels, normalise, spread};
    #[pymodule_export]
    use crate::learners::describe_learners;
    #[pymodule_export]
    use crate::measures::{describe_measures, measure};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::onnx::{head_to_onnx, write_file};
    #[pymodule_export]
    use crate::shards::{Coordinator, Holding};
    #[pymodule_export]
    use crate::training::fit;
}
