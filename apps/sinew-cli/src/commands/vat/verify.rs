//! `sinew vat verify`: a bake beside the sequence that it was made from.

use super::settings::settings_of;
use super::source::source_of;
use super::words::counted;
use super::{on_threads, watched};
use crate::bake_args::{SourceArgs, VatVerifyArgs};
use crate::exit::{Failure, Outcome};
use crate::reporter::Reporter;
use sinew::bake::vat::{Fault, Mode, Verified, read_manifest, verify};

pub(super) fn verify_bake(args: &VatVerifyArgs, reporter: &Reporter) -> Outcome {
    let mut settings = settings_of(&args.settings, &args.source)?;
    let clips = read_manifest(&args.bake)?.1.clips;
    // Which frames there are depends on these: as in the bake, where nothing else is asked for.
    if let Some(clip) = clips.first() {
        if args.settings.at_end.is_none() {
            settings.at_end = clip.frames.at_end;
        }
        if args.source.played.fps.is_none() {
            settings.frames_per_second = clip.frames.frames_per_second;
        }
    }
    let source_args = SourceArgs {
        baked_clips: clips.into_iter().map(|c| c.name).collect(),
        ..args.source.clone()
    };
    let found = on_threads(args.source.threads, || {
        let source = source_of(&source_args, &settings, reporter)?;
        let found = watched(reporter, |watch| {
            verify(&args.bake, source.as_ref(), &settings, watch)
        })?;
        let worst = source.number(found.errors.position.frame as usize);
        Ok((found, worst))
    })?;
    let (found, worst) = found;
    if found.frames == 0 && !found.faults.is_empty() {
        let (bake, faults) = (args.bake.display(), words_of(&found.faults));
        return Err(Failure::bind(format!(
            "{bake} differs from its sequence: {faults}; frames were not compared"
        )));
    }
    let promised = found.promised.iter().map(|p| p * p).sum::<f64>().sqrt();
    let promised = promised + found.promised_beyond;
    // Roundings of single precision beyond what the format promises: far from the origin they are more.
    let rounding = found.rounding.max(1e-6);
    let tolerance = args.tolerance.unwrap_or(promised * 1.001 + rounding);
    // What reading lost is part of both.
    let [largest, rms] = found.position_errors();
    let what = match read_manifest(&args.bake)?.1.mode {
        Mode::Particles => "point",
        _ => "triangle",
    };
    let message = format!(
        "{}: {} lost, {} invented; positions within {:.4} mm (rms {:.4} mm, largest in frame {}, allowed {:.4} mm){}",
        counted(found.frames as u64, "frame"),
        counted(found.lost as u64, what),
        found.invented,
        largest * 1e3,
        rms * 1e3,
        worst,
        (tolerance + (largest - found.errors.position.largest)) * 1e3,
        normals_of(&found),
    );
    let message = message + &quantities_of(&found);
    let message = message + &found.surface.words();
    let message = message + &found.ends.as_ref().map_or_else(String::new, |e| e.words());
    if found.is_same(tolerance) {
        reporter.info("verified", &message);
        return Ok(());
    }
    let others = found.quantities.iter().filter_map(|q| q.first_wrong);
    let of_ends = found.ends.iter().filter_map(|e| e.first_wrong);
    let first = found.first_wrong.into_iter().chain(others).chain(of_ends);
    let first = first.chain(found.surface.first_wrong);
    let first = first.min();
    let first = first.map_or_else(String::new, |n| format!("; first in frame {n}"));
    let (bake, faults) = (args.bake.display(), words_of(&found.faults));
    let message = match found.faults.is_empty() {
        true => message,
        false => format!("{faults}; {message}"),
    };
    Err(Failure::bind(format!(
        "{bake} differs from its sequence: {message}{first}"
    )))
}

fn words_of(faults: &[Fault]) -> String {
    let each: Vec<String> = faults.iter().map(Fault::to_string).collect();
    each.join("; ")
}

/// `, normals within 0.38 degrees (allowed 0.39)`, or nothing where none were compared.
fn normals_of(found: &Verified) -> String {
    let normal = &found.errors.normal;
    if normal.samples() == 0 {
        return String::new();
    }
    let text = format!(
        ", normals within {:.2} degrees",
        normal.largest.to_degrees()
    );
    let allowed = found.promised_normal.map(f64::to_degrees);
    let text = text + &allowed.map_or_else(String::new, |a| format!(" (allowed {a:.2})"));
    match found.normals_beyond {
        0 => text,
        corners => format!("{text}, {corners} corners beyond that"),
    }
}

/// `; color0 within 0.002 (allowed 0.002)` for each of what else was compared.
fn quantities_of(found: &Verified) -> String {
    let each = found.quantities.iter().map(|q| {
        let (name, largest) = (q.quantity.file_name(), q.errors.largest);
        let text = format!("; {name} within {largest:.3e} (allowed {:.3e})", q.allowed);
        match q.beyond {
            0 => text,
            corners => format!("{text}, {corners} corners beyond that"),
        }
    });
    each.collect()
}
