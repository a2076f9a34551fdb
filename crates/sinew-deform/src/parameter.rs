//! Node parameters: their description, their values, and how a node reads them.

use crate::{ReadLog, Record};
use sinew_geom::Affine;

/// When a node reads a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Once, in setup. To change it, bind again.
    Setup,
    /// In each frame; it may be keyed or driven.
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
    /// Any number of transforms, each as [`ParameterType::Transform`]. In setup only.
    Transforms,
    /// Any number of objects with these fields: in documents `[{"name": "bent", "at": 0.5}, ...]`. Setup only. No field is a list of
    /// objects itself, and the phases of the fields have no meaning.
    Records(&'static [ParameterDesc]),
}

impl ParameterType {
    /// `false`, 0, an empty text or list, the identity.
    pub fn zero(self) -> ParameterValue {
        match self {
            Self::Bool => ParameterValue::Bool(false),
            Self::Int { .. } => ParameterValue::Int(0),
            Self::Float { .. } => ParameterValue::Float(0.0),
            Self::Choice(_) | Self::Text => ParameterValue::Text(String::new()),
            Self::Vec3 => ParameterValue::Vec3([0.0; 3]),
            Self::Vec4 => ParameterValue::Vec4([0.0; 4]),
            Self::Int3 { .. } => ParameterValue::Int3([0; 3]),
            Self::Transform => ParameterValue::Transform(Affine::identity()),
            Self::Floats => ParameterValue::Floats(Vec::new()),
            Self::Points => ParameterValue::Points(Vec::new()),
            Self::Texts => ParameterValue::Texts(Vec::new()),
            Self::Transforms => ParameterValue::Transforms(Vec::new()),
            Self::Records(_) => ParameterValue::Records(Vec::new()),
        }
    }

    /// Whether only setup can read it: keys and parameters of a graph cannot give such values.
    pub fn is_setup_only(self) -> bool {
        matches!(self, Self::Transforms | Self::Records(_))
    }
}

/// The value of a parameter that the document does not give.
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
    /// An empty list.
    Empty,
    /// The time of the frame in seconds: without a value in the document, the node changes with time. Only for numbers that are read in
    /// each frame; 0 in setup.
    FrameTime,
    /// No default: the document must give a value. Only for fields of records.
    Required,
}

/// What a parameter is to its node and the other parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing in particular.
    Plain,
    /// Points. Their number is the product of the parameter of that name and of type [`ParameterType::Int3`], unless the list is empty.
    PointsOf(&'static str),
    /// The transform that positions the node's region in the scene; one for each node at most. In documents, the key `follow` of such a
    /// node names a joint that the region moves with, and the key `fit` finds the region from the mesh.
    Placement(Region),
}

/// The shape of a node's region in the space of its transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// Just a frame: there is nothing to fit.
    Frame,
    /// From the origin along the axis that the choice `axis` names, over the number `length`.
    Axis,
    /// A box of the vector `size` around the origin, unless the choice `origin` says otherwise.
    SizedBox,
    /// A box from -1 to 1, or the sphere in it, by the choice `source`: words `box` and `sphere`. Other sources have no region to fit.
    UnitBox,
}

/// The key `follow` of documents: each node with a [`Role::Placement`] has it beside its parameters.
pub const FOLLOW: ParameterDesc = ParameterDesc::text(
    "follow",
    "Joint that the region moves with, as if the mesh were deformed in the bind pose. Empty means that it follows no joint.",
);

/// Description of one parameter, or of one field of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterDesc {
    /// Key in the document.
    pub name: &'static str,
    /// What values it takes.
    pub ty: ParameterType,
    /// Value if the document does not give one.
    pub default: DefaultValue,
    /// `m`, `rad`, `s`, or empty.
    pub unit: &'static str,
    /// When it may change.
    pub phase: Phase,
    /// What it is to the node and its other parameters.
    pub role: Role,
    /// One or two sentences.
    pub doc: &'static str,
}

impl ParameterDesc {
    /// A number that is read in each frame, in the closed range `min..=max`.
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
            role: Role::Plain,
            doc,
        }
    }
    /// A whole number that is read in setup, in the closed range `min..=max`.
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
            role: Role::Plain,
            doc,
        }
    }
    /// A truth value that is read in setup.
    pub const fn bool(name: &'static str, default: bool, doc: &'static str) -> Self {
        Self {
            name,
            ty: ParameterType::Bool,
            default: DefaultValue::Bool(default),
            unit: "",
            phase: Phase::Setup,
            role: Role::Plain,
            doc,
        }
    }
    /// A word that is read in setup. `default` must be the name of one of the choices.
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
            role: Role::Plain,
            doc,
        }
    }
    /// Seconds, by default the time of the frame; any finite number.
    pub const fn frame_time(name: &'static str, doc: &'static str) -> Self {
        Self {
            default: DefaultValue::FrameTime,
            unit: "s",
            ..Self::float(name, 0.0, f64::MIN, f64::MAX, doc)
        }
    }
    /// A transform that is read in each frame; the identity by default.
    pub const fn transform(name: &'static str, doc: &'static str) -> Self {
        Self {
            name,
            ty: ParameterType::Transform,
            default: DefaultValue::Identity,
            unit: "",
            phase: Phase::Update,
            role: Role::Plain,
            doc,
        }
    }
    /// The transform that positions the node's region in the scene.
    pub const fn placement(name: &'static str, region: Region, doc: &'static str) -> Self {
        Self {
            role: Role::Placement(region),
            ..Self::transform(name, doc)
        }
    }
    /// Any number of objects with these fields, read in setup; none where the document is silent.
    pub const fn records(name: &'static str, fields: &'static [Self], doc: &'static str) -> Self {
        Self::list(name, ParameterType::Records(fields), doc)
    }
    /// Any number of transforms, read in setup; none where the document is silent.
    pub const fn transforms(name: &'static str, doc: &'static str) -> Self {
        Self::list(name, ParameterType::Transforms, doc)
    }
    /// Any number of texts, read in setup; none where the document is silent.
    pub const fn texts(name: &'static str, doc: &'static str) -> Self {
        Self::list(name, ParameterType::Texts, doc)
    }
    /// Any number of finite numbers, read in setup; none where the document is silent.
    pub const fn floats(name: &'static str, doc: &'static str) -> Self {
        Self::list(name, ParameterType::Floats, doc)
    }
    /// A text read in setup, empty where the document is silent.
    pub const fn text(name: &'static str, doc: &'static str) -> Self {
        Self {
            default: DefaultValue::Text(""),
            ..Self::list(name, ParameterType::Text, doc)
        }
    }
    const fn list(name: &'static str, ty: ParameterType, doc: &'static str) -> Self {
        Self {
            name,
            ty,
            default: DefaultValue::Empty,
            unit: "",
            phase: Phase::Setup,
            role: Role::Plain,
            doc,
        }
    }
    /// Whether it is an angle in radians. Documents may then give `<name>_degrees` instead.
    pub const fn is_angle(&self) -> bool {
        matches!(self.ty, ParameterType::Float { .. }) && matches!(self.unit.as_bytes(), b"rad")
    }
    /// The same field, which the document must give.
    pub const fn required(self) -> Self {
        Self {
            default: DefaultValue::Required,
            ..self
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
    pub(crate) const fn in_update(self) -> Self {
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
    /// Transforms.
    Transforms(Vec<Affine<f64>>),
    /// Objects.
    Records(Vec<Record>),
}

impl ParameterDesc {
    /// The default as a value. [`ParameterType::zero`] if there is none, or if it comes with the frame.
    pub fn default_value(&self) -> ParameterValue {
        self.default.value(self.ty)
    }
}

impl DefaultValue {
    /// As the value of a parameter of type `ty`.
    pub(crate) fn value(self, ty: ParameterType) -> ParameterValue {
        match (self, ty) {
            (Self::Bool(v), _) => ParameterValue::Bool(v),
            (Self::Int(v), _) => ParameterValue::Int(v),
            (Self::Float(v), _) => ParameterValue::Float(v),
            (Self::Text(v), _) => ParameterValue::Text(v.to_owned()),
            (Self::Vec3(v), _) => ParameterValue::Vec3(v),
            (Self::Vec4(v), _) => ParameterValue::Vec4(v),
            (Self::Int3(v), _) => ParameterValue::Int3(v),
            (Self::Identity, _) => ParameterValue::Transform(Affine::identity()),
            (Self::Required | Self::FrameTime, ty)
            | (
                Self::Empty,
                ty @ (ParameterType::Points
                | ParameterType::Texts
                | ParameterType::Transforms
                | ParameterType::Records(_)),
            ) => ty.zero(),
            (Self::Empty, _) => ParameterValue::Floats(Vec::new()),
        }
    }
}

/// Values of a node's parameters, read by name. A name that the node does not declare, or reads as another type, is a bug in the node: it
/// reads as zero and goes to the log, which the caller turns into an error.
///
/// Each read is a linear search over the names and does not allocate.
#[derive(Clone, Copy, Debug)]
pub struct Parameters<'a> {
    /// In the order of [`crate::NodeDesc::parameters`].
    pub descs: &'static [ParameterDesc],
    /// One per description, in their order.
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
    /// The value of that name. `None` for an unknown name, which is not logged as wrong, unlike in the typed accessors.
    pub fn get(&self, name: &str) -> Option<&'a ParameterValue> {
        let index = self.descs.iter().position(|d| d.name == name)?;
        self.log.note_parameter(index);
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
    /// [`Self::float`] rounded to `f32`.
    pub fn single(&self, name: &str) -> f32 {
        self.float(name) as f32
    }
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
    getter!(
        /// Transforms.
        transforms -> &'a [Affine<f64>], ParameterValue::Transforms(v) => v.as_slice(), &[]);
}
