//! What rounding takes from numbers in texels.

use sinew_vat::manifest::Manifest;
use sinew_vat::playback::FrameBlend;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;

/// A frame by itself.
pub(super) fn alone(frame: u32) -> FrameBlend {
    FrameBlend {
        frame,
        next: frame,
        weight: 0.0,
    }
}

/// How far rounding takes numbers of a quantity that are `largest` at most, all in the unit of glTF: half a step of its codes; halves have eleven
/// bits.
pub(super) fn rounding_of(manifest: &Manifest, quantity: &Quantity, largest: f64) -> f64 {
    let texture = manifest
        .texture(quantity)
        .map(|t| &manifest.textures[t].spec);
    texture.map_or(0.0, |spec| match spec.format {
        TexelFormat::Half => largest / 2048.0,
        format => {
            let scales = spec.ranges.iter().map(|r| f64::from(r.scale));
            let units = f64::from(manifest.space.units_of(quantity));
            scales.fold(0.0, f64::max) * format.half_step() / units
        }
    })
}

/// In single precision.
pub(super) fn single(v: [f64; 3]) -> [f32; 3] {
    v.map(|c| c as f32)
}
