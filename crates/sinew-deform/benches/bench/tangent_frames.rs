//! Normals and tangents of a welded sphere of about 50,000 vertices, one thread and all threads.

use criterion::{Criterion, Throughput};
use sinew_deform::Par;
use sinew_deform::tangent_frames::{
    NormalMode, TangentFramesBind, TangentFramesConfig, TangentFramesJob, TangentMode,
};
use std::hint::black_box;

pub(crate) fn benches(c: &mut Criterion) {
    let mut mesh = sinew_testkit::meshes::sphere(224, 224);
    mesh.uvs = vec![
        mesh.positions
            .iter()
            .map(|p| [p[0] + 0.1 * p[2], p[1]])
            .collect(),
    ];
    let mut group = c.benchmark_group("tangent_frames");
    group.throughput(Throughput::Elements(mesh.vertex_count() as u64));
    let cases = [
        ("normals", NormalMode::AngleWeighted, None),
        ("normals_area", NormalMode::AreaWeighted, None),
        ("normals_fixed", NormalMode::FixedPoint, None),
        ("normals_authored", NormalMode::KeepAuthoredDelta, None),
        ("uv", NormalMode::AngleWeighted, Some(TangentMode::Uv)),
        (
            "mikktspace",
            NormalMode::AngleWeighted,
            Some(TangentMode::Mikktspace),
        ),
    ];
    for (name, normals, tangents) in cases {
        let config = TangentFramesConfig {
            normals,
            tangents: tangents.unwrap_or(TangentMode::None),
            ..TangentFramesConfig::default()
        };
        let bind = TangentFramesBind::new(&mesh, config).expect("valid mesh");
        let mut scratch = bind.new_scratch();
        let mut out_normals = vec![[0.0; 3]; mesh.vertex_count()];
        let mut out_tangents = vec![[0.0; 4]; mesh.vertex_count()];
        for (threads, par) in [("seq", Par::Seq), ("rayon", Par::Rayon)] {
            group.bench_function(format!("{name}/{threads}"), |b| {
                b.iter(|| {
                    TangentFramesJob {
                        bind: &bind,
                        positions: black_box(&mesh.positions),
                        normals: Some(&mut out_normals),
                        tangents: tangents.map(|_| &mut out_tangents[..]),
                        scratch: &mut scratch,
                        par,
                    }
                    .run();
                });
            });
        }
    }
    group.finish();
}
