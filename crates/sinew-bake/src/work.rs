//! The folder in which a bake keeps what is done.
//!
//! A record is a file that says what it was made for (a key) and holds its own hash: one that is torn, damaged or of another job counts as
//! missing and is made anew. Records appear whole or not at all, so that any number of processes may share a folder.

use crate::BakeError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sinew_io::{read_bytes, write_bytes, write_text};
use std::path::{Path, PathBuf};

/// Bytes of a hash.
const HASH: usize = 32;

/// A work folder.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    folder: PathBuf,
}

/// One kind of records: a folder and an ending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind(pub(crate) &'static str, pub(crate) &'static str);

impl Work {
    pub(crate) fn at(folder: &Path) -> Self {
        let folder = folder.to_owned();
        Self { folder }
    }
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
    pub(crate) fn path(&self, kind: Kind, frame: usize) -> PathBuf {
        self.folder
            .join(kind.0)
            .join(format!("{frame:06}.{}", kind.1))
    }

    /// Writes the record of a frame.
    pub(crate) fn write<T: Serialize>(
        &self,
        kind: Kind,
        frame: usize,
        key: &str,
        value: &T,
    ) -> Result<(), BakeError> {
        let mut bytes = to_bytes(&(key, value));
        let hash = blake3::hash(&bytes);
        bytes.extend(hash.as_bytes());
        Ok(write_bytes(&self.path(kind, frame), &bytes)?)
    }

    /// Reads the record of a frame; `None` where there is none for that key.
    pub(crate) fn read<T: DeserializeOwned>(
        &self,
        kind: Kind,
        frame: usize,
        key: &str,
    ) -> Result<Option<T>, BakeError> {
        let content = self.content(kind, frame)?;
        let read = content.and_then(|c| postcard::from_bytes::<(String, T)>(&c).ok());
        Ok(read.filter(|r| r.0 == key).map(|r| r.1))
    }

    /// Whether there is a whole record for that key.
    pub(crate) fn has(&self, kind: Kind, frame: usize, key: &str) -> Result<bool, BakeError> {
        let content = self.content(kind, frame)?;
        Ok(content.is_some_and(|c| c.starts_with(&to_bytes(&key))))
    }

    /// The frames among `frames` without a whole record.
    pub(crate) fn without(
        &self,
        kind: Kind,
        frames: impl IntoIterator<Item = usize>,
        key: &str,
    ) -> Result<Vec<usize>, BakeError> {
        let mut out = Vec::new();
        for frame in frames {
            if !self.has(kind, frame, key)? {
                out.push(frame);
            }
        }
        Ok(out)
    }

    /// What a record holds, key included; `None` where there is none or it is damaged.
    fn content(&self, kind: Kind, frame: usize) -> Result<Option<Vec<u8>>, BakeError> {
        let path = self.path(kind, frame);
        if !path.exists() {
            return Ok(None);
        }
        let mut bytes = read_bytes(&path)?;
        let Some((content, hash)) = bytes.split_last_chunk::<HASH>() else {
            return Ok(None);
        };
        if blake3::hash(content).as_bytes() != hash {
            return Ok(None);
        }
        bytes.truncate(content.len());
        Ok(Some(bytes))
    }

    /// Writes a text that people may want to read, unless it is there already; tells whether it takes the place of another.
    pub(crate) fn write_text(&self, name: &str, text: &str) -> Result<bool, BakeError> {
        let path = self.file(name);
        let there = read_bytes(&path).ok();
        if there.as_deref() == Some(text.as_bytes()) {
            return Ok(false);
        }
        write_text(&path, text)?;
        Ok(there.is_some())
    }
}

/// Shortest form of a value, for hashes and records.
pub(crate) fn to_bytes<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    // Into a vector nothing can go wrong: our records have no maps without length.
    postcard::to_stdvec(value).unwrap_or_default()
}

/// A hash as text.
pub(crate) fn hash_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

/// `0-4, 9` of numbers of frames that rise.
pub(crate) fn ranges_of(frames: &[i64]) -> String {
    let mut parts: Vec<(i64, i64)> = Vec::new();
    for &frame in frames {
        match parts.last_mut() {
            Some(part) if part.1 + 1 == frame => part.1 = frame,
            _ => parts.push((frame, frame)),
        }
    }
    let texts = parts.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    texts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind("things", "thing");

    #[test]
    fn records_come_back_and_others_count_as_missing() {
        let folder = tempfile::tempdir().expect("a folder");
        let work = Work::at(folder.path());
        work.write(KIND, 3, "key", &vec![1.5_f32, 2.5])
            .expect("written");
        let read = |frame, key: &str| work.read::<Vec<f32>>(KIND, frame, key).expect("readable");
        assert_eq!(read(3, "key"), Some(vec![1.5, 2.5]));
        assert_eq!((read(3, "other"), read(4, "key")), (None, None));
        let has = |frame, key: &str| work.has(KIND, frame, key).expect("readable");
        assert!(has(3, "key") && !has(3, "kez") && !has(4, "key"));
        let path = work.path(KIND, 3);
        let whole = std::fs::read(&path).expect("there");
        for wrong in [&whole[..whole.len() - 1], &whole[..10], &[]] {
            std::fs::write(&path, wrong).expect("written");
            assert_eq!(read(3, "key"), None, "{} bytes", wrong.len());
            assert!(!has(3, "key"));
        }
        let mut flipped = whole.clone();
        flipped[6] ^= 1;
        std::fs::write(&path, flipped).expect("written");
        assert_eq!(read(3, "key"), None);
    }

    #[test]
    fn ranges_are_short() {
        assert_eq!(ranges_of(&[0, 1, 2, 5, 7, 8]), "0-2, 5, 7-8");
        assert_eq!(ranges_of(&[]), "");
    }
}
