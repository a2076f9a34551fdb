//! Things that follow a joint: where it carries what stood still in the bind pose.

use crate::names::expected_joint;
use crate::sdf::FieldFrame;
use crate::{BindContext, Inputs, NodeError, ParameterDesc};
use sinew_geom::{Affine, Pose, Quat, Rig, Vec3};

/// The parameter that names the joint.
pub(crate) const FOLLOW: ParameterDesc = ParameterDesc::text(
    "follow",
    "Name of the joint that it moves with; empty: it stays in the scene. Needs `pose`.",
);

/// The joint that something follows, by its place in the palette.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Follow(Option<usize>);

/// A rotation and a translation: the scene from the bind pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Carried {
    pub(crate) rotation: Quat<f32>,
    pub(crate) translation: [f32; 3],
}

impl Follow {
    /// The joint that parameter `follow` names, of the rig at port `pose`.
    pub(crate) fn bind(context: &BindContext<'_>) -> Result<Self, NodeError> {
        let name = context.parameters.text(FOLLOW.name);
        if name.is_empty() {
            return Ok(Self::default());
        }
        let rig = context.rig("pose")?;
        match rig.find_joint(name) {
            Some(joint) => Ok(Self(Some(joint))),
            None => Err(unknown(name, rig)),
        }
    }

    /// Where the joint's whole matrix carries a point of the bind pose; there where nothing is followed.
    pub(crate) fn point(self, inputs: &Inputs<'_>, point: [f32; 3]) -> [f32; 3] {
        let matrix = (self.0).and_then(|joint| inputs.pose("pose")?.palette.get(joint));
        matrix.map_or(point, |m| m.unpack::<f32>().point(point.into()).into())
    }

    /// Where the joint carries the bind pose: its matrix without scale. The identity where nothing is followed, or where the matrix is flat.
    pub(crate) fn carried(self, inputs: &Inputs<'_>) -> Carried {
        let joint = self.0.and_then(|joint| {
            let pose: &Pose = inputs.pose("pose")?;
            Some(pose.palette.get(joint)?.unpack::<f64>())
        });
        Carried::of(&joint.unwrap_or_default())
    }
}

impl Carried {
    fn of(transform: &Affine<f64>) -> Self {
        let rotation = crate::skin::rotation_of(&transform.linear);
        Self {
            rotation: rotation.cast(),
            translation: transform.translation.map(|v| v as f32).into(),
        }
    }
}

fn unknown(name: &str, rig: &Rig) -> NodeError {
    let joints = rig.joints().iter();
    let expected = expected_joint(name, joints.map(|j| rig.nodes()[j.node].name.as_str()));
    NodeError::Parameter {
        name: FOLLOW.name,
        found: format!("'{name}'"),
        expected,
    }
}

impl Carried {
    /// The frame of a field that is carried so.
    pub(crate) fn field_frame(&self) -> FieldFrame {
        let back = self.rotation.inverse();
        let translation = back * -Vec3::from(self.translation);
        // Finite, as poses are.
        FieldFrame::new(back, 1.0, translation.into()).unwrap_or_default()
    }
}
