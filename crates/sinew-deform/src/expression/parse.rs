//! From text to a [`Program`]: a recursive descent over the grammar of the page.

use super::functions::{CONSTANTS, FUNCTIONS, Function, truth};
use super::program::{Op, Program};
use crate::names::instead_of;
use std::ops::Range;

/// Levels of parentheses, at most.
const MOST_NESTED: usize = 100;

/// Why an expression is wrong.
#[derive(Debug, thiserror::Error, PartialEq)]

pub(super) enum ExpressionError {
    /// The text is not an expression.
    #[error("expressions[{index}], character {character} of \"{text}\": {message}")]
    Text {
        /// Which expression.
        index: usize,
        /// The expression.
        text: String,
        /// Where, counted from 1.
        character: usize,
        /// What was found and expected.
        message: String,
    },
    /// A name of an input cannot be used.
    #[error("names[{index}] is '{name}': {message}")]
    Name {
        /// Which name.
        index: usize,
        /// The name.
        name: String,
        /// What was expected.
        message: String,
    },
}

/// What is wrong, and at which byte.
#[derive(Debug)]
pub(super) struct Fault {
    at: usize,
    message: String,
}

impl Fault {
    pub(super) fn in_expression(self, index: usize, text: &str) -> ExpressionError {
        let before = text.get(..self.at).unwrap_or(text);
        ExpressionError::Text {
            index,
            text: text.to_owned(),
            character: before.chars().count() + 1,
            message: self.message,
        }
    }
}

/// The names of the inputs.
#[derive(Debug)]
pub(super) struct Scope {
    /// Each with its places among all numbers.
    inputs: Vec<(String, Range<usize>)>,
    /// Where the time is: behind the numbers.
    time: usize,
}

impl Scope {
    /// For links with so many numbers; `None` where a port has no link.
    pub(super) fn new(names: &[String], counts: &[Option<usize>]) -> Result<Self, ExpressionError> {
        let linked = counts.iter().flatten();
        let links = linked.clone().count();
        let mut inputs: Vec<(String, Range<usize>)> = Vec::with_capacity(links);
        for (index, name) in names.iter().enumerate() {
            let wrong = |message: String| ExpressionError::Name {
                index,
                name: name.clone(),
                message,
            };
            if index >= links {
                return Err(wrong(format!(
                    "there are {links} links, expected at most as many names"
                )));
            }
            if word_length(name) != name.len() || name.is_empty() {
                return Err(wrong(
                    "expected letters, digits and _, and no digit first".into(),
                ));
            }
            if is_reserved(name) {
                return Err(wrong(
                    "this is a name of the language, expected another one".into(),
                ));
            }
        }
        let mut time = 0;
        for (letter, (index, count)) in ('a'..).zip(linked.enumerate()) {
            let name = names.get(index).cloned();
            let name = name.unwrap_or_else(|| letter.to_string());
            if let Some(other) = inputs.iter().position(|(before, _)| *before == name) {
                return Err(ExpressionError::Name {
                    index: other,
                    name,
                    message: "expected a name that no other link has".into(),
                });
            }
            inputs.push((name, time..time + count));
            time += count;
        }
        Ok(Self { inputs, time })
    }

    fn known(&self) -> impl Iterator<Item = &str> + Clone {
        let inputs = self.inputs.iter().map(|(name, _)| name.as_str());
        let constants = CONSTANTS.iter().map(|(name, _)| *name);
        inputs.chain(["time"]).chain(constants)
    }
}

fn is_reserved(name: &str) -> bool {
    let function = FUNCTIONS.iter().any(|(known, _)| *known == name);
    function || name == "time" || CONSTANTS.iter().any(|(known, _)| *known == name)
}

/// Bytes of the word that the text begins with.
fn word_length(text: &str) -> usize {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    end.unwrap_or(text.len())
}

/// The program of an expression.
pub(super) fn parse(text: &str, scope: &Scope) -> Result<Program, Fault> {
    let mut parser = Parser {
        text,
        at: 0,
        scope,
        program: Program::default(),
        depth: 0,
    };
    parser.either()?;
    match parser.rest() {
        "" => Ok(parser.program),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    scope: &'a Scope,
    program: Program,
    depth: usize,
}

type Parsed = Result<(), Fault>;
/// Operators of one level, longer ones first.
type Operators = &'static [(&'static str, fn(f64, f64) -> f64)];

const ORS: Operators = &[("||", |a, b| truth(a != 0.0 || b != 0.0))];
const ANDS: Operators = &[("&&", |a, b| truth(a != 0.0 && b != 0.0))];
const COMPARISONS: Operators = &[
    ("<=", |a, b| truth(a <= b)),
    (">=", |a, b| truth(a >= b)),
    ("==", |a, b| truth(a == b)),
    ("!=", |a, b| truth(a != b)),
    ("<", |a, b| truth(a < b)),
    (">", |a, b| truth(a > b)),
];
const SUMS: Operators = &[("+", |a, b| a + b), ("-", |a, b| a - b)];
const PRODUCTS: Operators = &[
    ("*", |a, b| a * b),
    ("/", |a, b| a / b),
    // As in Python and shaders: the sign is that of the divisor.
    ("%", |a, b| a - b * (a / b).floor()),
];

impl Parser<'_> {
    /// What follows, without spaces.
    fn rest(&mut self) -> &str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn takes(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn fault(&self, at: usize, message: String) -> Fault {
        Fault { at, message }
    }

    fn unexpected(&mut self, expected: &str) -> Fault {
        let found = match self.rest().chars().next() {
            Some(c) => format!("'{c}'"),
            None => "the end".to_owned(),
        };
        self.fault(self.at, format!("found {found}, expected {expected}"))
    }

    fn chain(&mut self, operators: Operators, next: fn(&mut Self) -> Parsed) -> Parsed {
        next(self)?;
        while let Some((_, f)) = operators.iter().find(|(token, _)| self.takes(token)) {
            next(self)?;
            self.program.push(Op::Two(*f));
        }
        Ok(())
    }

    fn either(&mut self) -> Parsed {
        self.deeper(|parser| parser.chain(ORS, Self::both))
    }
    fn deeper(&mut self, parse: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        self.depth += 1;
        if self.depth > MOST_NESTED {
            let message = format!("expected at most {MOST_NESTED} levels of parentheses and signs");
            return Err(self.fault(self.at, message));
        }
        parse(self)?;
        self.depth -= 1;
        Ok(())
    }
    fn both(&mut self) -> Parsed {
        self.chain(ANDS, Self::comparison)
    }
    fn comparison(&mut self) -> Parsed {
        self.chain(COMPARISONS, Self::sum)
    }
    fn sum(&mut self) -> Parsed {
        self.chain(SUMS, Self::product)
    }
    fn product(&mut self) -> Parsed {
        self.chain(PRODUCTS, Self::signed)
    }

    /// `-x^2` is `-(x^2)`.
    fn signed(&mut self) -> Parsed {
        let negate: Option<fn(f64) -> f64> = if self.takes("-") {
            Some(|x| -x)
        } else if self.rest().starts_with('!') && !self.rest().starts_with("!=") {
            self.at += 1;
            Some(|x| truth(x == 0.0))
        } else {
            None
        };
        let Some(negate) = negate else {
            return self.power();
        };
        self.deeper(Self::signed)?;
        self.program.push(Op::One(negate));
        Ok(())
    }

    /// From the right: `2^3^2` is `2^(3^2)`.
    fn power(&mut self) -> Parsed {
        self.atom()?;
        if self.takes("^") {
            self.deeper(Self::signed)?;
            self.program.push(Op::Two(f64::powf));
        }
        Ok(())
    }

    fn atom(&mut self) -> Parsed {
        if self.takes("(") {
            self.either()?;
            return self.close(")");
        }
        let rest = self.rest();
        if rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return self.number();
        }
        match word_length(rest) {
            0 => Err(self.unexpected("a number, a name, a function or '('")),
            length => self.word(length),
        }
    }

    fn close(&mut self, token: &str) -> Parsed {
        if self.takes(token) {
            return Ok(());
        }
        Err(self.unexpected(&format!("an operator or '{token}'")))
    }

    fn number(&mut self) -> Parsed {
        let rest = self.rest();
        let digits = |from: usize| {
            let tail = rest.get(from..).unwrap_or_default();
            let end = tail.find(|c: char| !c.is_ascii_digit());
            from + end.unwrap_or(tail.len())
        };
        let mut end = digits(0);
        if rest[end..].starts_with('.') {
            end = digits(end + 1);
        }
        if rest[end..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
            let exponent = digits(end + 1 + sign);
            if exponent > end + 1 + sign {
                end = exponent;
            }
        }
        let found = rest[..end].parse::<f64>();
        match found {
            Ok(number) if number.is_finite() => {
                self.at += end;
                self.program.push(Op::Number(number));
                Ok(())
            }
            _ => Err(self.unexpected("a number")),
        }
    }

    /// A name, or a function with its arguments.
    fn word(&mut self, length: usize) -> Parsed {
        let start = self.at;
        let text = self.text;
        let name = text.get(start..start + length).unwrap_or_default();
        self.at += length;
        if self.takes("(") {
            let found = FUNCTIONS.iter().find(|(known, _)| *known == name);
            let Some((_, function)) = found else {
                let known = instead_of(name, FUNCTIONS.iter().map(|(known, _)| *known));
                return Err(self.fault(start, format!("there is no function '{name}'; {known}")));
            };
            return self.call(start, name, function);
        }
        if let Some((_, number)) = CONSTANTS.iter().find(|(known, _)| *known == name) {
            self.program.push(Op::Number(*number));
            return Ok(());
        }
        if name == "time" {
            self.program.push(Op::Read(self.scope.time));
            return Ok(());
        }
        let range = self.input(start, name)?;
        let place = self.index(start, name, &range)?;
        self.program.push(Op::Read(place));
        Ok(())
    }

    /// The places of the numbers of an input.
    fn input(&self, start: usize, name: &str) -> Result<Range<usize>, Fault> {
        let found = self.scope.inputs.iter().find(|(known, _)| known == name);
        if let Some((_, range)) = found {
            return Ok(range.clone());
        }
        let is_function = FUNCTIONS.iter().any(|(known, _)| *known == name);
        let message = match is_function {
            true => format!("'{name}' is a function, expected '(' after it"),
            false => format!(
                "there is no '{name}'; {}",
                instead_of(name, self.scope.known())
            ),
        };
        Err(self.fault(start, message))
    }

    /// The place of `name` or `name[index]`.
    fn index(&mut self, start: usize, name: &str, range: &Range<usize>) -> Result<usize, Fault> {
        let count = range.len();
        if !self.takes("[") {
            return match count {
                1 => Ok(range.start),
                _ => Err(self.fault(start, format!("'{name}' has {count} numbers, expected {name}[0] for the first, or a function such as length({name})"))),
            };
        }
        let at = self.at;
        let rest = self.rest();
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let Ok(index) = rest[..digits].parse::<usize>() else {
            return Err(self.unexpected("a whole number"));
        };
        self.at += digits;
        if index >= count {
            return Err(self.fault(
                at,
                format!("'{name}' has {count} numbers, but this is number {index}, counted from 0"),
            ));
        }
        self.close("]")?;
        Ok(range.start + index)
    }

    fn call(&mut self, start: usize, name: &str, function: &Function) -> Parsed {
        let (mut arguments, mut numbers) = (0, 0);
        while !self.takes(")") {
            if arguments > 0 && !self.takes(",") {
                return Err(self.unexpected("an operator, ',' or ')'"));
            }
            arguments += 1;
            numbers += match function {
                Function::Many(_) => self.many()?,
                _ => {
                    self.either()?;
                    1
                }
            };
        }
        let fits = match function.count() {
            Some(count) => arguments == count,
            None => numbers > 0,
        };
        if !fits {
            let expected = match function.count() {
                Some(count) => count.to_string(),
                None => "one or more, which have numbers".to_owned(),
            };
            let message = format!("'{name}' has {arguments} arguments, expected {expected}");
            return Err(self.fault(start, message));
        }
        self.program.push(function.op(numbers));
        Ok(())
    }

    /// An argument that may be all numbers of an input. Returns how many there are.
    fn many(&mut self) -> Result<usize, Fault> {
        let length = word_length(self.rest());
        let text = self.text;
        let name = text.get(self.at..self.at + length).unwrap_or_default();
        let whole = self.scope.inputs.iter().find(|(known, _)| known == name);
        let before = self.at;
        self.at += length;
        let alone = self.rest().starts_with([',', ')']);
        if let (Some((_, range)), true) = (whole, alone) {
            for place in range.clone() {
                self.program.push(Op::Read(place));
            }
            return Ok(range.len());
        }
        self.at = before;
        self.either()?;
        Ok(1)
    }
}
