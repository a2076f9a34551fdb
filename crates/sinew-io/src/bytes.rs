//! Conversion of numbers to little-endian bytes, and byte-order marks.

use std::io::{Result, Write};

/// Removes the UTF-8 byte-order mark that some editors write.
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text)
}

/// Writes numbers in little-endian order. One copy without conversion on little-endian machines.
pub(crate) fn put_f32s(out: &mut (impl Write + ?Sized), numbers: &[f32]) -> Result<()> {
    if cfg!(target_endian = "little") {
        return out.write_all(bytemuck::cast_slice(numbers));
    }
    numbers
        .iter()
        .try_for_each(|n| out.write_all(&n.to_le_bytes()))
}

/// As [`put_f32s`], for indices.
pub(crate) fn put_u32s(out: &mut (impl Write + ?Sized), numbers: &[u32]) -> Result<()> {
    if cfg!(target_endian = "little") {
        return out.write_all(bytemuck::cast_slice(numbers));
    }
    numbers
        .iter()
        .try_for_each(|n| out.write_all(&n.to_le_bytes()))
}
