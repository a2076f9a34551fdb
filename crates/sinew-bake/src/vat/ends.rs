//! Ends of frames, for blends that stay closed.

use super::job::VatJob;
use super::job::{mesh_of, missing};
use super::mode::slots_of;
use super::plan::Planned;
use super::records::MATCHES;
use super::scan::{match_frames, motion_of, triangles_of};
use super::settings::VatSettings;
use super::target::{PlacedFrame, place_end};
use crate::BakeError;
use crate::vat::maker::ends::{encode_end, grow_from};
use crate::vat::maker::matching::{FrameEnd, FrameMatch, frame_end};
use crate::vat::maker::normals::corner_normals;
use crate::vat::maker::remesh::{SlotContent, encode_frame_with};
use sinew_geom::Mesh;
use sinew_vat::playback::AtEnd;

/// What blends of a frame go towards, if anything: nothing is behind the last frame of a clip, unless it goes over into the first one.
fn follower(job: &VatJob, frame: usize) -> Option<usize> {
    let clips = job.clips();
    let clip = clips.iter().find(|c| frame < c.first + c.count)?;
    let is_last = frame + 1 == clip.first + clip.count;
    match (is_last, job.settings().at_end) {
        (false, _) => Some(frame + 1),
        (true, AtEnd::SeamlessLoop) => Some(clip.first),
        (true, _) => None,
    }
}

/// Where the first of two frames is when the second one begins.
pub(crate) fn end_of(
    settings: &VatSettings,
    [(from, normals), (to, next_normals)]: [(&Mesh, &[[[f32; 3]; 3]]); 2],
    step: &FrameMatch,
) -> FrameEnd {
    let motion = [from, to].map(|mesh| motion_of(settings, mesh));
    let pair = [
        &triangles_of(from, &motion[0]),
        &triangles_of(to, &motion[1]),
    ];
    frame_end(pair, [normals, next_normals], step)
}

/// A frame with its end.
pub(crate) struct WithEnd {
    /// What its slots show, in the space of glTF.
    pub(crate) slots: Vec<SlotContent>,
    /// Texels of its end, in the space of the textures.
    pub(crate) texels: Vec<Vec<u8>>,
    /// What they hold; nothing where a frame that nothing follows ends as it is.
    pub(crate) end: Option<FrameEnd>,
}

/// The end of a frame, and the frame with new slots where something grows in it.
pub(crate) fn with_end(
    of: Planned<'_>,
    frame: usize,
    (mesh, normals): (&Mesh, &[[[f32; 3]; 3]]),
    slots: Vec<SlotContent>,
) -> Result<WithEnd, BakeError> {
    let Planned { job, plan } = of;
    let Some(following) = follower(job, frame) else {
        let placed = PlacedFrame::new(plan, mesh, normals, &slots);
        let now = placed.shown();
        let texels = encode_frame_with(now.mesh, now.slots, &plan.textures, now.normals);
        let end = None;
        return Ok(WithEnd { slots, texels, end });
    };
    let next = mesh_of(job, following)?;
    let next_slots = slots_of(of, following)?;
    let next_normals = corner_normals(&next.topology, &next.positions, job.settings().crease());
    let step = match following > frame {
        true => of.job.work.read::<FrameMatch>(MATCHES, frame, &job.key)?,
        false => Some(match_frames(job.settings(), mesh, &next)),
    };
    let step = step.ok_or_else(|| missing(job, &[frame], "matches", "scan"))?;
    let both = [(mesh, normals), (&next, &next_normals[..])];
    let mut end = end_of(job.settings(), both, &step);
    let slots = grow_from(&slots, &next_slots, &end);
    let now = PlacedFrame::new(plan, mesh, normals, &slots);
    let then = PlacedFrame::new(plan, &next, &next_normals, &next_slots);
    place_end(plan, &mut end);
    let bounds = plan.space.bounds(&plan.bounds);
    let texels = encode_end(now.shown(), then.shown(), &end, &plan.textures, &bounds);
    let end = Some(end);
    Ok(WithEnd { slots, texels, end })
}
