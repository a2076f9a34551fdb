//! The instruction set that the fast kernels use.

use fearless_simd::Level;
use std::sync::OnceLock;

/// The best level of this machine, detected once. With the `scalar` feature, none.
pub fn simd_level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        #[cfg(feature = "scalar")]
        return Level::Fallback(fearless_simd::Fallback::new());
        #[cfg(not(feature = "scalar"))]
        Level::new()
    })
}
