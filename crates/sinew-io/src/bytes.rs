//! Numbers to little-endian bytes.

use std::io::{Result, Write};

/// Writes numbers in little-endian order; one copy on little-endian machines, none of which convert.
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
