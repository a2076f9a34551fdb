//! Smooths positions.
//!
//! Each vertex moves towards the mean of its neighbours, `p += strength * (mean - p)`. Done alone this shrinks the
//! mesh; by default each such step is followed by one with a negative strength `mu`, `1 / strength + 1 / mu = pass_band`
//! (Taubin, *A Signal Processing Approach to Fair Surface Design*, 1995): waves longer than the pass band keep their
//! height, shorter ones vanish. As weights are equal, vertices slide along the surface, too, which evens out triangles.
//!
//! Vertices at one place move as one, whatever their attributes. Normals and tangents turn with the surface.

use super::faces::corners;
use super::vector::{Point, narrow, unit, wide};
use super::{PrepareError, expect};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sinew_geom::vec3::{add, area_vector, cross, dot, length, scale, sub};
use sinew_geom::{Mesh, WeldMap, index32};

/// What stops a mesh from shrinking when it is smoothed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Shrinking {
    /// Nothing: plain Laplacian smoothing.
    Allowed,
    /// Each step is followed by one in the other direction.
    Compensated {
        /// Frequency that is left alone, above 0 and at most 1; small is smooth. 0.1 is usual.
        pass_band: f32,
    },
}

/// What becomes of the vertices on open borders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Border {
    /// They stay where they are.
    #[default]
    Pinned,
    /// They move along the border: only their neighbours on it count.
    Sliding,
}

/// How to smooth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RelaxSettings {
    /// How often; with compensation each is a step forth and a step back. Default 10.
    pub iterations: u32,
    /// How far towards the mean of the neighbours, above 0 and at most 1; with compensation at most 0.65, beyond which the
    /// shortest waves would grow. Default 0.5.
    pub strength: f32,
    /// What stops the mesh from shrinking. Default: compensation with a pass band of 0.1.
    pub shrinking: Shrinking,
    /// What becomes of open borders. Default: pinned.
    pub border: Border,
    /// Edges whose faces' normals differ by more than this (radians, 0 to pi) keep their vertices where they are. Default: none.
    pub hard_edge_angle: Option<f32>,
    /// Vertices this close (metres) move as one and end in one place; 0 joins equal positions. Default 0.
    pub weld_distance: f32,
}

impl Default for RelaxSettings {
    fn default() -> Self {
        Self {
            iterations: 10,
            strength: 0.5,
            shrinking: Shrinking::Compensated { pass_band: 0.1 },
            border: Border::Pinned,
            hard_edge_angle: None,
            weld_distance: 0.0,
        }
    }
}

impl RelaxSettings {
    pub(super) fn check(&self) -> Result<(), PrepareError> {
        let (most, allowed) = match self.shrinking {
            Shrinking::Allowed => (1.0, "above 0, at most 1"),
            Shrinking::Compensated { .. } => (0.65, "above 0, at most 0.65 with compensation"),
        };
        let fine = self.strength > 0.0 && self.strength <= most;
        expect(fine, "relax.strength", self.strength, allowed)?;
        if let Shrinking::Compensated { pass_band } = self.shrinking {
            let fine = pass_band > 0.0 && pass_band <= 1.0;
            expect(
                fine,
                "relax.shrinking.pass_band",
                pass_band,
                "above 0, at most 1",
            )?;
        }
        let weld = self.weld_distance;
        let fine = weld >= 0.0 && weld.is_finite();
        expect(
            fine,
            "relax.weld_distance",
            weld,
            "a finite number, at least 0",
        )?;
        check_angle("relax.hard_edge_angle", self.hard_edge_angle)
    }

    /// Strengths of the steps of one iteration.
    fn steps(&self) -> Vec<f64> {
        let strength = f64::from(self.strength);
        match self.shrinking {
            Shrinking::Allowed => vec![strength],
            Shrinking::Compensated { pass_band } => {
                vec![strength, 1.0 / (f64::from(pass_band) - 1.0 / strength)]
            }
        }
    }
}

/// Angles between normals: 0 to pi.
pub(super) fn check_angle(setting: &'static str, angle: Option<f32>) -> Result<(), PrepareError> {
    let angle = angle.unwrap_or(0.0);
    let fine = (0.0..=std::f32::consts::PI + 1e-5).contains(&angle);
    expect(fine, setting, angle, "an angle from 0 to pi, in radians")
}

/// What smoothing did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RelaxReport {
    /// Places (vertices at one place counted once) that were free to move.
    pub places_free: usize,
    /// Places that were held by a border or a hard edge.
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
    let weld = WeldMap::by_position(&mesh.positions, settings.weld_distance);
    let before: Vec<Point> = weld
        .first_vertex
        .iter()
        .map(|&v| wide(mesh.positions[v as usize]))
        .collect();
    let neighbours = Neighbours::of(mesh, &weld, settings);
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

/// An edge between two places, as one of its faces has it: low, high, face.
type EdgeUse = (u32, u32, u32);

/// Which neighbours each place follows, in compressed rows; those of pinned places are empty.
struct Neighbours {
    offsets: Vec<u32>,
    list: Vec<u32>,
    pinned: usize,
}

impl Neighbours {
    fn of(mesh: &Mesh, weld: &WeldMap, settings: &RelaxSettings) -> Self {
        let count = weld.class_count();
        let uses = edge_uses(mesh, weld);
        let mut rule = Rule {
            pinned: vec![false; count],
            on_border: vec![false; count],
        };
        let runs = || uses.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
        for edge in runs() {
            let hard = settings
                .hard_edge_angle
                .is_some_and(|angle| is_hard(mesh, edge, angle));
            rule.note(edge, hard, settings.border);
        }
        let links = runs().flat_map(|edge| rule.links(edge)).collect();
        let pinned = rule.pinned.iter().filter(|p| **p).count();
        Self::from_links(count, links, pinned)
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

/// Who follows whom.
struct Rule {
    pinned: Vec<bool>,
    on_border: Vec<bool>,
}

impl Rule {
    fn note(&mut self, edge: &[EdgeUse], hard: bool, border: Border) {
        let open = edge.len() == 1;
        for place in [edge[0].0 as usize, edge[0].1 as usize] {
            self.on_border[place] |= open;
            self.pinned[place] |= hard || (open && border == Border::Pinned);
        }
    }

    /// Both ends follow each other, but for pinned ones, and those on a border follow borders only.
    fn links(&self, edge: &[EdgeUse]) -> impl Iterator<Item = (u32, u32)> {
        let (a, b) = (edge[0].0, edge[0].1);
        let open = edge.len() == 1;
        let follows = move |place: u32| {
            let place = place as usize;
            !self.pinned[place] && (open || !self.on_border[place])
        };
        [(a, b), (b, a)].into_iter().filter(move |l| follows(l.0))
    }
}

/// The edges of all faces, sorted; faces count once an edge, edges without length not at all.
fn edge_uses(mesh: &Mesh, weld: &WeldMap) -> Vec<EdgeUse> {
    let mut uses = Vec::with_capacity(3 * mesh.topology.triangles().len());
    for (face, t) in mesh.topology.triangles().iter().enumerate() {
        let [a, b, c] = t.map(|v| weld.class_of_vertex[v as usize]);
        if a == b || b == c || c == a {
            // A face folded to an edge would make its border look inner.
            continue;
        }
        let ends = [(a, b), (b, c), (c, a)];
        uses.extend(ends.map(|(a, b)| (a.min(b), a.max(b), index32(face))));
    }
    uses.sort_unstable();
    uses
}

/// Whether any two neighbouring faces at an edge differ by more than `angle`; faces without area do not count.
fn is_hard(mesh: &Mesh, edge: &[EdgeUse], angle: f32) -> bool {
    let normal = |e: &EdgeUse| {
        unit(area_vector(corners(
            mesh,
            &mesh.topology.triangles()[e.2 as usize],
        )))
    };
    let least = f64::from(angle).cos();
    let normals: Vec<Point> = edge.iter().filter_map(normal).collect();
    normals.windows(2).any(|n| dot(n[0], n[1]) < least)
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
