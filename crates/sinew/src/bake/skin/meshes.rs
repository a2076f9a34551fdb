//! Maps outputs of a graph to meshes of a character, and checks frames of clips.

use super::JointRange;
use crate::geom::Asset;
use crate::graph::OutputData;
use crate::play::Player;
use crate::psd::parts;
use std::sync::Arc;

/// A mesh of the character that an output of the graph contains.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Baked {
    /// Name of the output.
    pub output: String,
    /// Index into the character's meshes.
    pub mesh: usize,
    /// Its first vertex in the output.
    pub first: usize,
    /// Number of vertices.
    pub count: usize,
}

/// Frames of one clip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClipFrames {
    /// Index into the character's clips. It must be the first clip with its name.
    pub clip: usize,
    /// Frame numbers, increasing, from 0.
    pub numbers: Vec<i64>,
}

/// Error of outputs, clips or ranges that do not match the character.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MeshesError {
    /// The graph has no such mesh output.
    #[error("the graph has no mesh output '{found}'; known: {}", known.join(", "))]
    Output {
        /// The requested name.
        found: String,
        /// Names of the mesh outputs.
        known: Vec<String>,
    },
    /// No output contains a mesh of the character.
    #[error(
        "no mesh output of the graph has the vertices of the character's meshes; its mesh outputs: {}", known.join(", ")
    )]
    None {
        /// Names of the mesh outputs.
        known: Vec<String>,
    },
    /// Two outputs contain the same mesh.
    #[error(
        "outputs '{first}' and '{second}' both contain mesh '{mesh}'; choose one with --mesh-output"
    )]
    Twice {
        /// Name of the mesh.
        mesh: String,
        /// The first output.
        first: String,
        /// The second output.
        second: String,
    },
    /// A clip does not exist, or an earlier clip has the same name.
    #[error("clip {clip} does not exist, or an earlier clip has the same name")]
    Clip {
        /// Its index.
        clip: usize,
    },
    /// Frames of a clip are invalid.
    #[error("clip '{clip}': {found}, expected {expected}")]
    Frames {
        /// Its name.
        clip: String,
        /// What was found.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A joint range is invalid.
    #[error("joint range {range}: {found}, expected {expected}")]
    Range {
        /// Its index.
        range: usize,
        /// What was found.
        found: String,
        /// What was expected.
        expected: String,
    },
}

/// Checks all clips before the graph is played.
pub(super) fn check_clips(asset: &Asset, clips: &[ClipFrames]) -> Result<(), MeshesError> {
    for (k, frames) in clips.iter().enumerate() {
        let name = clip_name(asset, frames.clip)?;
        let wrong = |found: String, expected| {
            Err(MeshesError::Frames {
                clip: name.into(),
                found,
                expected,
            })
        };
        if clips.iter().take(k).any(|c| c.clip == frames.clip) {
            return wrong("listed twice".into(), "each clip once");
        }
        let Some(first) = frames.numbers.first() else {
            return wrong("no frames".into(), "at least one");
        };
        if *first < 0 {
            return wrong(format!("frame {first}"), "frame numbers from 0");
        }
        let falls = frames.numbers.windows(2).find(|n| n[0] >= n[1]);
        if let Some(&[a, b]) = falls {
            return wrong(
                format!("frame {b} after frame {a}"),
                "increasing frame numbers",
            );
        }
    }
    Ok(())
}

/// Checks that held-out frames are not fitted.
pub(super) fn check_held_out(
    asset: &Asset,
    fitted: &[ClipFrames],
    held_out: &[ClipFrames],
) -> Result<(), MeshesError> {
    check_clips(asset, held_out)?;
    for held in held_out {
        let same = fitted.iter().filter(|f| f.clip == held.clip);
        let mut both = same.flat_map(|f| &f.numbers);
        if let Some(number) = both.find(|n| held.numbers.binary_search(n).is_ok()) {
            return Err(MeshesError::Frames {
                clip: clip_name(asset, held.clip)?.into(),
                found: format!("frame {number} in both the fitted and the held-out frames"),
                expected: "it in one of them",
            });
        }
    }
    Ok(())
}

pub(super) fn check_ranges(asset: &Asset, ranges: &[JointRange]) -> Result<(), MeshesError> {
    let nodes = asset.rig.nodes().len();
    let wrong = |r: &JointRange| r.node >= nodes || r.axis > 2 || !r.degrees.is_finite();
    match ranges.iter().position(wrong) {
        Some(range) => Err(MeshesError::Range {
            range,
            found: format!("{:?}", ranges[range]),
            expected: format!("a node below {nodes}, an axis below 3, finite degrees"),
        }),
        None => Ok(()),
    }
}

/// The name of a clip that is the first with this name.
pub(super) fn clip_name(asset: &Asset, clip: usize) -> Result<&str, MeshesError> {
    let found = asset.clips.get(clip).map(|c| c.name.as_str());
    let first = asset
        .clips
        .iter()
        .position(|c| Some(c.name.as_str()) == found);
    let found = found.filter(|_| first == Some(clip));
    found.ok_or(MeshesError::Clip { clip })
}

/// The meshes of the main character that outputs of the graph contain.
pub(super) fn baked_meshes(
    asset: &Asset,
    player: &Player,
    wanted: Option<&str>,
) -> Result<Vec<Baked>, MeshesError> {
    let graph = player.graph();
    let (plan, program, cast) = (graph.plan(), graph.program(), player.inputs());
    let mut out: Vec<Baked> = Vec::new();
    let mut known = Vec::new();
    for (output, place) in plan.outputs().iter().zip(program.outputs()) {
        let OutputData::Mesh { rest, .. } = place else {
            continue;
        };
        known.push(output.name.clone());
        let Some(rest) = program.meshes().get(*rest) else {
            continue;
        };
        let is_it = |b: &crate::graph::InputBinding| match b {
            crate::graph::InputBinding::Mesh(m) => Arc::ptr_eq(&m.topology, &rest.topology),
            _ => false,
        };
        let Some(input) = cast.bindings().iter().position(is_it) else {
            continue;
        };
        let of_main = cast
            .character_of_input(input)
            .is_some_and(|c| Arc::ptr_eq(c, cast.main()));
        let is_meant = wanted.is_none_or(|w| w == output.name);
        if !of_main || !is_meant || rest.topology.strands().is_some() {
            continue;
        }
        for part in parts(asset, plan, input) {
            if let Some(other) = out.iter().find(|b| b.mesh == part.mesh) {
                return Err(MeshesError::Twice {
                    mesh: asset.meshes[part.mesh].name.clone(),
                    first: other.output.clone(),
                    second: output.name.clone(),
                });
            }
            out.push(Baked {
                output: output.name.clone(),
                mesh: part.mesh,
                first: part.first,
                count: part.vertices,
            });
        }
    }
    match (out.is_empty(), wanted) {
        (false, _) => Ok(out),
        (true, Some(found)) if !known.iter().any(|k| k == found) => {
            let found = found.to_owned();
            Err(MeshesError::Output { found, known })
        }
        (true, _) => Err(MeshesError::None { known }),
    }
}
