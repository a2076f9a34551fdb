//! Marks over a finished picture.

use super::paint::Worst;
use sinew::geom::Image;
use sinew::picture::{Camera, TextStyle, draw_text, text_width};

const INK: [u8; 4] = [20, 22, 28, 255];
const HALO: [u8; 4] = [255, 255, 255, 230];

/// Names of a picture, at most: more would hide it.
const MOST_NAMES: usize = 500;

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

/// Names at points of the scene. A name that has no space beside its point is left out.
pub(super) fn names<'a>(
    image: &mut Image,
    camera: &Camera,
    points: impl Iterator<Item = ([f32; 3], &'a str)>,
) {
    let (width, height) = (image.width() as f32, image.height() as f32);
    let mut style = TextStyle::DARK;
    style.color = INK;
    style.halo = Some(HALO);
    let style = style.sized((0.022 * height).clamp(11.0, 22.0));
    let gap = 0.5 * style.size;
    let tall = style.cap_height();
    let mut taken: Vec<[f32; 4]> = Vec::new();
    for (point, name) in points {
        let found = camera.project(point, width, height);
        let Some([x, y, _]) = found.filter(|_| taken.len() < MOST_NAMES) else {
            continue;
        };
        let wide = text_width(name, &style);
        let middle = y + 0.5 * tall;
        let spots = [
            [x + gap, middle],
            [x - gap - wide, middle],
            [x - 0.5 * wide, y - gap],
            [x - 0.5 * wide, y + gap + tall],
        ];
        let bounds = |[left, baseline]: [f32; 2]| {
            let margin = 0.25 * style.size;
            [
                left - margin,
                baseline - tall - margin,
                left + wide + margin,
                baseline + margin,
            ]
        };
        let is_free = |spot: &[f32; 2]| {
            let [l, t, r, b] = bounds(*spot);
            let inside = l >= 0.0 && t >= 0.0 && r <= width && b <= height;
            inside
                && !taken
                    .iter()
                    .any(|o| l < o[2] && o[0] < r && t < o[3] && o[1] < b)
        };
        if let Some(spot) = spots.into_iter().find(is_free) {
            draw_text(image, name, spot[0], spot[1], &style);
            taken.push(bounds(spot));
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::picture::Lens;

    /// Lowest and highest column with ink.
    fn columns(image: &Image) -> Option<[usize; 2]> {
        let mut found: Option<[usize; 2]> = None;
        for y in 0..image.height() {
            for x in 0..image.width() {
                if image.pixel(x, y).is_some_and(|p| p[0] < 100) {
                    let [low, high] = found.unwrap_or([x, x]);
                    found = Some([low.min(x), high.max(x)]);
                }
            }
        }
        found
    }

    #[test]
    fn names_are_beside_their_points_and_never_over_each_other() {
        let lens = Lens::Perspective {
            tan_half_height: 0.5,
        };
        // The target is in the middle of the picture.
        let camera = Camera::look_at([0.0, 0.0, 5.0], [0.0; 3], lens, 2.0).expect("a direction");
        let drawn = |points: &[[f32; 3]]| {
            let mut image = Image::filled(400, 200, [255; 4]);
            names(&mut image, &camera, points.iter().map(|p| (*p, "spine")));
            image
        };
        let [low, high] = columns(&drawn(&[[0.0; 3]])).expect("one name");
        assert!(low > 200 && high < 260, "{low} to {high}");
        // The second one at the same point goes to the left.
        let two = drawn(&[[0.0; 3], [0.0; 3]]);
        let [low, high] = columns(&two).expect("two names");
        assert!(low < 200 && low > 140 && high > 200, "{low} to {high}");
        let full = [[0.0; 3]; 4];
        assert_eq!(drawn(&full).pixels(), drawn(&[[0.0; 3]; 9]).pixels());
        assert_eq!(columns(&drawn(&[[0.0, 0.0, 9.0], [40.0, 0.0, 0.0]])), None);
    }
}
