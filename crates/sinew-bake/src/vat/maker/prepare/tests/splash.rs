//! A real splash of liquid, where its files are at hand.

use super::super::hidden::HiddenSettings;
use super::super::simplify::{Method, SimplifySettings};
use super::super::testing::{farthest, read_ply};
use super::{PrepareSettings, run};
use std::path::Path;

const FRAMES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../shared/data/sequences/liquid_splash"
);

#[test]
fn a_splash_is_simplified_frame_by_frame() {
    if !Path::new(FRAMES).is_dir() {
        println!("skipped: no splash at hand");
        return;
    }
    for frame in [1, 30, 60] {
        let path = format!("{FRAMES}/liquid_splash_{frame:04}.ply");
        let mesh = read_ply(&std::fs::read(path).expect("a frame"));
        let settings = PrepareSettings {
            hidden: Some(HiddenSettings {
                resolution: 256,
                ..HiddenSettings::default()
            }),
            simplify: Some(SimplifySettings {
                target_faces: 1130,

                ..SimplifySettings::default()
            }),
            ..PrepareSettings::default()
        };
        let (out, report) = run(&mesh, &settings);
        let hidden = report.hidden.clone().expect("asked for");
        let simplify = report.simplify.clone().expect("asked for");
        let error = farthest(&out, &mesh, 120) / f64::from(mesh.diagonal());
        println!(
            "frame {frame}: {hidden:?}\n  {simplify:?}\n  measured {error:.5} of the diagonal"
        );
        assert!(
            report.faces_after <= 1130 && report.faces_after >= 1118,
            "{report:?}"
        );
        assert!(
            simplify.runs <= 3 && simplify.method <= Method::Permissive,
            "{simplify:?}"
        );
        assert!(error < 0.008, "{error}");
    }
}
