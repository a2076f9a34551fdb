//! A kernel's text, split into tokens and declarations.
//!
//! [`Snippet::parse`] works on tokens alone: brackets are paired, declarations found without parsing their content, and forbidden words,
//! recursion and excessive length are refused. Everything that needs types waits for the module.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use crate::brackets::{self, Problem};
use crate::content;
use crate::error::{KernelError, KernelErrors};
use crate::foreign::foreign_statement;
use crate::recursion;
use crate::scan::{self, Declaration, DeclarationKind, Scan};
use crate::tokens::{Token, TokenKind, tokenize};
use crate::weight;
use crate::words;

/// Maximum size of a kernel's text, in bytes.
pub const LONGEST_TEXT: usize = 1 << 20;
/// The function of a snippet that generated code calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryFunction {
    /// Name of the function.
    pub name: String,
    /// Names and types of its parameters. A body without a function uses these names; a whole function may use other names.
    pub parameters: Vec<(String, String)>,
}

impl Default for EntryFunction {
    /// `fn kernel(index: u32)`.
    fn default() -> Self {
        Self {
            name: "kernel".to_owned(),
            parameters: vec![("index".to_owned(), "u32".to_owned())],
        }
    }
}

impl EntryFunction {
    /// Its signature: `fn kernel(index: u32)`.
    pub fn signature(&self) -> String {
        let parameters: Vec<String> = self
            .parameters
            .iter()
            .map(|(name, kind)| format!("{name}: {kind}"))
            .collect();
        format!("fn {}({})", self.name, parameters.join(", "))
    }
}

/// Form of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SnippetKind {
    /// Declarations with an entry function.
    Declarations,
    /// The statements of the entry function.
    Body,
    /// Declarations without an entry function.
    Library,
}

/// A declaration of a snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredName<'a> {
    /// Its kind.
    pub kind: DeclarationKind,
    /// Its name.
    pub name: &'a str,
    /// Bytes of the name in the text.
    pub span: Range<usize>,
}

/// A kernel's text after the checks that do not need its accessors. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Snippet {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: String,
    text: String,
    kind: SnippetKind,
    entry: EntryFunction,
    tokens: Vec<Token>,
    scan: Scan,
}

impl Snippet {
    /// Reads a kernel with the entry function `fn kernel(index: u32)`, or only the body of that function. `file` is the name in messages.
    ///
    /// Checks brackets, declarations, forbidden content, reserved words and recursion. Types and unknown names need the accessors:
    /// [`ModuleBuilder::finish`](crate::ModuleBuilder::finish) checks them. Linear in the length of the text.
    ///
    /// # Errors
    /// Every problem found, each with its location in `text`.
    pub fn parse(file: &str, text: &str) -> Result<Self, KernelErrors> {
        Self::parse_with(file, text, EntryFunction::default())
    }

    /// As [`Snippet::parse`], with another entry function.
    ///
    /// # Errors
    /// As [`Snippet::parse`].
    pub fn parse_with(file: &str, text: &str, entry: EntryFunction) -> Result<Self, KernelErrors> {
        Self::read(file, text, entry, false)
    }

    /// Reads declarations that other code calls; no entry function is needed.
    ///
    /// # Errors
    /// As [`Snippet::parse`].
    pub fn parse_library(file: &str, text: &str) -> Result<Self, KernelErrors> {
        Self::read(file, text, EntryFunction::default(), true)
    }

    fn read(
        file: &str,
        text: &str,
        entry: EntryFunction,
        library: bool,
    ) -> Result<Self, KernelErrors> {
        let errors = |problems: Vec<Problem>| KernelErrors(located(file, text, problems));
        if text.len() > LONGEST_TEXT {
            let message = format!(
                "the text has {} bytes, but at most {LONGEST_TEXT} are allowed",
                text.len()
            );
            return Err(KernelError::at(file, text, 0..1, message).into());
        }
        let tokens = tokenize(text);
        if let Some(foreign) = foreign_statement(text, &tokens) {
            let message = "this is HLSL or GLSL, but a kernel must be WGSL".to_owned();
            let mut error = KernelError::at(file, text, foreign.span, message);
            error.help = Some(format!(
                "{}; docs/nodes/kernel.md has a table of words",
                foreign.help
            ));
            return Err(error.into());
        }
        let (kind, scan) =
            structure(text, &tokens, &entry, library).map_err(|p| errors(vec![p]))?;
        let mut problems = content::check(text, &tokens, &scan.declarations);
        problems.extend(twice_declared(text, &tokens, &scan.declarations));
        let circles = recursion::check(text, &tokens, &scan.declarations);
        if circles.is_empty() {
            problems.extend(weight::check(text, &tokens, &scan.declarations));
        }
        problems.extend(circles);
        if kind == SnippetKind::Declarations {
            problems.extend(check_entry(text, &tokens, &scan.declarations, &entry));
        }
        if !problems.is_empty() {
            return Err(errors(problems));
        }
        let inner = Inner {
            file: file.to_owned(),
            text: text.to_owned(),
            kind,
            entry,
            tokens,
            scan,
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// The name in messages.
    pub fn file(&self) -> &str {
        &self.inner.file
    }

    /// The text as its author wrote it.
    pub fn text(&self) -> &str {
        &self.inner.text
    }

    /// The form of the text.
    pub fn kind(&self) -> SnippetKind {
        self.inner.kind
    }

    /// The function that generated code calls.
    pub fn entry(&self) -> &EntryFunction {
        &self.inner.entry
    }

    /// Its declarations at module scope, in order. A body has none.
    pub fn declared(&self) -> impl Iterator<Item = DeclaredName<'_>> {
        self.inner.scan.declarations.iter().map(|d| {
            let token = self.inner.tokens[d.name];
            DeclaredName {
                kind: d.kind,
                name: token.text(&self.inner.text),
                span: token.span(),
            }
        })
    }

    /// All names in the text except members, each once, in order of first use.
    pub fn names(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        self.inner
            .tokens
            .iter()
            .filter(|t| t.kind == TokenKind::Name)
            .map(|t| t.text(&self.inner.text))
            .filter(|n| seen.insert(*n))
            .collect()
    }

    pub(crate) fn tokens(&self) -> &[Token] {
        &self.inner.tokens
    }

    pub(crate) fn declarations(&self) -> &[Declaration] {
        &self.inner.scan.declarations
    }

    pub(crate) fn directives(&self) -> &[Range<usize>] {
        &self.inner.scan.directives
    }

    /// Bytes of a range of tokens.
    pub(crate) fn bytes(&self, tokens: &Range<usize>) -> Range<usize> {
        let all = &self.inner.tokens;
        match tokens.is_empty() {
            true => 0..0,
            false => all[tokens.start].start..all[tokens.end - 1].end,
        }
    }
}

/// What the text is, and its declarations.
fn structure(
    text: &str,
    tokens: &[Token],
    entry: &EntryFunction,
    library: bool,
) -> Result<(SnippetKind, Scan), Problem> {
    if let Some(open) = tokens
        .iter()
        .find(|t| t.kind == TokenKind::UnterminatedComment)
    {
        let start = Token {
            end: open.start + 2,
            ..*open
        };
        return Err(Problem::new(start, "this comment never ends").help("close it with `*/`"));
    }
    if tokens.is_empty() && !library {
        return Err(Problem {
            span: 0..0,
            message: "the kernel is empty".to_owned(),
            help: Some(format!(
                "write the statements of `{}`, or the whole function",
                entry.signature()
            )),
        });
    }
    let partners = brackets::pair(text, tokens)?;
    if !library && !scan::is_declarations(text, tokens, &partners) {
        return Ok((SnippetKind::Body, Scan::default()));
    }
    let found = scan::scan(text, tokens, &partners).map_err(|problem| {
        match problem.message == scan::STATEMENT_OUTSIDE && !library {
            true => problem.help(format!(
                "put all statements into `{}`, or leave out the functions",
                entry.signature()
            )),
            false => problem,
        }
    })?;
    let kind = match library {
        true => SnippetKind::Library,
        false => SnippetKind::Declarations,
    };
    Ok((kind, found))
}

/// Problems with their places, in order.
pub(crate) fn located(file: &str, text: &str, mut problems: Vec<Problem>) -> Vec<KernelError> {
    /// More would only scroll the first away.
    const MOST: usize = 20;
    problems.sort_by_key(|p| p.span.start);
    problems
        .into_iter()
        .take(MOST)
        .map(|p| {
            let mut error = KernelError::at(file, text, p.span, p.message);
            error.help = p.help;
            error
        })
        .collect()
}

fn twice_declared(text: &str, tokens: &[Token], declarations: &[Declaration]) -> Vec<Problem> {
    let mut seen = std::collections::HashMap::new();
    declarations
        .iter()
        .filter_map(|d| {
            let token = tokens[d.name];
            let first = *seen.entry(token.text(text)).or_insert(token);
            (first != token).then(|| {
                let line = crate::error::LineColumn::of(text, first.start).line;
                Problem::new(token, format!("`{}` is declared twice", token.text(text)))
                    .help(format!("it was declared in line {line}"))
            })
        })
        .collect()
}

/// Whether the entry function is there and can be called.
fn check_entry(
    text: &str,
    tokens: &[Token],
    declarations: &[Declaration],
    entry: &EntryFunction,
) -> Option<Problem> {
    let name = |d: &Declaration| tokens[d.name].text(text);
    let found = declarations.iter().find(|d| name(d) == entry.name);
    let Some((d, parts)) = found.and_then(|d| Some((d, d.function.as_ref()?))) else {
        let functions = || {
            declarations
                .iter()
                .filter(|d| d.kind == DeclarationKind::Function)
        };
        let near = words::closest(&entry.name, functions().map(name));
        let at = functions()
            .find(|d| near.is_none_or(|n| n == name(d)))
            .map_or(tokens[0], |d| tokens[d.name]);
        let message = format!("there is no function `{}`", entry.name);
        let help = format!("the kernel begins with `{}`", entry.signature());
        return Some(Problem::new(at, message).help(help));
    };
    let mut given: Vec<&str> = parts
        .parameters
        .clone()
        .map(|i| tokens[i].text(text))
        .collect();
    if given.last() == Some(&",") {
        given.pop();
    }
    let wanted: Vec<String> = entry
        .parameters
        .iter()
        .map(|p| p.1.split_whitespace().collect())
        .collect();
    let fits = parameter_types(&given).is_some_and(|types| types == wanted);
    (!fits || !parts.result.is_empty()).then(|| {
        Problem::new(
            tokens[d.name],
            format!("`{}` cannot be called as a kernel", entry.name),
        )
        .help(format!("declare it as `{}`", entry.signature()))
    })
}

/// Types of parameters, without blanks; nothing where one is not `name: type`.
fn parameter_types(words: &[&str]) -> Option<Vec<String>> {
    if words.is_empty() {
        return Some(Vec::new());
    }
    words
        .split(|w| *w == ",")
        .map(|parameter| match parameter {
            [_, ":", kind @ ..] => Some(kind.concat()),
            _ => None,
        })
        .collect()
}
