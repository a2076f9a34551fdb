//! Node parameters: their description, their values, and how a node reads them.

use crate::ReadLog;
use sinew_geom::Affine;

/// When a parameter may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Read once, in setup; changing it means a new setup.
    Setup,
    /// Read each frame; may be keyed or driven.
    Update,
}

/// One admissible word of a choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// As written in documents.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
}

/// What values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterType {
    /// `true` or `false`.
    Bool,
    /// A whole number in a closed range.
    Int {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A finite number in a closed range.
    Float {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// One of some words.
    Choice(&'static [Choice]),
    /// Any text.
    Text,
    /// Three finite numbers.
    Vec3,
    /// Four finite numbers (a colour, a quaternion).
    Vec4,
    /// Three whole numbers in a closed range.
    Int3 {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// An affine transform: in documents an object of `translation`, `rotation` (quaternion x y z w) or
    /// `rotation_degrees` (x y z Euler), `scale`, or `matrix` (16 numbers, column-major).
    Transform,
    /// Any number of finite numbers.
    Floats,
    /// Any number of points, three numbers each.
    Points,
    /// Any number of texts.
    Texts,
}

/// What a parameter is when the document does not say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultValue {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A word or text.
    Text(&'static str),
    /// Three numbers.
    Vec3([f64; 3]),
    /// Four numbers.
    Vec4([f64; 4]),
    /// Three whole numbers.
    Int3([i64; 3]),
    /// The identity transform.
    Identity,
    /// An empty list (of floats, points or texts).
    Empty,
}

/// Description of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParameterDesc {
    /// Key in the document.
    pub name: &'static str,
    /// What values it takes.
    pub ty: ParameterType,
    /// Where the document is silent.
    pub default: DefaultValue,
    /// `m`, `rad`, `s`, or empty.
    pub unit: &'static str,
    /// When it may change.
    pub phase: Phase,
    /// One or two sentences.
    pub doc: &'static str,
}

impl ParameterDesc {
    /// A number that may change each frame.
    pub const fn float(
        name: &'static str,
        default: f64,
        min: f64,
        max: f64,
        doc: &'static str,
    ) -> Self {
        Self {
            name,
            ty: ParameterType::Float { min, max },
            default: DefaultValue::Float(default),
            unit: "",
            phase: Phase::Update,
            doc,
        }
    }
    /// A whole number read in setup.
    pub const fn int(
        name: &'static str,
        default: i64,
        min: i64,
        max: i64,
        doc: &'static str,
    ) -> Self {
        Self {
            name,
            ty: ParameterType::Int { min, max },
            default: DefaultValue::Int(default),
            unit: "",
            phase: Phase::Setup,
            doc,
        }
    }
    /// A truth value read in setup.
    pub const fn bool(name: &'static str, default: bool, doc: &'static str) -> Self {
        Self {
            name,
            ty: ParameterType::Bool,
            default: DefaultValue::Bool(default),
            unit: "",
            phase: Phase::Setup,
            doc,
        }
    }
    /// A word read in setup.
    pub const fn choice(
        name: &'static str,
        default: &'static str,
        choices: &'static [Choice],
        doc: &'static str,
    ) -> Self {
        Self {
            name,
            ty: ParameterType::Choice(choices),
            default: DefaultValue::Text(default),
            unit: "",
            phase: Phase::Setup,
            doc,
        }
    }
    /// A transform that may change each frame.
    pub const fn transform(name: &'static str, doc: &'static str) -> Self {
        Self {
            name,
            ty: ParameterType::Transform,
            default: DefaultValue::Identity,
            unit: "",
            phase: Phase::Update,
            doc,
        }
    }
    /// The same, with a unit.
    pub const fn with_unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }
    /// The same, read in setup only.
    pub const fn in_setup(self) -> Self {
        Self {
            phase: Phase::Setup,
            ..self
        }
    }
    /// The same, read each frame.
    pub const fn in_update(self) -> Self {
        Self {
            phase: Phase::Update,
            ..self
        }
    }
}

/// A checked value.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A word or text.
    Text(String),
    /// Three numbers.
    Vec3([f64; 3]),
    /// Four numbers.
    Vec4([f64; 4]),
    /// Three whole numbers.
    Int3([i64; 3]),
    /// A transform.
    Transform(Affine<f64>),
    /// Numbers.
    Floats(Vec<f64>),
    /// Points.
    Points(Vec<[f64; 3]>),
    /// Texts.
    Texts(Vec<String>),
}

impl ParameterDesc {
    /// The default as a value.
    pub fn default_value(&self) -> ParameterValue {
        match (self.default, self.ty) {
            (DefaultValue::Bool(v), _) => ParameterValue::Bool(v),
            (DefaultValue::Int(v), _) => ParameterValue::Int(v),
            (DefaultValue::Float(v), _) => ParameterValue::Float(v),
            (DefaultValue::Text(v), _) => ParameterValue::Text(v.to_owned()),
            (DefaultValue::Vec3(v), _) => ParameterValue::Vec3(v),
            (DefaultValue::Vec4(v), _) => ParameterValue::Vec4(v),
            (DefaultValue::Int3(v), _) => ParameterValue::Int3(v),
            (DefaultValue::Identity, _) => ParameterValue::Transform(Affine::identity()),
            (DefaultValue::Empty, ParameterType::Points) => ParameterValue::Points(Vec::new()),
            (DefaultValue::Empty, ParameterType::Texts) => ParameterValue::Texts(Vec::new()),
            (DefaultValue::Empty, _) => ParameterValue::Floats(Vec::new()),
        }
    }
}

/// Values of a node's parameters, read by name. A name that the node does not declare, or reads as another
/// type, is a bug in the node: it reads as zero and goes to the log, which whoever runs the node turns into an
/// error.
#[derive(Clone, Copy, Debug)]
pub struct Parameters<'a> {
    /// In the order of [`crate::NodeDesc::parameters`].
    pub descs: &'static [ParameterDesc],
    /// One a description.
    pub values: &'a [ParameterValue],
    /// Where wrong reads are noted.
    pub log: &'a ReadLog,
}

macro_rules! getter {
    ($(#[$doc:meta])* $name:ident -> $ty:ty, $pattern:pat => $value:expr, $zero:expr) => {
        $(#[$doc])*
        pub fn $name(&self, name: &str) -> $ty {
            match self.get(name) {
                Some($pattern) => $value,
                _ => {
                    self.log.note("parameter", name, stringify!($name));
                    $zero
                }
            }
        }
    };
}

impl<'a> Parameters<'a> {
    /// The value of that name.
    pub fn get(&self, name: &str) -> Option<&'a ParameterValue> {
        let index = self.descs.iter().position(|d| d.name == name)?;
        self.values.get(index)
    }
    getter!(
        /// A truth value.
        bool -> bool, ParameterValue::Bool(v) => *v, false);
    getter!(
        /// A whole number.
        int -> i64, ParameterValue::Int(v) => *v, 0);
    getter!(
        /// A number.
        float -> f64, ParameterValue::Float(v) => *v, 0.0);
    getter!(
        /// A word or text.
        text -> &'a str, ParameterValue::Text(v) => v.as_str(), "");
    getter!(
        /// Three numbers.
        vec3 -> [f64; 3], ParameterValue::Vec3(v) => *v, [0.0; 3]);
    getter!(
        /// Four numbers.
        vec4 -> [f64; 4], ParameterValue::Vec4(v) => *v, [0.0; 4]);
    getter!(
        /// Three whole numbers.
        int3 -> [i64; 3], ParameterValue::Int3(v) => *v, [0; 3]);
    getter!(
        /// A transform.
        transform -> Affine<f64>, ParameterValue::Transform(v) => *v, Affine::identity());
    getter!(
        /// Numbers.
        floats -> &'a [f64], ParameterValue::Floats(v) => v.as_slice(), &[]);
    getter!(
        /// Points.
        points -> &'a [[f64; 3]], ParameterValue::Points(v) => v.as_slice(), &[]);
    getter!(
        /// Texts.
        texts -> &'a [String], ParameterValue::Texts(v) => v.as_slice(), &[]);
}
