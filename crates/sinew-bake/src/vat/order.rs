//! Simple orders of triangles, for players that step from frame to frame.

use sinew_geom::{Bounds, Mesh};
use sinew_vat::remesh::SlotContent;

/// Bits of one coordinate along the curve.
const BITS: u32 = 16;

/// Triangles along a Hilbert curve through a box, by their middles.
pub(crate) fn along_curve(mesh: &Mesh, bounds: &Bounds) -> Vec<u32> {
    sorted(mesh, |corners| {
        let middle = std::array::from_fn(|k| {
            let sum: f64 = corners
                .iter()
                .map(|v| f64::from(mesh.positions[*v as usize][k]))
                .sum();
            sum / 3.0
        });
        curve_index(middle, bounds)
    })
}

/// Triangles by the hue of their first colour, then by lightness; as they are where there is no colour.
pub(crate) fn by_color(mesh: &Mesh) -> Vec<u32> {
    let Some(colors) = mesh.colors.first() else {
        return (0..mesh.topology.triangles().len() as u32).collect();
    };
    sorted(mesh, |corners| {
        let mean = |k: usize| {
            corners
                .iter()
                .map(|v| f64::from(colors[*v as usize][k]))
                .sum::<f64>()
                / 3.0
        };
        hue_and_lightness([mean(0), mean(1), mean(2)])
    })
}

fn sorted(mesh: &Mesh, key: impl Fn(&[u32; 3]) -> u64) -> Vec<u32> {
    let triangles = mesh.topology.triangles().iter().zip(0..);
    let mut keyed: Vec<(u64, u32)> = triangles.map(|(t, i)| (key(t), i)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|k| k.1).collect()
}

/// Slots that show triangles in an order; those behind them are at one point.
pub(crate) fn slots_in_order(order: &[u32], slots: u32, absent: [f32; 3]) -> Vec<SlotContent> {
    let live = order
        .iter()
        .map(|&triangle| SlotContent::Triangle { triangle, turn: 0 });
    let empty = std::iter::repeat(SlotContent::Absent { point: absent });
    live.chain(empty).take(slots as usize).collect()
}

/// Hue in the high half, lightness in the low one; greys have hue zero.
fn hue_and_lightness([r, g, b]: [f64; 3]) -> u64 {
    let (high, low) = (r.max(g).max(b), r.min(g).min(b));
    let spread = high - low;
    let sixth = match spread {
        s if s <= 0.0 => 0.0,
        s if high == r => ((g - b) / s).rem_euclid(6.0),
        s if high == g => (b - r) / s + 2.0,
        s => (r - g) / s + 4.0,
    };
    let code = |share: f64| (share.clamp(0.0, 1.0) * f64::from(u32::MAX)) as u64;
    (code(sixth / 6.0) << 32) | code(f64::midpoint(high, low))
}

/// Place along the curve (Skilling 2004: transpose of the Hilbert index by exchanges and inversions of bits).
fn curve_index(at: [f64; 3], (low, high): &Bounds) -> u64 {
    let most = f64::from((1_u32 << BITS) - 1);
    let mut x: [u32; 3] = std::array::from_fn(|k| {
        let size = f64::from(high[k]) - f64::from(low[k]);
        let share = if size > 0.0 {
            (at[k] - f64::from(low[k])) / size
        } else {
            0.0
        };
        (share.clamp(0.0, 1.0) * most) as u32
    });
    let mut bit = 1_u32 << (BITS - 1);
    while bit > 1 {
        let below = bit - 1;
        for k in 0..3 {
            if x[k] & bit != 0 {
                x[0] ^= below;
            } else {
                let exchanged = (x[0] ^ x[k]) & below;
                x[0] ^= exchanged;
                x[k] ^= exchanged;
            }
        }
        bit >>= 1;
    }
    x[1] ^= x[0];
    x[2] ^= x[1];
    let mut turned = 0;
    let mut bit = 1_u32 << (BITS - 1);
    while bit > 1 {
        if x[2] & bit != 0 {
            turned ^= bit - 1;
        }
        bit >>= 1;
    }
    let x = x.map(|c| c ^ turned);
    (0..BITS).rev().fold(0, |index, bit| {
        x.iter()
            .fold(index, |index, c| (index << 1) | u64::from((c >> bit) & 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells of a cube of 16, in the order of the curve: each is next to the one before, and each comes once.
    #[test]
    fn the_curve_goes_from_neighbour_to_neighbour() {
        const SIDE: i32 = 16;
        let bounds = ([0.0; 3], [SIDE as f32; 3]);
        let cells =
            (0..SIDE).flat_map(|x| (0..SIDE).flat_map(move |y| (0..SIDE).map(move |z| [x, y, z])));
        let mut order: Vec<_> = cells
            .map(|c| (curve_index(c.map(|k| f64::from(k) + 0.5), &bounds), c))
            .collect();
        order.sort_unstable();
        for pair in order.windows(2) {
            let steps: i32 = (0..3).map(|k| (pair[0].1[k] - pair[1].1[k]).abs()).sum();
            assert_eq!(steps, 1, "{pair:?}");
        }
    }

    #[test]
    fn hues_go_around_and_greys_by_lightness() {
        let rainbow = [
            [1.0, 0.0, 0.0],
            [1.0, 1.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 1.0, 1.0],
            [0.0, 0.0, 1.0],
            [1.0, 0.0, 1.0],
        ];
        let keys = rainbow.map(hue_and_lightness);
        assert!(keys.is_sorted());
        assert!(hue_and_lightness([0.2; 3]) < hue_and_lightness([0.7; 3]));
    }
}
