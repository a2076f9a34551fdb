//! Bakes read back from their files.

use crate::BakeError;
use sinew_io::vertex_animation::parse_manifest;
use sinew_io::{IoError, read_vertex_animation};
use sinew_vat::animation::VertexAnimation;
use sinew_vat::manifest::Manifest;
use std::path::{Path, PathBuf};

/// Reads the manifest of a bake and looks for contradictions. `path`: the file, or the folder that holds one.
///
/// # Errors
/// [`BakeError::Io`]; [`BakeError::Json`] where a folder holds none or several.
pub fn read_manifest(path: &Path) -> Result<(PathBuf, Manifest), BakeError> {
    let path = manifest_in(path)?;
    let manifest = parse_manifest(&sinew_io::read_text(&path)?, &path)?;
    manifest.check().map_err(|e| IoError::VertexAnimation {
        path: path.clone(),
        source: e.into(),
    })?;
    Ok((path, manifest))
}

/// Reads a whole bake, with its textures. `path` as in [`read_manifest`].
///
/// Memory: the texels, and one texture as it is in its file.
///
/// # Errors
/// As [`read_manifest`]; [`BakeError::Io`] names a texture that is of another size or kind than the manifest says.
pub fn read_animation(path: &Path) -> Result<VertexAnimation, BakeError> {
    Ok(read_vertex_animation(&manifest_in(path)?)?)
}

fn manifest_in(path: &Path) -> Result<PathBuf, BakeError> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let found = sinew_io::files_ending_with(path, ".vat.json")?;
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(BakeError::Json {
            path: path.to_owned(),
            message: "no file that ends with .vat.json, expected a bake; those of other tools' conventions (openvat, sidefx) have none and are not read".into(),
        }),
        several => Err(BakeError::Json {
            path: path.to_owned(),
            message: format!(
                "{} files end with .vat.json, expected one; name it",
                several.len()
            ),
        }),
    }
}
