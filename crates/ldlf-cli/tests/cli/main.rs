//! The `ldlf` command as a user meets it: real processes in a folder of their own, with stdout, stderr and exit code.
//!
//! Snapshots stand beside the calls; `SNAPSHOTS=overwrite cargo test -p ldlf-cli --test cli` rewrites them. Digits that a
//! trained forest gives may differ between processors, so that they are left open with `[..]`.

mod apart;
mod call;
mod compare;
mod data;
#[cfg(feature = "deep")]
mod deep_models;
mod evaluate;
mod explain;
mod export;
#[cfg(feature = "deep")]
mod features;
mod full_disk;
mod hostile;
#[cfg(feature = "deep")]
mod images;
mod interrupt;
mod killed;
mod lists;
mod long_votes;
mod no_network;
#[cfg(feature = "parquet")]
mod parts;
mod predict;
mod report;
mod reproduce;
mod same_answer;
mod settings;
mod survey;
mod train;
mod trust;
mod usable_predictions;
#[cfg(feature = "xlsx")]
#[path = "../../../ldlf-io/tests/fixtures/workbook.rs"]
mod workbook;
