//! Each step against closed forms, brute force and its promises; then all of them on degenerate meshes.

mod hidden;
mod pieces;
mod relax;
mod simplify;
mod soup;
mod splash;
mod touching;

use super::{
    HiddenSettings, PrepareError, PrepareReport, PrepareSettings, RelaxSettings, SimplifySettings,
    TouchingSettings, prepare,
};
use sinew_geom::Mesh;

fn run(mesh: &Mesh, settings: &PrepareSettings) -> (Mesh, PrepareReport) {
    let (out, report) = prepare(mesh, settings).expect("settings make sense");
    out.check().expect("the mesh holds together");
    (out, report)
}

#[test]
fn without_steps_nothing_changes() {
    let mesh = super::testing::cube(2);
    let (out, report) = run(&mesh, &PrepareSettings::default());
    assert_eq!(out.positions, mesh.positions);
    assert_eq!(out.topology, mesh.topology);
    assert_eq!((report.faces_before, report.faces_after), (48, 48));
}

#[test]
fn settings_that_make_no_sense_are_named() {
    let say = |settings: PrepareSettings| settings.check().expect_err("refused").to_string();
    let simplify = SimplifySettings {
        target_faces: 0,
        ..Default::default()
    };
    let settings = PrepareSettings {
        simplify: Some(simplify),
        ..Default::default()
    };
    assert_eq!(
        say(settings),
        "simplify.target_faces is 0, expected at least 1"
    );
    let relax = RelaxSettings {
        strength: 0.8,
        ..Default::default()
    };
    let settings = PrepareSettings {
        relax_after: Some(relax),
        ..Default::default()
    };
    assert!(say(settings).starts_with("relax.strength is 0.8"), "named");
    let hidden = HiddenSettings {
        resolution: 1,
        ..Default::default()
    };
    let settings = PrepareSettings {
        hidden: Some(hidden),
        ..Default::default()
    };
    assert_eq!(say(settings), "hidden.resolution is 1, expected 8 to 4096");
    let touching = TouchingSettings {
        distance: f32::NAN,
        ..Default::default()
    };
    let settings = PrepareSettings {
        touching: Some(touching),
        ..Default::default()
    };
    assert!(
        say(settings).starts_with("touching.distance is NaN"),
        "named"
    );
}

#[test]
fn meshes_that_do_not_hold_together_are_refused() {
    let mut mesh = super::testing::cube(1);
    mesh.normals = Some(vec![[0.0, 1.0, 0.0]]);
    let error = prepare(&mesh, &PrepareSettings::default()).expect_err("one normal");
    assert!(matches!(error, PrepareError::Mesh(_)), "{error}");
}
