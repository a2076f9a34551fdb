//! From a finding in the module to the user's own text.
//!
//! A finding has bytes of the module. They are traced to the piece that they were copied from, and names in the message are replaced by
//! those of the author. If generated text is at fault only because it calls a snippet with wrong types, the snippet's declaration is shown.

use std::ops::Range;

use crate::error::{KernelError, LineColumn};
use crate::findings::Finding;
use crate::pieces::{FunctionId, Generated, Instance, Names, Piece};
use crate::scan::{Declaration, DeclarationKind};
use crate::snippet::{Snippet, SnippetKind};
use crate::source_map::{Origin, Output};
use crate::tokens::{self, Token, TokenKind, tokenize};
use crate::words;

/// Shown where generated text is at fault and no snippet is to blame.
pub(crate) const OUR_FAULT: &str = "this is an error in generated code, not in a kernel";

/// A finding where its author can see it.
#[derive(Debug)]
pub(crate) struct Reported {
    /// The piece it lies in.
    pub(crate) piece: usize,
    pub(crate) error: KernelError,
    /// The snippet's function it lies in.
    pub(crate) function: Option<FunctionId>,
}

pub(crate) struct Reporter<'a> {
    pub(crate) pieces: &'a [Piece],
    pub(crate) names: &'a [Names],
    pub(crate) output: &'a Output,
}

impl Reporter<'_> {
    /// Whether it is known which snippet is to blame.
    pub(crate) fn is_placed(&self, finding: &Finding) -> bool {
        finding.spans.iter().any(|span| {
            let origin = self.output.origin(span);
            origin.is_some_and(|o| self.instance(o.piece).is_some()) || self.blamed(span).is_some()
        })
    }

    pub(crate) fn report(&self, finding: Finding) -> Reported {
        let spans = finding.spans.iter();
        let origins: Vec<Origin> = spans
            .filter_map(|s| self.output.origin(s))
            .chain(finding.origin.clone())
            .collect();
        let of_user = |glue: bool| {
            origins
                .iter()
                .filter(|o| glue || !o.span.is_empty())
                .find_map(|o| self.instance(o.piece).map(|i| (o, i)))
        };
        // What is wrapped around a body stands for no bytes of it.
        if let Some((origin, instance)) = of_user(false).or_else(|| of_user(true)) {
            return self.located(origin.clone(), instance, &finding);
        }
        let blamed = finding.spans.iter().find_map(|s| self.blamed(s));
        if let Some((origin, instance)) = blamed {
            return self.located(origin, instance, &finding);
        }
        if finding.spans.is_empty()
            && let Some(unknown) = self.somewhere(&finding)
        {
            return unknown;
        }
        self.generated(origins.first(), &finding)
    }

    /// A problem without any place, in a module too long to look for it.
    fn somewhere(&self, finding: &Finding) -> Option<Reported> {
        let longest = (0..self.pieces.len())
            .filter_map(|piece| Some((piece, self.instance(piece)?)))
            .max_by_key(|(_, i)| i.snippet.text().len());
        let (piece, instance) = longest?;
        let (file, text) = (instance.snippet.file(), instance.snippet.text());
        let message = format!("{} (somewhere in this text)", finding.message);
        Some(Reported {
            piece,
            error: KernelError::at(file, text, 0..0, message),
            function: None,
        })
    }

    fn instance(&self, piece: usize) -> Option<&Instance> {
        match self.pieces.get(piece) {
            Some(Piece::Instance(i)) => Some(i),
            _ => None,
        }
    }

    /// Generated text that names something of a snippet: the declaration of that.
    fn blamed(&self, span: &Range<usize>) -> Option<(Origin, &Instance)> {
        let text = self.output.text.get(span.clone())?;
        let tokens = tokenize(text);
        let words = tokens.iter().filter(|t| t.kind == TokenKind::Name);
        for word in words.map(|t| t.text(text)) {
            for (piece, names) in self.names.iter().enumerate() {
                let Some(instance) = self.instance(piece) else {
                    continue;
                };
                if instance.entry.as_deref() == Some(word)
                    && instance.snippet.kind() == SnippetKind::Body
                {
                    return Some((Origin { piece, span: 0..0 }, instance));
                }
                let written = names.written.get(word);
                let declared = instance
                    .snippet
                    .declared()
                    .find(|d| Some(d.name) == written.map(String::as_str));
                if let Some(d) = declared {
                    return Some((
                        Origin {
                            piece,
                            span: d.span,
                        },
                        instance,
                    ));
                }
            }
        }
        None
    }

    fn located(&self, origin: Origin, instance: &Instance, finding: &Finding) -> Reported {
        let snippet = &instance.snippet;
        let span = shown_span(snippet, origin.span);
        let message = self.written(&finding.message, origin.piece);
        let mut error = KernelError::at(snippet.file(), snippet.text(), span.clone(), message);
        error.help = self.help(origin.piece, instance, finding);
        Reported {
            piece: origin.piece,
            error,
            function: function_at(snippet, span.start).map(|f| (origin.piece, f)),
        }
    }

    fn help(&self, piece: usize, instance: &Instance, finding: &Finding) -> Option<String> {
        if let Some(name) = &finding.unknown {
            let written = self.written(name, piece);
            let locals = local_names(&instance.snippet);
            let accessors = instance.accessors.iter().map(|(from, _)| from.as_str());
            let mine = accessors.chain(locals.iter().map(String::as_str));
            return words::suggestion(&written, mine);
        }
        if let Some(signature) = finding
            .callee
            .as_ref()
            .and_then(|c| self.signature(c, piece))
        {
            return Some(signature);
        }
        if let Some(help) = &finding.help {
            return Some(self.written(help, piece));
        }
        let origin = self.output.origin(finding.condition.as_ref()?)?;
        let other = &self.instance(origin.piece)?.snippet;
        let line = LineColumn::of(other.text(), origin.span.start).line;
        Some(format!(
            "the condition in line {line} may differ between threads"
        ))
    }

    /// How the function of this name in the module is declared, in the user's words.
    fn signature(&self, emitted: &str, piece: usize) -> Option<String> {
        self.pieces.iter().enumerate().find_map(|(at, p)| {
            let (text, tokens, declarations, names) = match p {
                Piece::Generated(g) => (
                    g.text.as_str(),
                    g.tokens.as_slice(),
                    &g.declarations[..],
                    None,
                ),
                Piece::Instance(i) => (
                    i.snippet.text(),
                    i.snippet.tokens(),
                    i.snippet.declarations(),
                    Some(&self.names[at]),
                ),
            };
            let called = |name| {
                names.map_or(name, |n: &Names| {
                    n.emitted.get(name).map_or("", String::as_str)
                })
            };
            let d = declarations.iter().find(|d| {
                d.kind == DeclarationKind::Function && called(tokens[d.name].text(text)) == emitted
            })?;
            let head = head(text, tokens, d)?;
            let written = self.written(&format!("fn {emitted}{head}"), piece);
            Some(format!("it is declared as `{written}`"))
        })
    }

    /// A fault of ours: the place in the generated text, so that it can be found.
    fn generated(&self, origin: Option<&Origin>, finding: &Finding) -> Reported {
        let first = self.pieces.iter().find_map(|p| match p {
            Piece::Generated(g) => Some(g),
            Piece::Instance(_) => None,
        });
        let found = origin.and_then(|o| match &self.pieces[o.piece] {
            Piece::Generated(g) => Some((g, o.span.clone())),
            Piece::Instance(_) => None,
        });
        let (file, text, span) = match (found, first) {
            (Some((Generated { name, text, .. }, span)), _) => (name.as_str(), text.as_str(), span),
            (None, Some(g)) => (g.name.as_str(), g.text.as_str(), 0..0),
            (None, None) => ("module", "", 0..0),
        };
        let mut error = KernelError::at(file, text, span, finding.message.clone());
        error.help = Some(match &finding.help {
            Some(help) => format!("{OUR_FAULT}; {help}"),
            None => OUR_FAULT.to_owned(),
        });
        Reported {
            piece: origin.map_or(0, |o| o.piece),
            error,
            function: None,
        }
    }

    /// A message with the names that the author of `piece` wrote.
    fn written(&self, message: &str, piece: usize) -> String {
        tokens::rename(message, |word| {
            let of = |names: &&Names| names.written.contains_key(word);
            let own = self.names.get(piece).filter(of);
            own.or_else(|| self.names.iter().find(of))
                .and_then(|names| names.written.get(word))
                .map(String::as_str)
        })
    }
}

/// From the end of a function's name to its body, on one line.
fn head(text: &str, tokens: &[Token], declaration: &Declaration) -> Option<String> {
    let body = &declaration.function.as_ref()?.body;
    let bytes = tokens[declaration.name].end..tokens[body.start].start;
    Some(text[bytes].split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The place to underline: what glue around a body stands for is its last token.
fn shown_span(snippet: &Snippet, span: Range<usize>) -> Range<usize> {
    match snippet.tokens().last() {
        Some(last) if span.start >= last.end => last.span(),
        _ => span,
    }
}

fn function_at(snippet: &Snippet, byte: usize) -> Option<Option<usize>> {
    if snippet.kind() == SnippetKind::Body {
        return Some(None);
    }
    snippet
        .declarations()
        .iter()
        .position(|d| d.function.is_some() && snippet.bytes(&d.tokens).contains(&byte))
        .map(Some)
}

/// Names that the snippet declares anywhere: behind `let`, `var`, `const`, `fn`, or in front of a `:`.
fn local_names(snippet: &Snippet) -> Vec<String> {
    let text = snippet.text();
    let tokens = snippet.tokens();
    let declares = |at: &usize| {
        let before = at.checked_sub(1).map(|i| tokens[i]);
        let after = tokens.get(at + 1);
        tokens[*at].kind == TokenKind::Name
            && (before
                .is_some_and(|b| matches!(b.kind, TokenKind::Keyword | TokenKind::TemplateClose))
                || after.is_some_and(|a| a.is(text, b':')))
    };
    let parameters = snippet.entry().parameters.iter().map(|p| p.0.clone());
    (0..tokens.len())
        .filter(declares)
        .map(|at| tokens[at].text(text).to_owned())
        .chain(parameters)
        .collect()
}
