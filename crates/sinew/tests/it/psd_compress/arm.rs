//! What it does for the sample arm: correctives of its elbow and wrist that make linear skinning look like delta mush.

use super::{basis_of, dense, options};
use sinew::deform::Par;
use sinew::deform::pose_driver::{
    DriverPose, DriverValue, PoseDriver, PoseDriverBind, PoseDriverJob, PoseDriverScratch,
};
use sinew::geom::{
    Asset, Channel, ChannelTarget, Clip, Interpolation, LocalTransform, MorphTarget, Pose, Quat,
    Vec3,
};
use sinew::graph::{Frame, Instance};
use sinew::io::Folders;
use sinew::io::gltf_write::delta_bytes;
use sinew::play::{Character, Document, PlayInputs};
use sinew::psd::{Basis, ExtractOptions, Sculpt, extract_corrective};
use std::sync::Arc;

const SKINNED: &str = r#"{ "sinew": "1.0", "stack": [{ "node": "skin", "method": "linear" }] }"#;
const MUSHED: &str = r#"{ "sinew": "1.0", "stack": [{ "node": "skin", "method": "linear" },
    { "node": "delta_mush", "iterations": 8 }] }"#;

/// Elbow and wrist, degrees; the first is at rest.
fn grid(elbow: [f64; 2], wrist: [f64; 2], count: usize) -> Vec<[f64; 2]> {
    let all = (0..count * count).map(|i| {
        let (e, w) = ((i % count) as f64, (i / count) as f64);
        [elbow[0] + elbow[1] * e, wrist[0] + wrist[1] * w]
    });
    all.collect()
}

/// How the elbow bends and how the wrist twists.
fn turns([elbow, wrist]: [f64; 2]) -> [(&'static str, Quat<f64>); 2] {
    let about = |axis: Vec3<f64>, degrees: f64| Quat::from_scaled_axis(axis * degrees.to_radians());
    [
        ("forearm", about(Vec3::z(), elbow)),
        ("hand", about(Vec3::x(), wrist)),
    ]
}

fn posed(asset: &Asset, angles: [f64; 2]) -> Pose {
    let channels = turns(angles).map(|(joint, turn)| {
        let node = asset.rig.find_node(joint).expect("a joint");
        let LocalTransform::Trs(rest) = &asset.rig.nodes()[node].local else {
            panic!("{joint} has a matrix")
        };
        let q = rest.rotation * turn;
        let values = vec![q.i as f32, q.j as f32, q.k as f32, q.w as f32];
        Channel::new(
            node,
            ChannelTarget::Rotation,
            Interpolation::Step,
            vec![0.0],
            values,
            4,
        )
        .expect("a key")
    });
    let mut pose = asset.rig.rest_pose();
    asset
        .rig
        .evaluate(Some(&Clip::new("pose", channels.into())), 0.0, &mut pose);
    pose
}

fn instance(asset: &Asset, text: &str) -> Instance {
    let plan = Arc::new(
        Document::from_text("arm.json", text, "")
            .compile()
            .expect("correct"),
    );
    let character = Arc::new(Character::from_asset(asset.clone()));
    let cast = PlayInputs::load(character, &plan, &Folders::default()).expect("assembles");
    cast.bind(&plan, &[]).expect("binds").instance()
}

/// What in front of linear skinning gives delta mush in a pose.
fn corrective(asset: &Asset, angles: [f64; 2], stacks: &mut [Instance; 2]) -> MorphTarget {
    let pose = posed(asset, angles);
    let frame = Frame::default().pose(&pose);
    let [skinned, mushed] = stacks;
    mushed.update(&frame, Par::Seq).expect("a frame");
    let positions = mushed
        .mesh_output("body")
        .expect("a mesh")
        .positions
        .to_vec();
    let sculpt = Sculpt {
        name: "",
        positions: &positions,
        output: None,
        input: None,
    };
    let options = ExtractOptions::default();
    extract_corrective(skinned, &frame, &sculpt, &options)
        .expect("extracts")
        .target
}

/// Weights of a driver with all poses, the neutral one first.
fn weights(poses: &[[f64; 2]], angles: [f64; 2]) -> Vec<f32> {
    let values = |angles| turns(angles).map(|t| DriverValue::rotation(t.1)).to_vec();
    let pose = |p: &[f64; 2]| DriverPose::new(format!("{p:?}"), values(*p));
    let driver = PoseDriver {
        poses: poses.iter().map(pose).collect(),
        ..PoseDriver::default()
    };
    let bind = PoseDriverBind::new(&driver).expect("poses that differ");
    let mut out = vec![0.0; poses.len()];
    PoseDriverJob {
        bind: &bind,
        values: &values(angles),
        scratch: &mut PoseDriverScratch::new(&bind),
        weights: &mut out,
    }
    .run();
    out
}

/// Targets times weights.
fn mixed<'a>(
    targets: impl Iterator<Item = (&'a MorphTarget, f64)>,
    count: usize,
) -> Vec<Vec3<f64>> {
    let mut out = vec![Vec3::zeros(); count];
    for (target, weight) in targets {
        for (out, d) in out.iter_mut().zip(dense(target, count)) {
            *out += d * weight;
        }
    }
    out
}

/// What the basis makes of weights of the targets.
fn mixed_by(basis: &Basis, weights: &[f32], count: usize) -> Vec<Vec3<f64>> {
    let weight = |row: &Vec<f32>| -> f64 {
        row.iter()
            .zip(weights)
            .map(|(c, w)| f64::from(*c) * f64::from(*w))
            .sum()
    };
    let all = basis.targets.iter().zip(&basis.coefficients);
    mixed(all.map(|(t, row)| (t, weight(row))), count)
}

type Field = Vec<Vec3<f64>>;

/// Largest distance of all, and root mean square over lists and vertices.
fn apart(pairs: &[(Field, Field)]) -> [f64; 2] {
    let distances = pairs
        .iter()
        .flat_map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - b).norm()));
    let (mut largest, mut sum, mut count) = (0.0_f64, 0.0, 0_usize);
    for d in distances {
        largest = largest.max(d);
        sum += d * d;
        count += 1;
    }
    [largest, (sum / count.max(1) as f64).sqrt()]
}

fn bytes(targets: &[MorphTarget], count: usize) -> usize {
    targets
        .iter()
        .map(|t| delta_bytes(t.positions.len(), count))
        .sum()
}

/// Prints the table of docs/dev/correctives.md.
#[test]
fn twenty_four_correctives_of_an_arm() {
    let asset = sinew_samples::arm_with_hand().expect("a sample");
    let count = asset.meshes[0].vertex_count();
    let mut stacks = [instance(&asset, SKINNED), instance(&asset, MUSHED)];
    let poses = grid([0.0, 35.0], [0.0, 30.0], 5);
    let held_back = grid([17.5, 35.0], [15.0, 30.0], 4);
    let mut of = |angles: &[f64; 2]| corrective(&asset, *angles, &mut stacks);
    let targets: Vec<MorphTarget> = poses[1..].iter().map(&mut of).collect();
    let truths: Vec<Vec<Vec3<f64>>> = held_back.iter().map(|a| dense(&of(a), count)).collect();
    let between: Vec<Vec<f32>> = held_back
        .iter()
        .map(|a| weights(&poses, *a)[1..].to_vec())
        .collect();
    let whole = |w: &Vec<f32>| mixed(targets.iter().zip(w.iter().map(|w| f64::from(*w))), count);
    let played: Vec<Vec<Vec3<f64>>> = between.iter().map(whole).collect();
    let pairs = |a: &[Vec<Vec3<f64>>], b: &[Vec<Vec3<f64>>]| {
        apart(&a.iter().cloned().zip(b.iter().cloned()).collect::<Vec<_>>())
    };
    let [most, rms] = pairs(&played, &truths);
    let before = bytes(&targets, count);
    println!(
        "all {} targets: {before} bytes; held back: {most:.2e} {rms:.2e} from the truth",
        targets.len()
    );
    println!(
        "longest offset: {:.2e}",
        targets
            .iter()
            .flat_map(|t| &t.positions)
            .map(|d| Vec3::from(d.map(f64::from)).norm())
            .fold(0.0, f64::max)
    );
    let mut components = Vec::new();
    for tolerance in [1e-3, 3e-4, 1e-4, 3e-5, 1e-5] {
        let basis = basis_of(&targets, &options(tolerance));
        let report = &basis.report;
        let reduced: Vec<Vec<Vec3<f64>>> =
            between.iter().map(|w| mixed_by(&basis, w, count)).collect();
        let [added, added_rms] = pairs(&reduced, &played);
        let [most_after, rms_after] = pairs(&reduced, &truths);
        let after = bytes(&basis.targets, count);
        println!(
            "{tolerance:e} m: {} components, {after} bytes ({:.2} of them), error {:.2e} {:.2e}, held back {added:.2e} {added_rms:.2e} from all targets, {most_after:.2e} {rms_after:.2e} from the truth",
            basis.targets.len(),
            after as f64 / before as f64,
            report.error.largest,
            report.error.rms,
        );
        assert!(
            report.reached && report.error.largest <= tolerance,
            "{report:?}"
        );
        let sums = between
            .iter()
            .map(|w| w.iter().map(|w| w.abs()).sum::<f32>());
        let bound = tolerance * f64::from(sums.fold(0.0, f32::max));
        assert!(added <= bound, "{added}, {bound}");
        // The basis costs far less than interpolating between poses does.
        if tolerance <= 1e-4 {
            assert!(rms_after < 1.05 * rms, "{rms_after}, {rms}");
        }
        components.push(basis.targets.len());
        if tolerance == 1e-5 {
            let values = report.singular_values.iter();
            let values: Vec<String> = values.map(|s| format!("{s:.2e}")).collect();
            println!("singular values, m: {}", values.join(" "));
        }
    }
    assert!(
        components.is_sorted() && components[2] < 20,
        "{components:?}"
    );
}
