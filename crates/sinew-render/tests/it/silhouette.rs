//! What is covered is where the triangles are.

use crate::common::{Eye, Point, bare, draw, flat, renderer};
use sinew_geom::{Asset, Image, Mesh, Selection};
use sinew_picture::{Camera, Lens};
use sinew_render::{Paint, Shot, Surface};

/// Samples of a pixel along each axis.
const FINE: usize = 4;

/// Generated characters, and the real ones that are there.
#[expect(clippy::print_stdout, reason = "tests say what they skip")]
fn characters() -> Vec<Asset> {
    let mut all = sinew_samples::all().expect("samples");
    let Some(data) = sinew_testkit::shared_data() else {
        println!("skipped: no shared data");
        return all;
    };
    for name in ["cesium_man.gltf", "fox.glb", "kaykit_knight.glb"] {
        let path = data.join("characters").join(name);
        let file = sinew_io::read_any(&path).unwrap_or_else(|e| panic!("{e}"));
        all.push(file.asset);
    }
    all
}

/// How many of the fine samples of each pixel triangles cover.
fn coverage(eye: &Eye, shot: &Shot, mesh: &Mesh) -> Vec<usize> {
    let (width, height) = (shot.width as usize * FINE, shot.height as usize * FINE);
    let mut fine = vec![false; width * height];
    let scale = |p: &[f32; 3]| eye.pixel_of(*p).map(|c| c * FINE as f64);
    let places: Vec<[f64; 2]> = mesh.positions.iter().map(scale).collect();
    for t in mesh.topology.triangles() {
        let corners = t.map(|v| places[v as usize]);
        let range = |axis: usize, most: usize| {
            let (lo, hi) = corners
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| {
                    (l.min(p[axis]), h.max(p[axis]))
                });
            lo.floor().clamp(0.0, most as f64) as usize..hi.ceil().clamp(0.0, most as f64) as usize
        };
        for y in range(1, height) {
            for x in range(0, width) {
                let at = [x as f64 + 0.5, y as f64 + 0.5];
                fine[y * width + x] |= contains(corners, at);
            }
        }
    }
    let mut counts = vec![0; shot.width as usize * shot.height as usize];
    for (i, _) in fine.iter().enumerate().filter(|f| *f.1) {
        counts[i / width / FINE * shot.width as usize + i % width / FINE] += 1;
    }
    counts
}

fn contains([a, b, c]: [[f64; 2]; 3], p: [f64; 2]) -> bool {
    let side =
        |a: [f64; 2], b: [f64; 2]| (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
    let sides = [side(a, b), side(b, c), side(c, a)];
    sides.iter().all(|s| *s >= 0.0) || sides.iter().all(|s| *s <= 0.0)
}

/// Pixels and vertices that are not where they should be.
#[derive(Debug, Default)]
struct Faults {
    /// Covered, and no triangle within a pixel.
    stray: usize,
    /// Triangles cover all of it, and the picture does not.
    holes: usize,
    /// Vertices with no covered pixel within a pixel.
    lost_vertices: usize,
}

impl Faults {
    fn find(image: &Image, eye: &Eye, shot: &Shot, mesh: &Mesh) -> Self {
        let counts = coverage(eye, shot, mesh);
        let (width, height) = (image.width(), image.height());
        let near = |x: usize, y: usize, test: &dyn Fn(usize) -> bool| {
            let (xs, ys) = (
                x.saturating_sub(1)..(x + 2).min(width),
                y.saturating_sub(1)..(y + 2).min(height),
            );
            ys.into_iter()
                .any(|y| xs.clone().any(|x| test(y * width + x)))
        };
        let alpha = |i: usize| image.pixels()[i][3];
        let mut out = Self::default();
        // Slivers pass between samples; their corners tell.
        let mut has_vertex = vec![false; width * height];
        for &v in mesh.topology.triangles().as_flattened() {
            let [x, y] = eye.pixel_of(mesh.positions[v as usize]);
            if x < 0.0 || y < 0.0 || x >= width as f64 || y >= height as f64 {
                continue;
            }
            let (x, y) = (x as usize, y as usize);
            if !std::mem::replace(&mut has_vertex[y * width + x], true) {
                out.lost_vertices += usize::from(!near(x, y, &|i| alpha(i) > 0));
            }
        }
        for i in 0..width * height {
            let reached = near(i % width, i / width, &|i| counts[i] > 0 || has_vertex[i]);
            out.stray += usize::from(alpha(i) > 0 && !reached);
            out.holes += usize::from(counts[i] == FINE * FINE && alpha(i) < 255);
        }
        out
    }

    /// Where a gap between two limbs is narrower than the fine samples, a pixel may differ.
    fn is_fine(&self) -> bool {
        self.stray == 0 && self.lost_vertices == 0 && self.holes <= 2
    }
}

/// Cameras around a mesh: with perspective from near and far, without, in wide and high pictures, and one that cuts the mesh off.
fn shots(mesh: &Mesh) -> Vec<Shot> {
    let (lo, hi) = mesh.bounds().expect("vertices");
    let middle: [f32; 3] = std::array::from_fn(|c| 0.5 * (lo[c] + hi[c]));
    let size = mesh.diagonal();
    let from = |d: [f32; 3], lens, aspect| {
        let eye = std::array::from_fn(|c| middle[c] + d[c] * size);
        Camera::look_at(eye, middle, lens, aspect).expect("two places")
    };
    let perspective = |t| Lens::Perspective { tan_half_height: t };
    let flat = Lens::Orthographic {
        half_height: 0.55 * size,
    };
    vec![
        bare(300, 200, Camera::framing(&mesh.positions, 0.6, 0.25, 1.5)),
        bare(200, 200, from([0.4, 1.9, -0.7], flat, 1.0)),
        bare(
            331,
            97,
            from([-1.1, 0.3, 0.8], perspective(0.35), 331.0 / 97.0),
        ),
        bare(90, 240, from([0.5, -0.2, 0.45], perspective(0.6), 0.375)),
    ]
}

#[test]
fn what_is_covered_is_where_the_triangles_are() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    for asset in characters() {
        let mesh = asset.merged(&Selection::All).expect("meshes");
        let surface = Surface::new(&gpu, &mesh).expect("a surface");
        for (number, shot) in shots(&mesh).iter().enumerate() {
            let look = flat(&surface, Paint::CLAY);
            let image = draw(&mut renderer, look, &mesh, shot).expect("a picture");
            let faults = Faults::find(&image, &Eye::of(shot), shot, &mesh);
            assert!(
                faults.is_fine(),
                "{}, camera {number}: {faults:?}",
                asset.name
            );
            assert!(
                crate::common::covered(&image) > 300,
                "{}, camera {number}",
                asset.name
            );
        }
    }
}

/// Keeps the test above honest.
#[test]
fn a_lens_two_in_a_hundred_off_is_noticed() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let mesh = sinew_samples::creature().expect("a sample").meshes[0].clone();
    let surface = Surface::new(&gpu, &mesh).expect("a surface");
    let camera = Camera::framing(&mesh.positions, 0.6, 0.25, 1.5);
    let Lens::Perspective { tan_half_height } = camera.lens() else {
        panic!("framing has perspective");
    };
    let target: Point = std::array::from_fn(|c| f64::from(camera.eye()[c] - camera.backward()[c]));
    for (factor, fits) in [(1.0, true), (1.02, false), (0.98, false)] {
        let lens = Lens::Perspective {
            tan_half_height: tan_half_height * factor,
        };
        let wrong = Camera::look_at(camera.eye(), target.map(|c| c as f32), lens, 1.5);
        let shot = bare(300, 200, wrong.expect("two places"));
        let look = flat(&surface, Paint::CLAY);
        let image = draw(&mut renderer, look, &mesh, &shot).expect("a picture");
        let told = bare(300, 200, camera);
        let faults = Faults::find(&image, &Eye::of(&told), &told, &mesh);
        assert_eq!(faults.is_fine(), fits, "{factor}: {faults:?}");
    }
}
