//! Pose samples: rotations of one joint by name.

use super::{Losses, Solver, other_fields};
use crate::deform::pose_driver::{DriverPose, DriverValue, PoseDriver, Width};
use crate::geom::{Affine, Quat, Vec3};
use crate::io::pose_driver::SamplesDocument;

/// The solvers of a file, and data that a solver cannot store. The rest rotation becomes a pose that drives nothing.
/// Each other pose drives the morph target of its name.
pub fn from_samples(document: &SamplesDocument) -> (Vec<Solver>, Losses) {
    let mut losses = Losses::default();
    other_fields(&document.extra, "", &mut losses.of("the file"));
    for s in &document.solvers {
        let mut lost = losses.of(&s.name);
        other_fields(&s.extra, "", &mut lost);
        for sample in &s.samples {
            let of = format!("sample '{}': ", sample.name);
            if sample.time_in_clip_secs.is_some() {
                lost(format!("{of}the field 'time_in_clip'"));
            }
            other_fields(&sample.extra, &of, &mut lost);
        }
    }
    (document.solvers.iter().map(read).collect(), losses)
}

fn read(s: &crate::io::pose_driver::samples::SamplesSolver) -> Solver {
    let rest = [("rest", &s.rest_rotation)].into_iter();
    let samples = s.samples.iter().map(|p| (p.name.as_str(), &p.rotation));
    let poses: Vec<(&str, &Quat<f64>)> = rest.chain(samples).collect();
    let transform = |q: &Quat<f64>| vec![Affine::from_trs(Vec3::zeros(), *q, Vec3::repeat(1.0))];
    let pose =
        |(name, q): &(&str, &Quat<f64>)| DriverPose::new(*name, vec![DriverValue::rotation(**q)]);
    let names = s.samples.iter().map(|p| p.name.clone());
    Solver {
        name: s.name.clone(),
        joints: vec![s.joint.clone()],
        relative_to_rest: false,
        driver: PoseDriver {
            poses: poses.iter().map(pose).collect(),
            width: s.radius.map_or(Width::Automatic, Width::Given),
            ..PoseDriver::default()
        },
        enabled: vec![true; poses.len()],
        driver_transforms: poses.iter().map(|(_, q)| transform(q)).collect(),
        driven_joints: Vec::new(),
        driven_transforms: Vec::new(),
        morph_targets: std::iter::once(String::new()).chain(names).collect(),
    }
}
