//! The device side: smoothing passes, then the detail, then back to the vertices.

use super::bind::DeltaMushBind;
use crate::device_rows::{DeviceRows, RowSlices};
use crate::laplacian::{DeviceSmoothing, Slots};
use crate::{DeviceConstant, DeviceDomain, DeviceNode, DevicePass, DeviceSetting, DeviceType};

impl DeltaMushBind {
    pub(super) fn device_smoothing(&self) -> DeviceSmoothing {
        DeviceSmoothing {
            keeps_gathered: self.needs_gathered() || self.smoother.layout().keeps_offsets(),
        }
    }

    pub(super) fn device_node(&self) -> Option<DeviceNode> {
        let smoothing = self.device_smoothing();
        let mut node = smoothing.node(self.smoother.layout())?;
        let fans: Vec<RowSlices<'_>> = (0..self.deltas.len())
            .map(|s| {
                let fan = self.fans.fan(s);
                (fan.entries, fan.factors)
            })
            .collect();
        let fans = DeviceRows::build(&fans, true)?;
        node.settings.extend([
            ("fan_narrow", DeviceSetting::Bool(fans.narrow)),
            ("fan_factored", DeviceSetting::Bool(fans.factored)),
            ("has_unsmoothed", DeviceSetting::Bool(self.needs_gathered())),
        ]);
        node.constants.extend([
            DeviceConstant::new("fans", DeviceType::U32, &fans.words),
            DeviceConstant::new("details", DeviceType::Vec4F, &self.device_details()),
        ]);
        let detail = DevicePass::per_vertex("detail", include_str!("detail.wgsl"))
            .gathering()
            .over(DeviceDomain::Elements(self.deltas.len()));
        // The text names the points before smoothing even where nothing reads them.
        let keeps = smoothing.keeps_gathered;
        let (aliases, result): (&'static [(&'static str, &'static str)], Slots) =
            match (smoothing.result(self.iterations), keeps) {
                (Slots::A, false) => (A_TO_B, Slots::B),
                (Slots::B, false) => (B_TO_A, Slots::A),
                (Slots::A, true) => (A_TO_B_KEEPING, Slots::B),
                (Slots::B, true) => (B_TO_A_KEEPING, Slots::A),
                (Slots::Gathered, _) => (GATHERED_TO_A, Slots::A),
            };
        node.passes.push(detail.with(aliases));
        node.passes.push(smoothing.place(result));
        node.passes_vary = self.iterations > MOST_LISTED;
        if !node.passes_vary {
            let all = node.passes.clone();
            node.passes.clear();
            self.each_pass(&mut |i| node.passes.extend(all.get(i).copied()));
        }
        Some(node)
    }

    /// The details; a negative factor says that the frame comes from the points before smoothing.
    fn device_details(&self) -> Vec<[f32; 4]> {
        let mut out = self.deltas.clone();
        for &slot in self.fans.unsmoothed() {
            let [_, _, _, factor] = &mut out[slot as usize];
            *factor = -*factor;
        }
        out
    }

    /// The passes of a frame: all that are listed, or each as often as it takes.
    pub(super) fn device_passes(&self, count: usize, run: &mut dyn FnMut(usize)) {
        if self.iterations > MOST_LISTED {
            self.each_pass(run);
        } else {
            (0..count).for_each(run);
        }
    }

    fn each_pass(&self, run: &mut dyn FnMut(usize)) {
        let smoothing = self.device_smoothing();
        smoothing.run(self.iterations, run);
        let detail = smoothing.pass_count();
        run(detail);
        run(detail + 1);
    }
}

/// Most smoothing passes that are listed one by one, so that what follows can join the last pass.
const MOST_LISTED: u32 = 32;

const A_TO_B: &[(&str, &str)] = &[
    ("points", "slots_a"),
    ("goal", "slots_b"),
    ("start", "slots_a"),
];
const B_TO_A: &[(&str, &str)] = &[
    ("points", "slots_b"),
    ("goal", "slots_a"),
    ("start", "slots_b"),
];
const A_TO_B_KEEPING: &[(&str, &str)] = &[
    ("points", "slots_a"),
    ("goal", "slots_b"),
    ("start", "gathered"),
];
const B_TO_A_KEEPING: &[(&str, &str)] = &[
    ("points", "slots_b"),
    ("goal", "slots_a"),
    ("start", "gathered"),
];
const GATHERED_TO_A: &[(&str, &str)] = &[
    ("points", "gathered"),
    ("goal", "slots_a"),
    ("start", "gathered"),
];
