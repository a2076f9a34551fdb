//! Numbers for points that have none: by where each should be next.
//!
//! A point is expected where its velocity takes it, or, without one, as far from its last place as it came in the frame before. It is the same point as one of the
//! next frame where each is the other's nearest, and not too far away.

use sinew_geom::vec3::{add, dot, sub};
use std::collections::HashMap;

/// Follows points frame by frame and numbers them.
#[derive(Clone, Debug)]
pub(crate) struct MotionFollower {
    reach: f32,
    /// Numbers, places and steps of the points of the frame before.
    before: Vec<Seen>,
    next_number: u32,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    number: u32,
    place: [f32; 3],
    step: [f32; 3],
}

impl MotionFollower {
    /// Points farther than `reach` (metres) from where they are expected are others.
    pub(crate) fn new(reach: f32) -> Self {
        Self {
            reach,
            before: Vec::new(),
            next_number: 0,
        }
    }

    /// Numbers of a frame's points. `steps`: how far velocities take each until the next frame, metres.
    pub(crate) fn advance(&mut self, places: &[[f32; 3]], steps: Option<&[[f32; 3]]>) -> Vec<u32> {
        let expected: Vec<[f32; 3]> = self.before.iter().map(|s| add(s.place, s.step)).collect();
        let to = nearest_of_all(&expected, places, self.reach);
        let back = nearest_of_all(places, &expected, self.reach);
        let mut now = Vec::with_capacity(places.len());
        for (point, place) in places.iter().enumerate() {
            let known = back[point].filter(|&b| to[b] == Some(point));
            let known = known.map(|b| self.before[b]);
            let number = known.map_or_else(|| self.new_number(), |b| b.number);
            let moved = known.map_or([0.0; 3], |b| sub(*place, b.place));
            let step = steps.and_then(|s| s.get(point)).copied().unwrap_or(moved);
            now.push(Seen {
                number,
                place: *place,
                step,
            });
        }
        self.before = now;
        self.before.iter().map(|s| s.number).collect()
    }

    fn new_number(&mut self) -> u32 {
        let number = self.next_number;
        self.next_number = number.saturating_add(1);
        number
    }
}

/// For each of `from` the nearest of `to` within reach; of equally near ones the first.
fn nearest_of_all(from: &[[f32; 3]], to: &[[f32; 3]], reach: f32) -> Vec<Option<usize>> {
    let mut cells: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
    for (i, place) in to.iter().enumerate() {
        cells.entry(cell_of(*place, reach)).or_default().push(i);
    }
    let nearest = |place: &[f32; 3]| {
        let mut best: Option<(f32, usize)> = None;
        for cell in around(cell_of(*place, reach)) {
            for &i in cells.get(&cell).into_iter().flatten() {
                let d = sub(to[i], *place);
                let far = dot(d, d);
                let is_better = best.is_none_or(|(b, at)| far < b || (far == b && i < at));
                if far <= reach * reach && is_better {
                    best = Some((far, i));
                }
            }
        }
        best.map(|b| b.1)
    };
    from.iter().map(nearest).collect()
}

fn cell_of(place: [f32; 3], reach: f32) -> [i64; 3] {
    let side = f64::from(reach.max(f32::MIN_POSITIVE));
    place.map(|c| (f64::from(c) / side).floor() as i64)
}

fn around([x, y, z]: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    let steps = (-1..=1).flat_map(|a| (-1..=1).flat_map(move |b| (-1..=1).map(move |c| [a, b, c])));
    steps.map(move |[a, b, c]| {
        [
            x.saturating_add(a),
            y.saturating_add(b),
            z.saturating_add(c),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two points that cross: by their places alone they would change names.
    fn crossing(frame: usize) -> [[f32; 3]; 2] {
        let x = -1.0 + 0.4 * frame as f32;
        [[x, 0.01, 0.0], [-x, -0.01, 0.0]]
    }

    #[test]
    fn points_that_cross_keep_their_numbers() {
        for has_velocities in [true, false] {
            let mut follower = MotionFollower::new(0.5);
            for frame in 0..6 {
                // In another order in each frame.
                let [a, b] = crossing(frame);
                let steps = [[0.4, 0.0, 0.0], [-0.4, 0.0, 0.0]];
                let (places, steps) = match frame % 2 {
                    0 => ([a, b], steps),
                    _ => ([b, a], [steps[1], steps[0]]),
                };
                let steps = has_velocities.then_some(&steps[..]);
                let numbers = follower.advance(&places, steps);
                let expected = if frame % 2 == 0 { [0, 1] } else { [1, 0] };
                assert_eq!(numbers, expected, "frame {frame}, {has_velocities}");
            }
        }
    }

    #[test]
    fn births_deaths_and_leaps_give_new_numbers() {
        let mut follower = MotionFollower::new(0.3);
        assert_eq!(follower.advance(&[[0.0; 3], [1.0, 0.0, 0.0]], None), [0, 1]);
        // One died, one was born next to where the other went on.
        let places = [[0.05, 0.0, 0.0], [0.2, 0.0, 0.0]];
        assert_eq!(follower.advance(&places, None), [0, 2]);
        assert_eq!(follower.advance(&[[9.0, 0.0, 0.0]], None), [3]);
        assert!(follower.advance(&[], None).is_empty());
        assert_eq!(follower.advance(&[[9.0, 0.0, 0.0]], None), [4]);
    }
}
