//! Materials, images and cameras: what pictures need besides geometry. No deformer reads them.

/// Materials, images and cameras of a file.
///
/// A minor version may add fields: end a literal with `..Appearance::default()`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Appearance {
    /// Materials, indexed by [`crate::MeshPart::material`].
    pub materials: Vec<Material>,
    /// Images, indexed by [`Texture::image`]; `None` for an image that could not be read, which a warning reports.
    pub images: Vec<Option<EncodedImage>>,
    /// Cameras of the scene.
    pub cameras: Vec<SceneCamera>,
}

/// The base colour of a surface: factor times texture.
///
/// A minor version may add fields: end a literal with `..Material::default()`.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Name in the file.
    pub name: String,
    /// Base colour factor, linear RGBA, 0 to 1.
    pub base_color: [f32; 4],
    /// Texture to multiply the factor with.
    pub base_color_texture: Option<Texture>,
    /// Use of alpha.
    pub alpha: AlphaMode,
    /// Whether the back of triangles is visible.
    pub double_sided: bool,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: String::new(),
            base_color: [1.0; 4],
            base_color_texture: None,
            alpha: AlphaMode::Opaque,
            double_sided: false,
        }
    }
}

/// Use of the alpha of a base colour.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AlphaMode {
    /// Alpha is ignored.
    #[default]
    Opaque,
    /// The surface is visible where alpha is at least this value, and invisible elsewhere.
    Mask(f32),
    /// The surface is translucent.
    Blend,
}

/// An image on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Texture {
    /// Index into [`Appearance::images`].
    pub image: usize,
    /// Index into [`crate::Mesh::uvs`].
    pub uv_set: usize,
    /// Rows of the map from texture coordinates to image coordinates: `u' = row 0 . (u, v, 1)`, `v' = row 1 . (u, v, 1)`; `v` points down.
    pub image_from_uv: [[f32; 3]; 2],
    /// Wrapping along u and along v.
    pub wrap: [Wrap; 2],
    /// Whether to sample the nearest pixel, without filtering.
    pub nearest: bool,
}

/// Wrapping beyond the border of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wrap {
    /// Repeats the image.
    #[default]
    Repeat,
    /// Repeats the image, mirrored every second time.
    Mirrored,
    /// Repeats its outermost pixels.
    Clamp,
}

/// An encoded image of the file. Colours are sRGB, alpha is linear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedImage {
    /// Name in the file, or of the file.
    pub name: String,
    /// Its encoding, detected from its first bytes.
    pub format: ImageFormat,
    /// The encoded bytes.
    pub bytes: Vec<u8>,
}

/// Encoding of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFormat {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
}

/// A camera on a node. It looks along the negative Z axis of the node; Y is up.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneCamera {
    /// Name in the file.
    pub name: String,
    /// Index into [`crate::Rig::nodes`].
    pub node: usize,
    /// Its projection.
    pub projection: Projection,
}

/// Projection of a camera; lengths in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// Perspective projection.
    Perspective {
        /// Vertical field of view in radians, between 0 and pi.
        fov_y: f32,
        /// Aspect ratio, width over height; if `None`, that of the picture.
        aspect: Option<f32>,
        /// Nearest distance.
        near: f32,
        /// Farthest distance; `None` for infinity.
        far: Option<f32>,
    },
    /// Orthographic projection.
    Orthographic {
        /// Half of the width and of the height.
        half_size: [f32; 2],
        /// Nearest distance.
        near: f32,
        /// Farthest distance.
        far: f32,
    },
}
