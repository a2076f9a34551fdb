//! The second step: sizes, ranges and places, from what was seen of all frames and from nothing else.

use super::detect::chosen_mode;
use super::job::VatJob;
use super::particles::plan_particles;
use super::points::{Rest, plan_points};
use super::records::{FRAMES, MATCHES, SLOTS, ScanRecord};
use super::recut::{RecutPlan, measured_recut};
use super::rigid::plan_rigid;
use super::scan::{matches_frames, mesh_of, missing};
use super::settings::{Mode, Points, Space, TextureChoice};
use super::shapes::check_quantities;
use super::tearing::{TearPlan, is_torn, not_soft, plan_tears};
use crate::vat::maker::carrier::carrier_box;
use crate::vat::maker::error::ErrorSum;
use crate::vat::maker::matching::{FrameMatch, SlotChain};
use crate::vat::maker::plan::{PlanError, RemeshPlan, RemeshSettings};
use crate::vat::maker::points::PointsError;
use crate::vat::maker::remesh::{FrameScan, SlotContent, join_extents, slots_by_matching};
use crate::vat::maker::soft::SoftCarrier;
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
    /// How the sequence is taken.
    pub mode: Mode,
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
    /// Whether each frame of the sequence is two of the layout: itself and its end.
    pub has_ends: bool,
    /// Of pieces, where the bake is one of pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pieces: Option<PiecePlan>,
    /// Of tears, where the bake is one of cloth that tears.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tears: Option<TearPlan>,
    /// Of faces that frames cut into other triangles than the first one, where triangles stay the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recut: Option<RecutPlan>,
    /// The same where triangles are loose because that would be too far off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loosened: Option<RecutPlan>,
    /// Of unique points, where these have the texels. [`Self::layout`] is that of the lookup then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<PointPlan>,
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

    /// Frames of the layout for each frame of the sequence.
    pub(crate) fn frame_step(&self) -> u32 {
        if self.has_ends { 2 } else { 1 }
    }

    /// Where the texels of textures are; those of a lookup are where [`Self::layout`] says.
    pub(crate) fn texture_layout(&self) -> &Layout {
        self.points.as_ref().map_or(&self.layout, |p| &p.layout)
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
    let (mode, loosened) = chosen_mode(job, &scans, watch)?;
    let convention = job.settings().convention;
    convention.check_sequence(job.settings(), mode, job.frame_count())?;
    let made = match mode {
        Mode::Remesh => plan_remesh(job, &scans, watch),
        Mode::Soft => plan_soft(job, &scans, watch),
        Mode::Rigid => plan_rigid(job, &scans, watch),
        Mode::Particles => plan_particles(job, &scans, watch),
    };
    let mut made = made.map_err(|e| {
        let error = nothing_left(&scans, with_number(job, e));
        with_proposal(job, mode, error)
    })?;
    check_halves(job, &scans, &made.textures)?;
    made.loosened = loosened;
    job.work.write_text(FILE, &made.text())?;
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
fn with_proposal(job: &VatJob, mode: Mode, error: BakeError) -> BakeError {
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
    let (settings, convention) = (job.settings(), job.settings().convention);
    let does = |side: u32| match convention.layout(vertices, frames, side) {
        Ok(None) => {
            let limits = Limits {
                // The corners of a triangle stay in one row.
                unit: if mode == Mode::Remesh { 3 } else { 1 },
                side,
                powers_of_two: settings.powers_of_two,
            };
            limits.fitting(vertices, frames).is_ok()
        }
        other => other.is_ok(),
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

fn plan_remesh(
    job: &VatJob,
    scans: &[ScanRecord],
    watch: &Watch<'_>,
) -> Result<VatPlan, BakeError> {
    let choices = job.settings().textures_of(Mode::Remesh);
    check_quantities(Mode::Remesh, &choices)?;
    let fullest = scans.iter().map(|s| s.triangles).max().unwrap_or(0);
    let (slots, rests) = match matches_frames(job.settings()) {
        true => compose(job, scans, watch)?,
        false => {
            let rests = scans.iter().map(|s| Rest::behind(s.triangles));
            (fullest, rests.collect())
        }
    };
    let settings = RemeshSettings {
        textures: choices
            .iter()
            .map(|c| (c.quantity.clone(), c.format))
            .collect(),
        largest_side: job.settings().convention.largest_side(job.settings()),
        powers_of_two: job.settings().powers_of_two,
        has_ends: matches_frames(job.settings()) && job.settings().has_ends(),
    };
    let space = job.settings().space();
    let seen = scans.iter().map(|s| frame_scan(s, &choices, space));
    let seen: Vec<FrameScan> = seen.collect();
    let made = RemeshPlan::with_slots(&seen, slots, &settings)?;
    let (layout, textures) = conventional(job, &seen, &choices, &made)?;
    let points = match job.settings().has_unique_points() {
        true => Some(plan_points(scans, &rests, made.slots, &settings)?),
        false => None,
    };
    Ok(VatPlan {
        hash: String::new(),
        job: job.key.clone(),
        mode: Mode::Remesh,
        triangles: made.slots,
        layout,
        bounds: carrier_box(&bounds_of(scans)),
        space,
        textures,
        empty_slots: made.empty_slots,
        has_ends: settings.has_ends,
        pieces: None,
        tears: None,
        recut: None,
        loosened: None,
        points,
    })
}

/// Where texels are and what they hold, as the convention has it.
fn conventional(
    job: &VatJob,
    seen: &[FrameScan],
    choices: &[TextureChoice],
    made: &RemeshPlan,
) -> Result<(Layout, Vec<TextureSpec>), BakeError> {
    let convention = job.settings().convention;
    let (corners, limit) = (made.slots.saturating_mul(3), job.settings().largest_side);
    let frames = index32(seen.len());
    let Some(layout) = convention.layout(corners, frames, limit)? else {
        return Ok((made.layout, made.textures.clone()));
    };
    let quantities: Vec<Quantity> = choices.iter().map(|c| c.quantity.clone()).collect();
    let nothing = PlanError::Nothing { frames: seen.len() };
    let extents = join_extents(seen, &quantities).map_err(PlanError::Frame)?;
    let extents = extents.ok_or(nothing)?;
    Ok((layout, convention.textures(choices, &extents)))
}

/// What was seen of a frame, in the order of the textures and in the space of their values.
fn frame_scan(scan: &ScanRecord, choices: &[TextureChoice], space: Space) -> FrameScan {
    let extents = choices.iter().map(|c| {
        let extent = extent_of(scan, &c.quantity)?;
        Some(space.extent(&c.quantity, extent))
    });
    FrameScan {
        triangles: scan.triangles,
        extents: extents.collect(),
    }
}

/// The same from what was seen of a number of points.
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

/// Follows triangles through the sequence; one row and one match are in memory. Gives the number of slots, and of each frame what those without a
/// triangle need.
fn compose(
    job: &VatJob,
    scans: &[ScanRecord],
    watch: &Watch<'_>,
) -> Result<(u32, Vec<Rest>), BakeError> {
    let stage = watch.stage("slots", scans.len());
    let elsewhere = middle_of(&bounds_of(scans));
    // Where points have texels, all slots that are not used share one; otherwise each stays where it was.
    let keeps_places = job.settings().points == Points::Corners;
    let mut rests = Vec::with_capacity(scans.len());
    let mut slots = 0;
    for clip in job.clips() {
        // Every clip begins anew: all slots are free for its first frame.
        let first = scans.get(clip.first).map_or(0, |s| s.triangles);
        let mut chain = SlotChain::new(first as usize);
        if job.settings().has_ends() {
            chain = chain.freed_at_once();
        }
        let mut before: Option<Vec<SlotContent>> = None;
        let mut keep = |frame: usize, row: &[_]| {
            let contents = slots_by_matching(row, before.as_deref(), elsewhere);
            rests.push(Rest::of(&contents, elsewhere));
            job.work.write(SLOTS, frame, &job.key, &contents)?;
            before = keeps_places.then_some(contents);
            stage.step();
            Ok::<_, BakeError>(())
        };
        let last = clip.first + clip.count - 1;
        for frame in clip.first..last {
            stage.go_on()?;
            let step: Option<FrameMatch> = job.work.read(MATCHES, frame, &job.key)?;
            let step = step.ok_or_else(|| missing(job, &[frame], "matches", "scan"))?;
            keep(frame, &chain.advance(&step)?)?;
        }
        let row = chain.finish();
        keep(last, &row)?;
        slots = slots.max(row.len());
    }
    Ok((index32(slots), rests))
}

/// The middle of a box.
pub(crate) fn middle_of((low, high): &Bounds) -> [f32; 3] {
    std::array::from_fn(|k| f32::midpoint(low[k], high[k]))
}

/// What the slots show in a frame, as many as the plan has.
pub(crate) fn slots_of(
    job: &VatJob,
    plan: &VatPlan,
    frame: usize,
) -> Result<Vec<SlotContent>, BakeError> {
    let row: Option<Vec<SlotContent>> = job.work.read(SLOTS, frame, &job.key)?;
    let mut row = row.ok_or_else(|| missing(job, &[frame], "slots", "plan"))?;
    let point = middle_of(&plan.bounds);
    // Slots that come into use later, and those that the carrier has beyond what the sequence needs.
    row.resize(plan.triangles as usize, SlotContent::Absent { point });
    Ok(row)
}

type Kept = (SoftCarrier, Option<TearPlan>, Option<RecutPlan>);

/// The carrier of triangles that stay the same, its tears if it has some, and what frames cut otherwise.
fn carrier_for(job: &VatJob, scans: &[ScanRecord], watch: &Watch<'_>) -> Result<Kept, BakeError> {
    let first = mesh_of(job, 0)?;
    let settings = job.settings();
    if is_torn(scans, settings.mode.is_some()) {
        let (carrier, tears) = plan_tears(job, &first, scans, watch)?;
        let recut = measured_recut(job, (Mode::Soft, true), scans, watch)?;
        return Ok((carrier, Some(tears), recut));
    }
    let recut = measured_recut(job, (Mode::Soft, false), scans, watch)?;
    let middles = recut.as_ref().map_or(&[][..], |r| &r.middles[..]);
    let carrier = SoftCarrier::with_middles(&first, settings.crease(), middles);
    for (frame, scan) in scans.iter().enumerate() {
        if !scan.is_first_surface {
            let checked = carrier.check(&mesh_of(job, frame)?);
            checked.map_err(|source| not_soft(job, frame, source))?;
        }
    }
    Ok((carrier, None, recut))
}

fn plan_soft(job: &VatJob, scans: &[ScanRecord], watch: &Watch<'_>) -> Result<VatPlan, BakeError> {
    let (carrier, tears, recut) = carrier_for(job, scans, watch)?;
    let choices = job.settings().textures_of(Mode::Soft);
    check_quantities(Mode::Soft, &choices)?;
    let quantities: Vec<Quantity> = choices.iter().map(|c| c.quantity.clone()).collect();
    let (convention, space) = (&job.settings().convention, job.settings().space());
    let seen = scans.iter().map(|s| frame_scan(s, &choices, space));
    let seen: Vec<FrameScan> = seen.collect();
    let nothing = PlanError::Nothing {
        frames: scans.len(),
    };
    let extents = join_extents(&seen, &quantities).map_err(PlanError::Frame)?;
    let extents = extents.ok_or(nothing)?;
    let vertices = index32(carrier.vertex_count());
    Ok(VatPlan {
        hash: String::new(),
        job: job.key.clone(),
        mode: Mode::Soft,
        triangles: index32(carrier.triangles().len()),
        layout: layout_for(job, vertices)?,
        bounds: bounds_of(scans),
        space,
        textures: convention.textures(&choices, &extents),
        empty_slots: 0.0,
        has_ends: false,
        pieces: None,
        tears,
        recut,
        loosened: None,
        points: None,
    })
}

/// The layout of what has one texel each: vertices, pieces, particles.
pub(crate) fn layout_for(job: &VatJob, vertices: u32) -> Result<Layout, BakeError> {
    let frames = index32(job.frame_count());
    let limit = job.settings().largest_side;
    if let Some(layout) = job.settings().convention.layout(vertices, frames, limit)? {
        return Ok(layout);
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
