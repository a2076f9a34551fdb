//! Faces that frames cut into other triangles than the carrier: the surface that is shown against the frame's own.

use super::judge::Judge;
use super::remesh::corners_of;
use crate::vat::maker::retriangulated::{Retriangulated, surface_gap};
use serde::Serialize;
use sinew_geom::Mesh;
use sinew_geom::vec3::length;

/// How far the surface that a bake shows is from the frames' own, where their triangles are others.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SurfaceErrors {
    /// Triangles of frames that the carrier does not have, over all frames.
    pub triangles: usize,
    /// Frames with such triangles.
    pub frames: usize,
    /// The greatest distance, metres: of 45 points of each triangle from the other surface, both ways.
    pub largest: f64,
    /// How far it may be: what the manifest says, half a step of the codes, and what single precision loses.
    pub allowed: f64,
    /// Number of the frame where it is farthest.
    pub worst: Option<i64>,
    /// The first frame that is farther off than that, by its number.
    pub first_wrong: Option<i64>,
}

impl SurfaceErrors {
    /// What is known before a frame was looked at; `beyond` is what comes to half a step of each coordinate.
    pub(super) fn nothing(judge: &Judge<'_>, beyond: f64) -> Self {
        let promised = length(judge.promised());
        let stated = judge.animation.manifest().surface_off.unwrap_or(0.0);
        Self {
            allowed: stated + beyond + promised * 1.001 + judge.rounding_on_surfaces(),
            ..Self::default()
        }
    }

    /// Looks at a frame: `shown` are the carrier's triangles in the frame's numbers, `seen` where the corners of one of them are.
    pub(super) fn take(
        &mut self,
        (shown, mesh): (&[[u32; 3]], &Mesh),
        seen: impl Fn(usize) -> [[f32; 3]; 3],
        number: i64,
    ) {
        let retriangulated = Retriangulated::between(shown, mesh.topology.triangles());
        if retriangulated.is_empty() {
            return;
        }
        let shown: Vec<_> = retriangulated
            .shown
            .iter()
            .map(|t| seen(*t as usize))
            .collect();
        let own = retriangulated
            .own
            .iter()
            .map(|t| corners_of(mesh, *t as usize));
        let own: Vec<_> = own.collect();
        let off = surface_gap(&shown, &own);
        self.triangles += own.len();
        self.frames += 1;
        if self.worst.is_none() || off > self.largest {
            (self.largest, self.worst) = (off, Some(number));
        }
        if off.is_nan() || off > self.allowed {
            self.first_wrong.get_or_insert(number);
        }
    }

    /// Takes those of a later frame.
    pub(super) fn join(&mut self, later: &Self) {
        self.triangles += later.triangles;
        self.frames += later.frames;
        self.first_wrong = self.first_wrong.or(later.first_wrong);
        self.allowed = self.allowed.max(later.allowed);
        if later.worst.is_some() && (self.worst.is_none() || later.largest > self.largest) {
            (self.largest, self.worst) = (later.largest, later.worst);
        }
    }

    /// For people: nothing where all frames have the carrier's triangles.
    #[must_use]
    pub fn words(&self) -> String {
        if self.triangles == 0 {
            return String::new();
        }
        let counted = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            _ => format!("{count} {what}s"),
        };
        let frames = counted(self.frames, "frame");
        let triangles = counted(self.triangles, "triangle");
        format!(
            "; {frames} cut faces otherwise than the carrier ({triangles} in all): what is shown there is within {:.4} mm of their surface (allowed {:.4} mm)",
            self.largest * 1e3,
            self.allowed * 1e3
        )
    }
}
