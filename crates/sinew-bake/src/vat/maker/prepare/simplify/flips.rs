//! Turns edges over where that makes thin triangles better.

use super::super::shape::largest_cosine;
use super::super::vector::{Point, unit};
use super::wedges::Wedges;
use sinew_geom::index32;
use sinew_geom::vec3::{add, area_vector, cross, dot, length, sub};
use std::collections::HashSet;

/// How far a flip may move the surface, as a share of the diagonal of the mesh's box.
pub(super) const MOST_MOVED: f32 = 5e-4;
/// Largest angle between the normals of two faces whose edge may be flipped, radians: 20 degrees.
const WIDEST_ANGLE: f32 = 0.35;
/// Passes over the faces; few meshes need half of them.
const MAX_PASSES: usize = 16;
/// How much the cosine of the smallest angle must fall for a flip to be worth it.
const LEAST_GAIN: f64 = 1e-4;
/// No face on the other side, or none that may be flipped with.
const NONE: u32 = u32::MAX;

/// Faces, who lies behind each of their edges, and which edges exist.
pub(super) struct Flips<'a> {
    wedges: &'a Wedges,
    triangles: &'a mut [[u32; 3]],
    /// The half-edge on the other side of half-edge `3 * face + k`, which runs from corner `k` to the next.
    twins: Vec<u32>,
    /// Pairs of places with an edge between them, lower first.
    edges: HashSet<[u32; 2]>,
    /// How far a flip may move the surface, metres.
    distance: f64,
    /// Cosine of the largest angle between normals.
    least_cosine: f64,
}

/// Two faces at an edge `a`-`b`: `(a, b, c)` and `(b, a, d)`.
#[derive(Clone, Copy)]
struct Pair {
    a: u32,
    b: u32,
    c: u32,
    d: u32,
}

impl Pair {
    fn now(self) -> [[u32; 3]; 2] {
        [[self.a, self.b, self.c], [self.b, self.a, self.d]]
    }
    fn flipped(self) -> [[u32; 3]; 2] {
        [[self.a, self.d, self.c], [self.d, self.b, self.c]]
    }
}

impl<'a> Flips<'a> {
    /// Only edges of exactly two faces that run through it in opposite directions and share both wedges can be flipped.
    pub(super) fn new(wedges: &'a Wedges, triangles: &'a mut [[u32; 3]], distance: f64) -> Self {
        let mut halves: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * triangles.len());
        for (half, ends) in all_halves(triangles) {
            halves.push((key(wedges, ends), half));
        }
        halves.sort_unstable();
        let mut twins = vec![NONE; 3 * triangles.len()];
        let mut edges = HashSet::with_capacity(halves.len() / 2 + 1);
        for edge in halves.chunk_by(|a, b| a.0 == b.0) {
            edges.insert(edge[0].0);
            if let [(_, one), (_, other)] = *edge {
                let [a, b] = ends_of(triangles, one);
                if ends_of(triangles, other) == [b, a] {
                    twins[one as usize] = other;
                    twins[other as usize] = one;
                }
            }
        }
        Self {
            wedges,
            triangles,
            twins,
            edges,
            distance,
            least_cosine: f64::from(WIDEST_ANGLE).cos(),
        }
    }

    /// Flips until nothing gets better; returns how many flips there were and the farthest that one moved the surface.
    pub(super) fn run(mut self) -> (usize, f64) {
        let (mut count, mut farthest) = (0, 0.0_f64);
        let mut to_do: Vec<u32> = (0..index32(self.triangles.len())).collect();
        for _ in 0..MAX_PASSES {
            let mut changed = Vec::new();
            for face in std::mem::take(&mut to_do) {
                for half in 3 * face..3 * face + 3 {
                    let other = self.twins[half as usize] / 3;
                    let Some(moved) = self.try_flip(half) else {
                        continue;
                    };
                    count += 1;
                    farthest = farthest.max(moved);
                    changed.extend([face, other]);
                    changed.extend(self.around(face));
                    changed.extend(self.around(other));
                }
            }
            changed.sort_unstable();
            changed.dedup();
            to_do = changed;
        }
        (count, farthest)
    }

    /// The faces next to a face.
    fn around(&self, face: u32) -> impl Iterator<Item = u32> {
        let halves = (3 * face..3 * face + 3).map(|half| self.twins[half as usize]);
        halves.filter(|twin| *twin != NONE).map(|twin| twin / 3)
    }

    /// Flips the edge of a half-edge if that is allowed and gains something; returns how far the surface moved.
    fn try_flip(&mut self, half: u32) -> Option<f64> {
        let twin = self.twins[half as usize];
        if twin == NONE {
            return None;
        }
        let [a, b] = ends_of(self.triangles, half);
        let pair = Pair {
            a,
            b,
            c: apex(self.triangles, half),
            d: apex(self.triangles, twin),
        };
        let moved = self.gain(pair)?;
        self.flip(half, twin, pair);
        Some(moved)
    }

    /// How far a flip moves the surface; `None` where it is not allowed or gains nothing.
    fn gain(&self, pair: Pair) -> Option<f64> {
        let new_edge = key(self.wedges, [pair.c, pair.d]);
        if new_edge[0] == new_edge[1] || self.edges.contains(&new_edge) {
            return None;
        }
        let now = pair.now().map(|t| self.wedges.corners(&t));
        let then = pair.flipped().map(|t| self.wedges.corners(&t));
        let worst = |t: &[[Point; 3]; 2]| largest_cosine(&t[0]).max(largest_cosine(&t[1]));
        if worst(&then) > worst(&now) - LEAST_GAIN {
            return None;
        }
        let mut farthest = self.moved(&now, &then)?;
        let pairs = self.wedges.corners_in_poses(pair.now());
        for (now, then) in pairs.zip(self.wedges.corners_in_poses(pair.flipped())) {
            farthest = farthest.max(self.moved(&now, &then)?);
        }
        Some(farthest)
    }

    /// How far a flip moves the surface in one frame; `None` where it is not allowed there.
    fn moved(&self, now: &[[Point; 3]; 2], then: &[[Point; 3]; 2]) -> Option<f64> {
        let normal = self.common_normal(now)?;
        let same_way = |t: &[Point; 3]| {
            unit(area_vector(*t)).is_some_and(|n| dot(n, normal) >= self.least_cosine)
        };
        if !then.iter().all(same_way) {
            return None;
        }
        let moved = diagonals_apart(&now[0], &now[1])?;
        (moved <= self.distance).then_some(moved)
    }

    /// The mean normal of two faces that are nearly coplanar; a face without area goes with the other.
    fn common_normal(&self, faces: &[[Point; 3]; 2]) -> Option<Point> {
        match faces.map(|t| unit(area_vector(t))) {
            [Some(n), None] | [None, Some(n)] => Some(n),
            [Some(n), Some(m)] if dot(n, m) >= self.least_cosine => unit(add(n, m)),
            _ => None,
        }
    }

    fn flip(&mut self, half: u32, twin: u32, pair: Pair) {
        let outer = |half: u32| [next(half), next(next(half))];
        let [bc, ca] = outer(half).map(|h| self.twins[h as usize]);
        let [ad, db] = outer(twin).map(|h| self.twins[h as usize]);
        let (f, g) = (half / 3, twin / 3);
        let [one, other] = pair.flipped();
        self.triangles[f as usize] = one;
        self.triangles[g as usize] = other;
        // (a, d, c) and (d, b, c): the halves of the new edge are the second of the one and the third of the other.
        self.link(3 * f, ad);
        self.link(3 * f + 1, 3 * g + 2);
        self.link(3 * f + 2, ca);
        self.link(3 * g, db);
        self.link(3 * g + 1, bc);
        self.edges.remove(&key(self.wedges, [pair.a, pair.b]));
        self.edges.insert(key(self.wedges, [pair.c, pair.d]));
    }

    fn link(&mut self, half: u32, twin: u32) {
        self.twins[half as usize] = twin;
        if twin != NONE {
            self.twins[twin as usize] = half;
        }
    }
}

fn next(half: u32) -> u32 {
    if half % 3 == 2 { half - 2 } else { half + 1 }
}

fn corner(triangles: &[[u32; 3]], half: u32) -> u32 {
    triangles[half as usize / 3][half as usize % 3]
}

fn ends_of(triangles: &[[u32; 3]], half: u32) -> [u32; 2] {
    [corner(triangles, half), corner(triangles, next(half))]
}

/// The corner across from a half-edge.
fn apex(triangles: &[[u32; 3]], half: u32) -> u32 {
    corner(triangles, next(next(half)))
}

fn all_halves(triangles: &[[u32; 3]]) -> impl Iterator<Item = (u32, [u32; 2])> + '_ {
    (0..index32(3 * triangles.len())).map(|half| (half, ends_of(triangles, half)))
}

fn key(wedges: &Wedges, ends: [u32; 2]) -> [u32; 2] {
    let [a, b] = ends.map(|w| wedges.place[w as usize]);
    [a.min(b), a.max(b)]
}

/// Distance between the lines of the old and the new edge of `(a, b, c)` and `(b, a, d)`; `None` for parallel ones. Where
/// the edges cross when seen along it, this is the farthest that the surface moves.
fn diagonals_apart(abc: &[Point; 3], bad: &[Point; 3]) -> Option<f64> {
    let ([a, b, c], d) = (*abc, bad[2]);
    let across = cross(sub(b, a), sub(d, c));
    let size = length(across);
    (size > 0.0).then(|| (dot(across, sub(c, a)) / size).abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vat::maker::prepare::faces::with_triangles;
    use crate::vat::maker::prepare::shape::Shape;
    use crate::vat::maker::prepare::testing::{
        bumpy, corners, edge_counts, farthest, mesh, moved, noise,
    };
    use meshopt::{SimplifyOptions, simplify_decoder};

    /// Triangles of wedges as the simplifier leaves them.
    fn simplified(wedges: &Wedges, faces: usize, options: SimplifyOptions) -> Vec<[u32; 3]> {
        let (all, positions) = (wedges.triangles.as_flattened(), &wedges.positions);
        let found = simplify_decoder(all, positions, 3 * faces, f32::MAX, options, None);
        found.as_chunks::<3>().0.to_vec()
    }

    #[test]
    fn flips_make_thin_triangles_better_and_move_little() {
        // A long wavy surface that is simplified without regard for even triangles has thin ones.
        let mesh = moved(bumpy(5), |p| [3.0 * p[0], p[1], 0.3 * p[2]]);
        let wedges = Wedges::of(&mesh, &[], None);
        let thin = simplified(&wedges, 1500, SimplifyOptions::None);
        let mut better = thin.clone();
        let allowed = f64::from(MOST_MOVED) * f64::from(mesh.diagonal());
        let (flips, largest) = Flips::new(&wedges, &mut better, allowed).run();
        let shape = |triangles: &[[u32; 3]]| Shape::of(triangles.iter().map(|t| wedges.corners(t)));
        let (before, after) = (shape(&thin), shape(&better));
        println!("{flips} flips: {before:?} {after:?}");
        assert!(flips > 50, "{flips} flips");
        assert!(
            after.sliver_share < 0.9 * before.sliver_share,
            "{before:?} {after:?}"
        );
        assert!(
            after.mean_min_angle > before.mean_min_angle,
            "{before:?} {after:?}"
        );
        assert!(after.min_angle >= before.min_angle, "{before:?} {after:?}");
        assert!(largest <= allowed, "{largest} of {allowed}");
        let of =
            |triangles: &[[u32; 3]]| with_triangles(&mesh, &wedges.vertices_of(&mesh, triangles));
        let (plain, out) = (of(&thin), of(&better));
        assert_eq!(edge_counts(&out), edge_counts(&plain));
        let apart = farthest(&out, &plain, 750).max(farthest(&plain, &out, 750));
        println!("flips moved {apart:.5}, one by {allowed:.5}");
        assert!(apart <= 2.0 * allowed, "{apart} of {allowed} for one flip");
        let turned = corners(&out).filter(|t| unit(area_vector(*t)).is_none());
        assert_eq!(turned.count(), 0, "no face without area");
    }

    #[test]
    fn flips_leave_every_flat_grid_flat_and_covered() {
        // A flat sheet of random points in rows: area and border must survive any number of flips.
        let n = 40_u32;
        let inner = |i: u32| i > 0 && i < n;
        let at = |i: u32, j: u32| {
            let push = |k: u32, other: u32| {
                if inner(k) && inner(other) {
                    0.25 * noise(i * 97 + j * 31 + k)
                } else {
                    0.0
                }
            };
            [i as f32 + push(i, j), j as f32 + push(j, i), 0.0]
        };
        let positions = (0..=n)
            .flat_map(|i| (0..=n).map(move |j| (i, j)))
            .map(|(i, j)| at(i, j))
            .collect();
        let cells = (0..n).flat_map(|i| (0..n).map(move |j| i * (n + 1) + j));
        let triangles = cells
            .flat_map(|a| [[a, a + n + 1, a + n + 2], [a, a + n + 2, a + 1]])
            .collect();
        let sheet = mesh(positions, triangles);
        let wedges = Wedges::of(&sheet, &[], None);
        let options = SimplifyOptions::LockBorder | SimplifyOptions::RegularizeLight;
        let mut triangles = simplified(&wedges, 1200, options);
        let (flips, largest) = Flips::new(&wedges, &mut triangles, 0.01).run();
        assert!(flips > 0 && largest == 0.0, "{flips} flips, {largest}");
        let out = with_triangles(&sheet, &wedges.vertices_of(&sheet, &triangles));
        let area: f64 = corners(&out).map(|t| area_vector(t)[2] / 2.0).sum();
        assert!((area - 1600.0).abs() < 1e-3, "area {area}");
        assert!(
            corners(&out).all(|t| area_vector(t)[2] > 0.0),
            "no face turned over"
        );
        assert_eq!(edge_counts(&out)[1], 160, "the border keeps its vertices");
        assert_eq!(edge_counts(&out)[3], 0, "no edge of three faces");
    }

    #[test]
    fn flips_do_not_cross_what_they_must_not() {
        // A thin kite whose flip would gain much: allowed when flat, not when folded or already crossed.
        let kite = |fold: f32| {
            vec![
                [-1.0, 0.0, 0.0],
                [1.0, 0.0, 0.0],
                [0.0, 0.1, fold],
                [0.0, -0.1, fold],
            ]
        };
        let faces = vec![[0, 1, 2], [1, 0, 3]];
        let flips = |positions: Vec<[f32; 3]>, triangles: Vec<[u32; 3]>| {
            let wedges = Wedges::of(&mesh(positions, triangles), &[], None);
            let mut triangles = wedges.triangles.clone();
            // Far enough for the fold: it is the angle that forbids it.
            Flips::new(&wedges, &mut triangles, 0.11).run().0
        };
        assert_eq!(flips(kite(0.0), faces.clone()), 1);
        assert_eq!(
            flips(kite(0.1), faces.clone()),
            0,
            "45 degrees on either side"
        );
        let crossed = [faces.clone(), vec![[2, 3, 4]]].concat();
        let more = [kite(0.0), vec![[0.0, 0.0, 5.0]]].concat();
        assert_eq!(flips(more, crossed), 0, "the new edge exists");
        let third = [faces.clone(), vec![[0, 1, 4]]].concat();
        let more = [kite(0.0), vec![[0.0, 0.0, 5.0]]].concat();
        assert_eq!(flips(more, third), 0, "an edge of three faces");
        let turned = vec![[0, 1, 2], [0, 1, 3]];
        assert_eq!(
            flips(kite(0.0), turned),
            0,
            "the faces do not agree on a side"
        );
    }
}
