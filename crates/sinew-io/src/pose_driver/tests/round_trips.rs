use super::super::pose_wrangler::{
    MayaEnum, PoseWranglerBlendshape, PoseWranglerContent, PoseWranglerPose, PoseWranglerSidecar,
    PoseWranglerSolver,
};
use super::super::psd::{
    BasisOrder, MatrixLayout, PsdDistance, PsdKernel, PsdMatrix, PsdNormalization, PsdPose,
    PsdSolver,
};
use super::*;
use proptest::prelude::*;

/// `read` has all that `given` has, with the same numbers; objects may have more keys where defaults were written.
fn holds(read: &Value, given: &Value, at: &str) {
    match (read, given) {
        (Value::Object(r), Value::Object(g)) => {
            for (key, value) in g {
                let found = r.get(key).unwrap_or_else(|| panic!("{at}.{key} is lost"));
                holds(found, value, &format!("{at}.{key}"));
            }
            let order: Vec<_> = r.keys().filter(|k| g.contains_key(*k)).collect();
            assert_eq!(order, g.keys().collect::<Vec<_>>(), "order of keys in {at}");
        }
        (Value::Array(r), Value::Array(g)) => {
            assert_eq!(r.len(), g.len(), "{at}");
            for (i, (r, g)) in r.iter().zip(g).enumerate() {
                holds(r, g, &format!("{at}[{i}]"));
            }
        }
        (Value::Number(r), Value::Number(g)) => {
            let (r, g) = (r.as_f64().expect("number"), g.as_f64().expect("number"));
            assert_eq!(r.to_bits(), g.to_bits(), "{at}");
        }
        _ => assert_eq!(read, given, "{at}"),
    }
}

/// Without comments and trailing commas, for a parser that does not know them.
fn strict(text: &str) -> Value {
    let text = text
        .replace("// Made by hand.", "")
        .replace("/* no solver */", "");
    let mut out = String::new();
    for (i, c) in text.char_indices() {
        let next = text[i + 1..].trim_start().chars().next();
        if c != ',' || !matches!(next, Some('}' | ']')) {
            out.push(c);
        }
    }
    serde_json::from_str(&out).expect("JSON")
}

fn codes(warnings: &[sinew_geom::Warning]) -> Vec<&str> {
    warnings.iter().map(|w| w.code).collect()
}

#[test]
fn psd_is_read() {
    let document = parse_psd(PSD, path()).expect("valid");
    let [arm, leg] = document.solvers.as_slice() else {
        panic!("two solvers");
    };
    assert_eq!(
        (arm.name.as_str(), arm.driver.as_str()),
        ("arm_l_Solver", "arm_l")
    );
    assert_eq!(arm.driven, ["half_l", "twist_l"]);
    assert_eq!(
        arm.driven_joint_orients_degrees,
        Some(vec![[0.0; 3], [-80.0, 2.0, 3.5]])
    );
    assert_eq!(
        (arm.basis_function, arm.kernel(BasisOrder::Published)),
        (3, Some(PsdKernel::Gaussian))
    );
    assert_eq!(arm.normalization(), Some(PsdNormalization::OnlyAboveOne));
    assert_eq!(
        (arm.distance(), arm.axis()),
        (Some(PsdDistance::Euclidean), Some(0))
    );
    assert_eq!(
        (arm.global_width_degrees, arm.clamp_negative_weight),
        (60.5, false)
    );
    let [rest, bent] = arm.poses.as_slice() else {
        panic!("two poses");
    };
    let raw = [-9.774415372647063e-06, 0.1, -119.99999999999999];
    assert_eq!(rest.raw_pose_rotation_degrees, Some(raw));
    assert_eq!((rest.driver_matrix, &rest.driven_matrices), (None, &None));
    assert_eq!(rest.extra.values["note"], "kept");
    let driver = bent.driver_matrix.expect("given");
    assert_eq!(driver.layout, MatrixLayout::RowsInList);
    assert_eq!(driver.matrix.rows()[3], [1.0, 2.0, 3.0, 1.0]);
    let driven = bent.driven_matrices.as_ref().expect("given");
    assert_eq!(driven[1].layout, MatrixLayout::Flat);
    assert_eq!(driven[1].matrix.rows()[3], [7.0, 8.0, 9.0, 1.0]);
    assert_eq!(
        (leg.psd_type, leg.global_width_degrees, leg.twist_axis),
        (1, 90.0, 0)
    );
    assert!(leg.is_automatic_radius && leg.driven.is_empty(), "defaults");
    let said: Vec<_> = document
        .warnings
        .iter()
        .map(|w| w.message.as_str())
        .collect();
    assert_eq!(
        said[0],
        "line 3, column 14, version: this is not a solver; it is kept unchanged"
    );
    let missing = "line 4, column 19, arm_l_Solver: 'DistanceMethod' is missing; Sinew uses 0 (2 times; this is the first)";
    assert!(said.contains(&missing), "{said:#?}");
    assert!(codes(&document.warnings).contains(&"no_poses"), "{said:#?}");
}

#[test]
fn enumerations_out_of_range_mean_nothing() {
    let solver = PsdSolver {
        basis_function: 5,
        distance_method: -1,
        normalize_method: 2,
        twist_axis: i64::MIN,
        ..PsdSolver::default()
    };
    for order in [BasisOrder::Published, BasisOrder::Unreal] {
        assert_eq!((solver.kernel(order), solver.distance()), (None, None));
    }
    assert_eq!((solver.normalization(), solver.axis()), (None, None));
}

#[test]
fn wrangler_is_read() {
    let document = parse_pose_wrangler(WRANGLER, path()).expect("valid");
    let [hand] = document.solvers() else {
        panic!("one solver");
    };
    assert_eq!(hand.drivers, ["hand_l", "thumb_l"]);
    assert_eq!((hand.radius, hand.automatic_radius), (45.0, false));
    assert_eq!(hand.mode, Some(MayaEnum::Index(1)));
    assert_eq!(hand.input_mode, Some(MayaEnum::Name("Rotation".into())));
    assert_eq!(hand.weight_threshold, Some(0.0001));
    let [default, fist] = hand.poses.as_slice() else {
        panic!("two poses");
    };
    assert_eq!(default.drivers[1].rows()[3], [1.5, 2.5, -3.5, 1.0]);
    assert_eq!(default.driven[1].0, "another");
    assert_eq!((default.scale_factor, default.target_enable), (0.75, false));
    let shape = &default.blendshapes[0];
    assert_eq!(
        (shape.blendshape_mesh_orig_index, shape.mesh_index),
        (Some(2), None)
    );
    assert_eq!(fist.function_type, "DefaultFunctionType");
    assert_eq!(fist.distance_method, "DefaultMethod");
    assert_eq!((fist.scale_factor, fist.target_enable), (1.0, true));
    let codes = codes(&document.warnings);
    assert!(
        codes.contains(&"joint_not_driven") && codes.contains(&"not_a_solver"),
        "{codes:?}"
    );
    let joint = document
        .warnings
        .iter()
        .find(|w| w.code == "joint_not_driven");
    let said = "line 16, column 11, hand_l_UERBFSolver.poses.default.driven.another: 'another' is not in 'driven_transforms'";
    assert_eq!(joint.expect("said").message, said);
    let document = parse_pose_wrangler(SIDECAR, path()).expect("valid");
    let PoseWranglerContent::Sidecar(sidecar) = &document.content else {
        panic!("a sidecar");
    };
    assert_eq!(sidecar.export_fbx.as_deref(), Some("rigs/calf_l.fbx"));
    assert_eq!(sidecar.asset_name.as_deref(), Some("Runner"));
    assert_eq!(
        (sidecar.solver.radius, sidecar.solver.automatic_radius),
        (30.0, true)
    );
    assert_eq!(document.solvers()[0].key, "calf_l_UERBFSolver");
}

#[test]
fn nothing_is_lost() {
    let written = parse_psd(PSD, path())
        .expect("valid")
        .to_json_string()
        .expect("written");
    holds(&strict(&written), &strict(PSD), "");
    let again = parse_psd(&written, path()).expect("valid");
    assert_eq!(
        again.to_json_string().expect("written"),
        written,
        "the second time nothing changes"
    );
    assert_eq!(
        again.solvers,
        parse_psd(PSD, path()).expect("valid").solvers
    );
    for text in [WRANGLER, SIDECAR] {
        let first = parse_pose_wrangler(text, path()).expect("valid");
        let written = first.to_json_string().expect("written");
        holds(&strict(&written), &strict(text), "");
        let again = parse_pose_wrangler(&written, path()).expect("valid");
        assert_eq!(again.content, first.content);
        assert_eq!(again.to_json_string().expect("written"), written);
    }
}

#[test]
fn lists_of_numbers_are_on_one_line() {
    let written = parse_psd(PSD, path())
        .expect("valid")
        .to_json_string()
        .expect("written");
    assert!(
        written.contains("\n            [4.0, 5.0, 6.0, 1.0]\n"),
        "{written}"
    );
    assert!(
        written.starts_with("{\n  \"version\": 3,\n  \"arm_l_Solver\": {\n    \"Maker\": {\n"),
        "{written}"
    );
}

#[test]
fn parts_that_were_moved_keep_their_new_order() {
    let mut document = parse_psd(PSD, path()).expect("valid");
    document.solvers.reverse();
    document.solvers[1].poses.reverse();
    let written = document.to_json_string().expect("written");
    let again = parse_psd(&written, path()).expect("valid");
    assert_eq!(again.solvers, document.solvers);
    assert_eq!(again.extra, document.extra);
}

#[test]
fn files_are_whole_or_not_there() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("psd.json");
    let mut document = parse_psd(PSD, path()).expect("valid");
    write_psd(&file, &document).expect("written");
    assert_eq!(read_psd(&file).expect("read").solvers, document.solvers);
    let before = std::fs::read(&file).expect("there");
    document.solvers[0].poses[0].raw_pose_rotation_degrees = Some([0.0, f64::NAN, 0.0]);
    let error = write_psd(&file, &document)
        .expect_err("refused")
        .to_string();
    assert!(
        error.contains("arm_l_Solver.Poses.rest.RawPoseRotation[1]"),
        "{error}"
    );
    assert!(
        error.contains("psd.json") && error.contains("found the text 'NaN', expected a number"),
        "{error}"
    );
    assert_eq!(std::fs::read(&file).expect("there"), before, "untouched");
    let other = folder.path().join("wrangler.json");
    let document = parse_pose_wrangler(WRANGLER, path()).expect("valid");
    write_pose_wrangler(&other, &document).expect("written");
    assert_eq!(
        read_pose_wrangler(&other).expect("read").content,
        document.content
    );
    let missing = read_psd(&folder.path().join("none.json")).expect_err("missing");
    assert!(matches!(missing, IoError::Read { .. }), "{missing}");
}

#[test]
fn documents_that_no_file_can_hold_are_refused() {
    let mut document = parse_psd(PSD, path()).expect("valid");
    document.solvers[1].name = "arm_l_Solver".into();
    let said = "document: found two solvers called 'arm_l_Solver', expected unique names";
    assert_eq!(refused(document.to_json_string()), said);
    let mut document = parse_psd(PSD, path()).expect("valid");
    document.solvers[0].driven.pop();
    let said = refused(document.to_json_string());
    assert!(
        said.contains("found a list of 2, expected 1, one for each of 'DrivenObjects'"),
        "{said}"
    );
}

fn number() -> BoxedStrategy<f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |v| v.is_finite()),
        -2.0..2.0,
        Just(0.0),
        Just(-0.0)
    ]
    .boxed()
}

fn name() -> BoxedStrategy<String> {
    prop_oneof!["[a-z]{1,6}", any::<String>()].boxed()
}

fn matrix() -> BoxedStrategy<MayaMatrix> {
    proptest::collection::vec(number(), 16)
        .prop_map(|v| MayaMatrix(std::array::from_fn(|i| v[i])))
        .boxed()
}

fn json() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        number().prop_map(Value::from),
        name().prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((name(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect()))
        ]
    })
    .boxed()
}

/// Keys that no format has.
fn extra() -> BoxedStrategy<ExtraFields> {
    proptest::collection::vec((name(), json()), 0..3)
        .prop_map(|fields| ExtraFields {
            values: fields
                .into_iter()
                .map(|(k, v)| (format!("#{k}"), v))
                .collect(),
            order: Vec::new(),
        })
        .boxed()
}

/// Parts with names that differ.
fn named<T: std::fmt::Debug + Clone + 'static>(
    part: impl Strategy<Value = T> + 'static,
    name_of: fn(&mut T) -> &mut String,
) -> BoxedStrategy<Vec<T>> {
    proptest::collection::vec((name(), part), 0..3)
        .prop_map(move |mut parts| {
            for (index, (name, part)) in parts.iter_mut().enumerate() {
                *name_of(part) = format!("{name}{index}");
            }
            parts.into_iter().map(|(_, part)| part).collect()
        })
        .boxed()
}

fn psd_matrix() -> BoxedStrategy<PsdMatrix> {
    use MatrixLayout::{Flat, FlatInList, Rows, RowsInList};
    let layout = proptest::sample::select(vec![Rows, Flat, RowsInList, FlatInList]);
    (matrix(), layout)
        .prop_map(|(matrix, layout)| PsdMatrix { matrix, layout })
        .boxed()
}

fn psd_pose(driven: usize) -> BoxedStrategy<PsdPose> {
    let matrices = proptest::collection::vec(psd_matrix(), driven);
    let raw = proptest::option::of(proptest::array::uniform3(number()));
    (
        psd_matrix(),
        proptest::option::of(matrices),
        raw,
        any::<bool>(),
        extra(),
    )
        .prop_map(|(driver, driven_matrices, raw, both, extra)| PsdPose {
            name: String::new(),
            driver_matrix: (both || raw.is_none()).then_some(driver),
            driven_matrices,
            raw_pose_rotation_degrees: raw,
            extra,
        })
        .boxed()
}

fn psd_solver() -> BoxedStrategy<PsdSolver> {
    (0_usize..3)
        .prop_flat_map(|driven| {
            let orients = proptest::collection::vec(proptest::array::uniform3(number()), driven);
            (
                proptest::collection::vec(name(), driven),
                proptest::option::of(orients),
                any::<[i64; 5]>(),
                (name(), number(), any::<bool>(), any::<bool>()),
                named(psd_pose(driven), |p| &mut p.name),
                extra(),
            )
                .prop_map(
                    |(driven, orients, i, (driver, width, clamp, automatic), poses, extra)| {
                        PsdSolver {
                            name: String::new(),
                            driver,
                            driven,
                            driven_joint_orients_degrees: orients,
                            psd_type: i[0],
                            basis_function: i[1],
                            normalize_method: i[2],
                            distance_method: i[3],
                            global_width_degrees: width,
                            clamp_negative_weight: clamp,
                            is_automatic_radius: automatic,
                            twist_axis: i[4],
                            poses,
                            extra,
                        }
                    },
                )
        })
        .boxed()
}

fn blendshape() -> BoxedStrategy<PoseWranglerBlendshape> {
    let texts = proptest::collection::vec(proptest::option::of(name()), 5);
    (texts, any::<[Option<i64>; 3]>(), extra())
        .prop_map(|(t, i, extra)| PoseWranglerBlendshape {
            blendshape_mesh: t[0].clone(),
            blendshape_mesh_shape: t[1].clone(),
            orig_mesh: t[2].clone(),
            blendshape: t[3].clone(),
            blendshape_mesh_orig_index: i[0],
            mesh_index: i[1],
            pose_attr: t[4].clone(),
            pose_index: i[2],
            extra,
        })
        .boxed()
}

fn wrangler_pose(drivers: usize) -> BoxedStrategy<PoseWranglerPose> {
    (
        proptest::collection::vec(matrix(), drivers),
        proptest::collection::vec(matrix(), 0..3),
        named((Just(String::new()), matrix()), |d| &mut d.0),
        (name(), number(), name(), any::<bool>()),
        proptest::collection::vec(blendshape(), 0..3),
        extra(),
    )
        .prop_map(
            |(drivers, controllers, driven, (function, scale, distance, enable), shapes, extra)| {
                PoseWranglerPose {
                    name: String::new(),
                    drivers,
                    controllers,
                    driven,
                    function_type: function,
                    scale_factor: scale,
                    distance_method: distance,
                    target_enable: enable,
                    blendshapes: shapes,
                    extra,
                }
            },
        )
        .boxed()
}

fn wrangler_solver() -> BoxedStrategy<PoseWranglerSolver> {
    let choice = prop_oneof![
        Just(None),
        any::<i64>().prop_map(|i| Some(MayaEnum::Index(i))),
        name().prop_map(|n| Some(MayaEnum::Name(n)))
    ];
    let texts = || proptest::collection::vec(name(), 0..3);
    (0_usize..3)
        .prop_flat_map(move |drivers| {
            (
                (
                    name(),
                    proptest::collection::vec(name(), drivers),
                    texts(),
                    texts(),
                ),
                named(wrangler_pose(drivers), |p| &mut p.name),
                proptest::collection::vec(texts(), 0..3),
                proptest::collection::vec(choice.clone(), 6),
                (number(), any::<bool>(), proptest::option::of(number())),
                extra(),
            )
                .prop_map(
                    |(
                        (solver_name, drivers, driven, controllers),
                        poses,
                        attrs,
                        e,
                        (radius, automatic, threshold),
                        extra,
                    )| {
                        PoseWranglerSolver {
                            key: String::new(),
                            solver_name,
                            drivers,
                            driven_transforms: driven,
                            controllers,
                            poses,
                            driven_attrs: attrs,
                            mode: e[0].clone(),
                            radius,
                            automatic_radius: automatic,
                            weight_threshold: threshold,
                            distance_method: e[1].clone(),
                            normalize_method: e[2].clone(),
                            function_type: e[3].clone(),
                            twist_axis: e[4].clone(),
                            input_mode: e[5].clone(),
                            extra,
                        }
                    },
                )
        })
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn psd_documents_survive(solvers in named(psd_solver(), |s| &mut s.name)) {
        let document = PsdDocument { solvers, ..PsdDocument::default() };
        let text = document.to_json_string().expect("written");
        prop_assert_eq!(parse_psd(&text, path()).expect("valid").solvers, document.solvers);
        // Another parser agrees that it is JSON.
        let _: Value = serde_json::from_str(&text).expect("JSON");
    }

    #[test]
    fn wrangler_documents_survive(solvers in named(wrangler_solver(), |s| &mut s.key), sidecar in wrangler_solver()) {
        let extra = ExtraFields::default();
        let mut solver = sidecar;
        solver.key.clone_from(&solver.solver_name);
        let sidecar = PoseWranglerSidecar { solver, export_fbx: Some("a.fbx".into()), asset_name: None };
        for content in [
            PoseWranglerContent::Solvers { solvers, extra },
            PoseWranglerContent::Sidecar(Box::new(sidecar)),
        ] {
            let document = PoseWranglerDocument { content, warnings: Vec::new() };
            let text = document.to_json_string().expect("written");
            prop_assert_eq!(parse_pose_wrangler(&text, path()).expect("valid").content, document.content);
        }
    }

    #[test]
    fn damaged_texts_give_an_error_and_no_panic(at in any::<prop::sample::Index>(), with in "[\\[\\]{}:,\"0-9a-z/*é-]{0,3}", cut: bool) {
        for text in [PSD, WRANGLER, SIDECAR] {
            let at = at.index(text.len());
            let mut damaged = text[..at].to_owned() + &with;
            if !cut {
                damaged.push_str(&text[at + 1..]);
            }
            for error in [
                parse_psd(&damaged, path()).err(),
                parse_pose_wrangler(&damaged, path()).err(),
                parse_samples(&damaged, path()).err(),
            ].into_iter().flatten() {
                prop_assert!(error.to_string().starts_with("a.json: line "), "{}", error);
            }
        }
    }
}

/// The kernels of both orders at their numbers, as they are published.
#[test]
fn orders_of_kernels_are_those_of_their_systems() {
    use PsdKernel::{Cubic, Exponential, Gaussian, Linear, Quintic};
    let published = [Linear, Exponential, Cubic, Gaussian];
    let unreal = [Gaussian, Exponential, Linear, Cubic, Quintic];
    for (order, kernels) in [
        (BasisOrder::Published, &published[..]),
        (BasisOrder::Unreal, &unreal[..]),
    ] {
        for (number, kernel) in (0..).zip(kernels) {
            let solver = PsdSolver {
                basis_function: number,
                ..PsdSolver::default()
            };
            assert_eq!(solver.kernel(order), Some(*kernel), "{order:?} {number}");
            assert_eq!(order.number(*kernel), Some(number));
        }
    }
    assert_eq!(BasisOrder::Published.number(Quintic), None);
}
