//! What was asked for and means nothing in the mode that a bake has.

use super::convention::Convention;
use super::settings::{Mode, Points, TriangleOrder, VatSettings};
use super::shapes::{ParticleSettings, PieceSettings};
use sinew_vat::prepare::PrepareSettings;

/// Settings that differ from the defaults and have no effect, by their names in files of settings, each with the reason.
pub(crate) fn idle_settings(settings: &VatSettings, mode: Mode) -> Vec<String> {
    let mut names = Vec::new();
    if mode != Mode::Remesh {
        names.extend(of_changing_triangles(settings).map(|n| (n, "mode remesh")));
    } else if settings.convention != Convention::Sinew {
        let steps = "this project's files: players of other tools step where triangles change";
        names.extend(of_matching(settings).map(|n| (n, steps)));
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

fn of_changing_triangles(settings: &VatSettings) -> impl Iterator<Item = &'static str> {
    let asked = [
        ("points", settings.points == Points::Unique),
        (
            "order",
            !matches!(settings.order, TriangleOrder::Matched(_)),
        ),
    ];
    let names = asked.into_iter().filter(|a| a.1).map(|a| a.0);
    names.chain(of_matching(settings))
}

fn of_matching(settings: &VatSettings) -> impl Iterator<Item = &'static str> {
    let asked = match &settings.order {
        TriangleOrder::Matched(matching) => [
            ("in_betweens", matching.in_betweens.is_some()),
            ("velocity of matching", matching.velocity.is_some()),
        ],
        _ => [("in_betweens", false), ("velocity of matching", false)],
    };
    asked.into_iter().filter(|a| a.1).map(|a| a.0)
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
    use crate::vat::{InBetweens, Matching};

    #[test]
    fn defaults_are_never_idle_and_what_is_of_another_mode_is() {
        let all = [Mode::Remesh, Mode::Soft, Mode::Rigid, Mode::Particles];
        for mode in all {
            assert!(idle_settings(&VatSettings::default(), mode).is_empty());
        }
        let settings = VatSettings {
            order: TriangleOrder::Matched(Matching {
                in_betweens: Some(InBetweens::Slots),
                ..Matching::default()
            }),
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
            ["points", "in_betweens", "particles.scale"]
        );
        assert_eq!(
            names(Mode::Particles),
            ["points", "in_betweens", "pieces.blend"]
        );
        assert_eq!(names(Mode::Soft).len(), 4);
    }
}
