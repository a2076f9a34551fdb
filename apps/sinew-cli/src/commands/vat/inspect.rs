//! `sinew vat inspect`: what a bake holds.

use super::words::{counted, name_of, percent};
use crate::exit::{Failure, Outcome};
use crate::reporter::Reporter;
use sinew::bake::vat::{Mode, read_manifest, split_words};
use std::fmt::Write;
use std::path::Path;

/// Prints what the bake in a folder, or of a manifest, holds; files that are not there are an error.
pub(crate) fn inspect(bake: &Path, reporter: &Reporter) -> Outcome {
    let (path, manifest) = read_manifest(bake)?;
    let mut out = String::new();
    let layout = &manifest.layout;
    let [width, height] = layout.size;
    let (low, high) = manifest.bounds;
    // Writing into a string cannot fail.
    let _ = writeln!(out, "{}: {}", path.display(), name_of(&manifest.mode));
    let _ = writeln!(out, "frames    {}", manifest.frame_count());
    let what = match manifest.mode {
        Mode::Remesh | Mode::Soft => "vertices",
        Mode::Rigid => "pieces",
        Mode::Particles => "quads",
    };
    let _ = writeln!(out, "{what:<9} {}", layout.vertices);
    if let Some(split) = manifest.split_vertices {
        let _ = writeln!(
            out,
            "split     {}",
            split_words(split, manifest.splits_are_edges)
        );
    }
    if !manifest.middles.is_empty() {
        let quads = manifest.middles.len() / 2;
        let _ = writeln!(
            out,
            "quads     {quads} with a centre vertex, because frames split them along different diagonals"
        );
    }
    if let Some(off) = manifest.surface_off {
        let off = off * 1e3;
        let _ = writeln!(
            out,
            "surface   within {off:.4} mm where frames triangulate faces differently"
        );
    }
    let _ = writeln!(
        out,
        "{}  {width} x {height}, {} unused",
        if manifest.lookup.is_some() {
            "lookup  "
        } else {
            "textures"
        },
        percent(layout.waste())
    );
    if let Some(lookup) = &manifest.lookup {
        let [width, height] = lookup.points.size;
        let _ = writeln!(
            out,
            "points    at most {}, in textures of {width} x {height}; lookup texture {}",
            lookup.points.vertices, lookup.file
        );
    }
    let unit = match manifest.space.units_per_metre() {
        1.0 => "m",
        _ => "cm",
    };
    let _ = writeln!(out, "box       {low:?} to {high:?} {unit}");
    let _ = writeln!(out, "space     {}", manifest.space);
    if let Some(origin) = manifest.origin {
        let _ = writeln!(out, "origin    {origin:?} m of the source (axes of glTF)");
    }
    let _ = writeln!(
        out,
        "carrier   {}, texture coordinates {}",
        manifest.carrier, manifest.uv_set
    );
    let _ = writeln!(
        out,
        "blending  {}",
        match (manifest.can_blend, manifest.has_ends) {
            (true, true) => "yes: the row after each frame holds its end pose",
            (true, false) => "yes",
            (false, _) => "no: triangles of different frames are unrelated",
        }
    );
    for texture in &manifest.textures {
        let (spec, files) = (&texture.spec, texture.files.join(", "));
        let _ = writeln!(
            out,
            "{:<9} {}, {}: {files}",
            spec.quantity.file_name(),
            name_of(&spec.format),
            counted(spec.ranges.len() as u64, "channel")
        );
    }
    for clip in &manifest.clips {
        let f = &clip.frames;
        let _ = writeln!(
            out,
            "clip      {}: {} from {} on, {} per second, {}",
            clip.name,
            counted(f.count, "frame"),
            f.first,
            f.frames_per_second,
            name_of(&f.at_end)
        );
    }
    reporter.print(&out);
    let files = manifest.textures.iter().flat_map(|t| &t.files);
    let files = files.chain(manifest.lookup.iter().map(|l| &l.file));
    let absent: Vec<&str> = files
        .chain([&manifest.carrier])
        .filter(|name| !path.with_file_name(name).is_file())
        .map(String::as_str)
        .collect();
    match absent.is_empty() {
        true => Ok(()),
        false => Err(Failure::input(format!(
            "{}: missing files: {}",
            path.display(),
            absent.join(", ")
        ))),
    }
}
