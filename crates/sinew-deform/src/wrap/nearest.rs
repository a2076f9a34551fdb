//! Mode `points`: each vertex moves with its nearest points of the driver, by moving least squares with similarities.
//!
//! Schaefer, McPhail and Warren, "Image Deformation Using Moving Least Squares", 2006; in space: Zhu and Gortler, "3D Deformation Using
//! Moving Least Squares", 2007. The weights are those of Franke and Little (1980). They reach a little farther than the points, so that
//! several points at the same distance count.

use super::WrapConfig;
use super::bind::{VERTICES_A_REPORT, WrapError};
use super::bvh::{Bvh, Hit};
use super::points::{DriverPoints, PointBind, Share};
use crate::BindWatch;
use sinew_geom::{Mat3, Mesh, Real, Vec3};

/// Distance at which weights are zero, from the distance of the farthest point.
const REACH: f64 = 9.0 / 8.0;

/// Distances below this share of the reach count as that: a point of the driver holds its vertex within rounding.
const CLOSEST: f64 = 1e-3;

/// Points whose second moment is below this share of the largest lie on a line: they give no rotation.
const LINE: f64 = 1e-4;

pub(super) fn bind(
    mesh: &Mesh,
    points: &DriverPoints,
    tree: &Bvh,
    config: &WrapConfig,
    watch: &BindWatch<'_>,
) -> Result<(PointBind, Vec<f32>), WrapError> {
    let n = mesh.positions.len();
    let count = config.neighbours.clamp(1, points.positions.len());
    let mut this = PointBind::zeros(n, count);
    let mut strength = Vec::with_capacity(n);
    let limit = match config.max_distance > 0.0 {
        true => f64::from(config.max_distance).powi(2),
        false => f64::INFINITY,
    };
    let mut shares = vec![Share::default(); count];
    for (v, p) in mesh.positions.iter().enumerate() {
        if v.is_multiple_of(VERTICES_A_REPORT) {
            watch.step(v as f64 / n as f64)?;
        }
        let near = tree.nearest(f64::vec3(*p), count, f64::INFINITY, |_| true);
        let closest = near.first().map(|h| h.square).filter(|s| *s <= limit);
        strength.push(config.strength(closest.map(f64::sqrt)));
        let weights = weights(&near);
        let of = |h: &Hit| points.positions[h.triangle as usize];
        let places: Vec<Vec3<f64>> = near.iter().map(of).collect();
        let (origin, moments) = moments(&places, &weights, &mut shares);
        this.set(v, &shares);
        let vertices = near.iter().map(|h| points.vertices[h.triangle as usize]);
        this.points.extend(vertices);
        this.origins.push(f64::array3(origin));
        let m = |r, c| moments[(r, c)].to_single();
        let rows = [m(0, 0), m(0, 1), m(0, 2), m(1, 1), m(1, 2), m(2, 2)];
        this.moments.push(rows);
    }
    Ok((this, strength))
}

/// Weights of points, nearest first, which sum to 1.
fn weights(near: &[Hit]) -> Vec<f64> {
    let reach = REACH * near.last().map_or(0.0, |h| h.square.sqrt());
    let weight = |h: &Hit| {
        let d = h.square.sqrt().max(CLOSEST * reach);
        match d > 0.0 {
            true => (1.0 / d - 1.0 / reach).powi(2),
            // All points are at the vertex.
            false => 1.0,
        }
    };
    let weights: Vec<f64> = near.iter().map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|w| w / sum).collect()
}

/// The weighted middle of the points, and their second moments divided by the trace. The gradients become `w_i (q_i - middle) / trace`.
fn moments(places: &[Vec3<f64>], weights: &[f64], shares: &mut [Share]) -> (Vec3<f64>, Mat3<f64>) {
    let weighted = || places.iter().zip(weights);
    let middle: Vec3<f64> = weighted().map(|(q, w)| q * *w).sum();
    let moments: Mat3<f64> = weighted()
        .map(|(q, w)| (q - middle) * (q - middle).transpose() * *w)
        .sum();
    let trace = moments.trace();
    let mut sizes: [f64; 3] = moments.symmetric_eigenvalues().into();
    sizes.sort_by(f64::total_cmp);
    let turns = sizes[1] > LINE * sizes[2] && trace > 0.0;
    for (share, (q, w)) in shares.iter_mut().zip(weighted()) {
        share.weight = *w;
        share.gradient = match turns {
            true => (q - middle) * (*w / trace),
            false => Vec3::zeros(),
        };
    }
    match turns {
        true => (middle, moments / trace),
        false => (middle, Mat3::identity() / 3.0),
    }
}
