//! What the deformers along an axis share: `squash_stretch`, `bend`, `twist`, `taper` and `sine`.
//!
//! Each of them is a [`LocalMap`]: a function of a point in *canonical* coordinates, in which the axis is z and
//! the section plane is x, y. [`Placement`] takes scene space there (transform and choice of axis), and
//! [`LocalJob`] runs any map over a mesh with mask and weight, carrying normals and tangents by the Jacobian.
//!
//! With `p = M q`, the map `q -> q + d(q)`, its gradient `G` and the strength `w` at a vertex:
//!
//! ```text
//! p' = p + w L d(q)                                L = the linear part of M
//! J  = L (I + w G) L^-1
//! n' ∝ cof(J) n  = L^-T cof(I + w G) L^T n
//! t' ∝ J t, made perpendicular to n'
//! ```
//!
//! The gradient of the mask itself is left out. The cofactor form stays finite where a map folds, and agrees with
//! the winding of the folded triangles.

mod deformer;
mod device;
mod kernel;
mod lanes;
mod placement;
mod region;
#[cfg(test)]
pub(crate) mod test_support;
#[cfg(test)]
mod tests;

pub use deformer::MapVisitor;
pub(crate) use deformer::bind;
pub use deformer::{LocalDeformer, LocalJob};
pub use device::DeviceMap;
pub use device::MapUniforms;
pub(crate) use device::{ELEMENTARY_WGSL, PROFILE_WGSL};
pub use kernel::Moved;
#[cfg(test)]
pub(crate) use kernel::{VertexIn, move_vertex};
pub use lanes::LaneReal;
pub(crate) use lanes::{high, low};
pub use placement::{Axis, Frame, Placement};
pub use region::RegionAt;
pub use region::{Profile, Region};

/// Displacement of a point and its derivative, in canonical coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Local<R> {
    /// The new position minus the old one.
    pub offset: [R; 3],
    /// `gradient[c][r]` is the derivative of `offset[r]` by coordinate `c` (columns).
    pub gradient: [[R; 3]; 3],
}

/// A deformation in canonical coordinates: z along the axis, x and y across.
pub trait LocalMap<R: LaneReal>: Copy + Send + Sync {
    /// Displacement and gradient at a point. It is written without branches on data, so that the compiler makes SIMD code of a loop over
    /// vertices. It must be finite for finite points of moderate size.
    fn at(&self, p: [R; 3]) -> Local<R>;
}
