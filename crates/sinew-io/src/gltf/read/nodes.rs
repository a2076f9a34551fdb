//! The node tree: parents first, one parent each, no cycles.

use super::document::Document;
use crate::IoError;
use sinew_geom::nalgebra::Quaternion;
use sinew_geom::{Affine, LocalTransform, Node, Quat, Trs, Vec3};

/// Nodes in rig order, and the mapping between file order and rig order.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// Rig index of each file node.
    pub(super) rig_from_file: Vec<usize>,
    /// File index of each rig node.
    pub(super) file_from_rig: Vec<usize>,
    /// Rest transform of each rig node.
    pub(super) scene_from_node: Vec<Affine<f64>>,
    /// Number of ancestors of each rig node.
    pub(super) depth: Vec<usize>,
    /// True for each rig node that the scene shows.
    pub(super) in_scene: Vec<bool>,
}

pub(super) fn read(doc: &Document) -> Result<Tree, IoError> {
    let parents = parents(doc)?;
    let file_from_rig = parents_first(doc, &parents)?;
    let mut rig_from_file = vec![0; file_from_rig.len()];
    for (rig, &file) in file_from_rig.iter().enumerate() {
        rig_from_file[file] = rig;
    }
    let mut tree = Tree {
        rig_from_file,
        ..Tree::default()
    };
    for &file in &file_from_rig {
        let node = read_node(doc, file, parents[file].map(|p| tree.rig_from_file[p]))?;
        let local = node.local.to_affine();
        let scene = match node.parent {
            Some(p) => tree.scene_from_node[p] * local,
            None => local,
        };
        let depth = node.parent.map_or(0, |p| tree.depth[p] + 1);
        tree.depth.push(depth);
        tree.scene_from_node.push(scene);
        tree.nodes.push(node);
    }
    tree.file_from_rig = file_from_rig;
    tree.in_scene = in_scene(doc, &tree)?;
    Ok(tree)
}

fn parents(doc: &Document) -> Result<Vec<Option<usize>>, IoError> {
    let nodes = &doc.root.nodes;
    let mut parents: Vec<Option<usize>> = vec![None; nodes.len()];
    for (parent, node) in nodes.iter().enumerate() {
        for (k, child) in node.children.iter().flatten().enumerate() {
            let location = || format!("nodes[{parent}].children[{k}]");
            let child = child.value();
            let Some(slot) = parents.get_mut(child) else {
                return Err(doc.no_such(&location(), "nodes", child, nodes.len()));
            };
            if let Some(other) = slot.replace(parent) {
                return Err(doc.malformed(
                    location(),
                    format!("nodes[{child}], which is already a child of nodes[{other}]"),
                    "one parent per node",
                ));
            }
        }
    }
    Ok(parents)
}

/// File order if parents come first in it, else ordered by depth.
fn parents_first(doc: &Document, parents: &[Option<usize>]) -> Result<Vec<usize>, IoError> {
    let mut order: Vec<usize> = (0..parents.len())
        .filter(|&n| parents[n].is_none())
        .collect();
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        let children = doc.root.nodes[node].children.iter().flatten();
        order.extend(children.map(|c| c.value()));
        next += 1;
    }
    if order.len() < parents.len() {
        // With one parent each, nodes that no root reaches are below a cycle.
        let mut reached = vec![false; parents.len()];
        order.iter().for_each(|&n| reached[n] = true);
        let lost = reached.iter().position(|r| !r).unwrap_or(0);
        let mut node = lost;
        for _ in 0..parents.len() {
            node = parents[node].unwrap_or(node);
        }
        return Err(doc.malformed(
            format!("nodes[{node}].children"),
            "a cycle: the node is its own ancestor",
            "a tree of nodes",
        ));
    }
    let sorted = (0..parents.len()).all(|n| parents[n].is_none_or(|p| p < n));
    if sorted {
        order = (0..parents.len()).collect();
    }
    Ok(order)
}

fn read_node(doc: &Document, file: usize, parent: Option<usize>) -> Result<Node, IoError> {
    let json = &doc.root.nodes[file];
    let local = match &json.matrix {
        Some(m) => LocalTransform::Matrix(Affine::from_columns(&m.map(f64::from))),
        None => LocalTransform::Trs(trs(json)),
    };
    if !local.to_affine().is_finite() {
        return Err(doc.malformed(
            format!("nodes[{file}]"),
            "a transform that is not finite",
            "finite numbers",
        ));
    }
    Ok(Node {
        name: json.name.clone().unwrap_or_else(|| format!("node_{file}")),
        parent,
        local,
        morph_weights: morph_weights(doc, file)?,
        morph_offset: 0,
    })
}

fn trs(json: &gltf_json::Node) -> Trs {
    let vec3 = |v: [f32; 3]| Vec3::from(v.map(f64::from));
    let rotation = json.rotation.map_or_else(Quat::identity, |q| {
        let [x, y, z, w] = q.0.map(f64::from);
        Quat::try_new(Quaternion::new(w, x, y, z), 1e-12).unwrap_or_else(Quat::identity)
    });
    Trs {
        translation: json.translation.map_or_else(Vec3::zeros, vec3),
        rotation,
        scale: json.scale.map_or_else(|| Vec3::repeat(1.0), vec3),
    }
}

/// Default morph weights of a node: its own, else those of the mesh, else zeros.
fn morph_weights(doc: &Document, file: usize) -> Result<Vec<f32>, IoError> {
    let node = &doc.root.nodes[file];
    let Some(mesh) = node.mesh else {
        return Ok(Vec::new());
    };
    let location = format!("nodes[{file}].mesh");
    let Some(mesh_json) = doc.root.meshes.get(mesh.value()) else {
        return Err(doc.no_such(&location, "meshes", mesh.value(), doc.root.meshes.len()));
    };
    let targets = |p: &gltf_json::mesh::Primitive| p.targets.as_ref().map_or(0, Vec::len);
    let count = mesh_json.primitives.first().map_or(0, targets);
    // Nodes that share a mesh each have their own weights.
    doc.spend(&location, count, size_of::<f32>())?;
    let (location, weights) = match (&node.weights, &mesh_json.weights) {
        (Some(w), _) => (format!("nodes[{file}].weights"), w),
        (None, Some(w)) => (format!("meshes[{}].weights", mesh.value()), w),
        (None, None) => return Ok(vec![0.0; count]),
    };
    if weights.len() != count {
        return Err(doc.malformed(
            location,
            format!("{} weights", weights.len()),
            format!("{count}, one per morph target"),
        ));
    }
    if weights.iter().any(|w| !w.is_finite()) {
        return Err(doc.malformed(location, "a weight that is not finite", "finite numbers"));
    }
    Ok(weights.clone())
}

/// Nodes of the default scene, or of the first scene, or all nodes without scenes.
fn in_scene(doc: &Document, tree: &Tree) -> Result<Vec<bool>, IoError> {
    let root = &doc.root;
    if root.scenes.is_empty() {
        return Ok(vec![true; tree.nodes.len()]);
    }
    let index = root.scene.map_or(0, |s| s.value());
    let Some(scene) = root.scenes.get(index) else {
        return Err(doc.no_such("scene", "scenes", index, root.scenes.len()));
    };
    let mut shown = vec![false; tree.nodes.len()];
    for (k, node) in scene.nodes.iter().enumerate() {
        let Some(&rig) = tree.rig_from_file.get(node.value()) else {
            let location = format!("scenes[{index}].nodes[{k}]");
            return Err(doc.no_such(&location, "nodes", node.value(), root.nodes.len()));
        };
        shown[rig] = true;
    }
    for n in 0..shown.len() {
        shown[n] |= tree.nodes[n].parent.is_some_and(|p| shown[p]);
    }
    Ok(shown)
}
