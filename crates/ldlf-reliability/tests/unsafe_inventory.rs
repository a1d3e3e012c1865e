//! Where `unsafe` occurs, and that every place states why it is sound.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files with unsafe code and how often the keyword occurs in them. A new place must be added here, with its reason.
const ALLOWED: [(&str, usize); 5] = [
    // The matrix products of another library, in a bench that times it.
    ("benches/benches/products.rs", 1),
    // The call of `mallopt`, which takes two numbers.
    ("crates/ldlf-cli/src/images.rs", 1),
    // The one call into `gemm`, behind views that prove their bounds.
    ("crates/ldlf-math/src/product.rs", 1),
    // Counting allocators: tests only.
    ("crates/ldlf-forest/tests/allocations.rs", 5),
    ("crates/ldlf-reliability/src/watched_memory.rs", 7),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let skipped = ["target", ".venv", ".venv-torch", ".git"];
        if path.is_dir() && !skipped.contains(&path.file_name().unwrap().to_str().unwrap()) {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// How often the keyword occurs in a line of code, comments and longer words aside.
fn keywords(line: &str) -> usize {
    let code = line.split("//").next().unwrap_or_default();
    code.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-' && c != '"' && c != '\'')
        .filter(|word| *word == "unsafe")
        .count()
}

#[test]
fn unsafe_code_occurs_only_where_it_is_listed_with_a_reason() {
    let mut files = Vec::new();
    sources(&root(), &mut files);
    assert!(files.len() > 100, "only {} files were read", files.len());
    let mut found = BTreeMap::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let count: usize = text.lines().map(keywords).sum();
        let name = file.strip_prefix(root()).unwrap().to_str().unwrap().to_string();
        if count > 0 && !name.ends_with("unsafe_inventory.rs") {
            assert!(text.contains("SAFETY:"), "{name} does not say why its unsafe code is sound");
            assert!(text.contains("reason = "), "{name} allows unsafe code without a reason");
            found.insert(name, count);
        }
    }
    let allowed: BTreeMap<String, usize> =
        ALLOWED.iter().map(|(name, count)| (name.to_string(), *count)).collect();
    assert_eq!(found, allowed);
}

#[test]
fn the_search_finds_only_the_keyword() {
    assert_eq!(keywords("    unsafe { call() } // unsafe here"), 1);
    assert_eq!(keywords("unsafe impl Send for T {} unsafe fn f()"), 2);
    assert_eq!(keywords("#[allow(unsafe_code)] // unsafe"), 0);
    assert_eq!(keywords("let policy = \"style-src 'unsafe-inline'\";"), 0);
}

#[test]
fn every_crate_forbids_unsafe_code_by_default() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(manifest.contains("unsafe_code = \"deny\""));
    for folder in ["crates", "bindings"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let file = entry.unwrap().path().join("Cargo.toml");
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            assert!(text.contains("[lints]\nworkspace = true"), "{} has lints of its own", file.display());
        }
    }
}
