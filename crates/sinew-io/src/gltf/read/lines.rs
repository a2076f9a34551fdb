//! Line primitives as strands: vertices in the order of the polylines.

use super::document::{Document, Warnings};
use super::primitive::Primitive;
use crate::IoError;
use crate::gltf_write::GLTF_THICKNESS;
use gltf_json::mesh::Mode;
use sinew_geom::{Attribute, THICKNESS};

/// Converts a line primitive with checked indices to strands, with vertices in strand order. A vertex that several
/// strands share is duplicated. A line continues where the next one starts at its end. `None` with a warning for fewer
/// than two vertices.
pub(super) fn into_strands(
    doc: &Document,
    json: &gltf_json::mesh::Primitive,
    mode: Mode,
    indices: &[u32],
    primitive: Primitive,
    warnings: &mut Warnings,
) -> Result<Option<Primitive>, IoError> {
    let location = format!("{}.indices", primitive.location);
    if mode == Mode::Lines && !indices.len().is_multiple_of(2) {
        let found = format!("{} indices", indices.len());
        return Err(doc.malformed(location, found, "a multiple of 2"));
    }
    let polylines = polylines(mode, indices);
    if polylines.is_empty() {
        let count = ["no vertices", "a single vertex"][indices.len().min(1)];
        let message = format!(
            "{} is a line with {count}; it was skipped, since a strand needs at least 2 vertices",
            primitive.location
        );
        warnings.push("primitive_skipped", message);
        return Ok(None);
    }
    let order: Vec<u32> = polylines.iter().flatten().copied().collect();
    let count = primitive.positions.len();
    let is_ordered = order.len() == count && order.iter().zip(0..).all(|(&v, i)| v == i);
    let has_targets = json.targets.as_ref().is_some_and(|t| !t.is_empty());
    if has_targets && !is_ordered {
        return Err(IoError::Unsupported {
            path: doc.path.clone(),
            location,
            feature: "a line primitive with morph targets whose indices are not 0, 1, 2, ..."
                .into(),
            help: "export the vertices of each strand in sequence, without shared vertices".into(),
        });
    }
    doc.spend(&location, order.len(), 64)?;
    let mut out = if is_ordered {
        primitive
    } else {
        gathered(primitive, &order)
    };
    if let Some(thickness) = out
        .attributes
        .remove(GLTF_THICKNESS.trim_start_matches('_'))
    {
        out.attributes.insert(THICKNESS.into(), thickness);
    }
    out.strands = Some(polylines.iter().map(Vec::len).collect());
    Ok(Some(out))
}

fn polylines(mode: Mode, indices: &[u32]) -> Vec<Vec<u32>> {
    let mut out: Vec<Vec<u32>> = Vec::new();
    match mode {
        _ if indices.len() < 2 => {}
        Mode::Lines => {
            for [from, to] in indices.as_chunks::<2>().0 {
                match out.last_mut() {
                    Some(line) if line.last() == Some(from) => line.push(*to),
                    _ => out.push(vec![*from, *to]),
                }
            }
        }
        Mode::LineLoop => out.push(indices.iter().chain(indices.first()).copied().collect()),
        _ => out.push(indices.to_vec()),
    }
    out
}

fn gathered(p: Primitive, order: &[u32]) -> Primitive {
    fn take<T: Copy>(from: &[T], order: &[u32]) -> Vec<T> {
        order.iter().map(|&v| from[v as usize]).collect()
    }
    fn sets<T: Copy>(from: &[Vec<T>], order: &[u32]) -> Vec<Vec<T>> {
        from.iter().map(|set| take(set, order)).collect()
    }
    let attribute = |a: &Attribute| match a {
        Attribute::Scalar(v) => Attribute::Scalar(take(v, order)),
        Attribute::Vec2(v) => Attribute::Vec2(take(v, order)),
        Attribute::Vec3(v) => Attribute::Vec3(take(v, order)),
        Attribute::Vec4(v) => Attribute::Vec4(take(v, order)),
    };
    Primitive {
        positions: take(&p.positions, order),
        normals: p.normals.map(|v| take(&v, order)),
        tangents: p.tangents.map(|v| take(&v, order)),
        uvs: sets(&p.uvs, order),
        colors: sets(&p.colors, order),
        attributes: p
            .attributes
            .iter()
            .map(|(name, a)| (name.clone(), attribute(a)))
            .collect(),
        joints: sets(&p.joints, order),
        weights: sets(&p.weights, order),
        ..p
    }
}
