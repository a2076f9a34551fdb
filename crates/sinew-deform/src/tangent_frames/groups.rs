//! Compressed corner lists and the smoothing groups of a mesh.

use super::bind::{HardEdges, TangentFramesConfig};
use super::reference::{face_terms, unit};
use serde::{Deserialize, Serialize};
use sinew_geom::{Mesh, Real, Vec3, WeldMap, index32};

/// Authored normals this close (cosine of one degree) count as one: files store them in as few as eight bits.
const SAME_NORMAL_COSINE: f64 = 0.999_847_7;

/// Lists of triangle corners (`4 * triangle + corner`) in compressed rows; the two low bits are the corner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows {
    offsets: Vec<u32>,
    corners: Vec<u32>,
}

impl Rows {
    /// Sorts the corners of all triangles by the row that `row_of` names; corners without one are left out.
    pub(super) fn build(
        triangle_count: usize,
        row_count: usize,
        row_of: impl Fn(usize, usize) -> Option<u32>,
    ) -> Self {
        let all = || (0..triangle_count).flat_map(|t| (0..3).map(move |k| (t, k)));
        let mut offsets = vec![0_u32; row_count + 1];
        for (t, k) in all() {
            if let Some(r) = row_of(t, k) {
                offsets[r as usize + 1] += 1;
            }
        }
        for r in 0..row_count {
            offsets[r + 1] += offsets[r];
        }
        let mut cursor = offsets.clone();
        let mut corners = vec![0; offsets[row_count] as usize];
        for (t, k) in all() {
            if let Some(r) = row_of(t, k) {
                let at = &mut cursor[r as usize];
                corners[*at as usize] = corner(t, k);
                *at += 1;
            }
        }
        Self { offsets, corners }
    }

    /// From one list a row.
    pub(super) fn from_lists(lists: &[Vec<u32>]) -> Self {
        let mut out = Self {
            offsets: vec![0],
            corners: Vec::new(),
        };
        for l in lists {
            out.corners.extend_from_slice(l);
            out.offsets.push(index32(out.corners.len()));
        }
        out
    }

    /// Corners of row `r`.
    #[inline(always)]
    pub(super) fn row(&self, r: usize) -> &[u32] {
        &self.corners[self.offsets[r] as usize..self.offsets[r + 1] as usize]
    }
    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }
    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        (self.offsets.len() + self.corners.len()) * 4
    }
    /// Whether offsets rise from zero to the end and every corner exists.
    pub(super) fn is_valid(&self, triangle_count: usize) -> bool {
        self.offsets.first() == Some(&0)
            && self.offsets.last().copied() == Some(index32(self.corners.len()))
            && self.offsets.is_sorted()
            && self
                .corners
                .iter()
                .all(|&c| ((c >> 2) as usize) < triangle_count && c & 3 < 3)
    }
}

/// The number of a corner.
pub(super) fn corner(triangle: usize, k: usize) -> u32 {
    (triangle as u32) << 2 | k as u32
}

/// Group of each vertex, and the corners of each group.
pub(super) fn smoothing_groups(
    mesh: &Mesh,
    authored: Option<&[[f32; 3]]>,
    config: &TangentFramesConfig,
) -> (Vec<u32>, Rows) {
    let n = mesh.vertex_count();
    let weld = match config.hard_edges {
        HardEdges::Split => WeldMap::identity(n),
        _ => WeldMap::by_position(&mesh.positions, config.weld_tolerance),
    };
    let by_normal = match (config.hard_edges, authored) {
        _ if weld.is_identity() => None,
        (HardEdges::Authored, Some(a)) => {
            let normals = a.iter().map(|&n| unit(f64::vec3(n))).collect();
            Some((normals, SAME_NORMAL_COSINE))
        }
        (HardEdges::Angle, _) => Some((own_normals(mesh), f64::from(config.hard_angle).cos())),
        _ => None,
    };
    let (group_of_vertex, count) = match by_normal {
        None => (weld.class_of_vertex.clone(), weld.class_count()),
        Some((normals, cosine)) => split_classes(&weld, &normals, cosine),
    };
    let triangles = mesh.topology.triangles();
    let rows = Rows::build(triangles.len(), count, |t, k| {
        Some(group_of_vertex[triangles[t][k] as usize])
    });
    (group_of_vertex, rows)
}

/// Angle-weighted normals of the vertices as they are split.
fn own_normals(mesh: &Mesh) -> Vec<Option<Vec3<f64>>> {
    let mut sums = vec![Vec3::zeros(); mesh.vertex_count()];
    for t in mesh.topology.triangles() {
        let f = face_terms(t.map(|v| f64::vec3(mesh.positions[v as usize])), false);
        for (k, &v) in t.iter().enumerate() {
            sums[v as usize] += Vec3::from(f.normal) * f.weights[k];
        }
    }
    sums.into_iter().map(unit).collect()
}

/// Within each weld class, a vertex joins the first group whose first member's normal is close enough. Vertices
/// without a normal join the first group of their class.
fn split_classes(weld: &WeldMap, normals: &[Option<Vec3<f64>>], cosine: f64) -> (Vec<u32>, usize) {
    // Groups of a class as a linked list, so that one pass over the vertices is enough.
    const END: u32 = u32::MAX;
    let mut first = vec![END; weld.class_count()];
    let (mut next, mut leader): (Vec<u32>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut group_of_vertex = vec![0; normals.len()];
    let close = |a: usize, b: usize| match (normals[a], normals[b]) {
        (Some(a), Some(b)) => a.dot(&b) >= cosine,
        _ => true,
    };
    for (v, group) in group_of_vertex.iter_mut().enumerate() {
        let class = weld.class_of_vertex[v] as usize;
        let (mut at, mut last) = (first[class], END);
        while at != END && !close(leader[at as usize], v) {
            (last, at) = (at, next[at as usize]);
        }
        if at == END {
            at = index32(leader.len());
            leader.push(v);
            next.push(END);
            match next.get_mut(last as usize) {
                Some(n) if last != END => *n = at,
                _ => first[class] = at,
            }
        }
        *group = at;
    }
    let count = leader.len();
    (group_of_vertex, count)
}
