//! Frames as NumPy arrays (`numpy.load("out.npz")`).
//!
//! | array | shape | type |
//! |---|---|---|
//! | `positions` | frames, vertices, 3 | float32 |
//! | `normals` (where every frame has them) | frames, vertices, 3 | float32 |
//! | `tangents` (where every frame has them) | frames, vertices, 4 | float32 |
//! | `colors` (where every frame has them) | frames, vertices, 4 | float32 |
//! | `indices` | triangles, 3 | uint32 |
//! | `times` | frames | float32 |
//! | each extra | frames, its own shape | float32 |
//!
//! Arrays are stored uncompressed, one frame after another straight from the cache, and the archive carries no
//! clock time: equal input gives equal bytes.

use crate::bytes::{put_f32s, put_u32s};
use crate::fault::{cannot_write, malformed};
use crate::{AtomicFile, CachedMesh, ExtraArray, IoError};
use npyz::WriterBuilder;
use std::io::{self, Write};
use std::path::Path;

/// Writes one mesh (merge several before) and any extra arrays.
///
/// # Errors
/// [`IoError::Malformed`] where counts do not fit each other, a position is not finite, or a name of an extra is
/// taken; [`IoError::Write`] where the disk refuses.
pub fn write_npz(
    path: &Path,
    mesh: &CachedMesh<'_>,
    times_secs: &[f32],
    extras: &[ExtraArray],
) -> Result<(), IoError> {
    mesh.check(path, times_secs.len())?;
    check_extras(path, times_secs.len(), extras)?;
    let file = AtomicFile::create(path)?;
    let mut npz = npyz::npz::NpzWriter::new(file);
    write_arrays(&mut npz, mesh, times_secs, extras).map_err(cannot_write(path))?;
    let file = npz
        .zip_writer()
        .finish()
        .map_err(|e| cannot_write(path)(io::Error::other(e)))?;
    file.commit()
}

type Npz = npyz::npz::NpzWriter<AtomicFile>;

fn write_arrays(
    npz: &mut Npz,
    mesh: &CachedMesh<'_>,
    times_secs: &[f32],
    extras: &[ExtraArray],
) -> io::Result<()> {
    let (frames, vertices) = (mesh.frames.len(), mesh.mesh.vertex_count());
    let per_vertex = |width: usize| [frames, vertices, width];
    let all = || mesh.frames.iter();
    array(npz, "positions", &per_vertex(3), |out| {
        all().try_for_each(|f| put_f32s(out, f.positions.as_flattened()))
    })?;
    if mesh.has_normals() {
        array(npz, "normals", &per_vertex(3), |out| {
            all()
                .flat_map(|f| &f.normals)
                .try_for_each(|n| put_f32s(out, n.as_flattened()))
        })?;
    }
    if mesh.has_tangents() {
        array(npz, "tangents", &per_vertex(4), |out| {
            all()
                .flat_map(|f| &f.tangents)
                .try_for_each(|t| put_f32s(out, t.as_flattened()))
        })?;
    }
    if mesh.frames.iter().all(|f| f.colors.is_some()) {
        array(npz, "colors", &per_vertex(4), |out| {
            all()
                .flat_map(|f| &f.colors)
                .try_for_each(|c| put_f32s(out, c.as_flattened()))
        })?;
    }
    let triangles = mesh.mesh.topology.triangles();
    let shape = shape_of(&[triangles.len(), 3]);
    let options = options(triangles.len().saturating_mul(12));
    let mut out = npz
        .array::<u32>("indices", options)?
        .default_dtype()
        .shape(&shape)
        .write_header_only()?;
    put_u32s(&mut out, triangles.as_flattened())?;
    array(npz, "times", &[frames], |out| put_f32s(out, times_secs))?;
    for extra in extras {
        let shape: Vec<usize> = std::iter::once(frames)
            .chain(extra.shape.iter().copied())
            .collect();
        array(npz, &extra.name, &shape, |out| {
            extra.frames.iter().try_for_each(|f| put_f32s(out, f))
        })?;
    }
    Ok(())
}

fn array(
    npz: &mut Npz,
    name: &str,
    shape: &[usize],
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let bytes = shape.iter().fold(4_usize, |n, &s| n.saturating_mul(s));
    let out = npz
        .array::<f32>(name, options(bytes))?
        .default_dtype()
        .shape(&shape_of(shape))
        .write_header_only()?;
    fill(out)
}

fn shape_of(shape: &[usize]) -> Vec<u64> {
    shape.iter().map(|&n| n as u64).collect()
}

fn options(bytes: usize) -> npyz::zip::write::FileOptions {
    npyz::zip::write::FileOptions::default()
        .compression_method(npyz::zip::CompressionMethod::Stored)
        .last_modified_time(npyz::zip::DateTime::default())
        .unix_permissions(0o644)
        .large_file(bytes > 0xffff_0000)
}

fn check_extras(path: &Path, frames: usize, extras: &[ExtraArray]) -> Result<(), IoError> {
    let mut taken = vec![
        "positions",
        "normals",
        "tangents",
        "colors",
        "indices",
        "times",
    ];
    for extra in extras {
        let name = extra.name.as_str();
        if taken.contains(&name) || name.is_empty() || name.contains(['/', '\\', '\0']) {
            return Err(malformed(
                path,
                "extra array",
                format!("the name '{}'", name.escape_debug()),
                "a name of its own, without slashes",
            ));
        }
        taken.push(name);
        if extra.frames.len() != frames {
            let place = format!("frames of {name}");
            return Err(malformed(
                path,
                place,
                extra.frames.len().to_string(),
                frames.to_string(),
            ));
        }
        let size = extra
            .shape
            .iter()
            .fold(1_usize, |n, &s| n.saturating_mul(s));
        if let Some(k) = extra.frames.iter().position(|f| f.len() != size) {
            let place = format!("numbers in frame {k} of {name}");
            return Err(malformed(
                path,
                place,
                extra.frames[k].len().to_string(),
                size.to_string(),
            ));
        }
    }
    Ok(())
}
