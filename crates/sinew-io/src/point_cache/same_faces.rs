//! Compares the faces of two files that were triangulated each for itself: concave polygons may be cut along other diagonals when they
//! deform.

use std::collections::HashMap;

type Triangle = [u32; 3];

/// Most triangles of one polygon that may be cut in another way.
const MOST_TRIANGLES: usize = 1024;

/// Directed edges of triangles; opposite ones cancel.
#[derive(Default)]
struct Edges(HashMap<(u32, u32), i32>);

impl Edges {
    fn add(&mut self, triangle: Triangle, sign: i32) {
        let [a, b, c] = triangle;
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let (key, sign) = match from < to {
                true => ((from, to), sign),
                false => ((to, from), -sign),
            };
            let count = self.0.entry(key).or_insert(0);
            *count += sign;
            if *count == 0 {
                self.0.remove(&key);
            }
        }
    }

    fn has_point(&self, point: u32) -> bool {
        self.0.keys().any(|(a, b)| *a == point || *b == point)
    }
}

/// The first triangle of a face that differs; `None` if all faces are the same. Polygons are the same if they have the same outline.
pub(super) fn first_difference(a: &[Triangle], b: impl Iterator<Item = Triangle>) -> Option<usize> {
    let (mut difference, mut outline) = (Edges::default(), Edges::default());
    let mut group: Option<usize> = None;
    for (t, (&own, other)) in a.iter().zip(b).enumerate() {
        if group.is_none() && own == other {
            continue;
        }
        let start = *group.get_or_insert(t);
        difference.add(own, 1);
        difference.add(other, -1);
        outline.add(own, 1);
        if difference.0.is_empty() {
            // A polygon has all its points on its outline. A closed surface has none.
            let mut points = a[start..=t].iter().flatten();
            if !points.all(|p| outline.has_point(*p)) {
                return Some(start);
            }
            outline.0.clear();
            group = None;
        } else if t - start >= MOST_TRIANGLES {
            return Some(start);
        }
    }
    group
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn polygons_may_be_cut_in_other_ways_but_faces_must_be_the_same() {
        let pentagon = [[9, 7, 8], [0, 1, 2], [0, 2, 3], [0, 3, 4]];
        let other_cuts = [[9, 7, 8], [1, 2, 3], [1, 3, 4], [1, 4, 0]];
        let differs = |a: &[[u32; 3]], b: &[[u32; 3]]| first_difference(a, b.iter().copied());
        assert_eq!(differs(&pentagon, &pentagon), None);
        assert_eq!(differs(&pentagon, &other_cuts), None);
        assert_eq!(
            differs(&pentagon, &[[7, 8, 9], [0, 1, 2], [0, 2, 3], [0, 3, 4]]),
            None
        );
        let turned = [[9, 7, 8], [0, 1, 2], [0, 3, 2], [0, 3, 4]];
        assert_eq!(differs(&pentagon, &turned), Some(2));
        // Closed surfaces have no outline: other triangles are other faces.
        let closed = [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]];
        let inside_out = closed.map(|[a, b, c]| [a, c, b]);
        assert_eq!(differs(&closed, &inside_out), Some(0));
        let mut exchanged = closed;
        exchanged.swap(0, 2);
        assert_eq!(differs(&closed, &exchanged), Some(0));
    }
}
