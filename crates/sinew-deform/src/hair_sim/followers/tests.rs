//! Followers at rest: closed forms on planes and balls.

use super::{FollowerSettings, RootSkin, place_followers};
use crate::hair_sim::test_scene::{followers, line};
use sinew_geom::{Mesh, Strands, Vec3};
use sinew_testkit::{MeshTruth, meshes};

type V = Vec3<f32>;

fn vector(p: [f32; 3]) -> V {
    V::from(p)
}

/// One guide of each root, all alike.
fn hair(roots: &[[f32; 3]], step: [f32; 3], vertices: usize) -> (Strands, Vec<[f32; 3]>) {
    let strands = Strands::new(vec![vertices; roots.len()]).expect("valid");
    let rest = roots.iter().flat_map(|&r| line(r, step, vertices));
    (strands, rest.collect())
}

/// Roots of a square grid in the plane y = 0.
fn field(across: u8) -> Vec<[f32; 3]> {
    let at = |i: u8| 0.02 * f32::from(i);
    let row = |x: u8| (0..across).map(move |z| [at(x), 0.0, at(z)]);
    (0..across).flat_map(row).collect()
}

/// Each follower with its guide: vertices of both.
fn pairs<'a>(
    strands: &'a Strands,
    rest: &'a [[f32; 3]],
) -> impl Iterator<Item = (&'a [[f32; 3]], &'a [[f32; 3]])> {
    let followers = (0..strands.len()).filter(|&s| !strands.is_guide(s));
    followers.map(|s| {
        let guide = strands.guides()[s] as usize;
        (&rest[strands.range(s)], &rest[strands.range(guide)])
    })
}

fn lengths(points: &[[f32; 3]]) -> impl Iterator<Item = f32> {
    points
        .windows(2)
        .map(|w| (vector(w[1]) - vector(w[0])).norm())
}

fn ball(radius: f32) -> Mesh {
    let mut ball = meshes::sphere(96, 192);
    for p in &mut ball.positions {
        *p = p.map(|c| c * radius);
    }
    ball
}

#[test]
fn followers_fill_the_disc_across_the_first_segment() {
    let guides = Strands::new([4, 3]).expect("valid");
    let mut rest = line([0.0; 3], [0.3, 0.1, 0.0], 4);
    rest.extend(line([1.0; 3], [0.0, 0.0, 0.1], 3));
    let place = |seed: u32| place_followers(&guides, &rest, &followers(200, 0.02, 2.0, seed), None);
    let (strands, all) = place(3).expect("places");
    assert_eq!((strands.len(), all.len()), (402, 201 * 7));
    let along = V::new(0.3, 0.1, 0.0).normalize();
    let length = 3.0 * 0.1_f32.sqrt();
    let mut squared = 0.0;
    for s in 1..201 {
        let off = vector(all[strands.range(s).start]);
        assert!(off.norm() <= 0.02, "{off:?}");
        assert!(off.dot(&along).abs() < 1e-6, "{off:?}");
        squared += off.norm_squared() / 200.0;
        // As long as the guide, and aslant by the angle of that tangent.
        let tangent = 2.0 * off / length;
        let expected = off + (along + tangent).normalize() * length;
        let tip = vector(all[strands.range(s).end - 1]);
        assert!((tip - expected).norm() < 1e-6, "{tip:?} {expected:?}");
    }
    // Uniform in a disc: the mean of r^2 is R^2 / 2.
    assert!((squared / 0.000_4 - 0.5).abs() < 0.07, "{squared}");
    assert_eq!(place(3).expect("places").1, all);
    assert_ne!(place(4).expect("places").1, all);
}

/// The same bits on every machine: only sums, products, quotients and square roots are taken.
#[test]
fn places_do_not_change() {
    let (guides, rest) = hair(&field(3), [0.01, 0.01, 0.0], 3);
    let (_, all) = place_followers(&guides, &rest, &followers(2, 0.01, 0.5, 7), None).expect("few");
    let bits = all
        .iter()
        .flatten()
        .fold(0_u32, |sum, c| sum.rotate_left(5).wrapping_add(c.to_bits()));
    assert_eq!(bits, 0xceab_2c22, "{bits:#x}");
}

/// Hair that leans by 60 degrees: on a plane that is known, and on one that only the roots tell.
#[test]
fn on_a_plane_followers_are_guides_elsewhere() {
    let plane = RootSkin::new(
        &[
            [-1.0, 0.0, -1.0],
            [-1.0, 0.0, 1.0],
            [1.0, 0.0, -1.0],
            [1.0, 0.0, 1.0],
        ],
        &[[0, 1, 2], [2, 1, 3]],
    );
    let (guides, rest) = hair(&field(5), [0.004_33, 0.0025, 0.0], 9);
    for skin in [Some(&plane), None] {
        let settings = followers(6, 0.012, 0.0, 1);
        let (strands, all) = place_followers(&guides, &rest, &settings, skin).expect("places");
        let mut farthest = 0.0_f32;
        for (follower, guide) in pairs(&strands, &all) {
            let off = vector(follower[0]) - vector(guide[0]);
            assert!(off.y.abs() < 1e-9, "in the plane: {off:?}");
            farthest = farthest.max(off.norm());
            for (f, g) in follower.iter().zip(guide) {
                let apart = vector(*f) - vector(*g) - off;
                assert!(apart.norm() < 1e-7, "{apart:?}");
            }
        }
        assert!(farthest > 0.011 && farthest < 0.012, "{farthest}");
    }
}

/// Turned about the middle of the ball with their roots, so as far from the surface as their guides, vertex by vertex.
#[test]
fn on_a_ball_followers_turn_with_the_surface() {
    let ball = ball(0.1);
    let triangles = ball.topology.triangles();
    let skin = RootSkin::new(&ball.positions, triangles);
    let truth = MeshTruth::new(&ball.positions, triangles);
    let roots: Vec<[f32; 3]> = (0..12_u8)
        .map(|i| {
            let (sine, cosine) = (0.5 * f32::from(i)).sin_cos();
            let up = f32::from(i) / 6.0 - 0.9;
            let level = (1.0 - up * up).sqrt();
            [0.1 * level * cosine, 0.1 * up, 0.1 * level * sine]
        })
        .collect();
    // Leaning by the same angle everywhere, to one side of a plane of longitude.
    let lean = |root: &[f32; 3]| {
        let out = vector(*root).normalize();
        let step = out + 2.0 * V::y().cross(&out).normalize();
        line(*root, (step * 0.002).into(), 8)
    };
    let rest: Vec<[f32; 3]> = roots.iter().flat_map(lean).collect();
    let guides = Strands::new(vec![8; roots.len()]).expect("valid");
    let settings = followers(8, 0.03, 0.0, 5);
    let (strands, all) = place_followers(&guides, &rest, &settings, Some(&skin)).expect("places");
    let mut farthest = 0.0_f32;
    for (follower, guide) in pairs(&strands, &all) {
        let root = follower[0].map(f64::from);
        let off = truth.distance(root, 1.0);
        assert!(off < 1e-8, "{off} off the mesh");
        farthest = farthest.max((vector(follower[0]) - vector(guide[0])).norm());
        // The mesh lies up to 27 micrometres inside the ball, and the guides' roots are on the ball.
        for (f, g) in follower.iter().zip(guide) {
            let (found, expected) = (vector(*f).norm(), vector(*g).norm());
            assert!((found - expected).abs() < 5e-5, "{found} for {expected}");
        }
    }
    assert!(farthest > 0.025, "{farthest}");
}

/// Lengths are the guide's, however far tips spread; short ones lean by 45 degrees at most, and never towards the skin.
#[test]
fn lengths_stay_where_tips_spread() {
    let ball = ball(0.1);
    let skin = RootSkin::new(&ball.positions, ball.topology.triangles());
    for step in [1e-6_f32, 1e-3, 0.02] {
        let (guides, rest) = hair(&[[0.0, 0.1, 0.0]], [0.8 * step, 0.6 * step, 0.0], 6);
        let settings = followers(40, 0.01, 2.0, 2);
        let placed = place_followers(&guides, &rest, &settings, Some(&skin));
        let (strands, all) = placed.expect("places");
        let mut most = 0.0_f32;
        for (follower, guide) in pairs(&strands, &all) {
            for (f, g) in lengths(follower).zip(lengths(guide)) {
                // Positions have seven digits.
                assert!((f - g).abs() < 1e-5 * g + 4e-8, "{f} for {g}");
            }
            let tip = vector(follower[5]);
            let root = vector(follower[0]);
            assert!(tip.norm() > root.norm() - 1e-6, "out of the skin");
            let direction = (tip - root).normalize();
            most = most.max(
                direction
                    .dot(&V::new(0.8, 0.6, 0.0))
                    .clamp(-1.0, 1.0)
                    .acos(),
            );
        }
        // Aslant by the spread, and by as much as the ball is turned at the root.
        assert!(most < 0.786 + 0.11, "{most} at {step}");
        assert!(most > 0.1, "{most} at {step}");
    }
}

/// Around the edge of a plate there is no place: roots are on the side that the guide is on.
#[test]
fn followers_stay_on_their_side_of_an_ear() {
    let mut plate = meshes::cube();
    let bounds = plate.bounds().expect("vertices");
    let size = vector(bounds.1) - vector(bounds.0);
    for p in &mut plate.positions {
        let unit = (vector(*p) - vector(bounds.0)).component_div(&size) - V::repeat(0.5);
        *p = [0.1 * unit.x, 0.002 * unit.y, 0.1 * unit.z];
    }
    let skin = RootSkin::new(&plate.positions, plate.topology.triangles());
    let (guides, rest) = hair(&[[0.03, 0.001, 0.0]], [0.0, 0.01, 0.0], 4);
    let settings = followers(60, 0.03, 0.0, 9);
    let (strands, all) = place_followers(&guides, &rest, &settings, Some(&skin)).expect("places");
    for (follower, _) in pairs(&strands, &all) {
        let [x, y, z] = follower[0];
        assert!(x <= 0.050_001 && z.abs() <= 0.050_001);
        assert!((y - 0.001).abs() < 1e-6, "{y} on the other side");
    }
}

/// A lock: with a separation of -1 the tips of followers meet that of a straight guide, and with -0.5 they are half as far from it as their
/// roots. Leaning makes their way longer than their length: they miss it by d^2 / 2l.
#[test]
fn tips_come_together_where_the_separation_is_negative() {
    for (separation, part) in [(-1.0, 0.0), (-0.5, 0.5_f32)] {
        let (guides, rest) = hair(&field(3), [0.0, 0.02, 0.0], 6);
        let settings = followers(30, 0.004, separation, 4);
        let (strands, all) = place_followers(&guides, &rest, &settings, None).expect("places");
        for (follower, guide) in pairs(&strands, &all) {
            let at = |i: usize| vector(follower[i]) - vector(guide[i]);
            let missed = at(5) - at(0) * part;
            assert!(missed.norm() < 1e-4, "{missed:?} at {separation}");
            for (f, g) in lengths(follower).zip(lengths(guide)) {
                assert!((f - g).abs() < 1e-6, "{f} for {g}");
            }
        }
    }
}

/// Roots far from any skin, roots at one point and strands without length.
#[test]
fn degenerate_guides_have_followers() {
    let skin = RootSkin::new(&[[0.0; 3]; 3], &[[0, 1, 2]]);
    for (roots, step) in [
        (vec![[5.0_f32, 0.0, 0.0]; 6], [0.0_f32; 3]),
        (vec![[0.0; 3]; 6], [0.0, 0.1, 0.0]),
        (Vec::new(), [0.0; 3]),
    ] {
        let (guides, rest) = hair(&roots, step, 3);
        let settings = followers(3, 0.01, 1.0, 9);
        let placed = place_followers(&guides, &rest, &settings, Some(&skin));
        let (strands, all) = placed.expect("places");
        assert_eq!(strands.len(), 4 * roots.len());
        assert!(all.iter().flatten().all(|c| c.is_finite()));
        for (follower, guide) in pairs(&strands, &all) {
            for (f, g) in lengths(follower).zip(lengths(guide)) {
                assert!((f - g).abs() < 1e-6, "{f} {g}");
            }
        }
    }
}

/// Straight guides along y of 0.32 m and 128 segments, many followers each: far more vertices than a rotation of a curl needs.
fn styled(settings: &FollowerSettings) -> Vec<Vec<V>> {
    let (guides, rest) = hair(&field(3), [0.0, 0.0025, 0.0], 129);
    let settings = FollowerSettings {
        per_guide: 50,
        radius: 0.01,
        ..*settings
    };
    let (strands, all) = place_followers(&guides, &rest, &settings, None).expect("places");
    let points = |(f, _): (&[[f32; 3]], _)| f.iter().copied().map(vector).collect();
    pairs(&strands, &all).map(points).collect()
}

fn length(points: &[V]) -> f32 {
    points.windows(2).map(|w| (w[1] - w[0]).norm()).sum()
}

/// Uniform between nothing and all: mean a half, variance a twelfth; 450 of them miss the mean by less than 3 s / sqrt(n) in 99.7 %.
#[test]
fn lengths_vary_evenly_up_to_the_share() {
    for share in [0.2_f32, 1.0] {
        let settings = FollowerSettings {
            length_variation: share,
            ..FollowerSettings::default()
        };
        let shorter: Vec<f32> = styled(&settings)
            .iter()
            .map(|f| (1.0 - length(f) / 0.32) / share)
            .collect();
        assert!(shorter.iter().all(|s| (-1e-4..=1.0001).contains(s)));
        let n = shorter.len() as f32;
        let mean = shorter.iter().sum::<f32>() / n;
        let variance = shorter.iter().map(|s| (s - mean).powi(2)).sum::<f32>() / n;
        assert!((mean - 0.5).abs() < 3.0 * (1.0 / 12.0 / n).sqrt(), "{mean}");
        assert!((variance - 1.0 / 12.0).abs() < 0.01, "{variance}");
    }
}

/// A helix of radius r and a rotation every l of hair: vertices are r from the axis, go round by 2 pi s / l, and rise by sqrt(1 - (2 pi r /
/// l)^2) of the hair. Followers begin at all angles.
#[test]
fn curls_are_helices_of_their_radius_and_length() {
    let (radius, l) = (0.005_f32, 0.08_f32);
    let settings = FollowerSettings {
        curl: radius,
        curl_length: l,
        ..FollowerSettings::default()
    };
    let mut quarters = [0; 4];
    for points in styled(&settings) {
        assert!((length(&points) - 0.32).abs() < 1e-5, "lengths are kept");
        let from_axis = |p: &V| [p.x - points[0].x, p.z - points[0].z];
        let angle = |p: &V| {
            let [x, z] = from_axis(p);
            z.atan2(x)
        };
        // A rotation is 32 vertices; the first one opens.
        for (i, p) in points.iter().enumerate().skip(33) {
            let [x, z] = from_axis(p);
            assert!((x.hypot(z) - radius).abs() < 0.02 * radius, "{i}: {x} {z}");
            let half = angle(&points[i - 16]) - angle(p);
            assert!((half.abs() - std::f32::consts::PI).abs() < 0.02, "{i}");
        }
        let rise = (points[128].y - points[64].y) / 0.16;
        let around = std::f32::consts::TAU * radius / l;
        assert!((rise - (1.0 - around * around).sqrt()).abs() < 2e-3);
        let [x, z] = from_axis(&points[128]);
        quarters[usize::from(x > 0.0) + 2 * usize::from(z > 0.0)] += 1;
    }
    assert!(quarters.iter().all(|&n| n > 80), "{quarters:?} of 450");
}

/// Frizz has no direction, stays within its bound and leaves lengths and roots as they are; another seed bends otherwise.
#[test]
fn frizz_is_bounded_and_leans_nowhere() {
    let settings = |seed| FollowerSettings {
        frizz: 0.004,
        frizz_length: 0.04,
        seed,
        ..FollowerSettings::default()
    };
    let found = styled(&settings(1));
    let mut sum = [0.0_f32; 2];
    let mut most = 0.0_f32;
    for points in &found {
        assert!((length(points) - 0.32).abs() < 1e-5, "lengths are kept");
        for p in points {
            let aside = [p.x - points[0].x, p.z - points[0].z];
            for k in 0..2 {
                sum[k] += aside[k];
                most = most.max(aside[k].abs());
            }
        }
    }
    // Axes across lie any way in the plane.
    let bound = 0.004 * std::f32::consts::SQRT_2;
    assert!((0.002..bound).contains(&most), "{most}");
    let n = (found.len() * 129) as f32;
    assert!(sum.iter().all(|s| (s / n).abs() < 1e-4), "{sum:?} of {n}");
    assert_ne!(found[0], styled(&settings(2))[0]);
}
