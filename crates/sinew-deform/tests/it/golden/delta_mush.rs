//! Delta mush beside Blender's Corrective Smooth: the same idea with the same smoothing, but other frames.

use super::{Golden, poses};
use sinew_deform::delta_mush::{DeltaMushBind, DeltaMushConfig, DeltaMushJob, FrameKind};
use sinew_deform::laplacian::LaplacianConfig;
use sinew_deform::skin::SkinMethod;
use sinew_deform::{MaskWeight, Par};
use sinew_geom::{Mesh, Vec3};

/// Corrections below this are rounding, metres.
const STILL: f64 = 1e-5;

/// How the corrections (result minus skinning) of two programs compare.
#[derive(Debug)]
struct Likeness {
    /// Of both fields as long vectors.
    cosine: f64,
    /// RMS of the difference over the RMS of Blender's correction.
    apart: f64,
    /// Our largest correction over Blender's.
    largest: f64,
    /// Largest distance over Blender's largest correction.
    worst: f64,
}

fn correction(from: &[[f32; 3]], to: &[[f32; 3]]) -> Vec<Vec3<f64>> {
    let subtract =
        |(a, b): (&[f32; 3], &[f32; 3])| Vec3::from_fn(|c, _| f64::from(b[c]) - f64::from(a[c]));
    from.iter().zip(to).map(subtract).collect()
}

/// Over the vertices that either program moved.
fn compare(ours: &[Vec3<f64>], theirs: &[Vec3<f64>]) -> Likeness {
    let moved: Vec<_> = ours
        .iter()
        .zip(theirs)
        .filter(|(a, b)| a.norm() > STILL || b.norm() > STILL)
        .collect();
    let sum = |f: &dyn Fn(&Vec3<f64>, &Vec3<f64>) -> f64| -> f64 {
        moved.iter().map(|(a, b)| f(a, b)).sum()
    };
    let max = |f: &dyn Fn(&Vec3<f64>, &Vec3<f64>) -> f64| -> f64 {
        moved.iter().map(|(a, b)| f(a, b)).fold(0.0, f64::max)
    };
    let (aa, bb) = (sum(&|a, _| a.norm_squared()), sum(&|_, b| b.norm_squared()));
    Likeness {
        cosine: sum(&|a, b| a.dot(b)) / (aa * bb).sqrt().max(f64::MIN_POSITIVE),
        apart: (sum(&|a, b| (a - b).norm_squared()) / bb).sqrt(),
        largest: max(&|a, _| a.norm()) / max(&|_, b| b.norm()),
        worst: max(&|a, b| (a - b).norm()) / max(&|_, b| b.norm()),
    }
}

/// What our delta mush makes of a skinned mesh, with the smoothing of the golden files; `displacement` 0 is plain
/// smoothing.
fn mushed(mesh: &Mesh, frame: FrameKind, displacement: f32, skinned: &[[f32; 3]]) -> Vec<[f32; 3]> {
    let config = DeltaMushConfig {
        laplacian: LaplacianConfig {
            pin_border: false,
            ..LaplacianConfig::default()
        },
        iterations: 10,
        step: 0.5,
        frame,
    };
    let bind = DeltaMushBind::new(mesh, &config).expect("binds");
    let mut output = skinned.to_vec();
    DeltaMushJob {
        bind: &bind,
        space: bind.smoother().anchor().space(&[]).0,
        displacement,
        blend: 1.0,
        weight: MaskWeight::ONE,
        input: skinned,
        output: &mut output,
        scratch: &mut bind.new_scratch(),
        par: Par::Seq,
    }
    .run();
    output
}

fn likeness(mesh: &Mesh, golden: &Golden, frame: FrameKind, displacement: f32) -> Likeness {
    let ours = mushed(mesh, frame, displacement, &golden.skinned);
    let [linear, smooth] = &golden.expected[..] else {
        panic!("two files a pose");
    };
    let found = compare(
        &correction(&golden.skinned, &ours),
        &correction(linear, smooth),
    );
    println!(
        "{} {frame:?} displacement {displacement}: {found:.4?}",
        golden.name
    );
    found
}

/// Leaving the correction out is 1 apart with cosine 0, plain smoothing 4.7 and more apart. Half of the correction
/// (a quarter of its square) is left for the frames: Blender blends one skewed frame for each corner of a face by
/// the corner's angle, ours is one orthonormal frame a point. Where a joint folds, those turn differently.
fn is_like_blender(l: &Likeness) -> bool {
    l.cosine > 0.9 && l.apart < 0.5 && (2.0 / 3.0..1.5).contains(&l.largest) && l.worst < 1.0
}

#[test]
fn delta_mush_corrects_like_blender() {
    let Some((mesh, all)) = poses(SkinMethod::Linear, &["lbs", "corrsmooth_i10_f05"]) else {
        return;
    };
    for golden in &all {
        let whole = likeness(&mesh, golden, FrameKind::AllNeighbours, 1.0);
        let edges = likeness(&mesh, golden, FrameKind::TwoEdges, 1.0);
        assert!(is_like_blender(&whole), "{}: {whole:?}", golden.name);
        assert!(is_like_blender(&edges), "{}: {edges:?}", golden.name);
        // Blender takes all faces around a point, too.
        assert!(whole.apart < edges.apart, "{}", golden.name);
    }
}

/// The limits above tell delta mush from doing nothing and from smoothing alone.
#[test]
fn limits_refuse_no_correction_and_plain_smoothing() {
    let Some((mesh, all)) = poses(SkinMethod::Linear, &["lbs", "corrsmooth_i10_f05"]) else {
        return;
    };
    for golden in &all {
        let plain = likeness(&mesh, golden, FrameKind::AllNeighbours, 0.0);
        assert!(!is_like_blender(&plain), "{}: {plain:?}", golden.name);
        let theirs = correction(&golden.expected[0], &golden.expected[1]);
        let nothing = compare(&vec![Vec3::zeros(); theirs.len()], &theirs);
        assert!(!is_like_blender(&nothing), "{}: {nothing:?}", golden.name);
    }
}
