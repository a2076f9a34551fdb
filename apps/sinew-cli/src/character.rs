//! Characters: the asset, its source document, and the bindings that a plan needs.

use crate::exit::{Failure, Outcome};
use crate::talk::Talk;
use sinew::geom::{Asset, Mesh, Pose};
use sinew::graph::{InputBinding, InputType, Plan};
use sinew::io::{GltfSource, read_any};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) struct Character {
    pub(crate) path: PathBuf,
    pub(crate) asset: Asset,
    pub(crate) source: Option<GltfSource>,
}

impl Character {
    pub(crate) fn load(path: &Path, talk: &Talk) -> Outcome<Self> {
        let file = read_any(path).map_err(Failure::input)?;
        for w in &file.asset.warnings {
            talk.warning(w.code, &format!("{}: {}", path.display(), w.message));
        }
        Ok(Self {
            path: path.to_owned(),
            asset: file.asset,
            source: file.gltf,
        })
    }
}

/// The files that a plan's inputs come from.
pub(crate) struct Cast {
    /// The main character first.
    pub(crate) characters: Vec<Character>,
    /// Character of each input.
    pub(crate) of_input: Vec<usize>,
    pub(crate) bindings: Vec<InputBinding>,
    pub(crate) poses: Vec<Pose>,
}

impl Cast {
    pub(crate) fn assemble(
        main: Character,
        plan: &Plan,
        folder: &Path,
        talk: &Talk,
    ) -> Outcome<Self> {
        let mut characters = vec![main];
        let (mut of_input, mut bindings) = (Vec::new(), Vec::new());
        for input in plan.inputs() {
            let index = match &input.file {
                None => 0,
                Some(file) => {
                    let path = folder.join(file);
                    match characters.iter().position(|c| c.path == path) {
                        Some(i) => i,
                        None => {
                            characters.push(Character::load(&path, talk)?);
                            characters.len() - 1
                        }
                    }
                }
            };
            let asset = &characters[index].asset;
            bindings.push(match input.ty {
                InputType::Mesh => {
                    let mesh: Mesh = asset.merged(&input.selection).map_err(Failure::bind)?;
                    InputBinding::Mesh(Arc::new(mesh))
                }
                InputType::Pose => InputBinding::Pose(asset.rig.clone()),
                InputType::Values => InputBinding::Values,
            });
            of_input.push(index);
        }
        let poses = characters.iter().map(|c| c.asset.rig.rest_pose()).collect();
        Ok(Self {
            characters,
            of_input,
            bindings,
            poses,
        })
    }

    /// Poses every character at `time_secs`: the main one by `clip`, others by their clip of that name or first one.
    pub(crate) fn pose(&mut self, clip: Option<&str>, time_secs: f64) {
        for (i, (c, pose)) in self.characters.iter().zip(&mut self.poses).enumerate() {
            let found = c
                .asset
                .find_clip(clip)
                .or_else(|| if i > 0 { c.asset.find_clip(None) } else { None });
            c.asset.rig.evaluate(found, time_secs, pose);
        }
    }
}
