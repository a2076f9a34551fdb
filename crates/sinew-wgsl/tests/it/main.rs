//! Kernels and modules as the crate's users see them.

mod barriers;
mod common;
mod cpu;
mod limits;
mod modules;
mod random;
mod real_kernels;
mod reflection;
mod robust;
mod wrong_kernels;
