//! From which mesh size the GPU is faster than the CPU: one stack over growing meshes.

use super::cpu;
use super::gpu::Bench;
use super::motion::Motion;
use crate::exit::{Failure, Outcome};
use crate::reporter::Reporter;
use crate::setup::{self, SetupFile};
use serde_json::{Value, json};
use sinew::geom::index32;
use sinew::graph::{InputBinding, InputType, NoNesting, compile};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Skinning, smoothing with detail, normals: what most characters need.
const STACK: &str = r#"{
    "sinew": "1.0",
    "stack": ["skin", { "node": "delta_mush", "iterations": 8 }, "tangent_frames"]
}"#;
/// Each size is so many times the one before.
const GROWTH: u32 = 4;
const SMALLEST: u32 = 1_000;
/// No larger size after one that took so long in all.
const LONGEST: Duration = Duration::from_secs(20);

/// One size: microseconds from frame to frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) vertices: u32,
    pub(super) cpu_us: f64,
    pub(super) gpu_us: f64,
    /// To send, record and submit.
    pub(super) host_us: f64,
}

/// All sizes that were tried.
#[derive(Clone, Debug)]
pub(super) struct Crossover {
    pub(super) sizes: Vec<Size>,
}

impl Crossover {
    /// Between which neighbouring sizes the GPU becomes faster than the CPU for good, and about where.
    pub(super) fn vertices(&self) -> Option<(u32, u32, f64)> {
        let pairs = self.sizes.windows(2).rev();
        let mut pairs = pairs.take_while(|pair| pair[1].gpu_us < pair[1].cpu_us);
        let pair = pairs.find(|pair| pair[0].gpu_us >= pair[0].cpu_us)?;
        // Straight between the logarithms: times grow like powers of the size.
        let lead = |s: &Size| (s.gpu_us / s.cpu_us).ln();
        let size = |s: &Size| f64::from(s.vertices).ln();
        let share = lead(&pair[0]) / (lead(&pair[0]) - lead(&pair[1]));
        let at = size(&pair[0]) + share * (size(&pair[1]) - size(&pair[0]));
        Some((pair[0].vertices, pair[1].vertices, at.exp()))
    }

    /// Which device is faster at every size that was tried, if one is.
    pub(super) fn always(&self) -> Option<&'static str> {
        let faster = |s: &Size| s.gpu_us < s.cpu_us;
        match (self.sizes.iter().all(faster), self.sizes.iter().any(faster)) {
            (true, _) => Some("gpu"),
            (_, false) => Some("cpu"),
            _ => None,
        }
    }

    pub(super) fn json(&self) -> Value {
        let sizes = self.sizes.iter().map(|s| {
            json!({ "vertices": s.vertices, "cpu_us": s.cpu_us, "gpu_us": s.gpu_us, "host_us": s.host_us })
        });
        json!({
            "stack": "skin, delta_mush x8, tangent_frames",
            "sizes": sizes.collect::<Vec<_>>(),
            "vertices": self.vertices().map(|v| v.2),
            "always": self.always(),
        })
    }
}

/// Up to `largest`, which is among them.
fn sizes_up_to(largest: u32) -> Vec<u32> {
    let next = |size: &u32| size.checked_mul(GROWTH);
    let sizes = std::iter::successors(Some(SMALLEST), next);
    let mut sizes: Vec<u32> = sizes.take_while(|size| *size < largest).collect();
    sizes.push(largest);
    sizes
}

/// Runs the stack on sheets of growing size, on the threads of the pool that this is called from.
pub(super) fn measure(
    bench: &Bench,
    frames: usize,
    largest: u32,
    reporter: &Reporter,
) -> Outcome<Crossover> {
    let plan = compile("stack.json", STACK, &NoNesting).map_err(Failure::bind)?;
    let plan = Arc::new(plan);
    let wanted = sizes_up_to(largest);
    let progress = reporter.progress(wanted.len(), "sizes");
    let mut sizes = Vec::new();
    for (done, vertices) in wanted.into_iter().enumerate() {
        reporter.check_interrupt()?;
        let begun = Instant::now();
        let asset = sinew_samples::sheet(vertices).map_err(Failure::bind)?;
        let mesh = Arc::new(asset.merged(&Default::default()).map_err(Failure::bind)?);
        let bind = |ty: InputType| match ty {
            InputType::Mesh | InputType::Strands => InputBinding::Mesh(mesh.clone()),
            InputType::Pose => InputBinding::Pose(asset.rig.clone()),
            InputType::Values | InputType::VertexAnimation => InputBinding::Values,
        };
        let inputs: Vec<InputBinding> = plan.inputs().iter().map(|i| bind(i.ty)).collect();
        let graph = setup::bind_inputs(&plan, &inputs, &[], &SetupFile::default(), reporter)?;
        let clip = asset.clips.first();
        let poses = [0.2, 0.4, 0.6, 0.8].map(|time| {
            let mut pose = asset.rig.rest_pose();
            asset.rig.evaluate(clip, time, &mut pose);
            pose
        });
        let motion = Motion::of_poses(&plan, &poses);
        let cpu = cpu::measure(&graph, &motion, frames, reporter)?;
        let gpu = bench.measure(&graph, &motion, frames)?;
        sizes.push(Size {
            vertices: index32(mesh.vertex_count()),
            cpu_us: cpu.frame_us,
            gpu_us: gpu.frame_us(),
            host_us: gpu.host_us,
        });
        progress.step(done + 1);
        if begun.elapsed() > LONGEST {
            break;
        }
    }
    Ok(Crossover { sizes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: &[(u32, f64, f64)]) -> Crossover {
        let size = |&(vertices, cpu_us, gpu_us): &(u32, f64, f64)| Size {
            vertices,
            cpu_us,
            gpu_us,
            host_us: 1.0,
        };
        Crossover {
            sizes: times.iter().map(size).collect(),
        }
    }

    #[test]
    fn sizes_grow_up_to_the_largest() {
        assert_eq!(sizes_up_to(10_000), [1_000, 4_000, 10_000]);
        assert_eq!(sizes_up_to(4_000), [1_000, 4_000]);
        assert_eq!(sizes_up_to(50), [50]);
        assert_eq!(sizes_up_to(u32::MAX).last(), Some(&u32::MAX));
    }

    #[test]
    fn crossing_is_where_the_lines_meet() {
        // 10 us a thousand vertices against 40 us whatever the size: they meet at 4000.
        let found = of(&[(1000, 10.0, 40.0), (2000, 20.0, 40.0), (8000, 80.0, 40.0)]);
        let (below, above, at) = found.vertices().expect("crosses");
        assert_eq!((below, above), (2000, 8000));
        assert!((at - 4000.0).abs() < 1e-6, "{at}");
        assert_eq!(found.always(), None);
    }

    #[test]
    fn what_goes_back_and_forth_counts_once_it_stays() {
        let found = of(&[(1, 2.0, 1.0), (2, 1.0, 2.0), (4, 2.0, 1.0)]);
        assert_eq!(found.vertices().map(|v| (v.0, v.1)), Some((2, 4)));
        let found = of(&[(1, 2.0, 1.0), (2, 1.0, 2.0)]);
        assert_eq!((found.vertices(), found.always()), (None, None));
    }

    #[test]
    fn one_may_always_be_faster() {
        assert_eq!(of(&[(1, 2.0, 1.0), (2, 4.0, 1.0)]).always(), Some("gpu"));
        let slow = of(&[(1, 2.0, 3.0)]);
        assert_eq!((slow.always(), slow.vertices()), (Some("cpu"), None));
    }
}
