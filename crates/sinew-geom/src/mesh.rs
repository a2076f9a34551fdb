//! Meshes: constant topology plus rest attributes. Hair is a mesh with strands instead of triangles.

use crate::{Topology, vec3};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Per-vertex user data. Every variant has one entry for each vertex of its mesh; [`Mesh::check`] tests the number.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// One number per vertex, for example a painted mask.
    Scalar(Vec<f32>),
    /// Two numbers per vertex.
    Vec2(Vec<[f32; 2]>),
    /// Three numbers per vertex.
    Vec3(Vec<[f32; 3]>),
    /// Four numbers per vertex.
    Vec4(Vec<[f32; 4]>),
}

impl Attribute {
    /// Number of vertices it covers.
    pub fn len(&self) -> usize {
        match self {
            Self::Scalar(v) => v.len(),
            Self::Vec2(v) => v.len(),
            Self::Vec3(v) => v.len(),
            Self::Vec4(v) => v.len(),
        }
    }
    /// Whether it covers no vertex.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Component `c` of vertex `v`. `None` if the vertex or the component does not exist.
    pub fn component(&self, v: usize, c: usize) -> Option<f32> {
        match self {
            Self::Scalar(a) => (c == 0).then(|| a.get(v).copied()).flatten(),
            Self::Vec2(a) => a.get(v).and_then(|x| x.get(c)).copied(),
            Self::Vec3(a) => a.get(v).and_then(|x| x.get(c)).copied(),
            Self::Vec4(a) => a.get(v).and_then(|x| x.get(c)).copied(),
        }
    }
}

/// Why [`Influences`] were refused.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum InfluencesError {
    /// A vertex refers to a joint that does not exist.
    #[error("vertex {vertex} refers to joint {joint}, but the skeleton has {joint_count} joints")]
    JointOutOfRange {
        /// Index of the vertex.
        vertex: usize,
        /// Index of the joint.
        joint: u32,
        /// Number of joints.
        joint_count: usize,
    },
    /// A weight is NaN or infinite.
    #[error("vertex {vertex} has a weight that is not finite")]
    NotFinite {
        /// Index of the vertex.
        vertex: usize,
    },
}

/// Joint weights of every vertex in compressed rows, with any number of influences per vertex.
///
/// Invariants: influences are sorted by decreasing weight (ties by joint index). Each weight is at least `1e-6` before normalization.
/// Every non-empty row sums to 1. A vertex has each joint at most once.
///
/// The default value has no rows and no offsets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Influences {
    offsets: Vec<u32>,
    joints: Vec<u32>,
    weights: Vec<f32>,
}

impl Influences {
    /// Cleans and stores one row per vertex. Negative weights count as 0, weights below `1e-6` are dropped, duplicate joints are summed,
    /// and the rest is normalized in double precision. Rows without weight bind rigidly to `fallback_joint`.
    ///
    /// Returns the influences, the vertices whose weights did not sum to 1 (by more than `1e-4`), and the vertices without any weight.
    ///
    /// `joint_count` bounds the joints of the rows. `fallback_joint` is not checked.
    ///
    /// # Errors
    /// [`InfluencesError`] names the first joint out of range or weight that is not finite.
    ///
    /// # Cost
    /// O(k^2) for a row of `k` joints. Allocates the result and one reusable row.
    pub fn from_rows<'a>(
        rows: impl Iterator<Item = &'a [(u32, f32)]>,
        joint_count: usize,
        fallback_joint: u32,
    ) -> Result<(Self, Vec<u32>, Vec<u32>), InfluencesError> {
        let mut this = Self {
            offsets: vec![0],
            ..Self::default()
        };
        let (mut unnormalised, mut empty) = (Vec::new(), Vec::new());
        let mut row = Vec::new();
        for (vertex, given) in rows.enumerate() {
            row.clear();
            for &(joint, weight) in given {
                add_weight(&mut row, vertex, joint, weight, joint_count)?;
            }
            let found = this.push_row(&mut row, 0, fallback_joint);
            found.note(vertex, &mut unnormalised, &mut empty);
        }
        Ok((this, unnormalised, empty))
    }

    /// As [`Self::from_rows`], from sets of four joints and weights per vertex, as files store them. Joint indices are relative to
    /// `first_joint`; rows without weight bind to `first_joint`. Vertices beyond the shortest set are dropped.
    ///
    /// `joints` and `weights` have one entry per set; sets without a counterpart are ignored. Returns the same three parts as
    /// [`Self::from_rows`]. `joint_count` counts from `first_joint`: it bounds the indices as stored.
    ///
    /// # Errors
    /// As [`Self::from_rows`]; a joint that is out of range with weight zero is ignored.
    pub fn from_sets(
        joints: &[Vec<[u16; 4]>],
        weights: &[Vec<[f32; 4]>],
        first_joint: u32,
        joint_count: usize,
    ) -> Result<(Self, Vec<u32>, Vec<u32>), InfluencesError> {
        let lengths = joints.iter().map(Vec::len);
        let vertices = lengths.chain(weights.iter().map(Vec::len)).min();
        let vertices = vertices.unwrap_or(0);
        let mut this = Self {
            offsets: Vec::with_capacity(vertices + 1),
            joints: Vec::with_capacity(vertices * 4),
            weights: Vec::with_capacity(vertices * 4),
        };
        this.offsets.push(0);
        let (mut unnormalised, mut empty) = (Vec::new(), Vec::new());
        let mut row = Vec::with_capacity(4 * joints.len());
        for vertex in 0..vertices {
            row.clear();
            for (joints, weights) in joints.iter().zip(weights) {
                for (joint, weight) in joints[vertex].into_iter().zip(weights[vertex]) {
                    add_weight(&mut row, vertex, u32::from(joint), weight, joint_count)?;
                }
            }
            let found = this.push_row(&mut row, first_joint, first_joint);
            found.note(vertex, &mut unnormalised, &mut empty);
        }
        Ok((this, unnormalised, empty))
    }

    /// Cleans `row` and appends it; joints are counted from `first_joint`.
    fn push_row(&mut self, row: &mut Vec<(u32, f64)>, first_joint: u32, fallback: u32) -> RowState {
        let sum: f64 = row.iter().map(|r| r.1).sum();
        row.retain(|r| r.1 >= 1e-6);
        row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let kept: f64 = row.iter().map(|r| r.1).sum();
        let state = if kept <= 0.0 {
            self.joints.push(fallback);
            self.weights.push(1.0);
            RowState::Empty
        } else {
            for &(j, w) in row.iter() {
                self.joints.push(j + first_joint);
                self.weights.push((w / kept) as f32);
            }
            if (sum - 1.0).abs() > 1e-4 {
                RowState::Unnormalised
            } else {
                RowState::Clean
            }
        };
        self.offsets.push(self.joints.len() as u32);
        state
    }

    /// Takes stored rows of [`Self::from_rows`] without changes. `None` unless every row has at least one joint, every joint is below
    /// `joint_count`, weights decrease and sum to 1 within `1e-4`, and the offsets fit.
    ///
    /// `offsets` has one entry more than the mesh has vertices. Rows that name a joint twice are not detected.
    pub fn from_parts(
        offsets: Vec<u32>,
        joints: Vec<u32>,
        weights: Vec<f32>,
        joint_count: usize,
    ) -> Option<Self> {
        let ends = [offsets.first(), offsets.last()].map(|o| o.map(|&o| o as usize));
        let is_whole = ends == [Some(0), Some(joints.len())] && joints.len() == weights.len();
        let is_row = |w: &[u32]| w[0] < w[1];
        if !is_whole || !offsets.windows(2).all(is_row) {
            return None;
        }
        let fits = |w: &[u32]| {
            let weights = &weights[w[0] as usize..w[1] as usize];
            let sum: f64 = weights.iter().map(|&w| f64::from(w)).sum();
            let falls = weights.windows(2).all(|w| w[0] >= w[1]);
            falls && weights.iter().all(|&w| w >= 0.0) && (sum - 1.0).abs() <= 1e-4
        };
        let is_known = |&j: &u32| (j as usize) < joint_count;
        let is_valid = offsets.windows(2).all(fits) && joints.iter().all(is_known);
        is_valid.then_some(Self {
            offsets,
            joints,
            weights,
        })
    }

    /// Binds every vertex rigidly to one joint.
    pub fn rigid(vertex_count: usize, joint: u32) -> Self {
        Self {
            offsets: (0..=vertex_count as u32).collect(),
            joints: vec![joint; vertex_count],
            weights: vec![1.0; vertex_count],
        }
    }

    /// The same weights with joint `j` replaced by `new_joint[j]`. `None` if a row uses a joint without a replacement.
    ///
    /// Rows keep their order. Two joints with the same replacement stay two influences.
    pub fn on_joints(&self, new_joint: &[Option<u32>]) -> Option<Self> {
        let new = |j: &u32| new_joint.get(*j as usize).copied().flatten();
        let joints = self.joints.iter().map(new).collect::<Option<Vec<_>>>()?;
        Some(Self {
            joints,
            ..self.clone()
        })
    }

    /// The rows of these vertices, in this order.
    ///
    /// A vertex may occur several times.
    ///
    /// # Panics
    /// If a vertex has no row.
    pub fn gathered(&self, vertices: impl IntoIterator<Item = usize>) -> Self {
        let mut out = Self {
            offsets: vec![0],
            ..Self::default()
        };
        for v in vertices {
            let row = self.offsets[v] as usize..self.offsets[v + 1] as usize;
            out.joints.extend_from_slice(&self.joints[row.clone()]);
            out.weights.extend_from_slice(&self.weights[row]);
            out.offsets.push(out.joints.len() as u32);
        }
        out
    }

    /// Appends the rows of another mesh.
    pub fn extend(&mut self, other: &Self) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        let base = self.offsets.last().copied().unwrap_or(0);
        self.offsets
            .extend(other.offsets.iter().skip(1).map(|o| o + base));
        self.joints.extend_from_slice(&other.joints);
        self.weights.extend_from_slice(&other.weights);
    }

    /// Share of the vertices that each joint moves, by weight, up to the last joint that moves any vertex.
    ///
    /// Joint `j` is at index `j`. The shares sum to 1 if the mesh has vertices.
    pub fn shares(&self) -> Vec<f32> {
        let mut sums: Vec<f64> = Vec::new();
        for (&joint, &weight) in self.joints().iter().zip(self.weights()) {
            let joint = joint as usize;
            if joint >= sums.len() {
                sums.resize(joint + 1, 0.0);
            }
            sums[joint] += f64::from(weight);
        }
        let part = 1.0 / self.vertex_count().max(1) as f64;
        sums.into_iter().map(|s| (s * part) as f32).collect()
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }
    /// `vertex_count + 1` offsets into [`Self::joints`] and [`Self::weights`].
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }
    /// Joint of each influence (index into [`crate::Rig::joints`]).
    pub fn joints(&self) -> &[u32] {
        &self.joints
    }
    /// Weight of each influence.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }
    /// `(joint, weight)` of vertex `v`, strongest first.
    ///
    /// # Panics
    /// If there is no vertex `v`.
    pub fn row(&self, v: usize) -> impl ExactSizeIterator<Item = (u32, f32)> + '_ {
        let r = self.offsets[v] as usize..self.offsets[v + 1] as usize;
        self.joints[r.clone()]
            .iter()
            .copied()
            .zip(self.weights[r].iter().copied())
    }
    /// Largest number of influences of one vertex.
    pub fn max_per_vertex(&self) -> usize {
        self.offsets
            .windows(2)
            .map(|w| (w[1] - w[0]) as usize)
            .max()
            .unwrap_or(0)
    }
}

/// What cleaning found in a row.
#[derive(Clone, Copy)]
enum RowState {
    Clean,
    Unnormalised,
    Empty,
}

impl RowState {
    fn note(self, vertex: usize, unnormalised: &mut Vec<u32>, empty: &mut Vec<u32>) {
        match self {
            Self::Clean => {}
            Self::Unnormalised => unnormalised.push(vertex as u32),
            Self::Empty => empty.push(vertex as u32),
        }
    }
}

/// Adds one weight to `row` unless it counts for nothing.
fn add_weight(
    row: &mut Vec<(u32, f64)>,
    vertex: usize,
    joint: u32,
    weight: f32,
    joint_count: usize,
) -> Result<(), InfluencesError> {
    if !weight.is_finite() {
        return Err(InfluencesError::NotFinite { vertex });
    }
    if weight <= 0.0 {
        return Ok(());
    }
    if joint as usize >= joint_count {
        return Err(InfluencesError::JointOutOfRange {
            vertex,
            joint,
            joint_count,
        });
    }
    match row.iter_mut().find(|(j, _)| *j == joint) {
        Some((_, w)) => *w += f64::from(weight),
        None => row.push((joint, f64::from(weight))),
    }
    Ok(())
}

/// Why a [`Mesh`] is invalid.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MeshError {
    /// An attribute does not have one element per vertex.
    #[error("{attribute}: found {found} elements, expected one for each of {expected} vertices")]
    Length {
        /// Name of the attribute.
        attribute: String,
        /// Number of elements.
        found: usize,
        /// Vertices of the topology.
        expected: usize,
    },
}

/// Deltas to add to the rest mesh by a weight. Stored only for the vertices that move.
/// Lists that are not empty have the length of `vertices`. Deltas are in the space of [`Mesh::positions`], in metres.
///
/// A minor version may add fields: end a literal with `..MorphTarget::default()`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MorphTarget {
    /// Name in the file, or `target_<index>`.
    pub name: String,
    /// Vertex indices of the deltas, in increasing order.
    pub vertices: Vec<u32>,
    /// Position delta of each listed vertex.
    pub positions: Vec<[f32; 3]>,
    /// Normal delta of each listed vertex; empty if the file has none.
    pub normals: Vec<[f32; 3]>,
    /// Tangent delta (xyz) of each listed vertex; empty if the file has none.
    pub tangents: Vec<[f32; 3]>,
}

/// A range of vertices and triangles from one source primitive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshPart {
    /// Name of the object it belongs to.
    pub name: String,
    /// Index of the mesh in the file; parts with the same `source_mesh` are written as one mesh.
    pub source_mesh: usize,
    /// Material index in the file.
    pub material: Option<usize>,
    /// Vertices of the part.
    pub vertices: Range<usize>,
    /// Triangles of the part.
    pub triangles: Range<usize>,
    /// Whether it is flat shaded, as glTF specifies for primitives without normals. A node that recomputes normals makes it smooth.
    pub flat_shaded: bool,
}

/// Constant topology plus rest attributes. Positions are in scene space at bind: skinning with the joints' rest transforms does not
/// change them.
///
/// [`Mesh::check`] tests the lengths. A clone shares the topology and copies all other data.
///
/// A minor version may add fields: create a mesh with [`Mesh::new`], or end a literal with `..Mesh::default()`.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    /// Name in the file; in a file with nodes, the name of the node of the mesh.
    pub name: String,
    /// Name of the mesh data, if it differs from the name of the node. Selections also find a mesh by this name.
    pub data_name: String,
    /// Triangles or strands.
    pub topology: Arc<Topology>,
    /// Rest positions, one per vertex.
    pub positions: Vec<[f32; 3]>,
    /// Authored unit normals at rest; `None` if the file has none. In a mesh with flat and smooth parts, flat parts have smooth normals.
    pub normals: Option<Vec<[f32; 3]>>,
    /// Rest tangents; `w` is the sign of the bitangent. `None` if the file has none.
    pub tangents: Option<Vec<[f32; 4]>>,
    /// Texture coordinate sets; `v` points down as in glTF.
    pub uvs: Vec<Vec<[f32; 2]>>,
    /// Colour sets, linear RGBA.
    pub colors: Vec<Vec<[f32; 4]>>,
    /// User attributes by name.
    pub attributes: BTreeMap<String, Attribute>,
    /// Joint weights; `None` if the mesh is not bound to a rig.
    pub influences: Option<Influences>,
    /// Morph targets, in the order of [`crate::Pose::morph_weights`].
    pub morph_targets: Vec<MorphTarget>,
    /// Index of the first target's weight in [`crate::Pose::morph_weights`]; the weights of the other targets follow.
    pub morph_offset: usize,
    /// Index of each target's weight, if the indices are not consecutive (merged meshes); otherwise empty.
    pub morph_weight_indices: Vec<usize>,
    /// The source primitives, in vertex order; an empty list means one part.
    pub parts: Vec<MeshPart>,
    /// Index of the file's point for each vertex, if the reader split points with different normals or texture coordinates at their
    /// corners. Empty if every vertex is a point of the file; see [`Self::point_of`].
    pub points: Vec<u32>,
}

impl Mesh {
    /// Creates a mesh with positions only.
    ///
    /// `positions` has `topology.vertex_count()` entries. Debug builds assert it; use [`Self::check`] for unknown data.
    pub fn new(name: impl Into<String>, topology: Topology, positions: Vec<[f32; 3]>) -> Self {
        debug_assert_eq!(
            topology.vertex_count(),
            positions.len(),
            "one position a vertex"
        );
        Self {
            name: name.into(),
            topology: Arc::new(topology),
            positions,
            ..Self::default()
        }
    }

    /// `name`, or `name (data_name)` if both exist.
    pub fn full_name(&self) -> String {
        match self.data_name.as_str() {
            "" => self.name.clone(),
            data => format!("{} ({data})", self.name),
        }
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.topology.vertex_count()
    }

    /// Whether every part is flat shaded.
    pub fn is_flat(&self) -> bool {
        !self.parts.is_empty() && self.parts.iter().all(|p| p.flat_shaded)
    }

    /// Index of the file's point that a vertex came from; `vertex` itself if the reader split nothing.
    pub fn point_of(&self, vertex: u32) -> u32 {
        self.points.get(vertex as usize).copied().unwrap_or(vertex)
    }

    /// Number of points of the file: all vertices but the copies at corners, which come after them.
    pub fn point_count(&self) -> usize {
        if self.points.is_empty() {
            return self.vertex_count();
        }
        let points = (0_u32..).zip(&self.points);
        points.take_while(|(v, point)| v == *point).count()
    }

    /// Index of a target's weight in [`crate::Pose::morph_weights`].
    pub fn morph_weight_index(&self, target: usize) -> usize {
        let given = self.morph_weight_indices.get(target).copied();
        given.unwrap_or(self.morph_offset + target)
    }

    /// Checks that every attribute has one element per vertex. Fields are public: a mesh built by hand may be invalid.
    ///
    /// It compares lengths only: it does not look for NaN, and it does not read morph targets, parts or points.
    ///
    /// # Errors
    /// [`MeshError`] names the first attribute that does not fit.
    pub fn check(&self) -> Result<(), MeshError> {
        let expected = self.vertex_count();
        let fixed = [
            ("positions", Some(self.positions.len())),
            ("normals", self.normals.as_ref().map(Vec::len)),
            ("tangents", self.tangents.as_ref().map(Vec::len)),
            (
                "joint weights",
                self.influences.as_ref().map(Influences::vertex_count),
            ),
        ];
        let sets = |what: &str, i: usize, len: usize| (format!("{what} {i}"), len);
        let uvs = self.uvs.iter().enumerate();
        let colors = self.colors.iter().enumerate();
        let named = self
            .attributes
            .iter()
            .map(|(n, a)| (format!("attribute '{n}'"), a.len()));
        let all = fixed
            .into_iter()
            .filter_map(|(what, len)| Some((what.to_owned(), len?)))
            .chain(uvs.map(|(i, v)| sets("texture coordinate set", i, v.len())))
            .chain(colors.map(|(i, v)| sets("colour set", i, v.len())))
            .chain(named);
        for (attribute, found) in all {
            if found != expected {
                return Err(MeshError::Length {
                    attribute,
                    found,
                    expected,
                });
            }
        }
        Ok(())
    }

    /// Bounding box of the rest positions; `None` for an empty mesh.
    pub fn bounds(&self) -> Option<Bounds> {
        bounds(&self.positions)
    }

    /// Length of the diagonal of [`Self::bounds`]; 0 for an empty mesh.
    pub fn diagonal(&self) -> f32 {
        self.bounds().map_or(0.0, |(lo, hi)| vec3::distance(hi, lo))
    }
}

/// An axis-aligned bounding box: lowest and highest corner.
pub type Bounds = ([f32; 3], [f32; 3]);

/// Bounding box of points; `None` without points.
///
/// NaN coordinates are ignored. An axis on which all coordinates are NaN gives NaN.
pub fn bounds(points: &[[f32; 3]]) -> Option<Bounds> {
    let first = *points.first()?;
    Some(points.iter().fold((first, first), |(lo, hi), p| {
        (
            std::array::from_fn(|c| lo[c].min(p[c])),
            std::array::from_fn(|c| hi[c].max(p[c])),
        )
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn influences_are_cleaned_sorted_and_normalised() {
        let rows: Vec<Vec<(u32, f32)>> = vec![
            vec![(0, 0.2), (1, 0.6), (2, -0.5), (1, 0.2)],
            vec![(3, 0.35), (2, 0.35)],
            vec![(9, 0.0)],
        ];
        let (i, unnormalised, empty) =
            Influences::from_rows(rows.iter().map(Vec::as_slice), 4, 0).expect("valid");
        assert_eq!(i.row(0).collect::<Vec<_>>(), [(1, 0.8), (0, 0.2)]);
        assert_eq!(i.row(1).collect::<Vec<_>>(), [(2, 0.5), (3, 0.5)]);
        assert_eq!(i.row(2).collect::<Vec<_>>(), [(0, 1.0)]);
        assert_eq!((unnormalised, empty), (vec![1], vec![2]));
    }

    #[test]
    fn sets_give_the_same_as_rows() {
        let joints = [vec![[0_u16, 1, 2, 1], [3, 2, 9, 9]], vec![[3, 0, 0, 0]; 2]];
        let weights = [
            vec![[0.2_f32, 0.6, -0.5, 0.1], [0.35, 0.35, 0.0, 0.0]],
            vec![[0.1, 0.0, 0.0, 0.0], [0.0; 4]],
        ];
        let rows: Vec<Vec<(u32, f32)>> = (0..2)
            .map(|v| {
                let pairs = joints.iter().zip(&weights);
                pairs
                    .flat_map(|(j, w)| {
                        (0..4)
                            .map(|k| (u32::from(j[v][k]), w[v][k]))
                            .collect::<Vec<_>>()
                    })
                    .collect()
            })
            .collect();
        let expected = Influences::from_rows(rows.iter().map(Vec::as_slice), 4, 0).expect("valid");
        let got = Influences::from_sets(&joints, &weights, 0, 4).expect("valid");
        assert_eq!(got, expected);
        let (shifted, _, _) = Influences::from_sets(&joints, &weights, 10, 4).expect("valid");
        assert_eq!(shifted.row(1).collect::<Vec<_>>(), [(12, 0.5), (13, 0.5)]);
    }

    #[test]
    fn stored_rows_come_back_and_wrong_ones_do_not() {
        let rows: [&[(u32, f32)]; 2] = [&[(0, 0.3), (2, 0.7)], &[(1, 0.1)]];
        let (made, _, _) = Influences::from_rows(rows.into_iter(), 3, 0).expect("valid");
        let parts = || {
            (
                made.offsets.clone(),
                made.joints.clone(),
                made.weights.clone(),
            )
        };
        let (o, j, w) = parts();
        assert_eq!(Influences::from_parts(o, j, w, 3), Some(made.clone()));
        let (o, j, w) = parts();
        assert_eq!(Influences::from_parts(o, j, w, 2), None, "joint 2 of 2");
        for wrong in [
            vec![0.3, 0.7, 1.0],
            vec![0.7, 0.7, 1.0],
            vec![0.7, f32::NAN, 1.0],
        ] {
            let (o, j, _) = parts();
            assert_eq!(
                Influences::from_parts(o, j, wrong.clone(), 3),
                None,
                "{wrong:?}"
            );
        }
        for wrong in [
            vec![],
            vec![0, 2],
            vec![0, 2, 2],
            vec![0, 4, 3],
            vec![1, 2, 3],
        ] {
            let (_, j, w) = parts();
            assert_eq!(
                Influences::from_parts(wrong.clone(), j, w, 3),
                None,
                "{wrong:?}"
            );
        }
    }

    #[test]
    fn joint_out_of_range_is_named() {
        let rows = [vec![(4_u32, 1.0_f32)]];
        let error =
            Influences::from_rows(rows.iter().map(Vec::as_slice), 4, 0).expect_err("joint 4");
        assert_eq!(
            error.to_string(),
            "vertex 0 refers to joint 4, but the skeleton has 4 joints"
        );
    }
}
