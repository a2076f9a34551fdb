//! ZIP archives of stored entries (APPNOTE.TXT 6.3.10), written in one pass.
//!
//! The size of an entry is known before its bytes; only its checksum is written afterwards. Entries and archives of 4
//! GiB and more, and archives with more than 65,534 entries, use ZIP64 records. There are no timestamps: equal input
//! gives equal bytes.

#[cfg(test)]
mod tests;

use std::io::{self, Seek, SeekFrom, Write};

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;
const EXTRA_64: u16 = 1;
/// Specification versions that a reader must support: for folders and stored files, and for ZIP64.
const PLAIN: u16 = 20;
const ZIP_64: u16 = 45;
/// Unix (section 4.6): system of the file attributes.
const MADE_BY: u16 = 3 << 8 | 46;
/// `rw-r--r--`.
const ATTRIBUTES: u32 = 0o644 << 16;
/// The first of January 1980, the earliest date.
const DATE: u16 = 1 << 5 | 1;
const UTF_8: u16 = 1 << 11;
/// Position of the checksum in a local header.
const CHECKSUM_AT: u64 = 14;

/// An archive that is being written.
pub(super) struct ZipWriter<W> {
    out: W,
    /// Bytes written so far.
    at: u64,
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    bytes: u64,
    checksum: u32,
    header_at: u64,
}

impl<W: Write + Seek> ZipWriter<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            at: 0,
            entries: Vec::new(),
        }
    }

    /// Adds an entry of `bytes` bytes, which `fill` writes.
    pub(super) fn entry(
        &mut self,
        name: &str,
        bytes: u64,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut entry = Entry {
            name: name.to_owned(),
            bytes,
            checksum: 0,
            header_at: self.at,
        };
        let header = entry.local_header()?;
        self.out.write_all(&header)?;
        let mut content = Content {
            out: &mut self.out,
            left: bytes,
            checksum: crc32fast::Hasher::new(),
        };
        fill(&mut content)?;
        if content.left > 0 {
            let message = format!("{name}: {} bytes of {bytes} are missing", content.left);
            return Err(io::Error::other(message));
        }
        entry.checksum = content.checksum.finalize();
        self.at += header.len() as u64 + bytes;
        self.out
            .seek(SeekFrom::Start(entry.header_at + CHECKSUM_AT))?;
        self.out.write_all(&entry.checksum.to_le_bytes())?;
        self.out.seek(SeekFrom::Start(self.at))?;
        self.entries.push(entry);
        Ok(())
    }

    /// Writes the directory and returns the file.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let mut directory = Vec::new();
        for entry in &self.entries {
            entry.put_central_header(&mut directory);
        }
        let (bytes, count) = (directory.len() as u64, self.entries.len() as u64);
        if short(bytes).max(short(self.at)) == u32::MAX || count >= u64::from(u16::MAX) {
            put(&mut directory, [END_64.to_le_bytes()]);
            // Number of bytes that follow.
            put(&mut directory, [44_u64.to_le_bytes()]);
            put(&mut directory, [MADE_BY, ZIP_64].map(u16::to_le_bytes));
            put(&mut directory, [[0; 4]; 2]);
            put(
                &mut directory,
                [count, count, bytes, self.at].map(u64::to_le_bytes),
            );
            put(&mut directory, [LOCATOR_64, 0].map(u32::to_le_bytes));
            put(&mut directory, [(self.at + bytes).to_le_bytes()]);
            put(&mut directory, [1_u32.to_le_bytes()]);
        }
        let count = u16::try_from(count).unwrap_or(u16::MAX);
        put(&mut directory, [END.to_le_bytes(), [0; 4]]);
        put(&mut directory, [count, count].map(u16::to_le_bytes));
        put(
            &mut directory,
            [short(bytes), short(self.at)].map(u32::to_le_bytes),
        );
        put(&mut directory, [[0; 2]]);
        self.out.write_all(&directory)?;
        Ok(self.out)
    }
}

impl Entry {
    fn is_large(&self) -> bool {
        short(self.bytes) == u32::MAX
    }

    fn local_header(&self) -> io::Result<Vec<u8>> {
        let Ok(length) = u16::try_from(self.name.len()) else {
            let message = format!(
                "an array name has {} bytes, too many for a ZIP archive",
                self.name.len()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        };
        let mut out = LOCAL.to_le_bytes().to_vec();
        self.put_common(&mut out, self.is_large());
        put(
            &mut out,
            [length, if self.is_large() { 20 } else { 0 }].map(u16::to_le_bytes),
        );
        out.extend(self.name.as_bytes());
        if self.is_large() {
            put(&mut out, [EXTRA_64, 16].map(u16::to_le_bytes));
            put(&mut out, [self.bytes, self.bytes].map(u64::to_le_bytes));
        }
        Ok(out)
    }

    fn put_central_header(&self, out: &mut Vec<u8>) {
        // Only values that exceed their field are here, in this order.
        let mut large = Vec::new();
        if self.is_large() {
            large.extend([self.bytes, self.bytes]);
        }
        if short(self.header_at) == u32::MAX {
            large.push(self.header_at);
        }
        let extra = 8 * large.len() as u16;
        put(out, [CENTRAL.to_le_bytes()]);
        put(out, [MADE_BY.to_le_bytes()]);
        self.put_common(out, extra > 0);
        // The length was checked with the local header.
        let name = self.name.len() as u16;
        let with_head = if extra > 0 { extra + 4 } else { 0 };
        put(out, [name, with_head, 0, 0, 0].map(u16::to_le_bytes));
        put(
            out,
            [ATTRIBUTES, short(self.header_at)].map(u32::to_le_bytes),
        );
        out.extend(self.name.as_bytes());
        if extra > 0 {
            put(out, [EXTRA_64, extra].map(u16::to_le_bytes));
            out.extend(large.into_iter().flat_map(u64::to_le_bytes));
        }
    }

    /// Common part of both headers: from the version to the sizes.
    fn put_common(&self, out: &mut Vec<u8>, is_zip_64: bool) {
        let version = if is_zip_64 { ZIP_64 } else { PLAIN };
        let flags = if self.name.is_ascii() { 0 } else { UTF_8 };
        let (stored, time) = (0, 0);
        put(
            out,
            [version, flags, stored, time, DATE].map(u16::to_le_bytes),
        );
        let bytes = short(self.bytes);
        put(out, [self.checksum, bytes, bytes].map(u32::to_le_bytes));
    }
}

/// A 32-bit field; the largest value refers to the ZIP64 field.
fn short(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn put<const N: usize, const COUNT: usize>(out: &mut Vec<u8>, numbers: [[u8; N]; COUNT]) {
    out.extend(numbers.as_flattened());
}

/// The bytes of one entry on their way.
struct Content<'a, W> {
    out: &'a mut W,
    left: u64,
    checksum: crc32fast::Hasher,
}

impl<W: Write> Write for Content<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() as u64 > self.left {
            return Err(io::Error::other("more bytes than the entry has"));
        }
        let written = self.out.write(bytes)?;
        self.checksum.update(&bytes[..written]);
        self.left -= written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
