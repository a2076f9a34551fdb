//! The nodes as data, for programs that generate bindings, panels and documentation.

use crate::check::{FIT_DOC, VERSION};
use crate::linked::can_follow;
use crate::plan::{InputDecl, InputType, OutputDecl, ParameterDecl, Plan};
use crate::schema::default_json;
use serde_json::{Map, Value, json};
use sinew_deform::{
    Choice, FOLLOW, NodeDesc, ParameterDesc, ParameterType, ParameterValue, Phase, PortDesc,
    Preset, REGISTRY,
};
use sinew_geom::Affine;

/// All nodes with their ports, parameters, ranges, units, defaults and descriptions.
///
/// ```json
/// { "sinew": "1.0", "nodes": [{ "name": "bend", "kind": "deformer", "summary": "...",
///   "inputs": [{ "name": "mesh", "type": "mesh", "required": true, "doc": "..." }],
///   "outputs": [...],
///   "parameters": [{ "name": "angle", "type": "float", "min": -10, "max": 10, "default": 0, "unit": "rad", "setup": false, "doc": "..." }],
///   "presets": [{ "name": "...", "doc": "...", "values": { ... } }] }] }
/// ```
///
/// | key | holds |
/// |---|---|
/// | `type` of a parameter | `bool`, `int`, `float`, `choice`, `text`, `vec3`, `vec4`, `int3`, `transform`, `floats`, `points`, `texts`, `transforms`, `records` |
/// | `min`, `max` | closed range; absent if there is no limit |
/// | `default` | absent if the document must give a value, or if it is the time of the frame |
/// | `unit` | `m`, `rad`, `s` or absent; angles have a second key, `NAME_degrees` |
/// | `setup` | whether only setup reads it; others can change in each frame |
/// | `follows` | what the value can be linked to, if anything |
/// | `choices` | words of a choice, with descriptions |
/// | `fields` | parameters of each object in a list of `records` |
/// | `links` of an input | how many links it takes, if more than one |
pub fn node_list() -> Value {
    let nodes: Vec<Value> = REGISTRY.iter().map(|d| node(d)).collect();
    json!({ "sinew": VERSION, "nodes": nodes })
}

impl Plan {
    /// Inputs, parameters and outputs of the graph, for programs that show or bind them.
    ///
    /// `inputs` and `outputs` are lists of `name` and `type`; inputs of type `values` also have `count`. Entries of `parameters` are as those
    /// of a node in [`node_list`].
    pub fn interface(&self) -> Value {
        let input = |i: &InputDecl| {
            let mut out = json!({ "name": i.name, "type": i.ty.port_type().as_str() });
            match i.ty {
                InputType::Values => out["count"] = i.count.into(),
                InputType::Strands => out["type"] = "strands".into(),
                _ => {}
            }
            out
        };
        let declared = |p: &ParameterDecl| {
            let mut out = json!({ "name": p.name, "type": type_word(p.ty) });
            add_range(&mut out, p.ty);
            out["default"] = value_json(&p.default);
            out["setup"] = p.setup.into();
            out["doc"] = p.doc.as_str().into();
            out
        };
        let output =
            |o: &OutputDecl| json!({ "name": o.name, "type": self.source_type(o.source).as_str() });
        json!({
            "inputs": self.inputs().iter().map(input).collect::<Vec<_>>(),
            "parameters": self.parameters().iter().map(declared).collect::<Vec<_>>(),
            "outputs": self.outputs().iter().map(output).collect::<Vec<_>>(),
        })
    }
}

pub(crate) fn value_json(value: &ParameterValue) -> Value {
    let transform = |m: &Affine<f64>| json!({ "matrix": m.to_columns() });
    match value {
        ParameterValue::Bool(v) => json!(v),
        ParameterValue::Int(v) => json!(v),
        ParameterValue::Float(v) => json!(v),
        ParameterValue::Text(v) => json!(v),
        ParameterValue::Vec3(v) => json!(v),
        ParameterValue::Vec4(v) => json!(v),
        ParameterValue::Int3(v) => json!(v),
        ParameterValue::Transform(m) => transform(m),
        ParameterValue::Floats(v) => json!(v),
        ParameterValue::Points(v) => json!(v),
        ParameterValue::Texts(v) => json!(v),
        ParameterValue::Transforms(all) => all.iter().map(transform).collect(),
        // Graphs have no parameters of this type.
        ParameterValue::Records(_) => Value::Null,
    }
}

fn node(d: &NodeDesc) -> Value {
    let mut parameters: Vec<Value> = d.parameters.iter().map(parameter).collect();
    if d.placement().is_some() {
        parameters.push(parameter(&FOLLOW));
    }
    if d.fitted_region().is_some() {
        parameters.push(json!({ "name": "fit", "type": "fit", "setup": true, "doc": FIT_DOC }));
    }
    let presets: Vec<Value> = d.docs.presets.iter().map(preset).collect();
    json!({
        "name": d.name,
        "kind": d.kind.as_str(),
        "summary": d.summary,
        "inputs": d.inputs.iter().map(input).collect::<Vec<_>>(),
        "outputs": d.outputs.iter().map(port).collect::<Vec<_>>(),
        "parameters": parameters,
        "presets": presets,
    })
}

fn port(p: &PortDesc) -> Value {
    json!({ "name": p.name, "type": p.ty.as_str(), "doc": p.doc })
}

fn input(p: &PortDesc) -> Value {
    let mut out = port(p);
    out["required"] = p.required.into();
    if p.more > 0 {
        out["links"] = (u32::from(p.more) + 1).into();
    }
    if p.strands {
        out["strands"] = true.into();
    }
    out
}

fn preset(p: &Preset) -> Value {
    let values = p.values.iter();
    let values: Map<String, Value> = values
        .filter_map(|(name, value)| Some(((*name).to_owned(), default_json(*value)?)))
        .collect();
    json!({ "name": p.name, "doc": p.doc, "values": values })
}

fn parameter(p: &ParameterDesc) -> Value {
    let mut out = json!({ "name": p.name, "type": type_word(p.ty) });
    add_range(&mut out, p.ty);
    if let ParameterType::Records(fields) = p.ty {
        out["fields"] = fields.iter().map(parameter).collect();
    }
    if let Some(default) = default_json(p.default) {
        out["default"] = default;
    }
    if !p.unit.is_empty() {
        out["unit"] = p.unit.into();
    }
    out["setup"] = (p.phase == Phase::Setup).into();
    if let Some(what) = can_follow(p.ty).filter(|_| p.phase == Phase::Update) {
        out["follows"] = what.into();
    }
    out["doc"] = p.doc.into();
    out
}

/// The range of numbers, and the words of a choice.
fn add_range(out: &mut Value, ty: ParameterType) {
    match ty {
        ParameterType::Int { min, max } | ParameterType::Int3 { min, max } => {
            out["min"] = min.into();
            out["max"] = max.into();
        }
        ParameterType::Float { min, max } => {
            if min > f64::MIN {
                out["min"] = min.into();
            }
            if max < f64::MAX {
                out["max"] = max.into();
            }
        }
        ParameterType::Choice(choices) => {
            let choice = |c: &Choice| json!({ "name": c.name, "doc": c.doc });
            out["choices"] = choices.iter().map(choice).collect();
        }
        _ => {}
    }
}

fn type_word(ty: ParameterType) -> &'static str {
    match ty {
        ParameterType::Bool => "bool",
        ParameterType::Int { .. } => "int",
        ParameterType::Float { .. } => "float",
        ParameterType::Choice(_) => "choice",
        ParameterType::Text => "text",
        ParameterType::Vec3 => "vec3",
        ParameterType::Vec4 => "vec4",
        ParameterType::Int3 { .. } => "int3",
        ParameterType::Transform => "transform",
        ParameterType::Floats => "floats",
        ParameterType::Points => "points",
        ParameterType::Texts => "texts",
        ParameterType::Transforms => "transforms",
        ParameterType::Records(_) => "records",
    }
}

#[cfg(test)]
mod tests {
    use super::node_list;
    use crate::schema;

    /// The schema is written from the same descriptions by other code.
    #[test]
    fn it_lists_what_the_schema_allows() {
        let (list, schema) = (node_list(), schema());
        let nodes = list["nodes"].as_array().expect("a list");
        assert!(nodes.len() > 20);
        for node in nodes {
            let name = node["name"].as_str().expect("a name");
            let properties = &schema["$defs"][format!("node_{name}")]["properties"];
            let mut keys: Vec<String> = vec!["node".into(), "doc".into()];
            for list in ["inputs", "parameters"] {
                for entry in node[list].as_array().expect("a list") {
                    let key = entry["name"].as_str().expect("a name");
                    keys.push(key.to_owned());
                    if entry["unit"] == "rad" {
                        keys.push(format!("{key}_degrees"));
                    }
                }
            }
            if node["presets"].as_array().is_some_and(|p| !p.is_empty()) {
                keys.push("preset".into());
            }
            let mut allowed: Vec<&String> = properties.as_object().expect("keys").keys().collect();
            allowed.sort();
            keys.sort();
            assert_eq!(keys.iter().collect::<Vec<_>>(), allowed, "{name}");
        }
    }
}
