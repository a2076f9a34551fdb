//! What the frames to come depend on, as bytes: a run may go on later, or elsewhere.

use super::{Buffer, Instance};
use crate::sealed::{Broken, Form};
use serde::{Deserialize, Serialize};
use sinew_deform::NodeError;
use std::collections::BTreeMap;

const FORM: Form = Form {
    magic: *b"SNWS",
    version: 1,
};

/// Why a saved state was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Not a state, or of another version.
    #[error("this is not a saved state of format {}", FORM.version)]
    Format,
    /// The bytes were changed or cut.
    #[error("the saved state is damaged")]
    Damaged,
    /// It belongs to another graph, asset or set of parameters.
    #[error("the saved state belongs to another graph, character or set of parameters")]
    Stale,
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

#[derive(Serialize, Deserialize)]
struct Saved {
    is_fresh: bool,
    /// By name of the node.
    nodes: BTreeMap<String, Vec<u8>>,
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
        FORM.seal(&self.graph.content_key(), &saved)
    }

    /// Brings back what [`Self::save_state`] gave, of an instance of the same graph, character and setup: the next frame is what it
    /// would have been there. Allocates.
    ///
    /// # Errors
    /// [`StateError`]; the instance is as it was then, but where a node refused its part it starts anew with the next frame.
    pub fn restore_state(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let saved: Saved = FORM.open(bytes, &self.graph.content_key())?;
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
