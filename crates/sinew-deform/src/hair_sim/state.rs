//! State that lives from frame to frame, and its form as bytes.
//!
//! | bytes | content of a saved state, little endian |
//! |---|---|
//! | 4 | `SNHS` |
//! | 4 | version, `u32` |
//! | 8, 8 | number of guides and of guide vertices, `u64` |
//! | 8 | simulated seconds, `f64` |
//! | 8 | 1 if a frame was simulated, `u64` |
//! | 44 per guide | root: quaternion x y z w, translation, scale, velocity, `f32` |
//! | 12 per guide vertex | position, `f32` |
//! | 52 per guide vertex | rotation of the segment (quaternion x y z w), velocity, place that friction holds, solid, distance, `doubt`, `f32` |

use super::bind::{BoundVertex, HairBind, rest_turns};
use super::frame::RUN;
use super::precision::HairReal;
use super::volume::Grid;
use crate::collide::{CollideScratch, Placement, Rigid, RigidMotion, turn};
use crate::strand_step::{Lanes as _, Number, UNKNOWN, Vertex};
use sinew_geom::{Quat, Real, Vec3, nalgebra};

/// Strands in one task.
pub(crate) const CHUNK: usize = 32;

/// The hair of one character between frames, with the scratch of its steps. `f32` is what nodes run; `f64` is for checks.
///
/// Memory: 64 bytes of state per guide vertex, 164 bytes per guide, and scratch for eight strands in each task of 32 guides: 2,880 bytes
/// per vertex of the longest strand.
#[derive(Clone, Debug)]
pub struct HairState<R: HairReal = f32> {
    pub(crate) kept: Vec<Kept<R>>,
    /// Of guide vertices, in the scene.
    pub(crate) positions: Vec<Vec3<R>>,
    pub(crate) roots: Vec<Root<R>>,
    /// Simulated time, for gusts.
    pub(crate) time_secs: f64,
    pub(crate) started: bool,
    pub(crate) drives: Vec<Drive<R>>,
    /// Vertices of the longest strand.
    pub(crate) longest: usize,
    /// For each task, as many as the longest strand has vertices.
    pub(crate) work: Vec<R::Work>,
    /// Of all contacts, step after step.
    pub(crate) placements: Vec<Placement<R>>,
    pub(crate) followers: CollideScratch,
    /// What pushes each guide vertex, and the grid of that; empty without.
    pub(crate) pushes: Vec<Vec3<R>>,
    pub(crate) grid: Grid,
}

/// How a strand's root was at the last frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Root<R: Real> {
    /// At the root vertex, turned as the skin is.
    pub(crate) frame: Rigid<R>,
    pub(crate) scale: R,
    pub(crate) velocity: Vec3<R>,
}

/// How a strand's root moves during a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drive<R: Real> {
    pub(crate) motion: RigidMotion<R>,
    pub(crate) scales: [R; 2],
    /// Of that motion, handed to the whole strand.
    pub(crate) share: R,
    /// The root is at its end from the beginning, and so are solids: there is no way between.
    pub(crate) jumps: bool,
}

impl<R: Real> Drive<R> {
    /// The part of the root's motion in a step that the strand takes part in. Motions about one screw axis add up, so that it is the
    /// whole motion over a shorter time.
    pub(crate) fn shared(&self, [begin, end]: [R; 2]) -> Rigid<R> {
        let until = begin + (end - begin) * self.share;
        self.motion.at(until).relative_to(&self.motion.at(begin))
    }
}

/// What a vertex of a guide keeps from step to step. Places are relative to the strand's root and along its axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Kept<R: Real> {
    /// Rotation of the segment: x y z w.
    pub(crate) turn: [R; 4],
    pub(crate) velocity: Vec3<R>,
    /// Where friction holds the vertex, and on which solid; -1 for none.
    pub(crate) anchor: Vec3<R>,
    pub(crate) touched: R,
    /// No solid is nearer than this.
    pub(crate) room: R,
    /// How much it is held back.
    pub(crate) doubt: R,
}

/// Numbers of it.
const KEPT_NUMBERS: usize = 13;

impl<R: Real> Kept<R> {
    pub(crate) fn load<N: Number>(&self, v: &mut Vertex<N::Stored>, lane: usize) {
        for k in 0..4 {
            v.turn[k].set(lane, self.turn[k].to_double());
        }
        for k in 0..3 {
            v.velocity[k].set(lane, self.velocity[k].to_double());
            v.anchor[k].set(lane, self.anchor[k].to_double());
        }
        v.touched.set(lane, self.touched.to_double());
        v.room.set(lane, self.room.to_double());
        v.doubt.set(lane, self.doubt.to_double());
    }

    pub(crate) fn of<N: Number>(v: &Vertex<N::Stored>, lane: usize) -> Self {
        let number = |stored: &N::Stored| R::from_double(stored.get(lane));
        let vector = |v: &[N::Stored; 3]| Vec3::new(number(&v[0]), number(&v[1]), number(&v[2]));
        Self {
            turn: [0, 1, 2, 3].map(|k: usize| number(&v.turn[k])),
            velocity: vector(&v.velocity),
            anchor: vector(&v.anchor),
            touched: number(&v.touched),
            room: number(&v.room),
            doubt: number(&v.doubt),
        }
    }

    /// A vector along the axes of the segment, along those of the root.
    pub(crate) fn turned(&self, v: Vec3<R>) -> Vec3<R> {
        let [x, y, z, w] = self.turn;
        turn(
            &Quat::new_unchecked(nalgebra::Quaternion::new(w, x, y, z)),
            v,
        )
    }

    pub(crate) fn is_finite(&self) -> bool {
        let sum = self.turn.iter().fold(R::zero(), |s, &c| s + c);
        (sum + self.velocity.sum() + self.anchor.sum()).is_finite()
    }

    /// A strand at rest.
    pub(crate) fn at_rest(bound: &[BoundVertex], kept: &mut [Self]) {
        let points: Vec<Vec3<f64>> = bound.iter().map(|b| f64::vec3(b.offset)).collect();
        for ((kept, turn), b) in kept.iter_mut().zip(rest_turns(&points)).zip(bound) {
            *kept = Self {
                turn: [turn.i, turn.j, turn.k, turn.w].map(R::from_double),
                velocity: Vec3::zeros(),
                anchor: R::vec3(b.offset),
                touched: -R::one(),
                room: R::from_double(UNKNOWN),
                doubt: R::zero(),
            };
        }
    }

    fn numbers(&self) -> [f32; KEPT_NUMBERS] {
        let [x, y, z, w] = self.turn;
        let (v, a) = (self.velocity, self.anchor);
        [
            x,
            y,
            z,
            w,
            v.x,
            v.y,
            v.z,
            a.x,
            a.y,
            a.z,
            self.touched,
            self.room,
            self.doubt,
        ]
        .map(R::to_single)
    }

    fn from_numbers(n: [f32; KEPT_NUMBERS]) -> Self {
        let [x, y, z, w, vx, vy, vz, ax, ay, az, touched, room, doubt] = n.map(R::from_single);
        Self {
            turn: [x, y, z, w],
            velocity: Vec3::new(vx, vy, vz),
            anchor: Vec3::new(ax, ay, az),
            touched,
            room,
            doubt,
        }
    }
}

/// Why a saved state was refused.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HairStateError {
    /// The bytes do not start like a saved state of hair.
    #[error("the bytes are not a saved state of hair")]
    Format,
    /// It was written by another version.
    #[error("found a state of version {found}, expected version {expected}")]
    Version {
        /// In the bytes.
        found: u32,
        /// What this version writes.
        expected: u32,
    },
    /// It belongs to other strands.
    #[error(
        "found a state of {found_guides} guides with {found_vertices} vertices, expected {expected_guides} guides with {expected_vertices}"
    )]
    Counts {
        /// Guides in the bytes.
        found_guides: u64,
        /// Their vertices.
        found_vertices: u64,
        /// Guides bound.
        expected_guides: u64,
        /// Their vertices.
        expected_vertices: u64,
    },
    /// The number of bytes is wrong.
    #[error("found {found} bytes, expected {expected}")]
    Length {
        /// Bytes given.
        found: usize,
        /// Bytes needed.
        expected: usize,
    },
    /// A position is NaN or infinite.
    #[error("position of guide vertex {vertex} is not finite")]
    Position {
        /// Index of the vertex among those of guides.
        vertex: usize,
    },
}

const MAGIC: [u8; 4] = *b"SNHS";
const VERSION: u32 = 3;
/// Magic, version, counts, time, whether started.
const HEADER: usize = 4 + 4 + 8 + 8 + 8 + 8;
/// Numbers of a root: rotation, translation, scale, velocity.
const ROOT_NUMBERS: usize = 4 + 3 + 1 + 3;

impl<R: HairReal> HairState<R> {
    /// A state that starts at rest in the pose of the first frame. Allocates.
    pub fn new(bind: &HairBind) -> Self {
        let tasks = bind.guide_count().div_ceil(CHUNK);
        Self {
            kept: vec![Kept::default(); bind.guide_vertex_count()],
            positions: vec![Vec3::zeros(); bind.guide_vertex_count()],
            roots: vec![Root::default(); bind.guide_count()],
            time_secs: 0.0,
            started: false,
            drives: vec![Drive::default(); bind.guide_count()],
            longest: bind.longest,
            work: vec![R::Work::default(); tasks * bind.longest],
            placements: Vec::new(),
            followers: CollideScratch::new(bind.strands(), 0),
            pushes: vec![Vec3::zeros(); bind.volume.as_ref().map_or(0, |v| v.volumes.len())],
            grid: bind.volume.as_ref().map(Grid::new).unwrap_or_default(),
        }
    }

    /// Makes the next frame a first one: at rest in the skinned rest pose, with the pre-roll. Gusts start again, too.
    pub fn reset(&mut self) {
        self.started = false;
        self.time_secs = 0.0;
    }

    /// Simulated seconds since the first frame or the last reset, without the pre-roll.
    pub fn time_secs(&self) -> f64 {
        self.time_secs
    }

    /// Velocities in m/s, one per guide vertex, guide after guide, relative to the shared motion of the root and along its axes.
    pub fn velocities(&self) -> impl Iterator<Item = Vec3<R>> + '_ {
        self.kept.iter().map(|k| k.velocity)
    }

    /// Makes room for this many contacts; allocates only where the number changes.
    pub(crate) fn make_room(&mut self, bind: &HairBind, contacts: usize) {
        // Those at the end of the frame come first.
        let wanted = (RUN + 1) * contacts;
        if self.placements.len() != wanted {
            self.placements = vec![Placement::default(); wanted];
        }
        if self.followers.contacts() != contacts {
            self.followers = CollideScratch::new(bind.strands(), contacts);
        }
    }

    pub(crate) fn fits(&self, bind: &HairBind) -> bool {
        self.positions.len() == bind.guide_vertex_count()
            && self.roots.len() == bind.guide_count()
            && self.longest == bind.longest
            && self.pushes.is_empty() == bind.volume.is_none()
    }
}

impl HairState {
    /// The whole state as bytes. After [`HairState::restore`], the same inputs give the same frames, bit for bit.
    pub fn save(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.byte_length());
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend((self.roots.len() as u64).to_le_bytes());
        out.extend((self.positions.len() as u64).to_le_bytes());
        out.extend(self.time_secs.to_le_bytes());
        out.extend(u64::from(self.started).to_le_bytes());
        let mut put = |numbers: &[f32]| out.extend(numbers.iter().flat_map(|v| v.to_le_bytes()));
        for root in &self.roots {
            put(root.frame.rotation.coords.as_slice());
            put(root.frame.translation.as_slice());
            put(&[root.scale]);
            put(root.velocity.as_slice());
        }
        for x in &self.positions {
            put(x.as_slice());
        }
        for kept in &self.kept {
            out.extend(kept.numbers().into_iter().flat_map(f32::to_le_bytes));
        }
        out
    }

    fn byte_length(&self) -> usize {
        HEADER + 4 * (ROOT_NUMBERS * self.roots.len() + (3 + KEPT_NUMBERS) * self.kept.len())
    }

    /// Reads what [`HairState::save`] wrote for the same strands. On an error, nothing changes. Numbers are not checked.
    ///
    /// # Errors
    /// [`HairStateError`]: other bytes, another version, other strands, or another length.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), HairStateError> {
        let header = bytes.get(..HEADER).ok_or(HairStateError::Format)?;
        if header[..4] != MAGIC {
            return Err(HairStateError::Format);
        }
        let version = u32::from_le_bytes(array(&header[4..8]));
        if version != VERSION {
            return Err(HairStateError::Version {
                found: version,
                expected: VERSION,
            });
        }
        let word = |at: usize| array(&header[at..at + 8]);
        let found = [u64::from_le_bytes(word(8)), u64::from_le_bytes(word(16))];
        let expected = [self.roots.len() as u64, self.positions.len() as u64];
        if found != expected {
            return Err(HairStateError::Counts {
                found_guides: found[0],
                found_vertices: found[1],
                expected_guides: expected[0],
                expected_vertices: expected[1],
            });
        }
        let (found, expected) = (bytes.len(), self.byte_length());
        if found != expected {
            return Err(HairStateError::Length { found, expected });
        }
        self.time_secs = f64::from_le_bytes(word(24));
        self.started = u64::from_le_bytes(word(32)) != 0;
        self.read(&bytes[HEADER..]);
        Ok(())
    }

    fn read(&mut self, bytes: &[u8]) {
        let mut numbers = bytes.chunks_exact(4).map(|b| f32::from_le_bytes(array(b)));
        let mut next = || numbers.next().unwrap_or_default();
        for root in &mut self.roots {
            for slot in root.frame.rotation.as_mut_unchecked().coords.iter_mut() {
                *slot = next();
            }
            for slot in root.frame.translation.iter_mut() {
                *slot = next();
            }
            root.scale = next();
            for slot in root.velocity.iter_mut() {
                *slot = next();
            }
        }
        for slot in self.positions.iter_mut().flat_map(|x| x.iter_mut()) {
            *slot = next();
        }
        for kept in &mut self.kept {
            *kept = Kept::from_numbers(std::array::from_fn(|_| next()));
        }
    }
}

/// The first bytes; zeros where there are too few.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

impl<R: HairReal> HairState<R> {
    /// Bytes on the heap with the scratch, without the positions of colliders and the scratch of colliding followers.
    pub fn bytes(&self) -> usize {
        size_of_val(self.positions.as_slice())
            + size_of_val(self.kept.as_slice())
            + size_of_val(self.roots.as_slice())
            + size_of_val(self.drives.as_slice())
            + size_of_val(self.work.as_slice())
            + size_of_val(self.pushes.as_slice())
            + self.grid.bytes()
    }
}
