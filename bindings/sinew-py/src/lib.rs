//! The native module of the Python package `sinew_deform`.
//!
//! Shapes, units and errors are in the stub of the module (`python/sinew_deform/_native.pyi`). Everything long runs without the
//! interpreter lock. Objects can be used from several threads: each player has a lock of its own.

mod arrays;
mod character;
mod crowd;
mod device;
mod errors;
mod from_arrays;
mod graph;
mod job;
mod output;
mod player;
mod posing;
mod wait;

use pyo3::prelude::*;

/// The module.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("version", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<character::Character>()?;
    module.add_class::<character::MeshView>()?;
    module.add_class::<character::JointView>()?;
    module.add_class::<character::ClipView>()?;
    module.add_class::<character::Warning>()?;
    module.add_class::<graph::Graph>()?;
    module.add_class::<player::Player>()?;
    module.add_class::<output::Output>()?;
    module.add_class::<crowd::Crowd>()?;
    module.add_function(wrap_pyfunction!(job::node_list, module)?)?;
    module.add_function(wrap_pyfunction!(job::commands, module)?)?;
    module.add_function(wrap_pyfunction!(job::run_job, module)?)?;
    module.add_function(wrap_pyfunction!(job::cli, module)?)?;
    module.add_function(wrap_pyfunction!(job::read_picture, module)?)?;
    module.add_function(wrap_pyfunction!(device::simd_level, module)?)?;
    module.add_function(wrap_pyfunction!(device::adapters, module)?)?;
    Ok(())
}
