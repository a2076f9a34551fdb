//! Node `pose_space_deformation`: shapes made for poses, interpolated for each vertex by the joints that it follows.
//!
//! Measured on the sample arm with sculpts of elbow and wrist, at nine combinations that were held back: at the elbow the error is 2.51
//! mm (root mean square) with `equal` and 0.19 mm with `skin`; at the wrist 1.46 and 1.17 mm, since its skin follows the forearm, too,
//! which the elbow moves. `cargo test -p sinew --test it combinations -- --nocapture` prints the numbers.

mod bind;
mod blocks;
mod definition;
mod desc;
mod device;
mod node;
mod reference;
mod simd;
mod solve;
#[cfg(test)]
mod tests;

use crate::pose_driver::DriverValue;
use crate::{MaskWeight, MeshView, MeshViewMut, Par, for_each_chunk};
use blocks::CHUNK;
use node::bind_node;

pub use bind::PoseSpaceBind;
#[cfg(test)]
pub(crate) use bind::PoseSpaceReport;
pub use definition::PoseSpaceError;
pub use definition::{JointInfluence, PoseSpace, SculptedPose};
pub use desc::DESC;

/// Squared distances of each joint from each pose in one frame: 4 bytes each. Belongs to one instance.
#[derive(Clone, Debug)]
pub struct PoseSpaceScratch {
    /// Squared distance of each joint from each pose.
    squares: Vec<f32>,
}

impl PoseSpaceScratch {
    /// Scratch for `bind`. Allocates.
    pub fn new(bind: &PoseSpaceBind) -> Self {
        Self {
            squares: vec![0.0; bind.joint_count() * bind.pose_count()],
        }
    }
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        size_of_val(self.squares.as_slice())
    }
}

/// One frame of pose space deformation.
///
/// # Cost
/// O(n J) for n poses and J joints, then O(n (j + 3)) for each moved vertex, with the j driver joints that it and its neighbours in the
/// buffer follow. It does not allocate.
#[derive(Debug)]
pub struct PoseSpaceJob<'a> {
    /// From setup.
    pub bind: &'a PoseSpaceBind,
    /// One per driver joint, in the space of the poses.
    pub values: &'a [DriverValue],
    /// Strength for each vertex.
    pub weight: MaskWeight<'a>,
    /// From [`PoseSpaceScratch::new`] of the same bind.
    pub scratch: &'a mut PoseSpaceScratch,
    /// Mesh to deform, as many vertices as bound, in the space of the targets (scene space at bind).
    pub input: MeshView<'a>,
    /// Attributes to write, each with the length of the input.
    pub output: MeshViewMut<'a>,
    /// Threads.
    pub par: Par,
}

impl PoseSpaceJob<'_> {
    /// Runs the job. Attributes that the input lacks are not written. If counts do not fit the bind, nothing is written. If a value is not
    /// finite, the mesh passes without changes.
    pub fn run(self) {
        let Self {
            bind,
            values,
            weight,
            scratch,
            input,
            output,
            par,
        } = self;
        let count = input.positions.len();
        let squares = scratch.squares.as_mut_slice();
        if values.len() != bind.joint_count()
            || squares.len() != bind.joint_count() * bind.pose_count()
            || count != bind.vertex_count
        {
            return;
        }
        let moves = bind.write_squares(values.iter().copied(), squares);
        let query = simd::Query {
            bind,
            squares,
            weight,
            input,
        };
        let outputs = (output.positions, output.normals, output.tangents);
        for_each_chunk(par, count, CHUNK, outputs, &|range, mut out| {
            node::copy(&input, range.clone(), &mut out);
            if moves {
                dispatch!(simd => simd::run(simd, query, range, out));
            }
        });
    }
}
