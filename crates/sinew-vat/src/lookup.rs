//! Numbers of points in texels of a lookup: which point of its frame each corner of the carrier shows.
//!
//! A number is in three channels of 8 bits, the lowest in red ([`crate::manifest::Lookup`]). Every engine reads PNG of 8 bits bit for bit, and without
//! alpha nothing is premultiplied. Whole numbers below 2^24 are also exact in single precision.

/// Most points of a frame: what 24 bits number.
pub const MOST_POINTS: u32 = 1 << 24;

/// Bytes of a corner in the lookup.
pub const LOOKUP_BYTES: usize = 3;

/// The texel of a lookup: red, green, blue.
pub fn lookup_texel(point: u32) -> [u8; LOOKUP_BYTES] {
    let [red, green, blue, _] = point.to_le_bytes();
    [red, green, blue]
}

/// The number of a point from a texel of a lookup; bytes that are missing count as zero.
pub fn point_of_texel(texel: &[u8]) -> u32 {
    let at = |i: usize| texel.get(i).copied().unwrap_or(0);
    u32::from_le_bytes([at(0), at(1), at(2), 0])
}
