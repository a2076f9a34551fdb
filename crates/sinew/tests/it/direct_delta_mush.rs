//! Direct delta mush on real characters: the rest pose and rigid motions, non-manifold meshes among them.

#![expect(
    clippy::print_stdout,
    reason = "says what was measured and what was skipped"
)]

use crate::common;
use sinew::deform::direct_delta_mush::{
    CompressionSettings, DirectDeltaMushBind, DirectDeltaMushJob, DirectDeltaMushScratch, Moments,
    SmoothingSettings, Storage, Variant, VirtualBonesBind, VirtualBonesJob, VirtualBonesScratch,
    compress, moments,
};
use sinew::deform::{BindWatch, MeshView, MeshViewMut, Par};
use sinew::geom::{Affine, Clip, Mesh, PackedAffine, Quat, Real, Rig, Vec3};
use sinew::graph::{BindOptions, BoundGraph, Frame};

const CHARACTERS: [&str; 4] = [
    "mh_arm_nonmanifold.glb",
    "fox.glb",
    "kaykit_knight.glb",
    "mh_male_ge53.glb",
];

#[test]
fn real_characters_keep_rest_and_rigid_motion() {
    let Some(data) = sinew_testkit::shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    for name in CHARACTERS {
        let path = data.join("characters").join(name);
        if !path.is_file() {
            println!("skipped: no {name}");
            continue;
        }
        let asset = sinew::io::read_any(&path)
            .unwrap_or_else(|e| panic!("{e}"))
            .asset;
        for mesh in asset.meshes.iter().filter(|m| m.influences.is_some()) {
            for strongest_only in [false, true] {
                check(name, mesh, &asset.rig, &asset.clips, strongest_only);
            }
        }
    }
}

fn check(name: &str, mesh: &Mesh, rig: &Rig, clips: &[Clip], strongest_only: bool) {
    let joints = rig.joints().len();
    let settings = SmoothingSettings {
        strongest_only,
        ..SmoothingSettings::default()
    };
    let moments = moments(mesh, joints, &settings, Par::Rayon, &BindWatch::NONE).expect("moments");
    let size = f64::from(mesh.diagonal());
    for variant in Variant::ALL {
        for storage in [Storage::Full, Storage::Quantized] {
            let bind = DirectDeltaMushBind::new(&moments, joints, variant, storage);
            for (motion, allowed) in [(Affine::identity(), 1e-6), (rigid(&moments, size), 1e-5)] {
                let packed = PackedAffine::from(motion);
                let out = run(&bind, mesh, &vec![packed; joints]);
                let off = farthest(mesh, &out, &packed);
                let what = format!("{name} {}: {variant:?} {storage:?}", mesh.name);
                assert!(off <= allowed * size, "{what}: {off:e} of {size}");
            }
        }
    }
    if !strongest_only {
        check_bones(name, mesh, (rig, clips), &moments);
    }
    let pairs = moments.pairs.len() as f64 / mesh.vertex_count() as f64;
    let bind = DirectDeltaMushBind::new(&moments, joints, Variant::V0, Storage::Full);
    let bytes = bind.bytes() as f64 / mesh.vertex_count() as f64;
    println!(
        "{name} {}: {pairs:.2} joints and {bytes:.0} bytes a vertex",
        mesh.name
    );
}

/// The same with virtual bones, whose error must fall as they grow in number.
fn check_bones(name: &str, mesh: &Mesh, (rig, clips): (&Rig, &[Clip]), moments: &Moments) {
    let whole = DirectDeltaMushBind::new(moments, rig.joints().len(), Variant::V0, Storage::Full);
    let (joints, n) = (rig.joints().len(), mesh.vertex_count() as f64);
    let size = f64::from(mesh.diagonal());
    let full = whole.bytes();
    let mut before = f64::INFINITY;
    for bones in [16, 32, 64, 128, 256] {
        let settings = CompressionSettings {
            bones,
            influences: 4,
            variant: Variant::V0,
        };
        let (rest, watch) = (&mesh.positions, BindWatch::NONE);
        let found = compress(moments, rest, rig, settings, Par::Rayon, &watch).expect("compresses");
        let bind = VirtualBonesBind::new(&found, joints, (Variant::V0, Storage::Full), full);
        for (motion, allowed) in [(Affine::identity(), 1e-6), (rigid(moments, size), 1e-5)] {
            let packed = PackedAffine::from(motion);
            let out = run_bones(&bind, mesh, &vec![packed; joints]);
            let off = farthest(mesh, &out, &packed);
            assert!(
                off <= allowed * size,
                "{name}, {bones} bones: {off:e} of {size}"
            );
        }
        let error = bind.error();
        let (mut sum, mut count, mut largest) = (0.0, 0.0_f64, 0.0_f64);
        for clip in clips {
            let (from, to) = clip.range();
            for time in [0.25, 0.5, 0.75].map(|t| from + (to - from) * t) {
                let mut pose = rig.rest_pose();
                rig.evaluate(Some(clip), f64::from(time), &mut pose);
                let exact = run(&whole, mesh, &pose.palette);
                for (a, b) in exact.iter().zip(run_bones(&bind, mesh, &pose.palette)) {
                    let off = (f64::vec3(*a) - f64::vec3(b)).norm();
                    (sum, count, largest) = (sum + off * off, count + 1.0, largest.max(off));
                }
            }
        }
        println!(
            "{name} {}: {bones} virtual bones, in its clips {:.3} mm RMS, {:.3} mm at most",
            mesh.name,
            (sum / count.max(1.0)).sqrt() * 1e3,
            largest * 1e3
        );
        println!(
            "{name} {}: {} virtual bones, {:.3} mm RMS, {:.3} mm at most, {:.1} bytes a vertex for {:.1}",
            mesh.name,
            bind.bone_count(),
            error.rms * 1e3,
            error.max * 1e3,
            bind.bytes() as f64 / n,
            full as f64 / n
        );
        // Where few bones move everything, rounding is left.
        let fell = error.rms <= before.max(1e-7 * size);
        assert!(fell, "{name}, {bones} bones: {error:?} after {before}");
        before = error.rms;
    }
}

fn run_bones(bind: &VirtualBonesBind, mesh: &Mesh, palette: &[PackedAffine]) -> Vec<[f32; 3]> {
    let mut out = vec![[f32::NAN; 3]; mesh.vertex_count()];
    VirtualBonesJob {
        bind,
        palette,
        input: MeshView {
            positions: &mesh.positions,
            ..MeshView::default()
        },
        output: MeshViewMut {
            positions: Some(&mut out),
            ..MeshViewMut::default()
        },
        scratch: &mut VirtualBonesScratch::new(bind),
        par: Par::Rayon,
    }
    .run();
    out
}

/// A motion of all joints that stays near.
fn rigid(moments: &Moments, size: f64) -> Affine<f64> {
    let turn = Quat::from_euler_angles(0.4, -1.9, 2.6);
    let middle = Vec3::from(moments.origin);
    let mut rigid = Affine::from_trs(Vec3::zeros(), turn, Vec3::repeat(1.0));
    rigid.translation = middle - rigid.linear * middle + Vec3::new(0.5, 0.0, -0.2) * size;
    rigid
}

/// The largest distance from where `motion` takes the rest mesh.
fn farthest(mesh: &Mesh, out: &[[f32; 3]], motion: &PackedAffine) -> f64 {
    let exact = motion.unpack::<f64>();
    let off = (mesh.positions.iter().zip(out))
        .map(|(p, out)| (exact.point(f64::vec3(*p)) - f64::vec3(*out)).norm());
    off.fold(
        0.0,
        |m, d| if d.is_nan() { f64::INFINITY } else { m.max(d) },
    )
}

/// 0 is what it was before there were virtual bones; with them setup tells how far it is off, from the cache, too.
#[test]
fn the_node_says_how_far_its_virtual_bones_are_off() {
    let asset = sinew_samples::arm_with_hand().expect("a sample");
    let document = |more: &str| {
        format!(
            r#"{{"sinew": "1.0", "nodes": {{"it": {{"node": "direct_delta_mush", "mesh": "body", "pose": "pose"{more}}}}},
               "outputs": {{"body": "it"}}}}"#
        )
    };
    let moved = |more: &str| {
        let mut instance = common::instance(&asset, &document(more));
        let mut pose = asset.rig.rest_pose();
        let middle = common::middle(&asset);
        asset.rig.evaluate(asset.clips.first(), middle, &mut pose);
        let frame = Frame::default().pose(&pose);
        instance.update(&frame, Par::Seq).expect("fits");
        let positions = instance.mesh_output("body").expect("a mesh").positions;
        (positions.to_vec(), instance.graph().clone())
    };
    let (without, graph) = moved("");
    assert!(graph.notes().is_empty());
    let (zero, graph) = moved(r#", "virtual_bones": 0"#);
    assert!(zero == without && graph.notes().is_empty());
    let (bones, graph) = moved(r#", "virtual_bones": 96"#);
    let off = sinew_testkit::max_distance(&bones, &without);
    let notes = graph.notes();
    assert_eq!(notes.len(), 1);
    assert_eq!(
        (&*notes[0].node, notes[0].kind),
        ("it", "direct_delta_mush")
    );
    let values = &notes[0].note.values;
    let value = |name| values.iter().find(|v| v.0 == name).expect(name).1;
    assert_eq!(value("virtual_bones"), 96.0);
    // The elbow bends by 140 degrees, the wrist twists by 120: near the largest turns of the poses that were looked at, all at once.
    let said = value("max_metres");
    assert!(off > 0.1 * said && off < 2.0 * said, "{off}, {values:?}");
    println!("{}, {:.3} mm in the clip", notes[0], off * 1e3);
    let plan = graph.plan().clone();
    let inputs = common::bindings(&asset, &plan);
    let saved = graph.setup_cache();
    let again = BoundGraph::bind(plan, &inputs, &[], BindOptions::default().cache(&*saved));
    assert_eq!(again.expect("restores").notes(), notes);
}

fn run(bind: &DirectDeltaMushBind, mesh: &Mesh, palette: &[PackedAffine]) -> Vec<[f32; 3]> {
    let mut out = vec![[f32::NAN; 3]; mesh.vertex_count()];
    DirectDeltaMushJob {
        bind,
        palette,
        input: MeshView {
            positions: &mesh.positions,
            ..MeshView::default()
        },
        output: MeshViewMut {
            positions: Some(&mut out),
            ..MeshViewMut::default()
        },
        scratch: &mut DirectDeltaMushScratch::new(bind),
        par: Par::Rayon,
    }
    .run();
    out
}
