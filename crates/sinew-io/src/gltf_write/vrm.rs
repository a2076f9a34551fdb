//! Keeps references of VRM data right when meshes and morph targets of a document change. VRM 1.0 refers to targets by node and index,
//! 0.x by mesh and index.

use super::targets::TargetChange;
use crate::fault::warning;
use serde_json::{Map, Value, json};
use sinew_geom::Warning;

const GROUPS_0: &str = "/extensions/VRM/blendShapeMaster/blendShapeGroups";
const ANNOTATIONS_0: &str = "/extensions/VRM/firstPerson/meshAnnotations";

/// Lets expressions and annotations of a mesh (VRM 0.x) apply to a copy of it, too.
pub(super) fn follow_copy(root: &mut Value, mesh: usize, copy: usize) {
    for group in list(root.pointer_mut(GROUPS_0)) {
        repeat(group.get_mut("binds"), mesh, copy);
    }
    repeat(root.pointer_mut(ANNOTATIONS_0), mesh, copy);
}

/// Repeats the entries of a mesh for its copy.
fn repeat(entries: Option<&mut Value>, mesh: usize, copy: usize) {
    let Some(entries) = entries.and_then(Value::as_array_mut) else {
        return;
    };
    let of_mesh = entries.iter().filter(|e| e["mesh"] == mesh);
    let mut more: Vec<Value> = of_mesh.cloned().collect();
    more.iter_mut().for_each(|e| e["mesh"] = copy.into());
    entries.extend(more);
}

/// Changes the references to the targets of a mesh. A target that is kept keeps its weight; that of a removed one goes to the added
/// targets by their shares.
pub(super) fn renumber(
    root: &mut Value,
    mesh: usize,
    nodes: &[usize],
    change: &TargetChange<'_>,
) -> Vec<Warning> {
    let mut found = Found::default();
    let version_1 = Renumbering {
        change,
        key: "node",
        owners: nodes,
        full: 1.0,
    };
    for kind in ["preset", "custom"] {
        let all = root.pointer_mut(&format!("/extensions/VRMC_vrm/expressions/{kind}"));
        let all = all.and_then(Value::as_object_mut).into_iter().flatten();
        for (name, expression) in all {
            version_1.binds(expression.get_mut("morphTargetBinds"), name, &mut found);
        }
    }
    let version_0 = Renumbering {
        key: "mesh",
        owners: &[mesh],
        full: 100.0,
        ..version_1
    };
    for group in list(root.pointer_mut(GROUPS_0)) {
        let name = group["name"].as_str().unwrap_or_default().to_owned();
        version_0.binds(group.get_mut("binds"), &name, &mut found);
    }
    found.warnings()
}

fn list(value: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    value.and_then(Value::as_array_mut).into_iter().flatten()
}

/// Expressions that cannot be exactly as before.
#[derive(Default)]
struct Found {
    lost: Vec<String>,
    beyond: Vec<String>,
}

impl Found {
    fn warnings(self) -> Vec<Warning> {
        let lists = [
            (
                self.lost,
                "vrm_target_removed",
                "refer to a morph target that is removed and nothing replaces",
            ),
            (
                self.beyond,
                "vrm_weight_beyond",
                "now have weights outside the range of VRM, which some programs limit",
            ),
        ];
        let told = lists.into_iter().filter(|l| !l.0.is_empty());
        told.map(|(names, code, what)| {
            warning(code, format!("expressions '{}' {what}", names.join("', '")))
        })
        .collect()
    }
}

struct Renumbering<'c> {
    change: &'c TargetChange<'c>,
    /// Member that names the owner of the targets.
    key: &'static str,
    /// Owners whose targets change.
    owners: &'c [usize],
    /// Full weight.
    full: f64,
}

impl Renumbering<'_> {
    fn binds(&self, binds: Option<&mut Value>, name: &str, found: &mut Found) {
        let Some(binds) = binds.and_then(Value::as_array_mut) else {
            return;
        };
        let before = self.change.base.morph_targets.len();
        let kept = before - self.change.removed.len();
        let is_beyond = |b: &Value| {
            let weight = b["weight"].as_f64().unwrap_or(0.0);
            !(0.0..=self.full).contains(&weight)
        };
        let was_beyond = binds.iter().any(is_beyond);
        let mut out: Vec<Value> = Vec::new();
        for mut bind in std::mem::take(binds) {
            let number = |v: &Value| v.as_u64().and_then(|n| usize::try_from(n).ok());
            let owner = number(&bind[self.key]).filter(|o| self.owners.contains(o));
            let target = number(&bind["index"]).filter(|t| *t < before);
            let (Some(owner), Some(target)) = (owner, target) else {
                out.push(bind);
                continue;
            };
            let Ok(place) = self.change.removed.binary_search(&target) else {
                let removed = self.change.removed.partition_point(|r| *r < target);
                bind["index"] = (target - removed).into();
                out.push(bind);
                continue;
            };
            let weight = bind["weight"].as_f64().unwrap_or(self.full);
            let shares = self.change.weights.iter().enumerate();
            let shares = shares.filter_map(|(k, row)| Some((k, *row.get(place)?)));
            let mut is_lost = true;
            for (k, share) in shares.filter(|s| s.1 != 0.0) {
                is_lost = false;
                let entry = self.bind_of(&mut out, owner, kept + k, &bind);
                let sum = entry["weight"].as_f64().unwrap_or(0.0) + weight * share;
                entry["weight"] = json!(sum);
            }
            if is_lost {
                found.lost.push(name.to_owned());
            }
        }
        if out.iter().any(is_beyond) && !was_beyond {
            found.beyond.push(name.to_owned());
        }
        *binds = out;
    }

    /// The entry of an added target, made from the entry of a removed one.
    fn bind_of<'o>(
        &self,
        out: &'o mut Vec<Value>,
        owner: usize,
        target: usize,
        like: &Value,
    ) -> &'o mut Value {
        let is_it = |b: &Value| b[self.key] == owner && b["index"] == target;
        let place = out.iter().position(is_it).unwrap_or_else(|| {
            let members = like.as_object().cloned().unwrap_or_else(Map::new);
            let mut entry = Value::Object(members);
            entry["index"] = target.into();
            entry["weight"] = 0.0.into();
            out.push(entry);
            out.len() - 1
        });
        &mut out[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::{Mesh, MorphTarget};

    fn base(targets: usize) -> Mesh {
        Mesh {
            morph_targets: vec![MorphTarget::default(); targets],
            ..Mesh::default()
        }
    }

    /// Targets 1 and 2 of four become one, which target 1 drives by 0.5 and nothing else.
    #[test]
    fn binds_follow_their_targets() {
        let base = base(4);
        let change = TargetChange {
            mesh: 0,
            base: &base,
            removed: vec![1, 2],
            added: vec![MorphTarget::default()],
            weights: vec![vec![0.5, 0.0]],
        };
        let bind = |node: usize, index: usize, weight: f64| json!({ "node": node, "index": index, "weight": weight });
        let binds = json!([
            bind(5, 0, 0.7),
            bind(5, 1, 0.8),
            bind(5, 3, 1.0),
            bind(6, 3, 1.0)
        ]);
        let lost = json!([bind(5, 2, 1.0)]);
        let mut root = json!({ "extensions": { "VRMC_vrm": { "expressions": {
            "preset": { "happy": { "morphTargetBinds": binds } },
            "custom": { "wink": { "morphTargetBinds": lost } },
        } } } });
        let warnings = renumber(&mut root, 2, &[5], &change);
        let expressions = &root["extensions"]["VRMC_vrm"]["expressions"];
        assert_eq!(
            expressions["preset"]["happy"]["morphTargetBinds"],
            json!([
                bind(5, 0, 0.7),
                bind(5, 2, 0.4),
                bind(5, 1, 1.0),
                bind(6, 3, 1.0)
            ])
        );
        assert_eq!(expressions["custom"]["wink"]["morphTargetBinds"], json!([]));
        let [warning] = &warnings[..] else {
            panic!("{warnings:?}");
        };
        assert_eq!(warning.code, "vrm_target_removed");
        assert!(warning.message.contains("'wink'"), "{warning:?}");
    }

    #[test]
    fn version_0_counts_meshes_and_hundredths() {
        let base = base(2);
        let change = TargetChange {
            mesh: 0,
            base: &base,
            removed: vec![0],
            added: vec![MorphTarget::default()],
            weights: vec![vec![1.5]],
        };
        let bind = |mesh: usize, index: usize, weight: f64| json!({ "mesh": mesh, "index": index, "weight": weight });
        let mut root = json!({ "extensions": { "VRM": {
            "blendShapeMaster": { "blendShapeGroups": [{ "name": "Joy", "binds": [bind(2, 0, 100.0), bind(3, 0, 100.0)] }] },
            "firstPerson": { "meshAnnotations": [{ "mesh": 2, "firstPersonFlag": "Auto" }] },
        } } });
        let warnings = renumber(&mut root, 2, &[5], &change);
        assert_eq!(warnings[0].code, "vrm_weight_beyond");
        let binds = |root: &Value| {
            root["extensions"]["VRM"]["blendShapeMaster"]["blendShapeGroups"][0]["binds"].clone()
        };
        assert_eq!(binds(&root), json!([bind(2, 1, 150.0), bind(3, 0, 100.0)]));
        follow_copy(&mut root, 2, 9);
        assert_eq!(
            binds(&root),
            json!([bind(2, 1, 150.0), bind(3, 0, 100.0), bind(9, 1, 150.0)])
        );
        let annotations = &root["extensions"]["VRM"]["firstPerson"]["meshAnnotations"];
        assert_eq!(
            annotations[1],
            json!({ "mesh": 9, "firstPersonFlag": "Auto" })
        );
    }
}
