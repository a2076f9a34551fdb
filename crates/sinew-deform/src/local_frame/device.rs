//! The deformers along an axis on a device: one kernel, in which each deformer puts its map.

use super::{Frame, LocalDeformer, Placement, RegionAt};
use crate::{
    DeviceArray, DeviceDomain, DeviceFrame, DeviceFrameData, DeviceNode, DevicePass, DeviceSetting,
    DeviceType, Line, MASK_WEIGHT_WGSL, MaskWeight, UniformKind, UniformLayout,
};
use bytemuck::{NoUninit, Zeroable};

/// `sine_cosine`, `exponential`, `angle_above`, as [`super::LaneReal`] has them.
pub(crate) const ELEMENTARY_WGSL: &str = include_str!("elementary.wgsl");
/// `profile_at`, as [`super::Profile`]; takes the setting `SMOOTH`.
pub(crate) const PROFILE_WGSL: &str = include_str!("profile.wgsl");

/// What a deformer adds to the kernel.
#[derive(Clone, Debug)]
pub struct DeviceMap {
    /// Name of the pass.
    pub name: &'static str,
    /// `struct Map`, as [`MapUniforms::new`] takes it.
    pub map: UniformKind,
    /// WGSL with `struct Map` and `fn map_at(map: Map, region: Region, p: vec3f) -> Local`; helper functions may come with it.
    pub texts: Vec<&'static str>,
    /// Constants in those texts.
    pub settings: Vec<(&'static str, DeviceSetting)>,
}

/// What a deformer's map takes in a frame.
#[derive(Clone, Copy, Debug)]
pub struct MapUniforms {
    /// The stretch of the axis.
    pub region: RegionAt<f32>,
    map: [f32; 8],
}

impl MapUniforms {
    /// With a `struct Map`, eight numbers.
    pub fn new(region: RegionAt<f32>, map: impl NoUninit) -> Self {
        let map = bytemuck::cast(map);
        Self { region, map }
    }
}

crate::uniform_struct! {
    /// As in `local_frame.wgsl`.
    struct RegionUniforms {
        low: f32,
        high: f32,
        span: f32,
        inverse_span: f32,
    }
}

crate::uniform_struct! {
    /// As in `local_frame.wgsl`; matrices as columns of four.
    pub(super) struct Uniforms {
        scene_from_local: [[f32; 4]; 3],
        local_from_scene: [[f32; 4]; 3],
        offset: [f32; 3],
        weight: f32,
        region: RegionUniforms,
        map: [f32; 8],
        mask_invert: u32,
        is_active: u32,
        unused: [u32; 2],
    }
}

pub(super) fn node<D: LocalDeformer>(deformer: &D) -> DeviceNode {
    let map = deformer.device_map();
    let mut shared = vec![
        MASK_WEIGHT_WGSL,
        ELEMENTARY_WGSL,
        include_str!("local_frame.wgsl"),
    ];
    shared.extend(map.texts);
    let mut uniforms = UniformLayout::of::<Uniforms>();
    let of_deformer = uniforms.members.iter_mut().filter(|m| m.name == "map");
    of_deformer.for_each(|m| m.kind = map.map);
    let mut node = DeviceNode {
        shared,
        settings: map.settings,
        uniforms,
        passes: vec![DevicePass::per_vertex(
            map.name,
            include_str!("kernel.wgsl"),
        )],
        ..DeviceNode::default()
    };
    if D::DEBUG_LINES > 0 {
        node.frame_arrays.push(DeviceArray {
            name: "lines",
            ty: DeviceType::F32,
            len: D::DEBUG_LINES * size_of::<Line>() / size_of::<f32>(),
            lasting: false,
        });
        node.passes.push(
            DevicePass::per_vertex("debug lines", include_str!("lines.wgsl"))
                .over(DeviceDomain::Elements(D::DEBUG_LINES)),
        );
    }
    node
}

pub(super) fn write_frame<D: LocalDeformer>(
    frame: &DeviceFrame<'_>,
    data: &mut DeviceFrameData<'_>,
) {
    let deformer = D::from_parameters(&frame.parameters);
    let placement = Placement::from_parameters(&frame.parameters);
    if D::DEBUG_LINES > 0 {
        deformer.debug_lines(&placement, &frame.parameters, data.array::<Line>(0));
    }
    let (weight, mask_invert) = MaskWeight::uniforms(&frame.parameters);
    let MapUniforms { region, map } = deformer.map_uniforms();
    let mut uniforms = Uniforms {
        weight,
        region: RegionUniforms {
            low: region.low,
            high: region.high,
            span: region.span,
            inverse_span: region.inverse_span,
        },
        map,
        mask_invert,
        ..Uniforms::zeroed()
    };
    if let Some(Frame {
        scene_from_local,
        local_from_scene,
        offset,
    }) = placement.frame::<f32>()
    {
        let columns = |m: [[f32; 3]; 3]| m.map(|[x, y, z]| [x, y, z, 0.0]);
        uniforms.scene_from_local = columns(scene_from_local);
        uniforms.local_from_scene = columns(local_from_scene);
        uniforms.offset = offset;
        uniforms.is_active = 1;
    }
    data.set_uniforms(&uniforms);
}
