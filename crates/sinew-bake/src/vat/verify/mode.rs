//! What is compared in each mode.

use super::Verified;
use super::carrier::Fault;
use super::ends::EndJudge;
use super::judge::Judge;
use crate::BakeError;
use crate::vat::maker::soft::SoftError;
use sinew_geom::{Bounds, Mesh};
use sinew_vat::manifest::Manifest;

/// How bakes of a mode are compared with their sequence.
pub(crate) trait JudgedMode {
    /// The triangles that the carrier has in every bake; `None` where they are the sequence's.
    fn triangles(&self, _manifest: &Manifest) -> Option<Vec<[u32; 3]>> {
        None
    }

    /// The texel of a vertex of the carrier; `None` where the sequence tells.
    fn texel_of(&self, vertex: usize) -> Option<usize> {
        Some(vertex)
    }

    /// What else is wrong with the carrier, before a frame was loaded.
    fn carrier_fault(&self, _carrier: &Mesh) -> Option<Fault> {
        None
    }

    /// Why frames can always be blended; `None` where bakes that step are made, too.
    fn must_blend(&self, _manifest: &Manifest) -> Option<&'static str> {
        None
    }

    /// Whether vertices have texels of their own, whose quantities are compared with the frames'.
    fn has_texel_per_vertex(&self) -> bool {
        true
    }

    /// What judges frames.
    ///
    /// # Errors
    /// [`BakeError`] where the first frame is none of the bake's.
    fn judge<'a>(&self, judge: &Judge<'a>) -> Result<Box<dyn FrameJudge + 'a>, BakeError>;
}

/// What judges the frames of one bake.
pub(crate) trait FrameJudge: Sync {
    /// Compares a frame.
    ///
    /// # Errors
    /// [`BakeError`] where the frame cannot be one of the bake's.
    fn frame(&self, of: JudgedFrame<'_>) -> Result<Verified, BakeError>;

    /// What is wrong with the carrier, against the first frame and the settings.
    fn carrier_faults(&self, judge: &Judge<'_>) -> Vec<Fault>;

    /// What is known before a frame was looked at.
    fn nothing(&self, judge: &Judge<'_>) -> Verified {
        judge.nothing(0.0)
    }

    /// What judges where blends go, if that is judged.
    fn ends(&self) -> Option<&EndJudge> {
        None
    }

    /// The box of what a frame shows.
    fn box_of(&self, mesh: &Mesh) -> Option<Bounds> {
        let used = mesh.topology.triangles().iter().flatten();
        let used: Vec<[f32; 3]> = used.map(|v| mesh.positions[*v as usize]).collect();
        sinew_geom::bounds(&used)
    }
}

/// A frame of the sequence, and what it is held against.
#[derive(Clone, Copy)]
pub(crate) struct JudgedFrame<'a> {
    pub(super) judge: &'a Judge<'a>,
    /// Its index.
    pub(crate) frame: u32,
    /// Prepared as for the bake.
    pub(crate) mesh: &'a Mesh,
    /// What users know it by.
    pub(crate) number: i64,
    /// The one that its blends go to, where there is one: its index, and prepared, too.
    pub(crate) next: Option<(u32, &'a Mesh)>,
}

impl JudgedFrame<'_> {
    pub(super) fn not_soft(&self, source: SoftError) -> BakeError {
        let number = self.number;
        BakeError::NotSoft { number, source }
    }

    /// Compares normal and other quantities of a vertex of the carrier with what they should be: those of a vertex of the frame.
    pub(super) fn compare(&self, out: &mut Verified, vertex: u32, source: usize, normal: [f32; 3]) {
        let Self {
            judge,
            frame,
            number,
            ..
        } = *self;
        if let Some(angle) = judge.normal_error((frame, vertex), normal) {
            out.errors.normal.add(frame, vertex, angle);
            if judge.is_beyond(angle) {
                out.normals_beyond += 1;
                out.first_wrong.get_or_insert(number);
            }
        }
        let differences = judge.differences(self.mesh, source, vertex, frame);
        for (known, found) in out.quantities.iter_mut().zip(differences) {
            known.errors.add(frame, vertex, found.error);
            known.allowed = known.allowed.max(found.allowed);
            if found.is_beyond {
                known.beyond += 1;
                known.first_wrong.get_or_insert(number);
            }
        }
    }
}
