//! Compares a baked file with the graph's frames: as every engine plays it, and with the graph in it.

use super::meshes::{Baked, baked_meshes};
use super::sampler::Sampler;
use super::source::{Collected, total};
use super::{
    JointRange, Measured, Portable, ShownFile, SkinBakeError, SkinClipReport, SkinError,
    SkinSamples, measure_file, measure_rows, measure_samples,
};
use crate::bake::Watch;
use crate::io::GltfFile;
use crate::play::{Character, Document, PlayInputs, Player, Runner};
use std::sync::Arc;

/// A file baked from a character, and a player of the graph in it.
pub(super) struct Baking<'a> {
    portable: &'a Portable,
    file: &'a GltfFile,
    driven: Option<Player>,
}

/// Measurements over samples.
pub(super) struct Found {
    /// One entry per group.
    pub(super) clips: Vec<SkinClipReport>,
    /// Of the file as every engine plays it.
    pub(super) plain: Measured,
}

impl<'a> Baking<'a> {
    pub(super) fn new(
        portable: &'a Portable,
        file: &'a GltfFile,
        fps: f64,
    ) -> Result<Self, SkinBakeError> {
        let character = Character {
            path: portable.character.path.clone(),
            asset: file.asset.clone(),
            source: Some(file.document.clone()),
            point_cache: None,
        };
        let driven = match Document::embedded(&character) {
            Some(document) => Some(player_of(character, &document, fps)?),
            None => None,
        };
        Ok(Self {
            portable,
            file,
            driven,
        })
    }

    /// Calls `look` with the file as every engine plays it.
    pub(super) fn look<T>(
        &self,
        collected: &Collected,
        look: impl FnOnce(&ShownFile<'_>) -> T,
    ) -> T {
        let meshes = self
            .portable
            .meshes_in(&self.file.document, &collected.baked);
        let pose_of = collected.pose_of(self.portable, self.file);
        look(&ShownFile {
            asset: &self.file.asset,
            meshes: &meshes,
            pose_of: &pose_of,
        })
    }

    /// Error of the file at the samples.
    ///
    /// # Errors
    /// [`SkinError::File`] if it has other clips or meshes; errors of the graph in it.
    pub(super) fn measured(
        &mut self,
        collected: &Collected,
        is_held_out: bool,
        watch: &Watch<'_>,
    ) -> Result<Found, SkinBakeError> {
        let problem = collected.problem();
        let plain = self.look(collected, |shown| measure_file(&problem, shown))?;
        let source = measure_rows(&problem, problem.authored);
        let driven = match self.driven(collected, watch)? {
            Some(samples) => Some(measure_samples(&problem, &samples)?),
            None => None,
        };
        let of_group = |k: usize| {
            let mut clip = SkinClipReport::new(&problem, k, &plain, &source);
            clip.held_out = is_held_out;
            match driven.as_ref().and_then(|d| d.groups.get(k)) {
                Some(found) => clip.driven(*found),
                None => clip,
            }
        };
        let groups = 0..problem.samples.groups().len();
        Ok(Found {
            clips: groups.map(of_group).collect(),
            plain,
        })
    }

    /// The same frames, played by the graph in the file.
    fn driven(
        &mut self,
        collected: &Collected,
        watch: &Watch<'_>,
    ) -> Result<Option<SkinSamples>, SkinBakeError> {
        let Some(player) = &mut self.driven else {
            return Ok(None);
        };
        let (portable, file) = (self.portable, self.file);
        let shown = baked_meshes(&file.asset, player, None)?;
        let places = portable.meshes_in(&file.document, &collected.baked);
        let place = |(mesh, count): (usize, usize)| {
            let found = shown.iter().find(|b| b.mesh == mesh && b.count == count);
            found.cloned().ok_or_else(|| SkinError::File {
                file: file.asset.name.clone(),
                found: format!("a graph without mesh {mesh} in its outputs"),
                expected: "a graph that outputs all baked meshes".into(),
            })
        };
        let baked: Vec<Baked> = places.into_iter().map(place).collect::<Result<_, _>>()?;
        let ranges = collected.ranges.iter();
        let ranges = ranges.filter_map(|range| {
            let node = portable.node_in(&file.document, range.node)?;
            Some(JointRange { node, ..*range })
        });
        let ranges: Vec<JointRange> = ranges.collect();
        let count = total(&collected.clips, &ranges);
        let mut sampler = Sampler::new(&file.asset, &baked, watch, count);
        sampler.all(player, &collected.clips, &ranges)?;
        Ok(Some(sampler.samples))
    }
}

fn player_of(character: Character, document: &Document, fps: f64) -> Result<Player, SkinBakeError> {
    let plan = document.compile().map_err(SkinBakeError::Graph)?;
    let plan = Arc::new(plan);
    let cast = PlayInputs::load(Arc::new(character), &plan, &document.folders)?;
    let graph = cast.bind(&plan, &[])?;
    let runner = Runner::cpu(&graph);
    Ok(Player::new(runner, cast, Vec::new(), None, fps)?)
}
