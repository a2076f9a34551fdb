//! JSON with comments and trailing commas. Every value keeps its location in the text.

mod parse;

use crate::diagnostic::{Diagnostic, LineColumn, Lines, Severity};
pub(crate) use parse::parse;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A value and its location.
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
    Text(Box<str>),
    Array(Box<[Json]>),
    Object(Box<[Member]>),
}

#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Json,
}

/// Errors kept for one document, and the same number of warnings: a document of 64 MiB may have a million.
const MOST_PROBLEMS: usize = 10_000;

/// Collects the problems of one document.
#[derive(Debug)]
pub(crate) struct Reporter {
    pub(crate) file: Arc<str>,
    pub(crate) text: Arc<str>,
    pub(crate) found: Vec<Diagnostic>,
    /// How many errors and warnings there were.
    told: [usize; 2],
    lines: Arc<Lines>,
}

impl Reporter {
    pub(crate) fn new(file: &str, text: &str) -> Self {
        Self {
            file: file.into(),
            text: text.into(),
            found: Vec::new(),
            told: [0; 2],
            lines: Arc::default(),
        }
    }

    /// Location of a byte.
    pub(crate) fn location(&self, byte: usize) -> LineColumn {
        self.lines.location(&self.text, byte)
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
        let told = &mut self.told[usize::from(severity == Severity::Warning)];
        *told += 1;
        let (code, message, help) = match told.saturating_sub(MOST_PROBLEMS) {
            0 => (code, message, help),
            1 => {
                let message = format!(
                    "the document has more than {MOST_PROBLEMS} problems; the others are not listed"
                );
                ("too_many_problems", message, String::new())
            }
            _ => return,
        };
        self.found.push(Diagnostic {
            severity,
            code,
            label: code.replace('_', " "),
            message,
            help: (!help.is_empty()).then_some(help),
            file: self.file.clone(),
            text: self.text.clone(),
            span: span.clone(),
            lines: self.lines.clone(),
        });
    }
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
    /// Members by their keys, where many are asked for.
    pub(crate) fn by_key(&self) -> HashMap<&str, &Member> {
        let members = self.members().unwrap_or_default();
        members.iter().map(|m| (m.key.as_str(), m)).collect()
    }
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.members()?
            .iter()
            .find(|m| m.key == key)
            .map(|m| &m.value)
    }
}
