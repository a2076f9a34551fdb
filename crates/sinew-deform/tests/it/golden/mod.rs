//! Against vertices that Blender 5.0.1 evaluated: Armature, with and without "preserve volume", and Corrective Smooth.

#![allow(clippy::print_stdout, reason = "a skip is said aloud")]

mod delta_mush;
mod glb;

use glb::Glb;
use serde_json::Value;
use sinew_deform::skin::{SkinBind, SkinJob, SkinMethod, SkinScratch};
use sinew_deform::{MeshView, MeshViewMut, Par};
use sinew_geom::Mesh;
use std::path::Path;

fn golden_positions(path: &Path) -> Vec<[f32; 3]> {
    let bytes = std::fs::read(path).expect("golden file");
    let floats: Vec<f32> = bytes
        .as_chunks()
        .0
        .iter()
        .map(|b| f32::from_le_bytes(*b))
        .collect();
    floats.as_chunks().0.to_vec()
}

/// A pose of the golden character.
struct Golden {
    name: String,
    /// Our skinning.
    skinned: Vec<[f32; 3]>,
    /// Blender's vertices, by the file's suffix.
    expected: Vec<Vec<[f32; 3]>>,
}

/// The mesh at rest and all poses, or `None` where there is no shared data.
fn poses(method: SkinMethod, suffixes: &[&str]) -> Option<(Mesh, Vec<Golden>)> {
    let Some(data) = sinew_testkit::shared_data() else {
        println!("skipped: no shared data");
        return None;
    };
    let glb = Glb::open(&data.join("psd/mh_male_psd.glb"));
    let (rig, new_of) = glb.rig();
    let clip = glb.clip("psd_poses", &new_of);
    let mesh = glb.mesh(rig.joints().len());
    let bind = SkinBind::new(&mesh, &rig, method).expect("binds");
    let mut scratch = SkinScratch::new(&bind);
    let golden = data.join("psd/golden");
    let text = std::fs::read_to_string(golden.join("golden.json")).expect("golden.json");
    let listed: Value = serde_json::from_str(&text).expect("JSON");
    let mut pose = rig.rest_pose();
    let mut evaluate = |p: &Value| {
        // Frames are 1/30 s apart; the listed times are rounded.
        let time = p["frame"].as_f64().expect("frame") / 30.0;
        rig.evaluate(Some(&clip), time, &mut pose);
        let mut skinned = mesh.positions.clone();
        SkinJob {
            bind: &bind,
            palette: &pose.palette,
            dual_quaternion_blend: 1.0,
            dual_quaternion_mask: None,
            input: MeshView {
                positions: &mesh.positions,
                ..MeshView::default()
            },
            output: MeshViewMut {
                positions: Some(&mut skinned),
                ..MeshViewMut::default()
            },
            scratch: &mut scratch,
            par: Par::Seq,
        }
        .run();
        let name = p["pose"].as_str().expect("name").to_owned();
        let file = |suffix: &&str| golden_positions(&golden.join(format!("{name}__{suffix}.f32")));
        Golden {
            skinned,
            expected: suffixes.iter().map(file).collect(),
            name,
        }
    };
    let all = listed["poses"].as_array().expect("poses");
    let all = all.iter().map(&mut evaluate).collect();
    Some((mesh, all))
}

fn worst(method: SkinMethod, suffix: &str) -> Option<f64> {
    let (_, poses) = poses(method, &[suffix])?;
    let far = poses.iter().map(|p| {
        let d = sinew_testkit::max_distance(&p.skinned, &p.expected[0]);
        println!("{} {suffix}: {d:.2e} m", p.name);
        d
    });
    Some(far.fold(0.0, f64::max))
}

#[test]
fn linear_matches_blender() {
    if let Some(d) = worst(SkinMethod::Linear, "lbs") {
        assert!(d < 2e-5, "{d} m apart");
    }
}

#[test]
fn dual_quaternion_matches_blender() {
    if let Some(d) = worst(SkinMethod::DualQuaternion, "dqs") {
        assert!(d < 2e-5, "{d} m apart");
    }
}
