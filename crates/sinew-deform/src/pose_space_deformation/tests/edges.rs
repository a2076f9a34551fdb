//! What has no obvious answer: blind vertices, half turns, numbers that are none, weights, threads, wrong lengths.

use super::*;
use crate::pose_driver::{Metric, PoseDriverError, RadialKernel};

/// A vertex that follows joint 0 alone cannot tell poses of joint 1 apart: it shows the mean of what they ask for.
#[test]
fn poses_that_a_vertex_cannot_tell_apart_give_their_mean() {
    let x = [1.0, 0.0, 0.0];
    let mesh = mesh(&TARGETS);
    let space = PoseSpace {
        poses: vec![
            pose("neutral", &[still(), still()], ""),
            pose("turned", &[still(), about(x, 60.0)], "c"),
            pose("far", &[still(), about(x, 120.0)], "d"),
            pose("bent", &[about([0.0, 0.0, 1.0], 100.0), still()], "a"),
        ],
        ..PoseSpace::default()
    };
    let bind = bound(&mesh, &space);
    // Vertex 12 is at the beginning of the second row, all of joint 0.
    let v = 12;
    let of = |i: usize| Vec3::from(mesh.morph_targets[i].positions[v - 10].map(f64::from));
    let mean = (of(2) + of(3)) / 3.0;
    let largest = [Vec3::zeros(), of(2), of(3)].map(|d| (d - mean).norm());
    for p in &space.poses[..3] {
        let found = bind.added(&p.values, v)[0];
        assert!((found - mean).norm() < 1e-6, "{}: {found}", p.name);
    }
    assert!((bind.added(&space.poses[3].values, v)[0] - of(0)).norm() < 1e-6);
    let report = bind.report();
    let worst = largest.into_iter().fold(0.0, f64::max);
    assert!(report.largest_residual >= worst - 1e-6, "{report:?}");
    // Both columns at the ends of the strip, but for the first vertex, which no target moves, and the last row.
    assert_eq!(report.blind, 5 + 6, "{report:?}");
    assert!(
        report
            .worst_vertex
            .is_some_and(|v| matches!(v % 12, 0 | 11))
    );
}

#[test]
fn vertices_that_follow_no_driver_joint_stay() {
    let (mesh, space) = (mesh(&TARGETS), two_joints());
    let bind = bound(&mesh, &space);
    let count = mesh.vertex_count();
    let report = bind.report();
    assert_eq!((report.unseen, report.vertices), (12, count - 12 - 10));
    // Twelve columns of different weights.
    assert_eq!(report.systems, 12);
    for p in &space.poses {
        let out = run(&mesh, &bind, &p.values);
        for v in (0..10).chain(count - 12..count) {
            assert_eq!(out.positions[v], mesh.positions[v], "{}, {v}", p.name);
        }
    }
    // Several joints of the skin may be one driver joint: of another skin, say.
    let joints = [vec![0, 2], vec![1]];
    let bind = PoseSpaceBind::new(&mesh, &space, &joints).expect("binds");
    assert_eq!(bind.report().unseen, 0);
}

#[test]
fn both_signs_of_a_quaternion_and_half_turns() {
    let mesh = mesh(&TARGETS);
    let (x, z) = ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
    let metrics = [
        Metric::Arc,
        Metric::Chord,
        Metric::Swing,
        Metric::SwingChord,
        Metric::Direction,
        Metric::DirectionChord,
        Metric::Position,
    ];
    for metric in metrics {
        for kernel in [RadialKernel::Gaussian, RadialKernel::Linear] {
            let mut space = PoseSpace {
                metric,
                kernel,
                axis: Vec3::y(),
                ..two_joints()
            };
            space
                .poses
                .push(pose("half", &[about(z, 180.0), about(x, 180.0)], "a"));
            for (i, p) in space.poses.iter_mut().enumerate() {
                p.values[0].translation.x = i as f64;
            }
            let bind = bound(&mesh, &space);
            let mut moments = moments(2);
            moments.extend([
                vec![about(z, 180.0), about(x, -180.0)],
                vec![about([1.0, 1.0, 0.0], 180.0), about(z, 360.0)],
                vec![about(z, 1e-9), about(x, 179.999_999_9)],
            ]);
            for mut values in moments {
                let one = run(&mesh, &bind, &values);
                for value in &mut values {
                    let negative = -value.rotation.into_inner();
                    value.rotation = Quat::new_unchecked(negative);
                }
                let other = run(&mesh, &bind, &values);
                assert_eq!(one, other, "{metric:?}: q and -q");
                let all = one.positions.as_flattened().iter();
                let all = all.chain(one.normals.as_flattened());
                assert!(
                    all.chain(one.tangents.as_flattened())
                        .all(|c| c.is_finite()),
                    "{metric:?} {values:?}"
                );
            }
        }
    }
}

/// Far away, and where the pose is none, the mesh is as it came in.
#[test]
fn nothing_is_added_far_away_and_without_a_pose() {
    let mesh = mesh(&TARGETS);
    let mut space = PoseSpace {
        metric: Metric::Position,
        kernel: RadialKernel::Exponential,
        ..two_joints()
    };
    for (i, p) in space.poses.iter_mut().enumerate() {
        p.values[i % 2].translation.x = i as f64;
    }
    let bind = bound(&mesh, &space);
    let rest = Moved {
        positions: mesh.positions.clone(),
        normals: mesh.normals.clone().expect("normals"),
        tangents: mesh.tangents.clone().expect("tangents"),
    };
    let at = |x: f64| {
        let mut value = still();
        value.translation.x = x;
        vec![value; 2]
    };
    assert!(run(&mesh, &bind, &at(0.5)) != rest, "something moves");
    for x in [1e10, 1e200, f64::MAX] {
        let out = run(&mesh, &bind, &at(x));
        assert!(worst(&out.positions, &rest.positions) < 1e-6, "{x}");
    }
    for x in [f64::NAN, f64::INFINITY] {
        assert_eq!(run(&mesh, &bind, &at(x)), rest);
        assert_eq!(bind.added(&at(x), 20), [Vec3::zeros(); 3]);
    }
}

#[test]
fn weights_masks_and_threads() {
    let (mesh, space) = (mesh(&TARGETS), two_joints());
    let bind = bound(&mesh, &space);
    let values = &moments(2)[3];
    let one = run(&mesh, &bind, values);
    let ramp: Vec<f32> = (0..mesh.vertex_count())
        .map(|v| (v % 5) as f32 / 4.0)
        .collect();
    for (mask, invert, weight) in [
        (None, false, 0.0),
        (None, true, 0.5),
        (Some(ramp.as_slice()), false, 1.0),
        (Some(ramp.as_slice()), true, 0.25),
    ] {
        let strength = MaskWeight {
            mask,
            invert,
            weight,
        };
        let out = run_with(&mesh, &bind, values, strength, Par::Seq);
        for v in 0..mesh.vertex_count() {
            let w = strength.at(v);
            for c in 0..3 {
                let (rest, full) = (mesh.positions[v][c], one.positions[v][c]);
                let off = (out.positions[v][c] - (rest + w * (full - rest))).abs();
                assert!(off < 1e-6, "vertex {v}: {off}");
            }
            if w == 0.0 {
                assert_eq!(out.positions[v], mesh.positions[v]);
                assert_eq!(out.normals[v], mesh.normals.as_ref().expect("normals")[v]);
            }
        }
        assert_eq!(out, run_with(&mesh, &bind, values, strength, Par::Rayon));
    }
}

/// Chunks begin in the middle of what moves, and blocks end before them.
#[test]
fn meshes_of_several_chunks() {
    let mut large = meshes::grid(129, 99);
    let count = large.vertex_count() as u32;
    assert!(count as usize > 3 * blocks::CHUNK);
    large.influences = Some(Influences::rigid(count as usize, 0));
    let vertices: Vec<u32> = (0..count)
        .filter(|v| !v.is_multiple_of(7) && v % 1000 > 20)
        .collect();
    large.morph_targets = vec![target("a", vertices.clone(), 1)];
    let z = [0.0, 0.0, 1.0];
    let space = PoseSpace {
        poses: vec![
            pose("neutral", &[still()], ""),
            pose("bent", &[about(z, 90.0)], "a"),
        ],
        ..PoseSpace::default()
    };
    let bind = bound(&large, &space);
    assert_eq!(bind.report().vertices, vertices.len());
    for par in [Par::Seq, Par::Rayon] {
        let values = [about(z, 90.0)];
        let out = run_with(&large, &bind, &values, MaskWeight::ONE, par);
        let mut expected = large.positions.clone();
        for (&v, d) in vertices.iter().zip(&large.morph_targets[0].positions) {
            for (at, d) in expected[v as usize].iter_mut().zip(d) {
                *at += d;
            }
        }
        assert!(worst(&out.positions, &expected) < 1e-6);
    }
}

#[test]
fn counts_that_do_not_fit_write_nothing() {
    let (mesh, space) = (mesh(&TARGETS), two_joints());
    let bind = bound(&mesh, &space);
    let nowhere = Moved::nowhere(mesh.vertex_count());
    assert_eq!(run(&mesh, &bind, &[still()]), nowhere);
    assert_eq!(bind.added(&[still()], 20), [Vec3::zeros(); 3]);
    assert_eq!(bind.added(&[still(), still()], 9999), [Vec3::zeros(); 3]);
    let mut less = mesh.clone();
    less.positions.pop();
    let out = run(&less, &bind, &[still(), still()]);
    assert_eq!(out, nowhere);
}

/// Poses that no target is named for need none.
#[test]
fn without_targets_nothing_moves() {
    let mut mesh = mesh(&[]);
    let mut space = two_joints();
    space.poses.iter_mut().for_each(|p| p.target.clear());
    for influence in [JointInfluence::Skin, JointInfluence::Equal] {
        space.influence = influence;
        let bind = bound(&mesh, &space);
        assert_eq!(*bind.report(), PoseSpaceReport::default());
        let out = run(&mesh, &bind, &moments(2)[0]);
        assert_eq!(out.positions, mesh.positions);
    }
    // A target that moves nothing, and a mesh without vertices.
    mesh.morph_targets = vec![target("a", Vec::new(), 0)];
    space.poses[1].target = "a".into();
    assert_eq!(bound(&mesh, &space).report().vertices, 0);
    let topology = sinew_geom::Topology::new(0, Vec::new()).expect("nothing");
    let mut empty = Mesh::new("empty", topology, Vec::new());
    empty.morph_targets = mesh.morph_targets;
    let bind = bound(&empty, &space);
    assert_eq!(run(&empty, &bind, &moments(2)[0]).positions.len(), 0);
}

#[test]
fn bind_refuses_with_a_reason() {
    let whole = mesh(&TARGETS);
    let fail = |mesh: &Mesh, change: &dyn Fn(&mut PoseSpace)| {
        let mut space = two_joints();
        change(&mut space);
        PoseSpaceBind::new(mesh, &space, &joints(2))
            .expect_err("wrong")
            .to_string()
    };
    let bare = Mesh {
        influences: None,
        ..whole.clone()
    };
    let short = Mesh {
        influences: Some(Influences::rigid(3, 0)),
        ..whole.clone()
    };
    let mut beyond = whole.clone();
    beyond.morph_targets[1].vertices[0] = 999;
    let cases = [
        (fail(&whole, &|s| s.poses.clear()), "no poses"),
        (
            fail(&whole, &|s| s.poses[1].values.truncate(1)),
            "pose 'bent' has 1 driver values, expected 2, one for each joint",
        ),
        (
            fail(&whole, &|s| s.poses[4].name = "bent".into()),
            "two poses are called 'bent'",
        ),
        (
            fail(&whole, &|s| s.poses[4].values = s.poses[3].values.clone()),
            "poses 'turned' and 'far' are the same for this metric",
        ),
        (
            fail(&whole, &|s| s.poses[1].target = "aa".into()),
            "pose 'bent': the mesh has no morph target 'aa'; did you mean 'a'?",
        ),
        (
            fail(&whole, &|s| s.poses[1].target = "elbow".into()),
            "known: a, b, c, d, e",
        ),
        (
            fail(&mesh(&[]), &|_| ()),
            "has no morph targets, which are the shapes of the poses",
        ),
        (
            fail(&bare, &|_| ()),
            "has no joint weights, which give the influence",
        ),
        (
            fail(&short, &|_| ()),
            "found joint weights of 3 vertices, expected 84",
        ),
        (fail(&beyond, &|_| ()), "target 1 moves vertex 999"),
        (
            fail(&whole, &|s| s.width = Some(0.0)),
            "width is 0, expected a finite number greater than 0",
        ),
        (
            fail(&whole, &|s| s.regularization = -1.0),
            "regularisation is -1",
        ),
        (
            fail(&whole, &|s| s.axis = Vec3::zeros()),
            "length of the twist axis is 0",
        ),
        (
            fail(&whole, &|s| s.poses[1].values[0].translation.x = f64::NAN),
            "pose 'bent': a driver value is not finite",
        ),
        (
            fail(&whole, &|s| s.metric = Metric::Twist),
            "which a twist driver ignores",
        ),
        (
            fail(&whole, &|s| {
                let curve = crate::pose_driver::Curve::new(&[0.0, 1.0]).expect("a point");
                s.kernel = RadialKernel::Curve(curve);
            }),
            "the kernel cannot be a curve here",
        ),
    ];
    for (text, words) in cases {
        assert!(text.contains(words), "'{text}' lacks '{words}'");
    }
    let error = PoseSpaceBind::new(&whole, &two_joints(), &joints(3)).expect_err("three");
    assert_eq!(
        error.to_string(),
        "pose 'neutral' has 2 driver values, expected 3, one for each joint of the driver"
    );
    let typed = PoseSpaceBind::new(&whole, &PoseSpace::default(), &[]);
    let error = typed.expect_err("no poses");
    assert_eq!(error, PoseSpaceError::Poses(PoseDriverError::NoPoses));
    // The same pose twice has an answer with regularisation: the mean.
    let mut space = two_joints();
    space.poses[4].values = space.poses[3].values.clone();
    space.regularization = 1e-3;
    assert!(PoseSpaceBind::new(&whole, &space, &joints(2)).is_ok());
}
