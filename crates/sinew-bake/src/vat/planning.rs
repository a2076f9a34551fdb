//! The second step: sizes, ranges and places, from what was seen of all frames and from nothing else.

use super::detect::chosen_mode;
use super::job::VatJob;
use super::mode::{self, BakeMode};
use super::plan::{ModePlan, VatPlan, all_scans, extent_of};
use super::records::ScanRecord;
use crate::vat::maker::plan::PlanError;
use crate::vat::maker::points::PointsError;
use crate::{BakeError, Watch};
use sinew_vat::layout::{LayoutError, Limits, larger_device};
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::TextureSpec;

impl VatPlan {
    /// The steps of its mode.
    pub(crate) fn steps(&self) -> &'static dyn BakeMode {
        mode::of(self.mode())
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
