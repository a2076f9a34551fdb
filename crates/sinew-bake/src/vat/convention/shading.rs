//! Normals as `SideFX` Labs' shaders read them: rotations of "up", or ten bits in the positions' alpha.

use super::compressed_normal;
use crate::vat::maker::soft::SoftCarrier;
use crate::vat::settings::Space;
use crate::vat::texels::decode;
use sinew_geom::Mesh;
use sinew_geom::vec3::{cross, dot, length, scale, sub};
use sinew_vat::quantity::Quantity;
use sinew_vat::texture::{TextureSpec, encode_vertices};

/// Normals of one frame, as rotations and as codes.
pub(crate) struct Shading {
    rotations: Vec<[f32; 4]>,
    alphas: Vec<f32>,
    /// The same of "up", where there is no corner.
    up: ([f32; 4], f32),
}

impl Shading {
    /// Of the vertices of a carrier. All that is given is in the space of glTF, a normal for each vertex.
    pub(super) fn of_carrier(
        carrier: &SoftCarrier,
        mesh: &Mesh,
        normals: &[[f32; 3]],
        space: Space,
    ) -> Self {
        let tangent = |vertex: usize| {
            let all = mesh.tangents.as_ref()?;
            let [x, y, z, _] = *all.get(carrier.source_vertex(vertex))?;
            Some([x, y, z])
        };
        let vertices = normals.iter().enumerate();
        Self::new(vertices.map(|(v, n)| (*n, tangent(v))), space)
    }

    /// Of corners of triangles, whose normals are in the space of glTF; number `3 * triangle + corner`.
    pub(super) fn of_corners(normals: &[[[f32; 3]; 3]], space: Space) -> Self {
        Self::new(normals.iter().flatten().map(|n| (*n, None)), space)
    }

    fn new(both: impl Iterator<Item = ([f32; 3], Option<[f32; 3]>)>, space: Space) -> Self {
        let one = |(normal, tangent)| {
            let rotation = space.rotation(rotation_to(normal, tangent));
            let alpha = compressed_normal::encode(pole_last(space, space.direction(normal)));
            (rotation, alpha)
        };
        let (rotations, alphas) = both.map(one).unzip();
        Self {
            rotations,
            alphas,
            up: one(([0.0, 1.0, 0.0], None)),
        }
    }

    /// What a texture holds of a normal, or of "up" without an index, in the space of the textures; `None` where it holds something else.
    pub(crate) fn value(
        &self,
        quantity: &Quantity,
        index: Option<usize>,
        channel: usize,
    ) -> Option<f32> {
        match (quantity, channel) {
            (Quantity::Offset | Quantity::Position, 3) => {
                Some(index.map_or(self.up.1, |i| self.alphas[i]))
            }
            (Quantity::Rotation, _) => {
                Some(index.map_or(self.up.0, |i| self.rotations[i])[channel])
            }
            _ => None,
        }
    }

    /// The texels of the frame; carrier and mesh are in the space of the textures.
    pub(crate) fn encode(
        &self,
        carrier: &SoftCarrier,
        mesh: &Mesh,
        textures: &[TextureSpec],
    ) -> Vec<Vec<u8>> {
        let value = |quantity: &Quantity, vertex: usize, channel: usize| {
            let source = carrier.source_vertex(vertex);
            let normal = self.value(quantity, Some(vertex), channel);
            normal.unwrap_or_else(|| match quantity {
                Quantity::Offset => carrier.offset(mesh, source)[channel],
                other => other.of_vertex(mesh, source, channel).unwrap_or_default(),
            })
        };
        encode_vertices(textures, carrier.vertex_count(), value)
    }
}

/// The normal that a texture says, if it does.
pub(super) fn seen(
    space: Space,
    spec: &TextureSpec,
    bytes: &[u8],
    texel: usize,
) -> Option<[f32; 3]> {
    let channel = |k: usize| {
        let size = spec.vertex_bytes();
        spec.decode(&bytes[texel * size..(texel + 1) * size], k)
    };
    match (&spec.quantity, spec.ranges.len()) {
        (Quantity::Rotation, _) => {
            let up = space.direction([0.0, 1.0, 0.0]);
            let [x, y, z] = decode(spec, bytes, texel);
            Some(turned([x, y, z, channel(3)], up))
        }
        (Quantity::Offset | Quantity::Position, 4) => {
            let n = compressed_normal::decode(channel(3));
            // The same exchange takes the pole there and back.
            Some(pole_last(space, n))
        }
        _ => None,
    }
}

/// The upward coordinate behind the other two, which keep their order.
fn pole_last(space: Space, [x, y, z]: [f32; 3]) -> [f32; 3] {
    match space {
        Space::YUpRightHanded | Space::YUpLeftHanded => [x, z, y],
        Space::ZUpRightHanded | Space::ZUpLeftHandedCentimeters => [x, y, z],
    }
}

/// The rotation that takes +Y to a unit normal and, where there is a tangent, +X to it; otherwise the shortest one. Its real part is not negative.
fn rotation_to(normal: [f32; 3], tangent: Option<[f32; 3]>) -> [f32; 4] {
    let [x, y, z] = normal;
    let shortest = unit4([z, 0.0, -x, 1.0 + y]).unwrap_or([1.0, 0.0, 0.0, 0.0]);
    let twisted = tangent.and_then(|t| twist(shortest, normal, t));
    let q = twisted.unwrap_or(shortest);
    if q[3] < 0.0 { q.map(|c| -c) } else { q }
}

/// A rotation followed by one around the normal, so that +X goes to the tangent.
fn twist(q: [f32; 4], normal: [f32; 3], tangent: [f32; 3]) -> Option<[f32; 4]> {
    let along = dot(tangent, normal);
    let flat = sub(tangent, scale(normal, along));
    let length = length(flat);
    if length < 1e-6 {
        return None;
    }
    let (side, flat) = (turned(q, [1.0, 0.0, 0.0]), flat.map(|c| c / length));
    let cosine = dot(side, flat).clamp(-1.0, 1.0);
    let sign = if dot(cross(side, flat), normal) < 0.0 {
        -1.0
    } else {
        1.0
    };
    let half = [(1.0 - cosine) * 0.5, (1.0 + cosine) * 0.5].map(f32::sqrt);
    let [a, b, c] = normal.map(|n| n * half[0] * sign);
    unit4(product([a, b, c, half[1]], q))
}

fn unit4(q: [f32; 4]) -> Option<[f32; 4]> {
    let length = q.iter().map(|c| c * c).sum::<f32>().sqrt();
    (length > 1e-6).then(|| q.map(|c| c / length))
}

/// `v` turned by a quaternion: `v + 2 q × (q × v + w v)`.
fn turned([x, y, z, w]: [f32; 4], v: [f32; 3]) -> [f32; 3] {
    let axis = [x, y, z];
    let once = cross(axis, v);
    let twice = cross(axis, std::array::from_fn(|k| once[k] + w * v[k]));
    std::array::from_fn(|k| v[k] + 2.0 * twice[k])
}

/// The rotation `b`, then `a`.
fn product(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
    let (va, vb) = ([a[0], a[1], a[2]], [b[0], b[1], b[2]]);
    let across = cross(va, vb);
    let [x, y, z] = std::array::from_fn(|k| a[3] * vb[k] + b[3] * va[k] + across[k]);
    [x, y, z, a[3] * b[3] - dot(va, vb)]
}
