//! Compile cost of a module: memory of its variables, and number of operations after inlining every call, as drivers do.
//!
//! The compile time of a driver grows with the square of both. Thirty functions that each call the next one twice are a short text but a
//! thousand million calls. Therefore the sums use the call graph and compute each function once, and every number saturates.
//!
//! Measured on Mesa 22.3 (llvmpipe, two cores of a server): arrays of 2 KiB take 6 to 10 seconds to compile, arrays of 4 KiB take 30.
//! 65,000 operations take 17 to 27 seconds, half as many take 5 to 7, for arithmetic, buffer reads and array indexing alike.

use std::collections::HashSet;
use std::ops::Range;

use naga::proc::TypeResolution;
use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    AddressSpace, ArraySize, BinaryOperator, Block, Expression, Function, Handle, MathFunction,
    Module, Statement, Type, TypeInner,
};

use crate::findings::Finding;
use crate::tokens::{TokenKind, tokenize};

/// Maximum bytes of private variables and of function variables, counting every call.
pub const MOST_VARIABLE_BYTES: u64 = 2048;
/// Largest function variable in bytes that counts only as operations: a matrix.
const LARGEST_OF_REGISTERS: u64 = 64;
/// Maximum bytes of workgroup memory: every WebGPU device has this much.
pub const MOST_WORKGROUP_BYTES: u64 = 16384;
/// Maximum operations of a function including its calls: about one for each scalar that an expression computes, more for expressions
/// that take drivers longer.
pub const MOST_OPERATIONS: u64 = 1 << 15;

/// A number read from a buffer, or written to it: its index is compared with the length.
const BUFFER: u64 = 160;
/// An array indexed with what is known only when the kernel runs, beside its elements: drivers write out a choice among them.
const INDEXED: u64 = 256;
/// A function such as `sin`, for each of its numbers.
const FUNCTION: u64 = 8;
/// A division of whole numbers, for each of its numbers.
const DIVISION: u64 = 4;
/// A branch, or a case of a `switch`.
const BRANCH: u64 = 8;
/// A loop with the counter that ends it.
const LOOP: u64 = 32;

/// What a function takes, all that it calls included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cost {
    operations: u64,
    bytes: u64,
}

impl Cost {
    fn add(&mut self, other: Self) {
        self.operations = self.operations.saturating_add(other.operations);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// What is above the limits, at most one finding a function. `info` is that of the valid `module`, `text` what it was made of.
pub(crate) fn check(text: &str, module: &Module, info: &ModuleInfo) -> Vec<Finding> {
    let costs = Costs::new(text, module);
    let mut findings = costs.workgroup();
    let (private, finding) = costs.private();
    findings.extend(finding);
    costs.of_functions(info, |handle, function, cost| {
        let span = module.functions.get_span(handle).to_range();
        let found = costs.too_much(function, span, cost, private);
        let is_said = found.is_some();
        findings.extend(found);
        is_said
    });
    findings
}

/// The largest of the shares that a module takes of [`MOST_OPERATIONS`], [`MOST_VARIABLE_BYTES`] and [`MOST_WORKGROUP_BYTES`].
pub(crate) fn share(module: &Module, info: &ModuleInfo) -> f64 {
    let costs = Costs::new("", module);
    let (private, _) = costs.globals(AddressSpace::Private);
    let mut most = Cost::default();
    costs.of_functions(info, |_, _, cost| {
        most.operations = most.operations.max(cost.operations);
        most.bytes = most.bytes.max(cost.bytes);
        false
    });
    let bytes = most.bytes.saturating_add(private) as f64 / MOST_VARIABLE_BYTES as f64;
    let (workgroup, _) = costs.globals(AddressSpace::WorkGroup);
    bytes
        .max(most.operations as f64 / MOST_OPERATIONS as f64)
        .max(workgroup as f64 / MOST_WORKGROUP_BYTES as f64)
}

struct Costs<'a> {
    text: &'a str,
    module: &'a Module,
    /// Numbers of each type.
    types: Vec<u64>,
}

impl<'a> Costs<'a> {
    fn new(text: &'a str, module: &'a Module) -> Self {
        let mut types: Vec<u64> = Vec::new();
        for (_, ty) in module.types.iter() {
            // A type stands behind those that it is made of.
            let of = |h: Handle<Type>| types.get(h.index()).copied().unwrap_or(1);
            types.push(match &ty.inner {
                TypeInner::Array {
                    base,
                    size: ArraySize::Constant(count),
                    ..
                } => of(*base).saturating_mul(count.get().into()),
                TypeInner::Struct { members, .. } => members
                    .iter()
                    .fold(0, |sum, m| u64::saturating_add(sum, of(m.ty))),
                inner => plain(inner),
            });
        }
        Self {
            text,
            module,
            types,
        }
    }

    /// Shows each function what it takes. Where that says true, calls of the function count nothing: it is said once, not of every function
    /// that calls this one.
    fn of_functions(
        &self,
        info: &ModuleInfo,
        mut show: impl FnMut(Handle<Function>, &Function, Cost) -> bool,
    ) {
        let mut known: Vec<Cost> = Vec::new();
        // A function stands behind all that it calls.
        for (handle, function) in self.module.functions.iter() {
            let cost = self.function(function, &info[handle], &known);
            let is_said = show(handle, function, cost);
            known.push(if is_said { Cost::default() } else { cost });
        }
    }

    fn numbers(&self, ty: &TypeResolution) -> u64 {
        match ty {
            TypeResolution::Handle(handle) => self.types[handle.index()],
            TypeResolution::Value(inner) => plain(inner),
        }
    }

    fn bytes(&self, ty: Handle<Type>) -> u64 {
        let size = self.module.types[ty].inner.try_size(self.module.to_ctx());
        size.map_or(u64::MAX, u64::from)
    }

    /// Bytes of a variable of a function; none where a driver keeps it in registers.
    fn local_bytes(&self, ty: Handle<Type>) -> u64 {
        let bytes = self.bytes(ty);
        if bytes > LARGEST_OF_REGISTERS {
            bytes
        } else {
            0
        }
    }

    fn indexed(&self, ty: Handle<Type>) -> u64 {
        let numbers = self.types[ty.index()];
        match self.module.types[ty].inner {
            TypeInner::Array { .. } => INDEXED.saturating_add(numbers),
            _ => numbers,
        }
    }

    /// Bytes of the variables of module scope in `space`, and where the largest is declared.
    fn globals(&self, space: AddressSpace) -> (u64, Option<Range<usize>>) {
        let variables = &self.module.global_variables;
        let found = variables.iter().filter(|(_, v)| v.space == space);
        let sizes = found.map(|(handle, v)| {
            // As WebGPU counts them.
            let bytes = self.bytes(v.ty).saturating_add(15) & !15;
            (bytes, handle)
        });
        let (mut sum, mut largest) = (0_u64, None);
        for (bytes, handle) in sizes {
            sum = sum.saturating_add(bytes);
            if largest.is_none_or(|(most, _)| bytes > most) {
                largest = Some((bytes, handle));
            }
        }
        let span = largest.and_then(|(_, handle)| variables.get_span(handle).to_range());
        (sum, span.and_then(|s| self.name_in(s)))
    }

    fn workgroup(&self) -> Vec<Finding> {
        let (bytes, place) = self.globals(AddressSpace::WorkGroup);
        let message = format!(
            "workgroup memory takes {} bytes, but at most {MOST_WORKGROUP_BYTES} are allowed",
            shown(bytes)
        );
        let found = (bytes > MOST_WORKGROUP_BYTES).then(|| Finding {
            message,
            spans: place.into_iter().collect(),
            ..Finding::default()
        });
        found.into_iter().collect()
    }

    /// Bytes of private variables; zero where they are too many by themselves, which is a finding.
    fn private(&self) -> (u64, Option<Finding>) {
        let (bytes, place) = self.globals(AddressSpace::Private);
        if bytes <= MOST_VARIABLE_BYTES {
            return (bytes, None);
        }
        let message = format!(
            "private variables take {} bytes, but at most {MOST_VARIABLE_BYTES} are allowed",
            shown(bytes)
        );
        let found = Finding {
            message,
            help: Some("read a large table from a buffer: an input of the kernel".to_owned()),
            spans: place.into_iter().collect(),
            ..Finding::default()
        };
        (0, Some(found))
    }

    /// `private`: bytes that private variables take beside those of functions.
    fn too_much(
        &self,
        function: &Function,
        span: Option<Range<usize>>,
        cost: Cost,
        private: u64,
    ) -> Option<Finding> {
        let name = function.name.as_deref().unwrap_or_default();
        let bytes = cost.bytes.saturating_add(private);
        let (message, help) = if bytes > MOST_VARIABLE_BYTES && cost.bytes > 0 {
            let message = format!(
                "the variables of `{name}` take {} bytes, with those of its calls and private ones, but at most {MOST_VARIABLE_BYTES} are allowed",
                shown(bytes)
            );
            (
                message,
                "each call has its own variables; read a large table from a buffer: an input of the kernel",
            )
        } else if cost.operations > MOST_OPERATIONS {
            let message = format!(
                "`{name}` and its calls take {} operations, but at most {MOST_OPERATIONS} are allowed",
                shown(cost.operations)
            );
            (
                message,
                "drivers inline each call: call functions less often, or in a loop",
            )
        } else {
            return None;
        };
        Some(Finding {
            message,
            help: Some(help.to_owned()),
            spans: span.and_then(|s| self.name_in(s)).into_iter().collect(),
            ..Finding::default()
        })
    }

    /// The first name in a range of bytes: that of a declaration.
    fn name_in(&self, span: Range<usize>) -> Option<Range<usize>> {
        let declaration = self.text.get(span.clone())?;
        let name = tokenize(declaration)
            .into_iter()
            .find(|t| t.kind == TokenKind::Name)?;
        Some(span.start + name.start..span.start + name.end)
    }

    fn function(&self, function: &Function, info: &FunctionInfo, known: &[Cost]) -> Cost {
        let mut cost = Cost::default();
        for (_, variable) in function.local_variables.iter() {
            cost.add(Cost {
                operations: self.types[variable.ty.index()],
                bytes: self.local_bytes(variable.ty),
            });
        }
        let walk = Walk {
            costs: self,
            info,
            known,
        };
        let mut copied = HashSet::new();
        for (_, expression) in function.expressions.iter() {
            cost.add(walk.expression(expression, &mut copied));
        }
        for (handle, expression) in function.expressions.iter() {
            cost.operations = cost.operations.saturating_add(match expression {
                // They stand for what is somewhere else already.
                Expression::Access { .. }
                | Expression::AccessIndex { .. }
                | Expression::Constant(_)
                | Expression::Literal(_)
                | Expression::FunctionArgument(_) => 0,
                _ => self.numbers(&info[handle].ty),
            });
        }
        cost.add(walk.block(&function.body));
        cost
    }
}

/// One function.
struct Walk<'a> {
    costs: &'a Costs<'a>,
    info: &'a FunctionInfo,
    known: &'a [Cost],
}

impl Walk<'_> {
    fn inner(&self, expression: Handle<Expression>) -> &TypeInner {
        self.info[expression]
            .ty
            .inner_with(&self.costs.module.types)
    }

    fn numbers(&self, expression: Handle<Expression>) -> u64 {
        self.costs.numbers(&self.info[expression].ty)
    }

    fn is_buffer(&self, pointer: Handle<Expression>) -> bool {
        let space = self.inner(pointer).pointer_space();
        matches!(
            space,
            Some(AddressSpace::Storage { .. } | AddressSpace::Uniform)
        )
    }

    /// What an expression takes beside one operation for each of its numbers. `copied`: values that have a variable already, to be
    /// indexed there.
    fn expression(&self, e: &Expression, copied: &mut HashSet<Handle<Expression>>) -> Cost {
        let mut cost = Cost::default();
        cost.operations = match e {
            Expression::Load { pointer } if self.is_buffer(*pointer) => BUFFER,
            Expression::Math { fun, arg, .. } if !is_quick(*fun) => {
                FUNCTION.saturating_mul(self.numbers(*arg))
            }
            Expression::Binary { op, left, right } => self.binary(*op, *left, *right),
            Expression::Access { base, .. } => match *self.inner(*base) {
                TypeInner::Pointer { base: ty, space } if !is_memory(space) => {
                    self.costs.indexed(ty)
                }
                TypeInner::Array { .. } => {
                    if copied.insert(*base)
                        && let TypeResolution::Handle(ty) = self.info[*base].ty
                    {
                        cost.bytes = self.costs.local_bytes(ty);
                    }
                    INDEXED.saturating_add(self.numbers(*base))
                }
                TypeInner::Matrix { .. } | TypeInner::Vector { .. } => self.numbers(*base),
                _ => 1,
            },
            _ => 0,
        };
        cost
    }

    fn binary(
        &self,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> u64 {
        let (a, b) = (self.numbers(left), self.numbers(right));
        let is_matrix = |e| matches!(self.inner(e), TypeInner::Matrix { .. });
        match op {
            BinaryOperator::Multiply if is_matrix(left) || is_matrix(right) => {
                4_u64.saturating_mul(a.max(b))
            }
            BinaryOperator::Divide | BinaryOperator::Modulo => DIVISION.saturating_mul(a.max(b)),
            _ => 0,
        }
    }

    /// Statements; the depth of blocks is limited before naga sees a text.
    fn block(&self, block: &Block) -> Cost {
        let mut cost = Cost::default();
        for statement in block {
            cost.add(self.statement(statement));
        }
        cost
    }

    fn statement(&self, statement: &Statement) -> Cost {
        let operations = |operations| Cost {
            operations,
            bytes: 0,
        };
        match statement {
            Statement::Block(block) => self.block(block),
            Statement::If { accept, reject, .. } => {
                let mut cost = operations(BRANCH);
                cost.add(self.block(accept));
                cost.add(self.block(reject));
                cost
            }
            Statement::Switch { cases, .. } => {
                let mut cost = Cost::default();
                for case in cases {
                    cost.add(operations(BRANCH));
                    cost.add(self.block(&case.body));
                }
                cost
            }
            Statement::Loop {
                body, continuing, ..
            } => {
                let mut cost = operations(LOOP);
                cost.add(self.block(body));
                cost.add(self.block(continuing));
                cost
            }
            Statement::Store { pointer, value } => {
                let buffer = if self.is_buffer(*pointer) { BUFFER } else { 0 };
                operations(buffer.saturating_add(self.numbers(*value)))
            }
            Statement::Atomic { .. } => operations(BUFFER),
            Statement::Call {
                function,
                arguments,
                ..
            } => {
                let mut cost = self
                    .known
                    .get(function.index())
                    .copied()
                    .unwrap_or_default();
                for argument in arguments {
                    cost.add(operations(self.numbers(*argument)));
                }
                cost
            }
            _ => operations(1),
        }
    }
}

/// Functions that take about one operation for each number.
fn is_quick(function: MathFunction) -> bool {
    use MathFunction as F;
    matches!(
        function,
        F::Abs
            | F::Min
            | F::Max
            | F::Clamp
            | F::Saturate
            | F::Floor
            | F::Ceil
            | F::Round
            | F::Fract
            | F::Trunc
            | F::Dot
            | F::Cross
            | F::Sign
            | F::Fma
            | F::Mix
            | F::Step
    )
}

/// Whether a pointer leads to memory outside of the invocation, where an index is only an address.
fn is_memory(space: AddressSpace) -> bool {
    !matches!(space, AddressSpace::Function | AddressSpace::Private)
}

/// Numbers of a type that is not made of others.
fn plain(inner: &TypeInner) -> u64 {
    match inner {
        TypeInner::Vector { size, .. } => *size as u64,
        TypeInner::Matrix { columns, rows, .. } => *columns as u64 * *rows as u64,
        _ => 1,
    }
}

/// A number that may have stopped at the largest.
fn shown(number: u64) -> String {
    const MOST: u64 = 1_000_000_000;
    match number > MOST {
        true => format!("more than {MOST}"),
        false => number.to_string(),
    }
}
