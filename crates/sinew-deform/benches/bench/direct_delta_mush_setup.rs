//! Setup of direct delta mush: `cargo bench -p sinew-deform -- direct_delta_mush_setup`. Beside a factored matrix, which is what
//! other programs take: `tools/bench/factored`.

use criterion::{BenchmarkId, Criterion, Throughput};
use sinew_deform::direct_delta_mush::{SmoothingSettings, moments};
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

pub(crate) fn benches(c: &mut Criterion) {
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
        if let Ok(found) = moments(
            &mesh,
            joints as usize,
            &settings,
            Par::Rayon,
            &BindWatch::NONE,
        ) {
            eprintln!(
                "{name}: {:.2} pairs a vertex, {} bytes a vertex",
                found.pairs.len() as f64 / mesh.vertex_count() as f64,
                found.bytes() / mesh.vertex_count()
            );
        }
    }
    group.finish();
}
