//! Frames through texels and back.

use super::*;
use crate::vat::maker::error::angle_between;
use crate::vat::maker::normals::{DEFAULT_CREASE, corner_normals};
use sinew_geom::{Attribute, Topology};
use sinew_testkit::meshes::mesh_from;
use sinew_vat::layout::Layout;
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::texture_rows;

/// A fan of `sides` triangles around a raised middle, with a colour, a scalar and a velocity.
fn fan(sides: u32, height: f32) -> Mesh {
    let mut positions = vec![[0.3, height, -0.2]];
    positions.extend((0..sides).map(|i| {
        let t = std::f32::consts::TAU * i as f32 / sides as f32;
        [t.cos(), 0.1 * t.sin(), 2.0 * t.sin()]
    }));
    let triangles = (0..sides)
        .map(|i| [0, 1 + (i + 1) % sides, 1 + i])
        .collect();
    let mut mesh = mesh_from("fan", positions.clone(), triangles);
    mesh.colors = vec![
        positions
            .iter()
            .map(|p| [p[0].abs() * 0.4, 0.0, 0.5, 1.0])
            .collect(),
    ];
    let heat = positions.iter().map(|p| p[2] * 100.0).collect();
    mesh.attributes
        .insert("heat".into(), Attribute::Scalar(heat));
    let velocity = positions.iter().map(|p| [0.0, -p[0], 3.0 * p[2]]).collect();
    mesh.attributes
        .insert("velocity".into(), Attribute::Vec3(velocity));
    mesh
}

fn empty() -> Mesh {
    Mesh::new("nothing", Topology::default(), Vec::new())
}

fn quantities() -> Vec<Quantity> {
    vec![
        Quantity::Position,
        Quantity::Normal,
        Quantity::Color(0),
        Quantity::Attribute("heat".into()),
        Quantity::Velocity("velocity".into()),
    ]
}

fn specs(frames: &[Mesh], format: TexelFormat) -> Vec<TextureSpec> {
    let all = quantities();
    let scans: Vec<_> = frames
        .iter()
        .enumerate()
        .map(|(i, m)| scan_frame(i, m, &all).expect("complete"))
        .collect();
    let extents = join_extents(&scans, &all)
        .expect("agree")
        .expect("some frame shows something");
    all.into_iter()
        .zip(&extents)
        .map(|(q, e)| TextureSpec::new(q, format, e))
        .collect()
}

/// Reads vertex `v` of a frame.
fn values(spec: &TextureSpec, bytes: &[u8], v: usize) -> Vec<f32> {
    let size = spec.vertex_bytes();
    let vertex = &bytes[v * size..(v + 1) * size];
    (0..spec.ranges.len())
        .map(|c| spec.decode(vertex, c))
        .collect()
}

#[test]
fn rows_100_and_104_three_texels_a_triangle_in_sequence_and_the_rest_collapses() {
    let frames = [fan(5, 1.0), fan(9, 0.4), empty()];
    for format in [
        TexelFormat::Unorm8,
        TexelFormat::Unorm16,
        TexelFormat::Float,
    ] {
        let specs = specs(&frames, format);
        for mesh in &frames {
            let triangles = mesh.topology.triangles();
            let slots = slots_in_file_order(triangles.len() as u32, 12, [0.3, 0.2, 0.1]);
            let texels = encode_frame(mesh, &slots, &specs, DEFAULT_CREASE);
            let worst: f32 = match format {
                TexelFormat::Unorm8 => 4.0 / 255.0 / 2.0,
                TexelFormat::Unorm16 => 4.0 / 65535.0 / 2.0,
                _ => 0.0,
            };
            for slot in 0..12 {
                let got = [0, 1, 2].map(|k| values(&specs[0], &texels[0], 3 * slot + k));
                let Some(t) = triangles.get(slot) else {
                    assert!(got[0] == got[1] && got[1] == got[2], "no area, to the bit");
                    let off = got[0]
                        .iter()
                        .zip([0.3, 0.2, 0.1])
                        .map(|(a, b)| (a - b).abs());
                    assert!(off.fold(0.0, f32::max) <= worst * 1.01 + 1e-6);
                    continue;
                };
                for k in 0..3 {
                    let p = mesh.positions[t[k] as usize];
                    for c in 0..3 {
                        assert!(
                            (got[k][c] - p[c]).abs() <= worst + worst.min(1e-6),
                            "{format:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn row_123_attributes_come_back_and_zero_is_zero() {
    let frames = [fan(6, 1.0), fan(7, 0.5)];
    let specs = specs(&frames, TexelFormat::Unorm16);
    let mesh = &frames[0];
    let slots = slots_in_file_order(6, 7, [0.0; 3]);
    let texels = encode_frame(mesh, &slots, &specs, DEFAULT_CREASE);
    let Attribute::Scalar(heat) = &mesh.attributes["heat"] else {
        panic!("a scalar");
    };
    for (slot, t) in mesh.topology.triangles().iter().enumerate() {
        for (k, &v) in t.iter().enumerate() {
            let v = v as usize;
            let vertex = 3 * slot + k;
            // 400 from the coldest to the hottest.
            let got = values(&specs[3], &texels[3], vertex)[0];
            assert!(
                (got - heat[v]).abs() <= 400.0 / 65535.0 / 2.0 * 1.001,
                "{got} {}",
                heat[v]
            );
            let color = values(&specs[2], &texels[2], vertex);
            assert!(color[1] == 0.0 && color[3] == 1.0, "{color:?}");
            assert_eq!(
                values(&specs[4], &texels[4], vertex)[0],
                0.0,
                "no velocity along x"
            );
        }
    }
    // A slot that shows nothing does not move and has no heat.
    assert_eq!(values(&specs[4], &texels[4], 18), [0.0; 3]);
    assert_eq!(values(&specs[3], &texels[3], 18), [0.0]);
}

#[test]
fn normals_are_within_the_angle_that_the_format_allows() {
    let frames = [fan(40, 0.8)];
    for (format, degrees) in [
        (TexelFormat::Unorm8, 0.3892),
        (TexelFormat::Unorm16, 0.0016),
    ] {
        let specs = specs(&frames, format);
        let slots = slots_in_file_order(40, 40, [0.0; 3]);
        let texels = encode_frame(&frames[0], &slots, &specs, DEFAULT_CREASE);
        let truth = corner_normals(&frames[0].topology, &frames[0].positions, DEFAULT_CREASE);
        for (slot, corners) in truth.iter().enumerate() {
            for (k, n) in corners.iter().enumerate() {
                let got = values(&specs[1], &texels[1], 3 * slot + k);
                let angle = angle_between([0, 1, 2].map(|c| got[c]), *n).to_degrees();
                assert!(angle <= degrees, "{format:?}: {angle} degrees");
            }
        }
    }
}

#[test]
fn turned_corners_are_the_same_triangle() {
    let frames = [fan(4, 1.0)];
    let specs = specs(&frames, TexelFormat::Float);
    let content = |turn| [SlotContent::Triangle { triangle: 2, turn }];
    let of = |turn| encode_frame(&frames[0], &content(turn), &specs, DEFAULT_CREASE);
    let (plain, turned) = (of(0), of(2));
    for (spec, (a, b)) in specs.iter().zip(plain.iter().zip(&turned)) {
        for k in 0..3 {
            assert_eq!(values(spec, b, k), values(spec, a, (k + 2) % 3));
        }
    }
}

#[test]
fn rows_of_a_texture_hold_every_frame() {
    let frames = [fan(5, 1.0), fan(9, 0.4), fan(3, 0.2)];
    let specs = specs(&frames, TexelFormat::Unorm16);
    let encode = |mesh: &Mesh| {
        let slots = slots_in_file_order(mesh.topology.triangles().len() as u32, 9, [0.0; 3]);
        encode_frame(mesh, &slots, &specs, DEFAULT_CREASE).swap_remove(0)
    };
    let encoded: Vec<_> = frames.iter().map(encode).collect();
    let layout = Layout::fitting(27, 3, 3, 12).expect("fits");
    assert!(layout.size[0] <= 12 && layout.size[0].is_multiple_of(3));
    let size = specs[0].vertex_bytes();
    let rows = texture_rows(&layout, size, |f| &encoded[f as usize]);
    for (f, bytes) in encoded.iter().enumerate() {
        for v in 0..27 {
            let [x, y] = layout.texel(v, f as u32).map(|c| c as usize);
            let (v, at) = (v as usize * size, (y * layout.size[0] as usize + x) * size);
            assert_eq!(rows[at..at + size], bytes[v..v + size]);
        }
    }
}

#[test]
fn frames_that_do_not_fit_are_named() {
    let mut odd = fan(4, 1.0);
    odd.attributes.remove("heat");
    let error = scan_frame(17, &odd, &quantities()).expect_err("incomplete");
    assert_eq!(error.to_string(), "no attribute=heat, which is to be baked");
    assert_eq!(error.frame(), 17);
    odd.attributes
        .insert("heat".into(), Attribute::Vec2(vec![[0.0; 2]; 5]));
    let scans = [fan(4, 1.0), odd].map(|m| scan_frame(0, &m, &quantities()).expect("complete"));
    let error = join_extents(&scans, &quantities()).expect_err("differ");
    let text = error.to_string();
    assert!(text.starts_with("2 channels of attribute=heat"), "{text}");
    assert_eq!(error.frame(), 1);
    let nothing = scan_frame(0, &empty(), &quantities()).expect("legal");
    assert_eq!(join_extents(&[nothing], &quantities()), Ok(None));
}
