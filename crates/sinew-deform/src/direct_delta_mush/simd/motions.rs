//! Motions of vertices, written down as matrices: what virtual bones bring to linear skinning.

use super::super::blocks::{Blocks, LANES};
use super::super::rotation::through;
use super::{FrameJoints, Motion, Rule, center_of};
use fearless_simd::Simd;
use fearless_simd_macros::simd;
use sinew_geom::PackedAffine;

/// One matrix a vertex from `start` on, as many as `out` has room for: from rest space less the origin to posed space less the reference.
#[simd]
pub(super) fn run_motions<S: Simd, R: Rule>(
    simd: S,
    blocks: &Blocks,
    joints: &FrameJoints<'_>,
    start: usize,
    out: &mut [PackedAffine],
) {
    for (index, out) in out.chunks_mut(LANES).enumerate() {
        let block = blocks.block(start / LANES + index);
        let Motion {
            linear,
            translation,
            ..
        } = R::motion(simd, block, joints);
        let at_origin = translation - through(linear, center_of(simd, block));
        let mut columns = [[[0.0; LANES]; 3]; 4];
        linear[0].store_lanes(&mut columns[0]);
        linear[1].store_lanes(&mut columns[1]);
        linear[2].store_lanes(&mut columns[2]);
        at_origin.store_lanes(&mut columns[3]);
        for (lane, out) in out.iter_mut().enumerate() {
            for (r, row) in out.rows.iter_mut().enumerate() {
                *row = columns.map(|column| column[r][lane]);
            }
        }
    }
}
