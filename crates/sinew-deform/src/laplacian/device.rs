//! Smoothing on a device: what `smooth` and `delta_mush` share.
//!
//! Points live in slots, as on the processor. Passes go from `slots_a` to `slots_b` and back; where the points before
//! smoothing are needed later, they stay in `gathered` and the first pass goes from there to `slots_b`, so that an odd number
//! of passes always ends in `slots_b`.

use super::{Layout, index32};
use crate::device_rows::{DEVICE_ROWS_WGSL, DeviceRows, RowSlices};
use crate::{
    DeviceArray, DeviceConstant, DeviceDomain, DeviceFrame, DeviceFrameData, DeviceNode,
    DevicePass, DeviceSetting, DeviceType, MaskWeight,
};
use bytemuck::{Pod, Zeroable};

/// An array of points, 16 bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slots {
    /// `slots_a`.
    A,
    /// `slots_b`.
    B,
    /// `gathered`: the points before smoothing.
    Gathered,
}

/// As in `smoothing.wgsl`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct SmoothingUniforms {
    step: f32,
    displacement: f32,
    blend: f32,
    weight: f32,
    mask_invert: u32,
    unused: [u32; 3],
}

impl SmoothingUniforms {
    /// Writes them, with the blend and the mask's parameters of the frame.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "kernels work in single precision"
    )]
    pub(crate) fn write(
        step: f32,
        displacement: f32,
        frame: &DeviceFrame<'_>,
        data: &mut DeviceFrameData<'_>,
    ) {
        let (weight, mask_invert) = MaskWeight::uniforms(&frame.parameters);
        data.set_uniforms(&Self {
            step,
            displacement,
            blend: frame.parameters.float("blend") as f32,
            weight,
            mask_invert,
            unused: [0; 3],
        });
    }
}

// Put together here rather than shared: the other passes read no mask.
const PLACE: &str = concat!(
    include_str!("../mask_weight.wgsl"),
    include_str!("place.wgsl")
);

const GATHER_PASS: usize = 0;
const A_TO_B: usize = 1;
const B_TO_A: usize = 2;
const GATHERED_TO_B: usize = 3;

/// Bit of a member that says: a list.
const MANY: u32 = 1 << 31;

/// Which passes smoothing has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceSmoothing {
    /// The points before smoothing are needed after it.
    pub(crate) keeps_gathered: bool,
}

impl DeviceSmoothing {
    /// The device side as far as smoothing goes: all but the passes after it. `None` where the mesh is too large.
    pub(crate) fn node(self, layout: &Layout) -> Option<DeviceNode> {
        let none: &[f32] = &[];
        let rows: Vec<RowSlices<'_>> = layout
            .rows()
            .map(|r| {
                (
                    r.neighbours,
                    if r.weights.is_empty() {
                        none
                    } else {
                        r.weights
                    },
                )
            })
            .collect();
        let ring = DeviceRows::build(&rows, true)?;
        let (members, shared_members) = members(layout)?;
        let slots = layout.slot_count();
        let array = |name| DeviceArray {
            name,
            ty: DeviceType::Vec4F,
            len: slots,
        };
        let mut scratch = vec![array("slots_a"), array("slots_b")];
        if self.keeps_gathered {
            scratch.push(array("gathered"));
        }
        let u32s = |name, data: &[u32]| DeviceConstant::new(name, DeviceType::U32, data);
        Some(DeviceNode {
            shared: vec![include_str!("smoothing.wgsl"), DEVICE_ROWS_WGSL],
            settings: vec![
                ("ring_narrow", DeviceSetting::Bool(ring.narrow)),
                ("weighted", DeviceSetting::Bool(ring.factored)),
                ("counts_itself", DeviceSetting::Bool(layout.counts_itself())),
                ("keeps_offsets", DeviceSetting::Bool(layout.keeps_offsets())),
            ],
            constants: vec![
                u32s("ring", &ring.words),
                u32s("members", &members),
                u32s("shared_members", &shared_members),
                u32s("slots", layout.slot_of_vertex()),
            ],
            scratch,
            uniform_bytes: size_of::<SmoothingUniforms>(),
            frame_arrays: Vec::new(),
            passes: self.passes(slots),
            ..DeviceNode::default()
        })
    }

    /// Index of the first pass after those of the smoothing.
    pub(crate) fn pass_count(self) -> usize {
        GATHERED_TO_B + usize::from(self.keeps_gathered)
    }

    fn passes(self, slots: usize) -> Vec<DevicePass> {
        let over_slots = |name, text| {
            DevicePass::per_vertex(name, text)
                .gathering()
                .over(DeviceDomain::Elements(slots))
        };
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
        let pass = DevicePass::per_vertex("place", PLACE).gathering();
        // The text names the points before smoothing even where nothing reads them.
        match (from, self.keeps_gathered) {
            (Slots::A, false) => pass.with(&[("points", "slots_a"), ("start", "slots_a")]),
            (Slots::B, false) => pass.with(&[("points", "slots_b"), ("start", "slots_b")]),
            (Slots::A, true) => pass.with(&[("points", "slots_a"), ("start", "gathered")]),
            (Slots::B, true) => pass.with(&[("points", "slots_b"), ("start", "gathered")]),
            (Slots::Gathered, _) => pass.with(&[("points", "gathered"), ("start", "gathered")]),
        }
    }
}

/// For each slot its vertex, or where in the second list its vertices are: their number, then they.
fn members(layout: &Layout) -> Option<(Vec<u32>, Vec<u32>)> {
    if layout.vertex_count() >= (MANY / 2) as usize {
        return None;
    }
    // Never empty: the text names it.
    let mut lists = vec![0];
    let of_slot = (0..layout.slot_count()).map(|s| match layout.members(s) {
        [] => 0,
        [one] => *one,
        many => {
            let at = index32(lists.len());
            lists.push(index32(many.len()));
            lists.extend_from_slice(many);
            at | MANY
        }
    });
    Some((of_slot.collect(), lists))
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
            let smoothing = DeviceSmoothing { keeps_gathered };
            let passes = smoothing.passes(10);
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
