//! The device side: normals of the driver where its surface is smooth, then every vertex by its bindings. In modes with points one pass
//! sums up their displacements.

use super::WrapMode;
use super::bind::{Binding, WrapBind};
use super::points::PointBind;
use crate::direct_delta_mush::{ROTATION_WGSL, TURN_WGSL};
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
    include_str!("directions.wgsl"),
    include_str!("kernel.wgsl"),
);
const WITH_SMOOTH_NORMALS: &str = concat!(
    include_str!("../mask_weight.wgsl"),
    include_str!("smooth_normals.wgsl"),
    include_str!("directions.wgsl"),
    include_str!("kernel.wgsl"),
);
const WITH_POINTS: &str = concat!(
    include_str!("../mask_weight.wgsl"),
    include_str!("directions.wgsl"),
    include_str!("points.wgsl"),
);

/// Vectors of a binding.
const VECTORS: usize = 5;

impl WrapBind {
    pub(super) fn device_node(&self) -> Option<DeviceNode> {
        if let Some(points) = &self.points {
            return self.device_points(points);
        }
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

    /// `None` where there are more weights than 32 bits can count.
    fn device_points(&self, points: &PointBind) -> Option<DeviceNode> {
        let n = self.vertex_count();
        u32::try_from(points.count.checked_mul(n)?).ok()?;
        let mut weights = vec![0.0; points.count * n];
        let mut gradients = vec![[0.0; 3]; points.count * n];
        let mut vertices = points.points.clone();
        for v in 0..n {
            for (k, (w, g)) in points.shares_of(v).enumerate() {
                (weights[k * n + v], gradients[k * n + v]) = (w, g);
            }
            if !points.is_dense() {
                for (k, point) in points.points_of(v).iter().enumerate() {
                    vertices[k * n + v] = *point;
                }
            }
        }
        let origins = points.origins.iter().zip(&self.strength);
        let origins: Vec<[f32; 4]> = origins.map(|([x, y, z], w)| [*x, *y, *z, *w]).collect();
        let mut node = DeviceNode {
            shared: vec![UNIT_WGSL, include_str!("uniforms.wgsl")],
            settings: vec![("point_count", DeviceSetting::U32(points.count as u32))],
            constants: vec![
                DeviceConstant::new("points", DeviceType::U32, &vertices),
                DeviceConstant::new("weights", DeviceType::F32, &weights),
                DeviceConstant::new("gradients", DeviceType::Vec3F, &gradients),
                DeviceConstant::new("origins", DeviceType::Vec4F, &origins),
                DeviceConstant::new("driver_rest", DeviceType::Vec3F, &points.rest),
            ],
            uniforms: UniformLayout::of::<Uniforms>(),
            ..DeviceNode::default()
        };
        if points.is_dense() {
            node.shared.push(include_str!("all_points.wgsl"));
        } else {
            let moments = points.moments.iter();
            let moments: Vec<[f32; 4]> = moments
                .flat_map(|&[xx, xy, xz, yy, yz, zz]| [[xx, yy, zz, 0.0], [xy, xz, yz, 0.0]])
                .collect();
            let moments = DeviceConstant::new("moments", DeviceType::Vec4F, &moments);
            node.constants.push(moments);
            let text = include_str!("nearest_points.wgsl");
            node.shared.extend([TURN_WGSL, ROTATION_WGSL, text]);
        }
        let pass = DevicePass::per_vertex("wrap", WITH_POINTS);
        node.passes.push(pass.gathering());
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
