//! Other systems' lattices: Blender's outputs, and the formulas of the documented static lattice.

use super::*;

fn blender_move(i: usize, j: usize, k: usize) -> [f64; 3] {
    let [i, j, k] = [i, j, k].map(|n| n as f64);
    [
        0.3 * (2.0 * j + k + 1.0).sin(),
        0.3 * ((2.5 * i).cos() + 0.2 * k),
        0.3 * (3.0 * i - j + k).sin(),
    ]
}

/// See `tools/blender_lattice_reference.py`.
#[test]
fn blender_gives_the_same_points() {
    let table = include_str!("../blender_reference.txt");
    let points: Vec<[f64; 3]> = (0..60)
        .map(|n| blender_move(n % 4, n / 4 % 3, n / 12))
        .collect();
    let positions = points_in(30, 1.25, &Affine::identity());
    let mut found = 0;
    for line in table.lines().filter(|l| !l.starts_with('#')) {
        let mut words = line.split(' ');
        let interpolation = match words.next() {
            Some("linear") => Interpolation::Linear,
            Some("cardinal") => Interpolation::Cardinal,
            Some("catmull_rom") => Interpolation::CatmullRom,
            _ => Interpolation::Bspline,
        };
        let expected: Vec<f32> = words
            .map(|w| w.parse::<f32>().expect("a number") * 1e-5)
            .collect();
        let bind = bound(LatticeConfig {
            interpolation,
            resolution: [4, 3, 5],
            border: Border::Clamp,
            outside: Outside::Natural,
            size: [2.0; 3],
            points_are_offsets: true,
            ..LatticeConfig::default()
        });
        let mut case = Case::new(&bind, &points, &positions);
        case.transform = Affine::identity();
        let out = case.run().positions;
        assert_eq!(expected.len(), 90);
        for (v, (o, e)) in out.iter().zip(expected.chunks_exact(3)).enumerate() {
            let d = (0..3).map(|c| (o[c] - e[c]).abs()).fold(0.0, f32::max);
            assert!(d < 8e-6, "{interpolation:?} point {v}: {o:?} and {e:?}");
        }
        found += 1;
    }
    assert_eq!(found, 4);
}

/// The documented static lattice, corner by corner, in the space of its box.
fn documented_static_lattice(
    points: &[[f64; 3]],
    n: [i64; 3],
    size: [f64; 3],
    p: Vec3<f64>,
) -> Vec3<f64> {
    let half = Vec3::from(size) / 2.0;
    let cell_size = Vec3::from_fn(|a, _| size[a] / (n[a] - 1) as f64);
    let local = p + half;
    let cell = local.component_div(&cell_size).map(f64::floor);
    let t = local.component_div(&cell_size) - cell;
    let corner = |d: [i64; 3]| {
        let c = [0, 1, 2].map(|a| cell[a] as i64 + d[a]);
        if (0..3).all(|a| (0..n[a]).contains(&c[a])) {
            Vec3::from(points[(c[0] + n[0] * (c[1] + n[1] * c[2])) as usize]) + half
        } else {
            Vec3::from_fn(|a, _| c[a] as f64 * cell_size[a])
        }
    };
    let ease = |t: f64| t * t * (3.0 - 2.0 * t);
    let mix = |a: f64, b: f64, t: f64| a + (b - a) * t;
    Vec3::from_fn(|axis, _| {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let face = |side: i64| {
            let value = |du: i64, dv: i64| {
                let mut d = [0; 3];
                (d[axis], d[u], d[v]) = (side, du, dv);
                corner(d)[axis]
            };
            let edge = |dv| mix(value(0, dv), value(1, dv), ease(t[u]));
            mix(edge(0), edge(1), ease(t[v]))
        };
        mix(face(0), face(1), t[axis])
    }) - half
}

#[test]
fn cell_eased_follows_the_documented_static_lattice() {
    let (n, size) = ([3, 4, 2], [1.0, 1.5, 2.0]);
    let bind = bound(LatticeConfig {
        outside: Outside::Natural,
        size,
        ..config(Interpolation::CellEased, n)
    });
    let points = shaken(&bind, 0.2);
    let turned = box_transform();
    let positions = points_in(80, 1.6, &turned);
    let out = Case::new(&bind, &points, &positions).run().positions;
    let inverse = turned.inverse().expect("regular");
    let mut untouched = 0;
    for (v, o) in out.iter().enumerate() {
        let local = inverse.point(wide(positions[v]));
        let expected = turned.point(documented_static_lattice(&points, n, size, local));
        assert!(distance(expected, *o) < 4e-6, "vertex {v}");
        untouched += usize::from(distance(wide(positions[v]), *o) == 0.0);
    }
    assert!(
        untouched > 3,
        "more than a cell outside nothing moves: {untouched}"
    );
}
