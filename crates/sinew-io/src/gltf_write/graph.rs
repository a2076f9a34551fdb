//! A deformer graph inside a GLB file.

use super::container::{Glb, editable, file_bytes, put_file, read_glb_chunks};
use crate::fault::malformed;
use crate::{AtomicFile, IoError};
use serde_json::{Value, json};
use std::path::Path;

/// Root extension with a graph: `{"version": "1.0", "graph": {...}}`.
pub const EXTENSION: &str = "SINEW_graph";

/// Copies a GLB file with `graph` (JSON text) in its root extension [`EXTENSION`]. Only the JSON chunk changes. An FBX file
/// is written as GLB.
///
/// # Errors
/// [`IoError::Read`], [`IoError::Write`]; [`IoError::Malformed`] if the file is not a GLB file or the graph is not a
/// JSON object.
pub fn embed_graph(glb_in: &Path, graph: &str, out: &Path) -> Result<(), IoError> {
    let graph = parse(graph, out)?;
    let bytes = editable(glb_in)?;
    let glb = read_glb_chunks(&bytes, glb_in)?;
    let text = text_with(&glb, graph, glb_in)?;
    let mut file = AtomicFile::create(out)?;
    put_file(&mut file, &text, glb.rest)?;
    file.commit()
}

/// Gives the bytes of a GLB file with `graph` (JSON text) in its root extension [`EXTENSION`]. `path` appears in
/// errors.
///
/// # Errors
/// [`IoError::Malformed`] if the bytes are not a GLB file or the graph is not a JSON object; [`IoError::Unsupported`]
/// for 4 GiB or more.
pub fn with_graph(glb: &[u8], graph: &str, path: &Path) -> Result<Vec<u8>, IoError> {
    let graph = parse(graph, path)?;
    let glb = read_glb_chunks(glb, path)?;
    let text = text_with(&glb, graph, path)?;
    file_bytes(path, &text, glb.rest)
}

/// The JSON chunk with the graph in it.
fn text_with(glb: &Glb<'_>, graph: Value, path: &Path) -> Result<Vec<u8>, IoError> {
    let mut root: Value = serde_json::from_slice(glb.json)
        .map_err(|e| malformed(path, "JSON chunk", e.to_string(), "valid JSON"))?;
    if !root.is_object() {
        return Err(malformed(path, "JSON chunk", "no object", "a JSON object"));
    }
    insert(&mut root, graph);
    serde_json::to_vec(&root).map_err(|e| malformed(path, "document", e.to_string(), "valid JSON"))
}

pub(super) fn parse(text: &str, path: &Path) -> Result<Value, IoError> {
    match serde_json::from_str::<Value>(text) {
        Ok(graph) if graph.is_object() => Ok(graph),
        Ok(_) => Err(malformed(path, "graph", "no object", "a JSON object")),
        Err(e) => Err(malformed(path, "graph", e.to_string(), "valid JSON")),
    }
}

/// Adds the extension to a document, which must be an object.
pub(super) fn insert(root: &mut Value, graph: Value) {
    if !root["extensions"].is_object() {
        root["extensions"] = json!({});
    }
    root["extensions"][EXTENSION] = json!({ "version": "1.0", "graph": graph });
    match root["extensionsUsed"].as_array_mut() {
        Some(used) if used.iter().any(|e| e == EXTENSION) => {}
        Some(used) => used.push(EXTENSION.into()),
        None => root["extensionsUsed"] = json!([EXTENSION]),
    }
}
