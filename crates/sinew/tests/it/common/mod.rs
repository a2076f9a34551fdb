//! What the registry's tests share: one small graph for each node, and meshes to run it on.

pub(crate) mod allocations;
pub(crate) mod devices;
pub(crate) mod drivers;
#[cfg(feature = "io")]
pub(crate) mod hair_held;

use sinew::deform::{NodeDesc, NodeKind, Par, ParameterType, Phase, PortDesc, PortType, REGISTRY};
use sinew::geom::{
    Affine, Asset, Influences, Joint, LocalTransform, Mesh, Node, Quat, Rig, Strands, Topology,
    Trs, Vec3,
};
use sinew::graph::{InputBinding, InputType, Instance, NoNesting, Plan, compile};
use sinew::vat::{
    animation::VertexAnimation,
    layout::Layout,
    manifest::{FORMAT, Manifest, Mode, NamedClip, Space, TextureFile, VERSION},
    playback::{AtEnd, ClipFrames},
    quantity::Quantity,
    texel::{Range, TexelFormat},
    texture::{TextureSpec, encode_vertices, texture_rows},
};
use std::sync::{Arc, LazyLock};

/// A document that holds the node with its defaults as `it`, every required input linked, every output of the node an output
/// of the graph. Its mesh (the last one, where it takes several) moves with each frame: what nothing moves would be done in setup.
pub(crate) fn document(desc: &NodeDesc) -> String {
    document_with(desc, "")
}

/// Parameters that make another program of a node: it is tested with these, too.
const OTHER_FORMS: [(&str, &str); 2] = [
    ("direct_delta_mush", r#", "virtual_bones": 9"#),
    ("wrap", r#", "mode": "points""#),
];

/// The same for small closed meshes: other drivers are refused.
const FORMS_OF_CAGES: [(&str, &str); 2] = [
    ("wrap", r#", "mode": "rbf""#),
    ("wrap", r#", "mode": "cage""#),
];

/// All nodes with their defaults (an empty text), and some with further parameters, as far as they take the mesh.
pub(crate) fn forms(asset: &Asset) -> impl Iterator<Item = (&'static NodeDesc, &'static str)> {
    let of_cages = match asset.name.as_str() {
        "cube" => &FORMS_OF_CAGES[..],
        _ => &[],
    };
    let others = move |desc: &'static NodeDesc| {
        let all = OTHER_FORMS.iter().chain(of_cages);
        let of_node = all.filter(|(name, _)| *name == desc.name);
        of_node.map(move |(_, more)| (desc, *more))
    };
    REGISTRY
        .iter()
        .flat_map(move |&desc| std::iter::once((desc, "")).chain(others(desc)))
}

/// The same with further parameters, each behind a comma.
pub(crate) fn document_with(desc: &NodeDesc, more: &str) -> String {
    let mut links = String::new();
    let linked = |p: &&PortDesc| p.required || p.ty == PortType::Pose;
    let mut meshes = desc.inputs.iter().filter(linked);
    let last_mesh = meshes.rfind(|p| p.ty == PortType::Mesh && !p.strands);
    for port in desc.inputs.iter().filter(linked) {
        let link = match port.ty {
            PortType::Mesh if port.strands => "hair",
            PortType::Mesh if last_mesh.is_some_and(|p| p.name == port.name) => "moving",
            PortType::Mesh => "body",
            PortType::Pose => "pose",
            PortType::Values => "values",
            PortType::VertexAnimation => "animation",
            other => panic!(
                "required input of type {}: extend this test",
                other.as_str()
            ),
        };
        links += &format!(", \"{}\": \"{link}\"", port.name);
    }
    if links.is_empty() {
        // Nothing that moves is linked: a number of its own may.
        let mut parameters = desc.parameters.iter();
        let number = parameters
            .find(|p| p.phase == Phase::Update && matches!(p.ty, ParameterType::Float { .. }));
        let number = number.expect("a number that may change with each frame");
        links += &format!(", \"{}\": \"$weight\"", number.name);
    }
    links += needed(desc);
    links += more;
    let outputs: Vec<String> = desc
        .outputs
        .iter()
        .map(|o| format!("\"{0}\": \"it.{0}\"", o.name))
        .collect();
    format!(
        r#"{{"sinew": "1.0", {}"parameters": {{"weight": {{"type": "float", "default": 0.5}}}}, "nodes": {{
 "moving": {{"node": "transform", "mesh": "body", "weight": "$weight",
   "transform": {{"translation": [0.1, 0.2, 0.3], "rotation_degrees": [10, 20, 30]}}}},
 "it": {{"node": "{}"{links}}}}}, "outputs": {{{}}}}}"#,
        inputs(desc),
        desc.name,
        outputs.join(", ")
    )
}

/// The inputs of a document for the node, followed by a comma. They go without saying where no values are among them.
pub(crate) fn inputs(desc: &NodeDesc) -> &'static str {
    let mut required = desc.inputs.iter().filter(|p| p.required);
    if desc.inputs.iter().any(|p| p.strands) {
        r#""inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}, "hair": {"type": "strands"}}, "#
    } else if desc
        .inputs
        .iter()
        .any(|p| p.ty == PortType::VertexAnimation)
    {
        r#""inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}, "animation": {"type": "vertex_animation"}}, "#
    } else if required.any(|p| p.ty == PortType::Values) {
        r#""inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}, "values": {"type": "values", "count": 2}}, "#
    } else {
        ""
    }
}

/// Parameters that the node cannot do without, for two values and any mesh and rig.
pub(crate) fn needed(desc: &NodeDesc) -> &'static str {
    match desc.name {
        "drive_morphs" => r#", "targets": ["", ""]"#,
        "solids" => r#", "planes": [{}]"#,
        _ => "",
    }
}

/// Something for every input of numbers.
pub(crate) fn numbers(plan: &Plan) -> Vec<(usize, Vec<f32>)> {
    let wanted = plan.inputs().iter().enumerate();
    let wanted = wanted.filter(|(_, input)| input.ty == InputType::Values);
    wanted
        .map(|(i, input)| (i, (1..=input.count).map(|v| 0.75 / v as f32).collect()))
        .collect()
}

/// The node's instance, which runs each frame.
pub(crate) fn running(asset: &Asset, desc: &NodeDesc) -> Instance {
    running_with(asset, desc, "")
}

/// The same with further parameters.
pub(crate) fn running_with(asset: &Asset, desc: &NodeDesc, more: &str) -> Instance {
    let out = instance(asset, &document_with(desc, more));
    let mut steps = out.graph().program().steps(Phase::Update).iter();
    assert!(steps.any(|s| s.name == "it"), "{} runs in setup", desc.name);
    out
}

/// Arm, creature and ball, made once.
pub(crate) fn samples() -> Vec<Asset> {
    static SAMPLES: LazyLock<Vec<Asset>> = LazyLock::new(|| sinew_samples::all().expect("samples"));
    SAMPLES.clone()
}

/// Meshes that every node must survive.
pub(crate) fn assets() -> Vec<Asset> {
    let mut out = samples();
    out.push(dressed());
    for mesh in [
        sinew_testkit::meshes::grid(7, 5),
        sinew_testkit::meshes::cube(),
        sinew_testkit::meshes::tube(20, 12, 2.0, 0.2),
        sinew_testkit::meshes::degenerate(),
    ] {
        out.push(one_mesh(mesh));
    }
    out
}

/// A posed tube with everything that a mesh can have: tangents, colours, a painted mask with a hole, up to five of 300 joints a
/// vertex (one of them stretched, one mirrored), a morph target with normals and tangents.
fn dressed() -> Asset {
    const JOINTS: u32 = 300;
    const STEP: u32 = 60;
    let mut mesh = sinew_testkit::meshes::tube(24, 12, 2.0, 0.2);
    mesh.name = "dressed".into();
    let n = mesh.vertex_count() as u32;
    let share = |v: u32| v as f32 / n as f32;
    mesh.tangents = Some(
        (0..n)
            .map(|v| [1.0, 0.0, 0.0, if v % 3 == 0 { -1.0 } else { 1.0 }])
            .collect(),
    );
    mesh.colors = vec![
        (0..n)
            .map(|v| [share(v), 1.0 - share(v), 0.25, 1.0])
            .collect(),
    ];
    let mut painted: Vec<f32> = (0..n).map(|v| (7.0 * share(v)).fract()).collect();
    painted[5] = f32::NAN;
    mesh.attributes
        .insert("mask".into(), sinew::geom::Attribute::Scalar(painted));
    // The last joint mirrors: where it mixed with others, some matrix on the way would be singular.
    let row = |v: u32| -> Vec<(u32, f32)> {
        match v {
            0..12 => vec![(JOINTS - 1, 1.0)],
            _ => (0..=v % 5)
                .map(|k| (STEP * ((v / 40 + k) % 5), 1.0 / (1.0 + 1.3 * k as f32)))
                .collect(),
        }
    };
    let rows: Vec<Vec<(u32, f32)>> = (0..n).map(row).collect();
    let rows = rows.iter().map(Vec::as_slice);
    mesh.influences = Influences::from_rows(rows, JOINTS as usize, 0)
        .ok()
        .map(|r| r.0);
    let target = |name: &str, step: usize, delta: [f32; 3]| {
        let vertices: Vec<u32> = (0..n).step_by(step).collect();
        sinew::geom::MorphTarget {
            name: name.into(),
            positions: vec![delta; vertices.len()],
            normals: vec![delta.map(|d| 3.0 * d); vertices.len()],
            tangents: vec![delta.map(|d| -2.0 * d); vertices.len()],
            vertices,
        }
    };
    mesh.morph_targets = vec![target("wide", 2, [0.0, 0.1, 0.05])];
    let mut nodes: Vec<Node> = (0..JOINTS)
        .map(|j| {
            let turn = Vec3::new(0.3, 0.1, -0.2) * f64::from(j / STEP);
            Node {
                name: format!("joint_{j}"),
                parent: None,
                local: LocalTransform::Trs(Trs {
                    translation: Vec3::new(0.4 * f64::from(j / STEP), 0.05, 0.1),
                    rotation: Quat::new(turn * 0.5),
                    scale: match j {
                        120 => Vec3::new(1.2, 0.8, 1.1),
                        299 => Vec3::new(-1.0, 1.0, 1.0),
                        _ => Vec3::repeat(1.0),
                    },
                }),
                morph_weights: Vec::new(),
                morph_offset: 0,
            }
        })
        .collect();
    nodes[3].morph_weights = vec![0.75];
    let joints = (0..JOINTS)
        .map(|j| Joint {
            node: j as usize,
            joint_from_bind: Affine {
                translation: Vec3::new(-0.4 * f64::from(j / STEP), 0.0, 0.0),
                ..Affine::identity()
            },
        })
        .collect();
    Asset {
        name: mesh.name.clone(),
        meshes: vec![mesh],
        rig: Arc::new(Rig::new(nodes, joints).expect("valid rig")),
        ..Asset::default()
    }
}

/// An asset around one mesh, with two joints and one morph target where it has none.
pub(crate) fn one_mesh(mut mesh: Mesh) -> Asset {
    let joint = |name: &str, parent| Node {
        name: name.into(),
        parent,
        local: LocalTransform::Trs(Trs::default()),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let mut nodes = vec![joint("root", None), joint("tip", Some(0))];
    nodes[1].morph_weights = vec![0.5];
    let joints = (0..2)
        .map(|node| Joint {
            node,
            joint_from_bind: Affine::identity(),
        })
        .collect();
    mesh.influences
        .get_or_insert_with(|| Influences::rigid(mesh.topology.vertex_count(), 0));
    mesh.morph_targets = vec![sinew::geom::MorphTarget {
        name: "up".into(),
        vertices: vec![0, 2],
        positions: vec![[0.0, 0.1, 0.0]; 2],
        ..Default::default()
    }];
    Asset {
        name: mesh.name.clone(),
        meshes: vec![mesh],
        rig: Arc::new(Rig::new(nodes, joints).expect("valid rig")),
        ..Asset::default()
    }
}

/// Strands of two to eight vertices that stand on some vertices of a mesh, each a third of its size.
pub(crate) fn hair(mesh: &Mesh) -> Mesh {
    let roots: Vec<[f32; 3]> = mesh.positions.iter().copied().step_by(7).take(40).collect();
    let lengths = (0..roots.len()).map(|i| 2 + i % 7);
    let strands = Strands::new(lengths).expect("two vertices or more");
    let step = mesh.diagonal().max(1e-3) / 21.0;
    let above = |(root, range): (&[f32; 3], std::ops::Range<usize>)| {
        let root = *root;
        (0..range.len()).map(move |k| [root[0], root[1] + step * k as f32, root[2]])
    };
    let positions = roots.iter().zip(strands.ranges()).flat_map(above).collect();
    let vertices = strands.vertex_count();
    let mut out = Mesh::new("hair", Topology::from_strands(strands), positions);
    out.influences = Some(Influences::rigid(vertices, 0));
    out
}

/// The nodes that GPUs run, or the host beside them.
pub(crate) fn on_devices() -> impl Iterator<Item = &'static NodeDesc> {
    let is_there = |d: &&NodeDesc| matches!(d.kind, NodeKind::Driver | NodeKind::Deformer);
    REGISTRY.iter().copied().filter(is_there)
}

/// How a bake is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    pub(crate) places: TexelFormat,
    pub(crate) normals: Option<TexelFormat>,
    pub(crate) in_columns: bool,
    /// Offsets from the mesh instead of positions.
    pub(crate) offsets: bool,
}

impl Stored {
    pub(crate) const USUAL: Self = Self {
        places: TexelFormat::Unorm16,
        normals: Some(TexelFormat::Unorm8),
        in_columns: false,
        offsets: false,
    };

    fn specs(self, positions: &[[f32; 3]]) -> Vec<TextureSpec> {
        let (low, high) = sinew::geom::bounds(positions).unwrap_or_default();
        // Places and offsets reach no further.
        let most = |c: usize| low[c].abs().max(high[c].abs()) * 1.5 + 1e-3;
        let is_float = |f| matches!(f, TexelFormat::Half | TexelFormat::Float);
        let place = |c: usize| Range {
            scale: 2.0 * most(c),
            offset: -most(c),
        };
        let spec = |quantity, format, range: &dyn Fn(usize) -> Range| TextureSpec {
            quantity,
            format,
            ranges: match is_float(format) {
                true => vec![Range::RAW; 3],
                false => (0..3).map(range).collect(),
            },
        };
        let quantity = if self.offsets {
            Quantity::Offset
        } else {
            Quantity::Position
        };
        let normals = self
            .normals
            .map(|f| spec(Quantity::Normal, f, &|_| Range::DIRECTION));
        std::iter::once(spec(quantity, self.places, &place))
            .chain(normals)
            .collect()
    }

    fn layout(self, vertices: u32) -> Layout {
        let layout = match self.in_columns {
            true => Layout::columns(vertices, BAKED_FRAMES, 1),
            false => Layout::fitting(vertices, BAKED_FRAMES, 1, 512),
        };
        layout.expect("fits")
    }
}

const BAKED_FRAMES: u32 = 3;

/// Three frames of a mesh that grows and turns its normals, four a second.
pub(crate) fn baked(positions: &[[f32; 3]], stored: Stored) -> VertexAnimation {
    let number = |quantity: &Quantity, v: usize, frame: u32, c: usize| {
        let share = 0.2 * frame as f32;
        let place = positions[v][c].clamp(-1e6, 1e6);
        let angle = 0.1 * v as f32 + 0.3 * frame as f32;
        match quantity {
            Quantity::Position => place * (1.0 + share),
            Quantity::Offset => place * share,
            _ => [angle.cos(), 0.0, angle.sin()][c],
        }
    };
    let specs = stored.specs(positions);
    let layout = stored.layout(positions.len() as u32);
    let frames: Vec<Vec<Vec<u8>>> = (0..BAKED_FRAMES)
        .map(|frame| encode_vertices(&specs, positions.len(), |q, v, c| number(q, v, frame, c)))
        .collect();
    let texels = |t: usize| {
        let frame = |frame: u32| frames[frame as usize][t].as_slice();
        texture_rows(&layout, specs[t].vertex_bytes(), frame)
    };
    let texels = (0..specs.len()).map(texels).collect();
    let files = |spec: TextureSpec| TextureFile {
        files: vec!["grows.png".into(); spec.format.file_count()],
        spec,
    };
    let manifest = Manifest {
        format: FORMAT.into(),
        version: VERSION,
        name: "grows".into(),
        mode: Mode::Soft,
        splits_are_edges: false,
        origin: None,
        clips: vec![NamedClip {
            name: "all".into(),
            frames: ClipFrames {
                first: 0,
                count: BAKED_FRAMES,
                frames_per_second: 4.0,
                at_end: AtEnd::Loop,
            },
        }],
        layout,
        bounds: sinew::geom::bounds(positions).unwrap_or_default(),
        space: Space::default(),
        carrier: "grows.glb".into(),
        uv_set: 0,
        textures: specs.iter().cloned().map(files).collect(),
        can_blend: true,
        has_ends: false,
        split_vertices: None,
        middles: Vec::new(),
        surface_off: None,
        lookup: None,
    };
    VertexAnimation::new(manifest, texels).expect("a bake")
}

pub(crate) fn bindings(asset: &Asset, plan: &Plan) -> Vec<InputBinding> {
    let mesh = Arc::new(asset.merged(&Default::default()).expect("a mesh"));
    plan.inputs()
        .iter()
        .map(|i| match i.ty {
            InputType::Mesh => InputBinding::Mesh(mesh.clone()),
            InputType::Strands => InputBinding::Mesh(Arc::new(hair(&mesh))),
            InputType::Pose => InputBinding::Pose(asset.rig.clone()),
            InputType::Values => InputBinding::Values,
            InputType::VertexAnimation => {
                InputBinding::VertexAnimation(Arc::new(baked(&mesh.positions, Stored::USUAL)))
            }
        })
        .collect()
}

pub(crate) fn instance(asset: &Asset, document: &str) -> Instance {
    let plan = Arc::new(
        compile("test.json", document, &NoNesting).unwrap_or_else(|e| panic!("{e}\n{document}")),
    );
    let inputs = bindings(asset, &plan);
    Instance::bind(plan, &inputs, &[], Par::Seq)
        .unwrap_or_else(|e| panic!("{}: {e}\n{document}", asset.name))
}

/// The middle of the first clip, where there is one.
pub(crate) fn middle(asset: &Asset) -> f64 {
    asset
        .clips
        .first()
        .map_or(0.0, |c| f64::from(c.range().0 + c.range().1) / 2.0)
}
