//! What the node runs on the GPU: one invocation per vertex; with virtual bones one per bone, then linear skinning.
//!
//! Vertices are stored in slices of 32, the width of a wave: the first pair of each vertex, then the second pair of each, and so on, one
//! part of the pairs after another, so that neighbouring invocations read neighbouring words. A slice is as long as its longest row;
//! missing pairs have weight zero. Bytes read per pair: 41 in variants v0 and v1 (up to 256 joints), 17 in v2 and v3, 5 in v4; quantised 24
//! and 12, including the joint. In addition: 16 bytes per vertex for the centre (quantised 24), and what skinning reads and writes of the
//! mesh.

use super::DirectDeltaMushScratch;
use super::PairMoments;
use super::bind::DirectDeltaMushBind;
use super::variant::{Reads, Storage, Variant};
use crate::{
    DeviceArray, DeviceConstant, DeviceFrame, DeviceFrameData, DeviceNode, DevicePass,
    DeviceSetting, DeviceType, PACKED_WGSL, UniformLayout,
};
use sinew_geom::{Real, index32};

/// Vertices in a slice.
const SLICE: usize = 32;
/// Quantised pairs have 24 bits for their joint.
const MOST_JOINTS: usize = 1 << 24;
/// Parts of a quantised weight.
const WEIGHT_PARTS: f64 = ((1_u32 << 24) - 1) as f64;

/// What the texts read of a frame.
/// `turn_of`: the rotation of a quaternion.
pub(crate) const TURN_WGSL: &str = include_str!("device/turn.wgsl");
/// `nearest_rotation`, which calls `turn_of`.
pub(crate) const ROTATION_WGSL: &str = include_str!("device/rotation.wgsl");

pub(super) const UNIFORMS: &str = include_str!("device/uniforms.wgsl");
/// Reads and writes vertices.
pub(super) const VERTEX: &str = include_str!("../skin/device/vertex.wgsl");

crate::uniform_struct! {
    /// As in `uniforms.wgsl`.
    struct Uniforms {
        origin: [f32; 3],
        stretched: u32,
        reference: [f32; 3],
        pull: f32,
    }
}

const fn vec4s(name: &'static str, len: usize) -> DeviceArray {
    DeviceArray {
        name,
        ty: DeviceType::Vec4F,
        len,
        lasting: false,
    }
}

/// Rows of pairs by slices.
struct Slices {
    /// Where each slice begins, in rows of 32 pairs; one more at the end.
    offsets: Vec<u32>,
    /// 32 pairs a row, in the order of vertices.
    pairs: Vec<(u32, PairMoments)>,
}

impl Slices {
    fn new(bind: &DirectDeltaMushBind) -> Self {
        let mut this = Self {
            offsets: vec![0],
            pairs: Vec::new(),
        };
        let count = bind.vertex_count();
        for first in (0..count).step_by(SLICE) {
            let rows: Vec<_> = (first..(first + SLICE).min(count))
                .map(|v| bind.blocks().row(v))
                .collect();
            let width = rows.iter().map(Vec::len).max().unwrap_or(0);
            for k in 0..width {
                for lane in 0..SLICE {
                    let row = rows.get(lane).map_or(&[][..], Vec::as_slice);
                    let none = (row.first().map_or(0, |p| p.0), PairMoments::default());
                    this.pairs.push(row.get(k).copied().unwrap_or(none));
                }
            }
            this.offsets.push(index32(this.pairs.len() / SLICE));
        }
        this
    }

    /// Elements of each pair, `PARTS` of them, part after part within a row of 32.
    fn parts<T: Copy, const PARTS: usize>(
        &self,
        of: impl Fn(u32, &PairMoments) -> [T; PARTS],
    ) -> Vec<T> {
        let mut out = Vec::with_capacity(self.pairs.len() * PARTS);
        for row in self.pairs.chunks(SLICE) {
            let all: Vec<[T; PARTS]> = row.iter().map(|(j, p)| of(*j, p)).collect();
            for part in 0..PARTS {
                out.extend(all.iter().map(|parts| parts[part]));
            }
        }
        out
    }
}

pub(super) fn node(bind: &DirectDeltaMushBind) -> DeviceNode {
    let (mut node, pass) = moving(bind, include_str!("device/moved.wgsl"));
    node.shared.extend([UNIFORMS, VERTEX]);
    node.passes.push(pass);
    node
}

/// All but the passes, [`UNIFORMS`] and [`VERTEX`], and the pass that makes the motion of each vertex. What becomes of a motion says the
/// text `write`.
pub(super) fn moving(bind: &DirectDeltaMushBind, write: &'static str) -> (DeviceNode, DevicePass) {
    let joints = bind.joint_count();
    let slices = Slices::new(bind);
    let mut node = DeviceNode {
        shared: vec![include_str!("device/rows.wgsl"), TURN_WGSL, write],
        uniforms: UniformLayout::of::<Uniforms>(),
        frame_arrays: vec![vec4s("matrices", 3 * joints), vec4s("parts", 7 * joints)],
        ..DeviceNode::default()
    };
    node.constants.push(DeviceConstant::new(
        "slices",
        DeviceType::U32,
        &slices.offsets,
    ));
    node.constants.push(centers(bind));
    add_pairs(&mut node, bind, &slices);
    let (name, text) = match bind.variant() {
        Variant::V0 | Variant::V1 => {
            node.shared.push(ROTATION_WGSL);
            ("moments", include_str!("device/moments.wgsl"))
        }
        Variant::V2 | Variant::V4 => ("quaternions", include_str!("device/quaternions.wgsl")),
        Variant::V3 => ("matrices", include_str!("device/matrices.wgsl")),
    };
    let reads = bind.variant().reads();
    node.settings.extend([
        (
            "COFACTOR",
            DeviceSetting::Bool(bind.variant() == Variant::V1),
        ),
        ("HAS_FIRST", DeviceSetting::Bool(reads != Reads::Weight)),
    ]);
    (node, DevicePass::per_vertex(name, text))
}

/// Centre of each vertex, and one over the trace of its second moments.
fn centers(bind: &DirectDeltaMushBind) -> DeviceConstant {
    let of_vertex = |v: usize| -> [f32; 4] {
        let lanes = bind.blocks().block(v / super::blocks::LANES).center;
        std::array::from_fn(|c| lanes[c][v % super::blocks::LANES])
    };
    let all: Vec<[f32; 4]> = (0..bind.vertex_count()).map(of_vertex).collect();
    DeviceConstant::new("centers", DeviceType::Vec4F, &all)
}

/// Adds the pairs and the text that reads them.
fn add_pairs(node: &mut DeviceNode, bind: &DirectDeltaMushBind, slices: &Slices) {
    let reads = bind.variant().reads();
    let quantized = bind.blocks().storage == Storage::Quantized;
    if quantized && bind.joint_count() <= MOST_JOINTS {
        add_quantized(node, bind, slices);
        return;
    }
    let scaled = |s: &Slices| -> Slices {
        // Too many joints for quantised pairs: the same numbers, written out.
        let mut pairs = s.pairs.clone();
        for (slice, window) in s.offsets.windows(2).enumerate() {
            for row in window[0] as usize..window[1] as usize {
                for lane in 0..SLICE {
                    let v = (slice * SLICE + lane).min(bind.vertex_count() - 1);
                    let [second, first] = bind.blocks().scales(v);
                    let pair = &mut pairs[row * SLICE + lane].1;
                    pair.second = pair.second.map(|x| x * second);
                    pair.first = pair.first.map(|x| x * first);
                }
            }
        }
        Slices {
            offsets: s.offsets.clone(),
            pairs,
        }
    };
    let written;
    let slices = if quantized {
        written = scaled(slices);
        &written
    } else {
        slices
    };
    let per_word = DeviceConstant::per_word(bind.joint_count().saturating_sub(1));
    let joints: Vec<u32> = slices.pairs.iter().map(|p| p.0).collect();
    node.constants
        .push(DeviceConstant::packed("pair_joints", &joints, per_word));
    node.settings
        .push(("PAIR_JOINTS_PER_WORD", DeviceSetting::U32(per_word)));
    node.shared.push(PACKED_WGSL);
    let (ty, bytes, text): (_, Vec<f32>, _) = match reads {
        Reads::Moments => {
            let parts = slices.parts::<[f32; 2], 5>(|_, p| {
                let [xx, xy, xz, yy, yz, zz] = p.second;
                let [x, y, z] = p.first;
                [[xx, xy], [xz, yy], [yz, zz], [x, y], [z, p.weight]]
            });
            (
                DeviceType::Vec2F,
                parts.into_iter().flatten().collect(),
                include_str!("device/pairs_full.wgsl"),
            )
        }
        Reads::First => {
            let parts = slices.parts::<[f32; 4], 1>(|_, p| {
                let [x, y, z] = p.first;
                [[x, y, z, p.weight]]
            });
            (
                DeviceType::Vec4F,
                parts.into_iter().flatten().collect(),
                include_str!("device/pairs_first.wgsl"),
            )
        }
        Reads::Weight => (
            DeviceType::F32,
            slices.parts::<f32, 1>(|_, p| [p.weight]),
            include_str!("device/pairs_weight.wgsl"),
        ),
    };
    node.constants
        .push(DeviceConstant::new("pairs", ty, &bytes));
    node.shared.push(text);
}

fn add_quantized(node: &mut DeviceNode, bind: &DirectDeltaMushBind, slices: &Slices) {
    let (words, text) = match bind.variant().reads() {
        Reads::Moments => (
            slices.parts::<u32, 6>(|joint, p| {
                let s = p.second.map(half);
                let f = p.first.map(half);
                let weight = weight_parts(p.weight);
                [
                    s[0] | s[1] << 16,
                    s[2] | s[3] << 16,
                    s[4] | s[5] << 16,
                    f[0] | f[1] << 16,
                    f[2] | weight >> 8 << 16,
                    joint | weight << 24,
                ]
            }),
            include_str!("device/pairs_quantized.wgsl"),
        ),
        _ => (
            slices.parts::<u32, 3>(|joint, p| {
                let f = p.first.map(half);
                let weight = weight_parts(p.weight);
                [
                    f[0] | f[1] << 16,
                    f[2] | weight >> 8 << 16,
                    joint | weight << 24,
                ]
            }),
            include_str!("device/pairs_quantized_first.wgsl"),
        ),
    };
    let scales: Vec<[f32; 2]> = (0..bind.vertex_count())
        .map(|v| bind.blocks().scales(v))
        .collect();
    node.constants.extend([
        DeviceConstant::new("pairs", DeviceType::U32, &words),
        DeviceConstant::new("scales", DeviceType::Vec2F, &scales),
    ]);
    node.shared
        .extend([include_str!("device/halves.wgsl"), text]);
}

/// A whole number of 16 bits.
fn half(x: f32) -> u32 {
    x as i32 as u32 & 0xffff
}

fn weight_parts(weight: f32) -> u32 {
    (f64::from(weight).clamp(0.0, 1.0) * WEIGHT_PARTS).round() as u32
}

pub(super) fn write_frame(
    bind: &DirectDeltaMushBind,
    frame: &DeviceFrame<'_>,
    data: &mut DeviceFrameData<'_>,
) {
    let Some(pose) = frame.inputs.pose("pose") else {
        return;
    };
    let origin = bind.origin();
    let reference = super::reference_of(&pose.palette, origin, bind.shares());
    let mut any = false;
    for (j, matrix) in pose.palette.iter().enumerate() {
        let (joint, is_stretched) = super::joint_frame(matrix, origin, reference);
        any |= is_stretched;
        let packed = DirectDeltaMushScratch::pack(&joint);
        if let Some(out) = data.array::<[[f32; 4]; 3]>(0).get_mut(j) {
            *out = packed.matrix.rows;
        }
        if let Some(out) = data.array::<[[f32; 4]; 7]>(1).get_mut(j) {
            let [a, b, c] = packed.turn.rows;
            let [d, e, f] = packed.stretch.rows;
            *out = [packed.rotation, a, b, c, d, e, f];
        }
    }
    data.set_uniforms(&Uniforms {
        origin: f64::array3(origin),
        stretched: u32::from(any),
        reference: f64::array3(reference),
        pull: bind.variant().pull().to_single(),
    });
}
