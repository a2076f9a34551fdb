//! `--show`: what is inside a graph, drawn over its meshes: boxes of lattices, a mask, fields.
//!
//! A part becomes one more output of the graph. Lattices are lines already, a mask gives the numbers of a look, and fields become lines here:
//! level curves of the surface of a grid, outlines of solids.

use crate::exit::{Failure, Outcome};
use sinew::deform::sdf::{FieldFrame, FieldView, FieldWords, SolidsView, isosurface};
use sinew::deform::{Line, PortType};
use sinew::geom::Vec3;
use sinew::geom::names::closest;
use sinew::graph::{Plan, Source};
use std::f32::consts::TAU;

/// Name of the output that a shown mask gets.
pub(super) const MASK: &str = "shown mask";
/// Level curves along the longest side of a field.
const CURVES: f32 = 48.0;
/// Linear RGBA: blue, apart from the orange of lattices.
const COLOR: [f32; 4] = [0.02, 0.18, 0.75, 1.0];
/// Corners of a circle.
const CORNERS: usize = 48;
/// Half of the side of a plane, in metres, and its cells along this half.
const PLANE: (f32, i16) = (1.0, 5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Lattice,
    Mask,
    Field,
}

/// An entry of `--show`: a kind of node, and the name of one if there are several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    kind: Kind,
    node: Option<String>,
}

impl Part {
    pub(super) fn parse(entry: &str) -> Outcome<Self> {
        let (word, node) = match entry.trim().split_once('=') {
            Some((word, node)) => (word, Some(node.to_owned())),
            None => (entry.trim(), None),
        };
        let kind = match word {
            "lattice" => Kind::Lattice,
            "mask" => Kind::Mask,
            "field" => Kind::Field,
            _ => {
                return Err(Failure::usage(format!(
                    "--show is '{entry}', expected lattice, mask or field, or one node: lattice=NAME, mask=NAME, field=NAME"
                )));
            }
        };
        Ok(Self { kind, node })
    }

    pub(super) fn is_mask(&self) -> bool {
        self.kind == Kind::Mask
    }

    pub(super) fn is_field(&self) -> bool {
        self.kind == Kind::Field
    }

    /// Nodes of the plan that are such a part, and where it is.
    fn all(&self, plan: &Plan) -> Vec<(String, Source)> {
        let nodes = plan.nodes().iter().enumerate();
        let ports = nodes.flat_map(|(node, n)| {
            let ports = n.desc.outputs.iter().enumerate();
            ports.map(move |(port, desc)| (n, desc.ty, Source::Node { node, port }))
        });
        let is_it = |name: &str, ty: PortType| match self.kind {
            Kind::Lattice => name == "lattice" && matches!(ty, PortType::Lines),
            Kind::Mask => matches!(ty, PortType::Mask),
            Kind::Field => matches!(ty, PortType::Field),
        };
        let fitting = ports.filter(|(n, ty, _)| is_it(n.desc.name, *ty));
        fitting
            .map(|(n, _, source)| (n.name.clone(), source))
            .collect()
    }

    fn word(&self) -> &'static str {
        match self.kind {
            Kind::Lattice => "lattice",
            Kind::Mask => "mask",
            Kind::Field => "field",
        }
    }

    fn unknown(&self, known: &[(String, Source)]) -> Failure {
        let word = self.word();
        let names: Vec<&str> = known.iter().map(|k| k.0.as_str()).collect();
        let known = names.join(", ");
        Failure::usage(match &self.node {
            _ if names.is_empty() => format!("--show {word}: the graph has no {word}"),
            Some(node) => {
                let close = closest(node, names.iter().copied()).filter(|_| names.len() > 1);
                let meant = close.map_or(String::new(), |c| format!("did you mean '{c}'? "));
                format!(
                    "--show {word}={node}: the graph has no {word} '{node}'; {meant}known: {known}"
                )
            }
            None => format!(
                "--show {word}: the graph has several; select one with {word}=NAME: {known}"
            ),
        })
    }

    /// Adds it to the outputs of a plan; the names of the outputs.
    pub(super) fn add(&self, plan: &mut Plan) -> Outcome<Vec<String>> {
        let all = self.all(plan);
        let chosen: Vec<_> = match &self.node {
            Some(node) => all.iter().filter(|(name, _)| name == node).collect(),
            None => all.iter().collect(),
        };
        if chosen.is_empty() || self.is_mask() && chosen.len() > 1 {
            return Err(self.unknown(&all));
        }
        let name = |node: &str| match self.kind {
            Kind::Mask => MASK.to_owned(),
            _ => format!("shown {node}"),
        };
        Ok(chosen
            .iter()
            .map(|(node, source)| plan.add_output(&name(node), *source))
            .collect())
    }
}

/// A field as lines, in scene space.
pub(super) fn field_lines(words: &[u32]) -> Vec<Line> {
    match FieldWords::read(words) {
        FieldWords::Grid(view) => curves(&view),
        FieldWords::Solids(view) => solids(&view),
        FieldWords::Nothing => Vec::new(),
    }
}

fn line(from: [f32; 3], to: [f32; 3]) -> Line {
    Line {
        from,
        to,
        color: COLOR,
    }
}

/// Level curves of the surface: where planes of equal height cut its triangles.
fn curves(view: &FieldView<'_>) -> Vec<Line> {
    let found = isosurface(view, 0.0);
    let points: Vec<[f32; 3]> = found
        .positions
        .iter()
        .map(|p| view.frame.point_to_scene(*p))
        .collect();
    let Some((low, high)) = sinew::geom::bounds(&points) else {
        return Vec::new();
    };
    let longest = (0..3).map(|c| high[c] - low[c]).fold(0.0, f32::max);
    let spacing = longest / CURVES;
    let mut out = Vec::new();
    for t in &found.triangles {
        let corners = t.map(|v| points[v as usize]);
        let heights = corners.map(|c| (c[1] - low[1]) / spacing);
        let most = heights.into_iter().fold(f32::MIN, f32::max);
        let mut level = heights.into_iter().fold(f32::MAX, f32::min).ceil();
        while level < most {
            let cut = |(a, b): (usize, usize)| {
                let share = (level - heights[a]) / (heights[b] - heights[a]);
                let point = |c: usize| corners[a][c] + share * (corners[b][c] - corners[a][c]);
                ((heights[a] < level) != (heights[b] < level)).then(|| [0, 1, 2].map(point))
            };
            let mut ends = [(0, 1), (1, 2), (2, 0)].into_iter().filter_map(cut);
            if let (Some(from), Some(to)) = (ends.next(), ends.next()) {
                out.push(line(from, to));
            }
            level += 1.0;
        }
    }
    out
}

fn solids(view: &SolidsView<'_>) -> Vec<Line> {
    let mut out = Vec::new();
    for words in view.solids {
        let n = words.map(f32::from_bits);
        match words[0] {
            0 => capsule(
                &mut out,
                [[n[1], n[2], n[3]], [n[4], n[5], n[6]]],
                [n[7], n[8]],
            ),
            _ => plane(&mut out, [n[1], n[2], n[3]], n[4]),
        }
    }
    to_scene(&mut out, &view.frame);
    out
}

fn to_scene(lines: &mut [Line], frame: &FieldFrame) {
    for l in lines {
        l.from = frame.point_to_scene(l.from);
        l.to = frame.point_to_scene(l.to);
    }
}

/// Two unit vectors across a unit vector.
fn across(v: Vec3<f32>) -> [Vec3<f32>; 2] {
    let other = if v.x.abs() < 0.7 {
        Vec3::x()
    } else {
        Vec3::y()
    };
    let first = v.cross(&other).normalize();
    [first, v.cross(&first)]
}

fn circle(out: &mut Vec<Line>, center: Vec3<f32>, a: Vec3<f32>, b: Vec3<f32>) {
    let at = |i: usize| -> [f32; 3] {
        let (sin, cos) = (TAU * i as f32 / CORNERS as f32).sin_cos();
        (center + a * cos + b * sin).into()
    };
    out.extend((0..CORNERS).map(|i| line(at(i), at(i + 1))));
}

/// Three great circles of each end, and eight lines along the sides, which touch both balls.
fn capsule(out: &mut Vec<Line>, ends: [[f32; 3]; 2], radii: [f32; 2]) {
    let ends = ends.map(Vec3::from);
    let way = ends[1] - ends[0];
    let axis = way.try_normalize(0.0).unwrap_or_else(Vec3::y);
    let [a, b] = across(axis);
    for (center, radius) in ends.into_iter().zip(radii) {
        let [a, b, axis] = [a, b, axis].map(|v| v * radius);
        circle(out, center, a, b);
        circle(out, center, axis, a);
        circle(out, center, axis, b);
    }
    // The slope of the sides; none if one ball holds the other.
    let sin = (radii[0] - radii[1]) / way.norm();
    if sin.is_nan() || sin.abs() >= 1.0 {
        return;
    }
    let cos = (1.0 - sin * sin).sqrt();
    for i in 0..8_u8 {
        let (s, c) = (TAU * f32::from(i) / 8.0).sin_cos();
        let normal = (a * c + b * s) * cos + axis * sin;
        let [from, to] = [0, 1].map(|k| (ends[k] + normal * radii[k]).into());
        out.push(line(from, to));
    }
}

/// A grid on the plane, around its point nearest to the origin.
fn plane(out: &mut Vec<Line>, normal: [f32; 3], offset: f32) {
    let normal = Vec3::from(normal);
    let [a, b] = across(normal);
    let (half, cells) = PLANE;
    for i in -cells..=cells {
        let aside = half * f32::from(i) / f32::from(cells);
        for (along, aside) in [(a * half, b * aside), (b * half, a * aside)] {
            let middle = normal * offset + aside;
            out.push(line((middle - along).into(), (middle + along).into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_lie_on_their_solids() {
        let mut lines = Vec::new();
        capsule(&mut lines, [[1.0, 2.0, 3.0], [1.0, 2.0, 4.0]], [0.5, 0.25]);
        assert_eq!(lines.len(), 6 * CORNERS + 8);
        let distance = |p: [f32; 3], c: [f32; 3]| (Vec3::from(p) - Vec3::from(c)).norm();
        for l in &lines[3 * CORNERS..6 * CORNERS] {
            assert!((distance(l.from, [1.0, 2.0, 4.0]) - 0.25).abs() < 1e-5);
        }
        for l in &lines[6 * CORNERS..] {
            // A tangent of both balls: it stands on the radius at both ends.
            let along = Vec3::from(l.to) - Vec3::from(l.from);
            let radius = Vec3::from(l.from) - Vec3::from([1.0, 2.0, 3.0]);
            assert!((radius.norm() - 0.5).abs() < 1e-5 && along.dot(&radius).abs() < 1e-5);
            assert!((distance(l.to, [1.0, 2.0, 4.0]) - 0.25).abs() < 1e-5);
        }
        lines.clear();
        plane(&mut lines, [0.0, 1.0, 0.0], 0.75);
        assert!(lines.iter().all(|l| l.from[1] == 0.75 && l.to[1] == 0.75));
    }

    #[test]
    fn entries() {
        let mask = Part::parse("mask=a/b").expect("known");
        assert_eq!((mask.is_mask(), mask.node.as_deref()), (true, Some("a/b")));
        assert_eq!(Part::parse("lattice").expect("known").node, None);
        assert!(Part::parse("skeleton").is_err());
    }
}
