//! Content that a kernel must not have: resources, entry points, reserved names, invalid characters.

use std::collections::HashSet;

use crate::brackets::Problem;
use crate::scan::{Declaration, DeclarationKind};
use crate::tokens::{Token, TokenKind};
use crate::words;

/// Prefix of generated names. Names in kernels must not begin with it.
pub const RESERVED_PREFIX: &str = "sinew_";

const ALLOWED_ATTRIBUTES: [&str; 3] = ["align", "size", "must_use"];
const PIN_HELP: &str = "declare a pin of the kernel in the graph and use its accessor";

/// All such problems, in the order of their locations.
pub(crate) fn check(text: &str, tokens: &[Token], declarations: &[Declaration]) -> Vec<Problem> {
    let mut out = Vec::new();
    let resources = resource_variables(text, tokens, declarations);
    let mut resource_attribute = false;
    let mut seen = HashSet::new();
    for (at, token) in tokens.iter().enumerate() {
        let word = token.text(text);
        match token.kind {
            TokenKind::Attribute if word == "group" || word == "binding" => {
                // One message for `@group(0) @binding(0) var<storage> x`.
                if !resource_attribute {
                    out.push(resource(tokens[at], &format!("@{word}")));
                }
                resource_attribute = true;
            }
            TokenKind::Attribute if !ALLOWED_ATTRIBUTES.contains(&word) => {
                out.push(attribute(*token, word));
            }
            TokenKind::Keyword if resources.contains(&at) => {
                if !resource_attribute {
                    out.push(resource(*token, "such a `var`"));
                }
                resource_attribute = false;
            }
            TokenKind::Keyword if word == "discard" => {
                let problem = Problem::new(*token, "a kernel cannot use `discard`");
                out.push(problem.help("leave the kernel with `return`"));
            }
            TokenKind::Name if seen.insert(word) => out.extend(name(*token, word)),
            TokenKind::Unknown => out.push(unknown(*token, word)),
            _ => {}
        }
        if token.is(text, b';') || token.is(text, b'{') {
            resource_attribute = false;
        }
    }
    out
}

/// Tokens `var` of module-scope variables that are neither private nor of the workgroup.
fn resource_variables(
    text: &str,
    tokens: &[Token],
    declarations: &[Declaration],
) -> HashSet<usize> {
    let is_resource = |d: &&Declaration| {
        let space = tokens.get(d.tokens.start + 2).map_or("", |t| t.text(text));
        d.kind == DeclarationKind::Variable
            && !(tokens[d.tokens.start + 1].kind == TokenKind::TemplateOpen
                && ["private", "workgroup"].contains(&space))
    };
    declarations
        .iter()
        .filter(is_resource)
        .map(|d| d.tokens.start)
        .collect()
}

fn resource(token: Token, what: &str) -> Problem {
    let help = match what.starts_with('@') {
        true => PIN_HELP.to_owned(),
        false => format!("write `var<private>` or `var<workgroup>`, or {PIN_HELP}"),
    };
    Problem::new(
        token,
        format!("a kernel cannot declare resources; {what} is not allowed here"),
    )
    .help(help)
}

fn attribute(token: Token, word: &str) -> Problem {
    let problem = Problem::new(token, format!("a kernel cannot use `@{word}`"));
    match word {
        "compute" | "workgroup_size" | "vertex" | "fragment" => {
            problem.help("the entry point is generated; the group size is set in the graph")
        }
        "builtin" | "location" => problem.help("a kernel reads its data through accessors"),
        _ => problem,
    }
}

fn name(token: Token, word: &str) -> Option<Problem> {
    if word.starts_with(RESERVED_PREFIX) {
        let message =
            format!("names that begin with `{RESERVED_PREFIX}` are reserved for generated code");
        return Some(Problem::new(token, message).help("choose another name"));
    }
    words::is_reserved(word).then(|| {
        Problem::new(token, format!("`{word}` is a reserved word of WGSL"))
            .help("choose another name")
    })
}

fn unknown(token: Token, character: &str) -> Problem {
    let problem = Problem::new(token, format!("unexpected character `{character}`"));
    match character {
        "#" => problem.help("WGSL has no preprocessor; use `const NAME = value;`"),
        "?" => problem.help("WGSL has `select(if_false, if_true, condition)`"),
        "\"" | "'" => problem.help("WGSL has no strings"),
        _ => problem,
    }
}
