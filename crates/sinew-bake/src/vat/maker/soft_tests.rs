//! Vertices that stay the same through texels and back.

use super::*;
use crate::vat::maker::normals::{DEFAULT_CREASE, corner_normals};
use sinew_testkit::meshes::{box_triangles, mesh_from};
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::Extent;

/// A turned and moved box with sides of one metre, welded.
fn box_at(offset: [f32; 3], turn: f32) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let corner = |i: u32| [0, 1, 2].map(|k| if i >> k & 1 == 1 { 0.5_f32 } else { -0.5 });
    let positions = (0..8).map(corner).map(|[x, y, z]| {
        let (s, c) = turn.sin_cos();
        [
            c * x + s * z + offset[0],
            y + offset[1],
            c * z - s * x + offset[2],
        ]
    });
    (positions.collect(), box_triangles())
}

/// Seven boxes that fly apart, quarter turns at a time.
fn boxes(frame: usize) -> Mesh {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for i in 0..7_u32 {
        let away = 0.1 * frame as f32;
        let offset = [3.0 * i as f32, away * (i as f32 - 3.0), 2.0 * away];
        let quarter = std::f32::consts::FRAC_PI_2 * ((frame / 8) % 4) as f32;
        let (p, t) = box_at(offset, quarter);
        triangles.extend(t.iter().map(|t| t.map(|v| v + 8 * i)));
        positions.extend(p);
    }
    mesh_from("boxes", positions, triangles)
}

fn extent(least: f32, most: f32) -> Extent {
    Extent::between(least, most, 3)
}

fn decoded(texture: &TextureSpec, bytes: &[u8], vertex: usize) -> [f32; 3] {
    let size = texture.vertex_bytes();
    let vertex = &bytes[vertex * size..(vertex + 1) * size];
    [0, 1, 2].map(|c| texture.decode(vertex, c))
}

#[test]
fn flat_boxes_have_24_vertices_each_and_normals_of_their_sides() {
    let frames: Vec<Mesh> = (0..60).map(boxes).collect();
    let carrier = SoftCarrier::new(&frames[0], DEFAULT_CREASE);
    assert_eq!(carrier.vertex_count(), 168, "seven boxes, 24 vertices each");
    let place = TextureSpec::new(Quantity::Position, TexelFormat::Float, &extent(-1.0, 1.0));
    let normal = TextureSpec::new(Quantity::Normal, TexelFormat::Unorm8, &extent(-1.0, 1.0));
    for (f, frame) in frames.iter().enumerate() {
        let texels = carrier.encode_frame(frame, &[place.clone(), normal.clone()]);
        let texels = texels.expect("same triangles");
        for v in 0..168 {
            let n = decoded(&normal, &texels[1], v);
            // 8 bits have no zero: the nearest codes are a two hundred and fifty-fifth away.
            let axis = n.iter().filter(|c| c.abs() == 1.0).count();
            let none = n.iter().filter(|c| c.abs() < 0.004).count();
            assert_eq!((axis, none), (1, 2), "frame {f}, vertex {v}: {n:?}");
        }
        for corners in carrier.triangles() {
            let [a, b, c] = corners.map(|v| decoded(&place, &texels[0], v as usize));
            let [u, w] = [b, c].map(|p| [0, 1, 2].map(|k| p[k] - a[k]));
            // Sides are a metre long, half of them is a triangle.
            let face = [0, 1, 2]
                .map(|k| u[(k + 1) % 3] * w[(k + 2) % 3] - u[(k + 2) % 3] * w[(k + 1) % 3]);
            for v in corners {
                let n = decoded(&normal, &texels[1], *v as usize);
                let off = (0..3).map(|k| (n[k] - face[k]).abs()).fold(0.0, f32::max);
                assert!(off < 0.005, "frame {f}, vertex {v}: {n:?}, face {face:?}");
            }
        }
    }
}

#[test]
fn offsets_say_more_with_the_same_bits_and_rest_is_rest() {
    let frames: Vec<Mesh> = (0..20).map(boxes).collect();
    let carrier = SoftCarrier::new(&frames[0], DEFAULT_CREASE);
    let format = TexelFormat::Unorm16;
    // Boxes go up to 2 * 1.9 and 3 * 1.9 away, and lie 18 apart.
    let specs = [
        TextureSpec::new(Quantity::Position, format, &extent(-6.5, 18.5)),
        TextureSpec::new(Quantity::Offset, format, &extent(-6.5, 6.5)),
    ];
    let mut worst = [0.0_f32; 2];
    for frame in &frames {
        let texels = carrier.encode_frame(frame, &specs).expect("same triangles");
        for v in 0..carrier.vertex_count() {
            let source = carrier.source_vertex(v);
            let (now, rest) = (frame.positions[source], frames[0].positions[source]);
            let absolute = decoded(&specs[0], &texels[0], v);
            let offset = decoded(&specs[1], &texels[1], v);
            for k in 0..3 {
                worst[0] = worst[0].max((absolute[k] - now[k]).abs());
                worst[1] = worst[1].max((rest[k] + offset[k] - now[k]).abs());
            }
        }
    }
    assert!(worst[0] <= 25.0 / 65535.0 / 2.0 * 1.02, "{worst:?}");
    assert!(worst[1] <= 13.0 / 65535.0 / 2.0 * 1.02, "{worst:?}");
    let still = carrier.encode_frame(&frames[0], &specs).expect("same");
    for v in 0..carrier.vertex_count() {
        assert_eq!(decoded(&specs[1], &still[1], v), [0.0; 3], "to the bit");
    }
}

#[test]
fn smooth_vertices_stay_one_and_keep_their_groups_as_they_bend() {
    // Two squares that share an edge, flat at first, then folded by a right angle.
    let folded = |up: f32, out: f32| {
        let positions = vec![
            [-1.0, 0.0, 0.0],
            [-1.0, 0.0, 1.0],
            [0.0, 0.0, 1.0],
            [0.0, 0.0, 0.0],
            [out, up, 1.0],
            [out, up, 0.0],
        ];
        let triangles = vec![[0, 1, 2], [0, 2, 3], [3, 2, 4], [3, 4, 5]];
        mesh_from("fold", positions, triangles)
    };
    let carrier = SoftCarrier::new(&folded(0.0, 1.0), DEFAULT_CREASE);
    assert_eq!(carrier.vertex_count(), 6);
    let spec = TextureSpec::new(Quantity::Normal, TexelFormat::Float, &extent(-1.0, 1.0));
    let bent = folded(1.0, 0.0);
    let texels = carrier
        .encode_frame(&bent, std::slice::from_ref(&spec))
        .expect("same triangles");
    // Made from the bent shape alone there would be two normals at the fold.
    let alone = corner_normals(&bent.topology, &bent.positions, DEFAULT_CREASE);
    assert!(alone[1][1] != alone[2][1]);
    let at = |source: usize| {
        (0..6)
            .find(|v| carrier.source_vertex(*v) == source)
            .expect("used")
    };
    for source in [2, 3] {
        let n = decoded(&spec, &texels[0], at(source));
        let length = (n[0] * n[0] + n[1] * n[1]).sqrt();
        assert!((length - 1.0).abs() < 1e-6 && n[2].abs() < 1e-6, "{n:?}");
        assert!(n[0] < -0.4 && n[1] > 0.4, "between both sides: {n:?}");
    }
}

#[test]
fn other_meshes_are_refused() {
    let carrier = SoftCarrier::new(&boxes(0), DEFAULT_CREASE);
    let mut fewer = boxes(1);
    fewer.positions.pop();
    assert_eq!(
        carrier.check(&fewer),
        Err(SoftError::Vertices {
            found: 55,
            expected: 56
        })
    );
    let mut turned = boxes(1);
    let mut triangles = turned.topology.triangles().to_vec();
    triangles[5].rotate_left(1);
    turned.topology = Arc::new(Topology::new(56, triangles.clone()).expect("in range"));
    assert_eq!(
        carrier.check(&turned),
        Err(SoftError::Triangle { triangle: 5 })
    );
    triangles[5].rotate_right(1);
    triangles.pop();
    turned.topology = Arc::new(Topology::new(56, triangles).expect("in range"));
    assert_eq!(
        carrier.check(&turned),
        Err(SoftError::Triangle { triangle: 83 })
    );
}

#[test]
fn quads_cut_along_the_other_diagonal_are_the_same_surface() {
    let topology = |triangles: &[[u32; 3]]| Topology::new(6, triangles.to_vec()).expect("in range");
    // Two quads side by side: 0 1 2 3 and 1 4 5 2.
    let first = topology(&[[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]]);
    let flipped = topology(&[[0, 1, 3], [1, 2, 3], [1, 4, 5], [1, 5, 2]]);
    assert!(is_same_surface(&first, &first) && is_same_surface(&first, &flipped));
    let torn = topology(&[[0, 1, 3], [1, 2, 3], [1, 4, 5], [1, 5, 0]]);
    let turned_over = topology(&[[0, 3, 1], [1, 3, 2], [1, 4, 5], [1, 5, 2]]);
    assert!(!is_same_surface(&first, &torn) && !is_same_surface(&first, &turned_over));
    assert!(!is_same_surface(&first, &topology(&[[0, 1, 2]])));
    let at = |v: u32| [(v % 3) as f32, (v / 3) as f32, 0.0];
    let mesh = |t: &Topology| Mesh::new("", t.clone(), (0..6).map(at).collect());
    let carrier = SoftCarrier::new(&mesh(&first), 1.0);
    let mut frame = mesh(&flipped);
    assert_eq!(
        carrier.check(&frame),
        Err(SoftError::Triangle { triangle: 0 })
    );
    carrier.adopt(&mut frame).expect("the same surface");
    assert_eq!(*frame.topology, first);
    assert!(carrier.adopt(&mut mesh(&torn)).is_err());
}

/// Closed surfaces have no border that would tell.
#[test]
fn closed_surfaces_that_are_turned_over_are_others() {
    let sides = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let topology = |triangles: Vec<[u32; 3]>| Topology::new(4, triangles).expect("in range");
    let first = topology(sides.to_vec());
    let over = topology(sides.map(|[a, b, c]| [b, a, c]).to_vec());
    assert!(is_same_surface(&first, &first) && !is_same_surface(&first, &over));
    let at = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let carrier = SoftCarrier::new(&Mesh::new("", first, at.clone()), 1.0);
    let mut frame = Mesh::new("", over, at);
    assert_eq!(
        carrier.adopt(&mut frame),
        Err(SoftError::TurnedOver { triangle: 0 })
    );
}
