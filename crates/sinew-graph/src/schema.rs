//! The JSON Schema of graph documents, generated from the registry.

use crate::check::{FIT, FIT_DOC, PRESET, VERSION, angles};
use crate::linked::width;
use serde_json::{Map, Value, json};
use sinew_deform::{
    DefaultValue, FOLLOW, NodeDesc, ParameterDesc, ParameterType, Phase, Preset, REGISTRY,
};

/// JSON Schema (draft 2020-12) of graph documents.
pub fn schema() -> Value {
    let mut defs = Map::new();
    for desc in REGISTRY {
        defs.insert(format!("node_{}", desc.name), node_schema(desc));
    }
    defs.insert("node_graph".into(), nested_schema());
    defs.insert("node_kernel".into(), kernel_schema());
    let any_node: Vec<Value> = defs
        .keys()
        .map(|k| json!({ "$ref": format!("#/$defs/{k}") }))
        .collect();
    defs.insert("node".into(), json!({ "oneOf": any_node }));
    defs.insert("link".into(), json!({ "type": "string", "pattern": "^[^.$/]+(\\.[^.$/]+)?$", "description": "Name of an input or a node, or NODE.PORT for another output of a node." }));
    defs.insert(
        "reference".into(),
        json!({ "type": "string", "pattern": "^\\$.+$", "description": "$NAME of a parameter of the graph." }),
    );
    defs.insert("transform".into(), transform_schema());
    defs.insert("linked_number".into(), json!({ "type": "string", "pattern": "^[^.$/]+(\\.[^.$/]+)?(\\[[0-9]+\\])?$", "description": "Link to a number of an input or a node: NAME, NODE.PORT or NODE.PORT[INDEX]." }));
    defs.insert("linked_numbers".into(), linked_numbers_schema());
    defs.insert("linked_joint".into(), linked_joint_schema());
    defs.insert("input".into(), input_schema());
    defs.insert("parameter".into(), parameter_declaration_schema());
    let words: Vec<&str> = REGISTRY.iter().map(|d| d.name).collect();
    let item = json!({ "oneOf": [{ "enum": words }, { "$ref": "#/$defs/stacked_node" }] });
    defs.insert("stacked_node".into(), json!({ "type": "object", "required": ["node"], "properties": { "node": { "type": "string" }, "name": { "type": "string" } } }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Sinew deformer graph",
        "type": "object",
        "required": ["sinew"],
        "additionalProperties": false,
        "properties": {
            "$schema": { "type": "string" },
            "sinew": { "const": VERSION },
            "name": { "type": "string" },
            "description": { "type": "string" },
            "inputs": { "type": "object", "additionalProperties": { "$ref": "#/$defs/input" } },
            "parameters": { "type": "object", "additionalProperties": { "$ref": "#/$defs/parameter" } },
            "nodes": { "type": "object", "additionalProperties": { "$ref": "#/$defs/node" } },
            "stack": { "type": "array", "items": item },
            "outputs": { "type": "object", "additionalProperties": { "$ref": "#/$defs/link" } },
        },
        "$defs": defs,
    })
}

fn node_schema(desc: &NodeDesc) -> Value {
    let mut properties = Map::new();
    properties.insert("node".into(), json!({ "const": desc.name }));
    properties.insert("doc".into(), json!({ "type": "string" }));
    let mut required = vec!["node"];
    for port in desc.inputs {
        let description = format!("{}: {}", port.ty.as_str(), port.doc);
        let link = json!({ "$ref": "#/$defs/link" });
        let list = json!({ "type": "array", "items": link, "maxItems": u32::from(port.more) + 1 });
        let mut schema = match port.more {
            0 => link,
            _ => json!({ "anyOf": [link, list] }),
        };
        schema["description"] = json!(description);
        properties.insert(port.name.into(), schema);
        if port.required {
            required.push(port.name);
        }
    }
    for p in desc.parameters {
        properties.insert(p.name.into(), parameter_schema(p));
        if let Some(key) = angles::key_of(p) {
            properties.insert(key, degrees_schema(p));
        }
    }
    if desc.placement().is_some() {
        properties.insert(FOLLOW.name.into(), parameter_schema(&FOLLOW));
    }
    if desc.fitted_region().is_some() {
        properties.insert(FIT.into(), fit_schema());
    }
    if !desc.docs.presets.is_empty() {
        let choice = |p: &Preset| json!({ "const": p.name, "description": p.doc });
        let choices: Vec<Value> = desc.docs.presets.iter().map(choice).collect();
        properties.insert(
            PRESET.into(),
            json!({ "oneOf": choices, "description": "Values for parameters that the document does not state." }),
        );
    }
    json!({
        "type": "object",
        "description": desc.summary,
        "required": required,
        "additionalProperties": false,
        "properties": properties,
    })
}

fn parameter_schema(p: &ParameterDesc) -> Value {
    let value = type_schema(p.ty);
    let mut forms = vec![value.clone()];
    if !p.ty.is_setup_only() {
        forms.push(json!({ "$ref": "#/$defs/reference" }));
    }
    if p.phase == Phase::Update {
        forms.push(keyed_schema(&value));
        forms.extend(link_schemas(p.ty));
    }
    described(p, json!({ "anyOf": forms }))
}

/// An angle in degrees: a number or keys. It cannot refer to a parameter of the graph, which is in radians.
fn degrees_schema(p: &ParameterDesc) -> Value {
    let value = type_schema(angles::type_in_degrees(p.ty));
    let mut forms = vec![value.clone()];
    if p.phase == Phase::Update {
        forms.push(keyed_schema(&value));
        forms.extend(link_schemas(p.ty));
    }
    let description = format!("Same as `{}`, but in degrees: {} [degrees]", p.name, p.doc);
    json!({ "anyOf": forms, "description": description })
}

/// Definitions of what a parameter of this type may be linked to.
fn link_schemas(ty: ParameterType) -> impl Iterator<Item = Value> {
    let names: &[&str] = match ty {
        ParameterType::Transform => &["joint"],
        ty if width(ty).is_some() => &["number", "numbers"],
        _ => &[],
    };
    let definition = |name: &&str| json!({ "$ref": format!("#/$defs/linked_{name}") });
    names.iter().map(definition)
}

/// The fields of one object. They cannot refer to parameters and cannot have keys.
fn record_schema(fields: &[ParameterDesc]) -> Value {
    let is_required = |f: &&ParameterDesc| f.default == DefaultValue::Required;
    let required: Vec<&str> = fields.iter().filter(is_required).map(|f| f.name).collect();
    let field = |f: &ParameterDesc| (f.name.to_owned(), described(f, type_schema(f.ty)));
    let properties: Map<String, Value> = fields.iter().map(field).collect();
    json!({
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": properties,
    })
}

/// Adds description, unit and default.
fn described(p: &ParameterDesc, mut out: Value) -> Value {
    let unit = if p.unit.is_empty() {
        String::new()
    } else {
        format!(" [{}]", p.unit)
    };
    if let Some(map) = out.as_object_mut() {
        map.insert("description".into(), json!(format!("{}{unit}", p.doc)));
        if let Some(default) = default_json(p.default) {
            map.insert("default".into(), default);
        }
    }
    out
}

fn keyed_schema(value: &Value) -> Value {
    json!({
        "type": "object",
        "required": ["keys"],
        "additionalProperties": false,
        "properties": {
            "keys": {
                "type": "array",
                "minItems": 1,
                "items": { "type": "array", "minItems": 2, "maxItems": 2, "prefixItems": [{ "type": "number" }, value] },
            },
            "interpolation": { "enum": ["step", "linear", "smooth"] },
        },
    })
}

fn vector(n: usize, kind: &str) -> Value {
    json!({ "type": "array", "minItems": n, "maxItems": n, "items": { "type": kind } })
}

fn type_schema(ty: ParameterType) -> Value {
    match ty {
        ParameterType::Bool => json!({ "type": "boolean" }),
        ParameterType::Int { min, max } => {
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        ParameterType::Float { min, max } => {
            let mut out = json!({ "type": "number" });
            if let Some(map) = out.as_object_mut() {
                if min > f64::MIN {
                    map.insert("minimum".into(), json!(min));
                }
                if max < f64::MAX {
                    map.insert("maximum".into(), json!(max));
                }
            }
            out
        }
        ParameterType::Choice(c) => {
            let words: Vec<Value> = c
                .iter()
                .map(|c| json!({ "const": c.name, "description": c.doc }))
                .collect();
            json!({ "oneOf": words })
        }
        ParameterType::Text => json!({ "type": "string" }),
        ParameterType::Vec3 => vector(3, "number"),
        ParameterType::Vec4 => vector(4, "number"),
        ParameterType::Int3 { min, max } => {
            json!({ "type": "array", "minItems": 3, "maxItems": 3, "items": { "type": "integer", "minimum": min, "maximum": max } })
        }
        ParameterType::Transform => json!({ "$ref": "#/$defs/transform" }),
        ParameterType::Floats => json!({ "type": "array", "items": { "type": "number" } }),
        ParameterType::Points => json!({ "type": "array", "items": vector(3, "number") }),
        ParameterType::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        ParameterType::Transforms => {
            json!({ "type": "array", "items": { "$ref": "#/$defs/transform" } })
        }
        ParameterType::Records(fields) => {
            json!({ "type": "array", "items": record_schema(fields) })
        }
    }
}

pub(crate) fn default_json(d: DefaultValue) -> Option<Value> {
    Some(match d {
        DefaultValue::Bool(v) => json!(v),
        DefaultValue::Int(v) => json!(v),
        DefaultValue::Float(v) => json!(v),
        DefaultValue::Text(v) => json!(v),
        DefaultValue::Vec3(v) => json!(v),
        DefaultValue::Vec4(v) => json!(v),
        DefaultValue::Int3(v) => json!(v),
        DefaultValue::Empty => json!([]),
        DefaultValue::Identity => json!({}),
        DefaultValue::FrameTime | DefaultValue::Required => return None,
    })
}

fn transform_schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "translation": vector(3, "number"),
            "rotation": vector(4, "number"),
            "rotation_degrees": vector(3, "number"),
            "scale": vector(3, "number"),
            "matrix": vector(16, "number"),
        },
    })
}

fn linked_numbers_schema() -> Value {
    json!({
        "type": "object",
        "required": ["link"],
        "additionalProperties": false,
        "properties": {
            "link": { "$ref": "#/$defs/link" },
            "index": { "type": "integer", "minimum": 0, "description": "Index of the number, or of the first number of a vector. Default: 0." },
            "remap": { "type": "array", "minItems": 1, "items": vector(2, "number"), "description": "Curve that maps each number: [from, to] points. Numbers beyond its ends give the value at the end." },
            "interpolation": { "enum": ["step", "linear", "smooth"], "description": "Between the points of remap." },
        },
    })
}

fn fit_schema() -> Value {
    let object = json!({
        "type": "object",
        "additionalProperties": false,
        "not": { "required": ["mask", "joint"] },
        "properties": {
            "mask": { "$ref": "#/$defs/link" },
            "joint": { "type": "string", "description": "Vertices with a weight for this joint." },
            "margin": { "type": "number", "minimum": 0, "description": "Added on all sides. [m] Default: 0." },
        },
    });
    json!({ "anyOf": [{ "const": "mesh" }, object], "description": FIT_DOC })
}

fn linked_joint_schema() -> Value {
    json!({
        "type": "object",
        "required": ["joint"],
        "additionalProperties": false,
        "properties": {
            "joint": { "type": "string", "description": "Joint whose motion since the bind pose the transform follows." },
            "pose": { "$ref": "#/$defs/link" },
            "offset": { "$ref": "#/$defs/transform", "description": "The transform in the bind pose, in scene space. Default: the identity." },
        },
    })
}

fn input_schema() -> Value {
    json!({
        "type": "object",
        "required": ["type"],
        "additionalProperties": false,
        "properties": {
            "type": { "enum": ["mesh", "strands", "pose", "values", "vertex_animation"] },
            "select": { "type": "string", "description": "Name of the meshes to take; * matches any characters. Default: all meshes." },
            "file": { "type": "string", "description": "File to read, relative to the document; for a vertex animation its manifest. Default: the main character." },
            "point_cache": { "type": "string", "description": "Point cache with the positions of the mesh in each frame, relative to the document: .pc2, .mdd, .npz, or numbered .obj or .ply files (sim_####.obj). Inputs of type mesh and strands only." },
            "joints": { "type": "string", "description": "Pose input whose joints the mesh or strands use, matched by name. Default: the joints of their own file." },
            "followers": {
                "type": "object",
                "description": "Follower strands to create around each guide strand.",
                "additionalProperties": false,
                "properties": {
                    "count": { "type": "integer", "minimum": 0, "maximum": 1 << 16, "description": "Followers per guide." },
                    "radius": { "type": "number", "minimum": 0, "description": "Radius of the disc around the guide's root that holds the roots. [m]" },
                    "tip_separation": { "type": "number", "minimum": -1, "description": "At the tip, followers are 1 + this value times as far from the guide as at the root. Below 0 they come together." },
                    "length_variation": { "type": "number", "minimum": 0, "maximum": 1, "description": "Each follower is shorter than its guide by a random share up to this." },
                    "curl": { "type": "number", "minimum": 0, "description": "Radius of the curls of each follower, at most 0.15 of curl_length; 0 for none. [m]" },
                    "curl_length": { "type": "number", "exclusiveMinimum": 0, "description": "Length of hair in one full rotation of a curl. Default 0.05. [m]" },
                    "frizz": { "type": "number", "minimum": 0, "description": "Distance by which followers randomly leave their line, at most. [m]" },
                    "frizz_length": { "type": "number", "exclusiveMinimum": 0, "description": "Length of hair between two of these bends. Default 0.015. [m]" },
                    "seed": { "type": "integer", "minimum": 0, "maximum": u32::MAX, "description": "Seed of all that is random about them." },
                    "skin": { "type": "string", "description": "Mesh input that the followers grow on. Default: the nearest mesh." },
                },
            },
            "thickness": {
                "type": "object",
                "description": "Diameters of the strands, for written files. Default: the diameters in their file.",
                "required": ["root"],
                "additionalProperties": false,
                "properties": {
                    "root": { "type": "number", "minimum": 0, "description": "Diameter at the root. [m]" },
                    "tip": { "type": "number", "minimum": 0, "description": "Diameter at the tip. [m]" },
                },
            },
            "count": { "type": "integer", "minimum": 1, "description": "Number of floats per frame; inputs of type values only." },
            "doc": { "type": "string" },
        },
    })
}

fn parameter_declaration_schema() -> Value {
    json!({
        "type": "object",
        "required": ["type"],
        "additionalProperties": false,
        "properties": {
            "type": { "enum": ["float", "int", "bool", "text", "vec3", "vec4", "int3", "transform", "floats", "points", "texts"] },
            "default": {},
            "min": { "type": "number" },
            "max": { "type": "number" },
            "setup": { "type": "boolean", "description": "True if the parameter is read in setup only; it then cannot change from frame to frame." },
            "keys": { "type": "array", "minItems": 1, "items": { "type": "array", "minItems": 2, "maxItems": 2 } },
            "interpolation": { "enum": ["step", "linear", "smooth"] },
            "doc": { "type": "string" },
        },
    })
}

fn nested_schema() -> Value {
    json!({
        "type": "object",
        "description": "A nested graph. Each of its inputs (a link) and parameters (a value) is a key of this node.",
        "required": ["node"],
        "properties": { "node": { "const": "graph" }, "file": { "type": "string" }, "graph": { "type": "object" } },
        "oneOf": [{ "required": ["file"] }, { "required": ["graph"] }],
    })
}

fn kernel_schema() -> Value {
    let pins = |pin: Value| json!({ "type": "object", "additionalProperties": pin });
    let link = json!({ "$ref": "#/$defs/link" });
    let element = json!({ "enum": ["float", "int", "uint", "vec2", "vec3", "vec4"], "description": "Element type of a buffer." });
    let input = json!({
        "type": "object",
        "required": ["type"],
        "additionalProperties": false,
        "properties": {
            "type": { "enum": ["mesh", "pose", "buffer", "mask", "values", "field"] },
            "element": element,
            "link": link,
            "optional": { "type": "boolean", "description": "True if the input does not need a link; buffers, masks and values only." },
            "doc": { "type": "string" },
        },
    });
    let attributes = json!({ "enum": ["positions", "normals", "tangents", "colors"] });
    let mesh = json!({
        "type": "object",
        "required": ["type", "writes"],
        "additionalProperties": false,
        "properties": {
            "type": { "const": "mesh" },
            "writes": { "type": "array", "minItems": 1, "items": attributes },
            "doc": { "type": "string" },
        },
    });
    let buffer = json!({
        "type": "object",
        "required": ["type", "element"],
        "additionalProperties": false,
        "properties": {
            "type": { "const": "buffer" },
            "element": element,
            "per": { "enum": ["vertex", "triangle", "strand", "joint", "mesh"], "default": "vertex" },
            "count": { "type": "integer", "minimum": 1, "maximum": 1 << 24, "default": 1 },
            "write": { "enum": ["write", "atomic_add", "atomic_min", "atomic_max"], "default": "write" },
            "persistent": { "type": "boolean", "default": false, "description": "Elements keep their values from frame to frame." },
            "doc": { "type": "string" },
        },
    });
    let parameter = json!({
        "type": "object",
        "required": ["type", "value"],
        "additionalProperties": false,
        "properties": {
            "type": { "enum": ["float", "int", "bool", "vec3", "vec4", "int3", "transform"] },
            "value": { "description": "A value, $NAME of a parameter of the graph, or keys." },
            "min": { "type": "number" },
            "max": { "type": "number" },
            "doc": { "type": "string" },
        },
    });
    let lines = json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] });
    json!({
        "type": "object",
        "description": crate::kernel::SUMMARY,
        "required": ["node", "domain", "inputs", "outputs"],
        "additionalProperties": false,
        "oneOf": [{ "required": ["file"] }, { "required": ["text"] }],
        "properties": {
            "node": { "const": "kernel" },
            "doc": { "type": "string" },
            "domain": {
                "description": "Elements that the kernel runs over: of its first mesh, of its first pose, or a count.",
                "oneOf": [
                    { "enum": ["vertex", "triangle", "strand", "joint"] },
                    {
                        "type": "object",
                        "required": ["count"],
                        "additionalProperties": false,
                        "properties": { "count": { "type": "integer", "minimum": 1, "maximum": 1 << 24 } },
                    },
                ],
            },
            "group_size": { "type": "integer", "minimum": 1, "maximum": 1024 },
            "repeat": {
                "description": "Times that the kernel runs in a row: each round reads what the round before wrote.",
                "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 256 }, { "$ref": "#/$defs/reference" }],
                "default": 1,
            },
            "inputs": pins(input),
            "outputs": pins(json!({ "oneOf": [mesh, buffer] })),
            "parameters": pins(parameter),
            "constants": pins(json!({ "type": ["number", "boolean", "array"] })),
            "file": { "type": "string", "description": "WGSL file, relative to the document." },
            "text": lines,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_objects_follow_no_parameter() {
        const FIELDS: &[ParameterDesc] = &[
            ParameterDesc::text("name", "Its name.").required(),
            ParameterDesc::float("at", 0.5, 0.0, f64::MAX, "How far.").with_unit("m"),
            ParameterDesc::transforms("joints", "Where."),
        ];
        let item = json!({
            "type": "object",
            "required": ["name"],
            "additionalProperties": false,
            "properties": {
                "name": { "type": "string", "description": "Its name." },
                "at": { "type": "number", "minimum": 0.0, "description": "How far. [m]", "default": 0.5 },
                "joints": { "type": "array", "items": { "$ref": "#/$defs/transform" }, "description": "Where.", "default": [] },
            },
        });
        assert_eq!(
            parameter_schema(&ParameterDesc::records("poses", FIELDS, "Poses.")),
            json!({
                "anyOf": [{ "type": "array", "items": item }],
                "description": "Poses.",
                "default": [],
            })
        );
    }
}
