//! Compiles functions and statements.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    AddressSpace, Block, Expression, Function, GlobalVariable, Handle, ScalarKind, Span, Statement,
    SwitchCase, SwitchValue,
};

use super::code::{Op, Slot};
use super::constants::Sizes;
use super::{CpuAccess, CpuProgram, MOST_CPU_REGISTERS};
use crate::module::Module;

/// What the CPU cannot run.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) span: Option<Range<usize>>,
    pub(super) what: String,
}

impl Fault {
    pub(super) fn new(span: Span, what: impl Into<String>) -> Self {
        Self {
            span: span.to_range(),
            what: what.into(),
        }
    }
}

type Compiled<T> = Result<T, Fault>;

/// A compiled function.
#[derive(Clone, Debug, Default)]
struct Callable {
    start: u32,
    arguments: Vec<(Slot, u32)>,
    result: Option<(Slot, u32)>,
    link: Slot,
}

pub(super) struct Compiler<'a> {
    pub(super) module: &'a naga::Module,
    pub(super) info: &'a ModuleInfo,
    pub(super) sizes: Sizes<'a>,
    accesses: HashMap<Handle<Function>, CpuAccess>,
    code: Vec<Op>,
    /// Registers before the first run.
    initial: Vec<u32>,
    constants: HashMap<Vec<u32>, Slot>,
    globals: HashMap<Handle<GlobalVariable>, Slot>,
    functions: HashMap<Handle<Function>, Callable>,
}

/// Compiles `entry` and all that it calls.
pub(super) fn program(
    module: &Module,
    entry: &str,
    accesses: &BTreeMap<String, CpuAccess>,
) -> Compiled<CpuProgram> {
    let (naga, info) = (module.naga(), module.info());
    let accessor = |(handle, f): (Handle<Function>, &Function)| {
        Some((handle, *accesses.get(f.name.as_deref()?)?))
    };
    let mut compiler = Compiler {
        module: naga,
        info,
        sizes: Sizes::new(naga),
        accesses: naga.functions.iter().filter_map(accessor).collect(),
        code: Vec::new(),
        initial: Vec::new(),
        constants: HashMap::new(),
        globals: HashMap::new(),
        functions: HashMap::new(),
    };
    let mut functions = naga.functions.iter();
    let is_entry = |(_, f): &(_, &Function)| f.name.as_deref() == Some(entry);
    let Some((entry, _)) = functions.find(is_entry) else {
        let what = format!("there is no function `{entry}`");
        return Err(Fault::new(Span::UNDEFINED, what));
    };
    for handle in compiler.called_by(entry) {
        compiler.function(handle)?;
    }
    compiler.finish(entry)
}

/// Calls of a block, those of nested blocks included.
fn calls(block: &Block, found: &mut dyn FnMut(Handle<Function>)) {
    for statement in block {
        match statement {
            Statement::Call { function, .. } => found(*function),
            Statement::Block(block) => calls(block, found),
            Statement::If { accept, reject, .. } => {
                calls(accept, found);
                calls(reject, found);
            }
            Statement::Switch { cases, .. } => cases.iter().for_each(|c| calls(&c.body, found)),
            Statement::Loop {
                body, continuing, ..
            } => {
                calls(body, found);
                calls(continuing, found);
            }
            _ => {}
        }
    }
}

impl<'a> Compiler<'a> {
    /// The function and all that it calls, called ones first.
    fn called_by(&self, entry: Handle<Function>) -> Vec<Handle<Function>> {
        let mut needed = vec![false; self.module.functions.len()];
        let mark = |handle: Handle<Function>, needed: &mut [bool]| {
            if let Some(needed) = needed.get_mut(handle.index()) {
                *needed = !self.accesses.contains_key(&handle);
            }
        };
        mark(entry, &mut needed);
        // A function stands behind all that it calls.
        let functions: Vec<_> = self.module.functions.iter().collect();
        let mut out = Vec::new();
        for (handle, function) in functions.into_iter().rev() {
            if needed.get(handle.index()) == Some(&true) {
                out.push(handle);
                calls(&function.body, &mut |called| mark(called, &mut needed));
            }
        }
        out.reverse();
        out
    }

    pub(super) fn allocate(&mut self, words: u32, span: Span) -> Compiled<Slot> {
        let first = self.initial.len() as u32;
        match first
            .checked_add(words)
            .filter(|end| *end <= MOST_CPU_REGISTERS)
        {
            Some(end) => {
                self.initial.resize(end as usize, 0);
                Ok(first)
            }
            None => {
                let what = format!("its values take more than {MOST_CPU_REGISTERS} registers");
                Err(Fault::new(span, what))
            }
        }
    }

    /// Registers that hold these words and are never written.
    pub(super) fn constant(&mut self, words: Vec<u32>, span: Span) -> Compiled<Slot> {
        if let Some(known) = self.constants.get(&words) {
            return Ok(*known);
        }
        let slot = self.allocate(words.len() as u32, span)?;
        self.initial[slot as usize..].copy_from_slice(&words);
        self.constants.insert(words, slot);
        Ok(slot)
    }

    pub(super) fn emit(&mut self, op: Op) -> usize {
        self.code.push(op);
        self.code.len() - 1
    }

    fn here(&self) -> u32 {
        self.code.len() as u32
    }

    /// Lets jumps lead here.
    fn land(&mut self, jumps: impl IntoIterator<Item = usize>) {
        let here = self.here();
        for jump in jumps {
            if let Some(
                Op::Jump { to } | Op::JumpUnless { to, .. } | Op::JumpUnlessEqual { to, .. },
            ) = self.code.get_mut(jump)
            {
                *to = here;
            }
        }
    }

    /// The registers of a private variable.
    pub(super) fn global(&mut self, handle: Handle<GlobalVariable>, span: Span) -> Compiled<Slot> {
        if let Some(known) = self.globals.get(&handle) {
            return Ok(*known);
        }
        let variable = &self.module.global_variables[handle];
        let what = match variable.space {
            AddressSpace::Private => None,
            AddressSpace::WorkGroup => {
                Some("workgroup memory; a kernel has no barriers to share it")
            }
            _ => Some("a binding"),
        };
        let words = match (what, self.sizes.of(variable.ty)) {
            (None, Some(words)) => words,
            (what, _) => return Err(Fault::new(span, what.unwrap_or("a type without 32 bits"))),
        };
        let slot = self.allocate(words, span)?;
        self.globals.insert(handle, slot);
        Ok(slot)
    }

    fn function(&mut self, handle: Handle<Function>) -> Compiled<()> {
        let (module, info) = (self.module, self.info);
        let function = &module.functions[handle];
        let span = module.functions.get_span(handle);
        let link = self.allocate(1, span)?;
        let mut callable = Callable {
            start: self.here(),
            link,
            ..Callable::default()
        };
        for argument in &function.arguments {
            let words = self.words_of(argument.ty, span)?;
            callable
                .arguments
                .push((self.allocate(words, span)?, words));
        }
        if let Some(result) = &function.result {
            let words = self.words_of(result.ty, span)?;
            callable.result = Some((self.allocate(words, span)?, words));
        }
        let mut body = Body {
            compiler: self,
            function,
            info: &info[handle],
            values: vec![None; function.expressions.len()],
            locals: Vec::new(),
            callable: &callable,
            breaks: Vec::new(),
            continues: Vec::new(),
        };
        body.variables()?;
        body.block(&function.body)?;
        self.emit(Op::Return { link });
        self.functions.insert(handle, callable);
        Ok(())
    }

    fn words_of(&self, ty: Handle<naga::Type>, span: Span) -> Compiled<u32> {
        let words = self.sizes.of(ty);
        words.ok_or_else(|| Fault::new(span, "a type without 32 bits"))
    }

    /// Sets private variables, then calls the entry function.
    fn finish(mut self, entry: Handle<Function>) -> Compiled<CpuProgram> {
        let start = self.here();
        let mut globals: Vec<_> = self.globals.iter().map(|(h, s)| (*h, *s)).collect();
        globals.sort_unstable_by_key(|(_, slot)| *slot);
        for (handle, to) in globals {
            let variable = &self.module.global_variables[handle];
            let span = self.module.global_variables.get_span(handle);
            let words = self.words_of(variable.ty, span)?;
            let init = variable
                .init
                .map(|init| (&self.module.global_expressions, init));
            self.initialise(init, to, words, span)?;
        }
        let callable = self.functions.remove(&entry).unwrap_or_default();
        self.emit(Op::Call {
            to: callable.start,
            link: callable.link,
        });
        self.emit(Op::Stop);
        let index = match callable.arguments.first() {
            Some((index, 1)) => *index,
            _ => self.allocate(1, Span::UNDEFINED)?,
        };
        Ok(CpuProgram {
            code: self.code,
            initial: self.initial,
            start,
            index,
        })
    }

    /// Sets a variable to a constant, or to zero.
    fn initialise(
        &mut self,
        init: Option<(&naga::Arena<Expression>, Handle<Expression>)>,
        to: Slot,
        words: u32,
        span: Span,
    ) -> Compiled<()> {
        let Some((arena, init)) = init else {
            self.emit(Op::Zero { to, words });
            return Ok(());
        };
        let mut constant = Vec::new();
        if self.sizes.constant(arena, init, &mut constant).is_none() {
            return Err(Fault::new(span, "this initial value"));
        }
        let from = self.constant(constant, span)?;
        self.emit(Op::Copy { to, from, words });
        Ok(())
    }
}

/// Where a value is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    /// In these registers.
    Words(Slot),
    /// A pointer to the register `offset`, counted from that in `base`.
    Pointer { base: Option<Slot>, offset: u32 },
}

/// A function that is compiled.
pub(super) struct Body<'c, 'a> {
    pub(super) compiler: &'c mut Compiler<'a>,
    pub(super) function: &'a Function,
    pub(super) info: &'a FunctionInfo,
    /// Of expressions that were computed.
    pub(super) values: Vec<Option<Value>>,
    /// Registers of variables.
    pub(super) locals: Vec<Slot>,
    callable: &'c Callable,
    /// Jumps out of each open loop and `switch`.
    breaks: Vec<Vec<usize>>,
    /// Jumps to the end of each open loop's body.
    continues: Vec<Vec<usize>>,
}

impl Body<'_, '_> {
    pub(super) fn argument(&self, index: u32) -> Option<Slot> {
        let argument = self.callable.arguments.get(index as usize);
        argument.map(|(slot, _)| *slot)
    }

    fn variables(&mut self) -> Compiled<()> {
        for (handle, variable) in self.function.local_variables.iter() {
            let span = self.function.local_variables.get_span(handle);
            let words = self.compiler.words_of(variable.ty, span)?;
            let slot = self.compiler.allocate(words, span)?;
            self.locals.push(slot);
            let init = variable.init.map(|init| (&self.function.expressions, init));
            self.compiler.initialise(init, slot, words, span)?;
        }
        Ok(())
    }

    fn block(&mut self, block: &Block) -> Compiled<()> {
        for (statement, span) in block.span_iter() {
            self.statement(statement, *span)?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement, span: Span) -> Compiled<()> {
        match statement {
            Statement::Emit(range) => range.clone().try_for_each(|e| self.expression(e))?,
            Statement::Block(block) => self.block(block)?,
            Statement::If {
                condition,
                accept,
                reject,
            } => self.branch(*condition, accept, reject)?,
            Statement::Switch { selector, cases } => self.switch(*selector, cases)?,
            Statement::Loop {
                body,
                continuing,
                break_if,
            } => self.repeat(body, continuing, *break_if)?,
            Statement::Break => {
                let jump = self.compiler.emit(Op::Jump { to: 0 });
                self.breaks
                    .last_mut()
                    .into_iter()
                    .for_each(|b| b.push(jump));
            }
            Statement::Continue => {
                let jump = self.compiler.emit(Op::Jump { to: 0 });
                self.continues
                    .last_mut()
                    .into_iter()
                    .for_each(|c| c.push(jump));
            }
            Statement::Return { value } => self.give_back(*value)?,
            Statement::Store { pointer, value } => self.store(*pointer, *value)?,
            Statement::Call {
                function,
                arguments,
                result,
            } => self.call(*function, arguments, *result, span)?,
            other => return Err(Fault::new(span, unsupported(other))),
        }
        Ok(())
    }

    fn branch(
        &mut self,
        condition: Handle<Expression>,
        accept: &Block,
        reject: &Block,
    ) -> Compiled<()> {
        let condition = self.slot(condition)?;
        let skip = self.compiler.emit(Op::JumpUnless { condition, to: 0 });
        self.block(accept)?;
        if reject.is_empty() {
            self.compiler.land([skip]);
            return Ok(());
        }
        let end = self.compiler.emit(Op::Jump { to: 0 });
        self.compiler.land([skip]);
        self.block(reject)?;
        self.compiler.land([end]);
        Ok(())
    }

    /// Compares with one case after the other, then runs the bodies, of which most end with a jump out.
    fn switch(&mut self, selector: Handle<Expression>, cases: &[SwitchCase]) -> Compiled<()> {
        let value = self.slot(selector)?;
        let mut default = None;
        let mut entries = Vec::new();
        for case in cases {
            let constant = match case.value {
                SwitchValue::I32(v) => v.cast_unsigned(),
                SwitchValue::U32(v) => v,
                SwitchValue::Default => {
                    default = Some(entries.len());
                    entries.push(None);
                    continue;
                }
            };
            let next = self.compiler.here() + 2;
            self.compiler.emit(Op::JumpUnlessEqual {
                value,
                constant,
                to: next,
            });
            entries.push(Some(self.compiler.emit(Op::Jump { to: 0 })));
        }
        let otherwise = self.compiler.emit(Op::Jump { to: 0 });
        self.breaks.push(Vec::new());
        for (index, (case, entry)) in cases.iter().zip(entries).enumerate() {
            let is_default = (default == Some(index)).then_some(otherwise);
            self.compiler.land(entry.into_iter().chain(is_default));
            self.block(&case.body)?;
            if !case.fall_through {
                let jump = self.compiler.emit(Op::Jump { to: 0 });
                self.breaks
                    .last_mut()
                    .into_iter()
                    .for_each(|b| b.push(jump));
            }
        }
        if default.is_none() {
            self.compiler.land([otherwise]);
        }
        let ends = self.breaks.pop().unwrap_or_default();
        self.compiler.land(ends);
        Ok(())
    }

    fn repeat(
        &mut self,
        body: &Block,
        continuing: &Block,
        break_if: Option<Handle<Expression>>,
    ) -> Compiled<()> {
        let start = self.compiler.here();
        self.breaks.push(Vec::new());
        self.continues.push(Vec::new());
        self.block(body)?;
        let continues = self.continues.pop().unwrap_or_default();
        self.compiler.land(continues);
        self.block(continuing)?;
        match break_if {
            Some(condition) => {
                let condition = self.slot(condition)?;
                self.compiler.emit(Op::JumpUnless {
                    condition,
                    to: start,
                });
            }
            None => _ = self.compiler.emit(Op::Jump { to: start }),
        }
        let ends = self.breaks.pop().unwrap_or_default();
        self.compiler.land(ends);
        Ok(())
    }

    fn give_back(&mut self, value: Option<Handle<Expression>>) -> Compiled<()> {
        if let (Some(value), Some((to, words))) = (value, self.callable.result) {
            let from = self.slot(value)?;
            self.compiler.emit(Op::Copy { to, from, words });
        }
        let link = self.callable.link;
        self.compiler.emit(Op::Return { link });
        Ok(())
    }

    fn store(&mut self, pointer: Handle<Expression>, value: Handle<Expression>) -> Compiled<()> {
        let words = self.words(value)?;
        let from = self.slot(value)?;
        let op = match self.pointer(pointer)? {
            (None, to) => Op::Copy { to, from, words },
            (Some(_), _) => Op::Store {
                address: self.slot(pointer)?,
                from,
                words,
            },
        };
        self.compiler.emit(op);
        Ok(())
    }

    fn call(
        &mut self,
        function: Handle<Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
        span: Span,
    ) -> Compiled<()> {
        if let Some(access) = self.compiler.accesses.get(&function).copied() {
            return self.access(access, arguments, result, span);
        }
        let callable = self.compiler.functions.get(&function).cloned();
        let Some(callable) = callable else {
            return Err(Fault::new(span, "this call"));
        };
        for (argument, (to, words)) in arguments.iter().zip(callable.arguments) {
            let from = self.slot(*argument)?;
            self.compiler.emit(Op::Copy { to, from, words });
        }
        self.compiler.emit(Op::Call {
            to: callable.start,
            link: callable.link,
        });
        // The function may be called again before the result is used.
        if let (Some(result), Some((from, words))) = (result, callable.result) {
            let to = self.result(result, words)?;
            self.compiler.emit(Op::Copy { to, from, words });
        }
        Ok(())
    }

    fn access(
        &mut self,
        access: CpuAccess,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
        span: Span,
    ) -> Compiled<()> {
        let index = match arguments.first() {
            Some(index) => self.slot(*index)?,
            None => self.compiler.constant(vec![0], span)?,
        };
        let op = match (access, arguments.get(1), result) {
            (CpuAccess::Read { buffer }, _, Some(result)) => {
                let words = self.words(result)?;
                Op::ReadBuffer {
                    to: self.result(result, words)?,
                    buffer: buffer as u32,
                    index,
                    words,
                }
            }
            // Its result is not used.
            (CpuAccess::Read { .. }, _, None) => return Ok(()),
            (CpuAccess::Write { buffer }, Some(value), _) => Op::WriteBuffer {
                buffer: buffer as u32,
                index,
                from: self.slot(*value)?,
                words: self.words(*value)?,
            },
            (
                CpuAccess::Add { buffer } | CpuAccess::Min { buffer } | CpuAccess::Max { buffer },
                Some(value),
                _,
            ) => Op::CombineBuffer {
                f: combine(access, self.kind(*value)?),
                buffer: buffer as u32,
                index,
                from: self.slot(*value)?,
            },
            _ => return Err(Fault::new(span, "this access")),
        };
        self.compiler.emit(op);
        Ok(())
    }

    /// Registers for the result of a statement.
    fn result(&mut self, result: Handle<Expression>, words: u32) -> Compiled<Slot> {
        let to = self.new_slot(result, words)?;
        self.set(result, Value::Words(to));
        Ok(to)
    }
}

/// Combines two integers as an access does.
fn combine(access: CpuAccess, kind: ScalarKind) -> fn(u32, u32) -> u32 {
    let signed = kind == ScalarKind::Sint;
    match access {
        CpuAccess::Min { .. } if signed => {
            |a, b| a.cast_signed().min(b.cast_signed()).cast_unsigned()
        }
        CpuAccess::Max { .. } if signed => {
            |a, b| a.cast_signed().max(b.cast_signed()).cast_unsigned()
        }
        CpuAccess::Min { .. } => Ord::min,
        CpuAccess::Max { .. } => Ord::max,
        _ => u32::wrapping_add,
    }
}

fn unsupported(statement: &Statement) -> &'static str {
    match statement {
        Statement::ControlBarrier(_) | Statement::MemoryBarrier(_) => "a barrier",
        Statement::Atomic { .. } => "an atomic operation on this variable",
        Statement::WorkGroupUniformLoad { .. } => "workgroup memory",
        Statement::Kill => "`discard`",
        _ => "this statement",
    }
}
