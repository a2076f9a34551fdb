//! Skeletons as meshes: bones are octahedra that are widest near the parent joint, joints are small octahedra.
//!
//! The number of vertices depends only on the hierarchy. Therefore you create a [`Surface`](crate::Surface) once, and each frame uploads
//! positions and normals. A bone of length 0 shrinks to a point. Widths come from the lengths at rest: a bone that stretches keeps its
//! width.

use crate::facets::{self, OCTAHEDRON, Octahedron};
use sinew_geom::{Affine, Mesh, Pose, Rig, Vec3};
use std::collections::BTreeSet;

type Point = Vec3<f64>;

/// Half the width of a bone, as a part of its length.
const BONE_WIDTH: f64 = 0.08;
/// Where a bone is thickest, as a part of its length from the parent on.
const THICKEST: f64 = 0.12;
/// Bones are never thicker than this part of their length.
const THICKEST_BONE: f64 = 0.3;
/// Radius of a joint, as a part of the longest bone at it.
const JOINT_RADIUS: f64 = 0.045;
/// Half the width of bones and radius of joints, at least: a part of the skeleton's size.
const LEAST: f64 = 0.0035;
/// And at most.
const MOST: f64 = 0.02;
/// Length of the stub of a joint without children, as a part of the bone that leads to it.
const STUB: f64 = 0.45;
/// The same of a joint without any bone, as a part of the skeleton's size.
const LONE_STUB: f64 = 0.1;

/// The nodes that are joints of a skin, in order, without duplicates: the nodes of the skeleton to draw.
///
/// `meshes` are all meshes that the rig moves, in file order. The glTF reader adds a joint for each mesh without a skin at the end of the
/// palette; those are left out, unless a skin names the same node.
pub fn skeletal_nodes(rig: &Rig, meshes: &[Mesh]) -> Vec<usize> {
    let mut skinned = rig.joints().len();
    for mesh in meshes.iter().rev() {
        if skinned > 0 && sole_joint(mesh) == Some(skinned - 1) {
            skinned -= 1;
        }
    }
    let nodes: BTreeSet<usize> = rig.joints()[..skinned].iter().map(|j| j.node).collect();
    nodes.into_iter().collect()
}

/// The joint that alone moves a mesh, if there is one.
fn sole_joint(mesh: &Mesh) -> Option<usize> {
    let influences = mesh.influences.as_ref()?;
    let first = *influences.joints().first()?;
    let is_rigid =
        influences.max_per_vertex() == 1 && influences.joints().iter().all(|&j| j == first);
    is_rigid.then_some(first as usize)
}

/// A bone from a joint to one of its children, or the stub of a joint that has none.
#[derive(Clone, Debug, PartialEq)]
struct Bone {
    /// Place in [`Skeleton::nodes`].
    from: usize,
    to: End,
    half_width: f64,
    /// The axis of `from`'s node that is most across the bone at rest.
    across: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// Place in [`Skeleton::nodes`].
    Joint(usize),
    /// In the space of the joint's node.
    Stub(Point),
}

/// A skeleton to draw. Draw its mesh with [`Paint::Colors`](crate::Paint::Colors) in [`Layer::Overlay`](crate::Layer::Overlay).
#[derive(Clone, Debug, PartialEq)]
pub struct Skeleton {
    nodes: Vec<usize>,
    radii: Vec<f64>,
    bones: Vec<Bone>,
}

/// A skeleton at rest.
struct Rest {
    scene_from_node: Vec<Affine<f64>>,
    /// Of each joint, the place of the joint above it.
    parents: Vec<Option<usize>>,
    /// Length of the diagonal of the box around all joints, metres; never zero.
    size: f64,
}

impl Rest {
    fn new(rig: &Rig, nodes: &[usize]) -> Self {
        let pose = rig.rest_pose();
        let scene_from_node: Vec<_> = nodes.iter().map(|&n| pose.scene_from_node[n]).collect();
        let (mut lo, mut hi) = (
            Point::repeat(f64::INFINITY),
            Point::repeat(f64::NEG_INFINITY),
        );
        for node in scene_from_node.iter().filter(|n| n.is_finite()) {
            (lo, hi) = (lo.inf(&node.translation), hi.sup(&node.translation));
        }
        let size = (hi - lo).norm();
        let has_size = size.is_finite() && size > 0.0;
        Self {
            scene_from_node,
            parents: parents(rig, nodes),
            size: if has_size { size } else { 1.0 },
        }
    }

    fn place(&self, joint: usize) -> Point {
        self.scene_from_node[joint].translation
    }

    /// The bone from one joint to a place (scene space).
    fn bone(&self, from: usize, target: Point, to: End) -> Bone {
        let along = target - self.place(from);
        let node = &self.scene_from_node[from];
        let slant = |axis: usize| {
            let axis = node.linear.column(axis).try_normalize(0.0);
            axis.map_or(f64::INFINITY, |a| a.dot(&along).abs())
        };
        let across = (0..3).min_by(|&a, &b| slant(a).total_cmp(&slant(b)));
        Bone {
            from,
            to,
            half_width: self.fitted(BONE_WIDTH * along.norm()),
            across: across.unwrap_or(0),
        }
    }

    /// The stub of a joint without children: on in the direction that leads to it, upwards where nothing does.
    fn stub(&self, joint: usize) -> Bone {
        let here = self.place(joint);
        let along = match self.parents[joint] {
            Some(parent) => (here - self.place(parent)) * STUB,
            None => Point::y() * (LONE_STUB * self.size),
        };
        let target = here + along;
        let local = self.scene_from_node[joint]
            .inverse()
            .map(|i| i.point(target));
        // A node that is flat at rest cannot say where: no stub.
        self.bone(joint, target, End::Stub(local.unwrap_or_default()))
    }

    fn fitted(&self, size: f64) -> f64 {
        let size = if size.is_finite() { size } else { 0.0 };
        size.clamp(LEAST * self.size, MOST * self.size)
    }
}

/// The place of the nearest ancestor that is in `nodes`, of each; `nodes` rise.
fn parents(rig: &Rig, nodes: &[usize]) -> Vec<Option<usize>> {
    let parent_of = |node: usize| rig.nodes()[node].parent;
    let nearest = |&node: &usize| {
        std::iter::successors(parent_of(node), |&n| parent_of(n))
            .find_map(|n| nodes.binary_search(&n).ok())
    };
    nodes.iter().map(nearest).collect()
}

impl Skeleton {
    /// Colour of bones, linear RGBA.
    pub(crate) const BONE_COLOR: [f32; 4] = [0.80, 0.46, 0.10, 1.0];
    /// Colour of joints, linear RGBA.
    pub(crate) const JOINT_COLOR: [f32; 4] = [0.10, 0.32, 0.62, 1.0];

    /// The skeleton of these nodes of a rig, usually [`skeletal_nodes`]. A bone connects each node to its nearest ancestor in the list.
    /// The order of `nodes` does not matter. Duplicates and indices that the rig does not have are ignored.
    pub fn new(rig: &Rig, mut nodes: Vec<usize>) -> Self {
        nodes.retain(|&n| n < rig.nodes().len());
        nodes.sort_unstable();
        nodes.dedup();
        let rest = Rest::new(rig, &nodes);
        let mut bones = Vec::with_capacity(nodes.len());
        let mut longest = vec![0.0_f64; nodes.len()];
        for (joint, parent) in rest.parents.iter().enumerate() {
            if let &Some(parent) = parent {
                let length = (rest.place(joint) - rest.place(parent)).norm();
                longest[joint] = longest[joint].max(length);
                longest[parent] = longest[parent].max(length);
                bones.push(rest.bone(parent, rest.place(joint), End::Joint(joint)));
            }
            if !rest.parents.contains(&Some(joint)) {
                bones.push(rest.stub(joint));
            }
        }
        let radii = longest.iter().map(|l| rest.fitted(JOINT_RADIUS * l));
        Self {
            radii: radii.collect(),
            nodes,
            bones,
        }
    }

    /// Indices of the rig nodes that are its joints, in order.
    pub fn nodes(&self) -> &[usize] {
        &self.nodes
    }

    /// Number of vertices of its mesh, the same in every pose.
    pub(crate) fn vertex_count(&self) -> usize {
        OCTAHEDRON * (self.bones.len() + self.nodes.len())
    }

    /// The mesh of all bones and joints in a pose of the rig, in scene space, in metres. It is flat shaded, its faces share no vertices,
    /// and it has the colours of bones and joints.
    pub fn mesh(&self, pose: &Pose) -> Mesh {
        let (mut positions, mut normals) = (Vec::new(), Vec::new());
        self.positions_into(pose, &mut positions, &mut normals);
        let mut colors = vec![Self::BONE_COLOR; OCTAHEDRON * self.bones.len()];
        colors.resize(positions.len(), Self::JOINT_COLOR);
        facets::mesh("skeleton", positions, normals, colors)
    }

    /// Replaces `positions` (metres) and `normals` (unit) with those of [`Self::mesh`] in another pose. Does not allocate if both have
    /// enough capacity.
    pub fn positions_into(
        &self,
        pose: &Pose,
        positions: &mut Vec<[f32; 3]>,
        normals: &mut Vec<[f32; 3]>,
    ) {
        positions.reserve(self.vertex_count());
        normals.reserve(self.vertex_count());
        let bones = self.bones.iter().map(|bone| self.bone_shape(bone, pose));
        let joints = self.radii.iter().enumerate();
        let balls = joints.map(|(j, &r)| Octahedron::ball(self.node(pose, j).translation, r));
        facets::fill(bones.chain(balls), positions, normals);
    }

    fn node(&self, pose: &Pose, joint: usize) -> Affine<f64> {
        let node = pose.scene_from_node.get(self.nodes[joint]);
        node.copied().unwrap_or_default()
    }

    fn bone_shape(&self, bone: &Bone, pose: &Pose) -> Octahedron {
        let scene_from_node = self.node(pose, bone.from);
        let base = scene_from_node.translation;
        let tip = match bone.to {
            End::Joint(joint) => self.node(pose, joint).translation,
            End::Stub(local) => scene_from_node.point(local),
        };
        let length = (tip - base).norm();
        let Some(along) = (tip - base).try_normalize(0.0) else {
            return Octahedron {
                base,
                tip,
                ring: [base; 4],
            };
        };
        let axis = scene_from_node.linear.column(bone.across).into_owned();
        let right = across(axis, along);
        let up = along.cross(&right);
        let half_width = bone.half_width.min(THICKEST_BONE * length);
        let middle = base + (tip - base) * THICKEST;
        Octahedron {
            base,
            tip,
            ring: [right, up, -right, -up].map(|side| middle + side * half_width),
        }
    }
}

/// A unit vector across `along` (unit), towards `axis` if it can be.
fn across(axis: Point, along: Point) -> Point {
    let side = |v: Point| {
        let v = v.try_normalize(0.0)?;
        (v - along * v.dot(&along)).try_normalize(1e-6)
    };
    // One of two axes is always aside.
    side(axis)
        .or_else(|| side(Point::x()))
        .or_else(|| side(Point::y()))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
