//! Reads parts of a file that is too large for memory.

use crate::IoError;
use crate::fault::{cannot_read, malformed};
use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// An open file, read in parts.
#[derive(Debug)]
pub struct RangeReader {
    path: PathBuf,
    file: Content,
    length: u64,
}

#[derive(Debug)]
enum Content {
    File(File),
    Bytes(Cursor<Vec<u8>>),
}

impl RangeReader {
    /// Opens a file.
    ///
    /// # Errors
    /// [`IoError::Read`].
    pub fn open(path: &Path) -> Result<Self, IoError> {
        let file = File::open(path).map_err(cannot_read(path))?;
        let length = file.metadata().map_err(cannot_read(path))?.len();
        Ok(Self {
            path: path.to_owned(),
            file: Content::File(file),
            length,
        })
    }

    /// The same for bytes in memory. `path` only appears in errors.
    pub fn of_bytes(path: &Path, bytes: Vec<u8>) -> Self {
        Self {
            path: path.to_owned(),
            length: bytes.len() as u64,
            file: Content::Bytes(Cursor::new(bytes)),
        }
    }

    /// Size of the file in bytes when it was opened.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Fills `out` with the bytes from `offset`.
    ///
    /// # Errors
    /// [`IoError::Malformed`] if the file is too short; [`IoError::Read`].
    pub fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<(), IoError> {
        let wanted = offset.checked_add(out.len() as u64);
        if wanted.is_none_or(|end| end > self.length) {
            return Err(malformed(
                &self.path,
                format!("byte {offset}"),
                format!("a file of {} bytes", self.length),
                format!("{} more bytes at this offset", out.len()),
            ));
        }
        let start = SeekFrom::Start(offset);
        let read = match &mut self.file {
            Content::File(file) => file.seek(start).and_then(|_| file.read_exact(out)),
            Content::Bytes(bytes) => bytes.seek(start).and_then(|_| bytes.read_exact(out)),
        };
        read.map_err(cannot_read(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back_and_what_is_beyond_the_end_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("numbers");
        std::fs::write(&path, [1, 2, 3, 4, 5]).expect("written");
        let mut file = RangeReader::open(&path).expect("there");
        let mut two = [0; 2];
        file.read_at(3, &mut two).expect("within");
        assert_eq!((two, file.length()), ([4, 5], 5));
        file.read_at(0, &mut two).expect("backwards");
        assert_eq!(two, [1, 2]);
        let error = file.read_at(4, &mut two).expect_err("one too far");
        assert!(error.to_string().contains("a file of 5 bytes"), "{error}");
        assert!(file.read_at(u64::MAX, &mut two).is_err());
    }
}
