//! One surface cut into triangles in two ways: which triangles differ, and how far the one surface is from the other.
//!
//! Many programs cut a quad along its shorter diagonal, which is another one once it is bent. A carrier has one list of triangles for all frames, so that it
//! shows such a quad with the fold across. Corners are where they should be then; what lies between them is not.

use crate::vat::maker::matching::SurfaceTree;
use std::collections::{HashMap, HashSet};

/// Sides of triangles are divided into that many parts, so that 45 points of each are held against the other surface, the middle of a diagonal among them.
const PARTS: u8 = 8;

/// Triangles that only one of two lists has, by their places in the lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Retriangulated {
    /// In the one that is shown.
    pub shown: Vec<u32>,
    /// In the other, which is the truth.
    pub own: Vec<u32>,
}

impl Retriangulated {
    /// Compares two lists whose numbers mean the same vertices. Neither the order of triangles counts nor which corner is first; triangles that are turned
    /// over do. Linear time.
    pub(crate) fn between(shown: &[[u32; 3]], own: &[[u32; 3]]) -> Self {
        let differ = |(i, (a, b)): (usize, (&[u32; 3], &[u32; 3]))| (a != b).then_some(i);
        let both = shown.len().min(own.len());
        // Nearly all are equal where they stand.
        let mut others: Vec<usize> = shown
            .iter()
            .zip(own)
            .enumerate()
            .filter_map(differ)
            .collect();
        let same = others.len();
        others.extend(both..shown.len());
        let mut left: HashMap<[u32; 3], Vec<u32>> = HashMap::new();
        for &i in &others {
            left.entry(least_first(shown[i]))
                .or_default()
                .push(i as u32);
        }
        others.truncate(same);
        others.extend(both..own.len());
        let is_own = |i: &usize| match left.get_mut(&least_first(own[*i])).map(Vec::pop) {
            Some(Some(_)) => None,
            _ => Some(*i as u32),
        };
        let own = others.iter().filter_map(is_own).collect();
        let mut shown: Vec<u32> = left.into_values().flatten().collect();
        shown.sort_unstable();
        Self { shown, own }
    }

    /// The first triangle of the truth that the other list shows from behind: the same vertices in the other direction. Linear time.
    pub(crate) fn turned_over(&self, shown: &[[u32; 3]], own: &[[u32; 3]]) -> Option<u32> {
        let behind = |t: &u32| {
            let [a, b, c] = shown[*t as usize];
            least_first([a, c, b])
        };
        let behind: HashSet<[u32; 3]> = self.shown.iter().map(behind).collect();
        let is_turned = |t: &&u32| behind.contains(&least_first(own[**t as usize]));
        self.own.iter().find(is_turned).copied()
    }

    /// Whether both lists have the same triangles.
    pub(crate) fn is_empty(&self) -> bool {
        self.shown.is_empty() && self.own.is_empty()
    }
}

/// The greatest distance of two surfaces, both ways, in the unit of their corners: of 45 points of each triangle from the other surface. Where one has no
/// triangle there is no distance: 0. Cost: O(n log n).
pub(crate) fn surface_gap(shown: &[[[f32; 3]; 3]], own: &[[[f32; 3]; 3]]) -> f64 {
    farthest(shown, own).max(farthest(own, shown))
}

fn farthest(from: &[[[f32; 3]; 3]], to: &[[[f32; 3]; 3]]) -> f64 {
    let surface = SurfaceTree::new(to);
    let points = from.iter().flat_map(points_of);
    let off = points.filter_map(|p| surface.distance(p));
    off.fold(0.0, f64::max)
}

fn points_of(corners: &[[f32; 3]; 3]) -> impl Iterator<Item = [f32; 3]> + '_ {
    let weights = (0..=PARTS).flat_map(|i| (0..=PARTS - i).map(move |j| [i, j, PARTS - i - j]));
    weights.map(|weights| {
        let weights = weights.map(|w| f32::from(w) / f32::from(PARTS));
        [0, 1, 2].map(|c| (0..3).map(|k| weights[k] * corners[k][c]).sum())
    })
}

/// The same triangle with its least vertex first.
pub(crate) fn least_first(triangle: [u32; 3]) -> [u32; 3] {
    let turned = |k: usize| [0, 1, 2].map(|i| triangle[(i + k) % 3]);
    let [a, b, c] = [turned(0), turned(1), turned(2)];
    a.min(b).min(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_first_corner_do_not_count_and_diagonals_do() {
        let first = [[0, 1, 2], [0, 2, 3], [4, 5, 6]];
        let turned = [[5, 6, 4], [2, 3, 0], [1, 2, 0]];
        assert!(Retriangulated::between(&first, &turned).is_empty());
        let other = [[4, 5, 6], [1, 2, 3], [1, 3, 0]];
        let found = Retriangulated::between(&first, &other);
        assert_eq!((found.shown, found.own), (vec![0, 1], vec![1, 2]));
        // Turned over.
        let over = [[0, 1, 2], [0, 3, 2], [4, 5, 6]];
        let found = Retriangulated::between(&first, &over);
        assert_eq!((&found.shown[..], &found.own[..]), (&[1][..], &[1][..]));
        assert_eq!(found.turned_over(&first, &over), Some(1));
        // Both sides of a triangle, in another order.
        let sides = [[0, 1, 2], [0, 2, 1]];
        let found = Retriangulated::between(&sides, &[sides[1], sides[0]]);
        assert_eq!(found.turned_over(&sides, &[sides[1], sides[0]]), None);
        // As often as they are there.
        let twice = [[0, 1, 2], [0, 1, 2], [4, 5, 6], [7, 8, 9]];
        let found = Retriangulated::between(&first, &twice);
        assert_eq!((found.shown, found.own), (vec![1], vec![1, 3]));
    }

    /// A saddle: diagonals at heights `h` and `-h`. The middle of one is `2 h / sqrt(1 + 4 h^2)` away from the planes of the triangles at the other, whose
    /// slope is `2 h`.
    #[test]
    fn a_saddle_is_as_far_off_as_by_hand() {
        let h = 0.15_f32;
        let [a, b] = [[1.0, 0.0, h], [0.0, 1.0, -h]];
        let [c, d] = [[-1.0, 0.0, h], [0.0, -1.0, -h]];
        let (shown, own) = ([[a, b, c], [a, c, d]], [[a, b, d], [b, c, d]]);
        let truth = 2.0 * f64::from(h) / (1.0 + 4.0 * f64::from(h).powi(2)).sqrt();
        for found in [surface_gap(&shown, &own), surface_gap(&own, &shown)] {
            assert!((found - truth).abs() < 1e-6, "{found}, by hand {truth}");
        }
        assert!(surface_gap(&shown, &shown) < 1e-7);
        assert_eq!(surface_gap(&shown, &[]), 0.0);
    }
}
