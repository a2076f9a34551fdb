use super::*;
use sinew_geom::{Quat, Vec3};
use sinew_testkit::meshes;

fn run(transform: Affine<f32>, weight: f32) -> ([f32; 3], [f32; 3], [f32; 4]) {
    let (mut p, mut n, mut t) = ([[0.0; 3]], [[0.0; 3]], [[0.0; 4]]);
    TransformJob {
        transform,
        weight: MaskWeight {
            weight,
            ..MaskWeight::ONE
        },
        input: MeshView {
            positions: &[[1.0, 2.0, 3.0]],
            normals: Some(&[[0.0, 0.6, 0.8]]),
            tangents: Some(&[[1.0, 0.0, 0.0, 1.0]]),
            colors: None,
            ..MeshView::default()
        },
        output: MeshViewMut {
            positions: Some(&mut p),
            normals: Some(&mut n),
            tangents: Some(&mut t),
            colors: None,
        },
        par: Par::Seq,
    }
    .run();
    (p[0], n[0], t[0])
}

#[test]
fn weight_zero_changes_nothing() {
    let m = Affine::from_trs(
        Vec3::new(5.0, 0.0, 0.0),
        Quat::from_euler_angles(0.3, 0.2, 0.1),
        Vec3::repeat(2.0),
    );
    let (p, n, t) = run(m, 0.0);
    assert_eq!(
        (p, n, t),
        ([1.0, 2.0, 3.0], [0.0, 0.6, 0.8], [1.0, 0.0, 0.0, 1.0])
    );
}

#[test]
fn non_uniform_scale_keeps_normals_perpendicular() {
    // (0, 0.8, -0.6) lies in the surface whose normal is (0, 0.6, 0.8).
    let m = Affine::from_trs(Vec3::zeros(), Quat::identity(), Vec3::new(1.0, 3.0, 0.5));
    let (_, n, _) = run(m, 1.0);
    let surface = [0.0, 0.8 * 3.0, -0.6 * 0.5];
    let dot: f32 = (0..3).map(|c| n[c] * surface[c]).sum();
    assert!(dot.abs() < 1e-6, "dot {dot}");
}

#[test]
fn mirror_flips_the_tangent_sign() {
    let m = Affine::from_trs(Vec3::zeros(), Quat::identity(), Vec3::new(-1.0, 1.0, 1.0));
    let (_, n, t) = run(m, 1.0);
    assert_eq!((n, t), ([0.0, 0.6, 0.8], [-1.0, 0.0, 0.0, -1.0]));
}

#[test]
fn kernel_is_the_reference() {
    let mesh = meshes::tube(8, 5, 1.0, 0.2);
    let n = mesh.vertex_count();
    assert!(!n.is_multiple_of(8), "{n} vertices leave a rest");
    let mask: Vec<f32> = (0..n).map(|v| (v % 5) as f32 / 4.0).collect();
    let tangents: Vec<[f32; 4]> = (0..n)
        .map(|v| [1.0, 0.0, 0.0, if v % 3 == 0 { -1.0 } else { 1.0 }])
        .collect();
    for scale in [[1.0, 2.0, 0.5], [-1.5, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0; 3]] {
        let transform = Affine::from_trs(
            Vec3::new(0.1, -2.0, 3.0),
            Quat::from_euler_angles(0.3, -0.2, 1.1),
            scale.into(),
        );
        for invert in [false, true] {
            let weight = MaskWeight {
                mask: Some(&mask),
                invert,
                weight: 0.9,
            };
            let input = MeshView {
                positions: &mesh.positions,
                normals: mesh.normals.as_deref(),
                tangents: Some(&tangents),
                colors: None,
                ..MeshView::default()
            };
            let (mut p, mut q, mut t) = (vec![[0.0; 3]; n], vec![[0.0; 3]; n], vec![[0.0; 4]; n]);
            TransformJob {
                transform,
                weight,
                input,
                output: MeshViewMut {
                    positions: Some(&mut p),
                    normals: Some(&mut q),
                    tangents: Some(&mut t),
                    colors: None,
                },
                par: Par::Seq,
            }
            .run();
            let wide = transform.cast::<f64>();
            for v in 0..n {
                let w = weight.at(v);
                let expected = transform_vertex(&wide, &wide.normal_matrix(), w, &input, v);
                let close = |a: &[f32], b: &[f32]| {
                    let off = a
                        .iter()
                        .zip(b)
                        .map(|(a, b)| (a - b).abs())
                        .fold(0.0, f32::max);
                    assert!(off < 2e-6, "scale {scale:?}, vertex {v}: {a:?} {b:?}");
                };
                close(&p[v], &expected.position);
                close(&q[v], &expected.normal.expect("has normals"));
                close(&t[v], &expected.tangent.expect("has tangents"));
            }
        }
    }
}
