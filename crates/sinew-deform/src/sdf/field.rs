//! The field as data: where its nodes are, which bricks hold values, and how a point is looked up.
//!
//! Nodes form a *corner* lattice: node `(i, j, k)` is at `origin + cell * (i, j, k)`, and a value belongs to that point.
//! A brick spans 7 cells an axis and holds all 8 nodes on it, so that one look-up reads one brick: nodes on a face
//! shared by two bricks are in both. Beside the bricks there is the coarse level, one node at each corner of
//! each brick (every seventh node of the lattice). Values are in cells.

use super::frame::FieldFrame;
use super::half::single_from;
use super::reach::FieldReach;
use sinew_geom::vec3::length;

/// Cells of a brick along each axis.
pub(crate) const BRICK_CELLS: usize = 7;
/// Nodes of a brick along each axis.
pub(crate) const BRICK_NODES: usize = 8;
/// Nodes of a brick: x fastest, then y, then z.
pub(crate) const BRICK_VALUES: usize = 512;
/// Entry of the brick table for a brick without values.
pub const NO_BRICK: u32 = u32::MAX;

/// Distance of nodes without one, in units of the field's frame: nodes of `tressfx_sdf` that no triangle is near.
pub const UNSET: f32 = 1e10;

/// [`UNSET`] in cells of this size: no cells are so small or so large that it could be a distance in a grid, or overflow between nodes.
pub(crate) fn unset_in_cells(cell: f32) -> f32 {
    (UNSET / cell).clamp(1e9, 1e30)
}

/// Positions of the nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GridShape {
    /// Node `(0, 0, 0)`, in the field's frame.
    pub origin: [f32; 3],
    /// Distance of neighbouring nodes, in units of the field's frame.
    pub cell: f32,
    /// Bricks along each axis.
    pub bricks: [u32; 3],
}

impl GridShape {
    /// Nodes along each axis.
    pub fn nodes(&self) -> [u32; 3] {
        self.bricks.map(|b| b * BRICK_CELLS as u32 + 1)
    }
    /// Lowest and highest corner of a box that is larger by a cell on each side, in cells from the first node. The box reaches the grid at
    /// least: a look-up of a point outside of the grid takes the closest point of the grid.
    pub(super) fn in_cells(&self, reach: &FieldReach) -> [[f32; 3]; 2] {
        let from_first = |p: &[f32; 3], k: usize| (p[k] - self.origin[k]) / self.cell;
        let last = self.nodes().map(|n| n as f32 - 1.0);
        [
            [0, 1, 2].map(|k| (from_first(&reach.low, k) - 1.0).min(last[k])),
            [0, 1, 2].map(|k| (from_first(&reach.high, k) + 1.0).max(0.0)),
        ]
    }
    /// Bricks of the whole grid.
    pub fn brick_count(&self) -> usize {
        self.bricks.iter().map(|&b| b as usize).product()
    }
    /// Nodes of the coarse level.
    pub(crate) fn coarse_count(&self) -> usize {
        self.bricks.iter().map(|&b| b as usize + 1).product()
    }
    /// Position of a node in the field's frame. Nodes beyond the grid are allowed.
    pub fn node_position(&self, node: [u32; 3]) -> [f32; 3] {
        std::array::from_fn(|k| self.cell.mul_add(node[k] as f32, self.origin[k]))
    }
    /// Position of the last node of the grid.
    pub fn high(&self) -> [f32; 3] {
        self.node_position(self.nodes().map(|n| n.saturating_sub(1)))
    }
    /// Number of a brick, x fastest.
    pub(crate) fn brick_index(&self, b: [u32; 3]) -> usize {
        let [x, y, z] = b.map(|c| c as usize);
        let [nx, ny, _] = self.bricks.map(|c| c as usize);
        x + nx * (y + ny * z)
    }
    /// Coordinates of the brick with that index in the table (x fastest).
    pub fn brick_at(&self, index: usize) -> [u32; 3] {
        unflatten(index, self.bricks)
    }
    /// Index of a node of the coarse level, x fastest.
    pub fn coarse_index(&self, c: [u32; 3]) -> usize {
        let [x, y, z] = c.map(|c| c as usize);
        let [nx, ny, _] = self.bricks.map(|c| c as usize + 1);
        x + nx * (y + ny * z)
    }
    /// Coordinates of the coarse node with that index.
    pub fn coarse_at(&self, index: usize) -> [u32; 3] {
        unflatten(index, self.bricks.map(|b| b + 1))
    }
}

fn unflatten(index: usize, counts: [u32; 3]) -> [u32; 3] {
    let [nx, ny, _] = counts.map(|c| (c as usize).max(1));
    [index % nx, index / nx % ny, index / (nx * ny)].map(|c| c as u32)
}

/// Distances at the nodes of bricks, in cells: 512 per brick, x fastest, then y, then z.
#[derive(Clone, Copy, Debug)]
pub enum BrickValues<'a> {
    /// Single precision.
    Single(&'a [[f32; BRICK_VALUES]]),
    /// IEEE half precision.
    Half(&'a [[u16; BRICK_VALUES]]),
}

impl BrickValues<'_> {
    /// One distance, in cells; 0 if there is no such brick.
    #[inline]
    pub fn get(&self, slot: usize, node: usize) -> f32 {
        match self {
            Self::Single(v) => v.get(slot).map_or(0.0, |b| b[node % BRICK_VALUES]),
            Self::Half(v) => v
                .get(slot)
                .map_or(0.0, |b| single_from(b[node % BRICK_VALUES])),
        }
    }

    /// The corners of a cell: x fastest.
    #[inline]
    pub(super) fn cell(&self, slot: usize, node: usize) -> [f32; 8] {
        match self {
            Self::Single(v) => v.get(slot).map_or([0.0; 8], |b| corners(b, node)),
            Self::Half(v) => (v.get(slot)).map_or([0.0; 8], |b| corners(b, node).map(single_from)),
        }
    }
}

#[inline]
fn corners<T: Copy>(brick: &[T; BRICK_VALUES], node: usize) -> [T; 8] {
    // One check for all eight.
    let n = node.min(BRICK_VALUES - 74);
    // No closure: it may stay a function of its own, and this is the heart of each look-up.
    [
        brick[n],
        brick[n + 1],
        brick[n + 8],
        brick[n + 9],
        brick[n + 64],
        brick[n + 65],
        brick[n + 72],
        brick[n + 73],
    ]
}

/// A built field: borrowed, cheap to copy, without locks. Distances are positive outside.
///
/// In bricks, a distance is the trilinear interpolation of exact distances. Between bricks, farther from the surface than the band, it is
/// that of the coarse level, whose nodes are exact, too, but seven cells apart. Outside the grid it is a lower bound: see [`Self::sample`].
#[derive(Clone, Copy, Debug)]
pub struct FieldView<'a> {
    /// Positions of the nodes.
    pub shape: GridShape,
    /// For each brick, the index of its values, or [`NO_BRICK`].
    pub table: &'a [u32],
    /// Distances at the corners of bricks, in cells, indexed by [`GridShape::coarse_index`].
    pub coarse: &'a [f32],
    /// Distances at the nodes of bricks, in cells.
    pub values: BrickValues<'a>,
    /// Field space from scene space.
    pub frame: FieldFrame,
}

/// Eight values around a point and where it is between them.
struct Cell {
    values: [f32; 8],
    at: [f32; 3],
    /// Cells an edge of this one is long: 1, or 7 on the coarse level.
    size: f32,
}

impl FieldView<'_> {
    /// Signed distance at a point of the field's frame, in its units.
    ///
    /// Outside the grid, with `c` the closest point of the grid and `e` the distance to it, it is `sqrt(sample(c)^2 + e^2)`: at most the
    /// true distance if the mesh is inside the grid, at least `sample(c)`, and continuous. If the mesh reaches through the side of a fixed
    /// box (`sample(c) < 0`), it is `sample(c) + e`. A point that is not finite gives NaN or infinity.
    ///
    /// Eight reads, about 10 ns.
    pub fn sample(&self, point: [f32; 3]) -> f32 {
        let (inside, beyond) = self.locate(point);
        let value = self.cell(inside).value();
        outside(value, length(beyond)) * self.shape.cell
    }

    /// [`Self::sample`] and the derivative of that same interpolation: exact for the field, length about one
    /// near the surface. It is zero where values around a point balance (the centre of a symmetric shape), and jumps
    /// between cells.
    pub(crate) fn sample_with_gradient(&self, point: [f32; 3]) -> (f32, [f32; 3]) {
        let (inside, beyond) = self.locate(point);
        let (value, gradient) = self.cell(inside).value_and_gradient();
        let away = length(beyond);
        let total = outside(value, away);
        let gradient = if away > 0.0 {
            gradient_outside(value, gradient, beyond, away, total)
        } else {
            gradient
        };
        (total * self.shape.cell, gradient)
    }

    /// Distance and gradient where the distance is below `threshold`, at the price of one coarse cell
    /// where a whole brick is further away than that.
    #[cfg(test)]
    pub(crate) fn sample_below(&self, point: [f32; 3], threshold: f32) -> Option<(f32, [f32; 3])> {
        let (inside, beyond) = self.locate(point);
        let limit = threshold / self.shape.cell;
        // Outside the grid nothing is nearer than the side of the grid.
        if length(beyond) > limit.max(0.0) {
            return None;
        }
        let value = self.cell(inside).value();
        // Also turns NaN away.
        if value < limit {
            let (distance, gradient) = self.sample_with_gradient(point);
            return (distance < threshold).then_some((distance, gradient));
        }
        None
    }

    /// [`Self::sample`], or `None` if one of the eight nodes around the point is [`UNSET`], as the look-up of TressFX does. Only
    /// `tressfx_sdf` leaves nodes unset.
    pub fn sample_set(&self, point: [f32; 3]) -> Option<f32> {
        let (inside, beyond) = self.locate(point);
        let cell = self.cell(inside);
        let least = 0.5 * unset_in_cells(self.shape.cell);
        let is_set = cell.values.iter().all(|v| *v < least);
        is_set.then(|| outside(cell.value(), length(beyond)) * self.shape.cell)
    }

    /// [`Self::sample_with_gradient`] at a point of the scene, in units and axes of the scene.
    #[cfg(test)]
    pub(crate) fn sample_with_gradient_in_scene(&self, point: [f32; 3]) -> (f32, [f32; 3]) {
        let (d, g) = self.sample_with_gradient(self.frame.point_from_scene(point));
        (
            d * self.frame.scene_length(),
            self.frame.gradient_to_scene(g),
        )
    }

    /// [`Self::sample_below`] at a point of the scene, in units and axes of the scene.
    #[cfg(test)]
    pub(crate) fn sample_below_in_scene(
        &self,
        point: [f32; 3],
        threshold: f32,
    ) -> Option<(f32, [f32; 3])> {
        let unit = self.frame.scene_length();
        let (d, g) = self.sample_below(self.frame.point_from_scene(point), threshold / unit)?;
        Some((d * unit, self.frame.gradient_to_scene(g)))
    }

    /// Distance at a node, in units of the field's frame: exact in bricks, interpolated elsewhere. Beyond the grid, that of the nearest
    /// node.
    pub fn node(&self, node: [u32; 3]) -> f32 {
        let highest = self.shape.nodes().map(|n| n.saturating_sub(1));
        let at = std::array::from_fn(|k| node[k].min(highest[k]) as f32);
        self.cell(at).value() * self.shape.cell
    }

    /// Signed distances at all nodes in metres of the scene, z fastest; NaN at nodes without a distance. Allocates 4 bytes per node: for
    /// files, not for frames.
    pub fn dense(&self) -> Vec<f32> {
        let unit = self.frame.scene_length();
        let unset = 0.5 * unset_in_cells(self.shape.cell) * self.shape.cell;
        let [x, y, z] = self.shape.nodes();
        let mut out = Vec::with_capacity((x as usize) * (y as usize) * (z as usize));
        for i in 0..x {
            for j in 0..y {
                out.extend((0..z).map(|k| {
                    let value = self.node([i, j, k]);
                    if value < unset {
                        value * unit
                    } else {
                        f32::NAN
                    }
                }));
            }
        }
        out
    }

    /// Scene space from node indices: three rows that are applied to `(i, j, k, 1)`.
    pub fn scene_from_node(&self) -> [[f32; 4]; 3] {
        let at = |node| self.frame.point_to_scene(self.shape.node_position(node));
        let origin = at([0; 3]);
        let steps = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(at);
        std::array::from_fn(|r| {
            let step = |axis: usize| steps[axis][r] - origin[r];
            [step(0), step(1), step(2), origin[r]]
        })
    }

    /// Whether a node is in a brick, where distances within the band are exact.
    pub fn is_exact(&self, node: [u32; 3]) -> bool {
        let brick = std::array::from_fn(|k| {
            (node[k] / BRICK_CELLS as u32).min(self.shape.bricks[k].saturating_sub(1))
        });
        (self.table.get(self.shape.brick_index(brick))).is_some_and(|&s| s != NO_BRICK)
    }

    /// The point in cells from the origin, moved into the grid, and by how much it was moved.
    #[inline]
    fn locate(&self, point: [f32; 3]) -> ([f32; 3], [f32; 3]) {
        let inverse = 1.0 / self.shape.cell;
        let mut inside = [0.0; 3];
        let mut beyond = [0.0; 3];
        for k in 0..3 {
            let at = (point[k] - self.shape.origin[k]) * inverse;
            let highest = self.shape.bricks[k] as f32 * BRICK_CELLS as f32;
            inside[k] = at.clamp(0.0, highest);
            beyond[k] = at - inside[k];
        }
        (inside, beyond)
    }

    /// The cell around a point of the grid.
    #[inline]
    fn cell(&self, at: [f32; 3]) -> Cell {
        let mut brick = [0_u32; 3];
        let mut within = [0.0; 3];
        for k in 0..3 {
            brick[k] = ((at[k] * (1.0 / BRICK_CELLS as f32)) as u32)
                .min(self.shape.bricks[k].saturating_sub(1));
            within[k] = at[k] - (brick[k] * BRICK_CELLS as u32) as f32;
        }
        let slot = self.table.get(self.shape.brick_index(brick));
        match slot {
            Some(&slot) if slot != NO_BRICK => self.fine(slot as usize, within),
            _ => self.coarse_cell(brick, within),
        }
    }

    #[inline]
    fn fine(&self, slot: usize, within: [f32; 3]) -> Cell {
        let low = within.map(|w| (w as usize).min(BRICK_CELLS - 1));
        Cell {
            values: self.values.cell(slot, low[0] + 8 * low[1] + 64 * low[2]),
            at: std::array::from_fn(|k| within[k] - low[k] as f32),
            size: 1.0,
        }
    }

    #[inline]
    fn coarse_cell(&self, brick: [u32; 3], within: [f32; 3]) -> Cell {
        let nx = self.shape.bricks[0] as usize + 1;
        let nxy = nx * (self.shape.bricks[1] as usize + 1);
        let base = self.shape.coarse_index(brick);
        let offsets = [0, 1, nx, nx + 1, nxy, nxy + 1, nxy + nx, nxy + nx + 1];
        Cell {
            values: offsets.map(|o| self.coarse.get(base + o).copied().unwrap_or(f32::INFINITY)),
            at: within.map(|w| w * (1.0 / BRICK_CELLS as f32)),
            size: BRICK_CELLS as f32,
        }
    }
}

/// Fused operations are calls where a program is built for all machines of its kind: here there are none.
impl Cell {
    #[inline]
    fn value(&self) -> f32 {
        let v = &self.values;
        let [x, y, z] = self.at;
        let line = |a: f32, b: f32, t: f32| (b - a) * t + a;
        let low = line(line(v[0], v[1], x), line(v[2], v[3], x), y);
        let high = line(line(v[4], v[5], x), line(v[6], v[7], x), y);
        line(low, high, z)
    }

    #[inline]
    fn value_and_gradient(&self) -> (f32, [f32; 3]) {
        let v = &self.values;
        let [x, y, z] = self.at;
        let line = |a: f32, b: f32, t: f32| (b - a) * t + a;
        let dx = [v[1] - v[0], v[3] - v[2], v[5] - v[4], v[7] - v[6]];
        let on_x = [0, 1, 2, 3].map(|i| dx[i] * x + v[2 * i]);
        let dy = [on_x[1] - on_x[0], on_x[3] - on_x[2]];
        let on_y = [dy[0] * y + on_x[0], dy[1] * y + on_x[2]];
        let dz = on_y[1] - on_y[0];
        let gradient = [
            line(line(dx[0], dx[1], y), line(dx[2], dx[3], y), z),
            line(dy[0], dy[1], z),
            dz,
        ];
        (dz * z + on_y[0], gradient.map(|g| g * (1.0 / self.size)))
    }
}

/// Value outside the grid from that on its side.
#[inline]
fn outside(value: f32, away: f32) -> f32 {
    if away == 0.0 {
        value
    } else if value > 0.0 {
        (value * value + away * away).sqrt()
    } else {
        value + away
    }
}

/// Along the axes on which the point was moved the side's value does not change.
fn gradient_outside(
    value: f32,
    on_side: [f32; 3],
    beyond: [f32; 3],
    away: f32,
    total: f32,
) -> [f32; 3] {
    let (along, off) = if value > 0.0 {
        (value / total, 1.0 / total)
    } else {
        (1.0, 1.0 / away)
    };
    std::array::from_fn(|k| {
        if beyond[k] == 0.0 {
            on_side[k] * along
        } else {
            beyond[k] * off
        }
    })
}
