//! Reads archives of stored NPY arrays back, for tests.

use std::collections::BTreeMap;
use std::path::Path;

/// One array as it is in the file.
pub(crate) struct Array {
    pub(crate) dtype: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}

impl Array {
    /// The numbers of an array of `dtype`, little endian.
    pub(crate) fn numbers<T: bytemuck::Pod>(&self, dtype: &str) -> Vec<T> {
        assert_eq!(self.dtype, dtype);
        bytemuck::pod_collect_to_vec::<u8, T>(&self.bytes)
    }
}

/// The arrays of a file by name.
pub(crate) fn arrays(path: &Path) -> BTreeMap<String, Array> {
    let file = std::fs::read(path).expect("an archive");
    let array = |(name, content): (String, Vec<u8>)| {
        let name = name.strip_suffix(".npy").expect("an array").to_owned();
        (name, array(&content))
    };
    entries(&file).into_iter().map(array).collect()
}

fn array(content: &[u8]) -> Array {
    let (magic, rest) = content.split_at(8);
    assert_eq!(magic, b"\x93NUMPY\x01\0");
    let end = 2 + usize::from(u16::from_le_bytes([rest[0], rest[1]]));
    assert_eq!((8 + end) % 64, 0, "aligned");
    let header = std::str::from_utf8(&rest[2..end]).expect("ASCII");
    let between = |from: &str, to: &str| {
        let (_, rest) = header.split_once(from).expect(from);
        rest.split_once(to).expect(to).0
    };
    assert_eq!(between("'fortran_order': ", ","), "False");
    let shape = between("'shape': (", ")").split(',').map(str::trim);
    let shape = shape.filter(|n| !n.is_empty());
    let shape: Vec<usize> = shape.map(|n| n.parse().expect("a number")).collect();
    let bytes = rest[end..].to_vec();
    let dtype = between("'descr': '", "'").to_owned();
    // Texts have four bytes a letter.
    let letters = dtype
        .strip_prefix("<U")
        .map_or(1, |n| n.parse().expect("a number"));
    assert_eq!(bytes.len(), 4 * letters * shape.iter().product::<usize>());
    Array {
        dtype,
        shape,
        bytes,
    }
}

fn number<const N: usize>(file: &[u8], at: usize) -> usize {
    let mut bytes = [0; 8];
    bytes[..N].copy_from_slice(&file[at..at + N]);
    u64::from_le_bytes(bytes) as usize
}

/// Names and contents in the order of the directory; both headers and the checksum are compared.
pub(super) fn entries(file: &[u8]) -> Vec<(String, Vec<u8>)> {
    let end = file.len() - 22;
    assert_eq!(file[end..end + 4], *b"PK\x05\x06");
    let (mut count, mut at) = (number::<2>(file, end + 10), number::<4>(file, end + 16));
    if count == 0xFFFF {
        assert_eq!(file[end - 20..end - 16], *b"PK\x06\x07");
        let end = number::<8>(file, end - 12);
        assert_eq!(file[end..end + 4], *b"PK\x06\x06");
        (count, at) = (number::<8>(file, end + 32), number::<8>(file, end + 48));
    }
    let entry = |_| {
        assert_eq!(file[at..at + 4], *b"PK\x01\x02");
        let (name, extra) = (number::<2>(file, at + 28), number::<2>(file, at + 30));
        let (bytes, local) = (number::<4>(file, at + 24), number::<4>(file, at + 42));
        assert_eq!(file[local..local + 4], *b"PK\x03\x04");
        assert_eq!(file[local + 4..local + 28], file[at + 6..at + 30]);
        let name = &file[at + 46..at + 46 + name];
        let content = local + 30 + name.len() + number::<2>(file, local + 28);
        let content = &file[content..content + bytes];
        assert_eq!(
            crc32fast::hash(content) as usize,
            number::<4>(file, at + 16)
        );
        at += 46 + name.len() + extra;
        let name = String::from_utf8(name.to_vec()).expect("UTF-8");
        (name, content.to_vec())
    };
    (0..count).map(entry).collect()
}

/// Runs `program` with the file's path where `SINEW_PYTHON` names a Python that has NumPy. Gives whether it ran.
pub(crate) fn python(path: &Path, program: &str) -> bool {
    let Some(python) = std::env::var_os("SINEW_PYTHON") else {
        println!("skipped: SINEW_PYTHON is not set");
        return false;
    };
    let run = std::process::Command::new(python)
        .args(["-c", program])
        .arg(path)
        .output()
        .expect("runs");
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{errors}");
    true
}
