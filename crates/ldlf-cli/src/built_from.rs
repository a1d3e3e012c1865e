//! What this program was built from; `build.rs` finds it out.

use ldlf::internals::core::evaluate::Build;

/// Goes into journals and results.
pub const BUILD: Build = Build {
    id: concat!(env!("CARGO_PKG_VERSION"), "+", env!("LDLF_SOURCES")),
    commit: match env!("LDLF_COMMIT").is_empty() {
        true => None,
        false => Some(env!("LDLF_COMMIT")),
    },
};

/// What `--version` says.
pub const LONG_VERSION: &str = match BUILD.commit {
    None => concat!(env!("CARGO_PKG_VERSION"), "\nsources ", env!("LDLF_SOURCES")),
    Some(_) => concat!(
        env!("CARGO_PKG_VERSION"),
        "\nsources ",
        env!("LDLF_SOURCES"),
        "\ncommit  ",
        env!("LDLF_COMMIT")
    ),
};
