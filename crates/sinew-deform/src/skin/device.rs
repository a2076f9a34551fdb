//! What skinning runs on the GPU.
//!
//! Setup chooses the kernel: the method, the largest number of joints of a vertex, whether any vertex has more than four, and the bits of a
//! joint index. Bytes moved per vertex, up to 256 joints and four influences:
//!
//! | | position | with normal | with tangent |
//! |---|---|---|---|
//! | joints | 4 | 4 | 4 |
//! | weights | 8 | 8 | 8 |
//! | rest mesh | 12 | 24 | 40 |
//! | written | 12 | 24 | 40 |
//! | together | 36 | 60 | 92 |
//!
//! All characters of a crowd share joints, weights and rest mesh, which then stay in the cache: only the 12 (24, 40) written bytes go to
//! memory. 257 to 65 536 joints cost 4 bytes more. If every vertex follows one joint, 1 or 2 bytes replace the 12 bytes of joints and
//! weights. A vertex with more than four joints reads two offsets, 8 bytes, and 8 bytes for each joint from the fifth on and for one entry
//! more, which takes their weight from the strongest joint. Matrices (48 bytes per joint and influence) come from the cache.
//!
//! Weights in 16 bits each would be up to 7.6e-6 off, and move vertices by that share of the distance between the positions that their
//! joints give them. Since a row sums to 1 and falls, three weights of 22, 21 and 20 bits in steps of 2^-22 take the same 8 bytes, and each
//! is at most 1.2e-7 off (a fourth weight of exactly 1/4: 2.4e-7).

use super::SkinBind;
use super::bind::SkinMethod;
use super::joint::split_joint;
use super::simd::{PackedMotion, pack_motion, pack_products};
use crate::{
    DeviceArray, DeviceConstant, DeviceFrame, DeviceFrameData, DeviceNode, DevicePass,
    DeviceSetting, DeviceType, PACKED_WGSL, UniformLayout,
};
use sinew_geom::PackedAffine;

/// Joints that stand in the row of a vertex; the rest goes into the tail.
const IN_ROW: usize = 4;
/// Parts of a weight.
const ONE: f64 = (1_u32 << 22) as f64;

crate::uniform_struct! {
    /// As in `motions.wgsl`.
    pub(super) struct Uniforms {
        stretched: u32,
        blend: f32,
        unused: [f32; 2],
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

pub(super) fn node(bind: &SkinBind) -> DeviceNode {
    let joints = bind.joint_count();
    let most = (0..bind.vertex_count())
        .map(|v| bind.row(v).0.len())
        .max()
        .unwrap_or(1);
    let mut node = DeviceNode {
        shared: vec![include_str!("device/vertex.wgsl")],
        ..DeviceNode::default()
    };
    add_rows(&mut node, bind, most);
    let blend_palette = include_str!("device/blend_palette.wgsl");
    let dual = [
        include_str!("device/motions.wgsl"),
        include_str!("device/products.wgsl"),
    ];
    let palette = vec4s("palette", 3 * joints);
    let split = [vec4s("motions", 2 * joints), vec4s("products", 4 * joints)];
    let pass = match bind.method() {
        SkinMethod::Rigid | SkinMethod::Linear => {
            node.shared.push(blend_palette);
            node.frame_arrays.push(palette);
            DevicePass::per_vertex("linear", include_str!("device/linear.wgsl"))
        }
        SkinMethod::DualQuaternion => {
            node.shared.extend(dual);
            node.frame_arrays.extend(split);
            DevicePass::per_vertex(
                "dual_quaternion",
                include_str!("device/dual_quaternion.wgsl"),
            )
        }
        SkinMethod::Blended => {
            node.shared.push(blend_palette);
            node.shared.extend(dual);
            node.frame_arrays.extend(split);
            node.frame_arrays.push(palette);
            DevicePass::per_vertex("blended", include_str!("device/blended.wgsl"))
        }
    };
    if bind.method().uses_dual_quaternions() {
        node.uniforms = UniformLayout::of::<Uniforms>();
    }
    node.passes.push(pass);
    node
}

/// Adds what a kernel needs for `blend_palette(row_of(index))`, but for the array `palette`: three rows of each joint's matrix.
pub(crate) fn add_blending(node: &mut DeviceNode, bind: &SkinBind) {
    let rows = (0..bind.vertex_count()).map(|v| bind.row(v).0.len());
    add_rows(node, bind, rows.max().unwrap_or(1));
    node.shared.push(include_str!("device/blend_palette.wgsl"));
}

/// Adds joints and weights, and the texts that read them.
fn add_rows(node: &mut DeviceNode, bind: &SkinBind, most: usize) {
    let per_word = DeviceConstant::per_word(bind.joint_count().saturating_sub(1));
    let settings = [
        ("INFLUENCES", whole(most.clamp(1, IN_ROW))),
        ("JOINTS_PER_WORD", per_word),
    ];
    node.settings
        .extend(settings.map(|(name, n)| (name, DeviceSetting::U32(n))));
    node.shared.push(include_str!("device/row.wgsl"));
    let count = bind.vertex_count();
    if most <= 1 {
        let joints: Vec<u32> = (0..count).map(|v| bind.row(v).0[0]).collect();
        node.constants
            .push(DeviceConstant::packed("joints", &joints, per_word));
        if !node.shared.contains(&PACKED_WGSL) {
            node.shared.push(PACKED_WGSL);
        }
        node.shared.extend([
            include_str!("device/no_tail.wgsl"),
            include_str!("device/row_one.wgsl"),
        ]);
        return;
    }
    let first_four = |v| {
        let (joints, _) = bind.row(v);
        std::array::from_fn::<u32, IN_ROW, _>(|k| joints.get(k).copied().unwrap_or(joints[0]))
    };
    let joints: Vec<u32> = (0..count).flat_map(first_four).collect();
    let (ty, text) = match per_word {
        4 => (DeviceType::U32, include_str!("device/joints_8.wgsl")),
        2 => (DeviceType::Vec2U, include_str!("device/joints_16.wgsl")),
        _ => (DeviceType::Vec4U, include_str!("device/joints_32.wgsl")),
    };
    node.constants.push(DeviceConstant {
        ty,
        ..DeviceConstant::packed("joints", &joints, per_word)
    });
    let weights: Vec<[u32; 2]> = (0..count).map(|v| pack_weights(bind.row(v).1)).collect();
    node.constants
        .push(DeviceConstant::new("weights", DeviceType::Vec2U, &weights));
    node.shared
        .extend([text, include_str!("device/row_four.wgsl")]);
    if most > IN_ROW {
        node.shared.push(include_str!("device/tail.wgsl"));
        node.constants.extend(tail(bind));
    } else {
        node.shared.push(include_str!("device/no_tail.wgsl"));
    }
}

/// Influences are counted in 32 bits.
fn whole(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Second to fourth weight, and whether there are more, as `row_four.wgsl` reads them.
fn pack_weights(weights: &[f32]) -> [u32; 2] {
    let parts = |k: usize, bits: u32| {
        let w = weights.get(k).map_or(0.0, |&w| f64::from(w));
        let largest = f64::from((1_u32 << bits) - 1);
        (w * ONE).round().clamp(0.0, largest) as u32
    };
    let (a, b, c) = (parts(1, 22), parts(2, 21), parts(3, 20));
    let more = u32::from(weights.len() > IN_ROW);
    [a | b << 22, b >> 10 | c << 11 | more << 31]
}

/// Where each vertex's further joints begin, and those: joint and bits of the weight. The first entry of a list takes
/// from the first joint what the others get, since the weights of the row sum to one by themselves.
fn tail(bind: &SkinBind) -> [DeviceConstant; 2] {
    let mut offsets = vec![0_u32];
    let mut entries: Vec<[u32; 2]> = Vec::new();
    for v in 0..bind.vertex_count() {
        let (joints, weights) = bind.row(v);
        if joints.len() > IN_ROW {
            let sum: f64 = weights[IN_ROW..].iter().map(|&w| f64::from(w)).sum();
            entries.push([joints[0], super::single(-sum).to_bits()]);
            let further = joints.iter().zip(weights).skip(IN_ROW);
            entries.extend(further.map(|(&joint, w)| [joint, w.to_bits()]));
        }
        offsets.push(whole(entries.len()));
    }
    [
        DeviceConstant::new("tail_offsets", DeviceType::U32, &offsets),
        DeviceConstant::new("tail", DeviceType::Vec2U, &entries),
    ]
}

pub(super) fn write_frame(
    bind: &SkinBind,
    frame: &DeviceFrame<'_>,
    data: &mut DeviceFrameData<'_>,
) {
    let Some(pose) = frame.inputs.pose("pose") else {
        return;
    };
    let dual = bind.method().uses_dual_quaternions();
    if dual {
        let stretched = u32::from(write_motions(bind, &pose.palette, data));
        data.set_uniforms(&Uniforms {
            stretched,
            blend: super::single(frame.parameters.float("dual_quaternion_blend")),
            unused: [0.0; 2],
        });
    }
    if bind.method() != SkinMethod::DualQuaternion {
        let out = data.array::<PackedAffine>(if dual { 2 } else { 0 });
        for (out, matrix) in out.iter_mut().zip(&pose.palette) {
            *out = *matrix;
        }
    }
}

/// Splits the palette; whether any joint is stretched.
fn write_motions(
    bind: &SkinBind,
    palette: &[PackedAffine],
    data: &mut DeviceFrameData<'_>,
) -> bool {
    let mut any = false;
    for (j, (matrix, &origin)) in palette.iter().zip(&bind.origins).enumerate() {
        let split = split_joint::<f64>(&matrix.unpack::<f64>(), origin);
        any |= split.is_stretched;
        if let Some(out) = data.array::<PackedMotion>(0).get_mut(j) {
            *out = pack_motion(&split);
        }
        if let Some(out) = data.array::<[[f32; 4]; 4]>(1).get_mut(j) {
            let [_, products @ ..] = pack_products(&split);
            *out = products;
        }
    }
    any
}

#[cfg(test)]
mod tests {
    use super::super::tests::cloud_of;
    use super::*;

    fn constant<'a, T: bytemuck::Pod>(node: &'a DeviceNode, name: &str) -> &'a [T] {
        let found = node.constants.iter().find(|c| c.name == name);
        found.map_or(&[], |c| bytemuck::cast_slice(&c.bytes))
    }

    /// Sum of weights for each joint, as the texts read them.
    fn row(node: &DeviceNode, v: usize, joint_bits: usize, joints: usize) -> Vec<f64> {
        let mut sum = vec![0.0; joints];
        let packed: &[u8] = constant(node, "joints");
        let bytes = joint_bits / 8;
        let joint = |k: usize| {
            let mut word = [0; 4];
            word[..bytes].copy_from_slice(&packed[k * bytes..(k + 1) * bytes]);
            u32::from_le_bytes(word) as usize
        };
        let weights: &[[u32; 2]] = constant(node, "weights");
        let Some(&[low, high]) = weights.get(v) else {
            sum[joint(v)] = 1.0;
            return sum;
        };
        let bits = u64::from(low) | u64::from(high) << 32;
        let parts = [
            bits & 0x3f_ffff,
            bits >> 22 & 0x1f_ffff,
            bits >> 43 & 0xf_ffff,
        ];
        sum[joint(4 * v)] += 1.0 - parts.iter().sum::<u64>() as f64 / ONE;
        for (k, part) in parts.into_iter().enumerate() {
            sum[joint(4 * v + 1 + k)] += part as f64 / ONE;
        }
        if bits >> 63 != 0 {
            let offsets: &[u32] = constant(node, "tail_offsets");
            let tail: &[[u32; 2]] = constant(node, "tail");
            for [joint, weight] in &tail[offsets[v] as usize..offsets[v + 1] as usize] {
                sum[*joint as usize] += f64::from(f32::from_bits(*weight));
            }
        }
        sum
    }

    #[test]
    fn packed_rows_hold_every_weight() {
        for (joints, joint_bits) in [(9, 8), (300, 16), (70_000, 32)] {
            for most in [1, 2, 4, 9] {
                let (mesh, rig, _) = cloud_of(joints, 45, most, false);
                let bind = SkinBind::new(&mesh, &rig, SkinMethod::Linear).expect("binds");
                let node = node(&bind);
                for v in 0..45 {
                    let mut sum = row(&node, v, joint_bits, joints);
                    let (row_joints, weights) = bind.row(v);
                    for (&joint, &w) in row_joints.iter().zip(weights) {
                        sum[joint as usize] -= f64::from(w);
                    }
                    let worst = sum.iter().fold(0.0_f64, |a, e| a.max(e.abs()));
                    assert!(
                        worst < 5e-7,
                        "{joints} joints, {most}, vertex {v}: {worst:e}"
                    );
                }
            }
        }
    }

    #[test]
    fn equal_weights_are_packed_exactly_enough() {
        for n in 1..=4_u8 {
            let weights = vec![1.0 / f32::from(n); usize::from(n)];
            let [low, high] = pack_weights(&weights);
            let bits = u64::from(low) | u64::from(high) << 32;
            let second = (bits & 0x3f_ffff) as f64 / ONE;
            let expected = if n > 1 { 1.0 / f64::from(n) } else { 0.0 };
            assert!((second - expected).abs() < 1.3e-7, "{n}: {second}");
            assert_eq!(bits >> 63, 0, "no tail");
        }
    }

    #[test]
    fn rigid_rows_take_a_byte_a_vertex() {
        let (mesh, rig, _) = cloud_of(9, 45, 4, false);
        let bind = SkinBind::new(&mesh, &rig, SkinMethod::Rigid).expect("binds");
        let node = node(&bind);
        let bytes: usize = node.constants.iter().map(|c| c.bytes.len()).sum();
        assert_eq!(bytes, 48, "one byte each, whole words");
        assert_eq!(node.uniforms.bytes, 0);
    }
}
