//! `Player`: a character and a graph, frame by frame.

use crate::character::{Character, CharacterLike};
use crate::device::Device;
use crate::errors;
use crate::from_arrays::settings;
use crate::graph::{self, Graph, GraphLike};
use crate::output::Output;
use crate::posing::{Joints, Matrices, Names, Space, numbers};
use crate::wait::interruptible;
use numpy::{AllowTypeChange, PyArrayLikeDyn};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;
use sinew::geom::{Pose, Rig};
use sinew::graph::{BindOptions, BoundGraph, Plan, SetupWatch};
use sinew::io::ValueTable;
use sinew::play::{
    Document, InputFiles, Output as Copied, PlayError, PlayInputs, PointCacheFile, Runner, Values,
    parse_settings,
};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Plays a graph on a character.
#[pyclass(frozen, module = "sinew_deform")]
pub(crate) struct Player {
    state: Mutex<State>,
    pub(crate) graph: Arc<BoundGraph>,
    character: Py<Character>,
    document: Py<Graph>,
    device: Device,
}

/// Positions of any number type, (n, 3).
type Points<'py> = PyArrayLikeDyn<'py, f32, AllowTypeChange>;

/// What changes.
pub(crate) struct State {
    pub(crate) player: sinew::play::Player,
    joints: Joints,
    pose: Pose,
    /// Outputs of the last frame that were read back from the GPU.
    pub(crate) copied: Option<Vec<(String, Copied)>>,
}

/// A bound graph with the data of its inputs.
pub(crate) struct BoundPlayer {
    pub(crate) graph: Arc<BoundGraph>,
    pub(crate) inputs: PlayInputs,
    pub(crate) values: Vec<Values>,
}

/// What to bind besides character and document.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) set: Vec<(String, String)>,
    pub(crate) values: Vec<(String, ValueTable)>,
    pub(crate) inputs: Vec<(String, PathBuf)>,
    pub(crate) point_caches: Vec<PointCacheFile>,
    pub(crate) only: Vec<String>,
    pub(crate) positions_only: bool,
}

/// Compiles and binds; Ctrl-C stops it.
pub(crate) fn bind(
    py: Python<'_>,
    character: &Arc<sinew::play::Character>,
    document: &Document,
    given: &Given,
) -> PyResult<BoundPlayer> {
    let mut plan = graph::compile(py, document)?;
    if !given.only.is_empty() {
        let names: Vec<&str> = given.only.iter().map(String::as_str).collect();
        let kept = plan.keep_outputs(&names);
        kept.map_err(|e| errors::usage(py, "no_output", e))?;
    }
    let plan = Arc::new(plan);
    let stop = AtomicBool::new(false);
    let work = || bind_plan(character, document, given, &plan, &stop);
    let bound = interruptible(py, &stop, work, |_| Ok(()))?;
    bound.map_err(|e| errors::play(py, &e))
}

fn bind_plan(
    character: &Arc<sinew::play::Character>,
    document: &Document,
    given: &Given,
    plan: &Arc<Plan>,
    stop: &AtomicBool,
) -> Result<BoundPlayer, PlayError> {
    let mut files = InputFiles::default();
    files.files = &given.inputs;
    files.point_caches = &given.point_caches;
    let inputs = PlayInputs::load_with(character.clone(), plan, &document.folders, &files)?;
    let texts = given
        .set
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    let parameters = parse_settings(plan, &texts.collect::<Vec<_>>())?;
    let is_stopped = || stop.load(Ordering::Relaxed);
    let mut options = BindOptions::from(sinew::deform::Par::Rayon);
    options.positions_only = given.positions_only;
    options.watch = SetupWatch::new(&|_| {}, &is_stopped);
    let graph = inputs.bind_with(plan, &parameters, options)?;
    let mut values = Vec::new();
    for (name, table) in &given.values {
        let last = i64::try_from(table.rows().saturating_sub(1)).unwrap_or(i64::MAX);
        let origin = format!("values['{name}']");
        values.push(Values::of_table(plan, name, table.clone(), &origin, last)?);
    }
    Ok(BoundPlayer {
        graph,
        inputs,
        values,
    })
}

/// Tables of arrays with one or two axes.
pub(crate) fn tables(
    py: Python<'_>,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<(String, ValueTable)>> {
    let mut out = Vec::new();
    for (name, array) in given.into_iter().flat_map(|d| d.iter()) {
        let name: String = name.extract()?;
        let array: Points<'_> = array.extract()?;
        let shape = array.as_array().shape().to_vec();
        let values: Vec<f32> = array.as_array().iter().copied().collect();
        let (columns, is_list) = match shape[..] {
            [] | [_] => (values.len(), true),
            [_, columns] => (columns, false),
            _ => {
                let expected = "a list, or one row per frame";
                let message = format!(
                    "values['{name}']: found an array of shape {shape:?}, expected {expected}"
                );
                return Err(errors::usage(py, "values", message));
            }
        };
        out.push((
            name,
            ValueTable {
                values,
                columns,
                is_list,
            },
        ));
    }
    Ok(out)
}

/// Runs on the CPU or the GPU.
fn runner(py: Python<'_>, graph: &Arc<BoundGraph>, device: Device) -> PyResult<Runner> {
    match device {
        Device::Cpu => Ok(Runner::cpu(graph)),
        #[cfg(feature = "gpu")]
        Device::Gpu => {
            let made = py.detach(|| Runner::gpu(&crate::device::gpu()?, graph));
            made.map_err(|e| errors::play(py, &e))
        }
        #[cfg(not(feature = "gpu"))]
        Device::Gpu => Err(crate::device::without_gpu(py)),
    }
}

impl Player {
    /// Waits for other threads without the interpreter lock.
    pub(crate) fn lock<'a>(&'a self, py: Python<'_>) -> MutexGuard<'a, State> {
        let locked = self.state.lock_py_attached(py);
        locked.unwrap_or_else(PoisonError::into_inner)
    }

    /// Works without the interpreter lock.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut State) -> Result<T, PlayError> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.copied = None;
            work(&mut state)
        });
        done.map_err(|e| errors::play(py, &e))
    }

    /// Reads back the outputs of the GPU, once per frame.
    pub(crate) fn copied<'a>(&'a self, py: Python<'_>) -> PyResult<MutexGuard<'a, State>> {
        let read = py.detach(|| {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.copied.is_none() && state.player.frame().is_some() {
                state.copied = Some(state.player.read_outputs()?);
            }
            Ok(())
        });
        read.map_err(|e| errors::play(py, &e))?;
        Ok(self.lock(py))
    }

    pub(crate) fn rig(&self) -> &Rig {
        &self.character.get().inner.asset.rig
    }

    pub(crate) fn device(&self) -> Device {
        self.device
    }
}

#[pymethods]
impl Player {
    #[new]
    #[pyo3(signature = (character, graph=None, *, clip=None, fps=30.0, device="cpu", set=None, values=None, inputs=None, point_caches=None, only=None, normals=true, trust=false, profile=false))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        py: Python<'_>,
        character: CharacterLike,
        graph: Option<GraphLike>,
        clip: Option<&str>,
        fps: f64,
        device: &str,
        set: Option<&Bound<'_, PyDict>>,
        values: Option<&Bound<'_, PyDict>>,
        inputs: Option<BTreeMap<String, PathBuf>>,
        point_caches: Option<&Bound<'_, PyAny>>,
        only: Option<Vec<String>>,
        normals: bool,
        trust: bool,
        profile: bool,
    ) -> PyResult<Self> {
        let device = Device::parse(py, device)?;
        let character = character.load(py)?;
        let inner = character.get().inner.clone();
        let graph = match graph {
            Some(graph) => graph.load(py)?,
            None => {
                let document = Document::of_character(&inner);
                Py::new(py, Graph { document })?
            }
        };
        let mut document = graph.get().document.clone();
        document.trusted |= trust;
        let given = Given {
            set: settings(set)?,
            values: tables(py, values)?,
            inputs: inputs.into_iter().flatten().collect(),
            point_caches: caches(point_caches)?,
            only: only.unwrap_or_default(),
            positions_only: !normals,
        };
        let bound = bind(py, &inner, &document, &given)?;
        let runner = runner(py, &bound.graph, device)?;
        let made = sinew::play::Player::new(runner, bound.inputs, bound.values, clip, fps);
        let made = made.and_then(|mut player| {
            player.set_profile(profile)?;
            Ok(player)
        });
        let state = State {
            player: made.map_err(|e| errors::play(py, &e))?,
            joints: Joints::default(),
            pose: inner.asset.rig.rest_pose(),
            copied: None,
        };
        Ok(Self {
            state: Mutex::new(state),
            graph: bound.graph,
            character,
            document: graph,
            device,
        })
    }

    fn advance(&self, py: Python<'_>, frame: i64) -> PyResult<()> {
        self.work(py, |state| state.player.advance(frame))
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
        let character = &self.character.get().inner;
        let rig = &character.asset.rig;
        let count = {
            let mut state = self.lock(py);
            state.joints.find(py, rig, joints.map(Names::list))?;
            state.joints.count()
        };
        let numbers = numbers(py, &matrices, &[count, 4, 4])?;
        self.work(py, |state| {
            let clip = character.asset.find_clip(state.player.clip());
            let clip = clip.filter(|_| state.player.clip().is_some());
            rig.evaluate(clip, state.player.time_secs(frame), &mut state.pose);
            state.joints.set(rig, &numbers, space, &mut state.pose);
            state.player.advance_posed(frame, &state.pose)
        })
    }

    fn seek(&self, py: Python<'_>, frame: i64) -> PyResult<()> {
        let mut signal = None;
        let done = self.work(py, |state| {
            let done = state.player.seek(frame, |_| {
                Python::attach(|py| py.check_signals()).map_err(Stopped::Signal)
            });
            match done {
                Ok(()) => Ok(()),
                Err(Stopped::Play(error)) => Err(error),
                Err(Stopped::Signal(error)) => {
                    signal = Some(error);
                    Ok(())
                }
            }
        });
        match signal {
            Some(error) => Err(error),
            None => done,
        }
    }

    #[pyo3(signature = (**values))]
    fn set(&self, py: Python<'_>, values: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let texts = settings(values)?;
        let plan = self.graph.plan();
        let texts: Vec<(&str, &str)> = texts
            .iter()
            .map(|(n, t)| (n.as_str(), t.as_str()))
            .collect();
        let parsed = parse_settings(plan, &texts).map_err(|e| errors::play(py, &e))?;
        let set = py.detach(|| {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let runner = state.player.runner_mut();
            parsed
                .iter()
                .try_for_each(|(name, value)| set_one(runner, name, value))
        });
        set.map_err(|message| errors::usage(py, "setting", message))
    }

    #[pyo3(signature = (name=None))]
    fn set_clip(&self, py: Python<'_>, name: Option<&str>) -> PyResult<()> {
        // The empty name is the rest pose.
        self.work(py, |state| state.player.set_clip(Some(name.unwrap_or(""))))
    }

    fn set_expression(&self, py: Python<'_>, name: &str, weight: f32) -> PyResult<()> {
        self.work(py, |state| state.player.set_expression(name, weight))
    }

    fn set_positions(
        &self,
        py: Python<'_>,
        input: &str,
        positions: Option<Points<'_>>,
    ) -> PyResult<()> {
        let Some(positions) = positions else {
            return self.work(py, |state| state.player.clear_positions(input));
        };
        let array = positions.as_array();
        let &[_, 3] = array.shape() else {
            let found = array.shape();
            let message = format!(
                "positions: found an array of shape {found:?}, expected one row of 3 numbers for each vertex"
            );
            return Err(errors::usage(py, "positions", message));
        };
        let rows = array.as_standard_layout();
        let (rows, _) = rows.as_slice().unwrap_or_default().as_chunks();
        self.work(py, |state| state.player.set_positions(input, rows))
    }

    fn set_values(&self, py: Python<'_>, input: &str, values: Vec<f32>) -> PyResult<()> {
        let set = self.work(py, |state| Ok(state.player.set_values(input, &values)))?;
        set.map_err(|e| errors::usage(py, "values", e))
    }

    fn restart(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, |state| {
            state.player.restart();
            Ok(())
        })
    }

    fn save_state(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        self.work(py, |state| state.player.save_state())
    }

    fn restore_state(&self, py: Python<'_>, state: &[u8]) -> PyResult<i64> {
        self.work(py, |own| own.player.restore_state(state))
    }

    #[getter]
    fn profile(&self, py: Python<'_>) -> bool {
        self.lock(py).player.is_profiled()
    }

    #[setter]
    fn set_profile(&self, py: Python<'_>, on: bool) -> PyResult<()> {
        self.work(py, |state| state.player.set_profile(on))
    }

    fn node_times(&self, py: Python<'_>) -> PyResult<Vec<(String, f64)>> {
        let state = self.lock(py);
        if !state.player.is_profiled() {
            let message = "frames are not timed; set `profile` to True before the frame";
            return Err(errors::usage(py, "no_profile", message));
        }
        Ok(state.player.node_times().to_vec())
    }

    #[getter]
    fn frame(&self, py: Python<'_>) -> Option<i64> {
        self.lock(py).player.frame()
    }

    #[getter]
    fn clip(&self, py: Python<'_>) -> Option<String> {
        let state = self.lock(py);
        state
            .player
            .clip()
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
    }

    #[getter]
    fn fps(&self, py: Python<'_>) -> f64 {
        self.lock(py).player.fps()
    }

    #[getter(device)]
    fn device_name(&self) -> &'static str {
        self.device.as_str()
    }

    #[getter]
    fn outputs(&self) -> Vec<String> {
        let outputs = self.graph.plan().outputs().iter();
        outputs.map(|o| o.name.clone()).collect()
    }

    #[getter]
    fn character(&self, py: Python<'_>) -> Py<Character> {
        self.character.clone_ref(py)
    }

    #[getter]
    fn graph(&self, py: Python<'_>) -> Py<Graph> {
        self.document.clone_ref(py)
    }

    fn __getitem__(slf: &Bound<'_, Self>, name: &str) -> PyResult<Output> {
        Output::find(slf, name)
    }

    fn __repr__(&self) -> String {
        format!(
            "<Player on the {} with outputs {:?}>",
            self.device.as_str().to_uppercase(),
            self.outputs()
        )
    }
}

/// Sets a parameter of the only character.
fn set_one(
    runner: &mut Runner,
    name: &str,
    value: &sinew::deform::ParameterValue,
) -> Result<(), String> {
    match runner {
        Runner::Cpu(instance) => {
            let set = instance.set_parameter(name, value);
            set.map_err(|e| e.to_string())
        }
        #[cfg(feature = "gpu")]
        Runner::Gpu(instances) => {
            let set = instances.set_parameter(0, name, value);
            set.map_err(|e| e.to_string())
        }
        _ => Err("this runner has no parameters".to_owned()),
    }
}

enum Stopped {
    Play(PlayError),
    Signal(PyErr),
}

impl From<PlayError> for Stopped {
    fn from(error: PlayError) -> Self {
        Self::Play(error)
    }
}

/// A path, or a dictionary of paths by input.
fn caches(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<PointCacheFile>> {
    let Some(given) = given else {
        return Ok(Vec::new());
    };
    if let Ok(path) = given.extract::<PathBuf>() {
        return Ok(vec![PointCacheFile::new(None, path)]);
    }
    let by_input: BTreeMap<String, PathBuf> = given.extract()?;
    let named = by_input.into_iter();
    Ok(named
        .map(|(input, path)| PointCacheFile::new(Some(input), path))
        .collect())
}
