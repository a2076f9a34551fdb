//! Modes `points`, `rbf` and `cage`, against closed forms, definitions and other ways to solve.

use super::super::cage::Cage;
use super::super::points::{DriverPoints, PointBind, weld};
use super::super::rbf::Rbf;
use super::super::reference::carry_by_points;
use super::*;
use sinew_geom::Mat3;
use sinew_geom::nalgebra::{DMatrix, SVD};

/// Deterministic numbers in -1..1.
fn noise(i: usize) -> f64 {
    let hash = (i as u32).wrapping_mul(2_654_435_761).rotate_left(11);
    f64::from(hash.wrapping_mul(2_246_822_519) >> 8) / f64::from(1_u32 << 23) - 1.0
}

fn shaken(points: &[[f32; 3]], by: f64) -> Vec<[f32; 3]> {
    let points = points.iter().enumerate();
    points
        .map(|(i, p)| [0, 1, 2].map(|c| p[c] + (by * noise(3 * i + c)) as f32))
        .collect()
}

fn points_of(bind: &WrapBind) -> &PointBind {
    bind.points.as_ref().expect("a mode with points")
}

/// Some positions in a ball.
fn cloud(count: usize, radius: f64) -> Vec<[f32; 3]> {
    let at = |i: usize| [0, 1, 2].map(|c| (radius * noise(1000 + 3 * i + c) / 1.8) as f32);
    (0..count).map(at).collect()
}

fn mesh_of(points: Vec<[f32; 3]>) -> Mesh {
    let topology = Topology::new(points.len() as u32, Vec::new()).expect("no triangles");
    Mesh::new("points", topology, points)
}

fn shear() -> Affine<f64> {
    let mut shear = Affine::from_trs(
        Vec3::new(1.0, -0.5, 0.25),
        Quat::from_euler_angles(0.4, -0.9, 1.3),
        Vec3::new(2.0, 0.5, 1.25),
    );
    shear.linear[(2, 0)] += 0.7;
    shear
}

#[test]
fn at_rest_not_a_bit_changes() {
    let (mesh, driver) = shell();
    for mode in [WrapMode::Rbf, WrapMode::Cage] {
        let bind = WrapBind::new(&mesh, &driver, with(mode)).expect("valid");
        let out = run(&bind, &mesh, &driver.positions);
        assert_eq!(out.positions, mesh.positions, "{mode:?}");
    }
}

#[test]
fn affine_maps_of_the_driver_are_exact() {
    let (mesh, driver) = shell();
    let map_of = shear();
    // What an earlier node did to the mesh is carried along.
    let mut moved = mesh.clone();
    moved.positions = shaken(&mesh.positions, 0.1);
    for mode in [WrapMode::Rbf, WrapMode::Cage] {
        let bind = WrapBind::new(&mesh, &driver, with(mode)).expect("valid");
        for mesh in [&mesh, &moved] {
            let out = run(&bind, mesh, &map(&driver.positions, &map_of));
            let off = max_distance(&out.positions, &map(&mesh.positions, &map_of));
            assert!(off < 1e-5, "{mode:?}: {off}");
            let normals = mesh.normals.as_ref().expect("normals");
            for (n, m) in out.normals.iter().zip(normals) {
                let expected = (map_of.normal_matrix() * f64::vec3(*m)).normalize();
                let off = (f64::vec3(*n) - expected).norm();
                assert!(off < 1e-4, "{mode:?}: normals off by {off}");
            }
        }
    }
}

#[test]
fn radial_functions_pass_through_the_points() {
    let driver = meshes::sphere(9, 12);
    let mesh = mesh_of(driver.positions.clone());
    let bind = WrapBind::new(&mesh, &driver, with(WrapMode::Rbf)).expect("valid");
    let weld = weld(&driver, WrapMode::Rbf);
    // Copies of a point move alike.
    let classes = shaken(&vec![[0.0; 3]; weld.class_count()], 0.2);
    let moved: Vec<[f32; 3]> = (driver.positions.iter().zip(&weld.class_of_vertex))
        .map(|(p, class)| [0, 1, 2].map(|c| p[c] + classes[*class as usize][c]))
        .collect();
    let out = run(&bind, &mesh, &moved);
    let off = max_distance(&out.positions, &moved);
    assert!(off < 1e-6, "{off}");
}

/// The system solved for one displacement of all points, and its solution evaluated.
fn interpolated(points: &[Vec3<f64>], moved: &[Vec3<f64>], at: Vec3<f64>) -> Vec3<f64> {
    let n = points.len();
    let basis = |p: &Vec3<f64>| -> Vec<f64> {
        let radial = points.iter().map(|q| (p - q).norm().powi(3));
        radial.chain([1.0, p.x, p.y, p.z]).collect()
    };
    let mut a = DMatrix::zeros(n + 4, n + 4);
    let mut b = DMatrix::zeros(n + 4, 3);
    for (i, p) in points.iter().enumerate() {
        for (j, value) in basis(p).into_iter().enumerate() {
            a[(i, j)] = value;
            if j >= n {
                a[(j, i)] = value;
            }
        }
        for c in 0..3 {
            b[(i, c)] = moved[i][c] - p[c];
        }
    }
    let coefficients = a.full_piv_lu().solve(&b).expect("solvable");
    let row = DMatrix::from_row_slice(1, n + 4, &basis(&at));
    let found = row * coefficients;
    at + Vec3::new(found[0], found[1], found[2])
}

#[test]
fn radial_functions_are_the_solution_of_their_system() {
    let driver = mesh_of(cloud(40, 1.0));
    let mesh = mesh_of(cloud(25, 1.4));
    let bind = WrapBind::new(&mesh, &driver, with(WrapMode::Rbf)).expect("valid");
    let moved = shaken(&driver.positions, 0.2);
    let wide = |p: &[[f32; 3]]| -> Vec<Vec3<f64>> { p.iter().map(|p| f64::vec3(*p)).collect() };
    let (rest, now) = (wide(&driver.positions), wide(&moved));
    let out = run(&bind, &mesh, &moved);
    for (v, p) in wide(&mesh.positions).into_iter().enumerate() {
        let expected = interpolated(&rest, &now, p);
        let off = (f64::vec3(out.positions[v]) - expected).norm();
        assert!(off < 1e-5, "vertex {v}: {off}");
        // The Jacobian against central differences of the same.
        let displacement = |d: u32| now[d as usize] - rest[d as usize];
        let (_, jacobian) = carry_by_points::<f64>(points_of(&bind), v, displacement, p);
        for c in 0..3 {
            let mut step = Vec3::zeros();
            step[c] = 1e-5;
            let ends = [1.0, -1.0].map(|s| interpolated(&rest, &now, p + step * s));
            let slope = (ends[0] - ends[1]) / 2e-5;
            let off = (jacobian.column(c) - slope).norm();
            assert!(off < 1e-4, "vertex {v}, column {c}: {off}");
        }
    }
}

fn cage_of(driver: &Mesh) -> Cage {
    let points = DriverPoints::new(driver, WrapMode::Cage, |_| true).expect("points");
    Cage::new(driver, &points).expect("closed")
}

fn coordinates(cage: &Cage, p: Vec3<f64>) -> Vec<f64> {
    let mut scratch = cage.new_scratch();
    cage.coordinates(p, &mut scratch);
    scratch.coordinates
}

fn octahedron() -> Mesh {
    let points = vec![
        [1.0, 0.0, 0.0],
        [-1.0, 0.0, 0.0],
        [0.0, 1.5, 0.0],
        [0.0, -1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.0, 0.0, -1.0],
    ];
    let triangles = vec![
        [0, 2, 4],
        [2, 1, 4],
        [1, 3, 4],
        [3, 0, 4],
        [2, 0, 5],
        [1, 2, 5],
        [3, 1, 5],
        [0, 3, 5],
    ];
    meshes::mesh_from("octahedron", points, triangles)
}

/// The definition: on the sphere around `p`, the mean of the hat functions on the cage, each divided by its distance.
fn integrated(cage: &Mesh, p: Vec3<f64>) -> Vec<f64> {
    const PARTS: usize = 150;
    let mut out = vec![0.0; cage.positions.len()];
    for t in cage.topology.triangles() {
        let [a, b, c] = t.map(|v| f64::vec3(cage.positions[v as usize]));
        let area = (b - a).cross(&(c - a)) * (0.5 / (PARTS * PARTS) as f64);
        for i in 0..PARTS {
            for j in 0..PARTS {
                let (mut u, mut v) = ((i as f64) / PARTS as f64, (j as f64) / PARTS as f64);
                // Middles of the small triangles that point up, and of those that point down.
                let third = if i + j < PARTS { 1.0 / 3.0 } else { -1.0 / 3.0 };
                if third < 0.0 {
                    (u, v) = (1.0 - u, 1.0 - v);
                }
                (u, v) = (u + third / PARTS as f64, v + third / PARTS as f64);
                if u + v > 1.0 || u < 0.0 || v < 0.0 {
                    continue;
                }
                let shares = [1.0 - u - v, u, v];
                let away = a * shares[0] + b * shares[1] + c * shares[2] - p;
                let angle = area.dot(&away) / away.norm().powi(4);
                for (v, share) in t.iter().zip(shares) {
                    out[*v as usize] += share * angle;
                }
            }
        }
    }
    let sum: f64 = out.iter().sum();
    out.iter().map(|w| w / sum).collect()
}

#[test]
fn mean_value_coordinates_are_their_integral() {
    let driver = octahedron();
    let cage = cage_of(&driver);
    for p in [
        [0.0, 0.0, 0.0],
        [0.2, 0.1, -0.15],
        [0.3, 0.5, 0.6],
        [1.5, 1.2, 0.7],
    ] {
        let p = Vec3::from(p);
        let (found, expected) = (coordinates(&cage, p), integrated(&driver, p));
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() < 2e-3, "{p:?}: {found:?} {expected:?}");
        }
    }
}

#[test]
fn mean_value_coordinates_reproduce_lines_and_sum_to_one() {
    // Convex, not convex, and with copies of vertices at hard edges.
    let mut dented = meshes::sphere(9, 12);
    dented
        .positions
        .iter_mut()
        .for_each(|p| p[1] *= 1.0 - 1.3 * (-4.0 * p[0] * p[0]).exp());
    for driver in [octahedron(), meshes::cube(), meshes::sphere(9, 12), dented] {
        let points = DriverPoints::new(&driver, WrapMode::Cage, |_| true).expect("points");
        let cage = Cage::new(&driver, &points).expect("closed");
        for p in cloud(60, 1.6) {
            let p = f64::vec3(p);
            let w = coordinates(&cage, p);
            let sum: f64 = w.iter().sum();
            let at: Vec3<f64> = points.positions.iter().zip(&w).map(|(q, w)| q * *w).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{}: sum {sum}", driver.name);
            let off = (at - p).norm();
            assert!(off < 1e-7, "{}, {p:?}: {off}", driver.name);
        }
    }
}

#[test]
fn mean_value_coordinates_are_barycentric_on_the_cage() {
    let driver = octahedron();
    let cage = cage_of(&driver);
    for (t, corners) in driver.topology.triangles().iter().enumerate() {
        for shares in [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]] {
            let corner = |k: usize| f64::vec3(driver.positions[corners[k] as usize]) * shares[k];
            let p = (0..3).map(corner).sum::<Vec3<f64>>();
            // The same next to the cage, on either side.
            for (offset, allowed) in [(0.0, 1e-7), (1e-6, 1e-4), (-1e-6, 1e-4)] {
                let w = coordinates(&cage, p * (1.0 + offset));
                for (i, w) in w.iter().enumerate() {
                    let k = corners.iter().position(|c| *c as usize == i);
                    let expected = k.map_or(0.0, |k| shares[k]);
                    assert!(
                        (w - expected).abs() < allowed,
                        "triangle {t}: {w} {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn cage_gradients_are_slopes() {
    let driver = octahedron();
    let mesh = mesh_of(cloud(30, 0.9));
    let bind = WrapBind::new(&mesh, &driver, with(WrapMode::Cage)).expect("valid");
    let cage = cage_of(&driver);
    for (v, p) in mesh.positions.iter().enumerate() {
        let p = f64::vec3(*p);
        for c in 0..3 {
            let mut step = Vec3::zeros();
            step[c] = 1e-4;
            let ends = [1.0, -1.0].map(|s| coordinates(&cage, p + step * s));
            for (i, (_, g)) in points_of(&bind).shares_of(v).enumerate() {
                let slope = (ends[0][i] - ends[1][i]) / 2e-4;
                assert!(
                    (f64::from(g[c]) - slope).abs() < 2e-3,
                    "{v} {i}: {} {slope}",
                    g[c]
                );
            }
        }
    }
}

/// Least squares over similarities by singular values (Umeyama 1991).
fn similarity(rest: &[Vec3<f64>], now: &[Vec3<f64>], w: &[f64], p: Vec3<f64>) -> Vec3<f64> {
    let middle = |q: &[Vec3<f64>]| q.iter().zip(w).map(|(q, w)| q * *w).sum::<Vec3<f64>>();
    let (a, b) = (middle(rest), middle(now));
    let mut covariance = Mat3::zeros();
    let mut spread = 0.0;
    for ((q, r), w) in rest.iter().zip(now).zip(w) {
        covariance += (r - b) * (q - a).transpose() * *w;
        spread += (q - a).norm_squared() * *w;
    }
    let svd = SVD::new(covariance, true, true);
    let (u, vt) = (svd.u.expect("asked for"), svd.v_t.expect("asked for"));
    let sign = (u * vt).determinant().signum();
    let turn = u * Mat3::from_diagonal(&Vec3::new(1.0, 1.0, sign)) * vt;
    let sizes = svd.singular_values;
    b + turn * (p - a) * ((sizes[0] + sizes[1] + sign * sizes[2]) / spread)
}

#[test]
fn nearest_points_move_by_the_best_similarity() {
    let driver = mesh_of(cloud(60, 1.0));
    let mesh = mesh_of(cloud(30, 1.2));
    let bind = WrapBind::new(&mesh, &driver, with(WrapMode::Points)).expect("valid");
    let mut moved = map(&driver.positions, &shear());
    moved = shaken(&moved, 0.1);
    let out = run(&bind, &mesh, &moved);
    let points = points_of(&bind);
    for (v, p) in mesh.positions.iter().enumerate() {
        let p = f64::vec3(*p);
        let far = |q: u32| (f64::vec3(driver.positions[q as usize]) - p).norm();
        let mut order: Vec<u32> = (0..60).collect();
        order.sort_by(|a, b| far(*a).total_cmp(&far(*b)));
        let mut found = points.points_of(v).to_vec();
        found.sort_by(|a, b| far(*a).total_cmp(&far(*b)));
        assert_eq!(found, order[..8], "vertex {v}: the nearest points");
        let reach = 1.125 * far(order[7]);
        let w: Vec<f64> = found
            .iter()
            .map(|q| (1.0 / far(*q) - 1.0 / reach).powi(2))
            .collect();
        let sum: f64 = w.iter().sum();
        let w: Vec<f64> = w.iter().map(|w| w / sum).collect();
        let at = |all: &[[f32; 3]]| -> Vec<Vec3<f64>> {
            found.iter().map(|q| f64::vec3(all[*q as usize])).collect()
        };
        let expected = similarity(&at(&driver.positions), &at(&moved), &w, p);
        let off = (f64::vec3(out.positions[v]) - expected).norm();
        assert!(off < 1e-5, "vertex {v}: {off}");
    }
}

/// Points in one plane still tell how far they turned; points on a line do not.
#[test]
fn points_in_a_plane_turn_and_points_on_a_line_do_not() {
    let turn = Affine::from_trs(
        Vec3::new(0.3, 0.1, 0.0),
        Quat::from_euler_angles(0.9, -0.4, 2.0),
        Vec3::repeat(1.0),
    );
    let driver = meshes::grid(6, 6);
    let above: Vec<[f32; 3]> = cloud(20, 0.5)
        .iter()
        .map(|p| [0.5 + p[0], 0.5 + p[1], 0.3])
        .collect();
    let mesh = mesh_of(above);
    let bind = WrapBind::new(&mesh, &driver, with(WrapMode::Points)).expect("valid");
    let out = run(&bind, &mesh, &map(&driver.positions, &turn));
    let off = max_distance(&out.positions, &map(&mesh.positions, &turn));
    assert!(off < 2e-6, "{off}");
    let line = mesh_of((0..9).map(|i| [i as f32, 0.0, 0.0]).collect());
    let bind = WrapBind::new(&mesh, &line, with(WrapMode::Points)).expect("valid");
    let out = run(&bind, &mesh, &map(&line.positions, &turn));
    for (p, q) in out.positions.iter().zip(&mesh.positions) {
        let (p, q) = (f64::vec3(*p), f64::vec3(*q));
        // Relative to the middle of its points, each vertex stands as it stood.
        let points = points_of(&bind);
        let v = mesh
            .positions
            .iter()
            .position(|m| f64::vec3(*m) == q)
            .expect("it");
        let origin = f64::vec3(points.origins[v]);
        let moved = turn.point(origin) + (q - origin);
        assert!((p - moved).norm() < 1e-5, "{p:?} {moved:?}");
    }
}

#[test]
fn far_vertices_stay_in_all_modes() {
    let driver = meshes::sphere(9, 12);
    let mesh = mesh_of(vec![[1.1, 0.0, 0.0], [1.45, 0.0, 0.0], [1.7, 0.0, 0.0]]);
    let lifted: Vec<[f32; 3]> = driver
        .positions
        .iter()
        .map(|p| [p[0], p[1] + 1.0, p[2]])
        .collect();
    for mode in [WrapMode::Points, WrapMode::Rbf, WrapMode::Cage] {
        let config = WrapConfig {
            max_distance: 0.6,
            falloff: 0.3,
            ..with(mode)
        };
        let bind = WrapBind::new(&mesh, &driver, config).expect("valid");
        let out = run(&bind, &mesh, &lifted).positions;
        let y: Vec<f32> = out.iter().map(|p| p[1]).collect();
        assert!((y[0] - 1.0).abs() < 1e-5 && y[2] == 0.0, "{mode:?}: {y:?}");
        assert!(y[1] > 0.2 && y[1] < 0.8, "{mode:?}: {y:?}");
    }
}

#[test]
fn unsuitable_drivers_are_refused() {
    let (mesh, driver) = shell();
    let refused = |mesh: &Mesh, driver: &Mesh, mode| {
        let found = WrapBind::new(mesh, driver, with(mode));
        found.expect_err("refused").to_string()
    };
    let open = refused(&mesh, &meshes::grid(3, 3), WrapMode::Cage);
    for part in [
        "the edge between vertices",
        "1 times forwards",
        "0 times backwards",
    ] {
        assert!(open.contains(part), "{open}");
    }
    // One triangle the other way around.
    let mut triangles = driver.topology.triangles().to_vec();
    triangles[20].swap(0, 1);
    let turned = meshes::mesh_from("turned", driver.positions.clone(), triangles);
    let turned = refused(&mesh, &turned, WrapMode::Cage);
    assert!(turned.contains("orient all triangles alike"), "{turned}");
    let mut flat = octahedron();
    flat.positions.iter_mut().for_each(|p| p[1] = 0.0);
    flat.positions[2] = [0.25, 0.0, 0.3];
    let flat = refused(&mesh, &flat, WrapMode::Cage);
    assert!(flat.contains("encloses no volume"), "{flat}");
    let many = meshes::sphere(40, 60);
    let many = refused(&mesh, &many, WrapMode::Rbf);
    assert!(
        many.contains("points of the driver") && many.contains("at most 1024"),
        "{many}"
    );
    let large = mesh_of(vec![[0.0; 3]; 1_000_000]);
    let large = refused(&large, &driver, WrapMode::Cage);
    assert!(
        large.contains("MB") && large.contains("1000000 vertices"),
        "{large}"
    );
    let mut close: Vec<Vec3<f64>> = cloud(20, 1.0).iter().map(|p| f64::vec3(*p)).collect();
    close.push(close[3]);
    let close = Rbf::new(&close).expect_err("twice the same").to_string();
    assert!(close.contains("condition number"), "{close}");
}
