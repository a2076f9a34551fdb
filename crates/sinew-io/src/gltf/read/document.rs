//! The parsed document with its bytes, and errors about it.

use super::GltfBuffer;
use super::container::Container;
use crate::IoError;
use serde_json::Value;
use sinew_geom::Warning;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that any file may unpack to, even a small one.
const FREE_BYTES: u64 = 64 << 20;
/// Unpacked bytes allowed per byte of the file. Shared meshes, accessors without bytes and compressed views multiply
/// data. Without this limit, a file of 1 kB could require all memory.
const BYTES_FOR_A_BYTE: u64 = 1024;

/// All data that the other modules read.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) path: PathBuf,
    pub(super) json: Value,
    pub(super) root: gltf_json::Root,
    pub(super) buffers: Vec<Option<GltfBuffer>>,
    /// Decompressed bytes of each compressed view.
    pub(super) decompressed: Vec<Option<Arc<Vec<u8>>>>,
    /// Remaining bytes of the limit.
    budget: Cell<u64>,
}

/// Bytes of a buffer view.
#[derive(Clone, Copy, Debug)]
pub(super) struct ViewBytes<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) stride: Option<usize>,
}

impl Document {
    pub(super) fn new(
        mut container: Container,
        path: PathBuf,
        base_dir: Option<&Path>,
    ) -> Result<Self, IoError> {
        let mut doc = Self {
            path,
            json: std::mem::take(&mut container.json),
            root: gltf_json::Root::default(),
            buffers: Vec::new(),
            decompressed: Vec::new(),
            budget: Cell::new(0),
        };
        doc.buffers = super::buffers::load(&doc, &container, base_dir)?;
        let buffers = doc.buffers.iter().flatten().map(|b| b.bytes().len());
        let there = buffers.fold(container.size, usize::saturating_add) as u64;
        let budget = there
            .saturating_mul(BYTES_FOR_A_BYTE)
            .saturating_add(FREE_BYTES);
        doc.budget.set(budget);
        doc.root = container.root;
        doc.decompressed = super::buffers::decompress(&doc)?;
        Ok(doc)
    }

    pub(super) fn malformed(
        &self,
        location: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> IoError {
        IoError::Malformed {
            path: self.path.clone(),
            location: location.into(),
            found: found.into(),
            expected: expected.into(),
        }
    }

    /// Reserves `count` elements of `size` bytes from the limit for unpacked data. Call it before you allocate them.
    pub(super) fn spend(&self, location: &str, count: usize, size: usize) -> Result<(), IoError> {
        let bytes = (count as u64).saturating_mul(size as u64);
        match self.budget.get().checked_sub(bytes) {
            Some(left) => {
                self.budget.set(left);
                Ok(())
            }
            None => Err(self.malformed(
                location,
                format!("{bytes} more bytes of unpacked data, which exceeds the limit"),
                format!(
                    "in total at most {BYTES_FOR_A_BYTE} bytes per byte of the file, plus {} MiB",
                    FREE_BYTES >> 20
                ),
            )),
        }
    }

    /// The error for an index out of range.
    pub(super) fn no_such(
        &self,
        location: &str,
        list: &str,
        index: usize,
        count: usize,
    ) -> IoError {
        self.malformed(
            location,
            format!("{list}[{index}]"),
            format!("an index below {count}"),
        )
    }

    /// `length` bytes at `offset` of a buffer.
    pub(super) fn buffer_range(
        &self,
        location: &str,
        buffer: usize,
        offset: u64,
        length: u64,
    ) -> Result<&[u8], IoError> {
        let Some(entry) = self.buffers.get(buffer) else {
            return Err(self.no_such(location, "buffers", buffer, self.buffers.len()));
        };
        let Some(bytes) = entry else {
            return Err(self.malformed(
                location,
                format!("buffers[{buffer}], which has no data"),
                "a buffer with data",
            ));
        };
        let bytes = bytes.bytes();
        usize::try_from(offset)
            .ok()
            .zip(usize::try_from(length).ok())
            .and_then(|(o, l)| bytes.get(o..o.checked_add(l)?))
            .ok_or_else(|| {
                self.malformed(
                    location,
                    format!("{length} bytes at byte {offset}"),
                    format!(
                        "a range inside the {} bytes of buffers[{buffer}]",
                        bytes.len()
                    ),
                )
            })
    }

    pub(super) fn view(&self, index: usize, location: &str) -> Result<ViewBytes<'_>, IoError> {
        let Some(view) = self.root.buffer_views.get(index) else {
            let count = self.root.buffer_views.len();
            return Err(self.no_such(location, "bufferViews", index, count));
        };
        let stride = view.byte_stride.map(|s| s.0);
        if let Some(Some(bytes)) = self.decompressed.get(index) {
            return Ok(ViewBytes { bytes, stride });
        }
        let bytes = self.buffer_range(
            &format!("bufferViews[{index}]"),
            view.buffer.value(),
            view.byte_offset.unwrap_or_default().0,
            view.byte_length.0,
        )?;
        Ok(ViewBytes { bytes, stride })
    }
}

/// Collects warnings. It does not merge equal codes; callers count first.
#[derive(Debug, Default)]
pub(super) struct Warnings(pub(super) Vec<Warning>);

impl Warnings {
    pub(super) fn push(&mut self, code: &'static str, message: String) {
        self.0.push(Warning { code, message });
    }
}
