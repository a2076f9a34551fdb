//! Palettes of 256 colours.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Alpha threshold of opaque pixels.
const OPAQUE_FROM: u8 = 128;
/// Images up to this many pixels are sampled completely, larger ones down to a tenth.
const ALL_LOOKED_AT: usize = 1 << 15;
/// Colours of a palette.
const MOST: usize = 256;

/// An image as palette indices.
pub(super) struct Indexed {
    /// One index per pixel.
    pub(super) indices: Vec<u8>,
    /// Red, green and blue of each colour.
    pub(super) palette: Vec<u8>,
    /// The transparent colour.
    pub(super) transparent: Option<u8>,
}

impl Indexed {
    /// Exact if the image has few enough colours, else the nearest of chosen colours.
    pub(super) fn of(pixels: &[[u8; 4]]) -> Self {
        let clear = pixels.iter().any(|pixel| !is_there(*pixel));
        let most = MOST - usize::from(clear);
        let (mut palette, indices) = exact(pixels, most).unwrap_or_else(|| nearest(pixels, most));
        // The last colour; no opaque pixel uses it.
        let transparent = u8::try_from(palette.len() / 3).ok().filter(|_| clear);
        if transparent.is_some() {
            palette.extend([0; 3]);
        }
        let of_pixel = |(&pixel, index)| match transparent {
            Some(transparent) if !is_there(pixel) => transparent,
            _ => index,
        };
        Self {
            indices: pixels.iter().zip(indices).map(of_pixel).collect(),
            palette,
            transparent,
        }
    }
}

fn is_there(pixel: [u8; 4]) -> bool {
    pixel[3] >= OPAQUE_FROM
}

/// Palette and indices with the exact colours of opaque pixels; `None` if there are more than `most`.
fn exact(pixels: &[[u8; 4]], most: usize) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut places = BTreeMap::new();
    for [red, green, blue, _] in pixels.iter().copied().filter(|pixel| is_there(*pixel)) {
        let count = places.len();
        if let Entry::Vacant(place) = places.entry([red, green, blue]) {
            place.insert(u8::try_from(count).ok().filter(|_| count < most)?);
        }
    }
    let mut palette = vec![0; places.len() * 3];
    for (color, &place) in &places {
        palette[usize::from(place) * 3..][..3].copy_from_slice(color);
    }
    let place = |&[red, green, blue, _]: &[u8; 4]| places.get(&[red, green, blue]);
    let indices = pixels
        .iter()
        .map(|pixel| place(pixel).copied().unwrap_or(0));
    Some((palette, indices.collect()))
}

/// `most` colours chosen for the opaque pixels, and the nearest one for each pixel.
fn nearest(pixels: &[[u8; 4]], most: usize) -> (Vec<u8>, Vec<u8>) {
    let there = pixels.iter().filter(|pixel| is_there(**pixel));
    let opaque: Vec<u8> = there.flat_map(|&[r, g, b, _]| [r, g, b, 255]).collect();
    let looked_at = i32::try_from(opaque.len() / 4 / ALL_LOOKED_AT).unwrap_or(10);
    let chosen = color_quant::NeuQuant::new(looked_at.clamp(1, 10), most, &opaque);
    let index =
        |&[r, g, b, _]: &[u8; 4]| u8::try_from(chosen.index_of(&[r, g, b, 255])).unwrap_or(u8::MAX);
    (chosen.color_map_rgb(), pixels.iter().map(index).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_as_they_are() {
        let pixels: Vec<[u8; 4]> = (0..=255).map(|v| [v, 255 - v, 7, 255]).collect();
        let indexed = Indexed::of(&pixels);
        assert_eq!((indexed.palette.len(), indexed.transparent), (768, None));
        for (pixel, &index) in pixels.iter().zip(&indexed.indices) {
            assert_eq!(indexed.palette[usize::from(index) * 3..][..3], pixel[..3]);
        }
    }

    #[test]
    fn only_transparent_pixels_get_the_transparent_colour() {
        // 256 colours and transparency: one too many for an exact palette.
        let mut pixels: Vec<[u8; 4]> = (0..=255).map(|v| [v, v / 2, 0, 128]).collect();
        pixels.extend([[0, 0, 0, 127], [9, 9, 9, 0]]);
        for pixels in [&pixels[..], &pixels[100..]] {
            let indexed = Indexed::of(pixels);
            let transparent = indexed.transparent.expect("two such pixels");
            assert_eq!(usize::from(transparent), indexed.palette.len() / 3 - 1);
            for (pixel, &index) in pixels.iter().zip(&indexed.indices) {
                assert_eq!(index == transparent, !is_there(*pixel), "{pixel:?}");
            }
        }
    }

    #[test]
    fn many_colours_stay_close() {
        let pixels: Vec<[u8; 4]> = (0..128_u8)
            .flat_map(|y| (0..128_u8).map(move |x| [x * 2, y * 2, 90, 255]))
            .collect();
        let indexed = Indexed::of(&pixels);
        let error = |(pixel, &index): (&[u8; 4], &u8)| {
            let color = &indexed.palette[usize::from(index) * 3..][..3];
            (0..3).map(|k| color[k].abs_diff(pixel[k])).max()
        };
        let errors = pixels.iter().zip(&indexed.indices).filter_map(error);
        let worst = errors.max().expect("pixels");
        assert!(worst <= 24, "{worst}");
    }

    #[test]
    fn nothing_at_all_is_fine() {
        let indexed = Indexed::of(&[[0; 4]; 4]);
        assert_eq!(
            (indexed.transparent, indexed.indices),
            (Some(0), vec![0; 4])
        );
        assert_eq!(Indexed::of(&[]).transparent, None);
    }
}
