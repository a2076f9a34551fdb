//! Meshes to test on, and distances worked out the slow way.

use super::vector::{Point, unit, wide};
use sinew_geom::Mesh;
use sinew_geom::vec3::{add, area_vector, cross, dot, length, scale, sub};
pub(super) use sinew_testkit::meshes::exploded;
use sinew_testkit::meshes::mesh_from;
use std::collections::HashMap;

pub(super) fn mesh(positions: Vec<[f32; 3]>, triangles: Vec<[u32; 3]>) -> Mesh {
    mesh_from("test", positions, triangles)
}

/// An octahedron divided `levels` times onto the unit sphere: `8 * 4^levels` faces.
pub(super) fn sphere(levels: u32) -> Mesh {
    let mut points = vec![
        [1.0, 0.0, 0.0],
        [-1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, -1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.0, 0.0, -1.0],
    ];
    let mut triangles = vec![
        [0, 2, 4],
        [2, 1, 4],
        [1, 3, 4],
        [3, 0, 4],
        [2, 0, 5],
        [1, 2, 5],
        [3, 1, 5],
        [0, 3, 5],
    ];
    for _ in 0..levels {
        let mut middles = HashMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                let sum = add(points[a as usize], points[b as usize]);
                points.push(unit(sum).expect("not opposite"));
                points.len() as u32 - 1
            })
        };
        let mut finer = Vec::new();
        for [a, b, c] in triangles {
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            finer.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    mesh(
        points.iter().map(|p| p.map(|c| c as f32)).collect(),
        triangles,
    )
}

/// A sphere with waves.
pub(super) fn bumpy(levels: u32) -> Mesh {
    let wave =
        |p: [f32; 3]| 1.0 + 0.1 * (5.0 * p[0]).sin() * (4.0 * p[1]).cos() * (3.0 * p[2]).sin();
    moved(sphere(levels), |p| p.map(|c| c * wave(p)))
}

pub(super) fn moved(mut mesh: Mesh, to: impl Fn([f32; 3]) -> [f32; 3]) -> Mesh {
    mesh.positions.iter_mut().for_each(|p| *p = to(*p));
    mesh
}

pub(super) fn placed(mesh: Mesh, size: f32, offset: [f32; 3]) -> Mesh {
    moved(mesh, |p| std::array::from_fn(|c| p[c] * size + offset[c]))
}

pub(super) fn merged(a: &Mesh, b: &Mesh) -> Mesh {
    let base = a.vertex_count() as u32;
    let second = b.topology.triangles().iter().map(|t| t.map(|v| v + base));
    let triangles = a
        .topology
        .triangles()
        .iter()
        .copied()
        .chain(second)
        .collect();
    mesh(
        [a.positions.clone(), b.positions.clone()].concat(),
        triangles,
    )
}

/// The box from -1 to 1, each side a grid of `2 * n * n` triangles with vertices of its own; bottom (-y) first.
pub(super) fn cube(n: u32) -> Mesh {
    let sides = [
        (1, -1.0),
        (1, 1.0),
        (0, -1.0),
        (0, 1.0),
        (2, -1.0),
        (2, 1.0),
    ];
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for (axis, sign) in sides {
        let base = positions.len() as u32;
        let at = |i: u32| 2.0 * i as f32 / n as f32 - 1.0;
        for (i, j) in (0..=n).flat_map(|i| (0..=n).map(move |j| (i, j))) {
            let mut p = [0.0; 3];
            p[axis] = sign;
            p[(axis + 1) % 3] = at(i);
            p[(axis + 2) % 3] = at(j);
            positions.push(p);
        }
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let a = base + i * (n + 1) + j;
            let [b, c, d] = [a + n + 1, a + n + 2, a + 1];
            let both = [[a, b, c], [a, c, d]];
            let turned = |t: [u32; 3]| if sign > 0.0 { t } else { [t[0], t[2], t[1]] };
            triangles.extend(both.map(turned));
        }
    }
    mesh(positions, triangles)
}

/// The lower half of a sphere, open at the top.
pub(super) fn bowl(levels: u32) -> Mesh {
    let mut bowl = sphere(levels);
    let low = |t: &[u32; 3]| t.iter().all(|&v| bowl.positions[v as usize][1] < 1e-6);
    let keep: Vec<bool> = bowl.topology.triangles().iter().map(low).collect();
    super::faces::keep_faces(&mut bowl, &keep);
    bowl
}

/// A number from -1 to 1 that looks random.
pub(super) fn noise(i: u32) -> f32 {
    let mut x = i.wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    (x >> 8) as f32 / 8_388_608.0 - 1.0
}

pub(super) fn volume(mesh: &Mesh) -> f64 {
    let part = |t: [Point; 3]| dot(t[0], cross(t[1], t[2])) / 6.0;
    corners(mesh).map(part).sum()
}

pub(super) fn corners(mesh: &Mesh) -> impl Iterator<Item = [Point; 3]> + '_ {
    let triangles = mesh.topology.triangles().iter();
    triangles.map(|t| t.map(|v| wide(mesh.positions[v as usize])))
}

/// Distance of a point from a triangle by regions of its corners, edges and inside (Ericson 5.1.5).
pub(super) fn triangle_distance(t: &[Point; 3], p: Point) -> f64 {
    let segment = |a: Point, b: Point| {
        let d = sub(b, a);
        let s = (dot(sub(p, a), d) / dot(d, d).max(1e-300)).clamp(0.0, 1.0);
        length(sub(p, add(a, scale(d, s))))
    };
    let edges = segment(t[0], t[1])
        .min(segment(t[1], t[2]))
        .min(segment(t[2], t[0]));
    let Some(n) = unit(area_vector(*t)) else {
        return edges;
    };
    let left = |a: Point, b: Point| dot(cross(sub(b, a), sub(p, a)), n) >= 0.0;
    let inside = left(t[0], t[1]) && left(t[1], t[2]) && left(t[2], t[0]);
    if inside {
        dot(sub(p, t[0]), n).abs()
    } else {
        edges
    }
}

pub(super) fn distance(mesh: &Mesh, p: Point) -> f64 {
    corners(mesh)
        .map(|t| triangle_distance(&t, p))
        .fold(f64::INFINITY, f64::min)
}

/// Largest distance of about `count` points spread over `from` from the surface `to`.
pub(super) fn farthest(from: &Mesh, to: &Mesh, count: usize) -> f64 {
    let step = (from.topology.triangles().len() / count).max(1);
    let middle = |t: [Point; 3]| scale(add(add(t[0], t[1]), t[2]), 1.0 / 3.0);
    let points = corners(from).step_by(step).flat_map(|t| [t[0], middle(t)]);
    points.map(|p| distance(to, p)).fold(0.0, f64::max)
}

/// How many edges, by place, have each number of faces: `[unused, 1, 2, more]`.
pub(super) fn edge_counts(mesh: &Mesh) -> [usize; 4] {
    let mut uses = HashMap::new();
    let key = |v: u32| mesh.positions[v as usize].map(|c| (c + 0.0).to_bits());
    for t in mesh.topology.triangles() {
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            let (a, b) = (key(t[a]), key(t[b]));
            *uses.entry((a.min(b), a.max(b))).or_insert(0_usize) += 1;
        }
    }
    let mut counts = [0; 4];
    uses.values().for_each(|n| counts[(*n).min(3)] += 1);
    counts
}

/// A binary PLY file of float positions (x, y, z first) and faces listed by a byte and 32-bit indices.
pub(super) fn read_ply(bytes: &[u8]) -> Mesh {
    let end = bytes
        .windows(11)
        .position(|w| w == b"end_header\n")
        .expect("a header")
        + 11;
    let header = std::str::from_utf8(&bytes[..end]).expect("text");
    let count = |what: &str| -> usize {
        let line = header
            .lines()
            .find_map(|l| l.strip_prefix(what))
            .expect("the element");
        line.trim().parse().expect("a number")
    };
    let (vertices, faces) = (count("element vertex"), count("element face"));
    let stride = 4 * header
        .lines()
        .filter(|l| l.starts_with("property float"))
        .count();
    let word = |at: usize| <[u8; 4]>::try_from(&bytes[at..at + 4]).expect("four bytes");
    let float = |at: usize| f32::from_le_bytes(word(at));
    let position = |v: usize| std::array::from_fn(|c| float(end + v * stride + 4 * c));
    let positions = (0..vertices).map(position).collect();
    let (mut at, mut triangles) = (end + vertices * stride, Vec::new());
    for _ in 0..faces {
        let corners = usize::from(bytes[at]);
        let corner = |k: usize| u32::from_le_bytes(word(at + 1 + 4 * k));
        triangles.extend((2..corners).map(|k| [corner(0), corner(k - 1), corner(k)]));
        at += 1 + 4 * corners;
    }
    mesh(positions, triangles)
}

/// Unit normals of the vertices, the mean of their faces by area.
pub(super) fn corner_normals(mesh: &Mesh) -> Vec<[f32; 3]> {
    let mut sums = vec![[0.0; 3]; mesh.vertex_count()];
    for (t, corners) in mesh.topology.triangles().iter().zip(corners(mesh)) {
        for &v in t {
            sums[v as usize] = add(sums[v as usize], area_vector(corners));
        }
    }
    let normal = |n: &Point| unit(*n).unwrap_or([0.0, 1.0, 0.0]).map(|c| c as f32);
    sums.iter().map(normal).collect()
}
