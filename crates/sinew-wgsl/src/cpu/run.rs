//! The loop that runs code.

use std::sync::atomic::{AtomicU32, Ordering};

use super::CpuBuffers;
use super::code::{Component, Op, Registers, Slot};

pub(super) fn get(registers: Registers<'_>, slot: Slot) -> u32 {
    registers.get(slot as usize).map_or(0, |cell| cell.get())
}

pub(super) fn set(registers: Registers<'_>, slot: Slot, value: u32) {
    if let Some(cell) = registers.get(slot as usize) {
        cell.set(value);
    }
}

fn copy(registers: Registers<'_>, to: Slot, from: Slot, words: u32) {
    for i in 0..words {
        set(registers, to + i, get(registers, from + i));
    }
}

/// Runs code from `start` to its end.
pub(super) fn run(code: &[Op], start: u32, registers: Registers<'_>, buffers: &CpuBuffers<'_>) {
    let mut at = start;
    while let Some(op) = code.get(at as usize) {
        at += 1;
        match *op {
            Op::Stop => return,
            Op::Jump { to } => at = to,
            Op::JumpUnless { condition, to } => {
                if get(registers, condition) == 0 {
                    at = to;
                }
            }
            Op::JumpUnlessEqual {
                value,
                constant,
                to,
            } => {
                if get(registers, value) != constant {
                    at = to;
                }
            }
            Op::Call { to, link } => {
                set(registers, link, at);
                at = to;
            }
            Op::Return { link } => at = get(registers, link),
            _ => step(op, registers, buffers),
        }
    }
}

/// An instruction that does not jump.
fn step(op: &Op, registers: Registers<'_>, buffers: &CpuBuffers<'_>) {
    match *op {
        Op::Copy { to, from, words } => copy(registers, to, from, words),
        Op::Zero { to, words } => (to..to + words).for_each(|slot| set(registers, slot, 0)),
        Op::Splat { to, from, words } => {
            let value = get(registers, from);
            (to..to + words).for_each(|slot| set(registers, slot, value));
        }
        Op::Map {
            f,
            to,
            words,
            args,
            steps,
        } => map(registers, f, to, words, args, steps),
        Op::Mix { f, on } => f(registers, &on),
        Op::Address {
            to,
            base,
            index,
            last,
            stride,
        } => {
            let index = get(registers, index).min(last);
            set(registers, to, get(registers, base) + index * stride);
        }
        Op::Load { to, address, words } => copy(registers, to, get(registers, address), words),
        Op::Store {
            address,
            from,
            words,
        } => copy(registers, get(registers, address), from, words),
        Op::ReadBuffer { .. } | Op::WriteBuffer { .. } | Op::CombineBuffer { .. } => {
            buffer_step(op, registers, buffers);
        }
        Op::Stop
        | Op::Jump { .. }
        | Op::JumpUnless { .. }
        | Op::JumpUnlessEqual { .. }
        | Op::Call { .. }
        | Op::Return { .. } => {}
    }
}

fn map(
    registers: Registers<'_>,
    f: Component,
    to: Slot,
    words: u32,
    args: [Slot; 4],
    steps: [u8; 4],
) {
    for i in 0..words {
        let arg = |k: usize| get(registers, args[k] + i * u32::from(steps[k]));
        let value = match f {
            Component::One(f) => f(arg(0)),
            Component::Two(f) => f(arg(0), arg(1)),
            Component::Three(f) => f(arg(0), arg(1), arg(2)),
            Component::Four(f) => f(arg(0), arg(1), arg(2), arg(3)),
        };
        set(registers, to + i, value);
    }
}

/// Element `index` of a buffer; `None` outside of it.
fn element<'a, T>(buffer: Option<&&'a [T]>, index: u32, words: u32) -> Option<&'a [T]> {
    let first = (index as usize).checked_mul(words as usize)?;
    buffer?.get(first..)?.get(..words as usize)
}

fn buffer_step(op: &Op, registers: Registers<'_>, buffers: &CpuBuffers<'_>) {
    let written = |buffer: u32, index: Slot, words: u32| -> &[AtomicU32] {
        let buffer = buffers.written.get(buffer as usize);
        element(buffer, get(registers, index), words).unwrap_or_default()
    };
    match *op {
        Op::ReadBuffer {
            to,
            buffer,
            index,
            words,
        } => match element(
            buffers.read.get(buffer as usize),
            get(registers, index),
            words,
        ) {
            Some(found) => (to..).zip(found).for_each(|(to, &v)| set(registers, to, v)),
            None => (to..to + words).for_each(|slot| set(registers, slot, 0)),
        },
        Op::WriteBuffer {
            buffer,
            index,
            from,
            words,
        } => {
            let found = written(buffer, index, words);
            for (from, word) in (from..).zip(found) {
                word.store(get(registers, from), Ordering::Relaxed);
            }
        }
        Op::CombineBuffer {
            f,
            buffer,
            index,
            from,
        } => {
            let value = get(registers, from);
            if let Some(word) = written(buffer, index, 1).first() {
                let _ = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |old| {
                    Some(f(old, value))
                });
            }
        }
        _ => {}
    }
}
