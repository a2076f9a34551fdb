//! The same as other nodes where they do the same, as the formula of the paper, as the poses themselves.

use super::*;
use crate::drive_morphs::{DriveMorphsBind, DriveMorphsConfig, DriveMorphsJob};
use crate::morph::{MorphBind, MorphJob};
use crate::pose_driver::{
    Clamp, DriverPose, Metric, Normalize, PoseDriver, PoseDriverBind, PoseDriverJob,
    PoseDriverScratch, RadialKernel, Width,
};
use sinew_geom::nalgebra::DMatrix;

/// The whole way: weights of poses, weights of targets, sum of targets.
fn by_other_nodes(mesh: &Mesh, space: &PoseSpace, width: Width, values: &[DriverValue]) -> Moved {
    let poses = space.poses.iter();
    let driver = PoseDriver {
        poses: poses
            .map(|p| DriverPose::new(p.name.clone(), p.values.clone()))
            .collect(),
        metric: space.metric,
        axis: space.axis,
        kernel: space.kernel.clone(),
        width,
        regularization: space.regularization,
        clamp: Clamp::None,
        normalize: Normalize::None,
        ..PoseDriver::default()
    };
    let bind = PoseDriverBind::new(&driver).unwrap_or_else(|e| panic!("{e}"));
    let mut weights = vec![0.0; space.poses.len()];
    PoseDriverJob {
        bind: &bind,
        values,
        scratch: &mut PoseDriverScratch::new(&bind),
        weights: &mut weights,
    }
    .run();
    let targets: Vec<String> = space.poses.iter().map(|p| p.target.clone()).collect();
    let config = DriveMorphsConfig {
        targets: &targets,
        ..DriveMorphsConfig::default()
    };
    let mut driven = vec![0.0; mesh.morph_targets.len()];
    DriveMorphsJob {
        bind: &DriveMorphsBind::new(mesh, &config).expect("targets"),
        weights: &weights,
        base: None,
        pose: None,
        gain: 1.0,
        output: &mut driven,
    }
    .run();
    let mut out = Moved::nowhere(mesh.vertex_count());
    MorphJob {
        bind: &MorphBind::new(mesh).expect("targets"),
        weights: &driven,
        scale: 1.0,
        input: view(mesh),
        output: out.view(),
        par: Par::Seq,
    }
    .run();
    out
}

fn assert_same(found: &Moved, expected: &Moved, what: &str) {
    let (p, n, t) = (
        worst(&found.positions, &expected.positions),
        worst(&found.normals, &expected.normals),
        worst(&found.tangents, &expected.tangents),
    );
    assert!(
        p < 1e-6 && n < 5e-6 && t < 5e-6,
        "{what}: positions {p:e}, normals {n:e}, tangents {t:e} off"
    );
}

/// One joint, that all vertices follow.
fn one_joint() -> (Mesh, PoseSpace) {
    let mut mesh = mesh(&TARGETS);
    mesh.influences = Some(Influences::rigid(mesh.vertex_count(), 0));
    let turned = |axis, degrees| vec![about(axis, degrees)];
    let poses = vec![
        pose("neutral", &[still()], ""),
        pose("one", &turned([0.0, 0.0, 1.0], 80.0), "a"),
        pose("two", &turned([0.0, 1.0, 0.0], -70.0), "c"),
        pose("three", &turned([1.0, 0.3, 0.0], 100.0), "b"),
        // Two poses may share a target.
        pose("four", &turned([0.0, -0.2, 1.0], -110.0), "a"),
    ];
    let space = PoseSpace {
        poses,
        ..PoseSpace::default()
    };
    (mesh, space)
}

#[test]
fn row_157_with_one_joint_it_is_pose_driver_and_drive_morphs_and_morph() {
    let (mesh, plain) = one_joint();
    let cases = [
        (Metric::Chord, RadialKernel::Gaussian),
        (Metric::Arc, RadialKernel::GaussianOfDistance),
        (Metric::Arc, RadialKernel::Exponential),
        (Metric::Swing, RadialKernel::ExponentialPlain),
        (Metric::Chord, RadialKernel::Linear),
        (Metric::DirectionChord, RadialKernel::Linear),
        (Metric::Components, RadialKernel::Gaussian),
        (Metric::Arc, RadialKernel::Cubic),
        (Metric::Chord, RadialKernel::Quintic),
    ];
    for (metric, kernel) in cases {
        for (given, regularization) in [(None, 0.0), (Some(0.9), 0.0), (Some(1.3), 0.2)] {
            let space = PoseSpace {
                metric,
                kernel: kernel.clone(),
                axis: Vec3::new(0.3, 1.0, 0.2),
                width: given,
                regularization,
                ..plain.clone()
            };
            let width = given.map_or(Width::Automatic, Width::Given);
            for influence in [JointInfluence::Skin, JointInfluence::Equal] {
                let space = PoseSpace {
                    influence,
                    ..space.clone()
                };
                let bind = bound(&mesh, &space);
                for values in moments(1) {
                    let expected = by_other_nodes(&mesh, &space, width, &values);
                    let what = format!("{metric:?} {kernel:?} {width:?} {influence:?}");
                    assert_same(&run(&mesh, &bind, &values), &expected, &what);
                }
            }
        }
    }
}

/// All joints alike: distances are those of the driver over the root of the number of joints, and so is a width that is to do the same.
#[test]
fn equal_influence_is_a_driver_of_all_joints() {
    let mesh = mesh(&TARGETS);
    for given in [None, Some(1.1)] {
        let space = PoseSpace {
            influence: JointInfluence::Equal,
            width: given.map(|w: f64| w / 2.0_f64.sqrt()),
            ..two_joints()
        };
        let width = given.map_or(Width::Automatic, Width::Given);
        let bind = bound(&mesh, &space);
        assert_eq!(bind.report().systems, 1, "all see the same");
        for values in moments(2) {
            let expected = by_other_nodes(&mesh, &space, width, &values);
            assert_same(&run(&mesh, &bind, &values), &expected, "two joints");
        }
    }
}

/// Delta of a target at a vertex.
fn delta(mesh: &Mesh, name: &str, v: usize) -> [f32; 3] {
    let target = mesh.morph_targets.iter().find(|t| t.name == name);
    let place = target.and_then(|t| t.vertices.iter().position(|&at| at as usize == v));
    place.map_or([0.0; 3], |i| target.expect("found").positions[i])
}

/// Weights of the two joints as the strip has them, or none at its end.
fn seen(v: usize, count: usize) -> Option<[f64; 2]> {
    let part = (v % 12) as f64 / 11.0;
    (v + 12 < count).then_some([1.0 - part, part])
}

#[test]
fn each_pose_shows_its_shape() {
    let (mesh, space) = (mesh(&TARGETS), two_joints());
    let bind = bound(&mesh, &space);
    let (count, mut checked) = (mesh.vertex_count(), 0);
    for p in &space.poses {
        let out = run(&mesh, &bind, &p.values);
        for v in 0..count {
            let found: [f32; 3] =
                std::array::from_fn(|c| out.positions[v][c] - mesh.positions[v][c]);
            // At both ends of the strip a vertex sees one joint, and shapes are at odds.
            let sees_both = seen(v, count).is_some_and(|w| w[0] > 0.05 && w[1] > 0.05);
            if !sees_both {
                continue;
            }
            checked += 1;
            let expected = delta(&mesh, &p.target, v);
            // Targets are up to 0.1; each coordinate was added to one of up to 1.
            let off = (0..3).map(|c| (found[c] - expected[c]).abs());
            let off = off.fold(0.0, f32::max);
            assert!(off < 1e-6, "pose {}, vertex {v}: {off:e} off", p.name);
            let exact = bind.added(&p.values, v)[0];
            let exact = exact - Vec3::from(expected.map(f64::from));
            assert!(exact.norm() < 1e-6, "pose {}, vertex {v}: {exact}", p.name);
        }
    }
    assert!(checked > 300, "{checked}");
}

/// Distance of two rotations by the chord, from their matrices: |A - B| / √2.
fn chord(a: &DriverValue, b: &DriverValue) -> f64 {
    let [a, b] = [a, b].map(|v| v.rotation.to_rotation_matrix().into_inner());
    (a - b).norm() / 2.0_f64.sqrt()
}

/// Kurihara and Miyata's formula, dense, one vertex after the other, solved by LU.
fn by_the_formula(
    mesh: &Mesh,
    space: &PoseSpace,
    width: f64,
    values: &[DriverValue],
) -> Vec<[f32; 3]> {
    let count = mesh.vertex_count();
    let distance = |w: [f64; 2], a: &[DriverValue], b: &[DriverValue]| {
        (w[0] * chord(&a[0], &b[0]).powi(2) + w[1] * chord(&a[1], &b[1]).powi(2)).sqrt()
    };
    let phi = |d: f64| (-(d / width).powi(2)).exp();
    let n = space.poses.len();
    let moved = |v: usize| {
        let at = mesh.positions[v];
        let Some(w) = seen(v, count) else { return at };
        let pose = |i: usize| space.poses[i].values.as_slice();
        let matrix = DMatrix::from_fn(n, n, |i, j| phi(distance(w, pose(i), pose(j))));
        let deltas = DMatrix::from_fn(n, 3, |i, c| {
            f64::from(delta(mesh, &space.poses[i].target, v)[c])
        });
        let coefficients = matrix.lu().solve(&deltas).expect("both joints are seen");
        let influences = DMatrix::from_fn(1, n, |_, i| phi(distance(w, pose(i), values)));
        let added = influences * coefficients;
        std::array::from_fn(|c| (f64::from(at[c]) + added[c]) as f32)
    };
    (0..count)
        .map(|v| match seen(v, count) {
            Some([a, b]) if a * b == 0.0 => mesh.positions[v],
            _ => moved(v),
        })
        .collect()
}

#[test]
fn row_157_the_formula_of_the_paper() {
    let (mesh, space) = (mesh(&TARGETS), two_joints());
    let bind = bound(&mesh, &space);
    let count = mesh.vertex_count();
    for values in moments(2) {
        let expected = by_the_formula(&mesh, &space, bind.width(), &values);
        let found = run(&mesh, &bind, &values).positions;
        for v in 0..count {
            let one_sided = seen(v, count).is_some_and(|w| w[0] * w[1] == 0.0);
            let off = worst(&found[v..=v], &expected[v..=v]);
            // Vertices that see next to nothing of a joint add up coefficients that are large.
            assert!(one_sided || off < 2e-5, "vertex {v}: {off:e} off");
        }
    }
}

/// Two poses a right angle apart, Gaussian as wide as their chord √2: with e = exp(-1), `K⁻¹ (0, Δ) = (-e Δ, Δ) / (1 - e²)`. At 45 degrees
/// both chords are 2 sin(22.5°), whose square is 2 - √2; over the square of the width that is 1 - √½.
#[test]
fn by_hand() {
    let z = [0.0, 0.0, 1.0];
    let mut mesh = mesh(&["a"]);
    mesh.influences = Some(Influences::rigid(mesh.vertex_count(), 0));
    let space = PoseSpace {
        poses: vec![
            pose("neutral", &[still()], ""),
            pose("bent", &[about(z, 90.0)], "a"),
        ],
        ..PoseSpace::default()
    };
    let bind = bound(&mesh, &space);
    assert!((bind.width() - 2.0_f64.sqrt()).abs() < 1e-12);
    let out = run(&mesh, &bind, &[about(z, 45.0)]);
    let e = (-1.0_f64).exp();
    let factor = (1.0 - e) / (1.0 - e * e) * (0.5_f64.sqrt() - 1.0).exp();
    for v in 0..mesh.vertex_count() {
        for (c, delta) in delta(&mesh, "a", v).into_iter().enumerate() {
            let expected = f64::from(mesh.positions[v][c]) + factor * f64::from(delta);
            let off = f64::from(out.positions[v][c]) - expected;
            assert!(off.abs() < 1e-6, "vertex {v}: {off}");
        }
    }
}

/// Sum of the magnitudes of a vertex's coefficients: what rounding of influences is multiplied by.
fn coefficients(bind: &PoseSpaceBind, v: usize) -> f32 {
    let Some((block, lane)) = bind.blocks.place(v) else {
        return 0.0;
    };
    let poses = block * bind.pose_count..(block + 1) * bind.pose_count;
    let all = bind.blocks.positions[poses].iter().flatten();
    all.map(|axis| axis[lane].abs()).sum()
}

/// The fast kernel against the reference in double precision.
#[test]
fn kernels_agree() {
    let mesh = mesh(&TARGETS);
    for kernel in ["gaussian", "exponential", "linear", "cubic", "quintic"] {
        let space = PoseSpace {
            kernel: RadialKernel::from_word(kernel).expect("a word"),
            regularization: 0.05,
            ..two_joints()
        };
        let bind = bound(&mesh, &space);
        for values in moments(2) {
            let fast = run(&mesh, &bind, &values);
            for v in 0..mesh.vertex_count() {
                let added = bind.added(&values, v);
                let expected: [f32; 3] =
                    std::array::from_fn(|c| mesh.positions[v][c] + added[0][c] as f32);
                let off = worst(&fast.positions[v..=v], &[expected]);
                let size = coefficients(&bind, v);
                assert!(off < 1e-6 + 1e-6 * size, "{kernel}, vertex {v}: {off:e}");
                let normal = mesh.normals.as_ref().expect("normals")[v];
                let expected = reference::moved_direction(normal, added[1]);
                let off = worst(&fast.normals[v..=v], &[expected]);
                assert!(off < 1e-5 + 1e-5 * size, "{kernel}, normal {v}: {off:e}");
                let [x, y, z, sign] = mesh.tangents.as_ref().expect("tangents")[v];
                let [x, y, z] = reference::moved_direction([x, y, z], added[2]);
                let off = worst(&fast.tangents[v..=v], &[[x, y, z, sign]]);
                assert!(off < 1e-5 + 1e-5 * size, "{kernel}, tangent {v}: {off:e}");
            }
        }
    }
}
