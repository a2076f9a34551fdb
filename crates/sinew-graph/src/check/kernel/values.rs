//! Parameters and constants of a kernel.

use super::super::Collector;
use super::{MOST_CONSTANTS, MOST_PARAMETERS, Reading};
use crate::json::{Json, Kind, Member};
use crate::kernel::given::parameter_type;
use crate::plan::ParameterSource;
use sinew_deform::{DefaultValue, ParameterDesc, ParameterType, Phase, Role};

/// The function that gives the time of the frame in seconds.
const FRAME_TIME: &str = "frame_time";

impl Collector<'_> {
    pub(super) fn kernel_parameters(
        &mut self,
        r: &Reading,
        json: &Json,
    ) -> (Vec<ParameterDesc>, Vec<ParameterSource>) {
        let (mut descs, mut sources) = (Vec::new(), Vec::new());
        for m in self.at_most(r, json, "parameters", MOST_PARAMETERS) {
            if let Some((desc, source)) = self.kernel_parameter(r, m) {
                descs.push(desc);
                sources.push(source);
            }
        }
        // A kernel that asks for the time has it as one more parameter.
        let is_own = descs.iter().any(|d| d.name == FRAME_TIME);
        if r.names.contains(FRAME_TIME) && !is_own {
            descs.push(ParameterDesc::frame_time(FRAME_TIME, ""));
            sources.push(ParameterSource::FrameTime);
        }
        (descs, sources)
    }

    pub(super) fn kernel_parameter(
        &mut self,
        r: &Reading,
        m: &Member,
    ) -> Option<(ParameterDesc, ParameterSource)> {
        let scope = r.scope;
        let known = ["type", "value", "min", "max", "doc"];
        self.unknown_keys(scope, &m.value, "a parameter of a kernel", &known);
        let name = self.kept_name(r, m)?;
        let ty = self.read_declared_type(scope, m)?;
        let default = match ty {
            ParameterType::Bool => DefaultValue::Bool(false),
            ParameterType::Int { min, max } => DefaultValue::Int(0.clamp(min, max)),
            ParameterType::Float { min, max } => DefaultValue::Float(0.0_f64.clamp(min, max)),
            ParameterType::Vec3 => DefaultValue::Vec3([0.0; 3]),
            ParameterType::Vec4 => DefaultValue::Vec4([0.0; 4]),
            ParameterType::Int3 { min, max } => DefaultValue::Int3([0.clamp(min, max); 3]),
            _ => DefaultValue::Identity,
        };
        if parameter_type(ty).is_none() {
            let span = m.value.get("type").map_or(&m.key_span, |t| &t.span).clone();
            let message = format!("a kernel cannot take '{}': WGSL has no such type", m.key);
            let help = "expected float, int, bool, vec3, vec4, int3 or transform";
            self.reporter(scope)
                .error("wrong_type", &span, message, help);
            return None;
        }
        let desc = ParameterDesc {
            name,
            ty,
            default,
            unit: "",
            phase: Phase::Update,
            role: Role::Plain,
            doc: "",
        };
        let Some(value) = m.value.get("value") else {
            let message = format!("the parameter '{}' of '{}' has no value", m.key, r.node);
            let help = format!(
                "add \"value\": a value, \"${}\" for a parameter of the graph, or {{ \"keys\": ... }}",
                m.key
            );
            self.reporter(scope)
                .error("missing_value", &m.key_span, message, help);
            return None;
        };
        let named = Member {
            key: m.key.clone(),
            key_span: m.key_span.clone(),
            value: value.clone(),
        };
        let source = self.read_source(scope, &desc, &named)?;
        Some((desc, source))
    }

    /// Names and values in WGSL.
    pub(super) fn kernel_constants(&mut self, r: &Reading, json: &Json) -> Vec<(String, String)> {
        let mut out = Vec::new();
        for m in self.at_most(r, json, "constants", MOST_CONSTANTS) {
            match constant(&m.value) {
                Some(value) => out.push((m.key.clone(), value)),
                None => {
                    let message = format!("the constant '{}' is {}", m.key, m.value.describe());
                    let help = "expected a number, true, false, or a list of two to four numbers";
                    self.reporter(r.scope)
                        .error("wrong_type", &m.value.span, message, help);
                }
            }
        }
        out
    }
}

/// A constant in WGSL. Whole numbers stay whole, and therefore fit wherever WGSL takes an integer.
fn constant(json: &Json) -> Option<String> {
    let float = |json: &Json| {
        let v = json.number()?;
        let single = v as f32;
        single.is_finite().then(|| format!("{single:?}"))
    };
    match &json.kind {
        Kind::Bool(v) => Some(v.to_string()),
        Kind::Number(v) if v.fract() == 0.0 && v.abs() < 2_147_483_648.0 => Some(format!("{v}")),
        Kind::Number(_) => float(json),
        Kind::Array(list) if (2..=4).contains(&list.len()) => {
            let parts: Vec<String> = list.iter().map(float).collect::<Option<_>>()?;
            Some(format!("vec{}f({})", list.len(), parts.join(", ")))
        }
        _ => None,
    }
}
