//! What the second step decides: sizes, ranges and places of a bake.

use super::job::{VatJob, missing};
use super::records::{FRAMES, PLAN_FILE, ScanRecord};
use super::settings::{Mode, Space, TextureChoice};
use crate::BakeError;
use crate::vat::maker::error::ErrorSum;
use crate::vat::maker::middles::Quad;
use crate::vat::maker::plan::PlanError;
use crate::vat::maker::remesh::{FrameScan, join_extents};
use crate::work::hash_of;
use serde::{Deserialize, Serialize};
use sinew_geom::{Bounds, index32};
use sinew_vat::layout::Layout;
use sinew_vat::quantity::Quantity;
use sinew_vat::texture::{Extent, TextureSpec};

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

/// What was found of cloth that tears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TearPlan {
    /// Vertices of which the first frame has one, and the carrier two or more.
    pub split_vertices: u32,
    /// Whether no frame is torn: files split vertices where corners have other normals or texture coordinates, and frames do so at other corners.
    #[serde(default)]
    pub are_edges: bool,
}

impl TearPlan {
    /// For people.
    pub(crate) fn words(self) -> String {
        sinew_vat::manifest::split_words(self.split_vertices, self.are_edges)
    }
}

/// What was found of quads that are cut along either diagonal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetriangulatedPlan {
    /// Frames that cut the first one's surface into other triangles.
    pub frames: usize,
    /// Quads of the first frame that others cut along the other diagonal.
    pub quads: u32,
    /// Those with a vertex in their middle: frames show their own surface there.
    pub middles: Vec<Quad>,
    /// How far the carrier's surface is from that of a frame elsewhere, where the first frame's triangles are shown, metres. Corners are no part of that.
    pub off: f64,
    /// Number of the frame where it is farthest.
    pub worst: i64,
    /// How far it may be before it is warned of, metres.
    pub tolerance: f64,
    /// How far it may be where nobody asked for triangles that stay the same, metres.
    pub unasked: f64,
}

impl RetriangulatedPlan {
    /// Whether frames are shown with another surface than their own, beyond the tolerance.
    pub fn is_beyond(&self) -> bool {
        self.off > self.tolerance
    }

    /// Whether that is more than may be taken without being asked for.
    pub(crate) fn is_far(&self) -> bool {
        self.off > self.unasked
    }

    /// Why triangles are loose that might have stayed the same.
    pub fn fallback_words(&self) -> String {
        format!(
            "faces are cut into other triangles than in the first frame: shown as there the surface would be off by {:.3} mm, most in frame {} (at most {:.3} mm is taken unasked), so that triangles are loose; --mode soft keeps them together",
            self.off * 1e3,
            self.worst,
            self.unasked * 1e3,
        )
    }

    /// What is wrong where [`Self::is_beyond`], and what can be done about it; `exact` says which way of baking is exact.
    pub(crate) fn warning(&self, exact: &str) -> String {
        format!(
            "faces are cut into other triangles than in the first frame, which are shown: the surface is off by {:.3} mm at most between corners, most in frame {} (allowed {:.3} mm); exact: {exact}",
            self.off * 1e3,
            self.worst,
            self.tolerance * 1e3,
        )
    }

    /// For people.
    pub fn words(&self) -> String {
        let kept = match self.off > 0.0 {
            true => format!(
                "; surface within {:.4} mm of the frames' own where the first frame's triangles are shown",
                self.off * 1e3
            ),
            false => String::new(),
        };
        let cut = match self.frames {
            1 => "1 frame cuts".to_owned(),
            frames => format!("{frames} frames cut"),
        };
        let quads = match self.quads {
            0 => String::new(),
            1 => " (1 quad along the other diagonal)".to_owned(),
            quads => format!(" ({quads} quads along the other diagonal)"),
        };
        let exact = match self.middles.len() {
            0 => String::new(),
            1 => "; 1 quad has a vertex in its middle and is exact".to_owned(),
            middles => format!("; {middles} quads have a vertex in their middle and are exact"),
        };
        format!("{cut} faces into other triangles than the first one{quads}{exact}{kept}")
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
        job.work.write_text(PLAN_FILE, &self.text())?;
        Ok(())
    }

    /// The plan of a job.
    pub(crate) fn read(job: &VatJob) -> Result<Self, BakeError> {
        let path = job.work.file(PLAN_FILE);
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

pub(super) fn extent_of<'a>(scan: &'a ScanRecord, quantity: &Quantity) -> Option<&'a Extent> {
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
