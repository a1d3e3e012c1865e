//! The pages, and what stands on them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// A page, by its path from the root of the repository.
pub struct Page {
    pub path: String,
    pub text: String,
}

/// A block of code.
pub struct Block {
    /// The first word after the fence.
    pub language: String,
    /// What follows that word: why the block cannot run in tests.
    pub reason: String,
    /// What stands between the fences, and where.
    pub text: String,
    pub place: Range<usize>,
}

/// Pages outside `docs/` that are held to the same.
const OUTSIDE: [&str; 7] = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "bindings/python/README.md",
    "crates/ldlf/README.md",
];

/// Every page, those of the guide first.
pub fn pages() -> Vec<Page> {
    let root = repository();
    let mut paths = Vec::new();
    markdown_within(&root.join("docs"), &mut paths);
    paths.sort();
    paths.extend(OUTSIDE.iter().map(|path| root.join(path)));
    let page = |path: PathBuf| Page {
        text: std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())),
        path: path.strip_prefix(&root).expect("within the repository").to_string_lossy().into_owned(),
    };
    paths.into_iter().map(page).collect()
}

fn markdown_within(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            markdown_within(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
}

impl Page {
    /// Whether its snippets are promised to run: pages of results and of decisions tell what was run, and files for maintainers quote
    /// the code.
    pub fn runs(&self) -> bool {
        let guide = self.path.starts_with("docs/");
        let record = ["docs/results/", "docs/decisions/"].iter().any(|folder| self.path.starts_with(folder));
        (guide && !record) || ["README.md", "bindings/python/README.md"].contains(&&*self.path)
    }

    fn events(&self) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
        Parser::new_ext(&self.text, Options::ENABLE_TABLES).into_offset_iter()
    }

    /// Every block of code with a language. A comment `<!-- console ... -->` is one too, for what a page needs and need not show.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut events = self.events();
        while let Some((event, place)) = events.next() {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                    let (mut text, mut within) = (String::new(), None::<Range<usize>>);
                    for (event, place) in events.by_ref() {
                        match event {
                            Event::Text(part) => {
                                text += &part;
                                within = Some(within.map_or(place.clone(), |whole| whole.start..place.end));
                            }
                            Event::End(TagEnd::CodeBlock) => break,
                            _ => {}
                        }
                    }
                    let (language, reason) = info.trim().split_once(' ').unwrap_or((info.trim(), ""));
                    let language = language.split(',').next().unwrap_or_default();
                    blocks.push(Block {
                        language: language.into(),
                        reason: reason.trim().into(),
                        text,
                        place: within.unwrap_or(place),
                    });
                }
                Event::Start(Tag::HtmlBlock) => {
                    let comment = self.text[place.clone()]
                        .trim()
                        .strip_prefix("<!-- ")
                        .and_then(|text| text.strip_suffix("-->"));
                    if let Some((language, text)) = comment.and_then(|text| text.split_once('\n')) {
                        blocks.push(Block {
                            language: language.trim().into(),
                            reason: String::new(),
                            text: text.into(),
                            place,
                        });
                    }
                }
                _ => {}
            }
        }
        blocks
    }

    /// Where its links and images lead.
    pub fn targets(&self) -> Vec<String> {
        self.events()
            .filter_map(|(event, _)| match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    Some(dest_url.into_string())
                }
                _ => None,
            })
            .collect()
    }

    /// The names of its headings in links, as mdBook and GitHub make them.
    pub fn anchors(&self) -> Vec<String> {
        let (mut anchors, mut seen, mut heading) =
            (Vec::new(), BTreeMap::<String, usize>::new(), None::<String>);
        for (event, _) in self.events() {
            match (event, &mut heading) {
                (Event::Start(Tag::Heading { .. }), _) => heading = Some(String::new()),
                (Event::Text(text) | Event::Code(text), Some(title)) => title.push_str(&text),
                (Event::End(TagEnd::Heading(_)), Some(title)) => {
                    let name = anchor(title);
                    let again = seen.entry(name.clone()).or_default();
                    anchors.push(if *again == 0 { name } else { format!("{name}-{again}") });
                    *again += 1;
                    heading = None;
                }
                _ => {}
            }
        }
        anchors
    }
}

/// The name of a heading in links.
fn anchor(title: &str) -> String {
    let lower = title.trim().to_lowercase();
    let kept = lower.chars().filter(|&c| c.is_alphanumeric() || "-_ ".contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
