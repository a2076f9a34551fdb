//! Reads little-endian numbers from bytes with bounds checks.

use crate::IoError;
use crate::fault::malformed;
use std::path::Path;

/// A position in bytes.
pub(super) struct Cursor<'a> {
    pub(super) path: &'a Path,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(path: &'a Path, bytes: &'a [u8]) -> Self {
        Self { path, bytes, at: 0 }
    }

    /// Remaining bytes.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Number of bytes read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Takes the next bytes. `what` is their name for errors.
    pub(super) fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], IoError> {
        if count > self.left() {
            return Err(malformed(
                self.path,
                format!("byte {}, {what}", self.at),
                format!("{} bytes up to the end of the file", self.left()),
                format!("{count} bytes"),
            ));
        }
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    pub(super) fn i32(&mut self, what: &str) -> Result<i32, IoError> {
        let bytes = self.take(4, what)?;
        Ok(i32::from_le_bytes(word(bytes)))
    }

    pub(super) fn f32(&mut self, what: &str) -> Result<f32, IoError> {
        let bytes = self.take(4, what)?;
        Ok(f32::from_le_bytes(word(bytes)))
    }

    /// Reads a count of entries with at least `each` bytes, all of which must be in the remaining bytes.
    pub(super) fn count(&mut self, each: usize, what: &str) -> Result<usize, IoError> {
        let location = format!("byte {}, {what}", self.at);
        let found = self.i32(what)?;
        let most = self.left() / each;
        match usize::try_from(found) {
            Ok(count) if count <= most => Ok(count),
            _ => Err(malformed(
                self.path,
                location,
                found.to_string(),
                format!("0 to {most}, the number that fits in the remaining bytes"),
            )),
        }
    }
}

fn word(bytes: &[u8]) -> [u8; 4] {
    let mut word = [0; 4];
    word.copy_from_slice(bytes);
    word
}

/// Little-endian floats. Ignores an incomplete one at the end.
pub(super) fn floats(bytes: &[u8]) -> Vec<f32> {
    let words = bytes.as_chunks::<4>().0;
    words.iter().map(|w| f32::from_le_bytes(*w)).collect()
}
