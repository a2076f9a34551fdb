//! Readers that choose the format by file extension, and plain text and byte files.

use crate::atomic::{LOCK_NAME, is_temporary};
use crate::tressfx::{read_tfx_asset, read_tfx_mesh};
use crate::{AtomicFile, GltfSource, IoError, read_mesh, read_sequence};
use sinew_geom::Asset;
use std::path::{Path, PathBuf};

/// An asset and, for glTF and FBX files, the rest of the document.
#[derive(Clone, Debug, Default)]
pub struct AnyFile {
    /// Meshes, rig, clips and morph targets of the file.
    pub asset: Asset,
    /// Materials, textures and images, for writers. `None` for OBJ, PLY and TressFX files.
    pub gltf: Option<GltfSource>,
}

/// Reads a file by its extension: `.glb`, `.vrm`, `.gltf`, `.fbx`, `.obj`, `.ply`, `.tfx` (TressFX strands) or
/// `.tfxmesh` (TressFX collision mesh). Reads a folder or a `name_####.ply` pattern as a sequence.
///
/// # Errors
/// [`IoError`] of the reader; [`IoError::NotBuilt`] for glTF and FBX without the features `gltf` and `fbx`; [`IoError::Unsupported`] for other
/// extensions.
pub fn read_any(path: &Path) -> Result<AnyFile, IoError> {
    let ending = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default()
        .to_lowercase();
    let plain = |asset| AnyFile { asset, gltf: None };
    let is_pattern = path
        .file_name()
        .is_some_and(|n| n.to_string_lossy().contains('#'));
    match ending.as_str() {
        _ if path.is_dir() || is_pattern => read_sequence(path).map(plain),
        // A VRM file is a GLB file.
        "glb" | "gltf" | "vrm" => read_gltf(path),
        "fbx" => read_fbx(path),
        "obj" | "ply" => read_mesh(path).map(plain),
        "tfx" => read_tfx_asset(path).map(plain),
        "tfxmesh" => read_tfx_mesh(path).map(plain),
        "tfxbone" => Err(IoError::Unsupported {
            path: path.to_owned(),
            location: "file name".into(),
            feature: "a joint table (.tfxbone) without its strands".into(),
            help: format!(
                "open the .tfx file of the same name instead; Sinew then reads {}, too",
                path.file_name().unwrap_or_default().display()
            ),
        }),
        _ => Err(IoError::Unsupported {
            path: path.to_owned(),
            location: "file name".into(),
            feature: format!("the file extension '{ending}'"),
            help: "use .glb, .gltf, .vrm, .fbx, .obj, .ply, .tfx or .tfxmesh".into(),
        }),
    }
}

#[cfg(feature = "gltf")]
fn read_gltf(path: &Path) -> Result<AnyFile, IoError> {
    crate::read_gltf(path).map(with_document)
}

#[cfg(feature = "gltf")]
fn with_document(file: crate::GltfFile) -> AnyFile {
    AnyFile {
        asset: file.asset,
        gltf: Some(file.document),
    }
}

#[cfg(not(feature = "gltf"))]
fn read_gltf(path: &Path) -> Result<AnyFile, IoError> {
    Err(crate::fault::not_built(path, "glTF", "gltf"))
}

#[cfg(feature = "fbx")]
fn read_fbx(path: &Path) -> Result<AnyFile, IoError> {
    crate::read_fbx(path).map(with_document)
}

#[cfg(not(feature = "fbx"))]
fn read_fbx(path: &Path) -> Result<AnyFile, IoError> {
    Err(crate::fault::not_built(path, "FBX", "fbx"))
}

/// Reads a whole file.
///
/// # Errors
/// [`IoError::Read`].
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, IoError> {
    std::fs::read(path).map_err(|source| IoError::Read {
        path: path.to_owned(),
        source,
    })
}

/// The files in a folder whose names end with `ending`, sorted.
///
/// # Errors
/// [`IoError::Read`].
pub fn files_ending_with(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, IoError> {
    let fault = |source| IoError::Read {
        path: folder.to_owned(),
        source,
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        if path.is_file() && path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Reads a UTF-8 text file. Drops a byte-order mark.
///
/// # Errors
/// [`IoError::Read`]; [`IoError::Malformed`] with the first byte that is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, IoError> {
    let text = String::from_utf8(read_bytes(path)?).map_err(|e| IoError::Malformed {
        path: path.to_owned(),
        location: format!("byte {}", e.utf8_error().valid_up_to()),
        found: "a byte that is not UTF-8".into(),
        expected: "UTF-8 text".into(),
    })?;
    Ok(text
        .strip_prefix('\u{feff}')
        .map_or_else(|| text.clone(), str::to_owned))
}

/// Writes a complete file or none. Creates missing folders.
///
/// # Errors
/// [`IoError::Write`].
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), IoError> {
    let mut file = AtomicFile::create(path)?;
    file.put(bytes)?;
    file.commit()
}

/// Writes a record that can be recreated and contains its own checksum. Faster than [`write_bytes`], since it does not
/// wait for the disk.
///
/// # Errors
/// [`IoError::Write`].
pub fn write_record(path: &Path, bytes: &[u8]) -> Result<(), IoError> {
    let mut file = AtomicFile::create_own(path)?.unsynced();
    file.put(bytes)?;
    file.commit()
}

/// Writes a file into a folder that Sinew owns, complete or not at all. Replaces a link instead of following it.
///
/// # Errors
/// [`IoError::Write`].
pub fn write_own(path: &Path, bytes: &[u8]) -> Result<(), IoError> {
    let mut file = AtomicFile::create_own(path)?;
    file.put(bytes)?;
    file.commit()
}

/// Writes a complete text file or none. Creates missing folders.
///
/// # Errors
/// As [`write_bytes`].
pub fn write_text(path: &Path, text: &str) -> Result<(), IoError> {
    write_bytes(path, text.as_bytes())
}

/// The first file or folder in a folder, by name. Ignores Sinew's temporary files and locks. `None` if the folder is
/// empty or does not exist.
///
/// # Errors
/// [`IoError::Read`].
pub fn first_in_folder(folder: &Path) -> Result<Option<PathBuf>, IoError> {
    let fault = |source| IoError::Read {
        path: folder.to_owned(),
        source,
    };
    if !folder.is_dir() {
        return Ok(None);
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        names.push(entry.map_err(fault)?.file_name());
    }
    names.retain(|name| !is_temporary(name) && name != LOCK_NAME);
    names.sort();
    Ok(names.first().map(|name| folder.join(name)))
}

/// Removes the files for which `is_meant` is true, then the folder if it is empty. Gives true if the folder is gone.
///
/// # Errors
/// [`IoError::Read`], [`IoError::Write`].
pub fn remove_files(folder: &Path, is_meant: impl Fn(&str) -> bool) -> Result<bool, IoError> {
    let write = |path: &Path, source| IoError::Write {
        path: path.to_owned(),
        source,
    };
    for path in files_ending_with(folder, "")? {
        let name = path.file_name().and_then(|n| n.to_str());
        if name.is_some_and(&is_meant) {
            std::fs::remove_file(&path).map_err(|e| write(&path, e))?;
        }
    }
    if first_in_folder(folder)?.is_none() {
        // The process that holds the lock is about to end.
        let _ = std::fs::remove_file(folder.join(LOCK_NAME));
    }
    match std::fs::remove_dir(folder) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == std::io::ErrorKind::DirectoryNotEmpty => Ok(false),
        // A link to a folder: the user made it.
        Err(_) if folder.is_symlink() => Ok(false),
        Err(e) => Err(write(folder, e)),
    }
}

#[cfg(all(test, not(feature = "gltf")))]
mod tests {
    use super::*;

    #[test]
    fn without_fbx_the_error_names_the_feature() {
        let error = read_any(Path::new("a.FBX")).expect_err("not built");
        assert_eq!(
            error.to_string(),
            "a.FBX: this build has no FBX support; build `sinew-io` with the feature `fbx`"
        );
    }

    #[test]
    fn without_gltf_the_error_names_the_feature() {
        for name in ["a.glb", "a.gltf", "a.vrm"] {
            let error = read_any(Path::new(name)).expect_err("not built");
            assert_eq!(
                error.to_string(),
                format!(
                    "{name}: this build has no glTF support; build `sinew-io` with the feature `gltf`"
                )
            );
        }
    }
}
