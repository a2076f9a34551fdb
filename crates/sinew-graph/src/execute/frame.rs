//! The data of each frame, and the check that it fits the bound inputs.

use crate::input::InputBinding;
use crate::plan::{InputType, Plan};
use crate::program::Program;
use sinew_deform::Misread;
use sinew_geom::{Affine, PackedAffine, Pose};

/// Data that the caller passes in for one frame: time, poses, values, positions of animated meshes.
///
/// ```
/// # use sinew_graph::Frame;
/// # let pose = sinew_geom::Pose::default();
/// let frame = Frame::at(0.5).dt(1.0 / 30.0).pose(&pose).values(&[(1, &[0.25, 0.75])]);
/// assert_eq!(frame.values_of(1), Some(&[0.25, 0.75][..]));
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Frame<'a> {
    /// Time of the frame in seconds.
    pub time_secs: f64,
    /// Time since the previous frame in seconds; 0 for the first frame.
    pub dt_secs: f64,
    /// The pose for every pose input that `poses` does not list.
    pub pose: Option<&'a Pose>,
    /// Poses of single inputs, by index into [`Plan::inputs`]; they override `pose`.
    pub poses: &'a [(usize, &'a Pose)],
    /// Floats of `values` inputs, by index into [`Plan::inputs`].
    pub values: &'a [(usize, &'a [f32])],
    /// Positions of animated mesh inputs ([`InputBinding::AnimatedMesh`]), by index into [`Plan::inputs`]: one per vertex of the rest
    /// mesh, in scene space, in metres.
    pub positions: &'a [(usize, &'a [[f32; 3]])],
}

impl<'a> Frame<'a> {
    /// A frame at this time, with nothing else.
    pub fn at(time_secs: f64) -> Self {
        Self {
            time_secs,
            ..Self::default()
        }
    }
    /// With another time since the previous frame, in seconds.
    pub fn dt(self, dt_secs: f64) -> Self {
        Self { dt_secs, ..self }
    }
    /// With a pose for every pose input that [`Self::poses`] does not list.
    pub fn pose(self, pose: impl Into<Option<&'a Pose>>) -> Self {
        let pose = pose.into();
        Self { pose, ..self }
    }
    /// With poses of single inputs.
    pub fn poses(self, poses: &'a [(usize, &'a Pose)]) -> Self {
        Self { poses, ..self }
    }
    /// With floats of `values` inputs.
    pub fn values(self, values: &'a [(usize, &'a [f32])]) -> Self {
        Self { values, ..self }
    }
    /// With positions of animated mesh inputs.
    pub fn positions(self, positions: &'a [(usize, &'a [[f32; 3]])]) -> Self {
        Self { positions, ..self }
    }

    pub(crate) fn pose_of(&self, input: usize) -> Option<&'a Pose> {
        let own = self.poses.iter().find(|p| p.0 == input).map(|p| p.1);
        own.or(self.pose)
    }
    /// The floats of a values input, by index into [`Plan::inputs`].
    pub fn values_of(&self, input: usize) -> Option<&'a [f32]> {
        self.values.iter().find(|v| v.0 == input).map(|v| v.1)
    }
    /// The positions of an animated mesh input, by index into [`Plan::inputs`].
    pub(crate) fn positions_of(&self, input: usize) -> Option<&'a [[f32; 3]]> {
        self.positions.iter().find(|p| p.0 == input).map(|p| p.1)
    }
    /// The floats of any input that has some.
    pub(crate) fn floats_of(&self, input: usize) -> Option<&'a [f32]> {
        let positions = || Some(self.positions_of(input)?.as_flattened());
        self.values_of(input).or_else(positions)
    }
}

/// Why a frame was refused. If the passed data was the reason, nothing changes: the outputs stay those of the previous frame.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum UpdateError {
    /// A pose input got no pose.
    #[error("input '{input}': found no pose, expected a pose of {expected} joints")]
    MissingPose {
        /// Name of the input.
        input: String,
        /// Joints of the bound rig.
        expected: usize,
    },
    /// The pose belongs to another rig than the bound one.
    #[error(
        "input '{input}': found a pose with {found} {what}, expected {expected}; the pose belongs to another rig"
    )]
    PoseSize {
        /// Name of the input.
        input: String,
        /// "nodes", "joints" or "morph weights".
        what: &'static str,
        /// Count in the pose.
        found: usize,
        /// Count in the bound rig.
        expected: usize,
    },
    /// A number in a pose is NaN or infinite.
    #[error("input '{input}': {what} {index} of the pose is NaN or infinite")]
    PoseNotFinite {
        /// Name of the input.
        input: String,
        /// "joint" (its skinning matrix), "node" (its scene transform) or "morph weight".
        what: &'static str,
        /// Its index.
        index: usize,
    },
    /// A values input got no values.
    #[error("input '{input}': found no values, expected {expected}")]
    MissingValues {
        /// Name of the input.
        input: String,
        /// Declared count.
        expected: usize,
    },
    /// A values input got too many or too few.
    #[error("input '{input}': found {found} values, expected {expected}")]
    ValueCount {
        /// Name of the input.
        input: String,
        /// Number of values in the frame.
        found: usize,
        /// Declared count.
        expected: usize,
    },
    /// A value is NaN or infinite.
    #[error("input '{input}': value {index} is {found}, expected a finite number")]
    NotFinite {
        /// Name of the input.
        input: String,
        /// Index of the value.
        index: usize,
        /// The value.
        found: f32,
    },
    /// An animated mesh input got no positions.
    #[error("input '{input}': found no positions, expected {expected}, one for each vertex")]
    MissingPositions {
        /// Name of the input.
        input: String,
        /// Vertices of the rest mesh.
        expected: usize,
    },
    /// An animated mesh input got too many or too few positions.
    #[error("input '{input}': found {found} positions, expected {expected}, one for each vertex")]
    PositionCount {
        /// Name of the input.
        input: String,
        /// Positions in the frame.
        found: usize,
        /// Vertices of the rest mesh.
        expected: usize,
    },
    /// A position is NaN or infinite.
    #[error(
        "input '{input}': the position of vertex {vertex} is {found:?}, expected finite numbers"
    )]
    PositionNotFinite {
        /// Name of the input.
        input: String,
        /// Index of the vertex.
        vertex: usize,
        /// The position.
        found: [f32; 3],
    },
    /// The frame passes positions to a mesh that is not animated.
    #[error("input '{input}': found positions, but the input is not bound to an animated mesh")]
    NotAnimated {
        /// Name of the input.
        input: String,
    },
    /// The frame passes a pose or values to an input of another type.
    #[error("input '{input}': found {found}, expected {expected}")]
    InputType {
        /// Name of the input.
        input: String,
        /// "a pose" or "values".
        found: &'static str,
        /// "a mesh", "strands", "a pose", "values" or "a vertex animation".
        expected: &'static str,
    },
    /// The frame passes a pose or values to an input that does not exist.
    #[error("the frame names input {found}, but the graph has {expected} inputs, counted from 0")]
    NoSuchInput {
        /// Index in the frame.
        found: usize,
        /// Number of inputs.
        expected: usize,
    },
    /// A node reads something that it does not declare.
    #[error("node '{node}' ({kind}): {source}")]
    Node {
        /// Name of the node.
        node: String,
        /// Kind of the node.
        kind: &'static str,
        /// What the node did wrong.
        source: Misread,
    },
}

/// What an input needs from each frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Whether any step reads it.
    needed: bool,
    size: Size,
}

#[derive(Clone, Copy, Debug)]
enum Size {
    Nothing,
    Pose {
        nodes: usize,
        joints: usize,
        morph_weights: usize,
    },
    Values(usize),
    /// Positions of that many vertices.
    Positions(usize),
}

/// What each input needs. The inputs were already matched with their bindings.
pub(crate) fn wanted(plan: &Plan, program: &Program, inputs: &[InputBinding]) -> Vec<Wanted> {
    let size = |(binding, count): (&InputBinding, usize)| match binding {
        InputBinding::Mesh(_) | InputBinding::VertexAnimation(_) => Size::Nothing,
        InputBinding::AnimatedMesh(mesh) => Size::Positions(mesh.vertex_count()),
        InputBinding::Pose(rig) => Size::Pose {
            nodes: rig.nodes().len(),
            joints: rig.joints().len(),
            morph_weights: rig.morph_weight_count(),
        },
        InputBinding::Values => Size::Values(count),
    };
    let counts = plan.inputs().iter().map(|i| i.count);
    let sizes = inputs.iter().zip(counts).map(size);
    sizes
        .enumerate()
        .map(|(input, size)| Wanted {
            needed: program.needs_input(input),
            size,
        })
        .collect()
}

/// Checks a frame against the bound inputs. Allocates only for an error.
pub(crate) fn check(plan: &Plan, all: &[Wanted], frame: &Frame<'_>) -> Result<(), UpdateError> {
    let given = frame.poses.iter().map(|p| (p.0, InputType::Pose));
    let given = given.chain(frame.values.iter().map(|v| (v.0, InputType::Values)));
    for (index, ty) in given {
        check_target(plan, index, ty)?;
    }
    for &(index, _) in frame.positions {
        check_animated(plan, all, index)?;
    }
    for (index, (wanted, decl)) in all.iter().zip(plan.inputs()).enumerate() {
        let name = || decl.name.clone();
        match wanted.size {
            Size::Nothing => {}
            Size::Pose { joints, .. } => match frame.pose_of(index) {
                Some(pose) if wanted.needed => check_pose(wanted.size, pose, name)?,
                None if wanted.needed => {
                    return Err(UpdateError::MissingPose {
                        input: name(),
                        expected: joints,
                    });
                }
                _ => {}
            },
            Size::Values(expected) => match frame.values_of(index) {
                Some(values) => check_values(expected, values, name)?,
                None if wanted.needed => {
                    return Err(UpdateError::MissingValues {
                        input: name(),
                        expected,
                    });
                }
                None => {}
            },
            Size::Positions(expected) => match frame.positions_of(index) {
                Some(positions) => check_positions(expected, positions, name)?,
                None if wanted.needed => {
                    return Err(UpdateError::MissingPositions {
                        input: name(),
                        expected,
                    });
                }
                None => {}
            },
        }
    }
    Ok(())
}

fn check_animated(plan: &Plan, all: &[Wanted], index: usize) -> Result<(), UpdateError> {
    let expected = plan.inputs().len();
    let (Some(wanted), Some(decl)) = (all.get(index), plan.inputs().get(index)) else {
        return Err(UpdateError::NoSuchInput {
            found: index,
            expected,
        });
    };
    match wanted.size {
        Size::Positions(_) => Ok(()),
        _ => Err(UpdateError::NotAnimated {
            input: decl.name.clone(),
        }),
    }
}

fn check_positions(
    expected: usize,
    positions: &[[f32; 3]],
    input: impl Fn() -> String,
) -> Result<(), UpdateError> {
    if positions.len() != expected {
        return Err(UpdateError::PositionCount {
            input: input(),
            found: positions.len(),
            expected,
        });
    }
    let bad = |p: &[f32; 3]| !p.iter().all(|c| c.is_finite());
    match positions.iter().position(bad) {
        Some(vertex) => Err(UpdateError::PositionNotFinite {
            input: input(),
            vertex,
            found: positions[vertex],
        }),
        None => Ok(()),
    }
}

fn check_target(plan: &Plan, index: usize, ty: InputType) -> Result<(), UpdateError> {
    let inputs = plan.inputs();
    let decl = inputs.get(index).ok_or(UpdateError::NoSuchInput {
        found: index,
        expected: inputs.len(),
    })?;
    if decl.ty == ty {
        return Ok(());
    }
    let word = |ty| match ty {
        InputType::Mesh => "a mesh",
        InputType::Strands => "strands",
        InputType::Pose => "a pose",
        InputType::Values => "values",
        InputType::VertexAnimation => "a vertex animation",
    };
    Err(UpdateError::InputType {
        input: decl.name.clone(),
        found: word(ty),
        expected: word(decl.ty),
    })
}

fn check_pose(size: Size, pose: &Pose, input: impl Fn() -> String) -> Result<(), UpdateError> {
    let Size::Pose {
        nodes,
        joints,
        morph_weights,
    } = size
    else {
        return Ok(());
    };
    let counts = [
        ("joints", pose.palette.len(), joints),
        ("nodes", pose.locals.len(), nodes),
        ("nodes", pose.scene_from_node.len(), nodes),
        ("morph weights", pose.morph_weights.len(), morph_weights),
    ];
    for (what, found, expected) in counts {
        if found != expected {
            return Err(UpdateError::PoseSize {
                input: input(),
                what,
                found,
                expected,
            });
        }
    }
    match not_finite(pose) {
        Some((what, index)) => Err(UpdateError::PoseNotFinite {
            input: input(),
            what,
            index,
        }),
        None => Ok(()),
    }
}

fn not_finite(pose: &Pose) -> Option<(&'static str, usize)> {
    let joint = |m: &PackedAffine| m.rows.as_flattened().iter().all(|v| v.is_finite());
    let node = |m: &Affine<f64>| m.is_finite();
    let first = |what, index: Option<usize>| index.map(|i| (what, i));
    first("joint", pose.palette.iter().position(|m| !joint(m)))
        .or_else(|| {
            let nodes = &pose.scene_from_node;
            first("node", nodes.iter().position(|m| !node(m)))
        })
        .or_else(|| {
            let weights = &pose.morph_weights;
            first("morph weight", weights.iter().position(|w| !w.is_finite()))
        })
}

fn check_values(
    expected: usize,
    values: &[f32],
    input: impl Fn() -> String,
) -> Result<(), UpdateError> {
    if values.len() != expected {
        return Err(UpdateError::ValueCount {
            input: input(),
            found: values.len(),
            expected,
        });
    }
    match values.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(UpdateError::NotFinite {
            input: input(),
            index,
            found: values[index],
        }),
        None => Ok(()),
    }
}
