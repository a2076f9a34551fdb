//! Elementary functions without branches or calls, so that a loop over vertices becomes SIMD code.
//!
//! The `f32` versions are polynomials (coefficients of Moshier's Cephes library), within 3e-7 of the exact value;
//! the `f64` versions are the standard library's: the truth that the tests compare with.

use sinew_geom::Real;

/// A [`Real`] with the functions that local maps need.
pub trait LaneReal: Real {
    /// Sine and cosine. In `f32` the error grows with the angle beyond about 8000 rad; the results stay within
    /// [-1, 1] (to rounding) and finite for any finite argument.
    fn sine_cosine(self) -> (Self, Self);
    /// The exponential. In `f32` the argument is clamped to [-87, 88].
    fn exponential(self) -> Self;
    /// Angle of the point (`x`, `self`) for `self >= 0`: from 0 to pi, and 0 at the origin.
    fn angle_above(self, x: Self) -> Self;
}

/// The lower of two; `b` where `a` is not a number.
#[inline(always)]
pub(crate) fn low<R: Real>(a: R, b: R) -> R {
    if a < b { a } else { b }
}

/// The higher of two; `b` where `a` is not a number.
#[inline(always)]
pub(crate) fn high<R: Real>(a: R, b: R) -> R {
    if a > b { a } else { b }
}

impl LaneReal for f64 {
    #[inline(always)]
    fn sine_cosine(self) -> (Self, Self) {
        self.sin_cos()
    }
    #[inline(always)]
    fn exponential(self) -> Self {
        self.exp()
    }
    #[inline(always)]
    fn angle_above(self, x: Self) -> Self {
        self.atan2(x)
    }
}

/// Adding it to a small number rounds that to an integer, found in the low bits of the sum.
const ROUND: f32 = 12_582_912.0;

impl LaneReal for f32 {
    #[inline(always)]
    fn sine_cosine(self) -> (Self, Self) {
        let shifted = self * std::f32::consts::FRAC_2_PI + ROUND;
        let quadrant = shifted.to_bits();
        let n = shifted - ROUND;
        // pi/2 in three parts, the first two exact in few bits.
        let r = self - n * 1.570_312_5 - n * 4.837_513e-4 - n * 7.549_79e-8;
        let r = high(low(r, 0.8), -0.8);
        let r2 = r * r;
        let s = r + r * r2 * (-0.166_666_55 + r2 * (8.332_161e-3 - r2 * 1.951_529_6e-4));
        let c = 1.0 - 0.5 * r2
            + r2 * r2 * (4.166_664_6e-2 + r2 * (-1.388_731_6e-3 + r2 * 2.443_315_7e-5));
        let odd = quadrant & 1 != 0;
        let (sine, cosine) = if odd { (c, s) } else { (s, c) };
        // Bit 1 of the quadrant is the sign of the sine, bit 1 of the next one that of the cosine.
        let flip = |value: f32, q: u32| f32::from_bits(value.to_bits() ^ ((q & 2) << 30));
        (flip(sine, quadrant), flip(cosine, quadrant.wrapping_add(1)))
    }

    #[inline(always)]
    fn exponential(self) -> Self {
        let x = high(low(self, 88.0), -87.0);
        let shifted = x * std::f32::consts::LOG2_E + ROUND;
        let n = shifted - ROUND;
        // ln 2 in two parts.
        let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
        let p = 1.987_569_1e-4;
        let p = p * r + 1.398_2e-3;
        let p = p * r + 8.333_452e-3;
        let p = p * r + 4.166_579_6e-2;
        let p = p * r + 0.166_666_66;
        let p = p * r + 0.5;
        let exponent = shifted
            .to_bits()
            .wrapping_sub(ROUND.to_bits())
            .wrapping_add(127)
            << 23;
        (p * r * r + r + 1.0) * f32::from_bits(exponent)
    }

    #[inline(always)]
    fn angle_above(self, x: Self) -> Self {
        let (y, size) = (self, f32::from_bits(x.to_bits() & 0x7fff_ffff));
        let steep = y > size;
        let ratio = low(y, size) / high(high(y, size), f32::MIN_POSITIVE);
        // Above tan(pi/8), by the angle to pi/4.
        let upper = ratio > 0.414_213_57;
        let z = if upper {
            (ratio - 1.0) / (ratio + 1.0)
        } else {
            ratio
        };
        let base = if upper {
            std::f32::consts::FRAC_PI_4
        } else {
            0.0
        };
        let z2 = z * z;
        let p = ((8.053_744_5e-2 * z2 - 0.138_776_85) * z2 + 0.199_777_11) * z2 - 0.333_329_5;
        let angle = base + (p * z2 * z + z);
        let angle = if steep {
            std::f32::consts::FRAC_PI_2 - angle
        } else {
            angle
        };
        if x < 0.0 {
            std::f32::consts::PI - angle
        } else {
            angle
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_agree_with_the_standard_library() {
        for i in -40_000..=40_000 {
            let x = i as f32 * 1e-3;
            let (s, c) = x.sine_cosine();
            let (es, ec) = f64::from(x).sin_cos();
            assert!((f64::from(s) - es).abs() < 3e-7, "sin {x}: {s} {es}");
            assert!((f64::from(c) - ec).abs() < 3e-7, "cos {x}: {c} {ec}");
            let (e, expected) = (f64::from(x.exponential()), f64::from(x).exp());
            assert!((e / expected - 1.0).abs() < 3e-7, "exp {x}: {e} {expected}");
        }
        for i in 0..=10_000 {
            let a = f64::from(i) / 10_000.0 * std::f64::consts::PI;
            let (y, x) = ((7.0 * a.sin()) as f32, (7.0 * a.cos()) as f32);
            let y = y.max(0.0);
            let got = f64::from(y.angle_above(x));
            let expected = f64::from(y).atan2(f64::from(x));
            assert!((got - expected).abs() < 5e-7, "atan {a}: {got} {expected}");
        }
        assert_eq!(0.0_f32.angle_above(0.0), 0.0);
    }

    #[test]
    fn extreme_arguments_stay_finite() {
        for x in [1e6_f32, -1e9, 1e30, f32::MAX, f32::MIN] {
            let (s, c) = x.sine_cosine();
            assert!(s.abs() < 1.1 && c.abs() < 1.1, "{x}: {s} {c}");
            assert!(x.exponential().is_finite(), "{x}");
        }
    }
}
