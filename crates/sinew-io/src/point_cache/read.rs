//! Reads point caches sample by sample.

use super::archive::{Archive, ArrayInFile};
use super::same_faces::first_difference;
use super::{PC2_HEADER, PC2_MAGIC, PointTiming, SampleBlend};
use crate::fault::{malformed, warning};
use crate::frames::first_not_finite;
use crate::{IoError, RangeReader, find_sequence, read_mesh};
use bytemuck::cast_slice_mut;
use sinew_geom::{Mesh, Warning};
use std::path::{Path, PathBuf};

/// An open point cache. Only the sample that is asked for is read.
#[derive(Debug)]
pub struct PointCacheReader {
    path: PathBuf,
    source: Source,
    points: usize,
    samples: usize,
    timing: PointTiming,
    warnings: Vec<Warning>,
}

#[derive(Debug)]
enum Source {
    /// All samples in one file.
    Packed(Packed),
    /// One file per sample.
    Files {
        files: Vec<PathBuf>,
        /// Triangles of the first file, of its points.
        triangles: Vec<[u32; 3]>,
    },
}

#[derive(Debug)]
struct Packed {
    file: RangeReader,
    data_at: u64,
    number: Number,
    /// A sample in double precision; keeps its memory.
    doubles: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
enum Number {
    Little,
    Big,
    /// Little-endian doubles.
    Double,
}

impl Number {
    fn bytes(self) -> u64 {
        match self {
            Self::Little | Self::Big => 4,
            Self::Double => 8,
        }
    }
}

/// What the header of a file states.
struct Header {
    points: usize,
    samples: usize,
    timing: PointTiming,
    data_at: u64,
    number: Number,
    warnings: Vec<Warning>,
}

impl PointCacheReader {
    /// Opens `.pc2`, `.mdd` or `.npz`, or numbered OBJ or PLY files by a pattern (`sim_####.obj`), a folder, or one of the
    /// files. Reads headers only; of numbered files the first one.
    ///
    /// # Errors
    /// [`IoError::Read`] if the file does not exist; [`IoError::Malformed`] if its size does not match its header, if it has
    /// no points or no samples, or if times do not increase; [`IoError::Unsupported`] for other extensions and compressed
    /// arrays; errors of [`find_sequence`].
    pub fn open(path: &Path) -> Result<Self, IoError> {
        match ending(path).as_str() {
            "pc2" | "mdd" | "npz" => Self::packed(path, RangeReader::open(path)?),
            "obj" | "ply" | "" => Self::numbered(path),
            _ if path.is_dir() => Self::numbered(path),
            other => Err(IoError::Unsupported {
                path: path.to_owned(),
                location: "file name".into(),
                feature: format!("the file extension '{other}' for point caches"),
                help: "use .pc2, .mdd, .npz, or numbered .obj or .ply files (sim_####.obj)".into(),
            }),
        }
    }

    /// [`Self::open`] for the content of a `.pc2`, `.mdd` or `.npz` file; the extension of `path` says which.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn of_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self, IoError> {
        Self::packed(path, RangeReader::of_bytes(path, bytes))
    }

    fn packed(path: &Path, mut file: RangeReader) -> Result<Self, IoError> {
        let header = match ending(path).as_str() {
            "pc2" => pc2(&mut file, path)?,
            "mdd" => mdd(&mut file, path)?,
            _ => npz(&mut file, path)?,
        };
        let Header {
            points, samples, ..
        } = header;
        at_least_one(path, "points", points)?;
        at_least_one(path, "samples", samples)?;
        check_timing(path, &header.timing, samples)?;
        Ok(Self {
            path: path.to_owned(),
            source: Source::Packed(Packed {
                file,
                data_at: header.data_at,
                number: header.number,
                doubles: Vec::new(),
            }),
            points,
            samples,
            timing: header.timing,
            warnings: header.warnings,
        })
    }

    fn numbered(path: &Path) -> Result<Self, IoError> {
        let found = find_sequence(path)?;
        let (numbers, files): (Vec<i64>, Vec<PathBuf>) = found.files.into_iter().unzip();
        let first = files
            .first()
            .ok_or_else(|| malformed(path, "files", "none", "at least one"))?;
        let mesh = only_mesh(first)?;
        let points = mesh.point_count();
        at_least_one(first, "points", points)?;
        Ok(Self {
            path: path.to_owned(),
            points,
            samples: files.len(),
            timing: PointTiming::Numbered(numbers),
            warnings: found.warnings,
            source: Source::Files {
                triangles: triangles_of_points(&mesh).collect(),
                files,
            },
        })
    }

    /// The file, folder or pattern.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// The files that are read: one, or those of a sequence.
    pub fn files(&self) -> &[PathBuf] {
        match &self.source {
            Source::Packed(_) => std::slice::from_ref(&self.path),
            Source::Files { files, .. } => files,
        }
    }
    /// Points of each sample, at least 1.
    pub fn points(&self) -> usize {
        self.points
    }
    /// Number of samples, at least 1.
    pub fn samples(&self) -> usize {
        self.samples
    }
    /// Times of the samples.
    pub fn timing(&self) -> &PointTiming {
        &self.timing
    }
    /// Gaps in the frame numbers; arrays of an NPZ that are not read.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
    /// As [`PointTiming::blend`].
    pub fn blend(&self, number: i64, time_secs: f64) -> SampleBlend {
        self.timing.blend(self.samples, number, time_secs)
    }
    /// As [`PointTiming::frames`].
    pub fn frames(&self, fps: f64) -> (i64, i64) {
        self.timing.frames(self.samples, fps)
    }

    /// Reads a sample: positions in metres, one per point. Packed files do not allocate if `out` has the capacity; OBJ and
    /// PLY files are parsed, which allocates.
    ///
    /// # Errors
    /// [`IoError::Malformed`] with the sample and the point if a position is not finite, or if a numbered file has other
    /// points or triangles than the first one; [`IoError::Read`].
    pub fn read(&mut self, sample: usize, out: &mut Vec<[f32; 3]>) -> Result<(), IoError> {
        if sample >= self.samples {
            let expected = format!("0 to {}", self.samples - 1);
            return Err(malformed(
                &self.path,
                "sample",
                sample.to_string(),
                expected,
            ));
        }
        match &mut self.source {
            Source::Packed(packed) => packed.read(sample, self.points, out)?,
            Source::Files { files, triangles } => {
                let path = &files[sample];
                let mesh = only_mesh(path)?;
                check_same(path, files, &mesh, self.points, triangles)?;
                out.clear();
                out.extend_from_slice(&mesh.positions[..self.points]);
            }
        }
        match first_not_finite(out) {
            None => Ok(()),
            Some((point, position)) => {
                let location = format!("sample {sample}{}, point {point}", self.frame_of(sample));
                Err(malformed(
                    &self.path,
                    location,
                    format!("{position:?}"),
                    "finite numbers",
                ))
            }
        }
    }

    /// The frame or time of a sample, for messages.
    fn frame_of(&self, sample: usize) -> String {
        match &self.timing {
            PointTiming::Sampled {
                start_frame,
                sample_rate,
            } => format!(" (frame {})", start_frame + sample as f32 * sample_rate),
            PointTiming::Seconds(times) => times
                .get(sample)
                .map_or_else(String::new, |t| format!(" ({t} s)")),
            PointTiming::Numbered(numbers) => numbers
                .get(sample)
                .map_or_else(String::new, |n| format!(" (frame {n})")),
        }
    }
}

impl Packed {
    fn read(
        &mut self,
        sample: usize,
        points: usize,
        out: &mut Vec<[f32; 3]>,
    ) -> Result<(), IoError> {
        let frame_bytes = points as u64 * 3 * self.number.bytes();
        let at = self.data_at + sample as u64 * frame_bytes;
        out.resize(points, [0.0; 3]);
        let numbers = out.as_flattened_mut();
        match self.number {
            Number::Little => {
                self.file.read_at(at, cast_slice_mut(numbers))?;
                numbers
                    .iter_mut()
                    .for_each(|n| *n = f32::from_le_bytes(n.to_ne_bytes()));
            }
            Number::Big => {
                self.file.read_at(at, cast_slice_mut(numbers))?;
                numbers
                    .iter_mut()
                    .for_each(|n| *n = f32::from_be_bytes(n.to_ne_bytes()));
            }
            Number::Double => {
                self.doubles.resize(numbers.len(), 0.0);
                self.file.read_at(at, cast_slice_mut(&mut self.doubles))?;
                let doubles = self
                    .doubles
                    .iter()
                    .map(|n| f64::from_le_bytes(n.to_ne_bytes()));
                numbers
                    .iter_mut()
                    .zip(doubles)
                    .for_each(|(n, double)| *n = double as f32);
            }
        }
        Ok(())
    }
}

fn ending(path: &Path) -> String {
    let ending = path.extension().and_then(|e| e.to_str());
    ending.unwrap_or_default().to_lowercase()
}

fn at_least_one(path: &Path, what: &str, found: usize) -> Result<(), IoError> {
    match found {
        0 => Err(malformed(path, what, "0", "at least 1")),
        _ => Ok(()),
    }
}

fn check_timing(path: &Path, timing: &PointTiming, samples: usize) -> Result<(), IoError> {
    match timing {
        PointTiming::Sampled {
            start_frame,
            sample_rate,
        } => {
            if !start_frame.is_finite() {
                let found = start_frame.to_string();
                return Err(malformed(path, "start frame", found, "a finite number"));
            }
            // One sample has no distance to the next.
            if samples > 1 && !(sample_rate.is_finite() && *sample_rate > 0.0) {
                let found = sample_rate.to_string();
                return Err(malformed(
                    path,
                    "frames per sample",
                    found,
                    "a number above 0",
                ));
            }
            Ok(())
        }
        PointTiming::Seconds(times) => {
            let wrong = |k: usize| {
                let expected = "increasing, finite times";
                Err(malformed(
                    path,
                    format!("time of sample {k}"),
                    times[k].to_string(),
                    expected,
                ))
            };
            if let Some(k) = times.iter().position(|t| !t.is_finite()) {
                return wrong(k);
            }
            match times.array_windows().position(|[a, b]| b <= a) {
                Some(k) => wrong(k + 1),
                None => Ok(()),
            }
        }
        PointTiming::Numbered(_) => Ok(()),
    }
}

fn pc2(file: &mut RangeReader, path: &Path) -> Result<Header, IoError> {
    let mut header = [0; PC2_HEADER];
    let has_magic = file.length() >= PC2_HEADER as u64 && {
        file.read_at(0, &mut header)?;
        header.starts_with(PC2_MAGIC)
    };
    if !has_magic {
        let expected = "a PC2 header (POINTCACHE2 and 20 bytes)";
        return Err(malformed(path, "header", "another header", expected));
    }
    let word = |at: usize| std::array::from_fn(|i| header[at + i]);
    let version = i32::from_le_bytes(word(12));
    if version != 1 {
        return Err(malformed(path, "version", version.to_string(), "1"));
    }
    let counts = [28, 16].map(|at| i32::from_le_bytes(word(at)));
    let data_at = PC2_HEADER as u64;
    let [samples, points] = checked_counts(path, counts, file.length() - data_at)?;
    let timing = PointTiming::Sampled {
        start_frame: f32::from_le_bytes(word(20)),
        sample_rate: f32::from_le_bytes(word(24)),
    };
    Ok(Header {
        points,
        samples,
        timing,
        data_at,
        number: Number::Little,
        warnings: Vec::new(),
    })
}

fn mdd(file: &mut RangeReader, path: &Path) -> Result<Header, IoError> {
    if file.length() < 8 {
        let found = format!("{} bytes", file.length());
        return Err(malformed(path, "header", found, "at least 8"));
    }
    let mut header = [0; 8];
    file.read_at(0, &mut header)?;
    let word = |at: usize| i32::from_be_bytes(std::array::from_fn(|i| header[at + i]));
    let (frames, points) = (word(0), word(4));
    let left = file.length() - 8;
    let time_bytes = u64::try_from(frames).unwrap_or(u64::MAX).saturating_mul(4);
    if time_bytes > left {
        let expected = format!("{frames} times of 4 bytes each");
        return Err(malformed(path, "times", format!("{left} bytes"), expected));
    }
    let [samples, points] = checked_counts(path, [frames, points], left - time_bytes)?;
    let mut times = vec![0_f32; samples];
    file.read_at(8, cast_slice_mut(&mut times))?;
    times
        .iter_mut()
        .for_each(|t| *t = f32::from_be_bytes(t.to_ne_bytes()));
    Ok(Header {
        points,
        samples,
        timing: PointTiming::Seconds(times),
        data_at: 8 + time_bytes,
        number: Number::Big,
        warnings: Vec::new(),
    })
}

/// Samples and points, if that many fill the bytes after the header.
fn checked_counts(
    path: &Path,
    [samples, points]: [i32; 2],
    found: u64,
) -> Result<[usize; 2], IoError> {
    let unsigned = |n: i32| u64::try_from(n).ok();
    let sizes = unsigned(samples).zip(unsigned(points));
    let total = sizes.and_then(|(s, p)| s.checked_mul(p)?.checked_mul(12));
    if total != Some(found) {
        let expected = format!("{samples} samples of {points} points, 12 bytes each");
        return Err(malformed(
            path,
            "samples",
            format!("{found} bytes"),
            expected,
        ));
    }
    Ok([samples, points].map(|n| usize::try_from(n).unwrap_or(0)))
}

fn npz(file: &mut RangeReader, path: &Path) -> Result<Header, IoError> {
    let archive = Archive::open(file, path)?;
    let positions = archive.array("positions", file, path)?.ok_or_else(|| {
        let names: Vec<&str> = archive.names().collect();
        let found = format!("the arrays {}", names.join(", "));
        malformed(
            path,
            "archive",
            found,
            "an array 'positions' (frames, points, 3)",
        )
    })?;
    let &[samples, points, 3] = positions.shape.as_slice() else {
        let found = format!("shape {:?}", positions.shape);
        return Err(malformed(
            path,
            "array 'positions'",
            found,
            "frames, points, 3",
        ));
    };
    let number = number_of(path, &positions)?;
    let timing = match archive.array("times", file, path)? {
        Some(times) => PointTiming::Seconds(read_times(file, path, &times, samples)?),
        None => PointTiming::Sampled {
            start_frame: 0.0,
            sample_rate: 1.0,
        },
    };
    let others = archive.names().filter(|n| n.ends_with("_positions"));
    let others: Vec<&str> = others.collect();
    let warnings = match others.as_slice() {
        [] => Vec::new(),
        others => {
            let message = format!(
                "only the array 'positions' is read, not {}; write each mesh into its own file to use them",
                others.join(", ")
            );
            vec![warning("npz_other_meshes", message)]
        }
    };
    Ok(Header {
        points,
        samples,
        timing,
        data_at: positions.data_at,
        number,
        warnings,
    })
}

fn number_of(path: &Path, array: &ArrayInFile) -> Result<Number, IoError> {
    match array.descr.as_str() {
        "<f4" => Ok(Number::Little),
        "<f8" => Ok(Number::Double),
        other => Err(IoError::Unsupported {
            path: path.to_owned(),
            location: format!("array '{}'", array.name),
            feature: format!("the element type '{}'", other.escape_debug()),
            help: "save float32, for example with a.astype(numpy.float32)".into(),
        }),
    }
}

fn read_times(
    file: &mut RangeReader,
    path: &Path,
    array: &ArrayInFile,
    samples: usize,
) -> Result<Vec<f32>, IoError> {
    if array.shape != [samples] {
        let found = format!("shape {:?}", array.shape);
        return Err(malformed(
            path,
            "array 'times'",
            found,
            format!("[{samples}], one per frame"),
        ));
    }
    let mut times = vec![0_f32; samples];
    match number_of(path, array)? {
        Number::Little | Number::Big => {
            file.read_at(array.data_at, cast_slice_mut(&mut times))?;
            times
                .iter_mut()
                .for_each(|t| *t = f32::from_le_bytes(t.to_ne_bytes()));
        }
        Number::Double => {
            let mut doubles = vec![0_f64; samples];
            file.read_at(array.data_at, cast_slice_mut(&mut doubles))?;
            let doubles = doubles.iter().map(|t| f64::from_le_bytes(t.to_ne_bytes()));
            times
                .iter_mut()
                .zip(doubles)
                .for_each(|(t, double)| *t = double as f32);
        }
    }
    Ok(times)
}

/// The mesh of an OBJ or PLY file: the readers give one.
fn only_mesh(path: &Path) -> Result<Mesh, IoError> {
    let mesh = read_mesh(path)?.meshes.pop();
    mesh.ok_or_else(|| malformed(path, "meshes", "none", "one mesh"))
}

/// Triangles of the file's points: exporters may split vertices at other normals in each file.
fn triangles_of_points(mesh: &Mesh) -> impl Iterator<Item = [u32; 3]> + '_ {
    let triangles = mesh.topology.triangles().iter();
    triangles.map(|t| t.map(|v| mesh.point_of(v)))
}

fn check_same(
    path: &Path,
    files: &[PathBuf],
    mesh: &Mesh,
    points: usize,
    triangles: &[[u32; 3]],
) -> Result<(), IoError> {
    let first = files
        .first()
        .and_then(|f| f.file_name())
        .unwrap_or_default();
    let wrong = |what: &str, found: String, expected: String| {
        let expected = format!(
            "{expected} as in {}; a mesh input needs the same topology in every frame (bake a changing one with `sinew bake vat`)",
            first.display()
        );
        Err(malformed(path, what, found, expected))
    };
    let found = mesh.point_count();
    if found != points {
        return wrong("points", found.to_string(), points.to_string());
    }
    let found = mesh.topology.triangles().len();
    if found != triangles.len() {
        return wrong("triangles", found.to_string(), triangles.len().to_string());
    }
    match first_difference(triangles, triangles_of_points(mesh)) {
        None => Ok(()),
        Some(t) => wrong(
            &format!("triangle {t}"),
            "another face".into(),
            "the same face".into(),
        ),
    }
}
