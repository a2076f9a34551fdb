//! Quantised and meshopt-compressed files, read back with our reader and held against the closed-form bounds of rounding.

use super::*;

const BOTH: [GlbCompression; 2] = [GlbCompression::Quantize, GlbCompression::Meshopt];

fn options(compression: GlbCompression) -> GlbOptions<'static> {
    GlbOptions {
        compression,
        ..GlbOptions::default()
    }
}

/// The largest distance of a position that rounding allows, in metres.
fn bound(compression: GlbCompression, frames: &[Vec<[f32; 3]>]) -> f64 {
    let along = |f: &[[f32; 3]], c: usize| {
        let low = f.iter().map(|p| p[c]).fold(f32::INFINITY, f32::min);
        let high = f.iter().map(|p| p[c]).fold(f32::NEG_INFINITY, f32::max);
        f64::from(high) - f64::from(low)
    };
    let side = |f: &Vec<[f32; 3]>| (0..3).map(|c| along(f, c)).fold(0.0, f64::max);
    let far = frames.iter().flatten().flatten();
    let far = far.fold(0.0_f64, |m, c| m.max(f64::from(c.abs())));
    let ways = frames.iter().flat_map(|f| f.iter().zip(&frames[0]));
    let ways = ways.flat_map(|(a, b)| (0..3).map(move |c| f64::from((a[c] - b[c]).abs())));
    let way = ways.fold(0.0, f64::max);
    let step = match compression {
        GlbCompression::None => 0.0,
        GlbCompression::Quantize => (side(&frames[0]) / 2.0).max(way) / 32_766.0,
        GlbCompression::Meshopt => {
            let side = frames.iter().map(side).fold(0.0, f64::max);
            let side = if side > 0.0 { side } else { way };
            (side / 16_384.0).max(far.max(way) * 2.0 / 8_388_607.0)
        }
    };
    // Half a step along each axis, and the float rounding of both sides.
    3.0_f64.sqrt() / 2.0 * step * 1.0001 + far * 4e-7
}

/// Writes frames, reads them back, and compares positions and normals of each frame.
fn round_trip(mesh: &Mesh, frames: &[Vec<[f32; 3]>], compression: GlbCompression) -> GlbWritten {
    let normals = |positions: &Vec<[f32; 3]>| {
        let moved = positions.iter().zip(&frames[0]);
        let tilted = moved.map(|(p, q)| [p[1] - q[0] + 0.1, q[2] - p[0], 0.5 - p[2] * q[1]]);
        let unit = tilted.map(|n| crate::surface::unit(n).unwrap_or([0.0, 1.0, 0.0]));
        unit.collect::<Vec<_>>()
    };
    let cached = frames.iter().map(|f| {
        FrameData {
            positions: f.clone(),
            normals: Some(normals(f)),
            ..FrameData::default()
        }
        .into()
    });
    let cache = FrameCache {
        meshes: vec![CachedMesh {
            name: "mesh".into(),
            mesh,
            frames: cached.collect(),
        }],
        times_secs: times(frames.len()),
    };
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("out.glb");
    let written = write_glb(&path, &cache, &options(compression)).expect("written");
    let read = crate::read_gltf(&path).expect("reads").asset;
    let read = &read.meshes[0];
    let allowed = bound(compression, frames);
    assert!(
        written.error_metres <= allowed,
        "{compression:?}: {written:?}, {allowed}"
    );
    for (k, frame) in frames.iter().enumerate() {
        let mut shown = read.positions.clone();
        let mut lit = read.normals.clone().expect("normals");
        if let Some(target) = k.checked_sub(1).map(|t| &read.morph_targets[t]) {
            for (i, v) in target.vertices.iter().enumerate() {
                for c in 0..3 {
                    shown[*v as usize][c] += target.positions[i][c];
                    lit[*v as usize][c] += target.normals[i][c];
                }
            }
        }
        let off = max_distance(&shown, frame);
        assert!(
            off <= written.error_metres,
            "{compression:?} {k}: {off}, {written:?}"
        );
        let lit: Vec<[f32; 3]> = lit
            .iter()
            .map(|n| crate::surface::unit(*n).expect("a direction"))
            .collect();
        let off = max_distance(&lit, &normals(frame));
        // 0.5 degrees; our reader normalises the directions of frame 0.
        assert!(
            off < 0.00873,
            "{compression:?}: normals of frame {k} are {off} rad off"
        );
    }
    written
}

fn moved(mesh: &Mesh, by: impl Fn(usize, [f32; 3]) -> [f32; 3]) -> Vec<Vec<[f32; 3]>> {
    let frame = |k: usize| mesh.positions.iter().map(|p| by(k, *p)).collect();
    (0..4).map(frame).collect()
}

#[test]
fn positions_come_back_within_half_a_step() {
    let sphere = meshes::sphere(9, 12);
    let flat = meshes::grid(5, 4);
    // Of no extent.
    let point = Topology::new(3, vec![[0, 1, 2]]).expect("valid");
    let point = Mesh::new("point", point, vec![[3.0, 4.0, 5.0]; 3]);
    for compression in BOTH {
        for mesh in [&sphere, &flat, &point] {
            let wave = moved(mesh, |k, p| {
                [p[0], p[1] + (k as f32 * p[0]).sin() * 0.3, p[2]]
            });
            round_trip(mesh, &wave, compression);
            round_trip(mesh, &wave[..1], compression);
            let still = moved(mesh, |_, p| p);
            round_trip(mesh, &still, compression);
            // A character far from the origin, and one that goes there.
            round_trip(
                mesh,
                &moved(mesh, |k, p| [p[0] + 5_000.0, p[1] + k as f32 * 0.1, p[2]]),
                compression,
            );
            let gone = moved(mesh, |k, p| [p[0] + 200.0 * k as f32, p[1], p[2]]);
            let written = round_trip(mesh, &gone, compression);
            let coarse = written
                .warnings
                .iter()
                .any(|w| w.code == "coarse_positions");
            assert_eq!(
                coarse,
                compression == GlbCompression::Quantize,
                "{written:?}"
            );
        }
        // Turned around: normals of the opposite direction are beyond the range of normalised integers.
        round_trip(
            &sphere,
            &moved(&sphere, |k, p| if k == 2 { p.map(|c| -c) } else { p }),
            compression,
        );
    }
}

#[test]
fn compressed_files_are_valid_and_smaller() {
    let mut mesh = meshes::sphere(40, 60);
    mesh.uvs = vec![
        mesh.positions
            .iter()
            .map(|p| [p[0] * 0.4 + 0.5, p[1] * 0.4 + 0.5])
            .collect(),
    ];
    mesh.colors = vec![
        mesh.positions
            .iter()
            .map(|p| [p[0].abs(), p[1].abs(), 0.5, 1.0])
            .collect(),
    ];
    let cache = FrameCache {
        meshes: vec![wave(&mesh, 12, -0.2)],
        times_secs: times(12),
    };
    let size = |compression| {
        let (_dir, path, _) = save(&cache, &options(compression));
        (
            std::fs::metadata(&path).expect("there").len(),
            Played::open(&path).json,
        )
    };
    let (plain, _) = size(GlbCompression::None);
    let (quantized, json) = size(GlbCompression::Quantize);
    assert!(quantized * 10 < plain * 7, "{quantized} of {plain} bytes");
    assert_eq!(json["extensionsRequired"], json!(["KHR_mesh_quantization"]));
    let primitive = &json["meshes"][0]["primitives"][0];
    for (name, kind) in [
        ("POSITION", 5122),
        ("NORMAL", 5122),
        ("TEXCOORD_0", 5123),
        ("COLOR_0", 5123),
    ] {
        let accessor = primitive["attributes"][name].as_u64().expect("written") as usize;
        assert_eq!(json["accessors"][accessor]["componentType"], kind, "{name}");
    }
    let (streams, json) = size(GlbCompression::Meshopt);
    assert!(streams * 5 < plain * 2, "{streams} of {plain} bytes");
    assert_eq!(
        json["extensionsRequired"],
        json!(["EXT_meshopt_compression"])
    );
    assert_eq!(
        json["buffers"][1]["extensions"]["EXT_meshopt_compression"]["fallback"],
        true
    );
    assert!(json["nodes"][0].get("scale").is_none());
}

#[test]
fn tangents_are_written_for_materials_that_read_them() {
    let mut mesh = meshes::cube();
    mesh.uvs = vec![vec![[0.5, 0.5]; 24]];
    let normal_map = json!({ "normalTexture": { "index": 0 } });
    let coat = json!({ "extensions": { "KHR_materials_clearcoat": { "clearcoatNormalTexture": { "index": 0 } } } });
    let aniso =
        json!({ "extensions": { "KHR_materials_anisotropy": { "anisotropyStrength": 0.5 } } });
    let skin = json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } });
    for (material, reads) in [
        (normal_map, true),
        (coat, true),
        (aniso, true),
        (skin, false),
    ] {
        let source = GlbSource {
            json: json!({
                "materials": [material], "textures": [{ "source": 0 }],
                "images": [{ "uri": format!("data:image/png;base64,{PIXEL}") }],
            }),
            ..GlbSource::default()
        };
        mesh.parts = vec![MeshPart {
            name: "cube".into(),
            source_mesh: 0,
            material: Some(0),
            vertices: 0..24,
            triangles: 0..12,
            flat_shaded: false,
        }];
        let mut cached = wave(&mesh, 3, -2.0);
        for frame in &mut cached.frames {
            let mut data = frame.read().expect("here");
            data.tangents = Some(vec![[1.0, 0.0, 0.0, 1.0]; 24]);
            *frame = data.into();
        }
        let cache = FrameCache {
            meshes: vec![cached],
            times_secs: times(3),
        };
        for compression in [GlbCompression::None, GlbCompression::Quantize] {
            let glb = GlbOptions {
                source: Some(&source),
                clip: "wave",
                ..options(compression)
            };
            let (_dir, path, _) = save(&cache, &glb);
            let json = Played::open(&path).json;
            let primitive = &json["meshes"][0]["primitives"][0];
            assert_eq!(
                primitive["attributes"].get("TANGENT").is_some(),
                reads,
                "{primitive}"
            );
            assert_eq!(json["animations"][0]["name"], "wave");
        }
    }
}

/// A normal that turns to the far side of its axes leaves a short sum: what a reader adds that normalises frame 0 counts for more there.
#[test]
fn normals_that_turn_round_stay_within_half_a_degree() {
    let positions = [
        [-0.646_378_16, 0.095_463_85, 0.842_941_94],
        [0.0; 3],
        [-0.298_370_24, 0.0, 0.0],
    ];
    let positions = positions.map(|p: [f32; 3]| p.map(|c| c * 1024.0)).to_vec();
    let topology = Topology::new(3, vec![[0, 1, 2]]).expect("valid");
    let mesh = Mesh::new("soup", topology, positions);
    let way = [-1.180_032_6, 1.917_860_7, -1.365_933_2];
    let frames = moved(&mesh, |k, p| match k {
        0 => p,
        1 | 2 => [0.0; 3],
        _ => std::array::from_fn(|c| p[c] * way[c] + way[(c + 1) % 3] * 1024.0),
    });
    round_trip(&mesh, &frames, GlbCompression::Quantize);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_mesh_comes_back_within_half_a_step(
        positions in prop::collection::vec(prop::array::uniform3(-1.0_f32..1.0), 3..40),
        exponent in -6_i32..7,
        ways in prop::array::uniform3(prop::array::uniform3(-2.0_f32..2.0)),
        quantize: bool,
    ) {
        let size = 4.0_f32.powi(exponent);
        let count = positions.len() as u32;
        let triangles = (0..count - 2).map(|v| [v, v + 1, v + 2]).collect();
        let positions: Vec<[f32; 3]> = positions.iter().map(|p| p.map(|c| c * size)).collect();
        let mesh = Mesh::new("soup", Topology::new(count, triangles).expect("valid"), positions);
        let frames = moved(&mesh, |k, p| match k {
            0 => p,
            _ => std::array::from_fn(|c| p[c] * ways[k - 1][c] + ways[k - 1][(c + 1) % 3] * size),
        });
        let compression = if quantize { GlbCompression::Quantize } else { GlbCompression::Meshopt };
        round_trip(&mesh, &frames, compression);
    }
}
