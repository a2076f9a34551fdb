//! The device side: normals of the driver where its surface is smooth, then every vertex by its bindings.

use super::WrapMode;
use super::bind::{Binding, WrapBind};
use crate::tangent_frames::UNIT_WGSL;
use crate::{
    DeviceArray, DeviceConstant, DeviceDomain, DeviceFrame, DeviceFrameData, DeviceNode,
    DevicePass, DeviceSetting, DeviceType, MaskWeight, UniformLayout,
};

crate::uniform_struct! {
    /// As in `uniforms.wgsl`.
    pub(super) struct Uniforms {
        weight: f32,
        mask_invert: u32,
        unused: [u32; 2],
    }
}

impl Uniforms {
    pub(super) fn write(frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        let (weight, mask_invert) = MaskWeight::uniforms(&frame.parameters);
        data.set_uniforms(&Self {
            weight,
            mask_invert,
            unused: [0; 2],
        });
    }
}

// Put together here rather than shared, so that a pass binds only what it reads.
const DRIVER_NORMALS: &str = concat!(
    include_str!("driver_surface.wgsl"),
    include_str!("../tangent_frames/no_factors.wgsl"),
    include_str!("../tangent_frames/corners.wgsl"),
    include_str!("driver_normals.wgsl"),
);
const WITH_FACE_NORMALS: &str = concat!(
    include_str!("../mask_weight.wgsl"),
    include_str!("face_normals.wgsl"),
    include_str!("kernel.wgsl"),
);
const WITH_SMOOTH_NORMALS: &str = concat!(
    include_str!("../mask_weight.wgsl"),
    include_str!("smooth_normals.wgsl"),
    include_str!("kernel.wgsl"),
);

/// Vectors of a binding.
const VECTORS: usize = 5;

impl WrapBind {
    pub(super) fn device_node(&self) -> Option<DeviceNode> {
        let (bindings, count) = self.device_bindings()?;
        let mode = self.config.mode;
        let mut node = DeviceNode {
            shared: vec![UNIT_WGSL, include_str!("uniforms.wgsl")],
            settings: vec![
                (
                    "rigid_frames",
                    DeviceSetting::Bool(mode == WrapMode::Triangle),
                ),
                (
                    "scaled_normals",
                    DeviceSetting::Bool(mode == WrapMode::Smooth),
                ),
                ("binding_count", DeviceSetting::U32(count)),
            ],
            constants: vec![DeviceConstant::new(
                "bindings",
                DeviceType::Vec4U,
                &bindings,
            )],
            uniforms: UniformLayout::of::<Uniforms>(),
            ..DeviceNode::default()
        };
        let text = if self.push_driver_normals(&mut node) {
            WITH_SMOOTH_NORMALS
        } else {
            WITH_FACE_NORMALS
        };
        node.passes
            .push(DevicePass::per_vertex("wrap", text).gathering());
        Some(node)
    }

    /// Whether there are any.
    fn push_driver_normals(&self, node: &mut DeviceNode) -> bool {
        let Some(normals) = &self.normals else {
            return false;
        };
        let len = normals.vertex_count();
        let corners = normals.device_corners(DeviceDomain::Elements(len));
        node.settings.extend(corners.settings);
        node.constants.push(corners.rest_normals);
        node.relations.push(corners.around);
        node.scratch.push(DeviceArray {
            name: "surface_normals",
            ty: DeviceType::Vec4F,
            len,
            lasting: false,
        });
        let pass = DevicePass::per_vertex("driver normals", DRIVER_NORMALS);
        node.passes.push(pass.over(DeviceDomain::Elements(len)));
        true
    }

    /// Bindings of all vertices, one kind of vector after another, and how many each vertex has at most. Vertices with
    /// fewer have some of no weight at the end. `None` where there are more than 32 bits can count.
    fn device_bindings(&self) -> Option<(Vec<[u32; 4]>, u32)> {
        let n = self.vertex_count();
        let most = (0..n).map(|v| self.bindings_of(v).len()).max();
        // One at least, as it holds the strength, too.
        let most = most.unwrap_or(0).max(1);
        u32::try_from(most.checked_mul(VECTORS * n)?).ok()?;
        let mut out = vec![[0; 4]; most * VECTORS * n];
        for v in 0..n {
            for (k, b) in self.bindings_of(v).iter().enumerate() {
                for (i, vector) in self.device_vectors(b).into_iter().enumerate() {
                    out[(k * VECTORS + i) * n + v] = vector;
                }
            }
            out[v][3] = self.strength[v].to_bits();
        }
        Some((out, u32::try_from(most).ok()?))
    }

    fn device_vectors(&self, b: &Binding) -> [[u32; 4]; VECTORS] {
        let with = |[x, y, z]: [f32; 3], w: f32| [x, y, z, w].map(f32::to_bits);
        let [i, j, k] = self.driver.triangles()[b.triangle as usize];
        let [x, y, z] = b.local_from_rest;
        [
            [i, j, k, 0],
            with(b.origin, b.weight),
            with(x, b.barycentric[0]),
            with(y, b.barycentric[1]),
            with(z, 0.0),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniforms_fill_whole_vectors() {
        assert_eq!(size_of::<Uniforms>() % 16, 0);
    }
}
