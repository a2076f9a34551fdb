//! Follower strands around the guides.

use crate::deform::hair_sim::{FollowerSettings, FollowersError, RootSkin, place_followers};
use crate::geom::{Attribute, Influences, Mesh, Strands, Topology, Warning, vec3};
use crate::graph::Followers;
use std::sync::Arc;

/// Adds followers to a mesh of guide strands, on the skin if it is known. Followers copy the attributes of their guide.
pub(super) fn with_followers(
    mesh: &Mesh,
    followers: &Followers,
    skin: Option<&Skin>,
) -> Result<Mesh, FollowersError> {
    let Some(strands) = mesh.topology.strands() else {
        return Ok(mesh.clone());
    };
    let settings = FollowerSettings {
        per_guide: followers.count,
        radius: followers.radius as f32,
        tip_separation: followers.tip_separation as f32,
        length_variation: followers.length_variation as f32,
        curl: followers.curl as f32,
        curl_length: followers.curl_length as f32,
        frizz: followers.frizz as f32,
        frizz_length: followers.frizz_length as f32,
        seed: followers.seed,
    };
    let surface = skin.map(|s| &s.surface);
    let (all, positions) = place_followers(strands, &mesh.positions, &settings, surface)?;
    // Each guide comes before its followers, which have the same number of vertices.
    let each = followers.count + 1;
    let guides = strands.guide_strands().map(|s| strands.range(s));
    let from: Vec<usize> = guides
        .flat_map(|r| std::iter::repeat_n(r, each).flatten())
        .collect();
    let attribute = |a: &Attribute| match a {
        Attribute::Scalar(v) => Attribute::Scalar(taken(v, &from)),
        Attribute::Vec2(v) => Attribute::Vec2(taken(v, &from)),
        Attribute::Vec3(v) => Attribute::Vec3(taken(v, &from)),
        Attribute::Vec4(v) => Attribute::Vec4(taken(v, &from)),
    };
    let attributes = mesh.attributes.iter();
    let influences = mesh.influences.as_ref();
    let influences = influences.map(|own| {
        let limit = ON_SKIN * settings.radius;
        let row = |s: usize| skin?.row_at(positions[all.range(s).start], limit);
        influences_of(own, &all, &from, row)
    });
    Ok(Mesh {
        name: mesh.name.clone(),
        topology: Arc::new(Topology::from_strands(all)),
        positions,
        uvs: mesh.uvs.iter().map(|set| taken(set, &from)).collect(),
        colors: mesh.colors.iter().map(|set| taken(set, &from)).collect(),
        attributes: attributes
            .map(|(name, a)| (name.clone(), attribute(a)))
            .collect(),
        influences,
        ..Mesh::default()
    })
}

/// Warnings about followers of an input that are none, in another unit than metres, or of too few vertices for their shape. `mesh` has the
/// guides.
pub(super) fn warnings(input: &str, followers: &Followers, mesh: &Mesh) -> Vec<Warning> {
    let Some(strands) = mesh.topology.strands() else {
        return Vec::new();
    };
    let length = |r: std::ops::Range<usize>| -> f64 {
        let pairs = mesh.positions[r].windows(2);
        pairs.map(|p| f64::from(vec3::distance(p[0], p[1]))).sum()
    };
    let guides = strands.guide_strands().map(|s| strands.range(s));
    let longest = guides.map(|r| (length(r.clone()), r.len() - 1));
    let longest = longest.max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((length, segments)) = longest.filter(|(length, _)| *length > 0.0) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    let mut warn = |code, message| out.push(Warning { code, message });
    let Followers {
        count,
        radius,
        curl,
        curl_length,
        frizz,
        frizz_length,
        ..
    } = *followers;
    if count == 0 {
        if radius > 0.0 || curl > 0.0 || frizz > 0.0 {
            warn(
                "no_followers",
                format!(
                    "input '{input}': \"followers\" has no \"count\", so there are none; add \"count\", the number for each guide"
                ),
            );
        }
        return out;
    }
    if radius == 0.0 && curl == 0.0 && frizz == 0.0 {
        let message = format!(
            "input '{input}': \"followers\" has no \"radius\", so they lie on their guides; add \"radius\", such as 0.008 for 8 mm"
        );
        warn("no_radius", message);
    }
    for (key, value, is_on, most) in [
        ("radius", radius, true, 3.0 * length),
        ("curl", curl, true, length),
        ("curl_length", curl_length, curl > 0.0, 4.0 * length),
        ("frizz", frizz, true, length),
        ("frizz_length", frizz_length, frizz > 0.0, 4.0 * length),
    ] {
        if is_on && value > most {
            warn(
                "length_large",
                format!(
                    "input '{input}': \"{key}\" of the followers is {value} m, but the longest guide is {length:.3} m; lengths are in metres: 8 mm are 0.008"
                ),
            );
        }
    }
    for (key, size, along, needed, what) in [
        ("curl_length", curl, curl_length, 8.0, "a rotation"),
        ("frizz_length", frizz, frizz_length, 4.0, "a bend"),
    ] {
        let vertices = along * segments as f64 / length;
        if size > 0.0 && vertices < 0.75 * needed {
            let least = needed * length / segments as f64;
            warn(
                "few_vertices",
                format!(
                    "input '{input}': {what} of the followers has {vertices:.1} vertices of the longest guide, but needs {needed}; set \"{key}\" to {least:.3} or more, or use guides with more vertices"
                ),
            );
        }
    }
    out
}

/// The skin that follower roots are on.
#[derive(Debug)]
pub(super) struct Skin {
    pub(super) surface: RootSkin,
    /// Joints and weights of its vertices; empty if they are not on the joints of the hair.
    pub(super) rows: Vec<Vec<(u32, f32)>>,
}

/// Roots count as on the skin if they are no farther from it than this share of the disc.
const ON_SKIN: f32 = 1e-3;

impl Skin {
    /// Weights of the skin at a point, if it has any.
    fn row_at(&self, point: [f32; 3], limit: f32) -> Option<Vec<(u32, f32)>> {
        let (corners, shares) = self.surface.corners_at(point, limit)?;
        let mut row = Vec::new();
        for (corner, share) in corners.into_iter().zip(shares) {
            let of_corner = &self.rows[corner as usize];
            if of_corner.is_empty() {
                return None;
            }
            row.extend(of_corner.iter().map(|(j, w)| (*j, w * share as f32)));
        }
        Some(row)
    }
}

/// Influences of each strand: those of its guide, or of `row` for a follower. `from`: the guide vertex of each vertex.
fn influences_of(
    own: &Influences,
    strands: &Strands,
    from: &[usize],
    row: impl Fn(usize) -> Option<Vec<(u32, f32)>>,
) -> Influences {
    let mut out = Influences::default();
    for strand in 0..strands.len() {
        let range = strands.range(strand);
        let is_guide = strands.is_guide(strand);
        let of_skin = (!is_guide).then(|| row(strand)).flatten();
        let made = of_skin.and_then(|row| {
            let rows = std::iter::repeat_n(row.as_slice(), range.len());
            Influences::from_rows(rows, usize::MAX, 0).ok()
        });
        let copied = || own.gathered(from[range].iter().copied());
        out.extend(&made.map_or_else(copied, |(made, ..)| made));
    }
    out
}

fn taken<T: Copy>(values: &[T], from: &[usize]) -> Vec<T> {
    from.iter().map(|&v| values[v]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::vec3::distance;

    #[test]
    fn odd_followers_are_told() {
        let strands = Strands::new([11, 6]).expect("valid");
        let positions = (0..17_u8)
            .map(|i| [0.0, 0.01 * f32::from(i), 0.0])
            .collect();
        let mesh = Mesh::new("hair", Topology::from_strands(strands), positions);
        // A guide of 0.1 m in ten segments.
        let good = Followers {
            count: 8,
            radius: 0.008,
            curl: 0.004,
            curl_length: 0.08,
            frizz: 0.003,
            frizz_length: 0.04,
            ..Followers::default()
        };
        for (followers, codes) in [
            (good.clone(), &[][..]),
            (
                Followers {
                    count: 0,
                    ..good.clone()
                },
                &["no_followers"],
            ),
            (
                Followers {
                    count: 3,
                    ..Followers::default()
                },
                &["no_radius"],
            ),
            (
                Followers {
                    radius: 0.8,
                    curl_length: 10.0,
                    frizz_length: 5.0,
                    ..good.clone()
                },
                &["length_large"; 3],
            ),
            (Followers::default(), &[]),
            (
                Followers {
                    radius: 8.0,
                    frizz: 5.0,
                    ..good.clone()
                },
                &["length_large"; 2],
            ),
            (
                Followers {
                    curl_length: 0.035,
                    ..good.clone()
                },
                &["few_vertices"],
            ),
            (
                Followers {
                    frizz_length: 0.015,
                    ..good.clone()
                },
                &["few_vertices"],
            ),
            (
                Followers {
                    frizz: 0.0,
                    frizz_length: 0.015,
                    ..good
                },
                &[],
            ),
        ] {
            let found = warnings("hair", &followers, &mesh);
            let found: Vec<&str> = found.iter().map(|w| w.code).collect();
            assert_eq!(found, codes, "{followers:?}");
        }
    }

    #[test]
    fn followers_have_what_their_guide_has() {
        let strands = Strands::new([3, 2]).expect("valid");
        let positions = (0..5_u8).map(|i| [0.0, f32::from(i), 0.0]).collect();
        let mut mesh = Mesh::new("hair", Topology::from_strands(strands), positions);
        mesh.uvs = vec![(0..5_u8).map(|i| [f32::from(i), 0.5]).collect()];
        let masses = vec![0.0, 0.0, 1.0, 0.0, 0.0];
        mesh.attributes
            .insert("inverse_mass".into(), Attribute::Scalar(masses));
        mesh.influences = Some(Influences::rigid(5, 3));
        let followers = Followers {
            count: 2,
            radius: 0.25,
            tip_separation: 1.0,
            seed: 7,
            ..Followers::default()
        };
        let found = with_followers(&mesh, &followers, None).expect("few");
        found.check().expect("arrays fit");
        let strands = found.topology.strands().expect("strands");
        assert_eq!(strands.guides(), [0, 0, 0, 3, 3, 3]);
        assert_eq!(found.vertex_count(), 15);
        for (strand, range) in strands.ranges().enumerate() {
            let guide = strands.range(strands.guides()[strand] as usize);
            for (own, lead) in range.zip(guide) {
                assert_eq!(found.uvs[0][own], found.uvs[0][lead]);
                let [a, b] = [own, lead].map(|v| found.positions[v]);
                let apart = distance(a, b);
                assert!(apart <= 0.5 + 1e-6, "radius and tip separation");
                assert_eq!(apart == 0.0, strands.is_guide(strand));
            }
        }
        let rows = found.influences.as_ref().map(Influences::vertex_count);
        assert_eq!(rows, Some(15));
    }

    /// A square of which joint 1 counts as much as x says: so it does for the roots of followers.
    #[test]
    fn followers_have_the_weights_of_the_skin_at_their_own_roots() {
        let corners = [
            [0.0, 0.0, 0.0],
            [0.0, 0.0, 1.0],
            [1.0, 0.0, 0.0],
            [1.0, 0.0, 1.0],
        ];
        let rows = corners.map(|[x, ..]| vec![(0, 1.0 - x), (1, x)]);
        let skin = |rows: &[Vec<(u32, f32)>]| Skin {
            surface: RootSkin::new(&corners, &[[0, 1, 2], [2, 1, 3]]),
            rows: rows.to_vec(),
        };
        let strands = Strands::new([2]).expect("valid");
        let positions = vec![[0.5, 0.0, 0.5], [0.5, 0.1, 0.5]];
        let mut mesh = Mesh::new("hair", Topology::from_strands(strands), positions);
        mesh.influences = Some(Influences::rigid(2, 5));
        let followers = Followers {
            count: 20,
            radius: 0.3,
            ..Followers::default()
        };
        let found = with_followers(&mesh, &followers, Some(&skin(&rows))).expect("few");
        let influences = found.influences.as_ref().expect("weights");
        assert_eq!(influences.row(0).collect::<Vec<_>>(), [(5, 1.0)]);
        for v in 2..found.vertex_count() {
            let root = found.positions[v / 2 * 2][0];
            let weight = influences.row(v).find(|(j, _)| *j == 1).map(|r| r.1);
            assert!(
                (weight.unwrap_or(0.0) - root).abs() < 1e-6,
                "{weight:?} {root}"
            );
        }
        // Joints of another character say nothing: the guide's are taken.
        let other = skin(&rows.map(|_| Vec::new()));
        let found = with_followers(&mesh, &followers, Some(&other)).expect("few");
        assert_eq!(found.influences, Some(Influences::rigid(42, 5)));
    }
}
