//! Capsules and planes as cheap colliders.
//!
#![doc = include_str!("README.md")]

use crate::follow::{FOLLOW, Follow};
use crate::sdf::{SOLID_WORDS, solids_words, write_solids};
use crate::{
    BindContext, BoundNode, Example, NodeDesc, NodeDocs, NodeError, NodeKind, ParameterDesc,
    Parameters, PortDesc, PortType, UpdateContext,
};
use sinew_geom::Vec3;

#[cfg(test)]
mod tests;

const CAPSULE_FIELDS: &[ParameterDesc] = &[
    ParameterDesc {
        default: crate::DefaultValue::Required,
        ..point("from", "Centre of one end, in the bind pose.")
    },
    ParameterDesc {
        default: crate::DefaultValue::Required,
        ..point(
            "to",
            "Centre of the other end. The same point as `from` makes a ball.",
        )
    },
    ParameterDesc::float(
        "radius",
        0.1,
        0.0,
        1e9,
        "Radius at `from`, and at `to` unless `end_radius` is given.",
    )
    .with_unit("m"),
    ParameterDesc::float(
        "end_radius",
        -1.0,
        -1.0,
        1e9,
        "Radius at `to`. -1 uses `radius`.",
    )
    .with_unit("m"),
];

const PLANE_FIELDS: &[ParameterDesc] = &[
    point("point", "A point on the plane, in the bind pose."),
    ParameterDesc {
        default: crate::DefaultValue::Vec3([0.0, 1.0, 0.0]),
        unit: "",
        ..point(
            "normal",
            "Direction out of the solid. Any length above 0 will do.",
        )
    },
];

const fn point(name: &'static str, doc: &'static str) -> ParameterDesc {
    ParameterDesc {
        name,
        ty: crate::ParameterType::Vec3,
        default: crate::DefaultValue::Vec3([0.0; 3]),
        unit: "m",
        phase: crate::Phase::Setup,
        role: crate::Role::Plain,
        doc,
    }
}

/// The node `solids`.
pub static DESC: NodeDesc = NodeDesc {
    name: "solids",
    kind: NodeKind::Field,
    summary: "Capsules and planes that follow a joint: a field without a grid.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "solids",
            graph: include_str!("solids.json"),
            sample: "head",
            before: "rest",
            frame: 8,
        }]),
    rows: &[77],
    inputs: &[PortDesc::optional(
        "pose",
        PortType::Pose,
        "Pose of the rig that has the joint named in `follow`.",
    )],
    outputs: &[PortDesc::output(
        "field",
        PortType::Field,
        "Signed distance to the nearest solid, positive outside.",
    )],
    parameters: &[
        ParameterDesc::records(
            "capsules",
            CAPSULE_FIELDS,
            "Capsules, balls and cones with round ends.",
        ),
        ParameterDesc::records(
            "planes",
            PLANE_FIELDS,
            "Half spaces. The normal points out of the solid side.",
        ),
        FOLLOW,
    ],
    bind: bind_node,
    restore: None,
};

/// What a solid is, in its first word.
pub(crate) const CAPSULE: u32 = 0;
/// The same of planes.
pub(crate) const PLANE: u32 = 1;

#[derive(Debug)]
struct Solids {
    solids: Vec<[f32; SOLID_WORDS]>,
    follow: Follow,
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let p = &context.parameters;
    let mut solids: Vec<[f32; SOLID_WORDS]> = p.records("capsules").map(|c| capsule(&c)).collect();
    for (index, record) in p.records("planes").enumerate() {
        solids.push(plane(&record, index)?);
    }
    if solids.is_empty() {
        return Err(NodeError::Parameter {
            name: "capsules",
            found: "no capsules and no planes".into(),
            expected: "at least one capsule or plane".into(),
        });
    }
    let follow = Follow::bind(context)?;
    Ok(Box::new(Solids { solids, follow }))
}

fn capsule(p: &Parameters<'_>) -> [f32; SOLID_WORDS] {
    let radius = p.float("radius");
    let end = p.float("end_radius");
    let radii = [radius, if end < 0.0 { radius } else { end }];
    let numbers = p.vec3("from").into_iter().chain(p.vec3("to")).chain(radii);
    solid(CAPSULE, numbers)
}

fn plane(p: &Parameters<'_>, index: usize) -> Result<[f32; SOLID_WORDS], NodeError> {
    let normal = p.vec3("normal");
    let Some(unit) = Vec3::from(normal).try_normalize(1e-30) else {
        return Err(NodeError::Parameter {
            name: "planes",
            found: format!("normal {normal:?} of plane {index}"),
            expected: "a vector of any length except 0".into(),
        });
    };
    let offset = unit.dot(&Vec3::from(p.vec3("point")));
    let normal: [f64; 3] = unit.into();
    Ok(solid(PLANE, normal.into_iter().chain([offset])))
}

fn solid(kind: u32, numbers: impl Iterator<Item = f64>) -> [f32; SOLID_WORDS] {
    let mut out = [0.0; SOLID_WORDS];
    out[0] = f32::from_bits(kind);
    for (out, number) in out[1..].iter_mut().zip(numbers) {
        *out = number as f32;
    }
    out
}

impl BoundNode for Solids {
    fn setup_bytes(&self) -> usize {
        size_of_val(self.solids.as_slice())
    }
    fn output_len(&self, _port: &str) -> usize {
        solids_words(self.solids.len())
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let (frame, size) = self.follow.carried(&context.inputs).solids_frame();
        if let Some(words) = context.outputs.field("field") {
            write_solids(words, &self.solids, size, &frame);
        }
    }
}
