//! What templates may ask for of pieces and particles.

use super::facts::{Values, floats, is_in_two};
use crate::manifest::{Manifest, Mode, TextureFile};
use crate::quantity::Quantity;

/// What an engine has for each mode behind the common part of its player.
pub(super) struct Sections {
    pub(super) vertices: &'static str,
    pub(super) pieces: &'static str,
    pub(super) sprites: &'static str,
}

impl Sections {
    pub(super) fn of(&self, mode: Mode) -> &'static str {
        match mode {
            Mode::Remesh | Mode::Soft => self.vertices,
            Mode::Rigid => self.pieces,
            Mode::Particles => self.sprites,
        }
    }
}

/// Whether lines are there.
pub(super) fn flags(manifest: &Manifest) -> Vec<(&'static str, bool)> {
    let is_vertices = manifest.mode.has_texel_per_vertex();
    let in_two = |quantity| of(manifest, &quantity).is_some_and(is_in_two);
    vec![
        ("IS_VERTICES", is_vertices),
        ("HAS_LOOKUP", manifest.lookup.is_some()),
        ("ROTATION_IN_TWO", in_two(Quantity::Rotation)),
        ("SIZE_IN_TWO", in_two(Quantity::Size)),
    ]
}

/// Ranges, texture coordinates, and how functions of HLSL are given textures.
pub(super) fn values(manifest: &Manifest) -> Values {
    let numbers = |quantity, pick: fn(&crate::texel::Range) -> f32| {
        of(manifest, &quantity).map_or_else(String::new, |t| floats(&t.spec.ranges, pick))
    };
    let places = manifest.positions().map(|t| &manifest.textures[t]);
    let (rotations, sizes) = (Quantity::Rotation, Quantity::Size);
    let two = |texture: Option<&TextureFile>| texture.is_some_and(is_in_two);
    let place = two(places);
    let rotation = two(of(manifest, &rotations));
    let size = two(of(manifest, &sizes));
    vec![
        ("UV_SET", manifest.uv_set.to_string()),
        ("GODOT_UV", godot_uv(manifest.uv_set)),
        ("ROTATION_SCALE", numbers(rotations.clone(), |r| r.scale)),
        ("ROTATION_OFFSET", numbers(rotations, |r| r.offset)),
        ("SIZE_SCALE", numbers(sizes.clone(), |r| r.scale)),
        ("SIZE_OFFSET", numbers(sizes, |r| r.offset)),
        ("PLACE_PARAMETERS", parameters("place", place)),
        ("ROTATION_PARAMETERS", parameters("rotations", rotation)),
        ("SIZE_PARAMETERS", parameters("sizes", size)),
        ("PLACE_ARGUMENTS", arguments("place", place)),
        ("ROTATION_ARGUMENTS", arguments("rotations", rotation)),
        ("SIZE_ARGUMENTS", arguments("sizes", size)),
        ("PLACE_GRAPH", graph("place", place)),
        ("ROTATION_GRAPH", graph("rotation", rotation)),
        ("SIZE_GRAPH", graph("size", size)),
    ]
}

fn of<'a>(manifest: &'a Manifest, quantity: &Quantity) -> Option<&'a TextureFile> {
    let texture = manifest.texture(quantity);
    texture.map(|t| &manifest.textures[t])
}

/// One texture, or its coarse and its fine part.
pub(super) fn parameters(name: &str, is_in_two: bool) -> String {
    let declared = |name: String| format!("Texture2D<float4> {name}");
    listed(name, is_in_two, declared)
}

pub(super) fn arguments(name: &str, is_in_two: bool) -> String {
    listed(name, is_in_two, |name| name)
}

/// What Unity's shader graph gives.
pub(super) fn graph(name: &str, is_in_two: bool) -> String {
    listed(name, is_in_two, |name| format!("{name}Texture.tex"))
}

fn listed(name: &str, is_in_two: bool, one: impl Fn(String) -> String) -> String {
    match is_in_two {
        true => format!("{}, {}", one(name.into()), one(format!("{name}Fine"))),
        false => one(name.into()),
    }
}

/// Where Godot's importer of glTF puts a set of texture coordinates.
fn godot_uv(set: u32) -> String {
    match set {
        0 => "UV".into(),
        1 => "UV2".into(),
        _ => format!("CUSTOM{}.{}", (set - 2) / 2, ["xy", "zw"][set as usize % 2]),
    }
}
