//! What is done to each frame by itself before anything is written.
//!
//! ```text
//! mesh -> hidden -> touching -> relax -> simplify -> relax -> mesh + report
//! ```
//!
//! * [`hidden`]: faces that cannot be seen from outside go.
//! * [`touching`]: faces that lie on given surfaces go.
//! * [`relax`]: positions are smoothed, volume is kept.
//! * [`simplify`]: the number of faces is brought to a target, thin triangles are flipped away.
//!
//! Each step is optional and says what it did. [`prepare`] depends on nothing but its arguments: the same mesh and
//! settings give the same bits on any number of threads, so frames can be prepared in any order.
//!
//! Degenerate geometry is legal: faces without area, faces given twice, vertices without faces, edges of many faces,
//! meshes of points, strands or nothing. Faces with a corner that is not finite are dropped before the first step.

mod faces;
mod shape;
mod vector;

pub(crate) mod hidden;
pub(crate) mod relax;
pub(crate) mod simplify;
pub(crate) mod touching;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use hidden::{HiddenReport, HiddenSettings};
use relax::{RelaxReport, RelaxSettings};
use serde::{Deserialize, Serialize};
use simplify::{SimplifyReport, SimplifySettings};
use sinew_geom::{Mesh, MeshError};
use touching::{TouchingReport, TouchingSettings};

/// What to do to a frame; a step that is `None` is left out. The default leaves every step out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrepareSettings {
    /// First: delete the faces that are never seen from outside.
    pub hidden: Option<HiddenSettings>,
    /// Second: delete the faces that touch given surfaces.
    pub touching: Option<TouchingSettings>,
    /// Third: smooth the positions as they came, against the noise of coarse simulations.
    pub relax_before: Option<RelaxSettings>,
    /// Fourth: bring the number of faces to a target.
    pub simplify: Option<SimplifySettings>,
    /// Fifth: smooth what simplification left, against uneven triangles.
    pub relax_after: Option<RelaxSettings>,
}

/// What was done to a frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PrepareReport {
    /// Faces of the mesh that came in.
    pub faces_before: usize,
    /// Faces of the mesh that went out.
    pub faces_after: usize,
    /// Vertices of the mesh that came in.
    pub vertices_before: usize,
    /// Vertices of the mesh that went out.
    pub vertices_after: usize,
    /// Faces dropped because a corner was infinite or not a number.
    pub faces_not_finite: usize,
    /// What the first step did, where it was asked for.
    pub hidden: Option<HiddenReport>,
    /// What the second step did, where it was asked for.
    pub touching: Option<TouchingReport>,
    /// What the third step did, where it was asked for.
    pub relax_before: Option<RelaxReport>,
    /// What the fourth step did, where it was asked for.
    pub simplify: Option<SimplifyReport>,
    /// What the fifth step did, where it was asked for.
    pub relax_after: Option<RelaxReport>,
}

/// Why a frame could not be prepared. Geometry is never the reason, however degenerate.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum PrepareError {
    /// The mesh does not hold together.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A number in the settings makes no sense.
    #[error("{setting} is {found}, expected {expected}")]
    Setting {
        /// Which one, as `step.field`.
        setting: &'static str,
        /// The number given.
        found: f64,
        /// What would do.
        expected: &'static str,
    },
    /// A plane has no direction or place.
    #[error("plane {plane} has a normal of no length or numbers that are not finite")]
    Plane {
        /// Index of the plane.
        plane: usize,
    },
    /// A triangle of a surface has a corner that does not exist or is not finite.
    #[error(
        "triangle {triangle} of surface {surface} has a corner that does not exist or is not finite"
    )]
    Surface {
        /// Index of the surface.
        surface: usize,
        /// Index of the triangle in it.
        triangle: usize,
    },
}

impl PrepareSettings {
    /// Whether a step may take faces away or make others of them.
    pub fn removes_faces(&self) -> bool {
        self.hidden.is_some() || self.touching.is_some() || self.simplify.is_some()
    }

    /// Whether the settings make sense, without a mesh.
    ///
    /// # Errors
    /// [`PrepareError`] names the first that does not.
    pub fn check(&self) -> Result<(), PrepareError> {
        self.hidden.as_ref().map_or(Ok(()), HiddenSettings::check)?;
        self.touching
            .as_ref()
            .map_or(Ok(()), TouchingSettings::check)?;
        self.relax_before
            .as_ref()
            .map_or(Ok(()), RelaxSettings::check)?;
        self.simplify
            .as_ref()
            .map_or(Ok(()), SimplifySettings::check)?;
        self.relax_after
            .as_ref()
            .map_or(Ok(()), RelaxSettings::check)
    }
}

/// Prepares one frame: the steps of `settings` in their order, and a report of each.
///
/// Attributes follow their vertices: normals, tangents, texture coordinates, colours, user attributes, joint weights
/// and morph targets. Smoothing turns normals and tangents with the surface. Where faces are deleted, vertices without faces go
/// too, and [`Mesh::parts`] and polygons are dropped. Without a step the mesh comes back as it is.
///
/// # Errors
/// [`PrepareError`] when the settings make no sense or the mesh does not hold together.
///
/// # Cost
/// The sum of the steps; see their modules.
pub(crate) fn prepare(
    mesh: &Mesh,
    settings: &PrepareSettings,
) -> Result<(Mesh, PrepareReport), PrepareError> {
    settings.check()?;
    mesh.check()?;
    let (mut out, faces_not_finite) = faces::without_not_finite(mesh);
    let mut report = PrepareReport {
        faces_before: mesh.topology.triangles().len(),
        vertices_before: mesh.vertex_count(),
        faces_not_finite,
        ..PrepareReport::default()
    };
    report.hidden = settings
        .hidden
        .as_ref()
        .map(|s| hidden::delete(&mut out, s));
    report.touching = settings
        .touching
        .as_ref()
        .map(|s| touching::delete(&mut out, s));
    report.relax_before = settings
        .relax_before
        .as_ref()
        .map(|s| relax::relax(&mut out, s));
    report.simplify = settings
        .simplify
        .as_ref()
        .map(|s| simplify::simplify(&mut out, s));
    report.relax_after = settings
        .relax_after
        .as_ref()
        .map(|s| relax::relax(&mut out, s));
    report.faces_after = out.topology.triangles().len();
    report.vertices_after = out.vertex_count();
    Ok((out, report))
}

/// `Ok` where `holds`, otherwise the error that names the setting.
fn expect(
    holds: bool,
    setting: &'static str,
    found: impl Into<f64>,
    expected: &'static str,
) -> Result<(), PrepareError> {
    let found = found.into();
    if holds {
        return Ok(());
    }
    Err(PrepareError::Setting {
        setting,
        found,
        expected,
    })
}
