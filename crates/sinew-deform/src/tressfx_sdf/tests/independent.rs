//! The field, look-ups, gradients and responses against an evaluation in double precision, written here from the published formulas:
//! nothing of the class under test takes part but its numbers.

use super::{bound, update, view};
use crate::collide::{Distance, FieldCollider, GradientMode, tressfx_gradient, tressfx_response};
use crate::sdf::{FieldWords, UNSET};
use crate::tressfx_sdf::CompatibilityField;
use sinew_geom::{Mesh, Vec3};
use sinew_testkit::meshes;

const CELLS: u32 = 10;
/// Quotients of single precision nearer than this to a whole number may be cut either way.
const EDGE: f64 = 1e-3;
/// How far single precision may be off, metres.
const OFF: f64 = 4e-6;

type V = Vec3<f64>;

fn double(p: &[f32; 3]) -> V {
    V::new(f64::from(p[0]), f64::from(p[1]), f64::from(p[2]))
}

/// A closed mesh of no symmetry: extents of 0.5, 1.7 and 1.1, away from the origin.
fn mesh() -> Mesh {
    let mut mesh = meshes::sphere(6, 9);
    for p in &mut mesh.positions {
        let [x, y, z] = *p;
        *p = [
            0.25 * x + 0.1 * y * z + 1.0,
            0.85 * y + 0.2 * x * x - 2.0,
            0.55 * z + 0.1 * x + 0.5,
        ];
    }
    mesh
}

/// Centre and radius of the bounding sphere: the mean of the vertices, and the farthest of them.
fn ball(positions: &[[f32; 3]]) -> (V, f64) {
    let sum: V = positions.iter().map(double).sum();
    let center = sum / positions.len() as f64;
    let far = positions.iter().map(|p| (double(p) - center).norm());
    (center, far.fold(0.0, f64::max))
}

/// The nearest point of a triangle (Ericson, "Real-Time Collision Detection", 5.1.5, by projection on plane and edges).
fn distance(p: &V, [a, b, c]: [V; 3]) -> f64 {
    let normal = (b - a).cross(&(c - a));
    let on_plane = p - normal * ((p - a).dot(&normal) / normal.norm_squared());
    let inside = [(a, b), (b, c), (c, a)]
        .iter()
        .all(|(s, e)| (e - s).cross(&(on_plane - s)).dot(&normal) >= 0.0);
    if inside {
        return (p - on_plane).norm();
    }
    let to_edge = |(s, e): (V, V)| {
        let along = e - s;
        let part = ((p - s).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
        (p - (s + along * part)).norm()
    };
    [(a, b), (b, c), (c, a)]
        .map(to_edge)
        .into_iter()
        .fold(f64::INFINITY, f64::min)
}

/// What a triangle says of a node.
struct Said {
    distance: f64,
    /// Side of its own plane, signed metres.
    side: f64,
    /// Whether its box is certain to reach the node.
    certain: bool,
}

/// Of each node, in the order of the field.
fn said(mesh: &Mesh, field: &CompatibilityField) -> Vec<Vec<Said>> {
    let (origin, cell) = (double(&field.origin), f64::from(field.cell));
    let nodes = field.nodes.map(i64::from);
    let mut out: Vec<Vec<Said>> = Vec::new();
    out.resize_with((nodes[0] * nodes[1] * nodes[2]) as usize, Vec::new);
    for t in mesh.topology.triangles() {
        let corners = t.map(|v| double(&mesh.positions[v as usize]));
        let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
        // First and last node along an axis: the box grown by a cell, cut to whole nodes, and one more.
        let range = |axis: usize, edge: f64| {
            let all = corners.map(|c| c[axis]);
            let low = all.into_iter().fold(f64::INFINITY, f64::min) - cell;
            let high = all.into_iter().fold(f64::NEG_INFINITY, f64::max) + cell;
            let node = |v: f64, edge: f64| ((v - origin[axis]) / cell + edge).trunc() as i64;
            let first = (node(low, -edge) - 1).max(0);
            (first, (node(high, edge) + 1).min(nodes[axis] - 1))
        };
        let certain = [0, 1, 2].map(|axis| range(axis, -EDGE));
        let possible = [0, 1, 2].map(|axis| range(axis, EDGE));
        for k in possible[2].0..=possible[2].1 {
            for j in possible[1].0..=possible[1].1 {
                for i in possible[0].0..=possible[0].1 {
                    let at = [i, j, k];
                    let p = origin + V::new(i as f64, j as f64, k as f64) * cell;
                    let reaches =
                        |axis: usize| (certain[axis].0..=certain[axis].1).contains(&at[axis]);
                    out[(i + nodes[0] * (j + nodes[1] * k)) as usize].push(Said {
                        distance: distance(&p, corners),
                        side: normal.normalize().dot(&(p - corners[0])),
                        certain: (0..3).all(reaches),
                    });
                }
            }
        }
    }
    out
}

/// Rows 68 and 70: a cell is the extent of the sphere's cube along x by the number of cells; `floor(0.8 * cells)` of them pad each side.
#[test]
fn cells_and_padding_are_those_of_the_published_formula() {
    for cells in [7, CELLS, 32, 50] {
        let mesh = mesh();
        let field = CompatibilityField::new(&mesh.positions, cells).expect("extent");
        let (center, radius) = ball(&mesh.positions);
        let cell = 2.0 * radius / f64::from(cells);
        let padding = (0.8 * f64::from(cells)).floor() * cell;
        assert!((f64::from(field.cell) - cell).abs() < 1e-6 * cell);
        let origin = center - V::repeat(radius + padding);
        assert!(
            (double(&field.origin) - origin).amax() < OFF,
            "{:?}",
            field.origin
        );
        // Extent and padding are whole cells; cut to whole nodes in single precision, that may be one less.
        let whole = f64::from(cells) + 2.0 * (0.8 * f64::from(cells)).floor();
        for n in field.nodes.map(f64::from) {
            assert!(n == whole || n == whole - 1.0, "{n}, expected {whole}");
        }
    }
}

/// Rows 70 and 72: which nodes have a distance, and which.
#[test]
fn nodes_have_the_least_distance_of_the_triangles_whose_boxes_reach_them() {
    let mesh = mesh();
    let mut field = CompatibilityField::new(&mesh.positions, CELLS).expect("extent");
    field.build(&mesh.topology, &mesh.positions);
    let (mut set, mut unset, mut at_edges) = (0, 0, 0);
    for (node, said) in said(&mesh, &field).iter().enumerate() {
        let found = field.values[node];
        if said.is_empty() {
            assert_eq!(found, UNSET, "node {node} is out of reach");
            unset += 1;
            continue;
        }
        let certain = said.iter().filter(|s| s.certain);
        let least = certain.map(|s| s.distance).fold(f64::INFINITY, f64::min);
        if found == UNSET {
            assert!(least.is_infinite(), "node {node} is within reach");
            at_edges += 1;
            continue;
        }
        let found = f64::from(found);
        // Of equally near ones, and of those that single precision may see, any.
        let near = said
            .iter()
            .filter(|s| (s.distance - found.abs()).abs() < OFF);
        let near: Vec<&Said> = near.collect();
        assert!(
            !near.is_empty() && found.abs() < least + OFF,
            "node {node}: {found}, expected {least}"
        );
        let fits = |s: &&&Said| s.side.abs() < OFF || (s.side > 0.0) == (found > 0.0);
        assert!(
            near.iter().any(|s| fits(&s)),
            "node {node}: the side of {found}"
        );
        set += 1;
    }
    assert!(
        set > 1000 && unset > 5000 && at_edges < set / 20,
        "{set} {unset} {at_edges}"
    );
}

/// Trilinear interpolation of the eight nodes around a point, their place in the cell, and the cell's own values.
struct Look {
    values: [f64; 8],
    at: V,
}

impl Look {
    fn new(field: &CompatibilityField, p: V) -> Option<Self> {
        let scaled = (p - double(&field.origin)) / f64::from(field.cell);
        let base = scaled.map(f64::trunc);
        let inside = |k: usize| base[k] >= 0.0 && base[k] < f64::from(field.nodes[k]) - 2.0;
        if !(inside(0) && inside(1) && inside(2)) {
            return None;
        }
        let [nx, ny, _] = field.nodes.map(|n| n as usize);
        let values = std::array::from_fn(|c| {
            let [i, j, k] = [0, 1, 2].map(|axis| base[axis] as usize + (c >> axis & 1));
            f64::from(field.values[i + nx * (j + ny * k)])
        });
        let is_set = values.iter().all(|v| *v != f64::from(UNSET));
        is_set.then_some(Self {
            values,
            at: scaled - base,
        })
    }

    fn value(&self, at: V) -> f64 {
        let weight = |c: usize| {
            let part = |axis: usize| {
                if c >> axis & 1 == 1 {
                    at[axis]
                } else {
                    1.0 - at[axis]
                }
            };
            part(0) * part(1) * part(2)
        };
        (0..8).map(|c| weight(c) * self.values[c]).sum()
    }
}

/// `None` where a look-up leaves the band.
fn forward(field: &CompatibilityField, p: V) -> Option<V> {
    let h = 0.1 * f64::from(field.cell);
    let at = |p: V| Look::new(field, p).map(|l| l.value(l.at));
    let here = at(p)?;
    let mut out = V::zeros();
    for axis in 0..3 {
        out[axis] = (at(p + V::ith(axis, h))? - here) / h;
    }
    Some(out)
}

/// Forward, or backward where that would leave the cell; the step of a tenth of a cell in metres is taken for one in cells. `None` where
/// the two schemes are equally far, and single precision may take either.
fn mixed(field: &CompatibilityField, p: V) -> Option<V> {
    let look = Look::new(field, p)?;
    let h = 0.1 * f64::from(field.cell);
    let here = look.value(look.at);
    let mut out = V::zeros();
    for axis in 0..3 {
        let room = 1.0 - look.at[axis] - h;
        if room.abs() < EDGE {
            return None;
        }
        let step = if room >= 0.0 { h } else { -h };
        out[axis] = (look.value(look.at + V::ith(axis, step)) - here) / step;
    }
    Some(out)
}

/// Rows 87 and 88, through the class and through the field that the node writes: gradients, and where they push to.
#[test]
fn gradients_and_responses_are_those_of_the_published_differences() {
    let mesh = mesh();
    let mut field = CompatibilityField::new(&mesh.positions, CELLS).expect("extent");
    field.build(&mesh.topology, &mesh.positions);
    let node = bound(&mesh, None, i64::from(CELLS), "").expect("binds");
    let mut words = vec![0; node.output_len("field")];
    update(node.as_ref(), &mesh.positions, None, &mut words);
    assert_eq!(view(&words).shape.origin, field.origin);
    let collider = FieldCollider::new(FieldWords::read(&words)).expect("a field");
    let cell = f64::from(field.cell);
    let margin = 0.5 * cell;
    let mut counts = [0; 2];
    let mut backward = 0;
    for n in 0..6000_u32 {
        // A sequence that fills the middle of the box (Roberts 2018), where the mesh is; none of the grid's lattice.
        let share = [0.819_172_513, 0.671_043_607, 0.549_700_478]
            .map(|a| 0.28 + 0.44 * (f64::from(n) * a).fract());
        let size = field.nodes.map(|n| f64::from(n) * cell);
        let p: [f32; 3] =
            std::array::from_fn(|k| (f64::from(field.origin[k]) + share[k] * size[k]) as f32);
        let at = double(&p);
        let Some(look) = Look::new(&field, at) else {
            continue;
        };
        // Next to a face of its cell single precision may look into the next one.
        if look.at.iter().any(|t| *t < EDGE || *t > 1.0 - EDGE) {
            continue;
        }
        let here = look.value(look.at);
        assert!((f64::from(field.sample(p)) - here).abs() < OFF);
        backward += u32::from(look.at.iter().any(|t| *t > 1.0 - 0.1 * cell));
        let modes = [
            GradientMode::Forward,
            GradientMode::Mixed {
                origin: field.origin,
            },
        ];
        let expected = [forward(&field, at), mixed(&field, at)];
        let own = [Some(field.forward_gradient(p)), field.mixed_gradient(p)];
        for i in 0..2 {
            let (Some(expected), Some(own)) = (expected[i], own[i]) else {
                continue;
            };
            // Differences of distances that single precision has to a few parts in ten million, over the step.
            let rounding = OFF / (0.1 * cell);
            let off = (double(&own) - expected).amax();
            assert!(off < rounding, "{i} {p:?}: {own:?}, expected {expected:?}");
            let distance = collider.tressfx_distance(p);
            let read = tressfx_gradient(&collider, p, distance, modes[i]);
            let turned = double(&read).normalize().dot(&expected.normalize());
            assert!(turned > 0.999, "{i} {p:?}: {read:?}, expected {expected:?}");
            counts[i] += 1;
            if here > margin - 1e-5 {
                continue;
            }
            let pushed = at + expected.normalize() * (margin - here);
            let found = tressfx_response(&collider, p, margin as f32, modes[i]).expect("near");
            let off = (double(&found) - pushed).norm();
            assert!(
                off < 0.02 * (margin - here) + OFF,
                "{i} {p:?}: {found:?}, expected {pushed:?}"
            );
        }
    }
    assert!(
        counts[0] > 300 && counts[1] > 300 && backward > 10,
        "{counts:?} {backward}"
    );
}
