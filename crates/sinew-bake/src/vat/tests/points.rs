//! Bakes with one texel a unique point.

use super::*;
use sinew_vat::manifest::VERSION_WITH_LOOKUP;

fn unique(order: TriangleOrder) -> VatSettings {
    VatSettings {
        points: Points::Unique,
        order,
        ..VatSettings::default()
    }
}

#[test]
fn every_order_format_and_layout_shows_every_triangle() {
    let source = swarm();
    let summary = assert_true(&source, &unique(TriangleOrder::File));
    let points = summary.plan.points().expect("of points");
    // Six tetrahedra in the fullest frame, three normals at each of four corners; none in the last one, but a point for absent slots
    // in each frame but the fullest.
    let all: u64 = [1, 2, 3, 4, 5, 6, 2, 1, 0].iter().map(|t| 12 * t + 1).sum();
    assert_eq!((points.layout.vertices, points.all), (72, all - 1));
    assert_eq!(summary.plan.triangles, 24);
    let summary = assert_true(&source, &unique(TriangleOrder::Match));
    assert!(
        summary
            .plan
            .points()
            .is_some_and(|p| p.layout.vertices >= 72)
    );
    for format in [
        TexelFormat::Float,
        TexelFormat::Half,
        TexelFormat::TwoUnorm8,
    ] {
        let textures = with_textures(&[
            (Quantity::Position, format),
            (Quantity::Normal, TexelFormat::Unorm8),
            (Quantity::Color(0), TexelFormat::Unorm16),
        ]);
        for side in [64, 4096] {
            let settings = VatSettings {
                largest_side: side,
                powers_of_two: side == 64,
                textures: textures.textures.clone(),
                ..unique(TriangleOrder::File)
            };
            assert_true(&source, &settings);
            let (folders, _) = baked(&source, &settings);
            let found = folders.verified(&source, &settings);
            assert_eq!(found.quantities[0].beyond, 0, "colours: {found:?}");
        }
    }
    let unreal = VatSettings {
        space: Space::ZUpLeftHandedCentimeters,
        ..unique(TriangleOrder::Match)
    };
    assert_true(&source, &unreal);
}

#[test]
fn the_manifest_says_it_and_smooth_surfaces_get_smaller() {
    let source = flag();
    let settings = VatSettings {
        mode: Some(Mode::Remesh),
        ..unique(TriangleOrder::Match)
    };
    let (folders, summary) = baked(&source, &settings);
    let manifest = folders.manifest();
    assert_eq!(manifest.version, VERSION_WITH_LOOKUP);
    assert!(manifest.can_blend && !manifest.has_ends);
    let lookup = manifest.lookup.expect("there");
    assert_eq!(lookup.file, "flag_lookup.png");
    assert!(content(&folders.out()).contains_key(&lookup.file));
    // 30 vertices of a smooth sheet, all of its 40 triangles in each frame.
    let points = summary.plan.points().expect("of points");
    assert_eq!((points.layout.vertices, points.all), (30, 7 * 30));
    assert_eq!(lookup.points.vertices, 30);
    // 120 corners of 3 bytes and 30 points of 9 in place of 120 corners of 9.
    assert_eq!(summary.plan.corner_bytes(), 7 * 120 * 9);
    assert_eq!(summary.texture_bytes, 7 * (120 * 3 + 30 * 9));
    let page = folders.report();
    assert!(page.contains("flag_lookup.png") && page.contains("30 in a frame at most"));
    // By itself the sequence is soft, which has a texel for each vertex anyhow.
    let (_, soft) = baked(&source, &unique(TriangleOrder::Match));
    assert_eq!((soft.plan.mode(), soft.plan.points()), (Mode::Soft, None));
}

#[test]
fn settings_that_do_not_go_together_are_named() {
    let refused = |settings: VatSettings| settings.check().expect_err("refused").to_string();
    let text = refused(VatSettings {
        mode: Some(Mode::Soft),
        ..unique(TriangleOrder::File)
    });
    assert!(text.contains("mode is soft with unique points"), "{text}");
    let text = refused(VatSettings {
        points: Points::Unique,
        ..like_openvat(false)
    });
    assert!(text.contains("points is unique"), "{text}");
    assert!(!unique(TriangleOrder::Match).has_ends());
    assert!(VatSettings::default().has_ends());
}

#[test]
fn damaged_lookups_are_errors() {
    use sinew_io::TextureWriter;
    use sinew_io::texture::{TextureChannels, TextureFormat};
    let (folders, _) = baked(&swarm(), &unique(TriangleOrder::File));
    let (path, manifest) = read_manifest(&folders.out()).expect("reads");
    let path = path.with_file_name(&manifest.lookup.as_ref().expect("there").file);
    let [width, height] = manifest.layout.size.map(|s| s as usize);
    let write = |width: usize, height: usize, code: u8| {
        let (format, channels) = (TextureFormat::Png8, TextureChannels::Rgb);
        let out = TextureWriter::create(&path, format, width, height, channels);
        let mut out = out.expect("creates");
        for _ in 0..height {
            out.write_row(&vec![code; width * 3][..]).expect("writes");
        }
        out.finish().expect("finishes");
    };
    let refused = || {
        read_animation(&folders.out())
            .expect_err("refused")
            .to_string()
    };
    write(width, height, 255);
    let (text, part) = (
        refused(),
        "vertex 0 of frame 0 shows point 16777215, there are 72",
    );
    assert!(text.contains(part), "{text}");
    write(width, height + 1, 0);
    assert!(refused().contains("as the manifest says"));
    write(width, height, 0);
    assert!(read_animation(&folders.out()).is_ok(), "all in one point");
    // Which verification finds out.
    let settings = unique(TriangleOrder::File);
    let found = folders.verified(&swarm(), &settings);
    assert!(found.lost > 0, "{found:?}");
}
