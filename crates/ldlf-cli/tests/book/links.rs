//! Every link leads to a file and a heading that exist, and every page of the guide stands in its table of contents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::page::{Page, pages, repository};

/// A path without `..` in it.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[test]
fn every_link_leads_to_a_file_and_a_heading_that_exist() {
    let (root, pages) = (repository(), pages());
    let anchors: BTreeMap<&str, Vec<String>> =
        pages.iter().map(|page| (page.path.as_str(), page.anchors())).collect();
    let (mut dead, mut checked) = (Vec::new(), 0);
    for page in &pages {
        for target in page.targets() {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            checked += 1;
            let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
            let path = match file {
                "" => PathBuf::from(&page.path),
                file => plain(&Path::new(&page.path).parent().expect("a folder").join(file)),
            };
            if !root.join(&path).exists() {
                dead.push(format!("{}: {target}: there is no such file", page.path));
            } else if let (false, Some(known)) = (heading.is_empty(), anchors.get(&*path.to_string_lossy()))
                && !known.iter().any(|anchor| anchor == heading)
            {
                dead.push(format!("{}: {target}: the page has {}", page.path, known.join(", ")));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
    assert!(checked > 100, "only {checked} links were found");
}

#[test]
fn every_page_stands_in_the_table_of_contents() {
    let pages = pages();
    let contents = |page: &&Page| page.path == "docs/SUMMARY.md";
    let listed: Vec<String> = pages
        .iter()
        .find(contents)
        .expect("a table of contents")
        .targets()
        .into_iter()
        .map(|to| format!("docs/{to}"))
        .collect();
    let unique: BTreeSet<&str> = listed.iter().map(String::as_str).collect();
    assert_eq!(unique.len(), listed.len(), "a page stands twice in docs/SUMMARY.md");
    let written: BTreeSet<&str> = pages
        .iter()
        .map(|page| page.path.as_str())
        .filter(|path| path.starts_with("docs/") && *path != "docs/SUMMARY.md")
        .collect();
    assert_eq!(unique, written);
}
