//! Any deformation as linear skinning: weights that fit samples of it, joints that are added where weights alone do not do, and sparse morph
//! targets for what is left.
//!
//! ```text
//! samples -> weights -> helpers and weights in turn -> morph targets -> file -> what the file shows against the samples
//! ```
//!
//! The mathematics ([`fit_skin`], [`fit_correctives`]) knows arrays only, no files and no graphs. Each vertex has the rest position `v`, the joints'
//! transforms `M_j(s)` and the deformed position `x(s)` of each sample `s`; its weights are
//!
//! ```text
//! argmin  sum_s | sum_j w_j M_j(s) v - x(s) |^2  +  m sum_j (w_j - a_j)^2 / b_j      w >= 0,  sum w = 1,  at most K above zero
//! ```
//!
//! with the authored weights `a`, and `b` the same spread over the mesh. The sum is over the offsets `M_j(s) v - x(s)`, which is the same since weights sum to one and is exact far from the origin, too. The second term
//! decides where samples do not: a joint that moves in none of them against the others keeps its authored weight, and what joints lose or gain that
//! samples do not tell apart is shared in the proportions `b`. So clips that were not sampled play much as before.
//!
//! Sources: Mohr and Gleicher, "Building efficient, accurate character skins from examples", 2003, and James and Twigg, "Skinning mesh animations",
//! 2005 (weights by least squares under constraints); Le and Deng, "Smooth Skinning Decomposition with Rigid Bones", 2012, and "Robust and accurate
//! skeletal rigging from mesh sequences", 2014 (helpers); Kry, James and Pai, "EigenSkin", 2002 (displacements before skinning).

mod candidates;
mod correctives;
mod error;
mod fit;
mod helpers;
mod local;
mod measure;
mod report;
mod rigid;
mod samples;
mod settings;
#[cfg(test)]
mod tests;
mod weights;

pub use correctives::{Correctives, add_normals, extreme_samples, fit_correctives, left_over};
pub use error::SkinError;
pub use fit::{SkinFit, Step, fit_skin};
pub use helpers::Helper;
pub use local::local_targets;
pub use measure::{
    Distance, Measured, PoseOf, ShownFile, measure_file, measure_rows, measure_samples,
    shown_by_rows,
};
pub use report::{SkinClipReport, SkinDriver, SkinMoment, SkinReport, colors_of, write_report};
pub use samples::{SampleGroup, SkinProblem, SkinSamples};
pub use settings::{SkinSettings, WeightMethod, check_correctives};
