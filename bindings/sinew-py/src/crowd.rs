//! `Crowd`: many instances of one graph in one batch.

use crate::character::CharacterLike;
use crate::device::Device;
use crate::errors::{self, usage};
use crate::from_arrays::settings;
use crate::graph::GraphLike;
use crate::output::stacked;
use crate::player::{self, Given};
use crate::posing::{Joints, Matrices, Names, Space, numbers};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;
use rayon::prelude::*;
use sinew::deform::Par;
use sinew::geom::Pose;
use sinew::graph::{BoundGraph, Frame, InputBinding, Instance};
use sinew::play::{Document, PlayError, RunError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Many instances.
#[pyclass(frozen, module = "sinew_deform")]
pub(crate) struct Crowd {
    state: Mutex<State>,
    graph: Arc<BoundGraph>,
    character: Arc<sinew::play::Character>,
    /// Pose inputs of the graph.
    pose_inputs: Vec<usize>,
    clip: Option<String>,
    fps: f64,
    count: usize,
    device: Device,
}

struct State {
    members: Members,
    poses: Vec<Pose>,
    /// Time of the last frame of each.
    times: Vec<Option<f64>>,
    joints: Joints,
}

enum Members {
    Cpu(Vec<Instance>),
    #[cfg(feature = "gpu")]
    Gpu(Box<sinew::gpu::GpuInstances>),
}

impl Members {
    fn make(graph: &Arc<BoundGraph>, count: usize, device: Device) -> Result<Self, PlayError> {
        match device {
            #[cfg(feature = "gpu")]
            Device::Gpu => {
                let shared = sinew::gpu::GpuGraph::new(&crate::device::gpu()?, graph)?;
                Ok(Self::Gpu(Box::new(shared.instances(count)?)))
            }
            _ => Ok(Self::Cpu((0..count).map(|_| graph.instance()).collect())),
        }
    }

    fn update(&mut self, frames: &[Frame<'_>]) -> Result<(), RunError> {
        match self {
            Self::Cpu(all) => {
                let pairs = all.par_iter_mut().zip(frames);
                pairs.try_for_each(|(instance, frame)| instance.update(frame, Par::Seq))?;
                Ok(())
            }
            #[cfg(feature = "gpu")]
            Self::Gpu(all) => {
                all.update(frames)?;
                Ok(())
            }
        }
    }

    /// Positions of an output of all instances, one after another.
    fn positions(&mut self, name: &str, count: usize) -> Result<Option<Vec<f32>>, PlayError> {
        let mut out = Vec::new();
        for index in 0..count {
            match self {
                Self::Cpu(all) => match all[index].mesh_output(name) {
                    Some(mesh) => out.extend_from_slice(mesh.positions.as_flattened()),
                    None => return Ok(None),
                },
                #[cfg(feature = "gpu")]
                Self::Gpu(all) => match all.read_mesh(name, index)? {
                    Some(mesh) => out.extend_from_slice(mesh.positions.as_flattened()),
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(out))
    }
}

impl Crowd {
    fn lock<'a>(&'a self, py: Python<'_>) -> MutexGuard<'a, State> {
        let locked = self.state.lock_py_attached(py);
        locked.unwrap_or_else(PoisonError::into_inner)
    }

    /// Poses all instances, then evaluates them in one batch.
    fn evaluate(
        &self,
        py: Python<'_>,
        numbers: &[i64],
        given: impl Fn(&Joints, usize, &mut Pose) + Sync,
    ) -> PyResult<()> {
        let done = py.detach(|| {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let State {
                members,
                poses,
                times,
                joints,
            } = &mut *state;
            let asset = &self.character.asset;
            let clip = self
                .clip
                .as_deref()
                .and_then(|name| asset.find_clip(Some(name)));
            let now: Vec<f64> = numbers.iter().map(|n| *n as f64 / self.fps).collect();
            poses.par_iter_mut().enumerate().for_each(|(i, pose)| {
                asset.rig.evaluate(clip, now[i], pose);
                given(joints, i, pose);
            });
            let posed: Vec<Vec<(usize, &Pose)>> = poses
                .iter()
                .map(|pose| {
                    self.pose_inputs
                        .iter()
                        .map(|input| (*input, pose))
                        .collect()
                })
                .collect();
            let frame = |i: usize| {
                let since = times[i].map_or(0.0, |before| now[i] - before);
                Frame::at(now[i]).dt(since).pose(&poses[i]).poses(&posed[i])
            };
            let frames: Vec<Frame<'_>> = (0..self.count).map(frame).collect();
            members.update(&frames)?;
            *times = now.into_iter().map(Some).collect();
            Ok(())
        });
        let frame = numbers.first().copied().unwrap_or(0);
        done.map_err(|source| errors::play(py, &PlayError::Update { frame, source }))
    }
}

/// One frame number for all, or one for each.
#[derive(FromPyObject)]
pub(crate) enum Numbers {
    One(i64),
    Each(Vec<i64>),
}

#[pymethods]
impl Crowd {
    #[new]
    #[pyo3(signature = (character, graph=None, count=1, *, clip=None, fps=30.0, device="gpu", set=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        py: Python<'_>,
        character: CharacterLike,
        graph: Option<GraphLike>,
        count: usize,
        clip: Option<&str>,
        fps: f64,
        device: &str,
        set: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let device = Device::parse(py, device)?;
        #[cfg(not(feature = "gpu"))]
        if device == Device::Gpu {
            return Err(crate::device::without_gpu(py));
        }
        if count == 0 || !(fps.is_finite() && fps > 0.0) {
            let message = format!("found count={count} and fps={fps}, expected numbers above 0");
            return Err(usage(py, "crowd", message));
        }
        let inner = character.load(py)?.get().inner.clone();
        let document = match graph {
            Some(graph) => graph.load(py)?.get().document.clone(),
            None => Document::of_character(&inner),
        };
        let clip = inner
            .find_clip_name(clip)
            .map_err(|e| errors::play(py, &e))?;
        let given = Given {
            set: settings(set)?,
            ..Given::default()
        };
        let bound = player::bind(py, &inner, &document, &given)?;
        check_inputs(py, &bound)?;
        let bindings = bound.inputs.bindings().iter().enumerate();
        let poses = bindings.filter(|(_, b)| matches!(b, InputBinding::Pose(_)));
        let pose_inputs = poses.map(|(i, _)| i).collect();
        let graph = bound.graph;
        let members = py.detach(|| Members::make(&graph, count, device));
        let state = State {
            members: members.map_err(|e| errors::play(py, &e))?,
            poses: vec![inner.asset.rig.rest_pose(); count],
            times: vec![None; count],
            joints: Joints::default(),
        };
        Ok(Self {
            state: Mutex::new(state),
            graph,
            character: inner,
            pose_inputs,
            clip,
            fps,
            count,
            device,
        })
    }

    fn advance(&self, py: Python<'_>, numbers: Numbers) -> PyResult<()> {
        let numbers = match numbers {
            Numbers::One(number) => vec![number; self.count],
            Numbers::Each(each) if each.len() == self.count => each,
            Numbers::Each(each) => {
                let message = format!(
                    "found {} frame numbers, expected {}",
                    each.len(),
                    self.count
                );
                return Err(usage(py, "crowd", message));
            }
        };
        self.evaluate(py, &numbers, |_, _, _| {})
    }

    #[pyo3(signature = (frame, matrices, joints=None, space="scene"))]
    fn advance_posed(
        &self,
        py: Python<'_>,
        frame: i64,
        matrices: Matrices<'_>,
        joints: Option<Names>,
        space: &str,
    ) -> PyResult<()> {
        let space = Space::parse(py, space)?;
        let rig = &self.character.asset.rig;
        let of_one = {
            let mut state = self.lock(py);
            state.joints.find(py, rig, joints.map(Names::list))?;
            state.joints.count()
        };
        let all = numbers(py, &matrices, &[self.count, of_one, 4, 4])?;
        let set = |joints: &Joints, i: usize, pose: &mut Pose| {
            joints.set(
                rig,
                &all[i * of_one * 16..(i + 1) * of_one * 16],
                space,
                pose,
            );
        };
        self.evaluate(py, &vec![frame; self.count], set)
    }

    #[pyo3(signature = (output, out=None))]
    fn positions<'py>(
        &self,
        py: Python<'py>,
        output: &str,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let read = py.detach(|| {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            match state.times[0] {
                Some(_) => state.members.positions(output, self.count).map(Some),
                None => Ok(None),
            }
        });
        let read = read.map_err(|e| errors::play(py, &e))?;
        let Some(read) = read else {
            let message = "no frame has been evaluated yet; call advance first";
            return Err(usage(py, "no_frame", message));
        };
        let Some(all) = read else {
            let known = self.outputs().join(", ");
            let message = format!("the graph has no mesh output '{output}'; outputs: {known}");
            return Err(usage(py, "no_output", message));
        };
        let vertices = all.len() / 3 / self.count;
        stacked(py, &all, [self.count, vertices, 3], out)
    }

    #[getter]
    fn count(&self) -> usize {
        self.count
    }

    #[getter]
    fn outputs(&self) -> Vec<String> {
        let outputs = self.graph.plan().outputs().iter();
        outputs.map(|o| o.name.clone()).collect()
    }

    #[getter(device)]
    fn device_name(&self) -> &'static str {
        self.device.as_str()
    }

    fn __repr__(&self) -> String {
        format!(
            "<Crowd of {} on the {}>",
            self.count,
            self.device.as_str().to_uppercase()
        )
    }
}

/// All inputs must be of the one character, and posed.
fn check_inputs(py: Python<'_>, bound: &player::BoundPlayer) -> PyResult<()> {
    use sinew::graph::InputType;
    let plan = bound.graph.plan();
    let values = plan.inputs().iter().find(|i| i.ty == InputType::Values);
    let what = match values {
        Some(input) => Some(format!("input '{}' takes values", input.name)),
        None if bound.inputs.has_point_caches() => Some("an input has a point cache".to_owned()),
        None if !bound.inputs.loaded().is_empty() => {
            Some("inputs take other characters".to_owned())
        }
        None => None,
    };
    match what {
        None => Ok(()),
        Some(what) => {
            let message =
                format!("{what}, which a Crowd does not animate; use one Player per instance");
            Err(usage(py, "crowd", message))
        }
    }
}
