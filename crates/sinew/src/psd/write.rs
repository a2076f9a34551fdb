//! Correctives into the file that their character came from.

use crate::geom::{Asset, Mesh, MorphTarget, Selection, Topology};
use crate::io::IoError;
use crate::io::gltf_write::{NewTarget, add_morph_targets};
use crate::play::Character;
use std::path::Path;

/// Copies the GLB file of a character with further morph targets, of weight 0. `targets` count the vertices of the meshes that
/// `selection` selects, one after another, as an input of that selection does. All else in the file stays.
///
/// # Errors
/// As [`add_morph_targets`]; [`IoError::Unsupported`] where the character came from no glTF file.
pub fn write_correctives(
    character: &Character,
    selection: &Selection,
    targets: &[MorphTarget],
    out: &Path,
) -> Result<(), IoError> {
    let Some(source) = &character.source else {
        return Err(IoError::Unsupported {
            path: character.path.clone(),
            place: "character".into(),
            feature: "a new morph target in a file that is no GLB file".into(),
            help: "convert the character to GLB".into(),
        });
    };
    let mut new = Vec::new();
    for target in targets {
        new.extend(split(&character.asset, selection, target));
    }
    add_morph_targets(&character.path, source, &new, out)
}

/// The share that each selected mesh has of a target. All get one, so that their targets have the same numbers.
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

/// By the rule that merging goes by, asked about a mesh without vertices.
fn is_selected(mesh: &Mesh, selection: &Selection) -> bool {
    let alone = Asset {
        meshes: vec![Mesh::new(&mesh.name, Topology::default(), Vec::new())],
        ..Asset::default()
    };
    alone.merged(selection).is_ok()
}
