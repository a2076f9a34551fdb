//! One transform with different signs of scale.

use super::Trs;
use crate::{Affine, ORTHOGONAL_TOLERANCE, Quat, Vec3};

fn matrix(t: &Trs) -> Affine<f64> {
    Affine::from_trs(t.translation, t.rotation, t.scale)
}

fn apart(a: &Affine<f64>, b: &Affine<f64>) -> f64 {
    (a.linear - b.linear).norm() + (a.translation - b.translation).norm()
}

/// All patterns of signs: bit `axis` of the number is a negative factor.
fn transforms() -> impl Iterator<Item = Trs> {
    let turns = [[0.0, 0.0, 0.0], [0.3, -1.1, 2.0], [3.0, 0.4, 0.1]];
    (0..8_usize).flat_map(move |pattern| {
        turns.map(|turn| Trs {
            translation: Vec3::new(1.0, -2.0, 3.0),
            rotation: Quat::from_scaled_axis(Vec3::from(turn)),
            scale: Vec3::from_fn(|axis, _| {
                let size = [1.5, 0.5, 2.0][axis];
                if pattern >> axis & 1 == 1 {
                    -size
                } else {
                    size
                }
            }),
        })
    })
}

#[test]
fn one_form_is_that_of_the_decomposed_matrix() {
    for given in transforms() {
        let form = given.in_one_form();
        assert!(apart(&matrix(&form), &matrix(&given)) < 1e-14, "{given:?}");
        let parts = matrix(&given).decompose(ORTHOGONAL_TOLERANCE);
        let parts = parts.expect("finite");
        // An angle of rounding: acos loses half the digits.
        assert!(parts.rotation.angle_to(&form.rotation) < 1e-7, "{given:?}");
        assert!((parts.scale - form.scale).norm() < 1e-14, "{given:?}");
        let negative = form.scale.iter().filter(|s| **s < 0.0).count();
        let mirrors = given.scale.product() < 0.0;
        assert_eq!(negative, usize::from(mirrors), "{given:?}");
        assert_eq!(given.mirrors(), mirrors);
    }
}

#[test]
fn signs_are_taken_over_between_all_patterns_that_mirror_alike() {
    for given in transforms() {
        for like in transforms() {
            let found = given.with_signs_of(like.scale);
            assert!(apart(&matrix(&found), &matrix(&given)) < 1e-14);
            if given.mirrors() == like.mirrors() {
                let signs = |t: &Trs| t.scale.map(f64::signum);
                assert_eq!(signs(&found), signs(&like), "{given:?}, {like:?}");
            } else {
                assert_eq!(found, given);
            }
        }
    }
}

/// A node that turns there and back, with a leaf an arm's length away.
#[test]
fn clips_that_end_as_they_begin_are_closed() {
    use crate::{Channel, ChannelTarget, Clip, Interpolation, LocalTransform, Node, Rig};
    let node = |parent, translation| Node {
        name: String::new(),
        parent,
        local: LocalTransform::Trs(Trs {
            translation,
            ..Trs::default()
        }),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let nodes = vec![node(None, Vec3::zeros()), node(Some(0), Vec3::x())];
    let rig = Rig::new(nodes, Vec::new()).expect("a rig");
    let closed = |angles: [f64; 3]| {
        let turn = |angle: &f64| Quat::from_axis_angle(&Vec3::z_axis(), *angle);
        let values = angles
            .iter()
            .flat_map(|a| turn(a).coords.map(|c| c as f32).data.0[0]);
        let channel = Channel::new(
            0,
            ChannelTarget::Rotation,
            Interpolation::Linear,
            vec![0.0, 0.5, 1.0],
            values.collect(),
            4,
        );
        let clip = Clip::new("turn", vec![channel.expect("a channel")]);
        rig.is_closed(&clip, &(0..=24).collect::<Vec<_>>(), 24.0)
    };
    assert!(closed([0.2, 1.0, 0.2]));
    assert!(closed([0.0, 3.0, std::f64::consts::TAU]), "a whole turn");
    assert!(!closed([0.0, 1.0, 0.1]));
    assert!(!closed([0.2, 0.2, 0.2]), "still");
    assert!(!closed([0.2, 0.2 + 1e-7, 0.2]), "as good as still");
}

/// A mesh and a joint are both called `head`, and the mesh comes first.
#[test]
fn a_name_means_the_joint_rather_than_a_mesh() {
    use crate::{Joint, LocalTransform, Node, Rig};
    let node = |name: &str| Node {
        name: name.into(),
        parent: None,
        local: LocalTransform::Trs(Trs::default()),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let joint = Joint {
        node: 2,
        joint_from_bind: Affine::identity(),
    };
    let nodes = vec![node("head"), node("camera"), node("head")];
    let rig = Rig::new(nodes, vec![joint]).expect("a rig");
    assert_eq!(rig.find_node("head"), Some(2));
    assert_eq!(rig.find_node("camera"), Some(1));
    assert_eq!(rig.find_node("tail"), None);
}
