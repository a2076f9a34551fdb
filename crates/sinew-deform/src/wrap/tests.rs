use super::*;
use proptest::prelude::*;
use sinew_geom::{Affine, Mesh, Quat, Topology, Vec3};
use sinew_testkit::{max_distance, meshes};

mod by_points;

/// Modes with triangles.
const TRIANGLES: [WrapMode; 3] = [WrapMode::Surface, WrapMode::Triangle, WrapMode::Smooth];

const MODES: [WrapMode; 6] = [
    WrapMode::Surface,
    WrapMode::Triangle,
    WrapMode::Smooth,
    WrapMode::Points,
    WrapMode::Rbf,
    WrapMode::Cage,
];

fn with(mode: WrapMode) -> WrapConfig {
    WrapConfig {
        mode,
        ..WrapConfig::default()
    }
}

struct Out {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
}

fn run_par(bind: &WrapBind, mesh: &Mesh, driver: &[[f32; 3]], par: Par) -> Out {
    let mut out = Out {
        positions: vec![[9.0; 3]; mesh.vertex_count()],
        normals: vec![[9.0; 3]; mesh.vertex_count()],
    };
    WrapJob {
        bind,
        weight: MaskWeight::ONE,
        input: MeshView {
            positions: &mesh.positions,
            normals: mesh.normals.as_deref(),
            ..MeshView::default()
        },
        driver,
        output: MeshViewMut {
            positions: Some(&mut out.positions),
            normals: Some(&mut out.normals),
            ..MeshViewMut::default()
        },
        scratch: &mut bind.new_scratch(),
        par,
    }
    .run();
    out
}

fn run(bind: &WrapBind, mesh: &Mesh, driver: &[[f32; 3]]) -> Out {
    run_par(bind, mesh, driver, Par::Seq)
}

/// A sphere a little outside a coarser sphere.
fn shell() -> (Mesh, Mesh) {
    let mut mesh = meshes::sphere(14, 18);
    mesh.positions.iter_mut().flatten().for_each(|c| *c *= 1.15);
    (mesh, meshes::sphere(9, 12))
}

fn map(points: &[[f32; 3]], a: &Affine<f64>) -> Vec<[f32; 3]> {
    points
        .iter()
        .map(|p| f64::array3(a.point(f64::vec3(*p))))
        .collect()
}

#[test]
fn row_000_wrap_at_rest_changes_nothing() {
    let (mesh, driver) = shell();
    for mode in MODES {
        let bind = WrapBind::new(&mesh, &driver, with(mode)).expect("valid");
        let out = run(&bind, &mesh, &driver.positions);
        assert!(
            max_distance(&out.positions, &mesh.positions) < 2e-6,
            "{mode:?}"
        );
        let normals = mesh.normals.as_deref().expect("has normals");
        assert!(max_distance(&out.normals, normals) < 1e-5, "{mode:?}");
    }
}

#[test]
fn row_000_wrap_follows_rigid_motions_of_the_driver() {
    let (mesh, driver) = shell();
    let motion = Affine::from_trs(
        Vec3::new(0.3, -2.0, 0.7),
        Quat::from_euler_angles(0.5, -1.2, 2.4),
        Vec3::repeat(1.0),
    );
    for mode in MODES {
        let bind = WrapBind::new(&mesh, &driver, with(mode)).expect("valid");
        let out = run(&bind, &mesh, &map(&driver.positions, &motion));
        let expected = map(&mesh.positions, &motion);
        assert!(max_distance(&out.positions, &expected) < 5e-6, "{mode:?}");
        let turn = Affine {
            translation: Vec3::zeros(),
            ..motion
        };
        let normals = map(mesh.normals.as_deref().expect("has normals"), &turn);
        assert!(max_distance(&out.normals, &normals) < 1e-5, "{mode:?}");
    }
}

#[test]
fn wrap_scales_with_the_driver() {
    let (mesh, driver) = shell();
    let scale = Affine::from_trs(Vec3::zeros(), Quat::identity(), Vec3::repeat(2.5));
    for mode in MODES {
        if matches!(mode, WrapMode::Surface | WrapMode::Triangle) {
            continue;
        }
        let bind = WrapBind::new(&mesh, &driver, with(mode)).expect("valid");
        let out = run(&bind, &mesh, &map(&driver.positions, &scale));
        let expected = map(&mesh.positions, &scale);
        assert!(max_distance(&out.positions, &expected) < 1e-5, "{mode:?}");
    }
}

#[test]
fn points_on_the_surface_follow_affine_maps_exactly() {
    let mut mesh = meshes::grid(7, 7);
    mesh.positions
        .iter_mut()
        .for_each(|p| *p = [0.1 + 0.8 * p[0], 0.1 + 0.8 * p[1], 0.0]);
    let driver = meshes::grid(3, 4);
    let mut shear = Affine::from_trs(
        Vec3::new(1.0, 0.0, 0.0),
        Quat::identity(),
        Vec3::new(2.0, 0.5, 1.0),
    );
    shear.linear[(2, 0)] = 0.7;
    for mode in [WrapMode::Surface, WrapMode::Smooth] {
        let bind = WrapBind::new(&mesh, &driver, with(mode)).expect("valid");
        let out = run(&bind, &mesh, &map(&driver.positions, &shear));
        assert!(
            max_distance(&out.positions, &map(&mesh.positions, &shear)) < 2e-6,
            "{mode:?}"
        );
        // The plane's new normal: (-0.7 / 2, 0, 1).
        let n = f64::vec3([-0.35, 0.0, 1.0]).normalize();
        let all = out
            .normals
            .iter()
            .all(|&m| (f64::vec3(m) - n).norm() < 1e-5);
        assert!(all, "{mode:?} {:?}", out.normals[0]);
    }
}

#[test]
fn surface_offset_keeps_its_height_over_a_growing_sphere() {
    // A point h above the unit sphere stays h above the doubled one.
    let driver = meshes::sphere(24, 32);
    let mut mesh = meshes::sphere(7, 9);
    mesh.positions.iter_mut().flatten().for_each(|c| *c *= 1.2);
    let bind = WrapBind::new(&mesh, &driver, with(WrapMode::Surface)).expect("valid");
    let doubled: Vec<[f32; 3]> = driver
        .positions
        .iter()
        .map(|p| p.map(|c| 2.0 * c))
        .collect();
    for p in run(&bind, &mesh, &doubled).positions {
        let r = f64::vec3(p).norm();
        // The facets of the driver lie up to 0.01 below the sphere.
        assert!((r - 2.2).abs() < 0.02, "{r}");
    }
}

#[test]
fn surface_mode_is_continuous_across_a_ridge() {
    // A roof folded along x = 0, and points that pass over its ridge, far enough to change faces.
    let positions = vec![
        [-1.0, 0.0, -1.0],
        [-1.0, 0.0, 1.0],
        [0.0, 0.5, -1.0],
        [0.0, 0.5, 1.0],
        [1.0, 0.0, -1.0],
        [1.0, 0.0, 1.0],
    ];
    let triangles = vec![[0, 1, 2], [1, 3, 2], [2, 3, 4], [3, 5, 4]];
    let driver = Mesh::new(
        "roof",
        Topology::new(6, triangles).expect("valid"),
        positions,
    );
    let points: Vec<[f32; 3]> = (0..81)
        .map(|i| [0.01 * (i as f32 - 40.0), 0.8, 0.1])
        .collect();
    let mesh = Mesh::new(
        "points",
        Topology::new(81, Vec::new()).expect("valid"),
        points,
    );
    let mut folded = driver.positions.clone();
    folded.iter_mut().for_each(|p| p[1] *= 2.0);
    let jump = |mode| {
        let bind = WrapBind::new(&mesh, &driver, with(mode)).expect("valid");
        let out = run(&bind, &mesh, &folded).positions;
        out.windows(2)
            .map(|w| (f64::vec3(w[1]) - f64::vec3(w[0])).norm())
            .fold(0.0, f64::max)
    };
    assert!(
        jump(WrapMode::Surface) < 0.04,
        "{}",
        jump(WrapMode::Surface)
    );
    assert!(jump(WrapMode::Triangle) > 0.05, "the rigid frames do jump");
}

#[test]
fn far_points_stay_and_the_falloff_fades() {
    let driver = meshes::grid(2, 2);
    let points: Vec<[f32; 3]> = [0.1, 0.5, 0.75, 1.5].map(|z| [0.4, 0.3, z]).to_vec();
    let mesh = Mesh::new(
        "points",
        Topology::new(4, Vec::new()).expect("valid"),
        points,
    );
    let config = WrapConfig {
        max_distance: 1.0,
        falloff: 0.5,
        ..with(WrapMode::Triangle)
    };
    let bind = WrapBind::new(&mesh, &driver, config).expect("valid");
    let lifted: Vec<[f32; 3]> = driver.positions.iter().map(|p| [p[0], p[1], 1.0]).collect();
    let out = run(&bind, &mesh, &lifted).positions;
    for (o, z) in out.iter().zip([1.1, 1.5, 1.25, 1.5]) {
        assert!((o[2] - z).abs() < 1e-6, "{o:?} {z}");
    }
}

#[test]
fn opposing_triangles_are_rejected() {
    // Two sheets facing each other; the point belongs to the lower one but is nearer to the upper one.
    let positions = vec![
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 0.1],
        [1.0, 0.0, 0.1],
        [0.0, 1.0, 0.1],
    ];
    let driver = Mesh::new(
        "lips",
        Topology::new(6, vec![[0, 1, 2], [3, 5, 4]]).expect("valid"),
        positions,
    );
    let mut mesh = Mesh::new(
        "point",
        Topology::new(1, Vec::new()).expect("valid"),
        vec![[0.2, 0.2, 0.08]],
    );
    mesh.normals = Some(vec![[0.0, 0.0, 1.0]]);
    for (reject_opposing, expected) in [(false, 1), (true, 0)] {
        let config = WrapConfig {
            reject_opposing,
            ..with(WrapMode::Triangle)
        };
        let bind = WrapBind::new(&mesh, &driver, config).expect("valid");
        assert_eq!(
            bind.bindings_of(0)[0].triangle,
            expected,
            "reject {reject_opposing}"
        );
    }
}

#[test]
fn tree_finds_what_brute_force_finds() {
    let driver = meshes::sphere(11, 13);
    let corners: Vec<[Vec3<f64>; 3]> = driver
        .topology
        .triangles()
        .iter()
        .map(|t| t.map(|v| f64::vec3(driver.positions[v as usize])))
        .collect();
    let order = (0..corners.len() as u32).collect();
    let bvh = Bvh::build(corners.clone(), order);
    for i in 0..60_u32 {
        let p = Vec3::from([0, 1, 2].map(|c| {
            f64::from(i.wrapping_mul(2_654_435_761).rotate_left(9 * c) % 1000) / 300.0 - 1.6
        }));
        let mut all: Vec<(f64, u32)> = (0_u32..)
            .zip(&corners)
            .map(|(t, c)| {
                let b = closest_point(p, *c);
                (
                    (p - (c[0] * b[0] + c[1] * b[1] + c[2] * b[2])).norm_squared(),
                    t,
                )
            })
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let found = bvh.nearest(p, 5, f64::INFINITY, |_| true);
        let found: Vec<(f64, u32)> = found.iter().map(|h| (h.square, h.triangle)).collect();
        assert_eq!(found, all[..5], "point {i}");
    }
}

#[test]
fn degenerate_drivers_and_collapse_stay_finite() {
    let (mesh, _) = shell();
    let driver = meshes::degenerate();
    for mode in MODES.into_iter().filter(|m| *m != WrapMode::Cage) {
        let bind = WrapBind::new(&mesh, &driver, with(mode)).expect("some area");
        let out = run(&bind, &mesh, &driver.positions);
        assert!(
            max_distance(&out.positions, &mesh.positions) < 1e-4,
            "{mode:?} at rest"
        );
        let line: Vec<[f32; 3]> = (0..11).map(|i| [i as f32, 0.0, 0.0]).collect();
        for collapsed in [vec![[1.0; 3]; 11], line] {
            let out = run(&bind, &mesh, &collapsed);
            let all = out.positions.iter().chain(&out.normals).flatten();
            assert!(all.copied().all(f32::is_finite), "{mode:?}");
        }
    }
}

#[test]
fn kernel_is_the_reference() {
    let (mesh, driver) = shell();
    let n = mesh.vertex_count();
    assert!(!n.is_multiple_of(8), "{n} vertices leave a rest");
    let mut moved = driver.positions.clone();
    for [x, y, z] in &mut moved {
        (*x, *y) = (*x * 1.2 + 0.3 * *y, *y + 0.2 * (3.0 * *z).sin());
    }
    let mirrored: Vec<_> = moved.iter().map(|&[x, y, z]| [-x, y, z]).collect();
    let mut collapsed = moved.clone();
    collapsed[40] = collapsed[41];
    let gone = vec![[1.0; 3]; moved.len()];
    let mask: Vec<f32> = (0..n).map(|v| (v % 4) as f32 / 3.0).collect();
    let tangents = vec![[0.6, 0.0, 0.8, 1.0]; n];
    let normals = driver.normals.clone();
    for (mode, driver_now) in MODES
        .into_iter()
        .flat_map(|mode| [&moved, &mirrored, &collapsed, &gone].map(|d| (mode, d)))
    {
        let config = WrapConfig {
            max_distance: 0.2,
            falloff: 0.1,
            neighbours: 5,
            ..with(mode)
        };
        let bind = WrapBind::new(&mesh, &driver, config).expect("valid");
        let rest = bind.points.as_ref().map_or(&[][..], |p| &p.rest);
        let displacements: Vec<[f32; 3]> = (driver_now.iter().zip(rest))
            .map(|(now, rest)| [0, 1, 2].map(|c| now[c] - rest[c]))
            .collect();
        let frame = reference::Frame {
            displacements: &displacements,
            bind: &bind,
            weight: MaskWeight {
                mask: Some(&mask),
                ..MaskWeight::ONE
            },
            input: MeshView {
                positions: &mesh.positions,
                normals: mesh.normals.as_deref(),
                tangents: Some(&tangents),
                colors: None,
                ..MeshView::default()
            },
            driver: driver_now,
            normals: normals.as_deref().expect("has normals"),
        };
        let zero = || (vec![[0.0; 3]; n], vec![[0.0; 3]; n], vec![[0.0; 4]; n]);
        let (mut a, mut b) = (zero(), zero());
        let out = (Some(&mut a.0[..]), Some(&mut a.1[..]), Some(&mut a.2[..]));
        run_chunk(&frame, true, 0..n, out);
        let mut out = (Some(&mut b.0[..]), Some(&mut b.1[..]), Some(&mut b.2[..]));
        reference::one_by_one(&frame, 0..n, 0, &mut out);
        for v in 0..n {
            let close = |a: &[f32], b: &[f32]| {
                let off = a.iter().zip(b).map(|(a, b)| (a - b).abs());
                let off = off.fold(0.0, f32::max);
                assert!(off < 1e-5, "{mode:?}, vertex {v}: {a:?} {b:?}");
            };
            close(&a.0[v], &b.0[v]);
            close(&a.1[v], &b.1[v]);
            close(&a.2[v], &b.2[v]);
        }
    }
}

#[test]
fn a_driver_without_area_is_refused() {
    let (mesh, _) = shell();
    let driver = Mesh::new(
        "line",
        Topology::new(3, vec![[0, 1, 2]]).expect("valid"),
        vec![[0.0; 3], [1.0; 3], [2.0; 3]],
    );
    let empty = Mesh::default();
    for mode in TRIANGLES {
        assert!(
            WrapBind::new(&mesh, &driver, with(mode)).is_err(),
            "{mode:?}"
        );
    }
    for mode in MODES {
        assert!(
            WrapBind::new(&mesh, &empty, with(mode)).is_err(),
            "{mode:?}"
        );
    }
    let error = WrapBind::new(&mesh, &driver, WrapConfig::default()).expect_err("no area");
    assert_eq!(
        error.to_string(),
        "the driver has 1 triangles, but none of them has an area"
    );
}

#[test]
fn threads_do_not_change_a_bit_and_saved_setup_is_checked() {
    let (mesh, driver) = (meshes::sphere(40, 60), meshes::sphere(9, 12));
    for mode in MODES {
        let bind = WrapBind::new(&mesh, &driver, with(mode)).expect("valid");
        let (a, b) = (
            run_par(&bind, &mesh, &driver.positions, Par::Seq),
            run_par(&bind, &mesh, &driver.positions, Par::Rayon),
        );
        assert_eq!(
            (a.positions, a.normals),
            (b.positions, b.normals),
            "{mode:?}"
        );
        let bytes = postcard::to_stdvec(&bind).expect("serialises");
        let read = || postcard::from_bytes::<WrapBind>(&bytes).expect("reads");
        let back = read()
            .restored(&mesh, &driver, with(mode))
            .expect("same meshes");
        assert_eq!(back, bind);
        assert!(
            read().restored(&driver, &driver, with(mode)).is_err(),
            "another mesh"
        );
        let mut bad = read();
        match &mut bad.points {
            Some(points) => points.points[0] = 1_000_000,
            None => bad.bindings[0].triangle = 1_000_000,
        }
        assert!(
            bad.restored(&mesh, &driver, with(mode)).is_err(),
            "triangle out of range"
        );
        let mut bad = read();
        match &mut bad.points {
            Some(points) => points.count = usize::MAX / 2,
            None => bad.offsets.clear(),
        }
        let bad = bad.restored(&mesh, &driver, with(mode));
        assert!(bad.is_err(), "{mode:?}: lengths");
    }
}

proptest! {
    #[test]
    fn closest_point_beats_samples(p in prop::array::uniform12(-1.0_f64..1.0)) {
        let t = [Vec3::new(p[0], p[1], p[2]), Vec3::new(p[3], p[4], p[5]), Vec3::new(p[6], p[7], p[8])];
        let q = Vec3::new(p[9], p[10], p[11]);
        let at = |b: [f64; 3]| t[0] * b[0] + t[1] * b[1] + t[2] * b[2];
        let b = closest_point(q, t);
        prop_assert!(b.iter().all(|&x| x >= -1e-12) && (b.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let best = (at(b) - q).norm();
        for i in 0..=10 {
            for j in 0..=10 - i {
                let s = [f64::from(i) / 10.0, f64::from(j) / 10.0, f64::from(10 - i - j) / 10.0];
                prop_assert!(best <= (at(s) - q).norm() + 1e-9);
            }
        }
    }
}
