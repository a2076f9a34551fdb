//! One primitive: attributes and triangles as stored.

use super::document::{Document, Warnings};
use super::sharing::Run;
use super::{extensions, lines};
use crate::IoError;
use gltf_json::accessor::ComponentType;
use gltf_json::mesh::{Mode, Semantic};
use gltf_json::validation::Checked;
use sinew_geom::{Attribute, index32, vec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The triangles of one primitive.
#[derive(Debug, Default)]
pub(super) struct Triangles {
    /// Index in the file's mesh.
    pub(super) index: usize,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) material: Option<usize>,
}

/// Attributes that primitives share, and the triangles of each. Line primitives are never shared.
#[derive(Debug, Default)]
pub(super) struct Primitive {
    /// `meshes[0].primitives[0]`.
    pub(super) location: String,
    pub(super) positions: Vec<[f32; 3]>,
    pub(super) normals: Option<Vec<[f32; 3]>>,
    pub(super) tangents: Option<Vec<[f32; 4]>>,
    pub(super) uvs: Vec<Vec<[f32; 2]>>,
    pub(super) colors: Vec<Vec<[f32; 4]>>,
    pub(super) attributes: BTreeMap<String, Attribute>,
    pub(super) joints: Vec<Vec<[u16; 4]>>,
    pub(super) weights: Vec<Vec<[f32; 4]>>,
    /// One entry per primitive, in file order; empty for lines.
    pub(super) faces: Vec<Triangles>,
    /// For lines: vertex count of each strand. Vertices are in strand order.
    pub(super) strands: Option<Vec<usize>>,
    pub(super) material: Option<usize>,
    /// Index of the first primitive in the file's mesh.
    pub(super) index: usize,
    /// Number of vertices in the file.
    pub(super) stored: usize,
    /// Rows that were read, increasing; `None` for all.
    pub(super) rows: Option<Arc<[u32]>>,
}

/// `None` for points and for lines of one vertex.
pub(super) fn read(
    doc: &Document,
    mesh: usize,
    run: &Run,
    budget: &mut usize,
    warnings: &mut Warnings,
) -> Result<Option<Primitive>, IoError> {
    let Some(&first) = run.primitives.first() else {
        return Ok(None);
    };
    let json = &doc.root.meshes[mesh].primitives[first];
    let location = place_of(mesh, first);
    let mut modes = Vec::new();
    for &index in &run.primitives {
        let location = place_of(mesh, index);
        // Minimum cost of a primitive. Nodes may share it.
        doc.spend(&location, 1, 1024)?;
        let Checked::Valid(mode) = doc.root.meshes[mesh].primitives[index].mode else {
            return Err(doc.malformed(format!("{location}.mode"), "an invalid value", "0 to 6"));
        };
        if mode == Mode::Points {
            let message = format!("{location} contains points; it was skipped");
            warnings.push("primitive_skipped", message);
            return Ok(None);
        }
        extensions::check_compression(doc, mesh, index, &location)?;
        modes.push(mode);
    }
    let Some(positions) = json.attributes.get(&Checked::Valid(Semantic::Positions)) else {
        return Err(doc.malformed(
            format!("{location}.attributes"),
            "no POSITION",
            "vertex positions",
        ));
    };
    let accessor = doc.accessor(
        positions.value(),
        &format!("{location}.attributes.POSITION"),
    )?;
    let stored = accessor.count;
    let mut corners = Vec::new();
    for &index in &run.primitives {
        corners.push(indices(doc, mesh, index, stored)?);
    }
    let rows = used_rows(run, stored, &mut corners);
    let accessor = accessor.at(rows.as_deref());
    *budget = budget.checked_sub(accessor.count).ok_or_else(|| {
        doc.malformed(
            format!("{location}.attributes.POSITION"),
            format!("{} more vertices", accessor.count),
            format!("at most {} vertices in all meshes", super::MAX_VERTICES),
        )
    })?;
    let mut out = Primitive {
        positions: accessor.vectors()?,
        material: json.material.map(|m| m.value()),
        index: first,
        location,
        stored,
        rows,
        ..Primitive::default()
    };
    read_attributes(doc, json, &mut out)?;
    if is_line(modes[0]) {
        return lines::into_strands(doc, json, modes[0], &corners[0], out, warnings);
    }
    for ((&index, mode), corners) in run.primitives.iter().zip(modes).zip(corners) {
        if mode == Mode::Triangles && !corners.len().is_multiple_of(3) {
            let location = format!("{}.indices", place_of(mesh, index));
            let found = format!("{} indices", corners.len());
            return Err(doc.malformed(location, found, "a multiple of 3"));
        }
        let material = doc.root.meshes[mesh].primitives[index].material;
        out.faces.push(Triangles {
            index,
            triangles: assemble(mode, &corners),
            material: material.map(|m| m.value()),
        });
    }
    Ok(Some(out))
}

fn place_of(mesh: usize, index: usize) -> String {
    format!("meshes[{mesh}].primitives[{index}]")
}

pub(super) fn is_line(mode: Mode) -> bool {
    matches!(mode, Mode::Lines | Mode::LineLoop | Mode::LineStrip)
}

/// If other primitives use the same vertices: the vertices that these corners use. Renumbers the corners accordingly.
fn used_rows(run: &Run, stored: usize, corners: &mut [Vec<u32>]) -> Option<Arc<[u32]>> {
    if !run.shares_vertices || stored == 0 {
        return None;
    }
    let mut rows: Vec<u32> = corners.iter().flatten().copied().collect();
    rows.sort_unstable();
    rows.dedup();
    if rows.is_empty() {
        rows.push(0);
    }
    if rows.len() == stored {
        return None;
    }
    for corner in corners.iter_mut().flatten() {
        *corner = index32(rows.partition_point(|r| r < corner));
    }
    Some(rows.into())
}

fn read_attributes(
    doc: &Document,
    json: &gltf_json::mesh::Primitive,
    out: &mut Primitive,
) -> Result<(), IoError> {
    let rows = out.rows.clone();
    for (semantic, accessor) in &json.attributes {
        let Checked::Valid(semantic) = semantic else {
            continue;
        };
        if *semantic == Semantic::Positions {
            continue;
        }
        let location = format!("{}.attributes.{}", out.location, semantic.to_string());
        let accessor = doc.accessor(accessor.value(), &location)?;
        accessor.expect_count(out.stored, "the number of positions")?;
        let accessor = accessor.at(rows.as_deref());
        // The map is sorted by set, so a set that arrives past the end means a gap before it.
        let gap = |set: u32, have: usize| {
            if set as usize == have {
                return Ok(());
            }
            Err(doc.malformed(
                location.as_str(),
                format!("set {set} after {have} sets"),
                format!("set {have}"),
            ))
        };
        match semantic {
            Semantic::Positions => {}
            Semantic::Normals => {
                let mut normals = accessor.vectors()?;
                if accessor.component != ComponentType::F32 {
                    normals.iter_mut().for_each(normalise);
                }
                out.normals = Some(normals);
            }
            Semantic::Tangents => {
                let mut tangents: Vec<[f32; 4]> = accessor.vectors()?;
                if accessor.component != ComponentType::F32 {
                    tangents.iter_mut().for_each(normalise_tangent);
                }
                out.tangents = Some(tangents);
            }
            Semantic::TexCoords(set) => {
                gap(*set, out.uvs.len())?;
                out.uvs.push(accessor.vectors()?);
            }
            Semantic::Colors(set) => {
                gap(*set, out.colors.len())?;
                out.colors.push(if accessor.width == 3 {
                    let rgb: Vec<[f32; 3]> = accessor.vectors()?;
                    rgb.iter().map(|c| [c[0], c[1], c[2], 1.0]).collect()
                } else {
                    accessor.vectors()?
                });
            }
            Semantic::Joints(set) => {
                gap(*set, out.joints.len())?;
                out.joints.push(accessor.joints()?);
            }
            Semantic::Weights(set) => {
                gap(*set, out.weights.len())?;
                out.weights.push(accessor.vectors()?);
            }
            Semantic::Extras(name) => {
                let attribute = match accessor.width {
                    1 => Attribute::Scalar(accessor.numbers()?),
                    2 => Attribute::Vec2(accessor.vectors()?),
                    3 => Attribute::Vec3(accessor.vectors()?),
                    4 => Attribute::Vec4(accessor.vectors()?),
                    // Matrices have no counterpart in a mesh.
                    _ => continue,
                };
                out.attributes.insert(name.clone(), attribute);
            }
        }
    }
    if out.joints.len() != out.weights.len() {
        return Err(doc.malformed(
            format!("{}.attributes", out.location),
            format!(
                "{} JOINTS and {} WEIGHTS sets",
                out.joints.len(),
                out.weights.len()
            ),
            "the same number of both",
        ));
    }
    Ok(())
}

/// Quantised vectors are unit vectors only up to the quantisation step.
fn normalise(v: &mut [f32; 3]) {
    let length = vec3::length(*v);
    if length > 0.0 {
        *v = v.map(|c| c / length);
    }
}

fn normalise_tangent(t: &mut [f32; 4]) {
    let mut xyz = [t[0], t[1], t[2]];
    normalise(&mut xyz);
    *t = [xyz[0], xyz[1], xyz[2], t[3].signum()];
}

/// Vertex indices in order, each in range.
fn indices(doc: &Document, mesh: usize, index: usize, count: usize) -> Result<Vec<u32>, IoError> {
    let location = format!("{}.indices", place_of(mesh, index));
    let indices = match doc.root.meshes[mesh].primitives[index].indices {
        Some(accessor) => doc.accessor(accessor.value(), &location)?.indices()?,
        None => (0..index32(count)).collect(),
    };
    let largest = indices.iter().fold(0, |m, &i| m.max(i));
    if !indices.is_empty() && largest as usize >= count {
        let at = indices
            .iter()
            .position(|&i| i as usize >= count)
            .unwrap_or(0);
        return Err(doc.malformed(
            location,
            format!("vertex {} as index {at}", indices[at]),
            format!("a vertex below {count}"),
        ));
    }
    Ok(indices)
}

/// Converts strips and fans to triangles in glTF order. Leaves out degenerate triangles that stitch strips.
fn assemble(mode: Mode, indices: &[u32]) -> Vec<[u32; 3]> {
    match mode {
        Mode::TriangleStrip => indices
            .windows(3)
            .enumerate()
            .map(|(i, w)| {
                if i % 2 == 0 {
                    [w[0], w[1], w[2]]
                } else {
                    [w[0], w[2], w[1]]
                }
            })
            .filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0])
            .collect(),
        Mode::TriangleFan => match indices {
            [center, rim @ ..] => rim.windows(2).map(|w| [w[0], w[1], *center]).collect(),
            [] => Vec::new(),
        },
        _ => indices.as_chunks::<3>().0.to_vec(),
    }
}
