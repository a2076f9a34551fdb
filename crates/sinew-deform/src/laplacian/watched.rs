//! Smoothing in double precision for setup: on threads, and followed.

use super::reference::smooth_row;
use super::{CHUNK, Layout, Row};
use crate::{BindWatch, Par, Stopped, for_each_chunk};
use sinew_geom::Vec3;

/// Several passes over the points of all slots: the bits of [`super::reference::smooth`], for any number of threads. Asks before
/// each pass whether to go on.
///
/// # Errors
/// [`Stopped`].
pub(crate) fn smooth_watched(
    layout: &Layout,
    points: &[Vec3<f64>],
    step: f64,
    iterations: u32,
    par: Par,
    watch: &BindWatch<'_>,
) -> Result<Vec<Vec3<f64>>, Stopped> {
    // One a slot, in the order of slots.
    let rows: Vec<Row<'_>> = layout.rows().collect();
    let (mut current, mut next) = (points.to_vec(), points.to_vec());
    for pass in 0..iterations {
        watch.step(f64::from(pass) / f64::from(iterations))?;
        for_each_chunk(par, rows.len(), CHUNK, &mut next[..], &|range, out| {
            smooth_rows(layout, &rows[range], &current, step, out);
        });
        std::mem::swap(&mut current, &mut next);
    }
    Ok(current)
}

fn smooth_rows(
    layout: &Layout,
    rows: &[Row<'_>],
    points: &[Vec3<f64>],
    step: f64,
    out: &mut [Vec3<f64>],
) {
    for (row, out) in rows.iter().zip(out) {
        *out = smooth_row(layout, row, points, step);
    }
}
