//! The deformer graph: from the text of a document to deformed frames, on the CPU.
//!
//! ```text
//! text -> Document (checked, with source locations) -> Plan (ordered, split into setup and update)
//!      -> BoundGraph (nodes bound, Program of steps and buffers, setup run) -> Instance (state) -> update
//! ```
//!
//! This crate opens no files: the caller passes nested graphs and inputs. It knows no deformer by name, except `tangent_frames`. The
//! binder inserts that node if a later node or an output reads normals or tangents that no longer fit the positions.

mod bind;
mod cache;
mod check;
mod diagnostic;
mod edit;
mod explain;
mod instance;
mod json;
mod kernel;
mod keyed;
mod plan;
mod program;
mod schema;
mod sealed;
mod value;

pub use bind::{
    BindError, BindOptions, BoundGraph, InputBinding, NodeNote, NodeWarning, SetupProgress,
    SetupWatch,
};
pub use cache::{CacheError, CacheUse, join_setup_caches};
pub use check::{GraphSource, GraphText, NoNesting, VERSION};
pub use diagnostic::{Diagnostic, Diagnostics, LineColumn, Severity};
pub use edit::{EditError, NodeEdit, edit_node};
pub use instance::{
    DeviceState, Frame, HostSteps, Instance, OutputMesh, ParameterError, ParameterState,
    RestOffsetError, StateError, StateHome, UpdateError,
};
pub use kernel::{
    BufferPer, BufferWrite, CustomKernel, KernelBuffer, KernelDomain, SUMMARY as KERNEL_SUMMARY,
};
pub use keyed::{KeyInterpolation, Keyed};
pub use plan::{
    Followers, InputDecl, InputType, OutputDecl, ParameterDecl, ParameterSource, Plan, PlanNode,
    Source, Thickness,
};
pub use program::{
    BufferDesc, Content, Link, NotOnHost, OutputPlace, Place, PortPlace, Program, Step,
};
pub use schema::schema;
/// Of outputs and meshes, and what drivers make.
pub use sinew_geom::{Bounds, Pose};
pub use value::to_plain_json;

/// Checks a document and compiles it.
///
/// `file` is how the document is called in messages; `nested` hands in the text of graphs that it names.
///
/// # Errors
/// Every problem found, each with its place and what would be right.
pub fn compile(file: &str, text: &str, nested: &dyn GraphSource) -> Result<Plan, Diagnostics> {
    check::compile(file, text, nested, sinew_deform::REGISTRY)
}

/// As [`compile`], with the node kinds `nodes` instead of [`sinew_deform::REGISTRY`]: for nodes of your own. Where
/// two have one name, the first is taken.
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
