//! The fast kernel: eight vertices side by side.

use super::bind::PoseSpaceBind;
use super::blocks::{Block, LANES, Lanes};
use super::reference::moved_direction;
use crate::pose_driver::Family;
use crate::{MaskWeight, MeshView};
use fearless_simd::{Simd, f32x8, prelude::*, u32x8};
use fearless_simd_macros::simd;
use sinew_geom::Vec3;
use std::ops::Range;

/// What a kernel writes, cut to its range.
pub(super) type Out<'a> = (
    Option<&'a mut [[f32; 3]]>,
    Option<&'a mut [[f32; 3]]>,
    Option<&'a mut [[f32; 4]]>,
);

/// What a frame asks.
#[derive(Clone, Copy)]
pub(super) struct Query<'a> {
    pub(super) bind: &'a PoseSpaceBind,
    /// Squared distance of each joint from each pose, joint after joint.
    pub(super) squares: &'a [f32],
    pub(super) weight: MaskWeight<'a>,
    pub(super) input: MeshView<'a>,
}

/// Moves what lies in a range, which begins at a multiple of the chunk size; all else is in the output already.
#[simd]
pub(super) fn run<S: Simd>(simd: S, query: Query<'_>, range: Range<usize>, out: Out<'_>) {
    match query.bind.family {
        Family::Squared => blocks::<S, SQUARED>(simd, query, range, out),
        Family::Exponential => blocks::<S, EXPONENTIAL>(simd, query, range, out),
        Family::Power(1) => blocks::<S, LINEAR>(simd, query, range, out),
        Family::Power(3) => blocks::<S, CUBIC>(simd, query, range, out),
        Family::Power(_) => blocks::<S, QUINTIC>(simd, query, range, out),
    }
}

const SQUARED: u8 = 0;
const EXPONENTIAL: u8 = 10;
const LINEAR: u8 = 1;
const CUBIC: u8 = 3;
const QUINTIC: u8 = 5;

#[inline(always)]
fn blocks<S: Simd, const FAMILY: u8>(simd: S, query: Query<'_>, range: Range<usize>, out: Out<'_>) {
    let (mut positions, mut normals, mut tangents) = out;
    let Query { bind, input, .. } = query;
    let all = &bind.blocks;
    let first = all.first_from(range.start);
    let end = all.first_from(range.end);
    let base = range.start;
    for (i, block) in (first..end).zip(&all.blocks[first..end]) {
        let turns_normals = normals.is_some() && input.normals.is_some() && !all.normals.is_empty();
        let turns_tangents =
            tangents.is_some() && input.tangents.is_some() && !all.tangents.is_empty();
        let wants = [positions.is_some(), turns_normals, turns_tangents];
        let added = added::<S, FAMILY>(simd, query, i, block, wants);
        for lane in 0..block.len {
            let v = block.vertices[lane] as usize;
            let strength = query.weight.at(v);
            let step = |attribute: usize| added[attribute].map(|axis| axis[lane] * strength);
            if let Some(out) = &mut positions {
                let (p, d) = (input.positions[v], step(0));
                out[v - base] = [p[0] + d[0], p[1] + d[1], p[2] + d[2]];
            }
            if let (true, Some(out), Some(given)) = (turns_normals, &mut normals, input.normals) {
                out[v - base] = moved_direction(given[v], Vec3::from(step(1)));
            }
            if let (true, Some(out), Some(given)) = (turns_tangents, &mut tangents, input.tangents)
            {
                let [x, y, z, sign] = given[v];
                let [x, y, z] = moved_direction([x, y, z], Vec3::from(step(2)));
                out[v - base] = [x, y, z, sign];
            }
        }
    }
}

/// What is added to positions, normals and tangents of a block; zero for those that nobody wants.
#[inline(always)]
fn added<S: Simd, const FAMILY: u8>(
    simd: S,
    query: Query<'_>,
    index: usize,
    block: &Block,
    wants: [bool; 3],
) -> [[Lanes; 3]; 3] {
    let bind = query.bind;
    let all = &bind.blocks;
    let [begin, end] = block.joints;
    let seen = &all.joints[begin..end];
    let poses = index * bind.pose_count..(index + 1) * bind.pose_count;
    let lists = [&all.positions, &all.normals, &all.tangents];
    let mut sums = [[f32x8::splat(simd, 0.0); 3]; 3];
    for (pose, at) in poses.enumerate() {
        let mut squared = f32x8::splat(simd, 0.0);
        for s in seen {
            let of_joint = f32x8::splat(simd, query.squares[s.joint * bind.pose_count + pose]);
            squared = f32x8::load_array(simd, s.weights).mul_add(of_joint, squared);
        }
        let influence = influence::<S, FAMILY>(squared, bind.rate);
        for k in 0..3 {
            if !wants[k] {
                continue;
            }
            let of_pose = &lists[k][at];
            for c in 0..3 {
                sums[k][c] = f32x8::load_array(simd, of_pose[c]).mul_add(influence, sums[k][c]);
            }
        }
    }
    let mut out = [[[0.0; LANES]; 3]; 3];
    for k in 0..3 {
        for c in 0..3 {
            sums[k][c].store_array(&mut out[k][c]);
        }
    }
    out
}

/// As [`super::reference::influence`].
#[inline(always)]
fn influence<S: Simd, const FAMILY: u8>(squared: f32x8<S>, rate: f32) -> f32x8<S> {
    if FAMILY == SQUARED {
        return exponential(squared * -rate);
    }
    let x = squared.sqrt() * rate;
    if FAMILY == EXPONENTIAL {
        return exponential(-x);
    }
    let square = x * x;
    let power = match FAMILY {
        LINEAR => x,
        CUBIC => square * x,
        _ => square * square * x,
    };
    (1.0 - power).max(0.0)
}

/// Adding it to a small number rounds that to an integer, found in the low bits of the sum.
const ROUND: f32 = 12_582_912.0;

/// The exponential of numbers up to 0, clamped to -87: [`crate::local_frame::LaneReal::exponential`], whose coefficients these are.
#[inline(always)]
fn exponential<S: Simd>(x: f32x8<S>) -> f32x8<S> {
    let simd = x.simd;
    let x = x.max(-87.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    // ln 2 in two parts.
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let mut p = f32x8::splat(simd, 1.987_569_1e-4);
    for c in [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_66, 0.5] {
        p = p.mul_add(r, f32x8::splat(simd, c));
    }
    // The bits of ROUND above the integer leave by the shift.
    let bits: u32x8<S> = shifted.bitcast();
    let power_of_two: f32x8<S> = ((bits + 127) << 23).bitcast();
    ((p * r).mul_add(r, r) + 1.0) * power_of_two
}
