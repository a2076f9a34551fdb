use super::*;
use sinew_geom::nalgebra::{Matrix4, RowVector4};
use sinew_geom::{Affine, Quat, Vec3};

/// A quarter turn about z as Maya writes it, 1, 2 and 3 cm away: x goes to y, y to -x.
const TURNED: MayaMatrix = MayaMatrix([
    0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 1.0,
]);

fn scene(up: UpAxis) -> MayaScene {
    MayaScene {
        up,
        ..MayaScene::default()
    }
}

#[test]
fn rows_become_columns_and_centimetres_metres() {
    let a = TURNED.to_affine(&MayaScene::default());
    assert!(
        (a.translation - Vec3::new(0.01, 0.02, 0.03)).norm() < 1e-17,
        "{a:?}"
    );
    assert_eq!(a.linear * Vec3::x(), Vec3::y());
    assert_eq!(a.linear * Vec3::y(), -Vec3::x());
    let metres = MayaScene {
        unit_metres: 1.0,
        ..MayaScene::default()
    };
    assert_eq!(
        TURNED.to_affine(&metres).translation,
        Vec3::new(1.0, 2.0, 3.0)
    );
    assert_eq!(
        MayaMatrix::from_affine(&TURNED.to_affine(&metres), &metres),
        TURNED
    );
}

#[test]
fn points_go_where_row_vectors_go() {
    // A matrix without any symmetry: scale, shear, mirror.
    let m = MayaMatrix([
        -1.5, 0.25, 3.0, 0.0, 0.5, 2.0, -0.75, 0.0, 1.0, -4.0, 0.125, 0.0, 10.0, -20.0, 30.0, 1.0,
    ]);
    let matrix = Matrix4::from_row_slice(&m.0);
    let a = m.to_affine(&MayaScene::default());
    for p in [[0.0, 0.0, 0.0], [1.0, 2.0, -3.0], [0.3, -0.7, 11.0]] {
        let wanted = RowVector4::new(p[0], p[1], p[2], 1.0) * matrix;
        let found = a.point(Vec3::from(p) * 0.01) * 100.0;
        assert!(
            (found - Vec3::new(wanted.x, wanted.y, wanted.z)).norm() < 1e-12,
            "{found}"
        );
    }
    let back = MayaMatrix::from_affine(&a, &MayaScene::default());
    for (a, b) in back.0.iter().zip(m.0) {
        assert!((a - b).abs() < 1e-13, "{back:?}");
    }
}

#[test]
fn z_up_is_a_change_of_basis() {
    // A turn about z, which points up there, is one about y here; 3 cm up stays 3 cm up.
    let a = TURNED.to_affine(&scene(UpAxis::Z));
    assert!(
        (a.translation - Vec3::new(0.01, 0.03, -0.02)).norm() < 1e-17,
        "{a:?}"
    );
    let quarter = Quat::from_axis_angle(&Vec3::y_axis(), std::f64::consts::FRAC_PI_2);
    let wanted = quarter.to_rotation_matrix().into_inner();
    assert!((a.linear - wanted).norm() < 1e-15, "{a:?}");
    // As the product B M B^-1, for a matrix without symmetry.
    let m = MayaMatrix(std::array::from_fn(|i| match i {
        3 | 7 | 11 => 0.0,
        15 => 1.0,
        i => (i * i) as f64 - 7.0,
    }));
    let b = Affine::from_trs(
        Vec3::zeros(),
        Quat::from_axis_angle(&Vec3::x_axis(), -std::f64::consts::FRAC_PI_2),
        Vec3::repeat(1.0),
    );
    let wanted = b * m.to_affine(&scene(UpAxis::Y)) * b.inverse().expect("regular");
    let found = m.to_affine(&scene(UpAxis::Z));
    assert!((found.linear - wanted.linear).norm() < 1e-12, "{found:?}");
    assert!(
        (found.translation - wanted.translation).norm() < 1e-12,
        "{found:?}"
    );
    let back = MayaMatrix::from_affine(&found, &scene(UpAxis::Z));
    for (a, b) in back.0.iter().zip(m.0) {
        assert!((a - b).abs() < 1e-12, "{back:?}");
    }
}

#[test]
fn column_vectors_are_noticed() {
    let mut m = MayaMatrix::IDENTITY;
    assert!(m.is_affine() && MayaMatrix::default() == m, "identity");
    m.0[3] = 5.0;
    assert!(!m.is_affine(), "a translation in the fourth column");
    let text = PSD.replace("[4, 5, 6, 1]", "[0, 0, 0, 2]");
    let document = parse_psd(&text, path()).expect("valid");
    let said = document
        .warnings
        .iter()
        .find(|w| w.code == "matrix_not_affine");
    let location = "arm_l_Solver.Poses.bent.outDrivenLocalMatrixList[0]: the fourth column";
    assert!(said.expect("said").message.contains(location), "{said:?}");
}
