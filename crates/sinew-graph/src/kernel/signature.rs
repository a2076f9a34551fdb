//! Descriptions of nodes that documents declare.
//!
//! The registry's descriptions and their names are static: ports and parameters are compared by reference, errors
//! carry their names, and no frame clones a name. Declarations of documents join them: each *signature* (names and types of pins and
//! parameters, not the kernel's text) is kept once for the life of the process, even if a document is compiled many times. The memory
//! for signatures is limited, because a service may compile many untrusted documents.

use sinew_deform::{
    BindContext, BoundNode, NodeDesc, NodeDocs, NodeError, NodeKind, ParameterDesc, PortDesc,
};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// Limit of kept names and signatures in bytes: some ten thousand different signatures.
pub(crate) const MOST_KEPT: usize = 16 << 20;

static KEPT: Mutex<Option<Kept>> = Mutex::new(None);

#[derive(Default)]
struct Kept {
    names: HashSet<&'static str>,
    descriptions: HashMap<String, &'static NodeDesc>,
    bytes: usize,
}

impl Kept {
    fn room(&mut self, bytes: usize) -> Option<()> {
        let sum = self.bytes.checked_add(bytes).filter(|s| *s <= MOST_KEPT)?;
        self.bytes = sum;
        Some(())
    }

    fn name(&mut self, name: &str) -> Option<&'static str> {
        if let Some(known) = self.names.get(name) {
            return Some(known);
        }
        self.room(name.len() + 32)?;
        let kept: &'static str = Box::leak(name.into());
        self.names.insert(kept);
        Some(kept)
    }
}

fn with<T>(use_it: impl FnOnce(&mut Kept) -> Option<T>) -> Option<T> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    use_it(kept.get_or_insert_default())
}

/// The name for the life of the process; `None` where [`MOST_KEPT`] is reached.
pub(crate) fn name(name: &str) -> Option<&'static str> {
    with(|kept| kept.name(name))
}

/// The description of a kernel with these pins and parameters; `None` where [`MOST_KEPT`] is reached.
pub(crate) fn description(
    inputs: &[PortDesc],
    outputs: &[PortDesc],
    parameters: &[ParameterDesc],
    kind: NodeKind,
) -> Option<&'static NodeDesc> {
    let signature = format!("{inputs:?}{outputs:?}{parameters:?}{kind:?}");
    with(|kept| {
        if let Some(known) = kept.descriptions.get(&signature) {
            return Some(*known);
        }
        kept.room(2 * signature.len() + size_of::<NodeDesc>())?;
        let description: &'static NodeDesc = Box::leak(Box::new(NodeDesc {
            name: "kernel",
            kind,
            summary: super::SUMMARY,
            docs: NodeDocs::NONE,
            rows: &[27, 28, 29, 32, 35],
            inputs: Box::leak(inputs.into()),
            outputs: Box::leak(outputs.into()),
            parameters: Box::leak(parameters.into()),
            bind: without_text,
            restore: None,
        }));
        kept.descriptions.insert(signature, description);
        Some(description)
    })
}

/// Kernels are bound by their text, which a description does not have.
fn without_text(_: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    Err(NodeError::Bind(
        "the description of a custom kernel was bound without its text; bind the plan that holds it"
            .into(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_deform::PortType;

    #[test]
    fn one_signature_is_kept_once() {
        let port = |n: &str| PortDesc::input(name(n).expect("room"), PortType::Mesh, "");
        let first =
            description(&[port("signature_test")], &[], &[], NodeKind::Kernel).expect("room");
        let again = description(
            &[port(&String::from("signature_test"))],
            &[],
            &[],
            NodeKind::Kernel,
        )
        .expect("room");
        assert!(std::ptr::eq(first, again));
        let other =
            description(&[port("signature_test_2")], &[], &[], NodeKind::Kernel).expect("room");
        assert!(!std::ptr::eq(first, other));
    }

    #[test]
    fn what_is_kept_is_limited() {
        let mut kept = Kept::default();
        let long = "x".repeat(1 << 20);
        let given = (0..64).map(|i| kept.name(&format!("{long}{i}")));
        assert!(given.collect::<Vec<_>>().contains(&None));
        assert!(kept.bytes <= MOST_KEPT);
    }
}
