//! Where the surface of a frame is when the next frame begins.
//!
//! Triangles that are paired one to one part from their neighbours on the way, since neighbours become triangles that are no neighbours. Here
//! *points* are moved instead: each by the mean displacement of the pairs around it, and from there to the nearest point of the next frame's
//! surface that faces the same way. Triangles that share a point still do afterwards, so that the surface stays closed all the way.

use super::collapse::closest_weights;
use super::drift::Drift;
use super::surface::{Piece, Surface};
use super::tree::Tree;
use super::{FrameMatch, NORMAL, RADIUS, Triangles, Unpaired, Vector};
use crate::vat::maker::groups::Groups;
use sinew_geom::Real;
use sinew_geom::nalgebra::Matrix3;
use std::collections::BTreeMap;

/// How often displacements are averaged over neighbours, so that points without pairs around them learn where the others go.
const SMOOTHING: usize = 6;
/// How often points that land nowhere look at their neighbours.
const FILLING: usize = 64;

/// A point of the next frame's surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Landing {
    /// Triangle of the next frame.
    pub triangle: u32,
    /// Shares of its corners; they add up to one.
    pub weights: [f32; 3],
}

/// A frame's surface when the next frame begins.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct FrameEnd {
    /// Where each vertex is; vertices at one place stay at one place. A part of the surface that is nowhere in the next frame ends in one point.
    pub points: Vec<[f32; 3]>,
    /// What each vertex is on there; `None` for vertices that are near nothing.
    pub landings: Vec<Option<Landing>>,
    /// Unit normals there of the corners of each triangle; those that they have now where they land nowhere.
    pub normals: Vec<[[f32; 3]; 3]>,
    /// Triangles of the next frame in parts of its surface that nothing becomes, ascending, and the points of this frame's moment that they
    /// grow from: one for each part.
    pub appearing: Vec<Unpaired>,
}

/// Where `from` is when `to` begins; `step` is what [`super::match_triangles`] made of both.
///
/// `normals` are those of corners, of both frames. Cost: as the search for the nearest point for each vertex, O(n log n).
pub(crate) fn frame_end(
    [from, to]: [&Triangles<'_>; 2],
    normals: [&[[[f32; 3]; 3]]; 2],
    step: &FrameMatch,
) -> FrameEnd {
    let backwards = from.motion.is_none() && to.motion.is_some();
    let before = Surface::new(from, 1.0);
    let after = Surface::new(to, if backwards { -1.0 } else { 0.0 });
    let partners = partners_of(&before, &after, step);
    let drift = Drift::new(&before, &after, &partners, SMOOTHING);
    let ground = Ground {
        tree: after.boxes(),
        reach: RADIUS * (before.edge + after.edge) * 0.5,
        bend: NORMAL * before.edge * after.edge,
        surface: &after,
        frame: to,
        normals: normals[1],
    };
    let mut fall = Fall::new(from, &before, normals[0]);
    fall.land(&drift, &ground);
    let parts = Parts::of(&before);
    fall.end_lost_parts(&parts);
    fall.fill_gaps();
    FrameEnd {
        points: fall.points(from),
        landings: fall.landings(from),
        normals: fall.corner_normals(&ground),
        appearing: appearing(&after, step, &fall),
    }
}

/// For each piece before the piece after it.
fn partners_of(before: &Surface, after: &Surface, step: &FrameMatch) -> Vec<Option<u32>> {
    let mut successors = vec![None; before.pieces.len()];
    for (index, piece) in (0..).zip(&after.pieces) {
        let predecessor = step.predecessors.get(piece.triangle as usize);
        if let Some(Some(predecessor)) = predecessor {
            successors[predecessor.triangle as usize] = Some(index);
        }
    }
    let pieces = before.pieces.iter();
    pieces.map(|p| successors[p.triangle as usize]).collect()
}

/// What points land on.
struct Ground<'a> {
    surface: &'a Surface,
    frame: &'a Triangles<'a>,
    normals: &'a [[[f32; 3]; 3]],
    tree: Tree,
    /// How far it may be.
    reach: f32,
    /// Square of the distance that facing the other way counts as.
    bend: f32,
}

/// A point of a piece.
#[derive(Debug, Clone, Copy)]
struct Hit {
    piece: u32,
    weights: [f32; 3],
}

impl Ground<'_> {
    /// The best place near a point that faces along `normal`.
    fn below(&self, point: &Vector, normal: &Vector) -> Option<Hit> {
        let mut limit = self.reach * self.reach;
        let mut best = None;
        self.tree.visit(point, &mut limit, &mut |index, limit| {
            let piece = &self.surface.pieces[index as usize];
            let weights = closest_weights(point, &piece.corners);
            let off = (mix(&piece.corners, weights) - point).norm_squared();
            let cost = off + self.bend * 0.5 * (1.0 - piece.normal.dot(normal));
            if cost < *limit {
                *limit = cost;
                best = Some(Hit {
                    piece: index,
                    weights,
                });
            }
        });
        best
    }

    /// For a point on hard edges: where the sides that face along its normals meet, or the nearest of them.
    fn below_edge(&self, point: &Vector, normals: &[Vector]) -> Option<Hit> {
        // Keeps the point where sides do not say, as along an edge.
        const STAY: f64 = 1e-4;
        let hits = normals.iter().filter_map(|n| self.below(point, n));
        let mut matrix = Matrix3::identity() * STAY;
        let mut sum = point.cast::<f64>() * STAY;
        let mut first = None;
        for hit in hits {
            let piece = self.piece(hit);
            let normal = piece.normal.cast::<f64>();
            let plane = normal * normal.transpose();
            matrix += plane;
            sum += plane * mix(&piece.corners, hit.weights).cast::<f64>();
            first = first.or(Some(hit));
        }
        let meeting: Vector = (f64::inverse_of(&matrix)? * sum).cast();
        let is_near = (meeting - point).norm() <= self.reach;
        let snapped = is_near.then(|| self.below(&meeting, &Vector::zeros()));
        snapped.flatten().or(first)
    }

    fn piece(&self, hit: Hit) -> &Piece {
        &self.surface.pieces[hit.piece as usize]
    }

    /// Where that is in the frame itself, whose points may be elsewhere than at the moment of comparison.
    fn place(&self, hit: Hit) -> Vector {
        let piece = self.piece(hit);
        let triangle = self.frame.triangles[piece.triangle as usize];
        let corner = |k: u8| {
            let own = triangle[piece.own_corner(k) as usize];
            Vector::from(self.frame.points[own as usize])
        };
        mix(&[0, 1, 2].map(corner), hit.weights)
    }

    fn normal(&self, hit: Hit) -> Option<Vector> {
        let piece = self.piece(hit);
        let normals = self.normals.get(piece.triangle as usize)?;
        let corner = |k: u8| Vector::from(normals[piece.own_corner(k) as usize]);
        mix(&[0, 1, 2].map(corner), hit.weights).try_normalize(1e-6)
    }

    fn landing(&self, hit: Hit) -> Landing {
        let piece = self.piece(hit);
        let mut weights = [0.0; 3];
        for k in 0..3 {
            weights[piece.own_corner(k) as usize] = hit.weights[k as usize];
        }
        Landing {
            triangle: piece.triangle,
            weights,
        }
    }
}

/// Whether two normals at a point are those of different sides.
fn is_hard(a: &Vector, b: &Vector) -> bool {
    a.dot(b) < 0.999
}

fn mix(corners: &[Vector; 3], [a, b, c]: [f32; 3]) -> Vector {
    corners[0] * a + corners[1] * b + corners[2] * c
}

/// A place of the frame on its way.
#[derive(Debug, Clone, Copy)]
struct Place {
    now: Vector,
    /// Where the pairs around it go, at the moment of comparison.
    goal: Vector,
    /// The mean of its corners' normals.
    normal: Vector,
    hit: Option<Hit>,
    landing: Option<Landing>,
    /// Where it is when the next frame begins.
    end: Option<Vector>,
}

/// The places of a frame on their way; places without triangles stay.
struct Fall<'a> {
    surface: &'a Surface,
    normals: &'a [[[f32; 3]; 3]],
    places: Vec<Option<Place>>,
    /// Of places on hard edges the normals of all sides.
    sides: BTreeMap<usize, Vec<Vector>>,
}

impl<'a> Fall<'a> {
    fn new(frame: &Triangles<'_>, surface: &'a Surface, normals: &'a [[[f32; 3]; 3]]) -> Self {
        let mut places: Vec<Option<Place>> = vec![None; surface.places];
        for piece in &surface.pieces {
            for k in 0..3_u8 {
                let number = piece.places[k as usize] as usize;
                let place = places[number].get_or_insert_with(|| Place {
                    now: Vector::from(frame.points[number]),
                    goal: piece.corners[k as usize],
                    normal: Vector::zeros(),
                    hit: None,
                    landing: None,
                    end: None,
                });
                let own = piece.own_corner(k) as usize;
                place.normal += normals
                    .get(piece.triangle as usize)
                    .map_or(piece.normal, |n| Vector::from(n[own]));
            }
        }
        for place in places.iter_mut().flatten() {
            place.normal = place.normal.try_normalize(1e-6).unwrap_or_default();
        }
        let mut this = Self {
            surface,
            normals,
            places,
            sides: BTreeMap::new(),
        };
        this.find_sides();
        this
    }

    fn find_sides(&mut self) {
        for piece in &self.surface.pieces {
            let Some(normals) = self.normals.get(piece.triangle as usize) else {
                continue;
            };
            for k in 0..3_u8 {
                let number = piece.places[k as usize] as usize;
                let normal = Vector::from(normals[piece.own_corner(k) as usize]);
                let mean = self.places[number].map_or(normal, |p| p.normal);
                if is_hard(&normal, &mean) {
                    let sides = self.sides.entry(number).or_default();
                    if !sides.iter().any(|s| !is_hard(s, &normal)) {
                        sides.push(normal);
                    }
                }
            }
        }
    }

    fn land(&mut self, drift: &Drift, ground: &Ground<'_>) {
        for (number, place) in self.places.iter_mut().enumerate() {
            let Some(place) = place else { continue };
            place.goal += drift.of_place(number);
            place.hit = match self.sides.get(&number) {
                Some(sides) => ground.below_edge(&place.goal, sides),
                None => ground.below(&place.goal, &place.normal),
            };
            place.landing = place.hit.map(|hit| ground.landing(hit));
            place.end = place.hit.map(|hit| ground.place(hit));
        }
    }

    /// Parts of which less than half lands anywhere shrink into their middle.
    fn end_lost_parts(&mut self, parts: &Parts) {
        let mut sums = vec![(Vector::zeros(), 0_usize, 0_usize); parts.count];
        for (number, place) in self.places.iter().enumerate() {
            let Some(place) = place else { continue };
            let (sum, all, landed) = &mut sums[parts.of_place[number] as usize];
            *sum += place.goal;
            *all += 1;
            *landed += usize::from(place.hit.is_some());
        }
        for (number, place) in self.places.iter_mut().enumerate() {
            let Some(place) = place else { continue };
            let (sum, all, landed) = sums[parts.of_place[number] as usize];
            if landed * 2 < all {
                place.hit = None;
                place.landing = None;
                place.end = Some(sum / all as f32);
            }
        }
    }

    /// Places that landed nowhere go as their neighbours go.
    fn fill_gaps(&mut self) {
        for _ in 0..FILLING {
            let mut sums: Vec<(Vector, f32)> = vec![(Vector::zeros(), 0.0); self.places.len()];
            for piece in &self.surface.pieces {
                let ends = piece
                    .places
                    .map(|p| self.places[p as usize].and_then(moved));
                for (k, place) in piece.places.iter().enumerate() {
                    let others = [ends[(k + 1) % 3], ends[(k + 2) % 3]];
                    for way in others.into_iter().flatten() {
                        let (sum, count) = &mut sums[*place as usize];
                        *sum += way;
                        *count += 1.0;
                    }
                }
            }
            let mut is_filled = true;
            for (place, (sum, count)) in self.places.iter_mut().zip(sums) {
                let Some(place) = place else { continue };
                if place.end.is_none() {
                    is_filled &= count > 0.0;
                    place.end = (count > 0.0).then(|| place.now + sum / count);
                }
            }
            if is_filled {
                return;
            }
        }
    }

    fn number_of(&self, frame: &Triangles<'_>) -> Vec<u32> {
        let mut of_vertex: Vec<u32> = (0..frame.points.len() as u32).collect();
        for piece in &self.surface.pieces {
            let triangle = frame.triangles[piece.triangle as usize];
            for k in 0..3_u8 {
                of_vertex[triangle[piece.own_corner(k) as usize] as usize] =
                    piece.places[k as usize];
            }
        }
        of_vertex
    }

    fn points(&self, frame: &Triangles<'_>) -> Vec<[f32; 3]> {
        let end = |(number, now): (u32, &[f32; 3])| {
            let place = self.places[number as usize];
            place.and_then(|p| p.end).map_or(*now, Into::into)
        };
        let numbers = self.number_of(frame).into_iter();
        numbers.zip(frame.points).map(end).collect()
    }

    fn landings(&self, frame: &Triangles<'_>) -> Vec<Option<Landing>> {
        let landing = |number: u32| self.places[number as usize].and_then(|p| p.landing);
        self.number_of(frame).into_iter().map(landing).collect()
    }

    /// At soft points the normal where the point lands; on hard edges each side looks for the side that faces its way.
    fn corner_normals(&self, ground: &Ground<'_>) -> Vec<[[f32; 3]; 3]> {
        let mut out = self.normals.to_vec();
        for piece in &self.surface.pieces {
            let Some(corners) = out.get_mut(piece.triangle as usize) else {
                continue;
            };
            for k in 0..3_u8 {
                let corner = &mut corners[piece.own_corner(k) as usize];
                let Some(place) = self.places[piece.places[k as usize] as usize] else {
                    continue;
                };
                let Some(hit) = place.hit else { continue };
                let now = Vector::from(*corner);
                let hit = match is_hard(&now, &place.normal) {
                    true => {
                        let at = mix(&ground.piece(hit).corners, hit.weights);
                        ground.below(&at, &now).unwrap_or(hit)
                    }
                    false => hit,
                };
                *corner = ground.normal(hit).unwrap_or(now).into();
            }
        }
        out
    }
}

fn moved(place: Place) -> Option<Vector> {
    place.end.map(|end| end - place.now)
}

/// Parts of a surface that hang together, by places.
struct Parts {
    of_place: Vec<u32>,
    count: usize,
}

impl Parts {
    fn of(surface: &Surface) -> Self {
        let mut groups = Groups::new(surface.places as u32);
        for piece in &surface.pieces {
            let [a, b, c] = piece.places;
            groups.join(a, b);
            groups.join(a, c);
        }
        let (mut numbers, mut count) = (vec![u32::MAX; surface.places], 0);
        let of_place = (0..surface.places as u32).map(|place| {
            let number = &mut numbers[groups.find(place) as usize];
            if *number == u32::MAX {
                *number = count;
                count += 1;
            }
            *number
        });
        Self {
            of_place: of_place.collect(),
            count: count as usize,
        }
    }
}

/// Triangles of parts that nothing becomes: no triangle of theirs has a predecessor, and less than a quarter of their places is landed on.
fn appearing(after: &Surface, step: &FrameMatch, fall: &Fall<'_>) -> Vec<Unpaired> {
    let parts = Parts::of(after);
    let mut seen = vec![Part::default(); parts.count];
    for piece in &after.pieces {
        let part = &mut seen[parts.of_place[piece.places[0] as usize] as usize];
        part.triangles += 1;
        let predecessor = step.predecessors.get(piece.triangle as usize);
        part.has_predecessor |= predecessor.is_some_and(Option::is_some);
        let birth = step
            .births
            .binary_search_by_key(&piece.triangle, |b| b.triangle);
        if let Ok(birth) = birth {
            part.sum += Vector::from(step.births[birth].point);
        }
    }
    for hit in fall.places.iter().flatten().filter_map(|p| p.hit) {
        let place = after.pieces[hit.piece as usize].places[0];
        seen[parts.of_place[place as usize] as usize].landed += 1;
    }
    let mut out: Vec<Unpaired> = Vec::new();
    for piece in &after.pieces {
        let part = &seen[parts.of_place[piece.places[0] as usize] as usize];
        // A closed surface has half as many points as triangles.
        if !part.has_predecessor && part.landed * 8 < part.triangles {
            out.push(Unpaired {
                triangle: piece.triangle,
                point: (part.sum / part.triangles as f32).into(),
            });
        }
    }
    out.sort_unstable_by_key(|a| a.triangle);
    out
}

/// What is known of a part of the next frame.
#[derive(Debug, Clone, Default)]
struct Part {
    triangles: usize,
    has_predecessor: bool,
    landed: usize,
    /// Of the points that its triangles grow from.
    sum: Vector,
}
