//! Vertex animation textures of `SideFX` Labs 3.x, mode "soft": the triangles stay the same.
//!
//! - A frame is a band of rows, bands below each other, without padding. The second texture coordinates of the mesh point at the first band.
//! - Positions are offsets from the mesh. Floats hold them as they are; otherwise they are `(o - min) / (max - min)` with the bounds of the
//!   JSON, in one texture or two (`first + second / 100`).
//! - Normals are rotations, unit quaternions: `q` turns up into the normal and the side into the tangent; codes hold `(q + 1) / 2`. Or they are ten
//!   bits in the positions' alpha.
//! - Bounds have whole tenths; what is below them says something else. Shaders find there that nothing is padded
//!   and whether textures hold floats.

use super::{compressed_normal, format_of, tenths_around, write_files, write_mesh};
use crate::BakeError;
use crate::vat::job::VatJob;
use crate::vat::plan::VatPlan;
use crate::vat::settings::{Space, TextureChoice};
use crate::vat::texels::decode;
use crate::vat::textures::files_called;
use sinew_geom::Mesh;
use sinew_io::{AtomicDir, write_text};
use sinew_vat::error::{ErrorSum, angle_between};
use sinew_vat::layout::{Layout, LayoutError};
use sinew_vat::quantity::Quantity;
use sinew_vat::soft::SoftCarrier;
use sinew_vat::texel::{Range, TexelFormat};
use sinew_vat::texture::{Extent, TextureSpec, encode_vertices};

/// Most rows of a frame.
const MOST_ROWS: u32 = 1980;

/// The first setting that cannot be followed: its name, what it is, what would do.
pub(super) fn contradiction(
    textures: &[TextureChoice],
    compressed_normals: bool,
    powers_of_two: bool,
) -> Option<(&'static str, String, &'static str)> {
    if powers_of_two {
        let expected = "false: padding is not written for sidefx";
        return Some(("powers_of_two", "true".into(), expected));
    }
    let (found, expected) = textures
        .iter()
        .find_map(not_written)
        .or_else(|| mismatch(textures, compressed_normals))?;
    Some(("textures", found, expected))
}

/// What is wrong with a texture for itself.
fn not_written(texture: &TextureChoice) -> Option<(String, &'static str)> {
    let TextureChoice { quantity, format } = texture;
    let is_in_two = *format == TexelFormat::TwoUnorm8;
    match quantity {
        Quantity::Offset => None,
        Quantity::Normal | Quantity::Color(0) if is_in_two => {
            let found = format!("{quantity} in two files");
            Some((found, "two files for offsets only"))
        }
        Quantity::Normal | Quantity::Color(0) => None,
        _ => Some((format!("{quantity}"), "offset, normal and color0")),
    }
}

/// What is wrong with the textures of places and normals together.
fn mismatch(
    textures: &[TextureChoice],
    compressed_normals: bool,
) -> Option<(String, &'static str)> {
    let offset = format_of(textures, &Quantity::Offset)?;
    let Some(normal) = format_of(textures, &Quantity::Normal) else {
        let nothing = ("without normals".into(), "normals, to be compressed");
        return compressed_normals.then_some(nothing);
    };
    if compressed_normals && !offset.is_float() {
        let expected = "half or float: ten bits of a normal do not fit into other alphas";
        return Some((format!("offsets in {offset:?}"), expected));
    }
    let found = format!("offsets in {offset:?} and normals in {normal:?}");
    let expected = "floats for both or for none: one sign tells shaders of both";
    (normal.is_float() != offset.is_float()).then_some((found, expected))
}

/// Bands of as few rows as the width allows.
pub(super) fn layout(vertices: u32, frames: u32, limit: u32) -> Result<Layout, LayoutError> {
    let rows = vertices.div_ceil(limit.max(1)).max(1);
    if rows > MOST_ROWS {
        return Err(LayoutError::TooLarge {
            vertices,
            frames,
            limit,
        });
    }
    Layout::blocks(vertices, frames, [vertices.div_ceil(rows), rows], 1, limit)
}

/// One texture; `None` where normals go into the alpha of another one.
pub(super) fn texture(
    choice: &TextureChoice,
    extent: &Extent,
    compressed_normals: bool,
) -> Option<TextureSpec> {
    let format = choice.format;
    let spec = |quantity, ranges| TextureSpec {
        quantity,
        format,
        ranges,
    };
    match choice.quantity {
        Quantity::Offset if format.is_float() => {
            let channels = if compressed_normals { 4 } else { 3 };
            Some(spec(Quantity::Offset, vec![Range::RAW; channels]))
        }
        Quantity::Offset => {
            let (low, high) = bounds(&extent.least, &extent.most, false);
            let ranges = (0..3).map(|k| Range {
                scale: high[k] - low[k],
                offset: low[k],
            });
            Some(spec(Quantity::Offset, ranges.collect()))
        }
        Quantity::Normal if compressed_normals => None,
        Quantity::Normal => {
            let range = if format.is_float() {
                Range::RAW
            } else {
                Range::DIRECTION
            };
            Some(spec(Quantity::Rotation, vec![range; 4]))
        }
        _ => Some(spec(choice.quantity.clone(), vec![Range::RAW; 4])),
    }
}

/// Bounds around a box whose last digits say: no padding, floats or none.
fn bounds(least: &[f32], most: &[f32], is_float: bool) -> ([f32; 3], [f32; 3]) {
    let at = |values: &[f32], k: usize| values.get(k).copied().unwrap_or(0.0);
    let tenths = |k: usize| tenths_around(at(least, k), at(most, k));
    let low = std::array::from_fn(|k| whole_tenth(tenths(k)[0], -1.0));
    let mut high: [f32; 3] = std::array::from_fn(|k| whole_tenth(tenths(k)[1], 1.0));
    // A half or more behind the tenths of this one means floats; away from both ends, so that no rounding changes it.
    high[2] += if is_float { 0.075 } else { 0.025 };
    (low, high)
}

/// The nearest number in direction `step` that is whole, to the bit, after ten times it was taken in single precision.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounded to single precision on purpose"
)]
fn whole_tenth(value: f64, step: f64) -> f32 {
    let start = (value * 10.0).round();
    let mut candidates = (0..64).map(|i| ((start + step * f64::from(i)) / 10.0) as f32);
    let found = candidates.find(|v| (v * 10.0).fract() == 0.0);
    found.unwrap_or(value as f32)
}

/// Normals of one frame, as rotations and as codes.
pub(crate) struct Shading {
    rotations: Vec<[f32; 4]>,
    alphas: Vec<f32>,
    space: Space,
}

impl Shading {
    /// All that is given is in the space of glTF, a normal for each vertex of the carrier.
    pub(super) fn new(
        carrier: &SoftCarrier,
        mesh: &Mesh,
        normals: &[[f32; 3]],
        space: Space,
    ) -> Self {
        let rotation = |(vertex, normal): (usize, &[f32; 3])| {
            let tangent = mesh
                .tangents
                .as_ref()
                .and_then(|t| t.get(carrier.source_vertex(vertex)));
            let q = rotation_to(*normal, tangent.map(|t| [t[0], t[1], t[2]]));
            space.rotation(q)
        };
        let alpha = |n: &[f32; 3]| compressed_normal::encode(pole_last(space, space.direction(*n)));
        Self {
            rotations: normals.iter().enumerate().map(rotation).collect(),
            alphas: normals.iter().map(alpha).collect(),
            space,
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
            match (quantity, channel) {
                (Quantity::Offset, 3) => self.alphas[vertex],
                (Quantity::Offset, _) => carrier.offset(mesh, source)[channel],
                (Quantity::Rotation, _) => self.rotations[vertex][channel],
                (other, _) => other.of_vertex(mesh, source, channel).unwrap_or_default(),
            }
        };
        encode_vertices(textures, carrier.vertex_count(), value)
    }

    /// How far the normals in the texels are from `normals`, which are in the space of the textures.
    #[expect(clippy::cast_possible_truncation, reason = "frames and vertices fit")]
    pub(crate) fn measure(
        &self,
        plan: &VatPlan,
        frame: usize,
        texels: &[Vec<u8>],
        normals: &[[f32; 3]],
    ) -> ErrorSum {
        let mut out = ErrorSum::default();
        for (spec, bytes) in plan.textures.iter().zip(texels) {
            for (vertex, normal) in normals.iter().enumerate() {
                if let Some(seen) = self.seen(spec, bytes, vertex) {
                    out.add(frame as u32, vertex as u32, angle_between(seen, *normal));
                }
            }
        }
        out
    }

    /// The normal that a texture says, if it does.
    fn seen(&self, spec: &TextureSpec, bytes: &[u8], vertex: usize) -> Option<[f32; 3]> {
        let channel = |k: usize| {
            let size = spec.vertex_bytes();
            spec.decode(&bytes[vertex * size..(vertex + 1) * size], k)
        };
        match (&spec.quantity, spec.ranges.len()) {
            (Quantity::Rotation, _) => {
                let up = self.space.direction([0.0, 1.0, 0.0]);
                let [x, y, z] = decode(spec, bytes, vertex);
                Some(turned([x, y, z, channel(3)], up))
            }
            (Quantity::Offset, 4) => {
                let n = compressed_normal::decode(channel(3));
                // The same exchange takes the pole there and back.
                Some(pole_last(self.space, n))
            }
            _ => None,
        }
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
    let flat: [f32; 3] = std::array::from_fn(|k| tangent[k] - along * normal[k]);
    let length = dot(flat, flat).sqrt();
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

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    (0..3).map(|k| a[k] * b[k]).sum()
}

fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [0, 1, 2].map(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        a[i] * b[j] - a[j] * b[i]
    })
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

/// Writes the files; gives the name of the JSON.
pub(super) fn write(
    job: &VatJob,
    plan: &VatPlan,
    mut mesh: Mesh,
    folder: &mut AtomicDir,
) -> Result<String, BakeError> {
    let name = job.name();
    for (texture, spec) in plan.textures.iter().enumerate() {
        let suffix = match spec.quantity {
            Quantity::Offset => "pos",
            Quantity::Rotation => "rot",
            _ => "col",
        };
        let names = files_called(&format!("{name}_{suffix}"), spec.format);
        write_files(job, plan, texture, &names, folder)?;
    }
    second_coordinates(&mut mesh);
    write_mesh(&format!("{name}_mesh.glb"), &mesh, folder)?;
    let data = format!("{name}_data.json");
    let text = data_json(name, job.settings().frames_per_second, plan);
    write_text(&folder.stage(&data)?, &text)?;
    Ok(data)
}

/// The texels' places become the second set of texture coordinates, whatever sets there are.
fn second_coordinates(mesh: &mut Mesh) {
    let Some(places) = mesh.uvs.pop() else { return };
    if mesh.uvs.is_empty() {
        mesh.uvs.push(vec![[0.0; 2]; places.len()]);
    }
    mesh.uvs.insert(1, places);
}

/// The array with one object; exactly one blank behind each colon, which importers search for.
fn data_json(name: &str, frames_per_second: f32, plan: &VatPlan) -> String {
    let offsets = plan
        .textures
        .iter()
        .find(|t| t.quantity == Quantity::Offset);
    let is_float = offsets.is_some_and(|t| t.format.is_float());
    let is_in_two = offsets.is_some_and(|t| t.format == TexelFormat::TwoUnorm8);
    let ranges = offsets.map_or(&[][..], |t| &t.ranges);
    let (low, high) = match is_float {
        true => {
            let (low, high) = plan.space.bounds(&plan.bounds);
            bounds(&low, &high, true)
        }
        false => {
            let of = |k: usize| ranges.get(k).copied().unwrap_or(Range::RAW);
            let low = std::array::from_fn(|k| of(k).offset);
            // The sum is rounded; the bound that the range was made from is the whole tenth there.
            let tenth = |k| whole_tenth(f64::from(of(k).value(1.0)), 1.0);
            (
                low,
                std::array::from_fn(|k| if k == 2 { of(k).value(1.0) } else { tenth(k) }),
            )
        }
    };
    let axes = match plan.space {
        Space::YUpRightHanded => "Right-Handed Y-Up",
        Space::ZUpRightHanded => "Right-Handed Z-Up",
        Space::YUpLeftHanded => "Left-Handed Y-Up",
        Space::ZUpLeftHandedCentimeters => "Left-Handed Z-Up",
    };
    let mut lines = vec![
        // Names of bakes have no characters that would need escaping.
        format!("\"Name\": \"{name}\""),
        format!("\"Axis System\": \"{axes}\""),
        format!("\"Frame Count\": {}", plan.layout.frames),
        format!("\"Houdini FPS\": {frames_per_second}"),
    ];
    for (end, values) in [("Max", high), ("Min", low)] {
        for (axis, value) in ["X", "Y", "Z"].into_iter().zip(values) {
            lines.push(format!("\"Bound {end} {axis}\": {value:?}"));
        }
    }
    lines.push(format!(
        "\"Two Position Textures\": {}",
        u8::from(is_in_two)
    ));
    format!(
        "[\n    {{\n        {}\n    }}\n]\n",
        lines.join(",\n        ")
    )
}
