//! The conformance loop: what holds for every node of the registry, on every sample and on awkward meshes.

use crate::common::{assets, bindings, forms, instance, middle, numbers, running_with};
use sinew::deform::{MAX_PORTS, NodeKind, Par, REGISTRY, examples};
use sinew::graph::{
    BindError, BindOptions, BoundGraph, Frame, Instance, NoNesting, SetupWatch, compile,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// All numbers of all outputs, and the words of fields.
fn results(i: &Instance) -> Vec<u32> {
    let mut out = numbers_of(i);
    for o in i.plan().outputs() {
        out.extend(i.field_output(&o.name).unwrap_or_default());
    }
    out
}

/// All numbers of all outputs but fields.
fn numbers_of(i: &Instance) -> Vec<u32> {
    let mut out = Vec::new();
    for o in i.plan().outputs() {
        if let Some(m) = i.mesh_output(&o.name) {
            out.extend(m.positions.as_flattened().iter().map(|v| v.to_bits()));
            out.extend(
                m.normals
                    .unwrap_or_default()
                    .as_flattened()
                    .iter()
                    .map(|v| v.to_bits()),
            );
            out.extend(
                m.tangents
                    .unwrap_or_default()
                    .as_flattened()
                    .iter()
                    .map(|v| v.to_bits()),
            );
            out.extend(
                m.colors
                    .unwrap_or_default()
                    .as_flattened()
                    .iter()
                    .map(|v| v.to_bits()),
            );
        }
        out.extend(
            i.float_output(&o.name)
                .unwrap_or_default()
                .iter()
                .map(|v| v.to_bits()),
        );
        if let Some(pose) = i.pose_output(&o.name) {
            let palette = pose.palette.iter().flat_map(|m| m.rows.as_flattened());
            out.extend(palette.chain(&pose.morph_weights).map(|v| v.to_bits()));
        }
        for l in i.line_output(&o.name).unwrap_or_default() {
            out.extend(l.from.iter().chain(&l.to).map(|v| v.to_bits()));
        }
    }
    out
}

#[test]
fn outputs_are_finite_and_normals_are_unit() {
    for asset in assets() {
        let mut pose = asset.rig.rest_pose();
        asset
            .rig
            .evaluate(asset.clips.first(), middle(&asset), &mut pose);
        for (desc, more) in forms(&asset) {
            let mut i = running_with(&asset, desc, more);
            let values = numbers(i.plan());
            let values: Vec<(usize, &[f32])> = values.iter().map(|(i, v)| (*i, &**v)).collect();
            let frame = Frame::at(0.5).pose(&pose).values(&values);
            i.update(&frame, Par::Seq)
                .unwrap_or_else(|e| panic!("{}: {e}", desc.name));
            assert!(
                numbers_of(&i)
                    .iter()
                    .all(|b| f32::from_bits(*b).is_finite()),
                "{} on {}: not finite",
                desc.name,
                asset.name
            );
            for o in i.plan().outputs() {
                let Some(m) = i.mesh_output(&o.name) else {
                    continue;
                };
                for (v, n) in m.normals.unwrap_or_default().iter().enumerate() {
                    let length = n.iter().map(|c| c * c).sum::<f32>().sqrt();
                    assert!(
                        (length - 1.0).abs() < 1e-3,
                        "{} on {}: normal {v} is {n:?}",
                        desc.name,
                        asset.name
                    );
                }
                for (v, t) in m.tangents.unwrap_or_default().iter().enumerate() {
                    assert!(
                        t[3] == 1.0 || t[3] == -1.0,
                        "{} on {}: tangent {v} is {t:?}",
                        desc.name,
                        asset.name
                    );
                }
            }
        }
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let pool = |n: usize| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(n)
            .build()
            .expect("pool")
    };
    let pools = [pool(1), pool(2), pool(5)];
    for asset in assets() {
        let mut pose = asset.rig.rest_pose();
        asset
            .rig
            .evaluate(asset.clips.first(), middle(&asset), &mut pose);
        for (desc, more) in forms(&asset) {
            let mut i = running_with(&asset, desc, more);
            let values = numbers(i.plan());
            let values: Vec<(usize, &[f32])> = values.iter().map(|(i, v)| (*i, &**v)).collect();
            let frame = Frame::at(0.5).pose(&pose).values(&values);
            i.update(&frame, Par::Seq).expect("fits");
            let expected = results(&i);
            for pool in &pools {
                pool.install(|| i.update(&frame, Par::Rayon)).expect("fits");
                assert!(
                    results(&i) == expected,
                    "{} on {} with {} threads",
                    desc.name,
                    asset.name,
                    pool.current_num_threads()
                );
            }
        }
    }
}

#[test]
fn saved_setup_gives_the_same_bits() {
    for asset in assets() {
        let mut pose = asset.rig.rest_pose();
        asset
            .rig
            .evaluate(asset.clips.first(), middle(&asset), &mut pose);
        for (desc, more) in forms(&asset) {
            let mut i = running_with(&asset, desc, more);
            let values = numbers(i.plan());
            let values: Vec<(usize, &[f32])> = values.iter().map(|(i, v)| (*i, &**v)).collect();
            let frame = Frame::at(0.5).pose(&pose).values(&values);
            let inputs = bindings(&asset, i.plan());
            let (plan, bytes) = (i.plan().clone(), i.graph().setup_cache());
            // Setup on threads leaves the same.
            let on_threads = BoundGraph::bind(plan.clone(), &inputs, &[], Par::Rayon);
            let on_threads = on_threads.unwrap_or_else(|e| panic!("{}: {e}", desc.name));
            assert!(on_threads.setup_cache() == bytes, "{}", desc.name);
            let cached = |bytes: &[u8]| {
                BoundGraph::bind(
                    plan.clone(),
                    &inputs,
                    &[],
                    BindOptions::default().cache(bytes),
                )
            };
            let restored = cached(&bytes).unwrap_or_else(|e| panic!("{}: {e}", desc.name));
            let mut j = Arc::new(restored).instance();
            i.update(&frame, Par::Seq).expect("fits");
            j.update(&frame, Par::Seq).expect("fits");
            assert!(
                results(&i) == results(&j),
                "{} on {}",
                desc.name,
                asset.name
            );
            // Damage is noticed, wherever it is.
            for at in [0, 9, 50, bytes.len() - 1] {
                let mut bad = bytes.clone();
                bad[at] ^= 1;
                assert!(cached(&bad).is_err(), "{}: byte {at}", desc.name);
            }
        }
    }
}

/// Wherever setup asks whether to go on, a stop is a stop.
#[test]
fn setup_stops_when_it_is_told_to() {
    let asset = &assets()[0];
    for (desc, more) in forms(asset) {
        let plan = running_with(asset, desc, more).plan().clone();
        let inputs = bindings(asset, &plan);
        let mut stops = 0;
        loop {
            let asked = AtomicUsize::new(0);
            let is_stopped = || asked.fetch_add(1, Ordering::Relaxed) == stops;
            let watch = SetupWatch::new(&|_| {}, &is_stopped);
            let options = BindOptions::default().watch(watch);
            match BoundGraph::bind(plan.clone(), &inputs, &[], options) {
                Ok(_) => break,
                Err(BindError::Stopped { node }) => assert!(!node.is_empty(), "{}", desc.name),
                Err(e) => panic!("{}, stop {stops}: {e}", desc.name),
            }
            // Long ones ask often: a few stops of theirs will do.
            stops = if stops < 20 { stops + 1 } else { stops * 2 };
        }
        assert!(stops > 0, "{}: the binder asks before each node", desc.name);
    }
}

/// Commands know them by name, and the demo shows them.
#[test]
fn examples_compile_and_say_what_they_are_for() {
    let names: BTreeSet<&str> = examples().map(|e| e.name).collect();
    assert_eq!(names.len(), examples().count(), "names are unique");
    for example in examples() {
        let name = example.name;
        let plan = compile(name, example.graph, &NoNesting).expect(name);
        assert!(plan.warnings().is_empty(), "{name}: {:?}", plan.warnings());
        let files = plan.inputs().iter().filter(|i| i.file.is_some()).count();
        assert_eq!(files, 0, "{name} names files");
        assert!(
            ["arm", "ball", "creature", "head"].contains(&example.sample),
            "{name}"
        );
        let before = example.before;
        let known = ["rest", "linear"].contains(&before) || names.contains(before);
        assert!(known, "{name}: {before}");
    }
}

#[test]
fn the_registry_is_in_order() {
    let mut names: Vec<&str> = REGISTRY.iter().map(|d| d.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), REGISTRY.len(), "names are unique");
    for d in REGISTRY {
        assert!(
            d.inputs.len() <= MAX_PORTS && d.outputs.len() <= MAX_PORTS,
            "{}",
            d.name
        );
        assert!(
            !d.docs.page.trim().is_empty() && !d.summary.is_empty(),
            "{} has no page",
            d.name
        );
        assert!(
            d.kind != NodeKind::Kernel,
            "{}: kernels are the user's own",
            d.name
        );
        for o in d.outputs {
            if let Some(e) = o.effect {
                assert!(
                    d.input(e.from).is_some(),
                    "{}: {} passes through from nowhere",
                    d.name,
                    o.name
                );
            }
        }
        for p in d.parameters {
            assert!(!p.doc.is_empty(), "{}.{} has no doc", d.name, p.name);
        }
    }
}

/// Blending with a mesh whose normals no longer fit must not hand on the old normals.
#[test]
fn blending_with_a_smoothed_mesh_recomputes_normals() {
    let mesh = sinew_testkit::meshes::tube(20, 12, 2.0, 0.2);
    let asset = assets()
        .into_iter()
        .find(|a| a.name == mesh.name)
        .expect("the tube");
    let graph = |node: &str| {
        format!(
            r#"{{"sinew": "1.0", "parameters": {{"s": {{"type": "float", "default": 1}}}},
             "nodes": {{"skin": {{"node": "skin", "mesh": "body", "pose": "pose"}},
                        "mush": {{"node": "smooth", "mesh": "skin", "iterations": 20, "blend": "$s"}},
                        "all": {{"node": "blend", "mesh": "skin", "target": "mush", "factor": 1}}}},
             "outputs": {{"body": "{node}"}}}}"#
        )
    };
    let mut pose = asset.rig.rest_pose();
    pose.palette[1] = sinew::geom::Affine::<f32>::from_trs(
        sinew::geom::Vec3::new(0.0, 0.3, 0.0),
        sinew::geom::Quat::from_euler_angles(0.0, 0.0, 0.5),
        sinew::geom::Vec3::repeat(1.0),
    )
    .into();
    let normals = |node: &str| {
        let mut i = instance(&asset, &graph(node));
        i.update(&Frame::default().pose(&pose), Par::Seq)
            .expect("fits");
        i.mesh_output("body")
            .and_then(|m| m.normals)
            .expect("normals")
            .to_vec()
    };
    let (direct, blended) = (normals("mush"), normals("all"));
    assert!(
        sinew_testkit::max_distance(&direct, &blended) < 1e-5,
        "the same positions have the same normals"
    );
    assert!(
        sinew_testkit::max_distance(&normals("skin"), &direct) > 1e-2,
        "smoothing turns normals"
    );
}

/// Weights of poses drive a morph target, whose chain ends in `morph`, and a joint that the mesh is skinned to.
#[test]
fn driven_morphs_and_joints_move_the_mesh() {
    let asset = assets()
        .into_iter()
        .find(|a| a.name == "dressed")
        .expect("dressed");
    let at = asset.merged(&Default::default()).expect("a mesh");
    let document = |outputs: &str| {
        format!(
            r#"{{"sinew": "1.0",
 "inputs": {{"body": {{"type": "mesh"}}, "pose": {{"type": "pose"}}, "values": {{"type": "values", "count": 2}}}},
 "nodes": {{
  "first": {{"node": "drive_morphs", "mesh": "body", "weights": "values", "targets": ["", "wide"]}},
  "second": {{"node": "drive_morphs", "mesh": "body", "weights": "values", "base": "first", "targets": ["wide", ""], "gain": 2}},
  "shaped": {{"node": "morph", "mesh": "body", "weights": "second"}},
  "joints": {{"node": "drive_joints", "pose": "pose", "weights": "values", "joints": ["joint_60"], "space": "parent",
    "poses": [{{"name": "a", "joints": [{{"translation": [0, 0, 1]}}]}}, {{"name": "b", "joints": [{{}}]}}]}},
  "skinned": {{"node": "skin", "mesh": "body", "pose": "joints"}}}},
 "outputs": {{{outputs}}}}}"#
        )
    };
    let outputs =
        r#""weights": "second", "shaped": "shaped", "joints": "joints", "skinned": "skinned""#;
    let mut i = instance(&asset, &document(outputs));
    let pose = asset.rig.rest_pose();
    let frame = |values| Frame::default().pose(&pose).values(values);
    i.update(&frame(&[(2, &[0.25, 0.5])]), Par::Seq)
        .expect("fits");
    assert_eq!(i.float_output("weights"), Some(&[0.5 + 2.0 * 0.25][..]));
    let shaped = i.mesh_output("shaped").expect("a mesh").positions;
    let moved = [0.0, 0.1, 0.05];
    let expected: [f32; 3] = std::array::from_fn(|c| at.positions[0][c] + moved[c]);
    assert_eq!((shaped[0], shaped[1]), (expected, at.positions[1]));
    // A weight of 1 alone gives the pose, and the mesh is skinned to what the same pose by hand gives.
    i.update(&frame(&[(2, &[1.0, 0.0])]), Par::Seq)
        .expect("fits");
    let mut by_hand = pose.clone();
    by_hand.locals[60] = sinew::geom::LocalTransform::Trs(sinew::geom::Trs {
        translation: sinew::geom::Vec3::new(0.0, 0.0, 1.0),
        ..Default::default()
    });
    asset.rig.finish(&mut by_hand);
    let found = i.pose_output("joints").expect("a pose");
    let pairs = found.scene_from_node.iter().zip(&by_hand.scene_from_node);
    for (node, (a, b)) in pairs.enumerate() {
        let apart = (a.linear - b.linear).norm() + (a.translation - b.translation).norm();
        assert!(apart < 1e-9, "node {node}: {a:?}, expected {b:?}");
    }
    let skinned = i.mesh_output("skinned").expect("a mesh").positions.to_vec();
    let mut plain = instance(&asset, r#"{"sinew": "1.0", "stack": [{"node": "skin"}]}"#);
    let frame = Frame::default().pose(&by_hand);
    plain.update(&frame, Par::Seq).expect("fits");
    let expected = plain.mesh_output("body").expect("a mesh").positions;
    assert!(sinew_testkit::max_distance(&skinned, expected) < 1e-5);
    assert!(sinew_testkit::max_distance(&skinned, &at.positions) > 0.1);
}

/// What is linked must fit names and counts; messages name the place.
#[test]
fn drivers_refuse_what_does_not_fit() {
    let asset = assets()
        .into_iter()
        .find(|a| a.name == "dressed")
        .expect("dressed");
    let refused = |node: &str| {
        let text = format!(
            r#"{{"sinew": "1.0",
 "inputs": {{"body": {{"type": "mesh"}}, "pose": {{"type": "pose"}}, "values": {{"type": "values", "count": 2}}}},
 "nodes": {{"it": {{{node}}}}}, "outputs": {{"out": "it"}}}}"#
        );
        let plan = sinew::graph::compile("g.json", &text, &sinew::graph::NoNesting);
        let plan = Arc::new(plan.unwrap_or_else(|e| panic!("{e}")));
        let inputs = bindings(&asset, &plan);
        let error = Instance::bind(plan, &inputs, &[], Par::Seq).expect_err(node);
        error.to_string()
    };
    let morphs = r#""node": "drive_morphs", "mesh": "body", "weights": "values""#;
    let cases = [
        (
            morphs.to_owned(),
            "node 'it' (drive_morphs): parameter 'targets': found 0 names, expected 2, one for each linked weight",
        ),
        (
            format!(r#"{morphs}, "targets": ["", "wade"]"#),
            "parameter 'targets': the mesh has no morph target 'wade'; did you mean 'wide'?",
        ),
        (
            format!(r#"{morphs}, "targets": ["", ""], "base": "values""#),
            "input 'base': found 2 linked weights, but the mesh 'dressed' has 1 morph targets",
        ),
        (
            r#""node": "drive_joints", "pose": "pose", "weights": "values", "joints": ["joint_1"]"#
                .to_owned(),
            "node 'it' (drive_joints): found 0 poses, expected 2, one for each linked weight",
        ),
    ];
    for (node, expected) in cases {
        let error = refused(&node);
        assert!(error.contains(expected), "{error}\nnot {expected}");
    }
}
