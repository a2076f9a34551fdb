use super::*;
use crate::Vec3;

/// A square of one metre in x and z, of `n` by `n` pairs of triangles, normals up.
fn square(n: usize) -> (Mesh, Vec<[f32; 3]>) {
    let at = |i: usize| i as f32 / n as f32;
    let positions: Vec<[f32; 3]> = (0..=n)
        .flat_map(|z| (0..=n).map(move |x| [at(x), 0.0, at(z)]))
        .collect();
    let index = |x: usize, z: usize| (z * (n + 1) + x) as u32;
    let triangles = (0..n)
        .flat_map(|z| (0..n).map(move |x| (x, z)))
        .flat_map(|(x, z)| {
            let [a, b] = [index(x, z), index(x + 1, z)];
            let [c, d] = [index(x, z + 1), index(x + 1, z + 1)];
            [[a, c, b], [b, c, d]]
        })
        .collect();
    let count = positions.len();
    let topology = Topology::new(count as u32, triangles).expect("valid");
    let mut mesh = Mesh::new("square", topology, positions);
    mesh.uvs = vec![mesh.positions.iter().map(|p| [p[0], p[2]]).collect()];
    (mesh, vec![[0.0, 1.0, 0.0]; count])
}

fn grown(maps: &GrowMaps<'_>, settings: &GrowSettings) -> Mesh {
    let (mesh, normals) = square(8);
    grow(&mesh, &normals, maps, settings).expect("grows")
}

/// The vertices of each strand.
fn strands(hair: &Mesh) -> Vec<&[[f32; 3]]> {
    let strands = hair.topology.strands().expect("strands");
    strands.ranges().map(|r| &hair.positions[r]).collect()
}

fn roots(hair: &Mesh) -> Vec<Vec3<f32>> {
    strands(hair).iter().map(|s| s[0].into()).collect()
}

fn length(strand: &[[f32; 3]]) -> f32 {
    let step = |w: &[[f32; 3]]| (Vec3::from(w[1]) - Vec3::from(w[0])).norm();
    strand.windows(2).map(step).sum()
}

#[test]
fn roots_are_spread_evenly() {
    let settings = GrowSettings {
        amount: GrowAmount::PerSquareMetre(400.0),
        ..GrowSettings::default()
    };
    let hair = grown(&GrowMaps::default(), &settings);
    let roots = roots(&hair);
    assert_eq!(roots.len(), 400);
    let nearest = |i: usize| {
        let others = roots.iter().enumerate().filter(|(o, _)| *o != i);
        others
            .map(|(_, p)| (p - roots[i]).norm())
            .fold(f32::INFINITY, f32::min)
    };
    // The densest packing of that many points has this distance; the paper's figure 5 has ratios of 0.7 to 0.8 in the plane, random
    // points have nearly 0.
    let densest = (2.0 / (3_f32.sqrt() * 400.0)).sqrt();
    let closest = (0..roots.len()).map(nearest).fold(f32::INFINITY, f32::min);
    assert!(closest > 0.65 * densest, "{}", closest / densest);
    // No hole either: each place has a root near it.
    let far = (0..100).map(|i| {
        let p = Vec3::new((i % 10) as f32 + 0.5, 0.0, (i / 10) as f32 + 0.5) / 10.0;
        roots
            .iter()
            .map(|r| (r - p).norm())
            .fold(f32::INFINITY, f32::min)
    });
    let far = far.fold(0.0, f32::max);
    assert!(far < 1.1 * densest, "{}", far / densest);
}

#[test]
fn density_is_linear_between_vertices() {
    // Rises from 0 to 1 along x: three quarters grow in the upper half.
    let (mesh, _) = square(8);
    let density: Vec<f32> = mesh.positions.iter().map(|p| p[0]).collect();
    let settings = GrowSettings {
        amount: GrowAmount::PerSquareMetre(4000.0),
        ..GrowSettings::default()
    };
    let maps = GrowMaps {
        density: Some(&density),
        ..GrowMaps::default()
    };
    let roots = roots(&grown(&maps, &settings));
    assert_eq!(roots.len(), 2000);
    let upper = roots.iter().filter(|p| p.x > 0.5).count();
    assert!((1470..1530).contains(&upper), "{upper} of 2000");
}

#[test]
fn strands_have_their_length_and_lie_where_they_are_combed() {
    let (mesh, _) = square(8);
    let comb = vec![[1.0, 0.0, 0.0]; mesh.vertex_count()];
    let lengths: Vec<f32> = mesh.positions.iter().map(|p| 0.5 + p[2]).collect();
    let settings = GrowSettings {
        length_variation: 0.0,
        lean: 0.0,
        vertices: 33,
        ..GrowSettings::default()
    };
    let maps = GrowMaps {
        comb: Some(&comb),
        length: Some(&lengths),
        ..GrowMaps::default()
    };
    let hair = grown(&maps, &settings);
    for strand in strands(&hair) {
        let expected = 0.2 * (0.5 + strand[0][2]);
        let found = length(strand);
        assert!(
            (found / expected - 1.0).abs() < 0.005,
            "{found} for {expected}"
        );
        let [first, .., before, tip] = *strand else {
            panic!("33 vertices")
        };
        let direction = |a: [f32; 3], b: [f32; 3]| (Vec3::from(b) - Vec3::from(a)).normalize();
        assert!(
            direction(first, strand[1]).y > 0.9,
            "leaves along the normal"
        );
        assert!(direction(before, tip).x > 0.999, "ends as combed");
    }
    let uvs = &hair.uvs[0];
    let range = hair.topology.strands().expect("strands").range(7);
    for v in range.clone() {
        let [u, w] = uvs[v];
        let root = hair.positions[range.start];
        assert!((u - root[0]).abs() < 1e-6 && (w - root[2]).abs() < 1e-6);
    }
}

#[test]
fn curls_turn_as_often_as_their_length_says() {
    let settings = GrowSettings {
        amount: GrowAmount::Strands(20),
        vertices: 161,
        length: 0.2,
        length_variation: 0.0,
        lean: 0.0,
        curl_radius: 0.004,
        curl_length: 0.05,
        ..GrowSettings::default()
    };
    let hair = grown(&GrowMaps::default(), &settings);
    for strand in strands(&hair) {
        assert!(
            (length(strand) / 0.2 - 1.0).abs() < 0.01,
            "{}",
            length(strand)
        );
        // Directions across the normal turn by a full circle every 0.05 m of hair.
        let angle = |i: usize| {
            let d = Vec3::from(strand[i + 1]) - Vec3::from(strand[i]);
            d.z.atan2(d.x)
        };
        let turned: f32 = (40..158)
            .map(|i| {
                let d = angle(i + 1) - angle(i);
                let circle = std::f32::consts::TAU;
                d - (d / circle).round() * circle
            })
            .sum();
        let turns = turned.abs() / std::f32::consts::TAU;
        let expected = 118.0 / 160.0 * 4.0;
        assert!((turns - expected).abs() < 0.1, "{turns} of {expected}");
    }
}

#[test]
fn droop_brings_tips_down_and_lean_stays_in_its_cone() {
    let plain = GrowSettings {
        lean: 0.3,
        ..GrowSettings::default()
    };
    let hair = grown(&GrowMaps::default(), &plain);
    let mut widest = 0.0_f32;
    for s in strands(&hair) {
        let d = (Vec3::from(s[1]) - Vec3::from(s[0])).normalize();
        widest = widest.max(d.y.clamp(-1.0, 1.0).acos());
    }
    assert!((0.27..0.301).contains(&widest), "{widest}");
    let hanging = GrowSettings {
        droop: 3.0,
        ..plain
    };
    let hair = grown(&GrowMaps::default(), &hanging);
    let falls = |s: &&[[f32; 3]]| s[15][1] < s[14][1];
    assert!(strands(&hair).iter().all(falls), "all tips point down");
}

/// A guide curve along +x: strands on the plane end along +x, and `gather` brings them to the curve.
#[test]
fn strands_follow_a_guide_curve_and_gather_around_it() {
    let guide = vec![[0.5, 0.0, 0.5], [0.6, 0.0, 0.5], [4.0, 0.0, 0.5]];
    let far = vec![[90.0, 0.0, 0.0], [90.0, 1.0, 0.0]];
    let guides = [guide, far];
    let maps = GrowMaps {
        guides: &guides,
        ..GrowMaps::default()
    };
    let mut settings = GrowSettings {
        amount: GrowAmount::Strands(40),
        vertices: 41,
        length: 2.0,
        length_variation: 0.0,
        lean: 0.0,
        ..GrowSettings::default()
    };
    let hair = grown(&maps, &settings);
    for strand in strands(&hair) {
        let end = Vec3::from(strand[40]) - Vec3::from(strand[36]);
        let along = end.normalize();
        assert!(along.x > 0.999, "parallel to the curve: {along:?}");
        let aside = (strand[40][2] - strand[0][2]).abs();
        assert!(aside < 1e-3, "beside the curve as at the root: {aside}");
    }
    settings.gather = 1.0;
    let hair = grown(&maps, &settings);
    for strand in strands(&hair) {
        let [_, y, z] = strand[40];
        let root = (strand[0][2] - 0.5).abs();
        assert!((z - 0.5).abs() < 0.15 * root + 0.01, "at the curve: {z}");
        assert!(y.abs() < 0.05, "at the curve: {y}");
    }
    settings.gather = 0.0;
    let short = [vec![[0.0; 3]]];
    let maps = GrowMaps {
        guides: &short,
        ..GrowMaps::default()
    };
    let (mesh, normals) = square(4);
    let found = grow(&mesh, &normals, &maps, &settings).err();
    assert_eq!(found, Some(GrowError::Guide { guide: 0 }));
}

#[test]
fn the_seed_decides_and_nothing_else() {
    let with = |seed| {
        let settings = GrowSettings {
            seed,
            ..GrowSettings::default()
        };
        grown(&GrowMaps::default(), &settings).positions
    };
    assert_eq!(with(3), with(3));
    assert_ne!(with(3), with(4));
}

#[test]
fn strands_follow_the_joints_of_their_roots() {
    let (mut mesh, normals) = square(1);
    let rows: [&[(u32, f32)]; 4] = [&[(0, 1.0)], &[(2, 1.0)], &[(0, 1.0)], &[(2, 1.0)]];
    let (influences, ..) = Influences::from_rows(rows.into_iter(), 3, 0).expect("valid");
    mesh.influences = Some(influences);
    let hair = grow(
        &mesh,
        &normals,
        &GrowMaps::default(),
        &GrowSettings::default(),
    );
    let hair = hair.expect("grows");
    let found = hair.influences.as_ref().expect("weights");
    for range in hair.topology.strands().expect("strands").ranges() {
        let x = hair.positions[range.start][0];
        for v in range {
            let of_two: f32 = found.row(v).filter(|r| r.0 == 2).map(|r| r.1).sum();
            assert!((of_two - x).abs() < 1e-5, "{of_two} at {x}");
        }
    }
}

#[test]
fn what_cannot_grow_says_why() {
    let (mesh, normals) = square(2);
    let message = |maps: &GrowMaps<'_>, settings: &GrowSettings| {
        let found = grow(&mesh, &normals, maps, settings);
        found.expect_err("refused").to_string()
    };
    let plain = GrowSettings::default();
    let none = GrowMaps {
        density: Some(&[0.0; 9]),
        ..GrowMaps::default()
    };
    let found = message(&none, &plain);
    assert_eq!(
        found,
        "the mesh has no triangle with an area where the density is above zero"
    );
    let short = GrowMaps {
        comb: Some(&[[0.0; 3]; 4]),
        ..GrowMaps::default()
    };
    let found = message(&short, &plain);
    assert_eq!(found, "`comb` has 4 entries, but the mesh has 9 vertices");
    let mut holes = [1.0; 9];
    holes[5] = f32::NAN;
    let holes = GrowMaps {
        length: Some(&holes),
        ..GrowMaps::default()
    };
    let found = message(&holes, &plain);
    assert_eq!(found, "`length` of vertex 5 is not a finite number");
    let one = GrowSettings {
        vertices: 1,
        ..plain
    };
    let found = message(&GrowMaps::default(), &one);
    assert_eq!(
        found,
        "the number of vertices of a strand is 1, expected 2 to 4096"
    );
    for (settings, word) in [
        (
            GrowSettings {
                length: 0.0,
                ..plain
            },
            "the length",
        ),
        (
            GrowSettings {
                curl_length: -1.0,
                ..plain
            },
            "curl",
        ),
        (
            GrowSettings {
                lean: f32::NAN,
                ..plain
            },
            "the lean",
        ),
        (
            GrowSettings {
                amount: GrowAmount::Strands(0),
                ..plain
            },
            "the number of strands",
        ),
        (
            GrowSettings {
                amount: GrowAmount::Strands(4_000_000),
                vertices: 17,
                ..plain
            },
            "4000000, of 17 vertices each, expected at most 67108864 vertices in all",
        ),
        (
            GrowSettings {
                amount: GrowAmount::PerSquareMetre(1e30),
                ..plain
            },
            "the density",
        ),
    ] {
        let found = message(&GrowMaps::default(), &settings);
        assert!(found.contains(word), "{found}");
    }
    let flat = Mesh::new("none", Topology::default(), Vec::new());
    let found = grow(&flat, &[], &GrowMaps::default(), &plain).expect_err("refused");
    assert_eq!(found.to_string(), "the mesh has no triangle with an area");
}

#[test]
fn growing_is_followed_and_stops_at_once() {
    let (mesh, normals) = square(4);
    let settings = GrowSettings {
        amount: GrowAmount::Strands(8_000),
        vertices: 2,
        ..GrowSettings::default()
    };
    let heard = std::cell::RefCell::new(Vec::new());
    let grown = |asked: usize| {
        heard.borrow_mut().clear();
        let goes_on = |done| {
            heard.borrow_mut().push(done);
            heard.borrow().len() < asked
        };
        let maps = GrowMaps::default();
        grow_watched(&mesh, &normals, &maps, &settings, &goes_on)
    };
    assert!(grown(usize::MAX).is_ok());
    let all = heard.borrow().clone();
    assert!(all.is_sorted() && all.len() >= 28, "{all:?}");
    // In each of its parts: places, how crowded they are, which go, strands.
    for asked in [1, 15, 25, all.len()] {
        assert_eq!(grown(asked).err(), Some(GrowError::Stopped));
        assert_eq!(heard.borrow().len(), asked);
    }
}

/// A helix around the normal: after the first rotation all vertices are as far from the line over the root as the radius says, and the
/// strand is as long as it should be.
#[test]
fn curls_have_their_radius_and_length() {
    for (radius, curl_length) in [(0.004, 0.05), (0.007, 0.055), (0.003, 0.02)] {
        let settings = GrowSettings {
            amount: GrowAmount::Strands(10),
            vertices: 241,
            length: 0.24,
            length_variation: 0.0,
            lean: 0.0,
            curl_radius: radius,
            curl_length,
            ..GrowSettings::default()
        };
        let hair = grown(&GrowMaps::default(), &settings);
        for strand in strands(&hair) {
            let found = length(strand);
            assert!((found / 0.24 - 1.0).abs() < 0.005, "{found}");
            let first = (curl_length / 0.001) as usize + 2;
            for p in &strand[first..] {
                let off = (p[0] - strand[0][0]).hypot(p[2] - strand[0][2]);
                assert!((off / radius - 1.0).abs() < 0.02, "{off} for {radius}");
            }
            // Pythagoras: each rotation advances by the root of l^2 - (2 pi r)^2.
            let circle = std::f32::consts::TAU * radius;
            let advance = (1.0 - (circle / curl_length).powi(2)).sqrt();
            let rise = (strand[240][1] - strand[first][1]) / (240 - first) as f32 * 1000.0;
            assert!((rise / advance - 1.0).abs() < 0.01, "{rise} for {advance}");
        }
    }
    let settings = GrowSettings {
        curl_radius: 0.01,
        curl_length: 0.05,
        ..GrowSettings::default()
    };
    let (mesh, normals) = square(1);
    let found = grow(&mesh, &normals, &GrowMaps::default(), &settings).expect_err("too wide");
    assert_eq!(
        found.to_string(),
        "the radius of curls is 0.01 for a curl length of 0.05, expected less than 0.15 times the length of a curl"
    );
}

/// Strands of a clump keep the lengths of their segments; their roots stay, and their tips come together.
#[test]
fn clumps_bring_tips_together_and_keep_lengths() {
    let loose = GrowSettings {
        amount: GrowAmount::Strands(3000),
        length: 0.3,
        lean: 0.1,
        ..GrowSettings::default()
    };
    let tight = GrowSettings {
        clump: 1.0,
        clump_size: 0.12,
        ..loose
    };
    let hair = grown(&GrowMaps::default(), &loose);
    let clumped = grown(&GrowMaps::default(), &tight);
    let (loose, tight) = (strands(&hair), strands(&clumped));
    for (a, b) in loose.iter().zip(&tight) {
        assert_eq!(a[0], b[0], "roots stay");
        let steps = |s: &[[f32; 3]]| -> Vec<f32> { s.windows(2).map(length).collect() };
        let steps = steps(b);
        for step in &steps {
            assert!((step / steps[0] - 1.0).abs() < 0.02, "even: {steps:?}");
        }
        assert!((0.3 * 0.79..0.301).contains(&length(b)), "{}", length(b));
    }
    // Mean distance of a tip to the nearest other one.
    let apart = |strands: &[&[[f32; 3]]]| {
        let tips: Vec<Vec3<f32>> = strands.iter().map(|s| s[15].into()).collect();
        let nearest = |(i, tip): (usize, &Vec3<f32>)| {
            let before = tips[..i].iter();
            let others = before.chain(&tips[i + 1..]);
            others.map(|p| (p - tip).norm()).fold(f32::MAX, f32::min)
        };
        let all: Vec<f32> = tips.iter().enumerate().map(nearest).collect();
        all.iter().sum::<f32>() / all.len() as f32
    };
    let [wide, close] = [apart(&loose), apart(&tight)];
    assert!(close < 0.35 * wide, "{close} {wide}");
}

/// Over many strands, frizz moves them in no direction, by no more than its distance, and keeps their lengths.
#[test]
fn frizz_has_zero_mean() {
    let straight = GrowSettings {
        amount: GrowAmount::Strands(4000),
        vertices: 33,
        length: 0.1,
        length_variation: 0.0,
        lean: 0.0,
        ..GrowSettings::default()
    };
    let frizz = 0.002;
    let hair = grown(&GrowMaps::default(), &GrowSettings { frizz, ..straight });
    // Of each vertex: sums of both coordinates, and of the squares of the first.
    let mut sums = vec![[0.0_f64; 3]; 33];
    for strand in strands(&hair) {
        assert!(
            (length(strand) / 0.1 - 1.0).abs() < 0.01,
            "{}",
            length(strand)
        );
        for (p, sum) in strand.iter().zip(&mut sums).skip(4) {
            let off = [p[0] - strand[0][0], p[2] - strand[0][2]];
            assert!(
                off.iter().all(|o| o.abs() < 1.01 * frizz * 2_f32.sqrt()),
                "{off:?}"
            );
            let off = off.map(f64::from);
            *sum = [sum[0] + off[0], sum[1] + off[1], sum[2] + off[0] * off[0]];
        }
    }
    let mut all = 0.0;
    for (vertex, [x, z, squares]) in sums.into_iter().enumerate().skip(4) {
        all += squares / (4000.0 * 29.0);
        // Strands are independent: five standard errors of the mean.
        let deviation = (squares / 4000.0).sqrt();
        let error = 5.0 * deviation / 4000_f64.sqrt();
        let mean = (x / 4000.0).abs().max((z / 4000.0).abs());
        assert!(mean < error, "vertex {vertex}: {mean} {error}");
    }
    let deviation = all.sqrt();
    assert!(deviation > 0.15 * f64::from(frizz), "{deviation}");
}

#[test]
fn thickness_and_colors_go_from_root_to_tip() {
    let settings = GrowSettings {
        amount: GrowAmount::Strands(7),
        vertices: 6,
        thickness: Some([0.001, 0.0]),
        colors: Some([[0.0, 0.5, 1.0], [1.0, 0.5, 0.0]]),
        ..GrowSettings::default()
    };
    let hair = grown(&GrowMaps::default(), &settings);
    let thickness = hair.strand_thickness().expect("thickness");
    let colors = hair.colors.first().expect("colours");
    for range in hair.topology.strands().expect("strands").ranges() {
        let at = |i: usize| range.start + i;
        assert_eq!(thickness[at(0)], 0.001);
        // 3-4-5.
        assert!((thickness[at(3)] - 0.0008).abs() < 1e-8);
        assert_eq!(thickness[at(5)], 0.0);
        assert_eq!(colors[at(0)], [0.0, 0.5, 1.0, 1.0]);
        assert_eq!(colors[at(5)], [1.0, 0.5, 0.0, 1.0]);
    }
    let wrong = GrowSettings {
        thickness: Some([-1.0, 0.0]),
        ..settings
    };
    let (mesh, normals) = square(1);
    let found = grow(&mesh, &normals, &GrowMaps::default(), &wrong).expect_err("refused");
    assert_eq!(found.to_string(), "the thickness is -1, expected 0 or more");
}

/// Distance and normal of a sphere, exact.
fn sphere(p: Vec3<f32>, middle: [f32; 3], radius: f32) -> (f32, [f32; 3]) {
    let way = p - Vec3::from(middle);
    let normal = way / way.norm().max(1e-9);
    (way.norm() - radius, [normal.x, normal.y, normal.z])
}

/// Two balls, one on the other: a head on a body, with a crease between them. It is the surface of both; the field is exact.
fn balls(p: [f32; 3]) -> (f32, [f32; 3]) {
    let p = Vec3::from(p);
    let [head, body] = [sphere(p, [0.0; 3], 0.1), sphere(p, [0.0, -0.28, 0.0], 0.2)];
    if head.0 < body.0 { head } else { body }
}

/// The upper half of a ball, with its normals.
fn dome(radius: f32) -> (Mesh, Vec<[f32; 3]>) {
    let (rings, sides) = (24_u32, 48_u32);
    let normal = |i: u32| {
        let (ring, side) = (i / sides, i % sides);
        let up = std::f32::consts::FRAC_PI_2 * ring as f32 / rings as f32;
        let around = std::f32::consts::TAU * side as f32 / sides as f32;
        [up.cos() * around.cos(), up.sin(), up.cos() * around.sin()]
    };
    let normals: Vec<[f32; 3]> = (0..rings * sides).map(normal).collect();
    let positions: Vec<[f32; 3]> = normals.iter().map(|n| n.map(|c| c * radius)).collect();
    let corner = |ring: u32, side: u32| ring * sides + side % sides;
    let quad = |i: u32| {
        let (r, s) = (i / sides, i % sides);
        let [a, b, c, d] = [
            corner(r, s),
            corner(r, s + 1),
            corner(r + 1, s + 1),
            corner(r + 1, s),
        ];
        [[a, c, b], [a, d, c]]
    };
    let triangles: Vec<[u32; 3]> = (0..(rings - 1) * sides).flat_map(quad).collect();
    let topology = Topology::new(rings * sides, triangles).expect("valid");
    (Mesh::new("dome", topology, positions), normals)
}

/// Angles between segments that follow each other.
fn turns(strand: &[[f32; 3]]) -> impl Iterator<Item = f32> + '_ {
    let step = |i: usize| Vec3::from(strand[i + 1]) - Vec3::from(strand[i]);
    (2..strand.len()).map(move |i| step(i - 2).angle(&step(i - 1)))
}

/// The largest of them.
fn sharpest(strand: &[[f32; 3]]) -> f32 {
    turns(strand).fold(0.0, f32::max)
}

/// Hair that is combed straight into a head and onto a body: it slides around both without kinks, with its lengths. Roots are up to 0.2 mm
/// inside, since the mesh has flat faces.
#[test]
fn strands_go_around_a_body_without_kinks() {
    let (mesh, normals) = dome(0.1);
    let comb = vec![[0.0, -1.0, -0.3]; mesh.positions.len()];
    let tail = [vec![
        [0.0, 0.02, -0.13],
        [0.0, -0.05, -0.16],
        [0.0, -0.5, -0.16],
    ]];
    let long = GrowSettings {
        amount: GrowAmount::Strands(400),
        vertices: 32,
        length: 0.34,
        bend: 0.12,
        lean: 0.07,
        droop: 6.0,
        frizz: 0.003,
        frizz_length: 0.06,
        clump: 0.55,
        ..GrowSettings::default()
    };
    let straight = GrowSettings {
        frizz: 0.0,
        clump: 0.0,
        droop: 0.0,
        ..long
    };
    let short = GrowSettings {
        vertices: 8,
        length: 0.045,
        bend: 0.4,
        droop: 0.3,
        ..long
    };
    let curly = GrowSettings {
        length: 0.24,
        bend: 0.25,
        droop: 2.5,
        curl_radius: 0.007,
        curl_length: 0.055,
        ..long
    };
    for (name, settings, guides) in [
        ("long", long, &[][..]),
        ("straight", straight, &[]),
        ("short", short, &[]),
        ("curly", curly, &[]),
        (
            "tail",
            GrowSettings {
                droop: 0.0,
                gather: 0.88,
                bend: 0.25,
                ..long
            },
            &tail,
        ),
    ] {
        let clearance = 0.002;
        let grown = |body| {
            let maps = GrowMaps {
                comb: Some(&comb),
                guides,
                body,
                ..GrowMaps::default()
            };
            grow(&mesh, &normals, &maps, &settings).expect("grows")
        };
        let (free, clear) = (grown(None), grown(Some(GrowBody::new(&balls, clearance))));
        let most = strands(&free).into_iter().map(sharpest).fold(0.0, f32::max);
        let mut found = 0.0_f32;
        for (a, b) in strands(&free).iter().zip(strands(&clear)) {
            found = found.max(sharpest(b));
            let mut gone = 0.0;
            for w in b.windows(2) {
                gone += length(w);
                let missing = clearance.min(0.25 * gone) - balls(w[1]).0;
                assert!(
                    missing < 0.0007,
                    "{name}: {missing} m too near at {:?}",
                    w[1]
                );
            }
            // Chords of smoother strands are longer.
            let ratio = length(b) / length(a);
            assert!((ratio - 1.0).abs() < 0.05, "{name}: {ratio}");
        }
        assert!(
            found < 1.3 * most && found < 1.3,
            "{name}: {most} becomes {found} rad"
        );
    }
}

/// Laying a strand around a body changes directions only.
#[test]
fn a_strand_that_is_laid_keeps_the_lengths_of_its_segments() {
    let at = |i: u8| {
        [
            0.02 + 0.001 * f32::from(i % 3),
            0.1 - 0.01 * f32::from(i),
            0.0,
        ]
    };
    let before: Vec<[f32; 3]> = (0..30).map(at).collect();
    let mut strand = before.clone();
    clear::lay(&mut strand, &GrowBody::new(&balls, 0.002));
    let moved = length(&[before[20], strand[20]]);
    assert!(moved > 0.05, "it goes around the ball: {moved}");
    for (a, b) in before.windows(2).zip(strand.windows(2)) {
        let ratio = length(b) / length(a);
        assert!((ratio - 1.0).abs() < 1e-4, "{ratio}");
    }
}

/// Strands whose way to the tail is shorter than the curve do not wait for it in circles: a strand that goes once around something turns by
/// 360 degrees in all. All hang down at their end, as the curve does, within 60 degrees.
#[test]
fn strands_do_not_circle_what_they_follow() {
    let (mesh, normals) = dome(0.1);
    let out_and_down = [
        [0.0, 0.07, -0.07],
        [0.0, 0.072, -0.09],
        [0.0, 0.055, -0.11],
        [0.0, -0.01, -0.125],
        [0.0, -0.5, -0.135],
    ];
    let there_and_back = [
        [0.0, 0.1, 0.0],
        [0.0, 0.13, 0.0],
        [0.0, 0.11, 0.002],
        [0.0, -0.5, 0.2],
    ];
    for guide in [&out_and_down[..], &there_and_back] {
        let guides = [guide.to_vec()];
        for (vertices, gather) in [(32, 0.9), (32, 0.0), (8, 0.9)] {
            let maps = GrowMaps {
                guides: &guides,
                ..GrowMaps::default()
            };
            let settings = GrowSettings {
                amount: GrowAmount::Strands(1000),
                vertices,
                length: 0.38,
                bend: 0.1,
                gather,
                ..GrowSettings::default()
            };
            let hair = grow(&mesh, &normals, &maps, &settings).expect("grows");
            for strand in strands(&hair) {
                let all: f32 = turns(strand).sum();
                assert!(all < 300_f32.to_radians(), "{all} rad from {:?}", strand[0]);
                let [.., a, b] = *strand else {
                    panic!("more than one vertex")
                };
                assert!(b[1] < a[1] - 0.5 * length(&[a, b]), "hangs: {strand:?}");
                // A chord is shorter than its part of the curve.
                let whole = length(strand);
                assert!(whole < 0.3801 && whole > 0.8 * 0.38 * 0.97, "{whole}");
            }
        }
    }
}

/// At a density of a quarter, half a fade takes 0.5 * 0.75 of length and thickness away.
#[test]
fn strands_fade_with_density() {
    let settings = GrowSettings {
        amount: GrowAmount::Strands(30),
        length_variation: 0.0,
        fade: 0.5,
        thickness: Some([0.001, 0.0]),
        ..GrowSettings::default()
    };
    let density = [0.25; 81];
    let maps = GrowMaps {
        density: Some(&density),
        ..GrowMaps::default()
    };
    let hair = grown(&maps, &settings);
    let thickness = hair.strand_thickness().expect("thickness");
    for (i, strand) in strands(&hair).into_iter().enumerate() {
        assert!((length(strand) / (0.2 * 0.625) - 1.0).abs() < 0.01);
        assert!((thickness[i * settings.vertices] / 0.000_625 - 1.0).abs() < 1e-5);
    }
}
