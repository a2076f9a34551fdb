//! Skins from graphs: a graph is played over clips and joint ranges, its result is fitted, and the character's file gets the weights.
//!
//! [`Portable`] makes a character one GLB file in memory, whatever it came from; [`bake_skin`] samples, fits, writes and measures what it wrote;
//! [`measure_skin`] compares a file with the graph once more.

mod edit;
mod ranges;
mod source;

pub use ranges::{JointRange, RangesError, ranges_from_json, ranges_of};
pub use sinew_bake::skin::*;
pub use source::{Baked, ClipFrames, MeshesError, Portable};

use crate::bake::{BakeError, Watch};
use crate::geom::{Asset, Influences};
use crate::io::gltf_write::edit_skins;
use crate::io::{IoError, read_gltf, read_gltf_bytes};
use crate::play::{PlayError, Player};
use edit::Edit;
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
            output: None,
            graph: String::new(),
        }
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
    let collected = Collected::of(portable, player, request, watch)?;
    let problem = collected.problem();
    let settings = SkinSettings {
        method: weights_of(portable, &collected, &request.method, watch)?,
        influences: request.influences,
        helpers: request.helpers,
        hold: request.hold,
        ..SkinSettings::default()
    };
    let fit = fit_skin(&problem, &settings, watch)?;
    let mut correctives = correctives(&problem, &fit, request, watch)?;
    if portable.has_normals(&collected.baked) {
        add_normals(
            &mut correctives.targets,
            problem.rest,
            problem.topology.triangles(),
        );
    }
    let edit = Edit {
        asset: &portable.character.asset,
        collected: &collected,
        fit: &fit,
        correctives: &correctives,
    };
    let edit = edit.made();
    let bytes = edit_skins(
        &portable.glb,
        &portable.character.asset,
        portable.source(),
        &edit,
    )?;
    if (watch.is_cancelled)() {
        return Err(SkinError::Cancelled.into());
    }
    // As the file will be, before it appears.
    let file = read_gltf_bytes(bytes.clone(), None, &name_of(out))?;
    let meshes = portable.meshes_in(&file.document, &collected.baked);
    let pose_of = collected.pose_of(portable, &file);
    let shown = ShownFile {
        asset: &file.asset,
        meshes: &meshes,
        pose_of: &pose_of,
    };
    let measured = measure_file(&problem, &shown)?;
    crate::io::write_bytes(out, &bytes)?;
    let source = measure_rows(&problem, problem.authored);
    let mut report = SkinReport {
        character: portable.character.asset.name.clone(),
        graph: request.graph.clone(),
        file: name_of(out),
        method: match request.method {
            SkinMethod::Fitted => "fitted to the samples".into(),
            SkinMethod::Smoothed(_) => {
                "authored weights, smoothed (direct delta mush, variant 5)".into()
            }
        },
        fps: 0.0,
        meshes: collected.mesh_names(&portable.character.asset),
        vertices: problem.rest.len(),
        influences: request.influences,
        influences_found: fit.influences.max_per_vertex(),
        helpers: helper_names(&portable.character.asset, &edit),
        targets: correctives.targets.len(),
        target_vertices: target_vertices(&correctives),
        source_bytes: portable.glb.len() as u64,
        written_bytes: bytes.len() as u64,
        clips: Vec::new(),
        steps: fit
            .steps
            .iter()
            .map(|s| (s.what.to_owned(), s.rms * 1e3))
            .collect(),
    };
    let mut moments = Vec::new();
    for (k, group) in problem.samples.groups().iter().enumerate() {
        let clip = SkinClipReport::new(&problem, k, &measured, &source);
        let sample = measured.groups[k].sample.max(group.samples.start);
        moments.push(SkinMoment {
            title: format!("{}, worst moment ({:.3} s)", clip.name, clip.worst_secs),
            source: shown_by_rows(&problem, problem.authored, sample),
            graph: problem.samples.positions(sample).to_vec(),
            file: shown.shown(&problem, sample)?,
        });
        report.clips.push(clip);
    }
    report.fps = player.fps();
    Ok(SkinBake {
        report,
        moments,
        triangles: problem.topology.triangles().to_vec(),
        of_vertex: measured.of_vertex,
        places: places_of(&collected.baked),
        edit,
    })
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
    let collected = Collected::of(portable, player, request, watch)?;
    let problem = collected.problem();
    let file = read_gltf(baked)?;
    let meshes = portable.meshes_in(&file.document, &collected.baked);
    let pose_of = collected.pose_of(portable, &file);
    let shown = ShownFile {
        asset: &file.asset,
        meshes: &meshes,
        pose_of: &pose_of,
    };
    let measured = measure_file(&problem, &shown)?;
    let source = measure_rows(&problem, problem.authored);
    let groups = 0..problem.samples.groups().len();
    let of_group = |k| SkinClipReport::new(&problem, k, &measured, &source);
    Ok(groups.map(of_group).collect())
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
    let mut edit = bake.edit.clone();
    let most = bake.of_vertex.iter().copied().fold(0.0, f64::max);
    let colors = colors_of(&bake.of_vertex, most);
    for mesh in &mut edit.meshes {
        let range = bake.places.iter().find(|p| p.0 == mesh.mesh);
        mesh.colors = range.and_then(|p| Some(colors.get(p.1.clone())?.to_vec()));
    }
    let bytes = edit_skins(
        &portable.glb,
        &portable.character.asset,
        portable.source(),
        &edit,
    )?;
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
    let extremes = extreme_samples(problem, fit, request.correctives, request.tolerance / 10.0);
    let targets = left_over(problem, fit, &extremes, request.tolerance);
    let targets: Vec<_> = targets
        .into_iter()
        .filter(|t| !t.vertices.is_empty())
        .collect();
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

fn helper_names(asset: &Asset, edit: &crate::io::gltf_write::SkinEdit) -> Vec<(String, String)> {
    let nodes = asset.rig.nodes();
    let helpers = edit.helpers.iter();
    helpers
        .map(|h| (h.name.clone(), nodes[h.parent].name.clone()))
        .collect()
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
