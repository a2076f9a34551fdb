//! What is wanted of bakes of pieces and of particles.

use crate::BakeError;
use serde::{Deserialize, Serialize};
use sinew_geom::{Attribute, Mesh};

/// Pieces that move without bending.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PieceSettings {
    /// Scalar attribute with a number for each piece; nothing: triangles that are connected in the first frame are a piece.
    pub attribute: Option<String>,
    /// How far vertices may be from where their piece puts them, metres; nothing: 2e-5 of the diagonal of the first frame's box.
    pub tolerance: Option<f32>,
    /// Whether players turn pieces from frame to frame; otherwise they step.
    pub blend: bool,
}

impl Default for PieceSettings {
    fn default() -> Self {
        Self {
            attribute: None,
            tolerance: None,
            blend: true,
        }
    }
}

/// Points as squares that face the camera.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ParticleSettings {
    /// Scalar attribute with a number for each point, the same in all frames; where there is none points are followed by their motion.
    pub id: String,
    /// Scalar attribute with the width of each point, metres.
    pub size: String,
    /// Widths are multiplied by this; where no attribute has any, this is the width in metres.
    pub scale: f32,
    /// Vector attribute that says where points go, metres a second, for points without numbers.
    pub velocity: String,
    /// How far points without numbers may be from where they are expected, metres; nothing: a twentieth of the diagonal of the box.
    pub reach: Option<f32>,
}

impl Default for ParticleSettings {
    fn default() -> Self {
        Self {
            id: "id".into(),
            size: "size".into(),
            scale: 1.0,
            velocity: "velocity".into(),
            reach: None,
        }
    }
}

impl ParticleSettings {
    /// Width of a point, metres.
    pub(crate) fn width(&self, mesh: &Mesh, point: usize) -> f32 {
        match mesh.attributes.get(&self.size) {
            Some(Attribute::Scalar(widths)) => widths.get(point).map_or(0.0, |w| w * self.scale),
            _ => self.scale,
        }
    }
}

/// Numbers that make sense.
pub(crate) fn check(pieces: &PieceSettings, particles: &ParticleSettings) -> Result<(), BakeError> {
    let numbers = [
        ("pieces.tolerance", pieces.tolerance),
        ("particles.scale", Some(particles.scale)),
        ("particles.reach", particles.reach),
    ];
    for (setting, found) in numbers {
        if let Some(found) = found.filter(|n| !(*n > 0.0 && n.is_finite())) {
            let expected = "a number above 0";
            return Err(BakeError::setting(setting, found.to_string(), expected));
        }
    }
    Ok(())
}
