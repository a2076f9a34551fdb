//! What the frames to come depend on, as bytes: a run may go on later, or elsewhere.

use super::{Buffer, Instance};
use crate::bind::BoundGraph;
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
    Processor,
    /// By an executor on a graphics device.
    Device,
}

impl StateHome {
    fn form(self) -> Form {
        let magic = match self {
            Self::Processor => *b"SNWS",
            Self::Device => *b"SNWG",
        };
        Form { magic, version: 1 }
    }

    /// Where these bytes were saved; `None` where they are no state.
    pub fn of(state: &[u8]) -> Option<Self> {
        let homes = [Self::Processor, Self::Device];
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
            Self::Processor => "the processor",
            Self::Device => "a graphics device",
        })
    }
}

/// Why a saved state was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Not a state, or of another version.
    #[error("this is not a saved state of format 1")]
    Format,
    /// The bytes were changed or cut.
    #[error("the saved state is damaged")]
    Damaged,
    /// It belongs to another graph, asset or set of parameters.
    #[error(
        "the saved state belongs to another graph, character, set of parameters or version of the program"
    )]
    Stale,
    /// What solvers remember differs from device to device.
    #[error("the state was saved on {found} and goes on there only, this run is on {expected}")]
    Elsewhere {
        /// Where it was saved.
        found: StateHome,
        /// Where it was to go on.
        expected: StateHome,
    },
    /// An array has another size than the device's.
    #[error(
        "array '{array}' of the saved state has {found} bytes, the one on the device has {expected}"
    )]
    Array {
        /// `NODE.ARRAY` or `frame N`.
        array: String,
        /// Bytes in the state; 0 where it has no such array.
        found: usize,
        /// Bytes on the device; 0 where it has no such array.
        expected: usize,
    },
    /// A node refused its part.
    #[error("node '{node}': {source}")]
    Node {
        /// Name of the node.
        node: String,
        /// Why.
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

/// State of nodes on the processor, by name of the node.
pub(super) type NodeStates = BTreeMap<String, Vec<u8>>;

/// What the frames to come of one character on a graphics device depend on, beside what comes with them. For executors on such devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceState {
    /// Whether the frame that comes next is a first one.
    pub is_first: bool,
    /// State of the steps that the host runs beside the device: [`super::HostSteps::save_state`].
    pub host: BTreeMap<String, Vec<u8>>,
    /// Arrays that live from frame to frame, by name, as bytes of the device.
    pub arrays: BTreeMap<String, Vec<u8>>,
}

impl DeviceState {
    /// As bytes that [`Self::open`] takes for the same graph, character and `kernels`: texts that know what is where in the arrays.
    pub fn seal(&self, graph: &BoundGraph, kernels: &[&str]) -> Vec<u8> {
        StateHome::Device
            .form()
            .seal(&device_key(graph, kernels), self)
    }

    /// From the bytes that [`Self::seal`] gave.
    ///
    /// # Errors
    /// [`StateError`], all but [`StateError::Node`] and [`StateError::Array`].
    pub fn open(state: &[u8], graph: &BoundGraph, kernels: &[&str]) -> Result<Self, StateError> {
        StateHome::Device.open(state, &device_key(graph, kernels))
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
    /// What the frame buffers hold that keep the frame before, in order.
    buffers: Vec<Vec<u8>>,
}

impl Instance {
    /// All that the frames to come depend on beside what comes with them: state of solvers, and the outputs of the last frame, which the
    /// next one gives as those before. Parameters are not in it. Allocates.
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
        StateHome::Processor
            .form()
            .seal(&self.graph.content_key(), &saved)
    }

    /// Brings back what [`Self::save_state`] gave, of an instance of the same graph, character and setup: the next frame is what it
    /// would have been there. Allocates.
    ///
    /// # Errors
    /// [`StateError`]; the instance is as it was then, but where a node refused its part it starts anew with the next frame.
    pub fn restore_state(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let saved: Saved = StateHome::Processor.open(bytes, &self.graph.content_key())?;
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
