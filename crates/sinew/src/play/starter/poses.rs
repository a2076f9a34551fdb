//! The rotations of a joint that differ most.

use crate::geom::{Asset, LocalTransform, Quat, Rig};

/// Poses at most, without the rest pose.
const MOST: usize = 4;
/// A joint that rotates less does not move, rad.
const STILL: f64 = 0.1;
/// Further poses are at least this share of the largest rotation away from the others.
const APART: f64 = 0.4;
/// Samples of each clip.
const SAMPLES: u32 = 240;

/// Rotations of a joint from its rest rotation that clips reach: each is the one farthest from rest and from those before it.
/// Empty if the joint does not move, or is fixed by a matrix.
pub(super) fn farthest(asset: &Asset, joint: usize) -> Vec<Quat<f64>> {
    let rig = &asset.rig;
    let samples = rotations(asset, rig.joints()[joint].node);
    let mut chosen = Vec::new();
    // Distance of each sample to what is chosen.
    let mut distances: Vec<f64> = samples.iter().map(Quat::angle).collect();
    let largest = distances.iter().copied().fold(0.0, f64::max);
    let least = STILL.max(APART * largest);
    while chosen.len() < MOST {
        let best = distances
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(b.1));
        let Some((best, _)) = best.filter(|(_, distance)| **distance > least) else {
            break;
        };
        for (distance, sample) in distances.iter_mut().zip(&samples) {
            *distance = distance.min(sample.angle_to(&samples[best]));
        }
        chosen.push(samples[best]);
    }
    chosen
}

fn rotations(asset: &Asset, node: usize) -> Vec<Quat<f64>> {
    let rig: &Rig = &asset.rig;
    let mut pose = rig.rest_pose();
    let LocalTransform::Trs(rest) = pose.locals[node] else {
        return Vec::new();
    };
    let mut out = Vec::new();
    for clip in &asset.clips {
        let (first, last) = clip.range();
        for i in 0..=SAMPLES {
            let at = f64::from(i) / f64::from(SAMPLES);
            let at = f64::from(first) + at * f64::from(last - first);
            rig.evaluate(Some(clip), at, &mut pose);
            if let LocalTransform::Trs(trs) = pose.locals[node] {
                out.push(rest.rotation.inverse() * trs.rotation);
            }
        }
    }
    out
}
