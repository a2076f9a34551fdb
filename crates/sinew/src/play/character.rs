//! Characters: the asset and the document it came from.

use super::PlayError;
use crate::geom::Asset;
use crate::io::{GltfSource, read_any};
use std::path::{Path, PathBuf};

/// A file's meshes, rig and clips. Does not change once it is loaded; keep it in an [`Arc`](std::sync::Arc) and play it as often as needed.
#[derive(Clone, Debug)]
pub struct Character {
    /// Where it was read from; the asset's name where it comes from no file.
    pub path: PathBuf,
    /// What the file holds. Its `warnings` say what was repaired; showing them is up to the caller.
    pub asset: Asset,
    /// The rest of a glTF file: materials, textures and images, for writers.
    pub source: Option<GltfSource>,
}

impl Character {
    /// Reads GLB, glTF, OBJ or PLY, or a sequence, as [`read_any`] does.
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

    /// A character that was made, not read; its path is the asset's name.
    pub fn from_asset(asset: Asset) -> Self {
        Self {
            path: asset.name.clone().into(),
            asset,
            source: None,
        }
    }

    /// The clip to play: the one of that name; without a name the first, `None` where there is none.
    ///
    /// # Errors
    /// [`PlayError::NoClip`] lists the names there are.
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
