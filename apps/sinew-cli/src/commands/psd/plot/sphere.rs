//! Weights over directions, as maps.

use super::paper::{
    FAINT, INK, MARGIN, TEXT, TITLE, at, color, fitted, float, stroke, text_style, tint, whole,
};
use super::pixels::width_of;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind};
use plotters::element::{Circle, PathElement, Rectangle, Text};
use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor, WHITE};
use sinew::psd::sample::{DirectionSamples, map_radius};

pub(super) struct Sphere {
    pub(super) title: String,
    pub(super) names: Vec<String>,
    pub(super) samples: DirectionSamples,
}

type Drawn<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

/// Steps of weight that are told apart by colour.
const BANDS: f64 = 10.0;
/// Samples in a row of a small map are this many times fewer.
const COARSE: usize = 2;

/// A map on the page: its middle and radius, pixels.
#[derive(Clone, Copy)]
struct Disc {
    x: f64,
    y: f64,
    radius: f64,
}

impl Disc {
    /// A point of the map on the page.
    fn point(&self, [right, up]: [f64; 2]) -> [f64; 2] {
        [self.x + right * self.radius, self.y - up * self.radius]
    }
}

impl Sphere {
    pub(super) fn draw<DB: DrawingBackend>(
        &self,
        root: &DrawingArea<DB, Shift>,
        scale: u32,
    ) -> Drawn<DB> {
        root.fill(&WHITE)?;
        let (width, height) = root.dim_in_pixel();
        let [width, height] = [width, height].map(|v| f64::from(v) / f64::from(scale));
        let title = fitted(&self.title, TITLE, width - 2.0 * MARGIN);
        let style = text_style(TITLE, scale, INK, HPos::Left);
        root.draw(&Text::new(
            title,
            at(MARGIN, MARGIN + TITLE * 0.5, scale),
            style,
        ))?;
        let top = MARGIN + TITLE * 1.5;
        let note = TEXT * 1.5;
        let radius = (height - top - note - MARGIN).min(width * 0.52 - 2.0 * MARGIN) * 0.5;
        let disc = Disc {
            x: MARGIN + radius,
            y: top + (height - top - note - MARGIN) * 0.5,
            radius,
        };
        self.draw_all(root, disc, width, scale)?;
        let text = "centre: the first pose; rings every 45 degrees";
        let text = fitted(text, TEXT, 2.0 * radius + MARGIN);
        let style = text_style(TEXT, scale, INK, HPos::Left);
        let place = at(MARGIN, height - MARGIN - TEXT * 0.5, scale);
        root.draw(&Text::new(text, place, style))?;
        let left = 3.0 * MARGIN + 2.0 * radius;
        self.draw_each(root, [left, top, width - MARGIN, height - MARGIN], scale)
    }

    /// One map of all: the pose that is strongest, as strong as its weight.
    fn draw_all<DB: DrawingBackend>(
        &self,
        root: &DrawingArea<DB, Shift>,
        disc: Disc,
        width: f64,
        scale: u32,
    ) -> Drawn<DB> {
        let strongest = |i: usize| {
            let weights = self.samples.weights.iter().map(|w| w[i]).enumerate();
            weights.max_by(|a, b| a.1.total_cmp(&b.1))
        };
        let shade = |i: usize| strongest(i).and_then(|(pose, weight)| band(pose, weight));
        fill(root, disc, self.samples.side, 1, &shade, scale)?;
        rings(root, disc, scale)?;
        for &place in &self.samples.poses {
            dot(root, disc.point(place), 4.0, INK, scale)?;
        }
        for label in self.labels(disc, width) {
            let style = text_style(TEXT, scale, INK, HPos::Left);
            let [left, top, _, bottom] = label.bounds;
            let place = at(left, (top + bottom) * 0.5, scale);
            root.draw(&Text::new(label.text, place, style))?;
        }
        Ok(())
    }

    /// A map for each pose, in columns.
    fn draw_each<DB: DrawingBackend>(
        &self,
        root: &DrawingArea<DB, Shift>,
        [left, top, right, bottom]: [f64; 4],
        scale: u32,
    ) -> Drawn<DB> {
        let count = self.names.len();
        let head = TEXT * 1.3;
        let cell = |columns: usize| {
            let rows = count.div_ceil(columns);
            let across = (right - left) / float(columns);
            let down = (bottom - top) / float(rows);
            [across, down]
        };
        let side = |columns: &usize| {
            let [across, down] = cell(*columns);
            (across - 8.0).min(down - head - 8.0)
        };
        let columns = (1..=count).max_by(|a, b| side(a).total_cmp(&side(b)));
        let columns = columns.unwrap_or(1);
        let [across, down] = cell(columns);
        let radius = side(&columns) * 0.5;
        if radius < 8.0 {
            // So many poses that their maps would be dots.
            return Ok(());
        }
        for (pose, name) in self.names.iter().enumerate() {
            let x = left + across * (float(pose % columns) + 0.5);
            let y = top + down * float(pose / columns);
            let text = fitted(name, TEXT, across - 6.0);
            let style = text_style(TEXT, scale, INK, HPos::Center);
            root.draw(&Text::new(text, at(x, y + head * 0.5, scale), style))?;
            let y = y + head + radius;
            self.draw_one(root, Disc { x, y, radius }, pose, scale)?;
        }
        Ok(())
    }

    fn draw_one<DB: DrawingBackend>(
        &self,
        root: &DrawingArea<DB, Shift>,
        disc: Disc,
        pose: usize,
        scale: u32,
    ) -> Drawn<DB> {
        let weights = &self.samples.weights[pose];
        let side = self.samples.side;
        let shade = |i: usize| band(pose, weights[i]);
        fill(root, disc, side, COARSE, &shade, scale)?;
        rim(root, disc, INK, 1.0, scale)?;
        for [a, b] in contour(weights, side, 0.5) {
            let ends = [a, b].map(|p| disc.point(p));
            let line = ends.map(|[x, y]| at(x, y, scale)).to_vec();
            root.draw(&PathElement::new(line, stroke(INK.mix(0.8), 1.2, scale)))?;
        }
        for (other, &place) in self.samples.poses.iter().enumerate() {
            let size = if other == pose { 3.5 } else { 1.5 };
            dot(root, disc.point(place), size, INK, scale)?;
        }
        Ok(())
    }

    /// Names beside their dots, where they hide neither dots nor each other as far as that can be.
    fn labels(&self, disc: Disc, width: f64) -> Vec<Label> {
        let dots: Vec<[f64; 2]> = self.samples.poses.iter().map(|&p| disc.point(p)).collect();
        let mut out: Vec<Label> = Vec::new();
        for (name, &[x, y]) in self.names.iter().zip(&dots) {
            let text = fitted(name, TEXT, disc.radius);
            let (wide, high) = (width_of(&text, TEXT), TEXT);
            let beside = [
                [x + 7.0, y - high * 0.5],
                [x - 7.0 - wide, y - high * 0.5],
                [x - wide * 0.5, y - 7.0 - high],
                [x - wide * 0.5, y + 7.0],
                [x + 5.0, y - 5.0 - high],
                [x + 5.0, y + 5.0],
                [x - 5.0 - wide, y - 5.0 - high],
                [x - 5.0 - wide, y + 5.0],
            ];
            let boxes = beside.map(|[left, top]| [left, top, left + wide, top + high]);
            let hidden = |b: &[f64; 4]| {
                let labels = out.iter().map(|l| overlap(b, &l.bounds)).sum::<f64>();
                let dots = dots
                    .iter()
                    .map(|[x, y]| [x - 5.0, y - 5.0, x + 5.0, y + 5.0]);
                let dots = dots.map(|d| overlap(b, &d)).sum::<f64>();
                let inside = overlap(
                    b,
                    &[2.0, 0.0, (disc.x + disc.radius + 24.0).min(width), f64::MAX],
                );
                labels + dots + (wide * high - inside)
            };
            let best = boxes
                .into_iter()
                .min_by(|a, b| hidden(a).total_cmp(&hidden(b)));
            if let Some(bounds) = best {
                out.push(Label { text, bounds });
            }
        }
        out
    }
}

/// A name and the rectangle it takes: left, top, right, bottom, pixels of the page.
struct Label {
    text: String,
    bounds: [f64; 4],
}

/// Area that two boxes share.
fn overlap(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    let wide = a[2].min(b[2]) - a[0].max(b[0]);
    let high = a[3].min(b[3]) - a[1].max(b[1]);
    wide.max(0.0) * high.max(0.0)
}

/// The colour of a weight, in bands; `None` outside the map.
fn band(pose: usize, weight: f64) -> Option<RGBColor> {
    let level = (weight.clamp(0.0, 1.0) * BANDS).round() / BANDS;
    weight.is_finite().then(|| tint(color(pose), level * 0.9))
}

/// Fills a map from samples, every `coarse` of them; neighbours of one colour in a row become one rectangle.
fn fill<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    disc: Disc,
    side: usize,
    coarse: usize,
    shade: &dyn Fn(usize) -> Option<RGBColor>,
    scale: u32,
) -> Drawn<DB> {
    let cells = side / coarse;
    let corner = |column: usize, row: usize| {
        let place = |i: usize| 2.0 * float(i) / float(cells) - 1.0;
        let [x, y] = disc.point([place(column), -place(row)]);
        at(x, y, scale)
    };
    let middle = coarse / 2;
    for row in 0..cells {
        let sample =
            |column: usize| shade((row * coarse + middle) * side + column * coarse + middle);
        let mut start = 0;
        for column in 1..=cells {
            let ends = column == cells || sample(column) != sample(start);
            if !ends {
                continue;
            }
            if let Some(color) = sample(start) {
                let corners = [corner(start, row), corner(column, row + 1)];
                root.draw(&Rectangle::new(corners, color.filled()))?;
            }
            start = column;
        }
    }
    Ok(())
}

/// The rim, and circles 45, 90 and 135 degrees from the middle.
fn rings<DB: DrawingBackend>(root: &DrawingArea<DB, Shift>, disc: Disc, scale: u32) -> Drawn<DB> {
    for degrees in [45.0_f64, 90.0, 135.0] {
        let radius = disc.radius * map_radius(degrees.to_radians());
        rim(root, Disc { radius, ..disc }, FAINT, 1.0, scale)?;
    }
    rim(root, disc, INK, 1.5, scale)
}

fn rim<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    disc: Disc,
    color: RGBColor,
    width: f64,
    scale: u32,
) -> Drawn<DB> {
    const CORNERS: usize = 120;
    let corner = |i: usize| {
        let angle = float(i) / float(CORNERS) * std::f64::consts::TAU;
        let [x, y] = disc.point([angle.cos(), angle.sin()]);
        at(x, y, scale)
    };
    let points: Vec<(i32, i32)> = (0..=CORNERS).map(corner).collect();
    root.draw(&PathElement::new(
        points,
        stroke(color.to_rgba(), width, scale),
    ))
}

fn dot<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    [x, y]: [f64; 2],
    radius: f64,
    color: RGBColor,
    scale: u32,
) -> Drawn<DB> {
    let size = |r: f64| whole(r * f64::from(scale));
    let place = at(x, y, scale);
    root.draw(&Circle::new(place, size(radius + 1.0), WHITE.filled()))?;
    root.draw(&Circle::new(place, size(radius), color.filled()))
}

/// Lines where samples pass `level`, as pairs of points on the map (marching squares; NaN samples have none).
fn contour(weights: &[f64], side: usize, level: f64) -> Vec<[[f64; 2]; 2]> {
    let mut out = Vec::new();
    let place = |column: f64, row: f64| {
        let one = |i: f64| (2.0 * i + 1.0) / float(side) - 1.0;
        [one(column), -one(row)]
    };
    for row in 0..side.saturating_sub(1) {
        for column in 0..side - 1 {
            let corners = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[right, down]| {
                let (c, r) = (column + right, row + down);
                (float(c), float(r), weights[r * side + c])
            });
            if corners.iter().any(|c| c.2.is_nan()) {
                continue;
            }
            let mut crossings = Vec::new();
            for (i, a) in corners.iter().enumerate() {
                let b = &corners[(i + 1) % 4];
                if (a.2 > level) != (b.2 > level) {
                    let t = (level - a.2) / (b.2 - a.2);
                    crossings.push(place(a.0 + (b.0 - a.0) * t, a.1 + (b.1 - a.1) * t));
                }
            }
            out.extend(crossings.as_chunks::<2>().0.iter().copied());
        }
    }
    out
}
