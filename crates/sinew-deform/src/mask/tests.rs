use super::*;
use sinew_geom::{Attribute, Joint, LocalTransform, Node, Quat, Rig, Vec3};
use sinew_testkit::meshes;

fn run(
    source: &MaskSource,
    settings: MaskSettings,
    positions: &[[f32; 3]],
    with: Option<&[f32]>,
) -> Vec<f32> {
    let mut out = vec![9.0; positions.len()];
    MaskJob {
        source,
        settings,
        positions,
        with,
        output: &mut out,
        par: Par::Seq,
    }
    .run();
    out
}

fn close(a: &[f32], b: &[f32]) {
    assert!(
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6),
        "{a:?} {b:?}"
    );
}

#[test]
fn row_51_constant_and_painted_attribute() {
    let mut mesh = meshes::grid(1, 1);
    let painted = vec![[0.0, 0.25], [0.0, 0.5], [0.0, f32::NAN], [0.0, 2.0]];
    mesh.attributes
        .insert("paint".into(), Attribute::Vec2(painted));
    let values = from_attribute(&mesh, "paint", 1).expect("there");
    let source = MaskSource::Values(values);
    close(
        &run(&source, MaskSettings::default(), &mesh.positions, None),
        &[0.25, 0.5, 0.0, 1.0],
    );
    let half = MaskSettings {
        value: 0.5,
        ..MaskSettings::default()
    };
    close(
        &run(&MaskSource::Constant, half, &mesh.positions, None),
        &[0.5; 4],
    );
    let error = from_attribute(&mesh, "pant", 0)
        .expect_err("unknown")
        .to_string();
    assert_eq!(
        error,
        "mesh 'grid' has no attribute 'pant'; its attributes: paint"
    );
    assert!(
        from_attribute(&mesh, "paint", 2).is_err(),
        "component 2 of 2"
    );
}

#[test]
fn colour_channels() {
    let mut mesh = meshes::grid(1, 1);
    mesh.colors = vec![vec![[0.1, 0.2, 0.3, 0.4]; 4]];
    assert_eq!(from_color(&mesh, 0, 2).expect("blue"), [0.3; 4]);
    let error = from_color(&mesh, 1, 0).expect_err("one set").to_string();
    assert_eq!(
        error,
        "colour set 1 does not exist; the mesh has 1 colour sets, counted from 0"
    );
}

#[test]
fn joint_weights_add_up() {
    let mesh = meshes::tube(10, 3, 1.0, 0.1);
    let node = |name: &str| Node {
        name: name.into(),
        parent: None,
        local: LocalTransform::Matrix(Affine::identity()),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let joint = |node| Joint {
        node,
        joint_from_bind: Affine::identity(),
    };
    let rig = Rig::new(vec![node("lower"), node("upper")], vec![joint(0), joint(1)]).expect("rig");
    let upper = from_joints(&mesh, &rig, &["upper".into()]).expect("there");
    for (w, p) in upper.iter().zip(&mesh.positions) {
        let expected = ((p[0] - 0.4) / 0.2).clamp(0.0, 1.0);
        assert!((w - expected).abs() < 1e-5, "{w} at {p:?}");
    }
    let both = from_joints(&mesh, &rig, &["upper".into(), "lower".into()]).expect("there");
    assert!(
        both.iter().all(|w| (w - 1.0).abs() < 1e-6),
        "weights sum to one"
    );
    let error = from_joints(&mesh, &rig, &["hand".into()])
        .expect_err("unknown")
        .to_string();
    assert_eq!(
        error,
        "the skeleton has no joint 'hand'; expected the name of one of the 2 joints, such as 'lower', 'upper'"
    );
}

#[test]
fn volumes_fall_off_by_scene_distance() {
    // Box of half size 2 x 1 x 1 turned a quarter about z, moved to x = 10: it reaches y = 2 and x = 11.
    let transform = Affine::from_trs(
        Vec3::new(10.0, 0.0, 0.0),
        Quat::from_euler_angles(0.0, 0.0, std::f32::consts::FRAC_PI_2),
        Vec3::new(2.0, 1.0, 1.0),
    );
    let settings = MaskSettings {
        transform,
        falloff: 2.0,
        curve: Curve::Linear,
        ..MaskSettings::default()
    };
    let points = [
        [10.0, 1.9, 0.0],
        [10.0, 2.5, 0.0],
        [12.0, 0.0, 0.0],
        [10.0, 5.0, 0.0],
    ];
    close(
        &run(&MaskSource::Shape(Shape::Box), settings, &points, None),
        &[1.0, 0.75, 0.5, 0.0],
    );
    let sphere = MaskSettings {
        transform: Affine::from_trs(Vec3::zeros(), Quat::identity(), Vec3::repeat(3.0)),
        ..settings
    };
    let points = [[2.0, 2.0, 0.0], [4.0, 0.0, 0.0], [0.0, 6.0, 0.0]];
    close(
        &run(&MaskSource::Shape(Shape::Sphere), sphere, &points, None),
        &[1.0, 0.5, 0.0],
    );
    let points = [[5.0, -9.0, 0.0], [0.0, 1.5, 0.0], [0.0, 3.0, 7.0]];
    close(
        &run(&MaskSource::Shape(Shape::Plane), sphere, &points, None),
        &[1.0, 0.25, 0.0],
    );
}

#[test]
fn curves_go_from_one_to_zero() {
    for (curve, half) in [
        (Curve::Linear, 0.5),
        (Curve::Smooth, 0.5),
        (Curve::Smoother, 0.5),
        (Curve::Square, 0.25),
        (Curve::Root, 0.5_f64.sqrt()),
    ] {
        assert_eq!(falloff_weight(0.0, 1.0, curve), 1.0);
        assert_eq!(falloff_weight(1.0, 1.0, curve), 0.0);
        assert!(
            (falloff_weight(0.5, 1.0, curve) - half).abs() < 1e-12,
            "{curve:?}"
        );
    }
    assert_eq!(
        falloff_weight(0.1, 0.0, Curve::Smooth),
        0.0,
        "no falloff is a step"
    );
}

#[test]
fn row_50_masks_combine_invert_and_remap() {
    let values = MaskSource::Values(vec![0.25, 0.75]);
    let other = [0.5, 0.6];
    let points = [[0.0; 3]; 2];
    for (combine, expected) in [
        (Combine::Multiply, [0.125, 0.45]),
        (Combine::Minimum, [0.25, 0.6]),
        (Combine::Maximum, [0.5, 0.75]),
        (Combine::Add, [0.75, 1.0]),
        (Combine::Subtract, [0.0, 0.15]),
        (Combine::Screen, [0.625, 0.9]),
        (Combine::Difference, [0.25, 0.15]),
    ] {
        let settings = MaskSettings {
            combine,
            ..MaskSettings::default()
        };
        close(&run(&values, settings, &points, Some(&other)), &expected);
    }
    let settings = MaskSettings {
        low: 0.5,
        high: 1.0,
        invert: true,
        ..MaskSettings::default()
    };
    close(&run(&values, settings, &points, None), &[1.0, 0.5]);
    assert_eq!(
        (remap(0.4, 0.5, 0.5), remap(0.5, 0.5, 0.5)),
        (0.0, 1.0),
        "a step"
    );
}

#[test]
fn flattened_volumes_weigh_nothing() {
    let settings = MaskSettings {
        transform: Affine::from_trs(Vec3::zeros(), Quat::identity(), Vec3::new(1.0, 0.0, 1.0)),
        ..MaskSettings::default()
    };
    close(
        &run(&MaskSource::Shape(Shape::Box), settings, &[[0.0; 3]], None),
        &[0.0],
    );
}

#[test]
fn kernel_is_the_reference() {
    let mesh = meshes::tube(8, 5, 1.0, 0.2);
    assert!(!mesh.vertex_count().is_multiple_of(8), "leaves a rest");
    let transform = Affine::from_trs(
        Vec3::new(0.4, 0.1, 0.0),
        Quat::from_euler_angles(0.3, -0.2, 1.1),
        Vec3::new(0.1, -0.2, 0.15),
    );
    let wide = transform.cast::<f64>();
    let inverse = wide.inverse().expect("regular");
    for shape in [Shape::Box, Shape::Sphere, Shape::Plane] {
        for curve in [Curve::Linear, Curve::Smooth, Curve::Smoother, Curve::Square] {
            let settings = MaskSettings {
                transform,
                falloff: 0.5,
                curve,
                ..MaskSettings::default()
            };
            let got = run(&MaskSource::Shape(shape), settings, &mesh.positions, None);
            for (got, p) in got.iter().zip(&mesh.positions) {
                let d = shape.distance(&wide, &inverse, Vec3::from(p.map(f64::from)));
                let expected = falloff_weight(d, 0.5, curve);
                assert!(
                    (f64::from(*got) - expected).abs() < 3e-6,
                    "{shape:?} {curve:?} at {p:?}: {got} {expected}"
                );
            }
        }
    }
}
