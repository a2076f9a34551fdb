//! What the overlay runs on the GPU: one kernel over the lines.

use super::{Shape, draw};
use crate::{
    DeviceConstant, DeviceDomain, DeviceFrameData, DeviceNode, DevicePass, DeviceType, Line,
    Parameters, UniformLayout,
};
use sinew_geom::{Affine, PackedAffine, Real};

/// Stands for the parameter `color`.
const FROM_PARAMETER: [f32; 4] = [0.0, 0.0, 0.0, -1.0];

crate::uniform_struct! {
    /// As in `kernel.wgsl`.
    pub(super) struct Uniforms {
        transform: PackedAffine,
        color: [f32; 4],
        size: f32,
        unused: [f32; 3],
    }
}

/// The lines of `shape` in its own frame.
fn lines(shape: Shape<'_>, size: f64) -> Vec<Line> {
    let mut out = Vec::with_capacity(shape.line_count());
    draw(&Affine::identity(), shape, size, FROM_PARAMETER, |line| {
        out.push(line);
    });
    out
}

/// `count` lines with those that are linked.
pub(super) fn node(shape: Shape<'_>, count: usize) -> DeviceNode {
    let anchors: Vec<[f32; 3]> = lines(shape, 0.0).iter().map(|l| l.from).collect();
    // Points lie anywhere; their crosses are exact about the origin.
    let origins;
    let around_origin = match shape {
        Shape::Points(points) => {
            origins = vec![[0.0; 3]; points.len()];
            Shape::Points(&origins)
        }
        other => other,
    };
    let drawn = lines(around_origin, 1.0);
    let reaches: Vec<[f32; 3]> = drawn.iter().flat_map(|l| [l.from, l.to]).collect();
    let colors: Vec<[f32; 4]> = drawn.iter().map(|l| l.color).collect();
    let pass = DevicePass::per_vertex("debug_lines", include_str!("kernel.wgsl"));
    DeviceNode {
        constants: vec![
            DeviceConstant::new("anchors", DeviceType::Vec3F, &anchors),
            DeviceConstant::new("reaches", DeviceType::Vec3F, &reaches),
            DeviceConstant::new("colors", DeviceType::Vec4F, &colors),
        ],
        uniforms: UniformLayout::of::<Uniforms>(),
        passes: vec![pass.over(DeviceDomain::Elements(count))],
        ..DeviceNode::default()
    }
}

pub(super) fn write_frame(parameters: &Parameters<'_>, data: &mut DeviceFrameData<'_>) {
    data.set_uniforms(&Uniforms {
        transform: parameters.transform("transform").into(),
        color: parameters.vec4("color").map(Real::to_single),
        size: parameters.single("size"),
        unused: [0.0; 3],
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_its_anchor_and_reach() {
        let points = [[1000.5, 2.0, 3.0], [0.25, 0.5, -1.0]];
        for shape in [Shape::Axes, Shape::Box, Shape::Points(&points)] {
            let node = node(shape, shape.line_count());
            let vec3s = |i: usize| bytemuck::cast_slice::<u8, [f32; 3]>(&node.constants[i].bytes);
            let (anchors, reaches) = (vec3s(0), vec3s(1));
            for (i, line) in lines(shape, 0.5).iter().enumerate() {
                for c in 0..3 {
                    let end = |k: usize| anchors[i][c] + 0.5 * reaches[2 * i + k][c];
                    let (from, to) = (end(0) - line.from[c], end(1) - line.to[c]);
                    assert!(from == 0.0 && to == 0.0, "{shape:?}, line {i}");
                }
            }
        }
    }
}
