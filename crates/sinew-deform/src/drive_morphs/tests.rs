use super::*;
use sinew_geom::MorphTarget;
use sinew_testkit::meshes;

fn mesh(names: &[&str]) -> Mesh {
    let mut mesh = meshes::cube();
    let target = |name: &&str| MorphTarget {
        name: (*name).into(),
        vertices: vec![0],
        positions: vec![[1.0; 3]],
        ..MorphTarget::default()
    };
    mesh.morph_targets = names.iter().map(target).collect();
    mesh
}

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|&n| n.to_owned()).collect()
}

fn between<'a>(target: &'a str, of: &'a str, at: f32) -> InBetween<'a> {
    InBetween { target, of, at }
}

fn run(names: &[&str], config: &DriveMorphsConfig<'_>, weights: &[f32]) -> Vec<f32> {
    let bind = DriveMorphsBind::new(&mesh(names), config).unwrap_or_else(|e| panic!("{e}"));
    let mut output = vec![9.0; names.len()];
    DriveMorphsJob {
        bind: &bind,
        weights,
        base: None,
        pose: None,
        gain: 1.0,
        output: &mut output,
    }
    .run();
    output
}

fn assert_close(found: &[f32], expected: &[f32], what: &str) {
    let fits = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-6;
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(fits),
        "{what}: {found:?}, expected {expected:?}"
    );
}

#[test]
fn row_129_weights_go_where_their_names_say_and_add_up() {
    let targets = texts(&["c", "", "a", "c"]);
    let config = DriveMorphsConfig {
        targets: &targets,
        ..DriveMorphsConfig::default()
    };
    let weights = [0.25, 7.0, -0.5, 0.5];
    let out = run(&["a", "b", "c"], &config, &weights);
    assert_eq!(out, [-0.5, 0.0, 0.75]);
    let clamped = DriveMorphsConfig {
        clamp: true,
        ..config.clone()
    };
    let out = run(&["a", "b", "c"], &clamped, &[0.75, 7.0, -0.5, 0.5]);
    assert_eq!(out, [0.0, 0.0, 1.0]);
    // Merged meshes: both of one name.
    assert_eq!(run(&["c", "a", "c"], &config, &weights), [0.75, -0.5, 0.75]);
}

#[test]
fn base_pose_and_gain() {
    let targets = texts(&["b"]);
    let config = DriveMorphsConfig {
        targets: &targets,
        ..DriveMorphsConfig::default()
    };
    let bind = DriveMorphsBind::new(&mesh(&["a", "b"]), &config).expect("binds");
    let mut output = [9.0; 2];
    let run = |output: &mut [f32], base| {
        DriveMorphsJob {
            bind: &bind,
            weights: &[0.5],
            base,
            pose: Some((&[0.0, 0.25, 0.0, 0.125], &[3, 1])),
            gain: 3.0,
            output,
        }
        .run();
    };
    run(&mut output, Some(&[1.0, 2.0]));
    let expected = [1.0 + 0.125, 2.0 + 0.25 + 3.0 * 0.5];
    assert_eq!(output, expected);
    // Lists that do not fit write nothing.
    run(&mut output, Some(&[1.0]));
    assert_eq!(output, expected);
    let mut long = [9.0; 3];
    run(&mut long, None);
    assert_eq!(long, [9.0; 3]);
}

/// Two in-betweens at 0.25 and 0.75: each knot has one full shape, half way between two knots both have half.
#[test]
fn in_betweens_are_hats() {
    let targets = texts(&["full"]);
    // In any order.
    let config = DriveMorphsConfig {
        targets: &targets,
        in_betweens: vec![
            between("late", "full", 0.75),
            between("early", "full", 0.25),
        ],
        ..DriveMorphsConfig::default()
    };
    let cases = [
        (-1.0, [0.0, 0.0, 0.0]),
        (0.0, [0.0, 0.0, 0.0]),
        (0.125, [0.5, 0.0, 0.0]),
        (0.25, [1.0, 0.0, 0.0]),
        (0.5, [0.5, 0.5, 0.0]),
        (0.75, [0.0, 1.0, 0.0]),
        (0.875, [0.0, 0.5, 0.5]),
        (1.0, [0.0, 0.0, 1.0]),
        // (1.5 - 0.75) / 0.25
        (1.5, [0.0, 0.0, 3.0]),
    ];
    for (x, expected) in cases {
        let out = run(&["early", "late", "full"], &config, &[x]);
        assert_close(&out, &expected, &format!("x = {x}"));
    }
}

/// Along the whole way the shapes are what linear interpolation between the sculpts gives.
#[test]
fn in_betweens_interpolate_the_sculpts() {
    let targets = texts(&["full"]);
    let config = DriveMorphsConfig {
        targets: &targets,
        in_betweens: vec![between("half", "full", 0.3)],
        ..DriveMorphsConfig::default()
    };
    // Sculpted displacements of one vertex at 0, 0.3 and 1.
    let (half, full) = (2.0_f32, -1.0_f32);
    for i in 0..=40 {
        let x = i as f32 / 40.0;
        let out = run(&["half", "full"], &config, &[x]);
        let expected = if x < 0.3 {
            half * x / 0.3
        } else {
            half + (full - half) * (x - 0.3) / 0.7
        };
        let found = out[0] * half + out[1] * full;
        assert!((found - expected).abs() < 1e-5, "{x}: {found}, {expected}");
    }
}

#[test]
fn combinations_multiply_or_take_the_least() {
    let names = ["a", "b", "c", "ab", "abc"];
    let targets = texts(&["a", "b", "c", "ab"]);
    let (ab, abc) = (texts(&["a", "b"]), texts(&["ab", "c"]));
    let config = |rule| DriveMorphsConfig {
        targets: &targets,
        combinations: vec![
            Combination {
                target: "ab",
                of: &ab,
                rule,
            },
            Combination {
                target: "abc",
                of: &abc,
                rule,
            },
        ],
        ..DriveMorphsConfig::default()
    };
    let (product, minimum) = (CombinationRule::Product, CombinationRule::Minimum);
    let out = run(&names, &config(product), &[0.5, 0.8, 0.25, 0.0]);
    assert_close(&out, &[0.5, 0.8, 0.25, 0.4, 0.1], "product");
    let out = run(&names, &config(minimum), &[0.5, 0.8, 0.25, 0.0]);
    assert_close(&out, &[0.5, 0.8, 0.25, 0.5, 0.25], "minimum");
    // What drives a combination adds to it, and counts where it is a parent.
    let out = run(&names, &config(product), &[0.5, 0.5, 1.0, 0.5]);
    assert_close(&out, &[0.5, 0.5, 1.0, 0.75, 0.75], "driven too");
    // Two that are negative make no correction.
    for rule in [product, minimum] {
        let out = run(&names, &config(rule), &[-0.5, -0.5, 1.0, 0.0]);
        assert_close(&out, &[-0.5, -0.5, 1.0, 0.0, 0.0], "negative");
    }
    // Clamped before they combine.
    let clamped = DriveMorphsConfig {
        clamp: true,
        ..config(product)
    };
    let out = run(&names, &clamped, &[2.0, 0.5, 1.0, 0.75]);
    assert_close(&out, &[1.0, 0.5, 1.0, 1.0, 1.0], "clamped");
}

/// Parents of combinations count with what they weigh before their in-betweens take their share.
#[test]
fn combinations_come_before_in_betweens() {
    let targets = texts(&["a", "b"]);
    let of = texts(&["a", "b"]);
    let config = DriveMorphsConfig {
        targets: &targets,
        in_betweens: vec![between("half", "a", 0.5), between("ab_half", "ab", 0.5)],
        combinations: vec![Combination {
            target: "ab",
            of: &of,
            rule: CombinationRule::Product,
        }],
        ..DriveMorphsConfig::default()
    };
    let names = ["a", "b", "ab", "half", "ab_half"];
    // a = 0.5 is all in-between; ab = 0.5 * 1 as well.
    let out = run(&names, &config, &[0.5, 1.0]);
    assert_close(&out, &[0.0, 1.0, 0.0, 1.0, 1.0], "half way");
}

/// The second target of a name goes with the second parent.
#[test]
fn targets_of_one_name_go_in_pairs() {
    let targets = texts(&[""]);
    let of = texts(&["a", "b"]);
    let config = DriveMorphsConfig {
        targets: &targets,
        combinations: vec![Combination {
            target: "ab",
            of: &of,
            rule: CombinationRule::Minimum,
        }],
        in_betweens: vec![between("half", "b", 0.5)],
        ..DriveMorphsConfig::default()
    };
    let names = mesh(&["a", "a", "b", "ab", "ab", "half"]);
    let bind = DriveMorphsBind::new(&names, &config).expect("binds");
    let mut output = [0.0; 6];
    DriveMorphsJob {
        bind: &bind,
        weights: &[1.0],
        base: Some(&[0.25, 0.375, 0.75, 0.0, 0.0, 0.0]),
        pose: None,
        gain: 1.0,
        output: &mut output,
    }
    .run();
    assert_close(&output, &[0.25, 0.375, 0.5, 0.25, 0.375, 0.5], "pairs");
}

fn mix<'a>(target: &'a str, weights: &'a [f64]) -> Mix<'a> {
    Mix { target, weights }
}

/// Sums by hand: each basis target gets its row of the coefficients times the weights, beside what `targets` gives.
#[test]
fn row_158_a_basis_target_gets_a_mixture_of_all_weights() {
    let (first, second) = ([0.0, 0.5, -2.0, 1.0], [1.0, 0.25, 0.0, -4.0]);
    let targets = texts(&["", "b", "", "a"]);
    let config = DriveMorphsConfig {
        targets: &targets,
        mix: vec![mix("x", &first), mix("b", &second)],
        ..DriveMorphsConfig::default()
    };
    let weights = [0.5, 2.0, 0.25, 0.125];
    let (x, b) = (1.0 - 0.5 + 0.125, 0.5 + 0.5 - 0.5);
    let out = run(&["a", "b", "x"], &config, &weights);
    assert_eq!(out, [0.125, 2.0 + b, x]);
    // Merged meshes: both of one name.
    let out = run(&["x", "a", "b", "x"], &config, &weights);
    assert_eq!(out, [x, 0.125, 2.0 + b, x]);
    // Nothing but mixtures: they say how many weights come in.
    let alone = DriveMorphsConfig {
        targets: &[],
        ..config
    };
    assert_eq!(run(&["a", "b", "x"], &alone, &weights), [0.0, b, x]);
}

/// Mixtures are part of the sum: `gain` multiplies them, `base` and `pose` do not, and combinations count with them.
#[test]
fn mixtures_are_part_of_the_sum() {
    let of = texts(&["x", "b"]);
    let config = DriveMorphsConfig {
        mix: vec![mix("x", &[2.0, -1.0]), mix("b", &[0.0, 1.0])],
        combinations: vec![Combination {
            target: "xb",
            of: &of,
            rule: CombinationRule::Product,
        }],
        in_betweens: vec![between("half", "b", 0.5)],
        ..DriveMorphsConfig::default()
    };
    let names = mesh(&["x", "b", "xb", "half"]);
    let bind = DriveMorphsBind::new(&names, &config).expect("binds");
    assert_eq!(bind.weight_count(), 2);
    let mut output = [9.0; 4];
    DriveMorphsJob {
        bind: &bind,
        weights: &[0.5, 0.25],
        base: Some(&[0.125, 0.0, 0.0, 0.0]),
        pose: Some((&[0.25], &[3, 0, 3, 3])),
        gain: 2.0,
        output: &mut output,
    }
    .run();
    // x = 1/8 + 2 (1 - 1/4), b = 1/4 + 2/4 before its in-between, half way between full and gone at 3/4.
    assert_eq!(output, [1.625, 0.5, 1.625 * 0.75, 0.5]);
}

#[test]
fn wrong_mixtures_are_told() {
    let names = ["smile", "smile_basis_0"];
    let targets = texts(&["smile", ""]);
    let infinite = [0.0, 1e60];
    let cases = [
        (
            mix("smile_basis_1", &[1.0, 2.0]),
            "parameter 'mix': the mesh has no morph target 'smile_basis_1'; did you mean 'smile_basis_0'?",
        ),
        (
            mix("smile_basis_0", &[1.0]),
            "mix 'smile_basis_0': 'weights' has 1 numbers, expected 2, one for each linked weight",
        ),
        (
            mix("smile_basis_0", &infinite),
            "mix 'smile_basis_0': number 1 of 'weights' is 1",
        ),
    ];
    for (mix, expected) in cases {
        let config = DriveMorphsConfig {
            targets: &targets,
            mix: vec![mix],
            ..DriveMorphsConfig::default()
        };
        let error = DriveMorphsBind::new(&mesh(&names), &config).expect_err(expected);
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    // Without names the first mixture says how many there are.
    let config = DriveMorphsConfig {
        mix: vec![mix("smile", &[1.0, 2.0]), mix("smile", &[1.0])],
        ..DriveMorphsConfig::default()
    };
    let error = DriveMorphsBind::new(&mesh(&names), &config).expect_err("too few");
    assert!(
        error.to_string().contains("1 numbers, expected 2"),
        "{error}"
    );
}

#[test]
fn wrong_names_and_places_are_told() {
    let names = ["smile", "frown", "both", "half"];
    let (smile, wrong) = (texts(&["smile"]), texts(&["smiel"]));
    let (pair, own) = (texts(&["smile", "frown"]), texts(&["smile", "both"]));
    let twice = texts(&["smile", "smile"]);
    let combination = |target, of| Combination {
        target,
        of,
        rule: CombinationRule::Product,
    };
    let plain = DriveMorphsConfig {
        targets: &smile,
        ..DriveMorphsConfig::default()
    };
    let with_in_betweens = |in_betweens| DriveMorphsConfig {
        in_betweens,
        ..plain.clone()
    };
    let with_combinations = |combinations| DriveMorphsConfig {
        combinations,
        ..plain.clone()
    };
    let cases = [
        (
            DriveMorphsConfig {
                targets: &wrong,
                ..DriveMorphsConfig::default()
            },
            "parameter 'targets': the mesh has no morph target 'smiel'; known: smile, frown, both, half",
        ),
        (
            with_in_betweens(vec![between("half", "smil", 0.5)]),
            "parameter 'in_betweens': the mesh has no morph target 'smil'; did you mean 'smile'?",
        ),
        (
            with_in_betweens(vec![between("half", "smile", 1.0)]),
            "in-between 'half' of 'smile': 'at' is 1, expected a number between 0 and 1 that no other in-between of 'smile' has",
        ),
        (
            with_in_betweens(vec![
                between("half", "smile", 0.5),
                between("both", "smile", 0.5),
            ]),
            "in-between 'half' of 'smile': 'at' is 0.5, expected",
        ),
        (
            with_in_betweens(vec![
                between("half", "smile", 0.5),
                between("smile", "both", 0.5),
            ]),
            "in-between 'smile': it has in-betweens itself; an in-between cannot have in-betweens",
        ),
        (
            with_in_betweens(vec![
                between("half", "smile", 0.5),
                between("half", "frown", 0.5),
            ]),
            "in-between 'half': it is listed twice; list it once",
        ),
        (
            with_combinations(vec![combination("both", &smile)]),
            "combination 'both': 'of' names 1 morph targets, expected two or more",
        ),
        (
            with_combinations(vec![combination("both", &own)]),
            "combination 'both': 'of' names the target itself, expected other targets",
        ),
        (
            with_combinations(vec![combination("both", &twice)]),
            "combination 'both': 'of' names 'smile' twice",
        ),
        (
            with_combinations(vec![combination("half", &own), combination("both", &pair)]),
            "combination 'half': 'of' names 'both', a combination that comes later; list 'both' first",
        ),
        (
            with_combinations(vec![combination("both", &pair), combination("both", &pair)]),
            "combination 'both': it is listed twice; list it once",
        ),
    ];
    for (config, expected) in cases {
        let error = DriveMorphsBind::new(&mesh(&names), &config).expect_err(expected);
        assert!(
            error.to_string().starts_with(expected),
            "{error}\nnot {expected}"
        );
    }
    let error = DriveMorphsBind::new(&meshes::cube(), &plain).expect_err("no targets");
    assert!(
        error.to_string().contains("has no morph targets"),
        "{error}"
    );
}

#[test]
fn replaced_targets_leave_out_what_the_pose_says() {
    let targets = texts(&["b"]);
    let config = DriveMorphsConfig {
        targets: &targets,
        ..DriveMorphsConfig::default()
    };
    let mesh = mesh(&["a", "b", "c", "b"]);
    let bind = DriveMorphsBind::new(&mesh, &config).expect("binds");
    let run = |replaced: &[&str]| {
        let places = without(&mesh, Some(vec![0, 1, 2, 3]), &texts(replaced)).expect("known");
        let mut output = vec![9.0; 4];
        DriveMorphsJob {
            bind: &bind,
            weights: &[0.5],
            base: None,
            pose: places
                .as_deref()
                .map(|p| (&[0.125, 0.25, 0.375, 0.0625][..], p)),
            gain: 1.0,
            output: &mut output,
        }
        .run();
        output
    };
    assert_eq!(run(&[]), [0.125, 0.75, 0.375, 0.5625]);
    assert_eq!(run(&["b", "c"]), [0.125, 0.5, 0.0, 0.5]);
    let wrong = without(&mesh, None, &texts(&["d"])).expect_err("no such target");
    let told = wrong.to_string();
    assert!(
        told.starts_with("parameter 'replaced': the mesh has no morph target 'd'"),
        "{told}"
    );
}
