//! `sinew inspect`.

mod asset;
mod joints;
mod text;

use crate::args::InspectArgs;
use crate::exit::{Failure, Outcome};
use crate::load;
use crate::reporter::Reporter;
use asset::Looks;
use joints::Joints;
use serde_json::{Value, json};
use sinew::geom::Asset;
use sinew::io::{GltfSource, IoError, PointCacheReader, PointTiming, read_any, read_appearance};
use std::path::{Path, PathBuf};

pub(super) fn inspect(args: &InspectArgs, reporter: &Reporter) -> Outcome {
    if let Some(manifest) = manifest_at(&args.file) {
        if args.joint.is_some() {
            return Err(no_joints(&args.file));
        }
        return match args.json {
            true => {
                let text = sinew::io::read_text(&manifest).map_err(Failure::input)?;
                reporter.print(&text);
                Ok(())
            }
            false => super::vat::inspect_bake(&manifest, reporter),
        };
    }
    let ending = args.file.extension().and_then(|e| e.to_str());
    let report = match ending.unwrap_or_default().to_lowercase().as_str() {
        "pc2" | "mdd" | "npz" => point_cache(&args.file)?,
        _ if load::is_document(&args.file) => {
            let plan = load::compile(&load::document(&args.file, reporter)?, reporter)?;
            let solvers: Vec<&str> = plan.solvers().map(|n| &*n.name).collect();
            json!({ "kind": "graph", "explain": plan.explain(), "solvers": solvers })
        }
        _ => match load::in_memory(&args.file, reporter) {
            Some(found) => asset_or_joint(&found?.asset, None, args.joint.as_deref())?,
            None => {
                let file = read_any(&args.file).map_err(Failure::input)?;
                asset_or_joint(&file.asset, file.gltf.as_ref(), args.joint.as_deref())?
            }
        },
    };
    if args.joint.is_some() && report["kind"] != "joint" {
        return Err(no_joints(&args.file));
    }
    if let (Some(count), Some(name)) = (report["same_name"].as_u64(), &args.joint) {
        let file = args.file.display();
        let message = format!(
            "{file}: {count} joints have the name '{name}'; this is the first one, as in graphs"
        );
        reporter.warning("same_joint_name", &message);
    }
    if args.json {
        reporter.print(&serde_json::to_string_pretty(&report).map_err(Failure::output)?);
    } else {
        reporter.print(&text::as_text(&report, 0));
    }
    Ok(())
}

fn asset_or_joint(asset: &Asset, gltf: Option<&GltfSource>, joint: Option<&str>) -> Outcome<Value> {
    if let Some(name) = joint {
        return Joints::of(asset).one(name);
    }
    let looks = gltf.map(|source| {
        let (appearance, warnings) = read_appearance(source)?;
        Ok::<_, IoError>(Looks {
            appearance,
            warnings,
            source,
        })
    });
    let looks = looks.transpose().map_err(Failure::input)?;
    Ok(asset::report(asset, looks.as_ref()))
}

fn no_joints(file: &Path) -> Failure {
    Failure::usage(format!(
        "--joint: {} has no joints; expected a character, such as a GLB, glTF or FBX file",
        file.display()
    ))
}

/// The manifest of a bake, where a file or folder is one.
fn manifest_at(path: &Path) -> Option<PathBuf> {
    let is_manifest = |name: &str| name.ends_with(".vat.json");
    if path.is_dir() {
        let found = sinew::io::files_ending_with(path, ".vat.json").ok()?;
        return found.into_iter().next();
    }
    let name = path.file_name()?.to_str()?;
    is_manifest(name).then(|| path.to_owned())
}

fn point_cache(path: &Path) -> Outcome<Value> {
    let cache = PointCacheReader::open(path).map_err(Failure::input)?;
    let timing = match cache.timing() {
        PointTiming::Sampled {
            start_frame,
            sample_rate,
        } => json!({ "start_frame": start_frame, "sample_rate": sample_rate }),
        PointTiming::Seconds(t) => json!({ "first_secs": t.first(), "last_secs": t.last() }),
        _ => Value::Null,
    };
    let warnings = cache.warnings().iter();
    let warnings: Vec<Value> = warnings
        .map(|w| json!({ "code": w.code, "message": w.message }))
        .collect();
    Ok(json!({
        "kind": "point cache",
        "frames": cache.samples(),
        "points": cache.points(),
        "timing": timing,
        "warnings": warnings,
    }))
}
