//! The files of `ldlf`: whatever opens, reads or writes one stands here, and nothing else does.
//!
//! Tables into datasets ([`read`]), fold files ([`fold_file`]), model files and checkpoints ([`model_file`]), finished folds of an
//! evaluation ([`journal`]) and its results ([`results`]); below them opening ([`input`]) and writing whole or not at all ([`output`]).

pub mod fold_file;
pub mod input;
pub mod journal;
pub mod model_file;
pub mod output;
pub mod read;
pub mod results;
