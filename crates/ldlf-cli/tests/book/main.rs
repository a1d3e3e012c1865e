//! The guide as its readers meet it: links lead somewhere, commands print what the pages show, and the reference is what the program
//! declares.
//!
//! `SNAPSHOTS=overwrite cargo nextest run -p ldlf-cli --test book` writes the reference and the outputs on the pages anew;
//! `BOOK_PAGE=docs/start.md` runs the commands of one page.

mod commands;
mod declarations;
mod links;
mod page;
mod reference;
mod shown;
