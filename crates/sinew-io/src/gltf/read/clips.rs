//! Animations.

use super::container::NO_NODE;
use super::document::{Document, Warnings};
use super::nodes::Tree;
use crate::IoError;
use gltf_json::animation as json;
use gltf_json::validation::Checked;
use sinew_geom::{Channel, ChannelTarget, Clip, ClipError, Interpolation, LocalTransform};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of new names in one message.
const MOST_NAMES: usize = 20;

pub(super) fn read(
    doc: &Document,
    tree: &Tree,
    warnings: &mut Warnings,
) -> Result<Vec<Clip>, IoError> {
    let mut skipped = Skipped::default();
    let mut clips = (0..doc.root.animations.len())
        .map(|index| read_clip(doc, tree, index, &mut skipped))
        .collect::<Result<Vec<_>, _>>()?;
    skipped.report(warnings);
    tell_apart(&mut clips, warnings);
    Ok(clips)
}

/// Renames clips with duplicate names (`walk`, `walk#2`, `walk#3`) so that each can be selected. glTF allows duplicate
/// names.
fn tell_apart(clips: &mut [Clip], warnings: &mut Warnings) {
    let mut taken: BTreeSet<String> = clips.iter().map(|c| c.name.clone()).collect();
    let mut last: BTreeMap<String, usize> = BTreeMap::new();
    let mut renamed = Vec::new();
    for clip in clips {
        let number = last.entry(clip.name.clone()).or_insert(0);
        *number += 1;
        if *number == 1 {
            continue;
        }
        while !taken.insert(format!("{}#{number}", clip.name)) {
            *number += 1;
        }
        clip.name = format!("{}#{number}", clip.name);
        renamed.push(format!("'{}'", clip.name));
    }
    if !renamed.is_empty() {
        let more = match renamed.len().saturating_sub(MOST_NAMES) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        renamed.truncate(MOST_NAMES);
        let message = format!(
            "several clips have the same name; Sinew renamed the later ones: {}{more}",
            renamed.join(", ")
        );
        warnings.push("clips_renamed", message);
    }
}

/// Counts of skipped channels, by reason.
#[derive(Debug, Default)]
struct Skipped {
    pointer: usize,
    no_node: usize,
    matrix: usize,
    no_targets: usize,
}

impl Skipped {
    fn report(&self, warnings: &mut Warnings) {
        for (count, code, why) in [
            (
                self.pointer,
                "pointer_channels_skipped",
                "animate another property with KHR_animation_pointer",
            ),
            (self.no_node, "channels_without_node", "have no target node"),
            (
                self.matrix,
                "channels_on_matrix_nodes",
                "animate nodes that have a matrix",
            ),
            (
                self.no_targets,
                "channels_without_targets",
                "animate weights of nodes without morph targets",
            ),
        ] {
            if count > 0 {
                warnings.push(
                    code,
                    format!("{count} animation channels {why}; they are skipped"),
                );
            }
        }
    }
}

fn read_clip(
    doc: &Document,
    tree: &Tree,
    index: usize,
    skipped: &mut Skipped,
) -> Result<Clip, IoError> {
    let animation = &doc.root.animations[index];
    let mut channels = Vec::with_capacity(animation.channels.len());
    let mut driven = BTreeSet::new();
    for (k, channel) in animation.channels.iter().enumerate() {
        let location = format!("animations[{index}].channels[{k}]");
        let Some((node, target)) = target_of(doc, tree, channel, &location, skipped)? else {
            continue;
        };
        if !driven.insert((node, target as u8)) {
            return Err(doc.malformed(
                format!("{location}.target"),
                format!(
                    "a second channel for {target:?} of node '{}'",
                    tree.nodes[node].name
                ),
                "one channel per property",
            ));
        }
        channels.push(read_channel(doc, tree, index, channel, node, target)?);
    }
    let name = animation
        .name
        .clone()
        .unwrap_or_else(|| format!("animation_{index}"));
    Ok(Clip::new(name, channels))
}

fn target_of(
    doc: &Document,
    tree: &Tree,
    channel: &json::Channel,
    location: &str,
    skipped: &mut Skipped,
) -> Result<Option<(usize, ChannelTarget)>, IoError> {
    let file = channel.target.node.value();
    if file == NO_NODE as usize {
        // The document types drop the extension; they treat its path "pointer" as invalid.
        match channel.target.path {
            Checked::Invalid => skipped.pointer += 1,
            Checked::Valid(_) => skipped.no_node += 1,
        }
        return Ok(None);
    }
    let Some(&node) = tree.rig_from_file.get(file) else {
        let location = format!("{location}.target.node");
        return Err(doc.no_such(&location, "nodes", file, tree.nodes.len()));
    };
    let Checked::Valid(property) = channel.target.path else {
        return Err(doc.malformed(
            format!("{location}.target.path"),
            "an invalid value",
            "translation, rotation, scale or weights",
        ));
    };
    let target = match property {
        json::Property::Translation => ChannelTarget::Translation,
        json::Property::Rotation => ChannelTarget::Rotation,
        json::Property::Scale => ChannelTarget::Scale,
        json::Property::MorphTargetWeights => ChannelTarget::Weights,
    };
    let node_json = &tree.nodes[node];
    if target == ChannelTarget::Weights && node_json.morph_weights.is_empty() {
        skipped.no_targets += 1;
        return Ok(None);
    }
    if target != ChannelTarget::Weights && matches!(node_json.local, LocalTransform::Matrix(_)) {
        skipped.matrix += 1;
        return Ok(None);
    }
    Ok(Some((node, target)))
}

fn read_channel(
    doc: &Document,
    tree: &Tree,
    index: usize,
    channel: &json::Channel,
    node: usize,
    target: ChannelTarget,
) -> Result<Channel, IoError> {
    let samplers = &doc.root.animations[index].samplers;
    let sampler = channel.sampler.value();
    let Some(sampler_json) = samplers.get(sampler) else {
        let location = format!("animations[{index}].channels");
        return Err(doc.no_such(&location, "samplers", sampler, samplers.len()));
    };
    let location = format!("animations[{index}].samplers[{sampler}]");
    let Checked::Valid(interpolation) = sampler_json.interpolation else {
        return Err(doc.malformed(
            format!("{location}.interpolation"),
            "an invalid value",
            "LINEAR, STEP or CUBICSPLINE",
        ));
    };
    let interpolation = match interpolation {
        json::Interpolation::Linear => Interpolation::Linear,
        json::Interpolation::Step => Interpolation::Step,
        json::Interpolation::CubicSpline => Interpolation::CubicSpline,
    };
    let (element, width) = match target {
        ChannelTarget::Translation | ChannelTarget::Scale => (3, 3),
        ChannelTarget::Rotation => (4, 4),
        ChannelTarget::Weights => (1, tree.nodes[node].morph_weights.len()),
    };
    let times = doc.accessor(sampler_json.input.value(), &format!("{location}.input"))?;
    let output = format!("{location}.output");
    let values = doc.accessor(sampler_json.output.value(), &output)?;
    if values.width != element {
        return Err(doc.malformed(
            output,
            format!("elements of {} numbers", values.width),
            format!("{element} numbers"),
        ));
    }
    if times.width != 1 {
        return Err(doc.malformed(
            format!("{location}.input"),
            format!("elements of {} numbers", times.width),
            "one number",
        ));
    }
    let (times, values) = (times.numbers()?, values.numbers()?);
    Channel::new(node, target, interpolation, times, values, width).map_err(|e| {
        let (part, expected) = match e {
            ClipError::ValueCount { .. } => ("output", "the number of values that the keys need"),
            ClipError::NotFinite { .. } => ("output", "finite numbers"),
            _ => ("input", "increasing key times"),
        };
        doc.malformed(format!("{location}.{part}"), e.to_string(), expected)
    })
}
