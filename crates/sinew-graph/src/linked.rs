//! Parameters that follow data of the graph: numbers of a driver or of the caller, or a joint.

use crate::execute::Sources;
use crate::keyed::assign;
use crate::plan::{ParameterLink, ParameterSource, Takes};
use crate::program::{PortData, Step};
use sinew_deform::{NodeError, ParameterDesc, ParameterType, ParameterValue, PortType};
use sinew_geom::names::expected_joint;
use sinew_geom::{Pose, Rig};

impl ParameterLink {
    /// The type of data that it takes.
    pub(crate) fn port_type(&self) -> PortType {
        match self.takes {
            Takes::Numbers { .. } => PortType::Values,
            Takes::Joint { .. } => PortType::Pose,
        }
    }
}

impl ParameterSource {
    /// The value in setup. `parameters`: values of the parameters of the graph.
    pub(crate) fn at_rest(
        &self,
        parameters: &[ParameterValue],
        desc: &ParameterDesc,
    ) -> ParameterValue {
        match self {
            Self::Constant(v) => v.clone(),
            Self::Parameter(p) => parameters[*p].clone(),
            Self::Keyed(k) => {
                let mut out = k.values[0].clone();
                k.sample(0.0, &mut out);
                out
            }
            Self::Linked(link) => match &link.takes {
                Takes::Numbers { .. } => desc.default_value(),
                Takes::Joint { offset, .. } => offset.at_rest(parameters, desc),
            },
            Self::FrameTime => ParameterValue::Float(0.0),
        }
    }

    /// Writes the value of a frame to `out`. `parameters`: values of the parameters of the graph. A constant is not written: `out` has
    /// it. Of a link to numbers nothing is written, of a link to a joint the offset: [`write`] does the rest.
    pub(crate) fn write(
        &self,
        parameters: &[ParameterValue],
        time_secs: f64,
        out: &mut ParameterValue,
    ) {
        match self {
            Self::Constant(_) => {}
            Self::Parameter(p) => assign(out, &parameters[*p]),
            Self::Keyed(k) => k.sample(time_secs, out),
            Self::Linked(link) => match &link.takes {
                Takes::Numbers { .. } => {}
                Takes::Joint { offset, .. } => match &**offset {
                    Self::Constant(value) => assign(out, value),
                    offset => offset.write(parameters, time_secs, out),
                },
            },
            Self::FrameTime => *out = ParameterValue::Float(time_secs),
        }
    }
}

/// The name of a joint, as a parameter.
pub(crate) const JOINT: ParameterDesc = ParameterDesc::text("joint", "Joint to follow.");
/// The offset of a joint, as a parameter.
pub(crate) const OFFSET: ParameterDesc =
    ParameterDesc::transform("offset", "The transform in the bind pose, in scene space.");

/// What parameters of this type can follow, in words; `None` for nothing.
pub fn can_follow(ty: ParameterType) -> Option<&'static str> {
    match ty {
        ParameterType::Transform => Some("a joint"),
        ty => match width(ty)? {
            1 => Some("a number"),
            _ => Some("numbers"),
        },
    }
}

/// How many successive numbers a parameter of this type takes; `None` for types that follow no numbers.
pub(crate) fn width(ty: ParameterType) -> Option<usize> {
    match ty {
        ParameterType::Bool | ParameterType::Int { .. } | ParameterType::Float { .. } => Some(1),
        ParameterType::Vec3 => Some(3),
        ParameterType::Vec4 => Some(4),
        _ => None,
    }
}

/// Writes the linked parameters of a step to `out`, which holds one value for each parameter: offsets of joints are there already. What
/// is missing or not finite changes nothing. Does not allocate.
pub(crate) fn write(step: &Step, sources: &Sources<'_>, out: &mut [ParameterValue]) {
    let types = step.desc.parameters.iter().map(|p| p.ty);
    for ((value, source), ty) in out.iter_mut().zip(&step.sources).zip(types) {
        let ParameterSource::Linked(link) = source else {
            continue;
        };
        match step.parameter_data.get(link.input) {
            Some(PortData::Array(place)) => {
                if let Some(numbers) = sources.floats(*place) {
                    link.takes.write_numbers(ty, numbers, value);
                }
            }
            Some(PortData::Pose(place)) => {
                if let Some(pose) = sources.pose(*place) {
                    link.takes.write_transform(pose, value);
                }
            }
            Some(PortData::Mesh(_)) | None => {}
        }
    }
}

impl Takes {
    /// Finds the joint in the rig of the pose. `parameters`: values of the parameters of the graph.
    pub(crate) fn bind_joint(
        &mut self,
        parameter: &'static str,
        parameters: &[ParameterValue],
        rig: &Rig,
    ) -> Result<(), NodeError> {
        let Self::Joint {
            name,
            node,
            joint_from_bind,
            ..
        } = self
        else {
            return Ok(());
        };
        let ParameterValue::Text(name) = name.at_rest(parameters, &JOINT) else {
            return Ok(());
        };
        if name.is_empty() {
            return Ok(());
        }
        let name = name.as_str();
        let Some(joint) = rig.find_joint(name) else {
            let names = rig
                .joints()
                .iter()
                .map(|j| rig.nodes()[j.node].name.as_str());
            return Err(NodeError::Parameter {
                name: parameter,
                found: format!("joint '{name}'"),
                expected: expected_joint(name, names),
            });
        };
        let joint = &rig.joints()[joint];
        (*node, *joint_from_bind) = (Some(joint.node), joint.joint_from_bind);
        Ok(())
    }

    fn write_numbers(&self, ty: ParameterType, numbers: &[f32], out: &mut ParameterValue) {
        let Self::Numbers {
            first,
            remap,
            range: [low, high],
            factor,
        } = self
        else {
            return;
        };
        let at = |i: usize| -> Option<f64> {
            let mut mapped = ParameterValue::Float(f64::from(*numbers.get(first + i)?));
            if let (Some(curve), ParameterValue::Float(number)) = (remap, &mapped) {
                curve.sample(*number, &mut mapped);
            }
            match mapped {
                ParameterValue::Float(v) if v.is_finite() => Some(v.clamp(*low, *high) * factor),
                _ => None,
            }
        };
        match (ty, out) {
            (ParameterType::Float { min, max }, ParameterValue::Float(out)) => {
                *out = at(0).map_or(*out, |v| v.clamp(min, max));
            }
            (ParameterType::Int { min, max }, ParameterValue::Int(out)) => {
                *out = at(0).map_or(*out, |v| (v.round() as i64).clamp(min, max));
            }
            (ParameterType::Bool, ParameterValue::Bool(out)) => {
                *out = at(0).map_or(*out, |v| v >= 0.5);
            }
            (ParameterType::Vec3, ParameterValue::Vec3(out)) => fill(out, at),
            (ParameterType::Vec4, ParameterValue::Vec4(out)) => fill(out, at),
            _ => {}
        }
    }

    fn write_transform(&self, pose: &Pose, out: &mut ParameterValue) {
        if let Self::Joint {
            node: Some(node),
            joint_from_bind,
            ..
        } = self
            && let Some(scene_from_joint) = pose.scene_from_node.get(*node)
            && let ParameterValue::Transform(offset) = out
        {
            let value = *scene_from_joint * (*joint_from_bind * *offset);
            if value.is_finite() {
                *offset = value;
            }
        }
    }
}

fn fill<const N: usize>(out: &mut [f64; N], at: impl Fn(usize) -> Option<f64>) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = at(i).unwrap_or(*out);
    }
}
