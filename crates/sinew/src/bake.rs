//! Baking: frame sequences as files that engines play. Frames come from files ([`FileFrames`]) or from a graph that
//! plays a clip ([`PlayedFrames`]).

pub mod skin;

pub use sinew_bake::*;

use crate::io::FrameData;
use crate::play::{Output, PlayError, Player};
use sinew_geom::Mesh;
use sinew_geom::names::instead_of;
use std::sync::{Arc, Mutex, PoisonError};

/// Frames of one mesh output of a graph.
#[derive(Debug)]
pub struct PlayedFrames {
    name: String,
    key: String,
    numbers: Vec<i64>,
    output: String,
    rest: Mesh,
    materials: Vec<CarrierMaterial>,
    player: Mutex<Player>,
}

/// Error of [`PlayedFrames::new`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayedFramesError {
    /// The graph has no such mesh output.
    #[error("the graph has no mesh output '{found}'; {known}")]
    Output {
        /// The requested name.
        found: String,
        /// A similar name, or all names of mesh outputs.
        known: String,
    },
    /// No output was chosen, and the graph does not have exactly one.
    #[error(
        "the graph has {found} mesh outputs ({known}), expected one; choose one with --mesh-output"
    )]
    Several {
        /// Number of mesh outputs.
        found: usize,
        /// Their names.
        known: String,
    },
}

impl PlayedFrames {
    /// Frames `numbers` (increasing) of a mesh output; without a name, of the only one. `key` identifies everything
    /// that the frames depend on besides the bound graph: clip, values, files of the clips.
    ///
    /// # Errors
    /// [`PlayedFramesError`].
    pub fn new(
        player: Player,
        numbers: Vec<i64>,
        output: Option<&str>,
        name: impl Into<String>,
        key: impl Into<String>,
    ) -> Result<Self, PlayedFramesError> {
        let (output, mut rest) = chosen_output(&player, output)?;
        let materials = used_materials(&player, &mut rest);
        let graph = player.graph().content_key();
        let graph: String = graph.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self {
            name: name.into(),
            key: format!("graph {graph}, output {output}\n{}", key.into()),
            numbers,
            output,
            rest,
            materials,
            player: Mutex::new(player),
        })
    }

    fn play(&self, number: i64) -> Result<Option<FrameData>, PlayError> {
        // After a panic, the player starts again from the first frame.
        let mut player = self.player.lock().unwrap_or_else(PoisonError::into_inner);
        player.seek(number, |_| Ok::<_, PlayError>(()))?;
        let outputs = player.read_outputs()?;
        let ours = outputs.into_iter().find(|(name, _)| *name == self.output);
        Ok(ours.and_then(|(_, output)| match output {
            Output::Mesh(data) => Some(data),
            _ => None,
        }))
    }
}

/// Collects the materials that a mesh uses, and renumbers its parts accordingly.
fn used_materials(player: &Player, mesh: &mut Mesh) -> Vec<CarrierMaterial> {
    let source = player.inputs().character_of_mesh(mesh).source.as_ref();
    let Some(all) = source.and_then(|s| s.json["materials"].as_array()) else {
        mesh.parts.iter_mut().for_each(|p| p.material = None);
        return Vec::new();
    };
    let mut used: Vec<usize> = mesh.parts.iter().filter_map(|p| p.material).collect();
    used.retain(|m| *m < all.len());
    used.sort_unstable();
    used.dedup();
    for part in &mut mesh.parts {
        part.material = part.material.and_then(|m| used.binary_search(&m).ok());
    }
    let kept = used.iter().map(|&index| {
        let material = &all[index];
        let factor = &material["pbrMetallicRoughness"]["baseColorFactor"];
        let name = material["name"].as_str();
        CarrierMaterial::new(
            name.map_or_else(|| format!("material_{index}"), str::to_owned),
            std::array::from_fn(|c| factor[c].as_f64().unwrap_or(1.0) as f32),
        )
    });
    kept.collect()
}

/// Name and rest mesh of an output.
fn chosen_output(
    player: &Player,
    wanted: Option<&str>,
) -> Result<(String, Mesh), PlayedFramesError> {
    let graph = player.graph();
    let (plan, program) = (graph.plan(), graph.program());
    let outputs = plan.outputs().iter().zip(program.outputs());
    let meshes: Vec<(&str, Arc<Mesh>)> = outputs
        .filter_map(|(output, place)| Some((output.name.as_str(), program.shown_mesh(place)?)))
        .collect();
    let known = || meshes.iter().map(|m| m.0).collect::<Vec<_>>().join(", ");
    let found = match (wanted, meshes.as_slice()) {
        (Some(name), all) => {
            all.iter()
                .find(|m| m.0 == name)
                .ok_or_else(|| PlayedFramesError::Output {
                    found: name.into(),
                    known: instead_of(name, meshes.iter().map(|m| m.0)),
                })?
        }
        (None, [one]) => one,
        (None, all) => {
            let (found, known) = (all.len(), known());
            return Err(PlayedFramesError::Several { found, known });
        }
    };
    Ok((found.0.to_owned(), found.1.as_ref().clone()))
}

impl FrameSource for PlayedFrames {
    fn name(&self) -> &str {
        &self.name
    }
    fn frame_count(&self) -> usize {
        self.numbers.len()
    }
    fn number(&self, frame: usize) -> i64 {
        self.numbers[frame]
    }
    fn key(&self, _: usize) -> Result<String, BakeError> {
        Ok(self.key.clone())
    }
    fn materials(&self) -> Vec<CarrierMaterial> {
        self.materials.clone()
    }
    fn order(&self) -> LoadOrder {
        LoadOrder::Rising
    }
    fn load(&self, frame: usize) -> Result<LoadedFrame, BakeError> {
        let number = self.numbers[frame];
        let fault = |message: String| BakeError::Frame { number, message };
        let data = self.play(number).map_err(|e| fault(e.to_string()))?;
        let data = data.ok_or_else(|| fault(format!("output '{}' has no mesh", self.output)))?;
        let mut mesh = self.rest.clone();
        mesh.positions = data.positions;
        mesh.normals = data.normals;
        mesh.tangents = data.tangents;
        if let (Some(colors), Some(first)) = (data.colors, mesh.colors.first_mut()) {
            *first = colors;
        }
        Ok(LoadedFrame::new(mesh))
    }
}
