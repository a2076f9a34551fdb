//! What fields of distances should say, in double precision: how far the nearest triangle is and how often a mesh winds around a
//! point. It shares no code and no method of signs with the fields that it judges, and is fast enough for every node of a grid.

use sinew_geom::vec3::{area_vector, cross, dot, length, sub};
use std::collections::BTreeMap;
use std::f64::consts::PI;

type P = [f64; 3];
type Triangle = [P; 3];

/// Triangles of a leaf.
const LEAF: usize = 4;

/// A mesh in double precision.
#[derive(Clone, Debug)]
pub struct MeshTruth {
    /// In the order of the leaves.
    triangles: Vec<Triangle>,
    /// The root is the last one.
    boxes: Vec<Box3>,
    /// Triangles that, added to the mesh, leave no edge open. None where it is closed.
    caps: Vec<Triangle>,
}

#[derive(Clone, Debug)]
struct Box3 {
    low: P,
    high: P,
    /// Triangles of a leaf; the two boxes inside of any other.
    range: (usize, usize),
    is_leaf: bool,
}

/// The truth at the points of a lattice, x fastest, then y, then z.
#[derive(Clone, Debug)]
pub struct Lattice {
    /// To the nearest triangle, without sign.
    pub distances: Vec<f64>,
    /// Positive where triangles that are counter-clockwise from outside enclose the point; a whole number for closed meshes.
    pub windings: Vec<f64>,
}

impl MeshTruth {
    /// Vertices of equal position are one.
    pub fn new(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Self {
        let corner = |v: u32| positions[v as usize].map(f64::from);
        let mut triangles: Vec<Triangle> = triangles.iter().map(|t| t.map(corner)).collect();
        let caps = caps(&triangles);
        let mut boxes = Vec::new();
        let count = triangles.len();
        divide(&mut triangles, 0..count, &mut boxes);
        Self {
            triangles,
            boxes,
            caps,
        }
    }

    /// Whether every edge is run through as often in one direction as in the other.
    pub fn is_closed(&self) -> bool {
        self.caps.is_empty()
    }

    /// How far the nearest triangle is, or `at_most`.
    pub fn distance(&self, p: P, at_most: f64) -> f64 {
        let mut best = at_most * at_most;
        let mut waiting = Vec::with_capacity(64);
        waiting.extend(self.boxes.len().checked_sub(1));
        while let Some(index) = waiting.pop() {
            let node = &self.boxes[index];
            if square_to_box(p, node) >= best {
                continue;
            }
            let (first, second) = node.range;
            if node.is_leaf {
                let inside = &self.triangles[first..second];
                best = inside.iter().map(|t| square_to(p, t)).fold(best, f64::min);
                continue;
            }
            let [a, b] = [first, second].map(|n| square_to_box(p, &self.boxes[n]));
            waiting.extend(if a < b {
                [second, first]
            } else {
                [first, second]
            });
        }
        best.sqrt()
    }

    /// Solid angles of all triangles, one after the other: slow.
    pub fn winding(&self, p: P) -> f64 {
        winding_of(p, &self.triangles)
    }

    /// The truth at all points whose coordinates are in these lists.
    pub fn lattice(&self, lines: &[Vec<f64>; 3]) -> Lattice {
        let [xs, ys, zs] = lines;
        let mut distances = Vec::new();
        for (z, y) in zs.iter().flat_map(|z| ys.iter().map(move |y| (*z, *y))) {
            let mut before = (f64::INFINITY, 0.0);
            for &x in xs {
                // A distance grows no faster than the way.
                let at_most = before.0 + (x - before.1) * (1.0 + 1e-9);
                let distance = self.distance([x, y, z], at_most);
                before = (distance, x);
                distances.push(distance);
            }
        }
        Lattice {
            distances,
            windings: self.windings(lines),
        }
    }

    /// The windings of [`Self::lattice`] alone, which are cheap.
    ///
    /// Along a line of x, what is crossed between a point and infinity counts the turns of a closed mesh around the point. Open
    /// meshes are closed with `caps` for that, and the solid angle of these is taken off again.
    pub fn windings(&self, [xs, ys, zs]: &[Vec<f64>; 3]) -> Vec<f64> {
        let mut crossings = vec![Vec::new(); ys.len() * zs.len()];
        for t in self.triangles.iter().chain(&self.caps) {
            crossings_of(t, ys, zs, &mut crossings);
        }
        let mut windings = Vec::new();
        for (row, crossed) in crossings.iter().enumerate() {
            let (y, z) = (ys[row % ys.len()], zs[row / ys.len()]);
            for &x in xs {
                let p = [x, y, z];
                let beyond = crossed.iter().filter(|c: &&(f64, f64)| c.0 > x);
                let closed: f64 = beyond.map(|c| c.1).sum();
                windings.push(closed - winding_of(p, &self.caps));
            }
        }
        windings
    }
}

/// A fan over the open edges. All of its inner edges cancel, since ends of open edges meet.
fn caps(triangles: &[Triangle]) -> Vec<Triangle> {
    // Adding zero makes one number of both zeros.
    let key = |p: &P| p.map(|c| (c + 0.0).to_bits());
    let mut uses: BTreeMap<_, (P, P, i32)> = BTreeMap::new();
    for t in triangles {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            let (ka, kb) = (key(&a), key(&b));
            if ka < kb {
                uses.entry((ka, kb)).or_insert((a, b, 0)).2 += 1;
            } else if kb < ka {
                uses.entry((kb, ka)).or_insert((b, a, 0)).2 -= 1;
            }
        }
    }
    let mut open: Vec<(P, P)> = Vec::new();
    for (a, b, count) in uses.into_values() {
        let edge = if count > 0 { (b, a) } else { (a, b) };
        open.extend((0..count.abs()).map(|_| edge));
    }
    let share = 1.0 / open.len().max(1) as f64;
    // Off the middle by odd numbers, so that no node of a grid lies in the fan.
    let mut tip = [0.0123, -0.0217, 0.0171];
    for (a, _) in &open {
        tip = std::array::from_fn(|k| tip[k] + share * a[k]);
    }
    open.into_iter().map(|(a, b)| [a, b, tip]).collect()
}

/// Halves triangles along the longest side of their box until they fit into leaves; gives the number of the box around them.
fn divide(
    triangles: &mut [Triangle],
    range: std::ops::Range<usize>,
    boxes: &mut Vec<Box3>,
) -> usize {
    let mut node = Box3 {
        low: [f64::INFINITY; 3],
        high: [f64::NEG_INFINITY; 3],
        range: (range.start, range.end),
        is_leaf: range.len() <= LEAF,
    };
    for p in triangles[range.clone()].iter().flatten() {
        node.low = [0, 1, 2].map(|k| node.low[k].min(p[k]));
        node.high = [0, 1, 2].map(|k| node.high[k].max(p[k]));
    }
    if !node.is_leaf {
        let length = |k: &usize| node.high[*k] - node.low[*k];
        let axis = (0..3).max_by(|a, b| length(a).total_cmp(&length(b)));
        let axis = axis.unwrap_or(0);
        let half = range.len() / 2;
        let place = |t: &Triangle| t[0][axis] + t[1][axis] + t[2][axis];
        triangles[range.clone()].select_nth_unstable_by(half, |a, b| place(a).total_cmp(&place(b)));
        let middle = range.start + half;
        let first = divide(triangles, range.start..middle, boxes);
        let second = divide(triangles, middle..range.end, boxes);
        node.range = (first, second);
    }
    boxes.push(node);
    boxes.len() - 1
}

fn square_to_box(p: P, node: &Box3) -> f64 {
    let apart = |k: usize| (node.low[k] - p[k]).max(p[k] - node.high[k]).max(0.0);
    let [x, y, z] = [0, 1, 2].map(apart);
    x * x + y * y + z * z
}

/// Squared distance of a triangle: of its plane where the foot is between the edges, of the nearest edge elsewhere.
fn square_to(p: P, t: &Triangle) -> f64 {
    let sides = [0, 1, 2].map(|k| sub(t[(k + 1) % 3], t[k]));
    let normal = cross(sides[0], sides[1]);
    let square = dot(normal, normal);
    let is_left = |k: usize| dot(cross(normal, sides[k]), sub(p, t[k])) >= 0.0;
    if square > 0.0 && (0..3).all(is_left) {
        let along = dot(normal, sub(p, t[0]));
        return along * along / square;
    }
    let to_edge = |k: usize| {
        let from = sub(p, t[k]);
        let length = dot(sides[k], sides[k]);
        let share = if length > 0.0 {
            (dot(from, sides[k]) / length).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let off = sub(from, sides[k].map(|c| c * share));
        dot(off, off)
    };
    (0..3).map(to_edge).fold(f64::INFINITY, f64::min)
}

/// Van Oosterom and Strackee, "The Solid Angle of a Plane Triangle", 1983.
fn winding_of(p: P, triangles: &[Triangle]) -> f64 {
    let angle = |t: &Triangle| {
        let [a, b, c] = t.map(|v| sub(v, p));
        let [la, lb, lc] = [a, b, c].map(length);
        let volume = dot(a, cross(b, c));
        let cosines = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
        2.0 * volume.atan2(cosines)
    };
    triangles.iter().map(angle).sum::<f64>() / (4.0 * PI)
}

/// Where lines along x cross a triangle, and whether outward (1) or inward (-1). Triangles that share an edge ask it the same
/// question, and ends of edges count once: no line slips through between two of them.
fn crossings_of(t: &Triangle, ys: &[f64], zs: &[f64], crossings: &mut [Vec<(f64, f64)>]) {
    let normal = area_vector(*t);
    let span = |k: usize, of: &[f64]| {
        let low = t.iter().map(|p| p[k]).fold(f64::INFINITY, f64::min);
        let high = t.iter().map(|p| p[k]).fold(f64::NEG_INFINITY, f64::max);
        of.partition_point(|&v| v < low)..of.partition_point(|&v| v <= high)
    };
    for k in span(2, zs) {
        for j in span(1, ys) {
            let (y, z) = (ys[j], zs[k]);
            let turns: i32 = (0..3).map(|e| turn(t[e], t[(e + 1) % 3], y, z)).sum();
            if turns != 0 {
                let off = normal[1] * (y - t[0][1]) + normal[2] * (z - t[0][2]);
                let low = t.iter().map(|p| p[0]).fold(f64::INFINITY, f64::min);
                let high = t.iter().map(|p| p[0]).fold(f64::NEG_INFINITY, f64::max);
                let x = (t[0][0] - off / normal[0]).clamp(low, high);
                crossings[j + ys.len() * k].push((x, f64::from(turns)));
            }
        }
    }
}

/// What an edge adds to how often its triangle winds around a line along x.
fn turn(from: P, to: P, y: f64, z: f64) -> i32 {
    let up = from[2] < to[2];
    let (low, high) = if up { (from, to) } else { (to, from) };
    let is_beside = low[2] <= z && z < high[2];
    let side = (high[1] - low[1]) * (z - low[2]) - (high[2] - low[2]) * (y - low[1]);
    match is_beside && side > 0.0 {
        true if up => 1,
        true => -1,
        false => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meshes;

    fn lines() -> [Vec<f64>; 3] {
        // Through vertices, edges and poles of the meshes, too.
        [0.0, 0.013, -0.1].map(|from| (-12..=12).map(|i| from + 0.1 * f64::from(i)).collect())
    }

    fn points([xs, ys, zs]: &[Vec<f64>; 3]) -> impl Iterator<Item = P> {
        let row = move |z: f64| {
            ys.iter()
                .flat_map(move |&y| xs.iter().map(move |&x| [x, y, z]))
        };
        zs.iter().flat_map(move |&z| row(z))
    }

    /// Every triangle, and the sum of all solid angles.
    fn check(positions: &[[f32; 3]], triangles: &[[u32; 3]], is_closed: bool) -> usize {
        let truth = MeshTruth::new(positions, triangles);
        assert_eq!(truth.is_closed(), is_closed);
        let found = truth.lattice(&lines());
        let (mut judged, lines) = (0, lines());
        for (i, p) in points(&lines).enumerate() {
            let squares = truth.triangles.iter().map(|t| square_to(p, t));
            let distance = squares.fold(f64::INFINITY, f64::min).sqrt();
            assert!((found.distances[i] - distance).abs() < 1e-8, "{p:?}");
            // On the surface the angle is a matter of rounding.
            if distance > 1e-6 {
                let winding = truth.winding(p);
                let apart = (found.windings[i] - winding).abs();
                assert!(apart < 1e-9, "{p:?}: {} {winding}", found.windings[i]);
                judged += 1;
            }
        }
        judged
    }

    #[test]
    fn closed_open_and_overlapping_meshes_are_as_their_solid_angles_say() {
        let ball = meshes::sphere(12, 24);
        let all = ball.topology.triangles();
        assert!(check(&ball.positions, all, true) > 15_000);
        let half: Vec<[u32; 3]> = all.iter().copied().step_by(2).collect();
        assert!(check(&ball.positions, &half, false) > 15_000);
        let cube = meshes::cube();
        assert!(check(&cube.positions, cube.topology.triangles(), true) > 10_000);
        // A ball in which another one cuts: two turns where they overlap.
        let count = ball.positions.len() as u32;
        let moved = ball.positions.iter().map(|p| [p[0] + 0.4, p[1], p[2]]);
        let both: Vec<[f32; 3]> = ball.positions.iter().copied().chain(moved).collect();
        let twice = all
            .iter()
            .copied()
            .chain(all.iter().map(|t| t.map(|v| v + count)));
        let twice: Vec<[u32; 3]> = twice.collect();
        check(&both, &twice, true);
        let truth = MeshTruth::new(&both, &twice);
        let found = truth.lattice(&[vec![0.2], vec![0.0], vec![0.0]]);
        assert_eq!(found.windings, [2.0]);
    }

    #[test]
    fn distances_of_a_ball_have_their_closed_form() {
        let ball = meshes::sphere(96, 192);
        let truth = MeshTruth::new(&ball.positions, ball.topology.triangles());
        for p in points(&lines()).step_by(41) {
            let expected = (length(p) - 1.0).abs();
            let found = truth.distance(p, f64::INFINITY);
            // The mesh lies up to 0.0005 inside the ball.
            assert!((found - expected).abs() < 6e-4, "{p:?}: {found} {expected}");
        }
    }
}
