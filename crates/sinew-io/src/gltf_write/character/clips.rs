//! Clips of a new file.

use super::super::strands::floats;
use super::Work;
use crate::fault::warning;
use serde_json::json;
use sinew_geom::{Channel, ChannelTarget, Clip, Interpolation, LocalTransform};
use std::collections::BTreeMap;

impl Work<'_> {
    pub(super) fn clip(&mut self, clip: &Clip) {
        let channels = self.played(clip);
        if channels.is_empty() {
            let message = format!(
                "clip '{}' animates nothing in the file and is not written",
                clip.name
            );
            self.warnings.push(warning("empty_clip", message));
            return;
        }
        let first = channels.iter().map(|c| c.times()[0]);
        let before = first.fold(0.0_f32, f32::min);
        if before < 0.0 {
            let message = format!(
                "clip '{}' starts at {before} s, but times of glTF start at 0; it is written {} s later",
                clip.name, -before
            );
            self.warnings.push(warning("clip_moved", message));
        }
        let (mut samplers, mut entries) = (Vec::new(), Vec::new());
        for channel in channels {
            let (path, width, kind) = match channel.target {
                ChannelTarget::Translation => ("translation", 3, "VEC3"),
                ChannelTarget::Rotation => ("rotation", 4, "VEC4"),
                ChannelTarget::Scale => ("scale", 3, "VEC3"),
                ChannelTarget::Weights => ("weights", 1, "SCALAR"),
            };
            let interpolation = match channel.interpolation() {
                Interpolation::Step => "STEP",
                Interpolation::Linear => "LINEAR",
                Interpolation::CubicSpline => "CUBICSPLINE",
            };
            let times: Vec<f32> = channel.times().iter().map(|t| t - before).collect();
            let input = self.doc.times(&times);
            let output = floats(&mut self.doc, channel.values(), width, kind);
            entries.push(json!({ "sampler": samplers.len(), "target": { "node": channel.node, "path": path } }));
            samplers
                .push(json!({ "input": input, "output": output, "interpolation": interpolation }));
        }
        let clip = json!({ "name": clip.name, "channels": entries, "samplers": samplers });
        self.doc.add("animations", clip);
    }

    /// Channels with an effect: not those of fixed matrices, and of several for one property the last.
    fn played<'c>(&mut self, clip: &'c Clip) -> Vec<&'c Channel> {
        let mut out: Vec<&Channel> = Vec::new();
        let mut places = BTreeMap::new();
        for channel in clip.channels() {
            let node = &self.asset.rig.nodes()[channel.node];
            if channel.target == ChannelTarget::Weights {
                if !self.has_targets(channel.node) {
                    let message = format!(
                        "clip '{}' animates morph weights of node '{}', which carries no mesh with targets; they are not written",
                        clip.name, node.name
                    );
                    self.warnings.push(warning("weights_left_out", message));
                    continue;
                }
            } else if matches!(node.local, LocalTransform::Matrix(_)) {
                continue;
            }
            let property = (channel.node, channel.target as u8);
            let place = *places.entry(property).or_insert(out.len());
            match out.get_mut(place) {
                Some(earlier) => *earlier = channel,
                None => out.push(channel),
            }
        }
        out
    }

    /// True if a node of the document carries a mesh with morph targets.
    fn has_targets(&self, node: usize) -> bool {
        let root = &self.doc.root;
        let mesh = root["nodes"][node]["mesh"].as_u64();
        let mesh = mesh.and_then(|m| usize::try_from(m).ok());
        mesh.is_some_and(|m| root["meshes"][m]["weights"].is_array())
    }
}
