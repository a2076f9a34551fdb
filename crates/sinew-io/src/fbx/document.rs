//! The glTF document that an FBX file becomes.

use crate::IoError;
use crate::fault::{malformed, warning};
use crate::gltf_write::{Appended, floats, glb_bytes};
use serde_json::json;
use sinew_geom::Warning;
use std::path::Path;

/// Bytes that any file may unpack to, even a small one.
pub(super) const FREE_BYTES: u64 = 64 << 20;
/// Unpacked bytes allowed per byte of the file. Instances and shared shapes multiply data.
pub(super) const BYTES_FOR_A_BYTE: u64 = 1024;

/// Bytes that a file of `size` bytes may unpack to.
pub(super) fn allowance(size: usize) -> u64 {
    (size as u64)
        .saturating_mul(BYTES_FOR_A_BYTE)
        .saturating_add(FREE_BYTES)
}

/// A document in the making.
pub(super) struct Document<'a> {
    pub(super) out: Appended<'a>,
    pub(super) warnings: Vec<Warning>,
    path: &'a Path,
    /// Bytes of the file.
    size: usize,
    /// Bytes that may still be unpacked.
    budget: u64,
}

impl<'a> Document<'a> {
    pub(super) fn new(path: &'a Path, size: usize) -> Result<Self, IoError> {
        let root = json!({
            "asset": { "version": "2.0", "generator": concat!("sinew ", env!("CARGO_PKG_VERSION")) },
            "scene": 0,
            "scenes": [{}],
        });
        Ok(Self {
            out: Appended::new(root, path, 0, true)?,
            warnings: Vec::new(),
            path,
            size,
            budget: allowance(size),
        })
    }

    pub(super) fn malformed(
        &self,
        location: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> IoError {
        malformed(self.path, location, found, expected)
    }

    pub(super) fn path(&self) -> &'a Path {
        self.path
    }

    /// Memory of the library for one job.
    pub(super) fn memory(&self) -> ufbx::AllocatorOpts {
        super::load::memory(self.size)
    }

    pub(super) fn warn(&mut self, code: &'static str, message: impl Into<String>) {
        self.warnings.push(warning(code, message));
    }

    /// Reserves `count` elements of `size` bytes from the limit for unpacked data.
    pub(super) fn spend(
        &mut self,
        location: &str,
        count: usize,
        size: usize,
    ) -> Result<(), IoError> {
        let bytes = (count as u64).saturating_mul(size as u64);
        match self.budget.checked_sub(bytes) {
            Some(left) => self.budget = left,
            None => {
                return Err(self.malformed(
                    location,
                    format!("{bytes} more bytes of unpacked data, which exceeds the limit"),
                    format!(
                        "in total at most {BYTES_FOR_A_BYTE} bytes per byte of the file, plus {} MiB",
                        FREE_BYTES >> 20
                    ),
                ));
            }
        }
        Ok(())
    }

    /// An accessor of floats, `width` of them per element of type `kind`.
    pub(super) fn floats(&mut self, numbers: &[f32], width: usize, kind: &str) -> usize {
        floats(&mut self.out, numbers, width, kind)
    }

    /// The bytes of the GLB file.
    pub(super) fn glb(self) -> Result<Vec<u8>, IoError> {
        let path = self.path;
        let (mut root, _, mut binary) = self.out.finish();
        if let Some(lists) = root.as_object_mut() {
            lists.retain(|_, list| !list.is_null());
        }
        let text = serde_json::to_vec(&root)
            .map_err(|e| malformed(path, "document", e.to_string(), "valid JSON"))?;
        binary.resize(binary.len().next_multiple_of(4).max(4), 0);
        glb_bytes(path, &text, &binary)
    }
}

/// A name in a message.
pub(super) fn quoted(kind: &str, name: &str) -> String {
    format!("{kind} '{}'", name.escape_debug())
}
