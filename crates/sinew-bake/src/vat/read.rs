//! Bakes read back from their files.

use crate::BakeError;
use sinew_io::{IoError, Texels, Texture, read_texture};
use sinew_vat::animation::{AnimationError, VertexAnimation};
use sinew_vat::manifest::{Manifest, TextureFile};
use sinew_vat::texel::TexelFormat;
use std::path::{Path, PathBuf};

/// Reads the manifest of a bake and looks for contradictions. `path`: the file, or the folder that holds one.
///
/// # Errors
/// [`BakeError::Io`], [`BakeError::Json`] with line and column, [`BakeError::Animation`].
pub fn read_manifest(path: &Path) -> Result<(PathBuf, Manifest), BakeError> {
    let path = manifest_in(path)?;
    let text = sinew_io::read_text(&path)?;
    let manifest: Manifest = serde_json::from_str(&text).map_err(|e| BakeError::Json {
        path: path.clone(),
        message: e.to_string(),
    })?;
    manifest.check().map_err(|source| BakeError::Animation {
        path: path.clone(),
        source: source.into(),
    })?;
    Ok((path, manifest))
}

/// Reads a whole bake, with its textures.
///
/// Memory: the texels, and one texture as it is in its file.
///
/// # Errors
/// As [`read_manifest`]; [`BakeError::Io`] names a texture that is of another size or kind than the manifest says.
pub fn read_animation(path: &Path) -> Result<VertexAnimation, BakeError> {
    let (path, manifest) = read_manifest(path)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let texels = manifest
        .textures
        .iter()
        .map(|t| texels_of(folder, &manifest, t));
    let texels = texels.collect::<Result<Vec<_>, BakeError>>()?;
    VertexAnimation::new(manifest, texels)
        .map_err(|source: AnimationError| BakeError::Animation { path, source })
}

fn manifest_in(path: &Path) -> Result<PathBuf, BakeError> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let found = sinew_io::files_ending_with(path, ".vat.json")?;
    match found.as_slice() {
        [one] => Ok(one.clone()),
        several => Err(BakeError::Json {
            path: path.to_owned(),
            message: format!(
                "{} files end with .vat.json, expected one; name it",
                several.len()
            ),
        }),
    }
}

fn texels_of(
    folder: &Path,
    manifest: &Manifest,
    texture: &TextureFile,
) -> Result<Vec<u8>, BakeError> {
    let read = |name: &String| {
        let path = folder.join(name);
        let read = read_texture(&path)?;
        check(&path, &read, manifest, texture)?;
        Ok::<_, BakeError>(read.texels)
    };
    let files: Vec<Texels> = texture.files.iter().map(read).collect::<Result<_, _>>()?;
    Ok(bytes_of(texture, &files))
}

fn check(
    path: &Path,
    read: &Texture,
    manifest: &Manifest,
    texture: &TextureFile,
) -> Result<(), IoError> {
    let fault = |place: &str, found: String, expected: String| {
        Err(IoError::Malformed {
            path: path.to_owned(),
            place: place.into(),
            found,
            expected,
        })
    };
    let [width, height] = manifest.layout.size.map(|s| s as usize);
    if (read.width, read.height) != (width, height) {
        let found = format!("{} x {}", read.width, read.height);
        return fault("size", found, format!("{width} x {height}"));
    }
    let (found, expected) = (read.channels.len(), texture.spec.stored_channels());
    if found != expected {
        return fault("channels", found.to_string(), expected.to_string());
    }
    let bits = match texture.spec.format {
        TexelFormat::Unorm8 | TexelFormat::TwoUnorm8 => 8,
        TexelFormat::Unorm16 | TexelFormat::Half => 16,
        TexelFormat::Float => 32,
    };
    let is_float = matches!(read.texels, Texels::Floats(_));
    if read.bits != bits || is_float != texture.spec.format.is_float() {
        let kind = if is_float { "floating point" } else { "codes" };
        let expected = format!("{:?}", texture.spec.format);
        return fault("texels", format!("{kind} of {} bits", read.bits), expected);
    }
    Ok(())
}

/// Texel after texel, without the channels that only the file has.
fn bytes_of(texture: &TextureFile, files: &[Texels]) -> Vec<u8> {
    let (stored, used) = (texture.spec.stored_channels(), texture.spec.ranges.len());
    let numbers = files.first().map_or(0, Texels::len);
    let mut out = Vec::with_capacity(numbers / stored * texture.spec.vertex_bytes());
    for i in (0..numbers).filter(|i| i % stored < used) {
        for file in files {
            match file {
                Texels::Codes8(codes) => out.push(codes[i]),
                Texels::Codes16(codes) => out.extend(codes[i].to_le_bytes()),
                Texels::Floats(values) => texture.spec.format.encode(values[i], &mut out),
            }
        }
    }
    out
}
