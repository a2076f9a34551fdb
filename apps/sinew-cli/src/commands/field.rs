//! `sinew field`: looks at a signed distance field, as a picture of a slice or as the surface where it has a given value.

use crate::args::{Axis, FieldArgs};
use crate::exit::{Failure, Outcome};
use crate::load;
use crate::reporter::Reporter;
use crate::setup::{self, SetupFile};
use sinew::deform::sdf::{FieldView, FieldWords, isosurface};
use sinew::geom::{Image, Mesh, Topology, index32};
use sinew::graph::{BoundGraph, OutputData, Plan};
use sinew::io::gltf_write::{GlbOptions, write_glb};
use sinew::io::{FrameCache, Surface, write_png};
use sinew::play::{Character, Document, PlayInputs, Player, Runner};
use sinew_picture::{ColorMap, Scale};
use std::path::Path;
use std::sync::Arc;

/// Endings of surfaces.
const SURFACES: [&str; 3] = ["glb", "ply", "obj"];

pub(super) fn field(args: &FieldArgs, reporter: &Reporter) -> Outcome {
    for path in &args.output {
        let ending = ending(path);
        if ending != "png" && !SURFACES.contains(&ending.as_str()) {
            return Err(Failure::usage(format!(
                "{}: unknown file extension, expected .png (a slice), .{} (a surface)",
                path.display(),
                SURFACES.join(", .")
            )));
        }
    }
    if !(0.0..=1.0).contains(&args.at) {
        return Err(Failure::usage(format!(
            "--at is {}, expected 0 to 1",
            args.at
        )));
    }
    let character = load::character(&args.character, reporter)?;
    let document = document(args, &character, reporter)?;
    let plan = Arc::new(load::compile(&document, reporter)?);
    let cast = load::cast(
        character,
        &plan,
        &document,
        load::Given {
            files: &args.input_files,
            point_caches: &args.point_caches,
            expressions: &args.expressions,
        },
        reporter,
    )?;
    let mut player = player(args, &plan, cast, reporter)?;
    player.seek(args.frame, |_| reporter.check_interrupt())?;
    let name = output_name(args, player.graph())?;
    let Runner::Cpu(instance) = player.runner() else {
        return Err(Failure::bind("the field is not on the CPU"));
    };
    let words = instance.field_output(name).unwrap_or_default();
    let FieldWords::Grid(view) = FieldWords::read(words) else {
        return Err(Failure::bind(format!(
            "output '{name}' is a field of solids, which has no grid; draw a field that has one, such as that of node 'sdf'"
        )));
    };
    describe(&view, name, reporter);
    for path in &args.output {
        reporter.check_interrupt()?;
        if ending(path) == "png" {
            write_png(path, &slice(&view, args)).map_err(Failure::output)?;
        } else {
            write_surface(path, &view, args.level)?;
        }
        reporter.wrote_file();
        reporter.info("written", &format!("wrote {}", path.display()));
    }
    Ok(())
}

fn ending(path: &Path) -> String {
    let ending = path.extension().and_then(|e| e.to_str());
    ending.unwrap_or_default().to_ascii_lowercase()
}

/// The graph of `--graph`, or one that makes a field of the character's body.
fn document(args: &FieldArgs, character: &Character, reporter: &Reporter) -> Outcome<Document> {
    if let Some(path) = &args.graph {
        return load::document(path, reporter);
    }
    let skinned = character
        .asset
        .meshes
        .iter()
        .any(|m| m.influences.is_some());
    let (mesh, nodes) = match skinned {
        true => (
            "skin",
            r#""skin": {"node": "skin", "mesh": "body", "pose": "pose"},"#,
        ),
        false => ("body", ""),
    };
    let text = format!(
        r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "pose": {{"type": "pose"}}}},
 "nodes": {{{nodes} "field": {{"node": "sdf", "mesh": "{mesh}", "cells": {}, "sign": "winding_number"}}}}, "outputs": {{"field": "field"}}}}"#,
        args.cells
    );
    let name = format!("{} (field of its meshes)", character.path.display());
    Ok(Document::from_text(name, text, ""))
}

fn player(
    args: &FieldArgs,
    plan: &Arc<Plan>,
    cast: PlayInputs,
    reporter: &Reporter,
) -> Outcome<Player> {
    let parameters = load::settings(plan, &args.set)?;
    let clip = cast.main().find_clip_name(args.clip.as_deref())?;
    let graph = setup::bind(&cast, plan, &parameters, &SetupFile::default(), reporter)?;
    let runner = Runner::cpu(&graph);
    let player = Player::new(runner, cast, Vec::new(), clip.as_deref(), args.fps)?;
    Ok(player)
}

/// How to see a field that is no output.
const NO_OUTPUT: &str =
    "`sinew render --show field=NODE` draws the field of a node that is no output";

/// The field output of that name, or the only one.
fn output_name<'a>(args: &'a FieldArgs, graph: &'a BoundGraph) -> Outcome<&'a str> {
    let names = graph.plan().outputs().iter().zip(graph.program().outputs());
    let fields = names.filter(|(_, place)| matches!(place, OutputData::Field(_)));
    let fields: Vec<&str> = fields.map(|(o, _)| o.name.as_str()).collect();
    match (&args.field, fields.as_slice()) {
        (None, [one]) => Ok(one),
        (Some(name), all) if all.contains(&name.as_str()) => Ok(name),
        (_, []) => Err(Failure::bind(format!(
            "the graph has no field among its outputs; add one: \"outputs\": {{\"field\": \"NODE\"}}. {NO_OUTPUT}",
        ))),
        (None, all) => Err(Failure::usage(format!(
            "the graph has several fields; select one with --field: {}",
            all.join(", ")
        ))),
        (Some(name), all) => Err(Failure::usage(format!(
            "--field {name}: the graph has no such field output; known: {}. {NO_OUTPUT}",
            all.join(", ")
        ))),
    }
}

fn describe(view: &FieldView<'_>, name: &str, reporter: &Reporter) {
    let [x, y, z] = view.shape.nodes();
    let filled = view
        .table
        .iter()
        .filter(|s| **s != sinew::deform::sdf::NO_BRICK);
    let cell = view.shape.cell * view.frame.scene_length();
    reporter.info(
        "field",
        &format!(
            "{name}: {x} x {y} x {z} grid nodes, {cell:.5} m apart; {} of {} bricks hold distances",
            filled.count(),
            view.shape.brick_count()
        ),
    );
}

/// Where a field has no distance.
const UNSET_COLOR: [u8; 4] = [128, 128, 128, 255];

/// Distances on a plane: red outside, blue inside, lines at equal distances, a thick one on the surface; grey without a distance.
fn slice(view: &FieldView<'_>, args: &FieldArgs) -> Image {
    let unit = view.frame.scene_length();
    let (low, high) = (view.shape.origin, view.shape.high());
    let (axis, [right, up]) = match args.axis {
        Axis::X => (0, [2, 1]),
        Axis::Y => (1, [0, 2]),
        Axis::Z => (2, [0, 1]),
    };
    let extent = |k: usize| high[k] - low[k];
    let pixel = extent(right).max(extent(up)) / args.size as f32;
    let count = |k: usize| ((extent(k) / pixel).round() as usize).max(1);
    let (width, height) = (count(right), count(up));
    let point = |x: usize, y: usize| {
        let mut p = [0.0; 3];
        p[axis] = low[axis] + args.at * extent(axis);
        p[right] = low[right] + (x as f32 + 0.5) * pixel;
        p[up] = high[up] - (y as f32 + 0.5) * pixel;
        p
    };
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let values: Vec<Option<f32>> = pixels
        .map(|(x, y)| Some(view.sample_set(point(x, y))? * unit))
        .collect();
    let known = || values.iter().flatten().copied();
    let deepest = known().fold(0.0, f32::min).abs();
    let highest = known().fold(0.0, f32::max);
    let range = match deepest > 0.0 {
        true => deepest.max(highest / 4.0),
        false => highest.max(f32::MIN_POSITIVE),
    };
    let scale = Scale {
        map: ColorMap::RedBlue,
        min: -range,
        max: range,
        title: String::new(),
    };
    let spacing = range / 6.0;
    let colors = values.iter().map(|&v| {
        let Some(v) = v else { return UNSET_COLOR };
        let away = (v / spacing - (v / spacing).round()).abs() * spacing / (pixel * unit);
        let on_surface = v.abs() / (pixel * unit);
        let ink = if on_surface < 2.5 {
            (2.5 - on_surface).min(1.0)
        } else {
            0.35 * (1.0 - away).max(0.0)
        };
        let [r, g, b] = scale.color(v).map(|c| (f32::from(c) * (1.0 - ink)) as u8);
        [r, g, b, 255]
    });
    Image::from_pixels(width, height, colors.collect())
}

fn write_surface(path: &Path, view: &FieldView<'_>, level: f32) -> Outcome {
    let unit = view.frame.scene_length();
    let found = isosurface(view, level / unit);
    if found.triangles.is_empty() {
        return Err(Failure::output(format!(
            "{}: the field has no surface at --level {level}; choose a distance that it reaches",
            path.display()
        )));
    }
    let positions: Vec<[f32; 3]> = (found.positions.iter())
        .map(|p| view.frame.point_to_scene(*p))
        .collect();
    let count = index32(positions.len());
    let topology = Topology::new(count, found.triangles).map_err(Failure::output)?;
    let mut mesh = Mesh::new("isosurface", topology, positions);
    mesh.normals = Some(sinew::deform::tangent_frames::compute_normals(&mesh));
    match ending(path).as_str() {
        "obj" => sinew::io::obj::write_obj(path, &[Surface::from(&mesh)]).map_err(Failure::output),
        "ply" => {
            let options = sinew::io::ply::PlyOptions::default();
            sinew::io::ply::write_ply(path, &[Surface::from(&mesh)], options)
                .map_err(Failure::output)
        }
        _ => {
            let written = write_glb(path, &FrameCache::still(&mesh), &GlbOptions::default());
            written.map(|_| ()).map_err(Failure::output)
        }
    }
}
