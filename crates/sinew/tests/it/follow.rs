//! The key `follow`: the region of a node moves with a joint.

use crate::common::allocations::counted_pool;
use crate::common::devices::{Worst, poses, run};
use crate::common::{instance, samples};
use sinew::deform::{Line, NodeDesc, Par, REGISTRY};
use sinew::geom::{Affine, Asset, Pose, Vec3};
use sinew::graph::{Frame, Instance};

fn arm() -> Asset {
    let mut all = samples().into_iter();
    all.find(|a| a.name.starts_with("arm")).expect("arm")
}

/// What the region is at rest: about the elbow of the arm, and turned.
const REGION: &str = r#"{"translation": [0.25, 0.02, 0.01], "rotation_degrees": [10, 20, -80], "scale": [0.3, 0.4, 0.3]}"#;

/// Settings that do something, of each node with a region.
fn settings(desc: &NodeDesc) -> &'static str {
    match desc.name {
        "bend" => r#", "angle": 0.7, "direction": 0.4"#,
        "twist" => r#", "angle": 1.5"#,
        "taper" => r#", "start_scale_x": 1.2, "curve": 0.3"#,
        "sine" => r#", "amplitude": 0.05, "phase": 0.3"#,
        "squash_stretch" => r#", "stretch": 1.4, "axis_bias": 0.4"#,
        "lattice" => {
            r#", "resolution": [2, 2, 2], "points_are": "offsets", "points": [[0, 0, 0], [0.1, 0, 0], [0.2, 0.1, 0], [0.2, 0, 0],
 [0, 0, 0.3], [0, -0.1, 0], [0.2, 0, 0], [0.2, 0, 0.1]]"#
        }
        "mask" => r#", "source": "box", "falloff": 0.3, "space": "current""#,
        "debug_lines" => r#", "shape": "box""#,
        other => panic!("node '{other}' has a region: add settings to this test"),
    }
}

fn placed() -> impl Iterator<Item = &'static NodeDesc> {
    let has_region = |d: &&&NodeDesc| d.placement().is_some();
    REGISTRY.iter().filter(has_region).copied()
}

/// The node `it` as given behind a node that moves the mesh with the forearm, or that leaves it at rest.
fn text(desc: &NodeDesc, moves: bool, more: &str) -> String {
    let placement = desc.placement().expect("a region").1.name;
    let mesh = match desc.input("mesh") {
        Some(_) => ", \"mesh\": \"moved\"",
        None => "",
    };
    let outputs: Vec<String> = desc
        .outputs
        .iter()
        .map(|o| format!("\"{0}\": \"it.{0}\"", o.name))
        .collect();
    format!(
        r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "pose": {{"type": "pose"}}}},
 "parameters": {{"who": {{"type": "text", "default": "forearm", "setup": true}}}},
 "nodes": {{
 "moved": {{"node": "transform", "mesh": "body", "weight": {}, "transform": {{"joint": "$who"}}}},
 "it": {{"node": "{}"{mesh}, "{placement}": {REGION}{}{more}}}}}, "outputs": {{"all": "moved", {}}}}}"#,
        i32::from(moves),
        desc.name,
        settings(desc),
        outputs.join(", ")
    )
}

fn play(i: &mut Instance, pose: &Pose) {
    i.update(&Frame::at(0.3).dt(0.1).pose(pose), Par::Seq)
        .expect("fits");
}

/// Points, directions and numbers of all outputs, with `moves` applied to points and directions.
fn found(i: &Instance, desc: &NodeDesc, moves: &Affine<f64>) -> Vec<Vec3<f64>> {
    let point = |p: [f32; 3]| moves.point(Vec3::from(p.map(f64::from)));
    let mut all = Vec::new();
    for o in desc.outputs {
        if let Some(mesh) = i.mesh_output(o.name) {
            all.extend(mesh.positions.iter().map(|p| point(*p)));
            let normals = mesh.normals.unwrap_or_default();
            let turn = |n: &[f32; 3]| moves.linear * Vec3::from(n.map(f64::from));
            all.extend(normals.iter().map(turn));
        }
        let lines = i.line_output(o.name).unwrap_or_default();
        all.extend(
            lines
                .iter()
                .flat_map(|l: &Line| [point(l.from), point(l.to)]),
        );
        let floats = i.float_output(o.name).unwrap_or_default();
        all.extend(floats.iter().map(|f| Vec3::repeat(f64::from(*f))));
    }
    all
}

fn motion(asset: &Asset, pose: &Pose) -> Affine<f64> {
    let joint = asset.rig.find_joint("forearm").expect("a joint of the arm");
    let joint = &asset.rig.joints()[joint];
    pose.scene_from_node[joint.node] * joint.joint_from_bind
}

/// A node that follows a joint is `M deform(M^-1 p)`: of a mesh that moves rigidly with the joint, the moved result at rest.
#[test]
fn regions_move_rigidly_with_their_joint() {
    let asset = arm();
    let mut seen = 0;
    for desc in placed() {
        for follow in ["forearm", "$who"] {
            let more = format!(", \"follow\": \"{follow}\"");
            let mut follows = instance(&asset, &text(desc, true, &more));
            let mut rests = instance(&asset, &text(desc, false, ""));
            for (_, pose) in poses(&asset, &[0.0, 0.4, 0.8]) {
                play(&mut follows, &pose);
                play(&mut rests, &pose);
                let found_at = found(&follows, desc, &Affine::identity());
                let expected = found(&rests, desc, &motion(&asset, &pose));
                assert!(!expected.is_empty() && found_at.len() == expected.len());
                for (a, b) in found_at.iter().zip(&expected) {
                    let off = (a - b).norm();
                    assert!(off < 2e-5, "{} follow {follow}: {off}", desc.name);
                }
            }
            seen += 1;
        }
    }
    assert!(seen >= 14, "{seen}");
}

/// `follow` is a link of the placement: the same bits. An empty name follows nothing.
#[test]
fn follow_is_a_link_of_the_placement() {
    let asset = arm();
    let (_, pose) = poses(&asset, &[0.6]).remove(0);
    for desc in placed() {
        let of = |document: &str| {
            let mut i = instance(&asset, document);
            play(&mut i, &pose);
            found(&i, desc, &Affine::identity())
        };
        let follow = of(&text(desc, true, ", \"follow\": \"forearm\""));
        let link = format!("{{\"joint\": \"forearm\", \"offset\": {REGION}}}");
        assert!(follow == of(&text(desc, true, "").replace(REGION, &link)));
        let still = of(&text(desc, true, ""));
        assert!(still == of(&text(desc, true, ", \"follow\": \"\"")));
        assert!(still != follow, "{}", desc.name);
    }
}

/// A region with keys moves in the space of the joint.
fn keyed(follow: &str) -> String {
    let keys =
        r#"{"keys": [[0, {"translation": [0.1, 0, 0]}], [0.6, {"translation": [0.3, 0.1, 0]}]]}"#;
    let twist = placed().find(|d| d.name == "twist").expect("a node");
    text(twist, true, follow).replace(REGION, keys)
}

#[test]
fn animated_regions_follow_too() {
    let asset = arm();
    let (_, pose) = poses(&asset, &[0.6]).remove(0);
    let twist = placed().find(|d| d.name == "twist").expect("a node");
    let mut follows = instance(&asset, &keyed(", \"follow\": \"forearm\""));
    // Half of the way, at 0.3 s.
    let half = r#"{"translation": [0.2, 0.05, 0]}"#;
    let mut rests = instance(&asset, &text(twist, false, "").replace(REGION, half));
    play(&mut follows, &pose);
    play(&mut rests, &pose);
    let expected = found(&rests, twist, &motion(&asset, &pose));
    for (a, b) in found(&follows, twist, &Affine::identity())
        .iter()
        .zip(&expected)
    {
        assert!((a - b).norm() < 2e-5, "{a} {b}");
    }
}

#[test]
fn regions_follow_alike_on_both_devices() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = arm();
    let poses = poses(&asset, &[0.0, 0.4, 0.8]);
    let mut worst = Worst::default();
    for desc in placed() {
        let document = text(desc, true, ", \"follow\": \"forearm\"");
        run(&gpu, &asset, &document, &poses, &mut worst).expect("runs");
    }
    let document = keyed(", \"follow\": \"forearm\"");
    run(&gpu, &asset, &document, &poses, &mut worst).expect("runs");
    println!("{}", worst.line("follow"));
    assert!(worst.fits());
}

#[test]
fn following_regions_allocate_nothing() {
    let asset = arm();
    let (_, pose) = poses(&asset, &[0.5]).remove(0);
    let documents = placed().map(|d| text(d, true, ", \"follow\": \"forearm\""));
    for document in documents.chain([keyed(", \"follow\": \"forearm\"")]) {
        let mut i = instance(&asset, &document);
        let (pool, count) = counted_pool(1);
        pool.install(|| {
            play(&mut i, &pose);
            let before = count();
            (0..3).for_each(|_| play(&mut i, &pose));
            assert_eq!(count(), before, "{document}");
        });
    }
}

/// A region follows the pose that moved its mesh, here that of a node, and not the main pose. A pose that is named wins.
#[test]
fn regions_follow_the_pose_of_their_mesh() {
    let asset = arm();
    let (_, pose) = &poses(&asset, &[0.4])[0];
    let positions = |muscle: &str| {
        let text = format!(
            r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "pose": {{"type": "pose"}}}},
 "nodes": {{
 "one": {{"node": "expression", "expressions": ["1"]}},
 "posed": {{"node": "drive_joints", "pose": "pose", "weights": "one", "joints": ["forearm"],
  "poses": [{{"name": "bent", "joints": [{{"rotation_degrees": [0, 0, 75]}}]}}]}},
 "skin": {{"node": "skin", "mesh": "body", "pose": "posed"}},
 "smooth": {{"node": "smooth", "mesh": "skin", "iterations": 1}},
 "it": {{"node": "taper", "mesh": "smooth", "axis": "x", "length": 0.27, "curve": 0.4, {muscle}}}}},
 "outputs": {{"body": "it"}}}}"#
        );
        let mut i = instance(&asset, &text);
        play(&mut i, pose);
        i.mesh_output("body").expect("a mesh").positions.to_vec()
    };
    let place = r#"{"translation": [0.28, 0, 0]}"#;
    let follow = positions(&format!(r#""transform": {place}, "follow": "forearm""#));
    let joint = |more: &str| {
        positions(&format!(
            r#""transform": {{"joint": "forearm", "offset": {place}{more}}}"#
        ))
    };
    assert_eq!(follow, joint(r#", "pose": "posed""#));
    assert_eq!(follow, joint(""));
    assert_ne!(follow, joint(r#", "pose": "pose""#));
}
