use super::*;
use crate::vat::maker::normals::corner_normals;
use crate::vat::maker::remesh::slots_in_file_order;
use sinew_testkit::meshes::{box_triangles, exploded, mesh_from};
use sinew_vat::animation::{AnimationError, VertexAnimation};
use sinew_vat::lookup::point_of_texel;
use sinew_vat::manifest::{Lookup, Manifest, Mode, NamedClip, TextureFile, VERSION_WITH_LOOKUP};
use sinew_vat::playback::{AtEnd, FrameBlend};
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::{Extent, texture_rows};
use std::f32::consts::FRAC_PI_3;

const BOTH: [Quantity; 2] = [Quantity::Position, Quantity::Normal];

/// Boxes beside each other, eight shared vertices each.
fn boxes(count: u32) -> Mesh {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for b in 0..count {
        let corner = |i: u32, bit: u32| if i >> bit & 1 == 1 { 0.5 } else { -0.5 };
        positions
            .extend((0..8).map(|i| [corner(i, 0) + 2.0 * b as f32, corner(i, 1), corner(i, 2)]));
        triangles.extend(box_triangles().into_iter().map(|t| t.map(|v| v + 8 * b)));
    }
    mesh_from("boxes", positions, triangles)
}

/// A closed ring, `around` times `across` vertices and twice as many triangles.
fn torus(around: u32, across: u32) -> Mesh {
    let turn = |i: u32, n: u32| i as f32 / n as f32 * std::f32::consts::TAU;
    let vertex = |i: u32, j: u32| (i % around) * across + j % across;
    let place = |v: u32| {
        let (a, b) = (turn(v / across, around), turn(v % across, across));
        let far = 2.0 + 0.5 * b.cos();
        [far * a.cos(), 0.5 * b.sin(), far * a.sin()]
    };
    let cells = (0..around).flat_map(|i| (0..across).map(move |j| (i, j)));
    let triangles = cells.flat_map(|(i, j)| {
        let [a, b, c, d] = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(x, y)| vertex(i + x, j + y));
        [[a, b, c], [a, c, d]]
    });
    mesh_from(
        "torus",
        (0..around * across).map(place).collect(),
        triangles.collect(),
    )
}

fn normals_of(mesh: &Mesh) -> Vec<[[f32; 3]; 3]> {
    corner_normals(&mesh.topology, &mesh.positions, FRAC_PI_3)
}

fn table_of(mesh: &Mesh, quantities: &[Quantity]) -> PointTable {
    PointTable::new(mesh, &normals_of(mesh), quantities)
}

#[test]
fn row_100_points_are_counted_as_by_hand() {
    // A box has three normals at each of its eight corners.
    for count in [1, 5] {
        assert_eq!(table_of(&boxes(count), &BOTH).count(), 24 * count as usize);
        let places = table_of(&boxes(count), &[Quantity::Position]);
        assert_eq!(places.count(), 8 * count as usize);
    }
    // All smooth: as many as vertices, however often the file has each.
    let torus = torus(24, 16);
    assert_eq!(table_of(&torus, &BOTH).count(), 24 * 16);
    assert_eq!(table_of(&exploded(&torus), &BOTH).count(), 24 * 16);
    // A seam of texture coordinates: the vertices of one ring twice.
    let mut cut = exploded(&torus);
    let corner = |c: usize| {
        let at = torus.topology.triangles()[c / 3][c % 3] / 16;
        let behind_seam = c / 6 >= 23 * 16 && at == 0;
        [if behind_seam { 1.0 } else { at as f32 / 24.0 }, 0.0]
    };
    cut.uvs = vec![(0..cut.positions.len()).map(corner).collect()];
    let table = table_of(
        &cut,
        &[Quantity::Position, Quantity::Normal, Quantity::Uv(0)],
    );
    assert_eq!(table.count(), 24 * 16 + 16);
}

#[test]
fn points_are_numbered_by_first_use_and_zeros_have_no_sign() {
    let mesh = boxes(1);
    let table = table_of(&mesh, &[Quantity::Position]);
    // Triangles [0 4 6] and [0 6 2].
    assert_eq!([0, 1, 2].map(|k| table.of_corner(0, k)), [0, 1, 2]);
    assert_eq!([0, 1, 2].map(|k| table.of_corner(1, k)), [0, 2, 3]);
    let mut signed = exploded(&torus(3, 3));
    for (i, place) in signed.positions.iter_mut().enumerate() {
        *place = [if i % 2 == 0 { 0.0 } else { -0.0 }, 0.0, 0.0];
    }
    assert_eq!(table_of(&signed, &[Quantity::Position]).count(), 1);
}

/// Frames of boxes, one to three and back, and an empty one.
fn counts() -> [u32; 5] {
    [1, 3, 2, 0, 1]
}

struct Made {
    manifest: Manifest,
    texels: Vec<Vec<u8>>,
    lookup: Vec<u8>,
}

fn made(side: u32, powers_of_two: bool) -> Made {
    let frames = counts().map(boxes);
    let settings = RemeshSettings {
        largest_side: side,
        powers_of_two,
        ..RemeshSettings::default()
    };
    let slots = 36;
    let unique = counts().map(|c| 24 * u64::from(c) + u64::from(c < 3));
    let points = points_layout(&unique, &settings).expect("fits");
    assert_eq!(
        points.vertices, 72,
        "the fullest frame needs no point for absent slots"
    );
    let mut layout = Layout::fitting(3 * slots, 5, 3, side).expect("fits");
    if powers_of_two {
        layout = layout.padded_to_powers_of_two(side).expect("fits");
    }
    let (places, unit) = (Extent::between(-0.5, 4.5, 3), Extent::between(-1.0, 1.0, 3));
    let specs = [
        TextureSpec::new(Quantity::Position, TexelFormat::Unorm16, &places),
        TextureSpec::new(Quantity::Normal, TexelFormat::Unorm8, &unit),
    ];
    let encoded = frames.each_ref().map(|mesh| {
        let count = mesh.topology.triangles().len() as u32;
        let slots = slots_in_file_order(count, slots, [1.0, 0.25, -0.25]);
        let normals = normals_of(mesh);
        let shown = ShownFrame {
            mesh,
            normals: &normals,
            slots: &slots,
        };
        let table = PointTable::new(mesh, &normals, &BOTH);
        encode_points(shown, &table, &specs, points.vertices).expect("room")
    });
    let texture = |t: usize| {
        let frame = |f: u32| encoded[f as usize].textures[t].as_slice();
        texture_rows(&points, specs[t].vertex_bytes(), frame)
    };
    let file = |spec: &TextureSpec| TextureFile {
        spec: spec.clone(),
        files: vec![format!("boxes_{}.png", spec.quantity.file_name())],
    };
    let textures = specs.iter().map(file).collect();
    let clips = vec![NamedClip::new("all", 0, 5, 24.0, AtEnd::Loop)];
    let bounds = ([-0.5; 3], [4.5; 3]);
    Made {
        texels: vec![texture(0), texture(1)],
        lookup: texture_rows(&layout, LOOKUP_BYTES, |f| &encoded[f as usize].lookup),
        manifest: Manifest {
            version: VERSION_WITH_LOOKUP,
            can_blend: true,
            lookup: Some(Lookup {
                file: "boxes_lookup.png".into(),
                points,
            }),
            ..Manifest::new("boxes", Mode::Remesh, layout, bounds, textures, clips)
        },
    }
}

#[test]
fn what_is_decoded_is_the_source_in_rows_and_in_blocks() {
    for (side, powers_of_two) in [(4096, false), (64, false), (64, true), (32, true)] {
        let Made {
            manifest,
            texels,
            lookup,
        } = made(side, powers_of_two);
        let size = manifest.texture_layout().size;
        assert!(size.iter().all(|s| *s <= side), "{size:?}");
        assert!(!powers_of_two || size.iter().all(|s| s.is_power_of_two()));
        let played = VertexAnimation::with_lookup(manifest, texels, lookup).expect("fits");
        for (frame, count) in counts().into_iter().enumerate() {
            let mesh = boxes(count);
            let (normals, triangles) = (normals_of(&mesh), mesh.topology.triangles());
            for corner in 0..3 * 36_usize {
                let (t, k) = (corner / 3, corner % 3);
                let truth = match triangles.get(t) {
                    Some(triangle) => mesh.positions[triangle[k] as usize],
                    None => [1.0, 0.25, -0.25],
                };
                for (c, truth) in truth.into_iter().enumerate() {
                    let seen = played.value(0, corner as u32, frame as u32, c);
                    let off = (seen - truth).abs();
                    assert!(off <= 0.5 * 5.0 / 65535.0 * 1.01, "{frame} {corner}: {off}");
                    if t < triangles.len() {
                        let off = (played.value(1, corner as u32, frame as u32, c)
                            - normals[t][k][c])
                            .abs();
                        assert!(off <= 1.01 / 255.0, "normal {frame} {corner}: {off}");
                    }
                }
                if t >= triangles.len() {
                    let first = played.point(3 * t as u32, frame as u32);
                    assert_eq!(
                        played.point(corner as u32, frame as u32),
                        first,
                        "collapses"
                    );
                }
            }
        }
        // Between two frames a corner goes from its point of the one to its point of the other.
        let at = FrameBlend {
            frame: 1,
            next: 2,
            weight: 0.25,
        };
        let (a, b) = (played.value(0, 80, 1, 0), played.value(0, 80, 2, 0));
        assert_ne!(a, b);
        assert_eq!(played.blended(0, 80, at, 0), a + (b - a) * 0.25);
    }
}

#[test]
fn lookups_that_point_nowhere_are_refused() {
    let refused = |change: &dyn Fn(&mut Made)| {
        let mut made = made(64, true);
        change(&mut made);
        VertexAnimation::with_lookup(made.manifest, made.texels, made.lookup)
            .expect_err("refused")
            .to_string()
    };
    let texel = |m: &Made, vertex, frame| {
        let [x, y] = m.manifest.layout.texel(vertex, frame);
        (y * m.manifest.layout.size[0] + x) as usize * LOOKUP_BYTES
    };
    let text = refused(&|m| {
        let at = texel(m, 107, 4);
        m.lookup[at..at + 3].copy_from_slice(&lookup_texel(72));
    });
    assert_eq!(
        text,
        "boxes_lookup.png: vertex 107 of frame 4 shows point 72, there are 72"
    );
    let text = refused(&|m| {
        let at = texel(m, 0, 0);
        m.lookup[at + 2] = 1;
    });
    assert!(
        text.contains("vertex 0 of frame 0 shows point 65536"),
        "{text}"
    );
    let text = refused(&|m| {
        m.lookup.pop();
    });
    assert!(
        text.contains("boxes_lookup.png") && text.contains("bytes"),
        "{text}"
    );
    let text = refused(&|m| (m.manifest.lookup, m.manifest.version) = (None, 1));
    assert!(!text.is_empty());
    let mut plain = made(64, true);
    let lookup = plain.manifest.lookup.take().expect("there");
    (plain.manifest.version, plain.manifest.layout) = (1, lookup.points);
    let error = VertexAnimation::with_lookup(plain.manifest, plain.texels, vec![0; 3]);
    assert_eq!(
        error.expect_err("no lookup"),
        AnimationError::NoLookup { found: 3 }
    );
}

#[test]
fn numbers_of_points_are_exact_to_the_last_one() {
    for point in [0, 1, 255, 256, 65_535, 65_536, MOST_POINTS - 1] {
        assert_eq!(point_of_texel(&lookup_texel(point)), point);
        // As players compute it, in single precision.
        let codes = lookup_texel(point).map(|c| f32::from(c) / 255.0);
        let [r, g, b] = codes.map(|c| (c * 255.0 + 0.5) as u32);
        assert_eq!(r | g << 8 | b << 16, point);
    }
    let settings = RemeshSettings {
        largest_side: 65_536,
        ..RemeshSettings::default()
    };
    assert!(points_layout(&[u64::from(MOST_POINTS)], &settings).is_ok());
    let error = points_layout(&[3, u64::from(MOST_POINTS) + 1], &settings);
    assert_eq!(
        error.expect_err("too many").to_string(),
        "frame 1 has 16777217 points; 16777216 are allowed"
    );
}

#[test]
fn too_little_room_is_said() {
    let mesh = boxes(1);
    let normals = normals_of(&mesh);
    let slots = slots_in_file_order(12, 14, [0.0; 3]);
    let shown = ShownFrame {
        mesh: &mesh,
        normals: &normals,
        slots: &slots,
    };
    let table = PointTable::new(&mesh, &normals, &BOTH);
    let error = encode_points(shown, &table, &[], 24).expect_err("25 points");
    assert_eq!(
        error,
        PointsError::Room {
            found: 25,
            allowed: 24
        }
    );
    assert_eq!(absent_points(&slots), [[0.0; 3]]);
}
