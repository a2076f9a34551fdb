//! Frames as NumPy arrays (`numpy.load("out.npz")`).
//!
//! | array | shape | type |
//! |---|---|---|
//! | `positions` | frames, vertices, 3 | float32 |
//! | `normals` (if every frame has them) | frames, vertices, 3 | float32 |
//! | `tangents` (if every frame has them) | frames, vertices, 4 | float32 |
//! | `colors` (if every frame has them) | frames, vertices, 4 | float32 |
//! | `indices` | triangles, 3 | uint32 |
//! | `mesh_names` (if several meshes of a file were joined) | meshes | text |
//! | `mesh_offsets` (as above): mesh m has vertices `mesh_offsets[m]` up to `mesh_offsets[m + 1]` | meshes + 1 | uint32 |
//! | `strand_offsets` (strands): strand s has vertices `strand_offsets[s]` up to `strand_offsets[s + 1]` | strands + 1 | uint32 |
//! | `thickness` (strands, if known): diameters in metres | vertices | float32 |
//! | `times`: seconds | frames | float32 |
//! | each extra array | frames, its own shape | float32 |
//!
//! Arrays of further meshes have the mesh name as prefix: `hair_positions`, `hair_strand_offsets`.
//!
//! Arrays are stored uncompressed. The archive contains no timestamps: equal input gives equal bytes.

#[cfg(test)]
pub(crate) mod reader;
mod zip;

use crate::bytes::{put_f32s, put_u32s};
use crate::fault::{cannot_write, malformed};
use crate::{AtomicFile, CachedFrame, CachedMesh, ExtraArray, IoError, Numbers};
use sinew_geom::{Mesh, Strands, THICKNESS, index32};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;
use zip::ZipWriter;

/// Writes one mesh and extra arrays.
///
/// # Errors
/// As [`write_npz_meshes`].
pub fn write_npz(
    path: &Path,
    mesh: &CachedMesh<'_>,
    times_secs: &[f32],
    extras: &[ExtraArray],
) -> Result<(), IoError> {
    write_npz_meshes(path, std::slice::from_ref(mesh), times_secs, extras)
}

/// Writes meshes and extra arrays. Arrays of the first mesh have the names of the table above. Arrays of further meshes
/// have the prefix `MESH_`.
///
/// # Errors
/// [`IoError::Malformed`] without meshes and arrays, if counts do not match, if a position is not finite, or if a name
/// is used twice; [`IoError::Write`] if the file cannot be written.
pub fn write_npz_meshes(
    path: &Path,
    meshes: &[CachedMesh<'_>],
    times_secs: &[f32],
    extras: &[ExtraArray],
) -> Result<(), IoError> {
    if meshes.is_empty() && extras.is_empty() {
        return Err(malformed(
            path,
            "outputs",
            "none",
            "at least one mesh or array",
        ));
    }
    (meshes.iter()).try_for_each(|mesh| mesh.check(path, times_secs.len()))?;
    check_names(path, meshes, extras)?;
    check_extras(path, times_secs.len(), extras)?;
    let file = AtomicFile::create(path)?;
    let mut npz = ZipWriter::new(file);
    let written = write_arrays(&mut npz, meshes, times_secs, extras);
    let file = written.and_then(|()| npz.finish());
    file.map_err(cannot_write(path))?.commit()
}

type Npz = ZipWriter<AtomicFile>;

/// Prefix of the array names of a further mesh.
fn prefix(mesh: &CachedMesh<'_>) -> String {
    format!("{}_", mesh.name)
}

fn write_arrays(
    npz: &mut Npz,
    meshes: &[CachedMesh<'_>],
    times_secs: &[f32],
    extras: &[ExtraArray],
) -> io::Result<()> {
    for (i, mesh) in meshes.iter().enumerate() {
        let prefix = if i == 0 { String::new() } else { prefix(mesh) };
        write_mesh(npz, &prefix, mesh)?;
    }
    let frames = times_secs.len();
    array(npz, "times", &[frames], |out| put_f32s(out, times_secs))?;
    for extra in extras {
        let shape: Vec<usize> = std::iter::once(frames)
            .chain(extra.shape.iter().copied())
            .collect();
        array(npz, &extra.name, &shape, |out| {
            let mut frames = extra.frames.iter();
            frames.try_for_each(|f| put_f32s(out, &f.all()?))
        })?;
    }
    Ok(())
}

/// Names of the arrays that a mesh has, without prefix.
fn names(mesh: &CachedMesh<'_>) -> impl Iterator<Item = &'static str> {
    let has = [
        ("positions", true),
        ("normals", mesh.has_normals()),
        ("tangents", mesh.has_tangents()),
        ("colors", mesh.has_colors()),
        ("indices", true),
        ("mesh_names", joined(mesh.mesh).is_some()),
        ("mesh_offsets", joined(mesh.mesh).is_some()),
        ("strand_offsets", mesh.mesh.topology.strands().is_some()),
        (THICKNESS, mesh.mesh.strand_thickness().is_some()),
    ];
    has.into_iter().filter(|h| h.1).map(|h| h.0)
}

/// The meshes that a mesh was joined from, each with its first vertex. `None` for a single mesh, and if they share
/// vertices.
fn joined(mesh: &Mesh) -> Option<Vec<(&str, usize)>> {
    let mut out: Vec<(&str, usize)> = Vec::new();
    let mut last = None;
    for part in &mesh.parts {
        if last.replace(part.source_mesh) == Some(part.source_mesh) {
            continue;
        }
        let first = part.vertices.start;
        if out.last().is_some_and(|(_, before)| *before >= first) {
            return None;
        }
        out.push((&part.name, first));
    }
    (out.len() > 1).then_some(out)
}

fn write_mesh(npz: &mut Npz, prefix: &str, mesh: &CachedMesh<'_>) -> io::Result<()> {
    let (frames, vertices) = (mesh.frames.len(), mesh.mesh.vertex_count());
    let per_vertex = |width: usize| [frames, vertices, width];
    let all = || mesh.frames.iter();
    for name in names(mesh) {
        let own = format!("{prefix}{name}");
        match name {
            "positions" => array(npz, &own, &per_vertex(3), |out| {
                put_all(out, all().map(CachedFrame::position_numbers))
            })?,
            "normals" => array(npz, &own, &per_vertex(3), |out| {
                put_all(out, all().filter_map(CachedFrame::normal_numbers))
            })?,
            "tangents" => array(npz, &own, &per_vertex(4), |out| {
                put_all(out, all().filter_map(CachedFrame::tangent_numbers))
            })?,
            "colors" => array(npz, &own, &per_vertex(4), |out| {
                put_all(out, all().filter_map(CachedFrame::color_numbers))
            })?,
            "indices" => {
                let triangles = mesh.mesh.topology.triangles();
                words(npz, &own, &[triangles.len(), 3], triangles.as_flattened())?;
            }
            "mesh_names" => texts(npz, &own, joined(mesh.mesh).iter().flatten().map(|m| m.0))?,
            "mesh_offsets" => {
                let firsts = joined(mesh.mesh).into_iter().flatten().map(|m| m.1);
                let offsets: Vec<u32> = firsts.chain([vertices]).map(index32).collect();
                words(npz, &own, &[offsets.len()], &offsets)?;
            }
            "strand_offsets" => {
                let strands = mesh.mesh.topology.strands();
                let offsets = strands.map_or(&[][..], Strands::offsets);
                words(npz, &own, &[offsets.len()], offsets)?;
            }
            _ => array(npz, &own, &[vertices], |out| {
                put_f32s(out, mesh.mesh.strand_thickness().unwrap_or_default())
            })?,
        }
    }
    Ok(())
}

/// The numbers of all frames, one frame in memory at a time.
fn put_all<'a>(
    out: &mut dyn Write,
    mut frames: impl Iterator<Item = &'a Numbers>,
) -> io::Result<()> {
    frames.try_for_each(|numbers| put_f32s(out, &numbers.all()?))
}

fn words(npz: &mut Npz, name: &str, shape: &[usize], words: &[u32]) -> io::Result<()> {
    entry(npz, name, "<u4", shape, |out| put_u32s(out, words))
}

/// An array of texts with the length of the longest.
fn texts<'a>(
    npz: &mut Npz,
    name: &str,
    texts: impl Iterator<Item = &'a str> + Clone,
) -> io::Result<()> {
    let letters = |text: &str| text.chars().count();
    let longest = texts.clone().map(letters).max().unwrap_or(0).max(1);
    let count = texts.clone().count();
    let header = npy_header(&format!("<U{longest}"), &[count])?;
    let bytes = 4 * (longest as u64) * (count as u64) + header.len() as u64;
    npz.entry(&format!("{name}.npy"), bytes, |out| {
        out.write_all(&header)?;
        texts.into_iter().try_for_each(|text| {
            let padded = text.chars().map(u32::from).chain(std::iter::repeat(0));
            let padded: Vec<u32> = padded.take(longest).collect();
            put_u32s(out, &padded)
        })
    })
}

fn array(
    npz: &mut Npz,
    name: &str,
    shape: &[usize],
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    entry(npz, name, "<f4", shape, fill)
}

/// An array of numbers with four bytes each.
fn entry(
    npz: &mut Npz,
    name: &str,
    dtype: &str,
    shape: &[usize],
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let header = npy_header(dtype, shape)?;
    let bytes = shape.iter().fold(4_u64, |n, &s| n.saturating_mul(s as u64));
    let bytes = bytes.saturating_add(header.len() as u64);
    npz.entry(&format!("{name}.npy"), bytes, |out| {
        out.write_all(&header)?;
        fill(out)
    })
}

/// Header of an NPY file, version 1.0, padded to 64 bytes.
fn npy_header(dtype: &str, shape: &[usize]) -> io::Result<Vec<u8>> {
    let sizes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let dict = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({sizes}), }}");
    let before = b"\x93NUMPY\x01\0";
    let prefix = before.len() + 2;
    let width = (prefix + dict.len() + 1).next_multiple_of(64) - prefix;
    let length = u16::try_from(width)
        .map_err(|_| io::Error::other(format!("an array of {} dimensions", shape.len())))?;
    let mut header = before.to_vec();
    header.extend(length.to_le_bytes());
    writeln!(header, "{dict:0$}", width - 1)?;
    Ok(header)
}

/// Checks that array names are unique and stay inside the archive.
fn check_names(
    path: &Path,
    meshes: &[CachedMesh<'_>],
    extras: &[ExtraArray],
) -> Result<(), IoError> {
    let plain = meshes.iter().take(1).flat_map(names).map(str::to_owned);
    // Readers recognise these names even if the mesh lacks the array.
    let reserved = [
        "positions",
        "normals",
        "tangents",
        "colors",
        "indices",
        "times",
    ];
    let mut taken: BTreeSet<String> = plain.chain(reserved.map(str::to_owned)).collect();
    let of_others = meshes.iter().skip(1).flat_map(|mesh| {
        let of_mesh = names(mesh).map(|name| prefix(mesh) + name);
        of_mesh.collect::<Vec<_>>()
    });
    for name in of_others.chain(extras.iter().map(|e| e.name.clone())) {
        let is_plain = !name.is_empty() && !name.contains(['/', '\\', '\0']);
        if !is_plain || taken.contains(&name) {
            return Err(malformed(
                path,
                "extra array",
                format!("the array name '{}'", name.escape_debug()),
                "a unique name without slashes",
            ));
        }
        taken.insert(name);
    }
    Ok(())
}

fn check_extras(path: &Path, frames: usize, extras: &[ExtraArray]) -> Result<(), IoError> {
    for extra in extras {
        let name = extra.name.as_str();
        if extra.frames.len() != frames {
            let location = format!("frames of {name}");
            return Err(malformed(
                path,
                location,
                extra.frames.len().to_string(),
                frames.to_string(),
            ));
        }
        let size = extra
            .shape
            .iter()
            .fold(1_usize, |n, &s| n.saturating_mul(s));
        if let Some(k) = extra.frames.iter().position(|f| f.len() != size) {
            let location = format!("numbers in frame {k} of {name}");
            return Err(malformed(
                path,
                location,
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

    /// An outside reader of the same file.
    fn numpy(path: &Path, expression: &str) {
        reader::python(
            path,
            &format!("import sys, numpy as np\na = np.load(sys.argv[1])\nassert {expression}"),
        );
    }

    #[test]
    fn one_array_is_these_bytes() {
        let folder = tempfile::tempdir().expect("temp");
        let path = folder.path().join("x.npz");
        let mut npz = ZipWriter::new(AtomicFile::create(&path).expect("made"));
        array(&mut npz, "a", &[2], |out| put_f32s(out, &[1.0, -2.0])).expect("written");
        npz.finish().expect("written").commit().expect("there");
        let dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, ), }";
        let npy = [
            b"\x93NUMPY\x01\0\x76\0",
            format!("{dict:117}\n").as_bytes(),
            b"\0\0\x80\x3f\0\0\0\xc0",
        ]
        .concat();
        let sizes = b"\x88\0\0\0\x88\0\0\0\x05\0\0\0";
        let checksum = crc32fast::hash(&npy).to_le_bytes();
        let common = [b"\x14\0\0\0\0\0\0\0\x21\0", &checksum[..], sizes].concat();
        let expected = [
            b"PK\x03\x04",
            &common[..],
            b"a.npy",
            &npy,
            b"PK\x01\x02\x2e\x03",
            &common,
            &[0; 6],
            b"\0\0\xa4\x01\0\0\0\0a.npy",
            b"PK\x05\x06\0\0\0\0\x01\0\x01\0\x33\0\0\0\xab\0\0\0\0\0",
        ]
        .concat();
        assert_eq!(std::fs::read(&path).expect("reads"), expected);
        numpy(&path, "a.files == ['a'] and a['a'].tolist() == [1, -2]");
    }

    #[test]
    fn arrays_have_the_documented_shapes_and_numbers() {
        let mesh = meshes::sphere(5, 6);
        let n = mesh.vertex_count();
        let frames: Vec<CachedFrame> = (0..3)
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
            .map(CachedFrame::from)
            .collect();
        let cached = CachedMesh {
            name: "sphere".into(),
            mesh: &mesh,
            frames,
        };
        let extra = |name: &str, shape: Vec<usize>, n: usize| ExtraArray {
            name: name.into(),
            shape,
            frames: (0..3).map(|k| vec![k as f32; n].into()).collect(),
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
        let found = reader::arrays(&path);
        let floats = |name: &str| found[name].numbers::<f32>("<f4");
        let positions = floats("positions");
        assert_eq!(found["positions"].shape, [3, n, 3]);
        assert_eq!(
            positions[n * 6..],
            *cached.frames[2].position_numbers().all().expect("here")
        );
        let triangles = mesh.topology.triangles();
        assert_eq!(found["indices"].shape, [triangles.len(), 3]);
        let indices = found["indices"].numbers::<u32>("<u4");
        assert_eq!(indices, triangles.as_flattened());
        assert_eq!(floats("times"), [0.0, 0.5, 1.0]);
        assert_eq!(found["weights"].shape, [3, 2, 2]);
        assert_eq!(found["speed"].shape, [3]);
        assert_eq!(floats("speed"), [0.0, 1.0, 2.0]);
        assert_eq!(floats("normals").len(), 9 * n);
        assert!(!found.contains_key("tangents"), "not in every frame");
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

    #[test]
    fn joined_meshes_say_which_vertices_are_whose() {
        let mut one = sinew_geom::Asset::default();
        for (name, rings) in [("Körper", 5), ("eyes", 4), ("eyes", 4)] {
            let mut mesh = meshes::sphere(rings, 6);
            mesh.name = name.into();
            one.meshes.push(mesh);
        }
        let write = |mesh: &Mesh, path: &Path| {
            let frame = FrameData {
                positions: mesh.positions.clone(),
                ..FrameData::default()
            };
            let cached = CachedMesh {
                name: "body".into(),
                mesh,
                frames: vec![frame.into()],
            };
            write_npz(path, &cached, &[0.0], &[]).expect("written");
        };
        let dir = tempfile::tempdir().expect("temp");
        let path = dir.path().join("x.npz");
        let all = one.merged(&sinew_geom::Selection::All).expect("joined");
        write(&all, &path);
        let [body, eyes] = [0, 1].map(|i| one.meshes[i].vertex_count());
        let offsets = [0, body, body + eyes, body + 2 * eyes];
        numpy(
            &path,
            &format!(
                "a['mesh_names'].tolist() == ['Körper', 'eyes', 'eyes'] and a['mesh_offsets'].tolist() == {offsets:?}"
            ),
        );
        write(&one.meshes[0], &path);
        assert!(
            !reader::arrays(&path).contains_key("mesh_names"),
            "one mesh"
        );
    }
}
