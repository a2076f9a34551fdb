//! Bakes with colours, texture coordinates, tangents, velocities and attributes. Each is a closed form of place and moment, so that nothing
//! of this crate is needed to know what must be seen.

use super::bakes::{At, Bake, blob, drop, in_columns, of_blobs, of_drops, unchanged, unique};
use crate::BakeError;
use crate::vat::VatSettings;
use crate::vat::tests::fixture::choice;
use serde_json::{Value, json};
use sinew_geom::{Attribute, Mesh};
use sinew_samples::{bending_blob, parting_drop};
use sinew_vat::animation::VertexAnimation;
use sinew_vat::playback::FrameBlend;
use sinew_vat::players::attribute_names;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;

/// `constant + by_place . place + by_moment moment`, each channel; places in metres, moments in frames of the sequence.
struct Field {
    /// What players call it.
    name: &'static str,
    channels: &'static [([f32; 3], f32, f32)],
}

/// Even in place and moment, so that blends and the insides of triangles are right to the last bit, too. No channel is like another.
const FIELDS: [Field; 4] = [
    Field {
        name: "color0",
        channels: &[
            ([0.2, 0.0, 0.05], 0.0, 0.5),
            ([0.0, 0.3, 0.0], 0.0, 0.45),
            ([0.0, 0.0, 0.1], 0.07, 0.2),
            ([0.0, 0.1, 0.0], -0.02, 0.7),
        ],
    },
    Field {
        name: "uv0",
        channels: &[([0.1, 0.2, 0.0], 0.0, 0.4), ([0.1, 0.0, 0.0], 0.05, 0.3)],
    },
    Field {
        name: "attribute_heat",
        channels: &[([0.15, 0.0, 0.0], 0.04, 0.35)],
    },
    Field {
        name: "attribute_Float_2",
        channels: &[
            ([0.0, 0.2, 0.0], 0.0, 0.4),
            ([0.2, 0.0, 0.0], -0.03, 0.6),
            ([0.0, 0.0, 0.2], 0.02, 0.4),
        ],
    },
];

/// The attribute whose name is a word of shading languages, and the one of the same name for them.
const FLOAT: &str = "float";
const LIKE_FLOAT: &str = "Float!";

/// Where moments are at the end of a frame: further on than the next frame is, so that neither stands for the other.
const END: f32 = 1.5;

impl Field {
    fn at<const N: usize>(&self, place: [f32; 3], moment: f32) -> [f32; N] {
        std::array::from_fn(|k| {
            let (by_place, by_moment, constant) = self.channels[k];
            let by_place: f32 = (0..3).map(|c| by_place[c] * place[c]).sum();
            constant + by_place + by_moment * moment
        })
    }
}

/// The frame with all that is baked of it.
fn painted(mesh: &Mesh, moment: f32) -> Mesh {
    let mut out = mesh.clone();
    let places = || mesh.positions.iter();
    let [color, uv, heat, wind] = &FIELDS;
    out.colors = vec![places().map(|p| color.at(*p, moment)).collect()];
    out.uvs = vec![places().map(|p| uv.at(*p, moment)).collect()];
    let scalar = |p: &[f32; 3]| heat.at::<1>(*p, moment)[0];
    let unlike = |p: &[f32; 3]| 3.0 * p[1] - moment;
    let tangent = |p: &[f32; 3]| {
        let (sin, cos) = (p[0] + 0.2 * moment).sin_cos();
        [cos, sin, 0.0, if p[1] < 0.0 { -1.0 } else { 1.0 }]
    };
    out.tangents = Some(places().map(tangent).collect());
    let velocity = |p: &[f32; 3]| [p[1], -p[0], moment];
    let vectors = places().map(|p| wind.at(*p, moment)).collect();
    out.attributes.extend([
        (
            "heat".into(),
            Attribute::Scalar(places().map(scalar).collect()),
        ),
        (
            FLOAT.into(),
            Attribute::Scalar(places().map(unlike).collect()),
        ),
        (LIKE_FLOAT.into(), Attribute::Vec3(vectors)),
        (
            "v".into(),
            Attribute::Vec3(places().map(velocity).collect()),
        ),
    ]);
    out
}

/// In the order in which they are baked; between them all formats.
fn choices() -> Vec<(Quantity, TexelFormat)> {
    use TexelFormat::{Float, Half, TwoUnorm8, Unorm8, Unorm16};
    let attribute = |name: &str| Quantity::Attribute(name.into());
    vec![
        (Quantity::Color(0), Unorm8),
        (Quantity::Uv(0), TwoUnorm8),
        (attribute("heat"), Half),
        (attribute(FLOAT), Float),
        (attribute(LIKE_FLOAT), Unorm16),
        (Quantity::Tangent, TwoUnorm8),
        (Quantity::Velocity("v".into()), Half),
    ]
}

/// What must be seen, for scripts.
pub(super) fn fields() -> Value {
    let channel = |(by_place, by_moment, constant): &([f32; 3], f32, f32)| json!({ "by_place": by_place, "by_moment": by_moment, "constant": constant });
    let field = |f: &Field| json!({ "name": f.name, "channels": f.channels.iter().map(channel).collect::<Vec<_>>() });
    FIELDS.iter().map(field).collect()
}

/// The moment that the colours of a blend are those of.
pub(super) fn moment(at: FrameBlend, has_ends: bool) -> f32 {
    let (frame, next) = (at.frame as f32, at.next as f32);
    match has_ends {
        true => frame + END * at.weight,
        false => frame + (next - frame) * at.weight,
    }
}

/// What players must give of a vertex, four numbers a texture.
pub(super) fn attributes_of(
    animation: &VertexAnimation,
    vertex: u32,
    at: FrameBlend,
) -> Vec<[f32; 4]> {
    let manifest = animation.manifest();
    let at = manifest.in_layout(at);
    let names = attribute_names(manifest).into_iter().enumerate();
    let values = |(texture, name): (usize, Option<String>)| {
        let spec = &manifest.textures[texture].spec;
        let mut out = [0.0; 4];
        for (k, value) in out.iter_mut().enumerate().take(spec.ranges.len()) {
            *value = animation.blended(texture, vertex, at, k);
        }
        name.map(|_| {
            if spec.quantity == Quantity::Tangent {
                unit(out)
            } else {
                out
            }
        })
    };
    names.filter_map(values).collect()
}

fn unit([x, y, z, hand]: [f32; 4]) -> [f32; 4] {
    let length = (x * x + y * y + z * z).sqrt();
    [
        x / length,
        y / length,
        z / length,
        if hand < 0.0 { -1.0 } else { 1.0 },
    ]
}

fn painted_drops() -> Vec<Mesh> {
    let drops = parting_drop(9).into_iter().enumerate();
    drops.map(|(f, m)| painted(&m, f as f32)).collect()
}

/// Settings that bake every painted quantity, too.
fn with_all(mut settings: VatSettings) -> VatSettings {
    let all = choices().into_iter();
    settings.textures.extend(all.map(|(q, f)| choice(q, f)));
    settings
}

/// Triangles that change, painted, one texel a unique point; stepped.
pub(super) fn painted_points(at: At<'_>) -> Result<Bake, BakeError> {
    let settings = with_all(unique(of_drops(TexelFormat::Unorm16, 1024)));
    drop(at, painted_drops(), &settings)
}

/// Triangles that change, painted; stepped.
pub(super) fn painted_drop(at: At<'_>) -> Result<Bake, BakeError> {
    let settings = with_all(of_drops(TexelFormat::Unorm16, 8192));
    drop(at, painted_drops(), &settings)
}

/// Triangles that stay the same, painted; blended to the next frame, or to the end of the same one.
pub(super) fn painted_blob(at: At<'_>, has_ends: bool) -> Result<Bake, BakeError> {
    let plain = bending_blob(8);
    let frames = plain.iter().enumerate();
    let frames: Vec<_> = frames.map(|(f, m)| painted(m, f as f32)).collect();
    let place = (Quantity::Offset, TexelFormat::Unorm16);
    let mut settings = with_all(of_blobs(place, TexelFormat::Unorm8));
    if !has_ends {
        return blob(at, frames, &settings, in_columns);
    }
    // Where triangles stay the same bakes have no ends: frames and ends are baked as one sequence.
    let with_end = |f: usize| {
        let end = painted(&plain[(f + 1) % plain.len()], f as f32 + END);
        [frames[f].clone(), end]
    };
    let stored = (0..plain.len()).flat_map(with_end).collect();
    settings.largest_side = 512;
    let mut bake = blob(at, stored, &settings, unchanged)?;
    bake.manifest.has_ends = true;
    bake.frames = frames;
    Ok(bake)
}
