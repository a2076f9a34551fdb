use super::*;
use crate::gltf::read::read_gltf_bytes;
use crate::{GltfFile, read_gltf};
use sinew_geom::{
    Affine, Channel, ChannelTarget, Clip, Interpolation, Joint, Node, Rig, Topology, Trs, Vec3,
};
use std::path::PathBuf;
use std::sync::Arc;

fn read(bytes: Vec<u8>) -> GltfFile {
    read_gltf_bytes(bytes, None, "made.glb").expect("a file that reads")
}

/// Morph targets, then linear skinning, as glTF defines them, in double precision.
fn posed(asset: &Asset, mesh: &Mesh, clip: Option<&str>, secs: f64) -> Vec<[f64; 3]> {
    let mut pose = asset.rig.rest_pose();
    let clip = clip.and_then(|c| asset.find_clip(Some(c)));
    asset.rig.evaluate(clip, secs, &mut pose);
    let mut points: Vec<Vec3<f64>> = mesh
        .positions
        .iter()
        .map(|p| Vec3::from(p.map(f64::from)))
        .collect();
    for (t, target) in mesh.morph_targets.iter().enumerate() {
        let weight = f64::from(pose.morph_weights[mesh.morph_weight_index(t)]);
        for (v, d) in target.vertices.iter().zip(&target.positions) {
            points[*v as usize] += Vec3::from(d.map(f64::from)) * weight;
        }
    }
    let joints = asset.rig.joints();
    let moved = |(v, p): (usize, &Vec3<f64>)| match &mesh.influences {
        None => [p.x, p.y, p.z],
        Some(rows) => {
            let sum = rows.row(v).fold(Vec3::zeros(), |sum, (j, w)| {
                let joint = &joints[j as usize];
                let at = pose.scene_from_node[joint.node] * joint.joint_from_bind;
                sum + at.point(*p) * f64::from(w)
            });
            [sum.x, sum.y, sum.z]
        }
    };
    points.iter().enumerate().map(moved).collect()
}

/// Largest distance between two assets at times of all clips, relative to their size.
fn apart(a: &Asset, b: &Asset) -> f64 {
    let clips = a.clips.iter().map(|c| Some(c.name.as_str())).chain([None]);
    let mut worst = 0.0_f64;
    for clip in clips {
        let (from, to) = clip
            .and_then(|c| a.find_clip(Some(c)))
            .map_or((0.0, 0.0), Clip::range);
        for k in 0..5 {
            let secs = f64::from(from) + f64::from(to - from) * f64::from(k) / 4.0;
            for (one, other) in a.meshes.iter().zip(&b.meshes) {
                let (p, q) = (posed(a, one, clip, secs), posed(b, other, clip, secs));
                let size = p.iter().flatten().fold(1e-3_f64, |m, c| m.max(c.abs()));
                let far = p.as_flattened().iter().zip(q.as_flattened());
                let far = far.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
                worst = worst.max(far / size);
            }
        }
    }
    worst
}

/// Everything that the file must hold as it was.
fn assert_kept(a: &Asset, b: &Asset, name: &str) {
    assert_eq!(a.meshes.len(), b.meshes.len(), "{name}");
    assert_eq!(a.strands.len(), b.strands.len(), "{name}");
    for (a, b) in a.meshes.iter().zip(&b.meshes) {
        let of = format!("{name}: {}", a.name);
        assert_eq!((&a.name, &a.data_name), (&b.name, &b.data_name), "{of}");
        assert_eq!(a.topology, b.topology, "{of}");
        assert_eq!((&a.uvs, &a.colors), (&b.uvs, &b.colors), "{of}");
        assert_eq!(a.attributes, b.attributes, "{of}");
        let parts = |m: &Mesh| -> Vec<_> {
            let parts = m.parts.iter();
            parts
                .map(|p| (p.vertices.clone(), p.triangles.clone(), p.flat_shaded))
                .collect()
        };
        assert_eq!(parts(a), parts(b), "{of}");
        let names =
            |m: &Mesh| -> Vec<String> { m.morph_targets.iter().map(|t| t.name.clone()).collect() };
        assert_eq!(names(a), names(b), "{of}");
        let most = |m: &Mesh| m.influences.as_ref().map_or(0, |i| i.max_per_vertex());
        assert_eq!(most(a), most(b), "{of}");
    }
    let weights = |a: &Asset| -> Vec<Vec<f32>> {
        let nodes = a.rig.nodes().iter().map(|n| n.morph_weights.clone());
        nodes.filter(|w| !w.is_empty()).collect()
    };
    assert_eq!(weights(a), weights(b), "{name}");
    let clips = |a: &Asset| -> Vec<_> {
        let all = a.clips.iter().flat_map(|clip| {
            clip.channels().iter().map(|c| {
                let node = a.rig.nodes()[c.node].name.clone();
                let keys = (c.times().to_vec(), c.values().to_vec());
                (
                    clip.name.clone(),
                    node,
                    format!("{:?} {:?}", c.target, c.interpolation()),
                    keys,
                )
            })
        });
        all.collect()
    };
    assert!(clips(a) == clips(b), "{name}: clips");
}

fn shared_files() -> Vec<PathBuf> {
    let Some(data) = sinew_testkit::shared_data() else {
        println!("skipped: no shared data");
        return Vec::new();
    };
    let folders = ["characters", "morph", "psd", "hair"];
    let mut out = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(data.join(folder)).expect("there") {
            let path = entry.expect("there").path();
            let ending = path.extension().unwrap_or_default();
            if ending == "glb" || ending == "gltf" {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

#[test]
fn a_packed_document_reads_as_the_same_asset() {
    for path in shared_files() {
        let name = path.display().to_string();
        let file = read_gltf(&path).expect("valid");
        let (bytes, _) = converted_glb(&path, &file.asset, Some(&file.document)).expect("packed");
        let again = read(bytes).asset;
        assert_kept(&file.asset, &again, &name);
        assert_eq!(file.asset.rig, again.rig, "{name}");
        for (a, b) in file.asset.meshes.iter().zip(&again.meshes) {
            assert!(
                a.positions == b.positions && a.normals == b.normals,
                "{name}"
            );
            assert!(a.tangents == b.tangents, "{name}");
            assert!(a.morph_targets == b.morph_targets, "{name}");
            assert!(a.influences == b.influences, "{name}");
        }
    }
}

/// The same characters without their document, as a reader of another format gives them.
#[test]
fn a_new_file_has_all_that_an_asset_has() {
    for path in shared_files() {
        let name = path.display().to_string();
        let file = read_gltf(&path).expect("valid");
        let source = GlbSource::of(&file.document, &path);
        let (bytes, _) = character_glb(&path, &file.asset, Some(&source)).expect("written");
        let again = read(bytes);
        assert_kept(&file.asset, &again.asset, &name);
        let far = apart(&file.asset, &again.asset);
        assert!(far < 2e-6, "{name}: {far}");
        let materials = |file: &GltfFile| -> Vec<_> {
            let parts = file.asset.meshes.iter().flat_map(|m| &m.parts);
            parts
                .map(|p| {
                    let material = p.material.map(|m| &file.document.json["materials"][m]);
                    let color = material.map(|m| m["pbrMetallicRoughness"].clone());
                    color.map(|c| {
                        (
                            c["baseColorFactor"].clone(),
                            c["baseColorTexture"].is_object(),
                        )
                    })
                })
                .collect()
        };
        assert_eq!(materials(&file), materials(&again), "{name}");
    }
}

fn node(name: &str, parent: Option<usize>, x: f64) -> Node {
    Node {
        name: name.into(),
        parent,
        local: LocalTransform::Trs(Trs {
            translation: Vec3::new(x, 0.0, 0.0),
            ..Trs::default()
        }),
        morph_weights: Vec::new(),
        morph_offset: 0,
    }
}

fn triangle(name: &str) -> Mesh {
    let topology = Topology::new(3, vec![[0, 1, 2]]).expect("in range");
    let positions = vec![[2.0, 0.0, 0.0], [3.0, 0.0, 0.0], [2.0, 1.0, 0.0]];
    Mesh::new(name, topology, positions)
}

fn shift(x: f64) -> Affine<f64> {
    Affine::from_trs(
        Vec3::new(x, 0.0, 0.0),
        sinew_geom::Quat::identity(),
        Vec3::repeat(1.0),
    )
}

fn slide(node: usize, from: f32) -> Clip {
    let channel = Channel::new(
        node,
        ChannelTarget::Translation,
        Interpolation::Linear,
        vec![from, from + 1.0],
        vec![2.0, 0.0, 0.0, 7.0, 0.0, 0.0],
        3,
    );
    Clip::new("slide", vec![channel.expect("valid")])
}

/// A node at x = 2 that moves to x = 7: its mesh is stored at the node, unskinned, and goes along.
#[test]
fn a_mesh_of_one_node_stays_at_it() {
    let joint = Joint {
        node: 1,
        joint_from_bind: shift(-2.0),
    };
    let mut mesh = triangle("prop");
    mesh.influences = Some(Influences::rigid(3, 0));
    let rig = Rig::new(
        vec![node("root", None, 0.0), node("prop", Some(0), 2.0)],
        vec![joint],
    );
    let asset = Asset {
        meshes: vec![mesh.clone(), mesh],
        rig: Arc::new(rig.expect("valid")),
        clips: vec![slide(1, 0.0)],
        ..Asset::default()
    };
    let (bytes, warnings) = character_glb(Path::new("prop.glb"), &asset, None).expect("written");
    assert_eq!(warnings, []);
    let file = read(bytes);
    let json = &file.document.json;
    assert!(json.get("skins").is_none(), "{json}");
    assert_eq!(json["nodes"][1]["mesh"], 0);
    // The second mesh of the node is at a child.
    assert_eq!(json["nodes"][1]["children"], json!([2]));
    assert_eq!(json["nodes"][2]["mesh"], 1);
    let accessor = json["meshes"][0]["primitives"][0]["attributes"]["POSITION"].as_u64();
    let min = &json["accessors"][accessor.expect("there") as usize]["min"];
    assert_eq!(*min, json!([0.0, 0.0, 0.0]), "in the space of the node");
    for mesh in &file.asset.meshes {
        let end = posed(&file.asset, mesh, Some("slide"), 1.0);
        assert_eq!(end, [[7.0, 0.0, 0.0], [8.0, 0.0, 0.0], [7.0, 1.0, 0.0]]);
    }
}

/// A mesh of another name than the node that moves it keeps its name.
#[test]
fn a_mesh_keeps_its_name_at_a_joint() {
    let joint = Joint {
        node: 0,
        joint_from_bind: shift(-2.0),
    };
    let mut mesh = triangle("sword");
    mesh.influences = Some(Influences::rigid(3, 0));
    let rig = Rig::new(vec![node("hand", None, 2.0)], vec![joint]);
    let asset = Asset {
        meshes: vec![mesh],
        rig: Arc::new(rig.expect("valid")),
        clips: vec![slide(0, 0.0)],
        ..Asset::default()
    };
    let (bytes, _) = character_glb(Path::new("hand.glb"), &asset, None).expect("written");
    let again = read(bytes).asset;
    assert_eq!(again.meshes[0].name, "sword");
    let end = posed(&again, &again.meshes[0], Some("slide"), 1.0);
    assert_eq!(end[0], [7.0, 0.0, 0.0]);
}

/// glTF allows a node once in a skin. Two joints of one node, whose bind poses are 1 m apart, each take a half.
#[test]
fn two_joints_of_one_node_both_move_a_mesh() {
    let joint = |x| Joint {
        node: 0,
        joint_from_bind: shift(x),
    };
    let mut mesh = triangle("m");
    let row: &[(u32, f32)] = &[(0, 0.5), (1, 0.5)];
    let rows = Influences::from_rows([row; 3].into_iter(), 2, 0).expect("valid");
    mesh.influences = Some(rows.0);
    let rig = Rig::new(vec![node("arm", None, 2.0)], vec![joint(-2.0), joint(-1.0)]);
    let asset = Asset {
        meshes: vec![mesh],
        rig: Arc::new(rig.expect("valid")),
        clips: vec![slide(0, 0.0)],
        ..Asset::default()
    };
    let (bytes, _) = character_glb(Path::new("arm.glb"), &asset, None).expect("written");
    let again = read(bytes).asset;
    let end = posed(&again, &again.meshes[0], Some("slide"), 1.0);
    // x = 7 + ((2 - 2) + (2 - 1)) / 2.
    assert_eq!(end[0], [7.5, 0.0, 0.0]);
}

/// A mesh without joints has morph weights from a node that moves: the node must not move the mesh.
#[test]
fn weights_of_a_moving_node_do_not_move_a_mesh() {
    let mut carrier = node("carrier", None, 2.0);
    carrier.morph_weights = vec![0.25];
    let mut mesh = triangle("face");
    mesh.morph_targets = vec![MorphTarget {
        name: "up".into(),
        vertices: vec![1],
        positions: vec![[0.0, 4.0, 0.0]],
        ..MorphTarget::default()
    }];
    let asset = Asset {
        meshes: vec![mesh],
        rig: Arc::new(Rig::new(vec![carrier], Vec::new()).expect("valid")),
        clips: vec![slide(0, -0.5)],
        ..Asset::default()
    };
    let (bytes, warnings) = character_glb(Path::new("face.glb"), &asset, None).expect("written");
    let codes: Vec<&str> = warnings.iter().map(|w| w.code).collect();
    assert_eq!(codes, ["clip_moved"], "{warnings:?}");
    let again = read(bytes).asset;
    let clip = again.clips[0].range();
    assert_eq!(clip, (0.0, 1.0), "moved to 0 s");
    let end = posed(&again, &again.meshes[0], Some("slide"), 1.0);
    assert_eq!(end, [[2.0, 0.0, 0.0], [3.0, 1.0, 0.0], [2.0, 1.0, 0.0]]);
}

#[test]
fn more_joints_than_gltf_numbers_are_an_error() {
    let count = 65_537_u32;
    let joint = |_| Joint {
        node: 0,
        joint_from_bind: Affine::identity(),
    };
    let joints: Vec<Joint> = (0..count).map(joint).collect();
    let row: Vec<(u32, f32)> = (0..count).map(|j| (j, 1.0)).collect();
    let rows = Influences::from_rows([&row[..]; 3].into_iter(), count as usize, 0);
    let mut mesh = triangle("crowd");
    mesh.influences = Some(rows.expect("valid").0);
    let asset = Asset {
        meshes: vec![mesh],
        rig: Arc::new(Rig::new(vec![node("n", None, 0.0)], joints).expect("valid")),
        ..Asset::default()
    };
    let error = character_glb(Path::new("a.glb"), &asset, None).expect_err("too many");
    let error = error.to_string();
    assert!(error.contains("mesh 'crowd'"), "{error}");
    assert!(
        error.contains("65537 joints (glTF allows 65536)"),
        "{error}"
    );
}
