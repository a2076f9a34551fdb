//! The instruction set that the fast kernels use, and how they are called for it.
//!
//! Every set is one more copy of every kernel for the compiler to make. On x86-64 there are two: AVX2 with fused
//! multiply-add, and the baseline. Kernels are eight lanes wide, so AVX-512 has nothing to add, and machines with
//! SSE4.2 but no AVX2 are rare by now. The `scalar` feature has only what machines without SIMD run.

use fearless_simd::Level;
use std::sync::OnceLock;

/// The best level of this machine that this build has kernels for, detected once. With the `scalar` feature, none.
pub fn simd_level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(best)
}

#[cfg(feature = "scalar")]
fn best() -> Level {
    Level::Fallback(fearless_simd::Fallback::new())
}

#[cfg(all(not(feature = "scalar"), target_arch = "x86_64"))]
fn best() -> Level {
    let best = Level::new();
    best.as_avx2()
        .map(Level::Avx2)
        .or_else(|| best.as_sse2().map(Level::Sse2))
        .unwrap_or(best)
}

#[cfg(not(any(feature = "scalar", target_arch = "x86_64")))]
fn best() -> Level {
    Level::new()
}

/// `dispatch!(simd => kernel(simd, …))`: the kernel for [`simd_level`], compiled with its instructions.
#[cfg(all(not(feature = "scalar"), target_arch = "x86_64"))]
macro_rules! dispatch {
    ($simd:ident => $kernel:expr) => {
        match $crate::simd_level() {
            fearless_simd::Level::Avx2($simd) => fearless_simd::Simd::vectorize(
                $simd,
                #[inline(always)]
                || $kernel,
            ),
            fearless_simd::Level::Sse2($simd) => fearless_simd::Simd::vectorize(
                $simd,
                #[inline(always)]
                || $kernel,
            ),
            _ => unreachable!("a level that `simd_level` does not give"),
        }
    };
}

#[cfg(feature = "scalar")]
macro_rules! dispatch {
    ($simd:ident => $kernel:expr) => {{
        let $simd = fearless_simd::Fallback::new();
        fearless_simd::Simd::vectorize(
            $simd,
            #[inline(always)]
            || $kernel,
        )
    }};
}

#[cfg(not(any(feature = "scalar", target_arch = "x86_64")))]
macro_rules! dispatch {
    ($simd:ident => $kernel:expr) => {
        fearless_simd::dispatch!($crate::simd_level(), $simd => $kernel)
    };
}
