//! Lookups as `SideFX` Labs' shaders read them: four channels of 8 bits that say where in the textures a corner's point is.
//!
//! `u = r + g / 255`, and `v = b + a / 255` from the top. So there are 65025 steps along a side, and an address is off by half of one at most.

use crate::BakeError;
use crate::vat::plan::Planned;
use crate::vat::textures::write_addresses;
use sinew_vat::layout::Layout;
use std::path::Path;

/// Largest side of a texture that is pointed into: an address stays within a quarter of a texel of its middle.
pub(super) const LARGEST_SIDE: u32 = 65025 / 2;

/// Writes the lookup of points that lie in `points`.
pub(super) fn write(of: Planned<'_>, points: &Layout, path: &Path) -> Result<(), BakeError> {
    write_addresses(of, path, |frame, point| address(points, frame, point))
}

/// Red, green, blue and alpha of the texel that points at a point.
fn address(points: &Layout, frame: u32, point: u32) -> [u8; 4] {
    let [column, row] = points.texel(point, frame).map(f64::from);
    let [width, height] = points.size.map(f64::from);
    let (u, v) = (
        two_codes((column + 0.5) / width),
        two_codes((row + 0.5) / height),
    );
    [u[0], u[1], v[0], v[1]]
}

/// The codes whose `first / 255 + second / 255^2` is nearest to a number from 0 to 1.
fn two_codes(value: f64) -> [u8; 2] {
    let first = (value * 255.0).floor().clamp(0.0, 255.0);
    let second = ((value * 255.0 - first) * 255.0).round().clamp(0.0, 255.0);
    [first as u8, second as u8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_texel_of_the_widest_texture_is_found_in_single_precision() {
        for side in [1, 3, 255, 2048, 4096, 16384, LARGEST_SIDE] {
            for texel in 0..side {
                let [first, second] = two_codes((f64::from(texel) + 0.5) / f64::from(side));
                let (first, second) = (f32::from(first) / 255.0, f32::from(second) / 255.0);
                // As a shader computes it, and the same from the other end.
                let at = (first + second / 255.0) * side as f32;
                let from_below = (1.0 - (1.0 - (first + second / 255.0))) * side as f32;
                assert_eq!(at.floor(), texel as f32, "{texel} of {side}");
                assert_eq!(from_below.floor(), texel as f32, "{texel} of {side}");
            }
        }
    }

    #[test]
    fn points_of_later_frames_are_where_the_layout_has_them() {
        let layout = Layout::blocks(10, 3, [5, 2], 1, 64).expect("fits");
        // Point 7 of frame 2: column 2 of 5, row 5 of 6.
        let [r, g, b, a] = address(&layout, 2, 7).map(f64::from);
        assert!((r / 255.0 + g / 65025.0 - 2.5 / 5.0).abs() < 1e-5);
        assert!((b / 255.0 + a / 65025.0 - 5.5 / 6.0).abs() < 1e-5);
    }
}
