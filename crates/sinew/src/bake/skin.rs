//! Skins from graphs: a graph is played over clips and joint ranges, its result is fitted, and the character's file gets the weights.
//!
//! [`Portable`] makes a character one GLB file in memory, whatever it came from; [`bake_skin`] samples, fits, writes and measures what it wrote;
//! [`measure_skin`] compares a file with the graph once more.

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

/// Why a skin could not be baked from a graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkinBakeError {
    /// The graph could not be played.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// Frames could not be fitted or measured.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// The outputs of the graph are no meshes of the character.
    #[error(transparent)]
    Meshes(#[from] MeshesError),
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The graph in a baked file is none: it was made by something else, or names of the character break it.
    #[error("the graph in the baked file: {0}")]
    Graph(Diagnostics),
    /// Smoothed weights could not be made.
    #[error("smoothed weights: {0}")]
    Smoothed(#[from] crate::deform::direct_delta_mush::DirectDeltaMushError),
}

impl From<BakeError> for SkinBakeError {
    fn from(error: BakeError) -> Self {
        Self::Skin(error.into())
    }
}

/// Where weights come from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum SkinMethod {
    /// Least squares over the samples.
    #[default]
    Fitted,
    /// Direct delta mush, variant 5: authored weights smoothed over the mesh, whatever the graph is. Samples are for measuring, helpers and correctives.
    Smoothed(crate::deform::direct_delta_mush::SmoothingSettings),
}

/// What moves helpers and morph targets that are added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SkinDrive {
    /// Keys in the clips that are fitted: every engine plays them.
    #[default]
    Clips,
    /// The pose: a graph in the file has pose drivers for them, which Sinew plays in every pose. Others see weights alone. Helpers and morph targets are fitted
    /// to joint ranges, too.
    Pose,
    /// Both: keys for every engine, a graph for Sinew that goes by the pose and not by the keys. Fitted to clips.
    Both,
}

impl SkinDrive {
    /// Whether the file gets a graph.
    pub fn has_graph(self) -> bool {
        self != Self::Clips
    }
    /// Whether clips get keys.
    pub fn has_keys(self) -> bool {
        self != Self::Pose
    }
}

/// What to bake.
#[derive(Clone, Debug)]
pub struct SkinRequest {
    /// Where weights come from.
    pub method: SkinMethod,
    /// Most joints of a vertex.
    pub influences: usize,
    /// Joints to add, at most.
    pub helpers: usize,
    /// Morph targets to add, at most.
    pub correctives: usize,
    /// How far a vertex may be off before a morph target moves it, metres.
    pub tolerance: f64,
    /// See [`SkinSettings::hold`].
    pub hold: f64,
    /// Clips and their frames.
    pub clips: Vec<ClipFrames>,
    /// Turns of single joints.
    pub ranges: Vec<JointRange>,
    /// Clips and frames that are played and measured and not fitted.
    pub held_out: Vec<ClipFrames>,
    /// What moves helpers and morph targets.
    pub drive: SkinDrive,
    /// Poses of a driver, at most.
    pub drive_poses: usize,
    /// The mesh output to bake; all of the character's without.
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

/// Most poses of a driver: a system of that size is solved, and a frame costs their square.
const MOST_POSES: usize = 256;

impl SkinRequest {
    /// Looks at all numbers before anything is played.
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
            return wrong("tolerance", self.tolerance.to_string(), "metres, 0 or more");
        }
        if !(2..=MOST_POSES).contains(&self.drive_poses) {
            return wrong("drive_poses", self.drive_poses.to_string(), "2 to 256");
        }
        let has_no_keys = self.clips.is_empty() && self.drive.has_keys();
        if has_no_keys && self.helpers.saturating_add(self.correctives) > 0 {
            let found = format!("{} and {} without clips", self.helpers, self.correctives);
            return wrong(
                "helpers and correctives",
                found,
                "clips, which have their keys, or to be driven by the pose alone",
            );
        }
        Ok(())
    }

    fn settings(&self, method: WeightMethod) -> SkinSettings {
        SkinSettings {
            method,
            influences: self.influences,
            helpers: self.helpers,
            hold: self.hold,
            ..SkinSettings::default()
        }
    }

    /// What is fitted, and what is held out.
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

/// What a bake came to.
#[derive(Clone, Debug)]
pub struct SkinBake {
    /// Numbers, measured on the file as it was written.
    pub report: SkinReport,
    /// The worst moment of each clip, for pictures.
    pub moments: Vec<SkinMoment>,
    /// Triangles of the baked vertices.
    pub triangles: Vec<[u32; 3]>,
    /// Root mean square of each baked vertex over all samples, metres.
    pub of_vertex: Vec<f64>,
    /// Meshes of the character and which of the baked vertices are theirs.
    places: Vec<(usize, std::ops::Range<usize>)>,
    edit: crate::io::gltf_write::SkinEdit,
}

/// Plays the graph over all that `request` names, fits the character's skins to it, and writes the character with them to `out`, a GLB file. `player` plays the
/// character of `portable`. What is reported was measured on the bytes of the file, read back before it appears.
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
    // As the file will be, before it appears.
    let file = read_gltf_bytes(bytes.clone(), None, &name_of(out))?;
    let mut baking = Baking::new(portable, &file, player.fps())?;
    let mut found = baking.measured(&collected, false, watch)?;
    if let Some(held_out) = &held_out {
        let more = baking.measured(held_out, true, watch)?;
        found.clips.extend(more.clips);
    }
    let moments = moments(&baking, &collected, &found)?;
    crate::io::write_bytes(out, &bytes)?;
    let report = SkinReport {
        character: asset.name.clone(),
        graph: request.graph.clone(),
        file: name_of(out),
        method: request.method.words().into(),
        fps: player.fps(),
        meshes: collected.mesh_names(asset),
        vertices: problem.rest.len(),
        influences: request.influences,
        influences_found: fit.influences.max_per_vertex(),
        helpers: helper_names(portable, &file, &edit),
        targets: correctives.targets.len(),
        target_vertices: target_vertices(&correctives),
        source_bytes: portable.glb.len() as u64,
        written_bytes: bytes.len() as u64,
        hash: SkinReport::hash_of(&bytes),
        drivers,
        undriven,
        clips: found.clips,
        steps: steps(&fit),
    };
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

/// What the file calls helpers, whose names were made unique, and targets.
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

/// The worst moment of each group.
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
            title: format!("{}, worst moment ({:.3} s)", clip.name, clip.worst_secs),
            source: shown_by_rows(&problem, problem.authored, sample),
            graph: problem.samples.positions(sample).to_vec(),
            file: baking.look(collected, |shown| shown.shown(&problem, sample))?,
        })
    };
    groups.enumerate().map(of_group).collect()
}

/// Compares what a baked file shows with the graph once more: nothing of the fit takes part.
///
/// # Errors
/// [`SkinBakeError`]; [`SkinError::File`] where the file has other meshes or clips.
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

/// Writes the baked character once more, its vertices coloured by how far off they are: from zero to the largest, without materials.
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
        // One that shows the same as before keeps its weights.
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

/// Weights of the method, over all baked vertices.
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

/// Targets for what is left: that of the samples that say most about it, made better against all samples.
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
        // What follows the pose follows few joints.
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

/// What a written file calls helpers, which come behind the nodes that it had: names were made unique.
fn helpers_in<'a>(
    portable: &Portable,
    file: &'a GltfFile,
    count: usize,
) -> impl Iterator<Item = &'a str> {
    let first = portable.source().rig_node_of_node.len();
    let nodes = &file.document.json["nodes"];
    (first..first + count).map(move |n| nodes[n]["name"].as_str().unwrap_or_default())
}

/// Helpers and their parents as they are in the file.
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
