//! Where blends go, as `verify` sees it: bakes as they are, and with texels that were changed on disk.

use super::*;
use sinew_io::texture::{TexelRow, TextureChannels, TextureFormat, TextureWriter};
use sinew_io::{Texels, read_texture};
use sinew_vat::layout::Layout;
use sinew_vat::playback::AtEnd;

/// How far the sheet rises from one frame to the next, metres.
const RISE: f32 = 0.2;

/// A flat sheet, cut into other triangles in each frame, that rises.
fn sheet() -> MeshFrames {
    let frames = (0..5_u32).map(|f| {
        let columns = 3 + f;
        let at = |v: u32| {
            let (x, z) = (v % (columns + 1), v / (columns + 1));
            [x as f32 / columns as f32, RISE * f as f32, 0.5 * z as f32]
        };
        let quads = (0..2).flat_map(|z| (0..columns).map(move |x| z * (columns + 1) + x));
        let below = columns + 1;
        let triangles =
            quads.flat_map(|v| [[v, v + below, v + 1], [v + 1, v + below, v + below + 1]]);
        let count = 3 * (columns + 1);
        mesh_from("sheet", (0..count).map(at).collect(), triangles.collect())
    });
    MeshFrames::new("sheet", frames.collect())
}

/// Changes the codes of a file, three to a texel; `change` is given them and the width.
fn change(path: &Path, change: impl FnOnce(&mut dyn FnMut(usize, usize))) {
    let picture = read_texture(path).expect("a texture");
    assert_eq!(picture.channels.len(), 3);
    let (width, height) = (picture.width, picture.height);
    let mut codes = match picture.texels {
        Texels::Codes8(codes) => codes.into_iter().map(u16::from).collect(),
        Texels::Codes16(codes) => codes,
        Texels::Floats(_) => panic!("PNG has codes"),
    };
    let is_16_bit = path.to_string_lossy().contains("_position");
    let format = if is_16_bit {
        TextureFormat::Png16
    } else {
        TextureFormat::Png8
    };
    change(&mut |a, b| codes.swap(a, b));
    let mut out =
        TextureWriter::create(path, format, width, height, TextureChannels::Rgb).expect("made");
    for row in codes.chunks(3 * width) {
        let narrow: Vec<u8> = row.iter().map(|c| *c as u8).collect();
        let row: TexelRow<'_> = if is_16_bit {
            row.into()
        } else {
            narrow[..].into()
        };
        out.write_row(row).expect("written");
    }
    out.finish().expect("written");
}

/// Index of the first code of a vertex.
fn code_at(layout: &Layout, vertex: u32, frame: u32) -> usize {
    let [x, y] = layout.texel(vertex, frame);
    3 * (y as usize * layout.size[0] as usize + x as usize)
}

/// Nothing but ends is wrong, in this frame first.
fn assert_only_ends_differ(found: &Verified, first: i64) {
    assert_eq!(
        (found.lost, found.invented, found.first_wrong),
        (0, 0, None)
    );
    let ends = found.ends.as_ref().expect("frames are blended");
    assert_eq!(ends.first_wrong, Some(first), "{ends:?}");
    assert!(!found.is_same(f64::INFINITY), "{ends:?}");
}

fn assert_ends_fit(found: &Verified) -> &EndErrors {
    let ends = found.ends.as_ref().expect("frames are blended");
    let wrong = (ends.beyond, ends.parting, ends.first_wrong);
    assert_eq!(wrong, (0, 0, None), "{ends:?}");
    assert!(
        ends.errors.samples() > 0 && ends.errors.largest <= ends.allowed,
        "{ends:?}"
    );
    ends
}

/// The heights of a vertex in two ends change places, which are those of frames one rise apart.
#[test]
fn ends_that_leave_the_next_surface_are_found_out() {
    let (source, settings) = (sheet(), VatSettings::default());
    // Ends of frames 1 and 2, which others follow; of frame 2 and of the last frame, whose end it is itself.
    for (first, of, other) in [(1, 3, 5), (2, 5, 9)] {
        let (folders, _) = baked(&source, &settings);
        let found = folders.verified(&source, &settings);
        let ends = assert_ends_fit(&found);
        // All land: the sheet is as large in all frames.
        assert!(ends.closed && ends.elsewhere == 0, "{ends:?}");
        let layout = folders.manifest().layout;
        assert_eq!(layout.frames, 10);
        let file = folders.out().join("sheet_position.png");
        change(&file, |swap| {
            swap(code_at(&layout, 0, of) + 1, code_at(&layout, 0, other) + 1);
        });
        let found = folders.verified(&source, &settings);
        let ends = found.ends.as_ref().expect("ends");
        assert_only_ends_differ(&found, first);
        assert_eq!(ends.beyond, 2, "{ends:?}");
        let off = ends.errors.largest - f64::from(RISE);
        assert!(off.abs() < 2.0 * ends.allowed, "{off} {ends:?}");
    }
}

/// Two ends on the next surface change places along it: nothing leaves it, but corners leave their neighbours.
#[test]
fn ends_that_part_along_the_next_surface_are_found_out() {
    let (source, settings) = (sheet(), VatSettings::default());
    let (folders, _) = baked(&source, &settings);
    let animation = folders.animation();
    let layout = animation.manifest().layout;
    // In the middle row, away from the sides: several triangles meet there.
    let is_inside = |v: &u32| {
        let [x, z] = [0, 2].map(|k| animation.value(0, *v, 2, k));
        (0.2..0.8).contains(&x) && (z - 0.5).abs() < 0.01
    };
    let inside: Vec<u32> = (0..layout.vertices).filter(is_inside).collect();
    let x = |v: u32| animation.value(0, v, 3, 0);
    let other = inside.iter().find(|v| (x(**v) - x(inside[0])).abs() > 0.1);
    let other = *other.expect("two points inside");
    change(&folders.out().join("sheet_position.png"), |swap| {
        swap(code_at(&layout, inside[0], 3), code_at(&layout, other, 3));
    });
    let found = folders.verified(&source, &settings);
    assert_only_ends_differ(&found, 1);
    let ends = found.ends.expect("ends");
    assert_eq!((ends.beyond, ends.parting), (0, 2), "{ends:?}");
    assert!(
        ends.words().ends_with(", 2 points part"),
        "{}",
        ends.words()
    );
}

/// Tetrahedra come and go: what vanishes ends in a point, off the next frame's surface.
#[test]
fn what_comes_and_goes_is_where_matching_puts_it() {
    let source = swarm();
    for at_end in [AtEnd::Clamp, AtEnd::SeamlessLoop] {
        let settings = VatSettings {
            at_end,
            ..VatSettings::default()
        };
        let (folders, _) = baked(&source, &settings);
        let found = folders.verified(&source, &settings);
        let elsewhere = assert_ends_fit(&found).elsewhere;
        // Three tetrahedra of four triangles vanish one by one.
        assert!(elsewhere >= 36, "{elsewhere}");
        let words = found.ends.as_ref().expect("ends").words();
        assert!(words.contains("vanishes"), "{words}");
        // A tetrahedron that is gone in frame 8 collapses elsewhere: x and y of its point change places.
        let layout = folders.manifest().layout;
        let animation = folders.animation();
        let is_there = |slot: &u32| {
            let corner = |k| animation.value(0, 3 * slot + k, 14, 0).to_bits();
            corner(0) != corner(1) || corner(1) != corner(2)
        };
        let slot = (0..layout.vertices / 3).find(is_there).expect("a triangle");
        change(&folders.out().join("swarm_position.png"), |swap| {
            let at = code_at(&layout, 3 * slot, 15);
            swap(at, at + 1);
        });
        let found = folders.verified(&source, &settings);
        assert_only_ends_differ(&found, 7);
        assert_eq!(found.ends.expect("ends").beyond, 1);
    }
}

/// A ball, cut into other triangles in each frame, that rises.
fn ball() -> MeshFrames {
    let frames = (0..4_u32).map(|f| {
        let (rings, columns) = (6 + f, 9 + f);
        let at = |ring: u32, column: u32| {
            let polar = std::f32::consts::PI * ring as f32 / rings as f32;
            let turn = std::f32::consts::TAU * column as f32 / columns as f32;
            let height = 0.1 * f as f32;
            [
                polar.sin() * turn.cos(),
                polar.cos() + height,
                polar.sin() * turn.sin(),
            ]
        };
        let places = (1..rings).flat_map(|r| (0..columns).map(move |c| at(r, c)));
        let places: Vec<_> = places.chain([at(0, 0), at(rings, 0)]).collect();
        let [top, bottom] = [1, 0].map(|k| places.len() as u32 - 1 - k);
        let vertex = |r: u32, c: u32| match r {
            0 => top,
            _ if r == rings => bottom,
            _ => (r - 1) * columns + c % columns,
        };
        let quads = (0..rings).flat_map(|r| (0..columns).map(move |c| (r, c)));
        let halves = quads.flat_map(|(r, c)| {
            let [a, b] = [vertex(r, c), vertex(r, c + 1)];
            let [d, e] = [vertex(r + 1, c), vertex(r + 1, c + 1)];
            [[a, b, e], [a, e, d]]
        });
        let proper = halves.filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]);
        mesh_from("ball", places, proper.collect())
    });
    MeshFrames::new("ball", frames.collect())
}

/// Normals at the ends of blends are those of the next frame: of a ball, which knows them, and as `verify` finds them in the files.
#[test]
fn normals_at_ends_are_those_of_the_next_frame() {
    let settings = VatSettings::default();
    let (folders, summary) = baked(&ball(), &settings);
    let found = folders.verified(&ball(), &settings);
    let ends = assert_ends_fit(&found);
    let allowed = ends.normals_allowed.expect("normals");
    assert!(
        ends.normals.samples() > 1000 && ends.normals.largest <= allowed,
        "{ends:?}"
    );
    let words = ends.words();
    assert!(words.contains(" mm), normals there within "), "{words}");
    let told = &summary.errors.end_normal;
    assert!(
        told.samples() > 1000 && told.largest > 0.0 && told.largest <= allowed,
        "{told:?}"
    );
    let page = folders.report();
    assert!(page.contains("normals where blends end") && page.contains("places where blends end"));
    // Corners are 30 degrees apart at most, within which normals of vertices are a few degrees from the ball's.
    let animation = folders.animation();
    let vector = |texture, vertex, row| animation.vector(texture, vertex, row);
    let [places, normals] = [Quantity::Position, Quantity::Normal]
        .map(|q| animation.manifest().texture(&q).expect("there"));
    for frame in 0..3 {
        for vertex in 0..animation.manifest().layout.vertices {
            let corners = [0, 1, 2].map(|k| vector(places, vertex / 3 * 3 + k, 2 * frame));
            if corners[0] == corners[1] && corners[1] == corners[2] {
                continue;
            }
            let [x, y, z] = vector(places, vertex, 2 * frame + 1);
            let out = [x, y - 0.1 * (frame + 1) as f32, z];
            let seen = vector(normals, vertex, 2 * frame + 1);
            let off = crate::vat::maker::error::angle_between(seen, out).to_degrees();
            assert!(off < 8.0, "frame {frame}, vertex {vertex}: {off} degrees");
        }
    }
}

/// Normals of two ends change places: places are right, and what is shown there faces another way.
#[test]
fn wrong_normals_at_ends_are_found_out() {
    let settings = VatSettings::default();
    // Ends of frame 1, which another follows, and of the last frame, whose end it is itself.
    for (row, first) in [(3, 1), (7, 3)] {
        let (folders, _) = baked(&ball(), &settings);
        let animation = folders.animation();
        let layout = animation.manifest().layout;
        let normals = animation
            .manifest()
            .texture(&Quantity::Normal)
            .expect("there");
        let vector = |vertex: u32| animation.vector(normals, vertex, row);
        let is_shown = |slot: &u32| {
            let corner = |k: u32| animation.vector(0, 3 * slot + k, row);
            corner(0) != corner(1) && corner(1) != corner(2) && corner(2) != corner(0)
        };
        let mut slots = (0..layout.vertices / 3).filter(is_shown);
        let one = 3 * slots.next().expect("a triangle");
        let angle = |v: &u32| crate::vat::maker::error::angle_between(vector(one), vector(*v));
        let other = slots.map(|s| 3 * s).find(|v| angle(v) > 0.5);
        let other = other.expect("one that faces another way");
        change(&folders.out().join("ball_normal.png"), |swap| {
            let [a, b] = [one, other].map(|v| code_at(&layout, v, row));
            (0..3).for_each(|k| swap(a + k, b + k));
        });
        let found = folders.verified(&ball(), &settings);
        assert_only_ends_differ(&found, first);
        let ends = found.ends.expect("ends");
        assert_eq!(
            (ends.beyond, ends.parting, ends.normals_beyond),
            (0, 0, 2),
            "{ends:?}"
        );
        let off = (ends.normals.largest - angle(&other)).abs().to_degrees();
        // Beyond what rounding of places does, and its own code.
        assert!(off < 2.0, "{off} degrees");
        assert!(ends.words().contains(", 2 corners have other normals"));
    }
}

/// Two triangles of a frame in each other's slots: all are there, but blends go to the wrong ones.
#[test]
fn slots_that_do_not_go_on_are_found_out() {
    let settings = VatSettings {
        points: Points::Unique,
        ..VatSettings::default()
    };
    for source in [sheet(), swarm()] {
        let (folders, _) = baked(&source, &settings);
        let found = folders.verified(&source, &settings);
        let ends = assert_ends_fit(&found);
        assert!(!ends.closed && ends.elsewhere == 0, "{ends:?}");
    }
    let source = sheet();
    let (folders, _) = baked(&source, &settings);
    let layout = folders.manifest().layout;
    change(&folders.out().join("sheet_lookup.png"), |swap| {
        for code in 0..9 {
            // Slots 0 and 5 in frame 2.
            let [a, b] = [0, 15].map(|v| code_at(&layout, v + code / 3, 2));
            swap(a + code as usize % 3, b + code as usize % 3);
        }
    });
    let found = folders.verified(&source, &settings);
    assert_only_ends_differ(&found, 1);
    // Both triangles, from the frame before and to the one behind.
    assert_eq!(found.ends.expect("ends").beyond, 12);
}

#[test]
fn bakes_whose_blends_are_compared_anyhow_or_that_step_have_no_ends() {
    let settings = VatSettings::default();
    let (folders, _) = baked(&flag(), &settings);
    assert!(folders.verified(&flag(), &settings).ends.is_none());
    let settings = with_order(TriangleOrder::File);
    let (folders, _) = baked(&swarm(), &settings);
    assert!(folders.verified(&swarm(), &settings).ends.is_none());
}
