//! What the promises of `docs/reliability.md` are tested with.
//!
//! [`readers`] is one door to every reader, shared by the mutation run (`tests/mutations.rs`) and the fuzz targets (`fuzz/`);
//! [`corpus`] makes whole files of every kind; [`mutation`] damages them, reproducibly; [`watched_memory`] is an allocator
//! that knows how much is in use; [`learners`] are all learners with settings that keep a fit short.

pub mod corpus;
pub mod learners;
pub mod mutation;
pub mod readers;
pub mod watched_memory;
