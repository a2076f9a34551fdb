//! What runs on the GPU: each vertex adds up its own poses.
//!
//! Bytes moved a vertex: 24 for the position, 4 for its place among those that move; for those 8 for the place of their joints, 8 for each
//! joint (often those of a neighbour that sees the same), and for each pose 12, with normals and tangents 36.

use super::bind::PoseSpaceBind;
use super::blocks::Coefficients;
use crate::local_frame::ELEMENTARY_WGSL;
use crate::morph::MOVED_DIRECTION_WGSL;
use crate::pose_driver::Family;
use crate::pose_driver::Joints;
use crate::{
    DeviceArray, DeviceConstant, DeviceFrame, DeviceFrameData, DeviceNode, DevicePass,
    DeviceSetting, DeviceType, MASK_WEIGHT_WGSL, MaskWeight, UniformLayout,
};
use sinew_geom::index32;
use std::collections::HashMap;

crate::uniform_struct! {
    /// As in `kernel.wgsl`.
    struct Uniforms {
        rate: f32,
        weight: f32,
        mask_invert: u32,
        moves: u32,
    }
}

/// A node that hands its mesh on.
pub(super) fn unchanged() -> DeviceNode {
    let text = include_str!("device/unchanged.wgsl");
    DeviceNode {
        passes: vec![DevicePass::per_vertex("pose space", text)],
        ..DeviceNode::default()
    }
}

pub(super) fn node(bind: &PoseSpaceBind) -> DeviceNode {
    if bind.blocks.blocks.is_empty() {
        return unchanged();
    }
    let (slots, rows, seen) = lists(bind);
    let coefficients = |name, list| {
        let all = pose_after_pose(bind, list);
        DeviceConstant::new(name, DeviceType::Vec3F, &all)
    };
    let mut node = DeviceNode {
        shared: vec![MASK_WEIGHT_WGSL, ELEMENTARY_WGSL, MOVED_DIRECTION_WGSL],
        settings: vec![
            ("POSES", DeviceSetting::U32(index32(bind.pose_count))),
            ("SLOTS", DeviceSetting::U32(index32(rows.len()))),
        ],
        constants: vec![
            DeviceConstant::new("slots", DeviceType::U32, &slots),
            DeviceConstant::new("rows", DeviceType::Vec2U, &rows),
            DeviceConstant::new("seen", DeviceType::Vec2U, &seen),
            coefficients("coefficients", &bind.blocks.positions),
        ],
        uniforms: UniformLayout::of::<Uniforms>(),
        frame_arrays: vec![DeviceArray {
            name: "squares",
            ty: DeviceType::F32,
            len: bind.joint_count * bind.pose_count,
            lasting: false,
        }],
        passes: vec![DevicePass::per_vertex(
            "pose space",
            include_str!("device/kernel.wgsl"),
        )],
        ..DeviceNode::default()
    };
    node.shared.push(match bind.family {
        Family::Squared => include_str!("device/squared.wgsl"),
        Family::Exponential => include_str!("device/exponential.wgsl"),
        Family::Power(1) => include_str!("device/linear.wgsl"),
        Family::Power(3) => include_str!("device/cubic.wgsl"),
        Family::Power(_) => include_str!("device/quintic.wgsl"),
    });
    if bind.blocks.normals.is_empty() {
        node.shared.push(include_str!("device/no_normals.wgsl"));
    } else {
        node.shared.push(include_str!("device/normals.wgsl"));
        let constant = coefficients("normal_coefficients", &bind.blocks.normals);
        node.constants.push(constant);
    }
    if bind.blocks.tangents.is_empty() {
        node.shared.push(include_str!("device/no_tangents.wgsl"));
    } else {
        node.shared.push(include_str!("device/tangents.wgsl"));
        let constant = coefficients("tangent_coefficients", &bind.blocks.tangents);
        node.constants.push(constant);
    }
    node
}

/// For each vertex one more than its place among those that move, 0 for the others; for each of those where its joints begin and end;
/// joints with the bits of their weights. Vertices that see the same share joints.
fn lists(bind: &PoseSpaceBind) -> (Vec<u32>, Vec<[u32; 2]>, Vec<[u32; 2]>) {
    let mut slots = vec![0; bind.vertex_count];
    let (mut rows, mut seen) = (Vec::new(), Vec::new());
    let mut known: HashMap<Vec<[u32; 2]>, [u32; 2]> = HashMap::new();
    for (block, lane) in bind.blocks.places() {
        let row = bind.blocks.row(block, lane);
        let row: Vec<[u32; 2]> = row
            .map(|(joint, w)| [index32(joint), w.to_bits()])
            .collect();
        let place = *known.entry(row).or_insert_with_key(|row| {
            let begin = index32(seen.len());
            seen.extend_from_slice(row);
            [begin, index32(seen.len())]
        });
        rows.push(place);
        let vertex = bind.blocks.blocks[block].vertices[lane];
        slots[vertex as usize] = index32(rows.len());
    }
    (slots, rows, seen)
}

/// All vertices of the first pose, then all of the second: neighbours read neighbours.
fn pose_after_pose(bind: &PoseSpaceBind, list: &Coefficients) -> Vec<[f32; 3]> {
    let of_pose = |pose: usize| {
        let places = bind.blocks.places();
        places.map(move |(block, lane)| list[block * bind.pose_count + pose].map(|c| c[lane]))
    };
    (0..bind.pose_count).flat_map(of_pose).collect()
}

pub(super) fn write_frame(
    bind: &PoseSpaceBind,
    joints: &Joints,
    frame: &DeviceFrame<'_>,
    data: &mut DeviceFrameData<'_>,
) {
    let (weight, mask_invert) = MaskWeight::uniforms(&frame.parameters);
    let squares = data.array::<f32>(0);
    let values = frame.inputs.pose("pose").map(|pose| {
        let all = 0..joints.nodes.len();
        all.map(|joint| joints.value(pose, joint))
    });
    let moves = values.is_some_and(|values| bind.write_squares(values, squares));
    data.set_uniforms(&Uniforms {
        rate: bind.rate,
        weight,
        mask_invert,
        moves: u32::from(moves),
    });
}
