//! `sinew convert`.

use crate::args::ConvertArgs;
use crate::exit::{Failure, Outcome};
use crate::load;
use crate::reporter::Reporter;
use sinew::io::gltf_write::converted_glb;

pub(super) fn convert(args: &ConvertArgs, reporter: &Reporter) -> Outcome {
    load::check_glb_output(&args.output)?;
    let character = load::character(&args.character, reporter)?;
    if character.point_cache.is_some() {
        let (from, to) = (args.character.display(), args.output.display());
        return Err(Failure::usage(format!(
            "{from}: a sequence of frames is not a character; use `sinew run {from} -o {to}`, which writes its frames"
        )));
    }
    load::check_vrm_output(&args.output, &character)?;
    let source = character.source.as_ref();
    let (bytes, warnings) =
        converted_glb(&character.path, &character.asset, source).map_err(Failure::input)?;
    for w in warnings {
        reporter.warning(w.code, &w.message);
    }
    sinew::io::write_bytes(&args.output, &bytes).map_err(Failure::output)?;
    reporter.wrote_file();
    let message = format!("wrote {} ({} bytes)", args.output.display(), bytes.len());
    reporter.info("written", &message);
    Ok(())
}
