//! Converts pose drivers of other systems' files to Sinew's graphs and back.
//!
//! All conversions use one [`Solver`]: its driver joints, its method, and what it drives. Each conversion lists data
//! that it cannot convert ([`Loss`]). To keep a file in its own format, write the document that was read instead: it
//! has all fields, including those of other programs, and unchanged numbers. Angles are in radians and lengths in
//! metres here. Readers and this module convert the units and conventions of files.

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

/// A pose driver and what it drives.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Solver {
    /// Its name.
    pub name: String,
    /// Names of the driver joints.
    pub joints: Vec<String>,
    /// True if the poses are relative to the rest pose; false if they are relative to the parent joints.
    pub relative_to_rest: bool,
    /// All poses and the method.
    pub driver: PoseDriver,
    /// For each pose: true if it is enabled.
    pub enabled: Vec<bool>,
    /// Authored transforms of the driver joints in each pose. (The driver keeps rotation and position.)
    pub driver_transforms: Vec<Vec<Affine<f64>>>,
    /// Names of driven helper joints.
    pub driven_joints: Vec<String>,
    /// For each pose, their transforms relative to their parents; empty if there are no driven joints.
    pub driven_transforms: Vec<Vec<Affine<f64>>>,
    /// For each pose, the morph target that it drives; empty for none.
    pub morph_targets: Vec<String>,
}

/// Data that a format cannot store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// Name of the solver.
    pub solver: String,
    /// The data, and what replaces it.
    pub what: String,
    /// True if nothing is lost: the format does not define the meaning of a field, and this is the assumed one.
    pub assumed: bool,
}

/// Losses of all solvers, in order.
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

    /// Losses without assumptions.
    pub fn lost(&self) -> impl Iterator<Item = &Loss> {
        self.0.iter().filter(|loss| !loss.assumed)
    }
}

/// Lists each field outside the format that has a value. `of` is the prefix of its owner.
fn other_fields(extra: &ExtraFields, of: &str, lost: &mut impl FnMut(String)) {
    let given = extra.values.iter().filter(|(_, value)| !value.is_null());
    for (key, _) in given {
        lost(format!("{of}the field '{key}'"));
    }
}

impl Solver {
    /// Poses and whether each is enabled.
    fn poses(&self) -> impl Iterator<Item = (usize, bool)> {
        (0..self.driver.poses.len()).map(|i| (i, self.enabled.get(i).copied().unwrap_or(true)))
    }
}
