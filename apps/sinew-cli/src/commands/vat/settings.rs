//! Settings of a bake: those of a file, and what flags say otherwise.

use crate::bake_args::{
    AtEndArg, ModeArg, OrderArg, PlayedArgs, PointsArg, ShapeArgs, SourceArgs, VatSettingsArgs,
};
use crate::exit::{Failure, Outcome};
use crate::frames::step_of;
use sinew::bake::vat::{HiddenSettings, RelaxSettings, SimplifySettings};
use sinew::bake::vat::{Mode, Points, TriangleOrder, VatSettings};
use sinew::vat::playback::AtEnd;
use std::path::Path;

pub(super) fn settings_of(args: &VatSettingsArgs, source: &SourceArgs) -> Outcome<VatSettings> {
    let mut out = match &args.settings {
        Some(path) => settings_in(path)?,
        None => VatSettings::default(),
    };
    let frames = source.frames.as_deref();
    set_rate(&mut out, args.settings.is_some(), &source.played, frames);
    out.name = args.name.clone().or(out.name);
    out.mode = mode_of(args.mode).or(out.mode);
    if !args.textures.is_empty() {
        out.textures.clone_from(&args.textures);
    }
    out.at_end = match args.at_end {
        None => out.at_end,
        Some(AtEndArg::Loop) => AtEnd::Loop,
        Some(AtEndArg::SeamlessLoop) => AtEnd::SeamlessLoop,
        Some(AtEndArg::Clamp) => AtEnd::Clamp,
    };
    out.largest_side = args.max_side.unwrap_or(out.largest_side);
    out.powers_of_two |= args.power_of_two;
    out.crease_degrees = args.crease.unwrap_or(out.crease_degrees);
    out.points = args.points.map_or(out.points, points_of);
    args.convention.apply(&mut out)?;
    out.order = match args.order {
        None => out.order,
        Some(OrderArg::Match) => TriangleOrder::Match,
        Some(OrderArg::File) => TriangleOrder::File,
    };
    out.velocity = args.velocity.clone().or(out.velocity);
    shapes_of(&args.shapes, &mut out);
    prepare_of(args, &mut out);
    out.check()?;
    Ok(out)
}

/// Frames a second of the bake: of every second frame half as many as of the clip. What settings of a file say is of the bake already.
pub(super) fn set_rate(
    out: &mut VatSettings,
    is_from_file: bool,
    played: &PlayedArgs,
    frames: Option<&str>,
) {
    let of_clip = match played.fps {
        Some(fps) => fps as f32,
        None if is_from_file => return,
        None => out.frames_per_second,
    };
    out.frames_per_second = of_clip / step_of(frames) as f32;
}

/// The mode that is asked for, if one is.
pub(super) fn mode_of(asked: ModeArg) -> Option<Mode> {
    match asked {
        ModeArg::Auto => None,
        ModeArg::Remesh => Some(Mode::Remesh),
        ModeArg::Soft => Some(Mode::Soft),
        ModeArg::Rigid => Some(Mode::Rigid),
        ModeArg::Particles => Some(Mode::Particles),
    }
}

/// What is to have a texel.
pub(super) fn points_of(asked: PointsArg) -> Points {
    match asked {
        PointsArg::Corners => Points::Corners,
        PointsArg::Unique => Points::Unique,
    }
}

/// The settings of a file, or of the job of a work folder.
pub(super) fn settings_in(path: &Path) -> Outcome<VatSettings> {
    let text = sinew::io::read_text(path).map_err(Failure::input)?;
    let fault = |e| Failure::input(format!("{}: {e}", path.display()));
    let mut value: serde_json::Value = serde_json::from_str(&text).map_err(fault)?;
    // The job of a work folder holds the settings that it was begun with.
    let is_job = value.get("format").is_some();
    let settings = match value.get_mut("settings").filter(|_| is_job) {
        Some(settings) => settings.take(),
        None => value,
    };
    serde_json::from_value(settings).map_err(fault)
}

fn shapes_of(args: &ShapeArgs, out: &mut VatSettings) {
    let (pieces, particles) = (&mut out.pieces, &mut out.particles);
    pieces.attribute = args.pieces.clone().or(pieces.attribute.take());
    pieces.tolerance = args.rigid_tolerance.or(pieces.tolerance);
    pieces.blend &= !args.no_blend;
    out.retriangulate_tolerance = args.retriangulate_tolerance.or(out.retriangulate_tolerance);
    for (asked, name) in [
        (&args.point_ids, &mut particles.id),
        (&args.point_sizes, &mut particles.size),
    ] {
        if let Some(asked) = asked {
            name.clone_from(asked);
        }
    }
    particles.scale = args.point_scale.unwrap_or(particles.scale);
}

fn prepare_of(args: &VatSettingsArgs, out: &mut VatSettings) {
    if args.delete_hidden {
        out.prepare
            .hidden
            .get_or_insert_with(HiddenSettings::default);
    }
    if let Some(iterations) = args.relax {
        let relax = out
            .prepare
            .relax_before
            .get_or_insert_with(RelaxSettings::default);
        relax.iterations = iterations;
    }
    if let Some(faces) = args.faces {
        simplify_to(faces, out);
    }
}

/// Every frame is simplified to that many faces.
pub(super) fn simplify_to(faces: usize, out: &mut VatSettings) {
    let crease = out.crease();
    let simplify = out
        .prepare
        .simplify
        .get_or_insert_with(SimplifySettings::default);
    simplify.target_faces = faces;
    simplify.hard_edge_angle = Some(crease);
}
