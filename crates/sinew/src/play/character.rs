//! Characters: an asset and its document.

use super::PlayError;
use crate::geom::Asset;
use crate::io::{GltfSource, read_any};
use std::path::{Path, PathBuf};

/// Meshes, rig and clips of a file. Immutable after loading: keep it in an [`Arc`](std::sync::Arc) and share it among
/// players.
#[derive(Clone, Debug)]
pub struct Character {
    /// Path of the file, or the asset's name if it has no file.
    pub path: PathBuf,
    /// Content of the file. Its `warnings` list repairs; the caller shows them.
    pub asset: Asset,
    /// The rest of a glTF file, for writers: materials, textures and images.
    pub source: Option<GltfSource>,
}

impl Character {
    /// Reads GLB, glTF, OBJ, PLY or a sequence, as [`read_any`].
    ///
    /// # Errors
    /// [`PlayError::Io`].
    pub fn load(path: &Path) -> Result<Self, PlayError> {
        let file = read_any(path)?;
        Ok(Self {
            path: path.to_owned(),
            asset: file.asset,
            source: file.gltf,
        })
    }

    /// A character that was not read from a file. Its path is the asset's name.
    pub fn from_asset(asset: Asset) -> Self {
        Self {
            path: asset.name.clone().into(),
            asset,
            source: None,
        }
    }

    /// The clip with a name; without a name, the first clip, or `None` without clips.
    ///
    /// # Errors
    /// [`PlayError::NoClip`] with the existing names.
    pub fn find_clip_name(&self, name: Option<&str>) -> Result<Option<String>, PlayError> {
        let found = self.asset.find_clip(name).map(|c| c.name.clone());
        match (found, name) {
            (None, Some(name)) => Err(PlayError::NoClip {
                character: self.path.clone(),
                name: name.to_owned(),
                known: self.asset.clips.iter().map(|c| c.name.clone()).collect(),
            }),
            (found, _) => Ok(found),
        }
    }
}
