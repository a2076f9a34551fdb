//! Delta mush on a bent arm of 49,922 vertices (closed, valence 6 on average, four influences a vertex), beside the
//! same work as plain loops, so that ratios come from one run. `cargo bench -p sinew-deform --bench delta_mush`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sinew_deform::delta_mush::{DeltaMushBind, DeltaMushConfig, DeltaMushJob, FrameKind};
use sinew_deform::laplacian::{EdgeWeights, LaplacianConfig, MeanOperator};
use sinew_deform::smooth::SmoothJob;
use sinew_deform::{MaskWeight, Par};
use sinew_geom::{Mesh, Topology};
use std::f32::consts::TAU;
use std::hint::black_box;

const AROUND: u32 = 160;
const RINGS: u32 = 312;

/// A closed tube with rounded ends and wrinkles, quads cut in alternating directions.
fn arm() -> Mesh {
    let mut positions = Vec::new();
    for i in 0..RINGS {
        let s = (i as f32 + 0.5) / RINGS as f32 * 0.7;
        let end = (s.min(0.7 - s) / 0.05).min(1.0);
        let cap = (1.0 - (1.0 - end).powi(2)).max(1e-6).sqrt();
        for j in 0..AROUND {
            let a = j as f32 / AROUND as f32 * TAU;
            let wrinkle = 0.03 * (3.0 * a - 40.0 * s).sin() + 0.008 * (11.0 * a + 130.0 * s).sin();
            let r = 0.05 * cap * (1.0 + 0.06 * (2.0 * a + 5.0 * s).cos() + wrinkle);
            positions.push([s, r * a.cos(), r * a.sin()]);
        }
    }
    let poles = [AROUND * RINGS, AROUND * RINGS + 1];
    positions.extend([[0.0; 3], [0.7, 0.0, 0.0]]);
    let mut triangles = Vec::new();
    for i in 0..RINGS - 1 {
        for j in 0..AROUND {
            let (a, b) = (i * AROUND + j, i * AROUND + (j + 1) % AROUND);
            let (c, d) = (b + AROUND, a + AROUND);
            if (i + j) % 2 == 0 {
                triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    for j in 0..AROUND {
        let (a, b) = (j, (j + 1) % AROUND);
        let last = (RINGS - 1) * AROUND;
        triangles.extend([[poles[0], b, a], [poles[1], last + a, last + b]]);
    }
    let topology = Topology::new(AROUND * RINGS + 2, triangles).expect("in range");
    Mesh::new("arm", topology, positions)
}

/// The work as plain loops: linear skinning of positions and normals by four joints, then uniform smoothing.
struct Plain {
    joints: Vec<[u16; 4]>,
    weights: Vec<[f32; 4]>,
    palette: [[f32; 12]; 4],
    offsets: Vec<u32>,
    indices: Vec<u32>,
}

impl Plain {
    fn new(mesh: &Mesh) -> Self {
        let config = LaplacianConfig {
            pin_border: false,
            ..LaplacianConfig::default()
        };
        let (operator, ..) = MeanOperator::build(mesh, &config);
        let heads = [0.0_f32, 0.30, 0.45, 0.58, 0.7];
        let weights = mesh.positions.iter().map(|p| {
            let raw: [f32; 4] = std::array::from_fn(|j| {
                let d = (heads[j] - p[0]).max(p[0] - heads[j + 1]).max(0.0);
                (d * d + 0.0009).powi(-2)
            });
            let sum: f32 = raw.iter().sum();
            raw.map(|w| w / sum)
        });
        let palette = std::array::from_fn(|j| {
            let (s, c) = (0.4 * j as f32).sin_cos();
            [c, -s, 0.0, 0.1, s, c, 0.0, -0.1, 0.0, 0.0, 1.0, 0.02]
        });
        Self {
            joints: vec![[0, 1, 2, 3]; mesh.positions.len()],
            weights: weights.collect(),
            palette,
            offsets: operator.offsets,
            indices: operator.indices,
        }
    }

    fn skin(&self, p: &[[f32; 3]], n: &[[f32; 3]], op: &mut [[f32; 3]], on: &mut [[f32; 3]]) {
        for v in 0..p.len() {
            let mut m = [0.0_f32; 12];
            for k in 0..4 {
                let (w, b) = (
                    self.weights[v][k],
                    &self.palette[self.joints[v][k] as usize],
                );
                for e in 0..12 {
                    m[e] += w * b[e];
                }
            }
            for r in 0..3 {
                let row = &m[4 * r..4 * r + 4];
                op[v][r] = row[0] * p[v][0] + row[1] * p[v][1] + row[2] * p[v][2] + row[3];
                on[v][r] = row[0] * n[v][0] + row[1] * n[v][1] + row[2] * n[v][2];
            }
        }
    }

    fn smooth(&self, p: &[[f32; 3]], out: &mut [[f32; 3]]) {
        for v in 0..p.len() {
            let row = &self.indices[self.offsets[v] as usize..self.offsets[v + 1] as usize];
            let mut sum = [0.0_f32; 3];
            for &n in row {
                for c in 0..3 {
                    sum[c] += p[n as usize][c];
                }
            }
            let k = 0.5 / row.len() as f32;
            for c in 0..3 {
                out[v][c] = 0.5 * p[v][c] + k * sum[c];
            }
        }
    }
}

fn config(weights: EdgeWeights, frame: FrameKind) -> DeltaMushConfig {
    DeltaMushConfig {
        laplacian: LaplacianConfig {
            weights,
            ..LaplacianConfig::default()
        },
        iterations: 8,
        step: 0.5,
        frame,
    }
}

fn plain(c: &mut Criterion) {
    let mesh = arm();
    let n = mesh.vertex_count();
    let plain = Plain::new(&mesh);
    let mut group = c.benchmark_group("arm_50k_plain_loops");
    group.throughput(Throughput::Elements(n as u64));
    let (mut a, mut b) = (mesh.positions.clone(), mesh.positions.clone());
    group.bench_function("skin_with_normals", |bench| {
        bench.iter(|| plain.skin(black_box(&mesh.positions), &mesh.positions, &mut a, &mut b));
    });
    group.bench_function("smooth_x8", |bench| {
        bench.iter(|| {
            for _ in 0..4 {
                plain.smooth(black_box(&a), &mut b);
                plain.smooth(black_box(&b), &mut a);
            }
        });
    });
    group.finish();
}

fn ours(c: &mut Criterion) {
    let mesh = arm();
    let n = mesh.vertex_count();
    let mut group = c.benchmark_group("arm_50k_sinew");
    group.throughput(Throughput::Elements(n as u64));
    let mut output = vec![[0.0; 3]; n];
    for (name, weights, frame) in [
        ("uniform", EdgeWeights::Uniform, FrameKind::AllNeighbours),
        (
            "uniform_two_edges",
            EdgeWeights::Uniform,
            FrameKind::TwoEdges,
        ),
        (
            "cotangent",
            EdgeWeights::Cotangent,
            FrameKind::AllNeighbours,
        ),
    ] {
        let bind = DeltaMushBind::new(&mesh, &config(weights, frame)).expect("valid mesh");
        let mut scratch = bind.new_scratch();
        for (threads, par) in [("1_thread", Par::Seq), ("all_threads", Par::Rayon)] {
            let id = BenchmarkId::new(format!("delta_mush_x8_{name}"), threads);
            group.bench_function(id, |bench| {
                bench.iter(|| {
                    DeltaMushJob {
                        bind: &bind,
                        displacement: 1.0,
                        blend: 1.0,
                        weight: MaskWeight::ONE,
                        input: black_box(&mesh.positions),
                        output: &mut output,
                        scratch: &mut scratch,
                        par,
                    }
                    .run();
                });
            });
        }
    }
    let bind = DeltaMushBind::new(&mesh, &DeltaMushConfig::default()).expect("valid mesh");
    let mut scratch = bind.new_scratch();
    for iterations in [0, 8] {
        group.bench_function(format!("smooth_x{iterations}/1_thread"), |bench| {
            bench.iter(|| {
                SmoothJob {
                    bind: bind.smoother(),
                    iterations,
                    step: 0.5,
                    blend: 1.0,
                    weight: MaskWeight::ONE,
                    input: black_box(&mesh.positions),
                    output: &mut output,
                    scratch: &mut scratch,
                    par: Par::Seq,
                }
                .run();
            });
        });
    }
    group.finish();
}

criterion_group!(benches, plain, ours);
criterion_main!(benches);
