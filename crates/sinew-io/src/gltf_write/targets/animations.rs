//! Animated weights of a mesh that gets more targets: a key holds one number a target.

use super::appended::Appended;
use crate::{GltfSource, IoError};
use serde_json::Value;
use std::collections::BTreeSet;

/// Gives each key of each channel that animates the weights of `mesh` zeros for `more` targets behind those of the `before`
/// that it has.
pub(super) fn widen(
    file: &mut Appended<'_>,
    source: &GltfSource,
    mesh: usize,
    before: usize,
    more: usize,
) -> Result<(), IoError> {
    let nodes = file.nodes_of_mesh(mesh);
    let animations = file.root["animations"].as_array().map_or(0, Vec::len);
    for a in 0..animations {
        for s in samplers(&file.root["animations"][a], &nodes) {
            let place = format!("animations[{a}].samplers[{s}].output");
            let output = index(&file.root["animations"][a]["samplers"][s]["output"]);
            let rows = widened(file, source, output, before, more, &place)?;
            let mut accessor = file.root["accessors"][output].clone();
            let count = accessor["count"].as_u64().unwrap_or(0) as usize;
            accessor["count"] = (count / before.max(1) * (before + more)).into();
            accessor["byteOffset"] = 0.into();
            accessor["bufferView"] = file.view(&rows).into();
            if let Some(fields) = accessor.as_object_mut() {
                fields.remove("min");
                fields.remove("max");
            }
            let accessor = file.add("accessors", accessor);
            file.root["animations"][a]["samplers"][s]["output"] = accessor.into();
        }
    }
    Ok(())
}

fn index(value: &Value) -> usize {
    let number = value.as_u64().and_then(|n| usize::try_from(n).ok());
    number.unwrap_or(usize::MAX)
}

/// The samplers of an animation that drive the weights of one of the nodes.
fn samplers(animation: &Value, nodes: &[usize]) -> BTreeSet<usize> {
    let channels = animation["channels"].as_array();
    let drives = |c: &&Value| {
        c["target"]["path"] == "weights" && nodes.contains(&index(&c["target"]["node"]))
    };
    let found = channels.into_iter().flatten().filter(drives);
    found.map(|c| index(&c["sampler"])).collect()
}

/// The bytes of an accessor of numbers, with zeros behind every `before` of them.
fn widened(
    file: &Appended<'_>,
    source: &GltfSource,
    accessor: usize,
    before: usize,
    more: usize,
    place: &str,
) -> Result<Vec<u8>, IoError> {
    let odd = || {
        file.unsupported(
            place.to_owned(),
            "adding a target to weights that are compressed, sparse or interleaved".into(),
            "export the animation plainly",
        )
    };
    let accessor = &file.root["accessors"][accessor];
    let view = &file.root["bufferViews"][index(&accessor["bufferView"])];
    let size = match accessor["componentType"].as_u64() {
        Some(5120 | 5121) => 1,
        Some(5122 | 5123) => 2,
        Some(5126) => 4,
        _ => return Err(odd()),
    };
    let is_plain = accessor["type"] == "SCALAR"
        && accessor["sparse"].is_null()
        && view["byteStride"].is_null()
        && view["extensions"].is_null();
    let count = index(&accessor["count"]);
    if !is_plain || before == 0 || !count.is_multiple_of(before) {
        return Err(odd());
    }
    let offset = |v: &Value| v.as_u64().unwrap_or(0) as usize;
    let start = offset(&view["byteOffset"]).saturating_add(offset(&accessor["byteOffset"]));
    let end = count.checked_mul(size).and_then(|n| n.checked_add(start));
    let buffer = source.buffers.get(index(&view["buffer"]));
    let bytes = buffer.and_then(|b| b.as_ref()).map(|b| b.bytes());
    let bytes = bytes.zip(end).and_then(|(b, end)| b.get(start..end));
    let rows = bytes.ok_or_else(odd)?.chunks_exact(before * size);
    let mut out = Vec::with_capacity(rows.len() * (before + more) * size);
    for row in rows {
        out.extend_from_slice(row);
        out.resize(out.len() + more * size, 0);
    }
    Ok(out)
}
