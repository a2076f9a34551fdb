//! Where pictures are taken from.

use crate::exit::{Failure, Outcome};
use crate::render_args::CameraArgs;
use sinew::geom::{Mesh, Pose, Projection, Rig, SceneCamera};
use sinew::picture::{Camera, Extent, Lens};

/// The camera that was asked for.
pub(super) enum View {
    /// Around what moves.
    Orbit { yaw: f32, pitch: f32 },
    /// Fixed.
    Standing {
        eye: [f32; 3],
        target: [f32; 3],
        lens: Lens,
    },
    /// On a node of the file; moves with it.
    OfFile { node: usize, projection: Projection },
}

impl View {
    pub(super) fn parse(args: &CameraArgs, cameras: &[SceneCamera]) -> Outcome<Self> {
        if let Some(name) = &args.camera {
            return of_file(name, cameras);
        }
        if let (Some(eye), Some(target)) = (args.eye, args.target) {
            if !(args.fov > 0.0 && args.fov < 180.0) {
                return Err(Failure::usage(format!(
                    "--fov is {}, expected degrees between 0 and 180",
                    args.fov
                )));
            }
            let lens = Lens::Perspective {
                tan_half_height: (0.5 * args.fov.to_radians()).tan(),
            };
            if eye == target {
                return Err(Failure::usage("--eye and --target are the same point"));
            }
            return Ok(Self::Standing {
                eye: eye.0,
                target: target.0,
                lens,
            });
        }
        if !(args.yaw.is_finite() && args.pitch.is_finite()) {
            return Err(Failure::usage("--yaw or --pitch is not a finite number"));
        }
        Ok(Self::Orbit {
            yaw: args.yaw.to_radians(),
            pitch: args.pitch.to_radians(),
        })
    }

    /// `count` cameras around, or one for all.
    pub(super) fn cameras(
        &self,
        extent: &Extent,
        pose: Option<&Pose>,
        aspect: f32,
        turns: Option<usize>,
    ) -> Outcome<Vec<Camera>> {
        let camera = match *self {
            Self::Orbit { yaw, pitch } => {
                let points = extent.points();
                if let Some(count) = turns {
                    return Ok(Camera::turntable(&points, yaw, pitch, aspect, count));
                }
                Some(Camera::framing(&points, yaw, pitch, aspect))
            }
            Self::Standing { eye, target, lens } => {
                if let Some(count) = turns {
                    let turned = (0..count).map(|i| around(eye, target, i, count));
                    let cameras = turned.map(|eye| Camera::look_at(eye, target, lens, aspect));
                    return cameras.collect::<Option<_>>().ok_or_else(looks_nowhere);
                }
                Camera::look_at(eye, target, lens, aspect)
            }
            Self::OfFile { node, projection } => {
                let places = pose
                    .map(|p| p.scene_from_node.as_slice())
                    .unwrap_or_default();
                let place = places.get(node);
                place.and_then(|p| Camera::from_projection(p, projection, aspect))
            }
        };
        camera.map(|c| vec![c]).ok_or_else(looks_nowhere)
    }

    /// Whether the camera moves with the frames.
    pub(super) fn moves(&self) -> bool {
        matches!(self, Self::OfFile { .. })
    }
}

fn looks_nowhere() -> Failure {
    Failure::input("the camera has no direction: its axes have no length or are not finite")
}

/// `eye` after turn `i` of `count` around the upright axis through `target`, to the right.
fn around(eye: [f32; 3], target: [f32; 3], i: usize, count: usize) -> [f32; 3] {
    let (sin, cos) = (std::f32::consts::TAU * i as f32 / count as f32).sin_cos();
    let (x, z) = (eye[0] - target[0], eye[2] - target[2]);
    [
        target[0] + cos * x + sin * z,
        eye[1],
        target[2] + cos * z - sin * x,
    ]
}

fn of_file(name: &str, cameras: &[SceneCamera]) -> Outcome<View> {
    let numbered = || name.parse().ok().and_then(|i: usize| cameras.get(i));
    let found = cameras.iter().find(|c| c.name == name).or_else(numbered);
    found
        .map(|c| View::OfFile {
            node: c.node,
            projection: c.projection,
        })
        .ok_or_else(|| {
            let known: Vec<&str> = cameras.iter().map(|c| c.name.as_str()).collect();
            Failure::usage(match known.is_empty() {
                true => format!("--camera {name}: the file has no cameras"),
                false => format!(
                    "--camera {name}: there is no such camera; known: {}",
                    known.join(", ")
                ),
            })
        })
}

/// Vertices that follow these joints of the rig more than others; `None` for no names. Joints that this rig does not have move nothing of it.
pub(super) fn focused(mesh: &Mesh, rig: &Rig, names: &[String]) -> Option<Vec<u32>> {
    if names.is_empty() {
        return None;
    }
    let joints: Vec<u32> = names
        .iter()
        .filter_map(|n| rig.find_joint(n.trim()))
        .map(|j| j as u32)
        .collect();
    let Some(influences) = &mesh.influences else {
        return Some(Vec::new());
    };
    let follows = |v: &usize| {
        let of_joints = influences.row(*v).filter(|i| joints.contains(&i.0));
        of_joints.map(|i| i.1).sum::<f32>() > 0.5
    };
    let vertices = (0..influences.vertex_count()).filter(follows);
    Some(vertices.map(|v| v as u32).collect())
}
