//! Sequences of pieces that move without bending: one texel a piece.
//!
//! A piece has a pivot, the mean of its vertices in the first frame. In each frame its place and its rotation are those that bring the
//! first frame nearest to it in the sense of least squares (Kabsch 1976): `p = R (v - pivot) + position`.

use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};
use sinew_geom::{Attribute, Mesh, WeldMap, index32, nearest_rotation};
use sinew_vat::manifest::Space;
use sinew_vat::quantity::Quantity;
use sinew_vat::texture::{TextureSpec, encode_vertices};

/// How a piece lies in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PiecePose {
    /// Where its pivot is, metres.
    pub position: [f32; 3],
    /// Rotation from the first frame, `x y z w`, unit.
    pub rotation: [f32; 4],
}

impl PiecePose {
    /// The same in a space: with the carrier and its pivots in that space, too, vertices come out where they were.
    #[must_use]
    pub(crate) fn in_space(&self, space: Space) -> Self {
        Self {
            position: space.position(self.position),
            rotation: space.rotation(self.rotation),
        }
    }

    /// What [`Self::in_space`] was given.
    #[must_use]
    pub(crate) fn in_gltf(&self, space: Space) -> Self {
        Self {
            position: space.position_in_gltf(self.position),
            rotation: space.rotation_in_gltf(self.rotation),
        }
    }
}

/// Which vertices belong together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pieces {
    piece_of_vertex: Vec<u32>,
    pivots: Vec<[f64; 3]>,
    rest: Vec<[f32; 3]>,
}

/// Why a frame is not one of the sequence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PiecesError {
    /// Another number of vertices.
    #[error("{found} vertices, the first frame has {expected}")]
    Vertices {
        /// Here.
        found: usize,
        /// In the first frame.
        expected: usize,
    },
    /// The attribute that should number pieces is missing or holds more than one number a vertex.
    #[error("no scalar attribute '{name}', which is to number the pieces")]
    Attribute {
        /// Its name.
        name: String,
    },
}

impl Pieces {
    /// Vertices that triangles connect, directly or through others, are a piece; vertices at one place (equal to the bit) count as
    /// one. Vertices without triangles are pieces by themselves.
    pub(crate) fn connected(first: &Mesh) -> Self {
        let weld = WeldMap::by_position(&first.positions, 0.0);
        let mut parents: Vec<u32> = weld.class_of_vertex.clone();
        // Classes begin as their own parents; parents are classes.
        parents.truncate(weld.class_count());
        for (class, parent) in parents.iter_mut().enumerate() {
            *parent = index32(class);
        }
        for t in first.topology.triangles() {
            let classes = t.map(|v| weld.class_of_vertex[v as usize]);
            let least = classes.map(|c| root(&mut parents, c));
            let low = least[0].min(least[1]).min(least[2]);
            for c in least {
                parents[c as usize] = low;
            }
        }
        let keys = weld.class_of_vertex.iter();
        let keys: Vec<u32> = keys.map(|&class| root(&mut parents, class)).collect();
        Self::numbered(first, &keys)
    }

    /// Vertices with the same value of a scalar attribute are a piece.
    ///
    /// # Errors
    /// [`PiecesError::Attribute`] where there is no such attribute.
    pub(crate) fn by_attribute(first: &Mesh, name: &str) -> Result<Self, PiecesError> {
        let Some(Attribute::Scalar(values)) = first.attributes.get(name) else {
            return Err(PiecesError::Attribute { name: name.into() });
        };
        // Zero has two forms.
        let keys: Vec<u32> = values.iter().map(|v| (v + 0.0).to_bits()).collect();
        Ok(Self::numbered(first, &keys))
    }

    /// Numbers pieces by their first vertex.
    fn numbered(first: &Mesh, keys: &[u32]) -> Self {
        let mut numbers = std::collections::HashMap::new();
        let mut sums: Vec<([f64; 3], f64)> = Vec::new();
        let mut piece_of_vertex = Vec::with_capacity(keys.len());
        for (key, p) in keys.iter().zip(&first.positions) {
            let next = sums.len() as u32;
            let piece = *numbers.entry(*key).or_insert(next);
            if piece == next {
                sums.push(([0.0; 3], 0.0));
            }
            let (sum, count) = &mut sums[piece as usize];
            for k in 0..3 {
                sum[k] += f64::from(p[k]);
            }
            *count += 1.0;
            piece_of_vertex.push(piece);
        }
        Self {
            piece_of_vertex,
            pivots: sums.iter().map(|(s, n)| s.map(|c| c / n)).collect(),
            rest: first.positions.clone(),
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.pivots.len()
    }

    /// Piece of a vertex of the first frame.
    pub(crate) fn of_vertex(&self, vertex: usize) -> usize {
        self.piece_of_vertex[vertex] as usize
    }

    /// The same of a vertex that may not be there.
    pub(crate) fn find_vertex(&self, vertex: usize) -> Option<usize> {
        self.piece_of_vertex.get(vertex).map(|p| *p as usize)
    }

    /// Pivot of a piece, metres, as the carrier stores it.
    pub(crate) fn pivot(&self, piece: usize) -> [f32; 3] {
        self.pivots[piece].map(|c| c as f32)
    }

    /// Which pieces say how they are turned: those with vertices that are not all on one line.
    pub(crate) fn with_a_turn(&self) -> Vec<bool> {
        let mut spreads = vec![Matrix3::<f64>::zeros(); self.count()];
        for (piece, rest) in self.piece_of_vertex.iter().zip(&self.rest) {
            let from = wide(*rest) - Vector3::from(self.pivots[*piece as usize]);
            spreads[*piece as usize] += from * from.transpose();
        }
        let is_wide = |spread: &Matrix3<f64>| {
            let mut along = spread.symmetric_eigenvalues();
            along.as_mut_slice().sort_by(f64::total_cmp);
            // Squares of lengths: a thousandth as wide as long.
            along[1] > along[2] * 1e-6
        };
        spreads.iter().map(is_wide).collect()
    }

    /// How the pieces lie in a frame. `before` (the poses of the frame before, or nothing) decides what the frame leaves open: which of the
    /// two quaternions of a rotation, and how a piece that is a line or a point is turned around itself.
    ///
    /// # Errors
    /// [`PiecesError::Vertices`].
    pub(crate) fn fit(
        &self,
        frame: &Mesh,
        before: &[PiecePose],
    ) -> Result<Vec<PiecePose>, PiecesError> {
        let (found, expected) = (frame.positions.len(), self.rest.len());
        if found != expected {
            return Err(PiecesError::Vertices { found, expected });
        }
        let mut sums = vec![(Vector3::zeros(), 0.0); self.count()];
        for (piece, p) in self.piece_of_vertex.iter().zip(&frame.positions) {
            let (sum, count) = &mut sums[*piece as usize];
            *sum += wide(*p);
            *count += 1.0;
        }
        let means: Vec<Vector3<f64>> = sums.iter().map(|(s, n)| s / *n).collect();
        let mut covariances = vec![Matrix3::zeros(); self.count()];
        for ((piece, p), rest) in self
            .piece_of_vertex
            .iter()
            .zip(&frame.positions)
            .zip(&self.rest)
        {
            let piece = *piece as usize;
            let from = wide(*rest) - Vector3::from(self.pivots[piece]);
            covariances[piece] += (wide(*p) - means[piece]) * from.transpose();
        }
        let poses = means.iter().zip(&covariances).enumerate();
        Ok(poses
            .map(|(piece, (mean, covariance))| pose(mean, covariance, before.get(piece)))
            .collect())
    }

    /// What a texture of positions in a space says of the pivots: where each is in the first frame, as its format rounds it, back in metres of glTF.
    /// Players know no other.
    pub(crate) fn stored_pivots(&self, positions: &TextureSpec, space: Space) -> Vec<[f32; 3]> {
        let one = std::slice::from_ref(positions);
        let texels = encode_vertices(one, self.count(), |_, piece, k| {
            space.position(self.pivot(piece))[k]
        });
        let size = positions.vertex_bytes();
        let pivot = |piece: usize| {
            let texel = &texels[0][piece * size..(piece + 1) * size];
            space.position_in_gltf(std::array::from_fn(|k| positions.decode(texel, k)))
        };
        (0..self.count()).map(pivot).collect()
    }

    /// Poses whose positions are those of other pivots: `R (v - stored) + position` is where `R (v - pivot) + position` was before.
    pub(crate) fn about(&self, stored: &[[f32; 3]], poses: &[PiecePose]) -> Vec<PiecePose> {
        let shifted = |(piece, pose): (usize, &PiecePose)| {
            let [x, y, z, w] = pose.rotation.map(f64::from);
            let rotation = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
            let by = rotation * (wide(stored[piece]) - Vector3::from(self.pivots[piece]));
            let position = wide(pose.position) + by;
            PiecePose {
                position: [0, 1, 2].map(|k| position[k] as f32),
                ..*pose
            }
        };
        poses.iter().enumerate().map(shifted).collect()
    }

    /// Where a vertex of the first frame is when its piece lies like that, as a player computes it.
    pub(crate) fn placed(&self, vertex: usize, poses: &[PiecePose]) -> [f32; 3] {
        let piece = self.of_vertex(vertex);
        let (pose, pivot) = (&poses[piece], self.pivot(piece));
        let [x, y, z, w] = pose.rotation;
        let rotation = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        let from = Vector3::from(self.rest[vertex]) - Vector3::from(pivot);
        (rotation * from + Vector3::from(pose.position)).into()
    }

    /// Largest distance of a vertex of the frame from where its piece puts it, metres: nothing where pieces are rigid.
    #[cfg(test)]
    pub(crate) fn largest_error(&self, frame: &Mesh, poses: &[PiecePose]) -> f32 {
        let vertices = frame.positions.iter().enumerate();
        vertices
            .map(|(v, p)| (Vector3::from(self.placed(v, poses)) - Vector3::from(*p)).norm())
            .fold(0.0, f32::max)
    }
}

/// The texels of one frame, one for each piece, in the space of the textures; `poses` are in that of glTF.
pub(crate) fn encode_poses(
    poses: &[PiecePose],
    textures: &[TextureSpec],
    space: Space,
) -> Vec<Vec<u8>> {
    let poses: Vec<PiecePose> = poses.iter().map(|p| p.in_space(space)).collect();
    let value = |quantity: &Quantity, piece: usize, channel: usize| match quantity {
        Quantity::Position => poses[piece].position[channel],
        Quantity::Rotation => poses[piece].rotation[channel],
        other => other.where_absent(channel),
    };
    encode_vertices(textures, poses.len(), value)
}

/// The rotation nearest to a covariance, and of its two quaternions the one nearest to the one before.
fn pose(mean: &Vector3<f64>, covariance: &Matrix3<f64>, before: Option<&PiecePose>) -> PiecePose {
    let before = before.map_or(UnitQuaternion::identity(), |pose| {
        let [x, y, z, w] = pose.rotation.map(f64::from);
        UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z))
    });
    // A little of the rotation before decides the directions in which a flat or thin piece says nothing.
    let size = covariance.norm();
    let weight = if size > 0.0 { size * 1e-9 } else { 1.0 };
    let wanted = covariance + before.to_rotation_matrix().matrix() * weight;
    let rotation = Rotation3::from_matrix_unchecked(nearest_rotation(&wanted));
    let mut rotation = UnitQuaternion::from_rotation_matrix(&rotation);
    if rotation.coords.dot(&before.coords) < 0.0 {
        rotation = UnitQuaternion::new_unchecked(-rotation.into_inner());
    }
    PiecePose {
        position: [0, 1, 2].map(|k| mean[k] as f32),
        rotation: [0, 1, 2, 3].map(|k| rotation.coords[k] as f32),
    }
}

fn wide(p: [f32; 3]) -> Vector3<f64> {
    Vector3::from(p.map(f64::from))
}

fn root(parents: &mut [u32], mut of: u32) -> u32 {
    while parents[of as usize] != of {
        let above = parents[of as usize];
        parents[of as usize] = parents[above as usize];
        of = above;
    }
    of
}

#[cfg(test)]
#[path = "rigid_tests.rs"]
mod tests;
