//! The `ldlf` command, as its own program.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(ldlf_cli::run(std::env::args_os()))
}
