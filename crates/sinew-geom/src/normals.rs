//! Smooth normals for meshes without normals.

use crate::vec3::{add, area_vector, unit};
use std::collections::HashMap;

/// Area-weighted unit normals, one per vertex. Vertices at the same position share their normal, which hides UV seams. Vertices without
/// area get +Y. Triangles with invalid vertex indices are skipped.
///
/// Sums run in `f32`, in the order of the triangles. A vertex at a triangle with NaN gets +Y, too.
///
/// # Cost
/// O(V + T). Allocates three arrays of `V` entries and a hash map.
pub fn smooth_normals(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Vec<[f32; 3]> {
    let mut first: HashMap<[u32; 3], usize> = HashMap::with_capacity(positions.len());
    let class: Vec<usize> = positions
        .iter()
        .enumerate()
        .map(|(v, p)| *first.entry(p.map(|c| (c + 0.0).to_bits())).or_insert(v))
        .collect();
    let mut sum = vec![[0.0_f32; 3]; positions.len()];
    for t in triangles {
        let t = t.map(|v| v as usize);
        if t.iter().any(|&v| v >= positions.len()) {
            continue;
        }
        let n = area_vector(t.map(|v| positions[v]));
        for v in t {
            sum[class[v]] = add(sum[class[v]], n);
        }
    }
    class
        .iter()
        .map(|&c| unit(sum[c]).unwrap_or([0.0, 1.0, 0.0]))
        .collect()
}
