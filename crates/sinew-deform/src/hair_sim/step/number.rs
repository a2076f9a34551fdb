//! Numbers of the step: one of `f64` for the reference, eight of `f32` side by side for the product.

use fearless_simd::{Simd, f32x8, mask32x8, prelude::*};
use std::fmt::Debug;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// What the step computes with: a number of each of [`Self::LANES`] strands.
///
/// No closures in code that uses it: one that is called more than once may stay a function of its own, without the instruction set.
pub(crate) trait Number:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// What numbers are made with.
    type Token: Copy;
    /// One truth value a strand.
    type Mask: Copy
        + BitAnd<Output = Self::Mask>
        + BitOr<Output = Self::Mask>
        + Not<Output = Self::Mask>;
    /// The same in memory.
    type Stored: Copy + Default + Debug + Send + Sync;
    /// Strands side by side.
    const LANES: usize;
    /// Energies closer than this share are equal, as far as roundings tell.
    const ROUNDING: f64;

    fn splat(token: Self::Token, value: f64) -> Self;
    fn load(token: Self::Token, stored: &Self::Stored) -> Self;
    fn store(self, stored: &mut Self::Stored);
    /// One lane of stored numbers.
    fn lane(stored: &Self::Stored, lane: usize) -> f64;
    fn set_lane(stored: &mut Self::Stored, lane: usize, value: f64);
    fn token(self) -> Self::Token;
    fn sqrt(self) -> Self;
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn lt(self, other: Self) -> Self::Mask;
    /// `a` where the mask holds, `b` elsewhere.
    fn pick(mask: Self::Mask, a: Self, b: Self) -> Self;
    /// A bit for each strand.
    fn bits(mask: Self::Mask) -> u8;

    /// The same constant in all lanes.
    #[inline(always)]
    fn k(self, value: f64) -> Self {
        Self::splat(self.token(), value)
    }
    #[inline(always)]
    fn any(mask: Self::Mask) -> bool {
        Self::bits(mask) != 0
    }
    /// 1 where the mask holds, else 0.
    #[inline(always)]
    fn flag(self, mask: Self::Mask) -> Self {
        Self::pick(mask, self.k(1.0), self.k(0.0))
    }
    #[inline(always)]
    fn is_on(self) -> Self::Mask {
        self.k(0.0).lt(self)
    }
}

impl Number for f64 {
    type Token = ();
    type Mask = bool;
    type Stored = f64;
    const LANES: usize = 1;
    const ROUNDING: f64 = 1e-12;

    #[inline(always)]
    fn splat(_: (), value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn load(_: (), stored: &f64) -> Self {
        *stored
    }
    #[inline(always)]
    fn store(self, stored: &mut f64) {
        *stored = self;
    }
    #[inline(always)]
    fn lane(stored: &f64, _: usize) -> f64 {
        *stored
    }
    #[inline(always)]
    fn set_lane(stored: &mut f64, _: usize, value: f64) {
        *stored = value;
    }
    #[inline(always)]
    fn token(self) {}
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self::sqrt(self)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::min(self, other)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::max(self, other)
    }
    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self < other
    }
    #[inline(always)]
    fn pick(mask: bool, a: Self, b: Self) -> Self {
        if mask { a } else { b }
    }
    #[inline(always)]
    fn bits(mask: bool) -> u8 {
        u8::from(mask)
    }
}

impl<S: Simd> Number for f32x8<S> {
    type Token = S;
    type Mask = mask32x8<S>;
    type Stored = [f32; 8];
    const LANES: usize = 8;
    const ROUNDING: f64 = 1e-5;

    #[inline(always)]
    fn splat(token: S, value: f64) -> Self {
        <Self as SimdBase<S>>::splat(token, value as f32)
    }
    #[inline(always)]
    fn load(token: S, stored: &[f32; 8]) -> Self {
        Self::load_array_ref(token, stored)
    }
    #[inline(always)]
    fn store(self, stored: &mut [f32; 8]) {
        self.store_array(stored);
    }
    #[inline(always)]
    fn lane(stored: &[f32; 8], lane: usize) -> f64 {
        f64::from(stored[lane])
    }
    #[inline(always)]
    fn set_lane(stored: &mut [f32; 8], lane: usize, value: f64) {
        stored[lane] = value as f32;
    }
    #[inline(always)]
    fn token(self) -> S {
        self.simd
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        <Self as SimdFloat<S>>::sqrt(self)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        SimdBase::min(self, other)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        SimdBase::max(self, other)
    }
    #[inline(always)]
    fn lt(self, other: Self) -> mask32x8<S> {
        self.simd_lt(other)
    }
    #[inline(always)]
    fn pick(mask: mask32x8<S>, a: Self, b: Self) -> Self {
        mask.select(a, b)
    }
    #[inline(always)]
    fn bits(mask: mask32x8<S>) -> u8 {
        mask.to_bitmask() as u8
    }
}
