use super::keys::{Key, Keys, KeysError, Outside, Shape};

fn key(at: f64, value: f64) -> Key {
    Key {
        at,
        value,
        slopes: [0.0; 2],
    }
}

fn keys(shape: Shape, outside: Outside) -> Keys {
    Keys::new(
        vec![key(-1.0, 2.0), key(1.0, 6.0), key(2.0, 0.0)],
        shape,
        outside,
    )
    .expect("keys")
}

/// The keys of a cubic with its own slopes give that cubic.
#[test]
fn a_cubic_spline_is_the_cubic_that_its_keys_are_of() {
    let cubic = |x: f64| 2.0 * x * x * x - 3.0 * x * x + 0.5 * x - 4.0;
    let slope = |x: f64| 6.0 * x * x - 6.0 * x + 0.5;
    let of = |at: f64| Key {
        at,
        value: cubic(at),
        slopes: [slope(at); 2],
    };
    let curve = Keys::new(
        [-1.5, -0.25, 0.5, 3.0].map(of).to_vec(),
        Shape::CubicSpline,
        Outside::Line,
    )
    .expect("keys");
    for i in -30..=60 {
        let x = 0.05 * f64::from(i);
        assert!((curve.at(x) - cubic(x)).abs() < 1e-12 * 100.0, "{x}");
    }
    assert!((curve.at(-2.5) - (cubic(-1.5) - slope(-1.5))).abs() < 1e-12);
    assert!((curve.at(5.0) - (cubic(3.0) + 2.0 * slope(3.0))).abs() < 1e-12);
}

#[test]
fn shapes_between_keys() {
    for (shape, quarter) in [
        (Shape::Step, 2.0),
        (Shape::Linear, 3.0),
        // 3/16 - 2/64 = 5/32 of the way.
        (Shape::Smooth, 2.0 + 4.0 * 5.0 / 32.0),
        (Shape::CubicSpline, 2.0 + 4.0 * 5.0 / 32.0),
    ] {
        let curve = keys(shape, Outside::Hold);
        assert!((curve.at(-0.5) - quarter).abs() < 1e-12, "{shape:?}");
        for (x, y) in [(-1.0, 2.0), (1.0, 6.0), (2.0, 0.0), (-9.0, 2.0), (9.0, 0.0)] {
            assert_eq!(curve.at(x), y, "{shape:?} at {x}");
        }
    }
}

#[test]
fn outside_of_the_keys() {
    let at = |outside, x| keys(Shape::Linear, outside).at(x);
    assert_eq!(at(Outside::Line, -2.0), 0.0);
    assert_eq!(at(Outside::Line, 3.0), -6.0);
    for turns in [-2.0, -1.0, 1.0, 5.0] {
        assert_eq!(at(Outside::Repeat, 0.5 + 3.0 * turns), 5.0, "{turns}");
        assert_eq!(at(Outside::Mirror, 0.5 + 6.0 * turns), 5.0, "{turns}");
        assert_eq!(at(Outside::Mirror, 3.5 + 6.0 * turns), 5.0, "{turns}");
    }
    assert_eq!(keys(Shape::Smooth, Outside::Line).at(7.0), 0.0);
}

#[test]
fn keys_that_are_no_curve_are_named() {
    let wrong = Keys::new(
        vec![key(0.0, 1.0), key(0.0, 2.0)],
        Shape::Step,
        Outside::Hold,
    );
    let expected = KeysError::Order {
        index: 1,
        found: 0.0,
        before: 0.0,
    };
    assert_eq!(wrong.err(), Some(expected));
    let one = Keys::new(vec![key(0.0, 1.0)], Shape::Step, Outside::Mirror);
    assert_eq!(one.err(), Some(KeysError::TooFew { found: 1 }));
    let none = Keys::new(Vec::new(), Shape::Step, Outside::Repeat).expect("no keys");
    assert_eq!(none.at(0.625), 0.625);
}
