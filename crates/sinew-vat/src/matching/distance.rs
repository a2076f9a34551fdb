//! How far one surface is from another.

use super::Vector;
use super::collapse::closest_weights;
use super::tree::{Extent, Tree};
use serde::{Deserialize, Serialize};

/// Distances of the points of a surface from another one, weighted by area.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SurfaceDistance {
    /// Squares times areas, summed: m^4 for metres.
    square: f64,
    area: f64,
    /// The largest one.
    pub max: f64,
}

impl SurfaceDistance {
    /// Root of the mean square.
    #[must_use]
    pub fn rms(&self) -> f64 {
        match self.area > 0.0 {
            true => (self.square / self.area).sqrt(),
            false => 0.0,
        }
    }

    /// Both together.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            square: self.square + other.square,
            area: self.area + other.area,
            max: self.max.max(other.max),
        }
    }
}

/// A surface that points are held against.
#[derive(Debug)]
pub struct SurfaceTree {
    triangles: Vec<[Vector; 3]>,
    tree: Tree,
}

impl SurfaceTree {
    /// Of the corners of its triangles. Cost: O(n log n).
    #[must_use]
    pub fn new(surface: &[[[f32; 3]; 3]]) -> Self {
        let triangles: Vec<[Vector; 3]> = surface.iter().map(|t| t.map(Vector::from)).collect();
        let boxes: Vec<Extent> = triangles.iter().map(|t| Extent::of(t)).collect();
        let tree = Tree::new(&boxes);
        Self { triangles, tree }
    }

    /// How far a point is from it, within what single precision tells; `None` where it has no triangle. Cost: O(log n).
    #[must_use]
    pub fn distance(&self, point: [f32; 3]) -> Option<f64> {
        let square = distance_squared(&point.into(), &self.triangles, &self.tree);
        (!self.triangles.is_empty()).then(|| square.sqrt())
    }
}

/// How far `triangles` are from `surface`, measured at four points of each triangle, a quarter of its area each; triangles without area count
/// for nothing in both, and so does everything where `surface` is empty.
///
/// What `surface` has and `triangles` have not is not seen: ask both ways. Cost: O(n log m).
#[must_use]
pub fn surface_distance(triangles: &[[[f32; 3]; 3]], surface: &[[[f32; 3]; 3]]) -> SurfaceDistance {
    let drawn = surface.iter().filter(|t| area(&t.map(Vector::from)) > 0.0);
    let surface = SurfaceTree::new(&drawn.copied().collect::<Vec<_>>());
    let mut sum = SurfaceDistance::default();
    if surface.triangles.is_empty() {
        return sum;
    }
    for corners in triangles {
        let corners = corners.map(Vector::from);
        let area = area(&corners);
        if area <= 0.0 {
            continue;
        }
        let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
        let quarters = corners.map(|corner| (middle + corner) * 0.5);
        for point in [middle, quarters[0], quarters[1], quarters[2]] {
            let square = distance_squared(&point, &surface.triangles, &surface.tree);
            sum = sum.and(&SurfaceDistance {
                square: square * area / 4.0,
                area: area / 4.0,
                max: square.sqrt(),
            });
        }
    }
    sum
}

fn area([a, b, c]: &[Vector; 3]) -> f64 {
    f64::from((b - a).cross(&(c - a)).norm()) / 2.0
}

fn distance_squared(point: &Vector, surface: &[[Vector; 3]], tree: &Tree) -> f64 {
    let mut least = f32::MAX;
    tree.visit(point, &mut least, &mut |triangle, least| {
        let corners = &surface[triangle as usize];
        let [a, b, c] = closest_weights(point, corners);
        let place = corners[0] * a + corners[1] * b + corners[2] * c;
        *least = least.min((place - point).norm_squared());
    });
    f64::from(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit square in two triangles at a height, and a point of it that is nothing.
    fn square(height: f32) -> Vec<[[f32; 3]; 3]> {
        let at = |x: f32, y: f32| [x, y, height];
        vec![
            [at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0)],
            [at(0.0, 0.0), at(1.0, 1.0), at(0.0, 1.0)],
            [at(9.0, 0.0); 3],
        ]
    }

    #[test]
    fn squares_above_each_other_are_their_distance_apart() {
        let found = surface_distance(&square(0.25), &square(0.0));
        assert!((found.rms() - 0.25).abs() < 1e-7 && (found.max - 0.25).abs() < 1e-7);
        assert_eq!(
            surface_distance(&square(0.25), &[]),
            SurfaceDistance::default()
        );
        assert_eq!(SurfaceDistance::default().rms(), 0.0);
    }

    /// Slots of a bake that show nothing are points somewhere: nobody sees them.
    #[test]
    fn triangles_without_area_are_no_surface() {
        let mut surface = square(0.0);
        surface.push([[0.6, 0.4, 0.2]; 3]);
        surface.push([[0.0, 0.0, 0.2], [1.0, 1.0, 0.2], [0.0, 0.0, 0.2]]);
        let found = surface_distance(&square(0.25), &surface);
        assert!((found.rms() - 0.25).abs() < 1e-7, "{}", found.rms());
        let points = [[[0.6, 0.4, 0.2]; 3]];
        assert_eq!(surface_distance(&square(0.25), &points).rms(), 0.0);
    }

    #[test]
    fn points_are_as_far_as_by_hand() {
        let surface = SurfaceTree::new(&square(0.0));
        // Above it, beside an edge, beyond a corner.
        for (point, truth) in [
            ([0.3, 0.6, -0.25], 0.25),
            ([0.5, -0.5, 0.0], 0.5),
            ([-3.0, -4.0, 0.0], 5.0),
        ] {
            let found = surface.distance(point).expect("triangles");
            assert!((found - truth).abs() < 1e-6, "{point:?}: {found}");
        }
        assert_eq!(SurfaceTree::new(&[]).distance([0.0; 3]), None);
    }

    #[test]
    fn what_is_missing_is_seen_from_the_other_side_only() {
        let half = &square(0.0)[..1];
        assert!(surface_distance(half, &square(0.0)).max < 1e-7);
        // The middle of the other triangle is a third of a side away from the diagonal along each axis: sqrt(2) / 6 from it.
        let back = surface_distance(&square(0.0)[1..2], half);
        let corner_quarter = 0.5 * (2.0_f64.sqrt() / 6.0 + 2.0_f64.sqrt() / 2.0);
        assert!((back.max - corner_quarter).abs() < 1e-6, "{}", back.max);
    }
}
