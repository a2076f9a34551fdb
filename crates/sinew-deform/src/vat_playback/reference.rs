//! One vertex of a bake at one moment, generic over precision. Also the CPU kernel: it is bound by memory as it is.

use sinew_geom::{Real, Vec3};
use sinew_vat::animation::VertexAnimation;
use sinew_vat::layout::Layout;
use sinew_vat::playback::FrameBlend;
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::TextureSpec;

/// A texture of a bake with at least three channels: positions, offsets, normals or rotations.
#[derive(Clone, Copy, Debug)]
pub struct BakedTexture<'a> {
    animation: &'a VertexAnimation,
    layout: &'a Layout,
    spec: &'a TextureSpec,
    texels: &'a [u8],
}

impl<'a> BakedTexture<'a> {
    /// The texture with that index in the manifest. `None` if there is none, or it has fewer than three channels.
    pub fn new(animation: &'a VertexAnimation, texture: usize) -> Option<Self> {
        let manifest = animation.manifest();
        let spec = &manifest.textures.get(texture)?.spec;
        (spec.ranges.len() >= 3).then(|| Self {
            animation,
            layout: manifest.texture_layout(),
            spec,
            texels: animation.texels(texture),
        })
    }

    /// Its vector for a vertex (or for a piece) in a frame: `texel * scale + offset`.
    #[inline]
    pub fn at<R: Real>(&self, vertex: u32, frame: u32) -> Vec3<R> {
        let [x, y, z] = self.numbers(vertex, frame);
        Vec3::new(x, y, z)
    }

    /// Numbers of its first channels; zeros where there are fewer.
    #[inline]
    pub(super) fn numbers<R: Real, const N: usize>(&self, vertex: u32, frame: u32) -> [R; N] {
        let point = self.animation.point(vertex, frame);
        let [x, y] = self.layout.texel(point, frame);
        let texel = y as usize * self.layout.size[0] as usize + x as usize;
        let size = self.spec.format.bytes();
        let start = texel * self.spec.ranges.len() * size;
        std::array::from_fn(|c| {
            let bytes = self.texels.get(start + c * size..start + (c + 1) * size);
            let Some(range) = self.spec.ranges.get(c) else {
                return R::zero();
            };
            number::<R>(self.spec.format, bytes.unwrap_or(&[])) * R::from_single(range.scale)
                + R::from_single(range.offset)
        })
    }

    /// The vector between two frames: `a + (b - a) * weight`.
    #[inline]
    pub fn between<R: Real>(&self, vertex: u32, at: FrameBlend) -> Vec3<R> {
        let a = self.at(vertex, at.frame);
        if at.weight == 0.0 {
            return a;
        }
        a + (self.at(vertex, at.next) - a) * R::from_single(at.weight)
    }
}

/// A texel before its range: 0 to 1, or the float itself.
#[inline]
fn number<R: Real>(format: TexelFormat, bytes: &[u8]) -> R {
    let code = |code: u16, largest: f64| R::from_double(f64::from(code)) / R::from_double(largest);
    match (format, bytes) {
        (TexelFormat::Unorm8, [a]) => code(u16::from(*a), 255.0),
        (TexelFormat::Unorm16, [a, b]) => code(u16::from_le_bytes([*a, *b]), 65535.0),
        (TexelFormat::TwoUnorm8, [a, b]) => {
            code(u16::from(*a), 255.0) + code(u16::from(*b), 255.0) * R::from_double(0.01)
        }
        // Floats are exact in single precision.
        _ => R::from_single(format.decode(bytes)),
    }
}

/// Where a vertex is; `carrier` is where the mesh that carries the texture has it, which offsets are added to.
#[inline]
pub(crate) fn baked_position<R: Real>(
    places: &BakedTexture<'_>,
    vertex: u32,
    at: FrameBlend,
    carrier: Option<[f32; 3]>,
) -> [f32; 3] {
    let place = places.between::<R>(vertex, at);
    R::array3(carrier.map_or(place, |p| R::vec3(p) + place))
}

/// Its normal, a unit vector; +Y where two frames cancel.
#[inline]
pub(crate) fn baked_normal<R: Real>(
    normals: &BakedTexture<'_>,
    vertex: u32,
    at: FrameBlend,
) -> [f32; 3] {
    let normal = normals.between::<R>(vertex, at);
    let unit = normal.try_normalize(R::from_double(1e-6));
    R::array3(unit.unwrap_or_else(|| Vec3::y()))
}
