use super::*;
use sinew_geom::{Influences, Joint, LocalTransform, Mat3, Mesh, Node, Quat, Rig, Topology, Vec3};
use sinew_testkit::{meshes, tolerance};
use std::f64::consts::PI;

const METHODS: [SkinMethod; 4] = [
    SkinMethod::Rigid,
    SkinMethod::Linear,
    SkinMethod::DualQuaternion,
    SkinMethod::Blended,
];

/// Joints sitting at `origins`, unrotated.
fn rig_at(origins: &[[f64; 3]]) -> Rig {
    let nodes = (0..origins.len())
        .map(|i| Node {
            name: format!("joint_{i}"),
            parent: None,
            local: LocalTransform::Matrix(Affine::identity()),
            morph_weights: Vec::new(),
            morph_offset: 0,
        })
        .collect();
    let joints = origins
        .iter()
        .enumerate()
        .map(|(node, o)| Joint {
            node,
            joint_from_bind: Affine {
                linear: Mat3::identity(),
                translation: -Vec3::from(*o),
            },
        })
        .collect();
    Rig::new(nodes, joints).expect("valid rig")
}

fn mesh_of(points: &[[f32; 3]], rows: &[Vec<(u32, f32)>], joints: usize) -> Mesh {
    let topology = Topology::new(points.len() as u32, Vec::new()).expect("no triangles");
    let mut mesh = Mesh::new("points", topology, points.to_vec());
    mesh.normals = Some(vec![[0.0, 0.0, 1.0]; points.len()]);
    mesh.tangents = Some(vec![[1.0, 0.0, 0.0, 1.0]; points.len()]);
    mesh.influences = Influences::from_rows(rows.iter().map(Vec::as_slice), joints, 0)
        .ok()
        .map(|r| r.0);
    mesh
}

struct Out {
    p: Vec<[f32; 3]>,
    n: Vec<[f32; 3]>,
    t: Vec<[f32; 4]>,
}

fn run(mesh: &Mesh, rig: &Rig, method: SkinMethod, palette: &[PackedAffine], par: Par) -> Out {
    let bind = SkinBind::new(mesh, rig, method).expect("binds");
    let n = mesh.vertex_count();
    let mut out = Out {
        p: vec![[f32::NAN; 3]; n],
        n: vec![[f32::NAN; 3]; n],
        t: vec![[f32::NAN; 4]; n],
    };
    SkinJob {
        bind: &bind,
        palette,
        dual_quaternion_blend: 0.7,
        dual_quaternion_mask: None,
        input: view(mesh),
        output: MeshViewMut {
            positions: Some(&mut out.p),
            normals: Some(&mut out.n),
            tangents: Some(&mut out.t),
            colors: None,
        },
        scratch: &mut SkinScratch::new(&bind),
        par,
    }
    .run();
    out
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

fn about(origin: [f64; 3], q: Quat<f64>, scale: [f64; 3]) -> PackedAffine {
    let c = Vec3::from(origin);
    let mut m = Affine::from_trs(Vec3::zeros(), q, Vec3::from(scale));
    m.translation = c - m.linear * c;
    m.into()
}

/// Deterministic numbers in -1..1.
fn noise(seed: &mut u32) -> f64 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    f64::from(*seed >> 8) / f64::from(1_u32 << 23) - 1.0
}

/// A cloud of `n` points with up to `k` influences each, nine joints, a palette with or without scale.
fn cloud(n: usize, k: usize, scaled: bool) -> (Mesh, Rig, Vec<PackedAffine>) {
    cloud_of(9, n, k, scaled)
}

/// The same with any number of joints; vertices side by side follow different ones.
pub(super) fn cloud_of(
    joints: usize,
    n: usize,
    k: usize,
    scaled: bool,
) -> (Mesh, Rig, Vec<PackedAffine>) {
    let mut s = 7;
    let mut v3 = || -> [f64; 3] { std::array::from_fn(|_| noise(&mut s)) };
    let origins: Vec<[f64; 3]> = (0..joints).map(|_| v3()).collect();
    let palette = origins
        .iter()
        .map(|&o| {
            let (axis, size) = (v3(), v3());
            let scale = size.map(|x| if scaled { 1.0 + 0.4 * x } else { 1.0 });
            let mut m: Affine<f64> = about(o, Quat::new(Vec3::from(axis) * 1.2), scale).unpack();
            m.translation += Vec3::from(v3()) * 0.2;
            m.into()
        })
        .collect();
    let points: Vec<[f32; 3]> = (0..n).map(|_| v3().map(|x| x as f32)).collect();
    let rows: Vec<Vec<(u32, f32)>> = (0..n)
        .map(|v| {
            (0..1 + v % k)
                .map(|i| {
                    (
                        ((v * 9 + i * 5) % joints) as u32,
                        (0.05 + v3()[0].abs()) as f32,
                    )
                })
                .collect()
        })
        .collect();
    (mesh_of(&points, &rows, joints), rig_at(&origins), palette)
}

fn distance(a: [f32; 3], b: Vec3<f64>) -> f64 {
    (Vec3::from(a.map(f64::from)) - b).norm()
}

#[test]
fn fast_kernel_agrees_with_the_reference() {
    let few = [(1, false), (4, false), (4, true), (7, false), (7, true)];
    for (k, scaled) in few {
        agrees_with_reference(9, k, scaled, true);
    }
    // So many joints that eight vertices side by side do not share a short list.
    for (k, scaled) in [(4, false), (7, true)] {
        agrees_with_reference(97, k, scaled, false);
    }
}

/// All methods on a cloud; `blocks` tells how its influences are packed.
fn agrees_with_reference(joints: usize, k: usize, scaled: bool, blocks: bool) {
    let (mesh, rig, palette) = cloud_of(joints, 1003, k, scaled);
    for method in METHODS {
        let out = run(&mesh, &rig, method, &palette, Par::Seq);
        let bind = SkinBind::new(&mesh, &rig, method).expect("binds");
        if method != SkinMethod::Rigid {
            assert_eq!(matches!(bind.packed, bind::Packed::Blocks(_)), blocks);
        }
        let truth = skin_reference(&bind, &palette, |_| 0.7, &view(&mesh));
        let limit = tolerance::POSITION * f64::from(mesh.diagonal());
        for (v, t) in truth.iter().enumerate() {
            assert!(
                distance(out.p[v], t.position) < limit,
                "{method:?} {k} position {v}"
            );
            assert!(
                distance(out.n[v], t.normal) < tolerance::DIRECTION,
                "{method:?} {k} normal {v}"
            );
            let [x, y, z, s] = out.t[v];
            assert!(
                distance([x, y, z], t.tangent) < tolerance::DIRECTION,
                "{method:?} tangent {v}"
            );
            assert_eq!(f64::from(s), t.sign, "{method:?} sign {v}");
        }
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let (mesh, rig, palette) = cloud(20_011, 6, true);
    for method in METHODS {
        let a = run(&mesh, &rig, method, &palette, Par::Seq);
        let b = run(&mesh, &rig, method, &palette, Par::Rayon);
        assert!(a.p == b.p && a.n == b.n && a.t == b.t, "{method:?}");
    }
}

#[test]
fn rest_pose_gives_the_rest_mesh() {
    let (mesh, rig, _) = cloud(77, 5, false);
    let palette = vec![PackedAffine::default(); 9];
    for method in METHODS {
        let out = run(&mesh, &rig, method, &palette, Par::Seq);
        let d = sinew_testkit::max_distance(&out.p, &mesh.positions);
        assert!(d < 1e-6, "{method:?} moved by {d}");
    }
}

/// Distance from the X axis of a halfway vertex at distance 1, after the second joint turned by `angle` about `axis`.
fn halfway(method: SkinMethod, axis: [f64; 3], angle: f64) -> [f32; 3] {
    let mesh = mesh_of(&[[0.0, 1.0, 0.0]], &[vec![(0, 0.5), (1, 0.5)]], 2);
    let rig = rig_at(&[[0.0; 3]; 2]);
    let turn = about([0.0; 3], Quat::new(Vec3::from(axis) * angle), [1.0; 3]);
    run(
        &mesh,
        &rig,
        method,
        &[PackedAffine::default(), turn],
        Par::Seq,
    )
    .p[0]
}

#[test]
fn linear_loses_radius_as_the_closed_form_says() {
    for (degrees, expected) in [
        (90.0_f64, std::f64::consts::FRAC_1_SQRT_2),
        (120.0, 0.5),
        (180.0, 0.0),
    ] {
        let p = halfway(SkinMethod::Linear, [1.0, 0.0, 0.0], degrees.to_radians());
        let radius = f64::from(p[1].hypot(p[2]));
        assert!((radius - expected).abs() < 1e-4, "{degrees}: {radius}");
    }
}

#[test]
fn dual_quaternions_keep_the_radius() {
    for degrees in [30.0_f64, 90.0, 120.0, 179.0] {
        let p = halfway(
            SkinMethod::DualQuaternion,
            [1.0, 0.0, 0.0],
            degrees.to_radians(),
        );
        let half = degrees.to_radians() / 2.0;
        assert!(
            distance(p, Vec3::new(0.0, half.cos(), half.sin())) < 1e-6,
            "{degrees}: half the turn, got {p:?}"
        );
    }
}

#[test]
fn antipodal_rotations_take_the_short_way() {
    // 350 degrees is -10: half of it is -5, not 175.
    let p = halfway(
        SkinMethod::DualQuaternion,
        [1.0, 0.0, 0.0],
        350.0 * PI / 180.0,
    );
    let half = -5.0 * PI / 180.0;
    assert!(
        distance(p, Vec3::new(0.0, half.cos(), half.sin())) < 1e-6,
        "{p:?}"
    );
}

#[test]
fn rigid_follows_the_largest_influence() {
    let rows = [vec![(0, 0.4), (1, 0.6)], vec![(0, 0.5), (1, 0.5)]];
    let mesh = mesh_of(&[[1.0, 0.0, 0.0]; 2], &rows, 2);
    let rig = rig_at(&[[0.0; 3]; 2]);
    let mut moved: Affine<f64> = Affine::identity();
    moved.translation.y = 2.0;
    let palette = [PackedAffine::default(), moved.into()];
    let out = run(&mesh, &rig, SkinMethod::Rigid, &palette, Par::Seq);
    assert_eq!(
        out.p,
        [[1.0, 2.0, 0.0], [1.0, 0.0, 0.0]],
        "a tie goes to the lower joint"
    );
}

#[test]
fn blended_lies_between_by_mask() {
    let (mesh, rig, palette) = cloud(50, 4, true);
    let bind = SkinBind::new(&mesh, &rig, SkinMethod::Blended).expect("binds");
    let mask: Vec<f32> = (0..50).map(|v| v as f32 / 49.0).collect();
    let mut p = vec![[0.0; 3]; 50];
    SkinJob {
        bind: &bind,
        palette: &palette,
        dual_quaternion_blend: 1.0,
        dual_quaternion_mask: Some(&mask),
        input: view(&mesh),
        output: MeshViewMut {
            positions: Some(&mut p),
            ..MeshViewMut::default()
        },
        scratch: &mut SkinScratch::new(&bind),
        par: Par::Seq,
    }
    .run();
    let linear = run(&mesh, &rig, SkinMethod::Linear, &palette, Par::Seq).p;
    let dual = run(&mesh, &rig, SkinMethod::DualQuaternion, &palette, Par::Seq).p;
    for v in 0..50 {
        for c in 0..3 {
            let expected = linear[v][c] + (dual[v][c] - linear[v][c]) * mask[v];
            assert!((p[v][c] - expected).abs() < 1e-6, "vertex {v}");
        }
    }
}

#[test]
fn equal_scaled_joints_do_not_drift() {
    // Both joints do the same; wherever they sit, the result is that matrix.
    let mesh = mesh_of(&[[0.3, 0.4, 0.5]], &[vec![(0, 0.6), (1, 0.4)]], 2);
    let rig = rig_at(&[[5.0, 0.0, 1.0], [-3.0, 2.0, 0.0]]);
    let m = about(
        [0.1, 0.2, 0.3],
        Quat::from_euler_angles(0.4, 1.0, -0.3),
        [2.0, 0.5, 1.5],
    );
    let out = run(&mesh, &rig, SkinMethod::DualQuaternion, &[m, m], Par::Seq);
    let truth = m
        .unpack::<f64>()
        .point(Vec3::from(mesh.positions[0].map(f64::from)));
    assert!(distance(out.p[0], truth) < 2e-6, "{:?} {truth}", out.p[0]);
}

/// Joints that turn in different ways, and the same ones behind a root that scales: the frame is the scaled frame.
#[test]
fn a_root_that_scales_scales_the_frame() {
    for influences in [2, 4, 7] {
        let (mesh, rig, palette) = cloud(203, influences, false);
        for scale in [0.01, 0.3, 3.0, 100.0] {
            let root: Affine<f64> = about([0.0; 3], Quat::identity(), [scale; 3]).unpack();
            let grown: Vec<PackedAffine> =
                palette.iter().map(|m| (root * m.unpack()).into()).collect();
            for method in METHODS {
                let one = run(&mesh, &rig, method, &palette, Par::Seq);
                let all = run(&mesh, &rig, method, &grown, Par::Seq);
                for v in 0..203 {
                    let expected = Vec3::from(one.p[v].map(f64::from)) * scale;
                    let off = distance(all.p[v], expected) / scale;
                    assert!(off < 1e-5, "{method:?}, {influences}, {scale}: {off:e}");
                    let normal = Vec3::from(one.n[v].map(f64::from));
                    let turned = distance(all.n[v], normal);
                    assert!(
                        turned < 1e-4,
                        "{method:?}, {influences}, {scale}: {turned:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn single_joint_is_its_matrix_scaled_mirrored_or_sheared() {
    let rig = rig_at(&[[0.3, -0.2, 0.9]]);
    let mesh = mesh_of(&[[0.3, 0.4, 0.5]], &[vec![(0, 1.0)]], 1);
    let q = Quat::from_euler_angles(0.4, 1.0, -0.3);
    for scale in [
        [2.0, 0.5, 1.5],
        [-1.0, 1.0, 1.0],
        [1.0, -3.0, 0.5],
        [-1.0, -1.0, -1.0],
    ] {
        let mut m: Affine<f64> = about([0.1, 0.0, 0.0], q, scale).unpack();
        m.linear[(0, 1)] += 0.3;
        let out = run(
            &mesh,
            &rig,
            SkinMethod::DualQuaternion,
            &[m.into()],
            Par::Seq,
        );
        let truth = m.point(Vec3::from(mesh.positions[0].map(f64::from)));
        assert!(distance(out.p[0], truth) < 2e-6, "{scale:?}");
        let mirrors = m.linear.determinant() < 0.0;
        assert_eq!(
            out.t[0][3],
            if mirrors { -1.0 } else { 1.0 },
            "{scale:?} tangent sign"
        );
        let n = (m.linear.try_inverse().expect("regular").transpose() * Vec3::z()).normalize();
        assert!(
            distance(out.n[0], n) < 1e-5,
            "{scale:?} normal {:?} {n}",
            out.n[0]
        );
    }
}

#[test]
fn singular_matrices_stay_finite() {
    let (mesh, rig, mut palette) = cloud(20, 4, true);
    palette.fill(PackedAffine {
        rows: [[0.0; 4]; 3],
    });
    palette[3].rows[0] = [1.0, 2.0, 3.0, 4.0];
    for method in METHODS {
        let out = run(&mesh, &rig, method, &palette, Par::Seq);
        let all = out
            .p
            .iter()
            .chain(&out.n)
            .flatten()
            .chain(out.t.iter().flatten());
        assert!(all.clone().all(|v| v.is_finite()), "{method:?}");
    }
}

#[test]
fn degenerate_mesh_is_fine() {
    let mut mesh = meshes::degenerate();
    mesh.influences = Some(Influences::rigid(mesh.vertex_count(), 0));
    let rig = rig_at(&[[0.0; 3]]);
    let out = run(
        &mesh,
        &rig,
        SkinMethod::Linear,
        &[PackedAffine::default()],
        Par::Seq,
    );
    assert_eq!(out.p, mesh.positions);
}

#[test]
fn polar_factor_is_the_rotation_that_went_in() {
    let mut s = 3;
    for _ in 0..200 {
        let q = Quat::new(Vec3::from_fn(|_, _| 2.0 * noise(&mut s)));
        let l = Mat3::from_fn(|_, _| noise(&mut s));
        let stretch = l * l.transpose() + Mat3::identity() * 0.05;
        let found = rotation_of(&(q.to_rotation_matrix().into_inner() * stretch));
        assert!(q.angle_to(&found) < 1e-6, "{} {}", q, found);
    }
}

/// About any axis, half a turn included, and of matrices that are flat.
#[test]
fn half_turns_are_found() {
    let mut s = 5;
    for n in 0..200 {
        let axis = match n {
            0..3 => Vec3::ith(n, 1.0),
            _ => Vec3::from_fn(|_, _| noise(&mut s)),
        };
        let axis = sinew_geom::nalgebra::Unit::new_normalize(axis);
        let flat = Mat3::from_diagonal(&Vec3::new(1.0, 0.0, 0.7));
        let basis = Quat::new(Vec3::from_fn(|_, _| 2.0 * noise(&mut s)));
        let basis = basis.to_rotation_matrix().into_inner();
        for angle in [PI, 0.999 * PI, 0.6 * PI] {
            let q = Quat::from_axis_angle(&axis, angle);
            let turn = q.to_rotation_matrix().into_inner();
            let regular = (Mat3::identity(), 1e-6);
            // Sixty iterations come as near as this.
            for (stretch, most) in [
                regular,
                (flat, 0.02),
                (basis * flat * basis.transpose(), 0.02),
            ] {
                let found = rotation_of(&(turn * stretch));
                assert!(q.angle_to(&found) < most, "{n} {angle}: {q} {found}");
            }
        }
    }
}

#[test]
fn bind_refuses_what_it_cannot_skin() {
    let rig = rig_at(&[[0.0; 3]]);
    let message = |m: &Mesh| {
        SkinBind::new(m, &rig, SkinMethod::Linear)
            .expect_err("refused")
            .to_string()
    };
    let mut mesh = meshes::cube();
    assert!(
        message(&mesh).contains("has no joint weights; bind it"),
        "{}",
        message(&mesh)
    );
    mesh.influences = Some(Influences::rigid(3, 0));
    assert_eq!(
        message(&mesh),
        "found joint weights of 3 vertices, expected 24, one row for each vertex"
    );
    mesh.influences = Some(Influences::rigid(24, 4));
    assert_eq!(
        message(&mesh),
        "vertex 0 refers to joint 4, but the skeleton has 1 joints"
    );
}
