//! What is compared: stacks by name, graph documents, settings.

use super::built_in;
use crate::exit::{Failure, Outcome};
use crate::load;
use crate::reporter::Reporter;
use sinew::play::{Character, Document};
use std::path::Path;

/// One of the things that stand side by side.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    /// Empty where there is nothing to compare with.
    pub(super) label: String,
    pub(super) document: Document,
    /// `NAME=VALUE`, beside those of `--set`.
    pub(super) set: Vec<String>,
    /// Whether it is a stack of [`built_in`] by name.
    pub(super) is_built_in: bool,
}

impl Variant {
    /// The graph itself, under no name.
    pub(super) fn of(document: Document) -> Self {
        Self {
            label: String::new(),
            document,
            set: Vec::new(),
            is_built_in: false,
        }
    }

    /// An entry of `--compare`; `graph` is the document without it.
    pub(super) fn parse(
        entry: &str,
        graph: &Document,
        character: &Character,
        reporter: &Reporter,
    ) -> Outcome<Self> {
        let entry = entry.trim();
        let (document, set) = if load::is_document(Path::new(entry)) {
            (load::document(Path::new(entry), reporter)?, Vec::new())
        } else if entry == "graph" {
            (graph.clone(), Vec::new())
        } else if entry == "default" {
            (built_in::default_document(graph, character), Vec::new())
        } else if let Some(document) = built_in::document(entry, graph, character) {
            (document, Vec::new())
        } else if entry.contains('=') {
            (graph.clone(), vec![entry.to_owned()])
        } else {
            return Err(unknown(entry));
        };
        Ok(Self {
            label: label(entry),
            document,
            set,
            is_built_in: built_in::names().any(|name| name == entry),
        })
    }
}

/// Entries of `--compare`, between commas that no bracket encloses: values may be lists.
pub(super) fn split(text: &str) -> Vec<String> {
    let (mut out, mut depth) = (vec![String::new()], 0_i32);
    for letter in text.chars() {
        depth += i32::from(matches!(letter, '[' | '{')) - i32::from(matches!(letter, ']' | '}'));
        match (letter, out.last_mut()) {
            (',', _) if depth <= 0 => out.push(String::new()),
            (_, Some(last)) => last.push(letter),
            _ => {}
        }
    }
    out
}

fn label(entry: &str) -> String {
    let stem = Path::new(entry)
        .file_stem()
        .filter(|_| entry.ends_with(".json"));
    let plain = stem.map_or_else(|| entry.to_owned(), |s| s.to_string_lossy().into_owned());
    let plain = load::example_name(&plain).unwrap_or(&plain);
    plain.replace('_', " ").replace('=', " = ")
}

fn unknown(entry: &str) -> Failure {
    let known: Vec<&str> = built_in::names().collect();
    Failure::usage(format!(
        "'{entry}' is not a variant: expected {}, default, graph, a graph document (FILE.json or example:NAME) or a parameter of the graph (NAME=VALUE)",
        known.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::LogFormat;

    #[test]
    fn built_in_stacks_compile() {
        let asset = sinew_samples::arm_with_hand().expect("a sample");
        let character = Character::from_asset(asset);
        let graph = Document::of_character(&character);
        let reporter = Reporter::new(LogFormat::Text, true, crate::reporter::Allowed::default());
        for name in built_in::names() {
            let variant = Variant::parse(name, &graph, &character, &reporter).expect(name);
            variant.document.compile().expect(name);
        }
        for good in ["default", "graph", "blend=0.5"] {
            Variant::parse(good, &graph, &character, &reporter).expect(good);
        }
        assert!(Variant::parse("mush", &graph, &character, &reporter).is_err());
        assert_eq!(label("a/b_c.json"), "b c");
        assert_eq!(label("example:b_c"), "b c");
        assert_eq!(split("a,b=[1,2],c"), ["a", "b=[1,2]", "c"]);
        assert_eq!(split("a"), ["a"]);
    }
}
