use super::*;
use crate::local_frame::Profile;
use crate::local_frame::test_support::{
    Random, check_continuous, check_identity, check_jacobian, check_kernels, jacobian, moved,
};

fn twist(angle: f64, profile: Profile) -> Twist {
    Twist {
        angle,
        start_angle: 0.0,
        profile,
        region: Region::new(2.0, 0.1, 0.2),
    }
}

#[test]
fn sections_turn_by_the_angle_of_their_height() {
    let mut random = Random(4);
    for _ in 0..1000 {
        let p = random.point();
        let u = ((p[2] - 0.2) / 1.4).clamp(0.0, 1.0);
        for (profile, part) in [
            (Profile::Linear, u),
            (Profile::Smooth, u * u * (3.0 - 2.0 * u)),
        ] {
            let t = Twist {
                start_angle: -0.5,
                ..twist(3.0, profile)
            };
            let (s, c) = (-0.5 + 3.5 * part).sin_cos();
            let expected = [p[0] * c - p[1] * s, p[0] * s + p[1] * c, p[2]];
            let got = moved(&t, p);
            for i in 0..3 {
                assert!(
                    (got[i] - expected[i]).abs() < 1e-12,
                    "{p:?}: {got:?} {expected:?}"
                );
            }
            assert!(
                (jacobian(&t, p).determinant() - 1.0).abs() < 1e-12,
                "volume is kept"
            );
        }
    }
}

#[test]
fn jacobian_equals_central_differences() {
    for profile in [Profile::Linear, Profile::Smooth] {
        check_jacobian(&twist(2.5, profile), &[0.2, 1.6], false);
        check_continuous(&twist(2.5, profile), &[0.2, 1.6]);
    }
}

#[test]
fn identity_and_kernels() {
    check_identity(twist(0.0, Profile::Linear));
    check_kernels(twist(2.5, Profile::Linear));
    check_kernels(twist(-4.0, Profile::Smooth));
}
