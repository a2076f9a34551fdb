//! Vectors of eight vertices side by side: one `f32x8` for each coordinate.
//!
//! `dot`, `cross` and `scale_add` use fused multiply-adds where the instruction set has them, so that last bits may differ between SIMD
//! levels. Code that must give the same bits at every level writes its products out (`tangent_frames/simd.rs`).
//!
//! No closures here and in kernels: one that is called more than once may stay a function of its own, which then lacks the instruction set,
//! and each operation in it becomes a call.

use crate::lanes::{padded, transpose4};
use fearless_simd::{Simd, f32x4, f32x8, mask32x8, prelude::*};
use sinew_geom::Mat3;
use std::ops::{Add, Mul, Sub};

/// Three coordinates of eight vertices.
#[derive(Clone, Copy)]
pub(crate) struct V3<S: Simd> {
    pub(crate) x: f32x8<S>,
    pub(crate) y: f32x8<S>,
    pub(crate) z: f32x8<S>,
}

impl<S: Simd> V3<S> {
    /// The first three of four.
    #[inline(always)]
    pub(crate) fn of(v: [f32x8<S>; 4]) -> Self {
        Self {
            x: v[0],
            y: v[1],
            z: v[2],
        }
    }
    #[inline(always)]
    pub(crate) fn splat(simd: S, value: f32) -> Self {
        let v = f32x8::splat(simd, value);
        Self { x: v, y: v, z: v }
    }
    #[inline(always)]
    pub(crate) fn dot(self, o: Self) -> f32x8<S> {
        self.x.mul_add(o.x, self.y.mul_add(o.y, self.z * o.z))
    }
    /// Dot product plus `c`.
    #[inline(always)]
    pub(crate) fn dot_add(self, o: Self, c: f32x8<S>) -> f32x8<S> {
        self.x
            .mul_add(o.x, self.y.mul_add(o.y, self.z.mul_add(o.z, c)))
    }
    #[inline(always)]
    pub(crate) fn cross(self, o: Self) -> Self {
        Self {
            x: self.y.mul_sub(o.z, self.z * o.y),
            y: self.z.mul_sub(o.x, self.x * o.z),
            z: self.x.mul_sub(o.y, self.y * o.x),
        }
    }
    /// `self * f + o`.
    #[inline(always)]
    pub(crate) fn scale_add(self, f: f32x8<S>, o: Self) -> Self {
        Self {
            x: self.x.mul_add(f, o.x),
            y: self.y.mul_add(f, o.y),
            z: self.z.mul_add(f, o.z),
        }
    }
    /// The same vector in every lane.
    #[inline(always)]
    pub(crate) fn all(simd: S, v: impl Into<[f32; 3]>) -> Self {
        let [x, y, z] = v.into();
        Self {
            x: f32x8::splat(simd, x),
            y: f32x8::splat(simd, y),
            z: f32x8::splat(simd, z),
        }
    }
    /// One of the eight.
    #[inline(always)]
    pub(crate) fn lane(&self, lane: usize) -> [f32; 3] {
        [self.x[lane], self.y[lane], self.z[lane]]
    }
    /// Sum of absolute values.
    #[inline(always)]
    pub(crate) fn taxi(self) -> f32x8<S> {
        self.x.abs() + self.y.abs() + self.z.abs()
    }
    /// `rows * self`.
    #[inline(always)]
    pub(crate) fn times(self, rows: [Self; 3]) -> Self {
        Self {
            x: rows[0].dot(self),
            y: rows[1].dot(self),
            z: rows[2].dot(self),
        }
    }
    /// `self` where `choose` holds, `otherwise` elsewhere.
    #[inline(always)]
    pub(crate) fn or(self, choose: mask32x8<S>, otherwise: Self) -> Self {
        Self {
            x: choose.select(self.x, otherwise.x),
            y: choose.select(self.y, otherwise.y),
            z: choose.select(self.z, otherwise.z),
        }
    }
    /// Unit length, or `otherwise` where there is none.
    #[inline(always)]
    pub(crate) fn unit_or(self, otherwise: Self) -> Self {
        let squared = self.dot(self);
        let good = squared.simd_gt(f32::MIN_POSITIVE) & squared.simd_lt(f32::MAX);
        let length = squared.max(f32::MIN_POSITIVE).sqrt();
        let one = f32x8::splat(squared.simd, 1.0);
        (self * (one / length)).or(good, otherwise)
    }

    /// The unit vector that part of the way from one direction to another; where `part` is zero, `self` bit for bit.
    #[inline(always)]
    pub(crate) fn toward(self, to: Self, part: f32x8<S>) -> Self {
        let step = to.unit_or(self) - self;
        let mixed = step.scale_add(part, self).unit_or(self);
        self.or(part.simd_eq(0.0), mixed)
    }

    /// From the eight points that begin at `at`; behind the end the one at `at` stands in.
    #[inline(always)]
    pub(crate) fn load_at(simd: S, points: &[[f32; 3]], at: usize) -> Self {
        match points[at..].first_chunk() {
            Some(block) => Self::load(simd, block),
            None => Self::load(simd, &padded(&points[at..])),
        }
    }
    /// The way back; what does not fit is dropped.
    #[inline(always)]
    pub(crate) fn store_at(self, points: &mut [[f32; 3]], at: usize) {
        let points = &mut points[at..];
        if let Some(block) = points.first_chunk_mut() {
            return self.store(block);
        }
        let mut block = [[0.0; 3]; 8];
        self.store(&mut block);
        points.copy_from_slice(&block[..points.len()]);
    }

    /// From x, y and z of eight points.
    #[inline(always)]
    pub(crate) fn load_lanes(simd: S, lanes: &[[f32; 8]; 3]) -> Self {
        Self {
            x: f32x8::load_array_ref(simd, &lanes[0]),
            y: f32x8::load_array_ref(simd, &lanes[1]),
            z: f32x8::load_array_ref(simd, &lanes[2]),
        }
    }
    /// The way back.
    #[inline(always)]
    pub(crate) fn store_lanes(self, lanes: &mut [[f32; 8]; 3]) {
        self.x.store_array(&mut lanes[0]);
        self.y.store_array(&mut lanes[1]);
        self.z.store_array(&mut lanes[2]);
    }

    /// From eight points in a row.
    #[inline(always)]
    pub(crate) fn load(simd: S, points: &[[f32; 3]; 8]) -> Self {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        if let Some(avx2) = simd.level().as_avx2() {
            let [x, y, z] = avx2::load(avx2, points.as_flattened().as_chunks().0);
            return Self {
                x: f32x8::load_array(simd, x),
                y: f32x8::load_array(simd, y),
                z: f32x8::load_array(simd, z),
            };
        }
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
    pub(crate) fn store(self, points: &mut [[f32; 3]; 8]) {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        if let Some(avx2) = self.x.simd.level().as_avx2() {
            let lanes = [self.x.into(), self.y.into(), self.z.into()];
            avx2::store(avx2, lanes, points.as_flattened_mut().as_chunks_mut().0);
            return;
        }
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

impl<S: Simd> Add for V3<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self {
            x: self.x + o.x,
            y: self.y + o.y,
            z: self.z + o.z,
        }
    }
}

impl<S: Simd> Sub for V3<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self {
            x: self.x - o.x,
            y: self.y - o.y,
            z: self.z - o.z,
        }
    }
}

impl<S: Simd> Mul<f32x8<S>> for V3<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, f: f32x8<S>) -> Self {
        Self {
            x: self.x * f,
            y: self.y * f,
            z: self.z * f,
        }
    }
}

/// The rows of a matrix, the same in every lane.
#[inline(always)]
pub(crate) fn rows<S: Simd>(simd: S, m: &Mat3<f32>) -> [V3<S>; 3] {
    [
        V3::all(simd, [m.m11, m.m12, m.m13]),
        V3::all(simd, [m.m21, m.m22, m.m23]),
        V3::all(simd, [m.m31, m.m32, m.m33]),
    ]
}

#[inline(always)]
fn four_at<S: Simd>(simd: S, f: &[f32], i: usize) -> f32x4<S> {
    f32x4::from_slice(simd, &f[i..i + 4])
}

/// Points in and out with half as many shuffles: AVX shuffles two registers at a time.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod avx2 {
    use fearless_simd::{Avx2, f32x4, f32x8, prelude::*};
    #[cfg(target_arch = "x86")]
    use std::arch::x86::{__m256, _mm256_shuffle_ps};
    #[cfg(target_arch = "x86_64")]
    use std::arch::x86_64::{__m256, _mm256_shuffle_ps};

    fearless_simd::kernel!(
        /// Six times four numbers (eight points) to x, y and z of eight points.
        #[inline(always)]
        pub(super) fn load(avx2: Avx2, f: &[[f32; 4]]) -> [[f32; 8]; 3] {
            let &[a0, b0, c0, a1, b1, c1] = f else {
                return [[0.0; 8]; 3];
            };
            let a: __m256 = halves(avx2, a0, a1).into(); // x y z x
            let b: __m256 = halves(avx2, b0, b1).into(); // y z x y
            let c: __m256 = halves(avx2, c0, c1).into(); // z x y z
            let xy = _mm256_shuffle_ps::<0b10_01_11_10>(b, c);
            let yz = _mm256_shuffle_ps::<0b01_00_10_01>(a, b);
            let x = _mm256_shuffle_ps::<0b10_00_11_00>(a, xy);
            let y = _mm256_shuffle_ps::<0b11_01_10_00>(yz, xy);
            let z = _mm256_shuffle_ps::<0b11_00_11_01>(yz, c);
            let x: f32x8<Avx2> = x.simd_into(avx2);
            let y: f32x8<Avx2> = y.simd_into(avx2);
            let z: f32x8<Avx2> = z.simd_into(avx2);
            [x.into(), y.into(), z.into()]
        }
    );

    fearless_simd::kernel!(
        /// The way back.
        #[inline(always)]
        pub(super) fn store(avx2: Avx2, lanes: [[f32; 8]; 3], f: &mut [[f32; 4]]) {
            let [a0, b0, c0, a1, b1, c1] = f else {
                return;
            };
            let x: __m256 = f32x8::load_array(avx2, lanes[0]).into();
            let y: __m256 = f32x8::load_array(avx2, lanes[1]).into();
            let z: __m256 = f32x8::load_array(avx2, lanes[2]).into();
            let xy = _mm256_shuffle_ps::<0b10_00_10_00>(x, y);
            let yz = _mm256_shuffle_ps::<0b11_01_11_01>(y, z);
            let zx = _mm256_shuffle_ps::<0b11_01_10_00>(z, x);
            let a: f32x8<Avx2> = _mm256_shuffle_ps::<0b10_00_10_00>(xy, zx).simd_into(avx2);
            let b: f32x8<Avx2> = _mm256_shuffle_ps::<0b11_01_10_00>(yz, xy).simd_into(avx2);
            let c: f32x8<Avx2> = _mm256_shuffle_ps::<0b11_01_11_01>(zx, yz).simd_into(avx2);
            let (a, b, c) = (a.split(), b.split(), c.split());
            a.0.store_array(a0);
            b.0.store_array(b0);
            c.0.store_array(c0);
            a.1.store_array(a1);
            b.1.store_array(b1);
            c.1.store_array(c1);
        }
    );

    #[inline(always)]
    fn halves(avx2: Avx2, low: [f32; 4], high: [f32; 4]) -> f32x8<Avx2> {
        f32x4::load_array(avx2, low).combine(f32x4::load_array(avx2, high))
    }
}
