//! Bakes that hold more than places: what `verify` says of them. The truth is the sequence.

use crate::fixture::{Baked, with_textures};
use sinew_bake::MeshFrames;
use sinew_bake::vat::{VatSettings, read_animation};
use sinew_geom::vec3::length;
use sinew_geom::{Attribute, Mesh, Topology};
use sinew_io::Texels;
use sinew_io::texture::{TextureChannels, TextureFormat, TextureWriter, read_texture};
use sinew_testkit::meshes::mesh_from;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use std::path::Path;

/// Four frames of loose triangles with all that vertices may have; one triangle less in each frame, or always `count`.
fn painted(count: impl Fn(u32) -> u32) -> MeshFrames {
    let frames = (0..4).map(|f| {
        let vertices = 3 * count(f);
        let topology = Topology::new(
            vertices,
            (0..count(f))
                .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
                .collect(),
        );
        let place = |v: u32| {
            let (t, k) = ((v / 3) as f32, v % 3);
            let corner = [[0.0, 0.0], [0.4, 0.1], [0.1, 0.4]][k as usize];
            [t * 0.7 + corner[0], f as f32 * 0.1, corner[1]]
        };
        let mut mesh = Mesh::new(
            "painted",
            topology.expect("in range"),
            (0..vertices).map(place).collect(),
        );
        let share = |v: u32, n: u32| (v * 7 % n) as f32 / (n - 1) as f32;
        mesh.colors = vec![
            (0..vertices)
                .map(|v| [share(v, 11), share(v, 5), 0.25, 1.0])
                .collect(),
        ];
        mesh.uvs = vec![(0..vertices).map(|v| [share(v, 13), share(v, 3)]).collect()];
        let speeds = (0..vertices).map(|v| [share(v, 9) - 0.5, 2.0, 0.0]);
        mesh.attributes
            .insert("v".into(), Attribute::Vec3(speeds.collect()));
        let heat = (0..vertices).map(|v| 300.0 + 40.0 * share(v, 17));
        mesh.attributes
            .insert("heat".into(), Attribute::Scalar(heat.collect()));
        mesh
    });
    MeshFrames::new("painted", frames.collect())
}

fn settings(format: TexelFormat) -> VatSettings {
    let quantities = [
        Quantity::Position,
        Quantity::Color(0),
        Quantity::Uv(0),
        Quantity::Velocity("v".into()),
        Quantity::Attribute("heat".into()),
    ];
    with_textures(&quantities.map(|quantity| (quantity, format)))
}

/// Adds to one code of an 8-bit texture.
fn change_texel(path: &Path, byte: usize, by: u8) {
    let texture = read_texture(path).expect("readable");
    let Texels::Codes8(mut codes) = texture.texels else {
        panic!("not 8 bits");
    };
    codes[byte] = codes[byte].wrapping_add(by);
    let (width, height) = (texture.width, texture.height);
    let channels = match texture.channels.len() {
        3 => TextureChannels::Rgb,
        _ => TextureChannels::Rgba,
    };
    let mut out = TextureWriter::create(path, TextureFormat::Png8, width, height, channels)
        .expect("writable");
    for row in codes.chunks_exact(width * texture.channels.len()) {
        let row: &[u8] = row;
        out.write_row(row).expect("written");
    }
    out.finish().expect("written");
}

#[test]
fn every_quantity_is_within_what_its_format_promises() {
    for format in [
        TexelFormat::Unorm8,
        TexelFormat::Unorm16,
        TexelFormat::TwoUnorm8,
        TexelFormat::Half,
        TexelFormat::Float,
    ] {
        for is_soft in [false, true] {
            let source = painted(|f| if is_soft { 6 } else { 7 - f });
            let settings = settings(format);
            let found = Baked::new(&source, &settings).verified(&source, &settings);
            assert_eq!(found.quantities.len(), 4);
            for q in &found.quantities {
                assert_eq!(q.errors.samples(), if is_soft { 72 } else { 66 }, "{q:?}");
                assert_eq!((q.beyond, q.first_wrong), (0, None), "{format:?} {q:?}");
                // By hand: zero is a code, so that the codes span 0 to 340 degrees.
                if q.quantity == Quantity::Attribute("heat".into()) && format == TexelFormat::Unorm8
                {
                    assert!(q.errors.largest <= 340.0 / 255.0 / 2.0 + 1e-3, "{q:?}");
                }
            }
            let is_same = found.is_same(length(found.promised) * 1.001 + 1e-6);
            assert!(is_same, "{format:?} {found:?}");
        }
    }
}

/// One code of one texel is another: the corner, its frame and the size of the change are found.
#[test]
fn one_changed_texel_is_seen() {
    for is_soft in [false, true] {
        let source = painted(|f| if is_soft { 6 } else { 7 - f });
        let settings = settings(TexelFormat::Unorm8);
        let baked = Baked::new(&source, &settings);
        let image = baked.out().join("painted_color0.png");
        let width = read_texture(&image).expect("readable").width;
        // Frame 2, vertex 4, green: four channels, and a second row a frame for its end where triangles change.
        let rows = if is_soft { 1 } else { 2 };
        change_texel(&image, (2 * rows * width + 4) * 4 + 1, 2);
        let found = baked.verified(&source, &settings);
        let colors = &found.quantities[0];
        assert_eq!(colors.quantity, Quantity::Color(0));
        assert_eq!((colors.beyond, colors.first_wrong), (1, Some(2)));
        assert_eq!((colors.errors.frame, colors.errors.vertex), (2, 4));
        assert!(
            (colors.errors.largest - 2.0 / 255.0).abs() < 0.51 / 255.0,
            "{colors:?}"
        );
        assert!(!found.is_same(f64::INFINITY));
        assert_eq!(found.quantities[1].beyond, 0);
        assert_eq!(found.normals_beyond, 0);
    }
}

#[test]
fn one_changed_normal_is_seen() {
    for is_soft in [false, true] {
        let source = painted(|f| if is_soft { 6 } else { 7 - f });
        let settings = with_textures(&[
            (Quantity::Position, TexelFormat::Unorm16),
            (Quantity::Normal, TexelFormat::Unorm8),
        ]);
        let baked = Baked::new(&source, &settings);
        let found = baked.verified(&source, &settings);
        assert!(found.is_same(1e-3), "{found:?}");
        // Three codes of 8 bits from -1 to 1, each off by half a step: 0.39 degrees.
        let allowed = (3.0_f64.sqrt() / 255.0).asin();
        let promised = found.promised_normal.expect("has normals");
        assert!((promised - allowed).abs() < 2e-5, "{promised}");
        assert_eq!(found.errors.normal.samples(), if is_soft { 72 } else { 66 });
        let image = baked.out().join("painted_normal.png");
        let width = read_texture(&image).expect("readable").width;
        let rows = if is_soft { 1 } else { 2 };
        // Frame 2, vertex 4, x: two codes are 0.9 degrees.
        change_texel(&image, (2 * rows * width + 4) * 3, 2);
        let found = baked.verified(&source, &settings);
        assert_eq!((found.normals_beyond, found.first_wrong), (1, Some(2)));
        let normal = &found.errors.normal;
        assert_eq!((normal.frame, normal.vertex), (2, 4));
        assert!(!found.is_same(f64::INFINITY));
        assert_eq!((found.lost, found.invented), (0, 0));
    }
}

/// A box of 0.5 x 2 x 3 metres that grows and has sides of their own: thickness is known, tangents are where `u` rises.
#[test]
fn thickness_and_tangents_are_made_for_the_bake() {
    let sides = |grown: f32| [0.5, 2.0, 3.0].map(|s: f32| s * grown);
    let block = |grown: f32| {
        let (mut positions, mut triangles, mut uvs) = (Vec::new(), Vec::new(), Vec::new());
        for axis in 0..3 {
            for end in [0.0, 1.0] {
                let base = positions.len() as u32;
                for (a, b) in [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)] {
                    let mut p = [0.0; 3];
                    (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (end, a, b);
                    positions.push(std::array::from_fn(|k| p[k] * sides(grown)[k]));
                    uvs.push([a, 1.0 - b]);
                }
                let quad = if end == 1.0 {
                    [0, 1, 2, 3]
                } else {
                    [0, 3, 2, 1]
                };
                let [p, q, r, s] = quad.map(|v: u32| v + base);
                triangles.extend([[p, q, r], [p, r, s]]);
            }
        }
        let mut mesh = mesh_from("box", positions, triangles);
        mesh.uvs = vec![uvs];
        mesh
    };
    let source = MeshFrames::new("box", vec![block(1.0), block(1.5)]);
    let settings = with_textures(&[
        (Quantity::Offset, TexelFormat::Float),
        (Quantity::Thickness, TexelFormat::Half),
        (Quantity::Tangent, TexelFormat::Unorm8),
    ]);
    let baked = Baked::new(&source, &settings);
    let found = baked.verified(&source, &settings);
    assert!(
        found.is_same(1e-6) && found.quantities.len() == 2,
        "{found:?}"
    );
    let shown = read_animation(&baked.out()).expect("a bake");
    for (frame, grown) in [(0, 1.0), (1, 1.5)] {
        for vertex in 0..24 {
            let axis = vertex as usize / 8;
            let thickness = shown.value(1, vertex, frame, 0);
            // A half has eleven bits.
            assert!(
                (thickness - sides(grown)[axis]).abs() < 4.5 / 2048.0,
                "vertex {vertex}: {thickness}"
            );
            let tangent: [f32; 4] = std::array::from_fn(|k| shown.value(2, vertex, frame, k));
            let mut truth = [0.0; 4];
            truth[(axis + 1) % 3] = 1.0;
            // The far end of an axis is seen as the texture is, the near one mirrored.
            truth[3] = if vertex / 4 % 2 == 1 { 1.0 } else { -1.0 };
            let off = (0..4)
                .map(|k| (tangent[k] - truth[k]).abs())
                .fold(0.0, f32::max);
            assert!(
                off < 1.01 / 255.0,
                "vertex {vertex}: {tangent:?} for {truth:?}"
            );
        }
    }
}
