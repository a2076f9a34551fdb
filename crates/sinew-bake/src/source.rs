//! Where frames come from.

use crate::{BakeError, FrameRange};
use sinew_geom::{Mesh, Topology, Warning};
use sinew_io::{SequenceFiles, read_mesh, turn_z_up_to_y_up};
use std::path::Path;

/// A frame, and what was repaired or is odd in it.
#[derive(Clone, Debug)]
pub struct LoadedFrame {
    /// The frame; any topology, or none at all.
    pub mesh: Mesh,
    /// What the reader had to say.
    pub warnings: Vec<Warning>,
}

/// In which order frames may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    Ok(content_key_of(&sinew_io::read_bytes(path)?))
}

/// [`content_key`] of what was read already.
pub fn content_key_of(bytes: &[u8]) -> String {
    let hash = crate::work::hash_of(bytes);
    format!("{} bytes, hash {hash}", bytes.len())
}

/// Numbered OBJ or PLY files.
#[derive(Clone, Debug)]
pub struct FileFrames {
    files: SequenceFiles,
    is_z_up: bool,
}

impl FileFrames {
    /// Of files that were found; `is_z_up`: +Z points up in them, which becomes +Y.
    pub fn new(files: SequenceFiles, is_z_up: bool) -> Self {
        Self { files, is_z_up }
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
        Ok(format!("{name} {content} z_up={}", self.is_z_up))
    }
    fn order(&self) -> LoadOrder {
        LoadOrder::Any
    }
    fn load(&self, frame: usize) -> Result<LoadedFrame, BakeError> {
        let (number, path) = &self.files.files[frame];
        let mut asset = read_mesh(path)?;
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
        let warnings = asset.warnings;
        Ok(LoadedFrame { mesh, warnings })
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
        let (mesh, warnings) = (self.frames[frame].clone(), Vec::new());
        Ok(LoadedFrame { mesh, warnings })
    }
}
