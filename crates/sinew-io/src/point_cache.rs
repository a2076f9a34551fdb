//! PC2 (3ds Max, Blender's mesh cache) and MDD (LightWave, Blender's mesh cache): positions of every vertex in every
//! frame. The readers serve `inspect` and tests.
//!
//! * PC2, little-endian: `POINTCACHE2\0`, i32 version 1, i32 points, f32 start frame, f32 frames between samples,
//!   i32 samples (32 bytes), then x y z f32 of every point, sample after sample.
//! * MDD, big-endian: i32 frames, i32 points, f32 seconds of each frame, then x y z f32 likewise.
//!
//! The points of several meshes follow each other in one list.

use crate::fault::{cannot_read, cannot_write, malformed};
use crate::frames::first_not_finite;
use crate::{AtomicFile, IoError, bytes};
use std::path::{Path, PathBuf};

const PC2_MAGIC: &[u8; 12] = b"POINTCACHE2\0";
const PC2_HEADER: usize = 32;

/// Content of a point cache.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointCache {
    /// Positions of each frame in metres, all of one length.
    pub frames: Vec<Vec<[f32; 3]>>,
    /// Times of the frames.
    pub timing: PointTiming,
}

/// How a point cache stores time.
#[derive(Clone, Debug, PartialEq)]
pub enum PointTiming {
    /// PC2: frame number of the first sample, and frames per sample.
    Sampled {
        /// Frame number of the first sample.
        start_frame: f32,
        /// Frames from one sample to the next.
        sample_rate: f32,
    },
    /// MDD: seconds of each frame; empty if the cache has no points.
    Seconds(Vec<f32>),
}

impl Default for PointTiming {
    fn default() -> Self {
        Self::Seconds(Vec::new())
    }
}

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
                let place = format!("frame {}, vertex {v}", self.written);
                let found = format!("{position:?}");
                return Err(malformed(&self.path, place, found, "finite numbers"));
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

/// Reads PC2.
///
/// # Errors
/// [`IoError::Read`] if the file does not exist; [`IoError::Malformed`] if its size does not match its header.
pub fn read_pc2(path: &Path) -> Result<PointCache, IoError> {
    parse_pc2(&std::fs::read(path).map_err(cannot_read(path))?, path)
}

/// Reads MDD.
///
/// # Errors
/// As [`read_pc2`].
pub fn read_mdd(path: &Path) -> Result<PointCache, IoError> {
    parse_mdd(&std::fs::read(path).map_err(cannot_read(path))?, path)
}

/// [`read_pc2`] from bytes. `path` only appears in errors.
///
/// # Errors
/// [`IoError::Malformed`].
pub fn parse_pc2(bytes: &[u8], path: &Path) -> Result<PointCache, IoError> {
    let header = match bytes.get(..PC2_HEADER) {
        Some(h) if h.starts_with(PC2_MAGIC) => h,
        _ => {
            return Err(malformed(
                path,
                "header",
                "another header",
                "a PC2 header (POINTCACHE2 and 20 bytes)",
            ));
        }
    };
    let word = |at: usize| std::array::from_fn(|i| header[at + i]);
    let version = i32::from_le_bytes(word(12));
    if version != 1 {
        return Err(malformed(path, "version", version.to_string(), "1"));
    }
    let points = i32::from_le_bytes(word(16));
    let samples = i32::from_le_bytes(word(28));
    Ok(PointCache {
        frames: points_of(
            &bytes[PC2_HEADER..],
            points,
            samples,
            f32::from_le_bytes,
            path,
        )?,
        timing: PointTiming::Sampled {
            start_frame: f32::from_le_bytes(word(20)),
            sample_rate: f32::from_le_bytes(word(24)),
        },
    })
}

/// [`read_mdd`] from bytes. `path` only appears in errors.
///
/// # Errors
/// [`IoError::Malformed`].
pub fn parse_mdd(bytes: &[u8], path: &Path) -> Result<PointCache, IoError> {
    let Some((header, rest)) = bytes.split_at_checked(8) else {
        return Err(malformed(
            path,
            "header",
            format!("{} bytes", bytes.len()),
            "at least 8",
        ));
    };
    let word = |at: usize| i32::from_be_bytes(std::array::from_fn(|i| header[at + i]));
    let (frames, points) = (word(0), word(4));
    let time_bytes = usize::try_from(frames)
        .unwrap_or(usize::MAX)
        .saturating_mul(4);
    let Some((times, rest)) = rest.split_at_checked(time_bytes) else {
        return Err(malformed(
            path,
            "times",
            format!("{} bytes", rest.len()),
            format!("{frames} times of 4 bytes each"),
        ));
    };
    let frames = points_of(rest, points, frames, f32::from_be_bytes, path)?;
    let times = times
        .chunks_exact(4)
        .map(|c| f32::from_be_bytes([c[0], c[1], c[2], c[3]]))
        // Without points there are no frames to be timed.
        .take(frames.len())
        .collect();
    Ok(PointCache {
        frames,
        timing: PointTiming::Seconds(times),
    })
}

fn points_of(
    bytes: &[u8],
    points: i32,
    samples: i32,
    number: fn([u8; 4]) -> f32,
    path: &Path,
) -> Result<Vec<Vec<[f32; 3]>>, IoError> {
    let unsigned = |n: i32| usize::try_from(n).ok();
    let frame_bytes = unsigned(points).and_then(|p| p.checked_mul(12));
    let total = frame_bytes
        .zip(unsigned(samples))
        .and_then(|(f, s)| f.checked_mul(s));
    if total != Some(bytes.len()) {
        return Err(malformed(
            path,
            "samples",
            format!("{} bytes", bytes.len()),
            format!("{samples} samples of {points} points, 12 bytes each"),
        ));
    }
    // A cache of no points would state any number of frames in no bytes.
    let frame_bytes = frame_bytes.unwrap_or(0);
    if frame_bytes == 0 {
        return Ok(Vec::new());
    }
    Ok(bytes
        .chunks_exact(frame_bytes)
        .map(|frame| {
            frame
                .chunks_exact(12)
                .map(|p| std::array::from_fn(|c| number(std::array::from_fn(|i| p[4 * c + i]))))
                .collect()
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sinew_testkit::meshes;

    #[test]
    fn both_formats_come_back_and_have_the_documented_bytes() {
        let mesh = meshes::cube();
        let frame = |k: usize| -> Vec<[f32; 3]> {
            let moved = |p: &[f32; 3]| [p[0], p[1] + k as f32 / 3.0, p[2]];
            mesh.positions.iter().map(moved).collect()
        };
        // Two meshes after each other.
        let fill = |mut writer: PointCacheWriter| {
            for k in 0..3 {
                let positions = frame(k);
                let both = [&positions[..], &positions[..]];
                writer.frame(both.into_iter()).expect("written");
            }
            writer.finish().expect("there");
        };
        let dir = tempfile::tempdir().expect("temp");
        let path = dir.path().join("x.pc2");
        fill(PointCacheWriter::pc2(&path, 48, 3, 1.0, 0.5).expect("starts"));
        let bytes = std::fs::read(&path).expect("file");
        assert_eq!(bytes.len(), 32 + 3 * 48 * 12);
        assert_eq!(bytes[..20], *b"POINTCACHE2\0\x01\0\0\0\x30\0\0\0");
        assert_eq!(bytes[20..32], [0, 0, 0x80, 0x3f, 0, 0, 0, 0x3f, 3, 0, 0, 0]);
        let back = read_pc2(&path).expect("read");
        let expected = PointTiming::Sampled {
            start_frame: 1.0,
            sample_rate: 0.5,
        };
        assert_eq!(back.timing, expected);
        assert_eq!(back.frames[2][24..], frame(2));
        let path = dir.path().join("x.mdd");
        fill(PointCacheWriter::mdd(&path, 48, &[0.0, 0.5, 1.0]).expect("starts"));
        let bytes = std::fs::read(&path).expect("file");
        assert_eq!(
            bytes[..16],
            [0, 0, 0, 3, 0, 0, 0, 48, 0, 0, 0, 0, 0x3f, 0, 0, 0]
        );
        let back = read_mdd(&path).expect("read");
        assert_eq!(back.timing, PointTiming::Seconds(vec![0.0, 0.5, 1.0]));
        assert_eq!(back.frames[2][24..], frame(2));
        parse_mdd(&bytes[..bytes.len() - 1], &path).expect_err("one byte less");
    }

    #[test]
    fn a_cache_that_is_not_finished_leaves_nothing() {
        let dir = tempfile::tempdir().expect("temp");
        let path = dir.path().join("x.pc2");
        let start = || PointCacheWriter::pc2(&path, 2, 2, 0.0, 1.0).expect("starts");
        let refused = |points: &[[f32; 3]], part: &str| {
            let error = start().frame([points].into_iter()).expect_err("refused");
            assert!(error.to_string().contains(part), "{error}");
        };
        refused(&[[0.0; 3]], "points of a frame: found 1, expected 2");
        refused(&[[0.0; 3], [0.0, f32::NAN, 0.0]], "vertex 1");
        let mut writer = start();
        writer
            .frame([&[[0.0; 3]; 2][..]].into_iter())
            .expect("written");
        let error = writer.finish().expect_err("one frame of two").to_string();
        assert!(error.contains("frames: found 1, expected 2"), "{error}");
        assert_eq!(std::fs::read_dir(dir.path()).expect("reads").count(), 0);
    }

    #[test]
    fn an_mdd_without_points_has_no_times_either() {
        // Found by fuzzing: two frames of no points, two times.
        let bytes = [0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 186];
        let cache = parse_mdd(&bytes, Path::new("x.mdd")).expect("read");
        assert_eq!(cache, PointCache::default());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100), header: bool) {
            let mut all = if header { b"POINTCACHE2\0\x01\0\0\0".to_vec() } else { Vec::new() };
            all.extend(bytes);
            let _ = parse_pc2(&all, Path::new("x.pc2"));
            let _ = parse_mdd(&all, Path::new("x.mdd"));
        }
    }
}
