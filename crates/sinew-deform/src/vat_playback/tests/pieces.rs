//! Bakes with one texel a piece: pieces that turn around an axis each and fly along a line, in closed form.

use super::*;
use sinew_geom::Vec3;

const PIECES: usize = 6;
const CORNERS: usize = 5;

/// Unit axis of a piece.
fn axis(piece: usize) -> Vec3<f64> {
    let p = piece as f64;
    Vec3::new(p.cos(), (1.7 * p).sin(), 0.5 - 0.1 * p).normalize()
}

/// Angle of a piece at a moment, frames; less than half a circle from frame to frame.
fn angle(piece: usize, moment: f64) -> f64 {
    (0.2 + 0.4 * piece as f64) * moment
}

fn pivot(piece: usize, moment: f64) -> Vec3<f64> {
    let p = piece as f64;
    Vec3::new(p - 2.0, 0.3 * moment, -0.2 * p * moment)
}

/// A vector turned by Rodrigues' formula.
fn turned(piece: usize, moment: f64, v: Vec3<f64>) -> Vec3<f64> {
    let (k, (sin, cos)) = (axis(piece), angle(piece, moment).sin_cos());
    v * cos + k.cross(&v) * sin + k * (k.dot(&v) * (1.0 - cos))
}

fn arm(vertex: usize) -> Vec3<f64> {
    let v = vertex as f64;
    Vec3::new((3.0 * v).sin(), (5.0 * v).cos(), 0.2 * (v % 4.0))
}

/// The first frame, with the texels of its pieces as second set of texture coordinates.
fn carrier(layout: &Layout) -> Mesh {
    let count = PIECES * CORNERS;
    let mut mesh = super::points(count);
    let single = |v: Vec3<f64>| [v.x as f32, v.y as f32, v.z as f32];
    let vertices = 0..count;
    mesh.positions = vertices
        .clone()
        .map(|v| single(pivot(v / CORNERS, 0.0) + arm(v)))
        .collect();
    mesh.normals = Some(
        vertices
            .clone()
            .map(|v| single(arm(v).normalize()))
            .collect(),
    );
    let uv = |v: usize| {
        let [x, y] = layout
            .texel((v / CORNERS) as u32, 0)
            .map(|c| c as f32 + 0.5);
        [x / layout.size[0] as f32, y / layout.size[1] as f32]
    };
    mesh.uvs = vec![vec![[0.3; 2]; count], vertices.map(uv).collect()];
    mesh
}

fn made(format: TexelFormat, layout: Layout) -> Arc<VertexAnimation> {
    let bake = Bake {
        has_normals: false,
        ..Bake::new(format, layout)
    };
    let mut specs = bake.specs();
    let range = match format.is_float() {
        true => Range::RAW,
        false => Range::DIRECTION,
    };
    specs.push(TextureSpec {
        quantity: Quantity::Rotation,
        format,
        ranges: vec![range; 4],
    });
    let rotation = |piece, frame: u32, c: usize| {
        let (sin, cos) = (angle(piece, f64::from(frame)) / 2.0).sin_cos();
        // Both signs are the same rotation; players find the nearer one.
        let sign = if (piece + frame as usize).is_multiple_of(2) {
            1.0
        } else {
            -1.0
        };
        let q = axis(piece) * sin;
        (sign * [q.x, q.y, q.z, cos][c]) as f32
    };
    let texels = (0..2).map(|t| {
        let spec = std::slice::from_ref(&specs[t]);
        let frames: Vec<_> = (0..FRAMES)
            .map(|frame| {
                encode_vertices(spec, PIECES, |quantity, piece, c| match quantity {
                    Quantity::Rotation => rotation(piece, frame, c),
                    _ => pivot(piece, f64::from(frame))[c] as f32,
                })
            })
            .collect();
        let frame = |frame: u32| frames[frame as usize][0].as_slice();
        texture_rows(&layout, spec[0].vertex_bytes(), frame)
    });
    let texels = texels.collect();
    let mut manifest = bake.manifest(specs);
    manifest.mode = Mode::Rigid;
    manifest.uv_set = 1;
    Arc::new(VertexAnimation::new(manifest, texels).expect("a bake"))
}

#[test]
fn pieces_turn_around_their_pivots_the_shorter_way() {
    for layout in layouts(PIECES as u32) {
        for format in FORMATS {
            let mesh = carrier(&layout);
            let bind = VatPlaybackBind::new(&made(format, layout), &mesh, "").expect("fits");
            // Whole frames, and the middle between two, where the mean of two quaternions is the rotation between.
            for moment in [0.0, 1.0, 2.5, 4.0] {
                let at = bind.frames(moment / 2.0, true);
                let (positions, normals) = run(&bind, at, &mesh.positions, Par::Rayon);
                let here = |v: usize| {
                    let piece = v / CORNERS;
                    turned(piece, moment, arm(v)) + pivot(piece, moment)
                };
                // Half a code of the place, of the pivot, and of a quaternion on an arm of two metres.
                let allowed = 4.0 * step(format) + 2e-6;
                let off = largest_difference(&positions, |v, c| here(v)[c] as f32);
                assert!(off < allowed, "{format:?} {layout:?} {moment}: {off}");
                let there = |v: usize| turned(v / CORNERS, moment, arm(v).normalize());
                let off = largest_difference(&normals, |v, c| there(v)[c] as f32);
                assert!(off < allowed, "{format:?} {layout:?} {moment}: {off}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_kernel_of_pieces_is_the_reference(format in 0..5_usize, layout in 0..4_usize, secs in -5.0..5.0_f64) {
        let layout = layouts(PIECES as u32)[layout];
        let mesh = carrier(&layout);
        let animation = made(FORMATS[format], layout);
        let bind = VatPlaybackBind::new(&animation, &mesh, "").expect("fits");
        let at = bind.frames(secs, true);
        let (positions, _) = run(&bind, at, &mesh.positions, Par::Seq);
        let [places, rotations] = [0, 1].map(|t| bind.texture(t).expect("there"));
        let wide = |v: usize| {
            let pose = PiecePose::<f64>::new(&places, &rotations, (v / CORNERS) as u32, at);
            pose.place(mesh.positions[v])
        };
        prop_assert!(largest_difference(&positions, |v, c| wide(v)[c]) < 4e-6);
    }
}

#[test]
fn meshes_that_do_not_say_which_piece_are_refused() {
    let layout = Layout::rows(PIECES as u32, FRAMES, 64).expect("fits");
    let animation = made(TexelFormat::Half, layout);
    let refused = |mesh: &Mesh| {
        let made = VatPlaybackBind::new(&animation, mesh, "");
        made.expect_err("refused").to_string()
    };
    let mut mesh = carrier(&layout);
    mesh.uvs[1][7] = [0.5, 1.5];
    let text = refused(&mesh);
    assert!(text.contains("has 0.5 1.5 at vertex 7"), "{text}");
    mesh.uvs[1][7] = [f32::NAN, -1.0];
    assert!(refused(&mesh).contains("at vertex 7"));
    mesh.uvs.truncate(1);
    let text = refused(&mesh);
    assert!(
        text.contains("texture coordinate set 1 of the mesh is missing"),
        "{text}"
    );
    assert!(text.contains("carrier 'bake.glb'"), "{text}");
}

#[test]
fn pieces_without_normals_of_the_carrier_make_none() {
    let layout = Layout::rows(PIECES as u32, FRAMES, 64).expect("fits");
    let mut mesh = carrier(&layout);
    let makes = |mesh: &Mesh| {
        let bound = bind_desc(mesh, Some(&made(TexelFormat::Half, layout)), "");
        bound.expect("fits").makes("mesh", MeshAttribute::Normals)
    };
    assert!(makes(&mesh));
    mesh.normals = None;
    assert!(!makes(&mesh));
}

#[test]
fn particles_are_refused() {
    let layout = Layout::rows(7, FRAMES, 64).expect("fits");
    let bake = Bake {
        has_normals: false,
        ..Bake::new(TexelFormat::Unorm8, layout)
    };
    let mut specs = bake.specs();
    specs.push(TextureSpec {
        quantity: Quantity::Size,
        format: TexelFormat::Unorm8,
        ranges: vec![Range::DIRECTION; 1],
    });
    let bytes = specs
        .iter()
        .map(|s| vec![0; 7 * FRAMES as usize * s.vertex_bytes()]);
    let texels: Vec<Vec<u8>> = bytes.collect();
    let mut manifest = bake.manifest(specs);
    manifest.mode = Mode::Particles;
    let animation = Arc::new(VertexAnimation::new(manifest, texels).expect("a bake"));
    let refused = VatPlaybackBind::new(&animation, &super::points(7), "").expect_err("refused");
    assert_eq!(refused, VatPlaybackError::Particles);
    assert!(
        refused.to_string().contains("does not support"),
        "{refused}"
    );
}
