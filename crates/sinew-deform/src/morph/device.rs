//! What morphing runs on the GPU: each vertex gathers its own deltas, so that no two write to one place.
//!
//! Bytes moved a vertex: 24 for the position, 4 for the place of its list, then for each delta in the list 1 for the target
//! (2 from 257 targets on), and 12 where the target has weight (36 with normals and tangents). Deltas that are zero are
//! left out in setup.

use super::bind::{Delta, MorphBind};
use super::{BoundMorph, WeightSource};
use crate::{
    DeviceArray, DeviceConstant, DeviceFrame, DeviceFrameData, DeviceNode, DevicePass,
    DeviceSetting, DeviceType, PACKED_WGSL, UniformLayout,
};
use sinew_geom::index32;

/// `moved_direction`: as [`super::reference::add_directions`] ends.
pub(crate) const MOVED_DIRECTION_WGSL: &str = include_str!("device/moved_direction.wgsl");

crate::uniform_struct! {
    /// As in `kernel.wgsl`.
    pub(super) struct Uniforms {
        scale: f32,
        unused: [f32; 3],
    }
}

fn is_zero(delta: [f32; 3]) -> bool {
    delta == [0.0; 3]
}

/// Where the list of each vertex begins, and all lists: what is not zero.
fn lists(bind: &MorphBind) -> (Vec<u32>, Vec<Delta>) {
    let mut offsets = vec![0_u32];
    let mut deltas = Vec::with_capacity(bind.deltas.len());
    for v in 0..bind.offsets.len().saturating_sub(1) {
        let moves = |d: &&Delta| {
            [d.position, d.normal, d.tangent]
                .iter()
                .any(|d| !is_zero(*d))
        };
        deltas.extend(bind.row(v).iter().filter(moves));
        offsets.push(index32(deltas.len()));
    }
    (offsets, deltas)
}

pub(super) fn node(bound: &BoundMorph) -> DeviceNode {
    let bind = &bound.bind;
    let (offsets, deltas) = lists(bind);
    let targets: Vec<u32> = deltas.iter().map(|d| d.target).collect();
    let per_word = DeviceConstant::per_word(bind.target_count.saturating_sub(1));
    let vec3s = |name, pick: fn(&Delta) -> [f32; 3]| {
        let all: Vec<[f32; 3]> = deltas.iter().map(pick).collect();
        DeviceConstant::new(name, DeviceType::Vec3F, &all)
    };
    let mut node = DeviceNode {
        shared: vec![PACKED_WGSL, MOVED_DIRECTION_WGSL],
        settings: vec![("TARGETS_PER_WORD", DeviceSetting::U32(per_word))],
        constants: vec![
            DeviceConstant::new("offsets", DeviceType::U32, &offsets),
            DeviceConstant::packed("targets", &targets, per_word),
            vec3s("position_deltas", |d| d.position),
        ],
        uniforms: UniformLayout::of::<Uniforms>(),
        ..DeviceNode::default()
    };
    if deltas.iter().all(|d| is_zero(d.normal)) {
        node.shared.push(include_str!("device/no_normals.wgsl"));
    } else {
        node.shared.push(include_str!("device/normals.wgsl"));
        node.constants.push(vec3s("normal_deltas", |d| d.normal));
    }
    if deltas.iter().all(|d| is_zero(d.tangent)) {
        node.shared.push(include_str!("device/no_tangents.wgsl"));
    } else {
        node.shared.push(include_str!("device/tangents.wgsl"));
        node.constants.push(vec3s("tangent_deltas", |d| d.tangent));
    }
    let pass = DevicePass::per_vertex("morph", include_str!("device/kernel.wgsl"));
    match &bound.source {
        WeightSource::Values => {
            let text = include_str!("device/weights_from_values.wgsl");
            node.shared.push(text);
            node.passes.push(pass.gathering());
        }
        WeightSource::Pose(_) => {
            node.shared
                .push(include_str!("device/weights_from_pose.wgsl"));
            node.frame_arrays.push(DeviceArray {
                name: "pose_weights",
                ty: DeviceType::F32,
                len: bind.target_count,
                lasting: false,
            });
            node.passes.push(pass);
        }
    }
    node
}

pub(super) fn write_frame(
    bound: &BoundMorph,
    frame: &DeviceFrame<'_>,
    data: &mut DeviceFrameData<'_>,
) {
    data.set_uniforms(&Uniforms {
        scale: frame.parameters.single("scale"),
        unused: [0.0; 3],
    });
    let WeightSource::Pose(indices) = &bound.source else {
        return;
    };
    let pose = frame.inputs.pose("pose");
    for (out, &i) in data.array::<f32>(0).iter_mut().zip(indices) {
        *out = pose
            .and_then(|p| p.morph_weights.get(i))
            .copied()
            .unwrap_or(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_deltas_are_left_out() {
        let delta = |target, x| Delta {
            target,
            position: [x, 0.0, 0.0],
            normal: [0.0; 3],
            tangent: [0.0; 3],
        };
        let bind = MorphBind {
            offsets: vec![0, 2, 2, 4],
            deltas: vec![delta(0, 1.0), delta(1, 0.0), delta(0, 0.0), delta(1, 2.0)],
            target_count: 2,
        };
        let (offsets, deltas) = lists(&bind);
        assert_eq!(offsets, [0, 1, 1, 2]);
        let kept: Vec<u32> = deltas.iter().map(|d| d.target).collect();
        assert_eq!(kept, [0, 1]);
        let bound = BoundMorph {
            bind,
            source: WeightSource::Pose(vec![0, 1]),
        };
        let node = node(&bound);
        let names: Vec<&str> = node.constants.iter().map(|c| c.name).collect();
        assert_eq!(names, ["offsets", "targets", "position_deltas"]);
    }
}
