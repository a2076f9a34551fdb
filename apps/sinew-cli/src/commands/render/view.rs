//! Where pictures are taken from.

use super::look;
use crate::exit::{Failure, Outcome};
use crate::render_args::CameraArgs;
use sinew::geom::{Mesh, Pose, Projection, SceneCamera};
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
                return Err(Failure::usage("--eye and --target are the same place"));
            }
            return Ok(Self::Standing {
                eye: eye.0,
                target: target.0,
                lens,
            });
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
            Self::Standing { eye, target, lens } => Camera::look_at(eye, target, lens, aspect),
            Self::OfFile { node, projection } => {
                let places = pose
                    .map(|p| p.scene_from_node.as_slice())
                    .unwrap_or_default();
                let place = places.get(node);
                place.and_then(|p| Camera::from_projection(p, projection, aspect))
            }
        };
        camera.map(|c| vec![c]).ok_or_else(|| {
            Failure::input("the camera looks nowhere: its axes vanish or are not finite")
        })
    }
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
                false => format!("--camera {name}: the file has {}", known.join(", ")),
            })
        })
}

/// Vertices that follow these joints more than others; all of them for no joints.
pub(super) fn focused(mesh: &Mesh, joints: &[u32]) -> Option<Vec<u32>> {
    let influences = mesh.influences.as_ref().filter(|_| !joints.is_empty())?;
    let follows = |v: &usize| {
        let of_joints = influences.row(*v).filter(|i| joints.contains(&i.0));
        of_joints.map(|i| i.1).sum::<f32>() > 0.5
    };
    let vertices = (0..influences.vertex_count()).filter(follows);
    Some(vertices.map(|v| v as u32).collect())
}

/// Joints by name.
pub(super) fn joints(rig: &sinew::geom::Rig, names: &[String]) -> Outcome<Vec<u32>> {
    names.iter().map(|n| look::joint(rig, n.trim())).collect()
}
