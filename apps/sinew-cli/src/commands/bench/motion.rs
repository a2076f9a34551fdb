//! The frames that are timed: poses over a clip, made beforehand, so that posing is not timed.

use sinew::geom::Pose;
use sinew::graph::{Frame, InputType, Plan};
use sinew::play::{PlayError, PlayInputs, Values};

/// Frames of a clip: enough that caches do not hold one pose only.
const MOMENTS: u8 = 32;

/// Frames per second of clips and point caches.
pub(super) const FPS: f64 = 30.0;

/// Poses, values and cached positions of frames one after another: what a solver follows must not jump.
#[derive(Debug)]
pub(super) struct Motion {
    moments: Vec<Moment>,
    values: Vec<(usize, Vec<f32>)>,
}

#[derive(Debug)]
struct Moment {
    time_secs: f64,
    poses: Vec<(usize, Pose)>,
    positions: Vec<(usize, Vec<[f32; 3]>)>,
}

impl Motion {
    /// The first second of a clip of the main character.
    pub(super) fn of_cast(
        cast: &mut PlayInputs,
        clip: Option<&str>,
        (begin, end): (f32, f32),
        values: &[Values],
    ) -> Result<Self, PlayError> {
        let mut moments = Vec::new();
        for i in 0..MOMENTS {
            let time_secs = f64::from(begin) + f64::from(i) / FPS;
            if i > 0 && time_secs > f64::from(end) {
                break;
            }
            cast.pose(clip, time_secs);
            let poses = cast.posed_inputs().map(|(i, pose)| (i, pose.clone()));
            let poses = poses.collect();
            cast.read_point_caches((time_secs * FPS).round() as i64, time_secs)?;
            let positions = cast.moved_positions().map(|(i, p)| (i, p.to_vec()));
            moments.push(Moment {
                time_secs,
                poses,
                positions: positions.collect(),
            });
        }
        let values = values.iter().map(|v| (v.input(), v.of_frame(0).to_vec()));
        Ok(Self {
            moments,
            values: values.collect(),
        })
    }

    /// One pose for all pose inputs of a plan.
    pub(super) fn of_poses(plan: &Plan, poses: &[Pose]) -> Self {
        let inputs = || {
            let all = plan.inputs().iter().enumerate();
            all.filter(|(_, input)| input.ty == InputType::Pose)
        };
        let moment = |pose: &Pose| Moment {
            time_secs: 0.0,
            poses: inputs().map(|(i, _)| (i, pose.clone())).collect(),
            positions: Vec::new(),
        };
        Self {
            moments: poses.iter().map(moment).collect(),
            values: Vec::new(),
        }
    }

    /// Calls `run` with frame after frame, forth and back, until it has enough.
    pub(super) fn play<E>(
        &self,
        mut run: impl FnMut(&Frame<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let values: Vec<(usize, &[f32])> = self.values.iter().map(|(i, v)| (*i, &v[..])).collect();
        loop {
            for moment in self.moments.iter().chain(self.moments.iter().rev()) {
                let poses: Vec<(usize, &Pose)> =
                    moment.poses.iter().map(|(i, p)| (*i, p)).collect();
                let positions: Vec<(usize, &[[f32; 3]])> =
                    moment.positions.iter().map(|(i, p)| (*i, &p[..])).collect();
                let frame = Frame::at(moment.time_secs)
                    .dt(1.0 / FPS)
                    .poses(&poses)
                    .values(&values)
                    .positions(&positions);
                if run(&frame)? {
                    return Ok(());
                }
            }
        }
    }
}
