//! Files that no exporter of ours makes, against the formulas of the FBX SDK.

mod animation;
mod file;
mod hostile;
mod looks;
mod meshes;
mod transforms;

use crate::{GltfFile, read_fbx_bytes};
use file::{File, property};
use sinew_geom::{Affine, Asset, Clip, Mat3, Mesh, Quat, Vec3};

/// Reads a file as text and as binary, which must give the same.
fn read(file: &File) -> GltfFile {
    let [text, binary] = [file.ascii(), file.binary()]
        .map(|bytes| read_fbx_bytes(&bytes, None, "a.fbx").expect("valid"));
    assert_eq!(text.asset.rig, binary.asset.rig);
    assert_eq!(text.asset.clips, binary.asset.clips);
    for (a, b) in text.asset.meshes.iter().zip(&binary.asset.meshes) {
        assert_eq!(a.positions, b.positions);
        assert_eq!(a.topology, b.topology);
    }
    binary
}

fn codes(asset: &Asset) -> Vec<&str> {
    asset.warnings.iter().map(|w| w.code).collect()
}

/// Scene transform of a node at a time of a clip.
fn placed(asset: &Asset, clip: Option<&Clip>, time: f64, name: &str) -> Affine<f64> {
    let node = asset.rig.nodes().iter().position(|n| n.name == name);
    let mut pose = asset.rig.rest_pose();
    asset.rig.evaluate(clip, time, &mut pose);
    pose.scene_from_node[node.expect("a node")]
}

/// Vertices of a mesh at a time of a clip: morph targets, then linear skinning, in double precision.
fn deformed(asset: &Asset, mesh: &Mesh, clip: Option<&Clip>, time: f64) -> Vec<Vec3<f64>> {
    let mut pose = asset.rig.rest_pose();
    asset.rig.evaluate(clip, time, &mut pose);
    let vec3 = |p: &[f32; 3]| Vec3::from(p.map(f64::from));
    let mut points: Vec<Vec3<f64>> = mesh.positions.iter().map(vec3).collect();
    for (k, target) in mesh.morph_targets.iter().enumerate() {
        let weight = f64::from(pose.morph_weights[mesh.morph_weight_index(k)]);
        for (v, d) in target.vertices.iter().zip(&target.positions) {
            points[*v as usize] += vec3(d) * weight;
        }
    }
    let influences = mesh.influences.as_ref().expect("every mesh has some");
    let joints = asset.rig.joints();
    let moved = |(v, p): (usize, &Vec3<f64>)| {
        let of_joint = |(j, w): (u32, f32)| {
            let joint = &joints[j as usize];
            (pose.scene_from_node[joint.node] * joint.joint_from_bind).point(*p) * f64::from(w)
        };
        influences.row(v).map(of_joint).sum()
    };
    points.iter().enumerate().map(moved).collect()
}

fn assert_close(a: &Affine<f64>, b: &Affine<f64>, tolerance: f64, what: &str) {
    let off = (a.linear - b.linear).norm() + (a.translation - b.translation).norm();
    assert!(
        off <= tolerance,
        "{what}: off by {off}: {a:?}, expected {b:?}"
    );
}

/// Rotation by degrees about the axes, in an order of the FBX SDK: `XYZ` rotates about X first.
fn euler(degrees: [f64; 3], order: &str) -> Mat3<f64> {
    let about = |axis: char| {
        let k = "XYZ".find(axis).expect("an axis");
        let mut unit = Vec3::zeros();
        unit[k] = 1.0;
        let unit = nalgebra::Unit::new_normalize(unit);
        Quat::from_axis_angle(&unit, degrees[k].to_radians())
            .to_rotation_matrix()
            .into_inner()
    };
    order
        .chars()
        .fold(Mat3::identity(), |m, axis| about(axis) * m)
}

use sinew_geom::nalgebra;

fn shift(by: [f64; 3]) -> Affine<f64> {
    Affine {
        linear: Mat3::identity(),
        translation: by.into(),
    }
}

fn linear(linear: Mat3<f64>) -> Affine<f64> {
    Affine {
        linear,
        translation: Vec3::zeros(),
    }
}

fn scale(by: [f64; 3]) -> Mat3<f64> {
    Mat3::from_diagonal(&by.into())
}

fn vector(name: &str, v: [f64; 3]) -> file::Record {
    let kind = if name.starts_with("Lcl") {
        name
    } else {
        "Vector3D"
    };
    property(name, kind, &v)
}

/// A triangle.
const TRIANGLE: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
