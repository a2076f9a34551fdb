//! Corners of a mesh and its vertices: corners with equal attributes share a vertex.

use crate::surface::linear_from_srgb;
use sinew_geom::Affine;
use sinew_geom::vec3;
use ufbx::{Mesh, Vec2, Vec3, Vec4, VertexVec3};

/// No vertex.
const NONE: u32 = u32::MAX;
/// Number of vertices of a point that a corner is compared with. More become separate vertices, which keeps time
/// linear in the file size.
const MOST_COMPARED: usize = 64;

/// Numbers of one attribute, by corner.
pub(super) struct Layer<'m> {
    values: Vec<[f32; 4]>,
    indices: &'m [u32],
}

impl<'m> Layer<'m> {
    /// `None` unless each corner has a value.
    fn new<T>(
        corners: usize,
        values: &'m [T],
        indices: &'m [u32],
        single: impl Fn(&T) -> [f32; 4],
    ) -> Option<Self> {
        let fits = indices.len() == corners && indices.iter().all(|&i| (i as usize) < values.len());
        fits.then(|| Self {
            values: values.iter().map(single).collect(),
            indices,
        })
    }

    fn at(&self, corner: usize) -> [f32; 4] {
        self.values[self.indices[corner] as usize]
    }

    fn is_same(&self, a: usize, b: usize) -> bool {
        let (i, j) = (self.indices[a] as usize, self.indices[b] as usize);
        i == j || self.values[i].map(f32::to_bits) == self.values[j].map(f32::to_bits)
    }
}

/// Attributes of corners, of a mesh in the space of its node.
#[derive(Default)]
pub(super) struct Layers<'m> {
    pub(super) normals: Option<Layer<'m>>,
    pub(super) tangents: Option<Layer<'m>>,
    /// Signs of bitangents are made from these.
    bitangents: Option<Layer<'m>>,
    pub(super) uvs: Vec<Layer<'m>>,
    pub(super) colors: Vec<Layer<'m>>,
}

impl<'m> Layers<'m> {
    /// `place` maps the geometry to the space of its node.
    pub(super) fn of(mesh: &'m Mesh, place: &Affine<f64>) -> Self {
        let corners = mesh.num_indices;
        let normal_matrix = place.normal_matrix();
        let directions = |layer: &'m VertexVec3, is_normal: bool| {
            let matrix = if is_normal {
                normal_matrix
            } else {
                place.linear
            };
            let turn = |v: &Vec3| {
                let v = matrix * super::nodes::vec3(v);
                let v = v.try_normalize(0.0).unwrap_or_default();
                [v.x as f32, v.y as f32, v.z as f32, 0.0]
            };
            Layer::new(corners, &layer.values, &layer.indices, turn).filter(|_| layer.exists)
        };
        let has_normals = !mesh.generated_normals || is_smooth(mesh);
        let normals = directions(&mesh.vertex_normal, true).filter(|_| has_normals);
        let tangents = directions(&mesh.vertex_tangent, false).filter(|_| normals.is_some());
        let uv = |v: &Vec2| [v.x as f32, (1.0 - v.y) as f32, 0.0, 0.0];
        let uvs = mesh.uv_sets.iter().map(|s| &s.vertex_uv);
        let color = |c: &Vec4| {
            let [r, g, b] = [c.x, c.y, c.z].map(|c| linear_from_srgb(c as f32));
            [r, g, b, c.w as f32]
        };
        let colors = mesh.color_sets.iter().map(|s| &s.vertex_color);
        Self {
            bitangents: directions(&mesh.vertex_bitangent, false).filter(|_| tangents.is_some()),
            normals,
            tangents,
            uvs: uvs
                .filter_map(|l| Layer::new(corners, &l.values, &l.indices, uv))
                .collect(),
            colors: colors
                .filter_map(|l| Layer::new(corners, &l.values, &l.indices, color))
                .collect(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &Layer<'m>> {
        let one = [&self.normals, &self.tangents, &self.bitangents];
        let one = one.into_iter().flatten();
        one.chain(&self.uvs).chain(&self.colors)
    }

    fn tangent(&self, tangents: &Layer<'m>, corner: usize) -> [f32; 4] {
        let [x, y, z, _] = tangents.at(corner);
        let xyz = |v: [f32; 4]| [v[0], v[1], v[2]];
        let normal = self.normals.as_ref().map(|n| xyz(n.at(corner)));
        let bitangent = self.bitangents.as_ref().map(|b| xyz(b.at(corner)));
        let is_left = normal
            .zip(bitangent)
            .is_some_and(|(n, b)| vec3::dot(vec3::cross(n, [x, y, z]), b) < 0.0);
        [x, y, z, if is_left { -1.0 } else { 1.0 }]
    }
}

/// Whether the file says that some edges are smooth. Without normals, other meshes are flat.
fn is_smooth(mesh: &Mesh) -> bool {
    mesh.face_smoothing.iter().any(|s| *s) || mesh.edge_smoothing.iter().any(|s| *s)
}

/// Vertices of a mesh. The first vertices are the points, in order; copies at corners follow.
pub(super) struct Vertices {
    /// Point of each vertex.
    pub(super) points: Vec<u32>,
    /// Vertex of each corner.
    pub(super) of_corner: Vec<u32>,
    /// A corner of each vertex.
    corner: Vec<u32>,
}

impl Vertices {
    /// `None` for a corner without a valid point, or for 2^32 vertices.
    pub(super) fn of(mesh: &Mesh, layers: &Layers<'_>) -> Option<Self> {
        let points = u32::try_from(mesh.num_vertices)
            .ok()
            .filter(|p| *p < NONE)?;
        let all: Vec<&Layer<'_>> = layers.all().collect();
        let mut out = Self {
            points: (0..points).collect(),
            of_corner: Vec::with_capacity(mesh.num_indices),
            corner: vec![NONE; mesh.num_vertices],
        };
        // The next vertex of the same point.
        let mut next = vec![NONE; mesh.num_vertices];
        for (corner, &point) in mesh.vertex_indices.iter().enumerate() {
            let corner32 = u32::try_from(corner).ok()?;
            if *out.corner.get(point as usize).filter(|_| point < points)? == NONE {
                out.corner[point as usize] = corner32;
            }
            let is_same = |v: u32| {
                let other = out.corner[v as usize] as usize;
                all.iter().all(|l| l.is_same(corner, other))
            };
            let (mut at, mut compared) = (point, 0);
            while !is_same(at) && next[at as usize] != NONE && compared < MOST_COMPARED {
                at = next[at as usize];
                compared += 1;
            }
            if !is_same(at) {
                let made = u32::try_from(out.points.len()).ok().filter(|v| *v < NONE)?;
                out.points.push(point);
                out.corner.push(corner32);
                // Behind the last that was compared: all others of the point stay reachable.
                next.push(next[at as usize]);
                next[at as usize] = made;
                at = made;
            }
            out.of_corner.push(at);
        }
        Some(out)
    }

    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    fn each<const N: usize>(&self, default: [f32; N], at: impl Fn(usize) -> [f32; 4]) -> Vec<f32> {
        let mut out = Vec::with_capacity(self.len() * N);
        for &corner in &self.corner {
            match corner {
                NONE => out.extend(default),
                corner => out.extend(&at(corner as usize)[..N]),
            }
        }
        out
    }

    /// Three numbers per vertex; points without a corner have +Y.
    pub(super) fn normals(&self, layers: &Layers<'_>) -> Option<Vec<f32>> {
        let layer = layers.normals.as_ref()?;
        Some(self.each([0.0, 1.0, 0.0], |c| match layer.at(c) {
            [0.0, 0.0, 0.0, _] => [0.0, 1.0, 0.0, 0.0],
            normal => normal,
        }))
    }

    /// Four numbers per vertex; points without a corner have +X.
    pub(super) fn tangents(&self, layers: &Layers<'_>) -> Option<Vec<f32>> {
        let layer = layers.tangents.as_ref()?;
        Some(self.each([1.0, 0.0, 0.0, 1.0], |c| layers.tangent(layer, c)))
    }

    /// Two numbers per vertex.
    pub(super) fn uvs(&self, layer: &Layer<'_>) -> Vec<f32> {
        self.each([0.0; 2], |c| layer.at(c))
    }

    /// Four numbers per vertex.
    pub(super) fn colors(&self, layer: &Layer<'_>) -> Vec<f32> {
        self.each([1.0; 4], |c| layer.at(c))
    }
}
