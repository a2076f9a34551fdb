//! Things that follow a joint: where it carries what stood still in the bind pose.

use crate::names::expected_joint;
use crate::sdf::FieldFrame;
use crate::{BindContext, Inputs, NodeError, ParameterDesc};
use sinew_geom::{Affine, Pose, Quat, Rig, Vec3};

/// The parameter that names the joint.
pub(crate) const FOLLOW: ParameterDesc = ParameterDesc::text(
    "follow",
    "Joint that the field moves with. Needs the input `pose`. Empty means that the field follows no joint.",
);

/// The joint that something follows: its index in the palette, and its origin in the bind pose.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Follow(Option<(usize, Vec3<f64>)>);

/// A rotation, a size and a translation: `scene point = size * rotation * point of the bind pose + translation`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Carried {
    rotation: Quat<f32>,
    size: f32,
    translation: [f32; 3],
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
            Some(joint) => {
                let bind = rig.joints()[joint].joint_from_bind.inverse();
                let origin = bind.map_or_else(Vec3::zeros, |bind| bind.translation);
                Ok(Self(Some((joint, origin))))
            }
            None => Err(unknown(name, rig)),
        }
    }

    /// Where the joint's whole matrix carries a point of the bind pose; there where nothing is followed.
    pub(crate) fn point(self, inputs: &Inputs<'_>, point: [f32; 3]) -> [f32; 3] {
        let matrix = (self.0).and_then(|(joint, _)| inputs.pose("pose")?.palette.get(joint));
        matrix.map_or(point, |m| m.unpack::<f32>().point(point.into()).into())
    }

    /// Where the joint carries the bind pose: about its origin, with one size for all directions (the cube root of the volume). The
    /// identity where nothing is followed.
    pub(crate) fn carried(self, inputs: &Inputs<'_>) -> Carried {
        let found = self.0.and_then(|(joint, origin)| {
            let pose: &Pose = inputs.pose("pose")?;
            Some((pose.palette.get(joint)?.unpack::<f64>(), origin))
        });
        let (matrix, origin) = found.unwrap_or_default();
        Carried::of(&matrix, origin)
    }
}

impl Carried {
    fn of(transform: &Affine<f64>, origin: Vec3<f64>) -> Self {
        let rotation = crate::skin::rotation_of(&transform.linear);
        let size = transform.linear.determinant().abs().cbrt();
        // A flat joint gives no size to go by. Palettes are in single precision: a size of one must not flicker, or fields would be built anew.
        let is_size = size.is_finite() && size > 1e-9 && (size - 1.0).abs() > 1e-5;
        let size = if is_size { size } else { 1.0 };
        let translation = transform.point(origin) - rotation * origin * size;
        Self {
            rotation: rotation.cast(),
            size: size as f32,
            translation: translation.map(|v| v as f32).into(),
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
    /// The frame of a field that is carried so: its units grow with the joint.
    pub(crate) fn field_frame(&self) -> FieldFrame {
        self.frame(1.0 / self.size)
    }

    /// The frame of solids that are carried so, whose units are those of the scene, and how much they grow.
    pub(crate) fn solids_frame(&self) -> (FieldFrame, f32) {
        (self.frame(1.0), self.size)
    }

    fn frame(&self, scale: f32) -> FieldFrame {
        let back = self.rotation.inverse();
        let translation = back * -Vec3::from(self.translation) * scale;
        // Finite, as poses are.
        FieldFrame::new(back, scale, translation.into()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A joint that turns and grows about a place away from the origin.
    fn joint(size: Vec3<f64>) -> (Affine<f64>, Vec3<f64>) {
        let origin = Vec3::new(3.0, -1.0, 0.5);
        let turn = Quat::from_axis_angle(&Vec3::y_axis(), 0.7);
        let mut matrix = Affine::from_trs(Vec3::zeros(), turn, size);
        matrix.translation = origin + Vec3::new(0.0, 2.0, 0.0) - matrix.linear * origin;
        (matrix, origin)
    }

    #[test]
    fn what_follows_a_joint_grows_with_it_about_its_origin() {
        let point = Vec3::new(3.2, -0.7, 0.1);
        let (matrix, origin) = joint(Vec3::repeat(2.5));
        let carried = Carried::of(&matrix, origin);
        let expected = matrix.point(point).map(|c| c as f32);
        let near =
            |found: [f32; 3]| assert!((Vec3::from(found) - expected).norm() < 1e-5, "{found:?}");
        let single = point.map(|c| c as f32);
        let frame = carried.field_frame();
        near(frame.point_to_scene(single.into()));
        assert!((frame.scene_length() - 2.5).abs() < 1e-5);
        let (frame, size) = carried.solids_frame();
        near(frame.point_to_scene((single * size).into()));
        assert!((size - 2.5).abs() < 1e-5 && (frame.scene_length() - 1.0).abs() < 1e-6);
    }

    /// What no single size can follow keeps its place, and its volume.
    #[test]
    fn of_uneven_scales_the_volume_counts() {
        let (matrix, origin) = joint(Vec3::new(4.0, 1.0, 2.0));
        let frame = Carried::of(&matrix, origin).field_frame();
        let at_origin = frame.point_to_scene(origin.map(|c| c as f32).into());
        let expected = matrix.point(origin).map(|c| c as f32);
        assert!((Vec3::from(at_origin) - expected).norm() < 1e-5);
        assert!((frame.scene_length() - 2.0).abs() < 1e-5);
        let flat = Affine {
            linear: sinew_geom::Mat3::zeros(),
            ..matrix
        };
        assert_eq!(Carried::of(&flat, origin).field_frame().scene_length(), 1.0);
    }
}
