use super::*;
use crate::local_frame::Axis;
use crate::local_frame::test_support::{
    Kernel, Random, check_continuous, check_identity, check_jacobian, check_kernels, eval,
    jacobian, moved, run,
};
use crate::{
    BindContext, BindInput, Inputs, OutputValue, Outputs, Par, ParameterValue, UpdateContext,
};
use sinew_geom::{Affine, Quat, Vec3};

fn documented(stretch: f64) -> SquashStretch {
    SquashStretch {
        mode: Mode::Documented,
        stretch,
        ..SquashStretch::default()
    }
}

/// First published sample: factor 1, length 2, limits 0.1.
fn sample() -> SquashStretch {
    SquashStretch {
        length: 2.0,
        limit_bottom: 0.1,
        limit_top: 0.1,
        ..documented(2.0)
    }
}

fn assert_close(got: [f64; 3], expected: [f64; 3], tolerance: f64) {
    for c in 0..3 {
        assert!(
            (got[c] - expected[c]).abs() < tolerance,
            "{got:?}, expected {expected:?}"
        );
    }
}

#[test]
fn published_samples() {
    for (p, expected) in [
        ([1.0, 1.0, 0.5], [0.7444, 0.7444, 0.8]),
        ([1.0, 1.0, 1.0], [0.5399, 0.5399, 1.8]),
        ([1.0, 1.0, 2.1], [1.0, 1.0, 3.7]),
    ] {
        assert_close(moved(&sample(), p), expected, 6e-5);
    }
    let second = SquashStretch {
        length: 2.0,
        axis_bias: 0.2,
        cross_bias: 0.25,
        ..documented(0.5)
    };
    assert_close(
        moved(&second, [1.0, 1.0, 0.5]),
        [2.0251, 1.3232, 0.2501],
        6e-5,
    );
}

#[test]
fn published_samples_of_the_axis_bias() {
    for (m, expected) in [
        (0.2, [0.0, 0.5363, 0.777, 0.9167, 1.0]),
        (0.8, [0.0, 0.0833, 0.223, 0.4637, 1.0]),
    ] {
        let curve = documented::Bezier::<f64>::new(m);
        for (i, e) in expected.iter().enumerate() {
            let (b, _) = curve.at(i as f64 / 4.0);
            assert!((b - e).abs() < 6e-5, "m {m}, u {}: {b}", i as f64 / 4.0);
        }
    }
}

#[test]
fn defect_11_axis_bias_is_stable_near_one_half() {
    for m in [0.5, 0.500_000_1, 0.499_999_9, 0.500_001, 0.51] {
        for i in 0..=10 {
            let u = f64::from(i) / 10.0;
            let (single, _) = documented::Bezier::<f32>::new(m).at(u as f32);
            // The curve by bisection of its first coordinate, in double precision.
            let (mut a, mut b) = (0.0_f64, 1.0_f64);
            for _ in 0..60 {
                let t = 0.5 * (a + b);
                if 2.0 * t * (1.0 - t) * m + t * t < u {
                    a = t
                } else {
                    b = t
                }
            }
            let expected = 2.0 * a * (1.0 - a) * (1.0 - m) + a * a;
            assert!(
                (f64::from(single) - expected).abs() < 1e-6,
                "m {m}, u {u}: {single}, {expected}"
            );
        }
    }
}

#[test]
fn defect_12_stretch_one_is_rest_and_half_at_rest_is_a_choice() {
    for (convention, stretch) in [("one_at_rest", 1.0), ("half_at_rest", 0.5)] {
        let (positions, _) = run_node(&[
            ("mode", ParameterValue::Text("documented".into())),
            (
                "stretch_convention",
                ParameterValue::Text(convention.into()),
            ),
            ("stretch", ParameterValue::Float(stretch)),
        ]);
        assert_eq!(positions, CORNERS);
    }
}

/// Volume of the region after over before, by the midpoint rule over the section scales.
fn region_volume(s: &SquashStretch) -> f64 {
    let (region, n) = (s.region(), 4000);
    (0..n)
        .map(|i| {
            let z = region.low + (f64::from(i) + 0.5) / f64::from(n) * (region.high - region.low);
            jacobian(s, [0.0, 0.0, z]).determinant() / f64::from(n)
        })
        .sum()
}

#[test]
fn documented_volume_is_kept_only_roughly_as_published() {
    for (factor, expected) in [
        (0.05, 1.109),
        (0.25, 1.02),
        (0.5, 1.0),
        (1.0, 1.040),
        (2.0, 1.234),
        (4.0, 1.78),
        (8.0, 3.10),
    ] {
        let s = SquashStretch {
            prevent_fold: false,
            ..documented(2.0 * factor)
        };
        let v = region_volume(&s);
        assert!(
            (v - expected).abs() < 6e-3,
            "factor {factor}: {v}, {expected}"
        );
    }
}

#[test]
fn defect_30_documented_mode_does_not_turn_inside_out() {
    let middle = [1.0, 1.0, 0.5];
    for (factor, bias, folds) in [
        (3.75, 0.5, false),
        (3.82, 0.5, true),
        (1.36, 0.0, false),
        (1.40, 0.0, true),
        (50.0, 0.3, true),
    ] {
        let free = SquashStretch {
            cross_bias: bias,
            prevent_fold: false,
            ..documented(2.0 * factor)
        };
        let least = |s: &SquashStretch| {
            let g = eval::<f64, _>(s, middle).gradient;
            1.0 + g[0][0].min(g[1][1])
        };
        assert_eq!(
            least(&free) < 0.0,
            folds,
            "factor {factor}, bias {bias}: {}",
            least(&free)
        );
        let safe = SquashStretch {
            prevent_fold: true,
            ..free
        };
        assert!(
            least(&safe) > 0.0199,
            "factor {factor}, bias {bias}: {}",
            least(&safe)
        );
    }
}

fn random_volume(random: &mut Random) -> SquashStretch {
    let (low, high) = (0.05_f64.ln(), 20.0_f64.ln());
    SquashStretch {
        stretch: random.within(low, high).exp(),
        length: random.within(0.5, 3.0),
        limit_bottom: random.within(0.0, 0.4),
        limit_top: random.within(0.0, 0.4),
        axis_bias: random.next(),
        cross_bias: random.next(),
        ..SquashStretch::default()
    }
}

#[test]
fn volume_mode_has_determinant_one_everywhere_and_never_folds() {
    let mut random = Random(3);
    for _ in 0..20_000 {
        let s = random_volume(&mut random);
        let j = jacobian(&s, random.point());
        assert!(
            (j.determinant() - 1.0).abs() < 1e-9,
            "{s:?}: {}",
            j.determinant()
        );
        assert!(
            j[(0, 0)] > 0.0 && j[(1, 1)] > 0.0 && j[(2, 2)] > 0.0,
            "{s:?}: {j}"
        );
    }
}

#[test]
fn volume_mode_reaches_the_stretched_length_and_is_smooth_at_the_limits() {
    let mut random = Random(5);
    for _ in 0..500 {
        let s = random_volume(&mut random);
        let region = s.region();
        let top = moved(&s, [0.0, 0.0, region.high + 0.5])[2];
        let expected = region.low + s.stretch * (region.high - region.low) + 0.5;
        assert!((top - expected).abs() < 1e-9, "{s:?}: {top} {expected}");
        for z in [region.low + 1e-11, region.high - 1e-11] {
            let slope = jacobian(&s, [0.0, 0.0, z])[(2, 2)];
            assert!((slope - 1.0).abs() < 1e-5, "{s:?}: {slope}");
        }
        check_continuous(&s, &[region.low, region.high]);
    }
}

#[test]
fn volume_mode_keeps_a_sphere_mesh_volume() {
    let mut mesh = sinew_testkit::meshes::sphere(96, 160);
    for p in &mut mesh.positions {
        p[1] += 1.0;
    }
    let volume = |positions: &[[f32; 3]]| -> f64 {
        let corner = |v: u32| Vec3::from(positions[v as usize].map(f64::from));
        let six = |t: &[u32; 3]| corner(t[0]).dot(&corner(t[1]).cross(&corner(t[2])));
        mesh.topology.triangles().iter().map(six).sum::<f64>() / 6.0
    };
    let before = volume(&mesh.positions);
    for stretch in [0.5, 0.8, 1.5, 2.0, 3.0] {
        for bias in [0.5, 0.3] {
            let s = SquashStretch {
                stretch,
                length: 2.0,
                axis_bias: bias,
                cross_bias: 0.7,
                ..SquashStretch::default()
            };
            let out = run(
                s,
                Placement::default(),
                MaskWeight::ONE,
                &mesh,
                Kernel::Fast(Par::Seq),
            );
            let ratio = volume(&out.positions) / before;
            assert!(
                (ratio - 1.0).abs() < 4e-3,
                "stretch {stretch}, bias {bias}: {ratio}"
            );
        }
    }
}

#[test]
fn jacobians_equal_central_differences() {
    for m in [0.5, 0.2, 0.8, 0.500_000_1] {
        for bias in [0.5, 0.1, 0.9] {
            let s = SquashStretch {
                axis_bias: m,
                cross_bias: bias,
                ..sample()
            };
            check_jacobian(&s, &[0.2, 1.8], false);
            for stretch in [0.3, 2.0] {
                let s = SquashStretch {
                    mode: Mode::VolumePreserving,
                    stretch,
                    ..s
                };
                check_jacobian(&s, &[0.2, 1.8], false);
            }
        }
    }
}

#[test]
fn rigid_outside_the_limits() {
    for mode in [Mode::Documented, Mode::VolumePreserving] {
        let s = SquashStretch {
            mode,
            axis_bias: 0.3,
            cross_bias: 0.2,
            ..sample()
        };
        assert_close(moved(&s, [0.7, -0.4, 0.1]), [0.7, -0.4, 0.1], 1e-12);
        // The region is 1.6 m long and becomes 3.2 m.
        assert_close(moved(&s, [0.7, -0.4, 2.0]), [0.7, -0.4, 3.6], 1e-9);
        for z in [0.1, 2.0] {
            let g = eval::<f64, _>(&s, [0.7, -0.4, z]).gradient;
            assert!(
                g.iter().flatten().all(|v| v.abs() < 1e-9),
                "{mode:?} {z}: {g:?}"
            );
        }
        check_continuous(&s, &[0.2, 1.8]);
    }
}

#[test]
fn length_scales_the_region() {
    for mode in [Mode::Documented, Mode::VolumePreserving] {
        let unit = SquashStretch {
            mode,
            length: 1.0,
            ..sample()
        };
        let triple = SquashStretch {
            length: 3.0,
            ..unit
        };
        let (a, b) = (
            moved(&unit, [1.0, 1.0, 0.4]),
            moved(&triple, [1.0, 1.0, 1.2]),
        );
        assert_close([b[0], b[1], b[2] / 3.0], a, 1e-12);
    }
}

#[test]
fn biases_move_and_share_the_bulge() {
    for mode in [Mode::Documented, Mode::VolumePreserving] {
        let s = SquashStretch {
            mode,
            stretch: 0.5,
            ..SquashStretch::default()
        };
        let width = |s: &SquashStretch, z: f64| moved(s, [1.0, 1.0, z]);
        let low = SquashStretch {
            axis_bias: 0.2,
            ..s
        };
        assert!(
            width(&low, 0.25)[0] > width(&low, 0.75)[0] + 0.1,
            "{mode:?}: bulges at the bottom"
        );
        let first = width(
            &SquashStretch {
                cross_bias: 0.1,
                ..s
            },
            0.5,
        );
        assert!(first[0] > first[1] + 0.1, "{mode:?}: {first:?}");
        let second = width(
            &SquashStretch {
                cross_bias: 0.9,
                ..s
            },
            0.5,
        );
        assert_close([second[1], second[0], second[2]], first, 1e-9);
    }
}

#[test]
fn limits_that_meet_or_cross_stay_finite() {
    for mode in [Mode::Documented, Mode::VolumePreserving] {
        for (bottom, top) in [(0.5, 0.5), (0.9, 0.8), (1.0, 1.0), (0.0, 1.0)] {
            let s = SquashStretch {
                mode,
                limit_bottom: bottom,
                limit_top: top,
                ..sample()
            };
            for i in 0..100 {
                let p = moved(&s, [1.0, -1.0, f64::from(i) * 0.03 - 0.5]);
                assert!(
                    p.iter().all(|c| c.is_finite() && c.abs() < 20.0),
                    "{s:?}: {p:?}"
                );
            }
        }
    }
}

#[test]
fn extremes_stay_finite_in_single_precision() {
    for mode in [Mode::Documented, Mode::VolumePreserving] {
        for stretch in [0.0, 1e-4, 0.05, 20.0, 1000.0, 2000.0] {
            for bias in [0.0, 0.5, 1.0] {
                let s = SquashStretch {
                    mode,
                    stretch,
                    axis_bias: bias,
                    cross_bias: bias,
                    ..sample()
                };
                for i in 0..=200 {
                    let l = eval::<f32, _>(&s, [1.0, -1.0, i as f32 * 0.0125 - 0.2]);
                    let all = l.offset.iter().chain(l.gradient.iter().flatten());
                    assert!(all.clone().all(|c| c.is_finite()), "{s:?} {i}: {l:?}");
                }
            }
        }
    }
}

#[test]
fn identity_at_rest() {
    check_identity(documented(1.0));
    check_identity(SquashStretch::default());
    check_identity(SquashStretch {
        axis_bias: 0.2,
        cross_bias: 0.1,
        ..SquashStretch::default()
    });
}

#[test]
fn kernels_agree() {
    check_kernels(SquashStretch {
        axis_bias: 0.3,
        cross_bias: 0.3,
        ..sample()
    });
    let s = SquashStretch {
        mode: Mode::VolumePreserving,
        stretch: 0.6,
        ..sample()
    };
    check_kernels(SquashStretch {
        axis_bias: 0.4,
        cross_bias: 0.3,
        ..s
    });
    check_kernels(SquashStretch { stretch: 2.0, ..s });
}

/// Points without triangles.
fn mesh_of(positions: Vec<[f32; 3]>) -> sinew_geom::Mesh {
    let count = u32::try_from(positions.len()).expect("few");
    let topology = sinew_geom::Topology::new(count, Vec::new()).expect("valid");
    sinew_geom::Mesh::new("points", topology, positions)
}

const CORNERS: [[f32; 3]; 3] = [[0.5, 0.25, -0.5], [-0.5, 0.5, 0.5], [0.1, 2.0, 0.0]];

/// Runs the node through its description with some parameters set.
fn run_node(set: &[(&str, ParameterValue)]) -> (Vec<[f32; 3]>, Vec<Line>) {
    let values: Vec<ParameterValue> = DESC
        .parameters
        .iter()
        .map(|d| {
            let given = set.iter().find(|(name, _)| *name == d.name);
            given.map_or_else(|| d.default_value(), |(_, v)| v.clone())
        })
        .collect();
    let parameters = Parameters {
        descs: DESC.parameters,
        values: &values,
    };
    let mesh = mesh_of(CORNERS.to_vec());
    let inputs = [Some(BindInput::Mesh(&mesh)), None];
    let context = BindContext {
        inputs: &inputs,
        ports: DESC.inputs,
        parameters,
    };
    let bound = (DESC.bind)(&context).expect("binds");
    let mut positions = vec![[9.0; 3]; 3];
    let mut lines = vec![Line::default(); bound.output_len("debug")];
    let view = crate::MeshView {
        positions: &CORNERS,
        ..Default::default()
    };
    let mut outputs = [
        Some(OutputValue::Mesh(crate::MeshViewMut {
            positions: Some(&mut positions),
            ..Default::default()
        })),
        Some(OutputValue::Lines(&mut lines)),
    ];
    bound.update(UpdateContext {
        time_secs: 0.0,
        dt_secs: 0.0,
        par: Par::Seq,
        parameters,
        inputs: Inputs {
            values: &[Some(crate::InputValue::Mesh(view)), None],
            ports: DESC.inputs,
        },
        outputs: Outputs {
            values: &mut outputs,
            ports: DESC.outputs,
        },
        scratch: &mut (),
    });
    (positions, lines)
}

#[test]
fn any_local_axis_of_any_frame() {
    // The sample's point (1, 1, 0.5) laid along each axis.
    let turn = Affine::from_trs(
        Vec3::new(3.0, -1.0, 2.0),
        Quat::from_euler_angles(0.5, 0.2, -1.0),
        Vec3::repeat(1.0),
    );
    for (axis, order) in [
        (Axis::X, [1, 2, 0]),
        (Axis::Y, [2, 0, 1]),
        (Axis::Z, [0, 1, 2]),
    ] {
        let lay = |p: [f64; 3]| {
            let mut q = Vec3::zeros();
            for c in 0..3 {
                q[order[c]] = p[c];
            }
            turn.point(q).map(|v| v as f32).into()
        };
        let s = SquashStretch {
            cross_bias: 0.25,
            ..sample()
        };
        let from = [0.3, 0.9, 0.5];
        let mesh = mesh_of(vec![lay(from)]);
        let placement = Placement {
            transform: turn,
            axis,
        };
        let out = run(s, placement, MaskWeight::ONE, &mesh, Kernel::Fast(Par::Seq));
        let expected = lay(moved(&s, from));
        let error = sinew_testkit::max_distance(&out.positions, &[expected]);
        assert!(error < 2e-6, "{axis:?}: {error}");
    }
}

#[test]
fn debug_lines_show_axis_limits_and_widest_section() {
    let (positions, lines) = run_node(&[
        ("mode", ParameterValue::Text("documented".into())),
        ("stretch", ParameterValue::Float(2.0)),
        ("length", ParameterValue::Float(2.0)),
        ("limit_bottom", ParameterValue::Float(0.1)),
        ("limit_top", ParameterValue::Float(0.1)),
        ("axis_bias", ParameterValue::Float(0.2)),
        ("debug_size", ParameterValue::Float(0.5)),
    ]);
    assert!(
        (positions[2][1] - 3.6).abs() < 1e-6,
        "the mesh moves as well: {positions:?}"
    );
    assert_eq!(lines.len(), 19);
    assert_eq!((lines[0].from, lines[0].to), ([0.0; 3], [0.0, 2.0, 0.0]));
    let height = |plane: usize| lines[1 + 6 * plane].from[1];
    // Stretched limits, and the published place of the widest section: low + (1 - b(1/2)) span S.
    for (plane, expected) in [(0, 0.2), (1, 3.4), (2, 0.2 + (1.0 - 0.777_01) * 3.2)] {
        assert!(
            (height(plane) - expected).abs() < 1e-4,
            "plane {plane}: {}",
            height(plane)
        );
        for line in &lines[1 + 6 * plane..7 + 6 * plane] {
            assert!((line.from[1] - line.to[1]).abs() < 1e-6, "flat: {line:?}");
        }
    }
    let reach = lines[13..]
        .iter()
        .map(|l| l.to[0].abs())
        .fold(0.0, f32::max);
    assert!(
        (reach - 0.5 / 2.0_f32.sqrt()).abs() < 1e-5,
        "section scale 1/sqrt(2): {reach}"
    );
}

#[test]
fn debug_lines_are_finite_at_extremes() {
    for mode in [Mode::Documented, Mode::VolumePreserving] {
        let mut lines = [Line::default(); debug::LINES];
        let s = SquashStretch {
            mode,
            stretch: 0.0,
            axis_bias: 0.0,
            cross_bias: 1.0,
            ..sample()
        };
        debug::draw(&s, &Placement::default(), 0.3, &mut lines);
        let all = lines.iter().flat_map(|l| l.from.iter().chain(&l.to));
        assert!(all.clone().all(|c| c.is_finite()), "{lines:?}");
    }
}
