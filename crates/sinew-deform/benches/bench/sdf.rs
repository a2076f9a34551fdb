//! Fields of a blob of 10 k and of 100 k triangles, on one thread and on two; `64` and `128` nodes along the box, which is 1.2
//! times the blob. Compare with narrow bands of OpenVDB on the same blob.

use criterion::{BenchmarkId, Criterion, Throughput};
use sinew_deform::Par;
use sinew_deform::sdf::{
    FieldBuffers, FieldFrame, Resolution, SdfBind, SdfSettings, SignMethod, Storage,
};
use sinew_geom::{Topology, WeldMap, bounds};

/// A face of the cube that a sphere is made from: its normal and the two axes along it.
const FACES: [[[f64; 3]; 3]; 6] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[-1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
    [[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
];

fn bumpy([x, y, z]: [f64; 3]) -> [f32; 3] {
    let r = 0.8
        + 0.12 * (3.0 * x + 1.1).sin() * (2.5 * y).cos()
        + 0.07 * (6.0 * z + 2.0 * x).sin()
        + 0.03 * (13.0 * x + 7.0 * y).sin() * (11.0 * z).sin()
        + 0.012 * (29.0 * x).sin() * (31.0 * y).sin() * (27.0 * z).sin();
    [x, y, z].map(|c| (c * r) as f32)
}

/// A closed blob of 12 n² triangles.
fn blob(n: u32) -> (Topology, Vec<[f32; 3]>) {
    let quarter = std::f64::consts::FRAC_PI_4;
    let at = |i: u32| (quarter * (2.0 * f64::from(i) / f64::from(n) - 1.0)).tan();
    let mut corners = Vec::new();
    for [normal, u, v] in FACES {
        for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))) {
            let point = |a: u32, b: u32| {
                let p: [f64; 3] = std::array::from_fn(|k| normal[k] + at(a) * u[k] + at(b) * v[k]);
                let length = p.iter().map(|c| c * c).sum::<f64>().sqrt();
                bumpy(p.map(|c| c / length))
            };
            let q = [
                point(a, b),
                point(a + 1, b),
                point(a + 1, b + 1),
                point(a, b + 1),
            ];
            corners.extend([q[0], q[1], q[2], q[0], q[2], q[3]]);
        }
    }
    let weld = WeldMap::by_position(&corners, 1e-6);
    let positions: Vec<_> = (weld.first_vertex.iter())
        .map(|&v| corners[v as usize])
        .collect();
    let classes = weld.class_of_vertex.as_chunks::<3>().0.to_vec();
    let topology = Topology::new(positions.len() as u32, classes).unwrap_or_default();
    (topology, positions)
}

pub(crate) fn benches(c: &mut Criterion) {
    let frame = FieldFrame::default();
    let mut group = c.benchmark_group("sdf");
    group.sample_size(15);
    for (name, n) in [("10k", 29), ("100k", 91)] {
        let (topology, positions) = blob(n);
        let (low, high) = bounds(&positions).unwrap_or_default();
        let extent = (0..3).fold(0.0_f32, |m, k| m.max(high[k] - low[k]));
        group.throughput(Throughput::Elements(topology.triangles().len() as u64));
        for (what, nodes, sign, storage) in [
            ("64", 64.0, SignMethod::Pseudonormals, Storage::Single),
            ("128", 128.0, SignMethod::Pseudonormals, Storage::Single),
            ("128 half", 128.0, SignMethod::Pseudonormals, Storage::Half),
            (
                "64 winding",
                64.0,
                SignMethod::WindingNumber,
                Storage::Single,
            ),
        ] {
            let cell = extent * 1.2 / (nodes - 1.0);
            let settings = SdfSettings {
                resolution: Resolution::CellSize(cell),
                padding_cells: 0.1 * extent / cell,
                sign,
                storage,
                ..SdfSettings::default()
            };
            let Ok(bind) = SdfBind::new(&topology, &positions, &frame, settings) else {
                continue;
            };
            let mut buffers = FieldBuffers::new(&bind);
            for threads in [1, 2] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                let Ok(pool) = pool.build() else {
                    continue;
                };
                let par = if threads == 1 { Par::Seq } else { Par::Rayon };
                let id = BenchmarkId::new(format!("{name}/{what}"), threads);
                group.bench_function(id, |b| {
                    pool.install(|| b.iter(|| buffers.build(&bind, &positions, &frame, par)));
                });
            }
        }
    }
}
