//! The characters that a plan plays with: what its inputs are bound to, and their poses.

use super::{Character, PlayError};
use crate::deform::{Par, ParameterValue};
use crate::geom::{Mesh, Pose};
use crate::graph::{BoundGraph, InputBinding, InputDecl, InputType, Plan};
use std::path::Path;
use std::sync::Arc;

/// Characters, what each input of a plan takes from them, and a pose of each.
///
/// A clone shares characters and bindings and has poses of its own: one for each player of the same graph.
#[derive(Clone, Debug)]
pub struct Cast {
    /// The main character first.
    characters: Vec<Arc<Character>>,
    /// Character of each input.
    of_input: Vec<usize>,
    bindings: Vec<InputBinding>,
    /// One a character.
    poses: Vec<Pose>,
}

impl Cast {
    /// Collects what the inputs of `plan` take: from the main character, or from the files that they name, relative to
    /// `folder` (that of the document). A file that several inputs name is loaded once.
    ///
    /// # Errors
    /// [`PlayError::Io`] where a file cannot be read, [`PlayError::Selection`] where an input selects no mesh.
    pub fn assemble(main: Arc<Character>, plan: &Plan, folder: &Path) -> Result<Self, PlayError> {
        let mut out = Self {
            characters: vec![main],
            of_input: Vec::new(),
            bindings: Vec::new(),
            poses: Vec::new(),
        };
        for input in plan.inputs() {
            let index = match &input.file {
                None => 0,
                Some(file) => out.find_or_load(&folder.join(file))?,
            };
            out.bindings.push(binding(&out.characters[index], input)?);
            out.of_input.push(index);
        }
        let rest = |c: &Arc<Character>| c.asset.rig.rest_pose();
        out.poses = out.characters.iter().map(rest).collect();
        Ok(out)
    }

    fn find_or_load(&mut self, path: &Path) -> Result<usize, PlayError> {
        if let Some(index) = self.characters.iter().position(|c| c.path == path) {
            return Ok(index);
        }
        self.characters.push(Arc::new(Character::load(path)?));
        Ok(self.characters.len() - 1)
    }

    /// Binds a plan, the one that this was assembled for, on the threads of the pool that this is called from.
    /// `parameters` are set before setup, by name.
    ///
    /// # Errors
    /// [`PlayError::Bind`].
    pub fn bind(
        &self,
        plan: &Arc<Plan>,
        parameters: &[(&str, ParameterValue)],
    ) -> Result<Arc<BoundGraph>, PlayError> {
        let graph = BoundGraph::bind(plan.clone(), &self.bindings, parameters, Par::Rayon)?;
        Ok(Arc::new(graph))
    }

    /// Poses every character at `time_secs`: the main one by `clip` (without one its first), others by their clip of that name or
    /// their first. A character without clips is at rest. Allocates nothing.
    pub fn pose(&mut self, clip: Option<&str>, time_secs: f64) {
        for (i, (c, pose)) in self.characters.iter().zip(&mut self.poses).enumerate() {
            let first = || (i > 0).then(|| c.asset.find_clip(None)).flatten();
            let found = c.asset.find_clip(clip).or_else(first);
            c.asset.rig.evaluate(found, time_secs, pose);
        }
    }

    /// The main character and those of [`Self::loaded`].
    pub fn characters(&self) -> &[Arc<Character>] {
        &self.characters
    }

    /// The character that all inputs take that name no file.
    pub fn main(&self) -> &Arc<Character> {
        // There is always one.
        &self.characters[0]
    }

    /// Characters that the plan's inputs named and that were loaded for them.
    pub fn loaded(&self) -> &[Arc<Character>] {
        self.characters.get(1..).unwrap_or_default()
    }

    /// The character that an input of the plan takes, by index; `None` where there is no such input.
    pub fn character_of_input(&self, input: usize) -> Option<&Arc<Character>> {
        self.characters.get(*self.of_input.get(input)?)
    }

    /// The character that a mesh came from: the one of the first mesh input with the same topology, the main one where none has.
    pub fn character_of_mesh(&self, mesh: &Mesh) -> &Arc<Character> {
        let is_it = |binding: &InputBinding| match binding {
            InputBinding::Mesh(bound) => Arc::ptr_eq(&bound.topology, &mesh.topology),
            InputBinding::Pose(_) | InputBinding::Values => false,
        };
        let input = self.bindings.iter().position(is_it);
        let found = input.and_then(|i| self.character_of_input(i));
        found.unwrap_or_else(|| self.main())
    }

    /// What each input of the plan is bound to, in document order.
    pub fn bindings(&self) -> &[InputBinding] {
        &self.bindings
    }

    /// Pose of each character, as [`Self::pose`] left them; at rest before that.
    pub fn poses(&self) -> &[Pose] {
        &self.poses
    }

    /// Pose of each pose input, by index into the plan's inputs.
    pub fn posed_inputs(&self) -> impl Iterator<Item = (usize, &Pose)> {
        let inputs = self.bindings.iter().zip(&self.of_input).enumerate();
        inputs.filter_map(|(input, (binding, &character))| match binding {
            InputBinding::Pose(_) => Some((input, &self.poses[character])),
            InputBinding::Mesh(_) | InputBinding::Values => None,
        })
    }

    /// Those of [`Self::posed_inputs`] whose pose is not the main character's.
    pub(super) fn other_posed_inputs(&self) -> impl Iterator<Item = (usize, &Pose)> {
        self.posed_inputs().filter(|(i, _)| self.of_input[*i] > 0)
    }
}

fn binding(character: &Character, input: &InputDecl) -> Result<InputBinding, PlayError> {
    Ok(match input.ty {
        InputType::Mesh => InputBinding::Mesh(Arc::new(character.asset.merged(&input.selection)?)),
        InputType::Pose => InputBinding::Pose(character.asset.rig.clone()),
        InputType::Values => InputBinding::Values,
    })
}
