//! Smooth normals where the caller has none.

use crate::camera::{dot, sub};
use std::collections::HashMap;

pub(crate) fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

pub(crate) fn unit(v: [f32; 3]) -> [f32; 3] {
    let length = dot(v, v).sqrt();
    if length > 0.0 && length.is_finite() {
        v.map(|c| c / length)
    } else {
        [0.0, 1.0, 0.0]
    }
}

/// Area-weighted unit normals, one a vertex; vertices at the same position share theirs, so texture seams do not
/// show. Vertices without area get +Y. Triangles that name missing vertices are skipped.
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
        let [a, b, c] = t.map(|v| positions[v]);
        let n = cross(sub(b, a), sub(c, a));
        for v in t {
            for k in 0..3 {
                sum[class[v]][k] += n[k];
            }
        }
    }
    class.iter().map(|&c| unit(sum[c])).collect()
}
