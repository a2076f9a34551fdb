//! How time grows with each kind of thing in a file: `cargo test -p sinew-io scaling -- --ignored --nocapture` prints a table. Four times as many
//! things must not take ten times as long.

use super::*;
use crate::gltf_write::{
    NewTarget, SkinEdit, add_morph_targets, character_glb, edit_skins, packed_glb,
};
use crate::{CachedMesh, FrameCache, FrameData};
use sinew_geom::{MeshPart, MorphTarget, Topology};
use std::path::Path;
use std::time::Instant;

/// Chain of nodes, each a joint of one skin.
fn chain(n: usize) -> Builder {
    let mut b = Builder::triangle();
    let mut nodes: Vec<Value> = (0..n)
        .map(|k| json!({ "name": format!("joint_{k}"), "children": [k + 1], "translation": [0.0, 0.01, 0.0] }))
        .collect();
    nodes.push(json!({ "name": "end" }));
    nodes.push(json!({ "name": "body", "mesh": 0, "skin": 0 }));
    b.json["scenes"] = json!([{ "nodes": [0, n + 1] }]);
    b.json["nodes"] = nodes.into();
    b.json["skins"] = json!([{ "joints": (0..n).collect::<Vec<_>>() }]);
    weigh(&mut b);
    b
}

fn weigh(b: &mut Builder) {
    let view = b.view(&[0; 12], None);
    let joints =
        b.accessor(json!({"bufferView": view, "componentType": 5121, "count": 3, "type": "VEC4"}));
    let row = [1.0, 0.0, 0.0, 0.0];
    let view = b.view(&floats(&[row, row, row].concat()), None);
    let weights =
        b.accessor(json!({"bufferView": view, "componentType": 5126, "count": 3, "type": "VEC4"}));
    b.primitive()["attributes"]["JOINTS_0"] = joints.into();
    b.primitive()["attributes"]["WEIGHTS_0"] = weights.into();
}

/// As many nodes with the mesh, each with a skin of its own over two joints.
fn skins(n: usize) -> Builder {
    let mut b = Builder::triangle();
    weigh(&mut b);
    let mut nodes = vec![json!({ "name": "a" }), json!({ "name": "b" })];
    nodes.extend((0..n).map(|k| json!({ "name": format!("body_{k}"), "mesh": 0, "skin": k })));
    b.json["nodes"] = nodes.into();
    b.json["skins"] = vec![json!({ "joints": [0, 1] }); n].into();
    b
}

fn flat_nodes(n: usize) -> Builder {
    let mut b = Builder::triangle();
    let node = |k: usize| json!({ "name": "same", "mesh": 0, "translation": [k, 0, 0] });
    b.json["nodes"] = (0..n).map(node).collect::<Vec<_>>().into();
    b
}

/// As many meshes, each with accessors of its own.
fn meshes(n: usize) -> Builder {
    let mut b = Builder::triangle();
    let positions = b.json["accessors"][0].clone();
    for k in 1..n {
        let a = b.accessor(positions.clone());
        b.push(
            "meshes",
            json!({ "primitives": [{ "attributes": { "POSITION": a } }] }),
        );
        b.push("nodes", json!({ "mesh": k }));
    }
    b
}

fn primitives(n: usize, shares: bool) -> Builder {
    let mut b = Builder::triangle();
    let first = b.primitive().clone();
    let mut all = vec![first.clone()];
    for _ in 1..n {
        let mut one = first.clone();
        if !shares {
            let view = b.view(&floats(&[0.0; 9]), None);
            let a = b.accessor(
                json!({"bufferView": view, "componentType": 5126, "count": 3, "type": "VEC3"}),
            );
            one["attributes"]["POSITION"] = a.into();
        }
        all.push(one);
    }
    b.json["meshes"][0]["primitives"] = all.into();
    b
}

fn targets(n: usize) -> Builder {
    let mut b = Builder::triangle();
    let view = b.view(
        &floats(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        None,
    );
    let a =
        b.accessor(json!({"bufferView": view, "componentType": 5126, "count": 3, "type": "VEC3"}));
    b.primitive()["targets"] = vec![json!({ "POSITION": a }); n].into();
    let names: Vec<String> = (0..n).map(|k| format!("target {k}")).collect();
    b.json["meshes"][0]["extras"] = json!({ "targetNames": names });
    b
}

/// As many clips of one name, each moving one node.
fn clips(n: usize) -> Builder {
    let mut b = Builder::triangle();
    let view = b.view(&floats(&[0.0, 1.0]), None);
    let times = b
        .accessor(json!({"bufferView": view, "componentType": 5126, "count": 2, "type": "SCALAR"}));
    let view = b.view(&floats(&[0.0; 6]), None);
    let values =
        b.accessor(json!({"bufferView": view, "componentType": 5126, "count": 2, "type": "VEC3"}));
    let clip = json!({ "name": "walk", "samplers": [{ "input": times, "output": values }],
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }] });
    b.json["animations"] = vec![clip; n].into();
    b
}

fn secs(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn read_secs(make: impl Fn(usize) -> Builder) -> impl Fn(usize) -> f64 {
    move |n| {
        let b = make(n);
        secs(|| drop(b.read().expect("valid")))
    }
}

/// The bytes of one GLB file, and what reading that gives.
fn packed(b: Builder) -> (Vec<u8>, GltfFile) {
    let file = b.read().expect("valid");
    let (glb, _) = packed_glb(&file.document).expect("packs");
    let file = read_gltf_bytes(glb.clone(), None, "in.glb").expect("valid");
    (glb, file)
}

fn add_targets_secs(n: usize) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, to) = (folder.path().join("in.glb"), folder.path().join("out.glb"));
    let (glb, file) = packed(primitives(100, false));
    std::fs::write(&from, glb).expect("written");
    let vertices: Vec<u32> = (0..300).collect();
    let target = |k: usize| NewTarget {
        mesh: 0,
        target: MorphTarget {
            name: format!("new {k}"),
            positions: vec![[0.0, 1.0, 0.0]; vertices.len()],
            vertices: vertices.clone(),
            ..MorphTarget::default()
        },
    };
    let all: Vec<NewTarget> = (0..n).map(target).collect();
    secs(|| add_morph_targets(&from, &file.document, &all, &to).expect("written"))
}

fn edit_secs(n: usize) -> f64 {
    let (glb, file) = packed(chain(n));
    let edit = SkinEdit {
        meshes: vec![crate::gltf_write::MeshSkin {
            mesh: 0,
            influences: file.asset.meshes[0].influences.clone().expect("bound"),
            targets: Vec::new(),
            colors: None,
        }],
        helpers: Vec::new(),
        clips: Vec::new(),
    };
    secs(|| drop(edit_skins(&glb, &file.asset, &file.document, &edit).expect("written")))
}

fn character_secs(n: usize) -> f64 {
    let mut asset = chain(n).read().expect("valid").asset;
    let rows: Vec<Vec<(u32, f32)>> = (0..3)
        .map(|v| (0..n as u32 / 3).map(|k| (3 * k + v, 1.0)).collect())
        .collect();
    let rows = rows.iter().map(Vec::as_slice);
    asset.meshes[0].influences = Some(
        sinew_geom::Influences::from_rows(rows, n, 0)
            .expect("weights")
            .0,
    );
    secs(|| drop(character_glb(Path::new("out.glb"), &asset, None).expect("written")))
}

/// A mesh of as many parts of one triangle each, of as many objects, as GLB, OBJ and PLY.
fn write_secs(ending: &'static str) -> impl Fn(usize) -> f64 {
    move |n| {
        let count = 3 * n as u32;
        let triangles = (0..n as u32)
            .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
            .collect();
        let topology = Topology::new(count, triangles).expect("in range");
        let positions: Vec<[f32; 3]> = (0..count)
            .map(|v| [v as f32, (v % 3) as f32, 0.0])
            .collect();
        let mut mesh = Mesh::new("many", topology, positions.clone());
        let part = |t: usize| MeshPart {
            name: format!("object {t}"),
            source_mesh: t,
            material: None,
            vertices: 3 * t..3 * t + 3,
            triangles: t..t + 1,
            flat_shaded: false,
        };
        mesh.parts = (0..n).map(part).collect();
        let frame = FrameData {
            positions,
            ..FrameData::default()
        };
        let cache = FrameCache {
            meshes: vec![CachedMesh {
                name: "many".into(),
                mesh: &mesh,
                frames: vec![frame.into()],
            }],
            times_secs: vec![0.0],
        };
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out").with_extension(ending);
        let surface = crate::Surface::from(&mesh);
        secs(|| match ending {
            "glb" => drop(
                crate::gltf_write::write_glb(&path, &cache, &Default::default()).expect("written"),
            ),
            "obj" => crate::obj::write_obj(&path, &[surface]).expect("written"),
            _ => crate::ply::write_ply(&path, &[surface], Default::default()).expect("written"),
        })
    }
}

/// OBJ text with as many objects of one triangle each, whose corners have normals of their own.
fn obj_secs(n: usize) -> f64 {
    let mut text = String::new();
    for k in 0..n {
        let v = 3 * k + 1;
        text += &format!(
            "o object_{k}\nv {k} 0 0\nv {k} 1 0\nv {k} 0 1\nvn 0 0 1\nvn 0 1 {k}\nf {v}//{0} {1}//{0} {2}//{3}\n",
            2 * k + 1,
            v + 1,
            v + 2,
            2 * k + 2
        );
    }
    secs(|| drop(crate::obj::parse_obj(text.as_bytes(), Path::new("many.obj")).expect("valid")))
}

/// PLY with as many properties of 100 vertices.
fn ply_secs(n: usize) -> f64 {
    let mut text = "ply\nformat ascii 1.0\nelement vertex 100\nproperty float x\nproperty float y\nproperty float z\n".to_owned();
    (0..n).for_each(|k| text += &format!("property float p{k}\n"));
    text += "end_header\n";
    for _ in 0..100 {
        text += &"1 ".repeat(n + 3);
        text += "\n";
    }
    secs(|| drop(crate::ply::parse_ply(text.as_bytes(), Path::new("many.ply")).expect("valid")))
}

type Measure = Box<dyn Fn(usize) -> f64>;

#[test]
#[ignore = "compares times, which a busy machine changes: TESTING.md"]
fn scaling() {
    let all: Vec<(&str, usize, Measure)> = vec![
        (
            "read: nodes in a chain, joints of a skin",
            2000,
            Box::new(read_secs(chain)),
        ),
        ("read: skins and meshes", 2000, Box::new(read_secs(skins))),
        (
            "read: nodes with one mesh",
            2000,
            Box::new(read_secs(flat_nodes)),
        ),
        ("read: meshes", 2000, Box::new(read_secs(meshes))),
        (
            "read: primitives",
            2000,
            Box::new(read_secs(|n| primitives(n, false))),
        ),
        (
            "read: primitives over one buffer",
            2000,
            Box::new(read_secs(|n| primitives(n, true))),
        ),
        ("read: morph targets", 2000, Box::new(read_secs(targets))),
        ("read: clips of one name", 2000, Box::new(read_secs(clips))),
        ("read: OBJ objects", 5000, Box::new(obj_secs)),
        ("read: PLY properties", 250, Box::new(ply_secs)),
        ("write: GLB objects", 2000, Box::new(write_secs("glb"))),
        ("write: OBJ objects", 5000, Box::new(write_secs("obj"))),
        ("write: PLY objects", 5000, Box::new(write_secs("ply"))),
        (
            "write: joints of a new character",
            2000,
            Box::new(character_secs),
        ),
        (
            "write: skins of a chain of joints",
            2000,
            Box::new(edit_secs),
        ),
        (
            "write: morph targets added to 100 primitives",
            100,
            Box::new(add_targets_secs),
        ),
    ];
    let mut slow = Vec::new();
    for (name, n, measure) in all {
        let few = (0..3).map(|_| measure(n)).fold(f64::INFINITY, f64::min);
        let many = measure(4 * n);
        println!(
            "{name:<48} {n:>6}: {:>9.2} ms   {:>6}: {:>9.2} ms   x {:.1}",
            few * 1e3,
            4 * n,
            many * 1e3,
            many / few
        );
        if many / few > 10.0 && many > 0.02 {
            slow.push(name);
        }
    }
    assert!(slow.is_empty(), "grow faster than their number: {slow:?}");
}
