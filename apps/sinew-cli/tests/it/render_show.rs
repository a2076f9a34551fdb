//! `sinew render --show`: what is inside a graph looks as if the graph put it out.

use crate::common::{Place, said};
use crate::render::render;

/// A square that a lattice shears, with a mask; `more` are outputs.
fn graph(more: &str) -> String {
    format!(
        r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}}},
 "nodes": {{
  "left": {{"node": "mask", "mesh": "body", "source": "sphere", "transform": {{"scale": [0.5, 0.5, 0.5]}}, "falloff": 0.5}},
  "cage": {{"node": "lattice", "mesh": "body", "mask": "left", "size": [3, 3, 1], "resolution": [2, 2, 2], "points_are": "offsets",
   "points": [[0, 0, 0], [0, 0, 0], [0.3, 0, 0], [0.3, 0, 0], [0, 0, 0], [0, 0, 0], [0.3, 0, 0], [0.3, 0, 0]]}},
  "rod": {{"node": "solids", "capsules": [{{"from": [0.2, 0.2, 0.2], "to": [0.8, 0.8, 0.2], "radius": 0.1}}]}}}},
 "outputs": {{"body": "cage", "rod": "rod"{more}}}}}"#
    )
}

#[test]
fn parts_look_as_if_they_were_outputs() {
    let p = Place::new();
    p.put("plain.json", &graph(""));
    p.put("cage.json", &graph(r#", "lines": "cage.cage""#));
    p.put("mask.json", &graph(r#", "shown mask": "left""#));
    let draw = |graph: &str, more: &[&str]| {
        let all = ["square.obj", "-g", graph, "--size", "96x96", "-o", "o.png"];
        let out = render(&p, &[&all[..], more].concat())?;
        assert_eq!(out.status.code(), Some(0), "{more:?}: {}", said(&out));
        Some(std::fs::read(p.path("o.png")).expect("drawn"))
    };
    let Some(plain) = draw("plain.json", &[]) else {
        return;
    };
    let lattice = draw("plain.json", &["--show", "lattice"]);
    assert_eq!(lattice, draw("cage.json", &[]));
    assert_ne!(lattice.as_ref(), Some(&plain));
    assert_eq!(draw("plain.json", &["--show", "lattice=cage"]), lattice);
    let mask = draw("plain.json", &["--show", "mask"]);
    assert_eq!(mask, draw("mask.json", &["--look", "output:shown mask"]));
    let field = draw("plain.json", &["--show", "field"]);
    assert!(field.is_some_and(|f| f != plain), "the capsule is drawn");
    for (more, expected) in [
        (&["--show", "cage"][..], "expected lattice, mask or field"),
        (
            &["--show", "lattice=left"],
            "no lattice 'left'; known: cage",
        ),
        (
            &["--show", "mask", "--look", "clay"],
            "leave out one of them",
        ),
        (&["--show", "mask,mask"], "select one"),
    ] {
        let all = ["square.obj", "-g", "plain.json", "-o", "n.png"];
        let out = render(&p, &[&all[..], more].concat()).expect("an adapter");
        assert_eq!(out.status.code(), Some(2), "{more:?}: {}", said(&out));
        assert!(said(&out).contains(expected), "{more:?}: {}", said(&out));
        assert!(!p.path("n.png").exists());
    }
}
