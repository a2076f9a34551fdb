//! The GLB container and the JSON document.

use super::GltfBuffer;
use crate::IoError;
use crate::bytes::without_mark;
use crate::json_place;
use serde_json::Value;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MAGIC: &[u8; 4] = b"glTF";
const CHUNK_JSON: u32 = 0x4E4F_534A;
const CHUNK_BIN: u32 = 0x004E_4942;
/// Stands for the missing target node of a channel that an extension drives. The document types require a node.
pub(super) const NO_NODE: u32 = u32::MAX;

/// The two parts of a file: document and embedded binary.
#[derive(Debug)]
pub(super) struct Container {
    pub(super) json: Value,
    pub(super) root: gltf_json::Root,
    pub(super) bin: Option<GltfBuffer>,
    /// Bytes of the file.
    pub(super) size: usize,
}

fn malformed(path: &Path, location: String, found: String, expected: impl Into<String>) -> IoError {
    IoError::Malformed {
        path: path.to_owned(),
        location,
        found,
        expected: expected.into(),
    }
}

/// Splits a GLB or takes plain JSON. Parses the document.
pub(super) fn open(bytes: Vec<u8>, path: &Path) -> Result<Container, IoError> {
    let owner = Arc::new(bytes);
    let (json_range, bin) = if owner.starts_with(MAGIC) {
        split_glb(&owner, path)?
    } else if is_text(&owner) {
        (0..owner.len(), None)
    } else {
        let head = String::from_utf8_lossy(&owner[..owner.len().min(4)]).into_owned();
        return Err(malformed(
            path,
            "byte 0".into(),
            format!("{head:?}"),
            "\"glTF\" (a GLB file) or a JSON document",
        ));
    };
    let text = without_mark(&owner[json_range]);
    let text = std::str::from_utf8(text).map_err(|e| {
        let location = format!("byte {} of the JSON", e.valid_up_to());
        malformed(
            path,
            location,
            "text that is not UTF-8".into(),
            "a JSON document",
        )
    })?;
    let json: Value = serde_json::from_str(text).map_err(|e| {
        let location = format!("JSON line {} column {}", e.line(), e.column());
        malformed(path, location, e.to_string(), "a JSON document")
    })?;
    let root = parse_root(text, &json, path)?;
    let size = owner.len();
    let bin = bin.map(|range| GltfBuffer { owner, range });
    Ok(Container {
        json,
        root,
        bin,
        size,
    })
}

fn is_text(bytes: &[u8]) -> bool {
    let bytes = without_mark(bytes);
    bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{')
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

type Chunks = (Range<usize>, Option<Range<usize>>);

fn split_glb(bytes: &[u8], path: &Path) -> Result<Chunks, IoError> {
    let (Some(version), Some(stated)) = (u32_at(bytes, 4), u32_at(bytes, 8)) else {
        return Err(malformed(
            path,
            format!("byte {}", bytes.len()),
            format!("the end of the file after {} bytes", bytes.len()),
            "a GLB header (12 bytes)",
        ));
    };
    if version != 2 {
        return Err(IoError::Unsupported {
            path: path.to_owned(),
            location: "byte 4".into(),
            feature: format!("GLB version {version}"),
            help: "convert the file to glTF 2.0".into(),
        });
    }
    let end = stated as usize;
    if end > bytes.len() || end < 12 {
        return Err(malformed(
            path,
            "byte 8".into(),
            format!("a stated length of {stated} bytes"),
            format!("at most the {} bytes of the file", bytes.len()),
        ));
    }
    let (mut json, mut bin) = (None, None);
    let mut at = 12;
    while at < end {
        let chunk = chunk_at(&bytes[..end], at, path)?;
        match chunk.0 {
            CHUNK_JSON if json.is_none() => json = Some(chunk.1.clone()),
            CHUNK_BIN if bin.is_none() => bin = Some(chunk.1.clone()),
            // The specification asks readers to skip chunks they do not know.
            _ => {}
        }
        at = chunk.1.end;
    }
    let Some(json) = json else {
        return Err(malformed(
            path,
            "byte 12".into(),
            "no JSON chunk".into(),
            "a JSON chunk first",
        ));
    };
    Ok((json, bin))
}

fn chunk_at(bytes: &[u8], at: usize, path: &Path) -> Result<(u32, Range<usize>), IoError> {
    let (Some(length), Some(kind)) = (u32_at(bytes, at), u32_at(bytes, at + 4)) else {
        return Err(malformed(
            path,
            format!("byte {at}"),
            format!("{} bytes", bytes.len() - at),
            "a chunk header (8 bytes)",
        ));
    };
    let start = at + 8;
    let left = bytes.len() - start;
    if length as usize > left {
        return Err(malformed(
            path,
            format!("byte {at}"),
            format!("a chunk of {length} bytes"),
            format!("at most the {left} bytes left"),
        ));
    }
    Ok((kind, start..start + length as usize))
}

fn parse_root(text: &str, json: &Value, path: &Path) -> Result<gltf_json::Root, IoError> {
    check_version(json, path)?;
    let patched = completed(json).map(|json| json.to_string());
    let text = patched.as_deref().unwrap_or(text);
    // Their parser instead of ours over their types, since that is compiled once.
    gltf_json::Root::from_str(text).map_err(|error| {
        let (location, found) = json_place::explain(text, &error);
        let location = if location == "." {
            "document".into()
        } else {
            location
        };
        malformed(path, location, found, "a valid glTF 2.0 document")
    })
}

fn check_version(json: &Value, path: &Path) -> Result<(), IoError> {
    let asset = &json["asset"];
    let version = asset["minVersion"].as_str().or(asset["version"].as_str());
    match version {
        Some(v) if v == "2.0" || v.starts_with("2.") => Ok(()),
        Some(v) => Err(IoError::Unsupported {
            path: path.to_owned(),
            location: "asset.version".into(),
            feature: format!("glTF version {v}"),
            help: "convert the file to glTF 2.0".into(),
        }),
        None => Err(malformed(
            path,
            "asset.version".into(),
            "no version".into(),
            "\"2.0\"",
        )),
    }
}

/// A copy with members that are optional in glTF but required by the document types: the nodes of a scene, the node of
/// an animation channel. Pointers to a node transform become plain channels ([`plain_channels`]). `None` if nothing
/// changes.
fn completed(json: &Value) -> Option<Value> {
    let lacks_nodes = |s: &Value| s.is_object() && s.get("nodes").is_none();
    let lacks_node = |c: &Value| c["target"].is_object() && c["target"].get("node").is_none();
    let mut channels = items(&json["animations"]).flat_map(|a| items(&a["channels"]));
    if !items(&json["scenes"]).any(lacks_nodes) && !channels.any(lacks_node) {
        return None;
    }
    let mut json = json.clone();
    plain_channels(&mut json);
    for channel in channels_mut(&mut json).filter(|c| lacks_node(c)) {
        channel["target"]["node"] = NO_NODE.into();
    }
    let scenes = json.get_mut("scenes").and_then(Value::as_array_mut);
    for scene in scenes.into_iter().flatten().filter(|s| lacks_nodes(s)) {
        scene["nodes"] = Value::Array(Vec::new());
    }
    Some(json)
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn channels_mut(json: &mut Value) -> impl Iterator<Item = &mut Value> {
    let animations = json.get_mut("animations").and_then(Value::as_array_mut);
    let animations = animations.into_iter().flatten();
    let channels = animations.filter_map(|a| a.get_mut("channels")?.as_array_mut());
    channels.flatten()
}

/// Converts channels whose `KHR_animation_pointer` targets the translation, rotation, scale or weights of a node into
/// plain channels.
pub(crate) fn plain_channels(json: &mut Value) {
    for channel in channels_mut(json) {
        let target = &mut channel["target"];
        if target["path"] != "pointer" {
            continue;
        }
        let pointer = target["extensions"]["KHR_animation_pointer"]["pointer"].as_str();
        let Some((node, path)) = pointer.and_then(|p| p.strip_prefix("/nodes/")?.split_once('/'))
        else {
            continue;
        };
        let is_plain = matches!(path, "translation" | "rotation" | "scale" | "weights");
        if let (Ok(node), true) = (node.parse::<u32>(), is_plain) {
            *target = serde_json::json!({ "node": node, "path": path });
        }
    }
}

/// Name of a document without a file, for errors.
pub(super) fn display_path(name: &str, base_dir: Option<&Path>) -> PathBuf {
    base_dir.map_or_else(|| PathBuf::from(name), |d| d.join(name))
}
