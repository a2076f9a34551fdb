//! A document that grows: new views follow the bytes of the first buffer.

use crate::IoError;
use crate::bytes::{put_f32s, put_u32s};
use crate::fault::malformed;
use serde_json::{Value, json};
use std::ops::Range;
use std::path::Path;

const U16: u32 = 5123;
const U32: u32 = 5125;
const F32: u32 = 5126;

/// Bytes of a written morph target attribute: `moved` of `count` vertices have a delta. Sparse if that is smaller.
pub fn delta_bytes(moved: usize, count: usize) -> usize {
    sparse_bytes(moved, count).min(count.saturating_mul(12))
}

/// An index and three numbers per row; 16-bit indices if they can address all vertices.
fn sparse_bytes(moved: usize, count: usize) -> usize {
    let indices = moved.saturating_mul(if is_short(count) { 2 } else { 4 });
    moved
        .saturating_mul(12)
        .saturating_add(indices.next_multiple_of(4))
}

/// True if 16 bits can address `count` items; the largest value is reserved.
fn is_short(count: usize) -> bool {
    count <= 0xffff
}

/// The document and the new bytes.
pub(crate) struct Appended<'a> {
    pub(crate) root: Value,
    path: &'a Path,
    /// Bytes of the existing binary chunk.
    start: usize,
    bytes: Vec<u8>,
    /// Unused entries in the document's lists.
    free: Freed,
}

/// Space that removed entries leave.
#[derive(Debug, Default)]
pub(in super::super) struct Freed {
    /// Indices in `accessors`.
    pub(super) accessors: Vec<usize>,
    /// Indices in `bufferViews`.
    pub(super) views: Vec<usize>,
    /// Increasing, disjoint ranges of the binary chunk, at multiples of four bytes.
    pub(super) bytes: Vec<Range<usize>>,
}

impl<'a> Appended<'a> {
    /// Checks that the first buffer is the binary chunk of `start` bytes, a multiple of four.
    pub(crate) fn new(
        root: Value,
        path: &'a Path,
        start: usize,
        has_binary: bool,
    ) -> Result<Self, IoError> {
        let mut out = Self {
            root,
            path,
            start,
            bytes: Vec::new(),
            free: Freed::default(),
        };
        let first = &out.root["buffers"][0];
        if first.is_null() {
            out.root["buffers"] = json!([{ "byteLength": 0 }]);
        } else if !has_binary || first["uri"].is_string() {
            return Err(out.unsupported(
                "buffers[0]".into(),
                "adding to an external buffer".into(),
                "convert the character to one GLB file",
            ));
        }
        Ok(out)
    }

    pub(in super::super) fn malformed(
        &self,
        location: &str,
        found: &str,
        expected: &str,
    ) -> IoError {
        malformed(self.path, location, found, expected)
    }

    pub(in super::super) fn unsupported(
        &self,
        location: String,
        feature: String,
        help: &str,
    ) -> IoError {
        IoError::Unsupported {
            path: self.path.to_owned(),
            location,
            feature,
            help: help.into(),
        }
    }

    /// Indices of the nodes with a mesh.
    pub(in super::super) fn nodes_of_mesh(&self, mesh: usize) -> Vec<usize> {
        let nodes = self.root["nodes"].as_array().map_or(&[][..], Vec::as_slice);
        let carries = |n: &&Value| n["mesh"].as_u64() == Some(mesh as u64);
        let found = nodes.iter().enumerate().filter(|(_, n)| carries(n));
        found.map(|(index, _)| index).collect()
    }

    /// A view of new bytes.
    pub(crate) fn view(&mut self, bytes: &[u8]) -> usize {
        let offset = self.start + self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let padded = self.bytes.len() + (self.start + self.bytes.len()).next_multiple_of(4)
            - (self.start + self.bytes.len());
        self.bytes.resize(padded, 0);
        let view = json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() });
        self.add("bufferViews", view)
    }

    /// Reuses entries for later additions, and removes bytes from the binary chunk.
    pub(in super::super) fn reuse(&mut self, free: Freed) {
        self.free = free;
    }

    /// Adds an entry to one of the document's lists: in an unused slot, or at the end.
    pub(crate) fn add(&mut self, list: &str, entry: Value) -> usize {
        let free = match list {
            "accessors" => self.free.accessors.pop(),
            "bufferViews" => self.free.views.pop(),
            _ => None,
        };
        if let Some(index) = free {
            self.root[list][index] = entry;
            return index;
        }
        super::push(&mut self.root[list], entry);
        self.root[list]
            .as_array()
            .map_or(0, Vec::len)
            .saturating_sub(1)
    }

    /// An accessor of `count` deltas that are zero except for some rows.
    pub(crate) fn deltas(&mut self, count: usize, rows: &[u32], deltas: &[[f32; 3]]) -> usize {
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
        if sparse_bytes(rows.len(), count) >= count * 12 && !rows.is_empty() {
            let mut dense = vec![[0.0; 3]; count];
            for (&row, delta) in rows.iter().zip(deltas) {
                dense[row as usize] = *delta;
            }
            accessor["bufferView"] = self.numbers(&dense).into();
        } else if !rows.is_empty() {
            let indices = self.view(&indices(rows, count));
            let values = self.numbers(deltas);
            let component = if is_short(count) { U16 } else { U32 };
            accessor["sparse"] = json!({
                "count": rows.len(),
                "indices": { "bufferView": indices, "componentType": component },
                "values": { "bufferView": values },
            });
        }
        self.add("accessors", accessor)
    }

    fn numbers(&mut self, numbers: &[[f32; 3]]) -> usize {
        let mut bytes = Vec::with_capacity(numbers.len() * 12);
        // Writing to memory cannot fail.
        let _ = put_f32s(&mut bytes, numbers.as_flattened());
        self.view(&bytes)
    }

    /// The document, the ranges to remove from the binary chunk, and the bytes to append.
    pub(crate) fn finish(mut self) -> (Value, Vec<Range<usize>>, Vec<u8>) {
        let gone: usize = self.free.bytes.iter().map(Range::len).sum();
        self.root["buffers"][0]["byteLength"] = (self.start + self.bytes.len() - gone).into();
        if gone > 0 {
            shift_views(&mut self.root["bufferViews"], &self.free.bytes);
        }
        self.free.accessors.sort_unstable();
        self.free.views.sort_unstable();
        let unused = json!({ "componentType": F32, "count": 1, "type": "SCALAR" });
        close(&mut self.root["accessors"], &self.free.accessors, &unused);
        let unused = json!({ "buffer": 0, "byteLength": 1 });
        close(&mut self.root["bufferViews"], &self.free.views, &unused);
        (self.root, self.free.bytes, self.bytes)
    }
}

/// Vertex indices in the smallest type for `count` vertices.
fn indices(rows: &[u32], count: usize) -> Vec<u8> {
    if is_short(count) {
        // All are below the count.
        let short = |row: &u32| u16::try_from(*row).unwrap_or(u16::MAX);
        return rows.iter().flat_map(|r| short(r).to_le_bytes()).collect();
    }
    let mut out = Vec::with_capacity(rows.len() * 4);
    // Writing to memory cannot fail.
    let _ = put_u32s(&mut out, rows);
    out
}

/// Shifts the offsets of views when bytes before them are removed.
fn shift_views(views: &mut Value, gone: &[Range<usize>]) {
    // Number of removed bytes before each range, and in total.
    let mut sums = vec![0];
    sums.extend(gone.iter().scan(0, |sum, r| {
        *sum += r.len();
        Some(*sum)
    }));
    let shift = |view: &mut Value| {
        let offset = view["byteOffset"].as_u64().unwrap_or(0);
        let by = sums[gone.partition_point(|r| (r.start as u64) < offset)];
        if by > 0 {
            view["byteOffset"] = (offset - by as u64).into();
        }
    };
    for view in views.as_array_mut().into_iter().flatten() {
        if view["buffer"] == 0 {
            shift(view);
        }
        let extensions = view.get_mut("extensions").and_then(Value::as_object_mut);
        for (_, compressed) in extensions.into_iter().flatten() {
            if compressed["buffer"] == 0 {
                shift(compressed);
            }
        }
    }
}

/// Removes unused entries (increasing) from the end of a list. Others stay as minimal entries, so that all indices stay
/// valid.
fn close(list: &mut Value, free: &[usize], unused: &Value) {
    let Some(list) = list.as_array_mut() else {
        return;
    };
    while list
        .len()
        .checked_sub(1)
        .is_some_and(|last| free.binary_search(&last).is_ok())
    {
        list.pop();
    }
    for &index in free {
        if let Some(entry) = list.get_mut(index) {
            *entry = unused.clone();
        }
    }
}
