//! The surface where a field has a given value, by naive surface nets (Gibson, "Constrained Elastic Surface Nets", 1998): one
//! vertex in each cell that the surface passes, at the mean of its crossings of the cell's edges; one quad for each edge of
//! the lattice that it crosses. Closed where it does not reach the side of the grid.

use super::field::FieldView;
use std::collections::HashMap;

/// Triangles that face larger distances.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Isosurface {
    /// In the field's frame.
    pub positions: Vec<[f32; 3]>,
    /// Corner indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// The surface where the field is `level`, in units of its frame; 0 is the mesh itself. It reads every node of the grid and allocates: for
/// pictures and files, not for frames.
pub fn isosurface(view: &FieldView<'_>, level: f32) -> Isosurface {
    let mut net = Net {
        view,
        level,
        values: Layers::new(view, level),
        vertex_of_cell: HashMap::new(),
        surface: Isosurface::default(),
    };
    net.run();
    net.surface
}

/// All values of the grid, less the level.
struct Layers {
    values: Vec<f32>,
    nodes: [u32; 3],
}

impl Layers {
    fn new(view: &FieldView<'_>, level: f32) -> Self {
        let nodes = view.shape.nodes();
        let [nx, ny, nz] = nodes;
        let values =
            (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])));
        Self {
            values: values.map(|n| view.node(n) - level).collect(),
            nodes,
        }
    }

    fn at(&self, [i, j, k]: [u32; 3]) -> f32 {
        let [nx, ny, _] = self.nodes.map(|n| n as usize);
        self.values[i as usize + nx * (j as usize + ny * k as usize)]
    }
}

struct Net<'a> {
    view: &'a FieldView<'a>,
    level: f32,
    values: Layers,
    vertex_of_cell: HashMap<[u32; 3], u32>,
    surface: Isosurface,
}

impl Net<'_> {
    fn run(&mut self) {
        let [nx, ny, nz] = self.values.nodes;
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    for axis in 0..3 {
                        self.edge([i, j, k], axis);
                    }
                }
            }
        }
    }

    /// The quad around the edge from a node along an axis, if the surface crosses it.
    fn edge(&mut self, node: [u32; 3], axis: usize) {
        let mut end = node;
        end[axis] += 1;
        if end[axis] >= self.values.nodes[axis] {
            return;
        }
        let (a, b) = (self.values.at(node) < 0.0, self.values.at(end) < 0.0);
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        // On the side of the grid there are no four cells.
        let inner = |k: usize| node[k] > 0 && node[k] + 1 < self.values.nodes[k];
        if a == b || !inner(u) || !inner(v) {
            return;
        }
        let corners = [(1, 1), (0, 1), (0, 0), (1, 0)].map(|(du, dv)| {
            let mut cell = node;
            cell[u] -= du;
            cell[v] -= dv;
            self.vertex(cell)
        });
        // Counter-clockwise around the axis, which points outward where the edge begins inside.
        let [p, q, r, s] = corners;
        let quad = if a { [p, q, r, s] } else { [p, s, r, q] };
        self.surface.triangles.push([quad[0], quad[1], quad[2]]);
        self.surface.triangles.push([quad[0], quad[2], quad[3]]);
    }

    fn vertex(&mut self, cell: [u32; 3]) -> u32 {
        if let Some(&known) = self.vertex_of_cell.get(&cell) {
            return known;
        }
        let index = self.surface.positions.len() as u32;
        let at = self.mean_crossing(cell);
        let shape = &self.view.shape;
        let position = std::array::from_fn(|k| shape.cell.mul_add(at[k], shape.origin[k]));
        self.surface.positions.push(position);
        self.vertex_of_cell.insert(cell, index);
        index
    }

    fn mean_crossing(&self, cell: [u32; 3]) -> [f32; 3] {
        let corner =
            |c: usize| -> [u32; 3] { std::array::from_fn(|k| cell[k] + (c as u32 >> k & 1)) };
        let values: [f32; 8] = std::array::from_fn(|c| self.values.at(corner(c)));
        let (mut sum, mut count) = ([0.0; 3], 0.0_f32);
        for (c, axis) in (0..8).flat_map(|c| (0..3).map(move |axis| (c, axis))) {
            let d = c | 1 << axis;
            if d == c || (values[c] < 0.0) == (values[d] < 0.0) {
                continue;
            }
            let t = values[c] / (values[c] - values[d]);
            for (k, sum) in sum.iter_mut().enumerate() {
                *sum += corner(c)[k] as f32 + if k == axis { t } else { 0.0 };
            }
            count += 1.0;
        }
        debug_assert!(count > 0.0, "the level {} passes the cell", self.level);
        sum.map(|s| s / count.max(1.0))
    }
}
