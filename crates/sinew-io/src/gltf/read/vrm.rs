//! VRM 0.x and 1.0: expressions, humanoid bones, and warnings about what is not played.

use super::document::{Document, Warnings};
use crate::gltf::source::{VRM_0, VRM_1};
use serde_json::Value;
use sinew_geom::{Expression, ExpressionOverride, ExpressionTarget, HumanoidBone, Rig};
use std::collections::BTreeSet;

const SPRINGS: &str = "VRMC_springBone";

/// VRM 1.0 names of the presets of 0.x.
const PRESETS: [(&str, &str); 17] = [
    ("neutral", "neutral"),
    ("a", "aa"),
    ("e", "ee"),
    ("i", "ih"),
    ("o", "oh"),
    ("u", "ou"),
    ("blink", "blink"),
    ("joy", "happy"),
    ("angry", "angry"),
    ("sorrow", "sad"),
    ("fun", "relaxed"),
    ("lookup", "lookUp"),
    ("lookdown", "lookDown"),
    ("lookleft", "lookLeft"),
    ("lookright", "lookRight"),
    ("blink_l", "blinkLeft"),
    ("blink_r", "blinkRight"),
];

/// What VRM adds to an asset.
#[derive(Debug, Default)]
pub(super) struct Vrm {
    pub(super) expressions: Vec<Expression>,
    pub(super) humanoid: Vec<HumanoidBone>,
}

/// Reads the extension of either version. `rig_from_file`: the rig node of each node of the document.
pub(super) fn read(
    doc: &Document,
    rig_from_file: &[usize],
    rig: &Rig,
    warnings: &mut Warnings,
) -> Vrm {
    let mut reader = Reader {
        doc,
        rig_from_file,
        rig,
        lost: BTreeSet::new(),
        looks: Vec::new(),
    };
    let extensions = &doc.json["extensions"];
    let vrm = match (&extensions[VRM_1], &extensions[VRM_0]) {
        (Value::Object(_), _) => reader.version_1(&extensions[VRM_1]),
        (_, Value::Object(_)) => reader.version_0(&extensions[VRM_0]),
        _ => return Vrm::default(),
    };
    reader.warn(warnings);
    let springs = springs(extensions);
    if !springs.is_empty() {
        let message = format!(
            "springs {} of VRM are not simulated; add a node spring_joints to the graph",
            shortened(&springs)
        );
        warnings.push("springs_not_simulated", message);
    }
    vrm
}

struct Reader<'a> {
    doc: &'a Document,
    rig_from_file: &'a [usize],
    rig: &'a Rig,
    /// Expressions with targets that do not exist.
    lost: BTreeSet<String>,
    /// Expressions that change materials.
    looks: Vec<String>,
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|n| usize::try_from(n).ok())
}

fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

impl Reader<'_> {
    fn version_1(&mut self, vrm: &Value) -> Vrm {
        let mut out = Vrm::default();
        let bones = vrm["humanoid"]["humanBones"].as_object();
        for (name, bone) in bones.into_iter().flatten() {
            out.humanoid.extend(self.bone(name, &bone["node"]));
        }
        for kind in ["preset", "custom"] {
            let all = vrm["expressions"][kind].as_object();
            for (name, entry) in all.into_iter().flatten() {
                let mut made = Expression {
                    name: name.clone(),
                    is_binary: entry["isBinary"] == true,
                    overrides: ["overrideBlink", "overrideLookAt", "overrideMouth"].map(|key| {
                        match entry[key].as_str() {
                            Some("block") => ExpressionOverride::Block,
                            Some("blend") => ExpressionOverride::Blend,
                            _ => ExpressionOverride::None,
                        }
                    }),
                    ..Expression::default()
                };
                for bind in elements(&entry["morphTargetBinds"]) {
                    let amount = bind["weight"].as_f64().unwrap_or(1.0);
                    let nodes: Vec<usize> = index(&bind["node"]).into_iter().collect();
                    self.bind(&mut made, &nodes, index(&bind["index"]), amount);
                }
                let looks = ["materialColorBinds", "textureTransformBinds"];
                self.finish(made, looks.map(|key| &entry[key]), &mut out);
            }
        }
        out
    }

    fn version_0(&mut self, vrm: &Value) -> Vrm {
        let mut out = Vrm::default();
        for bone in elements(&vrm["humanoid"]["humanBones"]) {
            let name = bone["bone"].as_str().unwrap_or_default();
            out.humanoid.extend(self.bone(name, &bone["node"]));
        }
        for entry in elements(&vrm["blendShapeMaster"]["blendShapeGroups"]) {
            let preset = entry["presetName"].as_str().unwrap_or_default();
            let known = PRESETS.iter().find(|p| preset.eq_ignore_ascii_case(p.0));
            let own = entry["name"].as_str().unwrap_or(preset);
            let mut made = Expression {
                name: known.map_or(own, |p| p.1).to_owned(),
                is_binary: entry["isBinary"] == true,
                ..Expression::default()
            };
            for bind in elements(&entry["binds"]) {
                let amount = bind["weight"].as_f64().unwrap_or(0.0) / 100.0;
                let nodes = self.nodes_of_mesh(index(&bind["mesh"]));
                self.bind(&mut made, &nodes, index(&bind["index"]), amount);
            }
            self.finish(made, [&entry["materialValues"], &Value::Null], &mut out);
        }
        out
    }

    /// Document nodes that carry a mesh.
    fn nodes_of_mesh(&self, mesh: Option<usize>) -> Vec<usize> {
        let nodes = self.doc.root.nodes.iter().enumerate();
        let carries = nodes.filter(|(_, n)| mesh.is_some() && n.mesh.map(|m| m.value()) == mesh);
        carries.map(|n| n.0).collect()
    }

    fn bone(&mut self, name: &str, node: &Value) -> Option<HumanoidBone> {
        let node = index(node).and_then(|n| self.rig_from_file.get(n));
        if node.is_none() {
            self.lost.insert(name.to_owned());
        }
        node.map(|&node| HumanoidBone {
            name: name.to_owned(),
            node,
        })
    }

    /// Adds a target of the meshes of some nodes.
    fn bind(&mut self, to: &mut Expression, nodes: &[usize], target: Option<usize>, amount: f64) {
        let before = to.targets.len();
        for node in nodes {
            let Some(node) = self.rig_from_file.get(*node) else {
                continue;
            };
            let node = &self.rig.nodes()[*node];
            let target = target.filter(|t| *t < node.morph_weights.len());
            to.targets.extend(target.map(|t| ExpressionTarget {
                weight: node.morph_offset + t,
                amount: amount as f32,
            }));
        }
        let is_finite = (amount as f32).is_finite();
        if !is_finite {
            to.targets.truncate(before);
        }
        if to.targets.len() == before {
            self.lost.insert(to.name.clone());
        }
    }

    /// Adds an expression; of two with one name the first.
    fn finish(&mut self, made: Expression, looks: [&Value; 2], out: &mut Vrm) {
        if looks.iter().any(|l| elements(l).next().is_some()) {
            self.looks.push(made.name.clone());
        }
        if out.expressions.iter().any(|e| e.name == made.name) {
            self.lost.insert(made.name);
            return;
        }
        out.expressions.push(made);
    }

    fn warn(self, warnings: &mut Warnings) {
        let lost: Vec<String> = self.lost.into_iter().collect();
        if !lost.is_empty() {
            let message = format!(
                "VRM entries {} are repeated, or refer to nodes or morph targets that the file lacks; these references are ignored",
                shortened(&lost)
            );
            warnings.push("vrm_reference_ignored", message);
        }
        if !self.looks.is_empty() {
            let message = format!(
                "expressions {} also change materials or texture coordinates; Sinew plays their morph targets only",
                shortened(&self.looks)
            );
            warnings.push("expression_looks_not_played", message);
        }
    }
}

/// Names of springs.
fn springs(extensions: &Value) -> Vec<String> {
    let springs = elements(&extensions[SPRINGS]["springs"]);
    let groups = elements(&extensions[VRM_0]["secondaryAnimation"]["boneGroups"]);
    let named = |(k, entry): (usize, &Value)| {
        let name = entry["name"].as_str().or(entry["comment"].as_str());
        let name = name.filter(|n| !n.is_empty());
        name.map_or_else(|| format!("spring_{k}"), str::to_owned)
    };
    springs.chain(groups).enumerate().map(named).collect()
}

/// The first names of a list.
fn shortened(names: &[String]) -> String {
    const MOST: usize = 8;
    let shown: Vec<String> = names.iter().take(MOST).map(|n| format!("'{n}'")).collect();
    match names.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
