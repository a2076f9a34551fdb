//! Node `mask`: one weight a vertex, from attributes, colours, joints or volumes.

mod bind;
mod desc;
mod device;
mod reference;
mod simd;
#[cfg(test)]
mod tests;

use crate::{
    BindContext, BoundNode, DeviceFrame, DeviceFrameData, DeviceNode, NodeError, Par, Parameters,
    UpdateContext, for_each_chunk,
};
use sinew_geom::Affine;

pub use bind::MaskSource;

pub(crate) use bind::{MaskBindError, from_attribute, from_color, from_joints};
pub use desc::DESC;
pub use reference::Combine;
pub(crate) use reference::falloff_weight;
pub use reference::{Curve, Shape, remap};

/// Settings of one frame. They act in the order source, remap, invert, combine.
#[derive(Clone, Copy, Debug)]
pub struct MaskSettings {
    /// Weight for [`MaskSource::Constant`].
    pub value: f32,
    /// For [`MaskSource::Shape`]: scene space from the space of the shape. A singular transform gives 0 everywhere.
    pub transform: Affine<f32>,
    /// Distance outside of the shape over which the weight falls to 0, metres of the scene.
    pub falloff: f32,
    /// Shape of the falloff.
    pub curve: Curve,
    /// Remap: this number becomes 0.
    pub low: f32,
    /// Remap: this number becomes 1. Equal to `low`, it makes a step.
    pub high: f32,
    /// Whether to take 1 minus the result of the remap.
    pub invert: bool,
    /// How to combine it with the other mask.
    pub combine: Combine,
}

impl Default for MaskSettings {
    fn default() -> Self {
        Self {
            value: 1.0,
            transform: Affine::identity(),
            falloff: 0.1,
            curve: Curve::Smooth,
            low: 0.0,
            high: 1.0,
            invert: false,
            combine: Combine::Multiply,
        }
    }
}

/// One frame of a mask.
#[derive(Debug)]
pub struct MaskJob<'a> {
    /// From setup.
    pub source: &'a MaskSource,
    /// Values of this frame.
    pub settings: MaskSettings,
    /// For [`MaskSource::Shape`]: current positions in scene space, as long as the output.
    pub positions: &'a [[f32; 3]],
    /// Another mask, as long as the output.
    pub with: Option<&'a [f32]>,
    /// One weight per vertex, 0 to 1.
    pub output: &'a mut [f32],
    /// Threads.
    pub par: Par,
}

impl MaskJob<'_> {
    /// Runs the job. If a list is shorter than the output, nothing is written. It does not allocate. The result is the same bits for any
    /// [`Par`].
    pub fn run(self) {
        let Self {
            source,
            settings: s,
            positions,
            with,
            output,
            par,
        } = self;
        let n = output.len();
        let short = match source {
            MaskSource::Constant => false,
            MaskSource::Values(v) => v.len() < n,
            MaskSource::Shape(_) => positions.len() < n,
        };
        if short || with.is_some_and(|w| w.len() < n) {
            return;
        }
        let inverse = s.transform.inverse().filter(Affine::is_finite);
        for_each_chunk(par, n, 1024, output, &|range, out| {
            match (source, inverse) {
                (MaskSource::Constant, _) => out.fill(s.value),
                (MaskSource::Values(values), _) => out.copy_from_slice(&values[range.clone()]),
                (MaskSource::Shape(_), None) => out.fill(0.0),
                (MaskSource::Shape(shape), Some(inverse)) => {
                    let points = &positions[range.clone()];
                    dispatch!(simd => {
                        simd::distances(simd, *shape, &s.transform, &inverse, points, out);
                        simd::fall_off(simd, s.falloff, s.curve, out);
                    });
                }
            }
            let with = with.map(|w| &w[range]);
            dispatch!(simd => simd::finish(simd, &s, with, out));
        });
    }
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let p = context.parameters;
    let mesh = context.mesh("mesh")?;
    let wrap = |e: MaskBindError| NodeError::Bind(Box::new(e));
    let index = |name| usize::try_from(p.int(name)).unwrap_or(0);
    let source = match p.text("source") {
        "attribute" => MaskSource::Values(
            from_attribute(mesh, p.text("attribute"), index("component")).map_err(wrap)?,
        ),
        "color" => {
            let channel = "rgba".find(p.text("channel")).unwrap_or(0);
            MaskSource::Values(from_color(mesh, index("color_set"), channel).map_err(wrap)?)
        }
        "joint" => {
            let rig = context.rig("pose")?;
            MaskSource::Values(from_joints(mesh, rig, p.texts("joints")).map_err(wrap)?)
        }
        "box" => MaskSource::Shape(Shape::Box),
        "sphere" => MaskSource::Shape(Shape::Sphere),
        "plane" => MaskSource::Shape(Shape::Plane),
        _ => MaskSource::Constant,
    };
    // Rest positions are kept only where a volume reads them.
    let keeps_rest = matches!(source, MaskSource::Shape(_)) && p.text("space") != "current";
    Ok(Box::new(BoundMask {
        source,
        curve: desc::curve(p.text("curve")),
        combine: desc::combine(p.text("combine")),
        rest: keeps_rest.then(|| mesh.positions.clone()),
    }))
}

#[derive(Debug)]
struct BoundMask {
    source: MaskSource,
    curve: Curve,
    combine: Combine,
    rest: Option<Vec<[f32; 3]>>,
}

impl BoundMask {
    /// Values of a frame.
    fn settings(&self, p: &Parameters<'_>) -> MaskSettings {
        MaskSettings {
            value: p.single("value"),
            transform: p.transform("transform").cast(),
            falloff: p.single("falloff"),
            curve: self.curve,
            low: p.single("low"),
            high: p.single("high"),
            invert: p.bool("invert"),
            combine: self.combine,
        }
    }
}

impl BoundNode for BoundMask {
    fn setup_bytes(&self) -> usize {
        let values = match &self.source {
            MaskSource::Values(v) => size_of_val(v.as_slice()),
            _ => 0,
        };
        values + self.rest.as_deref().map_or(0, size_of_val)
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(device::node(self))
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        device::write_frame(self, &frame.parameters, data);
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let Some(output) = context.outputs.mask("mask") else {
            return;
        };
        let current = context.inputs.mesh("mesh").positions;
        MaskJob {
            source: &self.source,
            settings: self.settings(&context.parameters),
            positions: self.rest.as_deref().unwrap_or(current),
            with: context.inputs.mask("with"),
            output,
            par: context.par,
        }
        .run();
    }
}
