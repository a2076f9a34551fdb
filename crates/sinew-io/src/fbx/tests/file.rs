//! Small FBX files, as text and as binary, from one tree.

/// Ticks of a second.
pub(super) const SECOND: i64 = 46_186_158_000;

/// A value of a record.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Whole(i64),
    Number(f64),
    Text(String),
    /// Class and name of an object.
    Name(&'static str, String),
    Wholes(Vec<i32>),
    Longs(Vec<i64>),
    Numbers(Vec<f64>),
    Floats(Vec<f32>),
}

use Value::{Floats, Longs, Name, Number, Numbers, Text, Whole, Wholes};

/// A record.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) name: String,
    pub(super) values: Vec<Value>,
    pub(super) children: Vec<Record>,
}

pub(super) fn record(name: &str, values: Vec<Value>, children: Vec<Record>) -> Record {
    Record {
        name: name.into(),
        values,
        children,
    }
}

pub(super) fn text(text: &str) -> Value {
    Text(text.into())
}

/// A property: name, type, numbers.
pub(super) fn property(name: &str, kind: &str, numbers: &[f64]) -> Record {
    let mut values = vec![text(name), text(kind), text(""), text("A")];
    let is_whole = matches!(kind, "int" | "enum" | "bool");
    values.extend(numbers.iter().map(|n| match is_whole {
        true => Whole(*n as i64),
        false => Number(*n),
    }));
    record("P", values, Vec::new())
}

pub(super) fn time_property(name: &str, seconds: f64) -> Record {
    let ticks = Whole((seconds * SECOND as f64).round() as i64);
    record(
        "P",
        vec![text(name), text("KTime"), text("Time"), text(""), ticks],
        Vec::new(),
    )
}

/// A file in the making. Lengths in metres and Y up, unless the settings say otherwise.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    pub(super) settings: Vec<Record>,
    pub(super) objects: Vec<Record>,
    pub(super) connections: Vec<Record>,
}

impl File {
    /// The file in metres.
    pub(super) fn new() -> Self {
        Self {
            settings: vec![
                property("UnitScaleFactor", "double", &[100.0]),
                property("TimeMode", "enum", &[6.0]),
            ],
            ..Self::default()
        }
    }

    /// Adds an object and gives its number.
    pub(super) fn object(
        &mut self,
        kind: &str,
        class: &'static str,
        name: &str,
        sub: &str,
        children: Vec<Record>,
    ) -> i64 {
        let id = 1000 + self.objects.len() as i64;
        let values = vec![Whole(id), Name(class, name.into()), text(sub)];
        self.objects.push(record(kind, values, children));
        id
    }

    pub(super) fn connect(&mut self, child: i64, parent: i64) {
        let values = vec![text("OO"), Whole(child), Whole(parent)];
        self.connections.push(record("C", values, Vec::new()));
    }

    pub(super) fn connect_to(&mut self, child: i64, parent: i64, name: &str) {
        let values = vec![text("OP"), Whole(child), Whole(parent), text(name)];
        self.connections.push(record("C", values, Vec::new()));
    }

    /// A node below `parent`; 0 is the scene.
    pub(super) fn node(&mut self, name: &str, kind: &str, parent: i64, of: Vec<Record>) -> i64 {
        let of = vec![record("Properties70", Vec::new(), of)];
        let id = self.object("Model", "Model", name, kind, of);
        self.connect(id, parent);
        id
    }

    /// A mesh on a node. `ends` as in the file: the last corner of a face is `-1 - index`.
    pub(super) fn mesh(
        &mut self,
        node: i64,
        points: &[[f64; 3]],
        corners: &[i32],
        more: Vec<Record>,
    ) -> i64 {
        let mut of = vec![
            record(
                "Vertices",
                vec![Numbers(points.as_flattened().to_vec())],
                Vec::new(),
            ),
            record(
                "PolygonVertexIndex",
                vec![Wholes(corners.to_vec())],
                Vec::new(),
            ),
        ];
        of.extend(more);
        let id = self.object("Geometry", "Geometry", "shape", "Mesh", of);
        self.connect(id, node);
        id
    }

    /// A take with one layer; gives the layer.
    pub(super) fn take(&mut self, name: &str, range: Option<(f64, f64)>) -> i64 {
        let of = range.map_or_else(Vec::new, |(begin, end)| {
            vec![
                time_property("LocalStart", begin),
                time_property("LocalStop", end),
            ]
        });
        let stack = self.object(
            "AnimationStack",
            "AnimStack",
            name,
            "",
            vec![record("Properties70", Vec::new(), of)],
        );
        self.layer(stack, Vec::new())
    }

    pub(super) fn layer(&mut self, stack: i64, of: Vec<Record>) -> i64 {
        let of = vec![record("Properties70", Vec::new(), of)];
        let layer = self.object("AnimationLayer", "AnimLayer", "layer", "", of);
        self.connect(layer, stack);
        layer
    }

    /// Curves of components (`d|X`) of a property. Keys: seconds and value. `flags`: 2 constant, 4 linear, 8 cubic.
    pub(super) fn curves(
        &mut self,
        layer: i64,
        object: i64,
        name: &str,
        flags: i32,
        curves: &[(&str, &[(f64, f64)])],
    ) {
        let of = vec![record("Properties70", Vec::new(), Vec::new())];
        let node = self.object("AnimationCurveNode", "AnimCurveNode", name, "", of);
        self.connect(node, layer);
        self.connect_to(node, object, name);
        for (component, keys) in curves {
            let times = keys.iter().map(|k| (k.0 * SECOND as f64).round() as i64);
            let values = keys.iter().map(|k| k.1 as f32);
            let of = vec![
                record("Default", vec![Number(0.0)], Vec::new()),
                record("KeyVer", vec![Whole(4008)], Vec::new()),
                record("KeyTime", vec![Longs(times.collect())], Vec::new()),
                record("KeyValueFloat", vec![Floats(values.collect())], Vec::new()),
                record("KeyAttrFlags", vec![Wholes(vec![flags])], Vec::new()),
                record("KeyAttrDataFloat", vec![Floats(vec![0.0; 4])], Vec::new()),
                record(
                    "KeyAttrRefCount",
                    vec![Wholes(vec![keys.len() as i32])],
                    Vec::new(),
                ),
            ];
            let curve = self.object("AnimationCurve", "AnimCurve", "", "", of);
            self.connect_to(curve, node, component);
        }
    }

    fn records(&self) -> Vec<Record> {
        let version = record("FBXVersion", vec![Whole(7400)], Vec::new());
        let settings = record("Properties70", Vec::new(), self.settings.clone());
        vec![
            record("FBXHeaderExtension", Vec::new(), vec![version]),
            record("GlobalSettings", Vec::new(), vec![settings]),
            record("Objects", Vec::new(), self.objects.clone()),
            record("Connections", Vec::new(), self.connections.clone()),
        ]
    }

    pub(super) fn ascii(&self) -> Vec<u8> {
        let mut out = String::from("; FBX 7.4.0 project file\n");
        self.records().iter().for_each(|r| write_text(r, &mut out));
        out.into_bytes()
    }

    pub(super) fn binary(&self) -> Vec<u8> {
        let mut out = b"Kaydara FBX Binary  \0\x1a\0".to_vec();
        out.extend(7400_u32.to_le_bytes());
        self.records()
            .iter()
            .for_each(|r| write_binary(r, &mut out));
        out.extend([0; 13]);
        out
    }
}

fn list<T: ToString>(numbers: &[T]) -> String {
    let all: Vec<String> = numbers.iter().map(T::to_string).collect();
    format!("*{} {{\n a: {}\n}}", all.len(), all.join(","))
}

fn write_text(r: &Record, out: &mut String) {
    let one = |v: &Value| match v {
        Whole(n) => n.to_string(),
        Number(n) => n.to_string(),
        Text(t) => format!("\"{t}\""),
        Name(class, name) => format!("\"{class}::{name}\""),
        Wholes(n) => list(n),
        Longs(n) => list(n),
        Numbers(n) => list(n),
        Floats(n) => list(n),
    };
    let values: Vec<String> = r.values.iter().map(one).collect();
    out.push_str(&format!("{}: {}", r.name, values.join(", ")));
    if !r.children.is_empty() || r.values.is_empty() {
        out.push_str(" {\n");
        r.children.iter().for_each(|c| write_text(c, out));
        out.push('}');
    }
    out.push('\n');
}

fn write_binary(r: &Record, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend([0; 12]);
    out.push(u8::try_from(r.name.len()).expect("short"));
    out.extend(r.name.as_bytes());
    let values = out.len();
    r.values.iter().for_each(|v| write_value(v, out));
    let length = out.len() - values;
    if !r.children.is_empty() || r.values.is_empty() {
        r.children.iter().for_each(|c| write_binary(c, out));
        out.extend([0; 13]);
    }
    let head = [out.len(), r.values.len(), length];
    for (k, number) in head.into_iter().enumerate() {
        let bytes = u32::try_from(number).expect("small").to_le_bytes();
        out[start + 4 * k..start + 4 * k + 4].copy_from_slice(&bytes);
    }
}

fn write_value(v: &Value, out: &mut Vec<u8>) {
    let mut put = |kind: u8, length: Option<usize>, bytes: &[u8]| {
        out.push(kind);
        if let Some(length) = length {
            out.extend(u32::try_from(length).expect("small").to_le_bytes());
        }
        out.extend(bytes);
    };
    let mut array = |kind: u8, count: usize, bytes: &[u8]| {
        let head = [count, 0, bytes.len()].map(|n| u32::try_from(n).expect("small"));
        let head: Vec<u8> = head.iter().flat_map(|n| n.to_le_bytes()).collect();
        put(kind, None, &[&head, bytes].concat());
    };
    let bytes = |all: Vec<[u8; 8]>| all.concat();
    match v {
        Wholes(n) => array(
            b'i',
            n.len(),
            &n.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>(),
        ),
        Floats(n) => array(
            b'f',
            n.len(),
            &n.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>(),
        ),
        Longs(n) => array(
            b'l',
            n.len(),
            &bytes(n.iter().map(|n| n.to_le_bytes()).collect()),
        ),
        Numbers(n) => array(
            b'd',
            n.len(),
            &bytes(n.iter().map(|n| n.to_le_bytes()).collect()),
        ),
        Whole(n) => put(b'L', None, &n.to_le_bytes()),
        Number(n) => put(b'D', None, &n.to_le_bytes()),
        Text(t) => put(b'S', Some(t.len()), t.as_bytes()),
        Name(class, name) => {
            let both = format!("{name}\0\x01{class}");
            put(b'S', Some(both.len()), both.as_bytes());
        }
    }
}
