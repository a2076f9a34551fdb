use super::*;
use sinew_geom::{Mesh, MorphTarget};
use sinew_testkit::meshes;

fn target(vertices: Vec<u32>, delta: [f32; 3], normal: Option<[f32; 3]>) -> MorphTarget {
    let n = vertices.len();
    MorphTarget {
        name: "t".into(),
        vertices,
        positions: vec![delta; n],
        normals: normal.map_or(Vec::new(), |d| vec![d; n]),
        tangents: Vec::new(),
    }
}

fn mesh() -> Mesh {
    let mut m = meshes::grid(4, 4);
    m.morph_targets = vec![
        target(vec![1, 3], [0.0, 0.0, 2.0], Some([1.0, 0.0, 0.0])),
        target(vec![3, 7], [1.0, 0.0, 0.0], None),
    ];
    m
}

fn run(m: &Mesh, weights: &[f32], scale: f32, par: Par) -> (Vec<[f32; 3]>, Vec<[f32; 3]>) {
    let bind = MorphBind::new(m).expect("binds");
    let (mut p, mut n) = (
        vec![[9.0; 3]; m.vertex_count()],
        vec![[9.0; 3]; m.vertex_count()],
    );
    MorphJob {
        bind: &bind,
        weights,
        scale,
        input: MeshView {
            positions: &m.positions,
            normals: m.normals.as_deref(),
            ..MeshView::default()
        },
        output: MeshViewMut {
            positions: Some(&mut p),
            normals: Some(&mut n),
            ..MeshViewMut::default()
        },
        par,
    }
    .run();
    (p, n)
}

#[test]
fn deltas_add_up_by_weight_and_scale() {
    let m = mesh();
    let (p, n) = run(&m, &[0.5, -2.0], 2.0, Par::Seq);
    for (v, rest) in m.positions.iter().enumerate() {
        let (a, b) = ([1, 3].contains(&v) as u8, [3, 7].contains(&v) as u8);
        let expected = [
            rest[0] - 4.0 * f32::from(b),
            rest[1],
            rest[2] + 2.0 * f32::from(a),
        ];
        assert_eq!(p[v], expected, "vertex {v}");
    }
    // Normal (0, 0, 1) plus (1, 0, 0), normalised.
    let h = 0.5_f32.sqrt();
    assert!(
        (n[1][0] - h).abs() < 1e-6 && (n[1][2] - h).abs() < 1e-6,
        "{:?}",
        n[1]
    );
    assert_eq!(n[7], [0.0, 0.0, 1.0], "no normal delta");
}

#[test]
fn weight_zero_and_any_thread_count_change_nothing() {
    let m = mesh();
    assert_eq!(run(&m, &[0.0, 0.0], 1.0, Par::Seq).0, m.positions);
    assert!(
        run(&m, &[0.3, 0.4], 1.0, Par::Seq) == run(&m, &[0.3, 0.4], 1.0, Par::Rayon),
        "bits"
    );
}

#[test]
fn bind_refuses_targets_that_do_not_fit() {
    let mut m = mesh();
    m.morph_targets[1].vertices[1] = 99;
    let error = MorphBind::new(&m).expect_err("vertex 99").to_string();
    assert_eq!(
        error,
        "target 1 moves vertex 99, but the mesh has 25 vertices"
    );
    m.morph_targets[0].normals.pop();
    let error = MorphBind::new(&m).expect_err("one normal").to_string();
    assert_eq!(
        error,
        "target 0 has 1 normal deltas, expected 2, one for each of its vertices"
    );
}

#[test]
fn a_mesh_without_targets_passes_through() {
    let mut m = mesh();
    m.morph_targets.clear();
    let (moved, normals) = run(&m, &[], 2.0, Par::Seq);
    assert_eq!((moved, Some(normals)), (m.positions, m.normals));
}
