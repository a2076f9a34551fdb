//! Reader of FBX, binary and ASCII, with the library `ufbx`.
//!
//! An FBX file becomes a glTF document in memory, and the glTF reader reads that. Thus a character has the same
//! conventions whichever of the two files it comes from, and every writer has a document with materials to copy or edit.
//!
//! | FBX | document |
//! |---|---|
//! | nodes with pivots, pre- and post-rotation, rotation orders, inherit modes | nodes with translation, rotation, scale |
//! | units and axes | metres, Y up, right-handed: nodes of the scene are rotated, lengths scaled |
//! | bind pose of clusters | rest pose of the nodes; clips have keys where the pose of the file differs |
//! | mesh nodes | one mesh each; corners with equal attributes share a vertex; faces sorted by material |
//! | skins | joints and weights, any number; vertices without weights follow the node of the mesh |
//! | blend shapes, in-betweens | morph targets; the curve of the channel becomes piecewise linear weights |
//! | takes | clips at the times of the file, cut to the range of the take |
//! | materials | metallic-roughness materials |
//!
//! Source for the transform of a node: Autodesk, *FBX SDK Help*, "Computing transformation matrices".

mod clips;
mod curves;
mod document;
mod geometry;
mod load;
mod materials;
mod meshes;
mod nodes;
mod shapes;
mod skins;
#[cfg(test)]
mod tests;
mod unread;
mod words;

use crate::fault::cannot_read;
use crate::{GltfFile, IoError, polygon, read_gltf_bytes};
use document::Document;
use meshes::Faces;
use sinew_geom::{Mesh, Polygons, Warning};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Reads an FBX file, and the textures beside it.
///
/// # Errors
/// [`IoError`] with the object or the byte offset of invalid data.
pub fn read_fbx(path: &Path) -> Result<GltfFile, IoError> {
    let bytes = std::fs::read(path).map_err(cannot_read(path))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    read_fbx_bytes(&bytes, path.parent(), &name)
}

/// Reads an FBX file from memory. `name` is its file name, for errors and as the asset name. `base_dir` is the folder of
/// its textures.
///
/// # Errors
/// As [`read_fbx`].
pub fn read_fbx_bytes(
    bytes: &[u8],
    base_dir: Option<&Path>,
    name: &str,
) -> Result<GltfFile, IoError> {
    let mut made = convert(bytes, base_dir, name)?;
    let glb = std::mem::take(&mut made.glb);
    let mut file = read_gltf_bytes(glb, base_dir, name).map_err(|e| made.words.error(e))?;
    for (at, faces) in faces_of(&file, &made.meshes) {
        restore(&mut file.asset.meshes[at], faces);
    }
    for mut warning in std::mem::take(&mut file.asset.warnings) {
        warning.message = made.words.text(&warning.message);
        made.warnings.push(warning);
    }
    file.asset.warnings = made.warnings;
    Ok(file)
}

/// The document that [`read_fbx`] reads, as a GLB file.
pub(crate) fn glb(path: &Path) -> Result<Vec<u8>, IoError> {
    let bytes = std::fs::read(path).map_err(cannot_read(path))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(convert(&bytes, path.parent(), &name)?.glb)
}

/// A file as a document.
struct Made {
    glb: Vec<u8>,
    meshes: Vec<meshes::Written>,
    warnings: Vec<Warning>,
    words: words::Words,
}

fn convert(bytes: &[u8], base_dir: Option<&Path>, name: &str) -> Result<Made, IoError> {
    let path = base_dir.map_or_else(|| name.into(), |dir| dir.join(name));
    let scene = load::scene(bytes, &path)?;
    let mut doc = Document::new(&path, bytes.len())?;
    load::warn(&scene, &mut doc.warnings);
    unread::warn(&scene, &mut doc.warnings);
    let rest = nodes::write(&mut doc, &scene)?;
    materials::write(&mut doc, &scene, base_dir);
    let meshes = meshes::write(&mut doc, &scene)?;
    clips::write(&mut doc, &scene, &rest, &meshes)?;
    Ok(Made {
        words: words::Words::of(&doc.out.root),
        warnings: std::mem::take(&mut doc.warnings),
        glb: doc.glb()?,
        meshes,
    })
}
/// Index in the asset and faces of each mesh.
fn faces_of<'m>(file: &GltfFile, meshes: &'m [meshes::Written]) -> Vec<(usize, &'m Faces)> {
    let of_node: BTreeMap<usize, &Faces> = meshes.iter().map(|m| (m.node, &m.faces)).collect();
    let nodes = file.document.node_of_mesh.iter().enumerate();
    nodes
        .filter_map(|(at, node)| Some((at, *of_node.get(node)?)))
        .collect()
}

/// Gives a mesh the polygons and points of the file, which glTF does not have.
fn restore(mesh: &mut Mesh, faces: &Faces) {
    mesh.points.clone_from(&faces.points);
    let Some(polygons) = faces.topology.polygons() else {
        return;
    };
    if mesh.topology.triangles() == faces.topology.triangles() {
        mesh.topology = faces.topology.clone();
        return;
    }
    // A node that mirrors changes the winding of its mesh.
    let mut mirrored = polygons.clone();
    reverse(&mut mirrored);
    let mut ignored = Vec::new();
    if let Ok(topology) = polygon::topology(&mesh.positions, mirrored, &mut ignored)
        && topology.triangles().len() == mesh.topology.triangles().len()
    {
        mesh.topology = Arc::new(topology);
    }
}

/// Reverses the corners of each face.
fn reverse(polygons: &mut Polygons) {
    for face in 0..polygons.len() {
        let range = polygons.offsets[face] as usize..polygons.offsets[face + 1] as usize;
        polygons.indices[range].reverse();
    }
}
