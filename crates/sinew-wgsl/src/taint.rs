//! Which values of a function may differ between the threads of a group.
//!
//! A value's [`Taint`] is a set: bit 0 says that it differs, bit `i + 1` that it depends on parameter `i`. So one analysis of a function
//! serves all its callers, which replace the parameters by what they pass ([`substitute`]). Parameters from the 64th on count as different.
//!
//! Each expression has the union of what it reads. Constants, uniforms and read-only buffers are the same for all threads; writable
//! buffers, workgroup memory and private memory count as different. Local variables collect everything that is ever stored in them,
//! wherever that happens, so that the walk over a function is repeated until `version` no longer changes (`uniformity.rs`).

use std::collections::HashMap;

use naga::{
    AddressSpace, BuiltIn, Expression, Function, GlobalVariable, Handle, LocalVariable, Module,
    StorageAccess, TypeInner,
};

/// What a value depends on: bit 0 is set where it differs between threads, bit `i + 1` where it depends on parameter `i`.
pub(crate) type Taint = u64;

/// Differs between threads.
pub(crate) const VARYING: Taint = 1;
/// Parameters behind these count as differing.
const PARAMETERS: usize = 63;

fn parameter(index: usize) -> Taint {
    match index < PARAMETERS {
        true => 2 << index,
        false => VARYING,
    }
}

/// A callee's taint in terms of its caller, which gives arguments of these taints.
pub(crate) fn substitute(taint: Taint, given: &[Taint]) -> Taint {
    given
        .iter()
        .enumerate()
        .filter(|(i, _)| taint & parameter(*i) & !VARYING != 0)
        .fold(taint & VARYING, |all, (_, t)| all | t)
}

/// Taints of the expressions and variables of one function.
pub(crate) struct Values<'a> {
    module: &'a Module,
    function: &'a Function,
    entry: bool,
    values: Vec<Taint>,
    locals: HashMap<Handle<LocalVariable>, Taint>,
    results: HashMap<Handle<Expression>, Taint>,
    version: usize,
    given_up: bool,
}

impl<'a> Values<'a> {
    pub(crate) fn new(module: &'a Module, function: &'a Function, entry: bool) -> Self {
        Self {
            module,
            function,
            entry,
            values: vec![0; function.expressions.len()],
            locals: HashMap::new(),
            results: HashMap::new(),
            version: 0,
            given_up: false,
        }
    }

    /// Changes whenever something was learnt that the next pass has to respect.
    pub(crate) fn version(&self) -> usize {
        self.version
    }

    /// From now on every variable and result differs.
    pub(crate) fn give_up(&mut self) {
        self.given_up = true;
    }

    /// Evaluates all expressions with what is known of variables and calls.
    pub(crate) fn evaluate(&mut self) {
        for (variable, local) in self.function.local_variables.iter() {
            let start = local.init.map_or(0, |i| self.of(i));
            self.learn_local(variable, start);
        }
        for (handle, expression) in self.function.expressions.iter() {
            self.values[handle.index()] = self.expression(handle, expression);
        }
    }

    /// Of an expression. Of a pointer: of the place that it points to, not of what is there.
    pub(crate) fn of(&self, expression: Handle<Expression>) -> Taint {
        self.values[expression.index()]
    }

    /// Of an expression or, of a pointer, of what is there.
    pub(crate) fn read(&self, expression: Handle<Expression>) -> Taint {
        self.of(expression) | self.content(expression)
    }

    /// A variable gets a value. Other pointers are left alone: what they point to always differs.
    pub(crate) fn store(&mut self, pointer: Handle<Expression>, taint: Taint) {
        if let Expression::LocalVariable(local) = self.function.expressions[self.root(pointer)] {
            self.learn_local(local, taint);
        }
    }

    /// The result of a call.
    pub(crate) fn set_result(&mut self, result: Handle<Expression>, taint: Taint) {
        let known = self.results.entry(result).or_default();
        self.version += usize::from(*known | taint != *known);
        *known |= taint;
    }

    fn learn_local(&mut self, local: Handle<LocalVariable>, taint: Taint) {
        let known = self.locals.entry(local).or_default();
        self.version += usize::from(*known | taint != *known);
        *known |= taint;
    }

    fn root(&self, pointer: Handle<Expression>) -> Handle<Expression> {
        let mut at = pointer;
        while let Expression::Access { base, .. } | Expression::AccessIndex { base, .. } =
            self.function.expressions[at]
        {
            at = base;
        }
        at
    }

    /// What a pointer points to; nothing where it is no pointer to a variable.
    fn content(&self, pointer: Handle<Expression>) -> Taint {
        match self.function.expressions[self.root(pointer)] {
            Expression::LocalVariable(_) if self.given_up => VARYING,
            Expression::LocalVariable(local) => self.locals.get(&local).copied().unwrap_or(0),
            Expression::GlobalVariable(variable) => self.global(variable),
            _ => 0,
        }
    }

    fn global(&self, variable: Handle<GlobalVariable>) -> Taint {
        match self.module.global_variables[variable].space {
            AddressSpace::Uniform | AddressSpace::Immediate => 0,
            AddressSpace::Storage { access } if !access.contains(StorageAccess::STORE) => 0,
            AddressSpace::Handle => 0,
            _ => VARYING,
        }
    }

    fn expression(&self, handle: Handle<Expression>, expression: &Expression) -> Taint {
        use Expression as E;
        let option = |e: &Option<Handle<Expression>>| e.map_or(0, |e| self.of(e));
        match expression {
            E::Literal(_) | E::Constant(_) | E::Override(_) | E::ZeroValue(_) => 0,
            // Pointers to variables: the same for all.
            E::GlobalVariable(_) | E::LocalVariable(_) => 0,
            E::ArrayLength(_) | E::ImageQuery { .. } | E::WorkGroupUniformLoadResult { .. } => 0,
            E::FunctionArgument(index) => self.argument(*index as usize),
            E::AccessIndex { base, index } => self
                .argument_member(*base, *index)
                .unwrap_or_else(|| self.of(*base)),
            E::Access { base, index } => self.of(*base) | self.of(*index),
            E::Load { pointer } => self.read(*pointer),
            E::Compose { components, .. } => components.iter().fold(0, |all, c| all | self.of(*c)),
            E::Splat { value, .. } => self.of(*value),
            E::Swizzle { vector, .. } => self.of(*vector),
            E::Unary { expr, .. } | E::As { expr, .. } => self.of(*expr),
            E::Binary { left, right, .. } => self.of(*left) | self.of(*right),
            E::Select {
                condition,
                accept,
                reject,
            } => self.of(*condition) | self.of(*accept) | self.of(*reject),
            E::Relational { argument, .. } => self.of(*argument),
            E::Math {
                arg,
                arg1,
                arg2,
                arg3,
                ..
            } => self.of(*arg) | option(arg1) | option(arg2) | option(arg3),
            E::CallResult(_) if !self.given_up => self.results.get(&handle).copied().unwrap_or(0),
            _ => VARYING,
        }
    }

    fn argument(&self, index: usize) -> Taint {
        if !self.entry {
            return parameter(index);
        }
        match self.function.arguments.get(index).map(|a| &a.binding) {
            Some(Some(naga::Binding::BuiltIn(builtin))) => of_builtin(*builtin),
            _ => VARYING,
        }
    }

    /// A member of a structure that an entry point gets.
    fn argument_member(&self, base: Handle<Expression>, member: u32) -> Option<Taint> {
        let Expression::FunctionArgument(index) = self.function.expressions[base] else {
            return None;
        };
        let argument = self.function.arguments.get(index as usize)?;
        let TypeInner::Struct { members, .. } = &self.module.types[argument.ty].inner else {
            return None;
        };
        match members.get(member as usize)?.binding {
            Some(naga::Binding::BuiltIn(builtin)) if self.entry => Some(of_builtin(builtin)),
            _ => None,
        }
    }
}

fn of_builtin(builtin: BuiltIn) -> Taint {
    match builtin {
        BuiltIn::WorkGroupId | BuiltIn::NumWorkGroups | BuiltIn::WorkGroupSize => 0,
        _ => VARYING,
    }
}
