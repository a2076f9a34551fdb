//! What graphics devices run: texels as words, and which frames to read.

use super::bind::VatPlaybackBind;
use crate::{DeviceConstant, DeviceNode, DevicePass, DeviceSetting, DeviceType};
use bytemuck::{Pod, Zeroable};
use sinew_vat::layout::Arrangement;
use sinew_vat::playback::FrameBlend;
use sinew_vat::texel::TexelFormat;
use std::sync::Arc;

const TEXELS: &str = include_str!("texels.wgsl");
const POSITIONS: &str = include_str!("positions.wgsl");
const NORMALS: &str = include_str!("normals.wgsl");

/// As in `texels.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Uniforms {
    frame: u32,
    next: u32,
    weight: f32,
    unused: u32,
    place_scale: [f32; 4],
    place_offset: [f32; 4],
    normal_scale: [f32; 4],
    normal_offset: [f32; 4],
}

pub(super) fn uniforms(bind: &VatPlaybackBind, at: FrameBlend) -> Uniforms {
    let (place_scale, place_offset) = ranges(bind, Some(bind.places));
    let (normal_scale, normal_offset) = ranges(bind, bind.normals);
    Uniforms {
        frame: at.frame,
        next: at.next,
        weight: at.weight,
        unused: 0,
        place_scale,
        place_offset,
        normal_scale,
        normal_offset,
    }
}

/// Scale and offset of the first three channels.
fn ranges(bind: &VatPlaybackBind, texture: Option<usize>) -> ([f32; 4], [f32; 4]) {
    let (mut scale, mut offset) = ([0.0; 4], [0.0; 4]);
    let textures = &bind.animation.manifest().textures;
    let ranges = texture.map_or(&[][..], |t| &textures[t].spec.ranges);
    for (c, range) in ranges.iter().enumerate().take(3) {
        (scale[c], offset[c]) = (range.scale, range.offset);
    }
    (scale, offset)
}

/// `None` for textures whose bytes 32 bits cannot count: kernels could not read them.
pub(super) fn node(bind: &VatPlaybackBind) -> Option<DeviceNode> {
    let textures = [Some(bind.places), bind.normals].into_iter().flatten();
    let mut sizes = textures.map(|t| bind.animation.texels(t).len());
    if sizes.any(|bytes| u32::try_from(bytes).is_err()) {
        return None;
    }
    let mut out = DeviceNode {
        shared: vec![TEXELS],
        uniform_bytes: size_of::<Uniforms>(),
        settings: layout_settings(bind),
        passes: vec![DevicePass::per_vertex("positions", POSITIONS)],
        ..DeviceNode::default()
    };
    let offsets = DeviceSetting::Bool(bind.has_offsets);
    out.settings.push(("HAS_OFFSETS", offsets));
    let names = ["PLACE_FORMAT", "PLACE_CHANNELS"];
    add_texture(&mut out, bind, bind.places, names, "place_texels");
    if let Some(normals) = bind.normals {
        let names = ["NORMAL_FORMAT", "NORMAL_CHANNELS"];
        add_texture(&mut out, bind, normals, names, "normal_texels");
        let pass = DevicePass::per_vertex("normals", NORMALS);
        out.passes.push(pass.only_when("wants_mesh_normals", true));
    }
    Some(out)
}

fn layout_settings(bind: &VatPlaybackBind) -> Vec<(&'static str, DeviceSetting)> {
    let layout = &bind.animation.manifest().layout;
    let (in_columns, width, height, across) = match layout.arrangement {
        Arrangement::Blocks { block, across } => (false, block[0], block[1], across),
        Arrangement::Columns { width } => (true, width, 1, 1),
    };
    let number = |name, value| (name, DeviceSetting::U32(value));
    vec![
        ("IN_COLUMNS", DeviceSetting::Bool(in_columns)),
        number("BLOCK_WIDTH", width),
        number("BLOCK_HEIGHT", height),
        number("BLOCKS_ACROSS", across),
        number("FRAMES", layout.frames),
        number("TEXTURE_WIDTH", layout.size[0]),
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
    let count = u32::try_from(spec.ranges.len()).unwrap_or(u32::MAX);
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
