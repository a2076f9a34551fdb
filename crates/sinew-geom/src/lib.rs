#![doc = include_str!("../README.md")]
//!
//! # Types
//!
//! * [`Mesh`]: constant [`Topology`] plus rest attributes, influences and morph targets.
//! * [`Strands`]: the vertices of a mesh that form strands of hair; [`grow`] grows strands on a mesh.
//! * [`Rig`], [`Clip`], [`Pose`]: the node tree with its joints, its animation, and one sampled pose.
//! * [`Asset`]: the content of one file. [`Appearance`]: materials and cameras, for pictures only.
//! * [`Image`]: pixels that other crates draw, read and write.
//! * [`Affine`], [`DualQuaternion`]: transforms, generic over [`Real`] (`f32` or `f64`).
//!   [`Decomposition`], [`EulerOrder`]: their parts.
//! * [`vec3`]: arithmetic on vectors that are stored as arrays.
//! * [`WeldMap`], [`OneRings`], [`CornerFans`]: data that deformers derive from a topology once, in setup.
//!
//! Transforms are named `dst_from_src`: [`Pose::scene_from_node`] maps node space to scene space.

mod adjacency;
mod appearance;
mod asset;
mod clip;
mod decompose;
mod euler;
mod expression;
mod grow;
mod image;
mod mesh;
pub mod names;
mod normals;
mod rig;
mod strands;
mod topology;
mod transform;
pub mod vec3;
mod weld;

pub use adjacency::{CornerFans, OneRings};
pub use appearance::{
    AlphaMode, Appearance, EncodedImage, ImageFormat, Material, Projection, SceneCamera, Texture,
    Wrap,
};
pub use asset::{Asset, HumanoidBone, MeshSequence, Selection, SelectionError, Warning};
pub use clip::{Channel, ChannelTarget, Clip, ClipError, Interpolation};
pub use decompose::{DecomposeError, Decomposition, ORTHOGONAL_TOLERANCE, nearest_rotation};
pub use euler::EulerOrder;
pub use expression::{Expression, ExpressionOverride, ExpressionTarget, apply_expressions};
pub use grow::{
    Curl, Frizz, GrowAmount, GrowBody, GrowError, GrowMaps, GrowSettings, grow, grow_watched,
};
pub use image::Image;
pub use mesh::{
    Attribute, Bounds, Influences, InfluencesError, Mesh, MeshError, MeshPart, MorphTarget, bounds,
};
pub use normals::smooth_normals;
pub use rig::{Joint, LocalTransform, Node, Pose, Rig, RigError, Trs};
pub use strands::{Strands, StrandsError, THICKNESS};
pub use topology::{Polygons, Topology, TopologyError, index32};
pub use transform::{Affine, DualQuaternion, PackedAffine, Real};
pub use weld::WeldMap;

/// The linear algebra crate whose types this crate uses in its API.
pub use nalgebra;
/// A 3-vector of any [`Real`].
pub type Vec3<R> = nalgebra::Vector3<R>;
/// A 3x3 matrix of any [`Real`], column vectors.
pub type Mat3<R> = nalgebra::Matrix3<R>;
/// A unit quaternion of any [`Real`].
pub type Quat<R> = nalgebra::UnitQuaternion<R>;
