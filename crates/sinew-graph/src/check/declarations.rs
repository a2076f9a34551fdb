//! The `inputs` and `parameters` of a document.

use super::{Collector, ParameterRef, Symbol};
use crate::diagnostic::{closest, listed};
use crate::json::{Json, Member};
use crate::plan::{Followers, InputDecl, InputType, ParameterDecl, Thickness};
use crate::value::{check_value, read_keyed, read_value};
use sinew_deform::{ParameterType, ParameterValue};
use sinew_geom::{Curl, Selection};
use std::collections::HashMap;

const FOLLOWER_KEYS: &[&str] = &[
    "count",
    "radius",
    "tip_separation",
    "length_variation",
    "curl",
    "curl_length",
    "frizz",
    "frizz_length",
    "seed",
    "skin",
];

impl Collector<'_> {
    /// Declares the inputs of the outermost graph. A document without inputs gets `body` and `pose`.
    pub(super) fn declare_inputs(&mut self, scope: usize, root: &Json) {
        for decl in self.read_inputs(scope, root) {
            self.add_input(scope, decl);
        }
    }

    /// The inputs that a document declares, or `body` and `pose` if it declares none.
    pub(super) fn read_inputs(&mut self, scope: usize, root: &Json) -> Vec<InputDecl> {
        let Some(json) = root.get("inputs") else {
            return [("body", InputType::Mesh), ("pose", InputType::Pose)]
                .map(|(name, ty)| InputDecl {
                    name: name.into(),
                    ty,
                    selection: Selection::All,
                    file: None,
                    point_cache: None,
                    joints: None,
                    followers: None,
                    thickness: None,
                    count: 0,
                })
                .into();
        };
        let mut out = Vec::new();
        for m in self.members_of(scope, json, "inputs") {
            match self.read_input(scope, m) {
                Some(decl) => out.push(decl),
                None => _ = self.scopes[scope].broken.insert(m.key.clone()),
            }
        }
        self.check_named_inputs(scope, json, &out);
        out
    }

    /// Checks that inputs exist that other inputs name: poses that give joints, meshes that followers grow on.
    fn check_named_inputs(&mut self, scope: usize, json: &Json, inputs: &[InputDecl]) {
        let given = json.by_key();
        let types: HashMap<&str, InputType> =
            inputs.iter().map(|i| (i.name.as_str(), i.ty)).collect();
        for input in inputs {
            let at = given.get(input.name.as_str()).map(|m| &m.value);
            if let Some(name) = &input.joints
                && types.get(name.as_str()) != Some(&InputType::Pose)
            {
                let location = at.and_then(|i| i.get("joints")).unwrap_or(json);
                self.unknown_input(
                    scope,
                    &input.name,
                    (name, location),
                    inputs,
                    InputType::Pose,
                );
            }
            if let Some(name) = input.followers.as_ref().and_then(|f| f.skin.as_ref())
                && types.get(name.as_str()) != Some(&InputType::Mesh)
            {
                let followers = at.and_then(|i| i.get("followers"));
                let location = followers.and_then(|f| f.get("skin")).unwrap_or(json);
                self.unknown_input(
                    scope,
                    &input.name,
                    (name, location),
                    inputs,
                    InputType::Mesh,
                );
            }
        }
    }

    /// Reports a name that is not an input of that type, at the location of the name.
    fn unknown_input(
        &mut self,
        scope: usize,
        input: &str,
        (name, location): (&str, &Json),
        inputs: &[InputDecl],
        ty: InputType,
    ) {
        let known = || {
            let of_type = inputs.iter().filter(|i| i.ty == ty);
            of_type.map(|i| i.name.as_str())
        };
        let what = if ty == InputType::Mesh {
            "mesh"
        } else {
            "pose"
        };
        let message = format!("input '{input}': there is no {what} input '{name}'");
        let help = match self.suggestion(scope, name, known()) {
            Some(word) => format!("did you mean '{word}'?"),
            None if known().next().is_none() => format!("this graph has no {what} inputs"),
            None => format!("the {what} inputs of this graph are {}", listed(known())),
        };
        self.reporter(scope)
            .error("unknown_link", &location.span, message, help);
    }

    fn add_input(&mut self, scope: usize, decl: InputDecl) {
        let s = &mut self.scopes[scope];
        s.names.push(decl.name.clone());
        s.symbols
            .insert(decl.name.clone(), Symbol::Input(self.inputs.len()));
        self.inputs.push(decl);
    }

    /// Members of an object. Reports a value that is not an object.
    pub(super) fn members_of<'j>(
        &mut self,
        scope: usize,
        json: &'j Json,
        what: &str,
    ) -> &'j [Member] {
        match json.members() {
            Some(m) => m,
            None => {
                let message = format!("'{what}' is {}", json.describe());
                self.reporter(scope).error(
                    "wrong_type",
                    &json.span,
                    message,
                    "expected an object: {\"NAME\": ..., ...}",
                );
                &[]
            }
        }
    }

    /// Reports a name that a link could not express.
    pub(super) fn check_name(&mut self, scope: usize, m: &Member) -> bool {
        let bad = m.key.is_empty()
            || m.key.contains(['.', '$', '/'])
            || m.key.chars().any(char::is_control);
        if bad {
            self.reporter(scope).error(
                "bad_name",
                &m.key_span,
                format!("'{}' cannot be a name", m.key),
                "a name is not empty and has no '.', '$', '/' or control character",
            );
        }
        !bad
    }

    pub(super) fn unknown_keys(&mut self, scope: usize, json: &Json, what: &str, known: &[&str]) {
        for m in json.members().unwrap_or_default() {
            if !known.contains(&m.key.as_str()) {
                let help = match closest(&m.key, known.iter().copied()) {
                    Some(k) => format!("did you mean '{k}'?"),
                    None => format!("its keys are {}", known.join(", ")),
                };
                self.reporter(scope).error(
                    "unknown_key",
                    &m.key_span,
                    format!("{what} has no key '{}'", m.key),
                    help,
                );
            }
        }
    }

    /// Reports members that should be numbers or texts and are not: they would be ignored.
    pub(super) fn check_members(
        &mut self,
        scope: usize,
        json: &Json,
        numbers: &[&str],
        texts: &[&str],
    ) {
        for m in json.members().unwrap_or_default() {
            let expected = match m.key.as_str() {
                key if numbers.contains(&key) && m.value.number().is_none() => "a number",
                key if texts.contains(&key) && m.value.text().is_none() => "a text",
                _ => continue,
            };
            let message = format!("'{}' is {}", m.key, m.value.describe());
            let help = format!("expected {expected}");
            self.reporter(scope)
                .error("wrong_type", &m.value.span, message, help);
        }
    }

    fn read_input(&mut self, scope: usize, m: &Member) -> Option<InputDecl> {
        if !self.check_name(scope, m) {
            return None;
        }
        self.unknown_keys(
            scope,
            &m.value,
            "an input",
            &[
                "type",
                "select",
                "file",
                "point_cache",
                "joints",
                "followers",
                "thickness",
                "count",
                "doc",
            ],
        );
        self.check_members(scope, &m.value, &[], &["doc"]);
        let ty = match m.value.get("type").and_then(Json::text) {
            Some("mesh") => InputType::Mesh,
            Some("strands") => InputType::Strands,
            Some("pose") => InputType::Pose,
            Some("values") => InputType::Values,
            Some("vertex_animation") => InputType::VertexAnimation,
            _ => {
                let span = m
                    .value
                    .get("type")
                    .map_or(&m.value.span, |t| &t.span)
                    .clone();
                self.reporter(scope).error(
                    "wrong_type",
                    &span,
                    format!("the type of input '{}' is missing or unknown", m.key),
                    "expected \"type\": \"mesh\", \"strands\", \"pose\", \"values\" or \"vertex_animation\"",
                );
                return None;
            }
        };
        let selection = self.text_of(
            scope,
            m,
            "select",
            "one name, in which `*` matches any characters; for several meshes, declare several inputs",
        )?;
        let file = self.text_of(
            scope,
            m,
            "file",
            "the path of a file, relative to this document",
        )?;
        let point_cache = self.text_of(
            scope,
            m,
            "point_cache",
            "the path of a point cache (.pc2, .mdd, .npz, numbered .obj or .ply), relative to this document",
        )?;
        if point_cache.is_some() && !matches!(ty, InputType::Mesh | InputType::Strands) {
            self.reporter(scope).error(
                "wrong_type",
                &m.value.span,
                format!("input '{}' cannot use a \"point_cache\"", m.key),
                "inputs of type \"mesh\" and \"strands\" take a point cache",
            );
            return None;
        }
        let joints = self.text_of(scope, m, "joints", "the name of a pose input")?;
        let count_type = ParameterType::Int {
            min: 1,
            max: 1 << 24,
        };
        let count = match m.value.get("count") {
            Some(json) => match read_value("count", count_type, json, self.reporter(scope)) {
                Some(ParameterValue::Int(v)) => usize::try_from(v).unwrap_or(0),
                _ => 0,
            },
            None => 0,
        };
        if ty == InputType::Values && count == 0 {
            self.reporter(scope).error(
                "missing_count",
                &m.value.span,
                format!("input '{}' of type \"values\" has no count", m.key),
                "add \"count\": the number of floats per frame",
            );
            return None;
        }
        let followers = match m.value.get("followers") {
            Some(json) => Some(self.read_followers(scope, &m.key, ty, json)?),
            None => None,
        };
        let thickness = match m.value.get("thickness") {
            Some(json) => Some(self.read_thickness(scope, &m.key, ty, json)?),
            None => None,
        };
        Some(InputDecl {
            name: m.key.clone(),
            followers,
            thickness,
            ty,
            selection: selection.map_or(Selection::All, Selection::Named),
            file,
            point_cache,
            joints,
            count,
        })
    }

    /// The text at `key` of an input, if the key is there. `None` if the value is not a text.
    #[expect(clippy::option_option, reason = "absent and wrong are two things")]
    fn text_of(
        &mut self,
        scope: usize,
        m: &Member,
        key: &str,
        expected: &str,
    ) -> Option<Option<String>> {
        let Some(json) = m.value.get(key) else {
            return Some(None);
        };
        let text = json.text().map(str::to_owned);
        if text.is_none() {
            let message = format!("'{key}' of input '{}' is {}", m.key, json.describe());
            self.reporter(scope).error(
                "wrong_type",
                &json.span,
                message,
                format!("expected {expected}"),
            );
        }
        text.map(Some)
    }

    /// Reads the followers of a strands input.
    fn read_followers(
        &mut self,
        scope: usize,
        input: &str,
        ty: InputType,
        json: &Json,
    ) -> Option<Followers> {
        let members = json.members().filter(|_| ty == InputType::Strands);
        let Some(members) = members else {
            self.reporter(scope).error(
                "wrong_type",
                &json.span,
                format!("input '{input}' cannot use these \"followers\""),
                "inputs of type \"strands\" take \"followers\": {\"count\": 2, \"radius\": 0.01}",
            );
            return None;
        };
        self.unknown_keys(scope, json, "\"followers\"", FOLLOWER_KEYS);
        let whole = |max| ParameterType::Int { min: 0, max };
        let (min, max) = (0.0, 1e9);
        let number = ParameterType::Float { min, max };
        let mut out = Followers::default();
        for m in members {
            let ty = match m.key.as_str() {
                "count" => whole(1 << 16),
                "seed" => whole(i64::from(u32::MAX)),
                "skin" => ParameterType::Text,
                "radius" | "curl" | "frizz" => number,
                "length_variation" => ParameterType::Float { min, max: 1.0 },
                // A micrometre: what is shorter is no curl.
                "curl_length" | "frizz_length" => ParameterType::Float { min: 1e-6, max },
                // -1: the tips meet.
                "tip_separation" => ParameterType::Float { min: -1.0, max },
                _ => continue,
            };
            let value = read_value(&m.key, ty, &m.value, self.reporter(scope))?;
            match (m.key.as_str(), value) {
                ("count", ParameterValue::Int(v)) => out.count = usize::try_from(v).unwrap_or(0),
                ("seed", ParameterValue::Int(v)) => out.seed = u32::try_from(v).unwrap_or(0),
                ("skin", ParameterValue::Text(v)) => out.skin = Some(v),
                ("radius", ParameterValue::Float(v)) => out.radius = v,
                ("length_variation", ParameterValue::Float(v)) => out.length_variation = v,
                ("curl", ParameterValue::Float(v)) => out.curl = v,
                ("curl_length", ParameterValue::Float(v)) => out.curl_length = v,
                ("frizz", ParameterValue::Float(v)) => out.frizz = v,
                ("frizz_length", ParameterValue::Float(v)) => out.frizz_length = v,
                (_, ParameterValue::Float(v)) => out.tip_separation = v,
                _ => {}
            }
        }
        if out.curl > Curl::WIDEST * out.curl_length {
            let found = format!("'curl' is {}, which is out of range", out.curl);
            let most = Curl::WIDEST * out.curl_length;
            let help = format!(
                "expected at most {most} m, 0.15 of \"curl_length\": a wider curl is longer around than its hair; 4 mm are 0.004"
            );
            let at = json.get("curl").unwrap_or(json);
            self.reporter(scope)
                .error("out_of_range", &at.span, found, help);
            return None;
        }
        Some(out)
    }

    /// Reads the thickness of a strands input.
    fn read_thickness(
        &mut self,
        scope: usize,
        input: &str,
        ty: InputType,
        json: &Json,
    ) -> Option<Thickness> {
        let root = json.get("root").filter(|_| ty == InputType::Strands);
        let Some(root) = root else {
            self.reporter(scope).error(
                "wrong_type",
                &json.span,
                format!("input '{input}' cannot use this \"thickness\""),
                "inputs of type \"strands\" take \"thickness\": {\"root\": 0.0001, \"tip\": 0.00003}, diameters in metres",
            );
            return None;
        };
        self.unknown_keys(scope, json, "\"thickness\"", &["root", "tip"]);
        let (min, max) = (0.0, 1e9);
        let mut number = |name: &str, json: &Json| {
            let ty = ParameterType::Float { min, max };
            match read_value(name, ty, json, self.reporter(scope))? {
                ParameterValue::Float(v) => Some(v),
                _ => None,
            }
        };
        let root = number("root", root)?;
        let tip = match json.get("tip") {
            Some(tip) => number("tip", tip)?,
            None => 0.0,
        };
        Some(Thickness { root, tip })
    }

    /// Declares the parameters of a scope, except those that the outer graph has set.
    pub(super) fn declare_parameters(&mut self, scope: usize, root: &Json) {
        let Some(json) = root.get("parameters") else {
            return;
        };
        for m in self.members_of(scope, json, "parameters") {
            if self.scopes[scope].parameters.contains_key(&m.key) {
                continue;
            }
            if let Some(decl) = self.read_parameter(scope, m) {
                let index = self.parameters.len();
                self.unread_parameters
                    .insert(index, (scope, m.key.clone(), m.value.span.clone()));
                self.scopes[scope]
                    .parameters
                    .insert(m.key.clone(), ParameterRef::Declared(index));
                self.parameters.push(decl);
            } else {
                self.scopes[scope].broken_parameters.insert(m.key.clone());
            }
        }
    }

    /// The type that a parameter's declaration names, with its range.
    pub(super) fn read_declared_type(&mut self, scope: usize, m: &Member) -> Option<ParameterType> {
        let bound =
            |key: &str, default: f64| m.value.get(key).and_then(Json::number).unwrap_or(default);
        let whole = |key: &str, default: i64| {
            m.value
                .get(key)
                .and_then(Json::number)
                .map_or(default, |v| v as i64)
        };
        let ty = match m.value.get("type").and_then(Json::text) {
            Some("float") => ParameterType::Float {
                min: bound("min", f64::MIN),
                max: bound("max", f64::MAX),
            },
            Some("int") => ParameterType::Int {
                min: whole("min", i64::MIN),
                max: whole("max", i64::MAX),
            },
            Some("bool") => ParameterType::Bool,
            Some("text") => ParameterType::Text,
            Some("vec3") => ParameterType::Vec3,
            Some("vec4") => ParameterType::Vec4,
            Some("int3") => ParameterType::Int3 {
                min: whole("min", i64::MIN),
                max: whole("max", i64::MAX),
            },
            Some("transform") => ParameterType::Transform,
            Some("floats") => ParameterType::Floats,
            Some("points") => ParameterType::Points,
            Some("texts") => ParameterType::Texts,
            Some(word @ ("transforms" | "records")) => {
                let span = m.value.get("type").map_or(&m.key_span, |t| &t.span).clone();
                let message = format!("parameter '{}' cannot be of type '{word}'", m.key);
                let help =
                    "write lists of transforms and lists of objects in the node that reads them";
                self.reporter(scope)
                    .error("wrong_type", &span, message, help);
                return None;
            }
            _ => {
                let span = m
                    .value
                    .get("type")
                    .map_or(&m.value.span, |t| &t.span)
                    .clone();
                let message = format!("the type of parameter '{}' is missing or unknown", m.key);
                let help = "expected \"type\": float, int, bool, text, vec3, vec4, int3, transform, floats, points or texts";
                self.reporter(scope)
                    .error("wrong_type", &span, message, help);
                return None;
            }
        };
        let empty = match ty {
            ParameterType::Float { min, max } => min > max,
            ParameterType::Int { min, max } | ParameterType::Int3 { min, max } => min > max,
            _ => false,
        };
        if empty {
            self.reporter(scope).error(
                "empty_range",
                &m.value.span,
                format!("the range of '{}' is empty", m.key),
                "\"min\" must not be above \"max\"",
            );
            return None;
        }
        Some(ty)
    }

    fn read_parameter(&mut self, scope: usize, m: &Member) -> Option<ParameterDecl> {
        if !self.check_name(scope, m) {
            return None;
        }
        self.unknown_keys(
            scope,
            &m.value,
            "a parameter",
            &[
                "type",
                "default",
                "min",
                "max",
                "setup",
                "keys",
                "interpolation",
                "doc",
            ],
        );
        self.check_members(scope, &m.value, &["min", "max"], &["doc"]);
        let ty = self.read_declared_type(scope, m)?;
        let setup = match m.value.get("setup") {
            None => false,
            Some(json) => matches!(
                read_value("setup", ParameterType::Bool, json, self.reporter(scope))?,
                ParameterValue::Bool(true)
            ),
        };
        let keyed = match read_keyed(&m.key, ty, &m.value, self.reporter(scope)) {
            None => None,
            Some(keyed) => Some(keyed?),
        };
        if setup && keyed.is_some() {
            self.reporter(scope).error(
                "keyed_setup",
                &m.key_span,
                format!("'{}' is read in setup only and cannot have keys", m.key),
                "remove \"setup\" or \"keys\"",
            );
            return None;
        }
        let default = match (m.value.get("default"), &keyed) {
            (Some(json), _) => read_value(&m.key, ty, json, self.reporter(scope))?,
            (None, Some(keyed)) => keyed.values[0].clone(),
            (None, None) => ty.zero(),
        };
        if check_value(ty, &default).is_err() {
            self.reporter(scope).error(
                "missing_default",
                &m.value.span,
                format!("'{}' has no default, and 0 is outside its range", m.key),
                "add a \"default\" inside the range",
            );
            return None;
        }
        let doc = m
            .value
            .get("doc")
            .and_then(Json::text)
            .unwrap_or_default()
            .to_owned();
        let name = format!("{}{}", self.scopes[scope].prefix, m.key);
        Some(ParameterDecl {
            name,
            ty,
            default,
            setup,
            keyed,
            doc,
        })
    }
}
