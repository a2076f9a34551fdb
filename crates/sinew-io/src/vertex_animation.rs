//! Vertex animation textures (VAT): a manifest `NAME.vat.json` and its textures in the same folder.

use crate::fault::malformed;
use crate::json_place;
use crate::texture::read_texture_of;
use crate::{Folders, IoError, Texels, Texture, read_text};
use sinew_vat::animation::{AnimationError, VertexAnimation};
use sinew_vat::lookup::LOOKUP_BYTES;
use sinew_vat::manifest::{Manifest, TextureFile};
use sinew_vat::texel::TexelFormat;
use std::path::Path;

/// Reads a vertex animation: the manifest and all its textures, from the manifest's folder. Does not read the carrier
/// mesh.
///
/// Textures may have more channels than the manifest states. The extra channels are ignored.
///
/// # Errors
/// [`IoError::Read`]; [`IoError::Malformed`] for invalid manifest JSON, and for textures whose size, format or channels
/// do not match the manifest, or whose numbers are not finite; [`IoError::VertexAnimation`] for a manifest that
/// contradicts itself; errors of [`read_texture`](crate::read_texture).
pub fn read_vertex_animation(path: &Path) -> Result<VertexAnimation, IoError> {
    let manifest = parse_manifest(&read_text(path)?, path)?;
    let refused = |source: AnimationError| IoError::VertexAnimation {
        path: path.to_owned(),
        source,
    };
    manifest.check().map_err(|e| refused(e.into()))?;
    let folder = &Folders::of_file(path);
    let textures = manifest.textures.iter();
    let size = manifest.texture_layout().size;
    let texels = textures.map(|t| read_texels(t, size, folder));
    let texels = texels.collect::<Result<Vec<_>, _>>()?;
    let lookup = read_lookup(&manifest, folder)?;
    VertexAnimation::with_lookup(manifest, texels, lookup).map_err(refused)
}

/// Texels of the lookup texture; empty without one.
fn read_lookup(manifest: &Manifest, folder: &Folders) -> Result<Vec<u8>, IoError> {
    let Some(lookup) = &manifest.lookup else {
        return Ok(Vec::new());
    };
    let path = folder.find(&lookup.file)?;
    let found = read_texture_of(&path, manifest.layout.size.map(|side| side as usize))?;
    let format = TexelFormat::Unorm8;
    check_kind(&found, format, LOOKUP_BYTES, &path)?;
    bytes(&found, format, LOOKUP_BYTES, &path)
}

/// Parses a manifest. `path` is its file, for messages. Does not check whether it contradicts itself.
///
/// # Errors
/// [`IoError::Malformed`] with the line.
pub fn parse_manifest(text: &str, path: &Path) -> Result<Manifest, IoError> {
    serde_json::from_str(text).map_err(|error| {
        let member = json_place::location(text, &error);
        let location = format!("line {}, `{member}`", error.line());
        malformed(
            path,
            location,
            error.to_string(),
            "a vertex animation manifest",
        )
    })
}

/// Texels of one texture of the manifest, in the order of [`VertexAnimation::new`].
fn read_texels(
    texture: &TextureFile,
    size: [u32; 2],
    folder: &Folders,
) -> Result<Vec<u8>, IoError> {
    let channels = texture.spec.ranges.len();
    let read = |name: &String| {
        let path = folder.find(name)?;
        let found = read_texture_of(&path, size.map(|side| side as usize))?;
        check_kind(&found, texture.spec.format, channels, &path)?;
        bytes(&found, texture.spec.format, channels, &path)
    };
    let files = texture.files.iter().map(read);
    let mut files = files.collect::<Result<Vec<_>, _>>()?.into_iter();
    let first = files.next().unwrap_or_default();
    Ok(match files.next() {
        // Of two textures, byte by byte alternately.
        Some(second) => first
            .into_iter()
            .zip(second)
            .flat_map(<[u8; 2]>::from)
            .collect(),
        None => first,
    })
}

fn check_kind(
    found: &Texture,
    format: TexelFormat,
    channels: usize,
    path: &Path,
) -> Result<(), IoError> {
    let wrong = |location: &str, found: String, expected: String| IoError::Malformed {
        path: path.to_owned(),
        location: location.into(),
        found,
        expected,
    };
    if found.channels.len() < channels {
        return Err(wrong(
            "channels",
            format!("{} ({})", found.channels.len(), found.channels.join(", ")),
            format!("{channels}, as the manifest says"),
        ));
    }
    let (kind, bits) = match format {
        TexelFormat::Unorm8 | TexelFormat::TwoUnorm8 => ("PNG", 8),
        TexelFormat::Unorm16 => ("PNG", 16),
        TexelFormat::Half => ("EXR", 16),
        TexelFormat::Float => ("EXR", 32),
    };
    let found_kind = match found.texels {
        Texels::Codes8(_) | Texels::Codes16(_) => "PNG",
        Texels::Floats(_) => "EXR",
    };
    if (found_kind, found.bits) != (kind, bits) {
        return Err(wrong(
            "format",
            format!("{found_kind} of {} bits", found.bits),
            format!("{kind} of {bits} bits, as the manifest says"),
        ));
    }
    Ok(())
}

/// The first channels of each texel, little endian.
fn bytes(
    texture: &Texture,
    format: TexelFormat,
    channels: usize,
    path: &Path,
) -> Result<Vec<u8>, IoError> {
    let all = texture.channels.len().max(1);
    let kept = |index: usize| index % all < channels;
    Ok(match &texture.texels {
        Texels::Codes8(codes) => {
            let codes = codes.iter().enumerate().filter(|(i, _)| kept(*i));
            codes.map(|(_, code)| *code).collect()
        }
        Texels::Codes16(codes) => {
            let codes = codes.iter().enumerate().filter(|(i, _)| kept(*i));
            codes.flat_map(|(_, code)| code.to_le_bytes()).collect()
        }
        Texels::Floats(numbers) => {
            let mut out = Vec::with_capacity(numbers.len() / all * channels * format.bytes());
            for (index, number) in numbers.iter().enumerate().filter(|(i, _)| kept(*i)) {
                check_finite(*number, index / all, texture.width, path)?;
                match format {
                    // Converted in memory: the file has halves.
                    TexelFormat::Half => {
                        out.extend(half::f16::from_f32(*number).to_le_bytes());
                    }
                    _ => out.extend(number.to_le_bytes()),
                }
            }
            out
        }
    })
}

fn check_finite(number: f32, texel: usize, width: usize, path: &Path) -> Result<(), IoError> {
    if number.is_finite() {
        return Ok(());
    }
    let width = width.max(1);
    Err(IoError::Malformed {
        path: path.to_owned(),
        location: format!("column {}, row {}", texel % width, texel / width),
        found: number.to_string(),
        expected: "a finite number".into(),
    })
}

#[cfg(test)]
mod tests;
