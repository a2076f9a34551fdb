//! Eight vertices side by side: loading, storing, transposing.
//!
//! No closures here and in the kernel: one that is called more than once may stay a function of its own, which
//! then lacks the instruction set, and each operation in it becomes a call.

use fearless_simd::{Simd, f32x4, f32x8, prelude::*};

/// Three coordinates of eight vertices.
#[derive(Clone, Copy)]
pub(super) struct V3<S: Simd> {
    pub(super) x: f32x8<S>,
    pub(super) y: f32x8<S>,
    pub(super) z: f32x8<S>,
}

impl<S: Simd> V3<S> {
    /// The first three of four.
    #[inline(always)]
    pub(super) fn of(v: [f32x8<S>; 4]) -> Self {
        Self {
            x: v[0],
            y: v[1],
            z: v[2],
        }
    }
    #[inline(always)]
    pub(super) fn splat(simd: S, value: f32) -> Self {
        let v = f32x8::splat(simd, value);
        Self { x: v, y: v, z: v }
    }
    #[inline(always)]
    pub(super) fn dot(self, o: Self) -> f32x8<S> {
        self.x.mul_add(o.x, self.y.mul_add(o.y, self.z * o.z))
    }
    /// Dot product plus `c`.
    #[inline(always)]
    pub(super) fn dot_add(self, o: Self, c: f32x8<S>) -> f32x8<S> {
        self.x
            .mul_add(o.x, self.y.mul_add(o.y, self.z.mul_add(o.z, c)))
    }
    #[inline(always)]
    pub(super) fn cross(self, o: Self) -> Self {
        Self {
            x: self.y.mul_sub(o.z, self.z * o.y),
            y: self.z.mul_sub(o.x, self.x * o.z),
            z: self.x.mul_sub(o.y, self.y * o.x),
        }
    }
    #[inline(always)]
    pub(super) fn scale(self, f: f32x8<S>) -> Self {
        Self {
            x: self.x * f,
            y: self.y * f,
            z: self.z * f,
        }
    }
    /// `self * f + o`.
    #[inline(always)]
    pub(super) fn scale_add(self, f: f32x8<S>, o: Self) -> Self {
        Self {
            x: self.x.mul_add(f, o.x),
            y: self.y.mul_add(f, o.y),
            z: self.z.mul_add(f, o.z),
        }
    }
    #[inline(always)]
    pub(super) fn minus(self, o: Self) -> Self {
        Self {
            x: self.x - o.x,
            y: self.y - o.y,
            z: self.z - o.z,
        }
    }

    /// From eight points in a row.
    #[inline(always)]
    pub(super) fn load(simd: S, points: &[[f32; 3]; 8]) -> Self {
        let f = points.as_flattened();
        let last = four_at(simd, f, 20);
        let [x0, y0, z0, _] = transpose4([
            four_at(simd, f, 0),
            four_at(simd, f, 3),
            four_at(simd, f, 6),
            four_at(simd, f, 9),
        ]);
        let [x1, y1, z1, _] = transpose4([
            four_at(simd, f, 12),
            four_at(simd, f, 15),
            four_at(simd, f, 18),
            last.slide::<1>(last),
        ]);
        Self {
            x: x0.combine(x1),
            y: y0.combine(y1),
            z: z0.combine(z1),
        }
    }

    /// To eight points in a row.
    #[inline(always)]
    pub(super) fn store(self, points: &mut [[f32; 3]; 8]) {
        let f = points.as_flattened_mut();
        let ((x0, x1), (y0, y1), (z0, z1)) = (self.x.split(), self.y.split(), self.z.split());
        let [a, b, c, d] = transpose4([x0, y0, z0, z0]);
        // Each store writes one number too many, which the next one overwrites.
        a.store_slice(&mut f[0..4]);
        b.store_slice(&mut f[3..7]);
        c.store_slice(&mut f[6..10]);
        d.store_slice(&mut f[9..13]);
        let [a, b, c, d] = transpose4([x1, y1, z1, z1]);
        a.store_slice(&mut f[12..16]);
        b.store_slice(&mut f[15..19]);
        c.store_slice(&mut f[18..22]);
        f[21] = d[0];
        f[22] = d[1];
        f[23] = d[2];
    }
}

#[inline(always)]
fn four_at<S: Simd>(simd: S, f: &[f32], i: usize) -> f32x4<S> {
    f32x4::from_slice(simd, &f[i..i + 4])
}

/// Rows to columns.
#[inline(always)]
pub(super) fn transpose4<S: Simd>([a, b, c, d]: [f32x4<S>; 4]) -> [f32x4<S>; 4] {
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
pub(super) fn transpose8x4<S: Simd>(low: [f32x4<S>; 4], high: [f32x4<S>; 4]) -> [f32x8<S>; 4] {
    let [a0, b0, c0, d0] = transpose4(low);
    let [a1, b1, c1, d1] = transpose4(high);
    [
        a0.combine(a1),
        b0.combine(b1),
        c0.combine(c1),
        d0.combine(d1),
    ]
}
