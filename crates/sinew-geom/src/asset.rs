//! The content of one file.

use crate::{Clip, Expression, Mesh, MeshPart, Rig, Strands, Topology, smooth_normals};
use std::sync::Arc;

/// A problem in a file that was repaired or ignored, reported once with a count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Stable short name for programs, for example `weights_not_normalised`.
    pub code: &'static str,
    /// Message: what was found, how often, and what was done.
    pub message: String,
}

/// A sequence of meshes, one per frame. The topology may change from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct MeshSequence {
    /// One mesh per frame.
    /// In playing order.
    pub frames: Vec<Mesh>,
    /// Frame number of each mesh, as in the file names.
    /// As long as `frames`.
    pub numbers: Vec<i64>,
}

/// A bone that every humanoid has, by its VRM name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HumanoidBone {
    /// Name in VRM, such as `hips` or `leftUpperArm`.
    pub name: String,
    /// Index in [`Rig::nodes`].
    pub node: usize,
}

/// The validated content of one file: meshes, rig, clips.
///
/// A minor version may add fields: end a literal with `..Asset::default()`.
#[derive(Clone, Debug, Default)]
pub struct Asset {
    /// File stem.
    pub name: String,
    /// One mesh for each node that carries one.
    pub meshes: Vec<Mesh>,
    /// Node that carries each of `meshes`, as an index in [`Rig::nodes`]. Empty if the file has no such nodes. Writers put a mesh there; it
    /// does not move the mesh, which the joints do.
    pub mesh_nodes: Vec<usize>,
    /// Hair and other strands: meshes of strands instead of triangles.
    pub strands: Vec<Mesh>,
    /// Node tree and joints.
    pub rig: Arc<Rig>,
    /// Whether the rig has only joint names. Meshes and strands then need joints with these names in another file.
    pub joints_are_names: bool,
    /// Animations.
    pub clips: Vec<Clip>,
    /// Facial expressions of a VRM character.
    pub expressions: Vec<Expression>,
    /// Humanoid bones of a VRM character.
    pub humanoid: Vec<HumanoidBone>,
    /// The numbered sequence that the file is a part of, if any.
    pub sequence: Option<MeshSequence>,
    /// The deformer graph embedded in the file, as JSON text.
    pub graph: Option<String>,
    /// Repairs made while reading.
    pub warnings: Vec<Warning>,
}

/// Which meshes of an asset to use.
/// Names are case-sensitive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selection {
    /// All meshes, merged in file order.
    #[default]
    All,
    /// Meshes whose name matches; `*` matches any characters.
    Named(String),
}

impl Selection {
    /// Indices of the selected meshes, in file order. Meshes are found by name, else by the name of their data.
    pub fn of(&self, all: &[Mesh]) -> Vec<usize> {
        let Self::Named(pattern) = self else {
            return (0..all.len()).collect();
        };
        let named = |name: fn(&Mesh) -> &str| -> Vec<usize> {
            let fits = |i: &usize| wildcard_match(pattern, name(&all[*i]));
            (0..all.len()).filter(fits).collect()
        };
        let by_name = named(|m| &m.name);
        match by_name.is_empty() {
            true => named(|m| &m.data_name),
            false => by_name,
        }
    }
}

/// Why no mesh could be selected.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SelectionError {
    /// The asset has nothing of that kind.
    #[error("{asset} has no {what}")]
    Nothing {
        /// Name of the asset.
        asset: String,
        /// "mesh" or "strands".
        what: &'static str,
    },
    /// No name matches.
    #[error("no {what} of {asset} {} '{pattern}'; {}", if .pattern.contains('*') { "matches" } else { "has the name" }, crate::names::instead_of(.pattern, .found.iter().map(String::as_str)))]
    NoMatch {
        /// Name of the asset.
        asset: String,
        /// "mesh" or "strands".
        what: &'static str,
        /// Requested name.
        pattern: String,
        /// All names.
        found: Vec<String>,
    },
    /// Together the meshes have more vertices than 32-bit indices can address.
    #[error("the selected meshes have {found} vertices, but at most {allowed} can be indexed")]
    TooManyVertices {
        /// Total number of vertices.
        found: usize,
        /// The limit.
        allowed: usize,
    },
}

impl Asset {
    /// Merges the selected meshes into one, with vertices in file order. Attributes that only some meshes have are dropped. Dropped normals
    /// are recomputed when a node or output needs them.
    /// A single selected mesh is cloned without changes. For several meshes:
    ///
    /// | data | merged |
    /// |---|---|
    /// | texture coordinate sets, colour sets | as many as any mesh has; missing ones are 0, and white |
    /// | influences | kept if all meshes have some |
    /// | morph targets | all, in the order of their weights |
    /// | user attributes | kept if all meshes have them in the same shape |
    /// | polygons, point indices | dropped; triangles are kept |
    /// | parts | all; a mesh without parts becomes one part |
    ///
    /// # Errors
    /// [`SelectionError`] if nothing matches.
    ///
    /// # Cost
    /// Copies all data of the selected meshes.
    pub fn merged(&self, selection: &Selection) -> Result<Mesh, SelectionError> {
        self.selected(&self.meshes, "mesh", selection)
    }

    /// Merges the selected strands into one mesh, as [`Self::merged`] does for triangle meshes.
    ///
    /// # Errors
    /// [`SelectionError`] if nothing matches.
    pub fn merged_strands(&self, selection: &Selection) -> Result<Mesh, SelectionError> {
        self.selected(&self.strands, "strands", selection)
    }

    fn selected(
        &self,
        all: &[Mesh],
        what: &'static str,
        selection: &Selection,
    ) -> Result<Mesh, SelectionError> {
        let chosen: Vec<&Mesh> = selection.of(all).into_iter().map(|i| &all[i]).collect();
        if all.is_empty() {
            return Err(SelectionError::Nothing {
                asset: self.name.clone(),
                what,
            });
        }
        match (chosen.as_slice(), selection) {
            ([], Selection::Named(pattern)) => Err(SelectionError::NoMatch {
                asset: self.name.clone(),
                what,
                pattern: pattern.clone(),
                found: all.iter().map(Mesh::full_name).collect(),
            }),
            ([one], _) => Ok((*one).clone()),
            (many, _) => merge(&self.name, many),
        }
    }

    /// The clip of that name; without a name, the first clip.
    /// The name must match exactly.
    pub fn find_clip(&self, name: Option<&str>) -> Option<&Clip> {
        match name {
            Some(name) => self.clips.iter().find(|c| c.name == name),
            None => self.clips.first(),
        }
    }
}

fn merge(name: &str, meshes: &[&Mesh]) -> Result<Mesh, SelectionError> {
    let total: usize = meshes.iter().map(|m| m.vertex_count()).sum();
    let too_many = || SelectionError::TooManyVertices {
        found: total,
        allowed: u32::MAX as usize,
    };
    let vertex_count = u32::try_from(total).map_err(|_| too_many())?;
    let mut out = Mesh {
        name: name.to_owned(),
        ..Mesh::default()
    };
    let (mut triangles, mut targets) = (Vec::new(), Vec::new());
    out.normals = joined_normals(meshes);
    out.tangents = meshes
        .iter()
        .map(|m| m.tangents.as_ref())
        .collect::<Option<Vec<_>>>()
        .map(|v| v.into_iter().flatten().copied().collect());
    // Meshes without a set that others have get one that says nothing: the whole must not lose what a part has.
    out.uvs = joined_sets(meshes, |m| &m.uvs, [0.0; 2]);
    out.colors = joined_sets(meshes, |m| &m.colors, [1.0; 4]);
    let all_bound = meshes.iter().all(|m| m.influences.is_some());
    for m in meshes {
        let base = out.positions.len();
        let base32 = u32::try_from(base).map_err(|_| too_many())?;
        let first_triangle = triangles.len();
        out.positions.extend_from_slice(&m.positions);
        triangles.extend(m.topology.triangles().iter().map(|t| t.map(|v| v + base32)));
        if let (true, Some(i)) = (all_bound, &m.influences) {
            out.influences.get_or_insert_default().extend(i);
        }
        for (t, target) in m.morph_targets.iter().enumerate() {
            let mut target = target.clone();
            target.vertices.iter_mut().for_each(|v| *v += base32);
            targets.push((m.morph_weight_index(t), target));
        }
        let whole = [MeshPart {
            name: m.name.clone(),
            source_mesh: out.parts.len(),
            material: None,
            vertices: 0..m.vertex_count(),
            triangles: 0..m.topology.triangles().len(),
            flat_shaded: false,
        }];
        let parts = if m.parts.is_empty() {
            &whole[..]
        } else {
            &m.parts
        };
        out.parts.extend(parts.iter().map(|p| MeshPart {
            vertices: p.vertices.start + base..p.vertices.end + base,
            triangles: p.triangles.start + first_triangle..p.triangles.end + first_triangle,
            ..p.clone()
        }));
    }
    // In the order of their weights, which meshes left out do not take part in.
    targets.sort_by_key(|t| t.0);
    (out.morph_weight_indices, out.morph_targets) = targets.into_iter().unzip();
    out.morph_offset = out.morph_weight_indices.first().copied().unwrap_or(0);
    if out
        .morph_weight_indices
        .iter()
        .enumerate()
        .all(|(t, &w)| w == out.morph_offset + t)
    {
        out.morph_weight_indices.clear();
    }
    // Attributes that every mesh has in the same shape.
    let names: Vec<&String> = meshes[0].attributes.keys().collect();
    for name in names {
        let all: Option<Vec<&crate::Attribute>> =
            meshes.iter().map(|m| m.attributes.get(name)).collect();
        if let Some(joined) = all.and_then(|a| join_attributes(&a)) {
            out.attributes.insert(name.clone(), joined);
        }
    }
    out.topology = Arc::new(match joined_strands(meshes) {
        Some(strands) => Topology::from_strands(strands),
        None => Topology::new(vertex_count, triangles).map_err(|_| too_many())?,
    });
    Ok(out)
}

/// Normals of all meshes, where each has some or is flat: flat ones get smooth normals beside others, for nodes to turn.
fn joined_normals(meshes: &[&Mesh]) -> Option<Vec<[f32; 3]>> {
    if meshes.iter().all(|m| m.normals.is_none()) {
        return None;
    }
    let of_mesh = |m: &&Mesh| match &m.normals {
        Some(normals) => Some(normals.clone()),
        None if m.is_flat() => Some(smooth_normals(&m.positions, m.topology.triangles())),
        None => None,
    };
    Some(
        meshes
            .iter()
            .map(of_mesh)
            .collect::<Option<Vec<_>>>()?
            .concat(),
    )
}

/// Where all meshes are of strands. Their vertices have been counted.
fn joined_strands(meshes: &[&Mesh]) -> Option<Strands> {
    let mut all = meshes.iter().map(|m| m.topology.strands());
    let first = all.next()??.clone();
    all.try_fold(first, |joined, strands| joined.joined(strands?).ok())
}

/// Sets of texture coordinates or colours of all meshes, one after another; as many as any mesh has, the rest filled with `blank`.
fn joined_sets<T: Copy>(
    meshes: &[&Mesh],
    sets_of: fn(&Mesh) -> &Vec<Vec<T>>,
    blank: T,
) -> Vec<Vec<T>> {
    let most = meshes.iter().map(|m| sets_of(m).len()).max().unwrap_or(0);
    let of_mesh = |m: &Mesh, set: usize| match sets_of(m).get(set) {
        Some(values) => values.clone(),
        None => vec![blank; m.vertex_count()],
    };
    (0..most)
        .map(|set| meshes.iter().flat_map(|m| of_mesh(m, set)).collect())
        .collect()
}

fn join_attributes(all: &[&crate::Attribute]) -> Option<crate::Attribute> {
    use crate::Attribute as A;
    macro_rules! join {
        ($variant:ident) => {
            all.iter()
                .map(|a| {
                    if let A::$variant(v) = a {
                        Some(v)
                    } else {
                        None
                    }
                })
                .collect::<Option<Vec<_>>>()
                .map(|v| A::$variant(v.into_iter().flatten().copied().collect()))
        };
    }
    match all.first()? {
        A::Scalar(_) => join!(Scalar),
        A::Vec2(_) => join!(Vec2),
        A::Vec3(_) => join!(Vec3),
        A::Vec4(_) => join!(Vec4),
    }
}

/// Whether `text` matches `pattern`, in which `*` matches any characters.
fn wildcard_match(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let Some(last) = pattern.rsplit_once('*').map(|p| p.1) else {
        return rest.is_empty();
    };
    let middle: Vec<&str> = parts.collect();
    for part in &middle[..middle.len().saturating_sub(1)] {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards() {
        for (pattern, text, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*b", "ab", true),
            ("*", "", true),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abde", false),
            ("ab*b", "ab", false),
        ] {
            assert_eq!(
                wildcard_match(pattern, text),
                expected,
                "{pattern} on {text}"
            );
        }
    }

    #[test]
    fn merged_targets_keep_their_numbers() {
        let one = |morph_offset| {
            let topology = Topology::new(3, vec![[0, 1, 2]]).expect("valid");
            let mut m = Mesh::new("m", topology, vec![[0.0; 3]; 3]);
            let name = format!("target {morph_offset}");
            m.morph_targets = vec![crate::MorphTarget {
                name,
                vertices: vec![1],
                ..Default::default()
            }];
            m.morph_offset = morph_offset;
            m
        };
        // The file lists the mesh of the later weights first.
        let asset = Asset {
            meshes: vec![one(3), one(1)],
            ..Asset::default()
        };
        let m = asset.merged(&Selection::All).expect("two meshes");
        let names: Vec<&str> = m.morph_targets.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["target 1", "target 3"], "no blank ones");
        assert_eq!([0, 1].map(|t| m.morph_weight_index(t)), [1, 3]);
        assert_eq!(
            [0, 1].map(|t| &m.morph_targets[t].vertices[..]),
            [&[4][..], &[1][..]]
        );
    }

    #[test]
    fn merging_keeps_the_sets_that_only_some_have() {
        let one = |uvs: Vec<Vec<[f32; 2]>>| Mesh {
            uvs,
            ..Mesh::new(
                "m",
                Topology::new(3, vec![[0, 1, 2]]).expect("valid"),
                vec![[0.0; 3]; 3],
            )
        };
        let asset = Asset {
            meshes: vec![one(Vec::new()), one(vec![vec![[0.25, 0.5]; 3]])],
            ..Asset::default()
        };
        let m = asset.merged(&Selection::All).expect("two meshes");
        assert_eq!(m.uvs.len(), 1);
        assert_eq!(m.uvs[0][..3], [[0.0; 2]; 3]);
        assert_eq!(m.uvs[0][3..], [[0.25, 0.5]; 3]);
        m.check().expect("one of each a vertex");
    }

    #[test]
    fn flat_meshes_stay_flat_beside_others() {
        let one = |normals: Option<[f32; 3]>, is_flat| {
            let topology = Topology::new(3, vec![[0, 1, 2]]).expect("valid");
            let mut m = Mesh::new(
                "m",
                topology,
                vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            );
            m.normals = normals.map(|n| vec![n; 3]);
            let part = MeshPart {
                name: "m".into(),
                source_mesh: 0,
                material: None,
                vertices: 0..3,
                triangles: 0..1,
                flat_shaded: is_flat,
            };
            m.parts.extend(is_flat.then_some(part));
            m
        };
        let (x, z) = ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
        let merged = |meshes: Vec<Mesh>| {
            let asset = Asset {
                meshes,
                ..Asset::default()
            };
            let m = asset.merged(&Selection::All).expect("meshes");
            (
                m.normals.clone(),
                m.parts.iter().map(|p| p.flat_shaded).collect::<Vec<_>>(),
            )
        };
        let (normals, flat) = merged(vec![one(Some(x), false), one(None, true)]);
        assert_eq!(flat, [false, true]);
        assert_eq!(normals, Some(vec![x, x, x, z, z, z]), "the triangle's own");
        assert_eq!(merged(vec![one(None, true), one(None, true)]).0, None);
        // A mesh that is neither flat nor has normals: whoever needs some makes them for all.
        assert_eq!(merged(vec![one(Some(x), false), one(None, false)]).0, None);
    }

    #[test]
    fn merging_shifts_indices() {
        let one = || {
            Mesh::new(
                "m",
                Topology::new(3, vec![[0, 1, 2]]).expect("valid"),
                vec![[0.0; 3]; 3],
            )
        };
        let asset = Asset {
            meshes: vec![one(), one()],
            ..Asset::default()
        };
        let m = asset.merged(&Selection::All).expect("two meshes");
        assert_eq!(m.topology.triangles(), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(m.parts[1].vertices, 3..6);
    }
}
