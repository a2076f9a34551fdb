//! Compressed and quantised versions of real files, made by gltfpack where `SINEW_GLTFPACK` names its `cli.js`.

use super::*;
use crate::read_gltf;
use std::process::Command;

/// Largest distance from every tenth point of `a` to the nearest of `b`.
fn distance_to(a: &[[f32; 3]], b: &[[f32; 3]]) -> f32 {
    let mut b = b.to_vec();
    b.sort_by(|p, q| p[0].total_cmp(&q[0]));
    let squared = |p: &[f32; 3], q: &[f32; 3]| (0..3).map(|c| (p[c] - q[c]).powi(2)).sum::<f32>();
    // To both sides along x, as far as that alone is nearer than the best.
    let nearest = |p: &[f32; 3]| {
        let (left, right) = b.split_at(b.partition_point(|q| q[0] < p[0]));
        let from = |best: f32, side: &mut dyn Iterator<Item = &[f32; 3]>| {
            let mut best = best;
            for q in side {
                if (q[0] - p[0]).powi(2) >= best {
                    break;
                }
                best = best.min(squared(p, q));
            }
            best
        };
        let best = from(f32::INFINITY, &mut right.iter());
        from(best, &mut left.iter().rev())
    };
    let all = a.iter().step_by(10).map(nearest);
    all.fold(0.0, f32::max).sqrt()
}

/// At `time` of the clip, or at rest.
fn all_skinned(asset: &sinew_geom::Asset, clip: &str, time: Option<f64>) -> Vec<[f32; 3]> {
    let mut pose = asset.rig.rest_pose();
    let clip = asset.find_clip(Some(clip));
    assert!(clip.is_some(), "the clip is kept");
    if let Some(time) = time {
        asset.rig.evaluate(clip, time, &mut pose);
    }
    asset
        .meshes
        .iter()
        .flat_map(|m| skinned(m, &pose))
        .collect()
}

#[test]
fn compressed_files_agree_with_their_sources() {
    let (Some(data), Some(cli)) = (
        sinew_testkit::shared_data(),
        std::env::var_os("SINEW_GLTFPACK"),
    ) else {
        println!("skipped: no shared data or no SINEW_GLTFPACK");
        return;
    };
    let folder = tempfile::tempdir().expect("folder");
    for (file, clip, times) in [
        (
            "characters/mh_male_ge53.glb",
            "bend_test",
            [0.0, 0.7, 1.7, 2.7],
        ),
        ("characters/fox.glb", "Run", [0.0, 0.2, 0.4, 0.8]),
        (
            "morph/morph_stress_test.gltf",
            "Individuals",
            [0.5, 2.0, 5.0, 9.0],
        ),
    ] {
        let source = read_gltf(&data.join(file)).expect("valid").asset;
        // Positions have 14 bits or more, so at rest the error is below 2^-14 of the extent on each axis. Weights have
        // 8 bits even where positions stay floats: posed, a vertex is off by up to a part in 255 of its motion.
        for (options, at_rest) in [
            (&["-noq", "-c"][..], 1e-6),
            (&["-c"], 2e-4),
            (&["-cc"], 2e-4),
            (&["-cc", "-vpf"], 2e-4),
            (&["-vp", "16"], 5e-5),
        ] {
            let out = folder.path().join("out.glb");
            let status = Command::new("node")
                .arg(&cli)
                .arg("-i")
                .arg(data.join(file))
                .arg("-o")
                .arg(&out)
                .args(["-kn", "-at", "24", "-ar", "16", "-as", "24", "-af", "0"])
                .args(options)
                .output()
                .expect("node runs");
            assert!(
                status.status.success(),
                "{}",
                String::from_utf8_lossy(&status.stderr)
            );
            let packed = read_gltf(&out).expect("valid").asset;
            for time in std::iter::once(None).chain(times.map(Some)) {
                let (a, b) = (
                    all_skinned(&source, clip, time),
                    all_skinned(&packed, clip, time),
                );
                let size = source.meshes[0].diagonal();
                let error = distance_to(&a, &b).max(distance_to(&b, &a)) / size;
                let allowed = if time.is_none() { at_rest } else { 2e-3 };
                println!("{file} {options:?} at {time:?}: {error:e} of the diagonal");
                assert!(error < allowed, "{file} {options:?} at {time:?}: {error}");
            }
        }
    }
}

#[test]
fn compressed_counts_are_checked_against_the_stream() {
    for (mode, stride, count) in [
        ("ATTRIBUTES", 12, 1_000_000_u64),
        ("TRIANGLES", 4, 3_000_000),
        ("INDICES", 2, 1_000_000),
        ("ATTRIBUTES", 10, 3),
        ("TRIANGLES", 4, 4),
        ("INDICES", 3, 4),
        ("OTHER", 4, 4),
        ("ATTRIBUTES", 12, 3),
    ] {
        let mut b = Builder::triangle();
        b.json["bufferViews"][0] = json!({"buffer": 0, "byteLength": stride * count, "extensions": {
            "EXT_meshopt_compression": {"buffer": 0, "byteLength": 36, "byteStride": stride, "count": count,
                "mode": mode}}});
        let e = b.error();
        assert!(
            e.contains("bufferViews[0].extensions.EXT_meshopt_compression"),
            "{mode} {stride} {count}: {e}"
        );
    }
}

#[test]
fn compressed_views_decode_to_what_was_encoded() {
    let positions = [[0.0_f32, 0.0, 0.0], [1.0, 0.0, 0.5], [0.25, 1.0, -2.0]];
    let encoded = meshopt::encode_vertex_buffer(&positions).expect("encodes");
    for name in ["EXT_meshopt_compression", "KHR_meshopt_compression"] {
        let mut b = Builder::triangle();
        b.view(&encoded, None);
        let offset = b.json["bufferViews"][1]["byteOffset"].clone();
        b.json["bufferViews"][0] = json!({"buffer": 0, "byteLength": 36, "extensions": {
            name: {"buffer": 0, "byteOffset": offset, "byteLength": encoded.len(), "byteStride": 12,
                "count": 3, "mode": "ATTRIBUTES"}}});
        assert_eq!(b.mesh().positions, positions, "{name}");
    }
}
