//! Tells the program what it was built from: a hash of the sources that its numbers follow from, and the commit where there is one.
//!
//! No times, no paths. A crate that was published without its repository has the hash of its own sources and the commit that `cargo package`
//! noted. Only this crate is compiled again when the sources of another one change, which it would be anyway; the commit is looked up
//! anew with each commit in release builds alone.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let own = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let repository = own.join("../..");
    let in_repository = repository.join("crates/ldlf-core/src").is_dir();
    let root = if in_repository { repository.clone() } else { own.clone() };
    let mut files = Vec::new();
    for place in if in_repository { SOURCES } else { &["src", "Cargo.toml"] } {
        println!("cargo::rerun-if-changed={}", root.join(place).display());
        collect(&root.join(place), &mut files);
    }
    files.sort();
    let mut hash = Fnv::new();
    for file in &files {
        let name = file.strip_prefix(&root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        hash.add(name.as_bytes());
        hash.add(&std::fs::read(file).unwrap_or_default());
    }
    println!("cargo::rustc-env=LDLF_SOURCES={:016x}", hash.0);
    let commit = if in_repository { from_git(&root) } else { from_package(&own) };
    println!("cargo::rustc-env=LDLF_COMMIT={}", commit.unwrap_or_default());
}

/// What the numbers of the program follow from.
const SOURCES: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "crates/ldlf/src",
    "crates/ldlf-baselines/src",
    "crates/ldlf-cli/src",
    "crates/ldlf-core/src",
    "crates/ldlf-deep/src",
    "crates/ldlf-forest/src",
    "crates/ldlf-io/src",
    "crates/ldlf-math/src",
    "crates/ldlf-onnx/src",
    "crates/ldlf-report/src",
    "crates/ldlf-linear/src",
    "crates/ldlf-trees/src",
];

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        files.push(path.to_path_buf());
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        collect(&entry.path(), files);
    }
}

/// FNV-1a over the length and the bytes of each part: the same on every machine and with every compiler.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

/// The commit of the checkout, with a `+` where sources differ from it.
fn from_git(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    // A copy of the sources inside somebody else's repository has no commit of its own.
    git(&["ls-files", "--error-unmatch", "crates/ldlf-cli/Cargo.toml"])?;
    if std::env::var("PROFILE").as_deref() == Ok("release") {
        let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
        println!("cargo::rerun-if-changed={}", root.join(log).display());
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let mut status = vec!["status", "--porcelain", "--"];
    status.extend(SOURCES);
    let changed = git(&status).is_none_or(|changes| !changes.is_empty());
    Some(if changed { format!("{commit}+") } else { commit })
}

/// The commit that `cargo package` noted.
fn from_package(own: &Path) -> Option<String> {
    let text = std::fs::read_to_string(own.join(".cargo_vcs_info.json")).ok()?;
    let after = text.split("\"sha1\"").nth(1)?;
    after.split('"').nth(1).map(|commit| commit.chars().take(12).collect())
}
