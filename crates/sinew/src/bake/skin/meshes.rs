//! Which meshes of a character outputs of a graph show, and frames of clips.

use super::JointRange;
use crate::geom::Asset;
use crate::graph::OutputPlace;
use crate::play::Player;
use crate::psd::parts;
use std::sync::Arc;

/// A mesh of the character that an output of the graph shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baked {
    /// Name of the output.
    pub output: String,
    /// Index into the character's meshes.
    pub mesh: usize,
    /// Its first vertex in the output.
    pub first: usize,
    /// How many vertices it has.
    pub count: usize,
}

/// Frames of one clip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClipFrames {
    /// Index into the character's clips; the first of its name.
    pub clip: usize,
    /// Numbers of frames, rising, from 0 on.
    pub numbers: Vec<i64>,
}

/// Why outputs of a graph are no skins of the character.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MeshesError {
    /// There is no such mesh output.
    #[error("there is no mesh output '{found}'; there are: {}", known.join(", "))]
    Output {
        /// What was asked for.
        found: String,
        /// The names of mesh outputs.
        known: Vec<String>,
    },
    /// No output shows a mesh of the character.
    #[error(
        "no output of the graph has the vertices of the character's meshes; there are: {}", known.join(", ")
    )]
    None {
        /// The names of mesh outputs.
        known: Vec<String>,
    },
    /// Two outputs show the same mesh.
    #[error("outputs '{first}' and '{second}' both show mesh '{mesh}'; name one (--mesh-output)")]
    Twice {
        /// Name of the mesh.
        mesh: String,
        /// An output.
        first: String,
        /// The other.
        second: String,
    },
    /// A clip is not there, or another one has its name.
    #[error("clip {clip} is not there, or not the first of its name")]
    Clip {
        /// Its index.
        clip: usize,
    },
    /// Frames of a clip make no sense.
    #[error("clip '{clip}': {found}, expected {expected}")]
    Frames {
        /// Its name.
        clip: String,
        /// What there is.
        found: String,
        /// What there should be.
        expected: &'static str,
    },
    /// A joint range makes no sense.
    #[error("joint range {range}: {found}, expected {expected}")]
    Range {
        /// Its index.
        range: usize,
        /// What there is.
        found: String,
        /// What there should be.
        expected: String,
    },
}

/// Looks at all that is to be played, before anything is.
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
            return wrong("named twice".into(), "each clip once");
        }
        let Some(first) = frames.numbers.first() else {
            return wrong("no frame".into(), "one at least");
        };
        if *first < 0 {
            return wrong(format!("frame {first}"), "frames from 0 on");
        }
        let falls = frames.numbers.windows(2).find(|n| n[0] >= n[1]);
        if let Some(&[a, b]) = falls {
            return wrong(format!("frame {b} behind frame {a}"), "frames that rise");
        }
    }
    Ok(())
}

/// Held out is what is not fitted.
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
                found: format!("frame {number} is fitted and held out"),
                expected: "one of both",
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

/// The name of a clip that is the first of its name.
pub(super) fn clip_name(asset: &Asset, clip: usize) -> Result<&str, MeshesError> {
    let found = asset.clips.get(clip).map(|c| c.name.as_str());
    let first = asset
        .clips
        .iter()
        .position(|c| Some(c.name.as_str()) == found);
    let found = found.filter(|_| first == Some(clip));
    found.ok_or(MeshesError::Clip { clip })
}

/// The meshes of the main character that outputs of the graph show.
pub(super) fn baked_meshes(
    asset: &Asset,
    player: &Player,
    wanted: Option<&str>,
) -> Result<Vec<Baked>, MeshesError> {
    let graph = player.graph();
    let (plan, program, cast) = (graph.plan(), graph.program(), player.cast());
    let mut out: Vec<Baked> = Vec::new();
    let mut known = Vec::new();
    for (output, place) in plan.outputs().iter().zip(program.outputs()) {
        let OutputPlace::Mesh { rest, .. } = place else {
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
