//! Adds strands of hair to the GLB file of their character.

use super::GLTF_THICKNESS;
use super::container::editable;
use super::joints::{add_skin, used_joints, weigh};
use super::targets::{self, Appended};
use crate::bytes::{put_f32s, put_u32s};
use crate::fault::malformed;
use crate::{GltfSource, IoError};
use serde_json::{Value, json};
use sinew_geom::{Attribute, Mesh, Rig, Strands, THICKNESS};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

const U32: u32 = 5125;
const F32: u32 = 5126;
const LINES: u32 = 1;

/// Copies a GLB file, or an FBX file as GLB, and adds a line mesh: `strands`, in scene space at bind. The strands follow the file's joints by
/// their influences (joints of `rig`). `source` and `rig` are the result of reading the file. Texture coordinates and
/// attributes (as `_NAME`) are written, too. Everything else in the file stays.
///
/// # Errors
/// [`IoError::Read`], [`IoError::Write`]; [`IoError::Malformed`] if the file is not a GLB file or has changed since it
/// was read, if the mesh has no strands or numbers that are not finite, or if counts do not match;
/// [`IoError::Unsupported`] if the first buffer is external.
pub fn add_strands(
    glb_in: &Path,
    source: &GltfSource,
    rig: &Rig,
    strands: &Mesh,
    out: &Path,
) -> Result<(), IoError> {
    let bytes = editable(glb_in)?;
    add_strands_to(&bytes, glb_in, source, rig, strands, out)
}

/// As [`add_strands`], from the bytes of the GLB file. `path` appears in errors.
///
/// # Errors
/// As [`add_strands`].
pub fn add_strands_to(
    glb: &[u8],
    path: &Path,
    source: &GltfSource,
    rig: &Rig,
    strands: &Mesh,
    out: &Path,
) -> Result<(), IoError> {
    let mut opened = targets::open(glb, path, source)?;
    append(
        &mut opened.file,
        &source.rig_node_of_node,
        rig,
        strands,
        out,
    )?;
    targets::write(opened.file, &opened.binary, opened.behind, out)
}

/// Adds a line mesh to a document. `rig_node_of_node`: the rig node of each node of the document.
pub(super) fn append(
    file: &mut Appended<'_>,
    rig_node_of_node: &[usize],
    rig: &Rig,
    strands: &Mesh,
    path: &Path,
) -> Result<(), IoError> {
    let lines = check(strands, path)?;
    let mut primitive = json!({ "mode": LINES, "attributes": attributes(file, strands) });
    let segments: Vec<u32> = lines.segments().flatten().collect();
    let bytes = words(|bytes| put_u32s(bytes, &segments));
    let view = file.view(&bytes);
    let indices = json!({ "bufferView": view, "componentType": U32, "count": segments.len(), "type": "SCALAR" });
    primitive["indices"] = file.add("accessors", indices).into();
    let mut node = json!({ "name": strands.name });
    if let Some(rows) = &strands.influences {
        let used = used_joints(file, rig, rows, &strands.name)?;
        let of_rig = rig_node_of_node.iter().zip(0_usize..);
        let of_rig: BTreeMap<usize, usize> = of_rig.map(|(rig, node)| (*rig, node)).collect();
        let skin = add_skin(file, |n| of_rig.get(&n).copied(), rig, &used)?;
        let all = 0..strands.positions.len();
        weigh(file, &mut primitive["attributes"], rows, all, &skin);
        node["skin"] = skin.index.into();
    }
    let mesh = json!({ "name": strands.name, "primitives": [primitive] });
    node["mesh"] = file.add("meshes", mesh).into();
    let node = file.add("nodes", node);
    show(file, node);
    Ok(())
}

fn check<'a>(mesh: &'a Mesh, path: &Path) -> Result<&'a Strands, IoError> {
    let wrong = |found: String, expected: &str| Err(malformed(path, "strands", found, expected));
    let Some(strands) = mesh.topology.strands() else {
        return wrong("a mesh of triangles".into(), "strands");
    };
    let (count, rows) = (mesh.positions.len(), mesh.influences.as_ref());
    if strands.is_empty() || strands.vertex_count() != count {
        return wrong(format!("{count} positions"), "one per vertex");
    }
    if let Some(p) = mesh
        .positions
        .iter()
        .find(|p| !p.iter().all(|c| c.is_finite()))
    {
        return wrong(format!("{p:?}"), "finite numbers");
    }
    if rows.is_some_and(|i| i.vertex_count() != count) {
        return wrong(
            "weights for another number of vertices".into(),
            "one row per vertex",
        );
    }
    Ok(strands)
}

/// All attributes except joints and weights.
fn attributes(file: &mut Appended<'_>, mesh: &Mesh) -> Value {
    let mut out = json!({});
    let positions = floats(file, mesh.positions.as_flattened(), 3, "VEC3");
    let bound = |pick: fn(f32, f32) -> f32| {
        let all = mesh.positions.iter().copied();
        all.reduce(|a, b| std::array::from_fn(|c| pick(a[c], b[c])))
    };
    file.root["accessors"][positions]["min"] = json!(bound(f32::min));
    file.root["accessors"][positions]["max"] = json!(bound(f32::max));
    out["POSITION"] = positions.into();
    let fits = |n: usize| n == mesh.positions.len();
    for (set, uvs) in mesh.uvs.iter().filter(|uv| fits(uv.len())).enumerate() {
        out[format!("TEXCOORD_{set}")] = floats(file, uvs.as_flattened(), 2, "VEC2").into();
    }
    for (set, colors) in mesh.colors.iter().filter(|c| fits(c.len())).enumerate() {
        out[format!("COLOR_{set}")] = floats(file, colors.as_flattened(), 4, "VEC4").into();
    }
    for (name, attribute) in &mesh.attributes {
        if fits(attribute.len()) {
            let name = match name.as_str() {
                THICKNESS => GLTF_THICKNESS.to_owned(),
                name => format!("_{name}"),
            };
            out[name] = custom(file, attribute, 0..attribute.len()).into();
        }
    }
    out
}

/// An accessor of an attribute's values in `range`.
pub(super) fn custom(file: &mut Appended<'_>, attribute: &Attribute, range: Range<usize>) -> usize {
    match attribute {
        Attribute::Scalar(v) => floats(file, &v[range], 1, "SCALAR"),
        Attribute::Vec2(v) => floats(file, v[range].as_flattened(), 2, "VEC2"),
        Attribute::Vec3(v) => floats(file, v[range].as_flattened(), 3, "VEC3"),
        Attribute::Vec4(v) => floats(file, v[range].as_flattened(), 4, "VEC4"),
    }
}

/// An accessor of single-precision numbers.
pub(crate) fn floats(file: &mut Appended<'_>, numbers: &[f32], width: usize, kind: &str) -> usize {
    let bytes = words(|bytes| put_f32s(bytes, numbers));
    let view = file.view(&bytes);
    let count = numbers.len() / width;
    file.add(
        "accessors",
        json!({ "bufferView": view, "componentType": F32, "count": count, "type": kind }),
    )
}

fn words(put: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail.
    let _ = put(&mut bytes);
    bytes
}

/// A 4x4 matrix in column order.
pub(crate) fn columns(affine: &sinew_geom::Affine<f64>) -> [f32; 16] {
    let (l, t) = (&affine.linear, &affine.translation);
    std::array::from_fn(|i| match (i % 4, i / 4) {
        (3, column) => f32::from(u8::from(column == 3)),
        (row, 3) => t[row] as f32,
        (row, column) => l[(row, column)] as f32,
    })
}

/// Adds a node to the default scene.
fn show(file: &mut Appended<'_>, node: usize) {
    if file.root["scenes"][0].is_null() {
        file.add("scenes", json!({}));
        file.root["scene"] = 0.into();
    }
    let shown = file.root["scene"]
        .as_u64()
        .and_then(|s| usize::try_from(s).ok());
    let scene = &mut file.root["scenes"][shown.unwrap_or(0)];
    targets::push(&mut scene["nodes"], node.into());
}
