//! Where triangles without partner come from and go to.

use super::drift::Drift;
use super::surface::Surface;
use super::thin;
use super::tree::Tree;
use super::{Pair, RADIUS, SMOOTHING, Triangles, Unpaired, Vector};

/// Births and deaths of a pair, each in the order of its frame.
pub(super) fn unpaired(
    pair: &Pair,
    [from, to]: [&Triangles<'_>; 2],
    partners: &[Option<u32>],
) -> (Vec<Unpaired>, Vec<Unpaired>) {
    let (before, after) = (&pair.before, &pair.after);
    let mut back = vec![None; after.pieces.len()];
    for (index, partner) in (0..).zip(partners) {
        if let Some(partner) = partner {
            back[*partner as usize] = Some(index);
        }
    }
    let reach = RADIUS * (before.edge + after.edge) * 0.5;
    (
        collapse(after, before, from, &back, reach),
        collapse(before, after, to, partners, reach),
    )
}

/// The pieces of `surface` without partner and their points in `frame`, which `other` was made of.
fn collapse(
    surface: &Surface,
    other: &Surface,
    frame: &Triangles<'_>,
    partners: &[Option<u32>],
    reach: f32,
) -> Vec<Unpaired> {
    if partners.iter().all(Option::is_some) {
        return Vec::new();
    }
    let drift = Drift::new(surface, other, partners, SMOOTHING);
    let tree = other.boxes();
    let alone = surface
        .pieces
        .iter()
        .zip(partners)
        .filter(|(_, partner)| partner.is_none());
    let mut unpaired: Vec<Unpaired> = alone
        .map(|(piece, _)| {
            let [a, b, c] = drift.moved(piece);
            let goal = (a + b + c) / 3.0;
            let near = nearest(&goal, other, &tree, reach);
            Unpaired {
                triangle: piece.triangle,
                point: near.map_or(goal, |near| near.place(other, frame)).into(),
            }
        })
        .collect();
    unpaired.sort_unstable_by_key(|unpaired| unpaired.triangle);
    unpaired
}

/// A point of a surface.
#[derive(Debug, Clone, Copy)]
struct Near {
    piece: u32,
    weights: [f32; 3],
}

impl Near {
    /// The point in the frame itself, whose points may be elsewhere than at the moment of comparison.
    fn place(&self, surface: &Surface, frame: &Triangles<'_>) -> Vector {
        let piece = &surface.pieces[self.piece as usize];
        let triangle = frame.triangles[piece.triangle as usize];
        let mut place = Vector::zeros();
        for corner in 0..3 {
            let own = piece.own_corner(corner) as usize;
            place +=
                Vector::from(frame.points[triangle[own] as usize]) * self.weights[corner as usize];
        }
        place
    }
}

/// The nearest point of a surface within reach.
fn nearest(point: &Vector, surface: &Surface, tree: &Tree, reach: f32) -> Option<Near> {
    let mut limit = reach * reach;
    let mut near = None;
    tree.visit(point, &mut limit, &mut |piece, limit| {
        let corners = &surface.pieces[piece as usize].corners;
        let weights = closest_weights(point, corners);
        let place = corners[0] * weights[0] + corners[1] * weights[1] + corners[2] * weights[2];
        let distance = (place - point).norm_squared();
        if distance < *limit {
            *limit = distance;
            near = Some(Near { piece, weights });
        }
    });
    near
}

/// Height of a triangle, as a share of its longest side, squared, below which single precision does not tell where its inside ends.
const THIN: f32 = 1e-6;

/// Barycentric weights of the point of a triangle that is nearest to `point` (Ericson, *Real-Time Collision Detection*,
/// 2005, section 5.1.5); of one that is a line or a point, of that.
pub(super) fn closest_weights(point: &Vector, corners: &[Vector; 3]) -> [f32; 3] {
    let [a, b, c] = corners;
    let (ab, ac) = (b - a, c - a);
    let longest = ab
        .norm_squared()
        .max(ac.norm_squared())
        .max((c - b).norm_squared());
    // Squares of very small sides are zero, or have few bits left.
    let is_small = longest * longest * THIN <= f32::MIN_POSITIVE;
    if is_small || ab.cross(&ac).norm_squared() <= THIN * longest * longest {
        return thin::closest_weights(point, corners);
    }
    closest_in_single(point, corners)
}

fn closest_in_single(point: &Vector, [a, b, c]: &[Vector; 3]) -> [f32; 3] {
    let (ab, ac) = (b - a, c - a);
    let (pa, pb, pc) = (point - a, point - b, point - c);
    let (d1, d2) = (ab.dot(&pa), ac.dot(&pa));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let (d3, d4) = (ab.dot(&pb), ac.dot(&pb));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let (d5, d6) = (ab.dot(&pc), ac.dot(&pc));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let (va, vb, vc) = (d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2);
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let along = d1 / (d1 - d3);
        return [1.0 - along, along, 0.0];
    }
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let along = d2 / (d2 - d6);
        return [1.0 - along, 0.0, along];
    }
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let along = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - along, along];
    }
    let sum = va + vb + vc;
    [va / sum, vb / sum, vc / sum]
}
