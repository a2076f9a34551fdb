//! Followers made from guides.

use sinew_geom::{Strands, StrandsError, Vec3};

/// Why followers cannot be placed.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FollowersError {
    /// There is not one position for each vertex.
    #[error("{found} positions for {expected} strand vertices")]
    PositionCount {
        /// Positions given.
        found: usize,
        /// Vertices there are.
        expected: usize,
    },
    /// Together there are too many.
    #[error(transparent)]
    Strands(#[from] StrandsError),
}

/// Adds `per_guide` followers behind each guide, at random places of a disc of `radius` (scene units) across the guide's first
/// segment, and returns all strands with their rest positions. The distance from the guide grows by the factor
/// `1 + tip_separation * t`, with `t` the share of the guide's arc length.
///
/// Places depend on `seed` and the guide's index alone: the same on every machine. Strands of `guides` that are followers
/// already are dropped. `positions` has one entry a vertex of `guides`.
///
/// # Errors
/// [`FollowersError`] where there is not one position a vertex, or there would be too many vertices.
pub fn place_followers(
    guides: &Strands,
    positions: &[[f32; 3]],
    per_guide: usize,
    radius: f32,
    tip_separation: f32,
    seed: u32,
) -> Result<(Strands, Vec<[f32; 3]>), FollowersError> {
    let (found, expected) = (positions.len(), guides.vertex_count());
    if found != expected {
        return Err(FollowersError::PositionCount { found, expected });
    }
    let (mut counts, mut leaders, mut placed) = (Vec::new(), Vec::new(), Vec::new());
    for strand in guides.guide_strands() {
        let points = &positions[guides.range(strand)];
        #[expect(
            clippy::cast_possible_truncation,
            reason = "strands are indexed with 32 bits, which `Strands::new` checks"
        )]
        let (leader, index) = (counts.len() as u32, strand as u32);
        let frame = across(points);
        for follower in 0..=per_guide {
            counts.push(points.len());
            leaders.push(leader);
            let offset = if follower == 0 {
                Vec3::zeros()
            } else {
                place(frame, radius, hash(seed, index, follower))
            };
            add(&mut placed, points, offset, tip_separation);
        }
    }
    let strands = Strands::new(counts)?.with_guides(leaders)?;
    Ok((strands, placed))
}

fn add(placed: &mut Vec<[f32; 3]>, points: &[[f32; 3]], offset: Vec3<f32>, separation: f32) {
    let step = |i: usize| {
        if i == 0 {
            0.0
        } else {
            (Vec3::from(points[i]) - Vec3::from(points[i - 1])).norm()
        }
    };
    let total: f32 = (0..points.len()).map(step).sum();
    let mut walked = 0.0;
    for (i, &p) in points.iter().enumerate() {
        walked += step(i);
        let t = if total > 0.0 { walked / total } else { 0.0 };
        placed.push((Vec3::from(p) + offset * (1.0 + separation * t)).into());
    }
}

/// Two unit vectors across the first segment that has a length.
fn across(points: &[[f32; 3]]) -> [Vec3<f32>; 2] {
    let segments = points
        .windows(2)
        .map(|w| Vec3::from(w[1]) - Vec3::from(w[0]));
    let along = segments
        .filter_map(|s| s.try_normalize(1e-12))
        .next()
        .unwrap_or_else(Vec3::y);
    let other = if along.x.abs() < 0.7 {
        Vec3::x()
    } else {
        Vec3::y()
    };
    let first = along.cross(&other).normalize();
    [first, along.cross(&first)]
}

/// Uniform in the disc: the radius is the root of a uniform number.
fn place(frame: [Vec3<f32>; 2], radius: f32, random: u64) -> Vec3<f32> {
    let share = |bits: u64| {
        #[expect(
            clippy::cast_precision_loss,
            reason = "24 bits fit a single-precision number"
        )]
        let part = (bits & 0xff_ffff) as f32 / 16_777_216.0;
        part
    };
    let distance = radius * share(random).sqrt();
    let angle = share(random >> 32) * std::f32::consts::TAU;
    (frame[0] * angle.cos() + frame[1] * angle.sin()) * distance
}

fn hash(seed: u32, strand: u32, follower: usize) -> u64 {
    mixed(mixed(u64::from(seed) << 32 | u64::from(strand)) ^ follower as u64)
}

/// Steele, Lea and Flood's `SplitMix64` (2014): every input bit reaches every output bit.
pub(crate) fn mixed(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
