//! Little-endian numbers in bytes, each taken only where it is there.

use crate::IoError;
use crate::fault::malformed;
use std::path::Path;

/// Goes through bytes from the front.
pub(super) struct Cursor<'a> {
    pub(super) path: &'a Path,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(path: &'a Path, bytes: &'a [u8]) -> Self {
        Self { path, bytes, at: 0 }
    }

    /// Bytes behind.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// How many bytes were taken.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The next bytes; `what` is for the message where there are fewer.
    pub(super) fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], IoError> {
        if count > self.left() {
            return Err(malformed(
                self.path,
                format!("byte {}, {what}", self.at),
                format!("{} bytes up to the end", self.left()),
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

    /// A number of things that take at least `each` bytes, all of which must still be there.
    pub(super) fn count(&mut self, each: usize, what: &str) -> Result<usize, IoError> {
        let place = format!("byte {}, {what}", self.at);
        let found = self.i32(what)?;
        let most = self.left() / each;
        match usize::try_from(found) {
            Ok(count) if count <= most => Ok(count),
            _ => Err(malformed(
                self.path,
                place,
                found.to_string(),
                format!("0 to {most}, which is what the bytes behind it have room for"),
            )),
        }
    }
}

fn word(bytes: &[u8]) -> [u8; 4] {
    let mut word = [0; 4];
    word.copy_from_slice(bytes);
    word
}

/// Floats in little-endian order; rests of less than four bytes are left out.
pub(super) fn floats(bytes: &[u8]) -> Vec<f32> {
    let words = bytes.as_chunks::<4>().0;
    words.iter().map(|w| f32::from_le_bytes(*w)).collect()
}
