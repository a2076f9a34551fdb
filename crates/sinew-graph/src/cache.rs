//! Setup results as bytes. The key of each node hashes everything that its setup depends on.

use crate::input::InputBinding;
use crate::plan::{ParameterSource, Plan};
use crate::program::Link;
use crate::sealed::{Broken, Form};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sinew_deform::{NodeDesc, ParameterValue, Phase};
use sinew_geom::{Attribute, Mesh, MeshPart, MorphTarget, Rig};
use sinew_vat::animation::VertexAnimation;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

/// 3: each node has a key of its own.
const FORM: Form = Form {
    magic: *b"SNWC",
    version: 3,
};
/// The file as a whole has no key.
const NO_KEY: Key = [0; 32];

/// A hash of content.
pub(crate) type Key = [u8; 32];

/// Why saved setup results cannot be used.
#[derive(Debug, thiserror::Error, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheError {
    /// The bytes are not a setup cache, or have another version.
    #[error("this is not a setup cache of format {}", FORM.version)]
    Format,
    /// The bytes were modified or truncated.
    #[error("the setup cache is damaged")]
    Damaged,
}

impl From<Broken> for CacheError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Format => Self::Format,
            // All have the same key.
            Broken::Damaged | Broken::Stale => Self::Damaged,
        }
    }
}

/// How much of setup came from a cache. Counts the nodes whose results can be cached, including those that the binder added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheUse {
    /// Nodes restored from the cache.
    pub restored: usize,
    /// Nodes that were not in the cache and were bound. If there are any, save the cache again.
    pub made: usize,
}

/// Facts about the setup of a node, besides its bound node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    /// Update parameters whose first value setup read.
    pub(crate) reads: Vec<String>,
    /// Warnings of setup.
    pub(crate) warnings: Vec<String>,
    /// Whether the cache had an entry for it.
    pub(crate) is_known: bool,
    /// Whether its results came from the cache.
    pub(crate) is_restored: bool,
}

/// The setup of one node.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Hash of everything that setup depends on, except values of update parameters.
    base: Key,
    /// Update parameters that setup read nevertheless.
    pub(crate) reads: Vec<String>,
    /// Hash of the base and the values of `reads`.
    key: Key,
    /// Input of `restore`; `None` if this setup has nothing to save.
    pub(crate) results: Option<Bytes>,
    /// Warnings of setup.
    pub(crate) warnings: Vec<String>,
}

/// Bytes that are read and written as a whole, not one by one.
#[derive(Clone, Debug)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Bytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Reader)
    }
}

/// Decoded setup results.
#[derive(Debug, Default)]
pub(crate) struct Saved(Vec<Entry>);

impl Saved {
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, CacheError> {
        Ok(Self(FORM.open(bytes, &NO_KEY)?))
    }

    /// The entry for a setup, if there is one.
    pub(crate) fn find(&self, setup: &NodeSetup<'_>, contents: &Contents<'_>) -> Option<&Entry> {
        let base = setup.base(contents);
        let mut same = self.0.iter().filter(|e| e.base == base);
        same.find(|e| e.key == setup.key(&base, &e.reads))
    }
}

/// Serializes entries in the order of their keys, without duplicates.
pub(crate) fn encode(entries: impl Iterator<Item = Entry>) -> Vec<u8> {
    let by_key: BTreeMap<Key, Entry> = entries.map(|e| (e.key, e)).collect();
    FORM.seal(&NO_KEY, &by_key.into_values().collect::<Vec<_>>())
}

/// Merges several caches ([`BoundGraph::setup_cache`](crate::BoundGraph::setup_cache)) into one.
///
/// # Errors
/// [`CacheError`] if one of them is damaged or not a setup cache.
pub fn join_setup_caches(caches: &[&[u8]]) -> Result<Vec<u8>, CacheError> {
    let saved = caches.iter().map(|bytes| Saved::decode(bytes));
    let saved = saved.collect::<Result<Vec<_>, _>>()?;
    Ok(encode(saved.into_iter().flat_map(|s| s.0)))
}

/// Everything that the setup of a node depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeSetup<'a> {
    pub(crate) desc: &'static NodeDesc,
    pub(crate) links: &'a [Option<Link>],
    pub(crate) sources: &'a [ParameterSource],
    pub(crate) values: &'a [ParameterValue],
}

impl NodeSetup<'_> {
    /// The cache entry of this setup.
    pub(crate) fn entry(
        &self,
        contents: &Contents<'_>,
        kept: &Kept,
        results: Option<Vec<u8>>,
    ) -> Entry {
        let base = self.base(contents);
        Entry {
            key: self.key(&base, &kept.reads),
            base,
            reads: kept.reads.clone(),
            results: results.map(Bytes),
            warnings: kept.warnings.clone(),
        }
    }

    /// Depends neither on the node's name nor on its surroundings nor on update values. Whether an update value is fixed counts.
    fn base(&self, contents: &Contents<'_>) -> Key {
        let mut h = blake3::Hasher::new();
        text(&mut h, env!("CARGO_PKG_VERSION"));
        text(&mut h, self.desc.name);
        text(
            &mut h,
            &format!("{:?}", self.desc.restore.map(|r| r.version)),
        );
        let parameters = self.desc.parameters.iter().zip(self.sources);
        for ((desc, source), value) in parameters.zip(self.values) {
            let is_fixed = matches!(source, ParameterSource::Constant(_));
            text(&mut h, &format!("{}|{is_fixed}", desc.name));
            if desc.phase == Phase::Setup {
                text(&mut h, &format!("{value:?}"));
            }
        }
        for link in self.links {
            let (what, content) = match link {
                Some(Link::Mesh(mesh)) => ("mesh".to_owned(), contents.of_mesh(*mesh)),
                Some(Link::Pose(input)) => ("pose".to_owned(), contents.of_input(*input)),
                Some(Link::VertexAnimation(i)) => ("animation".to_owned(), contents.of_input(*i)),
                other => (format!("{other:?}"), NO_KEY),
            };
            text(&mut h, &what);
            h.update(&content);
        }
        *h.finalize().as_bytes()
    }

    fn key(&self, base: &Key, reads: &[String]) -> Key {
        let mut h = blake3::Hasher::new();
        h.update(base);
        let values = self.desc.parameters.iter().zip(self.values);
        for name in reads {
            text(&mut h, name);
            let value = values.clone().find(|(desc, _)| desc.name == name);
            text(&mut h, &format!("{:?}", value.map(|v| v.1)));
        }
        *h.finalize().as_bytes()
    }
}

/// Hashes of the bound inputs, each computed on first use.
#[derive(Debug)]
pub(crate) struct Hashes(Vec<OnceLock<Key>>);

impl Hashes {
    pub(crate) fn new(inputs: &[InputBinding]) -> Self {
        Self(inputs.iter().map(|_| OnceLock::new()).collect())
    }
}

/// The inputs and their hashes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contents<'a> {
    pub(crate) inputs: &'a [InputBinding],
    pub(crate) hashes: &'a Hashes,
}

impl Contents<'_> {
    fn of_input(&self, input: usize) -> Key {
        match (self.inputs.get(input), self.hashes.0.get(input)) {
            (Some(binding), Some(hash)) => *hash.get_or_init(|| hash_input(binding)),
            _ => NO_KEY,
        }
    }

    /// Hash of the bound mesh with that index.
    fn of_mesh(&self, mesh: usize) -> Key {
        let is_mesh = |i: &usize| self.inputs[*i].mesh().is_some();
        let input = (0..self.inputs.len()).filter(is_mesh).nth(mesh);
        input.map_or(NO_KEY, |input| self.of_input(input))
    }
}

/// Hash of everything that a bound graph depends on.
pub(crate) fn content_key(
    plan: &Plan,
    contents: &Contents<'_>,
    parameters: &[(String, ParameterValue)],
) -> Key {
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
    for (input, binding) in contents.inputs.iter().enumerate() {
        h.update(&contents.of_input(input));
        h.update(&[u8::from(binding.is_animated_mesh())]);
    }
    *h.finalize().as_bytes()
}

fn hash_input(input: &InputBinding) -> Key {
    let mut h = blake3::Hasher::new();
    match input {
        // Setup results of nodes are the same for both.
        InputBinding::Mesh(mesh) | InputBinding::AnimatedMesh(mesh) => hash_mesh(&mut h, mesh),
        InputBinding::Pose(rig) => hash_rig(&mut h, rig),
        InputBinding::Values => {}
        InputBinding::VertexAnimation(animation) => hash_animation(&mut h, animation),
    }
    *h.finalize().as_bytes()
}

/// The length comes first, so that adjacent texts cannot merge.
fn text(h: &mut blake3::Hasher, t: &str) {
    h.update(&(t.len() as u64).to_le_bytes());
    h.update(t.as_bytes());
}

fn raw<T: bytemuck::Pod>(h: &mut blake3::Hasher, v: &[T]) {
    h.update(&(v.len() as u64).to_le_bytes());
    h.update(bytemuck::cast_slice(v));
}

fn count(h: &mut blake3::Hasher, n: usize) {
    h.update(&(n as u64).to_le_bytes());
}

fn hash_animation(h: &mut blake3::Hasher, animation: &VertexAnimation) {
    text(h, &format!("{:?}", animation.manifest()));
    for texture in 0..animation.manifest().textures.len() {
        raw(h, animation.texels(texture));
    }
    raw(h, animation.lookup());
}

/// Hashes a mesh, except its name and the file indices of its parts, which no setup reads.
fn hash_mesh(h: &mut blake3::Hasher, mesh: &Mesh) {
    let Mesh {
        name: _,
        data_name: _,
        topology,
        positions,
        normals,
        tangents,
        uvs,
        colors,
        attributes,
        influences,
        morph_targets,
        morph_offset: _,
        morph_weight_indices: _,
        parts,
        // No node reads them.
        points: _,
    } = mesh;
    raw(h, positions);
    raw(h, topology.triangles());
    count(h, topology.vertex_count());
    if let Some(strands) = topology.strands() {
        raw(h, strands.offsets());
        raw(h, strands.guides());
    }
    // The count distinguishes missing from empty.
    count(
        h,
        usize::from(normals.is_some()) + 2 * usize::from(tangents.is_some()),
    );
    raw(h, normals.as_deref().unwrap_or_default());
    raw(h, tangents.as_deref().unwrap_or_default());
    count(h, uvs.len());
    uvs.iter().for_each(|uv| raw(h, uv));
    count(h, colors.len());
    colors.iter().for_each(|c| raw(h, c));
    count(h, attributes.len());
    for (name, a) in attributes {
        text(h, name);
        match a {
            Attribute::Scalar(v) => raw(h, v),
            Attribute::Vec2(v) => raw(h, v),
            Attribute::Vec3(v) => raw(h, v),
            Attribute::Vec4(v) => raw(h, v),
        }
    }
    count(h, usize::from(influences.is_some()));
    if let Some(i) = influences {
        raw(h, i.offsets());
        raw(h, i.joints());
        raw(h, i.weights());
    }
    hash_targets(h, morph_targets);
    for t in 0..morph_targets.len() {
        count(h, mesh.morph_weight_index(t));
    }
    for MeshPart {
        name,
        source_mesh: _,
        material: _,
        vertices,
        triangles,
        flat_shaded,
    } in parts
    {
        text(
            h,
            &format!("{name}|{vertices:?}|{triangles:?}|{flat_shaded}"),
        );
    }
}

fn hash_targets(h: &mut blake3::Hasher, targets: &[MorphTarget]) {
    count(h, targets.len());
    for MorphTarget {
        name,
        vertices,
        positions,
        normals,
        tangents,
    } in targets
    {
        text(h, name);
        raw(h, vertices);
        raw(h, positions);
        raw(h, normals);
        raw(h, tangents);
    }
}

fn hash_rig(h: &mut blake3::Hasher, rig: &Rig) {
    count(h, rig.nodes().len());
    for node in rig.nodes() {
        text(h, &format!("{node:?}"));
    }
    for joint in rig.joints() {
        text(h, &format!("{joint:?}"));
    }
    count(h, rig.morph_weight_count());
}
