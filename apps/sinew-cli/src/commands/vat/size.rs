//! `sinew vat size`: how large textures get.

use super::size_of::of_sequence;
use crate::bake_args::{PlayedArgs, PointsArg, SizePoints, VatSizeArgs};
use crate::exit::{Failure, Outcome};
use crate::reporter::Reporter;
use sinew::vat::layout::{Arrangement, DEVICES, Layout, LayoutError, Limits};
use sinew::vat::lookup::LOOKUP_BYTES;
use sinew::vat::texel::TexelFormat;
use std::fmt::Write;

const FORMATS: [(&str, TexelFormat); 5] = [
    ("unorm8", TexelFormat::Unorm8),
    ("unorm16", TexelFormat::Unorm16),
    ("two_unorm8", TexelFormat::TwoUnorm8),
    ("half", TexelFormat::Half),
    ("float", TexelFormat::Float),
];

/// Side of textures where nobody says another one, as of bakes.
const DEFAULT_SIDE: u32 = 4096;

pub(super) fn size(args: &VatSizeArgs, reporter: &Reporter) -> Outcome {
    let text = match &args.sequence {
        Some(sequence) => of_sequence(sequence, args, reporter)?,
        None => of_numbers(args)?,
    };
    reporter.print(&text);
    Ok(())
}

/// What numbers come to.
fn of_numbers(args: &VatSizeArgs) -> Outcome<String> {
    if args.played != PlayedArgs::default() {
        return Err(Failure::usage(
            "options of clips and graphs (--clip, --graph, --range, --fps, ...) need a sequence; name it as well",
        ));
    }
    let points = points_of_numbers(args)?;
    let corners = args.triangles.map(|t| u64::from(t) * 3);
    let wanted = corners.or(args.vertices.map(u64::from)).unwrap_or(0);
    let vertices = u32::try_from(wanted).map_err(|_| {
        Failure::usage(format!(
            "{wanted} texels per frame, expected at most 4294967295"
        ))
    })?;
    let limits = Limits {
        // The corners of a triangle stay in one row.
        unit: if corners.is_some() { 3 } else { 1 },
        side: args.max_side.unwrap_or(DEFAULT_SIDE),
        powers_of_two: args.power_of_two,
    };
    let frames = frames_of_numbers(args)?;
    let layout = limits.fitting(vertices, frames);
    let layout = layout.map_err(|e| too_large(&e, &limits, vertices, frames))?;
    let mut out = size_words(&layout, frames, "vertices");
    if corners.is_some() {
        // Frames whose triangles change come with their ends by default.
        let words = match limits.fitting(vertices, frames.saturating_mul(2)) {
            Ok(with_ends) => format!("{} x {}", with_ends.size[0], with_ends.size[1]),
            Err(error) => {
                let proposal = proposal_of(&limits, vertices, frames.saturating_mul(2));
                format!("{error}{proposal}")
            }
        };
        let line = format!("          with end poses, two rows per frame: {words}");
        out.push_str(&line);
        out.push('\n');
    }
    out += &texel_words(&layout);
    for (name, format) in FORMATS {
        let channel = layout.texels() * format.bytes() as u64;
        let (three, four) = (3 * channel, 4 * channel);
        // Writing into a string cannot fail.
        let _ = writeln!(
            out,
            "{name:<11}{three} bytes for three channels (positions, normals), {four} for four"
        );
    }
    if let Some(points) = points {
        out += &with_points(&limits, points, &layout)?;
    }
    out += &device_words(&layout, &limits);
    Ok(out)
}

/// How many frames there are.
fn frames_of_numbers(args: &VatSizeArgs) -> Outcome<u32> {
    let text = args.frames.as_deref().unwrap_or_default();
    text.parse().map_err(|_| {
        Failure::usage(format!(
            "--frames {text}: expected a number of frames; only a sequence has frames to select"
        ))
    })
}

fn too_large(error: &LayoutError, limits: &Limits, vertices: u32, frames: u32) -> Failure {
    let proposal = proposal_of(limits, vertices, frames);
    Failure::bind(format!("{error}{proposal}"))
}

/// Which larger side would do, of those that devices promise; nothing where none does.
fn proposal_of(limits: &Limits, vertices: u32, frames: u32) -> String {
    match limits.larger_device(vertices, frames) {
        Some((device, side)) => format!("; --max-side {side} does ({device})"),
        None => String::new(),
    }
}

/// How many unique points there are, where that is asked.
fn points_of_numbers(args: &VatSizeArgs) -> Outcome<Option<u32>> {
    match args.points {
        None | Some(SizePoints::Of(PointsArg::Corners)) => Ok(None),
        Some(SizePoints::Of(PointsArg::Unique)) => Err(Failure::usage(
            "--points unique needs a sequence; without one, give the number of unique points: --points NUMBER (about half the number of triangles)",
        )),
        Some(SizePoints::Number(_)) if args.triangles.is_none() => Err(Failure::usage(
            "--points NUMBER needs --triangles; with constant triangles, each vertex has one texel",
        )),
        Some(SizePoints::Number(number)) => Ok(Some(number)),
    }
}

/// What has texels, frames and the texture.
pub(super) fn size_words(layout: &Layout, frames: u32, what: &str) -> String {
    let ([width, height], vertices) = (layout.size, layout.vertices);
    let words = layout_words(layout);
    format!("{what:<10}{vertices}\nframes    {frames}\ntexture   {width} x {height}, {words}\n")
}

/// How many texels there are, and how many of them nothing uses.
pub(super) fn texel_words(layout: &Layout) -> String {
    let used = u64::from(layout.vertices) * u64::from(layout.frames);
    let unused = layout.texels() - used;
    let share = layout.waste() * 100.0;
    format!(
        "texels    {} in all, {unused} unused ({share:.2} %)\n",
        layout.texels()
    )
}

/// Which devices hold a texture.
pub(super) fn device_words(layout: &Layout, limits: &Limits) -> String {
    let [width, height] = layout.size;
    let line = |(name, side): (&str, u32)| {
        let limits = Limits { side, ..*limits };
        let other = limits.fitting(layout.vertices, layout.frames);
        let words = match (width <= side && height <= side, other) {
            (true, _) => "yes".into(),
            (false, Ok(other)) => {
                let [width, height] = other.size;
                format!("no; with --max-side {side} it is {width} x {height}")
            }
            (false, Err(_)) => "no, with no layout".into(),
        };
        let device = format!("{name} ({side})");
        format!("{device:<16}  {words}\n")
    };
    DEVICES.map(line).concat()
}

/// What one texel a unique point comes to; `corners` is the layout of the lookup.
fn with_points(limits: &Limits, points: u32, corners: &Layout) -> Outcome<String> {
    let limits = Limits { unit: 1, ..*limits };
    let layout = limits.fitting(points, corners.frames);
    let layout = layout.map_err(Failure::bind)?;
    let ([width, height], [lookup_width, lookup_height]) = (layout.size, corners.size);
    let lookup = corners.texels() * LOOKUP_BYTES as u64;
    // Positions of 16 bits, normals of 8: what a bake has by default.
    let of_vertex = 3 * (TexelFormat::Unorm16.bytes() + TexelFormat::Unorm8.bytes()) as u64;
    let unique = layout.texels() * of_vertex + lookup;
    let plain = corners.texels() * of_vertex;
    let share = unique as f64 / plain as f64 * 100.0;
    Ok(format!(
        "unique points: textures of {width} x {height}, {}; a lookup texture of {lookup_width} x {lookup_height}, {lookup} bytes\n          positions unorm16, normals unorm8 and lookup: {unique} bytes, {share:.1} % of {plain} with one texel per corner\n",
        layout_words(&layout)
    ))
}

pub(super) fn layout_words(layout: &Layout) -> String {
    match layout.arrangement {
        Arrangement::Blocks {
            block: [_, 1],
            across: 1,
        } => "one row per frame".into(),
        Arrangement::Blocks {
            block: [width, height],
            across,
        } => format!("a frame is a block of {width} x {height}, {across} of them side by side"),
        Arrangement::Columns { width } => format!("a vertex is a column, {width} side by side"),
    }
}
