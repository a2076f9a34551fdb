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
//! | 12 per guide vertex | positions, `f32` |
//! | 12 per guide vertex | velocities, `f32` |

use super::bind::HairBind;
use super::frame::RUN;
use super::precision::HairReal;
use crate::collide::{CollideScratch, Placement, Rigid, RigidMotion};
use sinew_geom::{Real, Vec3};

/// Strands in one task.
pub(crate) const CHUNK: usize = 32;

/// The hair of one character between frames, with the scratch of its steps. `f32` is what nodes run; `f64` is for checks.
///
/// Memory: 24 bytes of state per guide vertex, 164 bytes per guide, and scratch for eight strands in each task of 32 guides: 2,864 bytes
/// per vertex of the longest strand.
#[derive(Clone, Debug)]
pub struct HairState<R: HairReal = f32> {
    pub(crate) positions: Vec<Vec3<R>>,
    pub(crate) velocities: Vec<Vec3<R>>,
    pub(crate) roots: Vec<Root<R>>,
    /// Simulated time, for gusts.
    pub(crate) time_secs: f64,
    pub(crate) started: bool,
    pub(crate) drives: Vec<Drive<R>>,
    /// Vertices of the longest strand.
    longest: usize,
    /// One for each task.
    pub(crate) rooms: Vec<R::Room>,
    /// Of all contacts, step after step.
    pub(crate) placements: Vec<Placement<R>>,
    pub(crate) followers: CollideScratch,
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
const VERSION: u32 = 1;
/// Magic, version, counts, time, whether started.
const HEADER: usize = 4 + 4 + 8 + 8 + 8 + 8;
/// Numbers of a root: rotation, translation, scale, velocity.
const ROOT_NUMBERS: usize = 4 + 3 + 1 + 3;

impl<R: HairReal> HairState<R> {
    /// A state that starts at rest in the pose of the first frame. Allocates.
    pub fn new(bind: &HairBind) -> Self {
        let tasks = bind.guide_count().div_ceil(CHUNK);
        Self {
            positions: vec![Vec3::zeros(); bind.guide_vertex_count()],
            velocities: vec![Vec3::zeros(); bind.guide_vertex_count()],
            roots: vec![Root::default(); bind.guide_count()],
            time_secs: 0.0,
            started: false,
            drives: vec![Drive::default(); bind.guide_count()],
            longest: bind.longest,
            rooms: vec![R::room(bind.longest); tasks],
            placements: Vec::new(),
            followers: CollideScratch::new(bind.strands(), 0),
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

    /// Velocities in m/s, one per guide vertex, guide after guide, relative to the shared motion of the root. A strand that rests on a
    /// surface keeps the velocity that would move it: some millimetres per second.
    pub fn velocities(&self) -> &[Vec3<R>] {
        &self.velocities
    }

    /// Makes room for this many contacts; allocates only where the number changes.
    pub(crate) fn make_room(&mut self, bind: &HairBind, contacts: usize) {
        let wanted = RUN * contacts;
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
        for v in self.positions.iter().chain(&self.velocities) {
            put(v.as_slice());
        }
        out
    }

    fn byte_length(&self) -> usize {
        HEADER + 4 * (ROOT_NUMBERS * self.roots.len() + 6 * self.positions.len())
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
        for v in self.positions.iter_mut().chain(&mut self.velocities) {
            for slot in v.iter_mut() {
                *slot = next();
            }
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
            + size_of_val(self.velocities.as_slice())
            + size_of_val(self.roots.as_slice())
            + size_of_val(self.drives.as_slice())
            + self.rooms.iter().map(R::room_bytes).sum::<usize>()
    }
}
