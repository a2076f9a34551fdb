//! The fast passes. A point is 16 bytes `x y z x`, so that a rotation of lanes gives `y z x`; one load per neighbour.
//!
//! A neighbour costs one load and one addition, or a multiply-add if it has a weight. Rows of a run have the same number of neighbours: the
//! loop over 3 to 8 of them (4 to 8 with weights) is unrolled. Tasks are cut at multiples of `CHUNK`, hence the number of threads changes
//! no bits.

use super::layout::{Layout, Run};
use super::{FrameSpace, Placing};
use fearless_simd::{f32x4, prelude::*};
use fearless_simd_macros::simd;
use std::ops::Range;

/// Fills the slots of `range` with the means of their members.
pub(super) fn gather(
    layout: &Layout,
    positions: &[[f32; 3]],
    space: FrameSpace,
    range: Range<usize>,
    out: &mut [[f32; 4]],
) {
    if layout.slot_count() == layout.vertex_count() {
        // One vertex a slot.
        for (o, &v) in out.iter_mut().zip(&layout.all_members()[range]) {
            let p = space.enter(positions[v as usize]);
            *o = [p[0], p[1], p[2], p[0]];
        }
        return;
    }
    for (slot, o) in range.zip(out) {
        let [first, others @ ..] = layout.members(slot) else {
            continue;
        };
        let first = positions[*first as usize];
        let p = space.enter(first);
        *o = [p[0], p[1], p[2], p[0]];
        if !others.is_empty() {
            add_mean(first, others, positions, space, o);
        }
    }
}

/// What the mean of a slot is beside its first member.
#[inline(never)]
fn add_mean(
    first: [f32; 3],
    others: &[u32],
    positions: &[[f32; 3]],
    space: FrameSpace,
    out: &mut [f32; 4],
) {
    let mut sum = [0.0_f32; 3];
    for &v in others {
        let p = positions[v as usize];
        for c in 0..3 {
            sum[c] += p[c] - first[c];
        }
    }
    let n = (others.len() + 1) as f32 * space.unit;
    let p: [f32; 3] = std::array::from_fn(|c| out[c] + sum[c] / n);
    *out = [p[0], p[1], p[2], p[0]];
}

/// One pass over the slots of a chunk.
pub(super) fn smooth(
    layout: &Layout,
    step: f32,
    chunk: usize,
    src: &[[f32; 4]],
    out: &mut [[f32; 4]],
) {
    dispatch!(simd => smooth_chunk(simd, layout, step, chunk, src, out));
}

#[simd]
fn smooth_chunk<S: Simd>(
    simd: S,
    layout: &Layout,
    step: f32,
    chunk: usize,
    src: &[[f32; 4]],
    out: &mut [[f32; 4]],
) {
    let runs = layout.chunk_runs[chunk] as usize..layout.chunk_runs[chunk + 1] as usize;
    let mut rest = out;
    for run in &layout.runs[runs] {
        let (now, later) = rest.split_at_mut((run.end - run.start) as usize);
        rest = later;
        let rows = Rows::new(simd, layout, run, step, src);
        if layout.weights.is_empty() {
            match run.valence {
                0 => now.copy_from_slice(rows.own),
                3 => rows.uniform::<3>(now),
                4 => rows.uniform::<4>(now),
                5 => rows.uniform::<5>(now),
                6 => rows.uniform::<6>(now),
                7 => rows.uniform::<7>(now),
                8 => rows.uniform::<8>(now),
                _ => rows.uniform_any(now),
            }
        } else {
            match run.valence {
                0 => now.copy_from_slice(rows.own),
                4 => rows.weighted::<4>(now),
                5 => rows.weighted::<5>(now),
                6 => rows.weighted::<6>(now),
                7 => rows.weighted::<7>(now),
                8 => rows.weighted::<8>(now),
                _ => rows.weighted_any(now),
            }
        }
    }
}

/// The rows of one run.
struct Rows<'a, S: Simd> {
    simd: S,
    src: &'a [[f32; 4]],
    own: &'a [[f32; 4]],
    indices: &'a [u32],
    weights: &'a [f32],
    valence: usize,
    /// Factors of the point itself and of the sum over its neighbours.
    factors: (f32, f32),
}

impl<'a, S: Simd> Rows<'a, S> {
    #[inline(always)]
    fn new(simd: S, layout: &'a Layout, run: &Run, step: f32, src: &'a [[f32; 4]]) -> Self {
        let count = (run.end - run.start) as usize;
        let first = run.first as usize;
        let range = first..first + count * run.valence as usize;
        Self {
            simd,
            src,
            own: &src[run.start as usize..run.end as usize],
            indices: &layout.indices[range.clone()],
            weights: layout.weights.get(range).unwrap_or_default(),
            valence: run.valence as usize,
            factors: layout.coefficients(run.valence, step),
        }
    }

    #[inline(always)]
    fn load(&self, slot: u32) -> f32x4<S> {
        f32x4::simd_from(self.simd, self.src[slot as usize])
    }

    #[inline(always)]
    fn store(&self, own: [f32; 4], sum: f32x4<S>, out: &mut [f32; 4]) {
        let own = f32x4::simd_from(self.simd, own);
        let result = sum.mul_add(self.factors.1, own * self.factors.0);
        *out = result.into();
    }

    #[inline(always)]
    fn uniform<const N: usize>(&self, out: &mut [[f32; 4]]) {
        let rows = self.indices.as_chunks::<N>().0;
        for ((o, own), row) in out.iter_mut().zip(self.own).zip(rows) {
            let (mut even, mut odd) = (self.load(row[0]), self.load(row[1]));
            let mut k = 2;
            while k + 1 < N {
                even += self.load(row[k]);
                odd += self.load(row[k + 1]);
                k += 2;
            }
            if k < N {
                even += self.load(row[k]);
            }
            self.store(*own, even + odd, o);
        }
    }

    #[inline(always)]
    fn uniform_any(&self, out: &mut [[f32; 4]]) {
        let rows = self.indices.chunks_exact(self.valence.max(1));
        for ((o, own), row) in out.iter_mut().zip(self.own).zip(rows) {
            let mut sum = f32x4::splat(self.simd, 0.0);
            for &n in row {
                sum += self.load(n);
            }
            self.store(*own, sum, o);
        }
    }

    #[inline(always)]
    fn weighted<const N: usize>(&self, out: &mut [[f32; 4]]) {
        let rows = self.indices.as_chunks::<N>().0;
        let weights = self.weights.as_chunks::<N>().0;
        for (((o, own), row), w) in out.iter_mut().zip(self.own).zip(rows).zip(weights) {
            let (mut even, mut odd) = (self.load(row[0]) * w[0], self.load(row[1]) * w[1]);
            let mut k = 2;
            while k + 1 < N {
                even = self.load(row[k]).mul_add(w[k], even);
                odd = self.load(row[k + 1]).mul_add(w[k + 1], odd);
                k += 2;
            }
            if k < N {
                even = self.load(row[k]).mul_add(w[k], even);
            }
            self.store(*own, even + odd, o);
        }
    }

    #[inline(always)]
    fn weighted_any(&self, out: &mut [[f32; 4]]) {
        let rows = self.indices.chunks_exact(self.valence.max(1));
        let weights = self.weights.chunks_exact(self.valence.max(1));
        for (((o, own), row), w) in out.iter_mut().zip(self.own).zip(rows).zip(weights) {
            let mut sum = f32x4::splat(self.simd, 0.0);
            for (&n, &w) in row.iter().zip(w) {
                sum = self.load(n).mul_add(w, sum);
            }
            self.store(*own, sum, o);
        }
    }
}

/// Back from slots to vertices.
pub(super) struct Place<'a> {
    pub(super) layout: &'a Layout,
    pub(super) how: Placing<'a>,
    pub(super) targets: &'a [[f32; 4]],
    pub(super) gathered: &'a [[f32; 4]],
}

impl Place<'_> {
    pub(super) fn run(&self, range: Range<usize>, out: &mut [[f32; 3]]) {
        let Placing {
            space,
            blend,
            weight,
            keeps_offsets,
            ..
        } = self.how;
        let slots = &self.layout.slot_of_vertex()[range.clone()];
        let input = &self.how.positions[range.clone()];
        let constant = weight.mask.is_none().then(|| blend * weight.at(0));
        if constant == Some(1.0) && !keeps_offsets {
            for (o, &slot) in out.iter_mut().zip(slots) {
                let [x, y, z, _] = self.targets[slot as usize];
                *o = space.leave([x, y, z]);
            }
            return;
        }
        for (i, ((o, p), &slot)) in out.iter_mut().zip(input).zip(slots).enumerate() {
            let w = constant.unwrap_or_else(|| blend * weight.at(range.start + i));
            let t = self.targets[slot as usize];
            if keeps_offsets {
                let from = self.gathered[slot as usize];
                let moved = |c: usize| (t[c] - from[c]) * space.unit;
                *o = std::array::from_fn(|c| p[c] + moved(c) * w);
            } else {
                *o = mix(*p, space.leave([t[0], t[1], t[2]]), w);
            }
        }
    }
}

/// From `a` (weight 0) to `b` (weight 1), exact at both ends.
#[inline(always)]
pub(crate) fn mix(a: [f32; 3], b: [f32; 3], w: f32) -> [f32; 3] {
    std::array::from_fn(|c| a[c] * (1.0 - w) + b[c] * w)
}
