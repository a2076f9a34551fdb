//! A frame of direct delta mush on one thread, beside linear skinning, and linear skinning with ten passes of delta mush, of the same bent arm:
//! `taskset -c 1 cargo bench -p sinew-deform -- direct_delta_mush`. Positions alone; 'normals' with these. 'bones' are two layers, four virtual bones
//! a vertex; how far they are off is printed (`-- "bones/50k|v0/50k|linear/50k"` runs some).

use crate::common::arm::{SIZES, arm, palette, rig};
use criterion::{BenchmarkId, Criterion, Throughput};
use sinew_deform::delta_mush::{DeltaMushBind, DeltaMushConfig, DeltaMushJob};
use sinew_deform::direct_delta_mush::{
    CompressionSettings, DirectDeltaMushBind, DirectDeltaMushJob, DirectDeltaMushScratch, Moments,
    SmoothingSettings, Storage, Variant, VirtualBonesBind, VirtualBonesJob, VirtualBonesScratch,
    compress, moments,
};
use sinew_deform::skin::{SkinBind, SkinJob, SkinMethod, SkinScratch};
use sinew_deform::{BindWatch, MaskWeight, MeshView, MeshViewMut, Par};
use sinew_geom::{Affine, LocalTransform, Mesh, Rig};
use std::hint::black_box;

fn view(mesh: &Mesh, normals: bool) -> MeshView<'_> {
    MeshView {
        positions: &mesh.positions,
        normals: mesh.normals.as_deref().filter(|_| normals),
        ..MeshView::default()
    }
}

/// Linear skinning, and with `iterations` above zero delta mush over it.
fn skinned(c: &mut Criterion, mesh: &Mesh, size: &str, name: &str, iterations: u32) {
    let bind = SkinBind::new(mesh, &rig(), SkinMethod::Linear).expect("binds");
    let config = DeltaMushConfig {
        iterations,
        ..DeltaMushConfig::default()
    };
    let mush = DeltaMushBind::new(mesh, &config).expect("binds");
    let (mut room, mut scratch) = (mush.new_scratch(), SkinScratch::new(&bind));
    let (palette, mut p) = (palette(1.0), mesh.positions.clone());
    let mut out = mesh.positions.clone();
    let mut group = c.benchmark_group("direct_delta_mush");
    group.throughput(Throughput::Elements(mesh.vertex_count() as u64));
    group.bench_function(BenchmarkId::new(name, size), |b| {
        b.iter(|| {
            SkinJob {
                bind: &bind,
                palette: black_box(&palette),
                dual_quaternion_blend: 1.0,
                dual_quaternion_mask: None,
                input: view(mesh, false),
                output: MeshViewMut {
                    positions: Some(&mut p),
                    ..MeshViewMut::default()
                },
                scratch: &mut scratch,
                par: Par::Seq,
            }
            .run();
            if iterations > 0 {
                DeltaMushJob {
                    bind: &mush,
                    space: mush.smoother().anchor().space(&[]).0,
                    displacement: 1.0,
                    blend: 1.0,
                    weight: MaskWeight::ONE,
                    input: &p,
                    output: &mut out,
                    scratch: &mut room,
                    par: Par::Seq,
                }
                .run();
            }
        });
    });
    group.finish();
}

fn direct(
    c: &mut Criterion,
    mesh: &Mesh,
    size: &str,
    name: &str,
    bind: &DirectDeltaMushBind,
    of: (f64, bool),
) {
    let (scale, normals) = of;
    let (palette, mut p) = (palette(scale), mesh.positions.clone());
    let (mut q, mut scratch) = (mesh.positions.clone(), DirectDeltaMushScratch::new(bind));
    let mut group = c.benchmark_group("direct_delta_mush");
    group.throughput(Throughput::Elements(mesh.vertex_count() as u64));
    group.bench_function(BenchmarkId::new(name, size), |b| {
        b.iter(|| {
            DirectDeltaMushJob {
                bind,
                palette: black_box(&palette),
                input: view(mesh, normals),
                output: MeshViewMut {
                    positions: Some(&mut p),
                    normals: normals.then_some(&mut q[..]),
                    ..MeshViewMut::default()
                },
                scratch: &mut scratch,
                par: Par::Seq,
            }
            .run();
        });
    });
    group.finish();
}

/// The joints of the arm in a row, resting where they were bound.
fn chain() -> Rig {
    let rig = rig();
    let mut nodes = rig.nodes().to_vec();
    let mut before = 0.0;
    for joint in rig.joints() {
        let head = -joint.joint_from_bind.translation;
        let mut local = Affine::identity();
        local.translation.x = head.x - before;
        before = head.x;
        nodes[joint.node].parent = joint.node.checked_sub(1);
        nodes[joint.node].local = LocalTransform::Matrix(local);
    }
    Rig::new(nodes, rig.joints().to_vec()).expect("valid")
}

/// Two layers: variant v0 of so many virtual bones, four of them a vertex.
fn bones(c: &mut Criterion, mesh: &Mesh, size: &str, moments: &Moments) {
    let (rig, form) = (chain(), (Variant::V0, Storage::Full));
    let joints = rig.joints().len();
    for bones in [16, 32, 64, 128, 256] {
        let settings = CompressionSettings {
            bones,
            influences: 4,
            variant: form.0,
        };
        let (rest, par) = (&mesh.positions, Par::Rayon);
        let found = compress(moments, rest, &rig, settings, par, &BindWatch::NONE);
        let bind = VirtualBonesBind::new(&found.expect("nobody stops it"), joints, form, 0);
        let (error, n) = (bind.error(), mesh.vertex_count() as f64);
        eprintln!(
            "{bones} bones {size}: {:.3} mm RMS, {:.3} mm at most, {:.1} bytes a vertex",
            error.rms * 1e3,
            error.max * 1e3,
            bind.bytes() as f64 / n
        );
        let (palette, mut p) = (palette(1.0), mesh.positions.clone());
        let mut scratch = VirtualBonesScratch::new(&bind);
        let mut group = c.benchmark_group("direct_delta_mush");
        group.throughput(Throughput::Elements(mesh.vertex_count() as u64));
        group.bench_function(BenchmarkId::new(format!("{bones} bones"), size), |b| {
            b.iter(|| {
                VirtualBonesJob {
                    bind: &bind,
                    palette: black_box(&palette),
                    input: view(mesh, false),
                    output: MeshViewMut {
                        positions: Some(&mut p),
                        ..MeshViewMut::default()
                    },
                    scratch: &mut scratch,
                    par: Par::Seq,
                }
                .run();
            });
        });
        group.finish();
    }
}

pub(crate) fn benches(c: &mut Criterion) {
    for (size, around, rings) in SIZES {
        let mesh = arm(around, rings);
        skinned(c, &mesh, size, "skin linear", 0);
        skinned(c, &mesh, size, "skin linear + delta mush x10", 10);
        let joints = rig().joints().len();
        let settings = SmoothingSettings::default();
        let found = moments(&mesh, joints, &settings, Par::Seq, &BindWatch::NONE);
        let moments = found.expect("the arm binds");
        if mesh.vertex_count() < 100_000 {
            bones(c, &mesh, size, &moments);
        }
        let pairs = moments.pairs.len() as f64 / mesh.vertex_count() as f64;
        for variant in Variant::ALL {
            for (word, storage) in [("", Storage::Full), (" quantized", Storage::Quantized)] {
                if variant == Variant::V4 && storage == Storage::Quantized {
                    continue;
                }
                let bind = DirectDeltaMushBind::new(&moments, joints, variant, storage);
                let bytes = bind.bytes() as f64 / mesh.vertex_count() as f64;
                let name = format!("{}{word}", variant.as_str());
                eprintln!("{name} {size}: {pairs:.2} joints a vertex, {bytes:.1} bytes a vertex");
                direct(c, &mesh, size, &name, &bind, (1.0, false));
                if storage == Storage::Full {
                    direct(
                        c,
                        &mesh,
                        size,
                        &format!("{name} normals"),
                        &bind,
                        (1.0, true),
                    );
                }
                if variant == Variant::V0 && storage == Storage::Full {
                    direct(c, &mesh, size, "v0 stretched", &bind, (1.1, false));
                }
            }
        }
    }
}
