//! Correctives from posed sculpts: known ones are found again, unknown ones give the sculpt when played.

use sinew::deform::Par;
use sinew::geom::nalgebra::{Quaternion, Rotation3};
use sinew::geom::{
    Affine, Asset, Influences, Joint, LocalTransform, Mesh, MorphTarget, Node, Pose, Quat, Rig,
    Topology, Trs, Vec3,
};
use sinew::graph::{Frame, Instance};
use sinew::io::Folders;
use sinew::play::{Character, Document, PlayInputs};
use sinew::psd::{ExtractError, ExtractOptions, Extraction, Sculpt, extract_corrective};
use std::sync::{Arc, LazyLock};

/// The arm's clip has the elbow at 140 degrees and the wrist at 120 here.
const BENT_SECS: f64 = 1.8;
const LINEAR: &str = r#"{ "node": "skin", "method": "linear" }"#;
const DUAL_QUATERNION: &str = r#"{ "node": "skin", "method": "dual_quaternion" }"#;

/// Made once: it takes its time.
static ARM: LazyLock<Asset> = LazyLock::new(|| sinew_samples::arm_with_hand().expect("a sample"));

fn stack(nodes: &[&str]) -> String {
    format!(r#"{{ "sinew": "1.0", "stack": [{}] }}"#, nodes.join(", "))
}

/// Linear skinning and delta mush.
fn mushed(iterations: usize) -> String {
    let mush = format!(r#"{{ "node": "delta_mush", "iterations": {iterations} }}"#);
    stack(&[LINEAR, &mush])
}

fn instance(asset: &Asset, document: &str) -> Instance {
    let document = Document::from_text("test.json", document, "");
    let plan = Arc::new(document.compile().expect("a correct document"));
    let character = Arc::new(Character::from_asset(asset.clone()));
    let cast = PlayInputs::load(character, &plan, &Folders::default()).expect("assembles");
    let graph = cast.bind(&plan, &[]).expect("binds");
    graph.instance()
}

fn bent() -> Pose {
    let mut pose = ARM.rig.rest_pose();
    ARM.rig.evaluate(ARM.find_clip(None), BENT_SECS, &mut pose);
    pose
}

fn frame(pose: &Pose) -> Frame<'_> {
    Frame::at(BENT_SECS).pose(pose)
}

fn extract(instance: &mut Instance, pose: &Pose, sculpt: &[[f32; 3]]) -> Extraction {
    extract_with(instance, pose, sculpt, &ExtractOptions::default())
}

fn extract_with(
    instance: &mut Instance,
    pose: &Pose,
    sculpt: &[[f32; 3]],
    options: &ExtractOptions,
) -> Extraction {
    let sculpt = Sculpt {
        name: "elbow",
        positions: sculpt,
        output: None,
        input: None,
    };
    extract_corrective(instance, &frame(pose), &sculpt, options).expect("extracts")
}

/// Displacements up to about a centimetre and a half, of waves not shorter than 12 cm.
fn corrective(rest: &[[f32; 3]]) -> Vec<Vec3<f64>> {
    let wave =
        |p: Vec3<f64>, along: [f64; 3], phase: f64| (p.dot(&Vec3::from(along)) + phase).sin();
    rest.iter()
        .map(|p| {
            let p = Vec3::from(p.map(f64::from));
            Vec3::new(
                wave(p, [31.0, -17.0, 22.0], 0.3),
                wave(p, [-25.0, 38.0, 9.0], 1.9),
                wave(p, [40.0, 11.0, -29.0], 4.1),
            ) * 0.008
        })
        .collect()
}

fn single(v: &Vec3<f64>) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}

/// One delta a vertex.
fn dense(target: &MorphTarget, count: usize) -> Vec<Vec3<f64>> {
    let mut out = vec![Vec3::zeros(); count];
    for (&v, d) in target.vertices.iter().zip(&target.positions) {
        out[v as usize] = Vec3::from(d.map(f64::from));
    }
    out
}

fn largest<'a>(a: impl IntoIterator<Item = &'a Vec3<f64>>, b: &[Vec3<f64>]) -> f64 {
    let pairs = a.into_iter().zip(b);
    pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

fn doubles(points: &[[f32; 3]]) -> Vec<Vec3<f64>> {
    points
        .iter()
        .map(|p| Vec3::from(p.map(f64::from)))
        .collect()
}

/// The output with the target as the only one, at full weight in front of the stack.
fn played(asset: &Asset, document: &str, target: &MorphTarget, pose: &Pose) -> Vec<Vec3<f64>> {
    let mut asset = asset.clone();
    asset.meshes[0].morph_targets = vec![target.clone()];
    let nodes = document.split_once(r#""stack": ["#).expect("a stack").1;
    let document = format!(
        r#"{{ "sinew": "1.0", "inputs": {{ "body": {{ "type": "mesh" }}, "pose": {{ "type": "pose" }},
 "weights": {{ "type": "values", "count": 1 }} }}, "stack": [{{ "node": "morph", "weights": "weights" }}, {nodes}"#
    );
    let mut instance = instance(&asset, &document);
    let weights = [(2, &[1.0_f32][..])];
    let frame = frame(pose).values(&weights);
    instance.update(&frame, Par::Seq).expect("a frame");
    doubles(instance.mesh_output("body").expect("output").positions)
}

/// Skinning matrix of each joint, double precision.
fn palette(asset: &Asset, pose: &Pose) -> Vec<Affine<f64>> {
    let joints = asset.rig.joints().iter();
    joints
        .map(|j| pose.scene_from_node[j.node] * j.joint_from_bind)
        .collect()
}

/// p' = sum over joints of w (R p + t).
fn skinned_linear(
    palette: &[Affine<f64>],
    weights: &Influences,
    points: &[Vec3<f64>],
) -> Vec<Vec3<f64>> {
    let point = |(v, p): (usize, &Vec3<f64>)| {
        let row = weights.row(v);
        let terms = row.map(|(j, w)| {
            let m = &palette[j as usize];
            (m.linear * p + m.translation) * f64::from(w)
        });
        terms.sum()
    };
    points.iter().enumerate().map(point).collect()
}

/// Kavan et al. 2007: blended unit dual quaternions, each on the side of the strongest.
fn skinned_dual_quaternion(
    palette: &[Affine<f64>],
    weights: &Influences,
    points: &[Vec3<f64>],
) -> Vec<Vec3<f64>> {
    let motion = |m: &Affine<f64>| {
        let real = Quat::from_rotation_matrix(&Rotation3::from_matrix_unchecked(m.linear));
        let dual = Quaternion::from_parts(0.0, m.translation) * real.into_inner() * 0.5;
        (real.into_inner(), dual)
    };
    let motions: Vec<_> = palette.iter().map(motion).collect();
    let point = |(v, p): (usize, &Vec3<f64>)| {
        let zero = Quaternion::from_parts(0.0, Vec3::zeros());
        let (mut real, mut dual) = (zero, zero);
        let strongest = weights.row(v).next().expect("weights").0;
        let pivot = motions[strongest as usize].0;
        for (j, w) in weights.row(v) {
            let (r, d) = motions[j as usize];
            let w = f64::from(w) * if r.dot(&pivot) < 0.0 { -1.0 } else { 1.0 };
            real += r * w;
            dual += d * w;
        }
        let length = real.norm();
        let (real, dual) = (real / length, dual / length);
        let translation = (dual * real.conjugate() * 2.0).imag();
        Quat::from_quaternion(real) * p + translation
    };
    points.iter().enumerate().map(point).collect()
}

type Skinning = fn(&[Affine<f64>], &Influences, &[Vec3<f64>]) -> Vec<Vec3<f64>>;

#[test]
fn known_correctives_are_found_again() {
    let (mesh, pose) = (&ARM.meshes[0], bent());
    let wanted = corrective(&mesh.positions);
    let rest = doubles(&mesh.positions);
    let moved: Vec<Vec3<f64>> = rest.iter().zip(&wanted).map(|(r, d)| r + d).collect();
    let weights = mesh.influences.as_ref().expect("skinned");
    let methods: [(&str, Skinning); 2] = [
        (LINEAR, skinned_linear),
        (DUAL_QUATERNION, skinned_dual_quaternion),
    ];
    for (node, skinned) in methods {
        let document = stack(&[node]);
        let goal = skinned(&palette(&ARM, &pose), weights, &moved);
        let sculpt: Vec<[f32; 3]> = goal.iter().map(single).collect();
        let mut instance = instance(&ARM, &document);
        let found = extract(&mut instance, &pose, &sculpt);
        let report = &found.report;
        let offsets = dense(&found.target, rest.len());
        let error = largest(&offsets, &wanted);
        assert!(error < 1e-5, "{node}: {error}, {report:?}");
        let played = played(&ARM, &document, &found.target, &pose);
        let error = largest(&played, &goal);
        assert!(error < 2e-6, "{node}: {error}, {report:?}");
        assert!(report.is_reached() && report.singular == 0, "{report:?}");
        assert!(report.before.largest > 5e-3, "{report:?}");
        assert!(report.steps <= 3 && report.evaluations < 50, "{report:?}");
        // Without offsets as before.
        let plain = skinned(&palette(&ARM, &pose), weights, &rest);
        let now = instance.mesh_output("body").expect("output").positions;
        assert!(largest(&doubles(now), &plain) < 2e-6, "{node}");
    }
}

/// What is asked of a sculpt behind delta mush. Distances in metres.
struct Asked {
    iterations: usize,
    damping: f64,
    largest: f64,
    rms: f64,
    longest_offset: f64,
}

/// Playing the target shows what the report tells, and that is as near as asked.
#[track_caller]
#[expect(clippy::print_stdout, reason = "the table in docs/dev/correctives.md")]
fn check_mushed(asked: &Asked, instance: &mut Instance, pose: &Pose, sculpt: &[[f32; 3]]) {
    let mut options = ExtractOptions::default();
    options.damping = asked.damping;
    let found = extract_with(instance, pose, sculpt, &options);
    let report = &found.report;
    let played = played(&ARM, &mushed(asked.iterations), &found.target, pose);
    let error = largest(&played, &doubles(sculpt));
    assert!(
        (error - report.after.largest).abs() < 1e-6,
        "{error}, {report:?}"
    );
    assert!(report.before.largest > 0.009, "{report:?}");
    assert!(error < asked.largest, "{report:?}");
    assert!(report.after.rms < asked.rms, "{report:?}");
    assert!(report.longest_offset < asked.longest_offset, "{report:?}");
    assert_eq!(report.is_reached(), error <= 1e-5, "{report:?}");
    println!(
        "{} iterations, damping {}: {:.4} mm largest, {:.5} mm RMS, offsets up to {:.1} mm, {} steps",
        asked.iterations,
        asked.damping,
        error * 1e3,
        report.after.rms * 1e3,
        report.longest_offset * 1e3,
        report.steps
    );
}

/// The sculpt is what a known corrective makes, so that there is a target that gives it.
#[test]
fn known_correctives_pass_delta_mush() {
    let (mesh, pose) = (&ARM.meshes[0], bent());
    let offsets: Vec<[f32; 3]> = corrective(&mesh.positions).iter().map(single).collect();
    let reached = Asked {
        iterations: 8,
        damping: 0.005,
        largest: 1e-5,
        rms: 1e-6,
        longest_offset: 0.03,
    };
    let near = Asked {
        iterations: 20,
        largest: 2e-4,
        rms: 1e-5,
        longest_offset: 0.2,
        ..reached
    };
    for asked in [reached, near] {
        let mut instance = instance(&ARM, &mushed(asked.iterations));
        instance.set_rest_offsets("body", &offsets).expect("fits");
        instance.update(&frame(&pose), Par::Seq).expect("a frame");
        let sculpt = instance.mesh_output("body").expect("output");
        let sculpt = sculpt.positions.to_vec();
        check_mushed(&asked, &mut instance, &pose, &sculpt);
    }
}

/// What the arm looks like in the pose, with a bulge of a centimetre around a vertex, along the normals.
fn bulged(instance: &mut Instance, pose: &Pose, radius: f64) -> Vec<[f32; 3]> {
    instance.update(&frame(pose), Par::Seq).expect("a frame");
    let body = instance.mesh_output("body").expect("output");
    let (now, normals) = (
        doubles(body.positions),
        doubles(body.normals.expect("normals")),
    );
    // The back of the upper arm.
    let centre = now[nearest(body.rest, [0.165, -0.045, 0.0])];
    let moved = now.iter().zip(&normals).map(|(p, n)| {
        let near = 1.0 - ((p - centre).norm() / radius).min(1.0).powi(2);
        single(&(p + n * (0.01 * near.powi(3))))
    });
    moved.collect()
}

fn nearest(mesh: &Mesh, point: [f64; 3]) -> usize {
    let away = |p: &[f32; 3]| (Vec3::from(p.map(f64::from)) - Vec3::from(point)).norm();
    let all = mesh.positions.iter().map(away).enumerate();
    all.min_by(|a, b| a.1.total_cmp(&b.1)).expect("vertices").0
}

/// Nothing in front of the stack need give this sculpt.
#[test]
fn bulges_on_delta_mush_come_near() {
    let pose = bent();
    let tame = Asked {
        iterations: 8,
        damping: 0.005,
        largest: 6e-5,
        rms: 5e-6,
        longest_offset: 0.05,
    };
    let wild = Asked {
        damping: 0.0,
        largest: 1e-5,
        rms: 1e-6,
        longest_offset: 0.5,
        ..tame
    };
    let smoother = Asked {
        iterations: 20,
        largest: 2.5e-4,
        rms: 2e-5,
        longest_offset: 0.15,
        ..tame
    };
    for asked in [tame, wild, smoother] {
        let mut instance = instance(&ARM, &mushed(asked.iterations));
        let sculpt = bulged(&mut instance, &pose, 0.08);
        check_mushed(&asked, &mut instance, &pose, &sculpt);
    }
}

/// Three vertices on a joint, on both, on another joint, and the pose with the other one turned about X by half a turn.
fn candy_wrapper() -> (Asset, Pose) {
    let node = |name: &str| Node {
        name: name.to_owned(),
        parent: None,
        local: LocalTransform::Trs(Trs::default()),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let joint = |node| Joint {
        node,
        joint_from_bind: Affine::identity(),
    };
    let rig = Rig::new(
        vec![node("still"), node("turned")],
        vec![joint(0), joint(1)],
    )
    .expect("a rig");
    let topology = Topology::new(3, vec![[0, 1, 2]]).expect("a triangle");
    let positions = vec![[0.0, 0.1, 0.0], [0.5, 0.1, 0.0], [1.0, 0.1, 0.1]];
    let mut mesh = Mesh::new("body", topology, positions);
    let rows: [&[(u32, f32)]; 3] = [&[(0, 1.0)], &[(0, 0.5), (1, 0.5)], &[(1, 1.0)]];
    let rows = Influences::from_rows(rows.into_iter(), 2, 0).expect("weights");
    mesh.influences = Some(rows.0);
    let mut pose = rig.rest_pose();
    pose.palette[1].rows = [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, -1.0, 0.0, 0.0],
        [0.0, 0.0, -1.0, 0.0],
    ];
    let asset = Asset {
        name: "wrapper".to_owned(),
        meshes: vec![mesh],
        rig: Arc::new(rig),
        ..Asset::default()
    };
    (asset, pose)
}

#[test]
fn where_influences_cancel_is_told() {
    let (asset, pose) = candy_wrapper();
    let mut instance = instance(&asset, &stack(&[LINEAR]));
    let [x, y, z] = [0.01, 0.02, 0.03];
    let sculpt = [
        [x, 0.1 + y, z],
        [0.5 + x, y, z],
        [1.0 + x, y - 0.1, z - 0.1],
    ];
    let found = extract(&mut instance, &pose, &sculpt);
    let expected = [[x, y, z], [x, 0.0, 0.0], [x, -y, -z]];
    let expected: Vec<Vec3<f64>> = expected.map(|p| Vec3::from(p.map(f64::from))).to_vec();
    let error = largest(&dense(&found.target, 3), &expected);
    assert!(error < 1e-6, "{error}: {:?}", found.target);
    let report = &found.report;
    assert_eq!((report.singular, report.missed), (1, 1), "{report:?}");
    assert_eq!(report.worst_singular[0].vertex, 1);
    assert!(report.worst_singular[0].ratio < 1e-4, "{report:?}");
    let missed = report.worst_missed[0];
    assert_eq!(missed.vertex, 1);
    assert!(
        (missed.distance - f64::from(y).hypot(f64::from(z))).abs() < 1e-6,
        "{report:?}"
    );
    assert!(!report.is_reached());
}

#[test]
fn short_offsets_stay_out() {
    let (asset, pose) = candy_wrapper();
    let mut instance = instance(&asset, &stack(&[LINEAR]));
    let sculpt = [[0.0, 0.1, 0.01], [0.5, 0.0, 0.0], [1.0, -0.1 + 4e-7, -0.1]];
    let found = extract(&mut instance, &pose, &sculpt);
    assert_eq!(found.target.vertices, [0], "{:?}", found.target);
    assert_eq!(found.target.name, "elbow");
    assert!(found.target.normals.is_empty() && found.target.tangents.is_empty());
    assert_eq!((found.report.moved, found.report.vertices), (1, 3));
    assert!(found.report.dropped >= 1, "{:?}", found.report);
}

#[test]
fn what_cannot_be_extracted_is_an_error() {
    let (asset, pose) = candy_wrapper();
    let document = stack(&[LINEAR]);
    let fail = |document: &str, sculpt: &Sculpt<'_>, options: &ExtractOptions| {
        let mut instance = instance(&asset, document);
        extract_corrective(&mut instance, &frame(&pose), sculpt, options).expect_err("no way")
    };
    let positions = asset.meshes[0].positions.clone();
    let sculpt = Sculpt {
        name: "s",
        positions: &positions,
        output: None,
        input: None,
    };
    let options = ExtractOptions::default();
    let error = fail(
        &document,
        &Sculpt {
            positions: &positions[..2],
            ..sculpt
        },
        &options,
    );
    assert!(
        matches!(
            error,
            ExtractError::Count {
                found: 2,
                expected: 3,
                ..
            }
        ),
        "{error}"
    );
    let mut broken = positions.clone();
    broken[1][2] = f32::NAN;
    let error = fail(
        &document,
        &Sculpt {
            positions: &broken,
            ..sculpt
        },
        &options,
    );
    assert!(
        matches!(error, ExtractError::NotFinite { vertex: 1, .. }),
        "{error}"
    );
    let error = fail(
        &document,
        &Sculpt {
            output: Some("head"),
            ..sculpt
        },
        &options,
    );
    assert!(
        matches!(&error, ExtractError::NoOutput { known, .. } if known == &["body"]),
        "{error}"
    );
    let lines = r#"{ "sinew": "1.0", "nodes": { "lines": { "node": "debug_lines" } },
 "outputs": { "lines": "lines.lines" } }"#;
    let error = fail(lines, &sculpt, &options);
    assert!(
        matches!(error, ExtractError::NoOutput { asked: None, .. }),
        "{error}"
    );
    let two = r#"{ "sinew": "1.0", "inputs": { "body": { "type": "mesh" }, "other": { "type": "mesh" } },
 "outputs": { "body": "body", "other": "other" } }"#;
    let other = Sculpt {
        input: Some("other"),
        ..sculpt
    };
    let error = fail(two, &other, &options);
    assert!(
        matches!(&error, ExtractError::OtherInput { shows, .. } if shows == "body"),
        "{error}"
    );
    let mut negative = options;
    negative.tolerance = -1.0;
    let error = fail(&document, &sculpt, &negative);
    assert!(
        matches!(
            error,
            ExtractError::Option {
                option: "tolerance",
                ..
            }
        ),
        "{error}"
    );
}
