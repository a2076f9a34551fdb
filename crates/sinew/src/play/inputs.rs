//! The characters of a plan, the bindings of its inputs, and the poses.

use super::followers::{self, Skin, with_followers};
use super::point_caches::{PointCacheFile, PointCaches};
use super::runner::not_finite;
use super::unread::{self, PosesRead};
use super::{Character, PlayError};
use crate::deform::hair_sim::{RootSkin, thickness_profile};
use crate::deform::{Par, ParameterValue};
use crate::geom::{
    Attribute, Influences, Joint, Mesh, Pose, Rig, SelectionError, THICKNESS, Warning,
    apply_expressions,
};
use crate::graph::{BindOptions, BoundGraph, InputBinding, InputDecl, InputType, Plan, Thickness};
use crate::io::{Folders, read_vertex_animation};
use crate::vat::animation::VertexAnimation;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Characters, the binding of each input of a plan, and one pose per character.
///
/// A clone shares characters and bindings, but has its own poses. Use one clone per player of the same graph.
#[derive(Clone, Debug)]
pub struct PlayInputs {
    /// The main character is first.
    characters: Vec<Arc<Character>>,
    /// Character of each input.
    of_input: Vec<usize>,
    bindings: Vec<InputBinding>,
    /// One pose per character.
    poses: Vec<Pose>,
    /// Weights of the expressions of the main character.
    expressions: Vec<f32>,
    point_caches: PointCaches,
    moved: Vec<MovedInput>,
}

/// Positions that the caller gives to an input, in place of rest positions or a point cache.
#[derive(Clone, Debug)]
struct MovedInput {
    input: usize,
    positions: Vec<[f32; 3]>,
}

/// Files for inputs of a graph, beside those that its document names. Paths are relative to the working folder.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct InputFiles<'a> {
    /// Name of the input, and its file.
    pub files: &'a [(String, PathBuf)],
    /// Point caches that animate mesh and strands inputs.
    pub point_caches: &'a [PointCacheFile],
}

impl PlayInputs {
    /// Collects the data of all inputs of `plan`: from the main character, or from files that the inputs refer to, in
    /// `folders` (those of the document). A file that several inputs use is loaded once.
    ///
    /// Meshes and strands of files that only contain joint names (TressFX) are bound to the joints of the main
    /// character. Inputs with `joints` are bound to the joints of that pose.
    ///
    /// # Errors
    /// [`PlayError::Io`] if a file cannot be read or is outside the allowed folders; [`PlayError::Selection`] if an
    /// input selects no mesh; [`PlayError::Joints`] if joints are missing; [`PlayError::NoManifest`] if an input for a
    /// vertex animation has no file; [`PlayError::PointCount`] if a point cache has other points than the mesh.
    pub fn load(main: Arc<Character>, plan: &Plan, folders: &Folders) -> Result<Self, PlayError> {
        Self::load_with(main, plan, folders, &InputFiles::default())
    }

    /// As [`Self::load`], with files and point caches for inputs by name.
    ///
    /// # Errors
    /// As [`Self::load`]; [`PlayError::NoInput`], [`PlayError::NoMeshInput`] if the plan has no such input;
    /// [`PlayError::UnusedPointCache`].
    pub fn load_with(
        main: Arc<Character>,
        plan: &Plan,
        folders: &Folders,
        given: &InputFiles<'_>,
    ) -> Result<Self, PlayError> {
        let files = given.files;
        check_names(plan, files)?;
        check_point_caches(plan, given.point_caches)?;
        let mut out = Self {
            expressions: vec![0.0; main.asset.expressions.len()],
            characters: vec![main],
            of_input: Vec::new(),
            bindings: Vec::new(),
            poses: Vec::new(),
            point_caches: PointCaches::default(),
            moved: Vec::new(),
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
        out.open_point_caches(plan, folders, given.point_caches)?;
        let rest = |c: &Arc<Character>| c.asset.rig.rest_pose();
        out.poses = out.characters.iter().map(rest).collect();
        Ok(out)
    }

    /// Opens the point caches of mesh inputs and makes these inputs animated.
    fn open_point_caches(
        &mut self,
        plan: &Plan,
        folders: &Folders,
        given: &[PointCacheFile],
    ) -> Result<(), PlayError> {
        for (i, input) in plan.inputs().iter().enumerate() {
            let character = &self.characters[self.of_input[i]];
            let InputBinding::Mesh(mesh) = &self.bindings[i] else {
                continue;
            };
            let named = input.point_cache.as_deref();
            let in_document = named
                .map(|name| folders.find_point_cache(name))
                .transpose()?;
            let is_main = self.of_input[i] == 0;
            let in_document = in_document.as_deref();
            let path = PointCaches::path_of(given, input, is_main, in_document, character);
            if let Some(path) = path {
                self.point_caches.add(path, (i, input), mesh, character)?;
                self.bindings[i] = InputBinding::AnimatedMesh(mesh.clone());
            }
        }
        let is_used = |file: &&PointCacheFile| {
            let of_main = |(b, &c): (&InputBinding, &usize)| c == 0 && b.is_animated_mesh();
            file.input.is_some() || self.bindings.iter().zip(&self.of_input).any(of_main)
        };
        match given.iter().find(|file| !is_used(file)) {
            None => Ok(()),
            Some(file) => Err(PlayError::UnusedPointCache {
                file: file.path.clone(),
            }),
        }
    }

    /// The character whose joints a mesh input is bound to, if it is another character.
    fn joints_of(&self, plan: &Plan, input: &InputDecl, own: usize) -> Option<&Character> {
        let index = self.rig_of(plan, input, own);
        (index != own).then(|| self.characters[index].as_ref())
    }

    /// The character whose joints an input is bound to; `own` is the character of its mesh.
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

    /// The skin of follower roots of an input: the mesh input that it refers to, else all mesh inputs.
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
            let asset = &self.characters[character].asset;
            let mesh = asset.merged(&input.selection);
            let mesh = mesh.map_err(|source| selection(input, source))?;
            let first = positions.len() as u32;
            positions.extend_from_slice(&mesh.positions);
            let own = mesh.topology.triangles().iter();
            triangles.extend(own.map(|t| t.map(|v| first + v)));
            // Weights on other joints are unknown.
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
        self.characters.push(Arc::new(Character::load_rest(path)?));
        Ok(self.characters.len() - 1)
    }

    /// Binds the plan that this cast was assembled for, with the threads of the current pool. Sets `parameters` by name
    /// before setup.
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

    /// As [`Self::bind`], with options, such as a watch that receives progress and can stop it.
    ///
    /// # Errors
    /// [`PlayError::Bind`]; with [`BindError::Stopped`](crate::graph::BindError::Stopped) if the watch stopped it.
    pub fn bind_with<'o>(
        &self,
        plan: &Arc<Plan>,
        parameters: &[(&str, ParameterValue)],
        options: impl Into<BindOptions<'o>>,
    ) -> Result<Arc<BoundGraph>, PlayError> {
        let graph = BoundGraph::bind(plan.clone(), &self.bindings, parameters, options)?;
        Ok(Arc::new(graph))
    }

    /// Poses all characters at `time_secs`. The main character uses `clip`, or its first clip without a name. Others
    /// use their clip of the same name, or their first. A character without clips stays at rest. Does not allocate.
    pub fn pose(&mut self, clip: Option<&str>, time_secs: f64) {
        for (i, (c, pose)) in self.characters.iter().zip(&mut self.poses).enumerate() {
            let first = || (i > 0).then(|| c.asset.find_clip(None)).flatten();
            let found = c.asset.find_clip(clip).or_else(first);
            c.asset.rig.evaluate(found, time_secs, pose);
        }
        self.add_expressions();
    }

    /// Adds the expressions of the main character to its pose.
    fn add_expressions(&mut self) {
        if let (Some(main), Some(pose)) = (self.characters.first(), self.poses.first_mut()) {
            let expressions = &main.asset.expressions;
            apply_expressions(expressions, &self.expressions, &mut pose.morph_weights);
        }
    }

    /// Sets the weight of an expression of the main character, 0 to 1. From the next pose on, it is added to the morph weights of the clip.
    ///
    /// # Errors
    /// [`PlayError::NoExpression`] with the known names; [`PlayError::ExpressionWeight`] if the weight is not finite.
    pub fn set_expression(&mut self, name: &str, weight: f32) -> Result<(), PlayError> {
        if !weight.is_finite() {
            return Err(PlayError::ExpressionWeight {
                name: name.to_owned(),
                found: weight,
            });
        }
        let main = &self.characters[0];
        let expressions = &main.asset.expressions;
        match expressions.iter().position(|e| e.name == name) {
            Some(place) => {
                self.expressions[place] = weight;
                Ok(())
            }
            None => Err(PlayError::NoExpression {
                character: main.path.clone(),
                name: name.to_owned(),
                known: expressions.iter().map(|e| e.name.clone()).collect(),
            }),
        }
    }

    /// Name and weight of each expression of the main character.
    pub fn expressions(&self) -> impl Iterator<Item = (&str, f32)> {
        let names = self.main().asset.expressions.iter();
        let names = names.map(|e| e.name.as_str());
        names.zip(self.expressions.iter().copied())
    }

    /// Reads the positions of frame `number`, at `time_secs`, from the point caches. Between two samples, positions are
    /// interpolated linearly. Before the first and after the last sample, they stay. Does not allocate, except for OBJ and PLY
    /// files, which are parsed.
    ///
    /// # Errors
    /// [`PlayError::PointCache`] if a file cannot be read, has another topology, or has positions that are not finite.
    pub fn read_point_caches(&mut self, number: i64, time_secs: f64) -> Result<(), PlayError> {
        let read = self.point_caches.seek(number, time_secs);
        read.map_err(|source| PlayError::PointCache {
            frame: number,
            source,
        })
    }

    /// Positions of each input that moves, by index into the plan's inputs: those of [`Player::set_positions`](super::Player::set_positions),
    /// else of its point cache from the last [`Self::read_point_caches`].
    pub fn moved_positions(&self) -> impl Iterator<Item = (usize, &[[f32; 3]])> {
        let given = self.moved.iter().map(|m| (m.input, &m.positions[..]));
        let is_given = |input| self.moved.iter().any(|m| m.input == input);
        let cached = self.point_caches.positions();
        given.chain(cached.filter(move |(input, _)| !is_given(*input)))
    }

    /// Keeps positions for an input, and makes it animated.
    pub(super) fn set_positions(
        &mut self,
        plan: &Plan,
        name: &str,
        positions: &[[f32; 3]],
    ) -> Result<(), PlayError> {
        let (input, mesh) = self.mesh_input(plan, name)?;
        let (found, expected) = (positions.len(), mesh.vertex_count());
        let input_name = || name.to_owned();
        if found != expected {
            return Err(PlayError::PositionCount {
                input: input_name(),
                found,
                expected,
            });
        }
        if let Some(vertex) = not_finite(positions) {
            return Err(PlayError::PositionNotFinite {
                input: input_name(),
                vertex,
                found: positions[vertex],
            });
        }
        match self.moved.iter_mut().find(|m| m.input == input) {
            Some(known) => known.positions.copy_from_slice(positions),
            None => {
                let positions = positions.to_vec();
                self.moved.push(MovedInput { input, positions });
                self.bindings[input] = InputBinding::AnimatedMesh(mesh);
            }
        }
        Ok(())
    }

    /// Forgets such positions.
    pub(super) fn clear_positions(&mut self, plan: &Plan, name: &str) -> Result<(), PlayError> {
        let (input, mesh) = self.mesh_input(plan, name)?;
        self.moved.retain(|m| m.input != input);
        if !self.point_caches.positions().any(|(i, _)| i == input) {
            self.bindings[input] = InputBinding::Mesh(mesh);
        }
        Ok(())
    }

    /// A mesh or strands input and its mesh.
    fn mesh_input(&self, plan: &Plan, name: &str) -> Result<(usize, Arc<Mesh>), PlayError> {
        let inputs = plan.inputs().iter().zip(&self.bindings).enumerate();
        let mut meshes = inputs.filter_map(|(i, (decl, b))| Some((i, decl, b.mesh()?)));
        let found = meshes.find(|(_, decl, _)| decl.name == name);
        let (input, _, mesh) = found.ok_or_else(|| no_mesh_input(plan, name, None))?;
        Ok((input, mesh.clone()))
    }

    /// True if a point cache animates an input.
    pub fn has_point_caches(&self) -> bool {
        !self.point_caches.is_empty()
    }

    /// Path of each point cache, with its first and last frame number at `fps` frames per second.
    pub fn point_cache_frames(&self, fps: f64) -> impl Iterator<Item = (&Path, (i64, i64))> {
        self.point_caches.frames(fps)
    }

    /// Path and samples per second of each point cache that stores evenly spaced times.
    pub fn point_cache_rates(&self) -> impl Iterator<Item = (&Path, f64)> {
        self.point_caches.rates()
    }

    /// All files of point caches.
    pub fn point_cache_files(&self) -> Vec<PathBuf> {
        self.point_caches.files()
    }

    /// Warnings about what `plan` says of its inputs: point caches (missing frames, ignored arrays, nodes that pose a cached mesh again) and
    /// followers (none, lengths that are no metres, too few vertices for curls).
    pub fn input_warnings(&self, plan: &Plan) -> Vec<Warning> {
        let inputs = plan.inputs().iter().zip(&self.bindings);
        let followers = inputs.filter_map(|(input, binding)| {
            let followers = input.followers.as_ref()?;
            Some(followers::warnings(&input.name, followers, binding.mesh()?))
        });
        let caches = self.point_caches.warnings(plan);
        caches.into_iter().chain(followers.flatten()).collect()
    }

    /// Replaces the pose of the main character. Ignores a pose of another rig.
    pub(crate) fn set_main_pose(&mut self, pose: &Pose) {
        if let Some(own) = self.poses.first_mut()
            && own.locals.len() == pose.locals.len()
        {
            own.clone_from(pose);
            self.add_expressions();
        }
    }

    /// The main character and those of [`Self::loaded`].
    pub fn characters(&self) -> &[Arc<Character>] {
        &self.characters
    }

    /// The character of all inputs without a file.
    pub fn main(&self) -> &Arc<Character> {
        // There is always one.
        &self.characters[0]
    }

    /// Characters that were loaded for inputs with a file.
    pub fn loaded(&self) -> &[Arc<Character>] {
        self.characters.get(1..).unwrap_or_default()
    }

    /// The character of an input of the plan, by index; `None` if the index is out of range.
    pub fn character_of_input(&self, input: usize) -> Option<&Arc<Character>> {
        self.characters.get(*self.of_input.get(input)?)
    }

    /// The character of a mesh: that of the first mesh input with the same topology, else the main one.
    pub fn character_of_mesh(&self, mesh: &Mesh) -> &Arc<Character> {
        let is_it = |binding: &InputBinding| {
            let bound = binding.mesh();
            bound.is_some_and(|bound| Arc::ptr_eq(&bound.topology, &mesh.topology))
        };
        let input = self.bindings.iter().position(is_it);
        let found = input.and_then(|i| self.character_of_input(i));
        found.unwrap_or_else(|| self.main())
    }

    /// The character whose joints the weights of a mesh refer to: another one than [`Self::character_of_mesh`] for strands that
    /// take their joints from a pose input, and for files with joint names only (TressFX). `plan` is the one that this cast
    /// was assembled for.
    pub fn joints_of_mesh(&self, plan: &Plan, mesh: &Mesh) -> &Arc<Character> {
        let is_it = |binding: &InputBinding| {
            let bound = binding.mesh();
            bound.is_some_and(|bound| Arc::ptr_eq(&bound.topology, &mesh.topology))
        };
        let input = self.bindings.iter().position(is_it);
        let rig = input.map(|i| self.rig_of(plan, &plan.inputs()[i], self.of_input[i]));
        &self.characters[rig.unwrap_or(0)]
    }

    /// Warnings about data that clips animate but no node of `plan` reads, with the file. `plan` is the one that this
    /// cast was assembled for.
    pub fn unread(&self, plan: &Plan) -> Vec<Warning> {
        let read = PosesRead::of(plan);
        let of = |(index, character): (usize, &Arc<Character>)| {
            let own = self.bindings.iter().zip(&self.of_input);
            let meshes: Vec<&Mesh> = own
                .filter(|(_, of)| **of == index)
                .filter_map(|(binding, _)| match binding {
                    InputBinding::Mesh(mesh) => Some(mesh.as_ref()),
                    // A point cache moves the mesh instead of the clip.
                    _ => None,
                })
                .collect();
            let mut found = unread::warnings(character, &meshes, &read);
            for w in &mut found {
                w.message = format!("{}: {}", character.path.display(), w.message);
            }
            found
        };
        let mut out: Vec<Warning> = self.characters.iter().enumerate().flat_map(of).collect();
        let set = self.expressions().filter(|e| e.1 != 0.0);
        out.extend(unread::expressions(&read, set.map(|e| e.0)));
        out
    }

    /// Binding of each input of the plan, in document order.
    pub fn bindings(&self) -> &[InputBinding] {
        &self.bindings
    }

    /// Pose of each character from the last [`Self::pose`]; at rest before the first.
    pub fn poses(&self) -> &[Pose] {
        &self.poses
    }

    /// Pose of each pose input, by index into the plan's inputs.
    pub fn posed_inputs(&self) -> impl Iterator<Item = (usize, &Pose)> {
        let inputs = self.bindings.iter().zip(&self.of_input).enumerate();
        inputs.filter_map(|(input, (binding, &character))| match binding {
            InputBinding::Pose(_) => Some((input, &self.poses[character])),
            _ => None,
        })
    }

    /// Those of [`Self::posed_inputs`] that do not use the main character.
    pub(super) fn other_posed_inputs(&self) -> impl Iterator<Item = (usize, &Pose)> {
        self.posed_inputs().filter(|(i, _)| self.of_input[*i] > 0)
    }
}

/// Vertex animations by manifest path. Each is read once.
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

/// Checks that point caches are for inputs that take them.
fn check_point_caches(plan: &Plan, given: &[PointCacheFile]) -> Result<(), PlayError> {
    for file in given {
        let Some(name) = &file.input else { continue };
        if !mesh_inputs(plan).any(|i| i.name == *name) {
            return Err(no_mesh_input(plan, name, Some(&file.path)));
        }
    }
    Ok(())
}

fn mesh_inputs(plan: &Plan) -> impl Iterator<Item = &InputDecl> {
    let takes = |i: &&InputDecl| matches!(i.ty, InputType::Mesh | InputType::Strands);
    plan.inputs().iter().filter(takes)
}

/// No mesh or strands input has this name. `file`: the point cache for it.
fn no_mesh_input(plan: &Plan, name: &str, file: Option<&Path>) -> PlayError {
    PlayError::NoMeshInput {
        name: name.to_owned(),
        file: file.map(Path::to_owned),
        known: mesh_inputs(plan).map(|i| i.name.clone()).collect(),
    }
}

/// Rejects sequences in memory: graphs read the frames from files.
fn check_single(input: &InputDecl, character: &Character) -> Result<(), PlayError> {
    match &character.asset.sequence {
        Some(sequence)
            if character.point_cache.is_none()
                && matches!(input.ty, InputType::Mesh | InputType::Strands) =>
        {
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

/// Data that an input takes from other inputs.
struct Around<'a> {
    /// The character whose joints replace the input's own joints.
    joints: Option<&'a Character>,
    /// The skin of follower roots.
    skin: Option<Skin>,
}

fn selection(input: &InputDecl, source: SelectionError) -> PlayError {
    let input = input.name.clone();
    PlayError::Selection { input, source }
}

fn binding(
    character: &Character,
    input: &InputDecl,
    around: &Around<'_>,
) -> Result<InputBinding, PlayError> {
    let asset = &character.asset;
    let mut mesh = match input.ty {
        InputType::Mesh => asset.merged(&input.selection),
        InputType::Strands => asset.merged_strands(&input.selection),
        InputType::Pose => return Ok(InputBinding::Pose(asset.rig.clone())),
        InputType::Values => return Ok(InputBinding::Values),
        InputType::VertexAnimation => return Err(no_manifest(input)),
    }
    .map_err(|source| selection(input, source))?;
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

/// Gives strands the thickness attribute that writers use.
fn set_thickness(mesh: &mut Mesh, Thickness { root, tip }: &Thickness) {
    if let Some(strands) = mesh.topology.strands() {
        let profile = thickness_profile(strands, &mesh.positions, *root as f32, *tip as f32);
        mesh.attributes
            .insert(THICKNESS.into(), Attribute::Scalar(profile));
    }
}

/// Maps weights to the joints of another character by node names. If several joints share a node, uses the first.
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
