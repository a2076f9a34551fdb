//! Triangles change: loose triangles, each of which shows one triangle of the sequence after another.

use super::{BakeMode, FrameEncoder, Reason, asked_or_default, check_quantities};
use crate::report::grouped;
use crate::vat::VatSettings;
use crate::vat::ends::with_end;
use crate::vat::job::VatJob;
use crate::vat::job::missing;
use crate::vat::maker::carrier::{carrier_box, carrier_mesh};
use crate::vat::maker::ends::ShownFrame;
use crate::vat::maker::matching::{FrameEnd, FrameMatch, SlotChain};
use crate::vat::maker::normals::corner_normals;
use crate::vat::maker::plan::{PlanError, RemeshPlan, RemeshSettings};
use crate::vat::maker::remesh::{
    FrameScan, SlotContent, encode_frame_with, slots_by_matching, slots_in_file_order,
};
use crate::vat::plan::{ModePlan, Planned, VatPlan, bounds_of, extents_of, frame_scan, middle_of};
use crate::vat::points::{self, Rest, plan_points};
use crate::vat::records::{MATCHES, SLOTS, ScanRecord};
use crate::vat::report::Reported;
use crate::vat::scan::matches_frames;
use crate::vat::settings::{Mode, Points, TextureChoice};
use crate::vat::target::PlacedFrame;
use crate::vat::texels::{Encoded, Truth, measure};
use crate::{BakeError, Watch};
use sinew_geom::{Mesh, index32};
use sinew_vat::layout::Layout;
use sinew_vat::lookup::{LOOKUP_BYTES, point_of_texel};
use sinew_vat::quantity::Quantity;
use sinew_vat::texture::TextureSpec;

pub(crate) struct Remesh;

impl BakeMode for Remesh {
    fn name(&self) -> &'static str {
        "remesh"
    }

    fn takes(&self, _job: &VatJob, _scans: &[ScanRecord]) -> bool {
        true
    }

    fn textures(&self, settings: &VatSettings) -> Vec<TextureChoice> {
        asked_or_default(settings, Mode::Remesh, Quantity::Position)
    }

    fn refuses(&self, quantity: &Quantity) -> Option<&'static str> {
        match quantity {
            Quantity::Offset => Some("triangles have nothing to be offset from; take positions"),
            Quantity::Rotation | Quantity::Size => {
                Some("modes rigid (rotation) and particles (size) have")
            }
            _ => None,
        }
    }

    fn has_first_frame(&self) -> bool {
        false
    }

    /// The corners of a triangle stay in one row.
    fn unit(&self) -> u32 {
        3
    }

    fn plan(
        &self,
        job: &VatJob,
        scans: &[ScanRecord],
        watch: &Watch<'_>,
    ) -> Result<VatPlan, BakeError> {
        let choices = self.textures(job.settings());
        check_quantities(self, &choices)?;
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
            largest_side: job.settings().files().largest_side(job.settings()),
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
            triangles: made.slots,
            layout,
            bounds: carrier_box(&bounds_of(scans)),
            space,
            textures,
            empty_slots: made.empty_slots,
            of_mode: ModePlan::Remesh {
                has_ends: settings.has_ends,
                points,
                remesh_fallback: None,
            },
        })
    }

    fn encoder<'a>(&self, of: Planned<'a>) -> Result<Box<dyn FrameEncoder + 'a>, BakeError> {
        Ok(Box::new(RemeshFrames { of }))
    }

    fn carrier(&self, of: Planned<'_>) -> Result<Mesh, BakeError> {
        let (name, slots) = (of.job.name(), of.plan.triangles);
        Ok(carrier_mesh(name, slots, &of.plan.bounds, &of.plan.layout))
    }

    fn can_blend(&self, settings: &VatSettings) -> bool {
        settings.is_matched()
    }

    fn why_more_triangles(&self, of: Planned<'_>) -> Option<Reason> {
        match (of.job.settings().is_matched(), of.plan.has_ends()) {
            (true, true) => Some((
                "more_slots",
                "a triangle that comes has its slot a frame before, where it grows out of the surface; --order file needs no more than frames have",
            )),
            (true, false) => Some((
                "more_slots",
                "a slot is free for a frame between triangles that go and come; --order file needs no more than frames have",
            )),
            (false, _) => super::more_triangles(of.plan),
        }
    }

    fn why_no_materials(&self, _of: Planned<'_>) -> Option<&'static str> {
        Some("its triangles are loose, and each shows one triangle after another")
    }

    fn why(&self, of: &Reported<'_>) -> String {
        if let Some(fallback) = of.plan.remesh_fallback() {
            return fallback.fallback_words();
        }
        match of.scans.iter().position(|s| !s.is_first_surface) {
            Some(frame) => format!(
                "frame {} has other triangles ({}) than the first one ({})",
                of.job.number(frame),
                grouped(of.scans[frame].triangles.into()),
                grouped(of.scans[0].triangles.into())
            ),
            None => "no frame has a triangle".into(),
        }
    }

    fn order(&self, settings: &VatSettings) -> Option<&'static str> {
        Some(match settings.is_matched() {
            true => "each in the slot of what it was in the frame before",
            false => "as in the file",
        })
    }

    fn empty_slots(&self) -> Option<&'static str> {
        Some("Empty triangles over all frames")
    }

    fn vertex_words(&self, vertex: usize) -> String {
        let (corner, triangle) = (vertex % 3, vertex / 3);
        format!("{vertex} (corner {corner} of triangle {triangle})")
    }
}

/// Where texels are and what they hold, as the convention has it.
fn conventional(
    job: &VatJob,
    seen: &[FrameScan],
    choices: &[TextureChoice],
    made: &RemeshPlan,
) -> Result<(Layout, Vec<TextureSpec>), BakeError> {
    let convention = &job.settings().convention;
    let (corners, limit) = (made.slots.saturating_mul(3), job.settings().largest_side);
    let frames = index32(seen.len());
    let Some(layout) = convention.files().layout(corners, frames, limit) else {
        return Ok((made.layout, made.textures.clone()));
    };
    let nothing = PlanError::Nothing { frames: seen.len() };
    let extents = extents_of(seen, choices, nothing)?;
    Ok((layout?, convention.textures(choices, &extents)))
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

/// What the slots show in a frame, as many as the plan has.
pub(crate) fn slots_of(of: Planned<'_>, frame: usize) -> Result<Vec<SlotContent>, BakeError> {
    let row: Option<Vec<SlotContent>> = of.job.work.read(SLOTS, frame, &of.job.key)?;
    let mut row = row.ok_or_else(|| missing(of.job, &[frame], "slots", "plan"))?;
    let point = middle_of(&of.plan.bounds);
    // Slots that come into use later, and those that the carrier has beyond what the sequence needs.
    row.resize(of.plan.triangles as usize, SlotContent::Absent { point });
    Ok(row)
}

/// What makes the texels of a frame.
struct RemeshFrames<'a> {
    of: Planned<'a>,
}

impl FrameEncoder for RemeshFrames<'_> {
    fn frame(&self, frame: usize, mesh: Mesh) -> Result<Encoded, BakeError> {
        let of = self.of;
        let Planned { job, plan } = of;
        let mut slots = contents(of, frame, &mesh)?;
        let crease = job.settings().crease();
        let normals = corner_normals(&mesh.topology, &mesh.positions, crease);
        let (mut of_end, mut end) = (Vec::new(), None);
        if plan.has_ends() {
            let made = with_end(of, frame, (&mesh, &normals), slots)?;
            (slots, of_end, end) = (made.slots, made.texels, made.end);
        }
        let placed = PlacedFrame::new(plan, &mesh, &normals, &slots);
        if let Some(points) = plan.points() {
            let made = points::texels(of, points, (&mesh, &normals), &placed)?;
            let point =
                |vertex: usize| point_of_texel(&made.lookup[vertex * LOOKUP_BYTES..]) as usize;
            let errors = measure(of, frame, &made.textures, point, truth_of(placed.shown()));
            let mut texels = made.textures;
            texels.push(made.lookup);
            return Ok((texels, errors));
        }
        let shown = placed.shown();
        let mut texels = encode_frame_with(shown.mesh, shown.slots, &plan.textures, shown.normals);
        let own = |vertex: usize| vertex;
        let mut errors = measure(of, frame, &texels, own, truth_of(shown));
        if let Some(end) = &end {
            let off = measure(of, frame, &of_end, own, truth_of_end(shown, end));
            (errors.end_position, errors.end_normal) = (off.position, off.normal);
        }
        texels.extend(of_end);
        Ok((texels, errors))
    }
}

/// The same at the end of the frame: where corners land on the next frame's surface, and the normals that this has there.
fn truth_of_end(shown: ShownFrame<'_>, end: &FrameEnd) -> impl Fn(usize) -> Option<Truth> {
    move |vertex| {
        let (t, corner) = shown.slots[vertex / 3].corner(vertex % 3)?;
        let v = shown.mesh.topology.triangles()[t][corner] as usize;
        // What vanishes or lands nowhere has no place on that surface.
        end.landings[v].map(|_| Truth {
            place: end.points[v],
            normal: end.normals[t][corner],
            rest: [0.0; 3],
        })
    }
}

/// Where corners of slots are, and where their normals point.
fn truth_of(shown: ShownFrame<'_>) -> impl Fn(usize) -> Option<Truth> {
    move |vertex| {
        let (t, corner) = shown.slots[vertex / 3].corner(vertex % 3)?;
        let v = shown.mesh.topology.triangles()[t][corner] as usize;
        Some(Truth {
            place: shown.mesh.positions[v],
            normal: shown.normals[t][corner],
            rest: [0.0; 3],
        })
    }
}

/// What the slots show in a frame.
fn contents(of: Planned<'_>, frame: usize, mesh: &Mesh) -> Result<Vec<SlotContent>, BakeError> {
    let absent = middle_of(&of.plan.bounds);
    let count = of.plan.triangles;
    match of.job.settings().is_matched() {
        true => slots_of(of, frame),
        false => {
            let triangles = index32(mesh.topology.triangles().len());
            Ok(slots_in_file_order(triangles, count, absent))
        }
    }
}
