//! Characters: an asset and its document.

use super::PlayError;
use crate::geom::Asset;
use crate::io::{GltfSource, find_sequence, read_any, read_mesh};
use std::path::{Path, PathBuf};

/// Meshes, rig and clips of a file. Immutable after loading: keep it in an [`Arc`](std::sync::Arc) and share it among
/// players.
#[derive(Clone, Debug)]
pub struct Character {
    /// Path of the file, or the asset's name if it has no file.
    pub path: PathBuf,
    /// Content of the file. Its `warnings` list repairs; the caller shows them.
    pub asset: Asset,
    /// The rest of a glTF or FBX file, for writers: materials, textures and images.
    pub source: Option<GltfSource>,
    /// A sequence: the folder or pattern whose files hold the positions of each frame. Mesh inputs of a graph play them.
    pub point_cache: Option<PathBuf>,
}

impl Character {
    /// Reads GLB, glTF, FBX, OBJ, PLY or a sequence, as [`read_any`].
    ///
    /// # Errors
    /// [`PlayError::Io`].
    pub fn load(path: &Path) -> Result<Self, PlayError> {
        let file = read_any(path)?;
        Ok(Self {
            path: path.to_owned(),
            point_cache: file.asset.sequence.is_some().then(|| path.to_owned()),
            asset: file.asset,
            source: file.gltf,
        })
    }

    /// As [`Self::load`], but of a sequence only the first file is read: it is the rest mesh, and graphs read the other
    /// files frame by frame.
    ///
    /// # Errors
    /// [`PlayError::Io`].
    pub fn load_rest(path: &Path) -> Result<Self, PlayError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !(path.is_dir() || name.contains('#')) {
            return Self::load(path);
        }
        let files = find_sequence(path)?;
        let Some((_, first)) = files.files.first() else {
            return Self::load(path);
        };
        let mut asset = read_mesh(first)?;
        if !files.name.is_empty() {
            asset.name = files.name;
        }
        Ok(Self {
            path: path.to_owned(),
            asset,
            source: None,
            point_cache: Some(path.to_owned()),
        })
    }

    /// A character that was not read from a file. Its path is the asset's name.
    pub fn from_asset(asset: Asset) -> Self {
        Self {
            path: asset.name.clone().into(),
            asset,
            source: None,
            point_cache: None,
        }
    }

    /// The clip with a name; without a name, the first clip, or `None` without clips. The empty name is the rest pose.
    ///
    /// # Errors
    /// [`PlayError::NoClip`] with the existing names.
    pub fn find_clip_name(&self, name: Option<&str>) -> Result<Option<String>, PlayError> {
        let found = self.asset.find_clip(name).map(|c| c.name.clone());
        match (found, name) {
            (None, Some("")) => Ok(Some(String::new())),
            (None, Some(name)) => Err(PlayError::NoClip {
                character: self.path.clone(),
                name: name.to_owned(),
                known: self.asset.clips.iter().map(|c| c.name.clone()).collect(),
            }),
            (found, _) => Ok(found),
        }
    }
}
