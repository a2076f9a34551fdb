//! Times of the nodes of a frame.

use super::{PlayError, RunError, Runner};
use crate::deform::{Par, Phase};
use crate::graph::{Frame, Instance};
use std::time::Instant;

#[cfg(feature = "gpu")]
use crate::gpu::{GpuError, GpuInstances, Timestamps};

/// Clocks, and the times of the last frame that was evaluated with them.
#[derive(Debug, Default)]
pub(super) struct Profile {
    /// Name and seconds; empty before the first frame.
    pub(super) times: Vec<(String, f64)>,
    #[cfg(feature = "gpu")]
    timestamps: Option<Timestamps>,
}

impl Profile {
    /// Clocks for a runner.
    ///
    /// # Errors
    /// `PlayError::Device` if the GPU has no timestamps.
    pub(super) fn new(runner: &Runner) -> Result<Self, PlayError> {
        match runner {
            Runner::Cpu(_) => Ok(Self::default()),
            #[cfg(feature = "gpu")]
            Runner::Gpu(instances) => Ok(Self {
                times: Vec::new(),
                timestamps: Some(Timestamps::new(instances.gpu(), 1)?),
            }),
        }
    }

    /// [`Runner::update`] with times. Waits for the GPU.
    pub(super) fn update(
        &mut self,
        runner: &mut Runner,
        frame: &Frame<'_>,
    ) -> Result<(), RunError> {
        match runner {
            Runner::Cpu(instance) => self.update_cpu(instance, frame),
            #[cfg(feature = "gpu")]
            Runner::Gpu(instances) => Ok(self.update_gpu(instances, frame)?),
        }
    }

    fn update_cpu(&mut self, instance: &mut Instance, frame: &Frame<'_>) -> Result<(), RunError> {
        if self.times.is_empty() {
            let steps = instance.graph().program().steps(Phase::Update);
            self.times = steps.iter().map(|s| (s.name.clone(), 0.0)).collect();
        }
        let mut times = self.times.iter_mut();
        let mut last = Instant::now();
        let watched = instance.update_watched(frame, Par::Rayon, &mut |_| {
            let now = Instant::now();
            if let Some((_, seconds)) = times.next() {
                *seconds = (now - last).as_secs_f64();
            }
            last = now;
        });
        Ok(watched?)
    }

    /// Each launch in a pass of its own; consecutive ones of the same nodes are one time.
    #[cfg(feature = "gpu")]
    fn update_gpu(
        &mut self,
        instances: &mut GpuInstances,
        frame: &Frame<'_>,
    ) -> Result<(), GpuError> {
        let Some(timestamps) = &mut self.timestamps else {
            instances.update(std::slice::from_ref(frame))?;
            return Ok(());
        };
        let submission = instances.update_timed(std::slice::from_ref(frame), timestamps)?;
        let spans = timestamps.read(instances.gpu(), &submission)?;
        let labels: Vec<&str> = instances.launch_labels().collect();
        self.times.clear();
        for (launch, span) in instances.dispatches().into_iter().zip(spans) {
            let seconds = span.map_or(0.0, |s| s.duration_ns() / 1e9);
            match self.times.last_mut() {
                Some((name, sum)) if *name == labels[launch] => *sum += seconds,
                _ => self.times.push((labels[launch].to_owned(), seconds)),
            }
        }
        Ok(())
    }
}
