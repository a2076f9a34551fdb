//! The nearest point of a triangle that is nearly a line, or is one, or a point: in double precision, where the sides are looked at, too.

use super::Vector;

type Wide = sinew_geom::Vec3<f64>;

/// Barycentric weights of the point of a triangle that is nearest to `point`. Whatever rounding does, they are of a point of the triangle, and none on a
/// side is nearer.
pub(super) fn closest_weights(point: &Vector, corners: &[Vector; 3]) -> [f32; 3] {
    let [a, b, c] = corners.map(|corner| wide(&corner));
    let point = wide(point);
    let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|side| along(&point, side));
    let on_sides = [
        [1.0 - ab, ab, 0.0],
        [0.0, 1.0 - bc, bc],
        [ca, 0.0, 1.0 - ca],
    ];
    let square = |w: &[f64; 3]| (a * w[0] + b * w[1] + c * w[2] - point).norm_squared();
    let mut best = (square(&on_sides[0]), on_sides[0]);
    let rest = on_sides.into_iter().skip(1).chain(above(&point, [a, b, c]));
    for weights in rest {
        let square = square(&weights);
        if square < best.0 {
            best = (square, weights);
        }
    }
    best.1.map(|weight| weight as f32)
}

fn wide(point: &Vector) -> Wide {
    point.map(f64::from)
}

/// The share of the second end in the point of a side that is nearest; of a side without length the first end.
fn along(point: &Wide, (from, to): (Wide, Wide)) -> f64 {
    let side = to - from;
    let square = side.norm_squared();
    match square > 0.0 {
        true => ((point - from).dot(&side) / square).clamp(0.0, 1.0),
        false => 0.0,
    }
}

/// Weights of the foot of the perpendicular, where that is in the triangle.
fn above(point: &Wide, [a, b, c]: [Wide; 3]) -> Option<[f64; 3]> {
    let normal = (b - a).cross(&(c - a));
    let square = normal.norm_squared();
    let share = |from: Wide, to: Wide| (to - from).cross(&(point - from)).dot(&normal) / square;
    let weights = [share(b, c), share(c, a), share(a, b)];
    let is_inside = square > 0.0 && weights.iter().all(|w| *w >= 0.0);
    is_inside.then_some(weights)
}

#[cfg(test)]
mod tests {
    use super::super::collapse::closest_weights;
    use super::*;

    /// How far a point is from the nearest of many of a triangle, evenly spread.
    fn by_force(point: &Vector, corners: &[Vector; 3]) -> f64 {
        const STEPS: u32 = 400;
        let [a, b, c] = corners.map(|corner| wide(&corner));
        let (point, step) = (wide(point), 1.0 / f64::from(STEPS));
        let mut least = f64::INFINITY;
        for i in 0..=STEPS {
            for j in 0..=STEPS - i {
                let (u, v) = (f64::from(i) * step, f64::from(j) * step);
                let place = a + (b - a) * u + (c - a) * v;
                least = least.min((place - point).norm());
            }
        }
        least
    }

    #[test]
    fn what_is_a_point_a_line_or_nearly_one_is_as_near_as_by_force() {
        let at = |x: f32, y: f32, z: f32| Vector::new(x, y, z);
        let (a, b) = (at(0.1, -0.3, 0.2), at(0.7, 0.4, -0.1));
        let line = |t: f32| a + (b - a) * t;
        let shapes = [
            [a, a, b],
            [a, b, a],
            [b, a, a],
            [a; 3],
            [a, b, line(0.3)],
            [a, line(2.0), b],
            [line(-1.0), b, a],
            [a, b, line(0.5) + at(0.0, 0.0, 1e-6)],
            [a, a + at(1e-7, 0.0, 1e-7), b],
            // Small, but a triangle.
            [a, a + at(1e-4, 0.0, 0.0), a + at(0.0, 1e-4, 0.0)],
            [a, b, at(0.0, 0.9, 0.3)],
        ];
        let points = [
            a,
            b,
            line(0.4),
            line(1.7),
            line(0.6) + at(0.2, -0.1, 0.4),
            at(-1.0, 0.2, 0.1),
            at(0.4, 0.3, 0.1),
        ];
        for corners in &shapes {
            let longest = (corners[1] - corners[0]).norm() + (corners[2] - corners[0]).norm();
            for point in &points {
                let [u, v, w] = closest_weights(point, corners);
                assert!((u + v + w - 1.0).abs() < 1e-6, "{corners:?} {point:?}");
                assert!(u.min(v).min(w) >= 0.0, "{corners:?} {point:?}");
                let place = corners[0] * u + corners[1] * v + corners[2] * w;
                let found = f64::from((place - point).norm());
                // The grid's own points are half a step off at most.
                let (truth, step) = (by_force(point, corners), f64::from(longest) / 400.0);
                assert!(
                    found <= truth + 1e-6 && found >= truth - step,
                    "{corners:?} {point:?}: {found}, {truth}"
                );
            }
        }
    }
}
