//! Samples from a character and a player of its graph.

use super::meshes::{Baked, ClipFrames, baked_meshes, check_clips, check_ranges};
use super::sampler::{RANGES, Sampler};
use super::{JointRange, SkinBakeError, SkinError, SkinProblem, SkinSamples};
use crate::bake::Watch;
use crate::deform::pose_driver::DriverValue;
use crate::geom::{Asset, Influences, Pose, Topology, index32};
use crate::io::gltf_write::converted_glb;
use crate::io::{GltfFile, GltfSource, read_gltf_bytes};
use crate::play::{Character, Player};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A character as one GLB file in memory: the file to edit, and the source of playback.
#[derive(Clone, Debug)]
pub struct Portable {
    /// The character as in that file: the same vertices, joints and clips.
    pub character: Arc<Character>,
    /// Bytes of the file.
    pub glb: Vec<u8>,
    source: GltfSource,
}

impl Portable {
    /// Packs a glTF file with its buffers and images, or writes a new file for a character from another format.
    ///
    /// # Errors
    /// [`SkinBakeError::Io`] if counts do not match or the file would reach 4 GiB.
    pub fn new(character: &Character) -> Result<Self, SkinBakeError> {
        let source = character.source.as_ref();
        let (glb, warnings) = converted_glb(&character.path, &character.asset, source)?;
        let name = format!("{}.glb", character.asset.name);
        let mut read = read_gltf_bytes(glb.clone(), None, &name)?;
        read.document.path.clone_from(&character.path);
        read.asset.name.clone_from(&character.asset.name);
        read.asset.warnings = warnings;
        let packed = Character {
            path: character.path.clone(),
            asset: read.asset,
            source: Some(read.document.clone()),
            point_cache: None,
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

    /// Indices and vertex counts of baked meshes in a file that was made from this one.
    pub(super) fn meshes_in(&self, file: &GltfSource, baked: &[Baked]) -> Vec<(usize, usize)> {
        let place = |b: &Baked| {
            let node = self.source.node_of_mesh[b.mesh];
            let found = file.node_of_mesh.iter().position(|n| *n == node);
            (found.unwrap_or(usize::MAX), b.count)
        };
        baked.iter().map(place).collect()
    }

    /// The rig node of the same document node in a file that was made from this one.
    pub(super) fn node_in(&self, file: &GltfSource, node: usize) -> Option<usize> {
        let nodes = &self.source.rig_node_of_node;
        let node = nodes.iter().position(|n| *n == node)?;
        file.rig_node_of_node.get(node).copied()
    }

    pub(super) fn has_normals(&self, baked: &[Baked]) -> bool {
        let meshes = &self.character.asset.meshes;
        baked.iter().any(|b| meshes[b.mesh].normals.is_some())
    }
}

/// All data of the fit.
pub(super) struct Collected {
    pub(super) baked: Vec<Baked>,
    pub(super) samples: SkinSamples,
    rest: Vec<[f32; 3]>,
    topology: Topology,
    authored: Influences,
    parents: Vec<Option<usize>>,
    skins: Vec<u32>,
    /// For each sample, the local transform of each joint's node.
    pub(super) locals: Vec<Vec<DriverValue>>,
    pub(super) clips: Vec<ClipFrames>,
    pub(super) ranges: Vec<JointRange>,
}

impl Collected {
    /// Plays the graph over clips and joint ranges; over the rest pose if there are neither.
    ///
    /// # Errors
    /// [`SkinBakeError::Meshes`] if clips, frames or ranges are invalid, before the graph is played.
    pub(super) fn of(
        portable: &Portable,
        player: &mut Player,
        output: Option<&str>,
        (clips, ranges): (&[ClipFrames], &[JointRange]),
        watch: &Watch<'_>,
    ) -> Result<Self, SkinBakeError> {
        let asset = &portable.character.asset;
        check_clips(asset, clips)?;
        check_ranges(asset, ranges)?;
        let baked = baked_meshes(asset, player, output)?;
        let mut sampler = Sampler::new(asset, &baked, watch, total(clips, ranges));
        sampler.all(player, clips, ranges)?;
        let (samples, locals) = (sampler.samples, sampler.locals);
        let (parents, skins) = joints_of(portable);
        let meshes = baked.iter().map(|b| &asset.meshes[b.mesh]);
        let mut rest = Vec::new();
        let mut triangles = Vec::new();
        let mut authored = Influences::default();
        for mesh in meshes {
            let first = index32(rest.len());
            rest.extend_from_slice(&mesh.positions);
            let own = mesh.topology.triangles().iter();
            triangles.extend(own.map(|t| t.map(|v| v + first)));
            match &mesh.influences {
                Some(rows) => authored.extend(rows),
                None => authored.extend(&Influences::rigid(mesh.positions.len(), 0)),
            }
        }
        let count = index32(rest.len());
        let topology = Topology::new(count, triangles);
        let topology = topology.map_err(|e| SkinError::File {
            file: asset.name.clone(),
            found: e.to_string(),
            expected: "triangles with valid vertex indices".into(),
        })?;
        Ok(Self {
            baked,
            samples,
            rest,
            topology,
            authored,
            parents,
            skins,
            locals,
            clips: clips.to_vec(),
            ranges: ranges.to_vec(),
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
            if let Some(now) = portable.node_in(&file.document, range.node) {
                range.apply(now, pose);
            }
            true
        }
    }
}

pub(super) fn total(clips: &[ClipFrames], ranges: &[JointRange]) -> usize {
    let frames = clips.iter().map(|c| c.numbers.len());
    frames.sum::<usize>() + ranges.len()
}

/// For each joint, its nearest ancestor in its skin, and the skin.
fn joints_of(portable: &Portable) -> (Vec<Option<usize>>, Vec<u32>) {
    let rig = &portable.character.asset.rig;
    let count = rig.joints().len();
    let ranges = &portable.source.joints_of_skin;
    // Joints of meshes without a skin belong to separate skins.
    let own = |j: usize| index32(ranges.len() + j);
    let skin = |j: usize| {
        ranges
            .iter()
            .position(|r| r.contains(&j))
            .map_or(own(j), index32)
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
