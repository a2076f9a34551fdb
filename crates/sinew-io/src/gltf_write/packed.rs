//! Converts any glTF file to one GLB file, so that it can be edited in place.

use super::GlbSource;
use super::container::glb_bytes;
use super::materials::image_bytes;
use crate::fault::{malformed, warning};
use crate::{GltfSource, IoError};
use serde_json::{Value, json};
use sinew_geom::Warning;

/// Extensions of buffer views that are removed when views are decompressed.
const COMPRESSION: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// Gives the file that `source` was read from as the bytes of a GLB file: one buffer, decompressed views, external
/// images embedded. Indices of nodes, meshes, accessors and all other entries stay the same. Images that cannot be read
/// stay external, with a warning.
///
/// # Errors
/// [`IoError::Malformed`] if a required view is in a buffer without bytes; [`IoError::Unsupported`] for 4 GiB or more.
pub fn packed_glb(source: &GltfSource) -> Result<(Vec<u8>, Vec<Warning>), IoError> {
    let parts = GlbSource::of(source, &source.path);
    let mut root = parts.json.clone();
    let mut binary = Vec::new();
    let mut starts = Vec::new();
    for buffer in &parts.buffers {
        starts.push(binary.len());
        binary.extend_from_slice(buffer);
        binary.resize(binary.len().next_multiple_of(4), 0);
    }
    for (index, view) in list(&mut root, "bufferViews").iter_mut().enumerate() {
        let number = |key: &str| view[key].as_u64().and_then(|n| usize::try_from(n).ok());
        let buffer = number("buffer").unwrap_or(0);
        let (offset, length) = (number("byteOffset").unwrap_or(0), number("byteLength"));
        let there = parts.buffers.get(buffer).map_or(0, |b| b.len());
        let end = length.and_then(|l| offset.checked_add(l));
        let (Some(start), Some(_)) = (starts.get(buffer), end.filter(|e| *e <= there)) else {
            let location = format!("bufferViews[{index}]");
            let found = format!("bytes {offset} to {end:?} of buffer {buffer}, which has {there}");
            return Err(malformed(
                &source.path,
                location,
                found,
                "a range inside the buffer",
            ));
        };
        view["buffer"] = 0.into();
        view["byteOffset"] = (start + offset).into();
    }
    let mut warnings = Vec::new();
    for index in 0..list(&mut root, "images").len() {
        let image = &parts.json["images"][index];
        if !image["uri"].is_string() {
            continue;
        }
        match image_bytes(&parts, image) {
            Ok((bytes, kind)) => {
                let view =
                    json!({ "buffer": 0, "byteOffset": binary.len(), "byteLength": bytes.len() });
                binary.extend_from_slice(&bytes);
                binary.resize(binary.len().next_multiple_of(4), 0);
                take_in(&mut root, index, view, &kind);
            }
            Err(why) => {
                let message = format!("image {index} is not embedded: {why}");
                warnings.push(warning("image_missing", message));
            }
        }
    }
    forget_compression(&mut root);
    if binary.is_empty() {
        binary.resize(4, 0);
    }
    root["buffers"] = json!([{ "byteLength": binary.len() }]);
    let text = serde_json::to_vec(&root)
        .map_err(|e| malformed(&source.path, "document", e.to_string(), "valid JSON"))?;
    Ok((glb_bytes(&source.path, &text, &binary)?, warnings))
}

/// Makes an image refer to a view.
fn take_in(root: &mut Value, image: usize, view: Value, kind: &str) {
    super::targets::push(&mut root["bufferViews"], view);
    let last = list(root, "bufferViews").len() - 1;
    let image = &mut root["images"][image];
    if let Some(image) = image.as_object_mut() {
        image.shift_remove("uri");
    }
    image["mimeType"] = kind.into();
    image["bufferView"] = last.into();
}

fn list<'v>(root: &'v mut Value, key: &str) -> &'v mut [Value] {
    let found = root.get_mut(key).and_then(Value::as_array_mut);
    found.map_or(&mut [], Vec::as_mut_slice)
}

fn forget_compression(root: &mut Value) {
    for key in ["extensionsUsed", "extensionsRequired"] {
        forget(root, key, &COMPRESSION);
    }
}

/// Removes names from a list of extensions, and the list if it is empty.
pub(super) fn forget(root: &mut Value, key: &str, names: &[&str]) {
    let Some(used) = root.get_mut(key).and_then(Value::as_array_mut) else {
        return;
    };
    used.retain(|e| e.as_str().is_none_or(|e| !names.contains(&e)));
    if used.is_empty()
        && let Some(root) = root.as_object_mut()
    {
        root.shift_remove(key);
    }
}
