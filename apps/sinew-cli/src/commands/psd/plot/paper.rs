//! What plots share: the font, colours, texts that fit.

use super::pixels::width_of;
use crate::exit::{Failure, Outcome};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    FontStyle, IntoTextStyle, RGBAColor, RGBColor, ShapeStyle, TextStyle, register_font as register,
};

/// Letters and lines.
pub(super) const INK: RGBColor = RGBColor(40, 44, 52);
/// Grids and rims.
pub(super) const FAINT: RGBColor = RGBColor(214, 217, 222);
/// Height of a line of text, pixels.
pub(super) const TEXT: f64 = 16.0;
/// Of titles.
pub(super) const TITLE: f64 = 20.0;
/// Margin around everything.
pub(super) const MARGIN: f64 = 14.0;

/// Colours that differ in hue and brightness, most of them also to eyes that do not tell red from green (Okabe and Ito 2008, and four more).
const COLORS: [RGBColor; 10] = [
    RGBColor(110, 114, 122),
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(106, 61, 154),
    RGBColor(130, 70, 30),
    RGBColor(150, 150, 30),
];

/// Of the pose of that index.
pub(super) fn color(pose: usize) -> RGBColor {
    COLORS[pose % COLORS.len()]
}

/// Poses whose colours were there before have dashed curves: how long dashes and gaps are, `None` for solid ones.
pub(super) fn dashes(pose: usize) -> Option<(f64, f64)> {
    match (pose / COLORS.len()) % 3 {
        0 => None,
        1 => Some((9.0, 5.0)),
        _ => Some((3.0, 4.0)),
    }
}

/// White for 0, the colour for 1.
pub(super) fn tint(color: RGBColor, strength: f64) -> RGBColor {
    let mix = |c: u8| (255.0 + (f64::from(c) - 255.0) * strength.clamp(0.0, 1.0)) as u8;
    RGBColor(mix(color.0), mix(color.1), mix(color.2))
}

/// Dark enough for letters.
pub(super) fn dark(color: RGBColor) -> RGBColor {
    let mix = |c: u8| c / 4 * 3;
    RGBColor(mix(color.0), mix(color.1), mix(color.2))
}

/// Text of a height in pixels, anchored at the middle of its height.
pub(super) fn text_style(
    size: f64,
    scale: u32,
    color: RGBColor,
    anchor: HPos,
) -> TextStyle<'static> {
    ("sans-serif", size * f64::from(scale))
        .with_color(color)
        .into_text_style(&(1, 1))
        .pos(Pos::new(anchor, VPos::Center))
}

/// The text, or as much of it as fits. Room that was made for this very text, and added up with other lengths since, is enough.
pub(super) fn fitted(text: &str, size: f64, width: f64) -> String {
    const ROUNDING: f64 = 1e-3;
    let width = width + ROUNDING;
    if width_of(text, size) <= width {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let cut = |n: usize| letters[..n].iter().collect::<String>() + "...";
    let longest = (1..letters.len()).rev().map(cut);
    let mut fitting = longest.skip_while(|t| width_of(t, size) > width);
    fitting.next().unwrap_or_default()
}

/// Pixels of the page as coordinates of the drawing.
pub(super) fn at(x: f64, y: f64, scale: u32) -> (i32, i32) {
    let scale = f64::from(scale);
    ((x * scale).round() as i32, (y * scale).round() as i32)
}

/// Makes the program's font known to the plotting library.
pub(super) fn register_font() -> Outcome {
    let bytes = epaint_default_fonts::UBUNTU_LIGHT;
    register("sans-serif", FontStyle::Normal, bytes)
        .map_err(|_| Failure::output("cannot load the built-in font"))
}

/// A line of a width in pixels.
pub(super) fn stroke(color: RGBAColor, width: f64, scale: u32) -> ShapeStyle {
    ShapeStyle {
        color,
        filled: false,
        stroke_width: whole(width * f64::from(scale)),
    }
}

pub(super) fn whole(pixels: f64) -> u32 {
    pixels.round().max(1.0) as u32
}

pub(super) fn float(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit_where_there_is_just_room() {
        let room = width_of("pose 07", TEXT);
        assert_eq!(fitted("pose 07", TEXT, room - 1e-9), "pose 07");
        let shorter = fitted("pose 07", TEXT, room - 1.0);
        assert!(
            shorter.ends_with("...") && width_of(&shorter, TEXT) <= room,
            "{shorter}"
        );
        assert_eq!(fitted("pose 07", TEXT, 1.0), "");
    }
}
