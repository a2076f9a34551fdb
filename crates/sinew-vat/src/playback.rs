//! Which frames a moment shows, as every player computes it.

use serde::{Deserialize, Serialize};

/// What comes after the last frame of a clip, and before its first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtEnd {
    /// The first frame follows the last one; the two are not blended.
    #[default]
    Loop,
    /// As [`Self::Loop`], for a clip whose last frame goes over into its first one: the two are blended.
    SeamlessLoop,
    /// The last frame stays, and the first one waits.
    Clamp,
}

/// Frames of a bake that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClipFrames {
    /// First frame of the bake.
    pub first: u32,
    /// How many there are, one at least.
    pub count: u32,
    /// Frames a second, more than zero.
    pub frames_per_second: f32,
    /// What comes after the last one.
    pub at_end: AtEnd,
}

/// Two frames of the bake and how much of the second is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameBlend {
    /// The frame that a player without blending shows.
    pub frame: u32,
    /// The one after it; the same where there is nothing to blend.
    pub next: u32,
    /// Share of `next`, 0 up to 1.
    pub weight: f32,
}

impl ClipFrames {
    /// What is seen at a moment, seconds from the start of the clip. Moments that are not finite show the first frame.
    pub fn at(&self, secs: f64) -> FrameBlend {
        let count = self.count.max(1);
        let frames = f64::from(count);
        let wanted = secs * f64::from(self.frames_per_second);
        let wanted = if wanted.is_finite() { wanted } else { 0.0 };
        let within = match self.at_end {
            AtEnd::Clamp => wanted.clamp(0.0, frames - 1.0),
            AtEnd::Loop | AtEnd::SeamlessLoop => wanted.rem_euclid(frames),
        };
        // What is a little below a whole number of loops rounds up to it.
        let frame = (within as u32).min(count - 1);
        let after = match (frame + 1 < count, self.at_end) {
            (true, _) => Some(frame + 1),
            (false, AtEnd::SeamlessLoop) => Some(0),
            (false, _) => None,
        };
        let weight = (within - f64::from(frame)).clamp(0.0, 1.0) as f32;
        FrameBlend {
            frame: self.first + frame,
            next: self.first + after.unwrap_or(frame),
            weight: if after.is_some() { weight } else { 0.0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clip(at_end: AtEnd) -> ClipFrames {
        ClipFrames {
            first: 10,
            count: 4,
            frames_per_second: 2.0,
            at_end,
        }
    }

    fn blend(frame: u32, next: u32, weight: f32) -> FrameBlend {
        FrameBlend {
            frame,
            next,
            weight,
        }
    }

    #[test]
    fn rows_108_and_109_moments_by_hand() {
        // Frames 10 to 13, half a second each.
        for at_end in [AtEnd::Loop, AtEnd::SeamlessLoop, AtEnd::Clamp] {
            assert_eq!(clip(at_end).at(0.0), blend(10, 11, 0.0));
            assert_eq!(clip(at_end).at(0.625), blend(11, 12, 0.25));
            assert_eq!(clip(at_end).at(f64::NAN), blend(10, 11, 0.0));
            assert_eq!(clip(at_end).at(f64::INFINITY), blend(10, 11, 0.0));
        }
        // Behind the last frame.
        assert_eq!(clip(AtEnd::Loop).at(1.75), blend(13, 13, 0.0));
        assert_eq!(clip(AtEnd::SeamlessLoop).at(1.75), blend(13, 10, 0.5));
        assert_eq!(clip(AtEnd::Clamp).at(1.75), blend(13, 13, 0.0));
        assert_eq!(clip(AtEnd::Clamp).at(99.0), blend(13, 13, 0.0));
        assert_eq!(clip(AtEnd::Clamp).at(-1.0), blend(10, 11, 0.0));
        // The next pass, and the one before.
        assert_eq!(clip(AtEnd::Loop).at(2.0), blend(10, 11, 0.0));
        assert_eq!(clip(AtEnd::Loop).at(-0.25), blend(13, 13, 0.0));
        assert_eq!(clip(AtEnd::SeamlessLoop).at(-0.25), blend(13, 10, 0.5));
        // One frame.
        let one = ClipFrames {
            count: 1,
            ..clip(AtEnd::SeamlessLoop)
        };
        assert_eq!((one.at(0.3).frame, one.at(0.3).next), (10, 10));
    }

    proptest! {
        #[test]
        fn frames_are_those_of_the_clip(
            first in 0_u32..100, count in 1_u32..500, rate in 1.0_f32..240.0, secs in -1e6_f64..1e6, end in 0..3_u8,
        ) {
            let at_end = [AtEnd::Loop, AtEnd::SeamlessLoop, AtEnd::Clamp][end as usize];
            let clip = ClipFrames { first, count, frames_per_second: rate, at_end };
            for secs in [secs, -1e-18, f64::from(count) / f64::from(rate), f64::MIN_POSITIVE] {
                let seen = clip.at(secs);
                prop_assert!((first..first + count).contains(&seen.frame));
                prop_assert!((first..first + count).contains(&seen.next));
                prop_assert!((0.0..=1.0).contains(&seen.weight));
                prop_assert!(at_end == AtEnd::SeamlessLoop || seen.next >= seen.frame, "over the seam");
            }
        }
    }
}
