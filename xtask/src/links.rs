//! Links of pages, as one follows them in the repository: the file is there, and so is the heading.

use crate::markdown::{anchors, prose, targets};
use std::path::Path;

/// Pages that are parts of other pages: `sinew nodes --pages` writes them into `docs/nodes`, where their links hold.
const PARTS: [&str; 2] = ["crates/sinew-deform/src/", "crates/sinew-graph/src/"];

/// Whether a target is a file of the repository or a heading of the page: not an address, not a name in Rust.
pub(crate) fn is_local(target: &str) -> bool {
    !target.is_empty() && !target.contains(':')
}

/// Wrong links of `pages`: path from the root and content of each.
pub(crate) fn check(root: &Path, pages: &[(String, String)]) -> Vec<String> {
    let mut out = Vec::new();
    let is_part = |path: &str| PARTS.iter().any(|part| path.starts_with(part));
    for (path, content) in pages.iter().filter(|(path, _)| !is_part(path)) {
        for (number, line) in prose(content) {
            for target in targets(line).into_iter().map(|range| &line[range]) {
                if let Some(problem) = problem(root, pages, path, target) {
                    out.push(format!("{path}:{number} links to {target}: {problem}"));
                }
            }
        }
    }
    out
}

fn problem(root: &Path, pages: &[(String, String)], page: &str, target: &str) -> Option<String> {
    if !is_local(target) {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let Some(path) = resolve(page, file) else {
        return Some("it leaves the repository".into());
    };
    if !root.join(&path).exists() {
        return Some(format!("there is no {path}"));
    }
    let content = pages.iter().find(|(p, _)| *p == path).map(|(_, c)| c);
    let has = |content: &String| anchors(content).iter().any(|a| a == anchor);
    if anchor.is_empty() || content.is_some_and(has) {
        return None;
    }
    Some(format!("{path} has no heading #{anchor}"))
}

/// The path from the root that a link in `page` leads to; an empty one leads to the page itself.
pub(crate) fn resolve(page: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(page.to_owned());
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => _ = parts.pop()?,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_resolve_from_the_folder_of_their_page() {
        let at = |page, target| resolve(page, target);
        assert_eq!(
            at("docs/nodes/a.md", "b.md").as_deref(),
            Some("docs/nodes/b.md")
        );
        assert_eq!(at("docs/nodes/a.md", "../../x").as_deref(), Some("x"));
        assert_eq!(at("docs/a.md", "").as_deref(), Some("docs/a.md"));
        assert_eq!(at("README.md", "docs/").as_deref(), Some("docs"));
        assert_eq!(at("README.md", "../x"), None);
    }

    #[test]
    fn files_and_headings_must_be_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let page = |text: &str| ("Cargo.toml".to_owned(), text.to_owned());
        let good =
            "# Two words\n[a](Cargo.toml) [b](#two-words) [c](https://x.y/z#q) [d](crate::E)\n";
        assert!(check(root, &[page(good)]).is_empty());
        let bad = "# One\n\n[a](none.md) [b](../x.md)\n";
        assert_eq!(
            check(root, &[page(bad)]),
            [
                "Cargo.toml:3 links to none.md: there is no none.md",
                "Cargo.toml:3 links to ../x.md: it leaves the repository"
            ]
        );
    }
}
