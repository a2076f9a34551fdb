//! Strands as lines.

use sinew::deform::Line;
use sinew::geom::{Mesh, Vec3};

/// Linear RGB of strands without colours.
const BROWN: [f32; 3] = [0.21, 0.1, 0.045];
/// Where light comes from, scene space.
const LIGHT: [f32; 3] = [0.35, 0.85, 0.4];

/// One line a segment. As hair does, strands scatter most light where they lie across it (Kajiya and Kay 1989); each is a little lighter or darker than its
/// neighbours, so that eyes can follow it.
pub(super) fn lines(rest: &Mesh, positions: &[[f32; 3]]) -> Vec<Line> {
    let Some(strands) = rest.topology.strands() else {
        return Vec::new();
    };
    let light = Vec3::from(LIGHT).normalize();
    let colors = rest.colors.first();
    let mut out = Vec::with_capacity(strands.segment_count());
    for (strand, range) in strands.ranges().enumerate() {
        let shade = 0.75 + 0.5 * fraction(strand);
        for v in range.start + 1..range.end {
            let (from, to) = (positions[v - 1], positions[v]);
            let along = (Vec3::from(to) - Vec3::from(from)).try_normalize(0.0);
            let across = along.map_or(1.0, |t| (1.0 - t.dot(&light).powi(2)).max(0.0).sqrt());
            let [r, g, b] = colors.map_or(BROWN, |c| [c[v][0], c[v][1], c[v][2]]);
            let bright = shade * (0.35 + 0.9 * across);
            let color = [r * bright, g * bright, b * bright, 1.0];
            out.push(Line { from, to, color });
        }
    }
    out
}

/// A number from 0 to 1 that neighbours do not share.
fn fraction(strand: usize) -> f32 {
    let mixed = (strand as u32).wrapping_mul(0x9e37_79b9);
    (mixed >> 8) as f32 / (1 << 24) as f32
}
