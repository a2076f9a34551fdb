//! `sinew vat blend-error`: how good in-betweens are.

use super::settings::settings_of;
use super::source::source_of;
use super::words::counted;
use super::{on_threads, watched};
use crate::bake_args::VatBlendErrorArgs;
use crate::exit::{Failure, Outcome};
use crate::reporter::Reporter;
use sinew::bake::vat::SurfaceDistance;
use sinew::bake::vat::{BlendError, HeldBack};
use sinew::bake::{BakeError, Watch};
use sinew_picture::side_by_side;

pub(super) fn measure_blends(args: &VatBlendErrorArgs, reporter: &Reporter) -> Outcome {
    let settings = settings_of(&args.settings, &args.source)?;
    let found = on_threads(args.source.threads, || {
        let source = source_of(&args.source, &settings, reporter)?;
        let compare = |watch: &Watch<'_>| {
            let held = HeldBack::bake(source.as_ref(), &settings, &args.work, watch)?;
            let found = held.compare(watch)?;
            let frame = args.picture_frame.unwrap_or(found.fastest);
            let picture = args.output.as_ref().map(|path| {
                let all = held.pictures(frame, args.size as usize)?;
                Ok::<_, BakeError>((path, frame, all))
            });
            Ok::<_, BakeError>((found, picture.transpose()?))
        };
        Ok(watched(reporter, compare)?)
    })?;
    let (found, picture) = found;
    if let Some((path, frame, pictures)) = &picture {
        let title = format!("frame {frame}");
        let mut panels = pictures.panels();
        panels[0].0 = &title;
        sinew::io::write_png(path, &side_by_side(&panels)).map_err(Failure::output)?;
    }
    reporter.info("compared", &words(&found));
    Ok(())
}

/// How far in-betweens are off.
fn words(found: &BlendError) -> String {
    let line = |what: &str, off: &SurfaceDistance| {
        let (rms, largest) = (off.rms() * 1e3, off.max * 1e3);
        format!("{what}: rms {rms:.4} mm, at most {largest:.3} mm")
    };
    let message = format!(
        "{} left out; {}; {}",
        counted(found.frames as u64, "frame"),
        line("error of blending", &found.blended),
        line("error of stepping", &found.stepped),
    );
    let unmatched = found.unmatched.as_ref();
    let unmatched = unmatched.map(|u| line("; error of blending without matching", u));
    message + &unmatched.unwrap_or_default()
}
