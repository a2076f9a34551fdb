//! Node tree, joints and poses.
//!
//! Local transforms give scene transforms (parents first), and those give the palette: `palette[j] = scene_from_node * joint_from_bind`, as
//! in linear skinning of glTF 2.0, section 3.7.3. Everything is in double precision up to the palette.

use crate::{Affine, ChannelTarget, Clip, Mat3, PackedAffine, Quat, Vec3};
use nalgebra::Rotation3;

/// Translation, rotation, scale of a node relative to its parent. A point is scaled first, then rotated, then translated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trs {
    /// Translation in metres.
    pub translation: Vec3<f64>,
    /// Rotation as a unit quaternion.
    pub rotation: Quat<f64>,
    /// Scale factors per axis.
    /// Negative factors mirror.
    pub scale: Vec3<f64>,
}

impl Default for Trs {
    fn default() -> Self {
        Self {
            translation: Vec3::zeros(),
            rotation: Quat::identity(),
            scale: Vec3::repeat(1.0),
        }
    }
}

impl Trs {
    /// The same transform with the scale signs of `like`, if a rotation by 180 degrees can change them. Two negative factors equal a
    /// 180-degree rotation about the third axis. A mirror along one axis equals a mirror along another axis and a 180-degree rotation.
    /// If only one of the two transforms mirrors, the transform does not change.
    pub fn with_signs_of(mut self, like: Vec3<f64>) -> Self {
        let flips = self.scale.zip_map(&like, |a, b| (a < 0.0) != (b < 0.0));
        if flips.iter().filter(|&&f| f).count() == 2 {
            let turn = flips.map(|f| if f { -1.0 } else { 1.0 });
            let turn = Rotation3::from_matrix_unchecked(Mat3::from_diagonal(&turn));
            self.rotation *= Quat::from_rotation_matrix(&turn);
            self.scale.component_mul_assign(&turn.matrix().diagonal());
        }
        self
    }

    /// The same transform in the form of [`Affine::decompose`]: no negative scale factor, or only the x factor if the transform mirrors.
    /// Equal matrices from different programs then have equal rotations.
    pub fn in_one_form(self) -> Self {
        let x = if self.mirrors() { -1.0 } else { 1.0 };
        self.with_signs_of(Vec3::new(x, 1.0, 1.0))
    }

    /// Whether an odd number of scale factors is negative.
    pub fn mirrors(&self) -> bool {
        self.scale.iter().filter(|&&s| s < 0.0).count() % 2 == 1
    }
}

/// Transform of a node relative to its parent. Only the [`LocalTransform::Trs`] form can be animated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LocalTransform {
    /// Translation, rotation, scale.
    Trs(Trs),
    /// A fixed matrix, which may shear.
    Matrix(Affine<f64>),
}

impl LocalTransform {
    /// The transform from node space to parent space.
    pub fn to_affine(&self) -> Affine<f64> {
        match self {
            Self::Trs(t) => Affine::from_trs(t.translation, t.rotation, t.scale),
            Self::Matrix(m) => *m,
        }
    }
}

/// One node of the scene tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Name in the file.
    pub name: String,
    /// Index of the parent; always smaller than the node's own index.
    pub parent: Option<usize>,
    /// Rest transform.
    pub local: LocalTransform,
    /// Default morph weights of the mesh on this node.
    pub morph_weights: Vec<f32>,
    /// Index of the first of those weights in [`Pose::morph_weights`].
    pub morph_offset: usize,
}

/// An entry of the skinning palette: a node and its inverse bind transform.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Index into [`Rig::nodes`].
    pub node: usize,
    /// Maps scene space at bind to joint space.
    pub joint_from_bind: Affine<f64>,
}

/// Why a [`Rig`] was refused.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RigError {
    /// The parent of a node does not come before it.
    #[error("node {node} has parent {parent}, but parents must come first")]
    ParentOrder {
        /// Index of the node.
        node: usize,
        /// Its parent.
        parent: usize,
    },
    /// A joint refers to a node that does not exist.
    #[error("joint {joint} refers to node {node}, but there are {node_count} nodes")]
    JointNode {
        /// Index of the joint.
        joint: usize,
        /// Index of the node.
        node: usize,
        /// Number of nodes.
        node_count: usize,
    },
}

/// Node tree and joints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rig {
    nodes: Vec<Node>,
    joints: Vec<Joint>,
    morph_weight_count: usize,
}

impl Rig {
    /// Checks the tree and numbers the morph weights in node order (sets [`Node::morph_offset`]).
    ///
    /// # Errors
    /// [`RigError`] names the first node or joint that is wrong.
    pub fn new(mut nodes: Vec<Node>, joints: Vec<Joint>) -> Result<Self, RigError> {
        let mut morph_weight_count = 0;
        for (node, n) in nodes.iter_mut().enumerate() {
            if let Some(parent) = n.parent.filter(|&p| p >= node) {
                return Err(RigError::ParentOrder { node, parent });
            }
            n.morph_offset = morph_weight_count;
            morph_weight_count += n.morph_weights.len();
        }
        for (joint, j) in joints.iter().enumerate() {
            if j.node >= nodes.len() {
                return Err(RigError::JointNode {
                    joint,
                    node: j.node,
                    node_count: nodes.len(),
                });
            }
        }
        Ok(Self {
            nodes,
            joints,
            morph_weight_count,
        })
    }

    /// Nodes, parents first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }
    /// Joints, in the order of the skinning palette.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }
    /// Length of [`Pose::morph_weights`].
    pub fn morph_weight_count(&self) -> usize {
        self.morph_weight_count
    }
    /// Index of the node of that name: that of a joint, or else the first one. A mesh often has the name of the joint that moves it.
    /// Linear search; names need not be unique.
    pub fn find_node(&self, name: &str) -> Option<usize> {
        let joint = self.find_joint(name).map(|j| self.joints[j].node);
        joint.or_else(|| self.nodes.iter().position(|n| n.name == name))
    }
    /// Index of the first joint whose node has that name.
    pub fn find_joint(&self, name: &str) -> Option<usize> {
        self.joints
            .iter()
            .position(|j| self.nodes[j.node].name == name)
    }
    /// Name of the node of a joint.
    ///
    /// # Panics
    /// If there is no such joint.
    pub fn joint_name(&self, joint: usize) -> &str {
        &self.nodes[self.joints[joint].node].name
    }

    /// A pose of this rig at rest. Allocates; reuse it.
    /// Morph weights are the defaults of the nodes.
    pub fn rest_pose(&self) -> Pose {
        let mut pose = Pose {
            locals: vec![LocalTransform::Trs(Trs::default()); self.nodes.len()],
            scene_from_node: vec![Affine::identity(); self.nodes.len()],
            palette: vec![PackedAffine::default(); self.joints.len()],
            morph_weights: vec![0.0; self.morph_weight_count],
        };
        self.evaluate(None, 0.0, &mut pose);
        pose
    }

    /// Samples `clip` (or the rest pose) at `time_secs` into `pose`. Does not allocate.
    ///
    /// It starts from the rest transforms and applies the channels in order: of two channels for one property, the last wins. Channels of
    /// nodes with a [`LocalTransform::Matrix`] are ignored. Before the first and after the last key, a channel holds that key.
    ///
    /// `pose` must come from [`Self::rest_pose`] of this rig. Transforms are computed in double precision; the palette is rounded to `f32`.
    ///
    /// # Cost
    /// O(nodes + joints), and a binary search per component of each channel.
    ///
    /// # Panics
    /// If `pose` is smaller than the rig, or a channel of the clip names a node that does not exist.
    pub fn evaluate(&self, clip: Option<&Clip>, time_secs: f64, pose: &mut Pose) {
        for (i, n) in self.nodes.iter().enumerate() {
            pose.locals[i] = n.local;
            pose.morph_weights[n.morph_offset..n.morph_offset + n.morph_weights.len()]
                .copy_from_slice(&n.morph_weights);
        }
        for channel in clip.map(Clip::channels).unwrap_or_default() {
            let node = &self.nodes[channel.node];
            if channel.target == ChannelTarget::Weights {
                let range = node.morph_offset..node.morph_offset + node.morph_weights.len();
                channel.sample_weights(time_secs, &mut pose.morph_weights[range]);
            } else if let LocalTransform::Trs(trs) = &mut pose.locals[channel.node] {
                channel.sample_trs(time_secs, trs);
            }
        }
        self.finish(pose);
    }

    /// Whether a range of frames of a clip is a closed loop: the last pose equals the first, and the pose before the last differs.
    /// `numbers` are frames in playing order, frame 0 at 0 s; fewer than three are never a loop. Node positions may differ by 1e-4 of the
    /// largest distance from the first node, linear parts by 1e-4 of their norm, morph weights by 1e-4. Allocates three poses.
    pub fn is_closed(&self, clip: &Clip, numbers: &[i64], frames_per_second: f64) -> bool {
        let [first, .., before, last] = numbers else {
            return false;
        };
        let at = |number: &i64| {
            let mut pose = self.rest_pose();
            self.evaluate(Some(clip), *number as f64 / frames_per_second, &mut pose);
            pose
        };
        let first = at(first);
        first.is_close(&at(last)) && !first.is_close(&at(before))
    }

    /// Sets nodes of a pose by their transforms in scene space, then calls [`Self::finish`]. `scene_from_node` gives the transform of a node by
    /// its index; nodes for which it gives `None` keep their local transform. Does not allocate.
    ///
    /// A node below a parent that flattens space (scale 0) keeps its local transform, too.
    pub fn pose_in_scene(
        &self,
        scene_from_node: impl Fn(usize) -> Option<Affine<f64>>,
        pose: &mut Pose,
    ) {
        for (i, n) in self.nodes.iter().enumerate() {
            let parent = n.parent.map(|p| pose.scene_from_node[p]);
            let given = scene_from_node(i);
            let local = match (given, parent) {
                (Some(scene), None) => Some(scene),
                (Some(scene), Some(parent)) => parent.inverse().map(|p| p * scene),
                (None, _) => None,
            };
            if let Some(local) = local {
                pose.locals[i] = LocalTransform::Matrix(local);
            }
            let local = pose.locals[i].to_affine();
            pose.scene_from_node[i] = match parent.map(|p| p * local) {
                Some(scene) => scene,
                None => local,
            };
        }
        self.finish(pose);
    }

    /// Recomputes scene transforms and palette from `pose.locals`. Does not allocate.
    /// For code that writes `locals` itself, between [`Self::evaluate`] and a node that reads the pose.
    pub fn finish(&self, pose: &mut Pose) {
        for (i, n) in self.nodes.iter().enumerate() {
            let local = pose.locals[i].to_affine();
            pose.scene_from_node[i] = match n.parent {
                Some(p) => pose.scene_from_node[p] * local,
                None => local,
            };
        }
        for (out, j) in pose.palette.iter_mut().zip(&self.joints) {
            *out = (pose.scene_from_node[j.node] * j.joint_from_bind).into();
        }
    }
}

/// A pose of a [`Rig`]: local transforms, scene transforms, skinning palette, morph weights.
/// [`Rig::rest_pose`] makes one with the right lengths.
#[derive(Debug, Default)]
pub struct Pose {
    /// Maps the space of each node to that of its parent. One per node, as `scene_from_node`.
    pub locals: Vec<LocalTransform>,
    /// Maps the space of each node to scene space, metres.
    pub scene_from_node: Vec<Affine<f64>>,
    /// Skinning matrix of each joint: maps rest positions to posed ones, both in scene space.
    pub palette: Vec<PackedAffine>,
    /// Weights of all morph targets, node by node; [`Mesh::morph_weight_index`](crate::Mesh::morph_weight_index) finds that of a target.
    pub morph_weights: Vec<f32>,
}

impl Pose {
    /// Whether it equals `other`: nodes within 1e-4 of the rig's size, morph weights within 1e-4.
    fn is_close(&self, other: &Self) -> bool {
        const SAME: f64 = 1e-4;
        let place = |a: &Affine<f64>| a.translation;
        let root = self.scene_from_node.first().map_or(Vec3::zeros(), place);
        let apart = self
            .scene_from_node
            .iter()
            .map(|a| (a.translation - root).norm());
        let size = apart.fold(0.0, f64::max);
        let mut nodes = self.scene_from_node.iter().zip(&other.scene_from_node);
        let mut weights = self.morph_weights.iter().zip(&other.morph_weights);
        nodes.all(|(a, b)| {
            (a.translation - b.translation).norm() <= SAME * size
                && (a.linear - b.linear).norm() <= SAME * a.linear.norm()
        }) && weights.all(|(a, b)| f64::from((a - b).abs()) <= SAME)
    }
}

impl Clone for Pose {
    fn clone(&self) -> Self {
        Self {
            locals: self.locals.clone(),
            scene_from_node: self.scene_from_node.clone(),
            palette: self.palette.clone(),
            morph_weights: self.morph_weights.clone(),
        }
    }

    /// Allocates nothing where both are of one rig, so that nodes may use it in each frame.
    fn clone_from(&mut self, source: &Self) {
        self.locals.clone_from(&source.locals);
        self.scene_from_node.clone_from(&source.scene_from_node);
        self.palette.clone_from(&source.palette);
        self.morph_weights.clone_from(&source.morph_weights);
    }
}

#[cfg(test)]
#[path = "rig_tests.rs"]
mod tests;
