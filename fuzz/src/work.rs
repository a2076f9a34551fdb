//! Work folders of small bakes, one of each mode, whose files can be replaced.

use sinew::bake::vat::{Mode, Points, VatJob, VatSettings, assemble, plan, scan, texels};
use sinew::bake::{BakeError, Chunk, FrameSource, LoadOrder, LoadedFrame, Watch};
use sinew::geom::{Mesh, Topology};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder with all records of a bake.
#[derive(Debug)]
pub struct Work {
    root: TempDir,
    /// Every file, and what is in it.
    pub files: Vec<(PathBuf, Vec<u8>)>,
}

impl Work {
    /// The work folder.
    pub fn folder(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// Where the bake goes.
    pub fn out(&self) -> PathBuf {
        self.root.path().join("out")
    }

    /// Puts bytes in place of a file.
    pub fn put(&self, file: usize, bytes: &[u8]) {
        std::fs::write(&self.files[file].0, bytes).expect("written");
    }

    /// What takes the place of a file: bytes as they are, or made whole: with the hash of a record, of the head of one, or of a plan.
    pub fn made_whole(&self, file: usize, how: u8, bytes: &[u8]) -> Vec<u8> {
        let hash = |bytes: &[u8]| *blake3::hash(bytes).as_bytes();
        match how % 4 {
            0 => bytes.to_vec(),
            1 => [bytes, &hash(bytes)].concat(),
            2 => {
                let (body, _) = parts(&self.files[file].1).unwrap_or_default();
                let length = (bytes.len() + HASH) as u64;
                [body, bytes, &hash(bytes), &length.to_le_bytes()].concat()
            }
            _ => {
                let text = String::from_utf8_lossy(bytes);
                let hash = blake3::hash(bytes).to_hex();
                let with = format!("\"hash\": \"{}\"", &hash[..32]);
                text.replacen("\"hash\": \"\"", &with, 1).into_bytes()
            }
        }
    }

    /// Inputs of [`Self::made_whole`] that give the files as they are.
    pub fn seeds(&self) -> Vec<(usize, u8, Vec<u8>)> {
        let of = |(file, (path, bytes)): (usize, &(PathBuf, Vec<u8>))| {
            let json = path.extension().is_some_and(|e| e == "json");
            let whole = bytes.len().checked_sub(HASH);
            let (how, bytes) = match (json, parts(bytes), whole) {
                (true, ..) => match String::from_utf8_lossy(bytes).split_once("\"hash\": \"") {
                    Some((before, rest)) => {
                        let text = format!("{before}\"hash\": \"{}", &rest[32..]);
                        (3, text.into_bytes())
                    }
                    None => (0, bytes.clone()),
                },
                (_, Some((_, head)), _) => (2, head.to_vec()),
                (_, None, Some(end)) => (1, bytes[..end].to_vec()),
                (_, None, None) => (0, bytes.clone()),
            };
            (file, how, bytes)
        };
        self.files.iter().enumerate().map(of).collect()
    }

    /// Makes the folder what it was.
    pub fn restore(&self) {
        for (path, bytes) in &self.files {
            if std::fs::read(path).ok().as_ref() != Some(bytes) {
                std::fs::write(path, bytes).expect("written");
            }
        }
    }
}

/// Bytes of a hash.
const HASH: usize = 32;

/// Body and head, without its hash, of a record that has a head.
fn parts(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (before, length) = bytes.split_last_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (body, sealed) = before.split_at_checked(before.len().checked_sub(length)?)?;
    let head = sealed.split_last_chunk::<HASH>()?.0;
    Some((body, head))
}

/// Three frames of a square whose far corner rises, or all of it where it is rigid; in a changing one, the last is cut into other triangles.
struct Frames {
    changing: bool,
    points: bool,
    rigid: bool,
}

impl FrameSource for Frames {
    fn name(&self) -> &str {
        "square"
    }
    fn frame_count(&self) -> usize {
        3
    }
    fn number(&self, frame: usize) -> i64 {
        frame as i64
    }
    fn key(&self, frame: usize) -> Result<String, BakeError> {
        Ok(format!("{frame}"))
    }
    fn order(&self) -> LoadOrder {
        LoadOrder::Any
    }
    fn load(&self, frame: usize) -> Result<LoadedFrame, BakeError> {
        let up = 0.1 * frame as f32;
        let rest = if self.rigid { up } else { 0.0 };
        let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let mut positions: Vec<[f32; 3]> = corners.map(|[x, y]| [x, y, rest]).into();
        positions[2][2] = up;
        let mut triangles = vec![[0, 1, 2], [0, 2, 3]];
        if self.changing && frame == 2 {
            positions.push([0.5, 0.5, 0.5]);
            triangles = vec![[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]];
        }
        if self.points {
            triangles.clear();
        }
        let topology = Topology::new(positions.len() as u32, triangles).expect("indices fit");
        Ok(LoadedFrame::new(Mesh::new("square", topology, positions)))
    }
}

/// Every mode, and changing triangles with unique points.
pub fn bakes() -> Vec<Work> {
    let kinds = [
        (Mode::Remesh, Points::Corners),
        (Mode::Remesh, Points::Unique),
        (Mode::Soft, Points::Corners),
        (Mode::Rigid, Points::Corners),
        (Mode::Particles, Points::Corners),
    ];
    kinds.map(|(mode, points)| bake(mode, points)).into()
}

fn bake(mode: Mode, points: Points) -> Work {
    let frames = Frames {
        changing: mode == Mode::Remesh,
        points: mode == Mode::Particles,
        rigid: mode == Mode::Rigid,
    };
    let settings = VatSettings {
        mode: Some(mode),
        points,
        ..VatSettings::default()
    };
    let root = TempDir::new().expect("a folder");
    let mut work = Work {
        root,
        files: Vec::new(),
    };
    let watch = Watch::NOBODY;
    let all = || {
        let job = VatJob::begin(&work.folder(), &frames, &settings)?;
        scan(&job, &frames, Chunk::ALL, &watch)?;
        plan(&job, &watch)?;
        texels(&job, Chunk::ALL, &watch)?;
        assemble(&job, &work.out(), &watch)
    };
    all().expect("a bake");
    let mut files = Vec::new();
    collect(&work.folder(), &mut files);
    files.sort();
    work.files = files;
    work
}

fn collect(folder: &Path, out: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, out);
        } else if let Ok(bytes) = std::fs::read(&path) {
            out.push((path, bytes));
        }
    }
}
