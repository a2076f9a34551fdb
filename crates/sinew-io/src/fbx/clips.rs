//! Takes as clips.
//!
//! The library resolves layers, curves, pivots and Euler angles, and gives keys of local transforms. Linear and constant
//! curves keep their keys. Cubic curves, and rotations between far keys, are sampled at the frame rate of the file. Where
//! that is too coarse, the rate doubles up to [`MOST_RATES`] times.

use super::curves::{Keys, Sampler};
use super::document::{Document, quoted};
use super::meshes::Written;
use super::nodes::{self, Rest};
use crate::IoError;
use serde_json::{Value, json};
use sinew_geom::{Interpolation, Trs};
use std::collections::{BTreeMap, BTreeSet};
use ufbx::{
    AnimStack, BakeOpts, BakeStepHandling, BakedAnim, BakedAnimRoot, BakedElement, BakedKeyFlags,
    BakedNode, BakedQuat, BakedVec3, Scene,
};

/// How often the sample rate may double.
const MOST_RATES: u32 = 3;
/// Largest error of a rotation between two samples, in radians.
const MOST_ANGLE: f64 = 5e-4;
/// Largest error of a translation between two samples, relative to the size of the scene; of a scale, relative to itself.
const MOST_OFF: f64 = 5e-5;
/// Frames per second if the file names none.
const DEFAULT_RATE: f64 = 30.0;
/// Largest number of samples between two keys.
const MOST_SAMPLES: usize = 8192;
/// Keys of a rate above this part of the frame rate are samples already, which stay as they are.
const SAMPLED: f64 = 0.65;

/// Writes all takes. `rest` is the rest pose of the document.
///
/// # Errors
/// [`IoError::Malformed`] with the name of the take.
pub(super) fn write(
    doc: &mut Document<'_>,
    scene: &Scene,
    rest: &Rest,
    meshes: &[Written],
) -> Result<(), IoError> {
    let names = names(scene);
    let mut others = 0;
    for (stack, name) in scene.anim_stacks.iter().zip(names) {
        let baked = bake(doc, scene, stack)?;
        let range = range(stack, &baked);
        let mut clip = Clip::new(doc, range);
        clip.nodes(scene, rest, &baked)?;
        let elements = baked.elements.iter().map(|e| (e.element_id, e)).collect();
        for mesh in meshes {
            clip.weights(mesh, &elements)?;
        }
        clip.finish(name, rest);
        others += others_in(scene, &baked);
    }
    if others > 0 {
        let message = format!(
            "{others} animated properties are neither transforms nor weights of blend shapes; they were skipped"
        );
        doc.warn("curves_skipped", message);
    }
    Ok(())
}

/// Names of the takes, without the name of a node before a `|` (`Armature|walk`), if they stay distinct.
fn names(scene: &Scene) -> Vec<String> {
    let nodes: BTreeSet<&str> = scene
        .nodes
        .iter()
        .map(|n| n.element.name.as_ref())
        .collect();
    let full: Vec<&str> = scene
        .anim_stacks
        .iter()
        .map(|s| s.element.name.as_ref())
        .collect();
    let short = |name: &&str| {
        let mut name = *name;
        while let Some((before, after)) = name.split_once('|') {
            if !nodes.contains(before) || after.is_empty() {
                break;
            }
            name = after;
        }
        name.to_owned()
    };
    let shorts: Vec<String> = full.iter().map(short).collect();
    let distinct: BTreeSet<&String> = shorts.iter().collect();
    match distinct.len() == shorts.len() {
        true => shorts,
        false => full.into_iter().map(str::to_owned).collect(),
    }
}

/// Begin and end of a take in seconds; those of its keys, if the file names none.
fn range(stack: &AnimStack, baked: &BakedAnim) -> (f64, f64) {
    let (begin, end) = (stack.time_begin, stack.time_end);
    let is_range = begin.is_finite() && end.is_finite() && end > begin;
    let keys = (baked.key_time_min, baked.key_time_max);
    match is_range {
        true => (begin, end),
        false if keys.0.is_finite() && keys.1.is_finite() && keys.1 >= keys.0 => keys,
        false => (0.0, 0.0),
    }
}

/// Keys of a take, sampled so that the error between two samples is small.
fn bake(
    doc: &mut Document<'_>,
    scene: &Scene,
    stack: &AnimStack,
) -> Result<BakedAnimRoot, IoError> {
    let rate = scene.settings.frames_per_second;
    let rate = if rate > 0.0 && rate.is_finite() {
        rate
    } else {
        DEFAULT_RATE
    };
    let reach = scene
        .nodes
        .iter()
        .map(|n| nodes::affine(&n.node_to_world).translation.norm());
    let reach = reach.fold(1e-3, f64::max);
    let mut times = 0;
    loop {
        let rate = rate * f64::from(1 << times);
        let opts = BakeOpts {
            temp_allocator: doc.memory(),
            result_allocator: doc.memory(),
            resample_rate: rate,
            minimum_sample_rate: SAMPLED * rate,
            max_keyframe_segments: MOST_SAMPLES,
            step_handling: BakeStepHandling::IdenticalTime,
            ..BakeOpts::default()
        };
        let baked = ufbx::bake_anim(scene, &stack.anim, opts).map_err(|e| {
            let place = quoted("take", &stack.element.name);
            doc.malformed(
                place,
                format!("curves that cannot be sampled: {}", e.description),
                "fewer or valid curves",
            )
        })?;
        let moved = baked.nodes.iter().flat_map(|n| n.translation_keys.iter());
        let reach = moved.fold(reach, |r, k| r.max(nodes::vec3(&k.value).norm()));
        let off = largest_error(scene, stack, &baked, reach);
        if off <= 1.0 {
            return Ok(baked);
        }
        if times == MOST_RATES {
            let message = format!(
                "the curves of {} change fast; samples at {rate:.0} per second differ from them by up to {:.3} degrees or {:.3} % of the scene",
                quoted("take", &stack.element.name),
                (off * MOST_ANGLE).to_degrees(),
                off * MOST_OFF * 100.0
            );
            doc.warn("curves_sampled_coarsely", message);
            return Ok(baked);
        }
        times += 1;
    }
}

/// The largest error between two samples, as a multiple of what is allowed.
fn largest_error(scene: &Scene, stack: &AnimStack, baked: &BakedAnim, reach: f64) -> f64 {
    let mut off = 0.0_f64;
    for keys in baked.nodes.iter() {
        let Some(node) = scene.nodes.get(keys.typed_id as usize) else {
            continue;
        };
        for time in unsure(keys) {
            let exact = ufbx::evaluate_transform(&stack.anim, node, time);
            let exact = nodes::trs(&exact);
            let t = nodes::vec3(&ufbx::evaluate_baked_vec3(&keys.translation_keys, time));
            let s = nodes::vec3(&ufbx::evaluate_baked_vec3(&keys.scale_keys, time));
            let r = ufbx::evaluate_baked_quat(&keys.rotation_keys, time);
            let r = nodes::trs(&ufbx::Transform {
                rotation: r,
                ..ufbx::Transform::default()
            });
            let angle = exact.rotation.angle_to(&r.rotation);
            off = off
                .max(angle / MOST_ANGLE)
                .max((exact.translation - t).norm() / (MOST_OFF * reach))
                .max((exact.scale - s).norm() / (MOST_OFF * exact.scale.norm().max(1e-9)));
        }
    }
    off
}

/// Times between two samples of which one is not a key of the file.
fn unsure(keys: &BakedNode) -> Vec<f64> {
    let vectors = |k: &BakedVec3| (k.time, k.flags);
    let mut all: Vec<Vec<(f64, BakedKeyFlags)>> = vec![
        keys.translation_keys.iter().map(vectors).collect(),
        keys.scale_keys.iter().map(vectors).collect(),
    ];
    all.push(
        keys.rotation_keys
            .iter()
            .map(|k| (k.time, k.flags))
            .collect(),
    );
    let is_key = |k: &(f64, BakedKeyFlags)| k.1.has_any(BakedKeyFlags::KEYFRAME);
    let mut out: Vec<f64> = all
        .iter()
        .flat_map(|list| list.windows(2))
        .filter(|w| w[1].0 > w[0].0 && !(is_key(&w[0]) && is_key(&w[1])))
        .map(|w| 0.5 * (w[0].0 + w[1].0))
        .collect();
    out.sort_by(f64::total_cmp);
    out.dedup();
    out
}

/// Number of animated properties that the document cannot have. Exporters repeat the weights of blend shapes as
/// properties of their mesh, which is no loss.
fn others_in(scene: &Scene, baked: &BakedAnim) -> usize {
    let channels = || scene.blend_channels.iter().map(|c| &c.element);
    let elements: BTreeSet<u32> = channels().map(|c| c.element_id).collect();
    let names: BTreeSet<&str> = channels().map(|c| c.name.as_ref()).collect();
    let others = baked
        .elements
        .iter()
        .filter(|e| !elements.contains(&e.element_id));
    let is_lost = |p: &&ufbx::BakedProp| !p.constant_value && !names.contains(p.name.as_ref());
    others.flat_map(|e| e.props.iter()).filter(is_lost).count()
}

/// An animation of the document in the making.
struct Clip<'d, 'a> {
    doc: &'d mut Document<'a>,
    begin: f64,
    end: f64,
    channels: Vec<Value>,
    samplers: Vec<Value>,
    /// Accessors of times.
    times: BTreeMap<Vec<u32>, usize>,
    /// Whether a channel has keys at both ends.
    spans: bool,
}

impl<'d, 'a> Clip<'d, 'a> {
    fn new(doc: &'d mut Document<'a>, (begin, end): (f64, f64)) -> Self {
        Self {
            doc,
            begin,
            end,
            channels: Vec::new(),
            samplers: Vec::new(),
            times: BTreeMap::new(),
            spans: false,
        }
    }

    fn nodes(&mut self, scene: &Scene, rest: &Rest, baked: &BakedAnim) -> Result<(), IoError> {
        let animated: BTreeMap<u32, &BakedNode> =
            baked.nodes.iter().map(|n| (n.typed_id, n)).collect();
        for node in scene.nodes.iter().filter(|n| !n.is_root) {
            let id = node.element.typed_id as usize;
            let own = nodes::trs(&node.local_transform);
            let keys = match animated.get(&node.element.typed_id) {
                Some(keys) => [
                    vectors(&keys.translation_keys),
                    rotations(&keys.rotation_keys),
                    vectors(&keys.scale_keys),
                ],
                None if rest.moved[id] => self.constant(&own),
                None => continue,
            };
            let at_rest = self.constant(&rest.locals[id]);
            let paths = ["translation", "rotation", "scale"];
            for ((path, keys), at_rest) in paths.into_iter().zip(keys).zip(at_rest) {
                if keys.times.is_empty()
                    || (keys.is_constant() && is_near(&keys.values, &at_rest.values))
                {
                    continue;
                }
                self.channel(id - 1, path, &keys)?;
            }
        }
        Ok(())
    }

    fn constant(&self, t: &Trs) -> [Keys; 3] {
        let single = |v: &[f64]| v.iter().map(|c| *c as f32).collect::<Vec<f32>>();
        let one = |v: &[f64]| {
            let mut keys = Keys::new(v.len());
            keys.push(self.begin, &single(v));
            keys
        };
        [
            one(t.translation.as_slice()),
            one(t.rotation.coords.as_slice()),
            one(t.scale.as_slice()),
        ]
    }

    /// Weights of all morph targets of a mesh, if any is animated.
    fn weights(
        &mut self,
        mesh: &Written,
        elements: &BTreeMap<u32, &BakedElement>,
    ) -> Result<(), IoError> {
        let targets = &mesh.targets;
        let curve = |element: u32| {
            let element = elements.get(&element)?;
            let prop = element
                .props
                .iter()
                .find(|p| p.name.as_ref() == "DeformPercent")?;
            let mut keys = Keys::new(1);
            for key in prop.keys.iter() {
                keys.push(key.time, &[(key.value.x * 0.01) as f32]);
            }
            Some(keys).filter(|k| !k.times.is_empty())
        };
        let curves: Vec<_> = targets.channels.iter().map(|c| curve(c.element)).collect();
        let mut times: Vec<f64> = Vec::new();
        for (channel, curve) in targets.channels.iter().zip(&curves) {
            if let Some(curve) = curve {
                times.extend(&curve.times);
                times.extend(curve.crossings(&channel.bends()));
            }
        }
        if times.is_empty() {
            return Ok(());
        }
        times.sort_by(f64::total_cmp);
        times.dedup();
        let place = "weights of blend shapes";
        self.doc
            .spend(place, times.len(), 8 * targets.names.len())?;
        let mut keys = Keys::new(targets.names.len());
        let mut weights = targets.defaults();
        for time in times {
            let mut sides = [true, false].map(|is_before| {
                for (channel, curve) in targets.channels.iter().zip(&curves) {
                    if let Some(curve) = curve {
                        let weight = curve.at(time, false, !is_before)[0];
                        channel.weigh(f64::from(weight), &mut weights);
                    }
                }
                weights.clone()
            });
            if sides[0] != sides[1] {
                keys.push(time, &sides[0]);
            }
            keys.push(time, &std::mem::take(&mut sides[1]));
        }
        self.channel(mesh.node, "weights", &keys)
    }

    fn channel(&mut self, node: usize, path: &str, keys: &Keys) -> Result<(), IoError> {
        let keys = match keys.is_constant() {
            true => keys.first(self.begin),
            false => keys.within(self.begin, self.end, path == "rotation"),
        };
        self.spans |= keys.times.len() > 1;
        let sampler = keys.sampler();
        let place = "keys of takes";
        self.doc
            .spend(place, sampler.values.len() + sampler.times.len(), 4)?;
        self.put(node, path, &sampler);
        Ok(())
    }

    fn put(&mut self, node: usize, path: &str, sampler: &Sampler) {
        let bits = sampler.times.iter().map(|t| t.to_bits()).collect();
        let known = self.times.get(&bits).copied();
        let input = known.unwrap_or_else(|| {
            let input = self.doc.floats(&sampler.times, 1, "SCALAR");
            self.doc.out.root["accessors"][input]["min"] = json!([sampler.times.first()]);
            self.doc.out.root["accessors"][input]["max"] = json!([sampler.times.last()]);
            self.times.insert(bits, input);
            input
        });
        let (width, kind) = match path {
            "weights" => (1, "SCALAR"),
            "rotation" => (4, "VEC4"),
            _ => (3, "VEC3"),
        };
        let output = self.doc.floats(&sampler.values, width, kind);
        let interpolation = match sampler.interpolation {
            Interpolation::Step => "STEP",
            _ => "LINEAR",
        };
        let target = json!({ "node": node, "path": path });
        self.channels
            .push(json!({ "sampler": self.samplers.len(), "target": target }));
        self.samplers
            .push(json!({ "input": input, "output": output, "interpolation": interpolation }));
    }

    /// Adds the animation. A take in which nothing moves keeps its length: the first node has two equal keys.
    fn finish(mut self, name: String, rest: &Rest) {
        let still = rest
            .locals
            .get(1)
            .filter(|_| !self.spans && self.end > self.begin);
        if let Some(still) = still {
            let is_first = |c: &Value| c["target"]["node"] == 0 && c["target"]["path"] == "scale";
            if !self.channels.iter().any(is_first) {
                let scale: Vec<f32> = still.scale.iter().map(|c| *c as f32).collect();
                let sampler = Sampler {
                    interpolation: Interpolation::Step,
                    times: vec![self.begin as f32, self.end as f32],
                    values: scale.repeat(2),
                };
                self.put(0, "scale", &sampler);
            }
        }
        if !self.channels.is_empty() {
            let clip =
                json!({ "name": name, "channels": self.channels, "samplers": self.samplers });
            self.doc.out.add("animations", clip);
        }
    }
}

/// Whether constants are equal up to rounding. A quaternion and its negative are the same rotation.
fn is_near(keys: &[f32], at_rest: &[f32]) -> bool {
    let near = |sign: f32| {
        let pairs = keys.iter().zip(at_rest);
        pairs
            .into_iter()
            .all(|(a, b)| (a - sign * b).abs() <= 1e-7 * b.abs().max(1e-2))
    };
    near(1.0) || (at_rest.len() == 4 && near(-1.0))
}

fn vectors(list: &[BakedVec3]) -> Keys {
    let mut out = Keys::new(3);
    for key in list {
        let v = &key.value;
        out.push(key.time, &[v.x as f32, v.y as f32, v.z as f32]);
    }
    out
}

fn rotations(list: &[BakedQuat]) -> Keys {
    let mut out = Keys::new(4);
    for key in list {
        let q = &key.value;
        out.push(key.time, &[q.x as f32, q.y as f32, q.z as f32, q.w as f32]);
    }
    out
}
