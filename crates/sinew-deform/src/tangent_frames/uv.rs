//! Setup of UV tangents: coefficients of each triangle, tangent groups, bitangent signs.

use super::bind::{TangentFramesBind, UvBind};
use super::groups::Rows;
use super::reference::FaceTerms;
use sinew_geom::index32;
use std::collections::HashMap;

/// A triangle whose UV area is below this fraction of its longest squared UV edge has no usable gradient. The
/// measure is the triangle's own, so small texture islands count as much as large ones.
const DEGENERATE_UV: f64 = 1e-6;

/// Twice the signed UV area and the coefficients of the direction of growing `u`; `None` where degenerate.
fn gradient(uv: [[f32; 2]; 3]) -> Option<(f64, [f32; 2])> {
    let d = |a: usize, b: usize| [0, 1].map(|c| f64::from(uv[b][c]) - f64::from(uv[a][c]));
    let ([s21, t21], [s31, t31], [s32, t32]) = (d(0, 1), d(0, 2), d(1, 2));
    let area = s21 * t31 - t21 * s31;
    let longest = [s21.hypot(t21), s31.hypot(t31), s32.hypot(t32)]
        .into_iter()
        .fold(0.0, f64::max);
    let healthy = area.abs() > DEGENERATE_UV * longest * longest;
    healthy.then(|| (area, coefficients(area, t21, t31)))
}

/// Only the direction matters: scaled so that the larger one is one.
pub(super) fn coefficients(area: f64, t21: f64, t31: f64) -> [f32; 2] {
    let scale = area.signum() / t21.abs().max(t31.abs());
    [(t31 * scale) as f32, (-t21 * scale) as f32]
}

/// Vertices of one smoothing group with equal UVs and equal orientation share a tangent: where texture coordinates are mirrored, a file has
/// vertices for each side. A vertex with triangles of both orientations takes the one with the larger angle and leaves the others out.
pub(super) fn bind(bind: &TangentFramesBind, faces: &[FaceTerms<f64>], uvs: &[[f32; 2]]) -> UvBind {
    let triangles = bind.topology.triangles();
    let gradients: Vec<_> = triangles
        .iter()
        .map(|t| gradient(t.map(|v| uvs[v as usize])))
        .collect();
    // Angles of triangles with positive UV area less those of the others.
    let mut of_vertex = vec![0.0_f64; uvs.len()];
    for ((t, gradient), face) in triangles.iter().zip(&gradients).zip(faces) {
        for (k, &v) in t.iter().enumerate() {
            if let Some((area, _)) = gradient {
                of_vertex[v as usize] += area.signum() * face.weights[k];
            }
        }
    }
    // Adding zero turns -0.0 into 0.0.
    let place = |v: usize| (bind.group_of_vertex[v], uvs[v].map(|c| (c + 0.0).to_bits()));
    let mut of_place: HashMap<(u32, [u32; 2]), f64> = HashMap::new();
    for (v, balance) in of_vertex.iter().enumerate() {
        *of_place.entry(place(v)).or_default() += balance;
    }
    let mut seen = HashMap::new();
    let mut balance = Vec::new();
    let row_of_vertex: Vec<u32> = (0..uvs.len())
        .map(|v| {
            let place = place(v);
            // A vertex that only degenerate triangles name goes with most of the others.
            let own = of_vertex[v];
            let sign = if own == 0.0 { of_place[&place] } else { own };
            let row = *seen.entry((place, sign > 0.0)).or_insert_with(|| {
                balance.push(0.0);
                index32(balance.len() - 1)
            });
            balance[row as usize] += own;
            row
        })
        .collect();
    let rows = Rows::build(triangles.len(), balance.len(), |t, k| {
        let row = row_of_vertex[triangles[t][k] as usize];
        let (area, _) = gradients[t]?;
        ((area > 0.0) == (balance[row as usize] > 0.0)).then_some(row)
    });
    UvBind {
        coefficients: gradients
            .iter()
            .map(|g| g.map_or([0.0; 2], |g| g.1))
            .collect(),
        rows,
        row_of_vertex,
        // v runs down in glTF, so a positive UV area means a mirrored frame.
        signs: balance
            .iter()
            .map(|&b: &f64| if b > 0.0 { -1.0 } else { 1.0 })
            .collect(),
    }
}
