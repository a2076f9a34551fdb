//! What the benchmarks share: a bent arm of any size, its rig and poses, and plain C++ loops as a yardstick.

pub(crate) mod arm;
pub(crate) mod plain;
