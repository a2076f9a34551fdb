//! Finished pixels: text, panels side by side, PNG.

use crate::PictureError;
use font8x8::legacy::BASIC_LEGACY;
use std::io::Write;
use std::path::Path;

/// Height of the label strip above a panel, and the size of one font pixel in it.
const STRIP: usize = 34;
const FONT_SCALE: usize = 2;
const GAP: usize = 6;
const STRIP_COLOR: [u8; 4] = [250, 250, 250, 255];
const TEXT_COLOR: [u8; 4] = [40, 44, 52, 255];

/// 8-bit sRGB pixels with straight alpha.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 4]>,
}

impl Image {
    /// From rows from the top; missing pixels are transparent, those too many are left out.
    pub fn from_pixels(width: usize, height: usize, mut pixels: Vec<[u8; 4]>) -> Self {
        pixels.resize(width * height, [0; 4]);
        Self {
            width,
            height,
            pixels,
        }
    }

    /// One colour everywhere.
    pub fn filled(width: usize, height: usize, color: [u8; 4]) -> Self {
        Self::from_pixels(width, height, vec![color; width * height])
    }

    /// Pixels across.
    pub fn width(&self) -> usize {
        self.width
    }
    /// Pixels down.
    pub fn height(&self) -> usize {
        self.height
    }
    /// Rows from the top, RGBA.
    pub fn pixels(&self) -> &[[u8; 4]] {
        &self.pixels
    }
    /// The pixel at `x`, `y` from the top left, or `None` outside.
    pub fn pixel(&self, x: usize, y: usize) -> Option<[u8; 4]> {
        (x < self.width && y < self.height).then(|| self.pixels[y * self.width + x])
    }

    /// Copies `other` in at `x`, `y`; what reaches outside is cut off.
    pub fn paste(&mut self, other: &Self, x: usize, y: usize) {
        for oy in 0..other.height {
            for ox in 0..other.width {
                self.set(x + ox, y + oy, other.pixels[oy * other.width + ox]);
            }
        }
    }

    fn set(&mut self, x: usize, y: usize, color: [u8; 4]) {
        if x < self.width && y < self.height {
            self.pixels[y * self.width + x] = color;
        }
    }

    /// Writes one line of text with its top left corner at `x`, `y`; each font pixel is `scale` pixels wide and
    /// a letter is 8 of them. Letters outside ASCII show as `?`.
    pub fn draw_text(&mut self, text: &str, x: usize, y: usize, scale: usize, color: [u8; 4]) {
        for (i, letter) in text.chars().enumerate() {
            let glyph = BASIC_LEGACY
                .get(letter as usize)
                .unwrap_or(&BASIC_LEGACY['?' as usize]);
            for (row, bits) in glyph.iter().enumerate() {
                for column in (0..8).filter(|c| bits >> c & 1 == 1) {
                    for s in 0..scale * scale {
                        self.set(
                            x + (i * 8 + column) * scale + s % scale,
                            y + row * scale + s / scale,
                            color,
                        );
                    }
                }
            }
        }
    }

    /// Encodes as PNG.
    ///
    /// # Errors
    /// [`PictureError::Encode`], for an image without pixels.
    pub fn to_png(&self) -> Result<Vec<u8>, PictureError> {
        let size = |v: usize| u32::try_from(v).unwrap_or(u32::MAX);
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, size(self.width), size(self.height));
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header()?;
        let flat: Vec<u8> = self.pixels.iter().flatten().copied().collect();
        writer.write_image_data(&flat)?;
        writer.finish()?;
        Ok(bytes)
    }

    /// Writes a PNG under a temporary name beside `path`, then renames it: the file appears complete or not at all.
    ///
    /// # Errors
    /// [`PictureError::Write`] with the path, or [`PictureError::Encode`].
    pub fn save_png(&self, path: &Path) -> Result<(), PictureError> {
        let bytes = self.to_png()?;
        let write = || -> std::io::Result<()> {
            let folder = match path.parent() {
                Some(p) if !p.as_os_str().is_empty() => p,
                _ => Path::new("."),
            };
            let mut builder = tempfile::Builder::new();
            builder.prefix(".sinew-").suffix(".png.tmp");
            // Temporary files are private by default; a picture should get the usual permissions.
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                builder.permissions(std::fs::Permissions::from_mode(0o666));
            }
            let mut file = builder.tempfile_in(folder)?;
            file.write_all(&bytes)?;
            file.persist(path).map_err(|e| e.error)?;
            Ok(())
        };
        write().map_err(|source| PictureError::Write {
            source,
            path: path.to_owned(),
        })
    }
}

/// Panels in one row, each under its label; panels of different height are aligned at the top.
pub fn side_by_side(panels: &[(&str, &Image)]) -> Image {
    let width = panels.iter().map(|p| p.1.width + GAP).sum::<usize>() + GAP;
    let height = panels.iter().map(|p| p.1.height).max().unwrap_or(0) + STRIP + GAP;
    let mut out = Image::filled(width, height, STRIP_COLOR);
    let mut x = GAP;
    for (label, panel) in panels {
        out.paste(panel, x, STRIP);
        // Smaller letters where the label would not fit.
        let letters = label.chars().count() * 8;
        let scale = if letters * FONT_SCALE <= panel.width {
            FONT_SCALE
        } else {
            1
        };
        let indent = panel.width.saturating_sub(letters * scale) / 2;
        out.draw_text(
            label,
            x + indent,
            (STRIP - 8 * scale) / 2,
            scale,
            TEXT_COLOR,
        );
        x += panel.width + GAP;
    }
    out
}
