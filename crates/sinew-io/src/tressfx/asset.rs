//! Strands and the bones beside them as an asset.

use super::mesh::{rig, weight_warnings};
use super::{TfxBones, TfxStrands, read_tfx, read_tfx_bones};
use crate::IoError;
use crate::fault::{file_stem, malformed};
use sinew_geom::{Asset, Attribute, Influences, Mesh, Strands, Topology, Warning};
use std::path::Path;
use std::sync::Arc;

/// Reads a `.tfx` file, and the `.tfxbone` file of the same name where there is one, as an asset of strands. The attribute `inverse_mass` of the
/// vertices is 0 where they are pinned; each vertex follows the bones of its strand. The bones are names alone ([`Asset::joints_are_names`]).
///
/// # Errors
/// As [`read_tfx`] and [`read_tfx_bones`]; [`IoError::Malformed`] where the two do not have the same number of strands.
pub fn read_tfx_asset(path: &Path) -> Result<Asset, IoError> {
    let mut file = read_tfx(path)?;
    let mut warnings = std::mem::take(&mut file.warnings);
    let mut mesh = mesh(&file, path)?;
    let beside = path.with_extension("tfxbone");
    let mut bones = Vec::new();
    if beside.is_file() {
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
    let expected = format!("{expected}, as the .tfx file beside it has");
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
            "strands of two vertices or more",
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

/// What strands have, for each of their vertices.
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
        return Err(malformed(path, "bones", "none", "one or more"));
    }
    let (rows, unnormalised, empty) = bones
        .rows()
        .map_err(|e| malformed(path, "strands", e.to_string(), "weights of bones"))?;
    warnings.extend(weight_warnings("strands", &unnormalised, &empty));
    let strand_of = |v| v / strands.vertices_per_strand;
    Ok(rows.gathered((0..strands.vertices.len()).map(strand_of)))
}
