//! Strands and their bones as an asset.

use super::mesh::{rig, weight_warnings};
use super::{
    BoneWeight, TfxBones, TfxStrands, read_tfx, read_tfx_bones, write_tfx, write_tfx_bones,
};
use crate::fault::{file_stem, malformed, warning};
use crate::strand_checks::repeated_points;
use crate::{Folders, IoError};
use sinew_geom::{Asset, Attribute, Influences, Mesh, Rig, Strands, Topology, Warning};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Reads a `.tfx` file, and the `.tfxbone` file of the same name if it exists, as an asset of strands. The vertex
/// attribute `inverse_mass` is 0 for pinned vertices. Each vertex follows the bones of its strand. Bones are only names
/// ([`Asset::joints_are_names`]). Positions are in the unit and axes of the file.
///
/// # Errors
/// As [`read_tfx`] and [`read_tfx_bones`]; [`IoError::Malformed`] if the two files have different numbers of strands.
pub fn read_tfx_asset(path: &Path) -> Result<Asset, IoError> {
    let mut file = read_tfx(path)?;
    let mut warnings = std::mem::take(&mut file.warnings);
    let mut mesh = mesh(&file, path)?;
    warnings.extend(repeated_points(&mesh));
    let beside = path.with_extension("tfxbone");
    let mut bones = Vec::new();
    if beside.symlink_metadata().is_ok() {
        let name = beside.file_name().unwrap_or_default().to_string_lossy();
        Folders::of_file(path).find(&name)?;
        let file_of_bones = read_tfx_bones(&beside)?;
        check_count(&file, &file_of_bones, &beside)?;
        mesh.influences = Some(influences(&file, &file_of_bones, &beside, &mut warnings)?);
        warnings.extend(file_of_bones.warnings);
        bones = file_of_bones.bones;
    }
    let rig = rig(bones).map_err(|e| malformed(&beside, "bones", e.to_string(), "names"))?;
    Ok(Asset {
        name: file_stem(path),
        strands: vec![mesh],
        rig: Arc::new(rig),
        joints_are_names: true,
        warnings,
        ..Asset::default()
    })
}

fn check_count(strands: &TfxStrands, bones: &TfxBones, path: &Path) -> Result<(), IoError> {
    let (found, expected) = (bones.strands.len(), strands.strand_count());
    if found == expected {
        return Ok(());
    }
    let expected = format!("{expected} as in the .tfx file of the same name");
    Err(malformed(
        path,
        "number of strands",
        found.to_string(),
        expected,
    ))
}

fn mesh(file: &TfxStrands, path: &Path) -> Result<Mesh, IoError> {
    let per_strand = file.vertices_per_strand;
    let lengths = std::iter::repeat_n(per_strand, file.strand_count());
    let strands = Strands::new(lengths).map_err(|e| {
        malformed(
            path,
            "strands",
            e.to_string(),
            "strands with at least 2 vertices",
        )
    })?;
    let vertices = &file.vertices;
    let positions = vertices.iter().map(|v| [v[0], v[1], v[2]]).collect();
    let mut out = Mesh::new(file_stem(path), Topology::from_strands(strands), positions);
    let masses = vertices.iter().map(|v| v[3]).collect();
    out.attributes
        .insert("inverse_mass".into(), Attribute::Scalar(masses));
    if let Some(thickness) = &file.thickness {
        let all = of_vertices(thickness, per_strand);
        out.attributes
            .insert("thickness".into(), Attribute::Scalar(all));
    }
    let of_roots = || Some(of_vertices(file.root_uvs.as_ref()?, per_strand));
    out.uvs.extend(file.vertex_uvs.clone().or_else(of_roots));
    out.colors.extend(file.colors.clone());
    Ok(out)
}

/// Copies values of strands to each of their vertices.
fn of_vertices<T: Copy>(of_strands: &[T], per_strand: usize) -> Vec<T> {
    let each = |v: &T| std::iter::repeat_n(*v, per_strand);
    of_strands.iter().flat_map(each).collect()
}

fn influences(
    strands: &TfxStrands,
    bones: &TfxBones,
    path: &Path,
    warnings: &mut Vec<Warning>,
) -> Result<Influences, IoError> {
    if bones.bones.is_empty() {
        return Err(malformed(path, "bones", "none", "at least one"));
    }
    let (rows, unnormalised, empty) = bones
        .rows()
        .map_err(|e| malformed(path, "strands", e.to_string(), "valid bone weights"))?;
    warnings.extend(weight_warnings("strands", &unnormalised, &empty));
    let strand_of = |v| v / strands.vertices_per_strand;
    Ok(rows.gathered((0..strands.vertices.len()).map(strand_of)))
}

/// Writes guide strands as a `.tfx` file. If they follow joints, also writes the `.tfxbone` file with the names of
/// these joints of `rig`.
///
/// [`read_tfx_asset`] reads the same positions, `inverse_mass` (without this attribute, the first two vertices of each
/// strand are pinned), `thickness` of first vertices, and texture coordinates of roots. Gives warnings for dropped
/// data: followers (TressFX generates its own), and weights beyond four.
///
/// # Errors
/// As [`write_tfx`] and [`write_tfx_bones`]; [`IoError::Unsupported`] if strands have different vertex counts.
pub fn write_tfx_asset(path: &Path, mesh: &Mesh, rig: &Rig) -> Result<Vec<Warning>, IoError> {
    let Some(strands) = mesh.topology.strands().filter(|s| !s.is_empty()) else {
        return Err(malformed(
            path,
            "strands",
            "a mesh without strands",
            "strands",
        ));
    };
    let mut warnings = Vec::new();
    let guides: Vec<Range<usize>> = strands.guide_strands().map(|s| strands.range(s)).collect();
    if guides.len() < strands.len() {
        let message = format!(
            "{} follower strands are not written",
            strands.len() - guides.len()
        );
        warnings.push(warning("followers", message));
    }
    let each = guides[0].len();
    if let Some(other) = guides.iter().find(|g| g.len() != each) {
        return Err(IoError::Unsupported {
            path: path.to_owned(),
            location: "strands".into(),
            feature: format!(
                "a mix of strands with {each} and with {} vertices",
                other.len()
            ),
            help: "all strands of a .tfx file must have the same number of vertices; resample them"
                .into(),
        });
    }
    write_tfx(path, &file_of(mesh, &guides))?;
    if let Some(influences) = &mesh.influences {
        let (bones, cut) = bones_of(influences, &guides, rig);
        if cut > 0 {
            let message = format!(
                "{cut} strands follow more than 4 joints; only the 4 strongest are written"
            );
            warnings.push(warning("joint_weights", message));
        }
        write_tfx_bones(&path.with_extension("tfxbone"), &bones)?;
    }
    Ok(warnings)
}

fn file_of(mesh: &Mesh, guides: &[Range<usize>]) -> TfxStrands {
    let each = guides[0].len();
    let scalar = |name: &str| match mesh.attributes.get(name) {
        Some(Attribute::Scalar(values)) if values.len() == mesh.positions.len() => Some(values),
        _ => None,
    };
    let masses = scalar("inverse_mass");
    let vertex = |(v, k): (usize, usize)| {
        let [x, y, z] = mesh.positions[v];
        let pinned = if k < 2 { 0.0 } else { 1.0 };
        [x, y, z, masses.map_or(pinned, |m| m[v])]
    };
    let of_roots = |uvs: &Vec<[f32; 2]>| guides.iter().map(|g| uvs[g.start]).collect();
    let uvs = mesh
        .uvs
        .first()
        .filter(|uv| uv.len() == mesh.positions.len());
    TfxStrands {
        version: 4.0,
        vertices_per_strand: each,
        vertices: guides
            .iter()
            .flat_map(|g| g.clone().zip(0..))
            .map(vertex)
            .collect(),
        root_uvs: uvs.map(of_roots),
        thickness: scalar("thickness").map(|t| guides.iter().map(|g| t[g.start]).collect()),
        ..TfxStrands::default()
    }
}

/// Bones of roots, and the number of strands with more bones than the format allows.
fn bones_of(influences: &Influences, guides: &[Range<usize>], rig: &Rig) -> (TfxBones, usize) {
    let mut used: Vec<u32> = guides
        .iter()
        .flat_map(|g| influences.row(g.start).map(|r| r.0))
        .collect();
    used.sort_unstable();
    used.dedup();
    let mut cut = 0;
    let strands = guides.iter().map(|g| {
        let mut out = [BoneWeight {
            bone: -1,
            weight: 0.0,
        }; 4];
        let row = influences.row(g.start);
        cut += usize::from(row.len() > out.len());
        for (slot, (joint, weight)) in out.iter_mut().zip(row) {
            let bone = used
                .binary_search(&joint)
                .ok()
                .and_then(|b| i32::try_from(b).ok());
            *slot = BoneWeight {
                bone: bone.unwrap_or(-1),
                weight,
            };
        }
        let sum: f32 = out.iter().map(|b| b.weight).sum();
        if sum > 0.0 {
            out.iter_mut().for_each(|b| b.weight /= sum);
        }
        out
    });
    let strands = strands.collect();
    let bones = used.iter().map(|j| rig.joint_name(*j as usize).to_owned());
    let bones = TfxBones {
        bones: bones.collect(),
        strands,
        ..TfxBones::default()
    };
    (bones, cut)
}
