//! A closed triangle mesh of a distance field: surface nets (Gibson 1998), then a few steps of relaxation on the
//! surface so that the triangles become even.

use crate::field::{Field, V};
use std::collections::BTreeMap;

/// Where grid points lie: a box of cells in grid space and the map from there to the scene, which may be finer in
/// one place than in another.
pub(crate) struct Grid<'a> {
    pub(crate) lo: V,
    pub(crate) cells: [usize; 3],
    pub(crate) step: f64,
    pub(crate) scene_from_grid: &'a dyn Fn(V) -> V,
}

/// A welded surface.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surface {
    pub(crate) points: Vec<V>,
    pub(crate) triangles: Vec<[u32; 3]>,
}

const CORNERS: [[usize; 3]; 8] = [
    [0, 0, 0],
    [1, 0, 0],
    [0, 1, 0],
    [1, 1, 0],
    [0, 0, 1],
    [1, 0, 1],
    [0, 1, 1],
    [1, 1, 1],
];

pub(crate) fn polygonise(field: &Field, grid: &Grid<'_>) -> Surface {
    let [nx, ny, nz] = grid.cells.map(|n| n + 1);
    let index = |i: [usize; 3]| (i[2] * ny + i[1]) * nx + i[0];
    let point = |i: [usize; 3]| {
        let offset = V::new(i[0] as f64, i[1] as f64, i[2] as f64) * grid.step;
        (grid.scene_from_grid)(grid.lo + offset)
    };
    let mut values = Vec::with_capacity(nx * ny * nz);
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                values.push(field.distance(point([x, y, z])));
            }
        }
    }
    let mut out = Surface::default();
    let mut vertex_of_cell: BTreeMap<usize, u32> = BTreeMap::new();
    for z in 0..grid.cells[2] {
        for y in 0..grid.cells[1] {
            for x in 0..grid.cells[0] {
                let corners = CORNERS.map(|c| [x + c[0], y + c[1], z + c[2]]);
                if let Some(p) = cell_point(&corners, |i| values[index(i)], point) {
                    vertex_of_cell.insert(index([x, y, z]), out.points.len() as u32);
                    out.points.push(p);
                }
            }
        }
    }
    // One quad around each grid edge that crosses the surface.
    for &cell in vertex_of_cell.keys() {
        let at = [cell % nx, cell / nx % ny, cell / (nx * ny)];
        for axis in 0..3 {
            let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
            if at[b] == 0 || at[c] == 0 {
                continue;
            }
            let mut end = at;
            end[axis] += 1;
            let (inside, inside_end) = (values[cell] < 0.0, values[index(end)] < 0.0);
            if inside == inside_end {
                continue;
            }
            let neighbour = |db: usize, dc: usize| {
                let mut i = at;
                i[b] -= db;
                i[c] -= dc;
                vertex_of_cell.get(&index(i)).copied()
            };
            if let (Some(p), Some(q), Some(r), Some(s)) = (
                neighbour(0, 0),
                neighbour(1, 0),
                neighbour(1, 1),
                neighbour(0, 1),
            ) {
                let quad = if inside { [p, q, r, s] } else { [p, s, r, q] };
                push_quad(&mut out, quad);
            }
        }
    }
    out
}

/// The middle of the surface crossings of a cell's edges.
fn cell_point(
    corners: &[[usize; 3]; 8],
    value: impl Fn([usize; 3]) -> f64,
    point: impl Fn([usize; 3]) -> V,
) -> Option<V> {
    let (mut sum, mut count) = (V::zeros(), 0.0);
    for a in 0..8 {
        for axis in 0..3 {
            let b = a | (1 << axis);
            if b == a {
                continue;
            }
            let (va, vb) = (value(corners[a]), value(corners[b]));
            if (va < 0.0) != (vb < 0.0) {
                sum += point(corners[a]).lerp(&point(corners[b]), va / (va - vb));
                count += 1.0;
            }
        }
    }
    (count > 0.0).then(|| sum / count)
}

/// Splits a quad along its shorter diagonal.
fn push_quad(out: &mut Surface, q: [u32; 4]) {
    let length =
        |a: usize, b: usize| (out.points[q[a] as usize] - out.points[q[b] as usize]).norm_squared();
    if length(0, 2) <= length(1, 3) {
        out.triangles
            .extend([[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
    } else {
        out.triangles
            .extend([[q[0], q[1], q[3]], [q[1], q[2], q[3]]]);
    }
}

impl Surface {
    /// Sorted neighbours of each vertex.
    pub(crate) fn neighbours(&self) -> Vec<Vec<u32>> {
        let mut out = vec![Vec::new(); self.points.len()];
        for t in &self.triangles {
            for k in 0..3 {
                out[t[k] as usize].push(t[(k + 1) % 3]);
                out[t[k] as usize].push(t[(k + 2) % 3]);
            }
        }
        for n in &mut out {
            n.sort_unstable();
            n.dedup();
        }
        out
    }

    /// Moves vertices towards the middle of their neighbours within the surface, and onto it.
    pub(crate) fn relax(&mut self, field: &Field, rounds: usize) {
        let neighbours = self.neighbours();
        for _ in 0..rounds {
            let old = self.points.clone();
            for (i, p) in self.points.iter_mut().enumerate() {
                let ring = &neighbours[i];
                let middle: V =
                    ring.iter().map(|&n| old[n as usize]).sum::<V>() / ring.len().max(1) as f64;
                let g = field.gradient(*p);
                let normal = g / g.norm().max(1e-9);
                let d = middle - *p;
                *p += (d - normal * d.dot(&normal)) * 0.6;
                let g = field.gradient(*p);
                // Half steps: the field is not an exact distance everywhere.
                *p -= g * (field.distance(*p) / g.norm_squared().max(0.05)) * 0.8;
            }
        }
    }
}
