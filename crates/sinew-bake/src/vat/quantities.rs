//! What a bake holds beside places and normals, against the frames: colours, texture coordinates, tangents, thickness, velocities,
//! attributes.

use crate::vat::maker::error::ErrorSum;
use serde::Serialize;
use sinew_geom::Mesh;
use sinew_vat::manifest::{Manifest, Space};
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::TextureSpec;

/// How far a quantity is from the frames, in its own unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuantityErrors {
    /// The quantity.
    pub quantity: Quantity,
    /// Largest difference of the numbers of a corner, over all corners that were found again.
    #[serde(skip)]
    pub errors: ErrorSum,
    /// The most that the format allows for any of them.
    pub allowed: f64,
    /// Corners that differ by more than the format allows for their numbers.
    pub beyond: u64,
    /// The first frame with such a corner, by its number.
    pub first_wrong: Option<i64>,
}

impl QuantityErrors {
    /// Takes those of a later frame.
    pub(crate) fn join(&mut self, later: &Self) {
        self.errors.join(&later.errors);
        self.allowed = self.allowed.max(later.allowed);
        self.beyond += later.beyond;
        self.first_wrong = self.first_wrong.or(later.first_wrong);
    }
}

/// How far a corner may be, and how far it is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Difference {
    pub(crate) error: f64,
    pub(crate) allowed: f64,
    pub(crate) is_beyond: bool,
}

/// The textures that hold what meshes say of their vertices, by index.
pub(crate) fn textures_of(manifest: &Manifest) -> Vec<usize> {
    let textures = manifest.textures.iter().enumerate();
    let comes_from_vertices = |quantity: &Quantity| {
        matches!(
            quantity,
            Quantity::Uv(_)
                | Quantity::Color(_)
                | Quantity::Thickness
                | Quantity::Tangent
                | Quantity::Velocity(_)
                | Quantity::Attribute(_)
        )
    };
    textures
        .filter(|(_, t)| comes_from_vertices(&t.spec.quantity))
        .map(|(i, _)| i)
        .collect()
}

/// Nothing seen yet of each of these textures.
pub(crate) fn nothing_of(manifest: &Manifest, textures: &[usize]) -> Vec<QuantityErrors> {
    let of = |texture: &usize| QuantityErrors {
        quantity: manifest.textures[*texture].spec.quantity.clone(),
        errors: ErrorSum::default(),
        allowed: 0.0,
        beyond: 0,
        first_wrong: None,
    };
    textures.iter().map(of).collect()
}

/// What a texture shows of a vertex of the source. A number that the source does not have is infinitely far.
///
/// Numbers are compared in the space of the textures, where they were rounded, and differences told in the unit of glTF.
pub(crate) fn difference(
    spec: &TextureSpec,
    space: Space,
    mesh: &Mesh,
    vertex: usize,
    seen: impl Fn(usize) -> f32,
) -> Difference {
    let mut out = Difference::default();
    let units = f64::from(space.units_of(&spec.quantity));
    let of_source = |channel| spec.quantity.of_vertex(mesh, vertex, channel);
    let placed = [0, 1, 2, 3].map(|channel| of_source(channel).unwrap_or(0.0));
    let placed = space.numbers(&spec.quantity, placed);
    for (channel, truth) in placed.into_iter().enumerate().take(spec.ranges.len()) {
        let error = of_source(channel).map_or(f64::INFINITY, |_| {
            (f64::from(seen(channel)) - f64::from(truth)).abs()
        });
        let allowed = allowed(spec, channel, truth);
        out.is_beyond |= error.is_nan() || error > allowed;
        let error = if error.is_nan() { f64::INFINITY } else { error };
        out.error = out.error.max(error / units);
        out.allowed = out.allowed.max(allowed / units);
    }
    out
}

/// What the format loses of a number, and what single precision adds.
fn allowed(spec: &TextureSpec, channel: usize, value: f32) -> f64 {
    let scale = f64::from(spec.ranges[channel].scale).abs();
    let offset = f64::from(spec.ranges[channel].offset).abs();
    let size = f64::from(value.abs());
    // Halves have eleven bits, and below the smallest of them steps of 2^-24.
    let half = match spec.format {
        TexelFormat::Half => size / 2048.0 + f64::from(2.0_f32.powi(-25)),
        _ => 0.0,
    };
    let rounding = 4.0 * f64::from(f32::EPSILON) * (size + offset + scale);
    let rounding = if spec.format == TexelFormat::Float {
        0.0
    } else {
        rounding
    };
    scale * spec.format.half_step() * 1.001 + half + rounding
}

/// Losses of reading below that (metres) are not shown.
const SHOWN_LOSS: f64 = 1e-6;

/// What reading adds to statements of accuracy.
pub(crate) fn shown_loss(read_loss: f64) -> f64 {
    if read_loss > SHOWN_LOSS {
        read_loss
    } else {
        0.0
    }
}
