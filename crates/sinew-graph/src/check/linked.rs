//! Parameters that are linked: to numbers of an input or a node, or to a joint.

use super::links::{RawSource, Unresolved, with_article};
use super::{Collector, Symbol};
use crate::diagnostic::{closest, listed};
use crate::json::{Json, Member};
use crate::linked::{JOINT, OFFSET, width};
use crate::plan::{InputType, ParameterLink, ParameterSource, Takes};
use crate::value::{expectation, read_remap, read_value, transform};
use sinew_deform::{ParameterDesc, ParameterType, ParameterValue, Phase, PortType};
use sinew_geom::Affine;
use std::ops::Range;

/// The link of a parameter before names are resolved.
#[derive(Clone, Debug)]
pub(super) struct RawLink {
    /// Scope that the link is read in.
    pub(super) scope: usize,
    pub(super) link: String,
    pub(super) span: Range<usize>,
    /// Start of what names the joint or the numbers, for messages of binding.
    pub(super) at: usize,
    /// The parameter, for messages.
    pub(super) parameter: String,
    pub(super) ty: PortType,
    /// Numbers of the source that are read, at least.
    pub(super) count: usize,
    /// What the parameter is without a link.
    pub(super) expected: String,
    /// Whether the document names no pose: that of the node's mesh, if it has one, is taken instead.
    pub(super) of_mesh: bool,
}

/// A link to a pose.
pub(super) struct PoseLink {
    pub(super) link: String,
    pub(super) span: Range<usize>,
    /// Whether it is the main pose, for want of another one.
    pub(super) is_default: bool,
}

impl From<(String, Range<usize>)> for PoseLink {
    fn from((link, span): (String, Range<usize>)) -> Self {
        Self {
            link,
            span,
            is_default: false,
        }
    }
}

/// A link as read: where it leads, and what is taken.
pub(super) type Linked = (RawLink, Takes);

impl Collector<'_> {
    /// What a parameter of a node is linked to. `None` if the value is no link; `Some(None)` if it is a wrong one, which is reported.
    #[expect(
        clippy::option_option,
        reason = "no link and a wrong one are two things"
    )]
    pub(super) fn read_parameter_link(
        &mut self,
        scope: usize,
        ty: ParameterType,
        phase: Phase,
        m: &Member,
    ) -> Option<Option<Linked>> {
        let json = &m.value;
        let found = match (ty, json.text()) {
            (ParameterType::Transform, None) if json.get("joint").is_some() => {
                self.read_joint(scope, m)
            }
            (ty, Some(text)) if width(ty).is_some() && text.trim().parse::<f64>().is_err() => {
                self.read_numbers_text(scope, ty, m, text)
            }
            (ty, None) if width(ty).is_some() && json.get("link").is_some() => {
                self.read_numbers(scope, ty, m)
            }
            _ if phase == Phase::Setup && looks_linked(ty, json) => None,
            (_, None) if looks_linked(ty, json) => {
                self.cannot_follow(scope, ty, m);
                return Some(None);
            }
            _ => return None,
        };
        if phase == Phase::Setup {
            self.read_once(scope, &m.key, ty, &json.span);
            return Some(None);
        }
        Some(found)
    }

    fn read_once(&mut self, scope: usize, name: &str, ty: ParameterType, span: &Range<usize>) {
        let message =
            format!("'{name}' is read once, when the graph is bound, and cannot follow anything");
        let help = format!("expected {}", expectation(ty));
        self.reporter(scope)
            .error("linked_setup", span, message, help);
    }

    /// Reports a link that its parameter cannot follow: a number a joint, or a transform numbers.
    fn cannot_follow(&mut self, scope: usize, ty: ParameterType, m: &Member) {
        let (what, help) = match ty {
            ParameterType::Transform => (
                "numbers, because it is a transform".to_owned(),
                "transforms follow joints: {\"joint\": \"NAME\", \"offset\": {...}}".to_owned(),
            ),
            ty if width(ty).is_some() => (
                format!(
                    "a joint, because only transforms can; it is {}",
                    expectation(ty)
                ),
                "to follow numbers, write {\"link\": \"NODE.PORT\", \"index\": 0}".to_owned(),
            ),
            ty => (
                "anything".to_owned(),
                format!("expected {}", expectation(ty)),
            ),
        };
        let message = format!("'{}' cannot follow {what}", m.key);
        self.reporter(scope)
            .error("cannot_follow", &m.value.span, message, help);
    }

    /// Gives the node that is being read the link, and its parameter the source.
    pub(super) fn linked(&mut self, (raw, takes): Linked) -> ParameterSource {
        self.parameter_links.push(raw);
        ParameterSource::Linked(ParameterLink {
            input: self.parameter_links.len() - 1,
            takes,
            location: String::new(),
        })
    }

    /// `NAME`, `NODE.PORT` or `NODE.PORT[INDEX]`.
    fn read_numbers_text(
        &mut self,
        scope: usize,
        ty: ParameterType,
        m: &Member,
        text: &str,
    ) -> Option<Linked> {
        let (link, index) = match text.strip_suffix(']').and_then(|t| t.rsplit_once('[')) {
            Some((link, index)) => (link, index),
            None => (text, "0"),
        };
        let Ok(first) = index.parse::<u32>() else {
            let message = format!("'{}' is linked to number '{index}'", m.key);
            let help = "expected a whole number from 0 on, such as \"elbow.weights[2]\"";
            self.reporter(scope)
                .error("wrong_type", &m.value.span, message, help);
            return None;
        };
        Some(numbers(
            scope,
            ty,
            m,
            link,
            &m.value.span,
            first as usize,
            None,
        ))
    }

    /// `{ "link": "NODE.PORT", "index": 0, "remap": [[from, to], ...], "interpolation": "linear" }`.
    fn read_numbers(&mut self, scope: usize, ty: ParameterType, m: &Member) -> Option<Linked> {
        let json = &m.value;
        self.check_link_keys(scope, json, &["link", "index", "remap", "interpolation"])?;
        let link = json.get("link")?;
        let Some(text) = link.text() else {
            let message = format!("the link of '{}' is {}", m.key, link.describe());
            let help = "expected the name of an input, a node, or node.port";
            self.reporter(scope)
                .error("wrong_type", &link.span, message, help);
            return None;
        };
        let index_type = ParameterType::Int {
            min: 0,
            max: i64::from(u32::MAX),
        };
        let first = match json.get("index") {
            None => 0,
            Some(index) => match read_value("index", index_type, index, self.reporter(scope))? {
                ParameterValue::Int(first) => usize::try_from(first).ok()?,
                _ => return None,
            },
        };
        let remap = match json.get("remap") {
            None if json.get("interpolation").is_some() => {
                let message = format!("the link of '{}' has an interpolation, but no remap", m.key);
                let help = "add \"remap\": [[from, to], [from, to]], or remove \"interpolation\"";
                self.reporter(scope)
                    .error("missing_remap", &json.span, message, help);
                return None;
            }
            None => None,
            Some(_) => Some(read_remap(&m.key, json, self.reporter(scope))?),
        };
        Some(numbers(scope, ty, m, text, &link.span, first, remap))
    }

    /// `{ "joint": "head", "pose": "pose", "offset": TRANSFORM }`.
    fn read_joint(&mut self, scope: usize, m: &Member) -> Option<Linked> {
        let json = &m.value;
        self.check_link_keys(scope, json, &["joint", "pose", "offset"])?;
        let joint = json.get("joint")?;
        let Some(name) = joint.text() else {
            let message = format!("the joint of '{}' is {}", m.key, joint.describe());
            self.reporter(scope).error(
                "wrong_type",
                &joint.span,
                message,
                "expected the name of a joint",
            );
            return None;
        };
        let name = match name.strip_prefix('$') {
            Some(name) => self.parameter_reference(scope, &JOINT, name, &joint.span)?,
            None => ParameterSource::Constant(ParameterValue::Text(name.to_owned())),
        };
        let offset = match json.get("offset") {
            None => ParameterSource::Constant(ParameterValue::Transform(Affine::identity())),
            Some(offset) => self.read_offset(scope, &m.key, offset)?,
        };
        let pose = self.pose_of(scope, &m.key, json.get("pose"), &json.span)?;
        let at = joint.span.start;
        Some(follows_joint(scope, &m.key, pose, at, name, offset))
    }

    /// The offset of a joint: a transform, keys or a parameter of the graph.
    fn read_offset(&mut self, scope: usize, key: &str, json: &Json) -> Option<ParameterSource> {
        let m = Member {
            key: format!("{key}.offset"),
            key_span: json.span.clone(),
            value: json.clone(),
        };
        if json.get("joint").is_some() {
            let message = format!("'{}' cannot follow a joint itself", m.key);
            let help = "expected a transform, keys, or $NAME of a parameter of the graph";
            self.reporter(scope)
                .error("cannot_follow", &json.span, message, help);
            return None;
        }
        self.read_source(scope, &OFFSET, &m)
    }

    /// The pose that `what` takes its joint from: the given one, or the main pose of the graph, which that of the node's mesh replaces.
    pub(super) fn pose_of(
        &mut self,
        scope: usize,
        what: &str,
        pose: Option<&Json>,
        span: &Range<usize>,
    ) -> Option<PoseLink> {
        let (message, help) = match (pose, self.main_input(scope, InputType::Pose)) {
            (Some(pose), _) => match pose.text() {
                Some(link) => return Some((link.to_owned(), pose.span.clone()).into()),
                None => (
                    format!("the pose of '{what}' is {}", pose.describe()),
                    "expected the name of an input, a node, or node.port",
                ),
            },
            (None, Some(link)) => {
                return Some(PoseLink {
                    link,
                    span: span.clone(),
                    is_default: true,
                });
            }
            (None, None) => (
                format!("'{what}' names a joint, but the graph has no input of type pose"),
                "add \"pose\": {\"type\": \"pose\"} to \"inputs\"",
            ),
        };
        self.reporter(scope)
            .error("missing_pose", span, message, help);
        None
    }

    fn check_link_keys(&mut self, scope: usize, json: &Json, known: &[&str]) -> Option<()> {
        let members = json.members().unwrap_or_default();
        let wrong = members.iter().find(|k| !known.contains(&k.key.as_str()));
        let Some(wrong) = wrong else { return Some(()) };
        let help = match closest(&wrong.key, known.iter().copied()) {
            _ if known.contains(&"offset") && transform::KEYS.contains(&wrong.key.as_str()) => {
                format!(
                    "write it into the offset: \"offset\": {{\"{}\": ...}}",
                    wrong.key
                )
            }
            Some(word) => format!("did you mean '{word}'?"),
            None => format!("expected {}", listed(known.iter().copied())),
        };
        let message = format!("a link has no key '{}'", wrong.key);
        self.reporter(scope)
            .error("unknown_key", &wrong.key_span, message, help);
        None
    }

    /// Sources of the parameters of node `n`, in the order of their links.
    pub(super) fn resolve_parameters(&mut self, n: usize) -> Vec<Option<RawSource>> {
        let links = self.nodes[n].parameter_links.clone();
        let resolved = links.into_iter().map(|raw| {
            let what = format!("parameter '{}' of '{}'", raw.parameter, self.nodes[n].name);
            let source = self.source_of(&raw, &what)?;
            let RawSource::Input(i) = source else {
                return Some(source);
            };
            let count = self.inputs[i].count;
            if raw.ty != PortType::Values || raw.count <= count {
                return Some(source);
            }
            let message = format!(
                "{what} takes {} of '{}', which has {count}",
                number_words(raw.count),
                self.inputs[i].name
            );
            let help =
                format!("expected an index below {count}, or a larger \"count\" of the input");
            self.reporter(raw.scope)
                .error("value_count", &raw.span, message, help);
            None
        });
        resolved.collect()
    }

    /// Where the link of a parameter leads. Reports a link to nothing, or to data of another type.
    fn source_of(&mut self, raw: &RawLink, what: &str) -> Option<RawSource> {
        let source = match self.resolve(raw.scope, &raw.link) {
            Ok(source) => source,
            Err(Unresolved::Said) => return None,
            Err(Unresolved::Wrong(message, help)) => {
                let help = self.similar_source(raw).unwrap_or(help);
                let message = format!("{message}; {what} takes {}, or a link", raw.expected);
                self.reporter(raw.scope)
                    .error("unknown_link", &raw.span, message, help);
                return None;
            }
        };
        let found = self.type_of(source);
        if raw.ty != PortType::Values || raw.ty.takes(found) {
            return self.resolve_link(raw.scope, &raw.link, &raw.span, what, Some(raw.ty));
        }
        let follows = match raw.count {
            1 => "a number",
            _ => "numbers",
        };
        let message = format!(
            "{what} follows {follows}, but '{}' is {}",
            raw.link,
            with_article(found)
        );
        let help = self.sources_of(raw);
        self.reporter(raw.scope)
            .error("wrong_link_type", &raw.span, message, help);
        None
    }

    /// For a link whose name is unknown: a similar name, or all that have data of the type.
    fn similar_source(&self, raw: &RawLink) -> Option<String> {
        let name = raw.link.split('.').next().unwrap_or_default();
        let scope = &self.scopes[raw.scope];
        if scope.symbols.contains_key(name) {
            return None;
        }
        let names = self.names_of(raw);
        let heads = names.iter().filter_map(|n| n.split('.').next());
        Some(match self.suggestion(raw.scope, name, heads) {
            Some(word) => format!("did you mean '{word}'?"),
            None => self.sources_of(raw),
        })
    }

    fn sources_of(&self, raw: &RawLink) -> String {
        let names = self.names_of(raw);
        let what = match raw.ty {
            PortType::Values => "numbers",
            PortType::Mask => "masks",
            other => other.as_str(),
        };
        match names.is_empty() {
            true => format!(
                "no input and no node has {what}; add an input of type {}",
                raw.ty.as_str()
            ),
            false => format!(
                "sources of {what} are {}",
                listed(names.iter().map(String::as_str))
            ),
        }
    }

    /// Links to all data of the type, in document order.
    fn names_of(&self, raw: &RawLink) -> Vec<String> {
        let mut out = Vec::new();
        for name in &self.scopes[raw.scope].names {
            let ports = match self.scopes[raw.scope].symbols.get(name) {
                Some(Symbol::Node(node)) => {
                    let outputs = self.nodes[*node].desc.outputs;
                    outputs.iter().map(|o| o.name.to_owned()).collect()
                }
                Some(Symbol::Graph { scope }) => {
                    let outputs = &self.scopes[*scope].outputs;
                    outputs.iter().map(|o| o.0.clone()).collect()
                }
                _ => Vec::new(),
            };
            let links = match ports.is_empty() {
                true => vec![name.clone()],
                false => ports.iter().map(|port| format!("{name}.{port}")).collect(),
            };
            out.extend(links.into_iter().filter(|link| {
                let source = self.resolve(raw.scope, link);
                source.is_ok_and(|s| raw.ty.takes(self.type_of(s)))
            }));
        }
        out
    }

    /// The link of a parameter that a nested graph was given, as its reader takes it.
    pub(super) fn nested_link(
        &mut self,
        scope: usize,
        desc: &ParameterDesc,
        span: &Range<usize>,
        (raw, mut takes): Linked,
    ) -> Option<ParameterSource> {
        if desc.phase == Phase::Setup {
            self.read_once(scope, desc.name, desc.ty, span);
            return None;
        }
        if let (Takes::Numbers { range, .. }, Some([low, high])) = (&mut takes, range_of(desc.ty)) {
            *range = range.map(|v| v.clamp(low, high));
        }
        Some(self.linked((raw, takes)))
    }
}

/// Whether the value is an object such as links have, or for a choice a text such as `NODE.PORT[INDEX]`.
fn looks_linked(ty: ParameterType, json: &Json) -> bool {
    let is_object = ["joint", "link"].iter().any(|key| json.get(key).is_some());
    let is_choice = matches!(ty, ParameterType::Choice(_));
    let is_text = json.text().is_some_and(|text| text.contains(['.', '[']));
    is_object || (is_choice && is_text)
}

/// A link to a joint. `at`: start of what names the joint.
pub(super) fn follows_joint(
    scope: usize,
    parameter: &str,
    pose: PoseLink,
    at: usize,
    name: ParameterSource,
    offset: ParameterSource,
) -> Linked {
    let raw = RawLink {
        scope,
        link: pose.link,
        span: pose.span,
        of_mesh: pose.is_default,
        at,
        parameter: parameter.to_owned(),
        ty: PortType::Pose,
        count: 0,
        expected: "a transform".into(),
    };
    let takes = Takes::Joint {
        name: Box::new(name),
        offset: Box::new(offset),
        node: None,
        joint_from_bind: Affine::identity(),
    };
    (raw, takes)
}

fn number_words(count: usize) -> String {
    format!("number {}", count - 1)
}

/// A link to a mask.
pub(super) fn mask_link(scope: usize, parameter: &str, link: &str, span: &Range<usize>) -> RawLink {
    RawLink {
        scope,
        link: link.to_owned(),
        span: span.clone(),
        at: span.start,
        parameter: parameter.to_owned(),
        ty: PortType::Mask,
        count: 0,
        expected: "the name of a mask".into(),
        of_mesh: false,
    }
}

fn range_of(ty: ParameterType) -> Option<[f64; 2]> {
    match ty {
        ParameterType::Float { min, max } => Some([min, max]),
        ParameterType::Int { min, max } => Some([min as f64, max as f64]),
        _ => None,
    }
}

fn numbers(
    scope: usize,
    ty: ParameterType,
    m: &Member,
    link: &str,
    span: &Range<usize>,
    first: usize,
    remap: Option<crate::keyed::Keyed>,
) -> Linked {
    let raw = RawLink {
        scope,
        link: link.to_owned(),
        span: span.clone(),
        at: span.start,
        parameter: m.key.clone(),
        ty: PortType::Values,
        count: first + width(ty).unwrap_or(1),
        expected: expectation(ty),
        of_mesh: false,
    };
    let takes = Takes::Numbers {
        first,
        remap,
        range: range_of(ty).unwrap_or([f64::MIN, f64::MAX]),
        factor: 1.0,
    };
    (raw, takes)
}
