//! Saved state: everything from earlier frames that later frames depend on, as bytes. You can resume a run from it.

use super::Instance;
use crate::bind::BoundGraph;
use crate::execute::Buffer;
use crate::sealed::{Broken, Form};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sinew_deform::NodeError;
use std::collections::BTreeMap;
use std::fmt;

/// Where a state was saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateHome {
    /// By an [`Instance`].
    Cpu,
    /// By a GPU executor.
    Gpu,
}

impl StateHome {
    fn form(self) -> Form {
        let magic = match self {
            Self::Cpu => *b"SNWS",
            Self::Gpu => *b"SNWG",
        };
        Form { magic, version: 1 }
    }

    /// Where these bytes were saved; `None` if they are not a saved state.
    pub fn of(state: &[u8]) -> Option<Self> {
        let homes = [Self::Cpu, Self::Gpu];
        homes
            .into_iter()
            .find(|home| state.starts_with(&home.form().magic))
    }

    /// The payload of a state that was saved here.
    fn open<T: DeserializeOwned>(self, state: &[u8], key: &[u8; 32]) -> Result<T, StateError> {
        match Self::of(state) {
            Some(found) if found != self => Err(StateError::Elsewhere {
                found,
                expected: self,
            }),
            _ => Ok(self.form().open(state, key)?),
        }
    }
}

impl fmt::Display for StateHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "the CPU",
            Self::Gpu => "the GPU",
        })
    }
}

/// Why a saved state cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The bytes are not a saved state, or have another version.
    #[error("this is not a saved state of format 1")]
    Format,
    /// The bytes were modified or truncated.
    #[error("the saved state is damaged")]
    Damaged,
    /// The state belongs to another graph, asset or set of parameters.
    #[error(
        "the saved state belongs to another graph, character, set of parameters or version of Sinew"
    )]
    Stale,
    /// The state was saved on the other device. The state of solvers differs between CPU and GPU.
    #[error(
        "the state was saved on {found} and can resume only there, but this run is on {expected}"
    )]
    Elsewhere {
        /// Where it was saved.
        found: StateHome,
        /// Where it was to be resumed.
        expected: StateHome,
    },
    /// An array of the state has another size than the array on the GPU.
    #[error("array '{array}' of the saved state has {found} bytes, but the GPU needs {expected}")]
    Array {
        /// `NODE.ARRAY` or `frame N`.
        array: String,
        /// Bytes in the state; 0 if it has no such array.
        found: usize,
        /// Bytes on the GPU; 0 if it has no such array.
        expected: usize,
    },
    /// A node refused its state.
    #[error("node '{node}': {source}")]
    Node {
        /// Name of the node.
        node: String,
        /// Why the node refused.
        source: NodeError,
    },
}

impl From<Broken> for StateError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Format => Self::Format,
            Broken::Damaged => Self::Damaged,
            Broken::Stale => Self::Stale,
        }
    }
}

/// State of nodes on the CPU, by node name.
pub(super) type NodeStates = BTreeMap<String, Vec<u8>>;

/// State of one character on the GPU: everything from earlier frames that later frames depend on. For GPU executors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceState {
    /// Whether the next frame is the first one.
    pub is_first: bool,
    /// State of the CPU steps beside the GPU: [`super::HostSteps::save_state`].
    pub host: BTreeMap<String, Vec<u8>>,
    /// GPU arrays that persist from frame to frame, by name, as bytes.
    pub arrays: BTreeMap<String, Vec<u8>>,
}

impl DeviceState {
    /// Serializes the state. [`Self::open`] accepts the bytes for the same graph, character and `kernels`. `kernels` are the texts that
    /// define the layout of the arrays.
    pub fn seal(&self, graph: &BoundGraph, kernels: &[&str]) -> Vec<u8> {
        StateHome::Gpu
            .form()
            .seal(&device_key(graph, kernels), self)
    }

    /// Reads the bytes of [`Self::seal`].
    ///
    /// # Errors
    /// [`StateError`], except [`StateError::Node`] and [`StateError::Array`].
    pub fn open(state: &[u8], graph: &BoundGraph, kernels: &[&str]) -> Result<Self, StateError> {
        StateHome::Gpu.open(state, &device_key(graph, kernels))
    }
}

fn device_key(graph: &BoundGraph, kernels: &[&str]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&graph.content_key());
    for kernel in kernels {
        hasher.update(blake3::hash(kernel.as_bytes()).as_bytes());
    }
    *hasher.finalize().as_bytes()
}

#[derive(Serialize, Deserialize)]
struct Saved {
    is_fresh: bool,
    nodes: NodeStates,
    /// Content of the frame buffers that keep the previous frame, in order.
    buffers: Vec<Vec<u8>>,
}

impl Instance {
    /// Saves everything from earlier frames that later frames depend on: the state of solvers, and the outputs of the last frame, which
    /// are the previous outputs of the next one. Parameters are not included. Allocates.
    pub fn save_state(&self) -> Vec<u8> {
        let kept = self.work.buffers.iter().zip(&self.previous);
        let kept = kept.filter(|(_, previous)| previous.is_some());
        let saved = Saved {
            is_fresh: self.work.is_fresh,
            nodes: self.work.save_state(&self.graph),
            buffers: kept
                .filter_map(|(now, _)| Some(now.array_bytes()?.to_vec()))
                .collect(),
        };
        StateHome::Cpu
            .form()
            .seal(&self.graph.content_key(), &saved)
    }

    /// Restores a state of [`Self::save_state`] from an instance of the same graph, character and setup. The next frame is then the same
    /// as in that instance. Allocates.
    ///
    /// # Errors
    /// [`StateError`]; the instance does not change then. The exception is [`StateError::Node`]: the instance restarts with the next frame.
    pub fn restore_state(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let saved: Saved = StateHome::Cpu.open(bytes, &self.graph.content_key())?;
        let mut buffers: Vec<&mut Buffer> = self
            .work
            .buffers
            .iter_mut()
            .zip(&self.previous)
            .filter_map(|(now, previous)| previous.as_ref().map(|_| now))
            .collect();
        let fits = |now: &Buffer, given: &Vec<u8>| {
            now.array_bytes().is_some_and(|b| b.len() == given.len())
        };
        let pairs = || buffers.iter().zip(&saved.buffers);
        if buffers.len() != saved.buffers.len() || !pairs().all(|(now, given)| fits(now, given)) {
            return Err(StateError::Damaged);
        }
        for (now, given) in buffers.iter_mut().zip(&saved.buffers) {
            now.copy_from_bytes(given);
        }
        self.work.is_fresh = true;
        self.work.restore_state(&self.graph, &saved.nodes)?;
        self.work.is_fresh = saved.is_fresh;
        Ok(())
    }
}
