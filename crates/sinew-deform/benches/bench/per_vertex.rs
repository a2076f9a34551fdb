//! The small nodes on one thread, beside a copy of the positions: `tools/bench/run per_vertex`. What is shown as
//! throughput counts the bytes that must move (inputs, outputs, what setup bound), so that the throughput of the
//! copy divided by a node's says how far the node is from its floor.

use crate::common::arm::{SIZES, arm, palette};
use crate::common::plain::Plain;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};
use sinew_deform::blend::BlendJob;
use sinew_deform::debug_lines::{DebugLinesJob, Shape as Drawing};
use sinew_deform::difference_color::DifferenceColorJob;
use sinew_deform::mask::{MaskJob, MaskSettings, MaskSource, Shape};
use sinew_deform::morph::{MorphBind, MorphJob};
use sinew_deform::pose_driver::DriverValue;
use sinew_deform::pose_space_deformation::{
    PoseSpace, PoseSpaceBind, PoseSpaceJob, PoseSpaceScratch, SculptedPose,
};
use sinew_deform::transform::TransformJob;
use sinew_deform::wrap::{WrapBind, WrapConfig, WrapJob, WrapMode};
use sinew_deform::{Line, MaskWeight, MeshView, MeshViewMut, Par};
use sinew_geom::{Affine, Mesh, MorphTarget, Quat, Vec3};
use std::hint::black_box;

type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// What is computed: positions and these.
#[derive(Clone, Copy)]
struct Frames {
    name: &'static str,
    normals: bool,
    tangents: bool,
    /// Of one mesh, in and out.
    bytes: usize,
}

const POSITIONS: Frames = Frames {
    name: "positions",
    normals: false,
    tangents: false,
    bytes: 24,
};
const NORMALS: Frames = Frames {
    name: "normals",
    normals: true,
    tangents: false,
    bytes: 48,
};
const TANGENTS: Frames = Frames {
    name: "normals, tangents",
    normals: true,
    tangents: true,
    bytes: 80,
};
const ALL: [Frames; 3] = [POSITIONS, NORMALS, TANGENTS];

/// A mesh to write to.
struct Output {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    tangents: Vec<[f32; 4]>,
}

impl Output {
    fn view(&mut self, frames: Frames) -> MeshViewMut<'_> {
        MeshViewMut {
            positions: Some(&mut self.positions),
            normals: Some(&mut self.normals[..]).filter(|_| frames.normals),
            tangents: Some(&mut self.tangents[..]).filter(|_| frames.tangents),
            colors: None,
        }
    }
}

fn view(mesh: &Mesh, frames: Frames) -> MeshView<'_> {
    MeshView {
        positions: &mesh.positions,
        normals: mesh.normals.as_deref().filter(|_| frames.normals),
        tangents: mesh.tangents.as_deref().filter(|_| frames.tangents),
        colors: None,
        ..MeshView::default()
    }
}

fn case(group: &mut Group<'_>, name: &str, count: usize, bytes: usize, mut f: impl FnMut()) {
    group.throughput(Throughput::Bytes((count * bytes) as u64));
    group.bench_function(name, |b| b.iter(&mut f));
}

/// The positions, displaced by waves.
fn waved(mesh: &Mesh) -> Vec<[f32; 3]> {
    let wave = |p: &[f32; 3]| [p[0], p[1] + 0.02 * (9.0 * p[0]).sin(), p[2] + 0.1 * p[0]];
    mesh.positions.iter().map(wave).collect()
}

fn turn() -> Affine<f32> {
    let turn = Quat::from_euler_angles(0.1, 0.2, 0.6);
    Affine::from_trs(Vec3::new(0.1, 0.2, 0.3), turn, Vec3::new(1.0, 1.1, 0.9))
}

/// Eight targets, each of which moves a quarter of the vertices: two deltas a vertex on average.
fn morph_targets(mesh: &Mesh) -> Vec<MorphTarget> {
    let n = mesh.vertex_count();
    let target = |t: usize| {
        let begin = t * n * 3 / 28;
        let vertices: Vec<u32> = (begin..begin + n / 4).map(|v| v as u32).collect();
        let delta = |scale: f32| vec![[0.1 * scale, scale, 0.2 * scale]; vertices.len()];
        MorphTarget {
            name: format!("target_{t}"),
            positions: delta(0.01),
            normals: delta(0.1),
            tangents: delta(0.05),
            vertices,
        }
    };
    (0..8).map(target).collect()
}

/// The neutral pose and one for each of the [`morph_targets`], of two joints that turn.
fn sculpted_poses() -> PoseSpace {
    let values = |i: u32| {
        let turn = |degrees: u32| {
            DriverValue::rotation(Quat::from_euler_angles(
                0.0,
                0.0,
                f64::from(degrees).to_radians(),
            ))
        };
        vec![turn(40 * (i % 3)), turn(35 * (i / 3))]
    };
    let pose = |i: u32| SculptedPose {
        name: format!("pose_{i}"),
        values: values(i),
        target: i
            .checked_sub(1)
            .map_or(String::new(), |t| format!("target_{t}")),
    };
    PoseSpace {
        poses: (0..9).map(pose).collect(),
        ..PoseSpace::default()
    }
}

/// Every vertex that a target moves, whatever its weight, takes part in all nine poses.
fn pose_space(group: &mut Group<'_>, mesh: &Mesh, morphed: &Mesh, out: &mut Output) {
    let n = mesh.vertex_count();
    let space = sculpted_poses();
    let bind = PoseSpaceBind::new(morphed, &space, &[vec![2], vec![3]]).expect("binds");
    let mut scratch = PoseSpaceScratch::new(&bind);
    let values = black_box(&space.poses[5].values);
    for frames in ALL {
        let name = format!("pose_space_deformation, {}", frames.name);
        case(group, &name, n, frames.bytes + bind.bytes() / n, || {
            PoseSpaceJob {
                bind: &bind,
                values,
                weight: MaskWeight::ONE,
                scratch: &mut scratch,
                input: view(mesh, frames),
                output: out.view(frames),
                par: Par::Seq,
            }
            .run();
        });
    }
}

fn movers(group: &mut Group<'_>, mesh: &Mesh, out: &mut Output) {
    let n = mesh.vertex_count();
    let target = Mesh {
        positions: waved(mesh),
        ..mesh.clone()
    };
    let morphed = Mesh {
        morph_targets: morph_targets(mesh),
        ..mesh.clone()
    };
    let morph = MorphBind::new(&morphed).expect("has targets");
    pose_space(group, mesh, &morphed, out);
    for frames in ALL {
        let name = |node| format!("{node}, {}", frames.name);
        case(group, &name("transform"), n, frames.bytes, || {
            TransformJob {
                transform: black_box(turn()),
                weight: MaskWeight::ONE,
                input: view(mesh, frames),
                output: out.view(frames),
                par: Par::Seq,
            }
            .run();
        });
        case(group, &name("blend"), n, frames.bytes / 2 * 3, || {
            BlendJob {
                factor: black_box(0.3),
                weight: MaskWeight::ONE,
                input: view(mesh, frames),
                target: view(&target, frames),
                output: out.view(frames),
                par: Par::Seq,
            }
            .run();
        });
        let bytes = frames.bytes + morph.bytes() / n;
        case(group, &name("morph"), n, bytes, || {
            MorphJob {
                bind: &morph,
                weights: black_box(&[0.5; 8]),
                scale: 1.0,
                input: view(mesh, frames),
                output: out.view(frames),
                par: Par::Seq,
            }
            .run();
        });
    }
}

fn wraps(group: &mut Group<'_>, mesh: &Mesh, out: &mut Output) {
    let n = mesh.vertex_count();
    let driver = arm(SIZES[0].1, SIZES[0].2);
    let driver_now = waved(&driver);
    for (mode_name, mode) in [
        ("surface", WrapMode::Surface),
        ("triangle", WrapMode::Triangle),
        ("smooth 8", WrapMode::Smooth),
    ] {
        let config = WrapConfig {
            mode,
            ..WrapConfig::default()
        };
        let bind = WrapBind::new(mesh, &driver, config).expect("binds");
        let mut scratch = bind.new_scratch();
        for frames in ALL {
            let name = format!("wrap {mode_name}, {}", frames.name);
            case(group, &name, n, frames.bytes + bind.bytes() / n, || {
                WrapJob {
                    bind: &bind,
                    weight: MaskWeight::ONE,
                    input: view(mesh, frames),
                    driver: black_box(&driver_now),
                    output: out.view(frames),
                    scratch: &mut scratch,
                    par: Par::Seq,
                }
                .run();
            });
        }
    }
}

fn masks(group: &mut Group<'_>, mesh: &Mesh) {
    let n = mesh.vertex_count();
    let other = vec![0.5; n];
    let mut out = vec![0.0; n];
    let half = Vec3::new(0.1, 0.1, 0.1);
    let transform = Affine::from_trs(Vec3::new(0.3, 0.0, 0.0), Quat::identity(), half);
    let values = MaskSource::Values(vec![0.7; n]);
    let shape = MaskSource::Shape;
    for (name, source, with, bytes) in [
        ("mask values", &values, None, 8),
        ("mask values times mask", &values, Some(&other[..]), 12),
        ("mask plane", &shape(Shape::Plane), None, 16),
        ("mask sphere", &shape(Shape::Sphere), None, 16),
        ("mask box", &shape(Shape::Box), None, 16),
    ] {
        case(group, name, n, bytes, || {
            MaskJob {
                source,
                settings: MaskSettings {
                    transform: black_box(transform),
                    ..MaskSettings::default()
                },
                positions: &mesh.positions,
                with,
                output: &mut out,
                par: Par::Seq,
            }
            .run();
        });
    }
}

fn views(group: &mut Group<'_>, mesh: &Mesh) {
    let n = mesh.vertex_count();
    let reference = waved(mesh);
    let mut colors = vec![[0.0; 4]; n];
    case(group, "difference_color", n, 40, || {
        DifferenceColorJob {
            scale: black_box(10.0),
            positions: &mesh.positions,
            reference: &reference,
            colors: &mut colors,
            par: Par::Seq,
        }
        .run();
    });
    // Three lines of 40 bytes a point of 24.
    let points: Vec<_> = mesh.positions.iter().map(|p| p.map(f64::from)).collect();
    let points = &points[..n / 3];
    let mut lines: Vec<Line> = Vec::new();
    lines.resize_with(3 * points.len(), || Line {
        from: [0.0; 3],
        to: [0.0; 3],
        color: [0.0; 4],
    });
    case(group, "debug_lines points, a line", lines.len(), 48, || {
        DebugLinesJob {
            transform: black_box(turn().cast()),
            shape: Drawing::Points(points),
            size: 0.1,
            color: [1.0; 4],
            before: &[],
            output: &mut lines,
        }
        .run();
    });
}

pub(crate) fn benches(c: &mut Criterion) {
    let mesh = arm(SIZES[1].1, SIZES[1].2);
    let n = mesh.vertex_count();
    let mut out = Output {
        positions: mesh.positions.clone(),
        normals: vec![[0.0; 3]; n],
        tangents: vec![[0.0; 4]; n],
    };
    let mut group = c.benchmark_group("per_vertex");
    if let Some(plain) = Plain::load(&mesh, &palette(1.0)) {
        case(&mut group, "C++ copy positions", n, 24, || {
            plain.copy(black_box(&mesh.positions), &mut out.positions, 1.1);
        });
    }
    movers(&mut group, &mesh, &mut out);
    wraps(&mut group, &mesh, &mut out);
    masks(&mut group, &mesh);
    views(&mut group, &mesh);
    group.finish();
}
