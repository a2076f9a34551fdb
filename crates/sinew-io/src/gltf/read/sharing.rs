//! Primitives that share vertices. Exporters write one vertex buffer for all primitives of a mesh, with separate
//! indices.

use super::document::Document;
use super::primitive::is_line;
use gltf_json::mesh::{Mode, Primitive, Semantic};
use gltf_json::validation::Checked;
use std::collections::BTreeMap;

/// Primitives of a mesh that become one vertex range.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// Primitive indices in the mesh, increasing; never empty.
    pub(super) primitives: Vec<usize>,
    /// True if primitives of other runs use the same positions. Vertices that this run does not use then belong to
    /// others.
    pub(super) shares_vertices: bool,
}

/// Two accessors with the same key hold the same numbers.
type Stored = [u64; 6];

/// All accessors of a primitive: attributes, then targets. Line primitives are distinguished by their index.
type Key = (Vec<(String, Stored)>, Vec<Vec<(u8, Stored)>>, Option<usize>);

/// The runs of each mesh, in the order of their first primitives.
pub(super) fn runs(doc: &Document) -> Vec<Vec<Run>> {
    let mut users: BTreeMap<Stored, usize> = BTreeMap::new();
    let mut out: Vec<Vec<(Option<Stored>, Run)>> = Vec::new();
    for mesh in &doc.root.meshes {
        let mut runs: Vec<(Option<Stored>, Run)> = Vec::new();
        let mut known: BTreeMap<Key, usize> = BTreeMap::new();
        for (index, primitive) in mesh.primitives.iter().enumerate() {
            let run = *known
                .entry(key(doc, index, primitive))
                .or_insert(runs.len());
            if run == runs.len() {
                let positions = positions(doc, primitive);
                if let Some(positions) = positions {
                    *users.entry(positions).or_default() += 1;
                }
                runs.push((positions, Run::default()));
            }
            runs[run].1.primitives.push(index);
        }
        out.push(runs);
    }
    let finish = |(positions, mut run): (Option<Stored>, Run)| {
        run.shares_vertices = positions.is_some_and(|p| users[&p] > 1);
        run
    };
    out.into_iter()
        .map(|runs| runs.into_iter().map(finish).collect())
        .collect()
}

/// Positions of a primitive that is read.
fn positions(doc: &Document, primitive: &Primitive) -> Option<Stored> {
    if primitive.mode == Checked::Valid(Mode::Points) {
        return None;
    }
    let accessor = primitive
        .attributes
        .get(&Checked::Valid(Semantic::Positions));
    accessor.map(|a| stored(doc, a.value()))
}

fn key(doc: &Document, index: usize, primitive: &Primitive) -> Key {
    let attributes = primitive
        .attributes
        .iter()
        .filter_map(|(semantic, a)| match semantic {
            Checked::Valid(semantic) => Some((semantic.to_string(), stored(doc, a.value()))),
            Checked::Invalid => None,
        });
    let target = |t: &gltf_json::mesh::MorphTarget| {
        let all = (0..).zip([t.positions, t.normals, t.tangents]);
        all.filter_map(|(k, a)| Some((k, stored(doc, a?.value()))))
            .collect()
    };
    let targets = primitive.targets.iter().flatten().map(target).collect();
    let alone = match primitive.mode {
        Checked::Valid(mode) => is_line(mode) || mode == Mode::Points,
        Checked::Invalid => true,
    };
    (attributes.collect(), targets, alone.then_some(index))
}

/// Bytes of an accessor and their layout. Sparse accessors and those without bytes are distinguished by their index.
fn stored(doc: &Document, index: usize) -> Stored {
    let by_index = [0, index as u64, 0, 0, 0, 0];
    let Some(accessor) = doc.root.accessors.get(index) else {
        return by_index;
    };
    let (Some(view), None) = (accessor.buffer_view, &accessor.sparse) else {
        return by_index;
    };
    let (Checked::Valid(component), Checked::Valid(kind)) =
        (accessor.component_type, accessor.type_)
    else {
        return by_index;
    };
    [
        view.value() as u64 + 1,
        accessor.byte_offset.unwrap_or_default().0,
        u64::from(component.0.as_gl_enum()),
        kind.multiplicity() as u64,
        u64::from(accessor.normalized),
        accessor.count.0,
    ]
}
