//! Players of bakes with a lookup.

use super::*;
use crate::manifest::{Lookup, VERSION_WITH_LOOKUP};

/// Every combination of what their templates ask.
fn shapes_with_lookup() -> Vec<Manifest> {
    use TexelFormat::{Float, TwoUnorm8, Unorm8, Unorm16};
    let points = [
        Layout::rows(17, 5, 64),
        Layout::blocks(17, 5, [4, 5], 3, 64),
        Layout::rows(12, 5, 64),
    ]
    .map(|l| l.expect("fits"));
    let mut out = Vec::new();
    for (layout, points) in layouts().into_iter().zip(points) {
        for place in [Unorm16, TwoUnorm8, Float] {
            for normal in [None, Some(Unorm8), Some(TwoUnorm8)] {
                for can_blend in [false, true] {
                    let normals = normal.map(|f| texture(Quantity::Normal, f));
                    out.push(Manifest {
                        version: VERSION_WITH_LOOKUP,
                        can_blend,
                        lookup: Some(Lookup {
                            file: "shape_lookup.png".into(),
                            points,
                        }),
                        ..shape(layout, texture(Quantity::Position, place), normals)
                    });
                }
            }
        }
    }
    out
}

#[test]
fn everything_is_filled_in_and_the_lookup_is_named() {
    for manifest in shapes_with_lookup() {
        assert_eq!(manifest.check(), Ok(()));
        for PlayerFile { name, text } in players(&manifest) {
            assert!(!text.contains("{{"), "{name}: {text}");
            assert!(text.is_ascii(), "{name} has letters that some tools mangle");
            if !name.ends_with(".html") {
                assert!(text.contains("shape_lookup.png"), "{name}");
            }
        }
    }
}

#[test]
fn wgsl_with_a_lookup_is_valid_and_binds_it() {
    for manifest in shapes_with_lookup() {
        assert_wgsl_is_valid(&manifest);
    }
}

#[test]
fn manifests_say_what_is_wrong_with_a_lookup() {
    let good = shapes_with_lookup().swap_remove(0);
    let wrong = |change: &dyn Fn(&mut Manifest), part: &str| {
        let mut manifest = good.clone();
        change(&mut manifest);
        let text = manifest.check().expect_err(part).to_string();
        assert!(text.contains(part), "{text} has no {part}");
    };
    wrong(&|m| m.version = 1, "`version` is 1, expected 2");
    wrong(&|m| m.lookup = None, "`version` is 2, expected 1");
    wrong(&|m| m.mode = Mode::Soft, "only mode remesh");
    wrong(
        &|m| m.textures[0].spec.quantity = Quantity::Offset,
        "not offsets",
    );
    let change = |change: fn(&mut Lookup)| {
        move |m: &mut Manifest| {
            if let Some(lookup) = &mut m.lookup {
                change(lookup);
            }
        }
    };
    wrong(&change(|l| l.points.frames = 4), "another number of frames");
    wrong(&change(|l| l.points.size = [3, 3]), "`layout`: vertex 16");
    wrong(&change(|l| l.file = "../x.png".into()), "../x.png");
}
