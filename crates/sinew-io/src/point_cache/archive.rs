//! Finds arrays in NPZ files (ZIP, APPNOTE.TXT 6.3.10) without reading them.

use crate::fault::malformed;
use crate::values::{after, split};
use crate::{IoError, RangeReader};
use std::path::Path;

/// An array in an open archive.
#[derive(Clone, Debug)]
pub(super) struct ArrayInFile {
    pub(super) name: String,
    /// Type of the elements as NumPy writes it: `<f4`.
    pub(super) descr: String,
    pub(super) shape: Vec<usize>,
    /// Where the elements begin in the file.
    pub(super) data_at: u64,
}

/// The longest header of an array that is read. NumPy's have 128 bytes.
const MOST_HEADER: u64 = 1 << 16;
/// The largest directory that is read.
const MOST_DIRECTORY: u64 = 1 << 26;

/// The names of all arrays, and how they are stored.
pub(super) struct Archive {
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    is_compressed: bool,
    bytes: u64,
    header_at: u64,
}

/// A little-endian number of `N` bytes at `at`.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let mut out = [0; 8];
    out[..N].copy_from_slice(bytes.get(at..at.checked_add(N)?)?);
    Some(u64::from_le_bytes(out))
}

impl Archive {
    pub(super) fn open(file: &mut RangeReader, path: &Path) -> Result<Self, IoError> {
        let length = file.length();
        // A comment of at most 64 KiB may follow the end record.
        let tail_bytes = length.min(22 + 0xffff);
        let tail_at = length - tail_bytes;
        let tail = read(file, tail_at, tail_bytes)?;
        let wrong = || {
            malformed(
                path,
                "archive",
                "another format or a damaged file",
                "a NumPy archive (NPZ)",
            )
        };
        // Its comment ends with the file.
        let is_end = |at: &usize| {
            let comment = number::<2>(&tail, at + 20).map_or(usize::MAX, |n| n as usize);
            tail[*at..].starts_with(b"PK\x05\x06") && tail.len() - at - 22 == comment
        };
        let last = tail.len().checked_sub(22).ok_or_else(wrong)?;
        let end = (0..=last).rev().find(is_end).ok_or_else(wrong)?;
        let field = |at| number::<4>(&tail, end + at).ok_or_else(wrong);
        let (mut bytes, mut start) = (field(12)?, field(16)?);
        if bytes.max(start) == u64::from(u32::MAX) {
            let locator = end.checked_sub(20).ok_or_else(wrong)?;
            let at = number::<8>(&tail, locator + 8).ok_or_else(wrong)?;
            let record = read(file, at, 56)?;
            bytes = number::<8>(&record, 40).ok_or_else(wrong)?;
            start = number::<8>(&record, 48).ok_or_else(wrong)?;
        }
        if bytes > MOST_DIRECTORY {
            let found = format!("a directory of {bytes} bytes");
            return Err(malformed(
                path,
                "archive",
                found,
                format!("at most {MOST_DIRECTORY}"),
            ));
        }
        let directory = read(file, start, bytes)?;
        let entries = Self::entries(&directory).ok_or_else(wrong)?;
        Ok(Self { entries })
    }

    fn entries(directory: &[u8]) -> Option<Vec<Entry>> {
        let mut out = Vec::new();
        let mut rest = directory;
        while rest.starts_with(b"PK\x01\x02") {
            let sizes = [28, 30, 32].map(|at| number::<2>(rest, at));
            let [name, extra, comment] = sizes.map(|n| n.map_or(usize::MAX, |n| n as usize));
            let name_ends = 46_usize.checked_add(name)?;
            let extra_ends = name_ends.checked_add(extra)?;
            let next = extra_ends.checked_add(comment)?;
            let large = zip64(rest.get(name_ends..extra_ends)?);
            let mut large = large.into_iter();
            let mut or_large = |field: u64| match field == u64::from(u32::MAX) {
                true => large.next(),
                false => Some(field),
            };
            let bytes = or_large(number::<4>(rest, 24)?)?;
            or_large(number::<4>(rest, 20)?)?;
            let header_at = or_large(number::<4>(rest, 42)?)?;
            let name = String::from_utf8_lossy(rest.get(46..name_ends)?);
            out.push(Entry {
                name: name.strip_suffix(".npy").unwrap_or(&name).to_owned(),
                is_compressed: number::<2>(rest, 10)? != 0,
                bytes,
                header_at,
            });
            rest = rest.get(next..)?;
        }
        Some(out)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|e| e.name.as_str())
    }

    /// The array of that name; `None` if there is none.
    pub(super) fn array(
        &self,
        name: &str,
        file: &mut RangeReader,
        path: &Path,
    ) -> Result<Option<ArrayInFile>, IoError> {
        let Some(entry) = self.entries.iter().find(|e| e.name == name) else {
            return Ok(None);
        };
        if entry.is_compressed {
            return Err(IoError::Unsupported {
                path: path.to_owned(),
                location: format!("array '{name}'"),
                feature: "a compressed array".into(),
                help: "save it with numpy.savez instead of numpy.savez_compressed".into(),
            });
        }
        let wrong = |found: String, expected: &str| {
            malformed(path, format!("array '{name}'"), found, expected)
        };
        let local = read(file, entry.header_at, 30)?;
        let sizes = [26, 28].map(|at| number::<2>(&local, at).unwrap_or(0));
        let start = entry.header_at.saturating_add(30 + sizes[0] + sizes[1]);
        let head = read(file, start, entry.bytes.min(MOST_HEADER))?;
        let parts = || {
            let header_bytes = match head.get(6)? {
                1 => 10 + number::<2>(&head, 8)?,
                _ => 12 + number::<4>(&head, 8)?,
            };
            // The text itself is UTF-8; what follows need not be.
            let (header, _) = split(head.get(..usize::try_from(header_bytes).ok()?)?)?;
            let descr = after(header, "descr")?
                .strip_prefix('\'')?
                .split('\'')
                .next()?;
            let shape = after(header, "shape")?
                .strip_prefix('(')?
                .split(')')
                .next()?;
            let shape = shape.split(',').map(str::trim).filter(|s| !s.is_empty());
            let shape: Option<Vec<usize>> = shape.map(|n| n.parse().ok()).collect();
            let is_fortran = after(header, "fortran_order")?.starts_with("True");
            Some((header_bytes, descr.to_owned(), shape?, is_fortran))
        };
        let (header_bytes, descr, shape, is_fortran) =
            parts().ok_or_else(|| wrong("another header".into(), "the header of a NumPy array"))?;
        if is_fortran && shape.len() > 1 {
            return Err(wrong(
                "Fortran order".into(),
                "C order (convert with numpy.ascontiguousarray)",
            ));
        }
        let element = descr.get(2..).and_then(|n| n.parse().ok()).unwrap_or(0);
        let count = shape
            .iter()
            .try_fold(element, |n: usize, &s| n.checked_mul(s));
        let data = entry.bytes.saturating_sub(header_bytes);
        if count.map(|c| c as u64) != Some(data) {
            let found = format!("{data} bytes of data");
            return Err(wrong(found, &format!("shape {shape:?} of {descr}")));
        }
        Ok(Some(ArrayInFile {
            name: name.to_owned(),
            descr,
            shape,
            data_at: start.saturating_add(header_bytes),
        }))
    }
}

/// The numbers of the ZIP64 field among the extra fields.
fn zip64(mut extra: &[u8]) -> Vec<u64> {
    while let (Some(id), Some(size)) = (number::<2>(extra, 0), number::<2>(extra, 2)) {
        let end = 4 + size as usize;
        let Some(content) = extra.get(4..end) else {
            break;
        };
        if id == 1 {
            let numbers = content.chunks_exact(8);
            return numbers.filter_map(|n| number::<8>(n, 0)).collect();
        }
        extra = &extra[end..];
    }
    Vec::new()
}

fn read(file: &mut RangeReader, at: u64, bytes: u64) -> Result<Vec<u8>, IoError> {
    let available = file.length().saturating_sub(at);
    // The size comes from the file: nothing is allocated that the file does not have.
    let mut out = vec![0; usize::try_from(bytes.min(available)).unwrap_or(0)];
    file.read_at(at.min(file.length()), &mut out)?;
    Ok(out)
}
