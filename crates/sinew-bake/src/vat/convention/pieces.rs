//! Pieces as the shaders of `SideFX` Labs for Unity read them.
//!
//! - Positions are those of pivots. Of the quaternion three parts are stored; the largest, `e`, is what makes it unit. Its number `m` is in the
//!   positions' alpha, which is `(m + 1 - scale) / 4`, here with scale 1. With `(x, y, z)` in the texture the quaternion is
//!   `(x, y, z, e)`, `(e, y, z, x)`, `(x, -e, z, -y)` or `(x, y, -e, -z)`.
//! - The rotations' alpha is for players that blend: how many times the piece turns until the next frame, negative where
//!   the next quaternion is to be taken with the other sign. Where it is zero they step.
//! - The pivot of a vertex is in texture coordinates: `(-uv2.x, uv3.x, 1 - uv3.y)` in Unity.

use crate::vat::maker::rigid::PiecePose;
use crate::vat::settings::{Mode, Space, TextureChoice};
use sinew_geom::Mesh;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::Range;
use sinew_vat::texture::{TextureSpec, encode_vertices};

/// Radians between frames below which players step: single precision tells nothing of them.
const STILL: f64 = 1e-4;

/// What is wrong with the textures of pieces.
pub(super) fn mismatch(textures: &[TextureChoice]) -> Option<(String, &'static str)> {
    let wrong = textures.iter().find(|t| !t.format.is_float())?;
    let found = format!("{} in {}", wrong.quantity, wrong.format);
    let expected =
        "half or float: the alpha channels hold numbers that integer formats would round";
    Some((found, expected))
}

/// One texture: four channels, as they are.
pub(super) fn texture(choice: &TextureChoice) -> TextureSpec {
    TextureSpec {
        quantity: choice.quantity.clone(),
        format: choice.format,
        ranges: vec![Range::RAW; 4],
    }
}

/// The texels of one frame. `next` are the poses of the one that players blend to, or nothing where they step; both are in the space of glTF.
pub(super) fn encode(
    poses: &[PiecePose],
    next: Option<&[PiecePose]>,
    textures: &[TextureSpec],
    space: Space,
) -> Vec<Vec<u8>> {
    let pack = |pose: &PiecePose| packed(pose.in_space(space).rotation);
    let now: Vec<Packed> = poses.iter().map(pack).collect();
    let later: Option<Vec<Packed>> = next.map(|poses| poses.iter().map(pack).collect());
    let value = |quantity: &Quantity, piece: usize, channel: usize| match (quantity, channel) {
        (Quantity::Position, 3) => f32::from(now[piece].largest) / 4.0,
        (Quantity::Position, _) => poses[piece].in_space(space).position[channel],
        (Quantity::Rotation, 3) => {
            let next = later.as_ref().and_then(|l| l.get(piece));
            next.map_or(0.0, |next| turns_between(&now[piece], next))
        }
        (Quantity::Rotation, _) => now[piece].parts[channel],
        (other, _) => other.where_absent(channel),
    };
    encode_vertices(textures, poses.len(), value)
}

/// How a piece lies, as players read it, in the space of glTF.
pub(super) fn decode(position: [f32; 4], rotation: [f32; 4], space: Space) -> PiecePose {
    let [x, y, z, alpha] = position;
    let largest = (alpha * 4.0).floor() as u8;
    let parts = [rotation[0], rotation[1], rotation[2]];
    let pose = PiecePose {
        position: [x, y, z],
        rotation: Packed { parts, largest }.rotation(),
    };
    pose.in_gltf(space)
}

/// Three parts of a quaternion, and which is missing: 0 for w, 1 to 3 for x, y and z.
#[derive(Clone, Copy, Debug)]
struct Packed {
    parts: [f32; 3],
    largest: u8,
}

impl Packed {
    /// The quaternion, with the sign that players give it.
    fn rotation(&self) -> [f32; 4] {
        let [x, y, z] = self.parts;
        let e = (1.0 - x * x - y * y - z * z).max(0.0).sqrt();
        match self.largest {
            1 => [e, y, z, x],
            2 => [x, -e, z, -y],
            3 => [x, y, -e, -z],
            _ => [x, y, z, e],
        }
    }
}

/// Of a unit quaternion `x y z w` the three parts that are not the largest.
fn packed(q: [f32; 4]) -> Packed {
    let order = [3, 0, 1, 2];
    // Of equal ones the first.
    let largest = (1..4).fold(0, |best, m| {
        if q[order[m]].abs() > q[order[best]].abs() {
            m
        } else {
            best
        }
    });
    // Players take the root as w and as x, and as -y and -z.
    let is_negative = q[order[largest]] < 0.0;
    let [x, y, z, w] = if is_negative == (largest < 2) {
        q.map(|c| -c)
    } else {
        q
    };
    let parts = match largest {
        1 => [w, y, z],
        2 => [x, -w, z],
        3 => [x, y, -w],
        _ => [x, y, z],
    };
    Packed {
        parts,
        largest: largest as u8,
    }
}

/// Turns from one frame to the next the shorter way, 0 to a half; negative where the second quaternion, as players read it, is on the other side.
fn turns_between(now: &Packed, next: &Packed) -> f32 {
    let (a, b) = (
        now.rotation().map(f64::from),
        next.rotation().map(f64::from),
    );
    let dot: f64 = (0..4).map(|k| a[k] * b[k]).sum();
    let sign = if dot < 0.0 { -1.0 } else { 1.0 };
    let length = |by: f64| {
        (0..4)
            .map(|k| (a[k] + by * b[k]).powi(2))
            .sum::<f64>()
            .sqrt()
    };
    // Half of what the piece turns.
    let half = 2.0 * length(-sign).atan2(length(sign));
    if 2.0 * half < STILL {
        return 0.0;
    }
    (sign * half / std::f64::consts::PI) as f32
}

/// Texture coordinates of the mesh: its own first ones, the texels' places, and the pivots of its vertices (metres of glTF), as an importer
/// that turns `v` over hands them on.
pub(super) fn with_pivots(mut mesh: Mesh, pivots: &[[f32; 3]]) -> Mesh {
    let places = mesh.uvs.pop().unwrap_or_default();
    let own = match mesh.uvs.is_empty() {
        true => vec![[0.0; 2]; places.len()],
        false => mesh.uvs.swap_remove(0),
    };
    let x = pivots.iter().map(|p| [p[0], 0.0]).collect();
    let y_and_z = pivots.iter().map(|p| [p[1], p[2]]).collect();
    mesh.uvs = vec![own, places, x, y_and_z];
    mesh
}

/// Why pieces are for one engine.
pub(super) fn refused(mode: Mode, space: Space) -> Option<&'static str> {
    (mode == Mode::Rigid && space != Space::YUpLeftHanded).then_some(
        "pieces for Unity alone (--for unity): of other engines' shaders it is not published where pivots are and which signs quaternions have; mode soft takes pieces, too",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quaternions_come_back() {
        let mut seen = [false; 4];
        for i in 0..4096 {
            let digit = |k: u32| ((i >> (3 * k)) & 7) as f32 - 3.4;
            let q = [0, 1, 2, 3].map(digit);
            let length = q.iter().map(|c| c * c).sum::<f32>().sqrt();
            let q = q.map(|c| c / length);
            let packed = packed(q);
            seen[usize::from(packed.largest)] = true;
            let found = packed.rotation();
            let dot: f32 = (0..4).map(|k| q[k] * found[k]).sum();
            assert!(dot.abs() > 1.0 - 1e-6, "{q:?} {found:?}");
        }
        assert_eq!(seen, [true; 4]);
    }

    #[test]
    fn turns_are_told_by_hand() {
        let about_x = |degrees: f32| {
            let half = degrees.to_radians() / 2.0;
            packed([half.sin(), 0.0, 0.0, half.cos()])
        };
        // From 80 to 110 degrees the largest part changes from w to x, which both are positive.
        let turns = turns_between(&about_x(80.0), &about_x(110.0));
        assert!((turns - 30.0 / 360.0).abs() < 1e-6, "{turns}");
        // From 170 to 290: x is taken as positive, then w, which is negative.
        let turns = turns_between(&about_x(170.0), &about_x(290.0));
        assert!((turns + 120.0 / 360.0).abs() < 1e-6, "{turns}");
        assert_eq!(turns_between(&about_x(40.0), &about_x(40.0)), 0.0);
    }
}
