//! Takes, layers, curves.

use super::file::{File, property};
use super::*;
use sinew_geom::Interpolation;

fn x_of(asset: &Asset, clip: &Clip, time: f64) -> f64 {
    placed(asset, Some(clip), time, "a").translation.x
}

#[test]
fn takes_keep_their_times_and_are_cut_to_their_range() {
    let mut file = File::new();
    let node = file.node("a", "Null", 0, Vec::new());
    let walk = file.take("a|walk", Some((1.0, 3.0)));
    file.curves(
        walk,
        node,
        "Lcl Translation",
        4,
        &[("d|X", &[(0.0, 0.0), (4.0, 8.0)])],
    );
    let run = file.take("a|run", Some((0.0, 0.5)));
    file.curves(
        run,
        node,
        "Lcl Translation",
        4,
        &[("d|X", &[(0.0, 5.0), (0.5, 6.0)])],
    );
    file.take("idle", Some((0.0, 2.0)));
    let asset = read(&file).asset;
    let names: Vec<_> = asset.clips.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["walk", "run", "idle"]);
    let [walk, run, idle] = &asset.clips[..] else {
        panic!("three")
    };
    assert_eq!(
        (walk.range(), run.range(), idle.range()),
        ((1.0, 3.0), (0.0, 0.5), (0.0, 2.0))
    );
    for (time, x) in [(0.0, 2.0), (1.0, 2.0), (2.0, 4.0), (3.0, 6.0), (4.0, 6.0)] {
        assert!((x_of(&asset, walk, time) - x).abs() < 1e-6, "{time}");
    }
    assert!((x_of(&asset, run, 0.25) - 5.5).abs() < 1e-6);
    assert!(x_of(&asset, idle, 1.0).abs() < 1e-6);
}

#[test]
fn names_that_would_be_equal_keep_their_prefix() {
    let mut file = File::new();
    for node in ["a", "b"] {
        file.node(node, "Null", 0, Vec::new());
        file.take(&format!("{node}|walk"), Some((0.0, 1.0)));
    }
    let asset = read(&file).asset;
    let names: Vec<_> = asset.clips.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["a|walk", "b|walk"]);
}

#[test]
fn linear_curves_keep_their_keys_and_constant_ones_are_steps() {
    let keys = [(0.0, 1.0), (0.7, 3.0), (2.0, -1.0)];
    for (flags, interpolation) in [(4, Interpolation::Linear), (2, Interpolation::Step)] {
        let mut file = File::new();
        let node = file.node("a", "Null", 0, Vec::new());
        let layer = file.take("take", Some((0.0, 2.0)));
        file.curves(layer, node, "Lcl Translation", flags, &[("d|X", &keys)]);
        let asset = read(&file).asset;
        let [channel] = asset.clips[0].channels() else {
            panic!("one channel")
        };
        assert_eq!(channel.interpolation(), interpolation);
        assert_eq!(channel.times(), [0.0, 0.7, 2.0]);
        let xs: Vec<f32> = channel.values().iter().step_by(3).copied().collect();
        assert_eq!(xs, [1.0, 3.0, -1.0]);
    }
}

/// Flat tangents with weights of a third: `3 s^2 - 2 s^3`.
#[test]
fn cubic_curves_are_sampled_closely() {
    let mut file = File::new();
    let node = file.node("a", "Null", 0, Vec::new());
    let layer = file.take("take", Some((0.0, 1.0)));
    let user_tangents = 0x8 | 0x400;
    file.curves(
        layer,
        node,
        "Lcl Translation",
        user_tangents,
        &[("d|X", &[(0.0, 0.0), (1.0, 10.0)])],
    );
    let asset = read(&file).asset;
    for k in 0..=100 {
        let s = f64::from(k) / 100.0;
        let expected = 10.0 * (3.0 * s * s - 2.0 * s * s * s);
        let found = x_of(&asset, &asset.clips[0], s);
        assert!(
            (found - expected).abs() < 5e-3,
            "{s}: {found}, expected {expected}"
        );
    }
}

/// `FbxAnimLayer::EBlendMode` of the SDK: additive layers add their weighted values, override layers replace those before,
/// and override-passthrough layers mix by their weight.
#[test]
fn layers_add_or_mix_by_their_weight() {
    for (mode, expected) in [
        (0.0, 2.0 + 0.25 * 8.0),
        (1.0, 8.0),
        (2.0, 0.75 * 2.0 + 0.25 * 8.0),
    ] {
        let mut file = File::new();
        let node = file.node("a", "Null", 0, Vec::new());
        let base = file.take("take", Some((0.0, 1.0)));
        file.curves(
            base,
            node,
            "Lcl Translation",
            4,
            &[("d|X", &[(0.0, 1.0), (1.0, 3.0)])],
        );
        let stack = file.connections.iter().find_map(|c| match c.values[..] {
            [_, file::Value::Whole(child), file::Value::Whole(stack)] if child == base => {
                Some(stack)
            }
            _ => None,
        });
        let second = file.layer(
            stack.expect("connected"),
            vec![
                property("Weight", "Number", &[25.0]),
                property("BlendMode", "enum", &[mode]),
            ],
        );
        file.curves(
            second,
            node,
            "Lcl Translation",
            4,
            &[("d|X", &[(0.0, 6.0), (1.0, 10.0)])],
        );
        let asset = read(&file).asset;
        let found = x_of(&asset, &asset.clips[0], 0.5);
        assert!(
            (found - expected).abs() < 1e-5,
            "mode {mode}: {found}, expected {expected}"
        );
    }
}
