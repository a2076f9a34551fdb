//! Clumps: strands that grow close together become one lock.
//!
//! Space is divided into cubes of the size of a clump. Each has one random point (Worley 1996, *A Cellular Texture Basis Function*). Strands
//! whose roots are nearest to the same point are a clump, and the one nearest to it is its centre. From root to tip, the others
//! come closer to the centre; their segments keep their lengths.

use super::random::Random;
use crate::Vec3;
use std::collections::HashMap;

/// The number of the strand in the centre of each strand's clump.
pub(super) fn centres(roots: &[Vec3<f64>], size: f64, seed: u32) -> Vec<usize> {
    let mut nearest: HashMap<[i64; 3], (f64, usize)> = HashMap::new();
    let cells: Vec<[i64; 3]> = roots
        .iter()
        .enumerate()
        .map(|(strand, root)| {
            let (cell, distance) = cell_of(*root, size, seed);
            let best = nearest.entry(cell).or_insert((distance, strand));
            if distance < best.0 {
                *best = (distance, strand);
            }
            cell
        })
        .collect();
    cells.iter().map(|cell| nearest[cell].1).collect()
}

/// The cube whose point is nearest, and how far off it is.
fn cell_of(at: Vec3<f64>, size: f64, seed: u32) -> ([i64; 3], f64) {
    let own = [at.x, at.y, at.z].map(|c| (c / size).floor() as i64);
    let mut best = (own, f64::INFINITY);
    for i in 0..27 {
        let cell = [
            own[0] + i % 3 - 1,
            own[1] + i / 3 % 3 - 1,
            own[2] + i / 9 - 1,
        ];
        let distance = (point_in(cell, size, seed) - at).norm();
        if distance < best.1 {
            best = (cell, distance);
        }
    }
    best
}

fn point_in(cell: [i64; 3], size: f64, seed: u32) -> Vec3<f64> {
    // Odd factors of 64 bits: neighbours have streams that do not depend on each other.
    const FACTORS: [u64; 3] = [
        0x9e37_79b9_7f4a_7c15,
        0xc2b2_ae3d_27d4_eb4f,
        0x1656_67b1_9e37_79f9,
    ];
    let mixed = cell
        .iter()
        .zip(FACTORS)
        .map(|(&c, f)| (c as u64).wrapping_mul(f));
    let mut random = Random::new(seed ^ 0xc1_u32, mixed.fold(0, |a, b| a ^ b.rotate_left(17)));
    Vec3::from(cell.map(|c| (c as f64 + random.share()) * size))
}

/// Brings a strand to the centre of its clump: by no part at the root, by `share` at the tip. Strands that grow in another direction than
/// the centre come less close, which keeps a parting open.
///
/// Segments take the directions of the mean of both strands, and keep their lengths: aiming at its points would overshoot where it is shorter.
pub(super) fn gather(strand: &mut [[f32; 3]], centre: &[[f32; 3]], share: f64) {
    let vector = |p: [f32; 3]| Vec3::from(p.map(f64::from));
    let last = (strand.len() - 1) as f64;
    let share = share * likeness(strand, centre);
    let mut before = vector(strand[0]);
    let (mut at, mut mean) = (before, before);
    for i in 1..strand.len() {
        let own = vector(strand[i]);
        let left = 1.0 - i as f64 / last;
        let aim = own + (vector(centre[i]) - own) * (share * (1.0 - left * left));
        let along = (aim - mean).try_normalize(1e-12);
        at += along.map_or(own - before, |a| a * (own - before).norm());
        (before, mean) = (own, aim);
        strand[i] = [at.x, at.y, at.z].map(|c| c as f32);
    }
}

/// 1 for strands whose tips lie in nearly the same direction, 0 from 80 degrees on.
fn likeness(a: &[[f32; 3]], b: &[[f32; 3]]) -> f64 {
    let way = |s: &[[f32; 3]]| {
        let (root, tip) = (
            s.first().copied().unwrap_or_default(),
            s.last().copied().unwrap_or_default(),
        );
        let way = Vec3::from(tip.map(f64::from)) - Vec3::from(root.map(f64::from));
        way.try_normalize(1e-12)
    };
    match (way(a), way(b)) {
        (Some(a), Some(b)) => ((a.dot(&b) - 0.17) / 0.5).clamp(0.0, 1.0),
        _ => 1.0,
    }
}
