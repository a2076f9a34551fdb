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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::{Affine, Channel, ChannelTarget, Clip, Interpolation, Joint, Node, Trs};
    use std::sync::Arc;

    /// A joint that is rotated at rest, and a clip that turns it from there by half a radian about its own x axis.
    #[test]
    fn rotations_are_from_the_rest_rotation() {
        let rest = Quat::from_euler_angles(0.4, -0.9, 1.2);
        let turn = Quat::from_euler_angles(0.5, 0.0, 0.0);
        let local = Trs {
            rotation: rest,
            ..Trs::default()
        };
        let node = Node {
            name: "elbow".into(),
            parent: None,
            local: LocalTransform::Trs(local),
            morph_weights: Vec::new(),
            morph_offset: 0,
        };
        let joint = Joint {
            node: 0,
            joint_from_bind: Affine::identity(),
        };
        let key = |q: Quat<f64>| [q.i, q.j, q.k, q.w].map(|v| v as f32);
        let keys = [key(rest), key(rest * turn)].concat();
        let channel = Channel::new(
            0,
            ChannelTarget::Rotation,
            Interpolation::Linear,
            vec![0.0, 1.0],
            keys,
            4,
        );
        let asset = Asset {
            rig: Arc::new(Rig::new(vec![node], vec![joint]).expect("a rig")),
            clips: vec![Clip::new("bend", vec![channel.expect("a channel")])],
            ..Asset::default()
        };
        let found = farthest(&asset, 0);
        assert!(found[0].angle_to(&turn) < 1e-6, "{found:?}");
        // The next one is halfway.
        let halfway = Quat::from_euler_angles(0.25, 0.0, 0.0);
        assert!(found[1].angle_to(&halfway) < 0.01, "{found:?}");
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
