//! Settings that may change from frame to frame.

use crate::strand_step::Laws;
use std::f32::consts::PI;

/// Parameters of [`HairJob`](super::HairJob). All are per second or per metre, none per frame or step: the frame rate does
/// not change how hair moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HairSettings {
    /// Steps per second, iterations, and whether points between vertices are tested. Default `Standard`.
    pub quality: HairQuality,
    /// Frames longer than this are simulated as if they were this long, in seconds. Default 0.1.
    pub longest_frame_secs: f32,
    /// Drag of the air, relative to the shared motion of the root: velocity falls by about `exp(-damping * t)`. Default 2.
    pub damping_per_sec: f32,
    /// Acceleration in scene space, m/s^2. Default 9.81 along -y.
    pub gravity: [f32; 3],
    /// Frequency at which a vertex swings about its skinned rest position, in hertz; 0 off. Default 1.
    pub global_stiffness_hz: f32,
    /// Share of the strand's arc length, from the root, that is pulled to the rest position; after it, the pull fades out over a tenth of
    /// the length. Default 0.3.
    pub global_range: f32,
    /// Frequency of the slowest bending mode of a straight strand, clamped at the root and free of gravity, in hertz;
    /// 0 makes it a chain. Does not depend on the number of vertices. Default 2.
    pub local_stiffness_hz: f32,
    /// Share of the root's rigid motion that the whole strand follows without inertia, 0 to 1. Default 0.5.
    pub root_motion_share: f32,
    /// Metres. If the root ends a frame farther than this from its predicted position, the share rises, to 1 at twice the distance: cuts
    /// and teleports move hair rigidly. Default 0.25.
    pub teleport_distance: f32,
    /// Radians, 0 to pi. If the root rotates in a frame by more than this, the share rises, to 1 at 1.25 times the angle, at pi at most: a
    /// head that is turned round takes its hair along. Pi switches this off. Of both shares, the larger one counts. Default 2.1.
    pub teleport_angle: f32,
    /// Velocity of the air, scene space, m/s. It accelerates a strand across its direction by 2/s times this. Default 0.
    pub wind: [f32; 3],
    /// Variation of the wind: 0 steady, 1 from calm to twice as strong. Default 0.5.
    pub gust_strength: f32,
    /// How often gusts come, in hertz. Default 0.7.
    pub gust_hz: f32,
    /// Seed of what differs in gusts from strand to strand. Gusts are a function of time, of where the root is, seed and index.
    pub seed: u32,
    /// Growth of the distance between followers and guides from root to tip: `1 + tip_separation * t`. Default 0.
    pub tip_separation: f32,
    /// How hard hair pushes itself apart where it is denser than at rest. At 1 it carries its own weight where the density rises by that at
    /// rest from one cell to the next. Needs [`HairBind::with_volume`](super::HairBind::with_volume). Default 0.
    pub volume: f32,
    /// Whether followers collide. Default true.
    pub collide_followers: bool,
    /// Share of the guides that are simulated and shown, 0 to 1; NaN counts as 1. Of the followers, the square of it is shown. Near its
    /// limit a strand is shortened towards its root, so that positions are continuous in this. Default 1.
    pub detail: f32,
    /// Seconds that are simulated in the pose of the first frame before it is shown, at most 10,000. Default 0.
    pub pre_roll_secs: f32,
}

impl Default for HairSettings {
    fn default() -> Self {
        Self {
            quality: HairQuality::Standard,
            longest_frame_secs: 0.1,
            damping_per_sec: 2.0,
            gravity: [0.0, -9.81, 0.0],
            global_stiffness_hz: 1.0,
            global_range: 0.3,
            local_stiffness_hz: 2.0,
            root_motion_share: 0.5,
            teleport_distance: 0.25,
            teleport_angle: 2.1,
            wind: [0.0; 3],
            gust_strength: 0.5,
            gust_hz: 0.7,
            seed: 0,
            tip_separation: 0.0,
            volume: 0.0,
            collide_followers: true,
            detail: 1.0,
            pre_roll_secs: 0.0,
        }
    }
}

/// How much is spent on a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HairQuality {
    /// 120 steps per second, one iteration, vertices only.
    Game,
    /// 240 steps per second, two iterations, vertices and segments.
    #[default]
    Standard,
    /// 480 steps per second, three iterations, vertices and segments.
    Film,
}

impl HairQuality {
    /// By its name; `Standard` for others.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "game" => Self::Game,
            "film" => Self::Film,
            _ => Self::Standard,
        }
    }
    /// Fewest steps per second. A frame is cut into equal steps that are no longer than this.
    pub fn steps_per_sec(self) -> f32 {
        match self {
            Self::Game => 120.0,
            Self::Standard => 240.0,
            Self::Film => 480.0,
        }
    }
    fn iterations(self) -> usize {
        match self {
            Self::Game => 1,
            Self::Standard => 2,
            Self::Film => 3,
        }
    }
}

/// Dry drag, m/s^2, and what it is at most for each 1/s of damping; and the speed below which it fades, m/s.
const DRY: f32 = 0.05;
const DRY_PER_DAMPING: f32 = 0.025;
const DRY_SPEED: f64 = 5e-5;

/// Strands are looked at after this fraction of a step at their speed: at rest they are where they are, and what is about to hit something
/// has not yet run into it.
const FIRST: f64 = 0.5;

/// Equal frames, one after another, that are cut into equal steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Piece {
    /// Time of one.
    pub(crate) secs: f32,
    /// Steps of one.
    pub(crate) steps: usize,
    /// How many.
    pub(crate) times: usize,
}

impl Piece {
    /// Time of a step; zero where there is none.
    pub(crate) fn step_secs(&self) -> f64 {
        f64::from(self.secs) / self.steps.max(1) as f64
    }
}

/// Frames that a pre-roll is cut into: those of an ordinary one, so that a long pre-roll is no other motion than a long still scene.
const PRE_ROLL_FRAME: f32 = 1.0 / 30.0;
/// Longest pre-roll.
const LONGEST_PRE_ROLL: f32 = 1e4;

impl HairSettings {
    /// What is simulated before the first frame: whole frames, and what is left.
    pub(crate) fn pre_roll(&self) -> [Piece; 2] {
        let all = self.pre_roll_secs.clamp(0.0, LONGEST_PRE_ROLL);
        if all.is_nan() || all <= 0.0 {
            return [Piece::default(); 2];
        }
        // Times like 1/30 are not exact: a step of a billionth of a second would turn rounding into speed.
        let times = (all / PRE_ROLL_FRAME + 1e-3).floor();
        let left = all - times * PRE_ROLL_FRAME;
        let piece = |secs: f32, times: f32| {
            let (secs, steps) = self.substeps(secs);
            let times = if steps > 0 { times as usize } else { 0 };
            Piece { secs, steps, times }
        };
        let rest = if left > 1e-3 * PRE_ROLL_FRAME {
            1.0
        } else {
            0.0
        };
        [piece(PRE_ROLL_FRAME, times), piece(left, rest)]
    }

    /// [`Self::detail`] in its range.
    pub(crate) fn shown_detail(&self) -> f32 {
        if self.detail.is_nan() {
            return 1.0;
        }
        self.detail.clamp(0.0, 1.0)
    }

    /// The same without what drives hair: for strands that find their shape.
    pub(crate) fn calm(&self) -> Self {
        Self {
            gravity: [0.0; 3],
            wind: [0.0; 3],
            ..*self
        }
    }

    /// How far a root rotates in a frame before its strand follows rigidly, and how much further until the effect is full; in radians. The
    /// second is a degree at least: the effect never sets in at once.
    pub(crate) fn teleport_turn(&self) -> [f32; 2] {
        let least = 1.0_f32.to_radians();
        let angle = self.teleport_angle.clamp(least, PI);
        [angle, (0.25 * angle).min(PI - angle).max(least)]
    }

    /// Time of a step, at most, in single precision.
    pub(crate) fn step_secs(&self) -> f32 {
        1.0 / self.quality.steps_per_sec()
    }

    /// Constants of all strands and steps of that length.
    pub(crate) fn laws(&self, step_secs: f64) -> Laws {
        let damping = self.damping_per_sec.max(0.0);
        Laws {
            h: step_secs,
            drag: f64::from(damping),
            dry: f64::from(DRY.min(DRY_PER_DAMPING * damping)),
            dry_speed: DRY_SPEED,
            pull_hz: f64::from(self.global_stiffness_hz.max(0.0)),
            bend_hz: f64::from(self.local_stiffness_hz.max(0.0)),
            iterations: self.quality.iterations(),
            segments: self.quality != HairQuality::Game,
            first: FIRST,
        }
    }

    /// Seconds that a frame of `dt_secs` simulates, and the number of equal steps. `(0, 0)` if the time is 0, negative or not finite. It is
    /// limited to [`Self::longest_frame_secs`], and steps to a million.
    pub fn substeps(&self, dt_secs: f32) -> (f32, usize) {
        let time = dt_secs.min(self.longest_frame_secs);
        // Also where the time is not a number.
        if !(time > 0.0 && time.is_finite()) {
            return (0.0, 0);
        }
        // Times like 1/60 are not exact: a step may be a little longer.
        let wanted = (time * self.quality.steps_per_sec() - 1e-3).ceil();
        let count = wanted.clamp(1.0, 1e6) as usize;
        (time, count)
    }
}
