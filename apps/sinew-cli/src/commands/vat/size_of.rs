//! `sinew vat size SEQUENCE`: how large the textures of a bake of it get.

use super::settings::{mode_of, points_of, set_rate, settings_in, simplify_to};
use super::size::{device_words, layout_words, size_words, texel_words};
use super::source::source_of;
use super::words::{counted, name_of};
use super::{on_threads, watched};
use crate::bake_args::{SizePoints, SourceArgs, VatSizeArgs};
use crate::exit::{Failure, Outcome};
use crate::reporter::Reporter;
use sinew::bake::Chunk;
use sinew::bake::vat::{Mode, VatJob, VatPlan, VatSettings, plan, scan};
use sinew::vat::layout::Limits;
use sinew::vat::lookup::LOOKUP_BYTES;
use std::fmt::Write;
use std::path::Path;

/// Scans and plans as a bake does, in a temporary folder, and says what came out.
pub(super) fn of_sequence(
    sequence: &Path,
    args: &VatSizeArgs,
    reporter: &Reporter,
) -> Outcome<String> {
    let settings = settings_of_size(args)?;
    let frames = SourceArgs {
        baked_clips: Vec::new(),
        source: sequence.to_owned(),
        up: args.up.unwrap_or_default(),
        frames: args.frames.clone(),
        played: args.played.clone(),
        threads: args.threads,
    };
    let work = tempfile::tempdir().map_err(Failure::output)?;
    let made = on_threads(args.threads, || {
        let source = source_of(&frames, &settings, reporter)?;
        Ok(watched(reporter, |watch| {
            let job = VatJob::begin(work.path(), source.as_ref(), &settings)?;
            scan(&job, source.as_ref(), Chunk::ALL, watch)?;
            plan(&job, watch)
        })?)
    })?;
    Ok(words(&made, &settings))
}

fn settings_of_size(args: &VatSizeArgs) -> Outcome<VatSettings> {
    let mut out = match &args.settings {
        Some(path) => settings_in(path)?,
        None => VatSettings::default(),
    };
    let frames = args.frames.as_deref();
    set_rate(&mut out, args.settings.is_some(), &args.played, frames);
    out.mode = args.mode.and_then(mode_of).or(out.mode);
    match args.points {
        None => {}
        Some(SizePoints::Of(asked)) => out.points = points_of(asked),
        Some(SizePoints::Number(number)) => {
            return Err(Failure::usage(format!(
                "--points {number}: expected unique or corners, because the points of a sequence are counted"
            )));
        }
    }
    out.largest_side = args.max_side.unwrap_or(out.largest_side);
    out.powers_of_two |= args.power_of_two;
    if let Some(faces) = args.triangles {
        simplify_to(faces as usize, &mut out);
    }
    out.check()?;
    Ok(out)
}

fn words(plan: &VatPlan, settings: &VatSettings) -> String {
    let layout = &plan.layout;
    let rows = if plan.has_ends() { 2 } else { 1 };
    let what = match plan.mode() {
        Mode::Remesh => "remesh: changing triangles, three texels each",
        Mode::Soft => "soft: constant triangles, one texel per vertex",
        Mode::Rigid => "rigid: pieces that keep their shape, one texel each",
        Mode::Particles => "particles: points, one texel each",
    };
    let mut out = format!("mode      {what}\ntriangles {}\n", plan.triangles);
    let texels = match plan.mode() {
        Mode::Remesh | Mode::Soft => "vertices",
        Mode::Rigid => "pieces",
        Mode::Particles => "quads",
    };
    out += &size_words(layout, layout.frames / rows, texels);
    // Writing into a string cannot fail.
    if plan.has_ends() {
        let _ = writeln!(
            out,
            "          two rows per frame: the frame and its end pose"
        );
    }
    out += &texel_words(layout);
    out += &texture_words(plan);
    let limits = Limits {
        unit: if plan.mode() == Mode::Remesh { 3 } else { 1 },
        side: settings.largest_side,
        powers_of_two: settings.powers_of_two,
    };
    out + &device_words(layout, &limits)
}

/// Bytes of each texture, of a lookup and of all together.
fn texture_words(plan: &VatPlan) -> String {
    let mut out = String::new();
    let (mut texels, mut bytes) = (plan.layout.texels(), 0);
    // Writing into a string cannot fail.
    if let Some(points) = plan.points() {
        let [width, height] = points.layout.size;
        let words = layout_words(&points.layout);
        bytes = texels * LOOKUP_BYTES as u64;
        texels = points.layout.texels();
        let _ = writeln!(
            out,
            "points    at most {}: textures of {width} x {height}, {words}; the texture above is the lookup, {bytes} bytes",
            points.layout.vertices
        );
    }
    for spec in &plan.textures {
        let own = texels * spec.vertex_bytes() as u64;
        bytes += own;
        let (name, channels) = (spec.quantity.file_name(), spec.ranges.len());
        let _ = writeln!(
            out,
            "{name:<10}{own} bytes as {}, {}",
            name_of(&spec.format),
            counted(channels as u64, "channel")
        );
    }
    let _ = writeln!(out, "in all    {bytes} bytes");
    out
}
