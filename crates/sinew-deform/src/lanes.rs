//! Numbers of eight vertices side by side: loading, storing, transposing. As in `simd_vector`, no closures.

use crate::MaskWeight;
use fearless_simd::{Simd, f32x4, f32x8, prelude::*};

/// One number of each of eight.
pub(crate) type Lanes = [f32; 8];
/// Three coordinates of each.
pub(crate) type Lanes3 = [Lanes; 3];

/// Up to eight elements, the first one repeated behind them.
#[inline(always)]
pub(crate) fn padded<T: Copy>(given: &[T]) -> [T; 8] {
    let mut out = [given[0]; 8];
    let n = given.len().min(8);
    out[..n].copy_from_slice(&given[..n]);
    out
}

/// Strength of the eight vertices that begin at `at`; behind the end anything.
#[inline(always)]
pub(crate) fn strengths<S: Simd>(simd: S, weight: &MaskWeight<'_>, at: usize) -> f32x8<S> {
    let all = f32x8::splat(simd, weight.weight);
    let Some(mask) = weight.mask else {
        return all;
    };
    let mask = values_at(simd, mask, at);
    if weight.invert {
        all * (f32x8::splat(simd, 1.0) - mask)
    } else {
        all * mask
    }
}

/// The eight values that begin at `at`; behind the end the one at `at` stands in.
#[inline(always)]
pub(crate) fn values_at<S: Simd>(simd: S, values: &[f32], at: usize) -> f32x8<S> {
    match values[at..].first_chunk::<8>() {
        Some(block) => f32x8::load_array(simd, *block),
        None => f32x8::load_array(simd, padded(&values[at..])),
    }
}

/// Rows to columns.
#[inline(always)]
pub(crate) fn transpose4<S: Simd>([a, b, c, d]: [f32x4<S>; 4]) -> [f32x4<S>; 4] {
    let (ac0, bd0) = (a.zip_low(c), b.zip_low(d));
    let (ac1, bd1) = (a.zip_high(c), b.zip_high(d));
    [
        ac0.zip_low(bd0),
        ac0.zip_high(bd0),
        ac1.zip_low(bd1),
        ac1.zip_high(bd1),
    ]
}

/// Four numbers of each of eight vertices, to four vectors of eight.
#[inline(always)]
pub(crate) fn transpose8x4<S: Simd>(low: [f32x4<S>; 4], high: [f32x4<S>; 4]) -> [f32x8<S>; 4] {
    let [a0, b0, c0, d0] = transpose4(low);
    let [a1, b1, c1, d1] = transpose4(high);
    [
        a0.combine(a1),
        b0.combine(b1),
        c0.combine(c1),
        d0.combine(d1),
    ]
}

/// Four numbers of each of eight elements, to four vectors of eight.
#[inline(always)]
pub(crate) fn load8x4<S: Simd>(simd: S, rows: &[[f32; 4]; 8]) -> [f32x8<S>; 4] {
    transpose8x4(
        [
            f32x4::load_array(simd, rows[0]),
            f32x4::load_array(simd, rows[1]),
            f32x4::load_array(simd, rows[2]),
            f32x4::load_array(simd, rows[3]),
        ],
        [
            f32x4::load_array(simd, rows[4]),
            f32x4::load_array(simd, rows[5]),
            f32x4::load_array(simd, rows[6]),
            f32x4::load_array(simd, rows[7]),
        ],
    )
}

/// The way back.
#[inline(always)]
pub(crate) fn store8x4<S: Simd>(columns: [f32x8<S>; 4], rows: &mut [[f32; 4]; 8]) {
    let [(x0, x1), (y0, y1)] = [columns[0].split(), columns[1].split()];
    let [(z0, z1), (w0, w1)] = [columns[2].split(), columns[3].split()];
    let low = transpose4([x0, y0, z0, w0]);
    let high = transpose4([x1, y1, z1, w1]);
    for k in 0..4 {
        low[k].store_array(&mut rows[k]);
        high[k].store_array(&mut rows[k + 4]);
    }
}

/// [`load8x4`] from the eight rows that begin at `at`; behind the end the one at `at` stands in.
#[inline(always)]
pub(crate) fn load8x4_at<S: Simd>(simd: S, rows: &[[f32; 4]], at: usize) -> [f32x8<S>; 4] {
    match rows[at..].first_chunk() {
        Some(block) => load8x4(simd, block),
        None => load8x4(simd, &padded(&rows[at..])),
    }
}

/// [`store8x4`]; what does not fit is dropped.
#[inline(always)]
pub(crate) fn store8x4_at<S: Simd>(columns: [f32x8<S>; 4], rows: &mut [[f32; 4]], at: usize) {
    let rows = &mut rows[at..];
    if let Some(block) = rows.first_chunk_mut() {
        return store8x4(columns, block);
    }
    let mut block = [[0.0; 4]; 8];
    store8x4(columns, &mut block);
    rows.copy_from_slice(&block[..rows.len()]);
}
