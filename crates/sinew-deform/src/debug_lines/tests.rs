use super::*;
use sinew_geom::{Quat, Vec3};

fn lines(shape: Shape<'_>, before: &[Line]) -> Vec<Line> {
    let mut output = vec![Line::default(); before.len() + shape.line_count()];
    DebugLinesJob {
        transform: Affine::from_trs(
            Vec3::new(1.0, 2.0, 3.0),
            Quat::from_euler_angles(0.0, 0.0, std::f64::consts::FRAC_PI_2),
            Vec3::new(1.0, 2.0, 1.0),
        ),
        shape,
        size: 0.5,
        color: [1.0, 1.0, 0.0, 1.0],
        before,
        output: &mut output,
    }
    .run();
    output
}

fn close(a: [f32; 3], b: [f32; 3]) -> bool {
    (0..3).all(|c| (a[c] - b[c]).abs() < 1e-6)
}

#[test]
fn axes_follow_the_transform_and_linked_lines_come_first() {
    let given = [Line {
        from: [9.0; 3],
        ..Line::default()
    }];
    let all = lines(Shape::Axes, &given);
    assert_eq!((all.len(), all[0]), (4, given[0]));
    // A quarter turn about z: x goes to y, y (twice as long) to -x.
    for (line, to) in all[1..]
        .iter()
        .zip([[1.0, 2.5, 3.0], [0.0, 2.0, 3.0], [1.0, 2.0, 3.5]])
    {
        assert!(
            close(line.from, [1.0, 2.0, 3.0]) && close(line.to, to),
            "{line:?}"
        );
    }
    assert_eq!(all[1].color, [1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn every_shape_fills_exactly_its_count() {
    let points = [[0.0; 3], [1.0, 2.0, 3.0]];
    for shape in [
        Shape::Axes,
        Shape::Box,
        Shape::Points(&points),
        Shape::Plane {
            normal: 1,
            divisions: 4,
        },
    ] {
        let mut count = 0;
        draw(&Affine::identity(), shape, 1.0, [1.0; 4], |line| {
            count += 1;
            assert!(line.from != line.to, "{line:?}");
        });
        assert_eq!(count, shape.line_count(), "{shape:?}");
    }
}

#[test]
fn plane_is_flat_and_reaches_its_corners() {
    let mut top = 0.0_f32;
    let plane = Shape::Plane {
        normal: 1,
        divisions: 2,
    };
    draw(&Affine::identity(), plane, 2.0, [1.0; 4], |line| {
        assert_eq!((line.from[1], line.to[1]), (0.0, 0.0));
        top = top.max(line.to[0].max(line.to[2]));
    });
    assert_eq!(top, 2.0);
}
