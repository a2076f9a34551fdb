//! Where a field is looked up in a frame: bricks elsewhere need no values.
//!
//! Nodes that look fields up say beforehand how far they reach ([`crate::BoundNode::field_reach`]): points, and a distance from their hull.
//! Within the frame points and field go from where they were to where they are, both on screws of up to half a turn. On such a way nothing
//! is farther from both ends than 0.71 of the distance between these; ways in the field's frame are the sum of both.

use super::frame::FieldFrame;
use sinew_geom::Vec3;

/// A box in the field's frame, in its units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldReach {
    /// Lowest corner.
    pub low: [f32; 3],
    /// Highest corner.
    pub high: [f32; 3],
}

/// Larger than any field.
const FAR: f32 = 1e30;

impl FieldReach {
    /// Everything.
    pub const EVERYWHERE: Self = Self {
        low: [-FAR; 3],
        high: [FAR; 3],
    };

    /// Whether all of `other` is in it.
    pub(super) fn holds(&self, other: &Self) -> bool {
        (0..3).all(|k| self.low[k] <= other.low[k] && other.high[k] <= self.high[k])
    }
}

/// A frame's points in the scene, and how far things are from their hull.
#[derive(Clone, Debug, Default)]
struct Places {
    frame: FieldFrame,
    points: Vec<[f32; 3]>,
    distance: f32,
}

/// What the nodes that look up one field reach, from frame to frame, for one character.
#[derive(Clone, Debug, Default)]
pub struct FieldReaches {
    now: Places,
    before: Places,
    /// Whether everything ended the last frame where it said.
    is_known: bool,
}

/// Of the distance between both ends of a way.
const BULGE: f32 = 0.75;

impl FieldReaches {
    /// For so many points.
    pub fn with_room(points: usize) -> Self {
        let mut out = Self::default();
        out.now.points.reserve(points);
        out.before.points.reserve(points);
        out
    }

    /// After frames that nobody told: the next one looks up the field everywhere.
    pub fn forget(&mut self) {
        self.is_known = false;
    }

    /// The reach of a frame: `collect` takes the points of all nodes and gives the largest distance, or `None` if one of them may look up
    /// the field everywhere. So it is after frames without time, too, in which nothing moves to where it belongs. Allocates for more points
    /// than there is room for.
    pub fn next(
        &mut self,
        frame: FieldFrame,
        dt_secs: f64,
        is_first: bool,
        collect: impl FnOnce(&mut dyn FnMut([f32; 3])) -> Option<f32>,
    ) -> Option<FieldReach> {
        std::mem::swap(&mut self.now, &mut self.before);
        let (now, before) = (&mut self.now, &self.before);
        now.frame = frame;
        now.points.clear();
        let distance = collect(&mut |point| now.points.push(point));
        let was_known = self.is_known && before.points.len() == now.points.len();
        self.is_known = distance.is_some() && (is_first || dt_secs > 0.0);
        now.distance = distance?;
        if is_first {
            return Some(now.reach(0.0));
        }
        if !(was_known && self.is_known) {
            return None;
        }
        let ways = now.points.iter().zip(&before.points).map(|(to, from)| {
            let carried = frame.point_to_scene(before.frame.point_from_scene(*from));
            apart(to, from) + apart(&carried, from)
        });
        let bulge = BULGE * ways.fold(0.0, f32::max);
        let [a, b] = [now.reach(bulge), before.reach(bulge)];
        Some(FieldReach {
            low: [0, 1, 2].map(|k| a.low[k].min(b.low[k])),
            high: [0, 1, 2].map(|k| a.high[k].max(b.high[k])),
        })
    }
}

impl Places {
    fn reach(&self, more: f32) -> FieldReach {
        let more = (self.distance + more) / self.frame.scene_length();
        let mut out = FieldReach {
            low: [FAR; 3],
            high: [-FAR; 3],
        };
        for point in &self.points {
            let point = self.frame.point_from_scene(*point);
            out.low = [0, 1, 2].map(|k| out.low[k].min(point[k] - more));
            out.high = [0, 1, 2].map(|k| out.high[k].max(point[k] + more));
        }
        out
    }
}

fn apart(a: &[f32; 3], b: &[f32; 3]) -> f32 {
    (Vec3::from(*a) - Vec3::from(*b)).norm()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_frame::test_support::Random;
    use nalgebra::Unit;
    use sinew_geom::Quat;

    /// Points on screws, in a field on another one: at no time is one of them outside.
    #[test]
    fn what_moves_on_screws_stays_within_reach() {
        let mut random = Random(7);
        let mut unit = || random.within(-1.0, 1.0) as f32;
        for case in 0..2000 {
            let [a, b] = [(); 2].map(|()| Vec3::new(unit(), unit(), unit()));
            let size: f32 = [0.05, 1.0, 3.0][case % 3];
            let angle = size.min(1.0) * 3.1 * unit();
            let (turn, shift) = (a.normalize(), b * size);
            let own = Vec3::new(unit(), unit(), unit());
            let points = [(); 4].map(|()| Vec3::new(unit(), unit(), unit()));
            let field_turn = Vec3::new(unit(), unit(), unit()).normalize();
            let field_angle = angle * unit();
            // About an axis through a point, along it.
            let screw = |axis: Vec3<f32>, angle: f32, s: f32, p: Vec3<f32>| {
                let rotation = Quat::from_axis_angle(&Unit::new_unchecked(axis), angle * s);
                rotation * (p - own) + own + axis * (axis.dot(&shift) * s)
            };
            let point_at = |s: f32, k: usize| screw(turn, angle, s, points[k]);
            let frame_at = |s: f32| {
                let axis = Unit::new_unchecked(field_turn);
                let rotation = Quat::from_axis_angle(&axis, -field_angle * s);
                let moved = rotation * -(field_turn * (size * s));
                FieldFrame::new(rotation, 1.0, moved.into()).expect("finite")
            };
            let mut reaches = FieldReaches::default();
            let mut at = |s: f32, is_first| {
                reaches.next(frame_at(s), 0.1, is_first, |put| {
                    (0..4).for_each(|k| put(point_at(s, k).into()));
                    Some(1e-3)
                })
            };
            assert!(at(0.0, true).is_some());
            let reach = at(1.0, false).expect("known");
            for step in 0..=20 {
                let s = step as f32 / 20.0;
                for k in 0..4 {
                    let p = frame_at(s).point_from_scene(point_at(s, k).into());
                    let is_in = (0..3).all(|c| reach.low[c] <= p[c] && p[c] <= reach.high[c]);
                    assert!(is_in, "case {case} at {s}: {p:?} {reach:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_known_is_everywhere() {
        let mut reaches = FieldReaches::default();
        let mut frame = |dt: f64, is_first, distance| {
            let put = |put: &mut dyn FnMut([f32; 3])| {
                put([1.0, 2.0, 3.0]);
                distance
            };
            reaches.next(FieldFrame::default(), dt, is_first, put)
        };
        let near = Some(0.5);
        let box_of = |reach: Option<FieldReach>| reach.map(|r| (r.low, r.high));
        let expected = Some(([0.5, 1.5, 2.5], [1.5, 2.5, 3.5]));
        assert_eq!(box_of(frame(0.0, false, near)), None, "nothing before");
        assert_eq!(box_of(frame(0.0, true, near)), expected);
        assert_eq!(box_of(frame(0.1, false, near)), expected);
        assert_eq!(box_of(frame(0.0, false, near)), None, "no time");
        assert_eq!(box_of(frame(0.1, false, near)), None, "after no time");
        assert_eq!(box_of(frame(0.1, false, near)), expected);
        assert_eq!(box_of(frame(0.1, false, None)), None);
        assert_eq!(box_of(frame(0.1, false, near)), None);
    }
}
