//! Pose drivers of other systems' files as ours, and back.
//!
//! Everything goes through one [`Solver`]: what is watched, how it is solved, what is driven. Each way in and out adds to a list of what
//! could not be carried ([`Loss`]), so that nothing disappears without a word. Where a file keeps its format, write the document that was read
//! instead: it holds every field, those of other programs included, and numbers as they were. Angles are radians and lengths metres here; files have their
//! own units and conventions, which are converted by their readers and here at the edge.

mod graph_in;
mod graph_out;
mod pose_wrangler;
mod psd_json;
mod samples;
#[cfg(test)]
mod tests;

use crate::io::pose_driver::ExtraFields;
pub use graph_in::solvers_of_plan;
pub use graph_out::graph_text;
pub use pose_wrangler::{from_pose_wrangler, to_pose_wrangler};
pub use psd_json::{from_psd, to_psd};
pub use samples::from_samples;

use crate::deform::pose_driver::PoseDriver;
use crate::geom::Affine;

/// A pose driver with what it drives.
#[derive(Clone, Debug, PartialEq)]
pub struct Solver {
    /// Its name.
    pub name: String,
    /// Joints that are watched.
    pub joints: Vec<String>,
    /// Whether the poses are relative to where the joints rest, instead of to their parents.
    pub relative_to_rest: bool,
    /// All poses and how they are solved.
    pub driver: PoseDriver,
    /// Whether each pose takes part.
    pub enabled: Vec<bool>,
    /// Where the driver joints are in each pose, as it was authored (the driver keeps rotation and place).
    pub driver_transforms: Vec<Vec<Affine<f64>>>,
    /// Helper joints that are driven.
    pub driven_joints: Vec<String>,
    /// For each pose where each of them is, relative to its parent; empty where none is driven.
    pub driven_transforms: Vec<Vec<Affine<f64>>>,
    /// For each pose the morph target that it drives; empty for none.
    pub morph_targets: Vec<String>,
}

/// Something that a format has no place for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Name of the solver.
    pub solver: String,
    /// What, and what stands instead.
    pub what: String,
    /// Nothing is lost: the format does not say what a field means, and this is what it is taken for.
    pub assumed: bool,
}

/// What could not be carried, solver after solver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses(pub Vec<Loss>);

impl Losses {
    fn of<'a>(&'a mut self, solver: &'a str) -> impl FnMut(String) + 'a {
        move |what| self.push(solver, what, false)
    }

    fn push(&mut self, solver: &str, what: String, assumed: bool) {
        let solver = solver.to_owned();
        self.0.push(Loss {
            solver,
            what,
            assumed,
        });
    }

    /// What is lost, without what is only assumed.
    pub fn lost(&self) -> impl Iterator<Item = &Loss> {
        self.0.iter().filter(|loss| !loss.assumed)
    }
}

/// Names each field that a format does not define; those without a value are none. `of` is what has them.
fn other_fields(extra: &ExtraFields, of: &str, lost: &mut impl FnMut(String)) {
    let given = extra.values.iter().filter(|(_, value)| !value.is_null());
    for (key, _) in given {
        lost(format!("{of}the field '{key}'"));
    }
}

impl Solver {
    /// Poses and whether each takes part.
    fn poses(&self) -> impl Iterator<Item = (usize, bool)> {
        (0..self.driver.poses.len()).map(|i| (i, self.enabled.get(i).copied().unwrap_or(true)))
    }
}
