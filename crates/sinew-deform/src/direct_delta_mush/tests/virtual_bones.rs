//! The node in two layers.

use super::super::reference::two_layers;
use super::*;

/// A mesh that is brought down to virtual bones.
struct Small {
    mesh: Mesh,
    rig: Rig,
    moments: Moments,
    found: VirtualBones,
    variant: Variant,
}

/// The same joints, resting where they were bound.
fn resting(rig: &Rig) -> Rig {
    let mut nodes = rig.nodes().to_vec();
    for joint in rig.joints() {
        let bound = joint.joint_from_bind.inverse().expect("regular");
        nodes[joint.node].local = LocalTransform::Matrix(bound);
    }
    Rig::new(nodes, rig.joints().to_vec()).expect("valid rig")
}

fn small(mesh: Mesh, by: f32, variant: Variant, bones: usize, influences: usize) -> Small {
    let (mesh, rig) = dressed(mesh, by);
    let moments = setup(&mesh, &rig, &settings());
    let found = brought_down(&mesh, &rig, &moments, (variant, bones, influences));
    Small {
        mesh,
        rig,
        moments,
        found,
        variant,
    }
}

fn brought_down(
    mesh: &Mesh,
    rig: &Rig,
    moments: &Moments,
    (variant, bones, influences): (Variant, usize, usize),
) -> VirtualBones {
    let to = CompressionSettings {
        bones,
        influences,
        variant,
    };
    let (rest, rig) = (&mesh.positions, resting(rig));
    compress(moments, rest, &rig, to, Par::Seq, &BindWatch::NONE).expect("nobody stops it")
}

impl Small {
    fn bind(&self, storage: Storage) -> VirtualBonesBind {
        let joints = self.rig.joints().len();
        VirtualBonesBind::new(&self.found, joints, (self.variant, storage), 0)
    }

    /// Position and motion of every vertex, by the reference in double precision.
    fn truth(&self, palette: &[PackedAffine]) -> Vec<(Vec3<f64>, Affine<f64>)> {
        let origin = Vec3::from(self.moments.origin);
        let shares = vec![1.0 / palette.len() as f32; palette.len()];
        let frame = Frame::new(palette, origin, &shares);
        let bones = &self.found.bones;
        let rows: Vec<Row<'_>> = (0..bones.vertex_count()).map(|b| row(bones, b)).collect();
        let of_vertex = |v: usize| {
            let weights = self.found.influences.row(v);
            let motion = two_layers::<f64>(self.variant, &rows, weights, &frame);
            let rest = f64::vec3(self.mesh.positions[v]) - origin;
            (motion.point(rest) + frame.reference, motion)
        };
        (0..self.mesh.vertex_count()).map(of_vertex).collect()
    }
}

fn follow(bind: &VirtualBonesBind, mesh: &Mesh, palette: &[PackedAffine], par: Par) -> Out {
    let n = mesh.vertex_count();
    let mut out = Out {
        p: vec![[f32::NAN; 3]; n],
        n: vec![[f32::NAN; 3]; n],
        t: vec![[f32::NAN; 4]; n],
    };
    VirtualBonesJob {
        bind,
        palette,
        input: view(mesh),
        output: MeshViewMut {
            positions: Some(&mut out.p),
            normals: Some(&mut out.n),
            tangents: Some(&mut out.t),
            colors: None,
        },
        scratch: &mut VirtualBonesScratch::new(bind),
        par,
    }
    .run();
    out
}

/// Every awkward mesh at the origin and far away, every variant and storage, one bone, a few, and one a vertex.
fn each(mut check: impl FnMut(&str, &Small, &VirtualBonesBind)) {
    for (name, mesh) in awkward() {
        for by in [0.0, 100.0] {
            for variant in Variant::ALL {
                for bones in [1, 7, 1000] {
                    let small = small(mesh.clone(), by, variant, bones, 4);
                    for storage in STORAGES {
                        let what = format!("{name} at {by}, {variant:?}, {bones}, {storage:?}");
                        check(&what, &small, &small.bind(storage));
                    }
                }
            }
        }
    }
}

#[test]
fn identity_gives_the_rest_mesh() {
    each(|what, small, bind| {
        let mesh = &small.mesh;
        let size = f64::from(mesh.diagonal()).max(1.0);
        let out = follow(bind, mesh, &[PackedAffine::default(); 3], Par::Seq);
        let off = max_distance(&out.p, &mesh.positions);
        assert!(off <= 1e-6 * size, "{what}: {off:e}");
        let turned = max_distance(&out.n, mesh.normals.as_deref().expect("given"));
        assert!(turned < 2e-3, "{what}: normals {turned:e}");
    });
}

#[test]
fn rigid_motion_gives_that_motion() {
    each(|what, small, bind| {
        let mesh = &small.mesh;
        let size = f64::from(mesh.diagonal());
        // About the middle of the mesh, so that it stays where single precision knows it as well as before.
        let turn = Quat::from_euler_angles(0.4, -1.9, 2.6);
        let middle = Vec3::from(small.moments.origin);
        let packed = PackedAffine::from(posed(middle, turn, [1.0; 3], Vec3::new(0.5, -1.0, 0.25)));
        let out = follow(bind, mesh, &[packed; 3], Par::Seq);
        for (v, p) in mesh.positions.iter().enumerate() {
            let truth = packed.unpack::<f64>().point(f64::vec3(*p));
            let off = (f64::vec3(out.p[v]) - truth).norm();
            assert!(off <= 1e-5 * size, "{what}, vertex {v}: {off:e} of {size}");
        }
    });
}

#[test]
fn fast_kernels_agree_with_the_reference() {
    for (name, mesh) in awkward() {
        for variant in Variant::ALL {
            for (bones, influences) in [(5, 1), (12, 4), (40, 8)] {
                let small = small(mesh.clone(), 0.0, variant, bones, influences);
                assert!(small.found.influences.max_per_vertex() <= influences);
                let bind = small.bind(Storage::Full);
                for stretched in [false, true] {
                    let palette = pose(&small.rig, stretched, 5);
                    let out = follow(&bind, &small.mesh, &palette, Par::Seq);
                    let what = format!("{name}, {variant:?}, {bones} bones, {stretched}");
                    compare(&what, &small.mesh, &out, &small.truth(&palette));
                }
            }
        }
    }
}

/// Where each vertex has a bone of its own, nothing is lost.
#[test]
fn a_bone_a_vertex_is_the_full_method() {
    for variant in Variant::ALL {
        let small = small(meshes::tube(9, 8, 3.0, 0.4), 0.0, variant, 1000, 1);
        let count = small.mesh.vertex_count();
        let bind = small.bind(Storage::Full);
        assert!(bind.bone_count() <= count, "{} bones", bind.bone_count());
        let full = DirectDeltaMushBind::new(&small.moments, 3, variant, Storage::Full);
        for stretched in [false, true] {
            let palette = pose(&small.rig, stretched, 5);
            let out = follow(&bind, &small.mesh, &palette, Par::Seq);
            let exact = run(&full, &small.mesh, &palette, Par::Seq);
            let off = max_distance(&out.p, &exact.p);
            assert!(off < 1e-5, "{variant:?}, stretched {stretched}: {off:e}");
        }
    }
}

/// The bar of `scaled_joints_are_followed`, its outer joint scaled by two.
#[test]
fn scaled_joints_are_followed_by_bones() {
    let mut mesh = meshes::tube(40, 12, 4.0, 0.4);
    let rows: Vec<Vec<(u32, f32)>> = (mesh.positions.iter())
        .map(|p| vec![(u32::from(p[0] > 2.0), 1.0)])
        .collect();
    let influences = Influences::from_rows(rows.iter().map(Vec::as_slice), 2, 0);
    mesh.influences = Some(influences.expect("valid").0);
    let rig = rig_at(&[[0.0; 3], [2.0, 0.0, 0.0]]);
    let moments = setup(&mesh, &rig, &settings());
    let scaled = posed(
        Vec3::new(2.0, 0.0, 0.0),
        Quat::identity(),
        [2.0; 3],
        Vec3::zeros(),
    );
    let palette = [PackedAffine::default(), scaled.into()];
    for variant in Variant::ALL {
        let found = brought_down(&mesh, &rig, &moments, (variant, 24, 4));
        let bind = VirtualBonesBind::new(&found, 2, (variant, Storage::Full), 0);
        let out = follow(&bind, &mesh, &palette, Par::Seq);
        let (low, high) = bounds(&out.p);
        let (extent, across) = (high[0] - low[0], high[1]);
        let full = DirectDeltaMushBind::new(&moments, 2, variant, Storage::Full);
        let off = max_distance(&out.p, &run(&full, &mesh, &palette, Par::Seq).p);
        println!("{variant:?}: extent {extent} of 6, radius {across} of 0.8, {off} off");
        // Linear skinning: 2 and twice 2 long, twice 0.4 thick.
        assert!((extent - 6.0).abs() < 0.02 * 6.0, "{variant:?}: {extent}");
        let allowed = if variant == Variant::V1 { 0.06 } else { 0.02 };
        assert!((across - 0.8).abs() < allowed, "{variant:?}: {across}");
        assert!(off < 0.06, "{variant:?}: {off}");
    }
}

/// If all joints do the same, the result is that, stretch and shear included, but of variant v1.
#[test]
fn one_affine_motion_of_all_joints_is_that_motion() {
    for variant in [Variant::V0, Variant::V2, Variant::V3, Variant::V4] {
        let small = small(meshes::sphere(7, 9), 0.0, variant, 9, 4);
        let mut m = posed(
            Vec3::new(0.1, 0.2, -0.3),
            Quat::from_euler_angles(0.3, 1.0, -0.4),
            [1.5, 0.8, 1.1],
            Vec3::new(0.4, 0.0, 0.2),
        );
        m.linear[(0, 1)] += 0.3;
        let packed = PackedAffine::from(m);
        let out = follow(
            &small.bind(Storage::Full),
            &small.mesh,
            &[packed; 3],
            Par::Seq,
        );
        for (v, p) in small.mesh.positions.iter().enumerate() {
            let off = (f64::vec3(out.p[v]) - packed.unpack::<f64>().point(f64::vec3(*p))).norm();
            assert!(off < 1e-5, "{variant:?}, vertex {v}: {off:e}");
        }
    }
}

#[test]
fn mirrors_and_singular_matrices_stay_finite() {
    let mirror = posed(
        Vec3::zeros(),
        Quat::identity(),
        [-1.0, 1.0, 1.0],
        Vec3::zeros(),
    );
    let zero: Affine<f64> = Affine {
        linear: Mat3::zeros(),
        translation: Vec3::zeros(),
    };
    for variant in Variant::ALL {
        let small = small(meshes::sphere(7, 9), 0.0, variant, 12, 4);
        for storage in STORAGES {
            let bind = small.bind(storage);
            for palette in [
                [PackedAffine::default(), mirror.into(), zero.into()],
                [zero.into(); 3],
                [mirror.into(); 3],
            ] {
                let out = follow(&bind, &small.mesh, &palette, Par::Seq);
                let mut all = (out.p.iter().chain(&out.n).flatten()).chain(out.t.iter().flatten());
                assert!(all.all(|x| x.is_finite()), "{variant:?}, {storage:?}");
            }
        }
    }
}

#[test]
fn seams_stay_closed_behind_bones() {
    for variant in Variant::ALL {
        let small = small(meshes::cube(), 0.0, variant, 5, 3);
        let palette = pose(&small.rig, true, 6);
        let out = follow(&small.bind(Storage::Full), &small.mesh, &palette, Par::Seq);
        let rest = &small.mesh.positions;
        for a in 0..rest.len() {
            for b in (0..a).filter(|&b| rest[a] == rest[b]) {
                let off = (f64::vec3(out.p[a]) - f64::vec3(out.p[b])).norm();
                assert!(off < 1e-6, "{variant:?}: {a} and {b} are {off:e} apart");
            }
        }
    }
}

/// Points that move in rest space are carried by the motion of their vertex.
#[test]
fn moved_rest_points_are_carried_by_bones() {
    for variant in Variant::ALL {
        let small = small(meshes::sphere(7, 9), 0.0, variant, 12, 4);
        let palette = pose(&small.rig, true, 2);
        let (mut moved, mut seed) = (small.mesh.clone(), 4);
        for p in &mut moved.positions {
            *p = f64::array3(f64::vec3(*p) + vector(&mut seed) * 0.1);
        }
        let out = follow(&small.bind(Storage::Full), &moved, &palette, Par::Seq);
        for (v, (before, motion)) in small.truth(&palette).iter().enumerate() {
            let by = f64::vec3(moved.positions[v]) - f64::vec3(small.mesh.positions[v]);
            let off = (f64::vec3(out.p[v]) - (before + motion.linear * by)).norm();
            assert!(off < 1e-5, "{variant:?}, vertex {v}: {off:e}");
        }
    }
}

#[test]
fn threads_do_not_change_a_bit_of_two_layers() {
    let small = small(meshes::grid(71, 47), 0.0, Variant::V0, 1500, 2);
    let bind = small.bind(Storage::Quantized);
    // More than a task of bones.
    assert!(bind.bone_count() > 1024, "{}", bind.bone_count());
    let palette = pose(&small.rig, true, 9);
    let a = follow(&bind, &small.mesh, &palette, Par::Seq);
    let b = follow(&bind, &small.mesh, &palette, Par::Rayon);
    assert!(a.p == b.p && a.n == b.n && a.t == b.t);
}

#[test]
fn saved_bones_come_back_and_damage_is_refused() {
    let small = small(meshes::grid(9, 7), 0.0, Variant::V2, 10, 3);
    let (n, storage) = (small.mesh.vertex_count(), Storage::Quantized);
    let bind = small.bind(storage);
    let bytes = BoundNode::save(&bind).expect("saves");
    let to = CompressionSettings {
        bones: 10,
        influences: 3,
        variant: Variant::V2,
    };
    let palette = pose(&small.rig, false, 1);
    let again = super::super::virtual_bones::restore(&bytes, (3, n), to, storage).expect("fits");
    let before = follow(&bind, &small.mesh, &palette, Par::Seq);
    let after = follow(&again, &small.mesh, &palette, Par::Seq);
    assert!(before.p == after.p && before.n == after.n && before.t == after.t);
    assert_eq!(BoundNode::note(&again), BoundNode::note(&bind));
    assert_eq!(BoundNode::save(&again), Some(bytes.clone()));
    let refused = |counts, to, storage| {
        super::super::virtual_bones::restore(&bytes, counts, to, storage).is_err()
    };
    assert!(refused((3, n + 8), to, storage), "another mesh");
    assert!(refused((1, n), to, storage), "another rig");
    assert!(refused((3, n), to, Storage::Full), "another storage");
    let variant = Variant::V3;
    assert!(refused(
        (3, n),
        CompressionSettings { variant, ..to },
        storage
    ));
    assert!(refused(
        (3, n),
        CompressionSettings { bones: 9, ..to },
        storage
    ));
    let fewer = CompressionSettings {
        influences: 2,
        ..to
    };
    assert!(refused((3, n), fewer, storage));
    // Whatever a byte is changed to: refused, or it runs.
    for at in (0..bytes.len()).step_by(bytes.len() / 300 + 1) {
        for value in [0, 1, 0x7f, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            let found = super::super::virtual_bones::restore(&damaged, (3, n), to, storage);
            if let Ok(bind) = found {
                follow(&bind, &small.mesh, &palette, Par::Seq);
            }
        }
    }
}

#[test]
fn setup_says_what_it_costs() {
    let mesh = meshes::tube(12, 10, 3.0, 0.4);
    let small = small(mesh, 0.0, Variant::V0, 10, 4);
    let n = small.mesh.vertex_count() as f64;
    let form = (Variant::V0, Storage::Full);
    let bind = VirtualBonesBind::new(&small.found, 3, form, 12_000);
    let note = BoundNode::note(&bind).expect("says something");
    let value = |name| note.values.iter().find(|v| v.0 == name).expect(name).1;
    assert_eq!(value("virtual_bones"), 10.0);
    assert_eq!(value("rms_metres"), small.found.error.rms);
    assert_eq!(value("max_metres"), small.found.error.max);
    assert_eq!(value("bytes_per_vertex"), bind.bytes() as f64 / n);
    assert_eq!(value("bytes_per_vertex_without"), 12_000.0 / n);
    assert!(note.text.starts_with("10 virtual bones, "), "{}", note.text);
}
