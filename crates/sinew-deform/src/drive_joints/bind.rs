//! Setup: names become node indices, and poses become differences from the neutral transform.
//!
//! Each driven joint keeps, for each pose, the difference of translation and of scale, and the rotation from neutral as a rotation vector
//! (`log`) or as a quaternion on the side of neutral (`nlerp`). A frame then adds them by weight. Matrices of poses are decomposed here;
//! shear is an error, unless the nearest rotation is asked for.
//!
//! A neutral pose that is far from rest (45 degrees, or half of the distance to the parent) is reported: it usually means other units or
//! another space.

use super::decompose::decompose;
use super::follower::{BoundFollower, Follower, rest_rotation};
use crate::names::instead_of;
use sinew_geom::nalgebra::Vector4;
use sinew_geom::{Affine, LocalTransform, Pose, Rig, Trs, Vec3};

/// Matrices whose shear, as a share of their largest scale, is above this count as sheared. What single precision and six
/// printed digits leave behind is below.
pub(crate) const SHEAR_TOLERANCE: f64 = 1e-4;

/// How rotations are blended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RotationBlend {
    /// Rotation vectors relative to neutral, on the shorter way, are added by weight.
    #[default]
    Log,
    /// Quaternions on the side of neutral are added by weight, neutral with what is left to 1, and normalised.
    Nlerp,
}

/// What a matrix means that is no rotation times a scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sheared {
    /// An error.
    #[default]
    Error,
    /// The nearest rotation, without the shear.
    Nearest,
}

/// What transforms of driven joints are relative to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum JointSpace {
    /// The joint's parent.
    Parent,
    /// Where the joint rests.
    #[default]
    Rest,
}

/// Where the driven joints are in one pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct JointPose<'a> {
    /// What it is called.
    pub name: &'a str,
    /// One transform per driven joint, in the order of [`DriveJointsConfig::joints`], relative to [`DriveJointsConfig::space`].
    pub joints: &'a [Affine<f64>],
}

/// What drives what; see the page of the node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DriveJointsConfig<'a> {
    /// Names of the driven joints, or other nodes of the rig.
    pub joints: &'a [String],
    /// One pose per weight.
    pub poses: Vec<JointPose<'a>>,
    /// Where the driven joints are without any weight, in `space`; empty means at rest.
    pub neutral: &'a [Affine<f64>],
    /// What `poses` and `neutral` are relative to.
    pub space: JointSpace,
    /// How rotations are blended.
    pub rotation: RotationBlend,
    /// What to do with matrices that shear.
    pub sheared: Sheared,
    /// Joints that turn with others, in this order, after the driven ones.
    pub followers: Vec<Follower<'a>>,
}

/// Why driving joints could not be set up.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub(crate) enum DriveJointsError {
    /// A name that no node of the rig has.
    #[error("parameter '{parameter}': the rig has no joint '{name}'; {help}")]
    Unknown {
        /// Where the name stands.
        parameter: &'static str,
        /// The name.
        name: String,
        /// The closest name, or what there is.
        help: String,
    },
    /// A node that nothing can move.
    #[error(
        "parameter '{parameter}': '{name}' has a fixed matrix in the rig, expected translation, rotation and scale"
    )]
    FixedMatrix {
        /// Where the name stands.
        parameter: &'static str,
        /// The name.
        name: String,
    },
    /// A joint is driven twice.
    #[error("parameter 'joints': found '{name}' twice, expected each joint once")]
    Twice {
        /// The name.
        name: String,
    },
    /// Not one pose a weight.
    #[error("found {found} poses, expected {expected}, one for each linked weight")]
    PoseCount {
        /// Poses there are.
        found: usize,
        /// Weights that are linked.
        expected: usize,
    },
    /// Not one transform a driven joint.
    #[error("{what} has {found} transforms, expected {expected}, one for each joint of 'joints'")]
    JointCount {
        /// "pose 'bent'" or "'neutral'".
        what: String,
        /// Transforms there are.
        found: usize,
        /// Driven joints.
        expected: usize,
    },
    /// A matrix that no rotation and scale make.
    #[error(
        "{what}: the matrix of joint '{joint}' has shear: the cosine of two of its axes is {shear:.6}, expected at most {SHEAR_TOLERANCE}; to use the nearest rotation, set \"sheared\": \"nearest\""
    )]
    Sheared {
        /// "pose 'bent'" or "'neutral'".
        what: String,
        /// Name of the joint.
        joint: String,
        /// The largest shear, as a share of the largest scale.
        shear: f64,
    },
    /// A transform with a number that is infinite or none.
    #[error("{what}: the transform of joint '{joint}' is not finite")]
    NotFinite {
        /// "pose 'bent'" or "'neutral'".
        what: String,
        /// Name of the joint.
        joint: String,
    },
    /// A joint that follows itself.
    #[error("parameter 'followers': '{name}' follows itself, expected another joint as its source")]
    OwnSource {
        /// The name.
        name: String,
    },
}

/// Differences of rotation, one a pose.
#[derive(Clone, Debug)]
pub(super) enum Turns {
    /// Rotation vectors from neutral.
    Log(Vec<Vec3<f64>>),
    /// Quaternions on the side of neutral, x y z w.
    Nlerp(Vec<Vector4<f64>>),
}

/// A driven joint; lists have one entry a pose.
#[derive(Clone, Debug)]
pub(super) struct DrivenJoint {
    pub(super) node: usize,
    pub(super) neutral: Trs,
    pub(super) translations: Vec<Vec3<f64>>,
    pub(super) scales: Vec<Vec3<f64>>,
    pub(super) turns: Turns,
}

/// What drives what, by index.
#[derive(Clone, Debug)]
pub(crate) struct DriveJointsBind {
    pub(super) rig: Rig,
    pub(super) weight_count: usize,
    pub(super) joints: Vec<DrivenJoint>,
    /// Followers that are not driven, and their rotations at rest.
    pub(super) followers_at_rest: Vec<(usize, Trs)>,
    pub(super) followers: Vec<BoundFollower>,
    space: JointSpace,
    /// Neutral poses that are far from rest.
    far_from_rest: Vec<FarFromRest>,
}

/// A driven joint whose neutral pose, or each of whose poses, is far from where it rests.
#[derive(Clone, Debug, PartialEq)]
struct FarFromRest {
    joint: String,
    /// "'neutral'", or "pose 'bent', the nearest to it,".
    what: String,
    metres: f64,
    degrees: f64,
}

/// Rotations further from rest are far.
const FAR_DEGREES: f64 = 45.0;
/// Shorter ways from rest are near, however short the joint's distance from its parent is.
const NEAR_METRES: f64 = 0.01;

impl DriveJointsBind {
    /// Looks up all names among the nodes of the rig (the first of a name counts) and takes the poses apart. `weight_count` is
    /// the number of weights that each frame brings.
    ///
    /// # Errors
    /// [`DriveJointsError`] names the first joint or pose that does not fit.
    pub(crate) fn new(
        rig: &Rig,
        config: &DriveJointsConfig<'_>,
        weight_count: usize,
    ) -> Result<Self, DriveJointsError> {
        if config.poses.len() != weight_count {
            return Err(DriveJointsError::PoseCount {
                found: config.poses.len(),
                expected: weight_count,
            });
        }
        check_counts(config)?;
        let (mut joints, mut far_from_rest) = (Vec::<DrivenJoint>::new(), Vec::new());
        for (index, name) in config.joints.iter().enumerate() {
            let (node, rest) = movable(rig, "joints", name)?;
            if joints.iter().any(|j| j.node == node) {
                return Err(DriveJointsError::Twice { name: name.clone() });
            }
            let (joint, far) = bind_joint(config, index, node, rest)?;
            joints.push(joint);
            far_from_rest.extend(far);
        }
        let mut followers_at_rest: Vec<(usize, Trs)> = Vec::new();
        let mut followers = Vec::new();
        for follower in &config.followers {
            let (node, rest) = movable(rig, "followers", follower.joint)?;
            followers.push(bind_follower(rig, follower, node)?);
            let is_driven = joints.iter().any(|j| j.node == node);
            if !is_driven && !followers_at_rest.iter().any(|f| f.0 == node) {
                followers_at_rest.push((node, rest));
            }
        }
        Ok(Self {
            rig: rig.clone(),
            weight_count,
            joints,
            followers_at_rest,
            followers,
            space: config.space,
            far_from_rest,
        })
    }

    /// Warnings about joints whose neutral pose is far from where they rest in the rig: further than 45 degrees, or by more than half of
    /// the distance from their parent. Without [`DriveJointsConfig::neutral`] the pose that is nearest to rest counts. Poses in other
    /// units, or in the other [`JointSpace`], are the usual cause.
    pub(crate) fn far_from_rest(&self) -> impl Iterator<Item = String> + '_ {
        self.far_from_rest.iter().map(|far| {
            let FarFromRest {
                joint,
                what,
                metres,
                degrees,
            } = far;
            format!(
                "joint '{joint}': {what} is {metres:.3} m and {degrees:.1} degrees away from rest, expected a neutral pose near rest; transforms are in metres, relative to {}",
                match self.space {
                    JointSpace::Parent => "the parent; with \"space\": \"rest\", relative to rest",
                    JointSpace::Rest => "rest; with \"space\": \"parent\", relative to the parent",
                }
            )
        })
    }

    /// Whether it is a pose of the rig that was bound, as far as its size tells.
    pub(super) fn fits(&self, pose: &Pose) -> bool {
        let nodes = self.rig.nodes().len();
        pose.locals.len() == nodes
            && pose.scene_from_node.len() == nodes
            && pose.palette.len() == self.rig.joints().len()
            && pose.morph_weights.len() == self.rig.morph_weight_count()
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let of_joint = |j: &DrivenJoint| {
            let turns = match &j.turns {
                Turns::Log(list) => size_of_val(list.as_slice()),
                Turns::Nlerp(list) => size_of_val(list.as_slice()),
            };
            size_of_val(j) + size_of_val(&*j.translations) + size_of_val(&*j.scales) + turns
        };
        self.joints.iter().map(of_joint).sum::<usize>()
            + size_of_val(&*self.followers_at_rest)
            + size_of_val(&*self.followers)
            + size_of_val(self.rig.nodes())
            + size_of_val(self.rig.joints())
    }
}

fn check_counts(config: &DriveJointsConfig<'_>) -> Result<(), DriveJointsError> {
    let expected = config.joints.len();
    let poses = config.poses.iter();
    let poses = poses.map(|p| (format!("pose '{}'", p.name), p.joints.len()));
    let neutral = ("'neutral'".to_owned(), config.neutral.len());
    let neutral = (!config.neutral.is_empty()).then_some(neutral);
    match neutral.into_iter().chain(poses).find(|c| c.1 != expected) {
        Some((what, found)) => Err(DriveJointsError::JointCount {
            what,
            found,
            expected,
        }),
        None => Ok(()),
    }
}

/// The node of that name and where it is at rest.
fn movable(
    rig: &Rig,
    parameter: &'static str,
    name: &str,
) -> Result<(usize, Trs), DriveJointsError> {
    let Some(node) = rig.find_node(name) else {
        let known = rig.nodes().iter().map(|n| n.name.as_str());
        return Err(DriveJointsError::Unknown {
            parameter,
            name: name.to_owned(),
            help: instead_of(name, known),
        });
    };
    match rig.nodes()[node].local {
        LocalTransform::Trs(trs) => Ok((node, trs)),
        LocalTransform::Matrix(_) => Err(DriveJointsError::FixedMatrix {
            parameter,
            name: name.to_owned(),
        }),
    }
}

fn bind_joint(
    config: &DriveJointsConfig<'_>,
    index: usize,
    node: usize,
    rest: Trs,
) -> Result<(DrivenJoint, Option<FarFromRest>), DriveJointsError> {
    let joint = &config.joints[index];
    let part = |what: String, transform: &Affine<f64>, like: Vec3<f64>| {
        if config.space == JointSpace::Parent {
            return taken_apart(config.sheared, what, joint, transform, like);
        }
        let from_rest = taken_apart(config.sheared, what, joint, transform, Vec3::repeat(1.0))?;
        Ok(Trs {
            translation: rest.translation + rest.rotation * from_rest.translation,
            rotation: rest.rotation * from_rest.rotation,
            scale: rest.scale.component_mul(&from_rest.scale),
        })
    };
    let neutral = match config.neutral.get(index) {
        Some(transform) => part("'neutral'".into(), transform, rest.scale)?,
        None => rest,
    };
    let poses = config.poses.iter().map(|pose| {
        let what = format!("pose '{}'", pose.name);
        part(what, &pose.joints[index], neutral.scale)
    });
    let poses: Vec<Trs> = poses.collect::<Result<_, _>>()?;
    let far = far_from_rest(config, index, &rest, &neutral, &poses);
    let turns = match config.rotation {
        RotationBlend::Log => {
            let turn = |p: &Trs| (neutral.rotation.inverse() * p.rotation).scaled_axis();
            Turns::Log(poses.iter().map(turn).collect())
        }
        RotationBlend::Nlerp => {
            let aligned = |p: &Trs| {
                let q = p.rotation.coords;
                let is_far = q.dot(&neutral.rotation.coords) < 0.0;
                if is_far { -q } else { q }
            };
            Turns::Nlerp(poses.iter().map(aligned).collect())
        }
    };
    let translations = poses.iter().map(|p| p.translation - neutral.translation);
    let scales = poses.iter().map(|p| p.scale - neutral.scale);
    let bound = DrivenJoint {
        node,
        neutral,
        translations: translations.collect(),
        scales: scales.collect(),
        turns,
    };
    Ok((bound, far))
}

/// Whether the neutral pose, else the pose nearest to rest, is far from it.
fn far_from_rest(
    config: &DriveJointsConfig<'_>,
    index: usize,
    rest: &Trs,
    neutral: &Trs,
    poses: &[Trs],
) -> Option<FarFromRest> {
    let reach = (rest.translation.norm() * 0.5).max(NEAR_METRES);
    let apart = |trs: &Trs| {
        let turned = rest
            .rotation
            .angle_to(&trs.with_signs_of(rest.scale).rotation);
        let moved = (trs.translation - rest.translation).norm();
        (moved, turned.to_degrees())
    };
    // In units of what counts as near.
    let far = |trs: &Trs| {
        let (metres, degrees) = apart(trs);
        (metres / reach).max(degrees / FAR_DEGREES)
    };
    let (what, nearest) = if config.neutral.is_empty() {
        let poses = config.poses.iter().zip(poses);
        let nearest = poses.min_by(|a, b| far(a.1).total_cmp(&far(b.1)))?;
        let what = format!("pose '{}', the pose nearest to rest,", nearest.0.name);
        (what, nearest.1)
    } else {
        ("'neutral'".to_owned(), neutral)
    };
    let (metres, degrees) = apart(nearest);
    (far(nearest) > 1.0).then(|| FarFromRest {
        joint: config.joints[index].clone(),
        what,
        metres,
        degrees,
    })
}

fn taken_apart(
    sheared: Sheared,
    what: String,
    joint: &str,
    transform: &Affine<f64>,
    like: Vec3<f64>,
) -> Result<Trs, DriveJointsError> {
    let joint = joint.to_owned();
    if !transform.is_finite() {
        return Err(DriveJointsError::NotFinite { what, joint });
    }
    let parts = decompose(transform);
    if sheared == Sheared::Error && parts.shear > SHEAR_TOLERANCE {
        let shear = parts.shear;
        return Err(DriveJointsError::Sheared { what, joint, shear });
    }
    Ok(parts.with_signs_of(like))
}

fn bind_follower(
    rig: &Rig,
    follower: &Follower<'_>,
    node: usize,
) -> Result<BoundFollower, DriveJointsError> {
    let (source, rest) = movable(rig, "followers", follower.source)?;
    if source == node {
        return Err(DriveJointsError::OwnSource {
            name: follower.joint.to_owned(),
        });
    }
    Ok(BoundFollower {
        node,
        source,
        rest_from_source: rest.rotation.inverse(),
        source_scale: rest.scale,
        follower_from_source: rest_rotation(rig, node).inverse() * rest_rotation(rig, source),
        axis: follower.axis.vector(),
        twist: follower.twist,
        swing: follower.swing,
    })
}
