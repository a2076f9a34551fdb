//! Delta mush on a bent arm, alone and behind linear skinning, beside the same work as plain C++ loops:
//! `tools/bench/run delta_mush`.

use crate::common::arm::{SIZES, arm, palette, rig, shuffled};
use crate::common::plain::Plain;
use criterion::{BenchmarkId, Criterion, Throughput};
use sinew_deform::delta_mush::{DeltaMushBind, DeltaMushConfig, DeltaMushJob, FrameKind};
use sinew_deform::laplacian::{EdgeWeights, LaplacianConfig, SmoothingScratch};
use sinew_deform::skin::{SkinBind, SkinJob, SkinMethod, SkinScratch};
use sinew_deform::smooth::SmoothJob;
use sinew_deform::{MaskWeight, MeshView, MeshViewMut, Par};
use sinew_geom::Mesh;
use std::hint::black_box;

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

const KINDS: [(&str, EdgeWeights, FrameKind); 4] = [
    ("uniform", EdgeWeights::Uniform, FrameKind::AllNeighbours),
    (
        "uniform, two edges",
        EdgeWeights::Uniform,
        FrameKind::TwoEdges,
    ),
    (
        "edge length",
        EdgeWeights::EdgeLength,
        FrameKind::AllNeighbours,
    ),
    (
        "cotangent",
        EdgeWeights::Cotangent,
        FrameKind::AllNeighbours,
    ),
];

fn plain(c: &mut Criterion, mesh: &Mesh, size: &str) {
    let Some(plain) = Plain::load(mesh, &palette(1.0)) else {
        return;
    };
    let (mut p, mut q) = (mesh.positions.clone(), mesh.positions.clone());
    let mut group = c.benchmark_group("delta_mush");
    group.throughput(Throughput::Elements(mesh.vertex_count() as u64));
    group.bench_function(BenchmarkId::new("C++ linear skin, normals", size), |b| {
        b.iter(|| {
            plain.skin(
                black_box(&mesh.positions),
                mesh.normals.as_deref(),
                &mut p,
                &mut q,
            )
        });
    });
    p.clone_from(&mesh.positions);
    group.bench_function(BenchmarkId::new("C++ smooth x8", size), |b| {
        b.iter(|| plain.smooth(8, black_box(&mut p), &mut q));
    });
    group.finish();
}

/// Linear skinning of positions and normals, then delta mush of the positions.
struct Chain<'a> {
    mesh: &'a Mesh,
    skin: SkinBind,
    skin_scratch: SkinScratch,
    palette: Vec<sinew_geom::PackedAffine>,
    mush: DeltaMushBind,
    mush_scratch: SmoothingScratch,
    skinned: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    output: Vec<[f32; 3]>,
}

impl<'a> Chain<'a> {
    fn new(mesh: &'a Mesh, config: &DeltaMushConfig) -> Self {
        let skin = SkinBind::new(mesh, &rig(), SkinMethod::Linear).expect("binds");
        let mush = DeltaMushBind::new(mesh, config).expect("valid mesh");
        Self {
            mesh,
            skin_scratch: SkinScratch::new(&skin),
            skin,
            palette: palette(1.0),
            mush_scratch: mush.new_scratch(),
            mush,
            skinned: mesh.positions.clone(),
            normals: mesh.positions.clone(),
            output: mesh.positions.clone(),
        }
    }

    fn skin(&mut self, par: Par) {
        SkinJob {
            bind: &self.skin,
            palette: black_box(&self.palette),
            dual_quaternion_blend: 0.0,
            dual_quaternion_mask: None,
            input: MeshView {
                positions: &self.mesh.positions,
                normals: self.mesh.normals.as_deref(),
                tangents: None,
                colors: None,
                ..MeshView::default()
            },
            output: MeshViewMut {
                positions: Some(&mut self.skinned),
                normals: Some(&mut self.normals),
                tangents: None,
                colors: None,
            },
            scratch: &mut self.skin_scratch,
            par,
        }
        .run();
    }

    fn mush(&mut self, par: Par) {
        DeltaMushJob {
            bind: &self.mush,
            space: self.mush.smoother().anchor().space(&[]).0,
            displacement: 1.0,
            blend: 1.0,
            weight: MaskWeight::ONE,
            input: black_box(&self.skinned),
            output: &mut self.output,
            scratch: &mut self.mush_scratch,
            par,
        }
        .run();
    }

    fn smooth(&mut self, iterations: u32) {
        SmoothJob {
            bind: self.mush.smoother(),
            space: self.mush.smoother().anchor().space(&[]).0,
            iterations,
            step: 0.5,
            blend: 1.0,
            weight: MaskWeight::ONE,
            input: black_box(&self.skinned),
            output: &mut self.output,
            scratch: &mut self.mush_scratch,
            par: Par::Seq,
        }
        .run();
    }
}

fn ours(c: &mut Criterion, mesh: &Mesh, size: &str) {
    let mut group = c.benchmark_group("delta_mush");
    group.throughput(Throughput::Elements(mesh.vertex_count() as u64));
    for (name, weights, frame) in KINDS {
        let mut chain = Chain::new(mesh, &config(weights, frame));
        for (threads, par) in [("", Par::Seq), (", all threads", Par::Rayon)] {
            let id = BenchmarkId::new(format!("skin + x8 {name}{threads}"), size);
            group.bench_function(id, |b| {
                b.iter(|| {
                    chain.skin(par);
                    chain.mush(par);
                });
            });
        }
        let id = BenchmarkId::new(format!("x8 {name}"), size);
        group.bench_function(id, |b| b.iter(|| chain.mush(Par::Seq)));
    }
    let mut chain = Chain::new(mesh, &DeltaMushConfig::default());
    for iterations in [0, 8] {
        let id = BenchmarkId::new(format!("smooth x{iterations}"), size);
        group.bench_function(id, |b| b.iter(|| chain.smooth(iterations)));
    }
    group.finish();
}

pub(crate) fn benches(c: &mut Criterion) {
    for (size, around, rings) in SIZES {
        let mesh = arm(around, rings);
        plain(c, &mesh, size);
        ours(c, &mesh, size);
    }
    let mesh = shuffled(&arm(160, 312));
    plain(c, &mesh, "50k shuffled");
    ours(c, &mesh, "50k shuffled");
}
