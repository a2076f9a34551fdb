//! Bakes with one texel a unique point: a lookup says which one a vertex shows.

use super::*;
use sinew_vat::lookup::LOOKUP_BYTES;
use sinew_vat::manifest::{Lookup, VERSION_WITH_LOOKUP};

const VERTICES: u32 = 300;
const POINTS: u32 = 41;

/// A point for each vertex and frame, without any order.
fn point(vertex: usize, frame: u32) -> u32 {
    (vertex as u32 * 7 + frame * 13 + 5) % POINTS
}

/// `at`: where the lookup has its texels; points are in `of_points`.
fn made(at: Layout, of_points: Layout) -> VertexAnimation {
    let bake = Bake::new(TexelFormat::Float, of_points);
    let textures = bake.made();
    let texels = [0, 1].map(|t| textures.texels(t).to_vec()).to_vec();
    let mut lookup = vec![0xff; at.texels() as usize * LOOKUP_BYTES];
    for frame in 0..FRAMES {
        for vertex in 0..VERTICES {
            let [x, y] = at.texel(vertex, frame).map(|c| c as usize);
            let start = (y * at.size[0] as usize + x) * LOOKUP_BYTES;
            let bytes = point(vertex as usize, frame).to_le_bytes();
            lookup[start..start + LOOKUP_BYTES].copy_from_slice(&bytes[..LOOKUP_BYTES]);
        }
    }
    let mut manifest = bake.manifest(bake.specs());
    manifest.mode = Mode::Remesh;
    manifest.version = VERSION_WITH_LOOKUP;
    manifest.layout = at;
    manifest.lookup = Some(Lookup {
        file: "bake_lookup.png".into(),
        points: of_points,
    });
    VertexAnimation::with_lookup(manifest, texels, lookup).expect("a bake")
}

#[test]
fn vertices_show_the_points_of_their_frames() {
    for at in layouts(VERTICES) {
        for of_points in layouts(POINTS) {
            let animation = Arc::new(made(at, of_points));
            let mesh = super::points(VERTICES as usize);
            let bind = VatPlaybackBind::new(&animation, &mesh, "").expect("fits");
            let seen = bind.frames(0.875, true);
            assert_eq!((seen.frame, seen.next, seen.weight), (1, 2, 0.75));
            let (positions, normals) = run(&bind, seen, &mesh.positions, Par::Rayon);
            let shown = |v, frame, c| place(point(v, frame) as usize, frame, c);
            let mixed = |v, c| 0.25 * shown(v, 1, c) + 0.75 * shown(v, 2, c);
            assert!(largest_difference(&positions, mixed) < 2e-6);
            let turned = |v: usize| {
                let [a, b] = [1, 2].map(|f| [0, 1, 2].map(|c| normal(point(v, f) as usize, f, c)));
                let sum = [0, 1, 2].map(|c| 0.25 * a[c] + 0.75 * b[c]);
                let length = sum.iter().map(|s| s * s).sum::<f32>().sqrt();
                sum.map(|s| s / length)
            };
            assert!(largest_difference(&normals, |v, c| turned(v)[c]) < 2e-5);
        }
    }
}
