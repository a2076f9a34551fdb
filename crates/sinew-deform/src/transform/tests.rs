use super::*;
use sinew_geom::{Quat, Vec3};

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
