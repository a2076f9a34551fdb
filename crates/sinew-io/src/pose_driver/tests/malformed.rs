use super::*;

/// Parses the sample with `from` replaced, once.
fn changed(from: &str, to: &str) -> String {
    assert_eq!(PSD.matches(from).count(), 1, "{from}");
    refused(parse_psd(&PSD.replace(from, to), path()))
}

#[test]
fn psd_refusals_name_the_place() {
    let pose = "arm_l_Solver.Poses.bent";
    for (from, to, said) in [
        (
            r#""DriverObject": "arm_l","#,
            "",
            "line 4, column 19, arm_l_Solver: found no 'DriverObject', expected a value for 'DriverObject'".to_owned(),
        ),
        (
            r#""outDriverLocalMatrix": [[[0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 1, 0], [1, 2, 3, 1]]],"#,
            "",
            format!("line 16, column 15, {pose}: found no rotation of the driver, expected 'outDriverLocalMatrix' or 'RawPoseRotation'"),
        ),
        (
            "0, 7, 8, 9, 1]",
            "0, 7, 8, 9]",
            format!("line 19, column 11, {pose}.outDrivenLocalMatrixList[1]: found a list of 15, expected 4 lists of 4 numbers, or 16 numbers"),
        ),
        (
            "[-1, 0, 0, 0]",
            "[-1, \"0\", 0, 0]",
            format!("line 21, column 54, {pose}.outDriverLocalMatrix[0][1][1]: found the text '0', expected a number"),
        ),
        (
            "[-1, 0, 0, 0]",
            "[-1, 0, 0]",
            format!("line 21, column 49, {pose}.outDriverLocalMatrix[0][1]: found a list of 3, expected a list of 4 numbers"),
        ),
        (
            "\"GlobalWidth\": 60.5",
            "\"GlobalWidth\": 1e999",
            "line 10, column 20, arm_l_Solver.GlobalWidth: found '1e999', expected a finite number".to_owned(),
        ),
        (
            "\"list\": [1, 2.5, null]",
            "\"list\": [1, -1e999, null]",
            "line 5, column 43, arm_l_Solver.Maker.list[1]: found '-1e999', expected a finite number".to_owned(),
        ),
        (
            "\"GlobalWidth\": 60.5",
            "\"GlobalWidth\": NaN",
            "line 10, column 20: found invalid JSON (Unexpected token), expected JSON (comments and trailing commas are allowed)".to_owned(),
        ),
        (
            "\"BasisFunction\": 3",
            "\"BasisFunction\": 3.5",
            "line 9, column 36, arm_l_Solver.BasisFunction: found '3.5', expected a whole number".to_owned(),
        ),
        (
            "\"BasisFunction\": 3",
            "\"PSDType\": 3",
            "line 9, column 19, arm_l_Solver.PSDType: found a second key 'PSDType', expected unique keys".to_owned(),
        ),
        (
            "\"bent\": {",
            "\"rest\": {",
            "line 16, column 7, arm_l_Solver.Poses.rest: found a second key 'rest', expected unique keys".to_owned(),
        ),
        (
            "[[0, 0, 0], [-80, 2, 3.5]]",
            "[[0, 0, 0]]",
            "line 8, column 30, arm_l_Solver.DrivenJointOrientList: found a list of 1, expected 2, one for each of 'DrivenObjects'".to_owned(),
        ),
        (
            "[\"half_l\", \"twist_l\"]",
            "\"half_l\"",
            "line 7, column 22, arm_l_Solver.DrivenObjects: found the text 'half_l', expected a list of texts".to_owned(),
        ),
        (
            "\"ClampNegativeWeight\": false",
            "\"ClampNegativeWeight\": 0",
            "line 25, column 28, arm_l_Solver.ClampNegativeWeight: found '0', expected true or false".to_owned(),
        ),
    ] {
        assert_eq!(changed(from, to), format!("a.json: {said}"));
    }
}

#[test]
fn texts_that_are_no_documents() {
    for (text, said) in [
        (
            "",
            "line 1, column 1: found an empty file, expected a JSON object",
        ),
        (
            "  // only words\n",
            "line 1, column 1: found an empty file, expected a JSON object",
        ),
        (
            "[1]",
            "line 1, column 1: found a list of 1, expected an object",
        ),
        (
            "{\"é\": {}, \"b\": 1 2}",
            "line 1, column 17: found invalid JSON",
        ),
        (
            "{\"a.b\": {}}",
            "line 1, column 9, [\"a.b\"]: found no 'DriverObject'",
        ),
        (
            "{\"a\": {\"DriverObject\": null}}",
            "line 1, column 7, a: found null for 'DriverObject'",
        ),
    ] {
        let error = refused(parse_psd(text, path()));
        assert!(error.starts_with(&format!("a.json: {said}")), "{error}");
    }
    let error = refused(parse_psd(&PSD[..PSD.len() / 2], path()));
    assert!(
        error.contains("found invalid JSON (Unterminated"),
        "{error}"
    );
    assert!(parse_psd("\u{feff}{}", path()).is_ok(), "a byte-order mark");
}

#[test]
fn nesting_and_size_are_bounded() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        for depth in [600, 100_000] {
            let text = open.repeat(depth) + "1" + &close.repeat(depth);
            let error = refused(parse_psd(&text, path()));
            assert!(error.contains("Maximum nesting depth exceeded"), "{error}");
            refused(parse_pose_wrangler(&open.repeat(depth), path()));
        }
        let text = format!("{{\"deep\": {}1{}}}", open.repeat(400), close.repeat(400));
        let _ = parse_psd(&text, path()).map(|d| d.to_json_string().expect("written"));
    }
    let error = refused(parse_psd(&" ".repeat((64 << 20) + 1), path()));
    assert_eq!(
        error,
        "a.json: found 67108865 bytes, expected at most 67108864"
    );
}

#[test]
fn wrangler_refusals_name_the_place() {
    let solver = "hand_l_UERBFSolver";
    let ones = "[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]";
    for (from, to, said) in [
        (
            "1.5, 2.5, -3.5, 1]",
            "1.5, 2.5, -3.5]",
            format!(
                "line 11, column 11, {solver}.poses.default.drivers[1]: found a list of 15, expected a list of 16 numbers"
            ),
        ),
        (
            "\"drivers\": [\"hand_l\", \"thumb_l\"]",
            "\"drivers\": [\"hand_l\"]",
            format!(
                "line 9, column 20, {solver}.poses.default.drivers: found 2 matrices, expected 1, one for each of the solver's 'drivers'"
            ),
        ),
        (
            "\"scale_factor\": 0.75",
            "\"scale_factor\": \"big\"",
            format!(
                "line 19, column 25, {solver}.poses.default.scale_factor: found the text 'big', expected a number"
            ),
        ),
        (
            "\"twistAxis\": 0",
            "\"twistAxis\": 0.5",
            format!("line 40, column 18, {solver}.twistAxis: found '0.5', expected a whole number"),
        ),
        (
            "\"pose_index\": 1,",
            "\"pose_index\": [],",
            format!(
                "line 25, column 82, {solver}.poses.default.blendshape_data[0].pose_index: found a list of 0, expected a whole number"
            ),
        ),
        (
            "\"another\":",
            "\"helper_l\":",
            format!(
                "line 16, column 11, {solver}.poses.default.driven.helper_l: found a second key 'helper_l', expected unique keys"
            ),
        ),
    ] {
        assert_eq!(WRANGLER.matches(from).count(), 1, "{from}");
        let error = refused(parse_pose_wrangler(&WRANGLER.replace(from, to), path()));
        assert_eq!(error, format!("a.json: {said}"));
    }
    let none = format!(
        "{{\"a\": {{\"drivers\": [\"x\"], \"poses\": {{\"p\": {{\"driven\": {{\"x\": {ones}}}}}}}}}}}"
    );
    let error = refused(parse_pose_wrangler(&none, path()));
    assert!(error.contains("a.poses.p: found no 'drivers'"), "{error}");
}
