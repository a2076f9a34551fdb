//! Runs the setup steps.

use super::{BindError, Follower};
use crate::execute::{Buffer, Moment, StepState, Surroundings, run_step};
use crate::input::InputBinding;
use crate::program::{BufferDesc, Program};
use sinew_deform::Par;

/// Runs the setup steps. Frees buffers that only setup steps read.
/// `share` is the work of binding before these steps, and the work of these steps.
pub(super) fn run(
    program: &Program,
    inputs: &[InputBinding],
    par: Par,
    follower: &Follower<'_>,
    share: (f64, f64),
) -> Result<Vec<Buffer>, BindError> {
    let buffer = |desc: &BufferDesc| Buffer::new(desc, inputs);
    let mut buffers: Vec<Buffer> = program.setup_buffers.iter().map(buffer).collect();
    let moment = Moment {
        time_secs: 0.0,
        dt_secs: 0.0,
        is_first: true,
        par,
    };
    let steps = program.setup_steps.iter();
    let each = share.1 / steps.len().max(1) as f64;
    for (index, step) in steps.enumerate() {
        follower.begin(&step.name, share.0 + index as f64 * each)?;
        let surroundings = Surroundings {
            meshes: &program.meshes,
            setup: None,
            values: &[],
            moved_rest: &[],
            given: None,
        };
        let mut state = StepState::new(step);
        let ran = run_step(step, &mut state, moment, &surroundings, &mut buffers);
        ran.map_err(|source| BindError::Node {
            location: step.location.clone(),
            node: step.name.clone(),
            kind: step.desc.name,
            source: Box::new(source.into()),
        })?;
    }
    for (buffer, desc) in buffers.iter_mut().zip(&program.setup_buffers) {
        if !desc.kept && !desc.host {
            *buffer = Buffer::default();
        }
    }
    Ok(buffers)
}
