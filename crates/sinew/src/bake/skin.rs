//! Skin bakes: plays a graph over clips and joint ranges, fits skin weights to the result, and writes them into the
//! character's file.
//!
//! [`Portable`] converts a character to one GLB file in memory. [`bake_skin`] samples, fits, writes and measures the
//! written file. [`measure_skin`] compares an existing file with the graph.

mod drive;
mod edit;
mod meshes;
mod ranges;
mod sampler;
mod shown;
mod source;

pub use meshes::{Baked, ClipFrames, MeshesError};
pub use ranges::{JointRange, RangesError, ranges_from_json, ranges_of};
pub use sinew_bake::skin::*;
pub use source::Portable;

use crate::bake::{BakeError, Watch};
use crate::geom::Influences;
use crate::graph::Diagnostics;
use crate::io::gltf_write::{MeshSkin, edit_skins, with_graph};
use crate::io::{GltfFile, IoError, read_gltf, read_gltf_bytes};
use crate::play::{PlayError, Player};
use drive::{Drive, Limits, Names};
use edit::Edit;
use meshes::check_held_out;
use shown::Baking;
use source::Collected;
use std::path::Path;

/// Error of a skin bake.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkinBakeError {
    /// The graph could not be played.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// Frames could not be fitted or measured.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// The outputs of the graph are not meshes of the character.
    #[error(transparent)]
    Meshes(#[from] MeshesError),
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The graph in a baked file is invalid: another program wrote it, or names of the character break it.
    #[error("the graph in the baked file: {0}")]
    Graph(Diagnostics),
    /// Smoothed weights could not be computed.
    #[error("smoothed weights: {0}")]
    Smoothed(#[from] crate::deform::direct_delta_mush::DirectDeltaMushError),
}

impl From<BakeError> for SkinBakeError {
    fn from(error: BakeError) -> Self {
        Self::Skin(error.into())
    }
}

/// Method of the weights.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum SkinMethod {
    /// Least squares over the samples.
    #[default]
    Fitted,
    /// Direct delta mush, variant 5: authored weights smoothed over the mesh, independent of the graph. Samples serve
    /// for measurement, helpers and correctives.
    Smoothed(crate::deform::direct_delta_mush::SmoothingSettings),
}

/// What animates added helpers and morph targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkinDrive {
    /// Keys in the fitted clips: every engine plays them.
    #[default]
    Clips,
    /// Pose drivers in a graph in the file, which Sinew plays in every pose. Other programs only use the weights.
    /// Helpers and morph targets are also fitted to joint ranges.
    Pose,
    /// Both: keys for every engine, and a graph for Sinew that uses the pose and ignores the keys. Fitted to clips.
    Both,
}

impl SkinDrive {
    /// True if the file gets a graph.
    pub(crate) fn has_graph(self) -> bool {
        self != Self::Clips
    }
    /// True if clips get keys.
    pub(crate) fn has_keys(self) -> bool {
        self != Self::Pose
    }
}

/// Settings of a skin bake.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SkinRequest {
    /// Method of the weights.
    pub method: SkinMethod,
    /// Maximum number of joints per vertex.
    pub influences: usize,
    /// Maximum number of joints to add.
    pub helpers: usize,
    /// Maximum number of morph targets to add.
    pub correctives: usize,
    /// Error of a vertex above which a morph target corrects it, metres.
    pub tolerance: f64,
    /// See [`SkinSettings::hold`].
    pub hold: f64,
    /// Clips and their frames.
    pub clips: Vec<ClipFrames>,
    /// Rotations of single joints.
    pub ranges: Vec<JointRange>,
    /// Clips and frames that are played and measured but not fitted.
    pub held_out: Vec<ClipFrames>,
    /// What animates helpers and morph targets.
    pub drive: SkinDrive,
    /// Maximum number of poses of a driver.
    pub drive_poses: usize,
    /// The mesh output to bake; `None` bakes all meshes of the character.
    pub output: Option<String>,
    /// Name of the graph, for the report.
    pub graph: String,
}

impl Default for SkinRequest {
    fn default() -> Self {
        let SkinSettings {
            influences, hold, ..
        } = SkinSettings::default();
        Self {
            method: SkinMethod::Fitted,
            influences,
            helpers: 0,
            correctives: 0,
            tolerance: 1e-4,
            hold,
            clips: Vec::new(),
            ranges: Vec::new(),
            held_out: Vec::new(),
            drive: SkinDrive::Clips,
            drive_poses: 24,
            output: None,
            graph: String::new(),
        }
    }
}

/// Maximum number of poses of a driver: the solver's system has this size, and a frame costs its square.
const MOST_POSES: usize = 256;

impl SkinRequest {
    /// Checks all numbers before the graph is played.
    fn check(&self) -> Result<(), SkinError> {
        self.settings(WeightMethod::Fitted).check()?;
        check_correctives(self.correctives)?;
        let wrong = |setting, found: String, expected| {
            Err(SkinError::Setting {
                setting,
                found,
                expected,
            })
        };
        if !(self.tolerance.is_finite() && self.tolerance >= 0.0) {
            return wrong(
                "tolerance",
                self.tolerance.to_string(),
                "a distance of 0 m or more",
            );
        }
        if !(2..=MOST_POSES).contains(&self.drive_poses) {
            return wrong("drive_poses", self.drive_poses.to_string(), "2 to 256");
        }
        let has_no_keys = self.clips.is_empty() && self.drive.has_keys();
        if has_no_keys && self.helpers.saturating_add(self.correctives) > 0 {
            let found = format!(
                "{} helpers and {} correctives without clips",
                self.helpers, self.correctives
            );
            return wrong(
                "helpers and correctives",
                found,
                "clips to store their keys, or drivers by pose only",
            );
        }
        Ok(())
    }

    fn settings(&self, method: WeightMethod) -> SkinSettings {
        let mut settings = SkinSettings::default();
        settings.method = method;
        settings.influences = self.influences;
        settings.helpers = self.helpers;
        settings.hold = self.hold;
        settings
    }

    /// The samples to fit and to hold out.
    fn collected(
        &self,
        portable: &Portable,
        player: &mut Player,
        watch: &Watch<'_>,
    ) -> Result<(Collected, Option<Collected>), SkinBakeError> {
        let output = self.output.as_deref();
        check_held_out(&portable.character.asset, &self.clips, &self.held_out)?;
        let mut fitted =
            Collected::of(portable, player, output, (&self.clips, &self.ranges), watch)?;
        if self.drive == SkinDrive::Pose {
            fitted.samples.free_all();
        }
        let held_out = match self.held_out.is_empty() {
            true => None,
            false => Some(Collected::of(
                portable,
                player,
                output,
                (&self.held_out, &[]),
                watch,
            )?),
        };
        Ok((fitted, held_out))
    }
}

/// Result of a skin bake.
#[derive(Clone, Debug)]
pub struct SkinBake {
    /// Numbers, measured on the written file.
    pub report: SkinReport,
    /// The worst frame of each clip, for images.
    pub moments: Vec<SkinMoment>,
    /// Triangles of the baked vertices.
    pub triangles: Vec<[u32; 3]>,
    /// Root mean square error of each baked vertex over all samples, metres.
    pub of_vertex: Vec<f64>,
    /// Meshes of the character and their ranges of baked vertices.
    places: Vec<(usize, std::ops::Range<usize>)>,
    edit: crate::io::gltf_write::SkinEdit,
}

/// Plays the graph over all frames of `request`, fits the character's skins to it, and writes the character to the GLB
/// file `out`. `player` plays the character of `portable`. The report is measured on the bytes of the file, read back
/// before it appears.
///
/// # Errors
/// [`SkinBakeError`]; no file appears then.
pub fn bake_skin(
    portable: &Portable,
    player: &mut Player,
    request: &SkinRequest,
    out: &Path,
    watch: &Watch<'_>,
) -> Result<SkinBake, SkinBakeError> {
    request.check()?;
    let (collected, held_out) = request.collected(portable, player, watch)?;
    let problem = collected.problem();
    let method = weights_of(portable, &collected, &request.method, watch)?;
    let fit = fit_skin(&problem, &request.settings(method), watch)?;
    let mut correctives = correctives(&problem, &fit, request, watch)?;
    if portable.has_normals(&collected.baked) {
        let triangles = problem.topology.triangles();
        add_normals(&mut correctives.targets, problem.rest, triangles);
    }
    let asset = &portable.character.asset;
    let names = edit::target_names(asset, correctives.targets.len());
    let edit = Edit {
        asset,
        collected: &collected,
        fit: &fit,
        correctives: &correctives,
        names: &names,
        has_keys: request.drive.has_keys(),
    };
    let edit = edit.made();
    let mut bytes = edit_skins(&portable.glb, asset, portable.source(), &edit)?;
    let drive = Drive {
        asset,
        collected: &collected,
        fit: &fit,
        correctives: &correctives,
    };
    let (mut drivers, mut undriven) = (Vec::new(), Vec::new());
    if request.drive.has_graph() {
        let names = names_in(portable, &bytes, names, edit.helpers.len(), out)?;
        let limits = Limits {
            poses: request.drive_poses,
            tolerance: request.tolerance,
        };
        let made = drive.drivers(limits, watch)?;
        bytes = with_graph(&bytes, &drive.document(&made, &names), out)?;
        drivers = drive.reports(&made, &names);
        undriven = drive.undriven(&made, &names);
    }
    if (watch.is_cancelled)() {
        return Err(SkinError::Cancelled.into());
    }
    // As in the final file, before it appears.
    let file = read_gltf_bytes(bytes.clone(), None, &name_of(out))?;
    let mut baking = Baking::new(portable, &file, player.fps())?;
    let mut found = baking.measured(&collected, false, watch)?;
    if let Some(held_out) = &held_out {
        let more = baking.measured(held_out, true, watch)?;
        found.clips.extend(more.clips);
    }
    let moments = moments(&baking, &collected, &found)?;
    crate::io::write_bytes(out, &bytes)?;
    let mut report = SkinReport::default();
    report.character = asset.name.clone();
    report.graph = request.graph.clone();
    report.file = name_of(out);
    report.method = request.method.words().into();
    report.fps = player.fps();
    report.meshes = collected.mesh_names(asset);
    report.vertices = problem.rest.len();
    report.influences = request.influences;
    report.influences_found = fit.influences.max_per_vertex();
    report.helpers = helper_names(portable, &file, &edit);
    report.targets = correctives.targets.len();
    report.target_vertices = target_vertices(&correctives);
    report.source_bytes = portable.glb.len() as u64;
    report.written_bytes = bytes.len() as u64;
    report.hash = SkinReport::hash_of(&bytes);
    report.drivers = drivers;
    report.undriven = undriven;
    report.clips = found.clips;
    report.steps = steps(&fit);
    Ok(SkinBake {
        report,
        moments,
        triangles: problem.topology.triangles().to_vec(),
        of_vertex: found.plain.of_vertex,
        places: places_of(&collected.baked),
        edit,
    })
}

impl SkinMethod {
    fn words(&self) -> &'static str {
        match self {
            Self::Fitted => "fitted to the samples",
            Self::Smoothed(_) => "authored weights, smoothed (direct delta mush, variant 5)",
        }
    }
}

fn steps(fit: &SkinFit) -> Vec<(String, f64)> {
    let steps = fit.steps.iter();
    steps.map(|s| (s.what.to_owned(), s.rms * 1e3)).collect()
}

/// Names of helpers (which were made unique) and targets in the file.
fn names_in(
    portable: &Portable,
    bytes: &[u8],
    targets: Vec<String>,
    helpers: usize,
    out: &Path,
) -> Result<Names, SkinBakeError> {
    let file: GltfFile = read_gltf_bytes(bytes.to_vec(), None, &name_of(out))?;
    let meshes = &portable.character.asset.meshes;
    Ok(Names {
        helpers: helpers_in(portable, &file, helpers)
            .map(str::to_owned)
            .collect(),
        targets,
        has_own_targets: meshes.iter().any(|m| !m.morph_targets.is_empty()),
    })
}

/// The worst frame of each group.
fn moments(
    baking: &Baking<'_>,
    collected: &Collected,
    found: &shown::Found,
) -> Result<Vec<SkinMoment>, SkinBakeError> {
    let problem = collected.problem();
    let groups = problem.samples.groups().iter().zip(&found.clips);
    let of_group = |(k, (group, clip)): (usize, (&SampleGroup, &SkinClipReport))| {
        let sample = found.plain.groups[k].sample.max(group.samples.start);
        Ok(SkinMoment {
            title: format!("{}, worst frame ({:.3} s)", clip.name, clip.worst_secs),
            source: shown_by_rows(&problem, problem.authored, sample),
            graph: problem.samples.positions(sample).to_vec(),
            file: baking.look(collected, |shown| shown.shown(&problem, sample))?,
        })
    };
    groups.enumerate().map(of_group).collect()
}

/// Compares a baked file with the graph, independent of the fit.
///
/// # Errors
/// [`SkinBakeError`]; [`SkinError::File`] if the file has other meshes or clips.
pub fn measure_skin(
    portable: &Portable,
    player: &mut Player,
    request: &SkinRequest,
    baked: &Path,
    watch: &Watch<'_>,
) -> Result<Vec<SkinClipReport>, SkinBakeError> {
    let (collected, held_out) = request.collected(portable, player, watch)?;
    let file = read_gltf(baked)?;
    let mut baking = Baking::new(portable, &file, player.fps())?;
    let mut clips = baking.measured(&collected, false, watch)?.clips;
    if let Some(held_out) = &held_out {
        clips.extend(baking.measured(held_out, true, watch)?.clips);
    }
    Ok(clips)
}

/// Writes the baked character with vertices coloured by their error, from zero to the largest, without materials.
///
/// # Errors
/// [`SkinBakeError::Io`].
pub fn write_colored(
    portable: &Portable,
    bake: &SkinBake,
    out: &Path,
) -> Result<(), SkinBakeError> {
    let asset = &portable.character.asset;
    let mut edit = bake.edit.clone();
    let most = bake.of_vertex.iter().copied().fold(0.0, f64::max);
    let colors = colors_of(&bake.of_vertex, most);
    for (mesh, range) in &bake.places {
        let own = colors.get(range.clone()).map(<[_]>::to_vec);
        if let Some(changed) = edit.meshes.iter_mut().find(|m| m.mesh == *mesh) {
            changed.colors = own;
            continue;
        }
        // A mesh with unchanged results keeps its weights.
        let Some(influences) = asset.meshes[*mesh].influences.clone() else {
            continue;
        };
        edit.meshes.push(MeshSkin {
            mesh: *mesh,
            influences,
            targets: Vec::new(),
            colors: own,
        });
        for keys in &mut edit.clips {
            keys.weights.push(vec![Vec::new(); keys.times_secs.len()]);
        }
    }
    let bytes = edit_skins(&portable.glb, asset, portable.source(), &edit)?;
    Ok(crate::io::write_bytes(out, &bytes)?)
}

/// Weights of the method for all baked vertices.
fn weights_of(
    portable: &Portable,
    collected: &Collected,
    method: &SkinMethod,
    watch: &Watch<'_>,
) -> Result<WeightMethod, SkinBakeError> {
    use crate::deform::direct_delta_mush::moments;
    use crate::deform::{BindWatch, Par};
    let SkinMethod::Smoothed(settings) = method else {
        return Ok(WeightMethod::Fitted);
    };
    let asset = &portable.character.asset;
    let joints = asset.rig.joints().len();
    let follow = BindWatch {
        report: &|_| {},
        is_stopped: watch.is_cancelled,
    };
    let mut all = Influences::default();
    for baked in &collected.baked {
        let mesh = &asset.meshes[baked.mesh];
        let found = moments(mesh, joints, settings, Par::Rayon, &follow)?;
        let row = |v: usize| -> Vec<(u32, f32)> {
            let (joints, pairs) = found.row(v);
            joints
                .iter()
                .copied()
                .zip(pairs.iter().map(|p| p.weight))
                .collect()
        };
        let rows: Vec<Vec<(u32, f32)>> = (0..found.vertex_count()).map(row).collect();
        let rows = Influences::from_rows(rows.iter().map(Vec::as_slice), joints, 0);
        let (rows, _, _) = rows.map_err(|source| SkinError::Weights { source })?;
        all.extend(&rows);
    }
    Ok(WeightMethod::Given(all))
}

/// Targets for the remaining error: from the samples with the largest error, then optimised over all samples.
fn correctives(
    problem: &SkinProblem<'_>,
    fit: &SkinFit,
    request: &SkinRequest,
    watch: &Watch<'_>,
) -> Result<Correctives, SkinBakeError> {
    let none = Correctives {
        targets: Vec::new(),
        weights: vec![Vec::new(); problem.samples.len()],
    };
    if request.correctives == 0 {
        return Ok(none);
    }
    let (most, least) = (request.correctives, request.tolerance);
    let targets = match request.drive.has_graph() {
        // Correctives that follow the pose depend on few joints.
        true => local_targets(problem, fit, most, least, watch)?,
        false => {
            let extremes = extreme_samples(problem, fit, most, least / 10.0);
            let mut targets = left_over(problem, fit, &extremes, least);
            targets.retain(|t| !t.vertices.is_empty());
            targets
        }
    };
    if targets.is_empty() {
        return Ok(none);
    }
    Ok(fit_correctives(problem, fit, &targets, watch)?)
}

fn places_of(baked: &[Baked]) -> Vec<(usize, std::ops::Range<usize>)> {
    let mut first = 0;
    let place = |b: &Baked| {
        first += b.count;
        (b.mesh, first - b.count..first)
    };
    baked.iter().map(place).collect()
}

fn target_vertices(correctives: &Correctives) -> usize {
    let all = correctives.targets.iter().flat_map(|t| &t.vertices);
    let all: std::collections::BTreeSet<u32> = all.copied().collect();
    all.len()
}

/// Names of helpers in a written file, which follow the existing nodes. Names were made unique.
fn helpers_in<'a>(
    portable: &Portable,
    file: &'a GltfFile,
    count: usize,
) -> impl Iterator<Item = &'a str> {
    let first = portable.source().rig_node_of_node.len();
    let nodes = &file.document.json["nodes"];
    (first..first + count).map(move |n| nodes[n]["name"].as_str().unwrap_or_default())
}

/// Names of helpers and their parents in the file.
fn helper_names(
    portable: &Portable,
    file: &GltfFile,
    edit: &crate::io::gltf_write::SkinEdit,
) -> Vec<(String, String)> {
    let nodes = portable.character.asset.rig.nodes();
    let names = helpers_in(portable, file, edit.helpers.len());
    let parents = edit.helpers.iter().map(|h| nodes[h.parent].name.clone());
    names.map(str::to_owned).zip(parents).collect()
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
