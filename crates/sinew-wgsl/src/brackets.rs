//! Pairs brackets, and refuses texts with such deep nesting that a recursive parser could run out of stack.

use crate::tokens::{Token, TokenKind};

/// What may be open at a place: brackets around it, and operators (`a + b + …`), members (`a.b.c…`), calls and `else if` in a chain
/// in front of it. All of these become recursion in naga and in the back ends. A unit is about 10 KiB of stack where naga was
/// compiled without optimisation (a twentieth of that with), so that the whole stays within the 2 MiB of a usual thread.
const MOST: usize = 180;
/// Units of a block.
const BLOCK: usize = 6;
/// Units of another pair of brackets.
const PAIR: usize = 3;
/// Units of an `else`.
const ELSE: usize = 4;

/// What is wrong with the tokens at a place.
pub(crate) struct Problem {
    pub(crate) span: std::ops::Range<usize>,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Problem {
    pub(crate) fn new(token: Token, message: impl Into<String>) -> Self {
        Self {
            span: token.span(),
            message: message.into(),
            help: None,
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// For each token the other bracket of its pair; other tokens have themselves.
pub(crate) type Partners = Vec<usize>;

struct Level {
    open: usize,
    /// Units of the bracket itself.
    own: usize,
    chain: usize,
    members: usize,
}

struct Walk<'a> {
    text: &'a str,
    tokens: &'a [Token],
    levels: Vec<Level>,
    partners: Partners,
    /// Units of all levels together.
    load: usize,
}

/// Pairs `()`, `[]` and `{}`. Linear. The error is a bracket without partner, or too deep a text.
pub(crate) fn pair(text: &str, tokens: &[Token]) -> Result<Partners, Problem> {
    let mut walk = Walk {
        text,
        tokens,
        levels: vec![Level {
            open: usize::MAX,
            own: 0,
            chain: 0,
            members: 0,
        }],
        partners: (0..tokens.len()).collect(),
        load: 0,
    };
    for at in 0..tokens.len() {
        walk.step(at)?;
    }
    match walk.levels.last() {
        Some(level) if level.open != usize::MAX => {
            let open = tokens[level.open];
            Err(
                Problem::new(open, format!("`{}` is never closed", open.text(text)))
                    .help(format!("a `{}` is missing", closing(open.text(text)))),
            )
        }
        _ => Ok(walk.partners),
    }
}

impl Walk<'_> {
    fn step(&mut self, at: usize) -> Result<(), Problem> {
        let token = self.tokens[at];
        match (token.kind, token.text(self.text)) {
            (TokenKind::Punctuation, "(" | "[" | "{") => self.open(at),
            (TokenKind::Punctuation, ")" | "]" | "}") => self.close(at),
            (TokenKind::Punctuation, "," | ";") => {
                self.reset();
                Ok(())
            }
            (TokenKind::Member, _) => self.add_member(token),
            (TokenKind::Punctuation | TokenKind::TemplateOpen, c) if c != "." => self.add(token, 1),
            (TokenKind::Keyword, "else") => self.add(token, ELSE),
            _ => Ok(()),
        }
    }

    fn open(&mut self, at: usize) -> Result<(), Problem> {
        let token = self.tokens[at];
        let own = match token.is(self.text, b'{') {
            true => BLOCK,
            false => PAIR,
        };
        self.load += own;
        self.levels.push(Level {
            open: at,
            own,
            chain: 0,
            members: 0,
        });
        self.limit(token)
    }

    fn close(&mut self, at: usize) -> Result<(), Problem> {
        let token = self.tokens[at];
        let found = token.text(self.text);
        let open = self.levels.last().map_or(usize::MAX, |l| l.open);
        let Some(opener) = self.tokens.get(open) else {
            return Err(Problem::new(
                token,
                format!("`{found}` has no opening bracket"),
            ));
        };
        let wanted = closing(opener.text(self.text));
        if wanted != found {
            let line = crate::error::LineColumn::of(self.text, opener.start).line;
            return Err(
                Problem::new(token, format!("expected `{wanted}`, found `{found}`")).help(format!(
                    "`{}` was opened in line {line}",
                    opener.text(self.text)
                )),
            );
        }
        self.reset();
        self.load -= self.levels.pop().map_or(0, |l| l.own);
        self.partners[open] = at;
        self.partners[at] = open;
        if found != "}" {
            return self.add_member(token);
        }
        // The end of a statement, unless `else` goes on with it.
        let next = self.tokens.get(at + 1);
        if next.is_none_or(|n| !n.is_keyword(self.text, "else")) {
            self.reset();
        }
        Ok(())
    }

    fn reset(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            self.load -= level.chain + level.members;
            level.chain = 0;
            level.members = 0;
        }
    }

    /// An operator: what was a chain of members in front of it is now one operand.
    fn add(&mut self, token: Token, weight: usize) -> Result<(), Problem> {
        if let Some(level) = self.levels.last_mut() {
            self.load -= level.members;
            level.members = 0;
            level.chain += weight;
            self.load += weight;
        }
        self.limit(token)
    }

    fn add_member(&mut self, token: Token) -> Result<(), Problem> {
        if let Some(level) = self.levels.last_mut() {
            level.members += 1;
            self.load += 1;
        }
        self.limit(token)
    }

    fn limit(&self, token: Token) -> Result<(), Problem> {
        if self.load <= MOST {
            return Ok(());
        }
        let problem = Problem::new(token, "this expression or statement is nested too deeply");
        Err(problem.help(
            "name parts of it with `let`, move them into functions, or use a loop or `switch`",
        ))
    }
}

fn closing(open: &str) -> &'static str {
    match open {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}
