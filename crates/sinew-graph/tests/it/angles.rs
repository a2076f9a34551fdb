//! Angles of every node in degrees.

use sinew_deform::{NodeDesc, ParameterDesc, ParameterType, ParameterValue, Phase, REGISTRY};
use sinew_graph::{NoNesting, ParameterSource, Plan, compile};
use std::f64::consts::PI;

/// Parameters in radians, with their nodes.
fn angles() -> Vec<(&'static NodeDesc, &'static ParameterDesc)> {
    let of_node = |d: &&'static NodeDesc| {
        let d = *d;
        let of_unit = d.parameters.iter().filter(|p| p.unit == "rad");
        of_unit.map(move |p| (d, p)).collect::<Vec<_>>()
    };
    REGISTRY.iter().flat_map(of_node).collect()
}

/// A document with one node of that kind, all of whose required ports are linked to inputs, and this much more in it.
fn document(desc: &NodeDesc, more: &str) -> String {
    let (mut inputs, mut links) = (String::new(), String::new());
    for port in desc.inputs.iter().filter(|p| p.required) {
        let ty = port.ty.as_str();
        let count = if ty == "values" { ", \"count\": 1" } else { "" };
        inputs += &format!("\"in_{}\": {{\"type\": \"{ty}\"{count}}},", port.name);
        links += &format!(", \"{0}\": \"in_{0}\"", port.name);
    }
    let p = match more.contains('$') {
        true => r#""p": {"type": "float", "default": 0.1, "setup": true}"#,
        false => "",
    };
    format!(
        "{{\"sinew\": \"1.0\", \"inputs\": {{{}}}, \"parameters\": {{{p}}},\n\"nodes\": {{\"it\": {{\"node\": \"{}\"{links}{more}}}}}, \"outputs\": {{\"out\": \"it\"}}}}",
        inputs.trim_end_matches(','),
        desc.name
    )
}

fn plan(desc: &NodeDesc, more: &str) -> Plan {
    let text = document(desc, more);
    compile("g.json", &text, &NoNesting).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn codes(desc: &NodeDesc, more: &str) -> Vec<String> {
    match compile("g.json", &document(desc, more), &NoNesting) {
        Ok(plan) => plan.warnings().iter().map(|d| d.code.to_owned()).collect(),
        Err(d) => d.0.iter().map(|d| d.code.to_owned()).collect(),
    }
}

fn source<'p>(plan: &'p Plan, desc: &NodeDesc, name: &str) -> &'p ParameterSource {
    let index = desc.parameters.iter().position(|p| p.name == name);
    let node = plan.nodes().iter().find(|n| n.name == "it");
    &node.expect("the node").parameters[index.expect("declared")]
}

/// Degrees inside of a range that is given in radians.
fn inside(p: &ParameterDesc) -> [f64; 3] {
    let ParameterType::Float { min, max } = p.ty else {
        panic!("{} is no number", p.name);
    };
    let (min, max) = (min.max(-PI), max.min(PI));
    [0.125, 0.5, 0.875].map(|part| (min + (max - min) * part) * 180.0 / PI)
}

#[test]
fn every_angle_of_the_registry_can_be_given_in_degrees() {
    let all = angles();
    assert!(all.len() >= 10, "{}", all.len());
    for (desc, p) in all {
        for degrees in inside(p) {
            let plan = plan(desc, &format!(", \"{}_degrees\": {degrees}", p.name));
            let expected = degrees * PI / 180.0;
            let ParameterSource::Constant(ParameterValue::Float(found)) =
                source(&plan, desc, p.name)
            else {
                panic!("{} {}", desc.name, p.name);
            };
            assert!(
                (found - expected).abs() < 1e-14,
                "{} {}: {found}, expected {expected}",
                desc.name,
                p.name
            );
        }
        let [a, b, _] = inside(p);
        let name = p.name;
        let both = format!(", \"{name}\": 0.1, \"{name}_degrees\": {a}");
        assert_eq!(codes(desc, &both), ["angle_twice"], "{} {name}", desc.name);
        let reference = format!(", \"{name}_degrees\": \"$p\"");
        assert!(
            codes(desc, &reference).contains(&"wrong_type".to_owned()),
            "{name}"
        );
        let keyed = format!(", \"{name}_degrees\": {{\"keys\": [[0, {a}], [1, {b}]]}}");
        if p.phase == Phase::Setup {
            assert_eq!(codes(desc, &keyed), ["keyed_setup"], "{} {name}", desc.name);
            continue;
        }
        let plan = plan(desc, &keyed);
        let ParameterSource::Keyed(keyed) = source(&plan, desc, name) else {
            panic!("{} {name}", desc.name);
        };
        for (found, degrees) in keyed.values.iter().zip([a, b]) {
            let ParameterValue::Float(found) = found else {
                panic!("{} {name}", desc.name);
            };
            assert!((found - degrees * PI / 180.0).abs() < 1e-14);
        }
    }
}

/// Whole ranges, the ends included: rounding between units leaves none.
#[test]
fn ends_of_ranges_are_inside() {
    for (desc, p) in angles() {
        let ParameterType::Float { min, max } = p.ty else {
            continue;
        };
        for end in [min, max] {
            let degrees = end.to_degrees();
            plan(desc, &format!(", \"{}_degrees\": {degrees}", p.name));
        }
    }
}

#[test]
fn angles_of_more_than_two_turns_in_radians_are_a_warning() {
    for (desc, p) in angles() {
        let ParameterType::Float { min, max } = p.ty else {
            continue;
        };
        for (value, expected) in [
            (12.56, &[][..]),
            (12.57, &["large_angle"]),
            (90.0, &["large_angle"]),
        ] {
            for value in [value, -value] {
                if (min..=max).contains(&value) {
                    let found = codes(desc, &format!(", \"{}\": {value}", p.name));
                    assert_eq!(found, expected, "{} {} {value}", desc.name, p.name);
                }
            }
        }
        // In degrees it is an angle like others.
        if max > 12.57 {
            let found = codes(desc, &format!(", \"{}_degrees\": 720.5", p.name));
            assert_eq!(found, [""; 0], "{} {}", desc.name, p.name);
        }
    }
}

/// No name is in the way, all angles are single numbers of the node itself, and the schema has each key.
#[test]
fn names_in_degrees_are_free_and_in_the_schema() {
    let schema = sinew_graph::schema();
    for desc in REGISTRY {
        for p in desc.parameters {
            assert!(!p.name.ends_with("_degrees"), "{} {}", desc.name, p.name);
            if let ParameterType::Records(fields) = p.ty {
                let angle = fields.iter().find(|f| f.unit == "rad");
                assert_eq!(angle, None, "{}: {}", desc.name, p.name);
            }
            let key = format!("{}_degrees", p.name);
            let property = &schema["$defs"][format!("node_{}", desc.name)]["properties"][&key];
            assert_eq!(property.is_object(), p.unit == "rad", "{} {key}", desc.name);
            assert_eq!(p.is_angle(), p.unit == "rad", "{} {key}", desc.name);
        }
    }
}

/// Where a number of degrees is out of range in radians, the error tells the key for degrees.
#[test]
fn degrees_in_place_of_radians_are_told_the_other_key() {
    let mut tried = 0;
    for (desc, p) in angles() {
        let ParameterType::Float { max, .. } = p.ty else {
            continue;
        };
        let degrees = 0.75 * max.min(PI) * 180.0 / PI;
        if degrees <= max {
            continue;
        }
        let text = document(desc, &format!(", \"{}\": {degrees}", p.name));
        let found = compile("g.json", &text, &NoNesting).expect_err("out of range");
        let key = format!("'{}_degrees'", p.name);
        let tells =
            |d: &sinew_graph::Diagnostic| d.code == "out_of_range" && d.to_string().contains(&key);
        assert!(found.0.iter().any(tells), "{}: {found}", p.name);
        tried += 1;
    }
    assert!(tried > 0);
}
