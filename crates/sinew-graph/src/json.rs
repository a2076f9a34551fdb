//! JSON with comments and trailing commas, every value with its place in the text.

use crate::diagnostic::{Diagnostic, Severity};
use jsonc_parser::ast::Value as Ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use std::ops::Range;
use std::sync::Arc;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Json {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<Member>),
}

#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Json,
}

/// Where problems of one document go.
#[derive(Debug)]
pub(crate) struct Reporter {
    pub(crate) file: Arc<str>,
    pub(crate) text: Arc<str>,
    pub(crate) found: Vec<Diagnostic>,
}

impl Reporter {
    pub(crate) fn new(file: &str, text: &str) -> Self {
        Self {
            file: file.into(),
            text: text.into(),
            found: Vec::new(),
        }
    }

    pub(crate) fn error(
        &mut self,
        code: &'static str,
        span: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Severity::Error, code, span, message.into(), help.into());
    }

    pub(crate) fn warning(
        &mut self,
        code: &'static str,
        span: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Severity::Warning, code, span, message.into(), help.into());
    }

    fn push(
        &mut self,
        severity: Severity,
        code: &'static str,
        span: &Range<usize>,
        message: String,
        help: String,
    ) {
        self.found.push(Diagnostic {
            severity,
            code,
            label: code.replace('_', " "),
            message,
            help: (!help.is_empty()).then_some(help),
            file: self.file.clone(),
            text: self.text.clone(),
            span: span.clone(),
        });
    }
}

/// Larger documents are refused: a graph is small, a mistaken file may not be.
const MAX_BYTES: usize = 64 << 20;

pub(crate) fn parse(reporter: &mut Reporter) -> Option<Json> {
    let text = reporter.text.clone();
    if text.len() > MAX_BYTES {
        let message = format!(
            "the document has {} bytes, at most {MAX_BYTES} are read",
            text.len()
        );
        reporter.error("too_large", &(0..0), message, "is this a graph document?");
        return None;
    }
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    match parse_to_ast(&text, &CollectOptions::default(), &options) {
        Ok(result) => match result.value {
            Some(ast) => Some(convert(&ast, reporter)),
            None => {
                reporter.error(
                    "syntax",
                    &(0..0),
                    "the document is empty",
                    "`sinew init` writes a starter graph",
                );
                None
            }
        },
        Err(error) => {
            let r = error.range();
            let message = format!("this is not JSON: {}", error.kind());
            reporter.error(
                "syntax",
                &(r.start..r.end.max(r.start + 1).min(text.len().max(r.start))),
                message,
                "comments and trailing commas are allowed, everything else is JSON",
            );
            None
        }
    }
}

fn convert(ast: &Ast<'_>, reporter: &mut Reporter) -> Json {
    let r = ast.range();
    let span = r.start..r.end;
    let kind = match ast {
        Ast::NullKeyword(_) => Kind::Null,
        Ast::BooleanLit(b) => Kind::Bool(b.value),
        Ast::StringLit(s) => Kind::Text(s.value.to_string()),
        Ast::NumberLit(n) => match n.value.parse::<f64>() {
            Ok(v) if v.is_finite() => Kind::Number(v),
            _ => {
                reporter.error(
                    "number",
                    &span,
                    format!("{} is not a finite number", n.value),
                    "",
                );
                Kind::Number(0.0)
            }
        },
        Ast::Array(a) => Kind::Array(a.elements.iter().map(|v| convert(v, reporter)).collect()),
        Ast::Object(o) => {
            let mut members: Vec<Member> = Vec::with_capacity(o.properties.len());
            let mut seen = std::collections::HashSet::new();
            for p in &o.properties {
                let (key, kr) = (p.name.as_str().to_owned(), p.name.range());
                let key_span = kr.start..kr.end;
                if !seen.insert(key.clone()) {
                    reporter.error(
                        "duplicate_key",
                        &key_span,
                        format!("'{key}' is given twice"),
                        "remove one of the two",
                    );
                    continue;
                }
                members.push(Member {
                    key,
                    key_span,
                    value: convert(&p.value, reporter),
                });
            }
            Kind::Object(members)
        }
    };
    Json { span, kind }
}

impl Json {
    /// What it is, for messages.
    pub(crate) fn describe(&self) -> String {
        match &self.kind {
            Kind::Null => "null".into(),
            Kind::Bool(b) => b.to_string(),
            Kind::Number(n) => n.to_string(),
            Kind::Text(t) => format!("\"{t}\""),
            Kind::Array(a) => {
                let numbers = a.iter().filter(|j| j.number().is_some()).count();
                // Of a list that mixes kinds, the entry that the fewer are like.
                let is_odd = |j: &Json| j.number().is_some() == (2 * numbers < a.len());
                let odd = a.iter().position(is_odd);
                match odd.filter(|_| numbers > 0 && numbers < a.len()) {
                    None if numbers == 0
                        && a.iter().all(|j| j.text().is_some())
                        && !a.is_empty() =>
                    {
                        let more = if a.len() == 1 { "" } else { "s" };
                        format!("a list of {} text{more}", a.len())
                    }
                    None => format!("a list of {}", a.len()),
                    Some(i) => format!("a list of {} with {} at [{i}]", a.len(), a[i].describe()),
                }
            }
            Kind::Object(_) => "an object".into(),
        }
    }
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(t) => Some(t),
            _ => None,
        }
    }
    pub(crate) fn number(&self) -> Option<f64> {
        match self.kind {
            Kind::Number(n) => Some(n),
            _ => None,
        }
    }
    pub(crate) fn bool(&self) -> Option<bool> {
        match self.kind {
            Kind::Bool(b) => Some(b),
            _ => None,
        }
    }
    pub(crate) fn array(&self) -> Option<&[Json]> {
        match &self.kind {
            Kind::Array(a) => Some(a),
            _ => None,
        }
    }
    pub(crate) fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            Kind::Object(m) => Some(m),
            _ => None,
        }
    }
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.members()?
            .iter()
            .find(|m| m.key == key)
            .map(|m| &m.value)
    }
}
