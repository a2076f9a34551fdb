#![doc = include_str!("../README.md")]
//! ## The steps
//!
//! 1. [`Snippet::parse`] reads one kernel. It finds the declarations and refuses forbidden content. The text is either a set of
//!    declarations with a function `kernel(index: u32)`, or only the statements of that function.
//! 2. [`ModuleBuilder`] takes generated text (structures, bindings, accessors, entry points) and any number of snippets. It gives
//!    every snippet its own names, and connects its accessors to generated functions.
//! 3. [`ModuleBuilder::finish`] parses and validates the result with naga and checks barriers ([naga does not](#barriers)). It returns a
//!    [`Module`]: text, naga module, entry points, bindings, layouts.
//!
//! ## Limits
//!
//! Nesting, chains of operators and chains of declarations are limited before naga parses them; the limits are far above hand-written
//! code. The length is limited too ([`LONGEST_TEXT`], [`LONGEST_FUNCTION`]), because naga's time grows with its square: a thousand lines
//! take milliseconds, a megabyte takes a few seconds. Each function with a problem costs this time once more, at most 16 times and less
//! often for long modules.
//!
//! [`ModuleOptions::limited`] also limits the compile cost of a module: drivers inline every call, and their time grows with the square
//! of the result. An endless loop is valid WGSL; [`Snippet::loop_counters`] ends it.
//!
//! ## Barriers
//!
//! Either all threads of a workgroup must reach a barrier, or none. Browsers check this rule, naga 30 does not.
//! [`ModuleBuilder::finish`] checks it across function calls. If an entry point returns early for surplus threads before it calls a
//! kernel, that kernel cannot have barriers. A variable that differs between threads at one point of a function counts as different in
//! the whole function.

mod brackets;
mod builder;
mod classify;
mod content;
mod cost;
mod cpu;
mod error;
mod findings;
mod foreign;
mod front;
mod locality;
mod loops;
mod module;
mod pieces;
mod recursion;
mod reflect;
mod report;
mod scan;
mod snippet;
mod source_map;
mod statements;
mod taint;
mod templates;
pub mod tokens;
mod uniformity;
mod unlocated;
mod validation;
mod weight;
mod words;

pub use builder::{ModuleBuilder, ModuleOptions};
pub use content::RESERVED_PREFIX;
pub use cost::{MOST_OPERATIONS, MOST_VARIABLE_BYTES, MOST_WORKGROUP_BYTES};
pub use cpu::{CpuAccess, CpuBuffers, CpuProgram, CpuRegisters, MOST_CPU_REGISTERS};
pub use error::{KernelError, KernelErrors, LineColumn};
pub use module::{Location, Module};
/// The version of naga that this crate uses in its API; wgpu 30 uses the same.
pub use naga;
pub use reflect::{Binding, BindingKind, EntryPoint, Field, StructLayout};
pub use scan::DeclarationKind;
pub use snippet::{DeclaredName, EntryFunction, LONGEST_TEXT, Snippet, SnippetKind};
pub use weight::LONGEST_FUNCTION;
