//! The book: `docs/` as web pages, made by mdBook. Links that leave `docs/` lead to the repository on the web.

use crate::links::{is_local, resolve};
use crate::markdown::{prose, targets, words};
use crate::{files, relative};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pages, and the list of them that mdBook reads.
const DOCS: &str = "docs/";
const SUMMARY: &str = "docs/SUMMARY.md";
/// Installs the version that the checks use, with what the book needs.
const INSTALL: &str = "cargo install mdbook@0.5.4 --locked --no-default-features --features search";
/// Words that most people read in a minute.
const WORDS_PER_MINUTE: usize = 200;

/// A page: its path from the root, and its text.
type Page = (String, String);

/// Builds the book and checks it.
///
/// # Errors
/// mdBook is missing or warns, a page is missing in the summary, or a link leads nowhere.
pub(crate) fn build(root: &Path) -> Result<(), String> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    let target = std::path::absolute(root.join(target)).map_err(|e| e.to_string())?;
    let (source, book) = (target.join("book-source"), target.join("book"));
    let pages = stage(root, &source)?;
    let summary = fs::read_to_string(root.join(SUMMARY)).map_err(|e| format!("{SUMMARY}: {e}"))?;
    let mut problems = unlisted(&summary, &pages);
    problems.extend(mdbook(&source, &book)?);
    problems.extend(check_html(&book)?);
    if !problems.is_empty() {
        return Err(format!("\n  {}", problems.join("\n  ")));
    }
    for line in sizes(&summary, &pages) {
        eprintln!("{line}");
    }
    eprintln!("{}", book.join("index.html").display());
    Ok(())
}

/// Copies what mdBook reads into `source`, with the links that leave `docs/` rewritten. Returns the pages as they are in `docs/`.
fn stage(root: &Path, source: &Path) -> Result<Vec<Page>, String> {
    let failed = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
    if source.exists() {
        fs::remove_dir_all(source).map_err(|e| failed(source, e))?;
    }
    let manifest = root.join("Cargo.toml");
    let manifest = fs::read_to_string(&manifest).map_err(|e| failed(&manifest, e))?;
    let web = repository(&manifest).ok_or("Cargo.toml names no repository")?;
    let mut pages = Vec::new();
    let all = files(&root.join(DOCS)).map_err(|e| failed(&root.join(DOCS), e))?;
    for file in all.iter().chain([&root.join("book.toml")]) {
        let path = relative(root, file);
        let copy = source.join(&path);
        let folder = copy.parent().unwrap_or(source);
        fs::create_dir_all(folder).map_err(|e| failed(folder, e))?;
        if path.ends_with(".md") {
            let text = fs::read_to_string(file).map_err(|e| failed(file, e))?;
            if path == SUMMARY {
                fs::write(&copy, &text).map_err(|e| failed(&copy, e))?;
                continue;
            }
            let rewritten = with_web_links(&path, &text, web);
            fs::write(&copy, rewritten).map_err(|e| failed(&copy, e))?;
            pages.push((path, text));
        } else {
            fs::copy(file, &copy).map_err(|e| failed(&copy, e))?;
        }
    }
    Ok(pages)
}

/// The address of the repository in the manifest of the workspace.
fn repository(manifest: &str) -> Option<&str> {
    let line = manifest.lines().find(|l| l.starts_with("repository = "))?;
    line.split('"').nth(1)
}

/// The text of a page, with links as the book needs them. mdBook shows pages and pictures of `docs/`; other files are on the web. It calls the page
/// `README.md` of a folder `index.html`, but does not change links to it.
fn with_web_links(path: &str, text: &str, web: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (number, line) in prose(text) {
        for range in targets(line).into_iter().rev() {
            let target = &line[range.clone()];
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let Some(found) = resolve(path, file).filter(|_| is_local(target)) else {
                continue;
            };
            let is_shown = [".md", ".png", ".gif"].iter().any(|e| found.ends_with(e));
            let address = match found.starts_with(DOCS) && is_shown {
                true => target.replace("README.md", "index.md"),
                false if anchor.is_empty() => format!("{web}/blob/main/{found}"),
                false => format!("{web}/blob/main/{found}#{anchor}"),
            };
            lines[number - 1].replace_range(range, &address);
        }
    }
    lines.join("\n") + "\n"
}

/// Pages that the summary does not list, and those that it lists twice.
fn unlisted(summary: &str, pages: &[Page]) -> Vec<String> {
    let listed = listed(summary);
    let times = |path: &str| listed.iter().filter(|(_, p)| p == path).count();
    let wrong = pages.iter().filter_map(|(path, _)| match times(path) {
        1 => None,
        0 => Some(format!("{SUMMARY} does not list {path}")),
        n => Some(format!("{SUMMARY} lists {path} {n} times")),
    });
    wrong.collect()
}

/// The pages of the summary in order, each with the heading of its part.
fn listed(summary: &str) -> Vec<(String, String)> {
    let (mut part, mut out) = (String::new(), Vec::new());
    for line in summary.lines() {
        if let Some(heading) = line.strip_prefix("# ") {
            part = heading.to_owned();
        }
        let paths = targets(line)
            .into_iter()
            .filter_map(|r| resolve(SUMMARY, &line[r]));
        out.extend(paths.map(|path| (part.clone(), path)));
    }
    out
}

/// Runs mdBook. Returns its warnings.
fn mdbook(source: &Path, book: &Path) -> Result<Vec<String>, String> {
    let program = std::env::var_os("MDBOOK").unwrap_or_else(|| "mdbook".into());
    let mut command = Command::new(&program);
    command.arg("build").arg(source).arg("--dest-dir").arg(book);
    let output = command.output().map_err(|e| {
        let program = program.to_string_lossy();
        format!("{program} does not start: {e}; install it with `{INSTALL}`, or say where it is with MDBOOK=FILE")
    })?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(said.trim().to_owned());
    }
    let is_warning = |line: &&str| {
        ["WARN", "ERROR"]
            .iter()
            .any(|w| line.trim_start().starts_with(w))
    };
    Ok(said.lines().filter(is_warning).map(str::to_owned).collect())
}

/// Links of the built pages that lead to no file or no anchor.
fn check_html(book: &Path) -> Result<Vec<String>, String> {
    let mut pages = BTreeMap::new();
    for file in files(book).map_err(|e| format!("{}: {e}", book.display()))? {
        let path = relative(book, &file);
        // The page for wrong addresses may be shown at any address: its links begin at the root of the site.
        if path.ends_with(".html") && path != "404.html" {
            let text = fs::read_to_string(&file).map_err(|e| format!("{path}: {e}"))?;
            pages.insert(path, text);
        }
    }
    let ids: BTreeMap<&String, BTreeSet<&str>> = pages
        .iter()
        .map(|(path, text)| (path, attribute(text, "id").collect()))
        .collect();
    let mut out = BTreeSet::new();
    for (path, text) in &pages {
        for target in attribute(text, "href").chain(attribute(text, "src")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let Some(found) = resolve(path, file).filter(|_| is_local(target)) else {
                continue;
            };
            let has = |ids: &BTreeSet<&str>| ids.contains(anchor);
            if !book.join(&found).is_file() {
                out.insert(format!("{path} links to {target}, which is no file"));
            } else if !anchor.is_empty() && !ids.get(&found).is_some_and(has) {
                out.insert(format!(
                    "{path} links to {target}, but {found} has no such heading"
                ));
            }
        }
    }
    Ok(out.into_iter().collect())
}

/// The values of an attribute in a page.
fn attribute<'a>(html: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let mark = format!(" {name}=\"");
    let values: Vec<&str> = html.split(&*mark).skip(1).collect();
    values.into_iter().filter_map(|rest| rest.split('"').next())
}

/// Pages, words and reading time of each part and of the whole book.
fn sizes(summary: &str, pages: &[Page]) -> Vec<String> {
    let mut parts: Vec<(String, usize, usize)> = Vec::new();
    for (part, path) in listed(summary) {
        let Some((_, text)) = pages.iter().find(|(p, _)| *p == path) else {
            continue;
        };
        match parts.last_mut().filter(|(last, ..)| *last == part) {
            Some((_, count, total)) => {
                *count += 1;
                *total += words(text);
            }
            None => parts.push((part, 1, words(text))),
        }
    }
    let sum = |f: fn(&(String, usize, usize)) -> usize| parts.iter().map(f).sum();
    let all = ("the book".to_owned(), sum(|p| p.1), sum(|p| p.2));
    let line = |(part, count, words): &(String, usize, usize)| {
        let minutes = words.div_ceil(WORDS_PER_MINUTE);
        format!("{part}: {count} pages, {words} words, {minutes} minutes")
    };
    parts.iter().chain([&all]).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_leave_the_docs_lead_to_the_web() {
        let text = "See [a](../TESTING.md#x), [b](n/README.md#y), ![c](pictures/c.png), [d](../examples/), [e](d/e.json), [f](https://g.h), [i](#j).\n\
                    ```\n[k](../l.md)\n```\n";
        assert_eq!(
            with_web_links("docs/page.md", text, "https://w"),
            "See [a](https://w/blob/main/TESTING.md#x), [b](n/index.md#y), ![c](pictures/c.png), [d](https://w/blob/main/examples), \
             [e](https://w/blob/main/docs/d/e.json), [f](https://g.h), [i](#j).\n```\n[k](../l.md)\n```\n"
        );
        assert_eq!(
            repository("a = 1\nrepository = \"https://w\"\n"),
            Some("https://w")
        );
    }

    #[test]
    fn every_page_is_listed_once() {
        let summary = "# Summary\n[One](one.md)\n# Part\n- [Two](two.md)\n  - [Three](a/three.md)\n- [Again](two.md)\n";
        let page = |path: &str| (path.to_owned(), "three words here\n".to_owned());
        let pages = [
            "docs/one.md",
            "docs/two.md",
            "docs/a/three.md",
            "docs/four.md",
        ]
        .map(page);
        assert_eq!(
            unlisted(summary, &pages),
            [
                "docs/SUMMARY.md lists docs/two.md 2 times",
                "docs/SUMMARY.md does not list docs/four.md"
            ]
        );
        assert_eq!(
            sizes(summary, &pages),
            [
                "Summary: 1 pages, 3 words, 1 minutes",
                "Part: 3 pages, 9 words, 1 minutes",
                "the book: 4 pages, 12 words, 1 minutes"
            ]
        );
    }

    #[test]
    fn attributes_are_found() {
        let html = r#"<a href="b.html#c" id="d">x</a> <img src="e.png">"#;
        assert_eq!(attribute(html, "href").collect::<Vec<_>>(), ["b.html#c"]);
        assert_eq!(attribute(html, "id").collect::<Vec<_>>(), ["d"]);
    }
}
