//! The joints of a file: where they are at rest, how long the bones are, how much weight they carry, and what moves them.

use crate::exit::{Failure, Outcome};
use serde_json::{Map, Value, json};
use sinew::geom::names::expected_joint;
use sinew::geom::{
    Affine, Asset, Bounds, Channel, ChannelTarget, Clip, EulerOrder, LocalTransform, Mesh,
    ORTHOGONAL_TOLERANCE, Pose, Rig, Vec3,
};

/// Weights of one joint over a mesh, or over all.
#[derive(Clone, Copy, Debug, Default)]
struct Carried {
    weight: f64,
    vertices: usize,
    bounds: Option<Bounds>,
}

impl Carried {
    fn add(&mut self, weight: f32, position: [f32; 3]) {
        self.weight += f64::from(weight);
        self.vertices += 1;
        self.reach(position);
    }

    fn reach(&mut self, position: [f32; 3]) {
        let (mut low, mut high) = self.bounds.unwrap_or((position, position));
        for axis in 0..3 {
            low[axis] = low[axis].min(position[axis]);
            high[axis] = high[axis].max(position[axis]);
        }
        self.bounds = Some((low, high));
    }
}

/// The nodes that skins follow, each once, parents before children, children in the order of the file.
pub(super) struct Joints<'a> {
    asset: &'a Asset,
    pose: Pose,
    /// Nodes in the order of the list.
    nodes: Vec<usize>,
    /// Of each node of the rig: the next joint above it.
    above: Vec<Option<usize>>,
    is_joint: Vec<bool>,
}

impl<'a> Joints<'a> {
    pub(super) fn of(asset: &'a Asset) -> Self {
        let rig = &*asset.rig;
        let mut is_joint = vec![false; rig.nodes().len()];
        for joint in rig.joints() {
            is_joint[joint.node] = true;
        }
        // Parents come before children, so that one pass finds the joint above each node.
        let mut above: Vec<Option<usize>> = Vec::with_capacity(is_joint.len());
        let mut children = vec![Vec::new(); is_joint.len()];
        let mut open = Vec::new();
        for (n, node) in rig.nodes().iter().enumerate() {
            let found = node.parent.and_then(|p| match is_joint[p] {
                true => Some(p),
                false => above[p],
            });
            above.push(found);
            match (is_joint[n], found) {
                (true, Some(parent)) => children[parent].push(n),
                (true, None) => open.push(n),
                (false, _) => {}
            }
        }
        open.reverse();
        let mut nodes = Vec::new();
        while let Some(node) = open.pop() {
            nodes.push(node);
            open.extend(children[node].iter().rev());
        }
        Self {
            asset,
            pose: rig.rest_pose(),
            nodes,
            above,
            is_joint,
        }
    }

    pub(super) fn is_joint(&self, node: usize) -> bool {
        self.is_joint[node]
    }

    fn name(&self, node: usize) -> &'a str {
        &self.asset.rig.nodes()[node].name
    }

    fn position(&self, node: usize) -> Vec3<f64> {
        self.pose.scene_from_node[node].translation
    }

    fn distance_to_parent(&self, node: usize) -> Option<f64> {
        let parent = self.above[node]?;
        Some((self.position(node) - self.position(parent)).norm())
    }

    /// Weights that meshes and strands give to each node of the rig. A node may be several joints: one for each skin.
    fn carried(&self) -> Vec<Carried> {
        let joints = self.asset.rig.joints();
        let mut all = vec![Carried::default(); self.asset.rig.nodes().len()];
        for mesh in self.meshes() {
            each_weight(mesh, |joint, weight, position| {
                all[joints[joint].node].add(weight, position);
            });
        }
        all
    }

    /// Weights that one mesh gives to one node.
    fn carried_by(&self, node: usize, mesh: &Mesh) -> Carried {
        let joints = self.asset.rig.joints();
        let mut sum = Carried::default();
        each_weight(mesh, |joint, weight, position| {
            if joints[joint].node == node {
                sum.add(weight, position);
            }
        });
        sum
    }

    fn meshes(&self) -> impl Iterator<Item = &'a Mesh> {
        self.asset.meshes.iter().chain(&self.asset.strands)
    }

    /// Weight of each morph target of a mesh at rest.
    pub(super) fn morph_weight(&self, mesh: &Mesh, target: usize) -> Option<f32> {
        let weights = &self.pose.morph_weights;
        weights.get(mesh.morph_weight_index(target)).copied()
    }

    /// One object for each joint.
    pub(super) fn list(&self) -> Vec<Value> {
        let carried = self.carried();
        let mut index = vec![None; self.above.len()];
        for (i, &node) in self.nodes.iter().enumerate() {
            index[node] = Some(i);
        }
        let row = |&node: &usize| {
            let Carried {
                weight, vertices, ..
            } = carried[node];
            json!({
                "name": self.name(node),
                "parent": self.above[node].and_then(|p| index[p]),
                "position": array(self.position(node)),
                "distance_to_parent": self.distance_to_parent(node),
                "weight": weight,
                "vertices": vertices,
            })
        };
        self.nodes.iter().map(row).collect()
    }

    /// All about one joint. Of several joints with this name, the first in the order of the skins: graphs find the same.
    pub(super) fn one(&self, name: &str) -> Outcome<Value> {
        let rig = &*self.asset.rig;
        let Some(joint) = rig.find_joint(name) else {
            let names = self.nodes.iter().map(|&n| self.name(n));
            let expected = expected_joint(name, names);
            return Err(Failure::usage(format!(
                "--joint '{name}': expected {expected}"
            )));
        };
        let node = rig.joints()[joint].node;
        let of = |n: usize| json!({ "name": self.name(n), "position": array(self.position(n)), "distance": self.distance_to_parent(n) });
        let children = self.nodes.iter().filter(|&&n| self.above[n] == Some(node));
        let clips = self.asset.clips.iter();
        let same = self.nodes.iter().filter(|&&n| self.name(n) == name).count();
        let mut out = json!({
            "kind": "joint",
            "name": self.name(node),
            "same_name": (same > 1).then_some(same),
            "parent": self.above[node].map(|p| self.name(p)),
            "distance_to_parent": self.distance_to_parent(node),
            "children": children.map(|&n| of(n)).collect::<Vec<_>>(),
            "scene": transform(&self.pose.scene_from_node[node]),
            "local": transform(&rig.nodes()[node].local.to_affine()),
        });
        if let Some(out) = out.as_object_mut() {
            out.extend(self.influence(node));
            let clips = clips.filter_map(|c| clip_of_joint(rig, c, node));
            out.insert("clips".into(), clips.collect());
        }
        Ok(out)
    }

    /// Weights of a joint, and the box of the vertices that it moves.
    fn influence(&self, node: usize) -> Map<String, Value> {
        let (mut sum, mut meshes) = (Carried::default(), Vec::new());
        for mesh in self.meshes() {
            let found = self.carried_by(node, mesh);
            if let Some((low, high)) = found.bounds {
                meshes.push(json!({ "name": mesh.name, "weight": found.weight, "vertices": found.vertices }));
                sum.weight += found.weight;
                sum.vertices += found.vertices;
                sum.reach(low);
                sum.reach(high);
            }
        }
        let middle = |(low, high): Bounds| [0, 1, 2].map(|a| (low[a] + high[a]) / 2.0);
        let size = |(low, high): Bounds| [0, 1, 2].map(|a| high[a] - low[a]);
        let out = [
            ("weight", json!(sum.weight)),
            ("vertices", json!(sum.vertices)),
            ("bounds_min", json!(sum.bounds.map(|b| b.0))),
            ("bounds_max", json!(sum.bounds.map(|b| b.1))),
            ("bounds_center", json!(sum.bounds.map(middle))),
            ("bounds_size", json!(sum.bounds.map(size))),
            ("meshes", meshes.into()),
        ];
        out.map(|(key, value)| (key.to_owned(), value))
            .into_iter()
            .collect()
    }
}

/// Calls `take` with joint, weight and rest position of each influence of a mesh.
fn each_weight(mesh: &Mesh, mut take: impl FnMut(usize, f32, [f32; 3])) {
    let Some(influences) = &mesh.influences else {
        return;
    };
    for (v, position) in mesh.positions.iter().enumerate() {
        for (joint, weight) in influences.row(v) {
            take(joint as usize, weight, *position);
        }
    }
}

fn array(v: Vec3<f64>) -> [f64; 3] {
    v.into()
}

/// A transform as graphs take it. `null` for what numbers too large for a rotation do not give.
fn transform(matrix: &Affine<f64>) -> Value {
    let Ok(parts) = matrix.decompose(ORTHOGONAL_TOLERANCE) else {
        return Value::Null;
    };
    // A zero that rounding made negative reads as one.
    let degrees = EulerOrder::Xyz.angles(&parts.rotation);
    let degrees = degrees.map(|a| a.to_degrees() + 0.0);
    let mut out = json!({
        "translation": array(parts.translation),
        "rotation_degrees": degrees,
        "rotation": parts.rotation.coords.as_slice(),
        "scale": array(parts.scale),
    });
    if parts.sheared {
        out["shear"] = json!(parts.shear);
    }
    out
}

/// Smallest movement that counts, in metres, radians, and as a factor: channels that hold the rest transform are rounded.
const STILL: f64 = 1e-5;

/// How far a clip moves nodes from their rest transforms, in the space of their parents.
#[derive(Default)]
struct Moved {
    translation: f64,
    /// The largest rotation: angle in radians, from 0 to pi.
    rotation: f64,
    /// Its axis, a unit vector, and its time in seconds.
    axis: Option<(Vec3<f64>, f64)>,
    scale: f64,
}

impl Moved {
    fn add(&mut self, rig: &Rig, channel: &Channel) {
        // Channels do not move a node with a matrix.
        let LocalTransform::Trs(rest) = rig.nodes()[channel.node].local else {
            return;
        };
        for &time in channel.times() {
            let mut now = rest;
            channel.sample_trs(f64::from(time), &mut now);
            let apart = (now.translation - rest.translation).norm();
            let turned = now.rotation.angle_to(&rest.rotation);
            self.translation = self.translation.max(apart);
            if turned > self.rotation {
                self.rotation = turned;
                // After the rest rotation: its axis is in the space of the parent.
                let axis = (now.rotation * rest.rotation.inverse()).axis();
                self.axis = axis.map(|a| (a.into_inner(), f64::from(time)));
            }
            self.scale = self.scale.max((now.scale - rest.scale).amax());
        }
    }

    fn is_still(&self) -> bool {
        self.translation.max(self.rotation).max(self.scale) < STILL
    }
}

/// What a clip does to a joint; `None` if it moves neither the joint nor a node above it.
fn clip_of_joint(rig: &Rig, clip: &Clip, node: usize) -> Option<Value> {
    let mut is_above = vec![false; rig.nodes().len()];
    for n in std::iter::successors(rig.nodes()[node].parent, |&n| rig.nodes()[n].parent) {
        is_above[n] = true;
    }
    let (mut own, mut parents) = (Moved::default(), Moved::default());
    for channel in clip.channels() {
        if channel.node == node {
            own.add(rig, channel);
        } else if is_above[channel.node] {
            parents.add(rig, channel);
        }
    }
    let axis = own.axis.filter(|_| own.rotation >= STILL);
    (!parents.is_still() || !own.is_still()).then(|| {
        json!({
            "name": clip.name,
            "rotation_degrees": own.rotation.to_degrees(),
            "rotation_axis": axis.map(|(axis, _)| array(axis)),
            "rotation_secs": axis.map(|(_, secs)| secs),
            "translation": own.translation,
            "scale": own.scale,
            "parents_move": !parents.is_still(),
        })
    })
}

/// What a clip animates: numbers of joints and other nodes, of nodes by property, and of morph weights.
pub(super) fn clip(asset: &Asset, joints: &Joints<'_>, clip: &Clip) -> Value {
    let nodes = |channels: &mut dyn Iterator<Item = &Channel>| {
        let mut nodes: Vec<usize> = channels.map(|c| c.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    };
    let channels = || clip.channels().iter();
    let of = |target: ChannelTarget| nodes(&mut channels().filter(|c| c.target == target));
    let moved = nodes(&mut channels().filter(|c| c.target != ChannelTarget::Weights));
    let of_joints = moved.iter().filter(|&&n| joints.is_joint(n)).count();
    let morphs = of(ChannelTarget::Weights);
    let morphs = morphs
        .iter()
        .map(|&n| asset.rig.nodes()[n].morph_weights.len());
    let (start, end) = clip.range();
    let mut out = Map::new();
    out.insert("name".into(), json!(clip.name));
    out.insert("start_secs".into(), json!(start));
    out.insert("end_secs".into(), json!(end));
    out.insert("joints".into(), json!(of_joints));
    out.insert("other_nodes".into(), json!(moved.len() - of_joints));
    for (key, target) in [
        ("translation", ChannelTarget::Translation),
        ("rotation", ChannelTarget::Rotation),
        ("scale", ChannelTarget::Scale),
    ] {
        out.insert(key.into(), json!(of(target).len()));
    }
    out.insert("morph_weights".into(), json!(morphs.sum::<usize>()));
    Value::Object(out)
}
