//! What is wanted of bakes of pieces and of particles.

use super::settings::{Mode, TextureChoice, VatSettings};
use crate::BakeError;
use serde::{Deserialize, Serialize};
use sinew_geom::{Attribute, Mesh};
use sinew_vat::quantity::Quantity;

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
            return Err(BakeError::Setting {
                setting,
                found: found.to_string(),
                expected: "a number above 0",
            });
        }
    }
    Ok(())
}

/// The textures of pieces or particles: those asked for, and what every bake of that mode has; stored as positions are unless asked for in another way.
pub(crate) fn textures_of(settings: &VatSettings, mode: Mode) -> Vec<TextureChoice> {
    let size = Quantity::Attribute(settings.particles.size.clone());
    let needed = match mode {
        Mode::Particles => Quantity::Size,
        _ => Quantity::Rotation,
    };
    let asked = settings.textures.iter().cloned().map(|choice| {
        let is_size = mode == Mode::Particles && choice.quantity == size;
        let quantity = if is_size {
            Quantity::Size
        } else {
            choice.quantity
        };
        TextureChoice { quantity, ..choice }
    });
    let mut out: Vec<TextureChoice> = asked.collect();
    let places = out.iter().find(|c| c.quantity.is_place());
    let usual = settings.convention.place_format();
    let format = places.map_or(usual.unwrap_or(settings.place_format), |c| c.format);
    for quantity in [Quantity::Position, needed] {
        if !out
            .iter()
            .any(|c| c.quantity == quantity || (c.quantity.is_place() && quantity.is_place()))
        {
            out.push(TextureChoice { quantity, format });
        }
    }
    out
}

/// Refuses textures that mean nothing in a mode.
pub(crate) fn check_quantities(mode: Mode, choices: &[TextureChoice]) -> Result<(), BakeError> {
    let wrong = |quantity: &Quantity, name, help| {
        Err(BakeError::Quantity {
            mode: name,
            quantity: quantity.clone(),
            help,
        })
    };
    if !choices.iter().any(|c| c.quantity.is_place()) {
        return Err(BakeError::Setting {
            setting: "textures",
            found: "a list without positions and offsets".into(),
            expected: "one of them: add position:unorm16",
        });
    }
    for TextureChoice { quantity, .. } in choices {
        match (mode, quantity) {
            (Mode::Remesh, Quantity::Offset) => {
                let help = "triangles have nothing to be offset from; take positions";
                return wrong(quantity, "remesh", help);
            }
            (Mode::Remesh | Mode::Soft, Quantity::Rotation | Quantity::Size) => {
                let name = if mode == Mode::Soft { "soft" } else { "remesh" };
                let help = "modes rigid (rotation) and particles (size) have";
                return wrong(quantity, name, help);
            }
            (Mode::Rigid, Quantity::Position | Quantity::Rotation) => {}
            (Mode::Rigid, _) => {
                let help =
                    "a texel is a piece, with position and rotation; the rest stays in the carrier";
                return wrong(quantity, "rigid", help);
            }
            (Mode::Particles, Quantity::Offset | Quantity::Normal | Quantity::Rotation) => {
                let help =
                    "particles face the camera; they have position, size, colours and attributes";
                return wrong(quantity, "particles", help);
            }
            _ => {}
        }
    }
    Ok(())
}
