//! Triangles that the numbers of their points identify.
//!
//! Cloth that tears keeps its numbering: most triples of indices stay, and where a point was split a triangle stays in
//! its place in the list with one or two other corners; so it does where a square is split along its other diagonal. A
//! remeshed liquid has equal triples too: its points are numbered
//! along a grid, so that after an insertion a triple names other triangles of the same pattern. Up to 82 % of the triples
//! of a splash were equal by such chance, so numbers are believed only where nearly all triangles say the same.

use super::Predecessor;

/// Which share of the triangles must have equal triples for numbers to mean anything, in per cent.
const SHARE: usize = 90;

/// For each triangle of `to` what it was by its numbers.
pub(super) fn by_numbers(from: &[[u32; 3]], to: &[[u32; 3]]) -> Vec<Option<Predecessor>> {
    let mut kept = same_triples(from, to);
    let equal = kept.iter().flatten().count();
    if equal * 100 < from.len().max(to.len()) * SHARE {
        kept.fill(None);
        return kept;
    }
    keep_places(from, to, &mut kept);
    kept
}

/// The triple with its least index first, and where that was.
fn canonical(triple: [u32; 3]) -> ([u32; 3], u8) {
    let first = (0..3)
        .min_by_key(|&first| rotated(triple, first))
        .unwrap_or(0);
    (rotated(triple, first), first as u8)
}

fn rotated(triple: [u32; 3], first: usize) -> [u32; 3] {
    [0, 1, 2].map(|corner| triple[(corner + first) % 3])
}

/// Pairs equal triples, each once; among copies of a triple those in ascending order.
fn same_triples(from: &[[u32; 3]], to: &[[u32; 3]]) -> Vec<Option<Predecessor>> {
    let (before, after) = (ordered(from), ordered(to));
    let mut kept = vec![None; to.len()];
    let mut candidates = before.iter().peekable();
    for &(triple, index, first) in &after {
        while candidates.next_if(|other| other.0 < triple).is_some() {}
        if let Some(other) = candidates.next_if(|other| other.0 == triple) {
            kept[index as usize] = Some(Predecessor {
                triangle: other.1,
                turn: (3 + other.2 - first) % 3,
            });
        }
    }
    kept
}

fn ordered(triangles: &[[u32; 3]]) -> Vec<([u32; 3], u32, u8)> {
    let numbered = triangles.iter().zip(0..).map(|(&triple, index)| {
        let (triple, first) = canonical(triple);
        (triple, index, first)
    });
    let mut ordered: Vec<_> = numbered.collect();
    ordered.sort_unstable();
    ordered
}

/// Pairs triangles at the same place in both lists that share a corner and have no partner yet.
fn keep_places(from: &[[u32; 3]], to: &[[u32; 3]], kept: &mut [Option<Predecessor>]) {
    let mut used = vec![false; from.len()];
    for predecessor in kept.iter().flatten() {
        used[predecessor.triangle as usize] = true;
    }
    for (triangle, (before, after)) in from.iter().zip(to).enumerate() {
        let shared = before.iter().zip(after).any(|(a, b)| a == b);
        if shared && !used[triangle] && kept[triangle].is_none() {
            kept[triangle] = Some(Predecessor {
                triangle: triangle as u32,
                turn: 0,
            });
        }
    }
}
