use super::reference::{Row, inverse_sizes, place};
use super::*;
use crate::BindWatch;
use sinew_geom::{Asset, LocalTransform, Mesh, Quat, Rig};
use std::sync::Arc;

fn arm() -> (Mesh, Arc<Rig>) {
    let asset: Asset = sinew_samples::arm_with_hand().expect("the sample is right");
    let mesh = asset.meshes.into_iter().next().expect("a mesh");
    (mesh, asset.rig)
}

fn moments_of(mesh: &Mesh, rig: &Rig) -> Moments {
    let settings = SmoothingSettings::default();
    moments(
        mesh,
        rig.joints().len(),
        &settings,
        Par::Rayon,
        &BindWatch::NONE,
    )
    .expect("binds")
}

fn settings(bones: usize, influences: usize) -> CompressionSettings {
    CompressionSettings {
        bones,
        influences,
        variant: Variant::V0,
    }
}

fn compressed(
    bones: usize,
    influences: usize,
    par: Par,
) -> (VirtualBones, Moments, Mesh, Arc<Rig>) {
    let (mesh, rig) = arm();
    let full = moments_of(&mesh, &rig);
    let out = compress(
        &full,
        &mesh.positions,
        &rig,
        settings(bones, influences),
        par,
        &BindWatch::NONE,
    );
    (out.expect("nobody stops it"), full, mesh, rig)
}

/// Poses that the fit has not seen: all joints turn about one axis.
fn other_frames(rig: &Rig, origin: Vec3<f64>) -> Vec<Frame<f64>> {
    let shares = vec![1.0 / rig.joints().len() as f32; rig.joints().len()];
    let turned = |axis: Vec3<f64>| {
        let mut pose = rig.rest_pose();
        for joint in rig.joints() {
            if let LocalTransform::Trs(trs) = &mut pose.locals[joint.node] {
                trs.rotation *= Quat::from_scaled_axis(axis * 0.5);
            }
        }
        rig.finish(&mut pose);
        Frame::new(&pose.palette, origin, &shares)
    };
    [Vec3::x(), Vec3::y(), Vec3::z()].map(turned).into()
}

/// Errors in these poses, from the reference of the full method alone.
fn errors_in(
    found: &VirtualBones,
    full: &Moments,
    mesh: &Mesh,
    frames: &[Frame<f64>],
) -> CompressionError {
    let (sizes, bone_sizes) = (inverse_sizes(full), inverse_sizes(&found.bones));
    let at = |moments: &Moments, sizes: &[f32], v: usize, frame: &Frame<f64>, u| {
        let (joints, pairs) = moments.row(v);
        let row = Row {
            joints,
            pairs,
            center: moments.centers[v],
            inverse_size: sizes[v],
        };
        place(Variant::V0, &row, frame, u)
    };
    let (mut sum, mut worst) = (0.0, 0.0_f64);
    for frame in frames {
        for (v, u) in mesh.positions.iter().enumerate() {
            let u = f64::vec3(*u);
            let exact = at(full, &sizes, v, frame, u);
            let followed = found.influences.row(v).map(|(bone, w)| {
                at(&found.bones, &bone_sizes, bone as usize, frame, u) * f64::from(w)
            });
            let off = (followed.sum::<Vec3<f64>>() - exact).norm();
            sum += off * off;
            worst = worst.max(off);
        }
    }
    CompressionError {
        rms: (sum / (frames.len() * mesh.vertex_count()) as f64).sqrt(),
        max: worst,
    }
}

#[test]
fn more_bones_come_nearer_and_the_error_is_what_it_says() {
    let mut before = f64::INFINITY;
    for bones in [6, 24, 96] {
        let (found, full, mesh, rig) = compressed(bones, 4, Par::Rayon);
        let origin = Vec3::from(full.origin);
        let elsewhere = errors_in(&found, &full, &mesh, &other_frames(&rig, origin)).max;
        let e = found.error;
        // What is said is what is, in the poses that were looked at; positions there are of single precision.
        let again = errors_in(&found, &full, &mesh, &compress::frames(&rig, origin));
        assert!((again.rms - e.rms).abs() < 1e-7, "{again:?} for {e:?}");
        assert!((again.max - e.max).abs() < 3e-7, "{again:?} for {e:?}");
        println!(
            "{bones} bones: rms {:.3} mm, {:.3} mm at most, {:.3} mm in other poses",
            e.rms * 1e3,
            e.max * 1e3,
            elsewhere * 1e3,
        );
        assert_eq!(found.bones.vertex_count(), bones);
        assert_eq!(found.influences.vertex_count(), mesh.vertex_count());
        assert!(found.influences.max_per_vertex() <= 4);
        assert!(e.rms < before, "{bones} bones: {} after {before}", e.rms);
        // Other poses turn by less than half of what was fitted.
        assert!(
            elsewhere < 1.5 * e.max,
            "{elsewhere} where {} was said",
            e.max
        );
        let joints = rig.joints().len();
        let form = (Variant::V0, Storage::Full);
        let whole = DirectDeltaMushBind::new(&full, joints, form.0, form.1).bytes();
        let bytes = VirtualBonesBind::new(&found, joints, form, whole).bytes();
        println!("{bytes} bytes, {whole} without");
        assert!(bytes < whole, "{bytes} of {whole}");
        before = e.rms;
    }
    // The arm is 0.85 m long, and poses turn each joint by up to 150 degrees: 2.1 mm.
    assert!(before < 2.5e-3, "{before}");
}

#[test]
fn a_bone_for_each_vertex_is_the_full_method() {
    let (_, rig) = arm();
    let mesh = sinew_testkit::meshes::tube(12, 7, 0.6, 0.1);
    let full = moments_of(&mesh, &rig);
    let count = mesh.vertex_count();
    let found = compress(
        &full,
        &mesh.positions,
        &rig,
        settings(count, 1),
        Par::Rayon,
        &BindWatch::NONE,
    )
    .expect("nobody stops it");
    assert!(found.error.max < 1e-6, "{:?}", found.error);
    let frames = other_frames(&rig, Vec3::from(full.origin));
    assert!(errors_in(&found, &full, &mesh, &frames).max < 1e-4);
}

#[test]
fn threads_and_stops() {
    let (one, ..) = compressed(8, 2, Par::Seq);
    let (two, ..) = compressed(8, 2, Par::Rayon);
    assert_eq!(one, two);
    let (mesh, rig) = arm();
    let full = moments_of(&mesh, &rig);
    let watch = BindWatch {
        report: &|_| {},
        is_stopped: &|| true,
    };
    let stopped = compress(
        &full,
        &mesh.positions,
        &rig,
        settings(8, 2),
        Par::Seq,
        &watch,
    )
    .expect_err("stopped");
    assert!(
        matches!(stopped, DirectDeltaMushError::Stopped(_)),
        "{stopped}"
    );
}

#[test]
fn moments_of_others_are_refused() {
    let (mesh, rig) = arm();
    let full = moments_of(&mesh, &rig);
    let fails = |moments: &Moments, rest: &[[f32; 3]]| {
        let out = compress(
            moments,
            rest,
            &rig,
            settings(4, 2),
            Par::Seq,
            &BindWatch::NONE,
        );
        out.expect_err("refused").to_string()
    };
    let short = &mesh.positions[1..];
    assert!(
        fails(&full, short).contains("joint weights of 7681 vertices, expected 7680"),
        "{}",
        fails(&full, short)
    );
    let mut other = full.clone();
    other.joints[0] = 99;
    let found = fails(&other, &mesh.positions);
    assert!(found.contains("vertex 0 refers to joint 99"), "{found}");
}
