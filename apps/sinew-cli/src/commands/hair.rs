//! `sinew hair`.

use crate::args::Numbers;
use crate::exit::{Failure, Outcome};
use crate::hair_args::{HairCommand, HairGrowArgs};
use crate::load;
use crate::reporter::Reporter;
use crate::setup::{self, SetupFile};
use sinew::deform::BindWatch;
use sinew::geom::{GrowAmount, GrowSettings, Selection};
use sinew::graph::SetupProgress;
use sinew::hair::{
    Comb, GrowRequest, HAIR_ENDINGS, HairError, HairStyle, grow_hair, hair_style, write_hair,
};
use sinew::io::tressfx::LOADABLE;
use sinew::play::{Character, Player, Runner};
use std::path::Path;
use std::sync::Arc;

/// Degrees of random tilt.
const LEAN: f32 = 6.0;

pub(super) fn hair(command: &HairCommand, reporter: &Reporter) -> Outcome {
    match command {
        HairCommand::Grow(args) => grow(args, reporter),
    }
}

fn grow(args: &HairGrowArgs, reporter: &Reporter) -> Outcome {
    for path in &args.output {
        check_ending(path)?;
        check_vertices(path, settings(args).vertices)?;
    }
    let character = bare(load::character(&args.character, reporter)?, args);
    for path in &args.output {
        load::check_vrm_output(path, &character)?;
    }
    let request = request(args, &character, reporter)?;
    warn_of_units(args, &character, &request, reporter)?;
    let grown = reporter.follow("growth", |watch| {
        let report = |done| (watch.report)(SetupProgress::new(done, "hair"));
        let is_stopped = watch.is_stopped;
        let watch = BindWatch {
            report: &report,
            is_stopped,
        };
        grow_hair(&character, &request, &watch)
    });
    reporter.check_interrupt()?;
    let hair = grown.map_err(|e| failure(e, args))?;
    let strands = hair.topology.strands().map_or(0, |s| s.len());
    reporter.info(
        "grown",
        &format!(
            "{strands} strands of {} vertices",
            request.settings.vertices
        ),
    );
    for path in &args.output {
        reporter.check_interrupt()?;
        let warnings = write_hair(path, &character, &hair).map_err(Failure::output)?;
        for w in warnings {
            reporter.warning(w.code, &w.message);
        }
        reporter.wrote_file();
        reporter.info("written", &format!("wrote {}", path.display()));
    }
    Ok(())
}

fn failure(error: HairError, args: &HairGrowArgs) -> Failure {
    match error {
        HairError::Selection(_)
        | HairError::Attribute { .. }
        | HairError::Joint { .. }
        | HairError::Clearance(_) => Failure::usage(error),
        other => Failure::bind(format!("{}: {other}", args.character.display())),
    }
}

fn check_ending(path: &Path) -> Outcome {
    let ending = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    if HAIR_ENDINGS
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
    {
        return Ok(());
    }
    let known = HAIR_ENDINGS.join(", .");
    let message = format!(
        "{}: unknown file extension, expected .{known}",
        path.display()
    );
    Err(Failure::usage(message))
}

/// Refuses what a `.tfx` file cannot hold before strands grow.
fn check_vertices(path: &Path, vertices: usize) -> Outcome {
    let is_tfx = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("tfx"));
    if !is_tfx || LOADABLE.contains(&vertices) {
        return Ok(());
    }
    let path = path.display();
    Err(Failure::usage(format!(
        "{path}: a .tfx file cannot hold {vertices} vertices per strand; use 4, 8, 16, 32 or 64 (--vertices)"
    )))
}

fn request(
    args: &HairGrowArgs,
    character: &Arc<Character>,
    reporter: &Reporter,
) -> Outcome<GrowRequest> {
    let mut request = GrowRequest::default();
    request.meshes = args.mesh.clone().map_or(Selection::All, Selection::Named);
    request.density = args.density.clone();
    request.length = args.length_map.clone();
    request.joints = args.joint.iter().map(|j| j.trim().to_owned()).collect();
    let corners = |b: &Numbers<6>| [[b.0[0], b.0[1], b.0[2]], [b.0[3], b.0[4], b.0[5]]];
    request.boxes = args.boxes.iter().map(corners).collect();
    if let (Some(output), Some(graph)) = (&args.mask, &args.graph) {
        request.mask = Some(mask(graph, output, character, reporter)?);
    }
    request.comb = args
        .comb
        .as_ref()
        .map(|comb| match comb.parse::<Numbers<3>>() {
            Ok(direction) => Comb::Direction(direction.0),
            Err(_) => Comb::Attribute(comb.clone()),
        });
    request.guides = guides(args, reporter)?;
    request.settings = settings(args);
    if let Some(style) = style(args) {
        let is_limited = style.complete(&mut request, character);
        if !is_limited.map_err(|e| failure(e, args))? && style.name != "fur" {
            let path = args.character.display();
            reporter.warning("hair_everywhere", &format!("{path}: hair grows everywhere, because the mesh has no painted attribute `scalp`; use --joint, --box, --mask or --density"));
        }
    }
    if args.gather.is_some_and(|g| g > 0.0) && request.guides.is_empty() {
        return Err(Failure::usage(
            "--gather needs a curve: --guide POINTS or --guide FILE",
        ));
    }
    if args.comb_strength < 1.0 && request.guides.is_empty() && request.comb.is_none() {
        return Err(Failure::usage("--comb-strength needs --comb or --guide"));
    }
    request.clearance = (!args.no_clearance).then_some(args.clearance);
    Ok(request)
}

/// Warns of lengths that are far too large for the meshes, such as numbers of centimetres.
fn warn_of_units(
    args: &HairGrowArgs,
    character: &Character,
    request: &GrowRequest,
    reporter: &Reporter,
) -> Outcome {
    let mesh = character.asset.merged(&request.meshes);
    let mesh = mesh.map_err(Failure::usage)?;
    let side = |c: usize| {
        let all = || mesh.positions.iter().map(|p| p[c]);
        all().fold(f32::MIN, f32::max) - all().fold(f32::MAX, f32::min)
    };
    let size = (0..3).map(side).fold(0.0, f32::max);
    let thickness = args.thickness.map(|t| t.0[0].max(t.0[1]));
    // With each option, the largest usual length, in sizes of the meshes.
    for (option, given, most) in [
        ("length", args.length, 3.0),
        ("curl", args.curl, 0.5),
        ("curl-length", args.curl_length, 3.0),
        ("clump-size", args.clump_size, 1.0),
        ("frizz", args.frizz, 0.5),
        ("frizz-length", args.frizz_length, 3.0),
        ("clearance", Some(args.clearance), 0.5),
        ("thickness", thickness, 0.05),
    ] {
        let Some(found) = given.filter(|g| size > 0.0 && *g > most * size) else {
            continue;
        };
        let path = args.character.display();
        reporter.warning("length_large", &format!("--{option}: {found} m is very large for {path}, whose longest side is {size:.3} m; lengths are in metres: 3 cm are 0.03"));
    }
    Ok(())
}

fn style(args: &HairGrowArgs) -> Option<&'static HairStyle> {
    args.preset.as_deref().and_then(hair_style)
}

/// Settings of the preset, or the usual ones, with those that are given.
fn settings(args: &HairGrowArgs) -> GrowSettings {
    let mut out = style(args).map_or_else(GrowSettings::default, HairStyle::settings);
    if let Some(count) = args.count {
        out.amount = GrowAmount::Strands(count);
    }
    if let Some(density) = args.per_square_metre {
        out.amount = GrowAmount::PerSquareMetre(density);
    }
    out.vertices = args.vertices.unwrap_or(out.vertices);
    let usual_lean = match args.preset {
        Some(_) => out.lean,
        None => LEAN.to_radians(),
    };
    out.lean = args.lean.map_or(usual_lean, f32::to_radians);
    out.comb = args.comb_strength;
    for (setting, given) in [
        (&mut out.length, args.length),
        (&mut out.length_variation, args.length_variation),
        (&mut out.fade, args.fade),
        (&mut out.bend, args.bend),
        (&mut out.droop, args.droop),
        (&mut out.curl_radius, args.curl),
        (&mut out.curl_length, args.curl_length),
        (&mut out.gather, args.gather),
        (&mut out.clump, args.clump),
        (&mut out.clump_size, args.clump_size),
        (&mut out.frizz, args.frizz),
        (&mut out.frizz_length, args.frizz_length),
    ] {
        *setting = given.unwrap_or(*setting);
    }
    out.thickness = args.thickness.as_ref().map(|t| t.0).or(out.thickness);
    out.colors = args.color.map(|c| c.0).or(out.colors);
    out.seed = args.seed;
    out
}

/// The character. A built-in sample loses the hair that it shows without a file: new hair takes its place.
fn bare(character: Arc<Character>, args: &HairGrowArgs) -> Arc<Character> {
    if load::built_in_name(&args.character).is_none() || character.asset.strands.is_empty() {
        return character;
    }
    let mut asset = character.asset.clone();
    asset.strands.clear();
    let path = character.path.clone();
    let mut out = Character::from_asset(asset);
    out.path = path;
    Arc::new(out)
}

/// The guide curves: those of a file, or the one through the given points.
fn guides(args: &HairGrowArgs, reporter: &Reporter) -> Outcome<Vec<Vec<[f32; 3]>>> {
    let Some(given) = &args.guide else {
        return Ok(Vec::new());
    };
    let points = given.split_whitespace().map(|p| p.parse::<Numbers<3>>());
    if let Ok(points) = points.collect::<Result<Vec<_>, _>>() {
        return Ok(vec![points.iter().map(|p| p.0).collect()]);
    }
    let path = Path::new(given);
    let file = load::character(path, reporter)?;
    let mut out = Vec::new();
    for mesh in &file.asset.strands {
        let strands = mesh.topology.strands().into_iter();
        out.extend(
            strands
                .flat_map(|s| s.ranges())
                .map(|r| mesh.positions[r].to_vec()),
        );
    }
    match out.is_empty() {
        true => Err(Failure::usage(format!(
            "--guide {}: the file has no curves; expected lines in a GLB or glTF file, or strands in a TFX file",
            path.display()
        ))),
        false => Ok(out),
    }
}

/// A mask output of a graph, in the rest pose.
fn mask(
    graph: &Path,
    output: &str,
    character: &Arc<Character>,
    reporter: &Reporter,
) -> Outcome<Vec<f32>> {
    let document = load::document(graph, reporter)?;
    let mut plan = load::compile(&document, reporter)?;
    let kept = plan.keep_outputs(&[output]);
    kept.map_err(|e| Failure::usage(format!("--mask {output}: {e}")))?;
    let plan = Arc::new(plan);
    let folders = &document.folders;
    let cast = load::gather(
        character.clone(),
        &plan,
        folders,
        load::Given::default(),
        reporter,
    )?;
    let bound = setup::bind(&cast, &plan, &[], &SetupFile::default(), reporter)?;
    let rest = character.asset.rig.rest_pose();
    let mut player = Player::new(Runner::cpu(&bound), cast, Vec::new(), None, 30.0)?;
    player.advance_posed(0, &rest)?;
    let found = match player.runner() {
        Runner::Cpu(instance) => instance.float_output(output).map(<[f32]>::to_vec),
        _ => None,
    };
    found.ok_or_else(|| {
        Failure::usage(format!("--mask {output}: this output is not a mask; link a node 'mask' in the outputs of the graph"))
    })
}
