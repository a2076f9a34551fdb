//! Messages of naga's validator in plainer words. Locations and names are still those of the whole module.
//!
//! naga's errors name expressions by numbers and types by internal names. This file looks the expression up, resolves its type, and points
//! to the statement that uses it. An error without an explanation here keeps naga's innermost message, in our style.

use std::error::Error;
use std::ops::Range;

use naga::common::DiagnosticDisplay;
use naga::front::Typifier;
use naga::proc::{ResolveContext, TypeResolution};
use naga::valid::{
    CallError, ComposeError, EntryPointError, ExpressionError, FunctionError, ValidationError,
};
use naga::{Expression, Function, Handle, Module, Statement, Type, TypeInner, WithSpan};

use crate::findings::{Finding, arguments, smoothed, typed};
use crate::statements::{self, returns};
use crate::tokens::{TokenKind, tokenize};

/// The problem that the validator found.
pub(crate) fn finding(text: &str, module: &Module, error: &WithSpan<ValidationError>) -> Finding {
    let mut spans: Vec<(Range<usize>, &str)> = error
        .spans()
        .filter_map(|(span, what)| Some((span.to_range()?, what.as_str())))
        .collect();
    // The narrower, the more telling.
    spans.sort_by_key(|(s, _)| s.len());
    let context = match error.as_inner() {
        ValidationError::Function { handle, source, .. } => {
            Some((&module.functions[*handle], source))
        }
        ValidationError::EntryPoint {
            name,
            source: EntryPointError::Function(source),
            ..
        } => {
            let entry = module.entry_points.iter().find(|e| e.name == *name);
            entry.map(|e| (&e.function, source))
        }
        _ => None,
    };
    let explained = context.and_then(|(function, source)| {
        Explainer {
            text,
            module,
            function,
            spans: &spans,
        }
        .function_error(source)
    });
    let mut out = explained.unwrap_or_else(|| Finding {
        message: deepest(error.as_inner()),
        ..Finding::default()
    });
    out.spans.extend(spans.into_iter().map(|(span, _)| span));
    out
}

struct Explainer<'a> {
    text: &'a str,
    module: &'a Module,
    function: &'a Function,
    spans: &'a [(Range<usize>, &'a str)],
}

impl Explainer<'_> {
    fn function_error(&self, error: &FunctionError) -> Option<Finding> {
        match error {
            FunctionError::InvalidReturnType {
                expression,
                expected_ty,
            } => self.wrong_return(*expression, *expected_ty),
            FunctionError::InvalidCall { function, error } => {
                let name = self.module.functions[*function].name.clone()?;
                self.wrong_call(name, error)
            }
            FunctionError::Expression { handle, source } => self.wrong_expression(*handle, source),
            FunctionError::InvalidIfType(value) => {
                let message = format!(
                    "a condition must be `bool`, found {}",
                    self.type_of(*value)?
                );
                let decides = |s: &Statement| matches!(s, Statement::If { condition, .. } if condition == value);
                Some(self.in_statement(message, decides, *value))
            }
            FunctionError::InvalidSwitchType(value) => {
                let message = format!("`switch` needs an integer, found {}", self.type_of(*value)?);
                let decides = |s: &Statement| matches!(s, Statement::Switch { selector, .. } if selector == value);
                Some(self.in_statement(message, decides, *value))
            }
            FunctionError::InvalidStoreTypes { pointer, value } => {
                let target = self.pointed(*pointer)?;
                self.of_value(*value, |found| format!("expected {target}, found {found}"))
            }
            FunctionError::MissingCapability(needed) => Some(capability(*needed)),
            _ => None,
        }
    }

    fn wrong_return(
        &self,
        value: Option<Handle<Expression>>,
        expected: Option<Handle<Type>>,
    ) -> Option<Finding> {
        let name = self.function.name.clone().unwrap_or_default();
        match (value, expected) {
            (None, Some(expected)) => {
                let expected = self.type_name(expected);
                let at_return = self.labelled("invalid return");
                let message = match at_return.is_some() {
                    true => format!("`{name}` must return a value of type {expected}"),
                    false => {
                        format!("`{name}` does not return a value of type {expected} on every path")
                    }
                };
                Some(Finding {
                    message,
                    spans: at_return
                        .or_else(|| self.function_name())
                        .into_iter()
                        .collect(),
                    ..Finding::default()
                })
            }
            (Some(value), Some(expected)) => {
                let expected = self.type_name(expected);
                let found = self.type_of(value)?;
                let message = format!("`{name}` returns {expected}, found {found}");
                Some(self.in_statement(message, |s| returns(s, value), value))
            }
            (Some(value), None) => Some(self.returned_value(value)),
            (None, None) => None,
        }
    }

    fn wrong_call(&self, name: String, error: &CallError) -> Option<Finding> {
        let call = self.labelled("invalid function call")?;
        let given = arguments(self.text, call.start);
        match error {
            CallError::ArgumentCount { required, seen } => Some(Finding {
                message: format!(
                    "`{name}` takes {required} argument{}, found {seen}",
                    if *required == 1 { "" } else { "s" }
                ),
                spans: vec![call],
                callee: Some(name),
                ..Finding::default()
            }),
            CallError::ArgumentType {
                index,
                required,
                seen_expression,
            } => Some(Finding {
                message: format!(
                    "argument {} of `{name}` must be {}, found {}",
                    index + 1,
                    self.type_name(*required),
                    self.type_of(*seen_expression)?
                ),
                spans: given
                    .get(*index)
                    .cloned()
                    .into_iter()
                    .chain([call])
                    .collect(),
                callee: Some(name),
                ..Finding::default()
            }),
            _ => None,
        }
    }

    fn wrong_expression(
        &self,
        handle: Handle<Expression>,
        error: &ExpressionError,
    ) -> Option<Finding> {
        let message = match error {
            ExpressionError::InvalidBinaryOperandTypes {
                op,
                lhs_type,
                rhs_type,
                ..
            } => format!(
                "`{}` does not accept {} and {}",
                symbol(*op),
                self.inner_name(lhs_type),
                self.inner_name(rhs_type)
            ),
            ExpressionError::InvalidUnaryOperandType(op, value) => {
                let symbol = match op {
                    naga::UnaryOperator::Negate => "-",
                    naga::UnaryOperator::LogicalNot => "!",
                    naga::UnaryOperator::BitwiseNot => "~",
                };
                format!("`{symbol}` does not accept {}", self.type_of(*value)?)
            }
            ExpressionError::IndexOutOfBounds(base, index) => {
                format!("index {index} is out of range for {}", self.type_of(*base)?)
            }
            ExpressionError::Compose(ComposeError::ComponentCount { given, expected }) => {
                format!("expected {expected} values, found {given}")
            }
            ExpressionError::Compose(ComposeError::ComponentType { index }) => {
                format!("value {} has the wrong type", index + 1)
            }
            ExpressionError::InvalidBooleanVector(value) => {
                format!(
                    "expected a vector of `bool`, found {}",
                    self.type_of(*value)?
                )
            }
            ExpressionError::MissingCapabilities(needed) => return Some(capability(*needed)),
            // A number whose type nothing decides: with nothing to return, it has none.
            ExpressionError::Literal(_)
                if self.function.result.is_none()
                    && statements::find(&self.function.body, &|s| returns(s, handle)).is_some() =>
            {
                return Some(self.returned_value(handle));
            }
            _ => return None,
        };
        Some(Finding {
            message,
            spans: self.span(handle).into_iter().collect(),
            ..Finding::default()
        })
    }

    fn returned_value(&self, value: Handle<Expression>) -> Finding {
        let name = self.function.name.as_deref().unwrap_or_default();
        let message = format!("`{name}` returns nothing, but this `return` has a value");
        self.in_statement(message, |s| returns(s, value), value)
    }

    /// A problem of what stands behind the first word of a statement (`if`, `return`). A value may be a variable, whose own place
    /// is where it was declared.
    fn in_statement(
        &self,
        message: String,
        which: impl Fn(&Statement) -> bool,
        value: Handle<Expression>,
    ) -> Finding {
        let found = statements::find(&self.function.body, &which);
        let inside = found.and_then(|span| statements::behind_first_word(self.text, &span));
        Finding {
            message,
            spans: inside.into_iter().chain(self.span(value)).collect(),
            ..Finding::default()
        }
    }

    fn of_value(
        &self,
        value: Handle<Expression>,
        message: impl FnOnce(String) -> String,
    ) -> Option<Finding> {
        Some(Finding {
            message: message(self.type_of(value)?),
            spans: self.span(value).into_iter().collect(),
            ..Finding::default()
        })
    }

    fn span(&self, expression: Handle<Expression>) -> Option<Range<usize>> {
        self.function.expressions.get_span(expression).to_range()
    }

    fn labelled(&self, label: &str) -> Option<Range<usize>> {
        let found = self.spans.iter().find(|(_, what)| *what == label);
        found.map(|(span, _)| span.clone())
    }

    /// Where the function's name stands.
    fn function_name(&self) -> Option<Range<usize>> {
        let (whole, _) = self.spans.last()?;
        let text = self.text.get(whole.clone())?;
        let name = tokenize(text)
            .into_iter()
            .find(|t| t.kind == TokenKind::Name)?;
        Some(whole.start + name.start..whole.start + name.end)
    }

    fn type_name(&self, handle: Handle<Type>) -> String {
        typed(&DiagnosticDisplay((handle, self.module.to_ctx())).to_string())
    }

    fn inner_name(&self, inner: &TypeInner) -> String {
        let resolution = TypeResolution::Value(inner.clone());
        typed(&DiagnosticDisplay((&resolution, self.module.to_ctx())).to_string())
    }

    fn type_of(&self, value: Handle<Expression>) -> Option<String> {
        let resolution = self.resolve(value)?;
        Some(typed(
            &DiagnosticDisplay((&resolution, self.module.to_ctx())).to_string(),
        ))
    }

    fn pointed(&self, pointer: Handle<Expression>) -> Option<String> {
        match self.resolve(pointer)?.inner_with(&self.module.types) {
            TypeInner::Pointer { base, .. } => Some(self.type_name(*base)),
            TypeInner::ValuePointer { size, scalar, .. } => Some(self.inner_name(&match size {
                Some(size) => TypeInner::Vector {
                    size: *size,
                    scalar: *scalar,
                },
                None => TypeInner::Scalar(*scalar),
            })),
            _ => None,
        }
    }

    fn resolve(&self, value: Handle<Expression>) -> Option<TypeResolution> {
        let context = ResolveContext::with_locals(
            self.module,
            &self.function.local_variables,
            &self.function.arguments,
        );
        let mut types = Typifier::new();
        types
            .grow(value, &self.function.expressions, &context)
            .ok()?;
        Some(types[value].clone())
    }
}

fn capability(needed: naga::valid::Capabilities) -> Finding {
    Finding {
        message: format!("not available here: {}", capability_name(needed)),
        ..Finding::default()
    }
}

fn capability_name(needed: naga::valid::Capabilities) -> String {
    use naga::valid::Capabilities as C;
    let known = [
        (C::SUBGROUP, "subgroup operations"),
        (C::SUBGROUP_BARRIER, "subgroup barriers"),
        (C::SHADER_FLOAT16, "`f16`"),
        (C::FLOAT64, "`f64`"),
        (C::SHADER_INT64, "64-bit integers"),
        (C::IMMEDIATES, "`var<immediate>`"),
    ];
    match known.iter().find(|(c, _)| *c == needed) {
        Some((_, name)) => (*name).to_owned(),
        None => format!("{needed:?}"),
    }
}

/// The innermost cause.
fn deepest(error: &dyn Error) -> String {
    let mut at = error;
    while let Some(source) = at.source() {
        at = source;
    }
    let message = at.to_string();
    match message.contains("TypeFlags(") {
        true => "this type is not allowed here".to_owned(),
        false => smoothed(&message),
    }
}

fn symbol(operator: naga::BinaryOperator) -> &'static str {
    use naga::BinaryOperator as B;
    match operator {
        B::Add => "+",
        B::Subtract => "-",
        B::Multiply => "*",
        B::Divide => "/",
        B::Modulo => "%",
        B::Equal => "==",
        B::NotEqual => "!=",
        B::Less => "<",
        B::LessEqual => "<=",
        B::Greater => ">",
        B::GreaterEqual => ">=",
        B::And => "&",
        B::ExclusiveOr => "^",
        B::InclusiveOr => "|",
        B::LogicalAnd => "&&",
        B::LogicalOr => "||",
        B::ShiftLeft => "<<",
        B::ShiftRight => ">>",
    }
}
