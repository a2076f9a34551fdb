//! Joints of a skin need a common root.

use super::super::targets::push;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Puts the root nodes that joints of one skin are below under a new node, if they are several.
pub(super) fn join(root: &mut Value) {
    let tops = tops(root);
    let mut joined = BTreeSet::new();
    for skin in list(&root["skins"]) {
        let of_skin = list(&skin["joints"]).iter().filter_map(index);
        let of_skin: BTreeSet<usize> = of_skin.filter_map(|j| tops.get(j).copied()).collect();
        if of_skin.len() > 1 {
            joined.extend(of_skin);
        }
    }
    if joined.is_empty() {
        return;
    }
    let new = list(&root["nodes"]).len();
    let children: Vec<usize> = joined.iter().copied().collect();
    push(
        &mut root["nodes"],
        json!({ "name": "joints", "children": children }),
    );
    let shown = &mut root["scenes"][0]["nodes"];
    if let Some(shown) = shown.as_array_mut() {
        shown.retain(|n| index(n).is_none_or(|n| !joined.contains(&n)));
    }
    push(shown, new.into());
}

/// The root node above each node.
fn tops(root: &Value) -> Vec<usize> {
    let nodes = list(&root["nodes"]);
    let mut tops: Vec<usize> = (0..nodes.len()).collect();
    let mut open: Vec<usize> = list(&root["scenes"][0]["nodes"])
        .iter()
        .filter_map(index)
        .collect();
    while let Some(node) = open.pop() {
        for child in list(&nodes[node]["children"]).iter().filter_map(index) {
            tops[child] = tops[node];
            open.push(child);
        }
    }
    tops
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|n| usize::try_from(n).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_of_two_trees_get_one_root() {
        let nodes = json!([{ "children": [2] }, {}, {}, { "mesh": 0 }]);
        let document = |joints: [usize; 2]| json!({ "nodes": nodes, "scenes": [{ "nodes": [0, 1, 3] }], "skins": [{ "joints": joints }] });
        let mut one = document([0, 2]);
        join(&mut one);
        assert_eq!(one, document([0, 2]), "one tree");
        let mut two = document([2, 1]);
        join(&mut two);
        assert_eq!(two["scenes"][0]["nodes"], json!([3, 4]));
        assert_eq!(two["nodes"][4]["children"], json!([0, 1]));
    }
}
