//! A renderer, plain scenes, and the camera's definition once more.

use sinew_geom::{Bounds, Image, Mesh, Topology};
use sinew_gpu::Gpu;
use sinew_picture::{Camera, Lens};
use sinew_render::{
    Background, Lighting, Paint, RenderError, Renderer, Scene, Shot, Surface, SurfaceLook,
};

pub(crate) type Point = [f64; 3];

/// A device and its renderer; `None` without a device.
pub(crate) fn renderer() -> Option<(Gpu, Renderer)> {
    let gpu = sinew_gpu::test_support::gpu()?;
    let renderer = Renderer::new(&gpu).expect("a renderer");
    Some((gpu, renderer))
}

/// Nothing but what is drawn, on nothing.
pub(crate) fn bare(width: u32, height: u32, camera: Camera) -> Shot {
    let mut shot = Shot::studio(width, height, camera);
    shot.background = Background::Transparent;
    shot.ground = false;
    shot.shadows = false;
    shot.occlusion = false;
    shot
}

/// Exactly the colours of the paint.
pub(crate) fn flat<'a>(surface: &'a Surface, paint: Paint<'a>) -> SurfaceLook<'a> {
    SurfaceLook::clay(surface)
        .paint(paint)
        .lighting(Lighting::Flat)
}

pub(crate) fn scene(look: SurfaceLook<'_>, bounds: Option<Bounds>) -> Scene<'_> {
    let mut scene = Scene::default();
    scene.surfaces = vec![look];
    scene.bounds = bounds;
    scene
}

pub(crate) fn draw(
    renderer: &mut Renderer,
    look: SurfaceLook<'_>,
    mesh: &Mesh,
    shot: &Shot,
) -> Result<Image, RenderError> {
    renderer.render(&scene(look, mesh.bounds()), shot)
}

/// From ten metres before the origin, two metres high, without perspective.
pub(crate) fn front(aspect: f32) -> Camera {
    let lens = Lens::Orthographic { half_height: 1.0 };
    Camera::look_at([0.0, 0.0, 10.0], [0.0; 3], lens, aspect).expect("two places")
}

/// A rectangle around the origin in the plane `z`, `v` down.
pub(crate) fn quad(half: [f32; 2], z: f32) -> Mesh {
    let [x, y] = half;
    let positions = vec![[-x, y, z], [-x, -y, z], [x, -y, z], [x, y, z]];
    let topology = Topology::new(4, vec![[0, 1, 2], [0, 2, 3]]).expect("four corners");
    let mut mesh = Mesh::new("quad", topology, positions);
    mesh.normals = Some(vec![[0.0, 0.0, 1.0]; 4]);
    mesh.uvs = vec![vec![[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]];
    mesh
}

pub(crate) fn double(p: [f32; 3]) -> Point {
    p.map(f64::from)
}

pub(crate) fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn sub(a: Point, b: Point) -> Point {
    std::array::from_fn(|c| a[c] - b[c])
}

pub(crate) fn cross(a: Point, b: Point) -> Point {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

pub(crate) fn unit(a: Point) -> Point {
    let length = dot(a, a).sqrt();
    a.map(|c| c / length)
}

/// A camera as it is defined: where it stands, its axes, its lens. Pixels count from the top left corner.
pub(crate) struct Eye {
    camera: Camera,
    size: [f64; 2],
}

impl Eye {
    pub(crate) fn of(shot: &Shot) -> Self {
        Self {
            camera: shot.camera,
            size: [f64::from(shot.width), f64::from(shot.height)],
        }
    }

    /// Half the height of what is seen at a distance of one metre or anywhere, and whether the former.
    fn half_height(&self) -> (f64, bool) {
        match self.camera.lens() {
            Lens::Perspective { tan_half_height } => (f64::from(tan_half_height), true),
            Lens::Orthographic { half_height } => (f64::from(half_height), false),
        }
    }

    /// Where a point is in the picture.
    pub(crate) fn pixel_of(&self, p: [f32; 3]) -> [f64; 2] {
        let d = sub(double(p), double(self.camera.eye()));
        let (half, shrinks) = self.half_height();
        let along = |axis: [f32; 3]| dot(d, double(axis));
        let depth = -along(self.camera.backward());
        let half = half * if shrinks { depth } else { 1.0 };
        let half_width = half * f64::from(self.camera.aspect());
        [
            (1.0 + along(self.camera.right()) / half_width) * 0.5 * self.size[0],
            (1.0 - along(self.camera.up()) / half) * 0.5 * self.size[1],
        ]
    }

    /// Where the ray of a place in the picture begins and where it goes.
    pub(crate) fn ray(&self, at: [f64; 2]) -> (Point, Point) {
        let (half, shrinks) = self.half_height();
        let x = (2.0 * at[0] / self.size[0] - 1.0) * half * f64::from(self.camera.aspect());
        let y = (1.0 - 2.0 * at[1] / self.size[1]) * half;
        let (eye, right) = (double(self.camera.eye()), double(self.camera.right()));
        let (up, backward) = (double(self.camera.up()), double(self.camera.backward()));
        let aside: Point = std::array::from_fn(|c| right[c] * x + up[c] * y);
        if shrinks {
            return (eye, sub(aside, backward));
        }
        (
            std::array::from_fn(|c| eye[c] + aside[c]),
            backward.map(|c| -c),
        )
    }
}

/// Weights of the corners of a triangle where a ray meets its plane, and the distance in lengths of the direction.
pub(crate) fn hit(ray: (Point, Point), corners: [Point; 3]) -> ([f64; 3], f64) {
    let (from, along) = ray;
    let (e1, e2) = (sub(corners[1], corners[0]), sub(corners[2], corners[0]));
    let p = cross(along, e2);
    let t = sub(from, corners[0]);
    let q = cross(t, e1);
    let scale = 1.0 / dot(e1, p);
    let (b, c) = (dot(t, p) * scale, dot(along, q) * scale);
    ([1.0 - b - c, b, c], dot(e2, q) * scale)
}

/// The triangle that covers a whole pixel nearest to the camera, with the weights of its corners at the pixel's middle. `None` where an edge of a nearer one
/// may cross the pixel.
pub(crate) fn whole_pixel(
    eye: &Eye,
    mesh: &Mesh,
    positions: &[[f32; 3]],
    [x, y]: [usize; 2],
) -> Option<([u32; 3], [f64; 3])> {
    let at = |dx: f64, dy: f64| eye.ray([x as f64 + dx, y as f64 + dy]);
    let corners_of_pixel = [(-0.1, -0.1), (1.1, -0.1), (-0.1, 1.1), (1.1, 1.1)];
    let mut best: Option<([u32; 3], [f64; 3], f64)> = None;
    let mut nearest_touch = f64::INFINITY;
    for t in mesh.topology.triangles() {
        let corners = t.map(|v| double(positions[v as usize]));
        let inside = |(dx, dy): (f64, f64)| hit(at(dx, dy), corners).0.iter().all(|w| *w >= 0.0);
        let (weights, far) = hit(at(0.5, 0.5), corners);
        if far <= 0.0 || !far.is_finite() {
            continue;
        }
        let touched = corners_of_pixel.map(inside);
        if touched.iter().all(|i| *i) {
            if best.is_none_or(|b| far < b.2) {
                best = Some((*t, weights, far));
            }
        } else if touched.iter().any(|i| *i) || weights.iter().all(|w| *w >= 0.0) {
            nearest_touch = nearest_touch.min(far);
        }
    }
    best.filter(|b| b.2 < nearest_touch).map(|b| (b.0, b.1))
}

pub(crate) fn pixels(image: &Image) -> impl Iterator<Item = ([usize; 2], [u8; 4])> + '_ {
    let width = image.width();
    image
        .pixels()
        .iter()
        .enumerate()
        .map(move |(i, &p)| ([i % width, i / width], p))
}

/// How many pixels show something.
pub(crate) fn covered(image: &Image) -> usize {
    image.pixels().iter().filter(|p| p[3] > 0).count()
}

/// sRGB value of a linear one, 0 to 255.
pub(crate) fn encoded(v: f64) -> f64 {
    let v = if v <= 0.003_130_8 {
        v * 12.92
    } else {
        1.055 * v.powf(1.0 / 2.4) - 0.055
    };
    v * 255.0
}

/// Linear value of an sRGB one.
pub(crate) fn linear(v: u8) -> f64 {
    let v = f64::from(v) / 255.0;
    if v <= 0.04045 {
        v / 12.92
    } else {
        ((v + 0.055) / 1.055).powf(2.4)
    }
}

#[track_caller]
pub(crate) fn assert_near(found: [u8; 4], expected: [f64; 3], most: f64, what: &str) {
    for c in 0..3 {
        let difference = (f64::from(found[c]) - expected[c]).abs();
        assert!(
            difference <= most,
            "{what}: {found:?}, expected {expected:?}"
        );
    }
}
