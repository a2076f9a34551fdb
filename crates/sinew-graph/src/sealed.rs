//! Saved bytes: keyed by a hash of the content that they belong to, protected by a hash of the payload.
//!
//! Layout: magic (4 bytes), format version (u32 little endian), 32 bytes content key, 32 bytes hash of the payload, payload (postcard).

use serde::Serialize;
use serde::de::DeserializeOwned;

const HEADER: usize = 4 + 4 + 32 + 32;

/// Kind of the bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) magic: [u8; 4],
    pub(crate) version: u32,
}

/// Why bytes cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// Another kind, or another version.
    Format,
    /// Modified or truncated.
    Damaged,
    /// They belong to other content.
    Stale,
}

impl Form {
    pub(crate) fn seal<T: Serialize>(self, key: &[u8; 32], payload: &T) -> Vec<u8> {
        let payload = postcard::to_stdvec(payload).unwrap_or_default();
        let mut out = Vec::with_capacity(HEADER + payload.len());
        out.extend_from_slice(&self.magic);
        out.extend_from_slice(&self.version.to_le_bytes());
        out.extend_from_slice(key);
        out.extend_from_slice(blake3::hash(&payload).as_bytes());
        out.extend_from_slice(&payload);
        out
    }

    pub(crate) fn open<T: DeserializeOwned>(
        self,
        bytes: &[u8],
        key: &[u8; 32],
    ) -> Result<T, Broken> {
        let version = self.version.to_le_bytes();
        if bytes.len() < HEADER || bytes[..4] != self.magic || bytes[4..8] != version {
            return Err(Broken::Format);
        }
        let payload = &bytes[HEADER..];
        if bytes[40..72] != *blake3::hash(payload).as_bytes() {
            return Err(Broken::Damaged);
        }
        if bytes[8..40] != *key {
            return Err(Broken::Stale);
        }
        postcard::from_bytes(payload).map_err(|_| Broken::Damaged)
    }
}
