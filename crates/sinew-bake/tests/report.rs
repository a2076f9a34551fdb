//! The page that says what a bake came to, against the sequence and the files.

use sinew_bake::vat::{Mode, TextureChoice, TriangleOrder, VatSettings, bake, read_animation};
use sinew_bake::{MeshFrames, Watch};
use sinew_geom::{Mesh, Topology};
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
        let topology = Topology::new(3 * count, triangles.collect()).expect("in range");
        Mesh::new("dots", topology, (0..3 * count).map(place).collect())
    };
    COUNTS.iter().enumerate().map(frame).collect()
}

fn settings(format: TexelFormat) -> VatSettings {
    let quantities = [Quantity::Position, Quantity::Normal];
    VatSettings {
        order: TriangleOrder::File,
        textures: quantities
            .map(|quantity| TextureChoice { quantity, format })
            .into(),
        ..VatSettings::default()
    }
}

/// A folder with the bake, and its report.
fn baked(frames: Vec<Mesh>, settings: &VatSettings) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let (work, out) = (folder.path().join("work"), folder.path().join("out"));
    let source = MeshFrames::new("dots", frames);
    bake(&source, settings, &work, &out, &Watch::NOBODY).expect("baked");
    let text = std::fs::read_to_string(out.join("dots.report.html")).expect("a report");
    (folder, text)
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
    let shown = read_animation(&folder.path().join("out")).expect("a bake");
    let places = shown.manifest().places().expect("positions");
    let (mut worst, mut squares, mut corners) = ((0.0, 0, 0, [0.0; 3]), 0.0, 0.0);
    for (f, mesh) in scattered().iter().enumerate() {
        for (v, truth) in mesh.positions.iter().enumerate() {
            let seen: [f32; 3] =
                std::array::from_fn(|k| shown.value(places, v as u32, f as u32, k));
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
    let folder = here.path().to_string_lossy().into_owned();
    assert!(!first.contains(&folder), "names the folder");
    let loads = first.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http", "<script", "<link", "url(", "@import"] {
        assert!(!loads.contains(outside), "{outside}");
    }
}
