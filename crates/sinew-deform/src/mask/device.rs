//! What the mask runs on the GPU: the kernel, and the text that reads its source.
//!
//! Bytes moved a vertex: 4 written, 4 for another mask, and 4 for values read in setup or 12 for a place in a volume.

use super::{BoundMask, Combine, Curve, MaskSource, Shape};
use crate::{
    DeviceConstant, DeviceFrameData, DeviceNode, DevicePass, DeviceSetting, DeviceType, Parameters,
    UniformLayout,
};
use sinew_geom::{Affine, PackedAffine};

crate::uniform_struct! {
    /// As in `kernel.wgsl`.
    pub(super) struct Uniforms {
        transform: PackedAffine,
        inverse: PackedAffine,
        value: f32,
        falloff: f32,
        low: f32,
        high: f32,
        invert: u32,
        has_inside: u32,
        unused: [u32; 2],
    }
}

fn curve_number(curve: Curve) -> u32 {
    match curve {
        Curve::Linear => 0,
        Curve::Smooth => 1,
        Curve::Smoother => 2,
        Curve::Square => 3,
        Curve::Root => 4,
    }
}

fn combine_number(combine: Combine) -> u32 {
    match combine {
        Combine::Multiply => 0,
        Combine::Minimum => 1,
        Combine::Maximum => 2,
        Combine::Add => 3,
        Combine::Subtract => 4,
        Combine::Screen => 5,
        Combine::Difference => 6,
    }
}

pub(super) fn node(bound: &BoundMask) -> DeviceNode {
    let settings = [
        ("COMBINE", combine_number(bound.combine)),
        ("CURVE", curve_number(bound.curve)),
    ];
    let mut node = DeviceNode {
        settings: settings
            .map(|(name, n)| (name, DeviceSetting::U32(n)))
            .to_vec(),
        uniforms: UniformLayout::of::<Uniforms>(),
        passes: vec![DevicePass::per_vertex(
            "mask",
            include_str!("device/kernel.wgsl"),
        )],
        ..DeviceNode::default()
    };
    match &bound.source {
        MaskSource::Constant => node.shared.push(include_str!("device/constant.wgsl")),
        MaskSource::Values(values) => {
            node.shared.push(include_str!("device/values.wgsl"));
            node.constants
                .push(DeviceConstant::new("values", DeviceType::F32, values));
        }
        MaskSource::Shape(shape) => add_shape(&mut node, *shape, bound.rest.as_deref()),
    }
    node
}

fn add_shape(node: &mut DeviceNode, shape: Shape, rest: Option<&[[f32; 3]]>) {
    node.shared.push(include_str!("device/shape.wgsl"));
    node.shared.push(match shape {
        Shape::Box => include_str!("device/box.wgsl"),
        Shape::Sphere => include_str!("device/sphere.wgsl"),
        Shape::Plane => include_str!("device/plane.wgsl"),
    });
    if let Some(rest) = rest {
        node.shared.push(include_str!("device/rest.wgsl"));
        node.constants
            .push(DeviceConstant::new("rest", DeviceType::Vec3F, rest));
    } else {
        node.shared.push(include_str!("device/current.wgsl"));
    }
}

pub(super) fn write_frame(
    bound: &BoundMask,
    parameters: &Parameters<'_>,
    data: &mut DeviceFrameData<'_>,
) {
    let s = bound.settings(parameters);
    let inverse = s.transform.inverse().filter(Affine::is_finite);
    data.set_uniforms(&Uniforms {
        transform: s.transform.into(),
        inverse: inverse.unwrap_or_default().into(),
        value: s.value,
        falloff: s.falloff,
        low: s.low,
        high: s.high,
        invert: u32::from(s.invert),
        has_inside: u32::from(inverse.is_some()),
        unused: [0; 2],
    });
}
