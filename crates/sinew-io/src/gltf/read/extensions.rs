//! Extensions: supported ones, ignored ones, and warnings for the others.

use super::GRAPH_EXTENSION;
use super::document::{Document, Warnings};
use crate::IoError;
use crate::gltf::source::{VRM_0, VRM_1};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const DRACO: &str = "KHR_draco_mesh_compression";
const INSTANCES: &str = "EXT_mesh_gpu_instancing";

/// Extensions that this reader supports, or that a file may require without effect on the result.
const KNOWN_EXTENSIONS: [&str; 7] = [
    "KHR_mesh_quantization",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
    "KHR_animation_pointer",
    "KHR_lights_punctual",
    "KHR_node_visibility",
    GRAPH_EXTENSION,
];

/// Families of extensions that only affect appearance. Writers copy them.
const APPEARANCE_PREFIXES: [&str; 4] = [
    "KHR_materials_",
    "KHR_texture_",
    "EXT_texture_",
    "MSFT_texture_",
];

/// Parts of names of extensions, of any vendor, that change neither geometry nor motion.
const HARMLESS_PARTS: [&str; 14] = [
    "_audio",
    "_features",
    "_lightmap",
    "_lights_",
    "_lod",
    "_materials_",
    "_metadata",
    "_node_hoverability",
    "_node_selectability",
    "_outline",
    "_packing_",
    "_techniques_webgl",
    "_texture_",
    "_xmp",
];

/// As above, by full name. Primitives that only have Draco data are an error.
const HARMLESS: [&str; 6] = [
    DRACO,
    "FB_ngon_encoding",
    "GODOT_single_root",
    VRM_0,
    VRM_1,
    "VRMC_vrm_animation",
];

/// Maximum number of names in one message.
const MOST_NAMES: usize = 8;

fn is_known(name: &str) -> bool {
    KNOWN_EXTENSIONS.contains(&name) || APPEARANCE_PREFIXES.iter().any(|p| name.starts_with(p))
}

fn unsupported(path: &Path, location: String, name: &str) -> IoError {
    let help = if name.contains("draco") {
        "export the file without Draco compression (meshopt compression is supported)"
    } else {
        "export the file without this extension"
    };
    IoError::Unsupported {
        path: path.to_owned(),
        location,
        feature: name.to_owned(),
        help: help.into(),
    }
}

pub(super) fn check_required(root: &gltf_json::Root, path: &Path) -> Result<(), IoError> {
    let mut required = root.extensions_required.iter().enumerate();
    // Without these, an avatar has its shape and its clips.
    let is_vrm = |name: &str| name == VRM_0 || name.starts_with("VRMC_");
    match required.find(|(_, name)| !is_known(name) && !is_vrm(name)) {
        None => Ok(()),
        Some((k, name)) => Err(unsupported(path, format!("extensionsRequired[{k}]"), name)),
    }
}

/// Returns an error for a primitive that only has Draco data, even if the file does not require the extension.
pub(super) fn check_compression(
    doc: &Document,
    mesh: usize,
    index: usize,
    location: &str,
) -> Result<(), IoError> {
    let extensions = &doc.json["meshes"][mesh]["primitives"][index]["extensions"];
    if extensions.get(DRACO).is_none() {
        return Ok(());
    }
    let json = &doc.root.meshes[mesh].primitives[index];
    let is_empty = |a: &gltf_json::Index<gltf_json::Accessor>| {
        let accessor = doc.root.accessors.get(a.value());
        accessor.is_some_and(|a| a.buffer_view.is_none() && a.sparse.is_none())
    };
    match json.attributes.values().chain(&json.indices).any(is_empty) {
        true => Err(unsupported(
            &doc.path,
            format!("{location}.extensions"),
            DRACO,
        )),
        false => Ok(()),
    }
}

/// Warns once for each unsupported extension that may move or add geometry, with the nodes that use it.
pub(super) fn warn_of_unread(doc: &Document, warnings: &mut Warnings) {
    let is_harmless = |name: &str| {
        // Springs have a warning of their own.
        HARMLESS.contains(&name)
            || name.starts_with("VRMC_springBone")
            || HARMLESS_PARTS.iter().any(|part| name.contains(part))
    };
    let used = doc.root.extensions_used.iter().map(String::as_str);
    let unread: BTreeSet<&str> = used
        .filter(|name| !is_known(name) && !is_harmless(name))
        .collect();
    let mut carriers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (k, node) in doc.json["nodes"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        for (name, content) in node["extensions"].as_object().into_iter().flatten() {
            if let Some(name) = unread.get(name.as_str()) {
                let mut node = node["name"]
                    .as_str()
                    .map_or_else(|| format!("node_{k}"), str::to_owned);
                node = format!("'{node}'");
                if *name == INSTANCES {
                    node = format!("{node} ({} instances)", instances(doc, content));
                }
                carriers.entry(name).or_default().push(node);
            }
        }
    }
    for name in unread {
        let nodes = carriers.get(name).map_or(&[][..], Vec::as_slice);
        let of_nodes = match nodes.len() {
            0 => String::new(),
            1 => format!(" of node {}", nodes[0]),
            n if n <= MOST_NAMES => format!(" of nodes {}", nodes.join(", ")),
            n => format!(
                " of nodes {} and {} more",
                nodes[..MOST_NAMES].join(", "),
                n - MOST_NAMES
            ),
        };
        let (what, help) = if name == INSTANCES {
            ("each mesh is read once", "export the instances as nodes")
        } else {
            (
                "its geometry or motion is missing",
                "convert it to nodes, meshes and animations before you export the file",
            )
        };
        let message = format!("the extension {name}{of_nodes} is not supported: {what}; {help}");
        warnings.push("extension_not_read", message);
    }
}

/// Number of instances of a node: the element count of its largest accessor.
fn instances(doc: &Document, extension: &Value) -> u64 {
    let accessors = extension["attributes"].as_object().into_iter().flatten();
    let accessors = accessors.filter_map(|(_, a)| usize::try_from(a.as_u64()?).ok());
    let counts = accessors.filter_map(|a| Some(doc.root.accessors.get(a)?.count.0));
    counts.max().unwrap_or(0)
}
