//! How far pieces turn from frame to frame.
//!
//! A frame says how a piece lies, not which way it got there. Players take the shorter way between two frames, so a piece that turns by more
//! than 180 degrees would be seen to turn backwards. That shows in two ways: in a turn of nearly 180 degrees, and in large turns
//! that change their direction from one frame to the next, as spokes of a wheel do in films.

use crate::vat::maker::rigid::PiecePose;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// Turns beyond this may be either way, degrees.
const CLEAR_DEGREES: f64 = 170.0;

/// Turns beyond this that change their direction went past 180 degrees.
const LARGE_DEGREES: f64 = 90.0;

/// A turn of which the way cannot be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct UnclearTurn {
    /// The piece.
    pub piece: usize,
    /// By how much it turned since the frame before at least, degrees.
    pub degrees: f64,
}

/// Follows pieces through the frames.
#[derive(Clone, Debug)]
pub(crate) struct TurnFollower {
    /// Which pieces say how they are turned; see [`crate::vat::maker::rigid::Pieces::with_a_turn`].
    has_turn: Vec<bool>,
    before: Vec<UnitQuaternion<f64>>,
    /// From the frame before the last one to that, radians around an axis.
    turns: Vec<Vector3<f64>>,
    largest_degrees: f64,
}

impl TurnFollower {
    /// Before the first frame.
    pub(crate) fn new(has_turn: Vec<bool>) -> Self {
        Self {
            has_turn,
            before: Vec::new(),
            turns: Vec::new(),
            largest_degrees: 0.0,
        }
    }

    /// What comes next has nothing to do with the frame before.
    pub(crate) fn begin_clip(&mut self) {
        self.before.clear();
        self.turns.clear();
    }

    /// Takes the poses of the next frame. Of the two quaternions of each rotation they get the one that is nearer to the frame before. Gives
    /// the first turn of which the way cannot be told.
    pub(crate) fn advance(&mut self, poses: &mut [PiecePose]) -> Option<UnclearTurn> {
        let mut unclear = None;
        let mut turns = Vec::with_capacity(poses.len());
        let mut now = Vec::with_capacity(poses.len());
        for (piece, pose) in poses.iter_mut().enumerate() {
            let mut rotation = rotation_of(pose);
            let turn = match self.before.get(piece) {
                Some(before) => {
                    if rotation.coords.dot(&before.coords) < 0.0 {
                        pose.rotation = pose.rotation.map(|c| -c);
                        rotation = UnitQuaternion::new_unchecked(-rotation.into_inner());
                    }
                    (rotation * before.inverse()).scaled_axis()
                }
                None => Vector3::zeros(),
            };
            if self.has_turn.get(piece) == Some(&true) {
                unclear = unclear.or(self.unclear(piece, &turn));
                self.largest_degrees = self.largest_degrees.max(turn.norm().to_degrees());
            }
            turns.push(turn);
            now.push(rotation);
        }
        (self.before, self.turns) = (now, turns);
        unclear
    }

    /// The largest turn between two frames so far, degrees.
    pub(crate) fn largest_degrees(&self) -> f64 {
        self.largest_degrees
    }

    fn unclear(&self, piece: usize, turn: &Vector3<f64>) -> Option<UnclearTurn> {
        let degrees = turn.norm().to_degrees();
        let turned_back = self.turns.get(piece).is_some_and(|last| {
            last.norm().to_degrees() > LARGE_DEGREES
                && degrees > LARGE_DEGREES
                && last.dot(turn) < 0.0
        });
        let is_unclear = degrees > CLEAR_DEGREES || turned_back;
        is_unclear.then_some(UnclearTurn { piece, degrees })
    }
}

fn rotation_of(pose: &PiecePose) -> UnitQuaternion<f64> {
    let [x, y, z, w] = pose.rotation.map(f64::from);
    UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A piece that turns by `degrees` each frame around a fixed axis.
    fn spinning(degrees: f64, frames: i32) -> (Option<(i32, f64)>, f64, Vec<PiecePose>) {
        let axis = nalgebra::Unit::new_normalize(Vector3::new(0.3, 1.0, -0.5));
        let mut follower = TurnFollower::new(vec![true]);
        let (mut unclear, mut poses) = (None, Vec::new());
        for frame in 0..frames {
            let angle = (degrees * f64::from(frame)).to_radians();
            let turned = UnitQuaternion::from_axis_angle(&axis, angle);
            // The form with a real part above zero, as a fit of one frame gives it.
            let sign = if turned.w < 0.0 { -1.0 } else { 1.0 };
            let mut pose = [PiecePose {
                position: [0.0; 3],
                rotation: [0, 1, 2, 3].map(|k| (turned.coords[k] * sign) as f32),
            }];
            let found = follower.advance(&mut pose);
            unclear = unclear.or(found.map(|u| (frame, u.degrees)));
            poses.extend(pose);
        }
        (unclear, follower.largest_degrees(), poses)
    }

    #[test]
    fn turns_up_to_a_limit_are_clear_and_quaternions_follow_each_other() {
        for degrees in [0.0, 10.0, 90.0, 120.0, 165.0] {
            let (unclear, largest, poses) = spinning(degrees, 12);
            assert_eq!(unclear, None, "{degrees}");
            assert!((largest - degrees).abs() < 1e-3, "{largest}");
            for pair in poses.windows(2) {
                let both = pair[0].rotation.iter().zip(pair[1].rotation);
                assert!(both.map(|(a, b)| a * b).sum::<f32>() > 0.0);
            }
        }
    }

    #[test]
    fn turns_near_half_a_circle_are_not_clear() {
        let (unclear, ..) = spinning(175.0, 3);
        assert!(matches!(unclear, Some((1, degrees)) if (degrees - 175.0).abs() < 1e-3));
        // 190 degrees look like 170 backwards: steadily, which nothing tells from a turn to the other side.
        let (unclear, ..) = spinning(189.0, 3);
        assert!(unclear.is_some_and(|u| (u.1 - 171.0).abs() < 1e-3));
    }

    #[test]
    fn a_spin_that_grows_past_half_a_circle_shows_where_it_turns_back() {
        let axis = Vector3::y_axis();
        let mut follower = TurnFollower::new(vec![true]);
        // Steps of 110, 160, 210 degrees: the last looks like 150 backwards.
        let found = [0.0_f64, 110.0, 270.0, 480.0].map(|angle| {
            let turned = UnitQuaternion::from_axis_angle(&axis, angle.to_radians());
            let mut pose = [PiecePose {
                position: [0.0; 3],
                rotation: [0, 1, 2, 3].map(|k| turned.coords[k] as f32),
            }];
            follower.advance(&mut pose)
        });
        assert_eq!(found.map(|f| f.is_some()), [false, false, false, true]);
        // Pieces that say nothing of their turn are not asked.
        let mut follower = TurnFollower::new(vec![false]);
        for rotation in [[0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]] {
            let position = [0.0; 3];
            assert_eq!(
                follower.advance(&mut [PiecePose { position, rotation }]),
                None
            );
        }
    }
}
