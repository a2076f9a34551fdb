//! Animated weights of a mesh with new targets: each key has one number per target.

use super::appended::Appended;
use super::push;
use crate::{GltfSource, IoError};
use serde_json::Value;
use std::collections::BTreeSet;

/// Appends zeros for `more` targets to each key of each channel that animates the weights of `mesh`, which has `before`
/// targets. A sampler that also drives something else (such as the weights of another mesh) stays; these channels get
/// their own copy.
pub(in super::super) fn widen(
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
            let animation = &mut file.root["animations"][a];
            let own = match is_shared(animation, s, &nodes) {
                true => split(animation, s, &nodes),
                false => s,
            };
            animation["samplers"][own]["output"] = accessor.into();
        }
    }
    Ok(())
}

/// Gives the weight channels of these nodes a copy of their sampler. Gives its index.
fn split(animation: &mut Value, sampler: usize, nodes: &[usize]) -> usize {
    let copy = animation["samplers"][sampler].clone();
    let own = animation["samplers"].as_array().map_or(0, Vec::len);
    push(&mut animation["samplers"], copy);
    for channel in animation["channels"].as_array_mut().into_iter().flatten() {
        if index(&channel["sampler"]) == sampler && is_weights_of(channel, nodes) {
            channel["sampler"] = own.into();
        }
    }
    own
}

fn is_weights_of(channel: &Value, nodes: &[usize]) -> bool {
    channel["target"]["path"] == "weights" && nodes.contains(&index(&channel["target"]["node"]))
}

fn index(value: &Value) -> usize {
    let number = value.as_u64().and_then(|n| usize::try_from(n).ok());
    number.unwrap_or(usize::MAX)
}

/// Samplers of an animation that drive weights of one of the nodes.
fn samplers(animation: &Value, nodes: &[usize]) -> BTreeSet<usize> {
    let channels = animation["channels"].as_array();
    let found = channels.into_iter().flatten();
    let found = found.filter(|c| is_weights_of(c, nodes));
    found.map(|c| index(&c["sampler"])).collect()
}

/// The bytes of an accessor, with zeros after every `before` numbers.
fn widened(
    file: &Appended<'_>,
    source: &GltfSource,
    accessor: usize,
    before: usize,
    more: usize,
    place: &str,
) -> Result<Vec<u8>, IoError> {
    let adding =
        "adding a morph target to a mesh with compressed, sparse or interleaved weight animation";
    let numbers = plain_numbers(file, source, accessor, before);
    let numbers = numbers.ok_or_else(|| {
        file.unsupported(
            place.to_owned(),
            adding.into(),
            "export the animation without compression, sparse or interleaved accessors",
        )
    })?;
    let size = numbers.size;
    let rows = numbers.bytes.chunks_exact(before * size);
    let mut out = Vec::with_capacity(rows.len() * (before + more) * size);
    for row in rows {
        out.extend_from_slice(row);
        out.resize(out.len() + more * size, 0);
    }
    Ok(out)
}

/// Numbers of an accessor, stored one after another.
struct PlainNumbers<'a> {
    component: u64,
    /// Bytes per number.
    size: usize,
    bytes: &'a [u8],
}

/// `None` for compressed, sparse or interleaved data, and if the count is not a multiple of `row`.
fn plain_numbers<'a>(
    file: &Appended<'_>,
    source: &'a GltfSource,
    accessor: usize,
    row: usize,
) -> Option<PlainNumbers<'a>> {
    let accessor = &file.root["accessors"][accessor];
    let view = &file.root["bufferViews"][index(&accessor["bufferView"])];
    let component = accessor["componentType"].as_u64()?;
    let size = match component {
        5120 | 5121 => 1,
        5122 | 5123 => 2,
        5126 => 4,
        _ => return None,
    };
    let is_plain = accessor["type"] == "SCALAR"
        && accessor["sparse"].is_null()
        && view["byteStride"].is_null()
        && view["extensions"].is_null();
    let count = index(&accessor["count"]);
    if !is_plain || row == 0 || !count.is_multiple_of(row) {
        return None;
    }
    let offset = |v: &Value| v.as_u64().unwrap_or(0) as usize;
    let start = offset(&view["byteOffset"]).saturating_add(offset(&accessor["byteOffset"]));
    let end = count.checked_mul(size)?.checked_add(start)?;
    let buffer = source.buffers.get(index(&view["buffer"]))?.as_ref()?;
    let bytes = buffer.bytes().get(start..end)?;
    Some(PlainNumbers {
        component,
        size,
        bytes,
    })
}

impl PlainNumbers<'_> {
    /// Values of the numbers. Integers are normalised (glTF 2.0, "Animations").
    fn values(&self) -> Vec<f64> {
        let value = |b: &[u8]| match (self.component, b) {
            (5120, &[a]) => (f64::from(i8::from_le_bytes([a])) / 127.0).max(-1.0),
            (5121, &[a]) => f64::from(a) / 255.0,
            (5122, &[a, b]) => (f64::from(i16::from_le_bytes([a, b])) / 32767.0).max(-1.0),
            (5123, &[a, b]) => f64::from(u16::from_le_bytes([a, b])) / 65535.0,
            (_, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
            _ => 0.0,
        };
        self.bytes.chunks_exact(self.size).map(value).collect()
    }
}

/// Replaces each key of each channel that animates the weights of `mesh` by `of_row` of its `before` numbers. `of_row`
/// must be linear, so that it is valid for all interpolations, including spline tangents. Gives the previous outputs of
/// the samplers.
pub(super) fn remix(
    file: &mut Appended<'_>,
    source: &GltfSource,
    mesh: usize,
    before: usize,
    of_row: &dyn Fn(&[f64]) -> Vec<f32>,
) -> Result<Vec<(Remixed, Vec<f32>)>, IoError> {
    let nodes = file.nodes_of_mesh(mesh);
    let mut out = Vec::new();
    for a in 0..file.root["animations"].as_array().map_or(0, Vec::len) {
        for s in samplers(&file.root["animations"][a], &nodes) {
            let clip = &file.root["animations"][a];
            let refused = |what: &str| {
                let name = clip["name"].as_str().unwrap_or_default();
                file.unsupported(
                    format!("animations[{a}].samplers[{s}].output"),
                    format!("replacing targets whose weights clip '{name}' animates {what}"),
                    "export the animation with plain accessors and one sampler per node",
                )
            };
            if is_shared(clip, s, &nodes) {
                return Err(refused("together with something else"));
            }
            let output = index(&clip["samplers"][s]["output"]);
            let numbers = plain_numbers(file, source, output, before);
            let numbers = numbers.ok_or_else(|| refused("compressed, sparse or interleaved"))?;
            let values = numbers.values();
            let rows = values.chunks_exact(before).flat_map(of_row).collect();
            let place = Remixed {
                animation: a,
                sampler: s,
                output,
            };
            out.push((place, rows));
        }
    }
    Ok(out)
}

/// Target of new numbers of a sampler.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remixed {
    pub(super) animation: usize,
    pub(super) sampler: usize,
    /// Its previous accessor.
    pub(super) output: usize,
}

/// True if a sampler also drives something other than the weights of these nodes.
fn is_shared(animation: &Value, sampler: usize, nodes: &[usize]) -> bool {
    let others = |c: &&Value| index(&c["sampler"]) == sampler && !is_weights_of(c, nodes);
    let channels = animation["channels"].as_array();
    channels.into_iter().flatten().any(|c| others(&c))
}
