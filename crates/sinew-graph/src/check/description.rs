//! Checks a node's description for what the binder and the executors rely on.

use super::nodes::PRESET;
use super::placed::FIT;
use sinew_deform::{
    DefaultValue, FOLLOW, MAX_PORTS, NodeDesc, ParameterDesc, ParameterType, Phase, PortDesc,
    PortType, Preset, Role,
};

/// The first fault of a description, if any. A fault is a bug in the node, not in a document.
pub(super) fn fault(desc: &NodeDesc) -> Option<String> {
    for (what, ports) in [("inputs", desc.inputs), ("outputs", desc.outputs)] {
        if ports.len() > MAX_PORTS {
            return Some(format!(
                "it has {} {what}, but at most {MAX_PORTS} are allowed",
                ports.len()
            ));
        }
    }
    let named = desc.inputs.iter().map(|p| p.name);
    let named: Vec<&str> = named
        .chain(desc.parameters.iter().map(|p| p.name))
        .collect();
    if let Some(fault) = placement_fault(desc, &named) {
        return Some(fault);
    }
    if let Some(twice) = repeated(&named) {
        return Some(format!("two inputs or parameters are called '{twice}'"));
    }
    let outputs: Vec<&str> = desc.outputs.iter().map(|p| p.name).collect();
    if let Some(twice) = repeated(&outputs) {
        return Some(format!("two outputs are called '{twice}'"));
    }
    if let Some(fault) = list_fault(desc.inputs) {
        return Some(fault);
    }
    if let Some(port) = desc.inputs.iter().find(|p| p.effect.is_some()) {
        return Some(format!(
            "its input '{}' declares an effect, which only outputs may do",
            port.name
        ));
    }
    if let Some(fault) = desc.parameters.iter().find_map(parameter_fault) {
        return Some(fault);
    }
    if let Some(fault) = preset_fault(desc, &named) {
        return Some(fault);
    }
    desc.outputs
        .iter()
        .find_map(|port| output_fault(desc, port))
}

/// The ports of a list must follow each other and have one type. All but the first must be optional.
fn list_fault(inputs: &[PortDesc]) -> Option<String> {
    let first = |(i, port): (usize, &PortDesc)| {
        let more = usize::from(port.more);
        let rest = inputs.get(i + 1..i + 1 + more);
        let fits = |p: &PortDesc| p.ty == port.ty && !p.required && p.more == 0;
        let holds = rest.is_some_and(|rest| rest.iter().all(fits));
        (!holds).then(|| {
            format!(
                "its list input '{}' must be followed by {more} optional inputs of the same type",
                port.name
            )
        })
    };
    inputs.iter().enumerate().find_map(first)
}

/// One region at most, a transform of each frame. Its keys are no names of inputs and parameters.
fn placement_fault(desc: &NodeDesc, named: &[&str]) -> Option<String> {
    let is_placement = |p: &&ParameterDesc| matches!(p.role, Role::Placement(_));
    let mut all = desc.parameters.iter().filter(is_placement);
    let first = all.next()?;
    if let Some(other) = all.next() {
        return Some(format!(
            "both '{}' and '{}' position its region",
            first.name, other.name
        ));
    }
    if first.ty != ParameterType::Transform || first.phase != Phase::Update {
        return Some(format!(
            "'{}' positions its region, but is no transform that is read in each frame",
            first.name
        ));
    }
    let taken = named
        .iter()
        .find(|name| [FOLLOW.name, FIT].contains(name))?;
    Some(format!("'{taken}' is a key of nodes with a region"))
}

fn parameter_fault(p: &ParameterDesc) -> Option<String> {
    let name = p.name;
    if p.default == DefaultValue::Required {
        return Some(format!(
            "the parameter '{name}' has no default, which only fields of records may omit"
        ));
    }
    if p.default == DefaultValue::FrameTime && p.phase != Phase::Update {
        return Some(format!(
            "the parameter '{name}' defaults to the time of the frame, but is read in setup"
        ));
    }
    if p.ty.is_setup_only() && p.phase != Phase::Setup {
        return Some(format!(
            "the parameter '{name}' is a list that is read in setup, but is declared for update"
        ));
    }
    if let ParameterType::Records(fields) = p.ty
        && let Some(fault) = fields_fault(name, fields)
    {
        return Some(fault);
    }
    default_fault(p)
}

fn fields_fault(list: &str, fields: &[ParameterDesc]) -> Option<String> {
    let names: Vec<&str> = fields.iter().map(|f| f.name).collect();
    if let Some(twice) = repeated(&names) {
        return Some(format!("two fields of '{list}' are called '{twice}'"));
    }
    let in_list = |f: &&ParameterDesc| matches!(f.ty, ParameterType::Records(_));
    if let Some(field) = fields.iter().find(in_list) {
        let name = field.name;
        return Some(format!(
            "the field '{name}' of '{list}' is itself a list of objects"
        ));
    }
    let of_frame = |f: &&ParameterDesc| f.default == DefaultValue::FrameTime;
    if let Some(field) = fields.iter().find(of_frame) {
        let name = field.name;
        return Some(format!(
            "the field '{name}' of '{list}' defaults to the time of the frame, but lists are read in setup"
        ));
    }
    let optional = |f: &&ParameterDesc| f.default != DefaultValue::Required;
    let mut optional = fields.iter().filter(optional);
    let fault = optional.find_map(default_fault)?;
    Some(format!("in '{list}', {fault}"))
}

fn default_fault(p: &ParameterDesc) -> Option<String> {
    let is_float = matches!(p.ty, ParameterType::Float { .. });
    if p.default == DefaultValue::FrameTime && !is_float {
        let name = p.name;
        return Some(format!(
            "'{name}' defaults to the time of the frame, but is not a float"
        ));
    }
    let fault = crate::value::check_value(p.ty, &p.default_value()).err();
    fault.map(|_| format!("the default of '{}' does not fit its type or range", p.name))
}

/// Presets have names of their own, and values that fit the parameters.
fn preset_fault(desc: &NodeDesc, named: &[&str]) -> Option<String> {
    let presets = desc.docs.presets;
    if !presets.is_empty() && named.contains(&PRESET) {
        return Some(format!("'{PRESET}' is a key of nodes with presets"));
    }
    let names: Vec<&str> = presets.iter().map(|p| p.name).collect();
    if let Some(twice) = repeated(&names) {
        return Some(format!("two presets are called '{twice}'"));
    }
    let fits = |preset: &Preset, name: &str| {
        let parameter = desc.parameters.iter().find(|p| p.name == name)?;
        let value = preset.value(parameter)?;
        crate::value::check_value(parameter.ty, &value).ok()
    };
    let all = presets
        .iter()
        .flat_map(|p| p.values.iter().map(move |v| (p, v.0)));
    let wrong = all
        .into_iter()
        .find(|(preset, name)| fits(preset, name).is_none());
    wrong.map(|(preset, name)| {
        format!(
            "'{name}' of preset '{}' does not fit a parameter",
            preset.name
        )
    })
}

fn repeated<'a>(names: &[&'a str]) -> Option<&'a str> {
    let is_before = |i: usize| names[..i].contains(&names[i]);
    (0..names.len()).find(|&i| is_before(i)).map(|i| names[i])
}

/// Whatever an output is derived from must be a required input.
fn output_fault(desc: &NodeDesc, port: &PortDesc) -> Option<String> {
    let name = port.name;
    let has = |ty| desc.inputs.iter().any(|i| i.required && i.ty == ty);
    match (port.ty, port.effect) {
        (PortType::Mesh, Some(effect)) => {
            let from = desc.inputs.iter().find(|i| i.name == effect.from);
            match from {
                Some(from) if from.ty == PortType::Mesh && from.required => None,
                _ => Some(format!(
                    "its mesh output '{name}' is derived from '{}', which is not a required mesh input",
                    effect.from
                )),
            }
        }
        (PortType::Mesh, None) => Some(format!("its mesh output '{name}' declares no effect")),
        (_, Some(_)) => Some(format!(
            "its output '{name}' declares an effect, but is not a mesh"
        )),
        (PortType::Mask, None) if !has(PortType::Mesh) => Some(format!(
            "its mask output '{name}' needs a required mesh input"
        )),
        (PortType::Pose, None) if !has(PortType::Pose) => Some(format!(
            "its pose output '{name}' needs a required pose input"
        )),
        (PortType::VertexAnimation, None) => Some(format!(
            "its output '{name}' is a vertex animation, which only inputs of a graph can give"
        )),
        (
            PortType::Mask
            | PortType::Pose
            | PortType::Values
            | PortType::Lines
            | PortType::Field
            | PortType::Buffer(_),
            None,
        ) => None,
    }
}
