//! Lattices on a tube of the proportions of an arm, 50 k vertices, one thread. Divide by 50 000 for a vertex's time.

use criterion::{BenchmarkId, Criterion, Throughput};
use sinew_deform::lattice::{
    Interpolation, LatticeBind, LatticeConfig, LatticeJob, LatticeScratch, rest_points,
};
use sinew_deform::{MaskWeight, MeshView, MeshViewMut, Par};
use sinew_geom::{Affine, Vec3};
use sinew_testkit::meshes;

const ALL: [(Interpolation, &str); 7] = [
    (Interpolation::Bernstein, "bernstein"),
    (Interpolation::LocalBspline, "local_bspline"),
    (Interpolation::Linear, "linear"),
    (Interpolation::Cardinal, "cardinal"),
    (Interpolation::CatmullRom, "catmull_rom"),
    (Interpolation::Bspline, "bspline"),
    (Interpolation::CellEased, "cell_eased"),
];

fn shaken(bind: &LatticeBind) -> Vec<[f64; 3]> {
    let mut points = rest_points(bind);
    for [x, y, z] in &mut points {
        let (a, b, c) = (*x, *y, *z);
        *x += 0.03 * (20.0 * b + 1.0).sin();
        *y += 0.03 * ((5.0 * a).cos() + 5.0 * c);
        *z += 0.03 * (6.0 * a - 10.0 * b).sin();
    }
    points
}

pub(crate) fn benches(c: &mut Criterion) {
    let mesh = meshes::tube(499, 100, 0.7, 0.05);
    let normals = mesh.normals.clone().unwrap_or_default();
    let tangents = vec![[1.0, 0.0, 0.0, 1.0]; normals.len()];
    let mut positions_out = mesh.positions.clone();
    let (mut normals_out, mut tangents_out) = (normals.clone(), tangents.clone());
    let mut group = c.benchmark_group("lattice");
    group.throughput(Throughput::Elements(mesh.positions.len() as u64));
    for resolution in [4, 8] {
        for (interpolation, name) in ALL {
            for (what, normal, tangent) in [
                ("positions", false, false),
                ("normals", true, false),
                ("frames", true, true),
            ] {
                let config = LatticeConfig {
                    interpolation,
                    resolution: [resolution; 3],
                    size: [0.714, 0.102, 0.102],
                    ..LatticeConfig::default()
                };
                let Ok(bind) = LatticeBind::new(config) else {
                    continue;
                };
                let points = shaken(&bind);
                let mut scratch = LatticeScratch::new(&bind);
                let id = BenchmarkId::new(format!("{name}/{resolution}"), what);
                group.bench_function(id, |b| {
                    b.iter(|| {
                        LatticeJob {
                            bind: &bind,
                            box_transform: Affine {
                                translation: Vec3::new(0.35, 0.0, 0.0),
                                ..Affine::identity()
                            },
                            points: &points,
                            falloff_distance: 0.1,
                            scratch: &mut scratch,
                            weight: MaskWeight::ONE,
                            input: MeshView {
                                positions: &mesh.positions,
                                normals: normal.then_some(&normals),
                                tangents: tangent.then_some(&tangents),
                                colors: None,
                                ..MeshView::default()
                            },
                            output: MeshViewMut {
                                positions: Some(&mut positions_out),
                                normals: normal.then_some(&mut normals_out),
                                tangents: tangent.then_some(&mut tangents_out),
                                colors: None,
                            },
                            par: Par::Seq,
                        }
                        .run();
                    });
                });
            }
        }
    }
    group.finish();
}
