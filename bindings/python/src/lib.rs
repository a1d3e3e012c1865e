//! The Rust side of the Python package: arrays in, arrays out, and no mathematics here.
//!
//! `inputs` turns arrays into a dataset, `images` what stands for images, `background` runs work while other Python threads run and Ctrl-C works,
//! `frames` reads columns of data frames, `training` fits, `model` holds a fitted model, `learners` lists the learners, `measures` and `estimates` read
//! distributions, `head` is the forest head for PyTorch, `onnx` writes models for other runtimes, `shards` the training on several
//! machines, `command` is the command line, `errors` turns our sentences into exceptions.

use pyo3::prelude::*;

mod background;
mod command;
mod errors;
mod estimates;
mod frames;
mod generate;
mod head;
mod images;
mod inputs;
mod learners;
mod measures;
mod model;
mod onnx;
mod shards;
mod training;

/// The compiled part of the package `ldlf`; everything in it has a typed wrapper in Python.
#[pymodule]
mod _engine {
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::estimates::{entropies, intervals, means, quantiles};
    #[pymodule_export]
    use crate::frames::{encode_columns, infer_columns};
    #[pymodule_export]
    use crate::generate::{describe_datasets, generate, read_mat};
    #[pymodule_export]
    use crate::head::{head_leaf_update, head_loss, head_predict, head_predict_grad, head_route, head_units};
    #[pymodule_export]
    use crate::images::Images;
    #[pymodule_export]
    use crate::inputs::{implied_labels, normalise, spread};
    #[pymodule_export]
    use crate::learners::{describe_learners, has_deep_networks};
    #[pymodule_export]
    use crate::measures::{describe_measures, measure, measure_rows};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::onnx::{head_to_onnx, write_file};
    #[pymodule_export]
    use crate::shards::{Coordinator, Holding};
    #[pymodule_export]
    use crate::training::fit;
}
