//! Marks over a finished picture.

use super::paint::Worst;
use sinew::geom::Image;
use sinew::picture::{Camera, TextStyle, draw_text, text_width};

const INK: [u8; 4] = [20, 22, 28, 255];
const HALO: [u8; 4] = [255, 255, 255, 230];

/// A ring around the vertex that is farthest away, with its number.
pub(super) fn mark(image: &mut Image, camera: &Camera, worst: &Worst) {
    if worst.millimetres <= 0.0 {
        return;
    }
    let (width, height) = (image.width() as f32, image.height() as f32);
    let Some([x, y, _]) = camera.project(worst.place, width, height) else {
        return;
    };
    if !(0.0..width).contains(&x) || !(0.0..height).contains(&y) {
        return;
    }
    let radius = (0.018 * width.min(height)).max(5.0);
    ring(image, [x, y], radius, 4.0, HALO);
    ring(image, [x, y], radius, 1.8, INK);
    let mut style = TextStyle::DARK;
    style.color = INK;
    style.halo = Some(HALO);
    let style = style.sized((0.03 * height).clamp(11.0, 30.0));
    let text = format!("{} mm, vertex {}", shown(worst.millimetres), worst.vertex);
    let wide = text_width(&text, &style);
    // To the right of the ring where there is room, else to its left, and never beyond the rim.
    let right = x + 1.6 * radius;
    let left = if right + wide < width - 4.0 {
        right
    } else {
        x - 1.6 * radius - wide
    };
    let left = left.clamp(4.0, (width - wide - 4.0).max(4.0));
    let baseline = (y + 0.5 * style.cap_height()).clamp(style.size, (height - 6.0).max(style.size));
    draw_text(image, &text, left, baseline, &style);
}

/// Three digits.
fn shown(millimetres: f32) -> String {
    match millimetres {
        m if m >= 100.0 => format!("{m:.0}"),
        m if m >= 10.0 => format!("{m:.1}"),
        m if m >= 0.01 => format!("{m:.2}"),
        m => format!("{m:.1e}"),
    }
}

fn ring(image: &mut Image, center: [f32; 2], radius: f32, thickness: f32, color: [u8; 4]) {
    let reach = radius + thickness;
    let range = |c: f32, most: usize| {
        let first = (c - reach).max(0.0) as usize;
        first..((c + reach + 1.0).max(0.0) as usize).min(most)
    };
    for y in range(center[1], image.height()) {
        for x in range(center[0], image.width()) {
            let (dx, dy) = (x as f32 + 0.5 - center[0], y as f32 + 0.5 - center[1]);
            let off = (dx.hypot(dy) - radius).abs();
            let coverage = (0.5 * thickness + 0.5 - off).clamp(0.0, 1.0);
            image.blend_pixel(x, y, color, coverage);
        }
    }
}
