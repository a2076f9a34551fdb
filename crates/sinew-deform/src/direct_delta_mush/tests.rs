mod virtual_bones;

use super::reference::{Row, dense_moments, inverse_sizes, linear_motion, place};
use super::*;
use crate::BindWatch;
use crate::skin::{SkinBind, SkinJob, SkinMethod, SkinScratch};
use sinew_geom::{Influences, Joint, LocalTransform, Mat3, Mesh, Node, Quat, Rig, Topology};
use sinew_testkit::{max_distance, meshes, tolerance};

/// Joints sitting at `origins`, unrotated.
fn rig_at(origins: &[[f64; 3]]) -> Rig {
    let node = |i: usize| Node {
        name: format!("joint_{i}"),
        parent: None,
        local: LocalTransform::Matrix(Affine::identity()),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let joints = origins.iter().enumerate().map(|(node, o)| Joint {
        node,
        joint_from_bind: Affine {
            linear: Mat3::identity(),
            translation: -Vec3::from(*o),
        },
    });
    Rig::new((0..origins.len()).map(node).collect(), joints.collect()).expect("valid rig")
}

/// Deterministic numbers in -1..1.
fn noise(seed: &mut u32) -> f64 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    f64::from(*seed >> 8) / f64::from(1_u32 << 23) - 1.0
}

fn vector(seed: &mut u32) -> Vec3<f64> {
    Vec3::from_fn(|_, _| noise(seed))
}

/// The mesh with three joints at places of its own and weights that blend between them, normals and tangents, moved by `by`.
fn dressed(mut mesh: Mesh, by: f32) -> (Mesh, Rig) {
    let mut seed = 11;
    let (low, high) = bounds(&mesh.positions);
    let origins: Vec<[f64; 3]> = (0..3)
        .map(|k| {
            let t = f64::from(k) / 2.0;
            std::array::from_fn(|c| low[c] + (high[c] - low[c]) * t + f64::from(by))
        })
        .collect();
    for p in &mut mesh.positions {
        *p = p.map(|x| x + by);
    }
    let rows: Vec<Vec<(u32, f32)>> = (mesh.positions.iter())
        .map(|p| {
            let near = |k: usize| {
                let d = Vec3::from(p.map(f64::from)) - Vec3::from(origins[k]);
                (1.0 / (1e-3 + d.norm_squared())).to_single()
            };
            (0..3).map(|k| (k as u32, near(k))).collect()
        })
        .collect();
    let influences = Influences::from_rows(rows.iter().map(Vec::as_slice), 3, 0);
    mesh.influences = Some(influences.expect("valid").0);
    let mut unit = || vector(&mut seed).normalize();
    mesh.normals = Some(mesh.positions.iter().map(|_| f64::array3(unit())).collect());
    let tangents = mesh.positions.iter().map(|_| {
        let t = f64::array3(unit());
        [t[0], t[1], t[2], -1.0]
    });
    mesh.tangents = Some(tangents.collect());
    (mesh, rig_at(&origins))
}

fn bounds(points: &[[f32; 3]]) -> ([f64; 3], [f64; 3]) {
    let mut out = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for p in points {
        for (c, x) in p.iter().enumerate() {
            out.0[c] = out.0[c].min(f64::from(*x));
            out.1[c] = out.1[c].max(f64::from(*x));
        }
    }
    out
}

/// Largest distance from the origin: single precision is a part of it.
fn size_of(points: &[[f32; 3]]) -> f64 {
    points
        .iter()
        .map(|p| f64::vec3(*p).norm())
        .fold(0.0, f64::max)
}

fn mesh_of(points: &[[f32; 3]], triangles: Vec<[u32; 3]>) -> Mesh {
    let topology = Topology::new(points.len() as u32, triangles).expect("in range");
    Mesh::new("points", topology, points.to_vec())
}

/// Meshes of every awkward sort, with their names.
fn awkward() -> Vec<(&'static str, Mesh)> {
    let corners = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [1.0, 1.0, 0.5],
    ];
    let strip: Vec<[f32; 3]> = (0..24)
        .map(|i| {
            [
                (i / 2) as f32 * 0.3,
                (i % 2) as f32 * 0.1,
                (i as f32 * 0.2).sin() * 0.1,
            ]
        })
        .collect();
    let between = (0..22).map(|i| {
        if i % 2 == 0 {
            [i, i + 1, i + 2]
        } else {
            [i + 1, i, i + 2]
        }
    });
    let line: Vec<[f32; 3]> = (0..9).map(|i| [i as f32 * 0.2, 0.0, 0.0]).collect();
    let flat = (0..7).map(|i| [i, i + 1, i + 2]).collect();
    vec![
        ("grid", meshes::grid(9, 7)),
        ("sphere", meshes::sphere(7, 9)),
        ("tube", meshes::tube(9, 8, 3.0, 0.4)),
        ("cube with split seams", meshes::cube()),
        ("disconnected", meshes::loose_triangles(5)),
        ("degenerate", meshes::degenerate()),
        ("one triangle", mesh_of(&corners[..3], vec![[0, 1, 2]])),
        (
            "two triangles",
            mesh_of(&corners, vec![[0, 1, 2], [2, 1, 3]]),
        ),
        ("open strip", mesh_of(&strip, between.collect())),
        ("zero-area faces in a line", mesh_of(&line, flat)),
        ("isolated vertices", mesh_of(&corners, Vec::new())),
    ]
}

fn settings() -> SmoothingSettings {
    SmoothingSettings::default()
}

fn setup(mesh: &Mesh, rig: &Rig, settings: &SmoothingSettings) -> Moments {
    let joints = rig.joints().len();
    moments(mesh, joints, settings, Par::Seq, &BindWatch::NONE).expect("moments")
}

struct Out {
    p: Vec<[f32; 3]>,
    n: Vec<[f32; 3]>,
    t: Vec<[f32; 4]>,
}

fn view(mesh: &Mesh) -> MeshView<'_> {
    MeshView {
        positions: &mesh.positions,
        normals: mesh.normals.as_deref(),
        tangents: mesh.tangents.as_deref(),
        colors: None,
        ..MeshView::default()
    }
}

fn run(bind: &DirectDeltaMushBind, mesh: &Mesh, palette: &[PackedAffine], par: Par) -> Out {
    let n = mesh.vertex_count();
    let mut out = Out {
        p: vec![[f32::NAN; 3]; n],
        n: vec![[f32::NAN; 3]; n],
        t: vec![[f32::NAN; 4]; n],
    };
    DirectDeltaMushJob {
        bind,
        palette,
        input: view(mesh),
        output: MeshViewMut {
            positions: Some(&mut out.p),
            normals: Some(&mut out.n),
            tangents: Some(&mut out.t),
            colors: None,
        },
        scratch: &mut DirectDeltaMushScratch::new(bind),
        par,
    }
    .run();
    out
}

/// The joint turned and scaled about its own origin, then moved.
fn posed(origin: Vec3<f64>, turn: Quat<f64>, scale: [f64; 3], by: Vec3<f64>) -> Affine<f64> {
    let mut m = Affine::from_trs(Vec3::zeros(), turn, Vec3::from(scale));
    m.translation = origin - m.linear * origin + by;
    m
}

/// A palette that bends, twists and moves; stretched where asked for.
fn pose(rig: &Rig, stretched: bool, seed: u32) -> Vec<PackedAffine> {
    let mut s = seed;
    (rig.joints().iter())
        .map(|joint| {
            let o = -joint.joint_from_bind.translation;
            let scale = vector(&mut s).map(|x| if stretched { 1.0 + 0.4 * x } else { 1.0 });
            let turn = Quat::new(vector(&mut s) * 1.2);
            posed(o, turn, scale.into(), vector(&mut s) * 0.2).into()
        })
        .collect()
}

const STORAGES: [Storage; 2] = [Storage::Full, Storage::Quantized];

fn each_bind(mesh: &Mesh, rig: &Rig, settings: &SmoothingSettings) -> Vec<DirectDeltaMushBind> {
    let moments = setup(mesh, rig, settings);
    let all = Variant::ALL
        .into_iter()
        .flat_map(|v| STORAGES.map(|s| (v, s)));
    all.map(|(v, s)| DirectDeltaMushBind::new(&moments, rig.joints().len(), v, s))
        .collect()
}

#[test]
fn identity_gives_the_rest_mesh_everywhere() {
    for (name, mesh) in awkward() {
        for by in [0.0, 100.0] {
            let (mesh, rig) = dressed(mesh.clone(), by);
            let size = f64::from(mesh.diagonal()).max(1.0);
            for alpha in [0.0, 0.8, 0.95] {
                let settings = SmoothingSettings {
                    alpha,
                    ..settings()
                };
                for bind in each_bind(&mesh, &rig, &settings) {
                    let palette = vec![PackedAffine::default(); 3];
                    let out = run(&bind, &mesh, &palette, Par::Seq);
                    let off = max_distance(&out.p, &mesh.positions);
                    let what = format!(
                        "{name} at {by}, {:?}, {:?}, alpha {alpha}",
                        bind.variant(),
                        bind.blocks().storage
                    );
                    assert!(off <= 1e-6 * size, "{what}: {off:e}");
                    let turned = max_distance(&out.n, mesh.normals.as_deref().expect("given"));
                    assert!(turned < 2e-3, "{what}: normals {turned:e}");
                }
            }
        }
    }
}

#[test]
fn rigid_motion_gives_that_motion() {
    for (name, mesh) in awkward() {
        for by in [0.0, 100.0] {
            let (mesh, rig) = dressed(mesh.clone(), by);
            let size = f64::from(mesh.diagonal());
            for bind in each_bind(&mesh, &rig, &settings()) {
                // About the middle of the mesh, so that it stays where single precision knows it as well as before.
                let turn = Quat::from_euler_angles(0.4, -1.9, 2.6);
                let m = posed(bind.origin(), turn, [1.0; 3], Vec3::new(0.5, -1.0, 0.25));
                let packed = PackedAffine::from(m);
                let out = run(&bind, &mesh, &[packed; 3], Par::Seq);
                let what = format!("{name} at {by}, {:?}", bind.variant());
                for (v, p) in mesh.positions.iter().enumerate() {
                    let truth = packed.unpack::<f64>().point(f64::vec3(*p));
                    let off = (f64::vec3(out.p[v]) - truth).norm();
                    assert!(off <= 1e-5 * size, "{what}, vertex {v}: {off:e} of {size}");
                }
            }
        }
    }
}

#[test]
fn fast_kernels_agree_with_the_reference() {
    for (name, mesh) in awkward() {
        let (mesh, rig) = dressed(mesh, 0.0);
        let moments = setup(&mesh, &rig, &settings());
        for variant in Variant::ALL {
            let bind = DirectDeltaMushBind::new(&moments, 3, variant, Storage::Full);
            for stretched in [false, true] {
                let palette = pose(&rig, stretched, 5);
                let out = run(&bind, &mesh, &palette, Par::Seq);
                let truth = truth(&moments, &bind, &mesh, &palette);
                let what = format!("{name}, {variant:?}, stretched {stretched}");
                compare(&what, &mesh, &out, &truth);
            }
        }
    }
}

/// Position and motion of every vertex, by the reference in double precision.
fn truth(
    moments: &Moments,
    bind: &DirectDeltaMushBind,
    mesh: &Mesh,
    palette: &[PackedAffine],
) -> Vec<(Vec3<f64>, Affine<f64>)> {
    let origin = Vec3::from(moments.origin);
    let frame = Frame::new(palette, origin, bind.shares());
    (0..mesh.vertex_count())
        .map(|v| {
            let row = row(moments, v);
            let rest = f64::vec3(mesh.positions[v]);
            let motion = reference::motion::<f64>(bind.variant(), &row, &frame);
            (place(bind.variant(), &row, &frame, rest), motion)
        })
        .collect()
}

fn row(moments: &Moments, v: usize) -> Row<'_> {
    let (joints, pairs) = moments.row(v);
    Row {
        joints,
        pairs,
        center: moments.centers[v],
        inverse_size: inverse_sizes(moments)[v],
    }
}

fn compare(what: &str, mesh: &Mesh, out: &Out, truth: &[(Vec3<f64>, Affine<f64>)]) {
    let limit = tolerance::POSITION * f64::from(mesh.diagonal());
    for (v, (position, motion)) in truth.iter().enumerate() {
        let off = (f64::vec3(out.p[v]) - position).norm();
        assert!(
            off < limit,
            "{what}, vertex {v}: {off:e}, allowed {limit:e}"
        );
        let normal = f64::vec3(mesh.normals.as_ref().expect("given")[v]);
        let normal = (motion.normal_matrix() * normal).normalize();
        let off = (f64::vec3(out.n[v]) - normal).norm();
        assert!(off < tolerance::DIRECTION, "{what}, normal {v}: {off:e}");
        let [x, y, z, w] = mesh.tangents.as_ref().expect("given")[v];
        let tangent = (motion.linear * f64::vec3([x, y, z])).normalize();
        let [x, y, z, sign] = out.t[v];
        let off = (f64::vec3([x, y, z]) - tangent).norm();
        assert!(off < tolerance::DIRECTION, "{what}, tangent {v}: {off:e}");
        let mirrors = motion.linear.determinant() < 0.0;
        assert_eq!(sign, if mirrors { -w } else { w }, "{what}, sign {v}");
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let (mesh, rig) = dressed(meshes::grid(91, 67), 0.0);
    for bind in each_bind(&mesh, &rig, &settings()) {
        let palette = pose(&rig, true, 9);
        let a = run(&bind, &mesh, &palette, Par::Seq);
        let b = run(&bind, &mesh, &palette, Par::Rayon);
        assert!(
            a.p == b.p && a.n == b.n && a.t == b.t,
            "{:?}",
            bind.variant()
        );
    }
}

/// Linear skinning of a mesh with these influences, by the node `skin`.
fn linear(mesh: &Mesh, rig: &Rig, palette: &[PackedAffine]) -> Vec<[f32; 3]> {
    let bind = SkinBind::new(mesh, rig, SkinMethod::Linear).expect("binds");
    let mut out = vec![[0.0; 3]; mesh.vertex_count()];
    SkinJob {
        bind: &bind,
        palette,
        dual_quaternion_blend: 1.0,
        dual_quaternion_mask: None,
        input: view(mesh),
        output: MeshViewMut {
            positions: Some(&mut out),
            ..MeshViewMut::default()
        },
        scratch: &mut SkinScratch::new(&bind),
        par: Par::Seq,
    }
    .run();
    out
}

#[test]
fn without_smoothing_it_is_linear_skinning() {
    for (name, mesh) in awkward() {
        let (mesh, rig) = dressed(mesh, 0.0);
        let settings = SmoothingSettings {
            iterations: 0,
            tolerance: 0.0,
            ..settings()
        };
        for bind in each_bind(&mesh, &rig, &settings) {
            let palette = pose(&rig, true, 3);
            let out = run(&bind, &mesh, &palette, Par::Seq);
            let skinned = linear(&mesh, &rig, &palette);
            let off = max_distance(&out.p, &skinned) / size_of(&skinned);
            assert!(off < 1e-6, "{name}, {:?}: {off:e}", bind.variant());
        }
    }
}

#[test]
fn variant_five_is_linear_skinning_with_smoothed_weights() {
    for (name, mesh) in awkward() {
        let (mut mesh, rig) = dressed(mesh, 0.0);
        let exact = SmoothingSettings {
            tolerance: 0.0,
            ..settings()
        };
        let moments = setup(&mesh, &rig, &exact);
        let bind = DirectDeltaMushBind::new(&moments, 3, Variant::V4, Storage::Full);
        let palette = pose(&rig, true, 4);
        let origin = Vec3::from(moments.origin);
        let frame = Frame::new(&palette, origin, bind.shares());
        let rows: Vec<Vec<(u32, f32)>> = (0..mesh.vertex_count())
            .map(|v| {
                let (joints, pairs) = moments.row(v);
                joints
                    .iter()
                    .zip(pairs)
                    .map(|(&j, p)| (j, p.weight))
                    .collect()
            })
            .collect();
        let influences = Influences::from_rows(rows.iter().map(Vec::as_slice), 3, 0);
        mesh.influences = Some(influences.expect("valid").0);
        let skinned = linear(&mesh, &rig, &palette);
        for (v, p) in mesh.positions.iter().enumerate() {
            let row = row(&moments, v);
            let near = f64::vec3(*p) - origin - f64::vec3(row.center);
            let moved = linear_motion(&row, &frame).point(near) + frame.reference;
            let off = (f64::vec3(skinned[v]) - moved).norm() / size_of(&skinned);
            assert!(off < 1e-6, "{name}, vertex {v}: {off:e}");
        }
    }
}

/// The paper's own formula, about the world's origin, with the singular values of another program.
#[test]
fn full_method_is_the_paper_s_formula() {
    let (mesh, rig) = dressed(meshes::tube(12, 10, 3.0, 0.4), 0.0);
    let settings = SmoothingSettings {
        alpha: 0.5,
        iterations: 6,
        ..settings()
    };
    let dense = dense_moments(&mesh, 3, &settings);
    let moments = dense.to_moments(0.0);
    let bind = DirectDeltaMushBind::new(&moments, 3, Variant::V0, Storage::Full);
    let palette = pose(&rig, false, 8);
    let out = run(&bind, &mesh, &palette, Par::Seq);
    for (v, p) in mesh.positions.iter().enumerate() {
        let class = dense.class_of_vertex[v] as usize;
        let strongest = palette[moments.row(v).0[0] as usize].unpack::<f64>().linear;
        // With the pull of the strongest joint, which is ours, and without it.
        for (pull, allowed) in [(Variant::V0.pull(), 1e-5), (0.0, 2e-4)] {
            let (omega, center) = (&dense.omega[class], dense.centers[class]);
            let truth = paper(omega, center, &palette, f64::vec3(*p), strongest * pull);
            let off = (f64::vec3(out.p[v]) - truth).norm();
            assert!(off < allowed, "vertex {v}, pull {pull}: {off:e}");
        }
    }
}

fn paper(
    omega: &[sinew_geom::nalgebra::Matrix4<f64>],
    center: Vec3<f64>,
    palette: &[PackedAffine],
    u: Vec3<f64>,
    pull: Mat3<f64>,
) -> Vec3<f64> {
    use sinew_geom::nalgebra::{Matrix4, SVD};
    let move_back = Matrix4::new_translation(&center);
    let sum: Matrix4<f64> = (omega.iter().zip(palette))
        .map(|(omega, m)| {
            let m = m.unpack::<f64>();
            let mut whole = m.linear.to_homogeneous();
            whole.fixed_view_mut::<3, 1>(0, 3).copy_from(&m.translation);
            whole * (move_back * omega * move_back.transpose())
        })
        .sum();
    let big_q = sum.fixed_view::<3, 3>(0, 0).into_owned();
    let q = sum.fixed_view::<3, 1>(0, 3).into_owned();
    let p = sum.fixed_view::<1, 3>(3, 0).transpose();
    let rest: Matrix4<f64> = omega.iter().sum();
    let size = rest.fixed_view::<3, 3>(0, 0).trace();
    let a = big_q - q * p.transpose() + pull * size;
    let svd = SVD::new(a, true, true);
    let (u_factor, vt) = (svd.u.expect("asked for"), svd.v_t.expect("asked for"));
    let sign = (u_factor * vt).determinant().signum();
    let least = (0..3).min_by(|&a, &b| svd.singular_values[a].total_cmp(&svd.singular_values[b]));
    let mut signs = Vec3::repeat(1.0);
    signs[least.expect("three")] = sign;
    let r = u_factor * Mat3::from_diagonal(&signs) * vt;
    r * (u - p) + q
}

/// A bar with two joints, the outer one scaled by two.
#[test]
fn scaled_joints_are_followed() {
    let mut mesh = meshes::tube(40, 12, 4.0, 0.4);
    let rows: Vec<Vec<(u32, f32)>> = (mesh.positions.iter())
        .map(|p| vec![(u32::from(p[0] > 2.0), 1.0)])
        .collect();
    let influences = Influences::from_rows(rows.iter().map(Vec::as_slice), 2, 0);
    mesh.influences = Some(influences.expect("valid").0);
    let rig = rig_at(&[[0.0; 3], [2.0, 0.0, 0.0]]);
    let extent = |points: &[[f32; 3]]| {
        let (low, high) = bounds(points);
        high[0] - low[0]
    };
    let scaled = posed(
        Vec3::new(2.0, 0.0, 0.0),
        Quat::identity(),
        [2.0; 3],
        Vec3::zeros(),
    );
    let palette = [PackedAffine::default(), scaled.into()];
    // Linear skinning: 2 and twice 2.
    let expected = extent(&linear(&mesh, &rig, &palette));
    assert!((expected - 6.0).abs() < 1e-5, "{expected}");
    let moments = setup(&mesh, &rig, &settings());
    for variant in Variant::ALL {
        let bind = DirectDeltaMushBind::new(&moments, 2, variant, Storage::Full);
        let out = run(&bind, &mesh, &palette, Par::Seq);
        let found = extent(&out.p);
        println!("{variant:?}: extent {found}, linear skinning {expected}");
        assert!(
            (found - expected).abs() < 0.02 * expected,
            "{variant:?}: {found}"
        );
        let across = |points: &[[f32; 3]]| bounds(points).1[1];
        // Cofactors of what is stretched make a little more of it.
        let allowed = if variant == Variant::V1 { 0.06 } else { 0.02 };
        assert!(
            (across(&out.p) - 0.8).abs() < allowed,
            "{variant:?}: {}",
            across(&out.p)
        );
    }
    // The plain method turns and moves, and does not scale.
    let bind = DirectDeltaMushBind::new(&moments, 2, Variant::V0, Storage::Full);
    let origin = Vec3::from(moments.origin);
    let mut frame = Frame::new(&palette, origin, bind.shares());
    for joint in &mut frame.joints {
        joint.stretch = Mat3::identity();
        joint.turn = joint.matrix.linear;
    }
    let plain = mesh.positions.iter().enumerate().map(|(v, p)| {
        let row = row(&moments, v);
        f64::array3(place(Variant::V0, &row, &frame, f64::vec3(*p)))
    });
    let plain: Vec<[f32; 3]> = plain.collect();
    let (found, across) = (extent(&plain), bounds(&plain).1[1]);
    println!("plain: extent {found}, radius {across} of 0.8");
    assert!(found < expected - 0.05 && across < 0.7, "{found}, {across}");
}

#[test]
fn mirrors_and_singular_matrices_stay_finite() {
    let (mesh, rig) = dressed(meshes::sphere(7, 9), 0.0);
    let mirror = posed(
        Vec3::zeros(),
        Quat::identity(),
        [-1.0, 1.0, 1.0],
        Vec3::zeros(),
    );
    let half = posed(
        Vec3::zeros(),
        Quat::from_euler_angles(0.0, std::f64::consts::PI - 5e-8, 0.0),
        [1.0; 3],
        Vec3::zeros(),
    );
    let zero: Affine<f64> = Affine {
        linear: Mat3::zeros(),
        translation: Vec3::zeros(),
    };
    let palettes = [
        [PackedAffine::default(), mirror.into(), half.into()],
        [zero.into(); 3],
        [mirror.into(); 3],
        [half.into(), PackedAffine::default(), zero.into()],
    ];
    for bind in each_bind(&mesh, &rig, &settings()) {
        for (k, palette) in palettes.iter().enumerate() {
            let out = run(&bind, &mesh, palette, Par::Seq);
            let mut all = (out.p.iter().chain(&out.n).flatten()).chain(out.t.iter().flatten());
            assert!(
                all.all(|x| x.is_finite()),
                "{:?}, palette {k}",
                bind.variant()
            );
        }
        // A mirror of everything is that mirror.
        let out = run(&bind, &mesh, &palettes[2], Par::Seq);
        let mirrored: Vec<[f32; 3]> = mesh.positions.iter().map(|p| [-p[0], p[1], p[2]]).collect();
        let off = max_distance(&out.p, &mirrored);
        assert!(off < 1e-5, "{:?}: {off:e}", bind.variant());
    }
}

#[test]
fn seams_stay_closed() {
    let (mesh, rig) = dressed(meshes::cube(), 0.0);
    for bind in each_bind(&mesh, &rig, &settings()) {
        let out = run(&bind, &mesh, &pose(&rig, true, 6), Par::Seq);
        for a in 0..mesh.vertex_count() {
            for b in 0..a {
                if mesh.positions[a] == mesh.positions[b] {
                    let off = (f64::vec3(out.p[a]) - f64::vec3(out.p[b])).norm();
                    assert!(
                        off < 1e-6,
                        "{:?}: {a} and {b} are {off:e} apart",
                        bind.variant()
                    );
                }
            }
        }
    }
}

/// Points that move in rest space are carried by the motion of their vertex.
#[test]
fn moved_rest_points_are_carried() {
    let (mesh, rig) = dressed(meshes::sphere(7, 9), 0.0);
    let moments = setup(&mesh, &rig, &settings());
    for variant in Variant::ALL {
        let bind = DirectDeltaMushBind::new(&moments, 3, variant, Storage::Full);
        let palette = pose(&rig, false, 2);
        let mut moved = mesh.clone();
        let mut seed = 4;
        for p in &mut moved.positions {
            *p = f64::array3(f64::vec3(*p) + vector(&mut seed) * 0.1);
        }
        let truth = truth(&moments, &bind, &mesh, &palette);
        let out = run(&bind, &moved, &palette, Par::Seq);
        for (v, (before, motion)) in truth.iter().enumerate() {
            let by = f64::vec3(moved.positions[v]) - f64::vec3(mesh.positions[v]);
            let off = (f64::vec3(out.p[v]) - (before + motion.linear * by)).norm();
            assert!(off < 1e-5, "{variant:?}, vertex {v}: {off:e}");
        }
    }
}

/// Of the diagonal; surfaces apart from lines and soups, whose rotations hang on the smallest moments.
#[test]
fn quantized_moments_are_off_by_little() {
    let mut worst = [[0.0_f64; 5]; 2];
    for (name, mesh) in awkward() {
        let is_surface = ["grid", "sphere", "tube", "cube with split seams"].contains(&name);
        let (mesh, rig) = dressed(mesh, 0.0);
        let moments = setup(&mesh, &rig, &settings());
        for (k, variant) in Variant::ALL.into_iter().enumerate() {
            let [full, small] = STORAGES.map(|s| DirectDeltaMushBind::new(&moments, 3, variant, s));
            for stretched in [false, true] {
                let palette = pose(&rig, stretched, 5);
                let a = run(&full, &mesh, &palette, Par::Seq);
                let b = run(&small, &mesh, &palette, Par::Seq);
                let off = max_distance(&a.p, &b.p) / f64::from(mesh.diagonal());
                let worst = &mut worst[usize::from(!is_surface)][k];
                *worst = worst.max(off);
            }
        }
    }
    let [surfaces, others] = worst;
    println!("quantised, surfaces {surfaces:?}, others {others:?}");
    for (k, allowed) in [4e-5, 2e-4, 2e-6, 2e-6, 0.0].into_iter().enumerate() {
        assert!(surfaces[k] <= allowed, "v{k}: {surfaces:?}");
        assert!(others[k] <= 1e-3, "v{k}: {others:?}");
    }
    assert!(surfaces[0] > 1e-8, "something is rounded: {surfaces:?}");
}

#[test]
fn bytes_are_those_of_the_page() {
    let (mesh, rig) = dressed(meshes::grid(63, 63), 0.0);
    let one = SmoothingSettings {
        tolerance: 0.0,
        ..settings()
    };
    let moments = setup(&mesh, &rig, &one);
    let n = mesh.vertex_count() as f64;
    for (variant, full, small) in [
        (Variant::V0, 40.0, 24.0),
        (Variant::V1, 40.0, 24.0),
        (Variant::V2, 16.0, 12.0),
        (Variant::V3, 16.0, 12.0),
        (Variant::V4, 4.0, 4.0),
    ] {
        for (storage, pair) in [(Storage::Full, full), (Storage::Quantized, small)] {
            let bind = DirectDeltaMushBind::new(&moments, 3, variant, storage);
            let scales = if storage == Storage::Quantized && variant != Variant::V4 {
                8.0
            } else {
                0.0
            };
            // Three joints a block: their numbers and their indices; offsets; strongest joints and centres.
            let expected = 3.0 * pair + 1.5 + 0.5 + 20.0 + scales;
            let found = bind.bytes() as f64 / n;
            assert!(
                (found - expected).abs() < 0.1,
                "{variant:?} {storage:?}: {found}, {expected}"
            );
        }
    }
}

#[test]
fn saved_setup_comes_back_and_damage_is_refused() {
    let (mesh, rig) = dressed(meshes::grid(9, 7), 0.0);
    let n = mesh.vertex_count();
    for bind in each_bind(&mesh, &rig, &settings()) {
        let bytes = BoundNode::save(&bind).expect("saves");
        let storage = bind.blocks().storage;
        let restored = |bytes: &[u8], vertices: usize, rig: &Rig| {
            let parts = postcard::from_bytes::<BindParts>(bytes).ok()?;
            DirectDeltaMushBind::from_parts(
                parts,
                rig.joints().len(),
                vertices,
                bind.variant(),
                storage,
            )
        };
        let again = restored(&bytes, n, &rig).expect("fits");
        assert_eq!(again.parts(), bind.parts());
        assert!(restored(&bytes, n + 8, &rig).is_none(), "another mesh");
        let small = rig_at(&[[0.0; 3]]);
        assert!(restored(&bytes, n, &small).is_none(), "another rig");
        // Whatever a byte is changed to: refused, or it runs.
        let palette = pose(&rig, false, 1);
        for at in (0..bytes.len()).step_by(bytes.len() / 150 + 1) {
            for value in [0, 1, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                if let Some(bind) = restored(&damaged, n, &rig) {
                    run(&bind, &mesh, &palette, Par::Seq);
                }
            }
        }
    }
}

/// How far the cheap variants are from the full one where a tube bends by 69 degrees.
#[test]
fn cheaper_variants_are_near_the_full_one() {
    let mesh = meshes::tube(40, 24, 6.0, 1.0);
    let rig = rig_at(&[[0.0; 3], [3.0, 0.0, 0.0]]);
    let moments = setup(&mesh, &rig, &settings());
    let bend = Quat::from_euler_angles(0.0, 0.0, 69.0_f64.to_radians());
    let bent = posed(Vec3::new(3.0, 0.0, 0.0), bend, [1.0; 3], Vec3::zeros());
    let palette = [PackedAffine::default(), bent.into()];
    let moved = |variant| {
        let bind = DirectDeltaMushBind::new(&moments, 2, variant, Storage::Full);
        run(&bind, &mesh, &palette, Par::Seq).p
    };
    let full = moved(Variant::V0);
    let linear = max_distance(&full, &linear(&mesh, &rig, &palette));
    for variant in Variant::ALL {
        let off = max_distance(&full, &moved(variant));
        println!("{variant:?}: {off:.3} from v0; linear skinning {linear:.3}");
        // Each is a rule of its own, and all are nearer than linear skinning by half.
        assert!(off < 0.5 * linear, "{variant:?}: {off} of {linear}");
        let same = variant == Variant::V0;
        assert_eq!(off < 0.02, same, "{variant:?}: {off}");
    }
}

/// Without a start that is near, and with nothing to go by, the strongest joint leads.
#[test]
fn lone_points_turn_with_their_strongest_joint() {
    let mesh = mesh_of(&[[0.2, 0.3, 0.4]], Vec::new());
    let (mesh, rig) = dressed(mesh, 0.0);
    let moments = setup(&mesh, &rig, &settings());
    let bind = DirectDeltaMushBind::new(&moments, 3, Variant::V0, Storage::Full);
    let palette = pose(&rig, false, 7);
    let out = run(&bind, &mesh, &palette, Par::Seq);
    let strongest = moments.row(0).0[0] as usize;
    let normal = f64::vec3(mesh.normals.as_ref().expect("given")[0]);
    let expected = palette[strongest].unpack::<f64>().linear * normal;
    assert!(
        (f64::vec3(out.n[0]) - expected).norm() < 1e-5,
        "{:?}",
        out.n[0]
    );
}
