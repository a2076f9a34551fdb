//! `sinew vat size`: how large textures get, before there is a sequence.

use crate::bake_args::VatSizeArgs;
use crate::exit::{Failure, Outcome};
use crate::talk::print;
use sinew::vat::layout::{Arrangement, Layout, LayoutError};
use sinew::vat::points::LOOKUP_BYTES;
use sinew::vat::texel::TexelFormat;
use std::fmt::Write;

/// Largest sides that kinds of devices promise, texels.
const DEVICES: [(&str, u32); 3] = [("WebGL 2", 2048), ("WebGPU", 8192), ("desktop", 16384)];
const FORMATS: [(&str, TexelFormat); 5] = [
    ("unorm8", TexelFormat::Unorm8),
    ("unorm16", TexelFormat::Unorm16),
    ("two_unorm8", TexelFormat::TwoUnorm8),
    ("half", TexelFormat::Half),
    ("float", TexelFormat::Float),
];

pub(super) fn size(args: &VatSizeArgs) -> Outcome {
    let corners = args.triangles.map(|t| u64::from(t) * 3);
    let wanted = corners.or(args.vertices.map(u64::from)).unwrap_or(0);
    let vertices = u32::try_from(wanted).map_err(|_| {
        Failure::usage(format!(
            "{wanted} texels a frame, expected 4294967295 at most"
        ))
    })?;
    // The corners of a triangle stay in one row.
    let unit = if corners.is_some() { 3 } else { 1 };
    let fitting_frames = |frames, side| fitting(vertices, frames, unit, side, args.power_of_two);
    let fitting = |side| fitting_frames(args.frames, side);
    let layout = fitting(args.max_side).map_err(Failure::bind)?;
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = writeln!(out, "vertices  {vertices}");
    let _ = writeln!(out, "frames    {}", args.frames);
    let [width, height] = layout.size;
    let _ = writeln!(
        out,
        "texture   {width} x {height}, {}",
        layout_words(&layout)
    );
    if corners.is_some() {
        // Frames whose triangles change come with their ends by default.
        let closed = args.frames.saturating_mul(2);
        let words = match fitting_frames(closed, args.max_side) {
            Ok(with_ends) => format!("{} x {}", with_ends.size[0], with_ends.size[1]),
            Err(error) => error.to_string(),
        };
        let _ = writeln!(
            out,
            "          with closed in-betweens, two rows a frame: {words}"
        );
    }
    let used = u64::from(vertices) * u64::from(args.frames);
    let unused = layout.texels() - used;
    let share = layout.waste() * 100.0;
    let _ = writeln!(
        out,
        "texels    {} in all, {unused} unused ({share:.2} %)",
        layout.texels()
    );
    for (name, format) in FORMATS {
        let channel = layout.texels() * format.bytes() as u64;
        let (three, four) = (3 * channel, 4 * channel);
        let _ = writeln!(
            out,
            "{name:<11}{three} bytes for three channels (positions, normals), {four} for four"
        );
    }
    if let Some(points) = args.points {
        out += &with_points(args, points, &layout)?;
    }
    for (name, side) in DEVICES {
        let fits = width <= side && height <= side;
        let words = match (fits, fitting(side)) {
            (true, _) => "yes".into(),
            (false, Ok(other)) => {
                let [width, height] = other.size;
                format!("no; with --max-side {side} it is {width} x {height}")
            }
            (false, Err(_)) => "no, and no other layout does".into(),
        };
        let device = format!("{name} ({side})");
        let _ = writeln!(out, "{device:<16}  {words}");
    }
    print(&out);
    Ok(())
}

/// What one texel a unique point comes to; `corners` is the layout of the lookup.
fn with_points(args: &VatSizeArgs, points: u32, corners: &Layout) -> Outcome<String> {
    let layout = fitting(points, args.frames, 1, args.max_side, args.power_of_two);
    let layout = layout.map_err(Failure::bind)?;
    let ([width, height], [lookup_width, lookup_height]) = (layout.size, corners.size);
    let lookup = corners.texels() * LOOKUP_BYTES as u64;
    // Positions of 16 bits, normals of 8: what a bake has by default.
    let of_vertex = 3 * (TexelFormat::Unorm16.bytes() + TexelFormat::Unorm8.bytes()) as u64;
    let unique = layout.texels() * of_vertex + lookup;
    let plain = corners.texels() * of_vertex;
    let share = unique as f64 / plain as f64 * 100.0;
    Ok(format!(
        "unique points: textures of {width} x {height}, {}; a lookup of {lookup_width} x {lookup_height}, {lookup} bytes\n          positions unorm16, normals unorm8 and lookup: {unique} bytes, {share:.1} % of {plain} with a texel for each corner\n",
        layout_words(&layout)
    ))
}

/// The layout that a bake takes.
fn fitting(
    vertices: u32,
    frames: u32,
    unit: u32,
    side: u32,
    powers_of_two: bool,
) -> Result<Layout, LayoutError> {
    let layout = Layout::fitting(vertices, frames, unit, side)?;
    match powers_of_two {
        true => layout.padded_to_powers_of_two(side),
        false => Ok(layout),
    }
}

fn layout_words(layout: &Layout) -> String {
    match layout.arrangement {
        Arrangement::Blocks {
            block: [_, 1],
            across: 1,
        } => "one row a frame".into(),
        Arrangement::Blocks {
            block: [width, height],
            across,
        } => format!("a frame is a block of {width} x {height}, {across} of them side by side"),
        Arrangement::Columns { width } => format!("a vertex is a column, {width} side by side"),
    }
}
