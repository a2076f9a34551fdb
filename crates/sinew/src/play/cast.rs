//! The characters that a plan plays with: what its inputs are bound to, and their poses.

use super::followers::{Skin, with_followers};
use super::unread::{self, PosesRead};
use super::{Character, PlayError};
use crate::deform::hair_sim::{RootSkin, thickness_profile};
use crate::deform::{Par, ParameterValue};
use crate::geom::{Attribute, Influences, Joint, Mesh, Pose, Rig, THICKNESS, Warning};
use crate::graph::{BindOptions, BoundGraph, InputBinding, InputDecl, InputType, Plan, Thickness};
use crate::io::{Folders, read_vertex_animation};
use crate::vat::animation::VertexAnimation;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
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
    /// Collects what the inputs of `plan` take: from the main character, or from the files that they name, in
    /// `folders` (those of the document). A file that several inputs name is loaded once.
    ///
    /// Meshes and strands of files that have names of joints only (TressFX's) are bound to the joints of the main character, those of inputs
    /// with `joints` to those of that pose.
    ///
    /// # Errors
    /// [`PlayError::Io`] where a file cannot be read or lies elsewhere, [`PlayError::Selection`] where an input selects no mesh, [`PlayError::Joints`] where joints are missing,
    /// [`PlayError::NoManifest`] where an input for a vertex animation names no file, [`PlayError::Sequence`] where one for a mesh names a sequence.
    pub fn assemble(
        main: Arc<Character>,
        plan: &Plan,
        folders: &Folders,
    ) -> Result<Self, PlayError> {
        Self::assemble_with(main, plan, folders, &[])
    }

    /// As [`Self::assemble`], with files of the caller's, relative to the working folder, for the inputs of those names.
    ///
    /// # Errors
    /// As [`Self::assemble`]; [`PlayError::NoInput`] where the plan has no such input.
    pub fn assemble_with(
        main: Arc<Character>,
        plan: &Plan,
        folders: &Folders,
        files: &[(String, PathBuf)],
    ) -> Result<Self, PlayError> {
        check_names(plan, files)?;
        let mut out = Self {
            characters: vec![main],
            of_input: Vec::new(),
            bindings: Vec::new(),
            poses: Vec::new(),
        };
        let mut in_files = Vec::new();
        for input in plan.inputs() {
            let given = files.iter().find(|f| f.0 == input.name);
            let file = match (given, &input.file) {
                (Some((_, file)), _) => Some(file.clone()),
                (None, Some(file)) => Some(folders.find(file)?),
                (None, None) => None,
            };
            let index = match &file {
                Some(file) if input.ty != InputType::VertexAnimation => out.find_or_load(file)?,
                _ => 0,
            };
            out.of_input.push(index);
            in_files.push(file);
        }
        let mut animations = Animations::default();
        for (i, (input, &character)) in plan.inputs().iter().zip(&out.of_input).enumerate() {
            let bound = match input.ty {
                InputType::VertexAnimation => animations.bound(input, in_files[i].as_deref())?,
                _ => {
                    check_single(input, &out.characters[character])?;
                    let joints = out.joints_of(plan, input, character);
                    let skin = out.skin_of(plan, i)?;
                    let around = Around { joints, skin };
                    binding(&out.characters[character], input, &around)?
                }
            };
            out.bindings.push(bound);
        }
        let rest = |c: &Arc<Character>| c.asset.rig.rest_pose();
        out.poses = out.characters.iter().map(rest).collect();
        Ok(out)
    }

    /// The character whose joints a mesh input is bound to, where they are not those of its own.
    fn joints_of(&self, plan: &Plan, input: &InputDecl, own: usize) -> Option<&Character> {
        let index = self.rig_of(plan, input, own);
        (index != own).then(|| self.characters[index].as_ref())
    }

    /// The character whose joints an input is bound to; `own` is the one that it is taken from.
    fn rig_of(&self, plan: &Plan, input: &InputDecl, own: usize) -> usize {
        match &input.joints {
            Some(pose) => {
                let pose = plan.inputs().iter().position(|i| i.name == *pose);
                pose.map_or(own, |pose| self.of_input[pose])
            }
            None if self.characters[own].asset.joints_are_names => 0,
            None => own,
        }
    }

    /// What followers of an input grow on: the mesh input that it names, otherwise all of them.
    fn skin_of(&self, plan: &Plan, input: usize) -> Result<Option<Skin>, PlayError> {
        let hair = &plan.inputs()[input];
        let Some(followers) = &hair.followers else {
            return Ok(None);
        };
        let rig = self.rig_of(plan, hair, self.of_input[input]);
        let (mut positions, mut triangles, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for (input, &character) in plan.inputs().iter().zip(&self.of_input) {
            let is_meant = followers.skin.as_ref().is_none_or(|s| *s == input.name);
            if input.ty != InputType::Mesh || !is_meant {
                continue;
            }
            let mesh = self.characters[character].asset.merged(&input.selection)?;
            let first = positions.len() as u32;
            positions.extend_from_slice(&mesh.positions);
            let own = mesh.topology.triangles().iter();
            triangles.extend(own.map(|t| t.map(|v| first + v)));
            // Of weights on other joints nothing is known.
            let is_own = character == rig && self.rig_of(plan, input, character) == rig;
            let influences = mesh.influences.as_ref().filter(|_| is_own);
            let row = |v| influences.map_or_else(Vec::new, |i| i.row(v).collect());
            rows.extend((0..mesh.positions.len()).map(row));
        }
        Ok((!triangles.is_empty()).then(|| Skin {
            surface: RootSkin::new(&positions, &triangles),
            rows,
        }))
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
        self.bind_with(plan, parameters, Par::Rayon)
    }

    /// As [`Self::bind`], with options: who follows it and may stop it, say.
    ///
    /// # Errors
    /// [`PlayError::Bind`]; with [`BindError::Stopped`](crate::graph::BindError::Stopped) in it where whoever follows wants no more.
    pub fn bind_with<'o>(
        &self,
        plan: &Arc<Plan>,
        parameters: &[(&str, ParameterValue)],
        options: impl Into<BindOptions<'o>>,
    ) -> Result<Arc<BoundGraph>, PlayError> {
        let graph = BoundGraph::bind(plan.clone(), &self.bindings, parameters, options)?;
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

    /// Poses the main character so, in place of what [`Self::pose`] made of it; one of another rig stays away.
    pub fn set_main_pose(&mut self, pose: &Pose) {
        if let Some(own) = self.poses.first_mut()
            && own.locals.len() == pose.locals.len()
        {
            own.clone_from(pose);
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
            InputBinding::Pose(_) | InputBinding::Values | InputBinding::VertexAnimation(_) => {
                false
            }
        };
        let input = self.bindings.iter().position(is_it);
        let found = input.and_then(|i| self.character_of_input(i));
        found.unwrap_or_else(|| self.main())
    }

    /// What the clips of the characters animate and no node of `plan`, the one that this was assembled for, reads, with the file it is in.
    pub fn unread(&self, plan: &Plan) -> Vec<Warning> {
        let read = PosesRead::of(plan);
        let of = |(index, character): (usize, &Arc<Character>)| {
            let own = self.bindings.iter().zip(&self.of_input);
            let meshes: Vec<&Mesh> = own
                .filter_map(|(binding, &of)| match binding {
                    InputBinding::Mesh(mesh) if of == index => Some(mesh.as_ref()),
                    _ => None,
                })
                .collect();
            let mut found = unread::warnings(character, &meshes, &read);
            for w in &mut found {
                w.message = format!("{}: {}", character.path.display(), w.message);
            }
            found
        };
        self.characters.iter().enumerate().flat_map(of).collect()
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
            InputBinding::Mesh(_) | InputBinding::Values | InputBinding::VertexAnimation(_) => None,
        })
    }

    /// Those of [`Self::posed_inputs`] whose pose is not the main character's.
    pub(super) fn other_posed_inputs(&self) -> impl Iterator<Item = (usize, &Pose)> {
        self.posed_inputs().filter(|(i, _)| self.of_input[*i] > 0)
    }
}

/// Vertex animations by the path of their manifest, so that each is read once.
#[derive(Default)]
struct Animations(Vec<(PathBuf, Arc<VertexAnimation>)>);

impl Animations {
    fn bound(&mut self, input: &InputDecl, file: Option<&Path>) -> Result<InputBinding, PlayError> {
        let path = file.ok_or_else(|| no_manifest(input))?;
        let known = self.0.iter().find(|(p, _)| p == path);
        let animation = match known {
            Some((_, animation)) => animation.clone(),
            None => {
                let animation = Arc::new(read_vertex_animation(path)?);
                self.0.push((path.to_owned(), animation.clone()));
                animation
            }
        };
        Ok(InputBinding::VertexAnimation(animation))
    }
}

fn no_manifest(input: &InputDecl) -> PlayError {
    PlayError::NoManifest {
        input: input.name.clone(),
    }
}

/// A sequence has a mesh for each frame; inputs take one for all.
fn check_single(input: &InputDecl, character: &Character) -> Result<(), PlayError> {
    match &character.asset.sequence {
        Some(sequence) if matches!(input.ty, InputType::Mesh | InputType::Strands) => {
            Err(PlayError::Sequence {
                input: input.name.clone(),
                file: character.path.clone(),
                frames: sequence.frames.len(),
            })
        }
        _ => Ok(()),
    }
}

fn check_names(plan: &Plan, files: &[(String, PathBuf)]) -> Result<(), PlayError> {
    let is_there = |name: &str| plan.inputs().iter().any(|i| i.name == name);
    match files.iter().find(|f| !is_there(&f.0)) {
        None => Ok(()),
        Some((name, _)) => Err(PlayError::NoInput {
            name: name.clone(),
            known: plan.inputs().iter().map(|i| i.name.clone()).collect(),
        }),
    }
}

/// What an input takes from others.
struct Around<'a> {
    /// The character whose joints take the place of the own ones.
    joints: Option<&'a Character>,
    /// What followers grow on.
    skin: Option<Skin>,
}

fn binding(
    character: &Character,
    input: &InputDecl,
    around: &Around<'_>,
) -> Result<InputBinding, PlayError> {
    let asset = &character.asset;
    let mut mesh = match input.ty {
        InputType::Mesh => asset.merged(&input.selection)?,
        InputType::Strands => asset.merged_strands(&input.selection)?,
        InputType::Pose => return Ok(InputBinding::Pose(asset.rig.clone())),
        InputType::Values => return Ok(InputBinding::Values),
        InputType::VertexAnimation => return Err(no_manifest(input)),
    };
    if let Some(to) = around.joints {
        mesh.influences = match mesh.influences.take() {
            Some(influences) => Some(on_joints(&influences, input, character, to)?),
            None => None,
        };
    }
    if let Some(followers) = &input.followers {
        let skin = around.skin.as_ref();
        mesh = with_followers(&mesh, followers, skin).map_err(|source| PlayError::Followers {
            input: input.name.clone(),
            source,
        })?;
    }
    if let Some(thickness) = &input.thickness {
        set_thickness(&mut mesh, thickness);
    }
    Ok(InputBinding::Mesh(Arc::new(mesh)))
}

/// Gives strands the attribute that writers take for their thickness.
fn set_thickness(mesh: &mut Mesh, Thickness { root, tip }: &Thickness) {
    if let Some(strands) = mesh.topology.strands() {
        let profile = thickness_profile(strands, &mesh.positions, *root as f32, *tip as f32);
        mesh.attributes
            .insert(THICKNESS.into(), Attribute::Scalar(profile));
    }
}

/// Weights on the joints of another character, found by the names of their nodes; of several joints on one node the first.
fn on_joints(
    influences: &Influences,
    input: &InputDecl,
    from: &Character,
    to: &Character,
) -> Result<Influences, PlayError> {
    let name_of = |rig: &'_ Rig, joint: &Joint| rig.nodes()[joint.node].name.clone();
    let (from_rig, to_rig) = (&from.asset.rig, &to.asset.rig);
    let known: Vec<String> = to_rig.joints().iter().map(|j| name_of(to_rig, j)).collect();
    let find = |joint: &Joint| {
        let name = name_of(from_rig, joint);
        let found = known.iter().position(|k| *k == name);
        found.and_then(|j| u32::try_from(j).ok())
    };
    let new: Vec<Option<u32>> = from_rig.joints().iter().map(find).collect();
    influences.on_joints(&new).ok_or_else(|| {
        let used: BTreeSet<u32> = influences.joints().iter().copied().collect();
        let lost = used.into_iter().filter(|j| new[*j as usize].is_none());
        let joints = from_rig.joints();
        PlayError::Joints {
            input: input.name.clone(),
            file: from.path.clone(),
            missing: lost
                .map(|j| name_of(from_rig, &joints[j as usize]))
                .collect(),
            character: to.path.clone(),
        }
    })
}
