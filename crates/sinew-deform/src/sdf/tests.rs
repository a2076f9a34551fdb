//! Closed forms, every triangle in double precision, and the awkward meshes.

mod awkward;
mod collision;
mod defects;
mod look;

use super::half::{half_from, single_from};
use super::*;
use crate::Par;
use crate::local_frame::test_support::Random;
use proptest::prelude::*;
use sinew_geom::vec3::length;
use sinew_geom::{Mesh, Quat, Topology, Vec3};
use sinew_testkit::meshes;

/// A field of a mesh, and what it was made of.
pub(super) struct Made {
    pub(super) bind: SdfBind,
    pub(super) buffers: FieldBuffers,
    pub(super) report: BuildReport,
    positions: Vec<[f32; 3]>,
}

pub(super) fn cells(count: u32) -> SdfSettings {
    SdfSettings {
        resolution: Resolution::Cells {
            count,
            along: Axis::Longest,
        },
        ..SdfSettings::default()
    }
}

pub(super) fn make(topology: &Topology, positions: &[[f32; 3]], settings: SdfSettings) -> Made {
    let frame = FieldFrame::default();
    let bind = SdfBind::new(topology, positions, &frame, settings).expect("valid");
    let mut buffers = FieldBuffers::new(&bind);
    let report = buffers.build(&bind, positions, &frame, Par::Seq);
    Made {
        bind,
        buffers,
        report,
        positions: positions.to_vec(),
    }
}

pub(super) fn make_mesh(mesh: &Mesh, settings: SdfSettings) -> Made {
    make(&mesh.topology, &mesh.positions, settings)
}

pub(super) fn double(p: [f32; 3]) -> Vec3<f64> {
    Vec3::from(p.map(f64::from))
}

pub(super) fn every_node(shape: &GridShape, step: u32) -> impl Iterator<Item = [u32; 3]> {
    let [nx, ny, nz] = shape.nodes();
    (0..nx * ny * nz)
        .step_by(step as usize)
        .map(move |i| [i % nx, i / nx % ny, i / (nx * ny)])
}

/// Worst differences, in cells.
#[derive(Debug, Default)]
pub(super) struct Differences {
    pub(super) in_band: f64,
    pub(super) in_bricks: f64,
    pub(super) elsewhere: f64,
    pub(super) wrong_signs: usize,
    pub(super) wrong_signs_in_bricks: usize,
    pub(super) inside: usize,
    pub(super) nodes: usize,
}

impl Made {
    /// Every `step`-th node against every triangle in double precision.
    pub(super) fn compare(&self, step: u32) -> Differences {
        let truth = ReferenceMesh::<f64>::new(&self.bind, &self.positions);
        let view = self.buffers.view();
        let cell = f64::from(view.shape.cell);
        let mut d = Differences::default();
        for node in every_node(&view.shape, step) {
            let p = double(view.shape.node_position(node));
            let near = truth.nearest(p).expect("triangles");
            let (behind, unsure) = match self.bind.settings().sign {
                SignMethod::Pseudonormals => (truth.is_behind(p, &near), false),
                SignMethod::WindingNumber => {
                    let w = truth.winding_number(p);
                    // Moments of clusters are right to some percent.
                    (w > 0.5, (w - 0.5).abs() < 0.03)
                }
            };
            let got = f64::from(view.node(node)) / cell;
            let distance = near.distance / cell;
            // On the surface either sign is right.
            if distance > 1e-3 && !unsure && (got < 0.0) != behind {
                d.wrong_signs += 1;
                d.wrong_signs_in_bricks += usize::from(view.is_exact(node));
            }
            let off = (got.abs() - distance).abs();
            let band = f64::from(self.bind.settings().band_cells);
            let worst = match (view.is_exact(node), distance <= band) {
                (true, true) => &mut d.in_band,
                (true, false) => &mut d.in_bricks,
                (false, in_band) => {
                    assert!(!in_band, "{node:?} is in the band, but in no brick");
                    &mut d.elsewhere
                }
            };
            *worst = worst.max(off);
            d.inside += usize::from(behind);
            d.nodes += 1;
        }
        d
    }

    /// Walks up the gradient from nodes inside; returns how many starts never came out.
    pub(super) fn stuck_inside(&self, step: u32) -> usize {
        let view = self.buffers.view();
        let cell = view.shape.cell;
        let starts = every_node(&view.shape, step).map(|n| view.shape.node_position(n));
        let inside = starts.filter(|p| view.sample(*p) < 0.0);
        inside
            .filter(|p| {
                let mut p = *p;
                // Long enough to cross the grid twice.
                for _ in 0..8 * view.shape.nodes().iter().max().expect("three") {
                    let (d, g) = view.sample_with_gradient(p);
                    if d >= 0.0 {
                        return false;
                    }
                    let length = length(g).max(1e-6);
                    p = std::array::from_fn(|k| p[k] + 0.4 * cell * g[k] / length);
                }
                true
            })
            .count()
    }
}

/// An open or closed part of a sphere around the origin, `rings` from pole to `end` (1 closes it).
pub(super) fn torus(nu: u32, nv: u32) -> (Topology, Vec<[f32; 3]>) {
    let turn = |i: u32, n: u32| std::f32::consts::TAU * i as f32 / n as f32;
    let at = |i: u32, j: u32| {
        let (u, v) = (turn(i, nu), turn(j, nv));
        let r = 0.6 + 0.2 * v.cos();
        [r * u.cos(), r * u.sin(), 0.2 * v.sin()]
    };
    let positions = (0..nu * nv).map(|n| at(n / nv, n % nv)).collect();
    let id = |i: u32, j: u32| (i % nu) * nv + j % nv;
    let triangles = (0..nu * nv).flat_map(|n| {
        let (i, j) = (n / nv, n % nv);
        let q = [id(i, j), id(i + 1, j), id(i + 1, j + 1), id(i, j + 1)];
        [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]
    });
    let topology = Topology::new(nu * nv, triangles.collect()).expect("in range");
    (topology, positions)
}

/// Upper half of a sphere of radius one, open below.
pub(super) fn hemisphere(sphere: &Mesh) -> Topology {
    let above = |v: u32| sphere.positions[v as usize][1] > -1e-3;
    let kept = sphere.topology.triangles().iter().copied();
    let kept = kept.filter(|t| t.iter().all(|&v| above(v))).collect();
    Topology::new(sphere.positions.len() as u32, kept).expect("in range")
}

/// Largest difference of samples to a closed form, in cells, over nodes nearer than `within` cells.
fn against(made: &Made, form: impl Fn([f32; 3]) -> f32, within: f32) -> f32 {
    let view = made.buffers.view();
    let cell = view.shape.cell;
    let positions = every_node(&view.shape, 1).map(|n| view.shape.node_position(n));
    let near = positions.filter(|p| form(*p).abs() < within * cell);
    near.map(|p| ((view.sample(p) - form(p)) / cell).abs())
        .fold(0.0, f32::max)
}

#[test]
fn sphere_has_its_closed_form() {
    let made = make_mesh(&meshes::sphere(96, 192), cells(40));
    assert!(made.bind.report().is_closed(), "{:?}", made.bind.report());
    let off = against(&made, |p| length(p) - 1.0, 3.0);
    // The mesh is up to 0.0005 inside the sphere, a cell is 0.05.
    assert!(off < 0.012, "{off} cells");
}

#[test]
fn box_has_its_closed_form() {
    let cube = meshes::cube();
    let half = cube.positions[0].map(f32::abs)[0];
    let made = make_mesh(&cube, cells(24));
    assert!(made.bind.report().is_closed(), "split corners are welded");
    let form = |p: [f32; 3]| {
        let q = p.map(|c| c.abs() - half);
        let outside = length(q.map(|c| c.max(0.0)));
        outside + q[0].max(q[1]).max(q[2]).min(0.0)
    };
    assert!(against(&made, form, 3.0) < 1e-4);
}

#[test]
fn torus_has_its_closed_form() {
    let (topology, positions) = torus(160, 96);
    let made = make(&topology, &positions, cells(48));
    let form = |p: [f32; 3]| length([length([p[0], p[1], 0.0]) - 0.6, p[2], 0.0]) - 0.2;
    let off = against(&made, form, 3.0);
    assert!(off < 0.02, "{off} cells");
    assert_eq!(made.compare(31).wrong_signs, 0);
}

#[test]
fn nodes_are_corners_of_cells() {
    let made = make_mesh(&meshes::sphere(8, 16), cells(16));
    let shape = made.report.shape;
    let [x, y, z] = shape.node_position([1, 2, 3]);
    for (k, v) in [(0, x), (1, y), (2, z)] {
        let there = shape.origin[k] + shape.cell * (k + 1) as f32;
        assert!((v - there).abs() < 1e-6);
    }
    let view = made.buffers.view();
    let node = [9, 12, 10];
    let p = shape.node_position(node);
    assert!((view.node(node) - view.sample(p)).abs() < 1e-5);
}

#[test]
fn both_signs_agree_on_closed_meshes() {
    let sphere = meshes::sphere(24, 48);
    for sign in [SignMethod::Pseudonormals, SignMethod::WindingNumber] {
        let settings = SdfSettings { sign, ..cells(32) };
        let d = make_mesh(&sphere, settings).compare(7);
        assert_eq!(d.wrong_signs, 0, "{sign:?}: {d:?}");
        assert!(
            d.in_band < 1e-4 && d.in_bricks < 0.5 && d.inside > 300,
            "{d:?}"
        );
    }
}

/// How far the upper half of the unit sphere is: along the radius above, to the rim below.
fn to_hemisphere([x, y, z]: [f32; 3]) -> f32 {
    if y >= 0.0 {
        (length([x, y, z]) - 1.0).abs()
    } else {
        length([length([x, 0.0, z]) - 1.0, y, 0.0])
    }
}

/// Largest difference from that, in cells, and how many signs are wrong, over the nodes of which `is_behind` is known; of those that are no
/// copies of bricks only the sign counts.
fn against_hemisphere(
    made: &Made,
    is_behind: impl Fn([f32; 3], bool) -> Option<bool>,
) -> (f32, usize, usize) {
    let view = made.buffers.view();
    let (mut off, mut wrong, mut count) = (0.0_f32, 0, 0);
    for node in every_node(&view.shape, 1) {
        let (p, found) = (view.shape.node_position(node), view.node(node));
        let in_brick = view.is_exact(node);
        let Some(behind) = is_behind(p, in_brick) else {
            continue;
        };
        count += 1;
        wrong += usize::from((found < 0.0) != behind);
        if in_brick {
            off = off.max((found.abs() - to_hemisphere(p)).abs() / view.shape.cell);
        }
    }
    (off, wrong, count)
}

/// From a place in the rim's plane the rim's disc takes up half of all directions, so that the number is a half there: the lid is that
/// disc.
#[test]
fn open_hemisphere_is_filled_by_winding_numbers() {
    let sphere = meshes::sphere(40, 80);
    let topology = hemisphere(&sphere);
    let settings = SdfSettings {
        sign: SignMethod::WindingNumber,
        ..cells(32)
    };
    let made = make(&topology, &sphere.positions, settings);
    assert_eq!(made.bind.report().open_edges, 80);
    // On the axis the number is `1/2 + y / (2 sqrt(1 + y^2))`. It is documented to within 0.01 in bricks, and 0.11 between them.
    let is_behind = |p: [f32; 3], in_brick: bool| {
        let known = if in_brick { 0.03 } else { 0.3 };
        (p[1].abs() > known).then(|| p[1] > 0.0 && length(p) < 1.0)
    };
    let (off, wrong, count) = against_hemisphere(&made, is_behind);
    assert_eq!(wrong, 0, "of {count}");
    // The mesh is up to 0.0016 inside the sphere, a cell is 0.06.
    assert!(off < 0.03 && count > 10_000, "{off} cells at {count} nodes");
}

/// Above the rim signs are those of the sphere. Below it the nearest edge is open, and its pseudonormal that of its triangle, level but for
/// half of a triangle's height: behind it is what is nearer to the axis than the rim.
#[test]
fn open_hemisphere_has_two_sides_by_pseudonormals() {
    let sphere = meshes::sphere(40, 80);
    let made = make(&hemisphere(&sphere), &sphere.positions, cells(32));
    let is_behind = |p: [f32; 3], in_brick: bool| {
        let [x, y, z] = p;
        let beyond = length([x, y.max(0.0), z]) - 1.0;
        let aslant = 0.1 * (-y).max(0.0) + 2e-3;
        (in_brick && beyond.abs() > aslant).then_some(beyond < 0.0)
    };
    let (off, wrong, count) = against_hemisphere(&made, is_behind);
    assert_eq!(wrong, 0, "of {count}");
    assert!(off < 0.03 && count > 3_000, "{off} cells at {count} nodes");
}

#[test]
fn outside_the_grid_is_a_continuous_lower_bound() {
    let made = make_mesh(&meshes::sphere(48, 96), cells(24));
    let view = made.buffers.view();
    let high = view.shape.high();
    for i in 0..200 {
        let t = i as f32 * 0.05;
        let p = [high[0] - 0.05 + t, 0.3 * t, 0.2 - 0.1 * t];
        let (d, g) = view.sample_with_gradient(p);
        assert!(
            d > 0.0 && d <= length(p) - 1.0 + 0.2 * view.shape.cell,
            "{d} at {p:?}"
        );
        assert_eq!(d, view.sample(p));
        assert!(length(g) < 1.05 && g[0] > 0.0, "{g:?}");
    }
    let side = view.sample([high[0], 0.1, 0.1]);
    let beyond = view.sample([high[0] * 1.0001, 0.1, 0.1]);
    assert!((side - beyond).abs() < 1e-3);
}

#[test]
fn gradient_is_the_derivative() {
    let made = make_mesh(&meshes::sphere(24, 48), cells(20));
    let view = made.buffers.view();
    let cell = view.shape.cell;
    for node in every_node(&view.shape, 97) {
        // Away from the sides of cells, where it jumps.
        let p = view.shape.node_position(node).map(|c| c + 0.37 * cell);
        let (_, g) = view.sample_with_gradient(p);
        for k in 0..3 {
            let h = 0.05 * cell;
            let moved = |s: f32| {
                let mut q = p;
                q[k] += s;
                view.sample(q)
            };
            let slope = (moved(h) - moved(-h)) / (2.0 * h);
            assert!((slope - g[k]).abs() < 5e-3, "{node:?} {slope} {}", g[k]);
        }
    }
}

#[test]
fn early_out_agrees_with_the_sample() {
    let made = make_mesh(&meshes::sphere(24, 48), cells(20));
    let view = made.buffers.view();
    for i in 0..400 {
        let t = i as f32 * 0.01 - 2.0;
        let p = [t, 0.2 * t, 0.1];
        let below = view.sample_below(p, 0.1);
        assert_eq!(below.is_some(), view.sample(p) < 0.1, "{p:?}");
    }
}

#[cfg(feature = "rayon")]
#[test]
fn threads_do_not_change_bits() {
    let mesh = meshes::sphere(40, 80);
    let frame = FieldFrame::default();
    for storage in [Storage::Single, Storage::Half] {
        let settings = SdfSettings {
            storage,
            ..cells(40)
        };
        let bind = SdfBind::new(&mesh.topology, &mesh.positions, &frame, settings).expect("valid");
        let built = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let mut buffers = FieldBuffers::new(&bind);
            let pool = pool.build().expect("pool");
            pool.install(|| buffers.build(&bind, &mesh.positions, &frame, Par::Rayon));
            bits(&buffers.view())
        };
        let one = built(1);
        assert!(one == built(2) && one == built(3), "{storage:?}");
        let mut sequential = FieldBuffers::new(&bind);
        sequential.build(&bind, &mesh.positions, &frame, Par::Seq);
        assert!(one == bits(&sequential.view()), "{storage:?}");
    }
}

#[cfg(feature = "rayon")]
fn bits(view: &FieldView<'_>) -> Vec<u32> {
    let nodes = every_node(&view.shape, 1);
    nodes.map(|n| view.node(n).to_bits()).collect()
}

#[test]
fn half_precision_costs_a_thousandth() {
    let mesh = meshes::sphere(24, 48);
    let single = make_mesh(&mesh, cells(24));
    let settings = SdfSettings {
        storage: Storage::Half,
        ..cells(24)
    };
    let half = make_mesh(&mesh, settings);
    let (a, b) = (single.buffers.view(), half.buffers.view());
    let worst = every_node(&a.shape, 1).map(|n| ((a.node(n) - b.node(n)) / a.shape.cell).abs());
    let worst = worst.fold(0.0, f32::max);
    assert!(worst > 0.0 && worst < 0.004, "{worst}");
    assert!(half.buffers.bytes() < single.buffers.bytes());
}

#[test]
fn halves_round_trip_and_round_to_even() {
    for bits in 0..=u16::MAX {
        let value = single_from(bits);
        if value.is_nan() {
            assert!(single_from(half_from(value)).is_nan());
        } else {
            assert_eq!(half_from(value), bits, "{value}");
        }
    }
    for (value, half) in [
        (1.0, 0x3c00),
        (65504.0, 0x7bff),
        (1e9, 0x7c00),
        (5.960_464_5e-8, 1),
    ] {
        assert_eq!(half_from(value), half);
    }
    assert_eq!(half_from(1.0 + 0.5 / 1024.0), 0x3c00, "tie to even");
    assert_eq!(half_from(1.0 + 1.5 / 1024.0), 0x3c02, "tie to even");
    assert_eq!(half_from(0.1), 0x2e66);
}

#[test]
fn frame_moves_the_field() {
    let mesh = meshes::sphere(24, 48);
    let turn = Quat::from_euler_angles(0.4, -0.7, 1.1);
    let frame = FieldFrame::new(turn, 2.5, [3.0, -1.0, 0.5]).expect("finite");
    let bind = SdfBind::new(&mesh.topology, &mesh.positions, &frame, cells(32)).expect("valid");
    let mut buffers = FieldBuffers::new(&bind);
    buffers.build(&bind, &mesh.positions, &frame, Par::Seq);
    let view = buffers.view();
    for i in 0..50 {
        let t = i as f32 * 0.13;
        let at = [t.cos(), (1.7 * t).sin(), (2.3 * t).cos()];
        let p = at.map(|c| c * 1.02 / length(at));
        let (d, g) = view.sample_with_gradient_in_scene(p);
        assert!((d - 0.02).abs() < 0.006, "{d}");
        let along: f32 = (0..3).map(|k| g[k] * p[k] / 1.02).sum();
        assert!(along > 0.95, "{along}");
        let back = frame.point_to_scene(frame.point_from_scene(p));
        assert!((0..3).all(|k| (back[k] - p[k]).abs() < 1e-5));
        assert!(view.sample_below_in_scene(p, 0.05).is_some());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any soup: distances are those of every triangle, signs those of the definition.
    #[test]
    fn soup_has_the_distances_of_all_its_triangles(
        points in prop::collection::vec(prop::array::uniform3(-1.0_f32..1.0), 6..40),
        corners in prop::collection::vec(prop::array::uniform3(0_u32..6), 1..60),
    ) {
        let topology = Topology::new(points.len() as u32, corners).expect("in range");
        if let Ok(bind) = SdfBind::new(&topology, &points, &FieldFrame::default(), cells(14)) {
            let mut buffers = FieldBuffers::new(&bind);
            let report = buffers.build(&bind, &points, &FieldFrame::default(), Par::Seq);
            let made = Made { bind, buffers, report, positions: points };
            let d = made.compare(17);
            prop_assert!(d.in_band < 2e-4 && d.in_bricks < 2.0, "{:?}", d);
        }
    }
}

/// Bit for bit, in bricks, between them, outside of the grid and where nothing is finite.
#[test]
fn eight_look_ups_are_eight_single_ones() {
    let mesh = meshes::sphere(12, 24);
    for storage in [Storage::Single, Storage::Half] {
        let made = make_mesh(
            &mesh,
            SdfSettings {
                storage,
                ..cells(60)
            },
        );
        let view = made.buffers.view();
        let (low, high) = (view.shape.origin, view.shape.high());
        let (unit, mut fine, mut coarse, mut outside) = (0.7_f32, 0, 0, 0);
        for group in 0..500_u32 {
            let mut points = [[0.0; 8]; 3];
            for (axis, lanes) in points.iter_mut().enumerate() {
                for (lane, value) in lanes.iter_mut().enumerate() {
                    let number = (group * 8 + lane as u32) as f32;
                    let share = (number * [0.754_877, 0.569_84, 0.430_16][axis]).fract();
                    let share = share * 1.3 - 0.15;
                    *value = (low[axis] + (high[axis] - low[axis]) * share) * unit;
                }
            }
            if group == 7 {
                points[1][3] = f32::NAN;
                points[0][5] = f32::INFINITY;
                points[2][6] = -1e30;
            }
            let wanted = (group * 37) as u8 | 1;
            let found = view.sample_eight(&points, wanted, unit);
            for lane in (0..8).filter(|lane| (wanted >> lane) & 1 != 0) {
                let scale = 1.0 / unit;
                let point = points.map(|axis| axis[lane] * scale);
                let (distance, gradient) = view.sample_with_gradient(point);
                let expected = [&[distance * unit], &gradient[..]].concat();
                let found = [
                    found.0[lane],
                    found.1[0][lane],
                    found.1[1][lane],
                    found.1[2][lane],
                ];
                for (found, expected) in found.iter().zip(expected) {
                    assert!(
                        found.to_bits() == expected.to_bits()
                            || found.is_nan() && expected.is_nan(),
                        "{point:?}: {found} {expected}"
                    );
                }
                let at = [0, 1, 2].map(|k| (point[k] - low[k]) / view.shape.cell);
                if (0..3).any(|k| !(at[k] >= 0.0 && point[k] <= high[k])) {
                    outside += 1;
                } else if view.is_exact(at.map(|c| c as u32)) {
                    fine += 1;
                } else {
                    coarse += 1;
                }
            }
        }
        let all = [fine, coarse, outside];
        assert!(all.iter().all(|&count| count > 100), "{all:?}");
    }
}

/// Within a box all bits are those of the whole field, and fewer bricks are built, whatever decides the signs.
#[test]
fn within_reach_all_bits_are_those_of_the_whole_field() {
    let (topology, positions) = torus(48, 24);
    let torus = Mesh::new("torus", topology, positions);
    let mut open = meshes::sphere(24, 48);
    let triangles = open.topology.triangles()[200..].to_vec();
    let topology = Topology::new(open.positions.len() as u32, triangles).expect("valid");
    open.topology = std::sync::Arc::new(topology);
    let mut random = Random(3);
    for (mesh, sign) in [
        (&torus, SignMethod::WindingNumber),
        (&torus, SignMethod::Pseudonormals),
        (&open, SignMethod::WindingNumber),
    ] {
        let settings = SdfSettings { sign, ..cells(50) };
        let mut made = make_mesh(mesh, settings);
        let whole = made.buffers.clone();
        let frame = FieldFrame::default();
        for case in 0..12 {
            let size = [0.05, 0.3, 1.0][case % 3];
            let mut near = |middle: f32| middle + size * random.within(-1.0, 1.0) as f32;
            let at = mesh.positions[(37 * case) % mesh.positions.len()];
            let [a, b] = [(); 2].map(|()| at.map(&mut near));
            let reach = FieldReach {
                low: [0, 1, 2].map(|k| a[k].min(b[k])),
                high: [0, 1, 2].map(|k| a[k].max(b[k])),
            };
            let bind = &made.bind;
            let report = made
                .buffers
                .build_within(bind, &mesh.positions, &frame, &reach, Par::Seq);
            let (limited, whole) = (made.buffers.view(), whole.view());
            assert_eq!(limited.shape, whole.shape);
            let filled = |v: &FieldView<'_>| v.table.iter().filter(|b| **b != NO_BRICK).count();
            assert_eq!(report.bricks_wanted, filled(&limited));
            assert!(
                size >= 1.0 || filled(&limited) < filled(&whole) / 2,
                "{case}"
            );
            for _ in 0..400 {
                let p = [0, 1, 2]
                    .map(|k| random.within(reach.low[k].into(), reach.high[k].into()) as f32);
                let (found, expected) = (limited.sample(p), whole.sample(p));
                assert_eq!(
                    found.to_bits(),
                    expected.to_bits(),
                    "{sign:?}, {case}: {p:?}"
                );
            }
        }
    }
}
