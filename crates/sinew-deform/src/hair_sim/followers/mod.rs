//! Followers made from guides.

mod ground;
#[cfg(test)]
mod tests;

pub use ground::RootSkin;
use ground::{Neighbours, P, Place, across, turned, unit};
use sinew_geom::{Curl, Frizz, Strands, StrandsError};
use std::f64::consts::TAU;

/// Why followers cannot be placed.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FollowersError {
    /// The number of positions is not the number of vertices.
    #[error("found {found} positions, expected one for each of {expected} strand vertices")]
    PositionCount {
        /// Positions given.
        found: usize,
        /// Vertices there are.
        expected: usize,
    },
    /// There would be too many vertices.
    #[error(transparent)]
    Strands(#[from] StrandsError),
}

/// Settings of [`place_followers`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FollowerSettings {
    /// Number of followers of each guide.
    pub per_guide: usize,
    /// Radius of the disc around the guide's root in which their roots lie, metres.
    pub radius: f32,
    /// Growth of their distance from the guide, from root to tip: `1 + tip_separation * t`, with `t` the share of the guide's arc length.
    /// They lean away by 45 degrees at most. Below 0 followers come together, as a lock of hair: at -1 their tips meet the guide's.
    pub tip_separation: f32,
    /// Each follower is shorter than its guide by a random share up to this. 0 to 1.
    pub length_variation: f32,
    /// Radius of the curls that each follower has around its line, each beginning at its own angle, metres; 0 for none. At most 0.15 of
    /// `curl_length`.
    pub curl: f32,
    /// Length of hair in one full rotation of a curl, metres, above 0.
    pub curl_length: f32,
    /// Distance by which followers randomly leave their line, at most, metres. It grows from 0 at the root over the first `frizz_length`.
    pub frizz: f32,
    /// Length of hair between two of these bends, metres, above 0.
    pub frizz_length: f32,
    /// Seed of all that is random.
    pub seed: u32,
}

/// No followers; curls and bends, where there are some, every 50 and 15 mm.
impl Default for FollowerSettings {
    fn default() -> Self {
        Self {
            per_guide: 0,
            radius: 0.0,
            tip_separation: 0.0,
            length_variation: 0.0,
            curl: 0.0,
            curl_length: 0.05,
            frizz: 0.0,
            frizz_length: 0.015,
            seed: 0,
        }
    }
}

/// Adds followers to each guide and returns all strands with their rest positions: each guide, then its followers.
///
/// Roots lie at random positions of a disc around the guide's root:
///
/// | surface at the root | disc |
/// |---|---|
/// | `skin` nearer than the radius | on the skin, on the side of the guide; the follower is the guide, rotated as the skin is between both roots |
/// | none, guides around | in the plane of the roots of up to eight guides nearby |
/// | none, fewer than three guides nearby or no plane | across the guide's first segment |
///
/// Segments are as long as those of the guide, all shorter by one random share with `length_variation`. With `tip_separation`, they lean
/// away from the guide, and never towards the skin. Curls and frizz lie across the line of the follower; vertices sample them, and the
/// segments keep their lengths.
///
/// Positions depend on `seed` and the guide's index alone and are the same on every machine. Strands of `guides` that are followers are
/// dropped. `positions` has one entry per vertex of `guides`, in scene space at bind.
///
/// # Errors
/// [`FollowersError`] if the number of positions is wrong, or there are too many vertices.
///
/// # Cost
/// A search in a tree of triangles for each follower.
pub fn place_followers(
    guides: &Strands,
    positions: &[[f32; 3]],
    settings: &FollowerSettings,
    skin: Option<&RootSkin>,
) -> Result<(Strands, Vec<[f32; 3]>), FollowersError> {
    let (found, expected) = (positions.len(), guides.vertex_count());
    if found != expected {
        return Err(FollowersError::PositionCount { found, expected });
    }
    let point = |v: usize| P::from(positions[v].map(f64::from));
    let roots = guides.guide_strands().map(|s| point(guides.range(s).start));
    let neighbours = Neighbours::new(roots.collect());
    let (mut counts, mut leaders, mut placed) = (Vec::new(), Vec::new(), Vec::new());
    for (number, strand) in guides.guide_strands().enumerate() {
        let range = guides.range(strand);
        let (leader, index) = (counts.len() as u32, strand as u32);
        counts.extend(std::iter::repeat_n(range.len(), settings.per_guide + 1));
        leaders.extend(std::iter::repeat_n(leader, settings.per_guide + 1));
        placed.extend_from_slice(&positions[range.clone()]);
        let guide = Guide::new(range.map(point).collect(), settings, |root, along| Ground {
            skin: skin.and_then(|s| Some((s, s.nearest(root, f64::from(settings.radius), None)?))),
            flat: neighbours.normal(number, along).unwrap_or(along),
        });
        for follower in 1..=settings.per_guide {
            let random = hash(settings.seed, index, follower);
            placed.extend(guide.follower(in_disc(random), Style::new(settings, random)));
        }
    }
    let strands = Strands::new(counts)?.with_guides(leaders)?;
    Ok((strands, placed))
}

/// The space between roots that are spread like the eight around each: the median, metres. `None` for less than two.
pub(super) fn root_spacing(roots: &[[f32; 3]]) -> Option<f64> {
    let roots = roots.iter().map(|r| P::from(r.map(f64::from)));
    Neighbours::new(roots.collect()).spacing()
}

/// What the roots beside one guide lie on.
struct Ground<'a> {
    /// With the place of the guide's root.
    skin: Option<(&'a RootSkin, Place)>,
    /// Normal of the plane where there is none.
    flat: P,
}

/// One guide, and what its followers are made of.
struct Guide<'a> {
    points: Vec<P>,
    length: f64,
    radius: f64,
    tip_separation: f64,
    ground: Ground<'a>,
}

impl<'a> Guide<'a> {
    fn new(
        points: Vec<P>,
        settings: &FollowerSettings,
        ground: impl FnOnce(P, P) -> Ground<'a>,
    ) -> Self {
        let segments = || points.windows(2).map(|w| w[1] - w[0]);
        let along = segments().find_map(unit).unwrap_or_else(P::y);
        Self {
            length: segments().map(|s| s.norm()).sum(),
            radius: f64::from(settings.radius),
            tip_separation: f64::from(settings.tip_separation),
            ground: ground(points[0], along),
            points,
        }
    }

    /// The vertices of the follower at a place of the unit disc.
    fn follower(&self, place: [f64; 2], mut style: Style) -> Vec<[f32; 3]> {
        let (root, normals) = self.root(place);
        let [from, to] = normals;
        // On the line of the strand, and beside it.
        let (mut line, mut at) = (root, root);
        let mut spread = self.spread(root - self.points[0], to);
        let mut before: Option<[P; 2]> = None;
        let mut distance = 0.0;
        let mut out = vec![single(root)];
        for pair in self.points.windows(2) {
            let segment = turned(pair[1] - pair[0], from, to) * style.size;
            if let Some(along) = unit(segment) {
                // Carried along the strand, so that both stay on the same side of it.
                let (way, side) = match before {
                    Some([way, side]) => {
                        spread = turned(spread, way, along);
                        (along, turned(side, way, along))
                    }
                    None => {
                        spread = leaning(spread, along, to);
                        (along, across(along)[0])
                    }
                };
                before = Some([way, side]);
                let length = segment.norm();
                let lean = unit(along + spread).unwrap_or(along);
                line += lean * (length * style.curl.advance(distance + 0.5 * length));
                distance += length;
                let [a, b] = style.offset(distance);
                let beside = line + side * a + along.cross(&side) * b;
                at += unit(beside - at).unwrap_or(lean) * length;
            }
            out.push(single(at));
        }
        out
    }

    /// Where the follower's root is, and the normals there and at the guide's, the latter first.
    fn root(&self, [x, y]: [f64; 2]) -> (P, [P; 2]) {
        let offset = |normal: P| {
            let [a, b] = across(normal);
            (a * x + b * y) * self.radius
        };
        let flat = self.ground.flat;
        let Some((skin, here)) = self.ground.skin else {
            return (self.points[0] + offset(flat), [flat; 2]);
        };
        let on_plane = here.point + offset(here.normal);
        let there = skin.nearest(on_plane, self.radius, Some(here.normal));
        // Around an edge there is no place: it is the guide's then.
        let there = there.unwrap_or(here);
        (there.point, [here.normal, there.normal])
    }

    /// By how much a follower leans away from its guide: tangent of the angle, along the way between both.
    fn spread(&self, offset: P, normal: P) -> P {
        if self.length <= 0.0 {
            return P::zeros();
        }
        let level = offset - normal * normal.dot(&offset);
        let tangent = level * (self.tip_separation / self.length);
        tangent / tangent.norm().max(1.0)
    }
}

/// How a follower differs from its guide.
struct Style {
    /// Of its length.
    size: f64,
    curl: Curl,
    frizz: Frizz,
}

impl Style {
    fn new(s: &FollowerSettings, random: u64) -> Self {
        // Other numbers than those of its place.
        let bits = mixed(mixed(random) ^ u64::from(s.seed));
        let [shorter, phase] =
            [bits >> 40, bits >> 16 & 0xff_ffff].map(|b| b as f64 / 16_777_216.0);
        let most = f64::from(s.curl_length) * Curl::WIDEST;
        Self {
            size: 1.0 - f64::from(s.length_variation) * shorter,
            curl: Curl {
                radius: f64::from(s.curl).min(most),
                length: f64::from(s.curl_length),
                phase: phase * TAU,
            },
            frizz: Frizz::new(f64::from(s.frizz), f64::from(s.frizz_length), s.seed, bits),
        }
    }

    fn offset(&mut self, distance: f64) -> [f64; 2] {
        let [curl, frizz] = [self.curl.offset(distance), self.frizz.offset(distance)];
        [curl[0] + frizz[0], curl[1] + frizz[1]]
    }
}

/// The part of a spread that is across the strand, and does not lead towards the skin.
fn leaning(spread: P, along: P, normal: P) -> P {
    let out = if along.dot(&normal) < 0.0 {
        -normal
    } else {
        normal
    };
    let across = spread - along * along.dot(&spread);
    across - out * across.dot(&out).min(0.0)
}

fn single(p: P) -> [f32; 3] {
    [p.x as f32, p.y as f32, p.z as f32]
}

/// A place of the unit disc, each as likely as any other: the first of a row of places of the square that is in it. No sines: these differ
/// by machine.
fn in_disc(random: u64) -> [f64; 2] {
    const TRIES: usize = 32;
    let share = |bits: u64| (bits & 0xff_ffff) as f64 / 8_388_608.0 - 1.0;
    let row = std::iter::successors(Some(random), |&bits| Some(mixed(bits)));
    let mut places = row.take(TRIES).map(|bits| [share(bits), share(bits >> 32)]);
    places
        .find(|[x, y]| x * x + y * y <= 1.0)
        .unwrap_or_default()
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
