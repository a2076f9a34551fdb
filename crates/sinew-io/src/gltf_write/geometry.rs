//! Parts of a mesh, and their frames as stored in the file.

use crate::surface::unit;
use crate::{CachedMesh, FrameData, fault::warning};
use sinew_geom::vec3::{self, add, add_scaled, area_vector, dot};
use sinew_geom::{Mesh, Warning, index32};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::rc::Rc;

/// A range of vertices and triangles, or strands, that becomes one primitive.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    pub(super) name: String,
    pub(super) source_mesh: usize,
    pub(super) material: Option<usize>,
    pub(super) vertices: Range<usize>,
    /// Vertex indices of the whole mesh.
    pub(super) triangles: &'a [[u32; 3]],
    /// Triangles of all parts with the same vertices.
    pub(super) around: Rc<[&'a [[u32; 3]]]>,
    /// Segments of strands, as vertex indices of the whole mesh.
    pub(super) lines: Vec<[u32; 2]>,
    /// True if the colours of the mesh are animated.
    pub(super) colors_vary: bool,
    /// Stored without normals: readers use face normals.
    pub(super) flat_shaded: bool,
}

/// Parts of a mesh. One part for the whole mesh if it has no parts or they overlap.
pub(super) fn parts_of<'a>(
    cached: &CachedMesh<'a>,
    warnings: &mut Vec<Warning>,
) -> io::Result<Vec<Part<'a>>> {
    let mesh = cached.mesh;
    let all = mesh.topology.triangles();
    let colors_vary = cached.colors_vary()?;
    let parts: Option<Vec<Part<'a>>> = mesh
        .parts
        .iter()
        .map(|p| {
            let triangles = all.get(p.triangles.clone())?;
            let own = |v: &u32| p.vertices.contains(&(*v as usize));
            let whole =
                p.vertices.end <= mesh.vertex_count() && triangles.iter().flatten().all(own);
            whole.then(|| Part {
                name: p.name.clone(),
                source_mesh: p.source_mesh,
                material: p.material,
                vertices: p.vertices.clone(),
                triangles,
                around: Rc::from([]),
                lines: lines_within(mesh, &p.vertices),
                colors_vary,
                flat_shaded: p.flat_shaded,
            })
        })
        .collect();
    let mut parts = parts.unwrap_or_default();
    let covered: usize = parts.iter().map(|p| p.triangles.len()).sum();
    parts.retain(|p| !p.vertices.is_empty());
    if covered == all.len() && !parts.is_empty() {
        gather_around(&mut parts);
        return Ok(parts);
    }
    if !mesh.parts.is_empty() {
        let message = format!(
            "the parts of {} share vertices or do not cover all; it is written as one part",
            cached.name
        );
        warnings.push(warning("parts_ignored", message));
    }
    let material = mesh.parts.first().and_then(|p| p.material);
    Ok(vec![Part {
        name: cached.name.clone(),
        source_mesh: 0,
        material: material.filter(|m| mesh.parts.iter().all(|p| p.material == Some(*m))),
        vertices: 0..mesh.vertex_count(),
        triangles: all,
        around: Rc::from([all]),
        lines: lines_within(mesh, &(0..mesh.vertex_count())),
        colors_vary,
        flat_shaded: mesh.is_flat(),
    }])
}

/// Lets parts with the same vertices know each other's triangles.
fn gather_around(parts: &mut [Part<'_>]) {
    let mut triangles: BTreeMap<(usize, usize), Vec<&[[u32; 3]]>> = BTreeMap::new();
    let range = |p: &Part<'_>| (p.vertices.start, p.vertices.end);
    for part in &*parts {
        triangles
            .entry(range(part))
            .or_default()
            .push(part.triangles);
    }
    let shared = triangles.into_iter().map(|(k, t)| (k, Rc::from(t)));
    let shared: BTreeMap<(usize, usize), Rc<[_]>> = shared.collect();
    for part in parts {
        if let Some(around) = shared.get(&range(part)) {
            part.around = Rc::clone(around);
        }
    }
}

/// Strand segments between these vertices.
fn lines_within(mesh: &Mesh, vertices: &Range<usize>) -> Vec<[u32; 2]> {
    let Some(strands) = mesh.topology.strands() else {
        return Vec::new();
    };
    let ends = &strands.offsets()[1..];
    let first = ends.partition_point(|end| *end as usize <= vertices.start);
    let ranges = (first..strands.len()).map(|s| strands.range(s));
    let ranges = ranges.take_while(|r| r.start < vertices.end);
    ranges
        .flat_map(|r| r.start.max(vertices.start) + 1..r.end.min(vertices.end))
        .map(|v| [index32(v - 1), index32(v)])
        .collect()
}

/// Unit normals of one frame of a part, whose vertices `data` has: those of the frame, or area-weighted normals if a frame has none. A vertex
/// without a direction gets a face normal, else +Y.
pub(super) fn normals(cached: &CachedMesh<'_>, data: &FrameData, part: &Part<'_>) -> Vec<[f32; 3]> {
    let start = part.vertices.start;
    let corners = |t: &[u32; 3]| t.map(|v| data.positions[v as usize - start].map(f64::from));
    let unit_single = |v: [f64; 3]| vec3::unit(v).map(|n| n.map(|c| c as f32));
    let given = data.normals.as_ref().filter(|_| cached.has_normals());
    let mut out: Vec<Option<[f32; 3]>> = match given {
        Some(n) => n.iter().map(|n| unit(*n)).collect(),
        None => {
            let mut sums = vec![[0.0_f64; 3]; part.vertices.len()];
            for t in part.around.iter().copied().flatten() {
                let n = area_vector(corners(t));
                for &v in t {
                    let sum = &mut sums[v as usize - start];
                    *sum = add(*sum, n);
                }
            }
            sums.into_iter().map(unit_single).collect()
        }
    };
    if out.iter().any(Option::is_none) {
        for t in part.around.iter().copied().flatten() {
            let face = unit_single(area_vector(corners(t)));
            for &v in t {
                let slot = &mut out[v as usize - start];
                *slot = slot.or(face);
            }
        }
    }
    out.into_iter()
        .map(|n| n.unwrap_or([0.0, 1.0, 0.0]))
        .collect()
}

/// Unit tangents of one frame of a part, `w` exactly 1 or -1. A zero tangent becomes a vector perpendicular to the
/// normal.
pub(super) fn tangents(tangents: &[[f32; 4]], normals: &[[f32; 3]]) -> Vec<[f32; 4]> {
    let across = |n: &[f32; 3]| {
        // The axis that the normal points along least.
        let other = if n[0].abs() < 0.8 {
            [1.0, 0.0, 0.0]
        } else {
            [0.0, 1.0, 0.0]
        };
        unit(add_scaled(other, *n, -dot(*n, other))).unwrap_or([1.0, 0.0, 0.0])
    };
    tangents
        .iter()
        .zip(normals)
        .map(|(t, n)| {
            let [x, y, z] = unit([t[0], t[1], t[2]]).unwrap_or_else(|| across(n));
            [x, y, z, if t[3] < 0.0 { -1.0 } else { 1.0 }]
        })
        .collect()
}

/// The number if it is finite, else zero.
pub(super) fn finite(c: f32) -> f32 {
    if c.is_finite() { c } else { 0.0 }
}
