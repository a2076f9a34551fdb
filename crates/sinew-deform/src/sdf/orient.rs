//! Which way triangles face: exports that are double-sided, and meshes that are inside out.

use sinew_geom::{Real, Vec3};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Where every triangle has a partner of the same points that faces the other way: which to keep, the first of each pair. Triangles that
/// name one point twice stay.
pub(super) fn first_of_pairs(classes: &[[u32; 3]]) -> Option<Vec<bool>> {
    let mut keep = vec![true; classes.len()];
    // By points in rising order, and whether the triangle goes round them in that order.
    let mut alone: HashMap<[u32; 3], bool> = HashMap::new();
    let mut pairs = 0_usize;
    for (keep, t) in keep.iter_mut().zip(classes) {
        if super::bind::is_collapsed(*t) {
            continue;
        }
        let mut points = *t;
        points.sort_unstable();
        let least = t.iter().position(|c| *c == points[0]).unwrap_or(0);
        let rises = t[(least + 1) % 3] == points[1];
        match alone.entry(points) {
            Entry::Vacant(entry) => {
                entry.insert(rises);
            }
            Entry::Occupied(entry) if *entry.get() != rises => {
                entry.remove();
                *keep = false;
                pairs += 1;
            }
            Entry::Occupied(_) => return None,
        }
    }
    (pairs > 0 && alone.is_empty()).then_some(keep)
}

/// Six times the volume that closed triangles enclose, negative where they face inwards.
pub(super) fn volume_six(triangles: &[[u32; 3]], positions: &[[f32; 3]]) -> f64 {
    let at = |v: u32| f64::vec3(positions[v as usize]);
    let base = triangles.first().map_or(Vec3::zeros(), |t| at(t[0]));
    let of_one = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| at(v) - base);
        a.dot(&b.cross(&c))
    };
    triangles.iter().map(of_one).sum()
}
