//! Flat-shaded shapes: every triangle has its own three vertices.

use sinew_geom::{Mesh, Topology, Vec3};

type Point = Vec3<f64>;

/// Triangles of an octahedron.
const FACES: usize = 8;
/// Vertices of an octahedron whose faces share none.
pub(crate) const OCTAHEDRON: usize = 3 * FACES;
/// The normal of a triangle without area.
const NO_NORMAL: [f32; 3] = [0.0, 1.0, 0.0];

/// Six corners: two ends, and four around the line from `base` to `tip`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Octahedron {
    pub(crate) base: Point,
    pub(crate) tip: Point,
    /// Counter-clockwise as seen from `tip`.
    pub(crate) ring: [Point; 4],
}

impl Octahedron {
    /// All corners at the same distance from the middle, along the axes.
    pub(crate) fn ball(middle: Point, radius: f64) -> Self {
        let [x, y, z] = [Point::x(), Point::y(), Point::z()].map(|axis| axis * radius);
        Self {
            base: middle - z,
            tip: middle + z,
            ring: [x, y, -x, -y].map(|offset| middle + offset),
        }
    }

    fn faces(&self) -> impl Iterator<Item = [Point; 3]> + '_ {
        (0..4).flat_map(|k| {
            let (here, next) = (self.ring[k], self.ring[(k + 1) % 4]);
            [[self.tip, here, next], [self.base, next, here]]
        })
    }
}

fn single(p: Point) -> [f32; 3] {
    [p.x as f32, p.y as f32, p.z as f32]
}

fn normal([a, b, c]: [Point; 3]) -> [f32; 3] {
    let normal = (b - a).cross(&(c - a)).try_normalize(0.0);
    normal
        .filter(|n| n.iter().all(|c| c.is_finite()))
        .map_or(NO_NORMAL, single)
}

/// Replaces what the two hold by the vertices of these shapes.
pub(crate) fn fill(
    shapes: impl Iterator<Item = Octahedron>,
    positions: &mut Vec<[f32; 3]>,
    normals: &mut Vec<[f32; 3]>,
) {
    positions.clear();
    normals.clear();
    for shape in shapes {
        for face in shape.faces() {
            positions.extend(face.map(single));
            normals.extend([normal(face); 3]);
        }
    }
}

/// A mesh whose triangles take their vertices in order.
pub(crate) fn mesh(
    name: &str,
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    colors: Vec<[f32; 4]>,
) -> Mesh {
    let count = positions.len() as u32;
    let triangles = (0..count / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
    Mesh {
        normals: Some(normals),
        colors: vec![colors],
        ..Mesh::new(
            name,
            // Every index is below the count.
            Topology::new(count, triangles.collect()).unwrap_or_default(),
            positions,
        )
    }
}
