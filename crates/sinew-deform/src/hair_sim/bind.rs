//! Setup: what follows from the strands at rest.
//!
//! Each guide vertex gets its offset from the root, the length of its segment and its direction along the axes of the segment before, its
//! share of the arc length, its mass, and the stiffness of the joint before the segment. A straight strand, clamped at its root, is an Euler-Bernoulli beam whose slowest mode has the angular frequency
//! `1.8751^2 sqrt(EI / (m L^4))`, with the mass `m` per length and the length `L`. Inverted, this gives the bending stiffness `EI` for a
//! frequency of 1; a frame multiplies it by the square of the wanted one. The frequency of a strand then does not depend on its length or
//! its number of vertices.
//!
//! Segments shorter than 1 % of the mean count as that long for bends, which bounds the stiffness. Everything is computed in double
//! precision.

use super::detail;
use super::volume::HairVolume;
use sinew_geom::{Quat, Real, Strands, Vec3};

/// Why strands cannot be bound.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum HairBindError {
    /// The number of rest positions is not the number of vertices.
    #[error("found {found} rest positions, expected one for each of {expected} strand vertices")]
    PositionCount {
        /// Positions given.
        found: usize,
        /// Vertices there are.
        expected: usize,
    },
    /// The number of inverse masses is not the number of vertices.
    #[error("found {found} inverse masses, expected one for each of {expected} strand vertices")]
    MassCount {
        /// Masses given.
        found: usize,
        /// Vertices there are.
        expected: usize,
    },
    /// A rest position is not finite.
    #[error("rest position of strand vertex {vertex} is not finite")]
    Position {
        /// Index of the vertex.
        vertex: usize,
    },
    /// An inverse mass is negative or not finite.
    #[error("inverse mass of strand vertex {vertex} is {found}, expected 0 (pinned) or more")]
    Mass {
        /// Index of the vertex.
        vertex: usize,
        /// What was given.
        found: f32,
    },
}

/// A vertex of a guide, as the steps read it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct BoundVertex {
    /// From the strand's root, at rest.
    pub(crate) offset: [f32; 3],
    /// 0: pinned.
    pub(crate) inverse_mass: f32,
    /// Of the segment that leads here.
    pub(crate) length: f32,
    /// Share of the arc length up to here.
    pub(crate) arc: f32,
    /// Length of the strand from its last pin to here.
    pub(crate) way: f32,
    /// Over the mean; 0 for pins.
    pub(crate) mass: f32,
    /// Stiffness of the joint before the segment over the squared angular frequency of the strand, and the mean mass.
    pub(crate) bend: f32,
    /// Direction of the segment along the axes of the one before.
    pub(crate) direction: [f32; 3],
}

/// Strands ready for simulation. Immutable; instances share it.
///
/// Memory: 48 bytes per guide vertex and 12 bytes per vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct HairBind {
    pub(crate) strands: Strands,
    /// Strand of each guide.
    pub(crate) guides: Vec<u32>,
    /// For each strand, which of `guides` it is or follows.
    pub(crate) guide_of: Vec<u32>,
    /// Vertices of guide `g` among those of all guides: `offsets[g]..offsets[g + 1]`.
    pub(crate) offsets: Vec<u32>,
    pub(crate) vertices: Vec<BoundVertex>,
    /// Rest position of each guide's root.
    pub(crate) roots: Vec<[f32; 3]>,
    /// Of followers, at rest: first how far the root is from the guide's, then each segment along the axes of the guide's segment. Zero for
    /// guides.
    pub(crate) segments: Vec<[f32; 3]>,
    /// Length of each guide.
    pub(crate) reaches: Vec<f32>,
    pub(crate) longest: usize,
    /// Followers whose root goes where its own transform takes it; empty: none do.
    pub(crate) own_roots: Vec<bool>,
    /// Of hair that pushes itself apart.
    pub(crate) volume: Option<HairVolume>,
    /// For each strand, the detail from which on something of it is shown.
    pub(crate) shown_from: Vec<f32>,
}

impl HairBind {
    /// Binds `strands`. `rest` has one position per vertex in scene space at bind, strand after strand. `inverse_masses` has one number per
    /// vertex: 0 pins a vertex to the skin, larger numbers move more easily. Those of followers are not read. Without masses, the first two
    /// vertices of each strand are pinned.
    ///
    /// Strands of zero length are allowed.
    ///
    /// # Errors
    /// [`HairBindError`] if lengths differ, a position is not finite, or a mass is negative or not finite.
    ///
    /// # Cost
    /// O(vertices).
    pub fn new(
        strands: &Strands,
        rest: &[[f32; 3]],
        inverse_masses: Option<&[f32]>,
    ) -> Result<Self, HairBindError> {
        check(strands, rest, inverse_masses)?;
        let mut bind = Self {
            strands: strands.clone(),
            guides: Vec::new(),
            guide_of: vec![0; strands.len()],
            offsets: vec![0],
            vertices: Vec::new(),
            roots: Vec::new(),
            segments: vec![[0.0; 3]; rest.len()],
            reaches: Vec::new(),
            longest: strands.longest(),
            own_roots: Vec::new(),
            volume: None,
            shown_from: Vec::new(),
        };
        for s in strands.guide_strands() {
            let range = strands.range(s);
            let masses = inverse_masses.map(|m| &m[range.clone()]);
            bind.push_guide(s, &rest[range], masses);
        }
        let turns = bind.guide_turns();
        for (s, &leads) in strands.guides().iter().enumerate() {
            let guide = bind.guide_of[leads as usize] as usize;
            bind.guide_of[s] = guide as u32;
            if strands.is_guide(s) {
                continue;
            }
            let own = strands.range(s);
            let point = |v: usize| f64::vec3(rest[v]);
            let root = point(own.start) - f64::vec3(bind.roots[guide]);
            bind.segments[own.start] = f64::array3(root);
            let pairs = own.clone().zip(&turns[bind.guide_range(guide)]);
            for (v, turn) in pairs.skip(1) {
                let segment = turn.inverse() * (point(v) - point(v - 1));
                bind.segments[v] = f64::array3(segment);
            }
        }
        bind.shown_from = detail::shown_from(strands, &bind.guide_of, &bind.roots);
        Ok(bind)
    }

    /// How segments of all guides are rotated at rest.
    fn guide_turns(&self) -> Vec<Quat<f64>> {
        let guides = 0..self.guide_count();
        let points = |g| self.guide_vertices(g).iter().map(|b| f64::vec3(b.offset));
        guides
            .flat_map(|g| rest_turns(&points(g).collect::<Vec<_>>()))
            .collect()
    }

    fn push_guide(&mut self, strand: usize, rest: &[[f32; 3]], masses: Option<&[f32]>) {
        self.guide_of[strand] = self.guides.len() as u32;
        self.guides.push(strand as u32);
        self.roots.push(rest[0]);
        let vertices = bound_vertices(rest, masses);
        self.reaches.push(vertices.iter().map(|v| v.length).sum());
        self.vertices.extend(vertices);
        self.offsets.push(self.vertices.len() as u32);
    }

    /// The same, with followers whose roots go where the transform of their own strand takes them, those of which `is_own` is true; all
    /// others keep their place beside the guide's root.
    #[must_use]
    pub(crate) fn with_own_roots(mut self, is_own: impl Fn(usize) -> bool) -> Self {
        let is_own = |s| !self.strands.is_guide(s) && is_own(s);
        let own: Vec<bool> = (0..self.strands.len()).map(is_own).collect();
        self.own_roots = if own.contains(&true) { own } else { Vec::new() };
        self
    }
    /// The same, for hair that keeps its volume: [`HairSettings::volume`](super::HairSettings::volume) has no effect without. 4 more bytes a
    /// guide vertex here; 12 in each state, and a grid of up to 17 MB.
    #[must_use]
    pub fn with_volume(mut self) -> Self {
        self.volume = HairVolume::new(&self);
        self
    }
    /// Whether a strand is such a follower.
    pub(crate) fn has_own_root(&self, strand: usize) -> bool {
        self.own_roots.get(strand).copied().unwrap_or(false)
    }
    /// Where a follower's root is at rest.
    pub(crate) fn follower_root(&self, strand: usize) -> [f32; 3] {
        let guide = self.roots[self.guide_of[strand] as usize];
        let aside = self.segments[self.strands.range(strand).start];
        [0, 1, 2].map(|c| guide[c] + aside[c])
    }

    /// Length of the longest of all strands.
    pub(crate) fn longest_strand(&self) -> f32 {
        let longest = |lengths: f32, other: f32| lengths.max(other);
        let followers = self.strands.ranges().map(|r| {
            let segments = self.segments[r].iter().skip(1);
            segments.map(|s| sinew_geom::vec3::length(*s)).sum()
        });
        let guides = self.reaches.iter().copied();
        guides.chain(followers).fold(0.0, longest)
    }
    /// The strands.
    pub fn strands(&self) -> &Strands {
        &self.strands
    }
    /// Vertices of all strands.
    pub fn vertex_count(&self) -> usize {
        self.segments.len()
    }
    /// Simulated vertices: those of guides.
    pub(crate) fn guide_vertex_count(&self) -> usize {
        self.vertices.len()
    }
    /// Number of guides.
    pub(crate) fn guide_count(&self) -> usize {
        self.guides.len()
    }
    /// Vertices of a guide among those of all guides.
    pub(crate) fn guide_range(&self, guide: usize) -> std::ops::Range<usize> {
        self.offsets[guide] as usize..self.offsets[guide + 1] as usize
    }
    /// Those vertices.
    pub(crate) fn guide_vertices(&self, guide: usize) -> &[BoundVertex] {
        &self.vertices[self.guide_range(guide)]
    }
    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.vertices.as_slice())
            + size_of_val(self.segments.as_slice())
            + size_of_val(self.roots.as_slice())
            + size_of_val(self.strands.offsets()) * 2
            + size_of_val(self.guide_of.as_slice()) * 2
            + size_of_val(self.reaches.as_slice())
            + self.own_roots.len()
            + self.volume.as_ref().map_or(0, HairVolume::bytes)
            + size_of_val(self.shown_from.as_slice())
    }
    /// Share of the arc length of each vertex, 0 at the root and 1 at the tip, one a vertex of all strands; followers have their
    /// guide's.
    #[cfg(test)]
    pub(crate) fn arc_fractions(&self) -> impl Iterator<Item = f32> + '_ {
        self.guide_of.iter().flat_map(move |&g| {
            let vertices = self.guide_vertices(g as usize);
            vertices.iter().map(|v| v.arc)
        })
    }
}

fn check(
    strands: &Strands,
    rest: &[[f32; 3]],
    masses: Option<&[f32]>,
) -> Result<(), HairBindError> {
    let expected = strands.vertex_count();
    let found = rest.len();
    if found != expected {
        return Err(HairBindError::PositionCount { found, expected });
    }
    let finite = |p: &[f32; 3]| p.iter().all(|c| c.is_finite());
    if let Some(vertex) = rest.iter().position(|p| !finite(p)) {
        return Err(HairBindError::Position { vertex });
    }
    let Some(masses) = masses else { return Ok(()) };
    let found = masses.len();
    if found != expected {
        return Err(HairBindError::MassCount { found, expected });
    }
    match masses.iter().position(|m| !(m.is_finite() && *m >= 0.0)) {
        Some(vertex) => Err(HairBindError::Mass {
            vertex,
            found: masses[vertex],
        }),
        None => Ok(()),
    }
}

/// Vertices that are pinned where nothing else is said.
const PINNED: usize = 2;
/// For the stiffness of bends, segments are no shorter than this share of the mean.
const SHORTEST: f64 = 0.01;

/// How many vertices at the root are pinned: the root always is.
pub(crate) fn pinned(vertices: &[BoundVertex]) -> usize {
    let held = vertices.iter().take_while(|v| v.inverse_mass <= 0.0);
    held.count().max(1)
}

fn bound_vertices(rest: &[[f32; 3]], masses: Option<&[f32]>) -> Vec<BoundVertex> {
    let points: Vec<Vec3<f64>> = rest.iter().map(|p| Vec3::from(p.map(f64::from))).collect();
    let lengths: Vec<f64> = (0..points.len())
        .map(|i| {
            if i == 0 {
                0.0
            } else {
                (points[i] - points[i - 1]).norm()
            }
        })
        .collect();
    let total: f64 = lengths.iter().sum();
    let segments = (points.len() - 1) as f64;
    let least = SHORTEST * total / segments;
    let length = |i: usize| lengths.get(i).copied().unwrap_or_default();
    let mut walked = 0.0;
    let mut out: Vec<BoundVertex> = (0..points.len())
        .map(|i| {
            walked += lengths[i];
            let arc = if total > 0.0 {
                walked / total
            } else {
                i as f64 / segments
            };
            let inverse_mass = masses.map_or(if i < PINNED { 0.0 } else { 1.0 }, |m| m[i]);
            // Half of each segment that ends here.
            let mass = 0.5 * (length(i) + length(i + 1)) * segments / total.max(f64::MIN_POSITIVE);
            BoundVertex {
                offset: Into::<[f64; 3]>::into(points[i] - points[0]).map(|c| c as f32),
                inverse_mass,
                length: lengths[i] as f32,
                arc: arc as f32,
                mass: (mass / f64::from(inverse_mass).max(LEAST_INVERSE)) as f32,
                direction: [1.0, 0.0, 0.0],
                ..BoundVertex::default()
            }
        })
        .collect();
    let pins = pinned(&out);
    // A rod is clamped in the middle of its last pinned segment: half of each segment at a joint bends there.
    let clamped = if pins > 1 {
        0.5 * length(pins - 1)
    } else {
        0.0
    };
    let bending: f64 = lengths[pins.min(lengths.len())..].iter().sum::<f64>() + clamped;
    let modulus =
        bending.powi(4) / crate::strand_step::CANTILEVER * segments / total.max(f64::MIN_POSITIVE);
    let mut way = 0.0;
    for (i, v) in out.iter_mut().enumerate() {
        if i < pins {
            v.mass = 0.0;
            continue;
        }
        way += lengths[i];
        v.way = way as f32;
        // Energy of a bend: EI angle^2 / (2 mean length).
        let before = if i > 1 { length(i - 1).max(least) } else { 0.0 };
        let mean = 0.5 * (before + length(i).max(least));
        if total > 0.0 {
            v.bend = (modulus / mean) as f32;
        }
    }
    let turns = rest_turns(&points);
    for i in 2..points.len() {
        if let Some(along) = unit(points[i] - points[i - 1]) {
            v_direction(&mut out[i], turns[i - 1].inverse() * along);
        }
    }
    out
}

/// Masses of pins behind vertices that move.
const LEAST_INVERSE: f64 = 1e-3;

fn v_direction(v: &mut BoundVertex, direction: Vec3<f64>) {
    v.direction = Into::<[f64; 3]>::into(direction).map(|c| c as f32);
}

fn unit(v: Vec3<f64>) -> Option<Vec3<f64>> {
    let length = v.norm();
    (length > 0.0).then(|| v / length)
}

/// How segments are rotated at rest, one a vertex; that of the root is the first segment's. Each follows from the one before by the shortest
/// rotation, and the first one from the x axis. Segments of no length keep the rotation of the one before.
pub(crate) fn rest_turns(points: &[Vec3<f64>]) -> Vec<Quat<f64>> {
    let mut out = vec![Quat::identity(); points.len()];
    for i in 1..points.len() {
        let along = unit(points[i] - points[i - 1]);
        out[i] = along.map_or(out[i - 1], |along| {
            let before = out[i - 1] * Vec3::x();
            let arc = Quat::rotation_between(&before, &along);
            arc.unwrap_or_else(|| half_turn(before)) * out[i - 1]
        });
    }
    if points.len() > 1 {
        out[0] = out[1];
    }
    out
}

/// Half a turn that reverses a unit vector.
fn half_turn(v: Vec3<f64>) -> Quat<f64> {
    let other = if v.x.abs() < 0.7 {
        Vec3::x()
    } else {
        Vec3::y()
    };
    let axis = nalgebra::Unit::new_normalize(v.cross(&other));
    Quat::from_axis_angle(&axis, std::f64::consts::PI)
}
