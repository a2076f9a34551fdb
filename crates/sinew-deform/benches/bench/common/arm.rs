//! A closed tube with wrinkles and rounded ends, four bones, four influences a vertex.

use sinew_geom::{
    Affine, Influences, Joint, LocalTransform, Mat3, Mesh, Node, PackedAffine, Quat, Rig, Topology,
    Vec3,
};
use std::f64::consts::TAU;

/// Where the bones begin.
const HEADS: [f64; 4] = [0.0, 0.30, 0.45, 0.58];
const LENGTH: f64 = 0.70;

/// Points around and rings, by the name of a size.
pub(crate) const SIZES: [(&str, u32, u32); 3] =
    [("5k", 50, 100), ("50k", 160, 312), ("500k", 500, 1000)];

/// Quads cut in alternating directions, so that vertices have 4 to 8 neighbours; vertices in ring order.
pub(crate) fn arm(around: u32, rings: u32) -> Mesh {
    let (mut positions, mut normals, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..rings {
        let s = (f64::from(i) + 0.5) / f64::from(rings) * LENGTH;
        let end = (s.min(LENGTH - s) / 0.05).min(1.0);
        let cap = (1.0 - (1.0 - end).powi(2)).max(1e-6).sqrt();
        for j in 0..around {
            let a = f64::from(j) / f64::from(around) * TAU;
            let wrinkle = 0.03 * (3.0 * a - 40.0 * s).sin() + 0.008 * (11.0 * a + 130.0 * s).sin();
            let r = 0.05 * cap * (1.0 + 0.06 * (2.0 * a + 5.0 * s).cos() + wrinkle);
            positions.push([s, r * a.cos(), r * a.sin()].map(|x| x as f32));
            normals.push([0.0, a.cos(), a.sin()].map(|x| x as f32));
            rows.push(weights(s));
        }
    }
    for s in [0.0, LENGTH] {
        positions.push([s as f32, 0.0, 0.0]);
        normals.push([if s > 0.0 { 1.0 } else { -1.0 }, 0.0, 0.0]);
        rows.push(weights(s));
    }
    let topology = Topology::new(positions.len() as u32, triangles(around, rings));
    let mut mesh = Mesh::new("arm", topology.expect("in range"), positions);
    mesh.tangents = Some(vec![[1.0, 0.0, 0.0, 1.0]; normals.len()]);
    mesh.normals = Some(normals);
    let cleaned = Influences::from_rows(rows.iter().map(Vec::as_slice), HEADS.len(), 0);
    mesh.influences = Some(cleaned.expect("valid").0);
    mesh
}

fn triangles(around: u32, rings: u32) -> Vec<[u32; 3]> {
    let poles = [around * rings, around * rings + 1];
    let mut triangles = Vec::new();
    for i in 0..rings - 1 {
        for j in 0..around {
            let (a, b) = (i * around + j, i * around + (j + 1) % around);
            let (c, d) = (b + around, a + around);
            if (i + j) % 2 == 0 {
                triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    for j in 0..around {
        let (a, b) = (j, (j + 1) % around);
        let last = (rings - 1) * around;
        triangles.extend([[poles[0], b, a], [poles[1], last + a, last + b]]);
    }
    triangles
}

/// Weights by distance to the four bones, as in a smooth automatic bind.
fn weights(s: f64) -> Vec<(u32, f32)> {
    let tails = [HEADS[1], HEADS[2], HEADS[3], LENGTH];
    (0..HEADS.len())
        .map(|j| {
            let d = (HEADS[j] - s).max(s - tails[j]).max(0.0);
            (j as u32, (1e-6 / (d * d + 9e-4).powi(2)) as f32)
        })
        .collect()
}

/// The same mesh with its vertices in an order without neighbourhood: what caches like least.
pub(crate) fn shuffled(mesh: &Mesh) -> Mesh {
    let n = mesh.vertex_count();
    let mut order: Vec<usize> = (0..n).collect();
    let mut seed = 1_u64;
    for i in (1..n).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        order.swap(i, (seed >> 33) as usize % (i + 1));
    }
    let mut place = vec![0_u32; n];
    for (new, &old) in order.iter().enumerate() {
        place[old] = new as u32;
    }
    let triangles = mesh.topology.triangles().iter();
    let triangles = triangles.map(|t| t.map(|v| place[v as usize])).collect();
    let topology = Topology::new(n as u32, triangles).expect("in range");
    let positions = order.iter().map(|&v| mesh.positions[v]).collect();
    let mut out = Mesh::new("arm, shuffled", topology, positions);
    let normals = mesh.normals.as_ref().expect("has normals");
    out.normals = Some(order.iter().map(|&v| normals[v]).collect());
    out.tangents.clone_from(&mesh.tangents);
    let influences = mesh.influences.as_ref().expect("bound");
    let rows: Vec<Vec<_>> = order.iter().map(|&v| influences.row(v).collect()).collect();
    let cleaned = Influences::from_rows(rows.iter().map(Vec::as_slice), HEADS.len(), 0);
    out.influences = Some(cleaned.expect("valid").0);
    out
}

/// Four joints in a row.
pub(crate) fn rig() -> Rig {
    let nodes = (0..HEADS.len()).map(|j| Node {
        name: format!("bone_{j}"),
        parent: None,
        local: LocalTransform::Matrix(Affine::identity()),
        morph_weights: Vec::new(),
        morph_offset: 0,
    });
    let joints = (0..HEADS.len()).map(|node| Joint {
        node,
        joint_from_bind: Affine {
            linear: Mat3::identity(),
            translation: Vec3::new(-HEADS[node], 0.0, 0.0),
        },
    });
    Rig::new(nodes.collect(), joints.collect()).expect("valid")
}

/// Skinning matrices of a bent and twisted arm, each joint scaled by `scale`.
pub(crate) fn palette(scale: f64) -> Vec<PackedAffine> {
    let mut m = Affine::<f64>::identity();
    let joint = |(j, &x): (usize, &f64)| {
        let c = Vec3::new(x, 0.0, 0.0);
        let turn = Quat::from_euler_angles(0.1, 0.05 * j as f64, 0.6);
        let mut local = Affine::from_trs(Vec3::zeros(), turn, Vec3::repeat(scale));
        local.translation = c - local.linear * c;
        m = m * local;
        m.into()
    };
    HEADS.iter().enumerate().map(joint).collect()
}
