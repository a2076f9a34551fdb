#![doc = include_str!("../README.md")]
//! ## Where to start
//!
//! * [`compile`] checks a document and gives a [`Plan`], or [`Diagnostics`]. [`GraphSource`] gives the text of nested graphs and kernels.
//! * [`BoundGraph::bind`] binds a plan to meshes and rigs ([`InputBinding`]) and runs setup. [`BoundGraph::setup_cache`] saves the results.
//! * [`Instance`] is one character: [`Instance::update`] computes a [`Frame`].
//! * [`compile_with_nodes`] also takes nodes of your own. [`schema`](schema()) gives the JSON Schema of documents,
//!   [`node_list`] the nodes as data.
//!
//! This crate knows no deformer by name except `tangent_frames`: the binder inserts that node where a node or an output reads stale normals
//! or tangents.

mod bind;
mod cache;
mod check;
mod diagnostic;
mod edit;
mod execute;
mod explain;
mod input;
mod instance;
mod json;
mod kernel;
mod keyed;
mod linked;
mod node_list;
mod plan;
mod program;
pub mod renamed;
mod schema;
mod sealed;
mod value;

pub use bind::{
    BindError, BindOptions, BoundGraph, NodeNote, NodeWarning, SetupProgress, SetupWatch,
};
pub use cache::{CacheError, CacheUse, join_setup_caches};
pub use check::{FIT_DOC, GraphSource, GraphText, NoNesting, VERSION};
pub use diagnostic::{Diagnostic, Diagnostics, LineColumn, Severity};
pub use edit::{EditError, NodeEdit, edit_node};
pub use execute::{Frame, UpdateError};
pub use input::InputBinding;
pub use instance::{
    DeviceState, HostSteps, Instance, OutputMesh, ParameterState, RestOffsetError, StateError,
    StateHome,
};
pub use kernel::{
    BufferPer, BufferWrite, CustomKernel, EXAMPLE as KERNEL_EXAMPLE, KernelBuffer, KernelDomain,
    PAGE as KERNEL_PAGE, SUMMARY as KERNEL_SUMMARY,
};
pub use keyed::{KeyInterpolation, Keyed};
pub use linked::can_follow;
pub use node_list::node_list;
pub use plan::{
    Fit, FitOf, Followers, InputDecl, InputType, NoOutput, NodeParameter, OutputDecl,
    ParameterDecl, ParameterError, ParameterLink, ParameterSource, Plan, PlanNode, Source, Takes,
    Thickness,
};
pub use program::{
    BufferDesc, Content, DataRef, Link, NotOnHost, OutputData, PortData, Program, Step,
};
pub use schema::schema;
/// Bounds of outputs and meshes, and the poses that drivers produce.
pub use sinew_geom::{Bounds, Pose};
pub use value::to_plain_json;

/// Checks a document and compiles it.
///
/// `file` is the name of the document in messages. `nested` gives the text of the graphs and kernels that it names.
///
/// # Errors
/// Every problem found, each with its location and what was expected.
pub fn compile(file: &str, text: &str, nested: &dyn GraphSource) -> Result<Plan, Diagnostics> {
    check::compile(file, text, nested, sinew_deform::REGISTRY)
}

/// As [`compile`], with the node kinds `nodes` instead of [`sinew_deform::REGISTRY`]. Use it to add nodes of your own. If two
/// kinds have the same name, the first one is used.
///
/// # Errors
/// As [`compile`].
pub fn compile_with_nodes(
    file: &str,
    text: &str,
    nested: &dyn GraphSource,
    nodes: &[&'static sinew_deform::NodeDesc],
) -> Result<Plan, Diagnostics> {
    check::compile(file, text, nested, nodes)
}
