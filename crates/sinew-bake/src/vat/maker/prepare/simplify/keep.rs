//! Pieces of which collapses leave nothing.
//!
//! Collapses take what costs least, and closing up a small piece costs less than a dent in a large one: meshoptimizer goes on from a tetrahedron to two faces
//! back to back and from there to none, and has no flag against that (`Prune` only makes pieces go sooner). So drops of a splash vanish. Each such piece gets
//! a stand-in of its own vertices: a tetrahedron where it is closed, a triangle where it is open, which reach as far as the piece does.

use super::super::vector::Point;
use super::wedges::Wedges;
use crate::vat::maker::groups::Groups;
use sinew_geom::vec3::{add, area_vector, cross, dot, length, sub};
use std::collections::HashMap;

/// Height of a tetrahedron, as a share of its longest side, below which it is two triangles back to back.
const FLAT: f64 = 1e-6;

/// What hangs together, by places.
pub(super) struct Pieces<'a> {
    wedges: &'a Wedges,
    /// The piece of each place, itself a place.
    root: Vec<u32>,
}

/// A piece of which nothing is left.
pub(super) struct Lost {
    pub(super) root: u32,
    /// Sum of the areas of its triangles, twice, in the frame where that is most.
    pub(super) area: f64,
    /// That frame: shapes of the piece are looked at there.
    frame: usize,
    /// Its triangles, of wedges.
    pub(super) triangles: Vec<[u32; 3]>,
}

impl<'a> Pieces<'a> {
    pub(super) fn of(wedges: &'a Wedges) -> Self {
        let places = wedges.spot.iter().max().map_or(0, |p| p + 1);
        let mut groups = Groups::new(places);
        for t in &wedges.seen {
            let [a, b, c] = t.map(|w| wedges.spot[w as usize]);
            groups.join(a, b);
            groups.join(b, c);
        }
        let root = (0..places).map(|place| groups.find(place)).collect();
        Self { wedges, root }
    }

    fn of_wedge(&self, wedge: u32) -> u32 {
        self.root[self.wedges.spot[wedge as usize] as usize]
    }

    /// Those of which none of these triangles is, the largest first.
    pub(super) fn lost(&self, triangles: &[[u32; 3]]) -> Vec<Lost> {
        let mut is_left = vec![false; self.root.len()];
        for wedge in triangles.iter().flatten() {
            is_left[self.of_wedge(*wedge) as usize] = true;
        }
        let mut lost: Vec<Lost> = Vec::new();
        let mut number = HashMap::new();
        for t in &self.wedges.seen {
            let root = self.of_wedge(t[0]);
            if is_left[root as usize] {
                continue;
            }
            let at = *number.entry(root).or_insert(lost.len());
            if at == lost.len() {
                lost.push(Lost {
                    root,
                    area: 0.0,
                    frame: 0,
                    triangles: Vec::new(),
                });
            }
            lost[at].triangles.push(*t);
        }
        for piece in &mut lost {
            for frame in 0..=self.wedges.pose_count() {
                let area = self.area(&piece.triangles, frame);
                if area > piece.area {
                    (piece.area, piece.frame) = (area, frame);
                }
            }
        }
        lost.sort_by(|a, b| b.area.total_cmp(&a.area).then(a.root.cmp(&b.root)));
        lost
    }

    /// Sum of the areas of all triangles, twice, in the frame where that is most.
    pub(super) fn whole_area(&self) -> f64 {
        let frames = 0..=self.wedges.pose_count();
        let areas = frames.map(|frame| self.area(&self.wedges.seen, frame));
        areas.fold(0.0, f64::max)
    }

    fn area(&self, triangles: &[[u32; 3]], frame: usize) -> f64 {
        let each = triangles.iter();
        let each = each.map(|t| length(area_vector(self.wedges.corners_in(frame, t))));
        each.sum()
    }

    /// The faces that stand for a piece: none where all of it is in one point or on a line in all frames.
    pub(super) fn stand_in(&self, lost: &Lost) -> Vec<[u32; 3]> {
        let corners = lost.triangles.iter().flatten();
        let places = corners.map(|w| (*w, self.wedges.corners_in(lost.frame, &[*w; 3])[0]));
        let places: Vec<(u32, Point)> = places.collect();
        let Some([a, b, c, d]) = extremes(&places) else {
            return Vec::new();
        };
        let (face, turned) = ([a, b, c].map(|p| p.0), [a, c, b].map(|p| p.0));
        let normal = area_vector([a.1, b.1, c.1]);
        if !self.is_closed(lost) {
            let along = self.sum_of_areas(lost);
            return vec![if dot(normal, along) < 0.0 {
                turned
            } else {
                face
            }];
        }
        // Volume of the tetrahedron, six times, positive where `d` is in front of the face.
        let volume = dot(normal, sub(d.1, a.1));
        if volume.abs() <= FLAT * length(normal) * length(sub(b.1, a.1)) {
            return vec![face, turned];
        }
        let [a, b, c, d] = [a, b, c, d].map(|p| p.0);
        // Faces look away from the corner that they do not have, as those of the piece look out of it or, of a hollow, into it.
        match (volume < 0.0) == (self.volume(lost) >= 0.0) {
            true => vec![[a, b, c], [a, d, b], [b, d, c], [c, d, a]],
            false => vec![[a, c, b], [a, b, d], [b, c, d], [c, a, d]],
        }
    }

    /// Whether each of its edges is there as often one way as the other.
    fn is_closed(&self, lost: &Lost) -> bool {
        let mut edges: HashMap<[u32; 2], i64> = HashMap::new();
        for t in &lost.triangles {
            let t = t.map(|w| self.wedges.spot[w as usize]);
            for k in 0..3 {
                let [from, to] = [t[k], t[(k + 1) % 3]];
                let way = if from < to { 1 } else { -1 };
                *edges.entry([from.min(to), from.max(to)]).or_insert(0) += way;
            }
        }
        edges.values().all(|count| *count == 0)
    }

    fn sum_of_areas(&self, lost: &Lost) -> Point {
        let each = lost.triangles.iter();
        let each = each.map(|t| area_vector(self.wedges.corners_in(lost.frame, t)));
        each.fold([0.0; 3], add)
    }

    /// Six times the volume within a closed piece.
    fn volume(&self, lost: &Lost) -> f64 {
        let Some(first) = lost.triangles.first() else {
            return 0.0;
        };
        // From a point of its own: far from the origin sums of large numbers cancel.
        let origin = self.wedges.corners_in(lost.frame, first)[0];
        let each = lost.triangles.iter().map(|t| {
            let [a, b, c] = self
                .wedges
                .corners_in(lost.frame, t)
                .map(|p| sub(p, origin));
            dot(a, cross(b, c))
        });
        each.sum()
    }
}

type Placed = (u32, Point);

/// Four points that reach far: one far from the first, the farthest from it, from the line through both, and from the plane through these.
fn extremes(points: &[Placed]) -> Option<[Placed; 4]> {
    let first = points.first()?.1;
    let a = farthest(points, |p| length(sub(p, first)))?;
    let b = farthest(points, |p| length(sub(p, a.1)))?;
    let along = sub(b.1, a.1);
    let c = farthest(points, |p| length(cross(sub(p, a.1), along)))?;
    let normal = cross(along, sub(c.1, a.1));
    let is_line = length(normal) <= FLAT * dot(along, along);
    if is_line {
        return None;
    }
    let d = farthest(points, |p| dot(sub(p, a.1), normal).abs())?;
    Some([a, b, c, d])
}

/// The first of those for which `of` is largest.
fn farthest(points: &[Placed], of: impl Fn(Point) -> f64) -> Option<Placed> {
    let mut best: Option<(f64, Placed)> = None;
    for point in points {
        let far = of(point.1);
        if best.is_none_or(|(most, _)| far > most) {
            best = Some((far, *point));
        }
    }
    best.map(|(_, point)| point)
}
