//! What lives from frame to frame.

use crate::hair_sim::{HairBind, HairStateError};
use sinew_geom::{Real, Vec3};

/// Frames that begin at the skinned rest pose.
const RESET_FRAMES: u32 = 2;
const MAGIC: [u8; 4] = *b"SNDH";
const VERSION: u32 = 1;
/// Magic, version, guides, their vertices, frame, frames still to be reset.
const HEADER: usize = 4 + 4 + 8 + 8 + 4 + 4;

/// Positions of the last frames. 48 bytes a guide vertex (`f32`).
#[derive(Clone, Debug)]
pub(crate) struct TressFxState<R: Real = f32> {
    pub(super) now: Vec<Vec3<R>>,
    pub(super) last: Vec<Vec3<R>>,
    pub(super) before_last: Vec<Vec3<R>>,
    pub(super) tangents: Vec<Vec3<R>>,
    pub(super) frame: u32,
    pub(super) resets: u32,
    guides: usize,
}

impl<R: Real> TressFxState<R> {
    /// A state that begins at the skinned rest pose.
    pub(crate) fn new(bind: &HairBind) -> Self {
        let zeros = vec![Vec3::zeros(); bind.guide_vertex_count()];
        Self {
            now: zeros.clone(),
            last: zeros.clone(),
            before_last: zeros.clone(),
            tangents: zeros,
            frame: 0,
            resets: RESET_FRAMES,
            guides: bind.guide_count(),
        }
    }

    /// As [`Self::new`] made it.
    pub(crate) fn restart(&mut self) {
        for all in [
            &mut self.now,
            &mut self.last,
            &mut self.before_last,
            &mut self.tangents,
        ] {
            all.fill(Vec3::zeros());
        }
        self.frame = 0;
        self.resets = RESET_FRAMES;
    }
}

impl TressFxState {
    /// The state as bytes, little endian; [`Self::restore`] gives the same frames bit for bit. Positions before the last and tangents are
    /// not in it: each step writes them before it reads them.
    pub(crate) fn save(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.byte_length());
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend((self.guides as u64).to_le_bytes());
        out.extend((self.now.len() as u64).to_le_bytes());
        out.extend(self.frame.to_le_bytes());
        out.extend(self.resets.to_le_bytes());
        for v in self.now.iter().chain(&self.last) {
            out.extend(v.iter().flat_map(|c| c.to_le_bytes()));
        }
        out
    }

    fn byte_length(&self) -> usize {
        HEADER + 24 * self.now.len()
    }

    /// Reads what [`Self::save`] wrote for the same strands. On an error nothing changes.
    ///
    /// # Errors
    /// [`HairStateError`]: other bytes, another version, other strands, another length, or a position that is none.
    pub(crate) fn restore(&mut self, bytes: &[u8]) -> Result<(), HairStateError> {
        let (head, rest) = (bytes.split_first_chunk::<HEADER>()).ok_or(HairStateError::Format)?;
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        if head[..4] != MAGIC {
            return Err(HairStateError::Format);
        }
        let (found, expected) = (word(4), VERSION);
        if found != expected {
            return Err(HairStateError::Version { found, expected });
        }
        let (found, expected) = (
            [long(8), long(16)],
            [self.guides as u64, self.now.len() as u64],
        );
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
        let numbers = rest
            .as_chunks::<4>()
            .0
            .iter()
            .map(|b| f32::from_le_bytes(*b));
        if let Some(at) = numbers.clone().position(|n| !n.is_finite()) {
            let vertex = at / 3 % self.now.len();
            return Err(HairStateError::Position { vertex });
        }
        let to = self.now.iter_mut().chain(&mut self.last);
        for (to, from) in to.flat_map(|v| v.iter_mut()).zip(numbers) {
            *to = from;
        }
        self.frame = word(24);
        self.resets = word(28).min(RESET_FRAMES);
        Ok(())
    }
}
