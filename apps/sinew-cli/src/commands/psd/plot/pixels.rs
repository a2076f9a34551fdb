//! Where plots are drawn that become pixels.

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};
use sinew::geom::{Image, index32};
use sinew_picture::{TextStyle, draw_text, text_width};
use std::convert::Infallible;

/// An image to draw on, larger than the one that is written.
pub(super) struct Pixels {
    image: Image,
}

impl Pixels {
    pub(super) fn new(width: u32, height: u32) -> Self {
        Self {
            image: Image::filled(width as usize, height as usize, [255; 4]),
        }
    }

    /// Means of `by` times `by` pixels.
    pub(super) fn reduced(&self, by: usize) -> Image {
        let (width, height) = (self.image.width() / by, self.image.height() / by);
        let mut out = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let mut sum = [0_usize; 4];
                for (row, column) in (0..by * by).map(|i| (i / by, i % by)) {
                    let pixel = self.image.pixel(x * by + column, y * by + row);
                    for (sum, value) in sum.iter_mut().zip(pixel.unwrap_or([255; 4])) {
                        *sum += usize::from(value);
                    }
                }
                out.push(sum.map(|s| u8::try_from(s / (by * by)).unwrap_or(255)));
            }
        }
        Image::from_pixels(width, height, out)
    }
}

type Fault = DrawingErrorKind<Infallible>;

impl DrawingBackend for &mut Pixels {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (index32(self.image.width()), index32(self.image.height()))
    }
    fn ensure_prepared(&mut self) -> Result<(), Fault> {
        Ok(())
    }
    fn present(&mut self) -> Result<(), Fault> {
        Ok(())
    }
    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Result<(), Fault> {
        if let (Ok(x), Ok(y)) = (usize::try_from(at.0), usize::try_from(at.1)) {
            let (r, g, b) = color.rgb;
            let alpha = color.alpha as f32;
            self.image.blend_pixel(x, y, [r, g, b, 255], alpha);
        }
        Ok(())
    }

    /// The default leaves out the room before letters.
    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        at: BackendCoord,
    ) -> Result<(), Fault> {
        let (r, g, b) = style.color().rgb;
        let style_here = text_style(style.size() as f32, [r, g, b, 255]);
        let width = text_width(text, &style_here);
        let x = at.0 as f32
            - width
                * match style.anchor().h_pos {
                    HPos::Left => 0.0,
                    HPos::Center => 0.5,
                    HPos::Right => 1.0,
                };
        // As the SVG has it.
        let em = style_here.size;
        let baseline = at.1 as f32
            + em * match style.anchor().v_pos {
                VPos::Top => 0.76,
                VPos::Center => 0.26,
                VPos::Bottom => -0.26,
            };
        draw_text(&mut self.image, text, x, baseline, &style_here);
        Ok(())
    }
}

/// Of plotters' size, which is that of a line.
fn text_style(size: f32, color: [u8; 4]) -> TextStyle {
    let mut style = TextStyle::DARK.sized(size / 1.24);
    style.color = color;
    style
}

/// How wide a text becomes, pixels; with some room, for an SVG is shown in whatever font there is.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    let style = text_style(size as f32, [0, 0, 0, 255]);
    f64::from(text_width(text, &style)) * 1.15
}
