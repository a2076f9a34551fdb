//! Where a character stands and how large it is changes nothing else: every node that moves a mesh, far from the origin, in other units, and
//! on a rig that its root scales.

use crate::common::{instance, middle, needed, numbers};
use sinew::deform::{DefaultValue, NodeDesc, Par, ParameterType, PortType, REGISTRY};
use sinew::geom::{Affine, Asset, Joint, Mat3, Mesh, Pose, Real, Rig, Vec3};
use sinew::graph::{Frame, Instance};
use std::sync::Arc;

/// Nodes that work on the mesh at rest.
const BEFORE_SKIN: [&str; 4] = [
    "skin",
    "direct_delta_mush",
    "morph",
    "pose_space_deformation",
];

/// Modes of `wrap` that refuse the samples as drivers. Their own tests say that affine maps are exact.
const FOR_CAGES: [&str; 2] = ["rbf", "cage"];

/// Offsets in metres of the scene stay as they are.
const OFFSETS_IN_SCENE: [&str; 2] = ["lattice", "\"points_space\": \"world\""];

/// The character as one mesh, with a pose.
struct Scene {
    asset: Asset,
    pose: Pose,
}

impl Scene {
    fn of(asset: &Asset) -> Self {
        let mut pose = asset.rig.rest_pose();
        let clip = asset.clips.first();
        asset.rig.evaluate(clip, middle(asset), &mut pose);
        Self {
            asset: asset.clone(),
            pose,
        }
    }

    /// Mesh, rig and pose brought elsewhere by a similarity that does not turn.
    fn placed(&self, by: &Affine<f64>) -> Self {
        let mut out = Self {
            asset: self.asset.clone(),
            pose: self.pose.clone(),
        };
        let back = by.inverse().expect("regular");
        let place = |mesh: &mut Mesh| {
            for p in &mut mesh.positions {
                *p = f64::array3(by.point(f64::vec3(*p)));
            }
            let targets = mesh.morph_targets.iter_mut();
            for d in targets.flat_map(|t| &mut t.positions) {
                *d = f64::array3(by.linear * f64::vec3(*d));
            }
        };
        out.asset.meshes.iter_mut().for_each(place);
        let rig = &self.asset.rig;
        let joint = |j: &Joint| Joint {
            node: j.node,
            joint_from_bind: j.joint_from_bind * back,
        };
        let joints = rig.joints().iter().map(joint).collect();
        out.asset.rig = Arc::new(Rig::new(rig.nodes().to_vec(), joints).expect("as before"));
        for m in &mut out.pose.palette {
            *m = (*by * m.unpack() * back).into();
        }
        out
    }

    /// The mesh as `by` and back leave it: far from the origin places are rounded to larger steps, which no node can undo.
    fn rounded(&self, by: &Affine<f64>) -> Self {
        let mut out = Self {
            asset: self.asset.clone(),
            pose: self.pose.clone(),
        };
        let back = by.inverse().expect("regular");
        let positions = out.asset.meshes.iter_mut().flat_map(|m| &mut m.positions);
        for p in positions {
            let there: [f32; 3] = f64::array3(by.point(f64::vec3(*p)));
            *p = f64::array3(back.point(f64::vec3(there)));
        }
        out
    }

    /// The pose alone, moved by `by`.
    fn grown(&self, by: &Affine<f64>) -> Pose {
        let mut pose = self.pose.clone();
        for m in &mut pose.palette {
            *m = (*by * m.unpack()).into();
        }
        pose
    }

    fn bind(&self, desc: &NodeDesc, more: &str, by: &Affine<f64>) -> Instance {
        instance(&self.asset, &document(desc, &(stands(desc, by) + more)))
    }
}

/// Positions behind the node, as in a first frame.
fn run(graph: &mut Instance, pose: &Pose) -> Vec<[f32; 3]> {
    let values = numbers(graph.plan());
    let values: Vec<(usize, &[f32])> = values.iter().map(|(i, v)| (*i, &**v)).collect();
    let frame = Frame::at(0.3).pose(pose).values(&values);
    graph.reset();
    graph.update(&frame, Par::Seq).expect("a frame");
    let mesh = graph.mesh_output("out").expect("a mesh");
    mesh.positions.to_vec()
}

/// Parameters of nodes that stand in the scene: so that they do something, and go where the character goes.
fn stands(desc: &NodeDesc, by: &Affine<f64>) -> String {
    let matrix = |m: &Affine<f64>| {
        let column = |c: usize| ([0, 1, 2].map(|r| m.linear[(r, c)]), 0);
        let t = m.translation;
        let columns = [column(0), column(1), column(2), ([t.x, t.y, t.z], 1)];
        let columns = columns.map(|([x, y, z], w)| format!("{x}, {y}, {z}, {w}"));
        format!("{{\"matrix\": [{}]}}", columns.join(", "))
    };
    // From y to x, the way that the arm lies.
    let frame = Affine {
        linear: Mat3::new(0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0),
        translation: Vec3::new(0.1, 0.02, 0.0),
    };
    let size = by.linear.determinant().cbrt();
    let (name, place, more) = match desc.name {
        "bend" => ("transform", *by * frame, r#""angle": 0.9"#.to_owned()),
        "twist" => ("transform", *by * frame, r#""angle": 1.2"#.to_owned()),
        "taper" => ("transform", *by * frame, r#""end_scale_x": 0.5"#.to_owned()),
        "sine" => (
            "transform",
            *by * frame,
            r#""amplitude": 0.05, "decay": 2"#.to_owned(),
        ),
        "squash_stretch" => ("transform", *by * frame, r#""stretch": 1.4"#.to_owned()),
        "noise" => (
            "rest_transform",
            *by * frame,
            format!(r#""amplitude": {}"#, 0.05 * size),
        ),
        "transform" => (
            "transform",
            *by * frame * by.inverse().expect("regular"),
            String::new(),
        ),
        "lattice" => (
            "rest_transform",
            *by * frame,
            format!(
                r#""falloff_distance": {}, "resolution": [2, 2, 2], "influence": [2, 2, 2], "points_are": "offsets",
 "points": [[0, 0, 0], [0.1, 0, 0], [0, 0.2, 0], [0, 0, 0.1], [0, 0, 0], [0, 0, 0], [0.1, 0.1, 0], [0, 0, 0]]"#,
                0.25 * size
            ),
        ),
        _ => return String::new(),
    };
    let more = if more.is_empty() {
        more
    } else {
        format!(", {more}")
    };
    format!(", \"{name}\": {}{more}", matrix(&place))
}

/// The node as it is by default, and with each other word of each of its parameters.
fn variants(desc: &NodeDesc) -> Vec<String> {
    let mut out = vec![String::new()];
    let given = stands(desc, &Affine::identity());
    let open = desc.parameters.iter();
    for p in open.filter(|p| !given.contains(&format!("\"{}\"", p.name))) {
        let (ParameterType::Choice(words), DefaultValue::Text(default)) = (p.ty, p.default) else {
            continue;
        };
        let other = words.iter().filter(|w| w.name != default);
        let other = other.filter(|w| !(desc.name == "wrap" && FOR_CAGES.contains(&w.name)));
        out.extend(other.map(|w| format!(", \"{}\": \"{}\"", p.name, w.name)));
    }
    out
}

/// The node on the skinned mesh, or on the mesh at rest and skinned after it; `more`: further parameters.
fn document(desc: &NodeDesc, more: &str) -> String {
    let is_before = BEFORE_SKIN.contains(&desc.name);
    let mut links = String::new();
    for port in desc
        .inputs
        .iter()
        .filter(|p| p.required || p.ty == PortType::Pose)
    {
        let link = match port.ty {
            PortType::Mesh if is_before => "body",
            PortType::Mesh if desc.name == "wrap" && port.name == "mesh" => "body",
            PortType::Mesh => "skinned",
            PortType::Pose => "pose",
            PortType::Values => "values",
            _ => continue,
        };
        links += &format!(", \"{}\": \"{link}\"", port.name);
    }
    let inputs = crate::common::inputs(desc);
    let (kind, needed) = (desc.name, needed(desc));
    let moves = matches!(kind, "skin" | "direct_delta_mush");
    let (skinned, out) = match (is_before, moves) {
        (true, false) => ("it", "skinned"),
        (true, true) => ("body", "it"),
        (false, _) => ("body", "it"),
    };
    format!(
        r#"{{"sinew": "1.0", {inputs}"nodes": {{
 "skinned": {{"node": "skin", "mesh": "{skinned}", "pose": "pose"}},
 "it": {{"node": "{kind}"{links}{needed}{more}}}}}, "outputs": {{"out": "{out}"}}}}"#
    )
}

/// Nodes that take a mesh and give one.
fn movers() -> impl Iterator<Item = &'static NodeDesc> {
    let takes = |d: &&'static NodeDesc| {
        let is_mesh = |p: &&sinew::deform::PortDesc| p.ty == PortType::Mesh && !p.strands;
        let from_file = d.inputs.iter().any(|p| p.ty == PortType::VertexAnimation);
        d.inputs.iter().any(|p| is_mesh(&p)) && d.outputs.iter().any(|p| is_mesh(&p)) && !from_file
    };
    REGISTRY.iter().copied().filter(takes)
}

fn scale(s: f64) -> Affine<f64> {
    Affine {
        linear: Mat3::identity() * s,
        translation: Vec3::zeros(),
    }
}

/// What must hold for all nodes that move a mesh: each of `changes` maps positions as it maps the character. `allowed`: metres, from the size of the
/// result. `only_poses`: the character itself stays as it is. `exempt`: nodes and words of which it need not hold.
fn check(
    changes: &[Affine<f64>],
    only_poses: bool,
    allowed: impl Fn(f64) -> f64,
    exempt: &[[&str; 2]],
) {
    let mut failed = Vec::new();
    let all = || movers().flat_map(|d| variants(d).into_iter().map(move |v| (d, v)));
    for (index, asset) in crate::common::samples().into_iter().enumerate() {
        let before = Scene::of(&asset);
        let size = f64::from(asset.meshes[0].diagonal());
        let placed = |by: &Affine<f64>| match only_poses {
            true => (before.rounded(&Affine::identity()), None),
            false => (before.rounded(by), Some(before.placed(by))),
        };
        let placed: Vec<(Scene, Option<Scene>)> = changes.iter().map(placed).collect();
        // What is not the default on the first of them only.
        for (desc, more) in all().filter(|v| index == 0 || v.1.is_empty()) {
            let is_it = |e: &[&str; 2]| e[0] == desc.name && more.contains(e[1]);
            if exempt.iter().any(is_it) {
                continue;
            }
            let here = Affine::identity();
            for (by, (near, after)) in changes.iter().zip(&placed) {
                let expected = run(&mut near.bind(desc, &more, &here), &near.pose);
                let found = match after {
                    Some(after) => run(&mut after.bind(desc, &more, by), &after.pose),
                    None => run(&mut before.bind(desc, &more, by), &before.grown(by)),
                };
                let off = |(e, f): (&[f32; 3], &[f32; 3])| {
                    (by.point(f64::vec3(*e)) - f64::vec3(*f)).norm()
                };
                let worst = expected.iter().zip(&found).map(off).fold(0.0, f64::max);
                let size = size * by.linear.determinant().cbrt();
                // Not a number fails, too.
                if worst.is_nan() || worst > allowed(size) {
                    failed.push(format!(
                        "{}{more} on {}, {by:?}: {worst:.1e} m",
                        desc.name, asset.name
                    ));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn a_character_a_kilometre_away_is_the_same() {
    let by = Affine {
        translation: Vec3::new(1000.0, -300.0, 700.0),
        ..Affine::identity()
    };
    // Eight steps of single precision there; skinning alone takes five, with its matrices.
    // Within the bend of the elbow one vertex has two turns that fit alike: rounding decides. All others are within two steps.
    // Half at rest, the stretch is 2 here: it stretches the five steps of skinning to ten (12 measured).
    let exempt = [
        ["direct_delta_mush", "uniform_self"],
        ["squash_stretch", "half_at_rest"],
    ];
    check(&[by], false, |_| 8.0 * 6.1e-5, &exempt);
}

#[test]
fn a_character_in_other_units_is_the_same() {
    let changes = [0.01, 100.0].map(scale);
    check(&changes, false, |size| 1e-5 * size, &[OFFSETS_IN_SCENE]);
}

#[test]
fn a_root_that_scales_scales_everything() {
    let exempt = [
        OFFSETS_IN_SCENE,
        // Lengths stay those of the rest mesh.
        ["delta_mush", "\"scale\": \"fixed\""],
        // The box stands where the mesh is at rest, which does not grow.
        ["lattice", "\"bind_to\": \"rest\""],
        // So does the frame of the noise.
        ["noise", ""],
        // Displacements from the rest mesh, whose rounding does not shrink: 2e-5 of the size at a hundredth of it.
        ["wrap", "\"points\""],
    ];
    let changes = [0.01, 0.3, 3.0, 100.0].map(scale);
    check(&changes, true, |size| 1e-5 * size, &exempt);
}
