//! What was asked for and means nothing in the mode that a bake has.

use super::convention::Convention;
use super::settings::{Mode, Points, TriangleOrder, VatSettings};
use super::shapes::{ParticleSettings, PieceSettings};
use crate::vat::maker::prepare::PrepareSettings;

/// Settings that differ from the defaults and have no effect, by their names in files of settings, each with the reason.
pub(crate) fn idle_settings(settings: &VatSettings, mode: Mode) -> Vec<String> {
    let mut names = Vec::new();
    if mode != Mode::Remesh {
        names.extend(of_changing_triangles(settings));
    } else if settings.convention != Convention::Sinew && settings.velocity.is_some() {
        let steps = "this project's files: players of other tools step where triangles change";
        names.push(("velocity", steps));
    } else if settings.order == TriangleOrder::File && settings.velocity.is_some() {
        names.push(("velocity", "order match"));
    }
    if matches!(mode, Mode::Remesh | Mode::Particles) && settings.recut_tolerance.is_some() {
        names.push(("recut_tolerance", "mode soft or rigid"));
    }
    if mode != Mode::Rigid {
        names.extend(of_pieces(&settings.pieces));
    }
    if mode != Mode::Particles {
        names.extend(of_particles(&settings.particles));
    }
    if mode == Mode::Particles && settings.prepare != PrepareSettings::default() {
        names.push(("prepare", "mode remesh, soft or rigid"));
    }
    let words = |(name, needed)| format!("{name} is without effect: it is for {needed}");
    names.into_iter().map(words).collect()
}

type Idle = (&'static str, &'static str);

fn of_changing_triangles(settings: &VatSettings) -> Vec<Idle> {
    let asked = [
        ("points", settings.points == Points::Unique),
        ("order", settings.order != TriangleOrder::Match),
        ("velocity", settings.velocity.is_some()),
    ];
    asked_for(&asked, "mode remesh")
}

fn of_pieces(pieces: &PieceSettings) -> Vec<Idle> {
    let default = PieceSettings::default();
    let asked = [
        ("pieces.attribute", pieces.attribute != default.attribute),
        ("pieces.tolerance", pieces.tolerance != default.tolerance),
        ("pieces.blend", pieces.blend != default.blend),
    ];
    asked_for(&asked, "mode rigid")
}

#[expect(
    clippy::float_cmp,
    reason = "another number than the default was asked for"
)]
fn of_particles(particles: &ParticleSettings) -> Vec<Idle> {
    let default = ParticleSettings::default();
    let asked = [
        ("particles.id", particles.id != default.id),
        ("particles.size", particles.size != default.size),
        ("particles.scale", particles.scale != default.scale),
        ("particles.velocity", particles.velocity != default.velocity),
        ("particles.reach", particles.reach != default.reach),
    ];
    asked_for(&asked, "mode particles")
}

fn asked_for(settings: &[(&'static str, bool)], needed: &'static str) -> Vec<Idle> {
    let asked = settings.iter().filter(|s| s.1);
    asked.map(|s| (s.0, needed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn defaults_are_never_idle_and_what_is_of_another_mode_is() {
        let all = [Mode::Remesh, Mode::Soft, Mode::Rigid, Mode::Particles];
        for mode in all {
            assert!(idle_settings(&VatSettings::default(), mode).is_empty());
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
            let all = idle_settings(&settings, mode);
            let name = |s: &String| s.split(" is ").next().unwrap_or_default().to_owned();
            all.iter().map(name).collect::<Vec<_>>()
        };
        assert_eq!(names(Mode::Remesh), ["pieces.blend", "particles.scale"]);
        assert_eq!(
            names(Mode::Rigid),
            ["points", "velocity", "particles.scale"]
        );
        assert_eq!(
            names(Mode::Particles),
            ["points", "velocity", "pieces.blend"]
        );
        assert_eq!(names(Mode::Soft).len(), 4);
    }
}
