//! The shared real and broken files, where they are.

use super::*;
use crate::read_gltf;
use sinew_testkit::shared_data;

#[test]
fn broken_files_are_refused_with_the_place() {
    let Some(data) = shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    let folder = data.join("malformed");
    for (file, location, found) in [
        ("glb_truncated_header.glb", "byte 10", "the end of the file"),
        ("glb_truncated_bin.glb", "byte 8", "4484 bytes"),
        ("glb_bad_magic.glb", "byte 0", "glXF"),
        ("glb_chunk_length_huge.glb", "byte 12", "a chunk of"),
        (
            "gltf_accessor_past_buffer.glb",
            "accessors[",
            "4096 elements",
        ),
        (
            "gltf_accessor_count_4e9.glb",
            "accessors[",
            "4000000000 elements",
        ),
        (
            "gltf_index_out_of_range.glb",
            "primitives[0].indices",
            "vertex 60000",
        ),
        (
            "gltf_nan_positions.glb",
            "attributes.POSITION",
            "NaN in element 3",
        ),
        (
            "gltf_joint_out_of_range.glb",
            "attributes.JOINTS_n",
            "joint 9",
        ),
        (
            "gltf_empty_mesh.glb",
            "meshes[0].primitives",
            "no primitives",
        ),
        ("gltf_cyclic_skeleton.glb", "children", "cycle"),
        (
            "gltf_ibm_count_mismatch.glb",
            "skins[0].inverseBindMatrices",
            "1 matrices",
        ),
        (
            "gltf_anim_times_unsorted.glb",
            "animations[0].samplers[",
            "0.5 s",
        ),
    ] {
        let e = read_gltf(&folder.join(file)).expect_err(file).to_string();
        assert!(e.contains(location) && e.contains(found), "{file}: {e}");
    }
    let valid = read_gltf(&folder.join("_valid_base.glb"))
        .expect("valid")
        .asset;
    assert!(valid.warnings.is_empty(), "{:?}", valid.warnings);
    for (file, code, count) in [
        (
            "gltf_weights_sum_0_7.glb",
            "weights_not_normalised",
            "48 vertices",
        ),
        (
            "gltf_zero_weight_vertices.glb",
            "weights_zero",
            "6 vertices",
        ),
    ] {
        let asset = read_gltf(&folder.join(file)).expect(file).asset;
        assert_eq!(asset.warnings.len(), 1, "{file}");
        assert_eq!(asset.warnings[0].code, code);
        assert!(
            asset.warnings[0].message.contains(count),
            "{:?}",
            asset.warnings
        );
        let influences = asset.meshes[0].influences.as_ref().expect("bound");
        for v in 0..influences.vertex_count() {
            let sum: f32 = influences.row(v).map(|r| r.1).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{file}: vertex {v} sums to {sum}");
        }
    }
}

#[test]
fn cesium_man_has_210_vertices_with_odd_weights() {
    let Some(data) = shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    let asset = read_gltf(&data.join("characters/cesium_man.gltf"))
        .expect("valid")
        .asset;
    assert_eq!(asset.warnings.len(), 1, "{:?}", asset.warnings);
    assert_eq!(asset.warnings[0].code, "weights_not_normalised");
    let message = &asset.warnings[0].message;
    assert!(
        message.contains("210 vertices") && message.contains("0.185"),
        "{message}"
    );
}

#[test]
fn every_character_loads() {
    let Some(data) = shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    // File, vertices, triangles, joints of skins, clips, morph targets, whether it has normals.
    for (file, vertices, triangles, joints, clips, targets, normals) in [
        (
            "characters/cesium_man_normalised.gltf",
            3273,
            4672,
            19,
            1,
            0,
            true,
        ),
        ("characters/fox.glb", 1728, 576, 24, 3, 0, false),
        ("characters/kaykit_knight.glb", 7024, 6952, 41, 76, 0, true),
        (
            "characters/mh_arm_nonmanifold.glb",
            2173,
            4205,
            53,
            1,
            0,
            true,
        ),
        (
            "characters/mh_male_default163_w8.glb",
            15066,
            27676,
            163,
            2,
            0,
            true,
        ),
        ("characters/mh_male_ge53.glb", 14517, 26756, 53, 2, 0, true),
        (
            "characters/mh_male_ge53_214k.glb",
            214_050,
            428_096,
            53,
            1,
            0,
            true,
        ),
        (
            "characters/mh_male_ge53_53k.glb",
            53514,
            107_024,
            53,
            1,
            0,
            true,
        ),
        ("characters/simple_skin.gltf", 10, 8, 2, 1, 0, false),
        (
            "hair/Ratboy_body_skinned.glb",
            12909,
            25814,
            106,
            2,
            0,
            true,
        ),
        ("morph/mh_head_morph.glb", 5490, 10220, 0, 1, 151, true),
        ("morph/morph_stress_test.gltf", 1528, 2412, 0, 3, 8, true),
        ("psd/mh_male_psd.glb", 13380, 26756, 53, 1, 8, true),
    ] {
        let file_read = read_gltf(&data.join(file)).expect(file);
        let asset = &file_read.asset;
        let sum = |f: fn(&Mesh) -> usize| asset.meshes.iter().map(f).sum::<usize>();
        assert_eq!(sum(Mesh::vertex_count), vertices, "{file}: vertices");
        assert_eq!(
            sum(|m| m.topology.triangles().len()),
            triangles,
            "{file}: triangles"
        );
        assert_eq!(sum(|m| m.morph_targets.len()), targets, "{file}: targets");
        let skin_joints: usize = file_read
            .document
            .joints_of_skin
            .iter()
            .map(ExactSizeIterator::len)
            .sum();
        assert_eq!(skin_joints, joints, "{file}: joints");
        assert_eq!(asset.clips.len(), clips, "{file}: clips");
        assert_eq!(
            asset.meshes[0].normals.is_some(),
            normals,
            "{file}: normals"
        );
        assert!(asset.warnings.is_empty(), "{file}: {:?}", asset.warnings);
        let rest = asset.rig.rest_pose();
        for m in &asset.meshes {
            let p = skinned(m, &rest);
            assert!(p.iter().flatten().all(|c| c.is_finite()), "{file}: finite");
        }
    }
    let eight = read_gltf(&data.join("characters/mh_male_default163_w8.glb"))
        .expect("valid")
        .asset;
    let influences = eight.meshes[0].influences.as_ref().expect("bound");
    let many = (0..influences.vertex_count()).filter(|&v| influences.row(v).len() > 4);
    assert_eq!(
        many.count(),
        2739,
        "vertices with more than four influences"
    );
    let (lo, hi) = eight.meshes[0].bounds().expect("vertices");
    assert!(
        (hi[1] - lo[1] - 1.75).abs() < 0.02,
        "1.75 m tall: {lo:?} {hi:?}"
    );
}

#[test]
fn golden_linear_skinning() {
    let Some(data) = shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    let asset = read_gltf(&data.join("psd/mh_male_psd.glb"))
        .expect("valid")
        .asset;
    for pose_name in ["elbow_l_140", "knee_l_130"] {
        let bytes =
            std::fs::read(data.join(format!("psd/golden/{pose_name}__lbs.f32"))).expect("golden");
        let expected: Vec<[f32; 3]> = bytemuck::pod_collect_to_vec(&bytes);
        let mut best = f64::INFINITY;
        for frame in 0..170 {
            let mut pose = asset.rig.rest_pose();
            asset
                .rig
                .evaluate(Some(&asset.clips[0]), f64::from(frame) / 30.0, &mut pose);
            pose.morph_weights.fill(0.0);
            best = best.min(sinew_testkit::max_distance(
                &skinned(&asset.meshes[0], &pose),
                &expected,
            ));
        }
        assert!(best < 1e-5, "{pose_name}: {best} m");
    }
}

#[test]
fn damaged_bytes_never_panic() {
    let Some(data) = shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    let good = std::fs::read(data.join("malformed/_valid_base.glb")).expect("file");
    for at in 0..good.len() {
        let mut cut = good.clone();
        cut.truncate(at);
        assert!(
            read_gltf_bytes(cut, None, "cut.glb").is_err(),
            "cut at {at}"
        );
        let mut bad = good.clone();
        bad[at] ^= 0x15;
        if let Ok(file) = read_gltf_bytes(bad, None, "bad.glb") {
            let finite = |m: &Mesh| m.positions.iter().flatten().all(|c| c.is_finite());
            assert!(file.asset.meshes.iter().all(finite), "byte {at}");
        }
    }
}
