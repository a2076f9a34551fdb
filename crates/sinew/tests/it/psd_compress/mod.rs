//! Correctives reduced to a basis: the mathematics against closed forms, characters that play the same before and after, and what it
//! does for an arm.

mod arm;
mod basis;
mod play;

use sinew::geom::{MorphTarget, Vec3};
use sinew::psd::{Basis, CompressOptions, find_basis};

fn options(tolerance: f64) -> CompressOptions {
    let mut options = CompressOptions::default();
    options.tolerance = tolerance;
    options
}

fn target(offsets: Vec<[f64; 3]>) -> MorphTarget {
    let moved = (0_u32..)
        .zip(offsets)
        .map(|(v, d)| (v, d.map(|c| c as f32)));
    let (vertices, positions) = moved.filter(|(_, d)| *d != [0.0; 3]).unzip();
    MorphTarget {
        vertices,
        positions,
        ..MorphTarget::default()
    }
}

fn basis_of(targets: &[MorphTarget], options: &CompressOptions) -> Basis {
    let targets: Vec<&MorphTarget> = targets.iter().collect();
    find_basis(&targets, options)
}

/// One delta a vertex.
fn dense(target: &MorphTarget, count: usize) -> Vec<Vec3<f64>> {
    let mut out = vec![Vec3::zeros(); count];
    for (&v, d) in target.vertices.iter().zip(&target.positions) {
        out[v as usize] += Vec3::from(d.map(f64::from));
    }
    out
}

/// Numbers without a pattern, the same on each run.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    }
}

fn noisy(count: usize, vertices: usize) -> Vec<MorphTarget> {
    let mut next = noise(7);
    (0..count)
        .map(|t| {
            let size = 0.02 / (1.0 + t as f64);
            target(
                (0..vertices)
                    .map(|_| [0; 3].map(|_| next() * size))
                    .collect(),
            )
        })
        .collect()
}
