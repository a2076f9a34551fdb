//! Smooths positions.
//!
//! Each vertex moves towards the mean of its neighbours, `p += strength * (mean - p)`. Done alone this shrinks the
//! mesh; each such step is followed by one with a negative strength `mu`, `1 / strength + 1 / mu = 0.1`, the pass band
//! (Taubin, *A Signal Processing Approach to Fair Surface Design*, 1995): waves longer than the pass band keep their
//! height, shorter ones vanish. As weights are equal, vertices slide along the surface, too, which evens out triangles.
//!
//! Vertices on open borders stay where they are. Vertices at one place move as one, whatever their attributes. Normals
//! and tangents turn with the surface.

use super::faces::corners;
use super::vector::{Point, narrow, unit, wide};
use super::{PrepareError, expect};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sinew_geom::vec3::{add, area_vector, cross, dot, length, scale, sub};
use sinew_geom::{Mesh, WeldMap};

/// Frequency that smoothing leaves alone, from 0 to 1: small is smooth.
const PASS_BAND: f32 = 0.1;

/// How to smooth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RelaxSettings {
    /// How often, each a step forth and a step back. Default 10.
    pub iterations: u32,
    /// How far towards the mean of the neighbours, above 0 and at most 0.65, beyond which the shortest waves would grow.
    /// Default 0.5.
    pub strength: f32,
}

impl Default for RelaxSettings {
    fn default() -> Self {
        Self {
            iterations: 10,
            strength: 0.5,
        }
    }
}

impl RelaxSettings {
    pub(super) fn check(&self) -> Result<(), PrepareError> {
        let fine = self.strength > 0.0 && self.strength <= 0.65;
        expect(
            fine,
            "relax.strength",
            self.strength,
            "above 0, at most 0.65",
        )
    }

    /// Strengths of the steps of one iteration.
    fn steps(&self) -> [f64; 2] {
        let strength = f64::from(self.strength);
        [strength, 1.0 / (f64::from(PASS_BAND) - 1.0 / strength)]
    }
}

/// What smoothing did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RelaxReport {
    /// Places (vertices at one place counted once) that were free to move.
    pub places_free: usize,
    /// Places on open borders, which stay.
    pub places_pinned: usize,
    /// Longest way that a vertex went, metres.
    pub largest_move: f64,
    /// Signed volume before, cubic metres; means something for closed meshes only.
    pub volume_before: f64,
    /// Signed volume after.
    pub volume_after: f64,
}

/// Smooths the positions of `mesh`.
///
/// # Cost
/// `O(faces log faces + iterations * faces)`, spread over threads.
pub(super) fn relax(mesh: &mut Mesh, settings: &RelaxSettings) -> RelaxReport {
    let weld = WeldMap::by_position(&mesh.positions, 0.0);
    let before: Vec<Point> = weld
        .first_vertex
        .iter()
        .map(|&v| wide(mesh.positions[v as usize]))
        .collect();
    let neighbours = Neighbours::of(mesh, &weld);
    let mut places = before.clone();
    for _ in 0..settings.iterations {
        for strength in settings.steps() {
            places = neighbours.step(&places, strength);
        }
    }
    let mut report = neighbours.report();
    report.largest_move = largest_move(&before, &places);
    report.volume_before = volume(mesh);
    move_vertices(mesh, &weld, &neighbours, &places);
    report.volume_after = volume(mesh);
    report
}

fn largest_move(before: &[Point], after: &[Point]) -> f64 {
    let pairs = before.iter().zip(after);
    // Vertices without faces may be anywhere, and do not move.
    pairs
        .filter(|(a, b)| a != b)
        .map(|(a, b)| length(sub(*a, *b)))
        .fold(0.0, f64::max)
}

/// Signed volume under the faces, seen from the first vertex that is used.
fn volume(mesh: &Mesh) -> f64 {
    let mut faces = mesh
        .topology
        .triangles()
        .iter()
        .map(|t| corners(mesh, t))
        .peekable();
    let Some(&[origin, ..]) = faces.peek() else {
        return 0.0;
    };
    let part = |t: [Point; 3]| dot(sub(t[0], origin), area_vector(t)) / 6.0;
    faces.map(part).sum()
}

/// An edge between two places, lower first, as one of its faces has it.
type EdgeUse = (u32, u32);

/// Which neighbours each place follows, in compressed rows; those of places on borders are empty.
struct Neighbours {
    offsets: Vec<u32>,
    list: Vec<u32>,
    pinned: usize,
}

impl Neighbours {
    fn of(mesh: &Mesh, weld: &WeldMap) -> Self {
        let uses = edge_uses(mesh, weld);
        let edges = || uses.chunk_by(|a, b| a == b);
        let mut is_pinned = vec![false; weld.class_count()];
        for edge in edges().filter(|edge| edge.len() == 1) {
            let (a, b) = edge[0];
            is_pinned[a as usize] = true;
            is_pinned[b as usize] = true;
        }
        // Both ends follow each other, but for pinned ones.
        let links = edges().flat_map(|edge| [edge[0], (edge[0].1, edge[0].0)]);
        let links = links.filter(|link| !is_pinned[link.0 as usize]).collect();
        let pinned = is_pinned.iter().filter(|p| **p).count();
        Self::from_links(is_pinned.len(), links, pinned)
    }

    fn from_links(count: usize, mut links: Vec<(u32, u32)>, pinned: usize) -> Self {
        links.sort_unstable();
        let mut offsets = vec![0; count + 1];
        for link in &links {
            offsets[link.0 as usize + 1] += 1;
        }
        for place in 0..count {
            offsets[place + 1] += offsets[place];
        }
        let list = links.into_iter().map(|l| l.1).collect();
        Self {
            offsets,
            list,
            pinned,
        }
    }

    fn row(&self, place: usize) -> &[u32] {
        &self.list[self.offsets[place] as usize..self.offsets[place + 1] as usize]
    }

    fn is_free(&self, place: usize) -> bool {
        !self.row(place).is_empty()
    }

    fn report(&self) -> RelaxReport {
        let places = 0..self.offsets.len() - 1;
        RelaxReport {
            places_free: places.filter(|&p| self.is_free(p)).count(),
            places_pinned: self.pinned,
            ..RelaxReport::default()
        }
    }

    /// Every place looks at the places before the step, so that the order of threads does not matter.
    fn step(&self, places: &[Point], strength: f64) -> Vec<Point> {
        let moved = |(place, p): (usize, &Point)| {
            let row = self.row(place);
            if row.is_empty() {
                return *p;
            }
            let sum = row
                .iter()
                .fold([0.0; 3], |sum, &n| add(sum, places[n as usize]));
            let mean = scale(sum, 1.0 / row.len() as f64);
            add(*p, scale(sub(mean, *p), strength))
        };
        places
            .par_iter()
            .with_min_len(4096)
            .enumerate()
            .map(moved)
            .collect()
    }
}

/// The edges of all faces, sorted; faces count once an edge, edges without length not at all.
fn edge_uses(mesh: &Mesh, weld: &WeldMap) -> Vec<EdgeUse> {
    let mut uses = Vec::with_capacity(3 * mesh.topology.triangles().len());
    for t in mesh.topology.triangles() {
        let [a, b, c] = t.map(|v| weld.class_of_vertex[v as usize]);
        if a == b || b == c || c == a {
            // A face folded to an edge would make its border look inner.
            continue;
        }
        let ends = [(a, b), (b, c), (c, a)];
        uses.extend(ends.map(|(a, b)| (a.min(b), a.max(b))));
    }
    uses.sort_unstable();
    uses
}

/// Writes the new places, and turns normals and tangents as the surface turned.
fn move_vertices(mesh: &mut Mesh, weld: &WeldMap, neighbours: &Neighbours, places: &[Point]) {
    let directed = mesh.normals.is_some() || mesh.tangents.is_some();
    let old = directed.then(|| place_normals(mesh, weld));
    for (v, &class) in weld.class_of_vertex.iter().enumerate() {
        if neighbours.is_free(class as usize) {
            mesh.positions[v] = narrow(places[class as usize]);
        }
    }
    let Some(old) = old else { return };
    let new = place_normals(mesh, weld);
    let turns: Vec<Turn> = old
        .into_iter()
        .zip(new)
        .map(|(o, n)| Turn::between(o, n))
        .collect();
    let turn = |v: usize| &turns[weld.class_of_vertex[v] as usize];
    let normals = mesh.normals.iter_mut().flatten().enumerate();
    normals.for_each(|(v, n)| *n = turn(v).apply(*n));
    for (v, t) in mesh.tangents.iter_mut().flatten().enumerate() {
        let [x, y, z] = turn(v).apply([t[0], t[1], t[2]]);
        *t = [x, y, z, t[3]];
    }
}

/// The mean normal of the faces at each place, weighted by area; zero where there is none.
fn place_normals(mesh: &Mesh, weld: &WeldMap) -> Vec<Point> {
    let mut normals = vec![[0.0; 3]; weld.class_count()];
    for t in mesh.topology.triangles() {
        let face = area_vector(corners(mesh, t));
        for &v in t {
            let place = &mut normals[weld.class_of_vertex[v as usize] as usize];
            *place = add(*place, face);
        }
    }
    normals
}

/// The shortest rotation from one direction to another.
struct Turn {
    axis: Point,
    cosine: f64,
}

impl Turn {
    const NONE: Self = Self {
        axis: [0.0; 3],
        cosine: 1.0,
    };

    /// None for opposite directions, as any axis would do, and for those of no length.
    fn between(from: Point, to: Point) -> Self {
        let (Some(from), Some(to)) = (unit(from), unit(to)) else {
            return Self::NONE;
        };
        let cosine = dot(from, to);
        if cosine < -0.999_999 {
            return Self::NONE;
        }
        let axis = cross(from, to);
        Self { axis, cosine }
    }

    /// Rodrigues' formula with an axis as long as the sine.
    fn apply(&self, v: [f32; 3]) -> [f32; 3] {
        if self.axis == [0.0; 3] {
            return v;
        }
        let p = wide(v);
        let along = scale(self.axis, dot(self.axis, p) / (1.0 + self.cosine));
        narrow(add(add(scale(p, self.cosine), cross(self.axis, p)), along))
    }
}
