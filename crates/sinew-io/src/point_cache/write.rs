//! Writes PC2 and MDD.

use super::PC2_MAGIC;
use crate::fault::{cannot_write, malformed};
use crate::frames::first_not_finite;
use crate::{AtomicFile, IoError, bytes};
use std::path::{Path, PathBuf};

/// A point cache that is written frame by frame. It appears at the end, whole or not at all.
#[derive(Debug)]
pub struct PointCacheWriter {
    out: AtomicFile,
    path: PathBuf,
    is_big_endian: bool,
    points: usize,
    frames: usize,
    written: usize,
}

impl PointCacheWriter {
    /// Starts a PC2 file of so many points and frames. `start_frame` is the frame number of the first sample,
    /// `sample_rate` the number of frames between two samples.
    ///
    /// # Errors
    /// [`IoError::Malformed`] if a count exceeds 31 bits; [`IoError::Write`] if the file cannot be written.
    pub fn pc2(
        path: &Path,
        points: usize,
        frames: usize,
        start_frame: f32,
        sample_rate: f32,
    ) -> Result<Self, IoError> {
        let (point_count, frame_count) = counts(path, points, frames)?;
        let mut out = AtomicFile::create(path)?;
        out.put(PC2_MAGIC)?;
        out.put(&1_i32.to_le_bytes())?;
        out.put(&point_count.to_le_bytes())?;
        out.put(&start_frame.to_le_bytes())?;
        out.put(&sample_rate.to_le_bytes())?;
        out.put(&frame_count.to_le_bytes())?;
        Ok(Self::new(out, path, false, points, frames))
    }

    /// Starts an MDD file of so many points, with a frame at each of these times in seconds.
    ///
    /// # Errors
    /// As [`Self::pc2`].
    pub fn mdd(path: &Path, points: usize, times_secs: &[f32]) -> Result<Self, IoError> {
        let (point_count, frame_count) = counts(path, points, times_secs.len())?;
        let mut out = AtomicFile::create(path)?;
        out.put(&frame_count.to_be_bytes())?;
        out.put(&point_count.to_be_bytes())?;
        for t in times_secs {
            out.put(&t.to_be_bytes())?;
        }
        Ok(Self::new(out, path, true, points, times_secs.len()))
    }

    fn new(
        out: AtomicFile,
        path: &Path,
        is_big_endian: bool,
        points: usize,
        frames: usize,
    ) -> Self {
        Self {
            out,
            path: path.to_owned(),
            is_big_endian,
            points,
            frames,
            written: 0,
        }
    }

    /// Writes the next frame: positions in metres, mesh after mesh.
    ///
    /// # Errors
    /// [`IoError::Malformed`] if the points are not as many as stated, or a position is not finite; [`IoError::Write`].
    pub fn frame<'a>(
        &mut self,
        meshes: impl Iterator<Item = &'a [[f32; 3]]>,
    ) -> Result<(), IoError> {
        let mut points = 0;
        for positions in meshes {
            points += positions.len();
            if let Some((v, position)) = first_not_finite(positions) {
                let location = format!("frame {}, vertex {v}", self.written);
                let found = format!("{position:?}");
                return Err(malformed(&self.path, location, found, "finite numbers"));
            }
            let numbers = positions.as_flattened();
            match self.is_big_endian {
                true => {
                    let bytes: Vec<u8> = numbers.iter().flat_map(|c| c.to_be_bytes()).collect();
                    self.out.put(&bytes)?;
                }
                false => {
                    bytes::put_f32s(&mut self.out, numbers).map_err(cannot_write(&self.path))?
                }
            }
        }
        self.expect("points of a frame", points, self.points)?;
        self.written += 1;
        Ok(())
    }

    /// Makes the file visible.
    ///
    /// # Errors
    /// [`IoError::Malformed`] if frames are missing; [`IoError::Write`].
    pub fn finish(self) -> Result<(), IoError> {
        self.expect("frames", self.written, self.frames)?;
        self.out.commit()
    }

    fn expect(&self, what: &str, found: usize, expected: usize) -> Result<(), IoError> {
        match found == expected {
            true => Ok(()),
            false => Err(malformed(
                &self.path,
                what,
                found.to_string(),
                expected.to_string(),
            )),
        }
    }
}

/// (points, frames) as both formats store them.
fn counts(path: &Path, points: usize, frames: usize) -> Result<(i32, i32), IoError> {
    let fit = |what: &str, n: usize| {
        i32::try_from(n)
            .map_err(|_| malformed(path, what, n.to_string(), format!("at most {}", i32::MAX)))
    };
    Ok((fit("points", points)?, fit("frames", frames)?))
}
