//! Setup of direct delta mush: as it is, and with a factored matrix in its place (faer's sparse Cholesky, which is what other programs
//! do): `taskset -c 1 cargo bench -p sinew-deform --bench direct_delta_mush_setup`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use faer::linalg::solvers::Solve;
use faer::sparse::{SparseColMat, Triplet};
use faer::{Mat, Side};
use sinew_deform::direct_delta_mush::{SmoothingSettings, moments};
use sinew_deform::laplacian::MeanOperator;
use sinew_deform::{BindWatch, Par};
use sinew_geom::{Influences, Mesh};
use sinew_testkit::meshes;
use std::hint::black_box;

/// A tube of `(segments + 1) * around` vertices, each bound to one of `joints` joints along it.
fn tube(segments: u32, around: u32, joints: u32) -> Mesh {
    let mut mesh = meshes::tube(segments, around, 1.0, 0.1);
    let rows: Vec<[(u32, f32); 1]> = mesh
        .positions
        .iter()
        .map(|p| [(((p[0] * joints as f32) as u32).min(joints - 1), 1.0)])
        .collect();
    let rows = rows.iter().map(|r| &r[..]);
    mesh.influences = Influences::from_rows(rows, joints as usize, 0)
        .ok()
        .map(|r| r.0);
    mesh
}

/// What takes the time of a setup with a factored matrix: `D + lambda L` once, and `iterations` solves of ten fields a joint.
fn factored(mesh: &Mesh, joints: usize, settings: &SmoothingSettings) -> Option<Mat<f64>> {
    let (operator, ..) = MeanOperator::build(mesh, &settings.laplacian);
    let n = operator.class_count();
    // Uniform weights: the diagonal of D is the number of neighbours, which makes the matrix symmetric.
    let degree = |c: usize| operator.row(c).len() as f64;
    let mut triplets = Vec::new();
    for c in 0..n {
        triplets.push(Triplet::new(c, c, degree(c) * (1.0 + settings.lambda)));
        for (read, _) in operator.row(c) {
            triplets.push(Triplet::new(c, read as usize, -settings.lambda));
        }
    }
    let matrix = SparseColMat::try_new_from_triplets(n, n, &triplets).ok()?;
    let factor = matrix.sp_cholesky(Side::Lower).ok()?;
    let mut fields = Mat::from_fn(n, 10 * joints, |c, k| ((c * 7 + k) % 13) as f64);
    for _ in 0..settings.iterations {
        for k in 0..fields.ncols() {
            for c in 0..n {
                fields[(c, k)] *= degree(c);
            }
        }
        factor.solve_in_place(fields.as_mut());
    }
    Some(fields)
}

fn setup(c: &mut Criterion) {
    let mut group = c.benchmark_group("direct_delta_mush setup");
    group.sample_size(10);
    let cases = [
        ("5,000 vertices, 4 joints, 20", 49, 100, 4, 20),
        ("50,000 vertices, 4 joints, 20", 499, 100, 4, 20),
        ("500,000 vertices, 4 joints, 20", 4999, 100, 4, 20),
        ("3,809 vertices, 45 joints, 20", 292, 13, 45, 20),
        ("66,654 vertices, 45 joints, 10", 528, 126, 45, 10),
    ];
    for (name, segments, around, joints, iterations) in cases {
        let mesh = tube(segments, around, joints);
        let settings = SmoothingSettings {
            iterations,
            ..SmoothingSettings::default()
        };
        group.throughput(Throughput::Elements(mesh.vertex_count() as u64));
        for (threads, par) in [("one thread", Par::Seq), ("all threads", Par::Rayon)] {
            group.bench_function(BenchmarkId::new(threads, name), |b| {
                b.iter(|| {
                    moments(
                        black_box(&mesh),
                        joints as usize,
                        &settings,
                        par,
                        &BindWatch::NONE,
                    )
                });
            });
        }
        if mesh.vertex_count() <= 50_000 {
            group.bench_function(BenchmarkId::new("factored, one thread", name), |b| {
                b.iter(|| factored(black_box(&mesh), joints as usize, &settings));
            });
        }
        if let Ok(found) = moments(
            &mesh,
            joints as usize,
            &settings,
            Par::Rayon,
            &BindWatch::NONE,
        ) {
            println!(
                "{name}: {:.2} pairs a vertex, {} bytes a vertex",
                found.pairs.len() as f64 / mesh.vertex_count() as f64,
                found.bytes() / mesh.vertex_count()
            );
        }
    }
    group.finish();
}

criterion_group!(benches, setup);
criterion_main!(benches);
