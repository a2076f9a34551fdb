//! The GLB container: header and chunks.

use crate::bytes::without_mark;
use crate::fault::{cannot_read, malformed};
use crate::{AtomicFile, IoError};
use std::path::Path;

const MAGIC: u32 = 0x4654_6C67;
const JSON: u32 = 0x4E4F_534A;
const BIN: u32 = 0x004E_4942;

/// The parts of a GLB file.
#[derive(Clone, Copy, Debug)]
pub struct Glb<'a> {
    /// Text of the JSON chunk, including padding.
    pub json: &'a [u8],
    /// Everything after the JSON chunk, including chunk headers.
    pub rest: &'a [u8],
}

/// Splits a GLB file. `path` appears in errors.
///
/// # Errors
/// [`IoError::Malformed`] if the header or the first chunk is not that of a GLB file.
pub fn read_glb_chunks<'a>(bytes: &'a [u8], path: &Path) -> Result<Glb<'a>, IoError> {
    let word = |at: usize| {
        let b = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    };
    let wrong = |location: &str, found: Option<u32>, expected: String| {
        let found = found.map_or_else(|| "end of file".into(), |w| w.to_string());
        malformed(path, location, found, expected)
    };
    if word(0) != Some(MAGIC) {
        let found = format!("'{}'", bytes[..bytes.len().min(4)].escape_ascii());
        return Err(malformed(path, "byte 0", found, "'glTF' (a GLB file)"));
    }
    if word(4) != Some(2) {
        return Err(wrong("version", word(4), "2".into()));
    }
    let length = word(8).and_then(|n| usize::try_from(n).ok());
    let Some(content) = length.filter(|&n| n >= 20).and_then(|n| bytes.get(..n)) else {
        return Err(wrong(
            "length",
            word(8),
            format!("at most {} bytes", bytes.len()),
        ));
    };
    if word(16) != Some(JSON) {
        return Err(wrong("type of the first chunk", word(16), JSON.to_string()));
    }
    let size = word(12).and_then(|n| usize::try_from(n).ok());
    match size.and_then(|n| content[20..].split_at_checked(n)) {
        Some((json, rest)) => Ok(Glb {
            json: without_mark(json),
            rest,
        }),
        None => Err(wrong(
            "length of the first chunk",
            word(12),
            format!("at most {} bytes", content.len() - 20),
        )),
    }
}

/// Bytes of the GLB file to edit: those of a file, or of the document that an FBX file becomes.
pub(super) fn editable(path: &Path) -> Result<Vec<u8>, IoError> {
    #[cfg(feature = "fbx")]
    if path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("fbx"))
    {
        return crate::fbx::glb(path);
    }
    std::fs::read(path).map_err(cannot_read(path))
}

impl<'a> Glb<'a> {
    /// Content of the BIN chunk, empty without one, and everything after it. `None` if it is longer than the file.
    pub(super) fn split_binary(&self) -> Option<(&'a [u8], &'a [u8])> {
        let [a, b, c, d, kind @ ..] = *self.rest.first_chunk::<8>().unwrap_or(&[0; 8]);
        if u32::from_le_bytes(kind) != BIN {
            return Some((&[], self.rest));
        }
        let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?;
        self.rest.get(8..)?.split_at_checked(length)
    }
}

/// Header, JSON chunk, a BIN chunk of `binary` and `more` (together a multiple of 4 bytes), and everything after it.
pub(super) fn put_grown(
    out: &mut AtomicFile,
    json: &[u8],
    [binary, more, behind]: [&[u8]; 3],
) -> Result<(), IoError> {
    let length = binary.len() as u64 + more.len() as u64;
    let padded = json.len().next_multiple_of(4) as u64;
    put_json(out, json, padded + 8 + length + behind.len() as u64)?;
    // Less than the file size, which was checked.
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    for bytes in [
        &length.to_le_bytes(),
        &BIN.to_le_bytes(),
        binary,
        more,
        behind,
    ] {
        out.put(bytes)?;
    }
    Ok(())
}

/// A whole file in memory: JSON text and the BIN chunk, a multiple of four bytes.
pub(crate) fn glb_bytes(path: &Path, json: &[u8], binary: &[u8]) -> Result<Vec<u8>, IoError> {
    let mut out = begun(path, json, binary.len().saturating_add(8))?;
    // Less than the file size, which was checked.
    let length = u32::try_from(binary.len()).unwrap_or(u32::MAX);
    for word in [length, BIN] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(binary);
    Ok(out)
}

/// A whole file in memory: JSON text and everything after the JSON chunk.
pub(super) fn file_bytes(path: &Path, json: &[u8], rest: &[u8]) -> Result<Vec<u8>, IoError> {
    let mut out = begun(path, json, rest.len())?;
    out.extend_from_slice(rest);
    Ok(out)
}

/// Header and JSON chunk of a file in memory, with capacity for `behind` more bytes.
fn begun(path: &Path, json: &[u8], behind: usize) -> Result<Vec<u8>, IoError> {
    let padded = json.len().next_multiple_of(4);
    let content = padded.saturating_add(behind).saturating_add(20);
    let words = u32::try_from(content).ok().zip(u32::try_from(padded).ok());
    let Some((total, padded32)) = words else {
        return Err(too_large(path, content as u64));
    };
    let mut out = Vec::with_capacity(content);
    for word in [MAGIC, 2, total, padded32, JSON] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(json);
    out.resize(20 + padded, b' ');
    Ok(out)
}

fn too_large(path: &Path, content: u64) -> IoError {
    IoError::Unsupported {
        path: path.to_owned(),
        location: "GLB file".into(),
        feature: format!("a GLB file of 4 GiB or more ({content} bytes)"),
        help: "write fewer frames, or write NPZ".into(),
    }
}

/// Refuses a binary chunk that no file can hold.
pub(super) fn check_length(path: &Path, binary: u64) -> Result<(), IoError> {
    match u32::try_from(binary) {
        Ok(_) => Ok(()),
        Err(_) => Err(too_large(path, binary)),
    }
}

/// Header, JSON chunk and the header of the BIN chunk of `binary` bytes (a multiple of 4); no BIN chunk for zero.
pub(super) fn put_header(out: &mut AtomicFile, json: &[u8], binary: u64) -> Result<(), IoError> {
    let padded = json.len().next_multiple_of(4);
    let bin = if binary > 0 {
        binary.saturating_add(8)
    } else {
        0
    };
    put_json(out, json, (padded as u64).saturating_add(bin))?;
    if let (1.., Ok(length)) = (binary, u32::try_from(binary)) {
        out.put(&length.to_le_bytes())?;
        out.put(&BIN.to_le_bytes())?;
    }
    Ok(())
}

/// Header and JSON chunk; `content` is the padded JSON plus everything that follows it.
fn put_json(out: &mut AtomicFile, json: &[u8], content: u64) -> Result<(), IoError> {
    let padded = json.len().next_multiple_of(4);
    let words = u32::try_from(content.saturating_add(20))
        .ok()
        .zip(u32::try_from(padded).ok());
    let Some((total, padded32)) = words else {
        return Err(too_large(out.path(), content));
    };
    for word in [MAGIC, 2, total, padded32, JSON] {
        out.put(&word.to_le_bytes())?;
    }
    out.put(json)?;
    out.put(&b"   "[..padded - json.len()])
}

/// Writes a whole file: JSON text and everything after the JSON chunk.
pub(super) fn put_file(out: &mut AtomicFile, json: &[u8], rest: &[u8]) -> Result<(), IoError> {
    let padded = json.len().next_multiple_of(4);
    put_json(out, json, (padded + rest.len()) as u64)?;
    out.put(rest)
}
