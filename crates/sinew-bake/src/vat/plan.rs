//! The second step: sizes, ranges and places, from what was seen of all frames and from nothing else.

use super::detect::chosen_mode;
use super::job::VatJob;
use super::mode::{self, BakeMode};
use super::records::{FRAMES, ScanRecord};
use super::retriangulated::RetriangulatedPlan;
use super::scan::missing;
use super::settings::{Mode, Space, TextureChoice};
use super::tearing::TearPlan;
use crate::vat::maker::error::ErrorSum;
use crate::vat::maker::plan::PlanError;
use crate::vat::maker::points::PointsError;
use crate::vat::maker::remesh::{FrameScan, join_extents};
use crate::work::hash_of;
use crate::{BakeError, Watch};
use serde::{Deserialize, Serialize};
use sinew_geom::{Bounds, index32};
use sinew_vat::layout::{Layout, LayoutError, Limits, larger_device};
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::{Extent, TextureSpec};

/// File of the plan in the work folder.
pub(super) const FILE: &str = "plan.json";

/// Where the hash of a plan is, in its text.
const NO_HASH: &str = "\"hash\": \"\"";

/// Sizes, ranges and places of a bake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VatPlan {
    /// Of all of the text but itself: later steps trust its numbers, so that one which was edited is refused. In memory it is empty.
    pub(crate) hash: String,
    /// The job that it belongs to.
    pub(crate) job: String,
    /// Triangles of the carrier.
    pub triangles: u32,
    /// Where texels are.
    pub layout: Layout,
    /// Box of all frames, metres, in the axes of glTF.
    pub bounds: Bounds,
    /// Axes and unit of the textures' values.
    pub space: Space,
    /// The textures, all of that layout.
    pub textures: Vec<TextureSpec>,
    /// Share of the carrier's triangles that show nothing, over all frames.
    pub empty_slots: f64,
    /// What only its mode has.
    pub of_mode: ModePlan,
}

/// A job with its plan: what texels, and all that comes after them, are made from.
#[derive(Clone, Copy)]
pub(crate) struct Planned<'a> {
    pub(crate) job: &'a VatJob,
    pub(crate) plan: &'a VatPlan,
}

/// What the plan of one mode has and others have not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ModePlan {
    /// Triangles stay the same.
    Soft {
        /// Of cloth that tears.
        tears: Option<TearPlan>,
        /// Of faces that frames cut into other triangles than the first one.
        retriangulated: Option<RetriangulatedPlan>,
    },
    /// Triangles change.
    Remesh {
        /// Whether each frame of the sequence is two of the layout: itself and its end.
        has_ends: bool,
        /// Of unique points, where these have the texels. [`VatPlan::layout`] is that of the lookup then.
        points: Option<PointPlan>,
        /// Of faces that frames cut otherwise, where triangles are loose because that would be too far off.
        remesh_fallback: Option<RetriangulatedPlan>,
    },
    /// Pieces move without bending.
    Rigid {
        /// What was found of them.
        pieces: PiecePlan,
        /// As of [`Self::Soft`].
        retriangulated: Option<RetriangulatedPlan>,
    },
    /// Points.
    Particles,
}

/// Where unique points are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointPlan {
    /// Where their texels are in each texture; its vertices are the points of the frame that has most.
    pub layout: Layout,
    /// Points of all frames together.
    pub all: u64,
}

impl PointPlan {
    /// Share of the texels that no point uses.
    pub fn unused_texels(&self) -> f64 {
        1.0 - self.all as f64 / self.layout.texels() as f64
    }
}

/// What was found of pieces that move without bending.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PiecePlan {
    /// How many there are.
    pub count: u32,
    /// Distances of vertices from where their piece puts them, metres, before texels round them; the vertex is one of the carrier.
    pub residual: ErrorSum,
    /// Number of the frame with the largest of them.
    pub worst: i64,
    /// The largest turn from one frame to the next, degrees.
    pub largest_turn_degrees: f64,
}

impl PiecePlan {
    /// For people: how rigid pieces are before texels round them, and how fast they turn.
    pub fn words(&self) -> String {
        let pieces = match self.count {
            1 => "1 piece keeps its".to_owned(),
            count => format!("{count} pieces keep their"),
        };
        format!(
            "{pieces} shape within {:.4} mm (rms {:.5} mm, largest in frame {}); the largest turn between two frames is {:.1} degrees",
            self.residual.largest * 1e3,
            self.residual.rms() * 1e3,
            self.worst,
            self.largest_turn_degrees,
        )
    }
}

impl VatPlan {
    /// Changes with all that texels depend on.
    pub(crate) fn key(&self) -> String {
        hash_of(self.text().as_bytes())
    }

    /// How the sequence is taken.
    pub fn mode(&self) -> Mode {
        match self.of_mode {
            ModePlan::Soft { .. } => Mode::Soft,
            ModePlan::Remesh { .. } => Mode::Remesh,
            ModePlan::Rigid { .. } => Mode::Rigid,
            ModePlan::Particles => Mode::Particles,
        }
    }

    /// What is done in its mode.
    pub(crate) fn steps(&self) -> &'static dyn BakeMode {
        mode::of(self.mode())
    }

    /// Of pieces, where the bake is one of pieces.
    pub fn pieces(&self) -> Option<&PiecePlan> {
        match &self.of_mode {
            ModePlan::Rigid { pieces, .. } => Some(pieces),
            _ => None,
        }
    }

    /// Of tears, where the bake is one of cloth that tears.
    pub fn tears(&self) -> Option<TearPlan> {
        match self.of_mode {
            ModePlan::Soft { tears, .. } => tears,
            _ => None,
        }
    }

    /// Of faces that frames cut into other triangles than the first one, where triangles stay the same.
    pub fn retriangulated(&self) -> Option<&RetriangulatedPlan> {
        match &self.of_mode {
            ModePlan::Soft { retriangulated, .. } | ModePlan::Rigid { retriangulated, .. } => {
                retriangulated.as_ref()
            }
            _ => None,
        }
    }

    /// Whether quads have a vertex in their middle, so that the carrier has other triangles than the first frame.
    pub(crate) fn has_middles(&self) -> bool {
        self.retriangulated().is_some_and(|r| !r.middles.is_empty())
    }

    /// The same where triangles are loose because that would be too far off.
    pub fn remesh_fallback(&self) -> Option<&RetriangulatedPlan> {
        match &self.of_mode {
            ModePlan::Remesh {
                remesh_fallback, ..
            } => remesh_fallback.as_ref(),
            _ => None,
        }
    }

    /// Of unique points, where these have the texels.
    pub fn points(&self) -> Option<&PointPlan> {
        match &self.of_mode {
            ModePlan::Remesh { points, .. } => points.as_ref(),
            _ => None,
        }
    }

    /// Whether each frame of the sequence is two of the layout: itself and its end.
    pub fn has_ends(&self) -> bool {
        matches!(self.of_mode, ModePlan::Remesh { has_ends: true, .. })
    }

    /// Frames of the layout for each frame of the sequence.
    pub(crate) fn frame_step(&self) -> u32 {
        if self.has_ends() { 2 } else { 1 }
    }

    /// Where the texels of textures are; those of a lookup are where [`Self::layout`] says.
    pub(crate) fn texture_layout(&self) -> &Layout {
        self.points().map_or(&self.layout, |p| &p.layout)
    }

    /// Bytes of a texel in all textures.
    pub(crate) fn texel_bytes(&self) -> u64 {
        let each = self.textures.iter().map(TextureSpec::vertex_bytes);
        each.sum::<usize>() as u64
    }

    /// What the textures of unique points would be with a texel for each corner, bytes.
    pub fn corner_bytes(&self) -> u64 {
        self.layout.texels() * self.texel_bytes()
    }

    fn text(&self) -> String {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        let hash = hash_of(text.as_bytes());
        text.replacen(NO_HASH, &format!("\"hash\": \"{hash}\""), 1)
    }

    /// Whether the text is what [`Self::text`] gave.
    fn is_whole(&self, text: &str) -> bool {
        let plain = text.replacen(&format!("\"hash\": \"{}\"", self.hash), NO_HASH, 1);
        self.hash == hash_of(plain.as_bytes())
    }

    /// Makes it the plan of a job.
    pub(super) fn write(&self, job: &VatJob) -> Result<(), BakeError> {
        job.work.write_text(FILE, &self.text())?;
        Ok(())
    }

    /// The plan of a job.
    pub(crate) fn read(job: &VatJob) -> Result<Self, BakeError> {
        let path = job.work.file(FILE);
        let all: Vec<usize> = (0..job.frame_count()).collect();
        let none = || missing(job, &all, "plan", "plan");
        if !path.exists() {
            return Err(none());
        }
        let text = sinew_io::read_text(&path)?;
        let fault = |message: String| BakeError::Json {
            path: path.clone(),
            message,
        };
        let mut plan: Self = serde_json::from_str(&text).map_err(|e| fault(e.to_string()))?;
        if !plan.is_whole(&text) {
            return Err(fault(
                "was changed since it was made; delete it, and `sinew vat plan` makes it anew"
                    .into(),
            ));
        }
        plan.hash.clear();
        match plan.job == job.key {
            true => Ok(plan),
            false => Err(none()),
        }
    }
}

/// Makes the plan, unless it is there.
///
/// # Errors
/// [`BakeError::Missing`] names frames that are not scanned; [`BakeError::Plan`] and [`BakeError::NotSoft`] where the sequence cannot be
/// baked as wanted.
pub fn plan(job: &VatJob, watch: &Watch<'_>) -> Result<VatPlan, BakeError> {
    if let Ok(plan) = VatPlan::read(job) {
        return Ok(plan);
    }
    let scans = all_scans(job)?;
    let (mode, remesh_fallback) = chosen_mode(job, &scans, watch)?;
    let convention = &job.settings().convention;
    convention.check_sequence(job.settings(), mode, job.frame_count())?;
    let mode = mode::of(mode);
    let made = mode.plan(job, &scans, watch);
    let mut made = made.map_err(|e| {
        let error = nothing_left(&scans, with_number(job, e));
        with_proposal(job, mode, error)
    })?;
    check_halves(job, &scans, &made.textures)?;
    if let ModePlan::Remesh {
        remesh_fallback: known,
        ..
    } = &mut made.of_mode
    {
        *known = remesh_fallback;
    }
    made.write(job)?;
    Ok(made)
}

/// Halves beyond their largest number are infinite, which no player shows.
fn check_halves(
    job: &VatJob,
    scans: &[ScanRecord],
    textures: &[TextureSpec],
) -> Result<(), BakeError> {
    let space = job.settings().space();
    for spec in textures.iter().filter(|t| t.format == TexelFormat::Half) {
        let seen = scans.iter().filter_map(|s| extent_of(s, &spec.quantity));
        let seen = seen.map(|extent| space.extent(&spec.quantity, extent));
        let ends = seen.flat_map(|e| e.least.into_iter().chain(e.most));
        let found = ends.fold(0.0_f32, |most, end| most.max(end.abs()));
        let is_finite = TexelFormat::Half.holds(found);
        if !is_finite {
            return Err(BakeError::TooLargeForHalf {
                quantity: spec.quantity.clone(),
                found,
            });
        }
    }
    Ok(())
}

/// Where frames have no triangles, says whether they had some before they were prepared.
fn nothing_left(scans: &[ScanRecord], error: BakeError) -> BakeError {
    let most = scans.iter().map(|s| s.report.faces_before).max();
    match (error, most) {
        (BakeError::Plan(PlanError::Nothing { frames }), Some(most)) if most > 0 => {
            BakeError::NothingLeft { frames, most }
        }
        (error, _) => error,
    }
}

/// Names frames by their numbers, as users know them.
fn with_number(job: &VatJob, error: BakeError) -> BakeError {
    match error {
        BakeError::Plan(PlanError::Frame(source)) => BakeError::Frame {
            number: job.number(source.frame()),
            message: source.to_string(),
        },
        other => other,
    }
}

/// Where textures are too small, says which would do.
fn with_proposal(job: &VatJob, mode: &dyn BakeMode, error: BakeError) -> BakeError {
    let error = match error {
        BakeError::Layout(error)
        | BakeError::Plan(
            PlanError::Layout(error) | PlanError::Points(PointsError::Layout(error)),
        ) => error,
        other => return other,
    };
    let LayoutError::TooLarge {
        vertices,
        frames,
        limit,
    } = error
    else {
        return error.into();
    };
    let settings = job.settings();
    let files = settings.files();
    let does = |side: u32| match files.layout(vertices, frames, side) {
        None => {
            let limits = Limits {
                unit: mode.unit(),
                side,
                powers_of_two: settings.powers_of_two,
            };
            limits.fitting(vertices, frames).is_ok()
        }
        Some(layout) => layout.is_ok(),
    };
    let proposal = larger_device(limit, does);
    BakeError::TooLarge { error, proposal }
}

/// What was seen of all frames.
pub(crate) fn all_scans(job: &VatJob) -> Result<Vec<ScanRecord>, BakeError> {
    let (mut scans, mut absent) = (Vec::new(), Vec::new());
    for frame in 0..job.frame_count() {
        match job.work.read_head(FRAMES, frame, &job.key)? {
            Some(scan) => scans.push(scan),
            None => absent.push(frame),
        }
    }
    match absent.is_empty() {
        true => Ok(scans),
        false => Err(missing(job, &absent, "scans", "scan")),
    }
}

/// What was seen of a frame, in the order of the textures and in the space of their values.
pub(crate) fn frame_scan(scan: &ScanRecord, choices: &[TextureChoice], space: Space) -> FrameScan {
    let extents = choices.iter().map(|c| {
        let extent = extent_of(scan, &c.quantity)?;
        Some(space.extent(&c.quantity, extent))
    });
    FrameScan {
        triangles: scan.triangles,
        extents: extents.collect(),
    }
}

/// Extents of the textures over all frames; `nothing` is why there are none.
pub(crate) fn extents_of(
    seen: &[FrameScan],
    choices: &[TextureChoice],
    nothing: PlanError,
) -> Result<Vec<Extent>, BakeError> {
    let quantities: Vec<Quantity> = choices.iter().map(|c| c.quantity.clone()).collect();
    let extents = join_extents(seen, &quantities).map_err(PlanError::Frame)?;
    Ok(extents.ok_or(nothing)?)
}

/// [`frame_scan`] from what was seen of a number of points.
pub(crate) fn frame_scan_of(
    points: u32,
    seen: &[(Quantity, Extent)],
    choices: &[TextureChoice],
) -> FrameScan {
    let of = |c: &TextureChoice| seen.iter().find(|e| e.0 == c.quantity).map(|e| e.1.clone());
    FrameScan {
        triangles: points,
        extents: choices.iter().map(of).collect(),
    }
}

fn extent_of<'a>(scan: &'a ScanRecord, quantity: &Quantity) -> Option<&'a Extent> {
    if *quantity == Quantity::Offset {
        return scan.offset.as_ref();
    }
    scan.extents.iter().find(|e| e.0 == *quantity).map(|e| &e.1)
}

/// The middle of a box.
pub(crate) fn middle_of((low, high): &Bounds) -> [f32; 3] {
    std::array::from_fn(|k| f32::midpoint(low[k], high[k]))
}

/// The layout of what has one texel each: vertices, pieces, particles.
pub(crate) fn layout_for(job: &VatJob, vertices: u32) -> Result<Layout, BakeError> {
    let frames = index32(job.frame_count());
    let limit = job.settings().largest_side;
    let files = job.settings().files();
    if let Some(layout) = files.layout(vertices, frames, limit) {
        return Ok(layout?);
    }
    let layout = Layout::fitting(vertices, frames, 1, limit)?;
    Ok(match job.settings().powers_of_two {
        true => layout.padded_to_powers_of_two(limit)?,
        false => layout,
    })
}

/// The box of all frames; a point where no frame shows anything.
pub(crate) fn bounds_of(scans: &[ScanRecord]) -> Bounds {
    let (mut low, mut high) = ([f32::MAX; 3], [f32::MIN; 3]);
    for place in scans
        .iter()
        .filter_map(|s| extent_of(s, &Quantity::Position))
    {
        for k in 0..3 {
            low[k] = low[k].min(place.least[k]);
            high[k] = high[k].max(place.most[k]);
        }
    }
    match low[0] <= high[0] {
        true => (low, high),
        false => ([0.0; 3], [0.0; 3]),
    }
}
