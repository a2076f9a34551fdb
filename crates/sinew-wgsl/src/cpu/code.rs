//! The code that the interpreter runs.

use std::cell::Cell;

/// A register.
pub(super) type Slot = u32;
/// The registers of a run.
pub(super) type Registers<'a> = &'a [Cell<u32>];

/// Computes one component.
#[derive(Clone, Copy, Debug)]
pub(super) enum Component {
    One(fn(u32) -> u32),
    Two(fn(u32, u32) -> u32),
    Three(fn(u32, u32, u32) -> u32),
    Four(fn(u32, u32, u32, u32) -> u32),
}

/// Operands of a function that mixes components.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mixed {
    pub(super) to: Slot,
    pub(super) args: [Slot; 3],
    /// Components of the first argument; rows of a matrix.
    pub(super) rows: u32,
    /// Columns of a matrix.
    pub(super) columns: u32,
    /// Columns of a second matrix.
    pub(super) others: u32,
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Copy {
        to: Slot,
        from: Slot,
        words: u32,
    },
    Zero {
        to: Slot,
        words: u32,
    },
    /// One word, repeated.
    Splat {
        to: Slot,
        from: Slot,
        words: u32,
    },
    /// Component by component; an argument with step 0 has one for all.
    Map {
        f: Component,
        to: Slot,
        words: u32,
        args: [Slot; 4],
        steps: [u8; 4],
    },
    Mix {
        f: fn(Registers<'_>, &Mixed),
        on: Mixed,
    },
    /// Register number of an element.
    Address {
        to: Slot,
        base: Slot,
        index: Slot,
        last: u32,
        stride: u32,
    },
    Load {
        to: Slot,
        address: Slot,
        words: u32,
    },
    Store {
        address: Slot,
        from: Slot,
        words: u32,
    },
    Jump {
        to: u32,
    },
    JumpUnless {
        condition: Slot,
        to: u32,
    },
    JumpUnlessEqual {
        value: Slot,
        constant: u32,
        to: u32,
    },
    /// Calls the code at `to`, which returns through the register `link`.
    Call {
        to: u32,
        link: Slot,
    },
    Return {
        link: Slot,
    },
    ReadBuffer {
        to: Slot,
        buffer: u32,
        index: Slot,
        words: u32,
    },
    WriteBuffer {
        buffer: u32,
        index: Slot,
        from: Slot,
        words: u32,
    },
    CombineBuffer {
        /// Element from the element before and a value.
        f: fn(u32, u32) -> u32,
        buffer: u32,
        index: Slot,
        from: Slot,
    },
    Stop,
}
