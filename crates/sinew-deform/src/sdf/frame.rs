//! The frame of a field: rigid, with one scale for all axes.

use sinew_geom::{Mat3, Quat, Vec3};

/// `field point = scale * rotation * scene point + translation`. A field that follows a joint gets another frame each time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldFrame {
    /// Field axes from scene axes.
    rotation: Mat3<f32>,
    /// Field units in one unit of the scene.
    scale: f32,
    translation: Vec3<f32>,
}

impl Default for FieldFrame {
    fn default() -> Self {
        Self {
            rotation: Mat3::identity(),
            scale: 1.0,
            translation: Vec3::zeros(),
        }
    }
}

impl FieldFrame {
    /// `None` if the scale is not above 0, or a number is not finite.
    pub fn new(rotation: Quat<f32>, scale: f32, translation: [f32; 3]) -> Option<Self> {
        let rotation: Mat3<f32> = rotation.to_rotation_matrix().into_inner();
        let translation = Vec3::from(translation);
        let finite = rotation.iter().chain(&translation).all(|v| v.is_finite());
        (finite && scale.is_finite() && scale > 0.0).then_some(Self {
            rotation,
            scale,
            translation,
        })
    }

    /// Field space from scene space.
    #[inline]
    pub fn point_from_scene(&self, p: [f32; 3]) -> [f32; 3] {
        (self.rotation * Vec3::from(p) * self.scale + self.translation).into()
    }

    /// Scene space from field space.
    pub fn point_to_scene(&self, p: [f32; 3]) -> [f32; 3] {
        (self.rotation.tr_mul(&(Vec3::from(p) - self.translation)) * self.scene_length()).into()
    }

    /// Length in the scene, in metres, of one unit of the field.
    #[inline]
    pub fn scene_length(&self) -> f32 {
        1.0 / self.scale
    }

    /// Derivative of the distance in scene units by the scene's position: turned only, both scales cancel.
    #[cfg(test)]
    #[inline]
    pub(crate) fn gradient_to_scene(&self, g: [f32; 3]) -> [f32; 3] {
        self.rotation.tr_mul(&Vec3::from(g)).into()
    }
}

impl FieldFrame {
    /// Rotation (rows), scale and translation.
    pub(crate) fn parts(&self) -> ([f32; 9], f32, [f32; 3]) {
        let r = &self.rotation;
        let rows = std::array::from_fn(|i| r[(i / 3, i % 3)]);
        (rows, self.scale, self.translation.into())
    }
    /// The way back; nothing is checked.
    pub(crate) fn from_parts(rows: [f32; 9], scale: f32, translation: [f32; 3]) -> Self {
        Self {
            rotation: Mat3::from_row_slice(&rows),
            scale,
            translation: translation.into(),
        }
    }
    /// Scene axes from field axes.
    pub(crate) fn scene_rotation(&self) -> Mat3<f32> {
        self.rotation.transpose()
    }
}
