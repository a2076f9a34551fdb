//! The `nodes`, `stack` and `outputs` of a document.

use super::{
    Collector, FixedValue, MAX_GIVEN_BYTES, ParameterRef, RawNode, Symbol, angles, description,
    placed,
};
use crate::diagnostic::{closest, instead_of, listed};
use crate::json::{Json, Kind, Member};
use crate::plan::{InputType, ParameterSource};
use crate::renamed;
use crate::value::{check_value, expectation, read_keyed, read_value};
use sinew_deform::{
    FOLLOW, NodeDesc, ParameterDesc, ParameterType, ParameterValue, Phase, PortType, Preset, Role,
};
use std::ops::Range;

/// Keys that every node may have besides its ports and parameters.
pub(super) const COMMON_KEYS: [&str; 3] = ["node", "name", "doc"];
/// The key of nodes that have presets.
pub(crate) const PRESET: &str = "preset";
/// The node kind that nests another graph.
pub(crate) const NESTED_KIND: &str = "graph";
/// The node kind that runs the user's own WGSL.
pub(crate) const KERNEL_KIND: &str = "kernel";

impl Collector<'_> {
    pub(super) fn collect_body(&mut self, scope: usize, root: &Json) {
        if let Some(nodes) = root.get("nodes") {
            for m in self.members_of(scope, nodes, "nodes") {
                if self.check_name(scope, m) {
                    self.collect_node(scope, &m.key, &m.key_span, &m.value, &[]);
                }
            }
        }
        let last = root.get("stack").and_then(|s| self.collect_stack(scope, s));
        self.collect_outputs(scope, root, last);
    }

    /// A chain: each step takes the mesh of the step before. Returns the name of the last step.
    fn collect_stack(&mut self, scope: usize, stack: &Json) -> Option<String> {
        let Some(items) = stack.array() else {
            let message = format!("'stack' is {}", stack.describe());
            self.reporter(scope).error(
                "wrong_type",
                &stack.span,
                message,
                "expected a list such as [\"skin\", {\"node\": \"delta_mush\"}]",
            );
            return None;
        };
        let mut previous = self.main_input(scope, InputType::Mesh);
        let strands = self.main_input(scope, InputType::Strands);
        let pose = self.main_input(scope, InputType::Pose);
        for item in items {
            let made;
            let as_object = match &item.kind {
                Kind::Text(kind) => {
                    let value = Json {
                        span: item.span.clone(),
                        kind: Kind::Text(kind.clone()),
                    };
                    let member = Member {
                        key: "node".into(),
                        key_span: item.span.clone(),
                        value,
                    };
                    made = Json {
                        span: item.span.clone(),
                        kind: Kind::Object([member].into()),
                    };
                    &made
                }
                _ => item,
            };
            let kind = as_object.get("node").and_then(Json::text).unwrap_or("node");
            let base = as_object
                .get("name")
                .and_then(Json::text)
                .unwrap_or(kind)
                .to_owned();
            let name = self.free_name(scope, &base);
            let mut defaults = Vec::new();
            if let Some(p) = &previous {
                defaults.push(("mesh", p.clone()));
            }
            if let Some(p) = &pose {
                defaults.push(("pose", p.clone()));
            }
            if let Some(p) = &strands {
                defaults.push(("strands", p.clone()));
            }
            self.collect_node(scope, &name, &item.span, as_object, &defaults);
            previous = Some(name);
        }
        previous
    }

    /// The input that a stack starts from: the input called `body` (`hair`, `pose`), or else the only input of that type. The order
    /// of keys does not matter.
    pub(super) fn main_input(&self, scope: usize, ty: InputType) -> Option<String> {
        let s = &self.scopes[scope];
        let of_type = |name: &&String| match s.symbols.get(*name) {
            Some(Symbol::Input(i)) => self.inputs[*i].ty == ty,
            Some(Symbol::Alias(i)) => self.aliases[*i].ty == ty,
            _ => false,
        };
        main_of(s.names.iter().filter(of_type).map(String::as_str), ty).map(str::to_owned)
    }

    fn free_name(&mut self, scope: usize, base: &str) -> String {
        let s = &mut self.scopes[scope];
        let mut name = base.to_owned();
        while s.symbols.contains_key(&name) {
            // Remembered, so that a stack of many equal steps does not count up from two each time.
            let number = s.next_number.entry(base.to_owned()).or_insert(2);
            name = format!("{base}_{number}");
            *number += 1;
        }
        name
    }

    pub(super) fn declare(
        &mut self,
        scope: usize,
        name: &str,
        span: &Range<usize>,
        symbol: Symbol,
    ) -> bool {
        if self.scopes[scope].symbols.contains_key(name) {
            self.reporter(scope).error(
                "duplicate_name",
                span,
                format!("the name '{name}' is already in use"),
                "rename one of the two: inputs and nodes need different names",
            );
            return false;
        }
        let s = &mut self.scopes[scope];
        s.names.push(name.to_owned());
        s.symbols.insert(name.to_owned(), symbol);
        true
    }

    fn collect_node(
        &mut self,
        scope: usize,
        name: &str,
        span: &Range<usize>,
        json: &Json,
        defaults: &[(&str, String)],
    ) {
        self.read_node(scope, name, span, json, defaults);
        if !self.scopes[scope].symbols.contains_key(name) {
            self.scopes[scope].broken.insert(name.to_owned());
        }
    }

    fn read_node(
        &mut self,
        scope: usize,
        name: &str,
        span: &Range<usize>,
        json: &Json,
        defaults: &[(&str, String)],
    ) {
        if json.members().is_none() {
            let message = format!("node '{name}' is {}", json.describe());
            self.reporter(scope).error(
                "wrong_type",
                &json.span,
                message,
                "expected an object such as {\"node\": \"skin\", ...}",
            );
            return;
        }
        let Some(kind_json) = json.get("node") else {
            self.reporter(scope).error(
                "missing_kind",
                span,
                format!("node '{name}' has no kind"),
                "add \"node\": \"skin\" or another kind; `sinew nodes` lists them",
            );
            return;
        };
        match kind_json.text() {
            Some(NESTED_KIND) => self.collect_graph(scope, name, span, json, defaults),
            Some(KERNEL_KIND) => self.collect_kernel(scope, name, span, json, defaults),
            Some(kind) => match self.find_kind(scope, kind, &kind_json.span) {
                Some(desc) => match description::fault(desc) {
                    None => self.collect_plain(scope, name, span, json, desc, defaults),
                    Some(fault) => self.reporter(scope).error(
                        "node_description",
                        &kind_json.span,
                        format!("the description of node kind '{kind}' is inconsistent: {fault}"),
                        "this is a bug in the node, not in the document",
                    ),
                },
                None => self.unknown_kind(scope, kind, &kind_json.span),
            },
            None => {
                let message = format!("the kind of '{name}' is {}", kind_json.describe());
                self.reporter(scope).error(
                    "wrong_type",
                    &kind_json.span,
                    message,
                    "expected the name of a node kind",
                );
            }
        }
    }

    /// The node kind of that name, which may be an old one.
    fn find_kind(
        &mut self,
        scope: usize,
        kind: &str,
        span: &Range<usize>,
    ) -> Option<&'static NodeDesc> {
        let find = |name: &str| self.kinds.iter().copied().find(|d| d.name == name);
        if let Some(desc) = find(kind) {
            return Some(desc);
        }
        let new = renamed::kind(kind)?;
        let desc = find(new)?;
        let message = format!("node kind '{kind}' is called '{new}' now");
        self.reporter(scope)
            .warning("renamed", span, message, renamed::help(new));
        Some(desc)
    }

    fn unknown_kind(&mut self, scope: usize, kind: &str, span: &Range<usize>) {
        let help = match closest(kind, self.kinds.iter().map(|d| d.name)) {
            Some(word) => format!("did you mean '{word}'?"),
            None => "`sinew nodes` lists all kinds".into(),
        };
        let message = format!("there is no node kind '{kind}'");
        self.reporter(scope)
            .error("unknown_node", span, message, help);
    }

    fn collect_plain(
        &mut self,
        scope: usize,
        name: &str,
        span: &Range<usize>,
        json: &Json,
        desc: &'static NodeDesc,
        defaults: &[(&str, String)],
    ) {
        if !self.declare(scope, name, span, Symbol::Node(self.nodes.len())) {
            return;
        }
        let mut links: Vec<Option<(String, Range<usize>)>> = vec![None; desc.inputs.len()];
        let preset = self.read_preset(scope, desc, json);
        let mut parameters: Vec<ParameterSource> = desc
            .parameters
            .iter()
            .map(|p| match preset.and_then(|preset| preset.value(p)) {
                Some(value) => ParameterSource::Constant(value),
                None => ParameterSource::of_default(p),
            })
            .collect();
        let mut given = Vec::new();
        self.check_members(scope, json, &[], &["doc"]);
        for m in json.members().unwrap_or_default() {
            if let Some(i) = desc.inputs.iter().position(|p| p.name == m.key) {
                let more = usize::from(desc.inputs[i].more);
                self.read_links(scope, name, m, &mut links[i..=i + more]);
            } else if let Some(i) = desc.parameters.iter().position(|p| p.name == m.key) {
                if let Some(source) = self.read_source(scope, &desc.parameters[i], m) {
                    self.warn_of_degrees(scope, &desc.parameters[i], m, &source);
                    self.warn_of_reset(scope, m, &source);
                    parameters[i] = source;
                    given.push((i, m.value.span.clone()));
                }
            } else if let Some(i) = desc
                .parameters
                .iter()
                .position(|p| angles::is_key(p, &m.key))
            {
                let angle = &desc.parameters[i];
                if let Some(source) = self.read_degrees(scope, json, angle, m) {
                    parameters[i] = source;
                }
            } else if (m.key == placed::FIT && desc.fitted_region().is_some())
                || (m.key == PRESET && !desc.docs.presets.is_empty())
            {
                // Read above or below.
            } else if !COMMON_KEYS.contains(&m.key.as_str()) && !placed::is_key(desc, &m.key) {
                self.unknown_port(scope, desc, m);
            }
        }
        self.check_counts(scope, name, desc, &parameters, &given);
        for (i, port) in desc.inputs.iter().enumerate() {
            // What follows the mesh is linked once all nodes are known.
            if links[i].is_none()
                && !port.of_mesh
                && let Some((_, link)) = defaults.iter().find(|(p, _)| *p == port.name)
            {
                links[i] = Some((link.clone(), span.clone()));
            }
            if links[i].is_none() && port.required {
                let message = format!(
                    "node '{name}' ({}) needs the input '{}'",
                    desc.name, port.name
                );
                self.reporter(scope).error(
                    "missing_input",
                    span,
                    message,
                    format!(
                        "add \"{}\": \"NAME\", a link to a {}: {}",
                        port.name,
                        port.ty.as_str(),
                        port.doc
                    ),
                );
            }
        }
        let pose = desc.inputs.iter().position(|p| p.ty == PortType::Pose);
        let pose = pose.and_then(|i| links[i].clone());
        self.read_follow(scope, desc, json, pose.clone(), &mut parameters);
        let fit = self.read_fit(scope, desc, json, pose, &parameters);
        let full = format!("{}{name}", self.scopes[scope].prefix);
        self.nodes.push(RawNode {
            name: full,
            scope,
            span: span.clone(),
            desc,
            kernel: None,
            links,
            parameters,
            fit,
            parameter_links: std::mem::take(&mut self.parameter_links),
        });
    }

    /// The preset that a node names, if any.
    fn read_preset(
        &mut self,
        scope: usize,
        desc: &'static NodeDesc,
        json: &Json,
    ) -> Option<&'static Preset> {
        let value = json.get(PRESET)?;
        let presets = desc.docs.presets;
        if presets.is_empty() {
            return None; // An unknown key, which is reported.
        }
        let names = || presets.iter().map(|p| p.name);
        let (code, message, help) = match value.text() {
            Some(name) => match presets.iter().find(|p| p.name == name) {
                Some(preset) => return Some(preset),
                None => (
                    "unknown_preset",
                    format!("{} has no preset '{name}'", desc.name),
                    instead_of(name, names()),
                ),
            },
            None => (
                "wrong_type",
                format!("'{PRESET}' is {}", value.describe()),
                format!("expected the name of a preset: {}", listed(names())),
            ),
        };
        self.reporter(scope).error(code, &value.span, message, help);
        None
    }

    /// Checks that a list of points has as many points as its grid, if the document states both. `given`: parameters in the document.
    fn check_counts(
        &mut self,
        scope: usize,
        name: &str,
        desc: &NodeDesc,
        parameters: &[ParameterSource],
        given: &[(usize, Range<usize>)],
    ) {
        for (i, span) in given {
            let points = &desc.parameters[*i];
            let Role::PointsOf(grid) = points.role else {
                continue;
            };
            let found = desc.parameters.iter().position(|p| p.name == grid);
            let Some(ParameterSource::Constant(ParameterValue::Int3(counts))) =
                found.map(|found| &parameters[found])
            else {
                continue;
            };
            let expected: i64 = counts.iter().product();
            let lists = match &parameters[*i] {
                ParameterSource::Constant(value) => std::slice::from_ref(value),
                ParameterSource::Keyed(keyed) => &keyed.values,
                ParameterSource::Linked(_)
                | ParameterSource::Parameter(_)
                | ParameterSource::FrameTime => &[],
            };
            let wrong = lists.iter().find_map(|value| match value {
                ParameterValue::Points(p) if !p.is_empty() && p.len() as i64 != expected => {
                    Some(p.len())
                }
                _ => None,
            });
            if let Some(found) = wrong {
                let [x, y, z] = counts;
                let message = format!(
                    "'{}' of '{name}' has {found} points, but {grid} {x} x {y} x {z} needs {expected}",
                    points.name
                );
                let help = "give one point for each grid point, x fastest, then y, then z; an empty list means the grid at rest";
                self.reporter(scope)
                    .error("point_count", span, message, help);
            }
        }
    }

    /// The link or the list of links at an input. A list fills the ports of its list in order.
    fn read_links(
        &mut self,
        scope: usize,
        node: &str,
        m: &Member,
        links: &mut [Option<(String, Range<usize>)>],
    ) {
        let what = format!("input '{}' of '{node}'", m.key);
        let is_list = links.len() > 1 && m.value.array().is_some();
        let items = match m.value.array() {
            Some(items) if is_list => items,
            _ => std::slice::from_ref(&m.value),
        };
        if items.len() > links.len() {
            let message = format!("{what} has {} links", items.len());
            let help = format!("expected at most {}", links.len());
            self.reporter(scope)
                .error("too_many_links", &m.value.span, message, help);
            return;
        }
        for (item, port) in items.iter().zip(links) {
            let Some(link) = item.text() else {
                let message = format!("{what} is {}", item.describe());
                let help = "expected the name of an input, a node, or node.port";
                self.reporter(scope)
                    .error("wrong_type", &item.span, message, help);
                continue;
            };
            if port.is_some() {
                let message =
                    format!("{what} is linked twice: '{link}' would replace another link");
                let help = "use either one list or the single inputs, not both";
                self.reporter(scope)
                    .error("linked_twice", &item.span, message, help);
            }
            *port = Some((link.to_owned(), item.span.clone()));
        }
    }

    /// Warns of a simulation that restarts in every frame.
    fn warn_of_reset(&mut self, scope: usize, m: &Member, source: &ParameterSource) {
        let always = ParameterSource::Constant(ParameterValue::Bool(true));
        if m.key == "reset" && *source == always {
            self.reporter(scope).warning(
                "constant_reset",
                &m.value.span,
                "'reset' is true in every frame, therefore nothing is ever simulated",
                "use a parameter whose keys are true only in the frames of a cut",
            );
        }
    }

    fn unknown_port(&mut self, scope: usize, desc: &NodeDesc, m: &Member) {
        let names = || {
            desc.inputs
                .iter()
                .map(|p| p.name)
                .chain(desc.parameters.iter().map(|p| p.name))
        };
        let follow = desc.placement().map(|_| FOLLOW.name);
        let fit = desc.fitted_region().map(|_| placed::FIT);
        let preset = desc.docs.presets.first().map(|_| PRESET);
        let names = || names().chain(follow).chain(fit).chain(preset);
        let angles = desc.parameters.iter().filter(|p| p.is_angle());
        let mut degrees = angles.map(|p| format!("{}_degrees", p.name));
        let help = match closest(&m.key, names()) {
            Some(word) => format!("did you mean '{word}'?"),
            None => match degrees.find(|word| word.starts_with(&m.key)) {
                Some(word) => format!("did you mean '{word}'?"),
                None => format!("it has {}", listed(names())),
            },
        };
        self.reporter(scope).error(
            "unknown_port",
            &m.key_span,
            format!("{} has no input or parameter '{}'", desc.name, m.key),
            help,
        );
    }

    pub(super) fn read_source(
        &mut self,
        scope: usize,
        desc: &ParameterDesc,
        m: &Member,
    ) -> Option<ParameterSource> {
        if let Some(reference) = m.value.text().and_then(|t| t.strip_prefix('$')) {
            return self.parameter_reference(scope, desc, reference, &m.value.span);
        }
        if desc.ty.is_setup_only() {
            return self.read_setup_only(scope, desc, m);
        }
        if let Some(linked) = self.read_parameter_link(scope, desc.ty, desc.phase, m) {
            return Some(self.linked(linked?));
        }
        if let Some(keyed) = read_keyed(&m.key, desc.ty, &m.value, self.reporter(scope)) {
            let keyed = keyed?;
            if desc.phase == Phase::Setup {
                self.reporter(scope).error(
                    "keyed_setup",
                    &m.value.span,
                    format!("'{}' is read in setup only and cannot have keys", m.key),
                    "use one value instead",
                );
                return None;
            }
            return Some(ParameterSource::Keyed(keyed));
        }
        if self.is_too_large_in_radians(scope, desc, m) {
            return None;
        }
        read_value(&m.key, desc.ty, &m.value, self.reporter(scope)).map(ParameterSource::Constant)
    }

    /// A list that must stand in the node itself.
    fn read_setup_only(
        &mut self,
        scope: usize,
        desc: &ParameterDesc,
        m: &Member,
    ) -> Option<ParameterSource> {
        if m.value.get("keys").is_some() {
            self.reporter(scope).error(
                "keyed_setup",
                &m.value.span,
                format!("'{}' is read in setup only and cannot have keys", m.key),
                format!("expected {}", expectation(desc.ty)),
            );
            return None;
        }
        read_value(&m.key, desc.ty, &m.value, self.reporter(scope)).map(ParameterSource::Constant)
    }

    pub(super) fn parameter_reference(
        &mut self,
        scope: usize,
        desc: &ParameterDesc,
        reference: &str,
        span: &Range<usize>,
    ) -> Option<ParameterSource> {
        if desc.ty.is_setup_only() {
            self.reporter(scope).error(
                "wrong_type",
                span,
                format!("'{}' cannot refer to a parameter of the graph", desc.name),
                format!("write the value here: {}", expectation(desc.ty)),
            );
            return None;
        }
        let Some(found) = self.reference(scope, reference, span)? else {
            if self.scopes[scope].broken_parameters.contains(reference) {
                return None;
            }
            let parameters = &self.scopes[scope].parameters;
            // Sorted, so that of equally close names the same one is meant each time; only where it is asked for.
            let known = std::iter::once_with(|| {
                let mut names: Vec<&str> = parameters.keys().map(String::as_str).collect();
                names.sort_unstable();
                names
            });
            let help = match self.suggestion(scope, reference, known.flatten()) {
                Some(word) => format!("did you mean '${word}'?"),
                None => format!(
                    "declare it under \"parameters\": {{\"{reference}\": {{\"type\": ..., \"default\": ...}}}}"
                ),
            };
            self.reporter(scope).error(
                "unknown_parameter",
                span,
                format!("there is no parameter '{reference}'"),
                help,
            );
            return None;
        };
        match found {
            ParameterRef::Fixed { ty, source } => {
                self.fixed_reference(scope, desc, reference, span, ty, source)
            }
            ParameterRef::Declared(index) => self
                .narrow_declared(
                    scope,
                    index,
                    desc.ty,
                    desc.phase == Phase::Setup,
                    desc.name,
                    reference,
                    span,
                )
                .then_some(ParameterSource::Parameter(index)),
        }
    }

    /// A copy of what `$name` stands for, if anything. `None` if copies take too much memory, which is reported.
    #[expect(clippy::option_option, reason = "unknown and refused are two things")]
    pub(super) fn reference(
        &mut self,
        scope: usize,
        name: &str,
        span: &Range<usize>,
    ) -> Option<Option<ParameterRef>> {
        let Some(found) = self.scopes[scope].parameters.get(name) else {
            return Some(None);
        };
        let ParameterRef::Fixed { source, .. } = found else {
            return Some(Some(found.clone()));
        };
        if self.given_bytes <= MAX_GIVEN_BYTES {
            self.given_bytes = self.given_bytes.saturating_add(source.bytes());
        }
        if self.given_bytes <= MAX_GIVEN_BYTES {
            return Some(Some(found.clone()));
        }
        self.reporter(scope).error(
            "too_large",
            span,
            format!("the values given to nested graphs take more than {MAX_GIVEN_BYTES} bytes"),
            "each value counts once for each reader; declare large values as parameters of the outermost graph",
        );
        None
    }

    /// Narrows the range of a declared parameter to the range of its reader. False if the two do not fit together.
    #[expect(
        clippy::too_many_arguments,
        reason = "both sides are named in messages"
    )]
    pub(super) fn narrow_declared(
        &mut self,
        scope: usize,
        index: usize,
        ty: ParameterType,
        setup: bool,
        taker: &str,
        reference: &str,
        span: &Range<usize>,
    ) -> bool {
        self.unread_parameters.remove(&index);
        let decl = &mut self.parameters[index];
        if setup && !decl.setup {
            let message = format!(
                "'{taker}' is read in setup only, but '${reference}' may change at any time"
            );
            self.reporter(scope).error(
                "setup_parameter",
                span,
                message,
                format!("add \"setup\": true to the declaration of '{reference}'"),
            );
            return false;
        }
        match narrow(decl.ty, ty) {
            // Its values are known to fit.
            Some(ty) if ty == decl.ty => return true,
            Some(ty) => decl.ty = ty,
            None => {
                self.reporter(scope).error(
                    "wrong_type",
                    span,
                    format!("the type of '${reference}' does not fit '{taker}'"),
                    format!("expected {}", expectation(ty)),
                );
                return false;
            }
        }
        let values = decl
            .keyed
            .iter()
            .flat_map(|k| &k.values)
            .chain([&decl.default]);
        let bad = values
            .into_iter()
            .find_map(|v| check_value(decl.ty, v).err());
        if let Some(message) = bad {
            self.reporter(scope).error(
                "out_of_range",
                span,
                format!("a value of '${reference}' does not fit '{taker}'"),
                message,
            );
            return false;
        }
        true
    }

    fn fixed_reference(
        &mut self,
        scope: usize,
        desc: &ParameterDesc,
        reference: &str,
        span: &Range<usize>,
        ty: ParameterType,
        source: FixedValue,
    ) -> Option<ParameterSource> {
        let fits = narrow(ty, desc.ty).is_some();
        if !fits
            || source
                .values()
                .iter()
                .any(|v| check_value(desc.ty, v).is_err())
        {
            self.reporter(scope).error(
                "wrong_type",
                span,
                format!(
                    "the value given for '${reference}' does not fit '{}'",
                    desc.name
                ),
                format!("expected {}", expectation(desc.ty)),
            );
            return None;
        }
        match source {
            FixedValue::Constant(v) => Some(ParameterSource::Constant(v)),
            FixedValue::Keyed(_) if desc.phase == Phase::Setup => {
                self.reporter(scope).error(
                    "keyed_setup",
                    span,
                    format!("'{}' is read in setup only and cannot have keys", desc.name),
                    "use one value instead",
                );
                None
            }
            FixedValue::Keyed(k) => Some(ParameterSource::Keyed(k)),
            FixedValue::Linked(linked) => self.nested_link(scope, desc, span, *linked),
        }
    }

    fn collect_outputs(&mut self, scope: usize, root: &Json, last_of_stack: Option<String>) {
        match (root.get("outputs"), last_of_stack) {
            (Some(json), _) => {
                for m in self.members_of(scope, json, "outputs") {
                    if !self.check_name(scope, m) {
                        continue;
                    }
                    match m.value.text() {
                        Some(link) => self.scopes[scope].outputs.push((
                            m.key.clone(),
                            link.to_owned(),
                            m.value.span.clone(),
                        )),
                        None => {
                            let message = format!("output '{}' is {}", m.key, m.value.describe());
                            self.reporter(scope).error(
                                "wrong_type",
                                &m.value.span,
                                message,
                                "expected the name of a node, or node.port",
                            );
                        }
                    }
                }
            }
            (None, Some(last)) => {
                let name = self
                    .main_input(scope, InputType::Mesh)
                    .unwrap_or_else(|| "body".into());
                self.scopes[scope]
                    .outputs
                    .push((name, last, root.span.clone()));
            }
            (None, None) => {}
        }
        if self.scopes[scope].outputs.is_empty() {
            self.reporter(scope).error(
                "missing_outputs",
                &(root.span.start..root.span.start + 1),
                "the graph has no output",
                "add \"outputs\": {\"body\": \"<last node>\"}",
            );
        }
    }
}

/// The main input of a type: the input called `body` (`pose`), or else the only one.
pub(super) fn main_of<'a>(
    mut names: impl Iterator<Item = &'a str> + Clone,
    ty: InputType,
) -> Option<&'a str> {
    let usual = match ty {
        InputType::Mesh => "body",
        InputType::Strands => "hair",
        InputType::Pose => "pose",
        InputType::Values => "values",
        InputType::VertexAnimation => "animation",
    };
    if let Some(found) = names.clone().find(|n| *n == usual) {
        return Some(found);
    }
    let only = names.next()?;
    names.next().is_none().then_some(only)
}

/// The intersection of a declared type and a node's type, if both are of the same kind.
pub(super) fn narrow(declared: ParameterType, node: ParameterType) -> Option<ParameterType> {
    use ParameterType as T;
    match (declared, node) {
        (T::Float { min: a, max: b }, T::Float { min, max }) => Some(T::Float {
            min: a.max(min),
            max: b.min(max),
        }),
        (T::Int { min: a, max: b }, T::Int { min, max }) => Some(T::Int {
            min: a.max(min),
            max: b.min(max),
        }),
        (T::Int3 { min: a, max: b }, T::Int3 { min, max }) => Some(T::Int3 {
            min: a.max(min),
            max: b.min(max),
        }),
        (T::Text, T::Choice(c)) => Some(T::Choice(c)),
        (T::Choice(a), T::Choice(b)) if std::ptr::eq(a, b) => Some(T::Choice(a)),
        (T::Bool, T::Bool)
        | (T::Text, T::Text)
        | (T::Vec3, T::Vec3)
        | (T::Vec4, T::Vec4)
        | (T::Transform, T::Transform)
        | (T::Floats, T::Floats)
        | (T::Points, T::Points)
        | (T::Texts, T::Texts) => Some(declared),
        _ => None,
    }
}
