//! Setup: checks the influences and packs them for the kernels.

use super::blocks::Blocks;
use sinew_geom::{Influences, Mesh, Rig, Vec3};

/// How the joints of a vertex combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkinMethod {
    /// The joint with the largest weight alone.
    Rigid,
    /// Weighted sum of matrices.
    Linear,
    /// Weighted sum of dual quaternions.
    DualQuaternion,
    /// A mix of linear and dual quaternion, with a share per vertex.
    Blended,
}

impl SkinMethod {
    /// The method with that name in documents: `rigid`, `linear`, `dual_quaternion` or `blended`.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "rigid" => Self::Rigid,
            "linear" => Self::Linear,
            "dual_quaternion" => Self::DualQuaternion,
            "blended" => Self::Blended,
            _ => return None,
        })
    }
    pub(crate) fn uses_dual_quaternions(self) -> bool {
        matches!(self, Self::DualQuaternion | Self::Blended)
    }
}

/// Why skinning could not be set up.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkinBindError {
    /// No joint weights.
    #[error(
        "mesh '{mesh}' has no joint weights; bind it to a skeleton in the authoring tool (glTF: JOINTS_0 and WEIGHTS_0), \
         or remove the skin node"
    )]
    NoInfluences {
        /// Name of the mesh.
        mesh: String,
    },
    /// The number of rows of weights is not the number of vertices.
    #[error(
        "found joint weights of {found} vertices, expected {expected}, one row for each vertex"
    )]
    VertexCount {
        /// Rows of weights.
        found: usize,
        /// Vertices.
        expected: usize,
    },
    /// A vertex names a joint that the skeleton does not have.
    #[error("vertex {vertex} refers to joint {joint}, but the skeleton has {joint_count} joints")]
    JointOutOfRange {
        /// Index of the vertex.
        vertex: usize,
        /// The joint it names.
        joint: u32,
        /// How many joints there are.
        joint_count: usize,
    },
    /// A vertex has no joint weights.
    #[error("vertex {vertex} has no joint weights; bind it to a joint in the authoring tool")]
    EmptyRow {
        /// Index of the vertex.
        vertex: usize,
    },
}

/// Influences as the fast kernel reads them.
#[derive(Clone, Debug)]
pub(crate) enum Packed {
    /// Eight vertices share a list of joints.
    Blocks(Blocks),
    /// A row for each vertex, strongest first: where neighbours in the buffer follow different joints.
    Rows,
}

/// A mesh bound to a rig: the setup results of skinning. It holds weights, not positions: morph targets may move the rest mesh in each
/// frame.
#[derive(Clone, Debug)]
pub struct SkinBind {
    pub(crate) method: SkinMethod,
    /// Strongest first in each row.
    pub(crate) influences: Influences,
    pub(crate) packed: Packed,
    pub(crate) origins: Vec<Vec3<f64>>,
    pub(crate) vertex_count: usize,
}

impl SkinBind {
    /// Binds `mesh` to `rig`. Only the influences of the mesh are read, and the inverse bind matrices of the joints.
    ///
    /// # Errors
    /// [`SkinBindError`] if weights are missing or do not fit the rig.
    ///
    /// # Cost
    /// O(influences); [`Self::bytes`] are kept.
    pub fn new(mesh: &Mesh, rig: &Rig, method: SkinMethod) -> Result<Self, SkinBindError> {
        let influences = check_influences(mesh, rig.joints().len())?;
        // A joint whose bind matrix is singular has no origin; any centre gives the same motion for it alone.
        let origins = rig
            .joints()
            .iter()
            .map(|j| {
                j.joint_from_bind
                    .inverse()
                    .map_or(Vec3::zeros(), |b| b.translation)
            })
            .collect();
        Ok(Self {
            method,
            packed: pack(influences, method),
            influences: influences.clone(),
            origins,
            vertex_count: mesh.vertex_count(),
        })
    }

    /// Linear skinning with these rows, each of which has an influence, of joints below `joint_count`.
    pub(crate) fn linear(influences: Influences, joint_count: usize) -> Self {
        Self {
            method: SkinMethod::Linear,
            packed: pack(&influences, SkinMethod::Linear),
            origins: vec![Vec3::zeros(); joint_count],
            vertex_count: influences.vertex_count(),
            influences,
        }
    }

    /// Joints and weights as they were bound.
    pub(crate) fn influences(&self) -> &Influences {
        &self.influences
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }
    /// Number of joints that a palette must have.
    pub fn joint_count(&self) -> usize {
        self.origins.len()
    }
    /// How joints combine.
    pub fn method(&self) -> SkinMethod {
        self.method
    }
    /// Joints and weights that vertex `v` follows, strongest first.
    pub(crate) fn row(&self, v: usize) -> (&[u32], &[f32]) {
        let (joints, weights) = many_row(&self.influences, v);
        if self.method == SkinMethod::Rigid {
            (&joints[..1], &[1.0])
        } else {
            (joints, weights)
        }
    }
    /// Bytes on the heap: 8 per influence, 4 per vertex, 24 per joint. With blocks, also 36 per block of eight vertices and 36 per joint of
    /// a block.
    pub fn bytes(&self) -> usize {
        let packed = match &self.packed {
            Packed::Blocks(blocks) => blocks.bytes(),
            Packed::Rows => 0,
        };
        let rows = 4 * self.influences.offsets().len() + 8 * self.influences.joints().len();
        packed + rows + size_of_val(self.origins.as_slice())
    }
}

#[inline(always)]
pub(crate) fn many_row(influences: &Influences, v: usize) -> (&[u32], &[f32]) {
    let offsets = influences.offsets();
    let range = offsets[v] as usize..offsets[v + 1] as usize;
    (
        &influences.joints()[range.clone()],
        &influences.weights()[range],
    )
}

/// The joint weights of a mesh: at least one for each vertex, of joints that there are.
///
/// # Errors
/// [`SkinBindError`] where weights are missing or do not fit the rig.
pub(crate) fn check_influences(
    mesh: &Mesh,
    joint_count: usize,
) -> Result<&Influences, SkinBindError> {
    let influences = mesh
        .influences
        .as_ref()
        .ok_or_else(|| SkinBindError::NoInfluences {
            mesh: mesh.name.clone(),
        })?;
    let vertex_count = mesh.vertex_count();
    if influences.vertex_count() != vertex_count {
        return Err(SkinBindError::VertexCount {
            found: influences.vertex_count(),
            expected: vertex_count,
        });
    }
    for vertex in 0..vertex_count {
        let (joints, _) = many_row(influences, vertex);
        if joints.is_empty() {
            return Err(SkinBindError::EmptyRow { vertex });
        }
        if let Some(&joint) = joints.iter().find(|&&j| j as usize >= joint_count) {
            return Err(SkinBindError::JointOutOfRange {
                vertex,
                joint,
                joint_count,
            });
        }
    }
    Ok(influences)
}

fn pack(influences: &Influences, method: SkinMethod) -> Packed {
    let rigid = method == SkinMethod::Rigid;
    match Blocks::new(influences, rigid) {
        Some(blocks) => Packed::Blocks(blocks),
        None => Packed::Rows,
    }
}
