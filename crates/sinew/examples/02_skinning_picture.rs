//! One joint of any character under three ways of skinning, as a picture: linear, dual quaternion, delta mush.
//!
//! `cargo run --release -p sinew --example 02_skinning_picture -- CHARACTER.glb --joint lowerarm_l --bend 140 -o elbow.png`
//!
//! The pose is that of `--clip` at `--frame` (30 a second), or rest. `--bend` then turns the joint until its bone is that many
//! degrees off the line of the bone above; a straight joint bends to the front (+Z) or `--towards X,Y,Z`. `--box` is the edge
//! of the cube around the joint that fills the picture, metres; `--yaw` and `--pitch` turn the camera, degrees: at zero it
//! looks along -Z.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use sinew::deform::Par;
use sinew::geom::nalgebra::Unit;
use sinew::geom::{Asset, Clip, LocalTransform, Pose, Quat, Vec3};
use sinew::graph::{Frame, InputBinding, Instance, NoNesting, compile};
use sinew_picture::{Background, Camera, Image, MeshPicture, Picture, side_by_side};
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

const USAGE: &str = "usage: 02_skinning_picture CHARACTER --joint NAME -o PICTURE.png
       [--clip NAME] [--frame N] [--bend DEGREES] [--towards X,Y,Z] [--box METRES] [--yaw DEGREES] [--pitch DEGREES]";
/// Label and stack of each panel.
const PANELS: [(&str, &str); 3] = [
    ("linear", r#"{"node": "skin", "method": "linear"}"#),
    (
        "dual quaternion",
        r#"{"node": "skin", "method": "dual_quaternion"}"#,
    ),
    (
        "delta mush",
        r#"{"node": "skin", "method": "linear"}, {"node": "delta_mush", "iterations": 10}"#,
    ),
];
/// Edge of a panel, pixels.
const PANEL: usize = 480;
const FRAMES_PER_SECOND: f64 = 30.0;

/// What to show.
#[derive(Clone, Debug, PartialEq)]
struct Shot {
    joint: String,
    clip: Option<String>,
    frame: f64,
    bend: Option<f64>,
    towards: [f64; 3],
    edge: f32,
    yaw: f32,
    pitch: f32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (character, output, shot) = arguments(std::env::args().skip(1))?;
    let image = comparison(&sinew::io::read_any(&character)?.asset, &shot)?;
    sinew::io::write_png(&output, &image)?;
    println!("wrote {}", output.display());
    Ok(())
}

fn arguments(
    mut given: impl Iterator<Item = String>,
) -> Result<(PathBuf, PathBuf, Shot), Box<dyn Error>> {
    let (mut character, mut output, mut joint) = (None, None, None);
    let mut shot = Shot {
        joint: String::new(),
        clip: None,
        frame: 0.0,
        bend: None,
        towards: [0.0, 0.0, 1.0],
        edge: 0.35,
        yaw: 0.0,
        pitch: 0.0,
    };
    while let Some(word) = given.next() {
        if !word.starts_with('-') {
            character = Some(PathBuf::from(word));
            continue;
        }
        let value = given.next().ok_or(USAGE)?;
        match word.as_str() {
            "-o" => output = Some(PathBuf::from(value)),
            "--joint" => joint = Some(value),
            "--clip" => shot.clip = Some(value),
            "--frame" => shot.frame = value.parse()?,
            "--bend" => shot.bend = Some(value.parse()?),
            "--towards" => shot.towards = direction(&value)?,
            "--box" => shot.edge = value.parse()?,
            "--yaw" => shot.yaw = value.parse()?,
            "--pitch" => shot.pitch = value.parse()?,
            _ => return Err(USAGE.into()),
        }
    }
    shot.joint = joint.ok_or(USAGE)?;
    Ok((character.ok_or(USAGE)?, output.ok_or(USAGE)?, shot))
}

fn direction(text: &str) -> Result<[f64; 3], Box<dyn Error>> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(str::parse).collect();
    Ok(numbers?.try_into().map_err(|_| USAGE)?)
}

/// The three panels side by side.
fn comparison(asset: &Asset, shot: &Shot) -> Result<Image, Box<dyn Error>> {
    let clip = asset.find_clip(shot.clip.as_deref());
    if clip.is_none() && shot.clip.is_some() {
        return Err(format!("{} has no clip of that name", asset.name).into());
    }
    let node = asset.rig.find_node(&shot.joint);
    let node = node.ok_or_else(|| format!("{} has no joint '{}'", asset.name, shot.joint))?;
    let pose = posed(asset, clip, node, shot);
    let camera = aimed(&pose, node, shot);
    let mut images = Vec::new();
    for (_, stack) in PANELS {
        images.push(panel(asset, stack, &pose, &camera)?);
    }
    let labelled: Vec<_> = PANELS.iter().zip(&images).map(|(p, i)| (p.0, i)).collect();
    Ok(side_by_side(&labelled))
}

fn posed(asset: &Asset, clip: Option<&Clip>, node: usize, shot: &Shot) -> Pose {
    let rig = &asset.rig;
    let mut pose = rig.rest_pose();
    rig.evaluate(clip, shot.frame / FRAMES_PER_SECOND, &mut pose);
    let place = |n: usize| pose.scene_from_node[n].translation;
    let child = rig.nodes().iter().position(|n| n.parent == Some(node));
    let (Some(bend), Some(child), Some(parent)) = (shot.bend, child, rig.nodes()[node].parent)
    else {
        return pose;
    };
    let (above, bone) = (place(node) - place(parent), place(child) - place(node));
    let towards = Vec3::from(shot.towards);
    let axis = [above.cross(&bone), bone.cross(&towards)]
        .into_iter()
        .find_map(|axis| Unit::try_new(axis, 1e-6 * above.norm() * bone.norm()));
    let inverse = pose.scene_from_node[parent].inverse();
    if let (Some(axis), Some(inverse)) = (axis, inverse) {
        let angle = bend.to_radians() - above.angle(&bone);
        let turn = Quat::from_axis_angle(&axis, angle).to_rotation_matrix();
        let mut scene = pose.scene_from_node[node];
        scene.linear = turn.matrix() * scene.linear;
        pose.locals[node] = LocalTransform::Matrix(inverse * scene);
        rig.finish(&mut pose);
    }
    pose
}

/// A camera that shows the cube around the joint.
fn aimed(pose: &Pose, node: usize, shot: &Shot) -> Camera {
    let at = pose.scene_from_node[node].translation;
    let at = [at.x as f32, at.y as f32, at.z as f32];
    let corners = Camera::corners(
        at.map(|c| c - 0.5 * shot.edge),
        at.map(|c| c + 0.5 * shot.edge),
    );
    let (yaw, pitch) = (shot.yaw.to_radians(), shot.pitch.to_radians());
    Camera::framing(&corners, yaw, pitch, 1.0)
}

fn panel(
    asset: &Asset,
    stack: &str,
    pose: &Pose,
    camera: &Camera,
) -> Result<Image, Box<dyn Error>> {
    let mesh = Arc::new(asset.merged(&Default::default())?);
    let document = format!(r#"{{"sinew": "1.0", "stack": [{stack}]}}"#);
    let plan = Arc::new(compile("picture", &document, &NoNesting)?);
    let inputs = [
        InputBinding::Mesh(mesh.clone()),
        InputBinding::Pose(asset.rig.clone()),
    ];
    let mut instance = Instance::bind(plan, &inputs, &[], Par::Rayon)?;
    let frame = Frame::default().pose(pose);
    instance.update(&frame, Par::Rayon)?;
    let body = instance.mesh_output("body").ok_or("the stack's output")?;
    let mut picture = Picture::with_background(PANEL, PANEL, Background::STUDIO);
    let mut shown = MeshPicture::new(body.positions, mesh.topology.triangles());
    shown.colors = mesh.colors.first().map(Vec::as_slice);
    picture.draw_mesh(&shown, camera)?;
    Ok(picture.resolve())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shot(words: &str) -> Shot {
        let words = format!("arm.glb -o arm.png {words}");
        let (character, output, shot) =
            arguments(words.split(' ').map(str::to_owned)).expect("well formed");
        assert_eq!((character, output), ("arm.glb".into(), "arm.png".into()));
        shot
    }

    /// Pixels of panel `k` as they stand in the picture.
    fn columns(image: &Image, k: usize) -> Vec<[u8; 4]> {
        let third = image.width() / 3;
        (40..image.height() - 10)
            .flat_map(|y| (10..third - 10).filter_map(move |x| image.pixel(k * third + x, y)))
            .collect()
    }

    #[test]
    fn the_three_panels_of_a_bent_elbow_differ() {
        let arm = sinew_samples::arm_with_hand().expect("the sample");
        let shot = shot("--joint forearm --clip none --bend 140 --towards 0,1,0");
        let wrong = comparison(&arm, &shot);
        assert!(wrong.is_err(), "no such clip");
        let image = comparison(&arm, &Shot { clip: None, ..shot }).expect("draws");
        let panels: Vec<_> = (0..3).map(|k| columns(&image, k)).collect();
        assert!(panels[0] != panels[1] && panels[1] != panels[2] && panels[0] != panels[2]);
    }

    #[test]
    fn bend_is_the_angle_off_the_bone_above() {
        let arm = sinew_samples::arm_with_hand().expect("the sample");
        let node = arm.rig.find_node("forearm").expect("a forearm");
        let upper = arm.rig.nodes()[node].parent.expect("an upper arm");
        let hand = arm.rig.nodes().iter().position(|n| n.parent == Some(node));
        let shot = shot("--joint forearm --bend 70 --towards 0,1,0");
        // Straight at rest; already bent by the clip, the other way round too.
        for (clip, frame) in [(None, 0.0), (arm.clips.first(), 40.0)] {
            let pose = posed(
                &arm,
                clip,
                node,
                &Shot {
                    frame,
                    ..shot.clone()
                },
            );
            let at = |n: usize| pose.scene_from_node[n].translation;
            let (above, bone) = (at(node) - at(upper), at(hand.expect("a hand")) - at(node));
            assert!((above.angle(&bone).to_degrees() - 70.0).abs() < 1e-6);
            assert!(bone.y > 0.5 * bone.norm());
        }
    }
}
