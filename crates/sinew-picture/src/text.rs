//! One line of antialiased text.
//!
//! Outlines come from two fonts that are part of the program. A line is first drawn as coverage, so that glyphs that touch do
//! not darken each other and a halo follows the whole line; then it is laid over the image.

use ab_glyph::{Font as _, FontRef, Glyph, GlyphId, Point, PxScale, PxScaleFont, ScaleFont as _};
use sinew_geom::Image;

/// A typeface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Font {
    /// Ubuntu Light; its digits are equally wide.
    #[default]
    Sans,
    /// Hack: all letters are equally wide.
    Mono,
}

/// Style of a line of text.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TextStyle {
    /// The typeface.
    pub font: Font,
    /// Font size in pixels (the em), limited to 1 to 1000. NaN counts as 1.
    pub size: f32,
    /// sRGB with alpha.
    pub color: [u8; 4],
    /// Colour of a rim around the letters, which keeps them legible on any background. Its width is 18 % of the size, 2 to 14 pixels.
    pub halo: Option<[u8; 4]>,
}

impl TextStyle {
    /// Dark letters for light backgrounds.
    pub const DARK: Self = Self {
        font: Font::Sans,
        size: 16.0,
        color: [32, 36, 44, 255],
        halo: None,
    };
    /// Light letters for dark backgrounds.
    pub const LIGHT: Self = Self {
        color: [240, 242, 245, 255],
        ..Self::DARK
    };

    /// A style that stands out from `background`, with a halo if that is translucent.
    pub fn on(background: [u8; 4]) -> Self {
        let [red, green, blue, alpha] = background;
        let brightness = [(red, 299), (green, 587), (blue, 114)]
            .map(|(value, share)| u32::from(value) * share)
            .iter()
            .sum::<u32>();
        match alpha {
            255 if brightness < 140_000 => Self::LIGHT,
            255 => Self::DARK,
            _ => Self {
                halo: Some([255, 255, 255, 230]),
                ..Self::DARK
            },
        }
    }

    /// The same style with another size in pixels.
    pub fn sized(self, size: f32) -> Self {
        Self { size, ..self }
    }

    /// Height of capital letters and digits above the baseline, pixels.
    pub fn cap_height(&self) -> f32 {
        let height = |line: Line<'_>| {
            let bounds = line.font.font.outline(line.font.glyph_id('H'))?.bounds;
            Some(bounds.max.y.max(bounds.min.y) * line.font.v_scale_factor())
        };
        self.line().and_then(height).unwrap_or(0.0)
    }

    /// The size within its bounds.
    pub(crate) fn em(&self) -> f32 {
        match self.size.is_nan() {
            true => 1.0,
            false => self.size.clamp(1.0, 1000.0),
        }
    }

    fn line(&self) -> Option<Line<'static>> {
        let bytes = match self.font {
            Font::Sans => epaint_default_fonts::UBUNTU_LIGHT,
            Font::Mono => epaint_default_fonts::HACK_REGULAR,
        };
        let font = FontRef::try_from_slice(bytes).ok()?;
        let scale = self.em() / font.units_per_em()? * font.height_unscaled();
        Some(Line {
            font: font.into_scaled(PxScale::from(scale)),
        })
    }
}

/// Width of one line of text in pixels, with kerning. Parses the font in each call; no text is cached.
pub fn text_width(text: &str, style: &TextStyle) -> f32 {
    style.line().map_or(0.0, |line| line.layout(text).1)
}

/// Draws one line of text that starts at `x`, with its baseline at `y`, in pixels from the top left corner of the image.
///
/// Letters that the font lacks become its replacement sign; line breaks and other control characters become spaces. Parts outside of the
/// image are cut off. Nothing is drawn if `x` or `y` is not finite.
pub fn draw_text(image: &mut Image, text: &str, x: f32, y: f32, style: &TextStyle) {
    let Some(line) = style.line().filter(|_| x.is_finite() && y.is_finite()) else {
        return;
    };
    let rim = style.halo.map_or(0.0, |_| rim(style.em()));
    let Some(mut cover) = Cover::of_line(&line, [x, y], text, image, rim) else {
        return;
    };
    for (glyph, advance) in line.layout(text).0 {
        cover.add(&line.font, glyph, [x + advance, y]);
    }
    if let Some(color) = style.halo {
        cover.grown(rim).lay_over(image, color);
    }
    cover.lay_over(image, style.color);
}

/// Width of a halo, pixels.
fn rim(size: f32) -> f32 {
    (size * 0.18).clamp(2.0, 14.0)
}

/// Coverage of the edge of a letter, raised: the strokes of light letters are thinner than a pixel at the sizes of labels and
/// would be pale.
fn stronger(coverage: f32) -> f32 {
    coverage.clamp(0.0, 1.0).powf(0.72)
}

/// A font at a size.
struct Line<'a> {
    font: PxScaleFont<FontRef<'a>>,
}

impl Line<'_> {
    /// The glyphs of `text`, each with the distance from the start, and where the text ends.
    fn layout(&self, text: &str) -> (Vec<(GlyphId, f32)>, f32) {
        let mut glyphs = Vec::new();
        let mut at = 0.0;
        let mut last = None;
        for id in text.chars().map(|letter| self.glyph(letter)) {
            at += last.map_or(0.0, |last| self.font.kern(last, id));
            glyphs.push((id, at));
            at += self.font.h_advance(id);
            last = Some(id);
        }
        (glyphs, at)
    }

    fn glyph(&self, letter: char) -> GlyphId {
        let letter = if letter.is_control() { ' ' } else { letter };
        let known = |letter| Some(self.font.glyph_id(letter)).filter(|id| id.0 != 0);
        known(letter)
            .or_else(|| known(char::REPLACEMENT_CHARACTER))
            .or_else(|| known('?'))
            .unwrap_or_default()
    }
}

/// How much of each pixel is covered, in a part of an image.
struct Cover {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
    values: Vec<f32>,
}

impl Cover {
    /// Room for `text` from `at` on and `rim` pixels around it, as far as it lies in the image.
    fn of_line(line: &Line<'_>, at: [f32; 2], text: &str, image: &Image, rim: f32) -> Option<Self> {
        // Slanted and wide letters reach beyond what they advance by, by less than half a line.
        let room = line.font.height() * 0.5 + rim;
        let [left, right] = [at[0] - room, at[0] + line.layout(text).1 + room];
        let top = at[1] - line.font.ascent() - room;
        let bottom = at[1] - line.font.descent() + room;
        let cut = |from: f32, to: f32, size: usize| {
            let [from, to] = [from.floor(), to.ceil()].map(|v| v.clamp(0.0, size as f32) as usize);
            (from, to - from.min(to))
        };
        let (x, width) = cut(left, right, image.width());
        let (y, height) = cut(top, bottom, image.height());
        let values = vec![0.0; width * height];
        (!values.is_empty()).then_some(Self {
            x,
            y,
            width,
            height,
            values,
        })
    }

    /// Covers what `glyph` covers when it stands at `at`.
    fn add(&mut self, font: &PxScaleFont<FontRef<'_>>, glyph: GlyphId, at: [f32; 2]) {
        // Letters far outside are not worth their outlines.
        let reach = font.height() * 2.0;
        let right = (self.x + self.width) as f32 + reach;
        if at[0] < self.x as f32 - reach || at[0] > right {
            return;
        }
        let position = Point { x: at[0], y: at[1] };
        let glyph = Glyph {
            id: glyph,
            scale: font.scale(),
            position,
        };
        let Some(outline) = font.outline_glyph(glyph) else {
            return;
        };
        let corner = outline.px_bounds().min;
        let (left, top) = (corner.x as i64, corner.y as i64);
        outline.draw(|x, y, coverage| {
            let place = |v: i64, from: usize, size: usize| {
                let inside = usize::try_from(v).ok()?.checked_sub(from)?;
                (inside < size).then_some(inside)
            };
            let column = place(left + i64::from(x), self.x, self.width);
            let row = place(top + i64::from(y), self.y, self.height);
            if let (Some(column), Some(row)) = (column, row) {
                let value = &mut self.values[row * self.width + column];
                *value = value.max(stronger(coverage));
            }
        });
    }

    /// Covers what is at most `radius` pixels away from what this covers, with a soft edge.
    fn grown(&self, radius: f32) -> Self {
        let reach = radius.ceil() as isize;
        let steps =
            || (-reach..=reach).flat_map(move |dy| (-reach..=reach).map(move |dx| (dx, dy)));
        let disk: Vec<(isize, isize, f32)> = steps()
            .map(|(dx, dy)| {
                let distance = ((dx * dx + dy * dy) as f32).sqrt();
                (dx, dy, (radius + 0.5 - distance).clamp(0.0, 1.0))
            })
            .filter(|step| step.2 > 0.0)
            .collect();
        let mut values = vec![0.0_f32; self.values.len()];
        let covered = self.values.iter().enumerate().filter(|(_, v)| **v > 0.0);
        for (i, value) in covered {
            let (x, y) = (i % self.width, i / self.width);
            // A stroke that lies across two pixels has as much of a rim as one that fills a pixel.
            let whole = (value * 2.5).min(1.0);
            for &(dx, dy, part) in &disk {
                let to = (x.checked_add_signed(dx), y.checked_add_signed(dy));
                if let (Some(x), Some(y)) = to
                    && x < self.width
                    && y < self.height
                {
                    let grown = &mut values[y * self.width + x];
                    *grown = grown.max(whole * part);
                }
            }
        }
        Self { values, ..*self }
    }

    fn lay_over(&self, image: &mut Image, color: [u8; 4]) {
        for (i, &coverage) in self.values.iter().enumerate().filter(|(_, v)| **v > 0.0) {
            let (x, y) = (self.x + i % self.width, self.y + i / self.width);
            image.blend_pixel(x, y, color, coverage);
        }
    }
}

/// `text`, or as much of its beginning as fits into `width` pixels with an ellipsis behind it.
pub(crate) fn shortened(text: &str, width: f32, style: &TextStyle) -> String {
    if text_width(text, style) <= width {
        return text.to_owned();
    }
    let kept = |text: &str| {
        text.trim_end_matches(|c: char| !c.is_alphanumeric())
            .to_owned()
    };
    let ends = text.char_indices().map(|(end, _)| end).rev();
    let mut shorter = ends.map(|end| format!("{}\u{2026}", kept(&text[..end])));
    shorter
        .find(|short| text_width(short, style) <= width)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: [u8; 4] = [255; 4];

    /// Columns and rows between which something is drawn.
    fn drawn(image: &Image) -> Option<[usize; 4]> {
        let background = image.pixels()[0];
        let places: Vec<(usize, usize)> = (0..image.pixels().len())
            .filter(|&i| image.pixels()[i] != background)
            .map(|i| (i % image.width(), i / image.width()))
            .collect();
        let min = |f: fn(&(usize, usize)) -> usize| places.iter().map(f).min();
        let max = |f: fn(&(usize, usize)) -> usize| places.iter().map(f).max();
        Some([min(|p| p.0)?, max(|p| p.0)?, min(|p| p.1)?, max(|p| p.1)?])
    }

    fn with_text(text: &str, style: &TextStyle) -> Image {
        let mut image = Image::filled(300, 60, WHITE);
        draw_text(&mut image, text, 20.0, 40.0, style);
        image
    }

    #[test]
    fn letters_stand_on_the_baseline_and_are_as_high_as_said() {
        for font in [Font::Sans, Font::Mono] {
            let style = TextStyle {
                font,
                ..TextStyle::DARK.sized(32.0)
            };
            let [left, right, top, bottom] = drawn(&with_text("HH", &style)).expect("letters");
            assert!((20..24).contains(&left), "{left}");
            assert!(
                right < 20 + text_width("HH", &style).ceil() as usize,
                "{right}"
            );
            assert_eq!(bottom, 39, "the row above the baseline");
            let height = (bottom + 1 - top) as f32;
            assert!((height - style.cap_height()).abs() <= 1.0, "{height}");
            assert!(
                (20.0..25.0).contains(&height),
                "about 0.7 of the size: {height}"
            );
        }
    }

    #[test]
    fn widths_add_up_and_scale() {
        let style = TextStyle::DARK;
        assert_eq!(text_width("", &style), 0.0);
        let mono = TextStyle {
            font: Font::Mono,
            ..style
        };
        let one = text_width("i", &mono);
        assert!((text_width("mmmm", &mono) - 4.0 * one).abs() < 1e-3);
        let (small, large) = (
            text_width("Difference", &style),
            text_width("Difference", &style.sized(32.0)),
        );
        assert!((large - 2.0 * small).abs() < 1e-2, "{small} {large}");
        let digits: Vec<f32> = "0123456789"
            .chars()
            .map(|d| text_width(&d.to_string(), &style))
            .collect();
        assert!(
            digits.iter().all(|d| (d - digits[0]).abs() < 1e-4),
            "{digits:?}"
        );
    }

    #[test]
    fn unknown_letters_show() {
        let style = TextStyle::DARK.sized(24.0);
        let unknown = with_text("\u{13000}", &style);
        assert!(drawn(&unknown).is_some(), "a replacement");
        assert_eq!(unknown, with_text("\u{13001}", &style));
        assert_eq!(with_text("a\nb\tc", &style), with_text("a b c", &style));
        assert!(
            drawn(&with_text(
                "\u{e9}\u{b5}\u{d7}\u{2212}\u{b0}\u{2026}",
                &style
            ))
            .is_some()
        );
    }

    #[test]
    fn signs_of_labels_are_in_the_font() {
        let line = TextStyle::DARK.line().expect("a font");
        for sign in "0123456789.,-\u{2212}\u{d7}\u{2026}\u{b5}\u{b0}%".chars() {
            assert!(line.font.glyph_id(sign).0 != 0, "{sign}");
        }
    }

    #[test]
    fn text_is_antialiased_in_its_colour() {
        let image = with_text("Sinew", &TextStyle::DARK.sized(24.0));
        let tones: std::collections::BTreeSet<_> = image.pixels().iter().collect();
        assert!(tones.len() > 20, "{} tones", tones.len());
        assert!(image.pixels().iter().all(|p| p[3] == 255));
    }

    #[test]
    fn halos_surround_letters() {
        let mut image = Image::filled(60, 60, [0, 0, 0, 255]);
        let style = TextStyle {
            color: [255, 0, 0, 255],
            halo: Some([0, 255, 0, 255]),
            ..TextStyle::DARK.sized(40.0)
        };
        draw_text(&mut image, "I", 20.0, 50.0, &style);
        let row: Vec<[u8; 4]> = (0..60).filter_map(|x| image.pixel(x, 35)).collect();
        let first =
            |test: fn(&[u8; 4]) -> bool| row.iter().position(test).expect("a rim and a letter");
        let (rim, letter) = (first(|p| p[1] > 128), first(|p| p[0] > 128));
        assert!((2..8).contains(&(letter - rim)), "{rim} {letter}");
    }

    #[test]
    fn nothing_breaks_outside_or_at_odd_sizes() {
        let mut image = Image::filled(20, 20, WHITE);
        let far = [
            -1e9,
            -30.0,
            5.0,
            19.9,
            1e9,
            f32::MAX,
            f32::NAN,
            f32::INFINITY,
        ];
        for x in far {
            for y in far {
                for size in [f32::NAN, -1.0, 0.0, 12.0, 1e30] {
                    let style = TextStyle {
                        halo: Some([0, 0, 0, 255]),
                        ..TextStyle::DARK.sized(size)
                    };
                    draw_text(&mut image, "gW", x, y, &style);
                }
            }
        }
        draw_text(&mut Image::default(), "a", 0.0, 0.0, &TextStyle::DARK);
    }

    #[test]
    fn long_texts_are_shortened_at_their_end() {
        let style = TextStyle::DARK;
        assert_eq!(shortened("short", 200.0, &style), "short");
        let short = shortened("a rather long label of a panel", 100.0, &style);
        assert!(
            short.starts_with("a rather") && short.ends_with('\u{2026}'),
            "{short}"
        );
        assert!(text_width(&short, &style) <= 100.0);
        assert_eq!(shortened("label", 1.0, &style), "");
    }

    #[test]
    fn letters_stand_out_from_their_background() {
        assert_eq!(TextStyle::on([250, 250, 250, 255]), TextStyle::DARK);
        assert_eq!(TextStyle::on([20, 22, 26, 255]), TextStyle::LIGHT);
        assert!(TextStyle::on([0; 4]).halo.is_some());
    }
}
