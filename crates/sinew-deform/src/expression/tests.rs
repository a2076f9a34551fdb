use super::functions::FUNCTIONS;
use super::parse::{ExpressionError, Scope, parse};

fn scope() -> Scope {
    let names = ["v", "t"].map(String::from);
    Scope::new(&names, &[Some(3), None, Some(1), Some(2)]).expect("names")
}

/// With v = (2, -3, 6), t = 0.25, c = (10, 20) and the time 1.5.
fn value(text: &str) -> f64 {
    let program =
        parse(text, &scope()).unwrap_or_else(|e| panic!("{:?}", e.in_expression(0, text)));
    let mut stack = Vec::with_capacity(program.stack_size());
    let room = stack.capacity();
    let out = program.run(&[2.0, -3.0, 6.0, 0.25, 10.0, 20.0, 1.5], &mut stack);
    assert_eq!(stack.capacity(), room, "{text}: the stack grew");
    out
}

#[test]
fn arithmetic_is_that_of_school() {
    for (text, expected) in [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("2 - 3 - 4", -5.0),
        ("16 / 4 / 2", 2.0),
        ("-2^2", -4.0),
        ("2^3^2", 512.0),
        ("2^-1", 0.5),
        ("2*-3", -6.0),
        ("--3", 3.0),
        ("-7 % 3", 2.0),
        ("7 % -3", -2.0),
        (".5 + 1. + 2e-1 + 1E+1", 11.7),
        ("1 < 2 && 2 <= 2 && 3 > 2 && 2 >= 2", 1.0),
        ("1 == 1.0 && 1 != 2 && !(1 > 2)", 1.0),
        ("0 || 0", 0.0),
        ("1 + 1 == 2", 1.0),
        ("!0 + 1", 2.0),
        ("v[0] - v[2] * t", 0.5),
        ("c[1] / c[0] + time", 3.5),
        ("pi - tau / 2", 0.0),
    ] {
        assert!(
            (value(text) - expected).abs() < 1e-12,
            "{text} is {}",
            value(text)
        );
    }
}

#[test]
fn functions_are_those_of_their_names() {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_6, PI, SQRT_2};
    let table: [(&str, f64); 31] = [
        ("abs(-3)", 3.0),
        ("sign(-3) + sign(0) + 5 * sign(2)", 4.0),
        ("floor(-1.5)", -2.0),
        ("ceil(-1.5)", -1.0),
        ("round(2.5) + round(-0.6)", 1.0),
        ("fract(-0.25)", 0.75),
        ("sqrt(2)", SQRT_2),
        ("exp(1)", std::f64::consts::E),
        ("log(exp(3))", 3.0),
        ("sin(pi / 6)", 0.5),
        ("cos(pi)", -1.0),
        ("tan(pi / 4)", 1.0),
        ("asin(1)", FRAC_PI_2),
        ("acos(-1)", PI),
        ("atan(1) * 4", PI),
        ("degrees(pi)", 180.0),
        ("radians(30)", FRAC_PI_6),
        ("atan2(1, -1)", 0.75 * PI),
        ("pow(2, 10)", 1024.0),
        ("step(1, 1) + step(1, 0.9)", 1.0),
        ("clamp(5, 0, 2) + clamp(-5, 0, 2)", 2.0),
        ("mix(2, 10, 0.25)", 4.0),
        ("smoothstep(1, 3, 2)", 0.5),
        ("smoothstep(0, 1, -4)", 0.0),
        ("if(2 > 1, 3, 1 / 0)", 3.0),
        ("min(v)", -3.0),
        ("max(v, 7, c)", 20.0),
        ("sum(v)", 5.0),
        ("mean(c)", 15.0),
        // 2, 3, 6 and 7: a well known pair of lengths.
        ("length(v)", 7.0),
        ("length(v[0] + 1, 4)", 5.0),
    ];
    for (text, expected) in table {
        assert!(
            (value(text) - expected).abs() < 1e-12,
            "{text} is {}",
            value(text)
        );
    }
    for (name, _) in FUNCTIONS {
        let called = format!("{name}(");
        assert!(
            table.iter().any(|(text, _)| text.contains(&called)),
            "{name} has no test"
        );
    }
}

#[test]
fn wrong_texts_are_located() {
    for (text, character, message) in [
        (
            "",
            1,
            "found the end, expected a number, a name, a function or '('",
        ),
        (
            "1 +",
            4,
            "found the end, expected a number, a name, a function or '('",
        ),
        ("1 2", 3, "found '2', expected an operator or the end"),
        ("(1 + 2", 7, "found the end, expected an operator or ')'"),
        (
            "2 * speed",
            5,
            "there is no 'speed'; known: v, t, c, time, pi, tau",
        ),
        (
            "1 + v",
            5,
            "'v' has 3 numbers, expected v[0] for the first, or a function such as length(v)",
        ),
        (
            "v[3]",
            3,
            "'v' has 3 numbers, but this is number 3, counted from 0",
        ),
        ("v[x]", 3, "found 'x', expected a whole number"),
        ("v[0", 4, "found the end, expected an operator or ']'"),
        (
            "ä",
            1,
            "found 'ä', expected a number, a name, a function or '('",
        ),
        (
            "t * ä",
            5,
            "found 'ä', expected a number, a name, a function or '('",
        ),
        (
            "sine(1)",
            1,
            "there is no function 'sine'; did you mean 'sin'?",
        ),
        ("sin", 1, "'sin' is a function, expected '(' after it"),
        ("clamp(1, 2)", 1, "'clamp' has 2 arguments, expected 3"),
        (
            "min()",
            1,
            "'min' has 0 arguments, expected one or more, which have numbers",
        ),
        (
            "min(1,)",
            7,
            "found ')', expected a number, a name, a function or '('",
        ),
        ("min(1 2)", 7, "found '2', expected an operator, ',' or ')'"),
        ("1e999", 1, "found '1', expected a number"),
        (".", 1, "found '.', expected a number"),
        ("2 = 1", 3, "found '=', expected an operator or the end"),
    ] {
        let fault = parse(text, &scope())
            .expect_err(text)
            .in_expression(4, text);
        let expected = ExpressionError::Text {
            index: 4,
            text: text.into(),
            character,
            message: message.into(),
        };
        assert_eq!(fault, expected, "{text}");
    }
    for deep in [
        "(".repeat(100_000),
        "-".repeat(100_000),
        "2^".repeat(100_000),
        "!".repeat(5000),
    ] {
        let fault = parse(&deep, &scope()).expect_err("too deep");
        let told = fault.in_expression(0, &deep).to_string();
        assert!(
            told.contains("at most 100 levels"),
            "{}",
            &told[told.len() - 99..]
        );
    }
}

#[test]
fn wrong_names_are_named() {
    let counts = [Some(1), Some(2)];
    for (names, index, message) in [
        (
            vec!["a", "b", "c"],
            2,
            "there are 2 links, expected at most as many names",
        ),
        (
            vec!["1st"],
            0,
            "expected letters, digits and _, and no digit first",
        ),
        (
            vec![""],
            0,
            "expected letters, digits and _, and no digit first",
        ),
        (
            vec!["x-y"],
            0,
            "expected letters, digits and _, and no digit first",
        ),
        (
            vec!["ok", "time"],
            1,
            "this is a name of the language, expected another one",
        ),
        (
            vec!["min"],
            0,
            "this is a name of the language, expected another one",
        ),
        (vec!["b", "b"], 0, "expected a name that no other link has"),
    ] {
        let names: Vec<String> = names.into_iter().map(String::from).collect();
        let found = Scope::new(&names, &counts).expect_err("wrong");
        let name = names[index].clone();
        let message = message.into();
        assert_eq!(
            found,
            ExpressionError::Name {
                index,
                name,
                message
            }
        );
    }
    // A name that is also the letter of a later link without one.
    let found = Scope::new(&["b".into()], &counts).expect_err("twice");
    assert!(
        found
            .to_string()
            .contains("expected a name that no other link has"),
        "{found}"
    );
}

/// Any text gives a program or an error.
#[test]
fn odd_texts_do_not_panic() {
    let pieces = [
        "v", "[", "]", "0", "(", ")", ",", "min", "+", "-", "^", "!", "=", "<", " ", ".", "e", "é",
        "&&", "t",
    ];
    let mut state = 1_u64;
    for _ in 0..200_000 {
        let mut text = String::new();
        for _ in 0..(state % 9) {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text += pieces[(state >> 33) as usize % pieces.len()];
        }
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        match parse(&text, &scope()) {
            Ok(_) => {
                value(&text);
            }
            Err(fault) => assert!(!fault.in_expression(0, &text).to_string().is_empty()),
        }
    }
}
