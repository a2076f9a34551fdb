//! Setup results as bytes: a map from node name to that node's bytes.

use crate::bind::InputBinding;
use crate::plan::Plan;
use crate::sealed::{Broken, Form};
use sinew_deform::ParameterValue;
use sinew_geom::{Attribute, Mesh, Rig};
use sinew_vat::animation::VertexAnimation;
use std::collections::BTreeMap;

/// 2: rest meshes are the authored ones, whatever nodes stand in front.
const FORM: Form = Form {
    magic: *b"SNWC",
    version: 2,
};

/// Why saved setup results were refused.
#[derive(Debug, thiserror::Error, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheError {
    /// Not a cache file, or of another version.
    #[error("this is not a setup cache of format {}", FORM.version)]
    Format,
    /// The bytes were changed or cut.
    #[error("the setup cache is damaged")]
    Damaged,
    /// It belongs to another graph, asset or set of parameters.
    #[error("the setup cache belongs to other content; it must be made again")]
    Stale,
}

impl From<Broken> for CacheError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Format => Self::Format,
            Broken::Damaged => Self::Damaged,
            Broken::Stale => Self::Stale,
        }
    }
}

/// Decoded setup results.
#[derive(Debug, Default)]
pub(crate) struct Saved {
    pub(crate) blobs: BTreeMap<String, Vec<u8>>,
}

pub(crate) fn encode(key: &[u8; 32], blobs: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    FORM.seal(key, blobs)
}

pub(crate) fn decode(bytes: &[u8], key: &[u8; 32]) -> Result<Saved, CacheError> {
    let blobs = FORM.open(bytes, key)?;
    Ok(Saved { blobs })
}

/// Hash of everything that setup results depend on.
pub(crate) fn content_key(
    plan: &Plan,
    inputs: &[InputBinding],
    parameters: &[(&str, ParameterValue)],
) -> [u8; 32] {
    let mut h = blake3::Hasher::new();
    h.update(env!("CARGO_PKG_VERSION").as_bytes());
    for node in plan.nodes() {
        text(
            &mut h,
            &format!(
                "{}|{}|{:?}|{:?}|{:?}",
                node.name,
                node.desc.name,
                node.desc.restore.map(|r| r.version),
                node.inputs,
                node.parameters
            ),
        );
    }
    for kernel in plan.nodes().iter().filter_map(|n| n.kernel.as_ref()) {
        text(&mut h, kernel.text());
    }
    for p in plan.parameters() {
        text(&mut h, &format!("{}|{:?}", p.name, p.default));
    }
    for (name, value) in parameters {
        text(&mut h, &format!("{name}|{value:?}"));
    }
    for input in inputs {
        match input {
            InputBinding::Mesh(mesh) => hash_mesh(&mut h, mesh),
            InputBinding::Pose(rig) => hash_rig(&mut h, rig),
            InputBinding::Values => {}
            InputBinding::VertexAnimation(animation) => hash_animation(&mut h, animation),
        }
    }
    *h.finalize().as_bytes()
}

/// Length first, so that neighbouring texts cannot run into each other.
fn text(h: &mut blake3::Hasher, t: &str) {
    h.update(&(t.len() as u64).to_le_bytes());
    h.update(t.as_bytes());
}

fn raw<T: bytemuck::Pod>(h: &mut blake3::Hasher, v: &[T]) {
    h.update(&(v.len() as u64).to_le_bytes());
    h.update(bytemuck::cast_slice(v));
}

fn hash_animation(h: &mut blake3::Hasher, animation: &VertexAnimation) {
    text(h, &format!("{:?}", animation.manifest()));
    for texture in 0..animation.manifest().textures.len() {
        raw(h, animation.texels(texture));
    }
    raw(h, animation.lookup());
}

fn hash_mesh(h: &mut blake3::Hasher, mesh: &Mesh) {
    raw(h, &mesh.positions);
    raw(h, mesh.topology.triangles());
    if let Some(strands) = mesh.topology.strands() {
        raw(h, strands.offsets());
        raw(h, strands.guides());
    }
    raw(h, mesh.normals.as_deref().unwrap_or_default());
    raw(h, mesh.tangents.as_deref().unwrap_or_default());
    for uv in &mesh.uvs {
        raw(h, uv);
    }
    for c in &mesh.colors {
        raw(h, c);
    }
    for (name, a) in &mesh.attributes {
        text(h, name);
        match a {
            Attribute::Scalar(v) => raw(h, v),
            Attribute::Vec2(v) => raw(h, v),
            Attribute::Vec3(v) => raw(h, v),
            Attribute::Vec4(v) => raw(h, v),
        }
    }
    if let Some(i) = &mesh.influences {
        raw(h, i.offsets());
        raw(h, i.joints());
        raw(h, i.weights());
    }
    for t in &mesh.morph_targets {
        raw(h, &t.vertices);
        raw(h, &t.positions);
        raw(h, &t.normals);
        raw(h, &t.tangents);
    }
    for t in 0..mesh.morph_targets.len() {
        h.update(&(mesh.morph_weight_index(t) as u64).to_le_bytes());
    }
}

fn hash_rig(h: &mut blake3::Hasher, rig: &Rig) {
    for j in rig.joints() {
        text(h, &format!("{}|{:?}", rig.nodes()[j.node].name, j));
    }
    h.update(&(rig.morph_weight_count() as u64).to_le_bytes());
}
