//! The files of `ldlf`: whatever opens, reads or writes one stands here, and nothing else does.
//!
//! Tables into datasets ([`read`]), predictions and datasets into tables ([`write`](mod@write)), with one table of formats ([`Format`]); tables as a
//! model wants them ([`for_model`]); fold files ([`fold_file`]), model files and checkpoints ([`model_file`]), finished folds of an
//! evaluation ([`journal`]) and its results ([`results`]); below them opening ([`input`]), identifying inputs ([`fingerprint`]) and
//! writing whole or not at all ([`output`]).

pub mod fingerprint;
pub mod fold_file;
pub mod for_model;
mod format;
pub mod input;
pub mod journal;
pub mod model_file;
pub mod output;
pub mod read;
pub mod results;
pub mod write;

pub use format::Format;
