//! Plays a graph over clips, joint ranges and the rest pose, and stores the results.

use super::meshes::{Baked, ClipFrames, clip_name};
use super::{JointRange, SkinBakeError, SkinError, SkinSamples};
use crate::bake::Watch;
use crate::deform::pose_driver::DriverValue;
use crate::geom::{Affine, Asset, LocalTransform, Pose, Trs};
use crate::play::{Output, Player};

/// Names of samples without a clip.
pub(super) const RANGES: &str = "joint ranges";
pub(super) const REST: &str = "rest pose";

/// Plays and collects samples.
pub(super) struct Sampler<'a> {
    pub(super) asset: &'a Asset,
    pub(super) baked: &'a [Baked],
    pub(super) samples: SkinSamples,
    /// For each sample, the local transform of each joint's node.
    pub(super) locals: Vec<Vec<DriverValue>>,
    pub(super) watch: &'a Watch<'a>,
    pub(super) done: usize,
    pub(super) total: usize,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(
        asset: &'a Asset,
        baked: &'a [Baked],
        watch: &'a Watch<'a>,
        total: usize,
    ) -> Self {
        Self {
            asset,
            baked,
            samples: SkinSamples::new(asset.rig.joints().len()),
            locals: Vec::new(),
            watch,
            done: 0,
            total,
        }
    }

    /// Clips and joint ranges; the rest pose if there are neither.
    pub(super) fn all(
        &mut self,
        player: &mut Player,
        clips: &[ClipFrames],
        ranges: &[JointRange],
    ) -> Result<(), SkinBakeError> {
        for clip in clips {
            self.clip(player, clip)?;
        }
        self.ranges(player, ranges)?;
        match self.samples.is_empty() {
            true => self.rest(player),
            false => Ok(()),
        }
    }

    fn clip(&mut self, player: &mut Player, frames: &ClipFrames) -> Result<(), SkinBakeError> {
        let name = clip_name(self.asset, frames.clip)?;
        player.set_clip(Some(name))?;
        self.samples.begin(name, Some(frames.clip));
        for &number in &frames.numbers {
            player.seek(number, |_| self.go_on())?;
            self.take(player, player.time_secs(number))?;
        }
        Ok(())
    }

    fn ranges(&mut self, player: &mut Player, ranges: &[JointRange]) -> Result<(), SkinBakeError> {
        if ranges.is_empty() {
            return Ok(());
        }
        self.samples.begin(RANGES, None);
        let mut pose = self.asset.rig.rest_pose();
        for range in ranges {
            self.go_on()?;
            self.asset.rig.evaluate(None, 0.0, &mut pose);
            range.apply(range.node, &mut pose);
            self.asset.rig.finish(&mut pose);
            player.restart();
            player.advance_posed(0, &pose)?;
            self.take(player, 0.0)?;
        }
        Ok(())
    }

    fn rest(&mut self, player: &mut Player) -> Result<(), SkinBakeError> {
        self.samples.begin(REST, None);
        let pose = self.asset.rig.rest_pose();
        player.restart();
        player.advance_posed(0, &pose)?;
        self.take(player, 0.0)
    }

    fn go_on(&self) -> Result<(), SkinBakeError> {
        match (self.watch.is_cancelled)() {
            true => Err(SkinError::Cancelled.into()),
            false => Ok(()),
        }
    }

    /// Stores the frame that was just played.
    fn take(&mut self, player: &mut Player, time_secs: f64) -> Result<(), SkinBakeError> {
        let outputs = player.read_outputs()?;
        let mut positions = Vec::new();
        for baked in self.baked {
            let found = outputs.iter().find(|(name, _)| *name == baked.output);
            let Some((_, Output::Mesh(data))) = found else {
                continue;
            };
            let range = baked.first..baked.first + baked.count;
            positions.extend_from_slice(data.positions.get(range).unwrap_or_default());
        }
        let Some(pose) = player.inputs().poses().first() else {
            return Ok(());
        };
        let joints = self.asset.rig.joints().iter();
        let palette: Vec<Affine<f64>> = joints
            .map(|j| pose.scene_from_node[j.node] * j.joint_from_bind)
            .collect();
        let morphed = self.morphed(pose);
        let time = time_secs as f32;
        self.samples.push(&palette, positions, morphed, time)?;
        self.locals.push(joint_values(self.asset, pose));
        self.done += 1;
        (self.watch.progress)("frames", self.done, self.total.max(1));
        Ok(())
    }

    /// Rest positions with the morph targets of the pose; `None` if all weights are zero.
    fn morphed(&self, pose: &Pose) -> Option<Vec<[f32; 3]>> {
        if pose.morph_weights.iter().all(|w| *w == 0.0) {
            return None;
        }
        let mut out = Vec::new();
        for baked in self.baked {
            let mesh = &self.asset.meshes[baked.mesh];
            let first = out.len();
            out.extend_from_slice(&mesh.positions);
            for (t, target) in mesh.morph_targets.iter().enumerate() {
                let weight = pose.morph_weights.get(mesh.morph_weight_index(t));
                let weight = weight.copied().unwrap_or_default();
                for (&v, d) in target.vertices.iter().zip(&target.positions) {
                    let p = &mut out[first + v as usize];
                    *p = std::array::from_fn(|c| p[c] + weight * d[c]);
                }
            }
        }
        Some(out)
    }
}

/// Local transform of each joint's node.
pub(super) fn joint_values(asset: &Asset, pose: &Pose) -> Vec<DriverValue> {
    // As `pose_driver` reads a pose without scale: with the joint's rest scale if it mirrors, else in one form.
    let in_form = |node: usize, trs: &Trs| match asset.rig.nodes().get(node).map(|n| n.local) {
        Some(LocalTransform::Trs(rest)) if rest.mirrors() => trs.with_signs_of(rest.scale),
        _ => trs.in_one_form(),
    };
    let value = |node: usize| match pose.locals.get(node) {
        Some(LocalTransform::Trs(t)) => {
            let t = in_form(node, t);
            DriverValue {
                rotation: t.rotation,
                translation: t.translation,
            }
        }
        Some(LocalTransform::Matrix(m)) => DriverValue::from(m),
        None => DriverValue::from(&Affine::identity()),
    };
    let joints = asset.rig.joints().iter();
    joints.map(|j| value(j.node)).collect()
}
