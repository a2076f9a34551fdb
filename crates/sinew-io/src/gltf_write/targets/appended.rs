//! A document that grows: new views lie behind the bytes of the first buffer.

use crate::IoError;
use crate::bytes::{put_f32s, put_u32s};
use crate::fault::malformed;
use serde_json::{Value, json};
use std::path::Path;

const U32: u32 = 5125;
const F32: u32 = 5126;

/// The document and the new bytes.
pub(super) struct Appended<'a> {
    pub(super) root: Value,
    path: &'a Path,
    /// Bytes of the binary chunk as it is.
    start: usize,
    bytes: Vec<u8>,
}

impl<'a> Appended<'a> {
    /// Makes sure that the first buffer is the binary chunk, of `start` bytes.
    pub(super) fn new(
        root: Value,
        path: &'a Path,
        start: usize,
        has_binary: bool,
    ) -> Result<Self, IoError> {
        let mut out = Self {
            root,
            path,
            start,
            bytes: vec![0; start.next_multiple_of(4) - start],
        };
        let first = &out.root["buffers"][0];
        if first.is_null() {
            out.root["buffers"] = json!([{ "byteLength": 0 }]);
        } else if !has_binary || first["uri"].is_string() {
            return Err(out.unsupported(
                "buffers[0]".into(),
                "adding to a buffer outside of the file".into(),
                "convert the character to one GLB file",
            ));
        }
        Ok(out)
    }

    pub(super) fn malformed(&self, place: &str, found: &str, expected: &str) -> IoError {
        malformed(self.path, place, found, expected)
    }

    pub(super) fn unsupported(&self, place: String, feature: String, help: &str) -> IoError {
        IoError::Unsupported {
            path: self.path.to_owned(),
            place,
            feature,
            help: help.into(),
        }
    }

    /// Indices of the nodes that carry a mesh.
    pub(super) fn nodes_of_mesh(&self, mesh: usize) -> Vec<usize> {
        let nodes = self.root["nodes"].as_array().map_or(&[][..], Vec::as_slice);
        let carries = |n: &&Value| n["mesh"].as_u64() == Some(mesh as u64);
        let found = nodes.iter().enumerate().filter(|(_, n)| carries(n));
        found.map(|(index, _)| index).collect()
    }

    /// A view of new bytes.
    pub(super) fn view(&mut self, bytes: &[u8]) -> usize {
        let offset = self.start + self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let padded = self.bytes.len() + (self.start + self.bytes.len()).next_multiple_of(4)
            - (self.start + self.bytes.len());
        self.bytes.resize(padded, 0);
        let view = json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() });
        self.add("bufferViews", view)
    }

    /// Appends an entry to one of the document's lists.
    pub(super) fn add(&mut self, list: &str, entry: Value) -> usize {
        super::push(&mut self.root[list], entry);
        self.root[list]
            .as_array()
            .map_or(0, Vec::len)
            .saturating_sub(1)
    }

    /// An accessor of `count` deltas that are zero but for some rows.
    pub(super) fn deltas(&mut self, count: usize, rows: &[u32], deltas: &[[f32; 3]]) -> usize {
        let mut accessor = json!({ "componentType": F32, "count": count, "type": "VEC3" });
        let has_zeros = rows.len() < count;
        let bound = |pick: fn(f32, f32) -> f32| {
            let zero = has_zeros.then_some([0.0; 3]);
            let all = deltas.iter().copied().chain(zero);
            let both = all.reduce(|a, b| std::array::from_fn(|c| pick(a[c], b[c])));
            both.unwrap_or_default()
        };
        accessor["min"] = json!(bound(f32::min));
        accessor["max"] = json!(bound(f32::max));
        // A row costs 4 bytes more than its delta.
        if rows.len() * 16 >= count * 12 && !rows.is_empty() {
            let mut dense = vec![[0.0; 3]; count];
            for (&row, delta) in rows.iter().zip(deltas) {
                dense[row as usize] = *delta;
            }
            accessor["bufferView"] = self.numbers(&dense).into();
        } else if !rows.is_empty() {
            let mut indices = Vec::with_capacity(rows.len() * 4);
            // Memory takes everything.
            let _ = put_u32s(&mut indices, rows);
            let indices = self.view(&indices);
            let values = self.numbers(deltas);
            accessor["sparse"] = json!({
                "count": rows.len(),
                "indices": { "bufferView": indices, "componentType": U32 },
                "values": { "bufferView": values },
            });
        }
        self.add("accessors", accessor)
    }

    fn numbers(&mut self, numbers: &[[f32; 3]]) -> usize {
        let mut bytes = Vec::with_capacity(numbers.len() * 12);
        // Memory takes everything.
        let _ = put_f32s(&mut bytes, numbers.as_flattened());
        self.view(&bytes)
    }

    /// The document and what to put behind the bytes of the binary chunk.
    pub(super) fn finish(mut self) -> (Value, Vec<u8>) {
        self.root["buffers"][0]["byteLength"] = (self.start + self.bytes.len()).into();
        (self.root, self.bytes)
    }
}
