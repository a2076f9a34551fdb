//! From a character and a player of its graph to samples.

use super::{JointRange, SkinBakeError, SkinError, SkinProblem, SkinRequest, SkinSamples};
use crate::bake::Watch;
use crate::geom::{Affine, Asset, Influences, Pose, Topology};
use crate::graph::OutputPlace;
use crate::io::gltf_write::{character_glb, packed_glb};
use crate::io::{GltfFile, GltfSource, read_gltf_bytes};
use crate::play::{Character, Output, Player};
use crate::psd::parts;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Name of the samples that are of no clip.
const RANGES: &str = "joint ranges";
const REST: &str = "rest pose";

/// A character as one GLB file in memory, whatever it came from: what is changed, and what it is played from.
#[derive(Clone, Debug)]
pub struct Portable {
    /// The character as that file holds it: the same vertices, joints and clips.
    pub character: Arc<Character>,
    /// Bytes of the file.
    pub glb: Vec<u8>,
    source: GltfSource,
}

impl Portable {
    /// Packs a glTF file with its buffers and images, or writes a character anew that came from no such file.
    ///
    /// # Errors
    /// [`SkinBakeError::Io`] where that cannot be done: lists that do not fit, 4 GiB.
    pub fn new(character: &Character) -> Result<Self, SkinBakeError> {
        let (glb, warnings) = match &character.source {
            Some(source) => packed_glb(source)?,
            None => (
                character_glb(&character.path, &character.asset)?,
                Vec::new(),
            ),
        };
        let name = format!("{}.glb", character.asset.name);
        let mut read = read_gltf_bytes(glb.clone(), None, &name)?;
        read.document.path.clone_from(&character.path);
        read.asset.name.clone_from(&character.asset.name);
        read.asset.warnings = warnings;
        let packed = Character {
            path: character.path.clone(),
            asset: read.asset,
            source: Some(read.document.clone()),
        };
        Ok(Self {
            character: Arc::new(packed),
            glb,
            source: read.document,
        })
    }

    pub(super) fn source(&self) -> &GltfSource {
        &self.source
    }

    /// Where baked meshes are in a file that was made from this one, and how many vertices they have.
    pub(super) fn meshes_in(&self, file: &GltfSource, baked: &[Baked]) -> Vec<(usize, usize)> {
        let place = |b: &Baked| {
            let node = self.source.node_of_mesh[b.mesh];
            let found = file.node_of_mesh.iter().position(|n| *n == node);
            (found.unwrap_or(usize::MAX), b.count)
        };
        baked.iter().map(place).collect()
    }

    pub(super) fn has_normals(&self, baked: &[Baked]) -> bool {
        let meshes = &self.character.asset.meshes;
        baked.iter().any(|b| meshes[b.mesh].normals.is_some())
    }
}

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
}

/// The meshes that outputs of the graph show.
fn baked_meshes(
    portable: &Portable,
    player: &Player,
    wanted: Option<&str>,
) -> Result<Vec<Baked>, MeshesError> {
    let graph = player.graph();
    let (plan, program, cast) = (graph.plan(), graph.program(), player.cast());
    let asset = &portable.character.asset;
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

/// All that is fitted.
pub(super) struct Collected {
    pub(super) baked: Vec<Baked>,
    pub(super) samples: SkinSamples,
    rest: Vec<[f32; 3]>,
    topology: Topology,
    authored: Influences,
    parents: Vec<Option<usize>>,
    skins: Vec<u32>,
    ranges: Vec<JointRange>,
}

impl Collected {
    /// Plays the graph over clips and joint ranges; over the rest pose where neither is given.
    pub(super) fn of(
        portable: &Portable,
        player: &mut Player,
        request: &SkinRequest,
        watch: &Watch<'_>,
    ) -> Result<Self, SkinBakeError> {
        let asset = &portable.character.asset;
        let baked = baked_meshes(portable, player, request.output.as_deref())?;
        let joints = asset.rig.joints().len();
        let mut sampler = Sampler {
            asset,
            baked: &baked,
            samples: SkinSamples::new(joints),
            watch,
            done: 0,
            total: total(request),
        };
        for clip in &request.clips {
            sampler.clip(player, clip)?;
        }
        sampler.ranges(player, &request.ranges)?;
        if sampler.samples.is_empty() {
            sampler.rest(player)?;
        }
        let samples = sampler.samples;
        let (parents, skins) = joints_of(portable);
        let meshes = baked.iter().map(|b| &asset.meshes[b.mesh]);
        let mut rest = Vec::new();
        let mut triangles = Vec::new();
        let mut authored = Influences::default();
        for mesh in meshes {
            let first = u32::try_from(rest.len()).unwrap_or(u32::MAX);
            rest.extend_from_slice(&mesh.positions);
            let own = mesh.topology.triangles().iter();
            triangles.extend(own.map(|t| t.map(|v| v + first)));
            match &mesh.influences {
                Some(rows) => authored.extend(rows),
                None => authored.extend(&Influences::rigid(mesh.positions.len(), 0)),
            }
        }
        let count = u32::try_from(rest.len()).unwrap_or(u32::MAX);
        let topology = Topology::new(count, triangles);
        let topology = topology.map_err(|e| SkinError::File {
            file: asset.name.clone(),
            found: e.to_string(),
            expected: "triangles of its vertices".into(),
        })?;
        Ok(Self {
            baked,
            samples,
            rest,
            topology,
            authored,
            parents,
            skins,
            ranges: request.ranges.clone(),
        })
    }

    pub(super) fn problem(&self) -> SkinProblem<'_> {
        SkinProblem {
            rest: &self.rest,
            topology: &self.topology,
            authored: &self.authored,
            parents: &self.parents,
            skins: &self.skins,
            samples: &self.samples,
        }
    }

    pub(super) fn mesh_names(&self, asset: &Asset) -> Vec<String> {
        let names = self.baked.iter();
        names.map(|b| asset.meshes[b.mesh].name.clone()).collect()
    }

    /// Poses of joint ranges in a file that was made from the character's.
    pub(super) fn pose_of<'a>(
        &'a self,
        portable: &'a Portable,
        file: &'a GltfFile,
    ) -> impl Fn(usize, &mut Pose) -> bool + Sync + 'a {
        // A clip may have the same name.
        let mut groups = self.samples.groups().iter();
        let start = groups.find(|g| !g.is_clip() && g.name == RANGES);
        let start = start.map(|g| g.samples.start);
        move |sample, pose| {
            let of = start.and_then(|start| self.ranges.get(sample.checked_sub(start)?));
            let Some(range) = of else {
                return false;
            };
            // The same node of the document, which is another one of the rig.
            let nodes = &portable.source.rig_node_of_node;
            let node = nodes.iter().position(|n| *n == range.node);
            let now = node.and_then(|n| file.document.rig_node_of_node.get(n));
            if let Some(now) = now {
                range.apply(*now, pose);
            }
            true
        }
    }
}

fn total(request: &SkinRequest) -> usize {
    let frames = request.clips.iter().map(|c| c.numbers.len());
    frames.sum::<usize>() + request.ranges.len()
}

/// For each joint the nearest one above it in its skin, and the skin.
fn joints_of(portable: &Portable) -> (Vec<Option<usize>>, Vec<u32>) {
    let rig = &portable.character.asset.rig;
    let count = rig.joints().len();
    let ranges = &portable.source.joints_of_skin;
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    // Joints of meshes without a skin are each of their own.
    let own = |j: usize| number(ranges.len() + j);
    let skin = |j: usize| {
        ranges
            .iter()
            .position(|r| r.contains(&j))
            .map_or(own(j), number)
    };
    let skins: Vec<u32> = (0..count).map(skin).collect();
    let places: BTreeMap<(u32, usize), usize> = (0..count)
        .map(|j| ((skins[j], rig.joints()[j].node), j))
        .collect();
    let above = |j: usize| {
        let mut node = rig.nodes()[rig.joints()[j].node].parent;
        while let Some(n) = node {
            if let Some(found) = places.get(&(skins[j], n)) {
                return Some(*found);
            }
            node = rig.nodes()[n].parent;
        }
        None
    };
    ((0..count).map(above).collect(), skins)
}

/// Plays and collects.
struct Sampler<'a> {
    asset: &'a Asset,
    baked: &'a [Baked],
    samples: SkinSamples,
    watch: &'a Watch<'a>,
    done: usize,
    total: usize,
}

impl Sampler<'_> {
    fn clip(&mut self, player: &mut Player, frames: &ClipFrames) -> Result<(), SkinBakeError> {
        let name = self.asset.clips.get(frames.clip).map(|c| c.name.as_str());
        let first = self
            .asset
            .clips
            .iter()
            .position(|c| Some(c.name.as_str()) == name);
        let Some(name) = name.filter(|_| first == Some(frames.clip)) else {
            return Err(MeshesError::Clip { clip: frames.clip }.into());
        };
        player.set_clip(Some(name))?;
        self.samples.begin(name, Some(frames.clip));
        for &number in &frames.numbers {
            for on_the_way in player.way_to(number) {
                self.go_on()?;
                player.advance(on_the_way)?;
            }
            self.take(player, player.time_secs(number))?;
        }
        Ok(())
    }

    fn ranges(&mut self, player: &mut Player, ranges: &[JointRange]) -> Result<(), SkinBakeError> {
        if ranges.is_empty() {
            return Ok(());
        }
        self.samples.begin(RANGES, None);
        let mut pose = self.asset.rig.rest_pose();
        for range in ranges {
            self.go_on()?;
            self.asset.rig.evaluate(None, 0.0, &mut pose);
            range.apply(range.node, &mut pose);
            self.asset.rig.finish(&mut pose);
            player.restart();
            player.advance_posed(0, &pose)?;
            self.take(player, 0.0)?;
        }
        Ok(())
    }

    fn rest(&mut self, player: &mut Player) -> Result<(), SkinBakeError> {
        self.samples.begin(REST, None);
        let pose = self.asset.rig.rest_pose();
        player.restart();
        player.advance_posed(0, &pose)?;
        self.take(player, 0.0)
    }

    fn go_on(&self) -> Result<(), SkinBakeError> {
        match (self.watch.is_cancelled)() {
            true => Err(SkinError::Cancelled.into()),
            false => Ok(()),
        }
    }

    /// The frame that was just played.
    fn take(&mut self, player: &mut Player, time_secs: f64) -> Result<(), SkinBakeError> {
        let outputs = player.read_outputs()?;
        let mut positions = Vec::new();
        for baked in self.baked {
            let found = outputs.iter().find(|(name, _)| *name == baked.output);
            let Some((_, Output::Mesh(data))) = found else {
                continue;
            };
            let range = baked.first..baked.first + baked.count;
            positions.extend_from_slice(data.positions.get(range).unwrap_or_default());
        }
        let Some(pose) = player.cast().poses().first() else {
            return Ok(());
        };
        let joints = self.asset.rig.joints().iter();
        let palette: Vec<Affine<f64>> = joints
            .map(|j| pose.scene_from_node[j.node] * j.joint_from_bind)
            .collect();
        let morphed = self.morphed(pose);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "files store single precision"
        )]
        let time = time_secs as f32;
        self.samples.push(&palette, positions, morphed, time)?;
        self.done += 1;
        (self.watch.progress)("frames", self.done, self.total.max(1));
        Ok(())
    }

    /// Rest positions with the morph targets of the pose; `None` where all weights are zero.
    fn morphed(&self, pose: &Pose) -> Option<Vec<[f32; 3]>> {
        if pose.morph_weights.iter().all(|w| *w == 0.0) {
            return None;
        }
        let mut out = Vec::new();
        for baked in self.baked {
            let mesh = &self.asset.meshes[baked.mesh];
            let first = out.len();
            out.extend_from_slice(&mesh.positions);
            for (t, target) in mesh.morph_targets.iter().enumerate() {
                let weight = pose.morph_weights.get(mesh.morph_weight_index(t));
                let weight = weight.copied().unwrap_or_default();
                for (&v, d) in target.vertices.iter().zip(&target.positions) {
                    let p = &mut out[first + v as usize];
                    *p = std::array::from_fn(|c| p[c] + weight * d[c]);
                }
            }
        }
        Some(out)
    }
}
