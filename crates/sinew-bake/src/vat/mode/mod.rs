//! The modes: ways to take a sequence. Each is a file here, with all that its bakes do in the steps of a job, and an `impl` of
//! [`JudgedMode`](super::verify::JudgedMode) beside it, which compares its bakes with their sequence.
//!
//! A new mode is a variant of [`Mode`] and of [`ModePlan`](super::plan::ModePlan), a file here, one in `verify`, and a line of [`of`].

mod particles;
mod remesh;
mod rigid;
mod soft;

pub(crate) use particles::Particles;
pub(crate) use particles::{DEFAULT_WIDTH, SeenPoint, scan_points, width_warning};
pub(crate) use remesh::{Remesh, slots_of};
pub(crate) use rigid::{Rigid, RigidCarrier, carried, played};
pub(crate) use soft::Soft;

use super::job::VatJob;
use super::pictures::{ShownFrames, ShownVertices};
use super::plan::{Planned, VatPlan};
use super::records::ScanRecord;
use super::report::{Reported, Row};
use super::settings::{Mode, TextureChoice, VatSettings};
use super::texels::Encoded;
use super::verify::JudgedMode;
use crate::{BakeError, Watch};
use sinew_geom::Mesh;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;

/// All modes. Where nobody says how a sequence is taken, the first that takes it.
pub(crate) const ALL: [Mode; 4] = [Mode::Particles, Mode::Rigid, Mode::Soft, Mode::Remesh];

/// The steps of a bake in this mode.
pub(crate) fn of(mode: Mode) -> &'static dyn BakeMode {
    match mode {
        Mode::Soft => &soft::Soft,
        Mode::Remesh => &remesh::Remesh,
        Mode::Rigid => &rigid::Rigid,
        Mode::Particles => &particles::Particles,
    }
}

/// A code, and words.
pub(crate) type Reason = (&'static str, &'static str);

/// What a mode does in the steps of a bake.
pub(crate) trait BakeMode: JudgedMode + Sync {
    /// Its name in settings and messages.
    fn name(&self) -> &'static str;

    /// Whether what was seen of all frames may be taken so, where nobody says how.
    fn takes(&self, job: &VatJob, scans: &[ScanRecord]) -> bool;

    /// The textures: those that are asked for, or what it has by default.
    fn textures(&self, settings: &VatSettings) -> Vec<TextureChoice>;

    /// Why no texture of it holds a quantity, and what to do.
    fn refuses(&self, quantity: &Quantity) -> Option<&'static str>;

    /// Whether the carrier is the first frame, so that triangles stay the same.
    fn has_first_frame(&self) -> bool {
        true
    }

    /// Whether frames are points, which are baked as they are.
    fn is_points(&self) -> bool {
        false
    }

    /// Whether it has positions where none are asked for.
    fn always_has_positions(&self) -> bool {
        false
    }

    /// Vertices of the layout that stay in one row.
    fn unit(&self) -> u32 {
        1
    }

    /// Sizes and ranges; writes the records that texels need.
    ///
    /// # Errors
    /// [`BakeError`] where the sequence cannot be baked so.
    fn plan(
        &self,
        job: &VatJob,
        scans: &[ScanRecord],
        watch: &Watch<'_>,
    ) -> Result<VatPlan, BakeError>;

    /// What makes the texels of frames.
    fn encoder<'a>(&self, of: Planned<'a>) -> Result<Box<dyn FrameEncoder + 'a>, BakeError>;

    /// The mesh that carries the textures, in the space of glTF.
    fn carrier(&self, of: Planned<'_>) -> Result<Mesh, BakeError>;

    /// What a bake shows, for pictures.
    fn shown<'a>(
        &self,
        of: Planned<'a>,
        carrier: &'a Mesh,
    ) -> Result<Box<dyn ShownFrames + 'a>, BakeError> {
        Ok(Box::new(ShownVertices { of, carrier }))
    }

    /// Whether players may mix frames.
    fn can_blend(&self, _settings: &VatSettings) -> bool {
        true
    }

    /// Why the carrier has more triangles than were asked for.
    fn why_more_triangles(&self, of: Planned<'_>) -> Option<Reason> {
        more_triangles(of.plan)
    }

    /// Why the carrier does not tell apart the materials of the source.
    fn why_no_materials(&self, of: Planned<'_>) -> Option<&'static str> {
        if of.plan.has_middles() {
            return Some("quads that frames cut along either diagonal have other triangles");
        }
        let removes = of.job.settings().prepare.removes_faces();
        removes.then_some("its triangles are others than the source's")
    }

    /// What to bake in another way where the surface that is shown must be each frame's own.
    fn exact_way(&self) -> &'static str {
        "--mode remesh"
    }

    /// For the report: why the sequence was taken so.
    fn why(&self, of: &Reported<'_>) -> String;

    /// For the report: what only this mode has to tell.
    fn rows(&self, of: &Reported<'_>) -> Vec<Row> {
        vec![("Faces cut in two ways", of.retriangulated_words())]
    }

    /// For the report: the order of triangles.
    fn order(&self, _settings: &VatSettings) -> Option<&'static str> {
        Some("that of the first frame")
    }

    /// For the report: what the share of empty slots is called.
    fn empty_slots(&self) -> Option<&'static str> {
        None
    }

    /// For the report: why players do not blend.
    fn why_no_blend(&self) -> &'static str {
        "no: frames are unrelated, players step"
    }

    /// For the report: what has a texel.
    fn texel_word(&self) -> &'static str {
        "vertex"
    }

    /// For the report: a vertex of the layout.
    fn vertex_words(&self, vertex: usize) -> String {
        vertex.to_string()
    }
}

/// What makes the texels of frames.
pub(crate) trait FrameEncoder: Sync {
    /// The texels of a frame whose prepared mesh is given, and how far they are from it.
    ///
    /// # Errors
    /// [`BakeError`] where records are missing.
    fn frame(&self, frame: usize, mesh: Mesh) -> Result<Encoded, BakeError>;
}

/// The textures that are asked for, or positions as `place` and normals.
fn asked_or_default(settings: &VatSettings, mode: Mode, place: Quantity) -> Vec<TextureChoice> {
    if !settings.textures.is_empty() {
        return settings.textures.clone();
    }
    if let Some(chosen) = settings.convention.default_textures(mode) {
        return chosen;
    }
    let chosen = [
        (place, settings.place_format),
        (Quantity::Normal, TexelFormat::Unorm8),
    ];
    let choice = |(quantity, format)| TextureChoice { quantity, format };
    chosen.into_iter().map(choice).collect()
}

/// The textures that are asked for, and positions and `needed`, which every bake of a mode has; stored as positions are unless asked for in another way.
fn with_needed(
    settings: &VatSettings,
    asked: Vec<TextureChoice>,
    needed: Quantity,
) -> Vec<TextureChoice> {
    let mut out = asked;
    let places = out.iter().find(|c| c.quantity.is_position());
    let usual = settings.files().place_format();
    let format = places.map_or(usual.unwrap_or(settings.place_format), |c| c.format);
    for quantity in [Quantity::Position, needed] {
        if !out
            .iter()
            .any(|c| c.quantity == quantity || (c.quantity.is_position() && quantity.is_position()))
        {
            out.push(TextureChoice { quantity, format });
        }
    }
    out
}

/// Refuses textures that mean nothing in a mode.
///
/// # Errors
/// [`BakeError::Setting`] where no texture says where things are, [`BakeError::Quantity`] for one that the mode does not have.
pub(crate) fn check_quantities(
    mode: &dyn BakeMode,
    choices: &[TextureChoice],
) -> Result<(), BakeError> {
    if !choices.iter().any(|c| c.quantity.is_position()) {
        let (found, expected) = (
            "a list without positions and offsets",
            "one of them: add position:unorm16",
        );
        return Err(BakeError::setting("textures", found, expected));
    }
    let refused = choices
        .iter()
        .find_map(|c| Some((&c.quantity, mode.refuses(&c.quantity)?)));
    match refused {
        None => Ok(()),
        Some((quantity, help)) => Err(BakeError::Quantity {
            mode: mode.name(),
            quantity: quantity.clone(),
            help,
        }),
    }
}

/// The name of a setting, and whether it was asked for.
type Asked = (&'static str, bool);

/// Settings that were asked for and have no effect in a mode, by their option if they have one, each with the reason.
#[expect(
    clippy::float_cmp,
    reason = "another number than the default was asked for"
)]
pub(crate) fn unused_settings(settings: &VatSettings, mode: Mode) -> Vec<String> {
    let default = VatSettings::default();
    let (pieces, no_pieces) = (&settings.pieces, &default.pieces);
    let (particles, no_particles) = (&settings.particles, &default.particles);
    let moves = settings.velocity.is_some();
    let of_remesh = [
        ("--points", settings.points != default.points),
        ("--order", settings.order != default.order),
        ("--velocity", moves),
    ];
    let of_rigid = [
        ("--pieces", pieces.attribute != no_pieces.attribute),
        ("--rigid-tolerance", pieces.tolerance != no_pieces.tolerance),
        ("--no-blend", pieces.blend != no_pieces.blend),
    ];
    let of_particles = [
        ("--point-ids", particles.id != no_particles.id),
        ("--point-sizes", particles.size != no_particles.size),
        ("--point-scale", particles.scale != no_particles.scale),
        (
            "particles.velocity",
            particles.velocity != no_particles.velocity,
        ),
        ("particles.reach", particles.reach != no_particles.reach),
    ];
    let others = "this project's files: players of other tools step where triangles change";
    let is_own = settings.convention.is_own();
    let (of_others, of_match) = (
        [("--velocity", moves && !is_own)],
        [("--velocity", moves && is_own && !settings.is_matched())],
    );
    let of_first = [(
        "--retriangulate-tolerance",
        settings.retriangulate_tolerance.is_some(),
    )];
    let of_triangles = [("prepare", settings.prepare != default.prepare)];
    // Where it has no effect, what it is for, and whether it was asked for.
    let all: [(bool, &str, &[Asked]); 7] = [
        (mode != Mode::Remesh, "mode remesh", &of_remesh),
        (mode != Mode::Rigid, "mode rigid", &of_rigid),
        (mode != Mode::Particles, "mode particles", &of_particles),
        (mode == Mode::Remesh, others, &of_others),
        (mode == Mode::Remesh, "order match", &of_match),
        (!of(mode).has_first_frame(), "mode soft or rigid", &of_first),
        (
            of(mode).is_points(),
            "mode remesh, soft or rigid",
            &of_triangles,
        ),
    ];
    let unused = all.into_iter().filter(|group| group.0);
    let unused =
        unused.flat_map(|(_, needed, settings)| settings.iter().map(move |s| (needed, *s)));
    let asked = unused.filter(|(_, (_, is_asked))| *is_asked);
    asked
        .map(|(needed, (name, _))| format!("{name} has no effect: it is for {needed}"))
        .collect()
}

/// Whether all frames have the first one's surface, with some triangle.
fn stays(scans: &[ScanRecord]) -> bool {
    let has_triangles = scans.first().is_some_and(|first| first.triangles > 0);
    has_triangles && scans.iter().all(|s| s.is_first_surface)
}

/// Why carriers that are the first frame have more triangles than were asked for.
fn more_triangles(plan: &VatPlan) -> Option<Reason> {
    let why = match plan.has_middles() {
        true => {
            "quads that frames cut along either diagonal have four in place of two; --retriangulate-tolerance keeps two where that is near enough"
        }
        false => "frames could not be brought to fewer",
    };
    Some(("more_triangles", why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vat::settings::Points;
    use crate::vat::{ParticleSettings, PieceSettings};

    #[test]
    fn defaults_are_never_idle_and_what_is_of_another_mode_is() {
        for mode in ALL {
            assert!(unused_settings(&VatSettings::default(), mode).is_empty());
        }
        let settings = VatSettings {
            velocity: Some("v".into()),
            points: Points::Unique,
            pieces: PieceSettings {
                blend: false,
                ..PieceSettings::default()
            },
            particles: ParticleSettings {
                scale: 2.0,
                ..ParticleSettings::default()
            },
            ..VatSettings::default()
        };
        let names = |mode| {
            let all = unused_settings(&settings, mode);
            let name = |s: &String| s.split(" has ").next().unwrap_or_default().to_owned();
            all.iter().map(name).collect::<Vec<_>>()
        };
        assert_eq!(names(Mode::Remesh), ["--no-blend", "--point-scale"]);
        assert_eq!(
            names(Mode::Rigid),
            ["--points", "--velocity", "--point-scale"]
        );
        assert_eq!(
            names(Mode::Particles),
            ["--points", "--velocity", "--no-blend"]
        );
        assert_eq!(names(Mode::Soft).len(), 4);
    }
}
