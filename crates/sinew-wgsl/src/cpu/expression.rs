//! Compiles expressions.

use naga::{BinaryOperator, Expression, Handle, MathFunction, ScalarKind, Span, TypeInner};

use super::code::{Component, Mixed, Op, Registers, Slot};
use super::compile::{Body, Fault, Value};
use super::component::{SELECT, binary, conversion, unary};
use super::{math, vector};

type Compiled<T> = Result<T, Fault>;

impl<'a> Body<'_, 'a> {
    fn span(&self, handle: Handle<Expression>) -> Span {
        self.function.expressions.get_span(handle)
    }

    fn fault(&self, handle: Handle<Expression>, what: &str) -> Fault {
        Fault::new(self.span(handle), what)
    }

    fn inner(&self, handle: Handle<Expression>) -> &'a TypeInner {
        let types = &self.compiler.module.types;
        self.info[handle].ty.inner_with(types)
    }

    pub(super) fn kind(&self, handle: Handle<Expression>) -> Compiled<ScalarKind> {
        let kind = self.inner(handle).scalar_kind();
        kind.ok_or_else(|| self.fault(handle, "an operation on this type"))
    }

    /// Words of the value.
    pub(super) fn words(&self, handle: Handle<Expression>) -> Compiled<u32> {
        let words = self.compiler.sizes.resolved(&self.info[handle].ty);
        words.ok_or_else(|| self.fault(handle, "a type without 32 bits"))
    }

    pub(super) fn new_slot(&mut self, handle: Handle<Expression>, words: u32) -> Compiled<Slot> {
        let span = self.span(handle);
        self.compiler.allocate(words, span)
    }

    pub(super) fn set(&mut self, handle: Handle<Expression>, value: Value) {
        if let Some(known) = self.values.get_mut(handle.index()) {
            *known = Some(value);
        }
    }

    /// The registers of a value; those that hold the address of a pointer.
    pub(super) fn slot(&mut self, handle: Handle<Expression>) -> Compiled<Slot> {
        let span = self.span(handle);
        match self.value(handle)? {
            Value::Words(slot)
            | Value::Pointer {
                base: Some(slot),
                offset: 0,
            } => Ok(slot),
            Value::Pointer { base: None, offset } => self.compiler.constant(vec![offset], span),
            Value::Pointer {
                base: Some(base),
                offset,
            } => {
                let offset = self.compiler.constant(vec![offset], span)?;
                let to = self.compiler.allocate(1, span)?;
                self.compiler.emit(Op::Map {
                    f: Component::Two(u32::wrapping_add),
                    to,
                    words: 1,
                    args: [base, offset, 0, 0],
                    steps: [1; 4],
                });
                Ok(to)
            }
        }
    }

    pub(super) fn pointer(&mut self, handle: Handle<Expression>) -> Compiled<(Option<Slot>, u32)> {
        match self.value(handle)? {
            Value::Pointer { base, offset } => Ok((base, offset)),
            Value::Words(slot) => Ok((Some(slot), 0)),
        }
    }

    /// The value of an expression that was computed, or needs no code.
    fn value(&mut self, handle: Handle<Expression>) -> Compiled<Value> {
        if let Some(Some(known)) = self.values.get(handle.index()) {
            return Ok(*known);
        }
        let span = self.span(handle);
        let fixed = |offset| Value::Pointer { base: None, offset };
        let value = match self.function.expressions[handle] {
            Expression::FunctionArgument(index) => {
                let slot = self.argument(index);
                let slot = slot.ok_or_else(|| self.fault(handle, "this argument"))?;
                match self.inner(handle).pointer_space() {
                    Some(_) => Value::Pointer {
                        base: Some(slot),
                        offset: 0,
                    },
                    None => Value::Words(slot),
                }
            }
            Expression::LocalVariable(local) => {
                fixed(self.locals.get(local.index()).copied().unwrap_or(0))
            }
            Expression::GlobalVariable(global) => fixed(self.compiler.global(global, span)?),
            _ => {
                let mut words = Vec::new();
                let arena = &self.function.expressions;
                if self
                    .compiler
                    .sizes
                    .constant(arena, handle, &mut words)
                    .is_none()
                {
                    return Err(self.fault(handle, "this expression"));
                }
                Value::Words(self.compiler.constant(words, span)?)
            }
        };
        self.set(handle, value);
        Ok(value)
    }

    /// Compiles one expression where it is computed.
    pub(super) fn expression(&mut self, handle: Handle<Expression>) -> Compiled<()> {
        let value = match &self.function.expressions[handle] {
            Expression::Access { base, index } => self.element(handle, *base, *index)?,
            Expression::AccessIndex { base, index } => self.part(handle, *base, *index)?,
            Expression::Load { pointer } => self.load(handle, *pointer)?,
            Expression::Compose { components, .. } => self.compose(handle, components)?,
            Expression::Splat { value, .. } => {
                let words = self.words(handle)?;
                let from = self.slot(*value)?;
                let to = self.new_slot(handle, words)?;
                self.compiler.emit(Op::Splat { to, from, words });
                Value::Words(to)
            }
            Expression::Swizzle {
                size,
                vector,
                pattern,
            } => {
                let from = self.slot(*vector)?;
                let to = self.new_slot(handle, *size as u32)?;
                for (i, component) in (0..*size as u32).zip(pattern) {
                    let (to, from) = (to + i, from + *component as u32);
                    self.compiler.emit(Op::Copy { to, from, words: 1 });
                }
                Value::Words(to)
            }
            Expression::Unary { op, expr } => {
                let f = unary(*op, self.kind(*expr)?);
                self.map(handle, f, &[*expr])?
            }
            Expression::Binary { op, left, right } => self.binary(handle, *op, *left, *right)?,
            Expression::Select {
                condition,
                accept,
                reject,
            } => self.map(handle, Some(SELECT), &[*condition, *accept, *reject])?,
            Expression::Relational { fun, argument } => {
                self.mix(handle, vector::relational(*fun), &[*argument])?
            }
            Expression::Math {
                fun,
                arg,
                arg1,
                arg2,
                arg3,
            } => {
                let more = [arg1, arg2, arg3].into_iter().flatten();
                let args: Vec<_> = [arg].into_iter().chain(more).copied().collect();
                self.math(handle, *fun, &args)?
            }
            Expression::As {
                expr,
                kind,
                convert,
            } => self.convert(handle, *expr, *kind, *convert)?,
            _ => {
                self.value(handle)?;
                return Ok(());
            }
        };
        self.set(handle, value);
        Ok(())
    }

    /// An element with a computed index.
    fn element(
        &mut self,
        handle: Handle<Expression>,
        base: Handle<Expression>,
        index: Handle<Expression>,
    ) -> Compiled<Value> {
        let elements = self.compiler.sizes.elements(self.inner(base));
        let (stride, count) = elements.ok_or_else(|| self.fault(handle, "an index here"))?;
        let span = self.span(handle);
        let of_pointer = self.inner(base).pointer_space().is_some();
        let first = match of_pointer {
            true => self.slot(base)?,
            false => {
                let values = self.slot(base)?;
                self.compiler.constant(vec![values], span)?
            }
        };
        let index = self.slot(index)?;
        let address = self.compiler.allocate(1, span)?;
        self.compiler.emit(Op::Address {
            to: address,
            base: first,
            index,
            last: count.saturating_sub(1),
            stride,
        });
        if of_pointer {
            return Ok(Value::Pointer {
                base: Some(address),
                offset: 0,
            });
        }
        let to = self.new_slot(handle, stride)?;
        self.compiler.emit(Op::Load {
            to,
            address,
            words: stride,
        });
        Ok(Value::Words(to))
    }

    /// An element or member that is known.
    fn part(
        &mut self,
        handle: Handle<Expression>,
        base: Handle<Expression>,
        index: u32,
    ) -> Compiled<Value> {
        let types = &self.compiler.module.types;
        let inner = match self.inner(base) {
            TypeInner::Pointer { base, .. } => &types[*base].inner,
            inner => inner,
        };
        let element = self.compiler.sizes.element(inner, index);
        let (first, _) = element.ok_or_else(|| self.fault(handle, "this element"))?;
        Ok(match self.value(base)? {
            Value::Words(slot) => Value::Words(slot + first),
            Value::Pointer { base, offset } => Value::Pointer {
                base,
                offset: offset + first,
            },
        })
    }

    fn load(&mut self, handle: Handle<Expression>, pointer: Handle<Expression>) -> Compiled<Value> {
        let words = self.words(handle)?;
        let source = self.pointer(pointer)?;
        let op = |to| match source {
            (None, from) => Ok(Op::Copy { to, from, words }),
            (Some(address), 0) => Ok(Op::Load { to, address, words }),
            (Some(_), _) => Err(()),
        };
        let to = self.new_slot(handle, words)?;
        let op = match op(to) {
            Ok(op) => op,
            Err(()) => {
                let address = self.slot(pointer)?;
                Op::Load { to, address, words }
            }
        };
        self.compiler.emit(op);
        Ok(Value::Words(to))
    }

    fn compose(
        &mut self,
        handle: Handle<Expression>,
        components: &[Handle<Expression>],
    ) -> Compiled<Value> {
        let words = self.words(handle)?;
        let to = self.new_slot(handle, words)?;
        let mut at = to;
        for component in components {
            let words = self.words(*component)?;
            let from = self.slot(*component)?;
            self.compiler.emit(Op::Copy {
                to: at,
                from,
                words,
            });
            at += words;
        }
        Ok(Value::Words(to))
    }

    /// A function of single components. An operand with one component meets all of the others.
    fn map(
        &mut self,
        handle: Handle<Expression>,
        f: Option<Component>,
        operands: &[Handle<Expression>],
    ) -> Compiled<Value> {
        let f = f.ok_or_else(|| self.fault(handle, "this operation"))?;
        let words = self.words(handle)?;
        let (mut args, mut steps) = ([0; 4], [1; 4]);
        for ((operand, arg), step) in operands.iter().zip(&mut args).zip(&mut steps) {
            *step = u8::from(self.words(*operand)? > 1);
            *arg = self.slot(*operand)?;
        }
        let to = self.new_slot(handle, words)?;
        self.compiler.emit(Op::Map {
            f,
            to,
            words,
            args,
            steps,
        });
        Ok(Value::Words(to))
    }

    /// A function that mixes components of its first operand.
    fn mix(
        &mut self,
        handle: Handle<Expression>,
        f: Option<fn(Registers<'_>, &Mixed)>,
        operands: &[Handle<Expression>],
    ) -> Compiled<Value> {
        let f = f.ok_or_else(|| self.fault(handle, "this function"))?;
        let mut on = Mixed {
            to: 0,
            args: [0; 3],
            rows: 1,
            columns: 1,
            others: 1,
        };
        for (operand, arg) in operands.iter().zip(&mut on.args) {
            *arg = self.slot(*operand)?;
        }
        let inners: Vec<&TypeInner> = operands.iter().map(|o| self.inner(*o)).collect();
        match inners.first() {
            Some(TypeInner::Vector { size, .. }) => on.rows = *size as u32,
            Some(TypeInner::Matrix { columns, rows, .. }) => {
                (on.rows, on.columns) = (*rows as u32, *columns as u32);
            }
            _ => {}
        }
        if let Some(TypeInner::Matrix { columns, .. }) = inners.get(1) {
            match inners.first() {
                Some(TypeInner::Vector { .. }) => on.columns = *columns as u32,
                _ => on.others = *columns as u32,
            }
        }
        let words = self.words(handle)?;
        on.to = self.new_slot(handle, words)?;
        self.compiler.emit(Op::Mix { f, on });
        Ok(Value::Words(on.to))
    }

    fn binary(
        &mut self,
        handle: Handle<Expression>,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Compiled<Value> {
        use TypeInner::{Matrix, Vector};
        let products: Option<fn(Registers<'_>, &Mixed)> =
            match (op, self.inner(left), self.inner(right)) {
                (BinaryOperator::Multiply, Matrix { .. }, Matrix { .. } | Vector { .. }) => {
                    Some(vector::matrix_times)
                }
                (BinaryOperator::Multiply, Vector { .. }, Matrix { .. }) => {
                    Some(vector::times_matrix)
                }
                _ => None,
            };
        match products {
            Some(_) => self.mix(handle, products, &[left, right]),
            None => {
                let f = binary(op, self.kind(left)?);
                self.map(handle, f, &[left, right])
            }
        }
    }

    fn math(
        &mut self,
        handle: Handle<Expression>,
        function: MathFunction,
        operands: &[Handle<Expression>],
    ) -> Compiled<Value> {
        let Some(first) = operands.first() else {
            return Err(self.fault(handle, "this function"));
        };
        let kind = self.kind(*first)?;
        if let Some(pair) = math::pair(function) {
            return self.pair(handle, *first, pair);
        }
        if let Some(component) = math::component(function, kind) {
            return self.map(handle, Some(component), operands);
        }
        let mixed = match kind {
            ScalarKind::Float => vector::of_floats(function),
            _ => vector::of_integers(function),
        };
        self.mix(handle, mixed, operands)
    }

    /// A structure of two results.
    fn pair(
        &mut self,
        handle: Handle<Expression>,
        operand: Handle<Expression>,
        pair: [Component; 2],
    ) -> Compiled<Value> {
        let words = self.words(operand)?;
        let from = self.slot(operand)?;
        let to = self.new_slot(handle, 2 * words)?;
        for (part, f) in (0..).zip(pair) {
            self.compiler.emit(Op::Map {
                f,
                to: to + part * words,
                words,
                args: [from, 0, 0, 0],
                steps: [1; 4],
            });
        }
        Ok(Value::Words(to))
    }

    /// A conversion, or new types for the same bits.
    fn convert(
        &mut self,
        handle: Handle<Expression>,
        from: Handle<Expression>,
        kind: ScalarKind,
        convert: Option<u8>,
    ) -> Compiled<Value> {
        self.words(handle)?;
        let conversion = match convert {
            Some(_) => conversion(self.kind(from)?, kind),
            None => None,
        };
        match conversion {
            Some(_) => self.map(handle, conversion, &[from]),
            None => Ok(Value::Words(self.slot(from)?)),
        }
    }
}
