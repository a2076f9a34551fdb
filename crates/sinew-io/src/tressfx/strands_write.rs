//! Writer of `.tfx` files.

use super::strands::{HEADER, TfxStrands};
use crate::bytes::{put_f32s, put_u32s};
use crate::fault::{cannot_write, malformed};
use crate::{AtomicFile, IoError};
use std::io::{self, Write};
use std::path::Path;

/// Vertices per strand that TressFX's own loader accepts.
pub const LOADABLE: [usize; 5] = [4, 8, 16, 32, 64];

/// Writes a `.tfx` file: vertices after the header, then the other sections in header order.
///
/// # Errors
/// [`IoError::Malformed`] if lists do not match, a number is not finite, or the format cannot store them;
/// [`IoError::Unsupported`] for vertex counts that no TressFX loader accepts (use 4, 8, 16, 32 or 64);
/// [`IoError::Write`].
pub fn write_tfx(path: &Path, strands: &TfxStrands) -> Result<(), IoError> {
    check(path, strands)?;
    let offsets = offsets(path, strands)?;
    let mut out = AtomicFile::create(path)?;
    put(&mut out, strands, offsets).map_err(cannot_write(path))?;
    out.commit()
}

/// Sections after the header as numbers: vertices, root UVs, vertex UVs, thickness, colours.
fn sections(strands: &TfxStrands) -> [Option<&[f32]>; 5] {
    [
        Some(strands.vertices.as_flattened()),
        strands.root_uvs.as_deref().map(<[_]>::as_flattened),
        strands.vertex_uvs.as_deref().map(<[_]>::as_flattened),
        strands.thickness.as_deref(),
        strands.colors.as_deref().map(<[_]>::as_flattened),
    ]
}

fn check(path: &Path, strands: &TfxStrands) -> Result<(), IoError> {
    let each = strands.vertices_per_strand;
    if !LOADABLE.contains(&each) {
        return Err(IoError::Unsupported {
            path: path.to_owned(),
            location: "strands".into(),
            feature: format!("{each} vertices per strand"),
            help: "use 4, 8, 16, 32 or 64; resample the strands".into(),
        });
    }
    let (vertices, count) = (strands.vertices.len(), strands.strand_count());
    let wrong = |what: &str, found: usize, expected: usize| {
        malformed(path, what, found.to_string(), expected.to_string())
    };
    if vertices != count * each {
        return Err(wrong("vertices", vertices, count * each));
    }
    let lengths = [
        (
            "texture coordinates of roots",
            strands.root_uvs.as_ref().map(Vec::len),
            count,
        ),
        (
            "texture coordinates of vertices",
            strands.vertex_uvs.as_ref().map(Vec::len),
            vertices,
        ),
        (
            "thickness of strands",
            strands.thickness.as_ref().map(Vec::len),
            count,
        ),
        (
            "colours of vertices",
            strands.colors.as_ref().map(Vec::len),
            vertices,
        ),
    ];
    for (what, found, expected) in lengths {
        if let Some(found) = found.filter(|found| *found != expected) {
            return Err(wrong(what, found, expected));
        }
    }
    let mut numbers = sections(strands).into_iter().flatten().flatten();
    match numbers.find(|n| !n.is_finite()) {
        None => Ok(()),
        Some(n) => Err(malformed(path, "strands", n.to_string(), "finite numbers")),
    }
}

/// Offset of each section; 0 if it is missing.
fn offsets(path: &Path, strands: &TfxStrands) -> Result<[u32; 5], IoError> {
    let too_large = || {
        let expected = "strands that fit in 4 GiB";
        malformed(
            path,
            "size",
            format!("{} strands", strands.strand_count()),
            expected,
        )
    };
    let mut next = HEADER;
    let mut offsets = [0; 5];
    for (offset, section) in offsets.iter_mut().zip(sections(strands)) {
        if let Some(numbers) = section {
            *offset = u32::try_from(next).map_err(|_| too_large())?;
            next += size_of_val(numbers);
        }
    }
    u32::try_from(next).map_err(|_| too_large())?;
    Ok(offsets)
}

fn put(out: &mut AtomicFile, strands: &TfxStrands, offsets: [u32; 5]) -> io::Result<()> {
    out.write_all(&strands.version.to_le_bytes())?;
    let counts = [
        strands.strand_count() as u32,
        strands.vertices_per_strand as u32,
    ];
    put_u32s(out, &counts)?;
    put_u32s(out, &offsets)?;
    put_u32s(out, &[0; 32])?;
    for section in sections(strands).into_iter().flatten() {
        put_f32s(out, section)?;
    }
    Ok(())
}
