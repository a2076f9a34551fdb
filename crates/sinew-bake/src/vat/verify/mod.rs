//! A bake against the sequence that it was made from.
//!
//! What players show is decoded from the files and compared with the frames, without anything that the bake left behind: triangles are
//! found again by where they are.

mod carrier;
mod end_normals;
mod ends;
mod grid;
mod judge;
mod mode;
mod pairing;
mod particles;
mod parting;
mod remesh;
mod rigid;
mod rounding;
mod sequence;
mod slots;
mod soft;
mod surface;

use super::quantities::QuantityErrors;
use super::quantities::shown_loss;
use super::read::{read_animation, read_manifest};
use super::records::FrameErrors;
use super::settings::VatSettings;
use crate::{BakeError, FrameSource, Watch};
pub use carrier::Fault;
pub use ends::EndErrors;
use judge::Judge;
pub(super) use mode::JudgedMode;
pub(super) use rigid::pieces_of;
use serde::Serialize;
use sinew_geom::{Mesh, vec3};
use sinew_vat::manifest::NamedClip;
use std::path::Path;
pub use surface::SurfaceErrors;

/// How a bake compares with its sequence.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Verified {
    /// Frames that were compared.
    pub frames: usize,
    /// Triangles of the sequence that no triangle of the bake is at.
    pub lost: usize,
    /// Triangles that the bake shows and the sequence does not have.
    pub invented: usize,
    /// Distances and angles of all corners that were found again.
    #[serde(skip)]
    pub errors: FrameErrors,
    /// What else the bake holds: colours, texture coordinates, velocities, attributes.
    pub quantities: Vec<QuantityErrors>,
    /// Corners whose normal is farther from the frame's than formats allow.
    pub normals_beyond: usize,
    /// What the format promises for normals in a texture, radians; of pieces what rotations in texels, and the turn that comes nearest to the frame, leave
    /// at most. `None` where there are none.
    pub promised_normal: Option<f64>,
    /// The first frame in which triangles were lost or invented, or a normal was too far off, by its number.
    pub first_wrong: Option<i64>,
    /// What the format promises for each coordinate, metres: half a step of its codes.
    pub promised: [f64; 3],
    /// Where blends go, where triangles change and frames are blended.
    pub ends: Option<EndErrors>,
    /// The surface between corners, where triangles stay the same and frames are cut into others.
    pub surface: SurfaceErrors,
    /// What is wrong with the carrier and the manifest. Where they are not fit to be played, no frame was compared.
    pub faults: Vec<Fault>,
    /// What single precision may lose of places beyond that, metres: some units in the last place of the largest coordinate.
    pub rounding: f64,
    /// The farthest that reading moved a vertex of the sequence, metres: what was compared is what was read.
    pub read_loss: f64,
    /// What rotations in texels, and pieces as far as they bend, add to that at most, metres.
    pub promised_beyond: f64,
}

impl Verified {
    /// How far positions of the bake are from those of the source at most and in the mean of squares, metres, with what reading lost.
    pub fn position_errors(&self) -> [f64; 2] {
        let read = shown_loss(self.read_loss);
        let position = &self.errors.position;
        [position.largest + read, position.rms() + read]
    }

    /// Takes those of a later frame.
    fn join(&mut self, later: &Self) {
        self.frames += 1;
        self.lost += later.lost;
        self.invented += later.invented;
        self.normals_beyond += later.normals_beyond;
        self.errors.join(&later.errors);
        if later
            .promised_normal
            .is_some_and(|p| self.promised_normal.is_none_or(|all| p > all))
        {
            self.promised_normal = later.promised_normal;
        }
        self.promised_beyond = self.promised_beyond.max(later.promised_beyond);
        for (all, one) in self.quantities.iter_mut().zip(&later.quantities) {
            all.join(one);
        }
        if let (Some(all), Some(one)) = (&mut self.ends, &later.ends) {
            all.join(one);
        }
        self.surface.join(&later.surface);
        // One frame outside of the box is enough.
        if self.faults.is_empty() {
            self.faults.clone_from(&later.faults);
        }
        self.first_wrong = self.first_wrong.or(later.first_wrong);
    }

    /// Whether every triangle was found again, with numbers that are as near as the formats allow; places at most `tolerance` metres away.
    pub fn is_same(&self, tolerance: f64) -> bool {
        let is_near = |q: &QuantityErrors| q.beyond == 0;
        let ends_are_near = self.ends.as_ref().is_none_or(EndErrors::is_right);
        self.lost + self.invented + self.normals_beyond + self.faults.len() == 0
            && ends_are_near
            && self.surface.first_wrong.is_none()
            && self.errors.position.largest <= tolerance
            && self.quantities.iter().all(is_near)
    }
}

/// Compares a bake with a sequence; `settings` are those that it was made with (preparation, crease, matching).
///
/// Memory: as many frames as there are threads, and two.
///
/// # Errors
/// [`BakeError`] where either cannot be read, or has another number of frames.
pub(super) fn verify(
    bake: &Path,
    source: &dyn FrameSource,
    settings: &VatSettings,
    watch: &Watch<'_>,
) -> Result<Verified, BakeError> {
    let animation = read_animation(bake)?;
    let carrier = carrier_of(bake)?;
    let (found, expected) = (
        source.frame_count(),
        animation.manifest().frame_count() as usize,
    );
    if found != expected {
        let of =
            |c: &NamedClip| format!("'{}' at {} per second", c.name, c.frames.frames_per_second);
        let clips: Vec<String> = animation.manifest().clips.iter().map(of).collect();
        let clips = clips.join(", ");
        let message = format!(
            "the sequence has {found} frames, the bake has {expected} ({clips}); give the --clip, --frames, --fps and --range of the bake"
        );
        let path = bake.to_owned();
        return Err(BakeError::Json { path, message });
    }
    let origins = [animation.manifest().origin, source.origin()];
    if origins[0] != origins[1] {
        let [bake_from, sequence_from] = origins.map(|o| o.unwrap_or_default());
        let message = format!(
            "positions are counted from {bake_from:?}, those of the sequence from {sequence_from:?} (metres, axes of glTF); use the --up of the bake, or bake it again"
        );
        let path = bake.to_owned();
        return Err(BakeError::Json { path, message });
    }
    let faulty = |faults| Verified {
        faults,
        ..Verified::default()
    };
    let faults = carrier::faults_of_files(animation.manifest(), &carrier, source);
    if !faults.is_empty() {
        return Ok(faulty(faults));
    }
    let judge = Judge::new(&animation, &carrier, source, settings);
    let frames = super::mode::of(animation.manifest().mode).judge(&judge)?;
    let faults = frames.carrier_faults(&judge);
    let has_others = |f: &Fault| matches!(f, Fault::Triangles { .. } | Fault::Triangle { .. });
    if faults.iter().any(has_others) {
        return Ok(faulty(faults));
    }
    let results = sequence::judge_all(&judge, &*frames, watch)?;
    let mut all = frames.nothing(&judge);
    results.iter().for_each(|one| all.join(one));
    all.faults.splice(0..0, faults);
    all.read_loss = judge.read_loss();
    Ok(all)
}

/// The carrier, from its file.
fn carrier_of(bake: &Path) -> Result<Mesh, BakeError> {
    let (path, manifest) = read_manifest(bake)?;
    let path = sinew_io::Folders::of_file(&path).find(&manifest.carrier)?;
    let mut meshes = sinew_io::read_any(&path)?.asset.meshes;
    if meshes.len() != 1 {
        let message = format!("{} meshes, expected one", meshes.len());
        return Err(BakeError::Json { path, message });
    }
    let mesh = meshes.swap_remove(0);
    let found = &mesh.positions;
    let has_all = found.len() == manifest.layout.vertices as usize;
    match has_all || !manifest.mode.has_texel_per_vertex() {
        true => Ok(mesh),
        false => Err(BakeError::Json {
            path,
            message: format!(
                "{} vertices, the manifest has {}",
                found.len(),
                manifest.layout.vertices
            ),
        }),
    }
}

pub(super) fn distance(a: [f32; 3], b: [f32; 3]) -> f64 {
    vec3::distance(a.map(f64::from), b.map(f64::from))
}
