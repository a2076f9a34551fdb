use super::*;
use proptest::prelude::*;

fn affine(linear: Mat3<f64>) -> Affine<f64> {
    Affine {
        linear,
        translation: Vec3::new(1.0, -2.0, 3.0),
    }
}

fn taken_apart(linear: Mat3<f64>) -> Decomposition {
    let found = affine(linear).decompose(ORTHOGONAL_TOLERANCE);
    found.expect("finite numbers")
}

fn rotation(q: Quat<f64>) -> Mat3<f64> {
    q.to_rotation_matrix().into_inner()
}

/// Whether the parts give `linear` again, with a right-handed rotation.
fn check(linear: Mat3<f64>) -> Decomposition {
    let d = taken_apart(linear);
    let r = rotation(d.rotation);
    let tolerance = 1e-13 * linear.amax();
    assert!((r.determinant() - 1.0).abs() < 1e-13, "right-handed");
    assert!(
        (r.transpose() * r - Mat3::identity()).norm() < 1e-13,
        "orthogonal"
    );
    assert!(
        (r * d.stretch - linear).amax() <= tolerance,
        "rotation * stretch: {linear} {d:?}"
    );
    assert_eq!(d.scale, d.stretch.diagonal(), "the diagonal");
    if !d.sheared {
        let trs = Affine::from_trs(d.translation, d.rotation, d.scale);
        let off = (trs.linear - linear).amax();
        assert!(
            off <= 3.0 * ORTHOGONAL_TOLERANCE * linear.amax(),
            "TRS: {off}"
        );
    }
    d
}

#[test]
fn closed_forms() {
    // A quarter turn about z after a scale: x goes to 2y, y to -3x, z to 4z.
    let d = check(Mat3::new(0.0, -3.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 4.0));
    assert!((d.scale - Vec3::new(2.0, 3.0, 4.0)).norm() < 1e-15, "{d:?}");
    let quarter = Quat::from_axis_angle(&Vec3::z_axis(), std::f64::consts::FRAC_PI_2);
    assert!(
        rotation(d.rotation * quarter.inverse()).is_identity(1e-15),
        "{d:?}"
    );
    assert_eq!((d.sheared, d.shear), (false, 0.0));
    assert_eq!(d.translation, Vec3::new(1.0, -2.0, 3.0));
    let d = check(Mat3::identity());
    assert_eq!((d.rotation, d.scale), (Quat::identity(), Vec3::repeat(1.0)));
}

#[test]
fn mirrors_have_the_sign_in_x() {
    let d = check(Mat3::from_diagonal(&Vec3::new(-2.0, 1.0, 1.0)));
    assert!(
        rotation(d.rotation).is_identity(1e-15),
        "no rotation is left"
    );
    assert_eq!(d.scale, Vec3::new(-2.0, 1.0, 1.0));
    // Mirrored in z: the same as mirrored in x after half a turn about y.
    let d = check(Mat3::from_diagonal(&Vec3::new(1.0, 1.0, -3.0)));
    assert!(
        (d.scale - Vec3::new(-1.0, 1.0, 3.0)).norm() < 1e-15,
        "{d:?}"
    );
    assert!(
        (d.rotation.angle() - std::f64::consts::PI).abs() < 1e-7,
        "{d:?}"
    );
    // Two signs are half a turn, three a mirror.
    let d = check(Mat3::from_diagonal(&Vec3::new(-1.0, -1.0, 1.0)));
    assert_eq!(d.scale, Vec3::repeat(1.0));
    let d = check(Mat3::from_diagonal(&Vec3::new(-1.0, -1.0, -1.0)));
    assert_eq!(d.scale, Vec3::new(-1.0, 1.0, 1.0));
}

/// Newton's iteration `X <- (X + X^-T) / 2` (Higham 1986): another way to the polar rotation of a regular matrix.
fn higham(linear: Mat3<f64>) -> Mat3<f64> {
    let mut x = linear;
    for _ in 0..100 {
        x = (x + x.try_inverse().expect("regular").transpose()) * 0.5;
    }
    x
}

#[test]
fn shear_in_the_plane_is_a_known_rotation() {
    // Of [[1, k], [0, 1]] the polar rotation turns by -atan(k / 2).
    for k in [1e-3, 0.5, 2.0, -7.0] {
        let mut linear = Mat3::identity();
        linear[(0, 1)] = k;
        let d = check(linear);
        let wanted = Quat::from_axis_angle(&Vec3::z_axis(), -(k / 2.0_f64).atan());
        assert!(
            (rotation(d.rotation) - rotation(wanted)).norm() < 1e-14,
            "{k}"
        );
        assert!(d.sheared, "{k}");
        assert!(
            (d.shear - k.abs() / k.hypot(1.0)).abs() < 1e-15,
            "cosine of the columns"
        );
        assert!(
            (d.stretch - d.stretch.transpose()).norm() < 1e-14,
            "symmetric"
        );
    }
}

#[test]
fn sheared_and_mirrored() {
    let linear = Mat3::new(-1.0, 0.4, 0.1, 0.2, 2.0, -0.3, 0.0, 0.5, 0.7);
    let d = check(linear);
    let mirror = Mat3::from_diagonal(&Vec3::new(-1.0, 1.0, 1.0));
    assert!(linear.determinant() < 0.0 && d.sheared, "as meant");
    let difference = rotation(d.rotation) - higham(linear * mirror);
    assert!(
        difference.norm() < 1e-13,
        "nearest to the matrix with its first column negated"
    );
    assert!(d.scale.x < 0.0, "{d:?}");
}

#[test]
fn singular_matrices_give_a_rotation() {
    let turn = rotation(Quat::from_euler_angles(0.3, -0.7, 1.1));
    for scale in [[0.0, 2.0, 3.0], [1.0, 0.0, 3.0], [1.0, 2.0, 0.0]] {
        let d = check(turn * Mat3::from_diagonal(&scale.into()));
        assert!(
            (rotation(d.rotation) - turn).norm() < 1e-14,
            "two columns determine it"
        );
        assert!(
            (d.scale - Vec3::from(scale)).norm() < 1e-14,
            "{scale:?} {d:?}"
        );
    }
    for scale in [[0.0, 0.0, 3.0], [0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3]] {
        let d = check(turn * Mat3::from_diagonal(&scale.into()));
        assert!(
            (d.scale - Vec3::from(scale)).norm() < 1e-14,
            "{scale:?} {d:?}"
        );
    }
    let d = check(Mat3::zeros());
    assert_eq!(d.rotation, Quat::identity());
    // Columns in a plane, and on a line.
    let flat = Mat3::new(1.0, 2.0, 3.0, 0.0, 1.0, -1.0, 1.0, 3.0, 2.0);
    assert!(check(flat).sheared, "in a plane");
    let d = check(Vec3::new(1.0, 2.0, 3.0) * Vec3::new(1.0, -1.0, 0.5).transpose());
    assert!(d.sheared && (d.shear - 1.0).abs() < 1e-15, "on a line");
}

#[test]
fn sizes_far_from_one() {
    let turn = rotation(Quat::from_euler_angles(0.3, -0.7, 1.1));
    for size in [1e-300, 1e-30, 1e30, 1e300] {
        let d = check(turn * Mat3::from_diagonal(&Vec3::new(size, 2.0 * size, size)));
        assert!((rotation(d.rotation) - turn).norm() < 1e-14, "{size}");
        assert!((d.scale.y / size - 2.0).abs() < 1e-14, "{size}");
    }
    let d = check(turn * Mat3::from_diagonal(&Vec3::new(1e-12, 1.0, 1e6)));
    assert!((d.scale.x / 1e-12 - 1.0).abs() < 1e-3, "{d:?}");
}

#[test]
fn what_is_not_finite_is_refused() {
    let mut a = affine(Mat3::identity());
    a.translation.y = f64::INFINITY;
    let error = a.decompose(ORTHOGONAL_TOLERANCE).expect_err("refused");
    let said = "row 1, column 3 of the transform: found inf, expected a finite number";
    assert_eq!(error.to_string(), said);
    a.linear[(2, 0)] = f64::NAN;
    let error = a.decompose(ORTHOGONAL_TOLERANCE).expect_err("refused");
    assert!(matches!(
        error,
        DecomposeError::NotFinite {
            row: 1,
            column: 3,
            ..
        }
    ));
}

fn numbers(range: std::ops::Range<f64>) -> impl Strategy<Value = Vec3<f64>> {
    [range.clone(), range.clone(), range].prop_map(Vec3::from)
}

#[test]
fn what_overflows_is_refused() {
    let largest = f64::MAX;
    let error = affine(Mat3::repeat(largest)).decompose(ORTHOGONAL_TOLERANCE);
    assert_eq!(error, Err(DecomposeError::TooLarge { largest }));
    let d = taken_apart(Mat3::from_diagonal(&Vec3::repeat(largest)));
    assert_eq!(d.scale, Vec3::repeat(largest));
}

proptest! {
    #[test]
    fn no_rotation_is_nearer_than_the_nearest(
        entries in proptest::array::uniform9(-2.0..2.0),
        others in proptest::collection::vec(proptest::array::uniform4(-1.0..1.0_f64), 1..20),
        steps in proptest::collection::vec(proptest::array::uniform3(-0.1..0.1), 1..20),
    ) {
        let matrix = Mat3::from_column_slice(&entries);
        let nearest = nearest_rotation(&matrix);
        prop_assert!((nearest.determinant() - 1.0).abs() < 1e-12 && (nearest.transpose() * nearest).is_identity(1e-12), "a rotation: {nearest}");
        let anywhere = others.iter().map(|q| rotation(Quat::from_quaternion((*q).into())));
        let beside = steps.iter().map(|v| rotation(Quat::from_scaled_axis(Vec3::from(*v))) * nearest);
        for other in anywhere.chain(beside).filter(|r| r.iter().all(|v| v.is_finite())) {
            prop_assert!((nearest - matrix).norm() <= (other - matrix).norm() + 1e-12, "{nearest} {other}");
        }
    }

    #[test]
    fn trs_comes_back(turn in numbers(-3.1..3.1), scale in numbers(0.01..20.0), mirrored: bool) {
        let wanted = Quat::from_euler_angles(turn.x, turn.y, turn.z);
        let mut scale = scale;
        scale.x *= if mirrored { -1.0 } else { 1.0 };
        let d = check(rotation(wanted) * Mat3::from_diagonal(&scale));
        prop_assert!(!d.sheared);
        prop_assert!((rotation(d.rotation) - rotation(wanted)).norm() < 1e-13);
        prop_assert!((d.scale - scale).norm() < 1e-12);
    }

    #[test]
    fn sheared_rotations_are_the_polar_ones(entries in proptest::array::uniform9(-2.0..2.0)) {
        let mut linear = Mat3::from_row_slice(&entries);
        if linear.determinant() < 0.0 {
            linear.swap_rows(0, 1);
        }
        prop_assume!(linear.determinant() > 1e-3);
        let d = check(linear);
        prop_assume!(d.sheared);
        prop_assert!((rotation(d.rotation) - higham(linear)).norm() < 1e-10);
        prop_assert!((d.stretch - d.stretch.transpose()).norm() < 1e-12);
        // Stretches along the axes of the singular value decomposition.
        let mut singular: Vec<f64> = linear.singular_values().iter().copied().collect();
        let mut stretches: Vec<f64> = d.stretch.symmetric_eigenvalues().iter().copied().collect();
        singular.sort_by(f64::total_cmp);
        stretches.sort_by(f64::total_cmp);
        for (a, b) in singular.iter().zip(&stretches) {
            prop_assert!((a - b).abs() < 1e-9);
        }
    }

    #[test]
    fn any_matrix_is_taken_apart(entries in proptest::array::uniform9(-1..2_i32), exponent in -300..300_i32) {
        let size = 10.0_f64.powi(exponent);
        check(Mat3::from_row_slice(&entries.map(|v| f64::from(v) * size)));
    }
}
