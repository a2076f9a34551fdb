//! Thickness of strands from root to tip, for files and renderers. The simulation does not read it.

use sinew_geom::{Strands, Vec3};
use std::ops::Range;

/// Thickness of a strand at the share `t` of its arc length: `tip + (root - tip) * sqrt(1 - t^2)`. Diameters give diameters, radii give
/// radii. `t` is limited to 0 to 1; NaN counts as 0.
pub fn thickness(root: f32, tip: f32, t: f32) -> f32 {
    let t = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) };
    tip + (root - tip) * (1.0 - t * t).max(0.0).sqrt()
}

/// [`thickness`] at each vertex of all strands, by arc length at rest; followers have that of their guide. `rest` has one position per
/// vertex. Missing positions give `root`. Strands of zero length go by the number of vertices.
pub fn thickness_profile(strands: &Strands, rest: &[[f32; 3]], root: f32, tip: f32) -> Vec<f32> {
    let mut out = vec![root; strands.vertex_count()];
    for guide in strands.guide_strands().map(|s| strands.range(s)) {
        let shares = arc_shares(rest, &guide);
        for (out, t) in out[guide].iter_mut().zip(shares) {
            *out = thickness(root, tip, t);
        }
    }
    for (s, &leads) in strands.guides().iter().enumerate() {
        let leader = strands.range(leads as usize);
        if leads as usize != s {
            out.copy_within(leader, strands.range(s).start);
        }
    }
    out
}

/// Share of the arc length at each vertex; of the number of vertices where the strand has no length.
fn arc_shares(rest: &[[f32; 3]], strand: &Range<usize>) -> Vec<f32> {
    let points = rest.get(strand.clone()).unwrap_or_default();
    let point = |p: [f32; 3]| Vec3::from(p.map(f64::from));
    let mut walked = vec![0.0; points.len().min(1)];
    for ends in points.windows(2) {
        let before = walked.last().copied().unwrap_or(0.0);
        walked.push(before + (point(ends[1]) - point(ends[0])).norm());
    }
    let total = walked.last().copied().unwrap_or(0.0);
    let segments = points.len().saturating_sub(1).max(1) as f64;
    let share = |(i, walked): (usize, f64)| {
        let share = if total > 0.0 {
            walked / total
        } else {
            i as f64 / segments
        };
        share as f32
    };
    walked.into_iter().enumerate().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hair_sim::HairBind;

    #[test]
    fn thickness_is_finite_and_falls_from_root_to_tip() {
        assert_eq!(thickness(2.0, 0.5, 0.0), 2.0);
        assert_eq!(thickness(2.0, 0.5, 1.0), 0.5);
        assert!((thickness(1.0, 0.0, 0.6) - 0.8).abs() < 1e-6, "3-4-5");
        assert_eq!(thickness(1.0, 0.0, f32::NAN), 1.0);
    }

    /// A guide with uneven segments whose vertices are at 0, 3/5, 4/5 and all of its length, its follower, and one without length.
    fn hair() -> (Strands, Vec<[f32; 3]>) {
        let strands = Strands::new([4, 4, 3]).expect("valid");
        let strands = strands.with_guides(vec![0, 0, 2]).expect("valid");
        let mut rest = vec![[0.0; 3], [3.0, 0.0, 0.0], [3.0, 1.0, 0.0], [3.0, 1.0, 1.0]];
        rest.extend([[0.0, 9.0, 0.0], [0.0, 9.1, 0.0], [0.0, 9.2, 0.0], [5.0; 3]]);
        rest.extend([[7.0; 3]; 3]);
        (strands, rest)
    }

    #[test]
    fn profiles_follow_the_arc_of_guides() {
        let (strands, rest) = hair();
        let found = thickness_profile(&strands, &rest, 1.0, 0.0);
        // 3-4-5 once more.
        for (found, expected) in found.iter().zip([1.0, 0.8, 0.6, 0.0]) {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
        assert_eq!(found[4..8], found[..4], "followers have their guide's");
        assert!((found[9] - 0.75_f32.sqrt()).abs() < 1e-6, "half way");
        let bind = HairBind::new(&strands, &rest, None).expect("binds");
        let shares = bind.arc_fractions().map(|t| thickness(1.0, 0.0, t));
        assert_eq!(
            shares.collect::<Vec<_>>(),
            found,
            "as the simulation has it"
        );
    }

    #[test]
    fn profiles_of_anything_have_one_number_a_vertex() {
        let (strands, rest) = hair();
        assert_eq!(thickness_profile(&strands, &rest[..5], 2.0, 1.0).len(), 11);
        let lost = vec![[f32::NAN; 3]; 11];
        let found = thickness_profile(&strands, &lost, 2.0, 1.0);
        assert!(found.iter().all(|t| (1.0..=2.0).contains(t)), "{found:?}");
    }
}
