//! Writer of `.tfxmesh` files.

use crate::fault::{cannot_write, malformed, warning};
use crate::{AtomicFile, IoError};
use sinew_geom::{Influences, Mesh, Rig, Warning};
use std::io::{self, Write};
use std::path::Path;

/// Influences per vertex.
const INFLUENCES: usize = 4;

/// Writes a skinned mesh as `.tfxmesh`: every joint of the rig as a bone, triangles, normals, and the four strongest
/// weights of each vertex, normalised. Numbers are written exactly: reading gives the same bits. (The TressFX exporter
/// writes six digits.)
///
/// Gives warnings for data that the format does not support.
///
/// # Errors
/// [`IoError::Malformed`] for meshes without normals or joint weights, arrays that do not match, and joints without a
/// name; [`IoError::Write`].
pub fn write_tfx_mesh(path: &Path, mesh: &Mesh, rig: &Rig) -> Result<Vec<Warning>, IoError> {
    let wrong =
        |location: &str, found: String, expected: &str| malformed(path, location, found, expected);
    mesh.check()
        .map_err(|e| wrong("mesh", e.to_string(), "arrays of matching lengths"))?;
    let (Some(normals), Some(influences)) = (&mesh.normals, &mesh.influences) else {
        let found = format!("mesh '{}' without normals or joint weights", mesh.name);
        return Err(wrong("normals and joint weights", found, "both"));
    };
    let names: Vec<&str> = rig
        .joints()
        .iter()
        .map(|j| rig.nodes()[j.node].name.as_str())
        .collect();
    let is_bad = |n: &&str| n.trim().is_empty() || n.contains(char::is_control) || *n != n.trim();
    if let Some((index, name)) = names.iter().enumerate().find(|(_, n)| is_bad(n)) {
        let found = format!("'{}'", name.escape_debug());
        return Err(wrong(
            &format!("joint {index}"),
            found,
            "a name without line breaks",
        ));
    }
    if let Some(joint) = influences
        .joints()
        .iter()
        .find(|j| **j as usize >= names.len())
    {
        let expected = format!("a joint below {}", names.len());
        return Err(wrong("joint weights", format!("joint {joint}"), &expected));
    }
    let mut out = AtomicFile::create(path)?;
    put(&mut out, mesh, normals, influences, &names).map_err(cannot_write(path))?;
    out.commit()?;
    Ok(left_out(mesh, influences))
}

fn put(
    out: &mut AtomicFile,
    mesh: &Mesh,
    normals: &[[f32; 3]],
    influences: &Influences,
    names: &[&str],
) -> io::Result<()> {
    writeln!(out, "numOfBones {}", names.len())?;
    writeln!(out, "# bone index, bone name")?;
    for (index, name) in names.iter().enumerate() {
        writeln!(out, "{index} {name}")?;
    }
    writeln!(out, "numOfVertices {}", mesh.positions.len())?;
    writeln!(
        out,
        "# vertex index, position, normal, four bones, four weights"
    )?;
    for (v, ([x, y, z], [a, b, c])) in mesh.positions.iter().zip(normals).enumerate() {
        write!(out, "{v} {x} {y} {z} {a} {b} {c}")?;
        let strongest = strongest(influences, v);
        strongest.iter().try_for_each(|s| write!(out, " {}", s.0))?;
        strongest.iter().try_for_each(|s| write!(out, " {}", s.1))?;
        writeln!(out)?;
    }
    let triangles = mesh.topology.triangles();
    writeln!(out, "numOfTriangles {}", triangles.len())?;
    writeln!(out, "# triangle index, vertices")?;
    for (index, [a, b, c]) in triangles.iter().enumerate() {
        writeln!(out, "{index} {a} {b} {c}")?;
    }
    Ok(())
}

/// The four strongest influences of a vertex, strongest first, normalised. Unused slots have joint 0 and weight 0.
fn strongest(influences: &Influences, vertex: usize) -> [(u32, f32); INFLUENCES] {
    let mut row: Vec<(u32, f32)> = influences.row(vertex).collect();
    row.sort_by(|a, b| b.1.total_cmp(&a.1));
    let is_cut = row.len() > INFLUENCES;
    row.truncate(INFLUENCES);
    let sum: f32 = row.iter().map(|i| i.1).sum();
    let mut out = [(0, 0.0); INFLUENCES];
    for (out, (joint, weight)) in out.iter_mut().zip(row) {
        *out = (joint, if is_cut { weight / sum } else { weight });
    }
    out
}

fn left_out(mesh: &Mesh, influences: &Influences) -> Vec<Warning> {
    let mut out = Vec::new();
    let cut = (0..mesh.vertex_count()).filter(|v| influences.row(*v).len() > INFLUENCES);
    let cut = cut.count();
    if cut > 0 {
        let message = format!(
            "{cut} vertices have more than {INFLUENCES} influences; only the {INFLUENCES} strongest are written"
        );
        out.push(warning("influences_left_out", message));
    }
    let lists = [
        ("texture coordinates", mesh.uvs.len()),
        ("colours", mesh.colors.len()),
        ("attributes", mesh.attributes.len()),
        ("morph targets", mesh.morph_targets.len()),
        ("tangents", usize::from(mesh.tangents.is_some())),
    ];
    let lost: Vec<&str> = lists.iter().filter(|l| l.1 > 0).map(|l| l.0).collect();
    if !lost.is_empty() {
        let message = format!(
            "not written, since .tfxmesh does not support them: {}",
            lost.join(", ")
        );
        out.push(warning("not_in_tfxmesh", message));
    }
    out
}
