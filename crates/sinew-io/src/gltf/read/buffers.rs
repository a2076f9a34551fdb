//! Buffers, embedded or external, and views into them.

#[cfg(feature = "meshopt")]
use super::compressed::decode;
use super::document::Document;
use super::{GltfBuffer, container::Container, uri};
use crate::IoError;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// The two names of the meshopt compression extension.
pub(super) const MESHOPT: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// The bytes of every buffer; `None` for a placeholder for compressed data.
pub(super) fn load(
    doc: &Document,
    container: &Container,
    base_dir: Option<&Path>,
) -> Result<Vec<Option<GltfBuffer>>, IoError> {
    let mut out = Vec::with_capacity(container.root.buffers.len());
    for (index, buffer) in container.root.buffers.iter().enumerate() {
        let location = format!("buffers[{index}]");
        let loaded = match &buffer.uri {
            Some(text) => Some(uri::read(&doc.path, &location, text, base_dir)?),
            None if index == 0 && container.bin.is_some() => container.bin.clone(),
            None if is_placeholder(buffer) => None,
            None => {
                return Err(doc.malformed(
                    location,
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
                format!("{location}.byteLength"),
                format!("{stated} bytes"),
                format!("at most the {there} bytes of the data"),
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
            Some(e) => Some(Arc::new(decode(doc, index, e)?)),
        });
    }
    Ok(out)
}

#[cfg(not(feature = "meshopt"))]
fn decode(doc: &Document, _index: usize, _extension: &Value) -> Result<Vec<u8>, IoError> {
    Err(crate::fault::not_built(
        &doc.path,
        "meshopt compression",
        "meshopt",
    ))
}
