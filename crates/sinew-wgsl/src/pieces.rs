//! The parts of a module and how they are written out with their names changed.
//!
//! A name of a snippet falls into one of four groups: its own declarations get a prefix, accessors get the name that they stand for, names
//! that collide with generated declarations get underscores, and all others stay. Text is copied byte for byte between renamed tokens, with
//! its origin ([`Output`]), which later brings messages back to the author's text.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use crate::error::KernelError;
use crate::scan::{Declaration, FunctionParts};
use crate::snippet::{Snippet, SnippetKind};
use crate::source_map::Output;
use crate::tokens::{Token, TokenKind};

/// Generated text, taken as it is.
#[derive(Clone, Debug)]
pub(crate) struct Generated {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) tokens: Vec<Token>,
    pub(crate) declarations: Vec<Declaration>,
    /// What is wrong with it by itself.
    pub(crate) fault: Option<KernelError>,
}

/// A snippet in the module.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) snippet: Snippet,
    /// Own names of module scope, and what they are in the module.
    pub(crate) own: BTreeMap<String, String>,
    /// Accessors, and what they are in the module; in the order given.
    pub(crate) accessors: Vec<(String, String)>,
    /// Name of the entry function in the module.
    pub(crate) entry: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Generated(Generated),
    Instance(Instance),
}

/// A function of a snippet in the module: the piece, and the number of its declaration (a body has none).
pub(crate) type FunctionId = (usize, Option<usize>);

/// What of a function is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// All that it does; what is left is right whatever it returns.
    Body,
    /// What comes from this token on.
    From(usize),
}

/// Functions of which something is left out.
pub(crate) type Cuts = HashMap<FunctionId, Cut>;

/// Names of one instance, both ways.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) emitted: HashMap<String, String>,
    pub(crate) written: HashMap<String, String>,
}

impl Names {
    fn new(instance: &Instance, taken: &HashSet<&str>) -> Self {
        let mut names = Self::default();
        for (from, to) in &instance.accessors {
            names.add(from, to.clone());
        }
        for (from, to) in &instance.own {
            names.add(from, to.clone());
        }
        if let Some(entry) = &instance.entry {
            // A body is called by a name that does not stand in it.
            let written = instance.snippet.entry().name.clone();
            names.written.insert(entry.clone(), written);
        }
        // Any other name that generated code uses is either a local variable of the user, which must not hide what the
        // accessors need, or an attempt to reach generated code past its accessors. Both get a name of their own.
        let used: HashSet<&str> = instance.snippet.names().into_iter().collect();
        let parameters = instance.snippet.entry().parameters.iter();
        let all = instance.snippet.names().into_iter();
        for name in all.chain(parameters.map(|p| p.0.as_str())) {
            if taken.contains(name) && !names.emitted.contains_key(name) {
                let mut free = format!("{name}_");
                while used.contains(free.as_str())
                    || taken.contains(free.as_str())
                    || names.written.contains_key(&free)
                {
                    free.push('_');
                }
                names.add(name, free);
            }
        }
        names
    }

    fn add(&mut self, written: &str, emitted: String) {
        self.written.insert(emitted.clone(), written.to_owned());
        self.emitted.insert(written.to_owned(), emitted);
    }

    pub(crate) fn emitted<'a>(&'a self, written: &'a str) -> &'a str {
        self.emitted.get(written).map_or(written, String::as_str)
    }
}

/// Names that the module has at its scope, whoever declares them.
pub(crate) fn taken_names(pieces: &[Piece]) -> HashSet<&str> {
    let mut out = HashSet::new();
    for piece in pieces {
        match piece {
            Piece::Generated(g) => {
                out.extend(
                    g.declarations
                        .iter()
                        .map(|d| g.tokens[d.name].text(&g.text)),
                );
            }
            Piece::Instance(i) => out.extend(i.own.values().chain(&i.entry).map(String::as_str)),
        }
    }
    out
}

/// Names of each piece; those of generated text are empty.
pub(crate) fn all_names(pieces: &[Piece]) -> Vec<Names> {
    let taken = taken_names(pieces);
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Generated(_) => Names::default(),
            Piece::Instance(i) => Names::new(i, &taken),
        })
        .collect()
}

/// Writes all pieces, without what `cuts` leave out.
pub(crate) fn write(directives: &str, pieces: &[Piece], names: &[Names], cuts: &Cuts) -> Output {
    let mut out = Output::default();
    out.text.push_str(directives);
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Generated(g) => out.copy(at, &g.text, 0..g.text.len()),
            Piece::Instance(i) => Writer {
                piece: at,
                instance: i,
                names: &names[at],
                out: &mut out,
            }
            .write(cuts),
        }
        // The last line of a piece may be a comment.
        out.text.push('\n');
    }
    out
}

struct Writer<'a> {
    piece: usize,
    instance: &'a Instance,
    names: &'a Names,
    out: &'a mut Output,
}

impl Writer<'_> {
    fn write(&mut self, cuts: &Cuts) {
        let snippet = &self.instance.snippet;
        if snippet.kind() == SnippetKind::Body {
            return self.write_body(cuts.get(&(self.piece, None)).copied());
        }
        let mut left_out: Vec<(Range<usize>, String)> = snippet
            .directives()
            .iter()
            .map(|d| (d.clone(), String::new()))
            .collect();
        for (number, declaration) in snippet.declarations().iter().enumerate() {
            let cut = cuts.get(&(self.piece, Some(number)));
            if let (Some(parts), Some(cut)) = (&declaration.function, cut) {
                left_out.push(match cut {
                    Cut::Body => (parts.body.clone(), self.stub(parts)),
                    Cut::From(token) => (*token..parts.body.end, "}".to_owned()),
                });
            }
        }
        left_out.sort_by_key(|(tokens, _)| tokens.start);
        let mut from = 0;
        let mut token = 0;
        for (tokens, instead) in left_out {
            let bytes = snippet.bytes(&tokens);
            self.copy(from..bytes.start, token..tokens.start);
            self.out.replace(self.piece, bytes.clone(), &instead);
            from = bytes.end;
            token = tokens.end;
        }
        self.copy(from..snippet.text().len(), token..snippet.tokens().len());
    }

    fn write_body(&mut self, cut: Option<Cut>) {
        let snippet = &self.instance.snippet;
        let length = snippet.text().len();
        let parameters: Vec<String> = snippet
            .entry()
            .parameters
            .iter()
            .map(|(name, kind)| format!("{}: {kind}", self.names.emitted(name)))
            .collect();
        let entry = self.instance.entry.as_deref().unwrap_or_default();
        let head = format!("fn {entry}({}) {{\n", parameters.join(", "));
        self.out.replace(self.piece, 0..0, &head);
        let tokens = match cut {
            Some(Cut::Body) => 0..0,
            Some(Cut::From(token)) => 0..token,
            None => 0..snippet.tokens().len(),
        };
        let bytes = match cut {
            Some(_) => snippet.bytes(&tokens),
            None => 0..length,
        };
        self.copy(bytes, tokens);
        self.out.replace(self.piece, length..length, "\n}");
    }

    /// A body that is right whatever the function returns.
    fn stub(&self, parts: &FunctionParts) -> String {
        let snippet = &self.instance.snippet;
        let words: Vec<&str> = snippet.tokens()[parts.result.clone()]
            .iter()
            .map(|t| t.text(snippet.text()))
            .map(|word| self.names.emitted(word))
            .collect();
        match words.is_empty() {
            true => "{}".to_owned(),
            false => format!("{{ return {}(); }}", words.concat()),
        }
    }

    /// Bytes of the snippet, whose tokens are `tokens`, with names changed.
    fn copy(&mut self, bytes: Range<usize>, tokens: Range<usize>) {
        let text = self.instance.snippet.text();
        let mut from = bytes.start;
        for token in &self.instance.snippet.tokens()[tokens] {
            if token.kind != TokenKind::Name {
                continue;
            }
            if let Some(name) = self.names.emitted.get(token.text(text)) {
                self.out.copy(self.piece, text, from..token.start);
                self.out.replace(self.piece, token.span(), name);
                from = token.end;
            }
        }
        self.out.copy(self.piece, text, from..bytes.end);
    }
}
