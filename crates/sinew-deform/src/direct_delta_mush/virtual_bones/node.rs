//! The bound node: what setup tells, what runs on both devices, what the cache holds.

use super::super::{CompressionSettings, Storage, device};
use super::{Parts, VirtualBonesBind, VirtualBonesJob, VirtualBonesScratch};
use crate::skin::add_blending;
use crate::{
    BindContext, BoundNode, DeviceArray, DeviceDomain, DeviceFrame, DeviceFrameData, DeviceNode,
    DevicePass, DeviceType, NodeError, NodeScratch, SetupNote, UpdateContext,
};

/// From bytes of the cache.
pub(in super::super) fn restore(
    bytes: &[u8],
    counts: (usize, usize),
    settings: CompressionSettings,
    storage: Storage,
) -> Result<VirtualBonesBind, NodeError> {
    let parts: Parts =
        postcard::from_bytes(bytes).map_err(|e| NodeError::Restore(e.to_string()))?;
    let bind = VirtualBonesBind::from_parts(parts, counts, settings, storage);
    bind.ok_or_else(|| {
        let (joints, vertices) = counts;
        NodeError::Restore(format!(
            "the saved virtual bones do not belong to a mesh of {vertices} vertices and a rig of {joints} joints, variant {} with at most {} bones",
            settings.variant.as_str(),
            settings.bones
        ))
    })
}

/// Two launches: motions of bones into `palette`, then linear skinning.
fn device_node(bind: &VirtualBonesBind) -> DeviceNode {
    let write = include_str!("../device/bone.wgsl");
    let (mut node, bones) = device::moving(&bind.bones, write);
    node.scratch.push(DeviceArray {
        name: "palette",
        ty: DeviceType::Vec4F,
        len: 3 * bind.bone_count(),
        lasting: false,
    });
    // Each pass has texts of its own, so that neither binds what the other reads.
    let of_bones = std::mem::take(&mut node.shared).join("\n");
    node.shared.push(device::VERTEX);
    add_blending(&mut node, &bind.skin);
    let of_vertices = std::mem::take(&mut node.shared).join("\n");
    node.written = vec![of_bones, of_vertices];
    node.shared.push(device::UNIFORMS);
    let follow = include_str!("../device/follow.wgsl");
    node.passes = vec![
        DevicePass {
            name: "virtual bones",
            ..bones
        }
        .over(DeviceDomain::Elements(bind.bone_count()))
        .scattering(),
        DevicePass::per_vertex("follow bones", follow).gathering(),
    ];
    node
}

impl BoundNode for VirtualBonesBind {
    fn setup_bytes(&self) -> usize {
        self.bytes()
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(VirtualBonesScratch::new(self))
    }
    fn scratch_bytes(&self) -> usize {
        VirtualBonesScratch::new(self).bytes()
    }
    fn note(&self) -> Option<SetupNote> {
        let (bones, error) = (self.bone_count(), self.error());
        let vertices = self.vertex_count().max(1) as f64;
        let bytes = self.bytes() as f64 / vertices;
        let full_bytes = self.full_bytes() as f64 / vertices;
        let text = format!(
            "{bones} virtual bones, at most {} per vertex: error {:.3} mm RMS and {:.3} mm maximum against the method without virtual bones, in random poses; \
             {bytes:.1} bytes per vertex, {full_bytes:.1} without virtual bones",
            self.influences_per_vertex(),
            error.rms * 1e3,
            error.max * 1e3
        );
        let values = vec![
            ("virtual_bones", bones as f64),
            ("rms_metres", error.rms),
            ("max_metres", error.max),
            ("bytes_per_vertex", bytes),
            ("bytes_per_vertex_without", full_bytes),
        ];
        Some(SetupNote { text, values })
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let (Some(pose), Some(scratch)) = (
            context.inputs.pose("pose"),
            context.scratch.downcast_mut::<VirtualBonesScratch>(),
        ) else {
            return;
        };
        VirtualBonesJob {
            bind: self,
            palette: &pose.palette,
            input: context.inputs.mesh("mesh"),
            output: context.outputs.mesh("mesh"),
            scratch,
            par: context.par,
        }
        .run();
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(device_node(self))
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        device::write_frame(&self.bones, frame, data);
    }
    fn save(&self) -> Option<Vec<u8>> {
        postcard::to_stdvec(&self.parts()).ok()
    }
}
