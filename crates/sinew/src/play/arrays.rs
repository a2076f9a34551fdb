//! Characters from arrays, without a file.

use super::Character;
use crate::geom::{
    Affine, Asset, Attribute, Channel, ChannelTarget, Clip, Decomposition, Influences,
    Interpolation, Joint, LocalTransform, Mesh, MeshPart, MorphTarget, Node, ORTHOGONAL_TOLERANCE,
    Polygons, Rig, Strands, THICKNESS, Topology, Trs, Warning,
};
use crate::io::topology_of_polygons;
use std::fmt::Display;
use std::sync::Arc;

/// A character as arrays, for [`Character::from_arrays`]. Scene space: right-handed, Y up, metres.
#[derive(Clone, Debug, Default)]
pub struct CharacterArrays<'a> {
    /// Name of the character.
    pub name: &'a str,
    /// Joints, parents first. All indices of joints count this list.
    pub joints: Vec<JointArrays<'a>>,
    /// Meshes.
    pub meshes: Vec<MeshArrays<'a>>,
    /// Hair.
    pub strands: Vec<StrandArrays<'a>>,
    /// Animations.
    pub clips: Vec<ClipArrays<'a>>,
}

/// A joint.
#[derive(Clone, Copy, Debug)]
pub struct JointArrays<'a> {
    /// Name.
    pub name: &'a str,
    /// Index of the parent.
    pub parent: Option<usize>,
    /// Rest transform: maps joint space to the space of the parent. For a root, to scene space.
    pub parent_from_joint: Affine<f64>,
    /// Maps scene space at bind to joint space (inverse bind matrix). Default: the inverse of the rest transform in scene space.
    pub joint_from_bind: Option<Affine<f64>>,
}

/// Faces of a mesh.
#[derive(Clone, Copy, Debug)]
pub enum Faces<'a> {
    /// Vertices of triangles, counter-clockwise.
    Triangles(&'a [[u32; 3]]),
    /// Polygons with any number of corners: the number of corners of each polygon, and the vertex of each corner.
    Polygons {
        /// Corners per polygon.
        counts: &'a [u32],
        /// Vertex of each corner, polygon after polygon, counter-clockwise.
        corners: &'a [u32],
    },
}

impl Default for Faces<'_> {
    fn default() -> Self {
        Self::Triangles(&[])
    }
}

/// A mesh. Lists have one element per vertex.
#[derive(Clone, Debug, Default)]
pub struct MeshArrays<'a> {
    /// Name.
    pub name: &'a str,
    /// Rest positions at bind, metres.
    pub positions: &'a [[f32; 3]],
    /// Faces.
    pub faces: Faces<'a>,
    /// Unit normals at rest.
    pub normals: Option<&'a [[f32; 3]]>,
    /// Unit tangents at rest, and the sign of the bitangent.
    pub tangents: Option<&'a [[f32; 4]]>,
    /// Texture coordinate sets; `v` points down.
    pub uvs: Vec<&'a [[f32; 2]]>,
    /// Colour sets, linear RGBA.
    pub colors: Vec<&'a [[f32; 4]]>,
    /// Attributes by name, for example painted masks.
    pub attributes: Vec<(&'a str, Attribute)>,
    /// Joint weights.
    pub skin: Option<SkinArrays<'a>>,
    /// Morph targets.
    pub targets: Vec<TargetArrays<'a>>,
}

/// Joint weights: the same number of influences for each vertex, unused ones with weight 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct SkinArrays<'a> {
    /// Influences per vertex.
    pub per_vertex: usize,
    /// Joint of each influence, vertex after vertex.
    pub joints: &'a [u32],
    /// Weight of each influence.
    pub weights: &'a [f32],
}

/// A morph target: deltas of rest positions.
#[derive(Clone, Copy, Debug, Default)]
pub struct TargetArrays<'a> {
    /// Name.
    pub name: &'a str,
    /// Vertices of the deltas, increasing. Default: all vertices.
    pub vertices: Option<&'a [u32]>,
    /// Position deltas, metres.
    pub positions: &'a [[f32; 3]],
    /// Normal deltas.
    pub normals: Option<&'a [[f32; 3]]>,
    /// Weight at rest.
    pub weight: f32,
}

/// Strands of hair. Lists have one element per vertex, except where stated.
#[derive(Clone, Copy, Debug, Default)]
pub struct StrandArrays<'a> {
    /// Name.
    pub name: &'a str,
    /// Rest positions, root first, strand after strand, metres.
    pub positions: &'a [[f32; 3]],
    /// Vertices of each strand, at least 2.
    pub counts: &'a [u32],
    /// Guide of each strand: its own index, or that of the strand that it follows. Default: all are guides.
    pub guides: Option<&'a [u32]>,
    /// Diameters, metres.
    pub thickness: Option<&'a [f32]>,
    /// Joint weights.
    pub skin: Option<SkinArrays<'a>>,
}

/// An animation.
#[derive(Clone, Debug, Default)]
pub struct ClipArrays<'a> {
    /// Name.
    pub name: &'a str,
    /// Times of the keys, seconds, increasing. All tracks have a key at each.
    pub times: &'a [f32],
    /// Keys of joints. A joint without a track stays at rest.
    pub joints: Vec<JointTrack<'a>>,
    /// Keys of morph weights: index of the mesh, and for each key one weight per target.
    pub weights: Vec<(usize, &'a [f32])>,
}

/// Keys of one joint, relative to its parent. Values between keys are interpolated linearly.
#[derive(Clone, Copy, Debug, Default)]
pub struct JointTrack<'a> {
    /// Index of the joint.
    pub joint: usize,
    /// Translations, metres.
    pub translations: Option<&'a [[f32; 3]]>,
    /// Rotations: quaternions x y z w.
    pub rotations: Option<&'a [[f32; 4]]>,
    /// Scale factors per axis.
    pub scales: Option<&'a [[f32; 3]]>,
}

/// Wrong data in [`CharacterArrays`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{location}: found {found}, expected {expected}")]
#[non_exhaustive]
pub struct ArraysError {
    /// Where: for example `meshes[0].positions[17]`.
    pub location: String,
    /// What the array holds.
    pub found: String,
    /// What it should hold.
    pub expected: String,
}

type Checked<T = ()> = Result<T, ArraysError>;

fn wrong(location: impl Into<String>, found: impl Display, expected: impl Display) -> ArraysError {
    ArraysError {
        location: location.into(),
        found: found.to_string(),
        expected: expected.to_string(),
    }
}

impl Character {
    /// A character from arrays. Copies all of them.
    ///
    /// Polygons are triangulated, and joint weights normalised, as readers of files do; `asset.warnings` lists what changed.
    ///
    /// # Errors
    /// [`ArraysError`] with the first array, or element of an array, that is wrong.
    pub fn from_arrays(arrays: &CharacterArrays<'_>) -> Checked<Self> {
        let mut warnings = Vec::new();
        let mut nodes = nodes(&arrays.joints)?;
        let count = arrays.joints.len();
        let mut meshes = Vec::new();
        for (i, m) in arrays.meshes.iter().enumerate() {
            let mut mesh = mesh(&format!("meshes[{i}]"), m, count, &mut warnings)?;
            nodes.push(Node {
                name: m.name.to_owned(),
                parent: None,
                local: LocalTransform::Matrix(Affine::identity()),
                morph_weights: m.targets.iter().map(|t| t.weight).collect(),
                morph_offset: 0,
            });
            mesh.parts.push(MeshPart {
                name: m.name.to_owned(),
                source_mesh: i,
                material: None,
                vertices: 0..mesh.vertex_count(),
                triangles: 0..mesh.topology.triangles().len(),
                flat_shaded: false,
            });
            meshes.push(mesh);
        }
        let strands = arrays.strands.iter().enumerate();
        let strands = strands.map(|(i, s)| strand_mesh(&format!("strands[{i}]"), s, count));
        let strands = strands.collect::<Checked<Vec<_>>>()?;
        let rig = rig(nodes, &arrays.joints)?;
        for (mesh, node) in meshes.iter_mut().zip(&rig.nodes()[count..]) {
            mesh.morph_offset = node.morph_offset;
        }
        let clips = arrays.clips.iter().enumerate();
        let clips = clips.map(|(i, c)| clip(&format!("clips[{i}]"), c, arrays));
        Ok(Self::from_asset(Asset {
            name: arrays.name.to_owned(),
            meshes,
            strands,
            rig: Arc::new(rig),
            clips: clips.collect::<Checked<_>>()?,
            warnings,
            ..Asset::default()
        }))
    }
}

/// One node for each joint.
fn nodes(joints: &[JointArrays<'_>]) -> Checked<Vec<Node>> {
    let node = |(i, j): (usize, &JointArrays<'_>)| {
        let at = |what: &str| format!("joints[{i}].{what}");
        if let Some(parent) = j.parent.filter(|&p| p >= i) {
            let expected = format!("an index below {i}: parents come first");
            return Err(wrong(at("parent"), parent, expected));
        }
        for (what, matrix) in [
            ("parent_from_joint", Some(j.parent_from_joint)),
            ("joint_from_bind", j.joint_from_bind),
        ] {
            if matrix.is_some_and(|m| !m.is_finite()) {
                return Err(wrong(at(what), "NaN or infinity", "finite numbers"));
            }
        }
        let m = j.parent_from_joint;
        // Tracks animate translation, rotation and scale; a matrix that shears cannot have any.
        let parts = m
            .decompose(ORTHOGONAL_TOLERANCE)
            .ok()
            .filter(|d| !d.sheared);
        let trs = |d: Decomposition| Trs {
            translation: d.translation,
            rotation: d.rotation,
            scale: d.scale,
        };
        let local = parts.map_or(LocalTransform::Matrix(m), |d| LocalTransform::Trs(trs(d)));
        Ok(Node {
            name: j.name.to_owned(),
            parent: j.parent,
            local,
            morph_weights: Vec::new(),
            morph_offset: 0,
        })
    };
    joints.iter().enumerate().map(node).collect()
}

fn rig(nodes: Vec<Node>, given: &[JointArrays<'_>]) -> Checked<Rig> {
    let at_rest = Rig::new(nodes.clone(), Vec::new());
    let at_rest = at_rest.map_err(|e| wrong("joints", e, "parents first"))?;
    let rest = at_rest.rest_pose();
    let joint = |(node, j): (usize, &JointArrays<'_>)| {
        let inverse = || rest.scene_from_node[node].inverse();
        let joint_from_bind = j.joint_from_bind.or_else(inverse).ok_or_else(|| {
            let expected = "a transform that can be inverted, or joint_from_bind";
            wrong(
                format!("joints[{node}].parent_from_joint"),
                "a transform that flattens",
                expected,
            )
        })?;
        Ok(Joint {
            node,
            joint_from_bind,
        })
    };
    let joints = given
        .iter()
        .enumerate()
        .map(joint)
        .collect::<Checked<_>>()?;
    Rig::new(nodes, joints).map_err(|e| wrong("joints", e, "parents first"))
}

fn mesh(at: &str, m: &MeshArrays<'_>, joints: usize, warnings: &mut Vec<Warning>) -> Checked<Mesh> {
    let count = m.positions.len();
    finite(&format!("{at}.positions"), m.positions.as_flattened(), 3)?;
    let mut out = Mesh {
        name: m.name.to_owned(),
        topology: Arc::new(topology(at, m, warnings)?),
        positions: m.positions.to_vec(),
        ..Mesh::default()
    };
    if let Some(normals) = m.normals {
        per_vertex(&format!("{at}.normals"), normals.len(), count)?;
        finite(&format!("{at}.normals"), normals.as_flattened(), 3)?;
        out.normals = Some(normals.to_vec());
    }
    if let Some(tangents) = m.tangents {
        per_vertex(&format!("{at}.tangents"), tangents.len(), count)?;
        finite(&format!("{at}.tangents"), tangents.as_flattened(), 4)?;
        out.tangents = Some(tangents.to_vec());
    }
    for (set, uvs) in m.uvs.iter().enumerate() {
        per_vertex(&format!("{at}.uvs[{set}]"), uvs.len(), count)?;
        out.uvs.push(uvs.to_vec());
    }
    for (set, colors) in m.colors.iter().enumerate() {
        per_vertex(&format!("{at}.colors[{set}]"), colors.len(), count)?;
        out.colors.push(colors.to_vec());
    }
    for (name, attribute) in &m.attributes {
        per_vertex(
            &format!("{at}.attributes['{name}']"),
            attribute.len(),
            count,
        )?;
        out.attributes.insert((*name).to_owned(), attribute.clone());
    }
    if let Some(s) = &m.skin {
        out.influences = Some(influences(at, m.name, s, [count, joints], warnings)?);
    }
    for (t, given) in m.targets.iter().enumerate() {
        out.morph_targets
            .push(target(&format!("{at}.targets[{t}]"), given, count)?);
    }
    Ok(out)
}

fn topology(at: &str, m: &MeshArrays<'_>, warnings: &mut Vec<Warning>) -> Checked<Topology> {
    let count = u32::try_from(m.positions.len());
    let count = count.map_err(|_| {
        wrong(
            format!("{at}.positions"),
            m.positions.len(),
            "fewer than 2^32",
        )
    })?;
    let bad = |e: &dyn Display| wrong(format!("{at}.faces"), e, format!("vertices below {count}"));
    let (counts, corners) = match m.faces {
        Faces::Triangles(all) => return Topology::new(count, all.to_vec()).map_err(|e| bad(&e)),
        Faces::Polygons { counts, corners } => (counts, corners),
    };
    let mut offsets = vec![0_u32];
    let mut end = 0_u32;
    for c in counts {
        end = end.saturating_add(*c);
        offsets.push(end);
    }
    if end as usize != corners.len() {
        let expected = format!("{end}, the sum of the counts");
        return Err(wrong(
            format!("{at}.faces"),
            format!("{} corners", corners.len()),
            expected,
        ));
    }
    let polygons = Polygons {
        offsets,
        indices: corners.to_vec(),
    };
    topology_of_polygons(m.positions, polygons, warnings).map_err(|e| bad(&e))
}

fn influences(
    at: &str,
    name: &str,
    s: &SkinArrays<'_>,
    [vertices, joints]: [usize; 2],
    warnings: &mut Vec<Warning>,
) -> Checked<Influences> {
    let expected = vertices.saturating_mul(s.per_vertex);
    for (what, found) in [("joints", s.joints.len()), ("weights", s.weights.len())] {
        if found != expected {
            let expected = format!("{expected}: {vertices} vertices with {} each", s.per_vertex);
            return Err(wrong(format!("{at}.skin.{what}"), found, expected));
        }
    }
    let pairs: Vec<(u32, f32)> = s
        .joints
        .iter()
        .copied()
        .zip(s.weights.iter().copied())
        .collect();
    let rows = (0..vertices).map(|v| &pairs[v * s.per_vertex..(v + 1) * s.per_vertex]);
    let made = Influences::from_rows(rows, joints, 0);
    let (influences, unnormalised, empty) = made.map_err(|e| {
        wrong(
            format!("{at}.skin"),
            e,
            "finite weights on joints of the character",
        )
    })?;
    if joints == 0 {
        return Err(wrong(
            format!("{at}.skin"),
            "no joints",
            "joints of the character",
        ));
    }
    let mut warn = |code, all: &[u32], what: &str| {
        if let Some(first) = all.first() {
            let message = format!(
                "mesh '{name}': {} vertices {what}, the first is {first}",
                all.len()
            );
            warnings.push(Warning { code, message });
        }
    };
    warn(
        "weights_not_normalised",
        &unnormalised,
        "have weights that do not sum to 1; they were normalised",
    );
    warn(
        "vertices_without_weights",
        &empty,
        "have no weights and follow the first joint",
    );
    Ok(influences)
}

fn target(at: &str, t: &TargetArrays<'_>, count: usize) -> Checked<MorphTarget> {
    let vertices = match t.vertices {
        Some(given) => given.to_vec(),
        None => (0_u32..).take(count).collect(),
    };
    if let Some(i) = (1..vertices.len()).find(|&i| vertices[i] <= vertices[i - 1]) {
        return Err(wrong(
            format!("{at}.vertices[{i}]"),
            vertices[i],
            "increasing indices",
        ));
    }
    if let Some(last) = vertices.last().filter(|&&v| v as usize >= count) {
        return Err(wrong(
            format!("{at}.vertices"),
            last,
            format!("vertices below {count}"),
        ));
    }
    for (what, list) in [("positions", Some(t.positions)), ("normals", t.normals)] {
        let Some(list) = list else { continue };
        if list.len() != vertices.len() {
            let expected = format!("{}, one per vertex of the target", vertices.len());
            return Err(wrong(format!("{at}.{what}"), list.len(), expected));
        }
        finite(&format!("{at}.{what}"), list.as_flattened(), 3)?;
    }
    if !t.weight.is_finite() {
        return Err(wrong(format!("{at}.weight"), t.weight, "a finite number"));
    }
    Ok(MorphTarget {
        name: t.name.to_owned(),
        vertices,
        positions: t.positions.to_vec(),
        normals: t.normals.unwrap_or_default().to_vec(),
        ..MorphTarget::default()
    })
}

fn strand_mesh(at: &str, s: &StrandArrays<'_>, joints: usize) -> Checked<Mesh> {
    finite(&format!("{at}.positions"), s.positions.as_flattened(), 3)?;
    let made = Strands::new(s.counts.iter().map(|c| *c as usize));
    let mut strands = made.map_err(|e| wrong(format!("{at}.counts"), e, "at least 2 each"))?;
    if strands.vertex_count() != s.positions.len() {
        let expected = format!("{}, the sum of the counts", strands.vertex_count());
        return Err(wrong(
            format!("{at}.positions"),
            s.positions.len(),
            expected,
        ));
    }
    if let Some(guides) = s.guides {
        let with = strands.with_guides(guides.to_vec());
        strands = with.map_err(|e| wrong(format!("{at}.guides"), e, "one guide per strand"))?;
    }
    let count = s.positions.len();
    let mut out = Mesh::new(
        s.name,
        Topology::from_strands(strands),
        s.positions.to_vec(),
    );
    if let Some(thickness) = s.thickness {
        per_vertex(&format!("{at}.thickness"), thickness.len(), count)?;
        finite(&format!("{at}.thickness"), thickness, 1)?;
        let thickness = Attribute::Scalar(thickness.to_vec());
        out.attributes.insert(THICKNESS.to_owned(), thickness);
    }
    if let Some(skin) = &s.skin {
        out.influences = Some(influences(
            at,
            s.name,
            skin,
            [count, joints],
            &mut Vec::new(),
        )?);
    }
    Ok(out)
}

fn clip(at: &str, c: &ClipArrays<'_>, arrays: &CharacterArrays<'_>) -> Checked<Clip> {
    let mut channels = Vec::new();
    let mut add = |at: String, node, target, values: &[f32], width| {
        let (times, linear) = (c.times.to_vec(), Interpolation::Linear);
        let made = Channel::new(node, target, linear, times, values.to_vec(), width);
        let expected = format!("finite values at {} increasing times", c.times.len());
        channels.push(made.map_err(|e| wrong(at, e, expected))?);
        Ok(())
    };
    for (t, track) in c.joints.iter().enumerate() {
        let at = |what: &str| format!("{at}.joints[{t}].{what}");
        if track.joint >= arrays.joints.len() {
            let expected = format!("an index below {}", arrays.joints.len());
            return Err(wrong(at("joint"), track.joint, expected));
        }
        let node = track.joint;
        if let Some(v) = track.translations {
            add(
                at("translations"),
                node,
                ChannelTarget::Translation,
                v.as_flattened(),
                3,
            )?;
        }
        if let Some(v) = track.rotations {
            unit(&at("rotations"), v)?;
            add(
                at("rotations"),
                node,
                ChannelTarget::Rotation,
                v.as_flattened(),
                4,
            )?;
        }
        if let Some(v) = track.scales {
            add(
                at("scales"),
                node,
                ChannelTarget::Scale,
                v.as_flattened(),
                3,
            )?;
        }
    }
    for (w, (mesh, values)) in c.weights.iter().enumerate() {
        let at = format!("{at}.weights[{w}]");
        let Some(of) = arrays.meshes.get(*mesh) else {
            let expected = format!("a mesh below {}", arrays.meshes.len());
            return Err(wrong(at, mesh, expected));
        };
        let node = arrays.joints.len() + mesh;
        add(at, node, ChannelTarget::Weights, values, of.targets.len())?;
    }
    Ok(Clip::new(c.name, channels))
}

fn per_vertex(at: &str, found: usize, expected: usize) -> Checked {
    if found == expected {
        return Ok(());
    }
    Err(wrong(at, found, format!("{expected}, one per vertex")))
}

/// Rotations that are no unit quaternions.
fn unit(at: &str, rotations: &[[f32; 4]]) -> Checked {
    let length = |q: &[f32; 4]| q.iter().map(|c| c * c).sum::<f32>().sqrt();
    let is_unit = |q: &[f32; 4]| (length(q) - 1.0).abs() < 1e-3;
    match rotations.iter().position(|q| !is_unit(q)) {
        None => Ok(()),
        Some(i) => Err(wrong(
            format!("{at}[{i}]"),
            format!("a quaternion of length {}", length(&rotations[i])),
            "length 1",
        )),
    }
}

/// `width` numbers are one element.
fn finite(at: &str, numbers: &[f32], width: usize) -> Checked {
    match numbers.iter().position(|n| !n.is_finite()) {
        None => Ok(()),
        Some(i) => Err(wrong(
            format!("{at}[{}]", i / width),
            numbers[i],
            "finite numbers",
        )),
    }
}
