//! The graphs of the templates.

use super::density::passes;
use super::draft::Draft;
use super::poses::farthest;
use super::shape::Shape;
use crate::geom::nalgebra::Unit;
use crate::geom::{Asset, Mesh, Quat, Rig, Strands, Vec3, vec3};
use std::fmt::Write;

/// Makes graphs for a character.
pub(super) struct Maker<'a> {
    /// `None` for an unknown character.
    asset: Option<&'a Asset>,
    pub(super) shape: Shape,
}

/// Parts of names of joints that bend, best first.
const DRIVERS: [&str; 10] = [
    "forearm",
    "lowerarm",
    "lower_arm",
    "elbow",
    "calf",
    "shin",
    "lowerleg",
    "knee",
    "upperarm",
    "upper_arm",
];
/// Parts of names of garments.
const GARMENTS: [&str; 12] = [
    "cloth", "shirt", "dress", "skirt", "pants", "trouser", "jacket", "coat", "cape", "robe",
    "suit", "wear",
];

/// A text as JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl<'a> Maker<'a> {
    pub(super) fn new(asset: &'a Asset) -> Self {
        Self {
            asset: Some(asset),
            shape: Shape::of(asset),
        }
    }

    /// A mesh with a skin, and morph targets if it has some.
    pub(super) fn unknown() -> Self {
        let shape = Shape {
            has_mesh: true,
            is_morphed: true,
            is_skinned: true,
            is_blended: true,
            ..Shape::default()
        };
        Self { asset: None, shape }
    }

    /// With comments on what graphs are.
    fn draft(about: &[&str]) -> Draft {
        let what = "A Sinew graph deforms a character in each frame. Comments and trailing commas are allowed.";
        Draft {
            about: std::iter::once(&what)
                .chain(about)
                .map(|l| (*l).to_owned())
                .collect(),
            ..Draft::default()
        }
    }

    pub(super) fn body(&self) -> Draft {
        // Delta mush smooths the shapes of morph targets, too.
        let blend = if self.shape.is_morphed { "0.0" } else { "1.0" };
        self.mushed(Self::draft(&[]), blend)
    }

    pub(super) fn body_with(&self, iterations: u32, blend: &str) -> Draft {
        let mut draft = Self::draft(&[]);
        let body = self.shape.add_to(&mut draft);
        self.mush(&mut draft, body, &[], iterations, blend);
        draft
    }

    pub(super) fn vat(&self) -> Draft {
        let about = "Bake it: sinew bake vat CHARACTER --graph THIS_FILE -o FOLDER";
        self.mushed(Self::draft(&[about]), "1.0")
    }

    /// What the character has, then a delta mush that suits its mesh.
    fn mushed(&self, mut draft: Draft, blend: &str) -> Draft {
        let body = self.shape.add_to(&mut draft);
        let found = self.asset.and_then(passes);
        let told = found.map(|p| {
            let [edge, spread] = [p.edge, p.spread].map(|m| 1000.0 * m);
            format!(
                "The median edge is {edge:.1} mm long. {} iterations spread {spread:.0} mm; twice as far takes four times as many.",
                p.count
            )
        });
        let iterations = found.map_or(10, |p| p.count);
        self.mush(&mut draft, body, told.as_slice(), iterations, blend);
        draft
    }

    fn mush(&self, draft: &mut Draft, body: &str, told: &[String], iterations: u32, blend: &str) {
        if !self.shape.is_skinned || !self.shape.is_blended {
            return;
        }
        let doc = "0 is plain skinning, 1 is full delta mush, which also smooths the shapes of morph targets";
        draft.parameters.push(format!(
            r#""blend": {{ "type": "float", "default": {blend}, "min": 0.0, "max": 1.0, "doc": "{doc}" }}"#
        ));
        let told: Vec<&str> = told.iter().map(String::as_str).collect();
        draft.node(
            &told,
            format!(r#""mush": {{ "node": "delta_mush", "mesh": "{body}", "iterations": {iterations}, "blend": "$blend" }}"#),
        );
        replace_output(draft, "body", "mush");
    }

    pub(super) fn face(&self) -> Draft {
        let mut draft = Self::draft(&[]);
        let body = self.shape.add_to(&mut draft);
        if self.shape.is_morphed {
            let morph = draft
                .nodes
                .iter_mut()
                .find(|n| n.1.starts_with("\"morph\""));
            let comments = morph.map(|n| &mut n.0);
            comments
                .into_iter()
                .for_each(|c| c.extend(self.target_names()));
        }
        if let Some(head) = self.joint_like(&["head"]).filter(|_| self.shape.is_skinned) {
            let head = quoted(self.rig_name(head));
            draft.parameters.push(
                r#""squash": { "type": "float", "default": 1.0, "min": 0.5, "max": 2.0, "doc": "Height of the head: 1 is as it is." }"#
                    .to_owned(),
            );
            draft.node(
                &["Squashes and stretches the head; its volume stays. The region is fitted to the joint and moves with it."],
                format!(
                    r#""head": {{ "node": "squash_stretch", "mesh": "{body}", "fit": {{ "joint": {head} }}, "follow": {head}, "stretch": "$squash" }}"#
                ),
            );
            replace_output(&mut draft, "body", "head");
        }
        draft
    }

    /// The names of morph targets, as lines of comments.
    fn target_names(&self) -> Vec<String> {
        let meshes = self.asset.map_or(&[][..], |a| &a.meshes);
        let mut names: Vec<&str> = Vec::new();
        for target in meshes.iter().flat_map(|m| &m.morph_targets) {
            if !names.contains(&target.name.as_str()) {
                names.push(&target.name);
            }
        }
        let mut lines = vec![
            "Clips animate the morph targets. To drive some by poses of joints, add nodes `pose_driver` and `drive_morphs`.".to_owned(),
        ];
        for (i, some) in names.chunks(6).take(12).enumerate() {
            let head = if i == 0 { "Targets: " } else { "  " };
            // A line break in a name would end the comment.
            let some = some.join(", ").replace(char::is_control, " ");
            lines.push(format!("{head}{some}"));
        }
        lines
    }

    pub(super) fn cloth(&self) -> Draft {
        let meshes = self.asset.map_or(&[][..], |a| &a.meshes);
        let size = |m: &&Mesh| m.positions.len();
        let is_garment = |m: &&Mesh| {
            let name = m.name.to_lowercase();
            GARMENTS.iter().any(|word| name.contains(word))
        };
        let body = meshes.iter().filter(|m| !is_garment(m)).max_by_key(size);
        let body = body.or_else(|| meshes.iter().max_by_key(size));
        let others = || {
            meshes
                .iter()
                .filter(|m| body.is_none_or(|b| !std::ptr::eq(b, *m)))
        };
        let garment = others().filter(is_garment).max_by_key(size);
        let garment = garment.or_else(|| others().max_by_key(size));
        let [body, garment] = [body, garment].map(|m| quoted(m.map_or("", |m| &m.name)));
        let mut draft =
            Self::draft(&["The names of body and garment are a guess: correct \"select\"."]);
        draft.inputs = vec![
            format!(r#""body": {{ "type": "mesh", "select": {body} }}"#),
            format!(r#""garment": {{ "type": "mesh", "select": {garment} }}"#),
            r#""pose": { "type": "pose" }"#.to_owned(),
        ];
        draft.parameters.push(
            r#""smoothing": { "type": "float", "default": 0.0, "min": 0.0, "max": 1.0, "doc": "Delta mush of the garment" }"#.to_owned(),
        );
        draft.node(
            &[],
            r#""skin": { "node": "skin", "mesh": "body", "pose": "pose" }"#,
        );
        draft.node(
            &["The garment follows the nearest points of the body and needs no joint weights."],
            r#""worn": { "node": "wrap", "mesh": "garment", "driver": "skin" }"#,
        );
        draft.node(
            &[],
            r#""smooth": { "node": "delta_mush", "mesh": "worn", "preset": "tight", "blend": "$smoothing" }"#,
        );
        draft.outputs = vec![
            r#""body": "skin""#.to_owned(),
            r#""garment": "smooth""#.to_owned(),
        ];
        draft
    }

    pub(super) fn hair(&self) -> Draft {
        let mut draft = Self::draft(&["Presets of `hair_sim`: sinew nodes hair_sim"]);
        let shape = Shape {
            strands_follow: false,
            ..self.shape
        };
        let body = shape.add_to(&mut draft);
        if !draft.inputs.iter().any(|i| i.starts_with("\"pose\"")) {
            draft
                .inputs
                .push(r#""pose": { "type": "pose" }"#.to_owned());
        }
        for input in draft
            .inputs
            .iter_mut()
            .filter(|i| i.starts_with("\"hair\""))
        {
            // Strands of a file are few.
            *input = r#""hair": { "type": "strands", "followers": { "count": 6, "radius": 0.006, "tip_separation": 0.2 } }"#.to_owned();
        }
        draft.parameters.push(
            r#""wind": { "type": "vec3", "default": [0, 0, 0], "doc": "Velocity of the air, m/s" }"#.to_owned(),
        );
        let mut colliders = "";
        if self.shape.has_mesh {
            let head = self.joint_like(&["head"]).filter(|_| self.shape.is_skinned);
            let follow = head.map_or(String::new(), |head| {
                format!(
                    r#", "pose": "pose", "follow": {}"#,
                    quoted(self.rig_name(head))
                )
            });
            draft.node(
                &["Distance to the body. \"winding_number\" finds its inside also where parts intersect. It is fine in a box around the head:", "strands elsewhere need a larger one, see `sinew nodes sdf`."],
                format!(r#""field": {{ "node": "sdf", "mesh": "{body}", "cells": 90, "sign": "winding_number"{follow} }}"#),
            );
            colliders = r#", "colliders": ["field"], "margins": [0.002]"#;
        }
        draft.node(
            &[],
            format!(
                r#""sim": {{ "node": "hair_sim", "strands": "hair", "pose": "pose"{colliders}, "preset": "{}", "wind": "$wind" }}"#,
                self.hair_preset()
            ),
        );
        replace_output(&mut draft, "hair", "sim");
        draft
    }

    /// By the median length of the strands.
    fn hair_preset(&self) -> &'static str {
        let strands = self.asset.map_or(&[][..], |a| &a.strands);
        let mut lengths: Vec<f32> = Vec::new();
        for mesh in strands {
            let length = |range: std::ops::Range<usize>| {
                let ends = mesh.positions[range].windows(2);
                ends.map(|p| vec3::distance(p[0], p[1])).sum::<f32>()
            };
            let ranges = mesh
                .topology
                .strands()
                .into_iter()
                .flat_map(Strands::ranges);
            lengths.extend(ranges.map(length));
        }
        lengths.sort_by(f32::total_cmp);
        match lengths.get(lengths.len() / 2) {
            Some(length) if *length < 0.04 => "fur",
            Some(length) if *length > 0.15 => "long_straight",
            _ => "short",
        }
    }

    pub(super) fn driver(&self, joint: usize) -> Draft {
        let mut draft =
            Self::draft(&["See the weights: sinew run CHARACTER --graph THIS_FILE -o weights.npz"]);
        let name = quoted(self.rig_name(joint));
        let shape = Shape {
            strands_follow: false,
            has_strands: false,
            ..self.shape
        };
        let poses = self.asset.map_or(Vec::new(), |a| farthest(a, joint));
        let is_guess = poses.is_empty();
        let poses = match is_guess {
            true => vec![Quat::from_axis_angle(
                &self.across(joint),
                std::f64::consts::FRAC_PI_2,
            )],
            false => poses,
        };
        let body = shape.add_to(&mut draft);
        draft.node(
            &[
                "One weight for each pose: 1 in that pose, 0 in the others, smooth between. Rotations are relative to rest.",
                match is_guess {
                    true => "No clip moves this joint. The rotation of the second pose is made up: replace it.",
                    false => "The poses are those of the clips that differ most.",
                },
            ],
            pose_driver(&name, &poses),
        );
        let follower = self.twist_followers(joint, &mut draft);
        if follower {
            replace_pose(&mut draft);
        }
        let near = self.near(joint);
        draft.node(
            &["The vertices around the joint."],
            format!(r#""near": {{ "node": "mask", "mesh": "body", "pose": "pose", "source": "joint", "joints": [{near}] }}"#),
        );
        let iterations = self.asset.and_then(passes).map_or(10, |p| p.count);
        draft.node(
            &["Smooths them the more, the less the joint is at rest. Any parameter can follow a weight."],
            format!(
                r#""mush": {{ "node": "delta_mush", "mesh": "{body}", "mask": "near", "iterations": {iterations}, "weight": {{ "link": "turn.weights", "index": 0, "remap": [[0, 1], [1, 0]] }} }}"#
            ),
        );
        replace_output(&mut draft, "body", "mush");
        draft
            .outputs
            .push(r#""weights": "turn.weights""#.to_owned());
        draft
    }

    /// The joint that drives, where none is named.
    pub(super) fn driver_joint(&self) -> Option<usize> {
        self.joint_like(&DRIVERS)
    }

    /// The joint and its parent joint, as a list.
    fn near(&self, joint: usize) -> String {
        let Some(rig) = self.rig() else {
            return String::new();
        };
        let parent = rig.nodes()[rig.joints()[joint].node].parent;
        let parent = parent.and_then(|n| rig.joints().iter().position(|j| j.node == n));
        let names = parent
            .into_iter()
            .chain([joint])
            .map(|j| quoted(rig.joint_name(j)));
        names.collect::<Vec<_>>().join(", ")
    }

    /// An axis of the joint that is across its bone.
    fn across(&self, joint: usize) -> Unit<Vec3<f64>> {
        let axes = [Vec3::x_axis(), Vec3::y_axis(), Vec3::z_axis()];
        let bone = self.rig().and_then(|rig| {
            let node = rig.joints()[joint].node;
            let child = rig.nodes().iter().find(|n| n.parent == Some(node))?;
            Some(child.local.to_affine().translation)
        });
        axes[bone.map_or(0, |bone| bone.iamin())]
    }

    /// Twist joints below a joint share the twist of the joint that ends it. True if there are some.
    fn twist_followers(&self, joint: usize, draft: &mut Draft) -> bool {
        let Some(rig) = self.rig() else {
            return false;
        };
        let children = |of: usize| {
            let node = rig.joints()[of].node;
            let is_child = move |j: &usize| rig.nodes()[rig.joints()[*j].node].parent == Some(node);
            (0..rig.joints().len()).filter(is_child)
        };
        let is_twist = |j: &usize| {
            let name = rig.joint_name(*j).to_lowercase();
            name.contains("twist") || name.contains("roll")
        };
        let twists: Vec<usize> = children(joint).filter(is_twist).collect();
        let ends = || children(joint).filter(|j| !is_twist(j));
        let end = ends()
            .find(|j| children(*j).next().is_some())
            .or_else(|| ends().next());
        let Some(end) = end.filter(|_| !twists.is_empty()) else {
            return false;
        };
        let rest = rig.rest_pose();
        let offset = |j: usize| rest.locals[rig.joints()[j].node].to_affine().translation;
        let along = offset(end);
        let axis = ["x", "y", "z"][along.iamax()];
        let followers: Vec<String> = twists
            .iter()
            .map(|t| {
                let share = (offset(*t).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
                let share = if share.is_finite() { share } else { 0.5 };
                format!(
                    r#"{{ "joint": {}, "source": {}, "axis": "{axis}", "twist": {share:.2} }}"#,
                    quoted(rig.joint_name(*t)),
                    quoted(rig.joint_name(end))
                )
            })
            .collect();
        let text = format!(
            r#""twisted": {{ "node": "drive_joints", "pose": "pose", "followers": [{}] }}"#,
            followers.join(", ")
        );
        // Before the nodes that read its pose.
        let about = format!(
            "Twist joints take the share of the twist of {} that their distance from the joint says.",
            quoted(rig.joint_name(end))
        );
        draft.nodes.insert(0, (vec![about], text));
        true
    }

    fn rig(&self) -> Option<&Rig> {
        self.asset.map(|a| &*a.rig)
    }

    fn rig_name(&self, joint: usize) -> &str {
        self.rig().map_or("", |rig| rig.joint_name(joint))
    }

    /// The first joint whose name contains one of the words; the shortest such name.
    fn joint_like(&self, words: &[&str]) -> Option<usize> {
        let rig = self.rig()?;
        words.iter().find_map(|word| {
            let has_it = |j: &usize| {
                let name = rig.joint_name(*j).to_lowercase();
                name.contains(word) && !name.contains("twist") && !name.contains("roll")
            };
            (0..rig.joints().len())
                .filter(has_it)
                .min_by_key(|j| rig.joint_name(*j).len())
        })
    }
}

fn pose_driver(joint: &str, poses: &[Quat<f64>]) -> String {
    let mut text = format!(
        r#""turn": {{
      "node": "pose_driver", "pose": "pose", "joints": [{joint}], "clamp": "unit",
      "poses": [
        {{ "name": "rest", "joints": [{{}}] }}"#
    );
    for (i, rotation) in poses.iter().enumerate() {
        let q = rotation.as_vector();
        let _ = write!(
            text,
            ",\n        {{ \"name\": \"pose_{}\", \"joints\": [{{ \"rotation\": [{:.5}, {:.5}, {:.5}, {:.5}] }}] }}",
            i + 1,
            q.x,
            q.y,
            q.z,
            q.w
        );
    }
    text + "\n      ]\n    }"
}

/// Links an output to another node.
fn replace_output(draft: &mut Draft, output: &str, node: &str) {
    let key = format!("\"{output}\":");
    for o in draft.outputs.iter_mut().filter(|o| o.starts_with(&key)) {
        *o = format!(r#""{output}": "{node}""#);
    }
}

/// Skinning takes the pose with the twist joints.
fn replace_pose(draft: &mut Draft) {
    for (_, node) in draft
        .nodes
        .iter_mut()
        .filter(|n| n.1.starts_with("\"skin\""))
    {
        *node = node.replace(r#""pose": "pose""#, r#""pose": "twisted""#);
    }
}
