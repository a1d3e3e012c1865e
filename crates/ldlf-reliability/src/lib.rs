//! Tools for testing the promises of `docs/reliability.md`.
//!
//! [`readers`] is one entry point to every reader, shared by the mutation run (`tests/mutations.rs`) and the fuzz targets (`fuzz/`);
//! [`corpus`] makes valid files of every kind; [`mutation`] damages them, reproducibly; [`watched_memory`] is an allocator
//! that counts the bytes in use; [`learners`] has all learners with settings that keep a fit short.

pub mod corpus;
pub mod learners;
pub mod mutation;
pub mod readers;
pub mod watched_memory;
