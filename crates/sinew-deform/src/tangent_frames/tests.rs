use super::*;
use proptest::prelude::*;
use sinew_geom::{Topology, Vec3};
use sinew_testkit::{meshes, tolerance};

pub(super) struct Out {
    pub(super) normals: Vec<[f32; 3]>,
    pub(super) tangents: Vec<[f32; 4]>,
}

pub(super) fn run_at(bind: &TangentFramesBind, positions: &[[f32; 3]], par: Par) -> Out {
    let mut out = Out {
        normals: vec![[9.0; 3]; positions.len()],
        tangents: vec![[9.0; 4]; positions.len()],
    };
    TangentFramesJob {
        bind,
        positions,
        normals: Some(&mut out.normals),
        tangents: Some(&mut out.tangents),
        scratch: &mut bind.new_scratch(),
        par,
    }
    .run();
    out
}

pub(super) fn run(mesh: &Mesh, config: TangentFramesConfig) -> Out {
    let bind = TangentFramesBind::new(mesh, config).expect("valid mesh");
    run_at(&bind, &mesh.positions, Par::Seq)
}

const NORMALS: [NormalMode; 4] = [
    NormalMode::AngleWeighted,
    NormalMode::AreaWeighted,
    NormalMode::KeepAuthoredDelta,
    NormalMode::FixedPoint,
];
const TANGENTS: [TangentMode; 4] = [
    TangentMode::Uv,
    TangentMode::Mikktspace,
    TangentMode::Project,
    TangentMode::None,
];

fn no_hard_edges() -> TangentFramesConfig {
    TangentFramesConfig {
        hard_edges: HardEdges::None,
        ..TangentFramesConfig::default()
    }
}

fn angle(a: [f32; 3], b: [f32; 3]) -> f64 {
    angle_between(f64::vec3(a), f64::vec3(b))
}
fn xyz([x, y, z, _]: [f32; 4]) -> [f32; 3] {
    [x, y, z]
}

fn assert_frames(name: &str, out: &Out) {
    for (v, (&n, &t)) in out.normals.iter().zip(&out.tangents).enumerate() {
        let (n64, t64) = (f64::vec3(n), f64::vec3(xyz(t)));
        assert!((n64.norm() - 1.0).abs() < 1e-5, "{name} {v}: normal {n:?}");
        assert!((t64.norm() - 1.0).abs() < 1e-5, "{name} {v}: tangent {t:?}");
        assert!(n64.dot(&t64).abs() < 1e-4, "{name} {v}: {n:?} {t:?}");
        assert!(t[3] == 1.0 || t[3] == -1.0, "{name} {v}: sign {}", t[3]);
    }
}

/// Every corner its own vertex, normals dropped.
fn soup(mesh: &Mesh) -> (Mesh, Vec<u32>) {
    let source: Vec<u32> = mesh
        .topology
        .triangles()
        .iter()
        .flatten()
        .copied()
        .collect();
    let positions = source.iter().map(|&v| mesh.positions[v as usize]).collect();
    let triangles = (0..source.len() as u32 / 3)
        .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
        .collect();
    let topology = Topology::new(source.len() as u32, triangles).expect("valid");
    (Mesh::new("soup", topology, positions), source)
}

/// A torus around Y with its exact normals and, where `split`, seams cut for UVs.
pub(super) fn torus(rings: u32, segments: u32, split: bool) -> Mesh {
    let tau = std::f32::consts::TAU;
    let (nr, ns) = if split {
        (rings + 1, segments + 1)
    } else {
        (rings, segments)
    };
    let (mut positions, mut normals, mut uvs) = (Vec::new(), Vec::new(), Vec::new());
    for r in 0..nr {
        for s in 0..ns {
            // Seam copies get the same bits.
            let (a, b) = (
                (r % rings) as f32 / rings as f32 * tau,
                (s % segments) as f32 / segments as f32 * tau,
            );
            let n = [b.cos() * a.cos(), b.sin(), b.cos() * a.sin()];
            positions.push([
                2.0 * a.cos() + 0.5 * n[0],
                0.5 * n[1],
                2.0 * a.sin() + 0.5 * n[2],
            ]);
            normals.push(n);
            uvs.push([r as f32 / rings as f32, s as f32 / segments as f32]);
        }
    }
    let at = |r: u32, s: u32| (r % nr) * ns + s % ns;
    let mut triangles = Vec::new();
    for r in 0..rings {
        for s in 0..segments {
            let (a, b, c, d) = (at(r, s), at(r, s + 1), at(r + 1, s + 1), at(r + 1, s));
            triangles.push([a, b, c]);
            triangles.push([a, c, d]);
        }
    }
    let topology = Topology::new(nr * ns, triangles).expect("valid");
    let mut mesh = Mesh::new("torus", topology, positions);
    mesh.normals = Some(normals);
    mesh.uvs = vec![uvs];
    mesh
}

#[test]
fn row_30_sphere_and_torus_normals_match_the_closed_form() {
    for normals in [
        NormalMode::AngleWeighted,
        NormalMode::AreaWeighted,
        NormalMode::FixedPoint,
    ] {
        for mesh in [meshes::sphere(48, 64), torus(64, 48, false)] {
            let config = TangentFramesConfig {
                normals,
                ..no_hard_edges()
            };
            let out = run(&mesh, config);
            for (v, (&n, &exact)) in out
                .normals
                .iter()
                .zip(mesh.normals.iter().flatten())
                .enumerate()
            {
                // The discretisation's error: a step is about 0.1 rad, the error of second order.
                assert!(angle(n, exact) < 0.02, "{normals:?} {} {v}", mesh.name);
            }
        }
    }
}

#[test]
fn row_30_normals_follow_the_deformed_positions() {
    // z = x^2 / 2 has the normal (-x, 0, 1).
    let mut mesh = meshes::grid(64, 4);
    let bind = TangentFramesBind::new(&mesh, no_hard_edges()).expect("valid");
    mesh.positions
        .iter_mut()
        .for_each(|p| p[2] = 0.5 * p[0] * p[0]);
    let out = run_at(&bind, &mesh.positions, Par::Seq);
    for (p, &n) in mesh.positions.iter().zip(&out.normals) {
        if p[0] > 0.01 && p[0] < 0.99 {
            assert!(angle(n, [-p[0], 0.0, 1.0]) < 1e-3, "{p:?} {n:?}");
        }
    }
}

#[test]
fn row_31_corner_angles_make_normals_independent_of_triangulation() {
    // A cube's corner: three right angles give the diagonal however the faces are cut. Area weights do not.
    let mut cube = meshes::cube();
    cube.normals = None;
    let mut triangles = cube.topology.triangles().to_vec();
    // One face cut along its other diagonal.
    (triangles[0], triangles[1]) = ([0, 1, 3], [1, 2, 3]);
    cube.topology = Topology::new(24, triangles).expect("valid").into();
    let diagonal = |mesh: &Mesh, config| {
        let out = run(mesh, config);
        mesh.positions
            .iter()
            .zip(out.normals)
            .map(|(p, n)| angle(*p, n))
            .fold(0.0, f64::max)
    };
    assert!(diagonal(&cube, no_hard_edges()) < 1e-6, "angle weighted");
    let area = TangentFramesConfig {
        normals: NormalMode::AreaWeighted,
        ..no_hard_edges()
    };
    assert!(diagonal(&cube, area) > 0.1, "area weighted differs");
}

#[test]
fn row_31_angles_against_acos_in_double_precision() {
    let p = [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 4.0, 0.0]].map(f64::vec3);
    let f = face_terms(p, false);
    let expected = [
        std::f64::consts::FRAC_PI_2,
        (0.6_f64).acos(),
        (0.8_f64).acos(),
    ];
    for (w, e) in f.weights.iter().zip(expected) {
        assert!((w - e).abs() < 1e-12, "{w} {e}");
    }
    assert_eq!(f.normal, [0.0, 0.0, 1.0]);
}

#[test]
fn row_32_fixed_point_sums_do_not_depend_on_triangle_order() {
    let mesh = torus(12, 9, true);
    let config = TangentFramesConfig {
        normals: NormalMode::FixedPoint,
        hard_edges: HardEdges::Split,
        ..TangentFramesConfig::default()
    };
    let expected = run(&mesh, config);
    let mut shuffled = mesh.clone();
    let mut triangles = mesh.topology.triangles().to_vec();
    triangles.reverse();
    triangles.swap(3, 40);
    shuffled.topology = Topology::new(mesh.vertex_count() as u32, triangles)
        .expect("valid")
        .into();
    let got = run(&shuffled, config);
    assert_eq!(expected.normals, got.normals, "bit for bit");
    assert_eq!(expected.tangents, got.tangents, "bit for bit");
}

#[test]
fn row_32_fixed_point_addends_are_cut_at_0x7fff_steps() {
    // One triangle in a tilted plane: the sum at corner 0 by hand.
    let p = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.5], [0.2, 1.0, 0.0]].map(f64::vec3);
    let n = (p[1] - p[0]).cross(&(p[2] - p[0])).normalize();
    let theta = ((p[1] - p[0]).normalize().dot(&(p[2] - p[0]).normalize())).acos();
    let expected = n.map(|c| (c * theta * f64::from(0x7fff_u32)).trunc());
    let sum = gather_fixed(&[face_terms(p, false)], None, &[0]);
    assert!((sum - expected).norm() < 1e-9, "{sum} {expected}");
}

#[test]
fn row_33_uv_tangents_follow_u_on_a_torus() {
    let mesh = torus(64, 48, true);
    for tangents in [TangentMode::Uv, TangentMode::Mikktspace] {
        let out = run(
            &mesh,
            TangentFramesConfig {
                tangents,
                ..TangentFramesConfig::default()
            },
        );
        for (v, (p, t)) in mesh.positions.iter().zip(&out.tangents).enumerate() {
            let around = [-p[2], 0.0, p[0]];
            // A step is 0.098 rad; along the texture seam only one side counts, which is half a step off.
            assert!(angle(xyz(*t), around) < 0.055, "{tangents:?} {v}");
        }
        assert_frames("torus", &out);
    }
}

#[test]
fn row_33_degenerate_uvs_fall_back_to_a_finite_perpendicular() {
    let mut mesh = meshes::sphere(8, 12);
    mesh.uvs = vec![vec![[0.25, 0.75]; mesh.vertex_count()]];
    for tangents in [TangentMode::Uv, TangentMode::Mikktspace] {
        let config = TangentFramesConfig {
            tangents,
            ..no_hard_edges()
        };
        assert_frames("constant uv", &run(&mesh, config));
    }
}

#[test]
fn row_34_bitangent_sign_flips_with_mirrored_uvs_and_gltf_up_is_plus() {
    // On the grid u grows with x and v (down in glTF) against y: cross(n, t) * w must point to falling v, +y.
    for tangents in [TangentMode::Uv, TangentMode::Mikktspace] {
        let config = TangentFramesConfig {
            tangents,
            ..TangentFramesConfig::default()
        };
        let mut mesh = meshes::grid(3, 3);
        let out = run(&mesh, config);
        assert!(
            out.tangents.iter().all(|t| *t == [1.0, 0.0, 0.0, 1.0]),
            "{:?}",
            out.tangents
        );
        mesh.uvs[0].iter_mut().for_each(|uv| uv[0] = -uv[0]);
        let out = run(&mesh, config);
        assert!(
            out.tangents.iter().all(|t| *t == [-1.0, 0.0, 0.0, -1.0]),
            "{:?}",
            out.tangents
        );
    }
}

/// A sheet whose left half mirrors the texture of the right one; the column between them is there twice, with equal positions, normals
/// and texture coordinates.
#[test]
fn both_sides_of_a_mirrored_texture_keep_their_tangents() {
    let half = meshes::grid(4, 5);
    let (count, mut triangles) = (
        half.vertex_count() as u32,
        half.topology.triangles().to_vec(),
    );
    let mirrored = |t: &[u32; 3]| [t[0] + count, t[2] + count, t[1] + count];
    triangles.extend(half.topology.triangles().iter().map(mirrored));
    let mut positions = half.positions.clone();
    positions.extend(half.positions.iter().map(|p| [0.0 - p[0], p[1], p[2]]));
    let topology = Topology::new(2 * count, triangles).expect("valid");
    let mut mesh = Mesh::new("sheet", topology, positions);
    mesh.normals = Some(vec![[0.0, 0.0, 1.0]; mesh.vertex_count()]);
    mesh.uvs = vec![half.uvs[0].iter().chain(&half.uvs[0]).copied().collect()];
    for tangents in [TangentMode::Uv, TangentMode::Mikktspace] {
        let config = TangentFramesConfig {
            tangents,
            ..TangentFramesConfig::default()
        };
        for (v, t) in run(&mesh, config).tangents.iter().enumerate() {
            let side = if v < count as usize { 1.0 } else { -1.0 };
            assert_eq!(*t, [side, 0.0, 0.0, side], "{tangents:?} vertex {v}");
        }
    }
}

#[test]
fn row_34_gram_schmidt_makes_frames_orthonormal() {
    let mut mesh = torus(24, 16, true);
    let bind = TangentFramesBind::new(&mesh, TangentFramesConfig::default()).expect("valid");
    // Shear and bend: gradient and normal are far from perpendicular to begin with.
    for p in &mut mesh.positions {
        p[1] += 0.7 * p[0] + 0.3 * (3.0 * p[2]).sin();
    }
    assert_frames("sheared", &run_at(&bind, &mesh.positions, Par::Seq));
}

#[test]
fn row_35_scratch_left_from_another_frame_changes_nothing() {
    let mesh = torus(10, 7, true);
    let bind = TangentFramesBind::new(&mesh, TangentFramesConfig::default()).expect("valid");
    let clean = run_at(&bind, &mesh.positions, Par::Seq);
    let mut scratch = bind.new_scratch();
    scratch
        .faces
        .iter_mut()
        .for_each(|f| f.normal = [f32::NAN; 3]);
    scratch.tangents.iter_mut().for_each(|t| *t = [f32::NAN; 3]);
    let mut normals = vec![[0.0; 3]; mesh.vertex_count()];
    TangentFramesJob {
        bind: &bind,
        positions: &mesh.positions,
        normals: Some(&mut normals),
        tangents: None,
        scratch: &mut scratch,
        par: Par::Seq,
    }
    .run();
    assert_eq!(normals, clean.normals);
}

#[test]
fn row_36_defect_3_every_vertex_is_written_and_nothing_past_the_end() {
    // Counts around the lane and chunk widths.
    for n in [1_u32, 7, 8, 9, 1023, 1024, 1025] {
        let positions: Vec<[f32; 3]> = (0..3 * n)
            .map(|i| {
                [
                    (i % 3 == 1) as u32 as f32,
                    (i % 3 == 2) as u32 as f32,
                    i as f32,
                ]
            })
            .map(|[x, y, z]| [x, y, (z / 3.0).floor()])
            .collect();
        let triangles = (0..n).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        let mesh = Mesh::new(
            "strip",
            Topology::new(3 * n, triangles).expect("valid"),
            positions,
        );
        let bind = TangentFramesBind::new(&mesh, no_hard_edges()).expect("valid");
        let count = mesh.vertex_count();
        let mut normals = vec![[7.0; 3]; count + 1];
        TangentFramesJob {
            bind: &bind,
            positions: &mesh.positions,
            normals: Some(&mut normals[..count]),
            tangents: None,
            scratch: &mut bind.new_scratch(),
            par: Par::Rayon,
        }
        .run();
        assert!(
            normals[..count].iter().all(|n| *n == [0.0, 0.0, 1.0]),
            "{n} triangles"
        );
        assert_eq!(
            normals[count], [7.0; 3],
            "{n} triangles: the element past the end"
        );
    }
}

#[test]
fn row_37_uv_split_vertices_get_one_smooth_normal() {
    let (split, welded) = (torus(12, 8, true), torus(12, 8, false));
    let a = run(&split, TangentFramesConfig::default());
    let b = run(&welded, TangentFramesConfig::default());
    for (p, n) in split.positions.iter().zip(&a.normals) {
        let twin = welded
            .positions
            .iter()
            .position(|q| q == p)
            .expect("same points");
        assert!(angle(*n, b.normals[twin]) < 1e-6, "{p:?}");
        let copies = split
            .positions
            .iter()
            .zip(&a.normals)
            .filter(|(q, _)| *q == p);
        assert!(
            copies.map(|c| c.1).all(|m| m == n),
            "copies agree bit for bit"
        );
    }
}

#[test]
fn row_37_authored_hard_edges_stay_hard() {
    let cube = meshes::cube();
    let out = run(&cube, TangentFramesConfig::default());
    for (n, exact) in out.normals.iter().zip(cube.normals.iter().flatten()) {
        assert!(angle(*n, *exact) < 1e-6, "{n:?} {exact:?}");
    }
    let by_angle = |hard_angle| {
        let config = TangentFramesConfig {
            hard_edges: HardEdges::Angle,
            hard_angle,
            ..TangentFramesConfig::default()
        };
        TangentFramesBind::new(&cube, config)
            .expect("valid")
            .group_count()
    };
    assert_eq!(
        (by_angle(1.5), by_angle(1.6)),
        (24, 8),
        "90 degrees is 1.571"
    );
}

#[test]
fn authored_normals_are_kept_at_rest_and_turn_with_the_surface() {
    let mut mesh = torus(12, 8, true);
    let tilt = |n: &mut [f32; 3]| {
        let t = (Vec3::from(*n) + Vec3::new(0.2, 0.3, -0.1)).normalize();
        *n = t.into();
    };
    mesh.normals.iter_mut().flatten().for_each(tilt);
    mesh.tangents = Some(run(&mesh, TangentFramesConfig::default()).tangents);
    let config = TangentFramesConfig {
        normals: NormalMode::KeepAuthoredDelta,
        tangents: TangentMode::Project,
        ..no_hard_edges()
    };
    let bind = TangentFramesBind::new(&mesh, config).expect("valid");
    let q = sinew_geom::Quat::from_euler_angles(0.4, -1.1, 2.0);
    let turned: Vec<[f32; 3]> = mesh
        .positions
        .iter()
        .map(|p| (q * Vec3::from(*p)).into())
        .collect();
    let (rest, out) = (
        run_at(&bind, &mesh.positions, Par::Seq),
        run_at(&bind, &turned, Par::Seq),
    );
    for (v, n) in mesh.normals.iter().flatten().enumerate() {
        let exact: [f32; 3] = (q * Vec3::from(*n)).into();
        assert!(angle(rest.normals[v], *n) < 1e-5, "rest {v}");
        assert!(angle(out.normals[v], exact) < 1e-4, "turned {v}");
        let exact: [f32; 3] = (q * Vec3::from(xyz(rest.tangents[v]))).into();
        assert!(angle(xyz(out.tangents[v]), exact) < 1e-4, "tangent {v}");
        assert_eq!(out.tangents[v][3], rest.tangents[v][3], "sign {v}");
    }
}

/// Whatever the modes: each word of scratch gets written, so that none is there for nothing.
#[test]
fn defect_4_every_word_of_scratch_is_used() {
    // No operation gives this bit pattern.
    let untouched = f32::from_bits(0x7fc1_2345);
    let mesh = torus(6, 5, true);
    for normals in NORMALS {
        for tangents in TANGENTS {
            let config = TangentFramesConfig {
                normals,
                tangents,
                ..TangentFramesConfig::default()
            };
            let bind = TangentFramesBind::new(&mesh, config).expect("valid");
            let mut scratch = bind.new_scratch();
            scratch.faces.fill(FaceTerms {
                normal: [untouched; 3],
                weights: [untouched; 3],
            });
            scratch.tangents.fill([untouched; 3]);
            let mut out = Out {
                normals: vec![[0.0; 3]; mesh.vertex_count()],
                tangents: vec![[0.0; 4]; mesh.vertex_count()],
            };
            TangentFramesJob {
                bind: &bind,
                positions: &mesh.positions,
                normals: Some(&mut out.normals),
                tangents: bind.makes_tangents().then_some(&mut out.tangents),
                scratch: &mut scratch,
                par: Par::Seq,
            }
            .run();
            let faces = scratch.faces.iter().flat_map(|f| [f.normal, f.weights]);
            let words: Vec<f32> = faces.chain(scratch.tangents).flatten().collect();
            let left = |w: &&f32| w.to_bits() == untouched.to_bits();
            assert_eq!(
                words.iter().filter(left).count(),
                0,
                "{normals:?} {tangents:?}"
            );
            assert_eq!(Bound { bind }.scratch_bytes(), 4 * words.len());
        }
    }
}

#[test]
fn defect_24_a_fully_split_mesh_gets_the_normals_of_the_welded_one() {
    let mesh = meshes::sphere(9, 14);
    let (soup, source) = soup(&mesh);
    let welded = compute_normals(&mesh);
    for (n, &v) in compute_normals(&soup).iter().zip(&source) {
        assert!(angle(*n, welded[v as usize]) < 1e-6, "{v}");
    }
}

#[test]
fn defect_25_small_texture_islands_keep_their_gradient() {
    let mut mesh = meshes::grid(4, 4);
    // UV areas of 1e-10: far below the documented absolute 1e-6.
    mesh.uvs[0]
        .iter_mut()
        .for_each(|uv| *uv = [1e-4 * uv[1], 1e-4 * uv[0]]);
    for t in run(&mesh, TangentFramesConfig::default()).tangents {
        assert!(angle(xyz(t), [0.0, -1.0, 0.0]) < 1e-3, "{t:?}");
    }
}

#[test]
fn defect_26_counter_clockwise_triangles_face_outwards() {
    for mesh in [meshes::sphere(8, 10), meshes::cube()] {
        for (p, n) in mesh.positions.iter().zip(compute_normals(&mesh)) {
            assert!(
                f64::vec3(*p).dot(&f64::vec3(n)) > 0.0,
                "{} {p:?}",
                mesh.name
            );
        }
    }
}

#[test]
fn degenerate_geometry_gives_unit_frames_in_every_mode() {
    let mut mesh = meshes::degenerate();
    mesh.uvs = vec![mesh.positions.iter().map(|p| [p[0], p[1]]).collect()];
    for normals in NORMALS {
        for tangents in TANGENTS {
            let config = TangentFramesConfig {
                normals,
                tangents,
                ..TangentFramesConfig::default()
            };
            let bind = TangentFramesBind::new(&mesh, config).expect("valid");
            assert_frames("rest", &run_at(&bind, &mesh.positions, Par::Seq));
            let point = vec![[3.0, 3.0, 3.0]; mesh.vertex_count()];
            let collapsed = run_at(&bind, &point, Par::Seq);
            assert_frames("collapsed", &collapsed);
            let bad = vec![[f32::NAN; 3]; mesh.vertex_count()];
            assert_frames("not a number", &run_at(&bind, &bad, Par::Seq));
        }
    }
    assert_eq!(compute_normals(&mesh)[9], [0.0, 1.0, 0.0], "isolated");
    assert!(compute_normals(&Mesh::default()).is_empty(), "empty");
}

#[test]
fn threads_do_not_change_a_bit() {
    let mesh = torus(60, 50, true);
    for tangents in [TangentMode::Uv, TangentMode::Mikktspace] {
        let config = TangentFramesConfig {
            tangents,
            ..TangentFramesConfig::default()
        };
        let bind = TangentFramesBind::new(&mesh, config).expect("valid");
        let (a, b) = (
            run_at(&bind, &mesh.positions, Par::Seq),
            run_at(&bind, &mesh.positions, Par::Rayon),
        );
        assert_eq!((a.normals, a.tangents), (b.normals, b.tangents));
    }
}

#[test]
fn saved_setup_is_checked_on_the_way_back() {
    let mesh = torus(6, 5, true);
    let config = TangentFramesConfig::default();
    let bind = TangentFramesBind::new(&mesh, config).expect("valid");
    let bytes = postcard::to_stdvec(&bind).expect("serialises");
    let read = || postcard::from_bytes::<TangentFramesBind>(&bytes).expect("reads");
    assert_eq!(read().restored(&mesh, config).expect("same mesh"), bind);
    let other = torus(6, 6, true);
    assert!(read().restored(&other, config).is_err(), "another mesh");
    let area = TangentFramesConfig {
        normals: NormalMode::AreaWeighted,
        ..config
    };
    assert!(
        read().restored(&mesh, area).is_err(),
        "another configuration"
    );
    let mut bad = read();
    bad.group_of_vertex[3] = 10_000;
    assert!(bad.restored(&mesh, config).is_err(), "group out of range");
    let mut bad = read();
    bad.reference[0][1] = 10_000;
    assert!(bad.restored(&mesh, config).is_err(), "vertex out of range");
}

#[test]
fn setup_refuses_what_does_not_fit() {
    let mesh = torus(6, 5, true);
    let with = |edit: &dyn Fn(&mut Mesh), config| {
        let mut m = mesh.clone();
        edit(&mut m);
        TangentFramesBind::new(&m, config)
            .expect_err("refused")
            .to_string()
    };
    let config = TangentFramesConfig::default();
    assert_eq!(
        with(&|m| m.normals = Some(vec![[0.0; 3]; 2]), config),
        "normals: found 2 elements, expected one for each of 42 vertices"
    );
    assert_eq!(
        with(
            &|_| (),
            TangentFramesConfig {
                uv_set: 3,
                ..config
            }
        ),
        "texture coordinate set 3 does not exist; the mesh has 1 sets, counted from 0"
    );
}

proptest! {
    #[test]
    fn fast_faces_match_double_precision(p in prop::array::uniform9(-1.0_f32..1.0), scale in -6_i32..6) {
        let k = 10.0_f32.powi(scale);
        let p = [[p[0] * k, p[1] * k, p[2] * k], [p[3] * k, p[4] * k, p[5] * k], [p[6] * k, p[7] * k, p[8] * k]];
        let exact = face_terms(p.map(f64::vec3), false);
        let mut out = [FaceTerms::default()];
        dispatch!(simd => simd::face_terms(simd, &p, &[[0, 1, 2]], &mut out));
        // Needles amplify rounding: compare where the smallest angle is not tiny.
        prop_assume!(exact.weights.iter().all(|&w| w > 1e-2));
        for (a, b) in out[0].weights.iter().zip(exact.weights) {
            prop_assert!((f64::from(*a) - b).abs() < 1e-5, "{a} {b}");
        }
        prop_assert!(angle_between(f64::vec3(out[0].normal), Vec3::from(exact.normal)) < tolerance::DIRECTION);
    }

    #[test]
    fn frames_match_the_double_precision_reference(seed in prop::collection::vec(-0.08_f32..0.08, 3 * 63)) {
        let mut mesh = torus(8, 6, true);
        for tangents in [TangentMode::Uv, TangentMode::Mikktspace] {
            let config = TangentFramesConfig { tangents, ..TangentFramesConfig::default() };
            let bind = TangentFramesBind::new(&mesh, config).expect("valid");
            for (p, d) in mesh.positions.iter_mut().zip(seed.chunks(3)) {
                for c in 0..3 { p[c] += d[c]; }
            }
            let out = run_at(&bind, &mesh.positions, Par::Seq);
            let faces = bind.reference_faces::<f64>(&mesh.positions);
            let face_tangents = bind.reference_tangents::<f64>(&mesh.positions);
            for v in 0..mesh.vertex_count() {
                let n = vertex_normal(&bind, &faces, &mesh.positions, v);
                let t = vertex_tangent(&bind, &faces, &face_tangents, &mesh.positions, n, v);
                prop_assert!(angle_between(f64::vec3(out.normals[v]), n) < tolerance::DIRECTION);
                prop_assert!(angle(xyz(out.tangents[v]), xyz(t)) < tolerance::DIRECTION);
                prop_assert_eq!(out.tangents[v][3], t[3]);
            }
        }
    }
}
