//! What a bake came to, in words.

use super::words::{carrier_words, counted, percent};
use crate::reporter::Reporter;
use sinew::bake::vat::{Mode, PointPlan, Summary, split_words};

/// Says what a bake came to.
pub(super) fn tell(summary: &Summary, reporter: &Reporter) {
    for (code, message, frames) in &summary.warnings {
        reporter.warning(
            code,
            &format!("in {}: {message}", counted(*frames as u64, "frame")),
        );
    }
    if let Some(replaced) = &summary.replaced {
        let message = format!("replaced an earlier bake of '{replaced}'");
        reporter.info("replaced", &message);
    }
    for unused in &summary.unused_settings {
        reporter.warning("unused_setting", unused);
    }
    for (code, message) in &summary.not_kept {
        reporter.warning(code, message);
    }
    if let Some(simplified) = &summary.simplified {
        reporter.info("simplified", &simplified.words());
    }
    let plan = &summary.plan;
    let mode = match plan.mode() {
        Mode::Remesh => "triangles change",
        Mode::Soft => "triangles stay the same",
        Mode::Rigid => "pieces keep their shape",
        Mode::Particles => "points",
    };
    let [width, height] = plan.layout.size;
    let errors = &summary.errors;
    let normals = match errors.normal.samples() {
        0 => String::new(),
        _ => format!(
            ", normals within {:.2} degrees",
            errors.normal.largest.to_degrees()
        ),
    };
    let off = plan.retriangulated().map_or(0.0, |r| r.off);
    let surface = match off > 0.0 {
        true => format!(
            ", surface of retriangulated faces within {:.3} mm",
            off * 1e3
        ),
        false => String::new(),
    };
    let [largest, rms] = summary.position_errors();
    let message = format!(
        "{}, {mode}; {}, textures of {width} x {height}, {:.1} MB; positions within {:.3} mm (rms {:.4} mm){normals}{surface}; wrote {}",
        counted(summary.frames as u64, "frame"),
        carrier_words(plan.mode(), plan.triangles),
        summary.texture_bytes as f64 / 1e6,
        largest * 1e3,
        rms * 1e3,
        summary.manifest.display(),
    );
    reporter.info("baked", &message);
    if let Some(pieces) = plan.pieces() {
        reporter.info("pieces", &pieces.words());
    }
    if let Some(tears) = plan.tears() {
        reporter.info("tears", &split_words(tears.split_vertices, tears.are_edges));
    }
    if let Some(retriangulated) = plan.retriangulated() {
        reporter.info("retriangulated", &retriangulated.words());
    }
    if let Some(fallback) = plan.remesh_fallback() {
        reporter.info("remesh_fallback", &fallback.fallback_words());
    }
    if let Some(points) = plan.points() {
        tell_points(points, summary, reporter);
    }
}

/// Sizes of textures of unique points, and what they save.
fn tell_points(points: &PointPlan, summary: &Summary, reporter: &Reporter) {
    let [width, height] = points.layout.size;
    let [lookup_width, lookup_height] = summary.plan.layout.size;
    let message = format!(
        "at most {} per frame, in textures of {width} x {height} ({} unused) and a lookup texture of {lookup_width} x {lookup_height}; {:.1} MB in all, {:.1} MB with one texel per corner",
        counted(points.layout.vertices, "unique point"),
        percent(points.unused_texels()),
        summary.texture_bytes as f64 / 1e6,
        summary.plan.corner_bytes() as f64 / 1e6,
    );
    reporter.info("points", &message);
}
