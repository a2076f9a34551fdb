//! Buffers: embedded, as data URIs, or files beside the document; and views into them.

use super::compressed;
use super::document::Document;
use super::{GltfBuffer, container::Container};
use crate::IoError;
use base64::Engine;
use serde_json::Value;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Names of the compression extension, which has two.
pub(super) const MESHOPT: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// The bytes of every buffer; `None` for one that is only a placeholder for compressed data.
pub(super) fn load(
    doc: &Document,
    container: &Container,
    base_dir: Option<&Path>,
) -> Result<Vec<Option<GltfBuffer>>, IoError> {
    let mut out = Vec::with_capacity(container.root.buffers.len());
    for (index, buffer) in container.root.buffers.iter().enumerate() {
        let place = format!("buffers[{index}]");
        let loaded = match &buffer.uri {
            Some(uri) => Some(from_uri(doc, &place, uri, base_dir)?),
            None if index == 0 && container.bin.is_some() => container.bin.clone(),
            None if is_placeholder(buffer) => None,
            None => {
                return Err(doc.malformed(
                    place,
                    "neither a uri nor a BIN chunk",
                    "the bytes of the buffer",
                ));
            }
        };
        let Some(mut loaded) = loaded else {
            out.push(None);
            continue;
        };
        let stated = buffer.byte_length.0;
        let there = loaded.range.len();
        if stated > there as u64 {
            return Err(doc.malformed(
                format!("{place}.byteLength"),
                format!("{stated} bytes"),
                format!("at most the {there} bytes that are there"),
            ));
        }
        loaded.range.end = loaded.range.start + usize::try_from(stated).unwrap_or(there);
        out.push(Some(loaded));
    }
    Ok(out)
}

fn is_placeholder(buffer: &gltf_json::Buffer) -> bool {
    let Some(extensions) = &buffer.extensions else {
        return false;
    };
    MESHOPT
        .iter()
        .any(|name| extensions.others.contains_key(*name))
}

fn from_uri(
    doc: &Document,
    place: &str,
    uri: &str,
    base_dir: Option<&Path>,
) -> Result<GltfBuffer, IoError> {
    let place = format!("{place}.uri");
    if uri
        .get(..5)
        .is_some_and(|s| s.eq_ignore_ascii_case("data:"))
    {
        return data_uri(doc, &place, uri);
    }
    let relative = relative_path(uri).map_err(|found| {
        doc.malformed(
            place.as_str(),
            format!("{found}: {}", shorten(uri)),
            "a relative path inside the folder of the document",
        )
    })?;
    let Some(base) = base_dir else {
        return Err(IoError::Unsupported {
            path: doc.path.clone(),
            place,
            feature: format!("the external file {}", shorten(uri)),
            help: "read the document from its folder, or embed the buffer".into(),
        });
    };
    read_inside(doc, place, base, &relative)
}

/// Links are resolved before the check, so that none leads out of the folder.
fn read_inside(
    doc: &Document,
    place: String,
    base: &Path,
    relative: &Path,
) -> Result<GltfBuffer, IoError> {
    let path = base.join(relative);
    let read = |source| IoError::Read {
        path: path.clone(),
        source,
    };
    let base = if base.as_os_str().is_empty() {
        Path::new(".")
    } else {
        base
    };
    let real_base = base.canonicalize().map_err(read)?;
    let real = path.canonicalize().map_err(read)?;
    if !real.starts_with(&real_base) || !real.is_file() {
        return Err(doc.malformed(
            place,
            format!("{}, which leads elsewhere", relative.display()),
            "a file inside the folder of the document",
        ));
    }
    Ok(GltfBuffer::new(std::fs::read(&real).map_err(read)?))
}

fn data_uri(doc: &Document, place: &str, uri: &str) -> Result<GltfBuffer, IoError> {
    let wrong = |found: String| doc.malformed(place, found, "a data URI with base64 data");
    let Some((head, data)) = uri.split_once(',') else {
        return Err(wrong("a data URI without a comma".into()));
    };
    if !head.ends_with(";base64") {
        return Err(wrong(shorten(head)));
    }
    let engine = base64::engine::GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        base64::engine::GeneralPurposeConfig::new()
            .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
    );
    let bytes = engine.decode(data).map_err(|e| wrong(e.to_string()))?;
    Ok(GltfBuffer::new(bytes))
}

/// The path a relative URI means, or what is wrong with it.
fn relative_path(uri: &str) -> Result<PathBuf, &'static str> {
    let decoded = percent_decode(uri).ok_or("an invalid percent code")?;
    if decoded.contains('\0') || decoded.is_empty() {
        return Err("an invalid path");
    }
    if decoded.contains('\\') {
        return Err("a backslash");
    }
    if decoded.contains(':') {
        return Err("a scheme or drive");
    }
    let path = PathBuf::from(decoded);
    for part in path.components() {
        match part {
            Component::Normal(_) | Component::CurDir => {}
            Component::ParentDir => return Err("a path that leaves the folder"),
            Component::RootDir | Component::Prefix(_) => return Err("an absolute path"),
        }
    }
    Ok(path)
}

fn percent_decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        if b == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            let code = digit()? * 16 + digit()?;
            out.push(u8::try_from(code).ok()?);
        } else {
            out.push(b);
        }
    }
    String::from_utf8(out).ok()
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// Decompresses every compressed view.
pub(super) fn decompress(doc: &Document) -> Result<Vec<Option<Arc<Vec<u8>>>>, IoError> {
    let mut out = Vec::with_capacity(doc.root.buffer_views.len());
    for (index, view) in doc.root.buffer_views.iter().enumerate() {
        let extension: Option<&Value> = view
            .extensions
            .as_ref()
            .and_then(|e| MESHOPT.iter().find_map(|name| e.others.get(*name)));
        out.push(match extension {
            None => None,
            Some(e) => Some(Arc::new(compressed::decode(doc, index, e)?)),
        });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_that_leave_the_folder_are_refused() {
        for uri in [
            "../a.bin",
            "/etc/passwd",
            "a/../../b.bin",
            "%2e%2e/a.bin",
            "%2Fetc/passwd",
            "file:///a.bin",
            "https://example.com/a.bin",
            "C:%5Ca.bin",
            "..%5Ca.bin",
            "a%zz.bin",
            "a%00.bin",
            "",
        ] {
            assert!(relative_path(uri).is_err(), "{uri} must be refused");
        }
        let path = relative_path("./my%20model/b%C3%A4r.bin").expect("relative");
        assert_eq!(path, PathBuf::from("./my model/bär.bin"));
    }
}
