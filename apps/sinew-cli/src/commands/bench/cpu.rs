//! The CPU's side: each step between two readings of the clock.

use super::Part;
use super::motion::Motion;
use crate::exit::{Failure, Outcome};
use crate::reporter::Reporter;
use sinew::deform::{MESH_ATTRIBUTES, MeshAttribute, Par, Phase};
use sinew::graph::{BoundGraph, Content, DataRef, PortData, Step};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Frames that do not count: memory is touched for the first time, caches fill.
const WARM_UP: usize = 3;
/// No more frames after that long.
const LONGEST: Duration = Duration::from_secs(10);

/// Medians.
#[derive(Clone, Debug)]
pub(super) struct CpuTimes {
    /// All of a frame.
    pub(super) frame_us: f64,
    pub(super) nodes: Vec<Part>,
}

/// The lower of the two values in the middle.
pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len().saturating_sub(1) / 2;
    values.get(middle).copied().unwrap_or(f64::NAN)
}

/// Times `frames` frames on the threads of the pool that this is called from.
pub(super) fn measure(
    graph: &Arc<BoundGraph>,
    motion: &Motion,
    frames: usize,
    reporter: &Reporter,
) -> Outcome<CpuTimes> {
    let mut instance = graph.instance();
    let steps = graph.program().steps(Phase::Update);
    let mut of_frame = Vec::new();
    let mut of_step: Vec<Vec<f64>> = vec![Vec::new(); steps.len()];
    let us = |from: Instant, to: Instant| to.duration_since(from).as_secs_f64() * 1e6;
    let begun = Instant::now();
    let mut done = 0;
    let played: Outcome = motion.play(|frame| {
        reporter.check_interrupt()?;
        let counts = done >= WARM_UP;
        let (start, mut step) = (Instant::now(), 0);
        let mut last = start;
        let updated = instance.update_watched(frame, Par::Rayon, &mut |_| {
            let now = Instant::now();
            if counts {
                of_step[step].push(us(last, now));
            }
            (last, step) = (now, step + 1);
        });
        updated.map_err(Failure::bind)?;
        if counts {
            of_frame.push(us(start, Instant::now()));
        }
        done += 1;
        Ok(of_frame.len() >= frames || (!of_frame.is_empty() && begun.elapsed() > LONGEST))
    });
    played?;
    let parts = steps.iter().zip(&mut of_step);
    let parts = parts.map(|(step, times)| Part {
        name: format!("{} ({})", step.name, step.desc.name),
        us: median(times),
        bytes: Some(bytes(graph, step)),
        dispatches: None,
    });
    Ok(CpuTimes {
        nodes: parts.collect(),
        frame_us: median(&mut of_frame),
    })
}

/// Arrays at the ports of a step, each once, and what its setup made.
fn bytes(graph: &BoundGraph, step: &Step) -> u64 {
    let program = graph.program();
    let array = |phase, i: usize| {
        let buffer = program.buffers(phase).get(i);
        buffer.map_or(0, |b| match b.content {
            Content::Array { .. } => b.content.bytes(),
            Content::Pose { .. } => 0,
        })
    };
    let place = |place: DataRef, attribute: MeshAttribute| match place {
        DataRef::Rest(mesh) => {
            let vertices = program.meshes().get(mesh).map_or(0, |m| m.vertex_count());
            vertices * attribute.element().bytes()
        }
        DataRef::Setup(i) => array(Phase::Setup, i),
        DataRef::Frame(i) => array(Phase::Update, i),
        DataRef::Input(_) => 0,
    };
    let mesh = |places: &[Option<DataRef>; MESH_ATTRIBUTES]| {
        let all = MeshAttribute::ALL.into_iter().zip(places);
        all.filter_map(|(a, p)| p.map(|p| place(p, a))).sum()
    };
    let ports = step.inputs.iter().chain(&step.outputs).flatten();
    let ports: usize = ports
        .map(|port| match port {
            PortData::Mesh(places) => mesh(places),
            PortData::Array(p) => place(*p, MeshAttribute::Positions),
            PortData::Pose(_) => 0,
        })
        .sum();
    (ports + step.bound.setup_bytes()) as u64
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn medians() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.0);
        assert!(median(&mut []).is_nan());
    }
}
