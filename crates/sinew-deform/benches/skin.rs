//! Skinning of a bent tube (four joints, four influences a vertex) on one thread, beside a plain loop that computes the
//! linear case without SIMD, cofactors or normalisation: ratios come from one run.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sinew_deform::skin::{SkinBind, SkinJob, SkinMethod, SkinScratch};
use sinew_deform::{MeshView, MeshViewMut, Par};
use sinew_geom::{
    Affine, Influences, Joint, LocalTransform, Mat3, Mesh, Node, PackedAffine, Quat, Rig, Topology,
    Vec3,
};
use std::hint::black_box;

const HEADS: [f64; 4] = [0.0, 0.30, 0.45, 0.58];
const LENGTH: f64 = 0.70;

/// Weights by distance to the four bones, as in a smooth automatic bind.
fn weights(s: f64) -> Vec<(u32, f32)> {
    let tails = [HEADS[1], HEADS[2], HEADS[3], LENGTH];
    (0..4)
        .map(|j| {
            let d = (HEADS[j] - s).max(s - tails[j]).max(0.0);
            (j as u32, (1.0 / (d * d + 9e-4).powi(2)) as f32)
        })
        .map(|(j, w)| (j, w * 1e-6))
        .collect()
}

fn arm(segments: usize, rings: usize) -> Mesh {
    let (mut positions, mut normals, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for r in 0..rings {
        let s = (r as f64 + 0.5) / rings as f64 * LENGTH;
        for k in 0..segments {
            let (sin, cos) = (k as f64 / segments as f64 * std::f64::consts::TAU).sin_cos();
            positions.push([s as f32, (0.05 * cos) as f32, (0.05 * sin) as f32]);
            normals.push([0.0, cos as f32, sin as f32]);
            rows.push(weights(s));
        }
    }
    let topology = Topology::new(positions.len() as u32, Vec::new()).expect("points only");
    let mut mesh = Mesh::new("arm", topology, positions);
    mesh.tangents = Some(vec![[1.0, 0.0, 0.0, 1.0]; normals.len()]);
    mesh.normals = Some(normals);
    let cleaned = Influences::from_rows(rows.iter().map(Vec::as_slice), 4, 0);
    mesh.influences = Some(cleaned.expect("valid").0);
    mesh
}

fn rig() -> Rig {
    let nodes = (0..4).map(|j| Node {
        name: format!("bone_{j}"),
        parent: None,
        local: LocalTransform::Matrix(Affine::identity()),
        morph_weights: Vec::new(),
        morph_offset: 0,
    });
    let joints = (0..4).map(|node| Joint {
        node,
        joint_from_bind: Affine {
            linear: Mat3::identity(),
            translation: Vec3::new(-HEADS[node], 0.0, 0.0),
        },
    });
    Rig::new(nodes.collect(), joints.collect()).expect("valid")
}

fn palette(scale: f64) -> Vec<PackedAffine> {
    let mut m = Affine::<f64>::identity();
    HEADS
        .iter()
        .enumerate()
        .map(|(j, &x)| {
            let c = Vec3::new(x, 0.0, 0.0);
            let turn = Quat::from_euler_angles(0.1, 0.05 * j as f64, 0.6);
            let size = Vec3::repeat(scale);
            let mut local = Affine::from_trs(Vec3::zeros(), turn, size);
            local.translation = c - local.linear * c;
            m = m * local;
            m.into()
        })
        .collect()
}

/// The loop that anybody writes first.
fn plain(
    mesh: &Mesh,
    joints: &[[u16; 4]],
    weights: &[[f32; 4]],
    palette: &[[f32; 12]],
    out: &mut [[f32; 3]],
    normals: &mut [[f32; 3]],
) {
    let rest = mesh.normals.as_deref().unwrap_or(&[]);
    for v in 0..mesh.positions.len() {
        let mut a = [0.0_f32; 12];
        for k in 0..4 {
            let (w, m) = (weights[v][k], &palette[joints[v][k] as usize]);
            for e in 0..12 {
                a[e] += w * m[e];
            }
        }
        let ([x, y, z], [u, v3, w]) = (mesh.positions[v], rest[v]);
        for r in 0..3 {
            out[v][r] = a[4 * r] * x + a[4 * r + 1] * y + a[4 * r + 2] * z + a[4 * r + 3];
            normals[v][r] = a[4 * r] * u + a[4 * r + 1] * v3 + a[4 * r + 2] * w;
        }
    }
}

fn bench_plain(c: &mut Criterion, mesh: &Mesh, size: &str) {
    let n = mesh.vertex_count();
    let influences = mesh.influences.as_ref().expect("bound");
    let row = |v| influences.row(v).collect::<Vec<_>>();
    let joints: Vec<[u16; 4]> = (0..n)
        .map(|v| std::array::from_fn(|k| row(v).get(k).map_or(0, |r| r.0 as u16)))
        .collect();
    let weights: Vec<[f32; 4]> = (0..n)
        .map(|v| std::array::from_fn(|k| row(v).get(k).map_or(0.0, |r| r.1)))
        .collect();
    let matrices: Vec<[f32; 12]> = palette(1.0)
        .iter()
        .map(|m| m.rows.as_flattened().try_into().expect("12 numbers"))
        .collect();
    let (mut p, mut q) = (mesh.positions.clone(), mesh.positions.clone());
    let mut group = c.benchmark_group("skin");
    group.throughput(Throughput::Elements(n as u64));
    group.bench_function(BenchmarkId::new("plain loop, normals", size), |b| {
        b.iter(|| {
            plain(
                black_box(mesh),
                &joints,
                &weights,
                &matrices,
                &mut p,
                &mut q,
            )
        });
    });
    group.finish();
}

fn bench_job(
    c: &mut Criterion,
    mesh: &Mesh,
    size: &str,
    name: &str,
    method: SkinMethod,
    scale: f64,
    tangents: bool,
) {
    let n = mesh.vertex_count();
    let bind = SkinBind::new(mesh, &rig(), method).expect("binds");
    let (palette, mut scratch) = (palette(scale), SkinScratch::new(&bind));
    let (mut p, mut q) = (mesh.positions.clone(), mesh.positions.clone());
    let mut t = vec![[0.0; 4]; n];
    let mut group = c.benchmark_group("skin");
    group.throughput(Throughput::Elements(n as u64));
    group.bench_function(BenchmarkId::new(name, size), |b| {
        b.iter(|| {
            SkinJob {
                bind: &bind,
                palette: black_box(&palette),
                dual_quaternion_blend: 0.5,
                dual_quaternion_mask: None,
                input: MeshView {
                    positions: &mesh.positions,
                    normals: mesh.normals.as_deref(),
                    tangents: mesh.tangents.as_deref().filter(|_| tangents),
                    colors: None,
                },
                output: MeshViewMut {
                    positions: Some(&mut p),
                    normals: Some(&mut q),
                    tangents: Some(&mut t[..]).filter(|_| tangents),
                    colors: None,
                },
                scratch: &mut scratch,
                par: Par::Seq,
            }
            .run();
        });
    });
    group.finish();
}

fn all(c: &mut Criterion) {
    for (size, segments, rings) in [("5k", 50, 100), ("50k", 160, 312), ("500k", 500, 1000)] {
        let mesh = arm(segments, rings);
        bench_plain(c, &mesh, size);
        let mut job = |name, method, scale, tangents| {
            bench_job(c, &mesh, size, name, method, scale, tangents);
        };
        job("rigid, normals", SkinMethod::Rigid, 1.0, false);
        job("linear, normals", SkinMethod::Linear, 1.0, false);
        job("linear, normals, tangents", SkinMethod::Linear, 1.0, true);
        job(
            "dual quaternion, normals",
            SkinMethod::DualQuaternion,
            1.0,
            false,
        );
        job(
            "dual quaternion scaled, normals",
            SkinMethod::DualQuaternion,
            1.1,
            false,
        );
        job("blended, normals", SkinMethod::Blended, 1.0, false);
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
