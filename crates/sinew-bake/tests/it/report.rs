//! The page that says what a bake came to, against the sequence and the files.

use crate::fixture::{Baked, with_textures};
use sinew_bake::MeshFrames;
use sinew_bake::vat::{Mode, TriangleOrder, VatSettings, read_animation};
use sinew_geom::Mesh;
use sinew_testkit::meshes::{box_triangles, mesh_from};
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;

/// Triangles in the frames.
const COUNTS: [u32; 4] = [12, 20, 17, 12];

/// Triangles here and there, in no relation to each other, and one side of each frame's box at a code of no format.
fn scattered() -> Vec<Mesh> {
    let frame = |(f, count): (usize, &u32)| {
        let place = |v: u32| {
            let h = |n: u32| ((v + 1) * (f as u32 + 3) * n % 997) as f32 / 331.0;
            [h(389), h(157), h(743)]
        };
        let triangles = (0..*count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
        mesh_from(
            "dots",
            (0..3 * count).map(place).collect(),
            triangles.collect(),
        )
    };
    COUNTS.iter().enumerate().map(frame).collect()
}

fn settings(format: TexelFormat) -> VatSettings {
    let quantities = [Quantity::Position, Quantity::Normal];
    VatSettings {
        order: TriangleOrder::File,
        ..with_places(&quantities, format)
    }
}

/// A folder with the bake, and its report.
fn baked(frames: Vec<Mesh>, settings: &VatSettings) -> (Baked, String) {
    let made = Baked::new(&MeshFrames::new("dots", frames), settings);
    let text = std::fs::read_to_string(made.out().join("dots.report.html")).expect("a report");
    (made, text)
}

#[track_caller]
fn says(text: &str, part: &str) {
    let shown: String = text
        .split("data:image")
        .map(|p| &p[..p.len().min(900)])
        .collect();
    assert!(text.contains(part), "no \"{part}\" in {shown}");
}

#[test]
fn sizes_and_counts_are_those_of_the_sequence() {
    let (_folder, text) = baked(scattered(), &settings(TexelFormat::Unorm16));
    // 20 triangles are 60 columns, one row a frame; six bytes a texel and texture.
    says(&text, "60 x 4 texels");
    says(&text, "2,880 bytes in all textures");
    says(
        &text,
        "frame 1 has other triangles (20) than the first one (12)",
    );
    // Of 80 slots, 61 show something.
    says(&text, "23.75 %");
    says(&text, "12 to 20 in a frame, 15.2 in the mean");
    says(&text, "61 faces in all frames came in, 61 went out");
    says(&text, "no: frames are unrelated");
}

/// The largest distance between what the files show and the sequence, looked for by hand.
#[test]
fn the_worst_corner_is_the_one_that_is_farthest_off() {
    let (folder, text) = baked(scattered(), &settings(TexelFormat::Unorm8));
    let shown = read_animation(&folder.out()).expect("a bake");
    let places = shown.manifest().positions().expect("positions");
    let (mut worst, mut squares, mut corners) = ((0.0, 0, 0, [0.0; 3]), 0.0, 0.0);
    for (f, mesh) in scattered().iter().enumerate() {
        for (v, truth) in mesh.positions.iter().enumerate() {
            let seen = shown.vector(places, v as u32, f as u32);
            let sum: f64 = (0..3)
                .map(|k| (f64::from(seen[k]) - f64::from(truth[k])).powi(2))
                .sum();
            if sum.sqrt() > worst.0 {
                worst = (sum.sqrt(), f, v, seen);
            }
            squares += sum;
            corners += 1.0;
        }
    }
    let (off, frame, vertex, [x, y, z]) = worst;
    let rms = f64::sqrt(squares / corners) * 1e3;
    let corner = format!(
        "{vertex} (corner {} of triangle {})",
        vertex % 3,
        vertex / 3
    );
    let row = [
        "<td>positions</td>".to_owned(),
        format!("<td class=\"n\">{:.4} mm</td>", off * 1e3),
        format!("<td class=\"n\">{rms:.4} mm</td>"),
        format!("<td class=\"n\">{frame}</td>"),
        format!("<td class=\"n\">{corner}</td>"),
        format!("<td>({x:.4}, {y:.4}, {z:.4})</td>"),
    ];
    says(&text, &row.concat());
}

/// Pictures by what they are of.
fn pictures<'a>(text: &'a str, what: &str) -> Vec<&'a str> {
    let images = text.split("<img src=\"").skip(1);
    let of = images.filter(|i| {
        i.split("</figure>")
            .next()
            .is_some_and(|i| i.contains(what))
    });
    of.filter_map(|i| i.split('"').next()).collect()
}

/// Texels that are exact show the very pictures of the frames; eight bits on three metres do not.
#[test]
fn pictures_are_of_the_frames_and_of_the_texels() {
    for (format, is_exact) in [(TexelFormat::Float, true), (TexelFormat::Unorm8, false)] {
        let mut moving = scattered();
        moving
            .iter_mut()
            .for_each(|m| m.topology = scattered()[0].topology.clone());
        moving.iter_mut().for_each(|m| m.positions.truncate(36));
        for (frames, mode) in [(scattered(), Mode::Remesh), (moving, Mode::Soft)] {
            let settings = VatSettings {
                mode: Some(mode),
                ..settings(format)
            };
            let (_folder, text) = baked(frames, &settings);
            let (source, shown) = (pictures(&text, ", source"), pictures(&text, ", baked"));
            assert_eq!((source.len(), shown.len()), (4, 4), "{mode:?}");
            for (a, b) in source.iter().zip(&shown) {
                assert!(a.starts_with("data:image/png;base64,iVBOR"));
                assert_eq!(a == b, is_exact, "{mode:?} {format:?}");
            }
            assert!(source[0] != source[1], "frames differ");
        }
    }
}

#[test]
fn the_same_bake_gives_the_same_page_and_needs_nothing_else() {
    let (here, first) = baked(scattered(), &VatSettings::default());
    let (_there, second) = baked(scattered(), &VatSettings::default());
    assert!(first == second);
    let out = here.out();
    let folder = out.parent().expect("a folder").to_string_lossy();
    assert!(!first.contains(&*folder), "names the folder");
    let loads = first.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http", "<script", "<link", "url(", "@import"] {
        assert!(!loads.contains(outside), "{outside}");
    }
}

/// Boxes of which one stands still and the others spin, with flat sides.
fn boxes() -> Vec<Mesh> {
    let frame = |f: usize| {
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for i in 0..3_u8 {
            let turn = f64::from(i) * 0.3 * f as f64;
            for corner in 0..8_u8 {
                let [x, y, z] = [0, 1, 2].map(|k| f64::from(corner >> k & 1) - 0.5);
                let (sin, cos) = turn.sin_cos();
                let place = [x * cos - y * sin + 2.0 * f64::from(i), x * sin + y * cos, z];
                positions.push(place.map(|c| c as f32));
            }
            let sides = box_triangles().into_iter();
            triangles.extend(sides.map(|s| s.map(|v| v + 8 * u32::from(i))));
        }
        mesh_from("boxes", positions, triangles)
    };
    (0..4).map(frame).collect()
}

/// Where points are on which frames: `(number, place)`.
fn points(frame: u32) -> Vec<(u32, [f32; 3])> {
    let alive = [0..4, 0..7, 2..7][frame as usize].clone();
    let place = |i: u32| {
        [
            i as f32 * 0.71,
            (i * i % 5) as f32 * 0.37,
            frame as f32 * 0.23,
        ]
    };
    alive.map(|i| (i, place(i))).collect()
}

fn clouds() -> Vec<Mesh> {
    let frame = |f: u32| {
        let alive = points(f);
        let mut mesh = mesh_from("dots", alive.iter().map(|p| p.1).collect(), Vec::new());
        let numbers = alive.iter().map(|p| p.0 as f32).collect();
        let widths = alive.iter().map(|p| 0.2 + 0.05 * p.0 as f32).collect();
        let attributes = [("id", numbers), ("size", widths)];
        for (name, values) in attributes {
            mesh.attributes
                .insert(name.into(), sinew_geom::Attribute::Scalar(values));
        }
        mesh
    };
    (0..3).map(frame).collect()
}

fn with_places(quantities: &[Quantity], format: TexelFormat) -> VatSettings {
    let textures = quantities.iter().map(|q| (q.clone(), format));
    with_textures(&textures.collect::<Vec<_>>())
}

#[test]
fn reports_of_points_count_points_and_slots() {
    let settings = with_places(&[Quantity::Position], TexelFormat::Unorm8);
    let (folder, text) = baked(clouds(), &settings);
    says(&text, "particles: no frame has a triangle");
    // Seven points at most; eight squares reach all corners of a box. 16 points in three frames of eight slots.
    says(&text, "16 triangles, 32 vertices");
    says(&text, "<th>Slots</th><td>8, a square");
    says(
        &text,
        "<th>Slots without a point over all frames</th><td>33.33 %",
    );
    says(&text, "4 to 7 in a frame, 5.3 in the mean");
    for wrong in ["faces in all frames", "Empty triangles", "0 to 0"] {
        assert!(!text.contains(wrong), "{wrong}");
    }
    let shown = read_animation(&folder.out()).expect("a bake");
    let texture = |q| shown.manifest().texture(&q).expect("there");
    let (places, sizes) = (texture(Quantity::Position), texture(Quantity::Size));
    let mut worst = (0.0, 0, 0, [0.0; 3]);
    for f in 0..3 {
        for slot in (0..8).filter(|s| shown.value(sizes, *s, f, 0) > 0.0) {
            let seen = shown.vector(places, slot, f);
            let off = |(_, truth): (u32, [f32; 3])| {
                let squares = (0..3).map(|k| (f64::from(seen[k]) - f64::from(truth[k])).powi(2));
                squares.sum::<f64>().sqrt()
            };
            let off = points(f).into_iter().map(off).fold(f64::MAX, f64::min);
            if off > worst.0 {
                worst = (off, f, slot, seen);
            }
        }
    }
    let (off, frame, slot, [x, y, z]) = worst;
    says(&text, "<th>slot</th>");
    says(
        &text,
        &format!("<td>positions</td><td class=\"n\">{:.4} mm</td>", off * 1e3),
    );
    says(
        &text,
        &format!(
            "<td class=\"n\">{frame}</td><td class=\"n\">{slot}</td><td>({x:.4}, {y:.4}, {z:.4})</td>"
        ),
    );
}

#[test]
fn reports_of_pieces_count_pieces_and_name_the_worst_place() {
    let settings = with_places(
        &[Quantity::Position, Quantity::Rotation],
        TexelFormat::Unorm8,
    );
    let (folder, text) = baked(boxes(), &settings);
    // Flat sides: each corner of a box is there three times.
    says(&text, "36 triangles, 72 vertices");
    says(
        &text,
        "<th>Pieces</th><td>3 pieces keep their shape within 0.000",
    );
    says(&text, "between two frames is 34.4 degrees");
    says(&text, "no piece of it bends");
    let out = folder.out();
    let shown = read_animation(&out).expect("a bake");
    let pieces = sinew_vat::played::PlayedPieces::new(&shown).expect("pieces");
    let carrier = sinew_io::read_gltf(&out.join("dots.glb")).expect("a carrier");
    let carrier = &carrier.asset.meshes[0];
    let mut worst = (0.0, 0, 0, [0.0; 3]);
    for (f, truth) in boxes().iter().enumerate() {
        for rest in &carrier.positions {
            let at = sinew_vat::playback::FrameBlend {
                frame: f as u32,
                next: f as u32,
                weight: 0.0,
            };
            let first = boxes()[0].positions.iter().position(|p| p == rest);
            let source = first.expect("a vertex of the first frame");
            let seen = pieces.pose((source / 8) as u32, at).place(*rest);
            let place = truth.positions[source];
            let squares = (0..3).map(|k| (seen[k] - f64::from(place[k])).powi(2));
            let off = squares.sum::<f64>().sqrt();
            if off > worst.0 {
                worst = (off, f, source / 8, seen);
            }
        }
    }
    let (off, frame, piece, [x, y, z]) = worst;
    says(
        &text,
        &format!("<td>positions</td><td class=\"n\">{:.4} mm</td>", off * 1e3),
    );
    says(
        &text,
        &format!("<td class=\"n\">{frame}</td><td class=\"n\">"),
    );
    says(
        &text,
        &format!("(of piece {piece})</td><td>({x:.4}, {y:.4}, {z:.4})</td>"),
    );
}

/// Pixels of a picture of the page.
fn pixels(address: &str) -> Vec<[u8; 4]> {
    use base64::Engine;
    let coded = address.split_once("base64,").expect("an image").1;
    let bytes = base64::engine::general_purpose::STANDARD.decode(coded);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("picture.png");
    std::fs::write(&path, bytes.expect("base 64")).expect("written");
    let image = sinew_io::read_png(&path).expect("a picture");
    image.pixels().to_vec()
}

/// Share of pixels that differ by more than what rounding does.
fn share_of_others(a: &[[u8; 4]], b: &[[u8; 4]]) -> f64 {
    let differs = |(a, b): (&[u8; 4], &[u8; 4])| (0..4).any(|k| a[k].abs_diff(b[k]) > 8);
    a.iter().zip(b).filter(|p| differs(*p)).count() as f64 / a.len() as f64
}

#[test]
fn pictures_of_pieces_and_points_are_there_and_show_the_frames() {
    let pieces = with_places(
        &[Quantity::Position, Quantity::Rotation],
        TexelFormat::Float,
    );
    let points = with_places(&[Quantity::Position], TexelFormat::Float);
    for (frames, settings) in [(boxes(), pieces), (clouds(), points)] {
        let count = frames.len();
        let (_made, text) = baked(frames, &settings);
        let (source, shown) = (pictures(&text, ", source"), pictures(&text, ", baked"));
        assert_eq!((source.len(), shown.len()), (count, count));
        let source: Vec<_> = source.iter().map(|s| pixels(s)).collect();
        for (frame, shown) in shown.iter().enumerate() {
            let shown = pixels(shown);
            let off = share_of_others(&source[frame], &shown);
            assert!(off < 2e-3, "frame {frame}: {off}");
            let other = share_of_others(&source[(frame + 1) % count], &shown);
            assert!(other > 0.02, "frame {frame} and the next: {other}");
        }
    }
}
