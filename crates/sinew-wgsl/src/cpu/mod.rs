//! Runs a kernel on the CPU: an interpreter of naga's validated module.
//!
//! [`CpuProgram::new`] compiles a function of a module, with all that it calls, to flat code over one array of 32-bit registers.
//! [`CpuProgram::run`] runs it for one index.
//!
//! - **Registers.** WGSL has no recursion, so that each function has one fixed range of registers: arguments, result, variables, and one
//!   run of words for each expression. Values are packed: a `vec3f` has three words, a matrix its columns, a structure its members. Constants
//!   have registers of their own, which nothing writes.
//! - **Pointers** to variables are register numbers. What is known when the code is compiled costs nothing: members, fixed elements,
//!   swizzles of neighbours.
//! - **Code.** An [`code::Op`] names its registers and a function pointer; it runs over all components of its operands. A call keeps its
//!   return address in a register of the called function, so that no stack is needed and a run never allocates.
//! - **Buffers.** A module has no bindings here. [`CpuAccess`] says which of its functions read and write buffers; their bodies are
//!   ignored.
//!
//! Semantics are those of WGSL and of naga's output for GPUs:
//!
//! | case | result |
//! |---|---|
//! | integer overflow | wraps |
//! | division by zero, `i32` minimum by -1 | the dividend; a remainder is 0 |
//! | shifts | by the amount modulo 32 |
//! | float to integer | clamped to the range that both types hold, NaN is 0 |
//! | index outside of a vector, matrix or array | the last element (naga's policy `Restrict`) |
//! | read outside of a buffer | 0 |
//! | write outside of a buffer | nothing |
//! | floats | rounded to 32 bits after each operation; `sin` and its kind are computed in 64 bits and rounded once |
//!
//! Nothing panics: registers are read and written through checked accessors. Loops end only if the kernel ends them: insert
//! [`Snippet::loop_counters`](crate::Snippet::loop_counters).

mod code;
mod compile;
mod component;
mod constants;
mod expression;
mod math;
mod packing;
mod run;
mod vector;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;

use crate::error::KernelErrors;
use crate::module::Module;

/// Most 32-bit registers of a program: 4 MiB for each thread.
pub const MOST_CPU_REGISTERS: u32 = 1 << 20;

/// What a function of the module does on the CPU instead of its body. Its first parameter is the index of an element; a function without
/// parameters reads element 0. Elements are packed, `words` of 32 bits each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CpuAccess {
    /// Returns an element of [`CpuBuffers::read`]; zero outside of it.
    Read {
        /// Index of the buffer.
        buffer: usize,
    },
    /// Writes its second parameter to an element of [`CpuBuffers::written`].
    Write {
        /// Index of the buffer.
        buffer: usize,
    },
    /// Adds its second parameter, an integer, to an element of [`CpuBuffers::written`].
    Add {
        /// Index of the buffer.
        buffer: usize,
    },
    /// Replaces an element of [`CpuBuffers::written`] by its second parameter, an integer, if that is less.
    Min {
        /// Index of the buffer.
        buffer: usize,
    },
    /// Replaces an element of [`CpuBuffers::written`] by its second parameter, an integer, if that is greater.
    Max {
        /// Index of the buffer.
        buffer: usize,
    },
}

/// The buffers of a run.
#[derive(Clone, Copy, Debug)]
pub struct CpuBuffers<'a> {
    /// Buffers to read.
    pub read: &'a [&'a [u32]],
    /// Buffers to write; threads share them.
    pub written: &'a [&'a [AtomicU32]],
}

/// A kernel for the CPU. It is not changed by runs: threads share it.
#[derive(Clone, Debug)]
pub struct CpuProgram {
    code: Vec<code::Op>,
    /// Registers before the first run: constants, and zeros.
    initial: Vec<u32>,
    start: u32,
    /// Register of the index.
    index: u32,
}

/// The registers of one thread.
#[derive(Clone, Debug)]
pub struct CpuRegisters(Vec<u32>);

impl CpuProgram {
    /// Compiles the function `entry` of a module: `fn entry(index: u32)`. `accesses` are the functions that reach buffers, by their names
    /// in the module.
    ///
    /// # Errors
    /// What the CPU cannot run, at its location: workgroup memory, barriers, bindings, types that do not have 32 bits; a program with more
    /// than [`MOST_CPU_REGISTERS`].
    pub fn new(
        module: &Module,
        entry: &str,
        accesses: &BTreeMap<String, CpuAccess>,
    ) -> Result<Self, KernelErrors> {
        compile::program(module, entry, accesses).map_err(|fault| {
            let message = format!("the CPU cannot run this: {}", fault.what);
            module.error_at(fault.span, message).into()
        })
    }

    /// Registers for one thread. Allocates.
    pub fn registers(&self) -> CpuRegisters {
        CpuRegisters(self.initial.clone())
    }

    /// Bytes of [`Self::registers`].
    pub fn register_bytes(&self) -> usize {
        size_of_val(self.initial.as_slice())
    }

    /// Runs the kernel for one index. Does not allocate.
    pub fn run(&self, registers: &mut CpuRegisters, index: u32, buffers: &CpuBuffers<'_>) {
        let cells = Cell::from_mut(registers.0.as_mut_slice()).as_slice_of_cells();
        run::set(cells, self.index, index);
        run::run(&self.code, self.start, cells, buffers);
    }
}
