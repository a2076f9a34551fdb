//! Skinning of a bent arm on one thread, beside plain C++ loops: `tools/bench/run skin`.

use crate::common::arm::{SIZES, arm, palette, rig, shuffled};
use crate::common::plain::Plain;
use criterion::{BenchmarkId, Criterion, Throughput};
use sinew_deform::skin::{SkinBind, SkinJob, SkinMethod, SkinScratch};
use sinew_deform::{MeshView, MeshViewMut, Par};
use sinew_geom::Mesh;
use std::hint::black_box;

/// What is computed.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    method: SkinMethod,
    scale: f64,
    normals: bool,
    tangents: bool,
}

const fn case(name: &'static str, method: SkinMethod) -> Case {
    Case {
        name,
        method,
        scale: 1.0,
        normals: true,
        tangents: false,
    }
}

const CASES: [Case; 7] = [
    Case {
        normals: false,
        ..case("linear", SkinMethod::Linear)
    },
    case("linear, normals", SkinMethod::Linear),
    Case {
        tangents: true,
        ..case("linear, normals, tangents", SkinMethod::Linear)
    },
    case("rigid, normals", SkinMethod::Rigid),
    case("dual quaternion, normals", SkinMethod::DualQuaternion),
    Case {
        scale: 1.1,
        ..case(
            "dual quaternion scaled, normals",
            SkinMethod::DualQuaternion,
        )
    },
    case("blended, normals", SkinMethod::Blended),
];

fn plain(c: &mut Criterion, mesh: &Mesh, size: &str) {
    let Some(plain) = Plain::load(mesh, &palette(1.0)) else {
        return;
    };
    let (mut p, mut q) = (mesh.positions.clone(), mesh.positions.clone());
    let mut group = c.benchmark_group("skin");
    group.throughput(Throughput::Elements(mesh.vertex_count() as u64));
    group.bench_function(BenchmarkId::new("C++ copy positions", size), |b| {
        b.iter(|| plain.copy(black_box(&mesh.positions), &mut p, black_box(1.1)));
    });
    for (name, normals) in [
        ("C++ linear", None),
        ("C++ linear, normals", mesh.normals.as_deref()),
    ] {
        group.bench_function(BenchmarkId::new(name, size), |b| {
            b.iter(|| plain.skin(black_box(&mesh.positions), normals, &mut p, &mut q));
        });
    }
    group.finish();
}

fn ours(c: &mut Criterion, mesh: &Mesh, size: &str, case: Case, par: Par, threads: &str) {
    let n = mesh.vertex_count();
    let bind = SkinBind::new(mesh, &rig(), case.method).expect("binds");
    let (palette, mut scratch) = (palette(case.scale), SkinScratch::new(&bind));
    let (mut p, mut q) = (mesh.positions.clone(), mesh.positions.clone());
    let mut t = vec![[0.0; 4]; n];
    let mut group = c.benchmark_group("skin");
    group.throughput(Throughput::Elements(n as u64));
    let id = BenchmarkId::new(format!("{}{threads}", case.name), size);
    group.bench_function(id, |b| {
        b.iter(|| {
            SkinJob {
                bind: &bind,
                palette: black_box(&palette),
                dual_quaternion_blend: 0.5,
                dual_quaternion_mask: None,
                input: MeshView {
                    positions: &mesh.positions,
                    normals: mesh.normals.as_deref().filter(|_| case.normals),
                    tangents: mesh.tangents.as_deref().filter(|_| case.tangents),
                    colors: None,
                    ..MeshView::default()
                },
                output: MeshViewMut {
                    positions: Some(&mut p),
                    normals: Some(&mut q[..]).filter(|_| case.normals),
                    tangents: Some(&mut t[..]).filter(|_| case.tangents),
                    colors: None,
                },
                scratch: &mut scratch,
                par,
            }
            .run();
        });
    });
    group.finish();
}

pub(crate) fn benches(c: &mut Criterion) {
    for (size, around, rings) in SIZES {
        let mesh = arm(around, rings);
        plain(c, &mesh, size);
        for case in CASES {
            ours(c, &mesh, size, case, Par::Seq, "");
        }
        ours(c, &mesh, size, CASES[1], Par::Rayon, ", all threads");
    }
    let mesh = shuffled(&arm(160, 312));
    plain(c, &mesh, "50k shuffled");
    ours(c, &mesh, "50k shuffled", CASES[1], Par::Seq, "");
}
