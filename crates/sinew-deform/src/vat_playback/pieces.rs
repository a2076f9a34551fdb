//! Pieces that move without bending: which one each vertex belongs to, and how it lies at a moment.

use super::bind::VatPlaybackError;
use super::reference::BakedTexture;
use sinew_geom::{Mesh, Real, Vec3};
use sinew_vat::manifest::Manifest;
use sinew_vat::playback::FrameBlend;
use std::collections::HashMap;

/// The carrier of a bake of pieces: the sequence's first frame.
#[derive(Clone, Debug)]
pub(crate) struct PieceCarrier {
    /// Texture of rotations.
    pub(super) rotations: usize,
    /// Piece of each vertex.
    pub(super) of_vertex: Vec<u32>,
    /// Normals of the first frame, where the carrier has them.
    pub(super) normals: Option<Vec<[f32; 3]>>,
}

impl PieceCarrier {
    /// From the mesh that stands beside the bake: its texture coordinates `uv_set` are the middle of the texel that its vertex' piece has
    /// in frame 0.
    pub(super) fn new(
        manifest: &Manifest,
        rotations: usize,
        mesh: &Mesh,
    ) -> Result<Self, VatPlaybackError> {
        let layout = &manifest.layout;
        let wrong = |found| VatPlaybackError::Pieces {
            found,
            set: manifest.uv_set,
            carrier: manifest.carrier.clone(),
        };
        let uvs = mesh.uvs.get(manifest.uv_set as usize);
        let uvs = uvs.ok_or_else(|| wrong("is missing".into()))?;
        let pieces = 0..layout.vertices;
        let known: HashMap<[u32; 2], u32> = pieces.map(|p| (layout.texel(p, 0), p)).collect();
        let piece = |(vertex, uv): (usize, &[f32; 2])| {
            let found = known.get(&texel_at(*uv, layout.size));
            found
                .copied()
                .ok_or_else(|| wrong(format!("has {} {} at vertex {vertex}", uv[0], uv[1])))
        };
        Ok(Self {
            rotations,
            of_vertex: uvs
                .iter()
                .enumerate()
                .map(piece)
                .collect::<Result<_, _>>()?,
            normals: mesh.normals.clone(),
        })
    }
}

/// The texel that a point of the texture is in; what is outside is in none of a bake's.
fn texel_at(uv: [f32; 2], size: [u32; 2]) -> [u32; 2] {
    [0, 1].map(|k| {
        let at = f64::from(uv[k]) * f64::from(size[k]);
        if at >= 0.0 { at as u32 } else { u32::MAX }
    })
}

/// Position and rotation of a piece at one time.
#[derive(Clone, Copy, Debug)]
pub struct PiecePose<R: Real> {
    /// Where its pivot is in the carrier, metres.
    pivot: Vec3<R>,
    /// Where it is now, metres.
    position: Vec3<R>,
    /// Unit quaternion, vector and scalar.
    rotation: (Vec3<R>, R),
}

impl<R: Real> PiecePose<R> {
    /// Positions and rotations of a piece between two frames, by the shorter rotation. A quaternion of length 0 is the identity.
    #[inline]
    pub fn new(
        places: &BakedTexture<'_>,
        rotations: &BakedTexture<'_>,
        piece: u32,
        at: FrameBlend,
    ) -> Self {
        let mut rotation = rotations.numbers::<R, 4>(piece, at.frame);
        if at.weight != 0.0 {
            let next = rotations.numbers::<R, 4>(piece, at.next);
            // Both signs are the same rotation; the nearer one is the shorter way.
            let is_far = dot(rotation, next) < R::zero();
            let weight = R::from_single(at.weight);
            for (a, b) in rotation.iter_mut().zip(next) {
                *a += (if is_far { -b } else { b } - *a) * weight;
            }
        }
        let length = dot(rotation, rotation).sqrt();
        let [x, y, z, w] = match length > R::from_double(1e-6) {
            true => rotation.map(|c| c / length),
            false => [R::zero(), R::zero(), R::zero(), R::one()],
        };
        Self {
            pivot: places.at(piece, 0),
            position: places.between(piece, at),
            rotation: (Vec3::new(x, y, z), w),
        }
    }

    /// The position of a vertex: `rotation * (carrier - pivot) + position`. `carrier` is its position in the mesh that carries the bake.
    #[inline]
    pub fn place(&self, carrier: [f32; 3]) -> [f32; 3] {
        let arm = R::vec3(carrier) - self.pivot;
        R::array3(self.turned(arm) + self.position)
    }

    /// A direction of the carrier, rotated with the piece.
    #[inline]
    pub fn direction(&self, carrier: [f32; 3]) -> [f32; 3] {
        R::array3(self.turned(R::vec3(carrier)))
    }

    /// `v + 2 q x (q x v + w v)`
    fn turned(&self, v: Vec3<R>) -> Vec3<R> {
        let (q, w) = self.rotation;
        v + q.cross(&(q.cross(&v) + v * w)) * R::from_double(2.0)
    }
}

fn dot<R: Real>(a: [R; 4], b: [R; 4]) -> R {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}
