//! The deep learners, their networks and weight files against PyTorch, the paper's equations and each other.

mod backbones;
mod fine_tuning;
mod forest_head;
mod graph;
mod presets;
mod small_fits;
mod support;
mod ten_steps;
mod training;
mod weight_files;
