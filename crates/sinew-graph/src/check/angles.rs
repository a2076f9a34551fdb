//! Angles in degrees: for each parameter `x` in radians, a document may use the key `x_degrees`.

use super::Collector;
use crate::json::{Json, Member};
use crate::plan::{ParameterLink, ParameterSource, Takes};
use crate::value::expectation;
use sinew_deform::{ParameterDesc, ParameterType, ParameterValue};
use std::f64::consts::PI;

const ENDING: &str = "_degrees";
/// Larger angles in radians are most likely meant in degrees: two full rotations.
const LARGEST: f64 = 4.0 * PI;

/// The key for an angle in degrees; `None` for parameters that are not angles.
pub(crate) fn key_of(desc: &ParameterDesc) -> Option<String> {
    desc.is_angle().then(|| format!("{}{ENDING}", desc.name))
}

/// Whether `key` is that of an angle in degrees.
pub(super) fn is_key(desc: &ParameterDesc, key: &str) -> bool {
    desc.is_angle() && key.strip_suffix(ENDING) == Some(desc.name)
}

/// The range of an angle, in degrees.
pub(crate) fn type_in_degrees(ty: ParameterType) -> ParameterType {
    let bound = |v: f64| {
        if v == f64::MIN || v == f64::MAX {
            v
        } else {
            v.to_degrees()
        }
    };
    match ty {
        ParameterType::Float { min, max } => ParameterType::Float {
            min: bound(min),
            max: bound(max),
        },
        other => other,
    }
}

/// In radians; rounding does not leave the range.
fn radians(ty: ParameterType, value: &mut ParameterValue) {
    if let (ParameterValue::Float(v), ParameterType::Float { min, max }) = (value, ty) {
        *v = v.to_radians().clamp(min, max);
    }
}

impl Collector<'_> {
    /// The source of an angle that a node of the document, `json`, gives in degrees.
    pub(super) fn read_degrees(
        &mut self,
        scope: usize,
        json: &Json,
        desc: &ParameterDesc,
        m: &Member,
    ) -> Option<ParameterSource> {
        if json.get(desc.name).is_some() {
            self.reporter(scope).error(
                "angle_twice",
                &m.key_span,
                format!("both '{}' and '{}' are given", desc.name, m.key),
                "give the angle once, in radians or in degrees",
            );
            return None;
        }
        if m.value.text().is_some_and(|text| text.starts_with('$')) {
            self.reporter(scope).error(
                "wrong_type",
                &m.value.span,
                format!("'{}' cannot refer to a parameter of the graph", m.key),
                format!(
                    "parameters of the graph are in radians: use '{}' instead",
                    desc.name
                ),
            );
            return None;
        }
        let in_degrees = ParameterDesc {
            ty: type_in_degrees(desc.ty),
            ..*desc
        };
        let mut source = self.read_source(scope, &in_degrees, m)?;
        match &mut source {
            ParameterSource::Constant(value) => radians(desc.ty, value),
            ParameterSource::Keyed(keyed) => {
                keyed.values.iter_mut().for_each(|v| radians(desc.ty, v));
            }
            ParameterSource::Linked(ParameterLink {
                takes: Takes::Numbers { factor, .. },
                ..
            }) => *factor = PI / 180.0,
            ParameterSource::Linked(_)
            | ParameterSource::Parameter(_)
            | ParameterSource::FrameTime => {}
        }
        Some(source)
    }

    /// Whether a constant angle is out of range in radians, but not in degrees: an error that tells the other key.
    pub(super) fn is_too_large_in_radians(
        &mut self,
        scope: usize,
        desc: &ParameterDesc,
        m: &Member,
    ) -> bool {
        let (Some(found), ParameterType::Float { min, max }) = (m.value.number(), desc.ty) else {
            return false;
        };
        let in_range = |v: f64| (min..=max).contains(&v);
        if m.key != desc.name
            || !desc.is_angle()
            || in_range(found)
            || !in_range(found.to_radians())
        {
            return false;
        }
        self.reporter(scope).error(
            "out_of_range",
            &m.value.span,
            format!("'{}' is {found}, which is out of range", m.key),
            format!(
                "expected {}, in radians; for degrees write '{}{ENDING}'",
                expectation(desc.ty),
                desc.name
            ),
        );
        true
    }

    /// Warns of an angle in radians that is most likely meant in degrees.
    pub(super) fn warn_of_degrees(
        &mut self,
        scope: usize,
        desc: &ParameterDesc,
        m: &Member,
        source: &ParameterSource,
    ) {
        let values = match source {
            ParameterSource::Constant(value) => std::slice::from_ref(value),
            ParameterSource::Keyed(keyed) => &keyed.values,
            ParameterSource::Linked(_)
            | ParameterSource::Parameter(_)
            | ParameterSource::FrameTime => &[],
        };
        let sizes = values.iter().filter_map(|value| match value {
            ParameterValue::Float(v) => Some(*v),
            _ => None,
        });
        let Some(found) = sizes.reduce(|a, b| if b.abs() > a.abs() { b } else { a }) else {
            return;
        };
        if desc.is_angle() && found.abs() > LARGEST {
            let turns = found / (2.0 * PI);
            self.reporter(scope).warning(
                "large_angle",
                &m.value.span,
                format!("'{}' is {found} radians, which is {turns:.1} full rotations", m.key),
                format!(
                    "for degrees write '{}{ENDING}'; angles up to 2 full rotations cause no warning",
                    desc.name
                ),
            );
        }
    }
}
