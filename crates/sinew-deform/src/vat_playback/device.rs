//! What GPUs run: texels as words, and which frames to read.

use super::bind::VatPlaybackBind;
use super::pieces::PieceCarrier;
use crate::{DeviceConstant, DeviceNode, DevicePass, DeviceSetting, DeviceType, UniformLayout};
use sinew_geom::index32;
use sinew_vat::layout::{Arrangement, Layout};
use sinew_vat::lookup::{LOOKUP_BYTES, point_of_texel};
use sinew_vat::playback::FrameBlend;
use sinew_vat::texel::TexelFormat;
use std::sync::Arc;

const TEXELS: &str = include_str!("texels.wgsl");
/// What has the texel of a vertex: itself, or what a lookup says.
const CORNERS: &str = include_str!("corners.wgsl");
const LOOKUP: &str = include_str!("lookup.wgsl");
const POSITIONS: &str = concat!(include_str!("place.wgsl"), include_str!("positions.wgsl"));
const NORMALS: &str = include_str!("normals.wgsl");
const PIECES: &str = concat!(
    include_str!("place.wgsl"),
    include_str!("rotation.wgsl"),
    include_str!("pieces.wgsl")
);
const PIECE_NORMALS: &str = concat!(
    include_str!("rotation.wgsl"),
    include_str!("piece_normals.wgsl")
);

crate::uniform_struct! {
    /// As in `texels.wgsl`.
    pub(super) struct Uniforms {
        frame: u32,
        next: u32,
        weight: f32,
        unused: u32,
        place_scale: [f32; 4],
        place_offset: [f32; 4],
        turn_scale: [f32; 4],
        turn_offset: [f32; 4],
    }
}

pub(super) fn uniforms(bind: &VatPlaybackBind, at: FrameBlend) -> Uniforms {
    let (place_scale, place_offset) = ranges(bind, Some(bind.places));
    let (turn_scale, turn_offset) = ranges(bind, turns(bind));
    Uniforms {
        frame: at.frame,
        next: at.next,
        weight: at.weight,
        unused: 0,
        place_scale,
        place_offset,
        turn_scale,
        turn_offset,
    }
}

/// Texture of rotations where pieces have texels, of normals elsewhere.
fn turns(bind: &VatPlaybackBind) -> Option<usize> {
    let rotations = bind.pieces.as_ref().map(|p| p.rotations);
    rotations.or(bind.normals)
}

/// Scale and offset of the first four channels.
fn ranges(bind: &VatPlaybackBind, texture: Option<usize>) -> ([f32; 4], [f32; 4]) {
    let (mut scale, mut offset) = ([0.0; 4], [0.0; 4]);
    let textures = &bind.animation.manifest().textures;
    let ranges = texture.map_or(&[][..], |t| &textures[t].spec.ranges);
    for (c, range) in ranges.iter().enumerate().take(4) {
        (scale[c], offset[c]) = (range.scale, range.offset);
    }
    (scale, offset)
}

/// `None` for textures whose bytes 32 bits cannot count: kernels could not read them.
pub(super) fn node(bind: &VatPlaybackBind) -> Option<DeviceNode> {
    let textures = [Some(bind.places), turns(bind)].into_iter().flatten();
    let mut sizes = textures.map(|t| bind.animation.texels(t).len());
    if sizes.any(|bytes| u32::try_from(bytes).is_err()) {
        return None;
    }
    let manifest = bind.animation.manifest();
    let mut out = DeviceNode {
        shared: vec![TEXELS],
        uniforms: UniformLayout::of::<Uniforms>(),
        settings: layout_settings(manifest.texture_layout(), TEXELS_LAYOUT),
        ..DeviceNode::default()
    };
    let frames = DeviceSetting::U32(manifest.layout.frames);
    out.settings.push(("FRAMES", frames));
    add_lookup(&mut out, bind);
    let names = ["PLACE_FORMAT", "PLACE_CHANNELS"];
    add_texture(&mut out, bind, bind.places, names, "place_texels");
    if let Some(turns) = turns(bind) {
        let names = ["TURN_FORMAT", "TURN_CHANNELS"];
        add_texture(&mut out, bind, turns, names, "turn_texels");
    }
    add_passes(&mut out, bind);
    Some(out)
}

fn add_passes(out: &mut DeviceNode, bind: &VatPlaybackBind) {
    let (positions, normals) = match &bind.pieces {
        Some(pieces) => {
            add_pieces(out, pieces);
            (PIECES, PIECE_NORMALS)
        }
        None => {
            let offsets = DeviceSetting::Bool(bind.has_offsets);
            out.settings.push(("HAS_OFFSETS", offsets));
            (POSITIONS, NORMALS)
        }
    };
    out.passes
        .push(DevicePass::per_vertex("positions", positions));
    if bind.has_normals() {
        let pass = DevicePass::per_vertex("normals", normals);
        out.passes.push(pass.only_when("wants_mesh_normals", true));
    }
}

fn add_pieces(out: &mut DeviceNode, pieces: &PieceCarrier) {
    let (name, ty) = ("piece_of_vertex", DeviceType::U32);
    out.constants
        .push(DeviceConstant::new(name, ty, &pieces.of_vertex));
    if let Some(normals) = &pieces.normals {
        let (name, ty) = ("carrier_normals", DeviceType::Vec3F);
        out.constants.push(DeviceConstant::new(name, ty, normals));
    }
}

/// Points of the lookup as words, where there is one.
fn add_lookup(out: &mut DeviceNode, bind: &VatPlaybackBind) {
    let manifest = bind.animation.manifest();
    if manifest.lookup.is_none() {
        out.shared.push(CORNERS);
        return;
    }
    out.shared.push(LOOKUP);
    let settings = layout_settings(&manifest.layout, LOOKUP_LAYOUT);
    out.settings.extend(settings);
    let texels = bind.animation.lookup().chunks(LOOKUP_BYTES);
    let points: Vec<u32> = texels.map(point_of_texel).collect();
    let (name, ty) = ("lookup_points", DeviceType::U32);
    out.constants.push(DeviceConstant::new(name, ty, &points));
}

/// Names of what a layout is on the device.
type LayoutNames = [&'static str; 5];
const TEXELS_LAYOUT: LayoutNames = [
    "IN_COLUMNS",
    "BLOCK_WIDTH",
    "BLOCK_HEIGHT",
    "BLOCKS_ACROSS",
    "TEXTURE_WIDTH",
];
const LOOKUP_LAYOUT: LayoutNames = [
    "LOOKUP_IN_COLUMNS",
    "LOOKUP_WIDTH",
    "LOOKUP_HEIGHT",
    "LOOKUP_ACROSS",
    "LOOKUP_TEXTURE_WIDTH",
];

fn layout_settings(layout: &Layout, names: LayoutNames) -> Vec<(&'static str, DeviceSetting)> {
    let (in_columns, width, height, across) = match layout.arrangement {
        Arrangement::Blocks { block, across } => (false, block[0], block[1], across),
        Arrangement::Columns { width } => (true, width, 1, 1),
    };
    let number = |name: usize, value| (names[name], DeviceSetting::U32(value));
    vec![
        (names[0], DeviceSetting::Bool(in_columns)),
        number(1, width),
        number(2, height),
        number(3, across),
        number(4, layout.size[0]),
    ]
}

fn add_texture(
    out: &mut DeviceNode,
    bind: &VatPlaybackBind,
    texture: usize,
    [format, channels]: [&'static str; 2],
    texels: &'static str,
) {
    let spec = &bind.animation.manifest().textures[texture].spec;
    let code = match spec.format {
        TexelFormat::Unorm8 => 0,
        TexelFormat::Unorm16 => 1,
        TexelFormat::TwoUnorm8 => 2,
        TexelFormat::Half => 3,
        TexelFormat::Float => 4,
    };
    let count = index32(spec.ranges.len());
    out.settings.push((format, DeviceSetting::U32(code)));
    out.settings.push((channels, DeviceSetting::U32(count)));
    let texels = DeviceConstant {
        name: texels,
        ty: DeviceType::U32,
        bytes: words(bind.animation.texels(texture)),
    };
    out.constants.push(texels);
}

/// Whole words of four bytes; the last one is filled up with zeros.
fn words(bytes: &[u8]) -> Arc<[u8]> {
    let missing = bytes.len().next_multiple_of(4) - bytes.len();
    let zeros = std::iter::repeat_n(0, missing);
    bytes.iter().copied().chain(zeros).collect()
}
