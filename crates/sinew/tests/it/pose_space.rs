//! Weighted pose space deformation on a character: combinations of poses that nobody sculpted, the example, and the GPU.

use crate::common::devices::{Worst, poses, run};
use crate::common::{assets, instance};
use sinew::deform::pose_driver::{DriverPose, DriverValue, PoseDriver, PoseDriverBind};
use sinew::deform::pose_space_deformation::{
    JointInfluence, PoseSpace, PoseSpaceBind, SculptedPose,
};
use sinew::deform::{Par, morph::MorphBind};
use sinew::geom::{Asset, Mesh, MorphTarget, Pose, Quat, Vec3};
use sinew::graph::Frame;
use std::sync::LazyLock;

/// Made once: it takes its time.
static ARM: LazyLock<Asset> = LazyLock::new(|| sinew_samples::arm_with_hand().expect("a sample"));

fn joint(name: &str) -> u32 {
    let found = ARM.rig.find_joint(name).expect("a joint of the arm");
    u32::try_from(found).expect("few joints")
}

/// How much a vertex follows a joint.
fn follows(mesh: &Mesh, v: usize, joint: u32) -> f64 {
    let row = mesh.influences.as_ref().expect("skinned").row(v);
    row.filter(|(j, _)| *j == joint)
        .map(|(_, w)| f64::from(w))
        .sum()
}

/// Elbow and wrist, in degrees, from rest.
fn values([elbow, wrist]: [f64; 2]) -> Vec<DriverValue> {
    let turn = |axis: Vec3<f64>, degrees: f64| {
        DriverValue::rotation(Quat::from_scaled_axis(axis * degrees.to_radians()))
    };
    vec![turn(Vec3::z(), elbow), turn(Vec3::x(), wrist)]
}

/// Where a vertex should be from rest: the fold of the elbow comes out by up to 15 mm along the normal as `sin²(angle / 2)` of the elbow, the root
/// of the thumb and of the fingers by up to 8 mm as `sin(angle / 2)` of the wrist. Each is largest where skin goes over from one joint to the next.
struct Truth {
    /// For each vertex, along the elbow's and the wrist's displacement.
    along: Vec<[Vec3<f64>; 2]>,
}

impl Truth {
    fn new(mesh: &Mesh) -> Self {
        let [upper, fore, hand] = ["upper_arm", "forearm", "hand"].map(joint);
        let normals = mesh.normals.as_ref().expect("normals");
        let of_vertex = |(v, n): (usize, &[f32; 3])| {
            let n = Vec3::from(n.map(f64::from));
            let [a, b, c] = [upper, fore, hand].map(|j| follows(mesh, v, j));
            [n * (0.015 * 4.0 * a * b), n * (0.008 * 4.0 * b * c)]
        };
        Self {
            along: normals.iter().enumerate().map(of_vertex).collect(),
        }
    }

    fn at(&self, [elbow, wrist]: [f64; 2]) -> Vec<Vec3<f64>> {
        let half = |degrees: f64| (degrees.to_radians() / 2.0).sin();
        let [e, w] = [half(elbow).powi(2), half(wrist)];
        self.along.iter().map(|[a, b]| a * e + b * w).collect()
    }

    /// Vertices that the elbow moves, and those that the wrist moves.
    fn regions(&self) -> [Vec<usize>; 2] {
        [0, 1].map(|k| {
            let moved = self.along.iter().enumerate();
            let moved = moved.filter(|(_, a)| a[k].norm() > 1e-5);
            moved.map(|(v, _)| v).collect()
        })
    }
}

/// Poses that are sculpted: the neutral one, two of the elbow, two of the wrist.
const SCULPTED: [(&str, [f64; 2]); 5] = [
    ("neutral", [0.0, 0.0]),
    ("elbow_70", [70.0, 0.0]),
    ("elbow_140", [140.0, 0.0]),
    ("wrist_60", [0.0, 60.0]),
    ("wrist_120", [0.0, 120.0]),
];
/// Combinations that are not.
const HELD_BACK: [[f64; 2]; 9] = [
    [70.0, 60.0],
    [70.0, 120.0],
    [140.0, 60.0],
    [140.0, 120.0],
    [35.0, 30.0],
    [105.0, 90.0],
    [35.0, 90.0],
    [105.0, 30.0],
    [140.0, 90.0],
];

fn sculpted(truth: &Truth) -> (Mesh, PoseSpace) {
    let mut mesh = ARM.meshes[0].clone();
    let target = |(name, angles): &(&str, [f64; 2])| {
        let all = truth.at(*angles);
        let moved = (0_u32..).zip(&all).filter(|(_, d)| d.norm() > 1e-6);
        let moved: Vec<(u32, [f32; 3])> = moved
            .map(|(v, d)| (v, [d.x as f32, d.y as f32, d.z as f32]))
            .collect();
        MorphTarget {
            name: (*name).to_owned(),
            vertices: moved.iter().map(|(v, _)| *v).collect(),
            positions: moved.iter().map(|(_, d)| *d).collect(),
            ..MorphTarget::default()
        }
    };
    mesh.morph_targets = SCULPTED[1..].iter().map(target).collect();
    let pose = |(name, angles): &(&str, [f64; 2])| SculptedPose {
        name: (*name).to_owned(),
        values: values(*angles),
        target: if *name == "neutral" { "" } else { name }.to_owned(),
    };
    let space = PoseSpace {
        poses: SCULPTED.iter().map(pose).collect(),
        ..PoseSpace::default()
    };
    (mesh, space)
}

fn bind(mesh: &Mesh, space: &PoseSpace, influence: JointInfluence) -> PoseSpaceBind {
    let space = PoseSpace {
        influence,
        ..space.clone()
    };
    let joints = ["forearm", "hand"].map(|name| vec![joint(name)]);
    PoseSpaceBind::new(mesh, &space, &joints).unwrap_or_else(|e| panic!("{e}"))
}

/// Root mean square and largest distance from the truth, in millimetres.
fn errors(
    bind: &PoseSpaceBind,
    truth: &Truth,
    moments: &[[f64; 2]],
    vertices: &[usize],
) -> [f64; 2] {
    let (mut squares, mut largest, mut number) = (0.0, 0.0_f64, 0.0);
    for &angles in moments {
        let (expected, values) = (truth.at(angles), values(angles));
        for &v in vertices {
            let off = (bind.added(&values, v)[0] - expected[v]).norm();
            squares += off * off;
            largest = largest.max(off);
            number += 1.0;
        }
    }
    let rms: f64 = squares / f64::max(number, 1.0);
    [rms.sqrt() * 1e3, largest * 1e3]
}

/// `cargo test -p sinew --test it combinations -- --nocapture` prints the table of the node's page.
#[test]
fn row_157_combinations_that_nobody_sculpted() {
    let truth = Truth::new(&ARM.meshes[0]);
    let (mesh, space) = sculpted(&truth);
    let regions = truth.regions();
    let mut all: Vec<usize> = regions.concat();
    all.sort_unstable();
    all.dedup();
    let [elbow, wrist] = regions;
    let sparse: usize = mesh.morph_targets.iter().map(|t| t.vertices.len()).sum();
    println!(
        "{} vertices, {} move; the 4 targets hold {sparse} deltas, {} bytes",
        mesh.vertex_count(),
        all.len(),
        16 * sparse
    );
    let [plain, weighted] = [JointInfluence::Equal, JointInfluence::Skin].map(|influence| {
        let bind = bind(&mesh, &space, influence);
        let report = bind.report();
        let at = |vertices: &[usize]| errors(&bind, &truth, &HELD_BACK, vertices);
        let found = [at(&elbow), at(&wrist), at(&all)];
        println!(
            "{influence:?}: width {:.3}, {} bytes, elbow rms, max mm {:.3} {:.3}, wrist {:.3} {:.3}, all {:.3} {:.3}; {report:?}",
            bind.width(),
            bind.bytes(),
            found[0][0],
            found[0][1],
            found[1][0],
            found[1][1],
            found[2][0],
            found[2][1]
        );
        let sculpted = SCULPTED.map(|(_, angles)| angles);
        let [_, off] = errors(&bind, &truth, &sculpted, &all);
        assert!(off < 0.01, "{influence:?}: {off} mm at the poses");
        assert_eq!(report.unseen, 0, "{report:?}");
        found
    });
    // The skin of the wrist follows the forearm, too.
    for (name, share, plain, weighted) in [
        ("elbow", 0.1, plain[0], weighted[0]),
        ("wrist", 0.9, plain[1], weighted[1]),
        ("all", 0.5, plain[2], weighted[2]),
    ] {
        let better = weighted.iter().zip(plain).all(|(w, p)| *w < share * p);
        assert!(better, "{name}: {weighted:?}, {plain:?}");
    }
    let (plain_driver, morph) = (driver(&space), MorphBind::new(&mesh).expect("targets"));
    println!(
        "pose_driver {} bytes, morph {} bytes",
        plain_driver.bytes(),
        morph.bytes()
    );
}

fn driver(space: &PoseSpace) -> PoseDriverBind {
    let pose = |p: &SculptedPose| DriverPose::new(p.name.clone(), p.values.clone());
    PoseDriverBind::new(&PoseDriver {
        poses: space.poses.iter().map(pose).collect(),
        ..PoseDriver::default()
    })
    .expect("poses that differ")
}

/// The muscle of the upper arm does not follow the forearm: by the weights of the skin hardly any of it sees the elbow.
#[test]
fn shapes_beyond_the_joint_are_counted() {
    let mesh = &ARM.meshes[0];
    let pose = |name: &str, degrees, target: &str| SculptedPose {
        name: name.to_owned(),
        values: values([degrees, 0.0])[..1].to_vec(),
        target: target.to_owned(),
    };
    let space = PoseSpace {
        poses: vec![
            pose("straight", 0.0, ""),
            pose("bent", 140.0, "biceps_bulge"),
        ],
        ..PoseSpace::default()
    };
    let moved = mesh.morph_targets[0].vertices.len();
    let bind = |influence| {
        let space = PoseSpace {
            influence,
            ..space.clone()
        };
        PoseSpaceBind::new(mesh, &space, &[vec![joint("forearm")]]).expect("binds")
    };
    let report = bind(JointInfluence::Skin).report().clone();
    assert_eq!(report.unseen + report.vertices, moved);
    assert!(report.unseen > moved / 4, "{report:?}");
    let report = bind(JointInfluence::Equal).report().clone();
    assert_eq!((report.unseen, report.vertices), (0, moved));
}

fn arm_at(seconds: f64) -> Pose {
    let mut pose = ARM.rig.rest_pose();
    ARM.rig.evaluate(ARM.clips.first(), seconds, &mut pose);
    pose
}

/// With the elbow at 140 degrees the biceps has its full bulge; straight, there is none; in between the clip's own curve is another.
#[test]
fn the_example_bulges() {
    let text = sinew::deform::find_example("pose_space_deformation")
        .expect("there")
        .graph;
    let skin = r#"{"sinew": "1.0", "stack": [{"node": "morph"}, {"node": "skin", "method": "dual_quaternion"}]}"#;
    let (mut found, mut by_clip) = (instance(&ARM, text), instance(&ARM, skin));
    for (seconds, weight) in [(0.0, 0.0), (1.8, 1.0)] {
        let mut pose = arm_at(seconds);
        pose.morph_weights.fill(weight);
        let frame = Frame::default().pose(&pose);
        let [a, b] = [&mut found, &mut by_clip].map(|i| {
            i.update(&frame, Par::Seq).expect("a frame");
            let body = i.mesh_output("body").expect("a mesh");
            (
                body.positions.to_vec(),
                body.normals.expect("normals").to_vec(),
            )
        });
        let apart = sinew_testkit::max_distance(&a.0, &b.0);
        assert!(apart < 2e-6, "at {seconds} s: {apart}");
        let apart = sinew_testkit::max_distance(&a.1, &b.1);
        assert!(apart < 1e-4, "normals at {seconds} s: {apart}");
    }
}

/// Each kernel, metric and influence, with normals, tangents and a mask, on both devices.
#[test]
fn both_devices_agree() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let dressed = assets().into_iter().find(|a| a.name == "dressed");
    let dressed = dressed.expect("dressed");
    let turned = |x: u32, y: u32| {
        format!(r#"{{ "rotation_degrees": [{x}, 20, {y}], "translation": [0.{y}, 0, 0] }}"#)
    };
    let document = |joints: [&str; 2], target: &str, settings: &str| {
        let pose = |name: &str, target: &str, values: [String; 2]| {
            let [a, b] = values;
            format!(r#"{{ "name": "{name}", "target": "{target}", "joints": [{a}, {b}] }}"#)
        };
        let still = || "{}".to_owned();
        let poses = [
            pose("neutral", "", [still(), still()]),
            pose("one", target, [turned(10, 70), still()]),
            pose("two", target, [turned(20, 140), still()]),
            pose("three", target, [still(), turned(60, 10)]),
            pose("four", "", [turned(30, 90), turned(120, 30)]),
        ];
        let [a, b] = joints;
        format!(
            r#"{{"sinew": "1.0", "nodes": {{
 "half": {{"node": "mask", "mesh": "body", "source": "plane", "falloff": 0.3, "transform": {{"translation": [0, 0.02, 0]}}}},
 "moving": {{"node": "transform", "mesh": "body", "transform": {{"translation": [0.1, 0.2, 0.3], "rotation_degrees": [10, 20, 30]}}}},
 "it": {{"node": "pose_space_deformation", "mesh": "moving", "pose": "pose", "joints": ["{a}", "{b}"], {settings},
   "poses": [{}]}},
 "skin": {{"node": "skin", "mesh": "it", "pose": "pose"}}}}, "outputs": {{"it": "it", "skin": "skin"}}}}"#,
            poses.join(", ")
        )
    };
    let mut worst = Worst::default();
    for settings in [
        r#""kernel": "gaussian""#,
        r#""kernel": "gaussian", "influence": "equal", "mask": "half", "mask_invert": true, "weight": 0.75"#,
        r#""kernel": "exponential", "metric": "arc""#,
        r#""kernel": "linear", "metric": "swing", "mask": "half""#,
        r#""kernel": "cubic", "regularization": 0.5"#,
        r#""kernel": "quintic", "metric": "position", "regularization": 0.5"#,
    ] {
        for (asset, joints, target) in [
            (&*ARM, ["forearm", "hand"], "biceps_bulge"),
            (&dressed, ["joint_60", "joint_120"], "wide"),
        ] {
            let text = document(joints, target, settings);
            let poses = poses(asset, &[0.0, 0.2, 0.4, 0.6]);
            let mut found = Worst::default();
            run(&gpu, asset, &text, &poses, &mut found).unwrap_or_else(|e| panic!("{e}"));
            println!("{}", found.line(&format!("{} {settings}", asset.name)));
            assert!(found.fits(), "{settings} on {}", asset.name);
            run(&gpu, asset, &text, &poses, &mut worst).unwrap_or_else(|e| panic!("{e}"));
        }
    }
    println!("{}", worst.line("pose_space_deformation"));
}
