//! The canvas: supersampled colour and depth, triangles and lines.
//!
//! Each pixel has 3 x 3 samples with colour and depth. A triangle fills the samples whose centres are inside of it, with depth interpolated
//! as `1/z` and everything else perspective-correct, and is shaded at each sample. Lines have a thickness in pixels and are moved towards
//! the camera by 0.2 % of their depth, which keeps them visible on surfaces. [`Picture::resolve`] limits samples to 0 to 1, averages them
//! and encodes sRGB. There is no clipping: a triangle that reaches behind the camera is left out.
//!
//! Cost: the samples of the bounding box of each triangle or line, on one thread.

use crate::PictureError;
use crate::camera::Camera;
use crate::shade::Lights;
use crate::shade::UP;
use sinew_geom::Image;
use sinew_geom::vec3::{area_vector, dot, sub, unit};

/// Samples a pixel along each axis.
const SAMPLES: usize = 3;
/// Base colour of meshes without colours, linear.
const CLAY: [f32; 4] = [0.55, 0.52, 0.48, 1.0];
/// Lines are drawn this part of their depth nearer, so that they win against the surface they lie on.
const LINE_BIAS: f32 = 2e-3;

/// The background of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Background {
    /// No background: alpha 0.
    #[default]
    Transparent,
    /// One linear RGB colour.
    Plain([f32; 3]),
    /// Linear RGB from top to bottom.
    Gradient([f32; 3], [f32; 3]),
}

impl Background {
    /// A quiet light grey gradient for documents.
    pub const STUDIO: Self = Self::Gradient([0.86, 0.88, 0.90], [0.62, 0.64, 0.67]);
}

/// A mesh to draw. Arrays have one entry per vertex.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MeshPicture<'a> {
    /// Positions in scene space, metres.
    pub positions: &'a [[f32; 3]],
    /// Unit normals. With `None`, [`sinew_geom::smooth_normals`] are computed in each call.
    pub normals: Option<&'a [[f32; 3]]>,
    /// Counter-clockwise seen from outside; both sides are drawn.
    pub triangles: &'a [[u32; 3]],
    /// Linear RGBA; alpha is ignored. With `None`, the mesh is grey-brown like clay.
    pub colors: Option<&'a [[f32; 4]]>,
    /// Linear RGB of the edges of triangles; `None` draws none.
    pub wireframe: Option<[f32; 3]>,
}

impl<'a> MeshPicture<'a> {
    /// A clay mesh with smooth normals.
    pub fn new(positions: &'a [[f32; 3]], triangles: &'a [[u32; 3]]) -> Self {
        Self {
            positions,
            normals: None,
            triangles,
            colors: None,
            wireframe: None,
        }
    }

    fn check(&self) -> Result<(), PictureError> {
        let vertices = self.positions.len();
        let lengths = [
            ("normals", self.normals.map(<[_]>::len)),
            ("colors", self.colors.map(<[_]>::len)),
        ];
        for (what, found) in lengths {
            if let Some(found) = found.filter(|&n| n != vertices) {
                return Err(PictureError::Length {
                    what,
                    found,
                    vertices,
                });
            }
        }
        for (triangle, t) in self.triangles.iter().enumerate() {
            if let Some(&vertex) = t.iter().find(|&&v| v as usize >= vertices) {
                return Err(PictureError::VertexOutOfRange {
                    triangle,
                    vertex,
                    vertices,
                });
            }
        }
        Ok(())
    }
}

/// A straight line in scene space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinePicture {
    /// One end, metres.
    pub from: [f32; 3],
    /// Other end, metres.
    pub to: [f32; 3],
    /// Linear RGB.
    pub color: [f32; 3],
}

/// A picture in progress: draw into it, then call [`Self::resolve`]. 180 bytes per pixel.
#[derive(Clone, Debug)]
pub struct Picture {
    width: usize,
    height: usize,
    color: Vec<[f32; 4]>,
    depth: Vec<f32>,
}

/// A corner of a triangle on the canvas.
#[derive(Clone, Copy)]
struct Corner {
    at: [f32; 3],
    normal: [f32; 3],
    color: [f32; 3],
}

impl Picture {
    /// An empty, transparent picture of `width` x `height` pixels, at least one each.
    pub fn new(width: usize, height: usize) -> Self {
        Self::with_background(width, height, Background::Transparent)
    }

    /// An empty picture on that background.
    pub fn with_background(width: usize, height: usize, background: Background) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        let (w, h) = (width * SAMPLES, height * SAMPLES);
        let mut color = Vec::with_capacity(w * h);
        for y in 0..h {
            let s = (y as f32 + 0.5) / h as f32;
            let [r, g, b, a] = match background {
                Background::Transparent => [0.0; 4],
                Background::Plain([r, g, b]) => [r, g, b, 1.0],
                Background::Gradient(top, bottom) => {
                    let c: [f32; 3] = std::array::from_fn(|c| top[c] + (bottom[c] - top[c]) * s);
                    [c[0], c[1], c[2], 1.0]
                }
            };
            color.extend(std::iter::repeat_n([r, g, b, a], w));
        }
        Self {
            width,
            height,
            color,
            depth: vec![f32::INFINITY; w * h],
        }
    }

    /// Width divided by height, as [`Camera::framing`] needs it.
    pub fn aspect(&self) -> f32 {
        self.width as f32 / self.height as f32
    }

    fn size(&self) -> (usize, usize) {
        (self.width * SAMPLES, self.height * SAMPLES)
    }

    /// Draws a mesh over what is there, by depth. Both sides of triangles are drawn and lit. Triangles that reach behind the camera or are
    /// not finite are left out.
    ///
    /// # Errors
    /// [`PictureError::Length`] and [`PictureError::VertexOutOfRange`]; nothing is drawn then.
    pub fn draw_mesh(
        &mut self,
        mesh: &MeshPicture<'_>,
        camera: &Camera,
    ) -> Result<(), PictureError> {
        mesh.check()?;
        let computed;
        let normals = match mesh.normals {
            Some(n) => n,
            None => {
                computed = sinew_geom::smooth_normals(mesh.positions, mesh.triangles);
                &computed
            }
        };
        let (w, h) = self.size();
        let lights = Lights::new(camera);
        let corner = |v: u32| {
            let v = v as usize;
            let c = mesh.colors.map_or(CLAY, |c| c[v]);
            Some(Corner {
                at: camera.project(mesh.positions[v], w as f32, h as f32)?,
                normal: normals[v],
                color: [c[0], c[1], c[2]],
            })
        };
        for t in mesh.triangles {
            if let [Some(a), Some(b), Some(c)] = t.map(corner) {
                // Seen from behind, the surface is lit as if it faced the camera.
                let corners = t.map(|v| mesh.positions[v as usize]);
                let flip = dot(area_vector(corners), sub(camera.eye, corners[0])) < 0.0;
                self.fill([a, b, c], &lights, if flip { -1.0 } else { 1.0 });
            }
        }
        if let Some(color) = mesh.wireframe {
            let sides = mesh
                .triangles
                .iter()
                .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
            let mut edges: Vec<[u32; 2]> = sides.map(|[a, b]| [a.min(b), a.max(b)]).collect();
            // Inner edges are met from both sides; once is enough.
            edges.sort_unstable();
            edges.dedup();
            for edge in edges {
                let [from, to] = edge.map(|v| mesh.positions[v as usize]);
                self.stroke(&LinePicture { from, to, color }, camera, 0.45, false);
            }
        }
        Ok(())
    }

    /// Draws lines with a thickness in pixels. With `on_top`, meshes do not hide them. Lines with an end behind the camera are left out.
    pub fn draw_lines(
        &mut self,
        lines: &[LinePicture],
        camera: &Camera,
        thickness: f32,
        on_top: bool,
    ) {
        for line in lines {
            self.stroke(line, camera, thickness, on_top);
        }
    }

    fn fill(&mut self, t: [Corner; 3], lights: &Lights, side: f32) {
        let (w, h) = self.size();
        let [a, b, c] = t.map(|c| [c.at[0], c.at[1]]);
        let edge = |p: [f32; 2], q: [f32; 2], x: f32, y: f32| {
            (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0])
        };
        let area = edge(a, b, c[0], c[1]);
        if area == 0.0 || !area.is_finite() {
            return;
        }
        let inverse = t.map(|c| 1.0 / c.at[2]);
        let (x0, x1) = span(a[0].min(b[0]).min(c[0]), a[0].max(b[0]).max(c[0]), w);
        let (y0, y1) = span(a[1].min(b[1]).min(c[1]), a[1].max(b[1]).max(c[1]), h);
        for y in y0..y1 {
            for x in x0..x1 {
                let (px, py) = (x as f32 + 0.5, y as f32 + 0.5);
                let l = [
                    edge(b, c, px, py) / area,
                    edge(c, a, px, py) / area,
                    edge(a, b, px, py) / area,
                ];
                if l.iter().any(|&l| l < 0.0) {
                    continue;
                }
                // Depth is linear in 1/z on the screen, everything else after dividing by z.
                let weights: [f32; 3] = std::array::from_fn(|k| l[k] * inverse[k]);
                let depth = 1.0 / (weights[0] + weights[1] + weights[2]);
                let i = y * w + x;
                if depth < self.depth[i] {
                    let mix = |f: fn(&Corner) -> [f32; 3]| -> [f32; 3] {
                        std::array::from_fn(|c| {
                            (0..3).map(|k| f(&t[k])[c] * weights[k]).sum::<f32>() * depth
                        })
                    };
                    let normal = unit(mix(|c| c.normal)).unwrap_or(UP).map(|n| n * side);
                    let [r, g, b] = lights.shade(normal, mix(|c| c.color));
                    self.depth[i] = depth;
                    self.color[i] = [r, g, b, 1.0];
                }
            }
        }
    }

    fn stroke(&mut self, line: &LinePicture, camera: &Camera, thickness: f32, on_top: bool) {
        let (w, h) = self.size();
        let project = |p| camera.project(p, w as f32, h as f32);
        let (Some(a), Some(b)) = (project(line.from), project(line.to)) else {
            return;
        };
        let radius = 0.5 * thickness * SAMPLES as f32;
        let (x0, x1) = span(a[0].min(b[0]) - radius, a[0].max(b[0]) + radius, w);
        let (y0, y1) = span(a[1].min(b[1]) - radius, a[1].max(b[1]) + radius, h);
        let d = [b[0] - a[0], b[1] - a[1]];
        let length2 = d[0] * d[0] + d[1] * d[1];
        for y in y0..y1 {
            for x in x0..x1 {
                let p = [x as f32 + 0.5 - a[0], y as f32 + 0.5 - a[1]];
                let s = if length2 > 0.0 {
                    ((p[0] * d[0] + p[1] * d[1]) / length2).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                let off = [p[0] - s * d[0], p[1] - s * d[1]];
                let depth = 1.0 / ((1.0 - s) / a[2] + s / b[2]) * (1.0 - LINE_BIAS);
                let i = y * w + x;
                if off[0] * off[0] + off[1] * off[1] <= radius * radius
                    && (on_top || depth <= self.depth[i])
                {
                    self.depth[i] = self.depth[i].min(depth);
                    self.color[i] = [line.color[0], line.color[1], line.color[2], 1.0];
                }
            }
        }
    }

    /// The finished picture: 8-bit sRGB with straight alpha. The picture can be drawn on after that.
    pub fn resolve(&self) -> Image {
        let w = self.width * SAMPLES;
        let mut pixels = Vec::with_capacity(self.width * self.height);
        // Powers are dear, and backgrounds are the same along a row.
        let mut last = ([0.0_f32; 4], [0; 4]);
        for y in 0..self.height {
            for x in 0..self.width {
                let mut sum = [0.0_f32; 4];
                for s in 0..SAMPLES * SAMPLES {
                    let i = (y * SAMPLES + s / SAMPLES) * w + x * SAMPLES + s % SAMPLES;
                    // Clamped before averaging: a glint must not undo the smoothing of its edge.
                    let c = self.color[i].map(|v| v.clamp(0.0, 1.0));
                    for k in 0..4 {
                        sum[k] += c[k];
                    }
                }
                if sum == last.0 {
                    pixels.push(last.1);
                    continue;
                }
                let alpha = sum[3] / (SAMPLES * SAMPLES) as f32;
                let encode = |v: f32| {
                    if sum[3] > 0.0 { to_srgb(v / sum[3]) } else { 0 }
                };
                let pixel = [
                    encode(sum[0]),
                    encode(sum[1]),
                    encode(sum[2]),
                    (alpha * 255.0).round() as u8,
                ];
                last = (sum, pixel);
                pixels.push(pixel);
            }
        }
        Image::from_pixels(self.width, self.height, pixels)
    }
}

/// The cells `lo..=hi` touches among `0..size`.
fn span(lo: f32, hi: f32, size: usize) -> (usize, usize) {
    let at = |v: f32| v.clamp(0.0, size as f32) as usize;
    (at(lo.floor()), at(hi.ceil()))
}

/// sRGB's transfer function, in steps of 1/255.
pub(crate) fn to_srgb(linear: f32) -> u8 {
    let v = linear.clamp(0.0, 1.0);
    let s = if v <= 0.003_130_8 {
        12.92 * v
    } else {
        1.055 * v.powf(1.0 / 2.4) - 0.055
    };
    (s * 255.0).round() as u8
}
