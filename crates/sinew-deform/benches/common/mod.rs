//! What the benchmarks share: a bent arm of any size, its rig and poses, and plain C++ loops as a yardstick.

#![allow(dead_code, reason = "each benchmark uses a part of it")]

pub(crate) mod arm;
pub(crate) mod plain;
