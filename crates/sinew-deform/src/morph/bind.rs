//! Setup: the targets as one list of deltas for each vertex. A frame then visits each vertex once, whatever the number of targets.

use sinew_geom::{Mesh, MorphTarget, Rig};

/// Why morphing could not be set up.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MorphBindError {
    /// Neither weights nor pose.
    #[error(
        "the node has no weights: link 'pose' (weights animated in the file) or 'weights' (one float per target)"
    )]
    NoWeights,
    /// Not one weight a target.
    #[error("found {found} morph weights, expected {expected}, one for each target of the mesh")]
    WeightCount {
        /// Weights there are.
        found: usize,
        /// Targets of the mesh.
        expected: usize,
    },
    /// The pose is of another rig.
    #[error("the pose has {found} morph weights, but the targets of the mesh need {expected}")]
    PoseWeights {
        /// Weights of a pose.
        found: usize,
        /// Weights that a pose must have at least.
        expected: usize,
    },
    /// A target names a vertex that the mesh does not have.
    #[error("target {target} moves vertex {vertex}, but the mesh has {vertex_count} vertices")]
    VertexOutOfRange {
        /// Index of the target.
        target: usize,
        /// The vertex it names.
        vertex: u32,
        /// Vertices of the mesh.
        vertex_count: usize,
    },
    /// Deltas and vertices differ in number.
    #[error(
        "target {target} has {found} {what} deltas, expected {expected}, one for each of its vertices"
    )]
    DeltaCount {
        /// Index of the target.
        target: usize,
        /// "position", "normal" or "tangent".
        what: &'static str,
        /// Deltas there are.
        found: usize,
        /// Vertices listed.
        expected: usize,
    },
}

/// What one target adds to one vertex.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delta {
    pub(crate) target: u32,
    pub(crate) position: [f32; 3],
    pub(crate) normal: [f32; 3],
    pub(crate) tangent: [f32; 3],
}

/// Deltas of all vertices in compressed rows, with targets in increasing order. 40 bytes per delta and 4 per vertex.
#[derive(Clone, Debug)]
pub struct MorphBind {
    pub(crate) offsets: Vec<u32>,
    pub(crate) deltas: Vec<Delta>,
    pub(crate) target_count: usize,
}

fn check(mesh: &Mesh) -> Result<(), MorphBindError> {
    let vertex_count = mesh.vertex_count();
    for (target, t) in mesh.morph_targets.iter().enumerate() {
        let expected = t.vertices.len();
        let counts = [
            ("position", t.positions.len(), false),
            ("normal", t.normals.len(), true),
            ("tangent", t.tangents.len(), true),
        ];
        for (what, found, may_lack) in counts {
            if found != expected && !(may_lack && found == 0) {
                return Err(MorphBindError::DeltaCount {
                    target,
                    what,
                    found,
                    expected,
                });
            }
        }
        if let Some(&vertex) = t.vertices.iter().find(|&&v| v as usize >= vertex_count) {
            return Err(MorphBindError::VertexOutOfRange {
                target,
                vertex,
                vertex_count,
            });
        }
    }
    Ok(())
}

fn delta(t: &MorphTarget, target: u32, i: usize) -> Delta {
    let or_zero = |d: &[[f32; 3]]| d.get(i).copied().unwrap_or_default();
    Delta {
        target,
        position: t.positions[i],
        normal: or_zero(&t.normals),
        tangent: or_zero(&t.tangents),
    }
}

/// Index of each target's weight in a pose of the rig.
pub(crate) fn pose_weights(mesh: &Mesh, rig: &Rig) -> Result<Vec<usize>, MorphBindError> {
    let found = rig.morph_weight_count();
    let indices: Vec<usize> = (0..mesh.morph_targets.len())
        .map(|t| mesh.morph_weight_index(t))
        .collect();
    let expected = indices.iter().max().map_or(0, |&last| last + 1);
    if found < expected {
        return Err(MorphBindError::PoseWeights { found, expected });
    }
    Ok(indices)
}

impl MorphBind {
    /// Transposes the targets of `mesh` to lists per vertex. Missing normal and tangent deltas count as 0. O(vertices + deltas).
    ///
    /// # Errors
    /// [`MorphBindError`] if a target has lists of different lengths, or a vertex that the mesh does not have.
    pub fn new(mesh: &Mesh) -> Result<Self, MorphBindError> {
        check(mesh)?;
        let mut offsets = vec![0_u32; mesh.vertex_count() + 1];
        for t in &mesh.morph_targets {
            for &v in &t.vertices {
                offsets[v as usize + 1] += 1;
            }
        }
        for v in 0..mesh.vertex_count() {
            offsets[v + 1] += offsets[v];
        }
        let zero = Delta {
            target: 0,
            position: [0.0; 3],
            normal: [0.0; 3],
            tangent: [0.0; 3],
        };
        let mut cursor = offsets.clone();
        let mut deltas = vec![zero; mesh.morph_targets.iter().map(|t| t.vertices.len()).sum()];
        for (target, t) in (0_u32..).zip(&mesh.morph_targets) {
            for (i, &v) in t.vertices.iter().enumerate() {
                let at = &mut cursor[v as usize];
                deltas[*at as usize] = delta(t, target, i);
                *at += 1;
            }
        }
        Ok(Self {
            offsets,
            deltas,
            target_count: mesh.morph_targets.len(),
        })
    }

    pub(crate) fn row(&self, v: usize) -> &[Delta] {
        &self.deltas[self.offsets[v] as usize..self.offsets[v + 1] as usize]
    }
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        size_of_val(self.offsets.as_slice()) + size_of_val(self.deltas.as_slice())
    }
}
