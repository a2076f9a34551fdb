//! How much hair is where, and how much light comes through: a grid over all strands of a picture.
//!
//! Each segment puts its mean shadow, pi/4 times diameter times length, into the eight nodes around it. Divided by the volume of a cell
//! this is the extinction of light in 1/m. The integral of it along a way is the optical depth: the mean number of hairs on it.

use super::V;

/// Nodes along the longest side.
const LONGEST: usize = 64;
/// Empty nodes around all strands.
const MARGIN: f32 = 1.5;

pub(super) struct DensityGrid {
    low: V,
    cell: f32,
    size: [usize; 3],
    /// Extinction at the nodes, 1/m; x runs fastest.
    pub(super) nodes: Vec<f32>,
}

impl DensityGrid {
    /// An empty grid around a box.
    pub(super) fn new([low, high]: [V; 2]) -> Self {
        let longest = (high - low).max().max(1e-6);
        let cell = longest / (LONGEST as f32 - 1.0 - 2.0 * MARGIN);
        let low = low - V::repeat(MARGIN * cell);
        let nodes = |c: usize| ((high[c] - low[c]) / cell + MARGIN).ceil() as usize + 1;
        let size = [0, 1, 2].map(nodes);
        Self {
            low,
            cell,
            size,
            nodes: vec![0.0; size.iter().product()],
        }
    }

    /// Adds a segment.
    pub(super) fn add(&mut self, from: V, to: V, diameter: f32) {
        let length = (to - from).norm();
        let pieces = (2.0 * length / self.cell).ceil().clamp(1.0, 256.0);
        let shadow = std::f32::consts::FRAC_PI_4 * diameter * length / (pieces * self.cell.powi(3));
        for i in 0..pieces as usize {
            let at = from + (to - from) * ((i as f32 + 0.5) / pieces);
            let (corners, shares) = self.around(at);
            for (corner, share) in corners.into_iter().zip(shares) {
                self.nodes[corner] += shadow * share;
            }
        }
    }

    /// The eight nodes around a point and its shares of them; points outside are moved to the rim.
    pub(super) fn around(&self, at: V) -> ([usize; 8], [f32; 8]) {
        let at = (at - self.low) / self.cell;
        let low: [usize; 3] =
            std::array::from_fn(|c| (at[c].max(0.0) as usize).min(self.size[c].saturating_sub(2)));
        let part = |c: usize| (at[c] - low[c] as f32).clamp(0.0, 1.0);
        let [x, y, z] = [0, 1, 2].map(part);
        let first = self.index(low);
        let [dy, dz] = [self.size[0], self.size[0] * self.size[1]];
        let corner = |i: usize| first + (i & 1) + (i >> 1 & 1) * dy + (i >> 2) * dz;
        let pick = |p: f32, bit: usize| if bit == 1 { p } else { 1.0 - p };
        let share = |i: usize| pick(x, i & 1) * pick(y, i >> 1 & 1) * pick(z, i >> 2);
        (std::array::from_fn(corner), std::array::from_fn(share))
    }

    /// The value of a quantity at the nodes, at a point.
    pub(super) fn value(&self, of_nodes: &[f32], at: V) -> f32 {
        let (corners, shares) = self.around(at);
        corners
            .iter()
            .zip(shares)
            .map(|(&c, share)| of_nodes[c] * share)
            .sum()
    }

    /// Direction out of the hair: where it becomes thinner. `None` in the middle of even hair.
    pub(super) fn outwards(&self, at: V) -> Option<V> {
        let step = 1.5 * self.cell;
        let slope = |c: usize| {
            let mut aside = V::zeros();
            aside[c] = step;
            self.value(&self.nodes, at - aside) - self.value(&self.nodes, at + aside)
        };
        V::new(slope(0), slope(1), slope(2)).try_normalize(1e-6)
    }

    /// Optical depth from each node that has hair around it towards a direction, to the rim; 0 at the others.
    pub(super) fn depths(&self, direction: V) -> Vec<f32> {
        let mut out = vec![0.0; self.nodes.len()];
        for z in 0..self.size[2] {
            for y in 0..self.size[1] {
                for x in 0..self.size[0] {
                    let node = [x, y, z];
                    if self.has_hair_around(node) {
                        out[self.index(node)] = self.depth(node, direction);
                    }
                }
            }
        }
        out
    }

    /// The way starts one cell off: hairs in the same cell are not in front of each other.
    fn depth(&self, node: [usize; 3], direction: V) -> f32 {
        let start = V::from(node.map(|n| n as f32 + 0.5));
        let mut sum = 0.0;
        for step in 1.. {
            let at = start + direction * step as f32;
            let is_inside = (0..3).all(|c| at[c] >= 0.0 && at[c] < self.size[c] as f32);
            if !is_inside {
                break;
            }
            sum += self.nodes[self.index([0, 1, 2].map(|c| at[c] as usize))];
        }
        sum * self.cell
    }

    fn has_hair_around(&self, node: [usize; 3]) -> bool {
        let range = |c: usize| node[c].saturating_sub(1)..(node[c] + 2).min(self.size[c]);
        range(2)
            .any(|z| range(1).any(|y| range(0).any(|x| self.nodes[self.index([x, y, z])] > 0.0)))
    }

    fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.size[1] + y) * self.size[0] + x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of parallel hairs: depth is the number of hairs per area across them times diameter times the way, with the mean
    /// of pi/4 over all directions.
    #[test]
    fn the_depth_of_a_block_is_its_thickness_times_its_extinction() {
        let (hairs, diameter, side) = (60, 0.001, 0.3);
        let mut grid = DensityGrid::new([V::zeros(), V::repeat(side)]);
        let at = |i: i32| (i as f32 + 0.5) * side / hairs as f32;
        for (y, z) in (0..hairs).flat_map(|y| (0..hairs).map(move |z| (y, z))) {
            grid.add(
                V::new(0.0, at(y), at(z)),
                V::new(side, at(y), at(z)),
                diameter,
            );
        }
        let extinction =
            (hairs * hairs) as f32 * diameter / side.powi(2) * std::f32::consts::FRAC_PI_4;
        let depths = grid.depths(V::new(0.0, 1.0, 0.0));
        for height in [0.05, 0.15, 0.25] {
            let found = grid.value(&depths, V::new(0.15, height, 0.15));
            // One cell is left out, which is a 60th of the side.
            let expected = extinction * (side - height - grid.cell);
            assert!(
                (found - expected).abs() < extinction * grid.cell,
                "{found} {expected}"
            );
        }
        let total: f32 = grid.nodes.iter().sum::<f32>() * grid.cell.powi(3);
        let expected = (hairs * hairs) as f32 * diameter * side * std::f32::consts::FRAC_PI_4;
        // Sums of many small numbers in single precision.
        assert!((total / expected - 1.0).abs() < 5e-3, "{total} {expected}");
        let out = grid.outwards(V::new(0.15, side, 0.15)).expect("a rim");
        assert!(out.y > 0.99, "{out:?}");
    }

    #[test]
    fn hair_without_extent_has_a_grid() {
        let mut grid = DensityGrid::new([V::repeat(2.0); 2]);
        grid.add(V::repeat(2.0), V::repeat(2.0), 0.001);
        assert!(grid.depths(V::x()).iter().all(|d| *d == 0.0));
        assert_eq!(grid.outwards(V::repeat(2.0)), None);
    }
}
