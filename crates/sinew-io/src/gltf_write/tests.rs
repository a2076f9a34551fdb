#[cfg(feature = "meshopt")]
mod compressed;
mod player;

use super::*;
use crate::{CachedMesh, FrameData};
use player::Played;
use proptest::prelude::*;
use sinew_geom::{Asset, Mesh, MeshPart, Topology};
use sinew_testkit::{max_distance, meshes, shared_data};

/// Runs the Khronos validator where the environment has it.
pub(super) fn validate(path: &Path) {
    let Some(modules) = std::env::var_os("NODE_PATH") else {
        println!("skipped: NODE_PATH is not set, no validator");
        return;
    };
    if !Path::new(&modules).join("gltf-validator").is_dir() {
        println!("skipped: no gltf-validator in NODE_PATH");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/validate_glb.cjs");
    let run = std::process::Command::new("node")
        .arg(script)
        .arg(path)
        .output()
        .expect("node runs");
    let text = String::from_utf8_lossy(&run.stdout);
    println!("{text}");
    assert!(
        run.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

/// A wave through part of the mesh: frame 0 at rest, the others move what lies above `from`.
fn wave(mesh: &Mesh, frames: usize, from: f32) -> CachedMesh<'_> {
    let frames = (0..frames)
        .map(|k| {
            let lift = |p: &[f32; 3]| {
                if p[0] > from {
                    (k as f32 * 0.7 + p[0]).sin() * 0.3
                } else {
                    0.0
                }
            };
            let tilt = |p: &[f32; 3], n: &[f32; 3]| {
                let t = [n[0], n[1] + lift(p) * k as f32, n[2] + 0.1 * lift(p)];
                crate::surface::unit(t).unwrap_or([0.0, 1.0, 0.0])
            };
            let still = if k == 0 { 0.0 } else { 1.0 };
            FrameData {
                positions: mesh
                    .positions
                    .iter()
                    .map(|p| [p[0], p[1] + still * lift(p), p[2]])
                    .collect(),
                normals: mesh.normals.as_ref().map(|n| {
                    mesh.positions
                        .iter()
                        .zip(n)
                        .map(|(p, n)| if k == 0 { *n } else { tilt(p, n) })
                        .collect()
                }),
                ..FrameData::default()
            }
            .into()
        })
        .collect();
    CachedMesh {
        name: mesh.name.clone(),
        mesh,
        frames,
    }
}

/// Positions of a frame of the first mesh.
fn positions(cache: &FrameCache<'_>, frame: usize) -> Vec<[f32; 3]> {
    let frame = cache.meshes[0].frames[frame].read();
    frame.expect("here").positions
}

/// Changes frame 1 of the first mesh.
fn change(cache: &mut FrameCache<'_>, how: impl FnOnce(&mut FrameData)) {
    let frame = &mut cache.meshes[0].frames[1];
    let mut data = frame.read().expect("here");
    how(&mut data);
    *frame = data.into();
}

fn times(n: usize) -> Vec<f32> {
    (0..n).map(|k| (k as f32 + 1.0) / 30.0).collect()
}

fn save(
    cache: &FrameCache<'_>,
    options: &GlbOptions<'_>,
) -> (tempfile::TempDir, PathBuf, Vec<Warning>) {
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("out.glb");
    let written = write_glb(&path, cache, options).expect("written");
    validate(&path);
    (dir, path, written.warnings)
}

#[test]
fn every_key_shows_its_frame() {
    for (mesh, from) in [
        (meshes::sphere(12, 16), 0.6),
        (meshes::grid(9, 7), -1.0),
        (meshes::cube(), 9.0),
    ] {
        let cache = FrameCache {
            meshes: vec![wave(&mesh, 7, from)],
            times_secs: times(7),
        };
        let (_dir, path, warnings) = save(&cache, &GlbOptions::default());
        assert!(warnings.is_empty(), "{warnings:?}");
        let file = Played::open(&path);
        let primitive = &file.json["meshes"][0]["primitives"][0];
        assert_eq!(
            file.floats(&file.json["animations"][0]["samplers"][0]["input"]),
            times(7)
        );
        assert_eq!(
            file.json["nodes"][0]["weights"],
            file.json["meshes"][0]["weights"]
        );
        assert_eq!(
            file.json["meshes"][0]["extras"]["targetNames"][5],
            "frame_0006"
        );
        assert_eq!(file.json["nodes"][0].get("matrix"), None);
        for (k, frame) in cache.meshes[0].frames.iter().enumerate() {
            let frame = frame.read().expect("here");
            let shown = file.at_key(primitive, "POSITION", k, 3);
            assert!(
                max_distance(&shown, &frame.positions) < 1e-6,
                "{} {k}",
                mesh.name
            );
            let shown = file.at_key(primitive, "NORMAL", k, 3);
            let expected = frame.normals.as_ref().expect("given");
            assert!(
                max_distance(&shown, expected) < 1e-6,
                "{} normals {k}",
                mesh.name
            );
        }
        let accessors = file.json["accessors"].as_array().expect("accessors");
        let target =
            &accessors[primitive["targets"][0]["POSITION"].as_u64().expect("index") as usize];
        match from {
            // A cap of the sphere moves, all of the grid, nothing of the cube.
            0.6 => assert!(
                target["sparse"].is_object() && target.get("bufferView").is_none(),
                "{target}"
            ),
            9.0 => assert!(
                target.get("sparse").is_none() && target.get("bufferView").is_none(),
                "{target}"
            ),
            _ => assert!(target["bufferView"].is_u64(), "{target}"),
        }
    }
}

#[test]
fn step_and_linear_are_written_and_bytes_repeat() {
    let mesh = meshes::tube(12, 8, 1.0, 0.1);
    let cache = FrameCache {
        meshes: vec![wave(&mesh, 4, 0.5)],
        times_secs: times(4),
    };
    for (interpolation, name) in [
        (FrameInterpolation::Step, "STEP"),
        (FrameInterpolation::Linear, "LINEAR"),
    ] {
        let options = GlbOptions {
            interpolation,
            ..GlbOptions::default()
        };
        let (_a, first, _) = save(&cache, &options);
        let (_b, second, _) = save(&cache, &options);
        assert_eq!(
            std::fs::read(&first).expect("a"),
            std::fs::read(second).expect("b")
        );
        assert_eq!(
            Played::open(&first).json["animations"][0]["samplers"][0]["interpolation"],
            name
        );
    }
}

#[test]
fn one_frame_is_a_still_mesh() {
    let mesh = meshes::cube();
    let cache = FrameCache {
        meshes: vec![wave(&mesh, 1, 0.0)],
        times_secs: vec![0.0],
    };
    let (_dir, path, _) = save(&cache, &GlbOptions::default());
    let json = Played::open(&path).json;
    assert!(
        json.get("animations").is_none() && json["meshes"][0].get("weights").is_none(),
        "{json}"
    );
    assert!(
        json["meshes"][0]["primitives"][0].get("targets").is_none(),
        "{json}"
    );
}

#[test]
fn parts_of_one_source_mesh_become_primitives() {
    let a = meshes::cube();
    let mut mesh = Mesh {
        name: "both".into(),
        ..Mesh::default()
    };
    let mut triangles = Vec::new();
    for (i, source_mesh) in [(0_u32, 4), (1, 4), (2, 7)] {
        let base = mesh.positions.len();
        triangles.extend(a.topology.triangles().iter().map(|t| t.map(|v| v + i * 24)));
        mesh.positions.extend(
            a.positions
                .iter()
                .map(|p| [p[0] + 2.0 * i as f32, p[1], p[2]]),
        );
        mesh.parts.push(MeshPart {
            name: format!("mesh {source_mesh}"),
            source_mesh,
            material: None,
            vertices: base..base + 24,
            triangles: i as usize * 12..i as usize * 12 + 12,
            flat_shaded: false,
        });
    }
    mesh.topology = Arc::new(Topology::new(72, triangles).expect("valid"));
    let cache = FrameCache {
        meshes: vec![wave(&mesh, 3, 1.0)],
        times_secs: times(3),
    };
    let (_dir, path, _) = save(&cache, &GlbOptions::default());
    let file = Played::open(&path);
    assert_eq!(file.json["meshes"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        file.json["meshes"][0]["primitives"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    assert_eq!(file.json["nodes"][1]["name"], "mesh 7");
    assert_eq!(
        file.json["animations"][0]["channels"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    let third = &file.json["meshes"][1]["primitives"][0];
    let indices = &file.json["accessors"][third["indices"].as_u64().expect("index") as usize];
    let expected: Vec<usize> = a
        .topology
        .triangles()
        .iter()
        .flatten()
        .map(|v| *v as usize)
        .collect();
    assert_eq!(file.integers(indices, 36), expected);
    let shown = file.at_key(third, "POSITION", 2, 3);
    assert!(
        max_distance(&shown, &positions(&cache, 2)[48..]) < 1e-6,
        "part 2"
    );
    // Parts that share vertices fall back to one primitive, with a warning.
    mesh.parts[1].vertices = 0..10;
    let cache = FrameCache {
        meshes: vec![wave(&mesh, 1, 1.0)],
        times_secs: times(1),
    };
    let (_dir, path, warnings) = save(&cache, &GlbOptions::default());
    assert_eq!(warnings[0].code, "parts_ignored");
    assert_eq!(
        Played::open(&path).json["meshes"].as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn bad_normals_tangents_colours_and_uvs_are_repaired() {
    let mut mesh = meshes::degenerate();
    let n = mesh.positions.len();
    mesh.uvs = vec![vec![[f32::NAN, 0.5]; n], vec![[0.1, 0.2]; n]];
    mesh.parts = vec![MeshPart {
        name: "degenerate".into(),
        source_mesh: 0,
        material: Some(0),
        vertices: 0..n,
        triangles: 0..mesh.topology.triangles().len(),
        flat_shaded: false,
    }];
    let frame = |k: usize| FrameData {
        positions: mesh.positions.clone(),
        normals: Some(vec![[0.0, 0.0, k as f32]; n]),
        tangents: Some(vec![[0.0, 0.0, 0.0, -0.3]; n]),
        colors: Some(vec![[2.0, f32::NAN, 0.1 * k as f32, 1.0]; n]),
    };
    let frames = vec![frame(0).into(), frame(1).into(), frame(3).into()];
    let cache = FrameCache {
        meshes: vec![CachedMesh {
            name: "degenerate".into(),
            mesh: &mesh,
            frames,
        }],
        times_secs: times(3),
    };
    let normal_map = json!({ "normalTexture": { "index": 0 } });
    let source = GlbSource {
        json: json!({
            "materials": [normal_map], "textures": [{ "source": 0 }],
            "images": [{ "uri": format!("data:image/png;base64,{PIXEL}") }],
        }),
        ..GlbSource::default()
    };
    let options = GlbOptions {
        source: Some(&source),
        ..GlbOptions::default()
    };
    let (_dir, path, _) = save(&cache, &options);
    let file = Played::open(&path);
    let primitive = &file.json["meshes"][0]["primitives"][0];
    let normals = file.triples(&primitive["attributes"]["NORMAL"]);
    assert_eq!(normals[9], [0.0, 1.0, 0.0], "an isolated vertex");
    assert_eq!(normals[0], [0.0, 0.0, 1.0], "the face's normal");
    assert_eq!(file.floats(&primitive["attributes"]["TANGENT"])[3], -1.0);
    assert!(
        primitive["targets"][1]["COLOR_0"].is_u64(),
        "animated colours"
    );
    // Without normals anywhere they come from the faces.
    let mut bare = cache.clone();
    for f in &mut bare.meshes[0].frames {
        let positions = f.read().expect("here").positions;
        *f = FrameData {
            positions,
            ..FrameData::default()
        }
        .into();
    }
    save(&bare, &GlbOptions::default());
}

#[test]
fn frames_on_disk_give_the_same_file_as_frames_in_memory() {
    let mesh = meshes::sphere(7, 9);
    let folder = tempfile::tempdir().expect("temp");
    let cache = FrameCache {
        meshes: vec![wave(&mesh, 5, 0.1)],
        times_secs: times(5),
    };
    let mut on_disk = cache.clone();
    let mut spool = crate::Spool::beside(&folder.path().join("x.glb")).expect("made");
    for frame in &mut on_disk.meshes[0].frames {
        let data = frame.read().expect("here");
        *frame = crate::CachedFrame::spooled(&data, &mut spool).expect("put");
    }
    let bytes = |cache: &FrameCache<'_>| {
        let (_dir, path, _) = save(cache, &GlbOptions::default());
        std::fs::read(path).expect("there")
    };
    assert_eq!(bytes(&cache), bytes(&on_disk));
}

#[test]
fn point_clouds_and_empty_meshes() {
    let cloud = Mesh::new(
        "cloud",
        Topology::new(3, Vec::new()).expect("valid"),
        vec![[1.0; 3]; 3],
    );
    let nothing = Mesh::default();
    let cache = FrameCache {
        meshes: vec![wave(&cloud, 2, 0.0), wave(&nothing, 2, 0.0)],
        times_secs: times(2),
    };
    let (_dir, path, warnings) = save(&cache, &GlbOptions::default());
    assert_eq!(warnings[0].code, "empty_mesh");
    assert_eq!(
        Played::open(&path).json["meshes"][0]["primitives"][0]["mode"],
        0
    );
}

#[test]
fn wrong_caches_are_refused_and_leave_nothing() {
    let mesh = meshes::cube();
    let good = FrameCache {
        meshes: vec![wave(&mesh, 3, 0.0)],
        times_secs: times(3),
    };
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("out.glb");
    let refuse = |change: fn(&mut FrameCache<'_>), expected: &str| {
        let mut cache = good.clone();
        change(&mut cache);
        let error = write_glb(&path, &cache, &GlbOptions::default())
            .expect_err(expected)
            .to_string();
        assert!(error.contains(expected), "{error}");
    };
    refuse(|c| c.times_secs[2] = 0.0, "time of frame 2: found 0");
    refuse(|c| c.times_secs[0] = -1.0, "time of frame 0: found -1");
    refuse(|c| c.times_secs.clear(), "frames: found none");
    refuse(
        |c| drop(c.meshes[0].frames.pop()),
        "frame count of cube: found 2, expected 3",
    );
    refuse(
        |c| change(c, |f| f.positions[5][1] = f32::NAN),
        "frame 1 of cube, vertex 5: found",
    );
    refuse(
        |c| change(c, |f| f.positions.truncate(23)),
        "frame 1 positions of cube: found 23, expected 24",
    );
    let graph = GlbOptions {
        graph: Some("[1]"),
        ..GlbOptions::default()
    };
    write_glb(&path, &good, &graph).expect_err("no object");
    assert_eq!(std::fs::read_dir(dir.path()).expect("folder").count(), 0);
}

#[test]
fn many_frames_are_written_with_a_warning() {
    let mesh = meshes::cube();
    let cache = FrameCache {
        meshes: vec![wave(&mesh, 300, 0.0)],
        times_secs: times(300),
    };
    let (_dir, path, warnings) = save(&cache, &GlbOptions::default());
    assert_eq!(warnings[0].code, "many_morph_targets");
    let file = Played::open(&path);
    let shown = file.at_key(&file.json["meshes"][0]["primitives"][0], "POSITION", 299, 3);
    assert!(
        max_distance(&shown, &positions(&cache, 299)) < 1e-6,
        "last frame"
    );
}

/// A one-pixel PNG.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[test]
fn materials_come_along_with_their_images() {
    use base64::Engine;
    let dir = tempfile::tempdir().expect("temp");
    let png = base64::engine::general_purpose::STANDARD
        .decode(PIXEL)
        .expect("PNG");
    let folder = dir.path().join("asset");
    std::fs::create_dir(&folder).expect("folder");
    std::fs::write(folder.join("a b.png"), &png).expect("image");
    std::fs::write(dir.path().join("secret.png"), &png).expect("image");
    let source = GlbSource {
        json: json!({
            "extensionsUsed": ["KHR_texture_transform", "KHR_materials_unlit", "KHR_lights_punctual"],
            "materials": [
                { "name": "unused", "normalTexture": { "index": 0 } },
                {
                    "name": "skin",
                    "pbrMetallicRoughness": {
                        "baseColorFactor": [1, 0.5, 0.5, 1],
                        "baseColorTexture": { "index": 2, "extensions": { "KHR_texture_transform": { "scale": [2, 2] } } },
                        "metallicRoughnessTexture": { "index": 3 },
                    },
                    "occlusionTexture": { "index": 1, "texCoord": 3 },
                    "emissiveTexture": { "index": 4 },
                    "extensions": { "KHR_materials_unlit": {} },
                },
            ],
            "textures": [{ "source": 9 }, { "source": 0 }, { "source": 1, "sampler": 0 }, { "source": 2 }, { "source": 3 }],
            "samplers": [{ "wrapS": 33071 }],
            "images": [
                { "uri": "../secret.png" },
                { "uri": "a%20b.png" },
                { "bufferView": 0, "mimeType": "image/png" },
                { "uri": format!("data:image/png;base64,{PIXEL}") },
            ],
            "bufferViews": [{ "buffer": 0, "byteOffset": 2, "byteLength": png.len() }],
        }),
        buffers: vec![[&[0, 0], png.as_slice()].concat().into()],
        base_dir: folder,
    };
    let mut mesh = meshes::cube();
    mesh.parts = vec![MeshPart {
        name: "cube".into(),
        source_mesh: 0,
        material: Some(1),
        vertices: 0..24,
        triangles: 0..12,
        flat_shaded: false,
    }];
    let cache = FrameCache {
        meshes: vec![wave(&mesh, 2, 0.0)],
        times_secs: times(2),
    };
    let options = GlbOptions {
        source: Some(&source),
        graph: Some(r#"{"sinew": "1.0"}"#),
        ..GlbOptions::default()
    };
    let (_dir, path, warnings) = save(&cache, &options);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let file = Played::open(&path);
    let json = &file.json;
    let material = &json["materials"][0];
    assert_eq!(
        json["materials"].as_array().map(Vec::len),
        Some(1),
        "only what is used"
    );
    assert_eq!(material["name"], "skin");
    assert!(
        material.get("occlusionTexture").is_none(),
        "there is no fourth texture coordinate set"
    );
    let used = json!([
        "KHR_materials_unlit",
        "KHR_texture_transform",
        "SINEW_graph"
    ]);
    assert_eq!(json["extensionsUsed"], used);
    assert_eq!(json["extensions"]["SINEW_graph"]["graph"]["sinew"], "1.0");
    assert_eq!(json["images"].as_array().map(Vec::len), Some(3));
    for image in json["images"].as_array().expect("images") {
        assert_eq!(file.raw(&image["bufferView"], &Value::Null), png);
    }
    // A path out of the folder is never read.
    let mut leaking = source.clone();
    leaking.json["materials"][1]["occlusionTexture"] = json!({ "index": 1 });
    let options = GlbOptions {
        source: Some(&leaking),
        ..GlbOptions::default()
    };
    let (_dir, path, warnings) = save(&cache, &options);
    assert!(
        warnings
            .iter()
            .any(|w| w.message.contains("leaves the folder")),
        "{warnings:?}"
    );
    assert_eq!(
        Played::open(&path).json["images"].as_array().map(Vec::len),
        Some(3)
    );
}

#[test]
fn a_graph_can_be_put_into_a_finished_file() {
    let mesh = meshes::cube();
    let cache = FrameCache {
        meshes: vec![wave(&mesh, 3, 0.0)],
        times_secs: times(3),
    };
    let (dir, path, _) = save(&cache, &GlbOptions::default());
    let out = dir.path().join("with.glb");
    for text in [r#"{"a": 1}"#, r#"{"b": [2.5]}"#] {
        embed_graph(&path, text, &out).expect("embedded");
        validate(&out);
        let (before, after) = (Played::open(&path), Played::open(&out));
        assert_eq!(before.binary, after.binary);
        assert_eq!(
            before.json["accessors"], after.json["accessors"],
            "numbers unchanged"
        );
        let expected: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(
            after.json["extensions"]["SINEW_graph"],
            json!({ "version": "1.0", "graph": expected })
        );
        assert_eq!(after.json["extensionsUsed"], json!(["SINEW_graph"]));
    }
    embed_graph(&out, "{}", &out).expect("in place");
    assert_eq!(
        Played::open(&out).json["extensionsUsed"],
        json!(["SINEW_graph"]),
        "once"
    );
    std::fs::write(&out, b"glTF").expect("short");
    embed_graph(&out, "{}", &dir.path().join("x.glb")).expect_err("no GLB");
}

/// A character with its real materials, several primitives and images.
#[test]
fn a_real_character_passes_the_validator() {
    let Some(data) = shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    for name in ["kaykit_knight.glb", "mh_male_ge53.glb"] {
        let file = Played::open(&data.join("characters").join(name));
        let mut mesh = Mesh {
            name: "all".into(),
            uvs: vec![Vec::new()],
            ..Mesh::default()
        };
        let mut triangles = Vec::new();
        let list = |v: &Value| v.as_array().cloned().unwrap_or_default();
        for (source_mesh, m) in list(&file.json["meshes"]).iter().enumerate() {
            for p in list(&m["primitives"]) {
                let (v0, t0) = (mesh.positions.len(), triangles.len());
                mesh.positions
                    .extend(file.triples(&p["attributes"]["POSITION"]));
                mesh.uvs[0].extend(
                    file.floats(&p["attributes"]["TEXCOORD_0"])
                        .chunks(2)
                        .map(|c| [c[0], c[1]]),
                );
                let a = &file.json["accessors"][p["indices"].as_u64().expect("indices") as usize];
                let indices = file.integers(a, a["count"].as_u64().expect("count") as usize);
                triangles.extend(
                    indices
                        .chunks(3)
                        .map(|t| [t[0], t[1], t[2]].map(|v| (v + v0) as u32)),
                );
                mesh.parts.push(MeshPart {
                    name: m["name"].as_str().unwrap_or("mesh").into(),
                    source_mesh,
                    material: p["material"].as_u64().map(|m| m as usize),
                    vertices: v0..mesh.positions.len(),
                    triangles: t0..triangles.len(),
                    flat_shaded: false,
                });
            }
        }
        mesh.topology =
            Arc::new(Topology::new(mesh.positions.len() as u32, triangles).expect("valid"));
        let source = GlbSource {
            json: file.json.clone(),
            buffers: vec![file.binary.clone().into()],
            base_dir: PathBuf::new(),
        };
        let cache = FrameCache {
            meshes: vec![wave(&mesh, 4, 0.3)],
            times_secs: times(4),
        };
        let options = GlbOptions {
            source: Some(&source),
            ..GlbOptions::default()
        };
        let (_dir, path, warnings) = save(&cache, &options);
        assert!(warnings.is_empty(), "{warnings:?}");
        let out = Played::open(&path);
        assert_eq!(
            list(&out.json["meshes"]).len(),
            list(&file.json["meshes"]).len()
        );
    }
}

/// What a vertex animation texture is played on: no vertex may be merged, left out or moved to another place.
#[test]
fn loose_triangles_keep_their_vertices() {
    for count in [10_000, 30_000] {
        let mesh = meshes::loose_triangles(count);
        let cache = FrameCache::still(&mesh);
        let (_dir, path, warnings) = save(&cache, &GlbOptions::default());
        assert!(warnings.is_empty(), "{warnings:?}");
        let file = Played::open(&path);
        assert!(file.json["skins"].is_null() && file.json["animations"].is_null());
        let primitive = &file.json["meshes"][0]["primitives"][0];
        assert!(primitive["targets"].is_null());
        let attributes = primitive["attributes"].as_object().expect("object");
        let names: Vec<&str> = attributes.keys().map(String::as_str).collect();
        assert_eq!(names, ["POSITION", "NORMAL", "TEXCOORD_0", "TEXCOORD_1"]);
        assert_eq!(file.triples(&attributes["POSITION"]), mesh.positions);
        assert_eq!(Some(file.triples(&attributes["NORMAL"])), mesh.normals);
        assert_eq!(
            file.floats(&attributes["TEXCOORD_0"]),
            *mesh.uvs[0].as_flattened()
        );
        assert_eq!(
            file.floats(&attributes["TEXCOORD_1"]),
            *mesh.uvs[1].as_flattened()
        );
        let accessor = primitive["indices"].as_u64().expect("indices") as usize;
        let vertices = 3 * count as usize;
        let indices = file.integers(&file.json["accessors"][accessor], vertices);
        assert!(indices.iter().copied().eq(0..vertices));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_taken_apart_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64), header: bool) {
        let mut all = Vec::new();
        if header {
            all.extend(*b"glTF\x02\0\0\0");
        }
        all.extend(bytes);
        let _ = read_glb_chunks(&all, Path::new("x.glb"));
    }
}

#[test]
fn parts_over_the_same_vertices_share_their_accessors() {
    let mut mesh = meshes::grid(5, 4);
    mesh.normals = None;
    let triangles = mesh.topology.triangles().len();
    let part = |range: std::ops::Range<usize>| MeshPart {
        name: "cloth".into(),
        source_mesh: 0,
        material: None,
        vertices: 0..mesh.vertex_count(),
        triangles: range,
        flat_shaded: false,
    };
    let parts: Vec<MeshPart> = (0..triangles).map(|t| part(t..t + 1)).collect();
    let whole = mesh.clone();
    mesh.parts = parts;
    let write = |mesh: &Mesh| {
        let cache = FrameCache {
            meshes: vec![wave(mesh, 4, -1.0)],
            times_secs: times(4),
        };
        let (dir, path, warnings) = save(&cache, &GlbOptions::default());
        assert!(warnings.is_empty(), "{warnings:?}");
        (dir, Played::open(&path))
    };
    let ((_a, shared), (_b, one)) = (write(&mesh), write(&whole));
    let primitives = |file: &Played| file.json["meshes"][0]["primitives"].clone();
    let all = primitives(&shared);
    let all = all.as_array().expect("a list");
    assert_eq!(all.len(), triangles);
    assert!(all.iter().all(|p| p["attributes"] == all[0]["attributes"]));
    assert!(all.iter().all(|p| p["targets"] == all[0]["targets"]));
    // Normals are those of the whole surface.
    let of = |file: &Played, name: &str| {
        let accessor = primitives(file)[0]["attributes"][name].clone();
        file.floats(&accessor)
    };
    for name in ["POSITION", "NORMAL"] {
        assert_eq!(of(&shared, name), of(&one, name), "{name}");
    }
}

/// glTF 3.7.2.1: a primitive without normals is flat, and without normals its tangents are ignored. So flat parts have neither, nor have their targets.
#[test]
fn flat_parts_have_no_normals() {
    let mut mesh = meshes::cube();
    let part = |flat_shaded, vertices, triangles| MeshPart {
        name: "cube".into(),
        source_mesh: 0,
        material: None,
        vertices,
        triangles,
        flat_shaded,
    };
    mesh.parts = vec![part(true, 0..12, 0..6), part(false, 12..24, 6..12)];
    let cache = FrameCache {
        meshes: vec![wave(&mesh, 3, 0.0)],
        times_secs: times(3),
    };
    let (_dir, path, _) = save(&cache, &GlbOptions::default());
    let read = crate::read_gltf(&path).expect("a file").asset;
    let flat: Vec<bool> = read.meshes[0].parts.iter().map(|p| p.flat_shaded).collect();
    assert_eq!(flat, [true, false]);
    let primitives = Played::open(&path).json["meshes"][0]["primitives"].clone();
    for (p, has) in [(0, false), (1, true)] {
        for what in [&primitives[p]["attributes"], &primitives[p]["targets"][0]] {
            assert!(what.get("POSITION").is_some());
            assert_eq!(what.get("NORMAL").is_some(), has, "{what}");
        }
    }
    let character = path.with_file_name("character.glb");
    let asset = Asset {
        meshes: read.meshes,
        rig: read.rig,
        ..Asset::default()
    };
    let (bytes, _) = character_glb(&character, &asset, None).expect("an asset");
    std::fs::write(&character, bytes).expect("a file");
    validate(&character);
    let primitives = Played::open(&character).json["meshes"][0]["primitives"].clone();
    for (p, has) in [(0, false), (1, true)] {
        for what in [&primitives[p]["attributes"], &primitives[p]["targets"][0]] {
            assert_eq!(what.get("NORMAL").is_some(), has, "{what}");
        }
    }
}

#[cfg(not(feature = "meshopt"))]
#[test]
fn without_meshopt_the_error_names_the_feature() {
    let options = GlbOptions {
        compression: GlbCompression::Meshopt,
        ..GlbOptions::default()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.glb");
    let cube = meshes::cube();
    let cache = FrameCache::still(&cube);
    let error = write_glb(&path, &cache, &options).expect_err("not built");
    let expected = "this build has no meshopt compression support; build `sinew-io` with the feature `meshopt`";
    assert!(error.to_string().contains(expected), "{error}");
    let document = r#"{"asset": {"version": "2.0"}, "buffers": [{"byteLength": 4, "uri": "data:;base64,AAAAAA=="}],
        "bufferViews": [{"buffer": 0, "byteLength": 4, "extensions": {"EXT_meshopt_compression": {}}}]}"#;
    let read = crate::gltf::read::read_gltf_bytes(document.into(), None, "a.gltf");
    let error = read.expect_err("not built");
    assert!(error.to_string().contains(expected), "{error}");
}
