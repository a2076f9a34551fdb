//! Numbers of the step: one of `f64` for the reference, eight of `f32` side by side for the product.

use crate::collide::Distance;
use fearless_simd::{Simd, f32x8, mask32x8, prelude::*};
use std::fmt::Debug;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// A number of each strand, in memory.
pub(crate) trait Lanes: Copy + Default + Debug + Send + Sync {
    /// Strands side by side.
    const LANES: usize;
    fn get(&self, lane: usize) -> f64;
    fn set(&mut self, lane: usize, value: f64);
    /// Distance and gradient at points whose bit is set; elsewhere anything.
    fn look_up(shape: &dyn Distance, points: &[Self; 3], wanted: u8) -> (Self, [Self; 3]);
}

impl Lanes for f64 {
    const LANES: usize = 1;
    #[inline(always)]
    fn get(&self, _: usize) -> f64 {
        *self
    }
    #[inline(always)]
    fn set(&mut self, _: usize, value: f64) {
        *self = value;
    }
    fn look_up(shape: &dyn Distance, points: &[f64; 3], _: u8) -> (f64, [f64; 3]) {
        let (distance, gradient) = shape.distance_and_gradient(points.map(|c| c as f32));
        (f64::from(distance), gradient.map(f64::from))
    }
}

impl Lanes for [f32; 8] {
    const LANES: usize = 8;
    #[inline(always)]
    fn get(&self, lane: usize) -> f64 {
        f64::from(self[lane])
    }
    #[inline(always)]
    fn set(&mut self, lane: usize, value: f64) {
        self[lane] = value as f32;
    }
    #[inline(always)]
    fn look_up(shape: &dyn Distance, points: &[Self; 3], wanted: u8) -> (Self, [Self; 3]) {
        shape.distances_and_gradients(points, wanted)
    }
}

/// What the step computes with: a number of each of some strands side by side.
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
    type Stored: Lanes;
    /// Energies closer than this share are equal, as far as roundings tell.
    const ROUNDING: f64;

    fn splat(token: Self::Token, value: f64) -> Self;
    fn load(token: Self::Token, stored: &Self::Stored) -> Self;
    fn store(self, stored: &mut Self::Stored);
    fn token(self) -> Self::Token;
    fn sqrt(self) -> Self;
    /// `self + a b`, in one operation where the machine has one.
    fn plus(self, a: Self, b: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn lt(self, other: Self) -> Self::Mask;
    /// `a` where the mask holds, `b` elsewhere.
    fn pick(mask: Self::Mask, a: Self, b: Self) -> Self;
    /// A bit for each strand.
    fn bits(mask: Self::Mask) -> u8;
    /// Calls `f` as a function of its own, with the instruction set.
    fn apart<T>(token: Self::Token, f: impl FnOnce() -> T) -> T;

    /// The same constant in all lanes.
    #[inline(always)]
    fn k(self, value: f64) -> Self {
        Self::splat(self.token(), value)
    }
    #[inline(always)]
    fn any(mask: Self::Mask) -> bool {
        Self::bits(mask) != 0
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
    fn token(self) {}
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self::sqrt(self)
    }
    #[inline(always)]
    fn plus(self, a: Self, b: Self) -> Self {
        self + a * b
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
    #[inline(always)]
    fn apart<T>(_: (), f: impl FnOnce() -> T) -> T {
        f()
    }
}

impl<S: Simd> Number for f32x8<S> {
    type Token = S;
    type Mask = mask32x8<S>;
    type Stored = [f32; 8];
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
    fn token(self) -> S {
        self.simd
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        <Self as SimdFloat<S>>::sqrt(self)
    }
    #[inline(always)]
    fn plus(self, a: Self, b: Self) -> Self {
        a.mul_add(b, self)
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
    #[inline(always)]
    fn apart<T>(token: S, f: impl FnOnce() -> T) -> T {
        token.vectorize(f)
    }
}
