//! Smoothing on a device: what `smooth` and `delta_mush` share.
//!
//! Points live in classes: vertices at one place are one point, in the order of their first vertices, so that a mesh without such
//! vertices has a class for each vertex in the same order. Passes go from `slots_a` to `slots_b` and back; where the points before
//! smoothing are needed later, they stay in `gathered` and the first pass goes from there to `slots_b`, so that an odd number
//! of passes always ends in `slots_b`.

use super::{FrameSpace, Layout};
use crate::{
    BindContext, DeviceArray, DeviceDomain, DeviceExtras, DeviceFrame, DeviceFrameData, DeviceNode,
    DevicePadding, DevicePass, DeviceRelation, DeviceSetting, DeviceType, MaskWeight,
    UniformLayout,
};
use sinew_geom::index32;

/// An array of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slots {
    /// `slots_a`.
    A,
    /// `slots_b`.
    B,
    /// `gathered`: the points before smoothing.
    Gathered,
}

crate::uniform_struct! {
    /// As in `smoothing.wgsl`.
    #[derive(Default)]
    pub(crate) struct SmoothingUniforms {
        step: f32,
        displacement: f32,
        blend: f32,
        weight: f32,
        mask_invert: u32,
        origin_x: f32,
        origin_y: f32,
        origin_z: f32,
        unit: f32,
        per_unit: f32,
        unused: [u32; 2],
    }
}

impl SmoothingUniforms {
    /// Writes them, with the blend and the mask's parameters of the frame.
    pub(crate) fn write(
        space: FrameSpace,
        step: f32,
        displacement: f32,
        frame: &DeviceFrame<'_>,
        data: &mut DeviceFrameData<'_>,
    ) {
        let (weight, mask_invert) = MaskWeight::uniforms(&frame.parameters);
        data.set_uniforms(&Self {
            step,
            displacement,
            blend: frame.parameters.single("blend"),
            weight,
            mask_invert,
            origin_x: space.origin[0],
            origin_y: space.origin[1],
            origin_z: space.origin[2],
            unit: space.unit,
            per_unit: 1.0 / space.unit,
            unused: [0; 2],
        });
    }
}

// Put together here rather than shared: the other passes read no mask.
const PLACE: &str = concat!(
    include_str!("../mask_weight.wgsl"),
    include_str!("place.wgsl")
);
const PLACE_OFFSETS: &str = concat!(
    include_str!("../mask_weight.wgsl"),
    include_str!("place_offsets.wgsl")
);
const PLACE_WHOLE: &str = include_str!("place_whole.wgsl");

const GATHER_PASS: usize = 0;
const A_TO_B: usize = 1;
const B_TO_A: usize = 2;
const GATHERED_TO_B: usize = 3;

/// Classes in the order of their first vertices.
#[derive(Debug)]
pub(crate) struct DeviceClasses {
    /// Slot of each class.
    pub(crate) slot_of_class: Vec<u32>,
    /// Class of each slot.
    pub(crate) class_of_slot: Vec<u32>,
}

impl DeviceClasses {
    pub(crate) fn new(layout: &Layout) -> Self {
        let mut slot_of_class: Vec<u32> = (0..index32(layout.slot_count())).collect();
        slot_of_class.sort_by_key(|&s| layout.members(s as usize).first());
        let mut class_of_slot = vec![0; slot_of_class.len()];
        for (class, &slot) in slot_of_class.iter().enumerate() {
            class_of_slot[slot as usize] = index32(class);
        }
        Self {
            slot_of_class,
            class_of_slot,
        }
    }
    /// What points run over.
    pub(crate) fn domain(&self) -> DeviceDomain {
        DeviceDomain::Elements(self.slot_of_class.len())
    }
    /// Numbers of slots as numbers of classes.
    pub(crate) fn of_slots(&self, slots: &[u32]) -> Vec<u32> {
        slots
            .iter()
            .map(|&s| self.class_of_slot[s as usize])
            .collect()
    }
}

/// Which passes smoothing has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceSmoothing {
    /// The points before smoothing are needed after it.
    pub(crate) keeps_gathered: bool,
    /// Vertices of one class lie apart, and each moves like their mean.
    pub(crate) keeps_offsets: bool,
    /// Nothing of the incoming positions is mixed into the result.
    pub(crate) whole: bool,
}

impl DeviceSmoothing {
    /// With what is bound: nothing may have to be mixed in.
    pub(crate) fn bound(self, context: &BindContext<'_>) -> Self {
        let is_one = |name| context.is_fixed(name) && context.parameters.float(name) == 1.0;
        Self {
            whole: !context.is_linked("mask") && is_one("weight") && is_one("blend"),
            ..self
        }
    }

    /// The device side as far as smoothing goes: all but the passes after it.
    pub(crate) fn node(self, layout: &Layout, classes: &DeviceClasses) -> DeviceNode {
        let domain = classes.domain();
        let array = |name| DeviceArray {
            name,
            ty: DeviceType::Vec3F,
            len: classes.slot_of_class.len(),
            lasting: false,
        };
        let mut scratch = vec![array("slots_a"), array("slots_b")];
        if self.keeps_gathered {
            scratch.push(array("gathered"));
        }
        let vertices = DeviceDomain::Vertices;
        let members = classes
            .slot_of_class
            .iter()
            .map(|&s| layout.members(s as usize));
        let class_of_vertex = classes.of_slots(layout.slot_of_vertex());
        DeviceNode {
            shared: vec![include_str!("smoothing.wgsl")],
            settings: vec![
                ("weighted", DeviceSetting::Bool(layout.is_weighted())),
                ("counts_itself", DeviceSetting::Bool(layout.counts_itself())),
            ],
            relations: vec![
                ring(layout, classes),
                DeviceRelation::new("members", [domain, vertices], members),
                DeviceRelation::new("class", [vertices, domain], class_of_vertex.chunks(1)),
            ],
            scratch,
            uniforms: UniformLayout::of::<SmoothingUniforms>(),
            passes: self.passes(domain),
            ..DeviceNode::default()
        }
    }

    /// Index of the first pass after those of the smoothing.
    pub(crate) fn pass_count(self) -> usize {
        GATHERED_TO_B + usize::from(self.keeps_gathered)
    }

    fn passes(self, domain: DeviceDomain) -> Vec<DevicePass> {
        let over_slots = |name, text| DevicePass::per_vertex(name, text).over(domain);
        let gather = over_slots("gather", include_str!("gather.wgsl"));
        let smooth = over_slots("smooth", include_str!("smooth.wgsl"));
        let gather = if self.keeps_gathered {
            gather.with(&[("goal", "gathered")])
        } else {
            gather.with(&[("goal", "slots_a")])
        };
        let mut out = vec![
            gather,
            smooth.with(&[("points", "slots_a"), ("goal", "slots_b")]),
            smooth.with(&[("points", "slots_b"), ("goal", "slots_a")]),
        ];
        if self.keeps_gathered {
            out.push(smooth.with(&[("points", "gathered"), ("goal", "slots_b")]));
        }
        out
    }

    /// Runs the gathering and that many smoothing passes.
    pub(crate) fn run(self, iterations: u32, run: &mut dyn FnMut(usize)) {
        run(GATHER_PASS);
        for i in 0..iterations {
            run(match i % 2 {
                0 if i == 0 && self.keeps_gathered => GATHERED_TO_B,
                0 => A_TO_B,
                _ => B_TO_A,
            });
        }
    }

    /// Where the result of that many passes is.
    pub(crate) fn result(self, iterations: u32) -> Slots {
        match iterations {
            0 if self.keeps_gathered => Slots::Gathered,
            n if n % 2 == 1 => Slots::B,
            _ => Slots::A,
        }
    }

    /// The pass back to the vertices.
    pub(crate) fn place(self, from: Slots) -> DevicePass {
        let text = match (self.keeps_offsets, self.whole) {
            (true, _) => PLACE_OFFSETS,
            (false, true) => PLACE_WHOLE,
            (false, false) => PLACE,
        };
        let pass = DevicePass::per_vertex("place", text);
        match from {
            Slots::A => pass.with(&[("points", "slots_a"), ("start", "gathered")]),
            Slots::B => pass.with(&[("points", "slots_b"), ("start", "gathered")]),
            Slots::Gathered => pass.with(&[("points", "gathered"), ("start", "gathered")]),
        }
    }

    /// All passes of that many iterations, one after another, with those behind the smoothing.
    pub(crate) fn listed(self, node: &mut DeviceNode, iterations: u32, then: &[DevicePass]) {
        let all = std::mem::take(&mut node.passes);
        self.run(iterations, &mut |i| node.passes.extend(all.get(i).copied()));
        node.passes.extend(then);
    }
}

/// Most smoothing passes that are listed one by one, so that they can run together.
pub(crate) const MOST_LISTED: u32 = 64;

/// Neighbours of each class.
fn ring(layout: &Layout, classes: &DeviceClasses) -> DeviceRelation {
    let domain = classes.domain();
    let mut rows = vec![(&[][..], &[][..]); classes.slot_of_class.len()];
    for row in layout.rows() {
        rows[classes.class_of_slot[row.slot] as usize] = (row.neighbours, row.weights);
    }
    let neighbours = rows.iter().map(|r| classes.of_slots(r.0));
    let mut ring = DeviceRelation::new("ring", [domain; 2], neighbours);
    ring.padding = DevicePadding::Zero;
    if layout.is_weighted() {
        let weights = rows.iter().flat_map(|r| r.1).map(|w| w.to_bits());
        ring.extras = DeviceExtras::PerEntry(weights.collect());
    }
    ring
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniforms_fill_whole_vectors() {
        assert_eq!(size_of::<SmoothingUniforms>() % 16, 0);
    }

    #[test]
    fn passes_chain() {
        for keeps_gathered in [false, true] {
            let smoothing = DeviceSmoothing {
                keeps_gathered,
                keeps_offsets: keeps_gathered,
                whole: true,
            };
            let passes = smoothing.passes(DeviceDomain::Elements(10));
            assert_eq!(passes.len(), smoothing.pass_count());
            let array = |pass: usize, name| {
                let aliases = passes[pass].aliases.iter();
                aliases.copied().find(|a| a.0 == name).expect("named").1
            };
            for iterations in 0..6 {
                let mut at = None;
                smoothing.run(iterations, &mut |pass| {
                    if let Some(at) = at {
                        assert_eq!(array(pass, "points"), at);
                    }
                    at = Some(array(pass, "goal"));
                });
                let place = smoothing.place(smoothing.result(iterations));
                assert_eq!(Some(place.aliases[0].1), at, "{iterations} passes");
            }
        }
    }
}
