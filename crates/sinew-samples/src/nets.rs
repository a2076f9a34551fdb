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
#[derive(Clone, Debug, Default, PartialEq)]
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

/// Nodes a side of a block that is sampled at all its nodes or at none.
const BLOCK: usize = 4;
/// No field here changes by more than this over a metre; tests sample all nodes.
const STEEPEST: f64 = 4.0;

impl Grid<'_> {
    fn nodes(&self) -> [usize; 3] {
        self.cells.map(|n| n + 1)
    }

    fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        let [nx, ny, _] = self.nodes();
        (z * ny + y) * nx + x
    }

    /// Of a node, or of what lies between nodes.
    fn point(&self, i: [f64; 3]) -> V {
        (self.scene_from_grid)(self.lo + V::from(i) * self.step)
    }

    fn node(&self, i: [usize; 3]) -> V {
        self.point(i.map(|i| i as f64))
    }

    /// The field at all nodes; far from the surface only the sign is right.
    fn values(&self, field: &Field) -> Vec<f64> {
        let [nx, ny, nz] = self.nodes();
        let mut out = vec![0.0; nx * ny * nz];
        for z in (0..nz).step_by(BLOCK) {
            for y in (0..ny).step_by(BLOCK) {
                for x in (0..nx).step_by(BLOCK) {
                    let far = self.far_from(field, [x, y, z].map(|i| i as f64));
                    for k in z..nz.min(z + BLOCK) {
                        for j in y..ny.min(y + BLOCK) {
                            for i in x..nx.min(x + BLOCK) {
                                let node = [i, j, k];
                                let exact = || field.distance(self.node(node));
                                out[self.index(node)] = far.unwrap_or_else(exact);
                            }
                        }
                    }
                }
            }
        }
        out
    }

    /// The field in the middle of a block, where the surface reaches neither the block nor the cells around it.
    fn far_from(&self, field: &Field, first: [f64; 3]) -> Option<f64> {
        let across = BLOCK as f64 + 1.0;
        let from_first = |by: f64| first.map(|i| i - 1.0 + by);
        let middle = self.point(from_first(0.5 * across));
        let corners = CORNERS.map(|c| {
            let [x, y, z] = from_first(0.0);
            let [a, b, c] = c.map(|c| c as f64 * across);
            (self.point([x + a, y + b, z + c]) - middle).norm()
        });
        let reach = corners.into_iter().fold(0.0, f64::max);
        let distance = field.distance(middle);
        (distance.abs() > STEEPEST * reach).then_some(distance)
    }
}

pub(crate) fn polygonise(field: &Field, grid: &Grid<'_>) -> Surface {
    let surface = surface_of(&grid.values(field), grid);
    #[cfg(test)]
    {
        let [nx, ny, nz] = grid.nodes();
        let all = (0..nx * ny * nz).map(|i| [i % nx, i / nx % ny, i / (nx * ny)]);
        let exact: Vec<f64> = all.map(|i| field.distance(grid.node(i))).collect();
        assert!(surface == surface_of(&exact, grid), "blocks were left out");
    }
    surface
}

/// The surface where values at nodes change their sign.
fn surface_of(values: &[f64], grid: &Grid<'_>) -> Surface {
    let [nx, ny, _] = grid.nodes();
    let index = |i| grid.index(i);
    let point = |i| grid.node(i);
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
                let (distance, near) = field.near(*p);
                let g = near.gradient(*p);
                #[cfg(test)]
                assert_eq!((distance, g), (field.distance(*p), field.gradient(*p)));
                // Half steps: the field is not an exact distance everywhere.
                *p -= g * (distance / g.norm_squared().max(0.05)) * 0.8;
            }
        }
    }
}
