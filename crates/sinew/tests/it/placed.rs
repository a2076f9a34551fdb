//! Where a character stands and how large it is changes nothing else: every node that moves a mesh, far from the origin, in other units, and
//! on a rig that its root scales.

use crate::common::{instance, middle, needed, numbers};
use sinew::deform::{NodeDesc, Par, PortType, REGISTRY};
use sinew::geom::{Affine, Asset, Joint, Mat3, Mesh, Pose, Real, Rig, Vec3};
use sinew::graph::Frame;
use std::sync::Arc;

/// Nodes that work on the mesh at rest.
const BEFORE_SKIN: [&str; 4] = [
    "skin",
    "direct_delta_mush",
    "morph",
    "pose_space_deformation",
];

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

    /// The pose alone, moved by `by`.
    fn grown(&self, by: &Affine<f64>) -> Self {
        let mut pose = self.pose.clone();
        for m in &mut pose.palette {
            *m = (*by * m.unpack()).into();
        }
        Self {
            asset: self.asset.clone(),
            pose,
        }
    }

    /// Positions behind the node.
    fn run(&self, desc: &NodeDesc) -> Vec<[f32; 3]> {
        let mut graph = instance(&self.asset, &document(desc));
        let values = numbers(graph.plan());
        let values: Vec<(usize, &[f32])> = values.iter().map(|(i, v)| (*i, &**v)).collect();
        let frame = Frame {
            time_secs: 0.3,
            pose: Some(&self.pose),
            values: &values,
            ..Frame::default()
        };
        graph.update(&frame, Par::Seq).expect("a frame");
        let mesh = graph.mesh_output("out").expect("a mesh");
        mesh.positions.to_vec()
    }
}

/// The node on the skinned mesh, or on the mesh at rest and skinned after it.
fn document(desc: &NodeDesc) -> String {
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
 "it": {{"node": "{kind}"{links}{needed}}}}}, "outputs": {{"out": "{out}"}}}}"#
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

/// What must hold for all nodes that move a mesh. `allowed`: metres, from the size of the result.
fn check(
    what: &str,
    allowed: impl Fn(f64) -> f64,
    change: impl Fn(&Scene) -> (Scene, Affine<f64>),
) {
    let mut failed = Vec::new();
    for asset in sinew_samples::all().expect("samples") {
        let before = Scene::of(&asset);
        let (after, map) = change(&before);
        let size = f64::from(asset.meshes[0].diagonal()) * map.linear.determinant().cbrt();
        for desc in movers() {
            let (expected, found) = (before.run(desc), after.run(desc));
            let off =
                |(e, f): (&[f32; 3], &[f32; 3])| (map.point(f64::vec3(*e)) - f64::vec3(*f)).norm();
            let worst = expected.iter().zip(&found).map(off).fold(0.0, f64::max);
            // Not a number fails, too.
            if worst.is_nan() || worst > allowed(size) {
                failed.push(format!("{} on {}: {worst:.1e} m", desc.name, asset.name));
            }
        }
    }
    assert!(failed.is_empty(), "{what}: {failed:#?}");
}

#[test]
fn a_character_a_kilometre_away_is_the_same() {
    let by = Affine {
        translation: Vec3::new(1000.0, -300.0, 700.0),
        ..Affine::identity()
    };
    // Eight steps of single precision there; skinning alone takes five, with its matrices.
    let allowed = |_| 8.0 * 6.1e-5;
    check("a kilometre away", allowed, |scene| (scene.placed(&by), by));
}

#[test]
fn a_character_in_other_units_is_the_same() {
    for s in [0.01, 100.0] {
        let by = scale(s);
        let allowed = |size: f64| 1e-5 * size;
        check("other units", allowed, |scene| (scene.placed(&by), by));
    }
}

#[test]
fn a_root_that_scales_scales_everything() {
    for s in [0.01, 0.3, 3.0, 100.0] {
        let by = scale(s);
        let allowed = |size: f64| 1e-5 * size;
        check("the root scales", allowed, |scene| (scene.grown(&by), by));
    }
}
