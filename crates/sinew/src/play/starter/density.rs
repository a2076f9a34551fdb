//! How many smoothing passes suit a mesh.

use crate::geom::{Asset, vec3};

/// Passes of a delta mush that suit a mesh, and the lengths that they follow from, in metres.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passes {
    pub(super) count: u32,
    /// Median length of the edges.
    pub(super) edge: f32,
    /// How far `count` passes of step 0.5 spread a detail: the standard deviation of the walk that they are.
    pub(super) spread: f32,
}

/// The spread that looks right at elbows and knees, as a fraction of the size of the character.
const SPREAD: f32 = 0.02;
/// Fewer do next to nothing; more cost too much.
const COUNT: (f32, f32) = (5.0, 200.0);

/// For all meshes of a character; `None` without triangles.
///
/// A pass of step `l` to the mean of neighbours at distance `h` spreads with variance `l h² / 2` along each direction of the surface, so
/// that `n` passes of step 0.5 spread `h / 2 * sqrt(n)`.
pub(super) fn passes(asset: &Asset) -> Option<Passes> {
    let mut lengths: Vec<f32> = Vec::new();
    for mesh in &asset.meshes {
        let at = |v: u32| mesh.positions[v as usize];
        for &[a, b, c] in mesh.topology.triangles() {
            lengths.extend([(a, b), (b, c), (c, a)].map(|(a, b)| vec3::distance(at(a), at(b))));
        }
    }
    if lengths.is_empty() {
        return None;
    }
    let middle = lengths.len() / 2;
    let edge = *lengths.select_nth_unstable_by(middle, f32::total_cmp).1;
    let size = asset.merged(&Default::default()).ok()?.diagonal();
    let wanted = (2.0 * SPREAD * size / edge).powi(2);
    let count = if wanted.is_finite() {
        wanted.round().clamp(COUNT.0, COUNT.1)
    } else {
        COUNT.0
    };
    Some(Passes {
        count: count as u32,
        edge,
        spread: 0.5 * edge * count.sqrt(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::{Mesh, Topology};

    /// Equilateral triangles of edge 1.
    fn net() -> Asset {
        let side = 120_u32;
        let at = |x: u32, y: u32| [x as f32 + 0.5 * y as f32, 0.75_f32.sqrt() * y as f32, 0.0];
        let positions: Vec<_> = (0..side * side).map(|v| at(v % side, v / side)).collect();
        let squares = (0..(side - 1) * (side - 1)).map(|s| s / (side - 1) * side + s % (side - 1));
        let triangles =
            squares.flat_map(|v| [[v, v + 1, v + side], [v + 1, v + side + 1, v + side]]);
        let topology = Topology::new(side * side, triangles.collect()).expect("valid");
        Asset {
            meshes: vec![Mesh::new("net", topology, positions)],
            ..Asset::default()
        }
    }

    /// A detail at one point, smoothed as the node does: half of the way to the mean of six neighbours at distance 1.
    #[test]
    fn passes_spread_as_far_as_they_say() {
        let found = passes(&net()).expect("triangles");
        assert!((found.edge - 1.0).abs() < 1e-4, "{found:?}");
        // A parallelogram of 119 edges a side: 178.5 wide and 103.06 high.
        let wanted = 0.02 * 178.5_f32.hypot(103.06);
        assert!((found.spread - wanted).abs() < 0.01 * wanted, "{found:?}");
        const SIDE: usize = 101;
        let mut now = vec![0.0_f64; SIDE * SIDE];
        now[SIDE / 2 * SIDE + SIDE / 2] = 1.0;
        for _ in 0..found.count {
            let old = now.clone();
            for y in 1..SIDE - 1 {
                for x in 1..SIDE - 1 {
                    let at = |dx: isize, dy: isize| {
                        old[(y as isize + dy) as usize * SIDE + (x as isize + dx) as usize]
                    };
                    let around = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)];
                    let mean: f64 = around.iter().map(|(dx, dy)| at(*dx, *dy)).sum::<f64>() / 6.0;
                    now[y * SIDE + x] = 0.5 * at(0, 0) + 0.5 * mean;
                }
            }
        }
        let middle = (SIDE / 2) as f64;
        let along = |x: usize, y: usize| (x as f64 - middle) + 0.5 * (y as f64 - middle);
        let variance: f64 = (0..SIDE * SIDE)
            .map(|i| now[i] * along(i % SIDE, i / SIDE).powi(2))
            .sum();
        let spread = f64::from(found.spread);
        assert!(
            (variance.sqrt() - spread).abs() < 0.01 * spread,
            "{variance} {found:?}"
        );
    }

    #[test]
    fn meshes_of_no_size_have_a_number() {
        let topology = Topology::new(3, vec![[0, 1, 2]]).expect("valid");
        let asset = Asset {
            meshes: vec![Mesh::new("dot", topology, vec![[0.0; 3]; 3])],
            ..Asset::default()
        };
        assert_eq!(passes(&asset).expect("a triangle").count, 5);
        assert!(passes(&Asset::default()).is_none());
    }
}
