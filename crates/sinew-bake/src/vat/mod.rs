//! Vertex animation textures of a sequence.

mod assemble;
mod blend_error;
mod checks;
mod convention;
mod detect;
mod earlier;
mod ends;
mod job;
pub(crate) mod maker;
mod mode;
mod pictures;
mod plan;
mod planning;
#[cfg(test)]
mod player_bakes;
mod points;
mod preparation;
mod quantities;
mod read;
mod records;
mod report;
mod retriangulated;
mod scan;
mod settings;
mod shapes;
mod target;
mod tearing;
#[cfg(test)]
mod tests;
mod texels;
mod textures;
mod verify;

pub use assemble::{SimplifiedSummary, Summary, assemble};
pub use blend_error::{BlendError, HeldBack, HeldBackPictures, blend_error};
pub use job::{VatJob, name_of, remove_work};
pub use maker::error::ErrorSum;
pub use maker::matching::{SlotsError, SurfaceDistance};
pub use maker::middles::Quad;
pub use maker::particles::ParticlesError;
pub use maker::plan::PlanError;
pub use maker::prepare::hidden::HiddenSettings;
pub use maker::prepare::relax::RelaxSettings;
pub use maker::prepare::simplify::SimplifySettings;
pub use maker::prepare::{PrepareError, PrepareSettings};
pub use maker::rigid::PiecesError;
pub use maker::soft::SoftError;
pub use plan::{ModePlan, PiecePlan, PointPlan, RetriangulatedPlan, TearPlan, VatPlan};
pub use planning::plan;
pub use preparation::verify;
pub use quantities::QuantityErrors;
pub use read::{read_animation, read_manifest};
pub use records::MeshRecord;
pub use scan::scan;
pub use settings::{
    Convention, Mode, OpenVat, Points, SideFx, Space, TextureChoice, TriangleOrder, VatSettings,
};
pub use shapes::{ParticleSettings, PieceSettings};
pub use sinew_vat::manifest::split_words;
pub use texels::texels;
pub use verify::{EndErrors, Fault, SurfaceErrors, Verified};

use crate::{BakeError, Chunk, FrameSource, Watch};
use std::path::Path;

/// All steps: what `sinew bake vat` does. Goes on where `work` was left by a bake of the same settings and frames.
///
/// Memory: as many frames as there are threads, and the row of the matching.
///
/// # Errors
/// [`BakeError`]; `out` is as it was then.
pub fn bake(
    source: &dyn FrameSource,
    settings: &VatSettings,
    work: &Path,
    out: &Path,
    watch: &Watch<'_>,
) -> Result<Summary, BakeError> {
    earlier::check(source, settings, out)?;
    let job = VatJob::begin(work, source, settings)?;
    scan(&job, source, Chunk::ALL, watch)?;
    plan(&job, watch)?;
    texels(&job, Chunk::ALL, watch)?;
    assemble(&job, out, watch)
}
