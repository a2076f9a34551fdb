//! How surfaces look and where cameras stand: what pictures need beside geometry. No deformer reads it.

/// Materials, images and cameras of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Appearance {
    /// Where [`crate::MeshPart::material`] points.
    pub materials: Vec<Material>,
    /// Where [`Texture::image`] points; `None` for an image that cannot be had, which a warning says.
    pub images: Vec<Option<EncodedImage>>,
    /// Cameras that stand in the scene.
    pub cameras: Vec<SceneCamera>,
}

/// The base colour of a surface: factor times texture.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Name in the file.
    pub name: String,
    /// Linear RGBA, 0 to 1.
    pub base_color: [f32; 4],
    /// Multiplied with the factor.
    pub base_color_texture: Option<Texture>,
    /// What alpha means.
    pub alpha: AlphaMode,
    /// Whether the back of triangles is seen.
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

/// What the alpha of a base colour means.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AlphaMode {
    /// Nothing.
    #[default]
    Opaque,
    /// The surface is there where alpha is at least this, and not there elsewhere.
    Mask(f32),
    /// What is behind shines through.
    Blend,
}

/// An image on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Texture {
    /// Index into [`Appearance::images`].
    pub image: usize,
    /// Which of [`crate::Mesh::uvs`] it is laid out by.
    pub uv_set: usize,
    /// Rows of the map from texture coordinates to places in the image: `u' = row 0 . (u, v, 1)`, `v' = row 1 . (u, v, 1)`; `v` down.
    pub image_from_uv: [[f32; 3]; 2],
    /// What is left and right of the image, and what above and below.
    pub wrap: [Wrap; 2],
    /// Whether pixels stay squares when seen from near.
    pub nearest: bool,
}

/// What is beyond the border of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wrap {
    /// The image again.
    #[default]
    Repeat,
    /// The image again, mirrored each second time.
    Mirrored,
    /// Its outermost pixels.
    Clamp,
}

/// An image as it lies in the file. Colours are sRGB, alpha is linear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedImage {
    /// Name in the file, or of the file.
    pub name: String,
    /// How it is encoded, by its first bytes.
    pub format: ImageFormat,
    /// The encoded bytes.
    pub bytes: Vec<u8>,
}

/// How an image is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFormat {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
}

/// A camera on a node. It looks along the node's negative Z axis, Y is up.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneCamera {
    /// Name in the file.
    pub name: String,
    /// Index into [`crate::Rig::nodes`].
    pub node: usize,
    /// What it sees.
    pub projection: Projection,
}

/// What a camera sees; lengths in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// Things far away are small.
    Perspective {
        /// Vertical angle of view, radians, between 0 and pi.
        fov_y: f32,
        /// Width over height; `None` for that of the picture.
        aspect: Option<f32>,
        /// Nearest distance.
        near: f32,
        /// Farthest distance; `None` for none.
        far: Option<f32>,
    },
    /// Things are of the same size everywhere.
    Orthographic {
        /// Half of the width and of the height.
        half_size: [f32; 2],
        /// Nearest distance.
        near: f32,
        /// Farthest distance.
        far: f32,
    },
}
