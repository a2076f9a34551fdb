//! The instruction set that the fast kernels use, and how they are called for it.
//!
//! Every set is one more copy of every kernel for the compiler to make. On x86-64 there are two: AVX2 with fused multiply-add, and the
//! baseline. Kernels are eight lanes wide, so AVX-512 has nothing to add, and machines with SSE4.2 but no AVX2 are rare by now. The crate's
//! own tests have the fallback for machines without SIMD, too, where the feature `fallback` asks for it: eight lanes that are numbers of
//! their own compile for more than 50 minutes where the compiler optimises them.

use fearless_simd::Level;
use std::sync::OnceLock;

/// The best level of this machine that this build has kernels for, detected once.
pub fn simd_level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(best)
}

fn best() -> Level {
    let best = Level::new();
    #[cfg(test)]
    let best = forced(best);
    #[cfg(target_arch = "x86_64")]
    let best = best
        .as_avx2()
        .map(Level::Avx2)
        .or_else(|| best.as_sse2().map(Level::Sse2))
        .unwrap_or(best);
    best
}

/// The level that the environment variable `SINEW_SIMD` names: one test program runs with each of them.
#[cfg(test)]
fn forced(best: Level) -> Level {
    let forced = match std::env::var("SINEW_SIMD").as_deref() {
        Err(_) => Some(best),
        #[cfg(feature = "fallback")]
        Ok("fallback") => Some(Level::fallback()),
        #[cfg(target_arch = "x86_64")]
        Ok("sse2") => best.as_sse2().map(Level::Sse2),
        #[cfg(target_arch = "x86_64")]
        Ok("avx2") => best.as_avx2().map(Level::Avx2),
        Ok(_) => None,
    };
    forced.expect("SINEW_SIMD must be a level of this machine: avx2, sse2, or fallback with the feature of that name")
}

/// `dispatch!(simd => kernel(simd, …))`: the kernel for [`simd_level`], compiled with its instructions.
#[cfg(target_arch = "x86_64")]
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
            #[cfg(all(test, feature = "fallback"))]
            fearless_simd::Level::Fallback($simd) => $kernel,
            _ => unreachable!("a level that `simd_level` does not give"),
        }
    };
}

#[cfg(not(target_arch = "x86_64"))]
macro_rules! dispatch {
    ($simd:ident => $kernel:expr) => {
        fearless_simd::dispatch!($crate::simd_level(), $simd => $kernel)
    };
}
