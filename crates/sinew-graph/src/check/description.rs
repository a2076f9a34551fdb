//! Whether a node's description holds together: what the binder and the executors take for granted.

use sinew_deform::{MAX_PORTS, NodeDesc, PortDesc, PortType};

/// What is wrong with it, if anything: a bug in the node, not in a document.
pub(super) fn fault(desc: &NodeDesc) -> Option<String> {
    for (what, ports) in [("inputs", desc.inputs), ("outputs", desc.outputs)] {
        if ports.len() > MAX_PORTS {
            return Some(format!(
                "{} {what}, at most {MAX_PORTS} can be",
                ports.len()
            ));
        }
    }
    let named = desc.inputs.iter().map(|p| p.name);
    let named: Vec<&str> = named
        .chain(desc.parameters.iter().map(|p| p.name))
        .collect();
    if let Some(twice) = repeated(&named) {
        return Some(format!("two inputs or parameters are called '{twice}'"));
    }
    let outputs: Vec<&str> = desc.outputs.iter().map(|p| p.name).collect();
    if let Some(twice) = repeated(&outputs) {
        return Some(format!("two outputs are called '{twice}'"));
    }
    if let Some(port) = desc.inputs.iter().find(|p| p.effect.is_some()) {
        return Some(format!("its input '{}' has an effect", port.name));
    }
    if let Some(p) = desc.parameters.iter().find(|p| {
        let default = p.default_value();
        crate::value::check_value(p.ty, &default).is_err()
    }) {
        return Some(format!("the default of '{}' is none of its values", p.name));
    }
    desc.outputs
        .iter()
        .find_map(|port| output_fault(desc, port))
}

fn repeated<'a>(names: &[&'a str]) -> Option<&'a str> {
    let is_before = |i: usize| names[..i].contains(&names[i]);
    (0..names.len()).find(|&i| is_before(i)).map(|i| names[i])
}

/// What an output is made of must be there whenever the node is.
fn output_fault(desc: &NodeDesc, port: &PortDesc) -> Option<String> {
    let name = port.name;
    let has = |ty| desc.inputs.iter().any(|i| i.required && i.ty == ty);
    match (port.ty, port.effect) {
        (PortType::Mesh, Some(effect)) => {
            let from = desc.inputs.iter().find(|i| i.name == effect.from);
            match from {
                Some(from) if from.ty == PortType::Mesh && from.required => None,
                _ => Some(format!(
                    "its output '{name}' is made of '{}', which is no mesh input that must be linked",
                    effect.from
                )),
            }
        }
        (PortType::Mesh, None) => Some(format!("its mesh output '{name}' has no effect")),
        (_, Some(_)) => Some(format!("its output '{name}' has an effect, but is no mesh")),
        (PortType::Mask, None) if !has(PortType::Mesh) => Some(format!(
            "its mask output '{name}' needs a mesh input that must be linked"
        )),
        (PortType::Pose, None) if !has(PortType::Pose) => Some(format!(
            "its pose output '{name}' needs a pose input that must be linked"
        )),
        (
            PortType::Mask
            | PortType::Pose
            | PortType::Values
            | PortType::Lines
            | PortType::Buffer(_),
            None,
        ) => None,
    }
}
