//! Writes correctives into the file of their character.

use crate::geom::{Asset, Mesh, MorphTarget, Selection, Topology, Warning};
use crate::graph::to_plain_json;
use crate::io::gltf_write::{
    GraphTexts, NewTarget, TargetChange, add_morph_targets, replace_morph_targets,
};
use crate::io::{GltfSource, IoError};
use crate::play::Character;
use crate::psd::{Compression, GraphPlaces};
use std::path::Path;

/// Copies the GLB file of a character and adds morph targets with weight 0. `targets` use the vertex indices of the
/// meshes in `selection`, one after another, as in an input with that selection. Everything else in the file stays.
///
/// # Errors
/// As [`add_morph_targets`]; [`IoError::Unsupported`] if the character is not from a glTF file.
pub fn write_correctives(
    character: &Character,
    selection: &Selection,
    targets: &[MorphTarget],
    out: &Path,
) -> Result<(), IoError> {
    let source = source_of(character, "adding a morph target to")?;
    let mut new = Vec::new();
    for target in targets {
        new.extend(split(&character.asset, selection, target));
    }
    add_morph_targets(&character.path, source, &new, out)
}

/// Copies the GLB file of a character with bases instead of its correctives, and writes the graph that plays them.
/// Weights in the file are converted linearly to those of the basis targets. Everything else in the file stays. If one
/// of the files cannot be written, none appears. Warnings are about expressions of VRM that change.
///
/// # Errors
/// As [`replace_morph_targets`]; [`IoError::Unsupported`] if the character is not from a glTF file.
pub fn write_compressed(
    character: &Character,
    compression: &Compression,
    out: &Path,
    graph: GraphPlaces<'_>,
) -> Result<Vec<Warning>, IoError> {
    let source = source_of(character, "replacing morph targets of")?;
    let change = |mix: &'_ crate::psd::TargetMix| TargetChange {
        mesh: mix.mesh,
        base: &character.asset.meshes[mix.mesh],
        removed: mix.removed.clone(),
        added: mix.added.clone(),
        weights: mix.weights.clone(),
    };
    let changes: Vec<TargetChange<'_>> = compression.meshes.iter().map(change).collect();
    let embedded = graph
        .embed
        .then(|| to_plain_json("graph", &compression.graph));
    let embedded = embedded.transpose().map_err(|e| IoError::Malformed {
        path: out.to_owned(),
        location: "graph".into(),
        found: e.to_string(),
        expected: "a valid graph document".into(),
    })?;
    let graphs = GraphTexts {
        embedded: embedded.as_deref(),
        beside: graph.beside.map(|path| (path, compression.graph.as_str())),
    };
    replace_morph_targets(&character.path, source, &changes, graphs, out)
}

/// The glTF source of a character, for writers.
fn source_of<'a>(character: &'a Character, what: &str) -> Result<&'a GltfSource, IoError> {
    character
        .source
        .as_ref()
        .ok_or_else(|| IoError::Unsupported {
            path: character.path.clone(),
            location: "character".into(),
            feature: format!("{what} a file that is neither GLB nor FBX"),
            help: "convert the character to GLB".into(),
        })
}

/// The part of a target in each selected mesh. All meshes get a part, so that target indices are equal.
fn split(asset: &Asset, selection: &Selection, target: &MorphTarget) -> Vec<NewTarget> {
    let mut first = 0_usize;
    let selected = |(_, mesh): &(usize, &Mesh)| is_selected(mesh, selection);
    let meshes = asset.meshes.iter().enumerate().filter(selected);
    meshes
        .map(|(index, mesh)| {
            let range = first..first + mesh.vertex_count();
            first = range.end;
            let mut part = MorphTarget {
                name: target.name.clone(),
                ..MorphTarget::default()
            };
            for (&v, &delta) in target.vertices.iter().zip(&target.positions) {
                let inside = range
                    .contains(&(v as usize))
                    .then(|| v as usize - range.start);
                if let Some(v) = inside.and_then(|v| u32::try_from(v).ok()) {
                    part.vertices.push(v);
                    part.positions.push(delta);
                }
            }
            NewTarget {
                mesh: index,
                target: part,
            }
        })
        .collect()
}

/// The rule of merging, applied to a mesh without vertices.
pub(super) fn is_selected(mesh: &Mesh, selection: &Selection) -> bool {
    let alone = Asset {
        meshes: vec![Mesh::new(&mesh.name, Topology::default(), Vec::new())],
        ..Asset::default()
    };
    alone.merged(selection).is_ok()
}
