//! Where frames come from.

use crate::{BakeError, FrameRange};
use serde::{Deserialize, Serialize};
use sinew_geom::{Mesh, Topology, Warning};
use sinew_io::{RangeReader, SequenceFiles, read_mesh_from, turn_z_up_to_y_up};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A frame, and what was repaired or is odd in it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadedFrame {
    /// The frame; any topology, or none at all.
    pub mesh: Mesh,
    /// What the reader had to say.
    pub warnings: Vec<Warning>,
    /// The farthest that reading moved a vertex, metres: what single precision lost of the numbers in the file.
    pub read_loss: f64,
}

impl LoadedFrame {
    /// A frame without warnings and loss.
    pub fn new(mesh: Mesh) -> Self {
        Self {
            mesh,
            warnings: Vec::new(),
            read_loss: 0.0,
        }
    }
}

/// In which order frames may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadOrder {
    /// Any, from any thread.
    Any,
    /// Rising, one after the other: each frame follows from those before.
    Rising,
}

/// Frames that are made when they are asked for, so that only a few are in memory.
pub trait FrameSource: Sync {
    /// Name of the bake, for its files.
    fn name(&self) -> &str;
    /// How many frames there are.
    fn frame_count(&self) -> usize;
    /// The clips that the frames are of, one behind the other; without any all frames are one, which is called as the bake is.
    fn clips(&self) -> Vec<FrameRange> {
        Vec::new()
    }
    /// Number of a frame, as the user knows it.
    fn number(&self, frame: usize) -> i64;
    /// A text that changes when the frame does: records of another text are made anew.
    ///
    /// # Errors
    /// [`BakeError`] where what the frame is made from is not there.
    fn key(&self, frame: usize) -> Result<String, BakeError>;
    /// The file that a frame is in, if it is in one of its own.
    fn file(&self, _frame: usize) -> Option<PathBuf> {
        None
    }
    /// Where positions are counted from, metres in the axes of glTF: the source's own positions are these and those of frames together.
    fn origin(&self) -> Option<[f64; 3]> {
        None
    }
    /// The materials that [`sinew_geom::MeshPart::material`] of its frames counts.
    fn materials(&self) -> Vec<CarrierMaterial> {
        Vec::new()
    }
    /// In which order they may be asked for.
    fn order(&self) -> LoadOrder;
    /// Makes a frame; the same each time.
    ///
    /// # Errors
    /// [`BakeError`].
    fn load(&self, frame: usize) -> Result<LoadedFrame, BakeError>;
}

/// A text that changes with what a file holds, wherever it is and whenever it was written. All of it is read.
///
/// # Errors
/// [`BakeError::Io`].
pub fn content_key(path: &Path) -> Result<String, BakeError> {
    let mut file = RangeReader::open(path)?;
    let (length, mut at) = (file.length(), 0);
    let mut hash = blake3::Hasher::new();
    // In parts: point caches may be larger than memory.
    let mut part = vec![0; usize::try_from(length.min(1 << 20)).unwrap_or(1 << 20)];
    while at < length {
        let bytes = (length - at).min(part.len() as u64);
        let part = &mut part[..usize::try_from(bytes).unwrap_or(0)];
        file.read_at(at, part)?;
        hash.update(part);
        at += bytes;
    }
    Ok(key_text(length, &crate::work::short_hash(&hash)))
}

/// [`content_key`] of what was read already.
pub fn content_key_of(bytes: &[u8]) -> String {
    key_text(bytes.len() as u64, &crate::work::hash_of(bytes))
}

fn key_text(bytes: u64, hash: &str) -> String {
    format!("{bytes} bytes, hash {hash}")
}

/// A material of the source, as far as carriers keep it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CarrierMaterial {
    /// Its name.
    pub name: String,
    /// Linear red, green, blue and alpha.
    pub base_color: [f32; 4],
}

impl CarrierMaterial {
    /// `base_color`: linear red, green, blue and alpha.
    pub fn new(name: impl Into<String>, base_color: [f32; 4]) -> Self {
        Self {
            name: name.into(),
            base_color,
        }
    }
}

/// Numbered OBJ or PLY files.
#[derive(Clone, Debug)]
pub struct FileFrames {
    files: SequenceFiles,
    is_z_up: bool,
    /// In the axes of the files.
    origin: OnceLock<Option<[f64; 3]>>,
}

impl FileFrames {
    /// Of files that were found; `is_z_up`: +Z points up in them, which becomes +Y.
    ///
    /// Where the first frame that has vertices lies so far from the origin that single precision would lose something of it
    /// ([`sinew_io::FileBox::origin`]), positions of all frames are counted from its middle, in whole units.
    pub fn new(files: SequenceFiles, is_z_up: bool) -> Self {
        Self {
            files,
            is_z_up,
            origin: OnceLock::new(),
        }
    }

    fn origin_of_files(&self) -> Option<[f64; 3]> {
        *self.origin.get_or_init(|| {
            let files = self.files.files.iter();
            // What cannot be read is told where it is loaded.
            let boxes = files.map_while(|(_, path)| Some(read_mesh_from(path, [0.0; 3]).ok()?.1));
            let mut boxes = boxes.filter(|b| b.has_vertices());
            boxes.next()?.origin()
        })
    }

    /// All but the last file.
    pub fn without_last(mut self) -> Self {
        self.files.files.pop();
        self
    }
}

impl FrameSource for FileFrames {
    fn name(&self) -> &str {
        &self.files.name
    }
    fn frame_count(&self) -> usize {
        self.files.files.len()
    }
    fn number(&self, frame: usize) -> i64 {
        self.files.files[frame].0
    }
    fn key(&self, frame: usize) -> Result<String, BakeError> {
        let path = &self.files.files[frame].1;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let content = content_key(path)?;
        let origin = self.origin_of_files();
        let origin = origin.map_or_else(String::new, |o| format!(" origin={o:?}"));
        Ok(format!("{name} {content} z_up={}{origin}", self.is_z_up))
    }
    fn file(&self, frame: usize) -> Option<PathBuf> {
        Some(self.files.files[frame].1.clone())
    }
    fn origin(&self) -> Option<[f64; 3]> {
        let [x, y, z] = self.origin_of_files()?;
        // Subtracting from zero keeps 0.0 from becoming -0.0.
        Some(match self.is_z_up {
            true => [x, z, 0.0 - y],
            false => [x, y, z],
        })
    }
    fn order(&self) -> LoadOrder {
        LoadOrder::Any
    }
    fn load(&self, frame: usize) -> Result<LoadedFrame, BakeError> {
        let (number, path) = &self.files.files[frame];
        let origin = self.origin_of_files().unwrap_or_default();
        let (mut asset, of_file) = read_mesh_from(path, origin)?;
        if asset.meshes.len() > 1 {
            let message = several_meshes(path, asset.meshes.len());
            return Err(BakeError::Frame {
                number: *number,
                message,
            });
        }
        let mut mesh = asset.meshes.pop().unwrap_or_else(empty_mesh);
        if self.is_z_up {
            turn_z_up_to_y_up(&mut mesh);
        }
        Ok(LoadedFrame {
            mesh,
            warnings: asset.warnings,
            read_loss: of_file.loss,
        })
    }
}

fn several_meshes(path: &Path, found: usize) -> String {
    format!("{} holds {found} meshes, expected one", path.display())
}

fn empty_mesh() -> Mesh {
    Mesh::new("", Topology::default(), Vec::new())
}

/// Frames that are in memory already.
#[derive(Clone, Debug)]
pub struct MeshFrames {
    name: String,
    frames: Vec<Mesh>,
}

impl MeshFrames {
    /// Numbered from zero.
    pub fn new(name: impl Into<String>, frames: Vec<Mesh>) -> Self {
        let name = name.into();
        Self { name, frames }
    }
}

impl FrameSource for MeshFrames {
    fn name(&self) -> &str {
        &self.name
    }
    fn frame_count(&self) -> usize {
        self.frames.len()
    }
    fn number(&self, frame: usize) -> i64 {
        i64::try_from(frame).unwrap_or(i64::MAX)
    }
    fn key(&self, frame: usize) -> Result<String, BakeError> {
        let mesh = &self.frames[frame];
        let record = crate::vat::MeshRecord::from(mesh);
        Ok(crate::work::hash_of(&crate::work::to_bytes(&record)))
    }
    fn order(&self) -> LoadOrder {
        LoadOrder::Any
    }
    fn load(&self, frame: usize) -> Result<LoadedFrame, BakeError> {
        Ok(LoadedFrame {
            mesh: self.frames[frame].clone(),
            warnings: Vec::new(),
            read_loss: 0.0,
        })
    }
}
