//! MikkTSpace against an independent implementation.

use super::tests::{run, torus};
use super::*;
use bevy_mikktspace::{Geometry, TangentSpace, generate_tangents};
use sinew_geom::Topology;
use sinew_testkit::meshes;

/// A mesh as the other implementation sees it, and what it returns for each corner.
struct Other<'a> {
    mesh: &'a Mesh,
    normals: &'a [[f32; 3]],
    corners: Vec<Option<[f32; 4]>>,
}

impl Other<'_> {
    fn vertex(&self, face: usize, k: usize) -> usize {
        self.mesh.topology.triangles()[face][k] as usize
    }
}

impl Geometry for Other<'_> {
    fn num_faces(&self) -> usize {
        self.mesh.topology.triangles().len()
    }
    fn num_vertices_of_face(&self, _: usize) -> usize {
        3
    }
    fn position(&self, face: usize, k: usize) -> [f32; 3] {
        self.mesh.positions[self.vertex(face, k)]
    }
    fn normal(&self, face: usize, k: usize) -> [f32; 3] {
        self.normals[self.vertex(face, k)]
    }
    fn tex_coord(&self, face: usize, k: usize) -> [f32; 2] {
        self.mesh.uvs[0][self.vertex(face, k)]
    }
    fn set_tangent(&mut self, space: Option<TangentSpace>, face: usize, k: usize) {
        self.corners[3 * face + k] = space.map(|s| s.tangent_encoded());
    }
}

/// Compares every corner that the other implementation reaches; returns how many.
fn compare(mesh: &Mesh, skip: &dyn Fn(usize) -> bool) -> usize {
    let config = TangentFramesConfig {
        tangents: TangentMode::Mikktspace,
        normals: NormalMode::KeepAuthoredDelta,
        ..TangentFramesConfig::default()
    };
    let out = run(mesh, config);
    let mut other = Other {
        mesh,
        normals: mesh.normals.as_deref().expect("has normals"),
        corners: vec![None; 3 * mesh.topology.triangles().len()],
    };
    generate_tangents(&mut other).expect("infallible");
    let mut compared = 0;
    for (i, corner) in other.corners.iter().enumerate() {
        let v = other.vertex(i / 3, i % 3);
        let (Some(c), false) = (corner, skip(v)) else {
            continue;
        };
        // A corner that only faces without gradient reach has no direction there.
        if c[..3] == [0.0; 3] {
            continue;
        }
        let t = out.tangents[v];
        for k in 0..3 {
            assert!((c[k] - t[k]).abs() < 1e-4, "{} {v}: {c:?} {t:?}", mesh.name);
        }
        assert_eq!(
            t[3], -c[3],
            "{} {v}: glTF's sign is the opposite",
            mesh.name
        );
        compared += 1;
    }
    compared
}

#[test]
fn mikktspace_matches_on_smooth_hard_and_flat_meshes() {
    let mut sphere = meshes::sphere(12, 16);
    sphere.uvs = vec![
        sphere
            .positions
            .iter()
            .map(|p| [p[0] + 0.2 * p[1], p[1] - 0.3 * p[2]])
            .collect(),
    ];
    for mesh in [torus(16, 12, true), meshes::cube(), meshes::grid(5, 4)] {
        assert_eq!(
            compare(&mesh, &|_| false),
            3 * mesh.topology.triangles().len(),
            "{}",
            mesh.name
        );
    }
    // A planar map over a sphere folds: where both orientations meet in one vertex, corners differ and a mesh of
    // fixed topology holds one of them only.
    let mixed = mixed_orientation(&sphere);
    let compared = compare(&sphere, &|v| mixed[v]);
    assert!(compared > 300, "{compared}");
}

fn mixed_orientation(mesh: &Mesh) -> Vec<bool> {
    let mut seen = vec![[false; 2]; mesh.vertex_count()];
    for t in mesh.topology.triangles() {
        let [a, b, c] = t.map(|v| mesh.uvs[0][v as usize]);
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        for v in t {
            seen[*v as usize][usize::from(area > 0.0)] = true;
        }
    }
    seen.iter().map(|s| s[0] && s[1]).collect()
}

#[test]
fn mikktspace_matches_with_degenerate_faces_and_constant_uvs() {
    let mut mesh = torus(10, 8, true);
    let mut triangles = mesh.topology.triangles().to_vec();
    let t = triangles[7];
    triangles.insert(20, [t[0], t[0], t[1]]);
    triangles.push([t[2], t[1], t[1]]);
    mesh.topology = Topology::new(mesh.vertex_count() as u32, triangles)
        .expect("valid")
        .into();
    // The UVs of one ring collapse to a line: its faces join any group.
    for uv in mesh.uvs[0].iter_mut().filter(|uv| uv[0] == 0.3) {
        uv[0] = 0.2;
    }
    assert!(compare(&mesh, &|_| false) > 400, "most corners compared");
}

#[test]
fn mikktspace_vertex_with_both_orientations_takes_the_larger_angle() {
    // Two triangles share the edge 0-1; the second is mirrored in UV and narrower.
    let positions = vec![
        [0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [-1.0, 0.0, 0.0],
        [0.3, 0.0, 0.0],
    ];
    let topology = Topology::new(4, vec![[0, 1, 2], [0, 3, 1]]).expect("valid");
    let mut mesh = Mesh::new("mirror", topology, positions);
    mesh.normals = Some(vec![[0.0, 0.0, 1.0]; 4]);
    mesh.uvs = vec![vec![[0.0, 1.0], [0.0, 0.0], [-1.0, 1.0], [-0.3, 1.0]]];
    let config = TangentFramesConfig {
        tangents: TangentMode::Mikktspace,
        ..TangentFramesConfig::default()
    };
    let out = run(&mesh, config);
    assert_eq!(out.tangents[1], [1.0, 0.0, 0.0, 1.0], "the wide side");
    assert_eq!(
        out.tangents[3],
        [-1.0, 0.0, 0.0, -1.0],
        "the narrow side alone"
    );
}
