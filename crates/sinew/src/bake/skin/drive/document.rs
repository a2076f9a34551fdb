//! The graph in a baked file.

use super::super::ranges::JointRange;
use super::super::sampler::RANGES;
use super::{Drive, Driver, Item, relevance};
use crate::deform::pose_driver::DriverValue;
use crate::geom::Trs;
use serde_json::{Map, Value, json};

/// Names of helpers and morph targets in the file.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Names {
    pub(in super::super) helpers: Vec<String>,
    pub(in super::super) targets: Vec<String>,
    /// True if meshes have other morph targets, which clips may animate.
    pub(in super::super) has_own_targets: bool,
}

impl Names {
    pub(super) fn of(&self, item: Item) -> &str {
        let found = match item {
            Item::Helper(h) => self.helpers.get(h),
            Item::Corrective(k) => self.targets.get(k),
        };
        found.map_or("", String::as_str)
    }
}

impl Drive<'_> {
    /// The graph as JSON text: drivers, morph targets, helpers, then linear skinning with the weights of the file.
    pub(in super::super) fn document(&self, drivers: &[Driver], names: &Names) -> String {
        let mut nodes = Map::new();
        let (mut weights, mut pose) = (None, "pose".to_owned());
        for (k, driver) in drivers.iter().enumerate() {
            let name = format!("poses_{k}");
            nodes.insert(name.clone(), self.driver_node(driver));
            if let Some(node) = self.morphs_node(driver, names, &name, weights.as_deref()) {
                let own = format!("correctives_{k}");
                nodes.insert(own.clone(), node);
                weights = Some(own);
            }
            if let Some(node) = self.joints_node(driver, names, &name, &pose) {
                let own = format!("helpers_{k}");
                nodes.insert(own.clone(), node);
                pose = own;
            }
        }
        let has_targets = names.has_own_targets || !names.targets.is_empty();
        if let (Some(driven), true) = (&weights, names.has_own_targets) {
            // Existing targets follow the clips as before. Only the targets above are clamped to 0 to 1.
            let none: Vec<&str> = drivers
                .first()
                .map_or(Vec::new(), |d| vec![""; d.knots.samples.len()]);
            let own = json!({ "node": "drive_morphs", "mesh": "body", "weights": "poses_0", "targets": none,
                "base": driven, "pose": "pose", "replaced": names.targets });
            nodes.insert("targets".into(), own);
            weights = Some("targets".into());
        }
        let mut mesh = "body";
        if has_targets {
            let mut morph = json!({ "node": "morph", "mesh": "body" });
            match weights {
                Some(weights) => morph["weights"] = weights.into(),
                None => morph["pose"] = "pose".into(),
            }
            nodes.insert("morph".into(), morph);
            mesh = "morph";
        }
        let skin = json!({ "node": "skin", "mesh": mesh, "pose": pose, "method": "linear" });
        nodes.insert("skin".into(), skin);
        let document = json!({
            "sinew": "1.0",
            "description": "Made by 'sinew bake skin': morph targets and helper joints that follow the pose, then linear skinning.",
            "inputs": { "body": { "type": "mesh" }, "pose": { "type": "pose" } },
            "nodes": nodes,
            "outputs": { "body": "skin" },
        });
        document.to_string()
    }

    fn driver_node(&self, driver: &Driver) -> Value {
        let joints = driver
            .joints
            .iter()
            .map(|&j| relevance::name(self.asset, j));
        let joints: Vec<&str> = joints.collect();
        let knots = driver.knots.samples.iter().zip(&driver.knots.values);
        let pose = |(sample, values): (&Option<usize>, &Vec<DriverValue>)| {
            let joints: Vec<Value> = values.iter().map(rotation).collect();
            json!({ "name": self.pose_name(*sample), "joints": joints })
        };
        let poses: Vec<Value> = knots.map(pose).collect();
        json!({ "node": "pose_driver", "pose": "pose", "joints": joints, "width": driver.knots.width,
            "clamp": "none", "normalize": "none", "poses": poses })
    }

    /// Name of a sample: the clip and its time.
    fn pose_name(&self, sample: Option<usize>) -> String {
        let samples = &self.collected.samples;
        let found = sample.and_then(|s| Some((s, samples.group_of(s)?)));
        let Some((s, group)) = found else {
            return "rest".into();
        };
        let within = s - group.samples.start;
        let range = self.collected.ranges.get(within);
        match range.filter(|_| !group.is_clip() && group.name == RANGES) {
            Some(range) => self.range_name(range),
            None => {
                let time = group.times_secs.get(within).copied().unwrap_or(0.0);
                format!("{} {time:.3} s", group.name)
            }
        }
    }

    fn range_name(&self, range: &JointRange) -> String {
        let joint = self.asset.rig.nodes().get(range.node);
        let joint = joint.map_or("", |n| n.name.as_str());
        let axis = ["x", "y", "z"][range.axis.min(2)];
        format!("{joint} {axis} {} degrees", range.degrees)
    }

    /// Weights of the morph targets of a driver: a mix of all its poses.
    fn morphs_node(
        &self,
        driver: &Driver,
        names: &Names,
        weights: &str,
        base: Option<&str>,
    ) -> Option<Value> {
        let mix: Vec<Value> = driver
            .items
            .iter()
            .filter_map(|item| {
                let Item::Corrective(k) = *item else {
                    return None;
                };
                let weight = |s: &Option<usize>| s.map_or(0.0, |s| self.correctives.weights[s][k]);
                let row: Vec<f32> = driver.knots.samples.iter().map(weight).collect();
                Some(json!({ "target": names.of(*item), "weights": row }))
            })
            .collect();
        if mix.is_empty() {
            return None;
        }
        let mut node = json!({ "node": "drive_morphs", "mesh": "body", "weights": weights, "mix": mix, "clamp": true });
        if let Some(base) = base {
            node["base"] = base.into();
        }
        Some(node)
    }

    fn joints_node(
        &self,
        driver: &Driver,
        names: &Names,
        weights: &str,
        pose: &str,
    ) -> Option<Value> {
        let helpers = driver.items.iter().filter_map(|item| match item {
            Item::Helper(h) => Some(*h),
            Item::Corrective(_) => None,
        });
        let helpers: Vec<usize> = helpers.collect();
        if helpers.is_empty() {
            return None;
        }
        let of_pose = |sample: &Option<usize>| {
            let at = helpers.iter().map(|&h| match sample {
                Some(s) => transform(&self.helper_at(h, *s)),
                None => transform(&self.helper_at_rest(h)),
            });
            json!({ "name": self.pose_name(*sample), "joints": at.collect::<Vec<_>>() })
        };
        let poses: Vec<Value> = driver.knots.samples.iter().map(of_pose).collect();
        let joints: Vec<&str> = helpers.iter().map(|&h| names.of(Item::Helper(h))).collect();
        let neutral = helpers.iter().map(|&h| transform(&self.helper_at_rest(h)));
        Some(
            json!({ "node": "drive_joints", "pose": pose, "weights": weights, "joints": joints,
            "space": "parent", "neutral": neutral.collect::<Vec<_>>(), "poses": poses }),
        )
    }
}

fn rotation(value: &DriverValue) -> Value {
    let q = value.rotation.coords;
    json!({ "rotation": [q.x, q.y, q.z, q.w] })
}

fn transform(trs: &Trs) -> Value {
    let (t, q, s) = (trs.translation, trs.rotation.coords, trs.scale);
    json!({ "translation": [t.x, t.y, t.z], "rotation": [q.x, q.y, q.z, q.w], "scale": [s.x, s.y, s.z] })
}
