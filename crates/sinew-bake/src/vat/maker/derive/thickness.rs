//! How far the opposite side is.
//!
//! From each corner of a triangle a ray goes along the normal, inwards; where it leaves the body first is the opposite side. A surface that
//! faces the ray is none: it is entered, not left. Rays begin a little inside their triangle, so that those of a corner do not run in the side next to it.

use crate::vat::maker::normals::corner_normals;
use nalgebra::Vector3;
use sinew_geom::Topology;

type Vector = Vector3<f64>;

/// How far a ray begins from its corner, as a share of the way to the middle of the triangle.
const INSET: f64 = 1e-3;
/// Triangles of a leaf.
const LEAF: usize = 4;

/// Thickness at each vertex, metres: the mean over its corners of the distance to the opposite side along the inner normal. Corners that see none (of an open
/// surface) do not count; a vertex of such corners alone has zero.
///
/// `positions` in metres, `crease` (radians) as in [`corner_normals`]. Cost: corners times the logarithm of the number of triangles.
pub(crate) fn vertex_thickness(
    topology: &Topology,
    positions: &[[f32; 3]],
    crease: f32,
) -> Vec<f32> {
    let normals = corner_normals(topology, positions, crease);
    let at = |v: u32| Vector::from(positions[v as usize].map(f64::from));
    let triangles: Vec<[Vector; 3]> = topology.triangles().iter().map(|t| t.map(at)).collect();
    let tree = Tree::new(&triangles);
    let mut sums = vec![(0.0, 0_u32); positions.len()];
    for ((corners, places), normals) in topology.triangles().iter().zip(&triangles).zip(normals) {
        let middle = places.iter().sum::<Vector>() / 3.0;
        for (k, normal) in normals.into_iter().enumerate() {
            let ray = Ray {
                from: places[k] + (middle - places[k]) * INSET,
                along: -Vector::from(normal.map(f64::from)),
            };
            if let Some(distance) = tree.way_out(&triangles, &ray) {
                let sum = &mut sums[corners[k] as usize];
                *sum = (sum.0 + distance, sum.1 + 1);
            }
        }
    }
    let mean = |(sum, count): (f64, u32)| (sum / f64::from(count.max(1))) as f32;
    sums.into_iter().map(mean).collect()
}

/// A half line; `along` has length one.
struct Ray {
    from: Vector,
    along: Vector,
}

/// Distance to where a ray leaves through a triangle (Möller and Trumbore 1997).
fn leaves_through([a, b, c]: &[Vector; 3], ray: &Ray) -> Option<f64> {
    let (u, v) = (b - a, c - a);
    let p = ray.along.cross(&v);
    // Below zero where the triangle is seen from behind.
    let determinant = u.dot(&p);
    if determinant >= 0.0 {
        return None;
    }
    let to = ray.from - a;
    let first = to.dot(&p) / determinant;
    let q = to.cross(&u);
    let second = ray.along.dot(&q) / determinant;
    let distance = v.dot(&q) / determinant;
    // A little over the border, so that no ray slips through between two triangles.
    let is_within = first >= -1e-9 && second >= -1e-9 && first + second <= 1.0 + 1e-9;
    (is_within && distance > 0.0 && distance.is_finite()).then_some(distance)
}

/// Boxes of triangles, halved at the middle of their longest side.
struct Tree {
    nodes: Vec<Node>,
    items: Vec<usize>,
}

struct Node {
    low: Vector,
    high: Vector,
    start: usize,
    end: usize,
    /// The node of the upper half; the lower half is the next node. Zero: a leaf.
    upper: usize,
}

impl Tree {
    fn new(triangles: &[[Vector; 3]]) -> Self {
        let mut tree = Self {
            nodes: Vec::new(),
            items: (0..triangles.len()).collect(),
        };
        if !triangles.is_empty() {
            tree.grow(triangles, 0, triangles.len());
        }
        tree
    }

    fn grow(&mut self, triangles: &[[Vector; 3]], start: usize, end: usize) -> usize {
        let (mut low, mut high) = (Vector::repeat(f64::MAX), Vector::repeat(f64::MIN));
        for corner in self.items[start..end].iter().flat_map(|t| &triangles[*t]) {
            (low, high) = (low.inf(corner), high.sup(corner));
        }
        let node = self.nodes.len();
        self.nodes.push(Node {
            low,
            high,
            start,
            end,
            upper: 0,
        });
        if end - start > LEAF {
            let axis = (high - low).imax();
            let middle = usize::midpoint(start, end);
            let key = |t: &usize| triangles[*t].iter().map(|c| c[axis]).sum::<f64>();
            self.items[start..end]
                .select_nth_unstable_by(middle - start, |a, b| key(a).total_cmp(&key(b)));
            self.grow(triangles, start, middle);
            self.nodes[node].upper = self.grow(triangles, middle, end);
        }
        node
    }

    /// Distance to where a ray leaves the body first.
    fn way_out(&self, triangles: &[[Vector; 3]], ray: &Ray) -> Option<f64> {
        let mut best = f64::INFINITY;
        let mut open = if self.nodes.is_empty() {
            vec![]
        } else {
            vec![0]
        };
        while let Some(index) = open.pop() {
            let node = &self.nodes[index];
            if !node.is_met(ray, best) {
                continue;
            }
            if node.upper > 0 {
                open.extend([node.upper, index + 1]);
                continue;
            }
            let items = self.items[node.start..node.end].iter();
            let found = items.filter_map(|t| leaves_through(&triangles[*t], ray));
            best = found.fold(best, f64::min);
        }
        best.is_finite().then_some(best)
    }
}

impl Node {
    /// Whether a ray meets the box before `best`.
    fn is_met(&self, ray: &Ray, best: f64) -> bool {
        let (mut from, mut to) = (0.0_f64, best);
        for k in 0..3 {
            let (low, high) = (self.low[k] - ray.from[k], self.high[k] - ray.from[k]);
            if ray.along[k] == 0.0 {
                if low > 0.0 || high < 0.0 {
                    return false;
                }
                continue;
            }
            let (a, b) = (low / ray.along[k], high / ray.along[k]);
            (from, to) = (from.max(a.min(b)), to.min(a.max(b)));
        }
        // Roundings must not lose what lies in a side of the box.
        from <= to * (1.0 + 1e-12) + f64::MIN_POSITIVE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::index32;

    const CREASE: f32 = 1.0;

    fn thickness(positions: &[[f32; 3]], triangles: Vec<[u32; 3]>) -> Vec<f32> {
        let count = index32(positions.len());
        let topology = Topology::new(count, triangles).expect("in range");
        vertex_thickness(&topology, positions, CREASE)
    }

    /// A ball of latitudes and longitudes, an even number of both, so that each vertex has one opposite.
    fn ball(radius: f32, rings: u32, sides: u32) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
        let mut positions = vec![[0.0, radius, 0.0]];
        for ring in 1..rings {
            let (sin, cos) = (std::f32::consts::PI * ring as f32 / rings as f32).sin_cos();
            for side in 0..sides {
                let (s, c) = (std::f32::consts::TAU * side as f32 / sides as f32).sin_cos();
                positions.push([sin * c, cos, sin * s].map(|x| x * radius));
            }
        }
        positions.push([0.0, -radius, 0.0]);
        let last = positions.len() as u32 - 1;
        let at = |ring: u32, side: u32| match ring {
            0 => 0,
            r if r == rings => last,
            r => 1 + (r - 1) * sides + side % sides,
        };
        let mut triangles = Vec::new();
        for ring in 0..rings {
            for side in 0..sides {
                let [a, b] = [at(ring, side), at(ring, side + 1)];
                let [c, d] = [at(ring + 1, side), at(ring + 1, side + 1)];
                triangles.extend([[a, b, c], [b, d, c]]);
            }
        }
        triangles.retain(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]);
        (positions, triangles)
    }

    /// Box with vertices of its own for each side.
    fn block(size: [f32; 3]) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for axis in 0..3 {
            for end in [0.0, 1.0] {
                let base = positions.len() as u32;
                for (a, b) in [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)] {
                    let mut p = [0.0; 3];
                    (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (end, a, b);
                    positions.push(std::array::from_fn(|k| p[k] * size[k]));
                }
                let quad = if end == 1.0 {
                    [0, 1, 2, 3]
                } else {
                    [0, 3, 2, 1]
                };
                let [p, q, r, s] = quad.map(|v: u32| v + base);
                triangles.extend([[p, q, r], [p, r, s]]);
            }
        }
        (positions, triangles)
    }

    #[test]
    fn a_ball_is_as_thick_as_its_diameter() {
        let (positions, triangles) = ball(0.7, 32, 64);
        for found in thickness(&positions, triangles) {
            // The opposite side is flat: it is missed by (1 - cos) of half a step.
            assert!((found - 1.4).abs() < 1.4 * 0.005, "{found}");
        }
    }

    #[test]
    fn a_box_is_as_thick_as_its_sides() {
        let size = [0.5, 2.0, 3.0];
        let (positions, triangles) = block(size);
        for (v, found) in thickness(&positions, triangles).into_iter().enumerate() {
            let side = size[v / 8];
            assert!(
                (found - side).abs() < 1e-5,
                "vertex {v}: {found} for {side}"
            );
        }
    }

    /// A wall of a shell: what is behind the opposite side does not count, and neither does what is entered.
    #[test]
    fn a_shell_is_as_thick_as_its_wall() {
        let (mut positions, mut triangles) = block([4.0; 3]);
        let (hole, inner) = block([3.0; 3]);
        let base = positions.len() as u32;
        positions.extend(hole.iter().map(|p| p.map(|c| c + 0.5)));
        triangles.extend(inner.iter().map(|t| [t[0], t[2], t[1]].map(|v| v + base)));
        let found = thickness(&positions, triangles);
        for (v, thick) in found[24..48].iter().enumerate() {
            assert!(
                (thick - 0.5).abs() < 1e-5,
                "vertex {v} of the hole: {thick}"
            );
        }
    }

    #[test]
    fn open_and_broken_surfaces_have_none() {
        let sheet = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0; 3]];
        assert_eq!(thickness(&sheet, vec![[0, 1, 2], [3, 3, 3]]), [0.0; 4]);
        assert_eq!(thickness(&[], Vec::new()), [0.0; 0]);
    }
}
