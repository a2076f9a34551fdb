//! The TressFX field on a dense grid, as the shaders of TressFX 4.1 build it.
//!
//! Each triangle writes its distance to the nodes near it; the smallest wins. Nodes that no triangle is near stay [`UNSET`], which look-ups
//! must handle.

use crate::sdf::triangle::{P, cross, dot, sub};
use crate::sdf::{UNSET, closest_point};
use sinew_geom::{Topology, Vec3};

/// Why there is no such field.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompatibilityError {
    /// Nothing to put a box around.
    #[error("the mesh has no vertices, no extent, or positions that are NaN or infinite")]
    NoExtent,
    /// A grid that would not fit.
    #[error("the grid needs {found} nodes, but at most {allowed} are allowed")]
    TooLarge {
        /// Nodes needed.
        found: f64,
        /// Nodes allowed.
        allowed: f64,
    },
}

/// A dense grid of distances. Node `(i, j, k)` is at `origin + cell * (i, j, k)`, its index `i + nx * (j + ny * k)`.
#[derive(Clone, Debug, PartialEq)]
pub struct CompatibilityField {
    /// Position of the first node.
    pub origin: [f32; 3],
    /// Distance of neighbouring nodes.
    pub cell: f32,
    /// Nodes along each axis.
    pub nodes: [u32; 3],
    /// Signed distances, [`UNSET`] where there is none.
    pub values: Vec<f32>,
    /// Origin and centre in the bind pose.
    bound: [P; 2],
}

/// The most nodes allowed: 1 GiB.
const MOST_NODES: f64 = (1 << 28) as f64;

impl CompatibilityField {
    /// Box and cells from the bind pose: `cells_along_x` of the bounding sphere's cube (the original's 50 for bodies, 32
    /// for hands) and `floor(0.8 cells_along_x)` more on each side. All nodes unset.
    ///
    /// # Errors
    /// [`CompatibilityError`]: no extent, or too many nodes.
    pub fn new(
        bind_positions: &[[f32; 3]],
        cells_along_x: u32,
    ) -> Result<Self, CompatibilityError> {
        let count = bind_positions.len() as f32;
        let sum = bind_positions
            .iter()
            .fold([0.0; 3], |s, p| [s[0] + p[0], s[1] + p[1], s[2] + p[2]]);
        let center = sum.map(|c| c / count);
        let square = |p: &P| {
            let off = sub(*p, center);
            dot(off, off)
        };
        let radius = bind_positions.iter().map(square).fold(0.0, f32::max).sqrt();
        if !(radius > 0.0 && radius.is_finite() && cells_along_x > 0) {
            return Err(CompatibilityError::NoExtent);
        }
        let (low, high) = (center.map(|c| c - radius), center.map(|c| c + radius));
        let cell = (high[0] - low[0]) / cells_along_x as f32;
        let padding = (0.8 * cells_along_x as f32).floor() * cell;
        // Each axis by itself: rounding makes them differ by one now and then, as in the original.
        let nodes: P =
            std::array::from_fn(|k| (((high[k] + padding) - (low[k] - padding)) / cell).trunc());
        let found: f64 = nodes.iter().map(|&n| f64::from(n)).product();
        if found > MOST_NODES {
            let allowed = MOST_NODES;
            return Err(CompatibilityError::TooLarge { found, allowed });
        }
        let origin = low.map(|l| l - padding);
        Ok(Self {
            origin,
            cell,
            nodes: nodes.map(|n| n as u32),
            values: vec![UNSET; found as usize],
            bound: [origin, center],
        })
    }

    /// Centre of the bind pose's box: the mean of its vertices.
    pub fn center(&self) -> [f32; 3] {
        self.bound[1]
    }

    /// Moves the box (never turns or scales it) so that its centre is at `center`. Where it was before does not matter.
    pub(crate) fn move_to(&mut self, center: [f32; 3]) {
        self.origin = self.origin_around(center);
    }

    /// Where the first node then is.
    pub(super) fn origin_around(&self, center: [f32; 3]) -> [f32; 3] {
        let [origin, bound] = self.bound;
        let moved = sub(center, bound);
        std::array::from_fn(|k| origin[k] + moved[k])
    }

    /// Writes the distances of a frame's mesh. Positions that `topology` names and that are missing count as the origin.
    pub fn build(&mut self, topology: &Topology, positions: &[[f32; 3]]) {
        let mut keys = std::mem::take(&mut self.values);
        keys.fill(f32::from_bits(key(UNSET)));
        for t in topology.triangles() {
            let corners = t.map(|v| positions.get(v as usize).copied().unwrap_or_default());
            self.scatter(corners, &mut |node, distance| {
                if let Some(k) = keys.get_mut(node) {
                    *k = f32::from_bits(k.to_bits().min(key(distance)));
                }
            });
        }
        for k in &mut keys {
            *k = f32::from_bits(k.to_bits().rotate_right(1));
        }
        self.values = keys;
    }

    /// Visits the nodes near a triangle: its box grown by a cell, and a node more on each side.
    fn scatter(&self, corners: [P; 3], visit: &mut impl FnMut(usize, f32)) {
        let normal = cross(sub(corners[1], corners[0]), sub(corners[2], corners[0]));
        let [x, y, z] = [0, 1, 2].map(|k| self.range(corners.map(|c| c[k]), k));
        for k in z.0..=z.1 {
            for j in y.0..=y.1 {
                for i in x.0..=x.1 {
                    let at = [i, j, k];
                    let p = self.node_position(at);
                    let corners = corners.map(Vec3::from);
                    let (closest, _) = closest_point(Vec3::from(p), corners);
                    let distance = (Vec3::from(p) - closest).norm();
                    let front = dot(normal, sub(p, corners[0].into())) >= 0.0;
                    visit(self.index(at), if front { distance } else { -distance });
                }
            }
        }
    }

    /// First and last node along one axis, cut to the grid.
    fn range(&self, corners: P, axis: usize) -> (u32, u32) {
        let low = corners[0].min(corners[1]).min(corners[2]) - self.cell;
        let high = corners[0].max(corners[1]).max(corners[2]) + self.cell;
        let node = |v: f32| ((v - self.origin[axis]) / self.cell).trunc();
        let last = self.nodes[axis].saturating_sub(1);
        let first = (node(low) - 1.0).max(0.0) as u32;
        (first, ((node(high) + 1.0).max(0.0) as u32).min(last))
    }

    /// Place of a node in [`Self::values`].
    pub fn index(&self, [i, j, k]: [u32; 3]) -> usize {
        let [nx, ny, _] = self.nodes.map(|n| n as usize);
        i as usize + nx * (j as usize + ny * k as usize)
    }

    /// Position of a node.
    pub fn node_position(&self, node: [u32; 3]) -> [f32; 3] {
        std::array::from_fn(|k| self.cell.mul_add(node[k] as f32, self.origin[k]))
    }

    /// Nodes that some triangle reached.
    pub fn written(&self) -> usize {
        self.values.iter().filter(|&&v| v != UNSET).count()
    }

    /// Lowest corner of the cell of a point, place in it, and the cell's values; `None` where the original says [`UNSET`]:
    /// in the last two layers of cells, outside, and where one corner is unset.
    fn cell_at(&self, point: [f32; 3]) -> Option<([f32; 3], [f32; 8])> {
        let scaled: P = std::array::from_fn(|k| (point[k] - self.origin[k]) / self.cell);
        let base = scaled.map(f32::trunc);
        let inside = |k: usize| base[k] >= 0.0 && base[k] < self.nodes[k] as f32 - 2.0;
        if !(inside(0) && inside(1) && inside(2)) {
            return None;
        }
        let low = base.map(|b| b as u32);
        let values: [f32; 8] = std::array::from_fn(|c| {
            let at = std::array::from_fn(|k| low[k] + (c as u32 >> k & 1));
            self.values.get(self.index(at)).copied().unwrap_or(UNSET)
        });
        let set = values.iter().all(|&v| v != UNSET);
        set.then_some((sub(scaled, base), values))
    }

    /// Trilinear interpolation, or [`UNSET`].
    pub fn sample(&self, point: [f32; 3]) -> f32 {
        self.cell_at(point)
            .map_or(UNSET, |(at, v)| interpolate(at, &v))
    }

    /// The original's gradient: forward differences over a tenth of a cell, four look-ups. Where one of them leaves the
    /// band, its 1e10 is in the result.
    #[cfg(test)]
    pub(crate) fn forward_gradient(&self, point: [f32; 3]) -> [f32; 3] {
        let h = 0.1 * self.cell;
        let here = self.sample(point);
        std::array::from_fn(|k| {
            let mut moved = point;
            moved[k] += h;
            (self.sample(moved) - here) / h
        })
    }

    /// The original's unused variant: one cell, and along each axis forward unless that leaves the cell, then backward.
    /// As in TressFX, the world step (a tenth of a cell) is added to the coordinate within the cell (0 to 1) without
    /// being divided by the cell's size. `None` where the look-up is unset.
    #[cfg(test)]
    pub(crate) fn mixed_gradient(&self, point: [f32; 3]) -> Option<[f32; 3]> {
        let (at, values) = self.cell_at(point)?;
        let h = 0.1 * self.cell;
        let here = interpolate(at, &values);
        Some(std::array::from_fn(|k| {
            let mut moved = at;
            let forward = at[k] + h <= 1.0;
            moved[k] += if forward { h } else { -h };
            let there = interpolate(moved, &values);
            if forward {
                (there - here) / h
            } else {
                (here - there) / h
            }
        }))
    }
}

/// Orders by magnitude, and of two values of one magnitude the positive one first.
pub(super) fn key(v: f32) -> u32 {
    v.to_bits().rotate_left(1)
}

fn interpolate([x, y, z]: P, v: &[f32; 8]) -> f32 {
    let line = |a: f32, b: f32, t: f32| a * (1.0 - t) + b * t;
    let low = line(line(v[0], v[1], x), line(v[2], v[3], x), y);
    let high = line(line(v[4], v[5], x), line(v[6], v[7], x), y);
    line(low, high, z)
}
