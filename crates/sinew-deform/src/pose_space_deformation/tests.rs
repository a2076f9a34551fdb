//! What the tests share: a strip that follows two joints, and its shapes.

use super::*;
use crate::pose_driver::DriverValue;
use sinew_geom::{Influences, Mesh, MorphTarget, Quat, Vec3};
use sinew_testkit::meshes;

mod agreement;
mod edges;
mod node;

/// A rotation by an angle in degrees.
fn about(axis: [f64; 3], degrees: f64) -> DriverValue {
    DriverValue::rotation(Quat::from_scaled_axis(
        Vec3::from(axis).normalize() * degrees.to_radians(),
    ))
}

fn still() -> DriverValue {
    about([1.0, 0.0, 0.0], 0.0)
}

/// Numbers from -1 to 1 without a pattern.
fn noise(seed: usize) -> f32 {
    let x = (seed as f64 * 12.9898 + 4.1414).sin() * 43_758.547;
    (2.0 * (x - x.floor()) - 1.0) as f32
}

fn target(name: &str, vertices: Vec<u32>, seed: usize) -> MorphTarget {
    let deltas = |scale: f32, seed: usize| -> Vec<[f32; 3]> {
        let of_vertex = |&v: &u32| [0, 1, 2].map(|c| scale * noise(seed + 7 * v as usize + c));
        vertices.iter().map(of_vertex).collect()
    };
    MorphTarget {
        name: name.into(),
        positions: deltas(0.1, 1000 * seed),
        normals: deltas(0.4, 1000 * seed + 333),
        tangents: deltas(0.3, 1000 * seed + 666),
        vertices,
    }
}

/// A grid whose vertices go over from joint 0 to joint 1 along x; joint 2 is followed by the last row alone. Each target moves all
/// vertices but the first ten.
fn mesh(targets: &[&str]) -> Mesh {
    let mut mesh = meshes::grid(11, 6);
    let count = mesh.vertex_count() as u32;
    mesh.tangents = Some(vec![[1.0, 0.0, 0.0, -1.0]; count as usize]);
    let row = |v: u32| {
        let part = (v % 12) as f32 / 11.0;
        match v {
            v if v + 12 >= count => vec![(2, 1.0)],
            _ => vec![(0, 1.0 - part), (1, part)],
        }
    };
    let rows: Vec<Vec<(u32, f32)>> = (0..count).map(row).collect();
    let rows = rows.iter().map(Vec::as_slice);
    mesh.influences = Some(Influences::from_rows(rows, 3, 0).expect("weights").0);
    let target = |(i, name): (usize, &&str)| target(name, (10..count).collect(), i + 1);
    mesh.morph_targets = targets.iter().enumerate().map(target).collect();
    mesh
}

fn pose(name: &str, values: &[DriverValue], target: &str) -> SculptedPose {
    SculptedPose {
        name: name.into(),
        values: values.to_vec(),
        target: target.into(),
    }
}

/// The neutral pose, two of the first joint, two of the second, one of both.
fn two_joints() -> PoseSpace {
    let (x, z) = ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
    PoseSpace {
        poses: vec![
            pose("neutral", &[still(), still()], ""),
            pose("bent", &[about(z, 70.0), still()], "a"),
            pose("more", &[about(z, 140.0), still()], "b"),
            pose("turned", &[still(), about(x, 60.0)], "c"),
            pose("far", &[still(), about(x, 120.0)], "d"),
            pose("both", &[about(z, 90.0), about(x, 90.0)], "e"),
        ],
        ..PoseSpace::default()
    }
}

const TARGETS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Joints of the mesh as driver joints.
fn joints(count: u32) -> Vec<Vec<u32>> {
    (0..count).map(|j| vec![j]).collect()
}

fn bound(mesh: &Mesh, space: &PoseSpace) -> PoseSpaceBind {
    let count = space.poses[0].values.len() as u32;
    PoseSpaceBind::new(mesh, space, &joints(count)).unwrap_or_else(|e| panic!("{e}"))
}

#[derive(Debug, PartialEq)]
struct Moved {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    tangents: Vec<[f32; 4]>,
}

impl Moved {
    fn nowhere(count: usize) -> Self {
        Self {
            positions: vec![[9.0; 3]; count],
            normals: vec![[9.0; 3]; count],
            tangents: vec![[9.0; 4]; count],
        }
    }
    fn view(&mut self) -> MeshViewMut<'_> {
        MeshViewMut {
            positions: Some(&mut self.positions),
            normals: Some(&mut self.normals),
            tangents: Some(&mut self.tangents),
            colors: None,
        }
    }
}

fn view(mesh: &Mesh) -> MeshView<'_> {
    MeshView {
        positions: &mesh.positions,
        normals: mesh.normals.as_deref(),
        tangents: mesh.tangents.as_deref(),
        colors: None,
        ..MeshView::default()
    }
}

fn run_with(
    mesh: &Mesh,
    bind: &PoseSpaceBind,
    values: &[DriverValue],
    weight: MaskWeight<'_>,
    par: Par,
) -> Moved {
    let mut out = Moved::nowhere(mesh.vertex_count());
    PoseSpaceJob {
        bind,
        values,
        weight,
        scratch: &mut PoseSpaceScratch::new(bind),
        input: view(mesh),
        output: out.view(),
        par,
    }
    .run();
    out
}

fn run(mesh: &Mesh, bind: &PoseSpaceBind, values: &[DriverValue]) -> Moved {
    run_with(mesh, bind, values, MaskWeight::ONE, Par::Seq)
}

/// Moments along a path that comes by no pose.
fn moments(joints: usize) -> Vec<Vec<DriverValue>> {
    let value = |i: usize, joint: usize| {
        let n = |k: usize| f64::from(noise(31 * i + 7 * joint + k));
        about([n(1), n(2), n(3) + 1.5], 170.0 * n(4))
    };
    let moment = |i| (0..joints).map(|joint| value(i, joint)).collect();
    (0..24).map(moment).collect()
}

fn worst<const N: usize>(a: &[[f32; N]], b: &[[f32; N]]) -> f32 {
    assert_eq!(a.len(), b.len());
    let pairs = a.as_flattened().iter().zip(b.as_flattened());
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}
