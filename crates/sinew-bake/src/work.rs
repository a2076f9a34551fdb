//! The folder in which a bake keeps what is done.
//!
//! A record is a file that says what it was made for (a key) and holds its own hash: one that is torn, damaged or of another job counts as
//! missing and is made anew. Records appear whole or not at all, so that any number of processes may share a folder.

use crate::BakeError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sinew_io::{RangeReader, read_bytes, write_own, write_record};
use std::path::{Path, PathBuf};

/// Bytes of a hash.
const HASH: usize = 32;
/// Bytes of the length of a head.
const LENGTH: usize = 8;

/// A work folder.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    folder: PathBuf,
}

/// One kind of records: a folder and an ending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind(pub(crate) &'static str, pub(crate) &'static str);

impl Kind {
    /// Whether a file in its folder is a record of it.
    pub(crate) fn is_record(self, name: &str) -> bool {
        let number = name.strip_suffix(self.1).and_then(|n| n.strip_suffix('.'));
        number.is_some_and(|n| n.len() >= 6 && n.bytes().all(|b| b.is_ascii_digit()))
    }
}

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
        Ok(write_record(&self.path(kind, frame), &sealed(key, value))?)
    }

    /// Writes a record whose head can be read without its body: one file, since names cost more than bytes where frames are small. The body comes
    /// first, as it is, then the head with its hash, then the length of these.
    pub(crate) fn write_with_head<T: Serialize>(
        &self,
        kind: Kind,
        frame: usize,
        key: &str,
        head: &T,
        body: Vec<u8>,
    ) -> Result<(), BakeError> {
        let (mut bytes, head) = (body, sealed(key, head));
        bytes.extend(&head);
        bytes.extend((head.len() as u64).to_le_bytes());
        Ok(write_record(&self.path(kind, frame), &bytes)?)
    }

    /// The file of a frame's record, where there is one.
    fn existing(&self, kind: Kind, frame: usize) -> Option<PathBuf> {
        Some(self.path(kind, frame)).filter(|path| path.exists())
    }

    /// Reads the head of such a record; `None` where there is none for that key.
    pub(crate) fn read_head<T: DeserializeOwned>(
        &self,
        kind: Kind,
        frame: usize,
        key: &str,
    ) -> Result<Option<T>, BakeError> {
        let Some(path) = self.existing(kind, frame) else {
            return Ok(None);
        };
        let mut file = RangeReader::open(&path)?;
        let Some(end) = file.length().checked_sub(LENGTH as u64) else {
            return Ok(None);
        };
        let mut length = [0; LENGTH];
        file.read_at(end, &mut length)?;
        let length = u64::from_le_bytes(length);
        let (Some(begin), Ok(size)) = (end.checked_sub(length), usize::try_from(length)) else {
            return Ok(None);
        };
        let mut head = vec![0; size];
        file.read_at(begin, &mut head)?;
        Ok(unsealed(&head, key))
    }

    /// The body of such a record, whole or not; `None` where there is none.
    pub(crate) fn body(&self, kind: Kind, frame: usize) -> Result<Option<Vec<u8>>, BakeError> {
        let Some(path) = self.existing(kind, frame) else {
            return Ok(None);
        };
        let mut bytes = read_bytes(&path)?;
        let Some(body) = body_length(&bytes) else {
            return Ok(None);
        };
        bytes.truncate(body);
        Ok(Some(bytes))
    }

    /// Both at once, read from the file once; `None` where there is no head for that key.
    pub(crate) fn head_and_body<T: DeserializeOwned>(
        &self,
        kind: Kind,
        frame: usize,
        key: &str,
    ) -> Result<Option<(T, Vec<u8>)>, BakeError> {
        let Some(path) = self.existing(kind, frame) else {
            return Ok(None);
        };
        let mut bytes = read_bytes(&path)?;
        let Some(body) = body_length(&bytes) else {
            return Ok(None);
        };
        let head = unsealed(&bytes[body..bytes.len() - LENGTH], key);
        bytes.truncate(body);
        Ok(head.map(|head| (head, bytes)))
    }

    /// Reads the record of a frame; `None` where there is none for that key.
    pub(crate) fn read<T: DeserializeOwned>(
        &self,
        kind: Kind,
        frame: usize,
        key: &str,
    ) -> Result<Option<T>, BakeError> {
        match self.existing(kind, frame) {
            Some(path) => Ok(unsealed(&read_bytes(&path)?, key)),
            None => Ok(None),
        }
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
            let path = self.path(kind, frame);
            if !path.exists() || !is_sealed(&read_bytes(&path)?, key) {
                out.push(frame);
            }
        }
        Ok(out)
    }

    /// Writes a text that people may want to read, unless it is there already; tells whether it takes the place of another.
    pub(crate) fn write_text(&self, name: &str, text: &str) -> Result<bool, BakeError> {
        let path = self.file(name);
        let there = read_bytes(&path).ok();
        if there.as_deref() == Some(text.as_bytes()) {
            return Ok(false);
        }
        write_own(&path, text.as_bytes())?;
        Ok(there.is_some())
    }
}

/// Where the body of a record with a head ends; `None` where its length makes no sense.
fn body_length(bytes: &[u8]) -> Option<usize> {
    let (before, length) = bytes.split_last_chunk::<LENGTH>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    before.len().checked_sub(length)
}

/// A value with the key that it was made for and a hash of both.
pub(crate) fn sealed<T: Serialize>(key: &str, value: &T) -> Vec<u8> {
    let mut bytes = to_bytes(&(key, value));
    let hash = blake3::hash(&bytes);
    bytes.extend(hash.as_bytes());
    bytes
}

/// The value that was [`sealed`]; `None` where it is damaged or was made for another key.
pub(crate) fn unsealed<T: DeserializeOwned>(bytes: &[u8], key: &str) -> Option<T> {
    let (found, value) = postcard::from_bytes::<(String, T)>(whole(bytes)?).ok()?;
    (found == key).then_some(value)
}

/// Whether these are the bytes of a value that was [`sealed`] with a key.
pub(crate) fn is_sealed(bytes: &[u8], key: &str) -> bool {
    whole(bytes).is_some_and(|content| content.starts_with(&to_bytes(key)))
}

/// What is in front of a hash that is right.
fn whole(bytes: &[u8]) -> Option<&[u8]> {
    let (content, hash) = bytes.split_last_chunk::<HASH>()?;
    (blake3::hash(content).as_bytes() == hash).then_some(content)
}

/// Shortest form of a value, for hashes and records.
pub(crate) fn to_bytes<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    // Into a vector nothing can go wrong: our records have no maps without length.
    postcard::to_stdvec(value).unwrap_or_default()
}

/// A hash as text.
pub(crate) fn hash_of(bytes: &[u8]) -> String {
    short_hash(blake3::Hasher::new().update(bytes))
}

pub(crate) fn short_hash(hash: &blake3::Hasher) -> String {
    hash.finalize().to_hex()[..32].to_owned()
}

/// `frame 3`, `frames 0-4, 9` of numbers of frames that rise.
pub(crate) fn frames_words(frames: &[i64]) -> String {
    let what = if frames.len() == 1 { "frame" } else { "frames" };
    format!("{what} {}", ranges_of(frames))
}

/// `0-4, 9` of numbers that rise.
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
        let has = |frame, key: &str| {
            let without = work.without(KIND, [frame], key).expect("readable");
            without.is_empty()
        };
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
    fn heads_are_read_without_bodies_and_both_come_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let work = Work::at(folder.path());
        let body = vec![7_u8; 1000];
        let written = work.write_with_head(KIND, 5, "key", &"seen".to_owned(), body.clone());
        written.expect("written");
        let head = |key: &str| work.read_head::<String>(KIND, 5, key).expect("readable");
        assert_eq!((head("key").as_deref(), head("kez")), (Some("seen"), None));
        assert_eq!(work.body(KIND, 5).expect("readable"), Some(body.clone()));
        let both = |key: &str| {
            work.head_and_body::<String>(KIND, 5, key)
                .expect("readable")
        };
        assert_eq!(both("key"), Some(("seen".to_owned(), body)));
        assert_eq!(both("kez"), None);
        let path = work.path(KIND, 5);
        let whole = std::fs::read(&path).expect("there");
        let mut far = whole.clone();
        far[whole.len() - 2] = 0xff;
        let mut flipped = whole.clone();
        flipped[1002] ^= 1;
        for wrong in [&whole[..whole.len() - 1], &whole[..5], &[], &far, &flipped] {
            std::fs::write(&path, wrong).expect("written");
            assert_eq!(head("key"), None, "{} bytes", wrong.len());
            assert_eq!(both("key"), None, "{} bytes", wrong.len());
        }
        for wrong in [&whole[..5], &far] {
            std::fs::write(&path, wrong).expect("written");
            assert_eq!(work.body(KIND, 5).expect("readable"), None);
        }
        assert_eq!(work.body(KIND, 6).expect("readable"), None);
    }

    #[test]
    fn ranges_are_short() {
        assert_eq!(ranges_of(&[0, 1, 2, 5, 7, 8]), "0-2, 5, 7-8");
        assert_eq!(ranges_of(&[]), "");
    }
}
