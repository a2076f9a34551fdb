use super::*;
use sinew_geom::Quat;
use sinew_testkit::shared_data;

const SAMPLES: &str = r#"{"about": "skipped", "solvers": [
  {"name": "elbow", "joint": "tip", "rest_rotation_xyzw": [0, 0, 0, 1], "radius": 1.2, "samples": [
    {"name": "bend90", "rotation_xyzw": [0, 0, 0.70710678, 0.70710678], "time_in_clip": 0.5},
    {"name": "bend45", "rotation_xyzw": [0, 0, 0.38268343, 0.92387953]},
  ]},
]}"#;

#[test]
fn samples_are_read() {
    let document = parse_samples(SAMPLES, path()).expect("valid");
    let [elbow] = document.solvers.as_slice() else {
        panic!("one solver");
    };
    assert_eq!(
        (elbow.name.as_str(), elbow.joint.as_str()),
        ("elbow", "tip")
    );
    assert_eq!(
        (elbow.rest_rotation, elbow.radius),
        (Quat::identity(), Some(1.2))
    );
    assert_eq!(elbow.samples[0].time_in_clip_secs, Some(0.5));
    assert_eq!(elbow.samples[1].time_in_clip_secs, None);
    let angles = elbow
        .samples
        .iter()
        .map(|s| s.rotation.angle().to_degrees());
    for (angle, wanted) in angles.zip([90.0, 45.0]) {
        assert!((angle - wanted).abs() < 1e-5, "{angle}");
    }
}

#[test]
fn refusals_name_the_place() {
    for (from, to, said) in [
        (
            "1.2",
            "-1.2",
            "line 2, column 83, solvers[0].radius: found -1.2, expected a radius above 0",
        ),
        (
            "1.2",
            "0",
            "line 2, column 83, solvers[0].radius: found 0, expected a radius above 0",
        ),
        (
            ", \"rotation_xyzw\": [0, 0, 0.38268343, 0.92387953]",
            "",
            "line 4, column 5, solvers[0].samples[1]: found no 'rotation_xyzw' in the sample 'bend45', expected a value for 'rotation_xyzw'",
        ),
        (
            "[0, 0, 0.38268343, 0.92387953]",
            "[0, 0, -0.7071067, -0.7071069]",
            "line 4, column 5, solvers[0].samples[1]: found samples 'bend90' and 'bend45' with the same rotation, expected rotations more than 0.000001 radians apart",
        ),
        (
            "[0, 0, 0, 1]",
            "[0, 0, 0, 1.01]",
            "line 2, column 59, solvers[0].rest_rotation_xyzw: found a quaternion of length 1.01, expected length 1 within 0.001",
        ),
        (
            "\"bend45\"",
            "\"bend90\"",
            "line 4, column 14, solvers[0].samples[1].name: found the name 'bend90', which entry 0 also has, expected unique names",
        ),
        (
            "[0, 0, 0, 1]",
            "[0, 0, 1]",
            "line 2, column 59, solvers[0].rest_rotation_xyzw: found a list of 3, expected a list of 4 numbers",
        ),
        (
            "\"joint\": \"tip\"",
            "\"bone\": \"tip\"",
            "line 2, column 3, solvers[0]: found no 'joint', expected a value for 'joint'",
        ),
    ] {
        assert_eq!(SAMPLES.matches(from).count(), 1, "{from}");
        let error = refused(parse_samples(&SAMPLES.replace(from, to), path()));
        assert_eq!(error, format!("a.json: {said}"));
    }
    let slightly_off = SAMPLES.replace("[0, 0, 0, 1]", "[0, 0, 0, 1.0005]");
    let document = parse_samples(&slightly_off, path()).expect("normalised");
    assert_eq!(document.solvers[0].rest_rotation, Quat::identity());
}

fn many(rotations: &[Quat<f64>]) -> String {
    let list: Vec<String> = rotations
        .iter()
        .enumerate()
        .map(|(i, q)| {
            format!(
                "{{\"name\": \"{i}\", \"rotation_xyzw\": [{}, {}, {}, {}]}}",
                q.i, q.j, q.k, q.w
            )
        })
        .collect();
    format!(
        "{{\"solvers\": [{{\"name\": \"a\", \"joint\": \"b\", \"rest_rotation_xyzw\": [0, 0, 0, 1], \"samples\": [{}]}}]}}",
        list.join(",")
    )
}

proptest::proptest! {
    #[test]
    fn two_rotations_are_one_up_to_a_millionth_of_a_radian(
        a in proptest::array::uniform3(-3.0..3.0), axis in proptest::array::uniform3(-1.0..1.0), negative: bool,
        is_same: bool, edge: bool,
    ) {
        // Components that are equally large are where a cell could be missed.
        let edge_case = Quat::new_normalize(sinew_geom::nalgebra::Quaternion::new(0.5, -0.5, 0.5, 0.5));
        let first = if edge { edge_case } else { Quat::from_euler_angles(a[0], a[1], a[2]) };
        let angle = if is_same { 0.9e-6 } else { 1.1e-6 };
        let axis = sinew_geom::nalgebra::Unit::new_normalize(sinew_geom::Vec3::from(axis));
        let mut second = Quat::from_axis_angle(&axis, angle) * first;
        if negative {
            second = Quat::new_unchecked(-second.into_inner());
        }
        let other = Quat::from_euler_angles(0.1, 0.2, 3.0);
        let found = parse_samples(&many(&[other, first, second]), path());
        proptest::prop_assert_eq!(found.is_err(), is_same);
    }
}

#[test]
fn many_samples_take_no_time() {
    let turn = |i: i32| Quat::from_euler_angles(f64::from(i) * 1e-5, 0.3, 0.0);
    let rotations: Vec<_> = (0..20_000).map(turn).collect();
    let document = parse_samples(&many(&rotations), path()).expect("all differ");
    assert_eq!(document.solvers[0].samples.len(), 20_000);
}

#[test]
fn real_files() {
    let Some(data) = shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    let document = read_samples(&data.join("psd/mh_male_psd_samples.json")).expect("valid");
    let samples: usize = document.solvers.iter().map(|s| s.samples.len()).sum();
    assert_eq!((document.solvers.len(), samples), (4, 8));
    assert!(
        read_samples(&data.join("malformed/_valid_base_psd.json")).is_ok(),
        "valid"
    );
    for (name, said) in [
        (
            "missing_rotation",
            "solvers[0].samples[1]: found no 'rotation_xyzw' in the sample 'bend45'",
        ),
        (
            "negative_radius",
            "solvers[0].radius: found -1.2, expected a radius above 0",
        ),
        (
            "duplicate_samples",
            "solvers[0].samples[1]: found samples 'bend90' and 'bend45' with the same rotation",
        ),
    ] {
        let file = data.join(format!("malformed/psd_{name}.json"));
        let error = read_samples(&file).expect_err("refused");
        assert!(matches!(error, IoError::PoseDriver(_)), "{error:?}");
        let error = error.to_string();
        assert!(error.contains(said) && error.contains("line "), "{error}");
    }
}
