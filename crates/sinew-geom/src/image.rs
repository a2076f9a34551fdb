//! Images as pixels, exchanged by the other crates.

/// 8-bit sRGB pixels with straight alpha.
///
/// A size that is too large for memory gives an image of 0 x 0 pixels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 4]>,
}

impl Image {
    /// Creates an image from pixels in rows from the top. Missing pixels are transparent, surplus pixels are dropped.
    pub fn from_pixels(width: usize, height: usize, mut pixels: Vec<[u8; 4]>) -> Self {
        let Some(count) = pixel_count(width, height) else {
            return Self::default();
        };
        pixels.resize(count, [0; 4]);
        Self {
            width,
            height,
            pixels,
        }
    }

    /// Creates an image of one colour.
    pub fn filled(width: usize, height: usize, color: [u8; 4]) -> Self {
        match pixel_count(width, height) {
            Some(count) => Self::from_pixels(width, height, vec![color; count]),
            None => Self::default(),
        }
    }

    /// Width in pixels.
    pub fn width(&self) -> usize {
        self.width
    }
    /// Height in pixels.
    pub fn height(&self) -> usize {
        self.height
    }
    /// RGBA pixels in rows from the top.
    pub fn pixels(&self) -> &[[u8; 4]] {
        &self.pixels
    }
    /// Bytes in rows from the top, four per pixel.
    pub fn as_bytes(&self) -> &[u8] {
        self.pixels.as_flattened()
    }
    /// The pixel at `x`, `y` from the top left, or `None` outside.
    pub fn pixel(&self, x: usize, y: usize) -> Option<[u8; 4]> {
        (x < self.width && y < self.height).then(|| self.pixels[y * self.width + x])
    }

    /// Blends `color` over the pixel at `x`, `y`. Its opacity is its alpha times `coverage` (0 to 1).
    ///
    /// Does nothing outside of the image. Colours are mixed in their sRGB encoding, as in browsers.
    pub fn blend_pixel(&mut self, x: usize, y: usize, color: [u8; 4], coverage: f32) {
        if x < self.width && y < self.height {
            let pixel = &mut self.pixels[y * self.width + x];
            *pixel = over(color, coverage, *pixel);
        }
    }

    /// Copies `other` to `x`, `y`, including its alpha, clipped to the image.
    pub fn paste(&mut self, other: &Self, x: usize, y: usize) {
        self.rows_under(other, x, y, |own, theirs| own.copy_from_slice(theirs));
    }

    /// Blends `other` over the image at `x`, `y`, by its alpha, clipped to the image.
    pub fn paste_over(&mut self, other: &Self, x: usize, y: usize) {
        self.rows_under(other, x, y, |own, theirs| {
            for (own, &color) in own.iter_mut().zip(theirs) {
                *own = over(color, 1.0, *own);
            }
        });
    }

    /// Calls `join` with the pixels of each row that lie under `other` and those of `other`, as many.
    fn rows_under(
        &mut self,
        other: &Self,
        x: usize,
        y: usize,
        join: impl Fn(&mut [[u8; 4]], &[[u8; 4]]),
    ) {
        let wide = other.width.min(self.width.saturating_sub(x));
        let high = other.height.min(self.height.saturating_sub(y));
        if wide == 0 {
            return;
        }
        for row in 0..high {
            let (own, theirs) = ((y + row) * self.width + x, row * other.width);
            join(
                &mut self.pixels[own..own + wide],
                &other.pixels[theirs..theirs + wide],
            );
        }
    }
}

/// Pixels of an image, or `None` where no allocation may be that large.
fn pixel_count(width: usize, height: usize) -> Option<usize> {
    let count = width.checked_mul(height)?;
    let bytes = count.checked_mul(4)?;
    isize::try_from(bytes).is_ok().then_some(count)
}

/// `color` over `below`, straight alpha.
fn over(color: [u8; 4], coverage: f32, below: [u8; 4]) -> [u8; 4] {
    let alpha = f32::from(color[3]) / 255.0 * coverage.clamp(0.0, 1.0);
    if alpha >= 1.0 {
        return color;
    }
    // A coverage that is no number counts as none.
    if alpha.is_nan() || alpha <= 0.0 {
        return below;
    }
    let rest = f32::from(below[3]) / 255.0 * (1.0 - alpha);
    let total = alpha + rest;
    let mix = |k: usize| {
        let sum = f32::from(color[k]) * alpha + f32::from(below[k]) * rest;
        (sum / total).round() as u8
    };
    [mix(0), mix(1), mix(2), (total * 255.0).round() as u8]
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: [u8; 4] = [255, 0, 0, 255];
    const BLUE: [u8; 4] = [0, 0, 255, 255];

    #[test]
    fn impossible_sizes_are_empty() {
        for (width, height) in [(usize::MAX, 2), (2, usize::MAX), (usize::MAX / 4, 2)] {
            assert_eq!(Image::filled(width, height, RED), Image::default());
            assert_eq!(Image::from_pixels(width, height, vec![RED]).width(), 0);
        }
        assert_eq!(Image::filled(0, 7, RED).pixels(), &[] as &[[u8; 4]]);
    }

    #[test]
    fn rows_begin_at_the_top() {
        let bytes: Vec<u8> = (0..24).collect();
        let image = Image::from_pixels(3, 2, bytes.as_chunks().0.to_vec());
        assert_eq!(image.as_bytes(), bytes);
        assert_eq!(image.pixel(2, 1), Some([20, 21, 22, 23]));
        assert_eq!(image.pixel(3, 1), None);
    }

    #[test]
    fn missing_pixels_are_transparent() {
        let image = Image::from_pixels(2, 2, vec![RED]);
        assert_eq!(image.pixels(), [RED, [0; 4], [0; 4], [0; 4]]);
    }

    #[test]
    fn pastes_are_cut_off() {
        let mut image = Image::filled(3, 3, RED);
        image.paste(&Image::filled(2, 2, BLUE), 2, 1);
        let blue: Vec<usize> = (0..9).filter(|&i| image.pixels()[i] == BLUE).collect();
        assert_eq!(blue, [5, 8]);
        for at in [(3, 0), (0, 3), (usize::MAX, 0), (0, usize::MAX)] {
            let before = image.clone();
            image.paste(&Image::filled(2, 2, RED), at.0, at.1);
            image.paste_over(&Image::filled(2, 2, RED), at.0, at.1);
            image.blend_pixel(at.0, at.1, RED, 1.0);
            assert_eq!(image, before, "{at:?}");
        }
    }

    #[test]
    fn translucent_pixels_mix() {
        let mut image = Image::filled(1, 1, RED);
        image.blend_pixel(0, 0, BLUE, 0.5);
        assert_eq!(image.pixel(0, 0), Some([128, 0, 128, 255]));
        let mut empty = Image::filled(1, 1, [0; 4]);
        empty.blend_pixel(0, 0, BLUE, 0.25);
        // Over nothing the colour stays, only thinner.
        assert_eq!(empty.pixel(0, 0), Some([0, 0, 255, 64]));
        for coverage in [0.0, -3.0, f32::NAN] {
            let before = image.clone();
            image.blend_pixel(0, 0, RED, coverage);
            assert_eq!(image, before, "{coverage}");
        }
        image.blend_pixel(0, 0, BLUE, f32::INFINITY);
        assert_eq!(image.pixel(0, 0), Some(BLUE));
    }

    #[test]
    fn pasting_over_keeps_what_shines_through() {
        let mut image = Image::filled(2, 1, RED);
        let other = Image::from_pixels(2, 1, vec![[0; 4], [0, 0, 255, 51]]);
        image.paste_over(&other, 0, 0);
        assert_eq!(image.pixels(), [RED, [204, 0, 51, 255]]);
        image.paste(&other, 0, 0);
        assert_eq!(image, other, "a plain paste takes the alpha along");
    }
}
