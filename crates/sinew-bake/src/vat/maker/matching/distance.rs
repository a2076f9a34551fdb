//! How far one surface is from another.

use super::Vector;
use super::collapse::closest_weights;
use super::tree::{Extent, Tree};
use serde::{Deserialize, Serialize};
use sinew_geom::Mesh;

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
pub(crate) struct SurfaceTree {
    triangles: Vec<[Vector; 3]>,
    tree: Tree,
}

impl SurfaceTree {
    /// Of the corners of its triangles. Cost: O(n log n).
    #[must_use]
    pub(crate) fn new(surface: &[[[f32; 3]; 3]]) -> Self {
        let triangles: Vec<[Vector; 3]> = surface.iter().map(|t| t.map(Vector::from)).collect();
        let boxes: Vec<Extent> = triangles.iter().map(|t| Extent::of(t)).collect();
        let tree = Tree::new(&boxes);
        Self { triangles, tree }
    }

    /// The same of those of the triangles that have an area.
    fn drawn(surface: impl Iterator<Item = [[f32; 3]; 3]>) -> Self {
        let drawn = surface.filter(|t| area(&t.map(Vector::from)) > 0.0);
        Self::new(&drawn.collect::<Vec<_>>())
    }

    /// How far triangles are from it, measured at four points of each.
    fn distance_of<'a>(
        &self,
        triangles: impl Iterator<Item = &'a [[f32; 3]; 3]>,
    ) -> SurfaceDistance {
        let mut sum = SurfaceDistance::default();
        if self.triangles.is_empty() {
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
                let square = distance_squared(&point, &self.triangles, &self.tree);
                sum = sum.and(&SurfaceDistance {
                    square: square * area / 4.0,
                    area: area / 4.0,
                    max: square.sqrt(),
                });
            }
        }
        sum
    }

    /// How far a point is from it, within what single precision tells; `None` where it has no triangle. Cost: O(log n).
    #[must_use]
    pub(crate) fn distance(&self, point: [f32; 3]) -> Option<f64> {
        let square = distance_squared(&point.into(), &self.triangles, &self.tree);
        (!self.triangles.is_empty()).then(|| square.sqrt())
    }

    /// All its triangles that come as near to a point as `reach`, metres, and where they do. Cost: O(log n + what is met).
    #[must_use]
    pub(crate) fn within(&self, point: [f32; 3], reach: f64) -> Vec<NearTriangle> {
        let point = Vector::from(point);
        // Boxes are asked for what is nearer than the limit.
        let mut limit = (reach * reach * 1.000_001) as f32 + f32::MIN_POSITIVE;
        let mut out = Vec::new();
        self.tree.visit(&point, &mut limit, &mut |triangle, _| {
            let (weights, square) = closest(&point, &self.triangles[triangle as usize]);
            let distance = f64::from(square).sqrt();
            if distance <= reach {
                out.push(NearTriangle {
                    triangle,
                    weights,
                    distance,
                });
            }
        });
        out
    }

    /// How far the farthest of some points is from it, metres; `known` where none is farther, or where it has no triangle.
    ///
    /// Cost: O(log n) a point at most, much less for one that is nearer than another was: the search for it ends as soon as that is known.
    pub(crate) fn farthest(&self, points: impl IntoIterator<Item = [f32; 3]>, known: f64) -> f64 {
        if self.triangles.is_empty() {
            return known;
        }
        let mut most = (known * known) as f32;
        let mut out = known;
        for point in points {
            let point = Vector::from(point);
            let mut least = f32::INFINITY;
            self.tree.visit(&point, &mut least, &mut |triangle, least| {
                if *least > most {
                    let square = closest(&point, &self.triangles[triangle as usize]).1;
                    // Nothing is nearer than this, so that nothing more is met.
                    *least = if square > most {
                        least.min(square)
                    } else {
                        f32::NEG_INFINITY
                    };
                }
            });
            if least > most && least.is_finite() {
                most = least;
                out = out.max(f64::from(least).sqrt());
            }
        }
        out
    }
}

/// A triangle of a surface near a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NearTriangle {
    /// Its index.
    pub triangle: u32,
    /// Shares of its corners in its point that is nearest; they add up to one.
    pub weights: [f32; 3],
    /// How far that is, metres.
    pub distance: f64,
}

/// The nearest point of a triangle: shares of the corners, and the square of its distance.
fn closest(point: &Vector, corners: &[Vector; 3]) -> ([f32; 3], f32) {
    let weights = closest_weights(point, corners);
    // From the point: far from the origin places have few bits left, differences of near ones have all.
    let [a, b, c] = corners.map(|corner| corner - point);
    let off = a * weights[0] + b * weights[1] + c * weights[2];
    (weights, off.norm_squared())
}

/// How far `triangles` are from `surface`, measured at four points of each triangle, a quarter of its area each; triangles without area count
/// for nothing in both, and so does everything where `surface` is empty.
///
/// What `surface` has and `triangles` have not is not seen: ask both ways. Cost: O(n log m).
#[must_use]
pub(crate) fn surface_distance(
    triangles: &[[[f32; 3]; 3]],
    surface: &[[[f32; 3]; 3]],
) -> SurfaceDistance {
    SurfaceTree::drawn(surface.iter().copied()).distance_of(triangles.iter())
}

/// Triangles of each of two surfaces inside of which [`surface_deviation`] compares them.
const COMPARED: usize = 4000;

/// How far two surfaces are from each other, both ways: [`SurfaceDistance::max`] is measured at all vertices that triangles with an area of either use, and at four points
/// inside of 4,000 triangles of each, evenly taken, where there are more; the mean of squares at the latter. So a spike that only one of the two
/// has is told with its whole height; between these points surfaces may be farther apart. Triangles without area are no surface, and their vertices do not
/// count: where a surface is drawn in both is compared, not where something is that nobody sees.
///
/// Cost: O(n log n) for the triangles of both; 100,000 against 10,000 some 60 ms.
#[must_use]
pub(crate) fn surface_deviation(a: &Mesh, b: &Mesh) -> SurfaceDistance {
    let [of_a, of_b] = [a, b].map(|mesh| SurfaceTree::drawn(triangles_of(mesh)));
    let few = |mesh: &Mesh| {
        let step = mesh.topology.triangles().len().div_ceil(COMPARED).max(1);
        triangles_of(mesh).step_by(step).collect::<Vec<_>>()
    };
    let inside = of_b.distance_of(few(a).iter());
    let mut out = inside.and(&of_a.distance_of(few(b).iter()));
    out.max = of_b.farthest(vertices_of(a), out.max);
    out.max = of_a.farthest(vertices_of(b), out.max);
    out
}

fn triangles_of(mesh: &Mesh) -> impl Iterator<Item = [[f32; 3]; 3]> {
    let triangles = mesh.topology.triangles().iter();
    triangles.map(|t| t.map(|v| mesh.positions[v as usize]))
}

/// Places of the vertices that triangles with an area use, each once.
fn vertices_of(mesh: &Mesh) -> impl Iterator<Item = [f32; 3]> {
    let mut is_used = vec![false; mesh.positions.len()];
    for t in mesh.topology.triangles() {
        if area(&t.map(|v| Vector::from(mesh.positions[v as usize]))) > 0.0 {
            t.iter().for_each(|v| is_used[*v as usize] = true);
        }
    }
    let used = mesh.positions.iter().zip(is_used);
    used.filter_map(|(place, is_used)| is_used.then_some(*place))
}

fn area([a, b, c]: &[Vector; 3]) -> f64 {
    f64::from((b - a).cross(&(c - a)).norm()) / 2.0
}

fn distance_squared(point: &Vector, surface: &[[Vector; 3]], tree: &Tree) -> f64 {
    let mut least = f32::MAX;
    tree.visit(point, &mut least, &mut |triangle, least| {
        *least = least.min(closest(point, &surface[triangle as usize]).1);
    });
    f64::from(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::Topology;
    use sinew_testkit::meshes::mesh_from;

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
    fn triangles_near_a_point_are_those_by_hand() {
        let surface = SurfaceTree::new(&square(0.0));
        // Both meet at the diagonal; beside it, one is 0.1 sqrt(2) away.
        let both = surface.within([0.5, 0.5, 0.25], 0.25);
        assert_eq!(both.len(), 2);
        assert!(both.iter().all(|n| (n.distance - 0.25).abs() < 1e-6));
        let one = surface.within([0.6, 0.4, 0.0], 0.14);
        assert_eq!(one.len(), 1);
        assert!(one[0].triangle == 0 && one[0].distance < 1e-7);
        let [a, b, c] = one[0].weights;
        assert!((a - 0.4).abs() < 1e-6 && (b - 0.2).abs() < 1e-6 && (c - 0.4).abs() < 1e-6);
        assert_eq!(surface.within([0.6, 0.4, 0.0], 0.15).len(), 2);
        assert!(surface.within([0.5, 0.5, 0.25], 0.2).is_empty());
    }

    #[test]
    fn the_farthest_of_many_points_is_found_in_any_order() {
        let surface = SurfaceTree::new(&square(0.0));
        // Heights 0 to 99 thousandths, shuffled; beyond a corner there is none.
        let points = (0..100_u8).map(|i| [0.5, 0.25, f32::from(i) * 1e-3]);
        let points: Vec<[f32; 3]> = points.collect();
        for step in [1, 37, 99] {
            let shuffled = (0..100).map(|i| points[i * step % 100]);
            let found = surface.farthest(shuffled, 0.0);
            assert!((found - 0.099).abs() < 1e-7, "{step}: {found}");
        }
        assert_eq!(surface.farthest(points.iter().copied(), 0.5), 0.5);
        assert_eq!(SurfaceTree::new(&[]).farthest(points, 0.25), 0.25);
    }

    /// A flat grid of 100,000 triangles with one spike of 327.6 mm, against its two halves: nothing but the tip is that far off, wherever it is.
    #[test]
    fn a_spike_of_one_vertex_in_many_is_as_far_off_as_it_is_high() {
        const SIDE: u32 = 225;
        let at = |v: u32| [(v % SIDE) as f32 / 224.0, (v / SIDE) as f32 / 224.0, 0.0];
        let quads = (0..SIDE - 1).flat_map(|y| (0..SIDE - 1).map(move |x| y * SIDE + x));
        let halves = |v: u32| [[v, v + 1, v + SIDE + 1], [v, v + SIDE + 1, v + SIDE]];
        let topology = Topology::new(SIDE * SIDE, quads.flat_map(halves).collect());
        let flat: Vec<[f32; 3]> = (0..SIDE * SIDE).map(at).collect();
        let mut grid = Mesh::new("", topology.expect("in range"), flat);
        assert!(grid.topology.triangles().len() > 100_000);
        let corners = [0, SIDE - 1, SIDE * SIDE - 1, SIDE * (SIDE - 1)].map(at);
        let two = Topology::new(4, vec![[0, 1, 2], [0, 2, 3]]).expect("in range");
        let two = Mesh::new("", two, corners.to_vec());
        assert!(surface_deviation(&grid, &two).max < 1e-6);
        for spike in [100 * SIDE + 7, 3 * SIDE + 111, 223 * SIDE + 222] {
            grid.positions[spike as usize][2] = 0.3276;
            for found in [
                surface_deviation(&grid, &two),
                surface_deviation(&two, &grid),
            ] {
                assert!((found.max - 0.3276).abs() < 1e-6, "{spike}: {}", found.max);
            }
            grid.positions[spike as usize][2] = 0.0;
        }
    }

    /// A line far off the surface, which nobody sees, in either of the two; as soon as it has a width it is a spike.
    #[test]
    fn vertices_of_triangles_without_area_are_not_measured() {
        let mesh = |last: [f32; 3]| {
            let mut places = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
                .map(|[x, y]| [x, y, 0.0])
                .to_vec();
            places.extend([[0.5, 0.5, 0.0], [0.5, 0.5, 1.5], last]);
            let triangles = vec![[0, 1, 2], [0, 2, 3], [4, 5, 6]];
            mesh_from("", places, triangles)
        };
        let (line, spike) = (mesh([0.5, 0.5, 0.75]), mesh([0.5, 0.6, 0.75]));
        let two = Topology::new(7, vec![[0, 1, 2], [0, 2, 3]]).expect("in range");
        let two = Mesh::new("", two, line.positions.clone());
        for (other, truth) in [(line, 0.0), (spike, 1.5)] {
            for found in [
                surface_deviation(&two, &other),
                surface_deviation(&other, &two),
            ] {
                assert!((found.max - truth).abs() < 1e-6, "{truth}: {}", found.max);
            }
        }
    }

    /// Corners that fall together leave a line: it is as near as it is, whichever two they are.
    #[test]
    fn lines_and_points_of_a_surface_are_near() {
        let (a, b) = ([0.0; 3], [1.0, 0.0, 0.0]);
        for line in [[a, a, b], [a, b, a], [b, a, a]] {
            let surface = SurfaceTree::new(&[line, [[9.0; 3]; 3]]);
            let near = surface.within([0.25, 0.5, 0.0], 0.5);
            assert_eq!(near.len(), 1, "{line:?}");
            assert!((near[0].distance - 0.5).abs() < 1e-7, "{line:?}");
            assert_eq!(surface.within([9.0; 3], 0.0).len(), 1);
        }
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
