#![doc = include_str!("../README.md")]
//!
//! # The files of a node
//!
//! Each node has a module and a folder:
//!
//! | file of a node | content |
//! |---|---|
//! | `mod.rs` | definition: configuration, job, [`NodeDesc`] |
//! | `README.md` | the page of the docs: formula, source, where we differ |
//! | `bind.rs` | setup |
//! | `reference.rs` | the reference implementation, generic over `f32` and `f64` |
//! | `simd.rs` | the fast CPU kernel, if a benchmark asked for one |
//! | `tests.rs` | tests |
//!
//! Code that several nodes share has folders of its own: `laplacian` (smoothing), `local_frame` (deformers along an axis).
//!
//! [`REGISTRY`] lists all nodes. The schema, the help of the command line, the docs and the conformance tests are generated from it.
//! To add a node, add a folder and a line there.

#[macro_use]
mod simd_level;

mod device;
mod follow;
mod lanes;
mod mask_weight;
mod node;
mod par;
mod parameter;
mod port;
mod read_log;
mod record;
mod simd_vector;
mod strand_step;
mod watch;

pub mod bend;
pub mod blend;
pub mod collide;
pub mod curve;
pub mod debug_lines;
pub mod delta_mush;
pub mod difference_color;
pub mod direct_delta_mush;
pub mod drive_joints;
pub mod drive_morphs;
pub mod expression;
pub mod hair_sim;
pub mod joint_transform;
pub mod laplacian;
pub mod lattice;
pub mod local_frame;
pub mod mask;
pub mod morph;
pub mod noise;
pub mod pose_driver;
pub mod pose_space_deformation;
pub mod sdf;
pub mod sine;
pub mod skin;
pub mod smooth;
pub mod solids;
pub mod spring;
pub mod spring_joints;
pub mod squash_stretch;
pub mod tangent_frames;
pub mod taper;
pub mod transform;
pub mod tressfx_hair;
pub mod tressfx_sdf;
pub mod twist;
pub mod vat_playback;
pub mod wrap;

pub use device::{
    DeviceArray, DeviceConstant, DeviceDomain, DeviceExtras, DeviceFrame, DeviceFrameData,
    DeviceNode, DevicePadding, DevicePass, DeviceRelation, DeviceSetting, DeviceType, Locality,
    MAX_FRAME_ARRAYS, MAX_ITERATIONS, UniformKind, UniformLayout, UniformMember,
};

pub use device::UniformType;

pub(crate) use device::{DIRECTIONS_WGSL, PACKED_WGSL};
pub use mask_weight::MaskWeight;
pub(crate) use mask_weight::{MASK_PORT, MASK_WEIGHT_WGSL};
pub use node::{
    BindContext, BindInput, BindWarnings, BoundNode, Example, InputValue, Inputs, Line, MAX_PORTS,
    MeshView, MeshViewMut, NodeDesc, NodeDocs, NodeError, NodeKind, NodeScratch, OutputValue,
    Outputs, Preset, Restore, SetupNote, UpdateContext,
};
pub use par::Par;
pub(crate) use par::{SplitMut, for_each_chunk};
pub use parameter::{
    Choice, DefaultValue, FOLLOW, ParameterDesc, ParameterType, ParameterValue, Parameters, Phase,
    Region, Role,
};
pub use port::{
    AttributeEffect, AttributeRead, Element, MESH_ATTRIBUTES, MeshAttribute, MeshEffect, MeshReads,
    PortDesc, PortType,
};
pub use read_log::{Misread, ReadLog};
pub use record::Record;
pub use simd_level::simd_level;
pub use sinew_geom::names::{self, closest, listed};
pub use watch::{BindWatch, Stopped};

/// Every node there is, in the order of the docs.
pub static REGISTRY: &[&NodeDesc] = &[
    &pose_driver::DESC,
    &joint_transform::DESC,
    &expression::DESC,
    &curve::DESC,
    &spring::DESC,
    &spring_joints::DESC,
    &mask::DESC,
    &drive_morphs::DESC,
    &drive_joints::DESC,
    &morph::DESC,
    &pose_space_deformation::DESC,
    &skin::DESC,
    &direct_delta_mush::DESC,
    &sdf::DESC,
    &tressfx_sdf::DESC,
    &solids::DESC,
    &collide::DESC,
    &hair_sim::DESC,
    &tressfx_hair::DESC,
    &smooth::DESC,
    &delta_mush::DESC,
    &lattice::DESC,
    &squash_stretch::DESC,
    &bend::DESC,
    &twist::DESC,
    &taper::DESC,
    &sine::DESC,
    &noise::DESC,
    &wrap::DESC,
    &transform::DESC,
    &blend::DESC,
    &vat_playback::DESC,
    &tangent_frames::DESC,
    &difference_color::DESC,
    &debug_lines::DESC,
];

/// The node of that name; names are case-sensitive.
pub fn find_node(name: &str) -> Option<&'static NodeDesc> {
    REGISTRY.iter().copied().find(|d| d.name == name)
}

/// The example graphs of all nodes.
pub fn examples() -> impl Iterator<Item = &'static Example> {
    REGISTRY.iter().flat_map(|d| d.docs.examples)
}

/// The example graph of that name; names are unique over all nodes.
pub fn find_example(name: &str) -> Option<&'static Example> {
    examples().find(|e| e.name == name)
}
