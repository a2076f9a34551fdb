use super::*;

fn run(factor: f32, mask: Option<&[f32]>, invert: bool) -> ([[f32; 3]; 2], [[f32; 3]; 2]) {
    let (mut p, mut n) = ([[9.0; 3]; 2], [[9.0; 3]; 2]);
    BlendJob {
        factor,
        weight: MaskWeight {
            mask,
            invert,
            weight: 1.0,
        },
        input: MeshView {
            positions: &[[0.0; 3], [1.0, 0.0, 0.0]],
            normals: Some(&[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
            ..MeshView::default()
        },
        target: MeshView {
            positions: &[[4.0, 8.0, 0.0], [1.0, 2.0, 0.0]],
            normals: Some(&[[0.0, 1.0, 0.0], [0.0, 0.0, -1.0]]),
            ..MeshView::default()
        },
        output: MeshViewMut {
            positions: Some(&mut p),
            normals: Some(&mut n),
            ..MeshViewMut::default()
        },
        par: Par::Seq,
    }
    .run();
    (p, n)
}

#[test]
fn factor_goes_from_mesh_to_target() {
    assert_eq!(run(0.0, None, false).0, [[0.0; 3], [1.0, 0.0, 0.0]]);
    assert_eq!(run(0.25, None, false).0, [[1.0, 2.0, 0.0], [1.0, 0.5, 0.0]]);
    assert_eq!(run(1.0, None, false).0, [[4.0, 8.0, 0.0], [1.0, 2.0, 0.0]]);
}

#[test]
fn mask_and_its_inverse_scale_each_vertex() {
    let mask = [0.5, 0.0];
    assert_eq!(
        run(1.0, Some(&mask), false).0,
        [[2.0, 4.0, 0.0], [1.0, 0.0, 0.0]]
    );
    assert_eq!(
        run(1.0, Some(&mask), true).0,
        [[2.0, 4.0, 0.0], [1.0, 2.0, 0.0]]
    );
}

#[test]
fn normals_stay_unit_and_finite_where_they_cancel() {
    let (_, n) = run(0.5, None, false);
    let h = 0.5_f32.sqrt();
    assert!(
        (n[0][0] - h).abs() < 1e-6 && (n[0][1] - h).abs() < 1e-6,
        "{n:?}"
    );
    assert_eq!(
        n[1],
        [0.0, 0.0, 1.0],
        "opposite normals keep the mesh's own"
    );
}
