//! Morph targets, stored only for vertices that move.

use super::document::Document;
use super::primitive::Primitive;
use crate::IoError;
use serde_json::Value;
use sinew_geom::{MorphTarget, index32};

type Deltas = Option<Vec<[f32; 3]>>;

/// The targets of a mesh over its primitives, which all have the same number of targets.
pub(super) fn read(
    doc: &Document,
    mesh: usize,
    primitives: &[Primitive],
) -> Result<Vec<MorphTarget>, IoError> {
    let json = &doc.root.meshes[mesh];
    let count = json.primitives[0].targets.as_ref().map_or(0, Vec::len);
    // Nodes that share a mesh each get their own targets.
    doc.spend(
        &format!("meshes[{mesh}].primitives[0].targets"),
        count,
        2 * size_of::<MorphTarget>(),
    )?;
    let names = target_names(&doc.json["meshes"][mesh]);
    (0..count)
        .map(|k| {
            let name = names[k]
                .as_str()
                .map_or_else(|| format!("target_{k}"), str::to_owned);
            read_target(doc, mesh, k, name, primitives)
        })
        .collect()
}

/// Target names of a mesh: its own, else those of the first primitive with names (VRM 0.x), else null.
pub(crate) fn target_names(mesh: &Value) -> &Value {
    let primitives = mesh["primitives"].as_array().into_iter().flatten();
    let mut lists = std::iter::once(mesh)
        .chain(primitives)
        .map(|m| &m["extras"]["targetNames"]);
    lists.find(|names| names.is_array()).unwrap_or(&Value::Null)
}

fn read_target(
    doc: &Document,
    mesh: usize,
    k: usize,
    name: String,
    primitives: &[Primitive],
) -> Result<MorphTarget, IoError> {
    let mut out = MorphTarget {
        name,
        ..MorphTarget::default()
    };
    let json = |p: &Primitive| doc.root.meshes[mesh].primitives[p.index].targets.as_ref();
    let target = |p: &Primitive| json(p).and_then(|t| t.get(k));
    let any =
        |f: fn(&gltf_json::mesh::MorphTarget) -> bool| primitives.iter().filter_map(target).any(f);
    let keep_normals = any(|t| t.normals.is_some());
    let keep_tangents = any(|t| t.tangents.is_some());
    let mut base = 0_u32;
    for p in primitives {
        let count = p.positions.len();
        if let Some(t) = target(p) {
            let read = |accessor: Option<gltf_json::Index<gltf_json::Accessor>>, what: &str| {
                let Some(accessor) = accessor else {
                    return Ok(None);
                };
                let location = format!("{}.targets[{k}].{what}", p.location);
                let accessor = doc.accessor(accessor.value(), &location)?;
                accessor.expect_count(p.stored, "the number of positions")?;
                accessor.at(p.rows.as_deref()).vectors::<3>().map(Some)
            };
            let deltas = [
                read(t.positions, "POSITION")?,
                read(t.normals, "NORMAL")?,
                read(t.tangents, "TANGENT")?,
            ];
            if deltas.iter().any(Option::is_some) {
                push_moving(&mut out, base, count, &deltas, keep_normals, keep_tangents);
            }
        }
        base += index32(count);
    }
    Ok(out)
}

fn push_moving(
    out: &mut MorphTarget,
    base: u32,
    count: usize,
    [positions, normals, tangents]: &[Deltas; 3],
    keep_normals: bool,
    keep_tangents: bool,
) {
    let at = |deltas: &Deltas, v: usize| deltas.as_ref().map_or([0.0; 3], |d| d[v]);
    for (vertex, v) in (base..).zip(0..count) {
        let (p, n, t) = (at(positions, v), at(normals, v), at(tangents, v));
        if p == [0.0; 3] && n == [0.0; 3] && t == [0.0; 3] {
            continue;
        }
        out.vertices.push(vertex);
        out.positions.push(p);
        if keep_normals {
            out.normals.push(n);
        }
        if keep_tangents {
            out.tangents.push(t);
        }
    }
}
