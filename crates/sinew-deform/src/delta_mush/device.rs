//! What `delta_mush` runs on the GPU: smoothing passes, then the detail, then back to the vertices.
//!
//! Smoothing alternates between two buffers of points (`slots_a`, `slots_b`), so that the parity of `iterations` decides which one the
//! detail reads. Up to [`MOST_LISTED`] iterations are passes of their own; beyond that, the same passes are launched repeatedly.

use super::bind::DeltaMushBind;
use crate::laplacian::{DeviceClasses, DeviceSmoothing, MOST_LISTED, Slots};
use crate::{
    BindContext, DeviceArray, DeviceConstant, DeviceExtras, DeviceNode, DevicePass, DeviceRelation,
    DeviceSetting, DeviceType,
};

impl DeltaMushBind {
    pub(super) fn device_node(&self, context: &BindContext<'_>) -> DeviceNode {
        let layout = self.smoother.layout();
        let smoothing = self.smoothing().bound(context);
        let classes = DeviceClasses::new(layout);
        let mut node = smoothing.node(layout, &classes);
        let fan = self.device_fans(&classes);
        node.settings.extend([
            (
                "fan_factored",
                DeviceSetting::Bool(fan.extras != DeviceExtras::None),
            ),
            ("has_unsmoothed", DeviceSetting::Bool(self.needs_gathered())),
        ]);
        node.relations.push(fan);
        let details = self.device_details(&classes);
        node.constants
            .push(DeviceConstant::new("details", DeviceType::Vec4F, &details));
        let is_apart = !self.apart.is_empty();
        if is_apart {
            node.scratch.extend(AXES.map(|name| DeviceArray {
                name,
                ty: DeviceType::Vec3F,
                len: self.deltas.len(),
                lasting: false,
            }));
            let apart = self.device_apart();
            node.constants
                .push(DeviceConstant::new("apart", DeviceType::Vec3F, &apart));
        }
        let text = match (self.needs_gathered(), is_apart) {
            (false, false) => DETAIL,
            (true, false) => DETAIL_WITH_START,
            (false, true) => DETAIL_KEEPING_AXES,
            (true, true) => DETAIL_WITH_START_KEEPING_AXES,
        };
        let detail = DevicePass::per_vertex("detail", text).over(classes.domain());
        let (aliases, result): (&'static [(&'static str, &'static str)], Slots) =
            match smoothing.result(self.iterations) {
                Slots::A => (A_TO_B, Slots::B),
                Slots::B => (B_TO_A, Slots::A),
                Slots::Gathered => (GATHERED_TO_A, Slots::A),
            };
        let place = if is_apart {
            let place = DevicePass::per_vertex("place", PLACE_APART);
            place.with(if result == Slots::A { IN_A } else { IN_B })
        } else {
            smoothing.place(result)
        };
        let then = [detail.with(aliases), place];
        node.passes_vary = self.iterations > MOST_LISTED;
        if node.passes_vary {
            node.passes.extend(then);
        } else {
            smoothing.listed(&mut node, self.iterations, &then);
        }
        node
    }

    /// Vertices that lie apart from their points are put beside them by the last pass.
    fn smoothing(&self) -> DeviceSmoothing {
        DeviceSmoothing {
            keeps_gathered: self.needs_gathered(),
            keeps_offsets: false,
            whole: false,
        }
    }

    /// For each vertex how far it lies from its point, in the point's frame.
    fn device_apart(&self) -> Vec<[f32; 3]> {
        let mut out = vec![[0.0; 3]; self.smoother.layout().vertex_count()];
        for apart in &self.apart {
            out[apart.vertex as usize] = apart.offset;
        }
        out
    }

    /// What frames are made of.
    fn device_fans(&self, classes: &DeviceClasses) -> DeviceRelation {
        let fans = || {
            classes
                .slot_of_class
                .iter()
                .map(|&s| self.fans.fan(s as usize))
        };
        let entries = fans().map(|f| classes.of_slots(f.entries));
        let mut out = DeviceRelation::new("fan", [classes.domain(); 2], entries);
        if fans().any(|f| !f.factors.is_empty()) {
            let factors = fans().flat_map(|f| (0..f.entries.len()).map(move |k| f.factors.get(k)));
            let bits = factors.map(|f| f.copied().unwrap_or(0.0).to_bits());
            out.extras = DeviceExtras::PerEntry(bits.collect());
        }
        out
    }

    /// The details; a negative factor says that the frame comes from the points before smoothing.
    fn device_details(&self, classes: &DeviceClasses) -> Vec<[f32; 4]> {
        let mut of_slot = self.deltas.clone();
        for &slot in self.fans.unsmoothed() {
            let [_, _, _, factor] = &mut of_slot[slot as usize];
            *factor = -*factor;
        }
        let slots = classes.slot_of_class.iter();
        slots.map(|&s| of_slot[s as usize]).collect()
    }

    /// The passes of a frame: all that are listed, or each as often as it takes.
    pub(super) fn device_passes(&self, count: usize, run: &mut dyn FnMut(usize)) {
        if self.iterations <= MOST_LISTED {
            (0..count).for_each(run);
            return;
        }
        let smoothing = self.smoothing();
        smoothing.run(self.iterations, run);
        let detail = smoothing.pass_count();
        run(detail);
        run(detail + 1);
    }
}

const DETAIL: &str = concat!(
    include_str!("detail_smoothed.wgsl"),
    include_str!("no_axes.wgsl"),
    include_str!("detail.wgsl")
);
const DETAIL_WITH_START: &str = concat!(
    include_str!("detail_start.wgsl"),
    include_str!("no_axes.wgsl"),
    include_str!("detail.wgsl")
);
const DETAIL_KEEPING_AXES: &str = concat!(
    include_str!("detail_smoothed.wgsl"),
    include_str!("axes.wgsl"),
    include_str!("detail.wgsl")
);
const DETAIL_WITH_START_KEEPING_AXES: &str = concat!(
    include_str!("detail_start.wgsl"),
    include_str!("axes.wgsl"),
    include_str!("detail.wgsl")
);
const PLACE_APART: &str = concat!(
    include_str!("../mask_weight.wgsl"),
    include_str!("place_apart.wgsl")
);

/// What `axes.wgsl` writes.
const AXES: [&str; 3] = ["tangent_axis", "bitangent_axis", "normal_axis"];

const IN_A: &[(&str, &str)] = &[("points", "slots_a")];
const IN_B: &[(&str, &str)] = &[("points", "slots_b")];

const A_TO_B: &[(&str, &str)] = &[
    ("points", "slots_a"),
    ("goal", "slots_b"),
    ("start", "gathered"),
];
const B_TO_A: &[(&str, &str)] = &[
    ("points", "slots_b"),
    ("goal", "slots_a"),
    ("start", "gathered"),
];
const GATHERED_TO_A: &[(&str, &str)] = &[
    ("points", "gathered"),
    ("goal", "slots_a"),
    ("start", "gathered"),
];
