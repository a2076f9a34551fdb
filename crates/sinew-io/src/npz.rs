//! Frames as NumPy arrays (`numpy.load("out.npz")`).
//!
//! | array | shape | type |
//! |---|---|---|
//! | `positions` | frames, vertices, 3 | float32 |
//! | `normals` (where every frame has them) | frames, vertices, 3 | float32 |
//! | `tangents` (where every frame has them) | frames, vertices, 4 | float32 |
//! | `colors` (where every frame has them) | frames, vertices, 4 | float32 |
//! | `indices` | triangles, 3 | uint32 |
//! | `strand_offsets` (meshes of strands): vertices of strand s are `strand_offsets[s]` up to `strand_offsets[s + 1]` | strands + 1 | uint32 |
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
    let mut out = npz
        .array::<u32>("indices", options(triangles.len().saturating_mul(12)))?
        .default_dtype()
        .shape(&shape)
        .write_header_only()?;
    put_u32s(&mut out, triangles.as_flattened())?;
    if let Some(strands) = mesh.mesh.topology.strands() {
        let offsets = strands.offsets();
        let mut out = npz
            .array::<u32>("strand_offsets", options(offsets.len() * 4))?
            .default_dtype()
            .shape(&shape_of(&[offsets.len()]))
            .write_header_only()?;
        put_u32s(&mut out, offsets)?;
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FrameData;
    use sinew_testkit::meshes;

    /// Runs NumPy where `SINEW_PYTHON` names a Python that has it: an outside reader of the same file.
    fn numpy(path: &Path, expression: &str) {
        let Some(python) = std::env::var_os("SINEW_PYTHON") else {
            println!("skipped: SINEW_PYTHON is not set");
            return;
        };
        let program =
            format!("import sys, numpy as np\na = np.load(sys.argv[1])\nassert {expression}");
        let run = std::process::Command::new(python)
            .arg("-c")
            .arg(program)
            .arg(path)
            .output()
            .expect("runs");
        assert!(
            run.status.success(),
            "{}",
            String::from_utf8_lossy(&run.stderr)
        );
    }

    fn read<T: npyz::Deserialize>(path: &Path, name: &str) -> (Vec<u64>, Vec<T>) {
        let mut npz = npyz::npz::NpzArchive::open(path).expect("archive");
        let array = npz.by_name(name).expect("readable").expect("there");
        (array.shape().to_vec(), array.into_vec().expect("the type"))
    }

    #[test]
    fn arrays_have_the_documented_shapes_and_numbers() {
        let mesh = meshes::sphere(5, 6);
        let n = mesh.vertex_count();
        let frames: Vec<FrameData> = (0..3)
            .map(|k| FrameData {
                positions: mesh
                    .positions
                    .iter()
                    .map(|p| [p[0] + k as f32, p[1], p[2]])
                    .collect(),
                normals: mesh.normals.clone(),
                tangents: (k > 0).then(|| vec![[1.0, 0.0, 0.0, 1.0]; n]),
                colors: Some(vec![[0.25; 4]; n]),
            })
            .collect();
        let cached = CachedMesh {
            name: "sphere".into(),
            mesh: &mesh,
            frames,
        };
        let extra = |name: &str, shape: Vec<usize>, n: usize| ExtraArray {
            name: name.into(),
            shape,
            frames: (0..3).map(|k| vec![k as f32; n]).collect(),
        };
        let extras = [extra("weights", vec![2, 2], 4), extra("speed", vec![], 1)];
        let dir = tempfile::tempdir().expect("temp");
        let (path, again) = (dir.path().join("x.npz"), dir.path().join("y.npz"));
        write_npz(&path, &cached, &[0.0, 0.5, 1.0], &extras).expect("written");
        write_npz(&again, &cached, &[0.0, 0.5, 1.0], &extras).expect("written");
        assert_eq!(
            std::fs::read(&path).expect("a"),
            std::fs::read(again).expect("b")
        );
        let (shape, positions) = read::<f32>(&path, "positions");
        assert_eq!(shape, [3, n as u64, 3]);
        assert_eq!(
            positions[n * 6..],
            *cached.frames[2].positions.as_flattened()
        );
        let (shape, indices) = read::<u32>(&path, "indices");
        assert_eq!(shape, [mesh.topology.triangles().len() as u64, 3]);
        assert_eq!(indices, mesh.topology.triangles().as_flattened());
        assert_eq!(read::<f32>(&path, "times").1, [0.0, 0.5, 1.0]);
        assert_eq!(read::<f32>(&path, "weights").0, [3, 2, 2]);
        assert_eq!(read::<f32>(&path, "speed"), (vec![3], vec![0.0, 1.0, 2.0]));
        assert_eq!(read::<f32>(&path, "normals").1.len(), 9 * n);
        let mut npz = npyz::npz::NpzArchive::open(&path).expect("archive");
        assert!(
            npz.by_name("tangents").expect("readable").is_none(),
            "not in every frame"
        );
        numpy(
            &path,
            "a['positions'].shape == (3, 26, 3) and a['positions'].dtype == np.float32 \
             and (a['positions'][2,:,0] - a['positions'][0,:,0] - 2 < 1e-6).all() and a['indices'].dtype == np.uint32 \
             and sorted(a.files) == ['colors', 'indices', 'normals', 'positions', 'speed', 'times', 'weights'] \
             and a['weights'][2].tolist() == [[2, 2], [2, 2]]",
        );
        for bad in [
            extra("times", vec![], 1),
            extra("a/b", vec![], 1),
            extra("a", vec![2], 1),
        ] {
            write_npz(&path, &cached, &[0.0, 0.5, 1.0], &[bad]).expect_err("refused");
        }
        write_npz(&path, &cached, &[0.0, 0.5], &[]).expect_err("frame count");
    }
}
